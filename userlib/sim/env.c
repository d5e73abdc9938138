// SPDX-License-Identifier: LGPL-2.1-or-later
/* The simulated world: the operations of an env. */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include "env/aside.h"
#include "sim/priv.h"

#define WALL_OFFSET 1700000000000000000ULL /* wall-clock time at virtual time 0 */

static uint64_t sim_env_now(struct ddio_env *env)
{
	return sim_now(sim_proc_of(env));
}

static uint64_t sim_env_wall(struct ddio_env *env)
{
	return WALL_OFFSET + sim_env_now(env);
}

static int sim_timer_arm(struct ddio_env *env, struct ddio_timer *timer, uint64_t when_ns)
{
	sim_event(sim_proc_of(env), timer, when_ns);
	return 0;
}

static void sim_timer_cancel(struct ddio_env *env, struct ddio_timer *timer)
{
	sim_event_cancel(sim_proc_of(env), timer);
}

void sim_run_posts(void *arg)
{
	struct sim_proc *proc = arg;
	struct ddio_post *post = proc->posts, *next;

	proc->posts = NULL;
	proc->posts_end = &proc->posts;
	for (; post; post = next) {
		next = post->next;
		post->fn(post->arg);
	}
}

static void sim_post(struct ddio_env *env, struct ddio_post *post)
{
	struct sim_proc *proc = sim_proc_of(env);

	if (!proc->posts && proc->sim->prompt)
		sim_event_first(proc, &proc->post_event);
	else if (!proc->posts)
		sim_event(proc, &proc->post_event, 0);
	post->next = NULL;
	*proc->posts_end = post;
	proc->posts_end = &post->next;
}

/* A process that may make no file longer than nothing: its system calls fail, and whatever calls them sees that. */
static void offload_work(const struct sim_proc *proc, struct ddio_offload *job)
{
	struct rlimit was, none;

	if (!proc->offload_bad || getrlimit(RLIMIT_FSIZE, &was)) {
		job->work(job->arg);
		return;
	}
	none = was;
	none.rlim_cur = 0;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &none);
	job->work(job->arg);
	setrlimit(RLIMIT_FSIZE, &was);
}

/* Reports jobs that take no time and are done already. */
static void offloads_told(struct sim_proc *proc)
{
	struct ddio_offload *job = proc->offloads, *next;

	proc->offloads = NULL;
	proc->offloads_end = &proc->offloads;
	for (; job; job = next) {
		next = job->next;
		job->done(job->arg);
	}
}

/* Plans when the first of @offloads is carried out, at a random moment of its time. */
static void offload_begin(struct sim_proc *proc)
{
	uint64_t took = 1 + sim_random(proc->sim) % proc->offload_ns;

	proc->offload_end = 0;
	sim_event(proc, &proc->offload_event, sim_now(proc) + sim_random(proc->sim) % (took + 1));
}

static void offload_step(struct sim_proc *proc)
{
	struct ddio_offload *job = proc->offloads;

	if (!proc->offload_end) {
		offload_work(proc, job);
		proc->offload_end = sim_now(proc) + sim_random(proc->sim) % proc->offload_ns;
		sim_event(proc, &proc->offload_event, proc->offload_end);
		return;
	}
	proc->offloads = job->next;
	if (!proc->offloads)
		proc->offloads_end = &proc->offloads;
	else
		offload_begin(proc);
	job->done(job->arg);
}

void sim_run_offloads(void *arg)
{
	struct sim_proc *proc = arg;

	if (proc->offload_ns)
		offload_step(proc);
	else
		offloads_told(proc);
}

static void sim_offload(struct ddio_env *env, struct ddio_offload *job)
{
	struct sim_proc *proc = sim_proc_of(env);
	bool idle = !proc->offloads;

	job->next = NULL;
	*proc->offloads_end = job;
	proc->offloads_end = &job->next;
	if (!proc->offload_ns)
		offload_work(proc, job);
	if (idle && proc->offload_ns)
		offload_begin(proc);
	else if (idle)
		sim_event(proc, &proc->offload_event, 0);
}

static int sim_aside(struct ddio_env *env, struct ddio_aside *aside)
{
	ddio_aside_here(env, aside, sim_proc_of(env)->aside_never);
	return 0;
}

static void sim_random_bytes(struct ddio_env *env, void *buf, size_t len)
{
	uint8_t *at = buf;

	while (len--)
		*at++ = sim_random(sim_proc_of(env)->sim) >> 32;
}

static void sim_log(struct ddio_env *env, enum ddio_log_level level, const char *fmt, va_list ap)
{
	static const char *const words[] = { "error", "warning", "info", "debug" };
	struct sim_proc *proc = sim_proc_of(env);
	struct ddio_sim *sim = proc->sim;
	char line[1024];

	vsnprintf(line, sizeof(line), fmt, ap);
	fprintf(sim->log_file, "%s %s: %s\n", proc->name, words[level], line);
	if (sim->verbose)
		fprintf(stderr, "%.6f %s %s: %s\n", ddio_sim_elapsed(sim) / 1e9, proc->name,
			words[level], line);
}

static void sim_charge(struct ddio_env *env, enum ddio_work work, uint64_t n)
{
	struct sim_proc *proc = sim_proc_of(env);
	const struct ddio_sim_cost *cost = &proc->sim->machine->cost[work];
	uint64_t ps = proc->left_ps + n * cost->unit_ps;

	/* What is answered from a cache goes with the answer. */
	if (work == DDIO_WORK_MEMPUT || work == DDIO_WORK_CACHE)
		proc->put = work == DDIO_WORK_MEMPUT ? n : 0;
	proc->charged[work] += n;
	proc->left_ps = ps % 1000;
	sim_work(proc, cost->call_ns + ps / 1000);
}

const struct ddio_disk_engine *const sim_engines[] = {
	&ddio_disk_mem,
	&ddio_disk_hp97560,
	NULL,
};

#define SIM_ENV_OPS                                                                                \
	.name = "simulated", .now = sim_env_now, .wall = sim_env_wall, .timer_arm = sim_timer_arm, \
	.timer_cancel = sim_timer_cancel, .post = sim_post, .offload = sim_offload,                \
	.aside = sim_aside, .file_flushed = sim_file_flushed, .gate_open = sim_gate_open,          \
	.gate_wait = sim_gate_wait, .random = sim_random_bytes, .log = sim_log,                    \
	.charge = sim_charge, .stream_connect = sim_stream_connect,                                \
	.stream_attach = sim_stream_attach, .listen = sim_listen, .medium = sim_medium_open,       \
	.heap = true

const struct ddio_env_ops sim_env_ops = { SIM_ENV_OPS };
const struct ddio_env_ops sim_local_ops = { SIM_ENV_OPS, .mail = &sim_mail,
					    .gong_wait = sim_gong_wait,
					    .gong_sound = sim_gong_sound };
