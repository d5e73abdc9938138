/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The I/O processor: one struct ddio_iop a daemon, one struct reactor a
 * thread.  A reactor owns its disks with their stores and caches, and its
 * connections; reactors talk by ddio_env_post() only.  Reactor 0 accepts, and
 * serves the name space where this node does.
 */
#ifndef DDIO_IOP_H
#define DDIO_IOP_H

#include "conf/conf.h"
#include "conn/conn.h"
#include "iop/cache/cache.h"
#include "iop/store/store.h"

struct ddio_iop;
struct reactor;
struct ddio_member;
struct ddio_coll;

/**
 * struct iop_disk - one disk of a reactor
 * @number: in the cluster
 */
struct iop_disk {
	struct reactor *reactor;
	uint32_t number;
	const char *name;
	struct ddio_disk *disk;
	struct store *store;
	struct cache *cache;
	uint64_t coll_buffers, coll_max_buffers; /* kept by the collective executor */
};

/**
 * struct client - one connection of a reactor
 */
struct client {
	struct reactor *reactor;
	struct ddio_conn *conn;
	struct ddio_list link;	  /* reactor->clients */
	struct ddio_list members; /* struct ddio_member.client_link: groups it attached to */
	uint32_t requests;	  /* object requests being served */
	bool closing;
};

struct reactor {
	struct ddio_iop *iop;
	struct ddio_env *env;
	uint32_t index;
	uint32_t ndisks;
	struct iop_disk *disks;
	struct ddio_list clients;
	uint32_t nclients, nprocs;
	struct ddio_list groups; /* iop/coll/group.c */
	struct ddio_list colls;	 /* coll.c: running collectives */
	struct ddio_list spare;	 /* iop/coll/pool.c: buffers kept for the next collective */
	uint64_t spare_bytes;	 /* of them; part of @memory */
	uint64_t collectives, requests, refused;
	uint64_t memory; /* bytes of buffers the reactor holds, besides caches */
	bool stopping;
};

struct ddio_iop {
	const struct ddio_conf *conf;
	uint32_t node;
	struct ddio_key key;
	uint64_t boot;
	uint32_t nreactors;
	struct reactor *reactors;
	struct ns *ns; /* NULL unless this node serves the name space */
};

struct iop_disk *reactor_disk(struct reactor *reactor, uint32_t number);
/* Reactor of a disk of this node by its number in the cluster, or -ENOENT. */
int iop_disk_reactor(const struct ddio_iop *iop, uint32_t number);

/*
 * The collective executor's entry points (coll*.c), called by server.c on the
 * client's reactor.  A negative return closes the connection.
 */
int coll_attach(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_detach(struct client *client, const struct ddio_msg *msg, const void *payload);
int ddio_coll_start(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_piece_bulk(struct client *client, const struct ddio_msg *msg, const void *prefix,
		    size_t prefix_len, struct ddio_sink *sink);
int coll_piece(struct client *client, const struct ddio_msg *msg, const void *prefix);
int coll_abort(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_joint(struct client *client, const struct ddio_msg *msg, const void *payload);
int coll_join(struct client *client, const struct ddio_msg *msg, const void *payload);
/* The connection is over: its members are lost, their collectives end with MEMBER_LOST.  To be
 * called before ddio_conn_close(), whoever began the end. */
void coll_client_lost(struct client *client);
/* The connection's output queue has drained. */
void coll_client_drained(struct client *client);
/* Ends every collective of the reactor with @status; returns at once, see coll_idle(). */
void ddio_coll_stop(struct reactor *reactor, uint32_t status);
bool coll_idle(const struct reactor *reactor);
/* Does a collective of the reactor use the file?  Then its blocks must not be freed. */
bool coll_uses(const struct reactor *reactor, uint64_t file);
/* server.c, called by the executor: sets @closing, and from the loop, never inside this call, ends
 * the connection like one that broke: coll_client_lost(), then ddio_conn_close().  @why: one
 * line for the log.  Harmless if @closing is set already. */
void client_end(struct client *client, const char *why);
void coll_init(struct reactor *reactor);
void coll_exit(struct reactor *reactor);

/**
 * struct ddio_iop_opts - what server.c needs to bring a node up
 * @envs: one per reactor, made by the caller (real in ddiod, simulated elsewhere)
 * @repair: labels of disks that are damaged are written again, see struct store_opts
 * @on_stopped: reactor 0's loop: everything is written back, committed and closed
 */
struct ddio_iop_opts {
	const struct ddio_conf *conf;
	uint32_t node;
	uint32_t nreactors;
	struct ddio_env **envs;
	const struct ddio_key *key;
	bool repair;
	void (*on_stopped)(void *arg);
	void *arg;
};

/* How many reactors a node gets with @cores: disks of one bus share a reactor. */
uint32_t ddio_iop_reactors(const struct ddio_conf *conf, uint32_t node, uint32_t cores);
/* Opens disks, stores, name space; listens.  Blocking, before the loops run.  @err: one line. */
int ddio_iop_start(const struct ddio_iop_opts *opts, struct ddio_iop **iop, char *err,
		   size_t err_len);
const char *ddio_iop_addr(const struct ddio_iop *iop);
/* On reactor 0's loop: refuse new work, end collectives, write back, commit, close; on_stopped(). */
void ddio_iop_stop(struct ddio_iop *iop);
/* After on_stopped and after the loops have ended. */
void ddio_iop_free(struct ddio_iop *iop);

#endif /* DDIO_IOP_H */
