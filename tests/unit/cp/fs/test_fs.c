// SPDX-License-Identifier: GPL-2.0-only
/* The file system's client: names, attributes, data, locks, removal; data on real I/O processors. */
#include "tests/unit/cp/fs/fs_world.h"
#include "userlib/cp/fs/inode/inode.h"

enum { BLOCK = 1024 };

static void names(void)
{
	struct ddio_fs_new dir = { .mode = S_IFDIR | 0755 };
	struct ddio_fs_file *file;
	struct fs_world w;
	struct fs_mount *m;
	char name[300];
	uint64_t ino;

	fs_world_begin(&w, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	FS_ERR(m, -ENOENT, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "a");
	file = fs_create(m, "a", O_RDWR | O_EXCL);
	CU_ASSERT_EQUAL(m->r.value, 1);
	ino = m->r.attr.ino;
	FS_OK(m, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "a");
	CU_ASSERT_EQUAL(m->r.attr.ino, ino);
	FS_OK(m, ddio_fs_link, m->fs, ino, DDIO_FS_ROOT, "b");
	CU_ASSERT_EQUAL(m->r.attr.nlink, 2);
	FS_ERR(m, -EEXIST, ddio_fs_link, m->fs, ino, DDIO_FS_ROOT, "b");
	FS_OK(m, ddio_fs_rename, m->fs, DDIO_FS_ROOT, "b", DDIO_FS_ROOT, "c", 0);
	FS_ERR(m, -EINVAL, ddio_fs_rename, m->fs, DDIO_FS_ROOT, "b", DDIO_FS_ROOT, "c", 8);
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "a");
	FS_OK(m, ddio_fs_make, m->fs, DDIO_FS_ROOT, "d", &dir);
	FS_ERR(m, -EEXIST, ddio_fs_make, m->fs, DDIO_FS_ROOT, "d", &dir);
	memset(name, 'x', sizeof(name));
	name[256] = '\0';
	FS_ERR(m, -ENAMETOOLONG, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, name);
	FS_ERR(m, -ENAMETOOLONG, ddio_fs_make, m->fs, DDIO_FS_ROOT, name, &dir);
	name[255] = '\0';
	FS_OK(m, ddio_fs_make, m->fs, DDIO_FS_ROOT, name, &dir);
	FS_ERR(m, -EINVAL, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "a/b");
	FS_ERR(m, -ENOENT, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "");
	FS_OK(m, ddio_fs_readdir, m->fs, DDIO_FS_ROOT, 0, 100, false);
	CU_ASSERT_EQUAL(m->r.len, 3);
	FS_OK(m, ddio_fs_file_close, file);
	fs_world_end(&w);
}

static void check_bytes(struct fs_mount *m, struct ddio_fs_file *file, uint64_t seed, uint64_t at,
			size_t len)
{
	uint8_t *buf = malloc(len), *want = malloc(len);

	fs_fill(want, len, seed, at);
	memset(buf, 0xaa, len);
	FS_OK(m, ddio_fs_read, file, buf, len, at);
	CU_ASSERT_EQUAL(m->r.value, len);
	CU_ASSERT_EQUAL(memcmp(buf, want, len), 0);
	free(buf);
	free(want);
}

static void put_bytes(struct fs_mount *m, struct ddio_fs_file *file, uint64_t seed, uint64_t at,
		      size_t len)
{
	uint8_t *buf = malloc(len);

	fs_fill(buf, len, seed, at);
	FS_OK(m, ddio_fs_write, file, buf, len, at);
	CU_ASSERT_EQUAL(m->r.value, len);
	free(buf);
}

/* Every length and offset around the edges of blocks and stripes. */
static void data(void)
{
	static const uint64_t edges[] = { 0,	     1,		BLOCK - 1,    BLOCK,
					  BLOCK + 1, 4 * BLOCK, 9 * BLOCK - 3 };
	static const size_t lens[] = { 1, 3, BLOCK, BLOCK + 1, 4 * BLOCK, 13 * BLOCK + 7 };
	struct ddio_fs_file *file;
	struct fs_world w;
	struct fs_mount *m;
	uint8_t buf[64];
	uint64_t ino;
	size_t i, k;

	fs_world_begin(&w, 2, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	file = fs_create(m, "a", O_RDWR);
	ino = m->r.attr.ino;
	FS_OK(m, ddio_fs_read, file, buf, sizeof(buf), 0);
	CU_ASSERT_EQUAL(m->r.value, 0);
	for (i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		for (k = 0; k < sizeof(lens) / sizeof(lens[0]); k++) {
			put_bytes(m, file, i * 16 + k, edges[i], lens[k]);
			check_bytes(m, file, i * 16 + k, edges[i], lens[k]);
		}
	}
	FS_OK(m, ddio_fs_getattr, m->fs, ino);
	CU_ASSERT_EQUAL(m->r.attr.size, 9 * BLOCK - 3 + 13 * BLOCK + 7);
	CU_ASSERT(m->r.attr.alloc >= m->r.attr.size / 2);
	CU_ASSERT_NOT_EQUAL(m->r.attr.alloc, DDIO_FS_ALLOC_UNKNOWN);
	/* Behind the end, and across it. */
	FS_OK(m, ddio_fs_read, file, buf, sizeof(buf), 22 * BLOCK + 4 - 10);
	CU_ASSERT_EQUAL(m->r.value, 10);
	FS_OK(m, ddio_fs_read, file, buf, sizeof(buf), 1 << 30);
	CU_ASSERT_EQUAL(m->r.value, 0);
	FS_ERR(m, -EFBIG, ddio_fs_write, file, buf, sizeof(buf), (1ull << 62) - 8);
	FS_OK(m, ddio_fs_write, file, buf, 0, 5);
	FS_OK(m, ddio_fs_file_close, file);
	fs_world_end(&w);
}

/* Bytes that no object holds are read as zeros. */
static void holes(void)
{
	struct ddio_fs_file *file;
	struct ddio_fs_attr attr = { .size = 50 * BLOCK };
	struct fs_world w;
	struct fs_mount *m;
	uint8_t buf[3 * BLOCK], zero[3 * BLOCK] = { 0 };
	uint64_t ino;

	fs_world_begin(&w, 3, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	file = fs_create(m, "a", O_RDWR);
	ino = m->r.attr.ino;
	put_bytes(m, file, 1, 0, 10);
	put_bytes(m, file, 1, 20 * BLOCK, 100);
	FS_OK(m, ddio_fs_read, file, buf, sizeof(buf), 5 * BLOCK);
	CU_ASSERT_EQUAL(m->r.value, sizeof(buf));
	CU_ASSERT_EQUAL(memcmp(buf, zero, sizeof(buf)), 0);
	FS_OK(m, ddio_fs_seek, file, 0, SEEK_HOLE);
	CU_ASSERT_EQUAL(m->r.value, BLOCK);
	FS_OK(m, ddio_fs_seek, file, BLOCK, SEEK_DATA);
	CU_ASSERT_EQUAL(m->r.value, 20 * BLOCK);
	FS_OK(m, ddio_fs_seek, file, 20 * BLOCK + 5, SEEK_DATA);
	CU_ASSERT_EQUAL(m->r.value, 20 * BLOCK + 5);
	FS_OK(m, ddio_fs_seek, file, 20 * BLOCK + 5, SEEK_HOLE);
	CU_ASSERT_EQUAL(m->r.value, 20 * BLOCK + 100);
	FS_ERR(m, -ENXIO, ddio_fs_seek, file, 20 * BLOCK + 100, SEEK_DATA);
	FS_ERR(m, -EINVAL, ddio_fs_seek, file, 0, SEEK_SET);
	/* Longer, shorter, longer again: what was cut does not come back. */
	FS_OK(m, ddio_fs_setattr, m->fs, ino, DDIO_FS_SET_SIZE, &attr);
	CU_ASSERT_EQUAL(m->r.attr.size, 50 * BLOCK);
	FS_OK(m, ddio_fs_read, file, buf, sizeof(buf), 49 * BLOCK);
	CU_ASSERT_EQUAL(m->r.value, BLOCK);
	attr.size = 20 * BLOCK + 7;
	FS_OK(m, ddio_fs_setattr, m->fs, ino, DDIO_FS_SET_SIZE, &attr);
	check_bytes(m, file, 1, 20 * BLOCK, 7);
	attr.size = 20 * BLOCK + 90;
	FS_OK(m, ddio_fs_setattr, m->fs, ino, DDIO_FS_SET_SIZE, &attr);
	FS_OK(m, ddio_fs_read, file, buf, sizeof(buf), 20 * BLOCK + 7);
	CU_ASSERT_EQUAL(m->r.value, 83);
	CU_ASSERT_EQUAL(memcmp(buf, zero, 83), 0);
	attr.size = 1ull << 63;
	FS_ERR(m, -EFBIG, ddio_fs_setattr, m->fs, ino, DDIO_FS_SET_SIZE, &attr);
	FS_OK(m, ddio_fs_file_close, file);
	/* A file that no one has open. */
	attr.size = 3;
	FS_OK(m, ddio_fs_setattr, m->fs, ino, DDIO_FS_SET_SIZE, &attr);
	CU_ASSERT_EQUAL(m->r.attr.size, 3);
	FS_OK(m, ddio_fs_file_open, m->fs, ino, O_RDWR, &file);
	check_bytes(m, file, 1, 0, 3);
	FS_OK(m, ddio_fs_file_close, file);
	FS_OK(m, ddio_fs_file_open, m->fs, ino, O_RDWR | O_TRUNC, &file);
	CU_ASSERT_EQUAL(m->r.attr.size, 0);
	FS_OK(m, ddio_fs_read, file, buf, 10, 0);
	CU_ASSERT_EQUAL(m->r.value, 0);
	FS_OK(m, ddio_fs_file_close, file);
	fs_world_end(&w);
}

/* Another mount cuts the file, which this one has not heard of: a read ends where the file ends now. */
static void cut_meanwhile(void)
{
	struct ddio_fs_attr attr = { .size = 2 * BLOCK + 7 };
	struct ddio_fs_file *a;
	struct fs_world w;
	struct fs_mount *m, *n;
	uint8_t buf[10 * BLOCK], want[2 * BLOCK + 7];
	uint64_t ino;

	fs_world_begin(&w, 12, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	n = fs_mount(&w, 1, 0);
	fs_fill(want, sizeof(want), 1, 0);
	a = fs_create(m, "a", O_RDWR);
	ino = m->r.attr.ino;
	put_bytes(m, a, 1, 0, 8 * BLOCK);
	FS_OK(n, ddio_fs_setattr, n->fs, ino, DDIO_FS_SET_SIZE, &attr);
	/* Up to the old end at once, and the name server is asked what comes after it. */
	CU_ASSERT_EQUAL(a->inode->size, 8 * BLOCK);
	FS_OK(m, ddio_fs_read, a, buf, sizeof(buf), 0);
	CU_ASSERT_EQUAL(m->r.value, sizeof(want));
	CU_ASSERT_EQUAL(memcmp(buf, want, sizeof(want)), 0);
	/* From beyond the new end. */
	put_bytes(m, a, 1, 0, 8 * BLOCK);
	FS_OK(n, ddio_fs_setattr, n->fs, ino, DDIO_FS_SET_SIZE, &attr);
	CU_ASSERT_EQUAL(a->inode->size, 8 * BLOCK);
	FS_OK(m, ddio_fs_read, a, buf, sizeof(buf), 5 * BLOCK);
	CU_ASSERT_EQUAL(m->r.value, 0);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

static void space(void)
{
	struct ddio_fs_file *file;
	struct ddio_fs_space s;
	struct fs_world w;
	struct fs_mount *m;
	uint8_t buf[BLOCK], zero[BLOCK] = { 0 };
	uint64_t ino;

	fs_world_begin(&w, 4, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	file = fs_create(m, "a", O_RDWR);
	ino = m->r.attr.ino;
	FS_OK(m, ddio_fs_allocate, file, 0, 0, 8 * BLOCK);
	FS_OK(m, ddio_fs_getattr, m->fs, ino);
	CU_ASSERT_EQUAL(m->r.attr.size, 8 * BLOCK);
	CU_ASSERT_EQUAL(m->r.attr.alloc, 8 * BLOCK);
	FS_OK(m, ddio_fs_allocate, file, FALLOC_FL_KEEP_SIZE, 8 * BLOCK, 4 * BLOCK);
	FS_OK(m, ddio_fs_getattr, m->fs, ino);
	CU_ASSERT_EQUAL(m->r.attr.size, 8 * BLOCK);
	CU_ASSERT_EQUAL(m->r.attr.alloc, 12 * BLOCK);
	put_bytes(m, file, 1, 0, 8 * BLOCK);
	FS_OK(m, ddio_fs_allocate, file, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, BLOCK,
	      2 * BLOCK);
	FS_OK(m, ddio_fs_read, file, buf, BLOCK, BLOCK + 5);
	CU_ASSERT_EQUAL(memcmp(buf, zero, BLOCK), 0);
	check_bytes(m, file, 1, 3 * BLOCK, BLOCK);
	FS_OK(m, ddio_fs_getattr, m->fs, ino);
	CU_ASSERT_EQUAL(m->r.attr.alloc, 10 * BLOCK);
	FS_OK(m, ddio_fs_allocate, file, FALLOC_FL_ZERO_RANGE, 5 * BLOCK + 10, BLOCK);
	FS_OK(m, ddio_fs_read, file, buf, BLOCK, 5 * BLOCK + 10);
	CU_ASSERT_EQUAL(memcmp(buf, zero, BLOCK), 0);
	check_bytes(m, file, 1, 5 * BLOCK, 10);
	FS_ERR(m, -EOPNOTSUPP, ddio_fs_allocate, file, FALLOC_FL_PUNCH_HOLE, 0, 1);
	FS_ERR(m, -EOPNOTSUPP, ddio_fs_allocate, file, 0x8, 0, 1);
	FS_ERR(m, -EINVAL, ddio_fs_allocate, file, 0, 0, 0);
	FS_ERR(m, -ENOSPC, ddio_fs_allocate, file, 0, 0, 64 << 20);
	FS_OK(m, ddio_fs_space, m->fs);
	memcpy(&s, m->r.data, sizeof(s));
	CU_ASSERT(s.blocks * s.unit > 12u << 20 && s.blocks * s.unit <= 16u << 20);
	CU_ASSERT(s.free < s.blocks);
	CU_ASSERT_EQUAL(s.inodes, 7);
	FS_OK(m, ddio_fs_file_close, file);
	fs_world_end(&w);
}

/* Both ways of copying, and where one takes over from the other. */
static void copy(void)
{
	struct ddio_fs_file *a, *b;
	struct fs_world w;
	struct fs_mount *m;
	uint64_t before;

	fs_world_begin(&w, 5, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	a = fs_create(m, "a", O_RDWR);
	b = fs_create(m, "b", O_RDWR);
	put_bytes(m, a, 1, 0, 40 * BLOCK);
	/* By the I/O processors. */
	before = w.node[0].iop->reactors[0].requests;
	FS_OK(m, ddio_fs_copy, a, 3, b, 3 + 4 * BLOCK, 30 * BLOCK);
	CU_ASSERT_EQUAL(m->r.value, 30 * BLOCK);
	CU_ASSERT_EQUAL(w.node[0].iop->reactors[0].requests, before + 1);
	FS_OK(m, ddio_fs_read, b, m->r.data, 0, 0);
	{
		uint8_t *x = malloc(30 * BLOCK), *y = malloc(30 * BLOCK);

		fs_fill(y, 30 * BLOCK, 1, 3);
		FS_OK(m, ddio_fs_read, b, x, 30 * BLOCK, 3 + 4 * BLOCK);
		CU_ASSERT_EQUAL(m->r.value, 30 * BLOCK);
		CU_ASSERT_EQUAL(memcmp(x, y, 30 * BLOCK), 0);
		/* Through this process: another offset in the block. */
		FS_OK(m, ddio_fs_copy, a, 3, b, 10, 30 * BLOCK);
		CU_ASSERT_EQUAL(m->r.value, 30 * BLOCK);
		FS_OK(m, ddio_fs_read, b, x, 30 * BLOCK, 10);
		CU_ASSERT_EQUAL(memcmp(x, y, 30 * BLOCK), 0);
		free(x);
		free(y);
	}
	FS_OK(m, ddio_fs_copy, a, 39 * BLOCK, b, 0, 5 * BLOCK);
	CU_ASSERT_EQUAL(m->r.value, BLOCK);
	FS_OK(m, ddio_fs_copy, a, 40 * BLOCK, b, 0, 5 * BLOCK);
	CU_ASSERT_EQUAL(m->r.value, 0);
	FS_ERR(m, -EINVAL, ddio_fs_copy, a, 0, a, BLOCK, 5 * BLOCK);
	FS_OK(m, ddio_fs_copy, a, 0, a, 40 * BLOCK, 5 * BLOCK);
	check_bytes(m, a, 1, 0, 40 * BLOCK);
	FS_OK(m, ddio_fs_file_close, a);
	FS_OK(m, ddio_fs_file_close, b);
	fs_world_end(&w);
}

/* Appends from two mounts: neither overwrites the other. */
static void append(void)
{
	struct ddio_fs_file *a, *b = NULL;
	struct fs_world w;
	struct fs_mount *m, *n;
	uint8_t buf[100];
	uint32_t i, seen[2] = { 0 };
	uint64_t ino, end;

	fs_world_begin(&w, 6, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	a = fs_create(m, "a", O_RDWR | O_APPEND);
	ino = m->r.attr.ino;
	n = fs_mount(&w, 1, 0);
	FS_OK(n, ddio_fs_file_open, n->fs, ino, O_RDWR, &b);
	for (i = 0; i < 40; i++) {
		memset(buf, 'm', sizeof(buf));
		FS_OK(m, ddio_fs_write, a, buf, sizeof(buf), 0);
		memset(buf, 'n', sizeof(buf));
		/* The other mount writes at the end as it knows it. */
		FS_OK(n, ddio_fs_getattr, n->fs, ino);
		end = n->r.attr.size;
		FS_OK(n, ddio_fs_write, b, buf, sizeof(buf), end);
	}
	for (i = 0; i < 80; i++) {
		FS_OK(n, ddio_fs_read, b, buf, sizeof(buf), i * sizeof(buf));
		CU_ASSERT_EQUAL(n->r.value, sizeof(buf));
		seen[buf[0] == 'n']++;
		CU_ASSERT_EQUAL(buf[0], buf[99]);
	}
	CU_ASSERT_EQUAL(seen[0], 40);
	CU_ASSERT_EQUAL(seen[1], 40);
	FS_OK(n, ddio_fs_file_close, b);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

/* Data are removed with the last name and the last opening, in either order. */
static void removal(void)
{
	struct ddio_fs_file *a, *b = NULL;
	struct fs_world w;
	struct fs_mount *m;
	uint64_t ino;

	fs_world_begin(&w, 7, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	a = fs_create(m, "a", O_RDWR);
	ino = m->r.attr.ino;
	put_bytes(m, a, 1, 0, 8 * BLOCK);
	FS_OK(m, ddio_fs_file_open, m->fs, ino, O_RDONLY, &b);
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "a");
	FS_OK(m, ddio_fs_file_close, b);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(w.names.gone, 0);
	CU_ASSERT_EQUAL(w.names.releases, 0);
	check_bytes(m, a, 1, 0, 8 * BLOCK);
	CU_ASSERT_EQUAL(fs_objects(&w), 4);
	FS_OK(m, ddio_fs_file_close, a);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(w.names.gone, 1);
	CU_ASSERT_EQUAL(fs_objects(&w), 0);
	/* Closed first. */
	a = fs_create(m, "b", O_RDWR);
	put_bytes(m, a, 1, 0, 8 * BLOCK);
	FS_OK(m, ddio_fs_file_close, a);
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "b");
	fs_unmount(m);
	CU_ASSERT_EQUAL(w.names.detaches, 1);
	CU_ASSERT_EQUAL(w.names.gone, 2);
	CU_ASSERT_EQUAL(fs_objects(&w), 0);
	fs_world_end(&w);
}

/* Makes @n files with data, and removes their names. */
static void made_and_unlinked(struct fs_mount *m, uint32_t n)
{
	struct ddio_fs_file *file;
	char name[16];
	uint32_t i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		file = fs_create(m, name, O_RDWR);
		put_bytes(m, file, i, 0, BLOCK);
		FS_OK(m, ddio_fs_file_close, file);
	}
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, name);
	}
}

/* An unlink waits for nothing but its own request; data go behind it, when names are durable, many at a time. */
static void removal_waits_for_names(void)
{
	struct fs_world w;
	struct fs_mount *m;
	uint32_t syncs;

	fs_world_begin(&w, 7, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	syncs = w.names.count[DDIO_OP_FS_SYNC];
	w.names.hold = DDIO_OP_FS_SYNC;
	made_and_unlinked(m, 6);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_UNLINK], 6);
	/* More may come. */
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_SYNC], syncs);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(w.names.gone, 0);
	CU_ASSERT_EQUAL(fs_objects(&w), 6);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_SYNC], syncs + 1);
	fake_let_go(&w.names);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(w.names.gone, 6);
	CU_ASSERT_EQUAL(fs_objects(&w), 0);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_SYNC], syncs + 1);
	made_and_unlinked(m, 2);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(fs_objects(&w), 0);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_SYNC], syncs + 2);
	fs_world_end(&w);
}

/* A name that comes back with another incarnation of the name server has its data. */
static void removal_that_is_lost(void)
{
	struct fs_world w;
	struct fs_mount *m;
	uint64_t ino;

	fs_world_begin(&w, 7, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	w.names.hold = DDIO_OP_FS_SYNC;
	made_and_unlinked(m, 2);
	ddio_sim_run_for(w.dw, FS_SEC / 10);
	for (ino = DDIO_FS_ROOT + 1; !w.names.inode[ino].orphan; ino++)
		;
	w.names.inode[ino].orphan = false;
	w.names.inode[ino].attr.nlink = 1;
	fake_name_add(&w.names, DDIO_FS_ROOT, "f0", ino);
	fake_reborn(&w.names);
	ddio_sim_run_for(w.dw, 20 * FS_SEC);
	FS_OK(m, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "f0");
	CU_ASSERT_EQUAL(m->r.attr.ino, ino);
	CU_ASSERT_EQUAL(fs_objects(&w), 1);
	CU_ASSERT_EQUAL(w.names.gone, 1);
	fs_world_end(&w);
}

/* What a dead mount has left is removed by another one. */
static void orphans(void)
{
	struct ddio_fs_file *a;
	struct fs_world w;
	struct fs_mount *m;

	fs_world_begin(&w, 8, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	a = fs_create(m, "a", O_RDWR);
	put_bytes(m, a, 1, 0, 8 * BLOCK);
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "a");
	fs_unmount(m);
	fake_stranger(&w.names);
	w.names.inode[2].open = false;
	CU_ASSERT_EQUAL(fs_objects(&w), 4);
	m = fs_mount(&w, 1, 0);
	ddio_sim_run_for(w.dw, 5 * FS_SEC);
	CU_ASSERT_EQUAL(w.names.gone, 1);
	CU_ASSERT_EQUAL(fs_objects(&w), 0);
	fs_world_end(&w);
}

static void count_done(void *arg, const struct ddio_fs_reply *reply)
{
	CU_ASSERT(!reply->err);
	++*(uint32_t *)arg;
}

/* Writes inside the end ask whether that is still there: those that come while one asks share the next answer. */
static void asking(void)
{
	static const uint8_t data[BLOCK];
	uint32_t i, n = 0, asked, wrote;
	struct ddio_fs_file *a;
	struct fs_world w;
	struct fs_mount *m;

	fs_world_begin(&w, 9, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	a = fs_create(m, "a", O_RDWR);
	put_bytes(m, a, 1, 0, 8 * BLOCK);
	asked = w.names.count[DDIO_OP_FS_GETATTR];
	put_bytes(m, a, 2, 100, 100);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_GETATTR], asked + 1);
	for (i = 0; i < 64; i++)
		ddio_fs_write(a, data, 100, i * 100, count_done, &n);
	ddio_sim_run_for(w.dw, FS_SEC / 2);
	CU_ASSERT_EQUAL(n, 64);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_GETATTR], asked + 3);
	FS_OK(m, ddio_fs_file_close, a);
	/* One that is told at once learns it from the answer. */
	m = fs_mount(&w, 1, DDIO_FS_PROMPT);
	a = fs_create(m, "b", O_RDWR);
	put_bytes(m, a, 1, 0, 8 * BLOCK);
	asked = w.names.count[DDIO_OP_FS_GETATTR];
	wrote = w.names.count[DDIO_OP_FS_WROTE];
	put_bytes(m, a, 2, 100, 100);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_GETATTR], asked);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_WROTE], wrote + 1);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

/* The name server is told of sizes and times in time, and not more often than necessary. */
static void telling(void)
{
	struct ddio_fs_file *a;
	struct ddio_fs_attr attr = { .mtime = { .tv_sec = 77 } };
	struct fs_world w;
	struct fs_mount *m;
	uint32_t wrote, i;
	uint64_t ino;

	fs_world_begin(&w, 9, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	a = fs_create(m, "a", O_RDWR);
	ino = m->r.attr.ino;
	put_bytes(m, a, 1, 0, 8 * BLOCK);
	wrote = w.names.count[DDIO_OP_FS_WROTE];
	CU_ASSERT_EQUAL(wrote, 2); /* that the file has data, and its size */
	for (i = 0; i < 50; i++)
		put_bytes(m, a, i, 100, 100);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_WROTE], wrote);
	FS_OK(m, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "a");
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_WROTE], wrote + 1);
	put_bytes(m, a, i, 100, 100);
	FS_OK(m, ddio_fs_readdir, m->fs, DDIO_FS_ROOT, 0, 10, true);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_WROTE], wrote + 2);
	put_bytes(m, a, i, 100, 100);
	ddio_sim_run_for(w.dw, 2 * FS_SEC);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_WROTE], wrote + 3);
	put_bytes(m, a, i, 100, 100);
	FS_OK(m, ddio_fs_flush, a);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_WROTE], wrote + 4);
	FS_OK(m, ddio_fs_flush, a);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_WROTE], wrote + 4);
	/* A time that is set stays. */
	put_bytes(m, a, i, 100, 100);
	FS_OK(m, ddio_fs_setattr, m->fs, ino, DDIO_FS_SET_MTIME, &attr);
	FS_OK(m, ddio_fs_file_close, a);
	ddio_sim_run_for(w.dw, 2 * FS_SEC);
	FS_OK(m, ddio_fs_getattr, m->fs, ino);
	CU_ASSERT_EQUAL(m->r.attr.mtime.tv_sec, 77);
	fs_world_end(&w);
}

/*
 * Attributes after a write: the answer to the report of the write has them, the disks are asked how much room the file
 * takes, and nobody waits for the name server to hear that.
 */
static void attributes_after_a_write(void)
{
	struct fs_world w;
	struct fs_mount *m;
	struct ddio_fs_file *a;
	uint32_t asked, wrote;
	uint64_t ino;

	fs_world_begin(&w, 9, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	a = fs_create(m, "a", O_RDWR);
	ino = m->r.attr.ino;
	put_bytes(m, a, 1, 0, 8 * BLOCK);
	put_bytes(m, a, 2, 100, 100);
	asked = w.names.count[DDIO_OP_FS_GETATTR];
	wrote = w.names.count[DDIO_OP_FS_WROTE];
	w.names.hold = DDIO_OP_FS_ALLOC;
	FS_OK(m, ddio_fs_getattr, m->fs, ino);
	CU_ASSERT_EQUAL(m->r.attr.size, 8 * BLOCK);
	CU_ASSERT_EQUAL(m->r.attr.alloc, 8 * BLOCK);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_GETATTR], asked);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_WROTE], wrote + 1);
	ddio_sim_run_for(w.dw, FS_SEC / 10);
	fake_let_go(&w.names);
	FS_OK(m, ddio_fs_getattr, m->fs, ino);
	CU_ASSERT_EQUAL(m->r.attr.alloc, 8 * BLOCK);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_ALLOC], 1);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

/* A sync asks disks and name server at once, and ends with the later one. */
static void sync_at_once(void)
{
	struct ddio_fs_file *a;
	uint32_t done = 0, i;
	struct fs_world w;
	struct fs_mount *m;

	fs_world_begin(&w, 10, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	a = fs_create(m, "a", O_RDWR);
	put_bytes(m, a, 1, 0, 8 * BLOCK);
	w.names.hold = DDIO_OP_FS_SYNC;
	ddio_fs_sync(a, count_done, &done);
	for (i = 0; i < 1000000 && !w.names.count[DDIO_OP_FS_SYNC]; i++)
		ddio_sim_run_for(w.dw, 1000);
	CU_ASSERT_TRUE(a->inode->syncing);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_FALSE(a->inode->syncing);
	CU_ASSERT_EQUAL(done, 0);
	fake_let_go(&w.names);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(done, 1);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

static void sync_all(void)
{
	struct ddio_fs_file *a;
	struct fs_world w;
	struct fs_mount *m;
	uint32_t i;

	fs_world_begin(&w, 10, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	a = fs_create(m, "a", O_RDWR);
	put_bytes(m, a, 1, 0, 8 * BLOCK);
	FS_OK(m, ddio_fs_sync, a);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_SYNC], 1);
	/* Another incarnation of a node: writes that were not synced may be lost, which is said once. */
	put_bytes(m, a, 2, 0, 2 * BLOCK);
	for (i = 0; i < 4; i++)
		a->inode->holder[i] ^= i == 1;
	FS_ERR(m, -EIO, ddio_fs_sync, a);
	FS_OK(m, ddio_fs_sync, a);
	put_bytes(m, a, 2, 0, 2 * BLOCK);
	FS_OK(m, ddio_fs_sync, a);
	FS_OK(m, ddio_fs_sync_names, m->fs);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

static void locks(void)
{
	struct ddio_fs_lock l = { .type = F_WRLCK, .end = UINT64_MAX, .owner = 1, .pid = 10 };
	struct ddio_fs_file *a;
	struct fsc_result wait;
	struct fs_world w;
	struct fs_mount *m;
	uint64_t id = 0;

	fs_world_begin(&w, 11, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	fsc_wait_init(&wait, m->fs);
	a = fs_create(m, "a", O_RDWR);
	FS_OK(m, ddio_fs_lock_set, a, &l, false, NULL);
	l.owner = 2;
	FS_ERR(m, -EAGAIN, ddio_fs_lock_set, a, &l, false, NULL);
	/* Waits for a lock and gets it. */
	fsc_wait_begin(&wait);
	ddio_fs_lock_set(a, &l, true, &id, fsc_wait_done, &wait);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(wait.calls, 0);
	l.owner = 1;
	l.type = F_UNLCK;
	FS_OK(m, ddio_fs_lock_set, a, &l, false, NULL);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(wait.calls, 1);
	CU_ASSERT_EQUAL(wait.err, 0);
	/* Waits for a lock and cancels. */
	l.type = F_WRLCK;
	fsc_wait_begin(&wait);
	ddio_fs_lock_set(a, &l, true, &id, fsc_wait_done, &wait);
	ddio_sim_run_for(w.dw, FS_SEC);
	ddio_fs_lock_cancel(m->fs, id + 1);
	ddio_fs_lock_cancel(m->fs, id);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(wait.calls, 2);
	CU_ASSERT_EQUAL(wait.err, -EINTR);
	/* An owner without locks: nothing is sent. */
	FS_OK(m, ddio_fs_unlock_owner, a, 99);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_UNLOCK_OWNER], 0);
	FS_OK(m, ddio_fs_unlock_owner, a, 2);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_UNLOCK_OWNER], 1);
	l.start = 5;
	l.end = 4;
	FS_ERR(m, -EINVAL, ddio_fs_lock_set, a, &l, false, NULL);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

static const struct ut_case cases[] = {
	{ "names", names },
	{ "data", data },
	{ "holes", holes },
	{ "space", space },
	{ "copy", copy },
	{ "append", append },
	{ "removal", removal },
	{ "removal waits for names", removal_waits_for_names },
	{ "a removal that is lost", removal_that_is_lost },
	{ "orphans", orphans },
	{ "asking", asking },
	{ "telling", telling },
	{ "attributes after a write", attributes_after_a_write },
	{ "sync", sync_all },
	{ "sync at once", sync_at_once },
	{ "locks", locks },
	{ "cut meanwhile", cut_meanwhile },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs", cases } };

	return ut_run("fs", suites, 1);
}
