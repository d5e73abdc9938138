// SPDX-License-Identifier: GPL-2.0-only
/*
 * Between a program and its I/O processor stands somebody who changes one field of the header of one message, or lets a part of
 * it through and then nothing more, in either direction.  Each call of the program ends, the I/O processor lives, and
 * both work again as soon as nobody interferes.
 */
#include "tests/unit/cp/cp_world.h"
#include "proto/proto.h"

enum { BLOCK = 512, BYTES = 8 * BLOCK, PAIRS = 64, BUF = 1 << 17 };

/* What is done to the header: a field and its value, or a difference. */
static const struct {
	uint8_t at, len;
	bool add;
	uint64_t v;
} changes[] = {
	{ 0, 4, false, 0 },
	{ 0, 1, true, 1 },
	{ 4, 2, false, 0 },
	{ 4, 2, false, 2 },
	{ 4, 2, false, 65535 },
	{ 6, 2, false, 0 },
	{ 6, 2, true, 1 },
	{ 6, 2, false, DDIO_OP_FS_RECALL },
	{ 6, 2, false, DDIO_OP_OBJ_COPY + 1 },
	{ 6, 2, false, 65535 },
	{ 6, 2, false, DDIO_OP_REFUSE },
	{ 6, 2, false, DDIO_OP_COLL_DATA },
	{ 8, 4, true, 1 },
	{ 8, 4, true, UINT32_MAX },
	{ 8, 4, true, 2 },
	{ 8, 4, true, 1u << 31 },
	{ 12, 4, false, 1 },
	{ 12, 4, false, DDIO_ST_MAX },
	{ 12, 4, false, UINT32_MAX },
	{ 16, 8, false, 0 },
	{ 16, 8, true, 1 },
	{ 16, 8, false, UINT64_MAX },
	{ 24, 8, false, 0 },
	{ 24, 8, true, UINT64_MAX },
	{ 24, 8, true, 1 },
	{ 24, 8, false, DDIO_MAX_SMALL },
	{ 24, 8, false, DDIO_MAX_SMALL + 1 },
	{ 24, 8, false, DDIO_MAX_BULK },
	{ 24, 8, false, DDIO_MAX_PAYLOAD },
	{ 24, 8, false, 1ull << 63 },
	{ 24, 8, false, UINT64_MAX },
};

/* So much of a message comes through, from its beginning, or, if negative, but for its end. */
static const int parts[] = { 0, 1, 31, 32, 33, -8, -1 };

enum { CHANGES = sizeof(changes) / sizeof(changes[0]), PARTS = sizeof(parts) / sizeof(parts[0]) };

/**
 * struct between_way - one direction of a connection
 * @in: bytes of a message that is not whole
 * @out: what is to be sent on; @shut: nothing more is
 */
struct between_way {
	struct ddio_stream **from, **to;
	struct between *b;
	bool back, shut, ended;
	uint8_t in[BUF], out[BUF];
	size_t have, queued;
};

struct between_pair {
	struct ddio_stream *client, *node;
	bool connected;
	struct between_way up, down;
};

/**
 * struct between - who stands between
 * @back: what is interfered with comes from the I/O processor
 * @target: the number of the message; 0: none; @count of them so far
 * @sin: number of a change, or behind these a part, first those followed by silence, then those by the end
 * @removes: the message has become one that removes an object
 */
struct between {
	struct cp_world w;
	struct ddio_env *env;
	struct ddio_listener *listener;
	struct between_pair *pair[PAIRS];
	uint32_t npairs, target, count, sin;
	bool back, done, removes;
};

static void pair_close(struct between_pair *p)
{
	if (p->client)
		ddio_stream_close(p->client);
	if (p->node)
		ddio_stream_close(p->node);
	p->client = NULL;
	p->node = NULL;
}

static void way_flush(struct between_way *way)
{
	struct iovec v = { way->out, way->queued };
	ssize_t n = 0;

	if (!*way->to)
		return;
	if (way->queued)
		n = ddio_stream_writev(*way->to, &v, 1);
	if (n > 0) {
		way->queued -= (size_t)n;
		memmove(way->out, way->out + n, way->queued);
	}
	ddio_stream_want_write(*way->to, way->queued);
}

static void way_put(struct between_way *way, const uint8_t *bytes, size_t len)
{
	CU_ASSERT_FATAL(way->queued + len <= BUF);
	memcpy(way->out + way->queued, bytes, len);
	way->queued += len;
}

static void change(uint8_t *header, uint32_t i)
{
	uint64_t v = 0;
	uint8_t k;

	for (k = 0; k < changes[i].len; k++)
		v |= (uint64_t)header[changes[i].at + k] << 8 * k;
	v = changes[i].v + (changes[i].add ? v : 0);
	for (k = 0; k < changes[i].len; k++)
		header[changes[i].at + k] = (uint8_t)(v >> 8 * k);
}

/* Returns how much of a message comes through. */
static size_t part(struct between_way *way, size_t len, uint32_t i)
{
	int n = parts[i % PARTS];

	way->shut = true;
	way->ended = i >= PARTS;
	if (n < 0)
		return len > (size_t)-n ? len - (size_t)-n : 0;
	return (size_t)n < len ? (size_t)n : len;
}

static bool is_removal(const uint8_t *header)
{
	return (header[6] | header[7] << 8) == DDIO_OP_OBJ_REMOVE;
}

static void way_message(struct between_way *way, size_t len)
{
	struct between *b = way->b;
	size_t n = len;

	if (b->target && way->back == b->back && ++b->count == b->target) {
		b->done = true;
		if (b->sin < CHANGES)
			change(way->in, b->sin);
		else
			n = part(way, len, b->sin - CHANGES);
		b->removes = b->sin < CHANGES && is_removal(way->in);
	}
	way_put(way, way->in, n);
	way->have -= len;
	memmove(way->in, way->in + len, way->have);
}

static void way_take(struct between_pair *p, struct between_way *way)
{
	struct iovec v = { way->in + way->have, BUF - way->have };
	ssize_t n = ddio_stream_readv(*way->from, &v, 1);
	struct ddio_msg msg;

	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		pair_close(p);
		return;
	}
	way->have += (size_t)n;
	while (!way->shut && way->have >= DDIO_WIRE_HEADER_LEN) {
		CU_ASSERT_EQUAL_FATAL(ddio_get_header(way->in, &msg), 0);
		if (way->have < DDIO_WIRE_HEADER_LEN + msg.length)
			break;
		way_message(way, DDIO_WIRE_HEADER_LEN + msg.length);
	}
	if (way->shut)
		way->have = 0;
	if (p->connected)
		way_flush(way);
	if (way->ended)
		pair_close(p);
}

static void client_readable(void *ctx)
{
	way_take(ctx, &((struct between_pair *)ctx)->up);
}

static void client_writable(void *ctx)
{
	way_flush(&((struct between_pair *)ctx)->down);
}

static void node_readable(void *ctx)
{
	way_take(ctx, &((struct between_pair *)ctx)->down);
}

static void node_writable(void *ctx)
{
	((struct between_pair *)ctx)->connected = true;
	way_flush(&((struct between_pair *)ctx)->up);
}

static void pair_failed(void *ctx, int err)
{
	(void)err;
	pair_close(ctx);
}

static const struct ddio_stream_ops client_ops = { client_readable, client_writable, pair_failed };
static const struct ddio_stream_ops node_ops = { node_readable, node_writable, pair_failed };

static void between_accept(void *ctx, struct ddio_stream *stream)
{
	struct between *b = ctx;
	struct between_pair *p = calloc(1, sizeof(*p));

	CU_ASSERT_FATAL(b->npairs < PAIRS);
	b->pair[b->npairs++] = p;
	p->client = stream;
	p->up = (struct between_way){ .from = &p->client, .to = &p->node, .b = b };
	p->down = (struct between_way){ .from = &p->node, .to = &p->client, .b = b, .back = true };
	CU_ASSERT_EQUAL_FATAL(ddio_stream_connect(b->env, "127.0.0.1:7400", &node_ops, p, &p->node),
			      0);
	ddio_stream_want_write(p->node, true);
	ddio_stream_set_ops(stream, &client_ops, p);
}

/*
 * The program
 */
static int transfer(struct ddio_file *f, uint8_t *buf, bool writing)
{
	struct ddio_extent all = { 0, BYTES };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &all };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = buf };

	return writing ? ddio_write(f, &t) : ddio_read(f, &t);
}

/* Whatever these say: they return, and leave the memory alone then. */
static void suffer(struct cp_proc *p)
{
	struct ddio_file *f = NULL;
	uint8_t *buf = calloc(1, BYTES);

	if (!ddio_open(p->session, "f", DDIO_CREATE, NULL, &f)) {
		transfer(f, buf, true);
		ddio_pwrite(f, buf, BLOCK, 100);
		ddio_sync(f);
		transfer(f, buf, false);
		ddio_pread(f, buf, BLOCK, 300);
		ddio_set_size(f, BYTES / 2);
		ddio_close(f);
	}
	free(buf);
}

/* Returns 0 if all that is asked for is done. */
static int work(struct cp_proc *p, const uint8_t *buf, uint8_t *got)
{
	struct ddio_file *f = NULL;
	int ret = cp_note(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));

	if (ret)
		return ret;
	ret = cp_note(p, transfer(f, (uint8_t *)buf, true));
	if (!ret)
		ret = cp_note(p, ddio_sync(f));
	if (!ret)
		ret = cp_note(p, transfer(f, got, false));
	ddio_close(f);
	return ret;
}

/**
 * struct aftermath - what the change has done
 * @believes: one side believes that what the other has done has failed
 * @removed: a disk was told to remove the file's object, and refuses the file, but no other of that name
 */
struct aftermath {
	bool believes, removed;
};

/* What is broken is noticed by the next call at the latest; the one after that succeeds. */
static void recover(struct cp_proc *p)
{
	const struct aftermath *after = p->w->arg;
	uint8_t buf[BYTES], got[BYTES] = { 0 };
	size_t i;
	int ret;

	for (i = 0; i < BYTES; i++)
		buf[i] = cp_byte(9, i);
	ret = work(p, buf, got);
	if (ret)
		ret = work(p, buf, got);
	if (ret == -ESTALE && after->removed) {
		CP_OK(p, ddio_remove(p->session, "f"));
		ret = work(p, buf, got);
	}
	if (ret && after->believes)
		return;
	CP_OK(p, ret);
	CU_ASSERT(!memcmp(buf, got, BYTES));
}

static uint64_t rounds;

/* Returns true if there is a message of that number. */
static bool interfere(bool back, uint32_t target, uint32_t sin)
{
	const struct cp_params p = {
		.nodes = 1, .disks = 2, .reactors = 1, .procs = 1, .block = BLOCK, .timeout_ms = 1000
	};
	struct between *b = calloc(1, sizeof(*b));
	struct cp_world *w = &b->w;
	struct aftermath after = { .believes = back && sin < CHANGES && changes[sin].at == 12 };
	bool done;
	uint32_t i;

	cp_world_begin(w, &p);
	b->env = ddio_sim_env(w->dw, "between");
	memcpy(strstr(w->conf->nodes[0].address, ":7400"), ":7500", 5);
	b->back = back;
	b->target = target;
	b->sin = sin;
	CU_ASSERT_EQUAL_FATAL(
		ddio_listen(b->env, "127.0.0.1:7500", between_accept, b, &b->listener), 0);
	if (getenv("DDIO_SHOW"))
		fprintf(stderr, "message %u, sin %u\n", target, sin);
	CU_ASSERT_EQUAL_FATAL(cp_run(w, suffer, NULL), 0);
	CU_ASSERT(ddio_sim_elapsed(w->dw) < 30 * CP_SEC);
	done = b->done;
	b->target = 0;
	after.removed = b->removes;
	CU_ASSERT_EQUAL_FATAL(cp_run(w, recover, &after), 0);
	cp_world_end(w);
	for (i = 0; i < b->npairs; i++) {
		pair_close(b->pair[i]);
		free(b->pair[i]);
	}
	free(b);
	rounds++;
	return done;
}

static void interfere_with_all(bool back)
{
	uint32_t target, sin, stride = ut_stride(8);
	bool more = true;

	rounds = 0;
	for (target = 1; more; target++)
		for (sin = target % stride, more = false; sin < CHANGES + 2 * PARTS; sin += stride)
			more |= interfere(back, target, sin);
	printf("(%u messages, %llu rounds) ", target - 2, (unsigned long long)rounds);
	CU_ASSERT(target > 15);
}

static void requests(void)
{
	interfere_with_all(false);
}

static void replies(void)
{
	interfere_with_all(true);
}

static const struct ut_case cases[] = {
	{ "requests", requests },
	{ "replies", replies },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "bad wire", cases } };

	return ut_run("cp_bad_wire", suites, 1);
}
