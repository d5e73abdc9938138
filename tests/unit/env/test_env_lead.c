// SPDX-License-Identifier: GPL-2.0-only
/* tsan: threads meet here */
/* Threads that call a reactor and run its loop while they wait. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tests/unit/env/env_help.h"

static int gettid_here(void)
{
	return (int)syscall(SYS_gettid);
}

static struct ddio_env *env_on_thread(void)
{
	struct ddio_env *env = env_new();

	CU_ASSERT_EQUAL_FATAL(ddio_real_start_thread(env), 0);
	return env;
}

/**
 * struct lead_call - a call of the reactor
 * @begin: its first step, on the reactor; NULL: it ends at once
 * @caller: the thread that calls
 * @led: the calling thread itself ran @begin
 * @until: when a call that waits for something gives up
 */
struct lead_call {
	struct ddio_env *env;
	struct ddio_post post;
	struct ddio_gate gate;
	struct ddio_timer timer;
	void (*begin)(struct lead_call *call);
	int caller;
	bool led;
	uint64_t until;
};

static void lead_over(void *arg)
{
	struct lead_call *call = arg;

	ddio_gate_open(call->env, &call->gate);
}

static void lead_begin(void *arg)
{
	struct lead_call *call = arg;

	call->led = gettid_here() == call->caller;
	if (call->begin)
		call->begin(call);
	else
		lead_over(call);
}

/* Calls once.  Returns true if this thread ran the loop. */
static bool lead_once(struct ddio_env *env, void (*begin)(struct lead_call *call))
{
	struct lead_call call = { .env = env, .begin = begin, .caller = gettid_here() };

	call.post.fn = lead_begin;
	call.post.arg = &call;
	ddio_gate_init(&call.gate);
	CU_ASSERT_EQUAL(ddio_env_call(env, &call.post, &call.gate), 0);
	CU_ASSERT_TRUE(ddio_gate_is_open(&call.gate));
	return call.led;
}

/* Ends after some time in which the loop sleeps. */
static void end_by_timer(struct lead_call *call)
{
	call->timer.fn = lead_over;
	call->timer.arg = call;
	ddio_timer_arm(call->env, &call->timer, ddio_env_now(call->env) + MS / 5);
}

/* Calls again and again, until the calling thread has run the loop: a machine may be so busy that at first it does not. */
static void call_until_led(struct ddio_env *env, void (*begin)(struct lead_call *call))
{
	uint64_t until = ddio_env_now(env) + PATIENCE;
	bool led = false;

	while (!led && ddio_env_now(env) < until)
		led = lead_once(env, begin);
	CU_ASSERT_TRUE(led);
}

static void test_led(void)
{
	struct ddio_env *env = env_on_thread();

	call_until_led(env, NULL);
	call_until_led(env, end_by_timer);
	ddio_real_free(env);
}

/*
 * Many at once: callers, threads that wait otherwise, and one that does not wait
 */
#define LEAD_THREADS 6
#define LEAD_CALLS 1500

struct lead_crowd {
	struct ddio_env *env;
	unsigned int number;
	unsigned int *ended; /* counted on the reactor */
};

struct crowd_step {
	struct ddio_post post;
	struct lead_crowd *crowd;
	struct ddio_gate gate;
};

static void crowd_end(void *arg)
{
	struct crowd_step *step = arg;

	++*step->crowd->ended;
	ddio_gate_open(step->crowd->env, &step->gate);
}

static void *crowd_main(void *arg)
{
	struct lead_crowd *crowd = arg;
	struct crowd_step step = { .post = { .fn = crowd_end, .arg = &step }, .crowd = crowd };
	unsigned int i;

	for (i = 0; i < LEAD_CALLS; i++) {
		ddio_gate_init(&step.gate);
		switch (crowd->number % 3) {
		case 0:
			ddio_env_call(crowd->env, &step.post, &step.gate);
			break;
		case 1:
			ddio_env_post(crowd->env, &step.post);
			ddio_env_call(crowd->env, NULL, &step.gate);
			break;
		default:
			ddio_env_post(crowd->env, &step.post);
			ddio_gate_wait(crowd->env, &step.gate, 0);
		}
	}
	return NULL;
}

static void test_crowd(void)
{
	struct lead_crowd crowd[LEAD_THREADS];
	pthread_t threads[LEAD_THREADS];
	struct ddio_env *env = env_on_thread();
	unsigned int ended = 0;
	int i;

	for (i = 0; i < LEAD_THREADS; i++) {
		crowd[i] = (struct lead_crowd){ env, (unsigned int)i, &ended };
		CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, crowd_main, &crowd[i]), 0);
	}
	for (i = 0; i < LEAD_THREADS; i++)
		pthread_join(threads[i], NULL);
	ddio_real_free(env);
	CU_ASSERT_EQUAL(ended, LEAD_THREADS * LEAD_CALLS);
}

/*
 * A loop that was lent, and nobody runs
 */
struct lent_rest {
	struct ddio_env *env;
	struct ddio_timer timer;
	struct ddio_post post, later;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	int seen;
};

static void rest_seen(void *arg)
{
	struct lent_rest *rest = arg;

	pthread_mutex_lock(&rest->lock);
	rest->seen++;
	pthread_cond_signal(&rest->cond);
	pthread_mutex_unlock(&rest->lock);
}

static void rest_await(struct lent_rest *rest, int n)
{
	pthread_mutex_lock(&rest->lock);
	while (rest->seen < n)
		pthread_cond_wait(&rest->cond, &rest->lock);
	pthread_mutex_unlock(&rest->lock);
}

static void rest_arm(void *arg)
{
	struct lent_rest *rest = arg;

	ddio_timer_arm(rest->env, &rest->timer, ddio_env_now(rest->env) + 3 * MS);
}

/* Nobody waits in a call any more: what is posted is run, and so are timers. */
static void test_left_alone(void)
{
	struct lent_rest rest = { .env = env_on_thread(),
				  .lock = PTHREAD_MUTEX_INITIALIZER,
				  .cond = PTHREAD_COND_INITIALIZER };
	int i;

	rest.post.arg = rest.timer.arg = rest.later.arg = &rest;
	rest.timer.fn = rest.later.fn = rest_seen;
	for (i = 0; i < 100; i++) {
		call_until_led(rest.env, NULL);
		rest.post.fn = i % 2 ? rest_arm : rest_seen;
		ddio_env_post(rest.env, &rest.post);
		rest_await(&rest, i + 1);
	}
	/* What is in no hurry is run by the next call, or before the end. */
	call_until_led(rest.env, NULL);
	ddio_env_post_later(rest.env, &rest.later);
	lead_once(rest.env, NULL);
	CU_ASSERT_EQUAL(rest.seen, 101);
	ddio_env_post_later(rest.env, &rest.later);
	ddio_real_free(rest.env);
	CU_ASSERT_EQUAL(rest.seen, 102);
}

/* Ends after a time in which the loop's own thread has looked several times whether somebody runs it. */
static void end_late(struct lead_call *call)
{
	call->timer.fn = lead_over;
	call->timer.arg = call;
	ddio_timer_arm(call->env, &call->timer, ddio_env_now(call->env) + 30 * MS);
}

/* Nobody waits any more after many calls, after a long one, and after both: timers are run all the same. */
static void test_left_after_long(void)
{
	struct lent_rest rest = { .env = env_on_thread(),
				  .lock = PTHREAD_MUTEX_INITIALIZER,
				  .cond = PTHREAD_COND_INITIALIZER };
	int i, k;

	rest.post.arg = rest.timer.arg = &rest;
	rest.timer.fn = rest_seen;
	rest.post.fn = rest_arm;
	for (k = 0; k < 6; k++) {
		for (i = 0; i < 100 && k % 3 != 1; i++)
			lead_once(rest.env, end_by_timer);
		for (i = 0; i < 3 && k % 3; i++)
			lead_once(rest.env, end_late);
		/* Whoever calls next runs this, and leaves. */
		ddio_env_post_later(rest.env, &rest.post);
		call_until_led(rest.env, NULL);
		rest_await(&rest, k + 1);
	}
	ddio_real_free(rest.env);
}

static void serve_on(struct lead_call *call)
{
	ddio_env_serve(call->env, true);
	lead_over(call);
}

static void serve_off(struct lead_call *call)
{
	ddio_env_serve(call->env, false);
	lead_over(call);
}

/* While others are served the loop is its own thread's, once that has it. */
static void test_served(void)
{
	struct ddio_env *env = env_on_thread();
	uint64_t until = ddio_env_now(env) + PATIENCE;
	bool led = lead_once(env, serve_on);
	int i;

	while (led && ddio_env_now(env) < until)
		led = lead_once(env, NULL);
	CU_ASSERT_FALSE(led);
	for (i = 0; i < 1000; i++)
		CU_ASSERT_FALSE(lead_once(env, NULL));
	lead_once(env, serve_off);
	call_until_led(env, NULL);
	ddio_real_free(env);
}

/*
 * Signals, cancellation, and calls from the reactor
 */
static volatile sig_atomic_t handled, refused;
static struct ddio_env *handler_env;
static bool in_turn;

/*
 * It comes while the thread is in a call, so it cannot call itself.  If it came after one, its call would succeed, and end.
 */
static void handler(int sig)
{
	struct lead_call call = { .env = handler_env, .post = { .fn = lead_over, .arg = &call } };

	(void)sig;
	handled = in_turn ? -1 : handled + 1;
	ddio_gate_init(&call.gate);
	refused = ddio_env_call(handler_env, &call.post, &call.gate) == -EDEADLK;
}

/* A turn in which the timer is due already does not sleep, and lets no signal in: so the call lasts until one does. */
static void end_once_handled(void *arg)
{
	struct lead_call *call = arg;

	if (handled || ddio_env_now(call->env) > call->until)
		lead_over(call);
	else
		ddio_timer_arm(call->env, &call->timer, ddio_env_now(call->env) + MS / 5);
}

/* A signal comes in the middle of a turn. */
static void signal_myself(struct lead_call *call)
{
	if (!call->led) {
		lead_over(call);
		return;
	}
	in_turn = true;
	pthread_kill(pthread_self(), SIGUSR1);
	in_turn = false;
	call->timer.fn = end_once_handled;
	call->timer.arg = call;
	call->until = ddio_env_now(call->env) + PATIENCE;
	ddio_timer_arm(call->env, &call->timer, ddio_env_now(call->env) + MS / 5);
}

static void test_signal(void)
{
	struct sigaction sa = { .sa_handler = handler }, old;
	struct ddio_env *env = env_on_thread();

	handled = refused = 0;
	handler_env = env;
	CU_ASSERT_EQUAL_FATAL(sigaction(SIGUSR1, &sa, &old), 0);
	call_until_led(env, signal_myself);
	CU_ASSERT_EQUAL(handled, 1);
	CU_ASSERT_EQUAL(refused, 1);
	sigaction(SIGUSR1, &old, NULL);
	ddio_real_free(env);
}

static void cancel_myself(struct lead_call *call)
{
	if (call->led)
		pthread_cancel(pthread_self());
	end_by_timer(call);
}

static bool call_ended;

static void *cancel_main(void *arg)
{
	call_until_led(arg, cancel_myself);
	call_ended = true;
	pthread_testcancel();
	return NULL;
}

/* A thread is cancelled in a call: the call ends first, and the loop goes on. */
static void test_cancel(void)
{
	struct ddio_env *env = env_on_thread();
	pthread_t thread;
	void *ret = NULL;

	call_ended = false;
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, cancel_main, env), 0);
	pthread_join(thread, &ret);
	CU_ASSERT_PTR_EQUAL(ret, PTHREAD_CANCELED);
	CU_ASSERT_TRUE(call_ended);
	call_until_led(env, NULL);
	ddio_real_free(env);
}

static void call_inside(struct lead_call *call)
{
	struct ddio_post post = { .fn = NULL };
	struct ddio_gate gate;

	ddio_gate_init(&gate);
	CU_ASSERT_EQUAL(ddio_env_call(call->env, &post, &gate), -EDEADLK);
	CU_ASSERT_EQUAL(ddio_gate_wait(call->env, &gate, 0), -EDEADLK);
	lead_over(call);
}

static void test_inside(void)
{
	struct ddio_env *env = env_on_thread();

	lead_once(env, call_inside);
	call_until_led(env, call_inside);
	ddio_real_free(env);
}

static const struct ut_case cases[] = {
	{ "a thread that waits runs the loop", test_led },
	{ "many threads that call, wait and post", test_crowd },
	{ "nobody waits: posts and timers are run", test_left_alone },
	{ "left alone after long calls", test_left_after_long },
	{ "while others are served, nobody else runs it", test_served },
	{ "a signal waits until the loop sleeps", test_signal },
	{ "a cancelled thread ends its call first", test_cancel },
	{ "a call from the reactor is refused", test_inside },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "env_lead", cases } };

	return ut_run("env_lead", suites, 1);
}
