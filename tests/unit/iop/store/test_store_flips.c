// SPDX-License-Identifier: GPL-2.0-only
/*
 * One wrong bit in the records of a disk: each block is found where it lies, or its object is refused; and after a repair
 * all are found, since a bit can be corrected.
 */
#include <errno.h>
#include <fcntl.h>
#include "base/rand.h"
#include "iop/store/priv.h"
#include "tests/unit/iop/store/ut_store.h"

enum { OBJECTS = 70, FLIPS = 1000, BLOCK = 4096 };

struct store_flips {
	struct ut_store t;
	char path[300];
	struct extent_map maps[OBJECTS + 1];
	uint64_t rand;
	int refused, failed;
};

static void begin(struct store_flips *w)
{
	struct object *obj;
	uint32_t i, k;

	memset(w, 0, sizeof(*w));
	w->rand = 5;
	ut_store_begin(&w->t, 64 * MIB);
	snprintf(w->path, sizeof(w->path), "%s/data.mdb", w->t.recs);
	for (k = 0; k < 6; k++) {
		for (i = 1; i <= OBJECTS; i++) {
			obj = ut_object(&w->t, i * 3, BLOCK, 0, true);
			CU_ASSERT_EQUAL(ut_fill(obj, k * 2, 1), 0);
			object_put(obj);
		}
		CU_ASSERT_EQUAL(ut_store_commit(&w->t), 0);
	}
	for (i = 1; i <= OBJECTS; i++) {
		obj = ut_object(&w->t, i * 3, BLOCK, 0, false);
		CU_ASSERT_EQUAL(extent_map_add(&w->maps[i], obj->map.v, obj->map.n, BLOCK), 0);
		object_put(obj);
	}
	ut_store_close(&w->t);
}

static void end(struct store_flips *w)
{
	uint32_t i;

	for (i = 1; i <= OBJECTS; i++)
		extent_map_fini(&w->maps[i]);
	ut_store_end(&w->t);
}

static bool same_places(const struct extent_map *a, const struct extent_map *b)
{
	size_t i;

	for (i = 0; i < a->n && i < b->n; i++)
		if (a->v[i].block != b->v[i].block || a->v[i].start != b->v[i].start ||
		    a->v[i].count != b->v[i].count)
			return false;
	return a->n == b->n;
}

/* Objects are asked for as a reader does; one that is not there would be read as a hole. */
static void check_objects(struct store_flips *w, uint64_t bit)
{
	struct ddio_file_ref ref;
	struct object *obj;
	uint32_t i;
	bool same;

	for (i = 1; i <= OBJECTS; i++) {
		ref = ut_ref(i * 3, BLOCK, 0);
		if (store_get(w->t.store, &ref, true, &obj)) {
			w->failed++;
			continue;
		}
		same = same_places(&obj->map, &w->maps[i]);
		CU_ASSERT(same);
		if (!same)
			printf("bit %llu: object %u is wrong\n", (unsigned long long)bit, i * 3);
		object_put(obj);
	}
}

static void check_repaired(struct store_flips *w, uint64_t bit)
{
	int failed = w->failed;
	struct ddio_msg_fsck fsck;

	CU_ASSERT_EQUAL(ut_store_check(w->t.store, STORE_REPAIR, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.repaired, fsck.problems);
	check_objects(w, bit);
	CU_ASSERT_EQUAL(w->failed, failed);
	CU_ASSERT_EQUAL(ut_store_reopen(&w->t), 0);
	check_objects(w, bit);
	CU_ASSERT_EQUAL(w->failed, failed);
	ut_store_clean(&w->t);
}

static void flip(int fd, uint64_t bit)
{
	uint8_t byte;

	CU_ASSERT_EQUAL(pread(fd, &byte, 1, (off_t)(bit / 8)), 1);
	byte ^= (uint8_t)(1 << bit % 8);
	CU_ASSERT_EQUAL(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
}

static void test_flips(void)
{
	unsigned int n = ut_rounds(FLIPS);
	struct store_flips w;
	char sound[300];
	struct stat st;
	uint64_t bit;
	int fd;

	begin(&w);
	snprintf(sound, sizeof(sound), "%s/sound", w.t.top);
	ut_copy_file(w.path, sound);
	while (n--) {
		ut_copy_file(sound, w.path);
		fd = open(w.path, O_RDWR);
		CU_ASSERT_FATAL(fd >= 0 && !fstat(fd, &st));
		bit = ddio_rand_below(&w.rand, (uint64_t)st.st_size * 8);
		flip(fd, bit);
		close(fd);
		if (ut_store_open(&w.t)) {
			CU_ASSERT_PTR_NOT_NULL(strstr(w.t.err, "d0"));
			w.refused++;
		} else {
			check_objects(&w, bit);
			check_repaired(&w, bit);
			ut_store_close(&w.t);
		}
	}
	CU_ASSERT(w.refused + w.failed > 0);
	if (ut_rounds(FLIPS) == FLIPS)
		CU_ASSERT(w.refused && w.failed);
	end(&w);
}

static const struct ut_case cases[] = {
	{ "a bit of the records", test_flips },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "wrong bits", cases } };

	return ut_run("test_store_flips", suites, 1);
}
