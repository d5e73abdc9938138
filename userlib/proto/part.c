// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Descriptions of what a process wants.  Only their shape is checked here;
 * whether an array or a list can be served is for the map to say.
 */
#include <stdlib.h>
#include "proto/codec.h"

enum { DIM_LEN = 56, STRIDED_MIN = 24, LEVEL_LEN = 16, EXTENT_LEN = 16 };

static void wr_array(struct ddio_wr *w, const struct ddio_array *a)
{
	uint32_t i;

	ddio_wr_u64(w, a->file_offset);
	ddio_wr_u64(w, a->elem_size);
	ddio_wr_u32(w, a->ndims);
	ddio_wr_u32(w, a->reserved);
	for (i = 0; i < a->ndims && i < DDIO_MAX_DIMS; i++) {
		ddio_wr_u64(w, a->dim[i].size);
		ddio_wr_u64(w, a->dim[i].start);
		ddio_wr_u64(w, a->dim[i].count);
		ddio_wr_u64(w, a->dim[i].stride);
		ddio_wr_u64(w, a->dim[i].procs);
		ddio_wr_u64(w, a->dim[i].k);
		ddio_wr_u32(w, a->dim[i].dist);
		ddio_wr_u32(w, a->dim[i].reserved);
	}
}

static void rd_dim(struct ddio_rd *r, struct ddio_dim *d)
{
	d->size = ddio_rd_u64(r);
	d->start = ddio_rd_u64(r);
	d->count = ddio_rd_u64(r);
	d->stride = ddio_rd_u64(r);
	d->procs = ddio_rd_u64(r);
	d->k = ddio_rd_u64(r);
	d->dist = ddio_rd_u32(r);
	d->reserved = ddio_rd_u32(r);
	ddio_rd_check(r, d->reserved == 0, -EPROTO);
	ddio_rd_check(r, d->dist <= DDIO_ALL, -EINVAL);
}

static void rd_array(struct ddio_rd *r, struct ddio_array *a)
{
	uint32_t i;

	memset(a, 0, sizeof(*a));
	a->file_offset = ddio_rd_u64(r);
	a->elem_size = ddio_rd_u64(r);
	a->ndims = ddio_rd_u32(r);
	ddio_rd_reserved(r);
	ddio_rd_check(r, a->ndims >= 1 && a->ndims <= DDIO_MAX_DIMS && a->elem_size, -EINVAL);
	ddio_rd_check(r, a->file_offset <= DDIO_MAX_FILE && a->elem_size <= DDIO_MAX_FILE,
		      -EMSGSIZE);
	if (!ddio_rd_fits(r, a->ndims, DIM_LEN))
		return;
	for (i = 0; i < a->ndims; i++)
		rd_dim(r, &a->dim[i]);
}

static void wr_strided(struct ddio_wr *w, const struct ddio_strided *s)
{
	uint32_t i;

	ddio_wr_u64(w, s->offset);
	ddio_wr_u64(w, s->len);
	ddio_wr_u32(w, s->nlevels);
	ddio_wr_u32(w, s->reserved);
	for (i = 0; i < s->nlevels && i < DDIO_MAX_DIMS; i++) {
		ddio_wr_u64(w, s->level[i].count);
		ddio_wr_u64(w, (uint64_t)s->level[i].stride);
	}
}

static void rd_strided(struct ddio_rd *r, struct ddio_strided *s)
{
	uint32_t i;

	s->offset = ddio_rd_u64(r);
	s->len = ddio_rd_u64(r);
	s->nlevels = ddio_rd_u32(r);
	ddio_rd_reserved(r);
	ddio_rd_check(r, s->nlevels <= DDIO_MAX_DIMS, -EINVAL);
	ddio_rd_check(r, s->offset <= DDIO_MAX_FILE && s->len <= DDIO_MAX_FILE, -EMSGSIZE);
	if (!ddio_rd_fits(r, s->nlevels, LEVEL_LEN))
		return;
	for (i = 0; i < s->nlevels; i++) {
		s->level[i].count = ddio_rd_u64(r);
		s->level[i].stride = (int64_t)ddio_rd_u64(r);
		ddio_rd_check(r, s->level[i].count && s->level[i].stride >= 0, -EINVAL);
	}
}

void ddio_wr_part(struct ddio_wr *w, const struct ddio_part *part)
{
	uint64_t i;

	ddio_wr_u32(w, part->kind);
	ddio_wr_u32(w, part->reserved);
	ddio_wr_u64(w, part->kind == DDIO_PART_ARRAY ? 0 : part->n);
	if (part->kind == DDIO_PART_ARRAY)
		wr_array(w, part->array);
	for (i = 0; part->kind == DDIO_PART_STRIDED && i < part->n; i++)
		wr_strided(w, &part->strided[i]);
	for (i = 0; part->kind == DDIO_PART_LIST && i < part->n; i++) {
		ddio_wr_u64(w, part->list[i].offset);
		ddio_wr_u64(w, part->list[i].len);
	}
}

static void rd_part_array(struct ddio_rd *r, struct ddio_part *part, struct ddio_array *array)
{
	ddio_rd_check(r, part->n == 0, -EINVAL);
	if (!array)
		array = ddio_rd_alloc(r, 1, sizeof(*array));
	part->array = array;
	if (array)
		rd_array(r, array);
}

static void rd_part_strided(struct ddio_rd *r, struct ddio_part *part)
{
	struct ddio_strided *s;
	uint64_t i;

	if (!ddio_rd_fits(r, part->n, STRIDED_MIN))
		return;
	part->strided = s = ddio_rd_alloc(r, part->n, sizeof(*s));
	for (i = 0; i < part->n && !r->err; i++)
		rd_strided(r, &s[i]);
}

static void rd_part_list(struct ddio_rd *r, struct ddio_part *part)
{
	struct ddio_extent *e;
	uint64_t i;

	if (!ddio_rd_fits(r, part->n, EXTENT_LEN))
		return;
	part->list = e = ddio_rd_alloc(r, part->n, sizeof(*e));
	for (i = 0; i < part->n && !r->err; i++) {
		e[i].offset = ddio_rd_u64(r);
		e[i].len = ddio_rd_u64(r);
		ddio_rd_check(
			r, e[i].offset <= DDIO_MAX_FILE && e[i].len <= DDIO_MAX_FILE - e[i].offset,
			-EMSGSIZE);
	}
}

void ddio_rd_part(struct ddio_rd *r, struct ddio_part *part, struct ddio_array *array)
{
	memset(part, 0, sizeof(*part));
	part->kind = ddio_rd_u32(r);
	ddio_rd_reserved(r);
	part->n = ddio_rd_u64(r);
	if (r->err)
		return;
	switch (part->kind) {
	case DDIO_PART_ARRAY:
		rd_part_array(r, part, array);
		break;
	case DDIO_PART_STRIDED:
		rd_part_strided(r, part);
		break;
	case DDIO_PART_LIST:
		rd_part_list(r, part);
		break;
	default:
		ddio_rd_fail(r, -EINVAL);
	}
}

ssize_t ddio_put_part(void *buf, size_t cap, const struct ddio_part *part)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_part(&w, part);
	return ddio_wr_end(&w);
}

int ddio_get_part(const void *buf, size_t len, struct ddio_part *part, size_t *used)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_part(&r, part, NULL);
	if (r.err)
		ddio_part_free(part);
	else if (used)
		*used = len - r.left;
	return r.err;
}

void ddio_part_free(struct ddio_part *part)
{
	free((void *)part->array);
	free((void *)part->strided);
	free((void *)part->list);
	memset(part, 0, sizeof(*part));
}
