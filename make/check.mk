# ---- The checks, which repeat the tests.

.PHONY: check check-all check-install check-sanitized check-clang check-valgrind check-threads \
        check-neon check-no-avx512 check-no-avx test-kernel golden golden-check

check: ##* the gate: what every change must pass; PART="form test" for some parts
	@NO_INSTALL=1 .ci/run gate $(PART)
check-all: ## every check there is; skips what has passed already; PART="clang valgrind" for some parts
	@NO_INSTALL=1 .ci/run all $(PART)
check-install: ## installs what the checks need, and says it: Debian's packages, and in this folder what pip and npm fetch; PART=all for check-all
	@.ci/run install $(PART)

# The tests of what is compiled for an instruction set, or waits for threads. The sizes are
# small, where each takes long.
kernel_tests := $(filter $(addprefix $(BUILD)/tests/,04_scaling 14_flash 15_kernel 16_kv_cache 19_flash_backward \
  attend backward cache kernels layers gpt gpt_training 22_gpt 23_language_model 24_inside gpt_file),$(tests))
slowly       := TAP_SMALL=1 TAP_SECONDS=600
test-kernel: $(kernel_tests) ## the tests of what is compiled for an instruction set, or waits for threads
	$(prove) $(if $(RUN_UNDER),--exec '$(RUN_UNDER)') $(kernel_tests)
# A check whose tools are missing is skipped, and says so.
needs = +@if { $(2); } >/dev/null 2>&1; then $(4); else echo "$(1): skipped; $(3) is not installed"; fi
without_avx = $(if $(sets),$(call needs,Without $(1),command -v qemu-x86_64,qemu-user,$(slowly) \
  $(MAKE) RUN_UNDER='qemu-x86_64 -cpu $(2)' test-kernel),@echo "This processor has no AVX anyway")

sanitize := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
arm64    := aarch64-linux-gnu
check-sanitized: ## with sanitizers, which also find memory that is not freed
	TAP_SECONDS=300 $(MAKE) BUILD=$(BUILD)/sanitized CC=gcc CFLAGS='$(sanitize)' KERNEL_OPTIMIZATION=-O1 TEST_OPTIMIZATION=-O0 test-c $(more)
check-clang: ## with clang
	$(MAKE) BUILD=$(BUILD)/clang CC=clang CFLAGS=-O2 test-c chapters
check-valgrind: ## without the programs of chapters 22 and 23, which train (their tests are run)
	$(slowly) $(MAKE) BUILD=$(BUILD)/valgrind CC=gcc CFLAGS='-O1 -g' RUN_UNDER='valgrind -q --error-exitcode=99' test-c \
	  $(patsubst %,$(BUILD)/valgrind/run/%.ok,$(filter-out 22_gpt 23_language_model,$(names)))
check-threads: ## the kernel's, with clang's OpenMP, which alone tells the sanitizer which thread waits for which
	$(call needs,Threads,echo '#include <omp.h>' | clang -fopenmp -E -,libomp-14-dev, \
	  TSAN_OPTIONS=ignore_noninstrumented_modules=1 $(slowly) $(MAKE) \
	  BUILD=$(BUILD)/threads CC=clang CFLAGS='-O1 -g -fsanitize=thread' test-kernel)
check-neon: ## the kernel's, on a processor of another kind
	$(call needs,NEON,command -v $(arm64)-gcc && command -v qemu-aarch64,gcc-$(arm64) and qemu-user, \
	  $(slowly) $(MAKE) BUILD=$(BUILD)/arm64 CC=$(arm64)-gcc AR=$(arm64)-ar \
	  RUN_UNDER='qemu-aarch64 -L /usr/$(arm64)' test-kernel)
check-no-avx512: ## the kernel's, on a processor without AVX-512
	$(call without_avx,AVX-512,max)
check-no-avx: ## ... or AVX
	$(call without_avx,AVX,Nehalem)

# ---- Reference values, made by PyTorch. Nothing else needs it.

golden: .venv-golden/made ## makes golden/ again with PyTorch
	.venv-golden/bin/python golden/generate.py

golden-check: .venv-golden/made $(checked) $(BUILD)/tests/gpt2_tokens ## makes it elsewhere and compares; runs the python blocks
	.venv-golden/bin/python golden/check.py

.venv-golden/made: golden/requirements.txt
	@echo "Setting up PyTorch in .venv-golden (once)"
	python3 -m venv .venv-golden
	.venv-golden/bin/pip install --quiet --disable-pip-version-check \
	  --no-compile -r golden/requirements.txt
	@touch $@
