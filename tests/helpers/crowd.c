// SPDX-License-Identifier: GPL-2.0-only
/*
 * A crowd of compute processes that make collective requests, and that a test
 * lets go wrong: one of them asks for something else, is killed or stopped in
 * mid-transfer, or leaves.  Each prints
 *	rank R call N err E ms T text
 * when a call fails, and "rank R ok N" at the end.  Exit: 0 if every process
 * that was not killed ended; what they printed is the test's to judge.
 *
 * -p: the victim may not pin memory, and has no privileges.  -u: it is another user's, once it has connected.  -P: "scattered N of M" behind "ok".
 * -A: each record may come from any call, if only it is all from one.  -e FILE: calls end once the file is there.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <ddio/ddio.h>

struct crowd {
	uint32_t cps, calls, after_ms, victim;
	uint64_t size, offset;
	uint32_t block, method, record, cyclic, timeout_ms;
	int write, sync, poor, foreign, count, any;
	const char *name, *mismatch, *signal, *until;
	int (*pipes)[2];
	int met[2]; /* a byte from the victim once all are there */
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

struct bcast_arg {
	struct crowd *c;
	uint32_t rank;
};

static int bcast(void *arg, void *buf, size_t len, uint32_t root)
{
	struct bcast_arg *b = arg;
	uint32_t i;

	(void)root;
	if (b->rank)
		return read(b->c->pipes[b->rank][0], buf, len) == (ssize_t)len ? 0 : -EPIPE;
	for (i = 1; i < b->c->cps; i++)
		if (write(b->c->pipes[i][1], buf, len) != (ssize_t)len)
			return -EPIPE;
	return 0;
}

/* Returns true when rank 0 has found, for all of them, that the test has seen what it wanted to see. */
static bool enough(struct bcast_arg *b)
{
	uint8_t is = b->c->until && !access(b->c->until, F_OK);

	return b->c->until && (bcast(b, &is, sizeof(is), 0) || is);
}

/* Returns the byte at an offset of the file, by the number of the call that wrote it. */
static uint8_t content(uint64_t off, uint32_t call)
{
	return (uint8_t)(off * 7 + off / 251 + call * 29);
}

static uint64_t element(const struct crowd *c, uint32_t rank, uint64_t i)
{
	return c->cyclic ? i * c->cps + rank : 0;
}

static void fill(const struct crowd *c, uint32_t rank, uint8_t *buf, uint64_t bytes, uint32_t call)
{
	uint64_t i;

	for (i = 0; i < bytes; i++) {
		uint64_t e = element(c, rank, i / c->record) * c->record + i % c->record;

		buf[i] = content(e, call);
	}
}

/* Returns which call wrote the record that begins at @e, as a difference of its bytes. */
static uint8_t shade(const struct crowd *c, const uint8_t *at, uint64_t e)
{
	return c->any ? (uint8_t)(*at - content(e, 0)) : 0;
}

static int wrong(const struct crowd *c, uint32_t rank, const uint8_t *buf, uint64_t bytes,
		 uint32_t call)
{
	uint64_t i;

	for (i = 0; i < bytes; i++) {
		uint64_t r = element(c, rank, i / c->record) * c->record, in = i % c->record;

		if (buf[i] != (uint8_t)(content(r + in, call) + shade(c, &buf[i - in], r)))
			return 1;
	}
	return 0;
}

static void deviate(const struct crowd *c, uint32_t rank, struct ddio_array *a, int *write)
{
	if (!c->mismatch || rank != c->victim)
		return;
	if (!strcmp(c->mismatch, "shape"))
		a->dim[0].size -= c->cps;
	if (!strcmp(c->mismatch, "op"))
		*write = !*write;
}

static int one_call(struct crowd *c, struct ddio_file *f, struct ddio_group *g, uint32_t rank,
		    uint8_t *buf, uint64_t bytes, uint32_t call, struct ddio_report *report)
{
	struct ddio_array a = { .file_offset = c->offset, .elem_size = c->record, .ndims = 1 };
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .n = 1, .array = &a };
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .part = &part,
				   .buf = buf,
				   .method = c->method,
				   .flags = c->sync ? DDIO_XFER_SYNC : 0,
				   .report = report };
	int write = c->write, err;

	a.dim[0].size = c->size / c->record;
	a.dim[0].procs = c->cps;
	a.dim[0].dist = DDIO_CYCLIC;
	deviate(c, rank, &a, &write);
	if (write)
		fill(c, rank, buf, bytes, call);
	else
		memset(buf, 0xee, bytes);
	err = write ? ddio_write_all(f, g, &t) : ddio_read_all(f, g, &t);
	if (!err && !write && wrong(c, rank, buf, bytes, 0)) {
		printf("rank %u call %u WRONG BYTES\n", rank, call);
		return -EILSEQ;
	}
	return err;
}

/* Gives up limit and privileges, so that this process may not pin memory.  Returns 0 or -errno. */
static int become_poor(void)
{
	struct rlimit none = { 0 };

	if (setrlimit(RLIMIT_MEMLOCK, &none) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534))
		return -errno;
	return 0;
}

static int work(struct crowd *c, uint32_t rank)
{
	struct ddio_connect_opts o = { .struct_size = sizeof(o), .timeout_ms = c->timeout_ms };
	struct ddio_striping st = { .struct_size = sizeof(st), .block_size = c->block };
	struct bcast_arg b = { c, rank };
	struct ddio_session *s = NULL;
	struct ddio_group *g;
	struct ddio_file *f;
	uint64_t bytes = c->size / c->cps, t0 = now_ms();
	uint8_t *buf = malloc(bytes ? bytes : 1);
	struct ddio_report report = { .struct_size = sizeof(report) };
	uint64_t scattered = 0;
	char name[80];
	uint32_t i;
	int err = c->poor && rank == c->victim ? become_poor() : 0;

	if (!err)
		err = ddio_connect(&o, &s);
	if (!err && c->foreign && rank == c->victim)
		err = become_poor();

	if (!err)
		err = ddio_group_create_bcast(s, rank, c->cps, bcast, &b, NULL, &g);
	snprintf(name, sizeof(name), "%s%s", c->name,
		 c->mismatch && !strcmp(c->mismatch, "file") && rank == c->victim ? ".other" : "");
	if (!err)
		err = ddio_open(s, name, DDIO_CREATE, &st, &f);
	if (!err)
		err = ddio_group_barrier(g);
	if (err) {
		printf("rank %u setup err %d %s\n", rank, err, ddio_last_error(s));
		return 1;
	}
	if (c->signal && rank == c->victim && write(c->met[1], "", 1) != 1)
		abort();
	if (rank == c->victim && c->mismatch && !strcmp(c->mismatch, "leave"))
		goto out;
	for (i = 0; i < c->calls && !enough(&b); i++) {
		t0 = now_ms();
		err = one_call(c, f, g, rank, buf, bytes, i, &report);
		scattered += report.bytes_scattered;
		if (err) {
			printf("rank %u call %u err %d ms %llu %s\n", rank, i, err,
			       (unsigned long long)(now_ms() - t0), ddio_last_error(s));
			break;
		}
	}
	if (!err && c->count)
		printf("rank %u ok %u scattered %llu of %llu\n", rank, i,
		       (unsigned long long)scattered, (unsigned long long)(i * bytes));
	else if (!err)
		printf("rank %u ok %u\n", rank, i);
out:
	ddio_disconnect(s);
	free(buf);
	return 0;
}

static int signal_number(const char *name)
{
	return !strcmp(name, "kill") ? SIGKILL : !strcmp(name, "stop") ? SIGSTOP : SIGTERM;
}

/* Frees what a child inherited, so that the leak checker sees the library's leaks only. */
static int leave(struct crowd *c, int code)
{
	free(c->pipes);
	return code;
}

/* The time runs from when all have met.  A victim that never did is gone. */
static void strike(struct crowd *c, pid_t victim)
{
	struct timespec ts = { c->after_ms / 1000, (long)(c->after_ms % 1000) * 1000000 };
	char byte;

	close(c->met[1]);
	if (read(c->met[0], &byte, 1) == 1)
		nanosleep(&ts, NULL);
	close(c->met[0]);
	kill(victim, signal_number(c->signal));
}

/* Closes the write end in all processes but the victim. */
static int child(struct crowd *c, uint32_t rank)
{
	if (c->signal) {
		close(c->met[0]);
		if (rank != c->victim)
			close(c->met[1]);
	}
	return work(c, rank);
}

static int run(struct crowd *c)
{
	pid_t *pid = calloc(c->cps, sizeof(*pid));
	uint32_t i;
	int st, bad = 0;

	c->pipes = calloc(c->cps, sizeof(*c->pipes));
	for (i = 0; i < c->cps; i++)
		if (pipe(c->pipes[i]))
			return 2;
	if (c->signal && pipe(c->met))
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < c->cps; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			free(pid);
			exit(leave(c, child(c, i)));
		}
	}
	if (c->signal)
		strike(c, pid[c->victim]);
	for (i = 0; i < c->cps; i++) {
		if (c->signal && i == c->victim)
			continue;
		waitpid(pid[i], &st, 0);
		if (!WIFEXITED(st) || WEXITSTATUS(st))
			bad = 1;
	}
	if (c->signal) {
		kill(pid[c->victim], SIGKILL);
		waitpid(pid[c->victim], &st, 0);
	}
	free(c->pipes);
	free(pid);
	return bad;
}

static uint32_t method_of(const char *name)
{
	static const char *const names[] = { "default", "tc", "2p", "dd", "dds" };
	uint32_t i;

	for (i = 0; i < 5; i++)
		if (!strcmp(name, names[i]))
			return i;
	fprintf(stderr, "no method %s\n", name);
	exit(2);
}

static uint32_t number(void)
{
	return (uint32_t)strtoul(optarg, NULL, 0);
}

static int option(struct crowd *c, int o)
{
	if (o == 'n')
		c->cps = number();
	else if (o == 'c')
		c->calls = number();
	else if (o == 's')
		c->size = strtoull(optarg, NULL, 0);
	else if (o == 'o')
		c->offset = strtoull(optarg, NULL, 0);
	else if (o == 'b')
		c->block = number();
	else if (o == 'r')
		c->record = number();
	else if (o == 'm')
		c->method = method_of(optarg);
	else if (o == 'f')
		c->name = optarg;
	else if (o == 'w')
		c->write = 1;
	else if (o == 'x')
		c->mismatch = optarg;
	else if (o == 'k')
		c->signal = optarg;
	else if (o == 'v')
		c->victim = number();
	else if (o == 'a')
		c->after_ms = number();
	else if (o == 'S')
		c->sync = 1;
	else if (o == 'p')
		c->poor = 1;
	else if (o == 'e')
		c->until = optarg;
	else if (o == 'u')
		c->foreign = 1;
	else if (o == 'P')
		c->count = 1;
	else if (o == 'A')
		c->any = 1;
	else if (o == 't')
		c->timeout_ms = number();
	else
		return -EINVAL;
	return 0;
}

int main(int argc, char **argv)
{
	struct crowd c = { .cps = 4,
			   .calls = 1,
			   .size = 1 << 20,
			   .block = 8192,
			   .record = 8,
			   .cyclic = 1,
			   .method = DDIO_METHOD_DDS,
			   .name = "crowd",
			   .victim = 1 };
	int o;

	while ((o = getopt(argc, argv, "n:c:s:o:b:r:m:f:wx:k:v:a:St:pPuAe:")) != -1)
		if (option(&c, o))
			return 2;
	c.size = c.size / (c.record * c.cps) * (c.record * c.cps);
	return run(&c);
}
