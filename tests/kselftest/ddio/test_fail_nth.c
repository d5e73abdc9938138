// SPDX-License-Identifier: GPL-2.0-only
/*
 * Along a path of each ioctl that succeeds, every allocation and every copy fails once:
 * the call then fails, or does without; nothing is left behind, and the next one
 * succeeds.  Needs a kernel with fault injection (CONFIG_FAULT_INJECTION, FAILSLAB,
 * FAIL_PAGE_ALLOC, FAULT_INJECTION_USERCOPY), best with KASAN and lockdep.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/types.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/world.h"

#define POINTS_MAX 2000
#define BLOCKS 24
#define DEBUGFS "/sys/kernel/debug/"

static struct kt_dev *disk, *other;

/* Sets up each of the kernel's injections to be quiet and to spare nothing. */
static int injections_begin(void)
{
	DIR *dir = opendir(DEBUGFS);
	struct dirent *entry;
	int n = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, "fail", 4))
			continue;
		kt_write("0", DEBUGFS "%s/verbose", entry->d_name);
		kt_write("N", DEBUGFS "%s/ignore-gfp-wait", entry->d_name);
		kt_write("N", DEBUGFS "%s/ignore-gfp-highmem", entry->d_name);
		kt_write("0", DEBUGFS "%s/min-order", entry->d_name);
		n++;
	}
	closedir(dir);
	return n;
}

static void kt_prepare(void)
{
	if (access("/proc/self/fail-nth", W_OK) || !injections_begin())
		kt_skip_all("this kernel cannot inject failures");
	disk = kt_dev_null(&(struct kt_null){ .megabytes = 64 });
	other = kt_dev_null(&(struct kt_null){ .megabytes = 16, .block_size = 4096 });
	if (!disk || !other)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
	kt_world_prepare(disk);
}

FIXTURE(nth)
{
	struct kt_usage before;
	int fail;
	unsigned int injected;
	unsigned int failed;
};

FIXTURE_SETUP(nth)
{
	kt_usage(&self->before);
	self->fail = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fail);
}

FIXTURE_TEARDOWN(nth)
{
	close(self->fail);
	EXPECT_EQ(true, kt_usage_settled(&self->before, 30));
}

/**
 * struct point - where something fails
 * @fail: the descriptor that says so
 * @n: at the n-th that may; 0: nowhere
 * @passed: how many were passed if none of them was the n-th; or NULL
 */
struct point {
	int fail;
	unsigned int n;
	unsigned int *passed;
};

/* What is between the two may fail. */

static void point_begin(const struct point *point)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", point->n);

	if (point->n && pwrite(point->fail, text, length, 0) != length)
		abort();
}

/* Returns true if something failed.  Reading and writing the number can fail themselves, if nothing did before. */
static bool point_end(const struct point *point)
{
	char text[16] = "";
	bool injected;
	ssize_t n;

	if (!point->n)
		return false;
	n = pread(point->fail, text, sizeof(text) - 1, 0);
	injected = n > 0 && atoi(text) == 0;
	if (point->passed && n > 0)
		*point->passed += point->n - (unsigned int)atoi(text);
	while (pwrite(point->fail, "0", 1, 0) != 1)
		;
	return injected;
}

typedef int (*path_fn)(struct kt_world *w, const struct point *point, bool *injected);

static bool expected(int err)
{
	return err == -ENOMEM || err == -EFAULT || err == -EMFILE || err == -ENFILE ||
	       err == -EIO || err == -EAGAIN || err == -ENOBUFS;
}

/**
 * struct worlds - the world that a path is tried in
 * @now: it
 * @there: it has been made
 * @again: a path may be tried in one that it was tried in before
 */
struct worlds {
	struct kt_world now;
	bool there;
	bool again;
};

static void worlds_end(struct worlds *worlds)
{
	if (worlds->there)
		kt_world_fini(&worlds->now);
	worlds->there = false;
}

static int worlds_begin(struct worlds *worlds)
{
	if (worlds->there)
		return 0;
	worlds->there = true;
	return kt_world_init(&worlds->now, disk, other) ? -EPROTO : 0;
}

/* What a path leaves in the ring must not be in the way of the next one; room that a failure keeps must. */
static void events_read(struct kt_world *w)
{
	__u32 tail = __atomic_load_n(&w->ring->tail, __ATOMIC_ACQUIRE);

	__atomic_store_n(&w->ring->head, tail, __ATOMIC_RELEASE);
}

static int once(FIXTURE_DATA(nth) * self, struct worlds *worlds, path_fn path, unsigned int n,
		bool *injected)
{
	struct point point = { .fail = self->fail, .n = n };
	int err = worlds_begin(worlds);

	*injected = false;
	if (err)
		return err;
	err = path(&worlds->now, &point, injected);
	/* The same once more, in the same world, must do. */
	if (n && err && path(&worlds->now, &(struct point){ .fail = self->fail }, &(bool){ false }))
		err = -EPROTO;
	if (worlds->again)
		events_read(&worlds->now);
	else
		worlds_end(worlds);
	return err;
}

/* Returns how much could fail along the path, in a world that is there or a new one; 0 if it does not succeed. */
static unsigned int points(FIXTURE_DATA(nth) * self, struct worlds *worlds, path_fn path)
{
	unsigned int passed = 0;
	struct point point = { .fail = self->fail, .n = POINTS_MAX, .passed = &passed };
	bool injected = false;

	if (worlds_begin(worlds) || path(&worlds->now, &point, &injected) || injected)
		return 0;
	events_read(&worlds->now);
	return passed;
}

/*
 * To make a world takes longer than anything else here.  One serves for all failures of a path that succeeds in it a
 * second time, on a way that is as long as the first.
 */
static void worlds_choose(FIXTURE_DATA(nth) * self, struct worlds *worlds, path_fn path)
{
	unsigned int first = points(self, worlds, path);

	worlds->again = first && points(self, worlds, path) >= first;
	worlds_end(worlds);
}

static void sweep(struct __test_metadata *_metadata, FIXTURE_DATA(nth) * self, path_fn path)
{
	struct worlds worlds = { .there = false };
	unsigned int n = 0;
	bool injected;
	int err;

	worlds_choose(self, &worlds, path);
	do {
		err = once(self, &worlds, path, n, &injected);
		ASSERT_TRUE(!err || (injected && expected(err)))
		{
			TH_LOG("failure %u: %s", n, strerror(-err));
		}
		self->failed += !!err;
		self->injected += injected;
		ASSERT_GT(POINTS_MAX, ++n);
	} while (n == 1 || injected);
	worlds_end(&worlds);
	printf("# %u failures injected, %u calls failed by them, in %s\n", self->injected,
	       self->failed, worlds.again ? "one world" : "a world each");
}

/* @least: failures that there have to be, or the test tests nothing */
#define PATH_LEAST(name, least)                                                                \
	static int path_##name(struct kt_world *w, const struct point *point, bool *injected); \
	KT_TEST(nth, name)                                                                     \
	{                                                                                      \
		sweep(_metadata, self, path_##name);                                           \
		EXPECT_LE((unsigned int)(least), self->injected);                              \
	}                                                                                      \
	static int path_##name(struct kt_world *w __attribute__((unused)),                     \
			       const struct point *point, bool *injected)

#define PATH(name) PATH_LEAST(name, 1)

/* The statement, which sets err, with failures. */
#define INJECT(statement)                      \
	do {                                   \
		point_begin(point);            \
		statement;                     \
		*injected |= point_end(point); \
	} while (0)

PATH(open)
{
	int fd;

	INJECT(fd = kt_open());
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

PATH(info)
{
	struct ddio_info arg = { .size = sizeof(arg) };
	int err;

	INJECT(err = kt_call(w->ctx, DDIO_INFO, &arg));
	return err;
}

PATH(disk_add)
{
	int fd = open(disk->path, O_RDWR), ctx = kt_open(), err;
	__u32 id;

	INJECT(err = kt_disk_add(ctx, fd, &id));
	close(ctx);
	close(fd);
	return err;
}

PATH(buffer_add)
{
	__u32 id;
	int err;

	INJECT(err = kt_buffer_add(w->ctx, w->memory + 100, KT_WORLD_BUFFER - 200, 0, &id));
	return err ? err : kt_destroy(w->ctx, id);
}

/* Maps memory that was not touched before: its pages are made while it is pinned. */
PATH(buffer_add_fresh)
{
	void *p = kt_memory(65536);
	__u32 id;
	int err;

	INJECT(err = kt_buffer_add(w->ctx, p, 65536, DDIO_BUFFER_READONLY, &id));
	if (!err)
		err = kt_destroy(w->ctx, id);
	munmap(p, 65536);
	return err;
}

PATH(buffer_add_huge)
{
	void *p;
	__u32 id;
	int err;

	kt_write("2", "/proc/sys/vm/nr_hugepages");
	p = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
		 -1, 0);
	if (p == MAP_FAILED)
		p = kt_memory(2 << 20);
	INJECT(err = kt_buffer_add(w->ctx, p, 2 << 20, 0, &id));
	if (!err)
		err = kt_destroy(w->ctx, id);
	munmap(p, 2 << 20);
	return err;
}

PATH(ring_setup)
{
	struct ddio_ring *ring;
	int ctx = kt_open(), err;
	size_t length;

	INJECT(err = kt_ring_setup(ctx, 1024, 100, &ring, &length));
	if (!err)
		munmap(ring, length);
	close(ctx);
	return err;
}

PATH(destroy)
{
	__u32 id;
	int err = kt_buffer_add(w->ctx, w->memory, 65536, 0, &id);

	if (err)
		return -EPROTO;
	INJECT(err = kt_destroy(w->ctx, id));
	return err;
}

/* Lists blocks of two disks in no order, some of them neighbours, with gaps and statuses. */
static void fill(const struct kt_world *w, struct ddio_block *block)
{
	int i;

	for (i = 0; i < BLOCKS; i++)
		block[i] = (struct ddio_block){ .offset = (i * 7 % BLOCKS) * 8192,
						.where = i * 8192,
						.length = i % 3 ? 8192 : 4096,
						.disk = i % 2 ? w->disk : w->disk_4k,
						.buffer = w->buffer };
}

static int submit(struct kt_world *w, struct ddio_submit *s, const struct point *point,
		  bool *injected)
{
	__s32 status[BLOCKS];
	int err;

	s->status = s->nr_blocks <= BLOCKS ? kt_ptr(status) : 0;
	INJECT(err = kt_submit(w->ctx, s));
	if (err)
		return err;
	if (s->out_state == DDIO_ENDED)
		return s->out_error;
	err = kt_wait(w->ctx, s->out_collective, DDIO_FOREVER, NULL);
	/* Its end could not be told, and it is forgotten. */
	return err == -ENOENT && s->flags & DDIO_SUBMIT_FORGET ? 0 : err;
}

static int place(struct kt_world *w, __u32 op, __u32 flags, const struct point *point,
		 bool *injected)
{
	struct ddio_block block[BLOCKS];
	struct ddio_submit s;

	fill(w, block);
	kt_submit_init(&s, op, DDIO_PLACE, block, BLOCKS);
	s.flags = flags;
	return submit(w, &s, point, injected);
}

PATH(submit_read)
{
	return place(w, DDIO_READ, DDIO_SUBMIT_WAIT, point, injected);
}

PATH(submit_write)
{
	return place(w, DDIO_WRITE, DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FUA | DDIO_SUBMIT_FLUSH, point,
		     injected);
}

PATH(submit_ordered)
{
	return place(w, DDIO_WRITE, DDIO_SUBMIT_WAIT | DDIO_SUBMIT_ORDERED, point, injected);
}

PATH(submit_and_leave)
{
	return place(w, DDIO_READ, 0, point, injected);
}

PATH(submit_events)
{
	/* The events stay unread until the call has been made again, and the ring has room for two such lists. */
	return place(w, DDIO_READ, DDIO_SUBMIT_WAIT | DDIO_SUBMIT_EVENTS | DDIO_SUBMIT_FORGET,
		     point, injected);
}

PATH(submit_long)
{
	struct ddio_block *block = calloc(5000, sizeof(*block));
	struct ddio_submit s;
	int i, err;

	for (i = 0; i < 5000; i++)
		block[i] = (struct ddio_block){ .offset = (i * 3 % 5000) * 512,
						.length = 512,
						.disk = w->disk,
						.buffer = w->buffer,
						.where = i * 512 % KT_WORLD_BUFFER };
	kt_submit_init(&s, DDIO_READ, DDIO_PLACE, block, 5000);
	s.flags = DDIO_SUBMIT_WAIT;
	err = submit(w, &s, point, injected);
	free(block);
	return err;
}

PATH(flush)
{
	struct ddio_block block = { .disk = w->disk };
	struct ddio_submit s;

	kt_submit_init(&s, DDIO_FLUSH, DDIO_PLACE, &block, 1);
	s.flags = DDIO_SUBMIT_WAIT;
	return submit(w, &s, point, injected);
}

/* The first list for a disk hires its thread. */
PATH(hire)
{
	struct ddio_block block = { 0 };
	int ctx = kt_open(), err;
	struct ddio_submit s;

	err = kt_disk_open(ctx, disk->path, O_RDWR, &block.disk);
	if (!err) {
		kt_submit_init(&s, DDIO_FLUSH, DDIO_PLACE, &block, 1);
		s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
		s.deadline = DDIO_FOREVER;
		INJECT(err = kt_submit(ctx, &s));
	}
	close(ctx);
	return err;
}

PATH(stream)
{
	__u32 coll, slot;
	int err;

	INJECT(err = kt_stream_begin(w->ctx, w->disk, w->buffer, &coll, &slot));
	if (err)
		return err;
	kt_cancel(w->ctx, coll);
	err = kt_wait(w->ctx, coll, DDIO_FOREVER, NULL);
	return err == -ECANCELED ? kt_destroy(w->ctx, coll) : err;
}

static int scatter(struct kt_world *w, __u32 op, const struct point *point, bool *injected)
{
	struct ddio_block block[4];
	struct ddio_run run[4];
	struct ddio_submit s;
	int i;

	for (i = 0; i < 4; i++) {
		block[i] = (struct ddio_block){ .offset = i * 16384,
						.where = i,
						.length = 16384,
						.disk = w->disk,
						.buffer = 1 };
		run[i] = (struct ddio_run){
			.memory = i * 8192, .length = 64, .levels = 1, .level[0] = { 100, 128, 72 }
		};
	}
	kt_submit_init(&s, op, DDIO_SCATTER, block, 4);
	s.runs = kt_ptr(run);
	s.nr_runs = 4;
	s.joint_fd = w->joint;
	/* What the blocks' sums are is not known: reading goes without. */
	s.flags = DDIO_SUBMIT_WAIT | (op == DDIO_WRITE ? DDIO_SUBMIT_SUMS : 0);
	return submit(w, &s, point, injected);
}

PATH(scatter)
{
	return scatter(w, DDIO_READ, point, injected);
}

PATH(gather)
{
	return scatter(w, DDIO_WRITE, point, injected);
}

PATH(wait)
{
	struct ddio_wait wait;
	__s32 status;
	int err;

	INJECT(err = kt_wait_status(w->ctx, w->ended, &status, 1, &wait));
	return err;
}

PATH(cancel)
{
	int err;

	INJECT(err = kt_cancel(w->ctx, w->stream));
	return err;
}

PATH(kick)
{
	struct ddio_kick arg = { sizeof(arg), 0, w->stream, w->slot };
	int err;

	INJECT(err = kt_call(w->ctx, DDIO_KICK, &arg));
	return err;
}

PATH(joint_create)
{
	int fd;

	INJECT(fd = kt_joint_create(w->ctx, 5000));
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

PATH(joint_join)
{
	int fd;

	INJECT(fd = kt_joint_join(w->joint, 2, w->memory, 65536, 0));
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

PATH(joint_wait)
{
	struct ddio_joint_wait arg = { .size = sizeof(arg), .deadline = DDIO_FOREVER };
	bool none = false;
	int err;

	if (scatter(w, DDIO_READ, &(struct point){ 0 }, &none))
		return -EPROTO;
	INJECT(err = kt_call(w->member[0], DDIO_JOINT_WAIT, &arg));
	return err;
}

PATH(poll)
{
	struct pollfd p[2] = { { .fd = w->ctx, .events = POLLIN },
			       { .fd = w->member[0], .events = POLLIN } };
	int err;

	INJECT(err = poll(p, 2, 0) < 0 ? -errno : 0);
	return err;
}

/* Nothing is allocated there, and that must stay so. */
PATH_LEAST(close, 0)
{
	int fd = kt_open();
	__u32 id;

	if (kt_buffer_add(fd, w->memory, 65536, 0, &id))
		return -EPROTO;
	INJECT(close(fd));
	return 0;
}

/*
 * Allocations of all tasks fail now and then, those of the module's own threads among them: a
 * transfer may fail, but not silently.
 */
KT_TEST(nth, at_random)
{
	struct point none = { 0 };
	unsigned int ok = 0, i, well = 0;
	struct kt_world w;
	bool unused;

	if (access(DEBUGFS "failslab/probability", W_OK))
		SKIP(return, "no failslab here");
	ASSERT_EQ(0, kt_world_init(&w, disk, other));
	kt_write("N", DEBUGFS "failslab/task-filter");
	kt_write("-1", DEBUGFS "failslab/times");
	kt_write("5", DEBUGFS "failslab/probability");
	for (i = 0; i < 100; i++) {
		ok += !place(&w, i % 2 ? DDIO_READ : DDIO_WRITE, i % 3 ? 0 : DDIO_SUBMIT_WAIT,
			     &none, &unused);
		ok += !scatter(&w, DDIO_READ, &none, &unused);
	}
	while (kt_write("0", DEBUGFS "failslab/probability"))
		; /* fails as well */
	for (i = 0; i < 10; i++)
		well += !place(&w, DDIO_READ, DDIO_SUBMIT_WAIT, &none, &unused);
	kt_world_fini(&w);
	printf("# %u of 200 went well\n", ok);
	EXPECT_EQ(10, well);
}
