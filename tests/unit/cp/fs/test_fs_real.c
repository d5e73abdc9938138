// SPDX-License-Identifier: GPL-2.0-only
/* tsan: threads meet here */
/*
 * The file system through its public functions, with several threads of the program, several progress
 * threads, sockets and the clock.  The I/O processors are in this process too, so that the thread sanitizer
 * sees both sides.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/unit/cp/fs/fs_wait.h"
#include "tests/unit/cp/fs/fs_real.h"
#include "tests/unit/lib/ut.h"

enum { THREADS = 4, ROUNDS = 30, BLOCK = 4096, LEN = 5 * BLOCK };

struct fs_worker {
	pthread_t thread;
	struct ddio_fs *fs;
	struct ddio_fs_file *shared;
	uint32_t me, errors;
};

/* CUnit supports one thread only. */
#define SEE(wk, ok)                                                                          \
	do {                                                                                 \
		if (!(ok)) {                                                                 \
			fprintf(stderr, "%s:%d thread %u: not so: %s\n", __FILE__, __LINE__, \
				(wk)->me, #ok);                                              \
			(wk)->errors++;                                                      \
		}                                                                            \
	} while (0)

static void worker_round(struct fs_worker *wk, struct fsc_result *r, uint32_t round, uint8_t *buf)
{
	struct ddio_fs_new make = { .mode = S_IFREG | 0600 };
	struct ddio_fs_file *file = NULL;
	uint8_t mark = (uint8_t)(wk->me * 37 + round + 1);
	char name[32];
	uint32_t i;

	snprintf(name, sizeof(name), "f%u.%u", wk->me, round % 3);
	SEE(wk,
	    !FSC_WAIT(r, ddio_fs_file_create, wk->fs, DDIO_FS_ROOT, name, O_RDWR, &make, &file));
	if (!file)
		return;
	memset(buf, mark, LEN);
	SEE(wk, !FSC_WAIT(r, ddio_fs_write, file, buf, LEN, 100));
	memset(buf, 0, LEN);
	SEE(wk, !FSC_WAIT(r, ddio_fs_read, file, buf, LEN, 100));
	SEE(wk, r->value == LEN);
	for (i = 0; i < LEN && buf[i] == mark; i++)
		;
	SEE(wk, i == LEN);
	SEE(wk, !FSC_WAIT(r, ddio_fs_lookup, wk->fs, DDIO_FS_ROOT, name));
	SEE(wk, r->attr.size == 100 + LEN);
	SEE(wk, !FSC_WAIT(r, ddio_fs_getattr, wk->fs, r->attr.ino));
	if (round % 5 == 0)
		SEE(wk, !FSC_WAIT(r, ddio_fs_sync, file));
	/* All threads write one file, each its own part. */
	SEE(wk, !FSC_WAIT(r, ddio_fs_write, wk->shared, buf, LEN, (uint64_t)wk->me * LEN));
	SEE(wk, !FSC_WAIT(r, ddio_fs_unlink, wk->fs, DDIO_FS_ROOT, name));
	SEE(wk, !FSC_WAIT(r, ddio_fs_file_close, file));
}

static void *worker_main(void *arg)
{
	struct fs_worker *wk = arg;
	struct fsc_result r;
	uint8_t *buf = malloc(LEN);
	uint32_t round;

	fsc_wait_init(&r, wk->fs);
	for (round = 0; round < ROUNDS && !wk->errors; round++)
		worker_round(wk, &r, round, buf);
	free(buf);
	return NULL;
}

static void many_threads(bool fake)
{
	static struct real_cluster c;
	struct ddio_fs_opts opts = { .struct_size = sizeof(opts), .threads = 3 };
	struct ddio_fs_new make = { .mode = S_IFREG | 0600 };
	struct fs_worker wk[THREADS];
	struct ddio_fs_file *shared = NULL;
	struct fsc_result r;
	struct ddio_fs *fs = NULL;
	char err[600] = "";
	uint8_t *buf = malloc(LEN);
	uint32_t i, k;

	real_begin(&c, fake, BLOCK, "16M");
	opts.conf = c.conf_path;
	CU_ASSERT_EQUAL_FATAL(ddio_fs_open(&opts, &fs, err, sizeof(err)), 0);
	fsc_wait_init(&r, fs);
	CU_ASSERT_EQUAL_FATAL(FSC_WAIT(&r, ddio_fs_file_create, fs, DDIO_FS_ROOT, "all", O_RDWR,
				       &make, &shared),
			      0);
	for (i = 0; i < THREADS; i++) {
		wk[i] = (struct fs_worker){ .fs = fs, .shared = shared, .me = i };
		CU_ASSERT_EQUAL(pthread_create(&wk[i].thread, NULL, worker_main, &wk[i]), 0);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(wk[i].thread, NULL);
		CU_ASSERT_EQUAL(wk[i].errors, 0);
	}
	for (i = 0; i < THREADS; i++) {
		CU_ASSERT_EQUAL(FSC_WAIT(&r, ddio_fs_read, shared, buf, LEN, (uint64_t)i * LEN), 0);
		CU_ASSERT_EQUAL(r.value, LEN);
		for (k = 0; k < LEN && buf[k] == (uint8_t)(i * 37 + ROUNDS); k++)
			;
		CU_ASSERT_EQUAL(k, LEN);
	}
	CU_ASSERT_EQUAL(FSC_WAIT(&r, ddio_fs_file_close, shared), 0);
	ddio_fs_close(fs);
	if (fake)
		CU_ASSERT_EQUAL(c.names.gone, THREADS * ROUNDS);
	real_end(&c);
	free(buf);
}

/*
 * A descriptor that is served: each byte is a request.
 */
enum { BYTES = 300, LAST = 'z' };

struct served {
	struct ddio_fs *fs;
	int fds[2];
	pthread_t thread;
	sem_t answers;
	atomic_int taken, elsewhere;
};

static void served_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct served *s = arg;

	if (reply->err || !pthread_equal(s->thread, pthread_self()))
		atomic_fetch_add(&s->elsewhere, 1);
	sem_post(&s->answers);
}

static bool served_take(void *arg)
{
	struct served *s = arg;
	uint8_t byte;

	s->thread = pthread_self();
	while (read(s->fds[0], &byte, 1) == 1) {
		if (byte == LAST)
			return false;
		atomic_fetch_add(&s->taken, 1);
		ddio_fs_getattr(s->fs, DDIO_FS_ROOT, served_done, s);
	}
	return true;
}

static void served_ask(struct served *s, int n)
{
	int i;

	for (i = 0; i < n; i++)
		CU_ASSERT_EQUAL(write(s->fds[1], "a", 1), 1);
	for (i = 0; i < n; i++)
		while (sem_wait(&s->answers))
			;
}

static void serves(void)
{
	static struct real_cluster c;
	struct ddio_fs_opts opts = { .struct_size = sizeof(opts), .threads = 2 };
	struct served s = { 0 };
	struct fsc_result r;
	char err[600] = "";

	real_begin(&c, false, BLOCK, "16M");
	opts.conf = c.conf_path;
	CU_ASSERT_EQUAL_FATAL(ddio_fs_open(&opts, &s.fs, err, sizeof(err)), 0);
	CU_ASSERT_EQUAL_FATAL(pipe2(s.fds, O_NONBLOCK | O_CLOEXEC), 0);
	sem_init(&s.answers, 0, 0);
	fsc_wait_init(&r, s.fs);
	CU_ASSERT_EQUAL(ddio_fs_serve(s.fs, -1, served_take, &s), -EBADF);
	CU_ASSERT_EQUAL(ddio_fs_serve(s.fs, s.fds[0], served_take, &s), 0);
	CU_ASSERT_EQUAL(ddio_fs_serve(s.fs, s.fds[0], served_take, &s), -EBUSY);
	served_ask(&s, BYTES);
	ddio_fs_serve_end(s.fs);
	ddio_fs_serve_end(s.fs);
	CU_ASSERT_EQUAL(write(s.fds[1], "a", 1), 1);
	CU_ASSERT_EQUAL(FSC_WAIT(&r, ddio_fs_sync_names, s.fs), 0);
	CU_ASSERT_EQUAL(atomic_load(&s.taken), BYTES);
	/* Again, until fn() returns false; unread bytes stay. */
	CU_ASSERT_EQUAL(ddio_fs_serve(s.fs, s.fds[0], served_take, &s), 0);
	while (sem_wait(&s.answers))
		;
	CU_ASSERT_EQUAL(write(s.fds[1], "za", 2), 2);
	while (ddio_fs_serve(s.fs, s.fds[0], served_take, &s))
		;
	while (sem_wait(&s.answers))
		;
	CU_ASSERT_EQUAL(atomic_load(&s.taken), BYTES + 2);
	CU_ASSERT_EQUAL(atomic_load(&s.elsewhere), 0);
	/* Serving ends with the file system. */
	ddio_fs_close(s.fs);
	CU_ASSERT_EQUAL(close(s.fds[0]), 0);
	CU_ASSERT_EQUAL(close(s.fds[1]), 0);
	sem_destroy(&s.answers);
	real_end(&c);
}

static void threads_and_a_fake(void)
{
	many_threads(true);
}

static void threads_and_names(void)
{
	many_threads(false);
}

/* Requests of several threads are under way when it ends. */
static void ends_amid(void)
{
	const bool fake = false;
	static struct real_cluster c;
	struct ddio_fs_opts opts = { .struct_size = sizeof(opts), .threads = 2 };
	static struct fsc_result r[200];
	struct ddio_fs *fs;
	char err[600] = "";
	uint32_t i, round;

	real_begin(&c, fake, BLOCK, "16M");
	opts.conf = c.conf_path;
	for (round = 0; round < 5; round++) {
		CU_ASSERT_EQUAL_FATAL(ddio_fs_open(&opts, &fs, err, sizeof(err)), 0);
		for (i = 0; i < 200; i++) {
			fsc_wait_init(&r[i], fs);
			fsc_wait_begin(&r[i]);
			ddio_fs_getattr(fs, DDIO_FS_ROOT, fsc_wait_done, &r[i]);
		}
		ddio_fs_close(fs);
		for (i = 0; i < 200; i++) {
			CU_ASSERT_EQUAL(r[i].calls, 1);
			CU_ASSERT(!r[i].err || r[i].err == -ESHUTDOWN);
		}
	}
	real_end(&c);
}

/*
 * A file is closed as soon as the last request on it has ended: inside that request's done(), or by a thread
 * that is woken there and is faster than the library's.
 */
struct closer {
	struct ddio_env *env;
	struct ddio_gate asked, closed;
	pthread_t thread;
	struct ddio_fs_file *file;
	int err;
};

static void closer_closed(void *arg, const struct ddio_fs_reply *reply)
{
	struct closer *c = arg;

	c->err = reply->err;
	ddio_gate_open(c->env, &c->closed);
}

static void *closer_main(void *arg)
{
	struct closer *c = arg;

	ddio_gate_wait(c->env, &c->asked, 0);
	ddio_fs_file_close(c->file, closer_closed, c);
	return NULL;
}

static void closes_inside(void *arg, const struct ddio_fs_reply *reply)
{
	struct closer *c = arg;

	(void)reply;
	ddio_fs_file_close(c->file, closer_closed, c);
}

static void closes_beside(void *arg, const struct ddio_fs_reply *reply)
{
	struct closer *c = arg;

	(void)reply;
	ddio_gate_open(c->env, &c->asked);
	pthread_join(c->thread, NULL);
}

static void last_request(uint32_t kind, struct ddio_fs_file *file, uint8_t *buf, ddio_fs_done done,
			 void *arg)
{
	struct ddio_fs_lock lock = { .type = F_WRLCK, .end = 10, .owner = kind };

	switch (kind) {
	case 0:
		ddio_fs_read(file, buf, LEN, 0, done, arg);
		return;
	case 1:
		ddio_fs_write(file, buf, LEN, 0, done, arg);
		return;
	case 2:
		ddio_fs_flush(file, done, arg);
		return;
	case 3:
		ddio_fs_sync(file, done, arg);
		return;
	case 4:
		ddio_fs_allocate(file, 0, 0, LEN, done, arg);
		return;
	case 5:
		ddio_fs_seek(file, 0, SEEK_DATA, done, arg);
		return;
	case 6:
		ddio_fs_copy(file, 0, file, LEN, LEN, done, arg);
		return;
	case 7:
		ddio_fs_lock_set(file, &lock, false, NULL, done, arg);
		return;
	case 8:
		ddio_fs_lock_test(file, &lock, done, arg);
		return;
	default:
		ddio_fs_unlock_owner(file, 1, done, arg);
	}
}

static void closed_after(struct ddio_fs *fs, uint32_t kind, bool beside, uint8_t *buf)
{
	struct ddio_fs_new make = { .mode = S_IFREG | 0600 };
	struct closer c = { .err = 1 };
	struct fsc_result r;
	char name[32];

	fsc_wait_init(&r, fs);
	c.env = r.env;
	ddio_gate_init(&c.asked);
	ddio_gate_init(&c.closed);
	snprintf(name, sizeof(name), "k%u.%d", kind, beside);
	CU_ASSERT_EQUAL(FSC_WAIT(&r, ddio_fs_file_create, fs, DDIO_FS_ROOT, name, O_RDWR, &make,
				 &c.file),
			0);
	CU_ASSERT_EQUAL(FSC_WAIT(&r, ddio_fs_write, c.file, buf, LEN, 0), 0);
	if (beside)
		CU_ASSERT_EQUAL(pthread_create(&c.thread, NULL, closer_main, &c), 0);
	last_request(kind, c.file, buf, beside ? closes_beside : closes_inside, &c);
	ddio_gate_wait(c.env, &c.closed, 0);
	CU_ASSERT_EQUAL(c.err, 0);
	CU_ASSERT_EQUAL(FSC_WAIT(&r, ddio_fs_unlink, fs, DDIO_FS_ROOT, name), 0);
}

static void closes_as_it_is_answered(void)
{
	static struct real_cluster c;
	struct ddio_fs_opts opts = { .struct_size = sizeof(opts), .threads = 3 };
	uint8_t *buf = calloc(1, LEN);
	struct ddio_fs *fs = NULL;
	char err[600] = "";
	uint32_t kind;

	real_begin(&c, false, BLOCK, "16M");
	opts.conf = c.conf_path;
	CU_ASSERT_EQUAL_FATAL(ddio_fs_open(&opts, &fs, err, sizeof(err)), 0);
	for (kind = 0; kind < 10; kind++) {
		closed_after(fs, kind, false, buf);
		closed_after(fs, kind, true, buf);
	}
	ddio_fs_close(fs);
	real_end(&c);
	free(buf);
}

static void refused(void)
{
	struct ddio_fs_opts opts = { .struct_size = sizeof(opts), .conf = "/nonexistent" };
	struct ddio_fs *fs = NULL;
	char err[600] = "";

	CU_ASSERT(ddio_fs_open(&opts, &fs, err, sizeof(err)) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, "/nonexistent"));
	opts.flags = 0x80;
	CU_ASSERT_EQUAL(ddio_fs_open(&opts, &fs, err, sizeof(err)), -EINVAL);
	opts.flags = 0;
	opts.struct_size--;
	CU_ASSERT_EQUAL(ddio_fs_open(&opts, &fs, err, sizeof(err)), -EINVAL);
	CU_ASSERT_PTR_NULL(fs);
	ddio_fs_close(NULL);
}

static const struct ut_case cases[] = {
	{ "many threads", threads_and_a_fake },
	{ "many threads, all real", threads_and_names },
	{ "serves a descriptor", serves },
	{ "ends amid", ends_amid },
	{ "closes as it is answered", closes_as_it_is_answered },
	{ "refused", refused },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs real", cases } };

	return ut_run("fs_real", suites, 1);
}
