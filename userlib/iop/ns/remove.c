// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names go, then what has no name any more: at once, or when it is closed and has no objects. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/priv.h"

static int left_of(const struct ddio_inode *in, struct ddio_ns_left *left)
{
	left->any = true;
	return ddio_inode_record(in, &left->rec);
}

int ddio_ns_unname(struct ddio_ns *ns, struct ddio_inode *in, struct ddio_ns_left *left)
{
	uint8_t key[DDIO_NS_KEY_LEN];
	int ret;

	left->any = false;
	in->nlink = S_ISDIR(in->mode) ? 0 : in->nlink - !!in->nlink;
	if (in->nlink) {
		ddio_ns_touch(ns, in, false);
		return ddio_ns_store(ns, in);
	}
	if (S_ISDIR(in->mode) || (!(in->flags & DDIO_INODE_DATA) && !ddio_ns_in_use(ns, in->ino)))
		return ddio_ns_delete(ns, in);
	ddio_ns_key(key, in->ino);
	ret = ddio_kv_put(ns->kv, DDIO_NS_ORPHANS, key, sizeof(key), NULL, 0);
	ddio_ns_touch(ns, in, false);
	if (!ret)
		ret = ddio_ns_store(ns, in);
	if (ret || ddio_ns_in_use(ns, in->ino))
		return ret;
	return left_of(in, left);
}

int ddio_ns_left_again(struct ddio_ns *ns, uint64_t ino, struct ddio_ns_left *left)
{
	struct ddio_inode in;
	int ret;

	if (!ino || ddio_ns_in_use(ns, ino))
		return 0;
	ret = ddio_ns_load(ns, ino, &in);
	if (ret)
		return ret == -ESTALE ? 0 : ret;
	if (!in.nlink && S_ISREG(in.mode))
		ret = left_of(&in, left);
	ddio_inode_free(&in);
	return ret;
}

/* An orphan without objects: nothing is left of it. */
static int drop_bare(struct ddio_ns *ns, const struct ddio_inode *in)
{
	struct ddio_ns_result result;
	bool again;
	int ret = ddio_ns_begin(ns, NULL, &result, &again);

	return ret ? ret : ddio_ns_end(ns, NULL, &result, ddio_ns_delete(ns, in));
}

int ddio_ns_closed(struct ddio_ns *ns, uint64_t ino, struct ddio_ns_left *left)
{
	struct ddio_inode in;
	int ret;

	if (ddio_ns_in_use(ns, ino))
		return 0;
	ret = ddio_ns_load(ns, ino, &in);
	if (ret)
		return ret == -ESTALE ? 0 : ret;
	if (!in.nlink)
		ret = in.flags & DDIO_INODE_DATA ? left_of(&in, left) : drop_bare(ns, &in);
	ddio_inode_free(&in);
	return ret;
}

static int unlink_check(const struct ddio_msg_fs_name *x, const struct ddio_inode *in)
{
	bool dir = x->flags & DDIO_FS_UNLINK_DIR;

	if (dir && !S_ISDIR(in->mode))
		return -ENOTDIR;
	if (!dir && S_ISDIR(in->mode))
		return -EISDIR;
	return dir && in->entries ? -ENOTEMPTY : 0;
}

static int unlink_all(struct ddio_ns *ns, const struct ddio_msg_fs_name *x, struct ddio_inode *dir,
		      struct ddio_inode *in, struct ddio_ns_left *left)
{
	struct ddio_ns_entry e;
	int ret = ddio_ns_load_dir(ns, x->parent, dir);

	if (!ret)
		ret = ddio_ns_find(ns, x->parent, x->name, &e);
	if (!ret)
		ret = ddio_ns_load(ns, e.ino, in);
	if (ret)
		return ret == -ESTALE ? -EUCLEAN : ret;
	ret = unlink_check(x, in);
	if (!ret)
		ret = ddio_ns_leave(ns, dir, x->name, e.cookie);
	if (ret)
		return ret;
	if (S_ISDIR(in->mode))
		dir->nlink--;
	ddio_ns_touch(ns, dir, true);
	ret = ddio_ns_store(ns, dir);
	return ret ? ret : ddio_ns_unname(ns, in, left);
}

static int unlink_dots(const struct ddio_msg_fs_name *x)
{
	if (!(x->flags & DDIO_FS_UNLINK_DIR))
		return -EISDIR;
	return strcmp(x->name, ".") ? -ENOTEMPTY : -EINVAL;
}

int ddio_ns_unlink(struct ddio_ns *ns, struct ddio_ns_mount *mount,
		   const struct ddio_msg_fs_name *x, struct ddio_ns_left *left,
		   struct ddio_fs_attr *dir_attr)
{
	const struct ddio_ns_who who = { mount, x->seq };
	struct ddio_inode dir = { .ino = 0 }, in = { .ino = 0 };
	struct ddio_ns_result result;
	bool again;
	int ret;

	memset(left, 0, sizeof(*left));
	if (dir_attr)
		dir_attr->ino = 0;
	if (ddio_ns_is_dot(x->name))
		return unlink_dots(x);
	ret = ddio_ns_begin(ns, &who, &result, &again);
	if (ret)
		return ret;
	if (again)
		return ddio_ns_left_again(ns, result.a, left);
	ret = unlink_all(ns, x, &dir, &in, left);
	result.a = left->any ? in.ino : 0;
	ret = ddio_ns_end(ns, &who, &result, ret);
	if (!ret && dir_attr)
		ddio_inode_attr(&dir, dir_attr);
	ddio_inode_free(&dir);
	ddio_inode_free(&in);
	if (ret) {
		ddio_file_record_free(&left->rec);
		left->any = false;
	}
	return ret;
}

/* One orphan of a listing: those without objects go. */
static int orphan_add(struct ddio_ns *ns, uint64_t ino, struct ddio_msg_ns_listing *out)
{
	struct ddio_inode in;
	int ret = ddio_ns_load(ns, ino, &in);

	if (ret)
		return ret == -ESTALE || ret == -EUCLEAN ? 0 : ret;
	if (in.nlink)
		ret = 0;
	else if (!(in.flags & DDIO_INODE_DATA))
		ret = drop_bare(ns, &in);
	else
		ret = ddio_inode_record(&in, &out->recs[out->n]);
	if (!ret && !in.nlink && in.flags & DDIO_INODE_DATA)
		out->n++;
	ddio_inode_free(&in);
	return ret;
}

/* Numbers of the orphans behind @after that nobody has open. */
static int orphan_numbers(struct ddio_ns *ns, uint64_t after, uint64_t *ids, uint32_t max,
			  uint32_t *n, bool *more)
{
	uint8_t key[DDIO_NS_KEY_LEN];
	struct ddio_kv_cursor c;
	uint64_t ino;
	int ret;

	*n = 0;
	*more = false;
	ddio_ns_key(key, after + 1);
	for (ret = ddio_kv_first(&c, ns->kv, DDIO_NS_ORPHANS, key, sizeof(key)); !ret;
	     ret = ddio_kv_next(&c)) {
		if (!ddio_ns_key_get(c.key, c.key_len, &ino) || ddio_ns_in_use(ns, ino))
			continue;
		*more = *n == max;
		if (*more)
			break;
		ids[(*n)++] = ino;
	}
	ddio_kv_cursor_close(&c);
	return ret == -ENOENT ? 0 : ret;
}

int ddio_ns_orphans(struct ddio_ns *ns, uint64_t after, uint32_t max,
		    struct ddio_msg_ns_listing *out)
{
	uint64_t ids[64];
	uint32_t n, i;
	bool more;
	int ret;

	memset(out, 0, sizeof(*out));
	if (max > sizeof(ids) / sizeof(ids[0]))
		max = sizeof(ids) / sizeof(ids[0]);
	ret = orphan_numbers(ns, after, ids, max, &n, &more);
	if (ret || !n)
		return ret;
	out->recs = calloc(n, sizeof(*out->recs));
	if (!out->recs)
		return -ENOMEM;
	for (i = 0; i < n && !ret; i++)
		ret = orphan_add(ns, ids[i], out);
	out->more = more && out->n;
	if (ret)
		ddio_ns_listing_free(out);
	return ret;
}

int ddio_ns_gone(struct ddio_ns *ns, uint64_t ino)
{
	struct ddio_ns_result result;
	struct ddio_inode in;
	bool again;
	int ret = ddio_ns_load(ns, ino, &in);

	if (!ret && (in.nlink || ddio_ns_in_use(ns, ino)))
		ret = -EBUSY;
	if (!ret)
		ret = ddio_ns_begin(ns, NULL, &result, &again);
	if (!ret)
		ret = ddio_ns_end(ns, NULL, &result, ddio_ns_delete(ns, &in));
	ddio_inode_free(&in);
	return ret;
}
