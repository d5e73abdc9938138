/* SPDX-License-Identifier: GPL-2.0-only */
/* What a picture is drawn on: an SVG, which this program writes, or a PNG, by gnuplot. */
#ifndef TOOLS_TRACE_CANVAS_H
#define TOOLS_TRACE_CANVAS_H

#include "trace.h"

struct canvas;

/**
 * struct canvas_ops - drawing; the origin is the top left corner, colours are 0xrrggbb
 * @rect: filled; @line; @text: its left end, or its right end if @right, at (@x, @y)
 */
struct canvas_ops {
	void (*rect)(struct canvas *c, double x, double y, double w, double h, uint32_t colour);
	void (*line)(struct canvas *c, double x1, double y1, double x2, double y2, uint32_t colour);
	void (*text)(struct canvas *c, double x, double y, const char *text, bool right);
};

struct canvas {
	const struct canvas_ops *ops;
};

/* draw.c: the height of the picture, and the picture; its width is TRACE_WIDTH. */
#define TRACE_WIDTH 1200
int trace_draw_height(const struct trace_all *t);
void trace_draw(struct canvas *c, const struct trace_all *t);
/* svg.c, png.c: 0, or a negative errno after a message. */
void trace_svg(FILE *out, const struct trace_all *t);
int trace_png(const char *command, const char *path, const struct trace_all *t);

#endif /* TOOLS_TRACE_CANVAS_H */
