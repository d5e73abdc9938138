// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a user may do with inodes, by owner, group, mode and access control list. */
#include <errno.h>
#include <stdlib.h>
#include "iop/ns/acl.h"
#include "iop/ns/priv.h"

static uint32_t mode_bits(const struct ddio_who *who, const struct inode *in)
{
	if (who->uid == in->uid)
		return in->mode >> 6 & 7;
	return who_in_group(who, in->gid) ? in->mode >> 3 & 7 : in->mode & 7;
}

int ns_may(struct ns *ns, const struct ddio_who *who, const struct inode *in, uint32_t want)
{
	struct acl *acl;
	bool may;
	int ret;

	if (!who)
		return 0;
	/* The owner's permissions are the mode's in any case. */
	ret = who->uid == in->uid ? -ENODATA : ns_acl_read(ns, in->ino, ACL_ACCESS, &acl);
	if (ret && ret != -ENODATA)
		return ret;
	if (ret) {
		may = !(want & ~mode_bits(who, in));
	} else {
		may = acl_may(acl, who, in->uid, in->gid, want);
		free(acl);
	}
	return may ? 0 : -EACCES;
}

int ns_may_dir(struct ns *ns, const struct ddio_who *who, uint64_t dir, uint32_t want)
{
	struct inode in;
	int ret;

	if (!who)
		return 0;
	ret = ns_load_dir(ns, dir, &in);
	if (!ret)
		ret = ns_may(ns, who, &in, want);
	inode_free(&in);
	return ret;
}

int ns_may_come(struct ns *ns, const struct ddio_who *who, const struct inode *dir)
{
	uint64_t at = dir->ino == DDIO_FS_ROOT ? 0 : dir->parent, steps = 0;
	struct inode in;
	int ret = 0;

	while (who && !ret && at) {
		if (!bound_spend(&ns->bounds->at[BOUND_NAMES], &steps))
			return -EACCES;
		ret = ns_load_dir(ns, at, &in);
		if (!ret)
			ret = ns_may(ns, who, &in, NS_MAY_SEARCH);
		at = at == DDIO_FS_ROOT ? 0 : in.parent;
		inode_free(&in);
	}
	return ret;
}

int ns_may_unname(struct ns *ns, const struct ddio_who *who, uint64_t dir,
		  const struct inode *victim)
{
	struct inode in;
	int ret;

	if (!who)
		return 0;
	ret = ns_load_dir(ns, dir, &in);
	if (!ret)
		ret = ns_may(ns, who, &in, NS_MAY_WRITE | NS_MAY_SEARCH);
	if (!ret && in.mode & S_ISVTX && who->uid != in.uid && who->uid != victim->uid)
		ret = -EPERM;
	inode_free(&in);
	return ret;
}
