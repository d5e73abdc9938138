// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws the distributions of traces.
 */
#include "tools/lab/disk_model/disk_model.h"
#include "tools/common/gnuplot.h"

/* Prints a string in gnuplot's single quotes. */
static void quote(FILE *out, const char *s)
{
	fputc('\'', out);
	for (; *s; s++) {
		if (*s == '\'')
			fputc('\'', out);
		fputc(*s == '\n' ? ' ' : *s, out);
	}
	fputc('\'', out);
}

/* Prints one curve as inline data: a time, and the share of requests served by then. */
static void curve_write(FILE *out, const double *ms, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		fprintf(out, "%.6f %.6f\n", ms[i], (double)(i + 1) / (double)n);
	fprintf(out, "e\n");
}

/* Each trace is a broad band of its own colour; the model's line runs on top of it. */
static void script_write(FILE *out, const struct comparison *c, const char *const *names, size_t n)
{
	size_t i;

	fprintf(out, "set title 'HP 97560: cumulative distribution of service times'\n"
		     "set xlabel 'service time (ms)'\nset ylabel 'share of the requests'\n"
		     "set yrange [0:1.02]\nset xrange [0:*]\nset grid\n"
		     "set key below Left reverse noenhanced maxcols 2\nplot ");
	for (i = 0; i < n; i++) {
		fprintf(out, "%s'-' with steps lw 7 lc %zu title ", i ? ", " : "", i + 1);
		quote(out, names[i]);
		fprintf(out, ", '-' with steps lw 1.5 lc 'black' %s",
			i + 1 < n ? "notitle" : "title 'model'");
	}
	fprintf(out, "\n");
	for (i = 0; i < n; i++) {
		curve_write(out, c[i].trace_ms, c[i].n);
		curve_write(out, c[i].model_ms, c[i].n);
	}
}

int comparison_plot(const struct comparison *c, const char *const *names, size_t n,
		    const char *path)
{
	struct gnuplot g;
	int err = gnuplot_open(&g, "disk-model", path, 1000, 640 + 10 * (int)(n < 100 ? n : 100));

	if (err)
		return err;
	script_write(g.in, c, names, n);
	return gnuplot_close(&g, "disk-model");
}
