# ---- Speed: what this machine can do at most, and what each library makes of it.

.PHONY: roofline bench bench-compiles bench-train bench-book train train-dropout train-repeats train-page train-words mutants

# The part that is compiled once for each instruction set, with names of its own.
peaks := $(foreach s,plain $(sets),$(BUILD)/tools/roofline_peak.$s.o)
$(peaks): $(BUILD)/tools/roofline_peak.%.o: tools/measure/roofline_peak.c $(settings)
	@mkdir -p $(@D)
	$(compile) $(kernel_flags) $($*) -Dcompute_at_most=compute_at_most_$* -Dread_at_most=read_at_most_$* $(object_args)
$(BUILD)/tools/roofline: tools/measure/roofline.c $(peaks) $(BUILD)/libattention.a $(settings)
	$(compile) $(threaded) $< $(link_args)
roofline: $(BUILD)/tools/roofline ## what this machine can do at most: GFLOP/s, GB/s
	@$(RUN_UNDER) $< $(ARGS)

# The book's functions as a shared library, and bench.c, for each instruction set, with a
# kernel of its own that takes one tile of queries at a time.
bench_lib := $(BUILD)/bench-lib
shared    := -O2 -fPIC -fno-semantic-interposition
bench_libs := $(bench_lib)/attention.so $(foreach s,plain $(sets),$(bench_lib)/bench.$s.so)
bench: $(bench_libs) $(BUILD)/bench-venv/made $(BUILD)/tools/roofline ## its speed beside PyTorch's and others': CASES="tiny product" for a part
	CC='$(CC)' $(BUILD)/bench-venv/bin/python tools/measure/bench --build $(BUILD) \
	  $(if $(MEASURED),--measured "$$MEASURED") $(CASES)

$(bench_lib)/attention.so: $(objects) $(src_objects) $(kernel_units)
	$(MAKE) -s BUILD=$(bench_lib) CFLAGS='$(shared)' lib
	$(CC) -shared $(patsubst $(BUILD)/%,$(bench_lib)/%,$^) $(LDFLAGS) $(LDLIBS) $(openmp) -lm -o $@
$(bench_lib)/bench.%.so: tools/measure/bench.c tools/measure/roofline_peak.c $(bench_lib)/attention.so
	$(CC) $(FLAGS) $(shared) $(kernel_flags) $($*) -Dmain=main_15 -shared $(filter %.c,$^) \
	  $(LDFLAGS) $(bench_lib)/libattention.a $(LDLIBS) $(openmp) -lm -o $@
# Whether bench.c still fits what it is compiled with: the gate asks, and measures nothing.
bench-compiles: $(BUILD)/tools/roofline $(BUILD)/tools/bench_train
	$(compile) $(kernel_flags) -Dmain=main_15 -Werror -fsyntax-only tools/measure/bench.c

$(BUILD)/bench-venv/made: tools/measure/bench.txt
	@echo "Setting up PyTorch and onnxruntime in $(@D) (once)"
	python3 -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# ---- The long runs, of which the pages of chapters 23 and 24 tell.
$(addprefix $(BUILD)/tools/,train train_words halve bench_train): $(BUILD)/tools/%: tools/measure/%.c $(BUILD)/libattention.a $(settings)
	@mkdir -p $(@D)
	$(compile) $< $(link_args)
bench-train: $(BUILD)/tools/bench_train .venv-golden/made ## chapter 23's training beside the same in PyTorch
	@.venv-golden/bin/python tools/measure/bench-train --program $< $(if $(STEPS),--steps "$$STEPS")

# The training and its best model are in files of their own until all steps are done. A run
# of other sizes leaves the pages' logs alone.
train: gpt = $(BUILD)/gpt$(if $(SIZES),.own)
train: log = $(if $(SIZES),,src/data/trained.tsv)
train: sizes = $(SIZES)
train-dropout: gpt = $(BUILD)/gpt-dropout
train-dropout: log = src/data/trained-dropout.tsv
train-dropout: sizes = 4000 16 128 160 5 3 0 20
train-repeats: gpt = $(BUILD)/gpt-repeats
train-repeats: log = src/data/trained-repeats.tsv
train-repeats: sizes = 1600 16 128 160 5 3 1 0
train-page: gpt = $(BUILD)/gpt-page
train-page: halved = src/models/language.safetensors
train-page: sizes = 4000 16 128 112 4 2 1 0
train: ## chapter 23's long run, of some minutes; after Ctrl-C it goes on; SIZES="200 8 64 64 2 2 0 10"
train-dropout: ## chapter 23's long run, with dropout
train-repeats: ## chapter 24's shorter run, with texts that repeat themselves
train-page: $(BUILD)/tools/halve ## the workbench's language model, in 16 bits
train train-dropout train-repeats train-page: $(BUILD)/tools/train
	@rm -f $(gpt).tsv && $< $(gpt).training $(gpt).best $(gpt).tsv $(sizes)
	@[ ! -e $(gpt).tsv ] || { $(if $(log),mv $(gpt).tsv $(log);) mv $(gpt).best $(gpt).safetensors; rm $(gpt).training; \
	  $(if $(halved),$(BUILD)/tools/halve $(gpt).safetensors $(halved);) \
	  echo 'Try it: make -s run-23 ARGS="$(gpt).safetensors 84 104 101 32", make -s run-24 ARGS=$(gpt).safetensors'; }
train-words: $(BUILD)/tools/train_words ## the workbench's two models of chapter 21, in 16 bits
	@$< src/models/repeated.safetensors src/models/verbs.safetensors

# Where the time goes, in a folder of its own.
timed = +@bash -c 'TIMEFORMAT="$(1): %1R s"; time $(MAKE) -s BUILD=$(BUILD)/bench $(2) >/dev/null'
bench-book: $(BUILD)/book/index.html ## how long it takes: all, part by part, and after a change of chapter 07
	@rm -rf $(BUILD)/bench
	$(call timed,programs,programs)
	$(call timed,their outputs,chapters)
	$(call timed,the whole book is woven,book)
	@touch chapters/07_*.c
	$(call timed,make after a change of chapter 07,book)
	$(call timed,programs of the tests,test-programs)
	$(call timed,the tests,test)
	@rm -rf $(BUILD)/bench

# ---- Mistakes that are planted by rules. How a picture looks is for eyes.
mutable = $(names:%=chapters/%.c) $(filter-out src/kernel/dispatch.c src/support/figure% src/support/pen.c,$(sources))
mutants: $(tests) $(names:%=$(BUILD)/start/%.o) ## plants mistakes by rules: the tests must notice them; SAMPLE=3 of each file, FILES="src/gpt.c"
	@printf '%s\n' $(or $(FILES),$(mutable)) | xargs -P$(JOBS) -n1 tools/measure/mutants $(if $(SAMPLE),--sample "$$SAMPLE")
