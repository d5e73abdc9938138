// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/config/hp97560: a directory per disk.  Disks made by the module's
 * parameters have one, too, which cannot be removed.
 */
#include <linux/configfs.h>
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "hpd.h"

static struct hpd *hpd_of(struct config_item *item)
{
	return container_of(to_config_group(item), struct hpd, group);
}

/*
 * Settings: they can be changed without power
 */
static ssize_t number_store(struct hpd *hpd, size_t offset, const char *page, size_t count)
{
	int err = -EBUSY;
	u32 v;

	if (kstrtou32(page, 10, &v))
		return -EINVAL;
	mutex_lock(&hpd->power_lock);
	if (!hpd->disk)
		err = hpd_number_set(&hpd->settings, offset, v);
	mutex_unlock(&hpd->power_lock);
	return err ?: count;
}

#define HPD_NUMBER_ATTR(name)                                                                \
	static ssize_t hpd_##name##_show(struct config_item *item, char *page)               \
	{                                                                                    \
		return sysfs_emit(page, "%u\n", hpd_of(item)->settings.name);                \
	}                                                                                    \
	static ssize_t hpd_##name##_store(struct config_item *item, const char *page,        \
					  size_t count)                                      \
	{                                                                                    \
		return number_store(hpd_of(item), offsetof(struct hpd_settings, name), page, \
				    count);                                                  \
	}                                                                                    \
	CONFIGFS_ATTR(hpd_, name)

HPD_NUMBER_ATTR(size);
HPD_NUMBER_ATTR(block_size);
HPD_NUMBER_ATTR(queue_depth);
HPD_NUMBER_ATTR(time_scale);
HPD_NUMBER_ATTR(timeout_ms);
HPD_NUMBER_ATTR(buffer_sectors);
HPD_NUMBER_ATTR(dirty_sectors);
HPD_NUMBER_ATTR(memory_limit);

static ssize_t switch_store(struct hpd *hpd, bool *value, const char *page, size_t count)
{
	int err = 0;
	bool v;

	if (kstrtobool(page, &v))
		return -EINVAL;
	mutex_lock(&hpd->power_lock);
	if (hpd->disk)
		err = -EBUSY;
	else
		*value = v;
	mutex_unlock(&hpd->power_lock);
	return err ?: count;
}

#define HPD_SWITCH_ATTR(name)                                                                 \
	static ssize_t hpd_##name##_show(struct config_item *item, char *page)                \
	{                                                                                     \
		return sysfs_emit(page, "%u\n", hpd_of(item)->settings.name);                 \
	}                                                                                     \
	static ssize_t hpd_##name##_store(struct config_item *item, const char *page,         \
					  size_t count)                                       \
	{                                                                                     \
		return switch_store(hpd_of(item), &hpd_of(item)->settings.name, page, count); \
	}                                                                                     \
	CONFIGFS_ATTR(hpd_, name)

HPD_SWITCH_ATTR(read_only);
HPD_SWITCH_ATTR(immediate_report);
HPD_SWITCH_ATTR(read_ahead);
HPD_SWITCH_ATTR(bus_overlap);

static ssize_t hpd_bus_show(struct config_item *item, char *page)
{
	struct hpd *hpd = hpd_of(item);
	ssize_t len;

	mutex_lock(&hpd->power_lock);
	len = sysfs_emit(page, "%s\n", hpd->settings.bus);
	mutex_unlock(&hpd->power_lock);
	return len;
}

static bool bus_name_ok(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!isalnum(name[i]) && !strchr("_-.", name[i]))
			return false;
	return len < HPD_BUS_NAME_MAX;
}

static ssize_t hpd_bus_store(struct config_item *item, const char *page, size_t count)
{
	struct hpd *hpd = hpd_of(item);
	size_t len = strcspn(page, "\n");
	int err = 0;

	if (len + 1 < count || !bus_name_ok(page, len))
		return -EINVAL;
	mutex_lock(&hpd->power_lock);
	if (hpd->disk)
		err = -EBUSY;
	else
		scnprintf(hpd->settings.bus, sizeof(hpd->settings.bus), "%.*s", (int)len, page);
	mutex_unlock(&hpd->power_lock);
	return err ?: count;
}
CONFIGFS_ATTR(hpd_, bus);

/*
 * Power
 */
static ssize_t hpd_power_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", !!READ_ONCE(hpd_of(item)->disk));
}

static ssize_t hpd_power_store(struct config_item *item, const char *page, size_t count)
{
	struct hpd *hpd = hpd_of(item);
	int err = 0;
	bool on;

	if (kstrtobool(page, &on))
		return -EINVAL;
	mutex_lock(&hpd->power_lock);
	if (on && !hpd->disk)
		err = hpd_power_on(hpd);
	else if (!on)
		hpd_power_off(hpd);
	mutex_unlock(&hpd->power_lock);
	return err ?: count;
}
CONFIGFS_ATTR(hpd_, power);

/*
 * Faults: they can be changed at any time
 */
static void fault_set(struct hpd *hpd, u32 *fault, u32 v)
{
	struct hpd_faults *f = &hpd->faults;

	spin_lock_irq(&hpd->lock);
	*fault = v;
	if (fault == &f->fail_every)
		f->failed = 0;
	else if (fault == &f->fail_after)
		f->done = 0;
	else if (fault == &f->stall_every)
		f->stalled = 0;
	spin_unlock_irq(&hpd->lock);
}

static ssize_t fault_store(struct hpd *hpd, u32 *fault, const char *page, size_t count)
{
	u32 v;

	if (kstrtou32(page, 10, &v))
		return -EINVAL;
	fault_set(hpd, fault, v);
	return count;
}

#define HPD_FAULT_ATTR(name)                                                               \
	static ssize_t hpd_##name##_show(struct config_item *item, char *page)             \
	{                                                                                  \
		return sysfs_emit(page, "%u\n", READ_ONCE(hpd_of(item)->faults.name));     \
	}                                                                                  \
	static ssize_t hpd_##name##_store(struct config_item *item, const char *page,      \
					  size_t count)                                    \
	{                                                                                  \
		return fault_store(hpd_of(item), &hpd_of(item)->faults.name, page, count); \
	}                                                                                  \
	CONFIGFS_ATTR(hpd_, name)

HPD_FAULT_ATTR(fail_every);
HPD_FAULT_ATTR(fail_after);
HPD_FAULT_ATTR(stall_every);
HPD_FAULT_ATTR(stall_us);

static ssize_t hpd_stall_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(hpd_of(item)->faults.stall));
}

static ssize_t hpd_stall_store(struct config_item *item, const char *page, size_t count)
{
	struct hpd *hpd = hpd_of(item);
	bool v;

	if (kstrtobool(page, &v))
		return -EINVAL;
	if (v)
		WRITE_ONCE(hpd->faults.stall, true);
	else
		hpd_stall_end(hpd);
	return count;
}
CONFIGFS_ATTR(hpd_, stall);

static ssize_t hpd_fail_status_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s\n", hpd_status_name(READ_ONCE(hpd_of(item)->faults.status)));
}

static ssize_t hpd_fail_status_store(struct config_item *item, const char *page, size_t count)
{
	struct hpd *hpd = hpd_of(item);
	u32 status;
	int err = hpd_status_parse(page, &status);

	if (err)
		return err;
	fault_set(hpd, &hpd->faults.status, status);
	return count;
}
CONFIGFS_ATTR(hpd_, fail_status);

static ssize_t hpd_bad_sectors_show(struct config_item *item, char *page)
{
	return hpd_bad_show(hpd_of(item), page);
}

static ssize_t hpd_bad_sectors_store(struct config_item *item, const char *page, size_t count)
{
	return hpd_bad_store(hpd_of(item), page) ?: count;
}
CONFIGFS_ATTR(hpd_, bad_sectors);

/*
 * Status
 */
static ssize_t hpd_device_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s%s\n", HPD_DISK_PREFIX, config_item_name(item));
}
CONFIGFS_ATTR_RO(hpd_, device);

static ssize_t hpd_epoch_ns_show(struct config_item *item, char *page)
{
	struct hpd *hpd = hpd_of(item);
	s64 epoch = 0;

	mutex_lock(&hpd->power_lock);
	if (hpd->bus) {
		spin_lock(&hpd->bus->lock);
		epoch = ktime_to_ns(hpd->bus->epoch);
		spin_unlock(&hpd->bus->lock);
	}
	mutex_unlock(&hpd->power_lock);
	return sysfs_emit(page, "%lld\n", epoch);
}
CONFIGFS_ATTR_RO(hpd_, epoch_ns);

static ssize_t hpd_statistics_show(struct config_item *item, char *page)
{
	return hpd_stats_show(hpd_of(item), page);
}

static ssize_t hpd_statistics_store(struct config_item *item, const char *page, size_t count)
{
	if (!sysfs_streq(page, "reset"))
		return -EINVAL;
	hpd_stats_reset(hpd_of(item));
	return count;
}
CONFIGFS_ATTR(hpd_, statistics);

static struct configfs_attribute *hpd_attrs[] = {
	&hpd_attr_size,
	&hpd_attr_block_size,
	&hpd_attr_queue_depth,
	&hpd_attr_time_scale,
	&hpd_attr_timeout_ms,
	&hpd_attr_buffer_sectors,
	&hpd_attr_dirty_sectors,
	&hpd_attr_memory_limit,
	&hpd_attr_read_only,
	&hpd_attr_immediate_report,
	&hpd_attr_read_ahead,
	&hpd_attr_bus_overlap,
	&hpd_attr_bus,
	&hpd_attr_power,
	&hpd_attr_fail_every,
	&hpd_attr_fail_after,
	&hpd_attr_fail_status,
	&hpd_attr_bad_sectors,
	&hpd_attr_stall,
	&hpd_attr_stall_every,
	&hpd_attr_stall_us,
	&hpd_attr_device,
	&hpd_attr_epoch_ns,
	&hpd_attr_statistics,
	NULL,
};

static void hpd_item_release(struct config_item *item)
{
	hpd_free(hpd_of(item));
}

static struct configfs_item_operations hpd_item_ops = {
	.release = hpd_item_release,
};

static const struct config_item_type hpd_type = {
	.ct_item_ops = &hpd_item_ops,
	.ct_attrs = hpd_attrs,
	.ct_owner = THIS_MODULE,
};

/*
 * The root directory
 */

static size_t digits_before(const char *name, size_t end)
{
	size_t n = 0;

	while (n < end && isdigit(name[end - n - 1]))
		n++;
	return n;
}

/*
 * No disk may have the name of another's partition.  After a name that ends in a digit,
 * partitions are numbered p1, p2 and so on; so every name must end in a digit, and none in
 * a digit, p and a number.
 */
static bool name_ok(const char *name)
{
	size_t len = strlen(name), n = digits_before(name, len), rest = len - n, i;

	if (!n || len > HPD_NAME_MAX)
		return false;
	for (i = 0; i < len; i++)
		if (!isalnum(name[i]) && name[i] != '_' && name[i] != '-')
			return false;
	return !rest || name[rest - 1] != 'p' || !digits_before(name, rest - 1);
}

static struct config_group *hpd_make_group(struct config_group *parent, const char *name)
{
	struct hpd *hpd;

	if (!name_ok(name))
		return ERR_PTR(-EINVAL);
	hpd = hpd_create();
	if (!hpd)
		return ERR_PTR(-ENOMEM);
	config_group_init_type_name(&hpd->group, name, &hpd_type);
	return &hpd->group;
}

static void hpd_drop_item(struct config_group *parent, struct config_item *item)
{
	struct hpd *hpd = hpd_of(item);

	mutex_lock(&hpd->power_lock);
	hpd_power_off(hpd);
	mutex_unlock(&hpd->power_lock);
	config_item_put(item);
}

static ssize_t hpd_features_show(struct config_item *item, char *page)
{
	struct configfs_attribute **attr;
	ssize_t len = 0;

	for (attr = hpd_attrs; *attr; attr++)
		len += sysfs_emit_at(page, len, "%s\n", (*attr)->ca_name);
	return len;
}
CONFIGFS_ATTR_RO(hpd_, features);

static struct configfs_attribute *hpd_root_attrs[] = {
	&hpd_attr_features,
	NULL,
};

static struct configfs_group_operations hpd_root_ops = {
	.make_group = hpd_make_group,
	.drop_item = hpd_drop_item,
};

static const struct config_item_type hpd_root_type = {
	.ct_group_ops = &hpd_root_ops,
	.ct_attrs = hpd_root_attrs,
	.ct_owner = THIS_MODULE,
};

static struct configfs_subsystem hpd_subsystem = {
	.su_group = {
		.cg_item = {
			.ci_namebuf = "hp97560",
			.ci_type = &hpd_root_type,
		},
	},
};

/**
 * hpd_config_init - prepare the root directory; before all else
 */
void hpd_config_init(void)
{
	config_group_init(&hpd_subsystem.su_group);
	mutex_init(&hpd_subsystem.su_mutex);
}

/**
 * hpd_config_add - make a disk for the module's parameters; before registering
 * @number: its name
 * @bus: its bus, or empty
 * Return: 0 or a negative errno.
 */
int hpd_config_add(unsigned int number, const char *bus)
{
	char name[HPD_NAME_MAX + 1];
	struct hpd *hpd = hpd_create();

	if (!hpd)
		return -ENOMEM;
	snprintf(name, sizeof(name), "%u", number);
	strscpy(hpd->settings.bus, bus, sizeof(hpd->settings.bus));
	config_group_init_type_name(&hpd->group, name, &hpd_type);
	configfs_add_default_group(&hpd->group, &hpd_subsystem.su_group);
	return hpd_power_on(hpd);
}

int hpd_config_register(void)
{
	return configfs_register_subsystem(&hpd_subsystem);
}

void hpd_config_unregister(void)
{
	configfs_unregister_subsystem(&hpd_subsystem);
}

/**
 * hpd_config_remove - remove the disks of the module's parameters; they are no longer visible
 */
void hpd_config_remove(void)
{
	struct config_group *group;

	list_for_each_entry(group, &hpd_subsystem.su_group.default_groups, group_entry)
		hpd_power_off(container_of(group, struct hpd, group));
	configfs_remove_default_groups(&hpd_subsystem.su_group);
}
