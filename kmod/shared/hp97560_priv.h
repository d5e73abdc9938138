/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Between the parts of the timing model: slots, movements and streams.
 */
#ifndef DDIO_HP97560_PRIV_H
#define DDIO_HP97560_PRIV_H

#include "hp97560.h"

/* The time at which a slot begins, rounded down. */
u64 hp97560_slot_ns(const struct hp97560_params *p, u64 slot);

/* The first slot that begins at a time or after it; the inverse of hp97560_slot_ns(). */
u64 hp97560_slot_from(const struct hp97560_params *p, u64 ns);

/* Time to get from one track to another. */
u64 hp97560_move_ns(const struct hp97560_params *p, const struct hp97560_chs *from,
		    const struct hp97560_chs *to);

/* The first slot from a time on in which a sector passes, the arm being there. */
u64 hp97560_slot_of(const struct hp97560_params *p, u64 lba, u64 ns);

/* Let a stream go on until a time. */
void hp97560_stream_advance(const struct hp97560_params *p, struct hp97560_stream *s, u64 ns);

/* Let a stream go on until a sector is next. */
void hp97560_stream_reach(const struct hp97560_params *p, struct hp97560_stream *s, u64 lba);

/* Extend a stream.  One that had run out goes on from a time at the earliest. */
void hp97560_stream_extend(const struct hp97560_params *p, struct hp97560_stream *s, u64 limit,
			   u64 ns);

/* When a stream has passed a sector's predecessor. */
u64 hp97560_stream_ns(const struct hp97560_params *p, const struct hp97560_stream *s, u64 lba);

/* Reserve a bus from a time on; the start of what was granted. */
u64 hp97560_bus_grant(struct hp97560_bus *bus, u64 from_ns, u64 length_ns);

/* Forget what lies before a time. */
void hp97560_bus_forget(struct hp97560_bus *bus, u64 ns);

#endif /* DDIO_HP97560_PRIV_H */
