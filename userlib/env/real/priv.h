/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the real world: the reactor and what hangs from its loop. */
#ifndef DDIO_REAL_PRIV_H
#define DDIO_REAL_PRIV_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "env/env_ops.h"
#include "base/heap.h"
#include "env/local/memory.h"
#include "env/real/real.h"

struct real;

#define REAL_BATCH 64
/* After a wait shorter than the first, the loop polls for the second before it sleeps, unless its options say otherwise. */
#define REAL_SHORT_NS 1000000
#define REAL_LOOK_NS 20000
/* ... or for this, as long as something is awaited. */
#define REAL_AWAIT_NS 150000
/* A loop that gets its processor back only so long after it yielded it shares it, and does so for the second. */
#define REAL_SWITCHED_NS 4000
#define REAL_SHARED_NS 5000000
/* A loop that gets its processor back only so long after it yielded it looks for no events for the second. */
#define REAL_LOST_NS 1000000
#define REAL_CROWDED_NS 300000000
/* A loop that was lent, and that nobody has run for so long, goes back to its own thread: at first, and in the end. */
#define REAL_LENT_NS 1000000
#define REAL_LENT_MOST_NS (4 * REAL_LENT_NS)
/* In @loop_tid: no thread runs the loop, and one that waits may. */
#define REAL_FREE (-1)

/**
 * struct watch - a descriptor in the loop, embedded in what owns the descriptor
 * @fn: called with the epoll events; may free the watch after watch_del()
 * @fd: the descriptor
 * @events: registered with epoll
 * @on: registered with epoll
 */
struct watch {
	void (*fn)(struct watch *watch, uint32_t events);
	int fd;
	uint32_t events;
	bool on;
};

/**
 * struct real_worker - the thread that does a reactor's blocking work
 * @lock: guards all but @thread
 * @wake: signalled when there is work, or @stop
 * @jobs: first job; jobs are linked by @next
 * @jobs_end: where the next job is to be linked
 * @ended: jobs whose done() is due, in order
 * @ended_end: where the next of these is to be linked
 * @post: brings the reactor to @ended
 * @posted: @post is under way
 * @started: @thread runs
 * @stop: the thread is to end once @jobs is empty
 */
struct real_worker {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct ddio_offload *jobs, **jobs_end;
	struct ddio_offload *ended, **ended_end;
	struct ddio_post post;
	pthread_t thread;
	bool posted;
	bool started;
	bool stop;
};

/**
 * struct real_memory_ops - what the loop does for streams through memory (memory.c)
 * @due: returns true if a user is to be called
 * @serve: calls them
 * @doze: the loop is going to sleep: from here on a bell is rung for it.  Returns false if it must not
 * @rise: it is awake
 */
struct real_memory_ops {
	bool (*due)(struct real *real);
	void (*serve)(struct real *real);
	bool (*doze)(struct real *real);
	void (*rise)(struct real *real);
};

/**
 * struct real - one reactor of the real world
 * @env: what the users see
 * @opts: as given, @name copied
 * @epfd: the epoll descriptor
 * @wake: an eventfd; written to end a sleep of the loop
 * @clock: a timerfd, armed for the first timer while the loop sleeps
 * @clock_at: what @clock is armed for, 0 if not
 * @timers: all armed timers
 * @due: the time by which timers were due in the last turn that ran any
 * @posts: newest first; any thread pushes
 * @sleeping: the loop sleeps, or is about to
 * @stop: the loop is to return
 * @waited: how long the loop waited for the last events, in nanoseconds
 * @shared: until then other threads want the processor, too
 * @crowded: until then the loop, and whoever waits for a gong, sleeps without looking for events before
 * @loop_tid: the thread that runs the loop; 0: none has begun to; REAL_FREE: a thread that waits may
 * @rung: what the loop's own thread is to do that has lent the loop: RING_* (lead.c)
 * @led: how often a thread that waits has run the loop
 * @tired: the loop's own thread wants to be told when the one that runs the loop leaves it
 * @waiting: threads that wait for gates that the loop opens, and do not run it; and calls of ddio_env_serve()
 * @opened: since the loop was lent last, a gate was opened for which one of these waited
 * @signals: let through while the loop sleeps; NULL: those of its thread
 * @batch: events of this turn that are not dispatched yet begin at @batch_at
 * @batch_n: events in @batch
 * @current: the object whose user is being called; NULL once it is closed or detached
 * @report: reports @broken to their users; called in each turn
 * @broken: streams whose failure is to be reported to their users
 * @lingering: streams closed by their user that still deliver
 * @worker: for offloads
 * @thread: of ddio_real_start_thread()
 * @memory: what the loop does for @memories, streams through memory, which @memory_use counts
 */
struct real {
	struct ddio_env env;
	struct ddio_real_opts opts;
	char *name;
	int epfd;
	struct watch wake;
	struct watch clock;
	uint64_t clock_at;
	struct ddio_heap timers;
	uint64_t due;
	struct ddio_post *_Atomic posts;
	atomic_int sleeping;
	atomic_int stop;
	uint64_t waited, shared;
	_Atomic uint64_t crowded;
	atomic_int loop_tid;
	_Atomic uint32_t rung, led, tired, waiting;
	bool opened;
	const sigset_t *signals;
	struct epoll_event batch[REAL_BATCH];
	int batch_at, batch_n;
	const void *current;
	void (*report)(struct real *real);
	struct ddio_list broken;
	struct ddio_list lingering;
	struct real_worker worker;
	pthread_t thread;
	bool thread_on;
	const struct real_memory_ops *memory;
	struct ddio_list memories;
	struct ddio_memory_use memory_use;
};

static inline struct real *real_of(struct ddio_env *env)
{
	return ddio_container_of(env, struct real, env);
}

/* Registers what the watch waits for, or changes it.  Return: 0 or -errno. */
int watch_set(struct real *real, struct watch *watch, uint32_t events);
/* After this no event of the watch comes, not even one that epoll has already reported. */
void watch_del(struct real *real, struct watch *watch);

/* Called when an object is closed or detached, so that the loop does not touch it again. */
static inline void real_gone(struct real *real, const void *object)
{
	if (real->current == object)
		real->current = NULL;
}

/* loop.c */
uint64_t real_now(struct ddio_env *env);
uint64_t real_wall(struct ddio_env *env);
int real_timer_arm(struct ddio_env *env, struct ddio_timer *timer, uint64_t when_ns);
void real_timer_cancel(struct ddio_env *env, struct ddio_timer *timer);
void real_post(struct ddio_env *env, struct ddio_post *post);
/* Returns how long the loop is to look for events before it sleeps. */
uint64_t real_look_time(const struct real *real, uint64_t now);
void real_post_later(struct ddio_env *env, struct ddio_post *post);
/* Ends the sleep of whoever runs the loop.  Return: false if nobody sleeps in it. */
bool real_rouse(struct real *real);
/* Runs what was posted so far.  Return: true if there was anything. */
bool real_run_posts(struct real *real);
/* The two halves of a turn: what is due; waiting for events, and what comes of them, which returns 0 or -errno. */
void real_work(struct real *real);
int real_events(struct real *real);
/* The loop's own descriptors.  Return: 0 or -errno; what was opened is to be closed all the same. */
int real_open_fds(struct real *real);
void real_close_fds(struct real *real);

/* Starts a thread that takes no signals.  Return: 0 or -errno. */
int thread_create(pthread_t *thread, void *(*fn)(void *arg), void *arg);
int worker_init(struct real *real);
/* Finishes all queued jobs, then ends the thread. */
void worker_fini(struct real *real);
void real_offload(struct ddio_env *env, struct ddio_offload *offload);

static inline int real_tid(void)
{
	return (int)syscall(SYS_gettid);
}

/* lead.c */
bool real_may_lend(const struct real *real);
void real_lend(struct real *real);
/* Something is to be done in the loop: if nobody runs it, its own thread is to. */
void real_want(struct real *real);
/* See ddio_env_serve(). */
void real_serve(struct ddio_env *env, bool serve);
int real_call(struct ddio_env *env, struct ddio_post *post, struct ddio_gate *gate);

/* What a gate's word says; GATE_CALLED: a thread is asleep in real_call(). */
enum real_gate { GATE_SHUT = 0, GATE_OPEN = 1, GATE_AWAITED = 2, GATE_CALLED = 3 };
/* Sleeps until a gate whose word is @state opens, or is open already.  Return: 0 or -ETIMEDOUT. */
int real_gate_sleep(struct ddio_gate *gate, enum real_gate state, uint64_t deadline_ns);
void real_gate_open(struct ddio_env *env, struct ddio_gate *gate);
int real_gate_wait(struct ddio_env *env, struct ddio_gate *gate, uint64_t deadline_ns);

/* gong.c */
int real_gong_wait(struct ddio_env *env, struct ddio_gong *gong, uint32_t seen,
		   uint64_t deadline_ns);
void real_gong_sound(struct ddio_env *env, struct ddio_gong *gong);

int real_watcher_start(struct ddio_env *env, struct ddio_watcher *watcher);
void real_watcher_stop(struct ddio_env *env, struct ddio_watcher *watcher);

int real_stream_connect(struct ddio_env *env, const char *addr, const struct ddio_stream_ops *ops,
			void *ctx, struct ddio_stream **stream);
int real_stream_attach(struct ddio_env *env, struct ddio_stream *stream);
/* Reports failures to the users of broken streams. */
void real_streams_report(struct real *real);
/* Ends the deliveries that are still going on. */
void real_streams_fini(struct real *real);
int real_listen(struct ddio_env *env, const char *addr, ddio_accept_fn accept, void *ctx,
		struct ddio_listener **listener);

/* child.c: a descriptor that children of fork() must not keep, and its end. */
void own_fd(int fd);
void own_fd_close(int fd);
/* See close_aside(). */
void own_fd_close_aside(int fd);

#endif /* DDIO_REAL_PRIV_H */
