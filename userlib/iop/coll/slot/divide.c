// SPDX-License-Identifier: LGPL-2.1-or-later
/* The parts of a block: which members have bytes of it, and how many. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/coll/slot/slot.h"

struct divide {
	struct coll *coll;
	struct coll_slot *slot;
	uint64_t lo;
	uint64_t runs;
};

static struct coll_part *part_new(struct coll_slot *slot, uint32_t rank)
{
	struct coll_part *part;

	if (slot->nparts == slot->cap) {
		uint32_t cap = slot->cap ? slot->cap * 2 : 16;

		part = realloc(slot->part, cap * sizeof(*part));
		if (!part)
			return NULL;
		slot->part = part;
		slot->cap = cap;
	}
	part = &slot->part[slot->nparts++];
	memset(part, 0, sizeof(*part));
	part->rank = rank;
	part->first = UINT32_MAX;
	return part;
}

static int divide_run(void *arg, const struct ddio_map_run *run)
{
	struct divide *dv = arg;
	struct coll_part *part;
	uint32_t *index = &dv->coll->index[run->proc];
	uint64_t first = run->file_off - dv->lo, end = first + run->len, pieces = 1;
	uint32_t i;

	if (!*index) {
		part = part_new(dv->slot, run->proc);
		if (!part)
			return -ENOMEM;
		*index = dv->slot->nparts;
		dv->coll->took[run->proc / 8] |= (uint8_t)(1u << run->proc % 8);
	}
	part = &dv->slot->part[*index - 1];
	for (i = 0; i < run->nlevels; i++) {
		pieces *= run->level[i].count;
		end += (run->level[i].count - 1) * run->level[i].file_stride;
	}
	part->len += pieces * run->len;
	part->pieces += pieces;
	if (first < part->first)
		part->first = first;
	if (end > part->end)
		part->end = end;
	dv->runs++;
	return 0;
}

static int part_compare(const void *a, const void *b)
{
	const struct coll_part *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void parts_sort(struct coll_slot *slot)
{
	uint32_t i;

	for (i = 1; i < slot->nparts; i++) {
		if (slot->part[i - 1].rank > slot->part[i].rank) {
			qsort(slot->part, slot->nparts, sizeof(*slot->part), part_compare);
			return;
		}
	}
}

int slot_divide(struct coll_slot *slot, const struct coll_block *block)
{
	struct coll *coll = slot->disk->coll;
	struct divide dv = { .coll = coll, .slot = slot, .lo = block->lo };
	uint64_t hi = block->lo + coll->block_size;
	uint32_t i;
	int err;

	slot->nparts = 0;
	slot->sent = 0;
	err = ddio_map_runs(coll->req->map, block->lo, hi, coll_writes(coll), divide_run, &dv);
	for (i = 0; i < slot->nparts; i++)
		coll->index[slot->part[i].rank] = 0;
	ddio_env_charge(coll->reactor->env, DDIO_WORK_RUNS, dv.runs);
	if (err)
		return err;
	parts_sort(slot);
	slot->covered = ddio_map_covered(coll->req->map, block->lo, hi);
	coll->done.bytes_needed += slot->covered;
	return 0;
}

struct coll_part *slot_part(struct coll_slot *slot, uint32_t rank)
{
	uint32_t lo = 0, hi = slot->nparts;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (slot->part[mid].rank < rank)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < slot->nparts && slot->part[lo].rank == rank ? &slot->part[lo] : NULL;
}

/* Without batching, every contiguous piece of a message would be a Memput or Memget of its own. */
void coll_charge_part(struct coll *coll, enum ddio_work work, const struct coll_part *part)
{
	struct ddio_env *env = coll->reactor->env;
	uint32_t i;

	ddio_env_charge(env, DDIO_WORK_PIECES, part->pieces * ddio_map_ndims(coll->req->map));
	if (!coll_req_flag(coll->req, DDIO_COLL_NO_BATCH)) {
		if (part->pieces > 1)
			ddio_env_charge(env, DDIO_WORK_GATHER, part->pieces);
		ddio_env_charge(env, work, part->len);
		return;
	}
	for (i = 0; i < part->pieces; i++)
		ddio_env_charge(env, work, part->len / part->pieces);
}
