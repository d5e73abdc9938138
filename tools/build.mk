# SPDX-License-Identifier: GPL-2.0-only
# The daemon and the command.

TOOL_SRC := $(call sources,tools/common tools/ddio tools/lab)
TOOL_OBJ := $(TOOL_SRC:%.c=$(O)/%.o)
TOOL_TARGETS := $(O)/ddio $(O)/ddiod

$(O)/tools/%.o: CFLAGS += -DDDIO_COMMIT='"$(COMMIT)"' -DDDIO_VERSION_TEXT='"$(VERSION)"'

$(O)/ddio: $(TOOL_OBJ) $(O)/libddio-all.a
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) -o $@ $^ $(LIBS)

$(O)/ddiod: $(O)/tools/ddiod/ddiod.o $(O)/tools/common/opt.o $(O)/tools/common/background.o $(O)/tools/ddiod/lock_file.o $(O)/tools/common/notify.o $(O)/libddio-all.a
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) -o $@ $^ $(LIBS)
