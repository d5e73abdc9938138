// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sessions: begin, end, and the way from the caller's thread to the reactor. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/file.h"
#include "cp/group/group.h"
#include "cp/node/lane.h"
#include "cp/coll/op.h"
#include "env/real/real.h"

#define DEFAULT_CONF "/etc/ddio/ddio.conf"

/* Of the last ddio_connect() of each thread, which has no session to keep it in. */
static __thread char connect_error[DDIO_MAX_TEXT];

const char *ddio_version(void)
{
	return "0.1.0";
}

const char *ddio_last_error(const struct ddio_session *session)
{
	return session ? session->last_error : connect_error;
}

int session_fail(struct ddio_session *session, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(session->last_error, sizeof(session->last_error), fmt, ap);
	va_end(ap);
	return err;
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
	call->session = session;
	call->run = run;
	call->post.fn = call_begin;
	call->post.arg = call;
	error_clear(&call->error);
	ddio_gate_init(&call->gate);
	ddio_env_post(session->env, &call->post);
	ddio_gate_wait(session->env, &call->gate, 0);
	memcpy(session->last_error, call->error.text, sizeof(session->last_error));
	return call->error.err;
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
void session_conn_opts(const struct ddio_session *s, struct ddio_conn_opts *opts)
{
	opts->key = &s->key;
	opts->cluster = s->conf->cluster;
	opts->handshake_ns = s->timeout_ns;
}

void session_watch(struct ddio_session *s)
{
	if (!ddio_timer_armed(&s->watchdog) && !s->closing)
		ddio_timer_arm(s->env, &s->watchdog, ddio_env_now(s->env) + s->timeout_ns / 6);
}

static void watchdog_bark(void *arg)
{
	struct ddio_session *s = arg;
	bool owes = nodes_check(s);

	owes |= groups_check(s);
	if (owes)
		session_watch(s);
}

bool alive_check(struct ddio_session *s, struct alive *alive, struct ddio_conn *conn, bool owes)
{
	struct ddio_msg ping = { .opcode = DDIO_OP_PING };
	uint64_t now = ddio_env_now(s->env), heard;

	if (!owes) {
		memset(alive, 0, sizeof(*alive));
		return false;
	}
	if (!alive->since)
		alive->since = now;
	heard = ddio_conn_last_rx(conn);
	if (heard < alive->since)
		heard = alive->since;
	if (now - heard >= s->timeout_ns)
		return true;
	if (now - heard >= s->timeout_ns / 3 && alive->pinged < heard) {
		ddio_conn_send(conn, &ping, NULL, 0, NULL, 0, NULL);
		alive->pinged = now;
	}
	return false;
}

/*
 * Begin
 */
static void session_free(struct ddio_session *s)
{
	nodes_free(s);
	free(s->group);
	if (s->own_conf)
		ddio_conf_free(s->conf);
	memset(&s->key, 0, sizeof(s->key));
	free(s);
}

int ddio_session_new_env(struct ddio_env *env, struct ddio_conf *conf, const struct ddio_key *key,
			 struct ddio_session **session)
{
	struct ddio_session *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->env = env;
	s->conf = conf;
	s->timeout_ns = conf->timeout_ns;
	s->watchdog.fn = watchdog_bark;
	s->watchdog.arg = s;
	if (key)
		s->key = *key;
	ddio_env_random(env, &s->id, sizeof(s->id));
	ddio_list_init(&s->files);
	ddio_list_init(&s->ops);
	ddio_list_init(&s->ports);
	ddio_list_init(&s->strangers);
	if (nodes_init(s)) {
		session_free(s);
		return -ENOMEM;
	}
	*session = s;
	return 0;
}

static int connect_fail(int err, const char *text)
{
	snprintf(connect_error, sizeof(connect_error), "%s", text);
	return err;
}

/* The log of the library is its callers' error texts. */
static void connect_log(void *arg, enum ddio_log_level level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

static int connect_env(struct ddio_conf *conf, const struct ddio_key *key,
		       struct ddio_session **session)
{
	const struct ddio_real_opts opts = { .log = connect_log,
					     .log_level = DDIO_LOG_ERR,
					     .name = "libddio" };
	struct ddio_env *env;
	int err;

	err = ddio_real_new(&opts, &env);
	if (err)
		return connect_fail(err, "cannot make the session's reactor");
	err = ddio_session_new_env(env, conf, key, session);
	if (err) {
		connect_fail(err, "out of memory");
		goto free_env;
	}
	err = ddio_real_start_thread(env);
	if (err) {
		connect_fail(err, "cannot start the session's progress thread");
		goto free_session;
	}
	(*session)->own_env = true;
	(*session)->own_conf = true;
	return 0;
free_session:
	session_free(*session);
	*session = NULL;
free_env:
	ddio_real_free(env);
	return err;
}

static const char *connect_path(const struct ddio_connect_opts *opts)
{
	const char *path = opts ? opts->conf : NULL;

	if (!path)
		path = getenv("DDIO_CONF");
	return path && path[0] ? path : DEFAULT_CONF;
}

int ddio_connect(const struct ddio_connect_opts *opts, struct ddio_session **session)
{
	struct ddio_key key = { 0 };
	struct ddio_conf *conf;
	char why[DDIO_MAX_TEXT];
	int err;

	if (!session)
		return connect_fail(-EINVAL, "ddio_connect: no place for the session");
	*session = NULL;
	connect_error[0] = '\0';
	if (opts && (opts->struct_size != sizeof(*opts) || opts->flags))
		return connect_fail(-EINVAL, "ddio_connect: options of another version");
	err = ddio_conf_load(connect_path(opts), &conf, why, sizeof(why));
	if (err)
		return connect_fail(err, why);
	if (conf->key_file)
		err = ddio_key_load(conf->key_file, &key, why, sizeof(why));
	if (err) {
		connect_fail(err, why);
		goto free_conf;
	}
	if (opts && opts->timeout_ms)
		conf->timeout_ns = (uint64_t)opts->timeout_ms * 1000000;
	err = connect_env(conf, &key, session);
	memset(&key, 0, sizeof(key));
	if (err)
		goto free_conf;
	return 0;
free_conf:
	ddio_conf_free(conf);
	return err;
}

/*
 * End
 */
struct disconnect_call {
	struct session_call call;
	struct ddio_timer timer;
	uint64_t until;
};

static void disconnect_end(void *arg)
{
	struct session_call *call = arg;

	files_free(call->session);
	call_end(call, NULL);
}

/* What other members wait for may still be on its way out. */
static void disconnect_try(void *arg)
{
	struct disconnect_call *dc = arg;
	struct ddio_session *s = dc->call.session;

	if (groups_queued(s) && ddio_env_now(s->env) < dc->until) {
		ddio_timer_arm(s->env, &dc->timer, ddio_env_now(s->env) + DDIO_LINGER_STEP_NS);
		return;
	}
	s->closing = true;
	ops_cancel(s);
	groups_close(s);
	nodes_close(s);
	ddio_timer_cancel(s->env, &s->watchdog);
	/* Behind whatever these have posted. */
	dc->call.post.fn = disconnect_end;
	dc->call.post.arg = &dc->call;
	ddio_env_post(s->env, &dc->call.post);
}

static void disconnect_run(struct session_call *call)
{
	struct disconnect_call *dc = ddio_container_of(call, struct disconnect_call, call);

	dc->until = ddio_env_now(call->session->env) + DDIO_LINGER_NS;
	dc->timer.fn = disconnect_try;
	dc->timer.arg = dc;
	disconnect_try(dc);
}

void ddio_disconnect(struct ddio_session *session)
{
	struct disconnect_call dc = { .until = 0 };
	struct ddio_env *env;

	if (!session)
		return;
	call_run(session, &dc.call, disconnect_run);
	env = session->own_env ? session->env : NULL;
	if (env)
		ddio_real_join_thread(env);
	ops_free(session);
	session_free(session);
	if (env)
		ddio_real_free(env);
}
