/* SPDX-License-Identifier: GPL-2.0-only */
/* POSIX ACLs as extended attributes have them, and as text: "u::rwx,u:10001:r--,g::r-x,m::rwx,o::---". */
#ifndef POSIX_ACL_H
#define POSIX_ACL_H

#include <stddef.h>

/* @which: access, default. */
const char *acl_xattr(const char *which);
/* Returns the number of bytes, or -1 for a malformed text. */
int acl_encode(const char *text, char *value, size_t size);
int acl_decode(const char *value, size_t len, char *text, size_t size);

#endif /* POSIX_ACL_H */
