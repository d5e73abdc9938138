// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "passfs_nodes.h"

#define HANDLE_BYTES 64
#define BUCKETS 4096u

struct passfs_node {
	struct passfs_node *next;
	uint64_t ino;
	struct file_handle *handle;
};

static uint32_t bucket_of(const struct file_handle *h)
{
	uint32_t sum = 2166136261u;
	unsigned int i;

	for (i = 0; i < h->handle_bytes; i++)
		sum = (sum ^ h->f_handle[i]) * 16777619u;
	return sum % BUCKETS;
}

static bool same(const struct file_handle *a, const struct file_handle *b)
{
	return a->handle_bytes == b->handle_bytes && a->handle_type == b->handle_type &&
	       !memcmp(a->f_handle, b->f_handle, a->handle_bytes);
}

/* Called with the lock held. */
static struct passfs_node *node_add(struct ddio_fs *fs, const struct file_handle *h)
{
	struct passfs_node *n = calloc(1, sizeof(*n));
	uint32_t b = bucket_of(h);

	if (passfs(fs)->nnodes % 1024 == 0)
		passfs(fs)->nodes =
			realloc(passfs(fs)->nodes, (passfs(fs)->nnodes + 1024) * sizeof(n));
	if (!n || !passfs(fs)->nodes)
		abort();
	n->handle = malloc(sizeof(*h) + h->handle_bytes);
	if (!n->handle)
		abort();
	memcpy(n->handle, h, sizeof(*h) + h->handle_bytes);
	passfs(fs)->nodes[passfs(fs)->nnodes++] = n;
	n->ino = passfs(fs)->nnodes;
	n->next = passfs(fs)->by_handle[b];
	passfs(fs)->by_handle[b] = n;
	return n;
}

static int64_t number_of(struct ddio_fs *fs, int dir, const char *name)
{
	union {
		struct file_handle h;
		char space[sizeof(struct file_handle) + HANDLE_BYTES];
	} u = { .h.handle_bytes = HANDLE_BYTES };
	struct passfs_node *n;
	int mount;

	if (name_to_handle_at(dir, name, &u.h, &mount, AT_EMPTY_PATH))
		return -errno;
	pthread_mutex_lock(&passfs(fs)->lock);
	for (n = passfs(fs)->by_handle[bucket_of(&u.h)]; n && !same(n->handle, &u.h); n = n->next)
		;
	if (!n)
		n = node_add(fs, &u.h);
	pthread_mutex_unlock(&passfs(fs)->lock);
	return (int64_t)n->ino;
}

int nodes_init(struct ddio_fs *fs)
{
	int64_t ino = number_of(fs, passfs(fs)->root, "");

	return ino < 0 ? (int)ino : 0;
}

void nodes_free(struct ddio_fs *fs)
{
	uint64_t i;

	for (i = 0; i < passfs(fs)->nnodes; i++) {
		free(passfs(fs)->nodes[i]->handle);
		free(passfs(fs)->nodes[i]);
	}
	free(passfs(fs)->nodes);
}

int node_open(struct ddio_fs *fs, uint64_t ino)
{
	struct file_handle *h = NULL;
	int fd;

	pthread_mutex_lock(&passfs(fs)->lock);
	if (ino && ino <= passfs(fs)->nnodes)
		h = passfs(fs)->nodes[ino - 1]->handle;
	pthread_mutex_unlock(&passfs(fs)->lock);
	if (!h)
		return -ENOENT;
	fd = open_by_handle_at(passfs(fs)->root, h, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno == ESTALE ? -ENOENT : -errno;
	return fd;
}

int node_reopen(struct ddio_fs *fs, uint64_t ino, int flags)
{
	int at = node_open(fs, ino), fd;
	char path[64];

	if (at < 0)
		return at;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(at);
	return fd;
}

int node_attr(struct ddio_fs *fs, int dir, const char *name, struct ddio_fs_attr *attr)
{
	struct stat st;
	int64_t ino;

	if (fstatat(dir, name, &st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
		return -errno;
	ino = number_of(fs, dir, name);
	if (ino < 0)
		return (int)ino;
	*attr = (struct ddio_fs_attr){
		.ino = (uint64_t)ino,
		.size = (uint64_t)st.st_size,
		.alloc = (uint64_t)st.st_blocks * 512,
		.change = (uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec,
		.rdev = st.st_rdev,
		.atime = st.st_atim,
		.mtime = st.st_mtim,
		.ctime = st.st_ctim,
		.btime = st.st_ctim,
		.mode = st.st_mode,
		.nlink = (uint32_t)st.st_nlink,
		.uid = st.st_uid,
		.gid = st.st_gid,
		.block = (uint32_t)st.st_blksize,
		.ndisks = 1,
	};
	return 0;
}
