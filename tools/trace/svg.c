// SPDX-License-Identifier: GPL-2.0-only
#include "canvas.h"

struct svg {
	struct canvas canvas;
	FILE *out;
};

static void svg_rect(struct canvas *c, double x, double y, double w, double h, uint32_t colour)
{
	fprintf(((struct svg *)c)->out,
		"<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#%06x\"/>\n", x,
		y, w, h, colour);
}

static void svg_line(struct canvas *c, double x1, double y1, double x2, double y2, uint32_t colour)
{
	fprintf(((struct svg *)c)->out,
		"<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"#%06x\"/>\n", x1,
		y1, x2, y2, colour);
}

static void svg_text(struct canvas *c, double x, double y, const char *text, bool right)
{
	FILE *out = ((struct svg *)c)->out;
	char clean[512];
	const char *s;

	fprintf(out, "<text x=\"%.2f\" y=\"%.2f\"%s>", x, y, right ? " text-anchor=\"end\"" : "");
	for (s = trace_text(text, clean, sizeof(clean)); *s; s++) {
		if (*s == '<')
			fputs("&lt;", out);
		else if (*s == '&')
			fputs("&amp;", out);
		else
			fputc(*s, out);
	}
	fputs("</text>\n", out);
}

static const struct canvas_ops svg_ops = { .rect = svg_rect, .line = svg_line, .text = svg_text };

void trace_svg(FILE *out, const struct trace_all *t)
{
	struct svg svg = { .canvas.ops = &svg_ops, .out = out };
	int height = trace_draw_height(t);

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"10\" stroke-width=\"0.7\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
		TRACE_WIDTH, height, TRACE_WIDTH, height);
	trace_draw(&svg.canvas, t);
	fprintf(out, "</svg>\n");
}
