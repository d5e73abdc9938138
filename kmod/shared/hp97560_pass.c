// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Sector slots, and consecutive sectors that pass under the heads.
 *
 * Slots are counted from time 0.  A slot's beginning in nanoseconds is rounded down,
 * and turning that back into a slot rounds up, which returns the same slot: so
 * an access that ends where the next one begins never loses a revolution to
 * rounding.
 */
#include "hp97560_priv.h"

static u64 period_slots(const struct hp97560_params *p)
{
	return (u64)p->revolutions * p->track_sectors;
}

u64 hp97560_slot_ns(const struct hp97560_params *p, u64 slot)
{
	u64 rest;
	u64 periods = div64_u64_rem(slot, period_slots(p), &rest);

	return periods * p->period_ns + div64_u64(rest * p->period_ns, period_slots(p));
}

u64 hp97560_slot_from(const struct hp97560_params *p, u64 ns)
{
	u64 rest;
	u64 periods = div64_u64_rem(ns, p->period_ns, &rest);
	u64 slots = rest * period_slots(p) + p->period_ns - 1;

	return periods * period_slots(p) + div64_u64(slots, p->period_ns);
}

/* Returns the last slot that has begun at @ns: so many have passed. */
static u64 slots_begun(const struct hp97560_params *p, u64 ns)
{
	return hp97560_slot_from(p, ns + 1) - 1;
}

u64 hp97560_slot_of(const struct hp97560_params *p, u64 lba, u64 ns)
{
	u64 slot = hp97560_slot_from(p, ns);
	struct hp97560_chs chs;
	u32 angle, now;

	if (hp97560_chs_of(p, lba, &chs))
		return slot;
	angle = hp97560_angle_of(p, &chs);
	div_u64_rem(slot, p->track_sectors, &now);
	return slot + (angle >= now ? angle - now : p->track_sectors - (now - angle));
}

/* Returns how many sectors there are from @lba to the end of its track. */
static u64 track_rest(const struct hp97560_params *p, u64 lba)
{
	u32 sector;

	div_u64_rem(lba, p->track_sectors, &sector);
	return p->track_sectors - sector;
}

/* Moves from the sector before s->next to s->next, from @ns on. */
static void pass_step(const struct hp97560_params *p, struct hp97560_pass *s, u64 ns)
{
	struct hp97560_chs from, to;

	if (hp97560_chs_of(p, s->next - 1, &from) || hp97560_chs_of(p, s->next, &to))
		return;
	s->slot = hp97560_slot_of(p, s->next, ns + hp97560_move_ns(p, &from, &to));
}

/* Lets @n sectors of one track pass. */
static void pass_over(const struct hp97560_params *p, struct hp97560_pass *s, u64 n)
{
	bool crosses = n == track_rest(p, s->next);

	s->next += n;
	s->slot += n;
	if (crosses && s->next < s->limit)
		pass_step(p, s, hp97560_slot_ns(p, s->slot));
}

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

void hp97560_pass_advance(const struct hp97560_params *p, struct hp97560_pass *s, u64 ns)
{
	u64 now = slots_begun(p, ns);

	while (s->next < s->limit && s->slot < now) {
		u64 n = least(track_rest(p, s->next), s->limit - s->next);

		pass_over(p, s, least(n, now - s->slot));
	}
}

void hp97560_pass_reach(const struct hp97560_params *p, struct hp97560_pass *s, u64 lba)
{
	while (s->next < lba)
		pass_over(p, s, least(track_rest(p, s->next), lba - s->next));
}

void hp97560_pass_extend(const struct hp97560_params *p, struct hp97560_pass *s, u64 limit, u64 ns)
{
	bool ran_out = s->next == s->limit;
	u64 end_ns;

	if (limit <= s->limit)
		return;
	s->limit = limit;
	if (!ran_out)
		return;
	end_ns = hp97560_slot_ns(p, s->slot);
	pass_step(p, s, end_ns > ns ? end_ns : ns);
}

u64 hp97560_pass_ns(const struct hp97560_params *p, const struct hp97560_pass *s, u64 lba)
{
	struct hp97560_pass copy = *s;

	if (copy.limit > lba && copy.next < lba)
		copy.limit = lba;
	hp97560_pass_reach(p, &copy, lba);
	return hp97560_slot_ns(p, copy.slot);
}
