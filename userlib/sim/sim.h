/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A simulated world: many processes, each an env, in one thread, in virtual time,
 * without clock or socket.  Everything is an event; events of the same time run
 * in the order of their making, and random numbers come from the seed, so a
 * run repeats exactly.
 *
 * Every process runs on a CPU, by default one of its own, which does one thing at a
 * time: ddio_env_charge() costs time there, according to a machine's table, and events that come
 * meanwhile wait.  What a handler does after a charge happens later: ddio_env_now() has moved on.
 *
 * What processes send travels through a network model, which knows the node of each process.
 *
 * Application code, which blocks in gates, runs as a coroutine.  A program with a single such thread
 * may also call from main(): waiting at a gate there runs the world.
 *
 * Disks: the engines "mem" (with delay_us, if it is to take time) and "hp97560".
 * Offloaded work is carried out at once, and its done() comes as the next event, unless
 * ddio_sim_set_offload() makes it take time.
 *
 * A broken invariant (base/bug.h) ends the program once a world was made.
 */
#ifndef DDIO_SIM_H
#define DDIO_SIM_H

#include "env/env.h"

struct ddio_sim;

/* NULL: out of memory. */
struct ddio_sim *ddio_sim_new(uint64_t seed);
/* Frees the world and everything in it, also coroutines that have not ended. */
void ddio_sim_free(struct ddio_sim *sim);

/*
 * Machines
 */
#define SIM_WORKS (DDIO_WORK_CALL + 1)

/**
 * struct ddio_sim_cost - what a kind of work costs
 * @call_ns: each ddio_env_charge() of it
 * @unit_ps: each of its n units
 */
struct ddio_sim_cost {
	uint64_t call_ns;
	uint64_t unit_ps;
};

/**
 * struct ddio_sim_machine - the CPUs of a world
 * @name: for tables and messages
 * @help: one line
 * @cost: by enum ddio_work
 */
struct ddio_sim_machine {
	const char *name;
	const char *help;
	struct ddio_sim_cost cost[SIM_WORKS];
};

/* Return: NULL if there is none of that name. */
const struct ddio_sim_machine *ddio_sim_machine_find(const char *name);
/* For all processes, from now on; "free" if not set.  @machine must outlive the world. */
void ddio_sim_set_machine(struct ddio_sim *sim, const struct ddio_sim_machine *machine);

/*
 * What a process has posted is done before whatever else waits for it, as by threads that each finish what
 * they have begun: an answer leaves before the next request is looked at.  Otherwise in the order in which
 * things came, as by a loop over all that has come: answers to what came together leave together.
 */
void ddio_sim_prompt(struct ddio_sim *sim, bool on);

/*
 * Networks
 */
enum sim_net_kind {
	DDIO_SIM_NET_IDEAL,    /* nothing ever waits for anything */
	DDIO_SIM_NET_SWITCHED, /* a port to and from each node; the switch itself never blocks */
	DDIO_SIM_NET_TORUS,    /* wormhole routing, columns first; a message holds its path */
};

/**
 * struct ddio_sim_net - a network
 * @kind: which model
 * @bytes_per_s: of each link in each direction; 0: no limit
 * @hop_ns: switched: through the switch; torus: each router
 * @columns, @rows: torus: its size; process n is node n % (columns * rows)
 */
struct ddio_sim_net {
	enum sim_net_kind kind;
	uint64_t bytes_per_s;
	uint64_t hop_ns;
	uint32_t columns;
	uint32_t rows;
};

/* The papers': a 6 by 6 torus, 200e6 bytes/s, 20 ns a router. */
extern const struct ddio_sim_net ddio_sim_net_1994;
/* Before any process is made.  Return: 0, -EINVAL or -ENOMEM. */
int ddio_sim_set_net(struct ddio_sim *sim, const struct ddio_sim_net *net);

/**
 * struct ddio_sim_net_stats - what travelled
 * @messages: pieces handed to the network
 * @bytes: in them
 * @wait_ns: how long they waited for links
 * @streams: between nodes, the most that there were at a time
 */
struct ddio_sim_net_stats {
	uint64_t messages;
	uint64_t bytes;
	uint64_t wait_ns;
	uint64_t streams;
};

void ddio_sim_net_stats(const struct ddio_sim *sim, struct ddio_sim_net_stats *stats);

/*
 * Processes
 */
/* Makes a process; its name appears in log lines.  The n-th is on node n.  NULL: out of memory. */
struct ddio_env *ddio_sim_env(struct ddio_sim *sim, const char *name);
/* Has the process share a machine with all others of which this is said: they can send each other descriptors. */
void sim_local(struct ddio_env *env);
/* Moves @env to the CPU and the node of @host. */
void ddio_sim_share(struct ddio_env *env, struct ddio_env *host);
/* Moves @env to the node of @host, with a CPU of its own: they are processes of one machine with several. */
void ddio_sim_place(struct ddio_env *env, const struct ddio_env *host);
/* Returns how long the CPU of a process has worked since the beginning of the world. */
uint64_t ddio_sim_busy(const struct ddio_env *env);
/* Calls @watch for all work of the CPU of @env, in order, as it is given to the CPU; NULL: no longer. */
void ddio_sim_watch(struct ddio_env *env, void (*watch)(void *arg, uint64_t start, uint64_t ns),
		    void *arg);
/* Returns the sum of all ddio_env_charge() of a process. */
uint64_t ddio_sim_charged(const struct ddio_env *env, enum ddio_work work);

/* Makes an application thread of @env, which starts in ddio_sim_run().  Return: 0 or -ENOMEM. */
int ddio_sim_spawn(struct ddio_env *env, void (*fn)(void *arg), void *arg);
/*
 * Runs until every coroutine has ended.  Return: 0; -EDEADLK if nothing more can
 * happen while some wait; -ETIME if they have not ended within the limit.
 */
int ddio_sim_run(struct ddio_sim *sim);
/* Runs the next @ns, whether coroutines have ended or not.  Return: 0. */
int ddio_sim_run_for(struct ddio_sim *sim, uint64_t ns);
/* Sets the virtual time at which ddio_sim_run() gives up; an hour if not set. */
void ddio_sim_limit(struct ddio_sim *sim, uint64_t ns);
/* Returns the time since the beginning of the world. */
uint64_t ddio_sim_elapsed(const struct ddio_sim *sim);
/* Returns the number of events handled so far. */
uint64_t ddio_sim_events(const struct ddio_sim *sim);
/* Puts the calling coroutine to sleep. */
void ddio_sim_sleep(struct ddio_env *env, uint64_t ns);
/*
 * Makes the calling coroutine compute for @ns in the time that its CPU has left over: other work
 * there goes first.
 */
void ddio_sim_compute(struct ddio_env *env, uint64_t ns);

/**
 * struct ddio_sim_link - how the streams behave on which a process sends, whatever the network
 * @latency_ns: from writing to arrival, beyond the network's own
 * @jitter_ns: at most this is added, at random; bytes stay in order
 * @window: bytes that may be under way or unread on a stream
 * @chop: if not 0, a write takes between 1 and this many bytes, at random
 * @break_after: the stream that carries this process's byte of this number breaks, once; 0: none
 * @flip_after: a bit of the process's byte of this number is turned, once; 0: none
 * @stall_after: from this byte on nothing that the process sends arrives; 0: never
 */
struct ddio_sim_link {
	uint64_t latency_ns;
	uint64_t jitter_ns;
	uint64_t window;
	uint64_t chop;
	uint64_t break_after;
	uint64_t flip_after;
	uint64_t stall_after;
};

void ddio_sim_link_default(struct ddio_sim_link *link);
/* Holds from now on; bytes are counted from 0 again. */
void ddio_sim_set_link(struct ddio_env *env, const struct ddio_sim_link *link);

/*
 * Kills the process: none of its callbacks comes again, peers read the end of its streams, and its
 * addresses refuse connections.  Its memory and its disks stay.
 */
void sim_kill(struct ddio_env *env);
/* Takes the network from the process: all its streams break, on both sides, and it stays cut off. */
void ddio_sim_cut(struct ddio_env *env);

/*
 * Kills the process for its peers, while it goes on unseen: it reaches no process and none reaches
 * it, so that it can be ended in order and its memory freed.
 */
void ddio_sim_orphan(struct ddio_env *env);
/* Gives back the network that ddio_sim_cut() took away. */
void ddio_sim_rejoin(struct ddio_env *env);
/* Breaks each of the process's streams, on both sides, with an even chance. */
void ddio_sim_break(struct ddio_env *env);
/*
 * Makes offloaded work of a process take time, at most @ns, and be carried out at some moment of it;
 * 0: at once.
 */
void ddio_sim_set_offload(struct ddio_env *env, uint64_t ns);
/* While @bad, no offloaded work of a process can write to a file: each attempt fails with -EFBIG. */
void ddio_sim_fail_offload(struct ddio_env *env, bool bad);
/* From now on nobody answers what a process asks aside (env/aside.h), if @never. */
void sim_answer_never(struct ddio_env *env, bool never);

/*
 * Media: contents of disks that outlive the process that uses them.  A disk of the engines mem and
 * hp97560 whose path is that of a medium keeps its data there.
 */
struct ddio_sim_medium;

/**
 * struct ddio_sim_medium_faults - how a medium behaves
 * @delay_ns: each request takes this much longer
 * @jitter_ns: at most this much is added, at random
 * @bad_first, @bad_end: bytes that can be neither read nor written
 * @bad_next: this many of the next requests fail; a flush that fails loses what
 *	has been written since the last one
 * @bad_ops: the requests that @bad_next means, as bits (1 << DDIO_DISK_READ and so on); 0: all
 * @no_flush: a flush does nothing and reports success: a broken disk, for tests of tests
 * @forgot: called with @arg when a flush has failed and lost what it was to keep, if that was anything; or NULL
 */
struct ddio_sim_medium_faults {
	uint64_t delay_ns, jitter_ns;
	uint64_t bad_first, bad_end;
	uint32_t bad_next, bad_ops;
	bool no_flush;
	void (*forgot)(void *arg);
	void *arg;
};

/* Makes a medium full of zeros.  NULL: out of memory. */
struct ddio_sim_medium *ddio_sim_medium_new(struct ddio_sim *sim, const char *path, uint64_t size);
void ddio_sim_medium_set(struct ddio_sim_medium *medium, const struct ddio_sim_medium_faults *how);
/* Returns true once after a flush has failed. */
bool ddio_sim_medium_flush_failed(struct ddio_sim_medium *medium);
/*
 * Crashes the medium's user, which is dead and goes on with a copy of its own.  Each sector that was
 * written since the last flush is lost with a chance of @lose in 1000; each one that is being
 * written is there with an even chance.  Return: how many were lost, or -ENOMEM.
 */
int64_t ddio_sim_medium_crash(struct ddio_sim_medium *medium, uint32_t lose);

/*
 * Files: of those that processes flush with ddio_env_flush_file() the world keeps what each flush left.  Does to @copy, a copy
 * of @file, what a loss of power does to @file: each sector that has changed since the last flush is lost with a
 * chance of @lose in 1000, and so is a change of the length.  Return: how many were lost, or -errno.
 */
int64_t ddio_sim_file_crash(struct ddio_sim *sim, const char *file, const char *copy,
			    uint32_t lose);

/* Collects all that happens into ddio_sim_trace(), which is equal for equal runs. */
void ddio_sim_trace_on(struct ddio_sim *sim);
uint64_t ddio_sim_trace(const struct ddio_sim *sim);

/* Returns how many log lines of all processes contain @text. */
unsigned int ddio_sim_logged(const struct ddio_sim *sim, const char *text);
/* Copies log lines to standard error. */
void ddio_sim_verbose(struct ddio_sim *sim, bool on);

#endif /* DDIO_SIM_H */
