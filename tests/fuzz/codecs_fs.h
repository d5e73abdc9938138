/* SPDX-License-Identifier: GPL-2.0-only */
/* Makers of random valid contents for the file system's messages; part of codecs.h. */
#ifndef DDIO_TEST_CODECS_FS_H
#define DDIO_TEST_CODECS_FS_H

#include <sys/stat.h>
#include "tests/fuzz/codecs_rnd.h"

static inline void gen_fs_seq(struct rnd *r, struct ddio_fs_seq *x)
{
	x->seq = 1 + rnd_u64(r) / 2;
	x->upto = rnd_below(r, x->seq);
	if (!rnd_below(r, 4))
		x->seq = 0;
}

static inline uint64_t gen_ino(struct rnd *r)
{
	return 1 + rnd_u64(r) / 2;
}

static inline void gen_fs_entry_name(struct rnd *r, char *name)
{
	size_t i;

	rnd_str(r, name, DDIO_MAX_NAME + 1, 1);
	for (i = 0; name[i]; i++)
		if (name[i] == '/')
			name[i] = '_';
}

static inline void gen_time(struct rnd *r, struct timespec *t)
{
	t->tv_sec = (time_t)rnd_u64(r);
	t->tv_nsec = (long)rnd_below(r, 1000000000);
}

static inline uint32_t gen_mode(struct rnd *r)
{
	static const uint32_t types[] = { S_IFREG, S_IFDIR, S_IFLNK, S_IFCHR,
					  S_IFBLK, S_IFIFO, S_IFSOCK };

	return types[rnd_below(r, sizeof(types) / sizeof(types[0]))] |
	       (uint32_t)rnd_below(r, 010000);
}

static inline void gen_attr(struct rnd *r, struct ddio_fs_attr *a)
{
	a->ino = gen_ino(r);
	a->size = rnd_below(r, DDIO_MAX_FILE + 1);
	a->alloc = rnd_u64(r);
	a->change = rnd_u64(r);
	a->rdev = rnd_u64(r);
	gen_time(r, &a->atime);
	gen_time(r, &a->mtime);
	gen_time(r, &a->ctime);
	gen_time(r, &a->btime);
	a->mode = gen_mode(r);
	a->nlink = (uint32_t)rnd_u64(r);
	a->uid = (uint32_t)rnd_u64(r);
	a->gid = (uint32_t)rnd_u64(r);
	if (S_ISREG(a->mode)) {
		a->block = DDIO_MIN_BLOCK << rnd_below(r, 16);
		a->ndisks = 1 + (uint32_t)rnd_below(r, DDIO_MAX_DISKS);
	}
}

static inline void gen_dir_attr(struct rnd *r, struct ddio_fs_attr *a)
{
	gen_attr(r, a);
	a->mode = S_IFDIR | (a->mode & 07777);
	a->block = a->ndisks = 0;
}

static inline void gen_fs_attach(struct rnd *r, struct ddio_msg_fs_attach *x)
{
	rnd_bytes(r, x->mount, sizeof(x->mount));
	x->mount[3] |= 1;
	x->flags = (uint32_t)rnd_below(r, 2);
	x->life = rnd_u64(r);
	x->answered = rnd_u64(r);
	x->durable = rnd_u64(r);
}

static inline void gen_fs_attached(struct rnd *r, struct ddio_msg_fs_attached *x)
{
	x->boot = rnd_u64(r);
	x->grace_ns = rnd_u64(r);
	x->timeout_ns = rnd_u64(r);
	x->known = (uint32_t)rnd_below(r, 2);
	x->lost = (uint32_t)rnd_below(r, DDIO_FS_LOST_ALL + 1);
	x->life = rnd_u64(r);
}

static inline void gen_fs_ino(struct rnd *r, struct ddio_msg_fs_ino *x)
{
	x->ino = gen_ino(r);
}

static inline void gen_fs_name(struct rnd *r, struct ddio_msg_fs_name *x)
{
	gen_fs_seq(r, &x->seq);
	x->parent = gen_ino(r);
	x->flags = (uint32_t)rnd_below(r, 2);
	gen_fs_entry_name(r, x->name);
}

static inline void gen_fs_attr(struct rnd *r, struct ddio_msg_fs_attr *x)
{
	gen_attr(r, &x->attr);
}

static inline void gen_fs_setattr(struct rnd *r, struct ddio_msg_fs_setattr *x)
{
	x->ino = gen_ino(r);
	x->mask = (uint32_t)rnd_below(r, 2 * DDIO_FS_KILL_SUID);
	x->mode = (uint32_t)rnd_u64(r);
	x->uid = (uint32_t)rnd_u64(r);
	x->gid = (uint32_t)rnd_u64(r);
	x->size = rnd_u64(r);
	gen_time(r, &x->atime);
	gen_time(r, &x->mtime);
	gen_time(r, &x->ctime);
}

static inline void gen_fs_make(struct rnd *r, struct ddio_msg_fs_make *x)
{
	gen_fs_seq(r, &x->seq);
	x->parent = gen_ino(r);
	x->flags = (uint32_t)rnd_below(r, 2) * DDIO_FS_MAKE_EXCL;
	x->mode = gen_mode(r);
	x->umask = (uint32_t)rnd_below(r, 01000);
	x->uid = (uint32_t)rnd_u64(r);
	x->gid = (uint32_t)rnd_u64(r);
	x->rdev = rnd_u64(r);
	gen_fs_entry_name(r, x->name);
	if (S_ISLNK(x->mode))
		rnd_str(r, x->target, sizeof(x->target), 1);
	if (S_ISREG(x->mode))
		x->flags |= (uint32_t)rnd_below(r, 2) * DDIO_FS_MAKE_OPEN;
}

static inline void gen_fs_open(struct rnd *r, struct ddio_msg_fs_open *x)
{
	x->ino = gen_ino(r);
	x->flags = (uint32_t)rnd_below(r, 4);
}

static inline void gen_fs_opened(struct rnd *r, struct ddio_msg_fs_opened *x)
{
	x->flags = (uint32_t)rnd_below(r, 2 * DDIO_FS_OPENED_DIR);
	gen_attr(r, &x->attr);
	if (x->flags & DDIO_FS_OPENED_DIR)
		gen_dir_attr(r, &x->dir);
	if (x->flags & DDIO_FS_OPENED_RECORD)
		gen_record(r, &x->rec);
}

static inline void gen_fs_unlinked(struct rnd *r, struct ddio_msg_fs_unlinked *x)
{
	x->flags = (uint32_t)rnd_below(r, 2 * DDIO_FS_UNLINKED_LEFT);
	if (x->flags & DDIO_FS_UNLINKED_DIR)
		gen_dir_attr(r, &x->dir);
	if (x->flags & DDIO_FS_UNLINKED_LEFT)
		gen_record(r, &x->rec);
}

static inline void gen_fs_link(struct rnd *r, struct ddio_msg_fs_link *x)
{
	gen_fs_seq(r, &x->seq);
	x->ino = gen_ino(r);
	x->parent = gen_ino(r);
	gen_fs_entry_name(r, x->name);
}

static inline void gen_fs_rename(struct rnd *r, struct ddio_msg_fs_rename *x)
{
	gen_fs_seq(r, &x->seq);
	x->parent = gen_ino(r);
	x->new_parent = gen_ino(r);
	x->flags = (uint32_t)rnd_below(r, 3);
	gen_fs_entry_name(r, x->name);
	gen_fs_entry_name(r, x->new_name);
}

static inline void gen_fs_target(struct rnd *r, struct ddio_msg_fs_target *x)
{
	rnd_str(r, x->target, sizeof(x->target), 1);
}

static inline void gen_fs_readdir(struct rnd *r, struct ddio_msg_fs_readdir *x)
{
	x->ino = gen_ino(r);
	x->cookie = rnd_u64(r);
	x->max = 1 + (uint32_t)rnd_below(r, DDIO_MAX_BATCH);
	x->flags = (uint32_t)rnd_below(r, 2);
}

static inline void gen_fs_entries(struct rnd *r, struct ddio_msg_fs_entries *x)
{
	char *names;
	uint32_t i;

	x->n = (uint32_t)rnd_below(r, 6);
	x->more = (uint32_t)rnd_below(r, 2);
	x->plus = (uint32_t)rnd_below(r, 2);
	x->ents = rnd_array(x->n, sizeof(*x->ents) + DDIO_MAX_NAME + 1);
	names = x->n ? (char *)(x->ents + x->n) : NULL;
	for (i = 0; i < x->n; i++) {
		x->ents[i].cookie = rnd_u64(r);
		x->ents[i].name = names;
		gen_fs_entry_name(r, names);
		names += strlen(names) + 1;
		if (x->plus) {
			gen_attr(r, &x->ents[i].attr);
			x->ents[i].bare = rnd_below(r, 2);
			continue;
		}
		x->ents[i].attr.ino = gen_ino(r);
		x->ents[i].attr.mode = gen_mode(r);
	}
}

static inline void gen_fs_xattr(struct rnd *r, struct ddio_msg_fs_xattr *x)
{
	static uint8_t value[1000];

	gen_fs_seq(r, &x->seq);
	x->ino = gen_ino(r);
	x->flags = (uint32_t)rnd_below(r, 3) | (uint32_t)rnd_below(r, 2) * DDIO_FS_XATTR_KILL_SGID;
	rnd_str(r, x->name, sizeof(x->name), 1);
	rnd_bytes(r, value, sizeof(value));
	x->len = (uint32_t)rnd_below(r, sizeof(value) + 1);
	x->value = value;
}

static inline void gen_fs_value(struct rnd *r, struct ddio_msg_fs_value *x)
{
	static uint8_t data[1000];

	rnd_bytes(r, data, sizeof(data));
	x->len = (uint32_t)rnd_below(r, sizeof(data) + 1);
	x->data = data;
}

static inline void gen_fs_wrote(struct rnd *r, struct ddio_msg_fs_wrote *x)
{
	x->ino = gen_ino(r);
	x->end = rnd_below(r, DDIO_MAX_FILE + 1);
	x->flags = (uint32_t)rnd_below(r, 2 * DDIO_FS_WROTE_KILL_SUID);
	x->base = rnd_below(r, 3);
	x->sync = rnd_below(r, 2);
	if (rnd_below(r, 2))
		return;
	x->flags |= DDIO_FS_WROTE_LEASED | (rnd_below(r, 2) ? DDIO_FS_WROTE_RETURN : 0);
	x->lease = 1 + rnd_below(r, 1ull << 40);
	x->since = rnd_u64(r);
	gen_time(r, &x->mtime);
}

static inline void gen_fs_lease(struct rnd *r, struct ddio_msg_fs_lease *x)
{
	x->ino = gen_ino(r);
	x->flags = (uint32_t)rnd_below(r, 2);
}

static inline void gen_fs_leased(struct rnd *r, struct ddio_msg_fs_leased *x)
{
	x->lease = rnd_u64(r);
	gen_attr(r, &x->attr);
}

static inline void gen_fs_recalled(struct rnd *r, struct ddio_msg_fs_recalled *x)
{
	uint32_t i;

	x->n = (uint32_t)rnd_below(r, 6);
	x->leases = rnd_array(x->n, sizeof(*x->leases));
	for (i = 0; i < x->n; i++) {
		x->leases[i].ino = gen_ino(r);
		x->leases[i].lease = rnd_u64(r);
	}
}

static inline void gen_fs_append(struct rnd *r, struct ddio_msg_fs_append *x)
{
	gen_fs_seq(r, &x->seq);
	x->ino = gen_ino(r);
	x->len = 1 + rnd_below(r, DDIO_MAX_FILE);
}

static inline void gen_fs_place(struct rnd *r, struct ddio_msg_fs_place *x)
{
	x->offset = rnd_below(r, DDIO_MAX_FILE + 1);
	gen_attr(r, &x->attr);
}

static inline void gen_fs_alloc(struct rnd *r, struct ddio_msg_fs_alloc *x)
{
	x->ino = gen_ino(r);
	x->change = rnd_u64(r);
	x->alloc = rnd_below(r, DDIO_MAX_FILE + 1);
}

static inline void gen_fs_space(struct rnd *r, struct ddio_msg_fs_space *x)
{
	x->inodes = rnd_u64(r);
}

static inline void gen_fs_lock(struct rnd *r, struct ddio_msg_fs_lock *x)
{
	x->ino = gen_ino(r);
	x->id = 1 + rnd_u64(r) / 2;
	x->start = rnd_u64(r);
	x->end = x->start + rnd_u64(r) / 2;
	if (x->end < x->start || !rnd_below(r, 4))
		x->end = UINT64_MAX;
	x->owner = rnd_u64(r);
	x->pid = (uint32_t)rnd_u64(r);
	x->type = (uint32_t)rnd_below(r, DDIO_FS_LOCK_MAX);
	x->flags = (uint32_t)rnd_below(r, 2 * DDIO_FS_LOCK_OTHER);
}

static inline void gen_fs_owner(struct rnd *r, struct ddio_msg_fs_owner *x)
{
	x->ino = gen_ino(r);
	x->owner = rnd_u64(r);
}

static inline void gen_obj_stat(struct rnd *r, struct ddio_msg_obj_stat *x)
{
	x->alloc = rnd_below(r, DDIO_MAX_FILE + 1);
	x->end = rnd_below(r, DDIO_MAX_FILE + 1);
}

static inline void gen_obj_copy(struct rnd *r, struct ddio_msg_obj_copy *x)
{
	gen_file_ref(r, &x->from);
	gen_file_ref(r, &x->to);
	x->disk = (uint32_t)rnd_u64(r);
	x->len = 1 + rnd_below(r, DDIO_MAX_BULK);
	x->from_offset = rnd_below(r, DDIO_MAX_FILE - x->len + 1);
	x->to_offset = rnd_below(r, DDIO_MAX_FILE - x->len + 1);
}

static inline void gen_obj_clone(struct rnd *r, struct ddio_msg_obj_clone *x)
{
	gen_file_ref(r, &x->to);
	x->from = x->to;
	x->from.id = x->to.id ^ 1 ? x->to.id ^ 1 : 2;
	x->disk = (uint32_t)rnd_u64(r);
	x->flags = (uint32_t)rnd_below(r, 2);
	x->hold = 1 + rnd_below(r, DDIO_MAX_FILE);
	x->len = rnd_below(r, DDIO_MAX_FILE + 1);
}

static inline void gen_obj_mend(struct rnd *r, struct ddio_msg_obj_mend *x)
{
	gen_file_ref(r, &x->file);
	x->disk = (uint32_t)rnd_u64(r);
	x->reserved = 0;
	x->at = rnd_below(r, DDIO_MAX_FILE + 1);
	x->longest = rnd_u64(r);
	x->rate = rnd_u64(r);
}

static inline void gen_mended(struct rnd *r, struct ddio_msg_mended *x)
{
	x->flags = (uint32_t)rnd_below(r, 8);
	x->reserved = 0;
	x->at = rnd_below(r, DDIO_MAX_FILE + 1);
	x->moved = rnd_u64(r);
	x->shared = rnd_u64(r);
	x->reserved_blocks = rnd_u64(r);
	x->space = rnd_u64(r);
	x->bad = rnd_u64(r);
}

static inline void gen_disk_space(struct rnd *r, struct ddio_msg_disk_space *x)
{
	x->free = rnd_u64(r);
	x->ranges = rnd_u64(r);
	x->longest = rnd_u64(r);
	x->shared = rnd_u64(r);
}

#define CODECS_FS(X)                                                   \
	X(fs_attach, ddio_msg_fs_attach, N)                            \
	X(fs_attached, ddio_msg_fs_attached, N)                        \
	X(fs_ino, ddio_msg_fs_ino, N)                                  \
	X(fs_name, ddio_msg_fs_name, N)                                \
	X(fs_attr, ddio_msg_fs_attr, N)                                \
	X(fs_setattr, ddio_msg_fs_setattr, N)                          \
	X(fs_make, ddio_msg_fs_make, N)                                \
	X(fs_open, ddio_msg_fs_open, N)                                \
	X(fs_opened, ddio_msg_fs_opened, F(ddio_fs_opened_free))       \
	X(fs_unlinked, ddio_msg_fs_unlinked, F(ddio_fs_unlinked_free)) \
	X(fs_link, ddio_msg_fs_link, N)                                \
	X(fs_rename, ddio_msg_fs_rename, N)                            \
	X(fs_target, ddio_msg_fs_target, N)                            \
	X(fs_readdir, ddio_msg_fs_readdir, N)                          \
	X(fs_entries, ddio_msg_fs_entries, P(ents))                    \
	X(fs_xattr, ddio_msg_fs_xattr, N)                              \
	X(fs_value, ddio_msg_fs_value, N)                              \
	X(fs_wrote, ddio_msg_fs_wrote, N)                              \
	X(fs_lease, ddio_msg_fs_lease, N)                              \
	X(fs_leased, ddio_msg_fs_leased, N)                            \
	X(fs_recalled, ddio_msg_fs_recalled, P(leases))                \
	X(fs_append, ddio_msg_fs_append, N)                            \
	X(fs_place, ddio_msg_fs_place, N)                              \
	X(fs_alloc, ddio_msg_fs_alloc, N)                              \
	X(fs_space, ddio_msg_fs_space, N)                              \
	X(fs_lock, ddio_msg_fs_lock, N)                                \
	X(fs_owner, ddio_msg_fs_owner, N)                              \
	X(obj_stat, ddio_msg_obj_stat, N)                              \
	X(obj_copy, ddio_msg_obj_copy, N)                              \
	X(obj_clone, ddio_msg_obj_clone, N)                            \
	X(obj_mend, ddio_msg_obj_mend, N)                              \
	X(mended, ddio_msg_mended, N)                                  \
	X(disk_space, ddio_msg_disk_space, N)

#define CARRIED_FS                                                                                 \
	{ DDIO_OP_FS_ATTACH, "fs_attach", "fs_attached" }, { DDIO_OP_FS_DETACH, NULL, NULL },      \
		{ DDIO_OP_FS_DISKS, "disk_ids", "disk_ids" },                                      \
		{ DDIO_OP_FS_LEASE, "fs_lease", "fs_leased" },                                     \
		{ DDIO_OP_FS_RECALL, NULL, "fs_recalled" },                                        \
		{ DDIO_OP_FS_LOOKUP, "fs_name", "fs_attr" },                                       \
		{ DDIO_OP_FS_GETATTR, "fs_ino", "fs_attr" },                                       \
		{ DDIO_OP_FS_SETATTR, "fs_setattr", "fs_attr" },                                   \
		{ DDIO_OP_FS_MAKE, "fs_make", "fs_opened" },                                       \
		{ DDIO_OP_FS_LINK, "fs_link", "fs_attr" },                                         \
		{ DDIO_OP_FS_UNLINK, "fs_name", "fs_unlinked" },                                   \
		{ DDIO_OP_FS_RENAME, "fs_rename", "ns_listing" },                                  \
		{ DDIO_OP_FS_READLINK, "fs_ino", "fs_target" },                                    \
		{ DDIO_OP_FS_READDIR, "fs_readdir", "fs_entries" },                                \
		{ DDIO_OP_FS_GETXATTR, "fs_xattr", "fs_value" },                                   \
		{ DDIO_OP_FS_SETXATTR, "fs_xattr", "fs_attr" },                                    \
		{ DDIO_OP_FS_LISTXATTR, "fs_ino", "fs_value" },                                    \
		{ DDIO_OP_FS_REMOVEXATTR, "fs_xattr", "fs_attr" },                                 \
		{ DDIO_OP_FS_OPEN, "fs_open", "fs_opened" },                                       \
		{ DDIO_OP_FS_RELEASE, "fs_ino", "ns_listing" },                                    \
		{ DDIO_OP_FS_WROTE, "fs_wrote", "fs_attr" },                                       \
		{ DDIO_OP_FS_APPEND, "fs_append", "fs_place" },                                    \
		{ DDIO_OP_FS_ALLOC, "fs_alloc", "fs_attr" }, { DDIO_OP_FS_SYNC, NULL, NULL },      \
		{ DDIO_OP_FS_SPACE, NULL, "fs_space" },                                            \
		{ DDIO_OP_FS_LOCK_TEST, "fs_lock", "fs_lock" },                                    \
		{ DDIO_OP_FS_LOCK_SET, "fs_lock", NULL },                                          \
		{ DDIO_OP_FS_LOCK_CANCEL, "fs_ino", NULL },                                        \
		{ DDIO_OP_FS_UNLOCK_OWNER, "fs_owner", NULL },                                     \
		{ DDIO_OP_FS_ORPHANS, "fs_readdir", "ns_listing" },                                \
		{ DDIO_OP_FS_GONE, "fs_ino", NULL }, { DDIO_OP_OBJ_STAT, "obj", "obj_stat" },      \
		{ DDIO_OP_OBJ_PUNCH, "obj", NULL }, { DDIO_OP_OBJ_ALLOCATE, "obj", NULL },         \
		{ DDIO_OP_OBJ_COPY, "obj_copy", "obj_data" }, { DDIO_OP_OBJ_SETTLE, "obj", NULL }, \
		{ DDIO_OP_OBJ_HOLD, "obj", NULL }, { DDIO_OP_OBJ_CLONE, "obj_clone", NULL },       \
		{ DDIO_OP_OBJ_MEND, "obj_mend", "mended" },                                        \
		{ DDIO_OP_DISK_SPACE, "obj", "disk_space" },

#endif /* DDIO_TEST_CODECS_FS_H */
