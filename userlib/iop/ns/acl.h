/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Access control lists as the value of an extended attribute, in the kernel's form: a version u32,
 * then entries of tag u16, permissions u16, id u32; little-endian.  Pure.
 */
#ifndef DDIO_ACL_H
#define DDIO_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACL_ACCESS "system.posix_acl_access"
#define ACL_DEFAULT "system.posix_acl_default"
#define ACL_MAX 1024 /* entries */

enum {
	ACL_USER_OBJ = 0x01,
	ACL_USER = 0x02,
	ACL_GROUP_OBJ = 0x04,
	ACL_GROUP = 0x08,
	ACL_MASK = 0x10,
	ACL_OTHER = 0x20,
};

/**
 * struct acl - a list: the owner, users, the group, groups, a mask if there is a user or group,
 * others; users and groups in the order of their ids
 */
struct acl {
	uint32_t n;
	struct acl_entry {
		uint16_t tag, perm;
		uint32_t id;
	} e[];
};

/* *acl: free(); NULL for a list without entries.  Return: 0, -EINVAL, -EOPNOTSUPP, -ENOMEM. */
int acl_get(const void *value, size_t len, struct acl **acl);
size_t acl_len(const struct acl *acl);
void acl_put(const struct acl *acl, uint8_t *value);
/* The permissions of @mode as the list has them.  Return: does the mode say all of it? */
bool acl_to_mode(const struct acl *acl, uint32_t *mode);
/* The list after chmod(2). */
void acl_chmod(struct acl *acl, uint32_t mode);
/* Of what is made with @mode in a directory with this default list: both become less.  Return: is
 * the list needed besides the mode? */
bool acl_inherit(struct acl *acl, uint32_t *mode);

#endif /* DDIO_ACL_H */
