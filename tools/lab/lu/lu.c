// SPDX-License-Identifier: GPL-2.0-only
/*
 * One process of an out-of-core LU decomposition on libddio, Figures 2 and 3 of TR95-251.
 * Nothing here depends on whether the world is real.
 *
 * In iteration i the columns from i on are taken slab by slab, and a slab's columns are dealt out one by one.
 * With independent reads and writes a column always belongs to the same process,
 * so that processes need not wait for each other; with collective requests, which wait anyway, the first column
 * of a slab belongs to process 0.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "lu.h"

struct lu {
	const struct lu_spec *spec;
	struct lu_shared *sh;
	uint32_t rank;
	const struct bench_world *world;
	struct ddio_session *session;
	struct ddio_group *group;
	struct ddio_file *file;
	uint64_t column; /* bytes of one */
	float *own;	 /* the columns that this process holds */
	float *mult;
	uint64_t app_read, app_write, flops;
	uint64_t disk_read, disk_write;
};

struct lu_shared *lu_shared_new(const struct lu_spec *spec)
{
	uint32_t stride = (spec->n + 15) & ~15u;
	uint64_t bytes = sizeof(struct lu_shared) + 2ull * stride * sizeof(float);
	struct lu_shared *sh =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (sh == MAP_FAILED)
		return NULL;
	sh->bytes = bytes;
	sh->stride = stride;
	sh->scale = 1;
	return sh;
}

void lu_shared_free(struct lu_shared *sh)
{
	if (sh)
		munmap(sh, sh->bytes);
}

static int lu_fail(struct lu *lu, int err, const char *what)
{
	const char *text = ddio_last_error(lu->session);

	if (!atomic_exchange(&lu->sh->failed, 1))
		snprintf(lu->sh->error, sizeof(lu->sh->error), "process %u: %s: %s", lu->rank, what,
			 text && *text ? text : strerror(-err));
	return err;
}

/* Return: the process that has the first column of a slab. */
static uint32_t first_owner(const struct lu *lu, uint32_t first)
{
	return lu->spec->method == DDIO_METHOD_TC ? first % lu->spec->cps : 0;
}

/* Return: the first of a slab's columns that belongs to this process. */
static uint32_t own_first(const struct lu *lu, uint32_t first)
{
	return (lu->rank + lu->spec->cps - first_owner(lu, first)) % lu->spec->cps;
}

/* Return: how many of a slab's columns belong to this process. */
static uint32_t own_columns(const struct lu *lu, uint32_t first, uint32_t count)
{
	return (count + lu->spec->cps - 1 - own_first(lu, first)) / lu->spec->cps;
}

/* Figure 3b: moves all columns in one collective request. */
static int move_together(struct lu *lu, uint32_t first, uint32_t count, bool write)
{
	const struct lu_spec *s = lu->spec;
	struct ddio_array a = { .elem_size = lu->column, .ndims = 1 };
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .n = 1, .array = &a };
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .part = &part,
				   .buf = lu->own,
				   .method = s->method,
				   .flags = s->xfer_flags };

	a.dim[0] = (struct ddio_dim){ .size = s->n,
				      .start = first,
				      .count = count,
				      .stride = 1,
				      .procs = s->cps,
				      .dist = DDIO_CYCLIC };
	return write ? ddio_write_all(lu->file, lu->group, &t)
		     : ddio_read_all(lu->file, lu->group, &t);
}

/* Figure 3a: moves column by column, the next one when the one before is there. */
static int move_alone(struct lu *lu, uint32_t first, uint32_t count, bool write)
{
	const struct lu_spec *s = lu->spec;
	uint32_t own = own_columns(lu, first, count);
	struct ddio_strided columns = {
		.offset = (uint64_t)(first + own_first(lu, first)) * lu->column,
		.len = lu->column,
		.nlevels = own > 1,
		.level = { { .count = own, .stride = (int64_t)(s->cps * lu->column) } },
	};
	struct ddio_part part = { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &columns };
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .part = &part,
				   .buf = lu->own,
				   .method = DDIO_METHOD_TC,
				   .flags = s->xfer_flags | DDIO_XFER_IN_TURN };

	if (!own)
		return 0;
	return write ? ddio_write(lu->file, &t) : ddio_read(lu->file, &t);
}

static int move(struct lu *lu, uint32_t first, uint32_t count, bool write)
{
	uint64_t bytes = own_columns(lu, first, count) * lu->column;
	int err = lu->spec->method == DDIO_METHOD_TC ? move_alone(lu, first, count, write)
						     : move_together(lu, first, count, write);

	if (err)
		return lu_fail(lu, err, write ? "write" : "read");
	if (write)
		lu->app_write += bytes;
	else
		lu->app_read += bytes;
	return 0;
}

static void compute(struct lu *lu, uint64_t flops)
{
	lu->flops += flops;
	if (lu->world->compute && flops)
		lu->world->compute(lu->world->arg, (uint64_t)(flops * lu->spec->flop_ns));
}

/*
 * Gives the multipliers of column @i, which process @owner holds at @col, to all processes.
 * They alternate between two places, so that none is overwritten before all processes have read it.
 */
static int share_multipliers(struct lu *lu, uint32_t i, uint32_t owner, float *col)
{
	float *there = lu->sh->mult + (i & 1) * lu->sh->stride;
	uint32_t n = lu->spec->n, row;
	int err;

	if (lu->rank == owner) {
		for (row = i + 1; row < n; row++)
			there[row] = col[row] /= col[i];
		compute(lu, n - i - 1);
	}
	err = ddio_group_barrier(lu->group);
	if (err)
		return lu_fail(lu, err, "barrier");
	memcpy(lu->mult, there, lu->column);
	return 0;
}

/* Updates those of the held columns, @first to @first + @count - 1, that come after column @i. */
static void update(struct lu *lu, uint32_t i, uint32_t first, uint32_t count)
{
	uint32_t n = lu->spec->n, k, own = own_columns(lu, first, count);
	uint64_t flops = 0;
	float *col;

	for (k = 0; k < own; k++) {
		col = lu->own + (size_t)k * n;
		if (first + own_first(lu, first) + k * lu->spec->cps <= i)
			continue;
		lu_update(col, lu->mult, col[i], i + 1, n);
		flops += 2ull * (n - i - 1);
	}
	compute(lu, flops);
}

/* Does one iteration of the first loop: every slab from column @i on. */
static int sweep(struct lu *lu, uint32_t i)
{
	uint32_t n = lu->spec->n, held = lu->spec->cps * lu->spec->slab, first, count;
	int err = 0;

	for (first = i; first < n && !err; first += held) {
		count = n - first < held ? n - first : held;
		err = move(lu, first, count, false);
		if (!err && first == i)
			err = share_multipliers(lu, i, first_owner(lu, i), lu->own);
		if (!err) {
			update(lu, i, first, count);
			err = move(lu, first, count, true);
		}
	}
	return err;
}

static int decompose(struct lu *lu)
{
	uint32_t n = lu->spec->n, held = lu->spec->cps * lu->spec->slab, i, first, count, owner;
	int err = 0;

	for (i = 0; i + held < n && !err; i++)
		err = sweep(lu, i);
	first = i;
	count = n - first;
	if (!err)
		err = move(lu, first, count, false);
	for (; i < n && !err; i++) {
		owner = (first_owner(lu, first) + i - first) % lu->spec->cps;
		err = share_multipliers(lu, i, owner,
					lu->own + (size_t)((i - first) / lu->spec->cps) * n);
		if (!err)
			update(lu, i, first, count);
	}
	return err ? err : move(lu, first, count, true);
}

static int add_disk(void *arg, const struct ddio_disk_state *d)
{
	struct lu *lu = arg;

	lu->disk_read += d->read_bytes;
	lu->disk_write += d->write_bytes;
	if (d->scale_ppm)
		lu->sh->scale = (double)d->scale_ppm / 1e6;
	return 0;
}

static int count_traffic(struct lu *lu)
{
	int err = 0;

	lu->disk_read = lu->disk_write = 0;
	if (!lu->rank)
		err = ddio_disks(lu->session, add_disk, lu);
	return err < 0 ? lu_fail(lu, err, "disks") : 0;
}

/* Writes the matrix into the file, outside the measured time. */
static int store(struct lu *lu)
{
	uint32_t n = lu->spec->n, row, col;
	ssize_t len = 0;
	int err = 0;

	for (col = 0; col < n && !lu->rank && len >= 0; col++) {
		for (row = 0; row < n; row++)
			lu->mult[row] = lu_element(lu->spec->seed, n, row, col);
		len = ddio_pwrite(lu->file, lu->mult, lu->column, col * lu->column);
	}
	if (len < 0)
		return lu_fail(lu, (int)len, "store");
	if (!lu->rank)
		err = ddio_drop_cache(lu->file);
	return err ? lu_fail(lu, err, "store") : 0;
}

static int run(struct lu *lu)
{
	struct lu_shared *sh = lu->sh;
	uint64_t began, disk_read, disk_write;
	int err = store(lu);

	if (!err)
		err = count_traffic(lu);
	disk_read = lu->disk_read;
	disk_write = lu->disk_write;
	if (!err)
		err = ddio_group_barrier(lu->group);
	began = lu->world->now(lu->world->arg);
	if (!err)
		err = decompose(lu);
	if (!err)
		err = ddio_group_barrier(lu->group);
	if (!err && !lu->rank)
		err = ddio_sync(lu->file);
	if (err)
		return lu_fail(lu, err, "lu");
	if (!lu->rank)
		sh->elapsed_ns =
			(uint64_t)((double)(lu->world->now(lu->world->arg) - began) / sh->scale);
	atomic_fetch_add(&sh->app_read, lu->app_read);
	atomic_fetch_add(&sh->app_write, lu->app_write);
	atomic_fetch_add(&sh->flops, lu->flops);
	err = count_traffic(lu);
	if (!err && !lu->rank) {
		sh->disk_read = lu->disk_read - disk_read;
		sh->disk_write = lu->disk_write - disk_write;
	}
	return err;
}

/* Reads the result from the file, compares it and keeps it. */
static int verify(struct lu *lu, float *result)
{
	uint64_t bytes = lu->spec->n * lu->column;
	float *all = result ? result : malloc(bytes);
	ssize_t n = all ? ddio_pread(lu->file, all, bytes, 0) : -ENOMEM;
	int err = n < 0 ? (int)n : (uint64_t)n == bytes ? 0 : -EIO;

	if (!err)
		err = lu_check(lu->spec, all, &lu->sh->wrong, &lu->sh->residual);
	if (!result)
		free(all);
	return err ? lu_fail(lu, err, "check") : 0;
}

static int open_file(struct lu *lu)
{
	const struct lu_spec *s = lu->spec;
	struct ddio_striping st = { .struct_size = sizeof(st),
				    .block_size = (uint32_t)s->block,
				    .layout = s->layout,
				    .seed = s->seed + 1,
				    .reserve = s->n * lu->column };

	return ddio_open_all(lu->group, s->name, DDIO_CREATE | DDIO_EXCL, &st, &lu->file);
}

int lu_cp(const struct lu_spec *spec, struct lu_shared *sh, uint32_t rank,
	  const struct bench_world *world, float *result)
{
	struct lu lu = { .spec = spec, .sh = sh, .rank = rank, .world = world };
	int err;

	lu.column = spec->n * sizeof(float);
	lu.own = calloc(spec->slab, lu.column);
	lu.mult = calloc(1, lu.column);
	err = lu.own && lu.mult ? world->connect(world->arg, &lu.session) : -ENOMEM;
	if (!err)
		err = world->meet(world->arg, lu.session, &lu.group);
	if (!err)
		err = open_file(&lu);
	if (err)
		lu_fail(&lu, err, "begin");
	if (!err)
		err = run(&lu);
	if (!err && !rank)
		err = verify(&lu, result);
	if (!err)
		err = ddio_group_barrier(lu.group);
	if (!err && !rank) {
		ddio_close(lu.file);
		err = ddio_remove(lu.session, spec->name);
	}
	ddio_disconnect(lu.session);
	free(lu.own);
	free(lu.mult);
	return err ? 1 : 0;
}
