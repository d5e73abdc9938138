// SPDX-License-Identifier: GPL-2.0-only
/* tsan: threads meet here */
/*
 * Reactors that are all connected to each other through memory, and tokens that wander among them at random.  Each reactor
 * sleeps as soon as it has nothing to do, so a single wake-up that is lost stops a token for ever.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "conn/conn_priv.h"
#include "env/local/channel.h"
#include "env/local/memory.h"
#include "tests/unit/env/env_help.h"

enum { MESH_NODES = 4, MESH_ENDS = 192, MESH_BYTES = 3 * CHANNEL_DATA };

/* A node's end of a connection; @room is what a token's bytes are received into. */
struct mesh_end {
	struct mesh_node *node;
	struct ddio_conn *conn;
	bool open;
	uint8_t *room;
	struct iovec sink;
};

/**
 * struct mesh_node - a reactor; touched by it only, but for the counts
 * @passed: tokens that came here and went on
 */
struct mesh_node {
	struct ddio_env *env;
	struct ddio_listener *listener;
	struct mesh_end end[MESH_ENDS];
	uint32_t n;
	uint64_t rnd;
	uint64_t hops;
	const char *to;
	struct ddio_memory_use use;
	_Atomic uint32_t passed, in_memory;
};

static struct mesh_node *node[MESH_NODES];
static _Atomic uint32_t nopen, arrived, ended;
static size_t longest;
static const uint8_t bytes[MESH_BYTES];
static const struct ddio_conn_opts mesh_opts = { .memory = true };

static uint64_t mesh_random(struct mesh_node *m, uint64_t below)
{
	m->rnd = m->rnd * 6364136223846793005u + 1442695040888963407u;
	return (m->rnd >> 33) % below;
}

/* Sends a token that has @hops left by any connection of the node, with some bytes, by which channels get full. */
static void token_pass(struct mesh_node *m, uint64_t hops)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_COLL_DATA };
	const struct ddio_msg_coll_data data = { .op = 1, .block = hops };
	struct mesh_end *e;
	struct iovec iov = { (void *)bytes, 1 + mesh_random(m, longest) };
	uint8_t fixed[64];
	ssize_t n = ddio_put_coll_data(fixed, sizeof(fixed), &data);

	do {
		e = &m->end[mesh_random(m, m->n)];
	} while (!e->open);
	CU_ASSERT_EQUAL(ddio_conn_send(e->conn, &msg, fixed, (size_t)n, &iov, 1, NULL), 0);
}

static int mesh_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t len,
		     struct ddio_sink *sink)
{
	struct mesh_end *e = ctx;

	(void)prefix;
	e->sink = (struct iovec){ e->room, msg->length - len };
	sink->iov = &e->sink;
	sink->n = 1;
	return 0;
}

static int mesh_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	const struct mesh_end *e = ctx;
	struct ddio_msg_coll_data data;

	(void)msg;
	CU_ASSERT_EQUAL(ddio_get_coll_data(payload, msg->length - e->sink.iov_len, &data), 0);
	e->node->passed++;
	e->node->in_memory += ddio_conn_way(e->conn) == CONN_MEMORY;
	if (data.block)
		token_pass(e->node, data.block - 1);
	else
		arrived++;
	return 0;
}

static void mesh_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	static const struct ddio_msg_welcome welcome = { .nreactors = 1 };
	struct mesh_end *e = ctx;

	(void)hello;
	CU_ASSERT_EQUAL(ddio_conn_welcome(e->conn, &welcome), 0);
	e->open = true;
	nopen++;
}

static void mesh_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct mesh_end *e = ctx;

	(void)welcome;
	e->open = true;
	nopen++;
}

static void mesh_closed(void *ctx, int err, const char *why)
{
	struct mesh_end *e = ctx;

	(void)err;
	(void)why;
	e->open = false;
	ended++;
}

static const struct ddio_conn_ops mesh_ops = {
	.hello = mesh_hello,
	.ready = mesh_ready,
	.bulk = mesh_bulk,
	.message = mesh_message,
	.closed = mesh_closed,
};

static struct mesh_end *end_new(struct mesh_node *m)
{
	struct mesh_end *e = &m->end[m->n++];

	CU_ASSERT_FATAL(m->n <= MESH_ENDS);
	e->node = m;
	e->room = malloc(longest);
	CU_ASSERT_PTR_NOT_NULL_FATAL(e->room);
	return e;
}

static void mesh_accept(void *ctx, struct ddio_stream *stream)
{
	struct mesh_node *m = ctx;
	struct mesh_end *e = end_new(m);

	CU_ASSERT_EQUAL_FATAL(ddio_conn_accept(m->env, stream, &mesh_opts, &mesh_ops, e, &e->conn),
			      0);
}

static void mesh_listen(void *arg)
{
	struct mesh_node *m = arg;

	CU_ASSERT_EQUAL_FATAL(ddio_listen(m->env, "127.0.0.1:0", mesh_accept, m, &m->listener), 0);
}

static void mesh_connect(void *arg)
{
	const struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT };
	struct mesh_node *m = arg;
	struct mesh_end *e = end_new(m);

	CU_ASSERT_EQUAL_FATAL(
		ddio_conn_connect(m->env, m->to, &hello, &mesh_opts, &mesh_ops, e, &e->conn), 0);
}

static void mesh_send(void *arg)
{
	struct mesh_node *m = arg;

	token_pass(m, m->hops);
}

static void mesh_use(void *arg)
{
	struct mesh_node *m = arg;

	ddio_memory_use(m->env, &m->use);
}

static void mesh_close(void *arg)
{
	struct mesh_node *m = arg;
	uint32_t i;

	for (i = 0; i < m->n; i++) {
		ddio_conn_close(m->end[i].conn, false);
		free(m->end[i].room);
	}
	ddio_listener_close(m->listener);
}

#define until(what)                                                    \
	do {                                                           \
		uint64_t end_ = ddio_env_now(node[0]->env) + PATIENCE; \
                                                                       \
		while (!(what) && ddio_env_now(node[0]->env) < end_)   \
			usleep(200);                                   \
		CU_ASSERT(what);                                       \
	} while (0)

static struct mesh_node *node_new(uint32_t i)
{
	static const struct ddio_real_opts opts = { .log_level = DDIO_LOG_ERR,
						    .name = "test",
						    .look_ns = 1 };
	struct mesh_node *m = calloc(1, sizeof(*m));

	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	m->rnd = i + 1;
	CU_ASSERT_EQUAL_FATAL(ddio_real_new(&opts, &m->env), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_real_start_thread(m->env), 0);
	on_reactor(m->env, mesh_listen, m);
	return m;
}

/* @n reactors, each connected to each other one @times. */
static void mesh_begin(uint32_t n, uint32_t times, size_t bytes_most)
{
	uint32_t i, j, k;

	nopen = arrived = ended = 0;
	longest = bytes_most;
	for (i = 0; i < n; i++)
		node[i] = node_new(i);
	for (i = 0; i < n; i++)
		for (j = 0; j < i; j++)
			for (k = 0; k < times; k++) {
				node[i]->to = ddio_listener_addr(node[j]->listener);
				on_reactor(node[i]->env, mesh_connect, node[i]);
			}
	until(nopen == n * (n - 1) * times);
}

/* Each reactor sends @tokens, which have @hops before them. */
static void mesh_run(uint32_t n, uint32_t tokens, uint64_t hops)
{
	uint32_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < tokens; k++) {
			node[i]->hops = hops;
			on_reactor(node[i]->env, mesh_send, node[i]);
		}
	until(arrived == n * tokens);
	CU_ASSERT_EQUAL(ended, 0);
}

static void mesh_end(uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		on_reactor(node[i]->env, mesh_close, node[i]);
	for (i = 0; i < n; i++) {
		ddio_real_free(node[i]->env);
		free(node[i]);
	}
}

/* One token for each reactor: all of them sleep and are woken all the time. */
static void test_few_tokens(void)
{
	uint64_t hops = 2000;
	uint32_t i, passed = 0, in_memory = 0;

	mesh_begin(MESH_NODES, 1, 64);
	mesh_run(MESH_NODES, 1, hops);
	for (i = 0; i < MESH_NODES; i++) {
		passed += node[i]->passed;
		in_memory += node[i]->in_memory;
	}
	CU_ASSERT_EQUAL(passed, MESH_NODES * (hops + 1));
	CU_ASSERT(in_memory > passed / 2);
	mesh_end(MESH_NODES);
}

/* Channels that are full in both directions, whose writers wait for room. */
static void test_large_tokens(void)
{
	mesh_begin(MESH_NODES, 1, MESH_BYTES);
	mesh_run(MESH_NODES, 3, ut_rounds(300));
	mesh_end(MESH_NODES);
}

/* More connections than may go through memory: the others stay with TCP, and all of them work. */
static void test_many(void)
{
	const struct ddio_memory_use *use;
	uint32_t i, in_tcp = 0;

	mesh_begin(2, ENV_MEMORIES + 10, 64);
	mesh_run(2, 2, 2000);
	for (i = 0; i < 2; i++) {
		on_reactor(node[i]->env, mesh_use, node[i]);
		use = &node[i]->use;
		CU_ASSERT_EQUAL(use->now, ENV_MEMORIES);
		CU_ASSERT_EQUAL(use->most, ENV_MEMORIES);
		in_tcp += node[i]->passed - node[i]->in_memory;
	}
	CU_ASSERT(node[0]->use.hits + node[1]->use.hits > 0);
	CU_ASSERT(in_tcp > 0);
	mesh_end(2);
}

static const struct ut_case cases[] = {
	{ "few tokens", test_few_tokens },
	{ "large tokens", test_large_tokens },
	{ "more connections than there is room for", test_many },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "a mesh of reactors", cases } };

	return ut_run("test_conn_mesh", suites, 1);
}
