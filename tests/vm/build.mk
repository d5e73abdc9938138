# SPDX-License-Identifier: GPL-2.0-only
# make check-vm        the modules' tests in virtual machines, Debian's three kernels
#                        K='6.1 7.x'  only these;  T='ddio/* vm/t_cluster'  only these tests
# make check-vm-debug  the same on a kernel that watches itself, and failure injection

VM_KERNELS ?= 6.1 6.12 7.x
K ?= $(VM_KERNELS)

# Unit tests that can be given block devices, for the machine (t_engines.sh).
VM_BIN := build/tests/vm/test_env_disk_stream

$(VM_BIN): build/tests/vm/%: build/tests/unit/%
	$(Q)install -D $< $@

.PHONY: check-vm check-vm-debug

check-vm: all $(VM_BIN)
	$(Q)rc=0; for k in $(K); do \
		printf '%s: ' "kernel $$k"; \
		mkdir -p build/log/vm; \
		tests/vm/check.sh $$k $(foreach t,$(T),'$(t)') >build/log/vm/$$k.log 2>&1 || [ $$? = 77 ] || rc=1; \
		grep -E '^not ok|^# not ok|^vm: |^bad: ' build/log/vm/$$k.log; \
		tail -n 1 build/log/vm/$$k.log; \
	done; exit $$rc

check-vm-debug: all $(VM_BIN)
	$(Q)tests/vm/check.sh debug $(foreach t,$(T),'$(t)')
