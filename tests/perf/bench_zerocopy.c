// SPDX-License-Identifier: GPL-2.0-only
/*
 * What io_uring's zero-copy send brings over a TCP connection:
 *
 *   bench_zerocopy receive ADDRESS PORT
 *	takes what one connection brings, in pieces of at most 256 KB, to its end
 *   bench_zerocopy plain|zerocopy ADDRESS PORT GB
 *	sends so much from four buffers of 256 KB, by sendmsg() or by SEND_ZC, of which four are under way
 *
 * Each prints "who MB/s CPU-seconds-a-GB"; by zerocopy then, too, how many percent of the sends were copied by the kernel.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BUFFERS = 4, ENTRIES = 8, PIECE = 256 << 10 };

static uint64_t clock_of(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int failed(const char *what)
{
	fprintf(stderr, "bench_zerocopy: %s: %s\n", what, strerror(errno));
	return 1;
}

/**
 * struct zc_ring - an io_uring without a library
 * @copied, @notified: sends that the kernel copied, and all of which it has told
 * @busy: of each buffer: the kernel may still read it
 */
struct zc_ring {
	int fd, sock;
	struct io_uring_params p;
	uint8_t *sq, *cq;
	struct io_uring_sqe *sqe;
	uint64_t copied, notified;
	bool busy[BUFFERS];
};

static void *part(const struct zc_ring *r, size_t len, off_t at)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, at);
}

static int ring_open(struct zc_ring *r, uint8_t *buf)
{
	struct iovec iov = { buf, (size_t)BUFFERS * PIECE };
	const struct io_uring_params *p = &r->p;

	r->fd = (int)syscall(__NR_io_uring_setup, ENTRIES, &r->p);
	if (r->fd < 0)
		return -1;
	r->sq = part(r, p->sq_off.array + p->sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
	r->cq = part(r, p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe),
		     IORING_OFF_CQ_RING);
	r->sqe = part(r, p->sq_entries * sizeof(*r->sqe), IORING_OFF_SQES);
	if (r->sq == MAP_FAILED || r->cq == MAP_FAILED || (void *)r->sqe == MAP_FAILED)
		return -1;
	return (int)syscall(__NR_io_uring_register, r->fd, IORING_REGISTER_BUFFERS, &iov, 1);
}

static void ring_put(struct zc_ring *r, uint32_t i, const uint8_t *from, size_t len)
{
	_Atomic uint32_t *tail = (_Atomic uint32_t *)(r->sq + r->p.sq_off.tail);
	uint32_t at = *tail & (r->p.sq_entries - 1);

	r->sqe[at] = (struct io_uring_sqe){ .opcode = IORING_OP_SEND_ZC,
					    .fd = r->sock,
					    .addr = (uint64_t)(uintptr_t)from,
					    .len = (uint32_t)len,
					    .msg_flags = MSG_WAITALL,
					    .ioprio = IORING_RECVSEND_FIXED_BUF |
						      IORING_SEND_ZC_REPORT_USAGE,
					    .user_data = i };
	((uint32_t *)(r->sq + r->p.sq_off.array))[at] = at;
	atomic_store_explicit(tail, *tail + 1, memory_order_release);
	r->busy[i] = true;
}

/* Hears what has come.  Returns -1 where a send has failed. */
static int ring_hear(struct zc_ring *r)
{
	_Atomic uint32_t *head = (_Atomic uint32_t *)(r->cq + r->p.cq_off.head);
	_Atomic uint32_t *tail = (_Atomic uint32_t *)(r->cq + r->p.cq_off.tail);
	const struct io_uring_cqe *cqe = (void *)(r->cq + r->p.cq_off.cqes), *c;

	while (*head != atomic_load_explicit(tail, memory_order_acquire)) {
		c = &cqe[*head & (r->p.cq_entries - 1)];
		if (c->flags & IORING_CQE_F_NOTIF) {
			r->notified++;
			r->copied += ((uint32_t)c->res & IORING_NOTIF_USAGE_ZC_COPIED) != 0;
		} else if (c->res != PIECE) {
			errno = c->res < 0 ? -c->res : EIO;
			return -1;
		}
		if (!(c->flags & IORING_CQE_F_MORE))
			r->busy[c->user_data] = false;
		atomic_store_explicit(head, *head + 1, memory_order_release);
	}
	return 0;
}

/* Gives the kernel @put sends and waits until it has told of something. */
static int ring_enter(const struct zc_ring *r, uint32_t put)
{
	return (int)syscall(__NR_io_uring_enter, r->fd, put, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

static bool ring_busy(const struct zc_ring *r)
{
	return r->busy[0] || r->busy[1] || r->busy[2] || r->busy[3];
}

/* The sends of a stream are put in one after the other, since the kernel keeps their order only then. */
static int send_zerocopy(int sock, uint8_t *buf, uint64_t n)
{
	struct zc_ring r = { .sock = sock };
	uint64_t put = 0;
	uint32_t i, fresh;

	if (ring_open(&r, buf))
		return failed("io_uring");
	while (put < n || ring_busy(&r)) {
		i = put % BUFFERS;
		fresh = put < n && !r.busy[i];
		if (fresh)
			ring_put(&r, i, buf + (size_t)i * PIECE, PIECE);
		put += fresh;
		if (ring_enter(&r, fresh) < 0 || ring_hear(&r))
			return failed("a send");
	}
	printf("copied %.0f %%\n", 100.0 * (double)r.copied / (double)r.notified);
	return 0;
}

static int send_plain(int sock, const uint8_t *buf, uint64_t n)
{
	uint64_t i, off;
	ssize_t got;

	for (i = 0; i < n; i++)
		for (off = 0; off < PIECE; off += (uint64_t)got) {
			got = send(sock, buf + i % BUFFERS * PIECE + off, PIECE - off,
				   MSG_NOSIGNAL);
			if (got < 0)
				return failed("send");
		}
	return 0;
}

static int receive(int sock, uint8_t *buf, uint64_t *bytes)
{
	ssize_t n;

	while ((n = recv(sock, buf, PIECE, 0)) > 0)
		*bytes += (uint64_t)n;
	return n ? failed("recv") : 0;
}

static int open_socket(const char *addr, const char *port, bool listens)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	int one = 1, sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (sock < 0 || inet_pton(AF_INET, addr, &to.sin_addr) != 1)
		return -1;
	if (!listens)
		return connect(sock, (struct sockaddr *)&to, sizeof(to)) ? -1 : sock;
	if (setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(sock, (struct sockaddr *)&to, sizeof(to)) || listen(sock, 1))
		return -1;
	return accept4(sock, NULL, NULL, SOCK_CLOEXEC);
}

int main(int argc, char **argv)
{
	bool receives = argc == 4 && !strcmp(argv[1], "receive");
	uint64_t bytes = receives ? 0 : argc == 5 ? (uint64_t)atoi(argv[4]) << 30 : 0, ns, cpu;
	uint8_t *buf = mmap(NULL, (size_t)BUFFERS * PIECE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	int sock, err;

	if ((!receives && !bytes) || buf == MAP_FAILED) {
		fprintf(stderr, "usage: bench_zerocopy receive|plain|zerocopy ADDRESS PORT [GB]\n");
		return 2;
	}
	sock = open_socket(argv[2], argv[3], receives);
	if (sock < 0)
		return failed(argv[2]);
	ns = clock_of(CLOCK_MONOTONIC);
	cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	err = receives			 ? receive(sock, buf, &bytes)
	      : strcmp(argv[1], "plain") ? send_zerocopy(sock, buf, bytes / PIECE)
					 : send_plain(sock, buf, bytes / PIECE);
	ns = clock_of(CLOCK_MONOTONIC) - ns;
	cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	if (!err)
		printf("%s %.0f MB/s, CPU %.3f s a GB\n", argv[1],
		       (double)bytes / 1e6 / ((double)ns / 1e9),
		       (double)cpu / 1e9 / ((double)bytes / 1e9));
	return err;
}
