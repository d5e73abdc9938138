// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation of store and configuration fails once (of the name space: test_ns_nomem.c).  Their
 * sources are compiled in here, with the allocator replaced.  Whatever fails, it
 * says so, nothing leaks, and what the records hold afterwards is consistent.
 */
#include "tests/unit/lib/ut_nomem.h"

#include "userlib/conf/conf.c"
#include "userlib/conf/check.c"
#include "userlib/conf/read.c"
#include "userlib/base/opttab.c"
#include "userlib/iop/store/ranges/extent.c"
#include "userlib/iop/store/ranges/freespace.c"
#include "userlib/iop/store/place.c"
#include "userlib/iop/lmdb/committer.c"
#include "userlib/iop/lmdb/env.c"
#include "userlib/iop/store/store.c"
#include "userlib/iop/store/apply.c"
#include "userlib/iop/store/apply_extent.c"
#include "userlib/iop/store/apply_free.c"
#include "userlib/iop/store/blocks.c"
#define grow check_grow
#include "userlib/iop/store/check/check.c"
#include "userlib/iop/store/check/mend.c"
#undef grow
#include "userlib/iop/store/commit.c"
#include "userlib/iop/store/label.c"
#include "userlib/iop/store/list.c"
#include "userlib/iop/store/load.c"
#include "userlib/iop/store/note.c"
#include "userlib/iop/store/object.c"
#define note_freed range_note_freed
#include "userlib/iop/store/range.c"
#undef note_freed
#include "userlib/iop/store/record.c"
#include "userlib/iop/store/reload.c"
#include "userlib/iop/store/space.c"

#undef malloc
#undef calloc
#undef realloc
#undef strdup
#undef strndup

#include "ut_store.h"

#define TRIES 3000
#define BS 4096u
#define SIZE (8 * MIB)

/*
 * Runs @attempt with the nth allocation failing, for every n until none fails.
 * @attempt returns 0 or the first error that it met.
 */
static void sweep(int (*attempt)(void *arg), void *arg, bool may_hide)
{
	unsigned long n;
	int ret;

	for (n = 1; n < TRIES; n++) {
		nomem_failures = 0;
		nomem_countdown = n;
		ret = attempt(arg);
		nomem_countdown = 0;
		if (!nomem_failures) {
			CU_ASSERT_EQUAL(ret, 0);
			break;
		}
		if (!may_hide)
			CU_ASSERT_EQUAL(ret, -ENOMEM);
	}
	CU_ASSERT(n > 1 && n < TRIES);
}

static int first(int old, int ret)
{
	return old ? old : ret;
}

static int object_life(struct ut_store *t, uint64_t id)
{
	struct ddio_file_ref ref = ut_ref(id, BS, (uint32_t)id % DDIO_LAYOUT_MAX_W);
	struct object *obj;
	int ret;

	ret = store_get(t->store, &ref, true, &obj);
	if (ret)
		return ret;
	ret = object_alloc(obj, 0, 20);
	object_written(obj, 2, 5);
	object_written(obj, 8, 3);
	ret = first(ret, ut_store_commit(t));
	ret = first(ret, object_alloc(obj, 30, 4));
	object_written(obj, 30, 4);
	ret = first(ret, object_reserve(obj, 36, 9));
	ret = first(ret, ut_store_commit(t));
	object_written(obj, 38, 2);
	ret = first(ret, object_unwrite(obj, 31, 2));
	ret = first(ret, object_punch(obj, 37, 4));
	ret = first(ret, ut_store_commit(t));
	ret = first(ret, object_punch(obj, 3, UINT64_MAX));
	ret = first(ret, ut_store_commit(t));
	if (id % 2)
		ret = first(ret, object_remove(obj));
	object_put(obj);
	return ret;
}

/* A store from its opening to its end, and again; then, with memory, a look at what is left. */
static int store_life(void *arg)
{
	struct ut_store *t = arg;
	struct ddio_msg_fsck fsck;
	uint64_t ids[4], id;
	int ret, round;

	for (round = 0, ret = 0; round < 2 && !ret; round++) {
		ret = ut_store_open(t);
		if (ret) {
			CU_ASSERT(strlen(t->err) > 0);
			break;
		}
		for (id = 1; id < 6; id++)
			ret = first(ret, object_life(t, id));
		ret = first(ret, store_list(t->store, 0, ids, 4) ? 0 : -ENOMEM);
		ret = first(ret, ut_store_commit(t));
		ret = first(ret, ut_store_check(t->store, false, &fsck));
		ut_store_close(t);
	}
	return ret;
}

static int store_attempt(void *arg)
{
	unsigned long failures;
	struct ut_store t;
	int ret;

	(void)arg;
	ut_store_prepare(&t, SIZE);
	ret = store_life(&t);
	nomem_countdown = 0;
	failures = nomem_failures;
	/* Whatever went wrong, the next start finds records that fit together. */
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	if (t.store) {
		ut_store_clean(&t);
		CU_ASSERT_EQUAL(store_free_bytes(t.store), ut_store_clean(&t));
	}
	ut_store_end(&t);
	nomem_failures = failures;
	return ret;
}

/* A failed allocation may only have kept something from being remembered that can be done without. */
static void test_store(void)
{
	sweep(store_attempt, NULL, true);
}

static int conf_attempt(void *arg)
{
	static const char text[] =
		"[cluster]\nname = x\nkey_file = /k\nnamespace = io0\n"
		"[node io0]\naddress = h:1\nmeta = /m\n"
		"[disk d0]\nnode = io0\npath = /none/p\nengine = mem\n"
		"[disk d1]\nnode = io0\npath = /none/q\noptions = a=b\nbus = s\n";
	struct ddio_conf *conf;
	char err[300];
	int ret;

	(void)arg;
	ret = ddio_conf_parse("t", text, sizeof(text) - 1, &conf, err, sizeof(err));
	CU_ASSERT_EQUAL(!ret, conf != NULL);
	if (ret)
		CU_ASSERT_PTR_NOT_NULL(strstr(err, "out of memory"));
	ddio_conf_free(conf);
	return ret;
}

static void test_conf(void)
{
	sweep(conf_attempt, NULL, false);
}

static const struct ut_case cases[] = {
	{ "store", test_store },
	{ "configuration", test_conf },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "no memory", cases } };

	return ut_run("store_nomem", suites, 1);
}
