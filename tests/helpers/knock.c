// SPDX-License-Identifier: GPL-2.0-only
/*
 * knock PORT N [junk]: connects N times to a port of this machine and says nothing, or a line that is no message,
 * then prints a line and waits for the end of its input.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int knock(const struct sockaddr_in *to, int junk)
{
	static const char line[] = "GET / HTTP/1.0\r\nHost: a-name-that-fills-a-header\r\n\r\n";
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		return -1;
	if (!junk)
		return 0;
	if (send(fd, line, sizeof(line) - 1, MSG_NOSIGNAL) < 0)
		perror("send");
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct rlimit rl;
	int i, n = argc > 2 ? atoi(argv[2]) : 0;
	char c;

	if (n <= 0) {
		fprintf(stderr, "usage: knock PORT N [junk]\n");
		return 2;
	}
	if (!getrlimit(RLIMIT_NOFILE, &rl)) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
	to.sin_port = htons((unsigned short)atoi(argv[1]));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (i = 0; i < n; i++) {
		if (knock(&to, argc > 3)) {
			perror("knock");
			return 1;
		}
	}
	printf("%d\n", n);
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
