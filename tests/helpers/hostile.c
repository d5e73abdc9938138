// SPDX-License-Identifier: GPL-2.0-only
/*
 * Those who mean a live cluster no good.
 *
 *	hostile CONF NODE SECONDS SEED
 *
 * Some have the cluster's key.  They send requests of a mount about inodes 16 to 39, and messages of every opcode, with contents
 * as they should be, damaged, or any; requests, and answers that nobody has asked for, half of them rarely what costs them
 * their connection.  Some read no answer for a while.
 * Others have no key, and send openings, messages and junk.  All come again and again, to any reactor, in any role.
 * Each daemon has one process of them to itself.  It prints
 *	messages N answers N connections N; without the key bytes N connections N
 * Whatever has the key may do to the inodes 16 to 39 what it likes; nobody else may notice anything.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "conf/conf.h"
#include "env/real/real.h"
#include "tests/helpers/hostile_knock.h"

enum { CLIENTS = 8, KNOCKERS = 4, BURST = 24, ASKS = 300 };

#define TURN_NS 2000000ull
#define MUCH (1u << 20)

/**
 * struct enemy - one who has the key
 * @left: so many turns it still has, in @deaf ones of which it reads nothing
 * @wild: says what is no message, again and again, which costs it its connection; others do so now and then
 */
struct enemy {
	struct fuzz_mount m;
	struct rnd rnd;
	uint32_t left, deaf;
	bool wild;
};

static struct {
	struct ddio_env *env;
	struct ddio_conf *conf;
	struct ddio_key key;
	struct addrinfo *to;
	const char *address;
	struct ddio_timer timer;
	uint64_t until, messages, answers, connections;
	struct enemy enemies[CLIENTS];
	struct knocker knockers[KNOCKERS];
} all;

static void on_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	(void)welcome;
	((struct enemy *)ctx)->m.ready = true;
}

static int on_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		   struct ddio_sink *sink)
{
	(void)ctx;
	(void)msg;
	(void)prefix;
	(void)prefix_len;
	sink->n = 0;
	return 0;
}

static int on_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	(void)msg;
	(void)payload;
	((struct enemy *)ctx)->m.answered++;
	return 0;
}

static void on_closed(void *ctx, int err, const char *why)
{
	(void)err;
	(void)why;
	((struct enemy *)ctx)->m.closed = true;
}

static const struct ddio_conn_ops enemy_ops = {
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

	if (len < 0)
		return;
	msg.length = (uint64_t)len + bulk_len;
	if (!ddio_conn_send(m->conn, &msg, fixed, (size_t)len, &iov, bulk_len ? 1 : 0, NULL))
		m->sent++;
}

static uint32_t any_role(struct rnd *r)
{
	return rnd_below(r, 8) ? DDIO_ROLE_CLIENT : 1 + (uint32_t)rnd_below(r, DDIO_ROLE_BROKER);
}

static void enemy_come(struct enemy *e)
{
	struct ddio_msg_hello hello = { .role = e->wild ? any_role(&e->rnd) : DDIO_ROLE_CLIENT,
					.reactor = (uint32_t)rnd_below(&e->rnd, 3) };
	struct ddio_conn_opts opts = { .key = &all.key, .cluster = all.conf->cluster };

	memset(&e->m, 0, sizeof(e->m));
	any_group(&e->rnd, hello.group, NULL);
	if (ddio_conn_connect(all.env, all.address, &hello, &opts, &enemy_ops, e, &e->m.conn)) {
		e->m.conn = NULL;
		return;
	}
	all.connections++;
	e->left = 1 + (uint32_t)rnd_below(&e->rnd, 400);
	e->deaf = rnd_below(&e->rnd, 4) ? 0 : (uint32_t)rnd_below(&e->rnd, 200);
}

static void enemy_go(struct enemy *e)
{
	if (!e->m.conn)
		return;
	ddio_conn_close(e->m.conn, false);
	all.messages += e->m.sent;
	all.answers += e->m.answered;
	e->m.conn = NULL;
}

static void enemy_attach(struct enemy *e)
{
	struct ddio_msg_fs_attach x = { .mount = { 1, 1 + (uint8_t)rnd_below(&e->rnd, 4) },
					.flags = (uint32_t)rnd_below(&e->rnd, 2) };

	post(&e->m, DDIO_OP_FS_ATTACH, buf, ddio_put_fs_attach(buf, sizeof(buf), &x), NULL, 0);
}

static void enemy_turn(struct enemy *e)
{
	uint64_t n;

	if (!e->m.conn || e->m.closed || !e->left--) {
		enemy_go(e);
		enemy_come(e);
		return;
	}
	if (!e->m.ready)
		return;
	if (!e->m.sent)
		enemy_attach(e);
	ddio_conn_pause(e->m.conn, e->deaf);
	for (n = e->deaf ? ASKS : 0; n && ddio_conn_queued(e->m.conn) < MUCH; n--)
		post(&e->m, DDIO_OP_STATUS, NULL, 0, NULL, 0);
	e->deaf -= e->deaf > 0;
	for (n = rnd_below(&e->rnd, BURST); n && ddio_conn_queued(e->m.conn) < MUCH; n--) {
		if (!rnd_below(&e->rnd, e->wild ? 2 : 200))
			say_any(&e->m, &e->rnd);
		else
			say_as_mount(&e->m, &e->rnd);
	}
}

static void turn(void *arg)
{
	uint64_t now = ddio_env_now(all.env);
	int i;

	(void)arg;
	if (now > all.until) {
		real_stop(all.env);
		return;
	}
	for (i = 0; i < CLIENTS; i++)
		enemy_turn(&all.enemies[i]);
	for (i = 0; i < KNOCKERS; i++)
		knocker_turn(&all.knockers[i], all.to, all.conf->cluster);
	ddio_timer_arm(all.env, &all.timer, now + TURN_NS);
}

static int find_node(const char *name, char *err, size_t err_len)
{
	char host[ADDR_HOST_MAX];
	unsigned int port;
	int node = ddio_conf_find_node(all.conf, name);

	if (node < 0)
		return node;
	all.address = all.conf->nodes[node].address;
	if (ddio_addr_split(all.address, host, &port) ||
	    ddio_addr_resolve(host, port, false, &all.to))
		return -EINVAL;
	return all.conf->key_file ? ddio_key_load(all.conf->key_file, false, &all.key, err, err_len)
				  : 0;
}

static void quiet(void *arg, enum ddio_log_level level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

static int attack(uint64_t seconds, uint64_t seed)
{
	static const struct ddio_real_opts opts = { .log = quiet, .log_level = DDIO_LOG_ERR };
	int i, err = ddio_real_new(&opts, &all.env);

	if (err)
		return err;
	for (i = 0; i < CLIENTS; i++) {
		all.enemies[i].rnd.x = (seed * 1000003 + (uint64_t)i) << 1 | 1;
		all.enemies[i].wild = i % 2;
	}
	for (i = 0; i < KNOCKERS; i++)
		all.knockers[i] =
			(struct knocker){ .rnd.x = (seed * 7919 + (uint64_t)i) << 1 | 1, .fd = -1 };
	all.until = ddio_env_now(all.env) + seconds * 1000000000ull;
	all.timer.fn = turn;
	ddio_timer_arm(all.env, &all.timer, ddio_env_now(all.env));
	err = real_run(all.env);
	for (i = 0; i < CLIENTS; i++)
		enemy_go(&all.enemies[i]);
	for (i = 0; i < KNOCKERS; i++)
		knocker_go(&all.knockers[i]);
	ddio_real_free(all.env);
	return err;
}

static void report(void)
{
	uint64_t bytes = 0, came = 0;
	int i;

	for (i = 0; i < KNOCKERS; i++) {
		bytes += all.knockers[i].said;
		came += all.knockers[i].came;
	}
	printf("messages %llu answers %llu connections %llu; without the key bytes %llu connections %llu\n",
	       (unsigned long long)all.messages, (unsigned long long)all.answers,
	       (unsigned long long)all.connections, (unsigned long long)bytes,
	       (unsigned long long)came);
}

int main(int argc, char **argv)
{
	char err[600] = "";
	int ret;

	if (argc != 5) {
		fprintf(stderr, "usage: hostile CONF NODE SECONDS SEED\n");
		return 2;
	}
	ret = ddio_conf_load(argv[1], &all.conf, err, sizeof(err));
	if (!ret)
		ret = find_node(argv[2], err, sizeof(err));
	if (!ret)
		ret = attack(strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
	if (ret)
		fprintf(stderr, "hostile: %s\n", err[0] ? err : strerror(-ret));
	else
		report();
	if (all.to)
		freeaddrinfo(all.to);
	ddio_conf_free(all.conf);
	return ret != 0;
}
