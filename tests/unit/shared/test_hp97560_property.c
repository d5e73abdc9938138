// SPDX-License-Identifier: GPL-2.0-only
/* What holds of the HP 97560 under any commands, and of several on one bus. */
#include "tests/unit/shared/hp97560_ut.h"

static struct hp97560_disk disk;

/* Random commands under a policy: what must hold of every result. */
static void invariants(int policy, u64 base)
{
	static struct hp97560_disk d;
	struct hp97560_params p;
	struct hp97560_result r;
	uint64_t seed = (uint64_t)policy + 1;
	u64 now = base, done = 0, sum = 0, lba = 0;
	int i;

	policy_params(&p, policy);
	hp97560_init(&d, &p, NULL);
	for (i = 0; i < 3000; i++) {
		enum hp97560_op op = ddio_rand_below(&seed, 20) ? ddio_rand_below(&seed, 2)
								: HP97560_FLUSH;
		u32 sectors = 1 + (u32)ddio_rand_below(&seed, ddio_rand_below(&seed, 5) ? 40 : 600);

		if (ddio_rand_below(&seed, 3) || lba + sectors > CAPACITY)
			lba = ddio_rand_below(&seed, CAPACITY - sectors + 1);
		r = submit(&d, op, lba, sectors, now);
		CU_ASSERT(r.arrival_ns >= now && r.arrival_ns >= done);
		CU_ASSERT(r.done_ns >= r.arrival_ns + OVERHEAD_NS);
		if (op != HP97560_FLUSH) {
			if (op == HP97560_READ && sectors <= 128 && !p.bus_overlap)
				CU_ASSERT(r.done_ns >= r.media_done_ns + sectors * 51200ULL);
			CU_ASSERT(r.xfer_ns <= r.media_done_ns - base);
			sum += sectors * 51200ULL;
			lba += sectors;
		}
		CU_ASSERT(op == HP97560_WRITE || r.media_done_ns <= r.done_ns);
		CU_ASSERT(p.immediate_report || r.media_done_ns <= r.done_ns);
		CU_ASSERT(op != HP97560_WRITE || r.media_done_ns >= r.arrival_ns + OVERHEAD_NS);
		CU_ASSERT_EQUAL(r.bus_wait_ns, 0);
		done = r.done_ns;
		now = ddio_rand_below(&seed, 4) ? done + ddio_rand_below(&seed, 30000000) : now;
	}
	CU_ASSERT_EQUAL(d.own_bus.busy_ns, sum);
	CU_ASSERT_EQUAL(d.stats.reads + d.stats.writes + d.stats.flushes, 3000);
}

static void every_policy_keeps_its_promises(void)
{
	int policy;

	for (policy = 0; policy < POLICIES; policy++) {
		invariants(policy, 0);
		invariants(policy, HUGE_NS);
	}
}

/* The same commands at two places in time: results differ by the shift alone. */
static void shifted(u64 shift)
{
	static struct hp97560_disk a, b;
	struct hp97560_result x, y;
	struct hp97560_params p;
	uint64_t seed = 99;
	u64 now = 0;
	int i;

	hp97560_params_default(&p);
	hp97560_init(&a, &p, NULL);
	hp97560_init(&b, &p, NULL);
	for (i = 0; i < 2000; i++) {
		enum hp97560_op op = ddio_rand_below(&seed, 2);
		u64 lba = ddio_rand_below(&seed, 3000) * 800;

		x = submit(&a, op, lba, 16, now);
		y = submit(&b, op, lba, 16, now + shift);
		CU_ASSERT_EQUAL(y.done_ns - x.done_ns, shift);
		CU_ASSERT_EQUAL(y.media_done_ns - x.media_done_ns, shift);
		CU_ASSERT(y.seek_ns == x.seek_ns && y.rot_ns == x.rot_ns && y.flags == x.flags);
		now = x.done_ns + ddio_rand_below(&seed, 5000000);
	}
	CU_ASSERT_EQUAL(memcmp(&a.stats, &b.stats, sizeof(a.stats)), 0);
	CU_ASSERT(a.own_bus.n <= 2);
}

static void a_replay_gives_the_same(void)
{
	shifted(0);
}

static void only_the_time_modulo_ten_seconds_counts(void)
{
	shifted(PERIOD_NS);
	shifted(PERIOD_NS * 123456);
	shifted(HUGE_NS / PERIOD_NS * PERIOD_NS);
}

/* hp97560_position_ns() foretells where the next read finds its first sector. */
static void position_is_what_a_read_finds(void)
{
	struct hp97560_result r = { 0 };
	struct hp97560_params p;
	uint64_t seed = 31;
	int i;

	hp97560_params_default(&p);
	hp97560_init(&disk, &p, NULL);
	for (i = 0; i < 20000; i++) {
		u64 lba = ddio_rand_below(&seed, 3) ? ddio_rand_below(&seed, CAPACITY - 16)
						    : disk.pass.next + ddio_rand_below(&seed, 20);
		u64 now = r.done_ns - ddio_rand_below(&seed, 2) + ddio_rand_below(&seed, 3000000);
		u64 at;

		if (lba > CAPACITY - 16)
			lba = 0;
		at = hp97560_position_ns(&disk, lba, now);
		if (!ddio_rand_below(&seed, 3)) {
			r = submit(&disk, HP97560_WRITE, lba, 16, now);
			continue;
		}
		r = submit(&disk, HP97560_READ, lba, 16, now);
		if (!(r.flags & HP97560_HIT))
			CU_ASSERT_EQUAL(now + at, r.media_done_ns - r.xfer_ns);
		CU_ASSERT(now + at >= r.arrival_ns + OVERHEAD_NS && now + at <= r.media_done_ns);
		if (r.flags & HP97560_FULL_HIT)
			CU_ASSERT_EQUAL(now + at, r.media_done_ns);
	}
	CU_ASSERT(disk.stats.hits > 100);
}

static void two_drives_share_a_bus(void)
{
	static struct hp97560_disk a, b;
	struct hp97560_params p;
	struct hp97560_bus bus;
	struct hp97560_result x, y;

	hp97560_params_default(&p);
	hp97560_bus_init(&bus);
	hp97560_init(&a, &p, &bus);
	hp97560_init(&b, &p, &bus);
	x = submit(&a, HP97560_WRITE, 1000, 16, 0);
	y = submit(&b, HP97560_WRITE, 1000, 16, 0);
	CU_ASSERT_EQUAL(x.done_ns, HIT_NS);
	CU_ASSERT_EQUAL(y.done_ns, HIT_NS + BUS_8K_NS);
	CU_ASSERT(!(x.flags & HP97560_BUS_WAIT) && (y.flags & HP97560_BUS_WAIT));
	CU_ASSERT_EQUAL(y.bus_wait_ns, BUS_8K_NS);
	CU_ASSERT_EQUAL(b.stats.bus_waits, 1);
	CU_ASSERT_EQUAL(bus.busy_ns, 2 * BUS_8K_NS);
}

static void a_quick_transfer_goes_before_a_later_one(void)
{
	static struct hp97560_disk a, b;
	struct hp97560_params p;
	struct hp97560_bus bus;
	struct hp97560_result x, y;

	hp97560_params_default(&p);
	hp97560_bus_init(&bus);
	hp97560_init(&a, &p, &bus);
	hp97560_init(&b, &p, &bus);
	x = submit(&a, HP97560_READ, 2000000, 16, 0);
	y = submit(&b, HP97560_WRITE, 1000, 16, 0);
	CU_ASSERT_EQUAL(y.done_ns, HIT_NS);
	CU_ASSERT_EQUAL(y.bus_wait_ns, 0);
	CU_ASSERT_EQUAL(x.done_ns, x.media_done_ns + BUS_8K_NS);
}

/* Sixteen drives read sequentially: one bus carries 10^7 bytes a second, no more. */
static void a_crowded_bus_is_the_bottleneck(void)
{
	enum { DRIVES = 16, BLOCKS = 200 };
	static struct hp97560_disk d[DRIVES];
	u64 done[DRIVES] = { 0 }, last = 0;
	struct hp97560_params p;
	struct hp97560_bus bus;
	double rate;
	int i, n, next;

	hp97560_params_default(&p);
	hp97560_bus_init(&bus);
	for (i = 0; i < DRIVES; i++)
		hp97560_init(&d[i], &p, &bus);
	for (n = 0; n < DRIVES * BLOCKS; n++) {
		for (i = 1, next = 0; i < DRIVES; i++)
			if (done[i] < done[next])
				next = i;
		done[next] =
			submit(&d[next], HP97560_READ, d[next].stats.reads * 16, 16, done[next])
				.done_ns;
		if (done[next] > last)
			last = done[next];
	}
	rate = (double)n * 16 * 512 / ((double)last / 1e9);
	CU_ASSERT(rate > 9.5e6 && rate <= 1e7);
	CU_ASSERT_EQUAL(bus.lost_gaps, 0);
	CU_ASSERT(bus.busy_ns <= last);
}

/* With a bus that is slower than the media, reads stall for room and still add up. */
static void a_slow_bus_stalls_the_media(void)
{
	struct hp97560_params p;
	struct hp97560_result r;
	int policy;

	for (policy = 0; policy < POLICIES; policy++) {
		policy_params(&p, policy);
		p.bus_sector_ns = 500000;
		if (hp97560_params_check(&p))
			continue;
		hp97560_init(&disk, &p, NULL);
		r = submit(&disk, HP97560_READ, 0, 4096, 0);
		CU_ASSERT(r.done_ns >= 4096 * 500000ULL);
		CU_ASSERT(r.done_ns - r.media_done_ns <= 256 * 500000ULL);
		r = submit(&disk, HP97560_WRITE, 500000, 4096, r.done_ns);
		CU_ASSERT(r.media_done_ns - r.arrival_ns >= 4096 * 500000ULL);
		CU_ASSERT_EQUAL(disk.own_bus.busy_ns, 2 * 4096 * 500000ULL);
	}
}

static const struct ut_case property_cases[] = {
	{ "every policy keeps its promises", every_policy_keeps_its_promises },
	{ "a replay gives the same", a_replay_gives_the_same },
	{ "only the time modulo ten seconds counts", only_the_time_modulo_ten_seconds_counts },
	{ "position is what a read finds", position_is_what_a_read_finds },
	{ NULL, NULL },
};

static const struct ut_case bus_cases[] = {
	{ "two drives share a bus", two_drives_share_a_bus },
	{ "a quick transfer goes before a later one", a_quick_transfer_goes_before_a_later_one },
	{ "a crowded bus is the bottleneck", a_crowded_bus_is_the_bottleneck },
	{ "a slow bus stalls the media", a_slow_bus_stalls_the_media },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "properties", property_cases },
		{ "shared bus", bus_cases },
	};

	return ut_run("hp97560_property", suites, sizeof(suites) / sizeof(suites[0]));
}
