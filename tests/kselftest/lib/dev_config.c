// SPDX-License-Identifier: GPL-2.0-only
/* Devices that a directory in configfs makes: null_blk and hp97560. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/kt.h"

#define KT_NULL_DIR "/sys/kernel/config/nullb"
#define KT_HP_DIR "/sys/kernel/config/hp97560"

/* "attribute=value attribute=value" */
static int kt_config_set(const char *dir, const char *name, const char *list)
{
	char copy[256], *item, *value, *rest;
	int err;

	snprintf(copy, sizeof(copy), "%s", list ? list : "");
	for (item = strtok_r(copy, " ", &rest); item; item = strtok_r(NULL, " ", &rest)) {
		value = strchr(item, '=');
		if (!value)
			return -EINVAL;
		*value++ = '\0';
		err = kt_write(value, "%s/%s/%s", dir, name, item);
		if (err) {
			printf("# %s/%s/%s: %s\n", dir, name, item, strerror(-err));
			return err;
		}
	}
	return 0;
}

static void kt_config_undo(const char *dir, const char *name)
{
	char path[160];

	kt_write("0", "%s/%s/power", dir, name);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	rmdir(path);
}

static void kt_null_undo(struct kt_dev *dev)
{
	kt_config_undo(KT_NULL_DIR, dev->name);
}

static void kt_hp_undo(struct kt_dev *dev)
{
	kt_config_undo(KT_HP_DIR, dev->name);
}

/* Makes a name, letters and then digits, that no other program and no earlier device of this one has. */
static void kt_config_name(struct kt_dev *dev, const char *prefix)
{
	static unsigned int count;

	snprintf(dev->name, sizeof(dev->name), "%s%u", prefix,
		 (unsigned int)getpid() * 100 + count++ % 100);
}

static struct kt_dev *kt_config_fail(struct kt_dev *dev, int err)
{
	kt_dev_free(dev);
	errno = -err;
	return NULL;
}

static int kt_config_make(const char *dir, const struct kt_dev *dev)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", dir, dev->name);
	return mkdir(path, 0755) ? -errno : 0;
}

struct kt_dev *kt_dev_null(const struct kt_null *how)
{
	struct kt_dev *dev = kt_dev_new(kt_null_undo);
	char index[16] = "", text[96];
	int err;

	if (!dev)
		return NULL;
	kt_config_name(dev, "ktn");
	if (access(KT_NULL_DIR, F_OK))
		kt_modprobe("null_blk", "nr_devices=0");
	err = kt_config_make(KT_NULL_DIR, dev);
	snprintf(text, sizeof(text), "memory_backed=1 size=%u blocksize=%u submit_queues=2",
		 how->megabytes, how->block_size ? how->block_size : 512);
	if (!err)
		err = kt_config_set(KT_NULL_DIR, dev->name, text);
	if (!err)
		err = kt_config_set(KT_NULL_DIR, dev->name, how->more);
	if (!err)
		err = kt_config_set(KT_NULL_DIR, dev->name, "power=1");
	if (!err)
		err = kt_read(index, sizeof(index), "%s/%s/index", KT_NULL_DIR, dev->name);
	if (err)
		return kt_config_fail(dev, err);
	snprintf(dev->path, sizeof(dev->path), "/dev/nullb%s", index);
	/* Newer ones are called as their directory. */
	snprintf(text, sizeof(text), "/sys/block/%s", dev->name);
	if (!access(text, F_OK))
		snprintf(dev->path, sizeof(dev->path), "/dev/%.40s", dev->name);
	err = kt_dev_probe(dev);
	return err ? kt_config_fail(dev, err) : dev;
}

struct kt_dev *kt_dev_hp97560(const char *more)
{
	struct kt_dev *dev = kt_dev_new(kt_hp_undo);
	char name[48] = "";
	int err;

	if (!dev)
		return NULL;
	kt_config_name(dev, "kth");
	if (access(KT_HP_DIR, F_OK))
		kt_modprobe("hp97560", "nr_devices=0");
	err = kt_config_make(KT_HP_DIR, dev);
	if (!err)
		err = kt_config_set(KT_HP_DIR, dev->name, more);
	if (!err)
		err = kt_config_set(KT_HP_DIR, dev->name, "power=1");
	if (!err)
		err = kt_read(name, sizeof(name), "%s/%s/device", KT_HP_DIR, dev->name);
	snprintf(dev->path, sizeof(dev->path), "/dev/%s", name);
	if (!err)
		err = kt_dev_probe(dev);
	return err ? kt_config_fail(dev, err) : dev;
}
