# SPDX-License-Identifier: GPL-2.0-only
# The loop while one works:
#
#   make quick              build, unit and tree tests; installs nothing
#     T='cp_* tree/arrows'    only these
#   make unit D=asan        the unit programs of that build (D=tsan, or neither), every round of them
#     T='cp_*'                only these, and only these are built
#
# make quick is a build of its own, in build/quick, that is made for being made: unit programs link the
# library as one shared object.  What passed stays passed (NAME.ok beside the program) until the
# program, or an object that it reaches by symbols, is new; tests/unit/needs.pl finds these.  Tests of the
# tree stay passed until any file of it is new, and those that look at each file by itself then look at the
# new ones only.  Random tests and sweeps take a part of their rounds (ut_rounds()).

.PHONY: quick unit FORCE

quick:
	$(Q)tests/quick.sh quick $(foreach t,$(T),'$(t)')

unit:
	$(Q)tests/quick.sh '$(D)' $(if $(T),$(foreach t,$(T),'$(t)'),'unit/*')

# For the makes that quick.sh starts.
UNIT_BOUND := 300
ifeq ($(D),quick)
$(O)/tests/%.o: OPT := -O0 -g1 -Wno-maybe-uninitialized

$(O)/libddio-all.so: $(CORE_OBJ) $(CP_OBJ) $(IOP_OBJ) $(SIM_OBJ) $(MPIIO_CORE_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) -shared $(FAST_LD) -o $@ $^ $(LIBS)

$(UNIT_BIN): $(O)/%: $(O)/%.o $(O)/libut.a | $(O)/libddio-all.so
	$(call say,LD,$@)
	$(Q)$(CC) $(FAST_LD) -o $@ $^ $(O)/libddio-all.so -Xlinker -rpath -Xlinker $(O_PATH) -lcunit $(LIBS)

# Uses a file system in memory if there is one, so that no test waits for a disk.
UNIT_ENV := DDIO_UT_SHARE=20 TMPDIR=$(if $(wildcard /dev/shm/.),/dev/shm,/tmp)
-include $(O)/needs.mk
endif

$(UNIT_BIN:%=%.ok): %.ok: %
	$(Q)rm -f $@; $(UNIT_ENV) timeout -k 5 $(UNIT_BOUND) $< >$<.log 2>&1 </dev/null && touch $@

# What looks at each file by itself looks at those only that have changed since it last passed: NAME.ok says
# when; NAME.since, while it does not pass.
$(O)/tree/%.ok: FORCE
	$(Q)mkdir -p $(@D); touch $@.now; [ ! -e $@ ] || mv $@ $@.since
	$(Q)since=$@.since; [ -e $$since ] || since=; \
		O=$(O) QUICK=1 SINCE=$$since tests/tree/$* >$(@:.ok=.log) 2>&1 </dev/null
	$(Q)mv $@.now $@; rm -f $@.since

FORCE:

# make mutants F=FILE: changes of one source that the unit programs let pass (tests/mutants/run.sh)
.PHONY: mutants
mutants:
	$(Q)tests/mutants/run.sh '$(F)' $(or $(N),0) $(foreach t,$(T),'$(t)')
