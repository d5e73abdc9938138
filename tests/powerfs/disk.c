// SPDX-License-Identifier: GPL-2.0-only
/* The directory below, with all nodes. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "powerfs.h"

#define ROOT 1
#define NAMES "names"

void fate_init(struct pfs_fate *fate, uint64_t seed)
{
	static const uint32_t shares[] = { 0, 32, 128, 224, 256 };

	*fate = (struct pfs_fate){ .rand = seed };
	if (seed)
		fate->share = shares[fate_draw(fate, 5)];
}

uint32_t fate_draw(struct pfs_fate *fate, uint32_t n)
{
	if (!fate->rand)
		return 0;
	fate->rand = fate->rand * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(fate->rand >> 33) % n;
}

struct pfs_node *disk_node(const struct pfs_disk *disk, uint64_t ino)
{
	return ino < disk->n ? disk->nodes[ino] : NULL;
}

/* Makes room for a number, which has no node yet. */
static int room_for(struct pfs_disk *disk, uint64_t ino)
{
	struct pfs_node **more;

	if (ino < disk->n)
		return disk->nodes[ino] ? EEXIST : 0;
	more = realloc(disk->nodes, (ino + 1) * sizeof(*more));
	if (!more)
		return ENOMEM;
	memset(more + disk->n, 0, (ino + 1 - disk->n) * sizeof(*more));
	disk->nodes = more;
	disk->n = ino + 1;
	return 0;
}

static void bytes_name(char name[32], uint64_t ino)
{
	snprintf(name, 32, "%" PRIu64, ino);
}

static int node_add(struct pfs_disk *disk, uint64_t ino, mode_t mode, bool create,
		    struct pfs_node **made)
{
	struct pfs_node *node = calloc(1, sizeof(*node));
	int err = node ? room_for(disk, ino) : ENOMEM;
	char name[32];

	bytes_name(name, ino);
	if (!err && S_ISREG(mode))
		err = file_open(&node->file, disk->fd, name, create);
	if (err) {
		free(node);
		return err;
	}
	node->ino = ino;
	node->mode = mode;
	dir_init(&node->dir);
	disk->nodes[ino] = node;
	*made = node;
	return 0;
}

/* Reads "number mode uid gid parent name" of one node. */
static int node_read(struct pfs_disk *disk, const char *line)
{
	uint64_t ino, parent;
	uint32_t mode, uid, gid;
	struct pfs_node *node, *dir;
	char name[256];
	int err;

	if (sscanf(line, "%" SCNu64 " %o %u %u %" SCNu64 " %255[^\n]", &ino, &mode, &uid, &gid,
		   &parent, name) != 6)
		return EIO;
	err = node_add(disk, ino, mode, false, &node);
	if (err)
		return err;
	node->uid = uid;
	node->gid = gid;
	dir = disk_node(disk, parent);
	if (ino != ROOT)
		err = dir ? dir_set(&dir->dir, name, ino, false) : EIO;
	return err;
}

static int names_read(struct pfs_disk *disk)
{
	int fd = openat(disk->fd, NAMES, O_RDONLY | O_CLOEXEC), err = 0;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[512];
	struct pfs_node *root;
	uint64_t i;

	if (!f)
		return errno == ENOENT ? node_add(disk, ROOT, S_IFDIR | 0755, true, &root) : errno;
	while (!err && fgets(line, sizeof(line), f))
		err = node_read(disk, line);
	fclose(f);
	for (i = 0; i < disk->n; i++)
		if (disk->nodes[i])
			dir_sync(&disk->nodes[i]->dir);
	return err;
}

int disk_open(struct pfs_disk *disk, const char *path)
{
	*disk = (struct pfs_disk){ .fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	return disk->fd < 0 ? errno : names_read(disk);
}

/* Writes down a directory and what is in it, a directory before its names. */
static void names_write(const struct pfs_disk *disk, const struct pfs_node *node, uint64_t parent,
			const char *name, FILE *f, bool *named)
{
	const struct pfs_entry *e;

	named[node->ino] = true;
	fprintf(f, "%" PRIu64 " %o %u %u %" PRIu64 " %s\n", node->ino, node->mode, node->uid,
		node->gid, parent, name);
	for (e = node->dir.now; e; e = e->next)
		if (disk_node(disk, e->node) && !named[e->node])
			names_write(disk, disk->nodes[e->node], node->ino, e->name, f, named);
}

static void node_free(struct pfs_disk *disk, struct pfs_node *node, bool named)
{
	char name[32];

	if (!node)
		return;
	bytes_name(name, node->ino);
	if (S_ISREG(node->mode)) {
		file_close(&node->file);
		if (!named)
			unlinkat(disk->fd, name, 0);
	}
	dir_free(&node->dir);
	free(node);
}

int disk_close(struct pfs_disk *disk)
{
	int fd = openat(disk->fd, NAMES, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	bool *named = calloc(disk->n, sizeof(*named));
	int err = f && named ? 0 : EIO;
	uint64_t i;

	if (!err)
		names_write(disk, disk->nodes[ROOT], 0, "/", f, named);
	if (f && fclose(f))
		err = EIO;
	for (i = 0; i < disk->n; i++)
		node_free(disk, disk->nodes[i], err || named[i]);
	free(named);
	free(disk->nodes);
	close(disk->fd);
	return err;
}

int disk_make(struct pfs_disk *disk, struct pfs_node *parent, const char *name, mode_t mode,
	      struct pfs_node **made)
{
	int err = node_add(disk, disk->n > ROOT ? disk->n : ROOT + 1, mode, true, made);

	return err ? err : dir_set(&parent->dir, name, (*made)->ino, false);
}

int disk_lose(struct pfs_disk *disk, struct pfs_fate *fate)
{
	int err = 0;
	uint64_t i;

	for (i = ROOT; i < disk->n && !err; i++) {
		struct pfs_node *node = disk->nodes[i];

		if (node && S_ISREG(node->mode))
			err = file_lose(&node->file, fate);
		else if (node)
			dir_lose(&node->dir, fate);
	}
	return err;
}
