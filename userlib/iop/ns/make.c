// SPDX-License-Identifier: LGPL-2.1-or-later
/* Makes inodes, and further names for them; and files that get their names later, as clones of others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/priv.h"

/* Makes the inode in memory, except for its number. */
static int make_inode(struct ns *ns, const struct inode *dir, const struct ddio_msg_fs_make *x,
		      const struct stripe *stripe, struct inode *in)
{
	memset(in, 0, sizeof(*in));
	in->mode = x->mode;
	in->nlink = S_ISDIR(x->mode) ? 2 : 1;
	in->uid = x->uid;
	in->gid = x->gid;
	in->rdev = S_ISCHR(x->mode) || S_ISBLK(x->mode) ? x->rdev : 0;
	if (dir->mode & S_ISGID) {
		in->gid = dir->gid;
		if (S_ISDIR(x->mode))
			in->mode |= S_ISGID;
	}
	ns_touch(ns, in, true);
	in->atime = in->btime = in->mtime;
	if (S_ISDIR(x->mode)) {
		in->parent = dir->ino;
		in->cookie = NS_COOKIE;
		return stripe_copy(&in->stripe, &dir->stripe);
	}
	if (S_ISLNK(x->mode)) {
		in->target = strdup(x->target);
		in->size = strlen(x->target);
		in->mode = S_IFLNK | 0777;
		return in->target ? 0 : -ENOMEM;
	}
	if (!S_ISREG(x->mode))
		return 0;
	return stripe ? stripe_copy(&in->stripe, stripe) : ns_stripe_new(ns, dir, &in->stripe);
}

int ns_whiteout(struct ns *ns, const struct inode *dir, uint32_t uid, struct ns_entry *e)
{
	const struct ddio_msg_fs_make x = { .mode = S_IFCHR, .uid = uid, .gid = dir->gid };
	struct inode in;
	int ret = make_inode(ns, dir, &x, NULL, &in);

	if (!ret)
		ret = ns_take_id(ns, &in.ino);
	if (!ret)
		ret = ns_store(ns, &in);
	if (ret)
		return ret;
	ns->counting++;
	e->ino = in.ino;
	e->type = S_IFCHR;
	return 0;
}

static int make_all(struct ns *ns, struct inode *dir, const struct ddio_msg_fs_make *x,
		    const struct stripe *stripe, struct inode *in)
{
	struct ns_entry e = { .type = x->mode & S_IFMT };
	int ret = make_inode(ns, dir, x, stripe, in);

	if (!ret && S_ISDIR(x->mode) && dir->nlink >= NS_LINKS_MAX)
		ret = -EMLINK;
	if (!ret)
		ret = ns_take_id(ns, &in->ino);
	if (!ret)
		ret = ns_acl_inherit(ns, dir, x->umask, in);
	if (!ret)
		ret = ns_store(ns, in);
	if (ret)
		return ret;
	ns->counting++;
	e.ino = in->ino;
	if (S_ISDIR(x->mode))
		dir->nlink++;
	ret = ns_enter(ns, dir, x->name, &e);
	ns_touch(ns, dir, true);
	return ret ? ret : ns_store(ns, dir);
}

/* The name exists. */
static int make_found(struct ns *ns, const struct ddio_msg_fs_make *x, uint64_t ino,
		      struct inode *inode)
{
	int ret;

	if (x->flags & DDIO_FS_MAKE_EXCL || !S_ISREG(x->mode))
		return -EEXIST;
	ret = ns_load(ns, ino, inode);
	if (!ret && S_ISDIR(inode->mode))
		ret = -EISDIR;
	return ret;
}

static int make_new(struct ns *ns, const struct ns_who *who, const struct ddio_msg_fs_make *x,
		    const struct stripe *stripe, struct inode *inode, bool *made,
		    struct ddio_fs_attr *dir_attr)
{
	struct inode dir;
	struct ns_entry e;
	int ret = ns_load_dir(ns, x->parent, &dir);

	if (!ret)
		ret = ns_find(ns, x->parent, x->name, &e);
	if (!ret)
		ret = make_found(ns, x, e.ino, inode);
	else if (ret == -ENOENT && dir.ino)
		*made = true;
	if (*made) {
		kv_adds(ns->kv);
		ret = make_all(ns, &dir, x, stripe, inode);
		ret = ns_end_once(ns, who, inode->ino, ret);
	} else {
		kv_abort(ns->kv);
	}
	if (!ret && dir_attr)
		inode_attr(&dir, dir_attr);
	inode_free(&dir);
	return ret;
}

int ns_make(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_make *x,
	    const struct stripe *stripe, struct inode *inode, bool *made, struct ddio_fs_attr *dir)
{
	const struct ns_who who = { mount, x->seq };
	uint64_t result;
	bool again;
	int ret;

	memset(inode, 0, sizeof(*inode));
	if (dir)
		dir->ino = 0;
	*made = false;
	if (ns_is_dot(x->name))
		return -EEXIST;
	ret = ns_begin_once(ns, &who, &result, &again);
	if (ret)
		return ret;
	if (!again)
		return make_new(ns, &who, x, stripe, inode, made, dir);
	*made = true;
	return ns_load(ns, result, inode);
}

static int link_all(struct ns *ns, const struct ddio_msg_fs_link *x, struct inode *dir,
		    struct inode *in)
{
	struct ns_entry e;
	int ret = ns_load(ns, x->ino, in);

	if (!ret)
		ret = ns_load_dir(ns, x->parent, dir);
	if (ret)
		return ret;
	if (S_ISDIR(in->mode))
		return -EPERM;
	if (!in->nlink)
		return -ESTALE;
	if (in->nlink >= NS_LINKS_MAX)
		return -EMLINK;
	ret = ns_find(ns, x->parent, x->name, &e);
	if (ret != -ENOENT)
		return ret ? ret : -EEXIST;
	e = (struct ns_entry){ .ino = in->ino, .type = in->mode & S_IFMT };
	in->nlink++;
	ns_touch(ns, in, false);
	ret = ns_store(ns, in);
	if (!ret)
		ret = ns_enter(ns, dir, x->name, &e);
	ns_touch(ns, dir, true);
	return ret ? ret : ns_store(ns, dir);
}

int ns_link(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_link *x,
	    struct inode *inode)
{
	const struct ns_who who = { mount, x->seq };
	struct inode dir = { .ino = 0 };
	uint64_t result;
	bool again;
	int ret;

	memset(inode, 0, sizeof(*inode));
	if (ns_is_dot(x->name))
		return -EEXIST;
	ret = ns_begin_once(ns, &who, &result, &again);
	if (ret)
		return ret;
	if (again)
		return ns_load(ns, x->ino, inode);
	kv_adds(ns->kv);
	ret = ns_end_once(ns, &who, result, link_all(ns, x, &dir, inode));
	inode_free(&dir);
	return ret;
}

/*
 * Clones
 */

/* Makes it in memory.  Without the list of the other file, its mode's group may be more than that file's. */
static int clone_inode(struct ns *ns, const struct inode *from, struct inode *in)
{
	bool any = ns_xattr_any(ns, from->ino);

	memset(in, 0, sizeof(*in));
	in->mode = S_IFREG | (from->mode & (any ? 0700 : 0777));
	in->uid = from->uid;
	in->gid = from->gid;
	in->flags = INODE_DATA;
	ns_touch(ns, in, true);
	in->atime = in->btime = in->mtime;
	return stripe_copy(&in->stripe, &from->stripe);
}

static int clone_make(struct ns *ns, const struct inode *from, struct inode *in)
{
	uint8_t key[NS_KEY_LEN];
	int ret = clone_inode(ns, from, in);

	if (!ret)
		ret = ns_take_id(ns, &in->ino);
	if (ret)
		return ret;
	in->stripe.seed = ns_seed(ns);
	ns_key(key, in->ino);
	ns_begin(ns);
	kv_adds(ns->kv);
	ns->counting++;
	ret = ns_store(ns, in);
	if (!ret)
		ret = ns_put_key(ns, NS_ORPHANS, key, sizeof(key));
	return ns_end(ns, ret);
}

bool ns_is_cloned(const struct ns *ns, uint64_t ino)
{
	uint64_t now = ddio_env_now(ns->env);
	const struct ns_clone *clone;

	ddio_list_for_each_entry(clone, &ns->clones, link)
		if (clone->from == ino && now - clone->since < ns->timeout_ns)
			return true;
	return false;
}

struct ns_clone *ns_clone_next(struct ns *ns, const struct ns_clone *clone)
{
	struct ddio_list *next = clone ? clone->link.next : ns->clones.next;

	return next == &ns->clones ? NULL : ddio_list_entry(next, struct ns_clone, link);
}

int ns_clone_begin(struct ns *ns, uint64_t from, struct ns_clone *clone, struct inode *inode)
{
	struct inode source;
	int ret = ns_load(ns, from, &source);

	memset(inode, 0, sizeof(*inode));
	if (!ret && !S_ISREG(source.mode))
		ret = S_ISDIR(source.mode) ? -EISDIR : -EINVAL;
	if (!ret && !source.nlink)
		ret = -ENOENT;
	if (!ret && ns_is_cloned(ns, from))
		ret = -EBUSY;
	if (!ret)
		ret = clone_make(ns, &source, inode);
	inode_free(&source);
	if (ret)
		return ret;
	clone->from = from;
	clone->ino = inode->ino;
	clone->since = ddio_env_now(ns->env);
	ddio_list_add(&clone->link, &ns->clones);
	return 0;
}

void ns_clone_end(struct ns_clone *clone)
{
	ddio_list_del(&clone->link);
}

/* Whose it is, and who may what. */
static int clone_owner(struct ns *ns, const struct inode *dir, const struct ns_clone_as *as,
		       struct inode *in)
{
	if (as->snap) {
		in->mode &= ~0222u;
		in->flags |= as->frozen ? INODE_FROZEN : 0;
		return 0;
	}
	/* Who makes it may write it, also if it is a clone of a snapshot. */
	in->mode |= 0600;
	in->uid = as->uid;
	in->gid = dir->mode & S_ISGID ? dir->gid : as->gid;
	return ns_acl_inherit(ns, dir, 0, in);
}

static int clone_name(struct ns *ns, const struct ns_clone_as *as, struct inode *dir,
		      struct inode *in)
{
	struct ns_entry e;
	uint8_t key[NS_KEY_LEN];
	int ret = ns_find(ns, as->parent, as->name, &e);

	if (ret != -ENOENT)
		return ret ? ret : -EEXIST;
	ns_key(key, in->ino);
	ret = kv_del(ns->kv, NS_ORPHANS, key, sizeof(key));
	if (!ret)
		ret = clone_owner(ns, dir, as, in);
	if (ret)
		return ret;
	e = (struct ns_entry){ .ino = in->ino, .type = S_IFREG };
	in->nlink = 1;
	in->size = as->size;
	ns_touch(ns, in, true);
	ret = ns_store(ns, in);
	if (!ret)
		ret = ns_enter(ns, dir, as->name, &e);
	ns_touch(ns, dir, true);
	return ret ? ret : ns_store(ns, dir);
}

int ns_clone_name(struct ns *ns, const struct ns_clone *clone, const struct ns_clone_as *as,
		  struct inode *inode)
{
	struct inode dir = { .ino = 0 };
	int ret = ns_is_dot(as->name) ? -EEXIST : ns_load(ns, clone->ino, inode);

	if (!ret)
		ret = ns_load_dir(ns, as->parent, &dir);
	if (!ret) {
		ns_begin(ns);
		kv_adds(ns->kv);
		ret = ns_end(ns, clone_name(ns, as, &dir, inode));
	}
	inode_free(&dir);
	return ret;
}
