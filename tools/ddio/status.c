// SPDX-License-Identifier: GPL-2.0-only
/* ddio status: nodes, disks and their counters. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <ddio/ddio.h>
#include "ddio.h"
#include "tools/common/metrics.h"

struct status_values {
	const char *conf;
	bool csv, nodes, bounds, jobs, space, metrics;
};

static const struct ddio_opt status_opts[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, offsetof(struct status_values, conf), "FILE",
		 "the cluster's configuration ($DDIO_CONF)"),
	DDIO_OPT("nodes", 'n', OPT_FLAG, offsetof(struct status_values, nodes), NULL,
		 "show nodes only, without their disks"),
	DDIO_OPT("bounds", 'b', OPT_FLAG, offsetof(struct status_values, bounds), NULL,
		 "show what clients may take of each node, and have taken"),
	DDIO_OPT("jobs", 'j', OPT_FLAG, offsetof(struct status_values, jobs), NULL,
		 "show what each job has asked of each node"),
	DDIO_OPT("space", 's', OPT_FLAG, offsetof(struct status_values, space), NULL,
		 "show how the free space of each disk lies"),
	DDIO_OPT("csv", 0, OPT_FLAG, offsetof(struct status_values, csv), NULL,
		 "print every counter of every disk, or with --space its space, comma-separated"),
	DDIO_OPT("metrics", 'm', OPT_FLAG, offsetof(struct status_values, metrics), NULL,
		 "print all of it as Prometheus reads it"),
	{ 0 },
};

const struct opt_cmd opts_status = {
	"ddio", "status", NULL, "Show nodes, disks and their counters.", status_opts, 0, 0
};

struct status_count {
	bool csv;
	uint32_t shown, down;
};

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static int show_node(void *arg, const struct ddio_node_state *n)
{
	struct status_count *c = arg;
	char mem[16];

	c->shown++;
	if (n->error) {
		c->down++;
		printf("%-10s %-22s down: %s\n", n->name, n->address,
		       n->reason[0] ? n->reason : strerror(-n->error));
		return 0;
	}
	printf("%-10s %-22s up %llu s, %u reactor%s, %u disk%s, %llu connection%s, %llu request%s, "
	       "%llu collective%s, %llu refused, %s in buffers\n",
	       n->name, n->address, (unsigned long long)(n->uptime_ns / 1000000000), n->nreactors,
	       plural(n->nreactors), n->ndisks, plural(n->ndisks),
	       (unsigned long long)n->connections, plural(n->connections),
	       (unsigned long long)n->requests, plural(n->requests),
	       (unsigned long long)n->collectives, plural(n->collectives),
	       (unsigned long long)n->refused, cmd_human(n->memory_bytes, mem));
	return 0;
}

static int show_bound(void *arg, const struct ddio_bound_state *b)
{
	struct status_count *c = arg;

	if (!c->shown++)
		printf("%-10s %-20s %12s %12s %12s %12s\n", "node", "bound", "limit", "now", "most",
		       "hits");
	if (b->error) {
		c->down++;
		printf("%-10s no answer: %s\n", b->node,
		       b->reason[0] ? b->reason : strerror(-b->error));
		return 0;
	}
	printf("%-10s %-20s %12llu %12llu %12llu %12llu\n", b->node, b->name,
	       (unsigned long long)b->limit, (unsigned long long)b->now,
	       (unsigned long long)b->most, (unsigned long long)b->hits);
	return 0;
}

static int show_job(void *arg, const struct ddio_job_state *j)
{
	struct status_count *c = arg;
	char rb[16], wb[16], crb[16], cwb[16];

	if (!c->shown++)
		printf("%-10s %-20s %11s %10s %9s %9s %11s %9s %9s %5s\n", "node", "job",
		       "connections", "requests", "read", "written", "collectives", "coll.read",
		       "coll.writ", "wrong");
	if (j->error) {
		c->down++;
		printf("%-10s no answer: %s\n", j->node,
		       j->reason[0] ? j->reason : strerror(-j->error));
		return 0;
	}
	printf("%-10s %-20s %11llu %10llu %9s %9s %11llu %9s %9s %5llu\n", j->node,
	       j->name[0] ? j->name : "(none)", (unsigned long long)j->connections,
	       (unsigned long long)j->requests, cmd_human(j->read_bytes, rb),
	       cmd_human(j->write_bytes, wb), (unsigned long long)j->collectives,
	       cmd_human(j->coll_read_bytes, crb), cmd_human(j->coll_write_bytes, cwb),
	       (unsigned long long)j->told);
	return 0;
}

static int show_space(void *arg, const struct ddio_space_state *d)
{
	struct status_count *c = arg;
	char free_[16], mean[16], longest[16], shared[16];
	uint64_t each = d->ranges ? d->free / d->ranges : 0;

	c->down += d->error != 0;
	if (!c->shown++)
		printf(c->csv ? "%s,%s,%s,%s,%s,%s\n" : "%-10s %-10s %8s %10s %8s %8s %8s\n",
		       "disk", "node", "free", "ranges", c->csv ? "longest" : "mean",
		       c->csv ? "shared" : "longest", "shared");
	if (c->csv)
		printf("%s,%s,%llu,%llu,%llu,%llu\n", d->name, d->node, (unsigned long long)d->free,
		       (unsigned long long)d->ranges, (unsigned long long)d->longest,
		       (unsigned long long)d->shared);
	else if (d->error)
		printf("%-10s %-10s no answer: %s\n", d->name, d->node,
		       d->reason[0] ? d->reason : strerror(-d->error));
	else
		printf("%-10s %-10s %8s %10llu %8s %8s %8s\n", d->name, d->node,
		       cmd_human(d->free, free_), (unsigned long long)d->ranges,
		       cmd_human(each, mean), cmd_human(d->longest, longest),
		       cmd_human(d->shared, shared));
	return 0;
}

static void show_disk_head(void)
{
	printf("\n%-8s %-8s %-8s %6s %6s %8s %8s %7s %7s %7s %7s %7s %6s %8s %6s %4s\n", "disk",
	       "node", "engine", "size", "free", "reads", "writes", "read", "written", "hit%",
	       "pf used", "wasted", "dirty", "seeks", "queue", "buf");
}

static int show_disk(void *arg, const struct ddio_disk_state *d)
{
	char size[16], free_[16], rb[16], wb[16];
	uint64_t look = d->cache_hits + d->cache_misses;

	(void)arg;
	if (d->error)
		return 0;
	printf("%-8s %-8s %-8s %6s %6s %8llu %8llu %7s %7s %6.1f%% %7llu %7llu %6llu %8llu "
	       "%3llu/%-3llu %llu/%llu\n",
	       d->name, d->node, d->engine, cmd_human(d->size, size), cmd_human(d->free, free_),
	       (unsigned long long)d->reads, (unsigned long long)d->writes,
	       cmd_human(d->read_bytes, rb), cmd_human(d->write_bytes, wb),
	       look ? 100.0 * (double)d->cache_hits / (double)look : 0.0,
	       (unsigned long long)d->prefetch_used, (unsigned long long)d->prefetch_wasted,
	       (unsigned long long)d->cache_dirty, (unsigned long long)d->seeks,
	       (unsigned long long)d->queue, (unsigned long long)d->max_queue,
	       (unsigned long long)d->buffers, (unsigned long long)d->max_buffers);
	return 0;
}

static int csv_disk(void *arg, const struct ddio_disk_state *d)
{
	struct status_count *c = arg;

#define NAME(f, ...) "," #f
#define VALUE(f, ...) printf(",%llu", (unsigned long long)d->f);
	if (!c->shown++)
		printf("disk,node,engine,error" METRICS_DISK(NAME) "\n");
	printf("%s,%s,%s,%d", d->name, d->node, d->engine, d->error);
	METRICS_DISK(VALUE)
	putchar('\n');
	c->down += d->error != 0;
	return 0;
}

static int show_metrics(struct ddio_session *s, struct status_count *c)
{
	struct metrics m = { 0 };
	int err = ddio_nodes(s, metrics_node, &m);
	uint32_t i;

	if (!err)
		err = ddio_disks(s, metrics_disk, &m);
	if (!err)
		err = ddio_bounds(s, metrics_bound, &m);
	if (!err)
		err = ddio_jobs(s, metrics_job, &m);
	if (!err)
		metrics_write(&m, stdout);
	for (i = 0; i < m.nnodes; i++)
		c->down += m.node[i].error != 0;
	metrics_free(&m);
	return err;
}

static int show_tables(struct ddio_session *s, bool nodes, struct status_count *c)
{
	int err = ddio_nodes(s, show_node, c);

	if (err || nodes)
		return err;
	show_disk_head();
	return ddio_disks(s, show_disk, c);
}

int cmd_status(int argc, char **argv)
{
	struct status_values v = { 0 };
	struct status_count c = { 0 };
	struct ddio_session *s;
	int err = opt_parse(&opts_status, &v, &argc, &argv);

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	c.csv = v.csv;
	s = cmd_connect("status", v.conf);
	if (!s)
		return EXIT_FAILED;
	if (v.metrics)
		err = show_metrics(s, &c);
	else if (v.space)
		err = ddio_space(s, show_space, &c);
	else if (v.csv)
		err = ddio_disks(s, csv_disk, &c);
	else if (v.bounds)
		err = ddio_bounds(s, show_bound, &c);
	else if (v.jobs)
		err = ddio_jobs(s, show_job, &c);
	else
		err = show_tables(s, v.nodes, &c);
	if (err)
		cmd_fail_session("status", s, err, "cannot get the state of the cluster");
	ddio_disconnect(s);
	return err || c.down ? EXIT_FAILED : EXIT_OK;
}
