// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mailboxes of real processes, whose names everybody on the machine can see: what letters from strangers, and odd ones from
 * whoever knows the token, do to the process that reads them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "env/aside.h"
#include "env/local/mailbox.h"
#include "env/local/shared.h"
#include "env/real/real.h"
#include "tests/unit/lib/ut.h"

enum { MOST = 8 };

static struct ddio_env *env;
static struct ddio_mailbox box;
/* What letters carry. */
static int sent[MOST];

static void box_open(void)
{
	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(env, &box), 0);
}

/* Returns how many descriptors the process has. */
static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Returns the same once all that is closed aside is closed. */
static int descriptors_in_the_end(void)
{
	while (closes_aside())
		usleep(1000);
	return descriptors();
}

/* Sends the box a letter of @len bytes with @n descriptors, as any process may. */
static void letter(const uint8_t *token, size_t len, uint32_t n)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct iovec iov = { (void *)token, len };
	char control[CMSG_SPACE(MOST * sizeof(int))] = { 0 };
	struct msghdr msg = { .msg_name = &to, .msg_iov = &iov, .msg_iovlen = 1 };
	int from = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct cmsghdr *c;

	memcpy(to.sun_path + 1, box.name, strlen(box.name));
	msg.msg_namelen =
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(box.name));
	if (n) {
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), sent, n * sizeof(int));
	}
	CU_ASSERT_EQUAL(sendmsg(from, &msg, 0), (ssize_t)len);
	close(from);
}

/* The letter with one descriptor and the token is taken, and nothing is kept of any other. */
static void test_odd_letters(void)
{
	uint8_t wrong[MAILBOX_TOKEN] = { 1 }, longer[2 * MAILBOX_TOKEN];
	int before, fd;
	uint32_t n;

	before = descriptors();
	for (n = 0; n <= MOST; n++) {
		box_open();
		memset(longer, 0, sizeof(longer));
		memcpy(longer, box.token, MAILBOX_TOKEN);
		letter(wrong, sizeof(wrong), n);
		letter(longer, sizeof(longer), n);
		if (n != 1)
			letter(box.token, MAILBOX_TOKEN, n);
		CU_ASSERT_EQUAL(mailbox_take_fd(&box, &fd), -ENOENT);
		ddio_mailbox_close(&box);
		CU_ASSERT_EQUAL(descriptors_in_the_end(), before);
	}
	box_open();
	before = descriptors();
	letter(wrong, sizeof(wrong), 2);
	letter(box.token, MAILBOX_TOKEN, 1);
	CU_ASSERT_EQUAL(mailbox_take_fd(&box, &fd), 0);
	CU_ASSERT_EQUAL(descriptors(), before + 1);
	close(fd);
	ddio_mailbox_close(&box);
}

/* A stranger's letters do not arrive: whatever hangs from what they brought, this process has nothing to do with it. */
static void test_strangers(void)
{
	uint8_t wrong[MAILBOX_TOKEN + 1];
	uint32_t i;
	char byte;

	box_open();
	for (i = 0; i < MAILBOX_TOKEN; i++) {
		memcpy(wrong, box.token, MAILBOX_TOKEN);
		wrong[MAILBOX_TOKEN] = 0;
		letter(wrong, i, 1);
		letter(wrong, sizeof(wrong), 1);
		wrong[i] ^= 1;
		letter(wrong, MAILBOX_TOKEN, 1);
	}
	CU_ASSERT_EQUAL(recv(box.fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK), -1);
	letter(box.token, MAILBOX_TOKEN, 1);
	CU_ASSERT_EQUAL(recv(box.fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK), 1);
	ddio_mailbox_close(&box);
}

/* Makes a TCP socket whose last close waits for its peer, @other, as long as that lives. */
static int lingering(int *other)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 1000 };
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static char much[1 << 20];
	socklen_t len = sizeof(in);

	CU_ASSERT_EQUAL_FATAL(bind(l, (struct sockaddr *)&in, sizeof(in)), 0);
	CU_ASSERT_EQUAL_FATAL(listen(l, 1), 0);
	CU_ASSERT_EQUAL_FATAL(getsockname(l, (struct sockaddr *)&in, &len), 0);
	CU_ASSERT_EQUAL_FATAL(connect(s, (struct sockaddr *)&in, sizeof(in)), 0);
	*other = accept(l, NULL, NULL);
	close(l);
	CU_ASSERT_EQUAL_FATAL(setsockopt(s, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	while (send(s, much, sizeof(much), MSG_DONTWAIT) > 0)
		;
	return s;
}

/*
 * Whoever knows the token sends two descriptors, or one of the wrong kind, or a letter that nobody takes.  The last close of each waits for the
 * sender; whoever reads, or closes the box, does not.
 */
static void hostile_letter(uint32_t n, bool take)
{
	struct ddio_shared *shared;
	int other, fd = lingering(&other), i;

	box_open();
	for (i = 0; i < MOST; i++)
		sent[i] = fd;
	letter(box.token, MAILBOX_TOKEN, n);
	memset(sent, 0, sizeof(sent));
	close(fd);
	if (take)
		CU_ASSERT_NOT_EQUAL(ddio_shared_take(&box, true, &shared), 0);
	ddio_mailbox_close(&box);
	CU_ASSERT(closes_aside() > 0);
	close(other);
	CU_ASSERT(descriptors_in_the_end() > 0);
}

static void test_hostile(void)
{
	int before = descriptors_in_the_end();

	hostile_letter(2, true);
	hostile_letter(1, true);
	hostile_letter(1, false);
	CU_ASSERT_EQUAL(descriptors(), before);
}

/* A descriptor that was not taken is not named: whoever closed it would close another one that has its number by then. */
static void test_nothing_named(void)
{
	uint8_t wrong[MAILBOX_TOKEN] = { 1 };
	int fd = -1;

	box_open();
	letter(wrong, sizeof(wrong), 1);
	CU_ASSERT_EQUAL(mailbox_take_fd(&box, &fd), -ENOENT);
	CU_ASSERT_EQUAL(fd, -1);
	ddio_mailbox_close(&box);
}

/* One after another the letters of a stranger who never stops. */
static uint32_t taken;

static int endless_take(struct ddio_mailbox *b, int *fd)
{
	(void)b;
	(void)fd;
	return ++taken < 1000000 ? -EPERM : -EAGAIN;
}

static void test_endless(void)
{
	static const struct ddio_mail_ops ops = { .take = endless_take };
	struct ddio_mailbox full = { .ops = &ops, .name = "ddio-full" };
	int fd;

	CU_ASSERT_EQUAL(mailbox_take_fd(&full, &fd), -ENOENT);
	CU_ASSERT(taken > 512 && taken < 100000);
}

/* A peer says where a letter goes: to a mailbox, and to no other program's socket. */
static void test_others(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), len;
	const uint8_t token[MAILBOX_TOKEN] = { 2 };
	char name[MAILBOX_NAME], got[64];

	snprintf(name, sizeof(name), "other-%d", (int)getpid());
	len = snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1, "%s", name);
	CU_ASSERT_EQUAL_FATAL(
		bind(s, (struct sockaddr *)&to,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)),
		0);
	CU_ASSERT_EQUAL(mailbox_send(env, name, token, s), -EINVAL);
	CU_ASSERT_EQUAL(recv(s, got, sizeof(got), MSG_DONTWAIT), -1);
	close(s);
}

static const struct ut_case cases[] = {
	{ "odd letters", test_odd_letters },
	{ "letters of strangers", test_strangers },
	{ "letters with the token, of somebody hostile", test_hostile },
	{ "what is not taken is not named", test_nothing_named },
	{ "a stranger who never stops", test_endless },
	{ "other programs' sockets", test_others },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "mailboxes", cases } };
	int ret;

	if (ddio_real_new(NULL, &env))
		return 1;
	ret = ut_run("test_mailbox", suites, 1);
	ddio_real_free(env);
	return ret;
}
