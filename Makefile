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
fast   := $(basename $(notdir $(wildcard chapters/15_kernel.c)))
kernel := $(filter attend cache backward,$(basename $(notdir $(wildcard src/kernel/*.c))))
hash   := \#
# OpenMP is used unless a program with it cannot be made, or cannot start: musl-gcc links
# one whose library is missing. One for another processor cannot be tried (126).
OPENMP := $(shell t=$$(mktemp 2>/dev/null || mktemp ./openmp.XXXXXX) && \
  printf '%s\n' '$(hash)include <omp.h>' 'int main(void) { return omp_get_max_threads() < 1; }' | \
  $(CC) $(CFLAGS) -fopenmp -x c - -x none $(LDFLAGS) $(LDLIBS) -o "$$t" >/dev/null 2>&1 && \
  { "$$t" >/dev/null 2>&1; case $$? in (1|127) ;; (*) echo -fopenmp ;; esac; }; rm -f "$$t")
march_avx2   := -march=x86-64-v3
march_avx512 := -march=x86-64-v4 -mprefer-vector-width=512
can    = $(shell printf '%s\n' '$(hash)ifndef __x86_64__' '$(hash)error' '$(hash)endif' | \
  $(CC) $(march_$(1)) -E - >/dev/null 2>&1 && echo $(1))
sets   := $(call can,avx2) $(call can,avx512)
# Without OpenMP no pragma uses a number of threads.
threaded     := $(or $(OPENMP),-fopenmp-simd -Wno-unused-parameter)
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
$(foreach v,CASES CHAPTER CONF COPIES DIR FILES MEASURED NAME OUT PAPER SAMPLE SEED SIZES STEPS TITLE WORK,\
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
# The data that a chapter's program reads.
data_15  := src/data/measured.tsv
data_16  := $(data_15)
data_21  := golden/21_training.tsv
data_23  := $(addprefix src/data/,prose.txt held_out.txt trained.tsv trained-dropout.tsv)
data_24  := $(addprefix src/data/,held_out.txt trained.tsv trained-repeats.tsv)
printed  := $(names:%=$(BUILD)/printed/%.txt)
checked  := $(names:%=$(BUILD)/run/%.ok)
headers  := $(wildcard src/*.h src/*/*.h)
support  := $(patsubst src/%.c,$(BUILD)/obj/%.o,$(sort $(wildcard src/*.c src/*/*.c))) \
            $(foreach n,$(kernel),$(sets:%=$(BUILD)/obj/kernel/$(n).%.o))
tests    := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/*.c)))
perl     := $(sort $(wildcard tests/*.t))
# Those that take longest begin first.
long     := $(BUILD)/tests/safetensors tests/tap.t tests/gpt.t tests/form.t
number    = $(firstword $(subst _, ,$(1)))
# run-2 is run-02, too.
short     = $(if $(findstring -0,$(1)),$(call number,$(subst -0,-,$(1))))

.PHONY: book programs lib run test test-programs test-c help help-all clean
.PHONY: $(foreach n,$(names),\
          run-$(call number,$(n)) test-$(call number,$(n)) $(call short,run-$(n)) $(call short,test-$(n)))

book: $(BUILD)/book/index.html ##* the book: programs, their output checked, its pages

programs: $(programs) ## the chapters' programs alone

lib: $(BUILD)/libattention.a ##* all functions of the book, for programs of your own

# run-02: ##* one chapter's program; ARGS="..." are its arguments, -s is quiet
# test-02: ##* one chapter's tests, and how far its exercises are

# Targets whose line has ##* are those that a reader needs.
help-all: stars = \*?
help: stars = \*
help: ##* this list
help-all: ##* all targets: what teachers, authors and checks use, too
help help-all:
	@perl -ne 'printf "  make %-14s %s\n", $$1, $$2 if /^(?:# )?(\S+):.*?##$(stars) (.*)/' \
	  Makefile $(sort $(wildcard make/*.mk))

# ---- Chapters, and after them the appendices. Each is compiled once, and linked
# with the chapters before it. The main of each has a name of its own, main_02, which
# tools/start.c calls. Chapter 5 is the first to need the normal
# numbers of appendix B, which therefore comes before it here.
#
# What is compiled is a chapter's code, which is looked at whenever make begins: a
# change of prose leaves it as it was, and nothing is compiled anew.
# In a student edition `make` alone says how far all is, and no chapter may be gone.
ifneq ($(wildcard .book),)
.DEFAULT_GOAL := progress
endif
ifneq ($(filter-out help help-all clean autograder watch progress hint-% reset-% solution-% chapter format%,$(or $(MAKECMDGOALS),$(.DEFAULT_GOAL))),)
lost := $(firstword $(filter-out $(names),$(basename $(notdir $(wildcard .book/*_*.c)))))
ifneq ($(lost),)
$(error chapters/$(lost).c is gone: make reset-$(shell \
  grep -om1 '^$(patsubst 0%,%,$(call number,$(lost)))\.[0-9]*' .book/exercises) lays it there again, with its exercises empty)
endif
ifneq ($(shell tools/weave/code $(BUILD)/code $(names:%=chapters/%.c) || echo failed),)
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
	@tools/learn/progress chapters/$(1).c $$<
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

settings := Makefile $(wildcard make/*.mk) $(BUILD)/flags

$(BUILD)/chapters/%: tools/start.c $$(call of,$$*) $$(before_$$*) $(BUILD)/libsupport.a
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(CFLAGS) -DPROGRAM=main_$(call number,$*) $< $(link)

# A chapter's main is called main_02, with a declaration of its own.
as_function = -D'main(...)=main_$(call number,$*)(__VA_ARGS__); int main_$(call number,$*)(__VA_ARGS__)'
$(BUILD)/obj/%.o: $(BUILD)/code/%.c $(settings)
	@mkdir -p $(@D)
	$(compile) -Wmissing-prototypes $(as_function) $(object)

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

$(BUILD)/tests/figure: LDLIBS += -pthread
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

run: $(programs) ##* all programs, in order
	@for name in $(names); do echo "---- $$name"; \
	  $(RUN_UNDER) $(BUILD)/chapters/$$name $(ARGS) || exit; done

# ---- Tests

# What a program prints with all digits, and its figures: several tests read it.
# What the program refuses is in the file, too. The pipe's status is that of cat, which
# tells of a full disk.
$(BUILD)/printed/%.txt: drawn = $(BUILD)/printed/$(call number,$*)
$(BUILD)/printed/%.txt: $(BUILD)/chapters/% $$(data_$$(call number,$$*))
	@rm -rf $(drawn) && mkdir -p $(drawn)
	@DIGITS=9 FIGURES=$(drawn) $< 2>&1 | cat >$@.new && $(moved)

# A warning of Perl fails a test. .proverc says where modules are.
prove = PERL5LIB=$(call quoted,$(CURDIR)/tests) PERL5OPT=-MLoud prove
# A learner's endless loop ends soon; what is right has time on a busy machine, too.
patient = TAP_SECONDS=$${TAP_SECONDS:-60}
test: test-programs ##* the tests of the book: needs neither Python nor a network
	$(patient) $(prove) -j$(JOBS) $(filter $(long),$(perl) $(tests)) $(filter-out $(long),$(perl) $(tests))
	@$(MAKE) chapters

test-programs: $(programs) $(printed) $(tests) $$(trainer) ## what make test runs, without running it

test-c: $(tests) ## the tests of the C code alone
	$(patient) $(prove) -j$(JOBS) $(if $(RUN_UNDER),--exec '$(RUN_UNDER)') $(tests)

clean: ##* removes what was built (not .venv)
	rm -rf "$(BUILD)"

# What else there is: the book, its pages' programs, and what learners, teachers and
# those who check and measure use.
include $(sort $(wildcard make/*.mk))
