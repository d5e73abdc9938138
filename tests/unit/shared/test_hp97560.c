// SPDX-License-Identifier: GPL-2.0-only
/* The parts of the timing model: parameters, geometry, slots, streams, bus. */
#include <math.h>
#include "tests/unit/shared/hp97560_ut.h"

#define TIMES 200000
static void default_params_are_valid(void)
{
	struct hp97560_params p;

	hp97560_params_default(&p);
	CU_ASSERT_EQUAL(hp97560_params_check(&p), 0);
	CU_ASSERT(p.immediate_report && p.read_ahead && !p.bus_overlap);
}

static void bad_params_are_refused(void)
{
	struct hp97560_params good, p;

	hp97560_params_default(&good);
#define REFUSED(change)                                             \
	do {                                                        \
		p = good;                                           \
		change;                                             \
		CU_ASSERT_EQUAL(hp97560_params_check(&p), -EINVAL); \
	} while (0)
	REFUSED(p.cylinders = 0);
	REFUSED(p.cylinders = 1952); /* a region ends beyond */
	REFUSED(p.cylinders = UINT32_MAX);
	REFUSED(p.heads = 0);
	REFUSED(p.heads = 18);
	REFUSED(p.heads = 257);
	REFUSED(p.track_sectors = 0);
	REFUSED(p.track_sectors = 65536);
	REFUSED(p.n_regions = 0);
	REFUSED(p.n_regions = HP97560_MAX_REGIONS + 1);
	REFUSED(p.regions[1].first_cyl = 646); /* overlaps the first */
	REFUSED(p.regions[0].last_cyl = 0);
	REFUSED(p.regions[2].last_head = 19);
	REFUSED(p.regions[1].skew_cyl = 655);
	REFUSED(p.revolutions = 0);
	REFUSED(p.revolutions = UINT32_MAX);
	REFUSED(p.period_ns = 0);
	REFUSED(p.period_ns = 48023); /* slots shorter than a nanosecond */
	REFUSED(p.period_ns = UINT64_MAX);
	REFUSED(p.track_skew = 65536);
	REFUSED(p.phase = 72);
	REFUSED(p.write_piece = 129);
	REFUSED(p.cyl_skew = 65536);
	REFUSED(p.short_seek_ns = 1000000001);
	REFUSED(p.short_seek_sqrt_ns = 10000001);
	REFUSED(p.long_seek_ns = 1000000001);
	REFUSED(p.long_seek_cyl_ns = 1000000001);
	REFUSED(p.head_switch_ns = UINT32_MAX);
	REFUSED(p.write_settle_ns = UINT32_MAX);
	REFUSED(p.overhead_ns = UINT32_MAX);
	REFUSED(p.bus_sector_ns = UINT32_MAX);
	REFUSED(p.bus_sector_ns = 208230; p.bus_overlap = true);
	REFUSED(p.dirty_sectors = 3);
	REFUSED(p.dirty_sectors = 257);
	REFUSED(p.buffer_sectors = 127);
	REFUSED(p.buffer_sectors = 65537);
#undef REFUSED
	good.bus_overlap = true;
	good.bus_sector_ns = 208229;
	CU_ASSERT_EQUAL(hp97560_params_check(&good), 0);
}

static void capacity_is_the_papers(void)
{
	struct hp97560_params p;

	hp97560_params_default(&p);
	CU_ASSERT_EQUAL(hp97560_capacity(&p), 2647080);
	CU_ASSERT_EQUAL(hp97560_capacity(&p) * HP97560_SECTOR_BYTES, 1355304960);
}

static void lba_lies_at(const struct hp97560_params *p, u64 lba, u32 cyl, u32 head, u32 sector)
{
	struct hp97560_chs chs = { 0 };
	u64 back = U64_MAX;

	CU_ASSERT_EQUAL(hp97560_chs_of(p, lba, &chs), 0);
	CU_ASSERT(chs.cyl == cyl && chs.head == head && chs.sector == sector);
	CU_ASSERT_EQUAL(hp97560_lba_of(p, &chs, &back), 0);
	CU_ASSERT_EQUAL(back, lba);
}

static void regions_begin_and_end_where_published(void)
{
	struct hp97560_params p;
	u64 region = 645 * 19 * 72;

	hp97560_params_default(&p);
	lba_lies_at(&p, 0, 1, 4, 0);
	lba_lies_at(&p, 71, 1, 4, 71);
	lba_lies_at(&p, 72, 1, 5, 0);
	lba_lies_at(&p, 15 * 72, 2, 0, 0);
	lba_lies_at(&p, region - 1, 646, 3, 71);
	lba_lies_at(&p, region, 654, 0, 0);
	lba_lies_at(&p, 2 * region - 1, 1298, 18, 71);
	lba_lies_at(&p, 2 * region, 1308, 0, 0);
	lba_lies_at(&p, 3 * region - 1, 1952, 18, 71);
}

/* Walk all tracks: data tracks carry the addresses in order, the others none. */
static void every_track_maps_both_ways(void)
{
	struct hp97560_chs chs = { 0 }, back;
	struct hp97560_params p;
	u64 next = 0, lba, wrong = 0, spares = 0;

	hp97560_params_default(&p);
	for (chs.cyl = 0; chs.cyl < p.cylinders; chs.cyl++) {
		for (chs.head = 0; chs.head < p.heads; chs.head++) {
			int err = hp97560_lba_of(&p, &chs, &lba);

			if (err) {
				wrong += err != -ENOENT;
				spares++;
				continue;
			}
			wrong += lba != next || hp97560_chs_of(&p, lba, &back) ||
				 back.cyl != chs.cyl || back.head != chs.head || back.sector;
			next += p.track_sectors;
		}
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(next, 2647080);
	CU_ASSERT_EQUAL(spares, 1962 * 19 - 1935 * 19);
}

static void places_off_the_media_are_refused(void)
{
	struct hp97560_chs chs = { .cyl = 1962 };
	struct hp97560_params p;
	u64 lba;

	hp97560_params_default(&p);
	CU_ASSERT_EQUAL(hp97560_lba_of(&p, &chs, &lba), -ERANGE);
	chs = (struct hp97560_chs){ .cyl = 5, .head = 19 };
	CU_ASSERT_EQUAL(hp97560_lba_of(&p, &chs, &lba), -ERANGE);
	chs = (struct hp97560_chs){ .cyl = 5, .sector = 72 };
	CU_ASSERT_EQUAL(hp97560_lba_of(&p, &chs, &lba), -ERANGE);
	CU_ASSERT_EQUAL(hp97560_chs_of(&p, 2647080, &chs), -ERANGE);
	CU_ASSERT_EQUAL(hp97560_chs_of(&p, U64_MAX, &chs), -ERANGE);
}

static void skew_is_counted_within_each_region(void)
{
	struct hp97560_params p;
	struct hp97560_chs chs = { .cyl = 1, .head = 4 };

	hp97560_params_default(&p);
	CU_ASSERT_EQUAL(hp97560_angle_of(&p, &chs), 50);
	chs = (struct hp97560_chs){ .cyl = 646, .head = 3, .sector = 71 };
	CU_ASSERT_EQUAL(hp97560_angle_of(&p, &chs), (646 * 18 + 3 * 8 + 71) % 72);
	chs = (struct hp97560_chs){ .cyl = 654 };
	CU_ASSERT_EQUAL(hp97560_angle_of(&p, &chs), 0);
	chs = (struct hp97560_chs){ .cyl = 655, .head = 2, .sector = 3 };
	CU_ASSERT_EQUAL(hp97560_angle_of(&p, &chs), 37);
	chs = (struct hp97560_chs){ .cyl = 1308 };
	CU_ASSERT_EQUAL(hp97560_angle_of(&p, &chs), 0);
	chs = (struct hp97560_chs){ .cyl = 0 };
	CU_ASSERT_EQUAL(hp97560_angle_of(&p, &chs), 0);
	/* A phase turns the whole disk. */
	p.phase = 71;
	CU_ASSERT_EQUAL(hp97560_angle_of(&p, &chs), 71);
	chs = (struct hp97560_chs){ .cyl = 655, .head = 2, .sector = 3 };
	CU_ASSERT_EQUAL(hp97560_angle_of(&p, &chs), 36);
}

static void seeks_follow_both_formulas(void)
{
	struct hp97560_params p;
	u32 d;

	hp97560_params_default(&p);
	CU_ASSERT_EQUAL(hp97560_seek_ns(&p, 0), 0);
	for (d = 1; d < p.cylinders; d++) {
		double ms = d <= 383 ? 3.24 + 0.4 * sqrt(d) : 8 + 0.008 * d;

		CU_ASSERT(fabs((double)hp97560_seek_ns(&p, d) - ms * 1e6) <= 1);
		CU_ASSERT(hp97560_seek_ns(&p, d) > hp97560_seek_ns(&p, d - 1));
	}
}

static void head_switch_hides_behind_a_seek(void)
{
	struct hp97560_chs a = { .cyl = 10, .head = 1 };
	struct hp97560_chs b = { .cyl = 10, .head = 2 };
	struct hp97560_params p;

	hp97560_params_default(&p);
	CU_ASSERT_EQUAL(hp97560_move_ns(&p, &a, &a), 0);
	CU_ASSERT_EQUAL(hp97560_move_ns(&p, &a, &b), 1600000);
	b.cyl = 11;
	CU_ASSERT_EQUAL(hp97560_move_ns(&p, &a, &b), 3640000);
	CU_ASSERT_EQUAL(hp97560_move_ns(&p, &b, &a), 3640000);
	p.head_switch_ns = 5000000;
	CU_ASSERT_EQUAL(hp97560_move_ns(&p, &a, &b), 5000000);
}

/* Computes the same in 128 bits, without any cleverness. */
static void slots_agree_with_wide_arithmetic(void)
{
	struct hp97560_params p;
	uint64_t seed = 1;
	int i;

	hp97560_params_default(&p);
	for (i = 0; i < TIMES; i++) {
		u64 ns = ddio_rand_below(&seed, i % 2 ? HUGE_NS : 1000000000);
		unsigned __int128 x = (unsigned __int128)ns * 48024;
		u64 slot = (u64)((x + 9999999999) / 10000000000);

		CU_ASSERT_EQUAL(hp97560_slot_from(&p, ns), slot);
		x = (unsigned __int128)slot * 10000000000;
		CU_ASSERT_EQUAL(hp97560_slot_ns(&p, slot), (u64)(x / 48024));
		CU_ASSERT_EQUAL(hp97560_slot_from(&p, hp97560_slot_ns(&p, slot)), slot);
	}
	CU_ASSERT_EQUAL(hp97560_slot_ns(&p, 48024ULL * 100000000), 1000000000000000000ULL);
}

/* The plain twin of a pass: one sector at a time. */
static void twin_advance(const struct hp97560_params *p, struct hp97560_pass *s, u64 ns)
{
	struct hp97560_chs from, to;

	while (s->next < s->limit && hp97560_slot_ns(p, s->slot + 1) <= ns) {
		s->next++;
		s->slot++;
		if (s->next == s->limit || s->next % p->track_sectors)
			continue;
		hp97560_chs_of(p, s->next - 1, &from);
		hp97560_chs_of(p, s->next, &to);
		s->slot = hp97560_slot_of(
			p, s->next, hp97560_slot_ns(p, s->slot) + hp97560_move_ns(p, &from, &to));
	}
}

static void streams_pass_sector_by_sector(void)
{
	struct hp97560_params p;
	uint64_t seed = 5;
	int i, j;

	hp97560_params_default(&p);
	for (i = 0; i < 2000; i++) {
		/* near the regions' ends every other time */
		u64 lba = i % 2 ? ddio_rand_below(&seed, 2640000)
				: 645 * 19 * 72 - ddio_rand_below(&seed, 500);
		u64 ns = ddio_rand_below(&seed, HUGE_NS);
		struct hp97560_pass s = { .next = lba,
					  .limit = lba + 1 + ddio_rand_below(&seed, 900) };
		struct hp97560_pass twin;

		s.slot = hp97560_slot_of(&p, lba, ns);
		twin = s;
		for (j = 0; j < 6; j++) {
			u64 end = s.limit;

			ns += ddio_rand_below(&seed, 100000000);
			CU_ASSERT_EQUAL(hp97560_pass_ns(&p, &s, end),
					hp97560_pass_ns(&p, &twin, end));
			hp97560_pass_advance(&p, &s, ns);
			twin_advance(&p, &twin, ns);
			CU_ASSERT(s.next == twin.next && s.slot == twin.slot);
		}
	}
}

static void a_sector_passes_only_at_its_angle(void)
{
	struct hp97560_params p;
	struct hp97560_chs chs;
	uint64_t seed = 11;
	int i;

	hp97560_params_default(&p);
	for (i = 0; i < 20000; i++) {
		u64 lba = ddio_rand_below(&seed, 2647080);
		u64 ns = ddio_rand_below(&seed, HUGE_NS);
		u64 slot = hp97560_slot_of(&p, lba, ns);

		CU_ASSERT_EQUAL_FATAL(hp97560_chs_of(&p, lba, &chs), 0);
		CU_ASSERT_EQUAL(slot % 72, hp97560_angle_of(&p, &chs));
		CU_ASSERT(slot >= hp97560_slot_from(&p, ns));
		CU_ASSERT(slot < hp97560_slot_from(&p, ns) + 72);
	}
}

/* Grants against a list that is kept whole: none may overlap, each is the earliest. */
static void bus_grants_the_earliest_gap(void)
{
	enum { N = 60 };
	struct hp97560_bus bus;
	struct hp97560_span all[N];
	uint64_t seed = 17;
	int round, i, j;

	for (round = 0; round < 300; round++) {
		hp97560_bus_init(&bus);
		for (i = 0; i < N; i++) {
			u64 from = ddio_rand_below(&seed, 4000);
			u64 length = 1 + ddio_rand_below(&seed, 100);
			u64 best = from;
			bool moved = true;

			while (moved) {
				moved = false;
				for (j = 0; j < i; j++) {
					if (all[j].start_ns < best + length &&
					    all[j].end_ns > best) {
						best = all[j].end_ns;
						moved = true;
					}
				}
			}
			all[i].start_ns = hp97560_bus_grant(&bus, from, length);
			all[i].end_ns = all[i].start_ns + length;
			CU_ASSERT_EQUAL(all[i].start_ns, best);
		}
		CU_ASSERT_EQUAL(bus.lost_gaps, 0);
		CU_ASSERT_EQUAL(bus.transfers, N);
	}
}

/* More gaps than there are spans: some are given up, but nothing overlaps. */
static void bus_that_is_full_never_overlaps(void)
{
	enum { N = 600 };
	struct hp97560_bus bus;
	struct hp97560_span all[N];
	uint64_t seed = 23;
	int i, j;

	hp97560_bus_init(&bus);
	for (i = 0; i < N; i++) {
		u64 from = ddio_rand_below(&seed, 10000000);
		u64 length = 1 + ddio_rand_below(&seed, 1000);

		all[i].start_ns = hp97560_bus_grant(&bus, from, length);
		all[i].end_ns = all[i].start_ns + length;
		CU_ASSERT(all[i].start_ns >= from);
		CU_ASSERT(bus.n <= HP97560_BUS_SPANS);
		for (j = 0; j < i; j++)
			CU_ASSERT(all[j].end_ns <= all[i].start_ns ||
				  all[j].start_ns >= all[i].end_ns);
	}
	CU_ASSERT(bus.lost_gaps > 0);
	for (i = 1; i < (int)bus.n; i++)
		CU_ASSERT(bus.span[i - 1].end_ns < bus.span[i].start_ns);
}

static void bus_forgets_only_the_past(void)
{
	struct hp97560_bus bus;

	hp97560_bus_init(&bus);
	CU_ASSERT_EQUAL(hp97560_bus_grant(&bus, 100, 50), 100);
	CU_ASSERT_EQUAL(hp97560_bus_grant(&bus, 200, 50), 200);
	CU_ASSERT_EQUAL(hp97560_bus_grant(&bus, 150, 50), 150);
	CU_ASSERT_EQUAL(bus.n, 1);
	CU_ASSERT_EQUAL(hp97560_bus_grant(&bus, 500, 10), 500);
	hp97560_bus_forget(&bus, 249);
	CU_ASSERT_EQUAL(bus.n, 2);
	hp97560_bus_forget(&bus, 250);
	CU_ASSERT_EQUAL(bus.n, 1);
	CU_ASSERT_EQUAL(hp97560_bus_grant(&bus, 495, 10), 510);
	CU_ASSERT_EQUAL(hp97560_bus_grant(&bus, 495, 5), 495);
	CU_ASSERT_EQUAL(hp97560_bus_grant(&bus, 505, 0), 505);
	CU_ASSERT_EQUAL(bus.free_at_ns, 520);
	CU_ASSERT_EQUAL(bus.waits, 1);
	CU_ASSERT_EQUAL(bus.wait_ns, 15);
}

static const struct ut_case params_cases[] = {
	{ "the default parameters are valid", default_params_are_valid },
	{ "bad parameters are refused", bad_params_are_refused },
	{ NULL, NULL },
};

static const struct ut_case geometry_cases[] = {
	{ "the capacity is the papers'", capacity_is_the_papers },
	{ "regions begin and end where published", regions_begin_and_end_where_published },
	{ "every track maps both ways", every_track_maps_both_ways },
	{ "places off the media are refused", places_off_the_media_are_refused },
	{ "skew is counted within each region", skew_is_counted_within_each_region },
	{ "seeks follow both formulas", seeks_follow_both_formulas },
	{ "a head switch hides behind a seek", head_switch_hides_behind_a_seek },
	{ NULL, NULL },
};

static const struct ut_case stream_cases[] = {
	{ "slots agree with wide arithmetic", slots_agree_with_wide_arithmetic },
	{ "a sector passes only at its angle", a_sector_passes_only_at_its_angle },
	{ "streams agree with a sector-by-sector twin", streams_pass_sector_by_sector },
	{ NULL, NULL },
};

static const struct ut_case bus_cases[] = {
	{ "the bus grants the earliest gap", bus_grants_the_earliest_gap },
	{ "a bus that is full never overlaps", bus_that_is_full_never_overlaps },
	{ "the bus forgets only the past", bus_forgets_only_the_past },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "parameters", params_cases },
		{ "geometry", geometry_cases },
		{ "streams", stream_cases },
		{ "bus", bus_cases },
	};

	return ut_run("hp97560", suites, sizeof(suites) / sizeof(suites[0]));
}
