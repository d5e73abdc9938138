// SPDX-License-Identifier: GPL-2.0-only
/* Renames of directories whose new place is deep: in turns, while others change the tree. */
#include "iop/ns/priv.h"
#include "ut_ns.h"

enum { RN_DEPTH = 300, RN_STEPS = 16, RN_TURNS = RN_DEPTH / RN_STEPS };

/**
 * struct rn_job - a rename in turns
 * @gone_on: how often it was told that its wait is over
 */
struct rn_job {
	struct ddio_msg_fs_rename x;
	struct ns_climb climb;
	int gone_on;
};

/**
 * struct rn_tree - a/ and b/ in the root, and in b a chain of directories "d"
 * @deep: the chain
 */
struct rn_tree {
	struct nst t;
	uint64_t a, b, deep[RN_DEPTH];
};

static void rn_go_on(struct ns_climb *climb)
{
	ddio_container_of(climb, struct rn_job, climb)->gone_on++;
}

static void rn_begin(struct rn_tree *r)
{
	uint32_t i;

	nst_begin(&r->t);
	r->t.ns->bounds->at[BOUND_CLIMBED].limit = RN_STEPS;
	r->a = nst_mkdir(&r->t, NST_ROOT, "a");
	r->b = nst_mkdir(&r->t, NST_ROOT, "b");
	for (i = 0; i < RN_DEPTH; i++)
		r->deep[i] = nst_mkdir(&r->t, i ? r->deep[i - 1] : r->b, "d");
}

/* Ends; there is no problem in the names, and nothing waits any more. */
static void rn_end(struct rn_tree *r)
{
	CU_ASSERT_PTR_NULL(r->t.ns->climber);
	CU_ASSERT(ddio_list_empty(&r->t.ns->held_up));
	nst_clean(&r->t, 0);
	nst_end(&r->t);
}

static struct rn_job rn_job(uint64_t parent, const char *name, uint64_t to, const char *new_name,
			    uint32_t flags)
{
	struct rn_job job = { .x = { .parent = parent, .new_parent = to, .flags = flags },
			      .climb = { .go_on = rn_go_on } };

	snprintf(job.x.name, sizeof(job.x.name), "%s", name);
	snprintf(job.x.new_name, sizeof(job.x.new_name), "%s", new_name);
	return job;
}

static int rn_turn(struct rn_tree *r, struct rn_job *job)
{
	struct ns_left left;
	int ret = ns_rename(r->t.ns, NULL, &job->x, &job->climb, &left);

	ddio_file_record_free(&left.rec);
	return ret;
}

/* Goes on to the end; returns the result, and in @turns how many turns it took. */
static int rn_all(struct rn_tree *r, struct rn_job *job, int *turns)
{
	int ret;

	*turns = 0;
	do {
		ret = rn_turn(r, job);
		++*turns;
	} while (ret == -EINPROGRESS && *turns < 10 * RN_TURNS);
	return ret;
}

/* The way up is gone in turns, and others have theirs between. */
static void test_steps(void)
{
	struct rn_tree r;
	struct rn_job job;
	int turns;

	rn_begin(&r);
	job = rn_job(NST_ROOT, "a", r.deep[RN_DEPTH - 1], "a", 0);
	CU_ASSERT_EQUAL(rn_turn(&r, &job), -EINPROGRESS);
	CU_ASSERT_NOT_EQUAL(nst_file(&r.t, r.a, "between"), 0);
	CU_ASSERT_EQUAL(nst_unlink(&r.t, r.a, "between"), 0);
	CU_ASSERT_EQUAL(rn_all(&r, &job, &turns), 0);
	CU_ASSERT(turns >= RN_TURNS - 1 && turns <= RN_TURNS + 1);
	CU_ASSERT_EQUAL(nst_find(&r.t, r.deep[RN_DEPTH - 1], "a"), r.a);
	CU_ASSERT_EQUAL(nst_find(&r.t, NST_ROOT, "a"), 0);
	CU_ASSERT(r.t.ns->bounds->at[BOUND_CLIMBED].hits >= RN_TURNS);
	/* into itself, however deep */
	job = rn_job(NST_ROOT, "b", r.a, "b", 0);
	CU_ASSERT_EQUAL(rn_all(&r, &job, &turns), -EINVAL);
	CU_ASSERT(turns >= RN_TURNS);
	job = rn_job(r.b, "d", r.deep[RN_DEPTH - 1], "a", DDIO_FS_RENAME_EXCHANGE);
	CU_ASSERT_EQUAL(rn_all(&r, &job, &turns), -EINVAL);
	CU_ASSERT(turns >= RN_TURNS);
	rn_end(&r);
}

/* A part of the way that has been gone is moved below what is to be moved: that would make a circle. */
static void test_race(void)
{
	struct rn_tree r;
	struct rn_job job;
	int turns;

	rn_begin(&r);
	job = rn_job(NST_ROOT, "a", r.deep[RN_DEPTH - 1], "a", 0);
	CU_ASSERT_EQUAL(rn_turn(&r, &job), -EINPROGRESS);
	CU_ASSERT_EQUAL(nst_rename(&r.t, r.deep[RN_DEPTH - 5], "d", r.a, "d", 0), 0);
	CU_ASSERT_EQUAL(rn_all(&r, &job, &turns), -EINVAL);
	/* of two that are exchanged, too */
	job = rn_job(NST_ROOT, "a", r.deep[RN_DEPTH - 6], "d", DDIO_FS_RENAME_EXCHANGE);
	CU_ASSERT_NOT_EQUAL(nst_mkdir(&r.t, r.deep[RN_DEPTH - 6], "e"), 0);
	strcpy(job.x.new_name, "e");
	CU_ASSERT_EQUAL(rn_turn(&r, &job), -EINPROGRESS);
	CU_ASSERT_EQUAL(nst_rename(&r.t, r.deep[RN_DEPTH - 8], "d", r.a, "f", 0), 0);
	CU_ASSERT_EQUAL(rn_all(&r, &job, &turns), -EINVAL);
	rn_end(&r);
}

/* What is renamed, or its new place, is no more. */
static void test_gone(void)
{
	struct rn_tree r;
	struct rn_job job;
	uint64_t leaf;
	int turns;

	rn_begin(&r);
	leaf = nst_mkdir(&r.t, r.deep[RN_DEPTH - 1], "leaf");
	job = rn_job(NST_ROOT, "a", leaf, "a", 0);
	CU_ASSERT_EQUAL(rn_turn(&r, &job), -EINPROGRESS);
	CU_ASSERT_EQUAL(nst_rmdir(&r.t, r.deep[RN_DEPTH - 1], "leaf"), 0);
	CU_ASSERT_EQUAL(rn_all(&r, &job, &turns), -ESTALE);
	CU_ASSERT_EQUAL(turns, 1);
	job = rn_job(NST_ROOT, "a", r.deep[RN_DEPTH - 1], "a", 0);
	CU_ASSERT_EQUAL(rn_turn(&r, &job), -EINPROGRESS);
	CU_ASSERT_EQUAL(nst_rename(&r.t, NST_ROOT, "a", NST_ROOT, "c", 0), 0);
	CU_ASSERT_NOT_EQUAL(nst_file(&r.t, NST_ROOT, "a"), 0);
	/* now it is a file, which may be anywhere */
	CU_ASSERT_EQUAL(rn_all(&r, &job, &turns), 0);
	CU_ASSERT_EQUAL(turns, 1);
	CU_ASSERT_EQUAL(nst_unlink(&r.t, r.deep[RN_DEPTH - 1], "a"), 0);
	rn_end(&r);
}

/*
 * Somebody moves a directory to and fro in each turn: the long way is gone to its end all the same, and the other goes on
 * then.
 */
static void test_restless(void)
{
	struct rn_job deep, other, given_up;
	int turns = 0, ret, moved = 0, waited = 0;
	struct rn_tree r;
	uint64_t c;

	rn_begin(&r);
	c = nst_mkdir(&r.t, NST_ROOT, "c");
	CU_ASSERT_NOT_EQUAL(nst_mkdir(&r.t, c, "m"), 0);
	deep = rn_job(NST_ROOT, "a", r.deep[RN_DEPTH - 1], "a", 0);
	other = rn_job(c, "m", NST_ROOT, "m", 0);
	while ((ret = rn_turn(&r, &deep)) == -EINPROGRESS && ++turns < 10 * RN_TURNS) {
		if (other.climb.waits)
			continue;
		ret = rn_turn(&r, &other);
		CU_ASSERT(ret == 0 || (ret == -EINPROGRESS && other.climb.waits));
		waited += ret == -EINPROGRESS;
		if (ret)
			continue;
		moved++;
		other = rn_job(other.x.new_parent, "m", other.x.parent, "m", 0);
	}
	CU_ASSERT_EQUAL(ret, 0);
	CU_ASSERT(turns < 2 * RN_TURNS);
	CU_ASSERT(moved > 0);
	CU_ASSERT_EQUAL(waited, 1);
	CU_ASSERT_EQUAL(other.gone_on, 1);
	CU_ASSERT_FALSE(other.climb.waits);
	CU_ASSERT_EQUAL(rn_turn(&r, &other), 0);
	/* who keeps the others waiting may give up, and so may who waits */
	deep = rn_job(r.deep[RN_DEPTH - 1], "a", r.deep[RN_DEPTH - 2], "a", 0);
	other = rn_job(other.x.new_parent, "m", other.x.parent, "m", 0);
	given_up = rn_job(NST_ROOT, "c", r.a, "c", 0);
	deep.climb.tries = 100;
	CU_ASSERT_EQUAL(rn_turn(&r, &deep), -EINPROGRESS);
	CU_ASSERT_EQUAL(rn_turn(&r, &other), -EINPROGRESS);
	CU_ASSERT(other.climb.waits);
	while (!given_up.climb.waits)
		CU_ASSERT_EQUAL_FATAL(rn_turn(&r, &given_up), -EINPROGRESS);
	ns_rename_give_up(r.t.ns, &given_up.climb);
	ns_rename_give_up(r.t.ns, &deep.climb);
	CU_ASSERT_EQUAL(other.gone_on, 1);
	CU_ASSERT_EQUAL(given_up.gone_on, 0);
	CU_ASSERT_EQUAL(rn_turn(&r, &other), 0);
	rn_end(&r);
}

static const struct ut_case renames[] = {
	{ "in turns", test_steps },
	{ "a circle by two renames", test_race },
	{ "gone meanwhile", test_gone },
	{ "the tree does not keep still", test_restless },
	{ .name = NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "renames of deep directories", renames } };

	return ut_run("ns_rename", suites, 1);
}
