// SPDX-License-Identifier: GPL-2.0-only
/* ddio sim --faults: a round in words: who did what to which bytes, and what came of it. */
#include <stdio.h>
#include <string.h>
#include "run.h"

#define TEXT 400

static const char *method_text(uint32_t method)
{
	static const char *const text[] = { "", ", by TC", ", by 2P", ", by DD", ", by DDs" };

	return method < sizeof(text) / sizeof(text[0]) ? text[method] : "";
}

/* Writes which bytes a process moves: from the first to the last of its cells. */
static void bytes_text(const struct faults_cp *cp, uint32_t k, char *text, size_t len)
{
	uint32_t first = UINT32_MAX, last = 0, i;

	for (i = 0; i < cp->ncells[k]; i++) {
		first = cp->cells[k][i] < first ? cp->cells[k][i] : first;
		last = cp->cells[k][i] > last ? cp->cells[k][i] : last;
	}
	if (!cp->ncells[k])
		snprintf(text, len, "nothing");
	else
		snprintf(text, len, "%u bytes between %u and %u", cp->ncells[k] * FAULTS_CELL,
			 first * FAULTS_CELL, (last + 1) * FAULTS_CELL);
}

static void moves_text(const struct faults *f, uint32_t rank, uint32_t k, char *text, size_t len)
{
	const struct faults_xfer *x = &f->round.x[k];
	char bytes[100], version[40] = "";

	bytes_text(&f->cp[rank], k, bytes, sizeof(bytes));
	if (x->write[rank])
		snprintf(version, sizeof(version), ", version %u", x->version[rank]);
	snprintf(text, len, "%s %s of %s%s%s%s", x->write[rank] ? "writes" : "reads", bytes,
		 f->file[x->file].name, version, method_text(x->method),
		 x->flags & DDIO_XFER_SYNC ? ", to be synced" : "");
}

/* Writes what the @n-th call of a process did. */
static void call_text(const struct faults *f, uint32_t rank, uint32_t n, char *text, size_t len)
{
	const struct faults_round *r = &f->round;
	const char *what = f->cp[rank].call[n].what, *file = f->file[r->file].name;
	uint32_t k = r->op == OP_EPOCH ? n - 1 : n;

	if (k < r->nxfer && f->cp[rank].cells[k] && strcmp(what, "fstat") &&
	    strncmp(what, "epoch", 5))
		moves_text(f, rank, k, text, len);
	else if (!strcmp(what, "set_size"))
		snprintf(text, len, "sets the size of %s to %llu", file,
			 (unsigned long long)r->size);
	else if (!strcmp(what, "sync") || !strcmp(what, "remove"))
		snprintf(text, len, "%ss %s", what, file);
	else if (!strcmp(what, "drop_cache"))
		snprintf(text, len, "drops %s from the caches", file);
	else
		snprintf(text, len, "calls %s", what);
}

static void call_tell(const struct faults *f, uint32_t rank, uint32_t n)
{
	const struct faults_call *call = &f->cp[rank].call[n];
	char text[TEXT], result[TEXT] = "done";

	call_text(f, rank, n, text, sizeof(text));
	if (call->ret < 0)
		snprintf(result, sizeof(result), "fails: %s",
			 call->text[0] ? call->text : strerror(-call->ret));
	printf("%.6f   cp%u %s: %s\n", call->ended / 1e9, rank, text, result);
}

/* Opening files is told only if something went wrong. */
void faults_tell(const struct faults *f)
{
	const struct faults_round *r = &f->round;
	uint32_t rank, n;

	if (r->op == OP_PAUSE || r->op == OP_POWER)
		return;
	printf("round %u%s\n", r->number, r->op == OP_FORM ? ": a new group opens the files" : "");
	for (rank = 0; rank < f->conf.cps; rank++)
		for (n = 0; n < f->cp[rank].ncalls; n++)
			if (r->op != OP_FORM || f->cp[rank].call[n].ret < 0)
				call_tell(f, rank, n);
}
