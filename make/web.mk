# ---- The programs in the pages. A page has one module of WebAssembly, with its own
# program and, where the chapter has a workbench, that as well, so that what a page
# loads does not grow with the chapters. In tools/web, page.c begins what is asked for,
# NAME_part.c is a part of the program NAME.c, and page_say.c of all of these. -Oz makes
# two thirds of what -O2 makes, and as fast; what the fast chapters want to have put in
# place, for registers, of which there are none here, is left to it. A function's calls
# must have its type here, so that each main takes words.
#
# Whether clang makes modules is asked until it does. The first time that it
# does, the book is woven anew: a file that was not there makes none older.

wasm      := clang --target=wasm32-wasi
can_wasm   = [ -e $(BUILD)/web/can ] && command -v $(firstword $(wasm)) || \
  { mkdir -p $(BUILD)/web && echo 'int main(void) { return 0; }' | \
    $(wasm) -x c - -o $(BUILD)/web/can; }
modules    = $(if $(shell { $(can_wasm); } >/dev/null 2>&1 && echo yes),\
  $(packed) $(if $(wildcard $(packed)),,new-modules))
new-modules:
.PHONY: new-modules
without_modules = $(if $(modules),,rm -f $(packed); \
  echo "The pages cannot run programs: that takes clang, lld, wasi-libc and" \
    "libclang-rt-14-dev-wasm32 (or your clang's version)")

web       := $(basename $(notdir $(wildcard tools/web/*.c)))
own       := $(filter-out page,$(foreach n,$(web),$(if $(findstring _,$n),,$n)))
models    := $(patsubst src/models/%.safetensors,$(BUILD)/web/programs/model-%.js,$(wildcard src/models/*.safetensors))
packed    := $(foreach n,$(names) $(own),$(BUILD)/web/programs/$(call number,$n).js) $(models)

compile_wasm = $(wasm) $(FLAGS) -Oz -Dalways_inline= -Wno-unused-parameter \
  -D'main(...)=main_$(call number,$*)(int argc, char **argv)' $(object)
$(BUILD)/web/obj/%.o: $(BUILD)/code/%.c $(settings)
	@mkdir -p $(@D)
	$(compile_wasm)
$(BUILD)/web/obj/%.o: src/%.c $(settings)
	@mkdir -p $(@D)
	$(compile_wasm)
$(BUILD)/web/obj/%.o: tools/web/%.c $(settings)
	@mkdir -p $(@D)
	$(compile_wasm)

# A module, of objects that have the names of native ones; which of its programs is the
# workbench.
define module
$(BUILD)/web/programs/$(call number,$(1)).wasm: bench = $(if $(2),workbench,$(call number,$(1)))
$(BUILD)/web/programs/$(call number,$(1)).wasm: $(patsubst $(BUILD)/obj/%,$(BUILD)/web/obj/%,\
  $(filter-out $(sets:%=\%.%.o),$(call of,$(1)) $(if $(2),$(in_bench),$(before_$(1))) $(support)))
endef
in_bench  := $(patsubst %,$(BUILD)/obj/%.o,page_say $(filter workbench workbench_%,$(web))) $(objects)
before_inside := $(patsubst %,$(BUILD)/obj/%.o,page_say $(filter inside_%,$(web))) $(objects)
has_bench := $(basename $(notdir $(shell grep -l '^::: {.workbench' chapters/*.c))) workbench
$(foreach n,$(names) $(own),$(eval $(call module,$n,$(filter $n,$(has_bench)))))

$(BUILD)/web/programs/%.wasm: tools/web/page.c $(settings)
	@mkdir -p $(@D)
	$(wasm) $(FLAGS) -Oz -DPROGRAM=main_$* -DBENCH=main_$(bench) $(filter %.c %.o,$^) \
	  -Wl,--gc-sections,--strip-all,--compress-relocations,-z,stack-size=1048576 $(whole)

$(BUILD)/web/programs/%.js: $(BUILD)/web/programs/%.wasm $$(data_$$*) tools/web/pack tools/Pack.pm
	tools/web/pack programs/$* $(data_$*) <$< >$@.new && $(moved)

# A trained model, which a page loads when it is chosen.
$(models): $(BUILD)/web/programs/model-%.js: src/models/%.safetensors tools/web/pack tools/Pack.pm
	@mkdir -p $(@D)
	tools/web/pack programs/model-$* <$< >$@.new && $(moved)

-include $(wildcard $(BUILD)/web/obj/*.d $(BUILD)/web/obj/*/*.d)

# What runs in a page can be run in a terminal, too.
$(own:%=$(BUILD)/web/%): $(BUILD)/web/%: tools/web/%.c tools/web/page_say.c $$(wildcard tools/web/$$*_*.c) \
                         $$(wildcard tools/web/*.h) $(BUILD)/libattention.a $(settings)
	@mkdir -p $(@D)
	$(compile) -Wmissing-prototypes $(filter %.c,$^) $(link)

$(own): %: $(BUILD)/web/%
	@$(RUN_UNDER) $< $(ARGS)

# ---- The book in a browser: Chromium, Java, and Node with what npm sets up

browser := tests/web
check-book: ## the scripts' form, and every page in Chromium, as a reader uses it
check-pages: ## the browser tests of the gate, which tests/web/gate.mjs names
check-pages: some = gate
check-book check-pages: $(BUILD)/book/index.html $(BUILD)/web/inside $(browser)/node_modules/made
	$(biome) ci --colors=off
	node --test-reporter=spec $(browser)/all.mjs $(some)

format-scripts: $(browser)/node_modules/made ## gives all scripts the form that biome.json says
	$(biome) check --write --colors=off

# The one that npm has chosen for this machine.
biome = $(browser)/node_modules/@biomejs/*/biome

$(browser)/node_modules/made: $(browser)/package-lock.json
	@echo "Setting up what drives the browser in $(@D) (once)"
	npm ci --silent --prefix $(browser)
	@touch $@

.PHONY: check-book check-pages format-scripts $(own)
