// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The end of a process that has not disconnected: OpenSSL takes its own state apart in exit(), while threads of reactors
 * still run.  From then on no stream calls it, and what was in a call has left it before.
 */
#include <openssl/ssl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "env/tls/priv.h"

/* A call lasts microseconds; a thread that does not come back from one must not keep the process for ever. */
#define LOOKS 100000

static atomic_uint inside;
static atomic_bool over;

static void process_ends(void)
{
	int i;

	atomic_store(&over, true);
	for (i = 0; i < LOOKS && atomic_load(&inside); i++)
		sched_yield();
}

/* The threads that were in a call are not in the child. */
static void child_begins(void)
{
	atomic_store(&inside, 0);
}

/* Functions are called in reverse order: OpenSSL's own must have been registered before. */
static void watch(void)
{
	OPENSSL_init_ssl(0, NULL);
	atexit(process_ends);
	pthread_atfork(NULL, NULL, child_begins);
}

bool tls_enter(struct tls_errors **own)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch);
	atomic_fetch_add(&inside, 1);
	if (!atomic_load(&over)) {
		*own = tls_errors_take();
		return true;
	}
	atomic_fetch_sub(&inside, 1);
	return false;
}

void tls_leave(struct tls_errors *own)
{
	tls_errors_put(own);
	atomic_fetch_sub(&inside, 1);
}
