/* SPDX-License-Identifier: GPL-2.0-only */
/* As golden_values.h, for the file system. */
#ifndef DDIO_TEST_GOLDEN_VALUES_FS_H
#define DDIO_TEST_GOLDEN_VALUES_FS_H

#include <sys/stat.h>
#include "tests/unit/proto/golden_values.h"

#define FILE_ATTR                                                                               \
	{                                                                                       \
		.ino = N64(0x81), .size = N64(0x82), .alloc = N64(0x83), .change = N64(0x84),   \
		.rdev = N64(0x85), .atime = { N64(0x86), 0x12345687 },                          \
		.mtime = { N64(0x88), 0x12345689 }, .ctime = { N64(0x8a), 0x1234568b },         \
		.btime = { N64(0x8c), 0x1234568d }, .mode = S_IFREG | 0644, .nlink = N32(0x8e), \
		.uid = N32(0x8f), .gid = N32(0x90), .block = 4096, .ndisks = 0x1234,            \
	}
#define DIR_ATTR                                                                                \
	{                                                                                       \
		.ino = N64(0xa1), .size = N64(0xa2), .alloc = N64(0xa3), .change = N64(0xa4),   \
		.rdev = N64(0xa5), .atime = { N64(0xa6), 0x123456a7 },                          \
		.mtime = { N64(0xa8), 0x123456a9 }, .ctime = { N64(0xaa), 0x123456ab },         \
		.btime = { N64(0xac), 0x123456ad }, .mode = S_IFDIR | 0755, .nlink = N32(0xae), \
		.uid = N32(0xaf), .gid = N32(0xb0),                                             \
	}
#define SEQ(n)                                   \
	{                                        \
		.seq = N64(0xff), .upto = N64(n) \
	}

static const struct ddio_msg_fs_attach fs_attach = {
	.mount = BYTES16(1), .flags = 1, .life = N64(2), .answered = N64(3), .durable = N64(4)
};
static const struct ddio_msg_fs_attached fs_attached = { .boot = N64(1),
							 .grace_ns = N64(2),
							 .timeout_ns = N64(3),
							 .known = 1,
							 .lost = 2,
							 .life = N64(5) };
static const struct ddio_msg_fs_ino fs_ino = { .ino = N64(1) };
static const struct ddio_msg_fs_name fs_name = {
	.seq = SEQ(1), .parent = N64(2), .flags = DDIO_FS_UNLINK_DIR, .name = "name"
};
static const struct ddio_msg_fs_attr fs_attr = { .attr = FILE_ATTR };
static const struct ddio_msg_fs_setattr fs_setattr = {
	.ino = N64(1),
	.mask = DDIO_FS_SET_SIZE | DDIO_FS_SET_MODE,
	.mode = N32(2),
	.uid = N32(3),
	.gid = N32(4),
	.size = N64(5),
	.atime = { N64(6), 0x12345607 },
	.mtime = { N64(8), 0x12345609 },
	.ctime = { N64(10), 0x1234560b },
};
static const struct ddio_msg_fs_make fs_make = {
	.seq = SEQ(1),
	.parent = N64(2),
	.flags = DDIO_FS_MAKE_EXCL,
	.mode = S_IFLNK | 0777,
	.umask = 022,
	.uid = N32(3),
	.gid = N32(4),
	.rdev = N64(5),
	.name = "link",
	.target = "to",
};
static const struct ddio_msg_fs_open fs_open = { .ino = N64(1), .flags = DDIO_FS_OPEN_LOOK };
static const struct ddio_msg_fs_opened fs_opened = {
	.flags = DDIO_FS_OPENED_RECORD | DDIO_FS_OPENED_DIR,
	.attr = FILE_ATTR,
	.dir = DIR_ATTR,
	.rec = { .ref = { .id = N64(6), .block = 8192 },
		 .ndisks = 1,
		 .disks = (uint32_t *)few_disks },
};
static const struct ddio_msg_fs_unlinked fs_unlinked = {
	.flags = DDIO_FS_UNLINKED_DIR | DDIO_FS_UNLINKED_LEFT,
	.dir = DIR_ATTR,
	.rec = { .ref = { .id = N64(6), .block = 8192 },
		 .ndisks = 1,
		 .disks = (uint32_t *)few_disks },
};
static const struct ddio_msg_fs_link fs_link = {
	.seq = SEQ(1), .ino = N64(2), .parent = N64(3), .name = "name"
};
static const struct ddio_msg_fs_rename fs_rename = {
	.seq = SEQ(1),
	.parent = N64(2),
	.new_parent = N64(3),
	.flags = DDIO_FS_RENAME_EXCHANGE,
	.name = "old",
	.new_name = "new",
};
static const struct ddio_msg_fs_target fs_target = { .target = "a/target" };
static const struct ddio_msg_fs_readdir fs_readdir = {
	.ino = N64(1), .cookie = N64(2), .max = 99, .flags = DDIO_FS_READDIR_PLUS
};
static const struct ddio_fs_dirent dirents[] = {
	{ .cookie = N64(1), .name = "one", .attr = FILE_ATTR },
	{ .cookie = N64(2), .name = "second", .attr = DIR_ATTR },
};
static const struct ddio_msg_fs_entries fs_entries = { .n = 2,
						       .more = 1,
						       .ents = (struct ddio_fs_dirent *)dirents };
static const struct ddio_fs_dirent bare_dirents[] = {
	{ .cookie = N64(1), .name = "one", .attr = FILE_ATTR, .bare = true },
	{ .cookie = N64(2), .name = "second", .attr = DIR_ATTR },
};
static const struct ddio_msg_fs_entries fs_entries_plus = {
	.n = 2, .plus = 1, .ents = (struct ddio_fs_dirent *)bare_dirents
};
static const struct ddio_msg_fs_xattr fs_xattr = {
	.seq = SEQ(1),
	.ino = N64(2),
	.flags = DDIO_FS_XATTR_REPLACE,
	.len = 5,
	.name = "user.a",
	.value = "value",
};
static const struct ddio_msg_fs_value fs_value = { .len = 5, .data = "value" };
static const struct ddio_msg_fs_wrote fs_wrote = { .ino = N64(1),
						   .end = N64(2),
						   .flags = DDIO_FS_WROTE_KILL_SUID };
static const struct ddio_msg_fs_wrote fs_wrote_dense = {
	.ino = N64(1), .end = N64(2), .flags = DDIO_FS_WROTE_TIMES, .base = N64(3)
};
static const struct ddio_msg_fs_wrote fs_wrote_leased = {
	.ino = N64(1),
	.end = N64(2),
	.flags = DDIO_FS_WROTE_LEASED | DDIO_FS_WROTE_RETURN,
	.lease = N64(4),
	.since = N64(5),
	.mtime = { .tv_sec = N64(6), .tv_nsec = N32(7) },
	.base = N64(3),
};
static const struct ddio_msg_fs_wrote fs_wrote_sync = {
	.ino = N64(1), .end = N64(2), .flags = DDIO_FS_WROTE_TIMES, .sync = true
};
static const struct ddio_msg_fs_lease fs_lease = { .ino = N64(1), .flags = DDIO_FS_LEASE_ALONE };
static const struct ddio_msg_fs_leased fs_leased = { .lease = N64(1), .attr = FILE_ATTR };
static const struct ddio_fs_recall few_recalls[] = { { N64(1), N64(2) }, { N64(3), N64(4) } };
static const struct ddio_msg_fs_recalled fs_recalled = {
	.n = 2, .leases = (struct ddio_fs_recall *)few_recalls
};
static const struct ddio_msg_fs_append fs_append = { .seq = SEQ(1), .ino = N64(2), .len = N64(3) };
static const struct ddio_msg_fs_place fs_place = { .offset = N64(1), .attr = FILE_ATTR };
static const struct ddio_msg_fs_alloc fs_alloc = { .ino = N64(1),
						   .change = N64(2),
						   .alloc = N64(3) };
static const struct ddio_msg_fs_space fs_space = { .inodes = N64(1) };
static const struct ddio_msg_fs_lock fs_lock = {
	.ino = N64(1),
	.id = N64(2),
	.start = N64(3),
	.end = N64(4),
	.owner = N64(5),
	.pid = N32(6),
	.type = DDIO_FS_LOCK_WRITE,
	.flags = DDIO_FS_LOCK_WAIT,
};
static const struct ddio_msg_fs_owner fs_owner = { .ino = N64(1), .owner = N64(2) };

#endif /* DDIO_TEST_GOLDEN_VALUES_FS_H */
