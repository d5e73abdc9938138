// SPDX-License-Identifier: LGPL-2.1-or-later
/* Inodes: reading and writing them, and what others see of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/priv.h"

/* An inode that fits here needs no memory to be written. */
enum { INODE_FEW = 512 };

void inode_free(struct inode *inode)
{
	free(inode->stripe.disks);
	free(inode->target);
	memset(inode, 0, sizeof(*inode));
}

void inode_attr(const struct inode *inode, struct ddio_fs_attr *attr)
{
	bool regular = S_ISREG(inode->mode);
	bool counted = !(inode->flags & INODE_DATA) || inode->alloc_change == inode->change;

	*attr = (struct ddio_fs_attr){
		.ino = inode->ino,
		.size = S_ISDIR(inode->mode) ? inode->entries : inode->size,
		.alloc = !regular  ? 0
			 : counted ? inode->alloc
				   : DDIO_FS_ALLOC_UNKNOWN,
		.change = inode->change,
		.rdev = inode->rdev,
		.atime = inode->atime,
		.mtime = inode->mtime,
		.ctime = inode->ctime,
		.btime = inode->btime,
		.mode = inode->mode,
		.nlink = inode->nlink,
		.uid = inode->uid,
		.gid = inode->gid,
		.block = regular ? inode->stripe.block : 0,
		.ndisks = regular ? inode->stripe.ndisks : 0,
	};
}

static uint64_t to_ns(const struct timespec *t)
{
	return t->tv_sec < 0 ? 0 : (uint64_t)t->tv_sec * 1000000000ull + (uint64_t)t->tv_nsec;
}

int inode_record(const struct inode *inode, struct ddio_file_record *rec)
{
	const struct stripe *s = &inode->stripe;
	uint32_t i;

	*rec = (struct ddio_file_record){
		.ref = { .id = inode->ino, .seed = s->seed, .block = s->block, .layout = s->layout },
		.size = inode->size,
		.ctime_ns = to_ns(&inode->btime),
		.mtime_ns = to_ns(&inode->mtime),
		.dying = !inode->nlink,
		.ndisks = s->ndisks,
	};
	rec->disks = malloc(s->ndisks * sizeof(*rec->disks));
	if (!rec->disks) {
		rec->ndisks = 0;
		return -ENOMEM;
	}
	for (i = 0; i < s->ndisks; i++)
		rec->disks[i] = s->disks ? s->disks[i] : i;
	return 0;
}

int stripe_copy(struct stripe *to, const struct stripe *from)
{
	*to = *from;
	if (!from->disks)
		return 0;
	to->disks = malloc(from->ndisks * sizeof(*to->disks));
	if (!to->disks)
		return -ENOMEM;
	memcpy(to->disks, from->disks, from->ndisks * sizeof(*to->disks));
	return 0;
}

int ns_load(struct ns *ns, uint64_t ino, struct inode *inode)
{
	uint8_t key[NS_KEY_LEN];
	const void *value;
	size_t len;
	int ret;

	memset(inode, 0, sizeof(*inode));
	ns_key(key, ino);
	ret = kv_get(ns->kv, NS_INODES, key, sizeof(key), &value, &len);
	if (ret)
		return ret == -ENOENT ? -ESTALE : ret;
	ret = ns_inode_get(ino, value, len, inode);
	if (ret == -EUCLEAN)
		ddio_env_log(ns->env, DDIO_LOG_ERR,
			     "name space: the record of inode %" PRIu64 " is damaged; check it",
			     ino);
	return ret;
}

int ns_load_dir(struct ns *ns, uint64_t ino, struct inode *inode)
{
	int ret = ns_load(ns, ino, inode);

	if (ret)
		return ret == -ESTALE ? -ENOENT : ret;
	return S_ISDIR(inode->mode) ? 0 : -ENOTDIR;
}

int ns_store(struct ns *ns, const struct inode *inode)
{
	uint8_t key[NS_KEY_LEN], few[INODE_FEW], *buf = few;
	ssize_t len = ns_inode_put(NULL, 0, inode);
	int ret;

	if (len < 0)
		return (int)len;
	if (len > INODE_FEW)
		buf = malloc((size_t)len);
	if (!buf)
		return -ENOMEM;
	ns_inode_put(buf, (size_t)len, inode);
	ns_key(key, inode->ino);
	ret = kv_put(ns->kv, NS_INODES, key, sizeof(key), buf, (size_t)len);
	if (buf != few)
		free(buf);
	return ret;
}

/*
 * A directory, link, fifo or device that is removed is not kept for those who have it open, as a file is.  They may
 * ask for its attributes, still: what those were is remembered for a while, in memory.
 */
static void removed_add(struct ns *ns, const struct inode *inode)
{
	struct inode *r;

	if (!ns->removed)
		ns->removed = calloc(NS_REMOVED, sizeof(*ns->removed));
	if (!ns->removed)
		return;
	r = &ns->removed[ns->nremoved++ % NS_REMOVED];
	*r = *inode;
	r->nlink = 0;
	ns_touch(ns, r, false);
	r->target = NULL;
	r->stripe = (struct stripe){ .ndisks = 0 };
}

static int removed_find(const struct ns *ns, uint64_t ino, struct inode *inode)
{
	uint32_t i;

	for (i = 0; i < NS_REMOVED && i < ns->nremoved; i++) {
		if (ns->removed[i].ino == ino) {
			*inode = ns->removed[i];
			return 0;
		}
	}
	return -ESTALE;
}

int ns_delete(struct ns *ns, const struct inode *inode)
{
	uint8_t key[NS_KEY_LEN];
	int ret = ns_xattrs_drop(ns, inode->ino);

	if (!S_ISREG(inode->mode))
		removed_add(ns, inode);

	ns_key(key, inode->ino);
	if (!ret)
		ret = kv_del(ns->kv, NS_ORPHANS, key, sizeof(key));
	if (!ret)
		ret = kv_del(ns->kv, NS_INODES, key, sizeof(key));
	ns->counting--;
	return ret;
}

struct timespec ns_now(struct ns *ns)
{
	uint64_t now = ddio_env_wall(ns->env);

	return (struct timespec){ .tv_sec = (time_t)(now / 1000000000ull),
				  .tv_nsec = (long)(now % 1000000000ull) };
}

/* The clock goes into the change, so that a number that a crash took back does not come again. */
void ns_touch(struct ns *ns, struct inode *inode, bool data)
{
	struct timespec now = ns_now(ns);
	uint64_t change = to_ns(&now);
	bool counted = inode->alloc_change == inode->change;

	inode->change = change > inode->change ? change : inode->change + 1;
	inode->ctime = now;
	if (data)
		inode->mtime = now;
	else if (counted)
		inode->alloc_change = inode->change;
}

int ns_inode(struct ns *ns, uint64_t ino, struct inode *inode)
{
	return ns_load(ns, ino, inode);
}

int ns_getattr(struct ns *ns, uint64_t ino, struct inode *inode)
{
	int ret = ns_load(ns, ino, inode);

	return ret == -ESTALE ? removed_find(ns, ino, inode) : ret;
}
