/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ddio/fs.h over a directory of this machine: ddiofs is right if the same program over this has the semantics
 * of the file system below.  One process at a time; root only.
 */
#ifndef PASSFS_H
#define PASSFS_H

#include <pthread.h>
#include <stdatomic.h>
#include <ddio/fs.h>

/* The reply to a request, on its way. */
struct answer {
	struct answer *next;
	ddio_fs_done done;
	void *arg;
	struct ddio_fs_reply reply;
	struct ddio_fs_attr attr;
	void *data;
};

struct passfs_node;
struct lock;

/* What a struct ddio_fs is here. */
struct passfs {
	int root;
	pthread_mutex_t lock;
	/* nodes: each has a handle of the file system below, and a number */
	struct passfs_node **nodes;
	uint64_t nnodes;
	struct passfs_node *by_handle[4096];
	/* answers, and requests that are taken on the same thread */
	pthread_mutex_t queue_lock;
	struct answer *first, **last;
	pthread_t thread;
	int wake;
	bool stop, asleep;
	int served;
	bool (*serve)(void *arg);
	void *serve_arg;
	/* locks */
	pthread_mutex_t locks_lock;
	struct lock *held, *waiting;
	uint64_t last_id;
};

/* What a struct ddio_fs_file is here. */
struct passfs_file {
	struct ddio_fs *fs;
	int fd;
	uint64_t ino;
};

static inline struct passfs *passfs(struct ddio_fs *fs)
{
	return (struct passfs *)fs;
}

static inline struct passfs_file *passfs_file(struct ddio_fs_file *file)
{
	return (struct passfs_file *)file;
}

struct answer *answer_new(ddio_fs_done done, void *arg);
void answer_give(struct ddio_fs *fs, struct answer *a);
void answer_err(struct ddio_fs *fs, ddio_fs_done done, void *arg, int err);
void answer_value(struct ddio_fs *fs, ddio_fs_done done, void *arg, int64_t value);
int answers_begin(struct ddio_fs *fs);
/* Gives the answers that are still queued, and ends. */
void answers_end(struct ddio_fs *fs);
/* Fails the locks that wait. */
void locks_end(struct ddio_fs *fs);

#endif /* PASSFS_H */
