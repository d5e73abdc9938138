// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "env/addr.h"
#include "http.h"

#define CLIENT_MS 2000

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void client_end(struct http_client *c)
{
	close(c->fd);
	free(c->out);
	c->fd = -1;
	c->out = NULL;
}

/* Sets the reply; without memory for it the connection ends. */
static void reply(struct http_client *c, const char *status, const char *type, const char *body,
		  size_t len)
{
	size_t size = len + 256;
	int n;

	c->asks = false;
	c->out = malloc(size);
	if (!c->out) {
		client_end(c);
		return;
	}
	n = snprintf(c->out, size,
		     "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		     "Connection: close\r\n\r\n",
		     status, type, len);
	memcpy(c->out + n, body, len);
	c->len = (size_t)n + len;
	c->sent = 0;
	c->until = now_ms() + CLIENT_MS;
}

static void refuse(struct http_client *c, const char *status)
{
	char body[64];
	int n = snprintf(body, sizeof(body), "%s\n", status);

	reply(c, status, "text/plain", body, (size_t)n);
}

static bool is_path(const char *request)
{
	static const char path[] = "GET /metrics";
	const char *rest = request + sizeof(path) - 1;

	return !strncmp(request, path, sizeof(path) - 1) && (*rest == ' ' || *rest == '?');
}

static void handle_request(struct http_server *s, struct http_client *c)
{
	if (strncmp(c->in, "GET ", 4))
		refuse(c, "405 Method Not Allowed");
	else if (!is_path(c->in))
		refuse(c, "404 Not Found");
	else if (s->ask(s->arg))
		refuse(c, "503 Service Unavailable");
	else
		c->asks = true;
}

/* Reads up to the empty line.  Nothing after it is looked at. */
static void client_read(struct http_server *s, struct http_client *c)
{
	ssize_t n = recv(c->fd, c->in + c->have, HTTP_REQUEST_MAX - 1 - c->have, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_end(c);
		return;
	}
	c->have += (size_t)n;
	c->in[c->have] = '\0';
	if (strstr(c->in, "\r\n\r\n") || strstr(c->in, "\n\n"))
		handle_request(s, c);
	else if (c->have == HTTP_REQUEST_MAX - 1)
		refuse(c, "431 Request Header Fields Too Large");
}

static void client_write(struct http_server *s, struct http_client *c)
{
	ssize_t n = send(c->fd, c->out + c->sent, c->len - c->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		c->sent += (size_t)n;
		c->moved = ++s->events;
	}
	if (n <= 0 || c->sent == c->len)
		client_end(c);
}

/* Whether @c rather than @other makes room: without a request, or else with a reply, the longest without a move. */
static bool goes_before(const struct http_client *c, const struct http_client *other)
{
	if (!c->out != !other->out)
		return !c->out;
	return c->moved < other->moved;
}

/* Return: a free place, or that of the connection which is to make room; NULL: all wait for the node's answer. */
static struct http_client *place(struct http_server *s)
{
	struct http_client *c, *first = NULL;

	for (c = s->client; c < s->client + HTTP_CLIENTS; c++) {
		if (c->fd < 0)
			return c;
		if (!c->asks && (!first || goes_before(c, first)))
			first = c;
	}
	return first;
}

static void accept_one(struct http_server *s)
{
	struct http_client *c = place(s);
	int fd;

	if (!c)
		return;
	fd = accept4(s->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		/* Without descriptors or memory: others may give some back. */
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			poll(NULL, 0, 50);
		return;
	}
	if (c->fd >= 0)
		client_end(c);
	*c = (struct http_client){ .fd = fd, .until = now_ms() + CLIENT_MS, .moved = ++s->events };
}

/* Ends what has been there too long; whoever waits for the node is told that it gives no answer. */
static void expire(struct http_server *s)
{
	int64_t now = now_ms();
	struct http_client *c;

	for (c = s->client; c < s->client + HTTP_CLIENTS; c++) {
		if (c->fd < 0 || c->until > now)
			continue;
		if (c->asks)
			refuse(c, "503 Service Unavailable");
		else
			client_end(c);
	}
}

/* Return: milliseconds until the first connection has been there too long; -1: there is none. */
static int wait_ms(const struct http_server *s)
{
	const struct http_client *c;
	int64_t first = INT64_MAX, now = now_ms();

	for (c = s->client; c < s->client + HTTP_CLIENTS; c++)
		if (c->fd >= 0 && c->until < first)
			first = c->until;
	return first == INT64_MAX ? -1 : first < now ? 0 : (int)(first - now);
}

static void serve_ready(struct http_server *s, const struct pollfd *fds)
{
	uint32_t i;

	for (i = 0; i < HTTP_CLIENTS; i++) {
		struct http_client *c = &s->client[i];

		if (c->fd < 0 || c->fd != fds[i].fd || !fds[i].revents)
			continue;
		if (c->out)
			client_write(s, c);
		else if (!c->asks)
			client_read(s, c);
		else if (fds[i].revents & (POLLHUP | POLLERR))
			client_end(c);
	}
}

void http_answer(struct http_server *s, const char *text, size_t len)
{
	struct http_client *c;

	for (c = s->client; c < s->client + HTTP_CLIENTS; c++) {
		if (c->fd < 0 || !c->asks)
			continue;
		if (text)
			reply(c, "200 OK", "text/plain; version=0.0.4; charset=utf-8", text, len);
		else
			refuse(c, "503 Service Unavailable");
	}
}

int http_wait(struct http_server *s, struct pollfd fds[HTTP_FDS])
{
	uint32_t i;

	for (i = 0; i < HTTP_CLIENTS; i++) {
		const struct http_client *c = &s->client[i];

		fds[i] = (struct pollfd){ .fd = c->fd,
					  .events = c->out    ? POLLOUT
						    : c->asks ? 0
							      : POLLIN };
	}
	fds[i] = (struct pollfd){ .fd = place(s) ? s->listen : -1, .events = POLLIN };
	return wait_ms(s);
}

void http_serve(struct http_server *s, const struct pollfd fds[HTTP_FDS])
{
	serve_ready(s, fds);
	expire(s);
	if (fds[HTTP_CLIENTS].revents)
		accept_one(s);
}

static int listen_at(const char *address)
{
	struct addrinfo *list = NULL;
	char host[ADDR_HOST_MAX];
	unsigned int port;
	int err = ddio_addr_split(address, host, &port), fd, on = 1;

	if (!err)
		err = ddio_addr_resolve(host, port, true, &list);
	if (err)
		return err;
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
			      bind(fd, list->ai_addr, list->ai_addrlen) || listen(fd, HTTP_CLIENTS)
		      ? -errno
		      : 0;
	freeaddrinfo(list);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

int http_open(struct http_server *s, const char *address)
{
	uint32_t i;

	for (i = 0; i < HTTP_CLIENTS; i++)
		s->client[i].fd = -1;
	s->listen = listen_at(address);
	return s->listen < 0 ? s->listen : 0;
}

void http_close(struct http_server *s)
{
	uint32_t i;

	for (i = 0; i < HTTP_CLIENTS; i++)
		if (s->client[i].fd >= 0)
			client_end(&s->client[i]);
	if (s->listen >= 0)
		close(s->listen);
}
