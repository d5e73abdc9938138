/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Leases: while this mount has one, it decides the inode's size and times alone, and tells the name server later: with
 * a flush, after a second, or when it returns the lease because somebody else asks.  All of it on the inode's reactor,
 * except where it says otherwise.
 */
#ifndef DDIO_CP_FS_LEASE_H
#define DDIO_CP_FS_LEASE_H

#include "cp/fs/inode/inode.h"

/**
 * struct fsc_lease_wait - somebody who wants the lease
 * @fn: called when it is there, or the mount does not get it, which fsc_lease_usable() tells; perhaps inside
 */
struct fsc_lease_wait {
	struct ddio_list link;
	void (*fn)(struct fsc_lease_wait *wait);
};

/* Any thread. */
void fsc_lease_init(struct fsc_inode *inode);
/* Returns true if something may begin under the lease; fsc_lease_begin() notes that it has. */
bool fsc_lease_usable(const struct fsc_inode *inode);
void fsc_lease_begin(struct fsc_inode *inode);
/* Returns true if what was begun under the lease was done under it: no other mount can have come between. */
bool fsc_lease_kept(const struct fsc_inode *inode);
/* Notes that what was begun is over. */
void fsc_lease_over(struct fsc_inode *inode);
/* Asks for the lease, also if that takes it away from another mount. */
void fsc_lease_take(struct fsc_inode *inode, struct fsc_lease_wait *wait);
/* Something was written without a lease: has one asked for, if that is worth while, and no other mount uses the file. */
void fsc_lease_hint(struct fsc_inode *inode);
/* Notes that the bytes [@from, @end) were written under the lease. */
void fsc_lease_wrote(struct fsc_inode *inode, uint64_t from, uint64_t end);
/* Something else may have changed how many bytes the file takes up. */
void fsc_lease_unsure(struct fsc_inode *inode);
/* Notes how many bytes the disks have said that the file takes up; @unsure: as it was when they were asked. */
void fsc_lease_counted(struct fsc_inode *inode, uint64_t unsure, uint64_t alloc);
/* Returns true, and the attributes, if they are this mount's to tell. */
bool fsc_lease_attr(const struct fsc_inode *inode, struct ddio_fs_attr *attr);

/*
 * For wrote.c.
 */
/* Something was written now, without the lease. */
void fsc_lease_touch(struct fsc_inode *inode);
/* Adds to @msg what was done under the lease; returns true if there is anything. */
bool fsc_lease_tell(struct fsc_inode *inode, struct ddio_msg_fs_wrote *msg);
/* The name server has answered what fsc_lease_tell() said, up to @pend; @err: it was not told, or has refused. */
void fsc_lease_told(struct fsc_inode *inode, uint64_t pend, int err);
/* And that is durable: writes up to @mtime, under the lease of this number. */
void fsc_lease_durable(struct fsc_inode *inode, uint64_t lease, const struct timespec *mtime);
/* Returns true if a sync need not tell what was written: the name server knows all but the last moment of it, durably. */
bool fsc_lease_known(const struct fsc_inode *inode);

/* Reactor 0: the name server wants a lease back. */
void fsc_lease_recalled(struct ddio_fs *fs, uint64_t ino, uint64_t lease);
/* Reactor 0: the name server is lost, and with it all leases: what is due is told as soon as it is back. */
void fsc_leases_lost(struct ddio_fs *fs);
/* Any thread: has everything told that would be told later; fsc_leases_told() returns true when it has been. */
void fsc_leases_hurry(struct ddio_fs *fs);
bool fsc_leases_told(struct ddio_fs *fs);

#endif /* DDIO_CP_FS_LEASE_H */
