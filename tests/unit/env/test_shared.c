// SPDX-License-Identifier: GPL-2.0-only
/* Memory that processes of one machine share: in the real world, and in a simulated one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "env/local/shared.h"
#include "env/real/real.h"
#include "sim/sim.h"
#include "tests/unit/lib/ut.h"

enum { LEN = 3 * 4096 };

/* Each case in both worlds. */
static struct ddio_env *env, *sim_env;

static int in_sim(void)
{
	env = sim_env;
	return 0;
}

static struct ddio_shared *given(const struct ddio_shared *shared, bool writable, int err)
{
	struct ddio_shared *taken = NULL;
	struct ddio_mailbox box;

	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(env, &box), 0);
	CU_ASSERT_EQUAL(ddio_shared_send(env, shared, box.name, box.token), 0);
	CU_ASSERT_EQUAL(ddio_shared_take(&box, writable, &taken), err);
	ddio_mailbox_close(&box);
	return taken;
}

/* Both see the same bytes, zeros at first. */
static void test_both_ways(void)
{
	struct ddio_shared *a, *b;
	char *x, *y;

	CU_ASSERT_EQUAL_FATAL(ddio_shared_new(env, LEN, true, &a), 0);
	b = given(a, true, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(b);
	CU_ASSERT_EQUAL(ddio_shared_len(b), LEN);
	x = ddio_shared_mem(a);
	y = ddio_shared_mem(b);
	CU_ASSERT_EQUAL(y[LEN - 1], 0);
	x[5] = 7;
	y[LEN - 1] = 8;
	CU_ASSERT_EQUAL(y[5], 7);
	CU_ASSERT_EQUAL(x[LEN - 1], 8);
	ddio_shared_free(a);
	CU_ASSERT_EQUAL(y[5], 7);
	ddio_shared_free(b);
	ddio_shared_free(NULL);
}

/* Without permission nobody writes to it, whatever way to the file is tried. */
static void test_read_only(void)
{
	struct ddio_shared *a, *b;
	struct ddio_mailbox box;
	char path[64];
	int fd, again;

	CU_ASSERT_EQUAL_FATAL(ddio_shared_new(env, LEN, false, &a), 0);
	((char *)ddio_shared_mem(a))[3] = 4;
	given(a, true, -EPERM);
	b = given(a, false, 0);
	CU_ASSERT_EQUAL(((char *)ddio_shared_mem(b))[3], 4);
	CU_ASSERT_EQUAL(mprotect(ddio_shared_mem(b), LEN, PROT_READ | PROT_WRITE), -1);
	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(env, &box), 0);
	CU_ASSERT_EQUAL(ddio_shared_send(env, a, box.name, box.token), 0);
	CU_ASSERT_EQUAL_FATAL(mailbox_take_fd(&box, &fd), 0);
	ddio_mailbox_close(&box);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR);
	CU_ASSERT(pwrite(fd, "x", 1, 3) == -1 && pwrite(again, "x", 1, 3) == -1);
	CU_ASSERT_PTR_EQUAL(mmap(NULL, LEN, PROT_WRITE, MAP_SHARED, again, 0), MAP_FAILED);
	CU_ASSERT_EQUAL(ftruncate(fd, 0), -1);
	CU_ASSERT_EQUAL(ftruncate(fd, 2 * LEN), -1);
	CU_ASSERT_EQUAL(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	CU_ASSERT(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == -1);
	CU_ASSERT_EQUAL(((char *)ddio_shared_mem(a))[3], 4);
	close(again);
	close(fd);
	ddio_shared_free(a);
	ddio_shared_free(b);
}

/* What could shrink under its reader is not taken, nor what is no memory. */
static void test_not_believed(void)
{
	int fd = memfd_create("soft", MFD_CLOEXEC | MFD_ALLOW_SEALING), null;
	struct ddio_shared *taken;
	struct ddio_mailbox box;
	uint8_t wrong[MAILBOX_TOKEN] = { 1 };

	null = open("/dev/null", O_RDWR);
	CU_ASSERT_EQUAL(ftruncate(fd, LEN), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(env, &box), 0);
	CU_ASSERT_EQUAL(ddio_shared_take(&box, false, &taken), -ENOENT);
	CU_ASSERT_EQUAL(mailbox_send(env, box.name, wrong, fd), 0);
	CU_ASSERT_EQUAL(ddio_shared_take(&box, false, &taken), -ENOENT);
	CU_ASSERT_EQUAL(mailbox_send(env, box.name, box.token, fd), 0);
	CU_ASSERT_EQUAL(ddio_shared_take(&box, false, &taken), -EPERM);
	CU_ASSERT_EQUAL(mailbox_send(env, box.name, box.token, null), 0);
	CU_ASSERT_EQUAL(ddio_shared_take(&box, false, &taken), -EPERM);
	CU_ASSERT(mailbox_send(env, "nobody", box.token, fd) < 0);
	ddio_mailbox_close(&box);
	close(null);
	close(fd);
}

/* Letters that nobody takes are refused in the end, and gone with the box. */
static void test_full(void)
{
	struct ddio_mailbox box;
	uint32_t n = 0;

	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(env, &box), 0);
	while (n < 100000 && !mailbox_send(env, box.name, box.token, 0))
		n++;
	CU_ASSERT(n > 0 && n < 100000);
	ddio_mailbox_close(&box);
}

static void test_elsewhere(void)
{
	struct ddio_sim *sim = ddio_sim_new(2);
	struct ddio_env *far = ddio_sim_env(sim, "far");
	struct ddio_mailbox box;
	struct ddio_shared *shared;

	CU_ASSERT_EQUAL(ddio_mailbox_open(far, &box), -EOPNOTSUPP);
	CU_ASSERT_EQUAL(ddio_shared_new(far, LEN, true, &shared), -EOPNOTSUPP);
	ddio_mailbox_close(&box);
	ddio_sim_free(sim);
}

static const struct ut_case cases[] = {
	{ "both ways", test_both_ways },
	{ "to read only", test_read_only },
	{ "what is not believed", test_not_believed },
	{ "a full mailbox", test_full },
	{ "processes elsewhere", test_elsewhere },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "shared memory", cases } };
	struct ddio_sim *sim = ddio_sim_new(1);
	struct ddio_env *real = NULL;
	int ret;

	sim_env = ddio_sim_env(sim, "local");
	sim_local(sim_env);
	if (ddio_real_new(NULL, &real))
		return 1;
	env = real;
	ret = ut_run_again("test_shared", suites, 1, ", simulated", in_sim);
	ddio_real_free(real);
	ddio_sim_free(sim);
	return ret;
}
