// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The memory side: where the bytes of a share lie.
 *
 * A memmap is a row of nests that follow one another in the share: one for a
 * packed share or a local array with ghost cells, several for a list.  An
 * interval of the share is cut into boxes of them, whatever the file side
 * looks like; a message of a monotone map is one such interval.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "map/copy.h"
#include "map/map_priv.h"
#include "map/view.h"

/**
 * struct ddio_memmap - see map.h
 * @delivers: false if a lower rank delivers the same bytes in a write
 * @stretch: @size bytes of the share from @share on, ascending; they lie at @off
 *	in one piece, or, if @nest or @tree is set, as that says
 */
struct ddio_memmap {
	const struct ddio_map *map;
	uint32_t proc;
	bool delivers;
	uint64_t size;
	uint64_t nstretches;
	struct stretch {
		uint64_t share;
		uint64_t size;
		uint64_t off;
		struct nest *nest;
		struct tree_part *tree; /* its form is held */
	} stretch[];
};

static int fail(const char **why, const char *text, int err)
{
	*why = text;
	return err;
}

static int memmap_add(struct ddio_memmap *memmap, const struct nest *nest)
{
	struct stretch *stretch = &memmap->stretch[memmap->nstretches];

	stretch->share = memmap->size;
	stretch->size = nest_size(nest);
	stretch->off = nest->off;
	if (nest->ndims > 1) {
		stretch->nest = malloc(sizeof(*nest));
		if (!stretch->nest)
			return -ENOMEM;
		*stretch->nest = *nest;
	}
	memmap->size += stretch->size;
	memmap->nstretches++;
	return 0;
}

static int memmap_packed(struct ddio_memmap *memmap, uint64_t size, uint64_t *span)
{
	struct nest nest = { .ndims = 1, .dim[0] = { size, 1, 1 } };

	*span = size;
	return size ? memmap_add(memmap, &nest) : 0;
}

/* Adds the share inside the local array, whose extents may be larger. */
static int memmap_ghosts(struct ddio_memmap *memmap, const struct ddio_memory *memory,
			 uint64_t *span, const char **why)
{
	const struct ddio_map_layout *layout = &memmap->map->layout;
	uint64_t inner = layout->elem_size;
	struct nest nest = { .ndims = layout->ndims + 1 };
	bool empty = !ddio_map_share_size(memmap->map, memmap->proc);
	bool over = false;
	uint32_t d = layout->ndims;

	nest.dim[d] = (struct nest_dim){ inner, 1, 1 };
	while (d-- > 0) {
		const struct ddio_axis *axis = &layout->dim[d];
		uint64_t own = 0;

		if (!empty)
			own = ddio_axis_local(axis, memmap->proc / axis->rank_stride % axis->procs);
		if (memory->start[d] > memory->size[d] || own > memory->size[d] - memory->start[d])
			return fail(why, "memory.size: the local share does not fit from start on",
				    -EINVAL);
		nest.dim[d].count = own;
		nest.dim[d].stride = inner;
		nest.off += inner * memory->start[d];
		over |= __builtin_mul_overflow(inner, memory->size[d], &inner);
	}
	if (over || inner > INT64_MAX)
		return fail(why, "memory.size: the local array is larger than 2^63 bytes",
			    -EOVERFLOW);
	*span = 0;
	if (empty)
		return 0;
	*span = nest_end(&nest);
	nest_simplify(&nest);
	return memmap_add(memmap, &nest);
}

static int memmap_strided(struct ddio_memmap *memmap, const struct ddio_memory *memory,
			  uint64_t size, uint64_t *span, const char **why)
{
	struct nest nest;
	uint64_t end, i;
	int rc;

	*span = 0;
	for (i = 0; i < memory->nstrided; i++) {
		rc = nest_read(&nest, &memory->strided[i], STRIDED_BACK, &end, why);
		if (rc == -ENODATA)
			continue;
		if (rc)
			return rc;
		if (nest_size(&nest) > size - memmap->size)
			return fail(why, "memory.strided has more bytes than the share", -EINVAL);
		rc = memmap_add(memmap, &nest);
		if (rc)
			return rc;
		if (end > *span)
			*span = end;
	}
	if (memmap->size != size)
		return fail(why, "memory.strided has fewer bytes than the share", -EINVAL);
	return 0;
}

/* Adds bytes of a tree that are no nest. */
static int memmap_add_tree(struct ddio_memmap *memmap, const struct tree_part *tree)
{
	struct stretch *stretch = &memmap->stretch[memmap->nstretches];

	stretch->tree = malloc(sizeof(*tree));
	if (!stretch->tree)
		return -ENOMEM;
	*stretch->tree = *tree;
	tree->form->refs++;
	stretch->share = memmap->size;
	stretch->size = tree_part_size(tree);
	memmap->size += stretch->size;
	memmap->nstretches++;
	return 0;
}

static int memmap_add_view(struct ddio_memmap *memmap, struct view_reader *reader,
			   const struct ddio_view *view, uint64_t size, uint64_t *span,
			   const char **why)
{
	struct tree_part tree;
	struct nest nest;
	uint64_t lo, end;
	int rc = view_read(reader, view, &tree, why);

	if (rc == -ENODATA)
		return 0;
	if (!rc)
		rc = view_bounds(&tree, &lo, &end, why);
	if (rc)
		return rc;
	if (tree_part_size(&tree) > size - memmap->size)
		return fail(why, "memory.view has more bytes than the share", -EINVAL);
	if (end > *span)
		*span = end;
	if (tree_part_nest(&tree, &nest))
		return memmap_add(memmap, &nest);
	return memmap_add_tree(memmap, &tree);
}

static int memmap_views(struct ddio_memmap *memmap, const struct ddio_memory *memory, uint64_t size,
			uint64_t *span, const char **why)
{
	struct view_reader reader = { 0 };
	uint64_t i;
	int rc = 0;

	*span = 0;
	for (i = 0; i < memory->nstrided && !rc; i++)
		rc = memmap_add_view(memmap, &reader, &memory->view[i], size, span, why);
	view_reader_end(&reader);
	if (!rc && memmap->size != size)
		rc = fail(why, "memory.view has fewer bytes than the share", -EINVAL);
	return rc;
}

static int memory_check(const struct ddio_map *map, const struct ddio_memory *memory,
			const char **why)
{
	if (memory->kind > DDIO_MEMORY_VIEW || (memory->kind && memory->ndims))
		return fail(why, "memory.kind is unknown, or set beside memory.ndims", -EINVAL);
	if (!memory->ndims) {
		if (memory->nstrided && !memory->strided)
			return fail(why,
				    memory->kind ? "memory.view is missing"
						 : "memory.strided is missing",
				    -EINVAL);
		if (memory->nstrided > SIZE_MAX / sizeof(struct stretch) - 2)
			return fail(why, "memory.nstrided is too large", -EINVAL);
		return 0;
	}
	if (!map->is_array)
		return fail(why, "memory.ndims is set, but the file's part is no array", -EINVAL);
	if (memory->ndims != map->layout.ndims)
		return fail(why, "memory.ndims is not that of the array", -EINVAL);
	if (memory->nstrided)
		return fail(why, "memory.nstrided is set beside memory.ndims", -EINVAL);
	return 0;
}

static int memmap_fill(struct ddio_memmap *memmap, const struct ddio_memory *memory, uint64_t *span,
		       const char **why)
{
	uint64_t size = ddio_map_share_size(memmap->map, memmap->proc);

	if (!memory)
		return memmap_packed(memmap, size, span);
	if (memory->ndims)
		return memmap_ghosts(memmap, memory, span, why);
	if (memory->kind == DDIO_MEMORY_VIEW)
		return memmap_views(memmap, memory, size, span, why);
	return memmap_strided(memmap, memory, size, span, why);
}

int ddio_memmap_new(const struct ddio_map *map, uint32_t proc, const struct ddio_memory *memory,
		    struct ddio_memmap **memmap, uint64_t *span, const char **why)
{
	uint64_t room = memory && !memory->ndims ? memory->nstrided : 1;
	struct ddio_memmap *p;
	const char *text = "";
	int rc;

	if (!why)
		why = &text;
	if (proc >= map->nprocs)
		return fail(why, "proc is not below the number of processes", -EINVAL);
	rc = memory ? memory_check(map, memory, why) : 0;
	if (rc)
		return rc;
	p = calloc(1, sizeof(*p) + room * sizeof(p->stretch[0]));
	if (!p)
		goto err_memory;
	p->map = map;
	p->proc = proc;
	p->delivers = map_delivers(map, proc);
	rc = memmap_fill(p, memory, span, why);
	if (rc)
		goto err_free;
	*memmap = p;
	return 0;
err_free:
	ddio_memmap_free(p);
	if (rc != -ENOMEM)
		return rc;
err_memory:
	return fail(why, "out of memory", -ENOMEM);
}

void ddio_memmap_free(struct ddio_memmap *memmap)
{
	uint64_t i;

	if (!memmap)
		return;
	for (i = 0; i < memmap->nstretches; i++) {
		free(memmap->stretch[i].nest);
		if (memmap->stretch[i].tree)
			tree_form_put(memmap->stretch[i].tree->form);
		free(memmap->stretch[i].tree);
	}
	free(memmap);
}

/* Returns the stretch that holds share offset @share, which is below the share's size. */
static const struct stretch *memmap_find(const struct ddio_memmap *memmap, uint64_t share)
{
	uint64_t lo = 0;
	uint64_t hi = memmap->nstretches - 1;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo + 1) / 2;

		if (memmap->stretch[mid].share > share)
			hi = mid - 1;
		else
			lo = mid;
	}
	return &memmap->stretch[lo];
}

static void piece_from_stack(struct mem_piece *piece, const struct stack *st)
{
	uint32_t i;

	piece->len = st->len;
	piece->nlevels = st->n;
	piece->reserved = 0;
	for (i = 0; i < st->n; i++) {
		const struct stack_level *level = &st->level[st->n - 1 - i];

		piece->level[i].count = level->count;
		piece->level[i].msg_stride = level->b;
		piece->level[i].mem_stride = (int64_t)level->a;
	}
}

/**
 * struct tree_pieces - the pieces of a tree on their way
 * @msg_off: of the tree's first byte
 */
struct tree_pieces {
	uint64_t msg_off;
	piece_fn fn;
	void *arg;
};

static int tree_piece_give(void *arg, const struct stack *st, uint64_t addr, uint64_t pos)
{
	const struct tree_pieces *to = arg;
	struct mem_piece piece;

	piece.msg_off = to->msg_off + pos;
	piece.mem_off = addr;
	piece_from_stack(&piece, st);
	return to->fn(to->arg, &piece);
}

/* Walks bytes [lo, hi) of a stretch; @msg_off is that of byte @lo. */
static int stretch_pieces(const struct stretch *stretch, uint64_t lo, uint64_t hi, uint64_t msg_off,
			  piece_fn fn, void *arg)
{
	const struct nest *nest = stretch->nest;
	uint64_t from[NEST_DIMS], to[NEST_DIMS];
	uint64_t box_lo[NEST_DIMS], box_hi[NEST_DIMS];
	struct boxes boxes;
	struct stack st;
	struct mem_piece piece;
	int rc = 0;

	if (stretch->tree) {
		struct tree_pieces to = { msg_off - lo, fn, arg };

		return tree_part_walk(stretch->tree, lo, hi, 2 * DDIO_MAX_DIMS, tree_piece_give,
				      &to);
	}
	if (!nest) {
		piece.msg_off = msg_off;
		piece.mem_off = stretch->off + lo;
		piece.len = hi - lo;
		piece.nlevels = 0;
		piece.reserved = 0;
		return fn(arg, &piece);
	}
	nest_seek(nest, lo, from);
	nest_seek(nest, hi, to);
	boxes_init(&boxes, nest, from, to);
	while (!rc && boxes_next(&boxes, box_lo, box_hi)) {
		stack_box(&st, nest, box_lo, box_hi);
		piece.msg_off = msg_off + nest_rank(nest, box_lo) - lo;
		piece.mem_off = nest_addr(nest, box_lo);
		piece_from_stack(&piece, &st);
		rc = fn(arg, &piece);
	}
	return rc;
}

struct memmap_walk {
	const struct ddio_memmap *memmap;
	piece_fn fn;
	void *arg;
};

/* Walks @len bytes of the share from @share on, at @msg_off in the message. */
static int memmap_interval(const struct memmap_walk *w, uint64_t share, uint64_t len,
			   uint64_t msg_off)
{
	const struct stretch *stretch;
	int rc = 0;

	if (!len)
		return 0;
	for (stretch = memmap_find(w->memmap, share); len && !rc; stretch++) {
		uint64_t lo = share - stretch->share;
		uint64_t n = stretch->size - lo;

		if (n > len)
			n = len;
		rc = stretch_pieces(stretch, lo, lo + n, msg_off, w->fn, w->arg);
		share += n;
		msg_off += n;
		len -= n;
	}
	return rc;
}

/* In a map that is not monotone a run is one interval of the share. */
static int memmap_run(void *arg, const struct ddio_map_run *run)
{
	const struct memmap_walk *w = arg;
	uint64_t len = run->len;
	uint32_t i;

	for (i = 0; i < run->nlevels; i++)
		len *= run->level[i].count;
	return memmap_interval(w, run->share_off, len, run->msg_off);
}

int memmap_pieces(const struct ddio_memmap *memmap, uint64_t lo, uint64_t hi, bool writing,
		  piece_fn fn, void *arg)
{
	const struct ddio_map *map = memmap->map;
	struct memmap_walk w = { memmap, fn, arg };
	uint64_t from, shift;

	if (lo >= hi || !memmap->size || (writing && !memmap->delivers))
		return 0;
	if (!map->is_array && !parts_share(&map->parts, memmap->proc, &shift)->monotone)
		return ddio_map_runs_of(map, memmap->proc, lo, hi, writing, memmap_run, &w);
	from = map_below(map, memmap->proc, lo);
	return memmap_interval(&w, from, map_below(map, memmap->proc, hi) - from, 0);
}

struct contiguous {
	uint64_t mem_off;
	uint64_t len;
};

static int contiguous_piece(void *arg, const struct mem_piece *piece)
{
	struct contiguous *c = arg;

	if (piece->nlevels || (c->len && piece->mem_off != c->mem_off + c->len))
		return 1;
	if (!c->len)
		c->mem_off = piece->mem_off;
	c->len += piece->len;
	return 0;
}

bool ddio_memmap_contiguous(const struct ddio_memmap *memmap, uint64_t lo, uint64_t hi,
			    bool writing, uint64_t *mem_off, uint64_t *len)
{
	struct contiguous c = { 0, 0 };

	if (memmap_pieces(memmap, lo, hi, writing, contiguous_piece, &c))
		return false;
	*mem_off = c.mem_off;
	*len = c.len;
	return true;
}

static void piece_unpack(const struct mem_piece *piece, const void *msg, void *mem)
{
	struct strided_copy copy;
	uint32_t i;

	copy.len = piece->len;
	copy.past = false;
	copy.nlevels = piece->nlevels;
	for (i = 0; i < piece->nlevels; i++) {
		copy.level[i].count = piece->level[i].count;
		copy.level[i].dst = (uint64_t)piece->level[i].mem_stride;
		copy.level[i].src = piece->level[i].msg_stride;
	}
	copy_run(&copy, (char *)mem + piece->mem_off, (const char *)msg + piece->msg_off);
}

static void piece_pack(const struct mem_piece *piece, void *msg, const void *mem)
{
	struct strided_copy copy;
	uint32_t i;

	copy.len = piece->len;
	copy.past = false;
	copy.nlevels = piece->nlevels;
	for (i = 0; i < piece->nlevels; i++) {
		copy.level[i].count = piece->level[i].count;
		copy.level[i].dst = piece->level[i].msg_stride;
		copy.level[i].src = (uint64_t)piece->level[i].mem_stride;
	}
	copy_run(&copy, (char *)msg + piece->msg_off, (const char *)mem + piece->mem_off);
}

struct memmap_copy {
	const void *from;
	void *to;
};

static int unpack_piece(void *arg, const struct mem_piece *piece)
{
	const struct memmap_copy *copy = arg;

	piece_unpack(piece, copy->from, copy->to);
	return 0;
}

static int pack_piece(void *arg, const struct mem_piece *piece)
{
	const struct memmap_copy *copy = arg;

	piece_pack(piece, copy->to, copy->from);
	return 0;
}

void ddio_memmap_unpack(const struct ddio_memmap *memmap, uint64_t lo, uint64_t hi, const void *msg,
			void *mem)
{
	struct memmap_copy copy = { msg, mem };

	memmap_pieces(memmap, lo, hi, false, unpack_piece, &copy);
}

void ddio_memmap_pack(const struct ddio_memmap *memmap, uint64_t lo, uint64_t hi, bool writing,
		      void *msg, const void *mem)
{
	struct memmap_copy copy = { mem, msg };

	memmap_pieces(memmap, lo, hi, writing, pack_piece, &copy);
}

/* So many bytes are copied by way of a buffer at a time. */
#define AGAIN_BYTES 4096

static void again_copy(const struct ddio_memmap *memmap, const struct map_again *again,
		       uint64_t len, void *mem)
{
	unsigned char some[AGAIN_BYTES];
	struct memmap_copy out = { mem, some }, in = { some, mem };
	struct memmap_walk from = { memmap, pack_piece, &out };
	struct memmap_walk to = { memmap, unpack_piece, &in };
	uint64_t at, n;

	for (at = 0; at < len; at += n) {
		n = len - at < AGAIN_BYTES ? len - at : AGAIN_BYTES;
		memmap_interval(&from, again->from + at, n, 0);
		memmap_interval(&to, again->to + at, n, 0);
	}
}

void ddio_memmap_again(const struct ddio_memmap *memmap, void *mem)
{
	const struct ddio_map *map = memmap->map;
	const struct map_share *share;
	uint64_t shift, i;

	if (map->is_array)
		return;
	share = parts_share(&map->parts, memmap->proc, &shift);
	for (i = 0; i < share->nagain; i++)
		again_copy(memmap, &share->again[i], again_len(map, &share->again[i]), mem);
}
