// SPDX-License-Identifier: GPL-2.0-only
#include "tests/mpiio/common.h"
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAID_MAX = 400 };

struct mpiio_test tst;

static const char *running, *only, *skipped_why;
static char said[SAID_MAX];
static bool only_list;

static int usage(const char *program)
{
	fprintf(stderr,
		"usage: %s [--ddio] [--threads] [--list] [--only PREFIX] FILE [ARGUMENT...]\n",
		program);
	MPI_Abort(MPI_COMM_WORLD, 2);
	return 2;
}

int tst_begin(int argc, char **argv)
{
	int i, provided, wanted = MPI_THREAD_SINGLE;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--threads"))
			wanted = MPI_THREAD_MULTIPLE;
	MPI_Init_thread(&argc, &argv, wanted, &provided);
	tst.threads = wanted == MPI_THREAD_MULTIPLE && provided == wanted;
	MPI_Comm_rank(MPI_COMM_WORLD, &tst.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &tst.size);
	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--ddio"))
			tst.strict = true;
		else if (!strcmp(argv[i], "--threads"))
			continue;
		else if (!strcmp(argv[i], "--list"))
			only_list = true;
		else if (!strcmp(argv[i], "--only") && i + 1 < argc)
			only = argv[++i];
		else
			usage(argv[0]);
	}
	if (i == argc && !only_list)
		usage(argv[0]);
	tst.path = i < argc ? argv[i] : "";
	return i + 1;
}

int tst_finish(void)
{
	int failed = tst.failed != 0;

	MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (!tst.rank && !only_list)
		printf("%u passed, %u failed, %u skipped\n", tst.passed, tst.failed, tst.skipped);
	fflush(stdout);
	MPI_Finalize();
	return failed;
}

void tst_case(const char *name)
{
	running = name;
	skipped_why = NULL;
	said[0] = 0;
}

/* Prints what a case came to: on rank 0, with the complaint of the rank "from", if there is one. */
static void conclude(int from)
{
	if (from != INT_MAX) {
		tst.failed++;
		printf("not ok - %s: rank %d: %s\n", running, from, said);
	} else if (skipped_why) {
		tst.skipped++;
		printf("skip - %s: %s\n", running, skipped_why);
	} else {
		tst.passed++;
		printf("ok - %s\n", running);
	}
	fflush(stdout);
}

bool tst_case_end(void)
{
	int mine = said[0] ? tst.rank : INT_MAX, from;

	MPI_Allreduce(&mine, &from, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (from != INT_MAX)
		MPI_Bcast(said, SAID_MAX, MPI_CHAR, from, MPI_COMM_WORLD);
	if (!tst.rank)
		conclude(from);
	return from == INT_MAX;
}

void tst_run(const struct mpiio_case *cases, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (only && strncmp(cases[i].name, only, strlen(only)))
			continue;
		if (only_list) {
			if (!tst.rank)
				printf("%s\n", cases[i].name);
			continue;
		}
		tst_case(cases[i].name);
		cases[i].run();
		tst_case_end();
	}
}

void tst_fail(const char *fmt, ...)
{
	va_list ap;

	if (said[0])
		return;
	va_start(ap, fmt);
	vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
}

void tst_skip(const char *why)
{
	skipped_why = why;
}

bool tst_all(bool mine)
{
	int in = mine, out;

	MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	return out;
}

static int class_of(int rc)
{
	int class = MPI_SUCCESS;

	if (rc != MPI_SUCCESS)
		MPI_Error_class(rc, &class);
	return class;
}

bool tst_ok(int rc, const char *call)
{
	char text[MPI_MAX_ERROR_STRING + 1] = "";
	int len = 0;

	if (rc == MPI_SUCCESS)
		return true;
	MPI_Error_string(rc, text, &len);
	tst_fail("%.120s: class %d: %.160s", call, class_of(rc), text);
	return false;
}

bool tst_class(int rc, const char *call, const int *classes, size_t n)
{
	int class = class_of(rc);
	size_t i;

	for (i = 0; i < n; i++) {
		if (rc != MPI_SUCCESS && class == classes[i])
			return true;
	}
	if (rc == MPI_SUCCESS)
		tst_fail("%.160s: succeeded, but class %d is due", call, classes[0]);
	else
		tst_fail("%.160s: class %d, not %d", call, class, classes[0]);
	return false;
}

const char *tst_file(const char *suffix)
{
	static char name[4][1024];
	static unsigned int next;
	char *at = name[next++ % 4];

	snprintf(at, sizeof(name[0]), "%s%s", tst.path, suffix);
	return at;
}

void tst_barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

void tst_remove(const char *name)
{
	if (!tst.rank)
		MPI_File_delete(name, MPI_INFO_NULL);
	tst_barrier();
}

MPI_File tst_open(const char *name, int amode)
{
	MPI_File fh = MPI_FILE_NULL;
	bool opened = tst_ok(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &fh), name);

	return tst_all(opened) ? fh : MPI_FILE_NULL;
}

MPI_File tst_create(const char *suffix)
{
	const char *name = tst_file(suffix);

	tst_remove(name);
	return tst_open(name, MPI_MODE_CREATE | MPI_MODE_RDWR);
}

void tst_close(MPI_File *fh)
{
	OK(MPI_File_close(fh));
	CHECK(*fh == MPI_FILE_NULL, "the handle is not MPI_FILE_NULL after MPI_File_close");
}

void tst_sync(MPI_File fh)
{
	OK(MPI_File_sync(fh));
	tst_barrier();
	OK(MPI_File_sync(fh));
}

void tst_settle(MPI_File fh)
{
	if (!tst.strict)
		tst_sync(fh);
}

void tst_fill(void *buf, size_t n, uint64_t seed, uint64_t at)
{
	unsigned char *p = buf;
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = tst_byte(seed, at + i);
}

void tst_same(const void *buf, size_t n, uint64_t seed, uint64_t at, const char *what)
{
	const unsigned char *p = buf;
	size_t i;

	for (i = 0; i < n; i++) {
		if (p[i] == tst_byte(seed, at + i))
			continue;
		tst_fail("%s: byte %zu of %zu is 0x%02x, not 0x%02x", what, i, n, p[i],
			 tst_byte(seed, at + i));
		return;
	}
}

void tst_bytes(const void *buf, const void *want, size_t n, const char *what)
{
	const unsigned char *p = buf, *w = want;
	size_t i;

	for (i = 0; i < n; i++) {
		if (p[i] == w[i])
			continue;
		tst_fail("%s: byte %zu of %zu is 0x%02x, not 0x%02x", what, i, n, p[i], w[i]);
		return;
	}
}

void tst_zeros(const void *buf, size_t n, const char *what)
{
	const unsigned char *p = buf;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!p[i])
			continue;
		tst_fail("%s: byte %zu of %zu is 0x%02x, not 0", what, i, n, p[i]);
		return;
	}
}

void tst_count(const MPI_Status *status, MPI_Datatype type, int want, const char *what)
{
	int count = -1;

	MPI_Get_count(status, type, &count);
	CHECK(count == want, "%s: count is %d, not %d", what, count, want);
}

/* Reads a whole file of n bytes, or complains. */
static void look_inside(const char *name, const void *want, size_t n)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	char *buf = malloc(n + 2);
	ssize_t have = -1;

	if (fd >= 0 && buf)
		have = pread(fd, buf, n + 1, 0);
	CHECK(have == (ssize_t)n, "%s, seen without MPI, has %zd bytes, not %zu", name, have, n);
	if (have == (ssize_t)n)
		tst_bytes(buf, want, n, "the file, seen without MPI");
	free(buf);
	if (fd >= 0)
		close(fd);
}

void tst_look(const char *name, const void *want, size_t n)
{
	const char *colon = strchr(name, ':'), *slash = strchr(name, '/');

	if (!tst.rank && !(colon && (!slash || colon < slash)))
		look_inside(name, want, n);
	tst_barrier();
}

uint64_t tst_rand(struct mpiio_rand *r, uint64_t below)
{
	uint64_t x = (r->state += 0x9e3779b97f4a7c15u);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return below ? (x ^ x >> 31) % below : 0;
}
