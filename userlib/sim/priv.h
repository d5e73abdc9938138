/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the simulated world. */
#ifndef SIM_PRIV_H
#define SIM_PRIV_H

#include "sim/sim.h"
#include "env/disk/engine.h"
#include "base/heap.h"

/* Virtual time at the beginning of a world, since 0 is never. */
#define SIM_BEGINNING 1000000000ULL

struct sim_co;

/**
 * struct sim_cpu - a processor, which does one thing at a time
 * @busy_until: the end of the work that it was given so far
 * @busy_ns: how long it has worked
 * @watch: called for all work, if not NULL
 * @watch_arg: for @watch
 * @procs: processes that run on it, linked by their on_cpu
 */
struct sim_cpu {
	uint64_t busy_until;
	uint64_t busy_ns;
	void (*watch)(void *arg, uint64_t start, uint64_t ns);
	void *watch_arg;
	struct ddio_list procs;
};

/**
 * struct sim_proc - one process
 * @env: what its users see
 * @sim: its world
 * @link: in the world's list
 * @name: for log lines
 * @own: its CPU, if it has one of its own
 * @cpu: the one it runs on
 * @on_cpu: in the CPU's list
 * @node: in the network
 * @events: its timers, and all events that come to it
 * @turn: in the world's heap: the time at which its first event can be handled
 * @posts: first post, linked by their next
 * @posts_end: where the next one is to be linked
 * @post_event: armed while there are posts
 * @offloads: the same for offloads whose done() is due
 * @offloads_end: see @posts_end
 * @offload_event: see @post_event
 * @offload_ns: longest time of an offload
 * @offload_bad: offloaded work can write to no file
 * @aside_never: calls that are made aside never end
 * @offload_end: when the end of the job that was carried out is reported; 0: it was not carried out
 * @how: how its streams behave
 * @sent: bytes sent since @how was set
 * @charged: by kind of work
 * @left_ps: the part of charges below a nanosecond
 * @put: bytes of its last Memput
 * @dead: killed
 * @cut: without network
 */
struct sim_proc {
	struct ddio_env env;
	struct ddio_sim *sim;
	struct ddio_list link;
	char *name;
	struct sim_cpu own;
	struct sim_cpu *cpu;
	struct ddio_list on_cpu;
	uint32_t node;
	struct ddio_heap events;
	struct ddio_heap_node turn;
	struct ddio_post *posts, **posts_end;
	struct ddio_timer post_event;
	struct ddio_offload *offloads, **offloads_end;
	struct ddio_timer offload_event;
	uint64_t offload_ns;
	bool offload_bad, aside_never;
	uint64_t offload_end;
	struct ddio_sim_link how;
	uint64_t sent;
	uint64_t charged[SIM_WORKS];
	uint64_t left_ps;
	uint64_t put;
	bool dead;
	bool cut;
};

/**
 * struct sim_link - one direction of one wire
 * @span: when the link is taken, ascending
 * @first: spans before this one have ended
 * @n: entries used
 * @cap: room
 */
struct sim_link {
	struct sim_span {
		uint64_t start;
		uint64_t end;
	} * span;
	uint32_t first;
	uint32_t n;
	uint32_t cap;
};

/**
 * struct sim_net - the network's state
 * @model: as set
 * @link: torus: six a node; switched: two
 * @nlinks: entries of @link
 * @stats: counters
 */
struct sim_net {
	struct ddio_sim_net model;
	struct sim_link *link;
	uint32_t nlinks;
	struct ddio_sim_net_stats stats;
};

/**
 * struct ddio_sim - all of it
 * @now: virtual time
 * @seq: number of events made
 * @handled: number of events handled
 * @limit: of ddio_sim_run()
 * @random: state of the generator
 * @machine: costs
 * @net: network
 * @wire: a process of the world's own, for bytes that leave
 * @procs: processes
 * @nprocs: how many
 * @turns: their turns
 * @cos: coroutines that have not ended
 * @current: the coroutine that runs, or NULL
 * @running: the CPU on which an event is being handled, or NULL
 * @streams: every stream end, for ddio_sim_free(); @nstreams: streams between nodes that are connected
 * @listeners: every listener
 * @media: every medium
 * @files: of every file that was flushed, what that has left
 * @boxes: every mailbox
 * @tracing: trace is kept
 * @trace: of all that happened
 * @port: the last that was given out
 * @log: all lines
 * @log_len: bytes in it
 * @log_file: writes @log
 * @verbose: to standard error too
 * @prompt: see ddio_sim_prompt()
 */
struct ddio_sim {
	uint64_t now;
	uint64_t seq;
	uint64_t handled;
	uint64_t limit;
	uint64_t random;
	const struct ddio_sim_machine *machine;
	struct sim_net net;
	struct sim_proc wire;
	struct ddio_list procs;
	uint32_t nprocs;
	struct ddio_heap turns;
	struct ddio_list cos;
	struct sim_co *current;
	struct sim_cpu *running;
	struct ddio_list streams;
	uint64_t nstreams;
	struct ddio_list listeners;
	struct ddio_list media, files;
	struct ddio_list boxes;
	bool tracing;
	uint64_t trace;
	unsigned int port;
	char *log;
	size_t log_len;
	FILE *log_file;
	bool verbose, prompt;
};

static inline struct sim_proc *sim_proc_of(const struct ddio_env *env)
{
	return ddio_container_of(env, struct sim_proc, env);
}

/* Returns a process's time: its CPU's while that is at work, otherwise the world's. */
static inline uint64_t sim_now(const struct sim_proc *proc)
{
	const struct ddio_sim *sim = proc->sim;

	return sim->running == proc->cpu && proc->cpu->busy_until > sim->now ? proc->cpu->busy_until
									     : sim->now;
}

/* Returns the time of the process that acts now. */
static inline uint64_t sim_time(const struct ddio_sim *sim)
{
	return sim->running && sim->running->busy_until > sim->now ? sim->running->busy_until
								   : sim->now;
}

uint64_t sim_random(struct ddio_sim *sim);
/* Makes the event come at @when, or now if that has passed; ends the program without memory. */
void sim_event(struct sim_proc *proc, struct ddio_timer *event, uint64_t when);
/* Makes the event the next one of its process. */
void sim_event_first(struct sim_proc *proc, struct ddio_timer *event);
void sim_event_cancel(struct sim_proc *proc, struct ddio_timer *event);
/* Runs the next event if it comes by @until.  Return: false if there is none. */
bool sim_step(struct ddio_sim *sim, uint64_t until);
/* Makes the CPU of @proc work for @ns from now on. */
void sim_work(struct sim_proc *proc, uint64_t ns);
/* Plans the process's turn anew after its first event, or its CPU, has changed. */
void sim_plan(struct sim_proc *proc);

/* env.c: the operations of an env in this world */
extern const struct ddio_env_ops sim_env_ops;
/* The same, of processes that share a machine. */
extern const struct ddio_env_ops sim_local_ops;
extern const struct ddio_disk_engine *const sim_engines[];
void sim_run_posts(void *arg);
void sim_run_offloads(void *arg);

/* Adds to the trace, if it is kept. */
void sim_trace_bytes(struct ddio_sim *sim, const void *data, size_t len);

/* medium.c */
struct ddio_medium *sim_medium_open(struct ddio_env *env, const char *path);
void sim_media_free(struct ddio_sim *sim);

void sim_file_flushed(struct ddio_env *env, int fd);
void sim_files_free(struct ddio_sim *sim);

/* mail.c */
extern const struct ddio_mail_ops sim_mail;
void sim_boxes_free(struct ddio_sim *sim);

/* net.c */
void sim_net_fini(struct sim_net *net);
/*
 * Returns when @len bytes that leave @from at @when have arrived at @to: as Memputs of @put bytes each, one after the
 * other, or with 0 as one message.
 */
uint64_t sim_net_puts(struct sim_net *net, uint32_t from, uint32_t to, uint64_t len, uint64_t put,
		      uint64_t when);

/* co.c: coroutines and gates */
void sim_gate_open(struct ddio_env *env, struct ddio_gate *gate);
int sim_gate_wait(struct ddio_env *env, struct ddio_gate *gate, uint64_t deadline_ns);
int sim_gong_wait(struct ddio_env *env, struct ddio_gong *gong, uint32_t seen,
		  uint64_t deadline_ns);
void sim_gong_sound(struct ddio_env *env, struct ddio_gong *gong);
void sim_cos_free(struct ddio_sim *sim);

/* stream.c, listen.c */
int sim_stream_connect(struct ddio_env *env, const char *addr, const struct ddio_stream_ops *ops,
		       void *ctx, struct ddio_stream **stream);
int sim_stream_attach(struct ddio_env *env, struct ddio_stream *stream);
int sim_listen(struct ddio_env *env, const char *addr, ddio_accept_fn accept, void *ctx,
	       struct ddio_listener **listener);
/* How a process's streams end. */
enum sim_end {
	SIM_END_KILLED,	  /* the peers read the end */
	SIM_END_ORPHANED, /* so, and the process's own ends break */
	SIM_END_CUT,	  /* both sides break */
	SIM_END_SOME,	  /* so, each with an even chance */
};
void sim_streams_end(struct sim_proc *proc, enum sim_end how);
void sim_streams_free(struct ddio_sim *sim);

#endif /* SIM_PRIV_H */
