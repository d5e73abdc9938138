// SPDX-License-Identifier: GPL-2.0-only
/*
 * Published figures, MB/s (MB = 2^20): TR94-226, Table 4 (contiguous) and
 * Table 3 (random-blocks).  ra is divided by its 16 processes, as TOCS 1997 does.
 * Table 4 has one column for disk-directed I/O: a contiguous list is sorted as it is.
 */
#include <string.h>
#include "bench.h"

struct paper_row {
	const char *pattern;
	uint32_t record;
	float contiguous[3]; /* TC, DD, DDs */
	float random[3];
};

static const struct paper_row rows[] = {
	{ "ra", 8192, { 29.32, 32.68, 32.68 }, { 4.17, 4.42, 6.24 } },
	{ "rn", 8192, { 31.4, 32.7, 32.7 }, { 4.3, 4.4, 6.2 } },
	{ "rb", 8, { 5.6, 32.8, 32.8 }, { 3.8, 4.4, 6.2 } },
	{ "rb", 8192, { 5.6, 32.8, 32.8 }, { 3.8, 4.4, 6.2 } },
	{ "rc", 8, { 2.6, 19.3, 19.3 }, { 2.1, 4.4, 6.2 } },
	{ "rc", 8192, { 31.4, 32.8, 32.8 }, { 4.4, 4.4, 6.2 } },
	{ "rnb", 8, { 18.4, 32.8, 32.8 }, { 3.3, 4.4, 6.2 } },
	{ "rnb", 8192, { 31.4, 32.7, 32.7 }, { 4.4, 4.4, 6.2 } },
	{ "rbb", 8, { 6.2, 32.8, 32.8 }, { 3.7, 4.4, 6.2 } },
	{ "rbb", 8192, { 8.3, 32.8, 32.8 }, { 4.3, 4.4, 6.2 } },
	{ "rcb", 8, { 27.6, 32.8, 32.8 }, { 4.1, 4.4, 6.2 } },
	{ "rcb", 8192, { 10.5, 32.8, 32.8 }, { 4.5, 4.4, 6.2 } },
	{ "rbc", 8, { 2, 15.9, 15.9 }, { 2, 4.4, 6.2 } },
	{ "rbc", 8192, { 6.6, 32.8, 32.8 }, { 4.2, 4.4, 6.2 } },
	{ "rcc", 8, { 2.4, 16.2, 16.2 }, { 2.3, 4.4, 6.2 } },
	{ "rcc", 8192, { 10.1, 32.8, 32.8 }, { 4.2, 4.4, 6.2 } },
	{ "rcn", 8, { 31.4, 32.8, 32.8 }, { 4.4, 4.4, 6.2 } },
	{ "rcn", 8192, { 6.7, 32.7, 32.7 }, { 3.9, 4.4, 6.2 } },
	{ "wn", 8192, { 31.6, 31.4, 31.4 }, { 4.9, 4.9, 7.4 } },
	{ "wb", 8, { 9.6, 34.8, 34.8 }, { 5, 5, 7.5 } },
	{ "wb", 8192, { 9.6, 34.8, 34.8 }, { 5, 5, 7.5 } },
	{ "wc", 8, { 1.4, 17.2, 17.2 }, { 1.4, 5, 7.4 } },
	{ "wc", 8192, { 31.6, 34.8, 34.8 }, { 4.9, 5, 7.5 } },
	{ "wnb", 8, { 31.6, 34.8, 34.8 }, { 4.9, 5, 7.5 } },
	{ "wnb", 8192, { 8.7, 34.8, 34.8 }, { 4.9, 5, 7.5 } },
	{ "wbb", 8, { 9.1, 34.8, 34.8 }, { 4.9, 5, 7.5 } },
	{ "wbb", 8192, { 9.4, 34.8, 34.8 }, { 4.9, 5, 7.5 } },
	{ "wcb", 8, { 31.6, 34.8, 34.8 }, { 4.9, 5, 7.5 } },
	{ "wcb", 8192, { 10, 34.8, 34.8 }, { 5, 5, 7.5 } },
	{ "wbc", 8, { 0.8, 13.7, 13.7 }, { 0.7, 5, 7.4 } },
	{ "wbc", 8192, { 7.8, 34.8, 34.8 }, { 4.9, 5, 7.5 } },
	{ "wcc", 8, { 1.5, 13.7, 13.7 }, { 1.5, 5, 7.4 } },
	{ "wcc", 8192, { 9.5, 34.8, 34.8 }, { 5, 5, 7.5 } },
	{ "wcn", 8, { 31.6, 34.8, 34.8 }, { 4.9, 5, 7.5 } },
	{ "wcn", 8192, { 10.3, 34.7, 34.7 }, { 5, 5, 7.5 } },
};

/* The same distribution under another name, or the same chunks whatever the record size. */
static const char *paper_alias(const char *name)
{
	static const char *const alias[][2] = { { "nn", "n" }, { "nc", "c" }, { "bn", "b" } };
	size_t i;

	for (i = 0; i < sizeof(alias) / sizeof(alias[0]); i++)
		if (!strcmp(name, alias[i][0]))
			return alias[i][1];
	return name;
}

double bench_paper(uint32_t pattern, uint32_t record, uint32_t layout, uint32_t method)
{
	const char *name = paper_alias(bench_patterns[pattern / 2].name);
	bool whole = !strcmp(name, "a") || !strcmp(name, "n");
	const float *v;
	size_t i;

	if (layout > 1 || method == DDIO_METHOD_2P)
		return 0;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if ((rows[i].pattern[0] == 'w') != (pattern & 1) ||
		    strcmp(rows[i].pattern + 1, name))
			continue;
		if (rows[i].record != record && !whole)
			continue;
		v = layout == DDIO_CONTIGUOUS ? rows[i].contiguous : rows[i].random;
		return v[method == DDIO_METHOD_TC ? 0 : method == DDIO_METHOD_DD ? 1 : 2];
	}
	return 0;
}
