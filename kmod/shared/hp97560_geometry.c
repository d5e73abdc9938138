// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The HP 97560's parameters, its geometry and the time of its movements.
 */
#include "hp97560_priv.h"

/* Bounds that keep every sum and product of the model within 64 bits. */
#define MAX_CYLINDERS 65536
#define MAX_HEADS 256
#define MAX_TRACK_SECTORS 65535
#define MAX_DELAY_NS 1000000000U
#define MAX_SQRT_NS 10000000U
#define MAX_BUFFER_SECTORS 65536
#define MAX_PERIOD_NS 1000000000000ULL

/* 4002 rpm: 667 revolutions in 10 s. */
static const struct hp97560_params hp97560_factory = {
	.cylinders = 1962,
	.heads = 19,
	.track_sectors = 72,
	.regions = {
		{ .first_cyl = 1, .first_head = 4, .last_cyl = 646, .last_head = 3, .skew_cyl = 0 },
		{ .first_cyl = 654, .last_cyl = 1298, .last_head = 18, .skew_cyl = 654 },
		{ .first_cyl = 1308, .last_cyl = 1952, .last_head = 18, .skew_cyl = 1308 },
	},
	.n_regions = 3,
	.revolutions = 667,
	.period_ns = 10000000000ULL,
	.track_skew = 8,
	.cyl_skew = 18,
	.short_seek_max = 383,
	.short_seek_ns = 3240000,
	.short_seek_sqrt_ns = 400000,
	.long_seek_ns = 8000000,
	.long_seek_cyl_ns = 8000,
	.head_switch_ns = 1600000,
	.write_settle_ns = 0,
	.overhead_ns = 2200000,
	.bus_sector_ns = 51200,
	.buffer_sectors = 256,
	.dirty_sectors = 128,
	.read_ahead = true,
	.immediate_report = true,
	.bus_overlap = false,
};

void hp97560_params_default(struct hp97560_params *p)
{
	*p = hp97560_factory;
}

static u64 track_index(const struct hp97560_params *p, u32 cyl, u32 head)
{
	return (u64)cyl * p->heads + head;
}

static u64 region_first(const struct hp97560_params *p, const struct hp97560_region *r)
{
	return track_index(p, r->first_cyl, r->first_head);
}

static u64 region_tracks(const struct hp97560_params *p, const struct hp97560_region *r)
{
	return track_index(p, r->last_cyl, r->last_head) - region_first(p, r) + 1;
}

static bool regions_valid(const struct hp97560_params *p)
{
	u64 next = 0;
	u32 i;

	if (!p->n_regions || p->n_regions > HP97560_MAX_REGIONS)
		return false;
	for (i = 0; i < p->n_regions; i++) {
		const struct hp97560_region *r = &p->regions[i];
		u64 first = region_first(p, r);
		u64 last = track_index(p, r->last_cyl, r->last_head);

		if (r->first_head >= p->heads || r->last_head >= p->heads)
			return false;
		if (r->last_cyl >= p->cylinders || first < next || last < first)
			return false;
		if (r->skew_cyl > r->first_cyl)
			return false;
		next = last + 1;
	}
	return true;
}

static bool rotation_valid(const struct hp97560_params *p)
{
	u64 slots = (u64)p->revolutions * p->track_sectors;

	if (!slots || !p->period_ns || p->period_ns > MAX_PERIOD_NS || slots > p->period_ns)
		return false;
	return slots <= div64_u64(1ULL << 62, p->period_ns);
}

static bool delays_valid(const struct hp97560_params *p)
{
	return p->short_seek_ns <= MAX_DELAY_NS && p->short_seek_sqrt_ns <= MAX_SQRT_NS &&
	       p->long_seek_ns <= MAX_DELAY_NS && p->long_seek_cyl_ns <= MAX_DELAY_NS &&
	       p->head_switch_ns <= MAX_DELAY_NS && p->write_settle_ns <= MAX_DELAY_NS &&
	       p->overhead_ns <= MAX_DELAY_NS && p->bus_sector_ns <= MAX_DELAY_NS;
}

/* If data cross the bus while the media turn, the bus must not be the slower of the two. */
static bool bus_valid(const struct hp97560_params *p)
{
	u64 slots = (u64)p->revolutions * p->track_sectors;

	return !p->bus_overlap || p->bus_sector_ns <= div64_u64(p->period_ns, slots);
}

int hp97560_params_check(const struct hp97560_params *p)
{
	if (!p->cylinders || p->cylinders > MAX_CYLINDERS)
		return -EINVAL;
	if (!p->heads || p->heads > MAX_HEADS)
		return -EINVAL;
	if (!p->track_sectors || p->track_sectors > MAX_TRACK_SECTORS)
		return -EINVAL;
	if (p->track_skew > MAX_TRACK_SECTORS || p->cyl_skew > MAX_TRACK_SECTORS ||
	    p->phase >= p->track_sectors)
		return -EINVAL;
	if (!regions_valid(p) || !rotation_valid(p) || !delays_valid(p) || !bus_valid(p))
		return -EINVAL;
	if (p->buffer_sectors > MAX_BUFFER_SECTORS)
		return -EINVAL;
	if (p->dirty_sectors < 4 || p->dirty_sectors > p->buffer_sectors ||
	    p->write_piece > p->dirty_sectors)
		return -EINVAL;
	return 0;
}

u64 hp97560_capacity(const struct hp97560_params *p)
{
	u64 tracks = 0;
	u32 i;

	for (i = 0; i < p->n_regions; i++)
		tracks += region_tracks(p, &p->regions[i]);
	return tracks * p->track_sectors;
}

int hp97560_chs_of(const struct hp97560_params *p, u64 lba, struct hp97560_chs *chs)
{
	u32 i, sector, head;
	u64 track = div_u64_rem(lba, p->track_sectors, &sector);

	for (i = 0; i < p->n_regions; i++) {
		u64 tracks = region_tracks(p, &p->regions[i]);

		if (track < tracks) {
			track += region_first(p, &p->regions[i]);
			chs->cyl = (u32)div_u64_rem(track, p->heads, &head);
			chs->head = head;
			chs->sector = sector;
			return 0;
		}
		track -= tracks;
	}
	return -ERANGE;
}

int hp97560_lba_of(const struct hp97560_params *p, const struct hp97560_chs *chs, u64 *lba)
{
	u64 track = track_index(p, chs->cyl, chs->head);
	u64 before = 0;
	u32 i;

	if (chs->cyl >= p->cylinders || chs->head >= p->heads || chs->sector >= p->track_sectors)
		return -ERANGE;
	for (i = 0; i < p->n_regions; i++) {
		u64 first = region_first(p, &p->regions[i]);
		u64 tracks = region_tracks(p, &p->regions[i]);

		if (track >= first && track - first < tracks) {
			*lba = (before + track - first) * p->track_sectors + chs->sector;
			return 0;
		}
		before += tracks;
	}
	return -ENOENT;
}

/* Returns the cylinder from which the skew counts; a spare track is the region's before it. */
static u32 skew_cyl_of(const struct hp97560_params *p, const struct hp97560_chs *chs)
{
	u64 track = track_index(p, chs->cyl, chs->head);
	u32 i, skew_cyl = 0;

	for (i = 0; i < p->n_regions && region_first(p, &p->regions[i]) <= track; i++)
		skew_cyl = p->regions[i].skew_cyl;
	return skew_cyl;
}

u32 hp97560_angle_of(const struct hp97560_params *p, const struct hp97560_chs *chs)
{
	u64 cyl = chs->cyl - skew_cyl_of(p, chs);
	u64 slot = (u64)p->track_skew * chs->head + p->cyl_skew * cyl + chs->sector + p->phase;
	u32 angle;

	div_u64_rem(slot, p->track_sectors, &angle);
	return angle;
}

/* Returns the largest number whose square is not above @x. */
static u64 root_of(u64 x)
{
	u64 root = 0;
	u64 bit = 1ULL << 62;

	while (bit > x)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

u64 hp97560_seek_ns(const struct hp97560_params *p, u32 distance)
{
	u64 factor = p->short_seek_sqrt_ns;

	if (!distance)
		return 0;
	if (distance <= p->short_seek_max)
		return p->short_seek_ns + root_of(factor * factor * distance);
	return p->long_seek_ns + (u64)p->long_seek_cyl_ns * distance;
}

u64 hp97560_move_ns(const struct hp97560_params *p, const struct hp97560_chs *from,
		    const struct hp97560_chs *to)
{
	u32 distance = from->cyl > to->cyl ? from->cyl - to->cyl : to->cyl - from->cyl;
	u64 seek = hp97560_seek_ns(p, distance);

	if (from->head != to->head && seek < p->head_switch_ns)
		return p->head_switch_ns;
	return seek;
}
