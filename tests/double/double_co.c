// SPDX-License-Identifier: GPL-2.0-only
/*
 * The test double: coroutines and gates.  A coroutine runs inside an event and
 * gives control back when it waits; what wakes it is again an event.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "tests/double/double_priv.h"

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
 * struct co - one application thread
 * @link: in the world's list
 * @env: its process
 * @fn: what it does
 * @arg: for @fn
 * @wake: resumes it
 * @gate: what it waits for, or NULL
 * @next: next one that waits at the same gate
 * @passed: @gate was opened
 * @ended: @fn has returned
 * @here: where it stands
 * @back: where the loop stands
 * @stack: with its guard page
 * @fake: the sanitizer's note of @here
 * @loop_stack: the stack to go back to
 * @loop_size: its size
 */
struct co {
	struct ddio_list link;
	struct denv *env;
	void (*fn)(void *arg);
	void *arg;
	struct ddio_timer wake;
	struct ddio_gate *gate;
	struct co *next;
	bool passed;
	bool ended;
	ucontext_t here, back;
	char *stack;
	void *fake;
	const void *loop_stack;
	size_t loop_size;
};

static void co_switch_in(struct co *co)
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

static void co_switch_out(struct co *co)
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
	struct co *co = (struct co *)((uintptr_t)high << 32 | low);

#ifdef CO_ASAN
	__sanitizer_finish_switch_fiber(NULL, &co->loop_stack, &co->loop_size);
#endif
	co->fn(co->arg);
	co->ended = true;
	co_switch_out(co);
}

static void co_free(struct co *co)
{
	double_event_cancel(co->env, &co->wake);
	ddio_list_del(&co->link);
	munmap(co->stack, CO_STACK + CO_GUARD);
	free(co);
}

static void co_resume(void *arg)
{
	struct co *co = arg;
	struct ddio_world *world = co->env->world;

	world->current = co;
	co_switch_in(co);
	world->current = NULL;
	if (co->ended)
		co_free(co);
}

/* Until its wake event comes. */
static void co_yield (struct co *co)
{
	struct ddio_world *world = co->env->world;

	world->current = NULL;
	co_switch_out(co);
	world->current = co;
}

int ddio_double_spawn(struct ddio_world *world, struct ddio_env *env, void (*fn)(void *arg),
		      void *arg)
{
	struct co *co = calloc(1, sizeof(*co));
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
	co->env = denv_of(env);
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
	ddio_list_add(&co->link, &world->cos);
	double_event(co->env, &co->wake, world->now);
	return 0;
}

/* Killed processes' coroutines do not count: nobody waits for them. */
static bool cos_left(const struct ddio_world *world)
{
	struct co *co;

	ddio_list_for_each_entry(co, &world->cos, link)
		if (!co->env->dead)
			return true;
	return false;
}

int ddio_double_run(struct ddio_world *world)
{
	while (cos_left(world)) {
		if (double_step(world, world->limit))
			continue;
		return double_step(world, UINT64_MAX) ? -ETIME : -EDEADLK;
	}
	return 0;
}

void ddio_double_sleep(struct ddio_env *env, uint64_t ns)
{
	struct ddio_world *world = denv_of(env)->world;
	struct co *co = world->current;

	if (!co) {
		ddio_double_run_for(world, ns);
		return;
	}
	double_event(co->env, &co->wake, world->now + ns);
	co_yield (co);
}

void double_cos_free(struct ddio_world *world)
{
	while (!ddio_list_empty(&world->cos))
		co_free(ddio_list_first(&world->cos, struct co, link));
}

/*
 * Gates: the coroutines that wait hang from priv.
 */
void double_gate_open(struct ddio_env *env, struct ddio_gate *gate)
{
	struct co *co = gate->priv;

	(void)env;
	gate->priv = NULL;
	gate->open = 1;
	for (; co; co = co->next) {
		co->passed = true;
		double_event(co->env, &co->wake, co->env->world->now);
	}
}

static void gate_forget(struct ddio_gate *gate, struct co *gone)
{
	struct co *co, *list = gate->priv;

	gate->priv = NULL;
	for (; list; list = co) {
		co = list->next;
		if (list == gone)
			continue;
		list->next = gate->priv;
		gate->priv = list;
	}
}

static int gate_wait_as_co(struct co *co, struct ddio_gate *gate, uint64_t deadline_ns)
{
	co->passed = false;
	co->next = gate->priv;
	gate->priv = co;
	if (deadline_ns)
		double_event(co->env, &co->wake, deadline_ns);
	co_yield (co);
	if (co->passed)
		return 0;
	gate_forget(gate, co);
	return -ETIMEDOUT;
}

static int gate_wait_as_main(struct ddio_world *world, struct ddio_gate *gate, uint64_t deadline_ns)
{
	while (!gate->open) {
		if (double_step(world, deadline_ns ? deadline_ns : world->limit))
			continue;
		if (!deadline_ns)
			return -EDEADLK;
		if (world->now < deadline_ns)
			world->now = deadline_ns;
		return -ETIMEDOUT;
	}
	return 0;
}

int double_gate_wait(struct ddio_env *env, struct ddio_gate *gate, uint64_t deadline_ns)
{
	struct ddio_world *world = denv_of(env)->world;

	if (gate->open)
		return 0;
	if (world->current)
		return gate_wait_as_co(world->current, gate, deadline_ns);
	if (world->in_event)
		return -EDEADLK; /* a reactor would wait for itself */
	return gate_wait_as_main(world, gate, deadline_ns);
}
