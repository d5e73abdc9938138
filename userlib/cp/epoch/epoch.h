/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Epochs: atomic writes, of a file each, and of several files of a group that have one decision.
 */
#ifndef DDIO_CP_EPOCH_H
#define DDIO_CP_EPOCH_H

#include "cp/file/file.h"

/**
 * struct epoch_job - an atomic write of a file, as its rank 0 sees it; see epoch.c
 * @number: the epoch's; 0: none is open
 * @size: at its begin, the file's; to decide: where the write ends, then the file's
 * @settled: an epoch of before that every disk has settled
 * @error: at the end of a step
 * @unknown: how it was decided is not known
 */
struct epoch_job {
	struct ddio_file *file;
	uint64_t number, size, settled;
	bool unknown;
	struct error error;
	struct node_request request;
	struct request_set set;
	void (*done)(struct epoch_job *job);
	void *arg;
};

/* Begins an epoch; what was left of the one before is settled first. */
void epoch_begin(struct epoch_job *job);
/* Decides it, and has every disk settle it.  Whatever the disks answer, it was decided. */
void epoch_commit(struct epoch_job *job);
/* Gives it up, and has every disk drop it. */
void epoch_abort(struct epoch_job *job);

/**
 * struct epoch_file - a file of an epoch of several
 * @number: at rank 0: of the file's own epoch, not decided; 0: none
 * @size: where its write ends; when it is decided, the file's
 * @failed: its write has, and nodes keep nobody from it
 */
struct epoch_file {
	struct ddio_file *file;
	uint64_t number, size;
	bool failed;
};

/**
 * struct epochs_job - epochs of several files are decided; see files.c
 * @file: @n of them, by number of the file
 * @error, @unknown: as in struct epoch_job
 */
struct epochs_job {
	struct ddio_session *session;
	struct epoch_file file[DDIO_EPOCH_FILES];
	uint32_t n;
	bool unknown;
	struct error error;
	struct node_request request;
	struct request_set set;
	void (*done)(struct epochs_job *job);
	void *arg;
};

/* As epoch_commit() and epoch_abort() do it.  With no file there is nothing to be done. */
void epochs_commit(struct epochs_job *job);
void epochs_abort(struct epochs_job *job);

/*
 * group.c: what belongs to a group's epoch
 */
extern const struct group_user epoch_group_user;

/**
 * epochs_enter - an atomic write of a file begins, in its turn
 * @which: the epoch of the group that it belongs to, and epochs_left() must follow; 0: there is none
 * Return: false with @error: it may not.
 */
bool epochs_enter(struct ddio_group *group, struct ddio_file *file, uint64_t *which,
		  struct error *error);
/* Returns true if the group has an epoch that has a write of the file, whatever has come of it: for what is in the group's order, on all members alike. */
bool epochs_know(struct ddio_group *group, const struct ddio_file *file);
/* Returns true if the group has an epoch that has a write of the file, which has not failed, and that was not given up for its age. */
bool epochs_have(struct ddio_group *group, const struct ddio_file *file);
/* A write has ended, with @error, that epochs_enter() let in with @file, or did not: NULL.  One that failed takes all others with it. */
void epochs_left(struct ddio_group *group, uint64_t which, const struct ddio_file *file,
		 const struct error *error);
/* Rank 0: all have prepared it, and the decision on all will be its own.  Returns false if that has come already. */
bool epochs_keep(struct ddio_group *group, uint64_t which, struct epoch_job *job);

#endif /* DDIO_CP_EPOCH_H */
