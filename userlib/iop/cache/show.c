// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Showing cached blocks to mounts on this machine, which read them without a message.  A block is shown when a message
 * has read of it or written to it, and not when it is read ahead, which follows messages.  A mount sends one now and then all the same, so that what
 * it uses is not the oldest here.
 */
#include <errno.h>
#include "iop/cache/priv.h"

void cache_entry_show(struct cache *c, struct cache_entry *e)
{
	const struct ddio_file_ref *ref;
	struct ddio_show_key key;

	if (!c->showcase || e->stale || e->lock || e->valid < e->size)
		return;
	if (e->shown && ddio_showcase_shown(c->showcase, e->shown))
		return;
	e->shown = 0;
	if (!cache_mem_showable(c, e))
		return;
	ref = object_file(e->obj);
	key = (struct ddio_show_key){ ref->id, ref->seed, e->block, ref->block, ref->layout };
	e->shown = ddio_showcase_show(c->showcase, &key, e->buf);
}

void cache_entry_hide(struct cache *c, struct cache_entry *e)
{
	if (!e->shown)
		return;
	ddio_showcase_hide(c->showcase, e->shown);
	e->shown = 0;
}

int cache_show_to(struct cache *c, const char *name, const uint8_t *token)
{
	int err = 0;

	/* Memory that is registered with the kernel is not shown, and the papers' caches are as they were. */
	if (ddio_env_registers(c->env) || c->opts.paper)
		return -EOPNOTSUPP;
	if (!c->showcase)
		err = ddio_showcase_new(c->env, c->opts.bytes, &c->showcase);
	return err ? err : ddio_showcase_send(c->env, c->showcase, name, token);
}
