// SPDX-License-Identifier: GPL-2.0-only
/* ddio sim --faults --mounts: calls of a mount, each waited for. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cp/fs/fs.h"
#include "mounts.h"
#include "sim/sim.h"

static void wait_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct mounter *m = arg;

	m->err = reply->err;
	m->value = reply->value;
	m->ino = reply->attr ? reply->attr->ino : 0;
	m->size = reply->attr ? reply->attr->size : 0;
	ddio_gate_open(m->env, &m->gate);
}

static void wait_begin(struct mounter *m, const char *what)
{
	m->cp->in_call = faults_now(m->cp->f);
	m->cp->what = what;
	ddio_gate_init(&m->gate);
}

static int wait_end(struct mounter *m)
{
	struct faults *f = m->cp->f;
	struct faults_result *res = f->result;
	uint32_t ms;

	ddio_gate_wait(m->env, &m->gate, 0);
	ms = (uint32_t)((faults_now(f) - m->cp->in_call) / FAULTS_MS);
	m->cp->in_call = 0;
	res->calls++;
	res->failed += m->err < 0;
	if (ms > res->longest_ms)
		res->longest_ms = ms;
	faults_say(f, "cp%u: %s: %s", m->cp->rank, m->cp->what,
		   m->err ? strerror(-m->err) : "done");
	return m->err;
}

#define CALL(m, what, call, ...)    \
	((m)->cp->dead ? -ESHUTDOWN \
		       : (wait_begin(m, what), call(__VA_ARGS__, wait_done, m), wait_end(m)))

int mount_open(struct mounter *m, char *err, size_t err_len)
{
	struct ddio_fs_opts opts = { .struct_size = sizeof(opts), .flags = DDIO_FS_HARD };
	struct faults_cp *cp = m->cp;
	int ret = faults_connect(cp);

	m->env = faults_env(cp);
	if (!ret)
		ret = ddio_fsc_new(&cp->session, 1, &opts, &m->fs, err, err_len);
	if (ret && cp->session)
		ddio_disconnect(cp->session);
	cp->session = NULL; /* the mount's */
	return ret;
}

void mount_close(struct mounter *m)
{
	if (m->fs)
		ddio_fs_close(m->fs);
	m->fs = NULL;
}

/* Nobody hears of it any more: it is closed so that its memory is given back, and its calls end. */
static void mount_bury(void *arg)
{
	ddio_fs_close(arg);
}

bool mount_dies(struct faults_cp *cp)
{
	struct mounts *all = cp->f->mounts;
	struct mounter *m = &all->m[cp->rank];

	if (cp->dead || !m->fs)
		return false;
	if (ddio_sim_spawn(m->env, mount_bury, m->fs))
		abort();
	all->left[cp->rank] = *m;
	all->killed[cp->rank] = true;
	m->fs = NULL;
	if (all->inside == m)
		all->inside = NULL;
	return true;
}

int mount_make_dir(struct mounter *m, const char *name)
{
	struct ddio_fs_new make = { .mode = S_IFDIR | 0755 };

	return CALL(m, "mkdir", ddio_fs_make, m->fs, DDIO_FS_ROOT, name, &make);
}

int mount_create(struct mounter *m, uint64_t dir, const char *name, bool excl,
		 struct ddio_fs_file **file)
{
	struct ddio_fs_new make = { .mode = S_IFREG | 0644 };
	int flags = O_RDWR | O_APPEND | (excl ? O_EXCL : 0);

	*file = NULL;
	return CALL(m, "create", ddio_fs_file_create, m->fs, dir, name, flags, &make, file);
}

int mount_open_file(struct mounter *m, uint64_t ino, struct ddio_fs_file **file)
{
	*file = NULL;
	return CALL(m, "open", ddio_fs_file_open, m->fs, ino, O_RDWR | O_APPEND, file);
}

int mount_close_file(struct mounter *m, struct ddio_fs_file *file)
{
	return CALL(m, "close", ddio_fs_file_close, file);
}

int mount_lookup(struct mounter *m, uint64_t dir, const char *name)
{
	return CALL(m, "lookup", ddio_fs_lookup, m->fs, dir, name);
}

int mount_unlink(struct mounter *m, uint64_t dir, const char *name)
{
	return CALL(m, "unlink", ddio_fs_unlink, m->fs, dir, name);
}

int mount_rename(struct mounter *m, uint64_t dir, const char *name, uint64_t to_dir, const char *to,
		 bool exchange)
{
	uint32_t flags = exchange ? RENAME_EXCHANGE : 0;

	return CALL(m, "rename", ddio_fs_rename, m->fs, dir, name, to_dir, to, flags);
}

int mount_append(struct mounter *m, struct ddio_fs_file *file, const void *buf, size_t len)
{
	return CALL(m, "write", ddio_fs_write, file, buf, len, 0);
}

int mount_read(struct mounter *m, struct ddio_fs_file *file, void *buf, size_t len)
{
	return CALL(m, "read", ddio_fs_read, file, buf, len, 0);
}

int mount_sync(struct mounter *m, struct ddio_fs_file *file)
{
	return CALL(m, "fsync", ddio_fs_sync, file);
}

int mount_sync_dir(struct mounter *m, uint64_t dir)
{
	return CALL(m, "fsync of a directory", ddio_fs_sync_dir, m->fs, dir);
}

int mount_sync_names(struct mounter *m)
{
	return CALL(m, "sync of names", ddio_fs_sync_names, m->fs);
}

int mount_lock(struct mounter *m, struct ddio_fs_file *file, bool on)
{
	struct ddio_fs_lock lock = { .type = on ? F_WRLCK : F_UNLCK,
				     .end = UINT64_MAX,
				     .owner = m->cp->rank + 1,
				     .pid = m->cp->rank + 1 };
	uint64_t id;

	return CALL(m, on ? "lock" : "unlock", ddio_fs_lock_set, file, &lock, on, &id);
}
