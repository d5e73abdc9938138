// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>
#include "iop/life/life.h"

#define RANDOM_BITS DDIO_LIFE_RANDOM

uint64_t life_after(uint64_t life, uint64_t random)
{
	return ((life >> RANDOM_BITS) + 1) << RANDOM_BITS | random >> (64 - RANDOM_BITS);
}

bool life_fits(const struct lives *l, uint64_t label)
{
	return label == l->life || (l->from && label == l->from);
}

/*
 * The name space may have been told of the present life, though the disk has not heard so.  If there are too many of
 * these, one in the middle goes: at worst the name space refuses the disk.
 */
static void before_add(struct lives *l)
{
	if (l->n == DDIO_LIVES) {
		memmove(l->before + 1, l->before + 2, (DDIO_LIVES - 2) * sizeof(l->before[0]));
		l->n--;
	}
	l->before[l->n++] = l->life;
}

void life_begin_next(struct lives *l, uint64_t label, uint64_t random, bool ended)
{
	if (l->known)
		l->n = 0;
	if (l->life && !l->ended)
		before_add(l);
	l->known = false;
	l->ended = ended;
	l->from = label;
	l->life = life_after(l->life, random);
}

void life_written(struct lives *l)
{
	l->from = 0;
}

void life_guess(struct lives *l, uint64_t label)
{
	*l = (struct lives){ .life = label, .known = true };
}

enum life_order life_meet(uint64_t known, const struct ddio_disk_id *id)
{
	uint32_t i;

	if (id->life == known)
		return LIFE_SAME;
	for (i = 0; i < id->n; i++)
		if (id->before[i] == known)
			return LIFE_NEXT;
	return LIFE_PAST;
}

bool names_have(const struct names_life *lives, size_t n, uint64_t life, uint64_t change)
{
	size_t i;

	if (!life)
		return true;
	for (i = 0; i < n && lives[i].life != life; i++)
		;
	if (i == n)
		return false;
	for (i++; i < n; i++)
		if (lives[i].first < change)
			return false;
	return true;
}
