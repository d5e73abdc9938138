// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The real world's reactor: an epoll loop with timers and posts.
 *
 * A turn of the loop: run what was posted, the timers that are due, the reports
 * of broken streams; sleep unless there is more of these; dispatch the events of
 * descriptors.  Timers wait in a heap, and a timerfd rings for the first of them:
 * unlike epoll's own timeout it is exact to the nanosecond as set, and is not
 * delayed by the thread's timer slack.  An emulated disk depends on that.
 *
 * An object may be closed while the current batch of events still has one for it:
 * watch_del() strikes that out, so that the object can be freed at once.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include "env/real/priv.h"

#define NSEC_PER_SEC 1000000000ULL

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

uint64_t real_now(struct ddio_env *env)
{
	(void)env;
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t real_wall(struct ddio_env *env)
{
	(void)env;
	return clock_ns(CLOCK_REALTIME);
}

/*
 * Descriptors
 */
int watch_set(struct real *real, struct watch *watch, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = watch };

	if (watch->on && watch->events == events)
		return 0;
	if (epoll_ctl(real->epfd, watch->on ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, watch->fd, &ev))
		return -errno;
	watch->on = true;
	watch->events = events;
	return 0;
}

void watch_del(struct real *real, struct watch *watch)
{
	int i;

	if (!watch->on)
		return;
	epoll_ctl(real->epfd, EPOLL_CTL_DEL, watch->fd, NULL);
	watch->on = false;
	for (i = real->batch_at; i < real->batch_n; i++)
		if (real->batch[i].data.ptr == watch)
			real->batch[i].data.ptr = NULL;
}

/*
 * Timers
 */
int real_timer_arm(struct ddio_env *env, struct ddio_timer *timer, uint64_t when_ns)
{
	struct real *real = real_of(env);

	/* A timer that keeps arming itself for the past must not stay ahead of all others. */
	return ddio_heap_put(&real->timers, &timer->node,
			     when_ns < real->due ? real->due : when_ns);
}

void real_timer_cancel(struct ddio_env *env, struct ddio_timer *timer)
{
	ddio_heap_remove(&real_of(env)->timers, &timer->node);
}

/* Timers armed meanwhile wait for the next turn, so that one that re-arms itself does not starve the rest. */
static void real_run_timers(struct real *real)
{
	uint64_t last = real->timers.seq;
	struct ddio_heap_node *node;
	struct ddio_timer *timer;

	if (!real->timers.n)
		return;
	real->due = clock_ns(CLOCK_MONOTONIC);
	while ((node = ddio_heap_first(&real->timers)) && node->when <= real->due &&
	       node->seq <= last) {
		ddio_heap_remove(&real->timers, node);
		timer = ddio_container_of(node, struct ddio_timer, node);
		timer->fn(timer->arg);
	}
}

static void real_clock_ring(struct watch *watch, uint32_t events)
{
	struct real *real = ddio_container_of(watch, struct real, clock);
	uint64_t count;

	(void)events;
	real->clock_at = 0;
	if (read(watch->fd, &count, sizeof(count)) < 0)
		return; /* it was set again since epoll reported it */
}

/* Return: true if the loop may sleep. */
static bool real_clock_set(struct real *real)
{
	struct ddio_heap_node *first = ddio_heap_first(&real->timers);
	struct itimerspec spec = { 0 };

	if (!first)
		return true;
	if (first->when <= clock_ns(CLOCK_MONOTONIC))
		return false;
	if (first->when == real->clock_at)
		return true;
	spec.it_value.tv_sec = first->when / NSEC_PER_SEC;
	spec.it_value.tv_nsec = first->when % NSEC_PER_SEC;
	if (timerfd_settime(real->clock.fd, TFD_TIMER_ABSTIME, &spec, NULL))
		return false;
	real->clock_at = first->when;
	return true;
}

/*
 * Posts
 */
bool real_rouse(struct real *real)
{
	uint64_t one = 1;

	if (!atomic_exchange(&real->sleeping, 0))
		return false;
	if (write(real->wake.fd, &one, sizeof(one)) < 0)
		return true; /* the counter is full: the loop is awake already */
	return true;
}

static void real_wake(struct real *real)
{
	if (!real_rouse(real))
		real_want(real);
}

void real_post_later(struct ddio_env *env, struct ddio_post *post)
{
	struct real *real = real_of(env);
	struct ddio_post *head = atomic_load_explicit(&real->posts, memory_order_relaxed);

	do {
		post->next = head;
	} while (!atomic_compare_exchange_weak(&real->posts, &head, post));
}

void real_post(struct ddio_env *env, struct ddio_post *post)
{
	real_post_later(env, post);
	real_wake(real_of(env));
}

bool real_run_posts(struct real *real)
{
	struct ddio_post *post, *next, *list = NULL;

	post = atomic_exchange(&real->posts, NULL);
	for (; post; post = next) {
		next = post->next;
		post->next = list;
		list = post;
	}
	if (!list)
		return false;
	for (post = list; post; post = next) {
		next = post->next;
		post->fn(post->arg);
	}
	return true;
}

/* The read also orders the poster's last step before what follows here, the reactor's end included. */
static void real_woken(struct watch *watch, uint32_t events)
{
	uint64_t count;

	(void)events;
	if (read(watch->fd, &count, sizeof(count)) < 0)
		return; /* the counter was 0 already */
}

/*
 * The loop
 */

uint64_t real_look_time(const struct real *real, uint64_t now)
{
	uint64_t time = real->opts.look_ns ? real->opts.look_ns : REAL_LOOK_NS;

	if (now < real->env.awaited && time < REAL_AWAIT_NS)
		return REAL_AWAIT_NS;
	if (now < real->shared && now < real->env.served && real->opts.look_shared_ns)
		return real->opts.look_shared_ns;
	return time;
}

/* What a yield takes shows whether others want the processor. */
static void real_yield(struct real *real, uint64_t *now)
{
	uint64_t then = *now, lost;

	sched_yield();
	*now = clock_ns(CLOCK_MONOTONIC);
	lost = *now - then;
	if (lost > REAL_SWITCHED_NS)
		real->shared = *now + REAL_SHARED_NS;
	if (lost > REAL_LOST_NS)
		real->crowded = *now + REAL_CROWDED_NS;
}

/*
 * To sleep and be woken costs more than most requests do.  So after a short wait the loop polls for the
 * next event for a moment before it sleeps, and yields the processor to other threads meanwhile.  But where
 * threads compute all the time, one that yields waits for a whole turn of theirs, and one that is woken does not.
 *
 * A yield lets those threads run that the kernel accounts together with this one.  A daemon is of another session, or control group: on
 * a processor that threads of this one look on in turns, it does not run before all of them sleep.
 */
static int real_look(struct real *real, uint64_t now)
{
	uint64_t until = now + real_look_time(real, now);
	int n = 0;

	while (!n && now < until && !atomic_load(&real->posts) && !atomic_load(&real->stop) &&
	       !real->memory->due(real)) {
		n = epoll_wait(real->epfd, real->batch, REAL_BATCH, 0);
		if (!n)
			real_yield(real, &now);
	}
	return n > 0 ? n : 0;
}

static int real_sleep(struct real *real, int timeout)
{
	bool dozes = timeout != 0;
	int n;

	atomic_store(&real->sleeping, 1);
	if (atomic_load(&real->posts) || atomic_load(&real->stop) ||
	    (dozes && !real->memory->doze(real)))
		timeout = 0;
	n = epoll_pwait(real->epfd, real->batch, REAL_BATCH, timeout, real->signals);
	if (n < 0)
		n = -errno;
	atomic_store(&real->sleeping, 0);
	if (dozes)
		real->memory->rise(real);
	return n == -EINTR ? 0 : n;
}

static int real_poll(struct real *real)
{
	uint64_t began;
	int n;

	if (!real_clock_set(real) || !ddio_list_empty(&real->broken) || real->memory->due(real))
		return real_sleep(real, 0);
	began = clock_ns(CLOCK_MONOTONIC);
	n = real->waited < REAL_SHORT_NS && began >= real->crowded ? real_look(real, began) : 0;
	if (!n)
		n = real_sleep(real, -1);
	real->waited = clock_ns(CLOCK_MONOTONIC) - began;
	return n;
}

static void real_dispatch(struct real *real)
{
	struct epoll_event *ev;
	struct watch *watch;

	while (real->batch_at < real->batch_n) {
		ev = &real->batch[real->batch_at++];
		watch = ev->data.ptr;
		if (watch)
			watch->fn(watch, ev->events);
	}
}

/* What a post has posted is mostly a message to be sent: it goes before the next look for events, not after it. */
void real_work(struct real *real)
{
	if (real_run_posts(real))
		real_run_posts(real);
	real_run_timers(real);
	real->report(real);
}

int real_events(struct real *real)
{
	int n = real_poll(real);

	if (n < 0)
		return n;
	real->batch_at = 0;
	real->batch_n = n;
	real_dispatch(real);
	real->memory->serve(real);
	return 0;
}

/**
 * real_run - run the loop on this thread
 * @env: of ddio_real_new()
 * Everything posted before real_stop() is still run.  Threads that wait may run the loop now and then instead of this one:
 * see lead.c.
 * Return: 0 after real_stop(), -EBUSY if it runs already, or another -errno.
 */
int real_run(struct ddio_env *env)
{
	struct real *real = real_of(env);
	int ret = 0, none = 0;
	bool stop;

	if (!atomic_compare_exchange_strong(&real->loop_tid, &none, real_tid()))
		return -EBUSY;
	for (;;) {
		stop = atomic_load(&real->stop);
		real_work(real);
		if (stop)
			break;
		if (real_may_lend(real)) {
			real_lend(real);
			continue;
		}
		ret = real_events(real);
		if (ret)
			break;
	}
	atomic_store(&real->stop, 0);
	atomic_store(&real->loop_tid, 0);
	return ret;
}

void real_stop(struct ddio_env *env)
{
	struct real *real = real_of(env);

	atomic_store(&real->stop, 1);
	real_wake(real);
}

/*
 * Making one
 */
int real_open_fds(struct real *real)
{
	int ret;

	real->epfd = epoll_create1(EPOLL_CLOEXEC);
	real->wake.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	real->clock.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (real->epfd < 0 || real->wake.fd < 0 || real->clock.fd < 0)
		return -errno;
	real->wake.fn = real_woken;
	real->clock.fn = real_clock_ring;
	ret = watch_set(real, &real->wake, EPOLLIN);
	return ret ? ret : watch_set(real, &real->clock, EPOLLIN);
}

void real_close_fds(struct real *real)
{
	if (real->epfd >= 0)
		close(real->epfd);
	if (real->wake.fd >= 0)
		close(real->wake.fd);
	if (real->clock.fd >= 0)
		close(real->clock.fd);
}
