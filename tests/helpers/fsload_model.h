/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What fsload knows of the files of one process: what each byte was at the last fsync, and
 * what may have become of it since.
 */
#ifndef FSLOAD_MODEL_H
#define FSLOAD_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (256u << 10)
#define NAMES 24
#define NAME_NONE 0
#define NAME_DIR (-1)
#define NAME_LINK (-2)

/**
 * struct change - one operation on a file's bytes that has not been fsync'ed
 * @data: what [from, to) became; NULL: zeros
 * @vague: nobody knows which bytes they are
 * @size: of the file afterwards
 */
struct change {
	struct change *next;
	uint8_t *data;
	uint32_t from, to, size;
	bool vague;
};

/**
 * struct file - a file's bytes
 * @synced, @size: at the last fsync; @unknown: bytes whose fsync failed
 * @live, @live_size: after all operations
 * @min, @max: sizes that it may have
 */
struct file {
	uint8_t *synced, *live, *unknown;
	uint32_t size, live_size, min, max;
	struct change *changes, **last;
};

/**
 * struct names - what each name stands for
 * @what: NAME_* or a file's number
 */
struct names {
	int what[NAMES];
};

static inline void *need(void *p)
{
	if (!p) {
		fprintf(stderr, "fsload: out of memory\n");
		exit(2);
	}
	return p;
}

static inline struct file *file_new(void)
{
	struct file *f = need(calloc(1, sizeof(*f)));

	f->synced = need(calloc(1, FILE_MAX));
	f->live = need(calloc(1, FILE_MAX));
	f->unknown = need(calloc(1, FILE_MAX));
	f->last = &f->changes;
	return f;
}

static inline void file_free(struct file *f)
{
	struct change *c;

	while (f && (c = f->changes)) {
		f->changes = c->next;
		free(c->data);
		free(c);
	}
	if (f) {
		free(f->synced);
		free(f->live);
		free(f->unknown);
	}
	free(f);
}

/* Bytes [from, to) become @data (NULL: zeros), the file's size becomes @size. */
static inline struct change *file_change(struct file *f, uint32_t from, uint32_t to,
					 const uint8_t *data, uint32_t size)
{
	struct change *c = need(calloc(1, sizeof(*c)));

	c->from = from;
	c->to = to;
	c->size = size;
	if (data && to > from) {
		c->data = need(malloc(to - from));
		memcpy(c->data, data, to - from);
		memcpy(f->live + from, data, to - from);
	} else if (to > from) {
		memset(f->live + from, 0, to - from);
	}
	*f->last = c;
	f->last = &c->next;
	f->live_size = size;
	f->min = size < f->min ? size : f->min;
	f->max = size > f->max ? size : f->max;
	return c;
}

static inline void file_truncate(struct file *f, uint32_t size)
{
	/* What is cut off, or comes anew, reads as zeros. */
	uint32_t from = size < f->live_size ? size : f->live_size;

	file_change(f, from, FILE_MAX, NULL, size);
}

/* Notes that everything so far is durable, or, with @failed, may be. */
static inline void file_synced(struct file *f, bool failed)
{
	struct change *c;

	while ((c = f->changes)) {
		f->changes = c->next;
		if (c->to > c->from) {
			if (c->data)
				memcpy(f->synced + c->from, c->data, c->to - c->from);
			else
				memset(f->synced + c->from, 0, c->to - c->from);
			memset(f->unknown + c->from, failed || c->vague, c->to - c->from);
		}
		free(c->data);
		free(c);
	}
	f->last = &f->changes;
	f->size = f->live_size;
	if (!failed) {
		f->min = f->size;
		f->max = f->size;
	}
}

static inline bool byte_possible(const struct file *f, uint32_t at, uint8_t byte)
{
	const struct change *c;

	if (byte == f->synced[at] || f->unknown[at])
		return true;
	for (c = f->changes; c; c = c->next)
		if (at >= c->from && at < c->to &&
		    (c->vague || byte == (c->data ? c->data[at - c->from] : 0)))
			return true;
	return false;
}

/* Returns true if any of the bytes may differ from those written last. */
static inline bool file_doubtful(const struct file *f, uint32_t from, uint32_t to)
{
	const struct change *c;

	if (memchr(f->unknown + from, 1, to - from))
		return true;
	for (c = f->changes; c; c = c->next)
		if (c->from < to && from < c->to)
			return true;
	return false;
}

/* Returns the first of @len bytes that is impossible; @len if there is none. */
static inline uint32_t file_check(const struct file *f, const uint8_t *bytes, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		if (!byte_possible(f, i, bytes[i]))
			return i;
	return len;
}

#endif /* FSLOAD_MODEL_H */
