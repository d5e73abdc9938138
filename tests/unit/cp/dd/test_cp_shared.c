// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file whose blocks a copy has, too, is written by collectives of every method, whole blocks and a part of one, and by single
 * writes: the copy stays what it was, the file is what was written, and all counts are right in the end.
 */
#include "cp/file/file.h"
#include "cp/node/lane.h"
#include "tests/unit/cp/cp_world.h"

enum {
	PROCS = 4,
	BLOCK = 4096,
	ELEMS = 16384,
	BYTES = ELEMS * 8,
	/* Ends within a block. */
	SOME = ELEMS / 2 + 4 * 12,
	DISKS = 4,
	ROUNDS = 8
};

static struct ddio_array cyclic = {
	.elem_size = 8,
	.ndims = 1,
	.dim = { { .size = SOME, .dist = DDIO_CYCLIC, .procs = PROCS } },
};
static const struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &cyclic };

/* A copy of one object, waited for. */
struct copy_ask {
	struct session_call call;
	struct node_request request;
	struct ddio_msg_obj_copy copy;
	uint32_t status;
};

static void copy_got(struct node_request *request, const struct reply *reply)
{
	struct copy_ask *a = request->arg;

	a->status = reply->status;
	call_end(&a->call, NULL);
}

static void copy_run(struct session_call *call)
{
	struct copy_ask *a = ddio_container_of(call, struct copy_ask, call);

	request_init(&a->request, DDIO_OP_OBJ_COPY, copy_got, a);
	CU_ASSERT_EQUAL_FATAL(request_put(&a->request, obj_copy, &a->copy), 0);
	request_disk(call->session, a->copy.disk, &a->request);
}

/* Copies the file, on each of its disks. */
static struct ddio_file *copy(struct cp_proc *p, struct ddio_file *f, uint32_t n)
{
	struct ddio_file *g = NULL;
	char name[32];
	uint32_t i;

	snprintf(name, sizeof(name), "copy%u", n);
	CP_OK(p, ddio_open(p->session, name, DDIO_CREATE, NULL, &g));
	for (i = 0; i < DISKS; i++) {
		struct copy_ask a = { .copy = { .from = f->rec.ref,
						.to = g->rec.ref,
						.disk = f->rec.disks[i],
						.len = BYTES / DISKS } };

		CU_ASSERT_EQUAL(f->rec.disks[i], g->rec.disks[i]);
		CU_ASSERT_EQUAL(call_run(p->session, &a.call, copy_run), 0);
		CU_ASSERT_EQUAL(a.status, DDIO_ST_OK);
	}
	CP_OK(p, ddio_set_size(g, BYTES));
	return g;
}

static bool is(struct ddio_file *f, const uint8_t *want)
{
	uint8_t *buf = malloc(BYTES);
	bool same = ddio_pread(f, buf, BYTES, 0) == BYTES && !memcmp(buf, want, BYTES);

	free(buf);
	return same;
}

static void round_of(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f, uint32_t n,
		     uint8_t *now)
{
	static const uint32_t methods[] = { DDIO_METHOD_DDS, DDIO_METHOD_TC, DDIO_METHOD_2P,
					    DDIO_METHOD_DD };
	uint8_t *buf = malloc(BYTES), *was = malloc(BYTES);
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .part = &part,
				   .buf = buf,
				   .method = methods[n % 4],
				   .flags = n >= 4 ? DDIO_XFER_SYNC : 0 };
	struct ddio_file *other = NULL;
	uint64_t i, at;

	memcpy(was, now, BYTES);
	if (!p->rank)
		other = copy(p, f, n);
	CP_OK(p, ddio_group_barrier(g));
	/* With SYNC, and nothing of it in the cache, the last block is read, changed and written by the collective itself. */
	CP_OK(p, p->rank || n < 4 ? 0 : ddio_drop_cache(f));
	for (i = 0; i < SOME / PROCS * 8; i++)
		buf[i] = cp_byte(n + 1, (i / 8 * PROCS + p->rank) * 8 + i % 8);
	CP_OK(p, ddio_write_all(f, g, &t));
	CP_OK(p, ddio_group_barrier(g));
	if (!p->rank) {
		for (i = 0; i < SOME * 8; i++)
			now[i] = cp_byte(n + 1, i);
		at = BYTES - 3 * BLOCK - 7 - n;
		memset(now + at, (int)n + 1, BLOCK);
		CU_ASSERT_EQUAL(ddio_pwrite(f, now + at, BLOCK, at), BLOCK);
		CU_ASSERT_TRUE(is(f, now));
		CU_ASSERT_TRUE(is(other, was));
		ddio_close(other);
	}
	CP_OK(p, ddio_group_barrier(g));
	free(buf);
	free(was);
}

/* Returns what is free; the records must be right. */
static uint64_t free_bytes(struct cp_proc *p, struct ddio_file *f)
{
	struct ddio_check_result result;

	CP_OK(p, ddio_sync(f));
	CP_OK(p, ddio_check(p->session, 0, NULL, NULL, &result));
	CU_ASSERT_EQUAL(result.problems, 0);
	return result.free_bytes;
}

static void rounds(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	uint64_t before = 0;
	uint8_t *now = p->w->arg;
	uint32_t n;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	if (!p->rank) {
		memset(now, 0x55, BYTES);
		CU_ASSERT_EQUAL(ddio_pwrite(f, now, BYTES, 0), BYTES);
		before = free_bytes(p, f);
	}
	for (n = 0; n < ROUNDS; n++)
		round_of(p, g, f, n, now);
	if (!p->rank) {
		/* Each round wrote 19 of 32 blocks anew. */
		CU_ASSERT_EQUAL(before - free_bytes(p, f), ROUNDS * 19 * BLOCK);
	}
	ddio_close(f);
	ddio_group_free(g);
}

static void written(const char *engine)
{
	struct cp_world w;
	uint8_t *now = malloc(BYTES);

	cp_world_begin(&w, &(struct cp_params){
				   .procs = PROCS, .block = BLOCK, .seed = 5, .engine = engine });
	CU_ASSERT_EQUAL(cp_run(&w, rounds, now), 0);
	cp_world_end(&w);
	free(now);
}

static void test_requests(void)
{
	written(NULL);
}

/* A disk that is given the whole list. */
static void test_feed(void)
{
	written("hp97560");
}

static const struct ut_case cases[] = {
	{ "by requests", test_requests },
	{ "by a feed", test_feed },
	{ .name = NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "a copy's file", cases } };

	return ut_run("cp_shared", suites, 1);
}
