// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joints: who is a member and until when; waiting; what a member's leaving or death does to
 * collectives under way, and what it may not do.
 */
#include <fcntl.h>
#include <linux/types.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/rig.h"
#include "lib/world.h"

#define DISK_USED (4U << 20)
#define BLOCK 4096U
#define NR 256U
#define ROOM (NR * BLOCK)
#define MINUTE (60 * KT_SECOND)

static struct kt_dev *fast, *slow;
static uint64_t seed;

static void kt_prepare(void)
{
	seed = kt_seed();
	fast = kt_dev_null(&(struct kt_null){ .megabytes = 16 });
	slow = kt_dev_null(&(struct kt_null){
		.megabytes = 16,
		.more = "irqmode=2 completion_nsec=1000000 submit_queues=1 hw_queue_depth=1" });
	if (!fast || !slow)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
}

/**
 * Two disks, the fast one first; a joint for two.  Blocks go to member 0 whole, or half of
 * each to either.
 */
FIXTURE(joint)
{
	struct kt_rig rig;
	struct kt_rng rng;
	int joint;
	unsigned char *memory[2];
	struct ddio_block block[NR];
	struct ddio_run run[2 * NR];
};

FIXTURE_SETUP(joint)
{
	struct kt_dev *const dev[] = { fast, slow };
	int i;

	self->rng.state = seed;
	ASSERT_EQ(0, kt_rig_init(&self->rig, dev, 2, DISK_USED, &self->rng));
	self->joint = ddio_kdev_joint_create(&self->rig.kdev, 2);
	ASSERT_LE(0, self->joint);
	for (i = 0; i < 2; i++) {
		self->memory[i] = kt_memory(ROOM);
		ASSERT_NE(NULL, self->memory[i]);
	}
}

FIXTURE_TEARDOWN(joint)
{
	close(self->joint);
	kt_rig_fini(&self->rig);
	munmap(self->memory[0], ROOM);
	munmap(self->memory[1], ROOM);
}

static int join(FIXTURE_DATA(joint) * self, __u32 member)
{
	return ddio_kdev_joint_join(self->joint, member, self->memory[member], ROOM, 0);
}

/* Reads NR blocks of a disk into one member's memory, or half of each into either's. */
static int submit(FIXTURE_DATA(joint) * self, int disk, __u32 members, __u32 *id)
{
	__u32 i, k, piece = BLOCK / members;
	struct ddio_submit s;
	int err;

	memset(self->block, 0, sizeof(self->block));
	memset(self->run, 0, sizeof(self->run));
	for (i = 0; i < NR; i++) {
		self->block[i].disk = self->rig.image[disk].id;
		self->block[i].offset = i * BLOCK;
		self->block[i].length = BLOCK;
		self->block[i].where = i * members;
		self->block[i].buffer = members;
		for (k = 0; k < members; k++)
			self->run[i * members + k] = (struct ddio_run){
				.memory = i * BLOCK,
				.offset = k * piece,
				.length = piece,
				.member = k,
			};
	}
	kt_submit_init(&s, DDIO_READ, DDIO_SCATTER, self->block, NR);
	s.runs = kt_ptr(self->run);
	s.nr_runs = NR * members;
	s.joint_fd = self->joint;
	err = ddio_kdev_submit(&self->rig.kdev, &s);
	*id = s.out_collective;
	return err;
}

static int finish(FIXTURE_DATA(joint) * self, __u32 id, __s32 *status)
{
	return ddio_kdev_finish(&self->rig.kdev, id, status, NR);
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && p.revents == POLLIN;
}

static bool holds(FIXTURE_DATA(joint) * self, int disk)
{
	return !memcmp(self->memory[0], self->rig.image[disk].bytes, ROOM);
}

KT_TEST(joint, waiting)
{
	struct ddio_joint_wait wait;
	int member = join(self, 0);
	__u32 id;

	ASSERT_LE(0, member);
	EXPECT_FALSE(readable(member));
	EXPECT_EQ(-ETIMEDOUT, ddio_kdev_joint_wait(member, 0, 0, NULL));
	EXPECT_EQ(-ETIMEDOUT, ddio_kdev_joint_wait(member, 0, kt_now() + KT_SECOND / 20, NULL));
	ASSERT_EQ(0, submit(self, 1, 1, &id));
	EXPECT_EQ(0, ddio_kdev_joint_wait(member, 0, kt_now() + MINUTE, &wait));
	EXPECT_EQ(1, wait.out_ended);
	EXPECT_EQ(0, wait.out_error);
	EXPECT_TRUE(holds(self, 1));
	EXPECT_FALSE(readable(member));
	EXPECT_EQ(0, finish(self, id, NULL));
	ASSERT_EQ(0, submit(self, 0, 1, &id));
	EXPECT_EQ(0, finish(self, id, NULL));
	EXPECT_TRUE(readable(member));
	EXPECT_EQ(0, ddio_kdev_joint_wait(member, 0, 0, &wait));
	EXPECT_EQ(2, wait.out_ended);
	EXPECT_FALSE(readable(member));
	EXPECT_TRUE(holds(self, 0));
	close(member);
}

static void nothing(int sig)
{
	(void)sig;
}

KT_TEST(joint, interrupted)
{
	struct sigaction action = { .sa_handler = nothing };
	int member = join(self, 0);
	pid_t child;

	ASSERT_LE(0, member);
	sigaction(SIGUSR1, &action, NULL);
	child = fork();
	if (!child) {
		for (;;) {
			usleep(50000);
			kill(getppid(), SIGUSR1);
		}
	}
	EXPECT_EQ(-EINTR, ddio_kdev_joint_wait(member, 0, DDIO_FOREVER, NULL));
	EXPECT_EQ(-EINTR, ddio_kdev_joint_wait(member, 0, kt_now() + MINUTE, NULL));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(member);
}

/* With SA_RESTART, and where no handler is called at all, the wait goes on: its deadline ends it. */
KT_TEST(joint, goes_on)
{
	struct sigaction action = { .sa_handler = nothing, .sa_flags = SA_RESTART };
	__u64 end = kt_now() + KT_SECOND;
	int member = join(self, 0);
	pid_t child;
	int i;

	ASSERT_LE(0, member);
	sigaction(SIGUSR1, &action, NULL);
	child = fork();
	for (i = 0; !child && i < 5; i++) {
		usleep(50000);
		kill(getppid(), SIGUSR1);
		kill(getppid(), SIGSTOP);
		kill(getppid(), SIGCONT);
	}
	if (!child)
		_exit(0);
	EXPECT_EQ(-ETIMEDOUT, ddio_kdev_joint_wait(member, 0, end, NULL));
	EXPECT_LE(end, kt_now());
	waitpid(child, NULL, 0);
	close(member);
}

/* A member that leaves takes with it the collectives that need it, and no others. */
KT_TEST(joint, leaving)
{
	int member[2] = { join(self, 0), join(self, 1) }, i;
	struct ddio_joint_wait wait;
	__s32 status[NR];
	__u32 both, one;

	ASSERT_TRUE(member[0] >= 0 && member[1] >= 0);
	ASSERT_EQ(0, submit(self, 1, 2, &both));
	ASSERT_EQ(0, submit(self, 1, 1, &one));
	usleep(20000);
	close(member[1]);
	EXPECT_EQ(-EOWNERDEAD, finish(self, both, status));
	for (i = 0; i < (int)NR; i++)
		EXPECT_TRUE(!status[i] || status[i] == -EOWNERDEAD);
	EXPECT_EQ(-EOWNERDEAD, status[NR - 1]);
	EXPECT_EQ(0, ddio_kdev_joint_wait(member[0], 0, kt_now() + MINUTE, &wait));
	EXPECT_EQ(-EOWNERDEAD, wait.out_error);
	EXPECT_EQ(0, finish(self, one, NULL));
	EXPECT_TRUE(holds(self, 1));
	/* The member is missing until another takes its place. */
	EXPECT_EQ(-ENOENT, submit(self, 0, 2, &both));
	member[1] = join(self, 1);
	ASSERT_LE(0, member[1]);
	ASSERT_EQ(0, submit(self, 0, 2, &both));
	EXPECT_EQ(0, finish(self, both, NULL));
	close(member[0]);
	close(member[1]);
}

/* The joint outlives its own descriptor and the process that made it. */
KT_TEST(joint, maker_gone)
{
	int member = join(self, 0);
	struct ddio_joint_wait wait;
	__u32 id;

	ASSERT_LE(0, member);
	ASSERT_EQ(0, submit(self, 1, 1, &id));
	close(self->joint);
	ddio_kdev_close(&self->rig.kdev);
	EXPECT_EQ(0, ddio_kdev_joint_wait(member, 0, kt_now() + MINUTE, &wait));
	EXPECT_EQ(1, wait.out_ended);
	EXPECT_EQ(-ECANCELED, wait.out_error);
	close(member);
	self->joint = open("/dev/null", O_RDONLY);
}

/* A membership lasts as long as its descriptor, whichever process has a copy. */
KT_TEST(joint, inherited)
{
	int member = join(self, 0), hold[2], status;
	pid_t child;
	char c;
	__u32 id;

	ASSERT_LE(0, member);
	EXPECT_EQ(FD_CLOEXEC, fcntl(member, F_GETFD));
	EXPECT_EQ(FD_CLOEXEC, fcntl(self->joint, F_GETFD));
	ASSERT_EQ(0, pipe(hold));
	child = fork();
	if (!child) {
		close(hold[1]);
		if (read(hold[0], &c, 1) == 1)
			execl("/bin/sh", "sh", "-c", "read line", NULL);
		_exit(1);
	}
	close(member);
	ASSERT_EQ(0, submit(self, 0, 1, &id));
	EXPECT_EQ(0, finish(self, id, NULL));
	EXPECT_TRUE(holds(self, 0));
	/* It does not outlive an exec. */
	dup2(hold[0], 0);
	EXPECT_EQ(1, write(hold[1], "x", 1));
	do {
		usleep(10000);
		member = join(self, 0);
	} while (member == -EEXIST);
	EXPECT_LE(0, member);
	close(member);
	close(hold[0]);
	close(hold[1]);
	EXPECT_EQ(child, waitpid(child, &status, 0));
}

static int send_fd(int socket, int fd)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec io = { "f", 1 };
	struct msghdr msg = {
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(socket, &msg, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int socket)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char c;
	struct iovec io = { &c, 1 };
	struct msghdr msg = {
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(socket, &msg, 0) != 1 || control.head.cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

/* A stranger joins by a descriptor that came over a socket, and finds the bytes in its memory. */
static void stranger(FIXTURE_DATA(joint) * self, int socket)
{
	unsigned char *memory = kt_memory(ROOM);
	int joint = receive_fd(socket), member, code = 1;

	member = ddio_kdev_joint_join(joint, 0, memory, ROOM, 0);
	close(joint);
	if (member >= 0 && write(socket, "j", 1) == 1 &&
	    !ddio_kdev_joint_wait(member, 0, DDIO_FOREVER, NULL) &&
	    !memcmp(memory, self->rig.image[0].bytes, ROOM))
		code = 0;
	_exit(code);
}

KT_TEST(joint, passed_over_a_socket)
{
	int pair[2], status = -1;
	pid_t child;
	char c;
	__u32 id;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	child = fork();
	if (!child) {
		close(self->joint);
		close(self->rig.kdev.fd);
		close(pair[0]);
		stranger(self, pair[1]);
	}
	close(pair[1]);
	ASSERT_EQ(0, send_fd(pair[0], self->joint));
	ASSERT_EQ(1, read(pair[0], &c, 1));
	ASSERT_EQ(0, submit(self, 0, 1, &id));
	EXPECT_EQ(0, finish(self, id, NULL));
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	close(pair[0]);
}

static bool stop_joining;

/* Has member 1 join and leave again and again. */
static void *come_and_go(void *arg)
{
	FIXTURE_DATA(joint) *self = arg;
	unsigned long rounds = 0;
	int fd;

	while (!__atomic_load_n(&stop_joining, __ATOMIC_RELAXED)) {
		fd = join(self, 1);
		if (fd >= 0)
			close(fd);
		rounds++;
	}
	return (void *)rounds;
}

KT_TEST(joint, joining_meanwhile)
{
	int member = join(self, 0), i, err, died = 0, missed = 0, whole = 0;
	pthread_t thread;
	void *rounds;
	__u32 id;

	ASSERT_LE(0, member);
	__atomic_store_n(&stop_joining, false, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_create(&thread, NULL, come_and_go, self));
	for (i = 0; i < 60; i++) {
		/* One needs that member, the next does not. */
		err = submit(self, 0, 1 + i % 2, &id);
		if (!err)
			err = finish(self, id, NULL);
		died += err == -EOWNERDEAD;
		missed += err == -ENOENT;
		whole += !err;
		EXPECT_TRUE(!err || (i % 2 && (err == -EOWNERDEAD || err == -ENOENT)));
	}
	__atomic_store_n(&stop_joining, true, __ATOMIC_RELAXED);
	pthread_join(thread, &rounds);
	TH_LOG("%lu joins, %d whole, %d stopped, %d refused", (unsigned long)rounds, whole, died,
	       missed);
	EXPECT_LE(30, whole);
	close(member);
}

/* Copies every second byte of one block, one by one, which takes long. */
static int submit_slow_copy(FIXTURE_DATA(joint) * self, __u32 *id)
{
	struct ddio_submit s;
	int err;

	memset(self->block, 0, sizeof(self->block[0]));
	memset(self->run, 0, sizeof(self->run[0]));
	self->block[0].disk = self->rig.image[0].id;
	self->block[0].length = ROOM;
	self->block[0].buffer = 1;
	self->run[0].length = 1;
	self->run[0].levels = 1;
	self->run[0].level[0] = (struct ddio_run_level){
		.count = ROOM / 2,
		.block_stride = 2,
		.memory_stride = 1,
	};
	kt_submit_init(&s, DDIO_READ, DDIO_SCATTER, self->block, 1);
	s.runs = kt_ptr(self->run);
	s.nr_runs = 1;
	s.joint_fd = self->joint;
	err = ddio_kdev_submit(&self->rig.kdev, &s);
	*id = s.out_collective;
	return err;
}

/* When close() returns the memory is the process's own again, whatever was under way. */
KT_TEST(joint, left_at_once)
{
	unsigned char *m = self->memory[0];
	int member, round, err, died = 0, touched = 0;
	__u32 id, i;

	for (round = 0; round < 60; round++) {
		member = join(self, 0);
		ASSERT_LE(0, member);
		ASSERT_EQ(0, submit_slow_copy(self, &id));
		usleep(kt_below(&self->rng, 20000));
		close(member);
		memset(m, 0xa5, ROOM);
		err = finish(self, id, NULL);
		ASSERT_TRUE(!err || err == -EOWNERDEAD);
		died += err == -EOWNERDEAD;
		for (i = 0; i < ROOM / 2 && m[i] == 0xa5; i++)
			;
		touched += i < ROOM / 2;
	}
	TH_LOG("%d rounds, %d stopped", round, died);
	EXPECT_EQ(0, touched);
}

#define TABLES "/sys/kernel/debug/page_tables/kernel"
#define KPTR "/proc/sys/kernel/kptr_restrict"

/* Where the module has mapped the memory of the only member that has its like: the kernel's own address; 0: it does not tell. */
static __u64 mapped_at(size_t length)
{
	__u64 from, to, at = 0;
	char line[256], old[16];
	FILE *f;

	/* Addresses are shown as they are only if they are hidden from others. */
	if (kt_read(old, sizeof(old), KPTR) || kt_write("1", KPTR))
		return 0;
	f = fopen("/proc/vmallocinfo", "re");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, " ddio_pin_map") &&
		    sscanf(line, "0x%llx-0x%llx", &from, &to) == 2 && to - from >= length)
			at = from;
	if (f)
		fclose(f);
	kt_write(old, KPTR);
	return at;
}

/* Returns 'w' if the kernel may write there, 'r' if not, '?' if it is not known. */
static char access_of(__u64 at)
{
	FILE *f = fopen(TABLES, "re");
	char line[256], access = '?';
	__u64 from, to;

	while (f && access == '?' && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "0x%llx-0x%llx", &from, &to) != 2 || at < from || at >= to)
			continue;
		access = strstr(line, " RW ") ? 'w' : strstr(line, " ro ") ? 'r' : '?';
	}
	if (f)
		fclose(f);
	return access;
}

/* Memory that a member gave for reading alone, the module cannot write to, either. */
KT_TEST(joint, read_only)
{
	static const struct {
		__u32 flags;
		char access;
	} way[] = { { 0, 'w' }, { DDIO_BUFFER_READONLY, 'r' } };
	int member;
	__u64 at;
	size_t i;

	if (access(TABLES, R_OK))
		SKIP(return, "no " TABLES);
	for (i = 0; i < KT_ARRAY_SIZE(way); i++) {
		member = ddio_kdev_joint_join(self->joint, 0, self->memory[0], ROOM, way[i].flags);
		ASSERT_LE(0, member);
		at = mapped_at(ROOM);
		if (!at)
			SKIP(return, "this kernel does not tell where it has mapped something");
		EXPECT_EQ(way[i].access, access_of(at));
		close(member);
	}
}

/* Unmapped memory stays pinned: no data go to memory that was mapped there later. */
KT_TEST(joint, unmapped)
{
	int member = join(self, 0);
	unsigned char *again;
	__u32 id, i;

	ASSERT_LE(0, member);
	ASSERT_EQ(0, submit(self, 1, 1, &id));
	munmap(self->memory[0], ROOM);
	again = mmap(self->memory[0], ROOM, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	ASSERT_EQ(self->memory[0], again);
	EXPECT_EQ(0, finish(self, id, NULL));
	for (i = 0; i < ROOM && !again[i]; i++)
		;
	EXPECT_EQ(ROOM, i);
	close(member);
}

/* The child is member 1 until it is killed; it writes one byte when it has joined. */
static pid_t victim(FIXTURE_DATA(joint) * self, int to)
{
	pid_t child = fork();

	if (child)
		return child;
	ddio_kdev_close(&self->rig.kdev);
	if (join(self, 1) >= 0 && write(to, "j", 1) == 1)
		for (;;)
			pause();
	_exit(1);
}

/* Once: 0 if the collective came to its end before the death, 1 if not, negative if it is wrong. */
static int kill_once(FIXTURE_DATA(joint) * self, int *ready)
{
	__u64 after = kt_below(&self->rng, 30000);
	__s32 status[NR];
	__u32 id, i, failed = 0;
	pid_t child;
	char c;
	int err;

	child = victim(self, ready[1]);
	if (read(ready[0], &c, 1) != 1)
		return -EPIPE;
	err = submit(self, (int)kt_below(&self->rng, 2), 2, &id);
	if (err)
		return err;
	usleep(after);
	kill(child, SIGKILL);
	err = finish(self, id, status);
	waitpid(child, NULL, 0);
	for (i = 0; i < NR; i++) {
		if (status[i] && status[i] != -EOWNERDEAD)
			return status[i];
		failed += !!status[i];
	}
	if (err && err != -EOWNERDEAD)
		return err;
	if (!err != !failed)
		return -EPROTO;
	return !!err;
}

KT_TEST(joint, killed_members)
{
	__u64 rounds = kt_env("DDIO_KILLS", 100), i;
	int member = join(self, 0), ready[2], ret, died = 0;
	struct kt_usage before;

	ASSERT_LE(0, member);
	ASSERT_EQ(0, pipe(ready));
	kt_usage(&before);
	for (i = 0; i < rounds; i++) {
		ret = kill_once(self, ready);
		ASSERT_LE(0, ret);
		died += ret;
	}
	TH_LOG("%llu members killed, %d in the middle", (unsigned long long)rounds, died);
	EXPECT_LT(0, died);
	EXPECT_TRUE(kt_usage_settled(&before, 30));
	close(member);
}
