// SPDX-License-Identifier: GPL-2.0-only
/* Loading and unloading. */
#include <linux/module.h>

#include "hp97560.h"

static int __init hp97560_load(void)
{
	return 0;
}
module_init(hp97560_load);

static void __exit hp97560_unload(void)
{
}
module_exit(hp97560_unload);

MODULE_DESCRIPTION("Emulated HP 97560 disks");
MODULE_LICENSE("GPL");
