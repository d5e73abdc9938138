/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A coder walks the fields of a message in either direction, as XDR does: it
 * writes them or reads them.  So each message is described once, by a function
 * that names its fields in wire order and the conditions that hold among them:
 *
 *	static void code_ns_size(struct ddio_coder *c, struct ddio_msg_ns_size *x)
 *	{
 *		code_u64(c, &x->id);
 *		code_u64(c, &x->size);
 *		code_check(c, x->id != 0, -EINVAL);
 *	}
 *	CODEC(ns_size, ddio_msg_ns_size)
 *
 * Only a reader checks, allocates and changes the message.
 */
#ifndef DDIO_PROTO_CODER_H
#define DDIO_PROTO_CODER_H

#include "proto/cursor.h"

/**
 * struct ddio_coder - a walk over a message
 * @features: DDIO_FEATURE_* that both ends of the connection know, for code_since()
 */
struct ddio_coder {
	bool reading;
	uint32_t features;
	struct ddio_wr w;
	struct ddio_rd r;
};

static inline struct ddio_coder coder_writing(void *buf, size_t cap)
{
	return (struct ddio_coder){ .w = ddio_wr_begin(buf, cap) };
}

static inline struct ddio_coder coder_reading(const void *buf, size_t len)
{
	return (struct ddio_coder){ .reading = true, .r = ddio_rd_begin(buf, len) };
}

/* Returns false if reading has failed. */
static inline bool coder_ok(const struct ddio_coder *c)
{
	return !c->r.err;
}

static inline void code_bytes(struct ddio_coder *c, void *v, size_t n)
{
	if (c->reading)
		ddio_rd_bytes(&c->r, v, n);
	else
		ddio_wr_bytes(&c->w, v, n);
}

static inline void code_u16(struct ddio_coder *c, uint16_t *v)
{
	if (c->reading)
		*v = ddio_rd_u16(&c->r);
	else
		ddio_wr_u16(&c->w, *v);
}

static inline void code_u32(struct ddio_coder *c, uint32_t *v)
{
	if (c->reading)
		*v = ddio_rd_u32(&c->r);
	else
		ddio_wr_u32(&c->w, *v);
}

static inline void code_u64(struct ddio_coder *c, uint64_t *v)
{
	if (c->reading)
		*v = ddio_rd_u64(&c->r);
	else
		ddio_wr_u64(&c->w, *v);
}

static inline void code_time(struct ddio_coder *c, struct timespec *t)
{
	if (c->reading)
		ddio_rd_time(&c->r, t);
	else
		ddio_wr_time(&c->w, t);
}

/* Codes a string in an array of @size bytes. */
static inline void code_str(struct ddio_coder *c, char *s, size_t size)
{
	if (c->reading)
		ddio_rd_str(&c->r, s, size);
	else
		ddio_wr_str(&c->w, s, size);
}

/* Codes @n bytes outside the message; a reader leaves them where they are in the payload. */
static inline void code_outside(struct ddio_coder *c, const void **data, size_t n)
{
	if (c->reading)
		*data = ddio_rd_room(&c->r, n);
	else
		ddio_wr_bytes(&c->w, *data, n);
}

/* Makes a reader fail with @err unless @ok. */
static inline void code_check(struct ddio_coder *c, bool ok, int err)
{
	if (c->reading)
		ddio_rd_check(&c->r, ok, err);
}

/*
 * Returns true if both ends know @feature.  What came with it is not in messages to or from an older peer: a reader gives
 * it the value that it always had before, and a writer leaves it out.
 */
static inline bool code_since(const struct ddio_coder *c, uint32_t feature)
{
	return c->features & feature;
}

/* Codes a field that must be 0. */
static inline void code_reserved(struct ddio_coder *c, uint32_t *v)
{
	code_u32(c, v);
	code_check(c, *v == 0, -EPROTO);
}

/* Codes four bytes of 0 that are no field of the message. */
static inline void code_padding(struct ddio_coder *c)
{
	uint32_t zero = 0;

	code_reserved(c, &zero);
}

/* Flags of which only those in @known may be set. */
static inline void code_flags(struct ddio_coder *c, uint32_t *v, uint32_t known)
{
	code_u32(c, v);
	code_check(c, !(*v & ~known), -EPROTO);
}

/*
 * Makes a reader fail unless the rest of the payload can hold @n entries of @min bytes.  Returns
 * coder_ok().
 */
static inline bool code_fits(struct ddio_coder *c, uint64_t n, size_t min)
{
	return !c->reading || ddio_rd_fits(&c->r, n, min);
}

/*
 * For a reader: returns @n zeroed entries of @size bytes, or NULL: if @n is 0,
 * or with the error set, among others if the rest of the payload is too short
 * for @n entries of @min bytes.
 */
static inline void *code_alloc(struct ddio_coder *c, uint64_t n, size_t size, size_t min)
{
	return ddio_rd_fits(&c->r, n, min) ? ddio_rd_alloc(&c->r, n, size) : NULL;
}

/*
 * Everything that a codec calls is compiled into it, so that the direction is
 * known there: a codec is as fast as one written by hand for its direction.
 */
#define CODER_FLAT __attribute__((flatten))

/* Defines ddio_put_NAME() by code_NAME(). */
#define CODEC_PUT(name, type)                                                           \
	CODER_FLAT ssize_t ddio_put_##name(void *buf, size_t cap, const struct type *x) \
	{                                                                               \
		struct ddio_coder c = coder_writing(buf, cap);                          \
                                                                                        \
		code_##name(&c, (struct type *)x);                                      \
		return ddio_wr_end(&c.w);                                               \
	}

/* Defines ddio_put_NAME() and ddio_get_NAME() by code_NAME(). */
#define CODEC(name, type)                                                           \
	CODEC_PUT(name, type)                                                       \
	CODER_FLAT int ddio_get_##name(const void *buf, size_t len, struct type *x) \
	{                                                                           \
		struct ddio_coder c = coder_reading(buf, len);                      \
                                                                                    \
		code_##name(&c, x);                                                 \
		return ddio_rd_end(&c.r);                                           \
	}

/*
 * The same for a message that owns memory: code_NAME() reads into zeros, @release frees after
 * an error.
 */
#define CODEC_OWNING(name, type, release)                                           \
	CODEC_PUT(name, type)                                                       \
	CODER_FLAT int ddio_get_##name(const void *buf, size_t len, struct type *x) \
	{                                                                           \
		struct ddio_coder c = coder_reading(buf, len);                      \
		int err;                                                            \
                                                                                    \
		memset(x, 0, sizeof(*x));                                           \
		code_##name(&c, x);                                                 \
		err = ddio_rd_end(&c.r);                                            \
		if (err)                                                            \
			release(x);                                                 \
		return err;                                                         \
	}

/*
 * The same as CODEC() for a message that was added to after its version of the wire: its users say which features both
 * ends of the connection know, that is conn_features(), and are not to ask for them otherwise.  @release: NULL if it
 * owns no memory; else as of CODEC_OWNING().
 */
#define CODEC_GROWN(name, type, release)                                                \
	CODER_FLAT ssize_t ddio_put_##name(void *buf, size_t cap, const struct type *x, \
					   uint32_t features)                           \
	{                                                                               \
		struct ddio_coder c = coder_writing(buf, cap);                          \
                                                                                        \
		c.features = features;                                                  \
		code_##name(&c, (struct type *)x);                                      \
		return ddio_wr_end(&c.w);                                               \
	}                                                                               \
	CODER_FLAT int ddio_get_##name(const void *buf, size_t len, struct type *x,     \
				       uint32_t features)                               \
	{                                                                               \
		struct ddio_coder c = coder_reading(buf, len);                          \
		void (*free_it)(struct type *) = release;                               \
		int err;                                                                \
                                                                                        \
		memset(x, 0, sizeof(*x));                                               \
		c.features = features;                                                  \
		code_##name(&c, x);                                                     \
		err = ddio_rd_end(&c.r);                                                \
		if (err && free_it)                                                     \
			free_it(x);                                                     \
		return err;                                                             \
	}

#endif /* DDIO_PROTO_CODER_H */
