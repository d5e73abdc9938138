/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cluster's configuration: one file, the same on every node and client.
 *
 *   # comment
 *   [cluster]
 *   name = demo
 *   key_file = /etc/ddio/key
 *   namespace = io0
 *   [node io0]
 *   address = 127.0.0.1:7400
 *   meta = /var/lib/ddio/io0
 *   [disk d0]
 *   node = io0
 *   engine = hp97560
 *   options = time_scale=1
 *
 * Nodes and disks are numbered in the order of their sections.  Disk numbers
 * are written on the disks: append new disks, do not reorder.
 */
#ifndef DDIO_CONF_H
#define DDIO_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DDIO_CONF_CACHE_PAPER UINT64_MAX

struct ddio_conf_node {
	char *name;
	char *address;	   /* "host:port" */
	char *meta;	   /* directory of the records */
	uint32_t reactors; /* 0: as many as disks, at most as many as cores */
	uint64_t cache; /* bytes per disk, default 64 MB; DDIO_CONF_CACHE_PAPER: 8 blocks for each CP and disk */
	uint32_t buffers;	/* block buffers of each disk in a collective; 0: as suits it */
	bool install;		/* a block that is written in part is read first; default false */
	bool cscan;		/* false: disk queues are first come, first served; default true */
	bool late_ahead;	/* read ahead once a read has ended, not along with it */
	uint64_t write_back_ns; /* 0: writes stay in the cache until a sync; default 5 s */
	bool sync_io; /* false skips fsync of records, for measurements only; default true */
	int line;
};

struct ddio_conf_disk {
	char *name;
	uint32_t node;
	char *engine; /* NULL: chosen by path */
	char *path;
	uint64_t size; /* 0: the device's */
	char *options;
	char *bus;
	int line;
};

/* Which messages have checksums; by TLS none has. */
enum ddio_conf_sums {
	DDIO_CONF_SUMS_NO,
	DDIO_CONF_SUMS_YES, /* those between machines */
	DDIO_CONF_SUMS_ALWAYS,
};

enum ddio_conf_broker { DDIO_CONF_BROKER_NEVER, CONF_BROKER_AUTO, DDIO_CONF_BROKER_ALWAYS };

enum conf_users { CONF_USERS_NONE, CONF_USERS_MUNGE };

struct ddio_conf {
	char *path;
	char *cluster;
	char *key_file;	      /* NULL: none */
	uint32_t ns_node;     /* default: the first */
	uint32_t block;	      /* default block size of new files, 262144 if not given */
	uint32_t mount_block; /* that of files that are made through a mount: at most 32768 */
	bool share;	      /* buffers are shared on one machine; default true */
	bool channels;	      /* messages on one machine go through memory; default true */
	unsigned int broker;  /* enum ddio_conf_broker; default auto */
	uint64_t timeout_ns;  /* bound on any lack of progress, default 30 s */
	bool checksums;	      /* blocks on the disks have them, default yes */
	uint64_t scrub_ns; /* between two scrubs of a disk, default 7 days; 0: none begins by itself */
	uint64_t scrub_rate; /* of these, bytes a second and disk, default 32 MB; 0: no limit */
	unsigned int wire_checksums; /* enum ddio_conf_sums; default yes */
	unsigned int users;	     /* enum conf_users; default none */
	char *servers_key;	     /* NULL: none */
	char *no_root_squash;	     /* see conf_nets_ok(); NULL: loopback only */
	uint64_t grant_ns;	     /* default 10 minutes */
	bool tls; /* connections are closed to strangers; default: if a node has a key and an address beyond loopback */
	bool kernel_tls; /* the kernel makes the records of TLS where it can; default no */
	uint32_t nnodes, ndisks;
	struct ddio_conf_node *nodes;
	struct ddio_conf_disk *disks;
};

/**
 * ddio_conf_load - read and check a configuration
 * @err: on failure one line, "FILE:LINE: what was wrong", naming section and value
 *
 * Checked: unknown sections and names, values, duplicates, a disk's node exists, every node has a
 * disk, no two disks of a machine have the same path, addresses, sizes and times (base/units.h).  No path
 * of a node or disk is touched: one that hangs holds up its daemon, and not every client.
 * Return: 0, -EINVAL, -ENOMEM, or what open and read said.
 */
int ddio_conf_load(const char *path, struct ddio_conf **conf, char *err, size_t err_len);
#define DDIO_CONF_PATH 4096
/**
 * ddio_conf_find - which file is the configuration
 * @given: its path as an option or the program gives it; NULL: it gives none
 * @path: receives the first of @given, $DDIO_CONF, ddio-cluster/ddio.conf in the current directory if it is this user's alone,
 *	/etc/ddio/ddio.conf
 * @err: receives one line
 *
 * Return: 0; -ENOENT: there is none; -ENAMETOOLONG
 */
int ddio_conf_find(const char *given, char path[DDIO_CONF_PATH], char *err, size_t err_len);
/* Reads a configuration from memory; messages call it @name. */
int ddio_conf_parse(const char *name, const char *text, size_t len, struct ddio_conf **conf,
		    char *err, size_t err_len);
/* Changes what the configuration says of brokers: 0, or -EINVAL if that is none of its words. */
int ddio_conf_set_broker(struct ddio_conf *conf, const char *word);
/**
 * ddio_conf_check_files - check what only that machine knows
 * @node: a node of this machine
 * @err: as ddio_conf_load() has it
 *
 * No two disks, and no two directories of records, of the node's machine are the same file, directory or
 * device: by real path, by device and inode.
 * Return: 0, -EINVAL, -ENOMEM
 */
int ddio_conf_check_files(const struct ddio_conf *conf, uint32_t node, char *err, size_t err_len);
/* Whether the cluster tells users apart. */
static inline bool ddio_conf_knows_users(const struct ddio_conf *conf)
{
	return conf->users != CONF_USERS_NONE;
}

/**
 * ddio_conf_believes_root - whether root of a machine is root of the cluster
 * @conf: the configuration
 * @peer: "host:port" or "[host]:port", with a numeric address
 *
 * Return: true for loopback addresses, and those that no_root_squash names.
 */
bool ddio_conf_believes_root(const struct ddio_conf *conf, const char *peer);
void ddio_conf_free(struct ddio_conf *conf);
/* Returns the number of the node, or -ENOENT. */
int ddio_conf_find_node(const struct ddio_conf *conf, const char *name);
/* Prints every option of every section with limits, default and meaning. */
void ddio_conf_print_options(FILE *out);

#endif /* DDIO_CONF_H */
