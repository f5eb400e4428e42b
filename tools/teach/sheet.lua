-- The filter for assignments: pandoc ... -L tools/teach/sheet.lua -t typst
--
-- Formulas get the words that PDF/UA wants; links, which would lead away from
-- the sheet, leave their words behind.

local function quote(text) return '"' .. text:gsub('[\\"]', '\\%0'):gsub('%s+', ' ') .. '"' end
local function words_of(inline) return inline.content end

local function Math(math)
    local doc = pandoc.Pandoc { pandoc.Plain { pandoc.Math('InlineMath', math.text) } }
    local typst = pandoc.write(doc, 'typst'):match('^%$(.*)%$%s*$')
    return pandoc.RawInline('typst', ('#math.equation(block: %s, alt: %s, $%s$)'):format(
        tostring(math.mathtype == 'DisplayMath'), quote(math.text), typst))
end

return { { Math = Math, Link = words_of, Span = words_of } }
