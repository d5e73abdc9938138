// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs of links' targets, listings of directories and extended attributes. */
#include <stdlib.h>
#include "proto/codec_fs.h"

/* The shortest entry of a listing: cookie, number, type, a name of one byte. */
enum { ENTRY_MIN = 8 + 8 + 4 + 2 + 1 };

#define XATTR_BOTH (DDIO_FS_XATTR_CREATE | DDIO_FS_XATTR_REPLACE)
#define XATTR_ALL (XATTR_BOTH | DDIO_FS_XATTR_KILL_SGID | DDIO_FS_XATTR_NAMED)

static inline void code_fs_target(struct ddio_coder *c, struct ddio_msg_fs_target *x)
{
	code_str(c, x->target, sizeof(x->target));
	code_check(c, x->target[0] != '\0', -EINVAL);
}
CODEC(fs_target, ddio_msg_fs_target)

static inline void code_fs_readdir(struct ddio_coder *c, struct ddio_msg_fs_readdir *x)
{
	code_ino(c, &x->ino);
	code_u64(c, &x->cookie);
	code_u32(c, &x->max);
	code_flags(c, &x->flags, DDIO_FS_READDIR_PLUS | DDIO_FS_READDIR_LAST);
	code_check(c, x->flags != (DDIO_FS_READDIR_PLUS | DDIO_FS_READDIR_LAST), -EINVAL);
	code_check(c, x->max > 0, -EINVAL);
	code_check(c, x->max <= DDIO_MAX_BATCH, -EMSGSIZE);
}
CODEC(fs_readdir, ddio_msg_fs_readdir)

static void code_short_attr(struct ddio_coder *c, struct ddio_fs_attr *a)
{
	code_ino(c, &a->ino);
	code_u32(c, &a->mode);
	code_check(c, ddio_mode_ok(a->mode), -EINVAL);
}

static void code_bare(struct ddio_coder *c, struct ddio_fs_dirent *e)
{
	uint32_t bare = e->bare;

	code_u32(c, &bare);
	code_check(c, bare <= 1, -EINVAL);
	if (c->reading)
		e->bare = bare;
}

static void code_entry(struct ddio_coder *c, struct ddio_fs_dirent *e, uint32_t plus)
{
	code_u64(c, &e->cookie);
	if (plus) {
		code_attr(c, &e->attr);
		code_bare(c, e);
	} else {
		code_short_attr(c, &e->attr);
	}
	if (coder_ok(c))
		code_entry_name(c, (char *)e->name);
}

/* Allocates the entries and, after them, room for their names.  Returns the room. */
static char *alloc_entries(struct ddio_coder *c, struct ddio_msg_fs_entries *x)
{
	/* a name with its terminator takes less room than its entry in the message */
	if (x->n && code_fits(c, x->n, ENTRY_MIN))
		x->ents = ddio_rd_alloc(&c->r, 1, x->n * sizeof(*x->ents) + c->r.left);
	return x->ents ? (char *)(x->ents + x->n) : NULL;
}

static inline void code_fs_entries(struct ddio_coder *c, struct ddio_msg_fs_entries *x)
{
	char *room = NULL;
	uint32_t i;

	code_u32(c, &x->n);
	code_u32(c, &x->more);
	code_u32(c, &x->plus);
	code_check(c, x->more <= 1 && x->plus <= 1, -EINVAL);
	code_check(c, x->n <= DDIO_MAX_BATCH, -EMSGSIZE);
	if (c->reading)
		room = alloc_entries(c, x);
	for (i = 0; i < x->n && coder_ok(c); i++) {
		if (c->reading)
			x->ents[i].name = room;
		code_entry(c, &x->ents[i], x->plus);
		if (c->reading)
			room += strlen(room) + 1;
	}
}

static void release_entries(struct ddio_msg_fs_entries *x)
{
	free(x->ents);
	memset(x, 0, sizeof(*x));
}
CODEC_OWNING(fs_entries, ddio_msg_fs_entries, release_entries)

static inline void code_fs_xattr(struct ddio_coder *c, struct ddio_msg_fs_xattr *x)
{
	code_fs_seq(c, &x->seq);
	code_ino(c, &x->ino);
	code_flags(c, &x->flags, XATTR_ALL);
	code_u32(c, &x->len);
	code_str(c, x->name, sizeof(x->name));
	code_check(c, x->name[0] && (x->flags & XATTR_BOTH) != XATTR_BOTH, -EINVAL);
	code_check(c, x->len <= DDIO_FS_XATTR_MAX, -EMSGSIZE);
	code_outside(c, &x->value, x->len);
}
CODEC(fs_xattr, ddio_msg_fs_xattr)

static inline void code_fs_value(struct ddio_coder *c, struct ddio_msg_fs_value *x)
{
	code_u32(c, &x->len);
	code_check(c, x->len <= DDIO_FS_XATTR_MAX, -EMSGSIZE);
	code_outside(c, &x->data, x->len);
}
CODEC(fs_value, ddio_msg_fs_value)
