// SPDX-License-Identifier: LGPL-2.1-or-later
/* Who gets a byte that is named more than once. */
#include <errno.h>
#include <stdlib.h>
#include "base/heap.h"
#include "base/list.h"
#include "map/pieces/settle.h"
#include "map/pieces/union.h"

/* Scraps of which each overlaps the next: they are looked at together. */
#define CHAIN_MAX (UINT64_C(1) << 20)

/**
 * struct claimant - a scrap that covers the byte at hand
 * @order: in settling.order, in the order in which they get bytes
 * @end: in settling.ends, by its end
 */
struct claimant {
	struct ddio_heap_node order;
	struct ddio_heap_node end;
	const struct scrap *scrap;
};

/* @claimant: one for each scrap of the chain at hand; @order and @ends have those at the byte at hand. */
struct settling {
	bool by_share;
	struct scraps *kept;
	struct scraps *claims;
	struct claimant *claimant;
	uint64_t room;
	struct ddio_heap order;
	struct ddio_heap ends;
};

static uint64_t scrap_end(const struct scrap *scrap)
{
	return scrap->off + scrap->len;
}

bool scraps_meet(const struct scraps *scraps)
{
	uint64_t i;

	for (i = 1; i < scraps->n; i++)
		if (scrap_end(&scraps->scrap[i - 1]) > scraps->scrap[i].off)
			return true;
	return false;
}

/* Appends a piece, or lengthens the last one if that goes on into it. */
static int scraps_extend(struct scraps *scraps, const struct scrap *piece)
{
	struct scrap *last = scraps->n ? &scraps->scrap[scraps->n - 1] : NULL;

	if (!last || last->proc != piece->proc || scrap_end(last) != piece->off ||
	    last->share + last->len != piece->share)
		return scraps_add(scraps, piece);
	last->len += piece->len;
	return 0;
}

static int claims_extend(struct scraps *claims, uint64_t off, uint64_t len, uint32_t proc)
{
	/* A claim has no place in a share; with this one, neighbours of one process are joined. */
	struct scrap claim = { off, len, off, proc };

	return scraps_extend(claims, &claim);
}

/* The chain has come to byte @at: lets in the scraps that begin there, from @*i on, and out those that end. */
static int claimants_change(struct settling *s, const struct scrap *scrap, uint64_t n, uint64_t *i,
			    uint64_t at)
{
	struct ddio_heap_node *node;
	int rc = 0;

	for (; *i < n && scrap[*i].off == at && !rc; ++*i) {
		struct claimant *c = &s->claimant[*i];

		*c = (struct claimant){ .scrap = &scrap[*i] };
		rc = ddio_heap_put(&s->order, &c->order,
				   s->by_share ? c->scrap->share : c->scrap->proc);
		if (!rc)
			rc = ddio_heap_put(&s->ends, &c->end, scrap_end(c->scrap));
	}
	while (!rc && (node = ddio_heap_first(&s->ends)) && node->when <= at) {
		ddio_heap_remove(&s->ends, node);
		ddio_heap_remove(&s->order, &ddio_container_of(node, struct claimant, end)->order);
	}
	return rc;
}

/* Gives the bytes from @at to @end, which the same scraps cover, to the first of them. */
static int stretch_settle(struct settling *s, uint64_t at, uint64_t end)
{
	struct ddio_heap_node *node = ddio_heap_first(&s->order);
	const struct scrap *first = ddio_container_of(node, struct claimant, order)->scrap;
	struct scrap piece = { at, end - at, first->share + (at - first->off), first->proc };
	int rc = scraps_extend(s->kept, &piece);

	if (!rc && s->claims && s->order.n > 1)
		rc = claims_extend(s->claims, at, end - at, first->proc);
	return rc;
}

static int claimants_reserve(struct settling *s, uint64_t n)
{
	struct claimant *p;

	if (n > CHAIN_MAX)
		return -EOVERFLOW;
	if (n <= s->room)
		return 0;
	p = realloc(s->claimant, n * sizeof(*p));
	if (!p)
		return -ENOMEM;
	s->claimant = p;
	s->room = n;
	return 0;
}

/* Settles scraps that overlap without a gap. */
static int chain_settle(struct settling *s, const struct scrap *scrap, uint64_t n)
{
	uint64_t at = scrap[0].off, end, i = 0;
	int rc;

	if (n == 1)
		return scraps_extend(s->kept, scrap);
	rc = claimants_reserve(s, n);
	while (!rc) {
		rc = claimants_change(s, scrap, n, &i, at);
		if (rc || !s->order.n)
			break;
		end = ddio_heap_first(&s->ends)->when;
		if (i < n && scrap[i].off < end)
			end = scrap[i].off;
		rc = stretch_settle(s, at, end);
		at = end;
	}
	ddio_heap_fini(&s->order);
	ddio_heap_fini(&s->ends);
	return rc;
}

int scraps_settle(const struct scraps *scraps, bool by_share, struct scraps *kept,
		  struct scraps *claims)
{
	struct settling s = { .by_share = by_share, .kept = kept, .claims = claims };
	uint64_t first = 0, end = 0, i;
	int rc = 0;

	for (i = 0; i <= scraps->n && !rc; i++) {
		if (i > first && (i == scraps->n || scraps->scrap[i].off >= end)) {
			rc = chain_settle(&s, scraps->scrap + first, i - first);
			first = i;
		}
		if (i < scraps->n && scrap_end(&scraps->scrap[i]) > end)
			end = scrap_end(&scraps->scrap[i]);
	}
	free(s.claimant);
	return rc;
}

/* An array of struct map_again that grows. */
struct repeats {
	struct map_again *again;
	uint64_t n;
	uint64_t room;
};

static int again_add(struct repeats *list, const struct map_again *again)
{
	uint64_t room = list->room ? 2 * list->room : 16;
	struct map_again *p;

	if (list->n == FLAT_MAX)
		return -EOVERFLOW;
	if (list->n == list->room) {
		p = reallocarray(list->again, room, sizeof(*p));
		if (!p)
			return -ENOMEM;
		list->again = p;
		list->room = room;
	}
	list->again[list->n++] = *again;
	return 0;
}

/* Adds what the kept pieces, from the first that ends behind the scrap's beginning on, have of the scrap. */
static int scrap_again(struct repeats *list, const struct scrap *scrap, const struct scrap *kept,
		       const struct scrap *kept_end)
{
	int rc = 0;

	for (; kept < kept_end && kept->off < scrap_end(scrap) && !rc; kept++) {
		uint64_t lo = kept->off > scrap->off ? kept->off : scrap->off;
		uint64_t hi = scrap_end(kept) < scrap_end(scrap) ? scrap_end(kept)
								 : scrap_end(scrap);
		struct map_again again = { .off = lo,
					   .len = hi - lo,
					   .from = kept->share + (lo - kept->off),
					   .to = scrap->share + (lo - scrap->off) };

		if (again.from != again.to)
			rc = again_add(list, &again);
	}
	return rc;
}

int again_find(const struct scraps *scraps, const struct scraps *kept, struct map_again **again,
	       uint64_t *n)
{
	struct repeats list = { 0 };
	uint64_t i, k = 0;
	int rc = 0;

	for (i = 0; i < scraps->n && !rc; i++) {
		while (k < kept->n && scrap_end(&kept->scrap[k]) <= scraps->scrap[i].off)
			k++;
		rc = scrap_again(&list, &scraps->scrap[i], kept->scrap + k, kept->scrap + kept->n);
	}
	if (rc) {
		free(list.again);
		return rc;
	}
	*again = list.again;
	*n = list.n;
	return 0;
}

/* Adds the bytes of the scrap from @*at to @end, and goes on to @then. */
static int yield_step(struct scraps *left, const struct scrap *scrap, uint64_t *at, uint64_t end,
		      uint64_t then)
{
	struct scrap piece = { *at, end - *at, scrap->share + (*at - scrap->off), scrap->proc };

	*at = then;
	return end > piece.off ? scraps_extend(left, &piece) : 0;
}

int scraps_yield(const struct scraps *scraps, uint32_t proc, const struct scraps *claims,
		 struct scraps *left)
{
	const struct scrap *claim = claims->scrap, *last = claim + claims->n, *c;
	uint64_t i, at;
	int rc = 0;

	for (i = 0; i < scraps->n && !rc; i++) {
		const struct scrap *scrap = &scraps->scrap[i];
		uint64_t end = scrap_end(scrap);

		at = scrap->off;
		while (claim < last && scrap_end(claim) <= at)
			claim++;
		for (c = claim; c < last && c->off < end && !rc; c++)
			if (c->proc != proc)
				rc = yield_step(left, scrap, &at, c->off > at ? c->off : at,
						scrap_end(c));
		if (!rc && at < end)
			rc = yield_step(left, scrap, &at, end, end);
	}
	return rc;
}
