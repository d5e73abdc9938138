/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of nodes as Prometheus reads it, in its text format 0.0.4; operating.rst tells of the metrics. */
#ifndef TOOLS_METRICS_H
#define TOOLS_METRICS_H

#include <stdint.h>
#include <stdio.h>
#include <ddio/ddio.h>

/*
 * The counts of a disk: member of struct ddio_disk_state, kind (GAUGE, COUNTER; SECONDS is a counter of nanoseconds
 * that is told in seconds), name, help.  In the order of the columns of "ddio status --csv".
 */
#define METRICS_DISK(X)                                                                            \
	X(size, GAUGE, "size_bytes", "Bytes of the disk.")                                         \
	X(free, GAUGE, "free_bytes", "Bytes that belong to no object.")                            \
	X(objects, GAUGE, "objects", "Files that have data on it.")                                \
	X(reads, COUNTER, "reads", "Requests to read.")                                            \
	X(writes, COUNTER, "writes", "Requests to write.")                                         \
	X(read_bytes, COUNTER, "read_bytes", "Bytes read.")                                        \
	X(write_bytes, COUNTER, "written_bytes", "Bytes written.")                                 \
	X(errors, COUNTER, "errors", "Failed requests.")                                           \
	X(cache_hits, COUNTER, "cache_hits", "Blocks found in the cache.")                         \
	X(cache_misses, COUNTER, "cache_misses", "Blocks not found in the cache.")                 \
	X(prefetches, COUNTER, "prefetches", "Blocks read ahead.")                                 \
	X(prefetch_used, COUNTER, "prefetches_used", "Blocks read ahead and asked for later.")     \
	X(prefetch_wasted, COUNTER, "prefetches_wasted", "Blocks read ahead and evicted unused.")  \
	X(cache_blocks, GAUGE, "cache_blocks", "Blocks in the cache.")                             \
	X(cache_dirty, GAUGE, "cache_dirty_blocks", "Blocks in the cache not yet written back.")   \
	X(cache_bytes, GAUGE, "cache_bytes", "Memory of the cache.")                               \
	X(queue, GAUGE, "queue", "Requests that wait.")                                            \
	X(max_queue, GAUGE, "queue_most", "Most requests that ever waited.")                       \
	X(seeks, COUNTER, "seeks", "Arm movements of an emulated disk.")                           \
	X(seek_ns, SECONDS, "seek_seconds", "Time of arm movements of an emulated disk.")          \
	X(rotation_ns, SECONDS, "rotation_seconds", "Time an emulated disk waited for sectors.")   \
	X(buffer_hits, COUNTER, "buffer_hits", "Reads served from an emulated disk's own buffer.") \
	X(bus_wait_ns, SECONDS, "bus_wait_seconds", "Time an emulated disk waited for the bus.")   \
	X(busy_ns, SECONDS, "busy_seconds", "Time with a request under way.")                      \
	X(buffers, GAUGE, "buffers", "Block buffers of collectives in use.")                       \
	X(max_buffers, GAUGE, "buffers_most", "Most block buffers of collectives ever in use.")    \
	X(scrub_mismatches, GAUGE, "scrub_mismatches",                                             \
	  "Checksums that differed in the scrub under way, or the last one.")                      \
	X(scrub_unread, GAUGE, "scrub_unread_blocks", "Blocks that this scrub could not read.")

/* The same of a job: member of struct ddio_job_state. */
#define METRICS_JOB(X)                                                                            \
	X(connections, GAUGE, "connections", "Connections that are open.")                        \
	X(requests, COUNTER, "requests", "Requests but for collectives.")                         \
	X(read_bytes, COUNTER, "read_bytes", "Bytes read through the caches.")                    \
	X(write_bytes, COUNTER, "written_bytes", "Bytes written through the caches.")             \
	X(collectives, COUNTER, "collectives", "Parts of the node's reactors in these.")          \
	X(coll_read_bytes, COUNTER, "collective_read_bytes", "Bytes read by collectives.")        \
	X(coll_write_bytes, COUNTER, "collective_written_bytes", "Bytes written by collectives.") \
	X(told, COUNTER, "mismatches_told",                                                       \
	  "Times that it said that what came did not match its checksum.")

/**
 * struct metrics - what is to be told; metrics_free() frees it
 * @node, @nnodes, @disk, @ndisks, @bound, @nbounds, @job, @njobs: the state of nodes, their disks, their bounds, and what
 *	jobs have asked of them
 * @nomem: something could not be added
 */
struct metrics {
	struct ddio_node_state *node;
	struct ddio_disk_state *disk;
	struct ddio_bound_state *bound;
	struct ddio_job_state *job;
	uint32_t nnodes, ndisks, nbounds, njobs;
	int nomem;
};

/* Add a copy; they have the types that ddio_nodes() and its kin call.  Return: 0, or -ENOMEM. */
int metrics_node(void *metrics, const struct ddio_node_state *st);
int metrics_disk(void *metrics, const struct ddio_disk_state *st);
int metrics_bound(void *metrics, const struct ddio_bound_state *st);
int metrics_job(void *metrics, const struct ddio_job_state *st);
void metrics_free(struct metrics *m);

/* Writes all of it.  Nodes without an answer have ddio_node_up 0 and nothing else. */
void metrics_write(const struct metrics *m, FILE *f);

#endif /* TOOLS_METRICS_H */
