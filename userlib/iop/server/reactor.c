// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reactors of a node and their disks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/server/priv.h"

/* Requests at a disk whose order is not ours to decide. */
#define DEPTH_MANY 32

static bool same_bus(const struct ddio_conf_disk *a, const struct ddio_conf_disk *b)
{
	return a->node == b->node && a->bus && b->bus && !strcmp(a->bus, b->bus);
}

/* The first disk of the configuration that must be on the same reactor. */
static uint32_t disk_leader(const struct ddio_conf *conf, uint32_t disk)
{
	uint32_t i;

	for (i = 0; i < disk; i++)
		if (same_bus(&conf->disks[i], &conf->disks[disk]))
			return i;
	return disk;
}

static uint32_t count_leaders(const struct ddio_conf *conf, uint32_t node)
{
	uint32_t i, n = 0;

	for (i = 0; i < conf->ndisks; i++)
		n += conf->disks[i].node == node && disk_leader(conf, i) == i;
	return n;
}

/**
 * ddio_iop_reactors - how many reactors a node gets
 * @conf: the cluster
 * @node: which of its nodes
 * @cores: of the machine
 *
 * Return: what the configuration says, or as many as cores; never more than can have a disk, at least 1.
 */
uint32_t ddio_iop_reactors(const struct ddio_conf *conf, uint32_t node, uint32_t cores)
{
	uint32_t most = count_leaders(conf, node);
	uint32_t n = conf->nodes[node].reactors ? conf->nodes[node].reactors : cores;

	if (n > most)
		n = most;
	return n ? n : 1;
}

struct iop_disk *reactor_disk(struct reactor *reactor, uint32_t number)
{
	const struct server *server = server_of(reactor->iop);
	const struct server_where *where;

	if (number >= reactor->iop->conf->ndisks)
		return NULL;
	where = &server->where[number];
	return where->reactor == (int32_t)reactor->index ? &reactor->disks[where->index] : NULL;
}

int iop_disk_reactor(const struct ddio_iop *iop, uint32_t number)
{
	if (number >= iop->conf->ndisks || server_of(iop)->where[number].reactor < 0)
		return -ENOENT;
	return server_of(iop)->where[number].reactor;
}

/* Leaders go round the reactors, the others follow theirs. */
static void assign_disks(struct server *server)
{
	const struct ddio_conf *conf = server->iop.conf;
	uint32_t i, next = 0;

	for (i = 0; i < conf->ndisks; i++) {
		uint32_t leader = disk_leader(conf, i);
		struct reactor *reactor;

		server->where[i].reactor = -1;
		if (conf->disks[i].node != server->iop.node)
			continue;
		server->where[i].reactor = leader == i ? (int32_t)(next++ % server->iop.nreactors)
						       : server->where[leader].reactor;
		reactor = &server->iop.reactors[server->where[i].reactor];
		server->where[i].index = reactor->ndisks++;
	}
}

static int reactor_init(struct server *server, uint32_t index, struct ddio_env *env)
{
	struct reactor *reactor = &server->iop.reactors[index];
	struct server_reactor *sr = &server->per[index];

	reactor->iop = &server->iop;
	reactor->env = env;
	reactor->index = index;
	ddio_list_init(&reactor->clients);
	coll_init(reactor);
	sr->reactor = reactor;
	sr->server = server;
	ddio_list_init(&sr->opening);
	ddio_list_init(&sr->orphans);
	ddio_list_init(&sr->spare);
	reactor->disks = calloc(reactor->ndisks + 1, sizeof(*reactor->disks));
	sr->parts = calloc(reactor->ndisks + 1, sizeof(*sr->parts));
	return reactor->disks && sr->parts ? 0 : -ENOMEM;
}

int server_reactors_new(struct server *server, const struct ddio_iop_opts *opts)
{
	const struct ddio_conf *conf = opts->conf;
	uint32_t i;
	int err = 0;

	server->iop.nreactors = opts->nreactors;
	server->iop.reactors = calloc(opts->nreactors, sizeof(*server->iop.reactors));
	server->per = calloc(opts->nreactors, sizeof(*server->per));
	server->where = calloc(conf->ndisks + 1, sizeof(*server->where));
	if (!server->iop.reactors || !server->per || !server->where)
		return -ENOMEM;
	assign_disks(server);
	for (i = 0; i < opts->nreactors && !err; i++)
		err = reactor_init(server, i, opts->envs[i]);
	for (i = 0; i < conf->ndisks && !err; i++) {
		struct server_where *where = &server->where[i];
		struct iop_disk *disk;

		if (where->reactor < 0)
			continue;
		disk = &server->iop.reactors[where->reactor].disks[where->index];
		disk->reactor = &server->iop.reactors[where->reactor];
		disk->number = i;
		disk->name = conf->disks[i].name;
	}
	return err;
}

void server_reactors_free(struct server *server)
{
	uint32_t i;

	for (i = 0; server->iop.reactors && server->per && i < server->iop.nreactors; i++) {
		free(server->iop.reactors[i].disks);
		free(server->per[i].parts);
	}
	free(server->iop.reactors);
	free(server->per);
	free(server->where);
}

/*
 * May its file be made?  Where the size is given; and that of an emulated disk, which knows its size.
 * The name of a real disk that is not there is a mistake.
 */
static bool disk_may_create(const struct ddio_conf_disk *conf)
{
	return conf->size || (conf->engine && strcmp(conf->engine, "aio"));
}

static int disk_open(struct iop_disk *disk, char *err, size_t err_len)
{
	const struct ddio_conf_disk *conf = &disk->reactor->iop->conf->disks[disk->number];
	struct ddio_disk_spec spec = {
		.name = conf->name,
		.engine = conf->engine,
		.path = conf->path,
		.size = conf->size,
		.options = conf->options,
		.bus = conf->bus,
		.create = disk_may_create(conf),
	};

	int ret = ddio_disk_open(disk->reactor->env, &spec, &disk->disk, err, err_len);

	if (!ret)
		server_of(disk->reactor->iop)->where[disk->number].info =
			*ddio_disk_info(disk->disk);
	return ret;
}

static int disk_store_open(struct iop_disk *disk, char *err, size_t err_len)
{
	const struct ddio_iop *iop = disk->reactor->iop;
	const struct ddio_conf_node *node = &iop->conf->nodes[iop->node];
	struct store_opts opts = {
		.cluster = iop->conf->cluster,
		.disk_name = disk->name,
		.disk = disk->number,
		.sync = node->sync_io,
		.repair = server_of(iop)->repair,
	};
	char dir[4096];

	if (snprintf(dir, sizeof(dir), "%s/%s", node->meta, disk->name) >= (int)sizeof(dir)) {
		snprintf(err, err_len, "node %s: the path of meta is too long", node->name);
		return -ENAMETOOLONG;
	}
	opts.dir = dir;
	return store_open(disk->reactor->env, disk->disk, &opts, &disk->store, err, err_len);
}

static int cache_open(struct iop_disk *disk, char *err, size_t err_len)
{
	const struct ddio_iop *iop = disk->reactor->iop;
	uint64_t bytes = iop->conf->nodes[iop->node].cache;
	/* A disk whose speed is known is one whose arm moves: one request at a time, in our order. */
	struct cache_opts opts = {
		.bytes = bytes,
		.paper = bytes == DDIO_CONF_CACHE_PAPER,
		.install = iop->conf->nodes[iop->node].install,
		.fcfs = !iop->conf->nodes[iop->node].cscan,
		.depth = ddio_disk_info(disk->disk)->peak ? 1 : DEPTH_MANY,
	};
	int ret = cache_new(disk->reactor->env, disk->store, &opts, &disk->cache);

	if (ret)
		snprintf(err, err_len, "disk %s: no memory for a cache", disk->name);
	return ret;
}

static int iop_disk_open(struct iop_disk *disk, char *err, size_t err_len)
{
	int ret = disk_open(disk, err, err_len);

	if (!ret)
		ret = disk_store_open(disk, err, err_len);
	if (!ret)
		ret = cache_open(disk, err, err_len);
	return ret;
}

int server_disks_open(struct server *server, char *err, size_t err_len)
{
	uint32_t i, k;
	int ret = 0;

	for (i = 0; i < server->iop.nreactors && !ret; i++)
		for (k = 0; k < server->iop.reactors[i].ndisks && !ret; k++)
			ret = iop_disk_open(&server->iop.reactors[i].disks[k], err, err_len);
	return ret;
}

void server_disks_close(struct reactor *reactor)
{
	uint32_t i;

	for (i = 0; reactor->disks && i < reactor->ndisks; i++) {
		struct iop_disk *disk = &reactor->disks[i];

		cache_free(disk->cache);
		disk->cache = NULL;
		if (disk->store)
			store_close(disk->store);
		disk->store = NULL;
		if (disk->disk)
			ddio_disk_close(disk->disk);
		disk->disk = NULL;
	}
}
