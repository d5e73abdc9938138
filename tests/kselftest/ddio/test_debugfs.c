// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an administrator sees: the device's node, the files in debugfs as ddio(4) lists them, the
 * tracepoints.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#define KT_MAIN
#include "lib/kt_main.h"
#include "lib/world.h"

#define ROOT "/sys/kernel/debug/ddio"
#define TRACING "/sys/kernel/tracing"
#define SMALL 4096U
#define NR 5U
#define BYTES (1U << 20)
#define LINES 64

static struct kt_dev *fast, *dead;

static void kt_prepare(void)
{
	fast = kt_dev_null(&(struct kt_null){ .megabytes = 32 });
	if (!fast)
		kt_skip_all("no null_blk disk: %s", strerror(errno));
	dead = kt_dev_hp97560(NULL);
	if (access(ROOT "/stats", F_OK))
		kt_skip_all("no " ROOT);
}

FIXTURE(debugfs)
{
	struct kt_usage before;
	int ctx;
	__u32 disk;
	__u32 buffer;
	unsigned char *memory;
	struct ddio_block block[NR];
	char dir[300];
};

/* Finds the directory of this process's only context. */
static bool find_dir(char *path, size_t size)
{
	DIR *root = opendir(ROOT);
	struct dirent *entry;
	char name[32];
	int n = 0;

	snprintf(name, sizeof(name), "%d-", getpid());
	while (root && (entry = readdir(root)))
		if (!strncmp(entry->d_name, name, strlen(name))) {
			snprintf(path, size, ROOT "/%s", entry->d_name);
			n++;
		}
	if (root)
		closedir(root);
	return n == 1;
}

/* Four neighbours, and one apart. */
FIXTURE_SETUP(debugfs)
{
	__u32 i;

	kt_usage(&self->before);
	self->memory = kt_memory(BYTES);
	self->ctx = kt_open();
	ASSERT_LE(0, self->ctx);
	ASSERT_EQ(0, kt_disk_open(self->ctx, fast->path, O_RDWR, &self->disk));
	ASSERT_EQ(0, kt_buffer_add(self->ctx, self->memory, BYTES, 0, &self->buffer));
	for (i = 0; i < NR; i++)
		self->block[i] = (struct ddio_block){ .offset = (i + (i == NR - 1)) * SMALL,
						      .where = i * SMALL,
						      .length = SMALL,
						      .disk = self->disk,
						      .buffer = self->buffer };
	ASSERT_EQ(true, find_dir(self->dir, sizeof(self->dir)));
}

FIXTURE_TEARDOWN(debugfs)
{
	close(self->ctx);
	EXPECT_EQ(true, kt_usage_settled(&self->before, 30));
}

/* Reads a file's lines, without their ends; returns how many. */
static int lines_of(const char *dir, const char *name, char line[LINES][256])
{
	char path[400];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	while (f && n < LINES && fgets(line[n], 256, f)) {
		line[n][strcspn(line[n], "\n")] = '\0';
		n++;
	}
	if (f)
		fclose(f);
	return n;
}

static __u64 count(FIXTURE_DATA(debugfs) * self, const char *key)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/stats", self->dir);
	return kt_keyed(path, key);
}

static __u64 total(const char *key)
{
	return kt_keyed(ROOT "/stats", key);
}

/* The node and the files are not for everybody. */
KT_TEST(debugfs, modes)
{
	static const char *const file[] = { "stats", "disks", "buffers", "collectives" };
	char path[400];
	struct stat st;
	size_t i;

	ASSERT_EQ(0, stat("/dev/ddio", &st));
	EXPECT_EQ(S_IFCHR | 0660, st.st_mode);
	EXPECT_EQ(0, st.st_uid);
	for (i = 0; i < KT_ARRAY_SIZE(file); i++) {
		snprintf(path, sizeof(path), "%s/%s", self->dir, file[i]);
		EXPECT_EQ(0, stat(path, &st));
		EXPECT_EQ(S_IFREG | 0400, st.st_mode);
	}
	ASSERT_EQ(0, setresgid(65534, 65534, 65534));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	EXPECT_EQ(-EACCES, kt_open());
}

/* Every counter that the manual page lists, and no other. */
KT_TEST(debugfs, names)
{
	static const char *const name[] = {
		"collectives", "blocks", "read_bytes", "write_bytes", "bios",	"merged",
		"errors",      "events", "kicks",      "works",	      "asleep", "scattered_bytes"
	};
	static const char *const live[] = { "contexts", "disks",       "pins",	 "pinned_pages",
					    "rings",	"collectives", "joints", "memberships" };
	const int names = KT_ARRAY_SIZE(name), lives = KT_ARRAY_SIZE(live);
	char line[LINES][256], begin[64];
	int i;

	EXPECT_EQ(names, lines_of(self->dir, "stats", line));
	for (i = 0; i < names; i++) {
		snprintf(begin, sizeof(begin), "%s 0", name[i]);
		EXPECT_STREQ(begin, line[i]);
	}
	EXPECT_EQ(names + lives, lines_of(ROOT, "stats", line));
	for (i = 0; i < lives; i++) {
		snprintf(begin, sizeof(begin), "live_%s ", live[i]);
		EXPECT_EQ(0, strncmp(begin, line[names + i], strlen(begin)));
	}
}

static int move(FIXTURE_DATA(debugfs) * self, __u32 op, __u32 flags)
{
	struct ddio_submit s;
	int err;

	kt_submit_init(&s, op, DDIO_PLACE, self->block, NR);
	s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET | flags;
	err = kt_submit(self->ctx, &s);
	return err ? err : s.out_error;
}

/* What is counted is what was done; what a context counted stays in the sums when it is gone. */
KT_TEST(debugfs, counters)
{
	const __u64 blocks = total("blocks"), bios = total("bios"), read = total("read_bytes");
	struct ddio_ring *ring;
	size_t length;

	ASSERT_EQ(0, move(self, DDIO_READ, 0));
	EXPECT_EQ(1, count(self, "collectives"));
	EXPECT_EQ(NR, count(self, "blocks"));
	EXPECT_EQ(NR * SMALL, count(self, "read_bytes"));
	EXPECT_EQ(0, count(self, "write_bytes"));
	EXPECT_EQ(2, count(self, "bios"));
	EXPECT_EQ(NR - 2, count(self, "merged"));
	EXPECT_EQ(0, count(self, "errors"));
	EXPECT_EQ(0, count(self, "events"));
	EXPECT_LT(0, count(self, "works"));
	ASSERT_EQ(0, kt_ring_setup(self->ctx, 64, 0, &ring, &length));
	ASSERT_EQ(0, move(self, DDIO_WRITE, DDIO_SUBMIT_EVENTS));
	EXPECT_EQ(NR * SMALL, count(self, "write_bytes"));
	EXPECT_EQ(NR + 1, count(self, "events"));
	EXPECT_EQ(2, count(self, "collectives"));
	EXPECT_EQ(0, count(self, "scattered_bytes"));
	munmap(ring, length);
	close(self->ctx);
	EXPECT_NE(0, access(self->dir, F_OK));
	EXPECT_EQ(blocks + 2 * NR, total("blocks"));
	EXPECT_EQ(bios + 4, total("bios"));
	EXPECT_EQ(read + NR * SMALL, total("read_bytes"));
	self->ctx = kt_open();
}

/* Those of streams, scattered blocks and errors. */
KT_TEST(debugfs, counters_of_deliveries)
{
	struct ddio_kick kick = { .size = sizeof(kick) };
	struct ddio_block block = { .length = SMALL, .disk = self->disk, .buffer = 1 };
	struct ddio_run run = { .length = SMALL };
	struct ddio_ring *ring;
	struct ddio_submit s;
	size_t length;
	int joint, member, i;

	joint = kt_joint_create(self->ctx, 1);
	member = kt_joint_join(joint, 0, self->memory, BYTES, 0);
	ASSERT_LE(0, member);
	kt_submit_init(&s, DDIO_READ, DDIO_SCATTER, &block, 1);
	s.runs = kt_ptr(&run);
	s.nr_runs = 1;
	s.joint_fd = joint;
	s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_FORGET;
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	EXPECT_EQ(SMALL, count(self, "scattered_bytes"));
	ASSERT_EQ(0, kt_ring_setup(self->ctx, 64, 8, &ring, &length));
	ASSERT_EQ(0, kt_stream_begin(self->ctx, self->disk, self->buffer, &kick.collective,
				     &kick.slot));
	for (i = 0; i < 1000 && !count(self, "asleep"); i++)
		usleep(10000);
	EXPECT_LT(0, count(self, "asleep"));
	EXPECT_EQ(0, kt_call(self->ctx, DDIO_KICK, &kick));
	EXPECT_EQ(1, count(self, "kicks"));
	EXPECT_EQ(0, count(self, "errors"));
	EXPECT_EQ(0, kt_cancel(self->ctx, kick.collective));
	EXPECT_EQ(-ECANCELED, kt_wait(self->ctx, kick.collective, DDIO_FOREVER, NULL));
	EXPECT_LT(0, count(self, "errors"));
	munmap(ring, length);
	close(member);
	close(joint);
}

/* One line for each object, with what the manual page says. */
KT_TEST(debugfs, objects)
{
	const char *name = strrchr(fast->path, '/') + 1;
	char line[LINES][256], expect[256];
	__u32 read_only, disk;

	ASSERT_EQ(0, kt_buffer_add(self->ctx, self->memory + 1, SMALL, DDIO_BUFFER_READONLY,
				   &read_only));
	ASSERT_EQ(1, lines_of(self->dir, "disks", line));
	snprintf(expect, sizeof(expect), "%u %s rw logical %u align ", self->disk, name,
		 fast->logical);
	EXPECT_EQ(0, strncmp(expect, line[0], strlen(expect)));
	snprintf(expect, sizeof(expect), " bytes %llu users 0", (unsigned long long)fast->bytes);
	EXPECT_NE(NULL, strstr(line[0], expect));
	ASSERT_EQ(2, lines_of(self->dir, "buffers", line));
	snprintf(expect, sizeof(expect), "%u rw bytes %u pages %u piece ", self->buffer, BYTES,
		 BYTES / 4096);
	EXPECT_EQ(0, strncmp(expect, line[0], strlen(expect)));
	snprintf(expect, sizeof(expect), "%u r bytes %u pages 2 piece 4096 users 0", read_only,
		 SMALL);
	EXPECT_STREQ(expect, line[1]);
	EXPECT_EQ(0, lines_of(self->dir, "collectives", line));
	EXPECT_EQ(0, kt_destroy(self->ctx, self->disk));
	EXPECT_EQ(0, kt_destroy(self->ctx, read_only));
	EXPECT_EQ(0, lines_of(self->dir, "disks", line));
	EXPECT_EQ(1, lines_of(self->dir, "buffers", line));
	ASSERT_EQ(0, kt_disk_open(self->ctx, fast->path, O_RDONLY, &disk));
	ASSERT_EQ(1, lines_of(self->dir, "disks", line));
	snprintf(expect, sizeof(expect), "%u %s r logical ", disk, name);
	EXPECT_EQ(0, strncmp(expect, line[0], strlen(expect)));
}

static bool line_is(const char *dir, const char *expect)
{
	char line[LINES][256];

	if (lines_of(dir, "collectives", line) == 1 && !strcmp(expect, line[0]))
		return true;
	printf("# \"%s\", not \"%s\"\n", line[0], expect);
	return false;
}

/* A collective's line from its begin to its end, and who uses what meanwhile. */
KT_TEST(debugfs, collective)
{
	char expect[256], line[LINES][256];
	struct ddio_submit s;
	__u32 disk, i;

	if (!dead)
		SKIP(return, "no hp97560 disk");
	ASSERT_EQ(0, kt_disk_open(self->ctx, dead->path, O_RDWR, &disk));
	for (i = 0; i < NR; i++) {
		self->block[i].disk = disk;
		self->block[i].offset = 2 * i * SMALL;
	}
	ASSERT_EQ(0, kt_write("1", "/sys/kernel/config/hp97560/%s/stall", dead->name));
	kt_submit_init(&s, DDIO_WRITE, DDIO_PLACE, self->block, NR);
	s.depth = 3;
	/* The call itself begins as many as may be in flight, and then finds its time over. */
	s.flags = DDIO_SUBMIT_WAIT;
	s.deadline = 1;
	ASSERT_EQ(0, kt_submit(self->ctx, &s));
	snprintf(expect, sizeof(expect),
		 "%u write place running blocks 5 ok 0 depth 3 disks 1 stop 0", s.out_collective);
	EXPECT_EQ(true, line_is(self->dir, expect));
	ASSERT_EQ(2, lines_of(self->dir, "disks", line));
	EXPECT_NE(NULL, strstr(line[0], "users 0"));
	EXPECT_NE(NULL, strstr(line[1], "users 1"));
	ASSERT_EQ(1, lines_of(self->dir, "buffers", line));
	EXPECT_NE(NULL, strstr(line[0], "users 1"));
	EXPECT_EQ(0, kt_cancel(self->ctx, s.out_collective));
	snprintf(expect, sizeof(expect),
		 "%u write place running blocks 5 ok 0 depth 3 disks 1 stop %d", s.out_collective,
		 -ECANCELED);
	EXPECT_EQ(true, line_is(self->dir, expect));
	ASSERT_EQ(0, kt_write("0", "/sys/kernel/config/hp97560/%s/stall", dead->name));
	EXPECT_EQ(-ECANCELED, kt_wait(self->ctx, s.out_collective, DDIO_FOREVER, NULL));
	snprintf(expect, sizeof(expect),
		 "%u write place ended blocks 5 ok 3 depth 3 disks 0 stop %d", s.out_collective,
		 -ECANCELED);
	EXPECT_EQ(true, line_is(self->dir, expect));
	EXPECT_EQ(0, kt_destroy(self->ctx, s.out_collective));
	EXPECT_EQ(0, lines_of(self->dir, "collectives", line));
}

/* Live counts follow what exists. */
KT_TEST(debugfs, live)
{
	const __u64 contexts = total("live_contexts"), disks = total("live_disks"),
		    pins = total("live_pins"), pages = total("live_pinned_pages"),
		    rings = total("live_rings"), joints = total("live_joints"),
		    members = total("live_memberships");
	struct ddio_ring *ring;
	int ctx = kt_open(), joint, member;
	size_t length;
	__u32 id;

	EXPECT_EQ(contexts + 1, total("live_contexts"));
	ASSERT_EQ(0, kt_disk_open(ctx, fast->path, O_RDWR, &id));
	EXPECT_EQ(disks + 1, total("live_disks"));
	ASSERT_EQ(0, kt_buffer_add(ctx, self->memory, 3 * SMALL, 0, &id));
	EXPECT_EQ(pins + 1, total("live_pins"));
	EXPECT_EQ(pages + 3, total("live_pinned_pages"));
	ASSERT_EQ(0, kt_ring_setup(ctx, 8, 0, &ring, &length));
	EXPECT_EQ(rings + 1, total("live_rings"));
	joint = kt_joint_create(ctx, 1);
	EXPECT_EQ(joints + 1, total("live_joints"));
	member = kt_joint_join(joint, 0, self->memory, SMALL, 0);
	EXPECT_EQ(members + 1, total("live_memberships"));
	EXPECT_EQ(pins + 2, total("live_pins"));
	close(member);
	close(joint);
	EXPECT_EQ(members, total("live_memberships"));
	EXPECT_EQ(joints, total("live_joints"));
	munmap(ring, length);
	close(ctx);
	EXPECT_EQ(contexts, total("live_contexts"));
	EXPECT_EQ(rings, total("live_rings"));
	EXPECT_EQ(pages, total("live_pinned_pages"));
}

static bool traced(const char *event)
{
	char line[512];
	bool found = false;
	FILE *f = fopen(TRACING "/trace", "re");

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, event);
	if (f)
		fclose(f);
	return found;
}

/* A transfer and a stream leave each of the four in the trace. */
KT_TEST(debugfs, tracepoints)
{
	struct ddio_ring *ring;
	__u32 coll, slot;
	size_t length;
	int i;

	if (access(TRACING "/events/ddio/enable", F_OK))
		SKIP(return, "no " TRACING);
	ASSERT_EQ(0, kt_empty(TRACING "/trace"));
	ASSERT_EQ(0, kt_write("1", TRACING "/events/ddio/enable"));
	ASSERT_EQ(0, move(self, DDIO_READ, 0));
	ASSERT_EQ(0, kt_ring_setup(self->ctx, 64, 8, &ring, &length));
	ASSERT_EQ(0, kt_stream_begin(self->ctx, self->disk, self->buffer, &coll, &slot));
	for (i = 0; i < 1000 && !count(self, "asleep"); i++)
		usleep(10000);
	kt_cancel(self->ctx, coll);
	kt_wait(self->ctx, coll, DDIO_FOREVER, NULL);
	ASSERT_EQ(0, kt_write("0", TRACING "/events/ddio/enable"));
	EXPECT_EQ(true, traced("ddio_submit:"));
	EXPECT_EQ(true, traced("ddio_block_done:"));
	EXPECT_EQ(true, traced("ddio_slot:"));
	EXPECT_EQ(true, traced("ddio_complete:"));
	munmap(ring, length);
}
