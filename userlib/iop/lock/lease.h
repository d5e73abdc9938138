/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Leases: the right of one mount to decide an inode's size and times alone.  Whoever else needs to know them, or to
 * change them, has the lease recalled and waits until it is returned, or until its holder has had its time.  Those who
 * waited are called in the order in which they came, some in each turn; whoever comes meanwhile stands in line behind them,
 * and nobody is granted a lease.
 * Independent of messages: waiters and holders are told by callbacks.
 */
#ifndef DDIO_LEASE_H
#define DDIO_LEASE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/list.h"
#include "iop/bound/bound.h"
#include "proto/proto.h"

/**
 * struct lease_wait - somebody who waits for the end of a lease; the caller owns the memory
 * @done: called at the end, when nobody has the lease; it may wait again
 */
struct lease_wait {
	struct ddio_list link;
	void (*done)(struct lease_wait *wait);
	void *arg;
};

/**
 * struct leases - all of them
 * @files: struct lease, by inode; @mounts: struct lease_mount, by mount
 * @recalled: struct lease.recalled: those that have been recalled, the first one first
 * @last: number of the last one granted
 * @bounds: how many a mount may have, the reactor's or @own
 * @telling: struct lease_mount.telling: those that have not been told of all recalls
 * @lagging: struct lease_mount.lagging: those that were late, and have leases that were not recalled
 * @ended: struct lease.ended: those for whose end somebody waited who has not been called
 * @more: has leases_go_on() called with @arg's leases in another turn; NULL: all is done in one
 * @busy: those who stand in line are being called, or it is to be called
 */
struct leases {
	struct ddio_hash files, mounts;
	struct ddio_list recalled, telling, ended, lagging;
	uint64_t last;
	struct bounds *bounds, own;
	void (*more)(void *arg);
	void *arg;
	bool busy;
};

void leases_init(struct leases *leases);
/* Nobody may be waiting. */
void leases_free(struct leases *leases);

/* The mount listens for recalls by @listener, or (NULL) no more; without one it is granted none.  0 or -ENOMEM. */
int leases_listen(struct leases *leases, const void *mount, void *listener);
/* Returns the listener of a mount. */
void *leases_listener(const struct leases *leases, const void *mount);
/* Returns the mount's lease of the inode, which it may have already, or 0: it gets none. */
uint64_t lease_grant(struct leases *leases, uint64_t ino, const void *mount);
/* Returns true if the mount has this lease. */
bool lease_held(const struct leases *leases, uint64_t ino, const void *mount, uint64_t number);
/* Returns true if another than @mount (NULL: any) has a lease of the inode. */
bool lease_of_other(const struct leases *leases, uint64_t ino, const void *mount);
/* Returns true if those who waited for the end of a lease of the inode have not all been called. */
bool lease_line(const struct leases *leases, uint64_t ino);
/*
 * Recalls the lease, which another mount has, at time @now, or stands in line; @wait may be NULL.  leases_tell() is due after one or
 * more of them.
 */
void lease_recall(struct leases *leases, uint64_t ino, uint64_t now, struct lease_wait *wait);
/* Takes out what waits. */
void lease_forget(struct lease_wait *wait);
/* Ends the mount's lease of the inode, if it has this one (0: whichever). */
void lease_end(struct leases *leases, uint64_t ino, const void *mount, uint64_t number);
/*
 * The mount ends: all of its leases, or *@steps at most, which is less then.  Returns true if nothing of it is left; else it
 * gets no more of them.
 */
bool leases_drop_mount(struct leases *leases, const void *mount, uint64_t *steps);
/* Calls @fn for each listener of a mount that has not been told of a recall. */
void leases_tell(struct leases *leases, void (*fn)(void *listener));
/* Calls @fn for every listener. */
void leases_each_listener(struct leases *leases, void (*fn)(void *listener));
/* Takes up to @max recalls of which the mount has not been told. */
uint32_t leases_take_due(struct leases *leases, const void *mount, struct ddio_fs_recall *to,
			 uint32_t max);
/*
 * Ends the leases that were recalled @timeout before @now, or earlier; all others of their mounts are recalled then, and
 * leases_tell() is due: they get no more of them.  Some are left for another turn if they are many.  Returns when the next
 * one to be looked at was recalled (as long ago as it may be, if some are left), or 0.
 */
uint64_t leases_expire(struct leases *leases, uint64_t now, uint64_t timeout, uint32_t *ended);
/* Calls some more of those who stand in line. */
void leases_go_on(struct leases *leases);
/* The node ends, and all leases do; every waiter is told. */
void leases_stop(struct leases *leases);

#endif /* DDIO_LEASE_H */
