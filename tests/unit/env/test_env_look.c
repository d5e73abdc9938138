// SPDX-License-Identifier: GPL-2.0-only
/* When the loop looks for the next event before it sleeps: sched_yield() is ours here, and counts that. */
#include <sched.h>
#include <time.h>
#include "tests/unit/env/env_help.h"

enum { RINGS_MAX = 200000 };

static unsigned int yields;
static bool slow;

/* Another thread computes on this processor if @slow. */
int sched_yield(void)
{
	const struct timespec turn = { .tv_nsec = 3 * MS };

	yields++;
	if (slow)
		nanosleep(&turn, NULL);
	return 0;
}

/**
 * struct look - a timer that rings often, so that the loop's waits are short
 * @step: one step of the case; returns true when the loop is to stop
 * @since, @before: when @yields was so many
 */
struct look {
	struct ddio_env *env;
	struct ddio_timer timer;
	bool (*step)(struct look *look);
	unsigned int rings, before;
	uint64_t since;
};

static void look_ring(void *arg)
{
	struct look *look = arg;

	if (++look->rings > RINGS_MAX || look->step(look))
		real_stop(look->env);
	else
		ddio_timer_arm(look->env, &look->timer, ddio_env_now(look->env) + MS / 10);
}

/* Runs the loop until @step returns true. */
static void look_until(struct look *look, bool (*step)(struct look *look))
{
	look->step = step;
	look->rings = 0;
	look->before = yields;
	look->since = ddio_env_now(look->env);
	look->timer.fn = look_ring;
	look->timer.arg = look;
	ddio_timer_arm(look->env, &look->timer, 1);
	CU_ASSERT_EQUAL(real_run(look->env), 0);
	CU_ASSERT(look->rings <= RINGS_MAX);
}

static bool has_looked(struct look *look)
{
	return yields > look->before;
}

/* Some time, but less than that for which the loop sleeps without looking. */
static bool rings_many(struct look *look)
{
	if (ddio_env_now(look->env) - look->since > 200 * MS)
		return true;
	CU_ASSERT_EQUAL(yields, look->before);
	return look->rings > 200;
}

static void test_look(void)
{
	struct look look = { .env = env_new() };

	look_until(&look, has_looked);
	slow = true;
	look_until(&look, has_looked);
	slow = false;
	look_until(&look, rings_many);
	look_until(&look, has_looked);
	ddio_real_free(look.env);
}

static const struct ut_case cases[] = {
	{ "no look while others compute", test_look },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "look", cases } };

	return ut_run("env_look", suites, 1);
}
