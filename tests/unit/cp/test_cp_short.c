// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collective reads that reach beyond the end of the file: each member gets what is there, is told how much,
 * and finds the rest of its memory as it was.
 */
#include "cp/node/lane.h"
#include "conn/conn_priv.h"
#include "tests/unit/cp/cp_world.h"

enum { ELEMS = 2000, BYTES = ELEMS * 8, BLOCK = 1024, UNTOUCHED = 0xee, MOST_PROCS = 17 };

/* A kind of description, and where the bytes of a member's share lie in the file. */
struct short_shape {
	struct ddio_array array;
	struct ddio_strided strided[2];
	struct ddio_extent list[3];
	struct ddio_part part;
	uint64_t *off;
	uint64_t n;
};

enum { CYCLIC, ROWS, STRIDED, LIST, SHAPES };

static void piece(struct short_shape *s, uint64_t off, uint64_t len)
{
	while (len--)
		s->off[s->n++] = off++;
}

static void shape_array(struct short_shape *s, uint32_t rank, uint32_t procs, uint32_t dist)
{
	uint64_t k = dist == DDIO_BLOCK ? (ELEMS + procs - 1) / procs : 1, i;

	s->array = (struct ddio_array){ .elem_size = 8, .ndims = 1 };
	s->array.dim[0] = (struct ddio_dim){ .size = ELEMS, .dist = dist, .procs = procs };
	s->part = (struct ddio_part){ .kind = DDIO_PART_ARRAY, .array = &s->array };
	for (i = 0; i < ELEMS; i++)
		if (i / k % procs == rank)
			piece(s, i * 8, 8);
}

/* Its second entry lies before the first, so that file order is not share order. */
static void shape_strided(struct short_shape *s, uint32_t rank, uint32_t procs)
{
	uint64_t count = BYTES / 2 / (procs * 24), i, e;

	s->part = (struct ddio_part){ .kind = DDIO_PART_STRIDED, .n = 2, .strided = s->strided };
	for (e = 0; e < 2; e++) {
		s->strided[e] = (struct ddio_strided){ .offset = (e ? 0 : BYTES / 2) + rank * 24,
						       .len = 24,
						       .nlevels = 1,
						       .level = { { count, procs * 24 } } };
		for (i = 0; i < count; i++)
			piece(s, s->strided[e].offset + i * procs * 24, 24);
	}
}

/* The last member wants a byte far behind everything; the first nothing. */
static void shape_list(struct short_shape *s, uint32_t rank, uint32_t procs)
{
	uint64_t each = BYTES / procs / 2, i;

	s->part = (struct ddio_part){ .kind = DDIO_PART_LIST, .list = s->list };
	s->list[0] = (struct ddio_extent){ BYTES / 2 + rank * each, each };
	s->list[1] = (struct ddio_extent){ rank * each, each };
	s->list[2] = (struct ddio_extent){ 5ull << 40, 1 };
	s->part.n = !rank ? 0 : rank + 1 < procs ? 2 : 3;
	for (i = 0; i < s->part.n; i++)
		piece(s, s->list[i].offset, s->list[i].len);
}

static void shape_init(struct short_shape *s, uint32_t which, uint32_t rank, uint32_t procs)
{
	memset(s, 0, sizeof(*s));
	s->off = malloc((BYTES + 1) * sizeof(*s->off));
	switch (which) {
	case STRIDED:
		shape_strided(s, rank, procs);
		break;
	case LIST:
		shape_list(s, rank, procs);
		break;
	default:
		shape_array(s, rank, procs, which == ROWS ? DDIO_BLOCK : DDIO_CYCLIC);
	}
}

/* Reads the shape's bytes of a file of @size bytes. */
static void read_short(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f,
		       const struct short_shape *s, uint32_t method, uint64_t size)
{
	struct ddio_report report = { .struct_size = sizeof(report) };
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .part = &s->part,
				   .method = method,
				   .flags = DDIO_XFER_SHORT,
				   .report = &report };
	uint64_t i, bad = 0, moved = 0;
	uint8_t *buf = malloc(s->n + 1);

	memset(buf, UNTOUCHED, s->n + 1);
	t.buf = buf;
	CP_OK(p, ddio_read_all(f, g, &t));
	for (i = 0; i < s->n; i++) {
		bad += buf[i] != (s->off[i] < size ? cp_byte(7, s->off[i]) : UNTOUCHED);
		moved += s->off[i] < size;
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(buf[s->n], UNTOUCHED);
	CU_ASSERT_EQUAL(report.bytes_share, s->n);
	CU_ASSERT_EQUAL(report.bytes_moved, moved);
	if (method == DDIO_METHOD_DD && !size)
		CU_ASSERT_EQUAL(report.requests, 0);
	free(buf);
}

static struct ddio_file *make(struct cp_proc *p, struct ddio_group *g)
{
	struct ddio_file *f = NULL;
	uint8_t *image = malloc(BYTES);
	uint64_t i;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	for (i = 0; i < BYTES; i++)
		image[i] = cp_byte(7, i);
	if (!p->rank)
		CU_ASSERT_EQUAL(ddio_pwrite(f, image, BYTES, 0), BYTES);
	free(image);
	return f;
}

static void sizes(struct cp_proc *p)
{
	static const uint64_t size[] = { BYTES,	    BYTES - 1, 3 * BLOCK + 5, 3 * BLOCK,
					 BLOCK + 1, BLOCK,     BLOCK - 1,     9,
					 1,	    0 };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = make(p, g);
	struct short_shape s;
	uint32_t i, which, method;

	for (i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		CP_OK(p, ddio_group_barrier(g));
		if (!p->rank)
			CP_OK(p, ddio_set_size(f, size[i]));
		for (which = 0; which < SHAPES; which++) {
			shape_init(&s, which, p->rank, p->w->p.procs);
			for (method = DDIO_METHOD_TC; method <= DDIO_METHOD_DDS; method++)
				read_short(p, g, f, &s, method, size[i]);
			free(s.off);
		}
	}
	ddio_close(f);
	ddio_group_free(g);
}

static void what_is_there(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 4 });
	CU_ASSERT_EQUAL(cp_run(&w, sizes, NULL), 0);
	cp_world_end(&w);
}

/*
 * Members are slow to pass on what rank 0 says, I/O processors are fast: data come before the verdict, and
 * members do not know yet where the file ends.
 */
static void slow_members(struct cp_proc *p)
{
	struct ddio_sim_link link;

	ddio_sim_link_default(&link);
	link.latency_ns = 10 * CP_MS;
	ddio_sim_set_link(p->env, &link);
	sizes(p);
}

static void data_before_verdict(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = MOST_PROCS });
	CU_ASSERT_EQUAL(cp_run(&w, slow_members, NULL), 0);
	cp_world_end(&w);
}

/* Without the flag a read that reaches too far fails; with it on one member only, too. */
static void refused(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = make(p, g);
	struct ddio_transfer t = { .struct_size = sizeof(t), .method = DDIO_METHOD_DD };
	struct ddio_report report = { .struct_size = sizeof(report) };
	uint8_t buf[BYTES + 1];
	struct short_shape s;

	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, ddio_set_size(f, BYTES - 1));
	shape_init(&s, CYCLIC, p->rank, p->w->p.procs);
	t.part = &s.part;
	t.buf = buf;
	t.report = &report;
	CU_ASSERT_EQUAL(ddio_read_all(f, g, &t), -ENODATA);
	CU_ASSERT_EQUAL(report.bytes_moved, 0);
	t.flags = p->rank ? DDIO_XFER_SHORT : 0;
	CU_ASSERT_EQUAL(ddio_read_all(f, g, &t), -EBADE);
	t.flags = DDIO_XFER_SHORT;
	CP_OK(p, ddio_write_all(f, g, &t));
	CU_ASSERT_EQUAL(report.bytes_moved, s.n);
	free(s.off);
	ddio_close(f);
	ddio_group_free(g);
}

static void only_with_the_flag(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 3 });
	CU_ASSERT_EQUAL(cp_run(&w, refused, NULL), 0);
	cp_world_end(&w);
}

/* A read by one process. */
static void read_alone(struct cp_proc *p)
{
	struct ddio_extent e[2] = { { BYTES - 10, 20 }, { 10, 5 } };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 2, .list = e };
	struct ddio_report report = { .struct_size = sizeof(report) };
	uint8_t buf[25];
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .part = &part,
				   .buf = buf,
				   .flags = DDIO_XFER_SHORT,
				   .report = &report };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = make(p, g);

	memset(buf, UNTOUCHED, sizeof(buf));
	CP_OK(p, ddio_read(f, &t));
	CU_ASSERT_EQUAL(report.bytes_moved, 15);
	CU_ASSERT(buf[9] == cp_byte(7, BYTES - 1) && buf[10] == UNTOUCHED);
	CU_ASSERT(buf[19] == UNTOUCHED && buf[20] == cp_byte(7, 10));
	ddio_close(f);
	ddio_group_free(g);
}

static void by_one_process(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1 });
	CU_ASSERT_EQUAL(cp_run(&w, read_alone, NULL), 0);
	cp_world_end(&w);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "every member gets what is there", what_is_there },
		{ "data come before the verdict", data_before_verdict },
		{ "only with the flag, on every member", only_with_the_flag },
		{ "a read by one process", by_one_process },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "short reads", cases } };

	return cp_ut_run("test_cp_short", suites, 1);
}
