// SPDX-License-Identifier: GPL-2.0-only
/*
 * The name server's machine loses its power, and mounts live on: what was changed and not synced is gone, and the next
 * sync of what was changed says so, once.  What is not lost costs nobody an error: a daemon that dies alone, or is
 * stopped in order.
 */
#include <errno.h>
#include "tests/unit/cp/fs/fs_power.h"

static void append_and_rename(struct power *p, struct fs_mount *m)
{
	uint8_t buf[LEN] = { 2 };

	FS_OK(m, ddio_fs_write, p->a, buf, LEN, 0);
	FS_OK(m, ddio_fs_rename, m->fs, p->d[0], "a", p->d[1], "b", 0);
}

/* Everything that a change was lost of says so once; nothing else does. */
static void told_once(struct power *p, struct fs_mount *m)
{
	struct fs_mount *other = &p->w.mount[1];

	FS_OK(m, ddio_fs_sync_dir, m->fs, DDIO_FS_ROOT);
	FS_ERR(m, -EIO, ddio_fs_sync, p->a);
	FS_OK(m, ddio_fs_sync, p->a);
	FS_ERR(m, -EIO, ddio_fs_sync_dir, m->fs, p->d[0]);
	FS_OK(m, ddio_fs_sync_dir, m->fs, p->d[0]);
	FS_ERR(m, -EIO, ddio_fs_sync_dir, m->fs, p->d[1]);
	FS_OK(m, ddio_fs_sync_dir, m->fs, p->d[1]);
	FS_ERR(m, -EIO, ddio_fs_sync_names, m->fs);
	FS_OK(m, ddio_fs_sync_names, m->fs);
	FS_OK(other, ddio_fs_sync_dir, other->fs, p->d[0]);
	FS_OK(other, ddio_fs_sync_names, other->fs);
}

static void power_cut(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 1);

	image(&p);
	append_and_rename(&p, m);
	FS_OK(m, ddio_fs_flush, p.a);
	die(&p, "image", "second");
	FS_OK(m, ddio_fs_lookup, m->fs, p.d[0], "a");
	CU_ASSERT_EQUAL(m->r.attr.size, LEN);
	told_once(&p, m);
	CU_ASSERT_EQUAL(m->names_lost, 1);
	/* And again, with what the next one answers. */
	image(&p);
	append_and_rename(&p, m);
	die(&p, "image", "third");
	told_once(&p, m);
	CU_ASSERT_EQUAL(m->names_lost, 2);
	CU_ASSERT_EQUAL(p.w.mount[1].names_lost, 0);
	power_end(&p);
}

/* The name server dies twice before anybody syncs; only the first time was power lost. */
static void twice(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 2);

	image(&p);
	append_and_rename(&p, m);
	die(&p, "image", "second");
	die(&p, NULL, "second");
	told_once(&p, m);
	power_end(&p);
}

/* Each mount hears of its own changes. */
static void two_mounts(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 3), *other = &p.w.mount[1];
	struct ddio_fs_attr mode = { .mode = 0700 };
	struct ddio_fs_new dir = { .mode = S_IFDIR | 0755 };
	uint64_t made;

	image(&p);
	append_and_rename(&p, m);
	FS_OK(other, ddio_fs_make, other->fs, DDIO_FS_ROOT, "new", &dir);
	made = other->r.attr.ino;
	FS_OK(other, ddio_fs_setattr, other->fs, p.d[1], DDIO_FS_SET_MODE, &mode);
	die(&p, "image", "second");
	FS_ERR(m, -EIO, ddio_fs_sync, p.a);
	FS_ERR(m, -EIO, ddio_fs_sync_dir, m->fs, p.d[1]);
	FS_ERR(other, -EIO, ddio_fs_sync_dir, other->fs, p.d[1]);
	FS_ERR(other, -EIO, ddio_fs_sync_dir, other->fs, DDIO_FS_ROOT);
	FS_ERR(other, -EIO, ddio_fs_sync_dir, other->fs, made);
	FS_OK(other, ddio_fs_sync_dir, other->fs, p.d[1]);
	FS_OK(other, ddio_fs_sync_dir, other->fs, p.d[0]);
	power_end(&p);
}

/* Two processes have the file open and append; each must hear of what it lost, as of data. */
static void two_openings(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 9);
	struct ddio_fs_file *second;
	uint8_t buf[LEN] = { 3 };

	FS_OK(m, ddio_fs_file_open, m->fs, p.ino, O_RDWR | O_APPEND, &second);
	FS_OK(m, ddio_fs_sync, p.a);
	image(&p);
	FS_OK(m, ddio_fs_write, p.a, buf, LEN, 0);
	FS_OK(m, ddio_fs_write, second, buf, LEN, 0);
	FS_OK(m, ddio_fs_flush, second);
	die(&p, "image", "second");
	FS_OK(m, ddio_fs_lookup, m->fs, p.d[0], "a");
	CU_ASSERT_EQUAL(m->r.attr.size, LEN);
	FS_ERR(m, -EIO, ddio_fs_sync, p.a);
	FS_ERR(m, -EIO, ddio_fs_sync, second);
	FS_OK(m, ddio_fs_sync, p.a);
	FS_OK(m, ddio_fs_sync, second);
	FS_OK(m, ddio_fs_file_close, second);
	power_end(&p);
}

/* Nothing is lost, and no sync says so. */
static void all_there(struct power *p, struct fs_mount *m)
{
	FS_OK(m, ddio_fs_lookup, m->fs, p->d[1], "b");
	CU_ASSERT_EQUAL(m->r.attr.size, 2 * LEN);
	FS_OK(m, ddio_fs_sync, p->a);
	FS_OK(m, ddio_fs_sync_dir, m->fs, p->d[0]);
	FS_OK(m, ddio_fs_sync_dir, m->fs, p->d[1]);
	FS_OK(m, ddio_fs_sync_names, m->fs);
}

/* A sync that was answered holds. */
static void synced_before(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 4);

	append_and_rename(&p, m);
	FS_OK(m, ddio_fs_sync, p.a);
	image(&p);
	die(&p, "image", "second");
	all_there(&p, m);
	power_end(&p);
}

/* The daemon dies, its machine does not: the journal has everything. */
static void daemon_dies(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 5);

	append_and_rename(&p, m);
	die(&p, NULL, "first");
	all_there(&p, m);
	power_end(&p);
}

/* The file system of the records goes away and comes back, as its disk was; the machine has not been down. */
static void file_system_comes_back(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 30);

	image(&p);
	append_and_rename(&p, m);
	die(&p, "image", "first");
	FS_ERR(m, -EIO, ddio_fs_sync, p.a);
	FS_ERR(m, -EIO, ddio_fs_sync_dir, m->fs, p.d[0]);
	FS_ERR(m, -EIO, ddio_fs_sync_dir, m->fs, p.d[1]);
	FS_OK(m, ddio_fs_sync, p.a);
	FS_OK(m, ddio_fs_sync_dir, m->fs, p.d[1]);
	power_end(&p);
}

/* It comes back as it was before a sync that was answered: whoever has something open hears of it. */
static void durable_comes_undone(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 31);
	uint64_t seen = ddio_fs_dir_seen(m->fs), later = seen;

	image(&p);
	append_and_rename(&p, m);
	FS_OK(m, ddio_fs_sync, p.a);
	all_there(&p, m);
	die(&p, "image", "first");
	FS_ERR(m, -EIO, ddio_fs_sync, p.a);
	FS_ERR(m, -EIO, ddio_fs_sync_opened, m->fs, p.d[0], &seen);
	FS_ERR(m, -EIO, ddio_fs_sync_opened, m->fs, p.d[1], &later);
	FS_OK(m, ddio_fs_sync, p.a);
	FS_OK(m, ddio_fs_sync_opened, m->fs, p.d[1], &later);
	power_end(&p);
}

/* Stopped in order, then the machine is off for a while. */
static void stopped_in_order(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 6);

	append_and_rename(&p, m);
	stop_and_start(&p, "second");
	all_there(&p, m);
	power_end(&p);
}

/* What a mount has not synced for a while is synced without its wish. */
static void synced_by_itself(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 7);

	append_and_rename(&p, m);
	ddio_sim_run_for(p.w.dw, 5 * FS_SEC);
	image(&p);
	die(&p, "image", "second");
	FS_OK(m, ddio_fs_lookup, m->fs, p.d[1], "b");
	FS_OK(m, ddio_fs_sync, p.a);
	FS_OK(m, ddio_fs_sync_names, m->fs);
	power_end(&p);
}

/* A file loses one of two names: what fsync said of it speaks for the file that has both again. */
static void unlink_of_one_link(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 10), *other = &p.w.mount[1];
	struct ddio_fs_attr mode = { .mode = 0700 };

	FS_OK(m, ddio_fs_link, m->fs, p.ino, p.d[1], "b");
	FS_OK(m, ddio_fs_sync, p.a);
	image(&p);
	FS_OK(m, ddio_fs_unlink, m->fs, p.d[1], "b");
	FS_OK(other, ddio_fs_setattr, other->fs, p.d[0], DDIO_FS_SET_MODE, &mode);
	die(&p, "image", "second");
	FS_OK(m, ddio_fs_lookup, m->fs, p.d[1], "b");
	FS_ERR(m, -EIO, ddio_fs_sync, p.a);
	FS_OK(m, ddio_fs_sync, p.a);
	FS_ERR(m, -EIO, ddio_fs_sync_dir, m->fs, p.d[1]);
	power_end(&p);
}

/* A file that went with its last name has nobody left to be told, and costs nobody else an error. */
static void unlink_of_the_last_link(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 11);
	struct ddio_fs_new make = { .mode = S_IFREG | 0644 };
	struct ddio_fs_file *gone;
	uint8_t buf[LEN] = { 1 };

	FS_OK(m, ddio_fs_file_create, m->fs, p.d[1], "gone", O_RDWR, &make, &gone);
	FS_OK(m, ddio_fs_write, gone, buf, LEN, 0);
	FS_OK(m, ddio_fs_sync, gone);
	FS_OK(m, ddio_fs_file_close, gone);
	image(&p);
	FS_OK(m, ddio_fs_unlink, m->fs, p.d[1], "gone");
	die(&p, "image", "second");
	FS_OK(m, ddio_fs_lookup, m->fs, p.d[1], "gone");
	FS_OK(m, ddio_fs_sync, p.a);
	FS_ERR(m, -EIO, ddio_fs_sync_dir, m->fs, p.d[1]);
	power_end(&p);
}

/*
 * A start lists files without a name, and removes their data.  One whose name was taken away a moment ago, and that is not durable
 * yet when power is lost, is there again as a whole.
 */
static void restart_and_unlink(struct power *p, struct fs_mount *m)
{
	struct fs_world *w = &p->w;
	uint32_t k;

	p->dead[p->ndead++] = w->names_node;
	for (k = 0; k < FS_NODE_REACTORS; k++)
		ddio_sim_orphan(p->dead[0].env[k]);
	fs_node_stop(&p->dead[0]);
	ddio_sim_run_for(w->dw, FS_SEC);
	fs_node_begin(w, &w->names_node);
	ddio_sim_run_for(w->dw, 2 * 3 * FS_SEC - FS_MS);
	ddio_sim_set_offload(w->names_node.env[0], 300 * FS_MS);
	FS_OK(m, ddio_fs_unlink, m->fs, p->d[0], "b");
}

static void power_lost(struct power *p)
{
	struct fs_world *w = &p->w;
	char live[300], gone[300], from[320], to[320];
	struct fs_node *dead = &p->dead[p->ndead++];
	uint32_t k;

	snprintf(live, sizeof(live), "%s/names", w->top);
	snprintf(gone, sizeof(gone), "%s/dead", w->top);
	CU_ASSERT_EQUAL_FATAL(rename(live, gone), 0);
	make_dirs(w, "names");
	copy_names(w, "dead", "names");
	for (k = 0; k < 2; k++) {
		snprintf(from, sizeof(from), "%s/ns/journal.%u", gone, k);
		snprintf(to, sizeof(to), "%s/ns/journal.%u", live, k);
		CU_ASSERT(ddio_sim_file_crash(w->dw, from, to, 1000) >= 0);
	}
	*dead = w->names_node;
	for (k = 0; k < FS_NODE_REACTORS; k++)
		ddio_sim_orphan(dead->env[k]);
	fs_node_stop(dead);
	w->names_node.machine = "second";
	fs_node_begin(w, &w->names_node);
	ddio_sim_run_for(w->dw, FS_SEC);
}

/* Returns true if the name is there again. */
static bool removed_by_a_start_at(uint64_t ms)
{
	struct ddio_fs_new make = { .mode = S_IFREG | 0644 };
	struct power p;
	struct fs_mount *m = power_begin(&p, 14 + ms);
	struct ddio_fs_file *b;
	uint8_t buf[LEN] = { 1 };
	bool back;

	FS_OK(m, ddio_fs_file_create, m->fs, p.d[0], "b", O_RDWR, &make, &b);
	FS_OK(m, ddio_fs_write, b, buf, LEN, 0);
	FS_OK(m, ddio_fs_sync, b);
	FS_OK(m, ddio_fs_file_close, b);
	FS_OK(m, ddio_fs_sync_names, m->fs);
	restart_and_unlink(&p, m);
	CU_ASSERT_EQUAL(fs_objects(&p.w), 2);
	ddio_sim_run_for(p.w.dw, ms * FS_MS);
	power_lost(&p);
	back = !FSC_WAIT(&m->r, ddio_fs_lookup, m->fs, p.d[0], "b");
	if (back) {
		CU_ASSERT_EQUAL(fs_objects(&p.w), 2);
		FS_OK(m, ddio_fs_unlink, m->fs, p.d[0], "b");
	}
	ddio_sim_run_for(p.w.dw, 10 * FS_SEC);
	CU_ASSERT_EQUAL(fs_objects(&p.w), 1);
	power_end(&p);
	return back;
}

static void removed_by_a_start(void)
{
	uint64_t ms;
	uint32_t n = 0, back = 0;

	for (ms = 2; ms < 1200; ms = ms * 3 / 2, n++)
		back += removed_by_a_start_at(ms);
	CU_ASSERT(back > 2 && back < n);
}

/* A directory is open several times: each older opening hears of the loss, and the first that is made afterwards. */
static void openings_of_a_directory(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 12);
	uint64_t first = ddio_fs_dir_seen(m->fs), second = first, late, later, new;

	image(&p);
	append_and_rename(&p, m);
	die(&p, "image", "second");
	FS_OK(m, ddio_fs_lookup, m->fs, p.d[0], "a");
	late = ddio_fs_dir_seen(m->fs);
	FS_OK(m, ddio_fs_sync_opened, m->fs, DDIO_FS_ROOT, &first);
	first = second;
	FS_ERR(m, -EIO, ddio_fs_sync_opened, m->fs, p.d[0], &late);
	later = ddio_fs_dir_seen(m->fs);
	FS_ERR(m, -EIO, ddio_fs_sync_opened, m->fs, p.d[0], &first);
	FS_ERR(m, -EIO, ddio_fs_sync_opened, m->fs, p.d[0], &second);
	FS_OK(m, ddio_fs_sync_opened, m->fs, p.d[0], &first);
	FS_OK(m, ddio_fs_sync_opened, m->fs, p.d[0], &second);
	FS_OK(m, ddio_fs_sync_opened, m->fs, p.d[0], &late);
	FS_OK(m, ddio_fs_sync_opened, m->fs, p.d[0], &later);
	FS_OK(m, ddio_fs_sync_dir, m->fs, p.d[0]);
	/* What was told before does not hide what is lost again, and is not told again. */
	image(&p);
	append_and_rename(&p, m);
	die(&p, "image", "third");
	FS_OK(m, ddio_fs_lookup, m->fs, p.d[0], "a");
	FS_ERR(m, -EIO, ddio_fs_sync_dir, m->fs, p.d[0]);
	new = ddio_fs_dir_seen(m->fs);
	FS_ERR(m, -EIO, ddio_fs_sync_opened, m->fs, p.d[0], &first);
	FS_ERR(m, -EIO, ddio_fs_sync_opened, m->fs, p.d[0], &later);
	FS_OK(m, ddio_fs_sync_opened, m->fs, p.d[0], &first);
	FS_OK(m, ddio_fs_sync_opened, m->fs, p.d[0], &new);
	FS_ERR(m, -EIO, ddio_fs_sync, p.a);
	power_end(&p);
}

/* Records of another time are put back, and the next life has the number that the lost one had. */
static void another_life_of_that_number(void)
{
	struct ddio_fs_new dir = { .mode = S_IFDIR | 0755 };
	struct fs_world w;
	struct fs_mount *m;

	fs_world_begin(&w, 13, BLOCK, 3000);
	m = fs_mount(&w, 0, DDIO_FS_HARD);
	FS_OK(m, ddio_fs_make, m->fs, DDIO_FS_ROOT, "d", &dir);
	fake_reborn(&w.names);
	FS_OK(m, ddio_fs_sync_dir, m->fs, DDIO_FS_ROOT);
	FS_OK(m, ddio_fs_make, m->fs, DDIO_FS_ROOT, "e", &dir);
	fake_forked(&w.names);
	FS_ERR(m, -EIO, ddio_fs_sync_dir, m->fs, DDIO_FS_ROOT);
	fs_world_end(&w);
}

static const struct ut_case cases[] = {
	{ "power cut", power_cut },
	{ "twice", twice },
	{ "two mounts", two_mounts },
	{ "two openings", two_openings },
	{ "synced before", synced_before },
	{ "daemon dies", daemon_dies },
	{ "stopped in order", stopped_in_order },
	{ "synced by itself", synced_by_itself },
	{ "unlink of one link", unlink_of_one_link },
	{ "unlink of the last link", unlink_of_the_last_link },
	{ "openings of a directory", openings_of_a_directory },
	{ "removed by a start", removed_by_a_start },
	{ "another life of that number", another_life_of_that_number },
	{ "the file system comes back", file_system_comes_back },
	{ "what was durable comes undone", durable_comes_undone },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs power", cases } };

	return ut_run("fs_power", suites, 1);
}
