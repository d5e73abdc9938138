// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Gates on a futex.  The word @open is 0 while shut, 1 when open, and another while shut with a thread
 * asleep.  The exchange in real_gate_open() is the last access to the gate's memory: the wake-up after
 * it only names the address, and a thread that sleeps on whatever lies there by then checks its own
 * condition and sleeps on.
 */
#include <errno.h>
#include <linux/futex.h>
#include <time.h>
#include "env/real/priv.h"

void real_gate_open(struct ddio_env *env, struct ddio_gate *gate)
{
	struct real *real = real_of(env);
	uint32_t state = atomic_exchange_explicit(&gate->open, GATE_OPEN, memory_order_acq_rel);

	if (state == GATE_CALLED) {
		atomic_fetch_sub(&real->waiting, 1);
		real->opened = true;
	}
	if (state != GATE_SHUT)
		syscall(SYS_futex, &gate->open, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

int real_gate_sleep(struct ddio_gate *gate, enum real_gate state, uint64_t deadline_ns)
{
	struct timespec at = { .tv_sec = deadline_ns / 1000000000,
			       .tv_nsec = deadline_ns % 1000000000 };

	while (!ddio_gate_is_open(gate)) {
		if (syscall(SYS_futex, &gate->open, FUTEX_WAIT_BITSET_PRIVATE, state,
			    deadline_ns ? &at : NULL, NULL, FUTEX_BITSET_MATCH_ANY) &&
		    errno == ETIMEDOUT)
			return ddio_gate_is_open(gate) ? 0 : -ETIMEDOUT;
	}
	return 0;
}

int real_gate_wait(struct ddio_env *env, struct ddio_gate *gate, uint64_t deadline_ns)
{
	struct real *real = real_of(env);
	uint32_t state = GATE_SHUT;
	int ret;

	if (atomic_load_explicit(&real->loop_tid, memory_order_relaxed) == real_tid())
		return -EDEADLK;
	atomic_fetch_add(&real->waiting, 1);
	real_want(real);
	atomic_compare_exchange_strong_explicit(&gate->open, &state, GATE_AWAITED,
						memory_order_acq_rel, memory_order_acquire);
	ret = real_gate_sleep(gate, GATE_AWAITED, deadline_ns);
	atomic_fetch_sub(&real->waiting, 1);
	return ret;
}
