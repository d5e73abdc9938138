// SPDX-License-Identifier: GPL-2.0-only
/* The test double: time, events and processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tests/double/double_priv.h"

#define BEGINNING 1000000000ULL		   /* of virtual time, since 0 is never */
#define WALL_OFFSET 1700000000000000000ULL /* wall-clock time at virtual time 0 */
#define HOUR 3600000000000ULL

uint64_t double_random(struct ddio_world *world)
{
	uint64_t z = world->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

void double_event(struct denv *env, struct ddio_timer *event, uint64_t when)
{
	struct ddio_world *world = env->world;

	env->events.seq = world->seq++;
	if (ddio_heap_put(&env->events, event, when < world->now ? world->now : when))
		abort();
}

void double_event_cancel(struct denv *env, struct ddio_timer *event)
{
	ddio_heap_remove(&env->events, event);
}

static struct denv *world_next(struct ddio_world *world)
{
	struct ddio_timer *best = NULL, *event;
	struct denv *env, *found = NULL;

	ddio_list_for_each_entry(env, &world->envs, link) {
		event = env->dead ? NULL : ddio_heap_first(&env->events);
		if (!event)
			continue;
		if (best && (event->when > best->when ||
			     (event->when == best->when && event->seq > best->seq)))
			continue;
		best = event;
		found = env;
	}
	return found;
}

bool double_step(struct ddio_world *world, uint64_t until)
{
	struct denv *env = world_next(world);
	struct ddio_timer *event;

	if (!env)
		return false;
	event = ddio_heap_first(&env->events);
	if (event->when > until)
		return false;
	world->now = event->when;
	ddio_heap_remove(&env->events, event);
	world->in_event = true;
	event->fn(event->arg);
	world->in_event = false;
	return true;
}

/*
 * The env operations
 */
static uint64_t double_now(struct ddio_env *env)
{
	return denv_of(env)->world->now;
}

static uint64_t double_wall(struct ddio_env *env)
{
	return WALL_OFFSET + double_now(env);
}

static int double_timer_arm(struct ddio_env *env, struct ddio_timer *timer, uint64_t when_ns)
{
	double_event(denv_of(env), timer, when_ns);
	return 0;
}

static void double_timer_cancel(struct ddio_env *env, struct ddio_timer *timer)
{
	double_event_cancel(denv_of(env), timer);
}

static void double_run_posts(void *arg)
{
	struct denv *env = arg;
	struct ddio_post *post = env->posts, *next;

	env->posts = NULL;
	env->posts_end = &env->posts;
	for (; post; post = next) {
		next = post->next;
		post->fn(post->arg);
	}
}

static void double_post(struct ddio_env *e, struct ddio_post *post)
{
	struct denv *env = denv_of(e);

	if (!env->posts)
		double_event(env, &env->post_event, env->world->now);
	post->next = NULL;
	*env->posts_end = post;
	env->posts_end = &post->next;
}

static void double_run_offloads(void *arg)
{
	struct denv *env = arg;
	struct ddio_offload *job = env->offloads, *next;

	env->offloads = NULL;
	env->offloads_end = &env->offloads;
	for (; job; job = next) {
		next = job->next;
		job->done(job->arg);
	}
}

static void double_offload(struct ddio_env *e, struct ddio_offload *job)
{
	struct denv *env = denv_of(e);

	job->work(job->arg);
	if (!env->offloads)
		double_event(env, &env->offload_event, env->world->now);
	job->next = NULL;
	*env->offloads_end = job;
	env->offloads_end = &job->next;
}

static void double_random_bytes(struct ddio_env *env, void *buf, size_t len)
{
	uint8_t *at = buf;

	while (len--)
		*at++ = double_random(denv_of(env)->world) >> 32;
}

static void double_log(struct ddio_env *e, enum ddio_log_level level, const char *fmt, va_list ap)
{
	static const char *const words[] = { "error", "warning", "info", "debug" };
	struct denv *env = denv_of(e);
	struct ddio_world *world = env->world;
	char line[1024];

	vsnprintf(line, sizeof(line), fmt, ap);
	fprintf(world->log_file, "%s %s: %s\n", env->name, words[level], line);
	if (world->verbose)
		fprintf(stderr, "%.6f %s %s: %s\n", ddio_double_elapsed(world) / 1e9, env->name,
			words[level], line);
}

static void double_charge(struct ddio_env *env, enum ddio_work work, uint64_t n)
{
	denv_of(env)->charged[work] += n;
}

static const struct ddio_disk_engine *const double_engines[] = {
	&ddio_disk_mem,
	&ddio_disk_hp97560,
	NULL,
};

static const struct ddio_env_ops double_ops = {
	.name = "double",
	.now = double_now,
	.wall = double_wall,
	.timer_arm = double_timer_arm,
	.timer_cancel = double_timer_cancel,
	.post = double_post,
	.offload = double_offload,
	.gate_open = double_gate_open,
	.gate_wait = double_gate_wait,
	.random = double_random_bytes,
	.log = double_log,
	.charge = double_charge,
	.stream_connect = double_stream_connect,
	.stream_attach = double_stream_attach,
	.listen = double_listen,
	.engines = double_engines,
};

/*
 * Worlds and processes
 */
struct ddio_world *ddio_double_new(uint64_t seed)
{
	struct ddio_world *world = calloc(1, sizeof(*world));

	if (!world)
		return NULL;
	world->log_file = open_memstream(&world->log, &world->log_len);
	if (!world->log_file) {
		free(world);
		return NULL;
	}
	world->now = BEGINNING;
	world->limit = BEGINNING + HOUR;
	world->random = seed;
	world->port = 40000;
	ddio_list_init(&world->envs);
	ddio_list_init(&world->cos);
	ddio_list_init(&world->streams);
	ddio_list_init(&world->listeners);
	return world;
}

void ddio_double_free(struct ddio_world *world)
{
	struct denv *env, *tmp;

	if (!world)
		return;
	double_cos_free(world);
	double_streams_free(world);
	ddio_list_for_each_entry_safe(env, tmp, &world->envs, link) {
		ddio_heap_fini(&env->events);
		ddio_env_fini(&env->env);
		free(env->name);
		free(env);
	}
	fclose(world->log_file);
	free(world->log);
	free(world);
}

void ddio_double_net_default(struct ddio_double_net *net)
{
	*net = (struct ddio_double_net){ .latency_ns = 10000, .window = 256 * 1024 };
}

struct ddio_env *ddio_double_env(struct ddio_world *world, const char *name)
{
	struct denv *env = calloc(1, sizeof(*env));

	if (!env)
		return NULL;
	env->name = strdup(name);
	if (!env->name) {
		free(env);
		return NULL;
	}
	env->env.ops = &double_ops;
	ddio_list_init(&env->env.buses);
	env->world = world;
	env->posts_end = &env->posts;
	env->post_event.fn = double_run_posts;
	env->post_event.arg = env;
	env->offloads_end = &env->offloads;
	env->offload_event.fn = double_run_offloads;
	env->offload_event.arg = env;
	ddio_double_net_default(&env->net);
	ddio_list_add(&env->link, &world->envs);
	return &env->env;
}

int ddio_double_run_for(struct ddio_world *world, uint64_t ns)
{
	uint64_t until = world->now + ns;

	while (double_step(world, until))
		;
	world->now = until;
	return 0;
}

void ddio_double_limit(struct ddio_world *world, uint64_t ns)
{
	world->limit = BEGINNING + ns;
}

uint64_t ddio_double_elapsed(const struct ddio_world *world)
{
	return world->now - BEGINNING;
}

void ddio_double_net(struct ddio_env *env, const struct ddio_double_net *net)
{
	denv_of(env)->net = *net;
	denv_of(env)->sent = 0;
}

void ddio_double_kill(struct ddio_env *env)
{
	denv_of(env)->dead = true;
	double_streams_end(denv_of(env), false);
}

void ddio_double_cut(struct ddio_env *env)
{
	denv_of(env)->cut = true;
	double_streams_end(denv_of(env), true);
}

unsigned int ddio_double_logged(const struct ddio_world *world, const char *text)
{
	unsigned int n = 0;
	char *line, *end;

	fflush(world->log_file);
	for (line = world->log; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		if (memmem(line, end - line, text, strlen(text)))
			n++;
	}
	return n;
}

void ddio_double_verbose(struct ddio_world *world, bool on)
{
	world->verbose = on;
}

uint64_t ddio_double_charged(const struct ddio_env *env, enum ddio_work work)
{
	return ddio_container_of(env, struct denv, env)->charged[work];
}
