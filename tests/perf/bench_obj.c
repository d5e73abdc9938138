// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads of 4 KB, at random, all in the cache of the first disk of a node: what a request
 * of the traditional path costs.
 *
 *   bench_obj CONF REQUESTS OUTSTANDING [PID]
 *
 * The node of the configuration's first disk must run; PID: its process, whose processor
 * time a request is told too.  Prints one line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/rand.h"
#include "conf/conf.h"
#include "conn/conn.h"
#include "env/real/real.h"

#define BLOCK 4096u
#define BLOCKS 1024u
#define FILE_ID (UINT64_C(1) << 60)

/**
 * struct obj_bench - one connection
 * @sent, @got: requests; the first BLOCKS ones write
 */
struct obj_bench {
	struct ddio_env *env;
	struct ddio_conn *conn;
	uint64_t want, sent, got, rand;
	uint64_t began_ns;
	double began_cpu;
	long pid;
	uint32_t outstanding;
	struct iovec iov;
	uint8_t data[BLOCK], sink[BLOCK];
};

/* Seconds of processor time of a process so far. */
static double cpu_of(long pid)
{
	unsigned long user = 0, sys = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	f = pid ? fopen(path, "r") : NULL;
	if (f && fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
			&user, &sys) != 2)
		user = sys = 0;
	if (f)
		fclose(f);
	return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}

static void send_one(struct obj_bench *b)
{
	bool write = b->sent < BLOCKS;
	uint64_t block = write ? b->sent : ddio_rand_below(&b->rand, BLOCKS);
	struct ddio_msg_obj obj = { .file = { .id = FILE_ID, .seed = 1, .block = BLOCK },
				    .offset = block * BLOCK,
				    .len = BLOCK };
	struct ddio_msg msg = { .opcode = write ? DDIO_OP_OBJ_WRITE : DDIO_OP_OBJ_READ,
				.tag = b->sent };
	struct iovec iov = { b->data, BLOCK };
	uint8_t buf[64];
	ssize_t len = ddio_put_obj(buf, sizeof(buf), &obj);

	b->sent++;
	if (ddio_conn_send(b->conn, &msg, buf, (size_t)len, &iov, write, NULL))
		abort();
}

static void pump(struct obj_bench *b)
{
	while (b->sent < b->want && b->sent - b->got < b->outstanding)
		send_one(b);
}

static void ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	(void)welcome;
	pump(ctx);
}

static int bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		struct ddio_sink *sink)
{
	struct obj_bench *b = ctx;

	(void)prefix;
	b->iov.iov_base = b->sink;
	b->iov.iov_len = msg->length - prefix_len;
	sink->iov = &b->iov;
	sink->n = 1;
	return b->iov.iov_len == BLOCK ? 0 : -EPROTO;
}

static void report(const struct obj_bench *b)
{
	uint64_t n = b->want - BLOCKS;
	double wall = (double)(ddio_env_now(b->env) - b->began_ns) / 1e9;
	double cpu = cpu_of(b->pid) - b->began_cpu;

	printf("%llu reads of 4 KB, %u at once: %.0f a second", (unsigned long long)n,
	       b->outstanding, (double)n / wall);
	if (b->pid)
		printf(", %.2f us of the daemon's processor time each", cpu * 1e6 / (double)n);
	printf("\n");
}

static int message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct obj_bench *b = ctx;

	(void)payload;
	if (msg->status) {
		fprintf(stderr, "bench_obj: status %u\n", msg->status);
		exit(1);
	}
	if (++b->got == BLOCKS) {
		b->began_ns = ddio_env_now(b->env);
		b->began_cpu = cpu_of(b->pid);
	}
	if (b->got == b->want) {
		report(b);
		real_stop(b->env);
	}
	pump(b);
	return 0;
}

static void closed(void *ctx, int err, const char *why)
{
	(void)ctx;
	fprintf(stderr, "bench_obj: %s: %s\n", why, strerror(-err));
	exit(1);
}

static const struct ddio_conn_ops ops = {
	.ready = ready,
	.bulk = bulk,
	.message = message,
	.closed = closed,
};

int main(int argc, char **argv)
{
	static struct obj_bench b;
	struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT };
	struct ddio_conn_opts opts = { 0 };
	struct ddio_conf *conf;
	struct ddio_key key;
	char err[600];

	if (argc < 4) {
		fprintf(stderr, "usage: bench_obj CONF REQUESTS OUTSTANDING [PID]\n");
		return 2;
	}
	if (ddio_conf_load(argv[1], &conf, err, sizeof(err)) ||
	    (conf->key_file && ddio_key_load(conf->key_file, false, &key, err, sizeof(err)))) {
		fprintf(stderr, "bench_obj: %s\n", err);
		return 1;
	}
	opts.key = conf->key_file ? &key : NULL;
	opts.cluster = conf->cluster;
	b.want = BLOCKS + strtoull(argv[2], NULL, 0);
	b.outstanding = (uint32_t)strtoul(argv[3], NULL, 0);
	b.pid = argc > 4 ? strtol(argv[4], NULL, 0) : 0;
	b.rand = 1;
	if (ddio_real_new(NULL, &b.env) ||
	    ddio_conn_connect(b.env, conf->nodes[conf->disks[0].node].address, &hello, &opts, &ops,
			      &b, &b.conn))
		return 1;
	return real_run(b.env) != 0;
}
