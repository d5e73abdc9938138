// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs of the file system's messages about data: sizes, space, locks. */
#include <stdlib.h>
#include "proto/codec_fs.h"

#define WROTE_ALL                                                             \
	(DDIO_FS_WROTE_DATA | DDIO_FS_WROTE_TIMES | DDIO_FS_WROTE_KILL_SUID | \
	 DDIO_FS_WROTE_LEASED | DDIO_FS_WROTE_RETURN)
#define LOCK_ALL (DDIO_FS_LOCK_FLOCK | DDIO_FS_LOCK_WAIT | DDIO_FS_LOCK_AGAIN | DDIO_FS_LOCK_OTHER)

enum { RECALL_LEN = 16 };

/* What a holder of a lease says besides. */
static inline void code_fs_wrote_leased(struct ddio_coder *c, struct ddio_msg_fs_wrote *x)
{
	code_u64(c, &x->lease);
	code_u64(c, &x->since);
	code_time(c, &x->mtime);
	code_check(c, x->lease != 0, -EINVAL);
}

static inline void code_fs_wrote(struct ddio_coder *c, struct ddio_msg_fs_wrote *x)
{
	uint32_t sync = c->reading ? 0 : x->sync;

	code_ino(c, &x->ino);
	code_u64(c, &x->end);
	code_flags(c, &x->flags, WROTE_ALL);
	code_check(c, x->end <= DDIO_MAX_FILE, -EMSGSIZE);
	code_check(c, !(x->flags & DDIO_FS_WROTE_RETURN) || x->flags & DDIO_FS_WROTE_LEASED,
		   -EINVAL);
	code_u32(c, &sync);
	code_u64(c, &x->base);
	code_check(c, sync <= 1, -EINVAL);
	if (c->reading)
		x->sync = sync;
	if (x->flags & DDIO_FS_WROTE_LEASED)
		code_fs_wrote_leased(c, x);
}
CODEC(fs_wrote, ddio_msg_fs_wrote)

static inline void code_fs_lease(struct ddio_coder *c, struct ddio_msg_fs_lease *x)
{
	code_ino(c, &x->ino);
	code_flags(c, &x->flags, DDIO_FS_LEASE_ALONE);
}
CODEC(fs_lease, ddio_msg_fs_lease)

static inline void code_fs_leased(struct ddio_coder *c, struct ddio_msg_fs_leased *x)
{
	code_u64(c, &x->lease);
	code_attr(c, &x->attr);
}
CODEC(fs_leased, ddio_msg_fs_leased)

static inline void code_fs_recalled(struct ddio_coder *c, struct ddio_msg_fs_recalled *x)
{
	uint32_t i;

	code_u32(c, &x->n);
	code_padding(c);
	code_check(c, x->n <= DDIO_FS_RECALLED_MAX, -EMSGSIZE);
	if (c->reading)
		x->leases = code_alloc(c, x->n, sizeof(*x->leases), RECALL_LEN);
	for (i = 0; i < x->n && coder_ok(c); i++) {
		code_ino(c, &x->leases[i].ino);
		code_u64(c, &x->leases[i].lease);
	}
}
CODEC_OWNING(fs_recalled, ddio_msg_fs_recalled, ddio_fs_recalled_free)

void ddio_fs_recalled_free(struct ddio_msg_fs_recalled *x)
{
	free(x->leases);
	x->leases = NULL;
	x->n = 0;
}

static inline void code_fs_append(struct ddio_coder *c, struct ddio_msg_fs_append *x)
{
	code_fs_seq(c, &x->seq);
	code_ino(c, &x->ino);
	code_u64(c, &x->len);
	code_check(c, x->len > 0, -EINVAL);
	code_check(c, x->len <= DDIO_MAX_FILE, -EMSGSIZE);
}
CODEC(fs_append, ddio_msg_fs_append)

static inline void code_fs_place(struct ddio_coder *c, struct ddio_msg_fs_place *x)
{
	code_u64(c, &x->offset);
	code_attr(c, &x->attr);
	code_check(c, x->offset <= DDIO_MAX_FILE, -EMSGSIZE);
}
CODEC(fs_place, ddio_msg_fs_place)

static inline void code_fs_alloc(struct ddio_coder *c, struct ddio_msg_fs_alloc *x)
{
	code_ino(c, &x->ino);
	code_u64(c, &x->change);
	code_u64(c, &x->alloc);
	code_check(c, x->alloc <= DDIO_MAX_FILE, -EMSGSIZE);
}
CODEC(fs_alloc, ddio_msg_fs_alloc)

static inline void code_fs_space(struct ddio_coder *c, struct ddio_msg_fs_space *x)
{
	code_u64(c, &x->inodes);
}
CODEC(fs_space, ddio_msg_fs_space)

static inline void code_fs_lock(struct ddio_coder *c, struct ddio_msg_fs_lock *x)
{
	code_ino(c, &x->ino);
	code_u64(c, &x->id);
	code_u64(c, &x->start);
	code_u64(c, &x->end);
	code_u64(c, &x->owner);
	code_u32(c, &x->pid);
	code_u32(c, &x->type);
	code_flags(c, &x->flags, LOCK_ALL);
	code_check(c, x->type < DDIO_FS_LOCK_MAX && x->start <= x->end, -EINVAL);
	code_check(c, !(x->flags & DDIO_FS_LOCK_WAIT) || x->id, -EINVAL);
}
CODEC(fs_lock, ddio_msg_fs_lock)

static inline void code_fs_owner(struct ddio_coder *c, struct ddio_msg_fs_owner *x)
{
	code_ino(c, &x->ino);
	code_u64(c, &x->owner);
}
CODEC(fs_owner, ddio_msg_fs_owner)
