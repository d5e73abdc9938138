// SPDX-License-Identifier: LGPL-2.1-or-later
/* Every option of every section, in one place: the parser, the help and the manual follow it. */
#include <inttypes.h>
#include <string.h>
#include "conf/priv.h"

#define AT(member) offsetof(struct conf_section, member)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

static const struct conf_option cluster_options[] = {
	{ "name", DDIO_CONF_NAME, AT(cluster.conf.cluster), 0, 0, NULL,
	  "name of the cluster; written on its disks" },
	{ "key_file", DDIO_CONF_TEXT, AT(cluster.conf.key_file), 0, 0, "no key, loopback only",
	  "file with the key that nodes and clients must know" },
	{ "namespace", DDIO_CONF_NAME, AT(cluster.ns_node), 0, 0, "the first node",
	  "node that serves the names of files" },
	{ "block", DDIO_CONF_BLOCK, AT(cluster.conf.block), DDIO_CONF_MIN_BLOCK,
	  DDIO_CONF_MAX_BLOCK, "256K", "block size of new files, a power of two" },
	{ "mount_block", DDIO_CONF_BLOCK, AT(cluster.conf.mount_block), DDIO_CONF_MIN_BLOCK,
	  DDIO_CONF_MAX_BLOCK, "32K, or block if that is less",
	  "block size of files that are made through a mount" },
	{ "timeout", DDIO_CONF_TIME, AT(cluster.conf.timeout_ns), NS_PER_MS, 86400 * NS_PER_S,
	  "30s", "longest time without progress before an operation fails" },
	{ .name = NULL },
};

static const struct conf_option node_options[] = {
	{ "address", DDIO_CONF_ADDRESS, AT(node.address), 0, 0, NULL,
	  "where the node listens, host:port" },
	{ "meta", DDIO_CONF_TEXT, AT(node.meta), 0, 0, NULL,
	  "directory of the node's records; made if it does not exist" },
	{ "reactors", DDIO_CONF_COUNT, AT(node.reactors), 0, 1024,
	  "0: one a disk, at most one a core", "threads that serve disks" },
	{ "cache", DDIO_CONF_CACHE, AT(node.cache), 0, 1ull << 50, "64M",
	  "block cache of each disk; paper: 8 blocks for every client and disk" },
	{ "buffers", DDIO_CONF_COUNT, AT(node.buffers), 1, 1024, "2",
	  "block buffers of a disk in a collective" },
	{ "cscan", DDIO_CONF_BOOL, AT(node.cscan), 0, 0, "yes",
	  "no: disks serve cached requests in the order of their coming, as in TR94-226" },
	{ "install", DDIO_CONF_BOOL, AT(node.install), 0, 0, "no",
	  "yes: a block is read before a part of it is written, as in TR95-251" },
	{ "write_back", DDIO_CONF_TIME, AT(node.write_back_ns), 0, 86400 * NS_PER_S, "5s",
	  "time after which what was written goes to the disk, asked for or not; 0s: never" },
	{ "sync_io", DDIO_CONF_BOOL, AT(node.sync_io), 0, 0, "yes",
	  "no: records are not forced to stable storage, for tests of speed only" },
	{ .name = NULL },
};

static const struct conf_option disk_options[] = {
	{ "node", DDIO_CONF_NAME, AT(disk.node), 0, 0, NULL, "node that has the disk" },
	{ "engine", DDIO_CONF_NAME, AT(disk.disk.engine), 0, 0, "chosen by the path",
	  "kind of disk: mem, aio, hp97560" },
	{ "path", DDIO_CONF_TEXT, AT(disk.disk.path), 0, 0, "none",
	  "block device or file, for engines that need or can use one" },
	{ "size", DDIO_CONF_SIZE, AT(disk.disk.size), 0, 1ull << 62, "0: the device's",
	  "bytes, for engines that make their disk" },
	{ "options", DDIO_CONF_TEXT, AT(disk.disk.options), 0, 0, "none",
	  "options of the engine, name=value separated by commas" },
	{ "bus", DDIO_CONF_NAME, AT(disk.disk.bus), 0, 0, "a bus of its own",
	  "emulated disks of a node with the same text share one bus" },
	{ .name = NULL },
};

const struct conf_option *const conf_options[DDIO_CONF_KINDS] = {
	[DDIO_CONF_CLUSTER] = cluster_options,
	[DDIO_CONF_NODE] = node_options,
	[DDIO_CONF_DISK] = disk_options,
};

const char *const conf_kind_names[DDIO_CONF_KINDS] = {
	[DDIO_CONF_CLUSTER] = "cluster",
	[DDIO_CONF_NODE] = "node",
	[DDIO_CONF_DISK] = "disk",
};

int conf_line_of(const struct conf_section *section, const char *name)
{
	const struct conf_option *options = conf_options[section->kind];
	int i;

	for (i = 0; options[i].name; i++)
		if (!strcmp(options[i].name, name) && section->lines[i])
			return section->lines[i];
	return section->line;
}

static void print_size(char *text, size_t len, uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	int unit = -1;

	while (bytes && bytes % 1024 == 0 && unit < 5) {
		bytes /= 1024;
		unit++;
	}
	if (unit < 0)
		snprintf(text, len, "%" PRIu64, bytes);
	else
		snprintf(text, len, "%" PRIu64 "%c", bytes, units[unit]);
}

static void print_limits(FILE *out, const struct conf_option *option)
{
	char min[32], max[32];

	switch (option->type) {
	case DDIO_CONF_TEXT:
		fputs("text", out);
		break;
	case DDIO_CONF_NAME:
		fputs("name", out);
		break;
	case DDIO_CONF_ADDRESS:
		fputs("host:port", out);
		break;
	case DDIO_CONF_COUNT:
		fprintf(out, "%" PRIu64 " to %" PRIu64, option->min, option->max);
		break;
	case DDIO_CONF_TIME:
		fprintf(out, "%" PRIu64 "ms to %" PRIu64 "s", option->min / NS_PER_MS,
			option->max / NS_PER_S);
		break;
	case DDIO_CONF_BOOL:
		fputs("yes or no", out);
		break;
	default:
		print_size(min, sizeof(min), option->min);
		print_size(max, sizeof(max), option->max);
		fprintf(out, "%s%s to %s", option->type == DDIO_CONF_CACHE ? "paper or " : "", min,
			max);
	}
}

void ddio_conf_print_options(FILE *out)
{
	const struct conf_option *option;
	int kind;

	for (kind = 0; kind < DDIO_CONF_KINDS; kind++) {
		fprintf(out, "[%s%s]\n", conf_kind_names[kind],
			kind == DDIO_CONF_CLUSTER ? "" : " NAME");
		for (option = conf_options[kind]; option->name; option++) {
			fprintf(out, "  %s = ", option->name);
			print_limits(out, option);
			if (option->fallback)
				fprintf(out, " (default: %s)", option->fallback);
			else
				fputs(" (required)", out);
			fprintf(out, "\n      %s\n", option->help);
		}
	}
}
