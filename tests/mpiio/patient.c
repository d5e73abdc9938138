// SPDX-License-Identifier: GPL-2.0-only
/*
 * patient.so: sched_yield() for the ranks of a test, before the C library's.  A rank that waits in an MPI asks again and again whether
 * a message has come, and yields in between, so it uses a whole processor, which the daemons and other tests want.  Here whoever
 * yields over and over sleeps a little instead.
 */
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Yields that follow one another within so short a time are of one wait; so many of them come before its first sleep. */
#define SAME_WAIT_NS 50000
#define YIELDS 20
#define SLEEP_NS 50000

static __thread long naps;

/* Returns how often this thread has slept here: a test that counts sleeps leaves them out. */
long patient_naps(void)
{
	return naps;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int sched_yield(void)
{
	static __thread uint64_t last;
	static __thread unsigned int yields;
	const struct timespec nap = { .tv_nsec = SLEEP_NS };

	yields = now() - last < SAME_WAIT_NS ? yields + 1 : 0;
	if (yields > YIELDS) {
		nanosleep(&nap, NULL);
		naps++;
	} else {
		syscall(SYS_sched_yield);
	}
	last = now();
	return 0;
}
