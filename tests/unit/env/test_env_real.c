// SPDX-License-Identifier: GPL-2.0-only
/* tsan: threads meet here */
/* The real world: loop, timers, posts, offloads, gates. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/env/env_help.h"

/*
 * Timers
 */
#define TIMERS 200

struct timers {
	struct ddio_env *env;
	struct ddio_timer timers[TIMERS];
	uint64_t last, early, fired, disorder;
	struct ddio_timer end;
};

struct ring {
	struct timers *all;
	uint64_t when;
};

static void timers_ring(void *arg)
{
	struct ring *ring = arg;
	struct timers *t = ring->all;

	t->fired++;
	t->early += ddio_env_now(t->env) < ring->when;
	t->disorder += ring->when < t->last;
	t->last = ring->when;
}

static void test_timers(void)
{
	struct timers t = { .env = env_new() };
	struct ring rings[TIMERS];
	uint64_t now = ddio_env_now(t.env);
	int i;

	for (i = 0; i < TIMERS; i++) {
		rings[i] = (struct ring){ &t, now + (i * 7919 % TIMERS) * MS / 10 };
		t.timers[i].fn = timers_ring;
		t.timers[i].arg = &rings[i];
		/* Arming an armed timer moves it. */
		CU_ASSERT_EQUAL(ddio_timer_arm(t.env, &t.timers[i], now + i), 0);
		CU_ASSERT_EQUAL(ddio_timer_arm(t.env, &t.timers[i], rings[i].when), 0);
	}
	for (i = 0; i < TIMERS; i += 4) {
		ddio_timer_cancel(t.env, &t.timers[i]);
		ddio_timer_cancel(t.env, &t.timers[i]);
		CU_ASSERT_FALSE(ddio_timer_armed(&t.timers[i]));
	}
	t.end.fn = stop;
	t.end.arg = t.env;
	ddio_timer_arm(t.env, &t.end, now + 30 * MS);
	CU_ASSERT_EQUAL(real_run(t.env), 0);
	CU_ASSERT(ddio_env_now(t.env) >= now + 30 * MS);
	CU_ASSERT_EQUAL(t.fired, TIMERS - TIMERS / 4);
	CU_ASSERT_EQUAL(t.early, 0);
	CU_ASSERT_EQUAL(t.disorder, 0);
	ddio_real_free(t.env);
}

/* A timer that arms itself for a time that has passed must not keep others from running. */
struct greedy {
	struct ddio_env *env;
	struct ddio_timer timer;
	struct ddio_timer other;
	unsigned int rounds;
};

static void greedy_ring(void *arg)
{
	struct greedy *g = arg;

	g->rounds++;
	ddio_timer_arm(g->env, &g->timer, 1);
}

static void test_greedy_timer(void)
{
	struct greedy g = { .env = env_new() };

	g.timer.fn = greedy_ring;
	g.timer.arg = &g;
	g.other.fn = stop;
	g.other.arg = g.env;
	ddio_timer_arm(g.env, &g.timer, 1);
	ddio_timer_arm(g.env, &g.other, ddio_env_now(g.env) + MS);
	CU_ASSERT_EQUAL(real_run(g.env), 0);
	CU_ASSERT(g.rounds > 1);
	ddio_timer_cancel(g.env, &g.timer);
	ddio_real_free(g.env);
}

/*
 * Posts, from several threads at once
 */
#define POSTERS 4
#define POSTS 5000

struct poster {
	struct ddio_env *env;
	struct posting {
		struct ddio_post post;
		struct poster *poster;
		unsigned int number;
	} posts[POSTS];
	unsigned int next, disorder;
	unsigned int *left;
};

static void posted(void *arg)
{
	struct posting *posting = arg;
	struct poster *poster = posting->poster;

	poster->disorder += posting->number != poster->next++;
	if (!--*poster->left)
		real_stop(poster->env);
}

static void *poster_main(void *arg)
{
	struct poster *poster = arg;
	unsigned int i;

	for (i = 0; i < POSTS; i++) {
		poster->posts[i].post.fn = posted;
		poster->posts[i].post.arg = &poster->posts[i];
		poster->posts[i].poster = poster;
		poster->posts[i].number = i;
		ddio_env_post(poster->env, &poster->posts[i].post);
	}
	return NULL;
}

static void test_posts(void)
{
	struct poster *posters = calloc(POSTERS, sizeof(*posters));
	struct ddio_env *env = env_new();
	unsigned int left = POSTERS * POSTS;
	pthread_t threads[POSTERS];
	int i;

	for (i = 0; i < POSTERS; i++) {
		posters[i].env = env;
		posters[i].left = &left;
		pthread_create(&threads[i], NULL, poster_main, &posters[i]);
	}
	CU_ASSERT_EQUAL(real_run(env), 0);
	for (i = 0; i < POSTERS; i++) {
		pthread_join(threads[i], NULL);
		CU_ASSERT_EQUAL(posters[i].next, POSTS);
		CU_ASSERT_EQUAL(posters[i].disorder, 0);
	}
	CU_ASSERT_EQUAL(left, 0);
	free(posters);
	ddio_real_free(env);
}

/* What was posted before the stop still runs, and a stop before the run counts. */
static void count(void *arg)
{
	++*(unsigned int *)arg;
}

static void test_stop(void)
{
	struct ddio_env *env = env_new();
	unsigned int n = 0;
	struct ddio_post post = { .fn = count, .arg = &n };

	ddio_env_post(env, &post);
	real_stop(env);
	CU_ASSERT_EQUAL(real_run(env), 0);
	CU_ASSERT_EQUAL(n, 1);
	CU_ASSERT_EQUAL(ddio_real_start_thread(env), 0);
	CU_ASSERT_EQUAL(ddio_real_start_thread(env), -EBUSY);
	on_reactor(env, count, &n);
	CU_ASSERT_EQUAL(real_run(env), -EBUSY);
	ddio_real_join_thread(env);
	ddio_real_join_thread(env);
	CU_ASSERT_EQUAL(n, 2);
	/* Freeing the env runs posts that are left, so that what they own is freed. */
	ddio_env_post(env, &post);
	ddio_real_free(env);
	CU_ASSERT_EQUAL(n, 3);
}

/*
 * Offloads
 */
#define JOBS 50

struct job {
	struct ddio_offload job;
	struct jobs *jobs;
	unsigned int number;
};

struct jobs {
	struct ddio_env *env;
	struct job job[JOBS];
	pthread_t loop;
	unsigned int worked, done, wrong;
	unsigned int wrong_work; /* the worker's own, like worked */
};

static void job_work(void *arg)
{
	struct job *job = arg;

	job->jobs->wrong_work += job->number != job->jobs->worked++;
	job->jobs->wrong_work += !!pthread_equal(pthread_self(), job->jobs->loop);
}

static void job_done(void *arg)
{
	struct job *job = arg;
	struct jobs *jobs = job->jobs;

	jobs->wrong += job->number != jobs->done;
	jobs->wrong += !pthread_equal(pthread_self(), jobs->loop);
	if (++jobs->done == JOBS)
		real_stop(jobs->env);
}

static void test_offloads(void)
{
	struct jobs jobs = { .env = env_new(), .loop = pthread_self() };
	unsigned int i;

	for (i = 0; i < JOBS; i++) {
		jobs.job[i] = (struct job){ { job_work, job_done, &jobs.job[i], NULL }, &jobs, i };
		ddio_env_offload(jobs.env, &jobs.job[i].job);
	}
	CU_ASSERT_EQUAL(real_run(jobs.env), 0);
	CU_ASSERT_EQUAL(jobs.worked, JOBS);
	CU_ASSERT_EQUAL(jobs.done, JOBS);
	CU_ASSERT_EQUAL(jobs.wrong + jobs.wrong_work, 0);
	/* Under way while the env is freed: done is still called. */
	jobs.done = 1;
	jobs.worked = 1;
	ddio_env_offload(jobs.env, &jobs.job[1].job);
	ddio_real_free(jobs.env);
	CU_ASSERT_EQUAL(jobs.done, 2);
	CU_ASSERT_EQUAL(jobs.wrong + jobs.wrong_work, 0);
}

/*
 * Gates
 */
struct gate_call {
	struct ddio_env *env;
	struct ddio_gate *gate;
	struct ddio_post post;
	int ret;
};

static void gate_open_it(void *arg)
{
	struct gate_call *call = arg;

	ddio_gate_open(call->env, call->gate);
}

static void gate_wait_here(void *arg)
{
	struct gate_call *call = arg;

	call->ret = ddio_gate_wait(call->env, call->gate, 0);
}

static void *gate_waiter(void *arg)
{
	gate_wait_here(arg);
	return NULL;
}

static void test_gates(void)
{
	struct ddio_env *env = env_new();
	struct gate_call call = { .env = env, .post = { .fn = gate_open_it, .arg = &call } };
	struct ddio_gate shut;
	pthread_t thread;
	int i;

	ddio_real_start_thread(env);
	/* The waiter frees its gate at once, thousands of times: the opener must not look back. */
	for (i = 0; i < 5000; i++) {
		call.gate = malloc(sizeof(*call.gate));
		ddio_gate_init(call.gate);
		ddio_env_post(env, &call.post);
		CU_ASSERT_EQUAL(ddio_gate_wait(env, call.gate, 0), 0);
		memset(call.gate, 0xff, sizeof(*call.gate));
		free(call.gate);
	}
	ddio_gate_init(&shut);
	CU_ASSERT_EQUAL(ddio_gate_wait(env, &shut, ddio_env_now(env) + MS), -ETIMEDOUT);
	CU_ASSERT_FALSE(ddio_gate_is_open(&shut));
	call.gate = &shut;
	on_reactor(env, gate_wait_here, &call);
	CU_ASSERT_EQUAL(call.ret, -EDEADLK);
	call.ret = 1;
	pthread_create(&thread, NULL, gate_waiter, &call);
	CU_ASSERT_EQUAL(ddio_gate_wait(env, &shut, ddio_env_now(env) + MS), -ETIMEDOUT);
	ddio_gate_open(env, &shut);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(call.ret, 0);
	CU_ASSERT_EQUAL(ddio_gate_wait(env, &shut, 1), 0);
	ddio_real_free(env);
}

static void log_keep(void *arg, enum ddio_log_level level, const char *line)
{
	snprintf(arg, 100, "%d %s", level, line);
}

static void test_small_things(void)
{
	char line[100] = "";
	struct ddio_real_opts opts = { .log = log_keep, .log_arg = line };
	uint8_t a[16], b[16];
	struct ddio_env *env;
	size_t i, sum = 0;
	uint8_t *mem;

	opts.log_level = DDIO_LOG_WARN;
	CU_ASSERT_EQUAL_FATAL(ddio_real_new(&opts, &env), 0);
	ddio_env_log(env, DDIO_LOG_INFO, "not %s", "this");
	CU_ASSERT_STRING_EQUAL(line, "");
	ddio_env_log(env, DDIO_LOG_WARN, "but %s", "this");
	CU_ASSERT_STRING_EQUAL(line, "1 but this");
	ddio_env_log(env, DDIO_LOG_ERR, "peer \"%s\"", "a\nforged \033line");
	CU_ASSERT_STRING_EQUAL(line, "0 peer \"a?forged ?line\"");
	ddio_env_random(env, a, sizeof(a));
	ddio_env_random(env, b, sizeof(b));
	CU_ASSERT_NOT_EQUAL(memcmp(a, b, sizeof(a)), 0);
	CU_ASSERT(ddio_env_wall(env) > 1600000000ULL * SECOND);
	for (i = 1; i <= 5 << 20; i = i * 3 + 1) {
		mem = ddio_env_alloc(env, i);
		CU_ASSERT_PTR_NOT_NULL_FATAL(mem);
		CU_ASSERT_EQUAL((uintptr_t)mem % 4096, 0);
		sum += mem[0] + mem[i - 1];
		memset(mem, 1, i);
		ddio_env_free(env, mem, i);
	}
	CU_ASSERT_EQUAL(sum, 0);
	CU_ASSERT_PTR_NULL(ddio_env_alloc(env, SIZE_MAX));
	ddio_real_free(env);
}

static const struct ut_case cases[] = {
	{ "timers fire in order, not early, unless cancelled", test_timers },
	{ "a timer that re-arms itself starves nobody", test_greedy_timer },
	{ "posts of several threads", test_posts },
	{ "starting and stopping", test_stop },
	{ "offloads in order, elsewhere", test_offloads },
	{ "gates", test_gates },
	{ "log, random numbers, memory", test_small_things },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "env_real", cases } };

	return ut_run("env_real", suites, 1);
}
