// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests about names and objects to an I/O processor that is all there: name space, stores, caches, with disks in
 * memory, in virtual time.  The input is a program: two mounts make, write, rename, remove, lock and open a few inodes
 * by a few names, or send any bytes at all as a request.  Each request that is not given up with its connection gets
 * one answer, or waits for a lock; and again and again all records are checked.
 *
 * The node lives on from input to input, for a while: what an input finds depends on those before it.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <ddio/fs.h>
#include "conf/conf.h"
#include "conn/conn.h"
#include "iop/iop.h"
#include "proto/proto_fs.h"
#include "sim/sim.h"
#include "tests/fuzz/server_posts.h"

enum {
	INPUTS = 200,	   /* of one node */
	CHECK_EVERY = 20,  /* inputs */
	MESSAGES_MAX = 64, /* of an input */
	MOUNTS = 2,
};
#define MS 1000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct node {
	char top[300];
	struct ddio_sim *sim;
	struct ddio_env *env, *client;
	struct ddio_conf *conf;
	struct ddio_iop *iop;
	uint32_t inputs;
} node;

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_server: %s\n", what);
	abort();
}

/*
 * The node
 */
static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void node_begin(void)
{
	const char *tmp = getenv("TMPDIR");
	struct ddio_iop_opts opts = { .nreactors = 1, .envs = &node.env };
	char text[2048], err[600] = "";
	int n;

	snprintf(node.top, sizeof(node.top), "%.250s/ddio-fuzz-XXXXXX", tmp ? tmp : "/tmp");
	check(mkdtemp(node.top), "no directory");
	n = snprintf(text, sizeof(text),
		     "[cluster]\nname = f\nblock = %u\ntimeout = 2s\n[node io0]\naddress = "
		     "127.0.0.1:7400\nmeta = %s/meta\nsync_io = no\ncache = 64K\n"
		     "[disk d0]\nnode = io0\nengine = mem\nsize = 1M\n"
		     "[disk d1]\nnode = io0\nengine = mem\nsize = 1M\n",
		     BLOCK, node.top);
	check(!ddio_conf_parse("fuzz", text, (size_t)n, &node.conf, err, sizeof(err)), err);
	node.sim = ddio_sim_new(1);
	node.env = ddio_sim_env(node.sim, "io0");
	node.client = ddio_sim_env(node.sim, "client");
	opts.conf = node.conf;
	check(!ddio_iop_start(&opts, &node.iop, err, sizeof(err)), err);
	node.inputs = 0;
}

static void node_end(void)
{
	ddio_iop_stop(node.iop);
	ddio_sim_run_for(node.sim, 10000 * MS);
	ddio_iop_free(node.iop);
	ddio_sim_free(node.sim);
	ddio_conf_free(node.conf);
	nftw(node.top, remove_one, 10, FTW_DEPTH | FTW_PHYS);
	memset(&node, 0, sizeof(node));
}

/*
 * A mount
 */
static void on_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	(void)welcome;
	((struct fuzz_mount *)ctx)->ready = true;
}

static int on_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		   struct ddio_sink *sink)
{
	struct fuzz_mount *m = ctx;

	(void)prefix;
	check(msg->length - prefix_len <= sizeof(m->bulk), "more bytes than were asked for");
	m->iov.iov_base = m->bulk;
	m->iov.iov_len = msg->length - prefix_len;
	sink->iov = &m->iov;
	sink->n = 1;
	return 0;
}

static int on_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct fuzz_mount *m = ctx;

	check(msg->flags & DDIO_WIRE_REPLY, "no reply");
	m->answered++;
	check(m->answered <= m->sent, "an answer too many");
	m->status = msg->status;
	m->len = ddio_msg_is_bulk(msg) ? 0 : msg->length;
	if (m->len > sizeof(m->reply))
		m->len = 0;
	memcpy(m->reply, payload, m->len);
	return 0;
}

static void on_closed(void *ctx, int err, const char *why)
{
	(void)err;
	(void)why;
	((struct fuzz_mount *)ctx)->closed = true;
}

static const struct ddio_conn_ops mount_ops = {
	.ready = on_ready,
	.bulk = on_bulk,
	.message = on_message,
	.closed = on_closed,
};

static void post(struct fuzz_mount *m, uint16_t opcode, const void *fixed, ssize_t len,
		 const void *bulk, size_t bulk_len)
{
	struct ddio_msg msg = { .opcode = opcode, .tag = m->sent + 1 };
	struct iovec iov = { (void *)bulk, bulk_len };

	if (len < 0 || m->closed)
		return;
	msg.length = (uint64_t)len + bulk_len;
	if (ddio_conn_send(m->conn, &msg, fixed, (size_t)len, &iov, bulk_len ? 1 : 0, NULL))
		return;
	m->sent++;
}

static void run(struct fuzz_mount *m)
{
	int i;

	for (i = 0; i < 400 && m->answered + m->waits < m->sent && !m->closed; i++)
		ddio_sim_run_for(node.sim, 5 * MS);
	check(m->closed || m->answered + m->waits >= m->sent, "no answer");
}

static void mount_open(struct fuzz_mount *m, uint8_t which)
{
	struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT };
	struct ddio_msg_fs_attach x = { .mount = { 1, which } };
	struct ddio_conn_opts opts = { .cluster = "f" };
	uint8_t buf[64];

	memset(m, 0, sizeof(*m));
	check(!ddio_conn_connect(node.client, "127.0.0.1:7400", &hello, &opts, &mount_ops, m,
				 &m->conn),
	      "no connection");
	while (!m->ready && !m->closed)
		ddio_sim_run_for(node.sim, MS);
	check(m->ready, "not served");
	post(m, DDIO_OP_FS_ATTACH, buf, ddio_put_fs_attach(buf, sizeof(buf), &x), NULL, 0);
	run(m);
	x.flags = DDIO_FS_ATTACH_TOLD;
	post(m, DDIO_OP_FS_ATTACH, buf, ddio_put_fs_attach(buf, sizeof(buf), &x), NULL, 0);
	run(m);
}

/* The records of the name space, and of each disk. */
static void records_check(struct fuzz_mount *m)
{
	struct ddio_msg_obj x = { .flags = DDIO_OBJ_ALL };
	struct ddio_msg_fsck said;
	uint32_t disk;

	post(m, DDIO_OP_FS_SYNC, NULL, 0, NULL, 0);
	run(m);
	for (disk = 0; disk < 3; disk++) {
		x.disk = disk == 2 ? DDIO_FSCK_NAMES : disk;
		x.flags = 0;
		m->len = 0;
		POST(m, FSCK, obj, &x);
		run(m);
		check(!m->status, "the records cannot be checked");
		check(!ddio_get_fsck(m->reply, m->len, &said), "no result of a check");
		check(!said.problems, said.text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_reader in = { data, data + size };
	static struct fuzz_mount m[MOUNTS];
	int i, n;

	if (!node.iop)
		node_begin();
	for (i = 0; i < MOUNTS; i++)
		mount_open(&m[i], (uint8_t)i);
	for (n = 0; n < MESSAGES_MAX && in.at < in.end; n++) {
		uint8_t how = take(&in), which = how % MOUNTS;

		if (m[which].closed) {
			ddio_conn_close(m[which].conn, false);
			mount_open(&m[which], which);
		}
		one(&m[which], &in);
		if (how & 0xc0)
			run(&m[which]);
	}
	for (i = 0; i < MOUNTS; i++) {
		run(&m[i]);
		ddio_conn_close(m[i].conn, false);
	}
	ddio_sim_run_for(node.sim, 10 * MS);
	if (++node.inputs % CHECK_EVERY == 0) {
		mount_open(&m[0], 0);
		records_check(&m[0]);
		ddio_conn_close(m[0].conn, false);
	}
	if (node.inputs == INPUTS)
		node_end();
	return 0;
}
