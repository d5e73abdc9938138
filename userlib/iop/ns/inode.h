/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An inode in memory.  Pure. */
#ifndef DDIO_NS_INODE_H
#define DDIO_NS_INODE_H

#include <sys/stat.h>
#include "proto/proto.h"

/**
 * struct stripe - how a file is spread over disks; of a directory: how new files in it will be
 * @block, @ndisks: of a directory 0: the default
 * @disks: NULL: 0 to ndisks - 1
 */
struct stripe {
	uint64_t seed;
	uint32_t block, layout, ndisks;
	uint32_t *disks;
};

/* Of so many earlier writers it is recorded what they have told. */
#define INODE_PAST 3

/**
 * struct inode - an inode in memory; inode_free()
 * @alloc: bytes on disks, known when @change was @alloc_change.  0 is not believed of a file that may have data: who
 *	was to write the first may have done so and died
 * @parent, @entries, @cookie: of a directory: its parent, number of entries, next entry's cookie
 * @target: of a symbolic link
 * @epoch: the last one that was committed, if not every disk is known to have settled it; else 0
 * @writer: of a regular file: the mount that has made it, changed its data, size or time of modification last, or got its
 *	lease since, see ns_still_holds(); 0: somebody else has, or it is not known
 * @told: digest of what @writer has told last by a lease, see ns_tell_again(), or 0
 * @past: what earlier writers had told last, the latest first; behind the last one zeros
 */
struct inode {
	uint64_t ino;
	uint32_t mode, nlink, uid, gid;
	uint32_t flags; /* DDIO_INODE_* */
	uint64_t rdev, size, alloc, alloc_change, change;
	struct timespec atime, mtime, ctime, btime;
	struct stripe stripe;
	uint64_t parent, entries, cookie, epoch, writer, told;
	struct inode_told {
		uint64_t writer, told;
	} past[INODE_PAST];
	char *target;
};
#define INODE_DATA 0x1u /* it has, or may have, objects */
#define INODE_FROZEN \
	0x2u /* a snapshot: nothing changes it but the loss of its name, or another one */
#define INODE_GOING \
	0x4u /* without a name it has been named to somebody who removes its objects: nobody opens it any more */

void inode_free(struct inode *inode);
void inode_attr(const struct inode *inode, struct ddio_fs_attr *attr);
/* Makes the record of a regular file; ddio_file_record_free().  Returns 0 or -ENOMEM. */
int inode_record(const struct inode *inode, struct ddio_file_record *rec);
static inline bool inode_is(const struct inode *inode, uint32_t type)
{
	return (inode->mode & 0170000u) == type;
}
int stripe_copy(struct stripe *to, const struct stripe *from);

#endif /* DDIO_NS_INODE_H */
