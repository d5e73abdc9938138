/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session: one reactor, on which everything runs that is not the caller's
 * thread.  A public call packs its request in a struct session_call, posts it
 * there and waits at its gate.
 */
#ifndef DDIO_CP_SESSION_H
#define DDIO_CP_SESSION_H

#include <ddio/ddio.h>
#include "base/list.h"
#include "conf/conf.h"
#include "conn/conn.h"
#include "cp/node/error.h"
#include "env/env.h"

struct lane;
struct cluster_node;

/**
 * struct cluster_disk - what the nodes' WELCOMEs said of a disk
 * @known: its node has said so
 * @ended: the last lives of its node that were ended in order: what the disk was given in them is durable;
 *	@nended have been
 */
#define DDIO_DISK_LIVES 4
struct cluster_disk {
	uint32_t node;
	uint32_t reactor;
	bool known;
	uint64_t size;
	uint64_t peak;
	uint64_t scale_ppm;
	uint64_t ended[DDIO_DISK_LIVES];
	uint32_t nended;
};

/**
 * struct ddio_session - all but @last_error belongs to the reactor once it runs
 * @own_env: made by ddio_connect(), with a thread of its own
 * @own_conf: freed with the session
 * @timeout_ns: bound on any lack of progress
 * @nodes: as many as the configuration has
 * @disks: as many as the configuration has
 * @group: groups by handle; a NULL is a free handle
 * @files: every file that is open
 * @ops: every operation that was not waited for
 * @ports: where other members of groups connect, the first made with the first group
 * @strangers: who has connected there and is not known yet
 * @meeting: a group that is being formed around this process
 * @id: tells its connections from those of others; @connects: numbers them
 * @mark: counts walks over lanes that visit each once
 * @watchdog: looks at all connections that owe something while there are any
 * @solo: the group of one of strided and listed independent requests
 * @told_pin: it was said that memory cannot be pinned
 * @lane_lost: a lane that was connected, or on its way, is about to be closed; may be NULL
 * @last_error: the application's thread only
 */
struct ddio_session {
	struct ddio_env *env;
	bool own_env;
	bool own_conf;
	bool closing;
	struct ddio_conf *conf;
	struct ddio_key key;
	uint64_t timeout_ns;
	struct cluster_node *nodes;
	struct cluster_disk *disks;
	struct ddio_group **group;
	uint32_t ngroups;
	struct ddio_list files;
	struct ddio_list ops;
	struct ddio_list ports;
	struct ddio_list strangers;
	struct group_meeting *meeting;
	uint64_t id, connects;
	uint64_t mark;
	struct ddio_timer watchdog;
	struct ddio_group *solo;
	bool told_pin;
	void (*lane_lost)(struct ddio_session *session, struct lane *lane);
	void *lane_lost_arg;
	char last_error[DDIO_MAX_TEXT];
};

/**
 * ddio_session_new_env - a session on a reactor that exists already
 * @env: its loop runs, or will be run, by the caller; must outlive the session
 * @conf: must outlive the session
 * @key: NULL for none
 */
int ddio_session_new_env(struct ddio_env *env, struct ddio_conf *conf, const struct ddio_key *key,
			 struct ddio_session **session);

/**
 * struct session_call - a request of the application's thread to the reactor
 * @run: on the reactor; ends, then or later, in call_end()
 * @error: the result
 */
struct session_call {
	struct ddio_post post;
	struct ddio_gate gate;
	struct ddio_session *session;
	void (*run)(struct session_call *call);
	struct error error;
};

/* Application's thread: posts, waits, keeps the text.  Return: error.err. */
int call_run(struct ddio_session *session, struct session_call *call,
	     void (*run)(struct session_call *call));
/* @error NULL, or clear: success.  The last access to @call. */
void call_end(struct session_call *call, const struct error *error);
/* Application's thread: a failure found before anything was posted.  Return: @err. */
int session_fail(struct ddio_session *session, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* What the library uses for every connection of the session. */
void session_conn_opts(const struct ddio_session *session, struct ddio_conn_opts *opts);
/* Something is owed from now on: have the watchdog look. */
void session_watch(struct ddio_session *session);

/**
 * struct alive - the liveness of one connection
 * @since: time from which something is owed, 0 if nothing is
 * @pinged: time of the last ping, 0 if none was needed
 */
struct alive {
	uint64_t since;
	uint64_t pinged;
};

/*
 * Looks at a connection.  Sends a ping if it has owed something in silence for a third of
 * the timeout.  Return: true if it has to be given up.
 */
bool alive_check(struct ddio_session *session, struct alive *alive, struct ddio_conn *conn,
		 bool owes);

#endif /* DDIO_CP_SESSION_H */
