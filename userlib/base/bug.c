// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/bug.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED false
#endif

static void (*bug_log)(void *arg, const char *line);
static void *bug_log_arg;
static atomic_bool bug_fatal = SANITIZED;

void ddio_bug_set_log(void (*log)(void *arg, const char *line), void *arg)
{
	bug_log = log;
	bug_log_arg = arg;
}

void ddio_bug_set_fatal(bool fatal)
{
	atomic_store(&bug_fatal, fatal);
}

void ddio_bug(const char *file, int line, const char *fmt, ...)
{
	char what[400], report[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	snprintf(report, sizeof(report), "bug at %s:%d: %s", file, line, what);
	if (bug_log)
		bug_log(bug_log_arg, report);
	else
		fprintf(stderr, "ddio: %s\n", report);
	if (atomic_load(&bug_fatal))
		abort();
}
