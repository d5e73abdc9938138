// SPDX-License-Identifier: LGPL-2.1-or-later
/* What every room needs of a session: calls from the application's thread, and the watchdog. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/session.h"

/* So often at most a session looks whether its keys have changed. */
#define KEY_LOOK_NS 1000000000

/* Of so many sessions a thread remembers what its last call on each said. */
#define THREAD_TEXTS 4

/* A message must be there within so many times the session's timeout. */

/**
 * struct thread_text - what a thread's last failed call on a session said
 * @id: the session's; 0: none
 * @used: the highest is the last
 */
struct thread_text {
	uint64_t id;
	uint64_t used;
	char text[DDIO_MAX_TEXT];
};

static __thread struct thread_text thread_texts[THREAD_TEXTS];
static __thread uint64_t thread_calls;

/* Returns this thread's text for the session, or the one that was used least lately. */
static struct thread_text *thread_text_find(const struct ddio_session *session)
{
	struct thread_text *least = &thread_texts[0];
	uint32_t i;

	for (i = 0; i < THREAD_TEXTS; i++) {
		if (thread_texts[i].id == session->id)
			return &thread_texts[i];
		if (thread_texts[i].used < least->used)
			least = &thread_texts[i];
	}
	return least;
}

const char *session_text(const struct ddio_session *session)
{
	const struct thread_text *t;

	if (!session->own_env)
		return session->last_error;
	t = thread_text_find(session);
	return t->id == session->id ? t->text : "";
}

static char *session_text_take(struct ddio_session *session)
{
	struct thread_text *t;

	if (!session->own_env)
		return session->last_error;
	t = thread_text_find(session);
	t->id = session->id;
	t->used = ++thread_calls;
	return t->text;
}

int session_fail(struct ddio_session *session, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(session_text_take(session), DDIO_MAX_TEXT, fmt, ap);
	va_end(ap);
	return err;
}

int session_outcome(struct ddio_session *session, const struct error *error)
{
	if (error->err)
		memcpy(session_text_take(session), error->text, DDIO_MAX_TEXT);
	return error->err;
}

/*
 * Calls
 */
static void call_begin(void *arg)
{
	struct session_call *call = arg;

	ddio_env_charge(call->session->env, DDIO_WORK_CALL, 1);
	call->run(call);
}

int call_run(struct ddio_session *session, struct session_call *call,
	     void (*run)(struct session_call *call))
{
	int err;

	call->session = session;
	call->run = run;
	call->post.fn = call_begin;
	call->post.arg = call;
	error_clear(&call->error);
	ddio_gate_init(&call->gate);
	err = ddio_env_call(session->env, &call->post, &call->gate);
	if (err)
		return session_fail(session, err, CALL_INSIDE);
	return session_outcome(session, &call->error);
}

void call_end(struct session_call *call, const struct error *error)
{
	if (error)
		call->error = *error;
	ddio_gate_open(call->session->env, &call->gate);
}

/*
 * The watchdog
 */
/* Keys are changed while a session lasts: one that it cannot read, or only half, changes nothing. */
static void look_for_keys(struct ddio_session *s)
{
	uint64_t now = ddio_env_now(s->env);
	struct ddio_key key;
	char why[DDIO_MAX_TEXT];

	if (!s->own_env || !s->conf->key_file || now - s->key_looked < KEY_LOOK_NS)
		return;
	s->key_looked = now;
	if (!ddio_key_changed(s->conf->key_file, s->key_looks) ||
	    ddio_key_load(s->conf->key_file, ddio_conf_knows_users(s->conf), &key, why,
			  sizeof(why)))
		return;
	s->key = key;
	explicit_bzero(&key, sizeof(key));
	if (s->tls)
		ddio_conn_tls_keys(s->tls, &s->key);
}

void session_conn_opts(struct ddio_session *s, struct ddio_conn_opts *opts)
{
	look_for_keys(s);
	opts->key = &s->key;
	opts->cluster = s->conf->cluster;
	opts->handshake_ns = s->timeout_ns;
	opts->unsummed = s->conf->wire_checksums == DDIO_CONF_SUMS_NO;
	opts->near_unsummed = s->conf->wire_checksums == DDIO_CONF_SUMS_YES;
	opts->memory = s->conf->channels && s->conf->wire_checksums != DDIO_CONF_SUMS_ALWAYS;
	opts->tls = s->tls;
	opts->users = ddio_conf_knows_users(s->conf);
}

void session_watch(struct ddio_session *s)
{
	if (!ddio_timer_armed(&s->watchdog) && !s->closing)
		ddio_timer_arm(s->env, &s->watchdog, ddio_env_now(s->env) + s->timeout_ns / 6);
}

static void watchdog_bark(void *arg)
{
	struct ddio_session *s = arg;
	const session_check_fn *check;
	bool owes = false;

	for (check = s->checks; *check; check++)
		owes |= (*check)(s);
	if (owes)
		session_watch(s);
}

/*
 * Life
 */
struct ddio_session *session_new(struct ddio_env *env, struct ddio_conf *conf,
				 const struct ddio_key *key, const session_check_fn *checks)
{
	struct ddio_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->env = env;
	s->conf = conf;
	s->timeout_ns = conf->timeout_ns;
	s->checks = checks;
	s->watchdog.fn = watchdog_bark;
	s->watchdog.arg = s;
	if (key)
		s->key = *key;
	if (conf->tls && ddio_conn_tls_new(&s->key, conf->kernel_tls, &s->tls)) {
		free(s);
		return NULL;
	}
	ddio_env_random(env, &s->id, sizeof(s->id));
	ddio_list_init(&s->files);
	return s;
}

void session_free(struct ddio_session *s)
{
	if (s->own_conf)
		ddio_conf_free(s->conf);
	ddio_tls_free(s->tls);
	explicit_bzero(&s->key, sizeof(s->key));
	free(s);
}
