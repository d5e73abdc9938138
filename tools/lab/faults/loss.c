// SPDX-License-Identifier: GPL-2.0-only
/* ddio sim --faults: what the loss of an I/O processor's memory means to the model, and to the next sync. */
#include <string.h>
#include "run.h"

void faults_disk_lost(struct faults *f, uint32_t disk)
{
	uint32_t i, c;

	f->losses[disk]++;
	for (i = 0; i < f->conf.files; i++)
		for (c = 0; c < f->file[i].cells; c++)
			if (faults_file_disk(&f->file[i], c) == disk)
				faults_cell_crash(&f->file[i].cell[c]);
}

void faults_names_lost(struct faults *f)
{
	uint32_t i;

	f->ns_losses++;
	for (i = 0; i < f->conf.files; i++) {
		struct faults_file *file = &f->file[i];

		file->seen = file->stable;
		if (!file->durable && file->state == FILE_THERE)
			file->state = FILE_MAYBE;
	}
}

/* Returns the disks of @iop, as bits, that have something of the file that was not synced. */
static uint32_t unsynced_disks(const struct faults *f, const struct faults_file *file, uint32_t iop)
{
	uint32_t c, disks = 0;

	for (c = 0; c < file->cells; c++)
		if (f->conf.node[faults_file_disk(file, c)] == iop &&
		    faults_cell_unsynced(&file->cell[c]))
			disks |= 1u << faults_file_disk(file, c);
	return disks;
}

void faults_dues_lost(struct faults *f, uint32_t iop)
{
	uint32_t i, r;

	for (i = 0; i < f->conf.files; i++) {
		const struct faults_file *file = &f->file[i];
		uint32_t disks = unsynced_disks(f, file, iop);
		bool names = !iop && (!file->durable ||
				      memcmp(&file->seen, &file->stable, sizeof(file->seen)));

		for (r = 0; r < f->conf.cps; r++) {
			struct faults_due *due = &f->cp[r].due[i];

			if (!due->lost && (due->disks & disks || (names && due->names)))
				due->lost = f->round.number;
		}
	}
}

void faults_dues_forgot(struct faults *f, uint32_t disk)
{
	uint32_t i, r;

	for (i = 0; i < f->conf.files; i++) {
		if (!(unsynced_disks(f, &f->file[i], f->conf.node[disk]) >> disk & 1))
			continue;
		for (r = 0; r < f->conf.cps; r++) {
			struct faults_due *due = &f->cp[r].due[i];

			if (!(due->disks >> disk & 1))
				continue;
			due->lost_ns = f->now(f);
			if (!due->lost)
				due->lost = f->round.number;
		}
	}
}

static void dues_strike(struct faults *f, uint32_t disks, bool names)
{
	uint32_t i, r;

	for (i = 0; i < f->conf.files; i++) {
		for (r = 0; r < f->conf.cps; r++) {
			f->cp[r].due[i].disks &= ~disks;
			f->cp[r].due[i].names &= !names;
		}
	}
}

void faults_dues_kept(struct faults *f, uint32_t iop)
{
	uint32_t d, disks = 0;

	for (d = 0; d < f->conf.disks; d++) {
		if (f->conf.node[d] != iop || f->shaky[d])
			continue;
		disks |= 1u << d;
		f->written[d] = f->round.number;
	}
	if (!iop)
		f->ns_written = f->round.number;
	dues_strike(f, disks, !iop);
}

void faults_due_cell(struct faults *f, uint32_t rank, uint32_t i, uint32_t cell)
{
	uint32_t disk = faults_file_disk(&f->file[i], cell);

	/* What was written in a round of losses may have been written after them; of an orderly stop, before it. */
	if (f->losses[disk] == f->losses_before[disk] && f->written[disk] != f->round.number)
		f->cp[rank].due[i].disks |= 1u << disk;
}

void faults_due_names(struct faults *f, uint32_t rank, uint32_t i)
{
	if (f->ns_losses == f->ns_losses_before && f->ns_written != f->round.number)
		f->cp[rank].due[i].names = true;
}

void faults_due_forget(struct faults *f, uint32_t rank, uint32_t i)
{
	memset(&f->cp[rank].due[i], 0, sizeof(f->cp[rank].due[i]));
}

void faults_due_synced(struct faults *f, uint32_t rank, uint32_t i, const struct faults_call *call)
{
	struct faults_due *due = &f->cp[rank].due[i];
	bool within = due->lost_ns >= call->began && due->lost_ns <= call->ended;

	if (!call->ret && due->lost && (due->lost < f->round.number || within))
		faults_violated(
			f, "cp%u: a sync of %s returns 0, but what was lost in round %u was due",
			rank, f->file[i].name, due->lost);
	memset(due, 0, sizeof(*due));
}
