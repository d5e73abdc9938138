// SPDX-License-Identifier: GPL-2.0-only
/*
 * A group one of whose members tampers with the buffers that I/O processors share with it.
 *
 *	tamper NAME PROCESSES CALLS
 *
 * writes and reads the file NAME by turns, a mebibyte of capital letters for each process.  Rank 1 keeps every
 * descriptor that it is sent, tries what its seals forbid, and as long as the calls last it fills what it may write to
 * with 0xa5 and looks in all that it was sent for bytes that its group has never written.  It prints
 *	buffers N writable W broken B foreign F filled L
 * descriptors, those that may be written to, forbidden things that succeeded, bytes of others, times that the buffers were
 * filled.  What happens to its own group's file is its group's affair.  Exit: 0 if every process ended by itself.
 */
#include <ddio/ddio.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHARE = 1 << 20, KEPT = 64, FILLING = 0xa5, PROCS_MAX = 16 };

/**
 * struct tampered - a descriptor that came
 * @mem: all of it, or NULL
 */
struct tampered {
	int fd;
	uint8_t *mem;
	size_t len;
	bool writable;
};

static bool tampers;
static _Atomic uint32_t nkept;
static _Atomic bool over;
static struct tampered kept[KEPT];
static uint64_t broken, foreign, filled;
static _Atomic uint32_t rounds;

static void keep(int fd)
{
	uint32_t n = atomic_load(&nkept);
	struct stat st;

	/* The memory of a connection, and its bell, are between its two ends: test_env_memory plays a hostile one. */
	if (n == KEPT || fstat(fd, &st) || st.st_size < SHARE)
		return;
	kept[n].fd = dup(fd);
	atomic_store(&nkept, n + 1);
}

/* Takes the library's place in front of the kernel, and looks through its letters. */
ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t n = syscall(SYS_recvmsg, fd, msg, flags);
	struct cmsghdr *c;
	int sent;

	if (n < 0 || !tampers || !msg->msg_control)
		return n;
	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(&sent, CMSG_DATA(c), sizeof(sent));
		keep(sent);
	}
	return n;
}

/* What no taker may do; each that succeeds is counted. */
static void try_forbidden(struct tampered *k)
{
	broken += !ftruncate(k->fd, 0);
	broken += !ftruncate(k->fd, (off_t)k->len * 2);
	broken += !fcntl(k->fd, F_ADD_SEALS, F_SEAL_WRITE);
	if (k->writable)
		return;
	broken += pwrite(k->fd, "x", 1, 0) == 1;
	broken += !fallocate(k->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096);
	broken += !mprotect(k->mem, k->len, PROT_READ | PROT_WRITE);
}

static void map(struct tampered *k)
{
	struct stat st;
	int seals = fcntl(k->fd, F_GET_SEALS);

	if (seals < 0 || fstat(k->fd, &st) || !st.st_size)
		return;
	k->len = (size_t)st.st_size;
	k->mem = mmap(NULL, k->len, PROT_READ | PROT_WRITE, MAP_SHARED, k->fd, 0);
	k->writable = k->mem != MAP_FAILED;
	if (!k->writable)
		k->mem = mmap(NULL, k->len, PROT_READ, MAP_SHARED, k->fd, 0);
	if (k->mem == MAP_FAILED)
		k->mem = NULL;
	else
		try_forbidden(k);
}

static bool ours(uint8_t byte)
{
	return !byte || byte == FILLING || (byte >= 'A' && byte <= 'Z');
}

/* Looks at the first few megabytes, where the slots are; more are holes, which must not become memory. */
static void look(struct tampered *k)
{
	size_t n = k->len < 4 * SHARE ? k->len : 4 * SHARE, i;

	for (i = 0; i < n; i++)
		foreign += !ours(((volatile uint8_t *)k->mem)[i]);
	if (!k->writable)
		return;
	memset(k->mem, FILLING, n);
	filled++;
}

static void *tamper(void *arg)
{
	uint32_t i, mapped = 0;

	(void)arg;
	while (!atomic_load(&over)) {
		for (; mapped < atomic_load(&nkept); mapped++)
			map(&kept[mapped]);
		for (i = 0; i < mapped; i++)
			if (kept[i].mem)
				look(&kept[i]);
		atomic_fetch_add(&rounds, 1);
		usleep(200);
	}
	return NULL;
}

static void say(void)
{
	uint32_t i, writable = 0;

	for (i = 0; i < nkept; i++)
		writable += kept[i].writable;
	printf("buffers %u writable %u broken %llu foreign %llu filled %llu\n", nkept, writable,
	       (unsigned long long)broken, (unsigned long long)foreign, (unsigned long long)filled);
}

/* However slow the machine is, all that the calls so far brought is looked at and filled: a round from its beginning. */
static void tampered_with(void)
{
	uint32_t now = atomic_load(&rounds);

	while (tampers && atomic_load(&rounds) - now < 2)
		usleep(200);
}

/* A collective that fails is the group's own affair, and its last. */
static void calls(struct ddio_file *f, struct ddio_group *g, uint32_t procs, uint32_t n)
{
	struct ddio_array a = { .elem_size = 8, .ndims = 1 };
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &a };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part };
	uint8_t *buf = malloc(SHARE);
	uint32_t i;
	int err = buf ? 0 : -ENOMEM;

	a.dim[0].size = (uint64_t)SHARE / 8 * procs;
	a.dim[0].procs = procs;
	a.dim[0].dist = DDIO_CYCLIC;
	t.buf = buf;
	for (i = 0; i < n && !err; i++) {
		memset(buf, 'A' + (int)(i % 26), SHARE);
		err = ddio_write_all(f, g, &t);
		if (!err)
			err = ddio_read_all(f, g, &t);
		tampered_with();
	}
	free(buf);
}

static int member(const char *name, uint32_t rank, uint32_t procs, uint32_t n)
{
	struct ddio_striping st = { .struct_size = sizeof(st), .block_size = 8192 };
	struct ddio_session *s;
	struct ddio_group *g;
	struct ddio_file *f;
	pthread_t thread;

	tampers = rank == 1;
	if (ddio_connect(NULL, &s) || ddio_group_create(s, rank, procs, getenv("TAMPER_AT"), &g) ||
	    ddio_open_all(g, name, DDIO_CREATE, &st, &f))
		return 1;
	if (tampers && pthread_create(&thread, NULL, tamper, NULL))
		return 1;
	calls(f, g, procs, n);
	atomic_store(&over, true);
	if (tampers) {
		pthread_join(thread, NULL);
		say();
	}
	ddio_disconnect(s);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t procs = argc == 4 ? (uint32_t)atoi(argv[2]) : 0, rank;
	int status, bad = 0;

	if (procs < 2 || procs > PROCS_MAX || !getenv("TAMPER_AT")) {
		fprintf(stderr, "usage: TAMPER_AT=ADDRESS tamper NAME PROCESSES CALLS\n");
		return 2;
	}
	for (rank = 0; rank < procs; rank++)
		if (!fork())
			_exit(member(argv[1], rank, procs, (uint32_t)atoi(argv[3])));
	for (rank = 0; rank < procs; rank++)
		bad |= wait(&status) < 0 || status;
	return bad;
}
