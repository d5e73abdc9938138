// SPDX-License-Identifier: LGPL-2.1-or-later
/* Directories: entries by name and by cookie. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/priv.h"

/* Of an entry in a listing: cookie, attributes, length of the name. */
enum { ENTRY_FIXED = 8 + 112 + 2, LIST_MAX = 1024 };

bool ns_is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

int ns_find(struct ns *ns, uint64_t dir, const char *name, struct ns_entry *e)
{
	uint8_t key[NS_NAME_KEY_MAX];
	size_t key_len = ns_name_key(key, dir, name), len;
	const void *value;
	int ret;

	memset(e, 0, sizeof(*e));
	ret = kv_get(ns->kv, NS_NAMES, key, key_len, &value, &len);
	return ret ? ret : ns_entry_get(key, key_len, value, len, false, e);
}

int ns_load_named(struct ns *ns, uint64_t dir, const char *name, struct ns_entry *e,
		  struct inode *in)
{
	int ret = ns_find(ns, dir, name, e);

	if (!ret)
		ret = ns_load(ns, e->ino, in);
	return ret == -ESTALE ? -EUCLEAN : ret;
}

static int put_entry(struct ns *ns, uint64_t dir, const char *name, const struct ns_entry *e)
{
	uint8_t key[NS_NAME_KEY_MAX], order[NS_ORDER_KEY_LEN];
	uint8_t value[NS_ENTRY_MAX];
	struct ns_entry named = *e;
	size_t len = ns_name_key(key, dir, name);
	int ret;

	ret = kv_put(ns->kv, NS_NAMES, key, len, value, ns_entry_put(value, key, len, e, false));
	if (ret)
		return ret;
	memset(named.name, 0, sizeof(named.name));
	memcpy(named.name, name, strlen(name));
	ns_order_key(order, dir, e->cookie);
	len = ns_entry_put(value, order, sizeof(order), &named, true);
	return kv_put(ns->kv, NS_ORDER, order, sizeof(order), value, len);
}

/* The directory of all snapshots is root's: returns 0, or -EPERM if the inode would take its name, and is somebody else's. */
static int snaps_may(struct ns *ns, const struct inode *dir, const char *name, uint64_t ino)
{
	struct inode in;
	int ret;

	if (dir->ino != DDIO_FS_ROOT || strcmp(name, DDIO_SNAP_DIR) != 0)
		return 0;
	ret = ns_load(ns, ino, &in);
	if (!ret && in.uid)
		ret = -EPERM;
	inode_free(&in);
	return ret;
}

int ns_enter(struct ns *ns, struct inode *dir, const char *name, struct ns_entry *e)
{
	int ret = snaps_may(ns, dir, name, e->ino);

	if (ret)
		return ret;
	if (!e->cookie) {
		e->cookie = dir->cookie++;
		dir->entries++;
	}
	return put_entry(ns, dir->ino, name, e);
}

int ns_leave(struct ns *ns, struct inode *dir, const char *name, uint64_t cookie)
{
	uint8_t key[NS_NAME_KEY_MAX], order[NS_ORDER_KEY_LEN];
	int ret = kv_del(ns->kv, NS_NAMES, key, ns_name_key(key, dir->ino, name));

	if (ret)
		return ret;
	ns_order_key(order, dir->ino, cookie);
	if (dir->entries)
		dir->entries--;
	return kv_del(ns->kv, NS_ORDER, order, sizeof(order));
}

int ns_lookup(struct ns *ns, uint64_t parent, const char *name, struct inode *inode)
{
	struct ns_entry e;
	uint64_t ino;
	int ret = ns_load_dir(ns, parent, inode);

	if (ret || !strcmp(name, "."))
		return ret;
	ino = inode->parent;
	if (strcmp(name, "..")) {
		ret = ns_find(ns, parent, name, &e);
		ino = e.ino;
	}
	inode_free(inode);
	if (ret)
		return ret;
	ret = ns_load(ns, ino, inode);
	if (ret == -ESTALE)
		ddio_env_log(ns->env, DDIO_LOG_ERR,
			     "name space: the entry \"%s\" has no inode; run 'ddio fsck'", name);
	return ret == -ESTALE ? -EUCLEAN : ret;
}

/* A listing: names follow entries in the same memory. */
struct dir_listing {
	struct ddio_msg_fs_entries *out;
	uint32_t max;
	char *names, *at;
	size_t room, used, bytes;
};

static bool listing_add(struct dir_listing *l, const char *name, const struct ns_entry *e)
{
	struct ddio_fs_dirent *d = &l->out->ents[l->out->n];
	size_t len = strlen(name) + 1;

	if (l->out->n == l->max || l->used + ENTRY_FIXED + len > l->bytes)
		return false;
	l->used += ENTRY_FIXED + len;
	memcpy(l->at, name, len);
	*d = (struct ddio_fs_dirent){ .cookie = e->cookie,
				      .name = l->at,
				      .attr = { .ino = e->ino, .mode = e->type } };
	l->at += len;
	l->out->n++;
	return true;
}

/* "." and ".." */
static void list_dots(struct dir_listing *l, const struct inode *dir, uint64_t cookie)
{
	const struct ns_entry dot = { .ino = dir->ino, .type = S_IFDIR, .cookie = 1 };
	const struct ns_entry dots = { .ino = dir->parent, .type = S_IFDIR, .cookie = 2 };

	if (cookie < 1)
		listing_add(l, ".", &dot);
	if (cookie < 2 && !listing_add(l, "..", &dots))
		l->out->more = 1;
}

/* Only ".", with the cookie of the entry that was made last. */
static void list_last(struct dir_listing *l, const struct inode *dir)
{
	const struct ns_entry dot = { .ino = dir->ino, .type = S_IFDIR, .cookie = dir->cookie - 1 };

	listing_add(l, ".", &dot);
}

static int list_entries(struct ns *ns, struct dir_listing *l, uint64_t dir, uint64_t cookie)
{
	uint8_t key[NS_ORDER_KEY_LEN];
	struct kv_cursor c;
	struct ns_entry e;
	uint64_t of;
	int ret;

	ns_order_key(key, dir, cookie < NS_COOKIE ? NS_COOKIE : cookie + 1);
	for (ret = kv_first(&c, ns->kv, NS_ORDER, key, sizeof(key)); !ret; ret = kv_next(&c)) {
		if (!ns_order_key_get(c.key, c.key_len, &of, &cookie) || of != dir)
			break;
		if (ns_entry_get(c.key, c.key_len, c.value, c.len, true, &e))
			continue; /* a check finds it */
		if (!listing_add(l, e.name, &e)) {
			l->out->more = 1;
			break;
		}
	}
	kv_cursor_close(&c);
	return ret == -ENOENT ? 0 : ret;
}

/* Fills in all attributes; an inode that cannot be read is listed all the same. */
static void list_attributes(struct ns *ns, struct ddio_msg_fs_entries *out)
{
	struct inode inode;
	uint32_t i;

	for (i = 0; i < out->n; i++) {
		struct ddio_fs_attr *attr = &out->ents[i].attr;

		if (!ns_load(ns, attr->ino, &inode)) {
			inode_attr(&inode, attr);
			inode_free(&inode);
			out->ents[i].bare = !ns_xattr_any(ns, attr->ino);
		} else if (S_ISREG(attr->mode)) {
			attr->block = DDIO_MIN_BLOCK;
			attr->ndisks = 1;
		}
	}
}

int ns_readdir(struct ns *ns, const struct ddio_msg_fs_readdir *x, size_t bytes,
	       struct ddio_msg_fs_entries *out)
{
	uint32_t max = x->max < LIST_MAX ? x->max : LIST_MAX;
	struct dir_listing l = { .out = out, .max = max, .bytes = bytes };
	struct inode dir;
	int ret;

	memset(out, 0, sizeof(*out));
	out->plus = !!(x->flags & DDIO_FS_READDIR_PLUS);
	ret = ns_load_dir(ns, x->ino, &dir);
	if (ret) {
		inode_free(&dir);
		return ret;
	}
	out->ents = calloc(max, sizeof(*out->ents) + DDIO_MAX_NAME + 1);
	if (out->ents) {
		l.at = (char *)(out->ents + max);
		if (x->flags & DDIO_FS_READDIR_LAST)
			list_last(&l, &dir);
		else
			list_dots(&l, &dir, x->cookie);
		if (!out->more && !(x->flags & DDIO_FS_READDIR_LAST))
			ret = list_entries(ns, &l, x->ino, x->cookie);
		if (!ret && out->plus)
			list_attributes(ns, out);
	} else {
		ret = -ENOMEM;
	}
	inode_free(&dir);
	if (ret) {
		free(out->ents);
		memset(out, 0, sizeof(*out));
	}
	return ret;
}

/* Finds the directory with the snapshots of a file. */
static int snaps_find(struct ns *ns, uint64_t file, struct inode *dir)
{
	struct ns_entry e;
	char name[24];
	int ret = ns_find(ns, DDIO_FS_ROOT, DDIO_SNAP_DIR, &e);

	snprintf(name, sizeof(name), "%" PRIu64, file);
	if (!ret)
		ret = ns_find(ns, e.ino, name, &e);
	return ret ? ret : ns_load_dir(ns, e.ino, dir);
}

int ns_snaps_follow(struct ns *ns, const struct inode *file)
{
	struct inode dir = { .ino = 0 };
	int ret = S_ISREG(file->mode) ? snaps_find(ns, file->ino, &dir) : -ENOENT;

	if (!ret) {
		dir.uid = file->uid;
		dir.gid = file->gid;
		ns_touch(ns, &dir, false);
		ret = ns_store(ns, &dir);
	}
	inode_free(&dir);
	return ret == -ENOENT || ret == -ENOTDIR || ret == -ESTALE ? 0 : ret;
}
