/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Setting attributes, the size among them. */
#ifndef DDIO_CP_FS_CUT_H
#define DDIO_CP_FS_CUT_H

#include "cp/fs/inode/size.h"

/**
 * struct fsc_cut - setting attributes; of a size, the objects are cut first, then the name server is told
 * @inode: must be known if a size is set; NULL: no one here needs to know what is set
 * @home: where this goes on: the inode's reactor
 * @msg: to the name server
 * @attr: its answer, which the inode has learnt
 */
struct fsc_cut {
	struct fsc_inode *inode;
	struct fsc_reactor *home;
	struct ddio_msg_fs_setattr msg;
	struct ddio_fs_attr attr;
	struct fsc_error error;
	struct fsc_waiter waiter;
	struct fsc_sizer sizer;
	struct fsc_ask ask;
	uint8_t payload[96];
	void (*done)(struct fsc_cut *cut);
};

void fsc_cut(struct fsc_cut *cut);
/* Does that with an inode's size alone; the inode's reactor. */
void fsc_cut_to(struct fsc_cut *cut, struct fsc_inode *inode, uint64_t size,
		void (*done)(struct fsc_cut *cut));

#endif /* DDIO_CP_FS_CUT_H */
