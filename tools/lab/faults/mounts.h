/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ddio sim --faults --mounts: processes with a mount each, which make, rename, exchange and remove files in two directories,
 * append to them, read, lock and sync.
 *
 *   mounts.c      the phases of a run, and what the processes do by the seed
 *   mount_call.c  calls of a mount, and its death; sees the library's private parts
 *   mount_name.c  what names may be there, and what a sync must say
 *   mount_data.c  what files may hold
 *
 * Each name has one owner, who knows what it must be; the others look.
 */
#ifndef TOOLS_FAULTS_MOUNTS_H
#define TOOLS_FAULTS_MOUNTS_H

#include <ddio/fs.h>
#include "env/env.h"
#include "run.h"

#define MOUNT_DIRS 2
#define MOUNT_NAMES 3 /* of each process in each directory */
#define MOUNT_SLOTS (MOUNT_DIRS * MOUNT_NAMES)
#define MOUNT_PAST 48  /* states of names between two syncs */
#define MOUNT_FILES 64 /* known to a process at a time */
#define MOUNT_WORDS 600

/* The numbers of the files that have a process's names; 0: none has. */
struct mount_state {
	uint64_t ino[MOUNT_SLOTS];
};

/* What a call does to names. */
enum mount_what { MOUNT_MAKE, MOUNT_UNLINK, MOUNT_RENAME, MOUNT_EXCHANGE };

struct mount_op {
	enum mount_what what;
	uint32_t from, to; /* slots */
	uint64_t ino;	   /* MOUNT_MAKE: of the new file; 0: not known */
};

/**
 * struct mount_file - a file and what must be in it
 * @n: words that were written; @hard: of these, so many are durable
 * @losses: of I/O processors, when the model was last certain; see mount_losses()
 * @unsure: a loss came in the midst of an append
 * @anew: opened after a loss, which was perhaps told to an earlier opening
 */
struct mount_file {
	uint64_t ino;
	struct ddio_fs_file *open;
	uint32_t serial, n, hard, losses;
	bool unsure, anew;
	uint64_t word[MOUNT_WORDS];
};

/**
 * struct mounter - a process and its mount
 * @past: states of its names, the first of which is durable and the last of which is now
 * @dirs: directories that led to each changed, as bits
 * @losses: of the name server's, up to which it has looked; @matched: up to which it knows what they have left
 * @due: directories, as bits, of which something is lost and no sync has said so; @due_all: the same for all names
 * @may, @may_all: a sync may say so
 * @doing: the call that changes names, while it does: @busy
 * @begun, @ended: calls that changed each slot
 */
struct mounter {
	struct faults_cp *cp;
	struct ddio_fs *fs;
	struct ddio_env *env;
	struct mount_state past[MOUNT_PAST];
	uint8_t dirs[MOUNT_PAST];
	uint32_t npast, losses, matched, serial;
	uint8_t due, may;
	bool due_all, may_all, busy;
	struct mount_op doing;
	uint32_t begun[MOUNT_SLOTS], ended[MOUNT_SLOTS];
	struct mount_file file[MOUNT_FILES];
	struct ddio_fs_file *locks;
	/* Of the last call. */
	struct ddio_gate gate;
	int err;
	uint64_t value, ino, size;
};

/**
 * struct mounts - all of them
 * @dir: the directories' inodes
 * @inside: who has the lock
 * @left: what a process knew when it was killed, for the one that takes its place; @killed: it is to take it
 */
struct mounts {
	struct mounter m[FAULTS_CPS], left[FAULTS_CPS];
	bool killed[FAULTS_CPS];
	uint64_t dir[MOUNT_DIRS], locks;
	const struct mounter *inside;
	uint32_t phase, waited;
};

/* Notes a violated rule, if the process lives: one that was killed is answered nothing, and what it does is nothing. */
#define mount_violated(m, ...)                                    \
	do {                                                      \
		if (!(m)->cp->dead)                               \
			faults_violated((m)->cp->f, __VA_ARGS__); \
	} while (0)

/* mount_call.c: each waits for the call's end.  Return: its result; of a killed process -ESHUTDOWN. */
int mount_open(struct mounter *m, char *err, size_t err_len);
void mount_close(struct mounter *m);
int mount_make_dir(struct mounter *m, const char *name);
int mount_create(struct mounter *m, uint64_t dir, const char *name, bool excl,
		 struct ddio_fs_file **file);
int mount_open_file(struct mounter *m, uint64_t ino, struct ddio_fs_file **file);
int mount_close_file(struct mounter *m, struct ddio_fs_file *file);
int mount_lookup(struct mounter *m, uint64_t dir, const char *name);
int mount_unlink(struct mounter *m, uint64_t dir, const char *name);
int mount_rename(struct mounter *m, uint64_t dir, const char *name, uint64_t to_dir, const char *to,
		 bool exchange);
int mount_append(struct mounter *m, struct ddio_fs_file *file, const void *buf, size_t len);
int mount_read(struct mounter *m, struct ddio_fs_file *file, void *buf, size_t len);
int mount_sync(struct mounter *m, struct ddio_fs_file *file);
int mount_sync_dir(struct mounter *m, uint64_t dir);
int mount_sync_names(struct mounter *m);
int mount_lock(struct mounter *m, struct ddio_fs_file *file, bool on);
/* The process is killed, and its mount with it.  Returns false if it has none. */
bool mount_dies(struct faults_cp *cp);

/* mount_name.c */
static inline struct mounts *mounts_of(const struct mounter *m)
{
	return m->cp->f->mounts;
}
static inline const struct mount_state *mount_now(const struct mounter *m)
{
	return &m->past[m->npast - 1];
}
void mount_slot_name(uint32_t rank, uint32_t slot, char name[16]);
static inline uint64_t mount_slot_dir(const struct mounter *m, uint32_t slot)
{
	return mounts_of(m)->dir[slot / MOUNT_NAMES];
}
/* Looks for a loss of the name server's memory, and if there was one, at all names. */
void mount_look(struct mounter *m);
/* Looks at what the process has left that was killed: its last call was done or not. */
void mount_resume(struct mounter *m);
/* The call has ended with @err. */
void mount_did(struct mounter *m, const struct mount_op *op, int err);
void mount_synced_dir(struct mounter *m, uint32_t dir, int err);
void mount_synced_names(struct mounter *m, int err);

/* mount_name.c: whether a name may stand for the file */
bool mount_named(const struct mounter *m, uint64_t ino);

/* mount_data.c */
/* Returns how often an I/O processor has lost its memory. */
uint32_t mount_losses(const struct faults *f);
struct mount_file *mount_file_of(struct mounter *m, uint64_t ino);
/* Notes a new, empty file, in place of one that has no name any more; @losses: before it was made. */
void mount_file_new(struct mounter *m, uint64_t ino, struct ddio_fs_file *open, uint32_t losses);
/* Opens again what a loss has brought back.  Return: the open file, or NULL. */
struct mount_file *mount_file_ready(struct mounter *m, uint64_t ino);
void mount_file_append(struct mounter *m, struct mount_file *file, uint32_t words);
/* Checks what is there.  Returns false if it cannot be read: a loss has taken the file. */
bool mount_file_read(struct mounter *m, struct mount_file *file);
void mount_file_sync(struct mounter *m, struct mount_file *file);
void mount_files_close(struct mounter *m);

/* mounts.c: the script of such a run; begins and ends what it needs. */
extern const struct faults_script mounts_script;
int mounts_begin(struct faults *f);
void mounts_end(struct faults *f);

#endif /* TOOLS_FAULTS_MOUNTS_H */
