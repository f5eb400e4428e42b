# Attention in C: a book that compiles. `make help` lists what it can do.
# GNU make 3.81 or later, a C compiler and Perl.

BUILD  ?= build
CFLAGS ?= -O2
ifneq ($(words $(BUILD)),1)
$(error BUILD is "$(BUILD)"; it must be the name of one folder, without blanks)
endif

# What the compiler can do, how many processors there are: make/settings.sh asks each time
# that make begins, and make reads the answers. When they change, everything is made again.
-include $(BUILD)/settings.mk
JOBS := $(or $(JOBS),$(processors),2)
MAKEFLAGS += --no-builtin-rules --no-print-directory $(if $(filter 0,$(MAKELEVEL)),-j$(JOBS))
# Threads that wait leave the cores to what runs beside them.
export OMP_WAIT_POLICY ?= passive
export BUILD JOBS MAKE RUN_UNDER

.SECONDEXPANSION: # $$ in a rule's prerequisites is for when the rule is used
.DELETE_ON_ERROR: # a rule that fails leaves no half-made target
.SECONDARY:       # nothing that was made on the way is removed
.PHONY: book programs lib run test test-programs test-c chapters help help-all clean ask

# ---- What there is. Chapters come first, then the appendices.

names    := $(sort $(basename $(notdir $(wildcard chapters/*_*.c .book/*_*.c))))
sources  := $(filter-out src/kernel/instruction_set.c,$(sort $(wildcard src/*.c src/*/*.c)))
headers  := $(wildcard src/*.h src/*/*.h)
perl_tests := $(sort $(wildcard tests/*.t))
programs := $(names:%=$(BUILD)/chapters/%)
printed  := $(names:%=$(BUILD)/printed/%.txt)
checked  := $(names:%=$(BUILD)/run/%.ok)
tests    := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/*.c)))
trainer  := $(patsubst tools/measure/%.c,$(BUILD)/tools/%,$(wildcard tools/measure/train.c)) $(patsubst tools/%.c,$(BUILD)/tools/%,$(wildcard tools/write.c))
number    = $(firstword $(subst _, ,$(1)))
named     = $(filter $(1)_%,$(names))

# The files that a chapter's program reads.
data_11  := src/data/batches.tsv
data_15  := src/data/measured.tsv
data_16  := $(data_15)
data_21  := golden/21_training.tsv
data_23  := $(addprefix src/data/,prose.txt held_out.txt trained.tsv trained-book.tsv trained-dropout.tsv written.txt)
data_25  := golden/gpt2_tokens.tsv $(addprefix src/data/,prose.txt held_out.txt)
data_24  := $(addprefix src/data/,held_out.txt trained.tsv trained-repeats.tsv)

objects  := $(names:%=$(BUILD)/obj/%.o)
src_objects := $(sources:src/%.c=$(BUILD)/obj/%.o)
# The kernel, chapter 15, compiled once more for each instruction set.
kernel_units := $(if $(filter 15_kernel,$(names)),$(sets:%=$(BUILD)/obj/kernel/instruction_set.%.o))

# What is linked with a chapter: the chapters before it, as before_07, and all of src; from
# chapter 15 on, the kernel's units as well. Appendix B, random numbers, needs chapters 1
# to 3, and all later ones may use it.
before   :=
first    := $(filter 01_% 02_% 03_%,$(names)) $(filter B_%,$(names))
$(foreach n,$(first) $(filter-out $(first),$(names)),\
  $(eval before_$n := $(before))$(eval before += $(BUILD)/obj/$n.o))
has_kernel = $(filter %/15_kernel.o,$(before_$(1)) $(BUILD)/obj/$(1).o)
beside     = $(before_$(1)) $(BUILD)/lib$(if $(has_kernel),kernel,support).a

# ---- What can be asked for. help tells the lines with ##*, which readers need, and
# help-all those with ##, too.

book: $(BUILD)/book/index.html ##* the book: programs, their output checked, its pages
programs: $(programs) ## the chapters' programs alone
lib: $(BUILD)/libattention.a ##* all functions of the book, for programs of your own
	@$(if $(openmp),:,echo "$(CC) has no OpenMP: the kernel will use one thread")

# run-02: ##* one chapter's program; ARGS="..." are its arguments, -s is quiet
# test-02: ##* one chapter's tests, and how far its exercises are
# test-layers: ## the tests of a file of src
# A chapter without functions of its own has outputs alone. And run-2 is run-02.
numbered = $(or $(call named,$(1)),$(call named,0$(1)),$(filter $(1),$(notdir $(tests))),no-chapter-$(1))
tested   = $(or $(filter $(BUILD)/tests/$(1),$(tests)),$(BUILD)/run/$(1).ok)
run-%: $$(BUILD)/chapters/$$(call numbered,$$*)
	@$(RUN_UNDER) $< $(ARGS)
test-%: $$(call tested,$$(call numbered,$$*))
	@$(if $(filter %.ok,$<),echo "$(basename $(<F)) has no functions of its own; its outputs are right", \
	  $(if $(filter $(<F),$(names)),tools/learn/explain chapters/$(<F).c $<,$(prove) $<))

run: $(programs) ##* all programs, in order
	@for name in $(names); do echo "---- $$name"; \
	  $(RUN_UNDER) $(BUILD)/chapters/$$name $(ARGS) || exit; done

# A warning of Perl fails a test. .proverc says where modules are. A learner's endless loop
# ends soon; what is right has time on a busy machine, too.
prove = PERL5LIB="$$PWD/tests" PERL5OPT=-MLoud TAP_SECONDS=$${TAP_SECONDS:-60} prove -j$(JOBS)
# Those that take longest begin first.
slow_tests := $(BUILD)/tests/train $(BUILD)/tests/safetensors tests/tap.t tests/gpt.t tests/form.t
test: test-programs ##* the tests of the book: needs neither Python nor a network
	$(prove) $(filter $(slow_tests),$(perl_tests) $(tests)) $(filter-out $(slow_tests),$(perl_tests) $(tests))
	@$(MAKE) chapters
test-c: $(tests) ## the tests of the C code alone
	$(prove) $(if $(RUN_UNDER),--exec '$(RUN_UNDER)') $(tests)
test-programs: $(programs) $(printed) $(tests) $(trainer) ## what make test runs, without running it
chapters: $(checked) ## the programs' outputs, held against the text

clean: ##* removes what was built (not .venv)
	rm -rf "$(BUILD)"
help: which = \*
help-all: which = \*?
help: ##* this list
help-all: ##* all targets: what teachers, authors and checks use, too
help help-all:
	@perl -ne 'printf "  make %-14s %s\n", $$1, $$2 if /^(?:# )?(\S+):.*?##$(which) (.*)/' \
	  Makefile $(sort $(wildcard make/*.mk))

# ---- How C is compiled. Some files have flags of their own.

FLAGS := -std=c11 -Wall -Wextra -Wshadow -Werror=implicit-function-declaration \
         -ffp-contract=off -Isrc
KERNEL_OPTIMIZATION := -O3
# Tests should compile fast rather than run fast, unless CFLAGS says how.
TEST_OPTIMIZATION   := $(if $(filter file,$(origin CFLAGS)),-O0)
# Without OpenMP, no pragma uses a number of threads.
threaded  := $(or $(openmp),-fopenmp-simd -Wno-unused-parameter)
fast_math := $(KERNEL_OPTIMIZATION) -fno-trapping-math -fno-math-errno
kernel_flags := $(fast_math) -ffp-contract=fast $(threaded)
avx2      := -march=x86-64-v3
avx512    := -march=x86-64-v4 -mprefer-vector-width=512

FLAGS_15_kernel         := $(kernel_flags)
FLAGS_kernel/attend     := $(kernel_flags)
FLAGS_kernel/backward   := $(kernel_flags)
FLAGS_kernel/cache      := $(kernel_flags)
FLAGS_kernel/dispatch   := $(openmp) $(sets:%=-DHAS_%)
FLAGS_support/machine   := $(openmp)
FLAGS_19_flash_backward := $(threaded)
FLAGS_22_gpt            := $(fast_math)
FLAGS_gpt               := $(fast_math)
FLAGS_layers            := $(fast_math) $(threaded)
FLAGS_gpt_training      := $(KERNEL_OPTIMIZATION) $(threaded)

compile = $(CC) $(FLAGS) $(CFLAGS)
object_args = -MMD -MP -c $< -o $@
# Tests and tools that compile do it in the same way.
export COMPILE = $(compile) $(threaded)
export LINK    = $(LDLIBS) $(openmp) -lm $(LDFLAGS)
link_args = $(LDFLAGS) $(filter %.o %.a,$^) $(LDLIBS) $(openmp) -lm -o $@
link    = $(CC) $(CFLAGS) $(link_args)

settings := Makefile $(BUILD)/settings.mk $(if $(wildcard .book),make/learn.mk)
$(BUILD)/settings.mk: ask
	@mkdir -p $(@D)
	@new=$@.$$$$; { echo '# $(names) $(sources)'; \
	  sh make/settings.sh $(CC) -x c - -x none $(CFLAGS) $(LDFLAGS) $(LDLIBS); } >$$new; \
	  if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi # several makes may run here

# A chapter is compiled as it stands. Its main gets a name of its own, main_07; its program
# is tools/start.c, which calls that, linked with the chapters before.
$(BUILD)/obj/%.o: chapters/%.c $(settings)
	@mkdir -p $(@D)
	$(compile) -Wcast-qual $(FLAGS_$*) -Dmain=main_$(call number,$*) $(object_args) || { tools/learn/explain $<; exit 1; }
$(BUILD)/start/%.o: tools/start.c $(settings)
	@mkdir -p $(@D)
	$(compile) -DPROGRAM=main_$(call number,$*) $(object_args)
$(BUILD)/chapters/%: $(BUILD)/start/%.o $(BUILD)/obj/%.o $$(call beside,$$*)
	@mkdir -p $(@D)
	$(link)

$(BUILD)/obj/%.o: src/%.c $(settings)
	@mkdir -p $(@D)
	$(compile) -Wcast-qual -Wmissing-prototypes $(FLAGS_$*) $(object_args)
$(BUILD)/obj/kernel/instruction_set.%.o: src/kernel/instruction_set.c $(settings)
	@mkdir -p $(@D)
	$(compile) $(kernel_flags) $($*) -DSET=$* $(object_args)

$(BUILD)/libsupport.a: $(src_objects)
$(BUILD)/libkernel.a: $(src_objects) $(kernel_units)
$(BUILD)/libattention.a: $(objects) $(src_objects) $(kernel_units)
$(BUILD)/lib%.a:
	@rm -f $@
	$(AR) rcs $@ $^

# A chapter's tests are linked with the chapters before it, and need no later one.
$(BUILD)/tests/%.o: tests/%.c $(settings)
	@mkdir -p $(@D)
	$(compile) $(threaded) $(TEST_OPTIMIZATION) $(object_args)
$(BUILD)/tests/%: $(BUILD)/tests/%.o $$(if $$(filter $$*,$(names)), \
                  $(BUILD)/obj/$$*.o $$(call beside,$$*),$(BUILD)/libattention.a)
	$(link)

# What a program prints with all digits, what it refuses among it, and its figures: several
# tests read it. cat tells of a full disk.
$(BUILD)/printed/%.txt: figures = $(BUILD)/printed/$(call number,$*)
$(BUILD)/printed/%.txt: $(BUILD)/chapters/% $$(data_$$(call number,$$*))
	@rm -rf $(figures) && mkdir -p $(figures)
	@DIGITS=9 FIGURES=$(figures) $(RUN_UNDER) $< 2>&1 | cat >$@

# What each object was made from, as the compiler has found it. These files and the
# makefiles are made by no rule: make need not look for one.
depends := $(wildcard $(addprefix $(BUILD)/,*/*.d obj/*/*.d web/obj/*.d web/obj/*/*.d))
-include $(depends)
$(depends) Makefile $(wildcard make/*.mk): ;

# What else there is: the book, its pages' programs, and what learners, teachers and
# those who check and measure use.
include $(sort $(wildcard make/*.mk))
