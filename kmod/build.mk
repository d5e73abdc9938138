# SPDX-License-Identifier: GPL-2.0-only
# The kernel modules: kbuild's part is kmod/Makefile's; here they are only asked for.

.PHONY: modules install-modules dkms-deb

modules:
	$(Q)+$(MAKE) --no-print-directory -C kmod

install-modules:
	$(Q)+$(MAKE) --no-print-directory -C kmod install $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR))
	install -d $(DESTDIR)/lib/udev/rules.d
	install -m 644 kmod/dkms/60-ddio.rules $(DESTDIR)/lib/udev/rules.d/

dkms-deb:
	$(Q)tools/dkms-deb.sh $(VERSION) build
