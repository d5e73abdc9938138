// SPDX-License-Identifier: LGPL-2.1-or-later
/* Keeps modes and access control lists of inodes consistent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/acl.h"
#include "iop/ns/priv.h"

int ns_acl_read(struct ns *ns, uint64_t ino, const char *name, struct acl **acl)
{
	uint8_t *value;
	uint32_t len;
	int ret = ns_xattr_read(ns, ino, name, &value, &len);

	*acl = NULL;
	if (ret)
		return ret;
	ret = acl_get(value, len, acl);
	free(value);
	if (!ret && !*acl)
		return -ENODATA;
	return ret == -ENOMEM || !ret ? ret : -EUCLEAN;
}

static int acl_write(struct ns *ns, uint64_t ino, const char *name, const struct acl *acl)
{
	size_t len = acl_len(acl);
	uint8_t *value = malloc(len);
	int ret;

	if (!value)
		return -ENOMEM;
	acl_put(acl, value);
	ret = ns_xattr_write(ns, ino, name, value, (uint32_t)len);
	free(value);
	return ret;
}

int ns_acl_chmod(struct ns *ns, struct inode *inode)
{
	struct acl *acl;
	int ret;

	if (S_ISLNK(inode->mode))
		return 0;
	ret = ns_acl_read(ns, inode->ino, ACL_ACCESS, &acl);
	if (ret)
		return ret == -ENODATA ? 0 : ret;
	acl_chmod(acl, inode->mode);
	ret = acl_write(ns, inode->ino, ACL_ACCESS, acl);
	free(acl);
	return ret;
}

int ns_acl_inherit(struct ns *ns, const struct inode *dir, uint32_t umask, struct inode *inode)
{
	struct acl *acl;
	int ret;

	if (S_ISLNK(inode->mode))
		return 0;
	ret = ns_acl_read(ns, dir->ino, ACL_DEFAULT, &acl);
	if (ret == -ENODATA) {
		inode->mode &= ~umask;
		return 0;
	}
	if (!ret && S_ISDIR(inode->mode))
		ret = acl_write(ns, inode->ino, ACL_DEFAULT, acl);
	if (!ret && acl_inherit(acl, &inode->mode))
		ret = acl_write(ns, inode->ino, ACL_ACCESS, acl);
	free(acl);
	return ret;
}

int ns_acl_set(struct inode *inode, const char *name, const void *value, size_t len, bool kill_sgid,
	       bool *store)
{
	struct acl *acl = NULL;
	int ret;

	if (S_ISLNK(inode->mode))
		return -EOPNOTSUPP;
	ret = len ? acl_get(value, len, &acl) : 0;
	if (ret)
		return ret;
	*store = acl;
	if (!strcmp(name, ACL_DEFAULT)) {
		if (acl && !S_ISDIR(inode->mode))
			ret = -EACCES;
	} else if (acl) {
		/* A list that says no more than the mode is not kept. */
		*store = !acl_to_mode(acl, &inode->mode);
		if (kill_sgid)
			inode->mode &= ~(uint32_t)S_ISGID;
	}
	free(acl);
	return ret;
}
