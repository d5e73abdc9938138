// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "canvas.h"
#include "tools/common/cmd.h"

static bool ends(const char *path, const char *with)
{
	size_t n = strlen(path), m = strlen(with);

	return n > m && !strcmp(path + n - m, with);
}

int trace_save(const char *command, const char *path, const struct trace_all *t)
{
	FILE *out;
	int err;

	if (ends(path, ".png"))
		return trace_png(command, path, t);
	out = fopen(path, "we");
	if (!out) {
		err = -errno;
		cmd_fail(command, err, "cannot write '%s'", path);
		return err;
	}
	if (ends(path, ".svg"))
		trace_svg(out, t);
	else
		trace_json(out, t);
	err = ferror(out) ? -EIO : 0;
	if (fclose(out) && !err)
		err = -errno;
	if (err) {
		unlink(path);
		cmd_fail(command, err, "cannot write '%s'", path);
	}
	return err;
}
