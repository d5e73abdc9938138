// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collective executor when things go wrong: every collective ends on every member that is
 * left, with the error named, within a bounded time, and the node serves others afterwards.
 */
/* needs: everything */
#include "env/env_ops.h"
#include "tests/unit/coll_member.h"

struct fault {
	struct world *w;
	struct w_group *g, *other;
	struct w_file f;
	struct ddio_array a;
	struct w_job job;
	uint64_t op;
};

enum { BLOCKS = 24, BLOCK = 1024, TIMEOUT_MS = 4000 };

/* A group of four and one of two; a file of 24 blocks over the node's disks. */
static void fault_new(struct fault *x, const struct w_params *p, uint32_t flags)
{
	memset(x, 0, sizeof(*x));
	x->w = w_new(p);
	x->g = w_group_new(x->w, 4);
	x->other = w_group_new(x->w, 2);
	w_file_init(x->w, &x->f, 1, BLOCK, DDIO_LAYOUT_CONTIGUOUS_W);
	w_file_fill(x->w, &x->f, BLOCKS * BLOCK, 1);
	x->a = (struct ddio_array){ .elem_size = 8, .ndims = 1 };
	x->a.dim[0] =
		(struct ddio_dim){ .size = BLOCKS * BLOCK / 8, .procs = 4, .dist = DDIO_CYCLIC };
	x->job = (struct w_job){ .g = x->g, .f = &x->f, .array = &x->a, .flags = flags, .seed = 9 };
}

/* The other group reads the file, whatever may be in it. */
static void fault_free(struct fault *x)
{
	struct w_job job = { .g = x->other, .f = &x->f, .array = &x->a };
	uint64_t op;

	x->a.dim[0].procs = 2;
	op = w_start(&job);
	CU_ASSERT_EQUAL(w_wait(x->other, op, 60 * SEC), DDIO_ST_OK);
	w_file_free(&x->f);
	w_free(x->w);
}

static const char *fault_text(const struct fault *x, uint32_t rank)
{
	return m_op(&x->g->m[rank], x->op)->text;
}

static bool says(const struct fault *x, const char *what)
{
	uint32_t i;

	for (i = 0; i < x->g->n; i++)
		if (!x->g->m[i].gone && !strstr(fault_text(x, i), what)) {
			printf("'%s' is not in '%s'\n", what, fault_text(x, i));
			return false;
		}
	return true;
}

/*
 * Members
 */

/* True if the fault came while the operation ran. */
static bool lost_at(uint64_t byte, uint32_t rank, uint32_t flags, uint32_t nreactors)
{
	struct w_params p = {
		.seed = byte, .ndisks = 2, .nreactors = nreactors, .options = "delay_us=100"
	};
	struct ddio_double_net net;
	struct fault x;
	uint32_t status, i;

	fault_new(&x, &p, flags);
	ddio_double_net_default(&net);
	net.break_after = byte;
	net.chop = 700;
	ddio_double_net(x.g->m[rank].env, &net);
	x.op = w_start(&x.job);
	status = w_wait(x.g, x.op, 60 * SEC);
	w_run(x.w, 50 * MS);
	if (status != DDIO_ST_OK) {
		CU_ASSERT(x.g->m[rank].gone);
		CU_ASSERT_EQUAL(status, DDIO_ST_MEMBER_LOST);
		CU_ASSERT(says(&x, "gone away"));
		for (i = 0; i < 4; i++)
			if (i != rank)
				CU_ASSERT_EQUAL(m_op(&x.g->m[i], x.op)->lost, rank);
	}
	if (x.g->m[rank].gone && rank) {
		x.op = w_start(&x.job);
		CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_MEMBER_LOST);
	}
	fault_free(&x);
	return status != DDIO_ST_OK;
}

static void lost_sweep(uint32_t flags, uint32_t nreactors, uint64_t last, uint64_t step)
{
	uint32_t lost = 0, fine = 0;
	uint64_t k;

	for (k = 1; k < last; k += step) {
		if (lost_at(k, 1 + k % 3, flags, nreactors))
			lost++;
		else
			fine++;
	}
	printf("%u lost, %u too late; ", lost, fine);
	if (flags & DDIO_COLL_WRITE)
		CU_ASSERT(lost > 0);
}

/* A write's member breaks while it sends its pieces: at every part of them. */
static void test_writer_lost(void)
{
	printf("\n  ");
	lost_sweep(DDIO_COLL_WRITE | DDIO_COLL_SORT, 1, 8000, 113);
	lost_sweep(DDIO_COLL_WRITE | DDIO_COLL_SYNC, 2, 8000, 197);
}

/* A member dies at any time. */
static bool killed_at(uint64_t us, uint32_t flags)
{
	struct w_params p = {
		.seed = us, .ndisks = 2, .nreactors = 1 + us % 2, .options = "delay_us=100"
	};
	struct fault x;
	uint32_t status;

	fault_new(&x, &p, flags);
	x.op = w_start(&x.job);
	w_run(x.w, us * 1000);
	m_leave(&x.g->m[2]);
	status = w_wait(x.g, x.op, 60 * SEC);
	CU_ASSERT(status == DDIO_ST_OK || status == DDIO_ST_MEMBER_LOST);
	if (status == DDIO_ST_OK && !(flags & DDIO_COLL_WRITE)) {
		/* It had its bytes before; or not, but nobody needs them any more. */
		struct w_fill fill = { .image = x.f.image, .share = m_op(&x.g->m[0], x.op)->share };

		w_bytes(x.g->map[x.op % W_OPS], 0, compare_byte, &fill);
		CU_ASSERT_EQUAL(fill.wrong, 0);
	}
	w_run(x.w, 50 * MS);
	fault_free(&x);
	return status != DDIO_ST_OK;
}

static void test_killed(void)
{
	uint32_t n[2] = { 0 };
	uint64_t us;

	for (us = 0; us < 2500; us += 40) {
		n[0] += killed_at(us, DDIO_COLL_SORT);
		n[1] += killed_at(us, DDIO_COLL_WRITE);
	}
	printf("\n  %u reads and %u writes of 63 each were hit ", n[0], n[1]);
	CU_ASSERT(n[0] > 5);
	CU_ASSERT(n[1] > 5);
}

static void test_detached(void)
{
	struct w_params p = { .seed = 1, .ndisks = 2, .options = "delay_us=300" };
	struct ddio_msg msg = { .opcode = DDIO_OP_DETACH, .tag = 4 };
	struct ddio_msg_attach at = { .rank = 3, .size = 4 };
	struct fault x;
	uint8_t buf[64];
	ssize_t len;

	fault_new(&x, &p, 0);
	memcpy(at.group, x.g->id, sizeof(at.group));
	len = ddio_put_attach(buf, sizeof(buf), &at);
	x.op = w_start(&x.job);
	w_run(x.w, 500000);
	ddio_conn_send(x.g->m[3].lane[0].conn, &msg, buf, len, NULL, 0, NULL);
	x.g->m[3].gone = true;
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_MEMBER_LOST);
	CU_ASSERT(says(&x, "has left the group"));
	CU_ASSERT_EQUAL(x.g->m[3].lane[0].status, DDIO_ST_OK);
	ddio_conn_send(x.g->m[3].lane[0].conn, &msg, buf, len, NULL, 0, NULL);
	w_run(x.w, MS);
	CU_ASSERT_EQUAL(x.g->m[3].lane[0].status, DDIO_ST_NOT_FOUND);
	fault_free(&x);
}

static void test_mute(void)
{
	struct w_params p = { .seed = 2, .ndisks = 2, .nreactors = 2 };
	struct fault x;
	uint64_t t;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.g->m[2].mute = true;
	t = ddio_double_elapsed(x.w->dw);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 60 * SEC), DDIO_ST_TIMEOUT);
	t = ddio_double_elapsed(x.w->dw) - t;
	CU_ASSERT(t >= TIMEOUT_MS * MS);
	CU_ASSERT(t < TIMEOUT_MS * MS * 3 / 2);
	CU_ASSERT(says(&x, "rank 2"));
	CU_ASSERT_EQUAL(m_op(&x.g->m[0], x.op)->lost, 2);
	w_run(x.w, 10 * MS);
	CU_ASSERT(x.g->m[2].gone);
	fault_free(&x);
}

/* Its own bound, shorter than the node's. */
static void test_mute_own_bound(void)
{
	struct w_params p = { .seed = 2, .ndisks = 2 };
	struct fault x;
	uint64_t t;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.g->m[0].mute = true;
	x.job.timeout_ns = 200 * MS;
	t = ddio_double_elapsed(x.w->dw);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 60 * SEC), DDIO_ST_TIMEOUT);
	t = ddio_double_elapsed(x.w->dw) - t;
	CU_ASSERT(t >= 200 * MS);
	CU_ASSERT(t < 320 * MS);
	fault_free(&x);
}

static void narrow(struct world *w, uint64_t window, uint64_t latency)
{
	struct ddio_double_net net;

	ddio_double_net_default(&net);
	net.window = window;
	net.latency_ns = latency;
	ddio_double_net(w->reactor[0].env, &net);
}

static void test_deaf(void)
{
	struct w_params p = { .seed = 3, .ndisks = 2 };
	struct fault x;
	uint64_t t;

	fault_new(&x, &p, 0);
	narrow(x.w, 1000, 50000);
	ddio_conn_pause(x.g->m[1].lane[0].conn, true);
	t = ddio_double_elapsed(x.w->dw);
	x.op = w_start(&x.job);
	w_run(x.w, TIMEOUT_MS * MS / 2);
	CU_ASSERT(!m_op(&x.g->m[0], x.op)->ended);
	CU_ASSERT_EQUAL(x.w->disk[0].coll_buffers, 2);
	x.g->m[1].gone = true;
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 60 * SEC), DDIO_ST_TIMEOUT);
	t = ddio_double_elapsed(x.w->dw) - t;
	CU_ASSERT(t < TIMEOUT_MS * MS * 3 / 2);
	CU_ASSERT(says(&x, "rank 1"));
	w_run(x.w, 10 * MS);
	CU_ASSERT(x.g->m[1].lane[0].closed || ddio_list_empty(&x.w->reactor[0].colls));
	narrow(x.w, 1 << 16, 50000);
	fault_free(&x);
}

/* Slower than the bound as a whole, but it moves. */
static void test_slow_is_not_deaf(void)
{
	struct w_params p = { .seed = 4, .ndisks = 2, .timeout_ns = 500 * MS };
	struct fault x;
	uint64_t t;

	fault_new(&x, &p, 0);
	narrow(x.w, 700, 90 * MS);
	t = ddio_double_elapsed(x.w->dw);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 600 * SEC), DDIO_ST_OK);
	CU_ASSERT(ddio_double_elapsed(x.w->dw) - t > 1000 * MS);
	CU_ASSERT_EQUAL(w_read_wrong(x.g, x.op, &x.f), 0);
	narrow(x.w, 1 << 16, 50000);
	fault_free(&x);
}

/* The question waits behind data for longer than the bound; the answer comes at once. */
static void test_question_on_its_way(void)
{
	struct w_params p = { .seed = 24, .ndisks = 2, .timeout_ns = 240 * MS };
	struct w_job write;
	struct fault x;
	uint64_t op, t;

	fault_new(&x, &p, 0);
	x.job.buffers = 12;
	narrow(x.w, 700, 90 * MS);
	x.op = w_start(&x.job);
	w_run(x.w, 50 * MS);
	write = x.job;
	write.flags = DDIO_COLL_WRITE;
	write.buffers = 1;
	write.seed = 1;
	t = ddio_double_elapsed(x.w->dw);
	op = w_start(&write);
	CU_ASSERT_EQUAL(w_wait(x.g, op, 600 * SEC), DDIO_ST_OK);
	CU_ASSERT(ddio_double_elapsed(x.w->dw) - t > SEC);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 600 * SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(w_read_wrong(x.g, x.op, &x.f), 0);
	narrow(x.w, 1 << 16, 50000);
	fault_free(&x);
}

static void twisted(int twist)
{
	struct w_params p = { .seed = 5, .ndisks = 2, .options = "delay_us=50" };
	struct fault x;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.g->m[2].twist = twist;
	x.op = w_start(&x.job);
	x.g->m[2].gone = true; /* will be */
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_MEMBER_LOST);
	CU_ASSERT_EQUAL(m_op(&x.g->m[0], x.op)->lost, 2);
	w_run(x.w, 10 * MS);
	CU_ASSERT(x.g->m[2].lane[0].closed);
	CU_ASSERT(ddio_double_logged(x.w->dw, "piece of block") > 0);
	fault_free(&x);
}

static void test_wrong_pieces(void)
{
	int t;

	for (t = W_SHORT; t <= W_OTHER_OP; t++)
		twisted(t);
}

/* The members have given up, but one answers all the same. */
static void test_late_piece(void)
{
	struct w_params p = { .seed = 6, .ndisks = 2, .options = "delay_us=50" };
	struct ddio_msg_coll_data d = { 0 };
	struct fault x;
	uint8_t data[4096] = { 0 };

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.g->m[3].mute = true;
	x.op = w_start(&x.job);
	w_run(x.w, 5 * MS);
	m_abort(&x.g->m[1], x.op, DDIO_ST_NODE_LOST);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_NODE_LOST);
	CU_ASSERT(says(&x, "rank 1 gave up"));
	d.op = x.op;
	d.handle = 3;
	memcpy(d.group, x.g->id, sizeof(d.group));
	m_piece_send(&x.g->m[3].lane[0], &d, data, 256);
	w_run(x.w, 5 * MS);
	CU_ASSERT(!x.g->m[3].gone);
	x.g->m[3].mute = false;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	fault_free(&x);
}

static bool aborted_at(uint64_t us, uint32_t flags)
{
	struct w_params p = {
		.seed = us, .ndisks = 2, .nreactors = 1 + us / 40 % 2, .options = "delay_us=100"
	};
	struct fault x;
	uint32_t status;

	fault_new(&x, &p, flags);
	if (!us)
		m_abort(&x.g->m[3], x.g->ops + 1, DDIO_ST_CANCELLED);
	x.op = w_start(&x.job);
	w_run(x.w, us * 1000);
	m_abort(&x.g->m[3], x.op, DDIO_ST_CANCELLED);
	status = w_wait(x.g, x.op, 60 * SEC);
	CU_ASSERT(status == DDIO_ST_OK || status == DDIO_ST_CANCELLED);
	/* The group can go on. */
	x.job.flags = 0;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	fault_free(&x);
	return status != DDIO_ST_OK;
}

static void test_aborted(void)
{
	uint32_t n = 0;
	uint64_t us;

	for (us = 0; us < 2000; us += 40) {
		n += aborted_at(us, DDIO_COLL_SORT);
		n += aborted_at(us, DDIO_COLL_WRITE);
	}
	printf("\n  %u of 100 were hit ", n);
	CU_ASSERT(n > 10);
	CU_ASSERT(aborted_at(0, 0));
}

/*
 * Disks
 */
enum { NEVER = 1 << 30 };

/* After @k more requests that work. */
static void fail_after(struct world *w, uint32_t disk, uint64_t k)
{
	struct ddio_disk *d = w->disk[disk].disk;

	d->common.fail_after = d->accepted + k;
}

static bool disk_fails_at(uint64_t k, uint32_t flags, uint32_t nreactors)
{
	struct w_params p = {
		.seed = k, .ndisks = 2, .nreactors = nreactors, .options = "delay_us=100"
	};
	struct fault x;
	uint32_t status, disk = k % 2;

	fault_new(&x, &p, flags);
	if (flags & DDIO_COLL_WRITE) {
		/* Every other element, so that old bytes are read. */
		x.a.dim[0].stride = 2;
		x.a.dim[0].count = BLOCKS * BLOCK / 16;
	}
	fail_after(x.w, disk, k);
	x.op = w_start(&x.job);
	status = w_wait(x.g, x.op, 60 * SEC);
	fail_after(x.w, disk, NEVER);
	if (status != DDIO_ST_OK) {
		CU_ASSERT_EQUAL(status, DDIO_ST_IO);
		CU_ASSERT(says(&x, disk ? "disk d1" : "disk d0"));
		CU_ASSERT(says(&x, flags & DDIO_COLL_WRITE ? "ing " : "reading block "));
		CU_ASSERT(says(&x, "file \"file1\" (byte "));
	}
	w_run(x.w, 5 * MS);
	/* The other reactor too, without waiting for anybody. */
	CU_ASSERT(ddio_coll_idle(&x.w->reactor[0]));
	CU_ASSERT(nreactors < 2 || ddio_coll_idle(&x.w->reactor[1]));
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 60 * SEC), DDIO_ST_OK);
	if (flags & DDIO_COLL_WRITE) {
		w_apply(&x.job, x.g->map[x.op % W_OPS]);
		CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, BLOCKS * BLOCK), 0);
	} else {
		CU_ASSERT_EQUAL(w_read_wrong(x.g, x.op, &x.f), 0);
	}
	x.a.dim[0].stride = 0;
	x.a.dim[0].count = 0;
	fault_free(&x);
	return status != DDIO_ST_OK;
}

static void test_disk_errors(void)
{
	uint32_t n = 0;
	uint64_t k;

	for (k = 0; k < 14; k++)
		n += disk_fails_at(k, DDIO_COLL_SORT, 1 + k / 2 % 2);
	/* 12 blocks a disk. */
	CU_ASSERT_EQUAL(n, 12);
	for (n = 0, k = 0; k < 26; k++)
		n += disk_fails_at(k, DDIO_COLL_WRITE, 1 + k / 2 % 2);
	CU_ASSERT_EQUAL(n, 24);
}

/* A file on one disk of reactor 1: reactor 0 has no part in it but tells the members. */
static void test_told_by_reactor_0(void)
{
	struct w_params p = { .seed = 21, .ndisks = 2, .nreactors = 2 };
	struct fault x;
	uint32_t i;

	fault_new(&x, &p, 0);
	x.f.rec.ndisks = 1;
	x.f.rec.ref.id = 2;
	CU_ASSERT_EQUAL(x.f.disks[0], 1);
	w_file_fill(x.w, &x.f, BLOCKS * BLOCK, 1);
	fail_after(x.w, 1, 5);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_IO);
	w_run(x.w, 5 * MS);
	for (i = 0; i < 4; i++) {
		const struct ddio_msg_coll_done *done = m_op(&x.g->m[i], x.op)->done;

		CU_ASSERT_EQUAL(done[0].status, DDIO_ST_IO);
		CU_ASSERT_EQUAL(done[1].status, DDIO_ST_IO);
		CU_ASSERT_STRING_EQUAL(done[0].text, done[1].text);
	}
	fail_after(x.w, 1, NEVER);
	/* When all is well reactor 0 has nothing to say, so nobody ends by its word. */
	x.op = w_start(&x.job);
	w_run(x.w, 20 * MS);
	CU_ASSERT_EQUAL(m_op(&x.g->m[3], x.op)->oks, 1);
	CU_ASSERT_EQUAL(m_op(&x.g->m[3], x.op)->done[0].op, 0);
	CU_ASSERT_EQUAL(w_read_wrong(x.g, x.op, &x.f), 0);
	x.f.rec.ndisks = 2;
	x.f.rec.ref.id = 1;
	fault_free(&x);
}

/* A disk that never answers: the members are told, the buffers stay. */
static void test_disk_hangs(void)
{
	struct w_params p = { .seed = 7,
			      .ndisks = 2,
			      .nreactors = 2,
			      .options = "delay_us=20000000",
			      .timeout_ns = 2 * SEC };
	struct fault x;
	uint64_t t;

	fault_new(&x, &p, 0);
	t = ddio_double_elapsed(x.w->dw);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 60 * SEC), DDIO_ST_IO);
	t = ddio_double_elapsed(x.w->dw) - t;
	CU_ASSERT(t >= 2 * SEC);
	CU_ASSERT(t < 3 * SEC);
	CU_ASSERT(says(&x, "no answer for"));
	CU_ASSERT_EQUAL(x.w->disk[0].coll_buffers, 2);
	w_run(x.w, 30 * SEC);
	CU_ASSERT_EQUAL(x.w->disk[0].coll_buffers, 0);
	w_file_free(&x.f);
	w_free(x.w);
}

static void test_no_space(void)
{
	struct w_params p = { .seed = 8, .ndisks = 2 };
	struct fault x;
	uint64_t used[2];

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.w->disk[1].store->limit = x.w->disk[1].store->used + 3 * BLOCK;
	used[0] = x.w->disk[0].store->used;
	used[1] = x.w->disk[1].store->used;
	x.a.dim[0].size *= 2; /* 24 blocks more */
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_NO_SPACE);
	CU_ASSERT(says(&x, "disk d1"));
	CU_ASSERT(says(&x, "12 more blocks"));
	CU_ASSERT_EQUAL(x.w->disk[1].store->used, used[1]);
	x.a.dim[0].size = (BLOCKS + 6) * BLOCK / 8;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(x.w->disk[1].store->used, used[1] + 3 * BLOCK);
	CU_ASSERT_EQUAL(w_totals(x.w).reads, 0);
	w_apply(&x.job, x.g->map[x.op % W_OPS]);
	CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, (BLOCKS + 6) * BLOCK), 0);
	fault_free(&x);
}

/* Blocks here and there, so that places are given out one by one. */
static void test_no_space_at_all(void)
{
	struct w_params p = { .seed = 22, .ndisks = 2 };
	struct fault x;
	uint64_t used[2];
	uint32_t i;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.f.rec.ref.id = 2;
	x.a.elem_size = BLOCK;
	x.a.dim[0] = (struct ddio_dim){
		.size = 48, .stride = 4, .count = 12, .procs = 4, .dist = DDIO_CYCLIC
	};
	for (i = 0; i < 2; i++) {
		used[i] = x.w->disk[i].store->used;
		x.w->disk[i].store->limit = used[i] + 9 * BLOCK;
	}
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_NO_SPACE);
	CU_ASSERT(says(&x, "12 more blocks"));
	CU_ASSERT_EQUAL(x.w->disk[0].store->used, used[0]);
	CU_ASSERT_EQUAL(x.w->disk[1].store->used, used[1]);
	x.f.rec.ref.id = 1;
	x.a.elem_size = 8;
	x.a.dim[0] =
		(struct ddio_dim){ .size = BLOCKS * BLOCK / 8, .procs = 4, .dist = DDIO_CYCLIC };
	fault_free(&x);
}

static void test_commits(void)
{
	struct w_params p = { .seed = 9, .ndisks = 2, .nreactors = 2 };
	struct fault x;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(x.w->disk[0].store->commits, 0);
	x.job.flags |= DDIO_COLL_SYNC;
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(x.w->disk[0].store->commits, 1);
	CU_ASSERT_EQUAL(x.w->disk[1].store->commits, 1);
	x.w->disk[1].store->commit_err = -EIO;
	x.op = w_start(&x.job);
	/* The other reactor may have been fine, and have said so. */
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_IO);
	CU_ASSERT(says(&x, "disk d1: commit"));
	fault_free(&x);
}

/* Somebody cuts the file under a collective that runs. */
static void test_cut(void)
{
	uint32_t flags[] = { 0, DDIO_COLL_WRITE }, i;

	for (i = 0; i < 2; i++) {
		struct w_params p = { .seed = 10, .ndisks = 2, .options = "delay_us=300" };
		struct ddio_object *obj;
		struct fault x;

		fault_new(&x, &p, flags[i]);
		CU_ASSERT(!ddio_coll_uses(&x.w->reactor[0], x.f.rec.ref.id));
		x.op = w_start(&x.job);
		w_run(x.w, MS);
		CU_ASSERT(ddio_coll_uses(&x.w->reactor[0], x.f.rec.ref.id));
		CU_ASSERT(!ddio_coll_uses(&x.w->reactor[0], x.f.rec.ref.id + 1));
		ddio_store_get(x.w->disk[0].store, &x.f.rec.ref, false, &obj);
		ddio_object_truncate(obj, 8);
		ddio_object_put(obj);
		CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_STALE);
		CU_ASSERT(says(&x, "was freed meanwhile"));
		fault_free(&x);
	}
}

/*
 * Requests that are refused
 */
static void refused(struct fault *x, uint32_t status, const char *text)
{
	uint64_t requests = x->w->reactor[0].refused;

	CU_ASSERT_EQUAL(w_wait(x->g, x->op, SEC), status);
	CU_ASSERT(says(x, text));
	CU_ASSERT_EQUAL(x->w->reactor[0].refused, requests + 1);
	CU_ASSERT_EQUAL(x->w->reactor[0].collectives, 0);
}

static void test_refused(void)
{
	struct w_params p = { .seed = 11, .ndisks = 2 };
	struct ddio_extent e[2] = { { 100, 50 }, { 149, 10 } };
	struct ddio_part part[4] = { { .kind = DDIO_PART_LIST, .n = 1, .list = &e[0] },
				     { .kind = DDIO_PART_LIST },
				     { .kind = DDIO_PART_LIST },
				     { .kind = DDIO_PART_LIST, .n = 1, .list = &e[1] } };
	struct fault x;
	uint64_t size;

	fault_new(&x, &p, 0);
	x.op = (x.job.buffers = 65, w_start(&x.job));
	refused(&x, DDIO_ST_TOO_BIG, "65 buffers");
	x.job.buffers = 0;
	size = x.f.rec.size;
	x.f.rec.size = size - 1;
	x.op = w_start(&x.job);
	refused(&x, DDIO_ST_RANGE, "reach to byte 24576 of file \"file1\", which has 24575");
	x.f.rec.size = size;
	x.f.disks[0] = 17;
	x.f.disks[1] = 18;
	x.op = w_start(&x.job);
	refused(&x, DDIO_ST_NOT_FOUND, "node io0 has no disk of file");
	x.f.disks[0] = 1;
	x.f.disks[1] = 0;
	x.job.array = NULL;
	x.job.parts = part;
	x.job.flags = DDIO_COLL_WRITE;
	x.op = w_start(&x.job);
	refused(&x, DDIO_ST_OVERLAP, "both write byte 149");
	x.job.array = &x.a;
	x.w->reactor[0].stopping = true;
	x.op = w_start(&x.job);
	refused(&x, DDIO_ST_SHUTDOWN, "stopping");
	x.w->reactor[0].stopping = false;
	fault_free(&x);
}

static bool raw_done(struct fault *x, uint64_t number, uint32_t nprocs)
{
	struct w_ended e = { x->g, number };

	w_start_raw(&x->job, number, nprocs);
	return w_until(x->w, w_all_ended, &e, SEC);
}

static void test_refused_numbers(void)
{
	struct w_params p = { .seed = 12, .ndisks = 2 };
	struct ddio_map *map;
	struct fault x;
	uint32_t i;

	fault_new(&x, &p, 0);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_OK);
	/* Another number of processes than the group has. */
	CU_ASSERT_EQUAL_FATAL(w_map(&x.job, &map), 0);
	x.op = ++x.g->ops;
	for (i = 0; i < 4; i++)
		m_op_begin(&x.g->m[i], &x.job, x.op, map);
	CU_ASSERT(raw_done(&x, x.op, 5));
	CU_ASSERT_EQUAL(m_op(&x.g->m[3], x.op)->status, DDIO_ST_MISMATCH);
	/* The same number again: only the sender is told. */
	for (i = 0; i < 4; i++)
		m_op_begin(&x.g->m[i], &x.job, x.op, map);
	CU_ASSERT(!raw_done(&x, x.op, 4));
	CU_ASSERT_EQUAL(m_op(&x.g->m[0], x.op)->status, DDIO_ST_INVALID);
	CU_ASSERT(!m_op(&x.g->m[1], x.op)->ended);
	for (i = 0; i < 4; i++)
		m_op_free(&x.g->m[i].op[x.op % W_OPS]);
	ddio_map_free(map);
	fault_free(&x);
}

static void test_attach_refused(void)
{
	struct w_params p = { .seed = 13 };
	struct world *w = w_new(&p);
	struct w_group *g = w_group_bare(w, 3);
	struct w_job job = { .g = g };
	struct ddio_array a = { .elem_size = 1,
				.ndims = 1,
				.dim = { { .size = 10, .procs = 3, .dist = DDIO_BLOCK } } };
	struct w_file f;
	uint64_t op;

	w_file_init(w, &f, 1, 512, DDIO_LAYOUT_CONTIGUOUS_W);
	job.f = &f;
	job.array = &a;
	job.flags = DDIO_COLL_WRITE;
	CU_ASSERT_EQUAL(m_attach(&g->m[0].lane[0], 3), DDIO_ST_OK);
	CU_ASSERT_EQUAL(m_attach(&g->m[0].lane[0], 3), DDIO_ST_EXISTS);
	CU_ASSERT_EQUAL(m_attach(&g->m[1].lane[0], 4), DDIO_ST_MISMATCH);
	CU_ASSERT_EQUAL(m_attach(&g->m[1].lane[0], 3), DDIO_ST_OK);
	g->m[2].gone = true; /* nobody tells it */
	op = w_start(&job);
	CU_ASSERT_EQUAL(w_wait(g, op, SEC), DDIO_ST_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(m_op(&g->m[0], op)->text, "rank 2 is not"));
	g->m[2].gone = false;
	g->m[2].rank = 1;
	CU_ASSERT_EQUAL(m_attach(&g->m[2].lane[0], 3), DDIO_ST_EXISTS);
	g->m[2].rank = 2;
	CU_ASSERT_EQUAL(m_attach(&g->m[2].lane[0], 3), DDIO_ST_OK);
	op = w_start(&job);
	CU_ASSERT_EQUAL(w_wait(g, op, SEC), DDIO_ST_OK);
	CU_ASSERT_EQUAL(w->reactor[0].refused, 4);
	w_file_free(&f);
	w_free(w);
}

/* A client that starts more than anybody needs. */
static void test_too_many(void)
{
	struct w_params p = {
		.seed = 14, .ndisks = 2, .options = "delay_us=20000", .disk_size = 8 << 20
	};
	struct fault x;
	uint32_t i;

	fault_new(&x, &p, 0);
	for (i = 0; i < DDIO_COLL_MAX_RUNNING + 6; i++)
		w_start_raw(&x.job, ++x.g->ops, 4);
	w_run(x.w, 10 * MS);
	CU_ASSERT_EQUAL(x.w->reactor[0].collectives, DDIO_COLL_MAX_RUNNING);
	CU_ASSERT_EQUAL(x.w->reactor[0].refused, 6);
	CU_ASSERT_EQUAL(ddio_double_logged(x.w->dw, "collectives running"), 6);
	w_run(x.w, 60 * SEC);
	x.op = w_start(&x.job);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 5 * SEC), DDIO_ST_OK);
	fault_free(&x);
}

static void test_stopped(void)
{
	uint64_t us;

	for (us = 0; us < 3000; us += 250) {
		struct w_params p = {
			.seed = 15, .ndisks = 2, .nreactors = 2, .options = "delay_us=200"
		};
		struct fault x;
		uint32_t i, status;

		fault_new(&x, &p, us / 250 % 2 ? DDIO_COLL_WRITE : 0);
		x.op = w_start(&x.job);
		w_run(x.w, us * 1000);
		for (i = 0; i < 2; i++) {
			x.w->reactor[i].stopping = true;
			ddio_coll_stop(&x.w->reactor[i], DDIO_ST_SHUTDOWN);
		}
		status = w_wait(x.g, x.op, SEC);
		CU_ASSERT(status == DDIO_ST_SHUTDOWN || (status == DDIO_ST_OK && us > 1000));
		w_run(x.w, MS);
		for (i = 0; i < 2; i++) {
			CU_ASSERT(ddio_coll_idle(&x.w->reactor[i]));
			x.w->reactor[i].stopping = false;
		}
		fault_free(&x);
	}
}

/*
 * Everything at once
 */
static void chaos_net(struct fault *x)
{
	struct ddio_double_net net;
	uint32_t i;

	ddio_double_net_default(&net);
	net.jitter_ns = 20000;
	net.chop = 900;
	for (i = 0; i < 4; i++)
		ddio_double_net(x->g->m[i].env, &net);
}

static void chaos(uint64_t seed)
{
	struct w_params p = { .seed = seed,
			      .ndisks = 2 + 2 * (seed % 2),
			      .nreactors = 1 + seed / 2 % 2,
			      .options = "delay_us=80" };
	struct fault x;
	struct w_job second;
	uint64_t op[2];
	uint32_t i, k;

	fault_new(&x, &p, seed % 3 ? DDIO_COLL_WRITE | DDIO_COLL_SORT : DDIO_COLL_ROTATE);
	second = x.job;
	second.flags ^= DDIO_COLL_WRITE;
	x.job.timeout_ns = 100 * MS;
	second.timeout_ns = 100 * MS;
	chaos_net(&x);
	op[0] = w_start(&x.job);
	op[1] = w_start(&second);
	for (k = 0; k < 3; k++) {
		struct w_member *m = &x.g->m[w_random(x.w) % 4];

		w_run(x.w, w_random(x.w) % 900 * 1000);
		switch (w_random(x.w) % 7) {
		case 0:
			m_leave(m);
			break;
		case 1:
			ddio_double_cut(m->env);
			break;
		case 2:
			m->mute = true;
			break;
		case 3:
			m_abort(m, op[w_random(x.w) % 2], DDIO_ST_CANCELLED);
			break;
		case 4:
			ddio_disk_inject(x.w->disk[w_random(x.w) % 2].disk, -1, 1, -EIO);
			break;
		case 5:
			m->twist = W_SHORT + w_random(x.w) % W_OTHER_OP;
			break;
		case 6:
			for (i = 0; i < x.w->p.nreactors && m->lane[i].conn; i++)
				ddio_conn_pause(m->lane[i].conn, true);
			m->gone = true;
			break;
		}
	}
	for (i = 0; i < 2; i++) {
		struct w_ended e = { x.g, op[i] };

		CU_ASSERT(w_until(x.w, w_all_ended, &e, 10 * SEC));
	}
	for (i = 0; i < x.w->p.ndisks; i++)
		ddio_disk_inject(x.w->disk[i].disk, -1, 0, 0);
	w_run(x.w, 500 * MS);
	for (i = 0; i < x.w->p.nreactors; i++)
		CU_ASSERT(ddio_coll_idle(&x.w->reactor[i]));
	fault_free(&x);
}

static void test_chaos(void)
{
	uint64_t seed;

	printf("\n  seeds 1 to 300 ");
	for (seed = 1; seed <= 300; seed++)
		chaos(seed);
}

static const struct ut_case member_cases[] = {
	{ "a writer's connection breaks at any byte", test_writer_lost },
	{ "a member dies at any time", test_killed },
	{ "a member leaves in the middle", test_detached },
	{ "a member that does not answer", test_mute },
	{ "a request's own bound", test_mute_own_bound },
	{ "a member that does not read", test_deaf },
	{ "a member that is only slow", test_slow_is_not_deaf },
	{ "a question that is long on its way", test_question_on_its_way },
	{ "pieces that were not asked for", test_wrong_pieces },
	{ "a piece that is late", test_late_piece },
	{ "a member gives up at any time", test_aborted },
	{ NULL, NULL },
};

static const struct ut_case disk_cases[] = {
	{ "a disk fails at any request", test_disk_errors },
	{ "reactor 0 tells what another one found", test_told_by_reactor_0 },
	{ "a disk does not answer", test_disk_hangs },
	{ "a disk is full", test_no_space },
	{ "a disk is too full for scattered blocks", test_no_space_at_all },
	{ "commits, and their errors", test_commits },
	{ "blocks are freed under a collective", test_cut },
	{ NULL, NULL },
};

static const struct ut_case refused_cases[] = {
	{ "requests that make no sense", test_refused },
	{ "numbers of operations and of processes", test_refused_numbers },
	{ "members that do not fit", test_attach_refused },
	{ "too many at once", test_too_many },
	{ "the node stops", test_stopped },
	{ NULL, NULL },
};

static const struct ut_case chaos_cases[] = {
	{ "random faults, several at once", test_chaos },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "members", member_cases },
		{ "disks", disk_cases },
		{ "refused", refused_cases },
		{ "chaos", chaos_cases },
	};

	return ut_run("test_coll_faults", suites, sizeof(suites) / sizeof(suites[0]));
}
