-- What the filters for the screen (book.lua) and for paper (paper.lua) have in common.

local common = {}

-- Words without their links.
function common.unlinked(inlines)
    return inlines:walk { Link = function(link) return link.content end }
end

-- The exercises that a listing solves: number, id and function of each.
function common.solved(code)
    local solved = pandoc.List {}
    for number, name in (code.attributes.exercises or ''):gmatch('(%S+):(%S+)') do
        solved:insert { number = number, id = 'exercise-' .. number:gsub('%.', '-'), name = name }
    end
    return solved
end

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

-- An SVG without its XML declaration.
function common.svg(path)
    local file = assert(io.open(path, 'rb'))
    local svg = file:read('a'):gsub('^.-(<svg)', '%1', 1)
    file:close()
    return svg
end

-- A figure's caption behind its number.
function common.caption(figure, number)
    return pandoc.Inlines { pandoc.Span(pandoc.Inlines(number .. '.'), { class = 'number' }), pandoc.Space() }
        .. pandoc.utils.blocks_to_inlines(figure.caption.long)
end

return common
