// SPDX-License-Identifier: GPL-2.0-only
/* Ends a round: checks what the processes saw, and computes what the files may hold now. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "run.h"

static uint32_t ncps(const struct faults *f)
{
	return f->conf.cps;
}

/* Returns whether an error can happen in a cluster where things break; any other is a bug. */
static bool error_known(int ret)
{
	static const int known[] = { -EIO,    -ENOSPC,	-EHOSTDOWN, -ECONNABORTED, -ETIMEDOUT,
				     -ESTALE, -ENODATA, -ESHUTDOWN, -EFBIG };
	uint32_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (ret == known[i])
			return true;
	return ret >= 0;
}

/* Another atomic write of the file may not be over yet, or this one, or a clone, was given up. */
static bool error_atomic(const struct faults *f, int ret)
{
	return (f->spec.atomic || f->spec.epochs || f->round.op == OP_CLONE) &&
	       (ret == -EBUSY || ret == -ECANCELED);
}

/*
 * Verdicts
 */

/* Return: the @n-th call of a process that survived the round; NULL if there is none. */
static const struct faults_call *call_of(const struct faults *f, uint32_t rank, uint32_t n)
{
	const struct faults_cp *cp = &f->cp[rank];

	return !cp->was_dead && n < cp->ncalls ? &cp->call[n] : NULL;
}

/* Returns whether no connection between members has failed since the group was formed. */
static bool group_whole(const struct faults *f)
{
	uint32_t r;

	for (r = 0; r < ncps(f); r++)
		if (f->cp_bad[r])
			return false;
	return f->cp_faults == f->cp_faults_before;
}

/* Checks that a collective call ended alike for all, unless members may have lost each other. */
static void check_verdict(struct faults *f, uint32_t n, const char *what)
{
	bool whole = group_whole(f);
	const struct faults_call *first = NULL, *call;
	uint32_t r, at = 0;

	for (r = 0; r < ncps(f); r++) {
		call = call_of(f, r, n);
		if (!call)
			continue;
		if (!first) {
			first = call;
			at = r;
		} else if (whole && (call->ret != first->ret || strcmp(call->text, first->text))) {
			faults_violated(f, "%s: cp%u says %d (%s), cp%u %d (%s)", what, at,
					first->ret, first->text, r, call->ret, call->text);
		}
	}
}

static void check_errors(struct faults *f)
{
	uint32_t r, n;

	for (r = 0; r < ncps(f); r++) {
		for (n = 0; n < f->cp[r].ncalls; n++) {
			const struct faults_call *call = &f->cp[r].call[n];

			if (f->round.strict && call->ret < 0 && call->ret != -ENOSPC)
				faults_violated(f, "all is well, but cp%u gets %d (%s)", r,
						call->ret, call->text);
			if (!error_known(call->ret) && !error_atomic(f, call->ret) &&
			    f->round.op != OP_REMOVE && f->round.op != OP_FORM &&
			    !(f->round.remove && call->ret == -ENOENT))
				faults_violated(f, "cp%u gets %d (%s)", r, call->ret, call->text);
		}
	}
}

/* Returns whether a collective call succeeded for the processes that survived. */
static bool call_succeeded(const struct faults *f, uint32_t n)
{
	const struct faults_call *call;
	uint32_t r;

	for (r = 0; r < ncps(f); r++) {
		call = call_of(f, r, n);
		if (call && call->ret >= 0)
			return true;
	}
	return false;
}

/*
 * Transfers
 */

/* What was read of a cell tells of an atomic write how it was decided, and of all that were decided with it. */
static void cell_found(struct faults *f, uint32_t index, uint32_t cell, uint64_t value)
{
	uint32_t atomic = f->file[index].cell[cell].atomic, i, t;
	bool there = (value & 0xffff) == atomic;

	if (!atomic)
		return;
	faults_file_decided(&f->file[index], atomic, there);
	for (t = 0; t < f->nties; t++)
		for (i = 0; i < f->conf.files && f->tie[t].version[index] == atomic; i++)
			if (i != index && f->tie[t].version[i])
				faults_file_decided(&f->file[i], f->tie[t].version[i], there);
}

/* A file is new: what was written to another one of its name tells nothing of it. */
static void ties_forget(struct faults *f, uint32_t index)
{
	uint32_t t;

	for (t = 0; t < f->nties; t++)
		f->tie[t].version[index] = 0;
}

static void check_read(struct faults *f, uint32_t rank, uint32_t k)
{
	const struct faults_xfer *x = &f->round.x[k];
	struct faults_file *file = &f->file[x->file];
	const struct faults_cp *cp = &f->cp[rank];
	char text[200];
	uint32_t i;

	for (i = 0; i < cp->ncells[k]; i++) {
		uint32_t cell = cp->cells[k][i];

		cell_found(f, x->file, cell, cp->buf[k][i]);
		if (faults_cell_may(file, x->file, cell, cp->buf[k][i]))
			continue;
		faults_violated(f, "cp%u reads %016llx in %s at byte %u (d%u), expected version %s",
				rank, (unsigned long long)cp->buf[k][i], file->name,
				cell * FAULTS_CELL, faults_file_disk(file, cell),
				faults_cell_text(&file->cell[cell], text, sizeof(text)));
		return;
	}
}

/* Returns whether nothing in this round can have lost data of the disk. */
static bool disk_sure(const struct faults *f, uint32_t disk)
{
	return f->losses[disk] == f->losses_before[disk];
}

static uint64_t end_of(const struct faults *f, uint32_t k, uint32_t rank)
{
	const struct faults_cp *cp = &f->cp[rank];
	uint64_t end = 0;
	uint32_t i;

	for (i = 0; i < cp->ncells[k]; i++)
		if ((cp->cells[k][i] + 1ull) * FAULTS_CELL > end)
			end = (cp->cells[k][i] + 1ull) * FAULTS_CELL;
	return end;
}

/* What is synced at once is not due, and the loss of what was may have been told instead. */
static void model_due(struct faults *f, uint32_t rank, uint32_t k)
{
	const struct faults_xfer *x = &f->round.x[k];
	const struct faults_call *call = call_of(f, rank, k);
	const struct faults_cp *cp = &f->cp[rank];
	uint32_t i;

	if (x->flags & DDIO_XFER_SYNC) {
		faults_due_forget(f, rank, x->file);
		return;
	}
	if (!call || call->ret < 0 || !cp->ncells[k] || x->flags & DDIO_XFER_ATOMIC)
		return;
	for (i = 0; i < cp->ncells[k]; i++)
		faults_due_cell(f, rank, x->file, cp->cells[k][i]);
	faults_due_names(f, rank, x->file);
}

/* A transfer without a byte does nothing, and makes nothing durable. */
static bool anybody_moves(const struct faults *f, uint32_t k)
{
	uint32_t r;

	for (r = 0; r < ncps(f); r++)
		if (f->cp[r].ncells[k])
			return true;
	return false;
}

static void model_write(struct faults *f, uint32_t rank, uint32_t k, bool success)
{
	const struct faults_xfer *x = &f->round.x[k];
	struct faults_file *file = &f->file[x->file];
	const struct faults_cp *cp = &f->cp[rank];
	bool durable = success && x->flags & (DDIO_XFER_SYNC | DDIO_XFER_ATOMIC) &&
		       anybody_moves(f, k),
	     sure;
	uint64_t end = end_of(f, k, rank);
	uint32_t i;

	for (i = 0; i < cp->ncells[k]; i++) {
		sure = success &&
		       (durable || disk_sure(f, faults_file_disk(file, cp->cells[k][i])));
		faults_cell_wrote(&file->cell[cp->cells[k][i]], x->version[rank], sure, durable);
		if (x->flags & DDIO_XFER_ATOMIC && !success)
			file->cell[cp->cells[k][i]].atomic = (uint16_t)x->version[rank];
	}
	if (end)
		faults_size_change(file, end, false,
				   success && (durable || f->ns_losses == f->ns_losses_before));
	if (durable) {
		file->durable = true;
		file->stable = file->seen;
	}
	model_due(f, rank, k);
}

/* Checks a read that returned fewer bytes than asked for. */
static void check_short(struct faults *f, uint32_t rank, uint32_t k, int ret)
{
	const struct faults_file *file = &f->file[f->round.x[k].file];

	if (ret == -ENODATA &&
	    faults_size_least(&file->seen) >= (uint64_t)file->cells * FAULTS_CELL)
		faults_violated(f, "cp%u: %s ends too early", rank, file->name);
}

/* Checks a read that returned all bytes. */
static void check_end(struct faults *f, uint32_t rank, uint32_t k)
{
	const struct faults_file *file = &f->file[f->round.x[k].file];
	uint64_t end = end_of(f, k, rank);

	if (faults_size_most(&file->seen) < end)
		faults_violated(f, "cp%u reads %s up to byte %llu, but it has at most %llu", rank,
				file->name, (unsigned long long)end,
				(unsigned long long)faults_size_most(&file->seen));
}

/* Checks that a read was cut for all members at one size, which the file may have had; or not at all. */
static void check_cut(struct faults *f, uint32_t k)
{
	const struct faults_xfer *x = &f->round.x[k];
	const struct faults_sizes *sizes = &f->file[x->file].seen;
	uint64_t least = 0, most = UINT64_MAX;
	uint32_t r, i;

	for (r = 0; r < ncps(f); r++) {
		const struct faults_call *call = call_of(f, r, k);

		if (!call || call->ret)
			continue;
		if (f->cp[r].end_least[k] > least)
			least = f->cp[r].end_least[k];
		if (f->cp[r].end_most[k] < most)
			most = f->cp[r].end_most[k];
	}
	if (most == UINT64_MAX || sizes->any)
		return;
	for (i = 0; i < sizes->n; i++)
		if (x->flags & DDIO_XFER_SHORT && sizes->v[i] >= least && sizes->v[i] <= most)
			return;
	faults_violated(f, "%s is cut between bytes %llu and %llu, where it cannot end",
			f->file[x->file].name, (unsigned long long)least, (unsigned long long)most);
}

/* Checks what a process was told of the cells that are not zeros, when it is known what the file may hold now. */
static void check_found(struct faults *f, uint32_t rank, uint32_t k)
{
	const uint32_t index = f->round.x[k].file;
	const struct faults_file *file = &f->file[index];
	const struct faults_found *found = &f->cp[rank].found;
	uint64_t i, cell, next = 0;
	bool may = true;

	for (i = 0; i <= found->n && may; i++) {
		cell = i < found->n ? found->index[i] : found->records;
		for (; found->all && next < cell && next < file->cells && may; next++)
			may = faults_cell_may(file, index, (uint32_t)next, 0);
		if (i < found->n && may)
			may = cell >= next && cell < file->cells && found->buf[i] &&
			      faults_cell_may(file, index, (uint32_t)cell, found->buf[i]);
		next = cell + 1;
	}
	if (!may)
		faults_violated(f, "cp%u is told of %s what cell %llu or one before it cannot hold",
				rank, file->name, (unsigned long long)next - 1);
}

static void check_all_found(struct faults *f)
{
	uint32_t r;

	/* All together is the second call of each. */
	if (f->conf.queried && f->round.number % 2)
		check_verdict(f, 1, "query_all");
	for (r = 0; r < ncps(f); r++)
		if (!f->cp[r].was_dead && f->cp[r].found.there)
			check_found(f, r, 0);
}

static void end_coll(struct faults *f, uint32_t k)
{
	const struct faults_xfer *x = &f->round.x[k];
	bool success = call_succeeded(f, k);
	uint32_t r;

	check_verdict(f, k, x->write[0] ? "write_all" : "read_all");
	/* Of what several write, the lowest rank's stays. */
	for (r = ncps(f); r-- > 0;) {
		const struct faults_call *call = call_of(f, r, k);

		if (x->write[r]) {
			model_write(f, r, k, success);
		} else if (call && call->ret) {
			check_short(f, r, k, call->ret);
		} else if (call) {
			check_end(f, r, k);
			check_read(f, r, k);
		}
	}
	if (!x->write[0])
		check_cut(f, k);
}

/* How an epoch ended, as far as it is known: of a process that has died it is not known whether it had it committed. */
enum epoch_end { EPOCH_NEVER, EPOCH_PERHAPS, EPOCH_THERE };

static enum epoch_end epoch_end_of(const struct faults *f)
{
	enum epoch_end end = EPOCH_NEVER;
	uint32_t r;

	for (r = 0; r < ncps(f); r++) {
		const struct faults_cp *cp = &f->cp[r];
		const struct faults_call *last = cp->ncalls ? &cp->call[cp->ncalls - 1] : NULL;
		bool asked = last && !strcmp(last->what, "epoch_commit");

		if (!cp->was_dead && asked && !last->ret)
			return EPOCH_THERE;
		if (asked || (cp->was_dead && !f->round.give_up))
			end = EPOCH_PERHAPS;
	}
	return end;
}

/* All files have what was written, or none has anything of it. */
static void end_epoch(struct faults *f)
{
	const enum epoch_end end = epoch_end_of(f);
	struct faults_tie *tie = &f->tie[f->nties];
	uint32_t r, k;

	for (k = 0; k < f->round.nxfer + 2; k++)
		check_verdict(f, k, "epoch");
	if (end == EPOCH_NEVER)
		return;
	for (k = 0; k < f->round.nxfer; k++)
		for (r = 0; r < ncps(f); r++)
			model_write(f, r, k, end == EPOCH_THERE);
	if (end == EPOCH_THERE || f->nties == FAULTS_TIES)
		return;
	memset(tie, 0, sizeof(*tie));
	for (k = 0; k < f->round.nxfer; k++)
		tie->version[f->round.x[k].file] = (uint16_t)f->round.x[k].version[0];
	f->nties++;
}

/* Other processes write elsewhere meanwhile, but may make the file longer. */
static void end_own(struct faults *f)
{
	const struct faults_xfer *x = &f->round.x[0];
	const struct faults_call *call;
	uint32_t r;

	for (r = 0; r < ncps(f); r++) {
		call = call_of(f, r, 0);
		if (call && !x->write[r])
			check_short(f, r, 0, call->ret);
	}
	for (r = 0; r < ncps(f); r++) {
		call = call_of(f, r, 0);
		if (f->cp[r].ncalls && x->write[r])
			model_write(f, r, 0, call && call->ret >= 0);
	}
	for (r = 0; r < ncps(f); r++) {
		call = call_of(f, r, 0);
		if (!call || x->write[r] || call->ret < 0)
			continue;
		check_end(f, r, 0);
		check_read(f, r, 0);
	}
}

/*
 * Files
 */
static bool id_is_new(struct faults *f, uint64_t id)
{
	uint32_t i;

	for (i = 0; i < f->nids; i++)
		if (f->ids[i] == id)
			return false;
	if (f->nids < FAULTS_IDS)
		f->ids[f->nids++] = id;
	return true;
}

static void opened(struct faults *f, uint32_t i, uint64_t id)
{
	struct faults_file *file = &f->file[i];

	if (file->gen && id == file->id) {
		if (file->state == FILE_NONE)
			faults_violated(f, "%s was removed but exists again", file->name);
		file->state = FILE_THERE;
		return;
	}
	if (file->state == FILE_THERE)
		faults_violated(f, "%s is a different file than before", file->name);
	if (!id_is_new(f, id))
		faults_violated(f, "%s has the number %llu, which another file had", file->name,
				(unsigned long long)id);
	faults_file_begin(file, id);
	ties_forget(f, i);
}

/* The name server may have lost the file after some process had made or found it. */
static void opened_and_lost(struct faults *f, uint32_t i)
{
	struct faults_file *file = &f->file[i];

	if (f->ns_losses != f->ns_losses_before && !file->durable)
		file->state = FILE_MAYBE;
}

static void end_form(struct faults *f)
{
	uint32_t r, i;
	uint64_t id;

	f->formed = true;
	for (r = 0; r < ncps(f); r++) {
		for (i = 0; i < f->conf.files; i++) {
			faults_due_forget(f, r, i);
			if (f->cp[r].was_dead || !f->cp[r].id[i])
				f->formed = false;
			else if (!r)
				faults_due_names(f, r, i);
		}
	}
	for (i = 0; i < f->conf.files; i++) {
		for (r = 0, id = 0; r < ncps(f); r++) {
			if (f->cp[r].was_dead || !f->cp[r].id[i])
				continue;
			if (id && f->cp[r].id[i] != id)
				faults_violated(f, "%s is not the same file for all",
						f->file[i].name);
			id = f->cp[r].id[i];
		}
		if (id)
			opened(f, i, id);
		else if (f->file[i].state == FILE_NONE)
			f->file[i].state = FILE_MAYBE;
		if (id)
			opened_and_lost(f, i);
	}
}

static void end_sync(struct faults *f)
{
	struct faults_file *file = &f->file[f->round.file];
	const struct faults_call *call = call_of(f, f->round.actor, 0);
	uint32_t i;

	if (call)
		faults_due_synced(f, f->round.actor, f->round.file, call);
	if (!call || call->ret)
		return;
	for (i = 0; i < file->cells; i++)
		if (f->losses[faults_file_disk(file, i)] ==
		    f->losses_before[faults_file_disk(file, i)])
			faults_cell_sync(&file->cell[i]);
	if (f->ns_losses == f->ns_losses_before) {
		file->durable = true;
		file->stable = file->seen;
	}
}

/* @call: that cut the file; NULL if its process died. */
static void end_size(struct faults *f, const struct faults_call *call)
{
	struct faults_file *file = &f->file[f->round.file];
	bool success = call && !call->ret;
	uint32_t i;

	for (i = f->round.size / FAULTS_CELL; i < file->cells; i++)
		faults_cell_wrote(&file->cell[i], 0,
				  success && disk_sure(f, faults_file_disk(file, i)), false);
	faults_size_change(file, f->round.size, true,
			   success && f->ns_losses == f->ns_losses_before);
	if (success)
		faults_due_names(f, f->round.actor, f->round.file);
}

static void end_remove(struct faults *f, const struct faults_call *call)
{
	struct faults_file *file = &f->file[f->round.file];

	f->reform = true;
	if (call && (!call->ret || (call->ret == -ENOENT && file->state != FILE_THERE)))
		file->state = FILE_NONE;
	else if (file->state == FILE_THERE)
		file->state = FILE_MAYBE;
}

/* A clone has what the file may hold: it was made after all that went before had returned. */
static void end_clone(struct faults *f)
{
	const struct faults_file *file = &f->file[f->round.file];
	const struct faults_cp *cp = &f->cp[f->round.actor];

	if (cp->was_dead || !cp->cloned)
		return;
	check_read(f, f->round.actor, 0);
	if (!faults_size_may(&file->seen, cp->size))
		faults_violated(f, "a clone of %s has %llu bytes, which that cannot have had",
				file->name, (unsigned long long)cp->size);
}

static void end_mix(struct faults *f)
{
	const struct faults_call *cut = call_of(f, f->round.actor, f->round.own ? 0 : 1);

	if (f->round.own)
		end_own(f);
	else
		end_coll(f, 0);
	if (f->round.remove)
		end_remove(f, cut);
	else
		end_size(f, cut);
}

static void keep(struct faults *f, uint32_t rank)
{
	uint32_t file = f->round.x[0].file, i;
	const struct faults_cp *cp = &f->cp[rank];
	bool second = f->kept_all[file];

	if (!f->kept[file])
		f->kept[file] = calloc(f->file[file].cells, sizeof(**f->kept));
	if (second && f->kept_size[file] != cp->size)
		faults_violated(f, "%s had %llu bytes when it was synced, and has %llu",
				f->file[file].name, (unsigned long long)f->kept_size[file],
				(unsigned long long)cp->size);
	f->kept_size[file] = cp->size;
	for (i = 0; i < cp->ncells[0]; i++) {
		uint64_t *was = &f->kept[file][cp->cells[0][i]];

		if (second && *was != cp->buf[0][i]) {
			faults_violated(f,
					"%s had %016llx at byte %u when it was synced, and "
					"now has %016llx",
					f->file[file].name, (unsigned long long)*was,
					cp->cells[0][i] * FAULTS_CELL,
					(unsigned long long)cp->buf[0][i]);
			return;
		}
		*was = cp->buf[0][i];
	}
}

static void end_read_back(struct faults *f)
{
	const struct faults_file *file = &f->file[f->round.x[0].file];
	uint32_t r;

	for (r = 0; r < ncps(f); r++) {
		if (!faults_size_may(&file->seen, f->cp[r].size))
			faults_violated(f, "%s has %llu bytes", file->name,
					(unsigned long long)f->cp[r].size);
		check_read(f, r, 0);
		keep(f, r);
	}
	f->kept_all[f->round.x[0].file] = true;
}

static void end_fsck(struct faults *f)
{
	const struct faults_cp *cp = &f->cp[f->round.actor];

	if (cp->problems)
		faults_violated(f, "fsck finds %llu problems, the last: %s",
				(unsigned long long)cp->problems, cp->problem);
}

static void round_check(struct faults *f)
{
	uint32_t k;

	check_errors(f);
	switch (f->round.op) {
	case OP_FORM:
		end_form(f);
		break;
	case OP_COLL:
	case OP_PAIR:
		for (k = 0; k < f->round.nxfer; k++)
			end_coll(f, k);
		if (f->round.op == OP_COLL)
			check_all_found(f);
		break;
	case OP_OWN:
		end_own(f);
		break;
	case OP_SYNC:
		end_sync(f);
		break;
	case OP_SIZE:
		end_size(f, call_of(f, f->round.actor, 0));
		break;
	case OP_REMOVE:
		end_remove(f, call_of(f, f->round.actor, 0));
		break;
	case OP_BARRIER:
		check_verdict(f, 0, "barrier");
		break;
	case OP_MIX:
		end_mix(f);
		break;
	case OP_EPOCH:
		end_epoch(f);
		break;
	case OP_CLONE:
		end_clone(f);
		break;
	case OP_READ_BACK:
		end_read_back(f);
		break;
	case OP_FSCK:
		end_fsck(f);
		break;
	default:
		break;
	}
}

void faults_round_free(struct faults *f)
{
	uint32_t r, k;

	for (r = 0; r < FAULTS_CPS; r++) {
		for (k = 0; k < FAULTS_XFERS; k++) {
			free(f->cp[r].cells[k]);
			free(f->cp[r].buf[k]);
			faults_view_free(&f->cp[r].view[k]);
			f->cp[r].cells[k] = NULL;
			f->cp[r].buf[k] = NULL;
			f->cp[r].ncells[k] = 0;
		}
		free(f->cp[r].found.index);
		free(f->cp[r].found.buf);
		memset(&f->cp[r].found, 0, sizeof(f->cp[r].found));
		f->cp[r].ncalls = 0;
	}
}

/* Returns whether a new group is needed. */
static bool must_reform(const struct faults *f)
{
	uint32_t r, n;

	if (!f->formed || f->reform)
		return true;
	for (r = 0; r < ncps(f); r++) {
		if (f->cp[r].was_dead)
			return true;
		for (n = 0; n < f->cp[r].ncalls; n++)
			if (f->cp[r].call[n].ret == -ECONNABORTED ||
			    f->cp[r].call[n].ret == -ETIMEDOUT)
				return true;
	}
	return false;
}

static void round_count(struct faults *f)
{
	bool failed = false;
	uint32_t r, n;

	for (r = 0; r < ncps(f); r++)
		for (n = 0; n < f->cp[r].ncalls; n++)
			failed |= f->cp[r].call[n].ret < 0;
	f->result->rounds[f->round.op]++;
	f->result->rounds_failed[f->round.op] += failed;
}

void faults_round_end(struct faults *f)
{
	uint32_t r;

	if (f->round.number) {
		round_count(f);
		if (f->spec.story)
			faults_tell(f);
		round_check(f);
		f->reform = must_reform(f);
	}
	for (r = 0; r < ncps(f); r++)
		f->orphaned |= f->cp[r].was_dead;
	faults_round_free(f);
	for (r = 0; r < ncps(f); r++)
		f->cp[r].was_dead = f->cp[r].dead;
	memcpy(f->losses_before, f->losses, sizeof(f->losses));
	f->ns_losses_before = f->ns_losses;
	faults_round_plan(f);
	if (f->round.op == OP_FORM)
		f->cp_faults_before = f->cp_faults;
}
