// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests about extended attributes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/acl.h"
#include "iop/ns/priv.h"

static bool begins(const char *name, const char *with)
{
	size_t n = strlen(with);

	return !strncmp(name, with, n) && name[n];
}

static bool is_acl(const char *name)
{
	return !strcmp(name, ACL_ACCESS) || !strcmp(name, ACL_DEFAULT);
}

static int name_check(const char *name)
{
	if (is_acl(name) || ns_stripe_is(name) || begins(name, "user.") ||
	    begins(name, "trusted.") || begins(name, "security."))
		return 0;
	/* A prefix without a name. */
	if (!strcmp(name, "user.") || !strcmp(name, "trusted.") || !strcmp(name, "security."))
		return -EINVAL;
	return -EOPNOTSUPP;
}

int ns_getxattr(struct ns *ns, uint64_t ino, const char *name, uint8_t **value, uint32_t *len)
{
	struct inode in;
	char *text = NULL;
	int ret = ns_load(ns, ino, &in);

	*value = NULL;
	*len = 0;
	if (!ret)
		ret = name_check(name);
	if (!ret && ns_stripe_is(name)) {
		ret = ns_stripe_get(ns, &in, name, &text);
		if (ret > 0) {
			*len = (uint32_t)ret;
			*value = (uint8_t *)text;
			ret = 0;
		}
	} else if (!ret) {
		ret = ns_xattr_read(ns, ino, name, value, len);
	}
	inode_free(&in);
	return ret;
}

static int set_plain(struct ns *ns, const struct ddio_msg_fs_xattr *x)
{
	uint8_t *old;
	uint32_t len;
	int ret = ns_xattr_read(ns, x->ino, x->name, &old, &len);

	free(old);
	if (ret && ret != -ENODATA && ret != -EUCLEAN)
		return ret;
	if (!ret && x->flags & DDIO_FS_XATTR_CREATE)
		return -EEXIST;
	if (ret == -ENODATA && x->flags & DDIO_FS_XATTR_REPLACE)
		return ret;
	ret = ret == -ENODATA ? ns_xattr_room(ns, x->ino, x->name) : 0;
	return ret ? ret : ns_xattr_write(ns, x->ino, x->name, x->value, x->len);
}

static int set_acl(struct ns *ns, const struct ddio_msg_fs_xattr *x, struct inode *in)
{
	bool store, kill = x->flags & DDIO_FS_XATTR_KILL_SGID;
	int ret = ns_acl_set(in, x->name, x->value, x->len, kill, &store);

	if (ret)
		return ret;
	return store ? set_plain(ns, x) : ns_xattr_delete(ns, x->ino, x->name);
}

static int set_any(struct ns *ns, const struct ddio_msg_fs_xattr *x, struct inode *in)
{
	int ret;

	if (ns_stripe_is(x->name))
		ret = ns_stripe_set(ns, in, x->name, x->value, x->len);
	else
		ret = is_acl(x->name) ? set_acl(ns, x, in) : set_plain(ns, x);
	if (ret)
		return ret;
	ns_touch(ns, in, false);
	return ns_store(ns, in);
}

static int remove_any(struct ns *ns, const struct ddio_msg_fs_xattr *x, struct inode *in)
{
	uint8_t *old = NULL;
	uint32_t len;
	int ret;

	if (ns_stripe_is(x->name)) {
		ret = ns_stripe_unset(in, x->name);
	} else {
		ret = ns_xattr_read(ns, x->ino, x->name, &old, &len);
		free(old);
		if (!ret || ret == -EUCLEAN)
			ret = ns_xattr_delete(ns, x->ino, x->name);
	}
	if (ret)
		return ret;
	ns_touch(ns, in, false);
	return ns_store(ns, in);
}

static int change_any(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_xattr *x,
		      struct inode *in,
		      int (*fn)(struct ns *ns, const struct ddio_msg_fs_xattr *x, struct inode *in))
{
	const struct ns_who who = { mount, x->seq };
	uint64_t result;
	bool again;
	int ret = ns_load(ns, x->ino, in);

	if (!ret)
		ret = name_check(x->name);
	if (!ret && in->flags & INODE_FROZEN)
		ret = -EROFS;
	if (!ret)
		ret = ns_begin_once(ns, &who, &result, &again);
	if (ret || again)
		return ret;
	if (fn == set_any)
		kv_adds(ns->kv);
	return ns_end_once(ns, &who, result, fn(ns, x, in));
}

int ns_setxattr(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_xattr *x,
		struct inode *inode)
{
	return change_any(ns, mount, x, inode, set_any);
}

int ns_removexattr(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_xattr *x,
		   struct inode *inode)
{
	return change_any(ns, mount, x, inode, remove_any);
}

int ns_listxattr(struct ns *ns, uint64_t ino, uint8_t **names, uint32_t *len)
{
	struct inode in;
	int ret = ns_load(ns, ino, &in);

	*names = NULL;
	*len = 0;
	inode_free(&in);
	if (!ret)
		ret = ns_xattr_names(ns, ino, names, len);
	if (!ret && *len > DDIO_FS_XATTR_MAX) {
		free(*names);
		*names = NULL;
		ret = -E2BIG;
	}
	return ret;
}
