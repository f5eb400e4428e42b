# ---- The checks, which repeat the tests. A line says what is left out.
#   sanitized   with sanitizers, which also find memory that is not freed
#   valgrind    without chapter 23's program, which trains (its tests are run)
#   threads     the kernel's, with clang's OpenMP, which alone tells the sanitizer
#               for threads which thread waits for which
#   neon        the kernel's, on a processor of another kind
#   no-avx512   the kernel's, on a processor without AVX-512; no-avx: or AVX
check: ##* the gate: what every change must pass; PART="form test" for some parts
	@.ci/run gate $(PART)

.PHONY: check check-all check-sanitized check-clang check-valgrind check-threads \
        check-neon check-no-avx512 check-no-avx golden golden-check

check-all: ## every check there is; skips what has passed already; PART="clang valgrind" for some parts
	@.ci/run all $(PART)

sanitize := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
valgrind := valgrind -q --error-exitcode=99
arm64    := aarch64-linux-gnu
small    := TAP_SMALL=1 TAP_SECONDS=600
few       = tests='$(patsubst %,$(1)/tests/%,$(filter $(notdir $(tests)),$(speedy)))' test-c
speedy   := 06_scaling 14_flash 15_kernel 16_kv_cache 19_flash_backward attend backward cache kernels layers 22_gpt 23_language_model 24_inside gpt_file
try       = +@if { $(2); } >/dev/null 2>&1; then $(4); else echo "$(1): left out, for want of $(3)"; fi
without   = $(if $(sets),$(call try,Without $(1),command -v qemu-x86_64,qemu-user,$(small) \
  $(MAKE) RUN_UNDER='qemu-x86_64 -cpu $(2)' $(call few,$(BUILD))),@echo "This processor has no AVX anyway")
check-sanitized:
	TAP_SECONDS=120 $(MAKE) BUILD=$(BUILD)/sanitized CC=gcc CFLAGS='$(sanitize)' fastest=-O1 soon=-O0 test-c $(more)
check-clang:
	$(MAKE) BUILD=$(BUILD)/clang CC=clang CFLAGS=-O2 test-c chapters
check-valgrind:
	$(small) $(MAKE) BUILD=$(BUILD)/valgrind CC=gcc CFLAGS='-O1 -g' RUN_UNDER='$(valgrind)' test-c chapters \
	  checked='$(patsubst %,$(BUILD)/valgrind/run/%.ok,$(filter-out 23_language_model,$(names)))'
check-threads:
	$(call try,Threads,echo '$(hash)include <omp.h>' | clang -fopenmp -E -,libomp-14-dev, \
	  TSAN_OPTIONS=ignore_noninstrumented_modules=1 $(small) $(MAKE) \
	  BUILD=$(BUILD)/threads CC=clang CFLAGS='-O1 -g -fsanitize=thread' \
	  $(call few,$(BUILD)/threads))
check-neon:
	$(call try,NEON,command -v $(arm64)-gcc && command -v qemu-aarch64,gcc-$(arm64) and qemu-user, \
	  $(small) $(MAKE) BUILD=$(BUILD)/arm64 CC=$(arm64)-gcc AR=$(arm64)-ar \
	  RUN_UNDER='qemu-aarch64 -L /usr/$(arm64)' $(call few,$(BUILD)/arm64))
check-no-avx512:
	$(call without,AVX-512,max)
check-no-avx:
	$(call without,AVX,Nehalem)

# ---- Reference values, made by PyTorch. Nothing else needs it.

golden: .venv-golden/made ## makes golden/ again with PyTorch
	.venv-golden/bin/python golden/generate.py

golden-check: .venv-golden/made $(checked) ## makes it elsewhere and compares; runs the python blocks
	.venv-golden/bin/python golden/check.py

.venv-golden/made: golden/requirements.txt
	@echo "Setting up PyTorch in .venv-golden (once)"
	python3 -m venv .venv-golden
	.venv-golden/bin/pip install --quiet --disable-pip-version-check \
	  --no-compile -r golden/requirements.txt
	@touch $@
