# ---- For teachers: worksheets, quizzes, handouts.

.PHONY: handout autograder worksheet quiz graders grade grade-all test-class test-tools

# What tells the tasks of worksheets.
$(BUILD)/tools/worksheet: $(wildcard tools/teach/worksheets/*.[ch]) $(BUILD)/libattention.a $(settings)
	@mkdir -p $(@D)
	$(compile) -Wmissing-prototypes $(filter %.c,$^) $(link)

handout: $(BUILD)/pandoc.found $$(if $$(NAME)$$(CONF),$$(call known,$$(graded))) ## NAME=hw1: what students get of the assignment hw1.conf, as build/handout/hw1.zip
	@SOURCE_DATE_EPOCH=$(paper_epoch) tools/teach/handout $(conf) '$(BUILD)/handout' $(call quoted,$(PAPER))

autograder: ## NAME=hw1: what grades it on Gradescope and GitHub, in build/autograder
	@SOURCE_DATE_EPOCH=$(paper_epoch) tools/teach/autograder $(conf) '$(BUILD)/autograder'

# For a chapter that has no worksheets, nothing is made to say so.
has_sheets = $(filter tasks_$(CHAPTER) tasks_0$(CHAPTER),$(shell grep -o 'tasks_[0-9]*' tools/teach/worksheets/main.c))
worksheet: $$(if $$(has_sheets),$(BUILD)/tools/worksheet $(BUILD)/pandoc.found) ## CHAPTER=03 SEED=7 COPIES=30: sheets with other numbers on each, and the answers
	@tools/teach/worksheet $(call quoted,$(CHAPTER)) $(call quoted,$(SEED)) $(call quoted,$(COPIES)) $(call quoted,$(PAPER))

quiz: $(BUILD)/pandoc.found ## CHAPTER=03: its questions as a sheet, and the answers
	@tools/teach/quiz $(call quoted,$(CHAPTER)) $(call quoted,$(PAPER))

# ---- Grading: the judge has a chapter's tests and what is due, the runner the
# submission and the chapters before. Calls go from one to the other.

# Those of what is graded, as the tool has it, or all.
wanted    = $(eval wanted := $(shell CHAPTER=$(call quoted,$(CHAPTER)) tools/teach/grade --chapters $(call quoted,$(WORK)) $(conf) 2>/dev/null))$(wanted)
graded    = $(if $(filter grade grade-all,$(MAKECMDGOALS))$(CHAPTER)$(NAME)$(CONF),$(foreach n,$(wanted),$(filter $(n)_%,$(exercised))),$(exercised))
grader    = $(BUILD)/grader
graders   = $(if $(graded),$(call known,$(graded)) $(foreach n,$(graded),$(addprefix $(grader)/$(n).,judge a tests)) \
  $(addprefix $(grader)/,run.o how confined))
named     = $$(perl -ne '/^    \{"(\w+)"/ and print " -D$$1=$${1}_given"' $(1))

$(grader)/%.c: chapters/%.c tools/teach/grader/calls tools/Chapter.pm
	@mkdir -p $(@D)
	@tools/teach/grader/calls $< >$@.new && $(moved)
$(grader)/%.calls.o: $(grader)/%.c tools/teach/grader/remote.h $(headers) $(settings)
	$(compile) -Itools/teach/grader $(object)
$(grader)/%.stubs.o: $(grader)/%.c tools/teach/grader/remote.h $(headers) $(settings)
	$(compile) -Itools/teach/grader -DJUDGE $(object)
$(grader)/%.given.o: $(BUILD)/code/%.c $(grader)/%.c $(settings)
	$(compile) -Dmain=main_given $(call named,$(grader)/$*.c) $(object)
$(grader)/%.o: tools/teach/grader/%.c tools/teach/grader/remote.h $(headers) $(settings)
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
	@$(if $(CHAPTER)$(NAME)$(CONF),tools/teach/grade --chapters '' $(conf) >/dev/null)

conf = $(call quoted,$(or $(CONF),$(if $(NAME),$(NAME).conf)))
grade: $$(graders) ## WORK=folder: grades what is in it for NAME=hw1, CHAPTER=02, or what it asks for itself; FORMAT
	@tools/teach/grade $(call quoted,$(WORK)) $(conf)

grade-all: $$(graders) ## DIR=folder with a folder, zip or file for each student; for NAME=hw1 or CHAPTER=02; OUT
	@tools/teach/grade-all $(call quoted,$(DIR)) $(call quoted,$(or $(OUT),$(BUILD)/grades/$(or $(NAME),$(CHAPTER),all))) $(conf)

# ---- The tests of what learners and teachers use

test-class: of_class := $(wildcard tests/learn/*.t tests/teach/*.t tests/measure/*.t) tests/weave/new_chapter.t
test-tools: of_class := $(patsubst %,tests/%.t,teach/class teach/worksheet teach/handout learn/watch teach/report learn/diagnosis teach/assignment weave/new_chapter)
test-class: ## what learners and teachers use: student copies, hints, diagnosis, grading, worksheets
test-tools: ## of these, one run of each tool, and a class that is graded
test-class test-tools: test-programs $(BUILD)/pandoc.found $(BUILD)/tools/worksheet graders
	PANDOC=$(BUILD)/pandoc $(prove) -j$(JOBS) $(of_class)
