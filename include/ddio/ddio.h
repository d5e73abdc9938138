/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libddio: disk-directed I/O for parallel programs.
 *
 * Return values: 0 or a negative errno unless said otherwise;
 * ddio_last_error() says in one line what went wrong, naming node, disk, file
 * and offset.  Sizes and offsets are bytes, 64 bits wide, everywhere.
 *
 * Threads: one session, and everything made from it, may be used by one thread
 * at a time; different sessions by different threads at once.  Each process
 * or thread that takes part in a group has a session of its own.
 *
 * Environment: DDIO_CONF names the configuration if the program does not.
 */
#ifndef DDIO_H
#define DDIO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ddio/dist.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

struct ddio_session;
struct ddio_group;
struct ddio_file;
struct ddio_op;

#define DDIO_VERSION_MAJOR 0
#define DDIO_VERSION_MINOR 1

/* Version of the library in use, "0.1.0". */
const char *ddio_version(void);

/**
 * struct ddio_connect_opts - how to reach a cluster
 * @struct_size: sizeof(struct ddio_connect_opts), so that it can grow
 * @flags: must be 0
 * @conf: path of the cluster's configuration; NULL: $DDIO_CONF, else /etc/ddio/ddio.conf
 * @timeout_ms: bound on any lack of progress; 0: the configuration's
 */
struct ddio_connect_opts {
	size_t struct_size;
	uint32_t flags;
	uint32_t timeout_ms;
	const char *conf;
};

/**
 * ddio_connect - begin a session with a cluster
 * @opts: NULL for the defaults
 * @session: result; ddio_disconnect() ends it
 *
 * Starts the session's progress thread.  Connections to the I/O processors are made as they are
 * needed.  Return: 0, -EINVAL (configuration), -EACCES (key file), -ENOMEM.
 */
int ddio_connect(const struct ddio_connect_opts *opts, struct ddio_session **session);
/* Frees everything made from the session that is still there. */
void ddio_disconnect(struct ddio_session *session);
/* Text of the last failed call on the session; NULL: of the last ddio_connect() of this thread. */
const char *ddio_last_error(const struct ddio_session *session);

/*
 * Groups: the processes that make collective requests together.
 */

/**
 * ddio_group_create - meet at an address
 * @rank: of this process, 0 to @size - 1, each once
 * @size: members
 * @address: "host:port" at which rank 0 listens and to which the others connect, each trying
 *	until the session's timeout
 */
int ddio_group_create(struct ddio_session *session, uint32_t rank, uint32_t size,
		      const char *address, struct ddio_group **group);

/**
 * typedef ddio_bcast_fn - broadcast of an existing communicator (MPI_Bcast, PMIx, a pipe)
 * @buf, @len: at the root what to send, elsewhere where to put it
 * @root: always 0
 * Return: 0 or a negative errno.
 */
typedef int (*ddio_bcast_fn)(void *arg, void *buf, size_t len, uint32_t root);

/* Meet through @bcast, which every member calls the same number of times.  @listen: this
 * process's own address for the others, NULL: the one its I/O processors see. */
int ddio_group_create_bcast(struct ddio_session *session, uint32_t rank, uint32_t size,
			    ddio_bcast_fn bcast, void *arg, const char *listen,
			    struct ddio_group **group);
/* Collective over @group: those with the same @color form a new group, ordered by @key, then
 * rank.  @color -1: none; then *sub is NULL. */
int ddio_group_split(struct ddio_group *group, int color, int key, struct ddio_group **sub);
int ddio_group_barrier(struct ddio_group *group);
uint32_t ddio_group_rank(const struct ddio_group *group);
uint32_t ddio_group_size(const struct ddio_group *group);
void ddio_group_free(struct ddio_group *group);

/*
 * Files.
 */
#define DDIO_MAX_BLOCK_SIZE (16u << 20)

enum ddio_file_layout {
	DDIO_CONTIGUOUS = 0,	/* one extent a disk where space allows */
	DDIO_RANDOM_BLOCKS = 1, /* for experiments: each block at a random place */
	DDIO_RANDOM_TRACKS = 2, /* for experiments: each track at a random place */
};

/**
 * struct ddio_striping - how a new file is spread
 * @struct_size: sizeof(struct ddio_striping)
 * @block_size: power of two from 512 to DDIO_MAX_BLOCK_SIZE; 0: the cluster's default
 * @layout: enum ddio_file_layout
 * @seed: of the random layouts; 0: chosen
 * @ndisks: entries of @disks; 0: all disks of the cluster
 * @disks: numbers of disks in stripe order (0 is the first disk of the configuration)
 * @reserve: bytes to allocate at once, 0 none
 */
struct ddio_striping {
	size_t struct_size;
	uint32_t block_size;
	uint32_t layout;
	uint64_t seed;
	uint32_t ndisks;
	uint32_t reserved;
	const uint32_t *disks;
	uint64_t reserve;
};

#define DDIO_CREATE 0x1u   /* make it if it does not exist */
#define DDIO_EXCL 0x2u	   /* with DDIO_CREATE: fail with -EEXIST if it does */
#define DDIO_TRUNCATE 0x4u /* set its size to 0 */

/* @name: a path from the root of the cluster's name space, "a/b/c"; its directories must be there. */
int ddio_open(struct ddio_session *session, const char *name, unsigned int flags,
	      const struct ddio_striping *striping, struct ddio_file **file);
/* Collective: rank 0 opens, every member gets the same file or the same error. */
int ddio_open_all(struct ddio_group *group, const char *name, unsigned int flags,
		  const struct ddio_striping *striping, struct ddio_file **file);
void ddio_close(struct ddio_file *file);
int ddio_remove(struct ddio_session *session, const char *name);
/**
 * ddio_mkdir - makes a directory
 * @name: as of ddio_open()
 * @mode: permissions, 0 to 0777; there is no umask
 *
 * Return: 0, -EEXIST, -ENOENT (the directory above), or another -errno.  ddio_remove() removes one that is
 * empty.
 */
int ddio_mkdir(struct ddio_session *session, const char *name, unsigned int mode);

struct ddio_file_stat {
	uint64_t id;
	uint64_t size;
	uint64_t ctime_ns, mtime_ns;
	uint32_t block_size;
	uint32_t layout;
	uint64_t seed;
	uint32_t ndisks;
	uint32_t reserved;
};

int ddio_stat(struct ddio_session *session, const char *name, struct ddio_file_stat *st);
int ddio_fstat(struct ddio_file *file,
	       struct ddio_file_stat *st); /* asks: the size may have grown */
/* Disk number of stripe member @i, or -EINVAL. */
int64_t ddio_file_disk(const struct ddio_file *file, uint32_t i);
int ddio_set_size(struct ddio_file *file, uint64_t size);
/* Everything written to the file by anybody before this call is durable after it. */
int ddio_sync(struct ddio_file *file);
/* Write back and forget what the I/O processors have cached of it: for measurements. */
int ddio_drop_cache(struct ddio_file *file);

/* Calls @fn for every file of a directory (NULL: the root) in order of names; a value other than 0 ends
 * the walk.  Directories come with a slash behind their name and a stat of zeros. */
int ddio_list(struct ddio_session *session, const char *dir,
	      int (*fn)(void *arg, const char *name, const struct ddio_file_stat *st), void *arg);

/* One extent of the placement of a file. */
struct ddio_placement {
	uint32_t disk;
	uint32_t reserved;
	uint64_t block; /* file block */
	uint64_t start; /* byte on the disk */
	uint64_t count; /* blocks: file blocks block, block + ndisks, ... */
};
int ddio_layout(struct ddio_file *file, int (*fn)(void *arg, const struct ddio_placement *p),
		void *arg);

/*
 * Transfers.
 */
enum ddio_method {
	DDIO_METHOD_DEFAULT = 0, /* DDs */
	DDIO_METHOD_TC = 1,	 /* traditional caching: one request a contiguous chunk */
	DDIO_METHOD_2P = 2,	 /* two-phase: conforming distribution, then permutation */
	DDIO_METHOD_DD = 3,	 /* disk-directed, blocks in file order */
	DDIO_METHOD_DDS = 4,	 /* disk-directed with presort */
};

/**
 * struct ddio_report - what a transfer did
 * @struct_size: set by the caller
 * @method: what ran
 * @sorted: 1 if the block lists were sorted by place
 * @bytes_share: bytes of this process's share
 * @bytes_needed: distinct bytes needed by the group (0 for TC and 2P)
 * @disk_read, @disk_written: bytes of disk traffic it caused (all disks)
 * @disk_requests: requests to disks
 * @requests: collective or object requests sent by the whole group (DD) or this process (TC)
 * @messages: messages between this process and I/O processors and other members
 * @elapsed_ns: of the call
 * @wait_join_ns: waiting for the other members at the start
 * @wait_io_ns: waiting for I/O processors
 * @wait_end_ns: waiting for the others at the end
 * @peak_share: disk traffic a second as share of the disks' sustained peak, in thousandths; 0 if
 *	the peak is not known
 * @buffers: most block buffers in use on one disk
 * @iops: I/O processors that took part
 * @bytes_scattered: of @bytes_share, moved straight between the disks and the memory by I/O
 *	processors on this machine
 */
struct ddio_report {
	size_t struct_size;
	uint32_t method;
	uint32_t sorted;
	uint64_t bytes_share;
	uint64_t bytes_needed;
	uint64_t disk_read, disk_written;
	uint64_t disk_requests;
	uint64_t requests;
	uint64_t messages;
	uint64_t elapsed_ns;
	uint64_t wait_join_ns, wait_io_ns, wait_end_ns;
	uint32_t peak_share;
	uint32_t buffers;
	uint32_t iops;
	uint32_t reserved;
	uint64_t bytes_scattered;
};

/**
 * struct ddio_transfer - a collective or independent transfer
 * @struct_size: sizeof(struct ddio_transfer)
 * @part: what this process wants of the file
 * @memory: where it lies in @buf; NULL: packed
 * @buf: the data; stays the library's until the transfer is over.  May be NULL for an empty share.
 * @method: enum ddio_method, the same on every member
 * @flags: DDIO_XFER_*
 * @outstanding: TC and 2P: requests to each disk that wait for an answer at a time; 0: 4, as in
 *	TOCS 1997 (TR94-226 has 1); at most 64
 * @reserved: must be 0
 * @report: if not NULL, filled at the end
 */
struct ddio_transfer {
	size_t struct_size;
	const struct ddio_part *part;
	const struct ddio_memory *memory;
	void *buf;
	uint32_t method;
	uint32_t flags;
	uint32_t outstanding;
	uint32_t reserved;
	struct ddio_report *report;
};
#define DDIO_XFER_SYNC 0x1u	   /* a write is durable when it ends */
#define DDIO_XFER_ROTATE 0x2u	   /* each disk starts at another place of its list */
#define DDIO_XFER_NO_BATCH 0x4u	   /* Memput and Memget one at a time, as in TR94-226 */
#define DDIO_XFER_SATF 0x8u	   /* reads, DDs: shortest access time first, where disks know it */
#define DDIO_XFER_NO_SCATTER 0x10u /* no I/O processor touches this process's memory by itself */

/*
 * Collective: every member of @group makes the same call, in the same order.  Succeeds on all
 * or fails on all with the same error.  A read beyond the end of the file is -ENODATA.
 */
int ddio_read_all(struct ddio_file *file, struct ddio_group *group, const struct ddio_transfer *t);
int ddio_write_all(struct ddio_file *file, struct ddio_group *group, const struct ddio_transfer *t);
/* Asynchronous: several may be under way; I/O goes on while the caller computes. */
int ddio_start_read_all(struct ddio_file *file, struct ddio_group *group,
			const struct ddio_transfer *t, struct ddio_op **op);
int ddio_start_write_all(struct ddio_file *file, struct ddio_group *group,
			 const struct ddio_transfer *t, struct ddio_op **op);
/* 0: over (then ddio_wait() does not block), -EINPROGRESS: not yet. */
int ddio_test(struct ddio_op *op);
/* Waits for the end, frees @op, returns the transfer's result. */
int ddio_wait(struct ddio_op *op);

/*
 * Independent: by one process.  Contiguous ones take the traditional path; strided and listed ones
 * (ddio_read, ddio_write) are a disk-directed request of a group of one unless @method says TC.
 * Return of pread and pwrite: bytes (fewer only at the end of the file), or a negative errno.
 */
ssize_t ddio_pread(struct ddio_file *file, void *buf, size_t len, uint64_t offset);
ssize_t ddio_pwrite(struct ddio_file *file, const void *buf, size_t len, uint64_t offset);
int ddio_read(struct ddio_file *file, const struct ddio_transfer *t);
int ddio_write(struct ddio_file *file, const struct ddio_transfer *t);
int ddio_start_read(struct ddio_file *file, const struct ddio_transfer *t, struct ddio_op **op);
int ddio_start_write(struct ddio_file *file, const struct ddio_transfer *t, struct ddio_op **op);

/*
 * Distributions, for callers.
 */

/* Bytes of the share of @rank of @nprocs; -EINVAL with text in @why (may be NULL). */
int ddio_array_share(const struct ddio_array *array, uint32_t nprocs, uint32_t rank,
		     uint64_t *bytes, const char **why);
/* Elements of the share of @rank in each dimension. */
int ddio_array_local(const struct ddio_array *array, uint32_t nprocs, uint32_t rank,
		     uint64_t count[DDIO_MAX_DIMS]);

/*
 * The cluster's state, for tools.
 */
struct ddio_disk_state {
	char name[256], node[256], engine[32];
	uint32_t disk, reactor;
	int error; /* 0, or why its node did not answer */
	uint64_t size, free, peak, objects;
	uint64_t scale_ppm; /* emulated time: real time per time of the disk, in millionths */
	uint64_t reads, writes, read_bytes, write_bytes, errors;
	uint64_t cache_hits, cache_misses, prefetches, prefetch_used, prefetch_wasted;
	uint64_t cache_blocks, cache_dirty, cache_bytes;
	uint64_t queue, max_queue;
	uint64_t seeks, seek_ns, rotation_ns, buffer_hits, bus_wait_ns, busy_ns;
	uint64_t buffers, max_buffers;
};
struct ddio_node_state {
	char name[256], address[128];
	int error;
	uint32_t nreactors, ndisks;
	uint64_t uptime_ns, collectives, requests, connections, refused, memory_bytes;
};
int ddio_nodes(struct ddio_session *session, int (*fn)(void *arg, const struct ddio_node_state *st),
	       void *arg);
int ddio_disks(struct ddio_session *session, int (*fn)(void *arg, const struct ddio_disk_state *st),
	       void *arg);

struct ddio_check_result {
	uint64_t files, objects, extents, blocks, free_bytes;
	uint64_t problems, repaired;
	uint64_t orphans;  /* objects of files that are being removed, or of no file */
	uint64_t nameless; /* files without a name: open somewhere, or being removed */
};
/* Checks the name space, every disk's records, and each against the other; @fn gets a line for
 * every problem.  With @repair mends what can be mended. */
int ddio_check(struct ddio_session *session, int repair, void (*fn)(void *arg, const char *line),
	       void *arg, struct ddio_check_result *result);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* DDIO_H */
