/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inodes that are in use, their files, and the steps that calls are made of. */
#ifndef DDIO_CP_FS_FILE_H
#define DDIO_CP_FS_FILE_H

#include "cp/fs/core/core.h"

/**
 * struct fsc_waiter - who waits until something was told
 * @end: the size is to be at least this
 * @flags: DDIO_FS_WROTE_*
 */
struct fsc_waiter {
	struct ddio_list link;
	uint64_t end;
	uint32_t flags;
	void (*fn)(struct fsc_waiter *waiter, const struct fsc_error *error);
};

/**
 * struct fsc_tell - telling the name space of writes (FS_WROTE): one request at a time
 * @riding: who is told when the request under way is answered; @queued: with the next
 */
struct fsc_tell {
	struct fsc_ask ask;
	struct ddio_list riding, queued;
	struct ddio_fs_attr attr;
	bool busy, replied;
	uint8_t payload[32];
};

/**
 * struct fsc_inode - an inode in use, or not long ago
 *
 * Reactor 0:
 * @hash, @idle: the table's
 * @refs: jobs and files; without any it may be forgotten
 * @opens: files, and jobs that need it open or are about to open it; 0: it is being released, or has been
 * @releasing: FS_RELEASE has no answer yet; @reopen: who waits for that
 * @open_link: in struct fsc_names.opens: the name space believes that it is open
 * @locks: struct fsc_lock.link: that are had; @doubt: perhaps others are, too
 *
 * Set with the first opening, and then only while it is not open:
 * @known, @rec: how it is spread; @fixed: and will be for ever
 *
 * The reactor of its data (@r):
 * @change, @size, @asked: as the name space said last, and when
 * @bare: it never had data
 * @gone: the name space does not know it any more
 * @tail: bytes behind the end may be left of a write that failed
 * @dirty: written up to @wrote and not told; @dirty is read by reactor 0 too
 * @pin: of each disk: the life of its node that has what was written and not synced; 0: nothing
 * @syncing, @syncs: a sync has its disks at work; those that wait for its end (durable.c)
 * @turning: those are being looked at
 * @tell, @lazy, @lazy_link: see wrote.c
 * @losses: how often a node was found to have lost something; each file hears of each once
 */
struct fsc_inode {
	struct ddio_fs *fs;
	struct fsc_reactor *r;
	uint64_t ino;
	struct ddio_list hash, idle;
	uint32_t refs, opens;
	bool releasing;
	struct ddio_list reopen;
	struct ddio_list open_link;
	struct ddio_list locks;
	bool doubt;
	bool known, fixed;
	struct ddio_file_record rec;
	uint64_t change, size, asked;
	bool bare, gone, tail;
	bool dirty;
	uint64_t wrote;
	uint64_t *pin;
	bool syncing;
	bool turning;
	struct ddio_list syncs;
	uint32_t losses;
	struct fsc_tell tell;
	struct ddio_timer lazy;
	struct ddio_list lazy_link;
};

/**
 * struct ddio_fs_file - an open file
 * @link: in struct ddio_fs.files; reactor 0
 * @losses: those of the inode that it has heard of; the inode's reactor
 * @stream: its number for the prefetchers
 */
struct ddio_fs_file {
	struct ddio_fs *fs;
	struct ddio_list link;
	struct fsc_inode *inode;
	int flags;
	uint32_t losses;
	uint64_t stream;
};

/*
 * The table; reactor 0.
 */
int fsc_table_init(struct ddio_fs *fs);
void fsc_table_free(struct ddio_fs *fs);
/* NULL if it is not there. */
struct fsc_inode *fsc_inode_find(struct ddio_fs *fs, uint64_t ino);
/* Found or made, with a reference; NULL: no memory. */
struct fsc_inode *fsc_inode_get(struct ddio_fs *fs, uint64_t ino);
void fsc_inode_put(struct fsc_inode *inode);
/* Is it known how it is spread, and can nobody have changed that? */
static inline bool fsc_inode_spread(const struct fsc_inode *inode)
{
	return inode->known && (inode->fixed || inode->opens);
}

/* How it is spread may have changed. */
void fsc_inode_forget(struct ddio_fs *fs, uint64_t ino);
/* Its locks are gone with it. */
void fsc_locks_drop(struct fsc_inode *inode);
static inline bool fsc_inode_dirty(const struct fsc_inode *inode)
{
	return __atomic_load_n(&inode->dirty, __ATOMIC_ACQUIRE);
}

static inline bool fsc_inode_gone(const struct fsc_inode *inode)
{
	return __atomic_load_n(&inode->gone, __ATOMIC_ACQUIRE);
}

static inline void fsc_inode_set_gone(struct fsc_inode *inode, bool gone)
{
	__atomic_store_n(&inode->gone, gone, __ATOMIC_RELEASE);
}

/**
 * struct fsc_opening - FS_OPEN, when it can be sent
 * @inode: with a reference, which stays the caller's
 * @look: only to know how it is spread
 * @attr, @flags: the answer
 * Success counts in inode->opens, unless it was only a look; fsc_release() takes it back.
 */
struct fsc_opening {
	struct fsc_ask ask;
	struct ddio_list link;
	struct fsc_inode *inode;
	bool look;
	uint32_t flags; /* DDIO_FS_OPENED_* */
	struct ddio_fs_attr attr;
	struct fsc_error error;
	uint8_t payload[16];
	void (*done)(struct fsc_opening *opening);
};

void fsc_open(struct fsc_opening *opening);
/* The name space has it open for us, and inode->opens counts it: what came with that.  0 or -errno. */
int fsc_opened(struct fsc_inode *inode, struct ddio_msg_fs_opened *x);
/* How it is spread, of one that need not be open. */
int fsc_inode_record(struct fsc_inode *inode, struct ddio_msg_fs_opened *x);

/**
 * struct fsc_release - the end of one opening
 * @done: when the name space knows; may be NULL, then it is freed
 */
struct fsc_release {
	struct fsc_ask ask;
	struct fsc_inode *inode;
	uint8_t payload[16];
	void (*done)(struct fsc_release *release);
};

/* Takes the reference, too. */
void fsc_release(struct fsc_release *release);
/* The same, for nobody who waits. */
void fsc_release_quietly(struct fsc_inode *inode);

/*
 * The inode's reactor.
 */
/* It was opened, or looked at. */
void fsc_inode_opened(struct fsc_inode *inode, uint32_t flags, const struct ddio_fs_attr *attr);
/* What the name space said of it, unless something newer is known. */
void fsc_inode_learn(struct fsc_inode *inode, const struct ddio_fs_attr *attr);
void fsc_inode_tell(struct fsc_inode *inode, struct fsc_waiter *waiter);
/* Everything that was written: calls back at once if there is nothing. */
void fsc_inode_flush(struct fsc_inode *inode, struct fsc_waiter *waiter);
/* It is about to have data: has to be told before the first of them. */
void fsc_inode_clothe(struct fsc_inode *inode, struct fsc_waiter *waiter,
		      void (*fn)(struct fsc_waiter *waiter, const struct fsc_error *error));
/* It was written inside of its end: that is told some time. */
void fsc_inode_wrote(struct fsc_inode *inode, uint64_t end);
/**
 * struct fsc_sizer - asking the name space for the attributes
 * @attr: the answer, which the inode has learnt
 */
struct fsc_sizer {
	struct fsc_ask ask;
	struct fsc_inode *inode;
	struct ddio_fs_attr attr;
	struct fsc_error error;
	uint8_t payload[8];
	void (*done)(struct fsc_sizer *sizer);
};

void fsc_size_ask(struct fsc_sizer *sizer, struct fsc_inode *inode,
		  void (*done)(struct fsc_sizer *sizer));

/**
 * struct fsc_cut - setting a size: objects first, then the name space
 * @inode: must be known if a size is set; NULL: nobody here needs to know what is set
 * @home: where this goes on: the inode's reactor
 * @msg: to the name space; the size is part of it
 * @attr: its answer, which the inode has learnt
 */
struct fsc_cut {
	struct fsc_inode *inode;
	struct fsc_reactor *home;
	struct ddio_msg_fs_setattr msg;
	struct ddio_fs_attr attr;
	struct fsc_error error;
	struct fsc_waiter waiter;
	struct fsc_sizer sizer;
	struct fsc_ask ask;
	uint8_t payload[96];
	void (*done)(struct fsc_cut *cut);
};

void fsc_cut(struct fsc_cut *cut);
/* The file system ends: on every reactor. */
void fsc_inodes_end(struct fsc_reactor *r);

/* For the prefetchers. */
uint64_t fsc_stream_next(struct ddio_fs *fs);

/*
 * Removing the objects of inodes that nobody needs; reactor 0.
 */
void fsc_removals_init(struct ddio_fs *fs);
/* One of them; takes over @rec. */
void fsc_remove_left(struct ddio_fs *fs, struct ddio_file_record *rec);
/* Of a reply with such. */
void fsc_remove_listed(struct ddio_fs *fs, const struct reply *reply);
void fsc_removals_beat(struct ddio_fs *fs);
bool fsc_removals_idle(const struct ddio_fs *fs);

#endif /* DDIO_CP_FS_FILE_H */
