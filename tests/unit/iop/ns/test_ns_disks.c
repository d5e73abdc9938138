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
	uint64_t first, next, ino, at;
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
	/* A client that asked the disk before that brings the same word: nobody is refused for it. */
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	CU_ASSERT_EQUAL(ns_refusal(t.ns, &at), NAMES_GOOD);
	ddio_sim_run_for(t.world, 1000000);
	CU_ASSERT_EQUAL(ns_take_id(t.ns, &ino), 0);
	CU_ASSERT(ino > next + (UINT64_C(1) << 31));
	CU_ASSERT_EQUAL(id.lost, 0);
	nst_commit(&t);
	next = t.ns->next;
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT(t.ns->next >= next);
	/* The disk was never told. */
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_NAMES_PAST);
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

/* A mount that was answered change @answered in life @life, and told that @durable is durable, attaches: what is lost. */
static uint32_t lost(struct nst *t, uint64_t life, uint64_t answered, uint64_t durable)
{
	const struct ddio_msg_fs_attach x = { .life = life,
					      .answered = answered,
					      .durable = durable };
	struct ns_mount mount = { .conns = 0 };

	return ns_lost(t->ns, &mount, &x);
}

static void test_lost_by_number(void)
{
	uint64_t first, second, change, more;
	struct nst t;

	nst_begin(&t);
	first = ns_life(t.ns);
	nst_make(&t, NST_ROOT, "x", S_IFDIR | 0755);
	change = ns_changes(t.ns);
	CU_ASSERT_EQUAL(lost(&t, 0, 0, 0), 0);
	CU_ASSERT_EQUAL(lost(&t, first, change, change), 0);
	CU_ASSERT_EQUAL_FATAL(nst_reopen(&t), 0);
	second = ns_life(t.ns);
	/* The start has found all of it, whatever there is now. */
	nst_make(&t, NST_ROOT, "y", S_IFDIR | 0755);
	more = ns_changes(t.ns);
	CU_ASSERT_EQUAL(lost(&t, first, change, change), 0);
	CU_ASSERT_EQUAL(lost(&t, first, more, change), DDIO_FS_LOST_ANSWERED);
	CU_ASSERT_EQUAL(lost(&t, first, more, more), DDIO_FS_LOST_ALL);
	CU_ASSERT_EQUAL(lost(&t, second, more, change), 0);
	/* A later life that found more says nothing of the one in between. */
	CU_ASSERT_EQUAL_FATAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(lost(&t, first, more, change), DDIO_FS_LOST_ANSWERED);
	CU_ASSERT_EQUAL(lost(&t, second, more, more), 0);
	/* A life that there never was. */
	CU_ASSERT_EQUAL(lost(&t, second + 1, 0, 0), DDIO_FS_LOST_ALL);
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

static void damage(const struct nst *t, long at)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/journal.%d", t->dir, t->ns->kv->journal.at);
	f = fopen(path, "r+b");
	CU_ASSERT_FATAL(f && !fseek(f, at, SEEK_SET));
	fputc(0xa5, f);
	fclose(f);
}

static enum ns_refusal refusal(const struct nst *t)
{
	uint64_t at;

	return ns_refusal(t->ns, &at);
}

static int flush(struct nst *t)
{
	struct ut_commit c;

	ut_commit_init(&c, t->env);
	ns_flush(t->ns, &c.commit);
	return ut_commit_wait(&c);
}

/*
 * A byte of the journal is wrong, and later changes are there: that is damage if the machine has not been down, or if what is
 * missing was durable; otherwise a loss of power may have kept it from the disk.
 */
static void damaged(bool flushed, const char *machine, enum ns_refusal want)
{
	struct ddio_disk_id id = { .disk = 3, .uuid = { 1 }, .life = 5 };
	struct nst t;

	nst_begin(&t);
	t.sync = true;
	t.machine = "first";
	CU_ASSERT_EQUAL_FATAL(nst_reopen(&t), 0);
	nst_make(&t, NST_ROOT, "x", S_IFDIR | 0755);
	nst_make(&t, NST_ROOT, "y", S_IFDIR | 0755);
	CU_ASSERT(!flushed || !flush(&t));
	damage(&t, KV_JOURNAL_HEAD + 1);
	t.machine = machine;
	CU_ASSERT_EQUAL_FATAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(refusal(&t), want);
	/* The next start has nothing to find any more. */
	CU_ASSERT_EQUAL_FATAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(refusal(&t), want);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_DISK_SAME);
	CU_ASSERT_EQUAL(refusal(&t), want);
	CU_ASSERT_EQUAL(meet(&t, &id, DDIO_DISKS_NAMES), NS_DISK_SAME);
	CU_ASSERT_EQUAL(refusal(&t), NAMES_GOOD);
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL_FATAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(refusal(&t), NAMES_GOOD);
	ddio_sim_run_for(t.world, 1000000);
	nst_end(&t);
}

static void test_damaged_journal(void)
{
	damaged(true, "first", NAMES_DAMAGED);
	damaged(true, "second", NAMES_DAMAGED);
	damaged(true, NULL, NAMES_DAMAGED);
	damaged(false, "first", NAMES_DAMAGED);
	damaged(false, "second", NAMES_GOOD);
	damaged(false, NULL, NAMES_GOOD);
}

/* The journal loses records that were flushed. */
static void test_cut_flushed(void)
{
	char path[300];
	struct nst t;

	nst_begin(&t);
	t.sync = true;
	CU_ASSERT_EQUAL_FATAL(nst_reopen(&t), 0);
	nst_make(&t, NST_ROOT, "x", S_IFDIR | 0755);
	CU_ASSERT_EQUAL(flush(&t), 0);
	snprintf(path, sizeof(path), "%s/journal.%d", t.dir, t.ns->kv->journal.at);
	ns_close(t.ns);
	CU_ASSERT_EQUAL(truncate(path, 0), 0);
	CU_ASSERT_EQUAL_FATAL(nst_open(&t), 0);
	CU_ASSERT_EQUAL(refusal(&t), NAMES_DAMAGED);
	nst_end(&t);
}

/* It loses some that were not: only a disk that has heard of them knows. */
static void test_cut_journal(void)
{
	struct ddio_disk_id id = { .disk = 3, .uuid = { 1 }, .life = 5 };
	struct ddio_msg_disk_ids x = { .n = 1, .ids = &id };
	enum ns_meeting met;
	char path[300];
	uint32_t which;
	struct nst t;

	nst_begin(&t);
	t.sync = true;
	CU_ASSERT_EQUAL_FATAL(nst_reopen(&t), 0);
	nst_make(&t, NST_ROOT, "x", S_IFDIR | 0755);
	CU_ASSERT_EQUAL(ns_meet(t.ns, &x, &met, &which), 0);
	CU_ASSERT_EQUAL(x.change, ns_changes(t.ns));
	id.names = x.names;
	id.change = x.change;
	snprintf(path, sizeof(path), "%s/journal.%d", t.dir, t.ns->kv->journal.at);
	ddio_sim_run_for(t.world, 1000000);
	ns_close(t.ns);
	CU_ASSERT_EQUAL(truncate(path, 0), 0);
	CU_ASSERT_EQUAL_FATAL(nst_open(&t), 0);
	CU_ASSERT_EQUAL(refusal(&t), NAMES_GOOD);
	CU_ASSERT_EQUAL(meet(&t, &id, 0), NS_NAMES_PAST);
	CU_ASSERT_EQUAL(refusal(&t), NAMES_OLD);
	CU_ASSERT_EQUAL(meet(&t, &id, DDIO_DISKS_NAMES), NS_DISK_SAME);
	CU_ASSERT_EQUAL(refusal(&t), NAMES_GOOD);
	ddio_sim_run_for(t.world, 1000000);
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
	{ "what is lost of earlier lives", test_lost_by_number },
	{ "the last ends", test_last_ends },
	{ "a damaged journal", test_damaged_journal },
	{ "what was flushed is cut off", test_cut_flushed },
	{ "a journal that was cut", test_cut_journal },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "disks", cases } };

	return ut_run("ns_disks", suites, 1);
}
