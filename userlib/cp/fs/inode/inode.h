/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inodes in use, and their table. */
#ifndef DDIO_CP_FS_INODE_H
#define DDIO_CP_FS_INODE_H

#include "base/hash.h"
#include "cp/fs/core/core.h"
#include "cp/fs/inode/wrote.h"

/**
 * struct fsc_lease - the right to decide the inode's size and times, see lease.h
 * @number: the name server's; 0: there is none
 * @epoch, @releases: struct ddio_fs.epoch and struct fsc_inode.releases when it came
 * @uses: what is under way under it
 * @returning: struct return_job of the name server's wish to have it back, which came at @recalled; @sent: it is under way
 * @taking: it is being asked for; @waits: struct fsc_lease_wait.link: those who want it
 * @writes: how many there were without it; @after: when it is worth asking for again
 * @appending: an append has its place; @appends: struct fsc_lease_wait.link: those that come after it
 * @solid, @solid_end: blocks here were written under the lease, so more writes there take up no more bytes
 * @unsure: counts what may have changed how many bytes the file takes up; @alloc: how many, when that was @counted
 * @wrote: the name server has not been told of writes up to @mtime; @pend: nor, if it is not 0, of this size
 * @known: since the lease came, the name server has been told, durably, of writes up to @durable
 */
struct fsc_lease {
	uint64_t number;
	uint32_t epoch, releases, uses;
	struct return_job *returning;
	bool sent, taking, appending, wrote, known;
	uint32_t writes;
	uint64_t recalled, after, pend;
	uint64_t solid, solid_end, alloc, unsure, counted;
	struct ddio_list waits, appends;
	struct timespec mtime, durable;
};

/**
 * struct fsc_habit - how the file is synced, see sync.h
 * @writes: since the last sync; @usual: how many there were before that one; @times: how often in succession as many
 */
struct fsc_habit {
	uint32_t writes, usual, times;
};

/**
 * struct fsc_inode - an inode in use, or used not long ago
 *
 * Reactor 0:
 * @node, @idle: the table's
 * @refs: jobs and files; without any, as since @since, the inode may be forgotten
 * @opens: open files, and jobs that need the inode open or are about to open it; 0: it is released, or
 *	is being released
 * @releasing: FS_RELEASE has no answer yet; @reopen: struct fsc_opening.link: openings that wait for it
 * @open_link: in struct fsc_names.opens: the name server believes that the inode is open
 * @granted: what the user may do with it is renewed, until it is released
 * @locks: struct fsc_lock.link: locks held; @doubt: others may be held, too
 * @releases: how often the inode was released; any reactor may read it
 *
 * Set with the first opening, and changed only while the inode is not open:
 * @known: @rec says how the file is spread; @fixed: and that will never change
 *
 * The reactor of its data (@r):
 * @change, @size, @asked: what the name server said last, and when
 * @has_data: the name server knows that the file has, or had, data
 * @gone: the name server does not know the inode any more; read by reactor 0, too
 * @tail: a write that failed may have left bytes beyond the file's end
 * @attr: attributes as the name server told them last; @attr_meta: see struct ddio_fs.meta, when that was asked for
 * @dirty: written inside its end, and the name server has not been told; read by reactor 0, too
 * @untold: written beyond its end, under the lease, and the name server has not answered yet; read by reactor 0, too
 * @refusals: how often the name server did not take what was written under a lease
 * @lease: see lease.h
 * @sparse: there was a change that may have made holes, or blocks beyond the end, and the name server has not been told
 * @holder: for each disk of the file, the incarnation of the disk's node that holds writes not yet
 *	synced; 0: none
 * @near_size, @near_until: any thread may believe in this size until then; see size.h
 * @right_out: a right to take back the file's end is on its way, or held; @rights: struct fsc_right.link: those that
 *	wait for it to be dropped, see right.h
 * @sizing: the size is being asked for; @sizers: struct fsc_sizer.link: those that ask next, see size.h
 * @syncing: a sync has its disks at work; @syncs: struct sync_job.link: those that wait for its end
 * @turning: @syncs is being walked
 * @habit: whether a sync is to be expected
 * @tell, @lazy, @lazy_link: see wrote.h
 * @losses: how often a node, or the name server, was found to have lost something; each open file hears of each once
 */
struct fsc_inode {
	struct ddio_fs *fs;
	struct fsc_reactor *r;
	uint64_t ino;
	struct ddio_hash_node node;
	struct ddio_list idle;
	uint64_t since;
	uint32_t refs, opens;
	bool releasing, granted;
	struct ddio_list reopen;
	struct ddio_list open_link;
	struct ddio_list locks;
	bool doubt;
	bool known, fixed;
	struct ddio_file_record rec;
	uint64_t change, size, asked;
	bool has_data, tail, sparse;
	struct ddio_fs_attr attr;
	uint64_t attr_meta;
	atomic_bool gone, dirty, untold;
	atomic_uint releases, nlocks, nlost;
	uint32_t refusals;
	struct fsc_lease lease;
	uint64_t *holder;
	_Atomic uint64_t near_size, near_until;
	bool right_out;
	struct ddio_list rights;
	bool sizing;
	struct ddio_list sizers;
	bool syncing;
	bool turning;
	struct ddio_list syncs;
	struct fsc_habit habit;
	uint32_t losses;
	struct fsc_tell tell;
	struct ddio_timer lazy;
	struct ddio_list lazy_link;
};

/* Any thread, before anything runs: 0 or -ENOMEM. */
int fsc_inodes_new(struct ddio_fs *fs);
/* Any thread, when nothing runs any more. */
void fsc_inodes_free(struct ddio_fs *fs);

/*
 * Reactor 0.
 */
/* Returns NULL if the inode is not in the table. */
struct fsc_inode *fsc_inode_find(struct ddio_fs *fs, uint64_t ino);
/* Finds or makes an inode and takes a reference; returns NULL if there is no memory. */
struct fsc_inode *fsc_inode_get(struct ddio_fs *fs, uint64_t ino);
void fsc_inode_put(struct fsc_inode *inode);
/* Forgets what nobody has used for a minute, unless a later sync needs it: a walk over many files must not take memory permanently. */
void fsc_inodes_trim(struct ddio_fs *fs);
/* How many inodes of the table are not in use. */
uint32_t fsc_inodes_idle(const struct ddio_fs *fs);
/* Each inode of the table counts as changed and not synced: one of them was renamed, and nobody knows which. */
void fsc_inodes_unsynced(struct ddio_fs *fs);
/* Forgets how a file is spread, which may have changed, unless it is in use. */
void fsc_inode_forget(struct ddio_fs *fs, uint64_t ino);

/* Returns true if it is known how the file is spread, and no one can have changed that. */
static inline bool fsc_inode_spread(const struct fsc_inode *inode)
{
	return inode->known && (inode->fixed || inode->opens);
}

/*
 * Any reactor.
 */
static inline bool fsc_inode_dirty(const struct fsc_inode *inode)
{
	return atomic_load_explicit(&inode->dirty, memory_order_acquire) ||
	       atomic_load_explicit(&inode->untold, memory_order_acquire);
}

static inline bool fsc_inode_gone(const struct fsc_inode *inode)
{
	return atomic_load_explicit(&inode->gone, memory_order_acquire);
}

static inline void fsc_inode_set_gone(struct fsc_inode *inode, bool gone)
{
	atomic_store_explicit(&inode->gone, gone, memory_order_release);
}

#endif /* DDIO_CP_FS_INODE_H */
