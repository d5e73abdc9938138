/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Members of groups, for the executor's tests: they attach, ask, answer, and check every byte
 * that arrives against the map.
 */
#ifndef DDIO_TEST_COLL_MEMBER_H
#define DDIO_TEST_COLL_MEMBER_H

#include "tests/unit/iop/coll/coll_world.h"

/* One operation as one member sees it. */
struct w_op {
	uint64_t op;
	bool write;
	const struct ddio_map *map;
	uint32_t block;
	struct ddio_memmap *memmap;
	uint8_t *share;
	uint64_t size, moved;
	uint32_t oks, status, lost;
	bool ended;
	char text[DDIO_MAX_TEXT];
	struct ddio_msg_coll_done done[W_REACTORS];
	uint32_t datas, wants, want_msgs, max_want, slots;
	uint64_t *order; /* blocks in the order of their data, of rank 0 */
	uint32_t norder;
};

struct w_lane {
	struct w_member *m;
	uint32_t reactor;
	struct ddio_conn *conn;
	bool ready, attached, closed;
	uint32_t status;
	struct ddio_shared *shared[2];
	bool replied;
	uint8_t *bulk;
	struct iovec iov;
};

/**
 * struct w_member - one process
 * @mute: answers no WANT and no SLOTS
 * @shares: has the reactors' buffers
 * @gone: one of its connections has ended
 * @twist: of its next piece: see enum w_twist
 * @heard: takes COLL_TELL and COLL_READY; NULL: they are none of this member's
 */
struct w_member {
	struct coll_world *w;
	struct w_group *g;
	uint32_t rank;
	struct ddio_env *env;
	struct w_lane lane[W_REACTORS];
	struct w_op op[W_OPS];
	bool mute, gone, shares;
	int twist;
	int (*heard)(struct w_lane *lane, const struct ddio_msg *msg);
};

enum w_twist { W_PLAIN, W_SHORT, W_LONG, W_TWICE, W_OTHER_BLOCK, W_OTHER_RANK, W_OTHER_OP };

struct w_group {
	struct coll_world *w;
	uint8_t id[DDIO_GROUP_ID_LEN];
	uint32_t n;
	uint64_t ops;
	struct ddio_map *map[W_OPS];
	struct w_member *m;
};

/*
 * Members
 */
static struct w_op *m_op(struct w_member *m, uint64_t op)
{
	struct w_op *x = &m->op[op % W_OPS];

	return x->op == op ? x : NULL;
}

static inline void m_abort(struct w_member *m, uint64_t op, uint32_t status)
{
	struct ddio_msg msg = { .opcode = DDIO_OP_COLL_ABORT, .tag = op };
	struct ddio_msg_coll_abort abort = { .op = op, .status = status, .rank = m->rank };
	uint8_t buf[128];
	ssize_t len;
	uint32_t i;

	memcpy(abort.group, m->g->id, sizeof(abort.group));
	len = ddio_put_coll_abort(buf, sizeof(buf), &abort);
	for (i = 0; i < m->w->p.nreactors; i++)
		if (m->lane[i].conn && !m->lane[i].closed)
			ddio_conn_send(m->lane[i].conn, &msg, buf, len, NULL, 0, NULL);
}

static void m_check_end(struct w_op *op, const struct coll_world *w)
{
	if (op->oks == w->iop.nreactors && (op->write || op->moved == op->size))
		op->ended = true;
}

static int m_data(struct w_lane *lane, const struct ddio_msg_coll_data *d)
{
	struct w_member *m = lane->m;
	struct w_op *op = m_op(m, d->op);
	uint64_t lo;

	if (!op || op->ended)
		return 0;
	lo = d->block * op->block;
	CU_ASSERT_EQUAL(d->handle, 1000 + m->rank);
	CU_ASSERT_EQUAL(memcmp(d->group, m->g->id, sizeof(d->group)), 0);
	ddio_memmap_unpack(op->memmap, lo, lo + op->block, lane->bulk, op->share);
	op->moved += lane->iov.iov_len;
	op->datas++;
	if (!m->rank) {
		op->order = realloc(op->order, (op->norder + 1) * sizeof(*op->order));
		op->order[op->norder++] = d->block;
	}
	m_check_end(op, m->w);
	return 0;
}

struct m_piece {
	struct ddio_send send;
	uint8_t buf[];
};

static void piece_sent(struct ddio_send *send, int err)
{
	(void)err;
	free(ddio_container_of(send, struct m_piece, send));
}

static int m_piece_send(struct w_lane *lane, struct ddio_msg_coll_data *d, const uint8_t *data,
			uint64_t len)
{
	struct ddio_msg msg = { .opcode = DDIO_OP_COLL_PIECE, .tag = d->op };
	struct m_piece *p = malloc(sizeof(*p) + len);
	struct iovec iov = { .iov_base = p->buf, .iov_len = len };
	uint8_t fixed[64];
	ssize_t n = ddio_put_coll_data(fixed, sizeof(fixed), d);
	int err;

	memcpy(p->buf, data, len);
	p->send.done = piece_sent;
	err = ddio_conn_send(lane->conn, &msg, fixed, n, &iov, 1, &p->send);
	if (err)
		free(p);
	return 0;
}

static int m_answer(struct w_lane *lane, struct w_op *op, const struct ddio_want *want)
{
	struct w_member *m = lane->m;
	struct ddio_msg_coll_data d = {
		.op = op->op, .block = want->block, .disk = want->disk, .handle = m->rank
	};
	uint64_t lo = want->block * op->block, hi = lo + op->block;
	uint64_t len = ddio_map_put_size(op->map, m->rank, lo, hi);
	uint8_t *data = calloc(1, len + 8);
	int twist = m->twist;

	CU_ASSERT(len > 0);
	m->twist = W_PLAIN;
	memcpy(d.group, m->g->id, sizeof(d.group));
	ddio_memmap_pack(op->memmap, lo, hi, true, data, op->share);
	op->moved += len;
	d.block += twist == W_OTHER_BLOCK;
	d.handle += twist == W_OTHER_RANK;
	d.op += twist == W_OTHER_OP;
	len += (twist == W_LONG) - (twist == W_SHORT);
	m_piece_send(lane, &d, data, len);
	if (twist == W_TWICE)
		m_piece_send(lane, &d, data, len);
	free(data);
	return 0;
}

static int m_want(struct w_lane *lane, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_coll_want want;
	struct w_op *op;
	uint32_t i;

	CU_ASSERT_EQUAL(ddio_get_coll_want(payload, msg->length, &want), 0);
	op = m_op(lane->m, want.op);
	CU_ASSERT_EQUAL(want.handle, 1000 + lane->m->rank);
	if (op && !op->ended && !lane->m->mute) {
		op->want_msgs++;
		op->wants += want.n;
		if (want.n > op->max_want)
			op->max_want = want.n;
		for (i = 0; i < want.n; i++)
			m_answer(lane, op, &want.want[i]);
	}
	free(want.want);
	return 0;
}

/* Says that blocks were copied. */
static inline void m_copied(struct w_lane *lane, struct ddio_msg_coll_copied *x)
{
	struct ddio_msg msg = { .opcode = DDIO_OP_COLL_COPIED, .tag = x->op };
	ssize_t len = ddio_put_coll_copied(NULL, 0, x);
	uint8_t *buf = malloc(len);

	ddio_put_coll_copied(buf, len, x);
	ddio_conn_send(lane->conn, &msg, buf, len, NULL, 0, NULL);
	free(buf);
}

struct m_slot_copy {
	struct w_op *op;
	uint8_t *block;
	uint64_t lo;
};

static int m_slot_run(void *arg, const struct ddio_map_run *run)
{
	const struct m_slot_copy *sc = arg;

	if (sc->op->write)
		ddio_map_run_give(run, sc->block, sc->lo, sc->op->share);
	else
		ddio_map_run_take(run, sc->block, sc->lo, sc->op->share, false);
	return 0;
}

static inline void m_slot(struct w_lane *lane, struct w_op *op, const struct ddio_slot_at *at)
{
	const struct ddio_shared *mem = lane->shared[op->write];
	uint64_t lo = at->block * op->block, hi = lo + op->block;
	uint32_t rank = lane->m->rank;
	bool packed = at->flags & DDIO_SLOT_PACKED;
	struct m_slot_copy sc = { .op = op, .lo = lo };

	CU_ASSERT_FATAL(mem && at->offset + (packed ? at->len : op->block) <= ddio_shared_len(mem));
	sc.block = (uint8_t *)ddio_shared_mem(mem) + at->offset;
	CU_ASSERT_EQUAL(at->len, op->write ? ddio_map_put_size(op->map, rank, lo, hi)
					   : ddio_map_msg_size(op->map, rank, lo, hi));
	if (packed)
		ddio_memmap_pack(op->memmap, lo, hi, true, sc.block, op->share);
	else
		ddio_map_runs_of(op->map, rank, lo, hi, op->write, m_slot_run, &sc);
	op->moved += at->len;
	op->slots++;
	if (!rank && !op->write) {
		op->order = realloc(op->order, (op->norder + 1) * sizeof(*op->order));
		op->order[op->norder++] = at->block;
	}
}

static int m_slots(struct w_lane *lane, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_coll_copied out = { .rank = lane->m->rank };
	struct ddio_msg_coll_slots in;
	struct w_op *op;
	uint32_t i;

	CU_ASSERT_EQUAL(ddio_get_coll_slots(payload, msg->length, &in), 0);
	CU_ASSERT_EQUAL(in.handle, 1000 + lane->m->rank);
	op = m_op(lane->m, in.op);
	if (op && !op->ended && !lane->m->mute) {
		memcpy(out.group, lane->m->g->id, sizeof(out.group));
		out.op = in.op;
		out.n = in.n;
		out.copied = calloc(in.n, sizeof(*out.copied));
		for (i = 0; i < in.n; i++) {
			m_slot(lane, op, &in.at[i]);
			out.copied[i] = (struct ddio_copied){ .block = in.at[i].block,
							      .disk = in.at[i].disk,
							      .slot = in.at[i].slot };
		}
		m_copied(lane, &out);
		free(out.copied);
		m_check_end(op, lane->m->w);
	}
	free(in.at);
	return 0;
}

static int m_done(struct w_lane *lane, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_coll_done done;
	struct w_op *op;

	CU_ASSERT_EQUAL(ddio_get_coll_done(payload, msg->length, &done), 0);
	CU_ASSERT_EQUAL(done.handle, 1000 + lane->m->rank);
	CU_ASSERT_EQUAL(done.reactor, lane->reactor);
	CU_ASSERT_EQUAL(done.status, msg->status);
	op = m_op(lane->m, done.op);
	if (!op)
		return 0;
	CU_ASSERT_EQUAL(op->done[lane->reactor].op, 0); /* each says so once */
	op->done[lane->reactor] = done;
	if (op->ended)
		return 0;
	if (done.status == DDIO_ST_OK) {
		op->oks++;
		m_check_end(op, lane->m->w);
		return 0;
	}
	op->status = done.status;
	op->lost = done.lost_rank;
	memcpy(op->text, done.text, sizeof(op->text));
	op->ended = true;
	return 0;
}

static void m_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct w_lane *lane = ctx;

	(void)welcome;
	lane->ready = true;
}

static int m_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		  struct ddio_sink *sink)
{
	struct w_lane *lane = ctx;
	struct ddio_msg_coll_data d;
	struct w_op *op;
	uint64_t lo, len = msg->length - prefix_len;

	CU_ASSERT_EQUAL(ddio_get_coll_data(prefix, prefix_len, &d), 0);
	op = m_op(lane->m, d.op);
	sink->n = 0;
	if (!op || op->ended)
		return 0;
	lo = d.block * op->block;
	CU_ASSERT_EQUAL(len, ddio_map_msg_size(op->map, lane->m->rank, lo, lo + op->block));
	free(lane->bulk);
	lane->bulk = malloc(len);
	lane->iov.iov_base = lane->bulk;
	lane->iov.iov_len = len;
	sink->iov = &lane->iov;
	sink->n = 1;
	return 0;
}

static int m_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct w_lane *lane = ctx;
	struct ddio_msg_coll_data d;

	switch (msg->opcode) {
	case DDIO_OP_ATTACH:
	case DDIO_OP_DETACH:
		lane->attached = msg->opcode == DDIO_OP_ATTACH && msg->status == DDIO_ST_OK;
		lane->status = msg->status;
		return 0;
	case DDIO_OP_COLL_DATA:
		CU_ASSERT_EQUAL(ddio_get_coll_data(payload, 40, &d), 0);
		return m_data(lane, &d);
	case DDIO_OP_COLL_WANT:
		return m_want(lane, msg, payload);
	case DDIO_OP_COLL_SLOTS:
		return m_slots(lane, msg, payload);
	case DDIO_OP_SHARE:
	case DDIO_OP_SHARE_TAKEN:
		lane->status = msg->status;
		lane->replied = true;
		return 0;
	case DDIO_OP_COLL_DONE:
		return m_done(lane, msg, payload);
	case DDIO_OP_COLL_TELL:
	case DDIO_OP_COLL_READY:
		return lane->m->heard ? lane->m->heard(lane, msg) : -EPROTO;
	default:
		return -EPROTO;
	}
}

static void m_closed(void *ctx, int err, const char *why)
{
	struct w_lane *lane = ctx;

	(void)err;
	(void)why;
	lane->closed = true;
	lane->m->gone = true;
}

static const struct ddio_conn_ops m_ops = {
	.ready = m_ready,
	.bulk = m_bulk,
	.message = m_message,
	.closed = m_closed,
};

/*
 * Groups
 */
static void m_connect(struct w_lane *lane)
{
	struct coll_world *w = lane->m->w;
	struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT, .reactor = lane->reactor };

	CU_ASSERT_EQUAL(ddio_conn_connect(lane->m->env,
					  ddio_listener_addr(w->listener[lane->reactor]), &hello,
					  NULL, &m_ops, lane, &lane->conn),
			0);
}

static bool m_is_ready(void *arg)
{
	return ((struct w_lane *)arg)->ready;
}

static bool m_is_attached(void *arg)
{
	struct w_lane *lane = arg;

	return lane->attached || lane->status != DDIO_ST_OK || lane->closed;
}

/* Returns the status of the reply. */
static inline uint32_t m_attach(struct w_lane *lane, uint32_t size)
{
	struct ddio_msg msg = { .opcode = DDIO_OP_ATTACH, .tag = 1 };
	struct ddio_msg_attach at = { .rank = lane->m->rank,
				      .size = size,
				      .handle = 1000 + lane->m->rank };
	uint8_t buf[64];
	ssize_t len;

	memcpy(at.group, lane->m->g->id, sizeof(at.group));
	len = ddio_put_attach(buf, sizeof(buf), &at);
	lane->status = DDIO_ST_OK;
	lane->attached = false;
	ddio_conn_send(lane->conn, &msg, buf, len, NULL, 0, NULL);
	CU_ASSERT(w_until(lane->m->w, m_is_attached, lane, 10 * SEC));
	return lane->status;
}

static bool m_has_replied(void *arg)
{
	struct w_lane *lane = arg;

	return lane->replied || lane->closed;
}

/* Returns the status of the reply. */
static inline uint32_t m_ask(struct w_lane *lane, uint32_t opcode, const void *buf, ssize_t len)
{
	struct ddio_msg msg = { .opcode = opcode, .tag = 1 };

	CU_ASSERT(len > 0);
	lane->replied = false;
	ddio_conn_send(lane->conn, &msg, buf, len, NULL, 0, NULL);
	CU_ASSERT(w_until(lane->m->w, m_has_replied, lane, 10 * SEC));
	return lane->status;
}

/* Asks for the buffers that are shared, and takes them; returns the status of the reply. */
static inline uint32_t m_share_ask(struct w_lane *lane, bool writing)
{
	struct ddio_msg_share x = { .writing = writing };
	struct ddio_mailbox box;
	uint32_t status;
	uint8_t buf[128];

	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(lane->m->env, &box), 0);
	memcpy(x.group, lane->m->g->id, sizeof(x.group));
	memcpy(x.token, box.token, sizeof(x.token));
	memcpy(x.name, box.name, sizeof(x.name));
	status = m_ask(lane, DDIO_OP_SHARE, buf, ddio_put_share(buf, sizeof(buf), &x));
	ddio_shared_free(lane->shared[writing]);
	lane->shared[writing] = NULL;
	CU_ASSERT_EQUAL(ddio_shared_take(&box, writing, &lane->shared[writing]),
			status == DDIO_ST_OK ? 0 : -ENOENT);
	ddio_mailbox_close(&box);
	return status;
}

static inline uint32_t m_share_taken(struct w_lane *lane, bool writing)
{
	struct ddio_msg_share_taken x = { .writing = writing };
	uint8_t buf[64];

	memcpy(x.group, lane->m->g->id, sizeof(x.group));
	return m_ask(lane, DDIO_OP_SHARE_TAKEN, buf, ddio_put_share_taken(buf, sizeof(buf), &x));
}

static inline void m_share(struct w_member *m)
{
	uint32_t r;
	int writing;

	m->shares = true;
	for (r = 0; r < m->w->p.nreactors; r++)
		for (writing = 0; writing < 2; writing++) {
			CU_ASSERT_EQUAL(m_share_ask(&m->lane[r], writing), DDIO_ST_OK);
			CU_ASSERT_EQUAL(m_share_taken(&m->lane[r], writing), DDIO_ST_OK);
		}
}

static inline struct w_group *w_group_bare(struct coll_world *w, uint32_t n)
{
	struct w_group *g = calloc(1, sizeof(*g));
	char name[32];
	uint32_t i, r;

	g->w = w;
	g->n = n;
	g->m = calloc(n, sizeof(*g->m));
	memset(g->id, 0x40 + w->ngroups, sizeof(g->id));
	for (i = 0; i < n; i++) {
		struct w_member *m = &g->m[i];

		m->w = w;
		m->g = g;
		m->rank = i;
		snprintf(name, sizeof(name), "g%u.%u", w->ngroups, i);
		m->env = ddio_sim_env(w->dw, name);
		sim_local(m->env);
		for (r = 0; r < w->p.nreactors; r++) {
			m->lane[r].m = m;
			m->lane[r].reactor = r;
			m_connect(&m->lane[r]);
		}
	}
	for (i = 0; i < n; i++)
		for (r = 0; r < w->p.nreactors; r++)
			CU_ASSERT(w_until(w, m_is_ready, &g->m[i].lane[r], 10 * SEC));
	w->group[w->ngroups++] = g;
	return g;
}

static inline struct w_group *w_group_new(struct coll_world *w, uint32_t n)
{
	struct w_group *g = w_group_bare(w, n);
	uint32_t i, r;

	for (i = 0; i < n; i++)
		for (r = 0; r < w->p.nreactors; r++)
			CU_ASSERT_EQUAL(m_attach(&g->m[i].lane[r], n), DDIO_ST_OK);
	for (i = 0; w_shares && i < n; i++)
		if (i % 4 != 3)
			m_share(&g->m[i]);
	return g;
}

static inline void m_op_free(struct w_op *op)
{
	ddio_memmap_free(op->memmap);
	free(op->share);
	free(op->order);
	memset(op, 0, sizeof(*op));
}

static inline void m_leave(struct w_member *m)
{
	uint32_t r;

	for (r = 0; r < m->w->p.nreactors; r++) {
		if (m->lane[r].conn)
			ddio_conn_close(m->lane[r].conn, false);
		m->lane[r].conn = NULL;
		free(m->lane[r].bulk);
		m->lane[r].bulk = NULL;
		ddio_shared_free(m->lane[r].shared[0]);
		ddio_shared_free(m->lane[r].shared[1]);
		m->lane[r].shared[0] = m->lane[r].shared[1] = NULL;
	}
	m->gone = true;
}

static inline void w_group_free(struct w_group *g)
{
	uint32_t i, k;

	for (i = 0; i < g->n; i++) {
		m_leave(&g->m[i]);
		for (k = 0; k < W_OPS; k++)
			m_op_free(&g->m[i].op[k]);
	}
	for (k = 0; k < W_OPS; k++)
		ddio_map_free(g->map[k]);
	free(g->m);
	free(g);
}

/*
 * Worlds
 */
static inline void w_conf(struct coll_world *w)
{
	uint32_t i;

	w->node.name = (char *)"io0";
	w->node.buffers = w->p.own_buffers ? 0 : w->p.buffers ? w->p.buffers : 2;
	w->conf.nnodes = 1;
	w->conf.nodes = &w->node;
	w->conf.ndisks = w->p.ndisks;
	w->conf.disks = w->cdisk;
	w->conf.timeout_ns = w->p.timeout_ns;
	w->conf.share = true;
	for (i = 0; i < w->p.ndisks; i++) {
		static const char *const name[W_DISKS] = { "d0", "d1", "d2", "d3" };

		w->cdisk[i].name = (char *)name[i];
	}
	w->iop.conf = &w->conf;
	w->iop.nreactors = w->p.nreactors;
	w->iop.reactors = w->reactor;
}

static inline void w_disk_open(struct coll_world *w, uint32_t i, struct reactor *r)
{
	struct ddio_disk_spec spec = { .name = w->cdisk[i].name,
				       .engine = w->p.engine ? w->p.engine : "mem",
				       .size = w->p.disk_size };
	char options[200];
	struct cache_opts copts = { .bytes = w->p.cache ? w->p.cache : 1 << 20,
				    .depth = 1,
				    .ends = w->p.ends };
	struct iop_disk *d = &w->disk[i];
	char err[256];

	d->reactor = r;
	d->number = i;
	ddio_list_init(&d->sweep);
	d->name = w->cdisk[i].name;
	snprintf(options, sizeof(options), "%s%sstream=%s", w->p.options ? w->p.options : "",
		 w->p.options ? "," : "", w_streams ? "yes" : "no");
	spec.options = options;
	CU_ASSERT_EQUAL_FATAL(ddio_disk_open(r->env, &spec, &d->disk, err, sizeof(err)), 0);
	d->store = store_make(r->env, d->disk, w->p.seed + i);
	mem_store(d->store)->doubts = w->p.doubts;
	CU_ASSERT_EQUAL_FATAL(cache_new(r->env, d->store, &copts, &d->cache), 0);
	w->disk_reactor[i] = r->index;
}

static inline struct coll_world *w_new(const struct w_params *p)
{
	struct coll_world *w = calloc(1, sizeof(*w));
	uint32_t i, first = 0;

	w->p = *p;
	w->p.nreactors = p->nreactors ? p->nreactors : 1;
	w->p.ndisks = p->ndisks ? p->ndisks : 2;
	w->p.disk_size = p->disk_size ? p->disk_size : 2 << 20;
	w->p.timeout_ns = p->timeout_ns ? p->timeout_ns : 4 * SEC;
	w->rnd = p->seed * 77 + 5;
	w->dw = ddio_sim_new(p->seed);
	w_conf(w);
	for (i = 0; i < w->p.nreactors; i++) {
		struct reactor *r = &w->reactor[i];
		uint32_t d;

		r->iop = &w->iop;
		r->index = i;
		r->env = ddio_sim_env(w->dw, i ? "reactor1" : "reactor0");
		ddio_list_init(&r->clients);
		bounds_init(&r->bounds);
		jobs_init(&r->jobs, &r->bounds.at[BOUND_JOBS]);
		sim_local(r->env);
		coll_init(r);
		r->share_min = 1;
		r->disks = &w->disk[first];
		r->ndisks = w->p.ndisks / w->p.nreactors;
		for (d = 0; d < r->ndisks; d++)
			w_disk_open(w, first + d, r);
		first += r->ndisks;
		CU_ASSERT_EQUAL_FATAL(
			ddio_listen(r->env, "127.0.0.1:0", sv_accept, r, &w->listener[i]), 0);
	}
	return w;
}

/* Ends the world, and checks that nothing was left behind. */
static inline void w_free(struct coll_world *w)
{
	uint32_t i;

	for (i = 0; i < w->ngroups; i++)
		w_group_free(w->group[i]);
	w_run(w, 100 * MS);
	for (i = 0; i < w->p.nreactors; i++) {
		CU_ASSERT(coll_idle(&w->reactor[i]));
		CU_ASSERT(ddio_list_empty(&w->reactor[i].groups));
		CU_ASSERT(ddio_list_empty(&w->reactor[i].clients));
		CU_ASSERT_EQUAL(w->reactor[i].memory, 0);
		coll_exit(&w->reactor[i]);
		jobs_exit(&w->reactor[i].jobs);
		ddio_listener_close(w->listener[i]);
	}
	for (i = 0; i < w->p.ndisks; i++) {
		struct mem_object *obj;

		CU_ASSERT_EQUAL(w->disk[i].coll_buffers, 0);
		cache_free(w->disk[i].cache);
		ddio_list_for_each_entry(obj, &mem_store(w->disk[i].store)->objects, link)
			CU_ASSERT_EQUAL(obj->refs, 0);
		store_destroy(w->disk[i].store);
		ddio_disk_close(w->disk[i].disk);
	}
	ddio_sim_free(w->dw);
	free(w);
}

#endif /* DDIO_TEST_COLL_MEMBER_H */
