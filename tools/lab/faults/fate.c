// SPDX-License-Identifier: GPL-2.0-only
/* Decides what breaks in a run with faults, when, and when it is repaired. */
#include <stdio.h>
#include "run.h"

/* Timers of faults_after(): the next fault; restarts; the end of a process's or a disk's fault; a scene's loss of power. */
enum { SLOT_NEXT, SLOT_IOP = 1, SLOT_PROC = SLOT_IOP + FAULTS_IOPS };
enum { SLOT_DISK = SLOT_PROC + FAULTS_IOPS + FAULTS_CPS, SLOT_POWER = SLOT_DISK + FAULTS_DISKS };

static void fate_next(struct faults *f, uint32_t slot);

bool faults_left_out(struct faults *f)
{
	uint32_t n = f->result->faults++;

	return f->spec.skip && n < FAULTS_SKIP && f->spec.skip->fault[n];
}

/* Return: how long a fault lasts: mostly short, sometimes longer than any timeout. */
static uint64_t fate_while(struct faults *f)
{
	uint64_t most = faults_chance(&f->fate_rng, 70) ? 30 : 3 * FAULTS_TIMEOUT_MS;

	return faults_scale(&f->fate_rng, 10000, most * FAULTS_MS);
}

static void iop_lost(struct faults *f, uint32_t iop)
{
	uint32_t d;

	faults_dues_lost(f, iop);
	for (d = 0; d < f->conf.disks; d++)
		if (f->conf.node[d] == iop)
			faults_disk_lost(f, d);
	if (!iop)
		faults_names_lost(f);
}

static void iop_restart(struct faults *f, uint32_t slot)
{
	uint32_t iop = slot - SLOT_IOP;
	char err[600] = "";

	if (faults_iop_up(f, iop))
		return;
	if (!faults_iop_start(f, iop, err, sizeof(err))) {
		faults_say(f, "io%u is back", iop);
		return;
	}
	faults_say(f, "io%u does not start: %s", iop, err);
	faults_after(f, slot, 20 * FAULTS_MS, iop_restart);
}

static void iop_crash(struct faults *f, uint32_t iop, uint32_t lose)
{
	faults_iop_crash(f, iop, lose);
	iop_lost(f, iop);
	faults_after(f, SLOT_IOP + iop, fate_while(f), iop_restart);
}

/* Replaces a process whose disk has stopped, as an administrator would. */
static void iop_again(struct faults *f, uint32_t iop)
{
	if (!faults_iop_up(f, iop))
		return;
	faults_say(f, "io%u is killed, since a disk of it has stopped", iop);
	iop_crash(f, iop, 0);
}

static void proc_mended(struct faults *f, uint32_t slot)
{
	uint32_t proc = slot - SLOT_PROC;

	faults_net(f, proc, NET_GOOD, 0);
	if (proc >= f->conf.iops && f->cp_bad[proc - f->conf.iops]) {
		f->cp_bad[proc - f->conf.iops] = false;
		f->cp_faults++;
	}
	if (!f->healed)
		faults_say(f, "the network of process %u is good", proc);
}

static void disk_mended(struct faults *f, uint32_t slot)
{
	static const struct faults_disk good;

	faults_disk(f, slot - SLOT_DISK, &good);
	f->shaky[slot - SLOT_DISK] = false;
	if (!f->healed)
		faults_say(f, "d%u is good", slot - SLOT_DISK);
	if (faults_disk_stopped(f, slot - SLOT_DISK))
		iop_again(f, f->conf.node[slot - SLOT_DISK]);
}

static void fate_net(struct faults *f, enum faults_kind kind)
{
	static const enum faults_net what[] = {
		[FAULTS_BREAK] = NET_BREAK,
		[FAULTS_CUT] = NET_CUT,
		[FAULTS_STALL] = NET_STALL,
		[FAULTS_SLOW_NET] = NET_SLOW,
	};
	uint32_t proc = faults_pick(&f->fate_rng, 0, f->conf.iops + f->conf.cps - 1);
	uint64_t arg = faults_scale(&f->fate_rng, 1000, 50 * FAULTS_MS);

	if (proc >= f->conf.iops && kind != FAULTS_SLOW_NET) {
		f->cp_faults++;
		f->cp_bad[proc - f->conf.iops] |= kind != FAULTS_BREAK;
	}
	if (proc >= f->conf.iops && kind == FAULTS_SLOW_NET) {
		uint64_t *late = &f->cp_late_ns[proc - f->conf.iops];

		*late = *late > 2 * arg ? *late : 2 * arg;
	}
	faults_say(f, "network of process %u: %s", proc,
		   kind == FAULTS_BREAK	  ? "connections break"
		   : kind == FAULTS_CUT	  ? "is cut off"
		   : kind == FAULTS_STALL ? "stalls"
					  : "is slow");
	faults_net(f, proc, what[kind], arg);
	if (kind != FAULTS_BREAK)
		faults_after(f, SLOT_PROC + proc, fate_while(f), proc_mended);
}

/* An I/O processor that is stopping cannot write to disks that fail what it has in memory. */
static void stop_lost(struct faults *f, uint32_t iop)
{
	uint32_t d;

	for (d = 0; d < f->conf.disks && !faults_iop_up(f, iop); d++)
		if (f->conf.node[d] == iop && f->shaky[d])
			faults_disk_lost(f, d);
}

static void fate_disk(struct faults *f, enum faults_kind kind)
{
	uint32_t disk = faults_pick(&f->fate_rng, 0, f->conf.disks - 1);
	struct faults_disk how = { 0 };

	if (kind == FAULTS_SLOW_DISK) {
		how.delay_ns = faults_scale(&f->fate_rng, 1000, 300 * FAULTS_MS);
		how.jitter_ns = faults_scale(&f->fate_rng, 1000, 100 * FAULTS_MS);
	} else if (kind == FAULTS_BAD_DISK) {
		how.bad_first = faults_pick(&f->fate_rng, 0, f->conf.disk_size);
		how.bad_end = how.bad_first + faults_scale(&f->fate_rng, 512, f->conf.disk_size);
	} else {
		how.bad_next = faults_scale(&f->fate_rng, 1, 20);
	}
	faults_say(f, "d%u: %s", disk,
		   kind == FAULTS_SLOW_DISK  ? "is slow"
		   : kind == FAULTS_BAD_DISK ? "has bad sectors"
					     : "fails");
	faults_disk(f, disk, &how);
	f->shaky[disk] = kind != FAULTS_SLOW_DISK;
	stop_lost(f, f->conf.node[disk]);
	faults_after(f, SLOT_DISK + disk, fate_while(f), disk_mended);
}

static void iop_power(struct faults *f, uint32_t iop)
{
	static const uint32_t lose[] = { 0, 100, 500, 1000 };

	iop_crash(f, iop, lose[faults_pick(&f->fate_rng, 0, 3)]);
}

/* All that are up lose their power, one after the other; each comes back when it likes. */
static void fate_blackout(struct faults *f)
{
	uint32_t n = f->conf.iops, first = faults_pick(&f->fate_rng, 0, n - 1), i;
	bool down = faults_chance(&f->fate_rng, 50);

	faults_say(f, "all I/O processors lose power, io%u first", first);
	for (i = 0; i < n; i++) {
		uint32_t iop = (first + (down ? n - i : i)) % n;

		if (faults_iop_up(f, iop))
			iop_power(f, iop);
	}
}

static void fate_iop(struct faults *f, enum faults_kind kind)
{
	uint32_t iop = faults_pick(&f->fate_rng, 0, f->conf.iops - 1);

	if (!faults_iop_up(f, iop))
		return;
	faults_say(f, "io%u %s", iop,
		   kind == FAULTS_POWER	 ? "loses power"
		   : kind == FAULTS_KILL ? "is killed"
					 : "is stopped");
	if (kind == FAULTS_STOP) {
		faults_iop_stop(f, iop);
		if (f->records_bad[iop])
			iop_lost(f, iop);
		else
			faults_dues_kept(f, iop);
		stop_lost(f, iop);
		faults_after(f, SLOT_IOP + iop, fate_while(f), iop_restart);
		return;
	}
	if (kind == FAULTS_KILL)
		iop_crash(f, iop, 0);
	else
		iop_power(f, iop);
}

static void fate_strike(struct faults *f, enum faults_kind kind)
{
	uint32_t rank;

	switch (kind) {
	case FAULTS_POWER:
	case FAULTS_KILL:
	case FAULTS_STOP:
		if (f->spec.power && faults_chance(&f->fate_rng, 50))
			fate_blackout(f);
		else
			fate_iop(f, kind);
		break;
	case FAULTS_CP:
		rank = faults_pick(&f->fate_rng, 0, f->conf.cps - 1);
		f->cp_faults++;
		if (faults_cp_kill(f, rank))
			faults_say(f, "cp%u is killed", rank);
		break;
	case FAULTS_SLOW_DISK:
	case FAULTS_BAD_DISK:
	case FAULTS_DISK_ERR:
		fate_disk(f, kind);
		break;
	default:
		fate_net(f, kind);
	}
}

static void fate_wait(struct faults *f)
{
	faults_after(f, SLOT_NEXT, faults_scale(&f->fate_rng, 1000, 2 * f->conf.gap_ns), fate_next);
}

static void fate_next(struct faults *f, uint32_t slot)
{
	uint32_t kind;

	(void)slot;
	if (f->healed || !f->conf.most || !f->conf.kinds)
		return;
	do
		kind = faults_pick(&f->fate_rng, 0, FAULTS_RECORDS - 1);
	while (!(f->conf.kinds >> kind & 1));
	f->conf.most--;
	if (!faults_left_out(f)) {
		f->result->kinds[kind]++;
		fate_strike(f, kind);
	}
	fate_wait(f);
}

void faults_fate_begin(struct faults *f)
{
	static const struct faults_disk good;
	uint32_t d;

	for (d = 0; d < f->conf.disks; d++)
		faults_disk(f, d, &good);
	fate_wait(f);
}

/* Repairs everything now, I/O processors as soon as possible. */
void faults_fate_heal(struct faults *f)
{
	uint32_t i;

	faults_say(f, "everything is repaired");
	f->healed = true;
	faults_fate_good(f);
	for (i = 0; i < f->conf.iops + f->conf.cps; i++)
		proc_mended(f, SLOT_PROC + i);
	for (i = 0; i < f->conf.disks; i++)
		disk_mended(f, SLOT_DISK + i);
	for (i = 0; i < f->conf.iops; i++)
		iop_restart(f, SLOT_IOP + i);
}

void faults_fate_power(struct faults *f, uint32_t lose)
{
	uint32_t i;

	for (i = 0; i < f->conf.iops; i++) {
		if (!faults_iop_up(f, i))
			continue;
		faults_iop_crash(f, i, lose);
		iop_lost(f, i);
		faults_after(f, SLOT_IOP + i, FAULTS_MS, iop_restart);
	}
}

static void power_now(struct faults *f, uint32_t slot)
{
	(void)slot;
	if (f->healed)
		return;
	faults_say(f, "all I/O processors lose power, and %u of 1000 unflushed sectors",
		   f->power_lose);
	f->result->kinds[FAULTS_POWER]++;
	faults_fate_power(f, f->power_lose);
}

void faults_fate_power_in(struct faults *f, uint64_t ns, uint32_t lose)
{
	if (faults_left_out(f))
		return;
	f->power_lose = lose;
	faults_after(f, SLOT_POWER, ns, power_now);
}

void faults_fate_disk(struct faults *f, uint32_t disk, uint32_t n, uint32_t ops)
{
	const struct faults_disk how = { .bad_next = n, .bad_ops = ops };

	if (faults_left_out(f))
		return;
	faults_say(f, "d%u: the next %u %s fail", disk, n,
		   ops == FAULTS_READS	  ? "reads"
		   : ops == FAULTS_WRITES ? "writes"
					  : "flushes");
	faults_disk(f, disk, &how);
	f->shaky[disk] = true;
	f->result->kinds[FAULTS_DISK_ERR]++;
	stop_lost(f, f->conf.node[disk]);
}

void faults_fate_records(struct faults *f, uint32_t iop)
{
	if (!faults_iop_up(f, iop) || faults_left_out(f))
		return;
	faults_say(f, "io%u: commits of records fail", iop);
	faults_records(f, iop, true);
	f->records_bad[iop] = true;
	f->result->kinds[FAULTS_RECORDS]++;
}

void faults_fate_good(struct faults *f)
{
	uint32_t i;

	for (i = 0; i < f->conf.iops; i++) {
		if (f->records_bad[i] && faults_iop_up(f, i))
			faults_records(f, i, false);
		f->records_bad[i] = false;
	}
	for (i = 0; i < f->conf.disks; i++)
		if (f->shaky[i])
			disk_mended(f, SLOT_DISK + i);
}
