// SPDX-License-Identifier: GPL-2.0-only
/* Buses, by name, and the clock of the drives on them. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/list.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "hpd.h"

/* The model can tell times up to HP97560_TIME_MAX; the clock restarts long before. */
#ifndef HPD_CLOCK_MAX
#define HPD_CLOCK_MAX (HP97560_TIME_MAX / 2)
#endif

static DEFINE_MUTEX(hpd_bus_mutex);
static LIST_HEAD(hpd_buses);

static struct hpd_bus *bus_find(const char *name)
{
	struct hpd_bus *bus;

	list_for_each_entry(bus, &hpd_buses, link)
		if (name[0] && !strcmp(bus->name, name))
			return bus;
	return NULL;
}

static struct hpd_bus *bus_new(const char *name, u32 scale)
{
	struct hpd_bus *bus = kzalloc(sizeof(*bus), GFP_KERNEL);

	if (!bus)
		return NULL;
	strscpy(bus->name, name, sizeof(bus->name));
	bus->scale = scale;
	spin_lock_init(&bus->lock);
	bus->epoch = ktime_get();
	hp97560_bus_init(&bus->model);
	list_add(&bus->link, &hpd_buses);
	return bus;
}

/**
 * hpd_bus_get - the bus of a drive that is being powered
 * @name: shared with all drives that name it; empty: a bus of its own
 * @scale: the drive's time_scale, which must be that of the others
 * Return: the bus, or -EINVAL or -ENOMEM as a pointer.
 */
struct hpd_bus *hpd_bus_get(const char *name, u32 scale)
{
	struct hpd_bus *bus;

	mutex_lock(&hpd_bus_mutex);
	bus = bus_find(name);
	if (bus && bus->scale != scale) {
		pr_notice("time_scale is %u, but %u on the other disks of bus %s\n", scale,
			  bus->scale, name);
		bus = ERR_PTR(-EINVAL);
	} else if (!bus) {
		bus = bus_new(name, scale) ?: ERR_PTR(-ENOMEM);
	}
	if (!IS_ERR(bus))
		bus->users++;
	mutex_unlock(&hpd_bus_mutex);
	return bus;
}

void hpd_bus_put(struct hpd_bus *bus)
{
	mutex_lock(&hpd_bus_mutex);
	if (!--bus->users) {
		list_del(&bus->link);
		kfree(bus);
	}
	mutex_unlock(&hpd_bus_mutex);
}

/* Restarts the clock.  Drives notice at their next command: they rest, as after power on. */
static void bus_restart(struct hpd_bus *bus)
{
	bus->epoch = ktime_get();
	bus->now_ns = 0;
	bus->generation++;
	hp97560_bus_init(&bus->model);
}

/* Returns how long the clock may run: in real time, or the drives' where they do not wait. */
static u64 bus_clock_max(const struct hpd_bus *bus)
{
	if (!bus->scale || bus->scale >= HPD_SCALE_ONE)
		return HPD_CLOCK_MAX;
	return mul_u64_u32_div(HPD_CLOCK_MAX, bus->scale, HPD_SCALE_ONE);
}

/* Returns the time of a command: never before that of the previous one. */
static u64 bus_now(struct hpd_bus *bus)
{
	u64 now = bus->now_ns;

	if (bus->scale)
		now = ktime_to_ns(ktime_sub(ktime_get(), bus->epoch));
	if (now > bus_clock_max(bus)) {
		bus_restart(bus);
		now = 0;
	}
	if (bus->scale && bus->scale != HPD_SCALE_ONE)
		now = mul_u64_u32_div(now, HPD_SCALE_ONE, bus->scale);
	bus->now_ns = max(bus->now_ns, now);
	return bus->now_ns;
}

/* Returns when a command ends.  With a scale of 0, time advances to the latest end. */
static ktime_t bus_due(struct hpd_bus *bus, u64 done_ns)
{
	if (!bus->scale) {
		bus->now_ns = max(bus->now_ns, done_ns);
		return 0;
	}
	if (bus->scale != HPD_SCALE_ONE)
		done_ns = mul_u64_u32_div(done_ns, bus->scale, HPD_SCALE_ONE);
	return ktime_add_ns(bus->epoch, done_ns);
}

static void model_restart(struct hpd *hpd)
{
	struct hp97560_stats stats = hpd->model.stats;
	struct hp97560_params params = hpd->model.params;

	hp97560_init(&hpd->model, &params, &hpd->bus->model);
	hpd->model.stats = stats;
	hpd->generation = hpd->bus->generation;
}

/**
 * hpd_bus_submit - give a drive a command
 * @hpd: the drive, powered; the caller holds its io_lock
 * @op: what to do
 * @sector: first sector; ignored by a flush
 * @sectors: their number; ignored by a flush
 * @fua: the command is not done before its data are on the media
 * @due: set to the time at which it ends
 * Return: 0 or a negative errno.
 */
int hpd_bus_submit(struct hpd *hpd, enum hp97560_op op, u64 sector, u32 sectors, bool fua,
		   ktime_t *due)
{
	struct hp97560_params *p = &hpd->model.params;
	struct hpd_bus *bus = hpd->bus;
	struct hp97560_result result;
	u64 now;
	int err;

	spin_lock(&bus->lock);
	now = bus_now(bus);
	if (hpd->generation != bus->generation)
		model_restart(hpd);
	if (fua)
		p->immediate_report = false;
	err = hp97560_submit(&hpd->model, op, sector, sectors, now, &result);
	p->immediate_report = hpd->settings.immediate_report;
	if (!err)
		*due = bus_due(bus, result.done_ns);
	spin_unlock(&bus->lock);
	return err;
}
