# SPDX-License-Identifier: GPL-2.0-only
# The daemon, the user's command, and the laboratory.

TOOL_TARGETS := $(O)/ddio $(O)/ddiod $(O)/ddio-lab
tool_obj = $(patsubst %.c,$(O)/%.o,$(call sources,tools/$1))

# What two programs share; each takes what it needs.
TOOL_COMMON := $(O)/tools/common.a

$(TOOL_COMMON): $(call tool_obj,common)
	$(call say,AR,$@)
	$(Q)rm -f $@; ar qcs $@ $^

# Traces of collectives: the user's command and the laboratory write them.
TOOL_TRACE := $(O)/tools/trace.a

$(TOOL_TRACE): $(call tool_obj,trace)
	$(call say,AR,$@)
	$(Q)rm -f $@; ar qcs $@ $^

# The one file that knows the commit is compiled anew for each, and no other.
$(O)/tools/common/version.o: CFLAGS += -DDDIO_COMMIT='"$(COMMIT)"' -DDDIO_VERSION_TEXT='"$(VERSION)"'
$(O)/tools/common/version.o: $(O)/commit
$(O)/commit: FORCE
	$(Q)mkdir -p $(@D); echo '$(COMMIT) $(VERSION)' | cmp -s - $@ || echo '$(COMMIT) $(VERSION)' >$@
FORCE:

# The user's command has the library only: no I/O processor, no simulator.
$(O)/ddio: $(call tool_obj,ddio) $(TOOL_TRACE) $(TOOL_COMMON) $(O)/libddio-cp.a
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(LIB_LIBS)

$(O)/ddiod: $(call tool_obj,ddiod) $(TOOL_COMMON) $(O)/libddio-all.a
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)

$(O)/ddio-lab: $(call tool_obj,lab) $(TOOL_TRACE) $(TOOL_COMMON) $(O)/libddio-all.a
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
