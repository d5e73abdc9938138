/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cluster with threads, sockets and the clock, all in this process: I/O processors with memory disks,
 * and the name server, which may be that of fs_fake.h.
 */
#ifndef DDIO_TEST_FS_REAL_H
#define DDIO_TEST_FS_REAL_H

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <ddio/fs.h>
#include "env/addr.h"
#include "env/disk/disk.h"
#include "env/real/real.h"
#include "iop/iop.h"
#include "tests/unit/cp/fs/fs_fake.h"

enum { REAL_NODES = 3, REAL_REACTORS = 2, REAL_DISKS = 4 };

struct real_node {
	struct ddio_env *env[REAL_REACTORS];
	uint32_t nreactors;
	struct ddio_iop *iop;
	struct ddio_gate stopped;
	struct ddio_post stop;
};

struct real_cluster {
	char top[200], conf_path[260];
	char addr[REAL_NODES][64];
	struct ddio_conf *conf;
	struct real_node node[REAL_NODES]; /* the first serves names */
	struct fake_names *fake;
	struct fake_names names;
};

static inline void real_quiet(void *arg, enum ddio_log_level level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

static inline void real_die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

static inline void real_conf(struct real_cluster *c, uint32_t block, const char *disk_size)
{
	char text[4096], err[600];
	uint16_t port;
	uint32_t i;
	FILE *f;
	int n;

	n = snprintf(text, sizeof(text),
		     "[cluster]\nname = ut\nblock = %u\ntimeout = 20s\nnamespace = n0\n", block);
	for (i = 0; i < REAL_NODES; i++) {
		if (ddio_ports_free(&port, 1))
			real_die("no port");
		snprintf(c->addr[i], sizeof(c->addr[i]), "127.0.0.1:%u", port);
		n += snprintf(text + n, sizeof(text) - n,
			      "[node n%u]\naddress = %s\nmeta = %s/n%u\nsync_io = no\n", i,
			      c->addr[i], c->top, i);
	}
	for (i = 0; i <= REAL_DISKS; i++)
		n += snprintf(text + n, sizeof(text) - n,
			      "[disk d%u]\nnode = n%u\nengine = mem\nsize = %s\n", i,
			      i == REAL_DISKS ? 0 : 1 + i % (REAL_NODES - 1), disk_size);
	snprintf(c->conf_path, sizeof(c->conf_path), "%s/ddio.conf", c->top);
	f = fopen(c->conf_path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		real_die("cannot write the configuration");
	if (ddio_conf_load(c->conf_path, &c->conf, err, sizeof(err)))
		real_die(err);
}

static inline void real_stopped(void *arg)
{
	struct real_node *n = arg;

	ddio_gate_open(n->env[0], &n->stopped);
}

static inline void real_node_start(struct real_cluster *c, uint32_t i)
{
	static const struct ddio_real_opts opts = { .log = real_quiet,
						    .name = "node",
						    .engines = ddio_disk_engines };
	struct real_node *n = &c->node[i];
	struct ddio_iop_opts io = {
		.conf = c->conf, .node = i, .envs = n->env, .on_stopped = real_stopped, .arg = n
	};
	bool fake = !i && c->fake;
	char err[600];
	uint32_t k;

	n->nreactors = i ? REAL_REACTORS : 1;
	io.nreactors = n->nreactors;
	for (k = 0; k < n->nreactors; k++)
		if (ddio_real_new(&opts, &n->env[k]))
			real_die("no reactor");
	ddio_gate_init(&n->stopped);
	if (fake)
		fake_begin(c->fake, n->env[0], REAL_DISKS, c->conf->block);
	else if (ddio_iop_start(&io, &n->iop, err, sizeof(err)))
		real_die(err);
	for (k = 0; k < n->nreactors; k++)
		if (ddio_real_start_thread(n->env[k]))
			real_die("no thread");
}

static inline void real_begin(struct real_cluster *c, bool fake, uint32_t block,
			      const char *disk_size)
{
	uint32_t i;

	memset(c, 0, sizeof(*c));
	snprintf(c->top, sizeof(c->top), "%s/ddio-fs-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(c->top))
		real_die("no directory");
	real_conf(c, block, disk_size);
	if (fake) {
		c->fake = &c->names;
		c->names.name = "n0";
		c->names.addr = c->addr[0];
	}
	for (i = 0; i < REAL_NODES; i++)
		real_node_start(c, i);
}

static inline void real_stop_post(void *arg)
{
	struct real_node *n = arg;

	ddio_iop_stop(n->iop);
}

static inline void real_fake_post(void *arg)
{
	struct real_cluster *c = arg;

	fake_stop(c->fake);
	ddio_gate_open(c->node[0].env[0], &c->node[0].stopped);
}

static inline void real_end(struct real_cluster *c)
{
	char cmd[300];
	uint32_t i, k;

	for (i = 0; i < REAL_NODES; i++) {
		struct real_node *n = &c->node[i];
		bool fake = !i && c->fake;

		n->stop.fn = fake ? real_fake_post : real_stop_post;
		n->stop.arg = fake ? (void *)c : n;
		ddio_env_post(n->env[0], &n->stop);
		ddio_gate_wait(n->env[0], &n->stopped, 0);
		for (k = 0; k < n->nreactors; k++)
			ddio_real_join_thread(n->env[k]);
		if (!fake)
			ddio_iop_free(n->iop);
		for (k = 0; k < n->nreactors; k++)
			ddio_real_free(n->env[k]);
	}
	ddio_conf_free(c->conf);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", c->top);
	if (system(cmd))
		fprintf(stderr, "%s is left\n", c->top);
}

#endif /* DDIO_TEST_FS_REAL_H */
