# ---- The programs in the pages. A page has one module of WebAssembly, with its own
# program and, where the chapter has a workbench, that as well, so that what a page
# loads does not grow with the chapters. In tools/web, page.c begins what is asked for, and
# `shared` are parts of both the workbench and the look inside a trained model.

.PHONY: check-book check-pages format-scripts inside workbench

wasm    := clang --target=wasm32-wasi
own     := inside workbench
shared  := $(addprefix tools/web/,stages.c steps.c explain.c say.c)
of_inside    := tools/web/inside.c $(shared)
of_workbench := tools/web/workbench.c tools/web/figures.c $(shared)
models  := $(patsubst src/models/%.safetensors,$(BUILD)/web/programs/model-%.js,$(wildcard src/models/*.safetensors))
modules := $(foreach n,$(names) $(own),$(BUILD)/web/programs/$(call number,$n).js) $(models)
$(BUILD)/book/index.html: $(if $(has_wasm),$(modules))

# -Oz makes two thirds of what -O2 makes, and as fast; what the fast chapters want to have
# put in place, for registers, of which there are none here, is left to it.
for_pages = $(FLAGS) -Oz -Dalways_inline= -Wno-unused-parameter
compile_wasm = @mkdir -p $(@D) && $(wasm) $(for_pages) -Dmain=main_$(call number,$(*F)) $(object_args)
$(BUILD)/web/obj/%.o: chapters/%.c $(settings)
	$(compile_wasm)
$(BUILD)/web/obj/%.o: src/%.c $(settings)
	$(compile_wasm)
$(BUILD)/web/obj/%.o: tools/web/%.c $(settings)
	$(compile_wasm)

# What a module is made of: its chapter and those before it, or a program of tools/web and
# all chapters; and the workbench.
has_bench := workbench 02 03 05 08 09 10 12 13
for_wasm   = $(patsubst $(BUILD)/obj/%,$(BUILD)/web/obj/%,$(1))
of_program = $(of_$(1):tools/web/%.c=$(BUILD)/web/obj/%.o) $(call for_wasm,$(objects))
of_chapter = $(call for_wasm,$(foreach n,$(call named,$(1)),$(BUILD)/obj/$n.o $(before_$n)))
for_module = $(if $(filter inside,$(1)),$(call of_program,inside),$(if $(filter $(1),$(has_bench)),\
  $(call of_program,workbench),$(of_chapter))) $(call for_wasm,$(src_objects))
$(BUILD)/web/programs/%.wasm: tools/web/page.c $$(call for_module,$$*) $(settings)
	@mkdir -p $(@D)
	$(wasm) $(for_pages) -DPROGRAM=main_$(if $(filter $*,$(own)),stages,$*) \
	  -DBENCH=main_$(if $(filter $*,$(own) $(has_bench)),stages,$*) \
	  $(filter %.c %.o,$^) -Wl,--gc-sections,--strip-all,--compress-relocations,-z,stack-size=1048576 -o $@

$(BUILD)/web/programs/%.js: $(BUILD)/web/programs/%.wasm $$(data_$$*) tools/web/pack tools/Pack.pm
	tools/web/pack programs/$* $(data_$*) <$< >$@
# A trained model, which a page loads when it is chosen.
$(BUILD)/web/programs/model-%.js: src/models/%.safetensors tools/web/pack tools/Pack.pm
	@mkdir -p $(@D)
	tools/web/pack programs/model-$* <$< >$@

# What runs in a page can be run in a terminal, too.
$(own:%=$(BUILD)/web/%): $(BUILD)/web/%: $$(of_$$*) $(wildcard tools/web/*.h) $(BUILD)/libattention.a $(settings)
	@mkdir -p $(@D)
	$(compile) -Wmissing-prototypes $(filter %.c,$^) $(link_args)
$(own): %: $(BUILD)/web/%
	@$(RUN_UNDER) $< $(ARGS)

# ---- The book in a browser: Chromium, Java, and Node with what npm sets up

browser := tests/web
check-book: ## the scripts' form, and every page in Chromium, as a reader uses it
check-pages: ## the browser tests of the gate, whose titles say so
check-pages: export GATE = 1
check-book check-pages: $(BUILD)/book/index.html $(BUILD)/web/inside $(browser)/node_modules/made
	$(biome) ci --colors=off
	node --test --test-reporter=spec --test-concurrency=$${JOBS:-2} $(if $(filter check-pages,$@),--test-name-pattern=gate) $(browser)/*.test.mjs

format-scripts: $(browser)/node_modules/made ## gives all scripts the form that biome.json says
	$(biome) check --write --colors=off

# The one that npm has chosen for this machine.
biome = $(browser)/node_modules/@biomejs/*/biome

$(browser)/node_modules/made: $(browser)/package-lock.json
	@echo "Setting up what drives the browser in $(@D) (once)"
	npm ci --silent --prefix $(browser)
	@touch $@
