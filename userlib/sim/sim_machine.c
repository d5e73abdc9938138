// SPDX-License-Identifier: LGPL-2.1-or-later
/* The simulated world: what work costs on machines that have a name. */
#include <string.h>
#include "sim/sim_priv.h"

static const struct ddio_sim_machine machine_free = {
	.name = "free",
	.help = "CPU work takes no time",
};

const struct ddio_sim_machine *const ddio_sim_machines[] = {
	&machine_free,
	NULL,
};

const struct ddio_sim_machine *ddio_sim_machine_find(const char *name)
{
	const struct ddio_sim_machine *const *m;

	for (m = ddio_sim_machines; *m; m++)
		if (!strcmp((*m)->name, name))
			return *m;
	return NULL;
}
