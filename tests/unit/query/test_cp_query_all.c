// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions that all members of a group ask, in whole clusters in virtual time: each member gets the records that are its own by
 * the twin's count, and all get what is made of all; and what happens when a member does not do its part.
 */
#include "cp/node/lane.h"
#include "proto/query/query.h"
#include "query/query.h"
#include "tests/unit/cp/cp_world.h"
#include "tests/unit/query/query_twin.h"

enum { SIZE = 40000, ROOM = 40000, OWNERS = 7, ROUNDS = 5 };

/**
 * struct together - what the members ask of a file
 * @records: that somebody got; @some: another member than rank 0
 */
struct together {
	uint64_t seed, some, records;
	uint8_t *image;
	size_t size;
	struct twin_question t;
	struct ddio_query_deal deal;
	union ddio_query_number bound[TWIN_BOUNDS];
	uint32_t owner[OWNERS];
	bool dealt;
};

static void image_make(struct together *a)
{
	size_t i;

	for (i = 0; i < a->size; i++)
		a->image[i] = twin_rnd(&a->seed, 3) ? (uint8_t)twin_rnd(&a->seed, 4)
						    : (uint8_t)twin_rnd(&a->seed, 256);
}

static void deal_make(struct together *a, uint32_t members)
{
	struct ddio_query_deal *d = &a->deal;
	uint32_t i;

	a->dealt = twin_rnd(&a->seed, 4);
	*d = (struct ddio_query_deal){ .struct_size = sizeof(*d),
				       .kind = (uint32_t)twin_rnd(&a->seed, 3),
				       .bound = a->bound,
				       .owner = a->owner };
	if (!d->kind)
		return;
	d->field = twin_a_number(&a->t, &a->seed);
	d->nowners = (uint32_t)twin_rnd(&a->seed, OWNERS);
	if (d->kind == DDIO_QUERY_BY_RANGE) {
		d->nowners = d->nowners ? 1 + (d->nowners - 1) % TWIN_BOUNDS : 0;
		d->nbounds = d->nowners ? d->nowners - 1 : members - 1;
		if (!d->nbounds)
			d->kind = DDIO_QUERY_BY_HASH;
	}
	for (i = 0; i < d->nowners; i++)
		a->owner[i] = (uint32_t)twin_rnd(&a->seed, members);
	for (i = 0; i < d->nbounds; i++) {
		a->bound[i] = i ? a->bound[i - 1] : twin_number(&a->t.field[d->field], &a->seed);
		if (i && twin_float(&a->t.field[d->field]))
			a->bound[i].f += 1 + fabs(a->bound[i].f) / 2;
		else if (i)
			a->bound[i].u += 1 + twin_rnd(&a->seed, 100);
	}
}

/* Whose the record is, naively: @i of @n that are asked about. */
static uint32_t twin_owner(const struct together *a, uint32_t members, uint64_t record, uint64_t i,
			   uint64_t n)
{
	const struct ddio_query_deal *d = &a->deal;
	const struct ddio_query_field *f = &a->t.field[d->field];
	union ddio_query_number v;
	uint32_t at = 0;

	if (!a->dealt || !d->kind) {
		while (at + 1 < members && i * members >= (at + 1) * n)
			at++;
		return at;
	}
	v = twin_load(f, a->image + a->t.q.origin + record * a->t.q.record);
	if (d->kind == DDIO_QUERY_BY_RANGE) {
		while (at < d->nbounds && !twin_compare(DDIO_QUERY_LT, f, v, d->bound[at]))
			at++;
	} else {
		if (twin_float(f) && (v.f == 0 || isnan(v.f)))
			v.u = v.f == 0 ? 0 : 0x7ff8ull << 48;
		v.u = (v.u ^ v.u >> 30) * 0xbf58476d1ce4e5b9;
		v.u = (v.u ^ v.u >> 27) * 0x94d049bb133111eb;
		at = (uint32_t)((v.u ^ v.u >> 31) % (d->nowners ? d->nowners : members));
	}
	return d->nowners ? d->owner[at] : at;
}

/* Keeps of all records those of a member. */
static void twin_part(const struct together *a, uint32_t members, uint32_t rank,
		      struct twin_result *r)
{
	uint64_t out = 0, i, n = 0, first;
	uint32_t k;

	for (k = 0; k < a->t.q.noutput; k++)
		out += twin_len(&a->t.field[a->t.output[k]]);
	first = a->t.first;
	for (i = 0; i < r->matched; i++) {
		if (twin_owner(a, members, r->index[i], r->index[i] - first, r->records) != rank)
			continue;
		r->index[n] = r->index[i];
		memmove(r->buf + n * out, r->buf + i * out, out);
		n++;
	}
	r->matched = n;
}

static void compare(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f,
		    struct together *a, bool asks)
{
	struct twin_result twin, got;
	struct ddio_query_result r = {
		.struct_size = sizeof(r), .first = a->t.first, .records = a->t.records, .room = ROOM
	};
	uint64_t all;

	twin_result_init(&twin, &a->t, ROOM);
	twin_result_init(&got, &a->t, ROOM);
	twin_answer(&a->t, a->image, a->size, &twin);
	all = twin.matched;
	r.value = got.value;
	r.index = asks ? got.index : NULL;
	r.buf = asks ? got.buf : NULL;
	r.room = asks ? ROOM : 0;
	CP_OK(p, ddio_query_all(f, g, &a->t.q, a->dealt ? &a->deal : NULL, &r));
	CU_ASSERT_EQUAL(r.matched, all);
	if (asks)
		twin_part(a, p->w->p.procs, p->rank, &twin);
	else
		twin.matched = 0;
	got.matched = r.mine;
	got.records = r.records;
	CU_ASSERT_TRUE(twin_same(&a->t, &twin, &got));
	a->some += p->rank ? got.matched : 0;
	a->records += got.matched;
	twin_result_free(&twin);
	twin_result_free(&got);
}

static void ask_together(struct cp_proc *p)
{
	struct together *a = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	int i;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	if (!p->rank) {
		CU_ASSERT_EQUAL(ddio_pwrite(f, a->image, a->size, 0), (ssize_t)a->size);
		CP_OK(p, ddio_sync(f));
		CP_OK(p, ddio_drop_cache(f));
	}
	for (i = 0; i < ROUNDS; i++) {
		CP_OK(p, ddio_group_barrier(g));
		if (!p->rank) {
			twin_question(&a->t, &a->seed, a->size);
			deal_make(a, p->w->p.procs);
		}
		CP_OK(p, ddio_group_barrier(g));
		compare(p, g, f, a, i % 4 != 3);
	}
	CP_OK(p, ddio_group_barrier(g));
	ddio_close(f);
	ddio_group_free(g);
}

static void questions(void)
{
	static const uint32_t blocks[] = { 512, 1024, 4096 };
	struct together a = { .seed = 1 };
	struct cp_world w;
	int i;

	a.image = malloc(SIZE);
	for (i = 0; i < 40; i++) {
		a.seed = 99 + (uint64_t)i;
		a.size = 1 + twin_rnd(&a.seed, SIZE);
		image_make(&a);
		cp_world_begin(&w, &(struct cp_params){ .procs = 1 + (uint32_t)i % 6,
							.seed = (uint64_t)i,
							.disks = 2 + (uint32_t)i % 4,
							.nodes = 1 + (uint32_t)i % 2,
							.block = blocks[i % 3] });
		CU_ASSERT_EQUAL(cp_run(&w, ask_together, &a), 0);
		cp_world_end(&w);
	}
	CU_ASSERT(a.records > 10000);
	CU_ASSERT(a.some > 3000);
	free(a.image);
}

/*
 * Numbers, one in each record of 8 bytes
 */
enum { NUMBERS = 1 << 16, BLOCK = 8192 };

static struct ddio_query_field number = { .type = DDIO_QUERY_U64 };
static const uint32_t first_field[] = { 0 };
static const struct ddio_query numbers = { .struct_size = sizeof(struct ddio_query),
					   .record = 8,
					   .nfields = 1,
					   .field = &number,
					   .noutput = 1,
					   .output = first_field };
static const struct ddio_query_deal hash = { .struct_size = sizeof(hash),
					     .kind = DDIO_QUERY_BY_HASH };

/**
 * struct group_trouble - what one member does
 * @room: of the last member; @other: it asks something else; @at: when one dies
 * @reads: what the disks have read
 */
struct group_trouble {
	uint64_t room, at;
	bool other;
	uint64_t reads;
	int ret[CP_PROCS];
	uint64_t mine[CP_PROCS];
	char text[DDIO_MAX_TEXT];
};

static uint64_t disk_reads(const struct cp_world *w)
{
	struct ddio_disk_stats st;
	uint64_t n = 0;
	uint32_t i, r, d;

	for (i = 0; i < w->p.nodes; i++)
		for (r = 0; r < w->node[i].iop->nreactors; r++)
			for (d = 0; d < w->node[i].iop->reactors[r].ndisks; d++) {
				ddio_disk_stats(w->node[i].iop->reactors[r].disks[d].disk, &st);
				n += st.reads;
			}
	return n;
}

static struct ddio_file *numbers_write(struct cp_proc *p, struct ddio_group *g)
{
	struct ddio_file *f = NULL;
	uint64_t *image = calloc(NUMBERS, 8), i;

	for (i = 0; i < NUMBERS; i++)
		image[i] = i % 1000;
	CP_OK(p, ddio_open_all(g, "numbers", DDIO_CREATE, NULL, &f));
	if (!p->rank) {
		CU_ASSERT_EQUAL(ddio_pwrite(f, image, NUMBERS * 8, 0), NUMBERS * 8);
		CP_OK(p, ddio_sync(f));
		CP_OK(p, ddio_drop_cache(f));
	}
	CP_OK(p, ddio_group_barrier(g));
	free(image);
	return f;
}

static int ask_numbers(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f,
		       const struct ddio_query *q, uint64_t room)
{
	struct group_trouble *t = p->w->arg;
	struct ddio_query_result r = { .struct_size = sizeof(r),
				       .records = UINT64_MAX,
				       .room = room,
				       .index = malloc(8 * NUMBERS),
				       .buf = malloc(8 * NUMBERS) };
	int ret = cp_note(p, ddio_query_all(f, g, q, &hash, &r));
	uint64_t i, bad = 0;

	for (i = 0; i < r.mine && !ret; i++)
		bad += ((uint64_t *)r.buf)[i] != r.index[i] % 1000;
	CU_ASSERT_EQUAL(bad, 0);
	t->mine[p->rank] = r.mine;
	free(r.index);
	free(r.buf);
	return ret;
}

static void asks_or_fails(struct cp_proc *p)
{
	struct group_trouble *t = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = numbers_write(p, g);
	bool last = p->rank == p->w->p.procs - 1;
	struct ddio_query q = numbers;
	uint64_t before = disk_reads(p->w);

	if (last && t->other)
		q.origin = 8;
	t->ret[p->rank] = ask_numbers(p, g, f, &q, last && t->room ? t->room : NUMBERS);
	if (t->ret[p->rank])
		snprintf(t->text, sizeof(t->text), "%s", p->text);
	CP_OK(p, ddio_group_barrier(g));
	t->reads = disk_reads(p->w) - before;
	ddio_close(f);
	ddio_group_free(g);
}

static void troubled(struct group_trouble *t, void (*fn)(struct cp_proc *p))
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 4,
						.reactors = 1,
						.block = BLOCK,
						.timeout_ms = 2000,
						.disk_size = "8M" });
	CU_ASSERT_EQUAL(cp_run(&w, fn, t), 0);
	cp_world_end(&w);
}

/* Each block is read once, whoever asks; every record is somebody's. */
static void read_once(void)
{
	struct group_trouble t = { 0 };

	troubled(&t, asks_or_fails);
	CU_ASSERT_EQUAL(t.ret[0] | t.ret[1] | t.ret[2] | t.ret[3], 0);
	CU_ASSERT_EQUAL(t.mine[0] + t.mine[1] + t.mine[2] + t.mine[3], NUMBERS);
	CU_ASSERT(t.mine[0] && t.mine[1] && t.mine[2] && t.mine[3]);
	CU_ASSERT_EQUAL(t.reads, NUMBERS * 8 / BLOCK);
}

static void a_member_without_room(void)
{
	struct group_trouble t = { .room = 5 };

	troubled(&t, asks_or_fails);
	CU_ASSERT(t.ret[0] == -ERANGE && t.ret[1] == -ERANGE && t.ret[2] == -ERANGE &&
		  t.ret[3] == -ERANGE);
	CU_ASSERT_EQUAL(t.mine[0] + t.mine[1] + t.mine[2] + t.mine[3], NUMBERS);
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text, "rank 3's, which has not so much room"));
}

static void members_must_agree(void)
{
	struct group_trouble t = { .other = true };
	int i;

	troubled(&t, asks_or_fails);
	for (i = 0; i < 4; i++)
		CU_ASSERT_NOT_EQUAL(t.ret[i], 0);
	CU_ASSERT_EQUAL(t.reads, 0);
}

static void dies(void *arg)
{
	struct cp_proc *p = arg;
	struct group_trouble *t = p->w->arg;

	ddio_sim_sleep(p->env, t->at);
	ddio_sim_orphan(p->env);
}

static void asks_or_dies(struct cp_proc *p)
{
	struct group_trouble *t = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = numbers_write(p, g);

	if (p->rank == 2)
		ddio_sim_spawn(p->env, dies, p);
	t->ret[p->rank] = ask_numbers(p, g, f, &numbers, NUMBERS);
	ddio_close(f);
	ddio_group_free(g);
}

/* At any time: the others have all of the answer, or an error, and do not wait for ever. */
static void a_member_dies(void)
{
	unsigned int failed = 0, fine = 0, i;
	uint64_t at;

	for (at = CP_MS / 100; at < 1000 * CP_MS; at += at / 2) {
		struct group_trouble t = { .at = at };
		struct cp_world w;

		cp_world_begin(&w, &(struct cp_params){ .procs = 4,
							.reactors = 1,
							.block = BLOCK,
							.timeout_ms = 2000,
							.engine = "hp97560",
							.disk_size = "8M" });
		CU_ASSERT_EQUAL(cp_run(&w, asks_or_dies, &t), 0);
		CU_ASSERT(ddio_sim_elapsed(w.dw) < 30 * CP_SEC);
		cp_world_end(&w);
		for (i = 0; i < 4; i++) {
			failed += i != 2 && t.ret[i];
			fine += i != 2 && !t.ret[i];
		}
		if (!t.ret[0] && !t.ret[1] && !t.ret[2] && !t.ret[3])
			CU_ASSERT_EQUAL(t.mine[0] + t.mine[1] + t.mine[2] + t.mine[3], NUMBERS);
	}
	CU_ASSERT(failed > 5);
	CU_ASSERT(fine > 5);
}

/*
 * Members that no library makes
 */

/**
 * struct lone - a request of one of two members
 */
struct lone {
	struct session_call call;
	struct ddio_msg_query x;
	struct node_request request[2];
	uint32_t n, left, status[2];
	char text[DDIO_MAX_TEXT];
};

static void lone_done(struct node_request *request, const struct reply *reply)
{
	struct lone *l = request->arg;

	l->status[request - l->request] = reply->status;
	if (reply->status)
		snprintf(l->text, sizeof(l->text), "%s", reply->text ? reply->text : "");
	if (!--l->left)
		call_end(&l->call, NULL);
}

static void lone_run(struct session_call *call)
{
	struct lone *l = ddio_container_of(call, struct lone, call);
	uint32_t i;

	l->left = l->n;
	for (i = 0; i < l->n; i++) {
		request_init(&l->request[i], DDIO_OP_OBJ_QUERY, lone_done, l);
		CU_ASSERT_EQUAL(request_put(&l->request[i], query, &l->x), 0);
		request_disk(call->session, 0, &l->request[i]);
	}
}

static uint32_t lone_ask(struct cp_proc *p, struct lone *l, uint32_t n)
{
	l->n = n;
	call_run(p->session, &l->call, lone_run);
	return l->status[0];
}

static void lone_question(struct lone *l, const struct ddio_file *f)
{
	static const uint8_t want[1] = { 1 };

	memset(l, 0, sizeof(*l));
	l->x = (struct ddio_msg_query){
		.obj = { .file = f->rec.ref, .disk = f->rec.disks[0], .len = f->rec.ref.block },
		.flags = DDIO_QUERY_DEALT,
		.ndisks = f->rec.ndisks,
		.part = DDIO_QUERY_NO_PART,
		.end = 10,
		.nblocks = 1,
		.want = want,
		.q = numbers,
		.group = "none",
		.members = 2,
		.deal = hash
	};
}

static void every_wrong_one(struct cp_proc *p)
{
	static const uint32_t owner[] = { 0, 2 };
	static const union ddio_query_number bound[] = { { .u = 5 }, { .u = 5 } };
	struct ddio_file *f = NULL;
	uint64_t began;
	struct lone l;

	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, "x", 1, 0), 1);
#define IS(st, change)                                       \
	do {                                                 \
		lone_question(&l, f);                        \
		change;                                      \
		CU_ASSERT_EQUAL(lone_ask(p, &l, 1), st);     \
		if (l.status[0] != st)                       \
			printf("%s: %s\n", #change, l.text); \
	} while (0)
	IS(DDIO_ST_OK, l.x.members = 1);
	IS(DDIO_ST_TOO_BIG, l.x.members = DDIO_QUERY_MEMBERS_MAX + 1);
	IS(DDIO_ST_TOO_BIG, l.x.members = 0);
	IS(DDIO_ST_INVALID, l.x.member = 2);
	IS(DDIO_ST_INVALID, l.x.deal.kind = 3);
	IS(DDIO_ST_INVALID, l.x.deal.field = 1);
	IS(DDIO_ST_INVALID, l.x.deal.kind = DDIO_QUERY_BY_NUMBER; l.x.deal.nowners = 2;
	   l.x.deal.owner = owner);
	IS(DDIO_ST_INVALID, l.x.deal.nowners = 2; l.x.deal.owner = owner);
	IS(DDIO_ST_INVALID, l.x.deal.nbounds = 1; l.x.deal.bound = bound);
	IS(DDIO_ST_INVALID, l.x.deal.kind = DDIO_QUERY_BY_RANGE);
	IS(DDIO_ST_INVALID, l.x.deal.kind = DDIO_QUERY_BY_RANGE; l.x.deal.nbounds = 2;
	   l.x.deal.bound = bound);
	IS(DDIO_ST_INVALID, l.x.members = 1; l.x.deal.kind = DDIO_QUERY_BY_RANGE;
	   l.x.deal.nbounds = 1; l.x.deal.bound = bound);
	/* The other one never asks. */
	began = ddio_sim_elapsed(p->w->dw);
	IS(DDIO_ST_TIMEOUT, (void)0);
	CU_ASSERT_PTR_NOT_NULL(strstr(l.text, "member 1 of 2 has not asked about disk d0"));
	CU_ASSERT(ddio_sim_elapsed(p->w->dw) - began < 3 * CP_SEC);
#undef IS
	/* Twice the same: the second is refused, the first waits on. */
	lone_question(&l, f);
	CU_ASSERT_EQUAL(lone_ask(p, &l, 2), DDIO_ST_TIMEOUT);
	CU_ASSERT_EQUAL(l.status[1], DDIO_ST_INVALID);
	ddio_close(f);
}

static void wrong_members(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){
				   .procs = 1, .reactors = 1, .nodes = 1, .timeout_ms = 2000 });
	CU_ASSERT_EQUAL(cp_run(&w, every_wrong_one, NULL), 0);
	cp_world_end(&w);
}

static const struct ut_case cases[] = {
	{ "random questions, dealt out", questions },
	{ "each block is read once", read_once },
	{ "a member without room", a_member_without_room },
	{ "members must agree", members_must_agree },
	{ "a member dies", a_member_dies },
	{ "members that no library makes", wrong_members },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "queries of groups", cases } };

	return cp_ut_run("test_cp_query_all", suites, 1);
}
