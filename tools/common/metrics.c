// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "metrics.h"
#include "version.h"

enum metric_kind { GAUGE, COUNTER, SECONDS };

/* Grows *@array, whose elements have @size bytes, by one, and copies @one there. */
static int add(struct metrics *m, void *array, uint32_t *n, const void *one, size_t size)
{
	void **at = array;
	void *more = realloc(*at, (*n + 1) * size);

	if (!more) {
		m->nomem = -ENOMEM;
		return -ENOMEM;
	}
	*at = more;
	memcpy((char *)more + (*n)++ * size, one, size);
	return 0;
}

int metrics_node(void *metrics, const struct ddio_node_state *st)
{
	struct metrics *m = metrics;

	return add(m, &m->node, &m->nnodes, st, sizeof(*st));
}

int metrics_disk(void *metrics, const struct ddio_disk_state *st)
{
	struct metrics *m = metrics;

	return add(m, &m->disk, &m->ndisks, st, sizeof(*st));
}

int metrics_bound(void *metrics, const struct ddio_bound_state *st)
{
	struct metrics *m = metrics;

	return add(m, &m->bound, &m->nbounds, st, sizeof(*st));
}

int metrics_job(void *metrics, const struct ddio_job_state *st)
{
	struct metrics *m = metrics;

	return add(m, &m->job, &m->njobs, st, sizeof(*st));
}

void metrics_free(struct metrics *m)
{
	free(m->node);
	free(m->disk);
	free(m->bound);
	free(m->job);
	memset(m, 0, sizeof(*m));
}

static const char *suffix(enum metric_kind kind)
{
	return kind == GAUGE ? "" : "_total";
}

static void family(FILE *f, const char *of, const char *name, enum metric_kind kind,
		   const char *help)
{
	fprintf(f, "# HELP ddio_%s_%s%s %s\n# TYPE ddio_%s_%s%s %s\n", of, name, suffix(kind), help,
		of, name, suffix(kind), kind == GAUGE ? "gauge" : "counter");
}

/* A label's value, in which three characters are escaped. */
static void label(FILE *f, const char *before, const char *value)
{
	fputs(before, f);
	for (; *value; value++) {
		if (*value == '\n') {
			fputs("\\n", f);
			continue;
		}
		if (*value == '\\' || *value == '"')
			fputc('\\', f);
		fputc(*value, f);
	}
	fputc('"', f);
}

static void value(FILE *f, enum metric_kind kind, uint64_t v)
{
	if (kind == SECONDS)
		fprintf(f, "} %llu.%09llu\n", (unsigned long long)(v / 1000000000),
			(unsigned long long)(v % 1000000000));
	else
		fprintf(f, "} %llu\n", (unsigned long long)v);
}

static void sample(FILE *f, const char *of, const char *name, enum metric_kind kind)
{
	fprintf(f, "ddio_%s_%s%s", of, name, suffix(kind));
}

static void write_up(const struct metrics *m, FILE *f)
{
	uint32_t i;

	family(f, "node", "up", GAUGE, "Whether the node gave an answer.");
	for (i = 0; i < m->nnodes; i++) {
		label(f, "ddio_node_up{node=\"", m->node[i].name);
		label(f, ",address=\"", m->node[i].address);
		value(f, GAUGE, !m->node[i].error);
	}
}

#define NODE_FIELDS(X)                                                               \
	X(nreactors, GAUGE, "reactors", "Threads that serve.")                       \
	X(ndisks, GAUGE, "disks", "Disks of the node.")                              \
	X(collectives, COUNTER, "collectives", "Collective requests.")               \
	X(requests, COUNTER, "requests", "All other requests.")                      \
	X(connections, GAUGE, "connections", "Connections that are open.")           \
	X(refused, COUNTER, "refused_connections", "Connections that were refused.") \
	X(memory_bytes, GAUGE, "memory_bytes", "Memory of caches and buffers.")      \
	X(uptime_ns, SECONDS, "serving_seconds", "Time since the node started.")

static void write_nodes(const struct metrics *m, FILE *f)
{
	uint32_t i;

	write_up(m, f);
#define NODE(member, k, family_name, help)             \
	family(f, "node", family_name, k, help);       \
	for (i = 0; i < m->nnodes; i++) {              \
		if (m->node[i].error)                  \
			continue;                      \
		sample(f, "node", family_name, k);     \
		label(f, "{node=\"", m->node[i].name); \
		value(f, k, m->node[i].member);        \
	}
	NODE_FIELDS(NODE)
}

static void disk_labels(FILE *f, const struct ddio_disk_state *d)
{
	label(f, "{node=\"", d->node);
	label(f, ",disk=\"", d->name);
	label(f, ",engine=\"", d->engine);
}

static void write_disks(const struct metrics *m, FILE *f)
{
	uint32_t i;

#define DISK(member, k, family_name, help)         \
	family(f, "disk", family_name, k, help);   \
	for (i = 0; i < m->ndisks; i++) {          \
		if (m->disk[i].error)              \
			continue;                  \
		sample(f, "disk", family_name, k); \
		disk_labels(f, &m->disk[i]);       \
		value(f, k, m->disk[i].member);    \
	}
	METRICS_DISK(DISK)
}

#define BOUND_FIELDS(X)                                          \
	X(limit, GAUGE, "limit", "What one holder may have.")    \
	X(now, GAUGE, "held", "What all holders have.")          \
	X(most, GAUGE, "held_most", "What one holder ever had.") \
	X(hits, COUNTER, "hits", "How often a holder was refused more, or had to wait.")

static void write_bounds(const struct metrics *m, FILE *f)
{
	uint32_t i;

#define BOUND(member, k, family_name, help)              \
	family(f, "bound", family_name, k, help);        \
	for (i = 0; i < m->nbounds; i++) {               \
		if (m->bound[i].error)                   \
			continue;                        \
		sample(f, "bound", family_name, k);      \
		label(f, "{node=\"", m->bound[i].node);  \
		label(f, ",bound=\"", m->bound[i].name); \
		value(f, k, m->bound[i].member);         \
	}
	BOUND_FIELDS(BOUND)
}

static void write_jobs(const struct metrics *m, FILE *f)
{
	uint32_t i;

#define JOB(member, k, family_name, help)             \
	family(f, "job", family_name, k, help);       \
	for (i = 0; i < m->njobs; i++) {              \
		if (m->job[i].error)                  \
			continue;                     \
		sample(f, "job", family_name, k);     \
		label(f, "{node=\"", m->job[i].node); \
		label(f, ",job=\"", m->job[i].name);  \
		value(f, k, m->job[i].member);        \
	}
	METRICS_JOB(JOB)
}

void metrics_write(const struct metrics *m, FILE *f)
{
	fputs("# HELP ddio_build_info Version and commit of the program that tells this.\n"
	      "# TYPE ddio_build_info gauge\n",
	      f);
	label(f, "ddio_build_info{version=\"", tool_version);
	label(f, ",commit=\"", tool_commit);
	value(f, GAUGE, 1);
	write_nodes(m, f);
	write_disks(m, f);
	write_bounds(m, f);
	write_jobs(m, f);
}
