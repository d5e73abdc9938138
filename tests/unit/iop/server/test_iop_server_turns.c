// SPDX-License-Identifier: GPL-2.0-only
/* Work of the name space that takes many turns, as connections see it. */
#include "iop/ns/priv.h"
#include "tests/unit/iop/server/server_world.h"

enum { TN_DEPTH = 400 };

static void tn_attach(struct sc *c, uint8_t id)
{
	struct ddio_msg_fs_attach x = { .mount = { id }, .flags = DDIO_FS_ATTACH_TOLD };

	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_ATTACH, fs_attach, &x), DDIO_ST_OK);
}

static struct sc *tn_mount(struct sw *sw, uint8_t id)
{
	struct sc *c = sc_new(sw, 0);

	tn_attach(c, id);
	return c;
}

static uint64_t tn_mkdir(struct sc *c, uint64_t parent, const char *name)
{
	struct ddio_msg_fs_make x = { .parent = parent, .mode = S_IFDIR | 0755 };
	struct ddio_msg_fs_opened out;

	snprintf(x.name, sizeof(x.name), "%s", name);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_MAKE, fs_make, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_opened(c->data, c->len, &out), 0);
	ddio_fs_opened_free(&out);
	return out.attr.ino;
}

/* Returns whether the root has the name. */
static bool tn_is_in_root(struct sc *c, const char *name)
{
	struct ddio_msg_fs_name x = { .parent = DDIO_FS_ROOT };

	snprintf(x.name, sizeof(x.name), "%s", name);
	return SC_CALL(c, FS_LOOKUP, fs_name, &x) == DDIO_ST_OK;
}

/**
 * struct tn_deep - a chain of directories, whose end is far below the root, and another one in the root, "a"
 * @deepest: the end
 */
struct tn_deep {
	struct sw *sw;
	struct sc *c;
	struct bound *climbed;
	uint64_t deepest;
};

static void tn_deep_begin(struct tn_deep *d)
{
	uint32_t i;

	d->sw = sw_new(NULL);
	d->c = tn_mount(d->sw, 1);
	d->climbed = &d->sw->iop->reactors[0].bounds.at[BOUND_CLIMBED];
	d->climbed->limit = 1;
	CU_ASSERT_NOT_EQUAL(tn_mkdir(d->c, DDIO_FS_ROOT, "a"), 0);
	d->deepest = tn_mkdir(d->c, DDIO_FS_ROOT, "b");
	for (i = 0; i < TN_DEPTH; i++)
		d->deepest = tn_mkdir(d->c, d->deepest, "d");
}

static void tn_send_rename(const struct tn_deep *d, struct sc *c)
{
	struct ddio_msg_fs_rename x = {
		.parent = DDIO_FS_ROOT, .new_parent = d->deepest, .name = "a", .new_name = "a"
	};
	uint8_t buf[256];
	ssize_t len = ddio_put_fs_rename(buf, sizeof(buf), &x);

	CU_ASSERT_FATAL(len > 0);
	sc_send(c, DDIO_OP_FS_RENAME, buf, (size_t)len, NULL, 0);
}

/* Who asks during a long rename is answered first. */
static void test_rename_others(void)
{
	struct tn_deep d;
	uint32_t asked;

	tn_deep_begin(&d);
	asked = d.c->replies;
	tn_send_rename(&d, d.c);
	sc_send(d.c, DDIO_OP_PING, NULL, 0, NULL, 0);
	CU_ASSERT(sc_wait(d.c, asked + 2));
	CU_ASSERT_EQUAL(d.c->opcode, DDIO_OP_FS_RENAME);
	CU_ASSERT_EQUAL(d.c->status, DDIO_ST_OK);
	CU_ASSERT(d.climbed->hits >= TN_DEPTH);
	CU_ASSERT_FALSE(tn_is_in_root(d.c, "a"));
	sc_free(d.c);
	sw_free(d.sw);
}

/* Has a rename go all its way, and wait then for another one, @first, that keeps directories where they are. */
static void tn_hold(const struct tn_deep *d, struct sc *c, struct ns_climb *first)
{
	struct ns *ns = d->sw->iop->ns;

	ns->climber = first;
	tn_send_rename(d, c);
	sw_run(d->sw, 100 * MS);
	CU_ASSERT_FALSE_FATAL(ddio_list_empty(&ns->held_up));
}

/* Whose connection ends does not have it done, and nothing waits for it. */
static void test_rename_gone(void)
{
	struct ns_climb first = { .tries = 0 };
	struct tn_deep d;
	struct sc *gone;

	tn_deep_begin(&d);
	gone = tn_mount(d.sw, 2);
	tn_hold(&d, gone, &first);
	ddio_conn_close(gone->conn, false);
	sw_run(d.sw, 100 * MS);
	ns_climb_end(d.sw->iop->ns, &first);
	sw_run(d.sw, 100 * MS);
	CU_ASSERT(ddio_list_empty(&d.sw->iop->ns->held_up));
	CU_ASSERT(tn_is_in_root(d.c, "a"));
	free(gone);
	sc_free(d.c);
	sw_free(d.sw);
}

/* It goes on when the other one has ended. */
static void test_rename_held(void)
{
	struct ns_climb first = { .tries = 0 };
	struct tn_deep d;
	uint32_t asked;

	tn_deep_begin(&d);
	asked = d.c->replies;
	tn_hold(&d, d.c, &first);
	CU_ASSERT_EQUAL(d.c->replies, asked);
	ns_climb_end(d.sw->iop->ns, &first);
	CU_ASSERT(sc_wait(d.c, asked + 1));
	CU_ASSERT_EQUAL(d.c->status, DDIO_ST_OK);
	CU_ASSERT_FALSE(tn_is_in_root(d.c, "a"));
	sc_free(d.c);
	sw_free(d.sw);
}

/* The node stops in the middle of one: it says so, and has not done it. */
static void test_rename_stop(void)
{
	struct ns_climb first = { .tries = 0 };
	struct tn_deep d;
	uint32_t asked;
	int i;

	tn_deep_begin(&d);
	asked = d.c->replies;
	tn_hold(&d, d.c, &first);
	ddio_iop_stop(d.sw->iop);
	sw_run(d.sw, MS);
	ns_climb_end(d.sw->iop->ns, &first);
	for (i = 0; i < 100 && !d.sw->stopped; i++)
		sw_run(d.sw, 100 * MS);
	CU_ASSERT_EQUAL_FATAL(d.sw->stopped, 1);
	ddio_iop_free(d.sw->iop);
	CU_ASSERT_EQUAL(d.c->replies, asked + 1);
	CU_ASSERT_EQUAL(d.c->opcode, DDIO_OP_FS_RENAME);
	CU_ASSERT_EQUAL(d.c->status, DDIO_ST_SHUTDOWN);
	sc_free(d.c);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(d.sw), 0);
	d.c = tn_mount(d.sw, 1);
	CU_ASSERT(tn_is_in_root(d.c, "a"));
	sc_free(d.c);
	sw_free(d.sw);
}

enum { TN_LOCKS = 200, TN_LIMIT = 8 };

static void tn_lock(struct sc *c, uint64_t ino, uint32_t flags, uint64_t id)
{
	struct ddio_msg_fs_lock x = { .ino = ino,
				      .id = id,
				      .end = UINT64_MAX,
				      .owner = 1,
				      .pid = 5,
				      .type = DDIO_FS_LOCK_WRITE,
				      .flags = flags };
	uint8_t buf[128];

	sc_send(c, DDIO_OP_FS_LOCK_SET, buf, ddio_put_fs_lock(buf, sizeof(buf), &x), NULL, 0);
}

/* Has a mount take many locks. */
static void tn_take_all(struct sc *c)
{
	uint32_t i, asked = c->replies;

	for (i = 0; i < TN_LOCKS; i++)
		tn_lock(c, 100 + i, 0, 0);
	CU_ASSERT(sc_wait(c, asked + TN_LOCKS));
	CU_ASSERT_EQUAL(c->failures, 0);
}

/*
 * A mount with many locks ends: a request that comes meanwhile is answered first, and once it is answered nothing is
 * locked.  One of the same name that comes at once is let in when the first has ended.
 */
static void test_mount_end(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *a = tn_mount(sw, 1), *b = tn_mount(sw, 2);
	struct bound *at = sw->iop->reactors[0].bounds.at;
	struct ddio_msg_fs_attach x = { .mount = { 1 }, .flags = DDIO_FS_ATTACH_TOLD };
	struct ddio_msg_fs_attached out;
	uint32_t asked;
	uint8_t buf[64];
	ssize_t len = ddio_put_fs_attach(buf, sizeof(buf), &x);

	CU_ASSERT_FATAL(len > 0);
	at[BOUND_ENDED].limit = TN_LIMIT;
	tn_take_all(a);
	asked = a->replies;
	sc_send(a, DDIO_OP_FS_DETACH, NULL, 0, NULL, 0);
	sc_send(a, DDIO_OP_PING, NULL, 0, NULL, 0);
	CU_ASSERT(sc_wait(a, asked + 1));
	CU_ASSERT(sc_wait(a, asked + 2));
	CU_ASSERT_EQUAL(a->opcode, DDIO_OP_FS_DETACH);
	CU_ASSERT_EQUAL(a->status, DDIO_ST_OK);
	CU_ASSERT(at[BOUND_ENDED].hits >= TN_LOCKS / TN_LIMIT);
	CU_ASSERT_EQUAL(at[BOUND_ENDED].most, TN_LIMIT);
	CU_ASSERT_EQUAL(at[BOUND_LOCKS].now, 0);
	tn_take_all(b);
	asked = b->replies;
	sc_send(b, DDIO_OP_FS_DETACH, NULL, 0, NULL, 0);
	x.mount[0] = 2;
	ddio_put_fs_attach(buf, sizeof(buf), &x);
	sc_send(b, DDIO_OP_FS_ATTACH, buf, (size_t)len, NULL, 0);
	CU_ASSERT(sc_wait(b, asked + 2));
	CU_ASSERT_EQUAL_FATAL(b->opcode, DDIO_OP_FS_ATTACH);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_attached(b->data, b->len, &out), 0);
	CU_ASSERT_FALSE(out.known);
	CU_ASSERT_EQUAL(at[BOUND_LOCKS].now, 0);
	CU_ASSERT_EQUAL(at[BOUND_MOUNTS].now, 1);
	tn_take_all(b);
	sc_free(a);
	sc_free(b);
	sw_free(sw);
}

/* A mount is lost with many locks: the client that waits for one of them gets it. */
static void test_mount_lost(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *a = tn_mount(sw, 1), *b = tn_mount(sw, 2);
	struct bound *at = sw->iop->reactors[0].bounds.at;
	uint32_t asked = b->replies;

	at[BOUND_ENDED].limit = TN_LIMIT;
	tn_take_all(a);
	tn_lock(b, 100 + TN_LOCKS - 1, DDIO_FS_LOCK_WAIT, 7);
	sc_free(a);
	sw_run(sw, 5000 * MS);
	CU_ASSERT_EQUAL(b->replies, asked + 1);
	CU_ASSERT_EQUAL(b->failures, 0);
	CU_ASSERT(at[BOUND_ENDED].hits >= TN_LOCKS / TN_LIMIT);
	CU_ASSERT_EQUAL(at[BOUND_LOCKS].now, 1);
	CU_ASSERT_EQUAL(at[BOUND_MOUNTS].now, 1);
	sc_free(b);
	sw_free(sw);
}

/* Makes a file with data, opens it, and removes its name. */
static void tn_orphan(struct sc *c)
{
	struct ddio_msg_fs_make x = { .parent = DDIO_FS_ROOT,
				      .flags = DDIO_FS_MAKE_OPEN,
				      .mode = S_IFREG | 0600,
				      .name = "f" };
	struct ddio_msg_fs_wrote wrote = { .end = 1, .flags = DDIO_FS_WROTE_DATA };
	struct ddio_msg_fs_name name = { .parent = DDIO_FS_ROOT, .name = "f" };
	struct ddio_msg_fs_opened out;

	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_MAKE, fs_make, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_opened(c->data, c->len, &out), 0);
	wrote.ino = out.attr.ino;
	ddio_fs_opened_free(&out);
	CU_ASSERT_EQUAL(SC_CALL(c, FS_WROTE, fs_wrote, &wrote), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(c, FS_UNLINK, fs_name, &name), DDIO_ST_OK);
}

/* Who asks while a listing passes over many orphans that are open is answered first. */
static void test_orphans_others(void)
{
	enum { ORPHANS = 40 };
	struct sw *sw = sw_new(NULL);
	struct sc *c = tn_mount(sw, 1), *gone;
	struct bound *listed = &sw->iop->reactors[0].bounds.at[BOUND_LISTED];
	struct ddio_msg_fs_readdir x = { .ino = DDIO_FS_ROOT, .max = 10 };
	uint8_t buf[64];
	uint32_t i, asked;
	ssize_t len;

	for (i = 0; i < ORPHANS; i++)
		tn_orphan(c);
	listed->limit = 1;
	len = ddio_put_fs_readdir(buf, sizeof(buf), &x);
	CU_ASSERT_FATAL(len > 0);
	asked = c->replies;
	sc_send(c, DDIO_OP_FS_ORPHANS, buf, (size_t)len, NULL, 0);
	sc_send(c, DDIO_OP_PING, NULL, 0, NULL, 0);
	CU_ASSERT(sc_wait(c, asked + 2));
	CU_ASSERT_EQUAL(c->opcode, DDIO_OP_FS_ORPHANS);
	CU_ASSERT_EQUAL(c->status, DDIO_ST_OK);
	CU_ASSERT_EQUAL(listed->hits, ORPHANS - 1);
	/* One whose connection ends on the way ends, too. */
	gone = sc_new(sw, 0);
	sc_send(gone, DDIO_OP_FS_ORPHANS, buf, (size_t)len, NULL, 0);
	sc_free(gone);
	sw_run(sw, 100 * MS);
	CU_ASSERT_EQUAL(SC_CALL(c, FS_ORPHANS, fs_readdir, &x), DDIO_ST_OK);
	sc_free(c);
	sw_free(sw);
}

enum { TN_PIECES = 40, TN_BLOCK = 4096 };

/**
 * struct tn_file - a file in pieces, of which a node that has just started knows nothing yet
 */
struct tn_file {
	struct sw *sw;
	struct sc *c, *other;
	struct bound *fetched;
};

static void tn_file_begin(struct tn_file *f, uint32_t limit)
{
	static uint8_t data[TN_BLOCK];
	uint32_t i, on;

	f->sw = sw_new(NULL);
	on = sw_reactor(f->sw, 0);
	f->c = sc_new(f->sw, on);
	for (i = 0; i < TN_PIECES; i++) {
		memset(data, (int)i + 1, sizeof(data));
		CU_ASSERT_EQUAL(sc_write(f->c, 1, 0, 2ull * i * TN_BLOCK, data, sizeof(data)), 0);
	}
	CU_ASSERT_EQUAL(sc_sync(f->c, 1), DDIO_ST_OK);
	sc_free(f->c);
	sw_restart(f->sw);
	f->c = sc_new(f->sw, on);
	f->other = sc_new(f->sw, on);
	f->fetched = &f->sw->iop->reactors[on].bounds.at[BOUND_FETCHED];
	f->fetched->limit = limit;
}

static void tn_file_end(struct tn_file *f)
{
	sc_free(f->c);
	sc_free(f->other);
	sw_free(f->sw);
}

static void tn_send_obj(struct sc *c, uint16_t opcode, uint64_t at, const uint8_t *data, size_t len)
{
	struct ddio_msg_obj obj = sc_obj(1, 0, at, len);
	uint8_t buf[64];
	ssize_t n = ddio_put_obj(buf, sizeof(buf), &obj);

	CU_ASSERT_FATAL(n > 0);
	sc_send(c, opcode, buf, (size_t)n, data, data ? len : 0);
}

/* The first requests about a file in many pieces wait until it has been read: whoever asks something else is answered first. */
static void test_pieces_others(void)
{
	static uint8_t data[TN_BLOCK];
	struct tn_file f;
	uint32_t asked;

	tn_file_begin(&f, 1);
	memset(data, 77, sizeof(data));
	asked = f.c->replies;
	tn_send_obj(f.c, DDIO_OP_OBJ_WRITE, TN_BLOCK, data, sizeof(data));
	tn_send_obj(f.c, DDIO_OP_OBJ_STAT, 0, NULL, 0);
	sc_send(f.c, DDIO_OP_PING, NULL, 0, NULL, 0);
	CU_ASSERT(sc_wait(f.c, asked + 3));
	CU_ASSERT_NOT_EQUAL(f.c->opcode, DDIO_OP_PING);
	CU_ASSERT_EQUAL(f.c->failures, 0);
	CU_ASSERT_EQUAL(f.fetched->hits, TN_PIECES - 1);
	CU_ASSERT_EQUAL(f.fetched->most, 1);
	CU_ASSERT_EQUAL(sc_read(f.c, 1, 0, 0, 3 * TN_BLOCK), DDIO_ST_OK);
	CU_ASSERT(sw_all(f.c->bulk, TN_BLOCK, 1) && sw_all(f.c->bulk + TN_BLOCK, TN_BLOCK, 77));
	CU_ASSERT(sw_all(f.c->bulk + 2 * TN_BLOCK, TN_BLOCK, 2));
	tn_file_end(&f);
}

/* Each request about it waits, and does what it would have done. */
static void test_pieces_each(void)
{
	static const uint16_t ops[] = { DDIO_OP_OBJ_READ,     DDIO_OP_OBJ_SYNC,
					DDIO_OP_OBJ_EXTENTS,  DDIO_OP_OBJ_RESERVE,
					DDIO_OP_OBJ_STAT,     DDIO_OP_OBJ_PUNCH,
					DDIO_OP_OBJ_ALLOCATE, DDIO_OP_OBJ_TRUNCATE,
					DDIO_OP_OBJ_REMOVE };
	struct tn_file f;
	uint32_t i, asked;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		tn_file_begin(&f, 4);
		asked = f.c->replies;
		tn_send_obj(f.c, ops[i], 0, NULL, 1);
		CU_ASSERT(sc_wait(f.c, asked + 1));
		CU_ASSERT(f.c->opcode == ops[i] && f.c->status == DDIO_ST_OK);
		CU_ASSERT_EQUAL(f.fetched->hits, (TN_PIECES - 1) / 4);
		tn_file_end(&f);
	}
}

/* Whoever asked goes, or the node stops: what waited is not done, and says so. */
static void test_pieces_end(void)
{
	static uint8_t data[TN_BLOCK];
	struct tn_file f;
	struct sc *gone;
	uint32_t asked;

	tn_file_begin(&f, 1);
	gone = sc_new(f.sw, sw_reactor(f.sw, 0));
	tn_send_obj(gone, DDIO_OP_OBJ_TRUNCATE, 0, NULL, 0);
	tn_send_obj(f.c, DDIO_OP_OBJ_STAT, 0, NULL, 0);
	asked = f.c->replies;
	ddio_conn_close(gone->conn, true);
	free(gone);
	CU_ASSERT(sc_wait(f.c, asked + 1));
	CU_ASSERT_EQUAL(f.c->status, DDIO_ST_OK);
	sc_free(f.c);
	sw_restart(f.sw);
	f.c = sc_new(f.sw, sw_reactor(f.sw, 0));
	asked = f.c->replies;
	tn_send_obj(f.c, DDIO_OP_OBJ_WRITE, 0, data, sizeof(data));
	sw_stop(f.sw);
	CU_ASSERT_EQUAL(f.c->replies, asked + 1);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(f.sw), 0);
	tn_file_end(&f);
}

static const struct ut_case cases[] = {
	{ "a long rename: others are answered", test_rename_others },
	{ "a long rename: after another", test_rename_held },
	{ "a long rename: its connection ends", test_rename_gone },
	{ "a long rename: the node stops", test_rename_stop },
	{ "many open orphans: others are answered", test_orphans_others },
	{ "a file in many pieces: others are answered", test_pieces_others },
	{ "a file in many pieces: each request", test_pieces_each },
	{ "a file in many pieces: an end", test_pieces_end },
	{ "a mount with many locks ends", test_mount_end },
	{ "a mount with many locks is lost", test_mount_lost },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "turns", cases } };

	return ut_run("iop_server_turns", suites, 1);
}
