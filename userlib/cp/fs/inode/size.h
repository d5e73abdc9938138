/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is known of an inode's size.  All of it on the inode's reactor. */
#ifndef DDIO_CP_FS_SIZE_H
#define DDIO_CP_FS_SIZE_H

#include "cp/fs/inode/inode.h"

/**
 * struct fsc_sizer - asking the name server for the attributes
 * @link: in struct fsc_inode.sizers, or in @with of another one
 * @with: struct fsc_sizer.link: sizers that get the same answer
 * @attr: the answer, which the inode has learnt
 */
struct fsc_sizer {
	struct ddio_list link, with;
	struct fsc_ask ask;
	struct fsc_inode *inode;
	struct ddio_fs_attr attr;
	struct fsc_error error;
	uint8_t payload[8];
	void (*done)(struct fsc_sizer *sizer);
};

/*
 * Asks.  The answer was given after this call.  One request is under way for an inode at a time; sizers that come
 * meanwhile share the next one.
 */
void fsc_size_ask(struct fsc_sizer *sizer, struct fsc_inode *inode,
		  void (*done)(struct fsc_sizer *sizer));
/*
 * Takes over attributes of the name server's, unless newer ones are known.  @meta: struct fsc_ask.meta of the request
 * that they came with; 0: they are no good for more than the size.
 */
void fsc_inode_learn(struct fsc_inode *inode, const struct ddio_fs_attr *attr, uint64_t meta);
/*
 * Any thread may believe for a moment in the size as it is known now, for reading inside it; until fsc_size_doubt().
 * fsc_size_near() returns true if the bytes [0, @end) are inside; on any thread.
 */
static inline void fsc_size_vouch(struct fsc_inode *inode, uint64_t until)
{
	atomic_store(&inode->near_size, inode->size);
	atomic_store(&inode->near_until, until);
}

static inline void fsc_size_doubt(struct fsc_inode *inode)
{
	atomic_store(&inode->near_until, 0);
}

static inline bool fsc_size_near(struct fsc_inode *inode, uint64_t end)
{
	return atomic_load(&inode->near_until) > ddio_env_now(inode->r->env) &&
	       end <= atomic_load(&inode->near_size);
}

/* Takes over what came with opening the inode, or with a look at it; @flags: DDIO_FS_OPENED_*. */
void fsc_inode_opened(struct fsc_inode *inode, uint32_t flags, const struct ddio_fs_attr *attr);

#endif /* DDIO_CP_FS_SIZE_H */
