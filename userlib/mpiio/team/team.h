/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes of a communicator: as a group of ddio, and what they tell each other. */
#ifndef MPIIO_TEAM_TEAM_H
#define MPIIO_TEAM_TEAM_H

#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ddio/ddio.h>

/* cluster.c: sessions of this process, one for each configuration. */
struct mpiio_cluster;
int cluster_get(const char *conf, struct mpiio_cluster **cluster);
/* Returns why the last cluster_get() of this thread has failed, or "". */
const char *cluster_why(void);
struct ddio_session *cluster_session(struct mpiio_cluster *c);

/**
 * struct mpiio_team - the processes of a communicator, as a group of ddio
 * @comm: a duplicate, for messages of this library
 * @cluster: whose session the group is of
 * @group: the group, patient
 * @rank: of this process
 * @size: number of processes
 * @refs: files, and the communicator that it was made of
 * @talk: what its processes tell each other; @deaf: one has died, and the MPI may wait for it for ever
 * @heeds: in a talk it looks whether others wait in a call of the group
 * @whole: of a visit: the communicator has all processes of the job
 * @handler: of a visit: the communicator's error handler, which does not hear of what the MPI says of one that has died
 * @talks_of: the file that it is talking about, if it is one
 * @greatest: what processes were about that told each other numbers last
 * @opened: files, to number them
 */
struct mpiio_team {
	MPI_Comm comm;
	struct mpiio_cluster *cluster;
	struct ddio_group *group;
	int rank, size;
	unsigned int refs;
	struct team_talk *talk;
	bool deaf, heeds, whole;
	MPI_Errhandler handler;
	const struct ddio_file *talks_of;
	int64_t greatest;
	uint32_t opened;
	struct mpiio_team *next;
};

/*
 * team.c: processes that have come to an open, before they are a team: @visit has the program's communicator, and the group of a
 * team that was made of it before, if there is one.  Returns false for an intercommunicator.
 */
bool team_visit(struct mpiio_team *visit, MPI_Comm comm);
void team_leave(struct mpiio_team *visit);
/* The communicator's error handler hears of errors again, as after team_leave(). */
void team_unhush(struct mpiio_team *visit);

/* Collective.  Gives the same error on all that live. */
int team_get(struct mpiio_team *visit, const char *conf, struct mpiio_team **team);
void team_put(struct mpiio_team *team);
int team_own(struct mpiio_team **team); /* another of the same processes, which no other file has */

/* A result of rank 0 for everybody, with its text; and whatever of all members is worst. */
struct team_verdict {
	int err;
	char text[256];
};
void verdict_say(struct team_verdict *v, struct ddio_session *session, int err);
void verdict_of_root(struct mpiio_team *t, struct team_verdict *v);
int worst_of(struct mpiio_team *t, int err);

/*
 * talk.c: what the processes of a team tell each other, collectively: the greatest of each of up to six numbers, in its place;
 * rank 0's bytes; what the ranks before this one gave, and all.  team_same(): 0, or 1 if the values differ.  0 or a
 * negative errno, also when a process has died; team_text() has its words.
 *
 * @what: what the program is about, by which programs that make different calls find out: TEAM_DIFFERS on all.  0: a step of
 * something that all have begun.
 */
#define TEAM_DIFFERS (-EREMCHG)
int team_max(struct mpiio_team *t, int64_t what, int64_t *numbers, int n);
int team_bcast(struct mpiio_team *t, void *buf, size_t len);
int team_sum(struct mpiio_team *t, int64_t what, uint64_t mine, uint64_t *before, uint64_t *all);
int team_same(struct mpiio_team *t, int64_t what, int64_t value);
const char *team_text(const struct mpiio_team *t, int err);
/* As team_max(), of a visit: waits for processes that have not come yet. */
int team_come(struct mpiio_team *visit, int64_t *numbers, int n);
/* Duplicates the communicator of @of. */
int team_dup(struct mpiio_team *of, MPI_Comm *comm);

struct team_talk *talk_new(void); /* or NULL */
void talk_free(struct team_talk *talk);
void talk_init(int (*test)(MPI_Request *request, int *done, MPI_Status *status));

#endif
