-- The reader: pandoc -f tools/literate.lua book.md chapters/*.c src/attention.h
--
-- A chapter is a C file whose prose is pandoc Markdown between a line that is
-- only `/*` and a line that is only `*/`; the rest is code. Each file is read
-- once, as Markdown that has a line for every line of the file, so pandoc's line
-- numbers are the file's. Code never meets the Markdown parser: where a run of
-- code starts, the Markdown has a placeholder, and the listing takes its place
-- in the finished document. So footnotes and divs may span code.
--
-- Besides the text the reader settles what depends on no output format: numbers
-- of chapters, figures and exercises, the words of empty references `[](#id)`,
-- the order of the pages, and every fault that it can see. Faults are collected
-- as `file:line: what is wrong` and raised together. What is left for the
-- filter, book.lua, travels in classes and attributes:
--
--   Header 1   kind (chapter, appendix, page), number, file
--   CodeBlock  listing: class numberLines, startFrom, file, exercises, header;
--              output: run (the number that `make run-NN` takes)
--   Figure     number, file (of the picture)
--   Div        .exercise; .hint with number; .solution with exercise
--
-- With +lint, one file is read without the others, and links and references to
-- other files are taken on trust. The environment's BUILD (default "build")
-- names the folder that has the drawn figures in figures/NN/.

Extensions = { lint = false }

local stringify = pandoc.utils.stringify

local HEADER = 'src/attention.h'
local BUILD = os.getenv('BUILD') or 'build'

-- Ids are the author's alone (two chapters may both have a section Exercises),
-- and raw HTML or TeX would be lost in the other formats, or hide an <stdio.h>.
local MARKDOWN = 'markdown-auto_identifiers-implicit_header_references'
    .. '-raw_html-raw_tex-native_divs-native_spans-yaml_metadata_block'

-- A div of another kind is most likely a misspelt one, and a hint that is not
-- folded gives the answer away.
local DIVS = { question = true, hint = true, solution = true, milestone = true,
               aside = true, worksheet = true }

------------------------------------------------------------------------------
-- Faults

local faults

local function report(file, line, ...)
    faults[#faults + 1] = {
        order = file.order, line = line,
        text = file.name .. ':' .. line .. ': ' .. string.format(...),
    }
end

-- Ends the run if anything was reported, in the order of files and lines.
local function raise_faults()
    if #faults == 0 then return end
    for i, fault in ipairs(faults) do fault.number = i end
    table.sort(faults, function(a, b)
        if a.order ~= b.order then return a.order < b.order end
        if a.line ~= b.line then return a.line < b.line end
        return a.number < b.number
    end)
    local texts, seen = {}, {}
    for _, fault in ipairs(faults) do
        if not seen[fault.text] then texts[#texts + 1] = fault.text end
        seen[fault.text] = true
    end
    error(table.concat(texts, '\n'), 0)
end

------------------------------------------------------------------------------
-- Files, before Markdown is parsed

local function split_lines(text)
    text = text:gsub('\r', '')
    if text ~= '' and text:sub(-1) ~= '\n' then text = text .. '\n' end
    local lines = {}
    for line in text:gmatch('(.-)\n') do lines[#lines + 1] = line end
    return lines
end

local function blank(line) return line == nil or not line:find('%S') end

-- What a file's name says: chapters/02_softmax.c is number 02 (the key of its
-- figures and of `make run-02`), "Chapter 2", and its page is softmax.
local function identify(file)
    local base = file.name:match('[^/]*$')
    local key, name = base:match('^(%d+)_(.+)%.c$')
    if key then
        file.kind, file.number = 'chapter', tostring(tonumber(key))
    else
        key, name = base:match('^(%u)_(.+)%.c$')
        if key then file.kind, file.number = 'appendix', key end
    end
    if key then
        file.key, file.page = key, name:gsub('_', '-')
    else
        file.kind = 'page'
        if base:find('%.h$') then file.page = 'reference' end
    end
    file.literate = not base:find('%.md$')
end

-- Splits a C file into prose and code: file.markdown[i] is line i where that is
-- prose and empty where it is code; file.runs are the runs of code, without
-- leading and trailing blank lines.
local function separate(file)
    local opened, run
    local function close_run()
        if run and run.first then file.runs[#file.runs + 1] = run end
        run = nil
    end
    for i, line in ipairs(file.lines) do
        local marker = line:match('^([/*][/*])%s*$')
        file.markdown[i] = ''
        if opened then
            if marker == '*/' then
                opened = nil
            elseif line:find('/*', 1, true) then
                report(file, i, 'prose holds "/*": %s (prose opened in line %d; end it'
                    .. ' first by a line that is only "*/")', line, opened)
            elseif line:find('*/', 1, true) then
                report(file, i, 'prose holds "*/", which ends the C comment here: %s'
                    .. ' (the line must be "*/" alone)', line)
            else
                file.markdown[i] = line
            end
        elseif marker == '/*' then
            close_run()
            opened = i
        elseif marker == '*/' then
            report(file, i, '"*/" ends prose that no line "/*" opened')
        else
            run = run or { lines = {} }
            if not blank(line) then
                run.first = run.first or i
                run.last = i
            end
        end
    end
    close_run()
    if opened then
        report(file, opened, 'prose is never closed: a line that is only "*/" is missing')
    end
    for n, r in ipairs(file.runs) do
        r.number = n
        for i = r.first, r.last do r.lines[#r.lines + 1] = file.lines[i] end
    end
end

-- Follows fences and divs through the prose. Pandoc takes what is unbalanced for
-- text, or closes it at the end, and both without naming the file.
local function check_fences_and_divs(file)
    local fence, divs, before = nil, {}, ''
    for i, line in ipairs(file.markdown) do
        local ends_prose = file.literate and file.lines[i]:find('^%*/%s*$')
        local mark, info = line:match('^%s*(```+)([^`]*)$')
        if not mark then mark, info = line:match('^%s*(~~~+)([^~]*)$') end
        file.fenced[i] = fence ~= nil or mark ~= nil
        if fence then
            if mark and blank(info) and mark:sub(1, 1) == fence.mark:sub(1, 1)
                and #mark >= #fence.mark then
                fence = nil
            elseif mark and #mark >= #fence.mark then
                report(file, fence.line, 'the fence %s is never closed: %s is missing'
                    .. ' before line %d opens another', fence.text, fence.mark, i)
                fence = { line = i, mark = mark, text = mark .. info }
            elseif ends_prose then
                report(file, fence.line, 'the fence %s is never closed: %s is missing'
                    .. ' before the prose ends in line %d', fence.text, fence.mark, i)
                fence = nil
            end
        elseif mark then
            fence = { line = i, mark = mark, text = mark .. info }
        elseif line:find('^%s*:::') then
            local name = line:match('^%s*:::+%s*(.-)%s*:*%s*$')
            if name == '' then
                if #divs == 0 then
                    report(file, i, '":::" closes a div that was never opened')
                end
                divs[#divs] = nil
            else
                divs[#divs + 1] = { line = i, name = name }
                if not (name:find('^%S+$') or name:find('^{.*}$')) then
                    report(file, i, 'this opens no div: %s (one word or {...} must'
                        .. ' follow the colons)', line)
                elseif not blank(before) and not before:find('^%s*:::') then
                    report(file, i, 'a blank line is missing before %s', line)
                end
            end
        end
        before = line
    end
    if fence then
        report(file, fence.line, 'the fence %s is never closed', fence.text)
    end
    for _, div in ipairs(divs) do
        report(file, div.line, 'the div ::: %s is never closed: a line ":::" is missing',
            div.name)
    end
end

-- A C file begins with its page: `/*`, then `# Title {#id}`.
local function check_beginning(file)
    if not file.literate then return end
    if file.kind ~= 'page' and not file.page:find('^%l[%l%d-]*$') then
        report(file, 1, 'the name of a page is made of small letters, digits and "_":'
            .. ' not %s', file.name)
    end
    if not (file.lines[1] or ''):find('^/%*%s*$') then
        report(file, 1, 'a chapter begins with a line "/*", not with %s',
            file.lines[1] or 'nothing')
        return
    end
    local title = file.lines[2] or ''
    local id = title:match('^# .*{#([^%s}]+)}%s*$')
    if not id then
        report(file, 2, 'the second line must be "# Title {#%s}", not "%s"', file.page,
            title)
    elseif id ~= file.page then
        report(file, 2, 'the page has the id %s, by its file name it must be %s',
            id, file.page)
    end
end

local function open_file(name, text, order)
    local file = {
        name = name, order = order, lines = split_lines(text),
        markdown = {}, runs = {}, fenced = {},
    }
    identify(file)
    if file.literate then
        separate(file)
    else
        file.markdown = file.lines
    end
    check_fences_and_divs(file)
    check_beginning(file)
    return file
end

-- The line of the prose where the n-th match of a Lua pattern stands; where it
-- cannot be told, the last match, or line 1. Fences count only if asked for.
local function line_of(file, pattern, n, in_fences)
    local found
    n = n or 1
    for i, line in ipairs(file.markdown) do
        if in_fences or not file.fenced[i] then
            local at = line:find(pattern)
            while at do
                n, found = n - 1, i
                if n == 0 then return i end
                at = pattern:sub(1, 1) ~= '^' and line:find(pattern, at + 1)
            end
        end
    end
    return found or 1
end

local function plain(text) return (text:gsub('%p', '%%%0')) end

-- A pattern for the place that gives something the id (not a link to it).
local function id_pattern(id) return '%f[#%(]#' .. plain(id) .. '%f[^%w_:.-]' end
local function link_pattern(id) return '%(#' .. plain(id) .. '%f[^%w_:.-]' end

------------------------------------------------------------------------------
-- The header's part for a chapter

-- The runs of code below each of the header's headings, by the heading's id.
local function header_sections(header)
    local sections, current, next_run = {}, nil, 1
    for i, line in ipairs(header.markdown) do
        while header.runs[next_run] and header.runs[next_run].first <= i do
            if current then table.insert(current, header.runs[next_run]) end
            next_run = next_run + 1
        end
        if not header.fenced[i] and line:find('^#+%s') then
            current = {}
            local id = line:match('{#([^%s}]+)[^}]*}%s*$')
            if id then sections[id] = current end
        end
    end
    return sections
end

-- Whether a run of code is nothing but #include lines and comments of one line.
local function only_includes(run)
    local includes = false
    for _, line in ipairs(run.lines) do
        if line:find('^%s*#%s*include%f[^%w_]') then
            includes = true
        elseif not (blank(line) or line:find('^%s*//')
            or line:find('^%s*/%*.*%*/%s*$')) then
            return false
        end
    end
    return includes
end

-- The number of the run in which a function is defined: a line in column 0 with
-- `name(`, and `{` before any `;`.
local function defining_run(file, name)
    local pattern = '^[%a_].*%f[%w_]' .. plain(name) .. '%s*%('
    for number, run in ipairs(file.runs) do
        for i, line in ipairs(run.lines) do
            if line:find(pattern) or line:find('^' .. plain(name) .. '%s*%(') then
                for j = i, #run.lines do
                    if run.lines[j]:find('{%s*$') then return number end
                    if run.lines[j]:find(';') then break end
                end
            end
        end
    end
end

------------------------------------------------------------------------------
-- From a file to blocks

local function listing(file, run, attributes)
    attributes.startFrom = tostring(run.first)
    attributes.file = file.name
    return pandoc.CodeBlock(table.concat(run.lines, '\n'),
        pandoc.Attr('', { 'c', 'numberLines' }, attributes))
end

-- The blocks that stand for run n of a chapter: its code, or the header's part
-- for this chapter where the code is nothing but includes. (Includes further
-- down, in a second such run, stand for themselves.)
local function listings(file, n, book)
    local run = file.runs[n]
    if not (file.key and only_includes(run)) or file.shows_header then
        local attributes = {}
        if file.exercises_in[n] then
            attributes.exercises = table.concat(file.exercises_in[n], ' ')
        end
        return { listing(file, run, attributes) }
    end
    file.shows_header = true
    local id = 'header-' .. file.page
    local section = book.sections[id]
    if not section or #section == 0 then
        report(file, run.first, 'this listing of includes only shows the part of %s that'
            .. ' is headed {#%s}, and there is none', book.header.name, id)
        return {}
    end
    local blocks = {}
    for _, part in ipairs(section) do
        blocks[#blocks + 1] = listing(book.header, part, { header = id })
    end
    return blocks
end

-- The file as Markdown, with a placeholder for each run of code.
local function markdown_of(file)
    local lines = table.move(file.markdown, 1, #file.markdown, 1, {})
    for n, run in ipairs(file.runs) do
        lines[run.first] = '`' .. n .. '`{=listing}'
    end
    return table.concat(lines, '\n') .. '\n'
end

local function parse(file)
    local format = file.literate and MARKDOWN
        or MARKDOWN:gsub('%-yaml_metadata_block', '')
    local doc = pandoc.read(markdown_of(file), format)
    file.blocks, file.meta = doc.blocks, doc.meta
end

-- What of the markup was left as text means that pandoc read it otherwise than
-- its author meant.
local function check_leftovers(file)
    local notes = {}
    pandoc.Blocks(file.blocks):walk {
        Str = function(str)
            for label in str.text:gmatch('%[%^([^%]%s]+)%]') do
                notes[label] = (notes[label] or 0) + 1
                report(file, line_of(file, '%[%^' .. plain(label) .. '%]', notes[label]),
                    'the footnote [^%s] is not defined', label)
            end
            if str.text:find(':::', 1, true) then
                report(file, line_of(file, '[^:%s]%s*:::'), '":::" is read as text: it'
                    .. ' must begin its line, and a blank line must stand before it')
            elseif str.text:find('```', 1, true) then
                report(file, line_of(file, '```', 1, true), '"```" is read as text: the'
                    .. ' fence is not closed, or stands at another depth')
            end
        end,
    }
end

-- Puts the listings in the places of their placeholders.
local function place_listings(file, book)
    local placed = {}
    file.blocks = pandoc.Blocks(file.blocks):walk {
        Para = function(para)
            local raw = #para.content == 1 and para.content[1]
            if raw and raw.t == 'RawInline' and raw.format == 'listing' then
                local n = tonumber(raw.text)
                placed[n] = true
                return listings(file, n, book)
            end
        end,
    }
    for n, run in ipairs(file.runs) do
        if not placed[n] then
            report(file, run.first, 'this listing is swallowed by the prose before it:'
                .. ' a table or the like is not ended there')
        end
    end
end

------------------------------------------------------------------------------
-- Exercises

local FORM = '**Exercise %s.1** (★, 2 points): `name`. ...'

-- Reads `(★, 2 points)`, `(★★★, challenge)`, `(by hand)`: whether it is well
-- formed, and whether the exercise is done by hand.
local function read_rank(rank)
    local by_hand = false
    for part in (rank .. ','):gmatch('%s*(.-)%s*,') do
        if part == 'by hand' then
            by_hand = true
        elseif part:gsub('★', '') ~= '' and part ~= 'challenge'
            and not part:find('^%d+ points?$') then
            return false
        end
    end
    return true, by_hand
end

-- The function that an exercise names: the code right after "): ".
local function named_function(inlines)
    for i, inline in ipairs(inlines) do
        if inline.t == 'Str' and inline.text:find('%):$') then
            local name = inlines[i + 2]
            return name and name.t == 'Code' and name.text
        end
    end
end

-- A pattern for the line in which an exercise begins.
local function exercise_pattern(number)
    return '^%s*%*%*Exercise%s+' .. plain(number) .. '%*%*'
end

-- What an exercise's paragraph says, or nil for another paragraph.
local function read_exercise(file, para)
    local first = para.content[1]
    if not (first and first.t == 'Strong') then return end
    local number = stringify(first):match('^Exercise%s*(.*)$')
    if not number then return end
    local form = FORM:format(file.number or '2')
    local line = line_of(file, exercise_pattern(number), file.exercise_count[number])
    local rank, colon = stringify(para):match('^Exercise%s+%S+%s+%((.-)%)(:?)')
    local well_formed, by_hand = false, false
    if rank then well_formed, by_hand = read_rank(rank) end
    well_formed = well_formed and (by_hand or colon == ':')
    if not number:find('^%w+%.%d+$') or not well_formed then
        report(file, line, 'an exercise begins like %s or with (★★★, challenge) or'
            .. ' (by hand): not "%s"', form, stringify(para):sub(1, 50))
        return
    end
    if number:match('^%w+') ~= file.number then
        report(file, line, 'exercise %s stands in %s: its number must begin with %s.',
            number, file.name, file.number or 'that of a chapter')
    end
    local name = not by_hand and named_function(para.content)
    if not by_hand and not name then
        report(file, line, 'exercise %s names no function: %s', number, form)
    end
    return { number = number, line = line, func = name or nil }
end

-- Finds the exercises, checks them, and remembers which listing each empties.
local function find_exercises(file)
    file.exercises, file.exercises_in, file.exercise_count = {}, {}, {}
    pandoc.Blocks(file.blocks):walk {
        traverse = 'topdown',
        Para = function(para)
            local exercise = read_exercise(file, para)
            if not exercise then return end
            local number, name = exercise.number, exercise.func
            file.exercise_count[number] = (file.exercise_count[number] or 1) + 1
            file.exercises[number] = exercise
            if not name then return end
            local run = defining_run(file, name)
            if not run then
                report(file, exercise.line, 'exercise %s names the function %s, which %s'
                    .. ' does not define', number, name, file.name)
                return
            end
            file.exercises_in[run] = file.exercises_in[run] or {}
            table.insert(file.exercises_in[run], number .. ':' .. name)
        end,
    }
end

-- Gives each exercise a block of its own, which takes in the hints below it, and
-- numbers the hints of an exercise that has several, wherever they stand.
local function wrap_exercises(file)
    local function is_div(block, class)
        return block.t == 'Div' and block.classes:includes(class)
    end
    local function wrap(blocks)
        local result, i, hints = pandoc.Blocks {}, 1, {}
        local function number_hints()
            for n, hint in ipairs(hints) do
                if #hints > 1 then hint.attributes.number = tostring(n) end
            end
            hints = {}
        end
        for _, block in ipairs(blocks) do
            local number = block.t == 'Para' and block.content[1]
                and block.content[1].t == 'Strong'
                and stringify(block.content[1]):match('^Exercise%s+(%w+%.%d+)$')
            if number or block.t == 'Header' then number_hints() end
            if number then
                local id = 'exercise-' .. number:gsub('%.', '-')
                block = pandoc.Div({ block }, pandoc.Attr(id, { 'exercise' }))
            end
            if is_div(block, 'hint') then hints[#hints + 1] = block end
            result:insert(block)
        end
        number_hints()
        -- Only now, numbered, do the hints move into the exercise above them.
        local moved = pandoc.Blocks {}
        for _, block in ipairs(result) do
            local last = moved[#moved]
            if last and is_div(last, 'exercise') and is_div(block, 'hint') then
                last.content:insert(block)
                moved[#moved] = last
            else
                moved:insert(block)
            end
        end
        return moved
    end
    file.blocks = pandoc.Blocks(file.blocks):walk { Blocks = wrap }
end

------------------------------------------------------------------------------
-- Divs and output

local function check_divs(file)
    local seen = {}
    pandoc.Blocks(file.blocks):walk {
        Div = function(div)
            local kind = div.classes[1]
            if not kind or kind == 'exercise' then return end
            seen[kind] = (seen[kind] or 0) + 1
            local line = line_of(file, '^%s*:::+.*%f[%w]' .. plain(kind) .. '%f[^%w-]',
                seen[kind])
            if not DIVS[kind] then
                report(file, line, 'a div of an unknown kind, %s: there are question,'
                    .. ' hint, solution, milestone, aside and worksheet', kind)
            elseif kind == 'question'
                and (#div.content < 2 or div.content[1].t ~= 'Para') then
                report(file, line, 'a question is a paragraph that asks, a blank line,'
                    .. ' and the answer')
            elseif kind == 'solution' and div.attributes.exercise
                and not file.exercises[div.attributes.exercise] then
                report(file, line, 'a solution of exercise %s, which %s does not have',
                    div.attributes.exercise, file.name)
            end
        end,
    }
end

-- An output block says by which command it is made.
local function mark_outputs(file)
    file.blocks = pandoc.Blocks(file.blocks):walk {
        CodeBlock = function(code)
            if code.classes:includes('output') and file.key then
                code.attributes.run = file.key
                return code
            end
        end,
    }
end

------------------------------------------------------------------------------
-- Figures

local function exists(path)
    local f = io.open(path, 'rb')
    if f then f:close() end
    return f ~= nil
end

-- The folder of a file's pictures: drawn by the chapter, or kept in the theme.
local function picture_folder(file)
    return file.key and BUILD .. '/figures/' .. file.key or 'tools/theme'
end

-- Numbers the figures and finds their pictures; each drawn picture must be shown.
local function place_figures(file)
    local folder, shown, count = picture_folder(file), {}, 0
    local function image_line(src)
        return line_of(file, '%]%(' .. plain(src) .. '%f[%s%)]', shown[src])
    end
    local function show(figure)
        local image
        figure:walk { Image = function(img) image = image or img end }
        if not image then return end
        local src = image.src
        shown[src] = (shown[src] or 0) + 1
        local path = folder .. '/' .. src
        if not src:find('^[%w_-]+%.svg$') then
            report(file, image_line(src), 'a figure is name.svg, drawn by the chapter:'
                .. ' not %s', src)
        elseif shown[src] > 1 then
            report(file, image_line(src), 'the figure %s is shown twice: refer to it by'
                .. ' [](#id)', src)
        elseif not exists(path) then
            report(file, image_line(src), 'the figure %s is shown, but not drawn: there'
                .. ' is no %s', src, path)
        end
        count = count + 1
        figure.attributes.number = (file.number and file.number .. '.' or '') .. count
        figure.attributes.file = path
        return figure, false
    end
    file.blocks = pandoc.Blocks(file.blocks):walk { traverse = 'topdown', Figure = show }
    -- What is not alone in its paragraph, or has no caption, is no Figure.
    pandoc.Blocks(file.blocks):walk {
        traverse = 'topdown',
        Figure = function(figure) return figure, false end,
        Image = function(image)
            shown[image.src] = (shown[image.src] or 0) + 1
            if #image.caption == 0 then
                report(file, image_line(image.src), 'the figure %s has no caption:'
                    .. ' ![What to see in it](%s)', image.src, image.src)
            else
                report(file, image_line(image.src), 'the figure %s must stand alone in'
                    .. ' its paragraph', image.src)
            end
        end,
    }
    if not file.key then return end
    local listed, names = pcall(pandoc.system.list_directory, folder)
    if not listed then return end
    table.sort(names)
    for _, name in ipairs(names) do
        if name:find('%.svg$') and not shown[name] then
            report(file, 1, 'the figure %s is drawn (%s/%s), but not shown', name,
                folder, name)
        end
    end
end

------------------------------------------------------------------------------
-- Ids and references

local function capitalised(text) return (text:gsub('^%l', string.upper)) end

local function slug(inlines)
    local text = pandoc.text.lower(stringify(inlines))
    return (text:gsub("['’]", ''):gsub('[%s%p]+', '-'):gsub('^%-+', ''):gsub('%-+$', ''))
end

-- Gathers the ids of a file into book.ids[id] = { file, text, title, ... }: what
-- a reference to it says. Sections without an id get one from page and title.
local function gather_ids(file, book)
    local page, seen, generated = nil, {}, {}
    local function define(id, target)
        target.file, target.page = file, page
        seen[id] = (seen[id] or 0) + 1
        target.line = line_of(file, target.pattern or id_pattern(id), seen[id])
        local other = book.ids[id]
        if other then
            report(file, target.line, 'the id %s is taken: %s:%d has it', id,
                other.file.name, other.line)
        else
            book.ids[id] = target
        end
    end

    local function header(block)
        if block.level == 1 then
            if file.literate and page then
                report(file, line_of(file, '^#%s', 2), 'a second heading of level 1: "%s"'
                    .. ' (a file is one page; use ##)', stringify(block))
            end
            if block.identifier == '' then
                report(file, line_of(file, '^#%s+' .. plain(stringify(block))),
                    'the page "%s" has no id: # %s {#...}', stringify(block),
                    stringify(block))
                return
            end
            page = { id = block.identifier, title = block.content, file = file }
            block.attributes.kind = file.kind
            block.attributes.number = file.number
            block.attributes.file = file.literate and file.name or nil
            define(block.identifier, { kind = 'page', title = block.content })
        elseif block.identifier == '' then
            local id = (page and page.id .. '-' or '') .. slug(block.content)
            local number = (generated[id] or 0) + 1
            generated[id] = number
            block.identifier = number == 1 and id or id .. '-' .. number
            book.ids[block.identifier] = book.ids[block.identifier]
                or { kind = 'section', title = block.content, file = file, page = page,
                    line = 1 }
        else
            define(block.identifier, { kind = 'section', title = block.content })
        end
        return block
    end

    file.blocks = pandoc.Blocks(file.blocks):walk {
        traverse = 'topdown',
        Header = header,
        Figure = function(figure)
            if figure.identifier ~= '' then
                define(figure.identifier,
                    { kind = 'numbered', text = 'figure ' .. figure.attributes.number })
            end
            return figure, false
        end,
        Div = function(div)
            if div.identifier == '' then return end
            local number = div.classes:includes('exercise')
                and div.identifier:gsub('^exercise%-', ''):gsub('%-', '.')
            define(div.identifier, number and {
                kind = 'numbered', text = 'exercise ' .. number,
                pattern = exercise_pattern(number),
            } or { kind = 'anchor' })
        end,
        Span = function(span)
            if span.identifier ~= '' then define(span.identifier, { kind = 'anchor' }) end
        end,
        CodeBlock = function(code)
            if code.identifier ~= '' then define(code.identifier, { kind = 'anchor' }) end
        end,
    }
end

-- The words of a reference, as inlines.
local function reference_text(target, file)
    local text = pandoc.Inlines {}
    -- A numbered page goes by its number, another by its title.
    local function name_of(page)
        if page.file.number then
            text:insert(page.file.kind .. ' ' .. page.file.number)
        else
            text:extend(page.title)
        end
    end
    if target.kind == 'numbered' then
        text:extend(pandoc.Inlines(target.text))
    elseif target.kind == 'page' then
        name_of(target)
    elseif target.kind == 'section' then
        local page = target.page
        if page and target.file ~= file then
            name_of(page)
            text:extend { pandoc.Str ',', pandoc.Space() }
        end
        text:insert(pandoc.Quoted('DoubleQuote', target.title))
    end
    -- A title's footnotes stay with the title.
    return text:walk { Note = function() return {} end }
end

-- Checks the links of a file, and writes the words of the empty ones. In a lint,
-- what is not in this file may be in another.
local function resolve_links(file, book)
    local seen = {}
    local function resolve(link, begins_sentence)
        local id = link.target:match('^#(.*)$')
        if not id then
            if not link.target:find('^%a[%w+.-]*:') then
                report(file, line_of(file, '%]%(' .. plain(link.target)), 'a link leads'
                    .. ' to #id or to a full address: not to %s', link.target)
            elseif #link.content == 0 then
                report(file, line_of(file, '%[%]%(' .. plain(link.target)),
                    'a link without words: [](%s)', link.target)
            end
            return
        end
        local target = book.ids[id]
        seen[id] = (seen[id] or 0) + 1
        if not target then
            if book.lint then
                if #link.content == 0 then link.content = pandoc.Inlines(id) end
                return link
            end
            report(file, line_of(file, link_pattern(id), seen[id]), 'the link #%s leads'
                .. ' nowhere: no heading, figure or exercise has this id', id)
            return
        end
        if #link.content > 0 then return end
        link.content = reference_text(target, file)
        if #link.content == 0 then
            report(file, line_of(file, link_pattern(id), seen[id]), 'a link without'
                .. ' words: [](#%s) leads to what has no number and no title', id)
            return
        end
        if target.kind == 'page' and target.file.number then
            link.title = stringify(target.title)
        end
        local first = link.content[1]
        if begins_sentence and first.t == 'Str' then
            first.text = capitalised(first.text)
            link.content[1] = first
        end
        return link
    end

    -- An empty reference that begins a sentence begins with a capital.
    local function resolve_all(inlines)
        local start = true
        for i, inline in ipairs(inlines) do
            if inline.t == 'Link' then
                inlines[i] = resolve(inline, start) or inline
                start = false
            elseif inline.t == 'Str' then
                start = inline.text:find('[.?!][”’)]*$') ~= nil
            elseif inline.t ~= 'Space' and inline.t ~= 'SoftBreak' then
                start = false
            end
        end
        return inlines
    end
    file.blocks = pandoc.Blocks(file.blocks):walk { Inlines = resolve_all }
end

------------------------------------------------------------------------------
-- The book

-- The blocks in reading order. book.md's first page leads; its others (glossary,
-- sources) come after the chapters and appendices, and the header is the last.
local function in_reading_order(files)
    local blocks, after, header = pandoc.Blocks {}, pandoc.Blocks {}, pandoc.Blocks {}
    for _, file in ipairs(files) do
        local place, pages = blocks, 0
        for _, block in ipairs(file.blocks) do
            if block.t == 'Header' and block.level == 1 then
                pages = pages + 1
                if block.identifier == 'reference' then
                    place = header
                elseif not file.literate and pages > 1 then
                    place = after
                end
            end
            place:insert(block)
        end
    end
    blocks:extend(after)
    blocks:extend(header)
    return blocks
end

-- The parts of the contents must begin with pages that there are.
local function check_parts(file, book)
    for n, part in ipairs(file.meta.parts or {}) do
        local first = part.first and stringify(part.first) or ''
        local target = book.ids[first]
        if not part.title or not target or target.kind ~= 'page' then
            report(file, line_of(file, '%f[%w]first:', n), 'part %d must have a title'
                .. ' and, as first, the id of a page: not "%s"', n, first)
        end
    end
end

local function check_sources(files, book)
    local cited
    for _, file in ipairs(files) do
        pandoc.Blocks(file.blocks):walk { Cite = function() cited = cited or file end }
    end
    if cited and not book.ids.refs then
        report(cited, 1, 'sources are cited, but no page of the book holds ::: {#refs}')
    end
end

local function read_text(name)
    local f = io.open(name, 'rb')
    local text = f and f:read('a')
    if f then f:close() end
    return text
end

-- The header and its sections; where it is not among the inputs, from its place.
local function find_header(files, book)
    for _, file in ipairs(files) do
        if file.page == 'reference' then book.header = file end
    end
    book.header = book.header or open_file(HEADER, read_text(HEADER) or '/*\n'
        .. '# {#reference}\n*/\n', #files + 1)
    book.sections = header_sections(book.header)
end

-- The title, the bibliography and so on are book.md's.
local function metadata(files, lint)
    for _, file in ipairs(files) do
        if not file.literate then return file.meta end
    end
    local head = lint and (read_text('book.md') or ''):match('^%-%-%-\n.-\n%-%-%-\n')
    return head and pandoc.read(head, 'markdown').meta or pandoc.Meta {}
end

function Reader(inputs, opts)
    local book = { ids = {}, lint = opts.extensions:includes('lint') }
    local files = {}
    faults = {}
    for n, input in ipairs(inputs) do
        files[n] = open_file(input.name, tostring(input.text), n)
    end
    find_header(files, book)
    raise_faults()

    for _, file in ipairs(files) do
        parse(file)
        check_leftovers(file)
    end
    raise_faults()

    for _, file in ipairs(files) do
        find_exercises(file)
        place_listings(file, book)
        wrap_exercises(file)
        check_divs(file)
        mark_outputs(file)
        place_figures(file)
        gather_ids(file, book)
    end
    for _, file in ipairs(files) do
        resolve_links(file, book)
        if not book.lint then check_parts(file, book) end
    end
    if not book.lint then check_sources(files, book) end
    raise_faults()
    return pandoc.Pandoc(in_reading_order(files), metadata(files, book.lint))
end
