// SPDX-License-Identifier: GPL-2.0-only
/* Random runs, and their twin. */
#include <string.h>

#include "lib/spread.h"

#define KT_RUNS_PER_BLOCK 6

/* Strides and counts of one level around pieces of @length bytes; how far it then reaches. */
static uint64_t kt_level(struct kt_rng *rng, uint64_t length, uint64_t limit, uint64_t *count,
			 uint64_t *stride)
{
	*stride = kt_below(rng, 3) ? length + kt_below(rng, length + 1) : length;
	*count = 1 + kt_below(rng, kt_below(rng, 3) ? 5 : 40);
	if (*count > 1 && (*count - 1) * *stride + length > limit)
		*count = 1 + (limit - length) / *stride;
	return (*count - 1) * *stride + length;
}

/**
 * struct kt_span - the part of a block that a run may be in; afterwards, what follows it
 */
struct kt_span {
	uint32_t from;
	uint32_t length;
};

/* Makes a run with pieces apart from each other on both sides; returns false if there is no room for it. */
static bool kt_run_draw(struct kt_spread *spread, struct kt_rng *rng, struct ddio_run *run,
			struct kt_span *span, uint64_t memory_length)
{
	static const uint32_t lengths[] = { 1, 2, 4, 8, 16, 32, 64, 3, 24, 100, 512, 5000 };
	uint64_t in_block, in_memory, count, stride, memory_count, base = 0;
	uint32_t i;

	memset(run, 0, sizeof(*run));
	run->length = lengths[kt_below(rng, KT_ARRAY_SIZE(lengths))];
	run->levels = kt_below(rng, DDIO_RUN_LEVELS + 1);
	if (run->length > span->length || run->length > memory_length)
		return false;
	in_block = in_memory = run->length;
	for (i = 0; i < run->levels; i++) {
		struct ddio_run_level *level = &run->level[i];

		kt_level(rng, in_memory, memory_length, &memory_count, &stride);
		level->memory_stride = stride;
		kt_level(rng, in_block, span->length, &count, &stride);
		level->block_stride = stride;
		level->count = count < memory_count ? count : memory_count;
		in_block += (level->count - 1) * (uint64_t)level->block_stride;
		in_memory += (level->count - 1) * (uint64_t)level->memory_stride;
		if (level->count > 1 && kt_below(rng, 4) == 0) {
			base += (level->count - 1) * (uint64_t)level->memory_stride;
			level->memory_stride = -level->memory_stride;
		}
	}
	run->offset = span->from + kt_below(rng, span->length - in_block + 1);
	span->length -= run->offset - span->from + in_block;
	span->from = run->offset + in_block;
	run->memory = base;
	run->member = kt_below(rng, spread->nr_members);
	/* How much memory it takes, for who places it. */
	spread->cursor[run->member] += in_memory;
	return true;
}

/*
 * Runs of a reading list have memory of their own, one after the other; those of a writing list,
 * parts of the block.
 */
static void kt_block_runs(struct kt_spread *spread, struct kt_rng *rng, struct ddio_block *block,
			  uint32_t op)
{
	uint64_t before[KT_SPREAD_MEMBERS], room = spread->room / 8;
	uint32_t n = kt_below(rng, KT_RUNS_PER_BLOCK);
	struct kt_span rest = { 0, block->length }, span;
	struct ddio_run *run;

	block->first_run = spread->nr_runs;
	while (n-- && spread->nr_runs < spread->max_runs) {
		run = &spread->run[spread->nr_runs];
		memcpy(before, spread->cursor, sizeof(before));
		span = rest;
		if (!kt_run_draw(spread, rng, run, &span, room))
			continue;
		if (spread->cursor[run->member] > spread->room) {
			memcpy(spread->cursor, before, sizeof(before));
			continue;
		}
		run->memory += before[run->member];
		if (op == DDIO_WRITE) {
			rest = span;
			/* Anywhere: what is only read may be read twice. */
			run->memory +=
				kt_below(rng, spread->room - spread->cursor[run->member] + 1);
			memset(spread->cursor, 0, sizeof(spread->cursor));
		}
		spread->nr_runs++;
		block->nr_runs++;
	}
}

bool kt_spread_draw(struct kt_spread *spread, struct kt_rng *rng, const struct kt_draw *draw,
		    uint32_t op)
{
	uint64_t i;

	if (!kt_rig_draw(spread->rig, rng, draw, spread->block))
		return false;
	memset(spread->cursor, 0, sizeof(spread->cursor));
	spread->nr = draw->nr;
	spread->nr_runs = 0;
	for (i = 0; i < spread->nr; i++)
		kt_block_runs(spread, rng, &spread->block[i], op);
	return true;
}

static void kt_run_move(struct kt_spread *spread, const struct ddio_run *run, unsigned char *block,
			uint32_t op)
{
	uint32_t n[DDIO_RUN_LEVELS] = { 0 }, i, level;
	unsigned char *memory = spread->member[run->member];
	uint64_t b, m;

	do {
		b = run->offset;
		m = run->memory;
		for (i = 0; i < run->levels; i++) {
			b += (uint64_t)n[i] * run->level[i].block_stride;
			m += n[i] * (uint64_t)run->level[i].memory_stride;
		}
		for (i = 0; i < run->length; i++) {
			if (op == DDIO_READ)
				memory[m + i] = block[b + i];
			else
				block[b + i] = memory[m + i];
		}
		for (level = 0; level < run->levels; level++) {
			if (++n[level] < run->level[level].count)
				break;
			n[level] = 0;
		}
	} while (level < run->levels);
}

void kt_spread_move(struct kt_spread *spread, uint64_t index, uint32_t op)
{
	const struct ddio_block *block = &spread->block[index];
	unsigned char *at = kt_rig_at(spread->rig, block);
	uint32_t i;

	if (op == DDIO_WRITE)
		memset(at, 0, block->length);
	for (i = 0; i < block->nr_runs; i++)
		kt_run_move(spread, &spread->run[block->first_run + i], at, op);
}

void kt_spread_move_all(struct kt_spread *spread, uint32_t op)
{
	uint64_t i;

	for (i = 0; i < spread->nr; i++)
		kt_spread_move(spread, i, op);
}

void kt_spread_submit(const struct kt_spread *spread, struct ddio_submit *s, uint32_t op, int joint)
{
	kt_submit_init(s, op, DDIO_SCATTER, spread->block, spread->nr);
	s->runs = kt_ptr(spread->run);
	s->nr_runs = spread->nr_runs;
	s->joint_fd = joint;
}
