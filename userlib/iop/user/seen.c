// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which inodes a user was shown on a connection: who has a number only has not come along the way to it.  Each has four
 * places; a fifth takes that of the one whose time is over first.
 */
#include <stdlib.h>
#include "base/rand.h"
#include "iop/user/user.h"

#define PLACES 4

static struct iop_seen *places_of(const struct iop_user *user, uint64_t ino)
{
	return user->seen + ddio_rand_mix(ino) % (USER_SEEN / PLACES) * PLACES;
}

void user_see(struct iop_user *user, uint64_t ino, uint64_t until_ns)
{
	struct iop_seen *at, *old;
	int i;

	if (!user->seen)
		user->seen = calloc(USER_SEEN, sizeof(*user->seen));
	if (!user->seen)
		return;
	at = places_of(user, ino);
	for (old = at, i = 0; i < PLACES && old->ino != ino; i++)
		if (at[i].ino == ino || at[i].until_ns < old->until_ns)
			old = &at[i];
	*old = (struct iop_seen){ .ino = ino, .until_ns = until_ns };
}

bool user_saw(const struct iop_user *user, uint64_t ino, uint64_t now_ns)
{
	const struct iop_seen *at = user->seen ? places_of(user, ino) : NULL;
	int i;

	for (i = 0; at && i < PLACES; i++)
		if (at[i].ino == ino)
			return now_ns < at[i].until_ns;
	return false;
}
