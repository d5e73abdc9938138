// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a child of fork() has of its parent's connections: nothing.  A child that went on with them would keep them open when
 * the parent has died, and the peers would wait for it for as long as the child lives.  A program that the child executes
 * has none of them anyway.
 */
#include "env/aside.h"
#include "env/real/priv.h"

/* Descriptors beyond are the child's, too. */
#define OWN_FDS 65536

static _Atomic uint64_t own[OWN_FDS / 64];

static void child_begins(void)
{
	unsigned int i;

	for (i = 0; i < OWN_FDS / 64; i++) {
		uint64_t bits = own[i];

		for (own[i] = 0; bits; bits &= bits - 1)
			close((int)(64 * i) + __builtin_ctzll(bits));
	}
}

static void child_watch(void)
{
	pthread_atfork(NULL, NULL, child_begins);
}

void own_fd(int fd)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, child_watch);
	if (fd >= 0 && fd < OWN_FDS)
		own[fd / 64] |= UINT64_C(1) << fd % 64;
}

/* Another thread may have the number at once. */
static void disown_fd(int fd)
{
	if (fd >= 0 && fd < OWN_FDS)
		own[fd / 64] &= ~(UINT64_C(1) << fd % 64);
}

void own_fd_close(int fd)
{
	disown_fd(fd);
	close(fd);
}

void own_fd_close_aside(int fd)
{
	disown_fd(fd);
	close_aside(fd);
}
