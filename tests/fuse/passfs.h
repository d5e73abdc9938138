/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ddio/fs.h over a directory of this machine: what ddiofs does is right if the same program over this has
 * the semantics of the file system below.  One process at a time; root only.
 */
#ifndef PASSFS_H
#define PASSFS_H

#include <pthread.h>
#include <stdatomic.h>
#include <ddio/fs.h>

/* How a request ended, on its way to its answer. */
struct answer {
	struct answer *next;
	ddio_fs_done done;
	void *arg;
	struct ddio_fs_reply reply;
	struct ddio_fs_attr attr;
	void *data;
};

struct node;
struct lock;

struct ddio_fs {
	int root;
	pthread_mutex_t lock;
	/* nodes: an inode has a handle of the file system below, and a number */
	struct node **nodes;
	uint64_t nnodes;
	struct node *by_handle[4096];
	/* answers, and requests that are taken on their thread */
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

struct ddio_fs_file {
	struct ddio_fs *fs;
	int fd;
	uint64_t ino;
};

struct answer *answer_new(ddio_fs_done done, void *arg);
void answer_give(struct ddio_fs *fs, struct answer *a);
void answer_err(struct ddio_fs *fs, ddio_fs_done done, void *arg, int err);
void answer_value(struct ddio_fs *fs, ddio_fs_done done, void *arg, int64_t value);
int answers_begin(struct ddio_fs *fs);
/* Those that have been given come yet. */
void answers_end(struct ddio_fs *fs);
/* Waiting locks fail. */
void locks_end(struct ddio_fs *fs);

#endif /* PASSFS_H */
