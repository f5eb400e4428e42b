# Attention in C: a book that compiles. `make help` lists what it can do.

BUILD  ?= build
CFLAGS ?= -O2
# How much is done at a time.
JOBS   := $(or $(JOBS),$(shell getconf _NPROCESSORS_ONLN 2>/dev/null),2)
FLAGS  := -std=c11 -Wall -Wextra -Wshadow -ffp-contract=off -Isrc
# Flags of one chapter alone would stand here: CFLAGS_18_kernel := -O3

ifneq ($(words $(BUILD)),1)
$(error BUILD is "$(BUILD)": the name of one folder, without blanks, is needed)
endif

# A rule that fails leaves no half-made target behind.
.DELETE_ON_ERROR:
.SECONDEXPANSION:
# Nor does make remove the objects between a chapter and its program.
.SECONDARY:
MAKEFLAGS += --no-builtin-rules
export BUILD JOBS MAKE RUN_UNDER

names    := $(basename $(notdir $(sort $(wildcard chapters/*_*.c))))
objects  := $(names:%=$(BUILD)/obj/%.o)
programs := $(names:%=$(BUILD)/chapters/%)
checked  := $(names:%=$(BUILD)/run/%.ok)
support  := $(patsubst src/%.c,$(BUILD)/obj/%.o,$(sort $(wildcard src/*.c)))
tests    := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/*.c)))
perl     := $(filter-out tests/weave.t tests/paper.t,$(sort $(wildcard tests/*.t)))
number    = $(firstword $(subst _, ,$(1)))

.PHONY: pdf epub test-paper
.PHONY: book programs lib run chapters outputs test test-programs test-c \
        test-book format format-check mutants check golden golden-check \
        student chapter clean help
.PHONY: $(foreach n,$(names),\
          run-$(call number,$(n)) test-$(call number,$(n)))

book: $(BUILD)/book/index.html ## everything: programs, their output checked, the book

programs: $(programs) ## the chapters' programs alone

lib: $(BUILD)/libattention.a ## all functions of the book, for programs of your own

# run-02: ## one chapter's program; ARGS="..." are its arguments, -s is quiet
# test-02: ## one chapter's tests, and how far its exercises are

help: ## this list
	@perl -ne 'printf "  make %-14s %s\n", $$1, $$2 if /^(?:# )?(\S+):.*?## (.*)/' \
	  Makefile

# ---- Chapters, and after them the appendices. Each is compiled twice: as a
# program, linked with the chapters before it, and with its main renamed, for
# those that come after it. Chapter 5 is the first to need the normal numbers
# of appendix B, which therefore comes before it here.
linked := $(subst 05_tokens,B_normals 05_tokens,$(names:B_normals=))

define chapter
before_$(1) := $$(seen)
seen += $(BUILD)/obj/$(1).o
run-$(call number,$(1)): $(BUILD)/chapters/$(1)
	@$$(RUN_UNDER) $$< $$(ARGS)
ifneq ($(wildcard tests/$(1).c),)
test-$(call number,$(1)): $(BUILD)/tests/$(1)
	@tools/progress chapters/$(1).c $$<
else
test-$(call number,$(1)): $(BUILD)/run/$(1).ok
	@echo "$(1) has no functions of its own; its outputs are right"
endif
endef
seen :=
$(foreach n,$(linked),$(eval $(call chapter,$(n))))

# A body that is still empty uses none of its parameters; the warning that it
# does not comes back as soon as the exercise is written.
empty = $(if $(shell grep -l 'TODO."' $(1)),-Wno-unused-parameter)

compile = $(CC) $(FLAGS) $(CFLAGS) $(CFLAGS_$(*F)) -MMD -MP $(call empty,$<)
link    = $(LDFLAGS) $(filter %.c %.o %.a,$^) $(LDLIBS) -lm -o $@

# How everything is compiled, how it is linked, and what there is. When that
# changes, all is made anew, and nothing stays of a file that has gone.
there := $(names:%=chapters/%) $(patsubst $(BUILD)/%,%,$(objects) $(support) $(tests))
gone  := $(filter-out $(there),$(shell sed 's/.*|//' $(BUILD)/flags 2>/dev/null))
flags := $(strip $(CC) $(FLAGS) $(CFLAGS) | $(LDFLAGS) $(LDLIBS) | $(there))
ifneq ($(flags),$(shell cat $(BUILD)/flags 2>/dev/null))
.PHONY: $(BUILD)/flags
endif
$(BUILD)/flags:
	@mkdir -p $(@D)
	@rm -f $(foreach f,$(gone:%=$(BUILD)/%),$f $f.o $(basename $f).d)
	@printf '%s\n' '$(subst ','\'',$(flags))' >$@

settings := Makefile $(BUILD)/flags

$(BUILD)/chapters/%: chapters/%.c $$(before_$$*) $(BUILD)/libsupport.a $(settings)
	@mkdir -p $(@D)
	$(compile) -Wmissing-prototypes $(link)

$(BUILD)/obj/%.o: chapters/%.c $(settings)
	@mkdir -p $(@D)
	$(compile) -Dmain=main_$(call number,$*) -c $< -o $@

$(BUILD)/obj/%.o: src/%.c $(settings)
	@mkdir -p $(@D)
	$(compile) -Wmissing-prototypes -c $< -o $@

$(BUILD)/tests/%.o: tests/%.c $(settings)
	@mkdir -p $(@D)
	$(compile) -c $< -o $@

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libattention.a
	$(CC) $(CFLAGS) $(link)

$(BUILD)/libsupport.a: $(support)
$(BUILD)/libattention.a: $(objects) $(support)
$(BUILD)/lib%.a:
	@rm -f $@
	$(AR) rcs $@ $^

-include $(wildcard $(BUILD)/*/*.d)

run: $(programs) ## all programs, in order
	@for name in $(names); do echo "---- $$name"; \
	  $(RUN_UNDER) $(BUILD)/chapters/$$name $(ARGS) || exit; done

# ---- The book. A chapter is woven when its program prints what its text says.

figures = $(BUILD)/figures/$(call number,$*)
$(BUILD)/run/%.ok: $(BUILD)/chapters/% chapters/%.c tools/outputs tools/Chapter.pm
	@mkdir -p $(@D)
	@rm -rf $(figures) && mkdir -p $(figures)
	FIGURES=$(figures) tools/outputs --check chapters/$*.c $<
	@touch $@

chapters: $(checked) ## the programs' outputs, held against the text

outputs: $(programs) ## fills the output blocks after a deliberate change
	@for name in $(names); do tools/outputs --update chapters/$$name.c \
	  $(BUILD)/chapters/$$name || exit; done

weaver := tools/weave tools/literate.lua tools/book.lua book.bib \
          $(wildcard tools/theme/*)
$(BUILD)/book/index.html: book.md src/attention.h $(weaver) $(checked) \
                          $(BUILD)/pandoc.found
	PANDOC=$(BUILD)/pandoc tools/weave $(BUILD)/book
	@echo "The book is woven: $@"

# $(BUILD)/pandoc is a link to the pandoc that is used. The age of this file is
# that of the search, as the link has none of its own for make. If the pandoc
# has gone, it is looked for again.
ifneq ($(shell test -x $(BUILD)/pandoc && echo there),there)
.PHONY: $(BUILD)/pandoc.found
endif
$(BUILD)/pandoc.found: requirements.txt tools/find-pandoc
	@mkdir -p $(@D)
	@tools/find-pandoc $(BUILD)/pandoc
	@touch $@

# ---- On paper and on readers of EPUBs, from the same files. Each says when it was
# made by SOURCE_DATE_EPOCH or the last commit, so that it can be made again.

paper     := $(BUILD)/attention-in-c
paper_epoch = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),0)
weave_file = SOURCE_DATE_EPOCH=$(paper_epoch) PANDOC=$(BUILD)/pandoc tools/weave $@

pdf: $(paper).pdf $(paper)-letter.pdf ## the book as PDF, for A4 and for US letter
epub: $(paper).epub ## the book as EPUB

typesetter := tools/typeset tools/theme/book.typ tools/theme/code.tmTheme \
              $(wildcard tools/theme/fonts/*.otf)
$(paper).typ $(paper).epub: book.md src/attention.h $(weaver) tools/paper.lua \
                            $(checked) $(BUILD)/pandoc.found
	$(weave_file)
$(paper).pdf: $(paper).typ $(typesetter)
	tools/typeset $< $@ a4
$(paper)-letter.pdf: $(paper).typ $(typesetter)
	tools/typeset $< $@ us-letter
$(paper)-cover.png: $(paper).typ $(typesetter)
	tools/typeset $< $@
$(paper).epub: $(paper)-cover.png

# ---- Tests

# On all cores, or on one with JOBS=1; where make has a -j already, that holds.
parallel = --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

test: ## all tests: needs neither Python nor a network
	@$(MAKE) $(parallel) test-programs
	prove -j$(JOBS) $(perl) $(tests)

test-programs: $(programs) $(tests) ## what make test runs, without running it

test-c: $(tests) ## the tests of the C code alone
	prove -j$(JOBS) $(if $(RUN_UNDER),--exec '$(RUN_UNDER)') $(tests)

test-book: $(BUILD)/pandoc.found $(checked) ## the weaver's own tests
	PANDOC=$(BUILD)/pandoc prove tests/weave.t

test-paper: pdf epub ## the PDF's and the EPUB's: needs poppler-utils and epubcheck
	prove tests/paper.t

mutants: $(tests) ## plants mistakes one at a time: the tests must notice each
	@CC='$(CC)' FLAGS='$(FLAGS) $(CFLAGS)' LDFLAGS='$(LDFLAGS)' \
	  LDLIBS='$(LDLIBS)' tools/mutants $(CHAPTER)

sanitize := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
valgrind := valgrind -q --error-exitcode=99 --leak-check=full \
            --errors-for-leak-kinds=definite
check: format-check ## the form of C; tests and chapters with clang, with sanitizers, under valgrind
	$(MAKE) $(parallel) BUILD=$(BUILD)/clang CC=clang test-c chapters
	TAP_SECONDS=60 $(MAKE) $(parallel) BUILD=$(BUILD)/sanitized CC=gcc \
	  CFLAGS='$(sanitize)' test-c chapters
	TAP_SMALL=1 TAP_SECONDS=600 $(MAKE) $(parallel) BUILD=$(BUILD)/valgrind CC=gcc \
	  CFLAGS='-O1 -g' RUN_UNDER='$(valgrind)' test-c chapters

code := $(wildcard chapters/*.c src/*.[ch] tests/*.[ch])
format: ## gives all C the form that .clang-format says
	clang-format -i $(code)

format-check: ## says where C has another form
	clang-format --dry-run -Werror $(code)

# ---- Reference values, made by PyTorch. Nothing else needs it.

golden: .venv-golden/made ## makes golden/ again with PyTorch
	.venv-golden/bin/python golden/generate.py

golden-check: .venv-golden/made $(checked) ## makes it elsewhere and compares; runs the python blocks
	.venv-golden/bin/python golden/check.py

.venv-golden/made: golden/requirements.txt
	@echo "Setting up PyTorch in .venv-golden (once)"
	python3 -m venv .venv-golden
	.venv-golden/bin/pip install --quiet --disable-pip-version-check \
	  -r golden/requirements.txt
	@touch $@

# ---- For teachers and authors

student: ## CHAPTER=02 DIR=work: a copy with that chapter's exercises empty
	@tools/student "$(CHAPTER)" "$(DIR)"

chapter: ## NAME=14_flash TITLE="Flash": the skeleton of a new chapter
	@tools/new-chapter "$(NAME)" "$(TITLE)"

clean: ## removes what was built (not .venv)
	rm -rf "$(BUILD)"
