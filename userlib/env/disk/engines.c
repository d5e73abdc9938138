// SPDX-License-Identifier: LGPL-2.1-or-later
/* The disk engines of the real world.  A new one is one more line here. */
#include "env/disk/priv.h"

extern const struct ddio_disk_engine disk_aio, disk_kmod;

const struct ddio_disk_engine *const ddio_disk_engines[] = {
	&ddio_disk_mem, &disk_aio, &ddio_disk_hp97560, &disk_kmod, NULL,
};

static void engine_print(FILE *out, const struct ddio_disk_engine *engine)
{
	const struct ddio_opt *option;

	fprintf(out, "%s: %s\n", engine->name, engine->help);
	for (option = engine->options; option && option->name; option++)
		disk_option_print(out, option);
}

/**
 * disk_engines_print - print what can be given as a disk's "engine" and "options"
 * @out: file to print to
 */
void disk_engines_print(FILE *out)
{
	const struct ddio_disk_engine *const *e;
	const struct ddio_opt *option;

	for (e = ddio_disk_engines; *e; e++)
		engine_print(out, *e);
	fprintf(out, "any: options of every engine\n");
	for (option = ddio_disk_common_options; option->name; option++)
		disk_option_print(out, option);
}
