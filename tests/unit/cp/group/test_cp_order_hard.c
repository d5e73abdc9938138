// SPDX-License-Identifier: GPL-2.0-only
/* Orders of files where members go wrong, files are closed, and much waits. */
#include "cp/coll/starts.h"
#include "tests/unit/cp/group/cp_orders.h"

enum {
	TIMEOUT_MS = 3000,
	ROUNDS = 100,
	STREAMS = 4,
	TOWER_FILES = 200,
	TOWER_OPS = 16,
	OVERTAKES = 32,
	BEHIND = 100
};

static void world(void (*fn)(struct cp_proc *p), uint32_t procs, const char *options, void *arg)
{
	orders_run(
		fn,
		(struct cp_params){ .procs = procs, .options = options, .timeout_ms = TIMEOUT_MS },
		arg);
}

static uint8_t buf[1 << 20];

static int job_run(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f,
		   struct orders_job *j)
{
	return cp_note(p, ddio_write_all(f, g, &j->t));
}

/* What a member has heard of before it closes the file fails like what it hears of later. */
static void heard_then_closed(struct cp_proc *p)
{
	const bool *patient = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct orders_job j;

	if (*patient)
		CP_OK(p, ddio_group_set_patient(g));
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	orders_list(p, &j, buf, 0, 4096);
	if (p->rank) {
		CU_ASSERT_EQUAL(job_run(p, g, f, &j), -EINVAL);
	} else {
		ddio_sim_sleep(p->env, CP_SEC);
		ddio_close(f);
	}
	ddio_sim_sleep(p->env, CP_SEC);
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT(ddio_list_empty(&g->fans));
	if (p->rank)
		ddio_close(f);
	ddio_group_free(g);
}

static void closed_when_heard(void)
{
	bool patient;

	patient = false;
	world(heard_then_closed, 3, NULL, &patient);
	patient = true;
	world(heard_then_closed, 3, NULL, &patient);
}

/* An open that met another call has failed on all members, which go on and count alike. */
static void opened_alone(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL, *none = NULL;
	struct orders_job j;
	int ret;

	ret = p->rank ? ddio_group_barrier(g) : ddio_open_all(g, "a", DDIO_CREATE, NULL, &none);
	CU_ASSERT_NOT_EQUAL(ret, 0);
	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	orders_list(p, &j, buf, 0, 4096);
	CU_ASSERT_EQUAL(job_run(p, g, f, &j), 0);
	CP_OK(p, ddio_group_barrier(g));
	ddio_close(f);
	ddio_group_free(g);
}

static void open_met_another(void)
{
	world(opened_alone, 3, NULL, NULL);
}

/* One of those that follow each other, in files of their own, or in one. */
static void stream_make(struct cp_proc *p, struct orders_job *j, bool alone)
{
	if (alone) {
		orders_array(p, j, buf, 65536);
		return;
	}
	orders_list(p, j, buf, 0, 65536 / 3);
	j->t.flags |= DDIO_XFER_OVERLAP;
}

/* The same, in the order of their file or in the group's: @flag is DDIO_XFER_FILE_ORDER or 0. */
static void stream_flagged(struct cp_proc *p, struct orders_job *j, bool alone, uint32_t flag)
{
	stream_make(p, j, alone);
	j->t.flags &= ~(uint32_t)DDIO_XFER_FILE_ORDER;
	j->t.flags |= flag;
}

/*
 * Others never leave the nodes without one of theirs: who is never beside others has its turn all the same, and so has who comes beside
 * such as are never beside others.
 */
static void beside_none(struct cp_proc *p)
{
	const bool *alone = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f[STREAMS + 1] = { NULL };
	struct orders_job j[STREAMS], rare;
	uint32_t k;

	p->session->transfers->ask_alone = 1;
	orders_open(p, g, f, STREAMS + 1);
	for (k = 0; k < STREAMS; k++) {
		stream_make(p, &j[k], *alone);
		CP_OK(p, ddio_start_write_all(f[*alone ? 0 : k], g, &j[k].t, &j[k].op));
		ddio_sim_sleep(p->env, 5 * CP_MS);
	}
	stream_make(p, &rare, !*alone);
	CP_OK(p, ddio_start_write_all(f[STREAMS], g, &rare.t, &rare.op));
	for (k = 0; k < ROUNDS; k++) {
		struct orders_job *job = &j[k % STREAMS];

		CP_OK(p, ddio_wait(job->op));
		CP_OK(p, ddio_start_write_all(f[*alone ? 0 : k % STREAMS], g, &job->t, &job->op));
	}
	CU_ASSERT_EQUAL(ddio_test(rare.op), 0);
	for (k = 0; k < STREAMS; k++)
		CP_OK(p, ddio_wait(j[k].op));
	CP_OK(p, ddio_wait(rare.op));
	orders_close(f, STREAMS + 1);
	ddio_group_free(g);
}

static void none_starves(void)
{
	bool alone;

	alone = false;
	world(beside_none, 3, "delay_us=3000", &alone);
	alone = true;
	world(beside_none, 3, "delay_us=3000", &alone);
}

/* A long one of a file keeps no blocking call of another waiting to its end. */
static void long_beside(struct cp_proc *p)
{
	const uint32_t *flag = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f[2] = { NULL };
	struct orders_job lasts, call;

	orders_open(p, g, f, 2);
	orders_list(p, &lasts, buf, 0, sizeof(buf));
	lasts.t.flags = DDIO_XFER_OVERLAP | *flag;
	CP_OK(p, ddio_start_write_all(f[0], g, &lasts.t, &lasts.op));
	ddio_sim_sleep(p->env, CP_MS);
	orders_list(p, &call, buf, 0, 24576);
	call.t.flags = 0;
	CP_OK(p, ddio_write_all(f[1], g, &call.t));
	CU_ASSERT_EQUAL(ddio_test(lasts.op), -EINPROGRESS);
	CP_OK(p, ddio_wait(lasts.op));
	orders_close(f, 2);
	ddio_group_free(g);
}

static void beside_a_long_one(void)
{
	uint32_t flag = 0;

	world(long_beside, 3, "delay_us=3000", &flag);
	flag = DDIO_XFER_FILE_ORDER;
	world(long_beside, 3, "delay_us=3000", &flag);
}

/* Very many that cannot be begin to end when the one that they have waited for is over: one after the other. */
static void no_tower(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file **f = calloc(TOWER_FILES + 1, sizeof(*f));
	struct orders_job *j = calloc(TOWER_FILES * TOWER_OPS, sizeof(*j)), first;
	uint32_t k;

	p->session->transfers->ask_alone = 1;
	orders_open(p, g, f, TOWER_FILES + 1);
	orders_array(p, &first, buf, 65536);
	CP_OK(p, ddio_start_write_all(f[TOWER_FILES], g, &first.t, &first.op));
	ddio_sim_sleep(p->env, 5 * CP_MS);
	for (k = 0; k < TOWER_FILES * TOWER_OPS; k++) {
		orders_list(p, &j[k], buf, 0, 4096);
		j[k].t.flags |= DDIO_XFER_OVERLAP;
		CP_OK(p, ddio_start_read_all(f[k / TOWER_OPS], g, &j[k].t, &j[k].op));
	}
	for (k = 0; k < TOWER_FILES * TOWER_OPS; k++)
		CU_ASSERT_EQUAL(ddio_wait(j[k].op), -ENODATA);
	CP_OK(p, ddio_wait(first.op));
	orders_close(f, TOWER_FILES + 1);
	free(f);
	free(j);
	ddio_group_free(g);
}

static void many_fail(void)
{
	world(no_tower, 2, "delay_us=100000", NULL);
}

/*
 * Others go on without a member, as often as they have waited for it long enough: all that it comes to afterwards has failed, and then they
 * are together again.
 */
static void far_behind(struct cp_proc *p)
{
	const uint64_t together = BEHIND * 3 * TIMEOUT_MS * CP_MS;
	const uint32_t *flag = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct orders_job j;
	uint32_t k;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	orders_list(p, &j, buf, 0, 4096);
	j.t.flags = *flag;
	if (p->rank == 1)
		ddio_sim_sleep(p->env, BEHIND * 2 * TIMEOUT_MS * CP_MS);
	for (k = 0; k < BEHIND; k++)
		CU_ASSERT_EQUAL(job_run(p, g, f, &j), -ETIMEDOUT);
	CU_ASSERT(ddio_sim_elapsed(p->w->dw) < together);
	ddio_sim_sleep(p->env, together - ddio_sim_elapsed(p->w->dw));
	CP_OK(p, job_run(p, g, f, &j));
	CU_ASSERT_EQUAL(g->nahead, 0);
	ddio_close(f);
	ddio_group_free(g);
}

static void behind(void)
{
	uint32_t flag;

	flag = 0;
	world(far_behind, 3, NULL, &flag);
	flag = DDIO_XFER_FILE_ORDER;
	world(far_behind, 3, NULL, &flag);
}

/* A number of an operation that is over fits no other one. */
static void late_number(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct ops *ops;
	struct orders_job j;
	uint64_t old = 0;
	uint32_t k;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	orders_list(p, &j, buf, 0, 4096);
	for (k = 0; k < 256; k++) {
		CU_ASSERT_EQUAL(job_run(p, g, f, &j), 0);
		ops = *group_state(g, &op_group_user);
		if (!k)
			old = ops->told.last;
	}
	CP_OK(p, ddio_group_barrier(g));
	/* The 257th waits for rank 0. */
	if (!p->rank)
		ddio_sim_sleep(p->env, CP_SEC);
	CP_OK(p, ddio_start_write_all(f, g, &j.t, &j.op));
	if (p->rank) {
		ddio_sim_sleep(p->env, CP_SEC / 2);
		CU_ASSERT_PTR_NULL(op_numbered(g, old));
	}
	CP_OK(p, ddio_wait(j.op));
	ddio_close(f);
	ddio_group_free(g);
}

static void old_numbers(void)
{
	world(late_number, 3, NULL, NULL);
}

/* From now on messages take as long as they like. */
static void messages_jitter(struct cp_proc *p)
{
	const struct ddio_sim_link jitters = { .latency_ns = 20000,
					       .jitter_ns = 5 * CP_MS,
					       .window = 1 << 20 };

	ddio_sim_set_link(p->env, &jitters);
}

/* Begins an epoch of the group's that has a write of the file, and leaves that in @write. */
static void epoch_with(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f,
		       struct orders_job *write)
{
	orders_array(p, write, buf, 65536);
	write->t.flags = 0;
	CP_OK(p, ddio_write_all(f, g, &write->t));
	CP_OK(p, ddio_epoch_begin(g));
	write->t.flags = DDIO_XFER_ATOMIC;
	CP_OK(p, ddio_write_all(f, g, &write->t));
}

/*
 * What members ask for, each its own nodes, takes its time to each; others that are asked for by one member, or by other members, do not
 * come to a node before it.
 */
static void overtakes(struct cp_proc *p)
{
	const uint32_t *flag = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f[2] = { NULL };
	struct orders_job j[OVERTAKES];
	uint32_t k;

	p->session->transfers->ask_alone = 1;
	orders_open(p, g, f, 2);
	messages_jitter(p);
	for (k = 0; k < OVERTAKES; k++) {
		stream_flagged(p, &j[k], k % 4 < 2, *flag);
		CP_OK(p, ddio_start_write_all(f[k & 1], g, &j[k].t, &j[k].op));
	}
	for (k = 0; k < OVERTAKES; k++)
		CP_OK(p, ddio_wait(j[k].op));
	orders_close(f, 2);
	ddio_group_free(g);
}

static void none_overtakes(void)
{
	struct cp_world w;
	uint32_t flag, k;

	for (k = 0; k < ut_rounds(60); k++) {
		flag = k & 1 ? DDIO_XFER_FILE_ORDER : 0;
		cp_world_begin(&w, &(struct cp_params){ .procs = 4,
							.nodes = 4,
							.seed = k,
							.timeout_ms = TIMEOUT_MS,
							.disk_size = "64M" });
		CU_ASSERT_EQUAL(cp_run(&w, overtakes, &flag), 0);
		cp_world_end(&w);
	}
}

struct hard_epoch {
	uint32_t flag;
	bool commit;
};

/* What waits for the end of an epoch of several files does not keep its other writes from it. */
static void epoch_waits(struct cp_proc *p)
{
	const struct hard_epoch *how = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL, *again = NULL, *other = NULL;
	struct orders_job write, read, rest;

	p->session->transfers->ask_alone = 1;
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	CP_OK(p, ddio_open_all(g, "f", 0, NULL, &again));
	CP_OK(p, ddio_open_all(g, "g", DDIO_CREATE, NULL, &other));
	epoch_with(p, g, f, &write);
	orders_list(p, &read, buf, 0, 65536);
	read.t.flags = how->flag;
	read.t.buf = buf + 65536;
	CP_OK(p, ddio_start_read_all(again, g, &read.t, &read.op));
	ddio_sim_sleep(p->env, CP_SEC);
	orders_array(p, &rest, buf, 65536);
	rest.t.flags = DDIO_XFER_ATOMIC;
	CP_OK(p, ddio_write_all(other, g, &rest.t));
	CU_ASSERT_EQUAL(ddio_test(read.op), -EINPROGRESS);
	CP_OK(p, how->commit ? ddio_epoch_commit(g) : ddio_epoch_abort(g));
	CP_OK(p, ddio_wait(read.op));
	ddio_close(f);
	ddio_close(again);
	ddio_close(other);
	ddio_group_free(g);
}

static void epoch_ends(void)
{
	struct hard_epoch how;
	uint32_t k;

	for (k = 0; k < 4; k++) {
		how.flag = k & 1 ? DDIO_XFER_FILE_ORDER : 0;
		how.commit = k & 2;
		world(epoch_waits, 3, NULL, &how);
	}
}

/* Very many that wait for the end of the group's epoch at nodes keep none of its writes from them, and not the end from coming. */
static void epoch_crowd(struct cp_proc *p)
{
	enum { CROWD = 60, WAIT = 32 };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL, *again = NULL, *other = NULL;
	struct orders_job write, read[CROWD];
	uint32_t k;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	CP_OK(p, ddio_open_all(g, "f", 0, NULL, &again));
	CP_OK(p, ddio_open_all(g, "g", DDIO_CREATE, NULL, &other));
	epoch_with(p, g, f, &write);
	for (k = 0; k < CROWD; k++) {
		orders_list(p, &read[k], buf, 0, 4096);
		read[k].t.flags = 0;
		read[k].t.buf = buf + 65536;
		CP_OK(p, ddio_start_read_all(again, g, &read[k].t, &read[k].op));
	}
	CP_OK(p, ddio_write_all(other, g, &write.t));
	CP_OK(p, ddio_epoch_commit(g));
	for (k = 0; k < CROWD; k++)
		CU_ASSERT_EQUAL(ddio_wait(read[k].op), k < WAIT ? 0 : -EBUSY);
	ddio_close(f);
	ddio_close(again);
	ddio_close(other);
	ddio_group_free(g);
}

static void epoch_crowded(void)
{
	world(epoch_crowd, 3, NULL, NULL);
}

/*
 * Whoever waits in an epoch for what waits for its end waits until it is given up: in the group's order by nodes, in the file's by rank 0
 * before these, after the same time.
 */
static void epoch_stuck(struct cp_proc *p)
{
	const uint32_t *flag = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL, *again = NULL;
	struct orders_job write, read;
	uint64_t waited;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	CP_OK(p, ddio_open_all(g, "f", 0, NULL, &again));
	epoch_with(p, g, f, &write);
	orders_list(p, &read, buf, 0, 65536);
	read.t.flags = *flag;
	read.t.buf = buf + 65536;
	waited = ddio_sim_elapsed(p->w->dw);
	CP_OK(p, ddio_read_all(again, g, &read.t));
	waited = ddio_sim_elapsed(p->w->dw) - waited;
	CU_ASSERT(waited > (DDIO_EPOCH_PATIENCE - 1) * TIMEOUT_MS * CP_MS);
	CU_ASSERT(waited < (DDIO_EPOCH_PATIENCE + 2) * TIMEOUT_MS * CP_MS);
	CU_ASSERT_EQUAL(ddio_epoch_commit(g), -ECANCELED);
	ddio_close(f);
	ddio_close(again);
	ddio_group_free(g);
}

static void epoch_given_up(void)
{
	uint32_t flag = 0;

	world(epoch_stuck, 3, NULL, &flag);
	flag = DDIO_XFER_FILE_ORDER;
	world(epoch_stuck, 3, NULL, &flag);
}

/*
 * A write of an epoch fails, and its file is used further before the epoch is given up: nodes do not keep what comes for it, so that it is
 * as anything else, whoever asks for it, and waits for nothing.
 */
static void epoch_failed(struct cp_proc *p)
{
	const uint32_t *flag = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL, *again[2] = { NULL };
	struct orders_job j[OVERTAKES], write;
	uint64_t began;
	uint32_t k;

	p->session->transfers->ask_alone = 1;
	orders_open(p, g, again, 2);
	CP_OK(p, ddio_open_all(g, "f0", 0, NULL, &f));
	CP_OK(p, ddio_epoch_begin(g));
	orders_list(p, &write, buf, 0, 65536);
	write.e.offset = 0;
	write.t.flags = DDIO_XFER_ATOMIC;
	CU_ASSERT_NOT_EQUAL(cp_note(p, ddio_write_all(f, g, &write.t)), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "both write"));
	began = ddio_sim_elapsed(p->w->dw);
	messages_jitter(p);
	for (k = 0; k < OVERTAKES; k++) {
		stream_flagged(p, &j[k], !(k & 1), *flag);
		CP_OK(p, ddio_start_write_all(again[k & 1], g, &j[k].t, &j[k].op));
	}
	for (k = 0; k < OVERTAKES; k++)
		CP_OK(p, ddio_wait(j[k].op));
	CU_ASSERT(ddio_sim_elapsed(p->w->dw) - began < TIMEOUT_MS * CP_MS);
	CU_ASSERT_EQUAL(ddio_epoch_commit(g), -ECANCELED);
	ddio_close(f);
	orders_close(again, 2);
	ddio_group_free(g);
}

/* Opens @n files, the first one twice, and begins an epoch that has a write of it.  From then on messages take as long as they like. */
static void epoch_open(struct cp_proc *p, struct ddio_group *g, struct ddio_file **f, uint32_t n,
		       struct ddio_file **again)
{
	struct orders_job write;

	p->session->transfers->ask_alone = 1;
	orders_open(p, g, f, n);
	CP_OK(p, ddio_open_all(g, "f0", 0, NULL, again));
	epoch_with(p, g, f[0], &write);
	messages_jitter(p);
}

/* The same of one that goes well: what waits for its end at nodes has come there before what comes after it. */
static void epoch_jitters(struct cp_proc *p)
{
	enum { EPOCH_OPS = 16 };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f[EPOCH_OPS + 1] = { NULL }, *again = NULL;
	struct orders_job j[EPOCH_OPS], read[EPOCH_OPS];
	uint32_t k;

	epoch_open(p, g, f, EPOCH_OPS + 1, &again);
	for (k = 0; k < EPOCH_OPS; k++) {
		stream_flagged(p, &read[k], k & 1, 0);
		read[k].t.buf = buf + 65536;
		CP_OK(p, ddio_start_read_all(again, g, &read[k].t, &read[k].op));
		stream_make(p, &j[k], k & 2);
		j[k].t.flags = DDIO_XFER_ATOMIC;
		CP_OK(p, ddio_start_write_all(f[k + 1], g, &j[k].t, &j[k].op));
	}
	for (k = 0; k < EPOCH_OPS; k++)
		CP_OK(p, ddio_wait(j[k].op));
	CP_OK(p, ddio_epoch_commit(g));
	for (k = 0; k < EPOCH_OPS; k++)
		CP_OK(p, ddio_wait(read[k].op));
	ddio_close(again);
	orders_close(f, EPOCH_OPS + 1);
	ddio_group_free(g);
}

/* So it is with what is in the orders of other files. */
static void epoch_beside(struct cp_proc *p)
{
	enum { READS = 4, BESIDE = 16 };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f[BESIDE + 1] = { NULL }, *again = NULL;
	struct orders_job j[BESIDE], read[READS];
	uint32_t k;

	epoch_open(p, g, f, BESIDE + 1, &again);
	for (k = 0; k < BESIDE; k++) {
		if (k % 4 == 0) {
			orders_array(p, &read[k / 4], buf + 65536, 65536);
			read[k / 4].t.flags = 0;
			CP_OK(p, ddio_start_read_all(again, g, &read[k / 4].t, &read[k / 4].op));
		}
		stream_make(p, &j[k], k & 1);
		CP_OK(p, ddio_start_write_all(f[k + 1], g, &j[k].t, &j[k].op));
		ddio_sim_sleep(p->env, 2 * CP_MS);
	}
	for (k = 0; k < BESIDE; k++)
		CP_OK(p, ddio_wait(j[k].op));
	CU_ASSERT(ddio_sim_elapsed(p->w->dw) < TIMEOUT_MS * CP_MS);
	CP_OK(p, ddio_epoch_commit(g));
	for (k = 0; k < READS; k++)
		CP_OK(p, ddio_wait(read[k].op));
	ddio_close(again);
	orders_close(f, BESIDE + 1);
	ddio_group_free(g);
}

static void epoch_in_order(void)
{
	uint32_t k;

	for (k = 0; k < ut_rounds(60); k++)
		orders_run(k & 1 ? epoch_beside : epoch_jitters,
			   (struct cp_params){ .procs = 4,
					       .nodes = 4,
					       .deep = k & 2,
					       .seed = k,
					       .timeout_ms = TIMEOUT_MS },
			   NULL);
}

static void epoch_used_further(void)
{
	uint32_t flag, k;

	for (k = 0; k < ut_rounds(60); k++) {
		flag = k & 1 ? DDIO_XFER_FILE_ORDER : 0;
		orders_run(epoch_failed,
			   (struct cp_params){
				   .procs = 4, .nodes = 4, .seed = k, .timeout_ms = TIMEOUT_MS },
			   &flag);
	}
}

/* Of @kind, with @n or no bytes. */
static void any_make(struct cp_proc *p, struct orders_job *j, uint32_t kind, bool none)
{
	static struct ddio_view view[1];
	static struct ddio_strided strided[1];

	if (kind == DDIO_PART_ARRAY) {
		orders_array(p, j, buf, none ? 0 : 512);
		return;
	}
	orders_list(p, j, buf, 0, 512);
	j->part.kind = kind;
	j->part.strided = strided;
	j->part.view = view;
	if (kind == DDIO_PART_LIST)
		j->part.list = &j->e;
	if (none || kind != DDIO_PART_LIST)
		j->part.n = 0;
}

/* A collective in which nobody, or not everybody, has a byte is one as any other. */
static void no_bytes(struct cp_proc *p)
{
	static const uint32_t methods[] = { 0, DDIO_METHOD_DDS, DDIO_METHOD_DD, DDIO_METHOD_TC,
					    DDIO_METHOD_2P };
	static const uint32_t kinds[] = { DDIO_PART_LIST, DDIO_PART_STRIDED, DDIO_PART_VIEW };
	enum { NONES = 4 * 5 * 3 };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f[2] = { NULL };
	struct orders_job j[NONES];
	uint32_t k;

	orders_open(p, g, f, 2);
	for (k = 0; k < NONES; k++) {
		any_make(p, &j[k], kinds[k % 3], k & 1 || p->rank == k % 4);
		j[k].t.method = methods[k % 5];
		if (k / 3 & 1)
			j[k].t.flags |= DDIO_XFER_OVERLAP;
		if (k % 7)
			CP_OK(p, ddio_start_write_all(f[k / 2 & 1], g, &j[k].t, &j[k].op));
		else
			CP_OK(p, ddio_start_read_all(f[k / 2 & 1], g, &j[k].t, &j[k].op));
	}
	for (k = 0; k < NONES; k++)
		if (k % 7 || k & 1)
			CP_OK(p, ddio_wait(j[k].op));
		else
			(void)ddio_wait(j[k].op);
	CP_OK(p, ddio_group_barrier(g));
	orders_close(f, 2);
	ddio_group_free(g);
}

static void of_nothing(void)
{
	uint32_t procs;

	for (procs = 1; procs <= 4; procs++)
		world(no_bytes, procs, NULL, NULL);
}

/* All have closed the file of what rank 0 holds until the end of the epoch: it comes to its end after that. */
static void epoch_closed(struct cp_proc *p)
{
	const bool *commit = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL, *again = NULL;
	struct orders_job write, read[OVERTAKES];
	uint32_t k;

	orders_open(p, g, &again, 1);
	CP_OK(p, ddio_open_all(g, "f0", 0, NULL, &f));
	epoch_with(p, g, f, &write);
	for (k = 0; k < OVERTAKES; k++) {
		orders_list(p, &read[k], buf + 65536, 0, 65536);
		CP_OK(p, ddio_start_read_all(again, g, &read[k].t, &read[k].op));
	}
	ddio_sim_sleep(p->env, CP_SEC);
	ddio_close(again);
	ddio_close(f);
	CP_OK(p, *commit ? ddio_epoch_commit(g) : ddio_epoch_abort(g));
	for (k = 0; k < OVERTAKES; k++)
		CP_OK(p, ddio_wait(read[k].op));
	CU_ASSERT_EQUAL(g->orders.n, 0);
	CU_ASSERT_TRUE(ddio_list_empty(&g->fans));
	ddio_group_free(g);
}

static void closed_in_epoch(void)
{
	bool commit;

	commit = false;
	world(epoch_closed, 3, NULL, &commit);
	commit = true;
	world(epoch_closed, 3, NULL, &commit);
}

/* A member dies whose steps rank 0 keeps, in an epoch, and outside of one. */
static void dies_ahead(struct cp_proc *p)
{
	const bool *epoch = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f[3] = { NULL };
	struct orders_job write, j[BEHIND];
	uint32_t k;

	orders_open(p, g, f, 3);
	orders_array(p, &write, buf, 65536);
	write.t.flags = DDIO_XFER_ATOMIC;
	if (*epoch) {
		CP_OK(p, ddio_epoch_begin(g));
		CP_OK(p, ddio_write_all(f[2], g, &write.t));
	}
	if (!p->rank)
		ddio_sim_sleep(p->env, CP_SEC);
	for (k = 0; k < BEHIND; k++) {
		stream_make(p, &j[k], k % 16 == 15);
		CP_OK(p, ddio_start_write_all(f[k & 1], g, &j[k].t, &j[k].op));
	}
	if (p->rank == 2) {
		ddio_sim_sleep(p->env, CP_SEC / 2);
		ddio_sim_cut(p->env);
	}
	for (k = 0; k < BEHIND; k++)
		CU_ASSERT_NOT_EQUAL(ddio_wait(j[k].op), 0);
	CU_ASSERT_NOT_EQUAL(ddio_group_check(g), 0);
	CU_ASSERT_EQUAL(g->nahead, 0);
	CU_ASSERT_EQUAL(g->ahead_bytes, 0);
	CU_ASSERT_EQUAL(g->lent_bytes, 0);
	orders_close(f, 3);
	ddio_group_free(g);
}

static void dead_ahead(void)
{
	bool epoch;

	epoch = false;
	world(dies_ahead, 4, NULL, &epoch);
	epoch = true;
	world(dies_ahead, 4, NULL, &epoch);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "heard of, and then the file is closed", closed_when_heard },
		{ "an open that met another call", open_met_another },
		{ "who is never beside others has its turn", none_starves },
		{ "a call beside a long one", beside_a_long_one },
		{ "very many fail", many_fail },
		{ "a member is far behind", behind },
		{ "a number of one that is over", old_numbers },
		{ "an epoch's other writes", epoch_ends },
		{ "no start overtakes another", none_overtakes },
		{ "a crowd behind an epoch", epoch_crowded },
		{ "an epoch that is given up", epoch_given_up },
		{ "an epoch that has failed, used further", epoch_used_further },
		{ "what waits for an epoch's end", epoch_in_order },
		{ "of nothing", of_nothing },
		{ "an epoch's file is closed", closed_in_epoch },
		{ "a member that is ahead dies", dead_ahead },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "orders of files, hard", cases } };

	return cp_ut_run("cp_order_hard", suites, 1);
}
