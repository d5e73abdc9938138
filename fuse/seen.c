// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which state of a file the kernel's pages and attributes are of, for close-to-open consistency; which directories
 * this mount removed.
 *
 * A table of fixed size: what it has forgotten is taken for stale, which costs a read, and is never
 * wrong.  An inode has one place in it; each place has its own number of changes of attributes that went
 * to the kernel, and of the state in which the file was opened last.
 */
#include <stdlib.h>
#include "ddiofs.h"

#define PLACES 32768u
#define LOCKS 64u

struct place {
	uint64_t ino, attr, pages;
	bool has_attr, has_pages, gone;
};

struct seen {
	pthread_mutex_t lock[LOCKS];
	struct place place[PLACES];
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

/* With its lock held. */
static struct place *place_get(struct seen *seen, uint64_t ino, pthread_mutex_t **lock)
{
	uint32_t i = (uint32_t)((ino * 0x9e3779b97f4a7c15ull) >> 40) % PLACES;
	struct place *p = &seen->place[i];

	*lock = &seen->lock[i % LOCKS];
	pthread_mutex_lock(*lock);
	if (p->ino != ino)
		*p = (struct place){ .ino = ino };
	return p;
}

void seen_attr(struct seen *seen, uint64_t ino, uint64_t change)
{
	pthread_mutex_t *lock;
	struct place *p = place_get(seen, ino, &lock);

	p->attr = change;
	p->has_attr = true;
	pthread_mutex_unlock(lock);
}

bool seen_open(struct seen *seen, uint64_t ino, uint64_t change, bool *attr_stale)
{
	pthread_mutex_t *lock;
	struct place *p = place_get(seen, ino, &lock);
	bool same = p->has_pages && p->pages == change;

	*attr_stale = !p->has_attr || p->attr != change;
	p->pages = change;
	p->has_pages = true;
	p->attr = change;
	p->has_attr = true;
	pthread_mutex_unlock(lock);
	return same;
}

void seen_gone(struct seen *seen, uint64_t ino)
{
	pthread_mutex_t *lock;

	place_get(seen, ino, &lock)->gone = true;
	pthread_mutex_unlock(lock);
}

bool seen_is_gone(struct seen *seen, uint64_t ino)
{
	pthread_mutex_t *lock;
	bool gone = place_get(seen, ino, &lock)->gone;

	pthread_mutex_unlock(lock);
	return gone;
}
