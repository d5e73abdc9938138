/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by disk engines and the wrapper's files. */
#ifndef DDIO_DISK_PRIV_H
#define DDIO_DISK_PRIV_H

#include "env/disk/engine.h"

/* Longest request of any engine; the kernel's own limit is a little below 2 GB. */
#define DISK_MAX_LEN (1ULL << 30)

/* Puts "disk NAME: " and a message into @err. */
void disk_err(char *err, size_t err_len, const struct ddio_disk_spec *spec, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Of a request's priv the wrapper's: the negative errno that it is to end with, 0 for its own. */
#define PRIV_INJECTED 3

/* For kick->post: runs what disk_kick() asked for, and fails the requests that were rejected. */
void disk_kicked(void *arg);
/* Returns the status that the next request or block is to end with, or 0 for its own. */
int disk_injected(struct ddio_disk *disk, enum ddio_disk_op op);
/* Count one request more, or one less, in flight; @now is the time. */
void disk_flight_begin(struct ddio_disk *disk, uint64_t now);
void disk_flight_end(struct ddio_disk *disk, uint64_t now);
/* Counts what has ended. */
void disk_count(struct ddio_disk *disk, enum ddio_disk_op op, uint64_t len, int status);

/* From now on disk_write_note() may be called.  Return: 0 or -ENOMEM. */
int disk_writes_watch(struct ddio_disk *disk);
/* Note that a write of the range begins, or has ended. */
void disk_write_note(struct ddio_disk *disk, uint64_t offset, uint64_t len);
/* Returns true if the range was, or may have been, written after disk->write_seq was @seq. */
bool disk_written_since(const struct ddio_disk *disk, uint64_t offset, uint64_t len, uint64_t seq);

/* Reads the wrapper's half of spec->options; names in the engine's @options are left to the engine. */
int disk_options_parse_common(const struct ddio_opt *options, const struct ddio_disk_spec *spec,
			      struct disk_common *common, char *err, size_t err_len);

/* Prints one line: name, limits, help. */
void disk_option_print(FILE *out, const struct ddio_opt *option);

/**
 * struct backing - where an emulated disk keeps its data: memory, a file, or the world's medium
 * @map: the memory, else NULL
 * @fd: the file, else -1
 * @medium: the medium, else NULL
 * @size: bytes
 */
struct backing {
	uint8_t *map;
	int fd;
	struct ddio_medium *medium;
	uint64_t size;
};

/*
 * Opens the backing: memory, or, if spec->path is given, the world's medium of that name or a file,
 * which no other process may have open as a disk.
 * @size: bytes; 0 for the file's.  Return: 0 or -errno with one line in @err.
 */
int backing_open(struct ddio_env *env, struct backing *store, const struct ddio_disk_spec *spec,
		 uint64_t size, char *err, size_t err_len);
/* Notes that a request was submitted.  Return: nanoseconds by which it is delayed. */
uint64_t backing_begun(struct backing *store, const struct ddio_disk_req *req);
/* Asks for huge pages, which are faster but take all of their memory with the first byte written. */
void backing_huge(struct backing *store);
void backing_close(struct backing *store);
/* Moves the data of a read or write; does nothing for a flush.  Return: 0 or -errno. */
int backing_transfer(struct backing *store, const struct ddio_disk_req *req);
/* Reads or writes, and waits.  Return: 0 or -errno, -EIO at the end of the file. */
int disk_file_rw(int fd, bool write, void *buf, uint64_t len, uint64_t offset);

/*
 * Opens spec->path for reading and writing, with spec->create made if it is missing and grown to
 * @size if it is empty, and makes sure that no other process or env uses it as a disk.
 * @flags: more flags for open(2).  @size: in: wanted, or 0; out: the real one.
 * Return: a descriptor, or -errno with one line in @err.
 */
int disk_file_open(const struct ddio_disk_spec *spec, int flags, uint64_t *size, char *err,
		   size_t err_len);

#endif /* DDIO_DISK_PRIV_H */
