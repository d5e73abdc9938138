/* SPDX-License-Identifier: GPL-2.0-only */
/* Collective operations of the executor's tests, and what must be where afterwards. */
#ifndef DDIO_TEST_COLL_OP_H
#define DDIO_TEST_COLL_OP_H

#include "tests/unit/iop/coll/coll_member.h"

/**
 * struct w_job - one collective operation
 * @array, @parts: one of them
 * @seed: names what is written
 * @file_size: what the request says, if it is not 0
 */
struct w_job {
	struct w_group *g;
	struct w_file *f;
	uint32_t flags;
	uint32_t buffers;
	uint64_t timeout_ns;
	const struct ddio_array *array;
	const struct ddio_part *parts;
	uint64_t seed;
	uint64_t file_size;
};

typedef void (*run_byte_fn)(void *arg, uint64_t file_off, uint64_t share_off);

struct run_bytes {
	run_byte_fn fn;
	void *arg;
	const struct ddio_map_run *run;
};

static void run_level(const struct run_bytes *rb, uint32_t level, uint64_t file, uint64_t share)
{
	uint64_t i;

	if (level == rb->run->nlevels) {
		for (i = 0; i < rb->run->len; i++)
			rb->fn(rb->arg, file + i, share + i);
		return;
	}
	for (i = 0; i < rb->run->level[level].count; i++)
		run_level(rb, level + 1, file + i * rb->run->level[level].file_stride,
			  share + i * rb->run->level[level].share_stride);
}

static int run_each(void *arg, const struct ddio_map_run *run)
{
	struct run_bytes *rb = arg;

	rb->run = run;
	run_level(rb, 0, run->file_off, run->share_off);
	return 0;
}

/* Every byte of a process. */
static inline void w_bytes(const struct ddio_map *map, uint32_t rank, run_byte_fn fn, void *arg)
{
	struct run_bytes rb = { .fn = fn, .arg = arg };
	uint64_t lo, hi;

	ddio_map_bounds(map, &lo, &hi);
	ddio_map_runs_of(map, rank, lo, hi, false, run_each, &rb);
}

struct w_fill {
	uint8_t *share;
	uint8_t *image;
	uint64_t seed;
	uint64_t wrong;
};

static void fill_byte(void *arg, uint64_t file, uint64_t share)
{
	struct w_fill *f = arg;

	f->share[share] = w_byte(f->seed, file);
}

static void apply_byte(void *arg, uint64_t file, uint64_t share)
{
	struct w_fill *f = arg;

	(void)share;
	f->image[file] = w_byte(f->seed, file);
}

static void compare_byte(void *arg, uint64_t file, uint64_t share)
{
	struct w_fill *f = arg;

	f->wrong += f->share[share] != f->image[file];
}

static inline void m_op_begin(struct w_member *m, const struct w_job *job, uint64_t number,
			      const struct ddio_map *map)
{
	struct w_op *op = &m->op[number % W_OPS];
	struct w_fill fill = { .seed = job->seed };
	uint64_t span;

	m_op_free(op);
	op->op = number;
	op->write = job->flags & DDIO_COLL_WRITE;
	op->map = map;
	op->block = job->f->rec.ref.block;
	op->lost = COLL_NOBODY;
	op->size = ddio_map_share_size(map, m->rank);
	op->share = calloc(1, op->size + 1);
	CU_ASSERT_EQUAL(ddio_memmap_new(map, m->rank, NULL, &op->memmap, &span, NULL), 0);
	fill.share = op->share;
	if (op->write)
		w_bytes(map, m->rank, fill_byte, &fill);
}

static inline int w_map(const struct w_job *job, struct ddio_map **map)
{
	const char *why = "";
	int err = job->array ? ddio_map_new_array(job->array, job->g->n, map, &why)
			     : ddio_map_new_parts(job->parts, job->g->n, map, &why);

	if (err)
		printf("map: %s\n", why);
	return err;
}

/* Sends the start as rank 0 does, without telling the members. */
static inline void w_start_raw(const struct w_job *job, uint64_t number, uint32_t nprocs)
{
	struct ddio_msg msg = { .opcode = DDIO_OP_COLL_START, .tag = number };
	struct ddio_msg_coll_start st = {
		.op = number,
		.flags = job->flags,
		.nprocs = nprocs,
		.buffers = job->buffers,
		.timeout_ns = job->timeout_ns,
		.file_size = job->file_size ? job->file_size : job->f->rec.size,
		.file = job->f->rec,
		.nparts = job->array ? 1 : nprocs,
	};
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = job->array };
	ssize_t len;
	void *buf;

	memcpy(st.group, job->g->id, sizeof(st.group));
	st.parts = job->array ? &part : (struct ddio_part *)job->parts;
	len = ddio_put_coll_start(NULL, 0, &st);
	buf = malloc(len);
	ddio_put_coll_start(buf, len, &st);
	ddio_conn_send(job->g->m[0].lane[0].conn, &msg, buf, len, NULL, 0, NULL);
	free(buf);
}

/* Begins an operation on every member; returns its number, or 0. */
static inline uint64_t w_start(const struct w_job *job)
{
	struct w_group *g = job->g;
	uint64_t number = ++g->ops;
	struct ddio_map **map = &g->map[number % W_OPS];
	uint32_t i;

	for (i = 0; i < g->n; i++)
		m_op_free(&g->m[i].op[number % W_OPS]);
	ddio_map_free(*map);
	*map = NULL;
	if (w_map(job, map))
		return 0;
	for (i = 0; i < g->n; i++)
		m_op_begin(&g->m[i], job, number, *map);
	w_start_raw(job, number, g->n);
	return number;
}

struct w_ended {
	struct w_group *g;
	uint64_t op;
};

static bool w_all_ended(void *arg)
{
	struct w_ended *e = arg;
	uint32_t i;

	for (i = 0; i < e->g->n; i++)
		if (!e->g->m[i].gone && !m_op(&e->g->m[i], e->op)->ended)
			return false;
	return true;
}

/* Waits; returns the status on which all members that are not gone agree, or ~0. */
static inline uint32_t w_wait(struct w_group *g, uint64_t number, uint64_t ns)
{
	struct w_ended e = { g, number };
	uint32_t status = UINT32_MAX, i;

	if (!w_until(g->w, w_all_ended, &e, ns))
		return UINT32_MAX;
	for (i = 0; i < g->n; i++) {
		if (g->m[i].gone)
			continue;
		if (status != UINT32_MAX && status != m_op(&g->m[i], number)->status)
			return UINT32_MAX;
		status = m_op(&g->m[i], number)->status;
	}
	return status;
}

/* Returns how many bytes of all shares of a read differ from the file's. */
static inline uint64_t w_read_wrong(struct w_group *g, uint64_t number, const struct w_file *f)
{
	struct w_fill fill = { .image = f->image };
	uint32_t i;

	for (i = 0; i < g->n; i++) {
		fill.share = m_op(&g->m[i], number)->share;
		w_bytes(g->map[number % W_OPS], i, compare_byte, &fill);
	}
	return fill.wrong;
}

/* Makes the image what the write leaves in the file. */
static inline void w_apply(const struct w_job *job, const struct ddio_map *map)
{
	struct w_fill fill = { .image = job->f->image, .seed = job->seed };
	uint64_t lo, hi;
	uint32_t i;

	for (i = 0; i < job->g->n; i++)
		w_bytes(map, i, apply_byte, &fill);
	ddio_map_bounds(map, &lo, &hi);
	if (hi > job->f->rec.size)
		job->f->rec.size = hi;
}

/* Makes file 1 of @blocks random blocks, and an array of 8-byte elements over it that are dealt out to @procs. */
static inline void w_deal(struct coll_world *w, struct w_file *f, struct ddio_array *a,
			  uint32_t block, uint32_t blocks, uint32_t procs)
{
	w_file_init(w, f, 1, block, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(w, f, (uint64_t)blocks * block, 1);
	*a = (struct ddio_array){ .elem_size = 8, .ndims = 1 };
	a->dim[0] = (struct ddio_dim){ .size = (uint64_t)blocks * block / 8,
				       .procs = procs,
				       .dist = DDIO_CYCLIC };
}

#endif /* DDIO_TEST_COLL_OP_H */
