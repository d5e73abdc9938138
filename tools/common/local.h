/* SPDX-License-Identifier: GPL-2.0-only */
/* A cluster on this machine, for trying out and for measuring. */
#ifndef DDIO_LOCAL_H
#define DDIO_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * struct local_spec - what to start
 * @dir: directory of everything: configuration, key, records, logs
 * @iops, @disks: I/O processors, and disks of each
 * @engine, @options: of every disk
 * @disk_size: bytes; 0: 8 GiB for aio, 1 GiB for mem, else the engine's own
 * @files: keep disks' data in files in @dir; aio always does
 * @key: make a key and use it
 * @shared_bus: disks of one I/O processor share an emulated SCSI bus
 * @cache: bytes of cache a disk; 0: as in the papers
 * @block: default block size, 0: the configuration's
 * @timeout_ms: bound on lack of progress, 0: the default
 * @buffers: block buffers a disk, 0: the default
 * @reactors: per I/O processor, 0: the default
 * @fcfs: disk queues serve who comes first
 * @install: caches read a block before a part of it is written
 * @no_write_back: what was written waits in the caches until it is asked for: for measurements
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
	bool shared_bus;
	uint64_t cache;
	uint64_t block;
	uint32_t timeout_ms;
	uint32_t buffers;
	uint32_t reactors;
	bool no_write_back, no_sync, fcfs, install;
};

/* Writes DIR/ddio.conf (and DIR/key). Return: 0 or -errno after a message. */
int local_configure(const char *command, const struct local_spec *spec);
/* The text of it, with a port for each node. */
void local_print_conf(FILE *f, const struct local_spec *spec, const uint16_t *port);
/* Starts every node of DIR/ddio.conf in the background (daemon), or as children that die with
 * this process (@pids, one a node). */
int local_start(const char *command, const char *dir, uint32_t nodes, pid_t *pids);
/* Ends the daemons of DIR, waits for them, kills those that do not end in time. */
int local_stop(const char *command, const char *dir, uint32_t *stopped);
/* Ends children started with @pids. */
void local_stop_children(pid_t *pids, uint32_t n);
/* Return: how many nodes DIR/ddio.conf has; 0 if there is none. */
uint32_t local_nodes(const char *dir);
/* Return: whether its disks keep their data when they stop. */
bool local_lasts(const char *dir);
/* Return: how many of its nodes are running. */
uint32_t local_running(const char *dir);
int local_remove_tree(const char *dir);

#endif /* DDIO_LOCAL_H */
