/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a launcher is asked for the processes of a job that have died. */
#ifndef MPIIO_TEAM_LAUNCHER_WAY_H
#define MPIIO_TEAM_LAUNCHER_WAY_H

#include <stdbool.h>

/**
 * struct launcher_way - one of them
 * @find: whether the launcher of this process can be asked so
 * @ask: 1 if a process has died that is waited for, 0 if it knows of none; an error: it is asked no more.
 *	@concerns: whether a rank of MPI_COMM_WORLD is waited for; @group: what all that wait call those they wait for, or NULL
 * @tell: has the launcher tell those that ask with the same @group; NULL: it does by itself
 */
struct launcher_way {
	bool (*find)(void);
	int (*ask)(bool (*concerns)(int rank), const char *group);
	void (*tell)(const char *group);
};

extern const struct launcher_way launcher_pmi, launcher_pmix;

#endif
