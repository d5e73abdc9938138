// SPDX-License-Identifier: GPL-2.0-only
/* Lists of what the daemon knows, which tests compare with the manual pages. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "env/disk/engine.h"
#include "ddiod.h"

int list_conf(void)
{
	char *text = NULL, *line, *save = NULL;
	char name[64];
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return EXIT_FAILED;
	ddio_conf_print_options(f);
	if (fclose(f))
		return EXIT_FAILED;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (sscanf(line, "  %63[a-z0-9_] = ", name) == 1 && line[2] == name[0] &&
		    strchr(line, '='))
			puts(name);
	free(text);
	return EXIT_OK;
}

int list_engines(void)
{
	const struct ddio_disk_engine *const *e;
	const struct ddio_opt *o;

	for (e = ddio_disk_engines; *e; e++) {
		puts((*e)->name);
		for (o = (*e)->options; o && o->name; o++)
			puts(o->name);
	}
	for (o = ddio_disk_common_options; o->name; o++)
		puts(o->name);
	return EXIT_OK;
}
