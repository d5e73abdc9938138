// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The simulated world: coroutines and gates.  A coroutine runs inside an event and
 * gives control back when it waits; what wakes it is again an event.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "sim/priv.h"

#if defined(__SANITIZE_ADDRESS__)
#define CO_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CO_ASAN 1
#endif
#endif

#ifdef CO_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#define CO_STACK (512UL << 10)
#define CO_GUARD 4096UL

/**
 * struct sim_co - one application thread
 * @link: in the world's list
 * @proc: its process
 * @fn: what it does
 * @arg: for @fn
 * @wake: resumes it
 * @gate: what it waits for, or NULL
 * @next: the next coroutine that waits at the same gate
 * @passed: @gate was opened
 * @listens: it waits for a gong
 * @ended: @fn has returned
 * @here: where it stands
 * @back: where the loop stands
 * @stack: with its guard page
 * @fake: the sanitizer's record of @here
 * @loop_stack: the stack to go back to
 * @loop_size: its size
 */
struct sim_co {
	struct ddio_list link;
	struct sim_proc *proc;
	void (*fn)(void *arg);
	void *arg;
	struct ddio_timer wake;
	struct ddio_gate *gate;
	struct sim_co *next;
	bool passed;
	bool listens;
	bool ended;
	ucontext_t here, back;
	char *stack;
	void *fake;
	const void *loop_stack;
	size_t loop_size;
};

static void co_switch_in(struct sim_co *co)
{
#ifdef CO_ASAN
	void *fake = NULL;

	__sanitizer_start_switch_fiber(&fake, co->stack + CO_GUARD, CO_STACK);
	swapcontext(&co->back, &co->here);
	__sanitizer_finish_switch_fiber(fake, NULL, NULL);
#else
	swapcontext(&co->back, &co->here);
#endif
}

static void co_switch_out(struct sim_co *co)
{
#ifdef CO_ASAN
	__sanitizer_start_switch_fiber(co->ended ? NULL : &co->fake, co->loop_stack, co->loop_size);
	swapcontext(&co->here, &co->back);
	__sanitizer_finish_switch_fiber(co->fake, &co->loop_stack, &co->loop_size);
#else
	swapcontext(&co->here, &co->back);
#endif
}

/* A pointer goes through makecontext() in two ints. */
static void co_main(unsigned int high, unsigned int low)
{
	struct sim_co *co = (struct sim_co *)((uintptr_t)high << 32 | low);

#ifdef CO_ASAN
	__sanitizer_finish_switch_fiber(NULL, &co->loop_stack, &co->loop_size);
#endif
	co->fn(co->arg);
	co->ended = true;
	co_switch_out(co);
}

static void co_free(struct sim_co *co)
{
	sim_event_cancel(co->proc, &co->wake);
	ddio_list_del(&co->link);
	munmap(co->stack, CO_STACK + CO_GUARD);
	free(co);
}

static void co_resume(void *arg)
{
	struct sim_co *co = arg;
	struct ddio_sim *sim = co->proc->sim;

	sim->current = co;
	co_switch_in(co);
	sim->current = NULL;
	if (co->ended)
		co_free(co);
}

/* Returns when the coroutine's wake event comes. */
static void co_yield (struct sim_co *co)
{
	struct ddio_sim *sim = co->proc->sim;

	sim->current = NULL;
	co_switch_out(co);
	sim->current = co;
}

int ddio_sim_spawn(struct ddio_env *env, void (*fn)(void *arg), void *arg)
{
	struct sim_co *co = calloc(1, sizeof(*co));
	uintptr_t self = (uintptr_t)co;

	if (!co)
		return -ENOMEM;
	co->stack = mmap(NULL, CO_STACK + CO_GUARD, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (co->stack == MAP_FAILED) {
		free(co);
		return -ENOMEM;
	}
	mprotect(co->stack, CO_GUARD, PROT_NONE);
	co->proc = sim_proc_of(env);
	co->fn = fn;
	co->arg = arg;
	co->wake.fn = co_resume;
	co->wake.arg = co;
	getcontext(&co->here);
	co->here.uc_stack.ss_sp = co->stack + CO_GUARD;
	co->here.uc_stack.ss_size = CO_STACK;
	co->here.uc_link = NULL;
	makecontext(&co->here, (void (*)(void))co_main, 2, (unsigned int)(self >> 32),
		    (unsigned int)self);
	ddio_list_add(&co->link, &co->proc->sim->cos);
	sim_event(co->proc, &co->wake, 0);
	return 0;
}

/* Returns whether coroutines are left, not counting those of killed processes. */
static bool cos_left(const struct ddio_sim *sim)
{
	struct sim_co *co;

	ddio_list_for_each_entry(co, &sim->cos, link)
		if (!co->proc->dead)
			return true;
	return false;
}

int ddio_sim_run(struct ddio_sim *sim)
{
	while (cos_left(sim)) {
		if (sim_step(sim, sim->limit))
			continue;
		return sim_step(sim, UINT64_MAX) ? -ETIME : -EDEADLK;
	}
	return 0;
}

void ddio_sim_sleep(struct ddio_env *env, uint64_t ns)
{
	struct ddio_sim *sim = sim_proc_of(env)->sim;
	struct sim_co *co = sim->current;

	if (!co) {
		ddio_sim_run_for(sim, ns);
		return;
	}
	sim_event(co->proc, &co->wake, sim_now(co->proc) + ns);
	co_yield (co);
}

/*
 * Time that the CPU spends on other work meanwhile is added at the end, and so is the time it
 * spends on other work while that is made up for.
 */
void ddio_sim_compute(struct ddio_env *env, uint64_t ns)
{
	uint64_t began, busy, idle;

	while (ns) {
		began = ddio_env_now(env);
		busy = ddio_sim_busy(env);
		ddio_sim_sleep(env, ns);
		idle = (ddio_env_now(env) - began) - (ddio_sim_busy(env) - busy);
		ns -= idle < ns ? idle : ns;
	}
}

void sim_cos_free(struct ddio_sim *sim)
{
	while (!ddio_list_empty(&sim->cos))
		co_free(ddio_list_first(&sim->cos, struct sim_co, link));
}

/*
 * Gates: priv is the list of the coroutines that wait.
 */
void sim_gate_open(struct ddio_env *env, struct ddio_gate *gate)
{
	struct sim_co *co = gate->priv;

	gate->priv = NULL;
	gate->open = 1;
	for (; co; co = co->next) {
		co->passed = true;
		sim_event(co->proc, &co->wake, sim_time(sim_proc_of(env)->sim));
	}
}

static void gate_forget(struct ddio_gate *gate, struct sim_co *gone)
{
	struct sim_co *co, *list = gate->priv;

	gate->priv = NULL;
	for (; list; list = co) {
		co = list->next;
		if (list == gone)
			continue;
		list->next = gate->priv;
		gate->priv = list;
	}
}

static int gate_wait_as_co(struct sim_co *co, struct ddio_gate *gate, uint64_t deadline_ns)
{
	co->passed = false;
	co->next = gate->priv;
	gate->priv = co;
	if (deadline_ns)
		sim_event(co->proc, &co->wake, deadline_ns);
	co_yield (co);
	if (co->passed)
		return 0;
	gate_forget(gate, co);
	return -ETIMEDOUT;
}

static int gate_wait_as_main(struct ddio_sim *sim, struct ddio_gate *gate, uint64_t deadline_ns)
{
	while (!gate->open) {
		if (sim_step(sim, deadline_ns ? deadline_ns : sim->limit))
			continue;
		if (!deadline_ns)
			return -EDEADLK;
		if (sim->now < deadline_ns)
			sim->now = deadline_ns;
		return -ETIMEDOUT;
	}
	return 0;
}

int sim_gate_wait(struct ddio_env *env, struct ddio_gate *gate, uint64_t deadline_ns)
{
	struct ddio_sim *sim = sim_proc_of(env)->sim;

	if (gate->open)
		return 0;
	if (sim->current)
		return gate_wait_as_co(sim->current, gate, deadline_ns);
	if (sim->running)
		return -EDEADLK; /* a reactor would wait for itself */
	return gate_wait_as_main(sim, gate, deadline_ns);
}

/*
 * Gongs: the memory that processes share lies at another address in each, so all that listen look.
 */
int sim_gong_wait(struct ddio_env *env, struct ddio_gong *gong, uint32_t seen, uint64_t deadline_ns)
{
	struct sim_co *co = sim_proc_of(env)->sim->current;

	if (!co)
		return -EDEADLK;
	if (!gong || gong->sounded != seen)
		return 0;
	co->listens = true;
	sim_event(co->proc, &co->wake, deadline_ns);
	co_yield (co);
	co->listens = false;
	return 0;
}

void sim_gong_sound(struct ddio_env *env, struct ddio_gong *gong)
{
	struct ddio_sim *sim = sim_proc_of(env)->sim;
	struct sim_co *co;

	gong->sounded++;
	ddio_list_for_each_entry(co, &sim->cos, link)
		if (co->listens)
			sim_event(co->proc, &co->wake, sim_time(sim));
}
