// SPDX-License-Identifier: GPL-2.0-only
/*
 * The node's state for Prometheus, told by a thread of its own that touches nothing of the node: it asks, and reactor 0 hands
 * it the text.  A reactor that a disk holds up gives no answer, and whoever asks for metrics hears that after two seconds.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "ddiod.h"
#include "http.h"
#include "iop/iop.h"
#include "metrics.h"
#include "proto/proto.h"
#include "tools/common/metrics.h"

/**
 * struct metrics_server - the thread and its question to the node
 * @wake: eventfd, readable when @ending or @told has changed
 * @running: there is a thread
 * @lock: for what follows
 * @ending: the thread is to end
 * @asked: a question is under way
 * @told: it has been answered, by @text, or NULL if there was no memory
 */
struct metrics_server {
	struct ddiod *d;
	struct http_server http;
	int wake;
	pthread_t thread;
	bool running;
	pthread_mutex_t lock;
	bool ending, asked, told;
	char *text;
	size_t len;
};

static void fill_node(const struct ddiod *d, const struct ddio_msg_status *st, struct metrics *m)
{
	struct ddio_node_state n = {
		.nreactors = st->nreactors,
		.ndisks = st->ndisks,
		.uptime_ns = st->uptime_ns,
		.collectives = st->collectives,
		.requests = st->requests,
		.connections = st->connections,
		.refused = st->refused,
		.memory_bytes = st->memory_bytes,
	};

	snprintf(n.name, sizeof(n.name), "%s", st->name);
	snprintf(n.address, sizeof(n.address), "%s", d->conf->nodes[d->node].address);
	metrics_node(m, &n);
}

static void fill_disk(const char *node, const struct ddio_disk_status *st, struct metrics *m)
{
	struct ddio_disk_state d = { .disk = st->disk, .reactor = st->reactor };

	snprintf(d.name, sizeof(d.name), "%s", st->name);
	snprintf(d.node, sizeof(d.node), "%s", node);
	snprintf(d.engine, sizeof(d.engine), "%s", st->engine);
#define COPY(member, ...) d.member = st->member;
	METRICS_DISK(COPY)
	metrics_disk(m, &d);
}

static void fill_bound(const char *node, const struct ddio_bound_status *st, struct metrics *m)
{
	struct ddio_bound_state b = {
		.limit = st->limit, .now = st->now, .most = st->most, .hits = st->hits
	};

	snprintf(b.node, sizeof(b.node), "%s", node);
	snprintf(b.name, sizeof(b.name), "%s", st->name);
	metrics_bound(m, &b);
}

static void fill_job(const char *node, const struct ddio_job_status *st, struct metrics *m)
{
	struct ddio_job_state j = { .error = 0 };

	snprintf(j.node, sizeof(j.node), "%s", node);
	snprintf(j.name, sizeof(j.name), "%s", st->name);
#define COPY_JOB(member, ...) j.member = st->member;
	METRICS_JOB(COPY_JOB)
	metrics_job(m, &j);
}

/* Return: the text, allocated, or NULL. */
static char *render(const struct ddiod *d, const struct ddio_msg_status *st,
		    const struct ddio_msg_bounds *bounds, const struct ddio_msg_jobs *jobs,
		    size_t *len)
{
	struct metrics m = { 0 };
	char *text = NULL;
	uint32_t i;
	FILE *f;

	fill_node(d, st, &m);
	for (i = 0; i < st->ndisks; i++)
		fill_disk(st->name, &st->disks[i], &m);
	for (i = 0; i < bounds->n; i++)
		fill_bound(st->name, &bounds->bound[i], &m);
	for (i = 0; i < jobs->n; i++)
		fill_job(st->name, &jobs->job[i], &m);
	f = m.nomem ? NULL : open_memstream(&text, len);
	if (f) {
		metrics_write(&m, f);
		if (fclose(f)) {
			free(text);
			text = NULL;
		}
	}
	metrics_free(&m);
	return text;
}

static void wake(const struct metrics_server *s)
{
	uint64_t one = 1;

	if (write(s->wake, &one, sizeof(one)) < 0)
		say(s->d, DDIO_LOG_ERR, "metrics: %s", strerror(errno));
}

/* Runs on reactor 0. */
static void looked(void *arg, const struct ddio_msg_status *st,
		   const struct ddio_msg_bounds *bounds, const struct ddio_msg_jobs *jobs)
{
	struct metrics_server *s = arg;
	size_t len = 0;
	char *text = st ? render(s->d, st, bounds, jobs, &len) : NULL;

	pthread_mutex_lock(&s->lock);
	s->text = text;
	s->len = len;
	s->told = true;
	wake(s);
	pthread_mutex_unlock(&s->lock);
}

/* Asks the node, unless a question is under way.  Return: 0 or -ENOMEM. */
static int ask(void *arg)
{
	struct metrics_server *s = arg;
	bool asked;
	int err;

	pthread_mutex_lock(&s->lock);
	asked = s->asked;
	s->asked = true;
	pthread_mutex_unlock(&s->lock);
	err = asked ? 0 : ddio_iop_look(s->d->iop, looked, s);
	if (err) {
		pthread_mutex_lock(&s->lock);
		s->asked = false;
		pthread_mutex_unlock(&s->lock);
	}
	return err;
}

/* Return: whether the thread is to end. */
static bool handle_wake(struct metrics_server *s)
{
	uint64_t n;
	bool ending;

	if (read(s->wake, &n, sizeof(n)) < 0)
		return false;
	pthread_mutex_lock(&s->lock);
	if (s->told) {
		http_answer(&s->http, s->text, s->len);
		free(s->text);
		s->text = NULL;
		s->asked = s->told = false;
	}
	ending = s->ending;
	pthread_mutex_unlock(&s->lock);
	return ending;
}

static void *run(void *arg)
{
	struct metrics_server *s = arg;
	struct pollfd fds[HTTP_FDS + 1];
	int ms;

	for (;;) {
		ms = http_wait(&s->http, fds);
		fds[HTTP_FDS] = (struct pollfd){ .fd = s->wake, .events = POLLIN };
		if (poll(fds, HTTP_FDS + 1, ms) < 0) {
			if (errno != EINTR)
				break;
			continue;
		}
		if (fds[HTTP_FDS].revents && handle_wake(s))
			break;
		http_serve(&s->http, fds);
	}
	return NULL;
}

static void server_free(struct metrics_server *s)
{
	if (!s)
		return;
	http_close(&s->http);
	if (s->wake >= 0)
		close(s->wake);
	free(s->text);
	free(s);
}

static int server_new(struct ddiod *d, struct metrics_server **server)
{
	struct metrics_server *s = calloc(1, sizeof(*s));
	int err;

	*server = s;
	if (!s)
		return -ENOMEM;
	s->d = d;
	s->http.ask = ask;
	s->http.arg = s;
	pthread_mutex_init(&s->lock, NULL);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = http_open(&s->http, d->opts.metrics);
	if (!err && s->wake < 0)
		err = -EMFILE;
	return err;
}

int metrics_listen(struct ddiod *d)
{
	struct metrics_server *s;
	int err;

	if (!d->opts.metrics)
		return 0;
	err = server_new(d, &s);
	if (err) {
		say(d, DDIO_LOG_ERR, "cannot tell metrics at %s: %s", d->opts.metrics,
		    strerror(-err));
		server_free(s);
		return err;
	}
	d->metrics = s;
	return 0;
}

int metrics_start(struct ddiod *d)
{
	struct metrics_server *s = d->metrics;
	int err = s ? -pthread_create(&s->thread, NULL, run, s) : 0;

	if (err)
		say(d, DDIO_LOG_ERR, "cannot start the thread of --metrics: %s", strerror(-err));
	else if (s)
		s->running = true;
	return err;
}

void metrics_stop(struct ddiod *d)
{
	struct metrics_server *s = d->metrics;
	bool answer_to_come;

	if (!s)
		return;
	d->metrics = NULL;
	if (!s->running) {
		server_free(s);
		return;
	}
	pthread_mutex_lock(&s->lock);
	s->ending = true;
	wake(s);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	pthread_mutex_lock(&s->lock);
	answer_to_come = s->asked && !s->told;
	pthread_mutex_unlock(&s->lock);
	/* What a reactor that is held up may still write to stays. */
	if (answer_to_come)
		http_close(&s->http);
	else
		server_free(s);
}
