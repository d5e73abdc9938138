/* SPDX-License-Identifier: GPL-2.0-only */
/* Atomic writes of files of a whole cluster, and what is found in the files afterwards. */
#ifndef DDIO_TEST_ATOMIC_RUN_H
#define DDIO_TEST_ATOMIC_RUN_H

#include "iop/store/epoch.h"
#include "tests/unit/cp/cp_world.h"

enum { BS = 1024, BYTES = 22 * BS + 300, SKIP = 700, PROCS = 3, OLD = 1, NEW = 2, FILES = 3 };

/* What is written anew: both ends lie within blocks, of which the rest stays. */
enum { FROM = 2 * BS + 100, TO = 20 * BS + 600 };

static const struct cp_params params = { .seed = 5,
					 .nodes = 2,
					 .disks = 3,
					 .procs = PROCS,
					 .block = BS,
					 .timeout_ms = 2000,
					 .lasts = true };

/*
 * What a process does, and what it has found.
 * @files: how many; @epoch: they are written in one
 */
struct atomic_run {
	uint32_t files;
	bool epoch;
	struct ddio_file *file[FILES][PROCS];
	struct ddio_group *group[PROCS];
	int ret[PROCS];
	bool found_old, found_new;
};

static struct atomic_run run;

/* Rank r has every third piece of 500 bytes: blocks are written in part by several. */
static inline uint64_t pieces(uint32_t rank, uint64_t from, uint64_t to, struct ddio_extent *list)
{
	uint64_t at, n = 0;

	for (at = from + 500ull * rank; at < to; at += 500ull * PROCS)
		list[n++] = (struct ddio_extent){ at, at + 500 > to ? to - at : 500 };
	return n;
}

static inline int write_file(struct cp_proc *p, uint32_t k, uint64_t seed, uint32_t flags)
{
	struct ddio_extent list[64];
	struct ddio_part part = { .kind = DDIO_PART_LIST, .list = list };
	static uint8_t buf[PROCS][BYTES];
	struct ddio_transfer t = {
		.struct_size = sizeof(t), .part = &part, .buf = buf[p->rank], .flags = flags
	};
	uint64_t i, at, n = 0;

	part.n = seed == OLD ? pieces(p->rank, SKIP, BYTES, list) : pieces(p->rank, FROM, TO, list);
	for (i = 0; i < part.n; i++)
		for (at = 0; at < list[i].len; at++)
			buf[p->rank][n++] = cp_byte(seed + 10 * k, list[i].offset + at);
	return cp_note(p, ddio_write_all(run.file[k][p->rank], run.group[p->rank], &t));
}

static inline int write_all(struct cp_proc *p, uint64_t seed, uint32_t flags)
{
	uint32_t k;
	int ret = 0;

	for (k = 0; k < run.files && !ret; k++)
		ret = write_file(p, k, seed, flags);
	return ret;
}

static inline void prepare(struct cp_proc *p)
{
	static const char *const name[FILES] = { "f", "g", "h" };
	struct ddio_group *group = run.group[p->rank] = cp_group(p);
	uint32_t k;

	for (k = 0; k < run.files; k++)
		CP_OK(p, ddio_open_all(group, name[k], DDIO_CREATE, NULL, &run.file[k][p->rank]));
	CP_OK(p, write_all(p, OLD, DDIO_XFER_SYNC));
}

static inline int write_epoch(struct cp_proc *p)
{
	struct ddio_group *group = run.group[p->rank];
	int ret = cp_note(p, ddio_epoch_begin(group));

	if (ret)
		return ret;
	ret = write_all(p, NEW, DDIO_XFER_ATOMIC);
	if (ret)
		ddio_epoch_abort(group);
	return ret ? ret : cp_note(p, ddio_epoch_commit(group));
}

static inline void write_new(struct cp_proc *p)
{
	if (p->rank < PROCS)
		run.ret[p->rank] = run.epoch ? write_epoch(p) : write_all(p, NEW, DDIO_XFER_ATOMIC);
}

/* Reads a file by itself, and says what is in it. */
static inline void look_file(struct cp_proc *p, uint32_t k)
{
	const char name[] = { (char)('f' + k), 0 };
	struct ddio_file *f = NULL;
	static uint8_t buf[BYTES];
	uint64_t i;
	ssize_t n;

	CP_OK(p, ddio_open(p->session, name, 0, NULL, &f));
	n = f ? ddio_pread(f, buf, sizeof(buf), 0) : -1;
	CU_ASSERT_EQUAL(n, BYTES);
	if (n != BYTES)
		fprintf(stderr, "%s\n", ddio_last_error(p->session));
	for (i = 0; i < BYTES; i++) {
		uint8_t old = i < SKIP ? 0 : cp_byte(OLD + 10 * k, i);

		run.found_old &= buf[i] == old;
		run.found_new &= buf[i] == (i < FROM || i >= TO ? old : cp_byte(NEW + 10 * k, i));
	}
	ddio_close(f);
}

/* Says what is in all of them: if that is not the same, nothing. */
static inline void look(struct cp_proc *p)
{
	uint32_t k;

	run.found_old = run.found_new = true;
	for (k = 0; k < run.files; k++)
		look_file(p, k);
}

static inline void look_last(struct cp_proc *p)
{
	if (p->rank == PROCS)
		look(p);
}

static inline void finish(struct cp_proc *p)
{
	uint32_t k;

	if (p->rank >= PROCS)
		return;
	for (k = 0; k < run.files; k++)
		ddio_close(run.file[k][p->rank]);
	ddio_group_free(run.group[p->rank]);
}

static inline void nothing(struct cp_proc *p)
{
	(void)p;
}

/* Nothing was run yet; @files: more than one are written in an epoch. */
static inline void run_clear(uint32_t files)
{
	memset(&run, 0, sizeof(run));
	run.files = files;
	run.epoch = files > 1;
}

static inline void begin_with(struct cp_world *w, uint32_t files, const struct cp_params *p)
{
	run_clear(files);
	cp_world_begin(w, p);
	CU_ASSERT_EQUAL(cp_run(w, prepare, NULL), 0);
	/* One more, of no group, that looks. */
	w->p.procs = PROCS + 1;
	CU_ASSERT_EQUAL(cp_run(w, nothing, NULL), 0);
	cp_spread_out(w, PROCS);
}

static inline void begin(struct cp_world *w, uint32_t files)
{
	begin_with(w, files, &params);
}

/* @all: also those that are still being written. */
static inline uint32_t epochs_count(const struct cp_world *w, bool all)
{
	const struct store_epoch *e;
	uint32_t i, k, d, n = 0;

	for (i = 0; i < w->p.nodes; i++)
		for (k = 0; !w->node[i].dead && k < w->p.reactors; k++)
			for (d = 0; d < w->node[i].iop->reactors[k].ndisks; d++)
				for (e = NULL;
				     (e = store_epoch_next(
					      w->node[i].iop->reactors[k].disks[d].store, e));)
					n += all || store_epoch_look(e).since != UINT64_MAX;
	return n;
}

static inline uint32_t epochs_not_over(const struct cp_world *w)
{
	return epochs_count(w, true);
}

static inline void whole(const struct cp_world *w, bool told)
{
	CU_ASSERT_TRUE(run.found_old || run.found_new);
	CU_ASSERT_FALSE(run.found_old && run.found_new);
	if (told)
		CU_ASSERT_TRUE(run.found_new);
	CU_ASSERT_EQUAL(epochs_not_over(w), 0);
}

static inline void start(struct cp_world *w)
{
	uint32_t r;

	for (r = 0; r < PROCS; r++) {
		w->proc[r].fn = write_new;
		run.ret[r] = -EINPROGRESS;
		ddio_sim_spawn(w->proc[r].env, cp_proc_main, &w->proc[r]);
	}
}

static inline bool all_ended(const struct cp_world *w)
{
	uint32_t r;

	for (r = 0; r < PROCS; r++)
		if (!w->proc[r].killed && run.ret[r] == -EINPROGRESS)
			return false;
	return true;
}

/* Notes after how long each event of the write comes.  Returns how many there are. */
static inline uint32_t moments(uint32_t files, const struct cp_params *p, uint64_t *at,
			       uint32_t most)
{
	uint64_t events, ns = 0;
	struct cp_world w;
	uint32_t n = 0;

	begin_with(&w, files, p);
	start(&w);
	events = ddio_sim_events(w.dw);
	while (!all_ended(&w) && n < most && ns < 10 * CP_SEC) {
		ddio_sim_run_for(w.dw, 100);
		ns += 100;
		if (ddio_sim_events(w.dw) != events)
			at[n++] = ns;
		events = ddio_sim_events(w.dw);
	}
	CU_ASSERT_TRUE(all_ended(&w));
	CU_ASSERT_EQUAL(run.ret[0] | run.ret[1] | run.ret[2], 0);
	cp_run(&w, finish, NULL);
	cp_world_end(&w);
	return n;
}

#endif /* DDIO_TEST_ATOMIC_RUN_H */
