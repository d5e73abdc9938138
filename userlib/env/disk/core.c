// SPDX-License-Identifier: LGPL-2.1-or-later
/* Shared by engines and the wrapper's parts: counting, ending requests, kicks, injected faults. */
#include <errno.h>
#include <stdlib.h>
#include "base/probe.h"
#include "env/disk/priv.h"

void disk_err(char *err, size_t err_len, const struct ddio_disk_spec *spec, const char *fmt, ...)
{
	va_list ap;
	int n;

	n = snprintf(err, err_len, "disk %s: ", spec->name ? spec->name : "(no name)");
	if (n < 0 || (size_t)n >= err_len)
		return;
	va_start(ap, fmt);
	vsnprintf(err + n, err_len - n, fmt, ap);
	va_end(ap);
}

void disk_kicked(void *arg)
{
	struct disk_kick *kick = arg;
	struct ddio_disk *disk = kick->disk;
	struct ddio_list rejected;
	struct ddio_disk_req *req;

	kick->posted = false;
	if (!disk) {
		free(kick);
		return;
	}
	ddio_list_init(&rejected);
	ddio_list_splice(&disk->rejected, &rejected);
	/* While there are rejected requests the user may not close the disk. */
	if (disk->engine->kick)
		disk->engine->kick(disk);
	while (!ddio_list_empty(&rejected)) {
		req = ddio_list_first(&rejected, struct ddio_disk_req, link);
		ddio_list_del(&req->link);
		disk->stats.errors++;
		disk->n_rejected--;
		req->done_ns = ddio_env_now(disk->env);
		req->status = -EINVAL;
		req->done(req);
	}
}

void disk_kick(struct ddio_disk *disk)
{
	struct disk_kick *kick = disk->kick;

	if (kick->posted)
		return;
	kick->posted = true;
	ddio_env_post(disk->env, &kick->post);
}

int disk_injected(struct ddio_disk *disk, enum ddio_disk_op op)
{
	if (disk->accepted > disk->common.fail_after)
		return -EIO;
	if (!disk->inject_n || (disk->inject_op != -1 && disk->inject_op != (int)op))
		return 0;
	disk->inject_n--;
	return disk->inject_status;
}

void disk_flight_begin(struct ddio_disk *disk, uint64_t now)
{
	struct ddio_disk_stats *stats = &disk->stats;

	disk->accepted++;
	if (!stats->in_flight++)
		disk->busy_since = now;
	if (stats->in_flight > stats->max_in_flight)
		stats->max_in_flight = stats->in_flight;
}

void disk_flight_end(struct ddio_disk *disk, uint64_t now)
{
	if (!--disk->stats.in_flight)
		disk->stats.busy_ns += now - disk->busy_since;
}

void disk_count(struct ddio_disk *disk, enum ddio_disk_op op, uint64_t len, int status)
{
	struct ddio_disk_stats *stats = &disk->stats;
	uint64_t moved = status ? 0 : len;

	switch (op) {
	case DDIO_DISK_READ:
		stats->reads++;
		stats->read_bytes += moved;
		break;
	case DDIO_DISK_WRITE:
		stats->writes++;
		stats->write_bytes += moved;
		break;
	case DDIO_DISK_FLUSH:
		stats->flushes++;
		break;
	}
	if (status)
		stats->errors++;
}

void disk_complete(struct ddio_disk *disk, struct ddio_disk_req *req, int status)
{
	int injected = (int)(int64_t)req->priv[PRIV_INJECTED];

	req->status = injected ? injected : status;
	if (req->status && req->sums)
		req->sums->n = 0;
	req->done_ns = ddio_env_now(disk->env);
	disk_count(disk, req->op, req->len, req->status);
	disk_flight_end(disk, req->done_ns);
	DDIO_PROBE(disk_done, disk->name, req->op, req->offset, req->len, req->status,
		   req->done_ns - req->submit_ns);
	if (req->op == DDIO_DISK_WRITE)
		disk_write_note(disk, req->offset, req->len);
	req->done(req);
}
