# SPDX-License-Identifier: GPL-2.0-only
# The mount: the only thing that needs libfuse.

FUSE_CFLAGS := $(shell pkg-config --cflags fuse3 2>/dev/null)
FUSE_LIBS := $(shell pkg-config --libs fuse3 2>/dev/null)
FUSE_SRC := $(sort $(wildcard fuse/*.c))
FUSE_OBJ := $(FUSE_SRC:%.c=$(O)/%.o)
FUSE_TARGETS := $(O)/ddiofs

# mount(8) looks for its helpers in /sbin only; elsewhere they are for use by hand.
MOUNT_DIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),/sbin,$(PREFIX)/sbin)

$(O)/fuse/%.o: CFLAGS += -DFUSE_USE_VERSION=314 $(FUSE_CFLAGS)

$(O)/ddiofs: $(FUSE_OBJ) $(TOOL_COMMON) $(O)/libddio-cp.a
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(FUSE_LIBS) $(LIB_LIBS)

# The same program over a directory instead of a cluster, for tests of what is between it and the kernel.
PASS_OBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard tests/fuse/passfs*.c)))

$(O)/tests/fuse/passfs: $(FUSE_OBJ) $(PASS_OBJ) $(patsubst %,$(O)/userlib/base/%.o,opttab units bug) $(TOOL_COMMON)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(FUSE_LIBS) -lpthread
