// SPDX-License-Identifier: LGPL-2.1-or-later
/* Every option of every section: the parser, the help and the check of the manual read these tables. */
#include <string.h>
#include "conf/priv.h"

#define AT(member) offsetof(struct conf_section, member)
/* Options whose text is checked. */
#define NAME                                                                                     \
	.arg = "name", .check = conf_name_ok,                                                    \
	.allowed =                                                                               \
		"a name of 1 to 32 letters, digits, '.', '_' and '-', beginning with a letter, " \
		"digit or '_'"
#define ADDRESS                                       \
	.arg = "host:port", .check = conf_address_ok, \
	.allowed = "host:port or [address]:port, port 0 to 65535"
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

static const char *const securities[] = {
	[CONF_SECURITY_NONE] = "none", [CONF_SECURITY_TLS] = "tls", NULL
};

static const char *const user_kinds[] = {
	[CONF_USERS_NONE] = "none", [CONF_USERS_MUNGE] = "munge", NULL
};

static const char *const wire_sums[] = {
	[DDIO_CONF_SUMS_NO] = "no", [DDIO_CONF_SUMS_YES] = "yes", [DDIO_CONF_SUMS_ALWAYS] = "always", NULL
};

const char *const conf_brokers[] = { [DDIO_CONF_BROKER_NEVER] = "never",
				     [CONF_BROKER_AUTO] = "auto",
				     [DDIO_CONF_BROKER_ALWAYS] = "always",
				     NULL };

static const struct ddio_opt cluster_options[] = {
	{ .name = "name",
	  .type = OPT_STRING,
	  .offset = AT(cluster.conf.cluster),
	  NAME,
	  .required = true,
	  .help = "name of the cluster; written on its disks" },
	{ .name = "key_file",
	  .type = OPT_STRING,
	  .offset = AT(cluster.conf.key_file),
	  .fallback = "no key, loopback only",
	  .help = "file with the key that nodes and clients share" },
	{ .name = "namespace",
	  .type = OPT_STRING,
	  .offset = AT(cluster.ns_node),
	  NAME,
	  .fallback = "the first node",
	  .help = "node that serves the names of files" },
	{ .name = "block",
	  .type = OPT_POWER,
	  .offset = AT(cluster.conf.block),
	  .min = CONF_MIN_BLOCK,
	  .max = CONF_MAX_BLOCK,
	  .fallback = "256K",
	  .help = "block size of new files, a power of two" },
	{ .name = "mount_block",
	  .type = OPT_POWER,
	  .offset = AT(cluster.conf.mount_block),
	  .min = CONF_MIN_BLOCK,
	  .max = CONF_MAX_BLOCK,
	  .fallback = "32K, or block if that is less",
	  .help = "block size of files that programs make through a mount" },
	{ .name = "timeout",
	  .type = OPT_TIME,
	  .offset = AT(cluster.conf.timeout_ns),
	  .min = NS_PER_MS,
	  .max = 86400 * NS_PER_S,
	  .fallback = "30s",
	  .help = "longest time without progress before an operation fails" },
	{ .name = "checksums",
	  .type = OPT_BOOL,
	  .offset = AT(cluster.conf.checksums),
	  .fallback = "yes",
	  .help = "no: blocks on the disks have no checksums, and those that there are are dropped" },
	{ .name = "scrub",
	  .type = OPT_TIME,
	  .offset = AT(cluster.conf.scrub_ns),
	  .max = 366 * 86400 * NS_PER_S,
	  .fallback = "7d",
	  .help = "time after which each disk is read again, and compared with its checksums; 0s: only "
		  "by ddio scrub" },
	{ .name = "scrub_rate",
	  .type = OPT_SIZE,
	  .offset = AT(cluster.conf.scrub_rate),
	  .max = 1ull << 50,
	  .fallback = "32M",
	  .help = "bytes a second of each disk that such a scrub reads at most; 0: no limit" },
	{ .name = "wire_checksums",
	  .type = OPT_WORD,
	  .offset = AT(cluster.conf.wire_checksums),
	  .words = wire_sums,
	  .fallback = "yes",
	  .help = "yes: messages between machines have checksums; always: those within one, too; by TLS "
		  "they need none" },
	{ .name = "security",
	  .type = OPT_WORD,
	  .offset = AT(cluster.security),
	  .words = securities,
	  .given = AT(cluster.secured),
	  .fallback = "tls if there is a key and a node listens beyond loopback",
	  .help = "tls: connections are encrypted, and closed to whoever has not the key; none: the key "
		  "is proved when they are opened" },
	{ .name = "kernel_tls",
	  .type = OPT_BOOL,
	  .offset = AT(cluster.conf.kernel_tls),
	  .fallback = "no",
	  .help = "yes: where the kernel of a machine can, it encrypts what goes by TLS, in place of OpenSSL" },
	{ .name = "users",
	  .type = OPT_WORD,
	  .offset = AT(cluster.conf.users),
	  .words = user_kinds,
	  .fallback = "none",
	  .help = "munge: munge vouches for each connection's user, and nodes check what that user may; "
		  "none: nodes believe whoever has the key" },
	{ .name = "servers_key",
	  .type = OPT_STRING,
	  .offset = AT(cluster.conf.servers_key),
	  .fallback = "none; needed with users = munge",
	  .help = "file with the key that nodes alone share, and sign with what users may" },
	{ .name = "no_root_squash",
	  .type = OPT_STRING,
	  .offset = AT(cluster.conf.no_root_squash),
	  .check = conf_nets_ok,
	  .arg = "addresses",
	  .allowed = "numeric addresses or ADDRESS/BITS, separated by commas",
	  .fallback = "loopback addresses only",
	  .help = "with users = munge: machines whose root is root of the cluster, and may mount it" },
	{ .name = "grant_time",
	  .type = OPT_TIME,
	  .offset = AT(cluster.conf.grant_ns),
	  .min = NS_PER_S,
	  .max = 86400 * NS_PER_S,
	  .fallback = "10m",
	  .help = "with users = munge: how long nodes go by what the name space said that a user may do" },
	{ .name = "share",
	  .type = OPT_BOOL,
	  .offset = AT(cluster.conf.share),
	  .fallback = "yes",
	  .help = "no: collectives share no buffers between processes of one machine" },
	{ .name = "channels",
	  .type = OPT_BOOL,
	  .offset = AT(cluster.conf.channels),
	  .fallback = "yes",
	  .help = "no: messages between processes of one machine go through sockets; yes: through memory, "
		  "but for those by TLS, and with wire_checksums = always" },
	{ .name = "broker",
	  .type = OPT_WORD,
	  .offset = AT(cluster.conf.broker),
	  .words = conf_brokers,
	  .fallback = "auto",
	  .help = "auto: processes of a large group that are on one machine share one connection to each node; "
		  "always: those of any group do; never: each has its own" },
	{ .name = NULL },
};

static const struct ddio_opt node_options[] = {
	{ .name = "address",
	  .type = OPT_STRING,
	  .offset = AT(node.address),
	  ADDRESS,
	  .required = true,
	  .help = "where the node listens, host:port" },
	{ .name = "meta",
	  .type = OPT_STRING,
	  .offset = AT(node.meta),
	  .required = true,
	  .help = "directory of the node's records; made if it does not exist" },
	{ .name = "reactors",
	  .type = OPT_U32,
	  .offset = AT(node.reactors),
	  .max = 1024,
	  .fallback = "0: one for each disk, at most one for each core",
	  .help = "threads that serve disks" },
	{ .name = "cache",
	  .type = OPT_SIZE,
	  .offset = AT(node.cache),
	  .max = 1ull << 50,
	  .special = "paper",
	  .fallback = "64M",
	  .help = "block cache of each disk; paper: 8 blocks for every client and disk" },
	{ .name = "buffers",
	  .type = OPT_U32,
	  .offset = AT(node.buffers),
	  .max = 1024,
	  .fallback = "0: two if it has an arm, else what a megabyte holds",
	  .help = "block buffers of a disk in a collective" },
	{ .name = "cscan",
	  .type = OPT_BOOL,
	  .offset = AT(node.cscan),
	  .fallback = "yes",
	  .help = "no: disks serve cached requests first come, first served, as in TR94-226" },
	{ .name = "late_ahead",
	  .type = OPT_BOOL,
	  .offset = AT(node.late_ahead),
	  .fallback = "no",
	  .help = "yes: the block after a read is read ahead once the read has ended, as in the papers" },
	{ .name = "install",
	  .type = OPT_BOOL,
	  .offset = AT(node.install),
	  .fallback = "no",
	  .help = "yes: a block is read before part of it is written, as in TR95-251" },
	{ .name = "write_back",
	  .type = OPT_TIME,
	  .offset = AT(node.write_back_ns),
	  .max = 86400 * NS_PER_S,
	  .fallback = "5s",
	  .help = "time after which writes go to the disk even without a sync; 0s: never" },
	{ .name = "sync_io",
	  .type = OPT_BOOL,
	  .offset = AT(node.sync_io),
	  .fallback = "yes",
	  .help = "no: records are not forced to stable storage, for measurements only" },
	{ .name = NULL },
};

static const struct ddio_opt disk_options[] = {
	{ .name = "node",
	  .type = OPT_STRING,
	  .offset = AT(disk.node),
	  NAME,
	  .required = true,
	  .help = "node that the disk belongs to" },
	{ .name = "engine",
	  .type = OPT_STRING,
	  .offset = AT(disk.disk.engine),
	  NAME,
	  .fallback = "chosen by the path",
	  .help = "kind of disk: mem, aio, hp97560, kmod" },
	{ .name = "path",
	  .type = OPT_STRING,
	  .offset = AT(disk.disk.path),
	  .fallback = "none",
	  .help = "block device or file, for engines that need or can use one" },
	{ .name = "size",
	  .type = OPT_SIZE,
	  .offset = AT(disk.disk.size),
	  .max = 1ull << 62,
	  .fallback = "0: the device's, the file's or the engine's own",
	  .help = "bytes, for engines that make their disk" },
	{ .name = "options",
	  .type = OPT_STRING,
	  .offset = AT(disk.disk.options),
	  .fallback = "none",
	  .help = "options of the engine, name=value separated by commas" },
	{ .name = "bus",
	  .type = OPT_STRING,
	  .offset = AT(disk.disk.bus),
	  NAME,
	  .fallback = "a bus of its own",
	  .help = "emulated disks of a node with the same text share one bus" },
	{ .name = NULL },
};

const struct ddio_opt *const conf_options[CONF_KINDS] = {
	[CONF_CLUSTER] = cluster_options,
	[CONF_NODE] = node_options,
	[CONF_DISK] = disk_options,
};

const char *const conf_kind_names[CONF_KINDS] = {
	[CONF_CLUSTER] = "cluster",
	[CONF_NODE] = "node",
	[CONF_DISK] = "disk",
};

int conf_line_of(const struct conf_section *section, const char *name)
{
	const struct ddio_opt *options = conf_options[section->kind];
	int i;

	for (i = 0; options[i].name; i++)
		if (!strcmp(options[i].name, name) && section->lines[i])
			return section->lines[i];
	return section->line;
}

void ddio_conf_print_options(FILE *out)
{
	const struct ddio_opt *option;
	char limits[200];
	int kind;

	for (kind = 0; kind < CONF_KINDS; kind++) {
		fprintf(out, "[%s%s]\n", conf_kind_names[kind],
			kind == CONF_CLUSTER ? "" : " NAME");
		for (option = conf_options[kind]; option->name; option++) {
			ddio_opt_limits(option, limits, sizeof(limits));
			fprintf(out, "  %s = %s ", option->name, limits);
			if (option->required)
				fputs("(required)", out);
			else
				fprintf(out, "(default: %s)", option->fallback);
			fprintf(out, "\n      %s\n", option->help);
		}
	}
}
