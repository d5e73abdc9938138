// SPDX-License-Identifier: LGPL-2.1-or-later
#include "env/env_ops.h"
#include "env/lines.h"

#define SECOND_NS 1000000000ull

/* Returns true if another line may be logged now. */
static bool may_log(struct ddio_env *env)
{
	struct env_lines *lines = &env->lines;
	uint64_t now = ddio_env_now(env), out;

	if (!lines->since || now - lines->since >= SECOND_NS) {
		out = lines->left_out - lines->told;
		lines->told = lines->left_out;
		lines->since = now;
		lines->n = 0;
		if (out)
			ddio_env_log(env, DDIO_LOG_WARN,
				     "%llu more lines about connections were left out",
				     (unsigned long long)out);
	}
	if (lines->n < ENV_LINES_A_SECOND) {
		lines->n++;
		return true;
	}
	lines->left_out++;
	return false;
}

void ddio_env_log_caused(struct ddio_env *env, enum ddio_log_level level, const char *fmt, ...)
{
	va_list ap;

	if (!may_log(env))
		return;
	va_start(ap, fmt);
	env->ops->log(env, level, fmt, ap);
	va_end(ap);
}

uint64_t ddio_env_lines_left_out(const struct ddio_env *env)
{
	return env->lines.left_out;
}
