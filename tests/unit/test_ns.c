// SPDX-License-Identifier: GPL-2.0-only
/* The name space: names, removal in two steps, identifiers, listing. */
#include <errno.h>
#include "iop/ns_priv.h"
#include "ut_ns.h"

static void test_create(void)
{
	struct ddio_file_record rec = record("a"), found;
	struct nst t;

	nst_begin(&t);
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &rec), 0);
	CU_ASSERT(rec.ref.id != 0 && rec.ref.seed != 0 && rec.ctime_ns != 0);
	CU_ASSERT_EQUAL(rec.ctime_ns, rec.mtime_ns);
	CU_ASSERT_EQUAL(ddio_ns_lookup(t.ns, "a", 0, &found), 0);
	CU_ASSERT_EQUAL(found.ref.id, rec.ref.id);
	CU_ASSERT_EQUAL(found.ref.seed, rec.ref.seed);
	CU_ASSERT_EQUAL(found.ndisks, 3);
	CU_ASSERT_EQUAL(found.disks[2], 5);
	ddio_file_record_free(&found);
	found = record("a");
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &found), -EEXIST);
	CU_ASSERT_EQUAL(found.ref.id, 0);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &found), -EEXIST);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &found), -EEXIST);
	CU_ASSERT_EQUAL(ddio_ns_lookup(t.ns, NULL, rec.ref.id, &found), 0);
	CU_ASSERT_STRING_EQUAL(found.name, "a");
	CU_ASSERT_EQUAL(found.disks[0], 2);
	CU_ASSERT_EQUAL(found.ctime_ns, rec.ctime_ns);
	ddio_file_record_free(&found);
	clean(&t, 1);
	nst_end(&t);
}

static void test_bad_records(void)
{
	static const char *const bad[] = { "", ".", "..", "a/b", "a\nb", "\x7f" };
	struct ddio_file_record rec;
	char longest[DDIO_MAX_NAME + 1];
	struct nst t;
	size_t i;

	nst_begin(&t);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(create(&t, bad[i]), 0);
	memset(longest, 'x', DDIO_MAX_NAME);
	longest[DDIO_MAX_NAME] = '\0';
	CU_ASSERT_NOT_EQUAL(create(&t, longest), 0);
	CU_ASSERT_NOT_EQUAL(create(&t, "sm\xc3\xb8rbr\xc3\xb8"
				       "d"),
			    0);
	rec = record("x");
	memset(rec.name, 'y', sizeof(rec.name));
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &rec), -EINVAL);
	rec = record("x");
	rec.ref.block = 1000;
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &rec), -EINVAL);
	rec = record("x");
	rec.ndisks = 0;
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &rec), -EINVAL);
	rec = record("x");
	rec.ref.layout = DDIO_LAYOUT_MAX_W;
	CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &rec), -EINVAL);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_NOT_EQUAL(lookup(&t, longest), 0);
	clean(&t, 2);
	nst_end(&t);
}

static void remove_steps(struct nst *t, bool durable)
{
	struct ddio_file_record rec;
	uint64_t id = create(t, "a"), next;

	if (durable)
		CU_ASSERT_EQUAL(nst_commit(t), 0);
	CU_ASSERT_EQUAL(ddio_ns_remove_done(t->ns, id), -EBUSY);
	CU_ASSERT_EQUAL(ddio_ns_remove(t->ns, "a", &rec), 0);
	CU_ASSERT_EQUAL(rec.ref.id, id);
	CU_ASSERT_EQUAL(rec.dying, 1);
	CU_ASSERT_EQUAL(rec.ndisks, 3);
	ddio_file_record_free(&rec);
	if (durable) {
		CU_ASSERT_EQUAL(nst_commit(t), 0);
		CU_ASSERT_EQUAL(nst_reopen(t), 0);
	}
	CU_ASSERT_EQUAL(lookup(t, "a"), 0);
	CU_ASSERT_EQUAL(ddio_ns_lookup(t->ns, NULL, id, &rec), -ENOENT);
	CU_ASSERT_EQUAL(ddio_ns_set_size(t->ns, id, 5, true), -ENOENT);
	/* The name is free; asking again finds the removal that is under way. */
	next = create(t, "a");
	CU_ASSERT(next > id);
	CU_ASSERT_EQUAL(lookup(t, "a"), next);
	CU_ASSERT_EQUAL(mark(t, "a"), 0);
	CU_ASSERT_EQUAL(mark(t, "a"), 0);
	CU_ASSERT_EQUAL(ddio_ns_remove_done(t->ns, next), 0);
	CU_ASSERT_EQUAL(ddio_ns_remove(t->ns, "a", &rec), 0);
	CU_ASSERT_EQUAL(rec.ref.id, id);
	ddio_file_record_free(&rec);
	CU_ASSERT_EQUAL(ddio_ns_remove_done(t->ns, id), 0);
	CU_ASSERT_EQUAL(ddio_ns_remove_done(t->ns, id), -ENOENT);
	CU_ASSERT_EQUAL(ddio_ns_remove(t->ns, "a", &rec), -ENOENT);
	CU_ASSERT_EQUAL(nst_commit(t), 0);
	CU_ASSERT_EQUAL(nst_reopen(t), 0);
	CU_ASSERT_EQUAL(ddio_ns_remove(t->ns, "a", &rec), -ENOENT);
	clean(t, 0);
}

static void test_remove(void)
{
	struct nst t;

	nst_begin(&t);
	remove_steps(&t, false);
	remove_steps(&t, true);
	nst_end(&t);
}

static uint64_t size_of(struct nst *t, uint64_t id)
{
	struct ddio_file_record rec;
	uint64_t size = UINT64_MAX;

	if (!ddio_ns_lookup(t->ns, NULL, id, &rec))
		size = rec.size;
	ddio_file_record_free(&rec);
	return size;
}

static void test_size(void)
{
	struct nst t;
	uint64_t id;

	nst_begin(&t);
	id = create(&t, "a");
	CU_ASSERT_EQUAL(ddio_ns_set_size(t.ns, id, 5ull << 40, false), 0);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(ddio_ns_set_size(t.ns, id, 7, false), 0);
	CU_ASSERT_EQUAL(size_of(&t, id), 5ull << 40);
	CU_ASSERT_EQUAL(ddio_ns_set_size(t.ns, id, 7, true), 0);
	CU_ASSERT_EQUAL(size_of(&t, id), 7);
	CU_ASSERT_EQUAL(ddio_ns_set_size(t.ns, id, DDIO_MAX_FILE + 1, false), -EFBIG);
	CU_ASSERT_EQUAL(ddio_ns_set_size(t.ns, id + 1, 7, true), -ENOENT);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(size_of(&t, id), 7);
	nst_end(&t);
}

/* Identifiers that were handed out do not come again, committed or not. */
static void test_identifiers(void)
{
	uint64_t last = 0, id, i, round;
	struct nst t;
	char name[32];

	nst_begin(&t);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 10; i++) {
			snprintf(name, sizeof(name), "%d-%d", (int)round, (int)i);
			id = create(&t, name);
			CU_ASSERT(id > last);
			last = id;
		}
		CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	}
	nst_end(&t);
}

/* Far more files than are reserved at once; the reserve is renewed on the way. */
static void test_reserve(void)
{
	uint64_t last = 0, id, i, refused = 0;
	struct nst t;
	char name[32];

	nst_begin(&t);
	for (i = 0; i < 3 * DDIO_NS_RESERVE; i++) {
		snprintf(name, sizeof(name), "f%06d", (int)i);
		id = create(&t, name);
		CU_ASSERT(id > last);
		last = id;
		if (i % 512 == 511)
			ddio_sim_run_for(t.world, 1000000);
	}
	/* Without a moment for it to be renewed it ends. */
	for (i = 0; i < 2 * DDIO_NS_RESERVE && !refused; i++) {
		struct ddio_file_record rec;

		snprintf(name, sizeof(name), "g%06d", (int)i);
		rec = record(name);
		refused = ddio_ns_create(t.ns, &rec) == -EAGAIN;
	}
	CU_ASSERT_EQUAL(refused, 1);
	ddio_sim_run_for(t.world, 1000000000);
	CU_ASSERT(create(&t, "h") > last);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	clean(&t, 3 * DDIO_NS_RESERVE + i);
	nst_end(&t);
}

/* All names, page by page. */
static unsigned int list_all(struct nst *t, uint32_t max, char names[][32], unsigned int cap)
{
	struct ddio_msg_ns_listing page;
	char after[DDIO_MAX_NAME + 1] = "";
	unsigned int n = 0, i;
	bool more = true;

	while (more) {
		CU_ASSERT_EQUAL_FATAL(ddio_ns_list(t->ns, after, max, &page), 0);
		CU_ASSERT(page.n <= max);
		CU_ASSERT(page.n > 0 || !page.more);
		for (i = 0; i < page.n && n < cap; i++) {
			snprintf(names[n++], 32, "%.30s%s", page.recs[i].name,
				 page.recs[i].dying ? "!" : "");
			snprintf(after, sizeof(after), "%s", page.recs[i].name);
		}
		more = page.more;
		ddio_ns_listing_free(&page);
	}
	return n;
}

static void test_list(void)
{
	static char names[100][32];
	struct ddio_msg_ns_listing page;
	uint32_t max;
	struct nst t;
	int i;

	nst_begin(&t);
	CU_ASSERT_EQUAL(list_all(&t, 10, names, 100), 0);
	for (i = 0; i < 20; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%02d", (i * 7) % 20);
		CU_ASSERT_NOT_EQUAL(create(&t, name), 0);
		if (i == 11)
			CU_ASSERT_EQUAL(nst_commit(&t), 0);
	}
	/* Of f03 there are three: two dying, one living. */
	CU_ASSERT_EQUAL(mark(&t, "f03"), 0);
	CU_ASSERT_NOT_EQUAL(create(&t, "f03"), 0);
	CU_ASSERT_EQUAL(mark(&t, "f03"), 0);
	CU_ASSERT_NOT_EQUAL(create(&t, "f03"), 0);
	for (max = 3; max < 30; max++) {
		CU_ASSERT_EQUAL(list_all(&t, max, names, 100), 22);
		CU_ASSERT_STRING_EQUAL(names[0], "f00");
		CU_ASSERT_STRING_EQUAL(names[3], "f03!");
		CU_ASSERT_STRING_EQUAL(names[4], "f03!");
		CU_ASSERT_STRING_EQUAL(names[5], "f03");
		CU_ASSERT_STRING_EQUAL(names[6], "f04");
		CU_ASSERT_STRING_EQUAL(names[21], "f19");
	}
	CU_ASSERT_EQUAL(ddio_ns_list(t.ns, "f18", 10, &page), 0);
	CU_ASSERT_EQUAL(page.n, 1);
	ddio_ns_listing_free(&page);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(list_all(&t, 5, names, 100), 22);
	clean(&t, 22);
	nst_end(&t);
}

/* Records so long that a page must be cut by its bytes. */
static void test_list_long_records(void)
{
	uint32_t *disks = calloc(DDIO_MAX_DISKS, sizeof(*disks)), i;
	struct ddio_msg_ns_listing page;
	struct ddio_file_record rec;
	static char names[20][32];
	struct nst t;
	char name[8];

	CU_ASSERT_PTR_NOT_NULL_FATAL(disks);
	for (i = 0; i < DDIO_MAX_DISKS; i++)
		disks[i] = i;
	nst_begin(&t);
	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		rec = record(name);
		rec.ndisks = DDIO_MAX_DISKS;
		rec.disks = disks;
		CU_ASSERT_EQUAL(ddio_ns_create(t.ns, &rec), 0);
	}
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(ddio_ns_list(t.ns, "", 20, &page), 0);
	CU_ASSERT(page.n < 10 && page.n > 0 && page.more);
	CU_ASSERT(ddio_put_ns_listing(NULL, 0, &page) <= (ssize_t)DDIO_MAX_SMALL);
	ddio_ns_listing_free(&page);
	CU_ASSERT_EQUAL(list_all(&t, 20, names, 20), 10);
	nst_end(&t);
	free(disks);
}

static void test_refused(void)
{
	struct ddio_ns *second;
	struct nst t;
	char err[300];

	nst_begin(&t);
	CU_ASSERT_EQUAL(ddio_ns_open(t.env, t.dir, "demo", false, &second, err, sizeof(err)),
			-EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, "in use"));
	ddio_ns_close(t.ns);
	t.ns = NULL;
	CU_ASSERT_EQUAL(ddio_ns_open(t.env, t.dir, "prod", false, &second, err, sizeof(err)),
			-EMEDIUMTYPE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, "found cluster demo, expected cluster prod"));
	CU_ASSERT_EQUAL(nst_open(&t), 0);
	nst_end(&t);
}

static const struct ut_case names[] = {
	{ "create", test_create },
	{ "bad records", test_bad_records },
	{ "remove in two steps", test_remove },
	{ "size", test_size },
	{ "identifiers", test_identifiers },
	{ "reserve of identifiers", test_reserve },
	{ "list", test_list },
	{ "list of long records", test_list_long_records },
	{ "refused", test_refused },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "names", names } };

	return ut_run("ns", suites, 1);
}
