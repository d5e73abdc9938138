// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collectives in the order of their file: members begin those of several files in orders of their own, with what is in the group's order
 * anywhere between.  Each moves its bytes, or fails on all; who does not take part keeps nobody waiting.  With a member that knows no
 * such orders all have the group's.
 */
#include "base/rand.h"
#include "conn/conn_priv.h"
#include "cp/coll/starts.h"
#include "tests/unit/cp/group/cp_orders.h"

enum { FILES_MAX = 60, OPS_MAX = 24, PROCS_MAX = 18, TIMEOUT_MS = 3000, LATE_S = 600 };
enum { PIECES = 4, BASE = 64 << 10, BLOCKING = 3, KINDS = 10 };

/**
 * struct order_plan - what all members do, each in its own order of files
 * @only: one kind of all operations; KINDS: all kinds
 * @backwards: members with odd ranks take the files from the last to the first, instead of any
 */
struct order_plan {
	uint64_t seed;
	uint32_t files, ops, only;
	bool backwards;
};

/* One operation of a member, with what it points to. */
struct order_job {
	struct ddio_extent list;
	struct ddio_strided strided;
	struct ddio_tree_node leaf;
	struct ddio_tree tree;
	struct ddio_view view;
	struct ddio_array array;
	struct ddio_part part;
	struct ddio_transfer t;
	struct ddio_op *op;
	uint64_t base, piece;
	uint8_t *buf;
};

/* Bytes of a member, in up to PIECES pieces. */
static uint64_t share(uint32_t i)
{
	static const uint64_t bytes[] = { 8 * PIECES, 512, 4096 };

	return bytes[i % 3];
}

static uint64_t place_of(const struct order_job *job, uint32_t rank, uint32_t procs, uint64_t k)
{
	if (job->part.kind == DDIO_PART_STRIDED)
		return job->base + (k / job->piece * procs + rank) * job->piece + k % job->piece;
	return job->base + rank * job->piece * PIECES + k;
}

static void part_make(struct order_job *job, uint32_t rank, uint32_t procs)
{
	uint64_t len = job->piece * PIECES, at = job->base + rank * len;

	job->part.n = 1;
	switch (job->part.kind) {
	case DDIO_PART_LIST:
		job->list = (struct ddio_extent){ at, len };
		job->part.list = &job->list;
		break;
	case DDIO_PART_STRIDED:
		job->strided = (struct ddio_strided){
			.offset = job->base + rank * job->piece,
			.len = job->piece,
			.nlevels = 1,
			.level = { { PIECES, (int64_t)(procs * job->piece) } }
		};
		job->part.strided = &job->strided;
		break;
	case DDIO_PART_VIEW:
		job->leaf = (struct ddio_tree_node){ .kind = DDIO_TREE_LEAF, .n = len };
		job->tree = (struct ddio_tree){ .nnodes = 1, .node = &job->leaf };
		job->view = (struct ddio_view){
			.tree = &job->tree, .offset = at, .extent = len, .len = len
		};
		job->part.view = &job->view;
		break;
	default:
		job->array = (struct ddio_array){
			.file_offset = job->base,
			.elem_size = 8,
			.ndims = 1,
			.dim = { { .size = len / 8 * procs, .dist = DDIO_BLOCK, .procs = procs } }
		};
		job->part.array = &job->array;
	}
}

static void job_make(struct order_job *job, const struct cp_proc *p, uint32_t file, uint32_t i,
		     bool write)
{
	static const struct {
		uint32_t method, part, flags;
	} kind[KINDS] = {
		{ 0, DDIO_PART_LIST, DDIO_XFER_OVERLAP },
		{ 0, DDIO_PART_ARRAY, 0 },
		{ DDIO_METHOD_DDS, DDIO_PART_STRIDED, 0 },
		{ DDIO_METHOD_DD, DDIO_PART_ARRAY, 0 },
		{ DDIO_METHOD_TC, DDIO_PART_LIST, 0 },
		{ DDIO_METHOD_2P, DDIO_PART_STRIDED, 0 },
		{ 0, DDIO_PART_VIEW, DDIO_XFER_OVERLAP },
		{ DDIO_METHOD_2P, DDIO_PART_ARRAY, 0 },
		{ DDIO_METHOD_DDS, DDIO_PART_VIEW, DDIO_XFER_SYNC },
		{ DDIO_METHOD_DDS, DDIO_PART_LIST, DDIO_XFER_OVERLAP },
	};
	const struct order_plan *plan = p->w->arg;
	uint32_t procs = p->w->p.procs;
	uint32_t k = plan->only < KINDS ? plan->only : (i + file) % KINDS;
	uint64_t n;

	*job = (struct order_job){ .base = (uint64_t)i * procs * 4096 + (file & 3) * 24,
				   .piece = share(i + file / 2) / PIECES };
	job->part.kind = kind[k].part;
	part_make(job, p->rank, procs);
	job->buf = malloc(job->piece * PIECES);
	for (n = 0; n < job->piece * PIECES; n++)
		job->buf[n] = write ? cp_byte(file, place_of(job, p->rank, procs, n)) : 0;
	job->t = (struct ddio_transfer){ .struct_size = sizeof(job->t),
					 .part = &job->part,
					 .buf = job->buf,
					 .method = kind[k].method,
					 .flags = kind[k].flags | DDIO_XFER_FILE_ORDER };
	if (!write)
		job->t.flags = (job->t.flags & ~DDIO_XFER_SYNC) | DDIO_XFER_SHORT;
}

static void job_check(struct order_job *job, const struct cp_proc *p, uint32_t file)
{
	uint64_t n, bad = 0;

	for (n = 0; n < job->piece * PIECES; n++)
		bad += job->buf[n] != cp_byte(file, place_of(job, p->rank, p->w->p.procs, n));
	CU_ASSERT_EQUAL(bad, 0);
}

/* A call in the group's order, which no other one is to be taken for: all members' @n-th. */
static void block(struct cp_proc *p, struct ddio_group *g, struct ddio_file *common, uint32_t n)
{
	uint8_t byte[600];
	struct ddio_extent e = { (n * p->w->p.procs + p->rank) * sizeof(byte), sizeof(byte) };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = byte };

	memset(byte, (int)(n + p->rank), sizeof(byte));
	CP_OK(p, ddio_write_all(common, g, &t));
	memset(byte, 0xff, sizeof(byte));
	CP_OK(p, ddio_read_all(common, g, &t));
	CU_ASSERT_EQUAL(byte[sizeof(byte) - 1], n + p->rank);
}

/* Returns the file whose turn it is on this member; the number of files: a call in the group's order. */
static uint32_t next_file(const struct cp_proc *p, const uint32_t *begun, uint32_t blocked,
			  uint64_t *rng)
{
	const struct order_plan *plan = p->w->arg;
	uint32_t f;

	if (plan->backwards) {
		for (f = 0; f < plan->files; f++) {
			uint32_t which = p->rank & 1 ? plan->files - 1 - f : f;

			if (begun[which] < plan->ops)
				return which;
		}
		return plan->files;
	}
	do
		f = (uint32_t)ddio_rand_below(rng, plan->files + 1);
	while (f < plan->files ? begun[f] == plan->ops : blocked == BLOCKING);
	return f;
}

/* Members need not be as fast as each other. */
static void linger(struct cp_proc *p, uint64_t *rng)
{
	uint64_t times = p->rank % 3 + 1;

	if (!ddio_rand_below(rng, 4))
		ddio_sim_sleep(p->env, ddio_rand_below(rng, 300000) * times / 2);
}

static void begin_all(struct cp_proc *p, struct ddio_group *g, struct ddio_file **file,
		      struct order_job (*job)[OPS_MAX], bool write, uint64_t *rng)
{
	const struct order_plan *plan = p->w->arg;
	uint32_t begun[FILES_MAX] = { 0 }, blocked = 0, left = plan->files * plan->ops + BLOCKING,
		 f;
	struct order_job *j;

	for (; left; left--) {
		f = next_file(p, begun, blocked, rng);
		if (f == plan->files) {
			block(p, g, file[f], blocked++);
			continue;
		}
		j = &job[f][begun[f]];
		job_make(j, p, f, begun[f]++, write);
		CP_OK(p, write ? ddio_start_write_all(file[f], g, &j->t, &j->op)
			       : ddio_start_read_all(file[f], g, &j->t, &j->op));
		linger(p, rng);
	}
}

static void wait_all(struct cp_proc *p, struct order_job (*job)[OPS_MAX], bool write)
{
	const struct order_plan *plan = p->w->arg;
	uint32_t f, i;

	for (f = plan->files; f-- > 0;)
		for (i = 0; i < plan->ops; i++) {
			CP_OK(p, ddio_wait(job[f][i].op));
			if (!write)
				job_check(&job[f][i], p, f);
			free(job[f][i].buf);
		}
}

/* Returns how many steps of files are left. */
static unsigned int file_fans(const struct ddio_group *g)
{
	const struct fan *fan;
	unsigned int n = 0;

	ddio_list_for_each_entry(fan, &g->fans, link)
		n += order_key(fan->seq / STEP_NUMBERS) != 0;
	return n;
}

static void any_order(struct cp_proc *p)
{
	const struct order_plan *plan = p->w->arg;
	struct order_job(*job)[OPS_MAX] = calloc(FILES_MAX, sizeof(*job));
	struct ddio_file *file[FILES_MAX + 1] = { NULL };
	uint64_t rng = plan->seed * 1000 + p->rank;
	struct ddio_group *g = cp_group(p);
	int write;

	orders_open(p, g, file, plan->files + 1);
	CU_ASSERT_EQUAL(ddio_file_has_order(file[0]), 1);
	for (write = 1; write >= 0; write--) {
		begin_all(p, g, file, job, write, &rng);
		wait_all(p, job, write);
	}
	CU_ASSERT_EQUAL(file_fans(g), 0);
	CU_ASSERT_TRUE(ddio_list_empty(group_ops(g)));
	CP_OK(p, ddio_group_barrier(g));
	orders_close(file, plan->files + 1);
	CU_ASSERT_EQUAL(g->orders.n, 0);
	free(job);
	ddio_group_free(g);
}

/* Disks take their time, so that much is under way. */
static bool slow;

static void world(void (*fn)(struct cp_proc *p), uint32_t procs, bool deep, struct order_plan *plan)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = procs,
						.deep = deep,
						.seed = plan ? plan->seed : 0,
						.options = slow ? "delay_us=3000" : NULL,
						.timeout_ms = TIMEOUT_MS,
						.disk_size = "64M" });
	CU_ASSERT_EQUAL(cp_run(&w, fn, plan), 0);
	cp_world_end(&w);
}

static void random_orders(void)
{
	struct order_plan plan = { .only = KINDS };
	uint64_t rng = 1;
	uint32_t k, procs;

	for (k = 0; k < ut_rounds(40); k++) {
		plan.seed = k;
		plan.files = 2 + (uint32_t)ddio_rand_below(&rng, 5);
		plan.ops = 2 + (uint32_t)ddio_rand_below(&rng, OPS_MAX - 2);
		procs = 1 + (uint32_t)ddio_rand_below(&rng, k % 8 ? 6 : PROCS_MAX);
		world(any_order, procs, k & 1, &plan);
	}
}

static void each_kind(void)
{
	struct order_plan plan = { .files = 3, .ops = OPS_MAX };

	for (plan.only = 0; plan.only < KINDS; plan.only++)
		world(any_order, 4, plan.only & 1, &plan);
}

/* More of one file than a node takes of the group, and then those of the next: half the members begin with the last. */
static void against_each_other(struct cp_proc *p)
{
	const struct order_plan *plan = p->w->arg;
	struct order_job(*job)[OPS_MAX] = calloc(FILES_MAX, sizeof(*job));
	struct ddio_file *file[FILES_MAX] = { NULL };
	struct ddio_group *g = cp_group(p);
	uint32_t begun[FILES_MAX] = { 0 }, left = plan->files * plan->ops, f;
	struct order_job *j;

	orders_open(p, g, file, plan->files);
	for (; left; left--) {
		f = next_file(p, begun, BLOCKING, NULL);
		j = &job[f][begun[f]];
		job_make(j, p, f, begun[f]++, true);
		CP_OK(p, ddio_start_write_all(file[f], g, &j->t, &j->op));
	}
	wait_all(p, job, true);
	CU_ASSERT_EQUAL(((struct ops *)*group_state(g, &op_group_user))->nstarted, 0);
	orders_close(file, plan->files);
	free(job);
	ddio_group_free(g);
}

static void crowds(void)
{
	struct order_plan plan = {
		.files = FILES_MAX, .ops = OPS_MAX, .only = 6, .backwards = true
	};

	world(against_each_other, 4, false, &plan);
	slow = true;
	plan.only = 9;
	plan.files = 8;
	world(against_each_other, 5, true, &plan);
	slow = false;
}

/*
 * Two files
 */
static int start(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f, uint32_t flags,
		 struct ddio_op **op)
{
	static uint8_t buf[4096];
	struct orders_job j;

	orders_list(p, &j, buf, 0, sizeof(buf));
	j.t.flags = flags;
	*op = NULL;
	return cp_note(p, ddio_start_write_all(f, g, &j.t, op));
}

static int run(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f, uint32_t flags)
{
	struct ddio_op *op;
	int ret = start(p, g, f, flags, &op);

	return ret ? ret : cp_note(p, ddio_wait(op));
}

/* In the group's order all hear that they differ, and can go on. */
static void told_apart(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *file[2] = { NULL };
	struct ddio_op *op;

	orders_open(p, g, file, 2);
	CU_ASSERT_EQUAL(run(p, g, file[p->rank & 1], 0), -EBADE);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "means file"));
	CU_ASSERT_EQUAL(start(p, g, file[p->rank & 1], DDIO_XFER_FILE_ORDER, &op), 0);
	CU_ASSERT_EQUAL(run(p, g, file[p->rank & 1], 0), -EBADE);
	CP_OK(p, run(p, g, file[0], 0));
	CP_OK(p, run(p, g, file[!(p->rank & 1)], DDIO_XFER_FILE_ORDER));
	CP_OK(p, ddio_wait(op));
	orders_close(file, 2);
	ddio_group_free(g);
}

static void others_told_apart(void)
{
	world(told_apart, 4, false, NULL);
	world(told_apart, 5, true, NULL);
}

/* What the flag needs is looked at before anybody hears of the call. */
static void refused(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p), *half = NULL;
	struct ddio_file *together = NULL, *alone = NULL;
	struct ddio_op *op;
	uint64_t last;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &together));
	CP_OK(p, ddio_open(p->session, "f", 0, NULL, &alone));
	CP_OK(p, ddio_group_split(g, (int)(p->rank & 1), 0, &half));
	last = g->own.last;
	CU_ASSERT_EQUAL(run(p, g, alone, DDIO_XFER_FILE_ORDER), -EINVAL);
	CU_ASSERT_EQUAL(run(p, half, together, DDIO_XFER_FILE_ORDER), -EINVAL);
	CU_ASSERT_EQUAL(
		cp_note(p, ddio_start_write(together,
					    &(struct ddio_transfer){
						    .struct_size = sizeof(struct ddio_transfer),
						    .flags = DDIO_XFER_FILE_ORDER },
					    &op)),
		-EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "not opened by all"));
	CU_ASSERT_EQUAL(g->own.last, last);
	/* Who has none of the keys has the group's order. */
	CP_OK(p, ddio_group_barrier(g));
	g->nopened = ORDERS_MAX;
	ddio_close(alone);
	CP_OK(p, ddio_open_all(g, "f", 0, NULL, &alone));
	last = g->own.last;
	CP_OK(p, run(p, g, alone, DDIO_XFER_FILE_ORDER));
	CU_ASSERT_EQUAL(g->own.last, last + 1);
	ddio_group_free(half);
	ddio_close(alone);
	ddio_group_free(g);
	/* A file may outlive its group. */
	ddio_close(together);
}

static void flag_refused(void)
{
	world(refused, 4, false, NULL);
}

/*
 * Who does not take part
 */
struct order_fate {
	uint32_t who;
	bool patient;
	int ret;
};

static struct ddio_group *begin_fate(struct cp_proc *p, struct ddio_file **file)
{
	const struct order_fate *fate = p->w->arg;
	struct ddio_group *g = cp_group(p);

	if (fate->patient)
		CP_OK(p, ddio_group_set_patient(g));
	orders_open(p, g, file, 2);
	return g;
}

/* Its file is closed: all others hear of that, also much later, and the group is as good as before. */
static void closed(struct cp_proc *p)
{
	const struct order_fate *fate = p->w->arg;
	struct ddio_file *file[2] = { NULL };
	struct ddio_group *g = begin_fate(p, file);
	uint64_t began;
	int k, ret;

	for (k = 0; k < 3; k++)
		CP_OK(p, run(p, g, file[0], DDIO_XFER_FILE_ORDER));
	CP_OK(p, ddio_group_barrier(g));
	began = ddio_sim_elapsed(p->w->dw);
	if (p->rank == fate->who)
		ddio_close(file[0]);
	for (k = 0; p->rank != fate->who && k < 3; k++) {
		ret = run(p, g, file[0], DDIO_XFER_FILE_ORDER);
		CU_ASSERT_EQUAL(ret, fate->ret);
	}
	ddio_sim_sleep(p->env, 30 * CP_SEC - (ddio_sim_elapsed(p->w->dw) - began));
	CU_ASSERT_EQUAL(file_fans(g), 0);
	CP_OK(p, run(p, g, file[1], DDIO_XFER_FILE_ORDER));
	CP_OK(p, ddio_group_barrier(g));
	if (p->rank != fate->who)
		ddio_close(file[0]);
	ddio_close(file[1]);
	ddio_group_free(g);
}

/* A leaf is asked when the others have waited for a while. */
static void file_closed(void)
{
	struct order_fate fate = { 0 };
	struct cp_world w;
	uint32_t k;

	for (k = 0; k < 4 * 5; k++) {
		fate = (struct order_fate){ .who = k % 5, .patient = k / 5 & 1, .ret = -EINVAL };
		cp_world_begin(&w, &(struct cp_params){
					   .procs = 5, .deep = k >= 10, .timeout_ms = TIMEOUT_MS });
		CU_ASSERT_EQUAL(cp_run(&w, closed, &fate), 0);
		cp_world_end(&w);
	}
}

static void late(struct cp_proc *p)
{
	const struct order_fate *fate = p->w->arg;
	struct ddio_file *file[2] = { NULL };
	struct ddio_group *g = begin_fate(p, file);

	if (p->rank == fate->who)
		ddio_sim_sleep(p->env, LATE_S * CP_SEC);
	CU_ASSERT_EQUAL(run(p, g, file[0], DDIO_XFER_FILE_ORDER), fate->ret);
	CP_OK(p, run(p, g, file[1], DDIO_XFER_FILE_ORDER));
	orders_close(file, 2);
	ddio_group_free(g);
}

static void one_is_late(void)
{
	struct order_fate fate;
	struct cp_world w;
	uint32_t k;

	for (k = 0; k < 4; k++) {
		fate = (struct order_fate){ .who = k, .patient = true };
		cp_world_begin(&w, &(struct cp_params){
					   .procs = 4, .deep = k & 1, .timeout_ms = TIMEOUT_MS });
		ddio_sim_limit(w.dw, 4 * LATE_S * CP_SEC);
		CU_ASSERT_EQUAL(cp_run(&w, late, &fate), 0);
		cp_world_end(&w);
	}
}

/* In a group that is not patient the others hear whom they have waited for, and so does that one. */
static void missing(struct cp_proc *p)
{
	const struct order_fate *fate = p->w->arg;
	struct ddio_file *file[2] = { NULL };
	struct ddio_group *g = begin_fate(p, file);
	uint64_t began = ddio_sim_elapsed(p->w->dw);

	if (p->rank == fate->who)
		ddio_sim_sleep(p->env, 20 * CP_SEC);
	CU_ASSERT_EQUAL(run(p, g, file[0], DDIO_XFER_FILE_ORDER), -ETIMEDOUT);
	ddio_sim_sleep(p->env, 30 * CP_SEC - (ddio_sim_elapsed(p->w->dw) - began));
	CP_OK(p, run(p, g, file[0], DDIO_XFER_FILE_ORDER));
	orders_close(file, 2);
	ddio_group_free(g);
}

static void one_is_missed(void)
{
	struct order_fate fate;
	struct cp_world w;
	uint32_t k;

	for (k = 0; k < 4; k++) {
		fate = (struct order_fate){ .who = k };
		cp_world_begin(&w, &(struct cp_params){
					   .procs = 4, .deep = k & 1, .timeout_ms = TIMEOUT_MS });
		CU_ASSERT_EQUAL(cp_run(&w, missing, &fate), 0);
		cp_world_end(&w);
	}
}

static void dies(struct cp_proc *p)
{
	const struct order_fate *fate = p->w->arg;
	struct ddio_file *file[2] = { NULL };
	struct ddio_group *g = begin_fate(p, file);
	struct ddio_op *op[6] = { NULL };
	int k;

	CP_OK(p, ddio_group_barrier(g));
	ddio_sim_sleep(p->env, CP_SEC);
	for (k = 0; k < 6; k++)
		CU_ASSERT_EQUAL(start(p, g, file[(k + p->rank) & 1], DDIO_XFER_FILE_ORDER, &op[k]),
				0);
	if (p->rank == fate->who)
		ddio_sim_cut(p->env);
	for (k = 0; k < 6; k++)
		cp_note(p, ddio_wait(op[k]));
	if (p->rank != fate->who)
		CU_ASSERT_NOT_EQUAL(run(p, g, file[0], DDIO_XFER_FILE_ORDER), 0);
	orders_close(file, 2);
	ddio_group_free(g);
}

static void one_dies(void)
{
	struct order_fate fate;
	struct cp_world w;
	uint32_t k;

	for (k = 0; k < 5; k++) {
		fate = (struct order_fate){ .who = k, .patient = true };
		cp_world_begin(&w, &(struct cp_params){
					   .procs = 5, .deep = k & 1, .timeout_ms = TIMEOUT_MS });
		CU_ASSERT_EQUAL(cp_run(&w, dies, &fate), 0);
		cp_world_end(&w);
	}
}

/*
 * Numbers
 */
static struct ops *ops_of(struct ddio_group *g)
{
	return *group_state(g, &op_group_user);
}

/* As long as no file's order is used nodes hear of turns; from then on numbers rise, and all members count alike. */
static void numbers(struct cp_proc *p)
{
	static uint64_t last[PROCS_MAX];
	struct ddio_group *g = cp_group(p);
	struct ddio_file *file[2] = { NULL };
	uint64_t before = 0;
	uint32_t k, r;

	orders_open(p, g, file, 2);
	CP_OK(p, run(p, g, file[0], 0));
	CU_ASSERT_EQUAL(ops_of(g)->told.last, g->own.last);
	for (k = 0; k < 12; k++) {
		/* A start that failed at rank 0 has used some. */
		if (!p->rank && k % 4 == 3)
			ops_of(g)->used.last += 3ull << 30;
		CP_OK(p, run(p, g, file[k & 1], k % 3 ? DDIO_XFER_FILE_ORDER : 0));
		last[p->rank] = ops_of(g)->told.last;
		CU_ASSERT(last[p->rank] > before);
		before = last[p->rank];
		CP_OK(p, ddio_group_barrier(g));
		for (r = 0; r < p->w->p.procs; r++)
			CU_ASSERT_EQUAL(last[r], before);
		CP_OK(p, ddio_group_barrier(g));
	}
	orders_close(file, 2);
	ddio_group_free(g);
}

static void rising_numbers(void)
{
	world(numbers, 4, false, NULL);
	world(numbers, 7, true, NULL);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "members begin in orders of their own", random_orders },
		{ "each method, and each kind of part", each_kind },
		{ "more than nodes take, against each other", crowds },
		{ "in the group's order they are told apart", others_told_apart },
		{ "a file that was not opened by all has none", flag_refused },
		{ "a member has closed the file", file_closed },
		{ "a member is late", one_is_late },
		{ "a member is missed", one_is_missed },
		{ "a member dies", one_dies },
		{ "the numbers that nodes hear", rising_numbers },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "orders of files", cases } };

	return cp_ut_run("cp_order", suites, 1);
}
