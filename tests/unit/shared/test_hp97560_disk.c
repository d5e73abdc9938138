// SPDX-License-Identifier: GPL-2.0-only
/* What the HP 97560 does with commands: buffer, write-behind, bus, queue. */
#include "tests/unit/shared/hp97560_ut.h"

static struct hp97560_disk disk;

static void disk_new(bool immediate_report, bool bus_overlap)
{
	struct hp97560_params p;

	policy_params(&p, 1 | (immediate_report ? 2 : 0) | (bus_overlap ? 4 : 0));
	hp97560_init(&disk, &p, NULL);
}

static struct hp97560_result do_read(u64 lba, u32 sectors, u64 ns)
{
	return submit(&disk, HP97560_READ, lba, sectors, ns);
}

static struct hp97560_result do_write(u64 lba, u32 sectors, u64 ns)
{
	return submit(&disk, HP97560_WRITE, lba, sectors, ns);
}

static bool near(u64 a, u64 b, u64 tolerance)
{
	return a > b ? a - b <= tolerance : b - a <= tolerance;
}

static void bad_commands_are_refused_and_leave_no_trace(void)
{
	static struct hp97560_disk before;
	struct hp97560_result r;

	disk_new(true, false);
	do_read(1000, 16, 5);
	before = disk;
	CU_ASSERT_EQUAL(hp97560_submit(&disk, HP97560_READ, 0, 0, 5, &r), -EINVAL);
	CU_ASSERT_EQUAL(hp97560_submit(&disk, HP97560_WRITE, 0, 0, 5, &r), -EINVAL);
	CU_ASSERT_EQUAL(hp97560_submit(&disk, (enum hp97560_op)3, 0, 1, 5, &r), -EINVAL);
	CU_ASSERT_EQUAL(hp97560_submit(&disk, HP97560_READ, CAPACITY, 1, 5, &r), -ERANGE);
	CU_ASSERT_EQUAL(hp97560_submit(&disk, HP97560_READ, CAPACITY - 1, 2, 5, &r), -ERANGE);
	CU_ASSERT_EQUAL(hp97560_submit(&disk, HP97560_WRITE, U64_MAX, 1, 5, &r), -ERANGE);
	CU_ASSERT_EQUAL(hp97560_submit(&disk, HP97560_WRITE, U64_MAX, UINT32_MAX, 5, &r), -ERANGE);
	CU_ASSERT_EQUAL(hp97560_submit(&disk, HP97560_READ, 0, 1, HP97560_TIME_MAX + 1, &r),
			-EOVERFLOW);
	CU_ASSERT_EQUAL(hp97560_position_ns(&disk, CAPACITY, 5), U64_MAX);
	CU_ASSERT_EQUAL(hp97560_position_ns(&disk, 0, U64_MAX), U64_MAX);
	CU_ASSERT_EQUAL(memcmp(&before, &disk, sizeof(disk)), 0);
	CU_ASSERT_EQUAL(hp97560_submit(&disk, HP97560_READ, 0, 1, HP97560_TIME_MAX, &r), 0);
	CU_ASSERT_EQUAL(hp97560_submit(&disk, HP97560_READ, 0, 1, 0, &r), -EOVERFLOW);
}

static void the_last_sector_can_be_read_and_written(void)
{
	struct hp97560_result r;

	disk_new(true, false);
	r = do_read(CAPACITY - 1, 1, 0);
	CU_ASSERT(!(r.flags & HP97560_ABORT));
	r = do_read(CAPACITY - 1, 1, r.done_ns + TURN_NS);
	CU_ASSERT(r.flags & HP97560_FULL_HIT);
	r = do_write(CAPACITY - 1, 1, r.done_ns);
	CU_ASSERT(r.media_done_ns > r.done_ns);
	r = do_read(0, 1, r.done_ns);
	CU_ASSERT(r.flags & HP97560_DIRTY_WAIT);
	r = do_read(CAPACITY - 10, 10, r.done_ns);
	CU_ASSERT_EQUAL(disk.stats.read_ahead_aborts, 1);
}

/* All of the drive in one command: as fast as the media, minus two gaps between regions. */
static void the_whole_drive_streams(void)
{
	struct hp97560_result r;
	u64 bus_ns = (CAPACITY % 128) * 51200;
	double seconds;

	disk_new(true, false);
	r = do_read(0, CAPACITY, 0);
	seconds = (double)r.xfer_ns / 1e9;
	CU_ASSERT_DOUBLE_EQUAL((double)CAPACITY * 512 / 1048576 / seconds, 2.0966, 0.0003);
	CU_ASSERT_EQUAL(r.done_ns - r.media_done_ns, bus_ns);
}

/* From 646:3 to 654:0 is a seek of 8 cylinders, then the slot has to come round. */
static void a_read_crosses_spare_cylinders(void)
{
	struct hp97560_result r;
	u64 end = 645 * 19 * 72;
	u64 seek, gap;

	disk_new(true, false);
	seek = hp97560_seek_ns(&disk.params, 8);
	r = do_read(end - 1, 2, 0);
	gap = r.xfer_ns - 2 * TURN_NS / 72;
	CU_ASSERT(gap >= seek && gap < seek + TURN_NS);
	CU_ASSERT(near(gap % (TURN_NS / 72), 0, 80) ||
		  near(gap % (TURN_NS / 72), TURN_NS / 72, 80));
	CU_ASSERT_EQUAL(r.seek_ns, hp97560_seek_ns(&disk.params, 646));
}

static void commands_wait_for_the_one_before(void)
{
	struct hp97560_result a, b;

	disk_new(true, false);
	a = do_read(5000, 16, 1000);
	b = do_read(90000, 16, 2000);
	CU_ASSERT_EQUAL(a.arrival_ns, 1000);
	CU_ASSERT_EQUAL(b.arrival_ns, a.done_ns);
	CU_ASSERT(!(a.flags & HP97560_QUEUED) && (b.flags & HP97560_QUEUED));
	CU_ASSERT_EQUAL(disk.stats.queue_waits, 1);
}

static void reading_ahead_stops_when_the_buffer_is_full(void)
{
	struct hp97560_result r;

	disk_new(true, false);
	r = do_read(1000, 16, 0);
	r = do_read(1016 + 240, 16, r.done_ns + 100 * TURN_NS);
	CU_ASSERT(r.flags & HP97560_FULL_HIT);
	CU_ASSERT_EQUAL(r.done_ns - r.arrival_ns, HIT_NS);
	disk_new(true, false);
	r = do_read(1000, 16, 0);
	r = do_read(1016 + 241, 16, r.done_ns + 100 * TURN_NS);
	CU_ASSERT((r.flags & HP97560_HIT) && !(r.flags & HP97560_FULL_HIT));
	disk_new(true, false);
	r = do_read(1000, 16, 0);
	r = do_read(1016 + 257, 16, r.done_ns + 100 * TURN_NS);
	CU_ASSERT(!(r.flags & HP97560_HIT));
}

static void old_sectors_make_room_in_the_buffer(void)
{
	struct hp97560_result r;

	disk_new(true, false);
	r = do_read(1000, 16, 0);
	r = do_read(1000, 16, r.done_ns);
	CU_ASSERT(r.flags & HP97560_FULL_HIT);
	r = do_read(1000, 16, r.done_ns + 100 * TURN_NS);
	CU_ASSERT(!(r.flags & HP97560_HIT));
}

static void reading_ahead_goes_on_through_hits(void)
{
	struct hp97560_result r = { 0 };
	u64 lba;

	disk_new(true, false);
	r = do_read(0, 16, 0);
	for (lba = 16; lba < 30000; lba += 16) {
		r = do_read(lba, 16, r.done_ns + 2000000);
		CU_ASSERT(r.flags & HP97560_HIT);
	}
	CU_ASSERT(r.flags & HP97560_FULL_HIT);
	CU_ASSERT_EQUAL(disk.stats.read_ahead_aborts, 0);
}

static void without_read_ahead_every_block_loses_a_turn(void)
{
	struct hp97560_result r;
	u64 before;

	disk_new(true, false);
	disk.params.read_ahead = false;
	r = do_read(1080, 16, 0);
	before = r.media_done_ns;
	r = do_read(1096, 16, r.done_ns);
	CU_ASSERT(near(r.media_done_ns - before, TURN_NS + 16 * TURN_NS / 72, 10));
	CU_ASSERT_EQUAL(disk.stats.read_ahead_aborts, 0);
}

static void a_write_empties_the_read_buffer(void)
{
	struct hp97560_result r;

	disk_new(true, false);
	r = do_read(1000, 16, 0);
	r = do_write(500000, 16, r.done_ns);
	CU_ASSERT(r.flags & HP97560_ABORT);
	r = do_read(1016, 16, r.done_ns);
	CU_ASSERT(!(r.flags & HP97560_HIT) && (r.flags & HP97560_DIRTY_WAIT));
}

static void a_read_waits_for_dirty_data(void)
{
	struct hp97560_result w, r;

	disk_new(true, false);
	w = do_write(2000000, 16, 0);
	r = do_read(2000000, 16, w.done_ns);
	CU_ASSERT(r.media_done_ns - r.xfer_ns - r.rot_ns - r.seek_ns == w.media_done_ns);
	CU_ASSERT_EQUAL(r.seek_ns, 0);
}

static void sequential_writes_run_at_media_speed(void)
{
	struct hp97560_result r = { 0 };
	u64 first = 0, lba;

	disk_new(true, false);
	for (lba = 1080; lba < 1080 + 200 * 16; lba += 16) {
		r = do_write(lba, 16, r.done_ns);
		if (lba == 1080)
			first = r.media_done_ns - r.xfer_ns;
		CU_ASSERT_EQUAL(!!(r.flags & HP97560_JOIN), lba > 1080);
	}
	/* 3200 sectors lie on 45 tracks: 42 head switches and 2 cylinder ends between them */
	CU_ASSERT(near(r.media_done_ns - first, (3200 + 42 * 8 + 2 * 18) * TURN_NS / 72, 1000));
	CU_ASSERT_EQUAL(disk.stats.joins, 199);
}

static void about_64_kb_of_dirty_data_fit(void)
{
	struct hp97560_result r = { 0 };
	u64 lba, issue = 0, begin = 0;
	int quick = 0;

	disk_new(true, false);
	/* begin when the media will not be reached before ten writes could be taken */
	while (hp97560_position_ns(&disk, 2600000, issue) < 10 * HIT_NS)
		issue += TURN_NS / 72;
	for (lba = 2600000; lba < 2600000 + 16 * 16; lba += 16) {
		r = do_write(lba, 16, issue);
		if (r.done_ns - issue != HIT_NS)
			break;
		if (!quick++)
			begin = r.media_done_ns - r.xfer_ns;
		issue = r.done_ns;
	}
	CU_ASSERT_EQUAL(quick, 8);
	CU_ASSERT(r.flags & HP97560_DIRTY_WAIT);
	/* the ninth's data came as soon as the first sixteen sectors had gone */
	CU_ASSERT(near(r.done_ns, begin + 16 * TURN_NS / 72 + BUS_8K_NS, 10));
}

static void a_late_write_loses_a_turn(void)
{
	struct hp97560_result a, b, c;

	disk_new(true, false);
	a = do_write(1080, 16, 0);
	b = do_write(1096, 16, a.media_done_ns);
	CU_ASSERT(!(b.flags & HP97560_JOIN));
	CU_ASSERT(near(b.media_done_ns - a.media_done_ns, TURN_NS + 16 * TURN_NS / 72, 10));
	/* what comes in the meantime goes in one pass */
	c = do_write(1112, 16, b.done_ns);
	CU_ASSERT(c.flags & HP97560_JOIN);
	CU_ASSERT(near(c.media_done_ns - b.media_done_ns, 16 * TURN_NS / 72, 10));
}

static void another_write_waits_for_the_flush(void)
{
	struct hp97560_result a, b;

	disk_new(true, false);
	a = do_write(2000000, 16, 0);
	b = do_write(100, 16, a.done_ns);
	CU_ASSERT_EQUAL(b.done_ns, a.media_done_ns + BUS_8K_NS);
	CU_ASSERT(b.flags & HP97560_DIRTY_WAIT);
	CU_ASSERT_EQUAL(b.media_done_ns - b.xfer_ns - b.rot_ns - b.seek_ns, a.media_done_ns);
}

static void a_flush_ends_when_all_is_on_the_media(void)
{
	struct hp97560_result w, f;

	disk_new(true, false);
	w = do_write(2000000, 16, 0);
	f = submit(&disk, HP97560_FLUSH, 0, 0, w.done_ns);
	CU_ASSERT_EQUAL(f.done_ns, w.media_done_ns);
	f = submit(&disk, HP97560_FLUSH, U64_MAX, 0, f.done_ns);
	CU_ASSERT_EQUAL(f.done_ns - f.arrival_ns, OVERHEAD_NS);
	do_read(1000, 16, f.done_ns);
	f = submit(&disk, HP97560_FLUSH, 0, 0, 0);
	f.flags = do_read(1016, 16, f.done_ns).flags;
	CU_ASSERT(f.flags & HP97560_HIT);
}

static void write_through_loses_a_turn_each(void)
{
	struct hp97560_result a, b;

	disk_new(false, false);
	a = do_write(1080, 16, 0);
	b = do_write(1096, 16, a.done_ns);
	CU_ASSERT_EQUAL(a.done_ns, a.media_done_ns);
	CU_ASSERT(near(b.done_ns - a.done_ns, TURN_NS + 16 * TURN_NS / 72, 10));
}

/* Whatever its size, a command's sectors pass in one go. */
static void large_commands_stream(int policy, enum hp97560_op op)
{
	struct hp97560_params p;
	u32 sectors;

	for (sectors = 100; sectors <= 32768; sectors *= 2) {
		struct hp97560_result r;
		struct hp97560_pass s = { .next = 70000, .limit = 70000 + sectors };
		u64 begin;

		policy_params(&p, policy);
		hp97560_init(&disk, &p, NULL);
		r = submit(&disk, op, 70000, sectors, 12345);
		begin = r.media_done_ns - r.xfer_ns;
		s.slot = hp97560_slot_of(&disk.params, 70000, begin);
		CU_ASSERT_EQUAL(hp97560_pass_ns(&disk.params, &s, s.limit), r.media_done_ns);
		if (op == HP97560_READ)
			CU_ASSERT(r.done_ns - r.media_done_ns <= 128 * 51200);
		CU_ASSERT_EQUAL(disk.own_bus.busy_ns, sectors * 51200ULL);
	}
}

static void large_reads_stream(void)
{
	int policy;

	for (policy = 0; policy < POLICIES; policy++)
		large_commands_stream(policy, HP97560_READ);
}

static void large_writes_stream(void)
{
	int policy;

	for (policy = 0; policy < POLICIES; policy++)
		large_commands_stream(policy, HP97560_WRITE);
}

static void sequential_64_kb_writes_stream(void)
{
	struct hp97560_result r = { 0 };
	double seconds;
	u64 lba, first = 0;

	disk_new(true, false);
	for (lba = 0; lba < 128 * 400; lba += 128) {
		r = do_write(lba, 128, r.done_ns);
		if (!lba)
			first = r.media_done_ns - r.xfer_ns;
	}
	seconds = (double)(r.media_done_ns - first) / 1e9;
	CU_ASSERT_DOUBLE_EQUAL(128 * 400 * 512.0 / 1048576 / seconds, 2.0966, 0.003);
}

static const struct ut_case command_cases[] = {
	{ "bad commands are refused and leave no trace",
	  bad_commands_are_refused_and_leave_no_trace },
	{ "the last sector can be read and written", the_last_sector_can_be_read_and_written },
	{ "the whole drive streams", the_whole_drive_streams },
	{ "a read crosses spare cylinders", a_read_crosses_spare_cylinders },
	{ "commands wait for the one before", commands_wait_for_the_one_before },
	{ "large reads stream", large_reads_stream },
	{ "large writes stream", large_writes_stream },
	{ NULL, NULL },
};

static const struct ut_case buffer_cases[] = {
	{ "reading ahead stops when the buffer is full",
	  reading_ahead_stops_when_the_buffer_is_full },
	{ "old sectors make room in the buffer", old_sectors_make_room_in_the_buffer },
	{ "reading ahead goes on through hits", reading_ahead_goes_on_through_hits },
	{ "without read-ahead every block loses a turn",
	  without_read_ahead_every_block_loses_a_turn },
	{ "a write empties the read buffer", a_write_empties_the_read_buffer },
	{ NULL, NULL },
};

/* Appends @n sectors again and again.  Returns the mean time of one, and their ends in @end. */
static double appends(u32 piece, u32 n, u64 end[200])
{
	struct hp97560_result r = { .done_ns = 0 };
	struct hp97560_params p;
	struct hp97560_disk d;
	u32 i;

	hp97560_params_default(&p);
	p.write_piece = piece;
	hp97560_init(&d, &p, NULL);
	for (i = 0; i < 200; i++) {
		r = submit(&d, HP97560_WRITE, (u64)i * n, n, r.done_ns);
		end[i] = r.done_ns;
	}
	return (double)(end[199] - end[99]) / 100;
}

/*
 * Whether a large write waits until there is room for all of it, the documents do not say.  It makes no difference to
 * writes of up to a quarter of the room, none to the mean of up to three quarters, and a turn now and then beyond.
 */
static void the_piece_of_a_write_is_a_choice(void)
{
	u64 quarter[200], whole[200];
	u32 n, same;
	double ratio = 0;
	int i;

	for (n = 8; n <= 128; n += 8) {
		ratio = appends(128, n, whole) / appends(0, n, quarter);
		for (i = same = 0; i < 200; i++)
			same += whole[i] == quarter[i];
		CU_ASSERT(n > 32 || same == 200);
		CU_ASSERT(n <= 32 || same < 200);
		CU_ASSERT(n > 96 || (ratio > 0.99 && ratio < 1.01));
	}
	CU_ASSERT(ratio > 1.2);
}

static const struct ut_case write_cases[] = {
	{ "a read waits for dirty data", a_read_waits_for_dirty_data },
	{ "sequential writes run at media speed", sequential_writes_run_at_media_speed },
	{ "sequential 64 KB writes stream", sequential_64_kb_writes_stream },
	{ "the piece of a write is a choice", the_piece_of_a_write_is_a_choice },
	{ "about 64 KB of dirty data fit", about_64_kb_of_dirty_data_fit },
	{ "a late write loses a turn", a_late_write_loses_a_turn },
	{ "another write waits for the flush", another_write_waits_for_the_flush },
	{ "a flush ends when all is on the media", a_flush_ends_when_all_is_on_the_media },
	{ "write-through loses a turn each", write_through_loses_a_turn_each },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "commands", command_cases },
		{ "read buffer", buffer_cases },
		{ "writes", write_cases },
	};

	return ut_run("hp97560_disk", suites, sizeof(suites) / sizeof(suites[0]));
}
