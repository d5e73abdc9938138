/* SPDX-License-Identifier: GPL-2.0-only */
/* A screen full of lines that is shown again and again: on a terminal over itself, elsewhere one after another. */
#ifndef TOOLS_SCREEN_H
#define TOOLS_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct screen - where lines go
 * @tty: a terminal, which is written over
 * @left: lines that there is room for, of @width characters; UINT32_MAX: any number
 */
struct screen {
	bool tty;
	uint32_t left, width;
};

/* From now on keys come without Enter, and are not shown, until the program ends, whichever way. */
void screen_keys(void);
/* Waits for the next look.  Return: false if the user has had enough and pressed q. */
bool screen_wait(double seconds);
void screen_begin(struct screen *screen, bool first);
/* A line is cut where the terminal ends.  Return: false if there is no room for one. */
bool screen_line(struct screen *screen, const char *line);
/* Return: 0, or -errno of the output. */
int screen_end(const struct screen *screen);

#endif /* TOOLS_SCREEN_H */
