// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include "iop/ns/acl.h"
#include "proto/cursor.h"

enum { ACL_VERSION = 2, HEAD_LEN = 4, ENTRY_LEN = 8, RWX = 7 };
#define NO_ID UINT32_MAX

static bool tag_has_id(uint16_t tag)
{
	return tag == ACL_USER || tag == ACL_GROUP;
}

static bool tag_known(uint16_t tag)
{
	return tag && !(tag & (tag - 1)) && tag <= ACL_OTHER;
}

/* Checks order, the three mandatory entries, and a mask where one is needed. */
static bool acl_valid(const struct acl *acl)
{
	uint32_t seen = 0, i;

	for (i = 0; i < acl->n; i++) {
		const struct acl_entry *e = &acl->e[i], *before = e - 1;

		if (!tag_known(e->tag) || e->perm > RWX)
			return false;
		if (tag_has_id(e->tag) && e->id == NO_ID)
			return false;
		if (i && (e->tag < before->tag ||
			  (e->tag == before->tag && (!tag_has_id(e->tag) || e->id <= before->id))))
			return false;
		seen |= e->tag;
	}
	if (seen & (ACL_USER | ACL_GROUP) && !(seen & ACL_MASK))
		return false;
	return seen & ACL_USER_OBJ && seen & ACL_GROUP_OBJ && seen & ACL_OTHER;
}

/* Sorts by tag, then id; like the kernel, accepts any order. */
static int entry_order(const void *a, const void *b)
{
	const struct acl_entry *x = a, *y = b;

	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

int acl_get(const void *value, size_t len, struct acl **result)
{
	struct ddio_rd r = ddio_rd_begin(value, len);
	uint32_t version = ddio_rd_u32(&r), n, i;
	struct acl *acl;

	*result = NULL;
	if (r.err || r.left % ENTRY_LEN)
		return -EINVAL;
	if (version != ACL_VERSION)
		return -EOPNOTSUPP;
	n = (uint32_t)(r.left / ENTRY_LEN);
	if (!n)
		return 0;
	if (n > ACL_MAX)
		return -EINVAL;
	acl = malloc(sizeof(*acl) + n * sizeof(acl->e[0]));
	if (!acl)
		return -ENOMEM;
	acl->n = n;
	for (i = 0; i < n; i++) {
		acl->e[i].tag = ddio_rd_u16(&r);
		acl->e[i].perm = ddio_rd_u16(&r);
		acl->e[i].id = ddio_rd_u32(&r);
		if (!tag_has_id(acl->e[i].tag))
			acl->e[i].id = NO_ID;
	}
	qsort(acl->e, n, sizeof(acl->e[0]), entry_order);
	if (!acl_valid(acl)) {
		free(acl);
		return -EINVAL;
	}
	*result = acl;
	return 0;
}

size_t acl_len(const struct acl *acl)
{
	return HEAD_LEN + (size_t)acl->n * ENTRY_LEN;
}

void acl_put(const struct acl *acl, uint8_t *value)
{
	struct ddio_wr w = ddio_wr_begin(value, acl_len(acl));
	uint32_t i;

	ddio_wr_u32(&w, ACL_VERSION);
	for (i = 0; i < acl->n; i++) {
		ddio_wr_u16(&w, acl->e[i].tag);
		ddio_wr_u16(&w, acl->e[i].perm);
		ddio_wr_u32(&w, acl->e[i].id);
	}
}

static uint16_t *perm_of(struct acl *acl, uint16_t tag)
{
	uint32_t i;

	for (i = 0; i < acl->n; i++)
		if (acl->e[i].tag == tag)
			return &acl->e[i].perm;
	return NULL;
}

/* Returns what the mode's group bits stand for: the mask, if there is one. */
static uint16_t *group_perm(struct acl *acl)
{
	uint16_t *mask = perm_of(acl, ACL_MASK);

	return mask ? mask : perm_of(acl, ACL_GROUP_OBJ);
}

bool acl_to_mode(const struct acl *list, uint32_t *mode)
{
	struct acl *acl = (struct acl *)list;

	*mode &= ~0777u;
	*mode |= (uint32_t)*perm_of(acl, ACL_USER_OBJ) << 6;
	*mode |= (uint32_t)*group_perm(acl) << 3;
	*mode |= *perm_of(acl, ACL_OTHER);
	return acl->n == 3;
}

void acl_chmod(struct acl *acl, uint32_t mode)
{
	*perm_of(acl, ACL_USER_OBJ) = mode >> 6 & RWX;
	*group_perm(acl) = mode >> 3 & RWX;
	*perm_of(acl, ACL_OTHER) = mode & RWX;
}

bool acl_inherit(struct acl *acl, uint32_t *mode)
{
	*perm_of(acl, ACL_USER_OBJ) &= *mode >> 6 & RWX;
	*group_perm(acl) &= *mode >> 3 & RWX;
	*perm_of(acl, ACL_OTHER) &= *mode & RWX;
	return !acl_to_mode(acl, mode);
}

/* Returns true if the entry is about the user as a member of a group. */
static bool group_entry(const struct acl_entry *e, const struct ddio_who *who, uint32_t gid)
{
	if (e->tag == ACL_GROUP_OBJ)
		return who_in_group(who, gid);
	return e->tag == ACL_GROUP && who_in_group(who, e->id);
}

bool acl_may(const struct acl *list, const struct ddio_who *who, uint32_t uid, uint32_t gid,
	     uint32_t want)
{
	struct acl *acl = (struct acl *)list;
	const uint16_t *mask = perm_of(acl, ACL_MASK);
	uint32_t most = mask ? *mask : RWX, i;
	bool member = false;

	if (who->uid == uid)
		return !(want & ~(uint32_t)*perm_of(acl, ACL_USER_OBJ));
	for (i = 0; i < acl->n; i++)
		if (acl->e[i].tag == ACL_USER && acl->e[i].id == who->uid)
			return !(want & ~(acl->e[i].perm & most));
	for (i = 0; i < acl->n; i++) {
		if (!group_entry(&acl->e[i], who, gid))
			continue;
		if (!(want & ~(acl->e[i].perm & most)))
			return true;
		member = true;
	}
	return !member && !(want & ~(uint32_t)*perm_of(acl, ACL_OTHER));
}
