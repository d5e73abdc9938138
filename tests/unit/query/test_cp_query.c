// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions about records, in whole clusters in virtual time.  Each is compared with its twin: the file as it is in memory,
 * gone through record by record.
 */
#include <endian.h>
#include "tests/unit/cp/cp_world.h"
#include "tests/unit/query/query_twin.h"

enum { SIZE_MAX_ = 60000, ROOM = 60000 };

/**
 * struct asked - a file and what is asked of it
 * @image: what the file holds
 * @some: questions that some records matched, and others did not; @records: that matched, in all
 */
struct asked {
	uint64_t seed, some, records;
	uint8_t *image;
	size_t size;
	struct twin_question t;
};

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 20;
}

/* Random bytes with holes, and small numbers, so that conditions match some. */
static void image_make(struct asked *a)
{
	size_t i;

	for (i = 0; i < a->size; i++)
		a->image[i] = next(&a->seed) % 3 ? (uint8_t)(next(&a->seed) % 4)
						 : (uint8_t)next(&a->seed);
	for (i = 0; i + 3000 < a->size; i += 1500 + next(&a->seed) % 9000)
		memset(a->image + i, 0, 3000);
}

static bool all_zero(const uint8_t *p, size_t n)
{
	while (n && !*p) {
		p++;
		n--;
	}
	return !n;
}

/* Writes the file so that some blocks have no place. */
static void file_write(struct cp_proc *p, struct ddio_file *f, const struct asked *a)
{
	size_t i, n;

	for (i = 0; i < a->size; i += n) {
		n = a->size - i < 700 ? a->size - i : 700;
		if (!all_zero(a->image + i, n))
			CU_ASSERT_EQUAL(ddio_pwrite(f, a->image + i, n, i), (ssize_t)n);
	}
	CP_OK(p, ddio_set_size(f, a->size));
	if (next((uint64_t *)&a->seed) % 2) {
		CP_OK(p, ddio_sync(f));
		CP_OK(p, ddio_drop_cache(f));
	}
}

/* Without their numbers the fields are the same, in the same order. */
static void unnumbered(struct cp_proc *p, struct ddio_file *f, const struct asked *a,
		       const struct twin_result *twin)
{
	struct twin_question t = a->t;
	uint64_t out = 0;
	uint8_t *buf;
	uint32_t i;

	for (i = 0; i < t.q.noutput; i++)
		out += twin_len(&t.field[t.output[i]]);
	t.q.nreduce = 0;
	buf = malloc(ROOM * out + 1);
	CP_OK(p, ddio_query(f, &t.q,
			    &(struct ddio_query_result){ .struct_size =
								 sizeof(struct ddio_query_result),
							 .first = t.first,
							 .records = t.records,
							 .room = ROOM,
							 .buf = buf }));
	CU_ASSERT_EQUAL(memcmp(buf, twin->buf, twin->matched * out), 0);
	free(buf);
}

static void compare(struct cp_proc *p, struct ddio_file *f, struct asked *a)
{
	struct twin_result twin, got;
	struct ddio_query_result r = {
		.struct_size = sizeof(r), .first = a->t.first, .records = a->t.records, .room = ROOM
	};

	twin_result_init(&twin, &a->t, ROOM);
	twin_result_init(&got, &a->t, ROOM);
	twin_answer(&a->t, a->image, a->size, &twin);
	r.value = got.value;
	r.index = got.index;
	r.buf = got.buf;
	CP_OK(p, ddio_query(f, &a->t.q, &r));
	got.matched = r.matched;
	got.records = r.records;
	CU_ASSERT_TRUE(twin_same(&a->t, &twin, &got));
	unnumbered(p, f, a, &twin);
	a->some += twin.matched && twin.matched < twin.records;
	a->records += twin.matched;
	twin_result_free(&twin);
	twin_result_free(&got);
}

static void random_questions(struct cp_proc *p)
{
	struct asked *a = p->w->arg;
	struct ddio_file *f = NULL;
	int i;

	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	if (!f)
		return;
	file_write(p, f, a);
	for (i = 0; i < 12; i++) {
		twin_question(&a->t, &a->seed, a->size);
		compare(p, f, a);
	}
	ddio_close(f);
}

/* Of all sizes of blocks, records and files. */
static void questions(void)
{
	static const uint32_t blocks[] = { 512, 1024, 4096 };
	struct asked a = { .seed = 1 };
	struct cp_world w;
	int i;

	a.image = malloc(SIZE_MAX_);
	for (i = 0; i < 60; i++) {
		a.seed = 77 + i;
		a.size = 1 + next(&a.seed) % SIZE_MAX_;
		image_make(&a);
		cp_world_begin(&w, &(struct cp_params){ .procs = 1,
							.seed = i,
							.disks = 2 + i % 4,
							.nodes = 1 + i % 2,
							.block = blocks[i % 3] });
		CU_ASSERT_EQUAL(cp_run(&w, random_questions, &a), 0);
		cp_world_end(&w);
	}
	/* They have asked something. */
	CU_ASSERT(a.some > 100);
	CU_ASSERT(a.records > 10000);
	free(a.image);
}

/*
 * A file of numbers of 8 bytes
 */
enum { NUMBERS = 1 << 18 };

static struct ddio_query_field number = { .name = "n", .offset = 0, .type = DDIO_QUERY_U64 };
static const uint32_t first_field[] = { 0 };

/* Bits below those of the number, which no two have alike: they cannot be told in fewer. */
static uint32_t noise;

/* Number @i of the file: one in a hundred is below 10. */
static uint64_t number_of(uint64_t i)
{
	uint64_t v = (i * 0x9e3779b97f4a7c15ull >> 40) % 1000;

	return v << noise | (noise ? ((i + 1) * 0xd1342543de82ef95ull) >> (64 - noise) : 0);
}

static struct ddio_file *numbers_write(struct cp_proc *p, uint64_t n)
{
	struct ddio_file *f = NULL;
	uint64_t *image = malloc(n * 8), i;

	for (i = 0; i < n; i++)
		image[i] = htole64(number_of(i));
	CP_OK(p, ddio_open(p->session, "numbers", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, image, n * 8, 0), (ssize_t)(n * 8));
	CP_OK(p, ddio_sync(f));
	CP_OK(p, ddio_drop_cache(f));
	free(image);
	return f;
}

static struct ddio_query below(struct ddio_query_step *step, uint64_t limit)
{
	*step = (struct ddio_query_step){ .op = DDIO_QUERY_LT, .value.u = limit };
	return (struct ddio_query){ .struct_size = sizeof(struct ddio_query),
				    .record = 8,
				    .nfields = 1,
				    .field = &number,
				    .nsteps = 1,
				    .where = step,
				    .noutput = 1,
				    .output = first_field };
}

/* Asks for the numbers below @limit, with room for @room. */
static int ask_below(struct ddio_file *f, uint64_t limit, uint64_t room,
		     struct ddio_query_result *r)
{
	struct ddio_query_step step;
	struct ddio_query q = below(&step, limit << noise);

	*r = (struct ddio_query_result){ .struct_size = sizeof(*r),
					 .records = UINT64_MAX,
					 .room = room,
					 .index = malloc(room * 8 + 1),
					 .buf = malloc(room * 8 + 1) };
	return ddio_query(f, &q, r);
}

/* The same without their numbers. */
static int ask_fields(struct ddio_file *f, uint64_t limit, struct ddio_query_result *r)
{
	struct ddio_query_step step;
	struct ddio_query q = below(&step, limit << noise);

	return ddio_query(f, &q, r);
}

static void forget(struct ddio_query_result *r)
{
	free(r->index);
	free(r->buf);
}

static uint64_t count_below(uint64_t n, uint64_t limit)
{
	uint64_t i, count = 0;

	for (i = 0; i < n; i++)
		count += number_of(i) >> noise < limit;
	return count;
}

/* Many answers of each disk, each of which ends in the middle of a block. */
static void all_of_them(struct cp_proc *p)
{
	struct ddio_file *f = numbers_write(p, NUMBERS);
	struct ddio_query_result r;
	uint64_t i, bad = 0;

	CP_OK(p, ask_below(f, 1000, NUMBERS, &r));
	CU_ASSERT_EQUAL(r.matched, NUMBERS);
	for (i = 0; i < r.matched; i++)
		bad += r.index[i] != i || ((uint64_t *)r.buf)[i] != htole64(number_of(i));
	CU_ASSERT_EQUAL(bad, 0);
	forget(&r);
	/* One too many: no part of it is returned. */
	CU_ASSERT_EQUAL(cp_note(p, ask_below(f, 1000, NUMBERS - 1, &r)), -ERANGE);
	CU_ASSERT_EQUAL(r.matched, NUMBERS);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "there is room for 262143"));
	forget(&r);
	CU_ASSERT_EQUAL(ask_below(f, 10, 7, &r), -ERANGE);
	CU_ASSERT_EQUAL(r.matched, count_below(NUMBERS, 10));
	forget(&r);
	CP_OK(p, ask_below(f, 0, 7, &r));
	CU_ASSERT_EQUAL(r.matched, 0);
	forget(&r);
	ddio_close(f);
}

static void large_results(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1, .block = 8192 });
	CU_ASSERT_EQUAL(cp_run(&w, all_of_them, NULL), 0);
	cp_world_end(&w);
}

/*
 * The papers' disks: how long it takes and what travels, beside a process that reads all of the file
 */
struct cost {
	uint64_t n, matched, took, bytes, fields, read_took, read_bytes;
};

static uint64_t travelled(const struct cp_proc *p)
{
	struct ddio_sim_net_stats st;

	ddio_sim_net_stats(p->w->dw, &st);
	return st.bytes;
}

static void at_the_disks(struct cp_proc *p)
{
	struct cost *c = p->w->arg;
	struct ddio_file *f = numbers_write(p, c->n);
	uint64_t *all = malloc(c->n * 8), start = ddio_sim_elapsed(p->w->dw);
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1 };
	struct ddio_extent extent = { .offset = 0, .len = c->n * 8 };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = all };
	struct ddio_query_result r;

	part.list = &extent;
	c->bytes = travelled(p);
	CP_OK(p, ask_below(f, 10, c->n, &r));
	c->bytes = travelled(p) - c->bytes;
	c->took = ddio_sim_elapsed(p->w->dw) - start;
	c->matched = r.matched;
	c->fields = travelled(p);
	free(r.index);
	r.index = NULL;
	CP_OK(p, ask_fields(f, 10, &r));
	c->fields = travelled(p) - c->fields;
	forget(&r);
	start = ddio_sim_elapsed(p->w->dw);
	c->read_bytes = travelled(p);
	CP_OK(p, ddio_read(f, &t));
	c->read_bytes = travelled(p) - c->read_bytes;
	c->read_took = ddio_sim_elapsed(p->w->dw) - start;
	free(all);
	ddio_close(f);
}

static void cost_print(const struct cost *c)
{
	if (getenv("DDIO_FIGURES"))
		printf("%llu MB, %llu of %llu match: %.3f s, %llu bytes, %llu without numbers; read: "
		       "%.3f s, %llu bytes\n",
		       (unsigned long long)c->n * 8 / 1000000, (unsigned long long)c->matched,
		       (unsigned long long)c->n, (double)c->took / 1e9,
		       (unsigned long long)c->bytes, (unsigned long long)c->fields,
		       (double)c->read_took / 1e9, (unsigned long long)c->read_bytes);
}

/* Numbers whose lowest @bits are noise. */
static struct cost cost_of(uint32_t bits)
{
	struct cost c = { .n = getenv("DDIO_FIGURES") ? 12500000 : 1 << 19 };
	struct cp_world w;

	noise = bits;
	cp_world_begin(&w, &(struct cp_params){ .procs = 1,
						.disks = 8,
						.nodes = 4,
						.reactors = 1,
						.block = 8192,
						.engine = "hp97560",
						.disk_size = "32M" });
	ddio_sim_set_net(w.dw, &(struct ddio_sim_net){ .kind = DDIO_SIM_NET_IDEAL });
	CU_ASSERT_EQUAL(cp_run(&w, at_the_disks, &c), 0);
	cp_world_end(&w);
	CU_ASSERT_EQUAL(c.matched, count_below(c.n, 10));
	/* As fast as the disks, which the read is, too. */
	CU_ASSERT(c.took * 100 < c.read_took * 105);
	cost_print(&c);
	noise = 0;
	return c;
}

/* Little travels but what matches; of numbers that few bits tell apart, less than they have. */
static void cost(void)
{
	struct cost c = cost_of(54);

	CU_ASSERT(c.bytes * 100 < c.matched * 8 * 120 + 100 * 8192);
	CU_ASSERT(c.fields * 100 < c.matched * 8 * 104 + 100 * 8192);
	c = cost_of(0);
	CU_ASSERT(c.bytes * 100 < c.n * 8);
	CU_ASSERT(c.bytes * 100 < c.matched * 8 * 30 + 100 * 8192);
}

/*
 * A question that looks at nothing, of more records than anybody counts one by one
 */
static void sparse_main(struct cp_proc *p)
{
	const struct ddio_query q = { .struct_size = sizeof(q), .record = 8 };
	struct ddio_query_result r = { .struct_size = sizeof(r), .records = UINT64_MAX };
	uint64_t index[4] = { 0 };
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open(p->session, "sparse", DDIO_CREATE, NULL, &f));
	CP_OK(p, ddio_set_size(f, (uint64_t)1 << 46));
	CP_OK(p, ddio_query(f, &q, &r));
	CU_ASSERT_EQUAL(r.matched, (uint64_t)1 << 43);
	r.index = index;
	r.room = 4;
	CU_ASSERT_EQUAL(cp_note(p, ddio_query(f, &q, &r)), -ERANGE);
	r.first = ((uint64_t)1 << 43) - 3;
	r.records = UINT64_MAX;
	CP_OK(p, ddio_query(f, &q, &r));
	CU_ASSERT_EQUAL(r.matched, 3);
	CU_ASSERT_EQUAL(index[0], r.first);
	CU_ASSERT_EQUAL(index[2], r.first + 2);
	CU_ASSERT_EQUAL(index[3], 0);
	ddio_close(f);
}

static void sparse(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1, .block = 1 << 20 });
	CU_ASSERT_EQUAL(cp_run(&w, sparse_main, NULL), 0);
	cp_world_end(&w);
}

/*
 * Trouble
 */
struct query_trouble {
	uint64_t at;
	bool cut, began, over;
	int ret;
};

static void asks_or_spoils(struct cp_proc *p)
{
	struct query_trouble *t = p->w->arg;
	struct ddio_file *f = NULL;
	struct ddio_query_result r;

	if (!p->rank) {
		f = numbers_write(p, NUMBERS);
		t->began = true;
		t->ret = cp_note(p, ask_below(f, 10, NUMBERS, &r));
		t->over = true;
		if (!t->ret)
			CU_ASSERT_EQUAL(r.matched, count_below(NUMBERS, 10));
		forget(&r);
		ddio_close(f);
		return;
	}
	while (!t->began)
		ddio_sim_sleep(p->env, CP_MS);
	ddio_sim_sleep(p->env, t->at);
	if (t->over)
		return;
	if (t->cut) {
		CP_OK(p, ddio_open(p->session, "numbers", 0, NULL, &f));
		CP_OK(p, ddio_set_size(f, 8 * NUMBERS / 2));
		ddio_close(f);
		return;
	}
	ddio_sim_orphan(p->w->node[1].env[0]);
}

/* Runs the trouble at a time after the question's begin; returns what came of the question. */
static int troubled(struct query_trouble *t)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 2,
						.reactors = 1,
						.block = 8192,
						.engine = "hp97560",
						.timeout_ms = 2000,
						.disk_size = "8M" });
	CU_ASSERT_EQUAL(cp_run(&w, asks_or_spoils, t), 0);
	cp_world_end(&w);
	return t->ret;
}

static void cut_meanwhile(void)
{
	struct query_trouble t = { .cut = true, .at = 20 * CP_MS };

	CU_ASSERT_EQUAL(troubled(&t), -ENODATA);
	t = (struct query_trouble){ .cut = true, .at = 100 * CP_SEC };
	CU_ASSERT_EQUAL(troubled(&t), 0);
}

/* An I/O processor dies at any time: an error, or all of the answer. */
static void node_dies(void)
{
	unsigned int failed = 0, fine = 0;
	uint64_t at;

	for (at = CP_MS; at < 1000 * CP_MS; at += at < 10 * CP_MS ? CP_MS : at / 3) {
		struct query_trouble t = { .at = at };
		int ret = troubled(&t);

		CU_ASSERT(ret == 0 || ret == -EHOSTDOWN);
		failed += ret != 0;
		fine += ret == 0;
	}
	CU_ASSERT(failed > 5);
	CU_ASSERT(fine > 0);
}

static const struct ut_case cases[] = {
	{ "random questions about random records", questions },
	{ "results larger than an answer, and than there is room for", large_results },
	{ "at the rate of the disks, with what matches alone on the wire", cost },
	{ "nothing is asked of many records", sparse },
	{ "a file that is cut meanwhile", cut_meanwhile },
	{ "an I/O processor that dies", node_dies },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "queries", cases } };

	return cp_ut_run("test_cp_query", suites, 1);
}
