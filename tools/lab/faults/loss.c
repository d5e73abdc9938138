// SPDX-License-Identifier: GPL-2.0-only
/* ddio sim --faults: what the loss of an I/O processor's memory means to the model. */
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
