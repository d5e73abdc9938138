/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that ddio bench and ddio sim have in common: values begin with struct bench_values. */
#ifndef TOOLS_BENCH_OPTS_H
#define TOOLS_BENCH_OPTS_H

#include <stddef.h>
#include "spec.h"

#define BENCH_AT(member) offsetof(struct bench_values, member)

/* clang-format off */
#define BENCH_OPTS \
	DDIO_OPT("patterns", 'p', OPT_TEXT, BENCH_AT(patterns), "LIST", "patterns, as ra,rbb,wc; or read, write, all (all)"), \
	DDIO_OPT("records", 'r', OPT_TEXT, BENCH_AT(records), "LIST", "record sizes in bytes (8,8192)"), \
	DDIO_OPT("methods", 'm', OPT_TEXT, BENCH_AT(methods), "LIST", "tc,2p,dd,dds (all four)"), \
	DDIO_OPT("layouts", 'l', OPT_TEXT, BENCH_AT(layouts), "LIST", "contiguous,random-blocks,random-tracks (contiguous)"), \
	DDIO_OPT("cps", 'n', OPT_U32, BENCH_AT(cps), "N", "compute processes (16)"), \
	DDIO_OPT("iops", 'i', OPT_U32, BENCH_AT(iops), "N", "I/O processors (16)"), \
	DDIO_OPT("disks", 'd', OPT_U32, BENCH_AT(disks), "N", "disks of each I/O processor (1)"), \
	DDIO_OPT("size", 's', OPT_SIZE, BENCH_AT(size), "SIZE", "size of the file (10M)"), \
	DDIO_OPT("block-size", 'b', OPT_SIZE, BENCH_AT(block), "SIZE", "file-system block (8K)"), \
	DDIO_OPT("trials", 't', OPT_U32, BENCH_AT(trials), "N", "runs of each; the median is printed (1)"), \
	DDIO_OPT("engine", 'e', OPT_TEXT, BENCH_AT(engine), "NAME", "disk engine: hp97560, mem, aio (hp97560)"), \
	DDIO_OPT("disk-options", 'o', OPT_TEXT, BENCH_AT(disk_options), "LIST", "options of the engine, see ddio-disk-engines(7)"), \
	DDIO_OPT("disk-size", 0, OPT_SIZE, BENCH_AT(disk_size), "SIZE", "size of a disk (mem: what the file needs; aio: 8G)"), \
	DDIO_OPT("shared-bus", 0, OPT_FLAG, BENCH_AT(shared_bus), NULL, "disks of an I/O processor share a SCSI bus"), \
	DDIO_OPT("cache", 0, OPT_SIZE, BENCH_AT(cache), "SIZE", "block cache of each disk (the papers' size)"), \
	DDIO_OPT("buffers", 0, OPT_U32, BENCH_AT(buffers), "N", "block buffers of each disk (as suits it)"), \
	DDIO_OPT("outstanding", 0, OPT_U32, BENCH_AT(outstanding), "N", "requests of a process to each disk, with TC and 2P (4)"), \
	DDIO_OPT("calls", 0, OPT_FLAG, BENCH_AT(calls), NULL, "with TC, a call for each contiguous chunk, one by one"), \
	DDIO_OPT("alone", 0, OPT_FLAG, BENCH_AT(alone), NULL, "each process makes a request of its own: no group, no barriers"), \
	DDIO_OPT("until-last", 0, OPT_FLAG, BENCH_AT(until_last), NULL, "time from the first process that begins to the last that returns"), \
	DDIO_OPT("fcfs", 0, OPT_FLAG, BENCH_AT(fcfs), NULL, "disk queues are first come, first served, not CSCAN"), \
	DDIO_OPT("late-ahead", 0, OPT_FLAG, BENCH_AT(late_ahead), NULL, "read ahead once a read has ended, not along with it"), \
	DDIO_OPT("rotate", 0, OPT_FLAG, BENCH_AT(rotate), NULL, "each disk starts at another point of its list"), \
	DDIO_OPT("satf", 0, OPT_FLAG, BENCH_AT(satf), NULL, "with DDs, shortest access time first"), \
	DDIO_OPT("no-batch", 0, OPT_FLAG, BENCH_AT(no_batch), NULL, "charge a Memput or Memget for each piece, one block at a time"), \
	DDIO_OPT("atomic", 0, OPT_FLAG, BENCH_AT(atomic), NULL, "write with DD and DDs as a whole or not at all"), \
	DDIO_OPT("sync", 0, OPT_FLAG, BENCH_AT(sync), NULL, "a write ends when it is durable"), \
	DDIO_OPT("no-scatter", 0, OPT_FLAG, BENCH_AT(no_scatter), NULL, "the kernel module moves no data by itself"), \
	DDIO_OPT("no-share", 0, OPT_FLAG, BENCH_AT(no_share), NULL, "share no buffers within one machine: send all data in messages"), \
	DDIO_OPT("seed", 0, OPT_U64, BENCH_AT(seed), "N", "seed of layouts and contents (1)"), \
	DDIO_OPT("offset", 0, OPT_SIZE, BENCH_AT(offset), "SIZE", "offset of the array in the file (as a .npy says)"), \
	DDIO_OPT("no-verify", 0, OPT_FLAG, BENCH_AT(no_verify), NULL, "do not check every byte"), \
	DDIO_OPT("paper", 0, OPT_FLAG, BENCH_AT(paper), NULL, "print the published figures beside the measured ones"), \
	DDIO_OPT("csv", 0, OPT_FLAG, BENCH_AT(csv), NULL, "print comma-separated values, a line for each run"), \
	DDIO_OPT("json", 0, OPT_FLAG, BENCH_AT(json), NULL, "print one JSON object"), \
	DDIO_OPT("output", 'O', OPT_TEXT, BENCH_AT(output), "FILE", "write the results to this file"), \
	DDIO_OPT("csv-file", 0, OPT_TEXT, BENCH_AT(csv_file), "FILE", "write CSV to this file, too"), \
	DDIO_OPT("plot", 0, OPT_TEXT, BENCH_AT(plot), "FILE.png", "draw the results as bars, by gnuplot"), \
	DDIO_OPT("trace", 0, OPT_TEXT, BENCH_AT(trace), "FILE", "trace the first disk-directed transfer; .svg and .png: as a picture"), \
	DDIO_OPT("quiet", 'q', OPT_FLAG, BENCH_AT(quiet), NULL, "show no progress")
/* clang-format on */

#endif /* TOOLS_BENCH_OPTS_H */
