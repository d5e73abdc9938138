// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/node/whose.h"
#include "env/aside.h"

/**
 * struct vouching - a question under way
 * @session: to the thread that asks no more than a name: it may have ended
 * @vouch, @same: which of the two is asked
 * @late: bound on it
 */
struct vouching {
	struct ddio_aside aside;
	struct ddio_session *session;
	session_vouch_fn vouch;
	session_same_fn same;
	uint8_t tied[VOUCHING_TIED];
	size_t len;
	char cred[DDIO_MAX_CREDENTIAL + 1], why[DDIO_MAX_TEXT];
	int err;
	struct ddio_timer late;
	vouching_done_fn done;
	void *arg;
};

static struct vouching *vouching_of(struct ddio_aside *aside)
{
	return ddio_container_of(aside, struct vouching, aside);
}

static void vouching_work(struct ddio_aside *aside)
{
	struct vouching *v = vouching_of(aside);

	if (v->vouch)
		v->err = v->vouch(v->session, v->tied, v->len, v->cred, sizeof(v->cred), v->why,
				  sizeof(v->why));
	else if (v->same && v->same(v->session, v->cred, v->tied, v->len))
		v->err = 0;
}

static void vouching_done(struct ddio_aside *aside)
{
	struct vouching *v = vouching_of(aside);

	ddio_timer_cancel(v->session->env, &v->late);
	v->done(v->arg, v->err, v->cred, v->why);
}

static void vouching_late(void *arg)
{
	struct vouching *v = arg;
	vouching_done_fn done = v->done;
	void *done_arg = v->arg;

	ddio_aside_forget(&v->aside);
	done(done_arg, -ETIMEDOUT, NULL,
	     "munge has not answered in time: see whether munged of this machine runs");
}

static void vouching_release(struct ddio_aside *aside)
{
	free(vouching_of(aside));
}

static struct vouching *vouching_new(struct ddio_session *s, const void *tied, size_t len,
				     vouching_done_fn done, void *arg)
{
	struct vouching *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->aside.kind = DDIO_ASIDE_USERS;
	v->aside.work = vouching_work;
	v->aside.done = vouching_done;
	v->aside.release = vouching_release;
	v->late.fn = vouching_late;
	v->late.arg = v;
	v->session = s;
	v->len = len;
	v->done = done;
	v->arg = arg;
	v->err = -EACCES;
	memcpy(v->tied, tied, len);
	snprintf(v->why, sizeof(v->why), "nobody vouches for this process");
	return v;
}

static int vouching_begin(struct vouching *v, struct vouching **result)
{
	struct ddio_env *env = v->session->env;
	int err = ddio_timer_arm(env, &v->late, ddio_env_now(env) + v->session->timeout_ns);

	if (!err)
		err = ddio_env_aside(env, &v->aside);
	if (err) {
		ddio_timer_cancel(env, &v->late);
		free(v);
		return err;
	}
	*result = v;
	return 0;
}

int vouching_make(struct ddio_session *s, const void *tied, size_t len, vouching_done_fn done,
		  void *arg, struct vouching **result)
{
	struct vouching *v = vouching_new(s, tied, len, done, arg);

	if (!v)
		return -ENOMEM;
	v->vouch = s->vouch;
	return vouching_begin(v, result);
}

/* Asks whether a credential, of @n bytes, vouches for this process's own user, and has these bytes in it: else it is -EACCES. */
static int vouching_check(struct ddio_session *s, const void *cred, size_t n, const void *tied,
			  size_t len, vouching_done_fn done, void *arg, struct vouching **result)
{
	struct vouching *v;

	if (n >= sizeof(v->cred))
		return -EPROTO;
	v = vouching_new(s, tied, len, done, arg);
	if (!v)
		return -ENOMEM;
	memcpy(v->cred, cred, n);
	v->same = s->same_user;
	return vouching_begin(v, result);
}

void vouching_forget(struct vouching *v)
{
	if (!v)
		return;
	ddio_timer_cancel(v->session->env, &v->late);
	ddio_aside_forget(&v->aside);
}

/*
 * Processes that meet: the credential is of the connection's tie, and of the end that shows it
 */
enum { TIED_LEN = VOUCHING_TIED };

static void tie_end(const struct ddio_conn *conn, enum whose_end end, uint8_t tied[TIED_LEN])
{
	memcpy(tied, ddio_conn_tie(conn), DDIO_PROOF_LEN);
	tied[DDIO_PROOF_LEN] = (uint8_t)end;
}

bool whose_matters(const struct ddio_conn *conn, bool by_addr)
{
	return by_addr && ddio_conn_users(conn);
}

int whose_make(struct ddio_session *s, const struct ddio_conn *conn, enum whose_end end,
	       vouching_done_fn done, void *arg, struct vouching **vouching)
{
	uint8_t tied[TIED_LEN];

	tie_end(conn, end, tied);
	return vouching_make(s, tied, sizeof(tied), done, arg, vouching);
}

int whose_show(struct ddio_conn *conn, const char *cred)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_USER };
	uint8_t buf[DDIO_MAX_CREDENTIAL + 8];
	struct ddio_msg_user x = { .kind = DDIO_USER_MUNGE,
				   .cred = cred,
				   .len = (uint32_t)strlen(cred) };

	return ddio_conn_send(conn, &msg, buf, (size_t)ddio_put_user(buf, sizeof(buf), &x), NULL, 0,
			      NULL);
}

int whose_check(struct ddio_session *s, struct ddio_conn *conn, enum whose_end end,
		const void *payload, size_t len, vouching_done_fn done, void *arg,
		struct vouching **vouching)
{
	uint8_t tied[TIED_LEN];
	struct ddio_msg_user x;
	int err;

	if (ddio_get_user(payload, len, &x))
		return -EPROTO;
	tie_end(conn, end, tied);
	err = vouching_check(s, x.cred, x.len, tied, sizeof(tied), done, arg, vouching);
	ddio_conn_pause(conn, !err);
	return err;
}
