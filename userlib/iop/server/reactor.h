/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the server shows to the rooms above it: the node, its reactors, their disks and clients.
 */
#ifndef DDIO_SERVER_REACTOR_H
#define DDIO_SERVER_REACTOR_H

#include "conf/conf.h"
#include "conn/alive.h"
#include "iop/bound/bound.h"
#include "iop/cache/cache.h"
#include "iop/job/job.h"
#include "iop/lock/lease.h"
#include "iop/lock/locks.h"
#include "iop/store/store.h"
#include "iop/trace/trace.h"
#include "iop/user/user.h"
#include "iop/user/vouch.h"

/* Between two looks at something that does not report its end. */
#define SERVER_POLL_NS 2000000ull

/* The reason given for whatever a node refuses, or ends, because it is stopping. */
#define SERVER_STOPPING "the I/O processor is stopping"

struct clone_reaper;
struct ddio_iop;
struct ddio_past;
struct epoch_asker;
struct ns;
struct mend_disk;
struct ns_mount;
struct reactor;
struct queries;
struct scrub;
struct tracing;

/**
 * struct iop_disk - one disk of a reactor
 * @number: in the cluster
 * @rest: files that nobody holds again before a time
 * @coll_buffers, @coll_max_buffers: counted by the collective executor
 * @scrub: what looks through it, or NULL
 * @mending: what has its blocks lie side by side, or NULL
 * @queries: what answers questions about its records, or NULL
 * @sweep, @sweep_at: its collectives that share one sweep of the arm, and the sector that it has reached
 */
struct iop_disk {
	struct reactor *reactor;
	uint32_t number;
	const char *name;
	struct ddio_disk *disk;
	struct store *store;
	struct cache *cache;
	uint64_t coll_buffers, coll_max_buffers, holds;
	struct {
		uint64_t file, until;
	} rest[16];
	struct scrub *scrub;
	struct mend_disk *mending;
	struct queries *queries;
	struct ddio_list sweep;
	uint64_t sweep_at;
};

/**
 * struct client - one connection of a reactor
 * @link: in reactor->clients
 * @members: struct coll_member.client_link: the groups that it is attached to, @ngroups of them
 * @mount: the mount that it belongs to, or NULL; @alive: whether that is heard; @asked: it was
 *	asked once; @silent: it did not answer
 * @epochs: how many epochs of files it has opened, in @opened
 * @starts, @told: the collective executor's: what both ends remember of requests for collectives, and of what members
 *	tell of their descriptions, or NULL
 * @job: whose requests it brings
 * @user: as far as it has said, or NULL; @asking: a credential of it is being looked at, and nothing is read meanwhile
 * @requests: how many of its requests are being served
 * @closing: nothing more is read from it; @wrong: it has said that something came wrong
 */
struct client {
	struct reactor *reactor;
	struct ddio_conn *conn;
	struct ddio_list link;
	struct ddio_list members;
	uint64_t ngroups;
	struct ns_mount *mount;
	struct ddio_alive alive;
	struct ddio_list opened;
	uint64_t epochs;
	struct ddio_past *starts, *told;
	struct iop_job *job;
	struct iop_user *user;
	struct user_asking *asking;
	uint32_t requests;
	bool closing, wrong, asked, silent;
};

/**
 * struct reactor - a thread with its loop, disks and connections
 * @nclients, @nprocs: connections, and those of compute processes
 * @groups, @colls: the collective executor's groups and running collectives
 * @groups_by_id: struct coll_group, by identifier; @members: struct coll_member, by identifier and client,
 *	and @members_by_rank, by identifier and rank
 * @ngroups: groups; @groups_most: how many there were at once since memory was given back
 * @checks: checks of records, one at a time: the first is under way
 * @nshares: shared buffers of its groups, see iop/coll/core/share.h
 * @share_min: bytes that a member must want of a collective to copy them by itself
 * @told_max: entries that the members of a group may tell of one collective
 * @spare, @spare_bytes: its buffers that are kept for the next collective; part of @memory
 * @bounds: what clients may take, and have taken
 * @asker: asks the name space about epochs that are not settled, or NULL
 * @reaper: the name server's: removes what is left of clones that got no name, or NULL
 * @jobs: whose requests it serves
 * @trace: what is recorded of its collectives, or NULL
 * @memory: bytes of buffers that the reactor holds, besides caches
 */
struct reactor {
	struct ddio_iop *iop;
	struct ddio_env *env;
	uint32_t index;
	uint32_t ndisks;
	struct iop_disk *disks;
	struct ddio_list clients;
	uint32_t nclients, nprocs;
	struct ddio_list groups;
	struct ddio_list colls;
	struct ddio_list checks;
	struct ddio_hash groups_by_id, members, members_by_rank;
	uint64_t ngroups, groups_most;
	struct ddio_list spare;
	uint32_t nshares;
	uint64_t share_min, told_max;
	uint64_t spare_bytes;
	uint64_t collectives, requests, refused;
	uint64_t memory;
	struct epoch_asker *asker;
	struct clone_reaper *reaper;
	struct bounds bounds;
	struct iop_jobs jobs;
	struct iop_trace *trace;
	bool stopping;
};

struct user_asking;

/**
 * struct ddio_iop - a node
 * @users: connections have users, for whom @vouch vouches; @servers_key: of daemons, who sign with it what these may do
 * @boot: random; tells one incarnation from the next
 * @began_ns: when it started, on reactor 0's clock
 * @epochs: struct open_epoch, by file: of the name space, not decided yet; reactor 0's
 * @ns, @locks, @leases, @lease_timer, @alive_timer: reactor 0's; @ns is NULL unless the node serves the name space; @lock_turn,
 *	@lease_turn: has more waits for locks or leases tried, @mount_turn: more taken from mounts that end
 */
struct ddio_iop {
	const struct ddio_conf *conf;
	uint32_t node;
	struct ddio_key key;
	bool users;
	ddio_vouch_fn vouch;
	struct ddio_key servers_key;
	uint64_t boot;
	uint64_t began_ns;
	uint32_t nreactors;
	struct reactor *reactors;
	struct ddio_hash epochs;
	struct ns *ns;
	struct locks locks;
	struct ddio_post lock_turn, lease_turn, mount_turn;
	struct leases leases;
	struct ddio_timer lease_timer, alive_timer;
	struct tracing *tracing;
};

/* Returns the reactor's disk with that number in the cluster, or NULL. */
struct iop_disk *reactor_disk(struct reactor *reactor, uint32_t number);
/* Returns the reactor of the node's disk with that number in the cluster, or -ENOENT. */
int iop_disk_reactor(const struct ddio_iop *iop, uint32_t number);
/* Returns what is known of the node's disk with that number, on any reactor; NULL if it is another node's. */
const struct ddio_disk_info *iop_disk_info(const struct ddio_iop *iop, uint32_t number);

/* The same of what identifies it; only on reactor 0, whose it is. */
struct ddio_disk_id *iop_disk_id(const struct ddio_iop *iop, uint32_t number);

static inline const char *iop_node_name(const struct ddio_iop *iop)
{
	return iop->conf->nodes[iop->node].name;
}

/* Counts the bytes of replies that the reactor's clients have not read, in its bounds. */
void server_clients_unread(struct reactor *reactor);
/* Counts, in all bounds, what brokers' connections carry: streams, and bytes that have come and were not read. */
void server_carry_count(const struct reactor *reactor, struct bound *at);

/* Returns true if nothing is read from the connection, whatever its peer says. */
bool client_paused(const struct client *client);

/* The user of the connection is known now, or will not be: reads on. */
void client_go_on(struct client *client);

/* Sets @closing and, later from the loop, ends the connection as if it had broken.  Harmless if it is
 * closing already.  @why: one line for the log. */
void client_end(struct client *client, const char *why);

#endif /* DDIO_SERVER_REACTOR_H */
