/* SPDX-License-Identifier: GPL-2.0-only */
/* A progress bar on a terminal; nothing in a pipe. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct progress - a bar; set by progress_begin()
 * @what: shown in front of it
 * @total: how much there is to do
 * @last: what was shown last, in thousandths
 * @on: the bar is shown
 */
struct progress {
	const char *what;
	uint64_t total;
	uint64_t last;
	bool on;
};

/* @wanted: false shows nothing even on a terminal. */
void progress_begin(struct progress *p, const char *what, uint64_t total, bool wanted);
/* @now of the total is done; @note, or NULL, is shown after the bar. */
void progress_step(struct progress *p, uint64_t now, const char *note);
/* Removes the bar from the terminal. */
void progress_end(struct progress *p);

#endif /* TOOLS_PROGRESS_H */
