/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the tests that run real reactors. */
#ifndef DDIO_ENV_HELP_H
#define DDIO_ENV_HELP_H

#include "env/disk/disk.h"
#include "env/real/real.h"
#include "tests/unit/lib/ut.h"

#define MS 1000000ULL
#define SECOND (1000 * MS)
/* Long enough for any machine: only a test that fails waits for it. */
#define PATIENCE (60 * SECOND)

static inline struct ddio_env *env_new(void)
{
	static const struct ddio_real_opts opts = { .log_level = DDIO_LOG_ERR,
						    .name = "test",
						    .engines = ddio_disk_engines };
	struct ddio_env *env = NULL;

	CU_ASSERT_EQUAL_FATAL(ddio_real_new(&opts, &env), 0);
	return env;
}

static inline void stop(void *arg)
{
	real_stop(arg);
}

/* Has @fn called on the reactor and waits for its end. */
struct env_call {
	struct ddio_env *env;
	struct ddio_post post;
	struct ddio_gate gate;
	void (*fn)(void *arg);
	void *arg;
};

static inline void call_run(void *arg)
{
	struct env_call *call = arg;

	call->fn(call->arg);
	ddio_gate_open(call->env, &call->gate);
}

static inline void on_reactor(struct ddio_env *env, void (*fn)(void *arg), void *arg)
{
	struct env_call call = { .env = env, .fn = fn, .arg = arg };

	call.post.fn = call_run;
	call.post.arg = &call;
	ddio_gate_init(&call.gate);
	ddio_env_post(env, &call.post);
	CU_ASSERT_EQUAL_FATAL(ddio_gate_wait(env, &call.gate, ddio_env_now(env) + PATIENCE), 0);
}

#endif /* DDIO_ENV_HELP_H */
