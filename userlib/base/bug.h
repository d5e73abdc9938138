/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Broken invariants: states that no input, no peer and no lack of memory can bring about, but only a
 * fault of this code.  In production one line is logged and the caller takes the way out that does
 * least harm; sanitizer builds and simulated worlds stop, so that tests find the fault where it is:
 *
 *	if (bug_on(disk->in_flight, "disk %s: closed with requests in flight", disk->name))
 *		return;
 */
#ifndef DDIO_BUG_H
#define DDIO_BUG_H

#include <stdbool.h>

/* Is true if @cond is, which must not happen; the text, as for printf(), is required. */
#define bug_on(cond, ...) \
	(__builtin_expect(!!(cond), 0) && (ddio_bug(__FILE__, __LINE__, __VA_ARGS__), true))

/* Reports a bug whether or not the caller has a way out; see bug_on(). */
void ddio_bug(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * ddio_bug_set_log - choose where reports go
 * @log: gets each report as one line without its end; any thread may call it.  NULL: standard error
 * @arg: for @log
 *
 * For the whole process; to be called while it has one thread.
 */
void ddio_bug_set_log(void (*log)(void *arg, const char *line), void *arg);

/* Returns whether a bug ends the process.  At first true in sanitizer builds only. */
void ddio_bug_set_fatal(bool fatal);

#endif /* DDIO_BUG_H */
