# ---- For teachers: handouts and grading.

.PHONY: handout autograder graders grade grade-all test-class test-tools

# The assignment is the file that CONF names, or else NAME.conf. The tool says which
# chapters are graded, for it or for CHAPTER; for these, graders are made.
ifneq ($(origin NAME),command line)
unexport NAME # some systems have one, for the machine's name
endif
conf    = "$${CONF:-$${NAME:+$$NAME.conf}}"
graded  = $$(tools/teach/grade --chapters $(conf))
make_graders = chapters=$(graded) && $(MAKE) -s $$(printf 'graders-%s ' $$chapters)
graders: ## what grades NAME=hw1 or CHAPTER=02
	+@$(make_graders)
grade: ## WORK=folder: grades what is in it for NAME=hw1 or CHAPTER=02; FORMAT
	+@$(make_graders)
	@tools/teach/grade "$$WORK" $(conf)
grade-all: ## DIR=folder with a folder, zip or file for each student; for NAME=hw1 or CHAPTER=02; OUT
	+@$(make_graders)
	@tools/teach/grade-all "$$DIR" "$${OUT:-$(BUILD)/grades/$${NAME:-$${CHAPTER:-all}}}" $(conf)
handout: $(BUILD)/pandoc.found ## NAME=hw1: what students get of the assignment hw1.conf, as build/handout/hw1.zip
	+@chapters=$(graded) && $(MAKE) -s $$(printf '$(BUILD)/mistakes/%s.json ' $$chapters)
	@$(dated) tools/teach/handout $(conf) '$(BUILD)/handout'
autograder: ## NAME=hw1: what grades it on Gradescope and GitHub, in build/autograder
	@tools/teach/autograder $(conf) '$(BUILD)/autograder'

# ---- Graders: the judge has a chapter's tests and the right values, the runner the submission
# and the chapters before. How calls go from one to the other: tools/teach/grader/remote.h.

grader := $(BUILD)/grader
graders-%: $(BUILD)/mistakes/%.json $$(foreach n,$$(call named,$$*),$(grader)/$$n.judge $(grader)/$$n.a \
  $(grader)/$$n.tests) $(grader)/run.o $(grader)/how ;

compile_grader = @mkdir -p $(@D) && $(compile) $(FLAGS_$*) -Itools/teach/grader $(object_args)
$(grader)/%.c: chapters/%.c tools/teach/grader/calls tools/Chapter.pm
	@mkdir -p $(@D)
	@tools/teach/grader/calls $< >$@
$(grader)/%.calls.o: $(grader)/%.c $(settings)
	$(compile_grader)
$(grader)/%.stubs.o: $(grader)/%.c $(settings)
	$(compile_grader) -DSTUBS
# The chapter itself, with other names for what is graded: by those the judge's stubs are called.
$(grader)/%.given.o: chapters/%.c $(grader)/%.c $(settings)
	$(compile_grader) -DGIVEN -include $(grader)/$*.c -Dmain=main_$(call number,$*)
$(grader)/%.o: tools/teach/grader/%.c $(settings)
	$(compile_grader)
$(grader)/%.judge: $(BUILD)/tests/%.o $(grader)/%.stubs.o $(grader)/%.given.o $(grader)/judge.o $$(call beside,$$*)
	$(link)

# The runner is as on a machine that has no other instruction sets. Nor does it have what
# the kernel makes of a chapter: its exercises are for the submission to do.
$(grader)/dispatch.o: src/kernel/dispatch.c $(settings)
	@mkdir -p $(@D)
	$(compile) $(openmp) $(object_args)
of_kernel = $(if $(filter %/19_flash_backward.o,$(before_$(1))),,\
  $(addprefix $(BUILD)/obj/,kernel/attend.o kernel/backward.o kernel/cache.o layers.o))
$(grader)/%.a: $(grader)/%.calls.o $(grader)/dispatch.o $$(filter-out \
               $(BUILD)/obj/kernel/dispatch.o $$(call of_kernel,$$*),$$(before_$$*) $(src_objects))
	@rm -f $@
	$(AR) rcs $@ $^

# How many tests an exercise has, and how C is compiled.
$(grader)/%.tests: $(BUILD)/tests/% $(grader)/%.c tools/teach/grader/tests
	@tools/teach/grader/tests $^ >$@
$(grader)/how: $(settings)
	@mkdir -p $(@D)
	@printf '%s\n' 'cc $(CC)' 'flags $(filter-out -Isrc -W%,$(FLAGS)) $(CFLAGS) $(pattern)' \
	  'flags.15_kernel $(filter-out -Isrc -W%,$(FLAGS)) $(CFLAGS) $(pattern) $(kernel_flags)' \
	  $(foreach n,$(names),$(if $(call has_kernel,$n),'libraries.$n $(openmp)')) >$@

# ---- The tests of what learners and teachers use

test-class: of_class := $(wildcard tests/learn/*.t tests/teach/*.t)
test-tools: of_class := $(patsubst %,tests/%.t,teach/class teach/handout learn/watch teach/report learn/diagnosis teach/assignment)
test-class: ## what learners and teachers use: student copies, hints, diagnosis, grading
test-tools: ## of these, one run of each tool, and a class that is graded
test-class test-tools: test-programs $(BUILD)/pandoc.found $(foreach n,$(exercised),graders-$(call number,$n))
	PANDOC=$(BUILD)/pandoc $(prove) $(of_class)
