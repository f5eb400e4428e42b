-- The book in the order of paper, whatever it is printed by: what the web page folds
-- moves to pages at the end of the book, with links both ways, and a chapter's part of
-- the header becomes a reference to the header. paper.lua renders what is arranged.

local common = dofile(pandoc.path.directory(PANDOC_SCRIPT_FILE) .. '/common.lua')
local stringify, attr, link, words = pandoc.utils.stringify, common.attr, common.link, common.words
local List = pandoc.List

local arrange = {}

-- Without what only holds on the web: sections, blocks and words of class web-only.
function arrange.without_web(doc)
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

-- The document as pages; what stands before the first heading is .front.
function arrange.pages_of(doc)
    local pages = List {}
    local front = pandoc.Blocks {}
    for _, block in ipairs(doc.blocks) do
        if block.t == 'Header' and block.level == 1 then
            pages:insert({ heading = block, id = block.identifier, blocks = pandoc.Blocks {},
                           number = block.attributes.number, kind = block.attributes.kind,
                           title = common.bare(block.content) })
        else
            local blocks = pages[1] and pages[#pages].blocks or front
            blocks:insert(block)
        end
    end
    pages.front = front
    return pages
end

-- "2 Shares of a whole", as inlines.
function arrange.full_title(page)
    local title = pandoc.Inlines {}
    if page.number then title:extend { pandoc.Str(page.number), pandoc.Space() } end
    title:extend(page.title)
    return title
end

-- Gathers the hints and solutions of a page by their exercises, in order, and what is
-- said when one is done.
local function gather(page)
    local last
    page.exercises = {}
    local function of(number)
        page.exercises[number] = page.exercises[number] or { hints = List {}, solutions = List {} }
        return page.exercises[number]
    end
    page.blocks:walk {
        traverse = 'topdown',
        Div = function(div)
            local class = div.classes[1]
            if class == 'exercise' then
                last = div.identifier:gsub('^exercise%-', '')
            elseif class == 'hint' and last then
                of(last).hints:insert(div.content)
            elseif class == 'done' and last then
                of(last).done = div.content
            elseif class == 'solution' then
                local number = div.attributes.exercise
                of(number and number:gsub('%.', '-') or last).solutions:insert(div.content)
                return nil, false
            end
        end,
    }
end

-- The line below an exercise that says where hints and solution are.
local function leads(number, found)
    local line = pandoc.Inlines {}
    if #found.hints > 0 then
        line:insert(link(#found.hints > 1 and 'Hints' or 'Hint', 'hints-' .. number, 'lead'))
    end
    if #found.solutions > 0 then
        if #line > 0 then line:extend { pandoc.Str '.', pandoc.Space() } end
        line:insert(link('Solution', 'solution-' .. number, 'lead'))
    end
    if #line > 0 then line:insert(pandoc.Str '.') end
    return #line > 0 and pandoc.Div({ pandoc.Para(line) }, attr('', 'leads')) or nil
end

-- The header of a chapter, in words that lead there.
local function announced(listings)
    local lines = listings:map(function(code)
        local first = tonumber(code.attributes.startFrom)
        local _, more = code.text:gsub('\n', '')
        return ('%d to %d'):format(first, first + more)
    end)
    local line = words('The header of this chapter,')
    line:extend { pandoc.Space(), pandoc.Code(listings[1].attributes.file), pandoc.Str ':', pandoc.Space(),
                  link('lines\u{a0}' .. table.concat(lines, ', '), listings[1].attributes.header, 'lead'),
                  pandoc.Str '.' }
    return pandoc.Div({ pandoc.Para(line) }, attr('', 'leads'))
end

-- A question keeps what it asks; its answer goes to the page of answers.
local function ask(page, div)
    local id = ('%s-question-%d'):format(page.id, #page.answers + 1)
    local asked = div.content[1].content
    page.answers:insert({ id = id, asked = asked, blocks = { table.unpack(div.content, 2) } })
    local line = pandoc.Inlines { pandoc.Span(words('What do you expect?'), attr('', 'label')),
                                  pandoc.Space() }
    line:extend(asked)
    line:extend { pandoc.Space(), link('Answer', id .. '-answer', 'lead'), pandoc.Str '.' }
    return pandoc.Div({ pandoc.Para(line) }, attr(id, 'question'))
end

-- What leads back to where something was asked, and stands before it.
local function returned(id, asked, to, blocks)
    local line = pandoc.Inlines(asked)
    line:extend { pandoc.Space(), link('back', to, 'back') }
    local content = pandoc.Blocks { pandoc.Div({ pandoc.Para(line) }, attr('', 'introduces')) }
    content:extend(blocks)
    return pandoc.Div(content, attr(id, 'returned'))
end

-- A listing keeps whose it is, wherever it goes.
local function note_places(page)
    page.blocks = page.blocks:walk {
        CodeBlock = function(code)
            if not code.attributes.file then return end
            code.attributes.owner = page.id
            return code
        end,
    }
end

-- In the place of listings of the header stands where they are.
local function announce_header(blocks)
    local result, announcing = pandoc.Blocks {}, nil
    for _, block in ipairs(blocks) do
        local header = block.t == 'CodeBlock' and block.attributes.header
        if header and announcing then
            announcing:insert(block)
            result[#result] = announced(announcing)
        else
            announcing = header and List { block } or nil
            result:insert(header and announced(announcing) or block)
        end
    end
    return result
end

-- Takes out of a page what paper has elsewhere, and leaves where it is to be found.
local function unfold(page)
    note_places(page)
    gather(page)
    page.answers = List {}
    local elsewhere = { hint = true, done = true, solution = true, workbench = true }
    page.blocks = page.blocks:walk {
        traverse = 'topdown',
        Blocks = announce_header,
        Div = function(div)
            local class = div.classes[1]
            if class == 'question' then return ask(page, div), false end
            if elsewhere[class] then return {}, false end
            if class == 'exercise' then
                local number = div.identifier:gsub('^exercise%-', '')
                local found = page.exercises[number]
                div.content:insert(found and leads(number, found))
                return div
            end
        end,
    }
end

-- A section of solutions is empty now; its id goes to where they are.
local function drop_solutions(page)
    local blocks = page.blocks
    page.blocks = blocks:filter(function(block, i)
        local next = blocks[i + 1]
        if block.t ~= 'Header' or stringify(block) ~= 'Solutions'
            or next and (next.t ~= 'Header' or next.level > block.level) then return true end
        page.solutions_id = block.identifier
    end)
end

-- The numbers of a page's exercises that have what is asked for, in order.
local function with(page, what)
    local numbers = List {}
    for number, found in pairs(page.exercises) do
        if #found[what] > 0 then numbers:insert(number) end
    end
    numbers:sort(function(a, b)
        return tonumber(a:match('%d+$')) < tonumber(b:match('%d+$'))
    end)
    return numbers
end

local function back_page(id, title, blocks)
    return { id = id, kind = 'page', blocks = blocks, title = words(title), exercises = {},
             heading = pandoc.Header(1, title, pandoc.Attr(id, {}, { kind = 'page' })) }
end

-- A page of all answers.
local function answers_page(pages)
    local blocks = pandoc.Blocks {}
    for _, page in ipairs(pages) do
        if #page.answers > 0 then
            blocks:insert(pandoc.Header(2, arrange.full_title(page), attr('answers-' .. page.id, 'unlisted')))
        end
        for _, answer in ipairs(page.answers) do
            blocks:insert(returned(answer.id .. '-answer',
                pandoc.Inlines { pandoc.Emph(answer.asked) }, answer.id, answer.blocks))
        end
    end
    return back_page('answers', 'Answers', blocks)
end

-- A page of all hints, or of all solutions.
local function gathered_page(pages, id, title, what, prefix)
    local blocks = pandoc.Blocks {}
    for _, page in ipairs(pages) do
        local numbers = with(page, what)
        if #numbers > 0 then
            blocks:insert(pandoc.Header(2, arrange.full_title(page), pandoc.Attr(
                what == 'solutions' and page.solutions_id or id .. '-' .. page.id, { 'unlisted' })))
        end
        for _, number in ipairs(numbers) do
            local found, content = page.exercises[number][what], pandoc.Blocks {}
            if what == 'hints' and #found > 1 then
                content:insert(pandoc.OrderedList(found))
            else
                for _, one in ipairs(found) do content:extend(one) end
            end
            local done = what == 'hints' and page.exercises[number].done
            if done then
                local first = pandoc.Inlines { pandoc.Emph 'When its tests pass:', pandoc.Space() }
                content:insert(pandoc.Para(first .. done[1].content))
            end
            blocks:insert(returned(prefix .. number, { pandoc.Strong {
                pandoc.Str('Exercise\u{a0}' .. number:gsub('%-', '.')) } }, 'exercise-' .. number,
                content))
        end
    end
    return back_page(id, title, blocks)
end

-- Which part begins with which page.
function arrange.parts_of(meta)
    local parts = {}
    for n, part in ipairs(meta.parts or {}) do
        parts[stringify(part.first)] = { number = n, title = pandoc.Inlines(part.title) }
    end
    return parts
end

-- Moves what is folded. Returns the pages in the order of paper.
function arrange.unfold(pages)
    for _, page in ipairs(pages) do
        unfold(page)
        drop_solutions(page)
    end
    local back = List { answers_page(pages), gathered_page(pages, 'hints', 'Hints', 'hints', 'hints-'),
                        gathered_page(pages, 'solutions', 'Solutions', 'solutions', 'solution-') }
    local result, numbered, placed = List {}, false, false
    for _, page in ipairs(pages) do
        if numbered and not placed and not page.number then
            placed = true
            result:extend(back:filter(function(p) return #p.blocks > 0 end))
        end
        numbered = numbered or page.number ~= nil
        result:insert(page)
    end
    return result
end

return arrange
