// SPDX-License-Identifier: LGPL-2.1-or-later
/* Removes names, and inodes without any: at once, or when they are closed and have no objects. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/priv.h"

static int left_of(const struct inode *in, struct ns_left *left)
{
	left->any = true;
	return inode_record(in, &left->rec);
}

/*
 * Somebody is about to be told to remove the inode's objects.  A mount that had it open and has lost that, since nothing was
 * heard of it, may come back meanwhile: it must not find an inode whose data are going.  That is recorded, since a
 * restarted name space is asked the same.
 */
static int going(struct ns *ns, struct inode *in)
{
	if (in->flags & INODE_GOING)
		return 0;
	in->flags |= INODE_GOING;
	ns_begin(ns);
	return ns_end(ns, ns_store(ns, in));
}

bool ns_is_going(const struct inode *in)
{
	return !in->nlink && in->flags & INODE_GOING;
}

int ns_unname(struct ns *ns, struct inode *in, struct ns_left *left)
{
	uint8_t key[NS_KEY_LEN];
	int ret;

	left->any = false;
	in->nlink = S_ISDIR(in->mode) ? 0 : in->nlink - !!in->nlink;
	/* What it was before it got a name again does not count. */
	in->flags &= ~INODE_GOING;
	if (in->nlink) {
		ns_touch(ns, in, false);
		return ns_store(ns, in);
	}
	if (S_ISDIR(in->mode) || (!(in->flags & INODE_DATA) && !ns_in_use(ns, in->ino)))
		return ns_delete(ns, in);
	ns_key(key, in->ino);
	ret = ns_put_key(ns, NS_ORPHANS, key, sizeof(key));
	ns_touch(ns, in, false);
	if (!ns_in_use(ns, in->ino))
		in->flags |= INODE_GOING;
	if (!ret)
		ret = ns_store(ns, in);
	return ret || !ns_is_going(in) ? ret : left_of(in, left);
}

int ns_left_again(struct ns *ns, uint64_t ino, struct ns_left *left)
{
	struct inode in;
	int ret;

	if (!ino || ns_in_use(ns, ino))
		return 0;
	ret = ns_load(ns, ino, &in);
	if (ret)
		return ret == -ESTALE ? 0 : ret;
	if (!in.nlink && S_ISREG(in.mode)) {
		ret = going(ns, &in);
		if (!ret)
			ret = left_of(&in, left);
	}
	inode_free(&in);
	return ret;
}

/* Deletes an orphan without objects. */
static int drop_bare(struct ns *ns, const struct inode *in)
{
	ns_begin(ns);
	return ns_end(ns, ns_delete(ns, in));
}

int ns_closed(struct ns *ns, uint64_t ino, struct ns_left *left)
{
	struct inode in;
	int ret;

	if (ns_in_use(ns, ino))
		return 0;
	ret = ns_load(ns, ino, &in);
	if (ret)
		return ret == -ESTALE ? 0 : ret;
	if (!in.nlink && !(in.flags & INODE_DATA)) {
		ret = drop_bare(ns, &in);
	} else if (!in.nlink && left) {
		ret = going(ns, &in);
		if (!ret)
			ret = left_of(&in, left);
	}
	inode_free(&in);
	return ret;
}

static int unlink_check(const struct ddio_msg_fs_name *x, const struct inode *in)
{
	bool dir = x->flags & DDIO_FS_UNLINK_DIR;

	if (dir && !S_ISDIR(in->mode))
		return -ENOTDIR;
	if (!dir && S_ISDIR(in->mode))
		return -EISDIR;
	return dir && in->entries ? -ENOTEMPTY : 0;
}

static int unlink_all(struct ns *ns, const struct ddio_msg_fs_name *x, struct inode *dir,
		      struct inode *in, struct ns_left *left)
{
	struct ns_entry e;
	int ret = ns_load_dir(ns, x->parent, dir);

	if (!ret)
		ret = ns_load_named(ns, x->parent, x->name, &e, in);
	if (ret)
		return ret;
	ret = unlink_check(x, in);
	if (!ret)
		ret = ns_leave(ns, dir, x->name, e.cookie);
	if (ret)
		return ret;
	if (S_ISDIR(in->mode))
		dir->nlink--;
	ns_touch(ns, dir, true);
	ret = ns_store(ns, dir);
	return ret ? ret : ns_unname(ns, in, left);
}

static int unlink_dots(const struct ddio_msg_fs_name *x)
{
	if (!(x->flags & DDIO_FS_UNLINK_DIR))
		return -EISDIR;
	return strcmp(x->name, ".") ? -ENOTEMPTY : -EINVAL;
}

int ns_unlink(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_name *x,
	      struct ns_left *left, struct ddio_fs_attr *dir_attr)
{
	const struct ns_who who = { mount, x->seq };
	struct inode dir = { .ino = 0 }, in = { .ino = 0 };
	uint64_t result;
	bool again;
	int ret;

	memset(left, 0, sizeof(*left));
	if (dir_attr)
		dir_attr->ino = 0;
	if (ns_is_dot(x->name))
		return unlink_dots(x);
	ret = ns_begin_once(ns, &who, &result, &again);
	if (ret)
		return ret;
	if (again)
		return ns_left_again(ns, result, left);
	ret = unlink_all(ns, x, &dir, &in, left);
	result = left->any ? in.ino : 0;
	ret = ns_end_once(ns, &who, result, ret);
	if (!ret && dir_attr)
		inode_attr(&dir, dir_attr);
	inode_free(&dir);
	inode_free(&in);
	if (ret) {
		ddio_file_record_free(&left->rec);
		left->any = false;
	}
	return ret;
}

/* Adds an orphan to a listing, or deletes it if it has no objects. */
static int orphan_add(struct ns *ns, uint64_t ino, struct ddio_msg_ns_listing *out)
{
	struct inode in;
	int ret = ns_load(ns, ino, &in);

	if (ret)
		return ret == -ESTALE || ret == -EUCLEAN ? 0 : ret;
	if (!in.nlink && !(in.flags & INODE_DATA)) {
		ret = drop_bare(ns, &in);
	} else if (!in.nlink) {
		ret = going(ns, &in);
		if (!ret)
			ret = inode_record(&in, &out->recs[out->n]);
		out->n += !ret;
	}
	inode_free(&in);
	return ret;
}

/**
 * struct orphans - a part of the listing of orphans
 * @after: the last number that was looked at
 * @ids: @n of them, of orphans that nobody has open; @more: there may be others
 */
struct orphans {
	uint64_t after, ids[64];
	uint32_t n;
	bool more;
};

static int orphan_numbers(struct ns *ns, uint32_t max, struct orphans *o)
{
	uint8_t key[NS_KEY_LEN];
	struct kv_cursor c;
	uint64_t looks = 0;
	int ret;

	ns_key(key, o->after + 1);
	for (ret = kv_first(&c, ns->kv, NS_ORPHANS, key, sizeof(key)); !ret; ret = kv_next(&c)) {
		o->more = o->n == max || !bound_spend(&ns->bounds->at[BOUND_LISTED], &looks);
		if (o->more)
			break;
		if (ns_key_get(c.key, c.key_len, &o->after) && !ns_in_use(ns, o->after))
			o->ids[o->n++] = o->after;
	}
	kv_cursor_close(&c);
	return ret == -ENOENT ? 0 : ret;
}

static int orphans_add(struct ns *ns, const struct orphans *o, struct ddio_msg_ns_listing *out)
{
	uint32_t i;
	int ret = 0;

	if (!o->n)
		return 0;
	out->recs = calloc(o->n, sizeof(*out->recs));
	if (!out->recs)
		return -ENOMEM;
	for (i = 0; i < o->n && !ret; i++)
		ret = orphan_add(ns, o->ids[i], out);
	if (ret)
		ddio_ns_listing_free(out);
	return ret;
}

int ns_orphans(struct ns *ns, uint64_t *after, uint32_t max, struct ddio_msg_ns_listing *out)
{
	struct orphans o = { .after = *after };
	int ret;

	memset(out, 0, sizeof(*out));
	if (max > sizeof(o.ids) / sizeof(o.ids[0]))
		max = sizeof(o.ids) / sizeof(o.ids[0]);
	/* None is wanted: else a turn would follow the other for ever. */
	ret = max ? orphan_numbers(ns, max, &o) : 0;
	out->more = o.more;
	if (!ret)
		ret = orphans_add(ns, &o, out);
	/* What failed is listed again. */
	if (!ret)
		*after = o.after;
	return ret;
}

int ns_remove_begin(struct ns *ns, uint64_t ino, struct inode *in)
{
	int ret = ns_load(ns, ino, in);

	if (!ret && (in->nlink || ns_in_use(ns, ino)))
		ret = -EBUSY;
	if (!ret && S_ISREG(in->mode))
		ret = going(ns, in);
	return ret;
}

int ns_gone(struct ns *ns, uint64_t ino)
{
	struct inode in;
	int ret = ns_load(ns, ino, &in);

	if (!ret && (in.nlink || ns_in_use(ns, ino)))
		ret = -EBUSY;
	if (!ret) {
		ns_begin(ns);
		ret = ns_end(ns, ns_delete(ns, &in));
	}
	inode_free(&in);
	return ret;
}
