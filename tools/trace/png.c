// SPDX-License-Identifier: GPL-2.0-only
/* A PNG, by gnuplot: rectangles, lines and texts as data of one plot. */
#include <errno.h>
#include <stdlib.h>
#include "canvas.h"
#include "tools/common/gnuplot.h"

/**
 * struct png - what is drawn, until all of it is known
 * @rects, @lines: gnuplot's data; @script: takes the texts
 */
struct png {
	struct canvas canvas;
	FILE *script, *rects, *lines;
	char *rect_data, *line_data;
	size_t rect_len, line_len;
};

static void png_rect(struct canvas *c, double x, double y, double w, double h, uint32_t colour)
{
	fprintf(((struct png *)c)->rects, "%.2f %.2f %.2f %.2f %.2f %.2f %u\n", x + w / 2,
		y + h / 2, x, x + w, y, y + h, colour);
}

static void png_line(struct canvas *c, double x1, double y1, double x2, double y2, uint32_t colour)
{
	fprintf(((struct png *)c)->lines, "%.2f %.2f %.2f %.2f %u\n", x1, y1, x2 - x1, y2 - y1,
		colour);
}

static void png_text(struct canvas *c, double x, double y, const char *text, bool right)
{
	FILE *out = ((struct png *)c)->script;
	char clean[512];
	const char *s;

	fputs("set label '", out);
	for (s = trace_text(text, clean, sizeof(clean)); *s; s++) {
		if (*s == '\'')
			fputc('\'', out);
		fputc(*s, out);
	}
	fprintf(out, "' at %.2f,%.2f %s noenhanced font ',8'\n", x, y - 4,
		right ? "right" : "left");
}

static const struct canvas_ops png_ops = { .rect = png_rect, .line = png_line, .text = png_text };

static int open_data(struct png *p)
{
	p->rects = open_memstream(&p->rect_data, &p->rect_len);
	p->lines = open_memstream(&p->line_data, &p->line_len);
	return p->rects && p->lines ? 0 : -ENOMEM;
}

static void close_data(struct png *p)
{
	if (p->rects)
		fclose(p->rects);
	if (p->lines)
		fclose(p->lines);
}

/* Something is in each of the two, or gnuplot would not draw: there are always the frame and the legend. */
static void plot(struct png *p, FILE *out)
{
	fprintf(out,
		"plot '-' using 1:2:3:4:5:6:7 with boxxyerror fs solid noborder lc rgb variable, "
		"'-' using 1:2:3:4:5 with vectors nohead lw 0.7 lc rgb variable\n%se\n%se\n",
		p->rect_data, p->line_data);
}

int trace_png(const char *command, const char *path, const struct trace_all *t)
{
	struct png p = { .canvas.ops = &png_ops };
	int height = trace_draw_height(t), err;
	struct gnuplot g;

	err = gnuplot_open(&g, command, path, TRACE_WIDTH, height);
	if (err)
		return err;
	p.script = g.in;
	err = open_data(&p);
	if (!err) {
		fprintf(g.in,
			"unset border\nunset tics\nunset key\nset lmargin 0\nset rmargin 0\n"
			"set tmargin 0\nset bmargin 0\nset xrange [0:%d]\nset yrange [%d:0]\n",
			TRACE_WIDTH, height);
		trace_draw(&p.canvas, t);
	}
	close_data(&p);
	if (!err)
		plot(&p, g.in);
	free(p.rect_data);
	free(p.line_data);
	return gnuplot_close(&g, command) ? -EIO : err;
}
