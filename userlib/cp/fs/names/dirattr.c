// SPDX-License-Identifier: LGPL-2.1-or-later
/* Attributes of directories that came with the replies to changes in them. */
#include <errno.h>
#include <stdlib.h>
#include "cp/fs/names/dirattr.h"
#include "cp/fs/names/names.h"

/**
 * struct fsc_dirattr - one directory's attributes
 * @attr: number 0: of none
 * @at: when the reply came
 * @since: only a request that was sent later may put another directory here
 */
struct fsc_dirattr {
	struct ddio_fs_attr attr;
	uint64_t at, since;
};

/**
 * struct fsc_dirattrs - the table
 * @clock: counts requests to the name server
 */
struct fsc_dirattrs {
	uint64_t clock;
	struct fsc_dirattr slot[FSC_DIRATTR_SLOTS];
};

int fsc_dirattrs_new(struct ddio_fs *fs)
{
	fs->dirattrs = calloc(1, sizeof(*fs->dirattrs));
	return fs->dirattrs ? 0 : -ENOMEM;
}

void fsc_dirattrs_free(struct ddio_fs *fs)
{
	free(fs->dirattrs);
}

static struct fsc_dirattr *dirattr_slot(struct fsc_dirattrs *all, uint64_t ino)
{
	return &all->slot[ino % FSC_DIRATTR_SLOTS];
}

/* Forgets a directory, also for requests under way: their replies may be older than this. */
static void dirattr_drop(struct fsc_dirattrs *all, uint64_t ino)
{
	struct fsc_dirattr *slot = dirattr_slot(all, ino);

	slot->since = all->clock;
	if (slot->attr.ino == ino)
		slot->attr.ino = 0;
}

/* Forgets all directories but @but. */
static void dirattr_drop_all(struct fsc_dirattrs *all, uint64_t but)
{
	uint32_t i;

	for (i = 0; i < FSC_DIRATTR_SLOTS; i++) {
		all->slot[i].since = all->clock;
		if (all->slot[i].attr.ino != but)
			all->slot[i].attr.ino = 0;
	}
}

static void dirattr_set(struct fsc_ask *ask, struct fsc_dirattr *slot,
			const struct ddio_fs_attr *attr)
{
	slot->attr = *attr;
	slot->at = ddio_env_now(ask->home->fs->reactor[0].env);
}

static void dirattr_put(struct fsc_ask *ask, const struct ddio_fs_attr *attr)
{
	struct fsc_dirattrs *all = ask->home->fs->dirattrs;
	struct fsc_dirattr *slot = dirattr_slot(all, attr->ino);

	if (slot->attr.ino == attr->ino) {
		if (attr->change > slot->attr.change)
			dirattr_set(ask, slot, attr);
	} else if (ask->sent > slot->since) {
		slot->since = all->clock;
		dirattr_set(ask, slot, attr);
	}
}

/* Returns true if the request leaves the attributes of every directory as they are; reading does not change them. */
static bool changes_no_directory(uint16_t opcode)
{
	switch (opcode) {
	case DDIO_OP_FS_LOOKUP:
	case DDIO_OP_FS_GETATTR:
	case DDIO_OP_FS_READLINK:
	case DDIO_OP_FS_READDIR:
	case DDIO_OP_FS_GETXATTR:
	case DDIO_OP_FS_LISTXATTR:
	case DDIO_OP_FS_OPEN:
	case DDIO_OP_FS_RELEASE:
	case DDIO_OP_FS_WROTE:
	case DDIO_OP_FS_APPEND:
	case DDIO_OP_FS_ALLOC:
	case DDIO_OP_FS_SYNC:
	case DDIO_OP_FS_SPACE:
	case DDIO_OP_FS_LOCK_TEST:
	case DDIO_OP_FS_LOCK_SET:
	case DDIO_OP_FS_LOCK_CANCEL:
	case DDIO_OP_FS_UNLOCK_OWNER:
	case DDIO_OP_FS_ORPHANS:
	case DDIO_OP_FS_GONE:
		return true;
	default:
		return false;
	}
}

void fsc_dirattr_sent(struct fsc_ask *ask)
{
	ask->sent = ++ask->home->fs->dirattrs->clock;
}

void fsc_dirattr_replied(struct fsc_ask *ask, bool failed)
{
	struct fsc_dirattrs *all = ask->home->fs->dirattrs;
	bool has_dir = ask->opcode == DDIO_OP_FS_MAKE || ask->opcode == DDIO_OP_FS_UNLINK;
	bool harmless = changes_no_directory(ask->opcode);

	if (!failed && (has_dir || harmless))
		return;
	/* A directory about which a request failed may be gone. */
	if (ask->about)
		dirattr_drop(all, ask->about);
	else if (!harmless)
		dirattr_drop_all(all, 0);
}

void fsc_dirattr_dir(struct fsc_ask *ask, const struct ddio_fs_attr *dir)
{
	struct fsc_dirattrs *all = ask->home->fs->dirattrs;

	if (dir && ask->about && dir->ino != ask->about)
		dir = NULL;
	if (dir)
		dirattr_put(ask, dir);
	else if (ask->about)
		dirattr_drop(all, ask->about);
	if (!ask->about)
		dirattr_drop_all(all, dir ? dir->ino : 0);
}

void fsc_dirattr_seen(struct fsc_ask *ask, const struct ddio_fs_attr *attr)
{
	struct fsc_dirattr *slot = dirattr_slot(ask->home->fs->dirattrs, attr->ino);

	/* Someone has been told newer attributes: older ones must not follow. */
	if (slot->attr.ino == attr->ino && attr->change > slot->attr.change)
		dirattr_set(ask, slot, attr);
}

void fsc_dirattr_lost(struct ddio_fs *fs)
{
	dirattr_drop_all(fs->dirattrs, 0);
}

bool fsc_dirattr_find(struct ddio_fs *fs, uint64_t ino, uint64_t max_age, struct ddio_fs_attr *attr,
		      uint64_t *age)
{
	const struct fsc_dirattr *slot = dirattr_slot(fs->dirattrs, ino);
	uint64_t old = ddio_env_now(fs->reactor[0].env) - slot->at;

	if (!ino || slot->attr.ino != ino || old >= max_age)
		return false;
	*age = old;
	*attr = slot->attr;
	return true;
}
