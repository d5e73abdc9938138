/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session: one reactor, on which everything runs that is not the caller's
 * thread.  A public call packs its request in a struct session_call, posts it
 * there and waits at its gate.
 *
 * Each room of userlib/cp sees only those below it.  What a lower room has to
 * tell an upper one goes through tables that the entrance, cp.c, hands down.
 */
#ifndef DDIO_CP_SESSION_H
#define DDIO_CP_SESSION_H

#include <ddio/ddio.h>
#include "base/list.h"
#include "conf/conf.h"
#include "conn/alive.h"
#include "cp/node/error.h"
#include "env/env.h"

struct broker;
struct cluster_node;
struct ddio_stream;
struct grants;
struct groups;
struct holder;
struct lane;
struct lane_user;
struct transfers;
struct vouching;

/* At most so many users of lanes. */
enum { LANE_USERS = 10 };

/* Looks at all connections of one kind.  Returns true if any of them owes something. */
typedef bool (*session_check_fn)(struct ddio_session *session);

/*
 * Has the process's user vouched for, tied to some bytes: see ddio_munge_make().  Another thread calls it, for which nobody waits
 * (env/aside.h): the session may have ended, and is a name only.
 */
typedef int (*session_vouch_fn)(const struct ddio_session *session, const void *data, size_t len,
				char *cred, size_t cap, char *why, size_t why_len);
/* Whether a credential vouches for this process's own user, and is tied to these bytes.  Called as the other is. */
typedef bool (*session_same_fn)(const struct ddio_session *session, const char *cred,
				const void *data, size_t len);

/**
 * struct cluster_disk - what the nodes' WELCOMEs said of a disk
 * @replace: it is to be accepted as it is, see struct ddio_disk_id
 * @known: its node has told us about it
 * @ended: incarnations of its node: what the disk was given in them is durable
 */
struct cluster_disk {
	bool replace, known;
	uint32_t reactor;
	uint64_t size;
	uint64_t peak;
	uint64_t scale_ppm;
	struct ddio_ends ended;
};

/* Ways of connections to nodes: enum conn_way, and by the broker of the machine. */
enum { SESSION_BROKERED = CONN_MEMORY + 1, SESSION_WAYS };

/**
 * struct ddio_session - belongs to the reactor once it runs
 * @own_env: made by ddio_connect(), with a thread of its own
 * @own_conf: freed with the session
 * @verbose: says at its end which ways it has used
 * @key_looks: of the files of @key, which have been looked at at @key_looked; only with @own_env
 * @tls: NULL: connections are not closed to strangers
 * @timeout_ns: bound on any lack of progress
 * @nodes: as many as the configuration has, each made at its first use: see node_get(), node_look()
 * @disks: as many as the configuration has; of those that nothing was heard of yet NULL
 * @groups: see group.h
 * @transfers: see op.h
 * @files: every open file
 * @holder: see hold.h; NULL until the first lock
 * @names: life of the name space, 0 if it is not known; @replace_names: accept it as it is
 * @names_ended: incarnations of the name server's node: what the name space was given in them is durable
 * @broker: see cp/broker; NULL: lanes connect by themselves
 * @dial: makes the stream that a lane's connection goes over, or none: it connects by itself; -EINPROGRESS: the lane, linked by
 *	its waits, is told by lane_dialed() when to ask again.  NULL: all connect by themselves
 * @id: distinguishes its connections from those of other sessions; @connects numbers them
 * @moved: bytes of its collective transfers: by buffers shared with I/O processors, by their kernel module, and in messages
 * @connected: how many connections to nodes it has made by each way
 * @job: its name, "": none
 * @vouch: NULL: nobody vouches for this process; @same_user: for others, with the same user
 * @grants: what its user may do with files; NULL until the name space has told of one
 * @renew: looks which of them are to be renewed; its argument is the session
 * @mark: counts walks over lanes, or nodes, that visit each once; @node_mark: of each node the last that visited it
 * @watchdog: runs @checks (NULL at the end) for as long as any of them finds something owed
 * @lane_users: whom lanes tell; NULL at the end
 * @owner: what the last of them, which lane_user_add() added, knows the session by
 * @last_error: only without @own_env, where one thread plays many programs: else each thread has its own
 */
struct ddio_session {
	struct ddio_env *env;
	bool own_env;
	bool own_conf;
	bool closing;
	bool verbose;
	struct ddio_conf *conf;
	struct ddio_key key;
	struct ddio_tls *tls;
	struct ddio_key_look key_looks[2];
	uint64_t key_looked;
	uint64_t timeout_ns;
	struct cluster_node **nodes;
	struct cluster_disk **disks;
	struct groups *groups;
	struct transfers *transfers;
	struct ddio_list files;
	struct holder *holder;
	uint64_t names;
	bool replace_names;
	struct ddio_ends names_ended;
	struct broker *broker;
	int (*dial)(struct lane *lane, struct ddio_stream **stream);
	uint64_t id, connects;
	struct {
		uint64_t shared, scattered, sent;
	} moved;
	uint32_t connected[SESSION_WAYS];
	char job[DDIO_MAX_JOB + 1];
	session_vouch_fn vouch;
	session_same_fn same_user;
	struct grants *grants;
	void (*renew)(void *session);
	uint64_t mark, *node_mark;
	struct ddio_timer watchdog;
	const session_check_fn *checks;
	const struct lane_user *lane_users[LANE_USERS + 1];
	void *owner;
	char last_error[DDIO_MAX_TEXT];
};

/* Returns a session without any room's part in it, or NULL without memory. */
struct ddio_session *session_new(struct ddio_env *env, struct ddio_conf *conf,
				 const struct ddio_key *key, const session_check_fn *checks);
void session_free(struct ddio_session *session);

/**
 * struct session_call - a request of the application's thread to the reactor
 * @run: runs on the reactor; ends, at once or later, in call_end()
 * @guard: see file_call_run()
 * @error: the result
 */
struct session_call {
	struct ddio_post post;
	struct ddio_gate gate;
	struct ddio_session *session;
	void (*run)(struct session_call *call);
	void *guard;
	struct error error;
};

/* What -EDEADLK says: a thread that is in a call makes another. */
#define CALL_INSIDE "a signal handler, or a function that the library calls, cannot call it itself"

/* Application's thread: posts @call, waits for its end, keeps the text.  Returns error.err. */
int call_run(struct ddio_session *session, struct session_call *call,
	     void (*run)(struct session_call *call));
/* Ends @call; the last access to it.  @error: NULL or clear means success. */
void call_end(struct session_call *call, const struct error *error);
/* Returns what this thread's last call on the session that failed said. */
const char *session_text(const struct ddio_session *session);
/*
 * Keeps the text of a call, if it has failed: after one that succeeds, clean-up for instance, that is still there.  Returns its errno,
 * or 0.
 */
int session_outcome(struct ddio_session *session, const struct error *error);
/* Application's thread: reports a failure found before anything was posted.  Returns @err. */
int session_fail(struct ddio_session *session, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Fills in the options of every connection of the session, with the keys that are valid now. */
void session_conn_opts(struct ddio_session *session, struct ddio_conn_opts *opts);
/* Starts the watchdog: something is owed from now on. */
void session_watch(struct ddio_session *session);

#endif /* DDIO_CP_SESSION_H */
