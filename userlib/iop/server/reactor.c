// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reactors of a node, and which disks each of them owns. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/server/priv.h"

static bool same_bus(const struct ddio_conf_disk *a, const struct ddio_conf_disk *b)
{
	return a->node == b->node && a->bus && b->bus && !strcmp(a->bus, b->bus);
}

/* Returns the first disk in the configuration that must share a reactor with this one. */
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

uint32_t server_reactors(const struct ddio_conf *conf, uint32_t node, uint32_t cores)
{
	uint32_t most = count_leaders(conf, node) + (conf->ns_node == node);
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

const struct ddio_disk_info *iop_disk_info(const struct ddio_iop *iop, uint32_t number)
{
	return iop_disk_reactor(iop, number) < 0 ? NULL : &server_of(iop)->where[number].info;
}

struct ddio_disk_id *iop_disk_id(const struct ddio_iop *iop, uint32_t number)
{
	return iop_disk_reactor(iop, number) < 0 ? NULL : &server_of(iop)->where[number].id;
}

/*
 * Deals the leaders round the reactors; every other disk goes to the reactor of its leader.  The name space has its
 * reactor for itself if there are enough: a disk that hangs in a system call holds up no names then.
 */
static void assign_disks(struct server *server)
{
	const struct ddio_conf *conf = server->iop.conf;
	uint32_t n = server->iop.nreactors, i, next = 0;
	uint32_t first = conf->ns_node == server->iop.node &&
			 n > count_leaders(conf, server->iop.node);

	for (i = 0; i < conf->ndisks; i++) {
		uint32_t leader = disk_leader(conf, i);
		struct reactor *reactor;

		server->where[i].reactor = -1;
		if (conf->disks[i].node != server->iop.node)
			continue;
		server->where[i].reactor = leader == i ? (int32_t)(first + next++ % (n - first))
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
	bounds_init(&reactor->bounds);
	jobs_init(&reactor->jobs, &reactor->bounds.at[BOUND_JOBS]);
	ddio_list_init(&reactor->clients);
	ddio_list_init(&reactor->checks);
	server_tell_reactor_init(reactor);
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
		ddio_list_init(&disk->sweep);
		disk->name = conf->disks[i].name;
	}
	return err;
}

void server_reactors_free(struct server *server)
{
	uint32_t i;

	for (i = 0; server->iop.reactors && server->per && i < server->iop.nreactors; i++) {
		free(server->iop.reactors[i].disks);
		if (server->iop.reactors[i].iop)
			jobs_exit(&server->iop.reactors[i].jobs);
		free(server->per[i].parts);
		server_carry_free(&server->per[i]);
	}
	free(server->iop.reactors);
	free(server->per);
	free(server->where);
}
