// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sessions as the user has them: connected, and disconnected. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cp/broker/broker.h"
#include "cp/cp.h"
#include "cp/file/file.h"
#include "cp/group/group.h"
#include "cp/hold/hold.h"
#include "env/real/real.h"
#include "munge/munge.h"

/*
 * The steps of a small collective are so far apart.  Only threads that wait look so long; daemons do for less, since beside
 * threads that compute a process that yields its processor again and again gets it back late.
 */
#define LOOK_NS 50000
/* But what I/O processors are to do may need the processor on which several members look. */
#define LOOK_SHARED_NS 5000

/* Each thread's text of its last ddio_connect(), which has no session to keep it in. */
static __thread char connect_error[DDIO_MAX_TEXT];

const char *ddio_version(void)
{
	return "0.2.0";
}

const char *ddio_last_error(const struct ddio_session *session)
{
	return session ? session_text(session) : connect_error;
}

static int connect_fail(int err, const char *text)
{
	snprintf(connect_error, sizeof(connect_error), "%s", text);
	return err;
}

/* Drops the line: the library reports by its callers' error texts. */
static void connect_log(void *arg, enum ddio_log_level level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

/* A job that names itself, or the names that resource managers give: Slurm, PBS, LSF, Grid Engine. */
static void connect_job(struct ddio_session *s)
{
	static const char *const named[] = { "DDIO_JOB", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID",
					     "JOB_ID" };
	const char *name = NULL;
	size_t i;

	for (i = 0; i < sizeof(named) / sizeof(named[0]) && !name; i++)
		name = getenv(named[i]);
	snprintf(s->job, sizeof(s->job), "%s", name ? name : "");
}

static int connect_vouch(const struct ddio_session *s, const void *data, size_t len, char *cred,
			 size_t cap, char *why, size_t why_len)
{
	(void)s;
	return ddio_munge_make(data, len, cred, cap, why, why_len);
}

static bool connect_same_user(const struct ddio_session *s, const char *cred, const void *data,
			      size_t len)
{
	char why[DDIO_MAX_TEXT];
	uid_t uid;
	gid_t gid;

	(void)s;
	return !ddio_munge_check(cred, data, len, &uid, &gid, why, sizeof(why)) && uid == geteuid();
}

static bool wants_words(void)
{
	const char *verbose = getenv("DDIO_VERBOSE");

	return verbose && verbose[0] && strcmp(verbose, "0");
}

static int connect_env(struct ddio_conf *conf, const struct ddio_key *key,
		       struct ddio_session **session)
{
	const struct ddio_real_opts opts = {
		.log = connect_log,
		.log_level = DDIO_LOG_ERR,
		.name = "libddio",
		.look_ns = LOOK_NS,
		.look_shared_ns = LOOK_SHARED_NS,
	};
	struct ddio_env *env;
	int err;

	err = ddio_real_new(&opts, &env);
	if (err)
		return connect_fail(err, "cannot create the session's reactor");
	err = ddio_session_new_env(env, conf, key, session);
	if (err) {
		connect_fail(err, "out of memory");
		goto free_env;
	}
	connect_job(*session);
	(*session)->verbose = wants_words();
	(*session)->vouch = connect_vouch;
	(*session)->same_user = connect_same_user;
	err = ddio_real_start_thread(env);
	if (err) {
		connect_fail(err, "cannot start the session's progress thread");
		goto free_session;
	}
	(*session)->own_env = true;
	(*session)->own_conf = true;
	return 0;
free_session:
	session_discard(*session);
	*session = NULL;
free_env:
	ddio_real_free(env);
	return err;
}

int ddio_connect(const struct ddio_connect_opts *opts, struct ddio_session **session)
{
	struct ddio_key key = { 0 };
	struct ddio_conf *conf;
	char why[DDIO_MAX_TEXT], path[DDIO_CONF_PATH];
	int err;

	if (!session)
		return connect_fail(-EINVAL, "ddio_connect: session is NULL");
	*session = NULL;
	connect_error[0] = '\0';
	if (opts && (opts->struct_size != sizeof(*opts) || opts->flags))
		return connect_fail(
			-EINVAL,
			"ddio_connect: set struct_size to sizeof(struct ddio_connect_opts) and flags to 0");
	err = ddio_conf_find(opts ? opts->conf : NULL, path, why, sizeof(why));
	if (!err)
		err = ddio_conf_load(path, &conf, why, sizeof(why));
	if (err)
		return connect_fail(err, why);
	if (conf->key_file)
		err = ddio_key_load(conf->key_file, ddio_conf_knows_users(conf), &key, why,
				    sizeof(why));
	if (err) {
		connect_fail(err, why);
		goto free_conf;
	}
	if (getenv("DDIO_BROKER"))
		err = ddio_conf_set_broker(conf, getenv("DDIO_BROKER"));
	if (err) {
		connect_fail(err, "DDIO_BROKER: not one of never, auto, always");
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
	uint64_t begun;
};

static void disconnect_end(void *arg)
{
	struct session_call *call = arg;

	files_free(call->session);
	call_end(call, NULL);
}

/*
 * Waits a little for the output queues: other members may need what is in them; and for the name server, which gives
 * the session's locks to others.  A broker waits, as long as a node may be silent, for those that are served through it.
 */
static void disconnect_try(void *arg)
{
	struct disconnect_call *dc = arg;
	struct ddio_session *s = dc->call.session;
	uint64_t passed = ddio_env_now(s->env) - dc->begun;

	if (((hold_leave(s) || groups_queued(s)) && passed < GROUP_LINGER_NS) ||
	    (broker_leave(s) && passed < s->timeout_ns)) {
		ddio_timer_arm(s->env, &dc->timer, ddio_env_now(s->env) + GROUP_LINGER_STEP_NS);
		return;
	}
	session_cancel(s);
	/* Runs after whatever this has posted. */
	dc->call.post.fn = disconnect_end;
	dc->call.post.arg = &dc->call;
	ddio_env_post(s->env, &dc->call.post);
}

static void disconnect_run(struct session_call *call)
{
	struct disconnect_call *dc = ddio_container_of(call, struct disconnect_call, call);

	if (call->session->verbose)
		ways_say(call->session);
	dc->begun = ddio_env_now(call->session->env);
	dc->timer.fn = disconnect_try;
	dc->timer.arg = dc;
	disconnect_try(dc);
}

void ddio_disconnect(struct ddio_session *session)
{
	struct disconnect_call dc = { .begun = 0 };
	struct ddio_env *env;

	if (!session)
		return;
	/* In the middle of another call, by a signal handler: the session stays as it is. */
	if (call_run(session, &dc.call, disconnect_run) == -EDEADLK)
		return;
	env = session->own_env ? session->env : NULL;
	if (env)
		ddio_real_join_thread(env);
	session_discard(session);
	if (env)
		ddio_real_free(env);
}
