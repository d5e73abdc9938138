// SPDX-License-Identifier: GPL-2.0-only
/* Which connection to the daemon's metrics makes room for one too many. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "tests/unit/lib/ut.h"
#include "tools/ddiod/http.h"

#define LARGE (16u << 20) /* of a reply: more than two sockets take that nobody reads */

/* A server, and how often it was asked. */
struct web {
	struct http_server s;
	struct sockaddr_in at;
	uint32_t asked;
};

static char large[LARGE];

static int ask(void *arg)
{
	struct web *w = arg;

	w->asked++;
	return 0;
}

static void web_begin(struct web *w)
{
	socklen_t len = sizeof(w->at);

	*w = (struct web){ .s = { .ask = ask, .arg = w } };
	CU_ASSERT_EQUAL_FATAL(http_open(&w->s, "127.0.0.1:0"), 0);
	CU_ASSERT_EQUAL_FATAL(getsockname(w->s.listen, (struct sockaddr *)&w->at, &len), 0);
}

/* Serves whatever is ready, until nothing is. */
static void web_run(struct web *w)
{
	struct pollfd fds[HTTP_FDS];

	for (;;) {
		http_wait(&w->s, fds);
		if (poll(fds, HTTP_FDS, 0) <= 0)
			return;
		http_serve(&w->s, fds);
	}
}

static int web_connect(struct web *w)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&w->at, sizeof(w->at)), 0);
	web_run(w);
	return fd;
}

static int web_ask(struct web *w)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\n\r\n";
	int fd = web_connect(w);

	CU_ASSERT_EQUAL(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL), sizeof(request) - 1);
	web_run(w);
	return fd;
}

/* Returns true if the server has ended the connection, or sent something to it. */
static bool heard(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK) >= 0 || errno != EAGAIN;
}

static void close_all(const int *fd, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		close(fd[i]);
}

/* Connections that say nothing end one another, and not the one that waits for the node. */
static void test_silent(void)
{
	int fd[2 * HTTP_CLIENTS], first;
	char said[64] = "";
	struct web w;
	uint32_t i;

	web_begin(&w);
	first = web_ask(&w);
	for (i = 0; i < 2 * HTTP_CLIENTS; i++)
		fd[i] = web_connect(&w);
	CU_ASSERT_FALSE(heard(first));
	for (i = 0; i < 2 * HTTP_CLIENTS; i++)
		CU_ASSERT_EQUAL(heard(fd[i]), i < HTTP_CLIENTS + 1);
	http_answer(&w.s, "ddio_up 1\n", 10);
	web_run(&w);
	CU_ASSERT(recv(first, said, sizeof(said) - 1, MSG_DONTWAIT) > 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "200 OK"));
	close(first);
	close_all(fd, 2 * HTTP_CLIENTS);
	http_close(&w.s);
}

/* Where all wait for the node, the next one waits outside until they have been answered. */
static void test_all_ask(void)
{
	int fd[HTTP_CLIENTS], late;
	struct web w;
	uint32_t i;

	web_begin(&w);
	for (i = 0; i < HTTP_CLIENTS; i++)
		fd[i] = web_ask(&w);
	late = web_ask(&w);
	CU_ASSERT_EQUAL(w.asked, HTTP_CLIENTS);
	for (i = 0; i < HTTP_CLIENTS; i++)
		CU_ASSERT_FALSE(heard(fd[i]));
	http_answer(&w.s, "ddio_up 1\n", 10);
	web_run(&w);
	CU_ASSERT_EQUAL(w.asked, HTTP_CLIENTS + 1);
	for (i = 0; i < HTTP_CLIENTS; i++)
		CU_ASSERT_TRUE(heard(fd[i]));
	close(late);
	close_all(fd, HTTP_CLIENTS);
	http_close(&w.s);
}

/* Of those that have a reply the one goes that does not read it, though it came later. */
static void test_unread(void)
{
	static char got[1u << 20];
	int fd[HTTP_CLIENTS + 1], i, n;
	size_t all = 0;
	struct web w;

	memset(large, 'x', sizeof(large));
	web_begin(&w);
	for (i = 0; i < HTTP_CLIENTS; i++)
		fd[i] = web_ask(&w);
	http_answer(&w.s, large, sizeof(large));
	web_run(&w);
	/* The first one reads; then somebody comes. */
	while (all < LARGE / 2 && (n = recv(fd[0], got, sizeof(got), 0)) > 0) {
		all += (size_t)n;
		web_run(&w);
	}
	fd[HTTP_CLIENTS] = web_connect(&w);
	while ((n = recv(fd[0], got, sizeof(got), 0)) > 0) {
		all += (size_t)n;
		web_run(&w);
	}
	CU_ASSERT(all > LARGE);
	close_all(fd, HTTP_CLIENTS + 1);
	http_close(&w.s);
}

static const struct ut_case cases[] = {
	{ "silent ones", test_silent },
	{ "all ask", test_all_ask },
	{ "unread replies", test_unread },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "metrics of the daemon", cases } };

	return ut_run("ddiod_http", suites, 1);
}
