# SPDX-License-Identifier: GPL-2.0-only
# The library: what programs link (libddio) and what the daemon and the tests
# link besides (everything, unversioned).

# Every source below these folders.
sources = $(sort $(shell find $1 -name '*.c'))

CORE_DIRS := userlib/base userlib/conf userlib/map userlib/query userlib/proto userlib/conn userlib/mux userlib/env userlib/munge
CORE_SRC := $(call sources,$(CORE_DIRS) kmod/shared)
CP_SRC := $(call sources,userlib/cp)
IOP_SRC := $(call sources,userlib/iop)
SIM_SRC := $(call sources,userlib/sim)

CORE_OBJ := $(CORE_SRC:%.c=$(O)/%.o)
CP_OBJ := $(CP_SRC:%.c=$(O)/%.o)
IOP_OBJ := $(IOP_SRC:%.c=$(O)/%.o)
SIM_OBJ := $(SIM_SRC:%.c=$(O)/%.o)

MPIIO_CORE_OBJ := $(patsubst %.c,$(O)/%.o,$(call sources,userlib/mpiio/core))

LIB_SONAME := libddio.so.0
LIB_TARGETS := $(O)/libddio.so.$(VERSION) $(O)/libddio.a

$(O)/libddio-all.a: $(CORE_OBJ) $(CP_OBJ) $(IOP_OBJ) $(SIM_OBJ) $(MPIIO_CORE_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@; ar qcs $@ $^

# What the project's own programs link: they see more than a user.
$(O)/libddio-cp.a: $(CORE_OBJ) $(CP_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@; ar qcs $@ $^

# One object, which shows the public names only.
$(O)/libddio.a: $(CORE_OBJ) $(CP_OBJ) userlib/libddio.map
	$(call say,AR,$@)
	$(Q)$(LD) -r -o $(O)/libddio.o $(CORE_OBJ) $(CP_OBJ)
	$(Q)sed -n 's/^[ \t]*\(ddio_[a-z0-9_]*\);.*/\1/p' userlib/libddio.map >$(O)/libddio.names
	$(Q)objcopy --keep-global-symbols=$(O)/libddio.names $(O)/libddio.o
	$(Q)rm -f $@; ar qcs $@ $(O)/libddio.o; rm -f $(O)/libddio.o

# A thread of env/aside.c may still be in the library when a program closes it.
$(O)/libddio.so.$(VERSION): $(CORE_OBJ) $(CP_OBJ) userlib/libddio.map
	$(call say,LD,$@)
	$(Q)$(LINK) -shared -Wl,-z,nodelete -Wl,-soname,$(LIB_SONAME) -Wl,--version-script,userlib/libddio.map \
		-o $@ $(CORE_OBJ) $(CP_OBJ) $(LIB_LIBS)
	$(Q)ln -sf libddio.so.$(VERSION) $(O)/$(LIB_SONAME); ln -sf $(LIB_SONAME) $(O)/libddio.so
