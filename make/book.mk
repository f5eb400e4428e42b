# ---- The book. A chapter is woven when its program prints what its text says.

.PHONY: chapters outputs pdf epub test-book test-paper chapter prose format format-check

figures = $(BUILD)/figures/$(call number,$*)
$(BUILD)/run/%.ok: $(BUILD)/chapters/% $$(data_$$(call number,$$*)) chapters/%.c tools/weave/outputs tools/Chapter.pm
	@mkdir -p $(@D)
	@rm -rf $(figures) && mkdir -p $(figures)
	FIGURES=$(figures) tools/weave/outputs --check chapters/$*.c $<
	@touch $@

# The figures of book.md: one as it stands, and two of the model that has learned a language.
page_figures := $(BUILD)/figures/page/made
draw = MODELS= FIGURES=$(@D) $(RUN_UNDER) $< >/dev/null draw
kiwi = words='One kiwi, two plums, one ki' head=1.1 off=0.2
$(page_figures): $(BUILD)/web/inside $(wildcard src/models/*) tools/theme/transformer.svg
	@rm -rf $(@D) && mkdir -p $(@D)
	@cp tools/theme/transformer.svg $(@D)
	@$(draw)=looks $(kiwi)
	@$(draw)=next $(kiwi)
	@touch $@

chapters: $(checked) ## the programs' outputs, held against the text

outputs: $(programs) ## fills the output blocks after a deliberate change
	@for name in $(names); do tools/weave/outputs --update chapters/$$name.c \
	  $(BUILD)/chapters/$$name || exit; done

weaver := $(wildcard tools/*.pm tools/weave/*.pm tools/weave/*.lua) tools/weave/weave \
          book.bib $(wildcard tools/theme/* tools/theme/fonts/*)
$(BUILD)/book/index.html: $(BUILD)/pandoc.found $$(modules) $(checked) $(weaver) \
                          book.md $(headers) $(page_figures)
	@$(without_modules)
	PANDOC=$(BUILD)/pandoc tools/weave/weave $(BUILD)/book
	@echo "The book is woven: $@"

# $(BUILD)/pandoc is a link to the pandoc that is used. The age of this file is
# that of the search, as the link has none of its own for make. If the pandoc
# has gone, it is looked for again.
ifneq ($(shell test -x $(BUILD)/pandoc && echo there),there)
.PHONY: $(BUILD)/pandoc.found
endif
$(BUILD)/pandoc.found: requirements.txt tools/weave/find-pandoc
	@mkdir -p $(@D)
	@tools/weave/find-pandoc $(BUILD)/pandoc
	@touch $@

# ---- On paper and on readers of EPUBs, from the same files. Each says when it was
# made by SOURCE_DATE_EPOCH or the last commit, so that it can be made again.

paper     := $(BUILD)/attention-in-c
paper_epoch = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),0)
weave_file = SOURCE_DATE_EPOCH=$(paper_epoch) PANDOC=$(BUILD)/pandoc tools/weave/weave $@

pdf: $(paper).pdf $(paper)-letter.pdf ##* the book as PDF, for A4 and for US letter
epub: $(paper).epub ##* the book as EPUB

typesetter := tools/weave/typeset tools/theme/book.typ tools/theme/code.tmTheme \
              $(wildcard tools/theme/fonts/*.otf)
$(paper).typ $(paper).epub: book.md $(headers) $(weaver) $(checked) \
                            $(page_figures) $(BUILD)/pandoc.found
	$(weave_file)
$(paper).pdf: $(paper).typ $(typesetter)
	tools/weave/typeset $< $@ a4
$(paper)-letter.pdf: $(paper).typ $(typesetter)
	tools/weave/typeset $< $@ us-letter
$(paper)-cover.png: $(paper).typ $(typesetter)
	tools/weave/typeset $< $@
$(paper).epub: $(paper)-cover.png

test-paper: $(paper).pdf $(if $(filter a4,$(PAPER)),,$(paper)-letter.pdf) epub ## the PDF's and the EPUB's: needs poppler-utils and epubcheck
	$(prove) tests/weave/paper.t :: $(filter %.pdf,$^)

test-book: $(BUILD)/pandoc.found $(checked) ## the tests of the weaver and of the workbench
	PANDOC=$(BUILD)/pandoc $(prove) -j$(JOBS) $(filter-out tests/weave/paper.t,$(wildcard tests/weave/*.t)) tests/web/workbench.t tests/web/inside.t

# ---- For authors

chapter: ## NAME=14_flash TITLE="Flash": the skeleton of a new chapter
	@tools/weave/new-chapter $(call quoted,$(NAME)) $(call quoted,$(TITLE))

prose: ## the chapters' prose anew, for chapter 23: after it, make train
	tools/weave/prose src/data $(sort $(wildcard chapters/[0-9]*_*.c chapters/[A-D]_*.c)) book.md

code := $(wildcard chapters/*.c src/*.[ch] src/*/*.[ch] tests/*.[ch] tools/*/*.[ch] tools/*/*/*.[ch])
format: ## gives all C the form that .clang-format says
	clang-format -i $(code)

format-check: ## says where C has another form
	clang-format --dry-run -Werror $(code)
