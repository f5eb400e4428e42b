-- The filter: pandoc ... --citeproc -L tools/book.lua -t chunkedhtml
--
-- Renders what literate.lua left in classes and attributes: listings with the C
-- file's line numbers, output, folded questions, hints and solutions, exercises,
-- figures; and writes the contents for the template: $menu$ (the sidebar, with
-- the sections of every chapter, of which tools/weave keeps the current one's),
-- $contents$ (the title page's, by parts) and $invitation$ (what stands in book.md
-- before the first heading). Only HTML is rendered so far.
--
-- Pandoc rewrites links to `page.html#id` in the pages' text, but not in raw HTML
-- and metadata, which have to say it themselves. Whatever may be wider than the
-- screen stands in a box that scrolls by itself and that the keyboard can reach.

if not FORMAT:match('html') then return {} end

local stringify = pandoc.utils.stringify

local function escape(text)
    return (text:gsub('[&<>"]',
        { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;' }))
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

-- The lines of a code block as HTML, highlighted by pandoc.
local function highlighted_lines(text, language)
    local block = pandoc.CodeBlock(text, pandoc.Attr('', { language }))
    local written = pandoc.write(pandoc.Pandoc { block }, 'html')
    local code = written:match('<code[^>]*>(.*)</code>')
    local lines = {}
    for line in (code .. '\n'):gmatch('(.-)\n') do
        local bare = line:match('^<span id="cb[^"]*"><a [^>]*></a>(.*)</span>$')
        lines[#lines + 1] = bare or line
    end
    return lines
end

-- "exercise 2.1: `softmax` is empty in the student edition", for each exercise
-- that this listing solves.
local function exercise_notes(exercises)
    local notes = {}
    for number, name in (exercises or ''):gmatch('(%S+):(%S+)') do
        notes[#notes + 1] = ('<p class="note"><a href="#exercise-%s">exercise %s</a>: '
            .. '<code>%s</code> is empty in the student edition</p>\n')
            :format(number:gsub('%.', '-'), number, escape(name))
    end
    return table.concat(notes)
end

-- A listing of a C file. Line 57 has the id L57; lines of the header that stand
-- in a chapter have H57, as the chapter has lines of its own.
local function listing(code)
    local first = tonumber(code.attributes.startFrom)
    local header, file = code.attributes.header, code.attributes.file
    local lines = highlighted_lines(code.text, 'c')
    local out = {}
    for i, line in ipairs(lines) do
        local n = first + i - 1
        local id = (header and 'H' or 'L') .. n
        out[i] = ('<span class="line" id="%s"><a href="#%s" aria-hidden="true" '
            .. 'tabindex="-1" data-n="%d"></a>%s</span>'):format(id, id, n, line)
    end
    local place = ('%s, lines %d to %d'):format(file, first, first + #lines - 1)
    local shown = ('<div class="listing">\n%s<pre class="code" %s>'
        .. '<code>%s\n</code></pre>\n</div>'):format(
        exercise_notes(code.attributes.exercises), scrolls(place),
        table.concat(out, '\n'))
    -- The header's part of a chapter comes before anything in it is explained,
    -- so it is there for whoever asks, and folded.
    if header then
        shown = ('<details class="announced">\n<summary>What this chapter adds to '
            .. '%s</summary>\n%s\n<p class="label"><a href="reference.html#%s">'
            .. 'The whole header</a></p>\n</details>'):format(escape(file), shown, header)
    end
    return html('%s', shown)
end

-- What a program printed, and the command, where it was not run plainly.
local function output(code)
    local args, status = code.attributes.args, code.attributes.status
    local label = 'output'
    if args then
        label = ('<code>make -s run-%s ARGS="%s"</code>')
            :format(code.attributes.run or 'NN', escape(args))
    end
    if status then
        label = label .. ' <span class="status">exit status ' .. escape(status)
            .. '</span>'
    end
    return html('<div class="output">\n<p class="label">%s</p>\n<pre %s>'
        .. '<samp>%s\n</samp></pre>\n</div>', label, scrolls('output'), escape(code.text))
end

-- Any other code: PyTorch's version, a line of shell.
local function other_code(code)
    local language = code.classes[1]
    local label, text = '', escape(code.text)
    if language then text = table.concat(highlighted_lines(code.text, language), '\n') end
    if language == 'python' then
        label = '<p class="label">the same in PyTorch</p>\n'
    end
    return html('<div class="listing %s">\n%s<pre class="code plain" %s>'
        .. '<code>%s\n</code></pre>\n</div>', language or 'text', label,
        scrolls(language == 'python' and 'PyTorch' or 'code'), text)
end

local function CodeBlock(code)
    if code.classes:includes('numberLines') then return listing(code) end
    if code.classes:includes('output') then return output(code) end
    return other_code(code)
end

------------------------------------------------------------------------------
-- Blocks that fold, and other divs

-- A <details> with a summary and what it folds away.
local function folded(class, summary, blocks)
    local content = pandoc.Blocks { html('<details class="%s">\n<summary>', class) }
    content:extend(summary)
    content:insert(html('</summary>'))
    content:insert(pandoc.Div(blocks, pandoc.Attr('', { 'folded' })))
    content:insert(html('</details>'))
    return content
end

local function label(text)
    return pandoc.Span(pandoc.Inlines(text), pandoc.Attr('', { 'label' }))
end

local function question(div)
    local asked = pandoc.Inlines { label('What do you expect?'), pandoc.Space() }
    asked:extend(div.content[1].content)
    local answer = pandoc.Blocks { table.unpack(div.content, 2) }
    return folded('question', { pandoc.Plain(asked) }, answer)
end

local function hint(div)
    local number = div.attributes.number
    local text = 'Hint' .. (number and ' ' .. number or '')
    return folded('hint', { pandoc.Plain { label(text) } }, div.content)
end

local function solution(div)
    local number = div.attributes.exercise
    local text = 'Solution' .. (number and ' of exercise ' .. number or '')
    return folded('solution', { pandoc.Plain { label(text) } }, div.content)
end

local function Div(div)
    local class = div.classes[1]
    if class == 'question' then return question(div) end
    if class == 'hint' then return hint(div) end
    if class == 'solution' then return solution(div) end
end

------------------------------------------------------------------------------
-- Figures, formulas, tables

-- An SVG made fit to stand in a page with others: without XML declaration, its
-- ids unique. Its width decides how far it may shrink before it scrolls.
local function inline_svg(path, name)
    local file = assert(io.open(path, 'rb'))
    local svg = file:read('a'):gsub('^.-(<svg)', '%1', 1):gsub('%s+$', '')
    file:close()
    local ids = {}
    for id in svg:gmatch('%sid="([^"]+)"') do ids[id] = true end
    svg = svg:gsub('(%sid=")([^"]+)"', '%1' .. name .. '-%2"')
    svg = svg:gsub('(%saria%-[%a]+by=")([^"]+)"', function(start, list)
        return start .. list:gsub('%S+', function(id)
            return ids[id] and name .. '-' .. id or id
        end) .. '"'
    end)
    svg = svg:gsub('(url%(#)([^)]+)%)', '%1' .. name .. '-%2)')
    svg = svg:gsub('(href="#)([^"]+)"', '%1' .. name .. '-%2"')
    local width = svg:match('^<svg[^>]-%swidth="([%d.]+)')
        or svg:match('^<svg[^>]-%sviewBox="[%d.-]+%s+[%d.-]+%s+([%d.]+)')
    return svg, tonumber(width) or 640
end

local function Figure(figure)
    local name = figure.attributes.file:match('([^/]*)%.svg$')
    local svg, width = inline_svg(figure.attributes.file, name)
    local number = 'Figure ' .. figure.attributes.number
    local caption = pandoc.Inlines {
        pandoc.Span(pandoc.Inlines(number .. '.'), pandoc.Attr('', { 'number' })),
        pandoc.Space(),
    }
    caption:extend(pandoc.utils.blocks_to_inlines(figure.caption.long))
    local id = figure.identifier ~= '' and ' id="' .. figure.identifier .. '"' or ''
    return {
        html('<figure%s>\n<div class="picture" style="--width: %gpx" %s>\n%s\n</div>\n'
            .. '<figcaption>', id, width, scrolls(number), svg),
        pandoc.Plain(caption),
        html('</figcaption>\n</figure>'),
    }
end

-- A formula of its own scrolls; so does, on a narrow screen, a long one in a line.
local function Math(math)
    local display = math.mathtype == 'DisplayMath'
    if not display and #math.text < 40 then return end
    local class = display and 'formula' or 'long-formula'
    return pandoc.Span({ math }, pandoc.Attr('', { class },
        { tabindex = '0', role = 'group', ['aria-label'] = 'formula' }))
end

local function Table(tbl)
    return { html('<div class="table" %s>', scrolls('table')), tbl, html('</div>') }
end

local function Span(span)
    if span.classes:includes('cited') then return span.content end
end

------------------------------------------------------------------------------
-- Contents

local function inlines_html(inlines)
    local plain = pandoc.Inlines(inlines):walk {
        Note = function() return {} end,
        Link = function(link) return link.content end,
    }
    local options = pandoc.WriterOptions { html_math_method = 'mathml' }
    return (pandoc.write(pandoc.Pandoc { pandoc.Plain(plain) }, 'html', options)
        :gsub('%s+$', ''))
end

-- The pages with their sections, from the document's headings.
local function pages_of(doc)
    local pages = {}
    for _, block in ipairs(doc.blocks) do
        if block.t == 'Header' and block.level == 1 then
            pages[#pages + 1] = {
                id = block.identifier, title = inlines_html(block.content),
                kind = block.attributes.kind, number = block.attributes.number,
                sections = {},
            }
        elseif block.t == 'Header' and block.level == 2 and #pages > 0 then
            table.insert(pages[#pages].sections,
                { id = block.identifier, title = inlines_html(block.content) })
        end
    end
    return pages
end

-- Groups the pages by the parts of book.md: a part goes on until the next one,
-- or to the first page without a number after it.
local function parts_of(pages, meta)
    local titles = {}
    for _, part in ipairs(meta.parts or {}) do
        titles[stringify(part.first)] = inlines_html(part.title)
    end
    local parts = {}
    for _, page in ipairs(pages) do
        local current = parts[#parts]
        if titles[page.id] then
            parts[#parts + 1] = { title = titles[page.id], pages = {} }
        elseif not current or (current.title and page.kind == 'page') then
            parts[#parts + 1] = { pages = {} }
        end
        table.insert(parts[#parts].pages, page)
    end
    return parts
end

-- The whole contents as lists. With sections, those of a page stand between two
-- comments, for tools/weave to take out or leave.
local function contents_html(parts, with_sections)
    local out = {}
    local function put(...) out[#out + 1] = string.format(...) end
    for _, part in ipairs(parts) do
        if part.title then put('<p class="part">%s</p>', part.title) end
        put('<ul>')
        for _, page in ipairs(part.pages) do
            local number = page.number
                and ('<span class="number">%s</span> '):format(page.number) or ''
            put('<li><a href="%s.html">%s<span class="title">%s</span></a>', page.id,
                number, page.title)
            if with_sections and #page.sections > 0 then
                put('<!--sections %s-->\n<ul>', page.id)
                for _, section in ipairs(page.sections) do
                    put('<li><a href="%s.html#%s"><span class="title">%s</span></a></li>',
                        page.id, section.id, section.title)
                end
                put('</ul>\n<!--/sections-->')
            end
            put('</li>')
        end
        put('</ul>')
    end
    return pandoc.MetaBlocks { pandoc.RawBlock('html', table.concat(out, '\n')) }
end

-- Takes out what stands before the first heading, which would become a page of
-- its own, for the title page. Its links are written as those of pages.
local function take_invitation(doc)
    local page_of, page, front = {}, nil, pandoc.Blocks {}
    local body = pandoc.Blocks {}
    for _, block in ipairs(doc.blocks) do
        if block.t == 'Header' and block.level == 1 then page = block.identifier end
        local function note(element)
            if page then page_of[element.identifier] = page end
        end
        pandoc.Blocks { block }:walk {
            Header = note, Div = note, Figure = note, Span = note, CodeBlock = note,
        }
        if page then body:insert(block) else front:insert(block) end
    end
    doc.blocks = body
    if #front == 0 then return end
    doc.meta.invitation = pandoc.MetaBlocks(front:walk {
        Link = function(link)
            local id = link.target:match('^#(.*)')
            if id and page_of[id] then
                link.target = page_of[id] .. '.html#' .. id
                return link
            end
        end,
    })
end

-- Says above a page's heading what it is; tools/weave makes a line of it.
local function mark_page(header)
    if header.level ~= 1 then return end
    local kind, number = header.attributes.kind, header.attributes.number
    local above = number and (kind == 'chapter' and 'Chapter ' or 'Appendix ') .. number
    header.attributes = { ['page-above'] = above, ['page-file'] = header.attributes.file }
    return header
end

local function Pandoc(doc)
    local pages = pages_of(doc)
    local parts = parts_of(pages, doc.meta)
    take_invitation(doc)
    doc.meta.menu = contents_html(parts, true)
    doc.meta.contents = contents_html(parts, false)
    doc.meta.first = pages[1] and pages[1].id
    doc.meta['book-title'] = stringify(doc.meta.title or '')
    return doc:walk { Header = mark_page }
end

return {
    { Pandoc = Pandoc },
    { Math = Math, Span = Span },
    { CodeBlock = CodeBlock, Figure = Figure, Table = Table, Div = Div },
}
