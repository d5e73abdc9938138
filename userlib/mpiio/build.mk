# SPDX-License-Identifier: GPL-2.0-only
# libddio_mpiio: MPI's file functions for files of ddio.  The stub knows no MPI; a back end is built for each MPI
# whose compiler is here.

MPIIO_CORE := $(sort $(wildcard userlib/mpiio/core/*.c))
MPIIO_ABI := $(sort $(wildcard userlib/mpiio/data/*.c userlib/mpiio/team/*.c userlib/mpiio/abi/*.c))
MPIIO_MPIS := $(foreach m,mpich openmpi,$(if $(shell command -v mpicc.$m 2>/dev/null),$m))
MPIIO_SONAME_mpich := libmpich.so.12
MPIIO_SONAME_openmpi := libmpi.so.40
MPIIO_TARGETS := $(O)/libddio_mpiio.so $(MPIIO_MPIS:%=$(O)/ddio-mpiio/%.so)

# What make leaves out, and what would bring it.
MPIIO_MISSING := $(filter-out $(MPIIO_MPIS),mpich openmpi)
MPIIO_DEV_mpich := libmpich-dev
MPIIO_DEV_openmpi := libopenmpi-dev

.PHONY: mpiio mpiio-missing
mpiio: $(MPIIO_TARGETS) mpiio-missing
mpiio-missing:
	$(Q)$(foreach m,$(MPIIO_MISSING),echo '  NOTE    no MPI-IO for $m: mpicc.$m is missing (Debian: $(MPIIO_DEV_$m))' >&2;):

$(O)/libddio_mpiio.so: $(patsubst %.c,$(O)/%.o,$(wildcard userlib/mpiio/stub/*.c))
	$(call say,LD,$@)
	$(Q)$(LINK) -shared -Wl,-soname,libddio_mpiio.so -o $@ $^ -ldl

# Where PMIx's header is, by which Open MPI's launcher is asked.
MPIIO_PMIX_openmpi := $(patsubst -I%,-isystem %,$(shell pkg-config --cflags-only-I pmix 2>/dev/null))

# The flags that the MPI's own compiler adds, and no other compiler than ours.
mpiio_flags = $(shell mpicc.$1 -show 2>/dev/null | tr ' ' '\n' | grep -E '^-[$2]' | sort -u)

define MPIIO_RULES
$(O)/ddio-mpiio/$1/%.o: userlib/mpiio/%.c
	$$(call say,CC-$1,$$<)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $$(patsubst -I%,-isystem %,$$(call mpiio_flags,$1,I)) \
		$$(MPIIO_PMIX_$1) -DMPIIO_SONAME='"$$(MPIIO_SONAME_$1)"' -MMD -MP -c -o $$@ $$<

$(O)/ddio-mpiio/$1.so: $$(patsubst userlib/mpiio/%.c,$(O)/ddio-mpiio/$1/%.o,$$(MPIIO_CORE) $$(MPIIO_ABI)) \
		$(O)/libddio.so.$(VERSION)
	$$(call say,LD,$$@)
	$$(Q)$$(LINK) -shared -o $$@ $$(filter %.o,$$^) -Wl,-rpath,'$$$$ORIGIN/..' -L$(O) -lddio \
		$$(call mpiio_flags,$1,Ll) -ldl
endef
$(foreach m,$(MPIIO_MPIS),$(eval $(call MPIIO_RULES,$m)))

-include $(foreach m,$(MPIIO_MPIS),$(patsubst userlib/mpiio/%.c,$(O)/ddio-mpiio/$m/%.d,$(MPIIO_CORE) $(MPIIO_ABI)))
