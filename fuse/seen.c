// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which state of a file the kernel's pages and attributes show, for close-to-open consistency; and which
 * directories this mount removed.
 *
 * The table has a fixed size: what it has forgotten counts as stale, which costs a read and is never wrong.
 * Each inode has one entry that it may share: it holds the change count of the attributes that the kernel
 * was given last, and the change count at which the file was last opened.  The size is the kernel's, which it
 * changes by itself when a program writes.  Of an inode without extended attributes it holds the change count at which
 * it had none, and until when that may be told, for the kernel asks for ACLs of every file that is listed.  Of any other
 * it holds which of those attributes it was found to lack that the kernel asks for by itself: capabilities before a
 * write if it was given attributes since the last one, and ACLs.
 */
#include <stdlib.h>
#include <string.h>
#include "ddiofs.h"

#define ENTRIES 32768u
#define LOCKS 64u

struct seen_entry {
	uint64_t ino, attr, pages, size;
	uint64_t bare, bare_until;
	uint64_t change, lacks_since;
	uint32_t lacks;
	bool has_attr, has_pages, has_size, gone;
};

struct seen {
	pthread_mutex_t lock[LOCKS];
	atomic_uint_fast64_t xattr_changes;
	struct seen_entry entry[ENTRIES];
};

struct seen *seen_new(void)
{
	struct seen *seen = calloc(1, sizeof(*seen));
	unsigned int i;

	for (i = 0; seen && i < LOCKS; i++)
		pthread_mutex_init(&seen->lock[i], NULL);
	return seen;
}

void seen_free(struct seen *seen)
{
	unsigned int i;

	for (i = 0; seen && i < LOCKS; i++)
		pthread_mutex_destroy(&seen->lock[i]);
	free(seen);
}

/* Returns the inode's entry with its lock held. */
static struct seen_entry *entry_get(struct seen *seen, uint64_t ino, pthread_mutex_t **lock)
{
	uint32_t i = (uint32_t)((ino * 0x9e3779b97f4a7c15ull) >> 40) % ENTRIES;
	struct seen_entry *p = &seen->entry[i];

	*lock = &seen->lock[i % LOCKS];
	pthread_mutex_lock(*lock);
	if (p->ino != ino)
		*p = (struct seen_entry){ .ino = ino };
	return p;
}

static void entry_changed(struct seen_entry *p, uint64_t change)
{
	if (p->bare != change)
		p->bare_until = 0;
	if (p->change != change)
		p->lacks = 0;
	p->change = change;
}

void seen_attr(struct seen *seen, const struct ddio_fs_attr *attr, bool cached)
{
	pthread_mutex_t *lock;
	struct seen_entry *p = entry_get(seen, attr->ino, &lock);

	p->size = attr->size;
	p->has_size = true;
	if (cached)
		p->attr = attr->change;
	p->has_attr |= cached;
	entry_changed(p, attr->change);
	pthread_mutex_unlock(lock);
}

bool seen_open(struct seen *seen, uint64_t ino, uint64_t change, bool *attr_stale)
{
	pthread_mutex_t *lock;
	struct seen_entry *p = entry_get(seen, ino, &lock);
	bool same = p->has_pages && p->pages == change;

	*attr_stale = !p->has_attr || p->attr != change;
	p->pages = change;
	p->has_pages = true;
	p->attr = change;
	p->has_attr = true;
	entry_changed(p, change);
	pthread_mutex_unlock(lock);
	return same;
}

void seen_grew(struct seen *seen, uint64_t ino, uint64_t end)
{
	pthread_mutex_t *lock;
	struct seen_entry *p = entry_get(seen, ino, &lock);

	if (p->size < end)
		p->size = end;
	pthread_mutex_unlock(lock);
}

bool seen_size_is(struct seen *seen, uint64_t ino, uint64_t size)
{
	pthread_mutex_t *lock;
	struct seen_entry *p = entry_get(seen, ino, &lock);
	bool is = p->has_size && p->size == size;

	pthread_mutex_unlock(lock);
	return is;
}

void seen_gone(struct seen *seen, uint64_t ino)
{
	pthread_mutex_t *lock;

	entry_get(seen, ino, &lock)->gone = true;
	pthread_mutex_unlock(lock);
}

bool seen_is_gone(struct seen *seen, uint64_t ino)
{
	pthread_mutex_t *lock;
	bool gone = entry_get(seen, ino, &lock)->gone;

	pthread_mutex_unlock(lock);
	return gone;
}

uint64_t seen_xattr_changes(struct seen *seen)
{
	return atomic_load(&seen->xattr_changes);
}

void seen_xattr_changed(struct seen *seen, uint64_t ino)
{
	pthread_mutex_t *lock;
	struct seen_entry *p;

	atomic_fetch_add(&seen->xattr_changes, 1);
	p = entry_get(seen, ino, &lock);
	p->bare_until = 0;
	p->lacks = 0;
	pthread_mutex_unlock(lock);
}

void seen_bare(struct seen *seen, const struct ddio_fs_attr *attr, uint64_t changes, uint64_t until)
{
	pthread_mutex_t *lock;
	struct seen_entry *p = entry_get(seen, attr->ino, &lock);

	if (atomic_load(&seen->xattr_changes) == changes) {
		p->bare = attr->change;
		p->bare_until = until;
	}
	pthread_mutex_unlock(lock);
}

bool seen_is_bare(struct seen *seen, uint64_t ino, uint64_t now)
{
	pthread_mutex_t *lock;
	bool bare = entry_get(seen, ino, &lock)->bare_until > now;

	pthread_mutex_unlock(lock);
	return bare;
}

uint32_t seen_lack_of(const char *name)
{
	static const char *const names[] = { "security.capability", "system.posix_acl_access",
					     "system.posix_acl_default" };
	uint32_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return 1u << i;
	return 0;
}

void seen_lacks(struct seen *seen, uint64_t ino, uint32_t lack, uint64_t changes, uint64_t now)
{
	pthread_mutex_t *lock;
	struct seen_entry *p = entry_get(seen, ino, &lock);

	if (atomic_load(&seen->xattr_changes) == changes) {
		/* Together they are as old as the first one. */
		if (!p->lacks)
			p->lacks_since = now;
		p->lacks |= lack;
	}
	pthread_mutex_unlock(lock);
}

bool seen_is_lacking(struct seen *seen, uint64_t ino, uint32_t lack, uint64_t now, uint64_t max_age)
{
	pthread_mutex_t *lock;
	struct seen_entry *p = entry_get(seen, ino, &lock);
	bool lacking;

	if (now - p->lacks_since >= max_age)
		p->lacks = 0;
	lacking = p->lacks & lack;
	pthread_mutex_unlock(lock);
	return lacking;
}
