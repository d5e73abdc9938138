// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transfers that name bytes more than once: what several members write is the lowest rank's in the end, each byte is
 * sent once, and a read puts a byte wherever it is named.
 */
#include "base/rand.h"
#include "conn/conn_priv.h"
#include "cp/node/lane.h"
#include "tests/unit/cp/cp_world.h"

enum { BYTES = 12000, ENTRIES = 4, MOST_PROCS = 17, ROUNDS = 6, SLACK = 64 };

/* What a member describes, and where each byte of its share lies in the file. */
struct wish {
	struct ddio_strided entry[ENTRIES];
	struct ddio_part part;
	uint64_t off[BYTES];
	uint64_t n;
};

static void wish_entry(struct wish *w, const struct ddio_strided *s)
{
	uint64_t i, b;

	w->entry[w->part.n++] = *s;
	for (i = 0; i < (s->nlevels ? s->level[0].count : 1); i++)
		for (b = 0; b < s->len; b++)
			w->off[w->n++] = s->offset + i * (uint64_t)s->level[0].stride + b;
}

/* The first 8 bytes, which all name; then whatever comes, twice perhaps. */
static void wish_draw(struct wish *w, uint32_t rank, uint32_t round)
{
	uint64_t rand = 1000 * round + rank;
	uint32_t i;

	memset(w, 0, sizeof(*w));
	w->part.kind = DDIO_PART_STRIDED;
	w->part.strided = w->entry;
	wish_entry(w, &(struct ddio_strided){ .len = 8 });
	for (i = 1; i < ENTRIES; i++) {
		uint64_t count = 1 + ddio_rand_below(&rand, 40),
			 len = 1 + ddio_rand_below(&rand, 30);
		uint64_t stride = ddio_rand_below(&rand, 3) ? len + ddio_rand_below(&rand, 60)
							    : ddio_rand_below(&rand, len + 1);
		struct ddio_strided s = { .len = len,
					  .nlevels = 1,
					  .level = { { count, (int64_t)stride } } };

		s.offset = ddio_rand_below(&rand, BYTES - (count - 1) * stride - len);
		wish_entry(w, &s);
	}
}

/* Which rank has each byte, plus 1; 0: nobody. */
static void owners(uint32_t *owner, uint32_t procs, uint32_t round)
{
	struct wish *w = malloc(sizeof(*w));
	uint32_t r;
	uint64_t i;

	memset(owner, 0, BYTES * sizeof(*owner));
	for (r = procs; r-- > 0;) {
		wish_draw(w, r, round);
		for (i = 0; i < w->n; i++)
			owner[w->off[i]] = r + 1;
	}
	free(w);
}

/* The place in the share at which a byte comes first. */
static uint64_t first_of(const struct wish *w, uint64_t off)
{
	uint64_t i;

	for (i = 0; w->off[i] != off; i++)
		;
	return i;
}

static uint8_t value(uint32_t rank, uint32_t salt, uint64_t share)
{
	return cp_byte(rank * 100 + salt, share);
}

static void image_make(uint8_t *image, const uint32_t *owner, uint32_t procs, uint32_t round,
		       uint32_t salt)
{
	struct wish *w = malloc(sizeof(*w));
	uint32_t r;
	uint64_t i;

	for (r = 0; r < procs; r++) {
		wish_draw(w, r, round);
		for (i = 0; i < w->n; i++)
			if (owner[w->off[i]] == r + 1 && first_of(w, w->off[i]) == i)
				image[w->off[i]] = value(r, salt, i);
	}
	free(w);
}

static struct ddio_transfer transfer(const struct wish *w, void *buf, uint32_t method,
				     struct ddio_report *report)
{
	report->struct_size = sizeof(*report);
	return (struct ddio_transfer){ .struct_size = sizeof(struct ddio_transfer),
				       .part = &w->part,
				       .buf = buf,
				       .method = method,
				       .flags = DDIO_XFER_OVERLAP,
				       .report = report };
}

static void write_one(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f,
		      const struct wish *w, uint32_t method, const uint32_t *owner)
{
	struct ddio_report report;
	struct ddio_transfer t;
	uint8_t *buf = malloc(w->n);
	uint64_t i, mine = 0, covered = 0;

	for (i = 0; i < w->n; i++)
		buf[i] = value(p->rank, method, i);
	for (i = 0; i < BYTES; i++) {
		mine += owner[i] == p->rank + 1;
		covered += owner[i] > 0;
	}
	t = transfer(w, buf, method, &report);
	CP_OK(p, ddio_write_all(f, g, &t));
	CU_ASSERT_EQUAL(report.bytes_moved, mine);
	CU_ASSERT_EQUAL(report.bytes_share, w->n);
	if (method >= DDIO_METHOD_DD) {
		CU_ASSERT_EQUAL(report.bytes_needed, covered);
		CU_ASSERT_EQUAL(report.requests, p->w->p.nodes);
	}
	free(buf);
}

static void look(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f, const uint8_t *image)
{
	uint8_t *buf = malloc(BYTES);

	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT_EQUAL(ddio_pread(f, buf, BYTES, 0), BYTES);
	CU_ASSERT_EQUAL(memcmp(buf, image, BYTES), 0);
	CP_OK(p, ddio_group_barrier(g));
	free(buf);
}

/* Reads with the same description, which names bytes twice; the file is as long as @end. */
static void read_one(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f,
		     const struct wish *w, uint32_t method, const uint8_t *image, uint64_t end)
{
	struct ddio_strided s = { .len = 1, .nlevels = 1, .level = { { w->n, 2 } } };
	struct ddio_memory memory = { .nstrided = 1, .strided = &s };
	uint8_t *buf = malloc(2 * w->n + SLACK);
	uint64_t i, bad = 0, moved = 0, step = method % 2 + 1;
	struct ddio_report report;
	struct ddio_transfer t = transfer(w, buf, method, &report);

	if (step == 2)
		t.memory = &memory;
	if (end < BYTES)
		t.flags |= DDIO_XFER_SHORT;
	memset(buf, 0xee, 2 * w->n + SLACK);
	CP_OK(p, ddio_read_all(f, g, &t));
	for (i = 0; i < w->n; i++) {
		bad += buf[step * i] != (w->off[i] < end ? image[w->off[i]] : 0xee);
		moved += w->off[i] < end;
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(buf[step * (w->n - 1) + 1], 0xee);
	CU_ASSERT_EQUAL(report.bytes_moved, moved);
	free(buf);
}

static void overlap(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	uint32_t *owner = malloc(BYTES * sizeof(*owner)), procs = p->w->p.procs, round, method;
	uint8_t *image = calloc(1, BYTES);
	struct wish *w = malloc(sizeof(*w));
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	for (round = 0; round < ut_rounds(ROUNDS); round++) {
		wish_draw(w, p->rank, round);
		owners(owner, procs, round);
		for (method = DDIO_METHOD_TC; method <= DDIO_METHOD_DDS; method++) {
			CP_OK(p, ddio_set_size(f, BYTES));
			write_one(p, g, f, w, method, owner);
			image_make(image, owner, procs, round, method);
			look(p, g, f, image);
			read_one(p, g, f, w, method, image, BYTES);
		}
		CP_OK(p, ddio_group_barrier(g));
		CP_OK(p, ddio_set_size(f, BYTES / 2));
		CP_OK(p, ddio_group_barrier(g));
		for (method = DDIO_METHOD_TC; method <= DDIO_METHOD_DDS; method++)
			read_one(p, g, f, w, method, image, BYTES / 2);
		memset(image + BYTES / 2, 0, BYTES - BYTES / 2);
		CP_OK(p, ddio_group_barrier(g));
	}
	ddio_close(f);
	ddio_group_free(g);
	free(owner);
	free(image);
	free(w);
}

static void lowest_rank(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 4 });
	CU_ASSERT_EQUAL(cp_run(&w, overlap, NULL), 0);
	cp_world_end(&w);
}

/* I/O processors ask for pieces before members have heard whose they are. */
static void slow_overlap(struct cp_proc *p)
{
	struct ddio_sim_link link;

	ddio_sim_link_default(&link);
	link.latency_ns = 10 * CP_MS;
	ddio_sim_set_link(p->env, &link);
	overlap(p);
}

static void asked_before_verdict(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = MOST_PROCS });
	CU_ASSERT_EQUAL(cp_run(&w, slow_overlap, NULL), 0);
	cp_world_end(&w);
}

static void refused(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct wish *w = malloc(sizeof(*w));
	uint8_t *buf = calloc(1, BYTES);
	struct ddio_report report;
	struct ddio_file *f = NULL;
	struct ddio_transfer t;

	memset(w, 0, sizeof(*w));
	w->part.kind = DDIO_PART_STRIDED;
	w->part.strided = w->entry;
	wish_entry(w, &(struct ddio_strided){ .offset = 100, .len = 8 });
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	t = transfer(w, buf, DDIO_METHOD_DDS, &report);
	t.flags = 0;
	CU_ASSERT_EQUAL(ddio_write_all(f, g, &t), -EBADSLT);
	t.flags = DDIO_XFER_OVERLAP;
	CP_OK(p, ddio_write_all(f, g, &t));
	t.flags = 0;
	CP_OK(p, ddio_read_all(f, g, &t));
	wish_entry(w, &(struct ddio_strided){ .offset = 104, .len = 8 });
	CU_ASSERT_EQUAL(ddio_read_all(f, g, &t), -EINVAL);
	ddio_close(f);
	ddio_group_free(g);
	free(buf);
	free(w);
}

static void only_with_the_flag(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 3 });
	CU_ASSERT_EQUAL(cp_run(&w, refused, NULL), 0);
	cp_world_end(&w);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "the lowest rank's bytes stay", lowest_rank },
		{ "pieces are asked for before the verdict", asked_before_verdict },
		{ "only with the flag", only_with_the_flag },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "overlaps", cases } };

	return cp_ut_run("test_cp_overlap", suites, 1);
}
