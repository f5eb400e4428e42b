# ---- Speed: what this machine can do at most, and what each library makes of it.

.PHONY: roofline bench bench-compiles bench-train bench-book train train-dropout train-repeats train-page train-words mutants

# The part that is compiled once for each instruction set.
roofline_sets := $(BUILD)/tools/roofline_peak.o $(sets:%=$(BUILD)/tools/roofline_peak.%.o)
$(BUILD)/tools/roofline_peak.o: CFLAGS += $(CFLAGS_fast)
$(BUILD)/tools/roofline_peak.o: tools/measure/roofline_peak.c $(settings)
	@mkdir -p $(@D)
	$(compile) $(object)
$(BUILD)/tools/roofline_peak.%.o: tools/measure/roofline_peak.c $(settings)
	@mkdir -p $(@D)
	$(compile) $(CFLAGS_fast) $(march_$*) -Dcompute_at_most=compute_at_most_$* \
	  -Dread_at_most=read_at_most_$* $(object)
$(BUILD)/tools/roofline: tools/measure/roofline.c $(roofline_sets) $(BUILD)/libattention.a $(settings)
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
	CC='$(CC)' $(BUILD)/bench-venv/bin/python tools/measure/bench --build $(BUILD) \
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
	$(CC) $(FLAGS) $(CFLAGS_fast) -Werror -DKERNEL='"$(abspath $<)"' -fsyntax-only tools/measure/bench.c
$(bench_lib)/bench.%.so: tools/measure/bench.c tools/measure/roofline_peak.c $(bench_lib)/one_tile.c $(bench_lib)/attention.so
	$(CC) $(FLAGS) $(shared) $(CFLAGS_fast) $(march_$*) \
	  -DKERNEL='"$(abspath $(bench_lib)/one_tile.c)"' -shared $(filter tools/%.c,$^) \
	  $(LDFLAGS) $(bench_lib)/libattention.a $(LDLIBS) $(OPENMP) -lm $(whole)

$(BUILD)/bench-venv/made: tools/measure/bench.txt
	@echo "Setting up PyTorch and onnxruntime in $(@D) (once)"
	python3 -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# The long runs of chapters 23 and 24, and steps of the first; PyTorch is that of the golden values.
trainer := $(patsubst tools/measure/%.c,$(BUILD)/tools/%,$(wildcard tools/measure/train.c))
$(addprefix $(BUILD)/tools/,train train_words halve bench_train): $(BUILD)/tools/%: tools/measure/%.c $(BUILD)/libattention.a $(settings)
	@mkdir -p $(@D)
	$(compile) $< $(link)

bench-train: $(BUILD)/tools/bench_train .venv-golden/made ## chapter 23's training beside the same in PyTorch
	@.venv-golden/bin/python tools/measure/bench-train --program $< $(if $(STEPS),--steps $(call quoted,$(STEPS)))

# ---- The long runs, of which the pages of chapters 23 and 24 tell.

# The training and its best model stand in files of their own until all steps are
# done; then this model is for run-23. A run of other sizes leaves the pages' logs alone.
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
train-words: $(BUILD)/tools/train_words ## the workbench's two models of chapter 21, in 16 bits
	@$< src/models/repeated.safetensors src/models/verbs.safetensors
train train-dropout train-repeats train-page: $(BUILD)/tools/train
	@rm -f $(gpt).tsv
	@$< $(gpt).training $(gpt).best $(gpt).tsv $(call each,$(sizes))
	@[ ! -e $(gpt).tsv ] || { $(if $(log),mv $(gpt).tsv $(log);) mv $(gpt).best $(gpt).safetensors; rm $(gpt).training; \
	  $(if $(halved),$(BUILD)/tools/halve $(gpt).safetensors $(halved);) \
	  echo 'Try it: make -s run-23 ARGS="$(gpt).safetensors 84 104 101 32", make -s run-24 ARGS=$(gpt).safetensors'; }

# Where the time goes, in a folder of its own: all that `make` and `make test` do,
# part by part, and what `make` does after a change of one chapter (07).
seconds = perl -MTime::HiRes=time -e 'my ($$what, @command) = @ARGV;' \
  -e 'open my $$out, ">&", *STDOUT; open STDOUT, ">", "/dev/null"; my $$from = time;' \
  -e 'system(@command) == 0 or exit 1; printf $$out "%-36s %4.1f s\n", $$what, time - $$from'
one   = $(or $(CHAPTER),07)
bench = $(BUILD)/bench
part  = +@$(seconds) $(1) $(MAKE) -s BUILD=$(bench) $(2)
bench-book: $(BUILD)/book/index.html $$(browser)/node_modules/made ## how long it takes: all, part by part, and after a change of a chapter
	@rm -rf $(bench)
	$(call part,'programs',programs)
	$(call part,'their outputs',chapters)
	$(if $(modules),$(call part,'their modules',$(patsubst $(BUILD)/%,$(bench)/%,$(packed))))
	$(call part,'the whole book is woven',book)
	@touch chapters/$(one)_*.c
	$(call part,'make after a change of chapter $(one)',book)
	$(call part,'programs of the tests',test-programs)
	$(call part,'the tests',test)
	@node $(browser)/slider.mjs
	@rm -rf $(bench)


# ---- Mistakes that are planted by rules

# How a picture looks is for eyes.
mutable = $(names:%=chapters/%.c) $(filter-out src/kernel/kernels.c, \
          $(filter-out src/support/figure%,$(wildcard src/*.c src/*/*.c)))
mutants: $(tests) ## plants mistakes by rules: the tests must notice them; SAMPLE=3 of each file, FILES="src/gpt.c"
	@printf '%s\n' $(if $(FILES),$(call each,$(FILES)),$(mutable)) | \
	  $(trial) xargs -d '\n' -P$(JOBS) -n1 tools/measure/mutants $(if $(SAMPLE),--sample $(call quoted,$(SAMPLE)))
