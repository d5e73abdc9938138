/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A test double of the outside world: several processes, each an env, in one
 * thread, in virtual time, without clock or socket.  Everything is an event;
 * events of the same time run in the order of their making, and random numbers
 * come from the seed, so a run repeats exactly.
 *
 * Application code, which blocks in gates, runs as a coroutine.  A test that
 * needs only one such thread may also call from main(): waiting at a gate there
 * runs the world.
 *
 * Disks: the engines "mem" (with delay_us, if it is to take time) and "hp97560".
 * Offloaded work is done at once; its done() comes as the next event.
 */
#ifndef DDIO_DOUBLE_H
#define DDIO_DOUBLE_H

#include "env/env.h"

struct ddio_world;

struct ddio_world *ddio_double_new(uint64_t seed);
/* Ends everything, coroutines in the middle of their work too. */
void ddio_double_free(struct ddio_world *world);
/* One more process; its name is in log lines.  NULL: out of memory. */
struct ddio_env *ddio_double_env(struct ddio_world *world, const char *name);

/* An application thread of @env; begins in ddio_double_run().  Return: 0 or -ENOMEM. */
int ddio_double_spawn(struct ddio_world *world, struct ddio_env *env, void (*fn)(void *arg),
		      void *arg);
/*
 * Until every coroutine has ended.  Return: 0; -EDEADLK if nothing more can
 * happen while some wait; -ETIME if they have not ended within the limit.
 */
int ddio_double_run(struct ddio_world *world);
/* What happens in the next @ns, whether coroutines have ended or not.  Return: 0. */
int ddio_double_run_for(struct ddio_world *world, uint64_t ns);
/* Virtual time at which ddio_double_run() gives up; an hour if not set. */
void ddio_double_limit(struct ddio_world *world, uint64_t ns);
/* Since the beginning of the world. */
uint64_t ddio_double_elapsed(const struct ddio_world *world);
/* The coroutine that calls it sleeps. */
void ddio_double_sleep(struct ddio_env *env, uint64_t ns);

/**
 * struct ddio_double_net - how the streams behave by which a process sends
 * @latency_ns: from writing to arrival
 * @jitter_ns: at most this is added, at random; the order of bytes stays
 * @window: bytes that may be under way or unread on a stream
 * @chop: if not 0, a write takes between 1 and this many bytes, at random
 * @break_after: the stream that carries this process's byte of this number breaks, once; 0: none
 * @stall_after: from this byte on nothing that the process sends arrives; 0: never
 */
struct ddio_double_net {
	uint64_t latency_ns;
	uint64_t jitter_ns;
	uint64_t window;
	uint64_t chop;
	uint64_t break_after;
	uint64_t stall_after;
};

void ddio_double_net_default(struct ddio_double_net *net);
/* From now on; bytes are counted anew. */
void ddio_double_net(struct ddio_env *env, const struct ddio_double_net *net);

/*
 * The process dies: none of its callbacks comes any more, peers read the end of
 * its streams, its addresses refuse.  Its own memory stays, as do its disks.
 */
void ddio_double_kill(struct ddio_env *env);
/* The process loses its network: all its streams break, on both sides, and it stays cut off. */
void ddio_double_cut(struct ddio_env *env);

/* How many log lines of all processes contain @text. */
unsigned int ddio_double_logged(const struct ddio_world *world, const char *text);
/* Log lines to standard error too. */
void ddio_double_verbose(struct ddio_world *world, bool on);
/* Sum of all ddio_env_charge() of a process. */
uint64_t ddio_double_charged(const struct ddio_env *env, enum ddio_work work);

#endif /* DDIO_DOUBLE_H */
