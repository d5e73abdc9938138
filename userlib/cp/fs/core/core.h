/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cluster as a file system, inside.  A struct ddio_fs has several reactors, each with a
 * session of its own.  Reactor 0 talks to the name space and has the table of inodes; the data of an
 * inode are moved by the reactor that its number falls to, and what is known of them (size, what was
 * written and not told) belongs to that one.  A call posts its job to one of the two; what must go
 * on elsewhere is posted there.  So there are no locks.
 */
#ifndef DDIO_CP_FS_PRIV_H
#define DDIO_CP_FS_PRIV_H

#include <ddio/fs.h>
#include "cp/fs/names/dirattr.h"
#include "cp/node/lane.h"

#define FSC_REACTORS_MAX 64u
/* Between attempts, doubled each time. */
#define FSC_BACKOFF_NS 10000000ull
#define FSC_BACKOFF_MAX_NS 1000000000ull
#define FSC_LINGER_STEP_NS 1000000ull
/* What was written inside of the file is told after this, and a size is believed for as long. */
#define FSC_LAZY_NS 1000000000ull
#define FSC_ORPHANS_NS 60000000000ull
/* Of the name space's requests that carry a sequence number: where it is, and its length. */
#define FSC_SEQ_LEN 16

struct fsc_inode;

/**
 * struct fsc_error - how something ended
 * @text: allocated; NULL if there is none
 */
struct fsc_error {
	int err;
	char *text;
};

void fsc_error_set(struct fsc_error *e, int err, const char *text);
void fsc_error_reply(struct fsc_error *e, const struct reply *reply);
/* Keeps the first; the other has no text any more. */
void fsc_error_first(struct fsc_error *e, struct fsc_error *other);
void fsc_error_free(struct fsc_error *e);
/* Nobody answered: made again it may succeed. */
bool fsc_status_again(uint32_t status);

/**
 * struct fsc_reactor - a session, and what the file system does on its reactor
 * @waits: what is made again after a while
 * @lazy: struct fsc_inode.lazy_link: what was written to them is told some time
 * @down: of each node: since when it does not answer; 0: it does
 * @ndown: how many do not
 */
struct fsc_reactor {
	struct ddio_fs *fs;
	struct ddio_session *session;
	struct ddio_env *env;
	uint32_t index;
	struct ddio_list waits;
	struct ddio_list lazy;
	uint64_t *down;
	uint32_t ndown;
	struct ddio_post post;
};

/**
 * struct fsc_wait - a moment's rest before something is done again; zeroed at first
 * @tries: so far
 */
struct fsc_wait {
	struct ddio_timer timer;
	struct ddio_list link;
	struct fsc_reactor *r;
	void (*fn)(struct fsc_wait *wait);
	uint32_t tries;
};

/* @fn is called after a while, or as soon as the file system ends. */
void fsc_wait(struct fsc_reactor *r, struct fsc_wait *wait, void (*fn)(struct fsc_wait *wait));
/* A request to the node has failed for want of an answer.  Return: is it to be made again? */
bool fsc_again(struct fsc_reactor *r, uint32_t node);
void fsc_answered(struct fsc_reactor *r, uint32_t node);

/**
 * struct fsc_ask - a request to the name space, made until it is answered
 * @home: where it was made, and done() is called
 * @opcode, @fixed, @len: the message; @fixed stays the caller's
 * @numbered: it begins with a struct ddio_fs_seq, and is not to be done twice
 * @about: the only directory whose attributes it may change, of those requests that change some; 0: any
 * @sent: when it went out last, by fsc_post's clock
 * @cancelled: nobody waits for it: it is not made again; in done(): and nobody knows if it was done
 * @take: of a success, on reactor 0; an error that it sets counts; may be NULL
 */
struct fsc_ask {
	struct node_request request;
	struct ddio_list link, order;
	struct ddio_post post;
	struct fsc_reactor *home;
	uint16_t opcode;
	bool numbered, cancelled;
	uint64_t seq, about, sent;
	void *fixed;
	size_t len;
	struct fsc_error error;
	void (*take)(struct fsc_ask *ask, const struct reply *reply);
	void (*done)(struct fsc_ask *ask);
};

void fsc_ask_init(struct fsc_ask *ask, struct fsc_reactor *home, uint16_t opcode, void *fixed,
		  size_t len, void (*done)(struct fsc_ask *ask));
/* done() comes once, maybe inside. */
void fsc_ask(struct fsc_ask *ask);
/* Reactor 0.  Ends it with -EINTR if it is not under way (true), else as soon as it would be made again. */
bool fsc_ask_cancel(struct fsc_ask *ask);

enum fsc_names_state { FSC_DETACHED, FSC_ATTACHING, FSC_TELLING, FSC_READY };

/**
 * struct fsc_names - the way to the name space; reactor 0
 * @mount: this mount's number
 * @leaving, @left: the end: the name space is told, and has been
 * @held: requests that wait until it is attached
 * @order: numbered ones without an answer, oldest first
 * @untold: what is being told again and has no answer yet; @untold_lost: and will not have
 * @wait, @waiting: the rest between two attempts to attach
 * @beat: the pulse; @ping: its request
 * @opens: struct fsc_inode.open_link: what the name space believes open
 * @locks: struct fsc_lock.all
 * @waiters: requests for locks that wait for their turn
 * @started: called when it has attached for the first time, or could not
 */
struct fsc_names {
	uint8_t mount[DDIO_GROUP_ID_LEN];
	enum fsc_names_state state;
	bool attached_once, leaving, left;
	uint64_t seq;
	struct ddio_list held, order;
	struct ddio_list opens, locks, waiters;
	uint32_t untold;
	bool untold_lost;
	struct node_request request;
	struct fsc_wait wait;
	bool waiting;
	struct ddio_timer beat;
	struct node_request ping;
	bool pinging;
	void (*started)(struct ddio_fs *fs, const struct fsc_error *error);
};

/**
 * struct ddio_fs - the whole
 * @holds: jobs under way, and one for the file system itself
 * @closing: it ends: nothing is made again
 * @post: attributes of directories that were changed here lately; reactor 0
 * @files: that are open; they end with it
 * @lock_id: numbers of requests for locks; @stream: of open files
 * @serve: requests of others that are taken on reactor 0 (serve.c)
 */
struct ddio_fs {
	uint32_t nreactors;
	bool hard, own_sessions;
	bool closing;
	uint64_t timeout_ns;
	struct fsc_reactor *reactor;
	void (*log)(void *arg, int level, const char *line);
	void *log_arg;
	struct fsc_names names;
	struct fsc_table {
		struct ddio_list *bucket;
		uint32_t nbuckets, n, nidle;
		struct ddio_list idle;
	} table;
	struct fsc_removals {
		struct ddio_list queued, running;
		uint32_t nrunning, nqueued;
		uint64_t next; /* time to ask for orphans */
		bool asking;
	} removals;
	struct fsc_post post;
	struct ddio_list files;
	struct fsc_serve {
		struct ddio_watcher watcher;
		bool (*fn)(void *arg);
		void *arg;
	} serve;
	uint64_t holds;
	uint64_t lock_id, stream;
	struct ddio_post gone_post;
	struct ddio_gate gone, begun;
	struct fsc_error begin_error;
	struct ddio_post begin_post;
};

void fsc_hold(struct ddio_fs *fs);
void fsc_unhold(struct ddio_fs *fs);
bool fsc_closing(const struct ddio_fs *fs);
void fsc_log(struct ddio_fs *fs, enum ddio_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The library's own way in, for sessions that exist already: tests, simulations. */
int fsc_new(struct ddio_session **sessions, uint32_t n, const struct ddio_fs_opts *opts,
	    struct ddio_fs **fs, char *err, size_t err_len);

/**
 * struct fsc_job - one call of the public interface
 * @run: on the reactor that it was posted to
 */
struct fsc_job {
	struct ddio_post post;
	struct ddio_fs *fs;
	ddio_fs_done done;
	void *arg;
	void (*run)(struct fsc_job *job);
};

/*
 * Zeroed memory of @size bytes that begins with a struct fsc_job, and the whole counted.  NULL: no
 * memory, and @done has been told so.
 */
void *fsc_job_new(struct ddio_fs *fs, size_t size, ddio_fs_done done, void *arg);
/* Has @run called on @r, later. */
void fsc_job_post(struct fsc_job *job, struct fsc_reactor *r, void (*run)(struct fsc_job *job));
/* The same, or at once if it is on @r already. */
void fsc_job_go(struct fsc_job *job, struct fsc_reactor *from, struct fsc_reactor *to,
		void (*run)(struct fsc_job *job));
/* Tells how it ended, frees it and @error's text. */
void fsc_job_end(struct fsc_job *job, struct fsc_error *error, struct ddio_fs_reply *reply);
/* Somebody else will tell how it ended. */
void fsc_job_drop(struct fsc_job *job);
/* Ends it with an errno and a text. */
void fsc_job_fail(struct fsc_job *job, int err, const char *text);

/*
 * Reactor 0.
 */
void fsc_names_init(struct ddio_fs *fs);
void fsc_names_begin(struct ddio_fs *fs);
/* Says good-bye; names.left when that was heard, or cannot be. */
void fsc_names_leave(struct ddio_fs *fs);
void fsc_names_end(struct ddio_fs *fs);
/* The connection to the name space is about to be closed. */
void fsc_names_lost(struct ddio_fs *fs);
/* again.c: tells opens and locks again; ends in fsc_names_told(), maybe inside. */
void fsc_tell_again(struct ddio_fs *fs);
/* @lost: the connection has gone meanwhile. */
void fsc_names_told(struct ddio_fs *fs, bool lost);

/* The end of all that fsc_new() began; the sessions are the caller's. */
void fsc_end(struct ddio_fs *fs);

#endif /* DDIO_CP_FS_PRIV_H */
