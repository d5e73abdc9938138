// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An emulated HP 97560: the timing of kmod/shared/hp97560.h, kept by a timer.
 *
 * The model computes a request's end as soon as it is submitted, since the drive
 * takes one command at a time, in the order of submission: so the host adds no time
 * to requests that queue up, and a late timer does not delay the next request.
 *
 * The model's time is the env's, from an origin that all disks of a bus share,
 * divided by the time scale.  With a scale of 0 only the commands themselves
 * make it pass.
 *
 * With a trace each request leaves a line in a file: where the arm was, and when.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "env/disk/priv.h"
#include "hp97560.h"

#define SECTOR HP97560_SECTOR_BYTES

/* The engine's part of a request's priv: the env's time of its end; its status. */
enum { PRIV_DUE, PRIV_STATUS };

struct hp_options {
	double time_scale;
	double slow;
	uint64_t bad_sector;
	uint64_t buffer_sectors;
	uint64_t dirty_sectors;
	uint64_t write_piece;
	uint64_t announce_us;
	uint64_t phase;
	bool immediate_report;
	bool read_ahead;
	bool bus_overlap;
	char *trace;
};

/**
 * struct hp_bus - a bus of one env
 * @link: in the env's list
 * @name: as in the disks' specs; NULL for a disk's own
 * @users: disks on it
 * @origin: the env's time that is 0 in the model's
 * @time_scale: the same for all disks on it
 * @model: the times at which the bus is taken
 */
struct hp_bus {
	struct ddio_list link;
	char *name;
	unsigned int users;
	uint64_t origin;
	double time_scale;
	struct hp97560_bus model;
};

/**
 * struct hp_disk - one drive
 * @base: what the wrapper knows
 * @store: the data
 * @opts: as given
 * @bus: shared or its own
 * @model: the drive
 * @trace: file to which a line a request is appended; -1 if none
 * @free_at: in the model's time: when it takes the next command, slowness included
 * @queue: requests in the order of their submission, which is that of their ends
 * @timer: for the first of @queue
 */
struct hp_disk {
	struct ddio_disk base;
	struct backing store;
	struct hp_options opts;
	struct hp_bus *bus;
	struct hp97560_disk model;
	int trace;
	uint64_t free_at;
	struct ddio_list queue;
	struct ddio_timer timer;
};

static const struct ddio_opt hp_options[] = {
	{
		.name = "time_scale",
		.type = OPT_DOUBLE,
		.offset = offsetof(struct hp_options, time_scale),
		.min = 0,
		.max = 1000,
		.help = "real seconds for a second of the drive's; 0 does not wait at all",
	},
	{
		.name = "immediate_report",
		.type = OPT_BOOL,
		.offset = offsetof(struct hp_options, immediate_report),
		.help = "a write ends when its data are in the drive's buffer",
	},
	{
		.name = "read_ahead",
		.type = OPT_BOOL,
		.offset = offsetof(struct hp_options, read_ahead),
		.help = "the drive goes on reading into its buffer after a read",
	},
	{
		.name = "bus_overlap",
		.type = OPT_BOOL,
		.offset = offsetof(struct hp_options, bus_overlap),
		.help = "data cross the bus while the media turn, not once complete",
	},
	{
		.name = "buffer_sectors",
		.type = OPT_U64,
		.offset = offsetof(struct hp_options, buffer_sectors),
		.min = 1,
		.max = 65536,
		.help = "size of the drive's buffer in sectors",
	},
	{
		.name = "dirty_sectors",
		.type = OPT_U64,
		.offset = offsetof(struct hp_options, dirty_sectors),
		.min = 1,
		.max = 65536,
		.help = "part of the buffer that may hold unwritten data",
	},
	{
		.name = "write_piece",
		.type = OPT_U64,
		.offset = offsetof(struct hp_options, write_piece),
		.min = 0,
		.max = 65536,
		.help = "sectors of a write that cross the bus at a time; 0: a quarter of dirty_sectors",
	},
	{
		.name = "announce_us",
		.type = OPT_U64,
		.offset = offsetof(struct hp_options, announce_us),
		.min = 0,
		.max = 1000000,
		.help = "each read is announced to the drive, which takes the bus for so many microseconds",
	},
	{
		.name = "phase",
		.type = OPT_U64,
		.offset = offsetof(struct hp_options, phase),
		.min = 0,
		.max = 71,
		.help = "by how many sectors the disk's angle differs from that of others",
	},
	{
		.name = "slow",
		.type = OPT_DOUBLE,
		.offset = offsetof(struct hp_options, slow),
		.min = 1,
		.max = 1000,
		.help = "every command takes this many times as long (fault injection)",
	},
	{
		.name = "bad_sector",
		.type = OPT_U64,
		.offset = offsetof(struct hp_options, bad_sector),
		.min = 0,
		.max = 1e18,
		.help = "requests that touch this sector fail with EIO (fault injection)",
	},
	{
		.name = "trace",
		.type = OPT_STRING,
		.offset = offsetof(struct hp_options, trace),
		.help = "append a line to this file for each request: disk,seconds,op,place,bytes",
	},
	{ .name = NULL },
};

static struct hp_disk *hp_of(const struct ddio_disk *disk)
{
	return ddio_container_of(disk, struct hp_disk, base);
}

/*
 * Time.  Long double has 64 bits of mantissa on the machines that matter here, so
 * that no nanosecond is lost.
 */
static uint64_t hp_model_now(const struct hp_disk *h, uint64_t now)
{
	uint64_t since = now - h->bus->origin;

	if (h->bus->time_scale == 0)
		return h->free_at;
	if (h->bus->time_scale == 1)
		return since;
	return (uint64_t)((long double)since / h->bus->time_scale);
}

static uint64_t hp_env_time(const struct hp_disk *h, uint64_t model)
{
	if (h->bus->time_scale == 1)
		return h->bus->origin + model;
	return h->bus->origin + (uint64_t)((long double)model * h->bus->time_scale);
}

/*
 * Requests
 */
static int hp_model_submit(struct hp_disk *h, const struct ddio_disk_req *req,
			   struct hp97560_result *result)
{
	static const enum hp97560_op ops[] = {
		[DDIO_DISK_READ] = HP97560_READ,
		[DDIO_DISK_WRITE] = HP97560_WRITE,
		[DDIO_DISK_FLUSH] = HP97560_FLUSH,
	};
	uint64_t now = hp_model_now(h, req->submit_ns);

	/*
	 * The model knows that the drive is busy, but not that it is slow.  The time that it gets is
	 * no later than necessary, since the bus forgets what lies before it.
	 */
	if (now < h->free_at && (h->opts.slow > 1 || h->store.medium))
		now = h->free_at;
	if (req->op == DDIO_DISK_READ)
		hp97560_bus_grant(&h->bus->model, now, 1000 * h->opts.announce_us);
	return hp97560_submit(&h->model, ops[req->op], req->offset / SECTOR, req->len / SECTOR, now,
			      result);
}

static bool hp_is_bad(const struct hp_disk *h, const struct ddio_disk_req *req)
{
	uint64_t first = req->offset / SECTOR;

	return h->opts.bad_sector >= first && h->opts.bad_sector - first < req->len / SECTOR;
}

static void hp_arm(struct hp_disk *h, uint64_t due)
{
	/* Without memory for a timer the loop polls. */
	if (ddio_timer_arm(h->base.env, &h->timer, due))
		disk_kick(&h->base);
}

/* One write a line, so that the lines of several disks do not mix. */
static void hp_trace(const struct hp_disk *h, const struct ddio_disk_req *req, uint64_t done_ns)
{
	static const char ops[] = {
		[DDIO_DISK_READ] = 'R', [DDIO_DISK_WRITE] = 'W', [DDIO_DISK_FLUSH] = 'F'
	};

	if (h->trace >= 0)
		dprintf(h->trace, "%s,%.6f,%c,%llu,%llu\n", ddio_disk_name(&h->base),
			(double)done_ns / 1e9, ops[req->op], (unsigned long long)req->offset,
			(unsigned long long)req->len);
}

static void hp_submit(struct ddio_disk *disk, struct ddio_disk_req *req)
{
	struct hp_disk *h = hp_of(disk);
	struct hp97560_result result;
	uint64_t took;
	int ret;

	ret = hp_model_submit(h, req, &result);
	if (!ret) {
		took = result.done_ns - result.arrival_ns;
		h->free_at = result.done_ns + (uint64_t)((h->opts.slow - 1) * took);
		if (hp_is_bad(h, req))
			ret = -EIO;
		else
			h->free_at += backing_begun(&h->store, req);
		hp_trace(h, req, result.done_ns);
	}
	req->priv[PRIV_STATUS] = ret;
	req->priv[PRIV_DUE] = hp_env_time(h, h->free_at);
	ddio_list_add(&req->link, &h->queue);
	if (h->bus->time_scale == 0)
		disk_kick(disk);
	else if (!ddio_timer_armed(&h->timer))
		hp_arm(h, req->priv[PRIV_DUE]);
}

static uint64_t hp_access_ns(const struct ddio_disk *disk, uint64_t offset)
{
	const struct hp_disk *h = hp_of(disk);
	uint64_t now = hp_model_now(h, ddio_env_now(disk->env));

	if (now < h->free_at)
		now = h->free_at;
	return hp97560_position_ns(&h->model, offset / SECTOR, now);
}

static int hp_transfer(struct hp_disk *h, const struct ddio_disk_req *req)
{
	int status = (int)(int64_t)req->priv[PRIV_STATUS];

	return status ? status : backing_transfer(&h->store, req);
}

/* Ends the requests whose time has come. */
static void hp_end(struct hp_disk *h)
{
	uint64_t now = ddio_env_now(h->base.env);
	struct ddio_disk_req *req;
	struct ddio_list due;

	ddio_list_init(&due);
	while (!ddio_list_empty(&h->queue)) {
		req = ddio_list_first(&h->queue, struct ddio_disk_req, link);
		if (h->bus->time_scale != 0 && req->priv[PRIV_DUE] > now) {
			hp_arm(h, req->priv[PRIV_DUE]);
			break;
		}
		ddio_list_del(&req->link);
		ddio_list_add(&req->link, &due);
	}
	while (!ddio_list_empty(&due)) {
		req = ddio_list_first(&due, struct ddio_disk_req, link);
		ddio_list_del(&req->link);
		disk_complete(&h->base, req, hp_transfer(h, req));
	}
}

static void hp_timer(void *arg)
{
	hp_end(arg);
}

static void hp_kick(struct ddio_disk *disk)
{
	hp_end(hp_of(disk));
}

static void hp_stats(const struct ddio_disk *disk, struct ddio_disk_stats *stats)
{
	const struct hp97560_stats *model = &hp_of(disk)->model.stats;

	stats->seeks = model->seeks;
	stats->seek_ns = model->seek_ns;
	stats->rotation_ns = model->rotation_ns;
	stats->buffer_hits = model->hits;
	stats->bus_wait_ns = model->bus_wait_ns;
}

/*
 * Buses
 */
static struct hp_bus *hp_bus_find(struct ddio_env *env, const char *name)
{
	struct hp_bus *bus;

	ddio_list_for_each_entry(bus, &env->buses, link)
		if (name && bus->name && !strcmp(bus->name, name))
			return bus;
	return NULL;
}

static struct hp_bus *hp_bus_new(struct ddio_env *env, const char *name, double time_scale)
{
	struct hp_bus *bus = calloc(1, sizeof(*bus));

	if (!bus)
		return NULL;
	if (name) {
		bus->name = strdup(name);
		if (!bus->name) {
			free(bus);
			return NULL;
		}
	}
	bus->origin = ddio_env_now(env);
	bus->time_scale = time_scale;
	hp97560_bus_init(&bus->model);
	ddio_list_add(&bus->link, &env->buses);
	return bus;
}

static void hp_bus_put(struct hp_bus *bus)
{
	if (--bus->users)
		return;
	ddio_list_del(&bus->link);
	free(bus->name);
	free(bus);
}

static int hp_bus_get(struct hp_disk *h, struct ddio_env *env, const struct ddio_disk_spec *spec,
		      char *err, size_t err_len)
{
	struct hp_bus *bus = hp_bus_find(env, spec->bus);

	if (bus && bus->time_scale != h->opts.time_scale) {
		disk_err(err, err_len, spec,
			 "time_scale is %g, but %g on the other disks of bus %s",
			 h->opts.time_scale, bus->time_scale, spec->bus);
		return -EINVAL;
	}
	if (!bus)
		bus = hp_bus_new(env, spec->bus, h->opts.time_scale);
	if (!bus) {
		disk_err(err, err_len, spec, "out of memory");
		return -ENOMEM;
	}
	bus->users++;
	h->bus = bus;
	return 0;
}

/*
 * Opening
 */

/* Returns the bytes a second of a long sequential read: a cylinder's data by the time to the next cylinder's. */
static uint64_t hp_peak(const struct hp97560_params *p)
{
	uint32_t turn = p->track_sectors, switches = p->heads - 1;
	uint32_t to_next = (p->cyl_skew + turn - switches * p->track_skew % turn) % turn;
	uint64_t slots = p->heads * turn + switches * p->track_skew + to_next;
	double slot_ns = (double)p->period_ns / ((double)p->revolutions * turn);

	return (uint64_t)((double)p->heads * turn * SECTOR * 1e9 / (slots * slot_ns));
}

static int hp_params(struct hp_disk *h, const struct ddio_disk_spec *spec,
		     struct hp97560_params *params, char *err, size_t err_len)
{
	struct hp_options *opts = &h->opts;
	int ret;

	hp97560_params_default(params);
	opts->time_scale = 1;
	opts->slow = 1;
	opts->bad_sector = UINT64_MAX;
	opts->buffer_sectors = params->buffer_sectors;
	opts->dirty_sectors = params->dirty_sectors;
	opts->immediate_report = params->immediate_report;
	opts->read_ahead = params->read_ahead;
	opts->bus_overlap = params->bus_overlap;
	ret = disk_options_parse(hp_options, spec, opts, err, err_len);
	if (ret)
		return ret;
	if (opts->time_scale != 0 && opts->time_scale < 1e-4) {
		disk_err(err, err_len, spec, "option time_scale: give 0, or at least 0.0001");
		return -EINVAL;
	}
	params->buffer_sectors = opts->buffer_sectors;
	params->dirty_sectors = opts->dirty_sectors;
	params->write_piece = (uint32_t)opts->write_piece;
	params->phase = (uint32_t)opts->phase;
	params->immediate_report = opts->immediate_report;
	params->read_ahead = opts->read_ahead;
	params->bus_overlap = opts->bus_overlap;
	ret = hp97560_params_check(params);
	if (ret)
		disk_err(err, err_len, spec,
			 "no drive can have these options: are there more dirty_sectors"
			 " than buffer_sectors?");
	return ret;
}

static int hp_size(const struct hp97560_params *params, const struct ddio_disk_spec *spec,
		   uint64_t *size, char *err, size_t err_len)
{
	uint64_t capacity = hp97560_capacity(params) * SECTOR;

	if (spec->size > capacity) {
		disk_err(err, err_len, spec, "a size of %llu, but an HP 97560 has %llu bytes",
			 (unsigned long long)spec->size, (unsigned long long)capacity);
		return -EINVAL;
	}
	*size = spec->size ? spec->size / SECTOR * SECTOR : capacity;
	return 0;
}

static int hp_trace_open(struct hp_disk *h, const struct ddio_disk_spec *spec, char *err,
			 size_t err_len)
{
	int ret;

	if (!h->opts.trace)
		return 0;
	h->trace = open(h->opts.trace, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (h->trace >= 0)
		return 0;
	ret = -errno;
	disk_err(err, err_len, spec, "option trace: %s: %s", h->opts.trace, strerror(-ret));
	return ret;
}

static void hp_free(struct hp_disk *h)
{
	if (h->trace >= 0)
		close(h->trace);
	free(h->opts.trace);
	free(h);
}

static int hp_rw_sync(struct ddio_disk *disk, const struct ddio_disk_req *req)
{
	return backing_transfer(&hp_of(disk)->store, req);
}

static void hp_close(struct ddio_disk *disk)
{
	struct hp_disk *h = hp_of(disk);

	ddio_timer_cancel(disk->env, &h->timer);
	hp_bus_put(h->bus);
	backing_close(&h->store);
	hp_free(h);
}

static void hp_describe(struct hp_disk *h, uint64_t size, const struct hp97560_params *params)
{
	struct ddio_disk_info *info = &h->base.info;

	info->size = size;
	info->sector = SECTOR;
	info->align = 1;
	info->peak = hp_peak(params);
	info->time_scale = h->opts.time_scale;
	info->max_len = DISK_MAX_LEN;
	info->positions = true;
}

static int hp_open(struct ddio_env *env, const struct ddio_disk_spec *spec, struct ddio_disk **disk,
		   char *err, size_t err_len)
{
	struct hp_disk *h = calloc(1, sizeof(*h));
	struct hp97560_params params;
	uint64_t size = 0;
	int ret;

	if (!h) {
		disk_err(err, err_len, spec, "out of memory");
		return -ENOMEM;
	}
	h->trace = -1;
	ret = hp_params(h, spec, &params, err, err_len);
	if (!ret)
		ret = hp_trace_open(h, spec, err, err_len);
	if (!ret)
		ret = hp_size(&params, spec, &size, err, err_len);
	if (ret)
		goto free_disk;
	ret = backing_open(env, &h->store, spec, size, err, err_len);
	if (ret)
		goto free_disk;
	ret = hp_bus_get(h, env, spec, err, err_len);
	if (ret)
		goto close_store;
	hp97560_init(&h->model, &params, &h->bus->model);
	ddio_list_init(&h->queue);
	h->timer.fn = hp_timer;
	h->timer.arg = h;
	hp_describe(h, size, &params);
	h->base.info.forgets = !spec->path;
	*disk = &h->base;
	return 0;

close_store:
	backing_close(&h->store);
free_disk:
	hp_free(h);
	return ret;
}

const struct ddio_disk_engine ddio_disk_hp97560 = {
	.name = "hp97560",
	.help = "an emulated HP 97560, in memory or in a file of the page cache",
	.open = hp_open,
	.close = hp_close,
	.submit = hp_submit,
	.kick = hp_kick,
	.stats = hp_stats,
	.rw_sync = hp_rw_sync,
	.access_ns = hp_access_ns,
	.options = hp_options,
};
