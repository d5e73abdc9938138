/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libddio: disk-directed I/O for parallel programs.
 *
 * Return values: 0 or a negative errno unless said otherwise;
 * ddio_last_error() says in one line what went wrong, naming node, disk, file
 * and offset.  Sizes and offsets are bytes, 64 bits wide, everywhere.
 *
 * Threads: several threads may use a session at the same time, but a group or
 * an operation only one of them at a time, since a group's calls have an order.
 * So threads that make collective requests at the same time do it in groups of
 * their own, of which a session forms one after the other (-EBUSY); splits may
 * come at any time.  A file may be used by all threads in all groups; it is
 * closed, and the session ended, when no thread uses it any more.  Each process
 * or thread that takes part in a group as a member has a session of its own.
 *
 * Environment: DDIO_CONF names the configuration where the program does not.
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
struct ddio_group_counter;
struct ddio_file;
struct ddio_op;

#define DDIO_VERSION_MAJOR 0
#define DDIO_VERSION_MINOR 1

/**
 * ddio_version - the version of the library in use
 *
 * Return: text such as "0.2.0"; static, never NULL.
 */
const char *ddio_version(void);

/**
 * struct ddio_connect_opts - how to reach a cluster
 * @struct_size: sizeof(struct ddio_connect_opts), so that it can grow
 * @flags: must be 0
 * @conf: path of the cluster's configuration; NULL: $DDIO_CONF, else as ddio.conf(5) says
 * @timeout_ms: milliseconds without any progress after which a call fails; 0: the configuration's
 */
struct ddio_connect_opts {
	size_t struct_size;
	uint32_t flags;
	uint32_t timeout_ms;
	const char *conf;
};

/**
 * ddio_connect - begins a session with a cluster
 * @opts: NULL for the defaults
 * @session: receives the session, which ddio_disconnect() ends
 *
 * Reads the configuration and the key and starts the session's progress thread.  Connections to I/O
 * processors are made when they are first needed, so a cluster that is not running is noticed by the
 * first request.
 *
 * Return: 0; -EINVAL: the configuration, the key or @opts is invalid; -EACCES: others may read the
 * key file; -ENOENT: no such configuration or key file; -ENOMEM.
 */
int ddio_connect(const struct ddio_connect_opts *opts, struct ddio_session **session);

/**
 * ddio_disconnect - ends a session
 * @session: may be NULL
 *
 * Cancels what is under way (-ECANCELED) and frees everything made from the session that is still
 * there: groups, files, operations.  Buffers of unfinished transfers are the caller's again on return.
 * Does nothing if it is called by a signal handler that interrupts a call of the session which its thread carries out itself.
 */
void ddio_disconnect(struct ddio_session *session);

/**
 * ddio_last_error - describes the last failure in one line
 * @session: whose last failed call is meant; NULL: this thread's last ddio_connect()
 *
 * The last call of the calling thread that failed is meant, also after others that succeeded, as with errno; a thread's texts of its
 * last four sessions are kept.
 *
 * Return: text that names node, disk, file and byte where they are known; "" if nothing has failed; valid until the thread's
 * next call on a session.
 */
const char *ddio_last_error(const struct ddio_session *session);

/*
 * Groups: the processes that make collective requests together.
 */

/**
 * ddio_group_create - forms a group whose members meet at an address
 * @session: this member's own session
 * @rank: of this process, 0 to @size - 1; each rank occurs once
 * @size: number of members
 * @address: "host:port" at which rank 0 listens and to which the others connect, each trying
 *	until the session's timeout
 * @group: receives the group; ddio_group_free() frees it
 *
 * Members prove to each other that they know the cluster's key; without a key they can meet on a
 * loopback address only.  Where the cluster knows users, all must be the same one's.
 *
 * Return: 0; -EINVAL: two members have the same rank, or they disagree about @size; -EACCES: not a
 * loopback address, and there is no key, or rank 0 is another user's; -EBUSY: another thread is forming a group by
 * address; -EADDRINUSE, -EADDRNOTAVAIL: rank 0 cannot listen there;
 * -EKEYREJECTED: a member has another key; -ETIMEDOUT: members are missing (the text names them).
 */
int ddio_group_create(struct ddio_session *session, uint32_t rank, uint32_t size,
		      const char *address, struct ddio_group **group);

/**
 * typedef ddio_bcast_fn - broadcasts over an existing communicator (MPI_Bcast, PMIx, a pipe)
 * @arg: as given to ddio_group_create_bcast()
 * @buf: at the root the bytes to send, elsewhere where to put them
 * @len: bytes at @buf, the same on every member
 * @root: rank that sends; always 0
 *
 * Return: 0 or a negative errno.
 */
typedef int (*ddio_bcast_fn)(void *arg, void *buf, size_t len, uint32_t root);

/**
 * ddio_group_create_bcast - forms a group whose members meet through a broadcast
 * @session: this member's own session
 * @rank: of this process, 0 to @size - 1; each rank occurs once
 * @size: number of members
 * @bcast: called the same number of times on every member
 * @arg: for @bcast
 * @listen: this process's address for the others, "host" or "host:port"; NULL: the one that its I/O
 *	processors see
 * @group: receives the group; ddio_group_free() frees it
 *
 * Threads may form several groups of a session at a time.
 *
 * Return: 0, an error of ddio_group_create(), or what @bcast returned.
 */
int ddio_group_create_bcast(struct ddio_session *session, uint32_t rank, uint32_t size,
			    ddio_bcast_fn bcast, void *arg, const char *listen,
			    struct ddio_group **group);

/**
 * ddio_group_split - divides a group; collective
 * @group: the group to divide, which stays as it is
 * @color: members with the same color form a new group; negative: this member joins none
 * @key: order of the ranks in the new group; equal keys keep the order of @group
 * @sub: receives the new group, NULL for a negative @color
 *
 * Return: 0 or a negative errno, the same on every member.
 */
int ddio_group_split(struct ddio_group *group, int color, int key, struct ddio_group **sub);

/**
 * ddio_group_barrier - waits until every member has called it; collective
 * @group: the group
 *
 * Return: 0; -EBADE: a member did something else; -ETIMEDOUT: a member did not come within the
 * session's timeout; -ECONNABORTED: a member has gone, and the group is of no further use.
 */
int ddio_group_barrier(struct ddio_group *group);

/**
 * ddio_group_check - tells whether a member is known to be lost
 * @group: the group
 *
 * Asks nobody, and costs a look: for programs that wait for each other by other means, such as an MPI, which may wait
 * for ever for a process that has died.
 *
 * Return: 0; -ECONNABORTED: a member has gone, or another error that the group's calls return from now on.
 */
int ddio_group_check(const struct ddio_group *group);

/**
 * ddio_group_awaited - tells whether others have waited for this member since long
 * @group: a patient group
 *
 * Asks nobody, and costs a look: for programs that wait for each other by other means as well, and may do so in different
 * places.  Others have waited when one of them has been in a collective call that this member has not made for as long as the
 * session's timeout.
 *
 * Return: 1: they have; 0; or -EINVAL.
 */
int ddio_group_awaited(const struct ddio_group *group);

/**
 * ddio_file_awaited - tells whether others have waited for this member since long in the order of a file
 * @file: one that a patient group has opened
 *
 * As ddio_group_awaited(), of collectives with DDIO_XFER_FILE_ORDER.
 *
 * Return: 1: they have; 0, also of a file without an order; or -EINVAL.
 */
int ddio_file_awaited(const struct ddio_file *file);

/**
 * ddio_file_has_order - tells whether collectives with DDIO_XFER_FILE_ORDER are in an order of the file's own
 * @file: one that a group has opened
 *
 * Asks nobody, and says the same on all members, for as long as the file is open.
 *
 * Return: 1: they are; 0: they are in the group's, since a member is of a release that knows no other, or since the group has opened so
 * many files; or -EINVAL.
 */
int ddio_file_has_order(const struct ddio_file *file);

/**
 * ddio_group_abort - gives a group up
 * @group: the group, which is of no further use
 * @why: for the text of the errors of all members, or NULL
 *
 * Not collective: calls of the group that are under way, and all later ones, fail with -ECONNABORTED on every member.
 *
 * Return: 0 or a negative errno.
 */
int ddio_group_abort(struct ddio_group *group, const char *why);

/**
 * ddio_group_set_patient - makes a group wait for late members; collective
 * @group: the group, whose later calls never fail with -ETIMEDOUT because a member comes late
 *
 * They wait for as long as the members live.  One that dies is noticed at once, one whose machine falls
 * silent after twice the session's timeout at most and a little more, also while others are late; all others
 * get -ECONNABORTED then.  Groups that are split from it later are patient, too.  It cannot be taken back.
 *
 * Return: as ddio_group_barrier().
 */
int ddio_group_set_patient(struct ddio_group *group);

/**
 * ddio_group_rank - this process's rank
 * @group: the group
 *
 * Return: 0 to ddio_group_size() - 1.
 */
uint32_t ddio_group_rank(const struct ddio_group *group);

/**
 * ddio_group_size - the number of members
 * @group: the group
 *
 * Return: at least 1.
 */
uint32_t ddio_group_size(const struct ddio_group *group);

/**
 * ddio_group_free - leaves a group and frees it
 * @group: may be NULL
 *
 * Cancels the group's operations that are under way (-ECANCELED).  Not collective, but whatever the
 * others do in the group afterwards fails.
 */
void ddio_group_free(struct ddio_group *group);

/*
 * Counters: a number that the members of a group share.
 */

/**
 * ddio_counter_create - makes a counter; collective
 * @group: the group whose members share it
 * @initial: its value at first, the same on every member
 * @counter: receives this member's handle; ddio_counter_free() frees it, at the latest ddio_group_free() does
 *
 * The value is kept by rank 0's progress thread, which serves the others also while its program computes.
 *
 * Return: as ddio_group_barrier(); -EBADE also if members begin with different values.
 */
int ddio_counter_create(struct ddio_group *group, int64_t initial,
			struct ddio_group_counter **counter);

/**
 * ddio_counter_add - adds to a counter and tells what it was before
 * @counter: the counter
 * @delta: what to add; may be negative
 * @before: receives the value before; may be NULL
 *
 * Not collective: any member at any time, also several of its threads at once.  Each call takes effect once, and
 * those of all members one after the other.
 *
 * Return: 0; -EOVERFLOW: the sum has more than 64 bits, and the counter stays what it is; -ESTALE: rank 0 has freed
 * the counter; -ECONNABORTED: a member has gone, and with it the group: whether something was added is unknown.
 */
int ddio_counter_add(struct ddio_group_counter *counter, int64_t delta, int64_t *before);

/**
 * ddio_counter_get - tells a counter's value
 * @counter: the counter
 * @value: receives it
 *
 * Not collective.
 *
 * Return: as ddio_counter_add().
 */
int ddio_counter_get(struct ddio_group_counter *counter, int64_t *value);

/**
 * ddio_counter_set - gives a counter another value
 * @counter: the counter
 * @value: the new value
 *
 * Not collective: calls of others come before it or after it, so members that must not count from the old value wait
 * for one another.
 *
 * Return: as ddio_counter_add().
 */
int ddio_counter_set(struct ddio_group_counter *counter, int64_t value);

/**
 * ddio_counter_free - frees this member's handle of a counter
 * @counter: may be NULL
 *
 * Not collective, but as soon as rank 0 has freed its handle the others' calls fail with -ESTALE: if they still count,
 * a barrier belongs before it.
 */
void ddio_counter_free(struct ddio_group_counter *counter);

/*
 * Files.
 */
#define DDIO_MAX_BLOCK_SIZE (16u << 20)

/**
 * enum ddio_file_layout - where the blocks of a file lie on a disk
 * @DDIO_CONTIGUOUS: one extent per disk where space allows
 * @DDIO_RANDOM_BLOCKS: each block at a random place, as in the papers' experiments
 * @DDIO_RANDOM_TRACKS: each track at a random place, as in the papers' experiments
 */
enum ddio_file_layout {
	DDIO_CONTIGUOUS = 0,
	DDIO_RANDOM_BLOCKS = 1,
	DDIO_RANDOM_TRACKS = 2,
};

/**
 * struct ddio_striping - how a new file is spread
 * @struct_size: sizeof(struct ddio_striping)
 * @block_size: bytes, a power of two from 512 to DDIO_MAX_BLOCK_SIZE; 0: the cluster's default
 * @layout: enum ddio_file_layout
 * @seed: of the random layouts; 0: chosen by the cluster
 * @ndisks: entries of @disks; 0: all disks of the cluster
 * @reserved: must be 0
 * @disks: numbers of disks in stripe order; 0 is the first disk of the configuration
 * @reserve: bytes to allocate at once; 0: none
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

/**
 * ddio_open - opens a file
 * @session: the session
 * @name: path from the root of the cluster's name space, "a/b/c"; its directories must exist
 * @flags: DDIO_CREATE, DDIO_EXCL, DDIO_TRUNCATE
 * @striping: how a new file is spread; NULL: the cluster's block size and all its disks
 * @file: receives the file; ddio_close() closes it
 *
 * Return: 0; -ENOENT: no such file or directory; -EEXIST: it exists and DDIO_EXCL was given;
 * -EBUSY: a file of that name is being removed; -EINVAL: name, flags or striping are invalid;
 * -ENOSPC: no room for @striping->reserve; -ESTALE: the file uses disks that the configuration
 * does not have; or an error of the connection (libddio(7)).
 */
int ddio_open(struct ddio_session *session, const char *name, unsigned int flags,
	      const struct ddio_striping *striping, struct ddio_file **file);
/**
 * ddio_open_all - opens a file on every member; collective
 * @group: the group
 * @name: as for ddio_open(); the same on every member, like @flags and @striping
 * @flags: as for ddio_open()
 * @striping: as for ddio_open()
 * @file: receives the file
 *
 * Rank 0 opens; every member gets the same file or the same error.
 *
 * Where the cluster knows users every member must be allowed to reach the file: if one is not, all get its error.
 *
 * Return: as ddio_open() and ddio_group_barrier().
 */
int ddio_open_all(struct ddio_group *group, const char *name, unsigned int flags,
		  const struct ddio_striping *striping, struct ddio_file **file);

/**
 * struct ddio_open_opts - how ddio_open_with() opens a file
 * @struct_size: sizeof(struct ddio_open_opts), so that it can grow
 * @flags: as for ddio_open()
 * @mode: permissions of a new file, 0001 to 0777; 0: 0644.  No umask applies.
 * @id: number of the file, as in struct ddio_file_stat, where there is no name, or with @dir; else 0
 * @striping: as for ddio_open()
 * @dir: number of the directory in which the file @id has the name that is given; else 0
 */
struct ddio_open_opts {
	size_t struct_size;
	uint32_t flags;
	uint32_t mode;
	uint64_t id;
	const struct ddio_striping *striping;
	uint64_t dir;
};

/**
 * ddio_open_with - opens a file by its name or its number
 * @session: the session
 * @name: as for ddio_open(); NULL: @opts->id counts, and DDIO_CREATE is not allowed
 * @opts: how
 * @file: receives the file; ddio_close() closes it
 *
 * The number of a file below a mount is its inode number (stat(2), st_ino), that of a directory its attribute "ddio.ino"
 * (getxattr(2)).  Where the cluster knows users, a file's number alone is worth nothing to them: they tell by which directory they
 * have come to it, too, @opts->dir, and @name is the file's name there.  Elsewhere these two are not looked at.
 *
 * Return: as ddio_open(); -EISDIR: it is a directory; -ESTALE: the name is another file's by now.
 */
int ddio_open_with(struct ddio_session *session, const char *name,
		   const struct ddio_open_opts *opts, struct ddio_file **file);

/**
 * ddio_open_all_with - opens a file by its name or its number on every member; collective
 * @group: the group
 * @name: as for ddio_open_with(); the same on every member, like @opts
 * @opts: how
 * @file: receives the file
 *
 * Return: as ddio_open_with() and ddio_open_all().
 */
int ddio_open_all_with(struct ddio_group *group, const char *name,
		       const struct ddio_open_opts *opts, struct ddio_file **file);

/**
 * ddio_close - closes a file
 * @file: may be NULL
 *
 * Transfers that are under way go on to their end.  What was locked through @file is given back.
 */
void ddio_close(struct ddio_file *file);

/**
 * ddio_clone - makes a clone of a file
 * @file: the open file
 * @name: of the clone, as for ddio_open(); it must be new
 *
 * The clone has the file's bytes, and is spread as it is.  All blocks are shared on their disks until one of the two files is
 * written, so it takes no space but for records.  It is durable, and so is what it holds of the file.
 *
 * It has one state of the file on all disks: every write that had returned, anywhere, before the call is in it, and of two
 * writes of which the second began after the first had returned not the second alone.  Writes under way may be in it in
 * part; of an atomic one all or nothing is.  What a mount's page cache holds has not been written.  For
 * that others who use the file wait until every disk has shared its blocks, at most half of the configuration's timeout, also if
 * this process stops or dies.
 *
 * The clone belongs to the caller, who may read and write it; others may what they may with the file, but nothing if that has an
 * access control list or other extended attributes, which the clone has not.
 *
 * Return: 0; -EEXIST: the name exists; -ENOSPC: no room for records, or for the last block; -EBUSY: others used the file without a
 * pause, such as a long transfer; -ECANCELED: a disk did not come to its end while the file was held;
 * -ESTALE: the file was removed; or as ddio_open().  After an error there is no clone, unless the
 * connection with the name server was lost at the end: then it is there as a whole, or not.
 */
int ddio_clone(struct ddio_file *file, const char *name);

#define DDIO_SNAP_DIRECTORY \
	".snaps" /* from the root: snapshots are .snaps/NUMBER OF THE FILE/NAME */

/**
 * ddio_snap - makes a snapshot of a file
 * @file: the open file
 * @name: of the snapshot, 1 to 255 bytes without a slash; it must be new among those of the file
 *
 * A snapshot is a clone, see ddio_clone(), that belongs to the file's owner, and has the file's permissions but for those to write.
 * It is a file in the directory DDIO_SNAP_DIRECTORY/NUMBER, where NUMBER is that of the file (struct ddio_file_stat.id), in
 * decimal.  That directory is the owner's, and nobody else's to look into.  So ddio_list() lists a file's snapshots, ddio_open()
 * reads them, ddio_remove() removes them, and ddio_clone() of one makes a file that can be written again.  They stay
 * when the file is renamed, removed or written.
 *
 * Where the cluster knows users, only the owner and root may make one.
 *
 * Return: as ddio_clone(); -EPERM: the file is another user's.
 */
int ddio_snap(struct ddio_file *file, const char *name);

/**
 * ddio_remove - removes a file, or an empty directory
 * @session: the session
 * @name: as for ddio_open()
 *
 * Gives back the file's space.  If the call is interrupted the name is gone already, and "ddio fsck
 * --repair" frees the rest.
 *
 * Return: 0; -ENOENT; -ENOTEMPTY: a directory that is not empty; or another negative errno.
 */
int ddio_remove(struct ddio_session *session, const char *name);

/**
 * ddio_mkdir - makes a directory
 * @session: the session
 * @name: as for ddio_open()
 * @mode: permissions, 0 to 0777; no umask applies
 *
 * Return: 0; -EEXIST; -ENOENT: the directory above does not exist; or another negative errno.
 */
int ddio_mkdir(struct ddio_session *session, const char *name, unsigned int mode);

/**
 * struct ddio_file_stat - what is known of a file
 * @id: number of the file, never given out twice
 * @size: bytes
 * @ctime_ns: time of the last change of the file's attributes, nanoseconds since 1970
 * @mtime_ns: time of the last change of its data, nanoseconds since 1970
 * @block_size: bytes of a file block
 * @layout: enum ddio_file_layout
 * @seed: of the random layouts
 * @ndisks: disks that the file is spread over
 * @reserved: 0
 */
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

/**
 * ddio_stat - looks up a file by name
 * @session: the session
 * @name: as for ddio_open()
 * @st: result
 *
 * Return: 0, -ENOENT, or another negative errno.
 */
int ddio_stat(struct ddio_session *session, const char *name, struct ddio_file_stat *st);

/**
 * ddio_fstat - looks at an open file
 * @file: the file
 * @st: result
 *
 * Asks for the size, which others may have changed.
 *
 * Return: 0 or a negative errno.
 */
int ddio_fstat(struct ddio_file *file, struct ddio_file_stat *st);

/**
 * ddio_file_disk - a disk of the file's stripe
 * @file: the file
 * @i: position in the stripe, from 0
 *
 * Return: the disk's number in the configuration, or -EINVAL if @i is out of range.
 */
int64_t ddio_file_disk(const struct ddio_file *file, uint32_t i);

/**
 * ddio_set_size - truncates or extends a file
 * @file: the file
 * @size: bytes; what is added reads as zeros
 *
 * Return: 0; -EFBIG: a file has at most 2^62 bytes; or another negative errno.
 */
int ddio_set_size(struct ddio_file *file, uint64_t size);

/**
 * ddio_allocate - gives space to a range of a file in advance
 * @file: the file, which grows to @offset + @len if it is shorter
 * @offset: first byte
 * @len: bytes
 *
 * What was not written there reads as zeros; later writes to the range need no space.
 *
 * Return: 0; -ENOSPC: a disk is full; -EFBIG: a file has at most 2^62 bytes; or another negative errno.
 */
int ddio_allocate(struct ddio_file *file, uint64_t offset, uint64_t len);

/**
 * ddio_sync - makes a file durable
 * @file: the file
 *
 * On return everything that anybody wrote to the file before the call is on the disks, and its size
 * is recorded.
 *
 * Return: 0; -EIO: an I/O processor has lost what was written; or another negative errno.
 */
int ddio_sync(struct ddio_file *file);

/**
 * ddio_drop_cache - empties the I/O processors' caches of a file
 * @file: the file
 *
 * Writes back what is dirty and forgets the rest, so that a measurement sees the disks.
 *
 * Return: 0 or a negative errno.
 */
int ddio_drop_cache(struct ddio_file *file);

/**
 * ddio_list - lists a directory
 * @session: the session
 * @dir: path of the directory; NULL: the root
 * @fn: called for each entry in order of names; a value other than 0 ends the walk.  A directory's
 *	name ends with a slash, and its stat is all zeros.
 * @arg: for @fn
 *
 * Return: 0, what @fn returned, or a negative errno.
 */
int ddio_list(struct ddio_session *session, const char *dir,
	      int (*fn)(void *arg, const char *name, const struct ddio_file_stat *st), void *arg);

/**
 * struct ddio_placement - one extent of a file
 * @disk: number of the disk in the configuration
 * @reserved: 0
 * @block: first block of the file in this extent
 * @start: byte of the disk at which that block lies
 * @count: blocks in the extent: @block, @block + n, @block + 2n, ... of a file on n disks, one behind
 *	the other
 */
struct ddio_placement {
	uint32_t disk;
	uint32_t reserved;
	uint64_t block;
	uint64_t start;
	uint64_t count;
};

/**
 * ddio_layout - tells where a file lies
 * @file: the file
 * @fn: called for each extent, disk by disk; a value other than 0 ends the walk
 * @arg: for @fn
 *
 * Return: 0, what @fn returned, or a negative errno.
 */
int ddio_layout(struct ddio_file *file, int (*fn)(void *arg, const struct ddio_placement *p),
		void *arg);

/*
 * Transfers.
 */

/**
 * enum ddio_method - how a transfer is made (TOCS 1997, sections 3 and 4)
 * @DDIO_METHOD_DEFAULT: small if it is one, else DDs
 * @DDIO_METHOD_TC: traditional caching: one request for each contiguous chunk
 * @DDIO_METHOD_2P: two-phase: the conforming distribution, then a permutation
 * @DDIO_METHOD_DD: disk-directed, blocks in file order
 * @DDIO_METHOD_DDS: disk-directed with presort: blocks in the order of their places
 * @DDIO_METHOD_SMALL: rank 0 reads or writes for all, and the data travel with the members' agreement.  Chosen by
 *	DDIO_METHOD_DEFAULT for arrays of which all shares together have at most 64 KB, in groups of at most 1024
 *	members; there also for other parts that lie within 64 KB of the file, with DDIO_XFER_OVERLAP, too, and, when written,
 *	without holes, if no member writes more than 64 KB / members; and for a range without holes that one process transfers alone, without flags but DDIO_XFER_SHORT and DDIO_XFER_NO_SCATTER; found in reports, and cannot be asked for
 */
enum ddio_method {
	DDIO_METHOD_DEFAULT = 0,
	DDIO_METHOD_TC = 1,
	DDIO_METHOD_2P = 2,
	DDIO_METHOD_DD = 3,
	DDIO_METHOD_DDS = 4,
	DDIO_METHOD_SMALL = 5,
};

/**
 * struct ddio_report - what a transfer did
 * @struct_size: set by the caller
 * @method: what ran
 * @sorted: 1 if the block lists were sorted by place
 * @bytes_share: bytes of this process's share
 * @bytes_needed: distinct bytes that the group needs (0 for TC, 2P and small)
 * @disk_read: bytes read from all disks for it
 * @disk_written: bytes written to all disks for it
 * @disk_requests: requests to disks
 * @requests: requests sent to I/O processors by the whole group (DD), or by this process (TC, small)
 * @messages: messages between this process and I/O processors and other members
 * @elapsed_ns: nanoseconds that the call took
 * @wait_join_ns: of these, waiting for the other members at the start
 * @wait_io_ns: of these, waiting for I/O processors
 * @wait_end_ns: of these, waiting for the other members at the end
 * @peak_share: disk traffic per second in thousandths of the disks' sustained peak; 0 if that is
 *	unknown
 * @buffers: most block buffers in use at once on one disk
 * @iops: I/O processors that took part
 * @reserved: 0
 * @bytes_scattered: of @bytes_share, moved straight between the disks and the memory by I/O
 *	processors on this machine
 * @bytes_moved: of @bytes_share, read or written: less than all of it for a read that the end of the
 *	file has cut (DDIO_XFER_SHORT) and for bytes that a lower rank writes; 0 after a failure
 * @bytes_shared: of @bytes_share, copied by this process from or to buffers that it shares with I/O
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
	uint64_t bytes_moved;
	uint64_t bytes_shared;
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
#define DDIO_XFER_SHORT 0x20u	   /* a read ends where the file does; see report->bytes_moved */
#define DDIO_XFER_NO_SHARE 0x80u   /* no buffers are shared on one machine: data go by messages */
#define DDIO_XFER_IN_TURN 0x100u   /* TC: one contiguous chunk after the other */
#define DDIO_XFER_OVERLAP 0x40u	   /* bytes may be named more than once; see ddio_write_all() */
#define DDIO_XFER_ATOMIC 0x200u	   /* DD, DDs: all of a write is in the file, or nothing; durable */
#define DDIO_XFER_FILE_ORDER 0x400u /* in the order of its file, not in the group's */

#define DDIO_EPOCH_FILES 64u /* files that an epoch may have; see ddio_epoch_begin() */

/*
 * Collective transfers: every member of the group makes the same calls in the same order.  Those with DDIO_XFER_FILE_ORDER are in an
 * order of their file, and members may begin those of two files, or one of these and what is in the group's order, in different
 * orders.  The group must have opened the file (ddio_open_all()), or the call fails on this member alone with -EINVAL.  Either all
 * members give the flag or none.  In a group one of whose members is of a release that does not know the flag, and after 2^20 - 1 opens
 * of a group, a file has the group's order with the flag, too: ddio_file_has_order().
 */

/**
 * ddio_read_all - reads each member's part of a file into its memory; collective
 * @file: the file
 * @group: the group
 * @t: this member's part, and how it is transferred
 *
 * Disk-directed I/O as in Kotz, "Disk-directed I/O for MIMD Multiprocessors" (TOCS 1997, section 3),
 * unless @t->method says otherwise.  The call succeeds on all members or fails on all with the same
 * error.
 *
 * With DDIO_XFER_SHORT the bytes at and beyond the end of the file are left out, and their places in memory
 * left alone, on every member by the same size of the file: @t->report->bytes_moved says what this member got.
 *
 * Return: 0; -EBADE: the members disagree about the file, the method, the flags or the description;
 * -EINVAL: a description is invalid; -ENODATA: the file ends before the part does, and DDIO_XFER_SHORT
 * was not given; or an error of disks, nodes or members (libddio(7)).
 */
int ddio_read_all(struct ddio_file *file, struct ddio_group *group, const struct ddio_transfer *t);

/**
 * ddio_write_all - writes each member's part of a file from its memory; collective
 * @file: the file, which grows as needed
 * @group: the group
 * @t: this member's part, and how it is transferred
 *
 * Of a replicated array (DDIO_ALL) the lowest rank's copy is written.  With DDIO_XFER_OVERLAP the same holds for
 * every byte: members may write the same one, and it is the lowest rank's in the end, as if the members had
 * written one after the other, rank 0 last.  Of a byte that one description names more than once the first counts;
 * a read puts it wherever it is named.  Such descriptions cost time and memory for each of their pieces, of which
 * there may be 2^24.  After a failure the bytes that
 * were to be written are undefined; all others are what they were.
 *
 * With DDIO_XFER_ATOMIC, whoever dies and whatever loses power meanwhile, whoever reads the file later finds all that was to be
 * written, if the call has succeeded, or else all of it or nothing.  Until that is decided others who want the file wait.  The
 * disks need space for what was there and for what is written.
 *
 * Return: as ddio_read_all(), and -EBADSLT: two members write the same byte without DDIO_XFER_OVERLAP; -ENOSPC: a disk is full;
 * -EBUSY: another atomic write of the file is under way; -ECANCELED: an atomic write was given up.
 */
int ddio_write_all(struct ddio_file *file, struct ddio_group *group, const struct ddio_transfer *t);

/**
 * ddio_epoch_begin - from here on atomic writes of the group are decided together; collective
 * @group: the group
 *
 * Every ddio_write_all() of the group with DDIO_XFER_ATOMIC belongs to the epoch until ddio_epoch_commit() or
 * ddio_epoch_abort(): a checkpoint of several files is there as a whole, or it is not.  A write ends when it is on the disks, but its
 * file is what it was; others who want the file wait until the decision, and calls with its handle that would wait fail with
 * -EBUSY.  With DDIO_XFER_FILE_ORDER one by another handle of the group waits for the decision; without it so do 32 of the group at a
 * time, and any further one fails with -EBUSY.  An epoch has one write of each file, and at most DDIO_EPOCH_FILES files.  If one of
 * them fails, as with -ENOSPC, of which its disks say so before its first byte, the epoch can only be given up.
 *
 * An epoch that is neither committed nor given up ends with the group or the session of rank 0: it is given up.  So it is, of
 * its writes, 16 timeouts of the configuration after the first of them.
 *
 * Return: 0; -EBUSY: the group has begun one, which is given up; or an error of the group.
 */
int ddio_epoch_begin(struct ddio_group *group);

/**
 * ddio_epoch_commit - puts all that was written in the epoch into its files; collective
 * @group: the group
 *
 * The name server decides on all files by one change, which is durable, and the files' sizes with it.  Whoever reads
 * one of them when the call has returned, or has read from one of them what was written, reads the new bytes of every one
 * of them from then on.  No write of the epoch may be under way.
 *
 * The epoch is over, whatever is returned.
 *
 * Return: 0; -ECANCELED: it was given up, by a member, because of a write that failed, or since it took too long: no file has
 * changed; -ESTALE: a file was removed, and no other one has changed; -EINVAL: there is none; -EBUSY: a write is under way, and the epoch is
 * given up; or another error: if the connection with the name server was lost at the end, the text says that all is there, or
 * nothing.
 */
int ddio_epoch_commit(struct ddio_group *group);

/**
 * ddio_epoch_abort - gives an epoch up; collective, with those that call ddio_epoch_commit()
 * @group: the group
 *
 * If one member gives it up, it is for all.  No file has changed, and the space is free again.
 *
 * Return: 0; -EINVAL: there is none; or an error of the group, which changes nothing of this.
 */
int ddio_epoch_abort(struct ddio_group *group);

/**
 * ddio_start_read_all - starts ddio_read_all() and returns at once; collective
 * @file: the file
 * @group: the group, whose members start their operations in the same order
 * @t: as for ddio_read_all(); @t->buf and @t->report stay the library's until ddio_wait() returns
 * @op: receives the operation, which ddio_wait() frees
 *
 * Several operations may be under way.  The progress thread and the I/O processors do the work while
 * the program computes.
 *
 * Return: 0 or a negative errno; errors of the transfer itself come from ddio_wait().
 */
int ddio_start_read_all(struct ddio_file *file, struct ddio_group *group,
			const struct ddio_transfer *t, struct ddio_op **op);

/**
 * ddio_start_write_all - starts ddio_write_all() and returns at once; collective
 * @file: the file
 * @group: the group, whose members start their operations in the same order
 * @t: as for ddio_write_all(); @t->buf and @t->report stay the library's until ddio_wait() returns
 * @op: receives the operation, which ddio_wait() frees
 *
 * Return: 0 or a negative errno; errors of the transfer itself come from ddio_wait().
 */
int ddio_start_write_all(struct ddio_file *file, struct ddio_group *group,
			 const struct ddio_transfer *t, struct ddio_op **op);

/**
 * ddio_test - tells whether an operation is over
 * @op: the operation
 *
 * Return: 0: over, and ddio_wait() would not block; -EINPROGRESS: not yet.
 */
int ddio_test(struct ddio_op *op);

/**
 * ddio_wait - waits for an operation and frees it
 * @op: the operation; every one that was started must be waited for
 *
 * Fills in the report that the transfer asked for.
 *
 * Return: the result of the transfer.
 */
int ddio_wait(struct ddio_op *op);

/*
 * Independent transfers: by one process.
 */

/**
 * ddio_pread - reads contiguous bytes
 * @file: the file
 * @buf: where to
 * @len: bytes
 * @offset: first byte of the file
 *
 * Takes the traditional path, through the I/O processors' caches, from all disks at once.  Holes read
 * as zeros.
 *
 * Return: bytes read, fewer than @len only at the end of the file, or a negative errno.
 */
ssize_t ddio_pread(struct ddio_file *file, void *buf, size_t len, uint64_t offset);

/**
 * ddio_pwrite - writes contiguous bytes
 * @file: the file, which grows as needed
 * @buf: where from
 * @len: bytes
 * @offset: first byte of the file
 *
 * Takes the traditional path; what is written is durable after ddio_sync().  Processes that write
 * different bytes do not disturb each other, even within one block.
 *
 * Return: @len or a negative errno.
 */
ssize_t ddio_pwrite(struct ddio_file *file, const void *buf, size_t len, uint64_t offset);

/**
 * ddio_read - reads a strided, listed or viewed part of a file
 * @file: the file
 * @t: what is transferred, and how
 *
 * A disk-directed request of a group of one, unless @t->method is DDIO_METHOD_TC or the transfer is small
 * (DDIO_METHOD_SMALL): then it goes the way of ddio_pread() and ddio_pwrite().
 *
 * Return: as ddio_read_all().
 */
int ddio_read(struct ddio_file *file, const struct ddio_transfer *t);

/**
 * ddio_write - writes a strided, listed or viewed part of a file
 * @file: the file
 * @t: what is transferred, and how
 *
 * Return: as ddio_write_all().
 */
int ddio_write(struct ddio_file *file, const struct ddio_transfer *t);

/**
 * ddio_start_read - starts ddio_read() and returns at once
 * @file: the file
 * @t: what is transferred, and how
 * @op: receives the operation, which ddio_wait() frees
 *
 * Return: 0 or a negative errno; errors of the transfer itself come from ddio_wait().
 */
int ddio_start_read(struct ddio_file *file, const struct ddio_transfer *t, struct ddio_op **op);

/**
 * ddio_start_write - starts ddio_write() and returns at once
 * @file: the file
 * @t: what is transferred, and how
 * @op: receives the operation, which ddio_wait() frees
 *
 * Return: 0 or a negative errno; errors of the transfer itself come from ddio_wait().
 */
int ddio_start_write(struct ddio_file *file, const struct ddio_transfer *t, struct ddio_op **op);

/*
 * Locks.
 */
#define DDIO_LOCK_SHARED 0x1u	 /* others may have it, too, but nobody exclusively */
#define DDIO_LOCK_EXCLUSIVE 0x2u /* nobody else has it */
#define DDIO_LOCK_TRY 0x4u	 /* -EAGAIN instead of waiting */

/**
 * ddio_lock - locks a range of a file
 * @file: the file
 * @offset: first byte
 * @len: bytes, which may lie beyond the end of the file; 0: all from @offset on
 * @flags: DDIO_LOCK_SHARED or DDIO_LOCK_EXCLUSIVE, and perhaps DDIO_LOCK_TRY
 *
 * Locks are advice: they keep out whoever asks for locks, and nobody's reads and writes.  They are those of
 * fcntl(2): what is locked here is locked for programs that use the file below a mount.
 *
 * A lock belongs to the calling thread, in this session; other threads, sessions and processes wait for it.  The same
 * thread does not wait for itself: of each byte it has one lock, the last.  Only the thread that waits is held up;
 * what the session does for others goes on.  A lock ends with ddio_unlock() by the same thread, ddio_close() of
 * @file, or the session; if the process dies, after the cluster's timeout.
 *
 * Return: 0; -EAGAIN: somebody else has it, and DDIO_LOCK_TRY was given; -EDEADLK: threads would wait for one another
 * for ever; -ENOLCK: too many locks; -EFBIG: a file has at most 2^62 bytes; -EHOSTDOWN: the name server was out of
 * reach for the session's timeout, and whatever the session had locked is lost; or another negative errno.
 */
int ddio_lock(struct ddio_file *file, uint64_t offset, uint64_t len, unsigned int flags);

/**
 * ddio_unlock - gives back what this thread has locked of a range of a file
 * @file: the file
 * @offset: first byte
 * @len: bytes; 0: all from @offset on
 *
 * What lies outside the range stays locked.
 *
 * Return: 0, also if nothing was locked; -ESTALE: some of it had been lost before, and others may have had it;
 * -EHOSTDOWN: the name server cannot be reached, and gives it back after its timeout; or another negative errno.
 */
int ddio_unlock(struct ddio_file *file, uint64_t offset, uint64_t len);

/*
 * Distributions, for callers.
 */

/**
 * ddio_array_share - the size of a process's share of an array
 * @array: the array
 * @nprocs: number of processes
 * @rank: the process, below @nprocs
 * @bytes: result
 * @why: receives a static text if the array is invalid; may be NULL
 *
 * Does no I/O.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int ddio_array_share(const struct ddio_array *array, uint32_t nprocs, uint32_t rank,
		     uint64_t *bytes, const char **why);

/**
 * ddio_array_local - the shape of a process's share of an array
 * @array: the array
 * @nprocs: number of processes
 * @rank: the process, below @nprocs
 * @count: receives the share's elements in each dimension, 0 beyond @array->ndims
 *
 * Return: 0 or -EINVAL.
 */
int ddio_array_local(const struct ddio_array *array, uint32_t nprocs, uint32_t rank,
		     uint64_t count[DDIO_MAX_DIMS]);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#include <ddio/cluster.h>
#include <ddio/query.h>

#endif /* DDIO_H */
