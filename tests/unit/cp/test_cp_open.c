// SPDX-License-Identifier: GPL-2.0-only
/* Opening with a mode, opening by number, and space in advance. */
#include "iop/ns/inode.h"
#include "iop/ns/ns.h"
#include "iop/server/reactor.h"
#include "tests/unit/cp/cp_world.h"

enum { PROCS = 3, BLOCK = 1024 };

static unsigned int mode_of(struct cp_proc *p, uint64_t id)
{
	struct inode inode;
	struct ddio_fs_attr attr;

	CU_ASSERT_EQUAL_FATAL(ns_inode(p->w->node[0].iop->ns, id, &inode), 0);
	inode_attr(&inode, &attr);
	inode_free(&inode);
	return attr.mode & 07777;
}

static void by_name_and_number(struct cp_proc *p)
{
	struct ddio_open_opts make = { .struct_size = sizeof(make),
				       .flags = DDIO_CREATE,
				       .mode = 0640 };
	struct ddio_open_opts by_id = { .struct_size = sizeof(by_id) };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL, *same = NULL;
	struct ddio_file_stat st;
	char buf[8];

	CP_OK(p, ddio_open_all_with(g, "f", &make, &f));
	CP_OK(p, ddio_fstat(f, &st));
	CU_ASSERT_EQUAL(mode_of(p, st.id), 0640);
	if (!p->rank)
		CU_ASSERT_EQUAL(ddio_pwrite(f, "numbers", 8, 0), 8);
	CP_OK(p, ddio_group_barrier(g));
	by_id.id = st.id;
	CP_OK(p, ddio_open_all_with(g, NULL, &by_id, &same));
	CU_ASSERT_EQUAL(ddio_pread(same, buf, 8, 0), 8);
	CU_ASSERT_STRING_EQUAL(buf, "numbers");
	ddio_close(same);
	CP_OK(p, ddio_open_with(p->session, NULL, &by_id, &same));
	CU_ASSERT_EQUAL(ddio_pread(same, buf, 8, 0), 8);
	ddio_close(same);
	ddio_close(f);
	make.mode = 0;
	CP_OK(p, ddio_open_all_with(g, "usual", &make, &f));
	CP_OK(p, ddio_fstat(f, &st));
	CU_ASSERT_EQUAL(mode_of(p, st.id), 0644);
	ddio_close(f);
	ddio_group_free(g);
}

static void wrong_arguments(struct cp_proc *p)
{
	struct ddio_open_opts o = { .struct_size = sizeof(o), .flags = DDIO_CREATE };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct ddio_file_stat st;

	CU_ASSERT_EQUAL(ddio_open_all_with(g, "f", NULL, &f), -EINVAL);
	CU_ASSERT_EQUAL(ddio_open_all_with(g, NULL, &o, &f), -EINVAL);
	o.mode = p->rank == 1 ? 0600 : 0;
	CU_ASSERT_EQUAL(ddio_open_all_with(g, "f", &o, &f), -EBADE);
	o.mode = p->rank == 1 ? 01777 : 0600;
	CU_ASSERT_NOT_EQUAL(ddio_open_all_with(g, "f", &o, &f), 0);
	o.mode = 01777;
	CU_ASSERT_EQUAL(ddio_open_all_with(g, "f", &o, &f), -EINVAL);
	o.mode = 0;
	o.struct_size--;
	CU_ASSERT_EQUAL(ddio_open_with(p->session, "f", &o, &f), -EINVAL);
	o.struct_size++;
	o.id = 12345678;
	CU_ASSERT_EQUAL(ddio_open_with(p->session, "f", &o, &f), -EINVAL);
	CU_ASSERT_EQUAL(ddio_open_with(p->session, NULL, &o, &f), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(ddio_last_error(p->session), "file 12345678"));
	o.flags = 0;
	CU_ASSERT_EQUAL(ddio_open_with(p->session, NULL, &o, &f), -ENOENT);
	CU_ASSERT_PTR_NULL(f);
	/* The root directory. */
	o.id = 1;
	CU_ASSERT_EQUAL(ddio_open_with(p->session, NULL, &o, &f), -EISDIR);
	CU_ASSERT_EQUAL(ddio_stat(p->session, "f", &st), -ENOENT);
	CP_OK(p, ddio_group_barrier(g));
	ddio_group_free(g);
}

/* Sums up the file's blocks that have a place. */
struct block_count {
	uint64_t blocks;
	uint64_t extents;
};

static int place(void *arg, const struct ddio_placement *pl)
{
	struct block_count *pp = arg;

	pp->blocks += pl->count;
	pp->extents++;
	return 0;
}

static void space(struct cp_proc *p)
{
	enum { SIZE = 100 * BLOCK + 7 };
	struct ddio_file *f = NULL;
	struct ddio_file_stat st;
	struct block_count pp = { 0 };
	uint8_t *buf = malloc(SIZE);
	uint64_t i, bad = 0;

	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, "before", 6, 5000), 6);
	CP_OK(p, ddio_allocate(f, 0, 0));
	CP_OK(p, ddio_allocate(f, 3000, SIZE - 3000));
	CP_OK(p, ddio_fstat(f, &st));
	CU_ASSERT_EQUAL(st.size, SIZE);
	CP_OK(p, ddio_layout(f, place, &pp));
	CU_ASSERT_EQUAL(pp.blocks, 101 - 3000 / BLOCK);
	CU_ASSERT_EQUAL(ddio_pread(f, buf, SIZE, 0), SIZE);
	for (i = 0; i < SIZE; i++)
		bad += buf[i] && (i < 5000 || i >= 5006);
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(memcmp(buf + 5000, "before", 6), 0);
	/* What is inside already makes it no longer. */
	CP_OK(p, ddio_allocate(f, 10, 20));
	CP_OK(p, ddio_fstat(f, &st));
	CU_ASSERT_EQUAL(st.size, SIZE);
	CU_ASSERT_EQUAL(ddio_allocate(f, 1ull << 62, 1), -EFBIG);
	CU_ASSERT_EQUAL(ddio_allocate(f, 0, 1ull << 40), -ENOSPC);
	CP_OK(p, ddio_fstat(f, &st));
	CU_ASSERT_EQUAL(st.size, SIZE);
	ddio_close(f);
	free(buf);
}

static void run(void (*fn)(struct cp_proc *p), uint32_t procs)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = procs, .block = BLOCK });
	CU_ASSERT_EQUAL(cp_run(&w, fn, NULL), 0);
	cp_world_end(&w);
}

static void test_open(void)
{
	run(by_name_and_number, PROCS);
}

static void test_wrong(void)
{
	run(wrong_arguments, PROCS);
}

static void test_space(void)
{
	run(space, 1);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "by name with a mode, and by number", test_open },
		{ "wrong arguments", test_wrong },
		{ "space in advance", test_space },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "opening", cases } };

	return ut_run("test_cp_open", suites, 1);
}
