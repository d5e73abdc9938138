/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounded cursors over little-endian bytes.  An error sticks: a codec reads or
 * writes all its fields and asks once at the end.  A reader past its end gives
 * zeros; a writer past its end counts on but writes no more.
 */
#ifndef DDIO_PROTO_CURSOR_H
#define DDIO_PROTO_CURSOR_H

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

struct ddio_wr {
	uint8_t *buf; /* NULL: count only */
	size_t cap;
	size_t len;
	bool over;
};

static inline struct ddio_wr ddio_wr_begin(void *buf, size_t cap)
{
	return (struct ddio_wr){ .buf = buf, .cap = cap };
}

static inline ssize_t ddio_wr_end(const struct ddio_wr *w)
{
	return w->over ? -EMSGSIZE : (ssize_t)w->len;
}

static inline uint8_t *ddio_wr_room(struct ddio_wr *w, size_t n)
{
	size_t at = w->len;

	if (n > SIZE_MAX / 2 - at) {
		w->over = true;
		return NULL;
	}
	w->len += n;
	if (!w->buf)
		return NULL;
	if (w->len > w->cap) {
		w->over = true;
		return NULL;
	}
	return w->buf + at;
}

static inline void ddio_wr_bytes(struct ddio_wr *w, const void *src, size_t n)
{
	uint8_t *p = ddio_wr_room(w, n);

	if (p && n)
		memcpy(p, src, n);
}

static inline void ddio_wr_u16(struct ddio_wr *w, uint16_t v)
{
	v = htole16(v);
	ddio_wr_bytes(w, &v, sizeof(v));
}

static inline void ddio_wr_u32(struct ddio_wr *w, uint32_t v)
{
	v = htole32(v);
	ddio_wr_bytes(w, &v, sizeof(v));
}

static inline void ddio_wr_u64(struct ddio_wr *w, uint64_t v)
{
	v = htole64(v);
	ddio_wr_bytes(w, &v, sizeof(v));
}

/* @s lies in an array of @size bytes, terminator included. */
static inline void ddio_wr_str(struct ddio_wr *w, const char *s, size_t size)
{
	size_t n = strnlen(s, size - 1);

	ddio_wr_u16(w, (uint16_t)n);
	ddio_wr_bytes(w, s, n);
}

struct ddio_rd {
	const uint8_t *p;
	size_t left;
	int err;
};

static inline struct ddio_rd ddio_rd_begin(const void *buf, size_t len)
{
	return (struct ddio_rd){ .p = buf, .left = len };
}

/* The first error counts. */
static inline void ddio_rd_fail(struct ddio_rd *r, int err)
{
	if (!r->err)
		r->err = err;
	r->left = 0;
}

/* A condition on a value that was read. */
static inline void ddio_rd_check(struct ddio_rd *r, bool ok, int err)
{
	if (!ok)
		ddio_rd_fail(r, err);
}

/* Bytes left over are as malformed as bytes missing. */
static inline int ddio_rd_end(struct ddio_rd *r)
{
	ddio_rd_check(r, !r->left, -EPROTO);
	return r->err;
}

static inline const uint8_t *ddio_rd_room(struct ddio_rd *r, size_t n)
{
	const uint8_t *p = r->p;

	if (n > r->left || r->err) {
		ddio_rd_fail(r, -EPROTO);
		return NULL;
	}
	r->p += n;
	r->left -= n;
	return p;
}

static inline void ddio_rd_bytes(struct ddio_rd *r, void *dst, size_t n)
{
	const uint8_t *p = ddio_rd_room(r, n);

	if (p)
		memcpy(dst, p, n);
	else
		memset(dst, 0, n);
}

static inline uint16_t ddio_rd_u16(struct ddio_rd *r)
{
	uint16_t v;

	ddio_rd_bytes(r, &v, sizeof(v));
	return le16toh(v);
}

static inline uint32_t ddio_rd_u32(struct ddio_rd *r)
{
	uint32_t v;

	ddio_rd_bytes(r, &v, sizeof(v));
	return le32toh(v);
}

static inline uint64_t ddio_rd_u64(struct ddio_rd *r)
{
	uint64_t v;

	ddio_rd_bytes(r, &v, sizeof(v));
	return le64toh(v);
}

static inline void ddio_rd_reserved(struct ddio_rd *r)
{
	ddio_rd_check(r, ddio_rd_u32(r) == 0, -EPROTO);
}

/* Into an array of @size bytes, terminated; longer is beyond a limit, a NUL inside malformed. */
static inline void ddio_rd_str(struct ddio_rd *r, char *dst, size_t size)
{
	size_t n = ddio_rd_u16(r);
	const uint8_t *p;

	dst[0] = '\0';
	if (n >= size) {
		ddio_rd_fail(r, -EMSGSIZE);
		return;
	}
	p = ddio_rd_room(r, n);
	if (!p || !n)
		return;
	if (memchr(p, 0, n)) {
		ddio_rd_fail(r, -EPROTO);
		return;
	}
	memcpy(dst, p, n);
	dst[n] = '\0';
}

/*
 * Are @n entries of at least @min bytes each possible in what is left?  To be
 * asked before memory for them is allocated.
 */
static inline bool ddio_rd_fits(struct ddio_rd *r, uint64_t n, size_t min)
{
	ddio_rd_check(r, n <= r->left / min, -EPROTO);
	return !r->err;
}

#endif /* DDIO_PROTO_CURSOR_H */
