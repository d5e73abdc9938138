// SPDX-License-Identifier: LGPL-2.1-or-later
/* The disks of a node, with their stores and caches: opening and closing them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "iop/lmdb/room.h"
#include "iop/server/priv.h"

/* Requests under way at a disk that orders them itself. */
#define DEPTH_MANY 32

/*
 * Returns true if the disk's file may be created: if a size is given, or the disk is emulated and knows its
 * size.  A path that does not exist is a mistake for any other disk.
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

static void disk_identify(const struct iop_disk *disk)
{
	struct server_where *where = &server_of(disk->reactor->iop)->where[disk->number];

	store_identity(disk->store, &where->id);
	where->ends = *store_ends(disk->store);
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
		.reserve = LMDB_RESERVE,
		.sums = iop->conf->checksums,
		.repair = server_of(iop)->repair,
		.bounds = &disk->reactor->bounds,
	};
	char dir[4096];
	int ret;

	if (snprintf(dir, sizeof(dir), "%s/%s", node->meta, disk->name) >= (int)sizeof(dir)) {
		snprintf(err, err_len, "node %s: the path of meta is too long", node->name);
		return -ENAMETOOLONG;
	}
	opts.dir = dir;
	ret = store_open(disk->reactor->env, disk->disk, &opts, &disk->store, err, err_len);
	if (!ret)
		disk_identify(disk);
	return ret;
}

static int cache_open(struct iop_disk *disk, char *err, size_t err_len)
{
	const struct ddio_iop *iop = disk->reactor->iop;
	uint64_t bytes = iop->conf->nodes[iop->node].cache;
	/* A disk whose speed is known has an arm that moves: one request at a time, in our order. */
	struct cache_opts opts = {
		.bytes = bytes,
		.paper = bytes == DDIO_CONF_CACHE_PAPER,
		.install = iop->conf->nodes[iop->node].install,
		/* The papers' collectives write every block themselves. */
		.ends = bytes != DDIO_CONF_CACHE_PAPER,
		.fcfs = !iop->conf->nodes[iop->node].cscan,
		.late_ahead = iop->conf->nodes[iop->node].late_ahead,
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

		if (disk->store)
			server_tell_disk_close(disk);
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
