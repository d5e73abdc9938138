// SPDX-License-Identifier: GPL-2.0-only
/* tsan: threads meet here */
/*
 * Streams through memory.  One end is the code under test, on a reactor of its own; the other is played by hand, from the
 * descriptors that it was sent, and does what it likes.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "env/local/channel.h"
#include "env/local/memory.h"
#include "env/local/shared.h"
#include "tests/unit/env/env_help.h"

/**
 * struct memory_end - the end under test, touched by its reactor only, but for @got and @over
 * @err: what offering said
 * @status: what the last write said
 * @got: bytes read; @over: what came instead of more: 1 an orderly end, or a negative errno
 * @hand: the other end's TCP socket; @theirs: its view of the memory, @bell its bell, @memfd the memory's descriptor
 */
struct memory_end {
	struct ddio_env *env;
	struct ddio_stream *stream;
	struct ddio_listener *listener;
	struct ddio_mailbox box;
	int err;
	bool accepted;
	ssize_t status;
	size_t write_len;
	_Atomic uint64_t got;
	_Atomic int over, writables, wrong;
	int hand, bell, memfd;
	struct ddio_shared *theirs;
	struct channel in, out; /* as the other end sees them */
};

static void end_over(struct memory_end *e, int how)
{
	ddio_stream_want_read(e->stream, false);
	atomic_store(&e->over, how);
}

static void end_readable(void *ctx)
{
	struct memory_end *e = ctx;
	uint8_t buf[3000];
	struct iovec iov = { buf, sizeof(buf) };
	ssize_t n = ddio_stream_readv(e->stream, &iov, 1), i;

	for (i = 0; i < n; i++)
		e->wrong += buf[i] != (uint8_t)(e->got + (uint64_t)i);
	if (n > 0)
		atomic_fetch_add(&e->got, (uint64_t)n);
	else if (n != -EAGAIN)
		end_over(e, n ? (int)n : 1);
}

static void end_writable(void *ctx)
{
	struct memory_end *e = ctx;

	ddio_stream_want_write(e->stream, false);
	e->writables++;
}

static void end_failed(void *ctx, int err)
{
	end_over(ctx, err);
}

static const struct ddio_stream_ops end_ops = {
	.readable = end_readable,
	.writable = end_writable,
	.failed = end_failed,
};

static void end_accept(void *ctx, struct ddio_stream *stream)
{
	struct memory_end *e = ctx;

	e->stream = stream;
	ddio_stream_set_ops(stream, &end_ops, e);
}

static void end_listen(void *arg)
{
	struct memory_end *e = arg;

	CU_ASSERT_EQUAL_FATAL(ddio_listen(e->env, "127.0.0.1:0", end_accept, e, &e->listener), 0);
}

static void end_offer(void *arg)
{
	struct memory_end *e = arg;

	e->err = e->stream ? ddio_memory_offer(&e->stream, e->box.name, e->box.token) : -EAGAIN;
}

static void end_move(void *arg)
{
	struct memory_end *e = arg;

	ddio_memory_write(e->stream, 0);
	ddio_memory_read(e->stream);
}

static void end_close(void *arg)
{
	struct memory_end *e = arg;

	ddio_stream_close(e->stream);
	ddio_listener_close(e->listener);
}

static void end_write(void *arg)
{
	struct memory_end *e = arg;
	static uint8_t much[2 * CHANNEL_DATA];
	struct iovec iov = { much, e->write_len };

	e->status = ddio_stream_writev(e->stream, &iov, 1);
	if (e->status == -EAGAIN)
		ddio_stream_want_write(e->stream, true);
}

/* Waits, with a bound, until something that the reactor does has come to be. */
#define until(what)                                             \
	do {                                                    \
		uint64_t end_ = ddio_env_now(e.env) + PATIENCE; \
                                                                \
		while (!(what) && ddio_env_now(e.env) < end_)   \
			usleep(200);                            \
		CU_ASSERT(what);                                \
	} while (0)

static void hand_connect(struct memory_end *e)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	to.sin_port = htons((uint16_t)atoi(strrchr(ddio_listener_addr(e->listener), ':') + 1));
	e->hand = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CU_ASSERT_EQUAL_FATAL(connect(e->hand, (struct sockaddr *)&to, sizeof(to)), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(e->env, &e->box), 0);
}

static void hand_take(struct memory_end *e)
{
	struct ddio_mailbox again;
	uint8_t *mem;

	/* The letter goes through a second mailbox, as taking it in order keeps no descriptor. */
	CU_ASSERT_EQUAL_FATAL(mailbox_take_fd(&e->box, &e->memfd), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(e->env, &again), 0);
	CU_ASSERT_EQUAL(mailbox_send(e->env, again.name, again.token, e->memfd), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_shared_take(&again, true, &e->theirs), 0);
	ddio_mailbox_close(&again);
	CU_ASSERT_EQUAL_FATAL(mailbox_take_fd(&e->box, &e->bell), 0);
	ddio_mailbox_close(&e->box);
	mem = ddio_shared_mem(e->theirs);
	channel_init(&e->in, mem, mem + 4096, false);
	channel_init(&e->out, mem + CHANNEL_HEAD, mem + 4096 + CHANNEL_DATA, true);
}

static void begin(struct memory_end *e)
{
	uint64_t end;

	memset(e, 0, sizeof(*e));
	e->env = env_new();
	CU_ASSERT_EQUAL_FATAL(ddio_real_start_thread(e->env), 0);
	on_reactor(e->env, end_listen, e);
	hand_connect(e);
	end = ddio_env_now(e->env) + PATIENCE;
	do {
		on_reactor(e->env, end_offer, e);
	} while (e->err == -EAGAIN && ddio_env_now(e->env) < end);
	CU_ASSERT_EQUAL_FATAL(e->err, 0);
	hand_take(e);
	on_reactor(e->env, end_move, e);
}

static void end(struct memory_end *e)
{
	on_reactor(e->env, end_close, e);
	ddio_shared_free(e->theirs);
	close(e->hand);
	close(e->bell);
	if (e->memfd)
		close(e->memfd);
	ddio_real_free(e->env);
}

/* Puts @len bytes from @at on, and rings. */
static void hand_put(struct memory_end *e, uint64_t at, size_t len)
{
	uint8_t buf[5000];
	struct iovec iov = { buf, len };
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = (uint8_t)(at + i);
	CU_ASSERT_EQUAL(channel_put(&e->out, &iov, 1), (ssize_t)len);
	/* A bell that is full has been rung. */
	if (channel_wakes(&e->out))
		CU_ASSERT(send(e->bell, "", 1, MSG_DONTWAIT) == 1 || errno == EAGAIN);
}

static void test_through(void)
{
	struct memory_end e;
	uint64_t at;

	begin(&e);
	for (at = 0; at < 100 * 5000; at += 5000) {
		hand_put(&e, at, 5000);
		until(e.got == at + 5000);
	}
	CU_ASSERT_EQUAL(e.wrong, 0);
	/* It slept between: once woken, it says so again before it sleeps. */
	usleep(2000);
	hand_put(&e, at, 1);
	until(e.got == at + 1);
	end(&e);
}

/* More often than its bell has room for, if nobody took out of it what has rung. */
static void test_sleeps(void)
{
	struct memory_end e;
	uint64_t at;

	begin(&e);
	for (at = 0; at < 2000; at++) {
		until(atomic_load(&e.out.other->asleep));
		hand_put(&e, at, 1);
		until(e.got == at + 1);
	}
	CU_ASSERT_EQUAL(e.wrong, 0);
	end(&e);
}

/* Its bytes are read before its end is heard of. */
static void test_ended(void)
{
	struct memory_end e;

	begin(&e);
	hand_put(&e, 0, 4000);
	shutdown(e.hand, SHUT_RDWR);
	until(e.over);
	CU_ASSERT_EQUAL(e.over, 1);
	CU_ASSERT_EQUAL(e.got, 4000);
	end(&e);
	/* The bell alone says nothing. */
	begin(&e);
	close(e.bell);
	e.bell = -1;
	usleep(2000);
	CU_ASSERT_EQUAL(e.over, 0);
	shutdown(e.hand, SHUT_RDWR);
	until(e.over == 1);
	end(&e);
}

static void test_lies(void)
{
	struct memory_end e;

	/* More bytes than there is room for. */
	begin(&e);
	atomic_store(&e.out.mine->at, (uint64_t)CHANNEL_DATA + 1);
	send(e.bell, "", 1, MSG_DONTWAIT);
	until(e.over);
	CU_ASSERT_EQUAL(e.over, -EPROTO);
	CU_ASSERT_EQUAL(e.got, 0);
	end(&e);
	/* Bytes taken that were never there. */
	begin(&e);
	atomic_store(&e.in.mine->at, 5);
	e.write_len = 1;
	on_reactor(e.env, end_write, &e);
	CU_ASSERT_EQUAL(e.status, -EPROTO);
	end(&e);
	/* What comes by TCP after the move. */
	begin(&e);
	CU_ASSERT_EQUAL(send(e.hand, "x", 1, 0), 1);
	until(e.over);
	CU_ASSERT_EQUAL(e.over, -EPROTO);
	end(&e);
}

/* The other end fills both bells, makes its own wait, and never listens: the reactor goes on, and finds bytes when something else wakes it. */
static void test_bell(void)
{
	struct memory_end e;
	char junk[4096] = { 0 };
	uint32_t i;

	begin(&e);
	CU_ASSERT_EQUAL(fcntl(e.bell, F_SETFL, 0), 0);
	for (i = 0; i < 20000; i++) {
		atomic_store(&e.in.mine->asleep, 1);
		e.write_len = 1;
		on_reactor(e.env, end_write, &e);
		CU_ASSERT_EQUAL_FATAL(e.status, 1);
	}
	for (i = 0; i < 1000; i++)
		(void)!send(e.bell, junk, sizeof(junk), MSG_DONTWAIT);
	hand_put(&e, 0, 100);
	on_reactor(e.env, end_write, &e);
	CU_ASSERT_EQUAL(e.status, 1);
	until(e.got == 100);
	end(&e);
}

/* Who writes more than there is room for is told when there is some. */
static void test_full(void)
{
	static uint8_t buf[CHANNEL_DATA];
	struct iovec iov = { buf, sizeof(buf) };
	struct memory_end e;

	begin(&e);
	e.write_len = 2 * CHANNEL_DATA;
	on_reactor(e.env, end_write, &e);
	CU_ASSERT_EQUAL(e.status, CHANNEL_DATA);
	on_reactor(e.env, end_write, &e);
	CU_ASSERT_EQUAL(e.status, -EAGAIN);
	usleep(2000);
	CU_ASSERT_EQUAL(e.writables, 0);
	CU_ASSERT_EQUAL(channel_get(&e.in, &iov, 1), CHANNEL_DATA);
	if (channel_wakes(&e.in))
		CU_ASSERT_EQUAL(send(e.bell, "", 1, MSG_DONTWAIT), 1);
	until(e.writables == 1);
	end(&e);
}

/*
 * A process that is killed while it puts bytes in: what it had told of is read, what it had not is not, and then the end is
 * heard of.
 */
static void put_and_die(struct memory_end *e)
{
	uint8_t *mem = ddio_shared_mem(e->theirs);

	hand_put(e, 0, 500);
	memset(mem + 4096 + CHANNEL_DATA + 500, 0xff, 1000);
	kill(getpid(), SIGKILL);
}

static void test_killed(void)
{
	struct memory_end e;
	int status;
	pid_t pid;

	begin(&e);
	fflush(NULL);
	pid = fork();
	if (!pid)
		put_and_die(&e);
	close(e.hand);
	close(e.bell);
	e.hand = e.bell = -1;
	CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT(WIFSIGNALED(status));
	until(e.over);
	CU_ASSERT_EQUAL(e.over, 1);
	CU_ASSERT_EQUAL(e.got, 500);
	CU_ASSERT_EQUAL(e.wrong, 0);
	end(&e);
}

/* What the other end can do to the memory itself: it cannot shrink it, and what it makes a hole of reads as zeros. */
static void test_holes(void)
{
	struct memory_end e;
	struct stat st;

	begin(&e);
	CU_ASSERT_EQUAL_FATAL(fstat(e.memfd, &st), 0);
	CU_ASSERT_EQUAL(ftruncate(e.memfd, 0), -1);
	CU_ASSERT_EQUAL(ftruncate(e.memfd, st.st_size + 4096), -1);
	hand_put(&e, 0, 500);
	until(e.got == 500);
	CU_ASSERT_EQUAL(
		fallocate(e.memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, st.st_size), 0);
	send(e.bell, "", 1, MSG_DONTWAIT);
	until(e.over);
	CU_ASSERT_EQUAL(e.over, -EPROTO);
	CU_ASSERT_EQUAL(e.got, 500);
	end(&e);
}

/* Rings with a descriptor, whose last reference whoever reads the bell would drop. */
static void ring_with(int bell, int fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec iov = { .iov_base = "", .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	(void)!sendmsg(bell, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void test_rung(void)
{
	struct memory_end e;
	uint64_t until_ns;

	begin(&e);
	until_ns = ddio_env_now(e.env) + PATIENCE;
	while (!e.over && ddio_env_now(e.env) < until_ns) {
		ring_with(e.bell, e.memfd);
		usleep(1000);
	}
	CU_ASSERT_EQUAL(e.over, -EPROTO);
	end(&e);
}

/*
 * What an acceptor may send instead of memory and a bell
 */
enum { SENT_NOTHING, SENT_UNSEALED, SENT_READ_ONLY, SENT_SHORT, SENT_LONG, SENT_FILE, SENT_PIPE };

static void letter(struct memory_end *e, int fd)
{
	CU_ASSERT_EQUAL(mailbox_send(e->env, e->box.name, e->box.token, fd), 0);
	close(fd);
}

static void letter_memory(struct memory_end *e, int what)
{
	size_t len = 4096 + 2 * CHANNEL_DATA;
	struct ddio_shared *shared = NULL;
	int fd = what == SENT_FILE ? open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
				   : memfd_create("unsealed", MFD_CLOEXEC);

	if (what == SENT_UNSEALED)
		CU_ASSERT_EQUAL(ftruncate(fd, (off_t)len), 0);
	if (what == SENT_UNSEALED || what == SENT_FILE) {
		letter(e, fd);
		return;
	}
	close(fd);
	len += what == SENT_LONG ? 4096 : what == SENT_SHORT ? -(size_t)4096 : 0;
	CU_ASSERT_EQUAL_FATAL(ddio_shared_new(e->env, len, what != SENT_READ_ONLY, &shared), 0);
	CU_ASSERT_EQUAL(ddio_shared_send(e->env, shared, e->box.name, e->box.token), 0);
	ddio_shared_free(shared);
}

static void letter_bell(struct memory_end *e, bool pipes)
{
	int pair[2];

	CU_ASSERT_EQUAL_FATAL(pipes ? pipe2(pair, O_CLOEXEC)
				    : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair),
			      0);
	letter(e, pair[0]);
	close(pair[1]);
}

static void end_take(void *arg)
{
	struct memory_end *e = arg;

	e->accepted = e->stream;
	e->err = e->accepted ? ddio_memory_take(&e->stream, &e->box) : -EAGAIN;
}

static void test_take(void)
{
	uint8_t plain[100];
	struct memory_end e;
	uint64_t end_at;
	int what, i;

	memset(&e, 0, sizeof(e));
	e.env = env_new();
	CU_ASSERT_EQUAL_FATAL(ddio_real_start_thread(e.env), 0);
	on_reactor(e.env, end_listen, &e);
	hand_connect(&e);
	ddio_mailbox_close(&e.box);
	for (i = 0; i < (int)sizeof(plain); i++)
		plain[i] = (uint8_t)i;
	for (what = SENT_NOTHING; what <= SENT_PIPE; what++) {
		CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(e.env, &e.box), 0);
		if (what != SENT_NOTHING) {
			letter_memory(&e, what);
			letter_bell(&e, what == SENT_PIPE);
		}
		end_at = ddio_env_now(e.env) + PATIENCE;
		do {
			on_reactor(e.env, end_take, &e);
		} while (!e.accepted && ddio_env_now(e.env) < end_at);
		CU_ASSERT(e.accepted);
		CU_ASSERT_NOT_EQUAL(e.err, 0);
		ddio_mailbox_close(&e.box);
	}
	/* The stream is what it was. */
	CU_ASSERT_EQUAL(send(e.hand, plain, sizeof(plain), 0), (ssize_t)sizeof(plain));
	until(e.got == sizeof(plain));
	CU_ASSERT_EQUAL(e.wrong, 0);
	e.bell = -1;
	end(&e);
}

static void end_pause(void *arg)
{
	struct memory_end *e = arg;

	ddio_stream_want_read(e->stream, false);
}

/* Who waits for room, and does not read meanwhile, hears of the other's end from writing. */
static void test_gone(void)
{
	struct memory_end e;

	begin(&e);
	on_reactor(e.env, end_pause, &e);
	e.write_len = 2 * CHANNEL_DATA;
	on_reactor(e.env, end_write, &e);
	on_reactor(e.env, end_write, &e);
	CU_ASSERT_EQUAL(e.status, -EAGAIN);
	shutdown(e.hand, SHUT_RDWR);
	until(e.writables == 1);
	on_reactor(e.env, end_write, &e);
	CU_ASSERT_EQUAL(e.status, -EPIPE);
	CU_ASSERT_EQUAL(e.over, 0);
	end(&e);
}

static const struct ut_case cases[] = {
	{ "bytes, and a reactor that sleeps", test_through },
	{ "more sleeps than a bell has room for", test_sleeps },
	{ "an end", test_ended },
	{ "an end that lies", test_lies },
	{ "a bell that nobody hears", test_bell },
	{ "a bell that brings descriptors", test_rung },
	{ "an end that is killed", test_killed },
	{ "an end that makes holes", test_holes },
	{ "what is sent instead of memory", test_take },
	{ "no room", test_full },
	{ "no room, and nobody to make any", test_gone },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "streams through memory", cases } };

	return ut_run("test_env_memory", suites, 1);
}
