// SPDX-License-Identifier: GPL-2.0-only
/* When the loop looks for the next event before it sleeps: sched_yield() is ours here, and counts that. */
#include <sched.h>
#include <time.h>
#include "env/real/priv.h"
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

/* As long as something is awaited it looks for longer, unless it is told to look for longer still. */
static void test_awaited(void)
{
	struct ddio_env *env = env_new();
	uint64_t before = ddio_env_now(env);
	struct real real = { .env = { .awaited = 10 } };

	ddio_env_await(env);
	CU_ASSERT(env->awaited >= before + MS);
	CU_ASSERT(env->awaited <= ddio_env_now(env) + MS);
	ddio_real_free(env);
	CU_ASSERT_EQUAL(real_look_time(&real, 9), REAL_AWAIT_NS);
	CU_ASSERT_EQUAL(real_look_time(&real, 10), REAL_LOOK_NS);
	real.opts.look_ns = 50000;
	CU_ASSERT_EQUAL(real_look_time(&real, 9), REAL_AWAIT_NS);
	CU_ASSERT_EQUAL(real_look_time(&real, 10), 50000);
	real.opts.look_ns = SECOND;
	CU_ASSERT_EQUAL(real_look_time(&real, 9), SECOND);
}

/* Others want the processor: one of them may be a daemon, if what is awaited is its doing, and nothing else. */
static void test_shared(void)
{
	struct real real = { .shared = 10 };

	CU_ASSERT_EQUAL(real_look_time(&real, 9), REAL_LOOK_NS);
	real.opts.look_shared_ns = 5000;
	CU_ASSERT_EQUAL(real_look_time(&real, 9), REAL_LOOK_NS);
	ddio_env_await_service(&real.env, 2);
	CU_ASSERT_EQUAL(real_look_time(&real, 9), 5000);
	CU_ASSERT_EQUAL(real_look_time(&real, 10), REAL_LOOK_NS);
	real.env.awaited = 10;
	CU_ASSERT_EQUAL(real_look_time(&real, 9), REAL_AWAIT_NS);
	real.env.awaited = 0;
	real.shared = SECOND;
	CU_ASSERT_EQUAL(real_look_time(&real, MS), 5000);
	CU_ASSERT_EQUAL(real_look_time(&real, MS + 2), REAL_LOOK_NS);
	ddio_env_await_service(&real.env, 2);
	ddio_env_served(&real.env);
	CU_ASSERT_EQUAL(real_look_time(&real, 9), REAL_LOOK_NS);
}

/* A yield that others have used is seen. */
static void test_shared_seen(void)
{
	struct look look = { .env = env_new() };
	struct real *real = real_of(look.env);

	look_until(&look, has_looked);
	real->shared = 0;
	slow = true;
	look_until(&look, has_looked);
	slow = false;
	CU_ASSERT(real->shared > look.since);
	CU_ASSERT(real->shared <= ddio_env_now(look.env) + REAL_SHARED_NS);
	ddio_real_free(look.env);
}

static const struct ut_case cases[] = {
	{ "no look while others compute", test_look },
	{ "something is awaited", test_awaited },
	{ "others want the processor", test_shared },
	{ "a yield shows that", test_shared_seen },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "look", cases } };

	return ut_run("env_look", suites, 1);
}
