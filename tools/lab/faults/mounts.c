// SPDX-License-Identifier: GPL-2.0-only
/* ddio sim --faults --mounts: what the processes do with their mounts, by the seed; see mounts.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mounts.h"

#define CALM_NS (10 * FAULTS_TIMEOUT_MS * FAULTS_MS)

enum mount_phase {
	PH_OPEN,   /* everybody mounts, and one makes the directories */
	PH_READY,  /* everybody opens the file of locks */
	PH_WORK,   /* rounds of calls, and faults */
	PH_HEAL,   /* everything is repaired */
	PH_SETTLE, /* everything is looked at and synced */
	PH_POWER,  /* all I/O processors lose what was not flushed */
	PH_AFTER,  /* everything is there */
	PH_CHECK,  /* fsck, and the end of the mounts */
	PH_OVER,
};

static struct mount_file *slot_file(struct mounter *m, uint32_t slot)
{
	uint64_t ino = mount_now(m)->ino[slot];

	return ino ? mount_file_ready(m, ino) : NULL;
}

static void changes(struct mounter *m, const struct mount_op *op)
{
	m->doing = *op;
	m->busy = true;
	m->begun[op->from]++;
	if (op->to != op->from)
		m->begun[op->to]++;
}

static void changed(struct mounter *m, const struct mount_op *op)
{
	m->busy = false;
	m->ended[op->from] = m->begun[op->from];
	m->ended[op->to] = m->begun[op->to];
}

static bool named_now(const struct mounter *m, uint64_t ino)
{
	uint32_t k;

	for (k = 0; k < MOUNT_SLOTS; k++)
		if (mount_now(m)->ino[k] == ino)
			return true;
	return false;
}

/* Files without a name are closed, so that their data go. */
static void nameless_close(struct mounter *m)
{
	uint32_t i;

	for (i = 0; i < MOUNT_FILES; i++) {
		struct mount_file *file = &m->file[i];

		if (!file->open || named_now(m, file->ino))
			continue;
		mount_close_file(m, file->open);
		file->open = NULL;
	}
}

static void do_make(struct mounter *m, uint32_t slot)
{
	struct mount_op op = { .what = MOUNT_MAKE, .from = slot, .to = slot };
	uint32_t before = mount_losses(m->cp->f);
	struct ddio_fs_file *file;
	char name[16];
	int err;

	mount_slot_name(m->cp->rank, slot, name);
	changes(m, &op);
	err = mount_create(m, mount_slot_dir(m, slot), name, true, &file);
	op.ino = err ? 0 : m->ino;
	if (!err && !mount_file_of(m, op.ino))
		mount_file_new(m, op.ino, file, before);
	mount_did(m, &op, err);
	changed(m, &op);
	nameless_close(m);
}

static void do_unlink(struct mounter *m, uint32_t slot)
{
	struct mount_op op = { .what = MOUNT_UNLINK, .from = slot, .to = slot };
	char name[16];

	mount_slot_name(m->cp->rank, slot, name);
	changes(m, &op);
	mount_did(m, &op, mount_unlink(m, mount_slot_dir(m, slot), name));
	changed(m, &op);
	nameless_close(m);
}

static void do_rename(struct mounter *m, uint32_t slot, uint32_t to, bool exchange)
{
	struct mount_op op = { .what = exchange ? MOUNT_EXCHANGE : MOUNT_RENAME,
			       .from = slot,
			       .to = to };
	char name[16], new_name[16];
	int err;

	mount_slot_name(m->cp->rank, slot, name);
	mount_slot_name(m->cp->rank, to, new_name);
	changes(m, &op);
	err = mount_rename(m, mount_slot_dir(m, slot), name, mount_slot_dir(m, to), new_name,
			   exchange);
	mount_did(m, &op, err);
	changed(m, &op);
	nameless_close(m);
}

/* Looks at another process's name: what nobody changes meanwhile is what the last change has left. */
static void do_peek(struct mounter *m, uint32_t rank, uint32_t slot)
{
	struct mounter *other = &mounts_of(m)->m[rank];
	struct faults *f = m->cp->f;
	uint32_t begun = other->begun[slot], losses = f->ns_losses;
	uint64_t want = mount_now(other)->ino[slot];
	char name[16];
	int err;

	/* Until it has found what a loss has left, nobody knows what is to be there. */
	if (begun != other->ended[slot] || other->matched != losses || mounts_of(m)->killed[rank])
		return;
	mount_slot_name(rank, slot, name);
	err = mount_lookup(m, mount_slot_dir(m, slot), name);
	if (begun != other->begun[slot] || losses != f->ns_losses || mounts_of(m)->killed[rank])
		return;
	if ((err && err != -ENOENT) || (err ? 0 : m->ino) != want)
		mount_violated(m, "cp%u: cp%u's %s is %llu, expected version %llu", m->cp->rank,
			       rank, name, err ? 0ull : (unsigned long long)m->ino,
			       (unsigned long long)want);
}

/* A lock that excludes all others; networks that fail for long cost a mount its locks, and are left out. */
static void do_lock(struct mounter *m)
{
	static const uint32_t net = 1u << FAULTS_BREAK | 1u << FAULTS_CUT | 1u << FAULTS_STALL |
				    1u << FAULTS_SLOW_NET;
	struct mounts *all = mounts_of(m);
	struct faults *f = m->cp->f;
	int err;

	if (f->conf.kinds & net)
		return;
	err = mount_lock(m, m->locks, true);
	if (m->cp->dead)
		return;
	if (err || all->inside)
		mount_violated(m, "cp%u: lock: %s, %s", m->cp->rank, strerror(-err),
			       all->inside ? "another has it" : "nobody has it");
	all->inside = m;
	faults_sleep(m->cp, FAULTS_MS);
	if (m->cp->dead)
		return;
	all->inside = NULL;
	err = mount_lock(m, m->locks, false);
	if (err)
		mount_violated(m, "cp%u: unlock: %s", m->cp->rank, strerror(-err));
}

static void do_name(struct mounter *m, uint64_t *rng, uint32_t slot, uint32_t what)
{
	const struct mount_state *now = mount_now(m);
	uint32_t to = (uint32_t)faults_pick(rng, 0, MOUNT_SLOTS - 1);

	if (!now->ino[slot])
		do_make(m, slot);
	else if (what < 25 || to == slot)
		do_unlink(m, slot);
	else
		do_rename(m, slot, to, now->ino[to] && faults_chance(rng, 50));
}

static void do_data(struct mounter *m, uint64_t *rng, uint32_t slot, uint32_t what)
{
	struct mount_file *file = slot_file(m, slot);

	if (!file)
		return;
	if (what < 70)
		mount_file_append(m, file, (uint32_t)faults_scale(rng, 1, 150));
	else if (what < 80)
		mount_file_sync(m, file);
	else
		mount_file_read(m, file);
}

static void do_sync(struct mounter *m, uint32_t slot, uint32_t what)
{
	uint32_t dir = slot / MOUNT_NAMES;

	if (what < 92)
		mount_synced_dir(m, dir, mount_sync_dir(m, mounts_of(m)->dir[dir]));
	else
		mount_synced_names(m, mount_sync_names(m));
}

static void act(struct mounter *m, uint64_t *rng)
{
	struct faults *f = m->cp->f;
	uint32_t slot = (uint32_t)faults_pick(rng, 0, MOUNT_SLOTS - 1);
	uint32_t what = (uint32_t)faults_pick(rng, 0, 99);

	if (m->losses != f->ns_losses)
		mount_look(m);
	if (f->result->why[0])
		return;
	if (m->npast > MOUNT_PAST - 4)
		mount_synced_names(m, mount_sync_names(m));
	else if (what < 45)
		do_name(m, rng, slot, what);
	else if (what < 84)
		do_data(m, rng, slot, what);
	else if (what < 94)
		do_sync(m, slot, what);
	else if (what < 96)
		mount_look(m);
	else if (what < 98)
		do_peek(m, (uint32_t)faults_pick(rng, 0, f->conf.cps - 1), slot);
	else
		do_lock(m);
}

static void work(struct mounter *m)
{
	struct faults *f = m->cp->f;
	const struct faults_skip *skip = f->spec.skip;
	uint32_t round = f->round.number, n;
	uint64_t rng = ddio_rand_mix(f->spec.seed << 20 ^ (uint64_t)round << 4 ^ m->cp->rank);

	if (skip && round < FAULTS_SKIP && skip->round[round])
		return;
	for (n = (uint32_t)faults_pick(&rng, 1, 12); n && !f->result->why[0] && !m->cp->dead; n--) {
		act(m, &rng);
		if (faults_chance(&rng, 20))
			faults_sleep(m->cp, faults_scale(&rng, 1000, 100 * FAULTS_MS));
	}
}

static void open_mount(struct mounter *m)
{
	struct mounts *all = mounts_of(m);
	struct ddio_fs_file *file = NULL;
	uint32_t d;
	char name[8], why[600] = "";
	int err = mount_open(m, why, sizeof(why));

	m->npast = 1;
	if (err)
		mount_violated(m, "cp%u: cannot mount: %s", m->cp->rank, why);
	if (m->cp->rank || err)
		return;
	for (d = 0; d < MOUNT_DIRS && !err; d++) {
		snprintf(name, sizeof(name), "d%u", d);
		err = mount_make_dir(m, name);
		all->dir[d] = m->ino;
	}
	if (!err)
		err = mount_create(m, DDIO_FS_ROOT, "locks", false, &file);
	all->locks = m->ino;
	if (file)
		mount_close_file(m, file);
	if (!err)
		err = mount_sync_names(m);
	if (err)
		mount_violated(m, "the directories cannot be made: %s", strerror(-err));
}

static void ready(struct mounter *m)
{
	int err = mount_open_file(m, mounts_of(m)->locks, &m->locks);

	if (err)
		mount_violated(m, "the file of locks: %s", strerror(-err));
}

/*
 * Takes the place of a process that was killed, after its last messages: those on a slow network are carried out when it is
 * long dead.  A mount needs the name server to begin, which may be down for a while.
 */
static void take_place(struct mounter *m)
{
	struct faults_cp *cp = m->cp;
	char why[600] = "";
	uint32_t i, tries = 20;

	*m = mounts_of(m)->left[cp->rank];
	mounts_of(m)->killed[cp->rank] = false;
	m->fs = NULL;
	m->locks = NULL;
	for (i = 0; i < MOUNT_FILES; i++) {
		m->file[i].open = NULL;
		m->file[i].unsure = true;
	}
	if (cp->f->cp_late_ns[cp->rank])
		faults_sleep(cp, cp->f->cp_late_ns[cp->rank]);
	while (mount_open(m, why, sizeof(why)) && --tries)
		faults_sleep(cp, FAULTS_TIMEOUT_MS * FAULTS_MS);
	if (!m->fs)
		mount_violated(m, "cp%u: cannot mount again: %s", cp->rank, why);
	else
		mount_resume(m);
	if (!cp->dead && !cp->f->result->why[0])
		ready(m);
}

static void files_read(struct mounter *m, bool sync)
{
	struct mount_file *file;
	uint32_t k;

	mount_look(m);
	for (k = 0; k < MOUNT_SLOTS && !m->cp->f->result->why[0]; k++) {
		file = slot_file(m, k);
		if (!file)
			continue;
		mount_file_read(m, file);
		if (sync)
			mount_file_sync(m, file);
	}
}

/* The first syncs may report what was lost, the second ones must not. */
static void settle(struct mounter *m)
{
	uint32_t d, i;

	for (i = 0; i < 2 && !m->cp->f->result->why[0]; i++) {
		files_read(m, true);
		for (d = 0; d < MOUNT_DIRS; d++)
			mount_synced_dir(m, d, mount_sync_dir(m, mounts_of(m)->dir[d]));
		mount_synced_names(m, mount_sync_names(m));
	}
	if (!m->cp->f->result->why[0] && m->npast != 1)
		mount_violated(m, "cp%u: its names are not durable", m->cp->rank);
}

static void fsck_line(void *arg, const char *line)
{
	struct faults_cp *cp = arg;

	faults_say(cp->f, "fsck: %s", line);
	snprintf(cp->problem, sizeof(cp->problem), "%s", line);
}

static void check(struct mounter *m)
{
	struct ddio_check_result result = { 0 };
	struct faults_cp *cp = m->cp;

	mount_files_close(m);
	if (m->locks)
		mount_close_file(m, m->locks);
	mount_close(m);
	if (cp->rank)
		return;
	if (!faults_connect(cp))
		ddio_check(cp->session, 0, fsck_line, cp, &result);
	if (result.problems)
		faults_violated(cp->f, "fsck finds %llu problems, the last: %s",
				(unsigned long long)result.problems, cp->problem);
}

static void mounts_round(struct faults_cp *cp)
{
	struct mounter *m = &cp->f->mounts->m[cp->rank];

	m->cp = cp;
	if (cp->dead) /* it was killed while it waited for the others */
		return;
	if (cp->f->mounts->killed[cp->rank])
		take_place(m);
	if (cp->dead || cp->f->result->why[0])
		return;
	switch ((enum mount_phase)cp->f->mounts->phase) {
	case PH_OPEN:
		open_mount(m);
		break;
	case PH_READY:
		ready(m);
		break;
	case PH_WORK:
		work(m);
		break;
	case PH_HEAL:
	case PH_POWER:
		faults_sleep(cp, CALM_NS);
		break;
	case PH_SETTLE:
		settle(m);
		break;
	case PH_AFTER:
		files_read(m, false);
		break;
	default:
		check(m);
	}
}

static void mounts_end_of(struct faults_cp *cp)
{
	if (cp->session)
		ddio_disconnect(cp->session);
	cp->session = NULL;
}

static void phase_begin(struct faults *f)
{
	switch ((enum mount_phase)f->mounts->phase) {
	case PH_WORK:
		faults_fate_begin(f);
		break;
	case PH_HEAL:
		faults_fate_heal(f);
		break;
	case PH_POWER:
		faults_fate_power(f, 1000);
		break;
	default:
		break;
	}
}

/* All have met: goes on to the next round or phase. */
static void mounts_met(struct faults *f)
{
	struct mounts *all = f->mounts;

	f->result->last = ++f->round.number;
	f->round.op = OP_BARRIER;
	if (f->round.number == 1)
		return;
	if (all->phase == PH_WORK && ++f->rounds < f->conf.rounds)
		return;
	/* An I/O processor that is stopping may still wait for slow disks. */
	if (all->phase == PH_HEAL && !faults_all_up(f) && all->waited++ < 20)
		return;
	all->phase++;
	if (all->phase == PH_OVER)
		f->round.op = OP_OVER;
	phase_begin(f);
}

const struct faults_script mounts_script = {
	.round = mounts_round,
	.end = mounts_end_of,
	.all_met = mounts_met,
	.dies = mount_dies,
};

int mounts_begin(struct faults *f)
{
	struct faults_conf *c = &f->conf;

	/* Disks here keep what they have. */
	c->kinds &= 1u << FAULTS_POWER | 1u << FAULTS_KILL | 1u << FAULTS_STOP | 1u << FAULTS_CP |
		    1u << FAULTS_BREAK | 1u << FAULTS_CUT | 1u << FAULTS_STALL |
		    1u << FAULTS_SLOW_NET | 1u << FAULTS_SLOW_DISK;
	c->aimed = false;
	c->disk_size = 1 << 20;
	if (c->cps > 4)
		c->cps = 4;
	f->mounts = calloc(1, sizeof(*f->mounts));
	return f->mounts ? 0 : -ENOMEM;
}

void mounts_end(struct faults *f)
{
	free(f->mounts);
	f->mounts = NULL;
}
