/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attributes of directories that came with answers to changes in them.  Who changes a directory often asks
 * for its attributes next; so those of the last few directories that were changed here are kept for a moment.
 *
 * Answers may come in another order than the requests were carried out in: one that waits for a commit is
 * overtaken by the next.  So of one directory the attributes with the greatest change count, and what was taken out
 * does not come back with the answer to a request that was under way then.  What is kept contains every change
 * that was made through this struct ddio_fs and has been answered; changes by others it may lack, for as long as
 * it is old.  Reactor 0 only.
 */
#ifndef DDIO_CP_FS_POST_H
#define DDIO_CP_FS_POST_H

#include <ddio/fs.h>

struct fsc_ask;

enum { FSC_POST_SLOTS = 64 };

/**
 * struct fsc_post - the table
 * @clock: counts requests to the name space
 * @attr: of the directory; number 0: of none
 * @at: when the answer came
 * @since: only requests that were sent later may put another directory here
 */
struct fsc_post {
	uint64_t clock;
	struct fsc_post_slot {
		struct ddio_fs_attr attr;
		uint64_t at, since;
	} slot[FSC_POST_SLOTS];
};

/* The request goes out, perhaps once more. */
void fsc_post_sent(struct fsc_ask *ask);
/* Its answer is there; what it may have changed is taken out.  Not if fsc_post_dir() is to follow. */
void fsc_post_replied(struct fsc_ask *ask, bool failed);
/* Of the answer to FS_MAKE or FS_UNLINK: the directory as it is now; NULL: it does not say. */
void fsc_post_dir(struct fsc_ask *ask, const struct ddio_fs_attr *dir);
/* Of the answer to who asked for attributes; of anything. */
void fsc_post_seen(struct fsc_ask *ask, const struct ddio_fs_attr *attr);
/* The connection to the name space is another one. */
void fsc_post_lost(struct ddio_fs *fs);
/* Attributes that are less than @max_age old; *age: how old. */
bool fsc_post_find(struct ddio_fs *fs, uint64_t ino, uint64_t max_age, struct ddio_fs_attr *attr,
		   uint64_t *age);

#endif /* DDIO_CP_FS_POST_H */
