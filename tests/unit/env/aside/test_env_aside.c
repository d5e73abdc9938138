// SPDX-License-Identifier: GPL-2.0-only
/* tsan */
/* Calls that wait for somebody else: nobody waits for the threads that make them. */
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "env/aside.h"
#include "env/real/real.h"
#include "tests/unit/lib/ut.h"

/* Calls that the threads have begun wait for @answer. */
static sem_t answer, begun;
static _Atomic int worked, told, released;

static void until(const _Atomic int *what, int n)
{
	while (*what < n)
		usleep(500);
}

static void call_work(struct ddio_aside *a)
{
	(void)a;
	sem_post(&begun);
	sem_wait(&answer);
	worked++;
}

static void call_done(struct ddio_aside *a)
{
	(void)a;
	told++;
}

static void call_release(struct ddio_aside *a)
{
	free(a);
	released++;
}

static struct ddio_aside *call(struct ddio_env *env)
{
	struct ddio_aside *a = calloc(1, sizeof(*a));

	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	a->kind = DDIO_ASIDE_USERS;
	a->work = call_work;
	a->done = call_done;
	a->release = call_release;
	CU_ASSERT_EQUAL_FATAL(ddio_env_aside(env, a), 0);
	return a;
}

static struct ddio_env *begin(void)
{
	struct ddio_env *env;

	worked = told = released = 0;
	CU_ASSERT_EQUAL_FATAL(ddio_real_new(NULL, &env), 0);
	return env;
}

/* The reactor's own loop, which is started at last, hears of the answers. */
static void test_answered(void)
{
	struct ddio_env *env = begin();
	int i;

	for (i = 0; i < 20; i++)
		call(env);
	for (i = 0; i < 20; i++)
		sem_post(&answer);
	until(&worked, 20);
	CU_ASSERT_EQUAL(told, 0);
	CU_ASSERT_EQUAL_FATAL(ddio_real_start_thread(env), 0);
	until(&released, 20);
	CU_ASSERT_EQUAL(told, 20);
	for (i = 0; i < 20; i++)
		sem_wait(&begun);
	ddio_real_free(env);
}

/* More calls than there are threads: those that have not begun are gone at once, the others when somebody answers. */
static void test_never(void)
{
	struct ddio_env *env = begin();
	int i, held;

	for (i = 0; i < 20; i++)
		call(env);
	sem_wait(&begun);
	ddio_real_free(env);
	held = 20 - released;
	CU_ASSERT(held >= 1 && held < 20);
	CU_ASSERT_EQUAL(worked, 0);
	for (i = 0; i < held; i++)
		sem_post(&answer);
	until(&released, 20);
	CU_ASSERT_EQUAL(worked, held);
	CU_ASSERT_EQUAL(told, 0);
	for (i = 1; i < held; i++)
		sem_wait(&begun);
}

static void test_forgotten(void)
{
	struct ddio_env *env = begin();
	struct ddio_aside *a[10];
	int i, held;

	for (i = 0; i < 10; i++)
		a[i] = call(env);
	sem_wait(&begun);
	for (i = 0; i < 10; i++)
		ddio_aside_forget(a[i]);
	held = 10 - released;
	for (i = 0; i < held; i++)
		sem_post(&answer);
	until(&released, 10);
	CU_ASSERT_EQUAL(told, 0);
	for (i = 1; i < held; i++)
		sem_wait(&begun);
	ddio_real_free(env);
}

/* A child of fork() has threads of its own.  ThreadSanitizer lets it have none. */
static void test_child(void)
{
#ifndef __SANITIZE_THREAD__
	struct ddio_env *env = begin();
	int status = 0;
	pid_t pid;

	call(env);
	sem_wait(&begun);
	pid = fork();
	if (!pid) {
		int pair[2] = { -1, -1 };
		char byte;

		if (closes_aside() || pipe(pair))
			_exit(1);
		close_aside(pair[1]);
		_exit(read(pair[0], &byte, 1) ? 2 : 0);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	sem_post(&answer);
	ddio_real_free(env);
	until(&released, 1);
#endif
}

/* A name server that does not answer: for these names it is this program. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **list)
{
	static int (*real)(const char *node, const char *service, const struct addrinfo *hints,
			   struct addrinfo **list);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
	if (node && !strcmp(node, "slow.invalid") && !(hints->ai_flags & AI_NUMERICHOST)) {
		sem_post(&begun);
		sem_wait(&answer);
		worked++;
		return EAI_NONAME;
	}
	return real(node, service, hints, list);
}

static void nothing(void *ctx)
{
	(void)ctx;
}

static void nothing_failed(void *ctx, int err)
{
	(void)ctx;
	(void)err;
}

static void test_name(void)
{
	static const struct ddio_stream_ops ops = { nothing, nothing, nothing_failed };
	struct ddio_env *env = begin();
	struct ddio_stream *stream;

	CU_ASSERT_EQUAL_FATAL(ddio_stream_connect(env, "slow.invalid:1", &ops, NULL, &stream), 0);
	sem_wait(&begun);
	ddio_stream_close(stream);
	ddio_real_free(env);
	CU_ASSERT_EQUAL(worked, 0);
	sem_post(&answer);
	until(&worked, 1);
}

static const struct ut_case cases[] = {
	{ "calls that are answered", test_answered },
	{ "calls that nobody answers", test_never },
	{ "calls that are forgotten", test_forgotten },
	{ "a child", test_child },
	{ "a name server that does not answer", test_name },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "calls made aside", cases } };

	sem_init(&answer, 0, 0);
	sem_init(&begun, 0, 0);
	return ut_run("test_env_aside", suites, 1);
}
