# SPDX-License-Identifier: Apache-2.0
# The one Makefile. `make help` lists what it does; all output lands in build/.

PKG     ?= fastify@5.12.4
B       := build
CC      ?= cc
CLANG   ?= clang
BPFTOOL ?= bpftool
PREFIX  ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

# ---- Set-up ---------------------------------------------------------------------------
PACKAGES := build-essential pkg-config clang llvm bpftool libbpf-dev libelf-dev zlib1g-dev \
	libnghttp2-dev libnl-3-dev libnl-route-3-dev libnl-nf-3-dev libjansson-dev libssl-dev \
	libseccomp-dev libcap-dev runc ca-certificates iproute2
# What the tests need beside them.
TEST_PACKAGES := libcriterion-dev libclang-rt-dev libjemalloc2 strace python3-jsonschema podman musl \
	bind9-dnsutils curl git netcat-openbsd openssh-client openssl python3-pip wget \
	gcc-aarch64-linux-gnu qemu-user nftables iputils-ping
# qp of arm64, which replays logs under qemu-user, is built with these, unpacked into build/arm64/.
ARM64_PACKAGES := libc6-dev $(filter lib%-dev zlib1g-dev,$(PACKAGES))
# What check-vm needs beside them. The kernels are unpacked into build/vm/, never installed.
VM_PACKAGES := qemu-system-x86 busybox-static kmod xz-utils crun
VM_KERNELS  := linux-image-amd64 linux-image-6.12-amd64
# Node.js comes from Debian unless a node with an npm is here already.
NODE_PACKAGES := $(shell command -v node >/dev/null && command -v npm >/dev/null || echo nodejs npm)

LIBS_PC := libbpf libelf zlib libnl-3.0 libnl-route-3.0 libnl-nf-3.0 jansson libcrypto libseccomp libcap libnghttp2

CPPFLAGS += -D_GNU_SOURCE -I. -I$(B) -DQP_VERSION='"$(VERSION)"'
CFLAGS   ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
	$(if $(CI),-Werror)
ALL_CFLAGS = -std=gnu17 $(WARNINGS) $(CFLAGS) $(PC_CFLAGS)
# Recursive, so that pkg-config is asked only when something is compiled, after `deps`.
PC_CFLAGS = $(eval PC_CFLAGS := $$(shell pkg-config --cflags $(LIBS_PC)))$(PC_CFLAGS)
# Only the sinkhole serves TLS.
SSL_LIBS  = $(if $(filter $(LIBSINK),$^),$$(pkg-config --libs libssl))
PC_LIBS   = $(eval PC_LIBS := $$(shell pkg-config --libs $(LIBS_PC)))$(PC_LIBS)

# ---- What there is --------------------------------------------------------------------
# A program's main file; every other .c of a folder goes into that folder's library.
PROGRAMS      := qp qp-collect qp-sinkhole
MAIN_qp          := tools/qp.c
MAIN_qp-collect  := tools/collect/qp-collect.c
MAIN_qp-sinkhole := sinkhole/qp-sinkhole.c
STATIC_PROGRAMS  := qp-init

FOLDERS := base collector sinkhole rules tools
INIT_SRC := $(wildcard tools/init/*.c)
ALL_SRC  := $(foreach f,$(FOLDERS),$(wildcard $(f)/*.c) $(wildcard $(f)/*/*.c))
LIB_SRC  := $(filter-out $(INIT_SRC) sinkhole/% $(foreach p,$(PROGRAMS),$(MAIN_$(p))),$(ALL_SRC))
# The sinkhole is a program of its own: no other includes its code.
SINK_SRC := $(filter-out $(MAIN_qp-sinkhole),$(wildcard sinkhole/*.c))
OBJ       = $(patsubst %.c,$(B)/obj/%.o,$(1))
LIBQP    := $(B)/libqp.a
LIBSINK  := $(B)/libsinkhole.a

BPF_SRC := $(wildcard bpf/*.bpf.c)
SKEL    := $(B)/capture.skel.h

TEST_SRC  := $(wildcard tests/*/test_*.c)
UNIT_TEST := $(patsubst %.c,$(B)/%,$(TEST_SRC))
# Small programs that the end-to-end tests run inside the sandbox: static, no helper files.
PROBE_SRC := $(wildcard tests/probes/*.c)
PROBES    := $(patsubst tests/probes/%.c,$(B)/probes/%,$(PROBE_SRC))
E2E       := $(wildcard tests/e2e/*.test.mjs)

BINS := $(addprefix $(B)/,$(PROGRAMS) $(STATIC_PROGRAMS))

.DELETE_ON_ERROR:
.PHONY: help deps all run check check-unit check-san check-e2e lint format install clean FORCE
.DEFAULT_GOAL := all

help: ## this list
	@sed -n 's/^\([a-z_.-]*\):.*## \(.*\)/\1|\2/p' Makefile | \
		while IFS='|' read -r t h; do printf '  make %-24s %s\n' "$$t" "$$h"; done

deps: ## install what building and running need (apt-get, as root)
	$(Q)tools/deps $(PACKAGES) $(NODE_PACKAGES)

.PHONY: deps-check
deps-check: deps
	$(Q)tools/deps $(TEST_PACKAGES)

# Where they cannot be had, the test is skipped, and says so.
.PHONY: deps-arm64
deps-arm64: deps-check
	-$(Q)tools/deps --foreign arm64 $(B)/arm64/root $(ARM64_PACKAGES)

all: deps ## build everything into build/
	$(Q)$(MAKE) --no-print-directory build-all

.PHONY: build-all
build-all: $(BINS) $(B)/stage $(B)/fixtures

run: all ## judge one package: make run PKG=name@version
	$(Q)$(B)/qp run $(PKG)

check: deps-arm64 all ## every test, as root: units, also under sanitizers, fuzz targets, end to end
	$(Q)tests/run $(B)

# A kernel that cannot be had is a skipped test; tests/vm/run says so.
.PHONY: check-vm
check-vm: deps-check all ## capture and end-to-end tests under Debian's 6.1 and 6.12 in QEMU, as root
	-$(Q)tools/deps $(VM_PACKAGES)
	-$(Q)for k in $(VM_KERNELS); do tools/deps --unpack $(B)/vm/kernels $$k; done
	$(Q)$(MAKE) --no-print-directory build-tests build-probes
	$(Q)tests/vm/run $(B) $(VM_KERNELS)

check-unit: deps-check all ## the unit tests only
	$(Q)tests/run $(B) unit

check-san: deps-check all ## the unit tests under ASan and UBSan
	$(Q)tests/run $(B) san

check-e2e: deps-arm64 all ## the end-to-end tests only
	$(Q)tests/run $(B) e2e

# ---- Programs -------------------------------------------------------------------------
$(B)/obj/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The assembler puts this file into the object; the compiler cannot know.
$(B)/obj/rules/default.o: rules/default.json

$(LIBQP): $(call OBJ,$(LIB_SRC))
$(LIBSINK): $(call OBJ,$(SINK_SRC))
$(LIBQP) $(LIBSINK):
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsP $@ $^

$(addprefix $(B)/,$(PROGRAMS)): $(B)/%: $(LIBQP)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $(filter %.o,$^) $(filter $(LIBSINK),$^) $(LIBQP) $(LDFLAGS) $(SSL_LIBS) $(PC_LIBS)
$(B)/qp-sinkhole: $(LIBSINK)
$(foreach p,$(PROGRAMS),$(eval $(B)/$(p): $(call OBJ,$(MAIN_$(p)))))

$(B)/qp-init: $(call OBJ,$(INIT_SRC) base/io.c base/number.c base/tree_copy.c)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -static -o $@ $^

# The scripts that run inside the sandboxes, beside the programs that send them there.
$(B)/stage: $(wildcard tools/stage/*)
	$(Q)rm -rf $@ && mkdir -p $@ && cp tools/stage/* $@/ && touch $@

# qp finds its fixtures beside itself, as it does its programs.
$(B)/fixtures:
	$(Q)mkdir -p $(@D) && ln -sfn $(abspath tests/fixtures) $@

# ---- Kernel programs ------------------------------------------------------------------
# Of the machine that the compiler makes programs for; asked after `deps`.
BPF_ARCH = $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))))
# One object of all the files: libbpf 1.1 cannot link two that name the same kfunc, and what
# each system call runs through can be inlined.
$(B)/bpf/capture.bpf.c: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)printf '#include "%s"\n' $(BPF_SRC) | cmp -s - $@ || \
		printf '#include "%s"\n' $(BPF_SRC) > $@

$(B)/bpf/capture.bpf.o: $(B)/bpf/capture.bpf.c
	$(call say,BPF,$@)
	$(Q)$(CLANG) -target bpf -mcpu=v3 -D__BPF__ -D__TARGET_ARCH_$(BPF_ARCH) -g -O2 \
		-Wall -Wextra -Wno-unused-parameter -Wno-missing-declarations $(if $(CI),-Werror) \
		-I. -Ivmlinux -MMD -MP -c -o $@ $<

$(SKEL): $(B)/bpf/capture.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name capture_bpf > $@

# The skeleton must be there before the first object that includes it is compiled.
$(call OBJ,$(wildcard collector/*.c)): | $(SKEL)

# ---- Tests ----------------------------------------------------------------------------
$(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/sinkhole/test_*.c)): $(LIBSINK)
$(B)/tests/%: tests/%.c $(LIBQP)
	$(call say,TEST,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $$(pkg-config --cflags criterion) -MMD -MP -o $@ $< \
		$(filter $(LIBSINK),$^) $(LIBQP) $(LDFLAGS) $(SSL_LIBS) $(PC_LIBS) \
		$$(pkg-config --libs criterion)

$(B)/probes/%: tests/probes/%.c
	$(call say,PROBE,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE $(WARNINGS) -O2 -static -pthread -o $@ $<

.PHONY: build-tests build-probes
build-tests: $(UNIT_TEST)
build-probes: $(PROBES)

# With the libraries of `deps-arm64`.
ARM64_ROOT = $(abspath $(B)/arm64/root)
.PHONY: build-arm64
build-arm64:
	$(Q)PKG_CONFIG_SYSROOT_DIR=$(ARM64_ROOT) \
		PKG_CONFIG_LIBDIR=$(ARM64_ROOT)/usr/lib/aarch64-linux-gnu/pkgconfig \
		$(MAKE) --no-print-directory B=$(B)/arm64 AR=aarch64-linux-gnu-ar \
		CC='aarch64-linux-gnu-gcc --sysroot=$(ARM64_ROOT)' $(B)/arm64/qp

bench-verify: all build-probes ## how long qp verify takes for a log of a million events
	$(Q)QP_BUILD=$(B) node tests/bench/verify.mjs

.PHONY: bench-verify

# ---- Fuzzing --------------------------------------------------------------------------
# Parsers of what a package or a stranger sends; the seeds of each are in tests/fuzz/corpus/.
FUZZERS      := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SECONDS ?= 60

fuzz: ## each fuzz target for FUZZ_SECONDS (60), with clang's libFuzzer
	$(Q)$(MAKE) --no-print-directory B=$(B)/fuzz CC=$(CLANG) run-fuzz \
		CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined'

.PHONY: fuzz run-fuzz
run-fuzz: $(addprefix $(B)/fuzz_,$(FUZZERS))
	$(Q)for f in $(FUZZERS); do \
		mkdir -p $(B)/corpus/$$f && $(B)/fuzz_$$f -max_total_time=$(FUZZ_SECONDS) \
			-artifact_prefix=$(B)/ $(B)/corpus/$$f tests/fuzz/corpus/$$f || exit 1; \
	done

$(B)/fuzz_%: tests/fuzz/fuzz_%.c $(LIBSINK) $(LIBQP)
	$(call say,FUZZ,$<)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -fsanitize=fuzzer -MMD -MP -o $@ $< \
		$(LIBSINK) $(LIBQP) $(LDFLAGS) $(SSL_LIBS) $(PC_LIBS)

# ---- Upkeep ---------------------------------------------------------------------------
FORMATTED := $(shell git ls-files '*.c' '*.h' 2>/dev/null | grep -v '^vmlinux/')

format: ## clang-format every C file
	$(Q)clang-format -i $(FORMATTED)

lint: ## formatting, cppcheck, header self-sufficiency
	$(Q)tests/lint $(FORMATTED)

compile_commands.json: FORCE ## for editors and clang-tidy
	$(Q)tools/compile-commands "$(CC) $(CPPFLAGS) $(ALL_CFLAGS)" $(ALL_SRC) > $@

install: build-all ## programs, stage scripts and man pages below $(DESTDIR)$(PREFIX)
	install -d $(DESTDIR)$(PREFIX)/libexec/qp/stage $(DESTDIR)$(PREFIX)/bin \
		$(DESTDIR)$(PREFIX)/share/qp $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(BINS) $(DESTDIR)$(PREFIX)/libexec/qp/
	install -m 644 $(wildcard tools/stage/*) $(DESTDIR)$(PREFIX)/libexec/qp/stage/
	cp -R tests/fixtures $(DESTDIR)$(PREFIX)/libexec/qp/
	install -m 644 $(wildcard docs/*.1) $(DESTDIR)$(PREFIX)/share/man/man1/
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's|@PREFIX@|$(PREFIX)|' systemd/qp-collect.service \
		> $(DESTDIR)$(PREFIX)/lib/systemd/system/qp-collect.service
	for p in $(PROGRAMS); do ln -sf ../libexec/qp/$$p $(DESTDIR)$(PREFIX)/bin/$$p; done

clean: ## remove build/
	$(Q)rm -rf $(B)

-include $(shell find $(B) -name '*.d' -type f 2>/dev/null)
