/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Open files. */
#ifndef DDIO_CP_FS_FILE_H
#define DDIO_CP_FS_FILE_H

#include "cp/fs/inode/inode.h"

/**
 * struct ddio_fs_file - an open file
 * @link: in struct ddio_fs.files; reactor 0
 * @flags: of open(2)
 * @losses: the inode's losses that the file has heard of; the inode's reactor
 * @refusals: the same of its refusals
 * @reader: its number for read-ahead
 */
struct ddio_fs_file {
	struct ddio_fs *fs;
	struct ddio_list link;
	struct fsc_inode *inode;
	int flags;
	uint32_t losses, refusals;
	uint64_t reader;
};

/* Of an error about them. */
#define FSC_REFUSED                                                                     \
	"the name server did not hear of a write in time, and the file was changed by " \
	"others: what was written may be lost"

#endif /* DDIO_CP_FS_FILE_H */
