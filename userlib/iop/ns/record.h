/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The records of the name space as bytes.  Values are little-endian, begin with a version and end with
 * a CRC-32C of key and value.  Pure; the readers accept any
 * bytes and return 0, -EUCLEAN or -ENOMEM.
 */
#ifndef DDIO_NS_RECORD_H
#define DDIO_NS_RECORD_H

#include "iop/ns/inode.h"

#define NS_META_KEY "ns"
#define NS_META_MAX 320
#define NS_VERSION 7
#define NS_FIRST 16 /* number of the first inode that is made */
#define NS_COOKIE 3 /* of a directory's first entry: "." and ".." have 1 and 2 */
#define NS_KEY_LEN 8
#define NS_NAME_KEY_MAX (8 + DDIO_MAX_NAME)
#define NS_ORDER_KEY_LEN 16
#define NS_DONE_KEY_LEN (DDIO_GROUP_ID_LEN + 8)

struct ns_meta {
	uint64_t limit;
	char cluster[DDIO_MAX_NAME + 1];
};
/* An entry of a directory, by name or (with the name in it) by cookie. */
struct ns_entry {
	uint64_t ino;
	uint32_t type; /* bits of the mode */
	uint64_t cookie;
	char name[DDIO_MAX_NAME + 1];
};
void ns_key(uint8_t key[NS_KEY_LEN], uint64_t id);
bool ns_key_get(const void *key, size_t len, uint64_t *id);
size_t ns_name_key(uint8_t key[NS_NAME_KEY_MAX], uint64_t id, const char *name);
/* Also for extended attributes. */
int ns_name_key_get(const void *key, size_t len, uint64_t *id, char name[DDIO_MAX_NAME + 1]);
void ns_order_key(uint8_t key[NS_ORDER_KEY_LEN], uint64_t dir, uint64_t cookie);
bool ns_order_key_get(const void *key, size_t len, uint64_t *dir, uint64_t *cookie);
void ns_done_key(uint8_t key[NS_DONE_KEY_LEN], const uint8_t *mount, uint64_t seq);

/* Returns the length, or -EMSGSIZE if @cap is too small; @buf NULL: only the length. */
ssize_t ns_inode_put(void *buf, size_t cap, const struct inode *inode);
int ns_inode_get(uint64_t ino, const void *value, size_t len, struct inode *inode);
/* @key: of the record; @name: the name is in it, as in records by cookie. */
#define NS_ENTRY_MAX (28 + 2 + DDIO_MAX_NAME)
size_t ns_entry_put(uint8_t buf[NS_ENTRY_MAX], const void *key, size_t key_len,
		    const struct ns_entry *e, bool name);
int ns_entry_get(const void *key, size_t key_len, const void *value, size_t len, bool name,
		 struct ns_entry *e);
/* Puts version and CRC around bytes; @buf: @len + NS_BYTES_EXTRA bytes. */
#define NS_BYTES_EXTRA 8
void ns_bytes_put(uint8_t *buf, const void *key, size_t key_len, const void *data, size_t len);
int ns_bytes_get(const void *key, size_t key_len, const void *value, size_t len,
		 const uint8_t **data, size_t *data_len);
/* The result, a number, of a request that must not be carried out twice. */
#define NS_RESULT_LEN 28
void ns_result_put(uint8_t buf[NS_RESULT_LEN], const void *key, size_t key_len, uint64_t result);
int ns_result_get(const void *key, size_t key_len, const void *value, size_t len, uint64_t *result);
/* ns_meta_get() also returns -EPROTONOSUPPORT: the record is intact, and of another version. */
size_t ns_meta_put(uint8_t value[NS_META_MAX], const struct ns_meta *meta);
int ns_meta_get(const void *value, size_t len, struct ns_meta *meta);

#endif /* DDIO_NS_RECORD_H */
