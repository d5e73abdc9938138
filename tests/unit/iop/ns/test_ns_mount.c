// SPDX-License-Identifier: GPL-2.0-only
/* Mounts: what is open stays, mounts that are lost, restarts, requests that are made again. */
#include "ut_ns.h"

static const uint8_t ids[3][DDIO_GROUP_ID_LEN] = { { 1 }, { 2 }, { 3 } };

static struct ns_mount *attach(struct nst *t, int i, bool *known)
{
	struct ns_mount *m = NULL;
	bool ignored;

	CU_ASSERT_EQUAL_FATAL(ns_mount_attach(t->ns, ids[i], &m, known ? known : &ignored), 0);
	return m;
}

static int open_file(struct nst *t, struct ns_mount *m, uint64_t ino, bool again)
{
	struct inode in;
	int ret = ns_open_file(t->ns, m, ino, again, &in);

	inode_free(&in);
	return ret;
}

/* Return: what is to be removed, or 0. */
static uint64_t release(struct nst *t, struct ns_mount *m, uint64_t ino)
{
	struct ns_left left;
	uint64_t id;

	CU_ASSERT_EQUAL(ns_release(t->ns, m, ino, &left), 0);
	id = left.any ? left.rec.ref.id : 0;
	ddio_file_record_free(&left.rec);
	return id;
}

static uint32_t orphans(struct nst *t)
{
	struct ddio_msg_ns_listing out;
	uint64_t after = 0;
	uint32_t n;

	CU_ASSERT_EQUAL_FATAL(ns_orphans(t->ns, &after, 100, &out), 0);
	n = out.n;
	ddio_ns_listing_free(&out);
	return n;
}

/* A listing of orphans looks at so many that are open, and says where to go on, if it has found no other. */
static void test_orphans_in_turns(void)
{
	enum { OPEN = 20, LOOKS = 8 };
	struct ddio_msg_ns_listing out;
	uint64_t f, after = 0;
	struct ns_mount *m;
	char name[16];
	struct nst t;
	uint32_t i, turns = 0;

	nst_begin(&t);
	t.ns->bounds->at[BOUND_LISTED].limit = LOOKS;
	m = attach(&t, 0, NULL);
	for (i = 0; i <= OPEN; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		f = nst_file(&t, NST_ROOT, name);
		CU_ASSERT_EQUAL(nst_data(&t, f, 1), 0);
		if (i < OPEN)
			CU_ASSERT_EQUAL(open_file(&t, m, f, false), 0);
		CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, name), 0);
	}
	do {
		turns++;
		CU_ASSERT_EQUAL_FATAL(ns_orphans(t.ns, &after, 10, &out), 0);
	} while (!out.n && out.more);
	CU_ASSERT(out.n == 1 && out.recs[0].ref.id == f && !out.more);
	CU_ASSERT_EQUAL(turns, OPEN / LOOKS + 1);
	CU_ASSERT_EQUAL(t.ns->bounds->at[BOUND_LISTED].most, LOOKS);
	ddio_ns_listing_free(&out);
	/* Nothing is wanted: there is no next turn. */
	after = 0;
	CU_ASSERT_EQUAL(ns_orphans(t.ns, &after, 0, &out), 0);
	CU_ASSERT(!out.n && !out.more);
	nst_end(&t);
}

static void test_open(void)
{
	struct ns_mount *a, *b;
	uint64_t f, left;
	struct nst t;

	nst_begin(&t);
	a = attach(&t, 0, NULL);
	b = attach(&t, 1, NULL);
	f = nst_file(&t, NST_ROOT, "f");
	CU_ASSERT_EQUAL(nst_data(&t, f, 100), 0);
	CU_ASSERT_EQUAL(open_file(&t, a, f, false), 0);
	CU_ASSERT_EQUAL(open_file(&t, a, f, false), 0); /* a set, no count */
	CU_ASSERT_EQUAL(open_file(&t, b, f, false), 0);
	CU_ASSERT_EQUAL(nst_unlink_as(&t, NST_ROOT, "f", 0, &left), 0);
	CU_ASSERT_EQUAL(left, 0);
	CU_ASSERT_EQUAL(ns_gone(t.ns, f), -EBUSY);
	CU_ASSERT_EQUAL(nst_attr(&t, f).size, 100);
	CU_ASSERT_EQUAL(orphans(&t), 0);
	CU_ASSERT_EQUAL(release(&t, a, f), 0);
	CU_ASSERT_EQUAL(open_file(&t, a, f, false), -ENOENT);
	CU_ASSERT_EQUAL(release(&t, b, f), f);
	CU_ASSERT_EQUAL(release(&t, b, f), f); /* asked again: told again */
	CU_ASSERT_EQUAL(orphans(&t), 1);
	CU_ASSERT_EQUAL(ns_gone(t.ns, f), 0);
	CU_ASSERT_EQUAL(release(&t, b, f), 0);
	/* without data it is gone with the last one that has it open */
	f = nst_file(&t, NST_ROOT, "g");
	CU_ASSERT_EQUAL(open_file(&t, a, f, false), 0);
	CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "g"), 0);
	CU_ASSERT_EQUAL(nst_attr(&t, f).nlink, 0);
	CU_ASSERT_EQUAL(nst_attr(&t, f).ino, f);
	CU_ASSERT_EQUAL(release(&t, a, f), 0);
	CU_ASSERT_EQUAL(nst_attr(&t, f).ino, 0);
	CU_ASSERT_EQUAL(open_file(&t, a, f, true), -ESTALE);
	nst_clean(&t, 0);
	nst_end(&t);
}

/* A mount without a connection for too long loses what it has open. */
static void test_lost(void)
{
	struct ns_mount *a;
	bool known;
	uint64_t f;
	struct nst t;

	nst_begin(&t);
	a = attach(&t, 0, &known);
	CU_ASSERT_FALSE(known);
	ns_mount_told(t.ns, a);
	f = nst_file(&t, NST_ROOT, "f");
	CU_ASSERT_EQUAL(nst_data(&t, f, 1), 0);
	CU_ASSERT_EQUAL(open_file(&t, a, f, false), 0);
	CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "f"), 0);
	ns_mount_detach(t.ns, a, ddio_env_now(t.env));
	ddio_sim_run_for(t.world, NST_TIMEOUT / 2);
	a = attach(&t, 0, &known);
	CU_ASSERT_TRUE(known);
	ddio_sim_run_for(t.world, NST_TIMEOUT * 2);
	CU_ASSERT_EQUAL(orphans(&t), 0);
	ns_mount_detach(t.ns, a, ddio_env_now(t.env));
	ddio_sim_run_for(t.world, NST_TIMEOUT + 1000000000);
	CU_ASSERT_EQUAL(orphans(&t), 1);
	attach(&t, 0, &known);
	CU_ASSERT_FALSE(known);
	nst_end(&t);
}

/* The timeout counts from when any connection was last heard, though the last one that goes was silent for longer. */
static void test_heard_elsewhere(void)
{
	struct ns_mount *a;
	bool known;
	struct nst t;
	uint64_t at;

	nst_begin(&t);
	a = attach(&t, 0, NULL);
	ns_mount_told(t.ns, a);
	at = ddio_env_now(t.env);
	ddio_sim_run_for(t.world, NST_TIMEOUT / 2);
	CU_ASSERT_PTR_EQUAL(attach(&t, 0, NULL), a);
	ddio_sim_run_for(t.world, NST_TIMEOUT / 2);
	ns_mount_detach(t.ns, a, ddio_env_now(t.env));
	ns_mount_detach(t.ns, a, at);
	ddio_sim_run_for(t.world, NST_TIMEOUT / 2);
	attach(&t, 0, &known);
	CU_ASSERT_TRUE(known);
	nst_end(&t);
}

/*
 * Whoever is told to remove an inode's objects has it alone: a mount that had it open, was silent for too long and
 * comes back finds it gone, also if the name server is restarted in between
 */
enum naming { LISTED, UNLINKED, UNLINKED_TWICE, CLOSED, ASKED, NAMINGS };

static void remove_begin(struct nst *t, uint64_t ino)
{
	struct inode in;

	CU_ASSERT_EQUAL(ns_remove_begin(t->ns, ino, &in), 0);
	inode_free(&in);
}

static void named(struct nst *t, enum naming how, struct ns_mount *b, uint64_t f)
{
	const struct ddio_msg_fs_name x = { .parent = NST_ROOT, .name = "f", .seq = { 1, 0 } };
	struct ns_left left;
	int i;

	if (how == LISTED)
		CU_ASSERT_EQUAL(orphans(t), 1);
	if (how == ASKED)
		remove_begin(t, f);
	if (how == CLOSED)
		CU_ASSERT_EQUAL(release(t, b, f), f);
	for (i = UNLINKED; i <= (int)how && how <= UNLINKED_TWICE; i++) {
		CU_ASSERT_EQUAL(ns_unlink(t->ns, b, &x, &left, NULL), 0);
		CU_ASSERT_EQUAL(left.any, true);
		ddio_file_record_free(&left.rec);
	}
}

static void comes_back(enum naming how, bool restart)
{
	struct ns_mount *a, *b;
	struct nst t;
	uint64_t f;

	nst_begin(&t);
	a = attach(&t, 0, NULL);
	b = attach(&t, 1, NULL);
	f = nst_file(&t, NST_ROOT, "f");
	CU_ASSERT_EQUAL(nst_data(&t, f, 1), 0);
	CU_ASSERT_EQUAL(open_file(&t, a, f, false), 0);
	if (how == CLOSED)
		CU_ASSERT_EQUAL(open_file(&t, b, f, false), 0);
	if (how != UNLINKED && how != UNLINKED_TWICE)
		CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "f"), 0);
	ns_mount_detach(t.ns, a, ddio_env_now(t.env));
	ddio_sim_run_for(t.world, NST_TIMEOUT + 1000000000);
	named(&t, how, b, f);
	if (restart)
		CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	a = attach(&t, 0, NULL);
	CU_ASSERT_EQUAL(open_file(&t, a, f, true), -ESTALE);
	CU_ASSERT_EQUAL(open_file(&t, a, f, false), -ENOENT);
	ns_mount_told(t.ns, a);
	if (restart)
		ns_mount_told(t.ns, attach(&t, 1, NULL));
	CU_ASSERT_EQUAL(ns_gone(t.ns, f), 0);
	nst_clean(&t, 0);
	nst_end(&t);
}

static void test_comes_back(void)
{
	int how;

	for (how = 0; how < NAMINGS; how++) {
		comes_back(how, false);
		comes_back(how, true);
	}
}

/* As long as nobody was told, a mount that comes back has its file again. */
static void test_back_in_time(void)
{
	struct ns_mount *a;
	struct nst t;
	uint64_t f;

	nst_begin(&t);
	a = attach(&t, 0, NULL);
	f = nst_file(&t, NST_ROOT, "f");
	CU_ASSERT_EQUAL(nst_data(&t, f, 1), 0);
	CU_ASSERT_EQUAL(open_file(&t, a, f, false), 0);
	CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "f"), 0);
	ns_mount_detach(t.ns, a, ddio_env_now(t.env));
	ddio_sim_run_for(t.world, NST_TIMEOUT + 1000000000);
	a = attach(&t, 0, NULL);
	CU_ASSERT_EQUAL(open_file(&t, a, f, true), 0);
	CU_ASSERT_EQUAL(orphans(&t), 0);
	CU_ASSERT_EQUAL(ns_gone(t.ns, f), -EBUSY);
	CU_ASSERT_EQUAL(release(&t, a, f), f);
	CU_ASSERT_EQUAL(ns_gone(t.ns, f), 0);
	nst_end(&t);
}

static void settled(void *ctx)
{
	++*(int *)ctx;
}

static bool lost(void *ctx, struct ns_mount *mount, uint64_t *steps)
{
	(void)ctx;
	(void)mount;
	(void)steps;
	return true;
}

static const struct ns_mount_ops watch = { .lost = lost, .settled = settled };

/* After a restart orphans wait until every mount has told what it has open. */
static void restart(bool both_come)
{
	struct ns_mount *a, *b;
	int calls = 0;
	bool known;
	uint64_t f;
	struct nst t;

	nst_begin(&t);
	a = attach(&t, 0, NULL);
	b = attach(&t, 1, NULL);
	f = nst_file(&t, NST_ROOT, "f");
	CU_ASSERT_EQUAL(nst_data(&t, f, 1), 0);
	CU_ASSERT_EQUAL(open_file(&t, a, f, false), 0);
	CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "f"), 0);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	ns_mount_watch(t.ns, &watch, &calls);
	CU_ASSERT(ns_grace(t.ns) > 0);
	CU_ASSERT_EQUAL(orphans(&t), 0);
	CU_ASSERT_EQUAL(ns_gone(t.ns, f), -EBUSY);
	a = attach(&t, 0, &known);
	CU_ASSERT_FALSE(known);
	CU_ASSERT_EQUAL(open_file(&t, a, f, true), 0);
	ns_mount_told(t.ns, a);
	CU_ASSERT(ns_grace(t.ns) > 0);
	if (both_come) {
		b = attach(&t, 1, NULL);
		ns_mount_told(t.ns, b);
	} else {
		ddio_sim_run_for(t.world, NST_TIMEOUT + 1000000000);
	}
	CU_ASSERT_EQUAL(ns_grace(t.ns), 0);
	CU_ASSERT_EQUAL(calls, 1);
	CU_ASSERT_EQUAL(orphans(&t), 0);
	CU_ASSERT_EQUAL(release(&t, a, f), f);
	/* a mount that ends properly is not waited for */
	CU_ASSERT_EQUAL(nst_mount_end(&t, a), 0);
	if (both_come)
		CU_ASSERT_EQUAL(nst_mount_end(&t, b), 0);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(ns_grace(t.ns), 0);
	CU_ASSERT_EQUAL(orphans(&t), 1);
	nst_end(&t);
}

static void test_restart(void)
{
	restart(true);
	restart(false);
}

static int make(struct nst *t, struct ns_mount *m, uint64_t seq, uint64_t upto, const char *name,
		uint64_t *ino)
{
	struct ddio_msg_fs_make x = { .seq = { seq, upto },
				      .parent = NST_ROOT,
				      .mode = S_IFREG | 0600,
				      .flags = DDIO_FS_MAKE_EXCL };
	struct inode in;
	bool made;
	int ret;

	snprintf(x.name, sizeof(x.name), "%s", name);
	ret = ns_make(t->ns, m, &x, NULL, &in, &made, NULL);
	*ino = in.ino;
	CU_ASSERT(ret || made);
	inode_free(&in);
	return ret;
}

static uint32_t results(struct nst *t)
{
	struct kv_cursor c;
	uint32_t n = 0;
	int ret;

	for (ret = kv_first(&c, t->ns->kv, NS_DONE, "", 0); !ret; ret = kv_next(&c))
		n++;
	kv_cursor_close(&c);
	return n;
}

static void test_again(void)
{
	struct ddio_msg_fs_name un = { .seq = { 2, 0 }, .parent = NST_ROOT, .name = "a" };
	struct ddio_msg_fs_append ap = { .seq = { 3, 0 }, .len = 10 }, more;
	struct ddio_msg_fs_rename rn = { .seq = { 5, 0 },
					 .parent = NST_ROOT,
					 .new_parent = NST_ROOT,
					 .name = "b",
					 .new_name = "c" };
	struct ns_mount *a, *b;
	struct ns_left left;
	struct inode in;
	uint64_t f, g, at;
	struct nst t;
	int round;

	nst_begin(&t);
	a = attach(&t, 0, NULL);
	b = attach(&t, 1, NULL);
	CU_ASSERT_EQUAL(make(&t, a, 1, 0, "a", &f), 0);
	CU_ASSERT_EQUAL(make(&t, a, 1, 0, "a", &g), 0);
	CU_ASSERT_EQUAL(f, g);
	CU_ASSERT_EQUAL(make(&t, b, 1, 0, "a", &g), -EEXIST); /* another's number */
	CU_ASSERT_EQUAL(nst_data(&t, f, 1), 0);
	/* also over a restart */
	for (round = 0; round < 2; round++) {
		CU_ASSERT_EQUAL(ns_unlink(t.ns, a, &un, &left, NULL), 0);
		CU_ASSERT(left.any && left.rec.ref.id == f);
		ddio_file_record_free(&left.rec);
		CU_ASSERT_EQUAL(nst_reopen(&t), 0);
		a = attach(&t, 0, NULL);
		b = attach(&t, 1, NULL);
		ns_mount_told(t.ns, a);
		ns_mount_told(t.ns, b);
	}
	un.seq.seq = 4;
	CU_ASSERT_EQUAL(ns_unlink(t.ns, a, &un, &left, NULL), -ENOENT);
	ap.ino = nst_file(&t, NST_ROOT, "b");
	for (round = 0; round < 2; round++) {
		/* an append that was carried out keeps its place, also while no more are */
		CU_ASSERT_EQUAL(ns_append(t.ns, a, &ap, round > 0, &at, &in), 0);
		CU_ASSERT(at == 0 && in.size == 10);
		inode_free(&in);
	}
	more = ap;
	more.seq.seq = 9;
	CU_ASSERT_EQUAL(ns_append(t.ns, a, &more, true, &at, &in), -EAGAIN);
	inode_free(&in);
	for (round = 0; round < 2; round++) {
		CU_ASSERT_EQUAL(ns_rename(t.ns, a, &rn, NULL, &left), 0);
		CU_ASSERT_FALSE(left.any);
	}
	CU_ASSERT_EQUAL(results(&t), 4);
	/* what has been answered is forgotten */
	CU_ASSERT_EQUAL(make(&t, a, 6, 5, "d", &f), 0);
	CU_ASSERT_EQUAL(results(&t), 1);
	CU_ASSERT_EQUAL(make(&t, a, 3, 0, "e", &f), -ESTALE);
	CU_ASSERT_EQUAL(nst_mount_end(&t, a), 0);
	CU_ASSERT_EQUAL(results(&t), 0);
	nst_end(&t);
}

/* A mount's numbers cost what it recorded, whatever they are. */
static void test_numbers(void)
{
	const uint64_t far = 1ull << 62;
	struct ns_mount *a;
	char name[16];
	struct nst t;
	uint64_t f;
	int i;

	nst_begin(&t);
	a = attach(&t, 0, NULL);
	CU_ASSERT_EQUAL(make(&t, a, 1, 0, "a", &f), 0);
	CU_ASSERT_EQUAL(make(&t, a, 3, 1, "b", &f), 0);
	CU_ASSERT_EQUAL(make(&t, a, far, far - 1, "c", &f), 0);
	CU_ASSERT_EQUAL(results(&t), 1);
	CU_ASSERT_EQUAL(make(&t, a, UINT64_MAX, UINT64_MAX - 1, "d", &f), 0);
	CU_ASSERT_EQUAL(results(&t), 1);
	CU_ASSERT_EQUAL(make(&t, a, far, 0, "e", &f), -ESTALE);
	a = attach(&t, 1, NULL);
	/* many at once are forgotten a few with each change */
	for (i = 1; i <= 4 * NS_RESULTS_STEP; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		CU_ASSERT_EQUAL(make(&t, a, (uint64_t)i * 1000, 0, name, &f), 0);
	}
	CU_ASSERT_EQUAL(make(&t, a, far, far - 1, "g", &f), 0);
	CU_ASSERT_EQUAL(results(&t), 1 + 3 * NS_RESULTS_STEP + 1);
	for (i = 1; i <= 3; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		CU_ASSERT_EQUAL(make(&t, a, far + (uint64_t)i, 0, name, &f), 0);
	}
	CU_ASSERT_EQUAL(results(&t), 1 + 4);
	CU_ASSERT_EQUAL(t.ns->bounds->at[BOUND_RESULTS].now, 5);
	nst_end(&t);
}

/* A mount that never says what it has received is held to a number of results; others are not. */
static void test_bound(void)
{
	struct ns_mount *a, *b, *c;
	struct bound *bound;
	uint64_t f, g;
	struct nst t;

	nst_begin(&t);
	a = attach(&t, 0, NULL);
	b = attach(&t, 1, NULL);
	bound = &t.ns->bounds->at[BOUND_RESULTS];
	bound->limit = 2;
	CU_ASSERT_EQUAL(make(&t, a, 1, 0, "a", &f), 0);
	CU_ASSERT_EQUAL(make(&t, a, 2, 0, "b", &f), 0);
	CU_ASSERT_EQUAL(make(&t, a, 3, 0, "c", &g), -EBUSY);
	CU_ASSERT_EQUAL(make(&t, a, 2, 0, "b", &g), 0);
	CU_ASSERT_EQUAL(f, g);
	CU_ASSERT_EQUAL(make(&t, b, 1, 0, "c", &f), 0);
	CU_ASSERT_EQUAL(bound->hits, 1);
	CU_ASSERT_EQUAL(bound->now, 3);
	/* also over a restart */
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	bound = &t.ns->bounds->at[BOUND_RESULTS];
	CU_ASSERT_EQUAL(bound->now, 3);
	bound->limit = 2;
	a = attach(&t, 0, NULL);
	CU_ASSERT_EQUAL(make(&t, a, 3, 0, "d", &g), -EBUSY);
	CU_ASSERT_EQUAL(make(&t, a, 3, 1, "d", &g), 0);
	CU_ASSERT_EQUAL(nst_mount_end(&t, a), 0);
	CU_ASSERT_EQUAL(bound->now, 1);
	t.ns->bounds->at[BOUND_MOUNTS].limit = 2;
	a = attach(&t, 0, NULL);
	CU_ASSERT_EQUAL(ns_mount_attach(t.ns, ids[2], &c, &(bool){ false }), -EBUSY);
	CU_ASSERT_EQUAL(nst_mount_end(&t, a), 0);
	attach(&t, 2, NULL);
	CU_ASSERT_EQUAL(t.ns->bounds->at[BOUND_MOUNTS].now, 2);
	nst_end(&t);
}

#define HOUR (3601 * 1000000000ull)

/* A mount that was silent for too long asks again: it is answered from what it was answered before, for an hour. */
static void test_silent(void)
{
	struct bound *silent, *mounts;
	struct ns_mount *a, *b;
	uint64_t f, g;
	struct nst t;
	bool known;

	nst_begin(&t);
	silent = &t.ns->bounds->at[BOUND_SILENT];
	mounts = &t.ns->bounds->at[BOUND_MOUNTS];
	a = attach(&t, 0, NULL);
	b = attach(&t, 1, NULL);
	ns_mount_told(t.ns, a);
	CU_ASSERT_EQUAL(make(&t, a, 1, 0, "a", &f), 0);
	CU_ASSERT_EQUAL(make(&t, a, 2, 0, "b", &g), 0);
	CU_ASSERT_EQUAL(make(&t, b, 1, 0, "c", &g), 0);
	CU_ASSERT_EQUAL(open_file(&t, a, f, false), 0);
	ns_mount_detach(t.ns, a, ddio_env_now(t.env));
	ddio_sim_run_for(t.world, 2 * NST_TIMEOUT);
	CU_ASSERT_EQUAL(ns_openers(t.ns, b, f), 0);
	CU_ASSERT_FALSE(ns_in_use(t.ns, f));
	CU_ASSERT_EQUAL(mounts->now, 1);
	CU_ASSERT_EQUAL(silent->now, 2);
	mounts->limit = 1;
	CU_ASSERT_EQUAL(ns_mount_attach(t.ns, ids[0], &a, &known), -EBUSY);
	mounts->limit = 2;
	a = attach(&t, 0, &known);
	CU_ASSERT_FALSE(known);
	CU_ASSERT_EQUAL(silent->now, 0);
	CU_ASSERT_EQUAL(make(&t, a, 1, 0, "a", &g), 0);
	CU_ASSERT_EQUAL(f, g);
	/* The last one silent has the last results; the first goes when there are too many. */
	ns_mount_detach(t.ns, a, ddio_env_now(t.env));
	ddio_sim_run_for(t.world, 2 * NST_TIMEOUT);
	silent->limit = 2;
	CU_ASSERT_EQUAL(results(&t), 3);
	ns_mount_detach(t.ns, b, ddio_env_now(t.env));
	ddio_sim_run_for(t.world, 2 * NST_TIMEOUT);
	CU_ASSERT_EQUAL(results(&t), 1);
	CU_ASSERT_EQUAL(silent->now, 1);
	/* Also over a restart, and one that says good-bye leaves nothing. */
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	ddio_sim_run_for(t.world, 2 * NST_TIMEOUT);
	b = attach(&t, 1, NULL);
	CU_ASSERT_EQUAL(make(&t, b, 1, 0, "c", &g), 0);
	CU_ASSERT_EQUAL(nst_mount_end(&t, b), 0);
	CU_ASSERT_EQUAL(results(&t), 0);
	a = attach(&t, 0, NULL);
	CU_ASSERT_EQUAL(make(&t, a, 1, 0, "d", &g), 0);
	ns_mount_detach(t.ns, a, ddio_env_now(t.env));
	ddio_sim_run_for(t.world, HOUR);
	CU_ASSERT_EQUAL(results(&t), 0);
	CU_ASSERT_EQUAL(t.ns->bounds->at[BOUND_SILENT].now, 0);
	nst_end(&t);
}

enum { END_STEPS = 8, END_FILES = 30, END_RESULTS = 20 };

static void more(void *ctx)
{
	++*(int *)ctx;
}

static const struct ns_mount_ops in_turns = { .lost = lost, .more = more };

/*
 * A mount with many open files and results ends in turns.  Nobody gets its name before, what it was is closed and
 * forgotten then, and a restart in between finds the rest.
 */
static void end_in_turns(bool restarted)
{
	struct nst_ending e = { .end = { .done = nst_ended }, .err = 1 };
	uint64_t dir, f[END_FILES], g;
	int calls = 0, turns = 0, i;
	struct ns_mount *a, *b;
	char name[8];
	struct nst t;
	bool known;

	nst_begin(&t);
	a = attach(&t, 0, NULL);
	dir = nst_mkdir(&t, NST_ROOT, "dir");
	for (i = 0; i < END_FILES; i++) {
		snprintf(name, sizeof(name), "%d", i);
		f[i] = nst_file(&t, dir, name);
		CU_ASSERT_EQUAL(nst_data(&t, f[i], 1), 0);
		CU_ASSERT_EQUAL(open_file(&t, a, f[i], false), 0);
		CU_ASSERT_EQUAL(nst_unlink(&t, dir, name), 0);
	}
	for (i = 0; i < END_RESULTS; i++) {
		snprintf(name, sizeof(name), "%d", i);
		CU_ASSERT_EQUAL(make(&t, a, (uint64_t)i + 1, 0, name, &g), 0);
	}
	CU_ASSERT_EQUAL(orphans(&t), 0);
	ns_mount_watch(t.ns, &in_turns, &calls);
	t.ns->bounds->at[BOUND_ENDED].limit = END_STEPS;
	ns_mount_end(t.ns, a, &e.end);
	CU_ASSERT_EQUAL(calls, 1);
	CU_ASSERT_EQUAL(ns_mount_attach(t.ns, ids[0], &b, &known), -EINPROGRESS);
	for (; ns_mounts_ending(t.ns) && turns < (restarted ? 6 : 100); turns++) {
		CU_ASSERT_EQUAL(e.err, 1);
		ns_mounts_go_on(t.ns);
		/* a turn takes no more than it may */
		CU_ASSERT(results(&t) + (uint64_t)(turns + 1) * END_STEPS >= END_RESULTS);
	}
	if (restarted) {
		CU_ASSERT(results(&t) > 0 && results(&t) < END_RESULTS);
		CU_ASSERT_EQUAL(nst_reopen(&t), 0);
		CU_ASSERT(t.ns->bounds->at[BOUND_RESULTS].now > 0);
		ddio_sim_run_for(t.world, NST_TIMEOUT + 1000000000);
	} else {
		CU_ASSERT_EQUAL(e.err, 0);
		CU_ASSERT(turns > (END_FILES + END_RESULTS) / END_STEPS);
		CU_ASSERT(t.ns->bounds->at[BOUND_ENDED].most <= END_STEPS);
		CU_ASSERT_EQUAL(calls, turns);
	}
	CU_ASSERT_EQUAL(orphans(&t), END_FILES);
	/* Nobody knows that it has said good-bye. */
	if (restarted)
		ddio_sim_run_for(t.world, HOUR);
	CU_ASSERT_EQUAL(results(&t), 0);
	CU_ASSERT_EQUAL(t.ns->bounds->at[BOUND_RESULTS].now, 0);
	CU_ASSERT_EQUAL(t.ns->bounds->at[BOUND_MOUNTS].now, 0);
	CU_ASSERT_EQUAL(ns_mount_attach(t.ns, ids[0], &b, &known), 0);
	CU_ASSERT_FALSE(known);
	nst_end(&t);
}

static void test_end_in_turns(void)
{
	end_in_turns(false);
	end_in_turns(true);
}

static const struct ut_case cases[] = {
	{ "open files", test_open },
	{ "orphans, in turns", test_orphans_in_turns },
	{ "a mount is lost", test_lost },
	{ "a mount is heard by any of its connections", test_heard_elsewhere },
	{ "a mount comes back to what is being removed", test_comes_back },
	{ "a mount comes back in time", test_back_in_time },
	{ "a restart", test_restart },
	{ "requests made again", test_again },
	{ "numbers of requests", test_numbers },
	{ "a bound on results and mounts", test_bound },
	{ "a silent mount asks again", test_silent },
	{ "the end of a mount, in turns", test_end_in_turns },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "mounts", cases } };

	return ut_run("ns_mount", suites, 1);
}
