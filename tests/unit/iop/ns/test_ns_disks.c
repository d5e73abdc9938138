// SPDX-License-Identifier: GPL-2.0-only
/* Name space and disks meet: what is remembered, noticed, refused and accepted. */
#include "ut_ns.h"

static enum ns_meeting meet(struct nst *t, struct ddio_disk_id *id, uint32_t flags)
{
	struct ddio_msg_disk_ids x = { .flags = flags, .n = 1, .ids = id };
	enum ns_meeting met = NS_DISK_SAME;
	uint32_t which = 7;

	CU_ASSERT_EQUAL(ns_meet(t->ns, &x, &met, &which), 0);
	CU_ASSERT_EQUAL(which, met == NS_DISK_SAME ? 7 : 0);
	CU_ASSERT_EQUAL(x.names, ns_life(t->ns));
	return met;
}

static void next_life(struct ddio_disk_id *id)
{
	id->before[0] = id->life;
	id->n = 1;
	id->life += 1000;
}

static void test_same_and_next(void)
{
	struct ddio_disk_id id = { .disk = 3, .uuid = { 1 }, .life = 5 };
	struct nst t;

	nst_begin(&t);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	CU_ASSERT_EQUAL(id.lost, 0);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	next_life(&id);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	nst_end(&t);
}

static void test_other_disk(void)
{
	struct ddio_disk_id id = { .disk = 3, .uuid = { 1 }, .life = 5 };
	struct ddio_disk_id other = { .disk = 3, .uuid = { 2 }, .life = 6 };
	struct nst t;

	nst_begin(&t);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	CU_ASSERT_EQUAL(meet(&t, &other, 0), NS_DISK_OTHER);
	CU_ASSERT_EQUAL(meet(&t, &other, DDIO_DISKS_NAMES), NS_DISK_OTHER);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	other.flags = DDIO_DISK_REPLACE;
	CU_ASSERT_EQUAL(meet(&t, &other, 0), NS_DISK_SAME);
	CU_ASSERT_EQUAL(other.lost, t.ns->next);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_OTHER);
	/* The files of before remain lost. */
	other.flags = 0;
	other.lost = 0;
	next_life(&other);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(meet(&t, &other, 0), NS_DISK_SAME);
	CU_ASSERT_NOT_EQUAL(other.lost, 0);
	nst_end(&t);
}

static void test_disk_of_the_past(void)
{
	struct ddio_disk_id id = { .disk = 3, .uuid = { 1 }, .life = 5 }, old = id;
	struct nst t;

	nst_begin(&t);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	next_life(&id);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	/* Put back, it has begun another life than that which followed. */
	next_life(&old);
	old.life++;
	CU_ASSERT_EQUAL(meet(&t, &old, 0), NS_DISK_PAST);
	old.flags = DDIO_DISK_REPLACE;
	CU_ASSERT_EQUAL(meet(&t, &old, 0), NS_DISK_SAME);
	CU_ASSERT_EQUAL(old.lost, t.ns->next);
	nst_end(&t);
}

static void test_forgetting_disk(void)
{
	struct ddio_disk_id id = { .disk = 3, .flags = DDIO_DISK_FORGETS, .uuid = { 1 }, .life = 5 };
	struct nst t;

	nst_begin(&t);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	id.uuid[0] = 2;
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	CU_ASSERT_EQUAL(id.lost, t.ns->next);
	id.uuid[0] = 3;
	id.flags = 0;
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_OTHER);
	nst_end(&t);
}

/* What somebody says who is no disk: that all files were lost which there will ever be. */
static void test_lost_too_much(void)
{
	struct ddio_disk_id id = { .disk = 3, .uuid = { 1 }, .life = 5 }, liar;
	struct ddio_msg_disk_ids x = { .n = 1, .ids = &liar };
	enum ns_meeting met;
	uint32_t which;
	struct nst t;

	nst_begin(&t);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	liar = id;
	liar.lost = t.ns->next + 1;
	CU_ASSERT_EQUAL(ns_meet(t.ns, &x, &met, &which), -ERANGE);
	next_life(&liar);
	CU_ASSERT_EQUAL(ns_meet(t.ns, &x, &met, &which), -ERANGE);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	CU_ASSERT_EQUAL(id.lost, 0);
	id.lost = t.ns->next;
	next_life(&id);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	CU_ASSERT_EQUAL(id.lost, t.ns->next);
	/* An administrator accepts names from a backup, which have given out fewer numbers. */
	liar = id;
	liar.lost = t.ns->next + 1;
	liar.names = ns_life(t.ns) + 1;
	CU_ASSERT_EQUAL(meet(&t, &liar, 0), NS_NAMES_PAST);
	CU_ASSERT_EQUAL(meet(&t, &liar, DDIO_DISKS_NAMES), NS_DISK_SAME);
	ddio_sim_run_for(t.world, 1000000);
	nst_end(&t);
}

static void test_lives(void)
{
	struct ddio_disk_id id = { .disk = 3, .uuid = { 1 }, .life = 5 }, other = id;
	uint64_t first, next, ino;
	struct nst t;

	nst_begin(&t);
	first = ns_life(t.ns);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT(ns_life(t.ns) > first);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	id.names = first;
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	/* A life that this one never had: it was put back from before. */
	id.names = first + 1;
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_NAMES_PAST);
	id.flags = DDIO_DISK_REPLACE;
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_NAMES_PAST);
	id.flags = 0;
	next = t.ns->next;
	CU_ASSERT_EQUAL(meet(&t, &id, DDIO_DISKS_NAMES), NS_DISK_SAME);
	CU_ASSERT(t.ns->next > next + (UINT64_C(1) << 31));
	/* Other nodes' disks come at the same time; numbers are passed over once, and given again when that is durable. */
	other.disk = 4;
	other.names = first + 1;
	CU_ASSERT_EQUAL(meet(&t, &other, DDIO_DISKS_NAMES), NS_DISK_SAME);
	CU_ASSERT(t.ns->next < next + (UINT64_C(1) << 33));
	CU_ASSERT_EQUAL(ns_take_id(t.ns, &ino), -EAGAIN);
	ddio_sim_run_for(t.world, 1000000);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_NAMES_PAST);
	ddio_sim_run_for(t.world, 1000000);
	CU_ASSERT_EQUAL(ns_take_id(t.ns, &ino), 0);
	CU_ASSERT(ino > next + (UINT64_C(1) << 31));
	CU_ASSERT_EQUAL(id.lost, 0);
	nst_commit(&t);
	next = t.ns->next;
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT(t.ns->next >= next);
	nst_end(&t);
}

/* The answer comes when it is durable that numbers are passed over, also while others are being reserved. */
static void test_numbers_stay_passed(void)
{
	struct ddio_disk_id id = { .disk = 3, .uuid = { 1 }, .life = 5 };
	struct nst t;
	uint64_t next;

	nst_begin(&t);
	id.names = ns_life(t.ns) + 1;
	next = t.ns->next = t.ns->limit;
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_NAMES_PAST);
	CU_ASSERT(t.ns->reserve_active);
	CU_ASSERT_EQUAL(meet(&t, &id, DDIO_DISKS_NAMES), NS_DISK_SAME);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	id.names = ns_life(t.ns);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	CU_ASSERT(t.ns->next > next + (UINT64_C(1) << 31));
	ddio_sim_run_for(t.world, 1000000);
	nst_end(&t);
}

/* The name space was put back from before a disk was replaced: one word accepts both. */
static void test_names_before_a_replacement(void)
{
	struct ddio_disk_id first = { .disk = 3, .uuid = { 1 }, .life = 5 };
	struct ddio_disk_id id = { .disk = 3, .uuid = { 2 }, .life = 9 };
	struct nst t;

	nst_begin(&t);
	CU_ASSERT_EQUAL(meet(&t, &first, 0), NS_DISK_SAME);
	id.names = ns_life(t.ns) + 1;
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_NAMES_PAST);
	CU_ASSERT_EQUAL(meet(&t, &id, DDIO_DISKS_NAMES), NS_DISK_SAME);
	CU_ASSERT_EQUAL(id.lost, t.ns->next);
	id.names = ns_life(t.ns);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	CU_ASSERT_EQUAL(meet(&t, &first, 0), NS_DISK_OTHER);
	ddio_sim_run_for(t.world, 1000000);
	nst_end(&t);
}

/* The next life, on that run of the machine; what the last one was is kept, or not. */
static void next_on(struct nst *t, const char *machine, bool kept)
{
	uint64_t before = ns_kept(t->ns), last = ns_life(t->ns);

	CU_ASSERT(before && before <= last);
	t->machine = machine;
	CU_ASSERT_EQUAL_FATAL(nst_reopen(t), 0);
	CU_ASSERT(ns_life(t->ns) > last);
	CU_ASSERT_EQUAL(ns_kept(t->ns), kept ? before : ns_life(t->ns));
}

static void test_kept(void)
{
	struct nst t;

	nst_begin(&t);
	t.sync = true;
	CU_ASSERT_EQUAL(ns_kept(t.ns), ns_life(t.ns));
	/* Nobody knows the run of the machine, or it is another one. */
	next_on(&t, NULL, false);
	next_on(&t, "", false);
	next_on(&t, "a", false);
	next_on(&t, "b", false);
	next_on(&t, NULL, false);
	/* It is the same. */
	next_on(&t, "b", false);
	next_on(&t, "b", true);
	next_on(&t, "b", true);
	/* The last life was stopped in order: that one only. */
	CU_ASSERT_EQUAL(ns_ending(t.ns, 11), 0);
	next_on(&t, "c", true);
	CU_ASSERT(ns_ends(t.ns)->known && ns_ends(t.ns)->n == 1);
	next_on(&t, "d", false);
	CU_ASSERT_EQUAL(ns_ending(t.ns, 12), 0);
	next_on(&t, NULL, true);
	/* What ended in order once has done so for ever. */
	CU_ASSERT(ddio_ends_has(ns_ends(t.ns), 11) && ddio_ends_has(ns_ends(t.ns), 12));
	/* Without flushes nobody knows. */
	t.sync = false;
	next_on(&t, "e", false);
	CU_ASSERT(!ns_ends(t.ns)->known && !ns_ends(t.ns)->n);
	CU_ASSERT_EQUAL(ns_ending(t.ns, 13), 0);
	next_on(&t, "f", false);
	next_on(&t, "f", true);
	nst_end(&t);
}

static void test_last_ends(void)
{
	struct nst t;
	uint64_t i;

	nst_begin(&t);
	t.sync = true;
	CU_ASSERT_EQUAL_FATAL(nst_reopen(&t), 0);
	for (i = 1; i <= DDIO_ENDS + 1; i++) {
		CU_ASSERT(ns_ends(t.ns)->known && !ddio_ends_has(ns_ends(t.ns), i));
		CU_ASSERT_EQUAL(ns_ending(t.ns, i), 0);
		CU_ASSERT_EQUAL_FATAL(nst_reopen(&t), 0);
		CU_ASSERT(ddio_ends_has(ns_ends(t.ns), i));
	}
	CU_ASSERT(!ddio_ends_has(ns_ends(t.ns), 1) && ddio_ends_has(ns_ends(t.ns), 2));
	nst_end(&t);
}

/* A journal that is damaged has lost something, whoever stopped and wherever. */
static void test_kept_of_a_damaged_journal(void)
{
	struct nst t;
	char path[300];
	FILE *f;

	nst_begin(&t);
	next_on(&t, "a", false);
	nst_make(&t, NST_ROOT, "x", S_IFDIR | 0755);
	nst_make(&t, NST_ROOT, "y", S_IFDIR | 0755);
	snprintf(path, sizeof(path), "%s/journal.%d", t.dir, t.ns->kv->journal.at);
	f = fopen(path, "r+b");
	CU_ASSERT_FATAL(f && !fseek(f, KV_JOURNAL_HEAD + 1, SEEK_SET));
	fputc(0xa5, f);
	fclose(f);
	next_on(&t, "a", false);
	next_on(&t, "a", true);
	nst_end(&t);
}

/* Somebody has accepted records of the past: mounts have had answers that these do not know. */
static void test_kept_of_the_past(void)
{
	struct ddio_disk_id id = { .disk = 3, .uuid = { 1 }, .life = 7, .names = 0x99 };
	struct nst t;

	nst_begin(&t);
	next_on(&t, "a", false);
	next_on(&t, "a", true);
	CU_ASSERT_EQUAL(meet(&t, &id, DDIO_DISKS_NAMES), NS_DISK_SAME);
	CU_ASSERT_EQUAL(ns_kept(t.ns), ns_life(t.ns));
	next_on(&t, "a", true);
	nst_end(&t);
}

static const struct ut_case cases[] = {
	{ "the same disk, and its next life", test_same_and_next },
	{ "another disk", test_other_disk },
	{ "a disk of the past", test_disk_of_the_past },
	{ "a disk that forgets", test_forgetting_disk },
	{ "lost too much", test_lost_too_much },
	{ "lives of the name space", test_lives },
	{ "numbers stay passed over", test_numbers_stay_passed },
	{ "names from before a replacement", test_names_before_a_replacement },
	{ "what is kept of earlier lives", test_kept },
	{ "the last ends", test_last_ends },
	{ "what a damaged journal has kept", test_kept_of_a_damaged_journal },
	{ "what records of the past have kept", test_kept_of_the_past },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "disks", cases } };

	return ut_run("ns_disks", suites, 1);
}
