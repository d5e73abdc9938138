// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file system by its public functions, with threads of the program's own, several progress threads,
 * sockets and the clock.  The I/O processors are in this process too, so that the thread sanitizer
 * sees both sides.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cp/fs_wait.h"
#include "tests/unit/fs_real.h"
#include "tests/unit/ut.h"

enum { THREADS = 4, ROUNDS = 30, BLOCK = 4096, LEN = 5 * BLOCK };

struct worker {
	pthread_t thread;
	struct ddio_fs *fs;
	struct ddio_fs_file *shared;
	uint32_t me, errors;
};

/* CUnit is for one thread. */
#define SEE(wk, ok)                                                                          \
	do {                                                                                 \
		if (!(ok)) {                                                                 \
			fprintf(stderr, "%s:%d thread %u: not so: %s\n", __FILE__, __LINE__, \
				(wk)->me, #ok);                                              \
			(wk)->errors++;                                                      \
		}                                                                            \
	} while (0)

static void worker_round(struct worker *wk, struct fsc_result *r, uint32_t round, uint8_t *buf)
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
	/* All threads in one file, each in its own part. */
	SEE(wk, !FSC_WAIT(r, ddio_fs_write, wk->shared, buf, LEN, (uint64_t)wk->me * LEN));
	SEE(wk, !FSC_WAIT(r, ddio_fs_unlink, wk->fs, DDIO_FS_ROOT, name));
	SEE(wk, !FSC_WAIT(r, ddio_fs_file_close, file));
}

static void *worker_main(void *arg)
{
	struct worker *wk = arg;
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
	struct worker wk[THREADS];
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
		wk[i] = (struct worker){ .fs = fs, .shared = shared, .me = i };
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
	{ "ends amid", ends_amid },
	{ "refused", refused },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs real", cases } };

	return ut_run("fs_real", suites, 1);
}
