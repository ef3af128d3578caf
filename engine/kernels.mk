# The engine's kernels: every engine/kernels/*.metal is expanded, checked and turned into C++ by
# mslgen, then built once for each instruction set. A new file needs no edit here.
KERNELS    := $(patsubst engine/kernels/%.metal,%,$(wildcard engine/kernels/*.metal))
KERNEL_HDR := $(wildcard engine/kernels/*.h)
SHIM       := engine/shim/metal_stdlib engine/shim/abi.h
MSLGEN     := $(BUILD)/mslgen
GEN        := $(BUILD)/engine/gen

ARCH := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
ifneq ($(filter x86_64 amd64,$(ARCH)),)
ISAS := avx512 avx2 base
else ifneq ($(filter aarch64 arm64,$(ARCH)),)
ISAS := neon
else
ISAS := base
endif
ISA_avx512 := -mavx512f -mavx512vl -mavx512dq -mavx512bw -mavx2 -mfma
ISA_avx2   := -mavx2 -mfma
# Sixteen lanes on AVX2: what AVX-512 would compute, on machines without it; and contraction allowed,
# which must change nothing, because Metal and nvcc may contract (tests only).
ISA_wide   := -O1 -mavx2 -mfma -DFVBYTES=64 -ffp-contract=fast
# Both are for tests: quick to build.
ISA_strict := -O1 -DMSL_STRICT

# Either compiler will do. A sanitizer needs the run-time library of the C compiler, so there g++.
KCXX ?= $(firstword $(foreach c,clang++ g++,$(shell command -v $(c) 2>/dev/null)))
KERNEL_OPT := -O3
ifneq ($(findstring -fsanitize,$(CFLAGS)),)
KCXX := $(or $(shell command -v g++ 2>/dev/null),$(KCXX))
KERNEL_OPT := -O1 $(if $(findstring g++,$(notdir $(KCXX))),$(filter -fsanitize% -fno-sanitize%,$(CFLAGS)))
endif
# No contraction the source does not spell, no C++ run-time library, no C library header.
KERNEL_FLAGS := -std=c++14 $(KERNEL_OPT) -ffp-contract=off -fno-math-errno -fno-exceptions \
	-fno-rtti -fno-stack-protector -Wall -Wextra -Wno-unused-function -Wno-psabi \
	-Wno-ignored-attributes -Wno-misleading-indentation -I.
# g++ 12 takes vectors that are filled lane by lane for uninitialised.
KERNEL_FLAGS += $(if $(findstring clang,$(KCXX)),,-Wno-maybe-uninitialized)

KERNEL_OBJ := $(foreach k,$(KERNELS),$(foreach i,$(ISAS) strict,$(GEN)/$(k).$(i).o)) \
	$(GEN)/registry.o $(GEN)/flat.o
$(MSLGEN): $(patsubst %.c,$(BUILD)/%.o,$(wildcard engine/tools/msl*.c)) \
		$(BUILD)/analyzer/arena.o $(BUILD)/analyzer/error.o
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $^ -o $@

$(GEN)/%.i: engine/kernels/%.metal $(KERNEL_HDR)
	@mkdir -p $(@D)
	@$(CC) -E -xc -DMSLGEN -Iengine/kernels $< -o $@

$(GEN)/%.cpu.cc: $(GEN)/%.i $(MSLGEN)
	@$(MSLGEN) cpu $* <$< >$@ || { rm -f $@; exit 1; }

$(GEN)/%.strict.cc: $(GEN)/%.i $(MSLGEN)
	@$(MSLGEN) strict $* <$< >$@ || { rm -f $@; exit 1; }

define KERNEL_RULE
$(GEN)/%.$(1).o: $(GEN)/%.$(if $(filter strict,$(1)),strict,cpu).cc $(SHIM)
	$$(say) C++ $$@
	$$(Q)$$(KCXX) $$(KERNEL_FLAGS) $$(ISA_$(1)) -DMSL_ISA=$(1) -c $$< -o $$@
endef
$(foreach i,$(ISAS) strict wide,$(eval $(call KERNEL_RULE,$(i))))

$(GEN)/registry.c: $(MSLGEN) engine/kernels.mk
	@mkdir -p $(@D)
	@$(MSLGEN) registry $(foreach i,$(ISAS) strict,--isa $(i)) $(KERNELS) >$@

# CUDA is opt-in and a build of its own: make CUDA=1 BUILD=build/cuda gpu-check
NVCC       ?= nvcc
CUDA_ARCH  ?= sm_90
CUDA_FLAGS := -std=c++17 -O3 -fmad=false -arch=$(CUDA_ARCH) -I. -x cu --diag-suppress 177
ifneq ($(CUDA),)
CUDA_HOME  ?= $(patsubst %/bin/,%,$(dir $(shell command -v $(NVCC))))

KERNEL_OBJ += $(KERNELS:%=$(GEN)/%.cuda.o) $(GEN)/registry_cuda.o $(BUILD)/engine/cuda_runtime.o
LDFLAGS    += -L$(CUDA_HOME)/lib64 -lcudart_static -ldl -lrt -lstdc++
$(BUILD)/engine/backend_cuda.o: CFLAGS += -DMLA_CUDA
endif

LIB_OBJ += $(KERNEL_OBJ)

$(GEN)/%.cuda.cc: $(GEN)/%.i $(MSLGEN)
	@$(MSLGEN) cuda $* <$< >$@ || { rm -f $@; exit 1; }

$(GEN)/%.cuda.o: $(GEN)/%.cuda.cc $(SHIM) engine/shim/abi_cuda.h
	$(say) NVCC $@
	$(Q)$(NVCC) $(CUDA_FLAGS) -c $< -o $@

$(BUILD)/engine/cuda_runtime.o: engine/backend_cuda.cu engine/shim/abi_cuda.h
	@mkdir -p $(@D)
	$(say) NVCC $@
	$(Q)$(NVCC) $(CUDA_FLAGS) -c $< -o $@

$(GEN)/registry_cuda.c: $(MSLGEN) $(GEN)/kernels.list
	@$(MSLGEN) cuda-registry $(KERNELS) >$@
$(GEN)/registry_cuda.o: $(GEN)/registry_cuda.c
	$(say) CC $@
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

# All kernels as one text: Metal compiles from a string and has no include path.
$(GEN)/flat.c: $(MSLGEN) $(KERNEL_HDR) $(KERNELS:%=engine/kernels/%.metal)
	@mkdir -p $(@D)
	@$(MSLGEN) flat $(KERNELS:%=engine/kernels/%.metal) >$@

# The list of files is part of what registry.c and flat.c are made from.
$(GEN)/kernels.list: FORCE
	@mkdir -p $(@D)
	@echo '$(KERNELS) $(ISAS)' | cmp -s - $@ || echo '$(KERNELS) $(ISAS)' >$@
$(GEN)/registry.c $(GEN)/flat.c: $(GEN)/kernels.list

$(GEN)/registry.o $(GEN)/flat.o: $(GEN)/%.o: $(GEN)/%.c
	$(say) CC $@
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

.PHONY: FORCE
.PRECIOUS: $(GEN)/%.i $(GEN)/%.cpu.cc $(GEN)/%.strict.cc $(GEN)/%.cuda.cc

# Every kernel on any backend, with its hashes: what mac-check and gpu-check run. It stands on the
# backends alone, so that it also runs where no other library is installed.
BACKEND_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard engine/backend*.c)) \
	$(addprefix $(BUILD)/analyzer/,arena.o error.o geometry.o) $(KERNEL_OBJ)
BACKEND_LIBS = $(LDFLAGS) -lpthread -lm

$(BUILD)/kernel-check: $(BUILD)/tests/kernel_check.o $(SUPPORT) $(BACKEND_OBJ)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $^ $(BACKEND_LIBS) -o $@

ifneq ($(filter avx2,$(ISAS)),)
KERNEL_TESTS := $(BUILD)/kernel-check-wide
endif

# The same with sixteen lanes on AVX2 in place of the AVX-512 kernels.
$(GEN)/registry_wide.c: $(MSLGEN) $(GEN)/kernels.list
	@$(MSLGEN) registry --isa wide --isa strict $(KERNELS) >$@
$(GEN)/registry_wide.o: $(GEN)/registry_wide.c
	$(say) CC $@
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@
$(BUILD)/kernel-check-wide: $(BUILD)/tests/kernel_check.o $(SUPPORT) \
		$(filter-out $(GEN)/registry.o,$(BACKEND_OBJ)) \
		$(GEN)/registry_wide.o $(foreach k,$(KERNELS),$(GEN)/$(k).wide.o)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $^ $(BACKEND_LIBS) -o $@

# What bench is made of, but for the command line and JSON: also for machines without libraries.
BENCH_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard engine/bench*.c)) \
	$(addprefix $(BUILD)/cli/,bench_report.o bench_text.o)

$(BUILD)/bench-sweep: $(BUILD)/tests/bench_sweep.o $(BENCH_OBJ) $(BACKEND_OBJ)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $^ $(BACKEND_LIBS) -o $@

$(BUILD)/bench-engine: $(BUILD)/tests/bench_engine.o $(BENCH_OBJ) $(BACKEND_OBJ)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $^ $$(pkg-config --libs openblas) $(BACKEND_LIBS) -o $@
$(BUILD)/tests/bench_engine.o: DEP_CFLAGS += $(shell pkg-config --cflags openblas 2>/dev/null)

# Frameworks exist on a Mac only.
ifeq ($(shell uname -s),Darwin)
LDFLAGS += -framework Foundation -framework Metal -lobjc
endif

.PHONY: mac-check gpu-check gpu-bench bench-engine
# On a Mac: the GPU must give the bits of strict mode for every kernel.
mac-check: $(BUILD)/kernel-check
	$(BUILD)/kernel-check cpu-strict metal

gpu-check: $(BUILD)/kernel-check
	$(BUILD)/kernel-check --time cpu-strict cuda cpu

# What docs/measurements.md has of an NVIDIA GPU: sweeps for three public geometries, pooling, and
# a sparse layer. Every one runs, also after an invalid one.
gpu-bench: $(BUILD)/bench-sweep
	@rc=0; for sizes in 512/128/64/128 512/192/64/256 512/256/0/256; do \
		$(BUILD)/bench-sweep cuda $$sizes 8192,32768 || rc=1; \
	done; \
	$(BUILD)/bench-sweep cuda pool || rc=1; \
	$(BUILD)/bench-sweep cuda 512/256/0/256@2048 512,2048,8192,32768 || rc=1; \
	exit $$rc

bench-engine:
	@sh scripts/setup.sh c++ openblas
	@$(MAKE) --no-print-directory $(BUILD)/bench-engine
	@sh tests/bench_engine.sh $(BUILD)/bench-engine
