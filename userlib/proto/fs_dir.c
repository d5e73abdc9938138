// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs of links' targets, listings of directories and extended attributes. */
#include <stdlib.h>
#include "proto/codec_fs.h"

/* Cookie, number, type, a name of one byte: the shortest entry of a listing. */
enum { ENTRY_MIN = 8 + 8 + 4 + 2 + 1 };

ssize_t ddio_put_fs_target(void *buf, size_t cap, const struct ddio_msg_fs_target *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_str(&w, x->target, sizeof(x->target));
	return ddio_wr_end(&w);
}

int ddio_get_fs_target(const void *buf, size_t len, struct ddio_msg_fs_target *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_str(&r, x->target, sizeof(x->target));
	ddio_rd_check(&r, x->target[0] != '\0', -EINVAL);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_readdir(void *buf, size_t cap, const struct ddio_msg_fs_readdir *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u64(&w, x->ino);
	ddio_wr_u64(&w, x->cookie);
	ddio_wr_u32(&w, x->max);
	ddio_wr_u32(&w, x->flags);
	return ddio_wr_end(&w);
}

int ddio_get_fs_readdir(const void *buf, size_t len, struct ddio_msg_fs_readdir *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->ino = ddio_rd_ino(&r);
	x->cookie = ddio_rd_u64(&r);
	x->max = ddio_rd_u32(&r);
	x->flags = ddio_rd_flags(&r, DDIO_FS_READDIR_PLUS);
	ddio_rd_check(&r, x->max > 0, -EINVAL);
	ddio_rd_check(&r, x->max <= DDIO_MAX_BATCH, -EMSGSIZE);
	return ddio_rd_end(&r);
}

static void wr_entry(struct ddio_wr *w, const struct ddio_fs_dirent *e, bool plus)
{
	ddio_wr_u64(w, e->cookie);
	if (plus) {
		ddio_wr_fs_attr(w, &e->attr);
	} else {
		ddio_wr_u64(w, e->attr.ino);
		ddio_wr_u32(w, e->attr.mode);
	}
	ddio_wr_str(w, e->name, DDIO_MAX_NAME + 1);
}

ssize_t ddio_put_fs_entries(void *buf, size_t cap, const struct ddio_msg_fs_entries *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);
	uint32_t i;

	ddio_wr_u32(&w, x->n);
	ddio_wr_u32(&w, x->more);
	ddio_wr_u32(&w, x->plus);
	for (i = 0; i < x->n; i++)
		wr_entry(&w, &x->ents[i], x->plus);
	return ddio_wr_end(&w);
}

/* Return: where the next name goes. */
static char *rd_entry(struct ddio_rd *r, struct ddio_fs_dirent *e, bool plus, char *room)
{
	e->cookie = ddio_rd_u64(r);
	if (plus) {
		ddio_rd_fs_attr(r, &e->attr);
	} else {
		e->attr.ino = ddio_rd_ino(r);
		e->attr.mode = ddio_rd_u32(r);
		ddio_rd_check(r, ddio_mode_ok(e->attr.mode), -EINVAL);
	}
	e->name = room;
	if (r->err)
		return room;
	ddio_rd_fs_name(r, room);
	return room + strlen(room) + 1;
}

int ddio_get_fs_entries(const void *buf, size_t len, struct ddio_msg_fs_entries *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	uint32_t n, i;
	char *room;
	int err;

	memset(x, 0, sizeof(*x));
	n = ddio_rd_u32(&r);
	x->more = ddio_rd_u32(&r);
	x->plus = ddio_rd_u32(&r);
	ddio_rd_check(&r, x->more <= 1 && x->plus <= 1, -EINVAL);
	ddio_rd_check(&r, n <= DDIO_MAX_BATCH, -EMSGSIZE);
	/* a name with its terminator takes less room than its entry in the message */
	if (ddio_rd_fits(&r, n, ENTRY_MIN))
		x->ents = ddio_rd_alloc(&r, !!n, n * sizeof(*x->ents) + r.left);
	room = x->ents ? (char *)(x->ents + n) : NULL;
	for (i = 0; i < n && !r.err; i++)
		room = rd_entry(&r, &x->ents[i], x->plus, room);
	x->n = n;
	err = ddio_rd_end(&r);
	if (err) {
		free(x->ents);
		memset(x, 0, sizeof(*x));
	}
	return err;
}

ssize_t ddio_put_fs_xattr(void *buf, size_t cap, const struct ddio_msg_fs_xattr *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_fs_seq(&w, &x->seq);
	ddio_wr_u64(&w, x->ino);
	ddio_wr_u32(&w, x->flags);
	ddio_wr_u32(&w, x->len);
	ddio_wr_str(&w, x->name, sizeof(x->name));
	ddio_wr_bytes(&w, x->value, x->len);
	return ddio_wr_end(&w);
}

int ddio_get_fs_xattr(const void *buf, size_t len, struct ddio_msg_fs_xattr *x)
{
	const uint32_t both = DDIO_FS_XATTR_CREATE | DDIO_FS_XATTR_REPLACE;
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_fs_seq(&r, &x->seq);
	x->ino = ddio_rd_ino(&r);
	x->flags = ddio_rd_flags(&r, both | DDIO_FS_XATTR_KILL_SGID);
	x->len = ddio_rd_u32(&r);
	ddio_rd_str(&r, x->name, sizeof(x->name));
	ddio_rd_check(&r, x->name[0] && (x->flags & both) != both, -EINVAL);
	ddio_rd_check(&r, x->len <= DDIO_FS_XATTR_MAX, -EMSGSIZE);
	x->value = ddio_rd_room(&r, x->len);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_fs_value(void *buf, size_t cap, const struct ddio_msg_fs_value *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u32(&w, x->len);
	ddio_wr_bytes(&w, x->data, x->len);
	return ddio_wr_end(&w);
}

int ddio_get_fs_value(const void *buf, size_t len, struct ddio_msg_fs_value *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->len = ddio_rd_u32(&r);
	ddio_rd_check(&r, x->len <= DDIO_FS_XATTR_MAX, -EMSGSIZE);
	x->data = ddio_rd_room(&r, x->len);
	return ddio_rd_end(&r);
}
