// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks that go past the slots, between the disk and the memory of members.  The disks have a scatter engine
 * of the test's, which ends the first block of a list with an error after it has damaged it on the disk, or all blocks well.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "env/disk/scatter.h"
#include "tests/unit/iop/coll/coll_tc.h"

enum { BLOCK = 1024, BLOCKS = 4, DAMAGE = 0xbd };

/*
 * A joint, as a mailbox gives it: some descriptor
 */
static struct ddio_joint *a_joint(void)
{
	struct ddio_mailbox box = { .ops = &mail_sockets, .token = "no secret" };
	struct iovec iov = { .iov_base = box.token, .iov_len = sizeof(box.token) };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	int fd = memfd_create("joint", MFD_CLOEXEC), end[2];
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	struct ddio_joint *joint = NULL;

	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, end), 0);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	CU_ASSERT_EQUAL(sendmsg(end[1], &msg, 0), (ssize_t)sizeof(box.token));
	box.fd = end[0];
	strcpy(box.name, "here");
	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_take(&box, &joint), 0);
	close(end[0]);
	close(end[1]);
	close(fd);
	return joint;
}

/*
 * The engine
 */
static struct {
	struct ddio_post post;
	struct ddio_disk_scatter *list;
	uint32_t lists, blocks, given;
	int first; /* what the first block ends with */
} engine;

static void engine_damage(const struct ddio_disk_scatter *list)
{
	uint8_t bytes[BLOCK];
	struct ddio_disk_req req = {
		.op = DDIO_DISK_WRITE, .offset = list->block[0].offset, .len = BLOCK, .buf = bytes
	};

	memset(bytes, DAMAGE, sizeof(bytes));
	CU_ASSERT_EQUAL(ddio_disk_mem.rw_sync(list->disk, &req), 0);
}

static void engine_run(void *arg)
{
	struct ddio_disk_scatter *list = engine.list;
	uint32_t i;

	(void)arg;
	engine.list = NULL;
	if (list->spec.op == DDIO_DISK_WRITE && engine.first)
		engine_damage(list);
	for (i = 0; i < list->nblocks; i++) {
		engine.given += list->sums ? list->block[i].sum : 0;
		if (list->sums && list->spec.op == DDIO_DISK_WRITE)
			list->block[i].sum = 7;
		disk_scatter_landed(list, i, i && engine.first ? -ECANCELED : engine.first);
	}
	disk_scatter_ended(list);
}

static int engine_start(struct ddio_disk_scatter *list)
{
	if (engine.list)
		return -EBUSY;
	engine.list = list;
	engine.lists++;
	engine.blocks += list->nblocks;
	engine.post.fn = engine_run;
	ddio_env_post(list->disk->env, &engine.post);
	return 0;
}

static void engine_cancel(struct ddio_disk_scatter *list)
{
	(void)list;
}

static const struct disk_scatter_engine scatter_ops = { .start = engine_start,
							.cancel = engine_cancel };
static struct ddio_disk_engine scatters;

/*
 * Worlds: one disk, a file of four blocks, two members whose memory is in the joint
 */
struct rig {
	struct coll_world *w;
	struct w_group *g;
	struct w_file f;
	struct ddio_array a;
	struct w_job job;
};

static void rig_new(struct rig *x, uint32_t flags)
{
	struct w_params p = { .seed = 5, .ndisks = 1 };
	struct coll_group *group;

	memset(x, 0, sizeof(*x));
	memset(&engine, 0, sizeof(engine));
	engine.first = -EIO;
	x->w = w_new(&p);
	scatters = ddio_disk_mem;
	scatters.scatter = &scatter_ops;
	x->w->disk[0].disk->engine = &scatters;
	x->w->disk[0].disk->info.scatters = true;
	x->g = w_group_new(x->w, 2);
	group = ddio_list_first(&x->w->reactor[0].groups, struct coll_group, link);
	group->joint = a_joint();
	w_deal(x->w, &x->f, &x->a, BLOCK, BLOCKS, 2);
	x->job = (struct w_job){ .g = x->g, .f = &x->f, .array = &x->a, .flags = flags, .seed = 9 };
}

/* Runs the collective with all members in the joint, until it has ended with @status. */
static void rig_run(struct rig *x, uint32_t status)
{
	struct coll_group *group =
		ddio_list_first(&x->w->reactor[0].groups, struct coll_group, link);
	uint32_t i;

	for (i = 0; i < x->g->n; i++)
		coll_group_member(group, i)->joined_op = x->g->ops + 1;
	CU_ASSERT_EQUAL(w_wait(x->g, w_start(&x->job), 10 * SEC), status);
	w_run(x->w, 5 * MS);
}

/* A collective of which the first block fails. */
static void rig_fail(struct rig *x)
{
	rig_run(x, DDIO_ST_IO);
	CU_ASSERT_EQUAL(engine.lists, 1);
	CU_ASSERT_EQUAL(engine.blocks, BLOCKS);
}

static void rig_free(struct rig *x)
{
	flush_all(x->w);
	w_file_free(&x->f);
	w_free(x->w);
}

/* What the cache held of a block that could not be written is forgotten: the disk may have got some of it. */
static void test_clean(void)
{
	uint8_t buf[BLOCK], damaged[BLOCK];
	struct rig x;

	rig_new(&x, DDIO_COLL_WRITE);
	memset(damaged, DAMAGE, sizeof(damaged));
	tc(x.w, &x.f, 0, buf, BLOCK, false);
	CU_ASSERT_EQUAL(memcmp(buf, x.f.image, BLOCK), 0);
	rig_fail(&x);
	tc(x.w, &x.f, 0, buf, BLOCK, false);
	CU_ASSERT_EQUAL(memcmp(buf, damaged, BLOCK), 0);
	rig_free(&x);
}

/* Dirty bytes that were acknowledged are kept, and get to the disk over the damage. */
static void test_dirty(void)
{
	uint8_t buf[BLOCK];
	struct rig x;

	rig_new(&x, DDIO_COLL_WRITE);
	/* Read first: with some of its bytes unknown it would go through the slots. */
	tc(x.w, &x.f, 0, buf, BLOCK, false);
	memset(buf, 0xd1, sizeof(buf));
	tc(x.w, &x.f, 0, buf, BLOCK - 1, true);
	rig_fail(&x);
	CU_ASSERT_EQUAL(cached(x.w).dirty, 1);
	CU_ASSERT(w_block_read(x.w, &x.f, 0, buf));
	CU_ASSERT_EQUAL(buf[0], DAMAGE);
	flush_all(x.w);
	CU_ASSERT(w_block_read(x.w, &x.f, 0, buf));
	CU_ASSERT_EQUAL(memcmp(buf, x.f.image, BLOCK), 0);
	rig_free(&x);
}

/* A block that could not be read is still what the cache says. */
static void test_read(void)
{
	uint64_t reads;
	uint8_t buf[BLOCK];
	struct rig x;

	rig_new(&x, 0);
	tc(x.w, &x.f, 0, buf, BLOCK, false);
	rig_fail(&x);
	reads = w_totals(x.w).reads;
	tc(x.w, &x.f, 0, buf, BLOCK, false);
	CU_ASSERT_EQUAL(memcmp(buf, x.f.image, BLOCK), 0);
	CU_ASSERT_EQUAL(w_totals(x.w).reads, reads);
	rig_free(&x);
}

/* The disk is given the sums of what it reads, and a block that differs from its own is counted as such. */
static void test_sums_read(void)
{
	struct mem_store *s;
	struct rig x;

	rig_new(&x, 0);
	s = mem_store(x.w->disk[0].store);
	s->sums = true;
	x.w->disk[0].disk->info.scatter_sums = true;
	engine.first = -EBADMSG;
	rig_fail(&x);
	CU_ASSERT_EQUAL(engine.given, BLOCKS * 1000 + BLOCKS * (BLOCKS - 1) / 2);
	CU_ASSERT_EQUAL(s->differ, 1);
	CU_ASSERT_EQUAL(s->same, 0);
	rig_free(&x);
}

/* It tells those of what it writes. */
static void test_sums_written(void)
{
	struct mem_store *s;
	struct rig x;

	rig_new(&x, DDIO_COLL_WRITE);
	s = mem_store(x.w->disk[0].store);
	s->sums = true;
	x.w->disk[0].disk->info.scatter_sums = true;
	engine.first = 0;
	rig_run(&x, 0);
	CU_ASSERT_EQUAL(engine.blocks, BLOCKS);
	CU_ASSERT_EQUAL(engine.given, 0);
	CU_ASSERT_EQUAL(s->told, 7 * BLOCKS);
	rig_free(&x);
}

/* What has sums does not go past us to a disk that cannot compare them; what has none, and what is written, does. */
static void test_no_sums(void)
{
	struct rig x;

	rig_new(&x, 0);
	mem_store(x.w->disk[0].store)->sums = true;
	rig_run(&x, 0);
	CU_ASSERT_EQUAL(engine.blocks, 0);
	mem_store(x.w->disk[0].store)->sums = false;
	rig_run(&x, DDIO_ST_IO);
	CU_ASSERT_EQUAL(engine.blocks, BLOCKS);
	rig_free(&x);
	rig_new(&x, DDIO_COLL_WRITE);
	mem_store(x.w->disk[0].store)->sums = true;
	engine.first = 0;
	rig_run(&x, 0);
	CU_ASSERT_EQUAL(engine.blocks, BLOCKS);
	CU_ASSERT_EQUAL(mem_store(x.w->disk[0].store)->told, 0);
	rig_free(&x);
}

static const struct ut_case cases[] = {
	{ "a failed write: a clean block is forgotten", test_clean },
	{ "a failed write: dirty bytes are kept", test_dirty },
	{ "a failed read: the cache keeps the block", test_read },
	{ "sums of what is read", test_sums_read },
	{ "sums of what is written", test_sums_written },
	{ "a disk without sums", test_no_sums },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "a scattered block fails", cases } };

	return ut_run("test_coll_scatter", suites, 1);
}
