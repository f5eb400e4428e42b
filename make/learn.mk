# ---- For learners: a copy in which exercises are empty, and what helps there.

.PHONY: student watch progress mistakes

# In such a copy `make` alone says how far all is. A body that is still empty uses none of
# its parameters. A variable without a value has a wrong one, each time.
ifneq ($(wildcard .book),)
.DEFAULT_GOAL := progress
FLAGS += -Wno-unused-parameter $(pattern)
lost := $(filter-out $(basename $(notdir $(wildcard chapters/*_*.c))),$(names))
.PHONY: $(lost:%=chapters/%.c)
$(lost:%=chapters/%.c): chapters/%.c:
	@id=$$(sed -n 's/^\($(patsubst 0%,%,$(call number,$*))\.[0-9]*\).*/\1/p' .book/exercises | head -n 1); \
	  echo "$@ is gone: make reset-$$id brings it back, with its exercises empty" >&2; exit 2
endif

# What the mistakes that people make in a chapter's exercises make its tests tell: by it a
# learner, or a teacher, is told which mistake it may be.
# Of the appendices, B has exercises.
exercised := $(filter-out A_% C_% D_%,$(names))
known      = $(foreach n,$(1),$(BUILD)/mistakes/$(call number,$n).json)
$(BUILD)/mistakes/%.json: tests/learn/mistakes.tsv tools/learn/mistakes $(wildcard tools/*.pm) tools/learn/Diagnosis.pm \
  $$(foreach n,$$(call named,$$*),chapters/$$n.c $(BUILD)/tests/$$n.o $$(call beside,$$n))
	@mkdir -p $(@D)
	@tools/learn/mistakes chapters/$*_*.c $@ $(call beside,$(call named,$*))

mistakes: $(call known,$(exercised)) ## plants the mistakes of tests/learn/mistakes.tsv: each must have a name of its own

# The chapters of CHAPTER="02 3.1", or all.
asked = $(if $(filter all,$(CHAPTER)),$(exercised),$(foreach w,$(CHAPTER),\
  $(foreach n,$(firstword $(subst ., ,$w)),$(filter $n_% 0$n_%,$(exercised)))))
student: $$(call known,$$(asked)) ##* CHAPTER=02 DIR=work: a copy with these exercises empty: "02 03", 2.1, or all
	@tools/learn/student "$$CHAPTER" "$$DIR"

watch: ##* builds and tests each time you save: h shows a hint, n goes on, q ends
	@tools/learn/watch

progress: ## how far all exercises are
	@tools/learn/progress

# hint-2.1: ## the next hint, or HINT=1; solution-2.1: once solved; reset-2.1: empty again
hint-% solution-% reset-%:
	@tools/learn/exercise $(subst -, ,$@)
