// SPDX-License-Identifier: GPL-2.0-only
/* ddio top: what a cluster's nodes and disks do, again and again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ddio/ddio.h>
#include "ddio.h"
#include "screen.h"
#include "top.h"

struct top_values {
	const char *conf;
	double delay;
	uint32_t count;
	bool all, jobs;
};

static const struct ddio_opt top_opts[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, offsetof(struct top_values, conf), "FILE",
		 "the cluster's configuration ($DDIO_CONF)"),
	{ .name = "delay",
	  .letter = 'd',
	  .type = OPT_SECONDS,
	  .offset = offsetof(struct top_values, delay),
	  .arg = "TIME",
	  .help = "between two looks",
	  .min = 0.1,
	  .max = 3600,
	  .fallback = "2s" },
	DDIO_OPT("count", 'n', OPT_U32, offsetof(struct top_values, count), "N",
		 "end after so many looks (until q is pressed)"),
	DDIO_OPT("all", 'a', OPT_FLAG, offsetof(struct top_values, all), NULL,
		 "show idle disks and jobs, too"),
	DDIO_OPT("jobs", 'j', OPT_FLAG, offsetof(struct top_values, jobs), NULL,
		 "show jobs instead of disks"),
	{ 0 },
};

const struct opt_cmd opts_top = {
	"ddio", "top", NULL, "Show what nodes and disks do, again and again.", top_opts, 0, 0
};

static void show_sum(struct screen *screen, const struct metrics *now, const struct top_sum *sum)
{
	char line[256], stamp[16], rb[16], wb[16];
	time_t t = time(NULL);
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(stamp, sizeof(stamp), "%H:%M:%S", &tm);
	snprintf(line, sizeof(line),
		 "%s  %u of %u nodes up, %u disks: read %s/s, written %s/s, %.1f collectives/s, "
		 "%.1f other requests/s, %llu connections",
		 stamp, sum->up, now->nnodes, now->ndisks, cmd_human((uint64_t)sum->read, rb),
		 cmd_human((uint64_t)sum->written, wb), sum->collectives, sum->requests,
		 (unsigned long long)sum->connections);
	screen_line(screen, line);
}

static void show_down(struct screen *screen, const struct metrics *now)
{
	char line[1024];
	uint32_t i;

	for (i = 0; i < now->nnodes; i++) {
		const struct ddio_node_state *n = &now->node[i];

		if (!n->error)
			continue;
		snprintf(line, sizeof(line), "%s is down: %s", n->name,
			 n->reason[0] ? n->reason : strerror(-n->error));
		screen_line(screen, line);
	}
}

static bool show_disk(struct screen *screen, const struct top_disk *d)
{
	char line[800], rb[16], wb[16], hits[16] = "-";
	const struct ddio_disk_state *now = d->now;

	if (d->hits >= 0)
		snprintf(hits, sizeof(hits), "%.0f%%", 100 * d->hits);
	snprintf(line, sizeof(line),
		 "%-8s %-10s %-8s %4.0f%% %9s %9s %10.1f %6llu %8llu %6s %6llu %6llu", now->name,
		 now->node, now->engine, 100 * d->busy, cmd_human((uint64_t)d->read, rb),
		 cmd_human((uint64_t)d->written, wb), d->requests, (unsigned long long)now->queue,
		 (unsigned long long)now->buffers, hits, (unsigned long long)now->cache_dirty,
		 (unsigned long long)now->errors);
	return screen_line(screen, line);
}

static void show_disks(struct screen *screen, const struct top_disk *disk, uint32_t n, bool all)
{
	char line[200];
	uint32_t i;

	snprintf(line, sizeof(line), "%-8s %-10s %-8s %5s %9s %9s %10s %6s %8s %6s %6s %6s", "disk",
		 "node", "engine", "busy", "read/s", "written/s", "requests/s", "queue", "buffers",
		 "hits", "dirty", "errors");
	screen_line(screen, line);
	for (i = 0; i < n; i++) {
		bool idle = !disk[i].busy && !disk[i].requests && !disk[i].now->queue &&
			    !disk[i].now->buffers;

		if ((all || !idle) && !show_disk(screen, &disk[i]))
			return;
	}
}

static bool show_job(struct screen *screen, const struct top_job *j)
{
	char line[300], rb[16], wb[16], crb[16], cwb[16];

	snprintf(line, sizeof(line), "%-20s %11llu %10.1f %9s %9s %11s %11s",
		 j->name[0] ? j->name : "(none)", (unsigned long long)j->connections, j->requests,
		 cmd_human((uint64_t)j->read, rb), cmd_human((uint64_t)j->written, wb),
		 cmd_human((uint64_t)j->coll_read, crb), cmd_human((uint64_t)j->coll_written, cwb));
	return screen_line(screen, line);
}

static int show_jobs(struct screen *screen, const struct metrics *then, const struct metrics *now,
		     bool all)
{
	struct top_job *job = calloc(now->njobs + 1, sizeof(*job));
	char line[200];
	uint32_t i, n;

	if (!job)
		return -ENOMEM;
	n = top_jobs(then, now, job);
	snprintf(line, sizeof(line), "%-20s %11s %10s %9s %9s %11s %11s", "job", "connections",
		 "requests/s", "read/s", "written/s", "coll.read/s", "coll.writ/s");
	screen_line(screen, line);
	for (i = 0; i < n; i++) {
		bool idle = !job[i].requests && !job[i].coll_read && !job[i].coll_written;

		if ((all || !idle) && !show_job(screen, &job[i]))
			break;
	}
	free(job);
	return 0;
}

static int show(const struct metrics *then, const struct metrics *now, bool first,
		const struct top_values *v)
{
	struct top_disk *disk = calloc(now->ndisks + 1, sizeof(*disk));
	struct screen screen;
	struct top_sum sum;
	uint32_t n;
	int err = 0;

	if (!disk)
		return -ENOMEM;
	n = top_disks(then, now, disk);
	top_sum(then, now, disk, n, &sum);
	screen_begin(&screen, first);
	show_sum(&screen, now, &sum);
	show_down(&screen, now);
	if (v->jobs)
		err = show_jobs(&screen, then, now, v->all);
	else
		show_disks(&screen, disk, n, v->all);
	free(disk);
	return err ? err : screen_end(&screen);
}

static int look(struct ddio_session *s, bool jobs, struct metrics *now)
{
	int err = ddio_nodes(s, metrics_node, now);

	if (!err)
		err = ddio_disks(s, metrics_disk, now);
	if (!err && jobs)
		err = ddio_jobs(s, metrics_job, now);
	top_jobs_sort(now);
	return err ? err : now->nomem;
}

static int top(struct ddio_session *s, const struct top_values *v)
{
	struct metrics then = { 0 }, now;
	uint32_t i;
	int err;

	for (i = 0;; i++) {
		now = (struct metrics){ 0 };
		err = look(s, v->jobs, &now);
		if (!err)
			err = show(&then, &now, !i, v);
		metrics_free(&then);
		then = now;
		if (err || (v->count && i + 1 == v->count) || !screen_wait(v->delay))
			break;
	}
	metrics_free(&then);
	return err;
}

int cmd_top(int argc, char **argv)
{
	struct top_values v = { .delay = 2 };
	struct ddio_session *s;
	int err = opt_parse(&opts_top, &v, &argc, &argv);

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	s = cmd_connect("top", v.conf);
	if (!s)
		return EXIT_FAILED;
	screen_keys();
	err = top(s, &v);
	if (err)
		cmd_fail_session("top", s, err, "cannot get the state of the cluster");
	ddio_disconnect(s);
	return err ? EXIT_FAILED : EXIT_OK;
}
