// SPDX-License-Identifier: LGPL-2.1-or-later
/* What keeps a file system alive, and its log. */
#include <stdarg.h>
#include <stdio.h>
#include "cp/fs/core/core.h"

bool fsc_closing(const struct ddio_fs *fs)
{
	return atomic_load_explicit(&fs->closing, memory_order_acquire);
}

void fsc_log(struct ddio_fs *fs, enum ddio_log_level level, const char *fmt, ...)
{
	char line[DDIO_MAX_TEXT * 2];
	va_list ap;

	if (!fs->log)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fs->log(fs->log_arg, level, line);
}

static void fs_gone(void *arg)
{
	struct ddio_fs *fs = arg;

	ddio_gate_open(fs->reactor[0].env, &fs->gone);
}

void fsc_hold(struct ddio_fs *fs)
{
	atomic_fetch_add_explicit(&fs->holds, 1, memory_order_relaxed);
}

void fsc_unhold(struct ddio_fs *fs)
{
	if (atomic_fetch_sub_explicit(&fs->holds, 1, memory_order_acq_rel) > 1)
		return;
	fs->gone_post.fn = fs_gone;
	fs->gone_post.arg = fs;
	ddio_env_post(fs->reactor[0].env, &fs->gone_post);
}
