// SPDX-License-Identifier: GPL-2.0-only
/* A disk's counters since power on or the last reset. */
#include <linux/mm.h>
#include <linux/sysfs.h>

#include "hpd.h"

#define EMIT(name) (len += sysfs_emit_at(page, len, #name " %llu\n", s->name))

static ssize_t model_show(const struct hp97560_stats *s, char *page)
{
	ssize_t len = 0;

	EMIT(reads);
	EMIT(writes);
	EMIT(flushes);
	EMIT(read_sectors);
	EMIT(write_sectors);
	EMIT(seeks);
	EMIT(seek_ns);
	EMIT(rotations);
	EMIT(rotation_ns);
	EMIT(media_ns);
	EMIT(hits);
	EMIT(full_hits);
	EMIT(read_ahead_aborts);
	EMIT(joins);
	EMIT(dirty_waits);
	EMIT(dirty_wait_ns);
	EMIT(queue_waits);
	EMIT(bus_waits);
	EMIT(bus_wait_ns);
	return len;
}

static ssize_t counts_show(const struct hpd_counts *s, char *page, ssize_t len)
{
	EMIT(discards);
	EMIT(discard_sectors);
	EMIT(zeroes);
	EMIT(zero_sectors);
	EMIT(fua_writes);
	EMIT(errors);
	EMIT(held);
	EMIT(timeouts);
	EMIT(no_space);
	EMIT(no_memory);
	return len;
}

/**
 * hpd_stats_show - print "name value", one per line
 * @hpd: the disk
 * @page: filled in
 * Return: bytes.
 */
ssize_t hpd_stats_show(struct hpd *hpd, char *page)
{
	struct hp97560_stats model;
	struct hpd_counts counts;
	ssize_t len;
	u64 used;

	mutex_lock(&hpd->io_lock);
	model = hpd->model.stats;
	used = hpd->store.used;
	spin_lock_irq(&hpd->lock);
	counts = hpd->counts;
	spin_unlock_irq(&hpd->lock);
	mutex_unlock(&hpd->io_lock);
	len = model_show(&model, page);
	len = counts_show(&counts, page, len);
	return len + sysfs_emit_at(page, len, "memory %llu\n", used << PAGE_SHIFT);
}

void hpd_stats_reset(struct hpd *hpd)
{
	mutex_lock(&hpd->io_lock);
	memset(&hpd->model.stats, 0, sizeof(hpd->model.stats));
	spin_lock_irq(&hpd->lock);
	memset(&hpd->counts, 0, sizeof(hpd->counts));
	spin_unlock_irq(&hpd->lock);
	mutex_unlock(&hpd->io_lock);
}
