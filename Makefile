# mlalint. `make help` says what there is; private flags go into local.mk (not committed).
-include local.mk

BUILD  ?= build
PREFIX ?= /usr/local
CC     ?= cc
CFLAGS ?= -O2 -g
WARN   := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
TOOL   := $(BUILD)/mlalint

# tree-sitter has a .pc file everywhere; -ltree-sitter is the fallback where it is older than that.
PACKAGES := libgit2 jansson tree-sitter
DEP_CFLAGS = $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
DEP_LIBS   = $(shell pkg-config --libs $(PACKAGES) 2>/dev/null)

# libclang has no .pc file. Only its headers are needed to build: it is loaded when it is used.
LLVM := $(shell sh scripts/setup.sh --libclang)
CLANG_CFLAGS = -isystem $(LLVM)/include -DMLA_LIBCLANG='"$(LLVM)/lib"'

GRAMMAR := build/grammar
LAYERS  := analyzer rules fixers engine engine/replay cli
SRC     := $(wildcard $(addsuffix /*.c,$(LAYERS)))
LIB_SRC := $(filter-out cli/main.c,$(SRC))
OBJ     := $(SRC:%.c=$(BUILD)/%.o)
LIB     := $(BUILD)/libmlalint.a
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o) \
           $(foreach l,python toml,$(BUILD)/grammar-$(l)/parser.o $(BUILD)/grammar-$(l)/scanner.o)
UNIT    := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support/*.c))

ALL_CFLAGS = -std=c11 -ffp-contract=off -D_DEFAULT_SOURCE -I. $(WARN) $(CFLAGS) $(DEP_CFLAGS) -MMD -MP
ALL_LIBS   = $(LDFLAGS) $(DEP_LIBS) -lpthread -lm -ldl

# V=1 shows the commands.
ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-4s %s\n'
endif

include engine/kernels.mk

.PHONY: help all setup demo test check-format sanitize test-upstream bench-scan install uninstall dist share clean
.PHONY: check-deps build-tests run-demo run-tests
.DEFAULT_GOAL := all

help:
	@echo 'make all            build $(TOOL); manual page and completions in $(BUILD)/share'
	@echo 'make setup          install what is missing for the build'
	@echo 'make demo           install what is missing, build, scan the bundled sample runtime'
	@echo 'make test           install what is missing, build, run every test'
	@echo 'make sanitize       make test under AddressSanitizer and UBSan'
	@echo 'make test-upstream  scan pinned public releases of mlx-lm and mlx-vlm (needs a package index)'
	@echo 'make bench-scan     time check against ripgrep and ast-grep on those releases'
	@echo 'make bench-engine   time the attention kernels against OpenBLAS, same instruction set'
	@echo 'make mac-check      on a Mac: every kernel on the GPU against strict mode, bit by bit'
	@echo 'make gpu-check      with CUDA=1: the same on an NVIDIA GPU'
	@echo 'make gpu-bench      with CUDA=1: where the two forms cross on an NVIDIA GPU'
	@echo 'make check-format   fail when clang-format would change a file'
	@echo 'make install        to $$(DESTDIR)$$(PREFIX), default $(PREFIX)'
	@echo 'make uninstall      from there'
	@echo 'make dist           archives of sources and program with checksums, in build/dist'
	@echo 'make clean          remove build/'
	@echo 'V=1 shows the commands'

all: $(TOOL) share

# Says what is missing and how to install it, instead of failing inside a compiler message.
check-deps:
	@sh scripts/setup.sh --check $(PACKAGES) libclang c++

# One fetch brings every grammar.
$(GRAMMAR)/python/parser.c: scripts/grammar.sh scripts/grammar.txt
	@sh scripts/grammar.sh $(GRAMMAR)

$(BUILD)/grammar-%.o: $(GRAMMAR)/python/parser.c
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(CC) -std=c11 -O2 -w $(filter -fsanitize%,$(CFLAGS)) -I$(GRAMMAR)/$(*D) \
		-c $(GRAMMAR)/$*.c -o $@

$(BUILD)/analyzer/clang.o $(BUILD)/analyzer/clang_%.o: DEP_CFLAGS += $(CLANG_CFLAGS)

# The engine stands alone: mac-check and gpu-check run where no library is installed.
$(filter-out $(BACKEND_OBJ) $(BENCH_OBJ),$(filter $(BUILD)/analyzer/% $(BUILD)/cli/%,$(LIB_OBJ))) \
		$(BUILD)/cli/main.o: | check-deps

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(LIB): $(LIB_OBJ)
	$(say) AR $@
	@rm -f $@
	$(Q)$(AR) rc $@ $^

$(TOOL): $(BUILD)/cli/main.o $(LIB)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $^ $(ALL_LIBS) -o $@

$(BUILD)/unit/%: tests/unit/%.c $(SUPPORT) $(LIB)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(ALL_CFLAGS) $< $(SUPPORT) $(LIB) $(ALL_LIBS) -lcmocka -o $@

$(BUILD)/replay_export $(BUILD)/toml_export: $(BUILD)/%: tests/%.c $(LIB)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(ALL_CFLAGS) $< $(LIB) $(ALL_LIBS) -o $@

build-tests: $(TOOL) $(UNIT) $(KERNEL_TESTS) $(BUILD)/toml_export $(BUILD)/replay_export share

setup demo test sanitize test-upstream bench-scan bench-engine: export DEBIAN_FRONTEND = noninteractive

setup:
	@sh scripts/setup.sh $(PACKAGES) libclang c++

demo: setup
	@$(MAKE) --no-print-directory run-demo

test:
	@sh scripts/setup.sh $(PACKAGES) libclang c++ cmocka
	@$(MAKE) --no-print-directory run-tests

run-demo: $(TOOL)
	@sh scripts/demo.sh $(TOOL)

run-tests: build-tests
	@sh tests/run.sh $(BUILD)

sanitize: export LSAN_OPTIONS = print_suppressions=0:suppressions=$(CURDIR)/tests/leaks.txt
sanitize:
	@sh scripts/setup.sh $(PACKAGES) libclang c++ cmocka
	@$(MAKE) --no-print-directory BUILD=build/sanitize run-tests \
		CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined'

test-upstream:
	@sh scripts/setup.sh $(PACKAGES) libclang c++
	@$(MAKE) --no-print-directory all $(BUILD)/replay_export
	@python3 tests/upstream.py $(TOOL) $(BUILD)/replay_export

bench-scan:
	@sh scripts/setup.sh $(PACKAGES) libclang c++
	@$(MAKE) --no-print-directory all
	@python3 tests/bench_scan.py $(TOOL)

check-format:
	@clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h' ':!testdata')

# What is installed besides the program is made from the table of options.
SHARE := $(addprefix $(BUILD)/share/,mlalint.1 mlalint.bash mlalint.zsh mlalint.fish)

$(BUILD)/options_text: scripts/options_text.c $(LIB)
	$(say) LD $@
	$(Q)$(CC) $(ALL_CFLAGS) $< $(LIB) $(ALL_LIBS) -o $@

$(BUILD)/share/mlalint.1: docs/mlalint.1.in $(BUILD)/options_text
	@mkdir -p $(@D)
	$(Q)$(BUILD)/options_text man docs/mlalint.1.in >$@.tmp && mv $@.tmp $@

$(BUILD)/share/mlalint.%: $(BUILD)/options_text
	@mkdir -p $(@D)
	$(Q)$(BUILD)/options_text $* >$@.tmp && mv $@.tmp $@

share: $(SHARE)

# Where each file goes; install and uninstall read the same list.
BIN_DIR  = $(DESTDIR)$(PREFIX)/bin
MAN_DIR  = $(DESTDIR)$(PREFIX)/share/man/man1
BASH_DIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSH_DIR  = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISH_DIR = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

install: all share
	install -d '$(BIN_DIR)' '$(MAN_DIR)' '$(BASH_DIR)' '$(ZSH_DIR)' '$(FISH_DIR)'
	install -m 755 $(TOOL) '$(BIN_DIR)/mlalint'
	install -m 644 $(BUILD)/share/mlalint.1 '$(MAN_DIR)/mlalint.1'
	install -m 644 $(BUILD)/share/mlalint.bash '$(BASH_DIR)/mlalint'
	install -m 644 $(BUILD)/share/mlalint.zsh '$(ZSH_DIR)/_mlalint'
	install -m 644 $(BUILD)/share/mlalint.fish '$(FISH_DIR)/mlalint.fish'

uninstall:
	rm -f '$(BIN_DIR)/mlalint' '$(MAN_DIR)/mlalint.1' '$(BASH_DIR)/mlalint' \
		'$(ZSH_DIR)/_mlalint' '$(FISH_DIR)/mlalint.fish'

dist: all share
	@sh scripts/dist.sh $(BUILD)

clean:
	rm -rf build

-include $(OBJ:.o=.d) $(UNIT:=.d) $(SUPPORT:.o=.d) $(wildcard $(BUILD)/tests/*.d)
