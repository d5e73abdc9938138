// SPDX-License-Identifier: GPL-2.0-only
/* Requests that wait for the lease of another mount, as connections see them: in order, some in each turn. */
#include "tests/unit/iop/server/server_world.h"

enum { LS_REQUESTS = 40, LS_LIMIT = 4 };

#define LS_SEND(c, op, name, x)                                        \
	do {                                                           \
		uint8_t buf_[4096];                                    \
		ssize_t len_ = ddio_put_##name(buf_, sizeof(buf_), x); \
                                                                       \
		CU_ASSERT_FATAL(len_ >= 0);                            \
		sc_send(c, DDIO_OP_##op, buf_, (size_t)len_, NULL, 0); \
	} while (0)

static struct sc *ls_mount(struct sw *sw, uint8_t id)
{
	struct ddio_msg_fs_attach x = { .mount = { id }, .flags = DDIO_FS_ATTACH_TOLD };
	struct sc *c = sc_new(sw, 0);

	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_ATTACH, fs_attach, &x), DDIO_ST_OK);
	return c;
}

/* Makes a file and has it open. */
static uint64_t ls_file(struct sc *c, const char *name)
{
	struct ddio_msg_fs_make x = { .parent = DDIO_FS_ROOT,
				      .flags = DDIO_FS_MAKE_OPEN,
				      .mode = S_IFREG | 0600 };
	struct ddio_msg_fs_opened out;

	snprintf(x.name, sizeof(x.name), "%s", name);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_MAKE, fs_make, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_opened(c->data, c->len, &out), 0);
	ddio_fs_opened_free(&out);
	return out.attr.ino;
}

/* Has the mount hear of what it is to return. */
static void ls_listen(struct sc *c)
{
	sc_send(c, DDIO_OP_FS_RECALL, NULL, 0, NULL, 0);
}

/* The reply to a request for a lease. */
static uint64_t ls_leased(const struct sc *c)
{
	struct ddio_msg_fs_leased out;

	CU_ASSERT_EQUAL(c->opcode, DDIO_OP_FS_LEASE);
	CU_ASSERT_EQUAL(c->status, DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_leased(c->data, c->len, &out), 0);
	return out.lease;
}

static uint64_t ls_lease(struct sc *c, uint64_t ino)
{
	struct ddio_msg_fs_lease x = { .ino = ino };

	SC_CALL(c, FS_LEASE, fs_lease, &x);
	return ls_leased(c);
}

static void ls_return(struct sc *c, uint64_t ino, uint64_t lease)
{
	struct ddio_msg_fs_wrote x = { .ino = ino,
				       .lease = lease,
				       .flags = DDIO_FS_WROTE_LEASED | DDIO_FS_WROTE_RETURN };

	LS_SEND(c, FS_WROTE, fs_wrote, &x);
}

/**
 * struct ls - mounts, of which the first has the lease of a file
 */
struct ls {
	struct sw *sw;
	struct sc *a, *b, *c;
	struct bound *tried;
	uint64_t ino, lease;
};

static void ls_begin(struct ls *l)
{
	l->sw = sw_new(NULL);
	l->tried = &l->sw->iop->reactors[0].bounds.at[BOUND_TRIED];
	l->a = ls_mount(l->sw, 1);
	l->b = ls_mount(l->sw, 2);
	l->c = ls_mount(l->sw, 3);
	l->ino = ls_file(l->a, "f");
	ls_listen(l->a);
	ls_listen(l->b);
	l->lease = ls_lease(l->a, l->ino);
	CU_ASSERT_NOT_EQUAL(l->lease, 0);
}

static void ls_end(struct ls *l)
{
	CU_ASSERT_FALSE(l->sw->iop->leases.busy);
	sc_free(l->a);
	sc_free(l->b);
	sc_free(l->c);
	sw_free(l->sw);
}

/* Sends requests that wait for the lease. */
static void ls_ask(const struct ls *l, struct sc *c, uint32_t n)
{
	struct ddio_msg_fs_ino x = { .ino = l->ino };

	while (n--)
		LS_SEND(c, FS_GETATTR, fs_ino, &x);
	sw_run(l->sw, 100 * MS);
}

/* Many requests wait for a lease: when it is returned, who asks something else is answered before the last of them. */
static void test_others(void)
{
	struct ls l;
	uint32_t before, i;

	ls_begin(&l);
	l.tried->limit = LS_LIMIT;
	before = l.b->replies;
	ls_ask(&l, l.b, LS_REQUESTS);
	CU_ASSERT_EQUAL(l.b->replies, before);
	ls_return(l.a, l.ino, l.lease);
	for (i = 0; i < 100 && !l.tried->hits; i++)
		sw_run(l.sw, MS / 100);
	CU_ASSERT(sc_wait(l.b, before + LS_REQUESTS));
	CU_ASSERT_EQUAL(l.b->failures, 0);
	CU_ASSERT_EQUAL(l.tried->most, LS_LIMIT);
	CU_ASSERT_EQUAL(l.tried->hits, LS_REQUESTS / LS_LIMIT - 1);
	ls_end(&l);
}

/* While somebody stands in line, nobody gets a lease, by which he could decide what the next in line changes. */
static void test_no_lease_in_line(void)
{
	struct ddio_msg_fs_open open = { .ino = 0 };
	struct ddio_msg_fs_lease want;
	struct ddio_msg_fs_setattr cut;
	struct ls l;
	uint32_t before;

	ls_begin(&l);
	ls_return(l.a, l.ino, l.lease);
	open.ino = l.ino;
	CU_ASSERT_EQUAL(SC_CALL(l.b, FS_OPEN, fs_open, &open), DDIO_ST_OK);
	l.lease = ls_lease(l.a, l.ino);
	CU_ASSERT_NOT_EQUAL_FATAL(l.lease, 0);
	want = (struct ddio_msg_fs_lease){ .ino = l.ino };
	cut = (struct ddio_msg_fs_setattr){ .ino = l.ino, .mask = DDIO_FS_SET_SIZE };
	before = l.b->replies;
	LS_SEND(l.b, FS_LEASE, fs_lease, &want);
	sw_run(l.sw, 10 * MS);
	LS_SEND(l.c, FS_SETATTR, fs_setattr, &cut);
	sw_run(l.sw, 10 * MS);
	CU_ASSERT_EQUAL(l.b->replies, before);
	ls_return(l.a, l.ino, l.lease);
	sw_run(l.sw, 100 * MS);
	CU_ASSERT_EQUAL(ls_leased(l.b), 0);
	CU_ASSERT_EQUAL(l.c->opcode, DDIO_OP_FS_SETATTR);
	CU_ASSERT_EQUAL(l.c->status, DDIO_ST_OK);
	/* When the line has ended there is one again. */
	CU_ASSERT_NOT_EQUAL(ls_lease(l.b, l.ino), 0);
	ls_end(&l);
}

/* What is about two files waits for the leases of both. */
static void test_two_leases(void)
{
	struct ddio_msg_fs_rename x = {
		.parent = DDIO_FS_ROOT, .new_parent = DDIO_FS_ROOT, .name = "f", .new_name = "g"
	};
	struct ls l;
	uint64_t other, lease;
	uint32_t before;

	ls_begin(&l);
	other = ls_file(l.b, "g");
	lease = ls_lease(l.b, other);
	CU_ASSERT_NOT_EQUAL_FATAL(lease, 0);
	before = l.c->replies;
	LS_SEND(l.c, FS_RENAME, fs_rename, &x);
	sw_run(l.sw, 100 * MS);
	ls_return(l.a, l.ino, l.lease);
	sw_run(l.sw, 100 * MS);
	CU_ASSERT_EQUAL(l.c->replies, before);
	ls_return(l.b, other, lease);
	sw_run(l.sw, 100 * MS);
	CU_ASSERT_EQUAL(l.c->replies, before + 1);
	CU_ASSERT_EQUAL(l.c->opcode, DDIO_OP_FS_RENAME);
	CU_ASSERT_EQUAL(l.c->status, DDIO_ST_OK);
	ls_end(&l);
}

/* A connection of those in line ends, and a node stops while there is a line: all others are answered. */
static void test_gone(void)
{
	struct ls l;
	uint32_t before;

	ls_begin(&l);
	l.tried->limit = 1;
	before = l.b->replies;
	ls_ask(&l, l.b, LS_REQUESTS);
	ls_ask(&l, l.c, LS_REQUESTS);
	ls_return(l.a, l.ino, l.lease);
	ddio_conn_close(l.c->conn, false);
	CU_ASSERT(sc_wait(l.b, before + LS_REQUESTS));
	CU_ASSERT_EQUAL(l.b->failures, 0);
	sw_run(l.sw, 100 * MS);
	CU_ASSERT_FALSE(l.sw->iop->leases.busy);
	free(l.c);
	l.c = ls_mount(l.sw, 3);
	ls_listen(l.a);
	l.lease = ls_lease(l.a, l.ino);
	CU_ASSERT_NOT_EQUAL(l.lease, 0);
	before = l.b->replies;
	ls_ask(&l, l.b, LS_REQUESTS);
	sw_stop(l.sw);
	/* One more had listened for recalls. */
	CU_ASSERT_EQUAL(l.b->replies, before + LS_REQUESTS + 1);
	CU_ASSERT_EQUAL(l.b->status, DDIO_ST_SHUTDOWN);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(l.sw), 0);
	ls_end(&l);
}

static const struct ut_case cases[] = {
	{ "many that waited: others are answered", test_others },
	{ "no lease while others stand in line", test_no_lease_in_line },
	{ "a rename waits for two leases", test_two_leases },
	{ "those in line end, and the node", test_gone },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "leases", cases } };

	return ut_run("iop_server_leases", suites, 1);
}
