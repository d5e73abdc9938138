# SPDX-License-Identifier: GPL-2.0-only
# make check: four builds (plain, with two kinds of sanitizers, for fuzzing), then every
# test under tests/run.sh, which counts.

UNIT_SRC := $(sort $(shell find tests/unit -name 'test_*.c'))
UT_SRC := $(sort $(shell find tests/unit -name '*.c' ! -name 'test_*.c'))
PERF_SRC := $(sort $(wildcard tests/perf/*.c))
EXAMPLE_SRC := $(sort $(wildcard tests/examples/*.c))
HELPER_SRC := $(sort $(wildcard tests/helpers/*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))

UNIT_BIN := $(UNIT_SRC:%.c=$(O)/%)
PERF_BIN := $(PERF_SRC:%.c=$(O)/%)
EXAMPLE_BIN := $(EXAMPLE_SRC:%.c=$(O)/%)
HELPER_BIN := $(HELPER_SRC:%.c=$(O)/%) $(O)/tests/posix/posix $(O)/tests/fuse/passfs \
	$(O)/tests/powerfs/powerfs

# With sanitizers most of the time of building would go into optimizing the tests, and little of that of running them
# goes into the tests' own code, but for those of maps, which compute all once more byte by byte.
ifneq ($(filter asan tsan,$(D)),)
$(O)/tests/unit/%.o: OPT := -O0 -g1 -Wno-maybe-uninitialized
$(O)/tests/unit/map/%.o: OPT := -O1 -g1 -Wno-maybe-uninitialized
endif

.PHONY: check check-user check-build unit-bins perf-bins helper-bins example-bins fuzz-bins

# Under ThreadSanitizer only those run that say so.
ifeq ($(D),tsan)
unit-bins: $(patsubst %.c,$(O)/%,$(shell grep -l '^/\* tsan' $(UNIT_SRC)))
else
unit-bins: $(UNIT_BIN)
endif
perf-bins: $(PERF_BIN)
# Those of the sanitizers that a test runs with it: the POSIX cases look at the mount from outside.
helper-bins: $(if $(filter tsan,$(D)),$(O)/tests/helpers/crowd,$(if $(filter asan,$(D)),$(filter-out %/posix,$(HELPER_BIN)),$(HELPER_BIN)))
example-bins: $(EXAMPLE_BIN)

# The harness, and what several programs share: each links what it uses.
$(O)/libut.a: $(UT_SRC:%.c=$(O)/%.o)
	$(call say,AR,$@)
	$(Q)rm -f $@; ar qcs $@ $^

ifneq ($(D),quick)
$(UNIT_BIN): $(O)/%: $(O)/%.o $(O)/libut.a $(O)/libddio-all.a
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(FAST_LD) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lcunit $(LIBS)
endif

$(PERF_BIN) $(HELPER_SRC:%.c=$(O)/%): $(O)/%: $(O)/%.o $(O)/libddio-all.a
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(FAST_LD) -o $@ $^ $(LIBS)

$(O)/tests/unit/tools/test_ionode: $(O)/tools/lab/sim/ionode.o
$(O)/tests/unit/tools/test_costs: $(O)/tools/lab/sim/costs.o
$(O)/tests/unit/tools/test_top: $(patsubst %,$(O)/tools/ddio/%.o,top_rates top_jobs)
$(O)/tests/unit/tools/test_ddiod_http: $(O)/tools/ddiod/http.o
$(O)/tests/unit/tools/test_ddiod_log: $(O)/tools/ddiod/log.o
$(O)/tests/unit/tools/test_ddiod_vouch: $(O)/tools/ddiod/vouch.o
$(O)/tests/unit/mpiio/test_mpiio_siblings: $(O)/userlib/mpiio/stub/siblings.o
# The mount's, with a kernel and a library of its own.
MOUNT_KERNEL := $(O)/tests/unit/fuse/mount_kernel.o
$(O)/tests/unit/fuse/test_mount_files: $(MOUNT_KERNEL) $(patsubst %,$(O)/fuse/%.o,files known late marks owners request again)
$(O)/tests/unit/fuse/test_mount_bits: $(MOUNT_KERNEL) $(patsubst %,$(O)/fuse/%.o,data caller known late marks request again seen)
$(O)/tests/unit/fuse/test_mount_xattr: $(MOUNT_KERNEL) $(patsubst %,$(O)/fuse/%.o,again attrs caller known late marks request seen)
$(O)/tests/unit/fuse/test_mount_again: $(MOUNT_KERNEL) \
	$(patsubst %,$(O)/fuse/%.o,again files known late marks names owners request seen)
$(O)/tests/unit/fuse/test_mount_late: $(MOUNT_KERNEL) \
	$(patsubst %,$(O)/fuse/%.o,again attrs caller data files known late marks owners request seen)
$(O)/tests/unit/fuse/test_mount_known: $(O)/fuse/known.o
$(O)/tests/unit/fuse/%.o: CFLAGS += -DFUSE_USE_VERSION=314 $(FUSE_CFLAGS)
$(O)/tests/perf/bench_kmod: LIBS += -luring
$(O)/tests/perf/bench_kv: $(O)/tests/unit/iop/store/ut_store.o
$(O)/tests/perf/bench_kv: LIBS += $(O)/libddio-all.a -lcunit
$(O)/tests/helpers/lu_lapack: LIBS += -llapacke

# The POSIX tests know nothing of the project.
$(O)/tests/posix/posix: $(patsubst %.c,$(O)/%.o,$(sort $(wildcard tests/posix/*.c)))
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^

# A directory that loses its power.
POWERFS_OBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard tests/powerfs/*.c)))
$(O)/tests/powerfs/%.o: CFLAGS += -DFUSE_USE_VERSION=314 $(FUSE_CFLAGS)

$(O)/tests/powerfs/powerfs: $(POWERFS_OBJ)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(FUSE_LIBS)

# Examples see what a user sees: the public headers and the shared library.
$(EXAMPLE_BIN): $(O)/%: %.c $(O)/libddio.so.$(VERSION)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) $(SAN) -Iinclude -o $@ $< -L$(O) -lddio -Xlinker -rpath -Xlinker $(O_PATH)

# Fuzzers: the library again, with clang's coverage.
FO := build/fuzz
FUZZ_CC ?= clang
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_FLAGS = $(CSTD) $(WARN) -O1 -g1 $(FUZZ_SAN) -fsanitize=fuzzer-no-link $(INC)
# No fuzzer reaches the compute process.
FUZZ_OBJ := $(patsubst %.c,$(FO)/%.o,$(CORE_SRC) $(IOP_SRC) $(SIM_SRC))
FUZZ_BIN := $(FUZZ_SRC:%.c=$(FO)/%)

fuzz-bins: $(FUZZ_BIN) $(FO)/tests/fuzz/make_corpus

$(FO)/%.o: %.c
	$(call say,FUZZCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -MMD -MP -c -o $@ $<

$(FO)/libddio-fuzz.a: $(FUZZ_OBJ)
	$(Q)rm -f $@; ar rcs $@ $^

$(FUZZ_BIN): $(FO)/%: $(FO)/%.o $(FO)/libddio-fuzz.a
	$(call say,FUZZLD,$@)
	$(Q)$(FUZZ_CC) $(FUZZ_SAN) -fsanitize=fuzzer -o $@ $^ $(LIBS)

$(FO)/tests/fuzz/make_corpus: $(FO)/tests/fuzz/make_corpus.o $(FO)/libddio-fuzz.a
	$(Q)$(FUZZ_CC) $(FUZZ_SAN) -fsanitize=fuzzer-no-link -o $@ $^ $(LIBS)

-include $(shell find $(addprefix $(FO)/,fuse kmod tests tools userlib) -type f -name '*.d' 2>/dev/null)

# The laboratory with a bug in it (tests/sim/plant.pl).  What is linked first is not taken from the library.
$(O)/plants/%/plant.c: tests/sim/plant.pl FORCE
	$(Q)mkdir -p $(@D); tests/sim/plant.pl $* $@

$(O)/plants/%/ddio-lab: $(O)/plants/%/plant.o $(O)/ddio-lab
	$(call say,LD,$@)
	$(Q)$(LINK) $(FAST_LD) -o $@ $< $(call tool_obj,lab) $(TOOL_TRACE) $(TOOL_COMMON) $(O)/libddio-all.a $(LIBS)

$(O)/plants/%/plant.o: $(O)/plants/%/plant.c
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

include tests/vm/build.mk
include tests/mpiio/build.mk
include tests/quick.mk

# How many of the bugs of tests/sim/plant.pl simulated faults find by SEEDS (300) seeds.
.PHONY: plants
plants: $(TOOL_TARGETS)
	$(Q)tests/plants.sh

# Fresh seeds of simulated faults.
.PHONY: night
night: $(TOOL_TARGETS)
	$(Q)tests/night.sh

check-build:
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all perf-bins helper-bins example-bins mpiio-tests $(VM_BIN)
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) D=asan all unit-bins helper-bins mpiio
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) D=tsan all unit-bins helper-bins mpiio
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) fuzz-bins

check:
	$(Q)tools/install-deps.sh all
	$(Q)$(MAKE) --no-print-directory check-build
	$(Q)tests/run.sh $(if $(T),--only '$(T)')

# All but the virtual machines.
check-user:
	$(Q)tools/install-deps.sh all
	$(Q)$(MAKE) --no-print-directory check-build
	$(Q)tests/run.sh --except 'vm/*' $(if $(T),--only '$(T)')
