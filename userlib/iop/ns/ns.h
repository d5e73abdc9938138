/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The name space of the cluster, on the name server: inodes, directories, attributes, open files.  See
 * Documentation/filesystem.rst.  Belongs to reactor 0.
 *
 * A change is made entirely or not at all, and survives the death of the process once the function has
 * returned; ns_commit() tells when it survives the machine's.  A missing inode is -ESTALE by its
 * number, -ENOENT by its name.
 */
#ifndef DDIO_NS_H
#define DDIO_NS_H

#include "env/env.h"
#include "iop/bound/bound.h"
#include "iop/lmdb/commit.h"
#include "iop/lmdb/room.h"
#include "iop/ns/inode.h"
#include "iop/user/who.h"
#include "proto/proto.h"

struct ns;
struct ns_mount;

/**
 * struct ns_opts - what to open
 * @block, @ndisks: default stripe: blocks of @block bytes over disks 0 to ndisks - 1
 * @reserve: see struct lmdb_opts
 * @repair: damaged records are removed
 * @timeout_ns: a mount without connections for longer is lost
 * @machine: names this run of the machine, another one after each loss of power; NULL or "": it is not known
 * @bounds: how many mounts and results there may be, and counts of them; NULL: its own
 */
struct ns_opts {
	const char *dir;
	const char *cluster;
	uint64_t reserve;
	bool sync, repair;
	uint32_t block, ndisks;
	uint64_t timeout_ns;
	const char *machine;
	struct bounds *bounds;
};

int ns_open(struct ddio_env *env, const struct ns_opts *opts, struct ns **ns, char *err,
	    size_t err_len);
/* No commit may be under way, and creating files may begin one: commit last and wait for it. */
void ns_close(struct ns *ns);
void ns_commit(struct ns *ns, struct commit *commit);
/* The same, but what is durable may be in the journals alone. */
void ns_flush(struct ns *ns, struct commit *commit);
/* Tells what the records take. */
struct lmdb_left ns_left(const struct ns *ns);
/* Returns true if commits are falling behind: whoever makes changes should wait for one. */
bool ns_full(const struct ns *ns);
/*
 * Checks the records as they are when it begins.  @repair: repairs them, so many at a time, and looks at all again;
 * -EBUSY, from begin or end, if changes wait to be committed or have been made meanwhile.  Without it the check ends when
 * so many want to be repaired.
 */
struct ns_check;
int ns_check_begin(struct ns *ns, bool repair, struct ns_check **check);
/* Looks at up to @steps records.  Returns false when there is nothing more to do but ns_check_end(). */
bool ns_check_step(struct ns_check *check, uint32_t steps);
/* Nobody wants to know any more: what is left to do is to free memory, also in steps. */
void ns_check_give_up(struct ns_check *check);
/* Frees @check.  @result: what it has found; NULL: it is given up. */
int ns_check_end(struct ns_check *check, struct ddio_msg_fsck *result);
/*
 * Gives objects that belong to no file one again, in one change: an inode with number, stripe and size of @rec, which is root's
 * alone, and a name in /lost+found, which is made if there is none; sets @rec->name to its path.  -ERANGE: the number was never
 * given out; -EEXIST: it, or every name for it, is taken.
 */
int ns_adopt(struct ns *ns, struct ddio_file_record *rec);
/* Returns true if commits reach stable storage. */
bool ns_sync(const struct ns *ns);
uint64_t ns_inodes(struct ns *ns);

/* disks.c: the life that began when the name space was opened, see struct ddio_disk_id. */
uint64_t ns_life(const struct ns *ns);

/* Returns the number of the last change: it rises with every one, also over restarts. */
uint64_t ns_changes(const struct ns *ns);
/* disks.c: a mount attaches: returns what is lost of what it was answered in an earlier life, DDIO_FS_LOST_*. */
uint32_t ns_lost(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_attach *x);
/*
 * disks.c: returns why the name space is not to be served until somebody accepts it as it is: NAMES_DAMAGED: behind change
 * *@at its journal is damaged; NAMES_OLD: disk *@at has heard of more.
 */
enum ns_refusal { NAMES_GOOD, NAMES_DAMAGED, NAMES_OLD };
enum ns_refusal ns_refusal(const struct ns *ns, uint64_t *at);
/*
 * Incarnation @boot of the node is stopped in order, and all that was answered is durable: notes it for the last commit.  If it is
 * not recorded, the next start takes this life for one that was cut off.  Returns 0 or -errno.
 */
int ns_ending(struct ns *ns, uint64_t boot);
/* Returns the incarnations that had ended so when the name space was opened. */
const struct ddio_ends *ns_ends(const struct ns *ns);

/* What came of a meeting with a disk. */
enum ns_meeting {
	NS_DISK_SAME,	/* it is known now */
	NS_DISK_NEXT,	/* within disks.c: it has begun its next life, or is new */
	NS_DISK_FORGOT, /* within disks.c: what was on it is gone, as everybody knows */
	NS_DISK_OTHER,	/* there was another one */
	NS_DISK_PAST,	/* it is of another time than the name space remembers */
	NS_NAMES_PAST, /* the disk has heard of a life, or a change, that is not of this name space */
};
/*
 * Meets disks of a node: remembers those that are new, have begun their next life, or are to be accepted, and sets
 * the reply in @x.  *@met, *@which: the first that is none of this.  Returns 0 or -errno.
 */
int ns_meet(struct ns *ns, struct ddio_msg_disk_ids *x, enum ns_meeting *met, uint32_t *which);

/**
 * struct ns_left - an inode of which only the objects are left
 * @any: there is one; its objects are to be removed
 */
struct ns_left {
	bool any;
	struct ddio_file_record rec;
};

/**
 * struct ns_who - the sender of a request
 * @mount: NULL: one that will not make the request again
 */
struct ns_who {
	struct ns_mount *mount;
	struct ddio_fs_seq seq;
};

/* core.c, attr.c.  Inodes that are returned must be freed, even after an error. */
int ns_inode(struct ns *ns, uint64_t ino, struct inode *inode);
/* The same; also finds a directory, link or device that was removed recently, as it was then. */
int ns_getattr(struct ns *ns, uint64_t ino, struct inode *inode);
/* Returns 0 if the inode has a name; -ESTALE: it has none, though it may be open. */
int ns_named(struct ns *ns, uint64_t ino);
/* @mount: it asks for that, or (NULL) somebody who is none. */
int ns_setattr(struct ns *ns, const struct ns_mount *mount, const struct ddio_msg_fs_setattr *x,
	       struct inode *inode);
/*
 * Somebody who does not own the file may write it from now on: what it would give to whoever executes it goes (the bits S_ISUID
 * and, of an executable, S_ISGID; security.capability).  Returns 0 or -errno.
 */
int ns_disarm(struct ns *ns, struct inode *inode);
int ns_wrote(struct ns *ns, const struct ns_mount *mount, const struct ddio_msg_fs_wrote *x,
	     struct inode *inode);
/* A mount gets the inode's lease: whatever it writes is its own until another mount gets one, or changes data. */
int ns_claim(struct ns *ns, const struct ns_mount *mount, struct inode *inode);
/*
 * Returns true if what @mount says of @inode by a lease that it has lost still holds: nobody else has changed data, size or
 * time of modification since, or got a lease, but perhaps the mount itself has changed something.
 */
bool ns_still_holds(const struct ns *ns, const struct ns_mount *mount, const struct inode *inode,
		    const struct ddio_msg_fs_wrote *x);
/* What @mount says by a lease was taken: it is remembered for a while; the last of each inode, over a restart, too. */
void ns_tell_note(struct ns_mount *mount, const struct ddio_msg_fs_wrote *x);
/* Returns true if the mount has said the same before, and it was taken: the answer was lost. */
bool ns_tell_again(const struct ns_mount *mount, const struct inode *inode,
		   const struct ddio_msg_fs_wrote *x);
/* As ns_wrote(), and in the same change: the file has what was written under the epoch. */
int ns_commit_epoch(struct ns *ns, const struct ddio_msg_fs_wrote *x, uint64_t epoch,
		    struct inode *inode);
/* The same of several files, all in one change: sets the sizes, of all or of none. */
int ns_commit_epochs(struct ns *ns, struct ddio_msg_ns_epochs *x);
/* Every disk has settled this epoch of the inode (0: none has to be noted): reads the inode. */
int ns_settled_epoch(struct ns *ns, uint64_t ino, uint64_t epoch, struct inode *inode);
/* Gives an append its place.  Returns -EAGAIN if @held, unless the request has been carried out before. */
int ns_append(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_append *x, bool held,
	      uint64_t *offset, struct inode *inode);
int ns_alloc(struct ns *ns, const struct ddio_msg_fs_alloc *x, struct inode *inode);

/* dir.c */
int ns_lookup(struct ns *ns, uint64_t parent, const char *name, struct inode *inode);
/* Lists entries, at most @bytes of message.  Allocates @out->ents: free(). */
int ns_readdir(struct ns *ns, const struct ddio_msg_fs_readdir *x, size_t bytes,
	       struct ddio_msg_fs_entries *out);

/*
 * make.c.  @stripe: of a regular file; NULL: its directory's.  @dir: gets the directory's attributes after
 * the change; without a number if they are unknown because the request was made before.  May be NULL.
 */
int ns_make(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_make *x,
	    const struct stripe *stripe, struct inode *inode, bool *made, struct ddio_fs_attr *dir);
/* stripe.c: returns a random seed, not 0, by which an object tells its file from any other of its number. */
uint64_t ns_seed(struct ns *ns);
int ns_link(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_link *x,
	    struct inode *inode);

/**
 * struct ns_clone - a file that is being made as a clone of another; the caller owns the memory
 * @link: in struct ns.clones
 * @from: which other; @ino: its own number
 * @since: after the timeout it holds up nobody any more
 */
struct ns_clone {
	struct ddio_list link;
	uint64_t from, ino, since;
};

/**
 * struct ns_clone_as - what becomes of it
 * @parent, @name: its name
 * @snap: it stays the owner's of the other file, and nobody may write it; otherwise it is @uid's and @gid's
 * @frozen: with @snap: nothing changes it, whoever asks (-EROFS), as its objects are frozen
 */
struct ns_clone_as {
	uint64_t parent, size;
	const char *name;
	bool snap, frozen;
	uint32_t uid, gid;
};

/*
 * make.c.  Makes a file without a name, which is spread as @from is, and in use until ns_clone_end(): an orphan after that,
 * or after a restart.  -EBUSY: another clone of @from is being made.
 */
int ns_clone_begin(struct ns *ns, uint64_t from, struct ns_clone *clone, struct inode *inode);
/* Gives it its name.  -EEXIST. */
int ns_clone_name(struct ns *ns, const struct ns_clone *clone, const struct ns_clone_as *as,
		  struct inode *inode);
void ns_clone_end(struct ns_clone *clone);
/* Returns true if a clone of the inode is being made: nobody gets its lease. */
bool ns_is_cloned(const struct ns *ns, uint64_t ino);
/* Walks through those that are being made; the first behind NULL. */
struct ns_clone *ns_clone_next(struct ns *ns, const struct ns_clone *clone);

/* remove.c.  @dir: as in ns_make(). */
int ns_unlink(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_name *x,
	      struct ns_left *left, struct ddio_fs_attr *dir);
/*
 * Lists orphans with numbers above *@after that nobody has open.  If there are none among those that were looked at, but
 * there may be more, it goes on behind *@after.  If it fails, *@after stays.
 */
int ns_orphans(struct ns *ns, uint64_t *after, uint32_t max, struct ddio_msg_ns_listing *out);
/* Loads an orphan whose objects are about to be removed: nobody opens it any more.  -EBUSY: it has a name, or is open. */
int ns_remove_begin(struct ns *ns, uint64_t ino, struct inode *inode);
/* Deletes an orphan whose objects are gone.  -EBUSY: it has a name, or is open. */
int ns_gone(struct ns *ns, uint64_t ino);

/**
 * struct ns_way - the way up from a directory
 * @top: what is looked for; @from: where it begins, 0: it has not begun; @at: the next directory
 * @moves: struct ns.moves when it began
 */
struct ns_way {
	uint64_t top, from, at, moves;
	uint32_t depth;
};

/**
 * struct ns_climb - what a rename that takes several turns has found out; the caller owns it
 * @go_on: set by the caller: @waits is over, the next turn is due; not called from inside ns_rename()
 * @way: to the root, from the new place and, if two are exchanged, from the old one
 * @tries: how often one of them has begun again; @steps: left in this turn
 * @waits: for the rename that keeps directories where they are; @link: in struct ns.held_up
 */
struct ns_climb {
	void (*go_on)(struct ns_climb *climb);
	struct ns_way way[2];
	uint32_t tries, steps;
	bool waits;
	struct ddio_list link;
};

/*
 * rename.c.  @climb: all zero but @go_on the first time; NULL: everything is done in one turn.  -EINPROGRESS: call it
 * again in another turn, or when @climb->go_on() is called if @climb->waits; nothing has changed.
 */
int ns_rename(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_rename *x,
	      struct ns_climb *climb, struct ns_left *left);
/* Nobody wants that rename any more. */
void ns_rename_give_up(struct ns *ns, struct ns_climb *climb);

/* xattr.c.  *value: free(). */
int ns_getxattr(struct ns *ns, uint64_t ino, const char *name, uint8_t **value, uint32_t *len);
int ns_setxattr(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_xattr *x,
		struct inode *inode);
int ns_removexattr(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_xattr *x,
		   struct inode *inode);
int ns_listxattr(struct ns *ns, uint64_t ino, uint8_t **names, uint32_t *len);

/*
 * may.c: what a user may do; @who: NULL: everything.  Return: 0, -EACCES, -EPERM, or what reading has said.
 */
enum { NS_MAY_READ = 4, NS_MAY_WRITE = 2, NS_MAY_SEARCH = 1 };
int ns_may(struct ns *ns, const struct ddio_who *who, const struct inode *inode, uint32_t want);
int ns_may_dir(struct ns *ns, const struct ddio_who *who, uint64_t dir, uint32_t want);
/*
 * Whether the user may be at a directory, by its number: each one above it has to be open to search.  -EACCES also if there
 * are more of them than a path may have names.
 */
int ns_may_come(struct ns *ns, const struct ddio_who *who, const struct inode *dir);
/* Whether a name of @victim may be taken out of a directory. */
int ns_may_unname(struct ns *ns, const struct ddio_who *who, uint64_t dir,
		  const struct inode *victim);

/*
 * path.c: paths from the root, as libddio names files.  Symbolic links are followed.  @who: must have search permission for
 * each directory on the way; NULL: need not.
 */
int ns_walk(struct ns *ns, const struct ddio_who *who, const char *path, struct inode *inode);
/* Finds the directory of the last name of @path, which need not be searched; @name: DDIO_MAX_NAME + 1 bytes. */
int ns_walk_parent(struct ns *ns, const struct ddio_who *who, const char *path, uint64_t *parent,
		   char *name);
/* Makes the record of a directory, whose stripe means nothing. */
int ns_dir_record(const struct inode *in, struct ddio_file_record *rec);
/*
 * Lists some files of a directory by name; a directory's name ends with a slash.  @next, of DDIO_MAX_NAME + 1 bytes: if there
 * are none among those that were looked at, but more, it goes on behind that.
 */
int ns_list(struct ns *ns, const struct ddio_who *who, const char *dir, const char *after,
	    uint32_t max, struct ddio_msg_ns_listing *out, char *next);
/* Lists some regular files by number, orphans included, without names; @next as above. */
int ns_list_all(struct ns *ns, uint64_t after, uint32_t max, struct ddio_msg_ns_listing *out,
		uint64_t *next);

/*
 * mount.c: mounts, and the inodes that they have open.
 */

/**
 * struct ns_mount_ops - told about mounts
 * @lost: a mount ends: its locks and leases go, *@steps of them at most, which is less then.  Returns true if those were
 *	all; else it is called again
 * @more: has ns_mounts_go_on() called in another turn; NULL: all is done in one
 * @settled: called when every mount of before the restart has come back, or its time is over
 */
struct ns_mount_ops {
	bool (*lost)(void *ctx, struct ns_mount *mount, uint64_t *steps);
	void (*more)(void *ctx);
	void (*settled)(void *ctx);
};

/**
 * struct ns_end - somebody who is told that a mount has ended; the caller owns the memory
 * @done: called once, with 0 or -errno if it is still recorded
 */
struct ns_end {
	void (*done)(struct ns_end *end, int err);
};
/* Returns what the records know the mount by: never 0, and the same after a restart. */
uint64_t ns_mount_number(const struct ns_mount *mount);
bool ns_mount_is(const struct ns_mount *mount, const uint8_t id[DDIO_GROUP_ID_LEN]);
/* Returns true if the inode is open, or a mount of before a restart may still report that it is. */
bool ns_in_use(const struct ns *ns, uint64_t ino);
/*
 * A user says whose a mount is, NULL: root's.  Who is first owns it.  Returns false if it is another's; root may use all.
 */
bool ns_mount_own(struct ns_mount *mount, const struct ddio_who *who);
void ns_mount_watch(struct ns *ns, const struct ns_mount_ops *ops, void *ctx);
/* The node ends, and closes connections itself: from now on no mount is taken for silent. */
void ns_mounts_unwatch(struct ns *ns);
/*
 * Adds a connection to a mount.  @known: the mount existed.  Returns 0 or -errno; -EINPROGRESS: an earlier mount of that
 * name has not quite ended, and the same is to be asked in another turn.
 */
int ns_mount_attach(struct ns *ns, const uint8_t id[DDIO_GROUP_ID_LEN], struct ns_mount **mount,
		    bool *known);
/* The mount has reported its open files and locks. */
void ns_mount_told(struct ns *ns, struct ns_mount *mount);
/* Returns true if it may tell again which locks it held before the restart: nobody else can have had them. */
bool ns_mount_keeps(const struct ns_mount *mount);
/* Returns true if it has inodes open. */
bool ns_mount_holds(const struct ns_mount *mount);
/* Takes a connection away; @heard: when the mount was last heard, from which its timeout counts. */
void ns_mount_detach(struct ns *ns, struct ns_mount *mount, uint64_t heard);
/*
 * Ends a mount, whose address is void: it gives up its locks and leases, closes what it has open, and is forgotten, in
 * turns.  @end may be NULL.
 */
void ns_mount_end(struct ns *ns, struct ns_mount *mount, struct ns_end *end);
/* Takes some more from mounts that end. */
void ns_mounts_go_on(struct ns *ns);
/* Returns true if ns_mounts_go_on() is due. */
bool ns_mounts_ending(const struct ns *ns);
/* Returns when this life of the name server began: a number that grows with each. */
uint64_t ns_began(const struct ns *ns);
/* Returns how long mounts of before a restart may still take to report, or 0: all have. */
uint64_t ns_grace(const struct ns *ns);
uint64_t ns_timeout(const struct ns *ns);
/*
 * Opens an inode.  @again: it was open before a restart, and may be an orphan.  -ESTALE, also @again of an orphan that somebody
 * removes, or -ENOENT for an orphan.
 */
int ns_open_file(struct ns *ns, struct ns_mount *mount, uint64_t ino, bool again,
		 struct inode *inode);
/* Returns how many mounts have the inode open; 0 unless @mount is one of them. */
uint32_t ns_openers(const struct ns *ns, const struct ns_mount *mount, uint64_t ino);
int ns_release(struct ns *ns, struct ns_mount *mount, uint64_t ino, struct ns_left *left);

#endif /* DDIO_NS_H */
