// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include "interrupt.h"

static const int watched[] = { SIGINT, SIGTERM, SIGHUP };
static volatile sig_atomic_t came;
static struct timespec first;

/* timeout(1) and make(1) send the same signal twice at once: that is one wish. */
static void note(int number)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (came && now.tv_sec > first.tv_sec + 1) {
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	if (!came)
		first = now;
	came = number;
}

void interrupt_watch(void)
{
	/* A read() that waits ends with EINTR. */
	struct sigaction how = { .sa_handler = note }, old;
	size_t i;

	for (i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
		/* A shell's background command ignores SIGINT, nohup's SIGHUP: so does this. */
		if (!sigaction(watched[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(watched[i], &how, NULL);
}

bool interrupt_came(void)
{
	return came;
}

void interrupt_end(void)
{
	if (!came)
		return;
	signal(came, SIG_DFL);
	raise(came);
}
