// SPDX-License-Identifier: LGPL-2.1-or-later
/* The simulated world: what work costs on machines that have a name. */
#include <string.h>
#include "sim/priv.h"

static const struct ddio_sim_machine machine_free = {
	.name = "free",
	.help = "CPU work takes no time",
};

/*
 * The machine of TR94-226 and TOCS 1997: 50 MHz, 32-bit, one instruction a cycle.
 *
 * Published (TOCS, Table I), as measured from the papers' code: Memput 5 us and 1 us for
 * 50 words, Memget 5 us and 2 us for 50 words.
 *
 * Not published, and fitted, each once for all cells (Documentation/reproduction.rst): a look-up in the cache, or a
 * change of it, 16 us, on the twelve cells of 8-byte cyclic chunks by the traditional file system in Tables 3 and 4;
 * what finds the pieces of a distribution, 1.3 us for each piece and dimension, on those of DD in Table 4; a piece of a
 * group message, 3.9 us, on the 10 to 24 % that batches gain in TOCS.
 *
 * Assumed: receiving a Memget's reply takes 1 us; 5 us to send or to take in a message, as for an empty Memput; 10 us a
 * hand-over between threads and a disk request.
 */
static const struct ddio_sim_machine machine_1994 = {
	.name = "1994",
	.help = "the papers' 50 MHz RISC",
	.cost = {
		[DDIO_WORK_MSG_SEND] = { 0, 5000000 },
		[DDIO_WORK_MSG_RECV] = { 0, 5000000 },
		[DDIO_WORK_MEMPUT] = { 5000, 5000 },
		[DDIO_WORK_MEMGET] = { 6000, 10000 },
		[DDIO_WORK_CACHE] = { 0, 16000000 },
		[DDIO_WORK_SWITCH] = { 0, 10000000 },
		[DDIO_WORK_COPY] = { 0, 5000 },
		[DDIO_WORK_SORT] = { 0, 1000000 },
		[DDIO_WORK_RUNS] = { 0, 1000000 },
		[DDIO_WORK_PIECES] = { 0, 1300000 },
		[DDIO_WORK_GATHER] = { 0, 3900000 },
		[DDIO_WORK_DISK] = { 0, 10000000 },
		[DDIO_WORK_SHARED] = { 0, 5000 },
		[DDIO_WORK_CALL] = { 0, 5000000 },
	},
};

static const struct ddio_sim_machine *const sim_machines[] = {
	&machine_1994,
	&machine_free,
	NULL,
};

const struct ddio_sim_machine *ddio_sim_machine_find(const char *name)
{
	const struct ddio_sim_machine *const *m;

	for (m = sim_machines; *m; m++)
		if (!strcmp((*m)->name, name))
			return *m;
	return NULL;
}
