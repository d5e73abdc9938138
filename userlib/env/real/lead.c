// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A thread that has nothing to do but wait runs the loop itself, which saves waking the loop's own thread, and being
 * woken by it.
 *
 * The loop's own thread *lends* the loop once it has opened a gate for which a thread waited in real_call(): it
 * puts REAL_FREE into @loop_tid and sleeps.  The next thread that calls puts its own number there, runs
 * turns until its gate is open, and *leaves* the loop free.  Others that wait meanwhile sleep at their gates, as they
 * would if the loop's own thread ran it.
 *
 * A free loop serves nobody.  So its own thread takes it back when nobody has run it for REAL_LENT_NS, or up to REAL_LENT_MOST_NS
 * where others did whenever it looked, since it wakes up for each look; and at once when
 * it is *wanted*: there are posts of threads that do not wait, threads that sleep at gates, or it is to stop.  Whoever
 * brings something to be done looks at @loop_tid afterwards, and whoever leaves the loop looks afterwards whether
 * there is something: one of the two sees the other.
 *
 * Signals of a thread that runs the loop are let in only while it sleeps, so that no handler runs in the middle of
 * anything.
 */
#include <errno.h>
#include <linux/futex.h>
#include <time.h>
#include "env/real/priv.h"

/* In @rung: take the loop; look again after a while, and take it then. */
#define RING_TAKE 1
#define RING_TIME 2

static void ring(struct real *real, uint32_t what)
{
	if (!(atomic_fetch_or(&real->rung, what) & what))
		syscall(SYS_futex, &real->rung, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool wanted(const struct real *real)
{
	return atomic_load(&real->posts) || atomic_load(&real->waiting) || atomic_load(&real->stop);
}

void real_want(struct real *real)
{
	if (atomic_load(&real->loop_tid) == REAL_FREE)
		ring(real, RING_TAKE);
}

/* Processes that are served wait, as threads at gates do. */
void real_serve(struct ddio_env *env, bool serve)
{
	struct real *real = real_of(env);

	if (serve)
		atomic_fetch_add(&real->waiting, 1);
	else
		atomic_fetch_sub(&real->waiting, 1);
}

bool real_may_lend(const struct real *real)
{
	return real->opened && ddio_list_empty(&real->broken) && !wanted(real);
}

static bool take(struct real *real, int tid)
{
	int none = REAL_FREE;

	return atomic_compare_exchange_strong(&real->loop_tid, &none, tid);
}

/* Sleeps until it is rung for, or for @ns if that is not 0.  Return: RING_*, or 0. */
static uint32_t await_ring(struct real *real, long ns)
{
	const struct timespec time = { .tv_nsec = ns };

	syscall(SYS_futex, &real->rung, FUTEX_WAIT_PRIVATE, 0, ns ? &time : NULL, NULL, 0);
	return atomic_exchange(&real->rung, 0);
}

static long longer(long pause)
{
	return pause && pause < REAL_LENT_MOST_NS ? pause * 2 : REAL_LENT_MOST_NS;
}

/* Somebody runs it for long: there is nothing to do until he leaves.  Returns how long to sleep: 0: until it is rung for. */
static long until_left(struct real *real)
{
	atomic_store(&real->tired, 1);
	return atomic_load(&real->loop_tid) == REAL_FREE ? REAL_LENT_MOST_NS : 0;
}

/**
 * real_lend - let threads that wait run the loop
 * @real: this thread runs its loop
 * Returns when this thread runs it again.
 */
void real_lend(struct real *real)
{
	uint32_t led = atomic_load(&real->led), seen, rung;
	int tid = atomic_load(&real->loop_tid);
	long pause = REAL_LENT_NS;
	bool idle;

	real->opened = false;
	atomic_store(&real->rung, 0);
	atomic_store(&real->loop_tid, REAL_FREE);
	if (wanted(real))
		ring(real, RING_TAKE);
	for (;;) {
		rung = await_ring(real, pause);
		seen = led;
		led = atomic_load(&real->led);
		idle = rung & RING_TAKE || (!rung && led == seen);
		if (idle && take(real, tid))
			return;
		pause = idle && pause == REAL_LENT_MOST_NS ? until_left(real) : longer(pause);
	}
}

static void leave(struct real *real)
{
	bool more = !ddio_list_empty(&real->broken);

	atomic_store(&real->loop_tid, REAL_FREE);
	if (more || wanted(real))
		ring(real, RING_TAKE);
	else if (atomic_exchange(&real->tired, 0))
		ring(real, RING_TIME);
}

/* Signals that a handler may want at once, since they are about what the thread does. */
static void block_signals(sigset_t *old)
{
	static const int now[] = { SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
				   SIGTRAP, SIGSYS, SIGABRT, SIGPROF };
	sigset_t set;
	size_t i;

	sigfillset(&set);
	for (i = 0; i < sizeof(now) / sizeof(now[0]); i++)
		sigdelset(&set, now[i]);
	pthread_sigmask(SIG_BLOCK, &set, old);
}

/* Runs the loop, which this thread has taken, until the gate opens or the loop is to end. */
static void lead(struct real *real, struct ddio_gate *gate)
{
	sigset_t signals;
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	block_signals(&signals);
	atomic_fetch_add(&real->led, 1);
	real->signals = &signals;
	do {
		real_work(real);
	} while (!ddio_gate_is_open(gate) && !atomic_load(&real->stop) && !real_events(real));
	real->signals = NULL;
	leave(real);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
	pthread_setcancelstate(cancel, NULL);
}

static void sleep_at(struct real *real, struct ddio_gate *gate)
{
	uint32_t state = GATE_SHUT;

	atomic_fetch_add(&real->waiting, 1);
	if (!atomic_compare_exchange_strong(&gate->open, &state, GATE_CALLED)) {
		atomic_fetch_sub(&real->waiting, 1);
		return;
	}
	real_want(real);
	real_gate_sleep(gate, GATE_CALLED, 0);
}

int real_call(struct ddio_env *env, struct ddio_post *post, struct ddio_gate *gate)
{
	struct real *real = real_of(env);
	int tid = real_tid();

	if (atomic_load(&real->loop_tid) == tid)
		return -EDEADLK;
	if (post) {
		real_post_later(env, post);
		real_rouse(real);
	}
	if (!ddio_gate_is_open(gate) && take(real, tid))
		lead(real, gate);
	if (!ddio_gate_is_open(gate))
		sleep_at(real, gate);
	return 0;
}
