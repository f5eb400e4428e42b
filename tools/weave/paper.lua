-- The filter for paper and for readers of EPUBs: pandoc ... -L tools/weave/paper.lua
-- -t typst (or epub3). What the pages on the web fold is laid out: hints and answers stand
-- at the end of their chapter, before its solutions. What a block is, typst learns by a
-- function around it, of tools/theme/book.typ, and an EPUB by a class, of epub.css.

local TYPST = FORMAT == 'typst'
if not TYPST and not FORMAT:match('^epub') then return {} end

local common = dofile(pandoc.path.directory(PANDOC_SCRIPT_FILE) .. '/common.lua')
local stringify = pandoc.utils.stringify

local function raw(...) return pandoc.RawBlock('typst', string.format(...)) end

-- Blocks of one kind; typst is told more by arguments.
local function set_apart(kind, blocks, arguments)
    if not TYPST then return pandoc.Div(blocks, pandoc.Attr('', { kind })) end
    local result = pandoc.Blocks { raw('#%s%s[', kind, arguments or '') }
    result:extend(blocks)
    result:insert(raw(']'))
    return result
end

local function note(inlines) return set_apart('note', { pandoc.Para(inlines) }) end

-- A text as a string of typst's.
local function quoted(text) return '"' .. text:gsub('[\\"]', '\\%0'):gsub('%s+', ' ') .. '"' end

-- What is said of the edition, after what invites to read.
local EDITION = [[
This is the book to carry, woven from the same files as its pages on the web. Hints and
answers stand at the end of their chapter, before its solutions. Code that only prints
and draws is set small, at its place in the file; the [headers](#reference) end the book.
Line numbers are those of the files.

Code is under the MIT licence; prose and figures are under [Creative Commons
Attribution 4.0 International](https://creativecommons.org/licenses/by/4.0/): you may
share and adapt them if you name the source, "Attention in C", link to the licence,
and say what you changed.
]]

-- Without what only holds on the web: sections, blocks and words of class web-only.
local function without_web(doc)
    local kept, level = pandoc.Blocks {}, nil
    for _, block in ipairs(doc.blocks) do
        local is_header = block.t == 'Header'
        if is_header and level and block.level <= level then level = nil end
        if is_header and not level and block.classes:includes('web-only') then level = block.level end
        if not level then kept:insert(block) end
    end
    local function only(element)
        if element.classes:includes('web-only') then return {} end
    end
    doc.blocks = kept:walk { Div = only, Span = only }
end

------------------------------------------------------------------------------
-- A chapter's end

-- Blocks whose first paragraph begins with a label.
local function labelled(label, blocks)
    local first = blocks[1] and blocks[1].t == 'Para' and blocks:remove(1).content or pandoc.Inlines {}
    return pandoc.Blocks { pandoc.Para(pandoc.Inlines { pandoc.Strong(label .. '.'), pandoc.Space() } .. first) }
        .. blocks
end

-- Takes hints and answers out of a page's blocks. Returns both.
local function take_notes(blocks, id)
    local notes, questions, exercise = pandoc.Blocks {}, 0, ''
    local function take(label, content)
        notes:extend(labelled(label, content))
        return {}
    end
    blocks = blocks:walk { traverse = 'topdown', Div = function(div)
        local kind, number = div.classes[1], div.attributes.number
        if kind == 'exercise' then
            exercise = 'Exercise\u{a0}' .. div.identifier:gsub('^exercise%-', ''):gsub('%-', '.')
        elseif kind == 'hint' then
            return take(exercise .. ', hint' .. (number and '\u{a0}' .. number or ''), div.content)
        elseif kind == 'done' then
            return take(exercise .. ', when its tests pass', div.content)
        elseif kind == 'question' then
            questions = questions + 1
            local label = 'Question\u{a0}' .. questions
            local asked = div.content:remove(1)
            take(label, div.content)
            return set_apart('question', labelled(label, pandoc.Blocks { asked })), false
        elseif kind == 'workbench' then
            return {}
        end
    end }
    if #notes > 0 then notes:insert(1, pandoc.Header(2, 'Hints and answers', { id = id .. '-notes', class = 'unlisted' })) end
    return blocks, notes
end

-- A page with its title's number, its file, and hints and answers before the solutions.
local function finish(page, result)
    local heading, id, file = page:remove(1), nil, nil
    id, file = heading.identifier, heading.attributes.file
    local title = common.unlinked(heading.content)
    if heading.attributes.number then title:insert(1, heading.attributes.number .. '\u{2003}') end
    result:insert(pandoc.Header(1, title, { id = id }))
    if file then result:extend(pandoc.Blocks(set_apart('file', { pandoc.Para { pandoc.Code(file) } }))) end
    local blocks, notes = take_notes(page, id)
    for _, block in ipairs(blocks) do
        if block.t == 'Header' and stringify(block) == 'Solutions' then
            result:extend(notes)
            notes = {}
        end
        result:insert(block)
    end
    result:extend(notes)
end

-- The pages, the first of which is about the edition, and a page that announces each part.
local function arrange(doc)
    local result, parts = pandoc.Blocks {}, {}
    local page = pandoc.Blocks { pandoc.Header(1, 'About this edition', { id = 'edition' }) }
    for n, part in ipairs(doc.meta.parts or {}) do
        parts[stringify(part.first)] = pandoc.Header(1, part.title, { id = 'part-' .. n, class = 'part' })
    end
    for _, block in ipairs(doc.blocks) do
        if block.t == 'Header' and block.level == 1 then
            if #result == 0 then
                page:extend(pandoc.read(EDITION, 'markdown').blocks)
                if TYPST then page:insert(raw('#contents')) end
            end
            finish(page, result)
            result:insert(parts[block.identifier])
            page = pandoc.Blocks {}
        end
        page:insert(block)
    end
    finish(page, result)
    doc.blocks = result
end

------------------------------------------------------------------------------
-- Pictures

-- An SVG with plain values for what only a browser knows: its variables have those of the
-- first rule, for light pages; rules for other media go; and it has a viewBox, so that it scales.
local function plain_picture(path)
    local svg = common.svg(path)
    local value = { paper = '#ffffff' }
    for name, colour in (svg:match('%.figure{([^}]*)}') or ''):gmatch('%-%-([%w-]+):([^;}]+)') do
        value[name] = colour
    end
    svg = svg:gsub('<style>(.-)</style>', function(style)
        return '<style>' .. style:gsub('@[^{;]*%b{}', ''):gsub('%-%-[%w-]+:[^;}]*;?', '')
            :gsub('var%(%-%-([%w-]+)[^)]*%)', function(name) return value[name] or 'var()' end)
            :gsub('[^{}]*{[^}]*var%(%)[^}]*}', '')
            :gsub('font:(%S+) system%-ui,sans%-serif',
                'font-size:%1;font-family:' .. (TYPST and '"Libertinus Serif"' or 'sans-serif')) .. '</style>'
    end)
    local root = svg:match('^<svg[^>]*>')
    local width, height = root:match('%swidth="([%d.]+)"'), root:match('%sheight="([%d.]+)"')
    local plain = root:gsub('%sstyle="[^"]*"', '')
    if not plain:find('viewBox') then
        plain = plain:gsub('>$', (' viewBox="0 0 %s %s">'):format(width, height))
    end
    svg = plain .. svg:sub(#root + 1):gsub('%sstyle="%-%-[^"]*"', '')
    -- A sign right of the picture, where its row ends, is for narrow pages.
    svg = svg:gsub('(<g class="panel" transform="translate%(([%d.]+).-</g>)', function(panel, left)
        return (panel:gsub('<text x="([%d.]+)"[^>]*>[^<]*</text>\n?', function(x)
            if left + x > tonumber(width) then return '' end
        end))
    end)
    -- Typst paints a text's edge glyph by glyph, over those before: the text comes again,
    -- without one. The edge is wider, as nothing is to be seen between two glyphs.
    svg = svg:gsub('<text([^>]*class="[^"]*)%f[%w]rim%f[%W](.-</text>)',
        '<text style="stroke-width:6;stroke-linejoin:round"%1rim%2<text%1%2')
    return svg, tonumber(width)
end

-- What a picture says to those who cannot see it.
local function described(svg)
    local title, more = svg:match('<title[^>]*>(.-)</title>'), svg:match('<desc[^>]*>(.-)</desc>')
    return (((title or '') .. '. ' .. (more or '')):gsub('&lt;', '<'):gsub('&gt;', '>'):gsub('&amp;', '&'))
end

-- A figure of typst's has its width in points; wider than the text, it is made as wide.
local function Figure(figure)
    local path = figure.attributes.file
    local svg, width = plain_picture(path)
    local picture
    if TYPST then
        picture = pandoc.RawInline('typst', '#picture(' .. quoted(svg) .. (', %g, '):format(width) .. quoted(described(svg)) .. ')')
    else
        -- A ground, for readers whose pages are dark.
        svg = svg:gsub('</style>', '%0<rect width="100%%" height="100%%" fill="#ffffff"/>', 1)
        local name = path:match('([^/]*/[^/]*)$'):gsub('/', '-')
        pandoc.mediabag.insert(name, 'image/svg+xml', svg)
        picture = pandoc.Image(pandoc.Inlines(described(svg)), name, '', { width = ('%gpx'):format(width) })
    end
    local number = 'Figure\u{a0}' .. figure.attributes.number
    local caption = { long = { pandoc.Plain(common.caption(figure, number)) } }
    if TYPST then return pandoc.Figure({ pandoc.Plain { picture } }, caption, { id = figure.identifier }) end
    -- Pandoc finds no id of a figure from another chapter, but that of a div.
    return pandoc.Div(pandoc.Figure({ pandoc.Plain { picture } }, caption), { id = figure.identifier })
end

------------------------------------------------------------------------------
-- Code

-- A listing with the file's line numbers, below whose it is; a chapter's header is a link to
-- where all of them stand.
local function listing(code)
    local get, blocks = code.attributes, pandoc.Blocks {}
    local first, _, more = tonumber(get.startFrom), code.text:gsub('\n', '')
    local lines = ('lines %d to %d'):format(first, first + more)
    if get.header then
        return pandoc.Para { 'The header of this chapter, ', pandoc.Code(get.file), ': ', pandoc.Link(lines, '#' .. get.header), '.' }
    end
    for _, exercise in ipairs(common.solved(code)) do
        blocks:extend(pandoc.Blocks(note { pandoc.Link('exercise\u{a0}' .. exercise.number, '#' .. exercise.id),
            ' asks for ', pandoc.Code(exercise.name) }))
    end
    local label = get.folded and get.folded .. ': ' .. lines or (get.type or get.at ~= get.startFrom) and 'in ' .. get.file
    if label then blocks:extend(pandoc.Blocks(note(label))) end
    local plain = pandoc.CodeBlock(code.text, pandoc.Attr('', { 'c', 'numberLines' }, { startFrom = get.startFrom }))
    local arguments = ('(first: %d, folded: %s)'):format(first, get.folded and 'true' or 'false')
    return blocks .. pandoc.Blocks(set_apart('listing', { plain }, arguments))
end

local function output(code)
    local args, status = code.attributes.args, code.attributes.status
    local label = pandoc.Inlines { args and pandoc.Code(common.command(code.attributes.program, args)) or 'output' }
    if status then label:insert(', exit status ' .. status) end
    return set_apart('output', pandoc.Blocks(note(label)) .. { pandoc.CodeBlock(code.text) })
end

local function other_code(code) return set_apart('listing', { code }) end

------------------------------------------------------------------------------
-- Words and formulas

-- What texmath makes of some TeX, typst, an EPUB or our readers do not take.
local function Math(math)
    if not TYPST then
        math.text = math.text:gsub('\\Big%f[%A]%s*', '')
        return math
    end
    local tex = math.text:gsub('\\underset(%b{})%s*(%b{})', '\\overbrace%2^%1'):gsub('\\;', '\\ ')
        :gsub('\\|(.-)\\|', '\\lVert %1\\rVert ')
    local typst = pandoc.write(pandoc.Pandoc { pandoc.Plain { pandoc.Math('InlineMath', tex) } }, 'typst')
    return pandoc.RawInline('typst', ('#math.equation(block: %s, alt: %s, %s)'):format(
        math.mathtype == 'DisplayMath', quoted(math.text), typst:gsub('dot%.circle', 'dot.o'):gsub('overbrace%(', 'shaped('):gsub('%s+$', '')))
end

-- Words that begin with a number and a dot are no list.
local function Str(str)
    local number = TYPST and str.text:match('^(%d+)%.$')
    if number then return pandoc.RawInline('typst', number .. '\\.') end
end

local function Span(span)
    local lang = span.attributes.lang
    if TYPST and lang then
        return pandoc.Inlines { pandoc.RawInline('typst', ('#text(lang: "%s")['):format(lang:match('^%a+'))) } .. span.content
            .. { pandoc.RawInline('typst', ']') }
    elseif span.classes:includes('cited') or span.classes:includes('quoted') then
        return span.content
    end
end

local function Div(div)
    local kind = div.classes[1]
    if kind == 'solution' then return labelled('Solution of exercise\u{a0}' .. (div.attributes.exercise or ''), div.content) end
    if TYPST and kind == 'milestone' then return set_apart(kind, div.content) end
end

local function Header(header)
    header.content = common.unlinked(header.content)
    return header
end

local function Pandoc(doc)
    without_web(doc)
    arrange(doc)
    doc.meta.rights = 'Code: MIT licence. Prose and figures: CC BY 4.0.'
    doc.meta.identifier = { 'attention-in-c', 'version ' .. stringify(doc.meta.version or '') }
    return doc:walk { Math = Math, Str = Str, Span = Span, Header = Header, Figure = Figure, Div = Div,
                      CodeBlock = common.code_block(listing, output, other_code),
                      Cite = function(cite) return cite.content end }
end

return { { Pandoc = Pandoc } }
