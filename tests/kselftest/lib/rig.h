/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Disks whose every byte is known, in a context, and random lists of their blocks:
 * what the tests of the deliveries compare with plain reads and writes.
 */
#ifndef KT_RIG_H
#define KT_RIG_H

#include "env/kernel/kdev.h"
#include "lib/kt.h"

#define KT_RIG_DISKS 4

/**
 * struct kt_image - a disk and what it ought to hold
 * @dev: the disk
 * @fd: of it, for direct transfers
 * @bytes: what it ought to hold from its beginning, aligned for it
 * @length: so much of it is used
 * @id: in the rig's context
 */
struct kt_image {
	const struct kt_dev *dev;
	int fd;
	unsigned char *bytes;
	uint64_t length;
	uint32_t id;
};

/**
 * struct kt_rig - a context with disks
 */
struct kt_rig {
	struct ddio_kdev kdev;
	struct kt_image image[KT_RIG_DISKS];
	uint32_t nr;
};

/* Opens a context with @nr disks of which @length bytes each are filled at random. */
int kt_rig_init(struct kt_rig *rig, struct kt_dev *const *dev, uint32_t nr, uint64_t length,
		struct kt_rng *rng);
void kt_rig_fini(struct kt_rig *rig);
/* Reads each disk by plain reads; false, and says where, if it holds something else. */
bool kt_rig_same(const struct kt_rig *rig);
/* Takes for right what the disks hold; false if they cannot be read. */
bool kt_rig_reload(struct kt_rig *rig);
/* Computes what a block of the rig ought to hold. */
unsigned char *kt_rig_at(const struct kt_rig *rig, const struct ddio_block *block);

/**
 * struct kt_draw - a list to be drawn
 * @nr: blocks
 * @length_max: of a block, a multiple of the sector
 * @apart: no two blocks overlap; there must be room for @nr times @length_max
 */
struct kt_draw {
	uint64_t nr;
	uint32_t length_max;
	bool apart;
};

/* Fills in all but the members where and buffer.  Returns false if there is no room. */
bool kt_rig_draw(const struct kt_rig *rig, struct kt_rng *rng, const struct kt_draw *draw,
		 struct ddio_block *block);

#endif /* KT_RIG_H */
