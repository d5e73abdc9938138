/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cluster's state, for tools: what nodes and disks have done and hold, what clients may take of them, whether the records
 * are consistent.  ddio.h includes it; conventions and types are described there.
 */
#ifndef DDIO_CLUSTER_H
#define DDIO_CLUSTER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

struct ddio_session;
struct ddio_file;

/**
 * struct ddio_disk_state - a disk's state and counters since its node started
 * @name: of the disk
 * @node: its node
 * @engine: what moves its bytes
 * @disk: number in the configuration
 * @reactor: that owns it, within its node
 * @error: 0, or the negative errno for which its node gave no answer; then only the names are valid
 * @size: bytes
 * @free: bytes that belong to no object
 * @peak: sustained bytes per second, 0 if unknown
 * @objects: files that have data on it
 * @scale_ppm: emulated disks: real time per time of the disk, in millionths
 * @reads: requests
 * @writes: requests
 * @read_bytes: by @reads
 * @write_bytes: by @writes
 * @errors: failed requests, and blocks read that did not match their checksum
 * @cache_hits: blocks found in the cache
 * @cache_misses: blocks not found
 * @prefetches: blocks read ahead
 * @prefetch_used: of these, blocks asked for later
 * @prefetch_wasted: of these, blocks evicted unused
 * @cache_blocks: blocks in the cache now
 * @cache_dirty: of these, blocks not yet written back
 * @cache_bytes: memory of the cache now
 * @queue: requests waiting now
 * @max_queue: most requests that ever waited
 * @seeks: emulated disks: arm movements
 * @seek_ns: emulated disks: time of these
 * @rotation_ns: emulated disks: time spent waiting for sectors
 * @buffer_hits: emulated disks: reads served from the disk's own buffer
 * @bus_wait_ns: emulated disks: time spent waiting for the bus
 * @busy_ns: time with a request under way
 * @buffers: block buffers of collectives in use now
 * @max_buffers: most that were ever in use
 * @scrub_mismatches: checksums that differed in the scrub under way, or the last one
 * @scrub_unread: blocks that this could not read
 */
struct ddio_disk_state {
	char name[256], node[256], engine[32];
	uint32_t disk, reactor;
	int error;
	uint64_t size, free, peak, objects;
	uint64_t scale_ppm;
	uint64_t reads, writes, read_bytes, write_bytes, errors;
	uint64_t cache_hits, cache_misses, prefetches, prefetch_used, prefetch_wasted;
	uint64_t cache_blocks, cache_dirty, cache_bytes;
	uint64_t queue, max_queue;
	uint64_t seeks, seek_ns, rotation_ns, buffer_hits, bus_wait_ns, busy_ns;
	uint64_t buffers, max_buffers;
	uint64_t scrub_mismatches, scrub_unread;
};

/**
 * struct ddio_node_state - a node's state and counters since it started
 * @name: of the node
 * @address: where it listens
 * @error: 0, or the negative errno for which it gave no answer; then only the names and @reason are valid
 * @reason: then why, in one line that names the node
 * @nreactors: threads that serve
 * @ndisks: its disks
 * @uptime_ns: nanoseconds since it started
 * @collectives: requests
 * @requests: all others
 * @connections: open now
 * @refused: connections refused since it started
 * @memory_bytes: of caches and buffers
 */
struct ddio_node_state {
	char name[256], address[128], reason[512];
	int error;
	uint32_t nreactors, ndisks;
	uint64_t uptime_ns, collectives, requests, connections, refused, memory_bytes;
};

/**
 * ddio_nodes - asks every node for its state
 * @session: the session
 * @fn: called for each node in the configuration's order; a value other than 0 ends the walk
 * @arg: for @fn
 *
 * Return: 0, what @fn returned, or a negative errno.
 */
int ddio_nodes(struct ddio_session *session, int (*fn)(void *arg, const struct ddio_node_state *st),
	       void *arg);

/**
 * ddio_disks - asks every node for the state of its disks
 * @session: the session
 * @fn: called for each disk in the configuration's order; a value other than 0 ends the walk
 * @arg: for @fn
 *
 * Return: 0, what @fn returned, or a negative errno.
 */
int ddio_disks(struct ddio_session *session, int (*fn)(void *arg, const struct ddio_disk_state *st),
	       void *arg);

/**
 * struct ddio_bound_state - something of a node that one client can take only so much of
 * @node: name of the node
 * @name: of the bound; what follows a slash is the holder, else it is the node
 * @error: 0, or the negative errno for which the node gave no answer; then only @node and @reason are valid
 * @reason: then why, in one line that names the node
 * @limit: what one holder may have
 * @now: what all holders have
 * @most: what one holder ever had
 * @hits: how often a holder was refused more, or had to wait
 */
struct ddio_bound_state {
	char node[256], name[32], reason[512];
	int error;
	uint64_t limit, now, most, hits;
};

/**
 * ddio_bounds - asks every node for its bounds, and how much of them is used
 * @session: the session
 * @fn: called for each bound of each node; a value other than 0 ends the walk
 * @arg: for @fn
 *
 * Return: 0, what @fn returned, or a negative errno.
 */
int ddio_bounds(struct ddio_session *session,
		int (*fn)(void *arg, const struct ddio_bound_state *st), void *arg);

/**
 * struct ddio_job_state - what a job has asked of a node since that was started
 * @node: name of the node
 * @name: of the job: the environment variable DDIO_JOB of its processes when they connected, or what Slurm, PBS, LSF or Grid
 *	Engine call it; "": processes without any; "(others)": of the jobs of the past, those that a node has no room for
 * @error: 0, or the negative errno for which the node gave no answer; then only @node and @reason are valid
 * @reason: then why, in one line that names the node
 * @connections: open now
 * @requests: all but collectives
 * @read_bytes: by them, through the caches
 * @write_bytes: by them, through the caches
 * @collectives: parts that the node's reactors had in collectives
 * @coll_read_bytes: distinct bytes that they read
 * @coll_write_bytes: distinct bytes that they wrote
 * @told: how often they have said that something that came from the node did not match its checksum
 *
 * Small collectives, see DDIO_METHOD_SMALL, are requests of one process.
 */
struct ddio_job_state {
	char node[256], name[64], reason[512];
	int error;
	uint64_t connections, requests, read_bytes, write_bytes;
	uint64_t collectives, coll_read_bytes, coll_write_bytes;
	uint64_t told;
};

/**
 * ddio_jobs - asks every node what jobs have asked of it
 * @session: the session
 * @fn: called for each job of each node; a value other than 0 ends the walk
 * @arg: for @fn
 *
 * Return: 0, what @fn returned, or a negative errno.
 */
int ddio_jobs(struct ddio_session *session, int (*fn)(void *arg, const struct ddio_job_state *st),
	      void *arg);

/**
 * struct ddio_scrub_state - how far a disk has been looked through for blocks that do not match their checksums
 * @name: of the disk
 * @node: its node
 * @reason: of an error: why, in one line that names the node
 * @disk: number in the configuration
 * @error: 0, or the negative errno for which there is no answer; then only the names and @reason are valid
 * @running: a pass is under way
 * @begun: when it did, or the last one, nanoseconds since 1970; 0: never
 * @ended: when the last one that came to its end did; 0: never
 * @used: bytes of the disk that are taken
 * @done: bytes that this pass, or the last one, has read
 * @mismatches: checksums that differed
 * @unread: blocks that could not be read
 * @given: checksums that were made for blocks that had none
 * @rate: bytes a second that it reads at most; 0: no limit
 */
struct ddio_scrub_state {
	char name[256], node[256], reason[512];
	uint32_t disk;
	int error, running;
	uint64_t begun, ended, used, done, mismatches, unread, given, rate;
};

/**
 * enum ddio_scrub_action - what ddio_scrub() is to do
 * @DDIO_SCRUB_LOOK: nothing, just tell
 * @DDIO_SCRUB_START: begin a pass; one that is under way goes on until all has been read once more
 * @DDIO_SCRUB_STOP: end it; the next one begins where it was
 * @DDIO_SCRUB_CONVERT: begin one over those blocks only that have no checksum
 */
enum ddio_scrub_action {
	DDIO_SCRUB_LOOK = 0,
	DDIO_SCRUB_START = 1,
	DDIO_SCRUB_STOP = 2,
	DDIO_SCRUB_CONVERT = 3,
};

/**
 * ddio_scrub - has all disks read and compared with their checksums, or tells how far that is
 * @session: the session
 * @action: enum ddio_scrub_action
 * @rate: START and CONVERT: bytes a second of each disk, whatever else the disk has to do; 0: as many as it gives while
 *	nobody else uses it, and few while somebody does
 * @fn: called for each disk in the configuration's order; a value other than 0 ends the walk
 * @arg: for @fn
 *
 * It does not wait for the passes, which go on in the I/O processors: ask again with LOOK.
 *
 * Return: 0, what @fn returned, or a negative errno.
 */
int ddio_scrub(struct ddio_session *session, int action, uint64_t rate,
	       int (*fn)(void *arg, const struct ddio_scrub_state *st), void *arg);

/**
 * struct ddio_mend_state - how far a file has been mended
 * @disks: of the file
 * @done: of these, disks whose part of the file has been gone through
 * @waiting: of the others, disks on which another file is mended first
 * @busy: of those that are done, disks that have been given up since others always used the file there
 * @moved: bytes that have another place now
 * @shared: extents that stay apart since other files have blocks of them, too
 * @unwritten: since they have space that was never written to
 * @crowded: since there is no free space beside their neighbours, nor elsewhere for several together
 * @bad: blocks that do not match their checksums, or cannot be read, and stay where they are
 */
struct ddio_mend_state {
	uint32_t disks, done, waiting, busy;
	uint64_t moved, shared, unwritten, crowded, bad;
};

/**
 * ddio_mend - has the blocks of a file lie side by side again
 * @file: the open file, which the caller may write
 * @rate: bytes a second that are moved of each disk, whatever else the disk has to do; 0: as many as it gives while nobody else
 *	uses it, and few while somebody does
 * @extent: extents of so many bytes stay where they are; 0: none for that reason
 * @fn: called about twice a second, and at the end; a value other than 0 ends the mending
 * @arg: for @fn
 *
 * Its bytes do not change, and others read and write it meanwhile.  Whatever has been moved stays moved, also if the caller
 * dies.  Blocks that files share stay where they are, since each file would take space of its own.  A file that is laid out at random, as
 * somebody has asked for, is left alone.
 *
 * Return: 0, what @fn returned, or another negative errno.
 */
int ddio_mend(struct ddio_file *file, uint64_t rate, uint64_t extent,
	      int (*fn)(void *arg, const struct ddio_mend_state *st), void *arg);

/**
 * struct ddio_space_state - how a disk's free space lies
 * @name: of the disk
 * @node: its node
 * @reason: of an error: why, in one line that names the node
 * @disk: number in the configuration
 * @error: 0, or the negative errno for which there is no answer; then only the names and @reason are valid
 * @free: bytes
 * @ranges: that they are in
 * @longest: bytes of the longest of these
 * @shared: bytes that files would take besides if none shared blocks with another
 */
struct ddio_space_state {
	char name[256], node[256], reason[512];
	uint32_t disk;
	int error;
	uint64_t free, ranges, longest, shared;
};

/**
 * ddio_space - tells how the free space of all disks lies
 * @session: the session
 * @fn: called for each disk in the configuration's order; a value other than 0 ends the walk
 * @arg: for @fn
 *
 * Return: 0, what @fn returned, or a negative errno.
 */
int ddio_space(struct ddio_session *session,
	       int (*fn)(void *arg, const struct ddio_space_state *st), void *arg);

/**
 * struct ddio_check_result - what ddio_check() found
 * @files: inodes of regular files
 * @objects: objects on all disks
 * @extents: extents of these
 * @blocks: blocks of these
 * @free_bytes: on all disks
 * @problems: found
 * @repaired: how many of these were repaired
 * @orphans: objects of files that are being removed, or of no file
 * @nameless: files without a name: open somewhere, or being removed
 */
struct ddio_check_result {
	uint64_t files, objects, extents, blocks, free_bytes;
	uint64_t problems, repaired;
	uint64_t orphans;
	uint64_t nameless;
};

/**
 * ddio_replace - accepts disks, or the name space, that are not what the other side remembers
 * @session: the session
 * @disks: names of disks to accept as they are
 * @n: how many; 0: the name space is to be accepted as it is, by all disks
 *
 * What a disk that is accepted has lost is an I/O error to the readers of a file, until the file is removed.
 *
 * Return: 0 or a negative errno.
 */
int ddio_replace(struct ddio_session *session, const char *const *disks, uint32_t n);

/* For ddio_check(): what it may do besides looking. */
#define DDIO_CHECK_REPAIR \
	0x1u /* mends what can be mended, and removes nothing that somebody could miss */
#define DDIO_CHECK_DROP 0x2u /* removes objects that belong to no file, too */

/**
 * ddio_check - checks the name space, every disk's records, and each against the other
 * @session: the session
 * @repair: 0, or DDIO_CHECK_REPAIR, perhaps with DDIO_CHECK_DROP
 * @fn: called with one line for every problem; may be NULL
 * @arg: for @fn
 * @result: receives the sums
 *
 * Return: 0, also if problems were found, or a negative errno if the check could not be made.
 */
int ddio_check(struct ddio_session *session, int repair, void (*fn)(void *arg, const char *line),
	       void *arg, struct ddio_check_result *result);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* DDIO_CLUSTER_H */
