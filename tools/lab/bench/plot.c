// SPDX-License-Identifier: GPL-2.0-only
/* Bars per pattern, the papers' figures beside ours. */
#include <errno.h>
#include "bench.h"
#include "tools/common/gnuplot.h"

struct series {
	uint32_t method;
	bool paper;
	const char *style;
};

static const struct series all_series[] = {
	{ DDIO_METHOD_TC, false, "lc rgb '#c0392b' fs solid 0.9" },
	{ DDIO_METHOD_TC, true, "lc rgb '#c0392b' fs pattern 4" },
	{ DDIO_METHOD_2P, false, "lc rgb '#e0a020' fs solid 0.9" },
	{ DDIO_METHOD_DD, false, "lc rgb '#6fa8dc' fs solid 0.9" },
	{ DDIO_METHOD_DD, true, "lc rgb '#6fa8dc' fs pattern 4" },
	{ DDIO_METHOD_DDS, false, "lc rgb '#1f4e79' fs solid 0.9" },
	{ DDIO_METHOD_DDS, true, "lc rgb '#1f4e79' fs pattern 4" },
};

#define NR_SERIES (sizeof(all_series) / sizeof(all_series[0]))

static bool has_method(const struct bench_spec *s, uint32_t method)
{
	uint32_t m;

	for (m = 0; m < s->nmethods; m++)
		if (s->methods[m] == method)
			return true;
	return false;
}

static void panel_data(FILE *f, const struct bench_spec *s, const struct bench_shared *sh,
		       uint32_t layout, uint32_t record)
{
	struct bench_cell c;
	char name[8];
	uint32_t p;
	size_t i;

	fprintf(f, "$data << END\n");
	for (p = 0; p < s->npatterns; p++) {
		bench_pattern_name(s->patterns[p], name);
		fprintf(f, "%s", name);
		for (i = 0; i < NR_SERIES; i++) {
			const struct series *e = &all_series[i];

			c.median = 0;
			if (e->paper)
				c.median = bench_paper(s->patterns[p], record, layout, e->method);
			else
				bench_cell(s, sh, s->patterns[p], record, layout, e->method, &c);
			fprintf(f, " %.3f", c.median);
		}
		fprintf(f, "\n");
	}
	fprintf(f, "END\n");
}

static void panel(FILE *f, const struct bench_spec *s, const struct bench_shared *sh,
		  uint32_t layout, uint32_t record)
{
	bool first = true;
	size_t i;

	panel_data(f, s, sh, layout, record);
	fprintf(f, "set title '%s, %u-byte records'\nplot ", bench_layout_name(layout), record);
	for (i = 0; i < NR_SERIES; i++) {
		const struct series *e = &all_series[i];

		if (!has_method(s, e->method) || (e->paper && !s->paper))
			continue;
		fprintf(f, "%s$data using %zu:xtic(1) title '%s%s' %s", first ? "" : ", ", i + 2,
			bench_method_name(e->method), e->paper ? " published" : "", e->style);
		first = false;
	}
	fprintf(f, "\n");
}

int bench_plot(const char *path, const struct bench_spec *s, const struct bench_shared *sh)
{
	uint32_t panels = s->nlayouts * s->nrecords, l, r;
	struct gnuplot g;
	int err = gnuplot_open(&g, "bench", path, 1500, 380 * (int)panels + 40);

	if (err)
		return err;
	fprintf(g.in,
		"set style data histograms\nset style histogram clustered gap 1\n"
		"set boxwidth 0.95\nset ylabel 'MB/s'\nset yrange [0:*]\nset grid y\n"
		"set key outside right top\nset xtics rotate by 0\n"
		"set multiplot layout %u,1 title 'ddio: %u compute processes, %u I/O processors, "
		"%u disks (%s)'\n",
		panels, s->cps, s->iops, s->iops * s->disks, sh->engine);
	for (l = 0; l < s->nlayouts; l++)
		for (r = 0; r < s->nrecords; r++)
			panel(g.in, s, sh, s->layouts[l], s->records[r]);
	fprintf(g.in, "unset multiplot\n");
	return gnuplot_close(&g, "bench");
}
