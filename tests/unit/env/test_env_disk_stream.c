// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams of every engine against an image in memory, with requests of other users between them.
 * DDIO_TEST_DISKS="engine:path ..." names others instead; what is in the first 4 MB there is lost.
 */
#include <errno.h>
#include <unistd.h>
#include "tests/unit/env/env_rig.h"

#define SIZE (4ULL << 20)
#define HALF (SIZE / 2)
#define SLOTS_MAX 16u
#define LEN_MAX 65536u
#define BLOCKS_MAX 600u
#define KINDS_MAX 16u

/*
 * The engines
 */
struct stream_kind {
	char engine[32], path[200], options[64];
};

static char file_path[300];
static struct stream_kind kinds[KINDS_MAX];
static unsigned int nkinds;

static void kind_add(const char *engine, const char *path, const char *options)
{
	struct stream_kind *k = &kinds[nkinds++];

	snprintf(k->engine, sizeof(k->engine), "%s", engine);
	snprintf(k->path, sizeof(k->path), "%s", path);
	snprintf(k->options, sizeof(k->options), "%s", options);
}

static void kinds_find(void)
{
	char *list = getenv("DDIO_TEST_DISKS"), *word, *colon, *save;

	if (!list) {
		kind_add("mem", "", "delay_us=20");
		kind_add("aio", file_path, "depth=5");
		kind_add("hp97560", "", "time_scale=0");
		return;
	}
	list = strdup(list);
	for (word = strtok_r(list, " ", &save); word && nkinds < KINDS_MAX;
	     word = strtok_r(NULL, " ", &save)) {
		colon = strchr(word, ':');
		if (!colon)
			continue;
		*colon = '\0';
		kind_add(word, colon + 1, "");
	}
	free(list);
}

/*
 * A stream and its user
 */
enum how { PLAIN, CANCEL };

struct stream_user {
	struct env_rig rig;
	struct ddio_disk_stream *stream;
	struct ddio_disk_stream_spec spec;
	uint64_t seed;
	uint8_t *image, *mem;
	uint64_t block[BLOCKS_MAX];
	unsigned int n, given, came, wrote, calls_in_call;
	unsigned int cancel_at;
	bool in_call, ended, cancelled, late;
	int status, error;
	int32_t held[SLOTS_MAX]; /* block in the slot, or -1 */
	struct ddio_post post;
	bool posted;
	unsigned int others;
};

static bool u_next(void *ctx, struct ddio_disk_block *block)
{
	struct stream_user *u = ctx;

	if (u->given == u->n)
		return false;
	block->offset = u->block[u->given] * u->spec.len;
	block->cookie = u->given++;
	return true;
}

static void u_release(struct stream_user *u, uint32_t slot)
{
	uint8_t *mem = (uint8_t *)u->spec.mem + slot * u->spec.stride;
	uint64_t at = u->block[u->held[slot]] * u->spec.len;

	if (u->spec.op == DDIO_DISK_WRITE)
		memcpy(mem, u->image + at, u->spec.len);
	u->held[slot] = -1;
	u->in_call = true;
	ddio_disk_stream_release(u->stream, slot);
	u->in_call = false;
}

/* Slots that were kept for a while, in any order. */
static void u_later(void *arg)
{
	struct stream_user *u = arg;
	uint32_t i, first = rnd(&u->seed) % u->spec.slots;

	u->posted = false;
	if (u->ended || u->cancelled)
		return;
	for (i = 0; i < u->spec.slots; i++)
		if (u->held[(first + i) % u->spec.slots] >= 0)
			u_release(u, (first + i) % u->spec.slots);
}

static void u_slot(void *ctx, uint32_t slot, const struct ddio_disk_block *block, int status)
{
	struct stream_user *u = ctx;

	u->calls_in_call += u->in_call;
	u->late |= u->ended;
	CU_ASSERT_FATAL(slot < u->spec.slots);
	CU_ASSERT_EQUAL(u->held[slot], -1);
	CU_ASSERT(block->cookie < u->n && block->offset == u->block[block->cookie] * u->spec.len);
	u->held[slot] = block->cookie;
	u->came++;
	if (u->spec.op == DDIO_DISK_WRITE)
		CU_ASSERT_EQUAL(block->cookie, u->came - 1);
	if (status) {
		u->error = u->error ? u->error : status;
		return;
	}
	if (u->spec.op == DDIO_DISK_READ && !u->cancelled)
		CU_ASSERT_EQUAL(memcmp((uint8_t *)u->spec.mem + slot * u->spec.stride,
				       u->image + block->offset, u->spec.len),
				0);
	if (u->came == u->cancel_at) {
		u->cancelled = true;
		u->in_call = true;
		ddio_disk_stream_cancel(u->stream);
		u->in_call = false;
		return;
	}
	if (u->cancelled)
		return;
	if (rnd(&u->seed) % 4) {
		u_release(u, slot);
	} else if (!u->posted) {
		u->posted = true;
		ddio_env_post(u->rig.env, &u->post);
	}
}

static void u_wrote(void *ctx, uint32_t slot, const struct ddio_disk_block *block, int status)
{
	struct stream_user *u = ctx;

	u->calls_in_call += u->in_call;
	u->late |= u->ended;
	CU_ASSERT(slot < u->spec.slots);
	CU_ASSERT(block->cookie < u->n);
	if (!status)
		u->wrote++;
	else if (!u->error)
		u->error = status;
}

static void u_over(struct stream_user *u)
{
	if (u->ended && !u->others)
		real_stop(u->rig.env);
}

static void u_ended(void *ctx, int status)
{
	struct stream_user *u = ctx;

	u->calls_in_call += u->in_call;
	CU_ASSERT(!u->ended);
	u->ended = true;
	u->status = status;
	ddio_disk_stream_close(u->stream);
	u_over(u);
}

static const struct ddio_disk_stream_ops u_ops = {
	.next = u_next,
	.slot = u_slot,
	.wrote = u_wrote,
	.ended = u_ended,
};

/*
 * Others at the same disk: requests in its second half, where no stream goes
 */
struct other {
	struct ddio_disk_req req;
	struct stream_user *u;
};

static void other_done(struct ddio_disk_req *req)
{
	struct other *o = req->arg;

	CU_ASSERT_EQUAL(req->status, 0);
	if (req->op == DDIO_DISK_READ)
		CU_ASSERT_EQUAL(memcmp(req->buf, o->u->image + req->offset, req->len), 0);
	free(req->buf);
	o->u->others--;
	u_over(o->u);
	free(o);
}

/* In memory that is not from ddio_env_alloc(). */
static void other_begin(struct stream_user *u)
{
	struct other *o = calloc(1, sizeof(*o));
	uint64_t i;

	o->u = u;
	o->req.op = rnd(&u->seed) % 2 ? DDIO_DISK_READ : DDIO_DISK_WRITE;
	o->req.len = 4096 * (1 + rnd(&u->seed) % 4);
	/* Each its own place, so that their order does not matter. */
	o->req.offset = HALF + u->others * 65536;
	CU_ASSERT_EQUAL_FATAL(posix_memalign(&o->req.buf, 4096, o->req.len), 0);
	o->req.done = other_done;
	o->req.arg = o;
	if (o->req.op == DDIO_DISK_WRITE) {
		for (i = 0; i < o->req.len; i++)
			u->image[o->req.offset + i] = rnd(&u->seed);
		memcpy(o->req.buf, u->image + o->req.offset, o->req.len);
	}
	u->others++;
	ddio_disk_submit(u->rig.disk, &o->req);
}

/*
 * Rounds
 */
static void u_list(struct stream_user *u)
{
	uint64_t total = HALF / u->spec.len, at = 0, i, k, t;

	u->n = 0;
	if (rnd(&u->seed) % 20 == 0)
		return;
	for (i = 0; i < total && u->n < BLOCKS_MAX; i++)
		if (rnd(&u->seed) % 3 || total < 30)
			u->block[u->n++] = at + i;
	/* In the order of the disk, or in none. */
	for (i = 0; rnd(&u->seed) % 2 && i + 1 < u->n; i++) {
		k = i + rnd(&u->seed) % (u->n - i);
		t = u->block[i];
		u->block[i] = u->block[k];
		u->block[k] = t;
	}
	if (rnd(&u->seed) % 3 == 0 && u->n > 7)
		u->n = 1 + rnd(&u->seed) % 7;
}

static void u_begin(struct stream_user *u, enum ddio_disk_op op)
{
	uint32_t sector = ddio_disk_info(u->rig.disk)->sector;
	uint64_t i;

	u->spec =
		(struct ddio_disk_stream_spec){ .op = op, .mem = u->mem, .ops = &u_ops, .ctx = u };
	u->spec.slots = rnd(&u->seed) % 2 ? 2 : 1 + rnd(&u->seed) % SLOTS_MAX;
	u->spec.len = sector * (1 + rnd(&u->seed) % (rnd(&u->seed) % 2 ? 8 : LEN_MAX / sector));
	u->spec.stride = u->spec.len + rnd(&u->seed) % 2 * sector;
	u_list(u);
	u->given = u->came = u->wrote = u->cancel_at = 0;
	u->ended = u->cancelled = false;
	u->status = u->error = 0;
	for (i = 0; i < SLOTS_MAX; i++)
		u->held[i] = -1;
	for (i = 0; op == DDIO_DISK_WRITE && i < u->n * u->spec.len; i++)
		u->image[u->block[i / u->spec.len] * u->spec.len + i % u->spec.len] = rnd(&u->seed);
}

static void u_run(struct stream_user *u)
{
	unsigned int i, n = rnd(&u->seed) % 20;

	CU_ASSERT_EQUAL_FATAL(ddio_disk_stream_open(u->rig.disk, &u->spec, &u->stream), 0);
	for (i = 0; i < n; i++)
		other_begin(u);
	ddio_disk_commit(u->rig.disk);
	CU_ASSERT_EQUAL(real_run(u->rig.env), 0);
	CU_ASSERT(u->ended);
}

static void u_round(struct stream_user *u, enum how how)
{
	enum ddio_disk_op op = rnd(&u->seed) % 2 ? DDIO_DISK_READ : DDIO_DISK_WRITE;
	uint64_t half = HALF, at;

	u_begin(u, op);
	if (how == CANCEL && u->n)
		u->cancel_at = 1 + rnd(&u->seed) % u->n;
	u_run(u);
	if (how == PLAIN) {
		CU_ASSERT_EQUAL(u->status, 0);
		CU_ASSERT_EQUAL(u->came, u->n);
		CU_ASSERT_EQUAL(u->wrote, op == DDIO_DISK_WRITE ? u->n : 0);
		return;
	}
	if (how == CANCEL && u->n)
		CU_ASSERT_EQUAL(u->status, -ECANCELED);
	/* Some of it was written. */
	if (op == DDIO_DISK_WRITE) {
		for (at = 0; at < half; at += LEN_MAX)
			CU_ASSERT_EQUAL(ddio_disk_rw_sync(u->rig.disk, DDIO_DISK_READ, at,
							  u->image + at, LEN_MAX),
					0);
	}
}

static void u_compare(struct stream_user *u)
{
	uint8_t *buf = ddio_env_alloc(u->rig.env, LEN_MAX);
	uint64_t at;

	for (at = 0; at < SIZE; at += LEN_MAX) {
		CU_ASSERT_EQUAL(rig_do(&u->rig, DDIO_DISK_READ, at, LEN_MAX, buf), 0);
		CU_ASSERT_EQUAL(memcmp(buf, u->image + at, LEN_MAX), 0);
	}
	ddio_env_free(u->rig.env, buf, LEN_MAX);
}

static void u_open(struct stream_user *u, const struct stream_kind *kind, uint64_t seed)
{
	struct ddio_disk_spec spec = {
		.name = kind->engine,
		.engine = kind->engine,
		.path = *kind->path ? kind->path : NULL,
		.options = kind->options,
		.size = SIZE,
		.create = !strcmp(kind->path, file_path),
	};
	uint64_t at;

	memset(u, 0, sizeof(*u));
	u->seed = seed;
	u->post.fn = u_later;
	u->post.arg = u;
	rig_begin(&u->rig);
	rig_open(&u->rig, &spec);
	CU_ASSERT_EQUAL_FATAL(posix_memalign((void **)&u->image, 4096, SIZE), 0);
	for (at = 0; at < SIZE; at++)
		u->image[at] = rnd(&u->seed);
	u->mem = ddio_env_alloc(u->rig.env, SLOTS_MAX * (LEN_MAX + 4096));
	for (at = 0; at < SIZE; at += LEN_MAX)
		CU_ASSERT_EQUAL(rig_do(&u->rig, DDIO_DISK_WRITE, at, LEN_MAX, u->image + at), 0);
}

static void u_close(struct stream_user *u)
{
	struct ddio_disk_stats stats;

	u_compare(u);
	CU_ASSERT_EQUAL(u->calls_in_call, 0);
	CU_ASSERT(!u->late);
	ddio_disk_stats(u->rig.disk, &stats);
	CU_ASSERT_EQUAL(stats.in_flight, 0);
	ddio_env_free(u->rig.env, u->mem, SLOTS_MAX * (LEN_MAX + 4096));
	rig_end(&u->rig);
	free(u->image);
	unlink(file_path);
}

static void rounds(enum how how, unsigned int n, uint64_t seed)
{
	static struct stream_user u;
	unsigned int i, k;

	for (k = 0; k < nkinds; k++) {
		printf("\n  %s %s, seed %llu ", kinds[k].engine, kinds[k].path,
		       (unsigned long long)seed);
		fflush(stdout);
		u_open(&u, &kinds[k], seed);
		for (i = 0; i < n; i++)
			u_round(&u, how);
		u_close(&u);
	}
}

static void test_lists(void)
{
	rounds(PLAIN, ut_rounds(60), 1);
}

static void test_cancel(void)
{
	rounds(CANCEL, ut_rounds(60), 2);
}

/* A block fails, by injection: of the stream, since its disk does nothing else. */
static void test_errors(void)
{
	static struct stream_user u;
	unsigned int i, k;

	for (k = 0; k < nkinds; k++) {
		u_open(&u, &kinds[k], 3);
		for (i = 0; i < 40; i++) {
			u_begin(&u, i % 2 ? DDIO_DISK_READ : DDIO_DISK_WRITE);
			if (!u.n)
				continue;
			disk_inject(u.rig.disk, u.spec.op, 1, -ENODATA);
			CU_ASSERT_EQUAL_FATAL(ddio_disk_stream_open(u.rig.disk, &u.spec, &u.stream),
					      0);
			CU_ASSERT_EQUAL(real_run(u.rig.env), 0);
			CU_ASSERT_EQUAL(u.error, -ENODATA);
			CU_ASSERT_EQUAL(u.status, -ENODATA);
			CU_ASSERT_EQUAL(
				ddio_disk_rw_sync(u.rig.disk, DDIO_DISK_READ, 0, u.image, SIZE), 0);
		}
		u_close(&u);
	}
}

/*
 * What a stream knows of writes
 */
static void fresh_done(struct ddio_disk_req *req)
{
	*(bool *)req->arg = true;
}

static void test_fresh(void)
{
	static struct stream_user u;
	struct ddio_disk_block a = { .offset = 0 }, b = { .offset = 1 << 20 };
	struct ddio_disk_req req = { .op = DDIO_DISK_WRITE, .len = 512, .done = fresh_done };
	bool done = false;

	u_open(&u, &kinds[0], 4);
	u_begin(&u, DDIO_DISK_READ);
	u.spec.len = 4096;
	u.spec.stride = 4096;
	u.n = 1;
	u.block[0] = 0;
	req.buf = u.image;
	req.arg = &done;
	/* Begun before the stream: its end counts. */
	ddio_disk_submit(u.rig.disk, &req);
	CU_ASSERT_EQUAL_FATAL(ddio_disk_stream_open(u.rig.disk, &u.spec, &u.stream), 0);
	CU_ASSERT(ddio_disk_stream_fresh(u.stream, &a));
	u.others = 1;
	while (!done) {
		ddio_env_post(u.rig.env,
			      &(struct ddio_post){ .fn = (void *)real_stop, .arg = u.rig.env });
		CU_ASSERT_EQUAL(real_run(u.rig.env), 0);
	}
	if (!u.ended) {
		CU_ASSERT(!ddio_disk_stream_fresh(u.stream, &a));
		CU_ASSERT(ddio_disk_stream_fresh(u.stream, &b));
	}
	u.others = 0;
	if (!u.ended)
		CU_ASSERT_EQUAL(real_run(u.rig.env), 0);
	u_close(&u);
}

static void test_refused(void)
{
	static struct stream_user u;
	struct ddio_disk_stream_spec spec;

	u_open(&u, &kinds[0], 5);
	u_begin(&u, DDIO_DISK_READ);
#define REFUSED(member, value)                                                                 \
	do {                                                                                   \
		spec = u.spec;                                                                 \
		spec.member = value;                                                           \
		CU_ASSERT_EQUAL(ddio_disk_stream_open(u.rig.disk, &spec, &u.stream), -EINVAL); \
	} while (0)
	REFUSED(op, DDIO_DISK_FLUSH);
	REFUSED(slots, 0);
	REFUSED(len, 0);
	REFUSED(len, 513);
	REFUSED(mem, NULL);
	REFUSED(stride, u.spec.len - 1);
#undef REFUSED
	u_close(&u);
}

static const struct ut_case cases[] = {
	{ "random lists, read and written", test_lists },
	{ "cancelled at any block", test_cancel },
	{ "a block fails", test_errors },
	{ "blocks written meanwhile are not fresh", test_fresh },
	{ "bad streams are refused", test_refused },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "disk streams", cases } };

	snprintf(file_path, sizeof(file_path), "%s/ddio-stream-%d",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
	kinds_find();
	return ut_run("test_env_disk_stream", suites, 1);
}
