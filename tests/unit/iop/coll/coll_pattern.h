/* SPDX-License-Identifier: GPL-2.0-only */
/* The papers' patterns, and collective operations whose bytes and disk work are checked. */
#ifndef DDIO_TEST_COLL_PATTERN_H
#define DDIO_TEST_COLL_PATTERN_H

#include "tests/unit/iop/coll/coll_op.h"

static inline uint32_t grid_rows(uint32_t n)
{
	uint32_t r = 1, i;

	for (i = 1; i * i <= n; i++)
		if (n % i == 0)
			r = i;
	return r;
}

static inline void dim_set(struct ddio_dim *dim, char dist, uint64_t size, uint64_t procs)
{
	memset(dim, 0, sizeof(*dim));
	dim->size = size;
	dim->procs = dist == 'n' ? 1 : procs;
	dim->dist = dist == 'n'	  ? DDIO_NONE
		    : dist == 'b' ? DDIO_BLOCK
		    : dist == 'c' ? DDIO_CYCLIC
				  : DDIO_ALL;
}

/* @name: a letter for each dimension, as in the papers, without the r or w in front. */
static inline struct ddio_array pattern(const char *name, uint64_t rec, uint64_t rows,
					uint64_t cols, uint32_t nprocs)
{
	struct ddio_array a = { .elem_size = rec, .ndims = strlen(name) };
	uint32_t pr = nprocs, pc = nprocs;

	if (a.ndims == 1) {
		dim_set(&a.dim[0], name[0], rows * cols, nprocs);
		return a;
	}
	if (name[0] != 'n' && name[1] != 'n') {
		pr = grid_rows(nprocs);
		pc = nprocs / pr;
	}
	dim_set(&a.dim[0], name[0], rows, pr);
	dim_set(&a.dim[1], name[1], cols, pc);
	return a;
}

/* Counts the blocks of which somebody wants a byte; @partial: those that are not wanted completely. */
static inline uint64_t blocks_wanted(const struct ddio_map *map, const struct w_file *f,
				     uint64_t *partial)
{
	uint64_t size = f->rec.ref.block, b, n = 0, c;

	*partial = 0;
	for (b = 0; b * size < f->cap; b++) {
		c = ddio_map_covered(map, b * size, (b + 1) * size);
		n += c != 0;
		*partial += c && c < size;
	}
	return n;
}

static inline uint64_t disks_read(const struct w_group *g, uint64_t op, uint64_t *requests,
				  uint64_t *written)
{
	uint64_t bytes = 0;
	uint32_t r;

	*requests = 0;
	*written = 0;
	for (r = 0; r < g->w->p.nreactors; r++) {
		const struct ddio_msg_coll_done *d = &m_op(&g->m[0], op)->done[r];

		bytes += d->disk_read;
		*written += d->disk_written;
		*requests += d->disk_requests;
	}
	return bytes;
}

/* Checks that the disks did what was needed, and that the members were told so. */
static inline void check_traffic(const struct w_job *job, uint64_t op, struct w_totals before,
				 uint64_t reads, uint64_t writes)
{
	struct w_totals now = w_totals(job->g->w);
	uint64_t size = job->f->rec.ref.block, requests, written, read;

	read = disks_read(job->g, op, &requests, &written);
	CU_ASSERT_EQUAL(now.reads - before.reads, reads);
	CU_ASSERT_EQUAL(now.writes - before.writes, writes);
	CU_ASSERT_EQUAL(now.read_bytes - before.read_bytes, reads * size);
	CU_ASSERT_EQUAL(now.write_bytes - before.write_bytes, writes * size);
	CU_ASSERT_EQUAL(read, reads * size);
	CU_ASSERT_EQUAL(written, writes * size);
	CU_ASSERT_EQUAL(requests, reads + writes);
}

static inline void read_and_check(const struct w_job *job)
{
	struct w_totals before = w_totals(job->g->w);
	uint64_t op = w_start(job), partial, blocks, needed = 0, lo, hi;
	const struct ddio_map *map = job->g->map[op % W_OPS];
	uint32_t r;

	CU_ASSERT_EQUAL(w_wait(job->g, op, 60 * SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(w_read_wrong(job->g, op, job->f), 0);
	blocks = blocks_wanted(map, job->f, &partial);
	check_traffic(job, op, before, blocks, 0);
	for (r = 0; r < job->g->w->p.nreactors; r++)
		needed += m_op(&job->g->m[0], op)->done[r].bytes_needed;
	ddio_map_bounds(map, &lo, &hi);
	CU_ASSERT_EQUAL(needed, ddio_map_covered(map, lo, hi));
}

/* All blocks of the file are already on the disks. */
static inline void write_and_check(const struct w_job *job)
{
	struct w_totals before = w_totals(job->g->w);
	uint64_t op = w_start(job), partial, blocks;

	CU_ASSERT_EQUAL(w_wait(job->g, op, 60 * SEC), DDIO_ST_OK);
	blocks = blocks_wanted(job->g->map[op % W_OPS], job->f, &partial);
	check_traffic(job, op, before, partial, blocks);
	w_apply(job, job->g->map[op % W_OPS]);
	CU_ASSERT_EQUAL(w_file_wrong(job->g->w, job->f, job->f->rec.size), 0);
}

#endif /* DDIO_TEST_COLL_PATTERN_H */
