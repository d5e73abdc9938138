/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Between the parts of the timing model: sector slots, movements and passes.
 */
#ifndef DDIO_HP97560_PRIV_H
#define DDIO_HP97560_PRIV_H

#include "hp97560.h"

/* Returns the time at which a slot begins, rounded down. */
u64 hp97560_slot_ns(const struct hp97560_params *p, u64 slot);

/* Returns the first slot that begins at @ns or later; the inverse of hp97560_slot_ns(). */
u64 hp97560_slot_from(const struct hp97560_params *p, u64 ns);

/* Returns the time to get from one track to another. */
u64 hp97560_move_ns(const struct hp97560_params *p, const struct hp97560_chs *from,
		    const struct hp97560_chs *to);

/* Returns the first slot from @ns on in which a sector passes, the arm being there. */
u64 hp97560_slot_of(const struct hp97560_params *p, u64 lba, u64 ns);

/* Lets a pass go on until @ns. */
void hp97560_pass_advance(const struct hp97560_params *p, struct hp97560_pass *s, u64 ns);

/* Lets a pass go on until @lba is next. */
void hp97560_pass_reach(const struct hp97560_params *p, struct hp97560_pass *s, u64 lba);

/* Extends a pass to @limit.  One that had run out goes on from @ns at the earliest. */
void hp97560_pass_extend(const struct hp97560_params *p, struct hp97560_pass *s, u64 limit, u64 ns);

/* Returns when a pass is over the sector before @lba. */
u64 hp97560_pass_ns(const struct hp97560_params *p, const struct hp97560_pass *s, u64 lba);

/* Forgets what ended by @ns. */
void hp97560_bus_forget(struct hp97560_bus *bus, u64 ns);

#endif /* DDIO_HP97560_PRIV_H */
