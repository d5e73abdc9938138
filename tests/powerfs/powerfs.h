/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * powerfs: a directory that loses its power.  What was not synced is then gone, or, drawn by a seed, a part of it.
 *
 *   powerfs.c   the mount: requests, signals
 *   disk.c      the directory below, with all nodes
 *   file.c      a file's bytes, and what they were when they were synced
 *   dir.c       a directory's names, and what they were
 *
 * The model is what POSIX promises, and less than ext4 gives.  Bytes and size of a file last once it is fsync'ed or
 * fdatasync'ed, or written through O_DSYNC, for which the kernel sends the same request.  A name that came, went or
 * changed lasts once its directory is fsync'ed: an fsync of the file is not enough, as it is on ext4.  A rename within
 * a directory is there as a whole or not at all; one between directories is a change of each.  Modes and owners last
 * at once, and times are those of the file below.
 */
#ifndef POWERFS_H
#define POWERFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/**
 * struct pfs_fate - decides what a loss of power takes
 * @rand: state of the generator; 0: it takes all
 * @share: of 256 sectors, so many are kept
 */
struct pfs_fate {
	uint64_t rand;
	uint32_t share;
};

void fate_init(struct pfs_fate *fate, uint64_t seed);
/* Returns a number below @n; 0 where all is lost. */
uint32_t fate_draw(struct pfs_fate *fate, uint32_t n);

struct pfs_chunk;

/**
 * struct pfs_file - a file's bytes
 * @fd: the file below, which has them as they are read
 * @size: when it was synced
 * @cut: its smallest size since then
 * @chunks, @n: the sectors that have changed since, as they were
 */
struct pfs_file {
	int fd;
	uint64_t size, cut;
	struct pfs_chunk **chunks;
	size_t n;
};

/* All return 0 or a positive errno. */
int file_open(struct pfs_file *f, int dir, const char *name, bool create);
void file_close(struct pfs_file *f);
/* Called before bytes [@off, @off + @len) change. */
int file_save(struct pfs_file *f, uint64_t off, uint64_t len);
int file_truncate(struct pfs_file *f, uint64_t size);
int file_sync(struct pfs_file *f);
int file_lose(struct pfs_file *f, struct pfs_fate *fate);

/* One name; @node: 0 if it is gone. */
struct pfs_entry {
	struct pfs_entry *next;
	uint64_t node;
	bool more; /* the next change belongs to this one */
	char name[256];
};

/**
 * struct pfs_dir - a directory's names
 * @now: as they are seen; @kept: as they were synced
 * @changes, @last: what happened since, oldest first
 */
struct pfs_dir {
	struct pfs_entry *now, *kept, *changes, **last;
};

void dir_init(struct pfs_dir *d);
void dir_free(struct pfs_dir *d);
uint64_t dir_find(const struct pfs_dir *d, const char *name);
/* @node: 0 removes the name; @more: the next change belongs to this one. */
int dir_set(struct pfs_dir *d, const char *name, uint64_t node, bool more);
void dir_sync(struct pfs_dir *d);
void dir_lose(struct pfs_dir *d, struct pfs_fate *fate);

struct pfs_node {
	uint64_t ino;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	struct pfs_file file;
	struct pfs_dir dir;
};

/**
 * struct pfs_disk - the directory below
 * @fd: it; each regular file's bytes are in a file of its number, names are in "names"
 * @nodes, @n: by number; 0 is none, 1 the root
 */
struct pfs_disk {
	int fd;
	struct pfs_node **nodes;
	uint64_t n;
};

int disk_open(struct pfs_disk *disk, const char *path);
/* Writes the names down and removes what has none. */
int disk_close(struct pfs_disk *disk);
struct pfs_node *disk_node(const struct pfs_disk *disk, uint64_t ino);
int disk_make(struct pfs_disk *disk, struct pfs_node *parent, const char *name, mode_t mode,
	      struct pfs_node **made);
int disk_lose(struct pfs_disk *disk, struct pfs_fate *fate);

#endif /* POWERFS_H */
