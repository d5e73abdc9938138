// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory as a disk: the reference for other engines, and a disk that costs nothing, for measurements. */
#include <errno.h>
#include <stdlib.h>
#include "env/disk/priv.h"

#define MEM_SECTOR 512
#define MEM_SIZE_DEFAULT (1ULL << 30)
/* The engine's part of a request's priv: the time of its end. */
#define PRIV_DUE 0

struct mem_options {
	uint64_t delay_us;
	bool huge;
};

/**
 * struct mem_disk - one disk
 * @base: what the wrapper knows
 * @store: the data
 * @opts: as given
 * @queue: requests in the order of their submission, which is that of their ends
 * @due: end of the last request that was submitted
 * @timer: for the first of @queue, if there is a delay
 */
struct mem_disk {
	struct ddio_disk base;
	struct backing store;
	struct mem_options opts;
	struct ddio_list queue;
	uint64_t due;
	struct ddio_timer timer;
};

static const struct ddio_opt mem_options[] = {
	{
		.name = "delay_us",
		.type = OPT_U64,
		.offset = offsetof(struct mem_options, delay_us),
		.min = 0,
		.max = 1e9,
		.help = "microseconds from the submission of a request to its end",
	},
	{
		.name = "huge",
		.type = OPT_BOOL,
		.offset = offsetof(struct mem_options, huge),
		.help = "use huge pages: faster, but more memory where the use is sparse",
	},
	{ .name = NULL },
};

static struct mem_disk *mem_of(const struct ddio_disk *disk)
{
	return ddio_container_of(disk, struct mem_disk, base);
}

/* Ends the requests whose time has come. */
static void mem_end(struct mem_disk *m)
{
	uint64_t now = ddio_env_now(m->base.env);
	struct ddio_disk_req *req;
	struct ddio_list due;

	ddio_list_init(&due);
	while (!ddio_list_empty(&m->queue)) {
		req = ddio_list_first(&m->queue, struct ddio_disk_req, link);
		if (req->priv[PRIV_DUE] > now) {
			/* Without memory for a timer the loop polls. */
			if (ddio_timer_arm(m->base.env, &m->timer, req->priv[PRIV_DUE]))
				disk_kick(&m->base);
			break;
		}
		ddio_list_del(&req->link);
		ddio_list_add(&req->link, &due);
	}
	while (!ddio_list_empty(&due)) {
		req = ddio_list_first(&due, struct ddio_disk_req, link);
		ddio_list_del(&req->link);
		disk_complete(&m->base, req, backing_transfer(&m->store, req));
	}
}

static void mem_timer(void *arg)
{
	mem_end(arg);
}

static void mem_kick(struct ddio_disk *disk)
{
	struct mem_disk *m = mem_of(disk);

	if (!ddio_timer_armed(&m->timer))
		mem_end(m);
}

static void mem_submit(struct ddio_disk *disk, struct ddio_disk_req *req)
{
	struct mem_disk *m = mem_of(disk);
	uint64_t due = req->submit_ns + m->opts.delay_us * 1000;

	due += backing_begun(&m->store, req);
	if (m->due < due)
		m->due = due;
	req->priv[PRIV_DUE] = m->due;
	ddio_list_add(&req->link, &m->queue);
	if (!ddio_timer_armed(&m->timer))
		disk_kick(disk);
}

static int mem_rw_sync(struct ddio_disk *disk, const struct ddio_disk_req *req)
{
	return backing_transfer(&mem_of(disk)->store, req);
}

static void mem_close(struct ddio_disk *disk)
{
	struct mem_disk *m = mem_of(disk);

	ddio_timer_cancel(disk->env, &m->timer);
	backing_close(&m->store);
	free(m);
}

/* Memory that is never touched costs nothing, so the default may be more than the machine has. */
static uint64_t mem_size(const struct ddio_disk_spec *spec)
{
	uint64_t size = !spec->size && !spec->path ? MEM_SIZE_DEFAULT : spec->size;

	return size / MEM_SECTOR * MEM_SECTOR;
}

static int mem_open(struct ddio_env *env, const struct ddio_disk_spec *spec,
		    struct ddio_disk **disk, char *err, size_t err_len)
{
	struct mem_disk *m = calloc(1, sizeof(*m));
	int ret;

	if (!m) {
		disk_err(err, err_len, spec, "out of memory");
		return -ENOMEM;
	}
	m->opts.huge = true;
	ret = disk_options_parse(mem_options, spec, &m->opts, err, err_len);
	if (ret)
		goto free_disk;
	ret = backing_open(env, &m->store, spec, mem_size(spec), err, err_len);
	if (ret)
		goto free_disk;
	if (m->opts.huge)
		backing_huge(&m->store);
	ddio_list_init(&m->queue);
	m->timer.fn = mem_timer;
	m->timer.arg = m;
	m->base.info.size = m->store.size / MEM_SECTOR * MEM_SECTOR;
	m->base.info.sector = MEM_SECTOR;
	m->base.info.align = 1;
	m->base.info.time_scale = 1.0;
	m->base.info.max_len = DISK_MAX_LEN;
	m->base.info.forgets = !spec->path;
	*disk = &m->base;
	return 0;

free_disk:
	free(m);
	return ret;
}

const struct ddio_disk_engine ddio_disk_mem = {
	.name = "mem",
	.help = "memory, or a file in the page cache that outlives the process",
	.open = mem_open,
	.close = mem_close,
	.submit = mem_submit,
	.kick = mem_kick,
	.rw_sync = mem_rw_sync,
	.options = mem_options,
};
