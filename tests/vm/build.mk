# SPDX-License-Identifier: GPL-2.0-only
# make check-vm        the modules' tests in virtual machines, Debian's three kernels
#                        K='6.1 7.x'  only these;  T='ddio/* vm/t_cluster'  only these tests
# make check-vm-debug  the same on a kernel that watches itself, and failure injection

VM_KERNELS ?= 6.1 6.12 7.x
K ?= $(VM_KERNELS)

# For the machine: unit tests that can be given block devices (t_engines.sh), one of what its kernel does for TLS (t_cluster.sh), benchmarks (t_cost.sh), the
# processes of t_scatter.sh, what works on the mount of t_mount.sh.
VM_UNIT := build/tests/vm/test_env_disk_stream build/tests/vm/test_env_tls_kernel
VM_PERF := build/tests/vm/bench_tls build/tests/vm/bench_kmod build/tests/vm/bench_kmod_delivery
VM_HELPER := build/tests/vm/crowd build/tests/vm/fsload
VM_POSIX := build/tests/vm/posix
VM_BIN := $(VM_UNIT) $(VM_PERF) $(VM_HELPER) $(VM_POSIX)

$(VM_UNIT): build/tests/vm/%: build/tests/unit/env/%
	$(Q)install -D $< $@

$(VM_HELPER): build/tests/vm/%: build/tests/helpers/%
	$(Q)install -D $< $@

$(VM_POSIX): build/tests/vm/%: build/tests/posix/%
	$(Q)install -D $< $@

$(VM_PERF): build/tests/vm/%: build/tests/perf/%
	$(Q)install -D $< $@

.PHONY: check-vm check-vm-debug

# Three machines at a time, or two where memory is short: each waits more than it works.
check-vm: all $(VM_BIN)
	$(Q)mkdir -p build/log/vm; printf '%s\n' $(K) | xargs -n 1 \
		-P "$$(awk '/^MemAvailable/ { print ($$2 > 10000000) ? 3 : 2 }' /proc/meminfo)" sh -c ' \
		tests/vm/check.sh $$0 $(foreach t,$(T),"$(t)") >build/log/vm/$$0.log 2>&1; rc=$$?; \
		{ echo "kernel $$0:"; \
		grep -E "^not ok|^# not ok|^vm: |^bad: " build/log/vm/$$0.log; \
		tail -n 1 build/log/vm/$$0.log; }; \
		[ $$rc = 0 ] || [ $$rc = 77 ]'

check-vm-debug: all $(VM_BIN)
	$(Q)tests/vm/check.sh debug $(foreach t,$(T),'$(t)')
