/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cluster as a file system, inside.  A struct ddio_fs has several reactors, each with a session of
 * its own.  Reactor 0 talks to the name server and has the table of inodes.  A file's data are moved by
 * one reactor, and what is known of the data (size, writes that the name server has not been told of)
 * belongs to that reactor.  A call posts its job to one of the two, and what must go on elsewhere is
 * posted there; so there are no locks.
 *
 * core/	what every call is made of: jobs, errors, retries
 * names/	requests to the name server
 * disks/	requests to the disks of a file
 * inode/	inodes in use: the table, opening, size, locks, removing objects
 * data/	what moves or discards a file's bytes
 * fs/		the entrances, and the beginning and end of it all
 *
 * Each room sees those above it in this list, and disks/ does not see names/.
 */
#ifndef DDIO_CP_FS_CORE_H
#define DDIO_CP_FS_CORE_H

#include <stdatomic.h>
#include <ddio/fs.h>
#include "cp/node/session.h"

struct fsc_ahead;
struct fsc_beginning;
struct fsc_dirattrs;
struct fsc_inodes;
struct fsc_names;
struct fsc_near;
struct fsc_removals;
struct fsc_serve;

/**
 * struct fsc_reactor - a session, and what the file system does on its reactor
 * @retries: struct fsc_retry.link: requests that will be made again
 * @lazy: struct fsc_inode.lazy_link: inodes with writes that the name server will be told of later
 * @used: inodes in use whose data it moves; reactor 0
 * @down: for each node, since when it has not answered, by @awake; 0: it answers
 * @ndown: how many nodes do not answer
 * @awake: how long it has looked, as of @looked; @look: notes that it does, while any node is down
 * @poke: what waits to be told is told at once; @poking: it is under way
 */
struct fsc_reactor {
	struct ddio_fs *fs;
	struct ddio_session *session;
	struct ddio_env *env;
	uint32_t index, used;
	struct ddio_list retries;
	struct ddio_list lazy;
	uint64_t *down;
	uint32_t ndown;
	uint64_t awake, looked;
	struct ddio_timer look;
	struct ddio_post post, poke;
	atomic_bool poking;
};

/**
 * struct ddio_fs - a file system in use
 * @hard: requests are made again until they are answered
 * @prompt: the name server is told of every write before that is answered
 * @user: it is a user's, whom the cluster tells from root: it has one session, which is told by grants what it may do,
 *	and asks for nothing that only root may
 * @leasing: the name server grants leases
 * @epoch: counts how often the name server was lost
 * @heard: when the latest request was sent that it has answered
 * @names_timeout_ns: after how long the name server gives up a lease that is not returned, or a mount
 * @tells: FS_WROTE that are under way
 * @meta: counts requests, and their ends, that may change an inode's attributes other than by writing
 * @names_lost, @data_doubted: see struct ddio_fs_opts
 * @mute: the name server has not answered for a third of the timeout
 * @closing: the end has begun: no request is made again
 * @names: the way to the name server; reactor 0
 * @dirattrs: attributes of directories that were changed here lately; reactor 0
 * @ahead: names looked up ahead; reactor 0
 * @inodes: those in use; reactor 0
 * @removals: objects being removed; reactor 0
 * @near, @nnear: disks that may be on this machine, by their numbers in the cluster; none: nothing is near
 * @serve: other programs' requests that are taken on reactor 0; @serving: there are such
 * @files: open files, which end with the file system; reactor 0
 * @holds: jobs under way, and one for the file system itself
 * @lock_waits: struct lock_job.waiting: requests for locks that wait for their turn; reactor 0
 * @lock_id: numbers requests for locks
 * @reader: numbers open files for read-ahead
 * @beginning: what ddio_fsc_new() waits for
 * @gone, @gone_post: @holds has come to 0
 */
struct ddio_fs {
	uint32_t nreactors;
	bool hard, prompt, serving, user;
	atomic_bool closing, leasing, mute;
	atomic_uint epoch, tells;
	_Atomic uint64_t heard, names_timeout_ns, meta;
	uint64_t timeout_ns;
	struct fsc_reactor *reactor;
	void (*log)(void *arg, int level, const char *line);
	void *log_arg;
	void (*names_lost)(void *arg);
	void *names_lost_arg;
	void (*data_doubted)(void *arg, uint64_t ino);
	struct fsc_names *names;
	struct fsc_dirattrs *dirattrs;
	struct fsc_ahead *ahead;
	struct fsc_inodes *inodes;
	struct fsc_removals *removals;
	struct fsc_near *near;
	uint32_t nnear;
	struct fsc_serve *serve;
	struct ddio_list files;
	_Atomic uint64_t holds;
	struct ddio_list lock_waits;
	_Atomic uint64_t lock_id, reader;
	struct fsc_beginning *beginning;
	struct ddio_post gone_post;
	struct ddio_gate gone;
};

/* Keeps the file system until fsc_unhold(). */
void fsc_hold(struct ddio_fs *fs);
/* The last one opens @fs->gone. */
void fsc_unhold(struct ddio_fs *fs);
bool fsc_closing(const struct ddio_fs *fs);
/* Writes a line to the operator's log, if there is one. */
void fsc_log(struct ddio_fs *fs, enum ddio_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* DDIO_CP_FS_CORE_H */
