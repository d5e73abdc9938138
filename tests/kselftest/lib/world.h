/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A context with one of everything, for tests of single calls.
 */
#ifndef KT_WORLD_H
#define KT_WORLD_H

#include "lib/kt.h"

#define KT_WORLD_BUFFER (1U << 20)
#define KT_WORLD_MEMBER (64U << 10)

/**
 * struct kt_world - a context with one of everything
 * @ctx: its descriptor
 * @dev: the disk; of 512-byte sectors
 * @disk: added for reading and writing
 * @disk_ro, @disk_wo: others of the same size, added for one of these
 * @disk_4k: another, with sectors of 4096 bytes; 0 if there is none
 * @memory: KT_WORLD_BUFFER bytes, pinned
 * @buffer: as read-write
 * @buffer_ro: as read-only
 * @ended: a collective that has ended
 * @stream: one that runs, until @ctx is closed
 * @slot: a slot of it
 * @joint: for three: member 0 has joined, member 1 has as read-only
 * @member: the descriptor of these two
 * @member_memory: of both, KT_WORLD_MEMBER bytes each
 */
struct kt_world {
	int ctx;
	const struct kt_dev *dev;
	uint32_t disk;
	uint32_t disk_ro;
	uint32_t disk_wo;
	uint32_t disk_4k;
	unsigned char *memory;
	uint32_t buffer;
	uint32_t buffer_ro;
	uint32_t ended;
	uint32_t stream;
	uint32_t slot;
	int joint;
	int member[2];
	unsigned char *member_memory;
	struct ddio_ring *ring;
	size_t ring_length;
};

/* From kt_prepare(): makes what every world has besides @dev, or skips. */
void kt_world_prepare(const struct kt_dev *dev);
/* @dev_4k may be NULL.  What has been made is undone by kt_world_fini(), also after a failure. */
int kt_world_init(struct kt_world *world, const struct kt_dev *dev, const struct kt_dev *dev_4k);
void kt_world_fini(struct kt_world *world);
/* Anonymous memory, or NULL. */
void *kt_memory(size_t length);
int kt_joint_create(int ctx, uint32_t members);
int kt_joint_join(int joint, uint32_t member, const void *memory, size_t length, uint32_t flags);
/* A reading stream of 4 KB blocks that nobody empties: it runs until it is cancelled. */
int kt_stream_begin(int ctx, uint32_t disk, uint32_t buffer, uint32_t *coll, uint32_t *slot);

#endif /* KT_WORLD_H */
