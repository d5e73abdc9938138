// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The simulated world: networks.
 *
 * A link carries one message at a time.  On the torus a message holds all links of its path
 * while it passes, since its head is at the last router while its tail has not left the
 * first: that is wormhole routing, and why one busy link keeps others idle.  A message goes along its
 * row first, then along its column, the shorter way round.  It starts at the first moment at which all
 * its links are free for as long as it takes; messages are granted their time in the order in which
 * they leave, and a granted time is never moved.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sim/priv.h"

/* The links of a node. */
enum { EAST, WEST, SOUTH, NORTH, INJECT, EJECT, LINKS };

#define NS 1000000000ULL
#define PUT_HEADER 16u /* bytes that each Memput has beside its data: assumed */

const struct ddio_sim_net ddio_sim_net_1994 = {
	.kind = DDIO_SIM_NET_TORUS,
	.bytes_per_s = 200000000,
	.hop_ns = 20,
	.columns = 6,
	.rows = 6,
};

int ddio_sim_set_net(struct ddio_sim *sim, const struct ddio_sim_net *model)
{
	uint64_t nodes = (uint64_t)model->columns * model->rows;

	if (sim->nprocs)
		return -EINVAL;
	if (model->kind == DDIO_SIM_NET_TORUS) {
		if (!nodes || nodes > UINT32_MAX / LINKS)
			return -EINVAL;
	}
	sim_net_fini(&sim->net);
	sim->net.model = *model;
	return 0;
}

void sim_net_fini(struct sim_net *net)
{
	uint32_t i;

	for (i = 0; i < net->nlinks; i++)
		free(net->link[i].span);
	free(net->link);
	net->link = NULL;
	net->nlinks = 0;
}

void ddio_sim_net_stats(const struct ddio_sim *sim, struct ddio_sim_net_stats *stats)
{
	*stats = sim->net.stats;
}

static uint64_t transfer_ns(const struct sim_net *net, uint64_t len)
{
	uint64_t rate = net->model.bytes_per_s;

	return rate ? (len * NS + rate - 1) / rate : 0;
}

/* Returns a link, made when it is first used. */
static struct sim_link *link_of(struct sim_net *net, uint32_t number)
{
	uint32_t n = net->nlinks;
	struct sim_link *more;

	if (number >= n) {
		n = number + 1 + number / 2;
		more = realloc(net->link, n * sizeof(*more));
		if (!more)
			abort();
		memset(more + net->nlinks, 0, (n - net->nlinks) * sizeof(*more));
		net->link = more;
		net->nlinks = n;
	}
	return &net->link[number];
}

/* Returns the first span that has not ended by @when. */
static uint32_t link_search(const struct sim_link *link, uint64_t when)
{
	uint32_t low = link->first, high = link->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (link->span[middle].end <= when)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the first time, from @when on, at which the link is free for @took. */
static uint64_t link_free(const struct sim_link *link, uint64_t when, uint64_t took)
{
	uint32_t i;

	for (i = link_search(link, when); i < link->n; i++) {
		if (link->span[i].start >= when + took)
			break;
		when = link->span[i].end;
	}
	return when;
}

/* Forgets spans that have ended by @now, now and then. */
static void link_forget(struct sim_link *link, uint64_t now)
{
	while (link->first < link->n && link->span[link->first].end <= now)
		link->first++;
	if (link->first < 64 || link->first < link->n / 2)
		return;
	link->n -= link->first;
	memmove(link->span, link->span + link->first, link->n * sizeof(*link->span));
	link->first = 0;
}

/* Joins the time to the span before or after it, if it touches one, so that a backlog is one span. */
static bool link_join(struct sim_link *link, uint32_t at, uint64_t start, uint64_t took)
{
	struct sim_span *before = at > link->first ? &link->span[at - 1] : NULL;
	struct sim_span *behind = at < link->n ? &link->span[at] : NULL;
	bool joins_before = before && before->end == start;
	bool joins_behind = behind && behind->start == start + took;

	if (joins_before && joins_behind) {
		before->end = behind->end;
		link->n--;
		memmove(behind, behind + 1, (link->n - at) * sizeof(*behind));
	} else if (joins_before) {
		before->end = start + took;
	} else if (joins_behind) {
		behind->start = start;
	}
	return joins_before || joins_behind;
}

static void link_take(struct sim_link *link, uint64_t now, uint64_t start, uint64_t took)
{
	struct sim_span *more;
	uint32_t i, at;

	link_forget(link, now);
	for (at = link->n; at > link->first && link->span[at - 1].start > start;)
		at--;
	if (link_join(link, at, start, took))
		return;
	if (link->n == link->cap) {
		link->cap = link->cap ? 2 * link->cap : 16;
		more = realloc(link->span, link->cap * sizeof(*more));
		if (!more)
			abort();
		link->span = more;
	}
	for (i = link->n++; i > at; i--)
		link->span[i] = link->span[i - 1];
	link->span[at] = (struct sim_span){ start, start + took };
}

static uint64_t switched_arrival(struct sim_net *net, uint32_t from, uint32_t to, uint64_t len,
				 uint64_t when)
{
	uint64_t took = transfer_ns(net, len), start, begun;

	start = link_free(link_of(net, 2 * from), when, took);
	link_take(link_of(net, 2 * from), when, start, took);
	start += net->model.hop_ns;
	begun = link_free(link_of(net, 2 * to + 1), start, took);
	link_take(link_of(net, 2 * to + 1), when, begun, took);
	net->stats.wait_ns += begun - net->model.hop_ns - when;
	return begun + took;
}

/* Returns the next link of a path along a dimension of @size, from *@at to @to; *@at moves on. */
static uint32_t torus_way(uint32_t *at, uint32_t to, uint32_t size, uint32_t up)
{
	uint32_t ahead = (to + size - *at) % size;

	if (ahead <= size / 2) {
		*at = (*at + 1) % size;
		return up;
	}
	*at = (*at + size - 1) % size;
	return up + 1;
}

/* Lists the links from one node to another, columns + rows + 2 at most. */
static uint32_t torus_path(const struct sim_net *net, uint32_t from, uint32_t to, uint32_t *path)
{
	uint32_t columns = net->model.columns, rows = net->model.rows, n = 0, here;
	uint32_t x = from % columns, y = from / columns;

	path[n++] = from * LINKS + INJECT;
	while (x != to % columns) {
		here = y * columns + x;
		path[n++] = here * LINKS + torus_way(&x, to % columns, columns, EAST);
	}
	while (y != to / columns) {
		here = y * columns + x;
		path[n++] = here * LINKS + torus_way(&y, to / columns, rows, SOUTH);
	}
	path[n++] = to * LINKS + EJECT;
	return n;
}

static uint64_t torus_arrival(struct sim_net *net, uint32_t from, uint32_t to, uint64_t len,
			      uint64_t when)
{
	uint32_t path[net->model.columns + net->model.rows + 2];
	uint32_t nodes = net->model.columns * net->model.rows;
	uint32_t i, n = torus_path(net, from % nodes, to % nodes, path);
	uint64_t took = transfer_ns(net, len) + (n - 1) * net->model.hop_ns;
	uint64_t start = when, tried;

	do {
		tried = start;
		for (i = 0; i < n; i++)
			start = link_free(link_of(net, path[i]), start, took);
	} while (start != tried);
	for (i = 0; i < n; i++)
		link_take(link_of(net, path[i]), when, start, took);
	net->stats.wait_ns += start - when;
	return start + took;
}

static uint64_t net_arrival(struct sim_net *net, uint32_t from, uint32_t to, uint64_t len,
			    uint64_t when)
{
	net->stats.messages++;
	net->stats.bytes += len;
	if (from == to)
		return when;
	switch (net->model.kind) {
	case DDIO_SIM_NET_TORUS:
		return torus_arrival(net, from, to, len, when);
	case DDIO_SIM_NET_SWITCHED:
		return switched_arrival(net, from, to, len, when);
	default:
		return when + transfer_ns(net, len);
	}
}

uint64_t sim_net_puts(struct sim_net *net, uint32_t from, uint32_t to, uint64_t len, uint64_t put,
		      uint64_t when)
{
	uint64_t n = put ? len / put : 1, i, arrived = when;

	if (n <= 1 || net->model.kind == DDIO_SIM_NET_IDEAL)
		return net_arrival(net, from, to, len, when);
	for (i = 0; i < n; i++)
		arrived = net_arrival(net, from, to, put + PUT_HEADER, when);
	return arrived;
}
