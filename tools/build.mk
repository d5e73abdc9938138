# SPDX-License-Identifier: GPL-2.0-only
# The daemon and the command.

TOOL_SRC := $(sort $(filter-out tools/ddiod.c,$(wildcard tools/*.c)))
TOOL_OBJ := $(TOOL_SRC:%.c=$(O)/%.o)
TOOL_TARGETS := $(O)/ddio $(O)/ddiod

$(O)/tools/%.o: CFLAGS += -DDDIO_COMMIT='"$(COMMIT)"' -DDDIO_VERSION_TEXT='"$(VERSION)"'

$(O)/ddio: $(TOOL_OBJ) $(O)/libddio-all.a
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) -o $@ $^ $(LIBS)

$(O)/ddiod: $(O)/tools/ddiod.o $(O)/tools/opt.o $(O)/tools/background.o $(O)/tools/lock_file.o $(O)/tools/notify.o $(O)/libddio-all.a
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) -o $@ $^ $(LIBS)
