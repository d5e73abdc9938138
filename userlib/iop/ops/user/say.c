// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * USER: a connection says whose it is.  What follows on it is not read before it is known whether that is true.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "env/aside.h"
#include "env/lines.h"
#include "iop/ops/user/priv.h"

/**
 * struct user_asking - a credential that is being looked at
 * @client: while it is there
 */
struct user_asking {
	struct ddio_aside aside;
	struct ddio_vouch_job job;
	ddio_vouch_fn vouch;
	struct client *client;
};

/* Root of a machine that is not trusted is nobody. */
static void user_known(struct client *client, struct ddio_who *who)
{
	struct iop_user *user = client->user;

	user->state = USER_KNOWN;
	user->who = *who;
	who->groups = NULL;
	if (user->who.uid)
		return;
	user->root =
		ddio_conf_believes_root(client->reactor->iop->conf, ddio_conn_peer(client->conn));
	if (user->root)
		return;
	free(user->who.groups);
	user->who = (struct ddio_who){ .uid = WHO_NOBODY, .gid = WHO_NOBODY };
}

static void user_refused(struct client *client, const char *why)
{
	struct iop_user *user = client->user;

	user->state = USER_UNKNOWN;
	snprintf(user->why, sizeof(user->why), "%s", why);
	client->reactor->refused++;
	ddio_env_log_caused(client->reactor->env, DDIO_LOG_WARN, "user of %s not known: %s",
			    ddio_conn_peer(client->conn), why);
}

static struct user_asking *asking_of(struct ddio_aside *aside)
{
	return ddio_container_of(aside, struct user_asking, aside);
}

static void asking_work(struct ddio_aside *aside)
{
	struct user_asking *asking = asking_of(aside);

	asking->vouch(&asking->job);
}

static void asked(struct ddio_aside *aside)
{
	struct user_asking *asking = asking_of(aside);
	struct client *client = asking->client;

	client->asking = NULL;
	if (asking->job.err)
		user_refused(client, asking->job.why);
	else
		user_known(client, &asking->job.who);
	client_go_on(client);
}

static void asking_release(struct ddio_aside *aside)
{
	struct user_asking *asking = asking_of(aside);

	free(asking->job.who.groups);
	free(asking);
}

static int ask(struct client *client, const struct ddio_msg_user *x)
{
	struct user_asking *asking;
	int err;

	/* Such a text is no credential. */
	if (memchr(x->cred, 0, x->len)) {
		user_refused(client, "the credential is malformed");
		return 0;
	}
	asking = calloc(1, sizeof(*asking));
	if (!asking)
		return -ENOMEM;
	asking->aside.kind = DDIO_ASIDE_USERS;
	asking->aside.work = asking_work;
	asking->aside.done = asked;
	asking->aside.release = asking_release;
	asking->vouch = client->reactor->iop->vouch;
	asking->client = client;
	memcpy(asking->job.cred, x->cred, x->len);
	memcpy(asking->job.tie, ddio_conn_tie(client->conn), sizeof(asking->job.tie));
	client->user->state = USER_ASKED;
	err = ddio_env_aside(client->reactor->env, &asking->aside);
	if (err)
		free(asking);
	else
		client->asking = asking;
	return err;
}

static void is_server(struct client *client, const struct ddio_msg_user *x)
{
	uint8_t mac[DDIO_MAC_LEN];

	if (x->len != sizeof(mac) ||
	    !server_sign(&client->reactor->iop->servers_key, ddio_conn_tie(client->conn), mac) ||
	    !ddio_mac_same(mac, x->cred)) {
		user_refused(client, "the proof of the servers' key is wrong");
		return;
	}
	client->user->state = USER_KNOWN;
	client->user->root = true;
}

int take_user(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_user x;
	int err = ddio_get_user(payload, msg->length, &x);

	if (err)
		return err;
	/* Once: a connection does not change hands. */
	if (!ddio_conn_users(client->conn) || client->user)
		return -EPROTO;
	client->user = user_new();
	if (!client->user)
		return -ENOMEM;
	if (x.kind == DDIO_USER_MUNGE)
		return ask(client, &x);
	is_server(client, &x);
	return 0;
}

void user_client_gone(struct client *client)
{
	if (client->asking)
		ddio_aside_forget(&client->asking->aside);
	client->asking = NULL;
}
