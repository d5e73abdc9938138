// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file system as it is: its client against a real name server, in virtual time.  The connection to it is
 * lost at any byte; every request gets one reply and nothing is done twice.
 */
#include "conn/conn_priv.h"
#include "cp/node/lane.h"
#include "cp/node/session.h"
#include "tests/unit/cp/fs/fs_world.h"
#include "userlib/cp/fs/inode/inode.h"

enum { BLOCK = 1024, LEN = 6 * BLOCK + 11 };

static struct fs_mount *world(struct fs_world *w, uint64_t seed)
{
	fs_world_make(w, true, seed, BLOCK, 3000);
	return fs_mount(w, 0, 0);
}

static void names(void)
{
	struct ddio_fs_new dir = { .mode = S_IFDIR | 0755 }, lnk = { .mode = S_IFLNK | 0777 };
	struct ddio_fs_new fifo = { .mode = S_IFIFO | 0600 };
	struct fs_world w;
	struct fs_mount *m = world(&w, 1);
	char long_name[257], target[4097];
	uint64_t d, l;

	FS_OK(m, ddio_fs_getattr, m->fs, DDIO_FS_ROOT);
	CU_ASSERT(S_ISDIR(m->r.attr.mode));
	FS_OK(m, ddio_fs_make, m->fs, DDIO_FS_ROOT, "d", &dir);
	d = m->r.attr.ino;
	CU_ASSERT_EQUAL(m->r.attr.nlink, 2);
	FS_OK(m, ddio_fs_make, m->fs, d, "fifo", &fifo);
	CU_ASSERT(S_ISFIFO(m->r.attr.mode));
	memset(target, 't', 4096);
	target[4096] = '\0';
	lnk.target = target;
	FS_ERR(m, -ENAMETOOLONG, ddio_fs_make, m->fs, d, "l", &lnk);
	target[4095] = '\0';
	FS_OK(m, ddio_fs_make, m->fs, d, "l", &lnk);
	l = m->r.attr.ino;
	FS_OK(m, ddio_fs_readlink, m->fs, l);
	CU_ASSERT_EQUAL(m->r.len, 4095);
	CU_ASSERT_EQUAL(memcmp(m->r.data, target, 1024), 0);
	FS_ERR(m, -EINVAL, ddio_fs_readlink, m->fs, d);
	lnk.target = "";
	FS_ERR(m, -ENOENT, ddio_fs_make, m->fs, d, "l2", &lnk);
	FS_ERR(m, -ENOTEMPTY, ddio_fs_rmdir, m->fs, DDIO_FS_ROOT, "d");
	FS_ERR(m, -EISDIR, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "d");
	FS_ERR(m, -ENOTDIR, ddio_fs_rmdir, m->fs, d, "fifo");
	FS_ERR(m, -ENOTDIR, ddio_fs_lookup, m->fs, l, "x");
	memset(long_name, 'n', 256);
	long_name[256] = '\0';
	FS_ERR(m, -ENAMETOOLONG, ddio_fs_lookup, m->fs, d, long_name);
	long_name[255] = '\0';
	FS_OK(m, ddio_fs_make, m->fs, d, long_name, &fifo);
	FS_OK(m, ddio_fs_rename, m->fs, d, long_name, DDIO_FS_ROOT, "moved", 0);
	FS_ERR(m, -EEXIST, ddio_fs_rename, m->fs, d, "fifo", DDIO_FS_ROOT, "moved", 1);
	FS_OK(m, ddio_fs_rename, m->fs, d, "l", DDIO_FS_ROOT, "moved", 2);
	FS_OK(m, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "moved");
	CU_ASSERT_EQUAL(m->r.attr.ino, l);
	FS_OK(m, ddio_fs_readdir, m->fs, d, 0, 100, true);
	CU_ASSERT_EQUAL(m->r.len, 4);
	FS_ERR(m, -ESTALE, ddio_fs_getattr, m->fs, 4711);
	fs_world_end(&w);
}

/* Where a listing ends is asked by itself. */
static void end_of_a_listing(void)
{
	struct fs_world w;
	struct fs_mount *m = world(&w, 3);
	const struct ddio_fs_dirent *last;

	fs_create(m, "a", O_RDWR);
	FS_OK(m, ddio_fs_readdir, m->fs, DDIO_FS_ROOT, 0, 0, false);
	last = (const struct ddio_fs_dirent *)m->r.data;
	CU_ASSERT(m->r.len == 1 && last->cookie > 1);
	FS_OK(m, ddio_fs_readdir, m->fs, DDIO_FS_ROOT, 0, 10, false);
	CU_ASSERT_EQUAL(m->r.len, 3);
	fs_world_end(&w);
}

static void attributes(void)
{
	struct ddio_fs_attr attr = { .mode = 0600, .uid = 7, .gid = 8 };
	struct fs_world w;
	struct fs_mount *m = world(&w, 2);
	struct ddio_fs_file *a = fs_create(m, "a", O_RDWR);
	uint64_t ino = m->r.attr.ino;

	attr.mtime.tv_sec = 1234567890;
	attr.mtime.tv_nsec = 987654321;
	FS_OK(m, ddio_fs_setattr, m->fs, ino,
	      DDIO_FS_SET_MODE | DDIO_FS_SET_UID | DDIO_FS_SET_GID | DDIO_FS_SET_MTIME, &attr);
	FS_OK(m, ddio_fs_getattr, m->fs, ino);
	CU_ASSERT_EQUAL(m->r.attr.mode, S_IFREG | 0600);
	CU_ASSERT_EQUAL(m->r.attr.uid, 7);
	CU_ASSERT_EQUAL(m->r.attr.gid, 8);
	CU_ASSERT_EQUAL(m->r.attr.mtime.tv_nsec, 987654321);
	CU_ASSERT_EQUAL(m->r.attr.alloc, 0);
	CU_ASSERT_EQUAL(m->r.attr.ndisks, FS_DISKS + 1);
	FS_OK(m, ddio_fs_setxattr, m->fs, ino, "user.x", "value", 5, 0, false);
	FS_ERR(m, -EEXIST, ddio_fs_setxattr, m->fs, ino, "user.x", "v", 1, 1, false);
	FS_OK(m, ddio_fs_getxattr, m->fs, ino, "user.x", 0);
	CU_ASSERT_EQUAL(m->r.len, 5);
	CU_ASSERT_EQUAL(memcmp(m->r.data, "value", 5), 0);
	FS_OK(m, ddio_fs_listxattr, m->fs, ino);
	CU_ASSERT(m->r.len >= 7);
	FS_OK(m, ddio_fs_removexattr, m->fs, ino, "user.x", 0);
	FS_ERR(m, -ENODATA, ddio_fs_getxattr, m->fs, ino, "user.x", 0);
	FS_ERR(m, -ERANGE, ddio_fs_getxattr, m->fs, ino, "", 0);
	FS_OK(m, ddio_fs_file_close, a);
	/* How a file is spread can be chosen only while it has no data. */
	FS_OK(m, ddio_fs_setxattr, m->fs, ino, "ddio.stripe", "2048", 4, 0, false);
	FS_OK(m, ddio_fs_file_open, m->fs, ino, O_RDWR, &a);
	CU_ASSERT_EQUAL(m->r.attr.block, 2048);
	FS_OK(m, ddio_fs_write, a, "x", 1, 100 * 2048);
	FS_OK(m, ddio_fs_getattr, m->fs, ino);
	CU_ASSERT_EQUAL(m->r.attr.alloc, 2048);
	CU_ASSERT_EQUAL(m->r.attr.size, 100 * 2048 + 1);
	CU_ASSERT(FSC_WAIT(&m->r, ddio_fs_setxattr, m->fs, ino, "ddio.stripe", "4096", 4, 0,
			   false) < 0);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

/* One mount sees what the other does. */
static void two_mounts(void)
{
	struct ddio_fs_lock lock = { .type = F_WRLCK, .end = 99, .owner = 5, .pid = 77 };
	struct ddio_fs_file *a, *b = NULL;
	struct ddio_fs_attr attr = { .size = 10 };
	struct ddio_fs_lock seen;
	struct fsc_result wait;
	struct fs_world w;
	struct fs_mount *m = world(&w, 3), *n = fs_mount(&w, 1, 0);
	uint8_t buf[LEN], want[LEN];
	uint64_t ino, id = 0, i;

	fs_fill(want, LEN, 4, 0);
	a = fs_create(m, "a", O_RDWR);
	ino = m->r.attr.ino;
	FS_OK(n, ddio_fs_file_open, n->fs, ino, O_RDWR, &b);
	FS_OK(m, ddio_fs_write, a, want, LEN, 0);
	FS_OK(n, ddio_fs_read, b, buf, LEN, 0);
	CU_ASSERT_EQUAL(n->r.value, LEN);
	CU_ASSERT_EQUAL(memcmp(buf, want, LEN), 0);
	/* Another mount cut the file: the write makes it as long as the write reaches. */
	FS_OK(n, ddio_fs_setattr, n->fs, ino, DDIO_FS_SET_SIZE, &attr);
	FS_OK(m, ddio_fs_write, a, want + 100, 10, 100);
	FS_OK(m, ddio_fs_flush, a);
	FS_OK(n, ddio_fs_getattr, n->fs, ino);
	CU_ASSERT_EQUAL(n->r.attr.size, 110);
	/* Cut by a mount that has never had it open; what was cut does not come back. */
	FS_OK(n, ddio_fs_file_close, b);
	FS_OK(m, ddio_fs_write, a, want, LEN, 0);
	fs_unmount(n);
	n = fs_mount(&w, 1, 0);
	attr.size = 3;
	FS_OK(n, ddio_fs_setattr, n->fs, ino, DDIO_FS_SET_SIZE, &attr);
	attr.size = LEN;
	FS_OK(n, ddio_fs_setattr, n->fs, ino, DDIO_FS_SET_SIZE, &attr);
	FS_OK(m, ddio_fs_read, a, buf, LEN, 0);
	CU_ASSERT_EQUAL(m->r.value, LEN);
	for (i = 3; i < LEN && !buf[i]; i++)
		;
	CU_ASSERT_EQUAL(i, LEN);
	FS_OK(n, ddio_fs_file_open, n->fs, ino, O_RDWR, &b);
	FS_OK(m, ddio_fs_write, a, want, LEN, 0);
	/* Locks. */
	FS_OK(m, ddio_fs_lock_set, a, &lock, false, NULL);
	FS_ERR(n, -EAGAIN, ddio_fs_lock_set, b, &lock, false, NULL);
	FS_OK(n, ddio_fs_lock_test, b, &lock);
	memcpy(&seen, n->r.data, sizeof(seen));
	CU_ASSERT_EQUAL(seen.type, F_WRLCK);
	CU_ASSERT_EQUAL(seen.pid, 0);
	CU_ASSERT_EQUAL(seen.end, 99);
	fsc_wait_init(&wait, n->fs);
	fsc_wait_begin(&wait);
	ddio_fs_lock_set(b, &lock, true, &id, fsc_wait_done, &wait);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(wait.calls, 0);
	ddio_fs_lock_cancel(n->fs, id);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(wait.err, -EINTR);
	fsc_wait_begin(&wait);
	ddio_fs_lock_set(b, &lock, true, &id, fsc_wait_done, &wait);
	FS_OK(m, ddio_fs_unlock_owner, a, 5);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(wait.calls, 2);
	CU_ASSERT_EQUAL(wait.err, 0);
	/* The data stay while the other mount has it open. */
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "a");
	FS_OK(m, ddio_fs_file_close, a);
	ddio_sim_run_for(w.dw, FS_SEC);
	FS_OK(n, ddio_fs_read, b, buf, 10, 100);
	CU_ASSERT_EQUAL(memcmp(buf, want + 100, 10), 0);
	FS_OK(n, ddio_fs_file_close, b);
	ddio_sim_run_for(w.dw, 3 * FS_SEC);
	CU_ASSERT_EQUAL(fs_objects(&w), 0);
	fs_world_end(&w);
}

/* A dead mount leaves what only it had open: others remove that when it has been away for long enough. */
static void left_behind(void)
{
	struct fs_world w;
	struct fs_mount *m = world(&w, 4), *n;
	struct ddio_fs_file *a = fs_create(m, "a", O_RDWR);
	uint32_t i;

	FS_OK(m, ddio_fs_write, a, "x", 1, 0);
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "a");
	CU_ASSERT_EQUAL(fs_objects(&w), 1);
	for (i = 0; i < FS_REACTORS; i++)
		ddio_sim_cut(m->env[i]);
	n = fs_mount(&w, 1, 0);
	ddio_sim_run_for(w.dw, 2 * FS_SEC);
	CU_ASSERT_EQUAL(fs_objects(&w), 1);
	ddio_sim_run_for(w.dw, 200 * FS_SEC);
	CU_ASSERT_EQUAL(fs_objects(&w), 0);
	FS_ERR(n, -ENOENT, ddio_fs_lookup, n->fs, DDIO_FS_ROOT, "a");
	fs_world_end(&w);
}

/*
 * A mount is cut off for so long that its open files are lost, and what it had open is removed.  What it writes when it is back
 * must not leave an object of a file that is gone.
 */
static void back_too_late(void)
{
	struct fs_world w;
	struct fs_mount *m, *n;
	struct ddio_fs_file *a;
	struct fsc_result late;
	uint8_t buf[LEN];
	uint32_t i;

	fs_world_make(&w, true, 5, BLOCK, 3000);
	m = fs_mount(&w, 0, DDIO_FS_HARD);
	a = fs_create(m, "a", O_RDWR);
	fs_fill(buf, LEN, 1, 0);
	FS_OK(m, ddio_fs_write, a, buf, LEN, 0);
	FS_OK(m, ddio_fs_flush, a);
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "a");
	for (i = 0; i < FS_REACTORS; i++)
		ddio_sim_cut(m->env[i]);
	fsc_wait_init(&late, m->fs);
	fsc_wait_begin(&late);
	ddio_fs_write(a, buf, LEN, 0, fsc_wait_done, &late);
	n = fs_mount(&w, 1, 0);
	ddio_sim_run_for(w.dw, 200 * FS_SEC);
	CU_ASSERT_EQUAL(fs_objects(&w), 0);
	for (i = 0; i < FS_REACTORS; i++)
		ddio_sim_rejoin(m->env[i]);
	ddio_sim_run_for(w.dw, 200 * FS_SEC);
	CU_ASSERT_EQUAL(late.calls, 1);
	CU_ASSERT_EQUAL(late.err, -ESTALE);
	CU_ASSERT_EQUAL(fs_objects(&w), 0);
	FS_ERR(n, -ENOENT, ddio_fs_lookup, n->fs, DDIO_FS_ROOT, "a");
	fs_world_end(&w);
}

/* All kinds of requests, one after another. */
static void a_day(struct fs_world *w, struct fs_mount *m)
{
	struct ddio_fs_new dir = { .mode = S_IFDIR | 0755 };
	struct ddio_fs_lock lock = { .type = F_WRLCK, .end = 9, .owner = 5 };
	struct ddio_fs_file *a, *b;
	uint8_t buf[LEN], want[LEN];
	uint64_t ino, i;

	a = fs_create(m, "a", O_RDWR | O_EXCL);
	ino = m->r.attr.ino;
	b = fs_create(m, "b", O_RDWR | O_APPEND | O_EXCL);
	if (!a || !b)
		return;
	FS_OK(m, ddio_fs_make, m->fs, DDIO_FS_ROOT, "d", &dir);
	fs_fill(want, LEN, 1, 0);
	FS_OK(m, ddio_fs_write, a, want, LEN, 0);
	FS_OK(m, ddio_fs_lock_set, a, &lock, false, NULL);
	for (i = 0; i < 5; i++)
		FS_OK(m, ddio_fs_write, b, want + 100 * i, 100, 0);
	FS_OK(m, ddio_fs_link, m->fs, ino, DDIO_FS_ROOT, "l");
	CU_ASSERT_EQUAL(m->r.attr.nlink, 2);
	FS_OK(m, ddio_fs_rename, m->fs, DDIO_FS_ROOT, "l", DDIO_FS_ROOT, "n", 0);
	FS_OK(m, ddio_fs_setxattr, m->fs, ino, "user.x", "y", 1, 1, false);
	FS_OK(m, ddio_fs_removexattr, m->fs, ino, "user.x", 0);
	memset(buf, 0, LEN);
	FS_OK(m, ddio_fs_read, a, buf, LEN, 0);
	CU_ASSERT_EQUAL(memcmp(buf, want, LEN), 0);
	FS_OK(m, ddio_fs_sync, a);
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "a");
	FS_OK(m, ddio_fs_getattr, m->fs, ino);
	CU_ASSERT_EQUAL(m->r.attr.nlink, 1);
	CU_ASSERT_EQUAL(m->r.attr.size, LEN);
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "n");
	FS_OK(m, ddio_fs_rmdir, m->fs, DDIO_FS_ROOT, "d");
	FS_OK(m, ddio_fs_file_close, a);
	FS_OK(m, ddio_fs_read, b, buf, LEN, 0);
	CU_ASSERT_EQUAL(m->r.value, 500);
	CU_ASSERT_EQUAL(memcmp(buf, want, 500), 0);
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "b");
	FS_OK(m, ddio_fs_file_close, b);
	ddio_sim_run_for(w->dw, 3 * FS_SEC);
	CU_ASSERT_EQUAL(fs_objects(w), 0);
}

/* Counts bytes of the client's first connection, or of what the name server sends. */
static void lost_at_any_byte(void)
{
	struct ddio_sim_link net;
	struct fs_world w;
	struct fs_mount *m;
	uint64_t at, fails;

	for (at = 1; at < 4600; at += 29 * ut_stride(7)) {
		fails = CU_get_number_of_failures();
		m = world(&w, at);
		ddio_sim_link_default(&net);
		net.break_after = at;
		ddio_sim_set_link(at & 1 ? w.names_node.env[0] : m->env[0], &net);
		a_day(&w, m);
		fs_world_end(&w);
		if (CU_get_number_of_failures() != fails) {
			fprintf(stderr, "at byte %llu\n", (unsigned long long)at);
			break;
		}
	}
}

/* Connections break at random all the time, and messages arrive in pieces. */
static void bad_network(void)
{
	struct ddio_sim_link net;
	struct fs_world w;
	struct fs_mount *m;
	uint64_t seed, fails;
	uint32_t i;

	for (seed = 1; seed <= ut_rounds(39); seed++) {
		fails = CU_get_number_of_failures();
		m = world(&w, seed);
		ddio_sim_link_default(&net);
		net.chop = 100;
		net.latency_ns = 20000;
		net.jitter_ns = 100000;
		for (i = 0; i < FS_REACTORS; i++)
			ddio_sim_set_link(m->env[i], &net);
		a_day(&w, m);
		ddio_sim_break(m->env[0]);
		a_day(&w, m);
		ddio_sim_break(m->env[1]);
		a_day(&w, m);
		fs_world_end(&w);
		if (CU_get_number_of_failures() != fails) {
			fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
			break;
		}
	}
}

/* By its name a file that has lost it cannot be reached; by what is open it is what it was. */
static void nameless(void)
{
	const struct ddio_fs_attr attr = { .mode = 0600, .size = 1 };
	struct ddio_fs_file *file = NULL, *other = NULL;
	struct fs_world w;
	struct fs_mount *m = world(&w, 8);
	uint8_t buf[4];
	uint64_t ino;

	file = fs_create(m, "f", O_RDWR);
	ino = m->r.attr.ino;
	FS_OK(m, ddio_fs_write, file, "data", 4, 0);
	FS_OK(m, ddio_fs_setattr, m->fs, ino, DDIO_FS_SET_MODE | DDIO_FS_SET_NAMED, &attr);
	FS_OK(m, ddio_fs_file_open, m->fs, ino, O_RDWR | DDIO_FS_NAMED, &other);
	FS_OK(m, ddio_fs_file_close, other);
	FS_OK(m, ddio_fs_setxattr, m->fs, ino, "user.x", "v", 1, DDIO_FS_NAMED, false);
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "f");
	FS_ERR(m, -ESTALE, ddio_fs_setattr, m->fs, ino, DDIO_FS_SET_MODE | DDIO_FS_SET_NAMED,
	       &attr);
	FS_ERR(m, -ESTALE, ddio_fs_setattr, m->fs, ino, DDIO_FS_SET_SIZE | DDIO_FS_SET_NAMED,
	       &attr);
	FS_ERR(m, -ESTALE, ddio_fs_setxattr, m->fs, ino, "user.x", "w", 1, DDIO_FS_NAMED, false);
	FS_ERR(m, -ESTALE, ddio_fs_getxattr, m->fs, ino, "user.x", DDIO_FS_NAMED);
	FS_ERR(m, -ESTALE, ddio_fs_removexattr, m->fs, ino, "user.x", DDIO_FS_NAMED);
	FS_ERR(m, -ESTALE, ddio_fs_file_open, m->fs, ino, O_RDWR | O_TRUNC | DDIO_FS_NAMED, &other);
	FS_ERR(m, -ESTALE, ddio_fs_link, m->fs, ino, DDIO_FS_ROOT, "g");
	FS_OK(m, ddio_fs_read, file, buf, 4, 0);
	CU_ASSERT_EQUAL(m->r.value, 4);
	CU_ASSERT_EQUAL(memcmp(buf, "data", 4), 0);
	FS_OK(m, ddio_fs_getxattr, m->fs, ino, "user.x", 0);
	CU_ASSERT_EQUAL(m->r.len, 1);
	FS_OK(m, ddio_fs_file_open, m->fs, ino, O_RDWR, &other);
	FS_OK(m, ddio_fs_setattr, m->fs, ino, DDIO_FS_SET_SIZE, &attr);
	CU_ASSERT_EQUAL(m->r.attr.size, 1);
	FS_OK(m, ddio_fs_file_close, other);
	FS_OK(m, ddio_fs_file_close, file);
	fs_world_end(&w);
}

/* Names in a directory that was removed: not missing, but nowhere. */
static void gone_directory(void)
{
	struct ddio_fs_new dir = { .mode = S_IFDIR | 0755 };
	struct ddio_fs_file *file = NULL;
	struct fs_world w;
	struct fs_mount *m = world(&w, 9);
	uint64_t d, f;

	FS_OK(m, ddio_fs_make, m->fs, DDIO_FS_ROOT, "d", &dir);
	d = m->r.attr.ino;
	file = fs_create(m, "f", O_RDWR);
	f = m->r.attr.ino;
	FS_OK(m, ddio_fs_file_close, file);
	FS_ERR(m, -ENOENT, ddio_fs_lookup, m->fs, d, "x");
	FS_OK(m, ddio_fs_rmdir, m->fs, DDIO_FS_ROOT, "d");
	FS_OK(m, ddio_fs_make, m->fs, DDIO_FS_ROOT, "d", &dir);
	FS_ERR(m, -ESTALE, ddio_fs_lookup, m->fs, d, "x");
	FS_ERR(m, -ESTALE, ddio_fs_make, m->fs, d, "x", &dir);
	FS_ERR(m, -ESTALE, ddio_fs_link, m->fs, f, d, "x");
	FS_ERR(m, -ESTALE, ddio_fs_unlink, m->fs, d, "x");
	FS_ERR(m, -ESTALE, ddio_fs_rmdir, m->fs, d, "x");
	FS_ERR(m, -ESTALE, ddio_fs_rename, m->fs, d, "x", DDIO_FS_ROOT, "y", 0);
	FS_ERR(m, -ESTALE, ddio_fs_rename, m->fs, DDIO_FS_ROOT, "f", d, "y", 0);
	FS_ERR(m, -ESTALE, ddio_fs_readdir, m->fs, d, 0, 10, false);
	fs_world_end(&w);
}

static const struct ut_case cases[] = {
	{ "names", names },
	{ "nameless", nameless },
	{ "gone directory", gone_directory },
	{ "attributes", attributes },
	{ "the end of a listing", end_of_a_listing },
	{ "two mounts", two_mounts },
	{ "left behind", left_behind },
	{ "back too late", back_too_late },
	{ "lost at any byte", lost_at_any_byte },
	{ "bad network", bad_network },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs iop", cases } };

	return ut_run("fs_iop", suites, 1);
}
