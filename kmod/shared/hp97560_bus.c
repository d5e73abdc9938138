// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * A SCSI bus as a short list of the spans of time in which it is taken.
 */
#include "hp97560_priv.h"

void hp97560_bus_init(struct hp97560_bus *bus)
{
	memset(bus, 0, sizeof(*bus));
}

static void span_remove(struct hp97560_bus *bus, u32 i)
{
	bus->n--;
	memmove(&bus->span[i], &bus->span[i + 1], (bus->n - i) * sizeof(bus->span[0]));
}

void hp97560_bus_forget(struct hp97560_bus *bus, u64 ns)
{
	u32 gone = 0;

	while (gone < bus->n && bus->span[gone].end_ns <= ns)
		gone++;
	bus->n -= gone;
	memmove(&bus->span[0], &bus->span[gone], bus->n * sizeof(bus->span[0]));
}

/* Makes room by giving up the shortest gap: it counts as taken from now on. */
static void span_merge_closest(struct hp97560_bus *bus)
{
	u32 i, best = 0;
	u64 gap, least = U64_MAX;

	for (i = 0; i + 1 < bus->n; i++) {
		gap = bus->span[i + 1].start_ns - bus->span[i].end_ns;
		if (gap < least) {
			least = gap;
			best = i;
		}
	}
	bus->span[best].end_ns = bus->span[best + 1].end_ns;
	span_remove(bus, best + 1);
	bus->lost_gaps++;
}

/* Inserts a span before span @i, merged with the neighbours that it touches. */
static void span_insert(struct hp97560_bus *bus, u32 i, u64 start, u64 end)
{
	bool left = i > 0 && bus->span[i - 1].end_ns == start;
	bool right = i < bus->n && bus->span[i].start_ns == end;

	if (left && right) {
		bus->span[i - 1].end_ns = bus->span[i].end_ns;
		span_remove(bus, i);
	} else if (left) {
		bus->span[i - 1].end_ns = end;
	} else if (right) {
		bus->span[i].start_ns = start;
	} else {
		memmove(&bus->span[i + 1], &bus->span[i], (bus->n - i) * sizeof(bus->span[0]));
		bus->span[i] = (struct hp97560_span){ .start_ns = start, .end_ns = end };
		bus->n++;
	}
}

u64 hp97560_bus_grant(struct hp97560_bus *bus, u64 from_ns, u64 length_ns)
{
	u64 start = from_ns;
	u32 i;

	if (!length_ns)
		return from_ns;
	if (bus->n == HP97560_BUS_SPANS)
		span_merge_closest(bus);
	for (i = 0; i < bus->n && bus->span[i].start_ns < start + length_ns; i++)
		if (bus->span[i].end_ns > start)
			start = bus->span[i].end_ns;
	span_insert(bus, i, start, start + length_ns);
	if (bus->free_at_ns < start + length_ns)
		bus->free_at_ns = start + length_ns;
	bus->transfers++;
	bus->busy_ns += length_ns;
	bus->waits += start > from_ns;
	bus->wait_ns += start - from_ns;
	return start;
}
