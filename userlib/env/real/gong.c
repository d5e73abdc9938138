// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Gongs: whoever waits for one looks for a while, and yields its processor to those that are to sound it, before it sleeps.  To
 * sleep and be woken costs more, but where threads compute all the time, one that yields waits for a whole turn of theirs.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <time.h>
#include "env/real/priv.h"

/* Returns true if it has sounded. */
static bool look(struct real *real, const struct ddio_gong *gong, uint32_t seen)
{
	uint64_t now = real_now(&real->env), then;
	uint64_t until = now + (real->opts.look_ns ? real->opts.look_ns : REAL_LOOK_NS);

	while (now < until && now >= atomic_load_explicit(&real->crowded, memory_order_relaxed)) {
		if (atomic_load(&gong->sounded) != seen)
			return true;
		sched_yield();
		then = now;
		now = real_now(&real->env);
		if (now - then > REAL_LOST_NS)
			atomic_store_explicit(&real->crowded, now + REAL_CROWDED_NS,
					      memory_order_relaxed);
	}
	return atomic_load(&gong->sounded) != seen;
}

int real_gong_wait(struct ddio_env *env, struct ddio_gong *gong, uint32_t seen,
		   uint64_t deadline_ns)
{
	struct real *real = real_of(env);
	const struct timespec at = { .tv_sec = (time_t)(deadline_ns / 1000000000),
				     .tv_nsec = (long)(deadline_ns % 1000000000) };

	if (!gong)
		return atomic_load(&real->loop_tid) == real_tid() ? -EDEADLK : 0;
	if (look(real, gong, seen))
		return 0;
	atomic_fetch_add(&gong->asleep, 1);
	syscall(SYS_futex, &gong->sounded, FUTEX_WAIT_BITSET, seen, &at, NULL,
		FUTEX_BITSET_MATCH_ANY);
	atomic_fetch_sub(&gong->asleep, 1);
	return 0;
}

void real_gong_sound(struct ddio_env *env, struct ddio_gong *gong)
{
	(void)env;
	atomic_fetch_add(&gong->sounded, 1);
	if (atomic_load(&gong->asleep))
		syscall(SYS_futex, &gong->sounded, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
