/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests to the name server.  All of it on reactor 0, except where it says otherwise. */
#ifndef DDIO_CP_FS_NAMES_H
#define DDIO_CP_FS_NAMES_H

#include "cp/fs/core/error.h"
#include "cp/fs/core/retry.h"
#include "cp/fs/names/unsynced.h"

/* Length of the sequence number that some requests begin with. */
#define FSC_SEQ_LEN 16

/**
 * struct fsc_ask - a request to the name server, made again until it is answered
 * @home: the reactor that made it, where done() is called
 * @opcode, @fixed, @len: the message; @fixed stays the caller's
 * @numbered: it begins with a struct ddio_fs_seq, and must not be carried out twice
 * @durable: a success says that this change and all that were answered before are durable
 * @sole: FS_SYNC: the inode that is meant; if nothing of it is unsynced, nothing is sent; 0: all of them
 * @about: the only directory whose attributes it may change, if it changes any; 0: any directory
 * @name: FS_MAKE, FS_UNLINK: the name, by fsc_ahead_name()
 * @sent: when it was last sent, by the clock of dirattr.h; @sent_ns: by the reactor's
 * @meta: struct ddio_fs.meta then
 * @answered: the changes that were answered when it was last sent, by struct fsc_unsynced.clock; @change: by the name
 *	server's numbers
 * @cancelled: no one waits for it, so it is not made again; in done(): nor is it known whether it was
 *	carried out
 * @take: called with the reply of a success (an empty one if nothing was sent), on reactor 0, before done(); an error that it sets counts;
 *	may be NULL
 */
struct fsc_ask {
	struct node_request request;
	struct ddio_list link, order;
	struct ddio_post post;
	struct fsc_reactor *home;
	uint16_t opcode;
	bool numbered, cancelled, durable;
	uint64_t seq, sole, about, name, sent, sent_ns, meta, answered, change;
	void *fixed;
	size_t len;
	struct fsc_error error;
	void (*take)(struct fsc_ask *ask, const struct reply *reply);
	void (*done)(struct fsc_ask *ask);
};

/* Any reactor. */
void fsc_ask_init(struct fsc_ask *ask, struct fsc_reactor *home, uint16_t opcode, void *fixed,
		  size_t len, void (*done)(struct fsc_ask *ask));
/* Sends it, from @ask->home.  done() is called once, perhaps inside. */
void fsc_ask(struct fsc_ask *ask);
/*
 * Ends it with -EINTR: at once if it is not under way (returns true), else as soon as it would be made
 * again.
 */
bool fsc_ask_cancel(struct fsc_ask *ask);
/* For take(): is what was answered so far durable now? */
bool fsc_ask_synced(const struct fsc_ask *ask);
/* For take() if it is: may a change of the inode, of any (@ino 0), be lost, as fsc_unsynced_tell() says? */
bool fsc_ask_lost(struct fsc_ask *ask, uint64_t ino, uint64_t *seen);
/* The same; fails if so. */
void fsc_ask_losses(struct fsc_ask *ask, uint64_t ino, uint64_t *seen);
/* For take(): the reply cannot be decoded. */
void fsc_ask_malformed(struct fsc_ask *ask);

enum fsc_names_state { FSC_DETACHED, FSC_ATTACHING, FSC_TELLING, FSC_READY };

/**
 * struct fsc_names_ops - what the way to the name server calls above it
 * @started: it has attached for the first time, or could not
 * @tell_again: the name server knows nothing of this mount: tells it what is open and locked, and ends
 *	in fsc_names_told(), perhaps inside
 * @beat: it has attached, or a third of the timeout has passed
 * @mute: the name server has not answered for a third of the timeout
 * @recalled: the name server wants a lease back
 * @down: the connection to the name server is lost
 * @unnamed_lost: a change of an inode that nobody has noted may be lost: fsc_unsynced_add() for each that it may be
 */
struct fsc_names_ops {
	void (*started)(struct ddio_fs *fs, const struct fsc_error *error);
	void (*tell_again)(struct ddio_fs *fs);
	void (*beat)(struct ddio_fs *fs);
	void (*mute)(struct ddio_fs *fs);
	void (*unnamed_lost)(struct ddio_fs *fs);
	void (*recalled)(struct ddio_fs *fs, uint64_t ino, uint64_t lease);
	void (*down)(struct ddio_fs *fs);
};

/**
 * struct fsc_names - the way to the name server
 * @mount: this mount's number
 * @starting: ops->started() has not been called
 * @leaving, @left: the end: the name server is being told, and has been
 * @held: requests that wait until it is attached
 * @order: numbered requests without an answer, oldest first
 * @change: the last change that it was answered in life @life; @durable: the last one that it was told is durable
 * @boot, @life: the name server's incarnation that it has attached to last; @life 0: not known
 * @unsynced: changes that are not known to be durable; @syncing: FS_SYNC is under way for them
 * @beaten: the changes that had been answered at the last beat, by struct fsc_unsynced.clock
 * @untold: what is being told again and has no answer yet; @untold_lost: and will not have one
 * @retry, @resting: the rest between two attempts to attach
 * @beat: the pulse; @ping: its request, sent at @pinged
 * @recall: FS_RECALL, see recall.h; @listening: it is under way
 * @opens: struct fsc_inode.open_link: inodes that the name server believes open
 * @locks: struct fsc_lock.all: locks that it believes held
 */
struct fsc_names {
	const struct fsc_names_ops *ops;
	uint8_t mount[DDIO_GROUP_ID_LEN];
	enum fsc_names_state state;
	bool starting, attached_once, leaving, left;
	uint64_t seq;
	struct ddio_list held, order;
	struct ddio_list opens, locks;
	uint64_t boot, life, change, durable;
	struct fsc_unsynced unsynced;
	bool syncing;
	uint64_t beaten;
	uint32_t untold;
	bool untold_lost;
	struct node_request request;
	struct fsc_retry retry;
	bool resting;
	struct ddio_timer beat;
	struct node_request ping;
	uint64_t pinged;
	bool pinging;
	struct node_request recall;
	bool listening;
};

/* Any thread, before anything runs: 0 or -ENOMEM. */
int fsc_names_new(struct ddio_fs *fs, const struct fsc_names_ops *ops);
/* Any thread, when nothing runs any more. */
void fsc_names_free(struct ddio_fs *fs);
/* Begins to attach. */
void fsc_names_begin(struct ddio_fs *fs);
/* Says good-bye; sets names->left when the name server has heard it, or cannot hear it. */
void fsc_names_leave(struct ddio_fs *fs);
/* The file system ends: fails what waits. */
void fsc_names_end(struct ddio_fs *fs);
/* Called while the connection is being closed: whoever has a request there hears of it next. */
void fsc_names_lost(struct ddio_fs *fs);
/* The name server has been told again what is open and locked; @lost: the connection was lost meanwhile. */
void fsc_names_told(struct ddio_fs *fs, bool lost);

#endif /* DDIO_CP_FS_NAMES_H */
