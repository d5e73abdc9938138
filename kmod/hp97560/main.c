// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading.  The parameters are the defaults of all disks; nr_devices
 * makes disks at once, without configfs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "hpd.h"
#include "version.h"

module_param_named(size, hpd_defaults.size, uint, 0444);
MODULE_PARM_DESC(size, "Size in sectors of 512 bytes");

module_param_named(block_size, hpd_defaults.block_size, uint, 0444);
MODULE_PARM_DESC(block_size, "Logical block in bytes");

module_param_named(queue_depth, hpd_defaults.queue_depth, uint, 0444);
MODULE_PARM_DESC(queue_depth, "Requests that a disk takes at a time");

module_param_named(time_scale, hpd_defaults.time_scale, uint, 0444);
MODULE_PARM_DESC(time_scale,
		 "Real microseconds per second of the drive's time; 0: requests end at once");

module_param_named(timeout_ms, hpd_defaults.timeout_ms, uint, 0444);
MODULE_PARM_DESC(timeout_ms, "Time after which a stalled request fails; 0: never");

module_param_named(buffer_sectors, hpd_defaults.buffer_sectors, uint, 0444);
MODULE_PARM_DESC(buffer_sectors, "Size of the drive's buffer");

module_param_named(dirty_sectors, hpd_defaults.dirty_sectors, uint, 0444);
MODULE_PARM_DESC(dirty_sectors, "Part of the buffer that may hold unwritten data");

module_param_named(memory_limit, hpd_defaults.memory_limit, uint, 0444);
MODULE_PARM_DESC(memory_limit, "KiB that a disk's data may take; 0: no limit");

module_param_named(read_only, hpd_defaults.read_only, bool, 0444);
MODULE_PARM_DESC(read_only, "The disks cannot be written");

module_param_named(immediate_report, hpd_defaults.immediate_report, bool, 0444);
MODULE_PARM_DESC(immediate_report, "A write is done when its data are in the drive's buffer");

module_param_named(read_ahead, hpd_defaults.read_ahead, bool, 0444);
MODULE_PARM_DESC(read_ahead, "The drive goes on reading after a read");

module_param_named(bus_overlap, hpd_defaults.bus_overlap, bool, 0444);
MODULE_PARM_DESC(bus_overlap, "Data cross the bus while the media turn");

static unsigned int nr_devices;
module_param(nr_devices, uint, 0444);
MODULE_PARM_DESC(nr_devices, "Disks to make, hp97560_0 and so on");

static unsigned int disks_per_bus;
module_param(disks_per_bus, uint, 0444);
MODULE_PARM_DESC(disks_per_bus, "Disks that share one bus; 0 or 1: each has its own");

static int __init parameters_check(void)
{
	const char *wrong = hpd_settings_check(&hpd_defaults);

	if (!wrong && nr_devices > HPD_DEVICES_MAX)
		wrong = "nr_devices is out of range";
	if (!wrong)
		return 0;
	pr_err("parameters: %s\n", wrong);
	return -EINVAL;
}

static int __init devices_add(void)
{
	char bus[HPD_BUS_NAME_MAX] = "";
	unsigned int i;
	int err;

	for (i = 0; i < nr_devices; i++) {
		if (disks_per_bus > 1)
			snprintf(bus, sizeof(bus), "bus%u", i / disks_per_bus);
		err = hpd_config_add(i, bus);
		if (err)
			return err;
	}
	return 0;
}

static int __init hpd_load(void)
{
	int err;

	hpd_settings_fill(&hpd_defaults);
	err = parameters_check();
	if (err)
		return err;
	hpd_config_init();
	err = devices_add();
	if (err)
		goto remove;
	err = hpd_config_register();
	if (err)
		goto remove;
	return 0;

remove:
	hpd_config_remove();
	return err;
}
module_init(hpd_load);

/* Directories made by users hold a reference to the module, as open disks do. */
static void __exit hpd_unload(void)
{
	hpd_config_unregister();
	hpd_config_remove();
}
module_exit(hpd_unload);

MODULE_DESCRIPTION("Emulated HP 97560 disks");
MODULE_AUTHOR("The ddio developers");
MODULE_VERSION(DDIO_MODULE_VERSION);
MODULE_LICENSE("GPL");
