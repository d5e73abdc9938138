/* SPDX-License-Identifier: GPL-2.0-only */
/* A cluster on this machine, of ddio start and of measurements. */
#ifndef TOOLS_LOCAL_H
#define TOOLS_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * struct local_spec - what to start
 * @dir: the cluster's directory: configuration, key, records, logs, disks in files
 * @iops, @disks: number of I/O processors, and of disks of each
 * @engine, @options: every disk's engine and its options
 * @disk_size: bytes; 0: 8 GiB for aio, 1 GiB for mem, else the engine's own
 * @files: keep disks' data in files in @dir; aio always does
 * @key: make a key, which connections need
 * @security: of connections, none or tls; NULL: the configuration's default
 * @shared_bus: disks of one I/O processor share an emulated SCSI bus
 * @cache: bytes of cache for each disk; 0: as in the papers
 * @block: default block size; 0: the configuration's
 * @timeout_ms: how long a node may be silent; 0: the default
 * @buffers: block buffers of each disk; 0: the default
 * @phases: emulated disks have angles of their own, which follow from this; 0: they turn in step
 * @reactors: of each I/O processor; 0: the default
 * @fcfs: disk queues are first come, first served
 * @late_ahead: the block after a read is read ahead once the read has ended
 * @install: caches read a block before part of it is written
 * @no_write_back: written blocks stay in the caches until a sync, for measurements
 * @no_sync: records are not forced to the medium, for clusters that are thrown away
 */
struct local_spec {
	const char *dir;
	uint32_t iops, disks;
	const char *engine;
	const char *options;
	uint64_t disk_size;
	bool files;
	bool key;
	const char *security;
	bool shared_bus;
	uint64_t cache;
	uint64_t block;
	uint64_t phases;
	uint32_t timeout_ms;
	uint32_t buffers;
	uint32_t reactors;
	bool no_write_back, no_sync, fcfs, late_ahead, install;
};

/* Writes DIR/ddio.conf and, with @key, DIR/key.  Return: 0, or -errno after a message. */
int local_configure(const char *command, const struct local_spec *spec);
/* Prints the configuration, with a port for each node. */
void local_print_conf(FILE *f, const struct local_spec *spec, const uint16_t *port);
/*
 * Starts all nodes of DIR/ddio.conf and waits until they serve: in the background, or, if @pids is
 * not NULL, as children that end with this process; their IDs are put there, one for each node.
 * Return: 0, or -errno after a message.
 */
int local_start(const char *command, const char *dir, uint32_t nodes, pid_t *pids);
/*
 * Stops the daemons of DIR and waits for them; kills those that do not end in time.  @stopped is set
 * to how many there were.  Return: 0, or -errno after a message.
 */
int local_stop(const char *command, const char *dir, uint32_t *stopped);
/* Stops children that local_start() started. */
void local_stop_children(pid_t *pids, uint32_t n);
/* Return: how many nodes DIR/ddio.conf has; 0 if there is none. */
uint32_t local_nodes(const char *dir);
/* Return: whether its disks keep their data when they stop. */
bool local_lasts(const char *dir);
/* Return: how many of its nodes are running. */
uint32_t local_running(const char *dir);
/* Removes what a cluster that could not be started has made in DIR, and nothing else. */
void local_remove_new(const char *dir, uint32_t iops, uint32_t disks);
/* Removes a directory and all below it.  Return: 0 or -errno. */
int local_remove_tree(const char *dir);

#endif /* TOOLS_LOCAL_H */
