/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files of the test double. */
#ifndef DDIO_DOUBLE_PRIV_H
#define DDIO_DOUBLE_PRIV_H

#include "tests/double/double.h"
#include "env/env_ops.h"
#include "env/heap.h"

#define DOUBLE_WORKS (DDIO_WORK_CALL + 1)

struct co;

/**
 * struct denv - one process
 * @env: what its users see
 * @world: where it is
 * @link: in the world's list
 * @name: for log lines
 * @events: its timers and all that comes to it
 * @posts: first post, linked by their next
 * @posts_end: where the next one is to be linked
 * @post_event: armed while there are posts
 * @offloads: the same for offloads whose done() is due
 * @offloads_end: see @posts_end
 * @offload_event: see @post_event
 * @net: how it sends
 * @sent: bytes sent since @net was set
 * @charged: by kind of work
 * @dead: killed
 * @cut: without network
 */
struct denv {
	struct ddio_env env;
	struct ddio_world *world;
	struct ddio_list link;
	char *name;
	struct ddio_heap events;
	struct ddio_post *posts, **posts_end;
	struct ddio_timer post_event;
	struct ddio_offload *offloads, **offloads_end;
	struct ddio_timer offload_event;
	struct ddio_double_net net;
	uint64_t sent;
	uint64_t charged[DOUBLE_WORKS];
	bool dead;
	bool cut;
};

/**
 * struct ddio_world - all of it
 * @now: virtual time
 * @seq: number of events made
 * @limit: of ddio_double_run()
 * @random: state of the generator
 * @envs: processes
 * @cos: coroutines that have not ended
 * @current: the coroutine that runs, or NULL
 * @in_event: an event is being handled (and in it perhaps a coroutine)
 * @streams: every stream end, for ddio_double_free()
 * @listeners: every listener
 * @port: the last that was given out
 * @log: all lines
 * @log_len: bytes in it
 * @log_file: writes @log
 * @verbose: to standard error too
 */
struct ddio_world {
	uint64_t now;
	uint64_t seq;
	uint64_t limit;
	uint64_t random;
	struct ddio_list envs;
	struct ddio_list cos;
	struct co *current;
	bool in_event;
	struct ddio_list streams;
	struct ddio_list listeners;
	unsigned int port;
	char *log;
	size_t log_len;
	FILE *log_file;
	bool verbose;
};

static inline struct denv *denv_of(struct ddio_env *env)
{
	return ddio_container_of(env, struct denv, env);
}

uint64_t double_random(struct ddio_world *world);
/* Has the event come at @when, or now if that has passed.  Memory is never short here. */
void double_event(struct denv *env, struct ddio_timer *event, uint64_t when);
void double_event_cancel(struct denv *env, struct ddio_timer *event);
/* Runs the next event if it comes by @until.  Return: false if there is none. */
bool double_step(struct ddio_world *world, uint64_t until);

/* Coroutines */
void double_gate_open(struct ddio_env *env, struct ddio_gate *gate);
int double_gate_wait(struct ddio_env *env, struct ddio_gate *gate, uint64_t deadline_ns);
void double_cos_free(struct ddio_world *world);

/* Streams */
int double_stream_connect(struct ddio_env *env, const char *addr, const struct ddio_stream_ops *ops,
			  void *ctx, struct ddio_stream **stream);
int double_stream_attach(struct ddio_env *env, struct ddio_stream *stream);
int double_listen(struct ddio_env *env, const char *addr, ddio_accept_fn accept, void *ctx,
		  struct ddio_listener **listener);
/* @broken: both sides fail; else the peers read the end. */
void double_streams_end(struct denv *env, bool broken);
void double_streams_free(struct ddio_world *world);

#endif /* DDIO_DOUBLE_PRIV_H */
