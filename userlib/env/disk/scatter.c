// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Scatter lists, the wrapper's part: the list in the kernel's terms, and the counters.
 *
 * The kernel's runs have few levels; those with more are unrolled from the outside.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "env/disk/priv.h"
#include "env/disk/scatter.h"
#include "env/kernel/joint.h"

#define BLOCKS_FIRST 128u
#define RUNS_FIRST 512u

int ddio_disk_scatter_new(struct ddio_disk *disk, const struct ddio_disk_scatter_spec *spec,
			  struct ddio_disk_scatter **scatter)
{
	struct ddio_disk_scatter *s;

	if (!disk->info.scatters)
		return -EOPNOTSUPP;
	if ((spec->op != DDIO_DISK_READ && spec->op != DDIO_DISK_WRITE) || !spec->len ||
	    spec->len > DDIO_BLOCK_LENGTH_MAX || spec->len % disk->info.sector || !spec->depth ||
	    spec->depth > DDIO_DEPTH_MAX)
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->disk = disk;
	s->spec = *spec;
	ddio_joint_get(s->spec.joint);
	*scatter = s;
	return 0;
}

void ddio_disk_scatter_free(struct ddio_disk_scatter *s)
{
	if (!s)
		return;
	/* The kernel still uses the list: leaking it does less harm. */
	if (bug_on(s->running, "disk %s: a scatter list was freed while it runs", s->disk->name))
		return;
	ddio_joint_put(s->spec.joint);
	free(s->block);
	free(s->run);
	free(s);
}

void ddio_disk_scatter_clear(struct ddio_disk_scatter *s)
{
	if (s->running)
		return;
	s->nblocks = 0;
	s->nruns = 0;
}

uint32_t ddio_disk_scatter_blocks(const struct ddio_disk_scatter *s)
{
	return s->nblocks;
}

uint64_t ddio_disk_scatter_runs(const struct ddio_disk_scatter *s)
{
	return s->nruns;
}

/*
 * The list
 */
static int room_for_block(struct ddio_disk_scatter *s)
{
	uint32_t cap = s->cap_blocks ? s->cap_blocks * 2 : BLOCKS_FIRST;
	struct ddio_block *block;

	if (s->nblocks < s->cap_blocks)
		return 0;
	block = realloc(s->block, cap * sizeof(*block));
	if (!block)
		return -ENOMEM;
	s->block = block;
	s->cap_blocks = cap;
	return 0;
}

static int room_for_run(struct ddio_disk_scatter *s)
{
	uint64_t cap = s->cap_runs ? s->cap_runs * 2 : RUNS_FIRST;
	struct ddio_run *run;

	if (s->nruns < s->cap_runs)
		return 0;
	run = realloc(s->run, cap * sizeof(*run));
	if (!run)
		return -ENOMEM;
	s->run = run;
	s->cap_runs = cap;
	return 0;
}

int ddio_disk_scatter_block(struct ddio_disk_scatter *s, uint64_t offset)
{
	int err = room_for_block(s);

	if (err)
		return err;
	s->block[s->nblocks++] = (struct ddio_block){
		.offset = offset,
		.first_run = s->nruns,
		.length = s->spec.len,
	};
	return 0;
}

void ddio_disk_scatter_sums(struct ddio_disk_scatter *s, bool on)
{
	s->sums = on && s->disk->info.scatter_sums;
}

bool ddio_disk_scatter_has_sums(const struct ddio_disk_scatter *s)
{
	return s->sums;
}

void ddio_disk_scatter_give_sum(struct ddio_disk_scatter *s, uint32_t sum)
{
	s->block[s->nblocks - 1].sum = sum;
}

uint32_t ddio_disk_scatter_sum(const struct ddio_disk_scatter *s, uint32_t index)
{
	return s->block[index].sum;
}

void ddio_disk_scatter_undo(struct ddio_disk_scatter *s)
{
	s->nruns = s->block[--s->nblocks].first_run;
}

/* Adds the @n innermost levels of @run, without levels that repeat nothing. */
static int run_put(struct ddio_disk_scatter *s, const struct ddio_scatter_run *run, uint32_t n,
		   uint64_t memory, uint64_t offset)
{
	struct ddio_run *to;
	uint32_t i;

	if (s->nruns == DDIO_RUNS_MAX)
		return -ERANGE;
	if (room_for_run(s))
		return -ENOMEM;
	to = &s->run[s->nruns];
	memset(to, 0, sizeof(*to));
	to->memory = memory;
	to->offset = (uint32_t)offset;
	to->length = (uint32_t)run->len;
	to->member = run->member;
	for (i = run->nlevels; i-- > run->nlevels - n;) {
		const struct ddio_scatter_level *level = &run->level[i];

		if (level->count == 1)
			continue;
		to->level[to->levels++] = (struct ddio_run_level){
			.count = (uint32_t)level->count,
			.block_stride = (uint32_t)level->block_stride,
			.memory_stride = level->memory_stride,
		};
	}
	s->nruns++;
	s->block[s->nblocks - 1].nr_runs++;
	return 0;
}

/* Returns how many of the innermost levels fit into one of the kernel's runs. */
static uint32_t levels_that_fit(const struct ddio_scatter_run *run)
{
	uint32_t n = 0, used = 0;

	while (n < run->nlevels) {
		used += run->level[run->nlevels - 1 - n].count > 1;
		if (used > DDIO_RUN_LEVELS)
			break;
		n++;
	}
	return n;
}

static bool run_is_sound(const struct ddio_disk_scatter *s, const struct ddio_scatter_run *run)
{
	uint64_t end, far;
	uint32_t i;

	if (!s->nblocks || !run->len || run->nlevels > sizeof(run->level) / sizeof(run->level[0]) ||
	    __builtin_add_overflow(run->offset, run->len, &end))
		return false;
	for (i = 0; i < run->nlevels; i++) {
		const struct ddio_scatter_level *level = &run->level[i];

		if (!level->count ||
		    __builtin_mul_overflow(level->count - 1, level->block_stride, &far) ||
		    __builtin_add_overflow(end, far, &end))
			return false;
		/* A stride of 0 would repeat one piece over and over. */
		if (level->count > 1 && (!level->block_stride || level->count > s->spec.len))
			return false;
	}
	return end <= s->spec.len;
}

int ddio_disk_scatter_run(struct ddio_disk_scatter *s, const struct ddio_scatter_run *run)
{
	uint64_t at[sizeof(run->level) / sizeof(run->level[0])] = { 0 };
	uint64_t memory = run->memory, offset = run->offset;
	uint32_t n, outer, i;
	int err;

	if (!run_is_sound(s, run))
		return -ERANGE;
	n = levels_that_fit(run);
	outer = run->nlevels - n;
	for (;;) {
		err = run_put(s, run, n, memory, offset);
		if (err)
			return err;
		for (i = outer; i--;) {
			const struct ddio_scatter_level *level = &run->level[i];

			memory += (uint64_t)level->memory_stride;
			offset += level->block_stride;
			if (++at[i] < level->count)
				break;
			memory -= level->count * (uint64_t)level->memory_stride;
			offset -= level->count * level->block_stride;
			at[i] = 0;
		}
		if (i == UINT32_MAX)
			return 0;
	}
}

/*
 * Moving it
 */
static void begin_next(struct ddio_disk_scatter *s)
{
	if (s->begun == s->nblocks)
		return;
	if (s->spec.op == DDIO_DISK_WRITE)
		disk_write_note(s->disk, s->block[s->begun].offset, s->spec.len);
	s->begun++;
	disk_flight_begin(s->disk, ddio_env_now(s->disk->env));
}

int ddio_disk_scatter_start(struct ddio_disk_scatter *s)
{
	uint32_t i;
	int err;

	if (s->running || !s->nblocks)
		return -EINVAL;
	err = s->disk->engine->scatter->start(s);
	if (err)
		return err;
	s->running = true;
	s->stopped = false;
	s->begun = 0;
	s->landed = 0;
	for (i = 0; i < s->spec.depth; i++)
		begin_next(s);
	return 0;
}

void ddio_disk_scatter_cancel(struct ddio_disk_scatter *s)
{
	if (!s->running || s->stopped)
		return;
	s->stopped = true;
	s->disk->engine->scatter->cancel(s);
}

void disk_scatter_landed(struct ddio_disk_scatter *s, uint32_t index, int status)
{
	struct ddio_disk *disk = s->disk;
	int injected = status == -ECANCELED ? 0 : disk_injected(disk, s->spec.op);

	status = injected ? injected : status;
	if (s->spec.op == DDIO_DISK_WRITE)
		disk_write_note(disk, s->block[index].offset, s->spec.len);
	if (status != -ECANCELED)
		disk_count(disk, s->spec.op, s->spec.len, status);
	if (s->landed < s->begun) {
		s->landed++;
		disk_flight_end(disk, ddio_env_now(disk->env));
	}
	begin_next(s);
	/* The engine does not know of an injected error. */
	if (injected)
		ddio_disk_scatter_cancel(s);
	s->spec.ops->block(s->spec.ctx, index, status);
}

void disk_scatter_ended(struct ddio_disk_scatter *s)
{
	for (; s->landed < s->begun; s->landed++)
		disk_flight_end(s->disk, ddio_env_now(s->disk->env));
	s->running = false;
	s->spec.ops->ended(s->spec.ctx);
}
