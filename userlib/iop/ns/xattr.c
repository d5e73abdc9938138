// SPDX-License-Identifier: LGPL-2.1-or-later
/* Extended attributes. */
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
	/* A name space of names, and no name. */
	if (!strcmp(name, "user.") || !strcmp(name, "trusted.") || !strcmp(name, "security."))
		return -EINVAL;
	return -EOPNOTSUPP;
}

int ns_xattr_read(struct ns *ns, uint64_t ino, const char *name, uint8_t **value, uint32_t *len)
{
	uint8_t key[NS_NAME_KEY_MAX];
	size_t key_len = ns_name_key(key, ino, name), rec_len, data_len;
	const uint8_t *data;
	const void *rec;
	int ret;

	*value = NULL;
	*len = 0;
	ret = kv_get(ns->kv, NS_XATTRS, key, key_len, &rec, &rec_len);
	if (ret)
		return ret == -ENOENT ? -ENODATA : ret;
	ret = ns_bytes_get(key, key_len, rec, rec_len, &data, &data_len);
	if (ret)
		return ret;
	*value = malloc(data_len ? data_len : 1);
	if (!*value)
		return -ENOMEM;
	memcpy(*value, data, data_len);
	*len = (uint32_t)data_len;
	return 0;
}

int ns_xattr_write(struct ns *ns, uint64_t ino, const char *name, const void *value, uint32_t len)
{
	uint8_t key[NS_NAME_KEY_MAX], *rec = malloc((size_t)len + NS_BYTES_EXTRA);
	size_t key_len = ns_name_key(key, ino, name);
	int ret;

	if (!rec)
		return -ENOMEM;
	ns_bytes_put(rec, key, key_len, value, len);
	ret = kv_put(ns->kv, NS_XATTRS, key, key_len, rec, (size_t)len + NS_BYTES_EXTRA);
	free(rec);
	return ret;
}

static int xattr_delete(struct ns *ns, uint64_t ino, const char *name)
{
	uint8_t key[NS_NAME_KEY_MAX];
	size_t key_len = ns_name_key(key, ino, name);

	return kv_del(ns->kv, NS_XATTRS, key, key_len);
}

/* All names of an inode, each with a zero behind it. */
static int xattr_names(struct ns *ns, uint64_t ino, uint8_t **names, uint32_t *len)
{
	uint8_t key[NS_KEY_LEN];
	char name[DDIO_MAX_NAME + 1];
	struct kv_cursor c;
	uint8_t *grown;
	uint64_t of;
	size_t n;
	int ret;

	*names = NULL;
	*len = 0;
	ns_key(key, ino);
	for (ret = kv_first(&c, ns->kv, NS_XATTRS, key, sizeof(key)); !ret; ret = kv_next(&c)) {
		if (ns_name_key_get(c.key, c.key_len, &of, name) || of != ino)
			break;
		n = strlen(name) + 1;
		grown = realloc(*names, *len + n);
		if (!grown) {
			ret = -ENOMEM;
			break;
		}
		memcpy(grown + *len, name, n);
		*names = grown;
		*len += (uint32_t)n;
	}
	kv_cursor_close(&c);
	if (!ret || ret == -ENOENT)
		return 0;
	free(*names);
	*names = NULL;
	*len = 0;
	return ret;
}

int ns_xattrs_drop(struct ns *ns, uint64_t ino)
{
	uint8_t *names;
	uint32_t len, at;
	int ret = xattr_names(ns, ino, &names, &len);

	for (at = 0; !ret && at < len; at += (uint32_t)strlen((char *)names + at) + 1)
		ret = xattr_delete(ns, ino, (char *)names + at);
	free(names);
	return ret;
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
	return ns_xattr_write(ns, x->ino, x->name, x->value, x->len);
}

static int set_acl(struct ns *ns, const struct ddio_msg_fs_xattr *x, struct inode *in)
{
	bool store, kill = x->flags & DDIO_FS_XATTR_KILL_SGID;
	int ret = ns_acl_set(in, x->name, x->value, x->len, kill, &store);

	if (ret)
		return ret;
	return store ? set_plain(ns, x) : xattr_delete(ns, x->ino, x->name);
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
			ret = xattr_delete(ns, x->ino, x->name);
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
	struct ns_result result;
	bool again;
	int ret = ns_load(ns, x->ino, in);

	if (!ret)
		ret = name_check(x->name);
	if (!ret)
		ret = ns_begin(ns, &who, &result, &again);
	if (ret || again)
		return ret;
	return ns_end(ns, &who, &result, fn(ns, x, in));
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
		ret = xattr_names(ns, ino, names, len);
	if (!ret && *len > DDIO_FS_XATTR_MAX) {
		free(*names);
		*names = NULL;
		ret = -E2BIG;
	}
	return ret;
}
