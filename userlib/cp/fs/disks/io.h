/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading and writing contiguous bytes of a file. */
#ifndef DDIO_CP_FS_IO_H
#define DDIO_CP_FS_IO_H

#include "cp/fs/disks/set.h"

/**
 * struct fsc_io - contiguous bytes on their way
 * @rec: the file
 * @holder: as in struct fsc_set, if @writing
 * @reader: the open file's number for read-ahead; 0: none
 * @buf: holds, or receives, the file's bytes [@at, @end)
 * @from, @upto: the part that is under way
 * @single: the request where one is enough
 * @done: the result is in @set.error
 */
struct fsc_io {
	struct fsc_set set;
	const struct ddio_file_record *rec;
	uint64_t *holder;
	bool writing;
	uint64_t reader;
	uint8_t *buf;
	uint64_t at, end;
	uint64_t from, upto;
	struct fsc_set_req single;
	void (*done)(struct fsc_io *io);
};

/* Moves the bytes; the caller has filled in @io's rec, holder, writing, reader, buf, at, end and done. */
void fsc_io_begin(struct fsc_io *io, struct fsc_reactor *r);

#endif /* DDIO_CP_FS_IO_H */
