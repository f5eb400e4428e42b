-- The reader: what tools/weave/weave has found in the files becomes one document.
--
-- Each file is read once, as Markdown that has a line for every line of the file,
-- so pandoc's line numbers are the file's. Code never meets the Markdown parser:
-- where a run of code starts, the Markdown has a placeholder, and the listing takes
-- its place in the finished document. So footnotes and divs may span code.
--
-- Besides the text the reader settles what depends on no output format: numbers
-- of figures and hints, the words of empty references `[](#id)`, where the glossary
-- leads, the order of the pages, and every fault that only shows once pandoc has read
-- the prose. Faults are lines `file:line: what is wrong`, raised together. What is left
-- for the filters, book.lua and paper.lua, travels in classes and attributes:
--
--   Header 1   kind (chapter, appendix, page), number, file
--   CodeBlock  listing: class numberLines, startFrom, file, exercises, folded (under
--              which words), and header (the section it announces) or type (in the
--              header, where it stands);
--              output: program (that prints it), args and status
--   Figure     number, file (of the picture)
--   Div        .exercise; .hint with number; .solution with exercise
--   Span       .term (to which the glossary leads)
--
-- The input is JSON; described and prepare in tools/weave/weave say what is in it.

local stringify = pandoc.utils.stringify

-- Ids are the author's alone (two chapters may both have a section Exercises),
-- and raw HTML or TeX would be lost in the other formats, or hide an <stdio.h>.
local MARKDOWN = 'markdown-auto_identifiers-implicit_header_references-raw_html-raw_tex'
    .. '-native_divs-native_spans-yaml_metadata_block'

------------------------------------------------------------------------------
-- Faults

local faults = {}

local function report(file, line, ...)
    faults[#faults + 1] = ('%s:%d: '):format(file.name, line) .. string.format(...)
end

-- The line where the prose has the next match of a Lua pattern, so that the n-th
-- call finds the n-th; where there is no other, the last, or line 1.
local function next_line(file, pattern)
    local last = file.found[pattern] or { line = 1, at = 0 }
    local line, at = last.line, last.at
    while file.prose[line] do
        at = not (at > 0 and pattern:sub(1, 1) == '^')
            and file.prose[line]:find(pattern, at + 1)
        if at then
            file.found[pattern] = { line = line, at = at }
            return line
        end
        line, at = line + 1, 0
    end
    return last.line
end

local function plain(text) return (text:gsub('%p', '%%%0')) end

-- What pandoc warns of as it reads a file or writes its formulas; it does not know the file,
-- and of a formula no line.
local function report_warnings(file, warnings)
    for _, message in ipairs(warnings) do
        local warning = pandoc.json.decode(pandoc.json.encode(message), false)
        local kind, tex = warning.type, (warning.contents or ''):match('[^\n]*')
        if kind == 'NoteDefinedButNotUsed' then
            report(file, warning.line, 'the footnote [^%s] is defined, but not used', warning.key)
        elseif kind == 'DuplicateNoteReference' then
            report(file, warning.line, 'the footnote [^%s] is defined twice', warning.contents)
        elseif kind == 'CouldNotConvertTeXMath' then
            report(file, next_line(file, plain(tex)), 'bad TeX: %s%s (%s)', tex, tex ~= warning.contents and ' ...' or '',
                warning.message:match('%^%s*\n([^\n]*)') or '')
        elseif warning.verbosity == 'WARNING' then
            report(file, warning.line or 1, '%s', (warning.pretty:gsub('%s*\n%s*', ' ')))
        end
    end
end

------------------------------------------------------------------------------
-- From a file to blocks

local function listing(lines)
    return pandoc.CodeBlock(lines.text, pandoc.Attr('', { 'c', 'numberLines' }, {
        startFrom = ('%d'):format(lines.startFrom), at = ('%d'):format(lines.at), file = lines.file, header = lines.header,
        exercises = lines.exercises, type = lines.type, folded = lines.folded,
    }))
end

-- Pandoc must find the fences that tools/Chapter.pm finds, and no code elsewhere.
-- Marks what a program prints with its chapter.
local function check_fences(file)
    local fences, n = file.fences, 1
    local function unread(last)
        for i = n, last do
            report(file, fences[i].line, 'this fence is not read as code: what is above it'
                .. ' does not end there')
        end
        n = last + 2
    end
    file.blocks = file.blocks:walk {
        CodeBlock = function(code)
            local i = n
            while fences[i] and fences[i].text ~= code.text do i = i + 1 end
            if not fences[i] then
                local first = code.text:match('[^\n]*')
                report(file, next_line(file, '^%s+' .. plain(first)),
                    'this is read as code, though no fence is around it: %s', first)
                return
            end
            unread(i - 1)
            code.attributes.program = code.classes:includes('output') and file.key
                and file.name:match('([^/]*)%.c$') or nil
            return code
        end,
    }
    unread(#fences)
end

-- What of the markup was left as text means that pandoc read it otherwise than
-- its author meant.
local function check_leftovers(file)
    file.blocks:walk {
        Str = function(str)
            for label in str.text:gmatch('%[%^([^%]%s]+)%]') do
                report(file, next_line(file, '%[%^' .. plain(label) .. '%]'),
                    'the footnote [^%s] is not defined', label)
            end
            if str.text:find(':::', 1, true) then
                report(file, next_line(file, '[^:%s]%s*:::'), '":::" is read as text: it'
                    .. ' must begin its line, and a blank line must stand before it')
            end
        end,
    }
end

-- Puts the listings in the places of their placeholders.
local function place_listings(file)
    file.blocks = file.blocks:walk {
        Para = function(para)
            local raw = #para.content == 1 and para.content[1]
            if raw and raw.t == 'RawInline' and raw.format == 'listing' then
                local run = file.runs[tonumber(raw.text)]
                run.placed = true
                return pandoc.List(run.listings):map(listing)
            end
        end,
    }
    for _, run in ipairs(file.runs) do
        if not run.placed then
            report(file, run.line, 'this listing is swallowed by the prose before it:'
                .. ' a table or the like is not ended there')
        end
    end
end

------------------------------------------------------------------------------
-- Exercises

local function is_div(block, kind) return block.t == 'Div' and block.classes:includes(kind) end

-- The number of the exercise that a paragraph begins.
local function exercise_of(block)
    local strong = block.t == 'Para' and block.content[1]
    return strong and strong.t == 'Strong' and stringify(strong):match('^Exercise%s+(%w+%.%d+)$')
end

-- Numbers the hints of an exercise that has several, wherever they stand.
local function number_hints(blocks)
    local hints = {}
    for _, block in ipairs(blocks) do
        if exercise_of(block) or block.t == 'Header' then hints = {} end
        if is_div(block, 'hint') then
            hints[#hints + 1] = block
            for i, hint in ipairs(#hints > 1 and hints or {}) do
                hint.attributes.number = tostring(i)
            end
        end
    end
end

-- Gives each exercise a block of its own, which takes in the hints right below it and
-- what is said when it is done.
local function wrap_exercises(file)
    file.blocks = file.blocks:walk {
        Blocks = function(blocks)
            number_hints(blocks)
            local result = pandoc.Blocks {}
            for _, block in ipairs(blocks) do
                local number, last = exercise_of(block), result[#result]
                if number then
                    local id = 'exercise-' .. number:gsub('%.', '-')
                    result:insert(pandoc.Div({ block }, pandoc.Attr(id, { 'exercise' })))
                elseif (is_div(block, 'hint') or is_div(block, 'done')) and last
                    and is_div(last, 'exercise') then
                    last.content:insert(block)
                else
                    result:insert(block)
                end
            end
            return result
        end,
    }
end

------------------------------------------------------------------------------
-- Figures

-- Numbers the figures and finds their pictures; each drawn picture must be shown.
local function place_figures(file)
    local drawn, shown, count = {}, {}, 0
    for _, name in ipairs(file.pictures) do drawn[name] = true end
    local function line_of(image)
        return next_line(file, '%]%(' .. plain(image.src) .. '%f[%s%)]')
    end
    local function show(figure)
        local image
        figure:walk { Image = function(img) image = image or img end }
        if not image then return end
        local src, path, line = image.src, file.folder .. '/' .. image.src, line_of(image)
        if not src:find('^[%w_-]+%.svg$') then
            report(file, line, 'a figure is name.svg, drawn by the chapter: not %s', src)
        elseif shown[src] then
            report(file, line, 'the figure %s is shown twice: refer to it by [](#id)', src)
        elseif not drawn[src] then
            report(file, line, 'the figure %s is shown, but not drawn: there is no %s', src,
                path)
        end
        shown[src] = true
        count = count + 1
        figure.attributes.number = (file.number and file.number .. '.' or '') .. count
        figure.attributes.file = path
        return figure, false
    end
    -- What is not alone in its paragraph, or has no caption, is no Figure.
    local function misplaced(image)
        shown[image.src] = true
        report(file, line_of(image), #image.caption == 0
            and 'the figure %s has no caption: ![What to see in it](%s)'
            or 'the figure %s must stand alone in its paragraph', image.src, image.src)
    end
    file.blocks = file.blocks:walk { traverse = 'topdown', Figure = show, Image = misplaced }
    for _, name in ipairs(file.key and file.pictures or {}) do
        if not shown[name] then
            report(file, 1, 'the figure %s is drawn (%s/%s), but not shown', name,
                file.folder, name)
        end
    end
end

------------------------------------------------------------------------------
-- Ids and references

local function slug(inlines)
    local text = pandoc.text.lower(stringify(inlines))
    return (text:gsub("['’]", ''):gsub('[%s%p]+', '-'):gsub('^%-+', ''):gsub('%-+$', ''))
end

-- Notes an id in book.ids: its file, line and page (file.current); and what a reference
-- to it says, text or title.
local function define(book, file, id, target, pattern)
    local line, other = target.line or next_line(file, pattern or '%f[#%(]#' .. plain(id) .. '%f[^%w_:.-]'), book.ids[id]
    if other then
        return report(file, line, 'the id %s is taken: %s:%d has it', id, other.file.name, other.line)
    end
    target.id, target.file, target.line = id, file, line
    target.page = file.current or target
    book.ids[id] = target
end

local function begin_page(book, file, heading)
    local title, line = stringify(heading), next_line(file, '^#%s')
    if file.literate and file.current then
        report(file, line, 'a second heading of level 1: "%s" (a file is one page; use ##)', title)
    elseif heading.identifier == '' then
        report(file, line, 'the page "%s" has no id: # %s {#...}', title, title)
    end
    file.current = nil
    define(book, file, heading.identifier, { title = heading.content })
    file.current = book.ids[heading.identifier]
    heading.attributes.kind = file.kind
    heading.attributes.number = file.number
    heading.attributes.file = file.literate and file.name or nil
end

-- A section that has no id gets one from page and title.
local function begin_section(book, file, heading)
    if heading.identifier == '' then
        local id, n = (file.current and file.current.id .. '-' or '') .. slug(heading.content), 1
        heading.identifier = id
        while book.ids[heading.identifier] do
            n = n + 1
            heading.identifier = id .. '-' .. n
        end
    end
    define(book, file, heading.identifier, { title = heading.content })
end

local function gather_ids(file, book)
    local function anchor(element)
        if element.identifier ~= '' then define(book, file, element.identifier, {}) end
    end
    file.blocks = file.blocks:walk {
        traverse = 'topdown',
        Header = function(heading)
            local begin = heading.level == 1 and begin_page or begin_section
            begin(book, file, heading)
            return heading
        end,
        Span = anchor, CodeBlock = anchor,
        Figure = function(figure)
            if figure.identifier ~= '' then
                define(book, file, figure.identifier, { text = 'figure\u{a0}' .. figure.attributes.number })
            end
            return figure, false
        end,
        Div = function(div)
            if not div.classes:includes('exercise') then return anchor(div) end
            local number = div.identifier:gsub('^exercise%-', ''):gsub('%-', '.')
            define(book, file, div.identifier, { text = 'exercise\u{a0}' .. number },
                '^%*%*Exercise ' .. plain(number) .. '%*%*')
        end,
    }
end

-- The words of a reference, as inlines. A numbered page goes by its number,
-- another by its title; a section of another page by both.
local function reference_text(target, file)
    local page, text = target.page, pandoc.Inlines(target.text or {})
    if target.title and (target == page or target.file ~= file) then
        text:extend(page.file.number
            and pandoc.Inlines { page.file.kind .. '\u{a0}' .. page.file.number } or page.title)
    end
    if target.title and target ~= page then
        if #text > 0 then text:extend { pandoc.Str ',', pandoc.Space() } end
        text:insert(pandoc.Quoted('DoubleQuote', target.title))
    end
    -- A title's footnotes stay with the title.
    return text:walk { Note = function() return {} end }
end

-- Writes the words of an empty link. One that begins a sentence begins with a capital.
local function name_link(link, target, file, begins_sentence)
    link.content = reference_text(target, file)
    local first = link.content[1]
    if first and first.t == 'Str' and begins_sentence then
        first.text = first.text:gsub('^%l', string.upper)
        link.content[1] = first
    end
    if first and target == target.page and target.file.number then
        link.title = stringify(target.title)
    end
    return first
end

-- Checks a link, and writes its words where it has none.
local function resolve(link, file, book, begins_sentence)
    local id, empty = link.target:match('^#(.*)$'), #link.content == 0
    local target = id and book.ids[id]
    local line = next_line(file, '%(' .. plain(link.target) .. '[%s)]')
    if not id and not link.target:find('^%a[%w+.-]*:') then
        report(file, line, 'a link leads to #id or to a full address: not to %s', link.target)
    elseif not id and empty then
        report(file, line, 'a link without words: [](%s)', link.target)
    elseif id and not target then
        report(file, line, 'the link #%s leads nowhere: no heading, figure or exercise has this id', id)
    elseif id and empty and not name_link(link, target, file, begins_sentence) then
        report(file, line, 'a link without words: [](#%s) leads to what has no number and no title', id)
    end
    return link
end

local function resolve_links(file, book)
    file.blocks = file.blocks:walk {
        Inlines = function(inlines)
            if not inlines:find_if(function(inline) return inline.t == 'Link' end) then return end
            local start = true
            for i, inline in ipairs(inlines) do
                if inline.t == 'Link' then inlines[i] = resolve(inline, file, book, start) end
                if inline.t == 'Str' then
                    start = inline.text:find('[.?!][”’)]*$') ~= nil
                elseif inline.t ~= 'Space' and inline.t ~= 'SoftBreak' then
                    start = false
                end
            end
            return inlines
        end,
    }
end

------------------------------------------------------------------------------
-- The glossary

-- A term as it is compared: neither case nor number counts.
local function singular(text)
    return (pandoc.text.lower(text):gsub('%p$', ''):gsub('ies$', 'y'):gsub('ices$', 'ix')
        :gsub('s$', ''))
end

-- A row of the glossary begins with a link to a section, and the link with a term,
-- up to a comma.
local function read_row(row)
    local block = row.cells[1].contents[1]
    local link = block and block.content[1]
    local words = link and stringify(link) or ''
    return { row = row, link = link, words = words, term = words:match('^[^,]*'),
             id = link and link.t == 'Link' and link.target:match('^#(.*)$') or false }
end

-- Calls visit(table, rows, file) for each table of the glossary.
local function walk_glossary(book, visit)
    for _, file in ipairs(book.files) do
        local within
        file.blocks = file.blocks:walk {
            traverse = 'topdown',
            Header = function(heading)
                if heading.level == 1 then within = heading.identifier == 'glossary' end
            end,
            Table = function(tbl)
                if not within then return end
                return visit(tbl, tbl.bodies[1].body:map(read_row), file), false
            end,
        }
    end
end

-- Gives each wanted term, wanted[id][term], an anchor where the section with this id,
-- from its heading or anchor to the next heading, first has it in bold; and notes the
-- place, counted through the book.
local function plant_terms(book, wanted)
    local place, open = 0, {}
    local function enter(element) table.insert(open, wanted[element.identifier]) end
    local function pass(element)
        if element.t == 'Header' then open = {} end
        enter(element)
        return element, false
    end
    local function plant(strong)
        for _, terms in ipairs(open) do
            local term = terms[singular(stringify(strong))]
            if term and not term.place then
                place = place + 1
                term.place = place
                strong.content = { pandoc.Span(strong.content, pandoc.Attr(term.anchor, { 'term' })) }
                return strong, false
            end
        end
    end
    for _, file in ipairs(book.files) do
        open = {}
        file.blocks = file.blocks:walk {
            traverse = 'topdown',
            Header = pass, Figure = pass, Div = enter, Span = enter, CodeBlock = enter, Strong = plant,
        }
    end
end

-- Leads a row's link on to where its term was planted.
local function lead_on(book, row, term)
    local target = book.ids[row.id]
    if not row.id then
        report(row.file, row.line, 'a row of the glossary begins with a link to the'
            .. ' section that introduces the term: [term](#id)')
    elseif term.place or book.ids[term.anchor] then
        define(book, row.file, term.anchor, row)
        row.link.target = '#' .. term.anchor
    elseif target then
        report(row.file, row.line, 'the glossary leads to #%s for "%s", but **%s**, or'
            .. ' its plural, does not stand there before the next heading: %s:%d',
            row.id, row.term, row.term, target.file.name, target.line)
    end
end

-- Leads the glossary to where its terms stand in bold; and puts the rows of each table
-- into the order of these places.
local function link_terms(book)
    local wanted = {}
    walk_glossary(book, function(_, rows)
        for _, row in ipairs(rows) do
            wanted[row.id] = wanted[row.id] or {}
            wanted[row.id][singular(row.term)] = { anchor = 'term-' .. slug(row.term) }
        end
    end)
    plant_terms(book, wanted)
    walk_glossary(book, function(tbl, rows, file)
        for _, row in ipairs(rows) do
            local term = wanted[row.id][singular(row.term)]
            row.file, row.place = file, term.place or 0
            row.line = next_line(file, '^|%s*%[?' .. plain(row.words) .. '%s*[%]|]')
            lead_on(book, row, term)
        end
        rows:sort(function(a, b) return a.place < b.place end)
        tbl.bodies[1].body = rows:map(function(row) return row.row end)
        return tbl
    end)
end

------------------------------------------------------------------------------
-- The book

-- The blocks in reading order. book.md's first page leads; its others (glossary,
-- sources) come after the chapters and appendices, and the header is the last.
local function in_reading_order(files)
    local blocks, after, header = pandoc.Blocks {}, pandoc.Blocks {}, pandoc.Blocks {}
    for _, file in ipairs(files) do
        local place, pages = file.page == 'reference' and header or blocks, 0
        for _, block in ipairs(file.blocks) do
            if block.t == 'Header' and block.level == 1 then pages = pages + 1 end
            if not file.literate and pages > 1 then place = after end
            place:insert(block)
        end
    end
    blocks:extend(after)
    blocks:extend(header)
    return blocks
end

-- The parts of the contents must begin with pages that there are, other names lead to
-- places, and sources that are cited stand on a page.
local function check_book(book, meta)
    local head = { name = 'book.md', prose = {}, found = {} }
    for line in book.head:gmatch('(.-)\n') do table.insert(head.prose, line) end
    for n, part in ipairs(meta.parts or {}) do
        local line = next_line(head, '%f[%w]first:')
        local first = part.first and stringify(part.first) or ''
        local target = book.ids[first]
        if not part.title or not target or target ~= target.page then
            report(head, line, 'part %d must have a title and, as first, the id of a page:'
                .. ' not "%s"', n, first)
        end
    end
    for id in pairs(meta.aliases or {}) do
        if not book.ids[id] then
            report(head, next_line(head, '^%s+' .. plain(id) .. ':'),
                'the names for #%s lead nowhere: no heading, term or figure has this id', id)
        end
    end
    local cited
    for _, file in ipairs(book.files) do
        local known = {}
        for _, source in ipairs(pandoc.utils.references(pandoc.Pandoc(file.blocks, meta))) do known[source.id] = true end
        file.blocks:walk { Cite = function(cite)
            cited = cited or file
            for _, one in ipairs(cite.citations) do
                if not known[one.id] then
                    report(file, next_line(file, '@{?' .. plain(one.id) .. '%f[^%w_]'),
                        'the source @%s is cited, but not in the bibliography', one.id)
                end
            end
        end }
    end
    if cited and not book.ids.refs then
        report(cited, 1, 'sources are cited, but no page of the book holds ::: {#refs}')
    end
end

local function read_file(file)
    local said, doc = pandoc.log.silence(pandoc.read, file.markdown, MARKDOWN)
    report_warnings(file, said)
    file.blocks = doc.blocks
    local formulas = pandoc.Inlines {}
    doc:walk { Math = function(math) formulas:insert(math) end }
    report_warnings(file, (pandoc.log.silence(pandoc.write, pandoc.Pandoc { pandoc.Plain(formulas) }, 'html',
        { html_math_method = 'mathml' })))
    check_fences(file)
    check_leftovers(file)
    wrap_exercises(file)
    place_listings(file)
    place_figures(file)
end

-- [The book's files]{.files} lead to where they are, if that is known.
local function link_files(repository)
    return { Span = function(span)
        if not span.classes:includes('files') then return end
        return repository and pandoc.Link(span.content, stringify(repository)) or span.content
    end }
end

function Reader(inputs)
    local book = pandoc.json.decode(inputs[1].text, false)
    local meta = pandoc.read(book.head, 'markdown').meta
    book.ids = {}
    for _, file in ipairs(book.files) do
        file.found = {}
        read_file(file)
        gather_ids(file, book)
    end
    for _, file in ipairs(book.files) do resolve_links(file, book) end
    link_terms(book)
    check_book(book, meta)
    if #faults > 0 then error(table.concat(faults, '\n'), 0) end
    return pandoc.Pandoc(in_reading_order(book.files), meta):walk(link_files(meta.repository))
end
