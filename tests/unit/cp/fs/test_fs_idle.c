// SPDX-License-Identifier: GPL-2.0-only
/* Inodes: who moves their data, and how long a mount remembers those that nobody uses any more. */
#include "tests/unit/cp/fs/fs_world.h"
#include "userlib/cp/fs/inode/inode.h"

enum { BLOCK = 1024, FILES = 50, LEN = 3 * BLOCK };

static void write_one(struct fs_mount *m, uint32_t i, bool sync)
{
	static const uint8_t data[LEN];
	struct ddio_fs_file *file;
	char name[16];

	snprintf(name, sizeof(name), "f%u", i);
	file = fs_create(m, name, O_RDWR);
	FS_OK(m, ddio_fs_write, file, data, LEN, 0);
	if (sync)
		FS_OK(m, ddio_fs_sync, file);
	FS_OK(m, ddio_fs_file_close, file);
}

/* After a minute it forgets what a walk over many files has left. */
static void forgotten(void)
{
	struct fs_world w;
	struct fs_mount *m;
	uint32_t i;

	fs_world_make(&w, true, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	for (i = 0; i < FILES; i++)
		write_one(m, i, true);
	ddio_sim_run_for(w.dw, 30 * FS_SEC);
	CU_ASSERT_EQUAL(fsc_inodes_idle(m->fs), FILES);
	write_one(m, FILES, true);
	ddio_sim_run_for(w.dw, 35 * FS_SEC);
	CU_ASSERT_EQUAL(fsc_inodes_idle(m->fs), 1);
	ddio_sim_run_for(w.dw, 35 * FS_SEC);
	CU_ASSERT_EQUAL(fsc_inodes_idle(m->fs), 0);
	fs_world_end(&w);
}

/* But not what a later sync needs: which lives of the nodes have what was written. */
static void remembered(void)
{
	struct ddio_fs_file *file = NULL;
	struct fs_world w;
	struct fs_mount *m;
	uint64_t ino;

	fs_world_make(&w, true, 2, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	write_one(m, 0, false);
	write_one(m, 1, true);
	FS_OK(m, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "f0");
	ino = m->r.attr.ino;
	ddio_sim_run_for(w.dw, 100 * FS_SEC);
	CU_ASSERT_EQUAL(fsc_inodes_idle(m->fs), 1);
	FS_OK(m, ddio_fs_file_open, m->fs, ino, O_RDWR, &file);
	FS_OK(m, ddio_fs_sync, file);
	FS_OK(m, ddio_fs_file_close, file);
	ddio_sim_run_for(w.dw, 100 * FS_SEC);
	CU_ASSERT_EQUAL(fsc_inodes_idle(m->fs), 0);
	fs_world_end(&w);
}

/* Takes inodes from @first on into use, and checks which reactors move their data: a digit each. */
static void expect_reactors(struct fs_mount *m, uint64_t first, const char *digits)
{
	char got[16] = "";
	size_t i;

	for (i = 0; digits[i]; i++)
		got[i] = (char)('0' + fsc_inode_get(m->fs, first + i)->r->index);
	CU_ASSERT_STRING_EQUAL(got, digits);
	for (i = 0; digits[i]; i++)
		fsc_inode_put(fsc_inode_find(m->fs, first + i));
}

/* Where requests are taken on reactor 0, that moves the data of a file that is used alone, whatever its number. */
static void placed(void)
{
	struct fs_world w;
	struct fs_mount *m;

	fs_world_make(&w, true, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	expect_reactors(m, 1000, "010101");
	m->fs->serving = true;
	expect_reactors(m, 1000, "0");
	expect_reactors(m, 1001, "0");
	expect_reactors(m, 1000, "001010");
	m->fs->serving = false;
	fs_world_end(&w);
}

static const struct ut_case cases[] = {
	{ "what was synced is forgotten after a minute", forgotten },
	{ "what was not is remembered until it is", remembered },
	{ "who moves a file's data", placed },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs idle", cases } };

	return ut_run("fs_idle", suites, 1);
}
