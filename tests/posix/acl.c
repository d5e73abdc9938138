// SPDX-License-Identifier: GPL-2.0-only
#include <linux/posix_acl_xattr.h>
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "acl.h"

#define USER_OBJ 0x01
#define USER 0x02
#define GROUP_OBJ 0x04
#define GROUP 0x08
#define MASK 0x10
#define OTHER 0x20

const char *acl_xattr(const char *which)
{
	return strcmp(which, "default") ? "system.posix_acl_access" : "system.posix_acl_default";
}

static int entry_encode(const char *text, struct posix_acl_xattr_entry *e)
{
	const char *id = strchr(text, ':'), *perm = id ? strchr(id + 1, ':') : NULL;
	int tag, bits = 0;

	if (!perm || strlen(perm) < 4)
		return -1;
	switch (text[0]) {
	case 'u':
		tag = id[1] == ':' ? USER_OBJ : USER;
		break;
	case 'g':
		tag = id[1] == ':' ? GROUP_OBJ : GROUP;
		break;
	case 'm':
		tag = MASK;
		break;
	default:
		tag = OTHER;
	}
	bits |= perm[1] == 'r' ? 4 : 0;
	bits |= perm[2] == 'w' ? 2 : 0;
	bits |= perm[3] == 'x' ? 1 : 0;
	e->e_tag = htole16((uint16_t)tag);
	e->e_perm = htole16((uint16_t)bits);
	e->e_id = htole32(id[1] == ':' ? UINT32_MAX : (uint32_t)atoi(id + 1));
	return 0;
}

int acl_encode(const char *text, char *value, size_t size)
{
	struct posix_acl_xattr_header head = { .a_version = htole32(POSIX_ACL_XATTR_VERSION) };
	struct posix_acl_xattr_entry e;
	char copy[512], *save = NULL, *one;
	size_t used = sizeof(head);

	memcpy(value, &head, sizeof(head));
	snprintf(copy, sizeof(copy), "%s", text);
	for (one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		if (entry_encode(one, &e) || used + sizeof(e) > size)
			return -1;
		memcpy(value + used, &e, sizeof(e));
		used += sizeof(e);
	}
	return (int)used;
}

static char letter_of(unsigned int tag)
{
	if (tag & (USER_OBJ | USER))
		return 'u';
	if (tag & (GROUP_OBJ | GROUP))
		return 'g';
	return tag == MASK ? 'm' : 'o';
}

int acl_decode(const char *value, size_t len, char *text, size_t size)
{
	size_t at = sizeof(struct posix_acl_xattr_header), used = 0;
	struct posix_acl_xattr_entry e;
	char id[16];

	text[0] = 0;
	if (len < at || (len - at) % sizeof(e))
		return -1;
	for (; at < len; at += sizeof(e)) {
		unsigned int tag, bits;

		memcpy(&e, value + at, sizeof(e));
		tag = le16toh(e.e_tag);
		bits = le16toh(e.e_perm);
		snprintf(id, sizeof(id), "%u", le32toh(e.e_id));
		used += (size_t)snprintf(text + used, size - used, "%s%c:%s:%c%c%c",
					 used ? "," : "", letter_of(tag),
					 tag & (USER | GROUP) ? id : "", bits & 4 ? 'r' : '-',
					 bits & 2 ? 'w' : '-', bits & 1 ? 'x' : '-');
		if (used >= size)
			return -1;
	}
	return 0;
}
