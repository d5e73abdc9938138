// SPDX-License-Identifier: GPL-2.0-only
/*
 * A member joins its memory for an operation before rank 0 has started it, hence by the number that the operation would have if it were the
 * next.  Where others come before, the number is wrong, and then the data go another way: always the right ones, to the right place.
 */
#include "base/rand.h"
#include "tests/unit/cp/dd/cp_joint.h"

enum { PROCS = 3, FILES = 3, SHARE = 64 << 10, SMALL = 4096, OPS = 6, TIMEOUT_MS = 3000 };

/* Fewer operations of an order are undecided at a time than this; see starts.c. */
enum { PLACES = 256 };

struct joined_job {
	struct ddio_extent e;
	struct ddio_part part;
	struct ddio_report report;
	struct ddio_transfer t;
	struct ddio_op *op;
	uint8_t *buf;
};

static void world(void (*fn)(struct cp_proc *p), void *arg)
{
	struct cp_world w;

	memset(&joints, 0, sizeof(joints));
	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS,
						.nodes = 2,
						.disks = 4,
						.block = 4096,
						.timeout_ms = TIMEOUT_MS });
	cp_joint_disks(&w);
	ddio_sim_limit(w.dw, 300 * CP_SEC);
	CU_ASSERT_EQUAL(cp_run(&w, fn, arg), 0);
	cp_world_end(&w);
}

/* A member's share of a list: @len bytes from @at on. */
static void job_make(struct joined_job *j, uint64_t at, uint64_t len, uint32_t method)
{
	*j = (struct joined_job){ .e = { at, len }, .buf = malloc(len) };
	j->part = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = 1, .list = &j->e };
	j->report.struct_size = sizeof(j->report);
	j->t = (struct ddio_transfer){ .struct_size = sizeof(j->t),
				       .part = &j->part,
				       .buf = j->buf,
				       .method = method,
				       .flags = DDIO_XFER_FILE_ORDER,
				       .report = &j->report };
}

static void job_free(struct joined_job *j)
{
	free(j->buf);
}

static void job_fill(struct joined_job *j, uint64_t seed)
{
	uint64_t i;

	for (i = 0; i < j->e.len; i++)
		j->buf[i] = cp_byte(seed, j->e.offset + i);
}

static bool job_holds(const struct joined_job *j, uint64_t seed)
{
	uint64_t i;

	for (i = 0; i < j->e.len; i++)
		if (j->buf[i] != cp_byte(seed, j->e.offset + i))
			return false;
	return true;
}

static void files_open(struct cp_proc *p, struct ddio_group **g, struct ddio_file **f)
{
	char name[2] = "a";
	uint32_t k;

	/* Those of one machine, as all are here, could share buffers as well. */
	sim_local(p->env);
	p->session->transfers->share_min = UINT64_MAX;
	*g = cp_group(p);
	for (k = 0; k < FILES; k++, name[0]++)
		CP_OK(p, ddio_open_all(*g, name, DDIO_CREATE, NULL, &f[k]));
}

static void files_close(struct ddio_group *g, struct ddio_file **f)
{
	uint32_t k;

	for (k = 0; k < FILES; k++)
		ddio_close(f[k]);
	ddio_group_free(g);
}

/*
 * In orders of their own
 */
/* Puts the files in an order of this member's own, which for some is that of others. */
static void shuffle(uint64_t *r, uint32_t *which)
{
	uint32_t k, other, was;

	for (k = 0; k < FILES; k++)
		which[k] = k;
	for (k = FILES - 1; k; k--) {
		other = (uint32_t)ddio_rand_below(r, k + 1);
		was = which[k];
		which[k] = which[other];
		which[other] = was;
	}
}

/* Begins one of each file, in any order and with pauses, and ends them. */
static void each_once(struct cp_proc *p, struct ddio_group *g, struct ddio_file **f, uint64_t *r,
		      bool write, uint32_t n)
{
	struct joined_job j[FILES];
	uint32_t which[FILES], k;

	shuffle(r, which);
	for (k = 0; k < FILES; k++) {
		uint32_t i = which[k];

		job_make(&j[i], (uint64_t)(n * PROCS + p->rank) * SHARE, SHARE, DDIO_METHOD_DDS);
		if (write)
			job_fill(&j[i], i);
		else
			memset(j[i].buf, 0, SHARE);
		ddio_sim_sleep(p->env, ddio_rand_below(r, 2 * CP_MS));
		CP_OK(p, (write ? ddio_start_write_all : ddio_start_read_all)(f[i], g, &j[i].t,
									      &j[i].op));
	}
	for (k = 0; k < FILES; k++) {
		CP_OK(p, ddio_wait(j[k].op));
		CU_ASSERT(job_holds(&j[k], k));
		job_free(&j[k]);
	}
}

static void orders_of_own(struct cp_proc *p)
{
	const uint64_t *seed = p->w->arg;
	struct ddio_file *f[FILES];
	struct ddio_group *g;
	uint64_t r = *seed * PROCS + p->rank;
	uint32_t n;

	files_open(p, &g, f);
	for (n = 0; n < OPS; n++)
		each_once(p, g, f, &r, true, n);
	for (n = 0; n < OPS; n++)
		each_once(p, g, f, &r, false, n);
	files_close(g, f);
}

static void numbers_guessed(void)
{
	uint32_t rounds = ut_rounds(12), right = 0, wrong = 0;
	uint64_t seed;

	for (seed = 0; seed < rounds; seed++) {
		world(orders_of_own, &seed);
		CU_ASSERT_EQUAL(joints.orphans, 0);
		right += joints.used;
		wrong += joints.unused;
	}
	CU_ASSERT(right > 0);
	CU_ASSERT(wrong > 0);
}

/*
 * A number that was guessed for an operation that failed
 */

/* They read beyond the end, and all know before anything was started. */
static void fail_once(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f)
{
	struct joined_job j;

	job_make(&j, (1ull << 30) + p->rank * SHARE, SHARE, DDIO_METHOD_DDS);
	CU_ASSERT_EQUAL(cp_note(p, ddio_read_all(f, g, &j.t)), -ENODATA);
	job_free(&j);
}

/* Operations of the file of which I/O processors know no number. */
static void pass_places(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f, uint32_t n)
{
	struct joined_job j;
	uint32_t i;

	job_make(&j, p->rank * 8, 8, DDIO_METHOD_TC);
	job_fill(&j, 0);
	for (i = 0; i < n; i++)
		CP_OK(p, ddio_write_all(f, g, &j.t));
	job_free(&j);
}

static void fails_before(struct cp_proc *p)
{
	uint64_t len = p->rank ? SMALL : SHARE;
	struct ddio_file *f[FILES];
	struct joined_job j;
	struct ddio_group *g;

	files_open(p, &g, f);
	fail_once(p, g, f[0]);
	pass_places(p, g, f[0], PLACES - 1);
	/* Only rank 0 has enough to join; the others last joined for the one that failed. */
	job_make(&j, p->rank * SHARE, len, DDIO_METHOD_DDS);
	job_fill(&j, 1);
	CP_OK(p, ddio_write_all(f[0], g, &j.t));
	memset(j.buf, 0, len);
	CP_OK(p, ddio_read_all(f[0], g, &j.t));
	CU_ASSERT(job_holds(&j, 1));
	job_free(&j);
	files_close(g, f);
}

static void number_of_a_failed_one(void)
{
	world(fails_before, NULL);
	CU_ASSERT(joints.unused > 0);
	CU_ASSERT_EQUAL(joints.orphans, 0);
}

static const struct ut_case cases[] = {
	{ "numbers guessed", numbers_guessed },
	{ "number of a failed one", number_of_a_failed_one },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "joined", cases } };

	cp_local = true;
	return ut_run("cp_joined", suites, 1);
}
