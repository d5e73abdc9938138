// SPDX-License-Identifier: LGPL-2.1-or-later
/* The table of inodes in use.  Some of those that are not are kept: how they are spread, and which
 * lives of the nodes have what was written to them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/inode/inode.h"

enum { BUCKETS = 1024, IDLE_MAX = 16384 };

int fsc_table_init(struct ddio_fs *fs)
{
	struct fsc_table *t = &fs->table;
	uint32_t i;

	ddio_list_init(&t->idle);
	t->bucket = malloc(BUCKETS * sizeof(*t->bucket));
	if (!t->bucket)
		return -ENOMEM;
	t->nbuckets = BUCKETS;
	for (i = 0; i < BUCKETS; i++)
		ddio_list_init(&t->bucket[i]);
	return 0;
}

static struct ddio_list *table_bucket(struct fsc_table *t, uint64_t ino)
{
	uint64_t h = ino * 0x9e3779b97f4a7c15ull;

	return &t->bucket[(h >> 32) & (t->nbuckets - 1)];
}

/* Twice as many chains; without memory they stay long. */
static void table_grow(struct fsc_table *t)
{
	uint32_t n = t->nbuckets * 2, i;
	struct ddio_list *old = t->bucket, *bucket = malloc(n * sizeof(*bucket));
	uint32_t nold = t->nbuckets;
	struct fsc_inode *inode;

	if (!bucket)
		return;
	for (i = 0; i < n; i++)
		ddio_list_init(&bucket[i]);
	t->bucket = bucket;
	t->nbuckets = n;
	for (i = 0; i < nold; i++) {
		while (!ddio_list_empty(&old[i])) {
			inode = ddio_list_first(&old[i], struct fsc_inode, hash);
			ddio_list_del(&inode->hash);
			ddio_list_add(&inode->hash, table_bucket(t, inode->ino));
		}
	}
	free(old);
}

static void inode_free(struct fsc_inode *inode)
{
	struct fsc_table *t = &inode->fs->table;

	ddio_list_del(&inode->hash);
	if (!inode->refs) {
		ddio_list_del(&inode->idle);
		t->nidle--;
	}
	ddio_list_del(&inode->open_link);
	fsc_locks_drop(inode);
	t->n--;
	ddio_file_record_free(&inode->rec);
	free(inode->pin);
	free(inode);
}

void fsc_table_free(struct ddio_fs *fs)
{
	struct fsc_table *t = &fs->table;
	uint32_t i;

	for (i = 0; i < t->nbuckets; i++)
		while (!ddio_list_empty(&t->bucket[i]))
			inode_free(ddio_list_first(&t->bucket[i], struct fsc_inode, hash));
	free(t->bucket);
}

struct fsc_inode *fsc_inode_find(struct ddio_fs *fs, uint64_t ino)
{
	struct ddio_list *bucket = table_bucket(&fs->table, ino);
	struct fsc_inode *inode;

	ddio_list_for_each_entry(inode, bucket, hash)
		if (inode->ino == ino)
			return inode;
	return NULL;
}

static struct fsc_inode *inode_new(struct ddio_fs *fs, uint64_t ino)
{
	struct fsc_inode *inode = calloc(1, sizeof(*inode));
	struct fsc_table *t = &fs->table;

	if (!inode)
		return NULL;
	inode->fs = fs;
	inode->r = &fs->reactor[ino % fs->nreactors];
	inode->ino = ino;
	inode->bare = true;
	ddio_list_init(&inode->reopen);
	ddio_list_init(&inode->open_link);
	ddio_list_init(&inode->locks);
	ddio_list_init(&inode->tell.riding);
	ddio_list_init(&inode->tell.queued);
	ddio_list_init(&inode->lazy_link);
	ddio_list_init(&inode->syncs);
	if (t->n >= t->nbuckets)
		table_grow(t);
	ddio_list_add(&inode->hash, table_bucket(t, ino));
	ddio_list_add(&inode->idle, &t->idle);
	t->n++;
	t->nidle++;
	return inode;
}

struct fsc_inode *fsc_inode_get(struct ddio_fs *fs, uint64_t ino)
{
	struct fsc_inode *inode = fsc_inode_find(fs, ino);

	if (!inode)
		inode = inode_new(fs, ino);
	if (inode && !inode->refs++) {
		ddio_list_del(&inode->idle);
		fs->table.nidle--;
	}
	return inode;
}

void fsc_inode_put(struct fsc_inode *inode)
{
	struct fsc_table *t = &inode->fs->table;

	if (--inode->refs)
		return;
	ddio_list_add(&inode->idle, &t->idle);
	t->nidle++;
	/* One that was never open has nothing that is worth keeping. */
	if (!inode->known)
		inode_free(inode);
	else if (t->nidle > IDLE_MAX)
		inode_free(ddio_list_first(&t->idle, struct fsc_inode, idle));
}

void fsc_inode_forget(struct ddio_fs *fs, uint64_t ino)
{
	struct fsc_inode *inode = fsc_inode_find(fs, ino);

	if (inode && !inode->refs)
		inode_free(inode);
}
