// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The wrapper around every disk engine: it checks what users ask for, counts
 * and injects faults, so that engines can stay simple.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/bug.h"
#include "base/probe.h"
#include "env/disk/priv.h"
#include "env/kernel/kenv.h"

static const struct ddio_disk_engine *engine_named(struct ddio_env *env, const char *name)
{
	const struct ddio_disk_engine *const *e;

	for (e = env->engines; e && *e; e++)
		if (!strcmp((*e)->name, name))
			return *e;
	return NULL;
}

static const struct ddio_disk_engine *
engine_find(struct ddio_env *env, const struct ddio_disk_spec *spec, char *err, size_t err_len)
{
	const char *name = spec->engine ? spec->engine : spec->path ? "aio" : "mem";
	const struct ddio_disk_engine *engine = engine_named(env, name);
	const struct ddio_disk_engine *const *e;
	char known[128] = "";

	if (engine)
		return engine;
	for (e = env->engines; e && *e; e++) {
		strncat(known, " ", sizeof(known) - strlen(known) - 1);
		strncat(known, (*e)->name, sizeof(known) - strlen(known) - 1);
	}
	disk_err(err, err_len, spec, "unknown engine \"%s\"; known are:%s", name, known);
	return NULL;
}

static int disk_prepare(struct ddio_disk *disk, const struct ddio_disk_engine *engine,
			struct ddio_env *env, const struct ddio_disk_spec *spec)
{
	disk->name = strdup(spec->name ? spec->name : "");
	disk->kick = calloc(1, sizeof(*disk->kick));
	if (!disk->name || !disk->kick) {
		free(disk->name);
		free(disk->kick);
		return -ENOMEM;
	}
	disk->kick->disk = disk;
	disk->kick->post.fn = disk_kicked;
	disk->kick->post.arg = disk->kick;
	disk->engine = engine;
	disk->env = env;
	disk->info.engine = engine->name;
	ddio_list_init(&disk->rejected);
	return 0;
}

static int disk_open(struct ddio_env *env, const struct ddio_disk_engine *engine,
		     const struct ddio_disk_spec *spec, struct ddio_disk **disk, char *err,
		     size_t err_len)
{
	struct disk_common common = { .fail_after = UINT64_MAX,
				      .stream = engine->stream,
				      .scatter = engine->scatter };
	int ret;

	ret = disk_options_parse_common(engine->options, spec, &common, err, err_len);
	if (ret)
		return ret;
	ret = engine->open(env, spec, disk, err, err_len);
	if (ret)
		return ret;
	ret = disk_prepare(*disk, engine, env, spec);
	if (ret) {
		disk_err(err, err_len, spec, "out of memory");
		engine->close(*disk);
		return ret;
	}
	(*disk)->common = common;
	(*disk)->info.streams = common.stream;
	(*disk)->info.scatters = common.scatter && engine->scatter;
	return 0;
}

static bool is_block_device(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) && S_ISBLK(st.st_mode);
}

/*
 * Opens a block device for which no engine was named by the kernel module, if that is available.
 * Return: true if the disk was opened.
 */
static bool open_by_kmod(struct ddio_env *env, const struct ddio_disk_spec *spec,
			 struct ddio_disk **disk)
{
	const struct ddio_disk_engine *kmod = engine_named(env, "kmod");
	char why[256];

	if (spec->engine || !kmod || !is_block_device(spec->path))
		return false;
	if (kenv_probe(why, sizeof(why))) {
		ddio_env_log(env, DDIO_LOG_INFO, "disk %s: engine aio: %s", spec->name, why);
		return false;
	}
	if (disk_open(env, kmod, spec, disk, why, sizeof(why))) {
		ddio_env_log(env, DDIO_LOG_WARN, "%s; engine aio instead of kmod", why);
		return false;
	}
	ddio_env_log(env, DDIO_LOG_INFO, "disk %s: engine kmod: a block device, and %s", spec->name,
		     why);
	return true;
}

/**
 * ddio_disk_open - open a disk
 * @env: the reactor that will use it
 * @spec: what to open; may be freed afterwards
 * @disk: filled in
 * @err: on failure one line that names the disk
 * @err_len: size of @err
 * Return: 0 or -errno.
 */
int ddio_disk_open(struct ddio_env *env, const struct ddio_disk_spec *spec, struct ddio_disk **disk,
		   char *err, size_t err_len)
{
	const struct ddio_disk_engine *engine;

	if (open_by_kmod(env, spec, disk))
		return 0;
	engine = engine_find(env, spec, err, err_len);
	return engine ? disk_open(env, engine, spec, disk, err, err_len) : -EINVAL;
}

void ddio_disk_close(struct ddio_disk *disk)
{
	struct disk_kick *kick;

	if (!disk)
		return;
	/* The disk may write to its buffers at any time: leaking the memory does less harm. */
	if (bug_on(disk->stats.in_flight || disk->n_rejected || disk->streams,
		   "disk %s: closed with %llu requests in flight and %u streams open", disk->name,
		   (unsigned long long)disk->stats.in_flight, disk->streams))
		return;
	kick = disk->kick;
	kick->disk = NULL;
	if (!kick->posted)
		free(kick);
	free(disk->name);
	free(disk->write_table);
	disk->engine->close(disk);
}

const struct ddio_disk_info *ddio_disk_info(const struct ddio_disk *disk)
{
	return &disk->info;
}

const char *ddio_disk_name(const struct ddio_disk *disk)
{
	return disk->name;
}

uint64_t ddio_disk_written(const struct ddio_disk *disk)
{
	return disk->stats.writes;
}

uint64_t ddio_disk_access_ns(const struct ddio_disk *disk, uint64_t offset)
{
	return disk->engine->access_ns ? disk->engine->access_ns(disk, offset) : UINT64_MAX;
}

void ddio_disk_stats(const struct ddio_disk *disk, struct ddio_disk_stats *stats)
{
	*stats = disk->stats;
	if (stats->in_flight)
		stats->busy_ns += ddio_env_now(disk->env) - disk->busy_since;
	if (disk->engine->stats)
		disk->engine->stats(disk, stats);
}

static bool req_is_valid(const struct ddio_disk *disk, const struct ddio_disk_req *req)
{
	const struct ddio_disk_info *info = &disk->info;

	if (req->op == DDIO_DISK_FLUSH)
		return !req->len;
	if (req->op != DDIO_DISK_READ && req->op != DDIO_DISK_WRITE)
		return false;
	if (!req->len || req->len > info->max_len || !req->buf)
		return false;
	if (req->len % info->sector || req->offset % info->sector)
		return false;
	if ((uintptr_t)req->buf % info->align)
		return false;
	return req->offset <= info->size && req->len <= info->size - req->offset;
}

/**
 * ddio_disk_submit - hand a request to a disk
 * @disk: an open disk
 * @req: belongs to the disk until its @done is called
 */
void ddio_disk_submit(struct ddio_disk *disk, struct ddio_disk_req *req)
{
	req->submit_ns = ddio_env_now(disk->env);
	req->status = 0;
	if (req->sums)
		req->sums->n = 0;
	ddio_list_init(&req->link);
	if (!req_is_valid(disk, req)) {
		disk->n_rejected++;
		ddio_list_add(&req->link, &disk->rejected);
		disk_kick(disk);
		return;
	}
	DDIO_PROBE(disk_submit, disk->name, req->op, req->offset, req->len);
	disk_flight_begin(disk, req->submit_ns);
	req->priv[PRIV_INJECTED] = disk_injected(disk, req->op);
	if (req->op == DDIO_DISK_WRITE)
		disk_write_note(disk, req->offset, req->len);
	disk->engine->submit(disk, req);
}

void ddio_disk_commit(struct ddio_disk *disk)
{
	if (disk->engine->commit)
		disk->engine->commit(disk);
}

void disk_inject(struct ddio_disk *disk, int op, uint64_t n, int status)
{
	disk->inject_op = op;
	disk->inject_n = n;
	disk->inject_status = status;
}

int ddio_disk_rw_sync(struct ddio_disk *disk, enum ddio_disk_op op, uint64_t offset, void *buf,
		      uint64_t len)
{
	struct ddio_disk_req req = { .op = op, .offset = offset, .len = len, .buf = buf };

	if (!disk->engine->rw_sync)
		return -EOPNOTSUPP;
	if (!req_is_valid(disk, &req))
		return -EINVAL;
	return disk->stats.in_flight ? -EBUSY : disk->engine->rw_sync(disk, &req);
}
