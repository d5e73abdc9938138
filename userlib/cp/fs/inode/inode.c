// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of inodes in use.  Some that are no longer in use are kept, since they know how their files
 * are spread and which incarnations of the nodes hold what was written to them.
 */
#include <errno.h>
#include <stdlib.h>
#include "cp/fs/inode/inode.h"
#include "cp/fs/inode/lease.h"
#include "cp/fs/inode/locks.h"

enum { IDLE_MAX = 16384 };
#define IDLE_NS (60 * 1000000000ull)

/**
 * struct fsc_inodes - the table
 * @idle: struct fsc_inode.idle: the @nidle inodes without references, the longest idle first
 */
struct fsc_inodes {
	struct ddio_hash hash;
	struct ddio_list idle;
	uint32_t nidle;
};

int fsc_inodes_new(struct ddio_fs *fs)
{
	fs->inodes = calloc(1, sizeof(*fs->inodes));
	if (!fs->inodes)
		return -ENOMEM;
	ddio_list_init(&fs->inodes->idle);
	return 0;
}

static void inode_free(struct fsc_inode *inode)
{
	struct fsc_inodes *t = inode->fs->inodes;

	ddio_hash_del(&t->hash, &inode->node);
	if (!inode->refs) {
		ddio_list_del(&inode->idle);
		t->nidle--;
	}
	ddio_list_del(&inode->open_link);
	fsc_locks_drop(inode);
	ddio_file_record_free(&inode->rec);
	free(inode->holder);
	free(inode);
}

void fsc_inodes_free(struct ddio_fs *fs)
{
	struct ddio_hash_walk walk;
	struct fsc_inode *inode;

	if (!fs->inodes)
		return;
	ddio_hash_for_each(inode, &walk, &fs->inodes->hash, node)
		inode_free(inode);
	ddio_hash_fini(&fs->inodes->hash);
	free(fs->inodes);
}

struct fsc_inode *fsc_inode_find(struct ddio_fs *fs, uint64_t ino)
{
	return ddio_hash_entry(ddio_hash_find(&fs->inodes->hash, ino), struct fsc_inode, node);
}

/*
 * Where requests are taken on reactor 0, it moves the data, too, so that no other thread has to be woken for each; but
 * when more files are in use than one or two, the others get their share.
 */
static struct fsc_reactor *reactor_for(struct ddio_fs *fs, uint64_t ino)
{
	struct fsc_reactor *r = &fs->reactor[0];
	uint32_t i;

	if (!fs->serving)
		return &fs->reactor[ino % fs->nreactors];
	for (i = 1; i < fs->nreactors; i++)
		if (fs->reactor[i].used + 1 < r->used)
			r = &fs->reactor[i];
	return r;
}

static struct fsc_inode *inode_new(struct ddio_fs *fs, uint64_t ino)
{
	struct fsc_inode *inode = calloc(1, sizeof(*inode));
	struct fsc_inodes *t = fs->inodes;

	if (!inode)
		return NULL;
	inode->fs = fs;
	inode->r = reactor_for(fs, ino);
	inode->ino = ino;
	ddio_list_init(&inode->reopen);
	ddio_list_init(&inode->open_link);
	ddio_list_init(&inode->locks);
	ddio_list_init(&inode->tell.riding);
	ddio_list_init(&inode->tell.queued);
	ddio_list_init(&inode->lazy_link);
	ddio_list_init(&inode->syncs);
	ddio_list_init(&inode->rights);
	ddio_list_init(&inode->sizers);
	fsc_lease_init(inode);
	ddio_hash_add(&t->hash, &inode->node, ino);
	ddio_list_add(&inode->idle, &t->idle);
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
		fs->inodes->nidle--;
		inode->r->used++;
	}
	return inode;
}

void fsc_inode_put(struct fsc_inode *inode)
{
	struct fsc_inodes *t = inode->fs->inodes;

	if (--inode->refs)
		return;
	inode->r->used--;
	ddio_list_add(&inode->idle, &t->idle);
	t->nidle++;
	inode->since = ddio_env_now(inode->fs->reactor[0].env);
	/* An inode that was never open knows nothing worth keeping. */
	if (!inode->known)
		inode_free(inode);
	else if (t->nidle > IDLE_MAX)
		inode_free(ddio_list_first(&t->idle, struct fsc_inode, idle));
}

/* Returns true if a node may have writes to the file that a later sync must ask for. */
static bool is_held(const struct fsc_inode *inode)
{
	uint32_t i;

	for (i = 0; inode->holder && i < inode->rec.ndisks; i++)
		if (inode->holder[i])
			return true;
	return false;
}

void fsc_inodes_trim(struct ddio_fs *fs)
{
	uint64_t now = ddio_env_now(fs->reactor[0].env);
	struct fsc_inode *inode, *next;

	ddio_list_for_each_entry_safe(inode, next, &fs->inodes->idle, idle) {
		if (now - inode->since < IDLE_NS)
			break;
		if (!is_held(inode))
			inode_free(inode);
	}
}

uint32_t fsc_inodes_idle(const struct ddio_fs *fs)
{
	return fs->inodes->nidle;
}

void fsc_inodes_unsynced(struct ddio_fs *fs)
{
	struct ddio_hash_walk walk;
	struct fsc_inode *inode;

	ddio_hash_for_each(inode, &walk, &fs->inodes->hash, node)
		fsc_unsynced_add(&fs->names->unsynced, inode->ino);
}

void fsc_inode_forget(struct ddio_fs *fs, uint64_t ino)
{
	struct fsc_inode *inode = fsc_inode_find(fs, ino);

	if (inode && !inode->refs)
		inode_free(inode);
}
