// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Gives objects that belong to no file one again: an inode with their number, and a name in /lost+found, in one change, so
 * that nothing is half done after a crash.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "iop/ns/check/check.h"

/* Names that are tried for one file. */
#define ADOPT_NAMES 10

/* The number must have been given out, and be nobody's. */
static int number_free(struct ns *ns, uint64_t ino)
{
	struct inode in;
	int ret;

	if (ino < NS_FIRST || ino >= ns->next)
		return -ERANGE;
	ret = ns_load(ns, ino, &in);
	if (!ret)
		inode_free(&in);
	return ret == -ESTALE ? 0 : ret ? ret : -EEXIST;
}

static int adopted_inode(struct ns *ns, const struct ddio_file_record *rec, struct inode *in)
{
	const struct stripe stripe = { .seed = rec->ref.seed,
				       .block = rec->ref.block,
				       .layout = rec->ref.layout,
				       .ndisks = rec->ndisks,
				       .disks = rec->disks };

	memset(in, 0, sizeof(*in));
	in->ino = rec->ref.id;
	in->mode = S_IFREG | 0600;
	in->nlink = 1;
	in->size = rec->size;
	in->flags = INODE_DATA;
	ns_touch(ns, in, true);
	in->atime = in->btime = in->mtime;
	return stripe_copy(&in->stripe, &stripe);
}

/* Makes /lost+found, within the change. */
static int make_dir(struct ns *ns, struct inode *root, struct inode *dir)
{
	struct ns_entry e = { .type = S_IFDIR };
	int ret;

	*dir = (struct inode){
		.mode = S_IFDIR | 0700, .nlink = 2, .parent = DDIO_FS_ROOT, .cookie = NS_COOKIE
	};
	ns_touch(ns, dir, true);
	dir->atime = dir->btime = dir->mtime;
	ret = ns_take_id(ns, &dir->ino);
	if (ret)
		return ret;
	e.ino = dir->ino;
	ns->counting++;
	root->nlink++;
	ret = ns_enter(ns, root, CHECK_LOST_FOUND, &e);
	ns_touch(ns, root, true);
	return ret ? ret : ns_store(ns, root);
}

/* Finds or makes the directory.  The root stands in if the name is another user's, or not a directory's. */
static int adopted_dir(struct ns *ns, struct inode *dir)
{
	struct inode root;
	struct ns_entry e;
	int ret = ns_load_dir(ns, DDIO_FS_ROOT, &root);

	memset(dir, 0, sizeof(*dir));
	if (ret)
		return ret;
	ret = ns_find(ns, DDIO_FS_ROOT, CHECK_LOST_FOUND, &e);
	if (ret == -ENOENT)
		ret = make_dir(ns, &root, dir);
	else if (!ret && S_ISDIR(e.type))
		ret = ns_load_dir(ns, e.ino, dir);
	if (!ret && (!dir->ino || dir->uid)) {
		inode_free(dir);
		*dir = root;
		return 0;
	}
	inode_free(&root);
	return ret;
}

/* Finds a name that is free. */
static int free_name(struct ns *ns, const struct inode *dir, uint64_t ino,
		     char name[DDIO_MAX_NAME + 1])
{
	struct ns_entry e;
	int i, ret;

	for (i = 0; i < ADOPT_NAMES; i++) {
		if (i)
			snprintf(name, DDIO_MAX_NAME + 1, "#%" PRIu64 ".%d", ino, i);
		else
			snprintf(name, DDIO_MAX_NAME + 1, "#%" PRIu64, ino);
		ret = ns_find(ns, dir->ino, name, &e);
		if (ret)
			return ret == -ENOENT ? 0 : ret;
	}
	return -EEXIST;
}

static int adopt(struct ns *ns, struct inode *in, struct inode *dir, char name[DDIO_MAX_NAME + 1])
{
	struct ns_entry e = { .ino = in->ino, .type = S_IFREG };
	int ret = adopted_dir(ns, dir);

	if (!ret)
		ret = free_name(ns, dir, in->ino, name);
	if (!ret)
		ret = ns_store(ns, in);
	if (!ret)
		ret = ns_enter(ns, dir, name, &e);
	if (ret)
		return ret;
	ns->counting++;
	ns_touch(ns, dir, true);
	return ns_store(ns, dir);
}

int ns_adopt(struct ns *ns, struct ddio_file_record *rec)
{
	char name[DDIO_MAX_NAME + 1];
	struct inode in = { .ino = 0 }, dir = { .ino = 0 };
	int ret = number_free(ns, rec->ref.id);

	if (!ret)
		ret = adopted_inode(ns, rec, &in);
	if (!ret) {
		ns_begin(ns);
		kv_adds(ns->kv);
		ret = ns_end(ns, adopt(ns, &in, &dir, name));
	}
	if (!ret)
		snprintf(rec->name, sizeof(rec->name), "%s%.200s",
			 dir.ino == DDIO_FS_ROOT ? "" : CHECK_LOST_FOUND "/", name);
	inode_free(&dir);
	inode_free(&in);
	return ret;
}
