// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Runs: checks with exact bounds, and copies whose innermost loop knows the length of a piece. */

#include "runs.h"

/**
 * struct run_shape - a run in its simplest form
 * @length: of each contiguous piece; pieces that touch each other on both sides are merged
 * @count: repetitions, innermost first; 1 where there are none
 * @block: strides in the block
 * @memory: strides in the memory
 */
struct run_shape {
	u32 length;
	u32 count[DDIO_RUN_LEVELS];
	s64 block[DDIO_RUN_LEVELS];
	s64 memory[DDIO_RUN_LEVELS];
};

static bool run_is_formed(const struct ddio_run *run)
{
	u32 i;

	if (!run->length || run->levels > DDIO_RUN_LEVELS)
		return false;
	for (i = 0; i < DDIO_RUN_LEVELS; i++) {
		const struct ddio_run_level *level = &run->level[i];

		if (i < run->levels ? !level->count
				    : level->count || level->block_stride || level->memory_stride)
			return false;
	}
	return true;
}

/* Adds to @reach how far @count steps of @stride reach.  Returns false if that does not fit. */
static bool reach_add(u64 *reach, u32 count, u64 stride)
{
	u64 far;

	return !__builtin_mul_overflow((u64)count - 1, stride, &far) &&
	       !__builtin_add_overflow(*reach, far, reach);
}

int ddio_run_check(const struct ddio_run *run, u32 block_length)
{
	u64 end = (u64)run->offset + run->length;
	u64 bytes = run->length;
	u32 i;

	if (!run_is_formed(run))
		return -EINVAL;
	for (i = 0; i < run->levels; i++)
		if (!reach_add(&end, run->level[i].count, run->level[i].block_stride))
			return -EOVERFLOW;
	if (end > block_length)
		return -ERANGE;
	for (i = 0; i < run->levels; i++) {
		if (__builtin_mul_overflow(bytes, (u64)run->level[i].count, &bytes) ||
		    bytes > DDIO_RUN_BYTES_MAX)
			return -EOVERFLOW;
	}
	return 0;
}

int ddio_run_check_memory(const struct ddio_run *run, u64 memory_length)
{
	u64 up = run->length, down = 0;
	u32 i;

	for (i = 0; i < run->levels; i++) {
		s64 stride = run->level[i].memory_stride;
		u64 size = stride < 0 ? -(u64)stride : (u64)stride;

		if (!reach_add(stride < 0 ? &down : &up, run->level[i].count, size))
			return -EOVERFLOW;
	}
	if (down > run->memory)
		return -ERANGE;
	if (__builtin_add_overflow(up, run->memory, &up))
		return -EOVERFLOW;
	return up > memory_length ? -ERANGE : 0;
}

u64 ddio_run_bytes(const struct ddio_run *run)
{
	u64 bytes = run->length;
	u32 i;

	for (i = 0; i < run->levels; i++)
		bytes *= run->level[i].count;
	return bytes;
}

/* Returns true if a level's repetitions are more of the same of the level inside it. */
static bool shape_continues(const struct run_shape *shape, u32 inner,
			    const struct ddio_run_level *level)
{
	return (s64)level->block_stride == shape->block[inner] * shape->count[inner] &&
	       level->memory_stride == shape->memory[inner] * shape->count[inner];
}

static void shape_make(struct run_shape *shape, const struct ddio_run *run)
{
	u32 i, n = 0;

	shape->length = run->length;
	for (i = 0; i < run->levels; i++) {
		const struct ddio_run_level *level = &run->level[i];

		if (level->count == 1)
			continue;
		if (!n && level->block_stride == shape->length &&
		    level->memory_stride == shape->length) {
			shape->length *= level->count;
			continue;
		}
		if (n && shape_continues(shape, n - 1, level)) {
			shape->count[n - 1] *= level->count;
			continue;
		}
		shape->count[n] = level->count;
		shape->block[n] = level->block_stride;
		shape->memory[n++] = level->memory_stride;
	}
	for (; n < DDIO_RUN_LEVELS; n++) {
		shape->count[n] = 1;
		shape->block[n] = 0;
		shape->memory[n] = 0;
	}
}

bool ddio_run_covers(const struct ddio_run *run, u32 block_length)
{
	struct run_shape shape;
	u64 extent;
	u32 i;

	if (ddio_run_bytes(run) != block_length)
		return false;
	/* It has as many bytes as the block: all of them, if no two pieces overlap. */
	shape_make(&shape, run);
	extent = shape.length;
	for (i = 0; i < DDIO_RUN_LEVELS; i++) {
		if (shape.count[i] == 1)
			continue;
		if ((u64)shape.block[i] < extent)
			return false;
		extent += (u64)(shape.count[i] - 1) * shape.block[i];
	}
	return true;
}

/* Returns the first repetition that begins at @at or later. */
static u32 window_index(const struct ddio_run *run, const struct ddio_run_level *level, u32 at)
{
	u32 index;

	if (at <= run->offset)
		return 0;
	index = (at - run->offset - 1) / level->block_stride + 1;
	return index < level->count ? index : level->count;
}

bool ddio_run_window(const struct ddio_run *run, u32 from, u32 to, struct ddio_run *part)
{
	struct ddio_run_level *level;
	u32 outer = run->levels, first, last;

	while (outer && run->level[outer - 1].count == 1)
		outer--;
	*part = *run;
	if (!outer || !run->level[outer - 1].block_stride)
		return run->offset >= from && run->offset < to;
	level = &part->level[outer - 1];
	first = window_index(run, level, from);
	last = window_index(run, level, to);
	if (first >= last)
		return false;
	part->offset += first * level->block_stride;
	part->memory += first * (u64)level->memory_stride;
	level->count = last - first;
	return true;
}

/* Moves a part to repetition @index of the levels from @level on, and takes these levels away. */
static void part_move(struct ddio_run *part, u32 level, u32 index)
{
	u32 levels = part->levels, i;

	part->levels = level;
	for (; level < levels; level++) {
		i = index % part->level[level].count;
		index /= part->level[level].count;
		part->offset += i * part->level[level].block_stride;
		part->memory += i * (u64)part->level[level].memory_stride;
		part->level[level] = (struct ddio_run_level){};
	}
}

u32 ddio_run_part(const struct ddio_run *run, u32 at, u32 most, struct ddio_run *part)
{
	u32 inner = run->length, level = 0, index, count;

	*part = *run;
	if (inner > most) {
		part_move(part, 0, at / inner);
		part->offset += at % inner;
		part->memory += at % inner;
		part->length = inner - at % inner < most ? inner - at % inner : most;
		return part->length;
	}
	while (level < run->levels && inner <= most / run->level[level].count)
		inner *= run->level[level++].count;
	if (level == run->levels)
		return inner;
	index = at / inner;
	count = run->level[level].count - index % run->level[level].count;
	if (count > most / inner)
		count = most / inner;
	part_move(part, level, index);
	part->level[level] = run->level[level];
	part->level[level].count = count;
	part->levels = level + 1;
	return count * inner;
}

/**
 * struct run_walk - one side of a copy
 * @stride: bytes, innermost first
 * @at: the first piece
 */
struct run_walk {
	const s64 *stride;
	u8 *at;
};

/*
 * Copies all pieces.  Where a piece is copied by one or two moves, the caller's @length is a
 * constant: the compiler makes a loop of its own of each such call.
 */
static __always_inline void copy_pieces(const struct run_shape *shape, struct run_walk to,
					struct run_walk from, size_t length)
{
	const s64 to_step = to.stride[0], from_step = from.stride[0];
	u32 i, j, k;

	for (k = 0; k < shape->count[2]; k++) {
		for (j = 0; j < shape->count[1]; j++) {
			u8 *dst = to.at + k * to.stride[2] + j * to.stride[1];
			const u8 *src = from.at + k * from.stride[2] + j * from.stride[1];

			for (i = shape->count[0]; i; i--) {
				__builtin_memcpy(dst, src, length);
				dst += to_step;
				src += from_step;
			}
		}
	}
}

static void copy(const struct run_shape *shape, struct run_walk to, struct run_walk from)
{
	switch (shape->length) {
	case 1:
		return copy_pieces(shape, to, from, 1);
	case 2:
		return copy_pieces(shape, to, from, 2);
	case 4:
		return copy_pieces(shape, to, from, 4);
	case 8:
		return copy_pieces(shape, to, from, 8);
	case 16:
		return copy_pieces(shape, to, from, 16);
	case 32:
		return copy_pieces(shape, to, from, 32);
	case 64:
		return copy_pieces(shape, to, from, 64);
	default:
		return copy_pieces(shape, to, from, shape->length);
	}
}

void ddio_run_scatter(const struct ddio_run *run, const void *block, void *memory)
{
	struct run_shape shape;

	shape_make(&shape, run);
	copy(&shape, (struct run_walk){ shape.memory, (u8 *)memory + run->memory },
	     (struct run_walk){ shape.block, (u8 *)block + run->offset });
}

void ddio_run_gather(const struct ddio_run *run, void *block, const void *memory)
{
	struct run_shape shape;

	shape_make(&shape, run);
	copy(&shape, (struct run_walk){ shape.block, (u8 *)block + run->offset },
	     (struct run_walk){ shape.memory, (u8 *)memory + run->memory });
}
