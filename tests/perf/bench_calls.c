// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the calls around a transfer cost, and the first transfer: connect, making a group, opening, the first write of
 * a group, the first write of a further file, writes over it, reading, the barrier, closing and removing.
 *
 *   bench_calls CONF ADDRESS PROCESSES BYTES [LATE_MS]
 *	processes of a group, each of which has an equal share of BYTES; rank 0 begins so much later than the others.
 *	Prints a line "what ms" for each, from when the last process began to when the last one ended.
 *   bench_calls --repeat CONF ADDRESS PROCESSES BYTES write|read|barrier|dds-write|dds-read|open|file|group TIMES
 *	the call so often, one right after the other, and nothing else but what leads to it; "dds-": by that method,
 *	however small it is; "open": opens and closes; "file": opens, which takes away what was there, writes and closes;
 *	"group": makes and frees one.  Prints what one took, and how long each process had a processor for it, in us.
 *   bench_calls --plain FILE PROCESSES BYTES
 *	the same processes write their shares into a fresh plain file, and over it.
 *   bench_calls --touch GB
 *	touches so much memory in huge pages, as disks in memory do, and gives it back.
 */
#include <ddio/ddio.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMES 5
#define PROCS_MAX 1024

/**
 * struct calls_shared - what the processes have in common
 * @arrived, @turn: a barrier that is none of the calls under test
 * @begun, @ended: each process's, of the call being measured, in ns
 */
struct calls_shared {
	_Atomic uint32_t arrived, turn;
	uint64_t begun[PROCS_MAX], ended[PROCS_MAX];
};

struct calls_member {
	struct calls_shared *shared;
	uint32_t rank, procs;
	uint64_t share;
	char *buf;
	struct ddio_session *session;
	struct ddio_group *group;
	struct ddio_file *file;
	struct ddio_part part;
	struct ddio_array array;
	uint32_t method;
	int fd;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void sleep_ms(uint64_t ms)
{
	struct timespec ts = { (time_t)(ms / 1000), (long)(ms % 1000 * 1000000) };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* All processes are here: by looking and sleeping, so that nobody has the processors when the call begins. */
static void meet(const struct calls_member *m)
{
	uint32_t turn = atomic_load(&m->shared->turn);

	if (atomic_fetch_add(&m->shared->arrived, 1) + 1 == m->procs) {
		atomic_store(&m->shared->arrived, 0);
		atomic_fetch_add(&m->shared->turn, 1);
		return;
	}
	while (atomic_load(&m->shared->turn) == turn)
		usleep(50);
}

static uint64_t latest(const uint64_t *at, uint32_t n)
{
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		most = at[i] > most ? at[i] : most;
	return most;
}

static int fail(const struct calls_member *m, const char *what, int err)
{
	fprintf(stderr, "bench_calls: rank %u: %s: %s\n", m->rank, what,
		m->session || m->fd < 0 ? ddio_last_error(m->session) : strerror(-err));
	return 1;
}

/* Runs @call on every process and has rank 0 say how long it took. */
static int measure(struct calls_member *m, const char *what, uint64_t late_ms,
		   int (*call)(struct calls_member *))
{
	struct calls_shared *sh = m->shared;
	int err;

	meet(m);
	if (!m->rank)
		sleep_ms(late_ms);
	sh->begun[m->rank] = now_ns();
	err = call(m);
	sh->ended[m->rank] = now_ns();
	if (err)
		return fail(m, what, err);
	meet(m);
	if (!m->rank)
		printf("%-20s %10.3f\n", what,
		       (double)(latest(sh->ended, m->procs) - latest(sh->begun, m->procs)) / 1e6);
	return 0;
}

/* @again: what is repeated, @times; or NULL */
static const char *conf, *target, *again;
static uint32_t times;

static int call_connect(struct calls_member *m)
{
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts), .conf = conf };

	return ddio_connect(&opts, &m->session);
}

static int call_group(struct calls_member *m)
{
	return ddio_group_create(m->session, m->rank, m->procs, target, &m->group);
}

static int call_open(struct calls_member *m)
{
	return ddio_open_all(m->group, "bench_calls", DDIO_CREATE | DDIO_TRUNCATE, NULL, &m->file);
}

static struct ddio_transfer transfer(struct calls_member *m)
{
	return (struct ddio_transfer){ .struct_size = sizeof(struct ddio_transfer),
				       .part = &m->part,
				       .method = m->method,
				       .buf = m->buf };
}

static int call_write(struct calls_member *m)
{
	struct ddio_transfer t = transfer(m);

	return ddio_write_all(m->file, m->group, &t);
}

static int call_read(struct calls_member *m)
{
	struct ddio_transfer t = transfer(m);

	return ddio_read_all(m->file, m->group, &t);
}

static int call_barrier(struct calls_member *m)
{
	return ddio_group_barrier(m->group);
}

static int call_close(struct calls_member *m)
{
	ddio_close(m->file);
	return 0;
}

static int call_remove(struct calls_member *m)
{
	return m->rank ? 0 : ddio_remove(m->session, "bench_calls");
}

/* What leads to the calls that are repeated stays as it is. */
static int call_opened(struct calls_member *m)
{
	struct ddio_file *before = m->file;
	int err = ddio_open_all(m->group, "bench_calls", 0, NULL, &m->file);

	if (!err)
		err = call_close(m);
	m->file = before;
	return err;
}

static int call_small_file(struct calls_member *m)
{
	struct ddio_file *before = m->file;
	int err = call_open(m);

	if (!err)
		err = call_write(m);
	if (!err)
		err = call_close(m);
	m->file = before;
	return err;
}

static int call_further_group(struct calls_member *m)
{
	struct ddio_group *g = NULL;
	int err = ddio_group_create(m->session, m->rank, m->procs, target, &g);

	ddio_group_free(g);
	return err;
}

struct calls_step {
	const char *what;
	int (*call)(struct calls_member *m);
	uint32_t times;
};

static const struct calls_step further[] = {
	{ "open_all", call_open, 1 },	    { "first write", call_write, 1 },
	{ "write", call_write, TIMES },	    { "read", call_read, TIMES },
	{ "barrier", call_barrier, TIMES }, { "close", call_close, 1 },
	{ "remove", call_remove, 1 },
};

static void describe(struct calls_member *m)
{
	m->array = (struct ddio_array){ .elem_size = 1, .ndims = 1 };
	m->array.dim[0].size = m->share * m->procs;
	m->array.dim[0].dist = DDIO_BLOCK;
	m->array.dim[0].procs = m->procs;
	m->part = (struct ddio_part){ .kind = DDIO_PART_ARRAY, .array = &m->array };
}

static int of_group(struct calls_member *m, uint64_t late_ms)
{
	uint32_t k, i, j;

	if (measure(m, "connect", 0, call_connect) ||
	    measure(m, "group_create", late_ms, call_group) ||
	    measure(m, "open_all (first)", 0, call_open) ||
	    measure(m, "write (first)", 0, call_write) ||
	    measure(m, "close (first)", 0, call_close) ||
	    measure(m, "remove (first)", 0, call_remove))
		return 1;
	for (k = 0; k < TIMES; k++)
		for (i = 0; i < sizeof(further) / sizeof(further[0]); i++)
			for (j = 0; j < further[i].times; j++)
				if (measure(m, further[i].what, 0, further[i].call))
					return 1;
	ddio_disconnect(m->session);
	return 0;
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void repeated(struct calls_member *m, const char *what, uint32_t n, uint64_t ns,
		     uint64_t cpu)
{
	uint32_t i;

	m->shared->ended[m->rank] = cpu;
	meet(m);
	for (i = 1; i < m->procs; i++)
		cpu += m->shared->ended[i];
	if (!m->rank)
		printf("%s %.2f\n%s, CPU %.2f\n", what, (double)ns / 1e3 / n, what,
		       (double)cpu / 1e3 / n / m->procs);
}

static int repeat(struct calls_member *m, const char *what, uint32_t n)
{
	static const struct calls_step steps[] = {
		{ "write", call_write, 0 },	    { "read", call_read, 0 },
		{ "open", call_opened, 0 },	    { "file", call_small_file, 0 },
		{ "group", call_further_group, 0 }, { "barrier", call_barrier, 0 },
	};
	uint32_t k = 0, i;
	uint64_t begun, cpu;
	int err;

	if (!strncmp(what, "dds-", 4)) {
		m->method = DDIO_METHOD_DDS;
		what += 4;
	}
	while (k < sizeof(steps) / sizeof(steps[0]) - 1 && strcmp(what, steps[k].what))
		k++;
	err = call_connect(m);
	if (!err)
		err = call_group(m);
	if (!err)
		err = call_open(m);
	/* So that there is something to read. */
	if (!err)
		err = call_write(m);
	if (!err)
		err = call_barrier(m);
	begun = now_ns();
	cpu = cpu_ns();
	for (i = 0; i < n && !err; i++)
		err = steps[k].call(m);
	if (err)
		return fail(m, what, err);
	repeated(m, what, n, now_ns() - begun, cpu_ns() - cpu);
	ddio_disconnect(m->session);
	return 0;
}

static int call_pwrite(struct calls_member *m)
{
	uint64_t at, n;
	ssize_t put;

	for (at = 0; at < m->share; at += (uint64_t)put) {
		n = m->share - at < 1 << 20 ? m->share - at : 1 << 20;
		put = pwrite(m->fd, m->buf + at, n, (off_t)(m->rank * m->share + at));
		if (put <= 0)
			return put ? -errno : -EIO;
	}
	return 0;
}

static int of_file(struct calls_member *m)
{
	uint32_t k;

	m->fd = open(target, O_CREAT | O_RDWR, 0600);
	if (m->fd < 0)
		return fail(m, target, -errno);
	if (measure(m, "plain (first)", 0, call_pwrite))
		return 1;
	for (k = 0; k < TIMES; k++)
		if (measure(m, "plain write", 0, call_pwrite))
			return 1;
	return close(m->fd) ? 1 : 0;
}

static int member(struct calls_shared *shared, uint32_t rank, uint32_t procs, uint64_t bytes,
		  uint64_t late_ms)
{
	struct calls_member m = {
		.shared = shared, .rank = rank, .procs = procs, .share = bytes / procs
	};

	m.buf = malloc(m.share + 1);
	if (!m.buf)
		return fail(&m, "its share", -ENOMEM);
	memset(m.buf, (int)rank + 1, m.share);
	describe(&m);
	if (again)
		return repeat(&m, again, times);
	return conf ? of_group(&m, late_ms) : of_file(&m);
}

static int touch(uint64_t gb)
{
	size_t len = gb << 30, at;
	char *map = mmap(NULL, len + 1, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED) {
		perror("bench_calls: memory to touch");
		return 1;
	}
	madvise(map, len + 1, MADV_HUGEPAGE);
	for (at = 0; at < len; at += 4096)
		map[at] = 1;
	return 0;
}

int main(int argc, char **argv)
{
	struct calls_shared *shared;
	uint32_t procs, rank;
	uint64_t bytes;
	int status, ret = 0;

	if (argc == 3 && !strcmp(argv[1], "--touch"))
		return touch(strtoull(argv[2], NULL, 0));
	if (argc == 8 && !strcmp(argv[1], "--repeat")) {
		again = argv[6];
		times = (uint32_t)atoi(argv[7]);
		argc = 5;
		argv++;
	}
	procs = argc > 3 ? (uint32_t)atoi(argv[3]) : 0;
	bytes = argc > 4 ? strtoull(argv[4], NULL, 0) : 0;
	if (!procs || procs > PROCS_MAX || bytes < procs || argc > 6) {
		fprintf(stderr, "usage: bench_calls CONF ADDRESS PROCESSES BYTES [LATE_MS]\n"
				"       bench_calls --repeat CONF ADDRESS PROCESSES BYTES "
				"write|read|barrier|dds-write|dds-read|open|file|group TIMES\n"
				"       bench_calls --plain FILE PROCESSES BYTES\n"
				"       bench_calls --touch GB\n");
		return 2;
	}
	conf = strcmp(argv[1], "--plain") ? argv[1] : NULL;
	target = argv[2];
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 1;
	for (rank = 0; rank < procs; rank++)
		if (!fork()) {
			status = member(shared, rank, procs, bytes,
					argc > 5 ? strtoull(argv[5], NULL, 0) : 0);
			fflush(stdout);
			_exit(status);
		}
	/* If one fails the others would wait for it. */
	for (rank = 0; rank < procs; rank++)
		if (wait(&status) < 0 || status) {
			ret = 1;
			signal(SIGTERM, SIG_IGN);
			kill(0, SIGTERM);
		}
	return ret;
}
