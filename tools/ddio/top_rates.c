// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include "top.h"
#include "top_rate.h"

/* A cluster's nodes come in the same order each time, unless its configuration changed. */
static const struct ddio_node_state *node_named(const struct metrics *m, uint32_t guess,
						const char *name)
{
	uint32_t i;

	if (guess < m->nnodes && !strcmp(m->node[guess].name, name))
		return &m->node[guess];
	for (i = 0; i < m->nnodes; i++)
		if (!strcmp(m->node[i].name, name))
			return &m->node[i];
	return NULL;
}

static struct top_interval node_interval(const struct metrics *then, uint32_t guess,
					 const struct ddio_node_state *now)
{
	const struct ddio_node_state *old = node_named(then, guess, now->name);
	bool anew = !old || old->error || old->uptime_ns > now->uptime_ns;

	return (struct top_interval){ (double)(now->uptime_ns - (anew ? 0 : old->uptime_ns)) / 1e9,
				      anew };
}

struct top_interval top_interval(const struct metrics *then, const struct metrics *now,
				 const char *name)
{
	const struct ddio_node_state *node = node_named(now, 0, name);

	if (!node || node->error)
		return (struct top_interval){ 0 };
	return node_interval(then, (uint32_t)(node - now->node), node);
}

double top_rate(const struct top_interval *in, uint64_t then, uint64_t now)
{
	if (in->seconds <= 0)
		return 0;
	return (double)(now - (in->anew || then > now ? 0 : then)) / in->seconds;
}

static const struct ddio_disk_state *disk_named(const struct metrics *m, uint32_t guess,
						const struct ddio_disk_state *now)
{
	uint32_t i;

	if (guess < m->ndisks && !strcmp(m->disk[guess].name, now->name) &&
	    !strcmp(m->disk[guess].node, now->node))
		return &m->disk[guess];
	for (i = 0; i < m->ndisks; i++)
		if (!strcmp(m->disk[i].name, now->name) && !strcmp(m->disk[i].node, now->node))
			return &m->disk[i];
	return NULL;
}

static void fill(struct top_disk *d, const struct top_interval *in,
		 const struct ddio_disk_state *then, const struct ddio_disk_state *now)
{
	static const struct ddio_disk_state none;
	double hits, looks;

	then = then ? then : &none;
	hits = top_rate(in, then->cache_hits, now->cache_hits);
	looks = hits + top_rate(in, then->cache_misses, now->cache_misses);
	d->now = now;
	d->busy = top_rate(in, then->busy_ns, now->busy_ns) / 1e9;
	if (d->busy > 1)
		d->busy = 1;
	d->read = top_rate(in, then->read_bytes, now->read_bytes);
	d->written = top_rate(in, then->write_bytes, now->write_bytes);
	d->requests =
		top_rate(in, then->reads, now->reads) + top_rate(in, then->writes, now->writes);
	d->hits = looks > 0 ? hits / looks : -1;
}

/* The busiest first, then in the configuration's order, which is that of memory. */
static int by_busy(const void *a, const void *b)
{
	const struct top_disk *x = a, *y = b;

	if (x->busy != y->busy)
		return x->busy < y->busy ? 1 : -1;
	return x->now < y->now ? -1 : x->now > y->now;
}

uint32_t top_disks(const struct metrics *then, const struct metrics *now, struct top_disk *disk)
{
	struct top_interval in = { 0 };
	const char *node = "";
	uint32_t i, n = 0;

	for (i = 0; i < now->ndisks; i++) {
		const struct ddio_disk_state *d = &now->disk[i];

		if (d->error)
			continue;
		if (strcmp(node, d->node)) {
			node = d->node;
			in = top_interval(then, now, node);
		}
		fill(&disk[n++], &in, disk_named(then, i, d), d);
	}
	if (n)
		qsort(disk, n, sizeof(*disk), by_busy);
	return n;
}

static void sum_nodes(const struct metrics *then, const struct metrics *now, struct top_sum *sum)
{
	static const struct ddio_node_state none;
	uint32_t i;

	for (i = 0; i < now->nnodes; i++) {
		const struct ddio_node_state *n = &now->node[i], *old;
		struct top_interval in;

		if (n->error) {
			sum->down++;
			continue;
		}
		sum->up++;
		in = node_interval(then, i, n);
		old = node_named(then, i, n->name);
		old = old ? old : &none;
		sum->requests += top_rate(&in, old->requests, n->requests);
		sum->collectives += top_rate(&in, old->collectives, n->collectives);
		sum->connections += n->connections;
	}
}

void top_sum(const struct metrics *then, const struct metrics *now, const struct top_disk *disk,
	     uint32_t n, struct top_sum *sum)
{
	uint32_t i;

	*sum = (struct top_sum){ 0 };
	sum_nodes(then, now, sum);
	for (i = 0; i < n; i++) {
		sum->read += disk[i].read;
		sum->written += disk[i].written;
	}
}
