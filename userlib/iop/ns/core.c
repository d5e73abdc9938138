// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loads, stores and deletes inodes; knows which are in use. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/priv.h"

/* An inode of up to this size is encoded on the stack. */
enum { INODE_FEW = 512 };

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
			     "name space: the record of inode %" PRIu64
			     " is damaged; run 'ddio fsck'",
			     ino);
	return ret;
}

int ns_load_dir(struct ns *ns, uint64_t ino, struct inode *inode)
{
	int ret = ns_load(ns, ino, inode);

	return ret || S_ISDIR(inode->mode) ? ret : -ENOTDIR;
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
 * A directory, link, fifo or device that is removed is not kept while it is open, as a file is.  Programs may
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

static struct timespec to_time(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000ull),
				  .tv_nsec = (long)(ns % 1000000000ull) };
}

struct timespec ns_now(struct ns *ns)
{
	return to_time(ddio_env_wall(ns->env));
}

/* The change comes from the clock, so that a number lost in a crash is not used again. */
void ns_touch(struct ns *ns, struct inode *inode, bool data)
{
	uint64_t change = ddio_env_wall(ns->env);
	struct timespec now = to_time(change);
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

int ns_named(struct ns *ns, uint64_t ino)
{
	struct inode inode;
	int ret = ns_load(ns, ino, &inode);

	if (!ret && !inode.nlink)
		ret = -ESTALE;
	inode_free(&inode);
	return ret;
}

bool ns_is_open(const struct ns *ns, uint64_t ino)
{
	return ddio_hash_find(&ns->opens, ino) != NULL;
}

static bool is_being_made(const struct ns *ns, uint64_t ino)
{
	const struct ns_clone *clone;

	ddio_list_for_each_entry(clone, &ns->clones, link)
		if (clone->ino == ino)
			return true;
	return false;
}

bool ns_in_use(const struct ns *ns, uint64_t ino)
{
	return ns_is_open(ns, ino) || is_being_made(ns, ino) || ns_grace(ns);
}

uint64_t ns_timeout(const struct ns *ns)
{
	return ns->timeout_ns;
}

uint64_t ns_began(const struct ns *ns)
{
	return ns->began;
}

uint64_t ns_grace(const struct ns *ns)
{
	uint64_t now;

	if (!ns->before)
		return 0;
	now = ddio_env_now(ns->env);
	/* The grace is not over before it is durable that the mounts that have not come back have lost their locks. */
	return now < ns->grace ? ns->grace - now : 1;
}

int ns_put_key(struct ns *ns, uint8_t db, const void *key, size_t key_len)
{
	uint8_t value[NS_BYTES_EXTRA];

	ns_bytes_put(value, key, key_len, NULL, 0);
	return kv_put(ns->kv, db, key, key_len, value, sizeof(value));
}
