# SPDX-License-Identifier: GPL-2.0-only
#
# ddio: disk-directed I/O for Linux
#
#   make            library, daemon and tools, in build/
#   make demo       the main job on a local cluster of emulated disks
#                     FILE=path   store this file; default: a matrix of doubles
#                     QUICK=1     fewer distributions, under a minute
#   make quick      build, unit and tree tests; installs nothing; what passed and has not
#                   changed is not run again (T='cp_* tree/arrows': only these)
#   make unit       the unit programs, every round of them; D=asan or D=tsan, T='cp_*'
#   make check      every test; ends with "N passed, N failed, N skipped"
#                     T='unit/* cluster/*'  only the tests whose names match
#                     FULL=1   every round of random tests and sweeps, every seed
#                     KEPT=no  also machines whose inputs have not changed
#   make check-user every test but the virtual machines
#   make mutants F=userlib/map/memmap.c  changes of a source that its unit tests let pass
#   make night      8,000 fresh seeds of faults in virtual time (SEEDS= another number)
#   make check-vm   only the kernel modules' tests, in virtual machines with Debian's
#                   kernels 6.1, 6.12 and the newest (K='6.1 7.x': only those)
#   make check-vm-debug  the same on a kernel with KASAN, lockdep and fault injection
#   make plants     how many planted bugs 300 seeds of these faults find, and how soon (SEEDS=, PLANTS=names)
#   make paper      the papers' measurements in virtual time, into build/paper/
#   make deps       install what building and testing need (apt-get; root or sudo)
#   make install    PREFIX=/usr/local, DESTDIR=
#   make uninstall  removes what it installs; the same variables
#   make modules    the kernel modules, for the running kernel (KDIR= another)
#   make install-modules    into /lib/modules, with the udev rule
#   make debs       libraries, tools, daemon and mount as Debian packages: build/debs/
#   make wheel      the Python package: build/ddio-VERSION-py3-none-any.whl
#   make dkms-deb   the modules as a Debian package: build/ddio-dkms_VERSION_all.deb
#   make fmt        clang-format over the sources that changed
#   make clean
#
# Switches: V=1 shows commands; D=asan or D=tsan builds with that sanitizer in
# build-of-its-own; W=1 more warnings; CC=clang another compiler.

# A word as the shell takes it: the folder may have any name.
quoted = '$(subst ','\'',$1)'
# Where the built things are, for programs that are run elsewhere; abspath would take a blank for the end of a name.
O_PATH = $(call quoted,$(CURDIR)/$(O))

PREFIX ?= /usr/local
VERSION := 0.2.0
D ?=
O := build$(if $(D),/$(D))

ifeq ($(origin CC),default)
CC := gcc
endif
CSTD := -std=gnu11 -D_GNU_SOURCE
WARN := -Wall -Wextra -Werror $(if $(W),-Wshadow -Wconversion)
OPT ?= -O2 -g
INC := -Iinclude -Iuserlib -Ikmod/shared -I.
SAN_asan := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SAN_tsan := -fsanitize=thread -fno-omit-frame-pointer
SAN := $(SAN_$(D))
VISIBILITY := -fvisibility=hidden
# What only tests are linked with.
FAST_LD := $(if $(shell command -v ld.gold),-fuse-ld=gold)
# Nobody installs what has a sanitizer in it: it is to be built soon.
ifneq ($(D),)
OPT := -O1 -g1 -Wno-maybe-uninitialized
endif
ifeq ($(D),quick)
VISIBILITY :=
endif
# How programs and libraries are linked.
LINK = $(CC) $(SAN) $(if $(D),$(FAST_LD))
COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
CFLAGS ?=
# What is installed does not tell in which folder it was built.
NOWHERE := $(if $(D),,-ffile-prefix-map=$(call quoted,$(CURDIR))=.)
ALL_CFLAGS = $(CSTD) $(WARN) $(OPT) $(NOWHERE) -fPIC $(VISIBILITY) $(SAN) $(INC) $(CFLAGS)
# What libddio needs, and what the I/O processor needs besides.
LIB_LIBS := -linih -laio -lssl -lcrypto -lpthread -lm
LIBS := -llmdb $(LIB_LIBS)

PYTHON ?= /usr/bin/python3
# Where Debian's Python looks for packages of its own, and for those that an administrator has installed.
PYTHON_DIR ?= $(PREFIX)/lib/$(if $(filter /usr,$(PREFIX)),python3,$(shell $(PYTHON) -c \
	'import sys; print("python%d.%d" % sys.version_info[:2])' 2>/dev/null || echo python3))/dist-packages

Q := $(if $(V),,@)
# A first build counts its steps, of which there are $(STEPS); "make all" alone knows how many.
say = $(if $(V),@:,$(if $(STEPS),$(eval DONE += .))@printf '  %s%-7s %s\n' \
	'$(if $(STEPS),[$(words $(DONE))/$(STEPS)] )' $(1) $(2))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

include userlib/build.mk
include userlib/mpiio/build.mk
include tools/build.mk
include fuse/build.mk
include tests/build.mk
include kmod/build.mk

STEPS := $(if $(D)$(wildcard $(O)/ddio)$(filter-out all,$(MAKECMDGOALS)),,$(words $(CORE_OBJ) $(CP_OBJ) $(IOP_OBJ) \
	$(SIM_OBJ) $(MPIIO_CORE_OBJ) $(FUSE_OBJ) $(call tool_obj,common trace ddio ddiod lab) $(TOOL_COMMON) $(TOOL_TRACE) \
	$(foreach m,$(MPIIO_MPIS),$(MPIIO_CORE) $(MPIIO_ABI)) $(wildcard userlib/mpiio/stub/*.c) $(LIB_TARGETS) \
	$(TOOL_TARGETS) $(FUSE_TARGETS) $(MPIIO_TARGETS) libddio-all.a libddio-cp.a))
DONE :=

.PHONY: all deps demo paper install clean fmt

all: $(LIB_TARGETS) $(TOOL_TARGETS) $(FUSE_TARGETS) $(if $(D),,mpiio)

deps:
	$(Q)tools/install-deps.sh all

# The packages come first, in a make of their own, so that what follows finds them.
demo:
	$(Q)tools/install-deps.sh build
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)BUILD=$(O_PATH) tools/demo.sh

paper:
	$(Q)tools/install-deps.sh build
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)BUILD=$(O) tools/paper/run.sh

$(O)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

clean:
	rm -rf build demo

fmt:
	$(Q)git ls-files '*.c' '*.h' | xargs clang-format -i

install: all
	install -d "$(DESTDIR)$(PREFIX)"/bin "$(DESTDIR)$(PREFIX)"/sbin "$(DESTDIR)$(PREFIX)"/lib/pkgconfig
	install -d "$(DESTDIR)$(PREFIX)"/include/ddio
	install -m 755 $(O)/ddio $(O)/ddio-lab "$(DESTDIR)$(PREFIX)"/bin/
	install -m 755 $(O)/ddiod "$(DESTDIR)$(PREFIX)"/sbin/
	install -m 755 $(O)/ddiofs "$(DESTDIR)$(PREFIX)"/sbin/
	install -d "$(DESTDIR)$(MOUNT_DIR)" "$(DESTDIR)$(PREFIX)"/lib/systemd/system
	for l in mount.ddio mount.fuse.ddio; do \
		ln -sf $(if $(filter $(PREFIX)/sbin,$(MOUNT_DIR)),,$(PREFIX)/sbin/)ddiofs "$(DESTDIR)$(MOUNT_DIR)"/$$l; done
	for u in tools/systemd/*.service.in; do n=$${u##*/}; sed 's|@PREFIX@|$(PREFIX)|' $$u \
		> "$(DESTDIR)$(PREFIX)"/lib/systemd/system/$${n%.in}; done
	install -d "$(DESTDIR)$(PREFIX)"/lib/sysusers.d
	install -m 644 tools/systemd/sysusers.conf "$(DESTDIR)$(PREFIX)"/lib/sysusers.d/ddio.conf
	[ -n "$(DESTDIR)" ] || [ ! -d /run/systemd/system ] || { \
		systemd-sysusers $(PREFIX)/lib/sysusers.d/ddio.conf && systemctl daemon-reload; }
	install -m 755 $(O)/libddio.so.$(VERSION) "$(DESTDIR)$(PREFIX)"/lib/
	ln -sf libddio.so.$(VERSION) "$(DESTDIR)$(PREFIX)"/lib/$(LIB_SONAME)
	ln -sf $(LIB_SONAME) "$(DESTDIR)$(PREFIX)"/lib/libddio.so
	install -m 644 $(O)/libddio.a "$(DESTDIR)$(PREFIX)"/lib/
	install -m 755 $(O)/libddio_mpiio.so "$(DESTDIR)$(PREFIX)"/lib/
	install -d "$(DESTDIR)$(PREFIX)"/lib/ddio-mpiio
	for m in $(MPIIO_MPIS); do install -m 755 $(O)/ddio-mpiio/$$m.so "$(DESTDIR)$(PREFIX)"/lib/ddio-mpiio/; done
	install -m 644 include/ddio/*.h "$(DESTDIR)$(PREFIX)"/include/ddio/
	sed -e 's|@PREFIX@|$(PREFIX)|;s|@VERSION@|$(VERSION)|' userlib/libddio.pc.in \
		> "$(DESTDIR)$(PREFIX)"/lib/pkgconfig/libddio.pc
	install -d "$(DESTDIR)$(PYTHON_DIR)"/ddio
	install -m 644 userlib/python/ddio/*.py userlib/python/ddio/py.typed "$(DESTDIR)$(PYTHON_DIR)"/ddio/
	install -d "$(DESTDIR)$(PREFIX)"/share/ddio
	install -m 644 tools/monitoring/* "$(DESTDIR)$(PREFIX)"/share/ddio/
	for m in Documentation/man/*.[1-8]; do \
		s=$${m##*.}; install -d "$(DESTDIR)$(PREFIX)"/share/man/man$$s; \
		if [ -h $$m ]; then cp -P $$m "$(DESTDIR)$(PREFIX)"/share/man/man$$s/; \
		else install -m 644 $$m "$(DESTDIR)$(PREFIX)"/share/man/man$$s/; fi; done
	ln -sf ddiofs.8 "$(DESTDIR)$(PREFIX)"/share/man/man8/mount.ddio.8
	ln -sf ddiofs.8 "$(DESTDIR)$(PREFIX)"/share/man/man8/mount.fuse.ddio.8
	install -d "$(DESTDIR)$(PREFIX)"/share/bash-completion/completions
	$(O)/ddio completion bash > "$(DESTDIR)$(PREFIX)"/share/bash-completion/completions/ddio

# Folders that are ddio's alone go, too.
uninstall: all
	$(Q)t=$$(mktemp -d) && $(MAKE) --no-print-directory -s install DESTDIR="$$t" >/dev/null && \
		(cd "$$t" && find . ! -type d -printf '%P\0') | (cd "$(DESTDIR)/" && xargs -0 rm -f) && \
		(cd "$$t" && find . -depth -type d -name '*ddio*' -printf '%P\0') | \
		(cd "$(DESTDIR)/" && xargs -0 rmdir --ignore-fail-on-non-empty); rm -rf "$$t"

.PHONY: uninstall wheel debs
wheel:
	$(call say,WHEEL,$(O))
	$(Q)$(PYTHON) -c 'import setuptools, wheel' 2>/dev/null || \
		{ echo 'wheel: needs setuptools and wheel (packages python3-setuptools, python3-wheel)' >&2; exit 1; }
	$(Q)rm -rf $(O)/wheel $(O)/ddio-*.whl; mkdir -p $(O); cp -r userlib/python $(O)/wheel
	$(Q)cd $(O)/wheel && $(PYTHON) -c 'from setuptools import build_meta; build_meta.build_wheel("..")' >build.log 2>&1 || \
		{ cat build.log >&2; exit 1; }

debs: all mpiio
	$(Q)tools/debs.sh $(VERSION) $(O)/debs

-include $(shell find $(addprefix $(O)/,fuse kmod tests tools userlib) -type f -name '*.d' 2>/dev/null)
