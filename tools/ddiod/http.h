/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few words of HTTP that a collector of metrics speaks: GET /metrics, one request a connection.  Anybody may
 * connect, so there are few connections, each for two seconds at most.  One too many ends the oldest that has not sent
 * its request; if all have, the one that has not read its reply for the longest time.  A connection that waits for
 * the node's answer is never ended for another: if all do, the next one waits outside.  Nothing is logged.
 */
#ifndef TOOLS_DDIOD_HTTP_H
#define TOOLS_DDIOD_HTTP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_CLIENTS 16
#define HTTP_FDS (HTTP_CLIENTS + 1)
#define HTTP_REQUEST_MAX 4096

/**
 * struct http_client - one connection
 * @fd: -1: none
 * @until: when it ends, milliseconds of the monotonic clock
 * @moved: number of the event by which it connected, or last took bytes of its reply
 * @in, @have: what has come of the request
 * @asks: it waits for the node's answer
 * @out, @len, @sent: the reply, and how much of it has gone; allocated, NULL before there is one
 */
struct http_client {
	int fd;
	int64_t until;
	uint64_t moved;
	char in[HTTP_REQUEST_MAX];
	size_t have;
	bool asks;
	char *out;
	size_t len, sent;
};

/**
 * struct http_server - a listening socket and its connections
 * @listen: the socket
 * @ask: called for each request; http_answer() is called later.  Returns 0 or a negative errno
 * @arg: for @ask
 * @events: counts what moves connections
 */
struct http_server {
	int listen;
	int (*ask)(void *arg);
	void *arg;
	uint64_t events;
	struct http_client client[HTTP_CLIENTS];
};

/* Listens at "host:port".  Return: 0 or -errno, and http_close() is still to be called. */
int http_open(struct http_server *s, const char *address);
void http_close(struct http_server *s);
/* Fills in what poll() is to look at.  Return: for how many milliseconds; -1: for ever. */
int http_wait(struct http_server *s, struct pollfd fds[HTTP_FDS]);
/* Goes on with what is ready. */
void http_serve(struct http_server *s, const struct pollfd fds[HTTP_FDS]);
/* Hands the text to all that wait for it; NULL: there is none. */
void http_answer(struct http_server *s, const char *text, size_t len);

#endif /* TOOLS_DDIOD_HTTP_H */
