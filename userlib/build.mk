# SPDX-License-Identifier: GPL-2.0-only
# The library: what programs link (libddio) and what the daemon and the tests
# link besides (everything, unversioned).

CORE_DIRS := userlib/base userlib/conf userlib/map userlib/proto userlib/conn userlib/env
CORE_SRC := $(sort $(wildcard $(addsuffix /*.c,$(CORE_DIRS))) $(wildcard kmod/shared/*.c))
CP_SRC := $(sort $(wildcard userlib/cp/*.c))
IOP_SRC := $(sort $(wildcard userlib/iop/*.c))
SIM_SRC := $(sort $(wildcard userlib/sim/*.c))

CORE_OBJ := $(CORE_SRC:%.c=$(O)/%.o)
CP_OBJ := $(CP_SRC:%.c=$(O)/%.o)
IOP_OBJ := $(IOP_SRC:%.c=$(O)/%.o)
SIM_OBJ := $(SIM_SRC:%.c=$(O)/%.o)

LIB_SONAME := libddio.so.0
LIB_TARGETS := $(O)/libddio.so.$(VERSION) $(O)/libddio.a

$(O)/libddio-all.a: $(CORE_OBJ) $(CP_OBJ) $(IOP_OBJ) $(SIM_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@; ar rcs $@ $^

$(O)/libddio.a: $(CORE_OBJ) $(CP_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@; ar rcs $@ $^

$(O)/libddio.so.$(VERSION): $(CORE_OBJ) $(CP_OBJ) userlib/cp/libddio.map
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) -shared -Wl,-soname,$(LIB_SONAME) -Wl,--version-script,userlib/cp/libddio.map \
		-o $@ $(CORE_OBJ) $(CP_OBJ) -linih -laio -lcrypto -lpthread -lm
	$(Q)ln -sf libddio.so.$(VERSION) $(O)/$(LIB_SONAME); ln -sf $(LIB_SONAME) $(O)/libddio.so
