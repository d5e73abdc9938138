// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the end of a collective is learned of: by waiting with and without a deadline, by
 * signals, by poll, by events; the order of blocks; and that nobody is told twice.
 */
#include <fcntl.h>
#include <linux/types.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/kt.h"
#include "lib/world.h"

#define BLOCKS 32
#define SLOW_NS 20000000
#define MS 1000000ULL
#define STALL "/sys/kernel/config/hp97560/%s/stall"

static struct kt_dev *slow, *dead;
static struct kt_rng rng;

static void kt_prepare(void)
{
	rng.state = kt_seed();
	slow = kt_dev_null(
		&(struct kt_null){ .megabytes = 16, .more = "irqmode=2 completion_nsec=20000000" });
	if (!slow)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
	dead = kt_dev_hp97560(NULL);
}

FIXTURE(slow)
{
	int ctx;
	__u32 disk;
	__u32 buffer;
	unsigned char *memory;
	struct ddio_block block[BLOCKS];
};

/* Blocks in random order, none the neighbour of another; a second takes about 64 of them. */
FIXTURE_SETUP(slow)
{
	int i;

	self->ctx = kt_open();
	ASSERT_LE(0, self->ctx);
	ASSERT_EQ(0, kt_disk_open(self->ctx, slow->path, O_RDWR, &self->disk));
	self->memory = kt_memory(BLOCKS * 4096);
	ASSERT_EQ(0, kt_buffer_add(self->ctx, self->memory, BLOCKS * 4096, 0, &self->buffer));
	for (i = 0; i < BLOCKS; i++)
		self->block[i] = (struct ddio_block){ .offset = i * 65536,
						      .where = i * 4096,
						      .length = 4096,
						      .disk = self->disk,
						      .buffer = self->buffer };
	kt_shuffle(&rng, self->block, BLOCKS, sizeof(self->block[0]));
}

FIXTURE_TEARDOWN(slow)
{
	close(self->ctx);
}

static int submit(FIXTURE_DATA(slow) * self, __u32 flags, __u64 deadline, struct ddio_submit *s)
{
	kt_submit_init(s, DDIO_READ, DDIO_PLACE, self->block, BLOCKS);
	s->flags = flags;
	s->deadline = deadline;
	return kt_submit(self->ctx, s);
}

static int readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && (p.revents & POLLIN);
}

/* Has the blocks on the dead disk, which answers nothing until it is told to. */
static int use_dead(FIXTURE_DATA(slow) * self)
{
	__u32 disk;
	int i, err = kt_disk_open(self->ctx, dead->path, O_RDWR, &disk);

	for (i = 0; i < BLOCKS; i++)
		self->block[i].disk = disk;
	return err ? err : kt_write("1", STALL, dead->name);
}

/* A call that waited would not return. */
KT_TEST(slow, submission_returns_at_once)
{
	struct ddio_submit s;

	if (!dead)
		SKIP(return, "no hp97560 disk");
	ASSERT_EQ(0, use_dead(self));
	ASSERT_EQ(0, submit(self, 0, 0, &s));
	EXPECT_EQ(DDIO_RUNNING, s.out_state);
	EXPECT_EQ(-ETIMEDOUT, kt_wait(self->ctx, s.out_collective, 0, NULL));
	ASSERT_EQ(0, kt_write("0", STALL, dead->name));
	EXPECT_EQ(0, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
}

KT_TEST(slow, waited_for_again)
{
	__u64 begin = kt_now();
	struct ddio_submit s;

	ASSERT_EQ(0, submit(self, 0, 0, &s));
	EXPECT_EQ(0, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
	EXPECT_LE(begin + BLOCKS / 2 * SLOW_NS, kt_now());
	/* As often as one likes, until it is destroyed. */
	EXPECT_EQ(0, kt_wait(self->ctx, s.out_collective, 0, NULL));
	EXPECT_EQ(0, kt_destroy(self->ctx, s.out_collective));
	EXPECT_EQ(-ENOENT, kt_wait(self->ctx, s.out_collective, 0, NULL));
}

KT_TEST(slow, deadline_of_submission)
{
	__s32 status[BLOCKS];
	struct ddio_submit s;
	__u64 begin;

	if (!dead)
		SKIP(return, "no hp97560 disk");
	ASSERT_EQ(0, use_dead(self));
	begin = kt_now();
	memset(status, 0x55, sizeof(status));
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, self->block, BLOCKS);
	s.flags = DDIO_SUBMIT_WAIT;
	s.status = kt_ptr(status);
	s.deadline = begin + 50 * MS;
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	EXPECT_EQ(DDIO_RUNNING, s.out_state);
	EXPECT_NE(0, s.out_collective);
	EXPECT_LE(begin + 50 * MS, kt_now());
	EXPECT_EQ(0x55555555, status[0]);
	EXPECT_EQ(-ETIMEDOUT, kt_wait(self->ctx, s.out_collective, kt_now() + MS, NULL));
	ASSERT_EQ(0, kt_write("0", STALL, dead->name));
	EXPECT_EQ(0, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
	ASSERT_EQ(0, kt_write("1", STALL, dead->name));
	ASSERT_EQ(0, submit(self, DDIO_SUBMIT_WAIT, 0, &s));
	EXPECT_EQ(DDIO_RUNNING, s.out_state);
	ASSERT_EQ(0, kt_write("0", STALL, dead->name));
	EXPECT_EQ(0, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
}

static void ignore(int signal)
{
	(void)signal;
}

static void alarm_in(long us, bool restart)
{
	struct sigaction action = { .sa_handler = ignore, .sa_flags = restart ? SA_RESTART : 0 };
	struct itimerval timer = { .it_value.tv_usec = us };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

KT_TEST(slow, signals)
{
	struct ddio_submit s;
	int restart;

	for (restart = 0; restart < 2; restart++) {
		alarm_in(50000, restart);
		ASSERT_EQ(0, submit(self, DDIO_SUBMIT_WAIT, DDIO_FOREVER, &s));
		EXPECT_EQ(DDIO_RUNNING, s.out_state);
		alarm_in(50000, restart);
		EXPECT_EQ(restart ? 0 : -EINTR,
			  kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
		/* Nothing is lost by that. */
		EXPECT_EQ(0, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
	}
}

/* Waits until the only thread of a process sleeps. */
static bool sleeps(pid_t pid)
{
	char text[256], *end;
	int i;

	for (i = 0; i < 3000; i++, usleep(10000)) {
		if (kt_read(text, sizeof(text), "/proc/%d/stat", pid))
			return false;
		end = strrchr(text, ')');
		if (end && end[2] == 'S')
			return true;
	}
	return false;
}

/* Stops a process that waits, and lets it go on.  Returns true if it waits again. */
static bool stop_and_go_on(pid_t pid)
{
	int status;

	if (!sleeps(pid) || kill(pid, SIGSTOP) || waitpid(pid, &status, WUNTRACED) != pid ||
	    !WIFSTOPPED(status))
		return false;
	return !kill(pid, SIGCONT) && waitpid(pid, &status, WCONTINUED) == pid &&
	       WIFCONTINUED(status) && sleeps(pid);
}

/* A wait that no handler has interrupted goes on, up to the deadline that it had. */
KT_TEST(slow, stopped)
{
	__u64 deadline[] = { DDIO_FOREVER, kt_now() + 3600 * KT_SECOND };
	struct ddio_submit s;
	int status;
	size_t i;
	pid_t pid;

	if (!dead)
		SKIP(return, "no hp97560 disk");
	for (i = 0; i < KT_ARRAY_SIZE(deadline); i++) {
		ASSERT_EQ(0, i ? kt_write("1", STALL, dead->name) : use_dead(self));
		ASSERT_EQ(0, submit(self, 0, 0, &s));
		pid = fork();
		if (!pid)
			_exit(-kt_wait(self->ctx, s.out_collective, deadline[i], NULL));
		EXPECT_EQ(true, stop_and_go_on(pid));
		ASSERT_EQ(0, kt_write("0", STALL, dead->name));
		EXPECT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
		EXPECT_EQ(0, kt_destroy(self->ctx, s.out_collective));
	}
}

/* What loses its memory during a submission: its struct, or the statuses. */
struct loser {
	void *memory;
	int prot;
};

/* Takes memory away when the disk has its first request, and then lets the disk answer. */
static void *lose(void *arg)
{
	const struct loser *l = arg;
	unsigned int reads, writes;
	char text[64];
	int i;

	for (i = 0; i < 3000; i++, usleep(10000)) {
		if (!kt_read(text, sizeof(text), "/sys/block/%s/inflight",
			     strrchr(dead->path, '/') + 1) &&
		    sscanf(text, "%u %u", &reads, &writes) == 2 && reads)
			break;
	}
	mprotect(l->memory, 4096, l->prot);
	kt_write("0", STALL, dead->name);
	return NULL;
}

/* A submission that runs does not fail: what cannot be told is asked for by a wait. */
KT_TEST(slow, memory_lost_meanwhile)
{
	struct ddio_submit *s = kt_memory(4096);
	__s32 *status = kt_memory(4096);
	struct loser loser[] = { { status, PROT_NONE }, { s, PROT_READ } };
	struct ddio_wait wait;
	pthread_t thread;
	size_t i;

	if (!dead)
		SKIP(return, "no hp97560 disk");
	for (i = 0; i < KT_ARRAY_SIZE(loser); i++) {
		ASSERT_EQ(0, i ? kt_write("1", STALL, dead->name) : use_dead(self));
		kt_submit_init(s, DDIO_READ, DDIO_PLACE, self->block, BLOCKS);
		s->flags = DDIO_SUBMIT_WAIT;
		s->status = kt_ptr(status);
		s->deadline = DDIO_FOREVER;
		ASSERT_EQ(0, pthread_create(&thread, NULL, lose, &loser[i]));
		EXPECT_EQ(0, kt_submit(self->ctx, s));
		pthread_join(thread, NULL);
		EXPECT_EQ(DDIO_RUNNING, s->out_state);
		EXPECT_EQ(0, kt_wait(self->ctx, s->out_collective, DDIO_FOREVER, &wait));
		EXPECT_EQ(BLOCKS, wait.out_blocks);
		EXPECT_EQ(0, kt_destroy(self->ctx, s->out_collective));
		ASSERT_EQ(0, mprotect(loser[i].memory, 4096, PROT_READ | PROT_WRITE));
	}
}

KT_TEST(slow, forgotten)
{
	struct ddio_submit s;
	int i, err = 0;

	ASSERT_EQ(0, submit(self, DDIO_SUBMIT_FORGET, 0, &s));
	EXPECT_EQ(DDIO_RUNNING, s.out_state);
	ASSERT_NE(0, s.out_collective);
	/* Who waits when it ends is told; afterwards there is no such collective. */
	err = kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL);
	EXPECT_EQ(0, err);
	EXPECT_EQ(-ENOENT, kt_wait(self->ctx, s.out_collective, 0, NULL));
	EXPECT_EQ(-ENOENT, kt_destroy(self->ctx, s.out_collective));
	ASSERT_EQ(0, submit(self, DDIO_SUBMIT_FORGET, 0, &s));
	for (i = 0; i < 1000 && err != -ENOENT; i++) {
		usleep(10000);
		err = kt_wait(self->ctx, s.out_collective, 0, NULL);
	}
	EXPECT_EQ(-ENOENT, err);
	/* And no other waiter is told of it. */
	EXPECT_EQ(0, readable(self->ctx, 0));
	EXPECT_EQ(0, kt_destroy(self->ctx, self->buffer));
	EXPECT_EQ(0, kt_destroy(self->ctx, self->disk));
}

KT_TEST(slow, poll_without_ring)
{
	struct ddio_submit s, t;

	EXPECT_EQ(0, readable(self->ctx, 0));
	ASSERT_EQ(0, submit(self, 0, 0, &s));
	EXPECT_EQ(0, readable(self->ctx, 0));
	EXPECT_EQ(1, readable(self->ctx, 10000));
	EXPECT_EQ(0, kt_wait(self->ctx, s.out_collective, 0, NULL));
	EXPECT_EQ(0, readable(self->ctx, 0));
	/* Two ended: readable until both are known. */
	ASSERT_EQ(0, submit(self, 0, 0, &s));
	ASSERT_EQ(0, submit(self, 0, 0, &t));
	EXPECT_EQ(0, kt_wait(self->ctx, t.out_collective, DDIO_FOREVER, NULL));
	EXPECT_EQ(1, readable(self->ctx, 10000));
	EXPECT_EQ(0, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
	EXPECT_EQ(0, readable(self->ctx, 0));
	/* Destroying one that ended will do, too. */
	ASSERT_EQ(0, submit(self, 0, 0, &s));
	EXPECT_EQ(1, readable(self->ctx, 10000));
	EXPECT_EQ(0, kt_destroy(self->ctx, s.out_collective));
	EXPECT_EQ(0, readable(self->ctx, 0));
}

/* Reads events until the collective's last one; the number read, or a negative number. */
static int events(int ctx, struct ddio_ring *ring, struct ddio_event *event, int most)
{
	struct ddio_event *e = (void *)((char *)ring + ring->events_offset);
	__u32 head = ring->head;
	int n = 0;

	while (n < most) {
		while (__atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) == head) {
			if (!readable(ctx, 10000))
				return -1;
		}
		event[n] = e[head % ring->events];
		__atomic_store_n(&ring->head, ++head, __ATOMIC_RELEASE);
		if (event[n++].kind == DDIO_EVENT_DONE)
			break;
	}
	return n;
}

static void in_order(struct __test_metadata *_metadata, FIXTURE_DATA(slow) * self,
		     struct ddio_ring *ring, __u32 flags)
{
	struct ddio_event event[BLOCKS + 1];
	bool seen[BLOCKS] = { false };
	struct ddio_submit s;
	__u64 last = 0;
	int i;

	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, self->block, BLOCKS);
	s.flags = DDIO_SUBMIT_EVENTS | flags;
	s.depth = 1;
	s.user_data = 0xfeedfacecafebeefULL + flags;
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	ASSERT_EQ(BLOCKS + 1, events(self->ctx, ring, event, BLOCKS + 1));
	for (i = 0; i <= BLOCKS; i++) {
		EXPECT_EQ(s.user_data, event[i].user_data);
		EXPECT_EQ(s.out_collective, event[i].collective);
		EXPECT_EQ(0, event[i].slot);
		EXPECT_EQ(0, event[i].status);
		if (i == BLOCKS)
			break;
		EXPECT_EQ(DDIO_EVENT_BLOCK, event[i].kind);
		ASSERT_GT(BLOCKS, event[i].index);
		EXPECT_EQ(false, seen[event[i].index]);
		seen[event[i].index] = true;
		if (flags & DDIO_SUBMIT_ORDERED) {
			EXPECT_EQ((__u64)i, event[i].index);
		} else {
			EXPECT_LE(last, self->block[event[i].index].offset);
		}
		last = self->block[event[i].index].offset;
	}
	EXPECT_EQ(DDIO_EVENT_DONE, event[BLOCKS].kind);
	EXPECT_EQ(BLOCKS, event[BLOCKS].index);
	EXPECT_EQ(0, kt_wait(self->ctx, s.out_collective, 0, NULL));
	EXPECT_EQ(0, readable(self->ctx, 0));
}

KT_TEST(slow, events_in_order)
{
	struct ddio_ring *ring;
	size_t length;
	int i;

	ASSERT_EQ(0, kt_ring_setup(self->ctx, 64, 0, &ring, &length));
	/* More often than the ring is long. */
	for (i = 0; i < 3; i++) {
		in_order(_metadata, self, ring, 0);
		in_order(_metadata, self, ring, DDIO_SUBMIT_ORDERED);
	}
}

/* Room is reserved for as many as may be unread, and comes back as they are read. */
KT_TEST(slow, events_reserved)
{
	struct ddio_event event[BLOCKS + 1];
	struct ddio_ring *ring;
	struct ddio_submit s;
	size_t length;

	EXPECT_EQ(-ENOENT, submit(self, DDIO_SUBMIT_EVENTS, 0, &s));
	ASSERT_EQ(0, kt_ring_setup(self->ctx, 64, 0, &ring, &length));
	ASSERT_EQ(0, submit(self, DDIO_SUBMIT_EVENTS, 0, &s));
	EXPECT_EQ(-EBUSY, submit(self, DDIO_SUBMIT_EVENTS, 0, &s));
	ASSERT_EQ(BLOCKS + 1, events(self->ctx, ring, event, BLOCKS + 1));
	ASSERT_EQ(0, submit(self, DDIO_SUBMIT_EVENTS, 0, &s));
	/* One that has ended, but whose events are unread, takes room still. */
	EXPECT_EQ(0, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
	EXPECT_EQ(-EBUSY, submit(self, DDIO_SUBMIT_EVENTS, 0, &s));
	ASSERT_EQ(BLOCKS + 1, events(self->ctx, ring, event, BLOCKS + 1));
	ASSERT_EQ(0, submit(self, DDIO_SUBMIT_EVENTS | DDIO_SUBMIT_FORGET, 0, &s));
	ASSERT_EQ(BLOCKS + 1, events(self->ctx, ring, event, BLOCKS + 1));
}

/* Garbage in the ring harms neither other processes nor the module. */
KT_TEST(slow, ring_of_nonsense)
{
	struct ddio_ring *ring;
	struct ddio_submit s;
	size_t length;
	int i;

	ASSERT_EQ(0, kt_ring_setup(self->ctx, 64, 8, &ring, &length));
	for (i = 0; i < 4; i++) {
		kt_fill(&rng, ring, length);
		if (submit(self, DDIO_SUBMIT_EVENTS | DDIO_SUBMIT_WAIT, DDIO_FOREVER, &s))
			continue;
		EXPECT_EQ(DDIO_ENDED, s.out_state);
		kt_fill(&rng, ring, length);
		readable(self->ctx, 0);
	}
	EXPECT_EQ(0, submit(self, DDIO_SUBMIT_WAIT, DDIO_FOREVER, &s));
	EXPECT_EQ(0, s.out_error);
}

struct wait_task {
	int ctx;
	__u32 coll;
	int result;
};

static void *wait_thread(void *arg)
{
	struct wait_task *w = arg;

	w->result = kt_wait(w->ctx, w->coll, DDIO_FOREVER, NULL);
	return NULL;
}

KT_TEST(slow, many_waiters)
{
	struct wait_task w[8];
	pthread_t thread[8];
	struct ddio_submit s;
	int i;

	ASSERT_EQ(0, submit(self, 0, 0, &s));
	for (i = 0; i < 8; i++) {
		w[i] = (struct wait_task){ .ctx = self->ctx,
					   .coll = s.out_collective,
					   .result = 1 };
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, wait_thread, &w[i]));
	}
	for (i = 0; i < 8; i++) {
		pthread_join(thread[i], NULL);
		EXPECT_EQ(0, w[i].result);
	}
}

/* The collective goes away under its waiters. */
KT_TEST(slow, cancelled_under_waiters)
{
	struct wait_task w[4];
	pthread_t thread[4];
	struct ddio_submit s;
	struct ddio_wait wait;
	int i;

	ASSERT_EQ(0, submit(self, DDIO_SUBMIT_FORGET, 0, &s));
	for (i = 0; i < 4; i++) {
		w[i] = (struct wait_task){ .ctx = self->ctx,
					   .coll = s.out_collective,
					   .result = 1 };
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, wait_thread, &w[i]));
	}
	usleep(60000);
	EXPECT_EQ(0, kt_cancel(self->ctx, s.out_collective));
	for (i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		EXPECT_EQ(-ECANCELED, w[i].result);
	}
	EXPECT_EQ(-ENOENT, kt_wait(self->ctx, s.out_collective, 0, &wait));
}

KT_TEST(slow, cancelled)
{
	struct ddio_wait wait = { .out_error = 0 };
	__s32 status[BLOCKS];
	struct ddio_submit s;
	__u64 ok = 0;
	int i;

	ASSERT_EQ(0, submit(self, 0, 0, &s));
	usleep(5 * SLOW_NS / 1000);
	EXPECT_EQ(0, kt_cancel(self->ctx, s.out_collective));
	ASSERT_EQ(0, kt_wait_status(self->ctx, s.out_collective, status, BLOCKS, &wait));
	EXPECT_EQ(-ECANCELED, wait.out_error);
	for (i = 0; i < BLOCKS; i++) {
		ok += !status[i];
		EXPECT_TRUE(!status[i] || status[i] == -ECANCELED);
	}
	EXPECT_EQ(ok, wait.out_blocks);
	EXPECT_EQ(ok * 4096, wait.out_bytes);
	EXPECT_LE(1, ok);
	EXPECT_GT(BLOCKS, ok);
	ASSERT_GT(BLOCKS, wait.out_block);
	EXPECT_EQ(-ECANCELED, status[wait.out_block]);
	EXPECT_EQ(0, kt_cancel(self->ctx, s.out_collective));
}

/*
 * Cancelling waits for nothing, and no block is begun after it; what is in flight goes on: two
 * blocks, or as many as were asked for.
 */
static void cancel_on_a_dead_disk(struct __test_metadata *_metadata, FIXTURE_DATA(slow) * self,
				  __u32 depth)
{
	const __u32 in_flight = depth ? depth : DDIO_DEPTH_DEFAULT;
	struct ddio_wait wait = { .out_error = 0 };
	__s32 status[BLOCKS];
	struct ddio_submit s;
	__u64 ok = 0;
	int i;

	ASSERT_EQ(0, kt_write("1", STALL, dead->name));
	/* The call itself begins as many as may be in flight, and then finds its time over. */
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, self->block, BLOCKS);
	s.flags = DDIO_SUBMIT_WAIT;
	s.deadline = 1;
	s.depth = depth;
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	EXPECT_EQ(DDIO_RUNNING, s.out_state);
	EXPECT_EQ(0, kt_cancel(self->ctx, s.out_collective));
	EXPECT_EQ(-ETIMEDOUT, kt_wait(self->ctx, s.out_collective, 0, NULL));
	ASSERT_EQ(0, kt_write("0", STALL, dead->name));
	ASSERT_EQ(0, kt_wait_status(self->ctx, s.out_collective, status, BLOCKS, &wait));
	EXPECT_EQ(-ECANCELED, wait.out_error);
	EXPECT_EQ(in_flight, wait.out_blocks);
	for (i = 0; i < BLOCKS; i++)
		ok += !status[i];
	EXPECT_EQ(in_flight, ok);
}

KT_TEST(slow, cancelled_on_a_dead_disk)
{
	if (!dead)
		SKIP(return, "no hp97560 disk");
	ASSERT_EQ(0, use_dead(self));
	cancel_on_a_dead_disk(_metadata, self, 0);
	cancel_on_a_dead_disk(_metadata, self, 1);
	cancel_on_a_dead_disk(_metadata, self, 7);
}

/* A descriptor in another process is the same context; its end is that of the last copy. */
KT_TEST(slow, shared_with_a_child)
{
	struct ddio_submit s;
	int status;

	ASSERT_EQ(0, submit(self, 0, 0, &s));
	if (!fork())
		_exit(-kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
	ASSERT_LT(0, wait(&status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, kt_wait(self->ctx, s.out_collective, 0, NULL));
}

static bool fill_slow(unsigned char byte)
{
	int fd = open(slow->path, O_RDWR | O_DIRECT | O_CLOEXEC), i;
	unsigned char *p = kt_memory(4096);
	bool ok = fd >= 0;

	memset(p, byte, 4096);
	for (i = 0; ok && i < BLOCKS; i++)
		ok = pwrite(fd, p, 4096, i * 65536) == 4096;
	munmap(p, 4096);
	close(fd);
	return ok;
}

/* What a child with its parent's descriptor finds: 0 if all is as ddio(4) says. */
static int child_with_a_ring(FIXTURE_DATA(slow) * self, struct ddio_ring *ring)
{
	struct ddio_submit s;
	unsigned char in_core;

	if (!mincore(ring, 4096, &in_core) || errno != ENOMEM)
		return 1;
	if (submit(self, DDIO_SUBMIT_EVENTS, 0, &s))
		return 2;
	if (kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL))
		return 3;
	/* The buffer is the parent's memory, not what the child has at that address. */
	return self->memory[0] == 1 ? 0 : 4;
}

/* A child has no part in the ring, and uses the context as its parent does. */
KT_TEST(slow, ring_and_a_child)
{
	struct ddio_event event[BLOCKS + 1];
	struct ddio_ring *ring;
	size_t length, i;
	pid_t child;
	int status;

	ASSERT_EQ(true, fill_slow(0x5a));
	memset(self->memory, 1, BLOCKS * 4096);
	ASSERT_EQ(0, kt_ring_setup(self->ctx, 64, 0, &ring, &length));
	child = fork();
	if (!child)
		_exit(child_with_a_ring(self, ring));
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	for (i = 0; i < BLOCKS * 4096; i++) {
		ASSERT_EQ(0x5a, self->memory[i]);
	}
	/* The events of what the child submitted are the parent's to read. */
	EXPECT_EQ(BLOCKS + 1, events(self->ctx, ring, event, BLOCKS + 1));
}

/* The ring's mapping keeps the context: what runs goes on, and ends with it. */
KT_TEST(slow, ring_keeps_the_context)
{
	struct kt_usage before, after;
	struct ddio_submit s, t;
	struct ddio_ring *ring;
	size_t length;
	int i;

	if (!dead)
		SKIP(return, "no hp97560 disk");
	ASSERT_EQ(0, kt_ring_setup(self->ctx, 128, 0, &ring, &length));
	kt_usage(&before);
	ASSERT_EQ(0, submit(self, DDIO_SUBMIT_EVENTS, 0, &s));
	ASSERT_EQ(0, use_dead(self));
	ASSERT_EQ(0, submit(self, DDIO_SUBMIT_EVENTS, 0, &t));
	close(self->ctx);
	for (i = 0; i < 6000 && __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) != BLOCKS + 1; i++)
		usleep(10000);
	EXPECT_EQ(BLOCKS + 1, ring->tail);
	kt_usage(&after);
	EXPECT_EQ(before.contexts, after.contexts);
	ASSERT_EQ(0, munmap(ring, length));
	kt_usage(&after);
	EXPECT_EQ(before.contexts - 1, after.contexts);
	ASSERT_EQ(0, kt_write("0", STALL, dead->name));
	before.contexts--;
	before.users--;
	before.live -= BLOCKS;
	EXPECT_EQ(true, kt_usage_settled(&before, 30));
	self->ctx = kt_open();
}
