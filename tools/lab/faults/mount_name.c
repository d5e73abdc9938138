// SPDX-License-Identifier: GPL-2.0-only
/*
 * ddio sim --faults --mounts: what names may be there.  Each process changes its own names one after the other, and the name
 * server keeps changes in their order: what is left after a loss of its memory is what was there after one of the
 * changes since the last sync, and nothing between.  The call that was under way meanwhile may have been made again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "mounts.h"

#define NAME_ANY UINT64_MAX

void mount_slot_name(uint32_t rank, uint32_t slot, char name[16])
{
	snprintf(name, 16, "p%u.%u", rank, slot % MOUNT_NAMES);
}

static uint8_t op_dirs(const struct mount_op *op)
{
	uint8_t dirs = (uint8_t)(1u << op->from / MOUNT_NAMES);

	if (op->what == MOUNT_RENAME || op->what == MOUNT_EXCHANGE)
		dirs |= (uint8_t)(1u << op->to / MOUNT_NAMES);
	return dirs;
}

/* Does to a state what the call does.  Returns false if the call fails on it. */
static bool op_apply(const struct mount_op *op, struct mount_state *s)
{
	uint64_t *from = &s->ino[op->from], *to = &s->ino[op->to], was = *from;

	if (op->what == MOUNT_MAKE) {
		*from = op->ino ? op->ino : NAME_ANY;
		return !was;
	}
	if (!was || (op->what == MOUNT_EXCHANGE && !*to))
		return false;
	if (op->what == MOUNT_UNLINK) {
		*from = 0;
	} else {
		*from = op->what == MOUNT_EXCHANGE ? *to : 0;
		*to = was;
	}
	return true;
}

bool mount_named(const struct mounter *m, uint64_t ino)
{
	uint32_t i, k;

	for (i = 0; i < m->npast; i++)
		for (k = 0; k < MOUNT_SLOTS; k++)
			if (m->past[i].ino[k] == ino)
				return true;
	return false;
}

static bool state_is(const struct mounter *m, const struct mount_state *found,
		     const struct mount_state *want)
{
	uint32_t k;

	for (k = 0; k < MOUNT_SLOTS; k++) {
		bool any = want->ino[k] == NAME_ANY;

		if (any && (!found->ino[k] || mount_named(m, found->ino[k])))
			return false;
		if (!any && found->ino[k] != want->ino[k])
			return false;
	}
	return true;
}

static void past_push(struct mounter *m, const struct mount_state *s, uint8_t dirs)
{
	if (m->npast == MOUNT_PAST) {
		mount_violated(m, "cp%u has made too many changes", m->cp->rank);
		return;
	}
	m->past[m->npast] = *s;
	m->dirs[m->npast++] = dirs;
}

/* The first @n states are past: the next one is durable. */
static void past_drop(struct mounter *m, uint32_t n)
{
	m->npast -= n;
	memmove(m->past, m->past + n, m->npast * sizeof(m->past[0]));
	memmove(m->dirs, m->dirs + n, m->npast * sizeof(m->dirs[0]));
}

/* Looks up all names of the process; again if the name server dies meanwhile. */
static void state_find(struct mounter *m, struct mount_state *found)
{
	struct faults *f = m->cp->f;
	char name[16];
	uint32_t k;
	int err;

	do {
		m->losses = f->ns_losses;
		for (k = 0; k < MOUNT_SLOTS; k++) {
			mount_slot_name(m->cp->rank, k, name);
			err = mount_lookup(m, mount_slot_dir(m, k), name);
			found->ino[k] = err ? 0 : m->ino;
			if (err && err != -ENOENT)
				mount_violated(m, "cp%u: lookup of %s: %s", m->cp->rank, name,
					       strerror(-err));
		}
	} while (m->losses != f->ns_losses && !f->result->why[0]);
}

/* Notes that the changes after state @i are lost. */
static void past_lost(struct mounter *m, uint32_t i)
{
	for (i++; i < m->npast; i++) {
		m->due |= m->dirs[i];
		m->due_all = true;
	}
	m->may = (1u << MOUNT_DIRS) - 1;
	m->may_all = true;
}

/* The name server's memory is gone: finds which state is left; @op was under way, if it is not NULL. */
static void state_match(struct mounter *m, const struct mount_op *op)
{
	struct mount_state found, next;
	uint32_t i;
	bool as_is, done;

	state_find(m, &found);
	for (i = m->npast; i--;) {
		next = m->past[i];
		done = op && op_apply(op, &next) && state_is(m, &found, &next);
		as_is = state_is(m, &found, &m->past[i]);
		if (!done && !as_is)
			continue;
		past_lost(m, i);
		m->matched = m->losses;
		m->past[0] = m->past[i];
		m->npast = 1;
		if (!as_is)
			past_push(m, &found, op_dirs(op));
		return;
	}
	for (i = 0; i < MOUNT_SLOTS; i++)
		faults_say(m->cp->f, "cp%u: slot %u: found %llu, was %llu", m->cp->rank, i,
			   (unsigned long long)found.ino[i],
			   (unsigned long long)mount_now(m)->ino[i]);
	mount_violated(m, "cp%u: its names are as they never were", m->cp->rank);
}

void mount_look(struct mounter *m)
{
	uint32_t before = m->cp->f->ns_losses;
	struct mount_state found;

	if (m->losses != before) {
		state_match(m, NULL);
		return;
	}
	state_find(m, &found);
	if (m->losses != before)
		state_match(m, NULL);
	else if (!state_is(m, &found, mount_now(m)))
		mount_violated(m, "cp%u: its names are not as it left them", m->cp->rank);
}

void mount_resume(struct mounter *m)
{
	const struct mount_op op = m->doing, *last = m->busy ? &op : NULL;
	struct mount_state found, next = *mount_now(m);
	uint32_t losses = m->matched;

	if (losses == m->cp->f->ns_losses)
		state_find(m, &found);
	m->may = 0;
	m->may_all = false;
	if (losses != m->losses || losses != m->cp->f->ns_losses)
		state_match(m, last);
	else if (last && !state_is(m, &found, &next) && op_apply(last, &next) &&
		 state_is(m, &found, &next))
		past_push(m, &found, op_dirs(last));
	else if (!state_is(m, &found, mount_now(m)))
		mount_violated(m, "cp%u: its names are not as the killed process left them",
			       m->cp->rank);
	m->busy = false;
	/* What was lost before is told to the mounts that there were. */
	m->due = 0;
	m->due_all = false;
	memcpy(m->ended, m->begun, sizeof(m->ended));
}

void mount_did(struct mounter *m, const struct mount_op *op, int err)
{
	struct mount_state next = *mount_now(m);

	if (m->losses != m->cp->f->ns_losses) {
		state_match(m, op);
		return;
	}
	if (err || !op_apply(op, &next)) {
		mount_violated(m, "cp%u: %s: %s", m->cp->rank, m->cp->what, strerror(-err));
		return;
	}
	past_push(m, &next, op_dirs(op));
}

/* A loss came in the midst of a sync, which has said so or not. */
static bool sync_lost(struct mounter *m)
{
	if (m->losses == m->cp->f->ns_losses)
		return false;
	state_match(m, NULL);
	m->due = 0;
	m->due_all = false;
	return true;
}

/* Whether a sync may end so; @due: it must report a loss; @may: it may. */
static bool sync_good(struct mounter *m, bool due, bool may, int err)
{
	if (!err && due)
		mount_violated(m, "cp%u: %s returns 0, but what was lost was due", m->cp->rank,
			       m->cp->what);
	else if (err && (err != -EIO || !may))
		mount_violated(m, "cp%u: %s: %s, and nothing was lost", m->cp->rank, m->cp->what,
			       strerror(-err));
	return !err;
}

void mount_synced_dir(struct mounter *m, uint32_t dir, int err)
{
	uint8_t bit = (uint8_t)(1u << dir);
	uint32_t i;

	if (sync_lost(m))
		return;
	if (sync_good(m, m->due & bit, m->may & bit, err)) {
		for (i = m->npast; --i && !(m->dirs[i] & bit);)
			;
		past_drop(m, i);
	}
	m->due &= (uint8_t)~bit;
	m->may &= (uint8_t)~bit;
}

void mount_synced_names(struct mounter *m, int err)
{
	if (sync_lost(m))
		return;
	if (sync_good(m, m->due_all, m->may_all, err))
		past_drop(m, m->npast - 1);
	m->due_all = m->may_all = false;
}
