/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Access control lists as values of an extended attribute, in the kernel's format: a version u32,
 * then entries of tag u16, permissions u16, id u32; little-endian.  Pure.
 */
#ifndef DDIO_ACL_H
#define DDIO_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "iop/user/who.h"

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
 * struct acl - a list: owner, users, group, groups, a mask if there is a user or group, others;
 * users and groups sorted by id
 */
struct acl {
	uint32_t n;
	struct acl_entry {
		uint16_t tag, perm;
		uint32_t id;
	} e[];
};

/* *acl: free(); NULL: the list is empty.  Returns 0, -EINVAL, -EOPNOTSUPP or -ENOMEM. */
int acl_get(const void *value, size_t len, struct acl **acl);
size_t acl_len(const struct acl *acl);
void acl_put(const struct acl *acl, uint8_t *value);
/* Sets the permissions of @mode by the list.  Returns true if the mode says all that the list does. */
bool acl_to_mode(const struct acl *acl, uint32_t *mode);
/*
 * Returns true if a user may @want (4 read, 2 write, 1 execute) by the list of an inode that belongs to @uid and @gid: of
 * the entries about this user the first kind counts, and of several groups one that has all of it.
 */
bool acl_may(const struct acl *acl, const struct ddio_who *who, uint32_t uid, uint32_t gid,
	     uint32_t want);
/* Changes the list as chmod(2) does. */
void acl_chmod(struct acl *acl, uint32_t mode);
/* Restricts list and mode for a new inode in a directory with this default list.  Returns true if the list
 * is needed besides the mode. */
bool acl_inherit(struct acl *acl, uint32_t *mode);

#endif /* DDIO_ACL_H */
