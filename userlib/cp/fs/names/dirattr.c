// SPDX-License-Identifier: LGPL-2.1-or-later
/* Attributes of directories that came with answers to changes in them. */
#include <sys/stat.h>
#include "cp/fs/core/core.h"

static struct fsc_post_slot *post_slot(struct fsc_post *post, uint64_t ino)
{
	return &post->slot[ino % FSC_POST_SLOTS];
}

/* What is under way may tell of a time before this. */
static void post_drop(struct fsc_post *post, uint64_t ino)
{
	struct fsc_post_slot *slot = post_slot(post, ino);

	slot->since = post->clock;
	if (slot->attr.ino == ino)
		slot->attr.ino = 0;
}

/* All but @but's. */
static void post_drop_all(struct fsc_post *post, uint64_t but)
{
	uint32_t i;

	for (i = 0; i < FSC_POST_SLOTS; i++) {
		post->slot[i].since = post->clock;
		if (post->slot[i].attr.ino != but)
			post->slot[i].attr.ino = 0;
	}
}

static void post_set(struct fsc_ask *ask, struct fsc_post_slot *slot,
		     const struct ddio_fs_attr *attr)
{
	slot->attr = *attr;
	slot->at = ddio_env_now(ask->home->fs->reactor[0].env);
}

static void post_put(struct fsc_ask *ask, const struct ddio_fs_attr *attr)
{
	struct fsc_post *post = &ask->home->fs->post;
	struct fsc_post_slot *slot = post_slot(post, attr->ino);

	if (slot->attr.ino == attr->ino) {
		if (attr->change > slot->attr.change)
			post_set(ask, slot, attr);
	} else if (ask->sent > slot->since) {
		slot->since = post->clock;
		post_set(ask, slot, attr);
	}
}

/* Does it leave every directory's attributes as they are?  The name space counts no reading. */
static bool post_harmless(uint16_t opcode)
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

void fsc_post_sent(struct fsc_ask *ask)
{
	ask->sent = ++ask->home->fs->post.clock;
}

void fsc_post_replied(struct fsc_ask *ask, bool failed)
{
	struct fsc_post *post = &ask->home->fs->post;
	bool says = ask->opcode == DDIO_OP_FS_MAKE || ask->opcode == DDIO_OP_FS_UNLINK;
	bool harmless = post_harmless(ask->opcode);

	if (!failed && (says || harmless))
		return;
	/* What cannot be asked for may be gone. */
	if (ask->about)
		post_drop(post, ask->about);
	else if (!harmless)
		post_drop_all(post, 0);
}

void fsc_post_dir(struct fsc_ask *ask, const struct ddio_fs_attr *dir)
{
	struct fsc_post *post = &ask->home->fs->post;

	if (dir && ask->about && dir->ino != ask->about)
		dir = NULL;
	if (dir)
		post_put(ask, dir);
	else if (ask->about)
		post_drop(post, ask->about);
	if (!ask->about)
		post_drop_all(post, dir ? dir->ino : 0);
}

void fsc_post_seen(struct fsc_ask *ask, const struct ddio_fs_attr *attr)
{
	struct fsc_post_slot *slot = post_slot(&ask->home->fs->post, attr->ino);

	/* What somebody has been told is not taken back. */
	if (slot->attr.ino == attr->ino && attr->change > slot->attr.change)
		post_set(ask, slot, attr);
}

void fsc_post_lost(struct ddio_fs *fs)
{
	post_drop_all(&fs->post, 0);
}

bool fsc_post_find(struct ddio_fs *fs, uint64_t ino, uint64_t max_age, struct ddio_fs_attr *attr,
		   uint64_t *age)
{
	const struct fsc_post_slot *slot = post_slot(&fs->post, ino);
	uint64_t old = ddio_env_now(fs->reactor[0].env) - slot->at;

	if (!ino || slot->attr.ino != ino || old >= max_age)
		return false;
	*age = old;
	*attr = slot->attr;
	return true;
}
