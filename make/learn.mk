# ---- For learners: a copy in which exercises are empty, and what helps there.

.PHONY: student watch progress

student: ##* CHAPTER=02 DIR=work: a copy with these exercises empty: "02 03", 2.1, or all
	@tools/learn/student $(call quoted,$(CHAPTER)) $(call quoted,$(DIR))

watch: ##* builds and tests each time you save; shows what comes next, ? its keys
	@tools/learn/watch

progress: ## how far all exercises are
	@tools/learn/watch progress

# hint-2.1: ## the next hint, or HINT=1; solution-2.1: once solved; reset-2.1: empty again
hint-% solution-% reset-%:
	@tools/learn/watch $(subst -, ,$@)
