// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Making block lists: which blocks of the file are wanted of a disk, and where they lie there.
 *
 * A list is made from the distribution, block by block where the pattern has gaps and range by range where
 * it has none, and each range run by run, in turns of a bounded number of steps, so that a list of millions of blocks
 * does not keep the reactor from its other work.
 */
#include <errno.h>
#include "iop/coll/priv.h"

/* Runs of blocks that were never written, and entries of a list beyond one for each block that exists. */
#define PLAN_HOLES (UINT64_C(1) << 20)
/* Steps of having recorded, before all others, which blocks of a disk may change. */
#define DOUBT_STEPS 4096

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

/* Looks for the next consecutive blocks of the object that are wanted: @cd->left, if it met some.  Returns false at the end. */
static bool scan_on(struct coll_disk *cd)
{
	const struct coll *coll = cd->coll;
	uint64_t size = coll->block_size, n = coll->req->start.file.ndisks;
	uint64_t start, end, block, last;

	if (!ddio_map_next(coll->req->map, cd->scan, &start, &end))
		return false;
	if (start < cd->scan)
		start = cd->scan;
	block = start / size;
	last = (end - 1) / size;
	block += (cd->stripe + n - block % n) % n;
	cd->scan = block * size;
	if (block > last)
		return true;
	cd->next = block / n;
	cd->left = (last - block) / n + 1;
	cd->scan = (block + cd->left * n) * size;
	return true;
}

/* Finds where the next wanted blocks lie, as far as they lie together: @p->count of them. */
static bool find_run(struct coll_disk *cd, struct plan_blocks *p, uint64_t *run, bool *written)
{
	uint64_t start = 0;
	bool there = false;

	*run = cd->left;
	*written = false;
	if (cd->obj && cd->planning->makes)
		there = object_target(cd->obj, cd->next, &start, run, written);
	else if (cd->obj)
		there = object_lookup(cd->obj, cd->next, &start, run, written);
	p->block = cd->next;
	p->count = *run < cd->left ? *run : cd->left;
	p->sector = there ? start / SPAN_SECTOR : SPAN_HOLE;
	return there;
}

static void run_done(struct coll_disk *cd, uint64_t count)
{
	cd->next += count;
	cd->left -= count;
}

static int count_run(struct coll_disk *cd)
{
	struct plan_blocks p = { .same = false };
	uint64_t run, size;
	bool written;

	if (!find_run(cd, &p, &run, &written))
		cd->short_blocks += p.count;
	if (!cd->whole.end)
		cd->whole.first = cd->whole.end = p.block;
	cd->whole.end = cd->whole.end == p.block ? p.block + p.count : UINT64_MAX;
	run_done(cd, p.count);
	/* A disk cannot hold more, so the rest need not be counted. */
	size = ddio_disk_info(cd->disk->disk)->size / cd->coll->block_size;
	return cd->short_blocks > size ? -ENOSPC : 0;
}

/*
 * Gives @count blocks a place.  A contiguous layout wants to know of all of them; the others draw a place for each block,
 * hence in as many steps.
 */
static int alloc_run(struct coll_disk *cd, uint64_t count, uint32_t *steps)
{
	if (cd->coll->req->start.file.ref.layout != DDIO_LAYOUT_CONTIGUOUS_W) {
		if (count > *steps)
			count = *steps + 1;
		*steps -= (uint32_t)(count - 1);
	}
	return object_alloc(cd->obj, cd->next, count);
}

/* The next @count blocks are to be written again: has that recorded, of as many as one commit should. */
static void doubt_run(struct coll_disk *cd, uint64_t count)
{
	cd->doubts |= object_write_ahead(cd->obj, cd->next, count, &cd->doubt_steps);
}

/* Adds the next blocks to the list. */
static int place_run(struct coll_disk *cd, uint32_t *steps)
{
	struct plan_blocks p = { .same = cd->next < cd->extent_end };
	uint64_t run;
	bool written;
	int err = 0;

	if (!find_run(cd, &p, &run, &written) && cd->short_blocks) {
		err = alloc_run(cd, p.count, steps);
		find_run(cd, &p, &run, &written);
	}
	if (err)
		return err;
	if (written && cd->planning->makes)
		doubt_run(cd, p.count);
	cd->extent_end = cd->next + run;
	if (!written && !cd->planning->unwritten)
		p.sector = SPAN_HOLE;
	if (p.sector == SPAN_HOLE && ++cd->holes > PLAN_HOLES)
		return -E2BIG;
	run_done(cd, p.count);
	return plan_add(&cd->plan, &p);
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

/* Returns true if another collective uses the file: it may have told its disk where the blocks are. */
static bool others_use(const struct coll *coll)
{
	const struct coll *other;

	ddio_list_for_each_entry(other, &coll->reactor->colls, link)
		if (other != coll && other->opened &&
		    other->req->start.file.ref.id == coll->req->start.file.ref.id)
			return true;
	return false;
}

/*
 * What is written as a whole lies in one piece again.  But what the cache writes meanwhile, or has to write, belongs to the
 * places that the blocks have: when it ended, the new ones would be taken for written.
 */
static void renew(struct coll_disk *cd)
{
	struct cache *cache = cd->disk->cache;
	uint64_t first = cd->whole.first, count = cd->whole.end - first;

	if (cd->obj && cd->whole.end != UINT64_MAX && !others_use(cd->coll) &&
	    !cache_busy(cache, cd->obj, first, count) &&
	    cache_next_newer(cache, cd->obj, first, count) == first + count)
		(void)object_renew(cd->obj, first, count);
}

/* Ends the scan that counts: a disk that is too full is not touched at all. */
static int counted(struct coll_disk *cd)
{
	if (cd->short_blocks > store_free_bytes(cd->disk->store) / cd->coll->block_size)
		return -ENOSPC;
	renew(cd);
	cd->scan = 0;
	cd->pass = PLAN_PLACE;
	return 0;
}

/* Finds the object of a disk: 0 or -errno. */
static int find_object(struct coll_disk *cd)
{
	int err;

	if (cd->epoch) {
		cd->obj = store_epoch_shadow(cd->epoch);
		object_ref(cd->obj);
		return 0;
	}
	err = store_get(cd->disk->store, &cd->coll->req->start.file.ref, cd->planning->makes,
			&cd->obj);
	if (!err)
		return cd->planning->makes && object_frozen(cd->obj) ? -EROFS : 0;
	cd->obj = NULL;
	if (err != -ENOENT || cd->planning->makes)
		return err;
	return store_missing(cd->disk->store, cd->coll->req->start.file.ref.id);
}

static int open_object(struct coll_disk *cd)
{
	const struct planning *p = coll_writes(cd->coll) ? &writing : &reading;
	int err;

	cd->plan.sectors = cd->coll->block_size / SPAN_SECTOR;
	cd->planning = p;
	cd->doubt_steps = DOUBT_STEPS;
	cd->pass = p->pass;
	err = find_object(cd);
	/* Only the client says how far a file reaches; a write is bounded by the space. */
	if (!err && !p->makes)
		cd->plan.most = PLAN_HOLES + (cd->obj ? object_blocks(cd->obj) : 0);
	return err;
}

/* Nothing more is wanted. */
static int pass_over(struct coll_disk *cd)
{
	if (cd->pass == PLAN_COUNT)
		return counted(cd);
	order(cd);
	cd->pass = PLAN_MADE;
	return 0;
}

/* Looks for blocks, or deals with the next of those found. */
static int plan_step(struct coll_disk *cd, uint32_t *steps)
{
	bool more;

	if (cd->left)
		return cd->pass == PLAN_COUNT ? count_run(cd) : place_run(cd, steps);
	more = scan_on(cd);
	if (!more || cd->left)
		ddio_env_charge(cd->coll->reactor->env, DDIO_WORK_RUNS, 1);
	return more ? 0 : pass_over(cd);
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
	else if (err == -EROFS)
		coll_fail_here(cd->coll, status, COLL_NOBODY,
			       "disk %s: file \"%s\" is a snapshot, which nothing changes",
			       cd->disk->name, cd->coll->req->start.file.name);
	else if (err == -EBUSY)
		coll_fail_here(cd->coll, DDIO_ST_BUSY, COLL_NOBODY,
			       "disk %s: others have been using file \"%s\" for too long",
			       cd->disk->name, cd->coll->req->start.file.name);
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

/* Returns false if there was more to do than @steps. */
static bool plan_disk(struct coll_disk *cd, uint32_t *steps)
{
	int err = 0;

	while (!err && cd->pass != PLAN_MADE) {
		if (!*steps)
			return false;
		--*steps;
		err = plan_step(cd, steps);
	}
	if (err)
		plan_failed(cd, err);
	return true;
}

static enum coll_planned open_failed(struct coll_disk *cd, int err)
{
	plan_failed(cd, err);
	return COLL_PLAN_OVER;
}

/*
 * Opens the objects of all disks in one turn: whoever waits for one of them while it uses another could wait for an atomic
 * write that waits for it.
 */
static enum coll_planned open_all(struct coll *coll)
{
	bool ready = true;
	uint32_t d;
	int ret;

	for (d = 0; d < coll->ndisks; d++) {
		ret = coll_hold(&coll->disk[d]);
		if (ret < 0)
			return open_failed(&coll->disk[d], ret);
		ready &= ret > 0;
	}
	if (!ready)
		return COLL_PLAN_WAITS;
	coll->opened = true;
	for (d = 0; d < coll->ndisks; d++) {
		ret = open_object(&coll->disk[d]);
		if (ret)
			return open_failed(&coll->disk[d], ret);
	}
	return COLL_PLAN_MORE;
}

enum coll_planned coll_plan(struct coll *coll)
{
	struct bound *bound = &coll->reactor->bounds.at[BOUND_PLANNED];
	uint32_t steps = (uint32_t)bound->limit, d;
	enum coll_planned opened = coll->opened ? COLL_PLAN_MORE : open_all(coll);

	if (opened != COLL_PLAN_MORE)
		return opened;
	for (d = 0; d < coll->ndisks && coll->state == COLL_PLANNING; d++) {
		if (plan_disk(&coll->disk[d], &steps))
			continue;
		bound_seen(bound, bound->limit);
		bound->hits++;
		return COLL_PLAN_MORE;
	}
	return COLL_PLAN_OVER;
}
