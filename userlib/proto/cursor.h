/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounded cursors over little-endian bytes.  An error sticks: the caller reads
 * or writes all fields and checks for errors once, at the end.  Reading past
 * the end gives zeros; writing past the end only counts.
 */
#ifndef DDIO_PROTO_CURSOR_H
#define DDIO_PROTO_CURSOR_H

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

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

/* Returns the length, or -EMSGSIZE. */
static inline ssize_t ddio_wr_end(const struct ddio_wr *w)
{
	return w->over ? -EMSGSIZE : (ssize_t)w->len;
}

/* Returns where the next @n bytes go; NULL if they are only counted. */
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

static inline void ddio_wr_time(struct ddio_wr *w, const struct timespec *t)
{
	ddio_wr_u64(w, (uint64_t)t->tv_sec);
	ddio_wr_u32(w, (uint32_t)t->tv_nsec);
}

/* @s: in an array of @size bytes; cut off there if no terminator comes before. */
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

/* Keeps the first error. */
static inline void ddio_rd_fail(struct ddio_rd *r, int err)
{
	if (!r->err)
		r->err = err;
	r->left = 0;
}

/* Fails with @err unless @ok, which depends on what was read. */
static inline void ddio_rd_check(struct ddio_rd *r, bool ok, int err)
{
	if (!ok)
		ddio_rd_fail(r, err);
}

/* Returns the error, or 0.  Bytes left over are malformed, as missing ones are. */
static inline int ddio_rd_end(struct ddio_rd *r)
{
	ddio_rd_check(r, !r->left, -EPROTO);
	return r->err;
}

/* Returns the next @n bytes, or NULL after an error. */
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

static inline void ddio_rd_time(struct ddio_rd *r, struct timespec *t)
{
	t->tv_sec = (time_t)ddio_rd_u64(r);
	t->tv_nsec = ddio_rd_u32(r);
	ddio_rd_check(r, t->tv_nsec < 1000000000, -EINVAL);
}

/*
 * Reads a string into an array of @size bytes: -EMSGSIZE if it is longer, -EPROTO if it
 * contains a NUL.
 */
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
 * Returns true if what is left can hold @n entries of at least @min bytes each.
 * Check this before allocating memory for them.
 */
static inline bool ddio_rd_fits(struct ddio_rd *r, uint64_t n, size_t min)
{
	ddio_rd_check(r, n <= r->left / min, -EPROTO);
	return !r->err;
}

/* Returns @n zeroed entries of @size bytes; NULL after an error, or if @n is 0. */
static inline void *ddio_rd_alloc(struct ddio_rd *r, uint64_t n, size_t size)
{
	void *p;

	if (r->err || !n)
		return NULL;
	p = calloc(n, size);
	if (!p)
		ddio_rd_fail(r, -ENOMEM);
	return p;
}

#endif /* DDIO_PROTO_CURSOR_H */
