// SPDX-License-Identifier: LGPL-2.1-or-later
/* Changes attributes, sizes and times. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/priv.h"

/* Of FS_WROTE: they say by which right something was written, not what. */
#define LEASE_FLAGS (DDIO_FS_WROTE_LEASED | DDIO_FS_WROTE_RETURN)

/* What the writer has told last is remembered: it may not have been answered. */
static void writer_past(struct inode *inode)
{
	uint32_t i = 0;

	while (i < INODE_PAST - 1 && inode->past[i].writer != inode->writer)
		i++;
	memmove(inode->past + 1, inode->past, i * sizeof(*inode->past));
	inode->past[0] = (struct inode_told){ .writer = inode->writer, .told = inode->told };
	inode->told = 0;
}

/* @mount, or (NULL) somebody who is none, changes the data. */
static void writer_set(struct inode *inode, const struct ns_mount *mount)
{
	uint64_t writer = S_ISREG(inode->mode) && mount ? ns_mount_number(mount) : 0;

	if (inode->told && writer != inode->writer)
		writer_past(inode);
	inode->writer = writer;
}

int ns_claim(struct ns *ns, const struct ns_mount *mount, struct inode *inode)
{
	if (inode->writer == ns_mount_number(mount))
		return 0;
	ns_begin(ns);
	writer_set(inode, mount);
	return ns_end(ns, ns_store(ns, inode));
}

bool ns_still_holds(const struct ns *ns, const struct ns_mount *mount, const struct inode *inode,
		    const struct ddio_msg_fs_wrote *x)
{
	/* Nothing is lost that was answered since the lease was granted. */
	bool kept = x->lease > ns->began || !mount->lost;

	if (!x->since && !kept)
		return false;
	/* A change is smaller only if this start has lost a later one. */
	return (x->since && inode->change <= x->since) || inode->writer == ns_mount_number(mount);
}

static struct ns_told tell_of(const struct ddio_msg_fs_wrote *x)
{
	return (struct ns_told){ .ino = x->ino,
				 .end = x->end,
				 .lease = x->lease,
				 .since = x->since,
				 .sec = x->mtime.tv_sec,
				 .nsec = x->mtime.tv_nsec,
				 .flags = x->flags };
}

void ns_tell_note(struct ns_mount *mount, const struct ddio_msg_fs_wrote *x)
{
	if (!mount || !(x->flags & DDIO_FS_WROTE_LEASED))
		return;
	/* Without memory a lost answer is an error, as it is when many come between. */
	if (!mount->tells)
		mount->tells = calloc(NS_TELLS, sizeof(*mount->tells));
	if (mount->tells)
		mount->tells[mount->ntells++ % NS_TELLS] = tell_of(x);
}

/* Never 0.  It is in records. */
static uint64_t tell_digest(const struct ddio_msg_fs_wrote *x)
{
	const struct ns_told t = tell_of(x);
	const uint64_t v[] = { t.ino,  t.end, t.lease, t.since, (uint64_t)t.sec, (uint64_t)t.nsec,
			       t.flags };
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		h = (h ^ v[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	return h ? h : 1;
}

/* Over restarts the inode remembers what each of the last writers has told last: a mount tells of an inode one after the other. */
static bool told_before(const struct inode *inode, uint64_t mount, uint64_t digest)
{
	uint32_t i;

	if (inode->writer == mount && inode->told == digest)
		return true;
	for (i = 0; i < INODE_PAST; i++)
		if (inode->past[i].writer == mount && inode->past[i].told == digest)
			return true;
	return false;
}

bool ns_tell_again(const struct ns_mount *mount, const struct inode *inode,
		   const struct ddio_msg_fs_wrote *x)
{
	const struct ns_told tell = tell_of(x);
	uint64_t i;

	if (told_before(inode, ns_mount_number(mount), tell_digest(x)))
		return true;

	for (i = 0; i < NS_TELLS && i < mount->ntells; i++)
		if (!memcmp(&mount->tells[i], &tell, sizeof(tell)))
			return true;
	return false;
}

static int regular_check(const struct inode *inode)
{
	if (S_ISDIR(inode->mode))
		return -EISDIR;
	return S_ISREG(inode->mode) ? 0 : -EINVAL;
}

/* A snapshot keeps what it has. */
static int frozen_check(const struct inode *inode)
{
	return inode->flags & INODE_FROZEN ? -EROFS : 0;
}

static void kill_suid(struct inode *inode)
{
	if (S_ISDIR(inode->mode))
		return;
	inode->mode &= ~(uint32_t)S_ISUID;
	if (inode->mode & S_IXGRP)
		inode->mode &= ~(uint32_t)S_ISGID;
}

static void set_times(const struct ddio_msg_fs_setattr *x, struct inode *inode)
{
	/* ns_touch() has set the status change to the current time. */
	struct timespec now = inode->ctime;

	if (x->mask & DDIO_FS_SET_ATIME_NOW)
		inode->atime = now;
	else if (x->mask & DDIO_FS_SET_ATIME)
		inode->atime = x->atime;
	if (x->mask & DDIO_FS_SET_MTIME_NOW)
		inode->mtime = now;
	else if (x->mask & DDIO_FS_SET_MTIME)
		inode->mtime = x->mtime;
	if (x->mask & DDIO_FS_SET_CTIME)
		inode->ctime = x->ctime;
}

static int set_mode(struct ns *ns, const struct ddio_msg_fs_setattr *x, struct inode *inode)
{
	if (x->mask & DDIO_FS_KILL_SUID)
		kill_suid(inode);
	if (!(x->mask & DDIO_FS_SET_MODE))
		return 0;
	inode->mode = (inode->mode & S_IFMT) | (x->mode & 07777u);
	return ns_acl_chmod(ns, inode);
}

static int set_all(struct ns *ns, const struct ns_mount *mount, const struct ddio_msg_fs_setattr *x,
		   struct inode *inode)
{
	int ret = frozen_check(inode);

	if (!ret && x->mask & DDIO_FS_SET_SIZE) {
		ret = regular_check(inode);
		if (!ret && x->size > DDIO_MAX_FILE)
			ret = -EFBIG;
		inode->size = ret ? inode->size : x->size;
	}
	if (ret)
		return ret;
	ns_touch(ns, inode, x->mask & DDIO_FS_SET_SIZE);
	if (x->mask & (DDIO_FS_SET_SIZE | DDIO_FS_SET_MTIME | DDIO_FS_SET_MTIME_NOW))
		writer_set(inode, mount);
	if (x->mask & DDIO_FS_SET_UID)
		inode->uid = x->uid;
	if (x->mask & DDIO_FS_SET_GID)
		inode->gid = x->gid;
	set_times(x, inode);
	ret = set_mode(ns, x, inode);
	if (!ret)
		ret = ns_store(ns, inode);
	if (!ret && x->mask & (DDIO_FS_SET_UID | DDIO_FS_SET_GID))
		ret = ns_snaps_follow(ns, inode);
	return ret;
}

/* A read: neither status nor data have changed. */
static int set_atime(struct ns *ns, struct inode *inode)
{
	inode->atime = ns_now(ns);
	return ns_store(ns, inode);
}

int ns_setattr(struct ns *ns, const struct ns_mount *mount, const struct ddio_msg_fs_setattr *x,
	       struct inode *inode)
{
	int ret = ns_load(ns, x->ino, inode);

	if (ret || !x->mask)
		return ret;
	ns_begin(ns);
	ret = x->mask == DDIO_FS_SET_ATIME_READ ? set_atime(ns, inode)
						: set_all(ns, mount, x, inode);
	return ns_end(ns, ret);
}

#define CAPABILITY "security.capability"

static bool is_armed(struct ns *ns, const struct inode *inode)
{
	uint8_t *value = NULL;
	uint32_t len;
	int ret;

	if (inode->mode & S_ISUID || (inode->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		return true;
	ret = ns_xattr_read(ns, inode->ino, CAPABILITY, &value, &len);
	free(value);
	return ret != -ENODATA;
}

int ns_disarm(struct ns *ns, struct inode *inode)
{
	int ret;

	if (!S_ISREG(inode->mode) || !is_armed(ns, inode))
		return 0;
	ns_begin(ns);
	kill_suid(inode);
	ns_touch(ns, inode, false);
	ret = ns_xattr_delete(ns, inode->ino, CAPABILITY);
	return ns_end(ns, ret ? ret : ns_store(ns, inode));
}

/* Returns the bytes on disks of a file of this size without holes, or blocks beyond its end. */
static uint64_t alloc_whole(const struct inode *inode)
{
	uint64_t block = inode->stripe.block;

	return inode->size / block * block + (inode->size % block ? block : 0);
}

/* Returns true if the file is known to have neither holes nor blocks beyond its end. */
static bool is_whole(const struct inode *inode)
{
	if (!(inode->flags & INODE_DATA))
		return !inode->size;
	return inode->alloc_change == inode->change && inode->alloc == alloc_whole(inode);
}

static struct timespec later(const struct timespec *a, const struct timespec *b)
{
	bool before = a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;

	return before ? *b : *a;
}

/* Makes the file longer; @whole: what is behind the old end is written, or about to be. */
static int grow(struct ns *ns, const struct ns_mount *mount, const struct ddio_msg_fs_wrote *x,
		bool whole, struct inode *inode)
{
	const struct timespec ctime = inode->ctime;
	int ret = frozen_check(inode);

	if (ret)
		return ret;
	whole = whole && is_whole(inode);
	if (x->end > inode->size)
		inode->size = x->end;
	if (x->flags & DDIO_FS_WROTE_DATA)
		inode->flags |= INODE_DATA;
	if (x->flags & DDIO_FS_WROTE_KILL_SUID)
		kill_suid(inode);
	ns_touch(ns, inode, true);
	writer_set(inode, mount);
	if (x->flags & DDIO_FS_WROTE_LEASED && mount)
		inode->told = tell_digest(x);
	if (x->flags & DDIO_FS_WROTE_LEASED && x->flags & DDIO_FS_WROTE_TIMES) {
		inode->mtime = x->mtime;
		inode->ctime = later(&ctime, &x->mtime);
	}
	if (whole) {
		inode->alloc = alloc_whole(inode);
		inode->alloc_change = inode->change;
	}
	return ns_store(ns, inode);
}

int ns_wrote(struct ns *ns, const struct ns_mount *mount, const struct ddio_msg_fs_wrote *x,
	     struct inode *inode)
{
	int ret = ns_load(ns, x->ino, inode);

	if (!ret)
		ret = regular_check(inode);
	if (ret)
		return ret;
	if (x->end <= inode->size && !(x->flags & ~(DDIO_FS_WROTE_DATA | LEASE_FLAGS)) &&
	    (!(x->flags & DDIO_FS_WROTE_DATA) || inode->flags & INODE_DATA))
		return 0;
	ns_begin(ns);
	return ns_end(ns, grow(ns, mount, x, x->base == inode->change, inode));
}

int ns_commit_epoch(struct ns *ns, const struct ddio_msg_fs_wrote *x, uint64_t epoch,
		    struct inode *inode)
{
	int ret = ns_load(ns, x->ino, inode);

	if (!ret)
		ret = regular_check(inode);
	if (ret)
		return ret;
	ns_begin(ns);
	inode->epoch = epoch;
	return ns_end(ns, grow(ns, NULL, x, x->base == inode->change, inode));
}

/* Within a change. */
static int commit_one(struct ns *ns, struct ddio_msg_ns_epoch *x)
{
	const struct ddio_msg_fs_wrote wrote = {
		.ino = x->id, .end = x->size, .flags = DDIO_FS_WROTE_DATA | DDIO_FS_WROTE_TIMES
	};
	struct inode inode;
	int ret = ns_load(ns, x->id, &inode);

	if (!ret)
		ret = regular_check(&inode);
	if (!ret && !inode.nlink)
		ret = -ENOENT;
	if (!ret) {
		inode.epoch = x->epoch;
		ret = grow(ns, NULL, &wrote, !inode.change, &inode);
	}
	if (!ret)
		x->size = inode.size;
	inode_free(&inode);
	return ret;
}

int ns_commit_epochs(struct ns *ns, struct ddio_msg_ns_epochs *x)
{
	uint32_t i;
	int ret = 0;

	ns_begin(ns);
	for (i = 0; i < x->n && !ret; i++)
		ret = commit_one(ns, &x->epochs[i]);
	return ns_end(ns, ret);
}

int ns_settled_epoch(struct ns *ns, uint64_t ino, uint64_t epoch, struct inode *inode)
{
	int ret = ns_load(ns, ino, inode);

	if (!ret)
		ret = regular_check(inode);
	if (ret || !epoch || inode->epoch != epoch)
		return ret;
	ns_begin(ns);
	inode->epoch = 0;
	return ns_end(ns, ns_store(ns, inode));
}

static int append(struct ns *ns, const struct ns_mount *mount, const struct ddio_msg_fs_append *x,
		  bool held, struct inode *inode)
{
	struct ddio_msg_fs_wrote wrote = { .ino = x->ino, .flags = DDIO_FS_WROTE_DATA };

	if (inode->flags & INODE_FROZEN)
		return -EROFS;
	if (held)
		return -EAGAIN;
	if (x->len > DDIO_MAX_FILE - inode->size)
		return -EFBIG;
	wrote.end = inode->size + x->len;
	return grow(ns, mount, &wrote, true, inode);
}

int ns_append(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_append *x, bool held,
	      uint64_t *offset, struct inode *inode)
{
	const struct ns_who who = { mount, x->seq };
	uint64_t result;
	bool again;
	int ret = ns_load(ns, x->ino, inode);

	if (!ret)
		ret = regular_check(inode);
	if (!ret)
		ret = ns_begin_once(ns, &who, &result, &again);
	if (ret)
		return ret;
	if (!again) {
		result = inode->size;
		ret = ns_end_once(ns, &who, result, append(ns, mount, x, held, inode));
	}
	*offset = result;
	return ret;
}

int ns_alloc(struct ns *ns, const struct ddio_msg_fs_alloc *x, struct inode *inode)
{
	int ret = ns_load(ns, x->ino, inode);

	if (!ret)
		ret = regular_check(inode);
	if (ret || x->change != inode->change)
		return ret;
	ns_begin(ns);
	inode->alloc = x->alloc;
	inode->alloc_change = inode->change;
	return ns_end(ns, ns_store(ns, inode));
}
