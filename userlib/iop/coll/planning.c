// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Making block lists: which blocks of the file are wanted of a disk, and where they lie there.
 *
 * A list is made from the distribution, block by block where the pattern has gaps and range by range where
 * it has none, in pieces, so that a list of millions of blocks does not keep the reactor from its other
 * work.
 */
#include <errno.h>
#include "iop/coll/priv.h"

#define PLAN_STEPS 8192 /* of a turn */
/* Runs of blocks that were never written, and entries of a list beyond one for each block that exists. */
#define PLAN_HOLES (UINT64_C(1) << 20)

/**
 * struct planning - what the list for reading and that for writing differ in
 * @pass: the first: a disk that is too full is found before it is written to
 * @makes: the object is made if there is none
 * @unwritten: blocks are visited that were never written, but have a place
 * @near: they may be moved in the order of access time.  A write takes its blocks long before the disk
 *	gets them, and by then the arm is elsewhere.
 */
struct planning {
	enum plan_pass pass;
	bool makes, unwritten, near;
};

static const struct planning reading = { .pass = PLAN_PLACE, .near = true };
static const struct planning writing = { .pass = PLAN_COUNT, .makes = true, .unwritten = true };

/* Finds the next consecutive blocks of the object that are wanted; returns false if there are none. */
static bool scan_next(struct coll_disk *cd, uint64_t *first, uint64_t *count)
{
	const struct coll *coll = cd->coll;
	uint64_t size = coll->block_size, n = coll->req->start.file.ndisks;
	uint64_t start, end, block, last;

	for (;;) {
		if (!ddio_map_next(coll->req->map, cd->scan, &start, &end))
			return false;
		if (start < cd->scan)
			start = cd->scan;
		block = start / size;
		last = (end - 1) / size;
		block += (cd->stripe + n - block % n) % n;
		cd->scan = block * size;
		if (block <= last)
			break;
	}
	*first = block / n;
	*count = (last - block) / n + 1;
	cd->scan = (block + *count * n) * size;
	return true;
}

static int count_short(struct coll_disk *cd, uint64_t first, uint64_t count)
{
	uint64_t start, run, size;
	bool written;

	while (count) {
		bool there = object_lookup(cd->obj, first, &start, &run, &written);

		if (run > count)
			run = count;
		if (!there)
			cd->short_blocks += run;
		first += run;
		count -= run;
	}
	/* A disk cannot hold more, so the rest need not be counted. */
	size = ddio_disk_info(cd->disk->disk)->size / cd->coll->block_size;
	return cd->short_blocks > size ? -ENOSPC : 0;
}

/* Adds some blocks to the list. */
static int place_some(struct coll_disk *cd, uint64_t first, uint64_t count, uint64_t *done)
{
	struct plan_blocks placed = { .block = first, .same = first < cd->extent_end };
	uint64_t start = 0, run = count;
	bool there = false, written = false;

	if (cd->obj)
		there = object_lookup(cd->obj, first, &start, &run, &written);
	cd->extent_end = first + run;
	placed.count = run < count ? run : count;
	placed.sector = SPAN_HOLE;
	if (there && (written || cd->planning->unwritten))
		placed.sector = start / SPAN_SECTOR;
	*done = placed.count;
	if (placed.sector == SPAN_HOLE && ++cd->holes > PLAN_HOLES)
		return -E2BIG;
	return plan_add(&cd->plan, &placed);
}

static int place(struct coll_disk *cd, uint64_t first, uint64_t count)
{
	uint64_t done;
	int err = 0;

	if (cd->short_blocks)
		err = object_alloc(cd->obj, first, count);
	for (; count && !err; count -= done, first += done)
		err = place_some(cd, first, count, &done);
	return err;
}

static void order(struct coll_disk *cd)
{
	const struct coll_req *req = cd->coll->req;
	uint64_t skip = 0, n = req->start.file.ndisks;

	if (coll_req_flag(req, DDIO_COLL_SORT)) {
		ddio_env_charge(cd->coll->reactor->env, DDIO_WORK_SORT, cd->plan.n);
		plan_sort(&cd->plan);
	}
	if (coll_req_flag(req, DDIO_COLL_ROTATE))
		skip = cd->plan.blocks / n * cd->stripe + cd->plan.blocks % n * cd->stripe / n;
	plan_rotate(&cd->plan, skip);
	/* If there is no memory for it, the sorted list will do. */
	if (cd->planning->near && coll_req_flag(req, DDIO_COLL_SATF) &&
	    coll_req_flag(req, DDIO_COLL_SORT) && ddio_disk_info(cd->disk->disk)->positions)
		plan_near_begin(&cd->plan);
}

static void fail_space(struct coll_disk *cd)
{
	coll_fail_here(cd->coll, DDIO_ST_NO_SPACE, COLL_NOBODY,
		       "disk %s: no space for %llu more blocks of file \"%s\": %llu bytes are free",
		       cd->disk->name, (unsigned long long)cd->short_blocks,
		       cd->coll->req->start.file.name,
		       (unsigned long long)store_free_bytes(cd->disk->store));
}

/* Ends the scan that counts: a disk that is too full is not touched at all. */
static int counted(struct coll_disk *cd)
{
	if (cd->short_blocks > store_free_bytes(cd->disk->store) / cd->coll->block_size)
		return -ENOSPC;
	cd->scan = 0;
	cd->pass = PLAN_PLACE;
	return 0;
}

static int open_object(struct coll_disk *cd)
{
	const struct planning *p = coll_writes(cd->coll) ? &writing : &reading;
	int err;

	cd->opened = true;
	cd->plan.sectors = cd->coll->block_size / SPAN_SECTOR;
	cd->planning = p;
	cd->pass = p->pass;
	err = store_get(cd->disk->store, &cd->coll->req->start.file.ref, p->makes, &cd->obj);
	if (err) {
		cd->obj = NULL;
		if (err != -ENOENT || p->makes)
			return err;
		if (store_lost(cd->disk->store, cd->coll->req->start.file.ref.id))
			return -EREMOTEIO;
	}
	/* Only the client says how far a file reaches; a write is bounded by the space. */
	if (!p->makes)
		cd->plan.most = PLAN_HOLES + (cd->obj ? object_blocks(cd->obj) : 0);
	return 0;
}

/* Deals with the next consecutive blocks of the object. */
static int plan_step(struct coll_disk *cd)
{
	uint64_t first, count;
	bool more = scan_next(cd, &first, &count);

	ddio_env_charge(cd->coll->reactor->env, DDIO_WORK_RUNS, 1);
	if (cd->pass == PLAN_COUNT)
		return more ? count_short(cd, first, count) : counted(cd);
	if (more)
		return place(cd, first, count);
	order(cd);
	cd->pass = PLAN_MADE;
	return 0;
}

static void plan_failed(struct coll_disk *cd, int err)
{
	uint32_t status = ddio_status_from_errno(err);

	if (err == -ENOMEM)
		coll_fail_memory(cd->coll);
	else if (err == -ENOSPC)
		fail_space(cd);
	else if (err == -EREMOTEIO)
		coll_fail_here(cd->coll, DDIO_ST_IO, COLL_NOBODY,
			       "disk %s: " STORE_LOST_TEXT " (\"%s\")", cd->disk->name,
			       (unsigned long long)cd->coll->req->start.file.ref.id,
			       cd->coll->req->start.file.name);
	else if (err == -E2BIG)
		coll_fail_here(
			cd->coll, status, COLL_NOBODY,
			"disk %s: file \"%s\": too many blocks that were never written; read "
			"less at a time",
			cd->disk->name, cd->coll->req->start.file.name);
	else
		coll_fail_here(cd->coll, status, COLL_NOBODY,
			       "disk %s: file \"%s\" cannot be used: %s", cd->disk->name,
			       cd->coll->req->start.file.name, ddio_status_text(status));
}

bool coll_plan(struct coll *coll)
{
	uint32_t steps = PLAN_STEPS, d;
	int err;

	for (d = 0; d < coll->ndisks; d++) {
		struct coll_disk *cd = &coll->disk[d];

		err = cd->opened ? 0 : open_object(cd);
		while (!err && cd->pass != PLAN_MADE) {
			if (!steps--)
				return false;
			err = plan_step(cd);
		}
		if (err) {
			plan_failed(cd, err);
			return true;
		}
	}
	return true;
}
