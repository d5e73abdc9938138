// SPDX-License-Identifier: GPL-2.0-only
/* What a test may not leave behind. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/kt.h"

static uint64_t kt_contexts(void)
{
	DIR *dir = opendir("/sys/kernel/debug/ddio");
	struct dirent *entry;
	uint64_t n = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		n += entry->d_type == DT_DIR && entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* Reads the module's own counts of live objects: lines "live_contexts 0" and so on. */
static uint64_t kt_live(void)
{
	FILE *f = fopen("/sys/kernel/debug/ddio/stats", "re");
	uint64_t n = 0;
	char line[96];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "live_", 5))
			n += strtoull(line + strcspn(line, " "), NULL, 10);
	fclose(f);
	return n;
}

void kt_usage(struct kt_usage *usage)
{
	char text[32] = "0";

	/* Counters of processors are added up now and then; this does it at once. */
	kt_write("1", "/proc/sys/vm/stat_refresh");
	usage->pinned = kt_keyed("/proc/vmstat", "nr_foll_pin_acquired") -
			kt_keyed("/proc/vmstat", "nr_foll_pin_released");
	usage->contexts = kt_contexts();
	usage->live = kt_live();
	kt_read(text, sizeof(text), "/sys/module/ddio/refcnt");
	usage->users = strtoull(text, NULL, 10);
	usage->slab_kb = kt_keyed("/proc/meminfo", "SUnreclaim");
}

bool kt_usage_settled(const struct kt_usage *before, unsigned int seconds)
{
	uint64_t end = kt_now() + seconds * KT_SECOND;
	struct kt_usage now;

	for (;;) {
		kt_usage(&now);
		if ((int64_t)(now.pinned - before->pinned) <= 0 &&
		    now.contexts <= before->contexts && now.users <= before->users &&
		    now.live <= before->live)
			return true;
		if (kt_now() >= end)
			break;
		usleep(20000);
	}
	printf("# left behind: %lld pinned pages, %lld contexts, %lld users, %lld objects\n",
	       (long long)(now.pinned - before->pinned),
	       (long long)(now.contexts - before->contexts), (long long)(now.users - before->users),
	       (long long)(now.live - before->live));
	return false;
}
