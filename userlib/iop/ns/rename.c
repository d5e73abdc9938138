// SPDX-License-Identifier: LGPL-2.1-or-later
/* Renames. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/priv.h"

/**
 * struct renaming - the inodes and entries involved
 * @climb: whether a directory would move into itself
 * @to: the target directory: @other, or @from if it is the same
 * @e, @in: what is renamed; @old, @gone: what had the new name, if @any
 * @owner: of a whiteout
 */
struct renaming {
	const struct ddio_msg_fs_rename *x;
	struct ns_climb *climb;
	struct inode from, other, *to;
	struct ns_entry e, old;
	struct inode in, gone;
	bool any;
	uint32_t owner;
};

static void renaming_free(struct renaming *r)
{
	inode_free(&r->from);
	inode_free(&r->other);
	inode_free(&r->in);
	inode_free(&r->gone);
}

static int renaming_load(struct ns *ns, struct renaming *r)
{
	const struct ddio_msg_fs_rename *x = r->x;
	int ret = ns_load_dir(ns, x->parent, &r->from);

	r->to = &r->from;
	if (!ret && x->parent != x->new_parent) {
		r->to = &r->other;
		ret = ns_load_dir(ns, x->new_parent, &r->other);
	}
	if (!ret)
		ret = ns_load_named(ns, x->parent, x->name, &r->e, &r->in);
	if (ret)
		return ret;
	ret = ns_load_named(ns, x->new_parent, x->new_name, &r->old, &r->gone);
	r->any = !ret;
	return ret == -ENOENT ? 0 : ret;
}

/* Checks that a directory does not move into itself. */
static int check_circle(struct ns *ns, const struct renaming *r, const struct inode *moved,
			uint64_t into)
{
	struct ns_way *way = &r->climb->way[moved == &r->gone];
	int ret = S_ISDIR(moved->mode) ? ns_is_above(ns, r->climb, way, moved->ino, into) : 0;

	return ret > 0 ? -EINVAL : ret;
}

static int renaming_check(struct ns *ns, const struct renaming *r)
{
	const struct ddio_msg_fs_rename *x = r->x;
	int ret;

	if (x->flags & DDIO_FS_RENAME_NOREPLACE && r->any)
		return -EEXIST;
	if (x->flags & DDIO_FS_RENAME_EXCHANGE && !r->any)
		return -ENOENT;
	/* Two names of one inode, or the same name: POSIX has nothing done. */
	if (r->any && r->in.ino == r->gone.ino)
		return 0;
	ret = r->to == &r->from ? 0 : check_circle(ns, r, &r->in, x->new_parent);
	if (ret || !r->any)
		return ret;
	if (x->flags & DDIO_FS_RENAME_EXCHANGE)
		return r->to == &r->from ? 0 : check_circle(ns, r, &r->gone, x->parent);
	if (S_ISDIR(r->in.mode) && !S_ISDIR(r->gone.mode))
		return -ENOTDIR;
	if (!S_ISDIR(r->in.mode) && S_ISDIR(r->gone.mode))
		return -EISDIR;
	return S_ISDIR(r->gone.mode) && r->gone.entries ? -ENOTEMPTY : 0;
}

/* Stores @in, which has moved from one directory to another. */
static int moved(struct ns *ns, struct inode *in, struct inode *from, struct inode *to)
{
	if (S_ISDIR(in->mode) && from != to) {
		if (to->nlink >= NS_LINKS_MAX)
			return -EMLINK;
		in->parent = to->ino;
		from->nlink--;
		to->nlink++;
	}
	ns_touch(ns, in, false);
	return ns_store(ns, in);
}

/* Returns true if a directory is to be in another one than before. */
static bool moves(const struct renaming *r)
{
	return r->to != &r->from &&
	       (S_ISDIR(r->in.mode) ||
		(r->x->flags & DDIO_FS_RENAME_EXCHANGE && S_ISDIR(r->gone.mode)));
}

static int exchange(struct ns *ns, struct renaming *r)
{
	struct ns_entry there = { r->e.ino, r->e.type, r->old.cookie, "" };
	struct ns_entry here = { r->old.ino, r->old.type, r->e.cookie, "" };
	int ret = ns_enter(ns, r->to, r->x->new_name, &there);

	if (!ret)
		ret = ns_enter(ns, &r->from, r->x->name, &here);
	if (!ret)
		ret = moved(ns, &r->in, &r->from, r->to);
	return ret ? ret : moved(ns, &r->gone, r->to, &r->from);
}

/* Leaves a whiteout (a character device 0:0) in place of the old name: overlayfs hides a lower file by it. */
static int leave_whiteout(struct ns *ns, struct renaming *r)
{
	struct ns_entry here = { .cookie = r->e.cookie };
	int ret = ns_whiteout(ns, &r->from, r->owner, &here);

	return ret ? ret : ns_enter(ns, &r->from, r->x->name, &here);
}

static int replace(struct ns *ns, struct renaming *r, struct ns_left *left)
{
	struct ns_entry there = { r->e.ino, r->e.type, r->any ? r->old.cookie : 0, "" };
	bool white = r->x->flags & DDIO_FS_RENAME_WHITEOUT;
	int ret = white ? leave_whiteout(ns, r) : ns_leave(ns, &r->from, r->x->name, r->e.cookie);

	/* In its directory an entry keeps its cookie, so that a listing under way has it once. */
	if (!ret && !white && !r->any && r->to == &r->from) {
		there.cookie = r->e.cookie;
		r->from.entries++;
	}
	if (!ret && r->any) {
		if (S_ISDIR(r->gone.mode))
			r->to->nlink--;
		ret = ns_unname(ns, &r->gone, left);
	}
	if (!ret)
		ret = ns_enter(ns, r->to, r->x->new_name, &there);
	return ret ? ret : moved(ns, &r->in, &r->from, r->to);
}

static int rename_all(struct ns *ns, struct renaming *r, struct ns_left *left)
{
	int ret = renaming_load(ns, r);

	if (!ret)
		ret = renaming_check(ns, r);
	if (ret || (r->any && r->in.ino == r->gone.ino))
		return ret;
	ret = moves(r) ? ns_climb_moves(ns, r->climb) : 0;
	if (ret)
		return ret;
	ret = r->x->flags & DDIO_FS_RENAME_EXCHANGE ? exchange(ns, r) : replace(ns, r, left);
	if (ret)
		return ret;
	ns_touch(ns, &r->from, true);
	ret = ns_store(ns, &r->from);
	if (ret || r->to == &r->from)
		return ret;
	ns_touch(ns, r->to, true);
	return ns_store(ns, r->to);
}

static int rename_once(struct ns *ns, struct ns_mount *mount, struct renaming *r,
		       struct ns_left *left)
{
	const struct ns_who who = { mount, r->x->seq };
	uint64_t result;
	bool again;
	int ret = ns_begin_once(ns, &who, &result, &again);

	if (ret)
		return ret;
	if (again)
		return ns_left_again(ns, result, left);
	kv_adds(ns->kv);
	ret = rename_all(ns, r, left);
	result = left->any ? r->gone.ino : 0;
	return ns_end_once(ns, &who, result, ret);
}

int ns_rename(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_rename *x,
	      struct ns_climb *climb, struct ns_left *left)
{
	struct ns_climb here = { .tries = 0 };
	struct renaming *r;
	int ret = -ENOMEM;

	memset(left, 0, sizeof(*left));
	if (ns_is_dot(x->name) || ns_is_dot(x->new_name))
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (r) {
		r->x = x;
		r->owner = mount && mount->owned ? mount->owner : 0;
		r->climb = climb ? climb : &here;
		r->climb->steps = climb ? (uint32_t)ns->bounds->at[BOUND_CLIMBED].limit
					: UINT32_MAX;
		ret = rename_once(ns, mount, r, left);
		renaming_free(r);
	}
	free(r);
	if (climb && ret != -EINPROGRESS)
		ns_climb_end(ns, climb);
	if (ret) {
		ddio_file_record_free(&left->rec);
		left->any = false;
	}
	return ret;
}

void ns_rename_give_up(struct ns *ns, struct ns_climb *climb)
{
	ns_climb_end(ns, climb);
}
