/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A node for tests of the server: all of the I/O processor with its stores in a
 * directory of its own, and clients that speak the wire format to it, in
 * virtual time.
 */
#ifndef DDIO_SERVER_WORLD_H
#define DDIO_SERVER_WORLD_H

#include "conf/conf.h"
#include "iop/iop.h"
#include "iop/server/reactor.h"
#include "sim/sim.h"
#include "tests/unit/lib/ut.h"
#include "tests/unit/iop/store/ut_store.h"

#define MS 1000000ull
#define SW_ADDR "127.0.0.1:7400"
#define SW_REACTORS 2

/* Of worlds to come: text put into the cluster's section, and who vouches for users. */
static const char *sw_cluster;
static ddio_vouch_fn sw_vouch;

/**
 * struct sw - a world with one node of two reactors and three disks
 * @extra: text put into its node's section
 * @disk_options: of the disks, NULL for none
 */
struct sw {
	char top[200];
	const char *extra, *disk_options;
	uint64_t disk_size;
	struct ddio_sim *world;
	struct ddio_env *env[SW_REACTORS];
	struct ddio_env *client;
	struct ddio_conf *conf;
	struct ddio_iop *iop;
	char err[600];
	uint32_t stopped;
};

/**
 * struct sc - a client
 * @change: the last one that a reply has told
 * @replies: so far, @failures of them errors; the last of them is in @status, @tag, @text or @data
 * @sink: bulk of the next reply
 * @grant: the last of @grants
 */
struct sc {
	struct sw *sw;
	struct ddio_conn *conn;
	struct ddio_msg_welcome welcome;
	struct ddio_welcome_disk disks[8];
	struct ddio_disk_id first_disk; /* if reactor 0 has said who it is */
	bool ready, closed;
	bool deaf; /* does not say that it is there when it is asked */
	uint32_t pings;
	int err;
	char why[1024];
	uint32_t replies, failures;
	uint64_t change;
	uint64_t tag, tags;
	uint32_t status;
	uint16_t opcode;
	char text[DDIO_MAX_TEXT];
	uint8_t data[1 << 16];
	size_t len;
	uint8_t *bulk;
	size_t bulk_len;
	struct iovec iov;
	uint32_t dones, done_status;
	uint32_t wants; /* COLL_WANT messages */
	struct ddio_msg_grant grant;
	uint32_t grants;
	uint32_t ended; /* COLL_DONE messages */
};

static void sw_on_stopped(void *arg)
{
	((struct sw *)arg)->stopped++;
}

static inline void sw_run(struct sw *sw, uint64_t ns)
{
	ddio_sim_run_for(sw->world, ns);
}

static inline int sw_conf(struct sw *sw, const char *address, char *err, size_t err_len)
{
	char text[4096];
	int n;

	n = snprintf(text, sizeof(text),
		     "[cluster]\nname = t\ntimeout = 2s\n%s[node io0]\naddress = %s\n"
		     "meta = %s/meta\ncache = 64K\n%s\n[node io1]\naddress = 127.0.0.1:7401\n"
		     "meta = %s/other\n",
		     sw_cluster ? sw_cluster : "", address, sw->top, sw->extra ? sw->extra : "",
		     sw->top);
	for (int i = 0; i < 4; i++)
		n += snprintf(text + n, sizeof(text) - n,
			      "[disk d%d]\nnode = io%d\nengine = mem\nsize = %llu\n"
			      "path = %s/d%d.img\n%s%s\n",
			      i, i == 3, (unsigned long long)sw->disk_size, sw->top, i,
			      sw->disk_options ? "options = " : "",
			      sw->disk_options ? sw->disk_options : "");
	return ddio_conf_parse("test", text, n, &sw->conf, err, err_len);
}

static inline int sw_start_node(struct sw *sw)
{
	static const struct ddio_key servers_key = { .len = 32, .bytes = { 1, 2, 3 } };
	struct ddio_iop_opts opts = { .conf = sw->conf,
				      .servers_key = &servers_key,
				      .vouch = sw_vouch,
				      .nreactors = SW_REACTORS,
				      .envs = sw->env,
				      .on_stopped = sw_on_stopped,
				      .arg = sw };

	sw->err[0] = 0;
	return ddio_iop_start(&opts, &sw->iop, sw->err, sizeof(sw->err));
}

/* A directory, a configuration, a world, but no node yet. */
static inline struct sw *sw_prepare(const char *address, const char *extra)
{
	struct sw *sw = calloc(1, sizeof(*sw));
	int i;

	ut_temp_dir(sw->top, sizeof(sw->top));
	sw->extra = extra;
	sw->disk_size = 4 * MIB;
	if (sw_conf(sw, address, sw->err, sizeof(sw->err))) {
		fprintf(stderr, "%s\n", sw->err);
		abort();
	}
	sw->world = ddio_sim_new(7);
	for (i = 0; i < SW_REACTORS; i++)
		sw->env[i] = ddio_sim_env(sw->world, i ? "io0.1" : "io0.0");
	sw->client = ddio_sim_env(sw->world, "client");
	return sw;
}

static inline struct sw *sw_new(const char *extra)
{
	struct sw *sw = sw_prepare(SW_ADDR, extra);

	if (sw_start_node(sw)) {
		fprintf(stderr, "%s\n", sw->err);
		abort();
	}
	return sw;
}

static inline void sw_stop(struct sw *sw)
{
	uint32_t before = sw->stopped;
	int i;

	ddio_iop_stop(sw->iop);
	for (i = 0; i < 100 && sw->stopped == before; i++)
		sw_run(sw, 100 * MS);
	CU_ASSERT_EQUAL(sw->stopped, before + 1);
	ddio_iop_free(sw->iop);
	sw->iop = NULL;
}

static inline void sw_restart(struct sw *sw)
{
	sw_stop(sw);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
}

static inline void sw_free(struct sw *sw)
{
	if (sw->iop)
		sw_stop(sw);
	ddio_sim_free(sw->world);
	ddio_conf_free(sw->conf);
	ut_remove_tree(sw->top);
	free(sw);
}

/*
 * Clients
 */
static void sc_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct sc *c = ctx;
	uint32_t i;

	c->ready = true;
	c->welcome = *welcome;
	if (welcome->ids.n)
		c->first_disk = welcome->ids.ids[0];
	for (i = 0; i < welcome->ndisks && i < 8; i++)
		c->disks[i] = welcome->disks[i];
}

static int sc_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		   struct ddio_sink *sink)
{
	struct sc *c = ctx;

	(void)prefix;
	c->bulk_len = msg->length - prefix_len;
	free(c->bulk);
	c->bulk = malloc(c->bulk_len + 1);
	c->iov.iov_base = c->bulk;
	c->iov.iov_len = c->bulk_len;
	sink->iov = &c->iov;
	sink->n = 1;
	return 0;
}

static int sc_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct sc *c = ctx;
	size_t len = msg->length;

	if (msg->opcode == DDIO_OP_COLL_DONE) {
		c->dones++;
		c->done_status = msg->status;
		return 0;
	}
	if (msg->opcode == DDIO_OP_COLL_WANT) {
		c->wants++;
		return 0;
	}
	if (msg->opcode == DDIO_OP_GRANT) {
		c->grants++;
		return ddio_get_grant(payload, len, &c->grant);
	}
	if (msg->opcode == DDIO_OP_ENDED) {
		c->ended++;
		return 0;
	}
	if (msg->opcode == DDIO_OP_PING && !(msg->flags & DDIO_WIRE_REPLY)) {
		c->pings++;
		return c->deaf ? 0 : ddio_conn_reply(c->conn, msg, DDIO_ST_OK, NULL, 0);
	}
	if (ddio_msg_is_bulk(msg))
		len -= c->bulk_len;
	CU_ASSERT(msg->flags & DDIO_WIRE_REPLY);
	c->replies++;
	c->tag = msg->tag;
	c->status = msg->status;
	c->opcode = msg->opcode;
	c->text[0] = 0;
	if (msg->status) {
		ddio_get_text(payload, len, c->text);
		c->failures++;
	}
	if (!msg->status && ddio_opcode_numbered(msg->opcode))
		CU_ASSERT_EQUAL_FATAL(ddio_get_change(payload, &len, &c->change), 0);
	c->len = len < sizeof(c->data) ? len : sizeof(c->data);
	memcpy(c->data, payload, c->len);
	return 0;
}

static void sc_closed(void *ctx, int err, const char *why)
{
	struct sc *c = ctx;

	c->closed = true;
	c->err = err;
	snprintf(c->why, sizeof(c->why), "%s", why);
}

static const struct ddio_conn_ops sc_ops = {
	.ready = sc_ready,
	.bulk = sc_bulk,
	.message = sc_message,
	.closed = sc_closed,
};

static inline struct sc *sc_open(struct sw *sw, uint32_t reactor, uint32_t role)
{
	struct sc *c = calloc(1, sizeof(*c));
	struct ddio_msg_hello hello = { .role = role, .reactor = reactor };
	struct ddio_conn_opts opts = { .cluster = "t", .users = sw_cluster };
	int i;

	c->sw = sw;
	if (ddio_conn_connect(sw->client, SW_ADDR, &hello, &opts, &sc_ops, c, &c->conn))
		abort();
	for (i = 0; i < 100 && !c->ready && !c->closed; i++)
		sw_run(sw, MS);
	return c;
}

static inline struct sc *sc_new(struct sw *sw, uint32_t reactor)
{
	struct sc *c = sc_open(sw, reactor, DDIO_ROLE_CLIENT);

	CU_ASSERT_FATAL(c->ready);
	return c;
}

static inline void sc_free(struct sc *c)
{
	ddio_conn_close(c->conn, false);
	sw_run(c->sw, 5 * MS);
	free(c->bulk);
	free(c);
}

/* @data is bulk, and must live until the reply. */
static inline void sc_send(struct sc *c, uint16_t opcode, const void *fixed, size_t len,
			   const void *data, size_t data_len)
{
	struct ddio_msg msg = { .opcode = opcode, .tag = ++c->tags };
	struct iovec iov = { (void *)data, data_len };

	CU_ASSERT_EQUAL(ddio_conn_send(c->conn, &msg, fixed, len, &iov, data ? 1 : 0, NULL), 0);
}

static inline bool sc_wait(struct sc *c, uint32_t replies)
{
	int i;

	for (i = 0; i < 10000 && c->replies < replies && !c->closed; i++)
		sw_run(c->sw, MS);
	return c->replies >= replies;
}

/* Returns the status of the reply, or ~0 if there was none. */
static inline uint32_t sc_call(struct sc *c, uint16_t opcode, const void *fixed, size_t len,
			       const void *data, size_t data_len)
{
	uint32_t want = c->replies + 1;

	sc_send(c, opcode, fixed, len, data, data_len);
	if (!sc_wait(c, want))
		return UINT32_MAX;
	CU_ASSERT_EQUAL(c->replies, want);
	CU_ASSERT_EQUAL(c->tag, c->tags);
	CU_ASSERT_EQUAL(c->opcode, opcode);
	return c->status;
}

#define SC_CALL(c, op, name, x)                                               \
	({                                                                    \
		uint8_t buf_[4096];                                           \
		ssize_t len_ = ddio_put_##name(buf_, sizeof(buf_), x);        \
                                                                              \
		CU_ASSERT(len_ >= 0);                                         \
		sc_call(c, DDIO_OP_##op, buf_, len_ < 0 ? 0 : len_, NULL, 0); \
	})

/* A request about an object: block size 4096, contiguous. */
static inline struct ddio_msg_obj sc_obj(uint64_t id, uint32_t disk, uint64_t offset, uint64_t len)
{
	struct ddio_msg_obj obj = { .file = { .id = id, .seed = 1, .block = 4096 },
				    .disk = disk,
				    .offset = offset,
				    .len = len };

	return obj;
}

static inline uint32_t sc_write(struct sc *c, uint64_t id, uint32_t disk, uint64_t offset,
				const void *data, uint64_t len)
{
	struct ddio_msg_obj obj = sc_obj(id, disk, offset, len);
	uint8_t buf[64];
	ssize_t n = ddio_put_obj(buf, sizeof(buf), &obj);

	return sc_call(c, DDIO_OP_OBJ_WRITE, buf, n, data, len);
}

/* The bytes go to c->bulk. */
static inline uint32_t sc_read(struct sc *c, uint64_t id, uint32_t disk, uint64_t offset,
			       uint64_t len)
{
	struct ddio_msg_obj obj = sc_obj(id, disk, offset, len);
	uint32_t status = SC_CALL(c, OBJ_READ, obj, &obj);

	if (!status)
		CU_ASSERT_EQUAL(c->bulk_len, len);
	return status;
}

static inline uint32_t sc_object(struct sc *c, uint16_t opcode, const struct ddio_msg_obj *obj)
{
	uint8_t buf[64];
	ssize_t n = ddio_put_obj(buf, sizeof(buf), obj);

	return sc_call(c, opcode, buf, n, NULL, 0);
}

static inline uint32_t sc_sync(struct sc *c, uint64_t id)
{
	struct ddio_msg_obj obj = sc_obj(id, UINT32_MAX, 0, 0);

	return sc_object(c, DDIO_OP_OBJ_SYNC, &obj);
}

/* The caller frees the result by ddio_status_free(). */
static inline uint32_t sc_status(struct sc *c, struct ddio_msg_status *st)
{
	uint32_t status = sc_call(c, DDIO_OP_STATUS, NULL, 0, NULL, 0);

	memset(st, 0, sizeof(*st));
	if (!status)
		CU_ASSERT_EQUAL(ddio_get_status(c->data, c->len, st), 0);
	return status;
}

static inline bool sw_all(const uint8_t *buf, size_t len, uint8_t byte)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != byte)
			return false;
	return true;
}

/* Reactor of a disk of the node. */
static inline uint32_t sw_reactor(struct sw *sw, uint32_t disk)
{
	return (uint32_t)iop_disk_reactor(sw->iop, disk);
}

static inline struct ddio_disk *sw_disk(struct sw *sw, uint32_t disk)
{
	return reactor_disk(&sw->iop->reactors[sw_reactor(sw, disk)], disk)->disk;
}

/* Has bytes of one object copied to another; all of them, or the status says why not. */
static inline uint32_t sc_copy(struct sc *c, uint64_t from, uint64_t at, uint64_t to,
			       uint64_t where, uint64_t len)
{
	struct ddio_msg_obj_copy x = { .from = sc_obj(from, 0, 0, 0).file,
				       .to = sc_obj(to, 0, 0, 0).file,
				       .from_offset = at,
				       .to_offset = where,
				       .len = len };
	struct ddio_msg_obj_data done = { 0 };
	uint32_t status = SC_CALL(c, OBJ_COPY, obj_copy, &x);

	if (status == DDIO_ST_OK) {
		CU_ASSERT_EQUAL(ddio_get_obj_data(c->data, c->len, &done), 0);
		CU_ASSERT_EQUAL(done.len, len);
	}
	return status;
}

#endif /* DDIO_SERVER_WORLD_H */
