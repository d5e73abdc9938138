// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lock owners that a handle has.  When a process closes a file the kernel names the process as an owner,
 * whose locks end.  Locks of the open file itself (F_OFD_SETLK) have an owner that the kernel does not name
 * when the file is released: those are the owners that are left then.
 */
#include <errno.h>
#include <stdlib.h>
#include "ddiofs.h"

int owners_add(struct handle *h, uint64_t owner)
{
	uint64_t *more;
	unsigned int i;
	int err = 0;

	pthread_mutex_lock(&h->lock);
	for (i = 0; i < h->nowners && h->owner[i] != owner; i++)
		;
	if (i == h->nowners) {
		more = realloc(h->owner, (i + 1) * sizeof(*more));
		if (more) {
			h->owner = more;
			h->owner[h->nowners++] = owner;
		} else {
			err = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&h->lock);
	return err;
}

void owners_remove(struct handle *h, uint64_t owner)
{
	unsigned int i;

	pthread_mutex_lock(&h->lock);
	for (i = 0; i < h->nowners && h->owner[i] != owner; i++)
		;
	if (i < h->nowners)
		h->owner[i] = h->owner[--h->nowners];
	pthread_mutex_unlock(&h->lock);
}

bool owners_take(struct handle *h, uint64_t *owner)
{
	bool some;

	pthread_mutex_lock(&h->lock);
	some = h->nowners;
	if (some)
		*owner = h->owner[--h->nowners];
	pthread_mutex_unlock(&h->lock);
	return some;
}
