// SPDX-License-Identifier: LGPL-2.1-or-later
/* The simulated world: worlds and processes are made, changed and freed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "sim/priv.h"

#define HOUR 3600000000000ULL

/* Initialises what a process and the wire have in common. */
static void proc_init(struct sim_proc *proc, struct ddio_sim *sim)
{
	proc->sim = sim;
	proc->cpu = &proc->own;
	ddio_list_init(&proc->own.procs);
	ddio_list_add(&proc->on_cpu, &proc->own.procs);
}

struct ddio_sim *ddio_sim_new(uint64_t seed)
{
	struct ddio_sim *sim = calloc(1, sizeof(*sim));

	if (!sim)
		return NULL;
	sim->log_file = open_memstream(&sim->log, &sim->log_len);
	if (!sim->log_file) {
		free(sim);
		return NULL;
	}
	ddio_bug_set_fatal(true);
	sim->now = SIM_BEGINNING;
	sim->limit = SIM_BEGINNING + HOUR;
	sim->random = seed;
	sim->port = 40000;
	sim->machine = ddio_sim_machine_find("free");
	proc_init(&sim->wire, sim);
	ddio_list_init(&sim->procs);
	ddio_list_init(&sim->cos);
	ddio_list_init(&sim->streams);
	ddio_list_init(&sim->listeners);
	ddio_list_init(&sim->media);
	ddio_list_init(&sim->files);
	ddio_list_init(&sim->boxes);
	return sim;
}

static void proc_free(struct sim_proc *proc)
{
	ddio_heap_fini(&proc->events);
	ddio_env_fini(&proc->env);
	free(proc->name);
	free(proc);
}

void ddio_sim_free(struct ddio_sim *sim)
{
	struct sim_proc *proc, *tmp;

	if (!sim)
		return;
	sim_cos_free(sim);
	sim_streams_free(sim);
	ddio_heap_fini(&sim->turns);
	ddio_heap_fini(&sim->wire.events);
	ddio_list_for_each_entry_safe(proc, tmp, &sim->procs, link)
		proc_free(proc);
	sim_net_fini(&sim->net);
	sim_media_free(sim);
	sim_files_free(sim);
	sim_boxes_free(sim);
	fclose(sim->log_file);
	free(sim->log);
	free(sim);
}

void ddio_sim_link_default(struct ddio_sim_link *link)
{
	*link = (struct ddio_sim_link){ .latency_ns = 10000, .window = 256 * 1024 };
}

struct ddio_env *ddio_sim_env(struct ddio_sim *sim, const char *name)
{
	struct sim_proc *proc = calloc(1, sizeof(*proc));

	if (!proc)
		return NULL;
	proc->name = strdup(name);
	if (!proc->name) {
		free(proc);
		return NULL;
	}
	proc->env.ops = &sim_env_ops;
	proc->env.engines = sim_engines;
	ddio_list_init(&proc->env.buses);
	ddio_list_init(&proc->env.asides);
	proc_init(proc, sim);
	proc->node = sim->nprocs++;
	proc->posts_end = &proc->posts;
	proc->post_event.fn = sim_run_posts;
	proc->post_event.arg = proc;
	proc->offloads_end = &proc->offloads;
	proc->offload_event.fn = sim_run_offloads;
	proc->offload_event.arg = proc;
	ddio_sim_link_default(&proc->how);
	ddio_list_add(&proc->link, &sim->procs);
	return &proc->env;
}

void sim_local(struct ddio_env *env)
{
	env->ops = &sim_local_ops;
}

void ddio_sim_share(struct ddio_env *env, struct ddio_env *host)
{
	struct sim_proc *proc = sim_proc_of(env);

	ddio_list_del(&proc->on_cpu);
	proc->cpu = sim_proc_of(host)->cpu;
	proc->node = sim_proc_of(host)->node;
	ddio_list_add(&proc->on_cpu, &proc->cpu->procs);
	sim_plan(proc);
}

void ddio_sim_place(struct ddio_env *env, const struct ddio_env *host)
{
	sim_proc_of(env)->node = sim_proc_of(host)->node;
}

void ddio_sim_limit(struct ddio_sim *sim, uint64_t ns)
{
	sim->limit = SIM_BEGINNING + ns;
}

uint64_t ddio_sim_events(const struct ddio_sim *sim)
{
	return sim->handled;
}

void ddio_sim_set_machine(struct ddio_sim *sim, const struct ddio_sim_machine *machine)
{
	sim->machine = machine;
}

void ddio_sim_prompt(struct ddio_sim *sim, bool on)
{
	sim->prompt = on;
}

void ddio_sim_watch(struct ddio_env *env, void (*watch)(void *arg, uint64_t start, uint64_t ns),
		    void *arg)
{
	struct sim_cpu *cpu = sim_proc_of(env)->cpu;

	cpu->watch = watch;
	cpu->watch_arg = arg;
}

uint64_t ddio_sim_charged(const struct ddio_env *env, enum ddio_work work)
{
	return sim_proc_of(env)->charged[work];
}

void ddio_sim_set_link(struct ddio_env *env, const struct ddio_sim_link *link)
{
	sim_proc_of(env)->how = *link;
	sim_proc_of(env)->sent = 0;
}

void sim_kill(struct ddio_env *env)
{
	struct sim_proc *proc = sim_proc_of(env);

	proc->dead = true;
	sim_plan(proc);
	sim_streams_end(proc, SIM_END_KILLED);
}

void ddio_sim_cut(struct ddio_env *env)
{
	sim_proc_of(env)->cut = true;
	sim_streams_end(sim_proc_of(env), SIM_END_CUT);
}

void ddio_sim_orphan(struct ddio_env *env)
{
	sim_proc_of(env)->cut = true;
	sim_streams_end(sim_proc_of(env), SIM_END_ORPHANED);
}

void ddio_sim_rejoin(struct ddio_env *env)
{
	sim_proc_of(env)->cut = false;
}

void ddio_sim_break(struct ddio_env *env)
{
	sim_streams_end(sim_proc_of(env), SIM_END_SOME);
}

void ddio_sim_fail_offload(struct ddio_env *env, bool bad)
{
	sim_proc_of(env)->offload_bad = bad;
}

void sim_answer_never(struct ddio_env *env, bool never)
{
	sim_proc_of(env)->aside_never = never;
}

void ddio_sim_set_offload(struct ddio_env *env, uint64_t ns)
{
	sim_proc_of(env)->offload_ns = ns;
}

void ddio_sim_trace_on(struct ddio_sim *sim)
{
	sim->tracing = true;
}

uint64_t ddio_sim_trace(const struct ddio_sim *sim)
{
	return sim->trace;
}

unsigned int ddio_sim_logged(const struct ddio_sim *sim, const char *text)
{
	unsigned int n = 0;
	char *line, *end;

	fflush(sim->log_file);
	for (line = sim->log; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		if (memmem(line, end - line, text, strlen(text)))
			n++;
	}
	return n;
}

void ddio_sim_verbose(struct ddio_sim *sim, bool on)
{
	sim->verbose = on;
}
