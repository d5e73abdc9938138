// SPDX-License-Identifier: GPL-2.0-only
/* The daemon's messages: to syslog, a file or standard error. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include "base/bug.h"
#include "ddiod.h"

static const char *const level_names[] = { "error", "warning", "info", "debug" };

void log_line(void *arg, enum ddio_log_level level, const char *line)
{
	static const int priorities[] = { LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
	const struct ddiod *d = arg;
	char stamp[40] = "";
	struct timespec ts;
	struct tm tm;

	if (d->log_fd < 0) {
		syslog(priorities[level], "%s", line);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &ts);
	if (gmtime_r(&ts.tv_sec, &tm))
		strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	/* One write a line: lines of several threads do not mix. */
	dprintf(d->log_fd, "%s.%03ldZ %s %s: %s\n", stamp, ts.tv_nsec / 1000000,
		d->opts.node ? d->opts.node : PROGRAM, level_names[level], line);
}

void say(const struct ddiod *d, enum ddio_log_level level, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (!d->started && level == DDIO_LOG_ERR)
		fprintf(stderr, PROGRAM ": %s\n", line);
	if (level <= d->level && (d->started || d->log_fd >= 0) &&
	    !(level == DDIO_LOG_ERR && d->log_fd == STDERR_FILENO && !d->started))
		log_line((void *)d, level, line);
}

static void log_bug(void *arg, const char *line)
{
	log_line(arg, DDIO_LOG_ERR, line);
}

void log_bugs(struct ddiod *d)
{
	ddio_bug_set_log(log_bug, d);
}

int log_open(struct ddiod *d)
{
	int fd, err;

	if (!d->opts.log_file) {
		d->log_fd = d->opts.foreground ? STDERR_FILENO : -1;
		return 0;
	}
	fd = open(d->opts.log_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
	if (fd < 0) {
		err = errno;
		say(d, DDIO_LOG_ERR, "log file %s: %s", d->opts.log_file, strerror(err));
		return -err;
	}
	if (d->log_fd < 0) {
		d->log_fd = fd;
		return 0;
	}
	/* The descriptor stays the same: other threads are using it. */
	dup3(fd, d->log_fd, O_CLOEXEC);
	close(fd);
	return 0;
}

int log_set_level(struct ddiod *d)
{
	int i;

	d->level = DDIO_LOG_INFO;
	if (!d->opts.log_level)
		return 0;
	for (i = 0; i < 4; i++) {
		if (!strcmp(d->opts.log_level, level_names[i])) {
			d->level = i;
			return 0;
		}
	}
	fprintf(stderr, PROGRAM ": --log-level: \"%s\" is not one of error, warning, info, debug\n",
		d->opts.log_level);
	return -EINVAL;
}
