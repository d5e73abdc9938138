// SPDX-License-Identifier: GPL-2.0-only
/*
 * Known figures of the HP 97560, from its data sheet and the papers, measured on
 * the model in virtual time.
 */
#include <stdlib.h>
#include "base/rand.h"
#include "tools/lab/disk_model/disk_model.h"

#define MS 1e6
#define MB 1048576.0
#define BLOCK_SECTORS 16
#define DISKS 16
#define DISK_BLOCKS 80 /* of a 10 MB file over DISKS disks */
#define SEQUENTIAL 1000
#define PASSES 2000
#define ROUNDS 200
#define START_SPAN_NS 10000000000ULL

enum pass_order { RANDOM, SORTED, CONTIGUOUS };

static void params_of(struct hp97560_params *p, bool immediate_report)
{
	hp97560_params_default(p);
	p->immediate_report = immediate_report;
}

/* One read from a drive at rest: its media time, and what that is in MB/s. */
static double media_rate(uint32_t sectors)
{
	struct hp97560_params p;
	struct hp97560_disk d;
	struct hp97560_result r;

	params_of(&p, true);
	hp97560_init(&d, &p, NULL);
	/* cylinder 2, the first that holds data on all its tracks */
	if (hp97560_submit(&d, HP97560_READ, 15 * p.track_sectors, sectors, 0, &r))
		return 0;
	return sectors * (double)HP97560_SECTOR_BYTES / MB / ((double)r.xfer_ns / 1e9);
}

static double rate_track(void)
{
	return media_rate(72);
}

/* A rate over n tracks holds n - 1 crossings: take a difference to have one for each. */
static double rate_between(uint32_t few, uint32_t many)
{
	double bytes = (double)HP97560_SECTOR_BYTES / MB;
	double few_s = few * bytes / media_rate(few);
	double many_s = many * bytes / media_rate(many);

	return (many - few) * bytes / (many_s - few_s);
}

static double rate_cylinder(void)
{
	return rate_between(72, 72 * 19);
}

static double rate_long(void)
{
	return rate_between(72 * 19, 72 * 19 * 600);
}

static double seek_ms(uint32_t distance)
{
	struct hp97560_params p;

	hp97560_params_default(&p);
	return (double)hp97560_seek_ns(&p, distance) / MS;
}

static double seek_1(void)
{
	return seek_ms(1);
}

static double seek_383(void)
{
	return seek_ms(383);
}

static double seek_384(void)
{
	return seek_ms(384);
}

static double seek_1961(void)
{
	return seek_ms(1961);
}

/* The last of some sequential 8 KB reads from the start of a cylinder. */
static double sequential_ms(uint32_t count)
{
	struct hp97560_params p;
	struct hp97560_disk d;
	struct hp97560_result r = { 0 };
	uint64_t issue = 0;
	uint32_t i;

	params_of(&p, true);
	hp97560_init(&d, &p, NULL);
	for (i = 0; i < count; i++) {
		uint64_t lba = 15 * p.track_sectors + (uint64_t)i * BLOCK_SECTORS;

		issue = r.done_ns;
		if (hp97560_submit(&d, HP97560_READ, lba, BLOCK_SECTORS, issue, &r))
			return 0;
	}
	return (double)(r.done_ns - issue) / MS;
}

static double sequential_in_track(void)
{
	return sequential_ms(2);
}

/* A track holds four and a half blocks, a cylinder 85 and a half. */
static double sequential_track_end(void)
{
	return sequential_ms(5);
}

static double sequential_cylinder_end(void)
{
	return sequential_ms(86);
}

/* Of a run from the drive's beginning, the first access included. */
static double sequential_mean(void)
{
	struct hp97560_params p;
	struct hp97560_disk d;
	struct hp97560_result r = { 0 };
	uint64_t i;

	params_of(&p, true);
	hp97560_init(&d, &p, NULL);
	for (i = 0; i < SEQUENTIAL; i++)
		if (hp97560_submit(&d, HP97560_READ, i * BLOCK_SECTORS, BLOCK_SECTORS, r.done_ns,
				   &r))
			return 0;
	return (double)r.done_ns / MS / SEQUENTIAL;
}

static double full_hit(void)
{
	struct hp97560_params p;
	struct hp97560_disk d;
	struct hp97560_result r;
	uint64_t late;

	params_of(&p, true);
	hp97560_init(&d, &p, NULL);
	if (hp97560_submit(&d, HP97560_READ, 0, BLOCK_SECTORS, 0, &r))
		return 0;
	late = r.done_ns + 100 * (uint64_t)MS;
	if (hp97560_submit(&d, HP97560_READ, BLOCK_SECTORS, BLOCK_SECTORS, late, &r))
		return 0;
	return (double)(r.done_ns - late) / MS;
}

static double first_write(void)
{
	struct hp97560_params p;
	struct hp97560_disk d;
	struct hp97560_result r;

	params_of(&p, true);
	hp97560_init(&d, &p, NULL);
	if (hp97560_submit(&d, HP97560_WRITE, 1000000, BLOCK_SECTORS, 0, &r))
		return 0;
	return (double)r.done_ns / MS;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The blocks of one pass, as logical sectors. */
static void blocks_choose(uint64_t *lba, enum pass_order order, uint32_t sectors, uint64_t capacity,
			  uint64_t *seed)
{
	uint64_t blocks = capacity / sectors;
	uint64_t first = ddio_rand_below(seed, blocks - DISK_BLOCKS);
	int i;

	for (i = 0; i < DISK_BLOCKS; i++)
		lba[i] = sectors * (order == CONTIGUOUS ? first + (uint64_t)i
							: ddio_rand_below(seed, blocks));
	if (order == SORTED)
		qsort(lba, DISK_BLOCKS, sizeof(lba[0]), ascending);
}

/* Makes one pass without gaps between the requests.  Return: when the last one completed. */
static uint64_t pass_run(struct hp97560_disk *d, enum hp97560_op op, const uint64_t *lba,
			 uint32_t sectors, uint64_t ns, uint64_t *media_ns)
{
	struct hp97560_result r;
	int i;

	for (i = 0; i < DISK_BLOCKS; i++) {
		if (hp97560_submit(d, op, lba[i], sectors, ns, &r))
			return 0;
		ns = r.done_ns;
		*media_ns = r.media_done_ns;
	}
	return ns;
}

/* Mean service time of passes that follow each other on one drive. */
static double passes_ms(enum hp97560_op op, enum pass_order order, uint32_t sectors,
			bool immediate_report)
{
	struct hp97560_params p;
	struct hp97560_disk d;
	uint64_t lba[DISK_BLOCKS];
	uint64_t seed = 1, ns = 0, media_ns = 0;
	int i;

	params_of(&p, immediate_report);
	hp97560_init(&d, &p, NULL);
	for (i = 0; i < PASSES; i++) {
		blocks_choose(lba, order, sectors, d.capacity, &seed);
		ns = pass_run(&d, op, lba, sectors, ns, &media_ns);
	}
	return (double)ns / MS / (PASSES * DISK_BLOCKS);
}

static double random_read(void)
{
	return passes_ms(HP97560_READ, RANDOM, BLOCK_SECTORS, true);
}

static double random_write(void)
{
	return passes_ms(HP97560_WRITE, RANDOM, BLOCK_SECTORS, true);
}

static double random_write_through(void)
{
	return passes_ms(HP97560_WRITE, RANDOM, BLOCK_SECTORS, false);
}

static double random_sector(void)
{
	return passes_ms(HP97560_READ, RANDOM, 1, true);
}

static double sorted_read(void)
{
	return passes_ms(HP97560_READ, SORTED, BLOCK_SECTORS, true);
}

static double sorted_write(void)
{
	return passes_ms(HP97560_WRITE, SORTED, BLOCK_SECTORS, true);
}

/*
 * Puts the arm where a pass finds it, with the buffer empty, and lets a random time pass so
 * that the angle is random.  Return: when the pass begins.
 */
static uint64_t disk_park(struct hp97560_disk *d, uint64_t lba, uint64_t *seed)
{
	struct hp97560_result r;

	if (hp97560_submit(d, HP97560_WRITE, lba, 1, 0, &r))
		return 0;
	if (hp97560_submit(d, HP97560_FLUSH, 0, 0, r.done_ns, &r))
		return 0;
	return r.done_ns + ddio_rand_below(seed, START_SPAN_NS);
}

/* The time of one disk for its share of the file. */
static double share_s(enum hp97560_op op, enum pass_order order, bool on_media, uint64_t *seed)
{
	struct hp97560_params p;
	struct hp97560_disk d;
	uint64_t lba[DISK_BLOCKS];
	uint64_t start, end, media_ns = 0;

	params_of(&p, true);
	hp97560_init(&d, &p, NULL);
	blocks_choose(lba, order, BLOCK_SECTORS, d.capacity, seed);
	/* where the space begins over which the file is spread */
	start = disk_park(&d, order == CONTIGUOUS ? lba[0] : 0, seed);
	end = pass_run(&d, op, lba, BLOCK_SECTORS, start, &media_ns);
	return (double)((on_media ? media_ns : end) - start) / 1e9;
}

/* The rate of all disks together: the slowest one's time counts. */
static double file_rate(enum hp97560_op op, enum pass_order order, bool on_media)
{
	uint64_t seed = 7;
	double sum = 0;
	int round, disk;

	for (round = 0; round < ROUNDS; round++) {
		double slowest = 0;

		for (disk = 0; disk < DISKS; disk++) {
			double s = share_s(op, order, on_media, &seed);

			if (s > slowest)
				slowest = s;
		}
		sum += slowest;
	}
	return DISKS * DISK_BLOCKS * (double)(BLOCK_SECTORS * HP97560_SECTOR_BYTES) / MB /
	       (sum / ROUNDS);
}

static double file_random_read(void)
{
	return file_rate(HP97560_READ, RANDOM, false);
}

static double file_random_write(void)
{
	return file_rate(HP97560_WRITE, RANDOM, false);
}

static double file_sorted_read(void)
{
	return file_rate(HP97560_READ, SORTED, false);
}

static double file_sorted_write(void)
{
	return file_rate(HP97560_WRITE, SORTED, false);
}

static double file_contiguous_read(void)
{
	return file_rate(HP97560_READ, CONTIGUOUS, false);
}

static double file_contiguous_write(void)
{
	return file_rate(HP97560_WRITE, CONTIGUOUS, false);
}

static double file_contiguous_media(void)
{
	return file_rate(HP97560_WRITE, CONTIGUOUS, true);
}

/* clang-format off */
const struct disk_figure disk_figures[] = {
	{ "track-rate", "one track", "MB/s", 2.3449, 0.0001, "2.34", rate_track },
	{ "cylinder-rate", "within a cylinder", "MB/s", 2.1104, 0.0001, "2.11", rate_cylinder },
	{ "long-rate", "long sequential", "MB/s", 2.0966, 0.0001, NULL, rate_long },
	{ "seek-1", "seek of 1 cylinder", "ms", 3.64, 0.0001, NULL, seek_1 },
	{ "seek-383", "seek of 383 cylinders", "ms", 11.068, 0.0001, NULL, seek_383 },
	{ "seek-384", "seek of 384 cylinders", "ms", 11.072, 0.0001, NULL, seek_384 },
	{ "seek-1961", "seek of 1961 cylinders", "ms", 23.688, 0.0001, NULL, seek_1961 },
	{ "sequential-read", "sequential 8 KB read in a track", "ms", 3.3317, 0.0001, NULL,
	  sequential_in_track },
	{ "track-end-read", "the same over a track end", "ms", 3.3317 + 1.6658, 0.0001, NULL,
	  sequential_track_end },
	{ "cylinder-end-read", "the same over a cylinder end", "ms", 3.3317 + 3.7481, 0.0001, NULL,
	  sequential_cylinder_end },
	{ "sequential-mean", "mean of 1000 sequential 8 KB reads", "ms", 3.736, 0.001, NULL,
	  sequential_mean },
	{ "full-hit", "8 KB read from the buffer", "ms", 3.0192, 0.0001, NULL, full_hit },
	{ "first-write", "8 KB write into an empty buffer", "ms", 3.0192, 0.0001, NULL,
	  first_write },
	{ "random-read", "random 8 KB read", "ms", 26.8, 0.005, NULL, random_read },
	{ "random-write", "random 8 KB write", "ms", 23.8, 0.005, NULL, random_write },
	{ "random-write-through", "the same, write-through", "ms", 26.0, 0.005, NULL,
	  random_write_through },
	{ "sorted-read", "80 random 8 KB blocks, ascending, read", "ms", 19.25, 0.01, NULL,
	  sorted_read },
	{ "sorted-write", "the same, written", "ms", 16.1, 0.01, NULL, sorted_write },
	{ "random-sector", "random read of one sector", "ms", 22.75, 0.005, NULL, random_sector },
	{ "file-random-read", "16 disks, 10 MB: random blocks, read", "MB/s", 4.48, 0.01, "4.4",
	  file_random_read },
	{ "file-random-write", "the same, written", "MB/s", 5.04, 0.01, "4.9-5.0",
	  file_random_write },
	{ "file-sorted-read", "random blocks, presorted, read", "MB/s", 6.32, 0.01, "6.2/6.3",
	  file_sorted_read },
	{ "file-sorted-write", "the same, written", "MB/s", 7.51, 0.01, "7.4-7.5/7.3",
	  file_sorted_write },
	{ "file-contiguous-read", "contiguous, read", "MB/s", 31.6, 0.01, "32.8/31.4",
	  file_contiguous_read },
	{ "file-contiguous-write", "the same, written", "MB/s", 35.0, 0.01, "34.8",
	  file_contiguous_write },
	{ "file-contiguous-media", "the same, until on the media", "MB/s", 31.7, 0.01, "31.4",
	  file_contiguous_media },
	{ NULL, NULL, NULL, 0, 0, NULL, NULL },
};
/* clang-format on */
