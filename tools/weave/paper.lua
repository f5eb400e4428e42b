-- The filter for paper: pandoc ... --citeproc -L tools/weave/paper.lua -t typst (or epub3)
--
-- Renders for paper what arrange.lua has laid out: for typst as calls of functions of
-- tools/theme/book.typ, for an EPUB as HTML whose looks are tools/theme/epub.css.
--
-- Pictures lose what only a browser knows: variables, media queries, layout by
-- style (plain_picture).

local TYPST = FORMAT == 'typst'
if not TYPST and not FORMAT:match('^epub') then return {} end

local common = dofile(pandoc.path.directory(PANDOC_SCRIPT_FILE) .. '/common.lua')
local arrange = dofile(pandoc.path.directory(PANDOC_SCRIPT_FILE) .. '/arrange.lua')
local stringify, escape, attr = pandoc.utils.stringify, common.escape, common.attr
local link, words = common.link, common.words
local List = pandoc.List

-- A string as typst writes it.
local function quote(text)
    return '"' .. text:gsub('[\\"]', '\\%0'):gsub('\n', '\\n'):gsub('\t', '\\t') .. '"'
end

local function raw(...) return pandoc.RawBlock(TYPST and 'typst' or 'html', string.format(...)) end
local function raw_inline(...)
    return pandoc.RawInline(TYPST and 'typst' or 'html', string.format(...))
end

-- A paragraph of ours, as Markdown.
local function prose(text)
    return pandoc.read(text, 'markdown').blocks
end

-- What is said of the edition, behind the title.
local EDITION = [[
This is the book to carry, woven from the same files as its pages on the web. What
is folded there is laid out here. [Answers](#answers) to questions,
[hints](#hints) and [solutions](#solutions) stand at the end of the book, each with
a reference there and back. Code that only prints and draws is set small,
at its place in the file, so that every line of every chapter is here; a
chapter's header is named where it is included, and the
[headers](#reference) end the book. Line numbers are those of the files.

Code is under the MIT licence; prose and figures are under [Creative Commons
Attribution 4.0 International](https://creativecommons.org/licenses/by/4.0/): you may
share and adapt them if you name the source, "Attention in C", link to the licence,
and say what you changed.
]]
local RIGHTS = 'Code: MIT licence. Prose and figures: CC BY 4.0.'
local TYPE = [[
Set by pandoc and typst in Libertinus Serif, New Computer Modern Math, DejaVu Sans
Mono and, for Chinese, Noto Serif.
]]

------------------------------------------------------------------------------
-- The index: functions, types and terms

local index = { symbols = {}, at = {}, terms = {} }

-- Takes what tools/weave/Symbols.pm knows of each name, and the terms of the glossary.
-- at["softmax-L12"] is the name that is defined or declared there.
local function find_names(symbols, pages)
    for _, symbol in ipairs(symbols) do
        index.symbols[symbol.name] = symbol
        index.at[symbol.page .. '-L' .. symbol.line] = symbol.name
        index.at['reference-L' .. symbol.declared] = symbol.name
    end
    for _, page in ipairs(pages) do
        if page.id == 'glossary' then
            page.blocks:walk {
                Link = function(found)
                    local id = found.target:match('^#(term%-.*)')
                    if id then index.terms[id] = stringify(found):match('^[^,]*') end
                end,
            }
        end
    end
end

local function mark(name, kind)
    return ('#mark(%s, %s)'):format(quote(name), quote(kind))
end

-- For an EPUB, what each entry of the index leads to: {page, id, strong}, page by page.
local function places_of_names(pages)
    local places = {}
    local function enter(name, page, id, strong)
        places[name] = places[name] or List {}
        places[name]:insert({ page = page, id = id, strong = strong })
    end
    for _, page in ipairs(pages) do
        for name, symbol in pairs(index.symbols) do
            local line = symbol.page == page.id and symbol.line or symbol.uses and symbol.uses[page.id]
            if line then enter(name, page, page.id .. '-L' .. line, symbol.page == page.id) end
        end
        page.blocks:walk {
            Span = function(span)
                local term = index.terms[span.identifier]
                if term then enter(term, page, span.identifier, true) end
            end,
        }
    end
    return places
end

local function index_page(pages)
    local places, names = places_of_names(pages), List {}
    for name in pairs(places) do names:insert(name) end
    names:sort(function(a, b)
        local la, lb = a:lower(), b:lower()
        return la < lb or la == lb and a < b
    end)
    return pandoc.Blocks { pandoc.Div({ pandoc.BulletList(names:map(function(name)
        local line = pandoc.Inlines { index.symbols[name] and pandoc.Code(name) or pandoc.Str(name) }
        for _, place in ipairs(places[name]) do
            local text = pandoc.Inlines(place.page.number or place.page.title)
            line:extend { pandoc.Str ',', pandoc.Space(),
                          link(place.strong and { pandoc.Strong(text) } or text, place.id) }
        end
        return { pandoc.Plain(line) }
    end)) }, attr('', 'index')) }
end

-- The index is the last page.
local function add_index(pages)
    pages:insert({ id = 'index', kind = 'page', title = words('Index'), heading = pandoc.Header(1, 'Index'),
                   blocks = TYPST and pandoc.Blocks { raw('#index-columns()') } or index_page(pages) })
end

------------------------------------------------------------------------------
-- Pictures

-- An SVG with plain values for what only a browser knows: its variables have those
-- of the first rule, for light pages; rules for other media and for panels go; and it
-- has a viewBox, so that it scales. Returns it, its size in px and its description.
local function plain_picture(path)
    local svg = common.svg(path)
    local value = { paper = '#ffffff' }
    for name, colour in (svg:match('%.figure{([^}]*)}') or ''):gmatch('%-%-([%w-]+):([^;}]+)') do
        value[name] = colour
    end
    svg = svg:gsub('<style>(.-)</style>', function(style)
        style = style:gsub('@[^{;]*%b{}', ''):gsub('%-%-[%w-]+:[^;}]*;?', '')
            :gsub('var%(%-%-([%w-]+)[^)]*%)', function(name) return value[name] or 'var()' end)
            :gsub('[^{}]*{[^}]*var%(%)[^}]*}', '')
            :gsub('font:(%S+) system%-ui,sans%-serif', TYPST
                and 'font-size:%1;font-family:"Libertinus Serif"'
                or 'font-size:%1;font-family:sans-serif')
        return '<style>' .. style .. '</style>'
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
    local title = svg:match('<title[^>]*>(.-)</title>') or ''
    local desc = svg:match('<desc[^>]*>(.-)</desc>') or ''
    local alt = (title .. '. ' .. desc):gsub('%s+$', ''):gsub('&lt;', '<'):gsub('&gt;', '>')
        :gsub('&amp;', '&')
    return svg, tonumber(width), tonumber(height), alt
end

-- The ground of a page, for readers whose pages are dark.
local function on_paper(svg, width, height)
    return (svg:gsub('</style>', ('</style>\n<rect width="%s" height="%s" fill="#ffffff"/>')
        :format(width, height), 1))
end

local function Figure(figure)
    local path = figure.attributes.file
    local svg, width, height, alt = plain_picture(path)
    local number = 'Figure\u{a0}' .. figure.attributes.number
    if TYPST then
        return { raw('#picture(%s, %g, %s, %s, %s)[', quote(figure.identifier), width,
                     quote(number), quote(alt), quote(svg)),
                 pandoc.Plain(pandoc.utils.blocks_to_inlines(figure.caption.long)), raw(']') }
    end
    local name = path:match('([^/]*/[^/]*)%.svg$'):gsub('/', '-') .. '.svg'
    pandoc.mediabag.insert(name, 'image/svg+xml', on_paper(svg, width, height))
    local image = pandoc.Image(words('%s', alt), name, '', attr('', 'picture',
        { width = ('%gpx'):format(width) }))
    -- Pandoc finds no id of a figure from another chapter.
    return pandoc.Div({ pandoc.Figure({ pandoc.Plain { image } },
        { long = { pandoc.Plain(common.caption(figure, number)) } }) },
        pandoc.Attr(figure.identifier))
end

------------------------------------------------------------------------------
-- Code

local function line_count(text) return select(2, text:gsub('\n', '')) + 1 end

-- Who solves what with this listing, as inlines; empty if nobody.
local function solves(code)
    local notes = List {}
    for number, name in common.solved(code) do
        local note = pandoc.Inlines { link('exercise\u{a0}' .. number, common.exercise_id(number),
            'near') }
        note:extend(words(' asks for '))
        note:insert(pandoc.Code(name))
        notes:insert(note)
    end
    return notes
end

-- A listing in pieces, cut at the blank lines before what begins in column 0, which
-- stay whole on a page.
local function pieces(text)
    local result, piece, blank = List {}, List {}, 0
    for line in (text .. '\n'):gmatch('(.-)\n') do
        if blank > 0 and line:find('^[^%s}]') and #piece > 0 then
            for _ = 1, blank do piece:remove() end
            result:insert({ lines = piece, blank = blank })
            piece = List {}
        end
        piece:insert(line)
        blank = line == '' and blank + 1 or 0
    end
    result:insert({ lines = piece, blank = 0 })
    return result
end

-- The names that a piece defines or declares, by their lines in the file, as typst
-- writes them.
local function marks_of(code, n, count)
    local marks = List {}
    for i = n, n + count - 1 do
        local at = ('%s-L%d'):format(code.attributes.owner, code.attributes.at + i - code.attributes.startFrom)
        if index.at[at] then marks:insert(('"%d": %s'):format(i, quote(index.at[at]))) end
    end
    return (code.attributes.type or #marks == 0) and ':' or table.concat(marks, ', ')
end

local function typst_listing(code, label, first)
    local n = first
    local parts = pieces(code.text):map(function(piece)
        local from = n
        n = n + #piece.lines + piece.blank
        return ('(first: %d, text: %s, blank: %d, marks: (%s))'):format(from,
            quote(table.concat(piece.lines, '\n')), piece.blank, marks_of(code, from, #piece.lines))
    end)
    return raw('#listing(%s, (%s,), small: %s, kind: %s)', quote(label), table.concat(parts, ',\n'),
        code.attributes.folded and 'true' or 'false',
        quote(code.attributes.owner == 'reference' and 'decl' or 'def'))
end

local function html_listing(code, first)
    local get = code.attributes
    local lines = common.highlighted_lines(code.text, 'c'):map(function(line, i)
        local id = get.type and '' or (' id="%s-L%d"'):format(get.owner, get.at + i - 1)
        return ('<span class="line"%s><span class="n">%d</span>%s\n</span>'):format(id,
            first + i - 1, line)
    end)
    return raw('<pre class="code%s"><code>%s</code></pre>', get.folded and ' shows' or '', table.concat(lines))
end

local function listing(code)
    local get, blocks = code.attributes, pandoc.Blocks {}
    local first = tonumber(get.startFrom)
    local label = get.folded and ('%s: lines %d to %d'):format(get.folded, first,
            first + line_count(code.text) - 1)
        or (get.type or get.at ~= get.startFrom) and 'in ' .. get.file or ''
    if label ~= '' and not TYPST then
        blocks:insert(pandoc.Div({ pandoc.Para(words('%s', label)) }, attr('', 'label')))
    end
    for _, note in ipairs(solves(code)) do
        blocks:extend(TYPST and { raw('#note['), pandoc.Plain(note), raw(']') }
            or { pandoc.Div({ pandoc.Para(note) }, attr('', 'note')) })
    end
    blocks:insert(TYPST and typst_listing(code, label, first) or html_listing(code, first))
    return blocks
end

local function output(code)
    local args, status = code.attributes.args, code.attributes.status
    local label = args and common.command(code.attributes.program, args) or 'output'
    status = status and 'exit status ' .. status or ''
    if TYPST then
        return raw('#output(%s, %s, %s, %s)', quote(label), args and 'true' or 'false',
            quote(status), quote(code.text))
    end
    return raw('<div class="output"><p class="label">%s%s</p>\n<pre><samp>%s</samp></pre></div>',
        args and '<code>' .. escape(label) .. '</code>' or label,
        status ~= '' and ' <span class="status">' .. status .. '</span>' or '', escape(code.text))
end

local function other_code(code)
    local language = code.classes[1]
    local label = language == 'python' and 'Python' or ''
    if TYPST then
        return raw('#other-code(%s, %s, %s)', quote(label), quote(language or 'text'),
            quote(code.text))
    end
    return raw('%s<pre class="plain"><code>%s</code></pre>',
        label ~= '' and '<p class="label">' .. label .. '</p>\n' or '', language
        and table.concat(common.highlighted_lines(code.text, language), '\n') or escape(code.text))
end

------------------------------------------------------------------------------
-- Words, links, formulas

-- TeX as typst. What pandoc sets beside a symbol goes below it; and a wide blank
-- is lost.
local function formula(tex)
    local below = List {}
    local rest = tex:gsub('\\underset(%b{})%s*(%b{})', function(under, over)
        below:insert(('under(%s, %s)'):format(formula(over:sub(2, -2)), formula(under:sub(2, -2))))
        return ('\\text{@%d@}'):format(#below)
    end)
    local math = pandoc.Plain { pandoc.Math('InlineMath', rest) }
    local typst = pandoc.write(pandoc.Pandoc { math }, 'typst'):match('^%$(.*)%$%s*$')
    typst = typst:gsub('#h%(0em%)', 'thick'):gsub('dot%.circle', 'dot.o')
        :gsub('\\|%s*(.-)%s*\\|', 'lr(bar.v %1 bar.v)')
        :gsub('upright%("@(%d+)@"%)', function(n) return below[tonumber(n)] end)
        :gsub('"@(%d+)@"', function(n) return below[tonumber(n)] end)
    return typst
end

local function Math(math)
    if not TYPST then
        -- What pandoc makes of it, EPUBs do not allow.
        math.text = math.text:gsub('\\Big%f[%A]%s*', '')
        return math
    end
    local display = math.mathtype == 'DisplayMath'
    return raw_inline('#math.equation(block: %s, alt: %s, $%s$)', tostring(display),
        quote((math.text:gsub('%s+', ' '))), formula(math.text))
end

local function Code(code)
    local name = code.text:match('^([%a_][%w_]*)%(?%)?$')
    if TYPST and index.symbols[name or ''] then
        return { code, raw_inline('%s', mark(name, 'use')) }
    end
end

-- Words that begin with a number and a dot are no list.
local function Str(str)
    local number = TYPST and str.text:match('^(%d+)%.$')
    if number then return raw_inline('%s\\.', number) end
end

-- Words as what a function of typst's is called with.
local function called(words, call, ...)
    return pandoc.Inlines { raw_inline(call .. '[', ...) } .. words .. { raw_inline(']') }
end

local function Span(span)
    local class, lang = span.classes[1], span.attributes.lang
    if class == 'cited' or class == 'quoted' then return span.content end
    if not TYPST then return end
    if class == 'term' then
        local term = index.terms[span.identifier]
        return pandoc.Inlines { raw_inline('#anchor(%s)%s', quote(span.identifier),
            term and mark(term, 'term') or '') } .. span.content
    elseif class == 'label' or lang then
        return called(span.content, lang and '#text(lang: %s, hyphenate: true)' or '#label-text',
            quote(lang or ''))
    end
end

local function Link(found)
    local id = found.target:match('^#(.*)')
    local class = found.classes[1]
    if not TYPST then
        if class == 'back' then found.content = words('(back)') end
        return found
    end
    if not id then return end
    if class == 'back' then return raw_inline('#back(label(%s))', quote(id)) end
    return called(found.content, '#refer(label(%s), %s)', quote(id),
        quote(id:match('^ref%-') and 'source' or class or ''))
end

------------------------------------------------------------------------------
-- Blocks

local function Table(tbl)
    if not TYPST then
        common.name_columns(tbl)
        return { raw('<div class="table">'), tbl, raw('</div>') }
    end
    local rows = 0
    for _, body in ipairs(tbl.bodies) do rows = rows + #body.body end
    -- A narrow last column has room for a reference and its page.
    local specs = tbl.colspecs
    local last, least = specs[#specs], 0.165
    if last[2] and last[2] < least then
        for i = 1, #specs - 1 do specs[i][2] = specs[i][2] * (1 - least) / (1 - last[2]) end
        last[2] = least
        tbl.colspecs = specs
    end
    local typst = pandoc.write(pandoc.Pandoc { tbl }, 'typst')
    local inner = typst:match('#table(%b())') or error('a table that typst has not: ' .. typst)
    return raw('#data-table(%d)[#table%s]', rows, inner)
end

-- In typst, a div is a call with its content.
local function Div(div)
    if not TYPST then return end
    local class = div.classes[1]
    if class == 'csl-bib-body' or div.identifier == 'refs' then class = 'sources' end
    local known = { question = 1, leads = 1, returned = 1, milestone = 1,
                    introduces = 1, exercise = 1, sources = 1 }
    local blocks = pandoc.Blocks {}
    if div.identifier ~= '' then blocks:insert(raw('#anchor(%s)', quote(div.identifier))) end
    if known[class] then blocks:insert(raw('#%s[', class)) end
    blocks:extend(div.content)
    if known[class] then blocks:insert(raw(']')) end
    return blocks
end

-- What introduces the block below it stays with it.
local function Blocks(blocks)
    if not TYPST then return end
    local result = pandoc.Blocks {}
    for i, block in ipairs(blocks) do
        local next = blocks[i + 1]
        local text = block.t == 'Para' and stringify(block) or ''
        local introduces = next and next.t ~= 'Para' and #text < 120 and text:find(':$')
        if introduces then
            result:extend { raw('#introduces['), block, raw(']') }
        else
            result:insert(block)
        end
    end
    return result
end

local function heading(page)
    local number = page.number
    local title = common.unlinked(page.heading.content)
    if TYPST then
        return { raw('#chapter(%s, %s, %s, %s, listed: %s)[', quote(page.id),
                     quote(number and (page.kind == 'chapter' and 'Chapter' or 'Appendix') or ''),
                     quote(number or ''), quote(page.heading.attributes.file or ''),
                     tostring(page.id ~= 'edition')),
                 pandoc.Plain(title), raw(']') }
    end
    -- Without any look of the number's: what is a title, too, is text.
    if number then title:insert(1, pandoc.Str(number .. '\u{2003}')) end
    local file = page.heading.attributes.file
    return { pandoc.Header(1, title, pandoc.Attr(page.id)), file
        and pandoc.Div({ pandoc.Para { pandoc.Code(file) } }, attr('', 'file')) or nil }
end

local function Header(header)
    header.content = common.unlinked(header.content)
    return header
end

local function part_page(part, pages, first)
    local list = List {}
    for i = first, #pages do
        if i > first and (pages[i].part or not pages[i].number) then break end
        list:insert({ pandoc.Plain { link(arrange.full_title(pages[i]), pages[i].id) } })
    end
    if TYPST then
        return { raw('#part['), pandoc.Plain(part.title), raw('][') , pandoc.BulletList(list), raw(']') }
    end
    return { pandoc.Header(1, part.title, attr('part-' .. part.number, 'part')),
             pandoc.BulletList(list) }
end

local function render(blocks)
    return blocks
        :walk { Table = function(tbl)
            return tbl:walk { Link = function(l) l.classes = { 'cell' } return l end }
        end }
        :walk { Math = Math, Str = Str, Span = Span, Code = Code, Link = Link,
                Cite = function(cite) return cite.content end }
        :walk { Blocks = Blocks }
        :walk { CodeBlock = common.code_block(listing, output, other_code), Figure = Figure,
                Table = Table, Div = Div, Header = Header }
end

-- What begins the document: for typst, its title and who made which version when.
local function opening(meta)
    if not TYPST then return pandoc.Blocks {} end
    local function said(key) return quote(stringify(meta[key] or '')) end
    return pandoc.Blocks { raw('#import "/tools/theme/book.typ": *\n#show: book.with(title: %s,'
        .. ' subtitle: %s, author: %s, version: %s, date: %s, lang: %s)', said('title'),
        said('subtitle'), said('author'), said('version'),
        os.date('!datetime(year: %Y, month: %m, day: %d)', os.getenv('SOURCE_DATE_EPOCH')),
        quote(stringify(meta.lang or 'en'))) }
end

-- What is said of the edition, below what invites to read.
local function edition(front)
    local page = { id = 'edition', kind = 'page', heading = pandoc.Header(1, 'About this edition') }
    local blocks = pandoc.Blocks(heading(page))
    blocks:extend(render(front))
    blocks:extend(render(prose(EDITION .. (TYPST and '\n' .. TYPE or ''))))
    if TYPST then blocks:insert(raw('#contents()')) end
    return blocks
end

local function Pandoc(doc)
    arrange.without_web(doc)
    local pages = arrange.pages_of(doc)
    local front, parts = pages.front, arrange.parts_of(doc.meta)
    for _, page in ipairs(pages) do page.part = parts[page.id] end
    pages = arrange.unfold(pages)
    find_names(doc.meta.symbols, pages)
    doc.meta.symbols = nil
    add_index(pages)
    doc.blocks = opening(doc.meta)
    doc.blocks:extend(edition(front))
    for i, page in ipairs(pages) do
        if page.part then
            doc.blocks:extend(render(pandoc.Blocks(part_page(page.part, pages, i))))
        end
        doc.blocks:extend(render(pandoc.Blocks(heading(page))))
        doc.blocks:extend(render(page.blocks))
    end
    if TYPST then
        doc.meta = {}
    else
        doc.meta.identifier = { 'attention-in-c', words('version %s', stringify(doc.meta.version or '')) }
        doc.meta.rights = RIGHTS
        doc.meta.parts = nil
    end
    return doc
end

return { { Pandoc = Pandoc } }
