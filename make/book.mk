# ---- The book. A chapter is woven when its program prints what its text says.

.PHONY: outputs pdf epub test-book test-paper prose format format-check

# A program is linked anew for each word of its chapter's prose, and of those before. It is
# run again where it, or the chapter's text, has changed. Its figures are those that it draws,
# and those that are drawn already, in chapters/figures.
$(BUILD)/run/%.ok: figures = $(BUILD)/figures/$(call number,$*)
$(BUILD)/run/%.ok: $(BUILD)/chapters/% chapters/%.c $$(data_$$(call number,$$*)) tools/weave/outputs tools/Chapter.pm \
                   $$(wildcard chapters/figures/$$(call number,$$*)/*.svg)
	@mkdir -p $(@D)
	@cat $^ | cksum >$@.new; cmp -s $@.new $@ || { rm -rf $(figures) && mkdir -p $(figures) && \
	  FIGURES=$(figures) tools/weave/outputs --check chapters/$*.c $< \
	  $(foreach svg,$(filter %.svg,$^),&& cp $(svg) $(figures)); }
	@mv $@.new $@

# The figure of book.md, a drawing that is kept.
page_figures := $(BUILD)/figures/page/made
drawn := tools/theme/transformer.svg
$(page_figures): $(drawn)
	@rm -rf $(@D) && mkdir -p $(@D)
	@cp $(drawn) $(@D)
	@touch $@

outputs: $(programs) ## fills the output blocks after a deliberate change
	@for name in $(names); do tools/weave/outputs --update chapters/$$name.c \
	  $(BUILD)/chapters/$$name || exit; done

weaver := $(wildcard tools/*.pm tools/weave/*.pm tools/weave/*.lua) tools/weave/weave tools/learn/Plain.pm \
          book.bib $(wildcard tools/theme/* tools/theme/fonts/*)
$(BUILD)/book/index.html: $(BUILD)/pandoc.found $(checked) $(weaver) book.md $(headers) $(page_figures)
	@$(if $(has_wasm),,rm -f $(BUILD)/web/programs/*.js; echo "The pages cannot run programs:" \
	  "that takes clang, lld, wasi-libc and libclang-rt-14-dev-wasm32 (or your clang's version)")
	$(weave) $(BUILD)/book
	@echo "The book is woven: $@"

# $(BUILD)/pandoc is a link to the pandoc that is used, which may go: then another is looked
# for. A link's age is that of its pandoc; this file's is that of the search.
$(BUILD)/pandoc.found: requirements.txt tools/weave/find-pandoc
	@mkdir -p $(@D)
	@tools/weave/find-pandoc $(BUILD)/pandoc
	@touch $@
weave = { [ -x $(BUILD)/pandoc ] || tools/weave/find-pandoc $(BUILD)/pandoc; } && \
        PANDOC=$(BUILD)/pandoc tools/weave/weave

# ---- On paper and on readers of EPUBs, from the same files. Each says when it was
# made by SOURCE_DATE_EPOCH or the last commit, so that it can be made again.

paper := $(BUILD)/attention-in-c
dated  = SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 0)}

pdf: $(paper).pdf $(paper)-letter.pdf ##* the book as PDF, for A4 and for US letter
epub: $(paper).epub ##* the book as EPUB

typesetter := tools/weave/typeset tools/theme/book.typ tools/theme/code.tmTheme \
              $(wildcard tools/theme/fonts/*.otf)
$(paper).typ $(paper).epub: book.md $(headers) $(weaver) $(checked) $(page_figures) $(BUILD)/pandoc.found
	export $(dated); $(weave) $@
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
	PANDOC=$(BUILD)/pandoc $(prove) $(filter-out tests/weave/paper.t,$(wildcard tests/weave/*.t)) tests/web/workbench.t

# ---- For authors

prose: ## the chapters' prose anew, for chapter 23: after it, make train
	tools/weave/prose src/data $(names:%=chapters/%.c) book.md

code := $(wildcard chapters/*.c src/*.[ch] src/*/*.[ch] tests/*.[ch] tools/*.c tools/*/*.[ch] tools/*/*/*.[ch])
format: ## gives all C the form that .clang-format says
	clang-format -i $(code)
format-check: ## says where C has another form
	clang-format --dry-run -Werror $(code)
