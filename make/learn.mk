# ---- For learners: a copy in which exercises are empty, and what helps there.

.PHONY: student watch progress mistakes

exercised := $(filter-out A_% B_% C_% D_%,$(names))

# What the mistakes that people make in a chapter's exercises make its tests tell: by it a
# learner, or a teacher, is told which mistake it may be.
known = $(foreach n,$(1),$(BUILD)/mistakes/$(call number,$n).json)
define mistakes_of
$(call known,$(1)): $(BUILD)/code/$(1).c $(BUILD)/tests/$(1).o
$(call known,$(1)): with = $(filter-out $(BUILD)/obj/$(1).o,$(call of,$(1))) $(before_$(1)) $(BUILD)/libsupport.a
$(call known,$(1)): $(filter-out $(BUILD)/obj/$(1).o,$(call of,$(1))) $(before_$(1)) $(BUILD)/libsupport.a
endef
$(foreach n,$(exercised),$(eval $(call mistakes_of,$n)))
$(call known,$(exercised)): $(BUILD)/mistakes/%.json: tests/learn/mistakes.txt \
  $(wildcard tools/learn/[DM]*.pm tools/learn/mistakes tools/*.pm)
	@mkdir -p $(@D)
	@$(trial) tools/learn/mistakes chapters/$*_*.c $@.new $(with) && $(moved)
trial = CC='$(CC)' FLAGS='$(FLAGS) $(CFLAGS) $(threaded)' LDFLAGS='$(LDFLAGS)' LDLIBS='$(LDLIBS) $(OPENMP)'

mistakes: $(call known,$(exercised)) ## plants the mistakes of tests/learn/mistakes.txt: each must have a name of its own

# The chapters of CHAPTER="02 3.1", or all.
asked = $(if $(filter all,$(CHAPTER)),$(exercised),$(foreach w,$(CHAPTER),\
  $(foreach n,$(firstword $(subst ., ,$w)),$(filter $n_% 0$n_%,$(exercised)))))
student: $$(call known,$$(asked)) ##* CHAPTER=02 DIR=work: a copy with these exercises empty: "02 03", 2.1, or all
	@tools/learn/student $(call quoted,$(CHAPTER)) $(call quoted,$(DIR))

watch: ##* builds and tests each time you save; shows what comes next, ? its keys
	@tools/learn/watch

progress: ## how far all exercises are
	@tools/learn/watch progress

# hint-2.1: ## the next hint, or HINT=1; solution-2.1: once solved; reset-2.1: empty again
hint-% solution-% reset-%:
	@tools/learn/watch $(subst -, ,$@)
