/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The simulated world: streams and listeners. */
#ifndef DDIO_SIM_STREAM_H
#define DDIO_SIM_STREAM_H

#include "sim/priv.h"

#define SIM_ADDR_MAX 128

/**
 * struct sim_stream - one end of a stream
 * @base: what the user sees
 * @proc: its process; NULL while detached
 * @sim: the world
 * @node: where this end is in the network
 * @link: in the world's list, or in a listener's while not accepted
 * @ops: NULL until set
 * @ctx: for @ops
 * @want_read: the user wants readable()
 * @want_write: the user wants writable()
 * @connecting: no peer yet
 * @ended: the peer has closed: nothing written arrives
 * @told: failed() has been called
 * @counted: in the world's nstreams
 * @turn: the last callback was readable(), so writable() goes first if both are due
 * @err: broken, and why
 * @peer: the other end; NULL while connecting and once closed
 * @in: segments under way or arrived, in the order of their arrival
 * @queued: bytes in @in
 * @last: arrival of the last segment that is known
 * @event: calls the user, or connects
 * @name: text of the peer's address
 */
struct sim_stream {
	struct ddio_stream base;
	struct sim_proc *proc;
	struct ddio_sim *sim;
	uint32_t node;
	struct ddio_list link;
	const struct ddio_stream_ops *ops;
	void *ctx;
	bool want_read;
	bool want_write;
	bool connecting;
	bool ended;
	bool told;
	bool counted;
	bool turn;
	int err;
	struct sim_stream *peer;
	struct ddio_list in;
	uint64_t queued;
	uint64_t last;
	struct ddio_timer event;
	char name[];
};

/**
 * struct sim_listener - an address at which streams are accepted
 * @base: what the user sees
 * @proc: its process
 * @link: in the world's list
 * @accept: called for each stream
 * @ctx: for @accept
 * @pending: streams that are not reported yet
 * @event: reports one
 * @addr: text
 */
struct sim_listener {
	struct ddio_listener base;
	struct sim_proc *proc;
	struct ddio_list link;
	ddio_accept_fn accept;
	void *ctx;
	struct ddio_list pending;
	struct ddio_timer event;
	char addr[SIM_ADDR_MAX];
};

struct sim_stream *sim_stream_new(struct sim_proc *proc, const char *name);
/* Plans the next call of the user, not before @pause has passed. */
void sim_stream_plan(struct sim_stream *s, uint64_t pause);
/* Breaks this end. */
void sim_stream_break(struct sim_stream *s, int err);
/* For stream->event, once connected. */
void sim_stream_event(void *arg);
/* Ends those streams of a list that belong to @proc. */
void sim_streams_end_list(struct ddio_list *list, struct sim_proc *proc, enum sim_end how);

#endif /* DDIO_SIM_STREAM_H */
