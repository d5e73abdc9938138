/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside of the server: bringing a node up and down (server.c, stop.c), its reactors and disks
 * (reactor.c), connections from their arrival to their end (arrive.c, session.c, client.c, leave.c), those that
 * carry others (carry.c), what comes over them (dispatch.c), requests and their replies (request.c, buf.c), and writing back what nobody
 * asks for (later.c).  Who handles what is in the services (service.c).
 *
 * Who owns what
 *   A connection belongs to reactor 0 until its HELLO says where it wants to be,
 *   from then on to that reactor.
 *   A request belongs to its reactor.  It names its client until the client is gone, and is freed
 *   when its reply has left, or at its end if there is nobody to reply to.
 */
#ifndef DDIO_SERVER_PRIV_H
#define DDIO_SERVER_PRIV_H

#include "iop/ns/ns.h"
#include "iop/server/server.h"

/* A connection with more than this being served is not read from until half is done; nor is one that has more
 * replies to read than BOUND_UNREAD, which is DDIO_CONN_HIGH, until its output has drained. */
#define SERVER_CLIENT_REQUESTS 128u
#define SERVER_CLIENT_BYTES (8u << 20)

/* So many finished requests of a reactor are kept for reuse. */
#define SERVER_SPARE_REQUESTS 64u

/* Buffers of bulk data by size, a power of two from 4 KB to the largest bulk. */
#define SERVER_BUF_MIN_BITS 12
#define SERVER_BUF_CLASSES 14

/* Above the highest opcode. */
#define SERVER_OPCODES 256

struct server;

/**
 * struct server_bufs - free buffers
 * @kept: their bytes
 */
struct server_bufs {
	void *free[SERVER_BUF_CLASSES];
	uint64_t kept;
};

enum server_client_state {
	SERVER_CLIENT_OPENING, /* reactor 0's, has not said HELLO yet */
	SERVER_CLIENT_MOVING,  /* on its way to another reactor */
	SERVER_CLIENT_SERVED,
	SERVER_CLIENT_REFUSED, /* the refusal is on its way */
	SERVER_CLIENT_GONE,    /* the connection is closed; a post is under way */
};

/**
 * struct server_client - a connection
 * @c: what services see of it; its link is in reactor->clients while it is served, else in
 *	server_reactor.opening
 * @requests: struct server_request
 * @incoming: request whose bulk is being received
 * @bytes: buffers of its requests
 * @session: the client's session, or 0 if it does not repeat requests; @number: counts the connections of
 *	the session
 * @unread: it has more replies to read than it may have
 * @paused: nothing is read from it; meanwhile @alive tells it that the node is there
 * @held: it is not served before its session's previous connection has ended altogether
 * @from: its address while it has not proved the key, else NULL; @from_link: there, @unproved_link: in
 *	server.unproved
 * @mux: what a broker's connection carries, else NULL; @carried: it is one of those that another one carries
 * @end: ends the connection, when posted
 * @move: to another reactor
 * @why: of client_end(), NULL without memory
 */
struct server_client {
	struct client c;
	enum server_client_state state;
	uint32_t role;
	struct ddio_list requests;
	struct server_request *incoming;
	uint64_t bytes;
	uint64_t session, number;
	struct server_from *from;
	struct ddio_list from_link, unproved_link;
	struct ddio_mux *mux;
	bool carried;
	bool unread;
	bool held;
	bool paused;
	bool posted;
	struct ddio_timer alive;
	struct ddio_post end, move;
	char *why;
};

enum server_stop_stage {
	SERVER_RUNS,
	SERVER_ENDING,	/* requests and collectives end */
	SERVER_WRITING, /* caches are written back, stores commit */
	SERVER_SAYING,	/* the last replies go out, and that nothing was lost */
	SERVER_CLOSING, /* connections are closed; what was posted runs, read-ahead ends */
	SERVER_STOPPED,
};

/**
 * struct server_stop_part - a disk's last flush and commits: of what is left, and of that the node ended in order
 * @lost: something could not be written
 */
struct server_stop_part {
	struct server_reactor *sr;
	struct iop_disk *disk;
	struct cache_flush flush;
	struct commit commit;
	bool lost;
};

/**
 * struct server_reactor - what the server keeps of a reactor
 * @opening: connections that are not served yet
 * @orphans: requests that change something for a client that is gone
 * @look: looks whether connections that are held can be served; no function until one is held
 * @looking: @look is posted
 * @spare: struct server_request, @nspare of them
 * @serving: requests that are not over
 * @timer, @deadline: of the stage while stopping
 * @writes: caches and commits that are under way while stopping; @lost: one of them has failed
 * @later: writes back what was written; @late_ns: after how long, longer after a failure
 * @parts: one for each disk
 * @post: begins stopping; @stopped: tells reactor 0
 * @carried: bytes of streams that brokers' connections carry and that were not read
 * @key: the reactor's copy of the node's keys, for connections that are carried here; @tls: goes with it, NULL until the first
 */
struct server_reactor {
	struct reactor *reactor;
	struct server *server;
	struct ddio_list opening;
	struct ddio_list orphans;
	struct ddio_post look;
	bool looking;
	struct ddio_list spare;
	uint32_t nspare;
	struct server_bufs bufs;
	uint64_t serving, carried;
	enum server_stop_stage stage;
	struct ddio_timer timer;
	uint64_t deadline;
	uint32_t writes;
	bool lost;
	struct ddio_timer later;
	uint64_t late_ns;
	struct server_stop_part *parts;
	struct commit ns_commit;
	struct ddio_post post, stopped;
	struct ddio_key key;
	struct ddio_tls *tls;
};

/**
 * struct server_where - a disk of the cluster, for all reactors to read
 * @reactor: its owner, or -1 if it is another node's; @index: there
 * @info: settled before the loops run
 * @id: reactor 0's
 * @ends: see store_ends(); settled as @info is
 */
struct server_where {
	int32_t reactor;
	uint32_t index;
	struct ddio_disk_info info;
	struct ddio_disk_id id;
	struct ddio_ends ends;
};

#define SERVER_MACHINE_LEN 64

/**
 * struct server - a node
 * @services: ends with NULL; @ops: their handlers by opcode
 * @where: by disk number
 * @unproved: struct server_client.unproved_link: connections that have not proved the key, the oldest first;
 *	@unproved_from: struct server_from, by address
 * @tls: of reactor 0, where handshakes are made; NULL: connections are not closed to strangers
 * @running: reactors that have not stopped
 * @machine: see machine.c
 */
struct server {
	struct ddio_iop iop;
	const struct server_service *const *services;
	const struct server_op *ops[SERVER_OPCODES];
	struct ddio_listener *listener;
	struct ddio_tls *tls;
	struct server_reactor *per;
	struct server_where *where;
	struct ddio_list unproved;
	struct ddio_hash unproved_from;
	uint32_t running;
	bool repair;
	bool stopping;
	char machine[SERVER_MACHINE_LEN];
	void (*on_stopped)(void *arg);
	void *arg;
};

static inline struct server *server_of(const struct ddio_iop *iop)
{
	return ddio_container_of(iop, struct server, iop);
}

static inline struct server_reactor *server_reactor(const struct reactor *reactor)
{
	return &server_of(reactor->iop)->per[reactor->index];
}

static inline struct server_client *server_client_of(const struct client *client)
{
	return ddio_container_of(client, struct server_client, c);
}

/* machine.c: gives this run of the machine a name, or none (""); @given: that one, or NULL */
void server_machine_name(const char *given, char name[SERVER_MACHINE_LEN]);

/* service.c */
/* Returns 0, or -EINVAL if an opcode has two handlers. */
int server_services_set(struct server *server, const struct server_service *const *services);
/* Returns the opcode's row, or NULL if nothing handles it. */
const struct server_op *server_op_find(const struct server *server, uint16_t opcode);
bool server_services_idle(const struct reactor *reactor);
void server_tell_node_start(struct server *server);
void server_tell_reactor_init(struct reactor *reactor);
void server_tell_reactor_stop(struct reactor *reactor);
void server_tell_reactor_exit(struct reactor *reactor);
void server_tell_disk_close(struct iop_disk *disk);
void server_tell_client_gone(struct client *client);
void server_tell_client_drained(struct client *client);

/* reactor.c */
/* Makes the reactors and assigns the disks to them, without opening any. */
int server_reactors_new(struct server *server, const struct ddio_iop_opts *opts);
void server_reactors_free(struct server *server);

/* disk.c */
/* Opens the disks of every reactor, with stores and caches. */
int server_disks_open(struct server *server, char *err, size_t err_len);
/* On the reactor, or when no loop runs. */
void server_disks_close(struct reactor *reactor);

/* later.c */
/* Writes back after a while what may have been written. */
void server_write_back_later(struct reactor *reactor);
/* Cancels the write back when the reactor stops. */
void server_write_back_never(struct reactor *reactor);

/* arrive.c */
/* From the listener, on reactor 0. */
void server_accept(void *ctx, struct ddio_stream *stream);

/* Takes over a stream, @carried by a connection or from the listener, as a connection that has said nothing yet; @tls: NULL for none. */
void server_take(struct reactor *reactor, struct ddio_stream *stream, const struct ddio_key *key,
		 struct ddio_tls *tls, bool carried);

/* carry.c */
/* Gives the reactors their copies of the keys, before any of them runs. */
void server_keys_begin(struct server *server);
/* Changes the keys; on reactor 0. */
void server_keys_set(struct server *server, const struct ddio_key *key);
/* A broker's connection is open: 0 or -ENOMEM. */
int server_carry_begin(struct server_client *sc);
/* It is over: so is what it carries. */
void server_carry_end(struct server_client *sc);
int server_carry_message(struct server_client *sc, const struct ddio_msg *msg, const void *payload);
/* Frees the reactor's copy of the keys. */
void server_carry_free(struct server_reactor *sr);

/* unproved.c: on reactor 0 */
/* @descriptors: that the process may have; 0: not known */
void server_unproved_init(struct server *server, uint64_t descriptors);
/* A connection that was accepted has yet to prove the key; the oldest such one may have to go for it. */
void server_unproved_begin(struct server_client *sc);
/* It has proved the key, or is gone.  Harmless again. */
void server_unproved_end(struct server_client *sc);

/* client.c */
/* Counts a client in (1) or out (-1). */
void server_client_count(struct server_client *sc, int change);
/* Pauses or resumes reading from the connection, after a request began or ended, or its replies were read. */
void server_client_throttle(struct server_client *sc);

/* leave.c */
/* Ends the connection at once. */
void server_client_gone(struct server_client *sc);
/* The end that client_end() posts; @arg is the struct server_client. */
void server_client_end_posted(void *arg);
/* Ends all connections of a reactor. */
void server_clients_close(struct reactor *reactor);
/* Ends those that are not served yet. */
void server_opening_close(struct reactor *reactor);

/* session.c */
/* Ends the session's earlier connections.  0; -EINPROGRESS: it can be served later; -ESTALE: there is a
 * newer one. */
int server_session_arrive(struct server_client *sc);
/* Returns true while a request of the session's earlier connections may still change something. */
bool server_session_changing(const struct server_reactor *sr, uint64_t session);

/* dispatch.c */
int server_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		struct ddio_sink *sink);
int server_large(void *ctx, const struct ddio_msg *msg);
int server_message(void *ctx, const struct ddio_msg *msg, const void *payload);

/* request.c */
struct server_request *server_request_new(struct server_client *sc, const struct ddio_msg *msg);
void server_requests_free(struct reactor *reactor);
/* Lets the request go on without its client, which has gone. */
void server_request_orphan(struct server_request *req);

/* buf.c */
/* @cap: receives the buffer's size, which is given back with it. */
void *server_buf_get(struct reactor *reactor, size_t len, size_t *cap);
void server_buf_put(struct reactor *reactor, void *buf, size_t cap);
void server_bufs_free(struct reactor *reactor);

/* stop.c */
/* Tells the reactor's clients that what they wrote is durable. */
void server_ended_say(struct server_reactor *sr);

#endif /* DDIO_SERVER_PRIV_H */
