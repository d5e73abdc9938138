/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Log lines that a peer causes, of which there must not be any number. */
#ifndef DDIO_ENV_LINES_H
#define DDIO_ENV_LINES_H

#include "env/env.h"

/* So many of a reactor are logged in a second; the rest are counted. */
#define ENV_LINES_A_SECOND 20u

/* Logs a line as ddio_env_log() does, or counts it; the next line that is logged is preceded by the count. */
void ddio_env_log_caused(struct ddio_env *env, enum ddio_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Returns how many lines were left out so far. */
uint64_t ddio_env_lines_left_out(const struct ddio_env *env);

#endif /* DDIO_ENV_LINES_H */
