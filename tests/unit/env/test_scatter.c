// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scattering without a kernel: runs as the maps have them against the kernel's runs that
 * they become, byte by byte; mailboxes, whom they believe; worlds without them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/rand.h"
#include "env/kernel/joint.h"
#include "env/real/real.h"
#include "env/disk/scatter.h"
#include "runs.h"
#include "sim/sim.h"
#include "tests/unit/lib/ut.h"

#define BLOCK 4096u
#define MEMORY 65536u

static struct ddio_env *real_env(void)
{
	static const struct ddio_real_opts opts = { .log_level = DDIO_LOG_INFO,
						    .engines = ddio_disk_engines };
	struct ddio_env *env = NULL;

	CU_ASSERT_EQUAL_FATAL(ddio_real_new(&opts, &env), 0);
	return env;
}

/*
 * Letters
 */
static int post(const char *name, const void *text, size_t len, int fd)
{
	struct iovec iov = { .iov_base = (void *)text, .iov_len = len };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct msghdr msg = { .msg_name = &sun, .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	int s = socket(AF_UNIX, SOCK_DGRAM, 0), ret;

	memcpy(sun.sun_path + 1, name, strlen(name));
	msg.msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	ret = sendmsg(s, &msg, 0) < 0 ? -errno : 0;
	close(s);
	return ret;
}

static void test_mailbox(void)
{
	struct ddio_env *env = real_env();
	uint8_t wrong[MAILBOX_TOKEN], longer[MAILBOX_TOKEN + 1] = { 0 };
	struct ddio_mailbox box, other;
	struct ddio_joint *joint = NULL, *copy = NULL;
	struct ddio_membership *m = NULL;
	int fd = memfd_create("letter", MFD_CLOEXEC), i;
	char byte = 'x';

	CU_ASSERT_EQUAL(ddio_mailbox_open(env, &box), 0);
	CU_ASSERT_EQUAL(ddio_mailbox_open(env, &other), 0);
	CU_ASSERT_STRING_NOT_EQUAL(box.name, other.name);
	CU_ASSERT(memcmp(box.token, other.token, sizeof(box.token)) != 0);
	CU_ASSERT_EQUAL(ddio_mailbox_take(&box, &joint), -ENOENT);

	/* Not believed: another token, a longer one, none, the right one without a descriptor. */
	memcpy(wrong, box.token, sizeof(wrong));
	wrong[15] ^= 1;
	memcpy(longer, box.token, sizeof(box.token));
	CU_ASSERT_EQUAL(post(box.name, wrong, sizeof(wrong), fd), 0);
	CU_ASSERT_EQUAL(post(box.name, longer, sizeof(longer), fd), 0);
	CU_ASSERT_EQUAL(post(box.name, "", 0, fd), 0);
	CU_ASSERT_EQUAL(post(box.name, box.token, sizeof(box.token), -1), 0);
	CU_ASSERT_EQUAL(ddio_mailbox_take(&box, &joint), -ENOENT);
	CU_ASSERT_PTR_NULL(joint);

	/* Believed, behind one that is not. */
	CU_ASSERT_EQUAL(post(box.name, wrong, sizeof(wrong), fd), 0);
	CU_ASSERT_EQUAL(post(box.name, box.token, sizeof(box.token), fd), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_take(&box, &joint), 0);
	CU_ASSERT_EQUAL(write(joint_fd(joint), &byte, 1), 1);
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_CUR), 1);

	/* It can be sent on, but not to an address without a receiver. */
	CU_ASSERT_EQUAL(ddio_joint_send(joint, other.name, other.token), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_take(&other, &copy), 0);
	CU_ASSERT_NOT_EQUAL(joint_fd(copy), joint_fd(joint));
	CU_ASSERT_EQUAL(ddio_joint_send(joint, "ddio-nobody", other.token), -ECONNREFUSED);
	CU_ASSERT_EQUAL(ddio_joint_send(joint, "", other.token), -EINVAL);
	for (i = 0; i < 2; i++)
		ddio_mailbox_close(&other);
	CU_ASSERT_EQUAL(ddio_mailbox_take(&other, &copy), -ENOENT);

	/* What is no joint cannot be joined. */
	CU_ASSERT_EQUAL(ddio_joint_join(joint, 0, wrong, sizeof(wrong), false, &m), -ENOTTY);
	CU_ASSERT_PTR_NULL(m);
	ddio_membership_end(NULL);
	ddio_joint_put(copy);
	ddio_joint_put(joint);
	ddio_mailbox_close(&box);
	close(fd);
	ddio_real_free(env);
}

/* A sender that floods a mailbox gets errors, and holds up no one. */
static void test_full(void)
{
	struct ddio_env *env = real_env();
	struct ddio_joint *joint = NULL, *more = NULL;
	struct ddio_mailbox box;
	int fd = memfd_create("letter", MFD_CLOEXEC), err = 0, n;

	CU_ASSERT_EQUAL(ddio_mailbox_open(env, &box), 0);
	CU_ASSERT_EQUAL(post(box.name, box.token, sizeof(box.token), fd), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_take(&box, &joint), 0);
	for (n = 0; n < 100000 && !err; n++)
		err = ddio_joint_send(joint, box.name, box.token);
	CU_ASSERT(err == -EAGAIN || err == -ETOOMANYREFS);
	while (!ddio_mailbox_take(&box, &more)) {
		ddio_joint_put(more);
		n--;
	}
	CU_ASSERT_EQUAL(n, 1);
	ddio_joint_put(joint);
	ddio_mailbox_close(&box);
	close(fd);
	ddio_real_free(env);
}

static void test_elsewhere(void)
{
	struct ddio_sim *sim = ddio_sim_new(1);
	struct ddio_env *real = real_env(), *env = ddio_sim_env(sim, "a");
	struct ddio_joint *joint = NULL;
	struct ddio_mailbox box;

	CU_ASSERT_EQUAL(ddio_mailbox_open(env, &box), -EOPNOTSUPP);
	CU_ASSERT_EQUAL(ddio_mailbox_take(&box, &joint), -ENOENT);
	ddio_mailbox_close(&box);
	CU_ASSERT_EQUAL(ddio_joint_new(env, 4, &joint), -EOPNOTSUPP);
	/* No disk of the module. */
	CU_ASSERT_EQUAL(ddio_joint_new(real, 4, &joint), -EOPNOTSUPP);
	CU_ASSERT_PTR_NULL(joint);
	ddio_sim_free(sim);
	ddio_real_free(real);
}

/*
 * Runs
 */
struct scatter_world {
	struct ddio_env *env;
	struct ddio_disk disk;
	struct ddio_joint *joint;
	struct ddio_disk_scatter *list;
	uint8_t block[BLOCK], got[MEMORY], want[MEMORY];
};

static void block_ended(void *ctx, uint32_t index, int status)
{
	(void)ctx;
	(void)index;
	(void)status;
}

static void list_ended(void *ctx)
{
	(void)ctx;
}

static const struct ddio_disk_scatter_ops list_ops = { .block = block_ended, .ended = list_ended };

static void world_begin(struct scatter_world *w)
{
	struct ddio_disk_scatter_spec spec = {
		.op = DDIO_DISK_READ, .depth = 2, .len = BLOCK, .ops = &list_ops
	};
	struct ddio_mailbox box;
	int fd = memfd_create("joint", MFD_CLOEXEC);
	uint32_t i;

	memset(w, 0, sizeof(*w));
	w->env = real_env();
	w->disk.env = w->env;
	w->disk.info.sector = 512;
	CU_ASSERT_EQUAL(ddio_mailbox_open(w->env, &box), 0);
	CU_ASSERT_EQUAL(post(box.name, box.token, sizeof(box.token), fd), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_take(&box, &w->joint), 0);
	ddio_mailbox_close(&box);
	close(fd);
	spec.joint = w->joint;
	CU_ASSERT_EQUAL(ddio_disk_scatter_new(&w->disk, &spec, &w->list), -EOPNOTSUPP);
	w->disk.info.scatters = true;
	CU_ASSERT_EQUAL_FATAL(ddio_disk_scatter_new(&w->disk, &spec, &w->list), 0);
	for (i = 0; i < BLOCK; i++)
		w->block[i] = (uint8_t)(1 + i % 251);
}

static void world_end(struct scatter_world *w)
{
	ddio_disk_scatter_free(w->list);
	ddio_joint_put(w->joint);
	ddio_real_free(w->env);
}

/* Copies piece by piece, as the definition of runs has it. */
static uint64_t copy_plainly(struct scatter_world *w, const struct ddio_scatter_run *run,
			     uint32_t level, uint64_t offset, uint64_t memory)
{
	uint64_t i, n = 0;

	if (level == run->nlevels) {
		memcpy(w->want + memory, w->block + offset, run->len);
		return 1;
	}
	for (i = 0; i < run->level[level].count; i++)
		n += copy_plainly(w, run, level + 1, offset + i * run->level[level].block_stride,
				  memory + i * (uint64_t)run->level[level].memory_stride);
	return n;
}

/* Nested so that everything fits; levels that repeat nothing have strides that would not. */
static void run_random(uint64_t *r, struct ddio_scatter_run *run)
{
	uint64_t block, memory;
	uint32_t i;

	memset(run, 0, sizeof(*run));
	run->len = 1 + ddio_rand_below(r, 8);
	run->nlevels = (uint32_t)ddio_rand_below(r, 7);
	block = run->len;
	memory = run->len;
	for (i = run->nlevels; i--;) {
		struct ddio_scatter_level *level = &run->level[i];

		level->count = 1 + ddio_rand_below(r, 3);
		level->block_stride = block + ddio_rand_below(r, 3);
		level->memory_stride = (int64_t)(memory + ddio_rand_below(r, 9));
		block += (level->count - 1) * level->block_stride;
		memory += (level->count - 1) * (uint64_t)level->memory_stride;
		if (level->count > 1)
			continue;
		level->block_stride = ~0ull >> 1;
		level->memory_stride = INT64_MIN;
	}
	run->offset = ddio_rand_below(r, BLOCK - block + 1);
	run->memory = ddio_rand_below(r, MEMORY - memory + 1);
}

static void check_run(struct scatter_world *w, const struct ddio_scatter_run *run)
{
	uint64_t pieces = 0, unrolled, i;

	memset(w->got, 0, sizeof(w->got));
	memset(w->want, 0, sizeof(w->want));
	ddio_disk_scatter_clear(w->list);
	CU_ASSERT_EQUAL_FATAL(ddio_disk_scatter_block(w->list, 8 * BLOCK), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_disk_scatter_run(w->list, run), 0);
	unrolled = ddio_disk_scatter_runs(w->list);
	CU_ASSERT_EQUAL(w->list->block[0].where, 0);
	CU_ASSERT_EQUAL(w->list->block[0].buffer, unrolled);
	for (i = 0; i < unrolled; i++) {
		CU_ASSERT_EQUAL_FATAL(ddio_run_check(&w->list->run[i], BLOCK), 0);
		CU_ASSERT_EQUAL_FATAL(ddio_run_check_memory(&w->list->run[i], MEMORY), 0);
		pieces += ddio_run_bytes(&w->list->run[i]) / run->len;
		ddio_run_scatter(&w->list->run[i], w->block, w->got);
	}
	CU_ASSERT_EQUAL(copy_plainly(w, run, 0, run->offset, run->memory), pieces);
	CU_ASSERT_EQUAL(memcmp(w->got, w->want, sizeof(w->got)), 0);
}

static void test_runs(void)
{
	static struct scatter_world w;
	struct ddio_scatter_run run;
	uint64_t r = 20;
	uint32_t i, deep = 0;

	world_begin(&w);
	for (i = 0; i < 2000; i++) {
		run_random(&r, &run);
		check_run(&w, &run);
		deep += ddio_disk_scatter_runs(w.list) > 1;
	}
	CU_ASSERT(deep > 100);
	world_end(&w);
}

static void test_refused(void)
{
	static struct scatter_world w;
	struct ddio_scatter_run run = { .len = 8, .member = 3 };

	world_begin(&w);
	CU_ASSERT_EQUAL(ddio_disk_scatter_run(w.list, &run), -ERANGE); /* of no block */
	CU_ASSERT_EQUAL(ddio_disk_scatter_start(w.list), -EINVAL);
	CU_ASSERT_EQUAL(ddio_disk_scatter_block(w.list, 0), 0);
	run.offset = BLOCK - 7;
	CU_ASSERT_EQUAL(ddio_disk_scatter_run(w.list, &run), -ERANGE);
	run.offset = UINT64_MAX;
	CU_ASSERT_EQUAL(ddio_disk_scatter_run(w.list, &run), -ERANGE);
	run = (struct ddio_scatter_run){ .len = 8, .nlevels = 1 };
	CU_ASSERT_EQUAL(ddio_disk_scatter_run(w.list, &run), -ERANGE); /* count 0 */
	run.level[0].count = 2;
	CU_ASSERT_EQUAL(ddio_disk_scatter_run(w.list, &run), -ERANGE); /* stride 0 */
	run.level[0].block_stride = UINT64_MAX;
	CU_ASSERT_EQUAL(ddio_disk_scatter_run(w.list, &run), -ERANGE);
	run.level[0].block_stride = BLOCK - 8;
	CU_ASSERT_EQUAL(ddio_disk_scatter_run(w.list, &run), 0);
	run.len = 0;
	CU_ASSERT_EQUAL(ddio_disk_scatter_run(w.list, &run), -ERANGE);
	CU_ASSERT_EQUAL(ddio_disk_scatter_runs(w.list), 1);
	CU_ASSERT_EQUAL(ddio_disk_scatter_block(w.list, BLOCK), 0);
	run.len = 8;
	CU_ASSERT_EQUAL(ddio_disk_scatter_run(w.list, &run), 0);
	CU_ASSERT_EQUAL(w.list->block[1].where, 1);
	ddio_disk_scatter_undo(w.list);
	CU_ASSERT_EQUAL(ddio_disk_scatter_blocks(w.list), 1);
	CU_ASSERT_EQUAL(ddio_disk_scatter_runs(w.list), 1);
	world_end(&w);
}

static const struct ut_case letters[] = {
	{ "mailboxes believe the token", test_mailbox },
	{ "a full mailbox", test_full },
	{ "worlds without", test_elsewhere },
	{ NULL, NULL },
};

static const struct ut_case runs[] = {
	{ "unrolled and not, byte by byte", test_runs },
	{ "what cannot be said", test_refused },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "letters", letters }, { "runs", runs } };

	return ut_run("scatter", suites, sizeof(suites) / sizeof(suites[0]));
}
