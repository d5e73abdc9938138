// SPDX-License-Identifier: LGPL-2.1-or-later
/* A number that is another process's meanwhile is of one that is there: who has died is missed at worst. */
#include <errno.h>
#include <signal.h>
#include <sys/types.h>
#include "mpiio/team/siblings.h"

static const int *pids;
static unsigned int npids;

void siblings_know(const int *pid, unsigned int n)
{
	pids = pid;
	npids = n;
}

bool siblings_are_known(void)
{
	return npids > 0;
}

bool siblings_miss(void)
{
	unsigned int i;

	for (i = 0; i < npids; i++)
		if (kill(pids[i], 0) && errno == ESRCH)
			return true;
	return false;
}
