// SPDX-License-Identifier: GPL-2.0-only
/* This machine's limits: memcpy, and TCP through loopback. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "bench.h"

#define COPY_BYTES (256u << 20)
#define TCP_BYTES (1ull << 30)
#define TCP_MESSAGE (64u << 10)
#define ROUNDS 5

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double v[ROUNDS])
{
	qsort(v, ROUNDS, sizeof(*v), ascending);
	return v[ROUNDS / 2];
}

static int limit_copy(double *rate)
{
	char *a = malloc(COPY_BYTES), *b = malloc(COPY_BYTES);
	double v[ROUNDS], t;
	int i;

	if (!a || !b) {
		free(a);
		free(b);
		return -ENOMEM;
	}
	memset(a, 1, COPY_BYTES);
	memset(b, 2, COPY_BYTES);
	for (i = 0; i < ROUNDS; i++) {
		t = seconds();
		memcpy(i % 2 ? a : b, i % 2 ? b : a, COPY_BYTES);
		v[i] = COPY_BYTES / (seconds() - t);
		__asm__ volatile("" ::"r"(a), "r"(b) : "memory");
	}
	*rate = median(v);
	free(a);
	free(b);
	return 0;
}

static void tcp_send(struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char *buf = calloc(1, TCP_MESSAGE);
	uint64_t left = TCP_BYTES;
	ssize_t n;

	if (fd < 0 || !buf || connect(fd, (struct sockaddr *)to, sizeof(*to)))
		_exit(1);
	while (left) {
		n = send(fd, buf, left < TCP_MESSAGE ? left : TCP_MESSAGE, MSG_NOSIGNAL);
		if (n <= 0)
			_exit(1);
		left -= (uint64_t)n;
	}
	_exit(0);
}

static int tcp_receive(int listener, char *buf, double *rate)
{
	int fd = accept(listener, NULL, NULL);
	uint64_t got = 0;
	double t;
	ssize_t n;

	if (fd < 0)
		return -errno;
	t = seconds();
	while ((n = recv(fd, buf, TCP_MESSAGE, 0)) > 0)
		got += (uint64_t)n;
	*rate = (double)got / (seconds() - t);
	close(fd);
	return got == TCP_BYTES ? 0 : -EIO;
}

static int limit_tcp(double *rate)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), i, err = 0;
	socklen_t len = sizeof(a);
	char *buf = malloc(TCP_MESSAGE);
	double v[ROUNDS];
	pid_t pid;

	if (fd < 0 || !buf || bind(fd, (struct sockaddr *)&a, len) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)&a, &len))
		err = -EIO;
	for (i = 0; i < ROUNDS && !err; i++) {
		pid = fork();
		if (!pid)
			tcp_send(&a);
		err = pid < 0 ? -errno : tcp_receive(fd, buf, &v[i]);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	if (!err)
		*rate = median(v);
	if (fd >= 0)
		close(fd);
	free(buf);
	return err;
}

int bench_limits(double *memcpy_rate, double *tcp_rate)
{
	int err = limit_copy(memcpy_rate);

	return err ? err : limit_tcp(tcp_rate);
}
