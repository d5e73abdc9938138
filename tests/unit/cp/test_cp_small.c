// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small transfers: what is one, the messages that one takes, what goes wrong in it, and what a member knows of the
 * nodes that rank 0 wrote to.  Their bytes are compared in test_cp_methods.
 */
#include "base/bytes.h"
#include "cp/coll/op.h"
#include "cp/group/fan/fan.h"
#include "tests/unit/cp/cp_world.h"

enum { PROCS = 7, ELEMS = 2000, BYTES = ELEMS * 8 };

static struct ddio_array cyclic(uint64_t elems, uint32_t procs)
{
	return (struct ddio_array){
		.elem_size = 8,
		.ndims = 1,
		.dim = { { .size = elems, .dist = DDIO_CYCLIC, .procs = procs } }
	};
}

/* Shares are not of an array, which all know, but strided parts, which only rank 0 sees together. */
static bool as_parts;

static struct ddio_strided share_of(uint32_t rank, uint32_t procs, uint64_t bytes)
{
	return (struct ddio_strided){ .offset = 8 * rank,
				      .len = 8,
				      .nlevels = 1,
				      .level = { { bytes / 8, 8 * (int64_t)procs } } };
}

/* Moves the share of the array's @elems elements; the bytes are those that @salt names. */
static int move(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f, uint64_t elems,
		bool write, uint32_t flags, uint64_t salt, struct ddio_report *report)
{
	struct ddio_array array = cyclic(elems, p->w->p.procs);
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	struct ddio_transfer t = {
		.struct_size = sizeof(t), .part = &part, .flags = flags, .report = report
	};
	struct ddio_strided mine;
	uint64_t n = 0, i, at, wrong = 0;
	uint8_t *buf;
	int ret;

	CU_ASSERT_EQUAL(ddio_array_share(&array, p->w->p.procs, p->rank, &n, NULL), 0);
	if (as_parts) {
		mine = share_of(p->rank, p->w->p.procs, n);
		part = (struct ddio_part){ .kind = DDIO_PART_STRIDED,
					   .n = n > 0,
					   .strided = &mine };
	}
	buf = calloc(1, n + 1);
	t.buf = buf;
	for (i = 0; write && i < n; i++)
		buf[i] = cp_byte(salt, (i / 8 * p->w->p.procs + p->rank) * 8 + i % 8);
	report->struct_size = sizeof(*report);
	ret = cp_note(p, write ? ddio_write_all(f, g, &t) : ddio_read_all(f, g, &t));
	for (i = 0; !write && !ret && i < report->bytes_moved; i++) {
		at = (i / 8 * p->w->p.procs + p->rank) * 8 + i % 8;
		wrong += buf[i] != cp_byte(salt, at);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	free(buf);
	return ret;
}

/*
 * What is small, and what it costs
 */
static const struct {
	uint64_t elems;
	uint32_t flags;
	bool small;
} borders[] = {
	{ 1, 0, true },
	{ 8192, 0, true },
	{ 8193, 0, false },
	{ 100, DDIO_XFER_SHORT, true },
	{ 100, DDIO_XFER_NO_SCATTER, true },
	{ 100, DDIO_XFER_SYNC, false },
	{ 100, DDIO_XFER_ROTATE, false },
	{ 100, DDIO_XFER_SATF, false },
	{ 100, DDIO_XFER_NO_BATCH, false },
	{ 100, DDIO_XFER_OVERLAP, false },
};

static uint64_t messages[CP_PROCS];

static uint64_t messages_all(struct cp_proc *p, struct ddio_group *g,
			     const struct ddio_report *report)
{
	uint64_t n = 0;
	uint32_t r;

	messages[p->rank] = report->messages;
	CP_OK(p, ddio_group_barrier(g));
	for (r = 0; r < p->w->p.procs; r++)
		n += messages[r];
	CP_OK(p, ddio_group_barrier(g));
	return n;
}

static void at_borders(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_report report = { 0 };
	struct ddio_file *f = NULL;
	uint32_t want;
	size_t i;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	for (i = 0; i < sizeof(borders) / sizeof(borders[0]); i++) {
		want = borders[i].small ? DDIO_METHOD_SMALL : DDIO_METHOD_DDS;
		CU_ASSERT_EQUAL(move(p, g, f, borders[i].elems, true, borders[i].flags, i, &report),
				0);
		CU_ASSERT_EQUAL(report.method, want);
		CU_ASSERT_EQUAL(
			move(p, g, f, borders[i].elems, false, borders[i].flags, i, &report), 0);
		CU_ASSERT_EQUAL(report.method, want);
	}
	/* Up and down each of the tree's edges, each counted at both ends; and a block to and from its node. */
	CU_ASSERT_EQUAL(move(p, g, f, 128, true, 0, 9, &report), 0);
	CU_ASSERT_EQUAL(messages_all(p, g, &report), 4 * (PROCS - 1) + 2);
	CU_ASSERT_EQUAL(move(p, g, f, 128, false, 0, 9, &report), 0);
	CU_ASSERT_EQUAL(messages_all(p, g, &report), 4 * (PROCS - 1) + 2);
	ddio_close(f);
	ddio_group_free(g);
}

static void borders_and_messages(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS });
	CU_ASSERT_EQUAL(cp_run(&w, at_borders, NULL), 0);
	cp_world_end(&w);
}

/*
 * One process alone: a range without holes is small, however it is described
 */
enum { MANY = 64 };

static const struct {
	uint64_t len[2], gap;
	uint32_t flags, method;
} ranges[] = {
	{ { 1, 0 }, 0, 0, DDIO_METHOD_SMALL },
	{ { 65536, 0 }, 0, 0, DDIO_METHOD_SMALL },
	{ { 65537, 0 }, 0, 0, DDIO_METHOD_DDS },
	{ { 100, 200 }, 0, DDIO_XFER_SHORT, DDIO_METHOD_SMALL },
	{ { 100, 200 }, 1, 0, DDIO_METHOD_DDS },
	{ { 100, 0 }, 0, DDIO_XFER_SYNC, DDIO_METHOD_DDS },
	{ { 100, 0 }, 0, DDIO_XFER_ATOMIC, DDIO_METHOD_DDS },
};

static void move_range(struct cp_proc *p, struct ddio_file *f, size_t i)
{
	uint64_t at = 1000 + i, len = ranges[i].len[0] + ranges[i].len[1], k, wrong = 0;
	struct ddio_extent list[2] = { { at, ranges[i].len[0] },
				       { at + ranges[i].len[0] + ranges[i].gap,
					 ranges[i].len[1] } };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = list[1].len ? 2 : 1, .list = list };
	struct ddio_report report = { .struct_size = sizeof(report) };
	struct ddio_transfer t = {
		.struct_size = sizeof(t), .part = &part, .flags = ranges[i].flags, .report = &report
	};
	uint8_t *buf = calloc(2, len);

	for (k = 0; k < len; k++)
		buf[k] = cp_byte(i, k);
	t.buf = buf;
	CP_OK(p, ddio_write(f, &t));
	CU_ASSERT_EQUAL(report.method, ranges[i].method);
	CU_ASSERT_EQUAL(report.bytes_moved, len);
	t.buf = buf + len;
	t.flags &= ~DDIO_XFER_ATOMIC;
	CP_OK(p, ddio_read(f, &t));
	for (k = 0; k < len; k++)
		wrong += buf[len + k] != buf[k];
	CU_ASSERT_EQUAL(wrong, 0);
	free(buf);
}

static void ranges_alone(struct cp_proc *p)
{
	struct ddio_file *f = NULL;
	size_t i;

	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		move_range(p, f, i);
	ddio_close(f);
}

/* Starts writes of 8 bytes each and waits for all.  Returns how long they took. */
static uint64_t write_many(struct cp_proc *p, struct ddio_file *f, uint32_t n, struct ddio_op **op)
{
	uint64_t begun = ddio_env_now(p->env), *value = calloc(n, sizeof(*value));
	uint32_t i;

	for (i = 0; i < n; i++) {
		struct ddio_extent piece = { (uint64_t)i * 8, 8 };
		struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &piece };
		struct ddio_transfer t = { .struct_size = sizeof(t),
					   .part = &part,
					   .buf = &value[i] };

		value[i] = i;
		CP_OK(p, ddio_start_write(f, &t, &op[i]));
	}
	for (i = 0; i < n; i++)
		CP_OK(p, ddio_wait(op[i]));
	free(value);
	return ddio_env_now(p->env) - begun;
}

static void many_alone(struct cp_proc *p)
{
	struct ddio_op **op = calloc(MANY, sizeof(struct ddio_op *));
	uint64_t one, value = 0;
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	write_many(p, f, 1, op);
	one = write_many(p, f, 1, op);
	CU_ASSERT_TRUE(write_many(p, f, MANY, op) < MANY / 4 * one);
	CU_ASSERT_EQUAL(ddio_pread(f, &value, 8, (MANY - 1) * 8), 8);
	CU_ASSERT_EQUAL(value, MANY - 1);
	free(op);
	ddio_close(f);
}

/* They wait behind one that keeps its turn, and then begin one after the other, and not one within the other. */
static struct ddio_group queue;
static uint32_t begun, within;

static void keep_turn(struct turn *turn)
{
	(void)turn;
}

static void pass_at_once(struct turn *turn)
{
	uint32_t before = ++begun;

	turn_pass(turn);
	within += begun != before;
}

static void turns_are_no_tower(void)
{
	struct turn turn[MANY] = { { .begin = keep_turn } };
	uint32_t i;

	order_init(&queue.own, &queue, 0);
	for (i = 0; i < MANY; i++) {
		turn[i].begin = i ? pass_at_once : keep_turn;
		turn_take(&queue, &turn[i]);
	}
	CU_ASSERT_EQUAL(begun, 0);
	turn_pass(&turn[0]);
	CU_ASSERT_EQUAL(begun, MANY - 1);
	CU_ASSERT_EQUAL(within, 0);
	CU_ASSERT_EQUAL(turn[MANY - 1].number, MANY);
}

static void alone(void)
{
	void (*const what[])(struct cp_proc * p) = { ranges_alone, many_alone };
	struct cp_world w;
	size_t i;

	for (i = 0; i < 2; i++) {
		cp_world_begin(&w, &(struct cp_params){ .procs = 1 });
		CU_ASSERT_EQUAL(cp_run(&w, what[i], NULL), 0);
		cp_world_end(&w);
	}
}

/*
 * Sizes
 */
static void around_the_end(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_report report = { 0 };
	struct ddio_file *f = NULL;
	struct ddio_file_stat st;
	uint64_t moved;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(move(p, g, f, 100, false, 0, 1, &report), -ENODATA);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "reaches to byte 800, but the file ends at 0"));
	CU_ASSERT_EQUAL(move(p, g, f, 100, false, DDIO_XFER_SHORT, 1, &report), 0);
	CU_ASSERT_EQUAL(report.bytes_moved, 0);
	CU_ASSERT_EQUAL(move(p, g, f, ELEMS, true, 0, 1, &report), 0);
	CP_OK(p, ddio_fstat(f, &st));
	CU_ASSERT_EQUAL(st.size, BYTES);
	/* One that writes less leaves the rest. */
	CU_ASSERT_EQUAL(move(p, g, f, 10, true, 0, 1, &report), 0);
	CP_OK(p, ddio_fstat(f, &st));
	CU_ASSERT_EQUAL(st.size, BYTES);
	CU_ASSERT_EQUAL(move(p, g, f, 2 * ELEMS, false, 0, 1, &report), -ENODATA);
	CU_ASSERT_EQUAL(move(p, g, f, 2 * ELEMS, false, DDIO_XFER_SHORT, 1, &report), 0);
	moved = messages_all(p, g, &(struct ddio_report){ .messages = report.bytes_moved });
	CU_ASSERT_EQUAL(moved, BYTES);
	/* Cut by one member: the others believe that it is longer, until they ask. */
	if (p->rank == 1)
		CP_OK(p, ddio_set_size(f, 804));
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT_EQUAL(move(p, g, f, ELEMS, false, 0, 1, &report), -ENODATA);
	CU_ASSERT_EQUAL(move(p, g, f, 100, false, 0, 1, &report), 0);
	CU_ASSERT_EQUAL(move(p, g, f, ELEMS, false, DDIO_XFER_SHORT, 1, &report), 0);
	moved = messages_all(p, g, &(struct ddio_report){ .messages = report.bytes_moved });
	CU_ASSERT_EQUAL(moved, 804);
	CP_OK(p, ddio_group_barrier(g));
	if (!p->rank)
		CP_OK(p, ddio_remove(p->session, "f"));
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT_EQUAL(move(p, g, f, 100, false, 0, 1, &report), -ESTALE);
	CU_ASSERT_EQUAL(move(p, g, f, 100, true, 0, 1, &report), -ESTALE);
	ddio_close(f);
	ddio_group_free(g);
}

static void sizes(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS });
	CU_ASSERT_EQUAL(cp_run(&w, around_the_end, NULL), 0);
	cp_world_end(&w);
}

/*
 * A node that dies between a small write and a sync
 */
static void node_anew(struct cp_proc *p, uint32_t i)
{
	struct cp_node *node = &p->w->node[i];
	uint32_t k;

	for (k = 0; k < CP_REACTORS; k++)
		ddio_sim_cut(node->env[k]);
	node->stop.fn = cp_stop_post;
	node->stop.arg = node;
	ddio_env_post(node->env[0], &node->stop);
	ddio_sim_sleep(p->env, 10 * CP_SEC);
	for (k = 0; k < CP_REACTORS; k++)
		ddio_sim_rejoin(node->env[k]);
	ddio_iop_free(node->iop);
	cp_node_begin(p->w, i);
}

/**
 * struct restart - one run
 * @dies: the node
 * @apart: the file has a disk of node 1 only
 * @synced: every member has synced before, so it knows the nodes by itself
 */
struct restart {
	uint32_t dies;
	bool apart, synced;
};

static void sync_by_each(struct cp_proc *p)
{
	const struct restart *restart = p->w->arg;
	const uint32_t disk = 1;
	const struct ddio_striping st = { .struct_size = sizeof(st), .ndisks = 1, .disks = &disk };
	struct ddio_group *g = cp_group(p);
	struct ddio_report report = { 0 };
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, restart->apart ? &st : NULL, &f));
	CU_ASSERT_EQUAL(move(p, g, f, ELEMS, true, 0, 2, &report), 0);
	CU_ASSERT_EQUAL(report.method, DDIO_METHOD_SMALL);
	if (restart->synced) {
		CP_OK(p, ddio_sync(f));
		CP_OK(p, ddio_group_barrier(g));
		CU_ASSERT_EQUAL(move(p, g, f, ELEMS, true, 0, 3, &report), 0);
	}
	CP_OK(p, ddio_group_barrier(g));
	if (!p->rank)
		node_anew(p, restart->dies);
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT_EQUAL(cp_note(p, ddio_sync(f)), -EHOSTDOWN);
	CP_OK(p, ddio_sync(f));
	ddio_close(f);
	ddio_group_free(g);
}

static void every_member_knows_the_nodes(void)
{
	struct restart restarts[] = { { 1, false, false }, { 1, false, true }, { 0, false, false },
				      { 0, false, true },  { 0, true, false }, { 0, true, true } };
	struct cp_world w;
	size_t i;

	for (i = 0; i < sizeof(restarts) / sizeof(restarts[0]); i++) {
		cp_world_begin(&w, &(struct cp_params){ .procs = 3, .lasts = true });
		CU_ASSERT_EQUAL(cp_run(&w, sync_by_each, &restarts[i]), 0);
		cp_world_end(&w);
	}
}

/*
 * A member is lost while rank 0's requests are under way: what is to be written may still be, so its call does not
 * return before
 */
static void cut_meanwhile(struct cp_proc *p)
{
	const bool *write = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_report report = { 0 };
	struct ddio_file *f = NULL;
	struct ddio_sim_link net;
	uint64_t began;
	uint32_t i;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(move(p, g, f, ELEMS, true, 0, 7, &report), 0);
	CP_OK(p, ddio_group_barrier(g));
	ddio_sim_link_default(&net);
	net.latency_ns = 200 * CP_MS;
	for (i = 0; !p->rank && i < 2; i++) {
		ddio_sim_set_link(p->w->node[i].env[0], &net);
		ddio_sim_set_link(p->w->node[i].env[1], &net);
	}
	CP_OK(p, ddio_group_barrier(g));
	began = ddio_sim_elapsed(p->w->dw);
	if (p->rank == 2) {
		p->w->proc[CP_PROCS - 1].env = p->env;
		ddio_sim_spawn(p->env, cp_proc_main, &p->w->proc[CP_PROCS - 1]);
		move(p, g, f, ELEMS, *write, 0, 8, &report);
	} else {
		CU_ASSERT_EQUAL(move(p, g, f, ELEMS, *write, 0, *write ? 8 : 7, &report),
				-ECONNABORTED);
		CU_ASSERT((p->rank == 0) == (ddio_sim_elapsed(p->w->dw) - began >= 200 * CP_MS));
	}
	ddio_sim_sleep(p->env, CP_SEC);
	ddio_close(f);
	ddio_group_free(g);
}

static void cut_rank_two(struct cp_proc *p)
{
	ddio_sim_sleep(p->env, 50 * CP_MS);
	ddio_sim_cut(p->w->proc[2].env);
}

static void member_lost_meanwhile(void)
{
	struct cp_world w;
	int write;

	for (write = 0; write < 2; write++) {
		bool writes = write;

		cp_world_begin(&w, &(struct cp_params){ .procs = 3 });
		w.proc[CP_PROCS - 1] = (struct cp_proc){ .w = &w, .fn = cut_rank_two };
		CU_ASSERT_EQUAL(cp_run(&w, cut_meanwhile, &writes), 0);
		cp_world_end(&w);
	}
}

/*
 * A member, or a node, from which nothing more comes after its n-th byte, for every fifth n
 */

/**
 * struct silence - one run
 * @of: number of the member, or behind the members of the node
 * @after: bytes that still come
 */
struct silence {
	uint32_t of;
	uint64_t after;
	bool write;
	uint32_t failed;
};

static void fall_silent(struct cp_proc *p)
{
	struct silence *s = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_report report = { 0 };
	struct ddio_file *f = NULL;
	struct ddio_sim_link net;
	struct ddio_env *env;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(move(p, g, f, 300, true, 0, 4, &report), 0);
	CP_OK(p, ddio_group_barrier(g));
	ddio_sim_sleep(p->env, CP_SEC);
	env = s->of < p->w->p.procs ? p->w->proc[s->of].env
				    : p->w->node[s->of - p->w->p.procs].env[0];
	if (!p->rank) {
		ddio_sim_link_default(&net);
		net.stall_after = s->after;
		ddio_sim_set_link(env, &net);
	}
	ddio_sim_sleep(p->env, CP_MS);
	move(p, g, f, 300, s->write, 0, 4, &report);
	s->failed += p->ret != 0;
	/* A member that leaves at once would be blamed by those that have not heard yet. */
	ddio_sim_sleep(p->env, 20 * CP_SEC);
	ddio_close(f);
	ddio_group_free(g);
}

/*
 * All succeed or all fail; but those that hear of a success from a member whose news do not come, and the one that is
 * silent, cannot know.
 */
static void check_silence(const struct cp_world *w, const struct silence *s)
{
	uint32_t r, bad = 0;
	bool cut_off;

	for (r = 0; r < w->p.procs; r++) {
		const struct cp_proc *p = &w->proc[r];

		cut_off = s->of < w->p.procs && (r == s->of || tree_holds(s->of, r));
		bad += p->ret && p->ret != -ECONNABORTED && p->ret != -ETIMEDOUT &&
		       p->ret != -EHOSTDOWN;
		if (s->of >= w->p.procs)
			bad += p->ret != w->proc[0].ret || strcmp(p->text, w->proc[0].text);
		else if (!cut_off)
			bad += !p->ret != !w->proc[s->of ? 0 : 1].ret;
	}
	CU_ASSERT_EQUAL(bad, 0);
	for (r = 0; bad && r < w->p.procs; r++)
		fprintf(stderr, "%s, %u silent after %llu: rank %u: %d %s\n",
			s->write ? "write" : "read", s->of, (unsigned long long)s->after, r,
			w->proc[r].ret, w->proc[r].text);
}

static bool silence_run(uint32_t of, uint64_t after, bool write)
{
	struct cp_params cp = { .procs = 4, .nodes = 2, .timeout_ms = 2000 };
	struct silence s = { .of = of, .after = after, .write = write };
	struct cp_world w;

	cp_world_begin(&w, &cp);
	CU_ASSERT_EQUAL(cp_run(&w, fall_silent, &s), 0);
	check_silence(&w, &s);
	cp_world_end(&w);
	return s.failed;
}

static void silent_at_any_moment(void)
{
	uint64_t after, hurt;
	uint32_t of;
	bool failed;

	for (of = 0; of < 6; of++) {
		/* A write's data go up, a read's down. */
		for (after = 1, hurt = 0, failed = true; failed && after < 10000;
		     after += 5 * ut_stride(8)) {
			failed = silence_run(of, after, false);
			failed |= silence_run(of, after, true);
			hurt += failed;
		}
		CU_ASSERT(hurt > 1 && !failed);
	}
}

/*
 * Members that send nonsense
 */
struct nonsense {
	struct ddio_gate gate;
	struct ddio_post post;
	struct ddio_group *group;
	struct turn turn;
	const struct ddio_array *array;
	struct ddio_file *file;
	bool write;
	size_t len;
	uint8_t verdict[64];
};

static void nonsense_done(void *arg, const struct error *error, const void *data, size_t len)
{
	struct nonsense *n = arg;

	(void)error;
	(void)data;
	(void)len;
	turn_pass(&n->turn);
	ddio_gate_open(n->group->session->env, &n->gate);
}

/* Rank 0 decides, as it may, but says what is malformed. */
static void nonsense_root(void *arg, struct fan *fan)
{
	struct nonsense *n = arg;

	uint8_t marked[8 + sizeof(n->verdict)];

	bytes_put64(marked, UINT64_MAX);
	memcpy(marked + 8, n->verdict, sizeof(n->verdict));
	if (as_parts)
		fan_release(fan, NULL, marked, 8 + n->len);
	else
		fan_release(fan, NULL, n->verdict, n->len);
}

/* The same for strided parts, of rank 0. */
static void as_crowd(const struct nonsense *n, const struct ddio_op *op, struct fan_in *in,
		     uint8_t *enc, size_t size)
{
	struct ddio_strided mine = share_of(0, n->group->size, 8);
	struct ddio_part part = { .kind = op->part_kind, .n = 1, .strided = &mine };
	struct ddio_crowd crowd;

	CU_ASSERT_EQUAL(ddio_crowd_one(&crowd, 0, &part), 0);
	in->kind = FAN_KIND_START;
	in->gather = enc;
	in->gather_len = (size_t)ddio_put_crowd(enc, size, &crowd);
	ddio_crowd_free(&crowd);
}

/* An honest member's contribution but for the data, of which there are @len bytes. */
static void nonsense_turn(struct turn *turn)
{
	struct nonsense *n = ddio_container_of(turn, struct nonsense, turn);
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = n->array };
	struct ddio_op op = { .writing = n->write,
			      .method = DDIO_METHOD_SMALL,
			      .part_kind = DDIO_PART_ARRAY,
			      .file = n->file };
	static const uint8_t data[BYTES];
	struct fan_in in = {
		.kind = FAN_KIND_SMALL, .root = nonsense_root, .done = nonsense_done, .arg = n
	};
	uint8_t enc[256], *compare;

	op.part = enc;
	op.part_len = (size_t)ddio_put_part(enc, sizeof(enc), &part);
	if (as_parts) {
		op.method = DDIO_METHOD_DDS;
		op.part_kind = DDIO_PART_STRIDED;
	}
	compare = agreement_compare(&op, &in.compare_len);
	in.compare = compare;
	if (n->write) {
		in.gather = data;
		in.gather_len = n->len;
	}
	if (as_parts)
		as_crowd(n, &op, &in, enc, sizeof(enc));
	fan_begin(n->group, turn->number, STEP_FIRST, &in);
	free(compare);
}

static void nonsense_begin(void *arg)
{
	struct nonsense *n = arg;

	n->turn.begin = nonsense_turn;
	turn_take(n->group, &n->turn);
}

static void nonsense_say(struct cp_proc *p, struct nonsense *n)
{
	ddio_list_init(&n->turn.link);
	ddio_gate_init(&n->gate);
	n->post.fn = nonsense_begin;
	n->post.arg = n;
	CU_ASSERT_EQUAL(ddio_env_call(p->env, &n->post, &n->gate), 0);
}

/* Rank 1 of 3 sends too few, or too many, bytes; or none. */
static void wrong_data(struct cp_proc *p)
{
	static const size_t lens[] = { 0, 1, 799, 801, BYTES };
	struct ddio_array array = cyclic(300, 3);
	struct nonsense n = { .array = &array, .write = true };
	struct ddio_group *g = cp_group(p);
	struct ddio_report report = { 0 };
	struct ddio_file *f = NULL;
	size_t i;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		n.group = g;
		n.file = f;
		n.len = lens[i];
		if (p->rank == 1) {
			nonsense_say(p, &n);
			continue;
		}
		CU_ASSERT_EQUAL(move(p, g, f, 300, true, 0, 5, &report), -EPROTO);
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "the members' data"));
	}
	/* The group goes on. */
	CU_ASSERT_EQUAL(move(p, g, f, 300, true, 0, 5, &report), 0);
	CU_ASSERT_EQUAL(move(p, g, f, 300, false, 0, 5, &report), 0);
	ddio_close(f);
	ddio_group_free(g);
}

static void data_that_do_not_fit(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 3 });
	CU_ASSERT_EQUAL(cp_run(&w, wrong_data, NULL), 0);
	cp_world_end(&w);
}

/**
 * struct lie - a verdict of @len bytes that is malformed: those at @at are @value
 */
static const struct lie {
	size_t len;
	size_t at;
	uint32_t value;
	bool write;
} lies[] = {
	{ 1, 0, 0, false }, /* too short for anything */
	{ 19, 0, 0, true },
	{ 20, 0, 0, false },	      /* without a member's data */
	{ 20, 16, 1, true },	      /* without the incarnation it promises */
	{ 32, 16, UINT32_MAX, true }, /* more of them than there can be */
	{ 32, 20, 4, true },	      /* of a disk that the file does not have */
	{ 36, 24, 800, false },	      /* longer data than there are */
	{ 36, 24, 8, false },	      /* shorter ones than the share */
	{ 36, 24, UINT32_MAX, false },
};

static void believe(struct cp_proc *p)
{
	const struct lie *lie = p->w->arg;
	struct ddio_array array = cyclic(200, 2);
	struct nonsense n = { .array = &array, .write = lie->write, .len = lie->len };
	struct ddio_group *g = cp_group(p);
	struct ddio_report report = { 0 };
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	n.group = g;
	n.file = f;
	if (lie->write && lie->at == 20)
		bytes_put32(n.verdict + 16, 1);
	if (!lie->write) {
		bytes_put64(n.verdict, 1600);
		bytes_put32(n.verdict + 20, 1);
	}
	if (lie->at)
		bytes_put32(n.verdict + lie->at, lie->value);
	if (p->rank) {
		CU_ASSERT_EQUAL(move(p, g, f, 200, lie->write, 0, 6, &report), -EPROTO);
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "malformed verdict"));
		/* Who lies is lost. */
		CU_ASSERT_EQUAL(ddio_group_barrier(g), -ECONNABORTED);
	} else {
		nonsense_say(p, &n);
		ddio_sim_sleep(p->env, CP_SEC);
		CU_ASSERT_EQUAL(ddio_group_barrier(g), -ECONNABORTED);
	}
	ddio_close(f);
	ddio_group_free(g);
}

static void malformed_verdicts(void)
{
	struct cp_world w;
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		cp_world_begin(&w, &(struct cp_params){ .procs = 2 });
		CU_ASSERT_EQUAL(cp_run(&w, believe, (void *)&lies[i]), 0);
		cp_world_end(&w);
	}
}

/* Parts whose data go with the agreement on the start fail as they do. */
static void with_parts(void (*test)(void))
{
	as_parts = true;
	test();
	as_parts = false;
}

static void parts_sizes(void)
{
	with_parts(sizes);
}

static void parts_nodes(void)
{
	with_parts(every_member_knows_the_nodes);
}

static void parts_lost(void)
{
	with_parts(member_lost_meanwhile);
}

static void parts_silent(void)
{
	with_parts(silent_at_any_moment);
}

static void parts_verdicts(void)
{
	with_parts(malformed_verdicts);
}

static const struct ut_case cases[] = {
	{ "borders, and messages", borders_and_messages },
	{ "sizes", sizes },
	{ "every member knows the nodes", every_member_knows_the_nodes },
	{ "one process alone", alone },
	{ "turns are no tower", turns_are_no_tower },
	{ "a member is lost meanwhile", member_lost_meanwhile },
	{ "silent at any moment", silent_at_any_moment },
	{ "data that do not fit", data_that_do_not_fit },
	{ "malformed verdicts", malformed_verdicts },
	{ "parts: sizes", parts_sizes },
	{ "parts: every member knows the nodes", parts_nodes },
	{ "parts: a member is lost meanwhile", parts_lost },
	{ "parts: silent at any moment", parts_silent },
	{ "parts: malformed verdicts", parts_verdicts },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "small", cases } };

	return ut_run("cp_small", suites, 1);
}
