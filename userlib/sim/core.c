// SPDX-License-Identifier: LGPL-2.1-or-later
/* The simulated world: time, events, CPUs and the trace. */
#include <stdlib.h>
#include <string.h>
#include "base/rand.h"
#include "sim/priv.h"

uint64_t sim_random(struct ddio_sim *sim)
{
	return ddio_rand_next(&sim->random);
}

/*
 * Turns: of all processes' first events the one that can be handled first has the turn; of those that
 * can be handled at the same time, the one that was made first.
 */
void sim_plan(struct sim_proc *proc)
{
	struct ddio_heap_node *first = proc->dead ? NULL : ddio_heap_first(&proc->events);
	uint64_t when;

	if (!first) {
		ddio_heap_remove(&proc->sim->turns, &proc->turn);
		return;
	}
	when = first->when > proc->cpu->busy_until ? first->when : proc->cpu->busy_until;
	when = when > proc->sim->now ? when : proc->sim->now;
	if (proc->turn.slot && proc->turn.when == when && proc->turn.seq == first->seq)
		return;
	proc->sim->turns.seq = first->seq - 1;
	if (ddio_heap_put(&proc->sim->turns, &proc->turn, when))
		abort();
}

static void cpu_plan(struct sim_cpu *cpu)
{
	struct sim_proc *proc;

	ddio_list_for_each_entry(proc, &cpu->procs, on_cpu)
		sim_plan(proc);
}

void sim_event(struct sim_proc *proc, struct ddio_timer *event, uint64_t when)
{
	uint64_t now = sim_now(proc);

	proc->events.seq = proc->sim->seq++;
	if (ddio_heap_put(&proc->events, &event->node, when < now ? now : when))
		abort();
	sim_plan(proc);
}

void sim_event_first(struct sim_proc *proc, struct ddio_timer *event)
{
	proc->events.seq = proc->sim->seq++;
	if (ddio_heap_put(&proc->events, &event->node, 0))
		abort();
	sim_plan(proc);
}

void sim_event_cancel(struct sim_proc *proc, struct ddio_timer *event)
{
	ddio_heap_remove(&proc->events, &event->node);
	sim_plan(proc);
}

void sim_work(struct sim_proc *proc, uint64_t ns)
{
	struct sim_cpu *cpu = proc->cpu;

	if (!ns)
		return;
	if (cpu->busy_until < proc->sim->now)
		cpu->busy_until = proc->sim->now;
	if (cpu->watch)
		cpu->watch(cpu->watch_arg, cpu->busy_until, ns);
	cpu->busy_until += ns;
	cpu->busy_ns += ns;
	if (proc->sim->running != cpu)
		cpu_plan(cpu);
}

static void sim_trace(struct ddio_sim *sim, uint64_t what)
{
	if (sim->tracing)
		sim->trace = ddio_rand_mix(sim->trace ^ what) + what;
}

bool sim_step(struct ddio_sim *sim, uint64_t until)
{
	struct ddio_heap_node *turn = ddio_heap_first(&sim->turns);
	struct ddio_timer *event;
	struct sim_proc *proc;
	struct sim_cpu *cpu;

	if (!turn || turn->when > until)
		return false;
	proc = ddio_container_of(turn, struct sim_proc, turn);
	cpu = proc->cpu;
	event = ddio_container_of(ddio_heap_first(&proc->events), struct ddio_timer, node);
	sim->now = turn->when;
	ddio_heap_remove(&proc->events, &event->node);
	sim->handled++;
	sim_trace(sim, sim->now ^ (uint64_t)proc->node << 48);
	sim->running = cpu;
	event->fn(event->arg);
	sim->running = NULL;
	cpu_plan(cpu);
	return true;
}

void sim_trace_bytes(struct ddio_sim *sim, const void *data, size_t len)
{
	const uint8_t *at = data;
	uint64_t word;

	if (!sim->tracing)
		return;
	for (; len >= sizeof(word); len -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sim_trace(sim, word);
	}
	for (word = len; len; len--)
		word = word << 8 | *at++;
	sim_trace(sim, word);
}

int ddio_sim_run_for(struct ddio_sim *sim, uint64_t ns)
{
	uint64_t until = sim->now + ns;

	while (sim_step(sim, until))
		;
	sim->now = until;
	return 0;
}

uint64_t ddio_sim_elapsed(const struct ddio_sim *sim)
{
	return sim->now - SIM_BEGINNING;
}

uint64_t ddio_sim_busy(const struct ddio_env *env)
{
	const struct sim_proc *proc = sim_proc_of(env);
	const struct sim_cpu *cpu = proc->cpu;
	uint64_t now = sim_now(proc);

	/* Work that it was given but has not done yet does not count. */
	return cpu->busy_ns - (cpu->busy_until > now ? cpu->busy_until - now : 0);
}
