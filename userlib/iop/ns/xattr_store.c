// SPDX-License-Identifier: LGPL-2.1-or-later
/* Extended attributes as records. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/priv.h"

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

int ns_xattr_room(struct ns *ns, uint64_t ino, const char *name)
{
	struct bound *b = &ns->bounds->at[BOUND_XATTRS];
	size_t bytes = strlen(name) + 1;
	uint8_t key[NS_KEY_LEN];
	struct kv_cursor c;
	uint64_t n = 0;
	bool room;
	int ret;

	ns_key(key, ino);
	ret = kv_first(&c, ns->kv, NS_XATTRS, key, sizeof(key));
	while (!ret && c.key_len > sizeof(key) && !memcmp(c.key, key, sizeof(key)) &&
	       n < b->limit) {
		bytes += c.key_len - sizeof(key) + 1;
		n++;
		ret = kv_next(&c);
	}
	kv_cursor_close(&c);
	if (ret && ret != -ENOENT)
		return ret;
	room = n < b->limit && bytes <= DDIO_FS_XATTR_MAX;
	b->hits += !room;
	bound_seen(b, n + room);
	return room ? 0 : -ENOSPC;
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

int ns_xattr_delete(struct ns *ns, uint64_t ino, const char *name)
{
	uint8_t key[NS_NAME_KEY_MAX];
	size_t key_len = ns_name_key(key, ino, name);

	return kv_del(ns->kv, NS_XATTRS, key, key_len);
}

int ns_xattr_names(struct ns *ns, uint64_t ino, uint8_t **names, uint32_t *len)
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

bool ns_xattr_any(struct ns *ns, uint64_t ino)
{
	uint8_t key[NS_KEY_LEN];
	struct kv_cursor c;
	int ret;

	ns_key(key, ino);
	ret = kv_first(&c, ns->kv, NS_XATTRS, key, sizeof(key));
	if (!ret && (c.key_len < sizeof(key) || memcmp(c.key, key, sizeof(key)) != 0))
		ret = -ENOENT;
	kv_cursor_close(&c);
	return ret != -ENOENT;
}

int ns_xattrs_drop(struct ns *ns, uint64_t ino)
{
	uint8_t *names;
	uint32_t len, at;
	int ret = ns_xattr_names(ns, ino, &names, &len);

	for (at = 0; !ret && at < len; at += (uint32_t)strlen((char *)names + at) + 1)
		ret = ns_xattr_delete(ns, ino, (char *)names + at);
	free(names);
	return ret;
}
