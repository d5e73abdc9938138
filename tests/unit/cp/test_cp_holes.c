// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holes are made, space is allocated and zeroed, and parts are copied, while all processes
 * write or read the same file by a collective: each of a block's bytes is what one or
 * the other made of it, no collective fails, and in the end the records are consistent.  New files
 * are written meanwhile, into the space that was given back: they are what was written.
 */
#include "base/rand.h"
#include "cp/file/file.h"
#include "cp/node/lane.h"
#include "tests/unit/cp/cp_world.h"

enum {
	PROCS = 4,
	BLOCK = 1024,
	ELEMS = 16384,
	BYTES = ELEMS * 8,
	SHARE = BYTES / PROCS,
	DISKS = 4,
	OTHERS = 6,
	ROUNDS = 16
};

static const struct ddio_array cyclic = {
	.elem_size = 8,
	.ndims = 1,
	.dim = { { .size = ELEMS, .dist = DDIO_CYCLIC, .procs = PROCS } },
};
static const struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &cyclic };

/* One request about an object, waited for. */
struct ask {
	struct session_call call;
	struct node_request request;
	uint16_t opcode;
	struct ddio_msg_obj obj;
	struct ddio_msg_obj_copy copy;
	uint32_t status;
};

static void ask_got(struct node_request *request, const struct reply *reply)
{
	struct ask *a = request->arg;

	a->status = reply->status;
	call_end(&a->call, NULL);
}

static void ask_run(struct session_call *call)
{
	struct ask *a = ddio_container_of(call, struct ask, call);
	int err;

	request_init(&a->request, a->opcode, ask_got, a);
	if (a->opcode == DDIO_OP_OBJ_COPY)
		err = request_put(&a->request, obj_copy, &a->copy);
	else
		err = request_put(&a->request, obj, &a->obj);
	CU_ASSERT_EQUAL_FATAL(err, 0);
	request_disk(call->session, a->obj.disk, &a->request);
}

/* What a byte of the file may be. */
enum { WRITTEN, EITHER, ZERO };

/* Of the file's bytes [from, from + len) of disk @i's object. */
static void mark(uint8_t *may, uint32_t i, uint64_t from, uint64_t len, uint8_t what)
{
	for (; len; len--, from++)
		may[(from / BLOCK * DISKS + i) * BLOCK + from % BLOCK] = what;
}

/* Zeros somewhere, in one way or another; beside a write they may be gone again. */
static void make_zeros(struct cp_proc *p, struct ddio_file *f, uint64_t *rand, uint8_t *may,
		       bool writing)
{
	const uint64_t size = BYTES / DISKS;
	struct ask a = { .opcode = DDIO_OP_OBJ_PUNCH };
	uint32_t i = (uint32_t)ddio_rand_below(rand, DISKS);

	a.obj.file = f->rec.ref;
	a.obj.disk = f->rec.disks[i];
	a.obj.len = 1 + ddio_rand_below(rand, size / 2);
	a.obj.offset = ddio_rand_below(rand, size - a.obj.len);
	switch (ddio_rand_below(rand, 4)) {
	case 0:
		a.opcode = DDIO_OP_OBJ_ALLOCATE;
		a.obj.flags = DDIO_OBJ_ZERO;
		break;
	case 1:
		/* From a file that has nothing: zeros. */
		a.opcode = DDIO_OP_OBJ_COPY;
		a.copy = (struct ddio_msg_obj_copy){ .from = a.obj.file,
						     .to = a.obj.file,
						     .disk = a.obj.disk,
						     .to_offset = a.obj.offset,
						     .len = a.obj.len };
		a.copy.from.id += 1000;
		break;
	}
	CU_ASSERT_EQUAL(call_run(p->session, &a.call, ask_run), 0);
	CU_ASSERT_EQUAL(a.status, DDIO_ST_OK);
	mark(may, i, a.obj.offset, a.obj.len, writing ? EITHER : ZERO);
}

static const char *other_name(uint32_t n, uint64_t i)
{
	static char name[32];

	snprintf(name, sizeof(name), "other%u-%llu", n, (unsigned long long)i);
	return name;
}

/* A new file takes the first space that is free. */
static void other(struct cp_proc *p, uint32_t n, uint64_t i, bool make)
{
	uint8_t buf[16 * BLOCK];
	struct ddio_file *f = NULL;
	uint64_t k, bad = 0;
	int64_t moved;

	CP_OK(p, ddio_open(p->session, other_name(n, i), make ? DDIO_CREATE : 0, NULL, &f));
	for (k = 0; k < sizeof(buf) && make; k++)
		buf[k] = cp_byte(n * 100 + i, k);
	moved = make ? ddio_pwrite(f, buf, sizeof(buf), 0) : ddio_pread(f, buf, sizeof(buf), 0);
	CU_ASSERT_EQUAL(moved, sizeof(buf));
	for (k = 0; k < sizeof(buf); k++)
		bad += buf[k] != cp_byte(n * 100 + i, k);
	CU_ASSERT_EQUAL(bad, 0);
	ddio_close(f);
}

static struct ddio_transfer transfer(void *buf, uint32_t method)
{
	return (struct ddio_transfer){ .struct_size = sizeof(struct ddio_transfer),
				       .part = &part,
				       .buf = buf,
				       .method = method };
}

static uint64_t at_of(uint32_t rank, uint64_t i)
{
	return (i / 8 * PROCS + rank) * 8 + i % 8;
}

/* Bytes that cannot be.  @now: they have been zeroed by now, not just meanwhile. */
static uint64_t wrong(const uint8_t *buf, uint32_t rank, uint64_t salt, const uint8_t *may,
		      bool now)
{
	uint64_t i, n = 0;

	for (i = 0; i < SHARE; i++) {
		uint64_t at = at_of(rank, i);
		bool zero_ok = may[at] != WRITTEN;
		bool data_ok = may[at] != ZERO || !now;

		n += !(zero_ok && !buf[i]) && !(data_ok && buf[i] == cp_byte(salt, at));
	}
	return n;
}

/* Requests that ended before the collective that they were made beside: reading, writing. */
static uint32_t beside[2];

static void round_of(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f, uint32_t n,
		     uint8_t *may)
{
	static const uint32_t methods[] = { DDIO_METHOD_DDS, DDIO_METHOD_TC, DDIO_METHOD_2P,
					    DDIO_METHOD_DD };
	uint64_t rand = n * 31 + p->w->p.seed, salt = n / 2, i, before = 0;
	uint8_t *buf = malloc(SHARE);
	struct ddio_transfer t = transfer(buf, methods[n % 4]);
	struct ddio_op *op = NULL;

	for (i = 0; i < SHARE; i++)
		buf[i] = cp_byte(salt, at_of(p->rank, i));
	CP_OK(p, ddio_group_barrier(g));
	if (!p->rank && n % 2 == 0)
		memset(may, 0, BYTES);
	/* Zeros that were there before a write are gone after it, those made meanwhile may be. */
	if (n % 2)
		CP_OK(p, ddio_start_read_all(f, g, &t, &op));
	else
		CP_OK(p, ddio_start_write_all(f, g, &t, &op));
	for (i = 0; i < OTHERS && !p->rank; i++) {
		make_zeros(p, f, &rand, may, n % 2 == 0);
		if (ddio_test(op) == -EINPROGRESS)
			beside[n % 2]++;
		other(p, n, i, true);
	}
	CP_OK(p, ddio_wait(op));
	CP_OK(p, ddio_group_barrier(g));
	before = n % 2 ? wrong(buf, p->rank, salt, may, false) : 0;
	CU_ASSERT_EQUAL(before, 0);
	t.method = methods[(n + 1) % 4];
	CP_OK(p, ddio_read_all(f, g, &t));
	CU_ASSERT_EQUAL(wrong(buf, p->rank, salt, may, true), 0);
	free(buf);
}

static void rounds(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_check_result result;
	struct ddio_file *f = NULL;
	uint64_t i, zeros = 0;
	uint8_t *buf = malloc(BYTES);
	uint32_t n;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	for (n = 0; n < ROUNDS; n++)
		round_of(p, g, f, n, p->w->arg);
	CP_OK(p, ddio_group_barrier(g));
	if (!p->rank) {
		CU_ASSERT_EQUAL(ddio_pread(f, buf, BYTES, 0), BYTES);
		for (i = 0; i < BYTES; i++)
			zeros += !buf[i];
		/* The last round but one wrote all; something was zeroed after it. */
		CU_ASSERT(zeros > BYTES / 20);
		for (i = 0; i < OTHERS * ROUNDS; i++)
			other(p, (uint32_t)(i / OTHERS), i % OTHERS, false);
		CP_OK(p, ddio_sync(f));
		CP_OK(p, ddio_check(p->session, 0, NULL, NULL, &result));
		CU_ASSERT_EQUAL(result.problems, 0);
		CU_ASSERT_EQUAL(result.orphans, 0);
	}
	free(buf);
	ddio_close(f);
	ddio_group_free(g);
}

static void holes_beside_collectives(void)
{
	struct cp_world w;
	uint8_t *may = malloc(BYTES);
	uint64_t seed;

	for (seed = 1; seed <= 6; seed += ut_stride(6)) {
		memset(may, 0, BYTES);
		cp_world_begin(&w, &(struct cp_params){ .procs = PROCS,
							.block = BLOCK,
							.seed = seed,
							.options = "delay_us=3000" });
		CU_ASSERT_EQUAL(cp_run(&w, rounds, may), 0);
		cp_world_end(&w);
	}
	printf("%u requests ended while the file was being written, %u while it was being read\n",
	       beside[0], beside[1]);
	CU_ASSERT(beside[0] > ut_rounds(10) && beside[1] > ut_rounds(10));
	free(may);
}

static const struct ut_case cases[] = {
	{ "holes beside collectives", holes_beside_collectives },
	{ .name = NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "holes", cases } };

	return ut_run("cp_holes", suites, 1);
}
