-- The filter: pandoc ... --citeproc -L tools/weave/book.lua -t chunkedhtml
--
-- Renders what literate.lua left in classes and attributes: listings with the C
-- file's line numbers, output, folded questions, hints and solutions, exercises,
-- figures; and gathers what the template needs: $parts$ (the pages by parts, with
-- their sections, of which tools/weave/weave keeps the current page's), $first$ (the page
-- to begin with), $cover.map$ and $invitation$ (what stands in book.md before the first
-- heading).
-- What is for paper, paper.lua renders.
--
-- Pandoc rewrites links to `page.html#id` in the pages' text, but not in raw HTML
-- and metadata, which have to say it themselves. Whatever may be wider than the
-- screen stands in a box that scrolls by itself and that the keyboard can reach.

if not FORMAT:match('html') then return {} end

local common = dofile(pandoc.path.directory(PANDOC_SCRIPT_FILE) .. '/common.lua')
local stringify = pandoc.utils.stringify

local function escape(text)
    return (text:gsub('[&<>"]', { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;' }))
end

local function html(...)
    return pandoc.RawBlock('html', string.format(...))
end

-- The attributes of a box that scrolls.
local function scrolls(label)
    return ('tabindex="0" role="group" aria-label="%s"'):format(escape(label))
end

------------------------------------------------------------------------------
-- Code

-- The lines of a code block as HTML, highlighted by pandoc; an operator of one
-- character looks as anything else, and needs no element.
local function highlighted_lines(text, language)
    local block = pandoc.CodeBlock(text, pandoc.Attr('', { language }))
    local code = pandoc.write(pandoc.Pandoc { block }, 'html'):match('<code[^>]*>(.*)</code>')
    local lines = pandoc.List {}
    code = code:gsub('<span class="op">(.)</span>', '%1')
    for line in (code .. '\n'):gmatch('(.-)\n') do
        lines:insert(line:match('^<span id="cb[^"]*"><a [^>]*></a>(.*)</span>$') or line)
    end
    return lines
end

-- A listing of a C file. Line 57 has the id L57. A line of a header has its number
-- among the lines of all headers: on their page as L57, in a chapter, which has lines
-- of its own, as H57; where a single type is shown, it leads to the headers' page.
local function listing(code)
    local get = code.attributes
    local first, at, file = tonumber(get.startFrom), tonumber(get.at), escape(get.file)
    local lines = highlighted_lines(code.text, 'c'):map(function(line, i)
        local id = (get.header and 'H' or 'L') .. at + i - 1
        return ('<span class="line"%s><a href="%s#%s" aria-hidden="true" tabindex="-1"></a>%s</span>')
            :format(get.type and '' or (' id="%s"'):format(id),
                get.type and 'reference.html' or '', id, line)
    end)
    -- A header among others, or a part of one, says which it is.
    local is_other = get.type or get.at ~= get.startFrom and not get.header
    local note = is_other and ('<p class="label">in %s</p>\n'):format(file) or ''
    -- Each exercise that this listing solves.
    for _, exercise in ipairs(common.solved(code)) do
        note = note .. ('<p class="note"><a href="#%s">exercise %s</a> asks for <code>%s</code></p>\n')
            :format(exercise.id, exercise.number, escape(exercise.name))
    end
    local shown = ('<div class="listing">\n%s<pre class="code" style="counter-reset:line %d" %s>'
        .. '<code>%s\n</code></pre>\n</div>')
        :format(note, first - 1, scrolls(('%s, lines %d to %d'):format(get.file, first, first + #lines - 1)),
            table.concat(lines, '\n'))
    -- What is folded is there for whoever asks, at its place in the file.
    if get.folded then
        shown = ('<details class="shows">\n<summary><span class="label">%s</span>'
            .. ' <span class="lines">lines %d to %d</span></summary>\n%s\n</details>')
            :format(get.folded, first, first + #lines - 1, shown)
    end
    -- The header's part of a chapter comes before anything in it is explained,
    -- so it is there for whoever asks, and folded.
    if get.header then
        shown = ('<details class="announced">\n<summary><span class="label">The header of this chapter: %s'
            .. '</span></summary>\n'
            .. '%s\n<p class="label"><a href="reference.html#%s">All headers</a></p>\n'
            .. '</details>'):format(file, shown, get.header)
    end
    return html('%s', shown)
end

-- What a program printed, and the command, where it was not run plainly. Which
-- program and how it was run stands there for run.js, too.
local function output(code)
    local args, status = code.attributes.args, code.attributes.status
    local program = code.attributes.program or 'NN'
    local label = args and '<code>' .. common.command(program, escape(args)) .. '</code>' or 'output'
    if status then
        label = label .. ' <span class="status">exit status ' .. escape(status) .. '</span>'
    end
    return html('<div class="output" data-program="%s"%s>\n<p class="label">%s</p>\n<pre %s>'
        .. '<samp>%s\n</samp></pre>\n</div>', escape(program),
        args and (' data-args="%s"'):format(escape(args)) or '',
        label, scrolls('output'), escape(code.text))
end

-- Any other code: PyTorch's version, a line of shell.
local function other_code(code)
    local language = code.classes[1]
    local python = language == 'python'
    return html('<div class="listing %s">\n%s<pre class="code plain" %s>'
        .. '<code>%s\n</code></pre>\n</div>', language or 'text',
        python and '<p class="label">Python</p>\n' or '',
        scrolls(python and 'PyTorch' or 'code'), language
        and table.concat(highlighted_lines(code.text, language), '\n') or escape(code.text))
end

------------------------------------------------------------------------------
-- Blocks that fold, and other divs

-- A <details> with what it folds away, a label and, for a question, more words.
local function folded(class, label, more, blocks)
    local summary = pandoc.Inlines {
        pandoc.Span(pandoc.Inlines(label), pandoc.Attr('', { 'label' })),
    }
    summary:extend(more)
    return {
        html('<details class="%s">\n<summary>', class), pandoc.Plain(summary),
        html('</summary>'), pandoc.Div(blocks, pandoc.Attr('', { 'folded' })), html('</details>'),
    }
end

local function Div(div)
    local class, number = div.classes[1], div.attributes.number
    local solved = div.attributes.exercise
    if class == 'question' then
        local asked = pandoc.Inlines { pandoc.Space() }
        -- The line is pressed as a whole: a link in it would be a second thing to press.
        asked:extend(common.unlinked(div.content[1].content))
        return folded(class, 'What do you expect?', asked, { table.unpack(div.content, 2) })
    elseif class == 'hint' or class == 'solution' then
        local which = number and ' ' .. number or solved and ' of exercise ' .. solved or ''
        return folded(class, class:gsub('^%l', string.upper) .. which, {}, div.content)
    elseif class == 'done' then
        return folded(class, 'When its tests pass', {}, div.content)
    elseif class == 'workbench' then
        -- What it holds stands there until a script puts the workbench in its place.
        local blocks = pandoc.Blocks {
            html('<div class="workbench" data-args="%s">', escape(div.attributes.args or '')) }
        blocks:extend(div.content)
        return blocks .. { html('</div>') }
    end
end

------------------------------------------------------------------------------
-- Figures, formulas, tables

-- An SVG made fit to stand in a page with others, its ids unique. Its width decides
-- how far it may shrink before it scrolls.
local function inline_svg(path, name)
    local svg = common.svg(path):gsub('%s+$', '')
    svg = svg:gsub('(%sid=")([^"]+)"', '%1' .. name .. '-%2"')
    svg = svg:gsub('(%saria%-%a+by=")([^"]+)', function(start, list)
        return start .. list:gsub('%S+', name .. '-%0')
    end)
    return svg, tonumber(svg:match('^<svg[^>]-%swidth="([%d.]+)'))
end

local function Figure(figure)
    local name = figure.attributes.file:match('([^/]*)%.svg$')
    local svg, width = inline_svg(figure.attributes.file, name)
    local number = 'Figure ' .. figure.attributes.number
    local id = figure.identifier ~= '' and ' id="' .. figure.identifier .. '"' or ''
    return {
        html('<figure%s>\n<div class="picture" style="--width: %gpx" %s>\n%s\n</div>\n'
            .. '<figcaption>', id, width, scrolls(number), svg),
        pandoc.Plain(common.caption(figure, number)),
        html('</figcaption>\n</figure>'),
    }
end

-- A formula of its own scrolls; so does, on a narrow screen, a long one in a line.
local function Math(math)
    local display = math.mathtype == 'DisplayMath'
    if not display and #math.text < 40 then return end
    local class = display and 'formula' or 'long-formula'
    return pandoc.Span({ math }, pandoc.Attr('', { class },
        { { 'aria-label', 'formula' }, { 'tabindex', '0' }, { 'role', 'group' } }))
end

-- Each cell but a row's first says which column it is in, as on a narrow screen it
-- may stand below the others.
local function Table(tbl)
    local head = tbl.head.rows[1]
    for _, body in ipairs(head and tbl.bodies or {}) do
        for _, row in ipairs(body.body) do
            for i = 2, #row.cells do
                row.cells[i].attributes.column = stringify(head.cells[i].contents)
            end
        end
    end
    return { html('<div class="table" %s>', scrolls('table')), tbl, html('</div>') }
end

local function Span(span)
    if span.classes:includes('cited') then return span.content end
end

------------------------------------------------------------------------------
-- Sources in other languages

-- Marks what is Chinese in the sources, and where they are cited, by its characters. What
-- is German says so in book.bib.
local function mark_chinese(element)
    return element:walk {
        Str = function(str)
            local before, chinese, after = str.text:match('^([^\xE3-\xE9\xEF]*)(.*[\xE3-\xE9\xEF]..)(.*)$')
            return chinese and {
                pandoc.Str(before), pandoc.Span({ pandoc.Str(chinese) }, { lang = 'zh' }), pandoc.Str(after),
            }
        end,
    }
end

local function mark_sources(div)
    if div.classes:includes('csl-entry') then return mark_chinese(div) end
end

------------------------------------------------------------------------------
-- Contents

-- A heading's words as the contents have them.
local function bare(inlines)
    return common.unlinked(inlines):walk { Note = function() return {} end }
end

-- Groups the pages, with their sections, by the parts of book.md: a part goes on
-- until the next one, or to the first page without a number after it.
local function parts_of(doc)
    local titles, parts, page = {}, {}, nil
    for _, part in ipairs(doc.meta.parts or {}) do titles[stringify(part.first)] = part.title end
    for _, block in ipairs(doc.blocks) do
        local current, id = parts[#parts], block.identifier
        if block.t == 'Header' and block.level == 1 then
            page = { id = id, title = bare(block.content), number = block.attributes.number,
                     sections = pandoc.List {} }
            if titles[id] or not current
                or current.title and block.attributes.kind == 'page' then
                current = { title = titles[id], pages = {} }
                table.insert(parts, current)
            end
            table.insert(current.pages, page)
        elseif block.t == 'Header' and block.level == 2 and page then
            page.sections:insert(
                { address = page.id .. '.html#' .. id, title = bare(block.content) })
        end
    end
    return parts
end

-- Takes out what stands before the first heading, which would become a page of
-- its own, for the title page.
local function take_invitation(doc)
    local begun, front, body = false, pandoc.Blocks {}, pandoc.Blocks {}
    for _, block in ipairs(doc.blocks) do
        begun = begun or block.t == 'Header' and block.level == 1
        local place = begun and body or front
        place:insert(block)
    end
    doc.blocks = body
    if #front > 0 then doc.meta.invitation = pandoc.MetaBlocks(front) end
end

-- A link with a state leads to the workbench's page, which shows it.
local function show_state(link)
    local state = link.attributes.state
    if not state then return end
    link.target = link.target:match('^#(.*)') .. '.html#' .. state
    link.attributes.state = nil
    return link
end

-- Says above a page's heading what it is; tools/weave/weave makes a line of it.
local function mark_page(header)
    if header.level ~= 1 then return end
    local kind, number = header.attributes.kind, header.attributes.number
    local above = number and (kind == 'chapter' and 'Chapter ' or 'Appendix ') .. number
    header.attributes = { ['page-above'] = above, ['page-file'] = header.attributes.file }
    return header
end

-- The book's last page; tools/weave/weave puts both indexes into their places.
local function add_index(doc)
    local function heading(level, title, id, ...)
        return pandoc.Header(level, title, pandoc.Attr(id, {}, ...))
    end
    doc.blocks:extend {
        heading(1, 'Index', 'book-index', { kind = 'page' }),
        pandoc.Para 'Where a function, type or term is introduced, and where else functions and types are used.',
        heading(2, 'Functions and types', 'index-functions'), html('<!--index code-->'),
        heading(2, 'Terms', 'index-terms'), html('<!--index terms-->'),
    }
end

-- The cover's map, which is drawn anew for other words.
local function draw_cover(cover)
    local path = stringify(cover.figure)
    local svg = inline_svg((os.getenv('BUILD') or 'build') .. '/figures/' .. path, 'cover')
    cover.map = pandoc.MetaBlocks { html('%s', svg) }
end

local function Pandoc(doc)
    add_index(doc)
    if doc.meta.cover then draw_cover(doc.meta.cover) end
    doc.meta.parts = parts_of(doc)
    take_invitation(doc)
    doc.meta.first = doc.meta.parts[1] and doc.meta.parts[1].pages[1].id
    doc.meta['book-title'] = stringify(doc.meta.title or '')
    return doc:walk { Header = mark_page, Link = show_state, Cite = mark_chinese, Div = mark_sources }
end

return {
    { Pandoc = Pandoc },
    { Math = Math, Span = Span },
    { CodeBlock = common.code_block(listing, output, other_code), Figure = Figure,
      Table = Table, Div = Div },
}
