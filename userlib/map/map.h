/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Distributions as runs: which bytes of a range of the file belong to which
 * process, and where.  Pure: no clock, no I/O, no state beyond the map.
 *
 * A map is built once for a collective; the I/O processor then asks it about each
 * of its blocks, and the compute process about each message.  Both ends compute
 * the same answers, so that messages carry no headers for their pieces.
 *
 * A process's bytes have two orders:
 *   share offset  position in the process's packed share, in the order of
 *                 its description (row-major for arrays);
 *   message       for a range of the file, the process's bytes in it in
 *                 *file order*, nothing between them.
 * For a monotone map (every array, every description sorted by file offset)
 * a message is one contiguous piece of the share.
 */
#ifndef DDIO_MAP_H
#define DDIO_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ddio/dist.h>
#include "map/kin.h"

struct ddio_map;

/**
 * struct ddio_map_run - nested-strided bytes of one process in a range of a file
 * @proc: rank
 * @nlevels: levels in use; 0 is one contiguous piece
 * @file_off: absolute offset in the file of the first piece
 * @share_off: offset of the first piece in the process's packed share
 * @msg_off: offset of the first piece in the range's message for @proc
 * @len: bytes of each piece
 * @level: outermost first.  A level advances share and message alike by
 *	@share_stride and the file by @file_stride.
 */
struct ddio_map_run {
	uint32_t proc;
	uint32_t nlevels;
	uint64_t file_off;
	uint64_t share_off;
	uint64_t msg_off;
	uint64_t len;
	struct ddio_map_run_level {
		uint64_t count;
		uint64_t file_stride;
		uint64_t share_stride;
	} level[2 * DDIO_MAX_DIMS];
};

/* Returns 0 to go on; anything else ends the walk and is its result. */
typedef int (*ddio_map_run_fn)(void *arg, const struct ddio_map_run *run);

/**
 * ddio_map_new_array - the map of a distributed array
 * @array: checked here; copied
 * @nprocs: members of the group; at least the product of the grid's extents
 * @map: result; free it with ddio_map_free()
 * @why: if not NULL, on error a constant text that names the member at fault
 *
 * Return: 0, -EINVAL, -EOVERFLOW (the array does not fit in 2^63 bytes), -ENOMEM.
 */
int ddio_map_new_array(const struct ddio_array *array, uint32_t nprocs, struct ddio_map **map,
		       const char **why);

/* What ddio_map_new_overlapping() allows. */
#define MAP_TWICE 0x1u /* a process names a byte twice: it has the first in its description */
#define MAP_AGAIN 0x2u /* with MAP_TWICE: ddio_memmap_again() can fill in the others */
#define MAP_LOWEST \
	0x4u	       /* a byte that several processes name is the lowest's, and no other has it */
#define MAP_KINDS 0x8u /* processes may give descriptions of different kinds */

/**
 * ddio_map_new_overlapping - does what ddio_map_new_parts() does where bytes are named more than once
 * @rules: MAP_*
 *
 * Where it has to, it flattens what overlaps to pieces, at most 2^24 of them.
 */
int ddio_map_new_overlapping(const struct ddio_part *part, uint32_t nprocs, uint32_t rules,
			     struct ddio_map **map, const char **why);

/**
 * ddio_map_new_kin - does the same for processes that are described as families
 * @kin: @n families, which have @nprocs processes together, in the order of their ranks; copied
 */
int ddio_map_new_kin(const struct ddio_kin *kin, uint32_t n, uint32_t nprocs, uint32_t rules,
		     struct ddio_map **map, const char **why);

/**
 * ddio_map_new_parts - the map of per-process descriptions
 * @part: @nprocs descriptions, all STRIDED, all LIST or all VIEW (an empty one may be any); copied
 * @nprocs: members of the group
 * @map, @why: as above
 *
 * A process may name its bytes in any order.  Naming one byte twice in one
 * process's description is -EINVAL here.  A description that is not in file order
 * is flattened to a sorted list (time and memory proportional to its pieces);
 * one in file order stays nested.
 */
static inline int ddio_map_new_parts(const struct ddio_part *part, uint32_t nprocs,
				     struct ddio_map **map, const char **why)
{
	return ddio_map_new_overlapping(part, nprocs, 0, map, why);
}

void ddio_map_free(struct ddio_map *map);

/* Returns true if MAP_TWICE or MAP_LOWEST have made a difference. */
bool ddio_map_overlaps(const struct ddio_map *map);

/**
 * struct ddio_map_claim - bytes that several processes name
 * @off, @len: in the file
 * @proc: the lowest of them, which has them
 */
struct ddio_map_claim {
	uint64_t off;
	uint64_t len;
	uint32_t proc;
};

/* Return the number of claims of a map with MAP_LOWEST, and the one of number @i in file order. */
uint64_t ddio_map_claims(const struct ddio_map *map);
struct ddio_map_claim ddio_map_claim(const struct ddio_map *map, uint64_t i);

/**
 * ddio_map_yield - takes from @proc what belongs to others
 * @claim: @n of them, in file order
 *
 * For a map that knows only of @proc: with the claims of the map of all processes it has the same
 * bytes as there.
 * Return: 0, -EINVAL: the claims are not in order, or it is a map of families, -ENOMEM, -EOVERFLOW.
 */
int ddio_map_yield(struct ddio_map *map, uint32_t proc, const struct ddio_map_claim *claim,
		   uint64_t n);

/* Returns how many bytes the share of @proc has a second time, with MAP_AGAIN. */
uint64_t ddio_map_again_size(const struct ddio_map *map, uint32_t proc);

/**
 * ddio_map_clip - make nothing at or beyond @end wanted
 *
 * From here on every answer leaves those bytes out, but for ddio_map_share_size() and offsets in
 * the share.  For a read that reaches beyond the end of the file.
 */
void ddio_map_clip(struct ddio_map *map, uint64_t end);

/* Dimensions of the array; 1 for descriptions of other kinds. */
uint32_t ddio_map_ndims(const struct ddio_map *map);
/* Returns the bytes of the whole share of @proc. */
uint64_t ddio_map_share_size(const struct ddio_map *map, uint32_t proc);
/*
 * Finds the first byte that any process wants, and one past the last, or the end of a map that was
 * clipped; both are 0 if there is none.
 */
void ddio_map_bounds(const struct ddio_map *map, uint64_t *lo, uint64_t *hi);

/**
 * ddio_map_next - find the first range at or after @from of which every byte is wanted
 *
 * Adjacent wanted ranges may or may not be reported as one.  Lets an I/O
 * processor skip the blocks that no process wants.
 * Return: false if nothing is wanted at or after @from.
 */
bool ddio_map_next(const struct ddio_map *map, uint64_t from, uint64_t *start, uint64_t *end);

/* Returns the number of distinct bytes of [lo, hi) that are wanted by at least one process. */
uint64_t ddio_map_covered(const struct ddio_map *map, uint64_t lo, uint64_t hi);

/* Returns the bytes of @proc in [lo, hi): the length of its message for that range. */
uint64_t ddio_map_msg_size(const struct ddio_map *map, uint32_t proc, uint64_t lo, uint64_t hi);

/* Returns the end of the shortest range from @lo on, up to @hi, whose message for @proc has @len bytes. */
uint64_t ddio_map_msg_end(const struct ddio_map *map, uint32_t proc, uint64_t lo, uint64_t hi,
			  uint64_t len);

/**
 * ddio_map_runs - walk the runs of every process in [lo, hi)
 *
 * Runs of one process come in any order; msg_off is right in each.  Time is
 * proportional to the runs (and, for arrays, to the grid coordinates that own
 * something there).
 * With @writing, a byte that several processes hold (ALL) is reported once,
 * for the lowest rank among them.
 */
int ddio_map_runs(const struct ddio_map *map, uint64_t lo, uint64_t hi, bool writing,
		  ddio_map_run_fn fn, void *arg);

/* Walks the same for one process only, in time proportional to that process's runs. */
int ddio_map_runs_of(const struct ddio_map *map, uint32_t proc, uint64_t lo, uint64_t hi,
		     bool writing, ddio_map_run_fn fn, void *arg);

/* Returns the bytes of that message which @proc delivers in a write: all of them, or none if a lower rank
 * holds the same bytes (ALL) and delivers them. */
uint64_t ddio_map_put_size(const struct ddio_map *map, uint32_t proc, uint64_t lo, uint64_t hi);

/**
 * ddio_map_check_overlap - find a byte that two processes name
 * @at: one such byte of the file; @first, @second: two processes that name it
 *
 * Arrays never do (ALL is no overlap: see ddio_map_runs()).
 * Return: true if there is one: a collective write must be refused.
 */
bool ddio_map_check_overlap(const struct ddio_map *map, uint64_t *at, uint32_t *first,
			    uint32_t *second);

/* Copies the bytes of @run from the block at @block, whose first byte is byte
 * @block_off of the file, to the message; and back. */
void ddio_map_run_pack(const struct ddio_map_run *run, const void *block, uint64_t block_off,
		       void *msg);
void ddio_map_run_unpack(const struct ddio_map_run *run, void *block, uint64_t block_off,
			 const void *msg);

/* The same from the block to the packed share of @run->proc, and back.  @past: as of struct strided_copy, map/copy.h. */
void ddio_map_run_take(const struct ddio_map_run *run, const void *block, uint64_t block_off,
		       void *share, bool past);
void ddio_map_run_give(const struct ddio_map_run *run, void *block, uint64_t block_off,
		       const void *share);

/**
 * ddio_map_pack - fill the messages of all processes for a range, in one pass over it
 * @block: the bytes of the file from @lo to before @hi
 * @msg: a buffer for the message of each process, as long as ddio_map_msg_size()
 *	says; NULL skips the process
 *
 * The same bytes as ddio_map_run_pack() of every run, in the order that suits the
 * caches.
 * Return: 0.
 */
int ddio_map_pack(const struct ddio_map *map, uint64_t lo, uint64_t hi, const void *block,
		  void *const *msg);

/**
 * ddio_map_unpack - fill the range from the messages, for a write
 * @msg: each as long as ddio_map_put_size() says; NULL skips the process.
 *	Bytes of the block that no process delivers are left alone.
 * Return: 0.
 */
int ddio_map_unpack(const struct ddio_map *map, uint64_t lo, uint64_t hi, void *block,
		    const void *const *msg);

/*
 * The memory side, at the compute process.
 */
struct ddio_memmap;

/**
 * ddio_memmap_new - describe where the share of @proc lies in memory
 * @map: must outlive the result
 * @memory: NULL for packed; checked against the share; copied
 * @span: result: bytes of memory from the buffer's address that may be touched
 */
int ddio_memmap_new(const struct ddio_map *map, uint32_t proc, const struct ddio_memory *memory,
		    struct ddio_memmap **memmap, uint64_t *span, const char **why);
void ddio_memmap_free(struct ddio_memmap *memmap);

/**
 * struct mem_piece - nested-strided bytes of a message, and where they lie in memory
 * @msg_off: offset in the message; @mem_off: offset from the buffer's address
 * @len: bytes of each contiguous piece
 */
struct mem_piece {
	uint64_t msg_off;
	uint64_t mem_off;
	uint64_t len;
	uint32_t nlevels;
	uint32_t reserved;
	struct piece_level {
		uint64_t count;
		uint64_t msg_stride;
		int64_t mem_stride;
	} level[2 * DDIO_MAX_DIMS + 2];
};

typedef int (*piece_fn)(void *arg, const struct mem_piece *piece);

/* Walks the pieces of the message for [lo, hi), in order of msg_off where nlevels is 0. */
int memmap_pieces(const struct ddio_memmap *memmap, uint64_t lo, uint64_t hi, bool writing,
		  piece_fn fn, void *arg);

/**
 * ddio_memmap_contiguous - see whether the message for [lo, hi) is one contiguous piece of memory
 * @mem_off, @len: result if so: the message can then be received straight into the buffer
 */
bool ddio_memmap_contiguous(const struct ddio_memmap *memmap, uint64_t lo, uint64_t hi,
			    bool writing, uint64_t *mem_off, uint64_t *len);

/* The whole message at once: walks and copies. */
void ddio_memmap_unpack(const struct ddio_memmap *memmap, uint64_t lo, uint64_t hi, const void *msg,
			void *mem);
void ddio_memmap_pack(const struct ddio_memmap *memmap, uint64_t lo, uint64_t hi, bool writing,
		      void *msg, const void *mem);

/* After a read: copies the bytes that the share names a second time to where it has them, too. */
void ddio_memmap_again(const struct ddio_memmap *memmap, void *mem);

#endif /* DDIO_MAP_H */
