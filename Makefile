# Attention in C: a book that compiles. `make help` lists what it can do.

BUILD  ?= build
CFLAGS ?= -O2
# How much is done at a time.
JOBS   := $(or $(JOBS),$(shell getconf _NPROCESSORS_ONLN 2>/dev/null),2)
FLAGS  := -std=c11 -Wall -Wextra -Wshadow -Werror=implicit-function-declaration \
          -ffp-contract=off -Isrc

# Chapter 15, and what is made of it in src/kernel, have flags of their own, use
# several threads where there is OpenMP, and are compiled once more for each
# instruction set that the machine may have.
fast   := 15_kernel
kernel := $(filter attend cache backward,$(basename $(notdir $(wildcard src/kernel/*.c))))
hash   := \#
OPENMP := $(shell echo '$(hash)include <omp.h>' | $(CC) -fopenmp -E - >/dev/null 2>&1 && echo -fopenmp)
march_avx2   := -march=x86-64-v3
march_avx512 := -march=x86-64-v4 -mprefer-vector-width=512
can    = $(shell printf '%s\n' '$(hash)ifndef __x86_64__' '$(hash)error' '$(hash)endif' | \
  $(CC) $(march_$(1)) -E - >/dev/null 2>&1 && echo $(1))
sets   := $(call can,avx2) $(call can,avx512)
threaded     := $(or $(OPENMP),-fopenmp-simd)
fastest      := -O3
CFLAGS_fast  := $(fastest) -fno-trapping-math -fno-math-errno -ffp-contract=fast $(threaded)
CFLAGS_kernels := $(OPENMP) $(sets:%=-DHAS_%)
CFLAGS_machine := $(OPENMP)
CFLAGS_19_flash_backward := $(threaded)
# So is chapter 22. (What is now 20 and 21 is not: gcc 12 for aarch64 failed at it.)
CFLAGS_22_gpt  := $(fastest) -fno-trapping-math -fno-math-errno
CFLAGS_gpt     := $(CFLAGS_22_gpt)
CFLAGS_gpt_training := $(fastest) $(threaded)
$(foreach n,$(fast) $(kernel),$(eval CFLAGS_$(n) = $$(CFLAGS_fast)))

ifneq ($(words $(BUILD))$(strip $(foreach c,' " ` \ ; & | < > * ?,$(findstring $c,$(BUILD)))),1)
$(error BUILD is "$(BUILD)": the name of one folder, without blanks and without what a shell reads, is needed)
endif

# What someone gave, as one word of the shell's, whatever it holds; or as many words
# as it has.
quoted = '$(subst ','\'',$(1))'
each   = $(foreach w,$(1),$(call quoted,$w))
# Make does not expand a $ in what was given. A second line would be a command
# of its own, and is refused; but a variable of the environment that has several lines
# is not meant for this book, and is left out.
define line


endef
several = $(if $(filter environment,$(origin $(1))),$(eval override $(1) :=),$(error $(1) has more than one line: one is needed))
take    = $(if $(findstring $(line),$(value $(1))),$(several),$(eval override export $(1) := $$(value $(1))))
$(foreach v,CASES CHAPTER CONF COPIES DIR MEASURED NAME OUT PAPER SAMPLE SEED SIZES STEPS TITLE WORK,\
  $(if $(filter undefined,$(origin $v)),,$(call take,$v)))

# A rule that fails leaves no half-made target behind.
.DELETE_ON_ERROR:
.SECONDEXPANSION:
# Nor does make remove the objects between a chapter and its program.
.SECONDARY:
# Without a -j of the user's, make does as much at a time as there are cores.
MAKEFLAGS += --no-builtin-rules --no-print-directory $(if $(filter 0,$(MAKELEVEL)),-j$(JOBS))
export BUILD JOBS MAKE RUN_UNDER
# Threads that wait leave the cores to what runs beside them.
export OMP_WAIT_POLICY ?= passive

names    := $(basename $(notdir $(sort $(wildcard chapters/*_*.c))))
# A chapter's objects.
of        = $(BUILD)/obj/$(1).o $(if $(filter $(fast),$(1)),$(sets:%=$(BUILD)/obj/$(1).%.o))
objects  := $(foreach n,$(names),$(call of,$(n)))
programs := $(names:%=$(BUILD)/chapters/%)
printed  := $(names:%=$(BUILD)/printed/%.txt)
checked  := $(names:%=$(BUILD)/run/%.ok)
headers  := $(wildcard src/*.h src/*/*.h)
support  := $(patsubst src/%.c,$(BUILD)/obj/%.o,$(sort $(wildcard src/*.c src/*/*.c))) \
            $(foreach n,$(kernel),$(sets:%=$(BUILD)/obj/kernel/$(n).%.o))
tests    := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/*.c)))
of_tools := $(patsubst %,tests/%.t,weave workbench make new_chapter)
of_class := $(patsubst %,tests/%.t,grade student class worksheet autograder handout watch report diagnosis assignment)
perl     := $(filter-out $(of_tools) $(of_class) tests/paper.t,$(sort $(wildcard tests/*.t)))
# Those that take longest begin first.
long     := $(BUILD)/tests/safetensors tests/tap.t tests/gpt.t tests/form.t
number    = $(firstword $(subst _, ,$(1)))
# run-2 is run-02, too.
short     = $(if $(findstring -0,$(1)),$(call number,$(subst -0,-,$(1))))

.PHONY: book programs lib run chapters outputs test test-programs test-c \
        test-book test-class test-tools format format-check mutants mistakes check golden golden-check \
        check-all check-sanitized check-clang check-valgrind check-threads check-neon check-no-avx512 \
        check-no-avx check-book check-pages format-scripts bench-book pdf epub test-paper \
        student handout autograder graders grade grade-all worksheet quiz watch progress \
        chapter clean help roofline bench bench-compiles bench-train prose train
.PHONY: $(foreach n,$(names),\
          run-$(call number,$(n)) test-$(call number,$(n)) $(call short,run-$(n)) $(call short,test-$(n)))

book: $(BUILD)/book/index.html ## everything: programs, their output checked, the book

programs: $(programs) ## the chapters' programs alone

lib: $(BUILD)/libattention.a ## all functions of the book, for programs of your own

# run-02: ## one chapter's program; ARGS="..." are its arguments, -s is quiet
# test-02: ## one chapter's tests, and how far its exercises are

help: ## this list
	@perl -ne 'printf "  make %-14s %s\n", $$1, $$2 if /^(?:# )?(\S+):.*?## (.*)/' \
	  Makefile

# ---- Chapters, and after them the appendices. Each is compiled once, and linked
# with the chapters before it. All have a main: as it is weak, the first one is
# taken, which is the program's own. Chapter 5 is the first to need the normal
# numbers of appendix B, which therefore comes before it here.
#
# What is compiled is a chapter's code, which is looked at whenever make begins: a
# change of prose leaves it as it was, and nothing is compiled anew.
# In a student edition `make` alone says how far all is, and no chapter may be gone.
ifneq ($(wildcard .book),)
.DEFAULT_GOAL := progress
endif
ifneq ($(filter-out help clean student handout autograder watch progress hint-% reset-% solution-% chapter format%,$(or $(MAKECMDGOALS),$(.DEFAULT_GOAL))),)
lost := $(firstword $(filter-out $(names),$(basename $(notdir $(wildcard .book/*_*.c)))))
ifneq ($(lost),)
$(error chapters/$(lost).c is gone: make reset-$(shell \
  grep -m1 '^$(patsubst 0%,%,$(call number,$(lost)))\.' .book/exercises) lays it there again, with its exercises empty)
endif
ifneq ($(shell tools/code $(BUILD)/code $(names:%=chapters/%.c) || echo failed),)
$(error The chapters' code cannot be written)
endif
endif
linked := $(subst 05_tokens,B_normals 05_tokens,$(names:B_normals=))

define chapter
before_$(1) := $$(seen)
seen += $$(call of,$(1))
run-$(call number,$(1)) $(call short,run-$(1)): $(BUILD)/chapters/$(1)
	@$$(RUN_UNDER) $$< $$(ARGS)
ifneq ($(wildcard tests/$(1).c),)
test-$(call number,$(1)) $(call short,test-$(1)): $(BUILD)/tests/$(1)
	@tools/progress chapters/$(1).c $$<
else
test-$(call number,$(1)) $(call short,test-$(1)): $(BUILD)/run/$(1).ok
	@echo "$(1) has no functions of its own; its outputs are right"
endif
endef
seen :=
$(foreach n,$(linked),$(eval $(call chapter,$(n))))

# A body that is still empty uses none of its parameters; the warning that it
# does not comes back as soon as the exercise is written.
empty = $(if $(shell grep -l 'TODO."' $(1)),-Wno-unused-parameter)

# What gives a variable without a value one that is wrong, each time: in a student
# copy, and in a submission.
pattern = $(shell $(CC) -ftrivial-auto-var-init=pattern -x c -E /dev/null >/dev/null 2>&1 && \
  echo -ftrivial-auto-var-init=pattern)
unset  := $(if $(wildcard .book),$(pattern))

# A file has another name, with .new behind it, until it is whole, so that make may be
# killed at any time. With an object comes a file (.d) that names what it was made from.
moved   = mv -f $@.new $@
whole   = -o $@.new && $(moved)
object  = -MMD -MP -MT $@ -MF $@.d.new -c $< -o $@.new && mv -f $@.d.new $(@:.o=.d) && $(moved)
compile = $(CC) $(FLAGS) $(unset) $(CFLAGS) $(CFLAGS_$(*F)) $(call empty,$<)
link    = $(LDFLAGS) $(filter %.o %.a,$^) $(LDLIBS) $(OPENMP) -lm $(whole)

# How everything is compiled, how it is linked, and what there is. When that
# changes, all is made anew, and nothing stays of a file that has gone.
there := $(names:%=chapters/%) $(names:%=code/%.c) $(foreach n,$(names),web/programs/$(call number,$n).js) \
         $(patsubst $(BUILD)/%,%,$(printed) $(objects) $(support) $(tests))
gone  := $(filter-out $(there),$(shell sed 's/.*|//' $(BUILD)/flags 2>/dev/null))
# Tests shall be there soon, rather than run fast, unless CFLAGS says how.
soon  := $(if $(filter file,$(origin CFLAGS)),-O0)
flags := $(strip $(CC) $(FLAGS) $(CFLAGS) $(threaded) | $(LDFLAGS) $(LDLIBS) $(OPENMP) | $(soon) | $(there))
ifneq ($(flags),$(shell cat $(BUILD)/flags 2>/dev/null))
.PHONY: $(BUILD)/flags
endif
$(BUILD)/flags:
	@mkdir -p $(@D)
	@rm -f $(foreach f,$(gone:%=$(BUILD)/%),$f $f.o $(basename $f).d)
	@printf '%s\n' $(call quoted,$(flags)) >$@

settings := Makefile $(BUILD)/flags

$(BUILD)/chapters/%: $$(call of,$$*) $$(before_$$*) $(BUILD)/libsupport.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(link)

$(BUILD)/obj/%.o: $(BUILD)/code/%.c $(settings)
	@mkdir -p $(@D)
	$(compile) -Wmissing-prototypes -D'main=__attribute__((weak)) main' $(object)

# The public functions of all these files get the set's name behind their own, so that
# calls among them stay within the set.
in_sets := $(fast:%=$(BUILD)/code/%.c) $(kernel:%=src/kernel/%.c)
define variant
$(fast:%=$(BUILD)/obj/%.$(1).o): $(BUILD)/obj/%.$(1).o: $(BUILD)/code/%.c $(settings)
	@mkdir -p $$(@D)
	$$(for_$(1)) $$(object)
$(kernel:%=$(BUILD)/obj/kernel/%.$(1).o): $(BUILD)/obj/kernel/%.$(1).o: src/kernel/%.c $(settings)
	@mkdir -p $$(@D)
	$$(for_$(1)) $$(object)
for_$(1) = $$(compile) $(march_$(1)) -Dmain=main_$$*_$(1) $$$$(perl -ne \
  '/^(?!static|typedef)[A-Za-z][\w ]*[ *](\w+)\(/ and $$$$1 ne "main" and print " -D$$$$1=$$$$1_$(1)"' $(in_sets))
endef
$(foreach s,$(sets),$(eval $(call variant,$(s))))

$(BUILD)/obj/%.o: src/%.c $(settings)
	@mkdir -p $(@D)
	$(compile) -Wmissing-prototypes $(object)

$(kernel:%=$(BUILD)/tests/%.o): CFLAGS_fast := # a test that is called as what it tests
$(BUILD)/tests/%.o: tests/%.c $(settings)
	@mkdir -p $(@D)
	$(compile) $(soon) $(object)

# With the chapters before it: what stands in later ones is not its concern.
$(BUILD)/tests/%: $(BUILD)/tests/%.o $$(if $$(filter $$*,$(names)), \
                  $$(call of,$$*) $$(before_$$*) $(BUILD)/libsupport.a,$(BUILD)/libattention.a)
	$(CC) $(CFLAGS) $(link)

$(BUILD)/libsupport.a: $(support)
$(BUILD)/libattention.a: $(objects) $(support)
$(BUILD)/lib%.a:
	@rm -f $@.new
	@$(if $(OPENMP)$(filter %support.a,$@),,echo "$(CC) has no OpenMP: the kernel will use one thread")
	$(AR) rcs $@.new $^ && $(moved)

-include $(wildcard $(BUILD)/*/*.d $(BUILD)/obj/*/*.d)

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

weaver := $(wildcard tools/*.pm) $(wildcard tools/*.lua) tools/weave \
          book.bib $(wildcard tools/theme/* tools/theme/fonts/*)
$(BUILD)/book/index.html: $(BUILD)/pandoc.found $$(modules) $(checked) $(weaver) \
                          book.md $(headers)
	@$(without_modules)
	PANDOC=$(BUILD)/pandoc tools/weave $(BUILD)/book
	@echo "The book is woven: $@"

# What tells the tasks of worksheets.
$(BUILD)/tools/worksheet: $(wildcard tools/worksheets/*.[ch]) $(BUILD)/libattention.a $(settings)
	@mkdir -p $(@D)
	$(compile) -Wmissing-prototypes $(filter %.c,$^) $(link)

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

# ---- The programs in the pages. A page has one module of WebAssembly, with its own
# program and, where the chapter has a workbench, that as well, so that what a page
# loads does not grow with the chapters. In tools/web, page.c begins what is asked for,
# and NAME_part.c is a part of the program NAME.c. -Oz makes two thirds of what -O2
# makes, and as fast; what the fast chapters want to have put in place, for registers,
# of which there are none here, is left to it. A function's calls must have its type
# here, so that each main takes words.
#
# Whether clang makes modules is asked until it does. The first time that it
# does, the book is woven anew: a file that was not there makes none older.

wasm      := clang --target=wasm32-wasi
can_wasm   = [ -e $(BUILD)/web/can ] && command -v $(firstword $(wasm)) || \
  { mkdir -p $(BUILD)/web && echo 'int main(void) { return 0; }' | \
    $(wasm) -x c - -o $(BUILD)/web/can; }
modules    = $(if $(shell { $(can_wasm); } >/dev/null 2>&1 && echo yes),\
  $(packed) $(if $(wildcard $(packed)),,new-modules))
.PHONY: new-modules
without_modules = $(if $(modules),,rm -f $(packed); \
  echo "The pages cannot run programs: that takes clang, lld, wasi-libc and" \
    "libclang-rt-14-dev-wasm32 (or your clang's version)")

web       := $(basename $(notdir $(wildcard tools/web/*.c)))
own       := $(filter-out page,$(foreach n,$(web),$(if $(findstring _,$n),,$n)))
packed    := $(foreach n,$(names) $(own),$(BUILD)/web/programs/$(call number,$n).js)

compile_wasm = $(wasm) $(FLAGS) -Oz -Dalways_inline= -Wno-unused-parameter \
  -D'main(...)=main_$(call number,$*)(int argc, char **argv)' $(object)
$(BUILD)/web/obj/%.o: $(BUILD)/code/%.c $(settings)
	@mkdir -p $(@D)
	$(compile_wasm)
$(BUILD)/web/obj/%.o: src/%.c $(settings)
	@mkdir -p $(@D)
	$(compile_wasm)
$(BUILD)/web/obj/%.o: tools/web/%.c $(settings)
	@mkdir -p $(@D)
	$(compile_wasm)

# A module, of objects that have the names of native ones; which of its programs is the
# workbench.
define module
$(BUILD)/web/programs/$(call number,$(1)).wasm: bench = $(if $(2),workbench,$(call number,$(1)))
$(BUILD)/web/programs/$(call number,$(1)).wasm: $(patsubst $(BUILD)/obj/%,$(BUILD)/web/obj/%,\
  $(filter-out $(sets:%=\%.%.o),$(call of,$(1)) $(if $(2),$(in_bench),$(before_$(1))) $(support)))
endef
in_bench  := $(patsubst %,$(BUILD)/obj/%.o,$(filter workbench workbench_%,$(web))) $(objects)
has_bench := $(basename $(notdir $(shell grep -l '^::: {.workbench' chapters/*.c))) workbench
$(foreach n,$(names) $(own),$(eval $(call module,$n,$(filter $n,$(has_bench)))))

$(BUILD)/web/programs/%.wasm: tools/web/page.c $(settings)
	@mkdir -p $(@D)
	$(wasm) $(FLAGS) -Oz -DPROGRAM=main_$* -DBENCH=main_$(bench) $(filter %.c %.o,$^) \
	  -Wl,--gc-sections,--strip-all,--compress-relocations,-z,stack-size=1048576 $(whole)

$(BUILD)/web/programs/%.js: $(BUILD)/web/programs/%.wasm tools/web/pack tools/Pack.pm
	tools/web/pack programs/$* <$< >$@.new && $(moved)

-include $(wildcard $(BUILD)/web/obj/*.d $(BUILD)/web/obj/*/*.d)

# What runs in a page can be run in a terminal, too.
$(own:%=$(BUILD)/web/%): $(BUILD)/web/%: tools/web/%.c $$(wildcard tools/web/$$*_*.c) \
                         $$(wildcard tools/web/$$**.h) $(BUILD)/libattention.a $(settings)
	@mkdir -p $(@D)
	$(compile) -Wmissing-prototypes $(filter %.c,$^) $(link)

$(own): %: $(BUILD)/web/%
	@$(RUN_UNDER) $< $(ARGS)

# ---- On paper and on readers of EPUBs, from the same files. Each says when it was
# made by SOURCE_DATE_EPOCH or the last commit, so that it can be made again.

paper     := $(BUILD)/attention-in-c
paper_epoch = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),0)
weave_file = SOURCE_DATE_EPOCH=$(paper_epoch) PANDOC=$(BUILD)/pandoc tools/weave $@

pdf: $(paper).pdf $(paper)-letter.pdf ## the book as PDF, for A4 and for US letter
epub: $(paper).epub ## the book as EPUB

typesetter := tools/typeset tools/theme/book.typ tools/theme/code.tmTheme \
              $(wildcard tools/theme/fonts/*.otf)
$(paper).typ $(paper).epub: book.md $(headers) $(weaver) $(checked) \
                            $(BUILD)/pandoc.found
	$(weave_file)
$(paper).pdf: $(paper).typ $(typesetter)
	tools/typeset $< $@ a4
$(paper)-letter.pdf: $(paper).typ $(typesetter)
	tools/typeset $< $@ us-letter
$(paper)-cover.png: $(paper).typ $(typesetter)
	tools/typeset $< $@
$(paper).epub: $(paper)-cover.png

# ---- Tests

# What a program prints with all digits, and its figures: several tests read it.
# What the program refuses is in the file, too. The pipe's status is that of cat, which
# tells of a full disk.
$(BUILD)/printed/%.txt: drawn = $(BUILD)/printed/$(call number,$*)
$(BUILD)/printed/%.txt: $(BUILD)/chapters/%
	@rm -rf $(drawn) && mkdir -p $(drawn)
	@DIGITS=9 FIGURES=$(drawn) $< 2>&1 | cat >$@.new && $(moved)

# A warning of Perl fails a test.
prove = PERL5LIB=$(call quoted,$(CURDIR)/tests) PERL5OPT=-MLoud prove
test: test-programs ## the tests of the book: needs neither Python nor a network
	$(prove) -j$(JOBS) $(filter $(long),$(perl) $(tests)) $(filter-out $(long),$(perl) $(tests))
	@$(MAKE) chapters

test-programs: $(programs) $(printed) $(tests) $(patsubst tools/%.c,$(BUILD)/tools/%,$(wildcard tools/train.c)) ## what make test runs, without running it

test-c: $(tests) ## the tests of the C code alone
	$(prove) -j$(JOBS) $(if $(RUN_UNDER),--exec '$(RUN_UNDER)') $(tests)

test-book: $(BUILD)/pandoc.found $(checked) ## the tools' own tests: weaver, workbench, Makefile
	PANDOC=$(BUILD)/pandoc $(prove) -j$(JOBS) $(of_tools)

test-class: ## what learners and teachers use: student copies, hints, diagnosis, grading, worksheets
test-tools: ## of these, one run of each tool, and a class that is graded
test-tools: of_class := $(patsubst %,tests/%.t,class worksheet handout watch report diagnosis assignment new_chapter)
test-class test-tools: test-programs $(BUILD)/pandoc.found $(BUILD)/tools/worksheet graders
	PANDOC=$(BUILD)/pandoc $(prove) -j$(JOBS) $(of_class)

# ---- The book in a browser: Chromium, Java, and Node with what npm sets up

browser := tests/browser
check-book: ## the scripts' form, and every page in Chromium, as a reader uses it
check-pages: ## the browser tests of the gate, which tests/browser/gate.mjs names
check-pages: some = gate
check-book check-pages: $(BUILD)/book/index.html $(browser)/node_modules/made
	$(biome) ci --colors=off
	node --test-reporter=spec $(browser)/all.mjs $(some)

format-scripts: $(browser)/node_modules/made ## gives all scripts the form that biome.json says
	$(biome) check --write --colors=off

# The one that npm has chosen for this machine.
biome = $(browser)/node_modules/@biomejs/*/biome

$(browser)/node_modules/made: $(browser)/package-lock.json
	@echo "Setting up what drives the browser in $(@D) (once)"
	npm ci --silent --prefix $(browser)
	@touch $@

# Where the time goes, in a folder of its own: all that `make` and `make test` do,
# part by part, and what `make` does after a change of one chapter's prose (07). As
# changed counts what has another sum than the one that was kept.
seconds = perl -MTime::HiRes=time -e 'my ($$what, @command) = @ARGV;' \
  -e 'open my $$out, ">&", *STDOUT; open STDOUT, ">", "/dev/null"; my $$from = time;' \
  -e 'system(@command) == 0 or exit 1; printf $$out "%-36s %4.1f s\n", $$what, time - $$from'
one   = $(or $(CHAPTER),07)
bench = $(BUILD)/bench
part  = +@$(seconds) $(1) $(MAKE) -s BUILD=$(bench) $(2)
bench-book: $(BUILD)/book/index.html $(browser)/node_modules/made ## how long it takes: all, part by part, and after a change of prose
	@rm -rf $(bench)
	$(call part,'programs',programs)
	$(call part,'their outputs',chapters)
	$(if $(modules),$(call part,'their modules',$(patsubst $(BUILD)/%,$(bench)/%,$(packed))))
	$(call part,'the whole book is woven',book)
	@perl -pi -e 's{"chapters/$(one)_[^"]*":"}{$$&-}' $(bench)/book.kept/sums.json
	@touch chapters/$(one)_*.c
	$(call part,'make after a change of chapter $(one)',book)
	$(call part,'programs of the tests',test-programs)
	$(call part,'the tests',test)
	@node $(browser)/slider.mjs
	@rm -rf $(bench)

test-paper: $(paper).pdf $(if $(filter a4,$(PAPER)),,$(paper)-letter.pdf) epub ## the PDF's and the EPUB's: needs poppler-utils and epubcheck
	$(prove) tests/paper.t :: $(filter %.pdf,$^)

mutants: $(tests) ## plants mistakes one at a time: the tests must notice each; SAMPLE=3 tries three of each chapter
mistakes: keep = --keep
mistakes: $(tests) ## what each mistake of an exercise makes its tests tell: tests/mistakes.txt
mutants mistakes:
	@CC='$(CC)' FLAGS='$(FLAGS) $(CFLAGS) $(threaded)' LDFLAGS='$(LDFLAGS)' \
	  LDLIBS='$(LDLIBS) $(OPENMP)' tools/mutants $(keep) $(if $(SAMPLE),--sample $(call quoted,$(SAMPLE))) $(call each,$(CHAPTER))

# ---- The checks, which repeat the tests. A line says what is left out.
#   sanitized   with sanitizers, which also find memory that is not freed
#   valgrind    without chapter 23's program, which trains (its tests are run)
#   threads     the kernel's, with clang's OpenMP, which alone tells the sanitizer
#               for threads which thread waits for which
#   neon        the kernel's, on a processor of another kind
#   no-avx512   the kernel's, on a processor without AVX-512; no-avx: or AVX
check: ## the gate: what every change must pass; PART="form test" for some parts
	@.ci/run gate $(PART)

check-all: ## every check there is; skips what has passed already; PART="clang valgrind" for some parts
	@.ci/run all $(PART)

sanitize := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
valgrind := valgrind -q --error-exitcode=99
arm64    := aarch64-linux-gnu
small    := TAP_SMALL=1 TAP_SECONDS=600
few       = tests='$(patsubst %,$(1)/tests/%,$(filter $(notdir $(tests)),$(speedy)))' test-c
speedy   := 06_scaling 14_flash 15_kernel 16_kv_cache 19_flash_backward attend backward cache kernels layers 22_gpt 23_language_model
try       = +@if { $(2); } >/dev/null 2>&1; then $(4); else echo "$(1): left out, for want of $(3)"; fi
without   = $(if $(sets),$(call try,Without $(1),command -v qemu-x86_64,qemu-user,$(small) \
  $(MAKE) RUN_UNDER='qemu-x86_64 -cpu $(2)' $(call few,$(BUILD))),@echo "This processor has no AVX anyway")
check-sanitized:
	TAP_SECONDS=60 $(MAKE) BUILD=$(BUILD)/sanitized CC=gcc CFLAGS='$(sanitize)' fastest=-O1 soon=-O0 test-c $(more)
check-clang:
	$(MAKE) BUILD=$(BUILD)/clang CC=clang CFLAGS=-O2 test-c chapters
check-valgrind:
	$(small) $(MAKE) BUILD=$(BUILD)/valgrind CC=gcc CFLAGS='-O1 -g' RUN_UNDER='$(valgrind)' test-c chapters \
	  checked='$(patsubst %,$(BUILD)/valgrind/run/%.ok,$(filter-out 23_language_model,$(names)))'
check-threads:
	$(call try,Threads,echo '$(hash)include <omp.h>' | clang -fopenmp -E -,libomp-14-dev, \
	  TSAN_OPTIONS=ignore_noninstrumented_modules=1 $(small) $(MAKE) \
	  BUILD=$(BUILD)/threads CC=clang CFLAGS='-O1 -g -fsanitize=thread' \
	  $(call few,$(BUILD)/threads))
check-neon:
	$(call try,NEON,command -v $(arm64)-gcc && command -v qemu-aarch64,gcc-$(arm64) and qemu-user, \
	  $(small) $(MAKE) BUILD=$(BUILD)/arm64 CC=$(arm64)-gcc AR=$(arm64)-ar \
	  RUN_UNDER='qemu-aarch64 -L /usr/$(arm64)' $(call few,$(BUILD)/arm64))
check-no-avx512:
	$(call without,AVX-512,max)
check-no-avx:
	$(call without,AVX,Nehalem)

code := $(wildcard chapters/*.c src/*.[ch] src/*/*.[ch] tests/*.[ch] tools/*.c tools/*/*.[ch])
format: ## gives all C the form that .clang-format says
	clang-format -i $(code)

format-check: ## says where C has another form
	clang-format --dry-run -Werror $(code)

# ---- Grading: the judge has a chapter's tests and what is due, the runner the
# submission and the chapters before. Calls go from one to the other.

gradable := $(filter-out A_% B_% C_% D_%,$(names))
# Those that are asked for, or all: by CHAPTER, or those of an assignment's exercises.
wanted    = $(or $(CHAPTER),$(if $(NAME)$(CONF),$(shell perl -ne 's/(?:^|\s)$(hash).*//; \
  /^\s*(?:chapters|exercises)\s*=(.*)/ and print join(" ", map { s/\.\d+$$//r } \
  $$1 =~ /(?<![\w.])\d+(?:\.\d+)?/g), " "' $(conf) 2>/dev/null)))
graded    = $(if $(wanted),$(sort $(foreach n,$(wanted),$(filter $(n)_% 0$(n)_%,$(gradable)))),$(if $(NAME)$(CONF),,$(gradable)))
no_such   = $(if $(CHAPTER),$(firstword $(foreach n,$(CHAPTER),$(if $(filter $(n)_% 0$(n)_%,$(gradable)),,$(n)))))
grader    = $(BUILD)/grader
graders   = $(foreach n,$(graded),$(addprefix $(grader)/$(n).,judge a tests)) \
  $(addprefix $(grader)/,run.o how confined)
named     = $$(perl -ne '/^    \{"(\w+)"/ and print " -D$$1=$${1}_given"' $(1))

$(grader)/%.c: chapters/%.c tools/grader/calls tools/Chapter.pm
	@mkdir -p $(@D)
	@tools/grader/calls $< >$@.new && $(moved)
$(grader)/%.calls.o: $(grader)/%.c tools/grader/remote.h $(headers) $(settings)
	$(compile) -Itools/grader $(object)
$(grader)/%.stubs.o: $(grader)/%.c tools/grader/remote.h $(headers) $(settings)
	$(compile) -Itools/grader -DJUDGE $(object)
$(grader)/%.given.o: $(BUILD)/code/%.c $(grader)/%.c $(settings)
	$(compile) -Dmain=main_given $(call named,$(grader)/$*.c) $(object)
$(grader)/%.o: tools/grader/%.c tools/grader/remote.h $(headers) $(settings)
	@mkdir -p $(@D)
	$(compile) $(object)
$(grader)/%.judge: $(BUILD)/tests/%.o $(grader)/%.stubs.o $(grader)/%.given.o $(grader)/judge.o \
                   $(grader)/jail.o $$(filter-out $(BUILD)/obj/$$*.o,$$(call of,$$*)) $$(before_$$*) \
                   $(BUILD)/libsupport.a
	$(CC) $(CFLAGS) $(link)
# Where the compiler is, if not where all others are.
prefix = $(shell $(CC) -print-search-dirs 2>/dev/null | sed -n 's,^install: \(/..*\)/lib[^/]*/gcc.*,\1,p')
$(grader)/confined.o: FLAGS += -DCOMPILER='"$(prefix)"'
$(grader)/confined: $(grader)/confined.o $(grader)/jail.o
	$(CC) $(CFLAGS) $(link)
# As on a machine that has no other instruction sets.
$(grader)/kernels.o: src/kernel/kernels.c $(settings)
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(CFLAGS) $(OPENMP) $(object)
# Nor is what the kernel makes of a chapter: its exercises are for the submission to do.
other_sets := $(foreach s,$(sets),$(fast:%=$(BUILD)/obj/%.$(s).o) $(kernel:%=$(BUILD)/obj/kernel/%.$(s).o))
made_of_it  = $(if $(filter %/19_flash_backward.o,$(before_$(1))),,$(addprefix $(BUILD)/obj/kernel/,$(kernel:%=%.o) layers.o))
$(grader)/%.a: $(grader)/%.calls.o $(grader)/kernels.o $$(filter-out $$(other_sets) \
               $(BUILD)/obj/kernel/kernels.o $$(call made_of_it,$$*),$$(before_$$*) $(support))
	@rm -f $@.new
	$(AR) rcs $@.new $^ && $(moved)

# No plugin takes part when a submission is linked: gcc's compiles what it finds.
plain = $(shell $(CC) -fno-use-linker-plugin -Werror -x c -E /dev/null >/dev/null 2>&1 && echo -fno-use-linker-plugin)

# How many tests an exercise has, and how C is compiled.
$(grader)/%.tests: $(BUILD)/tests/% $(grader)/%.c
	@mkdir -p $(@D)
	@all=$$(sed -n 's/^    {"\([a-z0-9_]*\)".*/\1/p' $(grader)/$*.c | tr '\n' ' '); \
	  TAP_ONLY="$$all" $< >$@.run || { grep '^not ok' $@.run >&2; \
	    echo "The book's own functions fail in chapter $*: it cannot be graded" >&2; exit 1; }; \
	  sed -n 's/^ok [0-9]* - //p' $@.run >$@.new && rm $@.run && \
	  for f in $$all; do grep -q "^$$f:" $@.new || { echo "$$f has no test in tests/$*.c" >&2; exit 1; }; done && $(moved)
$(grader)/how: $(settings)
	@mkdir -p $(@D)
	@echo 'int main(void) { return 0; }' | $(CC) -static -x c - -lm -o $@.links || { echo "Grading needs a C" \
	  "library to link statically: glibc-static, or libc6-dev, is needed" >&2; exit 1; }
	@printf '%s\n' 'cc $(CC)' 'unset $(pattern)' 'plain $(plain)' 'flags $(filter-out -Isrc -W%,$(FLAGS)) $(CFLAGS)' \
	  $(foreach n,$(fast),'flags.$(n) $(filter-out -Isrc -W%,$(FLAGS)) $(CFLAGS) $(CFLAGS_fast)') \
	  $(foreach n,$(names),$(if $(filter $(fast:%=$(BUILD)/obj/%.o),$(call of,$(n)) $(before_$(n))),'libraries.$(n) $(OPENMP)')) >$@.new && $(moved)

graders: $$(graders)
	@[ -z $(call quoted,$(no_such)) ] || { echo 'There is no chapter' $(call quoted,$(no_such)) 'to grade: some of $(foreach n,$(gradable),$(call \
	  number,$(n))) are needed, as in CHAPTER="02 03"' >&2; exit 2; }

conf = $(call quoted,$(or $(CONF),$(if $(NAME),$(NAME).conf)))
grade: $$(graders) ## WORK=folder: grades what is in it; NAME=hw1, FORMAT
	@tools/grade $(call quoted,$(WORK)) $(conf)

grade-all: $$(graders) ## DIR=folder with a folder, zip or file for each student; NAME=hw1, OUT
	@tools/grade-all $(call quoted,$(DIR)) $(call quoted,$(or $(OUT),$(BUILD)/grades/$(or $(NAME),all))) $(conf)

# ---- Speed: what this machine can do at most, and what each library makes of it.

# The part that is compiled once for each instruction set.
roofline_sets := $(BUILD)/tools/roofline_peak.o $(sets:%=$(BUILD)/tools/roofline_peak.%.o)
$(BUILD)/tools/roofline_peak.o: CFLAGS += $(CFLAGS_fast)
$(BUILD)/tools/roofline_peak.o: tools/roofline_peak.c $(settings)
	@mkdir -p $(@D)
	$(compile) $(object)
$(BUILD)/tools/roofline_peak.%.o: tools/roofline_peak.c $(settings)
	@mkdir -p $(@D)
	$(compile) $(CFLAGS_fast) $(march_$*) -Dcompute_at_most=compute_at_most_$* \
	  -Dread_at_most=read_at_most_$* $(object)
$(BUILD)/tools/roofline: tools/roofline.c $(roofline_sets) $(BUILD)/libattention.a $(settings)
	@mkdir -p $(@D)
	$(compile) $(or $(OPENMP),-fopenmp-simd) $< $(link)

roofline: $(BUILD)/tools/roofline ## what this machine can do at most: GFLOP/s, GB/s
	@$(RUN_UNDER) $< $(ARGS)

# The book's functions as a shared library, and bench.c with a copy of the kernel
# that takes one tile of queries at a time.
bench_lib  := $(BUILD)/bench-lib
shared     := -O2 -fPIC -fno-semantic-interposition
helpers    := $(foreach s,plain $(sets),$(bench_lib)/bench.$(s).so)
bench_made := $(bench_lib)/attention.so $(helpers) $(BUILD)/bench-venv/made $(BUILD)/tools/roofline

bench: $(bench_made) ## its speed beside PyTorch's and others': CASES="tiny product" for a part
	CC='$(CC)' $(BUILD)/bench-venv/bin/python tools/bench --build $(BUILD) \
	  $(if $(MEASURED),--measured $(call quoted,$(MEASURED))) $(call each,$(CASES))

$(bench_lib)/attention.so: $(objects) $(support)
	$(MAKE) --no-print-directory -s BUILD=$(bench_lib) CFLAGS='$(shared)' lib
	$(CC) -shared $(patsubst $(BUILD)/%,$(bench_lib)/%,$^) $(LDFLAGS) $(LDLIBS) \
	  $(OPENMP) -lm $(whole)
$(bench_lib)/one_tile.c: $(BUILD)/code/15_kernel.c src/kernel/attend.c
	@mkdir -p $(@D)
	@perl -pe '$$done += s/\bTILES = \d+/TILES = 1/; END { $$done == 1 or die "TILES?\n" }' $^ >$@.new && $(moved)
# Whether bench.c still fits what it is compiled with: the gate asks, and measures nothing.
bench-compiles: $(bench_lib)/one_tile.c $(BUILD)/tools/roofline $(BUILD)/tools/bench_train
	$(CC) $(FLAGS) $(CFLAGS_fast) -Werror -DKERNEL='"$(abspath $<)"' -fsyntax-only tools/bench.c
$(bench_lib)/bench.%.so: tools/bench.c tools/roofline_peak.c $(bench_lib)/one_tile.c $(bench_lib)/attention.so
	$(CC) $(FLAGS) $(shared) $(CFLAGS_fast) $(march_$*) \
	  -DKERNEL='"$(abspath $(bench_lib)/one_tile.c)"' -shared $(filter tools/%,$^) \
	  $(LDFLAGS) $(bench_lib)/libattention.a $(LDLIBS) $(OPENMP) -lm $(whole)

$(BUILD)/bench-venv/made: tools/bench.txt
	@echo "Setting up PyTorch and onnxruntime in $(@D) (once)"
	python3 -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# Chapter 23's long run, and the same for some steps; PyTorch is that of the golden values.
$(BUILD)/tools/train $(BUILD)/tools/bench_train: $(BUILD)/tools/%: tools/%.c $(BUILD)/libattention.a $(settings)
	@mkdir -p $(@D)
	$(compile) $< $(link)

bench-train: $(BUILD)/tools/bench_train .venv-golden/made ## chapter 23's training beside the same in PyTorch
	@.venv-golden/bin/python tools/bench-train --program $< $(if $(STEPS),--steps $(call quoted,$(STEPS)))

# ---- What chapter 23 learns from, and its long run, of which the page tells.

prose: ## the chapters' prose anew, for chapter 23: after it, make train
	tools/prose $(sort $(wildcard chapters/[0-9]*_*.c chapters/[A-D]_*.c)) book.md >src/prose.h.new
	mv src/prose.h.new src/prose.h

# The training stands in a file of its own until all its steps are done; then it
# is a model for run-23. A run of other sizes leaves the page's log alone.
gpt = $(BUILD)/gpt$(if $(SIZES),.own)
train: $(BUILD)/tools/train ## chapter 23's long run, of some minutes; after Ctrl-C it goes on; SIZES="200 8 64 64 2 2"
	@rm -f $(gpt).h
	@$< $(gpt).training $(gpt).h $(call each,$(SIZES))
	@[ ! -e $(gpt).h ] || { mv $(gpt).training $(gpt).safetensors; $(if $(SIZES),,mv $(gpt).h src/trained.h;) \
	  echo 'Try it: make -s run-23 ARGS="$(gpt).safetensors 84 104 101 32"'; }

# ---- Reference values, made by PyTorch. Nothing else needs it.

golden: .venv-golden/made ## makes golden/ again with PyTorch
	.venv-golden/bin/python golden/generate.py

golden-check: .venv-golden/made $(checked) ## makes it elsewhere and compares; runs the python blocks
	.venv-golden/bin/python golden/check.py

.venv-golden/made: golden/requirements.txt
	@echo "Setting up PyTorch in .venv-golden (once)"
	python3 -m venv .venv-golden
	.venv-golden/bin/pip install --quiet --disable-pip-version-check \
	  --no-compile -r golden/requirements.txt
	@touch $@

# ---- For learners, in a student edition

watch: ## builds and tests each time you save; shows what comes next, ? its keys
	@tools/watch

progress: ## how far all exercises are
	@tools/watch progress

# hint-2.1: ## the next hint, or HINT=1; solution-2.1: once solved; reset-2.1: empty again
hint-% solution-% reset-%:
	@tools/watch $(subst -, ,$@)

# ---- For teachers and authors

student: ## CHAPTER=02 DIR=work: a copy with these exercises empty: "02 03", 2.1, or all
	@tools/student $(call quoted,$(CHAPTER)) $(call quoted,$(DIR))

handout: $(BUILD)/pandoc.found ## NAME=hw1: what students get of the assignment hw1.conf, as build/handout/hw1.zip
	@SOURCE_DATE_EPOCH=$(paper_epoch) tools/handout $(conf) '$(BUILD)/handout' $(call quoted,$(PAPER))

autograder: ## NAME=hw1: what grades it on Gradescope, GitHub, Classroom 50 and PrairieLearn, in build/autograder
	@SOURCE_DATE_EPOCH=$(paper_epoch) tools/autograder $(conf) '$(BUILD)/autograder'

worksheet: $(BUILD)/tools/worksheet $(BUILD)/pandoc.found ## CHAPTER=03 SEED=7 COPIES=30: sheets with other numbers on each, and the answers
	@tools/worksheet $(call quoted,$(CHAPTER)) $(call quoted,$(SEED)) $(call quoted,$(COPIES)) $(call quoted,$(PAPER))

quiz: $(BUILD)/pandoc.found ## CHAPTER=03: its questions as a sheet, and the answers
	@tools/quiz $(call quoted,$(CHAPTER)) $(call quoted,$(PAPER))

chapter: ## NAME=14_flash TITLE="Flash": the skeleton of a new chapter
	@tools/new-chapter $(call quoted,$(NAME)) $(call quoted,$(TITLE))

clean: ## removes what was built (not .venv)
	rm -rf "$(BUILD)"
