-- What the filters for the screen (book.lua) and for paper (paper.lua) have in common.

local common = {}

function common.escape(text)
    return (text:gsub('[&<>"]',
        { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;' }))
end

function common.attr(id, class, more) return pandoc.Attr(id or '', { class }, more) end

function common.link(text, id, class) return pandoc.Link(text, '#' .. id, '', common.attr('', class)) end

-- Words as inlines.
function common.words(...) return pandoc.Inlines(string.format(...)) end

local function words_of(link) return link.content end

-- Words without their links.
function common.unlinked(inlines) return inlines:walk { Link = words_of } end

-- A heading's words as the contents have them.
function common.bare(inlines)
    return inlines:walk { Link = words_of, Note = function() return {} end }
end

------------------------------------------------------------------------------
-- Code

-- The lines of a code block as HTML, highlighted by pandoc; an operator of one
-- character looks as anything else, and needs no element.
function common.highlighted_lines(text, language)
    local block = pandoc.CodeBlock(text, pandoc.Attr('', { language }))
    local code = pandoc.write(pandoc.Pandoc { block }, 'html'):match('<code[^>]*>(.*)</code>')
    local lines = pandoc.List {}
    code = code:gsub('<span class="op">(.)</span>', '%1')
    for line in (code .. '\n'):gmatch('(.-)\n') do
        lines:insert(line:match('^<span id="cb[^"]*"><a [^>]*></a>(.*)</span>$') or line)
    end
    return lines
end

-- The exercises that a listing solves: number and function of each.
function common.solved(code)
    return (code.attributes.exercises or ''):gmatch('(%S+):(%S+)')
end

function common.exercise_id(number) return 'exercise-' .. number:gsub('%.', '-') end

-- The command that runs a chapter's program with arguments.
function common.command(program, args)
    return ('make -s run-%s ARGS="%s"'):format(program:match('^[^_]*'), args)
end

-- Renders a code block by its kind.
function common.code_block(listing, output, other)
    return function(code)
        local is = code.classes
        return (is:includes('numberLines') and listing or is:includes('output') and output
            or other)(code)
    end
end

------------------------------------------------------------------------------
-- Tables and figures

-- Each cell but a row's first says which column it is in, as on a narrow screen it
-- may stand below the others.
function common.name_columns(tbl)
    local head = tbl.head.rows[1]
    if not head then return end
    for _, body in ipairs(tbl.bodies) do
        for _, row in ipairs(body.body) do
            for i = 2, #row.cells do
                row.cells[i].attributes.column = pandoc.utils.stringify(head.cells[i].contents)
            end
        end
    end
end

-- An SVG without its XML declaration.
function common.svg(path)
    local file = assert(io.open(path, 'rb'))
    local svg = file:read('a'):gsub('^.-(<svg)', '%1', 1)
    file:close()
    return svg
end

-- A figure's caption behind its number.
function common.caption(figure, number)
    local caption = pandoc.Inlines {
        pandoc.Span(pandoc.Inlines(number .. '.'), pandoc.Attr('', { 'number' })), pandoc.Space(),
    }
    caption:extend(pandoc.utils.blocks_to_inlines(figure.caption.long))
    return caption
end

return common
