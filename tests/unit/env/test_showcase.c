// SPDX-License-Identifier: GPL-2.0-only
/* tsan */
/* Blocks that one process shows to others of its machine. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "env/local/showcase_priv.h"
#include "env/real/real.h"
#include "tests/unit/lib/ut.h"

enum { BLOCK = 4096, ROOM = 64 * BLOCK, CHANGES = 20000 };

static struct ddio_env *env;

static struct ddio_show_key key_of(uint64_t block)
{
	return (struct ddio_show_key){ 7, 8, block, BLOCK, 1 };
}

static struct ddio_viewer *viewer_of(const struct ddio_showcase *s)
{
	struct ddio_viewer *v = NULL;
	struct ddio_mailbox box;

	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(env, &box), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_showcase_send(env, s, box.name, box.token), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_viewer_new(&box, &v), 0);
	ddio_mailbox_close(&box);
	return v;
}

/* Returns the byte that all of the block has, -1: it is not shown, -2: its bytes differ. */
static int look(const struct ddio_viewer *v, uint64_t block)
{
	struct ddio_show_key key = key_of(block);
	uint8_t buf[BLOCK];
	int i;

	if (!viewer_read(v, &key, 0, buf, BLOCK))
		return -1;
	for (i = 1; i < BLOCK; i++)
		if (buf[i] != buf[0])
			return -2;
	return buf[0];
}

static uint64_t show(struct ddio_showcase *s, uint64_t block, void *buf, int byte)
{
	struct ddio_show_key key = key_of(block);

	memset(buf, byte, BLOCK);
	return ddio_showcase_show(s, &key, buf);
}

static void test_shown(void)
{
	struct ddio_show_key key = key_of(1), other;
	struct ddio_showcase *s;
	struct ddio_viewer *v;
	uint8_t buf[BLOCK], *mem;
	uint64_t shown;

	CU_ASSERT_EQUAL_FATAL(ddio_showcase_new(env, ROOM, &s), 0);
	v = viewer_of(s);
	mem = ddio_showcase_get(s, BLOCK);
	CU_ASSERT_EQUAL(look(v, 1), -1);
	shown = show(s, 1, mem, 5);
	CU_ASSERT_EQUAL(look(v, 1), 5);
	CU_ASSERT_EQUAL(look(v, 2), -1);
	CU_ASSERT(viewer_read(v, &key, BLOCK - 1, buf, 1) && buf[0] == 5);
	CU_ASSERT_FALSE(viewer_read(v, &key, BLOCK - 1, buf, 2));
	CU_ASSERT_FALSE(viewer_read(v, &key, UINT32_MAX, buf, 2));
	other = key, other.id++;
	CU_ASSERT_FALSE(viewer_read(v, &other, 0, buf, 1));
	other = key, other.seed++;
	CU_ASSERT_FALSE(viewer_read(v, &other, 0, buf, 1));
	other = key, other.layout++;
	CU_ASSERT_FALSE(viewer_read(v, &other, 0, buf, 1));
	other = key, other.size /= 2;
	CU_ASSERT_FALSE(viewer_read(v, &other, 0, buf, 1));
	CU_ASSERT(ddio_showcase_shown(s, shown));
	ddio_showcase_hide(s, shown);
	CU_ASSERT_FALSE(ddio_showcase_shown(s, shown));
	CU_ASSERT_EQUAL(look(v, 1), -1);
	/* What is over does not hide what came after it. */
	show(s, 1, mem, 6);
	ddio_showcase_hide(s, shown);
	CU_ASSERT_EQUAL(look(v, 1), 6);
	ddio_showcase_free(s);
	CU_ASSERT_EQUAL(look(v, 1), -1);
	viewer_free(v);
	viewer_free(NULL);
	ddio_showcase_free(NULL);
}

/* More blocks than lines: those that say that they are shown are, as they were shown last. */
static void test_many(void)
{
	enum { MANY = 1000 };
	uint64_t shown[MANY], i, n = 0;
	struct ddio_showcase *s;
	struct ddio_viewer *v;
	uint8_t *mem[64];

	CU_ASSERT_EQUAL_FATAL(ddio_showcase_new(env, ROOM, &s), 0);
	v = viewer_of(s);
	for (i = 0; i < 64; i++) {
		mem[i] = ddio_showcase_get(s, BLOCK);
		CU_ASSERT(mem[i] && ddio_showcase_has(s, mem[i]) && !((uintptr_t)mem[i] % 4096));
	}
	CU_ASSERT_PTR_NULL(ddio_showcase_get(s, 1));
	CU_ASSERT_FALSE(ddio_showcase_has(s, shown));
	CU_ASSERT_FALSE(ddio_showcase_has(s, mem[63] + BLOCK));
	for (i = 0; i < MANY; i++) {
		if (i >= 64)
			ddio_showcase_hide(s, shown[i - 64]);
		shown[i] = show(s, i, mem[i % 64], (int)(i % 251));
	}
	for (i = 0; i < MANY; i++) {
		bool there = ddio_showcase_shown(s, shown[i]);

		CU_ASSERT_EQUAL(look(v, i), there ? (int)(i % 251) : -1);
		n += there;
	}
	/* 64 have their place, and few lost their line. */
	CU_ASSERT(n > 32 && n <= 64);
	ddio_showcase_put(s, mem[3], BLOCK);
	CU_ASSERT_PTR_EQUAL(ddio_showcase_get(s, BLOCK), mem[3]);
	ddio_showcase_free(s);
	viewer_free(v);
}

struct showing {
	struct ddio_showcase *s;
	uint8_t *mem;
	_Atomic uint32_t last;
};

/* Two blocks take turns in one place; what is shown of each grows. */
static void *change(void *arg)
{
	struct showing *c = arg;
	uint64_t shown = 0;
	uint32_t i;

	for (i = 0; i < CHANGES; i++) {
		ddio_showcase_hide(c->s, shown);
		shown = show(c->s, i & 1, c->mem, (int)(i & 127) * 2 + (int)(i & 1));
		atomic_store(&c->last, i + 1);
		if (!(i % 16))
			usleep(1);
	}
	return NULL;
}

/* A reader never gets a block half changed, nor the bytes of the other one. */
static void test_changing(void)
{
	struct showing c = { .last = 0 };
	struct ddio_viewer *v;
	uint32_t wrong = 0, seen = 0;
	pthread_t thread;
	int i, got;

	CU_ASSERT_EQUAL_FATAL(ddio_showcase_new(env, ROOM, &c.s), 0);
	v = viewer_of(c.s);
	c.mem = ddio_showcase_get(c.s, BLOCK);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, change, &c), 0);
	while (atomic_load(&c.last) < CHANGES)
		for (i = 0; i < 2; i++) {
			got = look(v, (uint64_t)i);
			seen += got >= 0;
			wrong += got == -2 || (got >= 0 && (got & 1) != i);
		}
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(look(v, (CHANGES - 1) & 1),
			(int)((CHANGES - 1) & 127) * 2 + (int)((CHANGES - 1) & 1));
	printf("# %u reads succeeded\n", seen);
	ddio_showcase_free(c.s);
	viewer_free(v);
}

/* A process that shows a block to the mailbox, and waits. */
static pid_t maker_start(const struct ddio_mailbox *box)
{
	struct ddio_showcase *s;
	int ready[2];
	char byte;
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (ddio_showcase_new(env, ROOM, &s))
			_exit(1);
		show(s, 1, ddio_showcase_get(s, BLOCK), 9);
		if (ddio_showcase_send(env, s, box->name, box->token) || write(ready[1], "", 1) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	CU_ASSERT_EQUAL_FATAL(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* One that has died shows nothing, one that is stopped changes nothing. */
static void test_killed(void)
{
	struct ddio_viewer *v;
	struct ddio_mailbox box;
	pid_t pid;
	int status;

	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(env, &box), 0);
	pid = maker_start(&box);
	CU_ASSERT_EQUAL_FATAL(ddio_viewer_new(&box, &v), 0);
	ddio_mailbox_close(&box);
	CU_ASSERT_EQUAL(look(v, 1), 9);
	kill(pid, SIGSTOP);
	CU_ASSERT_EQUAL(waitpid(pid, &status, WUNTRACED), pid);
	CU_ASSERT_EQUAL(look(v, 1), 9);
	kill(pid, SIGKILL);
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(look(v, 1), -1);
	viewer_free(v);
}

static void *maker(void *arg)
{
	struct showing *c = arg;

	if (ddio_showcase_new(env, ROOM, &c->s))
		return NULL;
	c->mem = ddio_showcase_get(c->s, BLOCK);
	show(c->s, 1, c->mem, 4);
	atomic_store(&c->last, 1);
	while (atomic_load(&c->last) == 1)
		usleep(100);
	return NULL;
}

/* A thread that has ended shows nothing, and what it has shown can be freed all the same. */
static void test_thread_ended(void)
{
	struct showing c = { .last = 0 };
	struct ddio_viewer *v;
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, maker, &c), 0);
	while (!atomic_load(&c.last))
		usleep(100);
	v = viewer_of(c.s);
	CU_ASSERT_EQUAL(look(v, 1), 4);
	atomic_store(&c.last, 2);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(look(v, 1), -1);
	ddio_showcase_free(c.s);
	CU_ASSERT_EQUAL(look(v, 1), -1);
	viewer_free(v);
}

/* Sends memory as a showcase.  Returns what its viewer says. */
static int taken(const struct ddio_shared *shared, struct ddio_viewer **v)
{
	struct ddio_mailbox box;
	int err;

	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(env, &box), 0);
	CU_ASSERT_EQUAL(ddio_shared_send(env, shared, box.name, box.token), 0);
	err = ddio_viewer_new(&box, v);
	ddio_mailbox_close(&box);
	return err;
}

/* A maker that lies about places has nothing read from beyond its memory. */
static void test_not_believed(void)
{
	struct ddio_show_key key = key_of(1);
	struct ddio_shared *shared;
	struct show_head *head;
	struct show_line *line;
	struct ddio_viewer *v;
	uint64_t i;

	CU_ASSERT_EQUAL_FATAL(ddio_shared_new(env, 64, false, &shared), 0);
	CU_ASSERT_EQUAL(taken(shared, &v), -EPROTO);
	ddio_shared_free(shared);
	CU_ASSERT_EQUAL_FATAL(ddio_shared_new(env, (size_t)4 * BLOCK, false, &shared), 0);
	CU_ASSERT_EQUAL(taken(shared, &v), -EPROTO);
	head = ddio_shared_mem(shared);
	head->magic = SHOW_MAGIC;
	CU_ASSERT_EQUAL(taken(shared, &v), -EPROTO);
	head->lines = 3;
	CU_ASSERT_EQUAL(taken(shared, &v), -EPROTO);
	head->lines = 1 << 20;
	CU_ASSERT_EQUAL(taken(shared, &v), -EPROTO);
	head->lines = 64;
	CU_ASSERT_EQUAL_FATAL(taken(shared, &v), 0);
	line = show_lines(head);
	for (i = 0; i < 64; i++) {
		line[i].key = key;
		line[i].at = (uint64_t)3 * BLOCK;
		line[i].turn = 1;
	}
	CU_ASSERT_EQUAL(look(v, 1), 0);
	for (i = 0; i < 64; i++)
		line[i].at++;
	CU_ASSERT_EQUAL(look(v, 1), -1);
	for (i = 0; i < 64; i++)
		line[i].at = UINT64_MAX - 100;
	CU_ASSERT_EQUAL(look(v, 1), -1);
	viewer_free(v);
	ddio_shared_free(shared);
}

static const struct ut_case cases[] = {
	{ "shown and hidden", test_shown },
	{ "more than there are lines for", test_many },
	{ "changed while it is read", test_changing },
	{ "the maker is killed", test_killed },
	{ "its thread ends", test_thread_ended },
	{ "what is not believed", test_not_believed },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "showcase", cases } };
	int ret;

	if (ddio_real_new(NULL, &env))
		return 1;
	ret = ut_run("showcase", suites, 1);
	ddio_real_free(env);
	return ret;
}
