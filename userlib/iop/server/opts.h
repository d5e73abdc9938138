/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What it takes to bring a node up. */
#ifndef DDIO_SERVER_OPTS_H
#define DDIO_SERVER_OPTS_H

#include "conf/conf.h"
#include "conn/conn.h"
#include "iop/user/vouch.h"

/**
 * struct ddio_iop_opts - a node to be brought up
 * @conf: the cluster, and so must @envs
 * @node: index of the node in @conf
 * @nreactors: length of @envs; ddio_iop_reactors() says how many make sense
 * @envs: one per reactor, made by the caller (real in ddiod, simulated elsewhere)
 * @key: the cluster's key, or NULL if it has none; copied
 * @servers_key: the key that daemons alone share; needed where users are told apart; copied
 * @vouch: finds out about users, from credentials; it must outlive the node
 * @descriptors: that the process may have, 0 if that is not known: connections that have not proved the key
 *	get a share of them
 * @repair: rewrite the labels of disks where they are damaged, see struct store_opts
 * @machine: names this run of the machine, another one after each loss of power; NULL: as the kernel does
 * @on_stopped: called on reactor 0's loop after ddio_iop_stop(), when everything is written back,
 *	committed and closed; may be NULL
 * @arg: for @on_stopped
 */
struct ddio_iop_opts {
	const struct ddio_conf *conf;
	uint32_t node;
	uint32_t nreactors;
	struct ddio_env **envs;
	const struct ddio_key *key;
	const struct ddio_key *servers_key;
	ddio_vouch_fn vouch;
	uint64_t descriptors;
	bool repair;
	const char *machine;
	void (*on_stopped)(void *arg);
	void *arg;
};

struct ddio_msg_bounds;
struct ddio_msg_jobs;
struct ddio_msg_status;

/**
 * typedef ddio_iop_look_fn - receives a node's state
 * @arg: as given to ddio_iop_look()
 * @st: status, valid until the function returns; NULL: there was no memory for it
 * @bounds, @jobs: what clients may take, and what jobs have asked for, as valid; NULL if @st is
 *
 * Called on reactor 0's loop.
 */
typedef void (*ddio_iop_look_fn)(void *arg, const struct ddio_msg_status *st,
				 const struct ddio_msg_bounds *bounds,
				 const struct ddio_msg_jobs *jobs);

#endif /* DDIO_SERVER_OPTS_H */
