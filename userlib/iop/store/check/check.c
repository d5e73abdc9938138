// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks that the records are consistent.  Extents are read and sorted by place; the space between them
 * must be the recorded free space, exactly.  A repair corrects what is recorded wrongly of that, and records of which one bit is
 * wrong.  What cannot be corrected, and the later of two extents that overlap, is lost: each object that it may have been
 * of gets a record that says so, and is refused as long as that is there.  Its space is unknown, and stays taken.  Only
 * when somebody says that it is to be dropped, it reads as zeros.
 *
 * It is done in steps, on the records as they were when it began.  A repair comes at the end, if nothing has changed
 * meanwhile, also in steps; see mend.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/store/check/check.h"

static int check_label(struct store_check *check)
{
	MDB_val k = lmdb_val(STORE_LABEL_KEY, strlen(STORE_LABEL_KEY)), v;
	struct label label = { .flags = 0 };
	int ret;

	ret = lmdb_errno(mdb_get(check->walk.txn, check->store->db.dbi[STORE_META], &k, &v));
	if (!ret)
		ret = rec_label_get(v.mv_data, v.mv_size, &label);
	check->sharing = !ret && label.flags & LABEL_SHARED;
	label.flags &= ~LABEL_SHARED;
	if (!ret && !memcmp(&label, &check->store->label, sizeof(label)))
		return PASS_OVER;
	check_report(check, "the label in the records is %s",
		     ret == -ENOENT ? "missing"
		     : ret	    ? "damaged"
				    : "another disk's");
	return PASS_OVER;
}

/* What is done, in this order: with each record of a database, or something until it says that it is over. */
static const struct store_check_pass {
	int db;
	int (*record)(struct store_check *check, const MDB_val *key, const MDB_val *val);
	int (*step)(struct store_check *check);
} passes[] = {
	{ .step = check_label },
	{ .db = STORE_META, .record = check_meta },
	{ .db = STORE_PENDING, .record = check_pending },
	{ .db = STORE_OBJECTS, .record = check_object },
	{ .db = STORE_EXTENTS, .record = check_extent },
	{ .step = check_gaps },
	{ .db = STORE_SHARED, .record = check_shared },
	{ .step = check_sort_begin },
	{ .step = check_sort_one },
	{ .step = check_overlap },
	{ .step = check_owners },
	{ .db = STORE_SUMS, .record = check_sums },
	{ .db = STORE_FREE, .record = check_free },
	{ .step = check_gap },
	{ .step = check_rest },
};
#define NR_PASSES (sizeof(passes) / sizeof(passes[0]))

static int step(struct store_check *check, const struct store_check_pass *pass)
{
	MDB_val k, v;
	int ret;

	if (pass->step)
		return pass->step(check);
	ret = lmdb_walk_next(&check->walk, check->store->db.dbi[pass->db], &k, &v);
	if (ret == -ENOENT)
		return PASS_OVER;
	return ret ? ret : pass->record(check, &k, &v);
}

static void forget(struct store_check *check)
{
	ranges_fini(&check->recorded);
	ranges_fini(&check->hit);
	ranges_fini(&check->taken);
	shares_fini(&check->owners);
	shares_fini(&check->said);
}

static void restart(struct store_check *check)
{
	forget(check);
	check->said_end = 0;
	check->not_free.n = 0;
	check->to_free.n = 0;
	check->counts.n = 0;
	check->count_bad = false;
	check->nfound = 0;
	check->nbad = 0;
	check->ngaps = 0;
	check->nmarks = 0;
	check->gap_at = 0;
	check->nshadows = 0;
	check->kept = 0;
	check->heads = 0;
	check->sums_id = 0;
	check->sums_bs = 0;
	memset(&check->read, 0, sizeof(check->read));
	check->last = NULL;
	check->behind = LABEL_SPACE;
	check->pass = 0;
	check->at = 0;
	memset(&check->result, 0, sizeof(check->result));
	check->err = lmdb_walk_begin(&check->walk, &check->store->db);
}

int store_check_begin(struct store *store, enum store_repair repair, struct store_check **result)
{
	struct store_check *check;

	*result = NULL;
	if (repair && store_dirty(store))
		return -EBUSY;
	check = calloc(1, sizeof(*check));
	if (!check)
		return -ENOMEM;
	check->store = store;
	check->repair = repair;
	ranges_init(&check->recorded);
	ranges_init(&check->hit);
	ranges_init(&check->taken);
	shares_init(&check->owners);
	shares_init(&check->said);
	restart(check);
	*result = check;
	return 0;
}

static void look(struct store_check *check, uint32_t steps)
{
	int ret;

	if (!check->walk.txn && !check->err) {
		lmdb_walk_end(&check->walk);
		restart(check);
	}
	for (; steps && !check->err && check->pass < NR_PASSES; steps--) {
		ret = step(check, &passes[check->pass]);
		if (ret < 0)
			check->err = ret;
		if (ret != PASS_OVER)
			continue;
		check->pass++;
		check->at = 0;
	}
	check->result.extents = check->nfound;
}

bool store_check_step(struct store_check *check, uint32_t steps)
{
	int ret;

	/* What waits to be free again is free in the records. */
	if (check->repair && store_give(check->store, steps))
		return true;
	if (!check->mending) {
		look(check, steps);
		if (check->err || check->pass < NR_PASSES)
			return !check->err;
		if (!check->repair || !check->result.problems)
			return false;
		check->err = check_mend_begin(check);
		return !check->err;
	}
	ret = check_mend_some(check);
	check->err = ret < 0 ? ret : 0;
	return ret > 0;
}

int store_check_end(struct store_check *check, struct ddio_msg_fsck *result)
{
	int ret = check->err, end = check->mending ? check_mend_end(check) : 0;

	if (!ret)
		ret = end;
	if (result)
		*result = check->result;
	lmdb_walk_end(&check->walk);
	forget(check);
	free(check->not_free.v);
	free(check->to_free.v);
	free(check->counts.v);
	free(check->found);
	free(check->bad);
	free(check->gaps);
	free(check->marks);
	free(check->shadows);
	free(check);
	return ret;
}
