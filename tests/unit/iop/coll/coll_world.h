/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A node of the executor's tests: reactors with disks in memory, real caches, the store of
 * coll_store.h, and members that speak to them through real connections in virtual time.
 */
#ifndef DDIO_TEST_COLL_WORLD_H
#define DDIO_TEST_COLL_WORLD_H

#include <stdio.h>
#include "sim/sim.h"
#include "tests/unit/iop/coll/coll_store.h"
#include "tests/unit/lib/ut.h"
#include "iop/coll/priv.h"

#define MS 1000000ull
#define SEC (1000 * MS)

enum { W_REACTORS = 2, W_DISKS = 4, W_OPS = 4, W_MEMBERS = 64, W_FILE_MAX = 4 << 20 };

struct coll_world;
struct w_group;

/* The disks are given whole lists. */
static bool w_streams;

/* Three of four members share buffers with the reactors. */
static bool w_shares;

static int w_streams_on(void)
{
	w_streams = true;
	w_shares = false;
	return 0;
}

static int w_shares_on(void)
{
	w_streams = false;
	w_shares = true;
	return 0;
}

static int w_both_on(void)
{
	w_streams = true;
	w_shares = true;
	return 0;
}

/* Every suite twice: with a request for each block, and with feeds. */
static inline int w_ut_run(const char *name, const struct ut_suite *suites, size_t n)
{
	return ut_run_again(name, suites, n, ", feeds", w_streams_on);
}

/* Every suite also with shared buffers, in both ways. */
static inline int w_ut_run_shared(const char *name, const struct ut_suite *suites, size_t n)
{
	static const struct ut_way ways[] = { { ", feeds", w_streams_on },
					      { ", shared", w_shares_on },
					      { ", shared, feeds", w_both_on } };

	return ut_run_ways(name, suites, n, ways, 3);
}

/**
 * struct w_params - what a world is like; zeros are defaults
 * @buffers: of each disk, 2 unless given; @own_buffers: as many as it gets by itself
 * @engine, @options: of the disks, of which each has @disk_size bytes
 * @ends: their caches take blocks that a collective writes part of; @cache: bytes of each
 */
struct w_params {
	uint64_t seed;
	uint32_t nreactors, ndisks;
	uint64_t disk_size;
	const char *engine, *options;
	uint32_t buffers;
	bool own_buffers;
	uint64_t timeout_ns;
	bool ends, doubts;
	uint64_t cache;
};

/**
 * struct w_file - a file, and what is in it
 * @image: the bytes that a read must give
 */
struct w_file {
	struct ddio_file_record rec;
	uint32_t disks[W_DISKS];
	uint8_t *image;
	uint64_t cap;
};

struct w_client {
	struct client c;
	struct coll_world *w;
	struct ddio_post end;
	bool ended;
};

struct coll_world {
	struct w_params p;
	struct ddio_sim *dw;
	struct ddio_conf conf;
	struct ddio_conf_node node;
	struct ddio_conf_disk cdisk[W_DISKS];
	struct ddio_iop iop;
	struct reactor reactor[W_REACTORS];
	struct ddio_listener *listener[W_REACTORS];
	struct iop_disk disk[W_DISKS];
	uint32_t disk_reactor[W_DISKS];
	uint64_t rnd;
	uint64_t max_memory, max_buffers;
	uint32_t ngroups;
	struct w_group *group[4];
};

static inline uint64_t w_random(struct coll_world *w)
{
	w->rnd = w->rnd * 6364136223846793005ull + 1442695040888963407ull;
	return w->rnd >> 33;
}

/* Returns the byte at @off of the contents that @seed names. */
static inline uint8_t w_byte(uint64_t seed, uint64_t off)
{
	uint64_t x = (off + 1) * 0x9e3779b97f4a7c15ull ^ seed * 0xbf58476d1ce4e5b9ull;

	x ^= x >> 29;
	x *= 0x94d049bb133111ebull;
	return x >> 40;
}

/*
 * The server's part that the executor knows
 */
struct iop_disk *reactor_disk(struct reactor *reactor, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < reactor->ndisks; i++)
		if (reactor->disks[i].number == number)
			return &reactor->disks[i];
	return NULL;
}

int iop_disk_reactor(const struct ddio_iop *iop, uint32_t number)
{
	const struct coll_world *w = ddio_container_of(iop, struct coll_world, iop);

	return number < w->p.ndisks ? (int)w->disk_reactor[number] : -ENOENT;
}

static void client_free(struct w_client *wc)
{
	if (wc->ended)
		return;
	wc->ended = true;
	coll_client_lost(&wc->c);
	ddio_conn_close(wc->c.conn, false);
	ddio_list_del(&wc->c.link);
	wc->c.reactor->nclients--;
	if (!wc->c.closing)
		free(wc);
}

static void world_client_end(void *arg)
{
	struct w_client *wc = arg;

	client_free(wc);
	free(wc);
}

void client_end(struct client *client, const char *why)
{
	struct w_client *wc = ddio_container_of(client, struct w_client, c);

	if (client->closing)
		return;
	client->closing = true;
	ddio_env_log(client->reactor->env, DDIO_LOG_WARN, "closing: %s", why);
	wc->end.fn = world_client_end;
	wc->end.arg = wc;
	ddio_env_post(client->reactor->env, &wc->end);
}

static void sv_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	struct w_client *wc = ctx;
	struct ddio_msg_welcome welcome = { .nreactors = wc->w->p.nreactors, .name = "io0" };

	(void)hello;
	ddio_conn_welcome(wc->c.conn, &welcome);
}

static int sv_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		   struct ddio_sink *sink)
{
	struct w_client *wc = ctx;

	if (msg->opcode != DDIO_OP_COLL_PIECE)
		return -EPROTO;
	return coll_piece_bulk(&wc->c, msg, prefix, prefix_len, sink);
}

static int sv_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct w_client *wc = ctx;

	switch (msg->opcode) {
	case DDIO_OP_ATTACH:
		return coll_attach(&wc->c, msg, payload);
	case DDIO_OP_DETACH:
		return coll_detach(&wc->c, msg, payload);
	case DDIO_OP_COLL_TOLD:
		return coll_told(&wc->c, msg, payload);
	case DDIO_OP_COLL_GO:
		return coll_go(&wc->c, msg, payload);
	case DDIO_OP_COLL_START:
		return coll_start(&wc->c, msg, payload);
	case DDIO_OP_COLL_PIECE:
		return coll_piece(&wc->c, msg, payload);
	case DDIO_OP_COLL_ABORT:
		return coll_abort(&wc->c, msg, payload);
	case DDIO_OP_SHARE:
		return coll_share(&wc->c, msg, payload);
	case DDIO_OP_SHARE_TAKEN:
		return coll_share_taken(&wc->c, msg, payload);
	case DDIO_OP_COLL_COPIED:
		return coll_copied(&wc->c, msg, payload);
	default:
		return -EPROTO;
	}
}

static void sv_drained(void *ctx)
{
	struct w_client *wc = ctx;

	coll_client_drained(&wc->c);
}

static void sv_closed(void *ctx, int err, const char *why)
{
	struct w_client *wc = ctx;

	(void)err;
	(void)why;
	client_free(wc);
}

static const struct ddio_conn_ops sv_ops = {
	.hello = sv_hello,
	.bulk = sv_bulk,
	.message = sv_message,
	.drained = sv_drained,
	.closed = sv_closed,
};

static void sv_accept(void *ctx, struct ddio_stream *stream)
{
	struct reactor *r = ctx;
	struct w_client *wc = calloc(1, sizeof(*wc));

	wc->w = ddio_container_of(r->iop, struct coll_world, iop);
	wc->c.reactor = r;
	ddio_list_init(&wc->c.members);
	wc->c.job = &r->jobs.none;
	ddio_list_add(&wc->c.link, &r->clients);
	r->nclients++;
	if (ddio_conn_accept(r->env, stream, NULL, &sv_ops, wc, &wc->c.conn)) {
		ddio_list_del(&wc->c.link);
		free(wc);
	}
}

/*
 * Time
 */
static inline void w_sample(struct coll_world *w)
{
	uint64_t memory = 0;
	uint32_t i;

	for (i = 0; i < w->p.nreactors; i++)
		memory += w->reactor[i].memory - w->reactor[i].spare_bytes;
	if (memory > w->max_memory)
		w->max_memory = memory;
	for (i = 0; i < w->p.ndisks; i++)
		if (w->disk[i].coll_buffers > w->max_buffers)
			w->max_buffers = w->disk[i].coll_buffers;
}

static inline void w_run(struct coll_world *w, uint64_t ns)
{
	uint64_t step = ns > 10 * SEC ? 100 * MS : ns > 100 * MS ? MS : 20000, end;

	end = ddio_sim_elapsed(w->dw) + ns;
	while (ddio_sim_elapsed(w->dw) < end) {
		ddio_sim_run_for(w->dw, step);
		w_sample(w);
	}
}

typedef bool (*w_cond)(void *arg);

/* Returns false if that did not happen within @ns. */
static inline bool w_until(struct coll_world *w, w_cond cond, void *arg, uint64_t ns)
{
	uint64_t end = ddio_sim_elapsed(w->dw) + ns, step = 20000;

	while (!cond(arg)) {
		if (ddio_sim_elapsed(w->dw) >= end)
			return false;
		ddio_sim_run_for(w->dw, step);
		w_sample(w);
		if (step < ns / 1000)
			step += step / 16;
	}
	return true;
}

/*
 * Disks, past caches and executor
 */
struct w_io {
	struct ddio_disk_req req;
	bool over;
};

static void io_done(struct ddio_disk_req *req)
{
	struct w_io *io = req->arg;

	io->over = true;
}

static bool io_over(void *arg)
{
	return ((struct w_io *)arg)->over;
}

static inline void w_disk_io(struct coll_world *w, uint32_t disk, enum ddio_disk_op op,
			     uint64_t offset, void *buf, uint64_t len)
{
	struct w_io io = { .req = { .op = op, .offset = offset, .len = len, .buf = buf } };

	io.req.done = io_done;
	io.req.arg = &io;
	ddio_disk_submit(w->disk[disk].disk, &io.req);
	ddio_disk_commit(w->disk[disk].disk);
	CU_ASSERT(w_until(w, io_over, &io, 3600 * SEC));
	CU_ASSERT_EQUAL(io.req.status, 0);
}

struct w_totals {
	uint64_t reads, writes, read_bytes, write_bytes;
};

static inline struct w_totals w_totals(struct coll_world *w)
{
	struct w_totals t = { 0 };
	struct ddio_disk_stats st;
	uint32_t i;

	for (i = 0; i < w->p.ndisks; i++) {
		ddio_disk_stats(w->disk[i].disk, &st);
		t.reads += st.reads;
		t.writes += st.writes;
		t.read_bytes += st.read_bytes;
		t.write_bytes += st.write_bytes;
	}
	return t;
}

/*
 * Files
 */
static inline void w_file_init(struct coll_world *w, struct w_file *f, uint64_t id, uint32_t block,
			       uint32_t layout)
{
	uint32_t i;

	memset(f, 0, sizeof(*f));
	f->rec.ref.id = id;
	f->rec.ref.seed = w->p.seed;
	f->rec.ref.block = block;
	f->rec.ref.layout = layout;
	f->rec.ndisks = w->p.ndisks;
	f->rec.disks = f->disks;
	for (i = 0; i < w->p.ndisks; i++)
		f->disks[i] = (i + 1) % w->p.ndisks; /* not the order of the disks */
	snprintf(f->rec.name, sizeof(f->rec.name), "file%llu", (unsigned long long)id);
	f->cap = W_FILE_MAX;
	f->image = calloc(1, f->cap);
}

static inline void w_file_free(struct w_file *f)
{
	free(f->image);
}

static inline struct store *w_file_store(struct coll_world *w, const struct w_file *f, uint64_t b)
{
	return w->disk[f->disks[b % f->rec.ndisks]].store;
}

/* Puts block @b of the image on its disk. */
static inline void w_block_write(struct coll_world *w, struct w_file *f, uint64_t b)
{
	uint64_t size = f->rec.ref.block, start, run;
	struct object *obj;
	bool written;

	CU_ASSERT_EQUAL(store_get(w_file_store(w, f, b), &f->rec.ref, true, &obj), 0);
	CU_ASSERT_EQUAL(object_alloc(obj, b / f->rec.ndisks, 1), 0);
	object_lookup(obj, b / f->rec.ndisks, &start, &run, &written);
	w_disk_io(w, f->disks[b % f->rec.ndisks], DDIO_DISK_WRITE, start, f->image + b * size,
		  size);
	object_written(obj, b / f->rec.ndisks, 1);
	object_put(obj);
}

/* Fills the first @size bytes with the contents that @seed names. */
static inline void w_file_fill(struct coll_world *w, struct w_file *f, uint64_t size, uint64_t seed)
{
	uint64_t i;

	for (i = 0; i < size; i++)
		f->image[i] = w_byte(seed, i);
	for (i = 0; i * f->rec.ref.block < size; i++)
		w_block_write(w, f, i);
	f->rec.size = size;
}

/* Reads block @b into @buf; returns false if it is not on the disk. */
static inline bool w_block_read(struct coll_world *w, const struct w_file *f, uint64_t b,
				uint8_t *buf)
{
	uint64_t start, run;
	struct object *obj;
	bool written, there;

	if (store_get(w_file_store(w, f, b), &f->rec.ref, false, &obj))
		return false;
	there = object_lookup(obj, b / f->rec.ndisks, &start, &run, &written);
	object_put(obj);
	if (!there || !written)
		return false;
	w_disk_io(w, f->disks[b % f->rec.ndisks], DDIO_DISK_READ, start, buf, f->rec.ref.block);
	return true;
}

/* Returns how many blocks on the disks differ from the image; what was never written counts as zeros. */
static inline uint32_t w_file_wrong(struct coll_world *w, const struct w_file *f, uint64_t size)
{
	uint8_t *buf = malloc(f->rec.ref.block);
	uint32_t wrong = 0;
	uint64_t b;

	for (b = 0; b * f->rec.ref.block < size; b++) {
		if (!w_block_read(w, f, b, buf))
			memset(buf, 0, f->rec.ref.block);
		wrong += memcmp(buf, f->image + b * f->rec.ref.block, f->rec.ref.block) != 0;
	}
	free(buf);
	return wrong;
}

#endif /* DDIO_TEST_COLL_WORLD_H */
