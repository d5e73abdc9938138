// SPDX-License-Identifier: GPL-2.0-only
/* Every figure that is known of the HP 97560, one test each. */
#include <math.h>
#include <string.h>
#include "tools/lab/disk_model/figures.c"
#include "tests/unit/lib/ut.h"

#define FIGURES(X)                                              \
	X(track_rate, "track-rate")                             \
	X(cylinder_rate, "cylinder-rate")                       \
	X(long_rate, "long-rate")                               \
	X(short_seek, "seek-1")                                 \
	X(last_short_seek, "seek-383")                          \
	X(first_long_seek, "seek-384")                          \
	X(full_stroke, "seek-1961")                             \
	X(sequential_read, "sequential-read")                   \
	X(track_end_read, "track-end-read")                     \
	X(cylinder_end_read, "cylinder-end-read")               \
	X(mean_sequential_read, "sequential-mean")              \
	X(read_from_buffer, "full-hit")                         \
	X(write_into_empty_buffer, "first-write")               \
	X(random_block_read, "random-read")                     \
	X(random_block_write, "random-write")                   \
	X(random_block_written_through, "random-write-through") \
	X(ascending_blocks_read, "sorted-read")                 \
	X(ascending_blocks_written, "sorted-write")             \
	X(one_sector_read, "random-sector")                     \
	X(file_of_random_blocks_read, "file-random-read")       \
	X(file_of_random_blocks_written, "file-random-write")   \
	X(presorted_file_read, "file-sorted-read")              \
	X(presorted_file_written, "file-sorted-write")          \
	X(contiguous_file_read, "file-contiguous-read")         \
	X(contiguous_file_written, "file-contiguous-write")     \
	X(contiguous_file_on_media, "file-contiguous-media")

static const struct disk_figure *figure_find(const char *name)
{
	const struct disk_figure *f = disk_figures;

	while (f->name && strcmp(f->name, name))
		f++;
	return f->name ? f : NULL;
}

static void figure_test(const char *name)
{
	const struct disk_figure *f = figure_find(name);
	double value;

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	value = f->measure();
	if (fabs(value / f->expected - 1) > f->tolerance)
		printf("\n%s: %.4f instead of %.4f %s, tolerance %.4f\n", f->what, value,
		       f->expected, f->unit, f->tolerance);
	CU_ASSERT(fabs(value / f->expected - 1) <= f->tolerance);
}

#define TEST(function, name)                \
	static void figure_##function(void) \
	{                                   \
		figure_test(name);          \
	}
FIGURES(TEST)

#define CASE(function, name) { name, figure_##function },
static const struct ut_case figure_cases[] = { FIGURES(CASE){ NULL, NULL } };

static void figures_all_tested(void)
{
	size_t i, cases = sizeof(figure_cases) / sizeof(figure_cases[0]);

	CU_ASSERT_EQUAL(cases, sizeof(disk_figures) / sizeof(disk_figures[0]));
	for (i = 0; i + 1 < cases; i++)
		CU_ASSERT_STRING_EQUAL(figure_cases[i].name, disk_figures[i].name);
}

static const struct ut_case table_cases[] = {
	{ "each figure of the table has its test", figures_all_tested },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "figures", figure_cases },
		{ "table", table_cases },
	};

	return ut_run("hp97560_figures", suites, sizeof(suites) / sizeof(suites[0]));
}
