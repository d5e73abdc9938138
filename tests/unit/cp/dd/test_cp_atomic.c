// SPDX-License-Identifier: GPL-2.0-only
/*
 * Atomic writes of a whole cluster: a process, or an I/O processor, or the one with the names, dies after each event of such
 * a write.  Whoever reads afterwards finds the whole of it or nothing, and all of it if anybody was told that it had ended well.
 * The same of several files that are written in one epoch.
 */
#include "iop/ns/priv.h"
#include "tests/unit/cp/dd/atomic_run.h"

/* Nothing happens: it is there, again and again, and takes no more space in the end. */
static void check_well(uint32_t files)
{
	struct cp_world w;
	int i;

	begin(&w, files);
	for (i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(cp_run(&w, write_new, NULL), 0);
		CU_ASSERT_EQUAL(run.ret[0] | run.ret[1] | run.ret[2], 0);
		CU_ASSERT_EQUAL(cp_run(&w, look_last, NULL), 0);
		CU_ASSERT_TRUE(run.found_new);
		whole(&w, true);
	}
	cp_run(&w, finish, NULL);
	cp_world_end(&w);
}

static void test_well(void)
{
	check_well(1);
	check_well(FILES);
}

/*
 * Somebody dies
 */
enum { VICTIMS = PROCS + 2 };

/* The process is gone for all others; or the node is, and comes back. */
static void die(struct cp_world *w, uint32_t victim)
{
	struct cp_node *node;
	uint32_t k;

	if (victim < PROCS) {
		w->proc[victim].killed = true;
		sim_kill(w->proc[victim].env);
		return;
	}
	node = &w->node[victim - PROCS];
	for (k = 0; k < w->p.reactors; k++)
		ddio_sim_cut(node->env[k]);
	node->stop.fn = cp_stop_post;
	node->stop.arg = node;
	ddio_env_post(node->env[0], &node->stop);
}

static void come_back(struct cp_world *w, uint32_t victim)
{
	if (victim < PROCS)
		return;
	ddio_iop_free(w->node[victim - PROCS].iop);
	cp_node_begin(w, victim - PROCS);
}

static bool soon;

static void look_soon(struct cp_proc *p)
{
	soon = false;
	look(p);
	CU_ASSERT_TRUE(run.found_old || run.found_new);
	soon = true;
}

/* Returns 1 if the write is there, else 0. */
static int death_in(struct cp_world *w, uint32_t victim, uint64_t at)
{
	bool told = false;
	uint32_t r;

	start(w);
	ddio_sim_run_for(w->dw, at);
	die(w, victim);
	/* Somebody may look at once. */
	if (victim < PROCS) {
		w->proc[PROCS].fn = look_soon;
		ddio_sim_spawn(w->proc[PROCS].env, cp_proc_main, &w->proc[PROCS]);
	}
	ddio_sim_run_for(w->dw, 20 * CP_SEC);
	if (victim < PROCS)
		CU_ASSERT_TRUE(soon);
	CU_ASSERT_TRUE(all_ended(w));
	come_back(w, victim);
	for (r = 0; r < PROCS; r++) {
		told |= !run.ret[r];
		/* Those that are left hear the same. */
		if (!w->proc[r].killed && victim >= PROCS)
			CU_ASSERT_EQUAL(run.ret[r], run.ret[0]);
	}
	CU_ASSERT_EQUAL(cp_run(w, look_last, NULL), 0);
	ddio_sim_run_for(w->dw, 2 * CP_SEC);
	whole(w, told);
	cp_run(w, finish, NULL);
	cp_world_end(w);
	return run.found_new;
}

static int death(uint32_t files, uint32_t victim, uint64_t at)
{
	struct cp_world w;
	int found;

	if (victim < PROCS)
		cp_leaks_allowed(true);
	begin(&w, files);
	found = death_in(&w, victim, at);
	if (victim < PROCS)
		cp_leaks_allowed(false);
	return found;
}

static void check_deaths(uint32_t files, uint32_t step)
{
	static uint64_t at[4096];
	uint32_t n = moments(files, &params, at, 4096), victim, i, news = 0, olds = 0;

	CU_ASSERT(n > 40 && n < 4096);
	for (victim = 0; victim < VICTIMS; victim++)
		for (i = victim % step; i < n; i += step) {
			if (death(files, victim, at[i]))
				news++;
			else
				olds++;
		}
	CU_ASSERT(news > 5);
	CU_ASSERT(olds > 20);
}

static void test_deaths(void)
{
	check_deaths(1, ut_stride(7));
}

/* On one machine a few are enough: what differs there is not about epochs. */
static void test_deaths_files(void)
{
	check_deaths(2, cp_local ? 7 : ut_stride(7));
}

/* Ways of other lengths, in another order, and deaths at any time; DDIO_ATOMIC_SEEDS: so many seeds. */
static void seed_check(uint64_t seed, uint64_t last)
{
	uint64_t x = cp_byte(seed, 1) << 8 | cp_byte(seed, 2), y = cp_byte(seed, 3);
	struct cp_params p = params;
	struct ddio_sim_link link;
	struct cp_world w;
	uint32_t r;

	p.seed = seed;
	cp_leaks_allowed(true);
	begin_with(&w, 2 + (uint32_t)(seed & 1), &p);
	ddio_sim_link_default(&link);
	for (r = 0; r < PROCS; r++) {
		link.latency_ns = 10000 + 400ull * cp_byte(seed, 10 + r);
		ddio_sim_set_link(w.proc[r].env, &link);
	}
	death_in(&w, (uint32_t)(y % VICTIMS), last * 3 / 2 * x >> 16);
	cp_leaks_allowed(false);
}

static void test_seeds(void)
{
	static uint64_t at[4096];
	const char *many = getenv("DDIO_ATOMIC_SEEDS");
	uint32_t i, n = moments(2, &params, at, 4096),
		    seeds = many ? (uint32_t)atoi(many) : ut_rounds(40);

	CU_ASSERT_FATAL(n > 0);
	for (i = 0; i < seeds; i++)
		seed_check(1000 + i, at[n - 1]);
}

/* The disks have room for the file once, not twice: nothing has changed, and what is not atomic can be written. */
static void write_over(struct cp_proc *p)
{
	if (p->rank < PROCS)
		run.ret[p->rank] = write_all(p, OLD, 0);
}

static void check_full(uint32_t files, const char *size)
{
	struct cp_params small = params;
	struct cp_world w;
	uint32_t r;

	run_clear(files);
	small.disk_size = size;
	cp_world_begin(&w, &small);
	CU_ASSERT_EQUAL(cp_run(&w, prepare, NULL), 0);
	w.p.procs = PROCS + 1;
	CU_ASSERT_EQUAL(cp_run(&w, write_new, NULL), 0);
	for (r = 0; r < PROCS; r++)
		CU_ASSERT_EQUAL(run.ret[r], -ENOSPC);
	CU_ASSERT_EQUAL(cp_run(&w, look_last, NULL), 0);
	CU_ASSERT_TRUE(run.found_old);
	whole(&w, false);
	CU_ASSERT_EQUAL(cp_run(&w, write_over, NULL), 0);
	CU_ASSERT_EQUAL(run.ret[0] | run.ret[1] | run.ret[2], 0);
	cp_run(&w, finish, NULL);
	cp_world_end(&w);
}

static void test_full(void)
{
	check_full(1, "16K");
	/* Room for two of three files. */
	check_full(FILES, "40K");
}

/*
 * Epochs of several files that are misused, or given up
 */
/* A collective call by all; returns what this member gets. */
typedef int (*epoch_step)(struct cp_proc *p, struct ddio_group *group);

enum { STEPS = 8 };

/**
 * struct misuse - what all members do, and what they get
 * @found_new: what was written is there; @removed: one of the files is not
 */
struct misuse {
	const char *what;
	epoch_step step[STEPS];
	int ret[STEPS];
	bool found_new, removed;
};

static int do_begin(struct cp_proc *p, struct ddio_group *group)
{
	return cp_note(p, ddio_epoch_begin(group));
}

static int do_commit(struct cp_proc *p, struct ddio_group *group)
{
	return cp_note(p, ddio_epoch_commit(group));
}

static int do_abort(struct cp_proc *p, struct ddio_group *group)
{
	return cp_note(p, ddio_epoch_abort(group));
}

static int do_write(struct cp_proc *p, struct ddio_group *group)
{
	(void)group;
	return write_file(p, 0, NEW, DDIO_XFER_ATOMIC);
}

static int do_write_second(struct cp_proc *p, struct ddio_group *group)
{
	(void)group;
	return write_file(p, 1, NEW, DDIO_XFER_ATOMIC);
}

static int do_write_plainly(struct cp_proc *p, struct ddio_group *group)
{
	(void)group;
	return write_file(p, 0, NEW, 0);
}

static int do_touch(struct cp_proc *p, struct ddio_group *group)
{
	struct ddio_file *f = run.file[0][p->rank];
	uint8_t byte;

	(void)group;
	CU_ASSERT_EQUAL(ddio_pread(f, &byte, 1, 0), -EBUSY);
	CU_ASSERT_EQUAL(ddio_pwrite(f, &byte, 1, 0), -EBUSY);
	CU_ASSERT_EQUAL(ddio_set_size(f, 1), -EBUSY);
	CU_ASSERT_EQUAL(ddio_sync(f), -EBUSY);
	return 0;
}

/* Rank 1 does not want it any more; it hears no error. */
static int do_abort_one(struct cp_proc *p, struct ddio_group *group)
{
	int ret = p->rank == 1 ? ddio_epoch_abort(group) : ddio_epoch_commit(group);

	cp_note(p, ret);
	if (p->rank != 1)
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "rank 1 has given"));
	return p->rank == 1 && !ret ? -ECANCELED : ret;
}

static int do_mix(struct cp_proc *p, struct ddio_group *group)
{
	return cp_note(p, p->rank == 1 ? ddio_epoch_begin(group) : ddio_epoch_commit(group));
}

/* The other process removes a file that is in it: the name goes at once, the rest when the epoch is over. */
static void remove_second(struct cp_proc *p)
{
	CP_OK(p, ddio_remove(p->session, "g"));
}

static int do_remove(struct cp_proc *p, struct ddio_group *group)
{
	struct cp_proc *other = &p->w->proc[PROCS];

	if (!p->rank) {
		other->fn = remove_second;
		ddio_sim_spawn(other->env, cp_proc_main, other);
		ddio_sim_sleep(p->env, CP_SEC / 10);
	}
	return ddio_group_barrier(group);
}

static int do_free(struct cp_proc *p, struct ddio_group *group)
{
	ddio_group_free(group);
	run.group[p->rank] = NULL;
	return 0;
}

static void misuse(struct cp_proc *p)
{
	const struct misuse *m = p->w->arg;
	uint32_t i;

	for (i = 0; p->rank < PROCS && m->step[i]; i++) {
		int ret = m->step[i](p, run.group[p->rank]);

		CU_ASSERT_EQUAL(ret, m->ret[i]);
		if (ret != m->ret[i])
			fprintf(stderr, "%s: step %u: %d %s\n", m->what, i, ret, p->text);
	}
}

static void check_misuse(const struct misuse *m)
{
	struct cp_world w;

	begin(&w, 2);
	CU_ASSERT_EQUAL(cp_run(&w, misuse, (void *)m), 0);
	ddio_sim_run_for(w.dw, CP_SEC);
	CU_ASSERT_EQUAL(epochs_not_over(&w), 0);
	CU_ASSERT_EQUAL(w.node[0].iop->epochs.n, 0);
	if (!m->removed) {
		CU_ASSERT_EQUAL(cp_run(&w, look_last, NULL), 0);
		CU_ASSERT_TRUE(m->found_new ? run.found_new : run.found_old);
	}
	cp_run(&w, finish, NULL);
	cp_world_end(&w);
}

#define MISUSE(what_, steps_, ...)                                    \
	{                                                             \
		.what = what_, .step = { UNPACK steps_ }, __VA_ARGS__ \
	}
#define UNPACK(...) __VA_ARGS__
#define GETS(...) .ret = { __VA_ARGS__ }
static const struct misuse misuses[] = {
	MISUSE("without a write", (do_begin, do_commit), GETS(0)),
	MISUSE("none was begun", (do_commit, do_abort), GETS(-EINVAL, -EINVAL)),
	MISUSE("begun twice", (do_begin, do_write, do_begin, do_commit),
	       GETS(0, 0, -EBUSY, -EINVAL)),
	MISUSE("given up", (do_begin, do_write, do_write_second, do_abort), GETS(0)),
	MISUSE("given up by one, and done again",
	       (do_begin, do_write, do_abort_one, do_begin, do_write, do_write_second, do_commit),
	       GETS(0, 0, -ECANCELED), .found_new = true),
	MISUSE("one file twice", (do_begin, do_write, do_write, do_commit),
	       GETS(0, 0, -EBUSY, -ECANCELED)),
	MISUSE("used meanwhile",
	       (do_begin, do_write, do_touch, do_write_plainly, do_write_second, do_commit),
	       GETS(0, 0, 0, -EBUSY), .found_new = true),
	MISUSE("some begin, some commit", (do_begin, do_write, do_mix, do_commit),
	       GETS(0, 0, -EBUSY, -EINVAL)),
	MISUSE("a file is removed", (do_begin, do_write, do_write_second, do_remove, do_commit),
	       GETS(0, 0, 0, 0, -ESTALE), .removed = true),
	MISUSE("the group is freed", (do_begin, do_write, do_free), GETS(0)),
};

static void test_misuse(void)
{
	size_t i;

	for (i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++)
		check_misuse(&misuses[i]);
}

/* What the names have of epochs that are not decided. */
static uint64_t epochs_open(const struct cp_world *w)
{
	return w->node[0].iop->epochs.n;
}

/* A client that begins and never decides. */
enum { MOST = 64 };

static struct epoch_job jobs[MOST + 2];
static uint32_t refused;

static void begun(struct epoch_job *job)
{
	refused += job->error.err == -EBUSY;
}

static void hostile_post(void *arg)
{
	struct cp_proc *p = arg;
	uint32_t i;

	(void)p;
	for (i = 0; i < MOST + 2; i++)
		epoch_begin(&jobs[i]);
}

static void hostile(struct cp_proc *p)
{
	static struct ddio_post post;
	struct ddio_file *f[MOST + 2];
	char name[32];
	uint32_t i;

	if (p->rank)
		return;
	for (i = 0; i < MOST + 2; i++) {
		/* The last one is the first file once more. */
		snprintf(name, sizeof(name), "h%u", i % (MOST + 1));
		CP_OK(p, ddio_open(p->session, name, DDIO_CREATE, NULL, &f[i]));
		jobs[i] = (struct epoch_job){ .file = f[i], .done = begun };
	}
	post = (struct ddio_post){ .fn = hostile_post, .arg = p };
	ddio_env_post(p->env, &post);
	ddio_sim_sleep(p->env, CP_SEC);
	CU_ASSERT_EQUAL(refused, 2);
	CU_ASSERT_EQUAL(epochs_open(p->w), MOST);
	for (i = 0; i < MOST + 2; i++)
		ddio_close(f[i]);
	ddio_disconnect(p->session);
	p->session = NULL;
}

static void test_hostile(void)
{
	struct cp_world w;
	const struct bound *b;

	refused = 0;
	cp_world_begin(&w, &params);
	b = &w.node[0].iop->reactors[0].bounds.at[BOUND_EPOCHS];
	CU_ASSERT_EQUAL(cp_run(&w, hostile, NULL), 0);
	ddio_sim_run_for(w.dw, CP_SEC);
	CU_ASSERT_EQUAL(epochs_open(&w), 0);
	CU_ASSERT_EQUAL(b->now, 0);
	CU_ASSERT_EQUAL(b->most, MOST);
	CU_ASSERT_EQUAL(b->hits, 1);
	cp_world_end(&w);
}

/* A group that has prepared, and of which nothing more comes in time, though its connections stay. */
static void fall_silent(struct cp_world *w)
{
	struct ddio_sim_link silent;
	uint32_t r, i;

	CU_ASSERT_EQUAL(cp_run(w, prepare, NULL), 0);
	ddio_sim_link_default(&silent);
	start(w);
	for (i = 0; i < 10000 && epochs_count(w, false) < 3; i++)
		ddio_sim_run_for(w->dw, 1000);
	CU_ASSERT_EQUAL_FATAL(epochs_count(w, false), 3);
	silent.latency_ns = 200 * CP_SEC;
	for (r = 0; r < PROCS; r++)
		ddio_sim_set_link(w->proc[r].env, &silent);
}

/* For what another process does meanwhile. */
static void one_more(struct cp_world *w)
{
	uint32_t r;

	w->p.procs = PROCS + 1;
	for (r = 0; r < PROCS; r++)
		w->proc[r].killed = true;
}

static void heard_again(struct cp_world *w)
{
	struct ddio_sim_link link;
	uint32_t r;

	ddio_sim_link_default(&link);
	for (r = 0; r < PROCS; r++) {
		w->proc[r].killed = false;
		ddio_sim_set_link(w->proc[r].env, &link);
	}
	ddio_sim_run_for(w->dw, 1000 * CP_SEC);
	cp_run(w, finish, NULL);
	cp_world_end(w);
}

/* Others get the file after a while. */
static void test_silent(void)
{
	struct cp_world w;

	run_clear(1);
	cp_world_begin(&w, &params);
	fall_silent(&w);
	ddio_sim_run_for(w.dw, 60 * CP_SEC);
	CU_ASSERT_EQUAL(epochs_not_over(&w), 0);
	one_more(&w);
	CU_ASSERT_EQUAL(cp_run(&w, look_last, NULL), 0);
	CU_ASSERT_TRUE(run.found_old);
	heard_again(&w);
}

/* Of the file the names have never heard: a loss of power has undone that it was made. */
static void forget_file(struct cp_world *w)
{
	struct ns *ns = w->node[0].iop->ns;
	uint8_t key[NS_KEY_LEN];

	ns_key(key, run.file[0][0]->rec.ref.id);
	ns_begin(ns);
	CU_ASSERT_EQUAL(kv_del(ns->kv, NS_INODES, key, sizeof(key)), 0);
	CU_ASSERT_EQUAL(ns_end(ns, 0), 0);
}

static void test_forgotten(void)
{
	struct cp_world w;

	run_clear(1);
	cp_world_begin(&w, &params);
	fall_silent(&w);
	forget_file(&w);
	ddio_sim_run_for(w.dw, 60 * CP_SEC);
	CU_ASSERT_EQUAL(epochs_not_over(&w), 0);
	heard_again(&w);
}

static const struct ut_case cases[] = {
	{ "it ends well", test_well },
	{ "disks that are full", test_full },
	{ "begun and never decided", test_hostile },
	{ "prepared and never decided", test_silent },
	{ "prepared, of a file that never was", test_forgotten },
	{ "several files: misused, given up", test_misuse },
	{ "somebody dies after any event of it", test_deaths },
	{ "several files: somebody dies after any event", test_deaths_files },
	{ "several files: other seeds", test_seeds },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "atomic writes", cases } };

	return cp_ut_run("cp_atomic", suites, 1);
}
