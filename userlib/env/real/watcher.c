// SPDX-License-Identifier: LGPL-2.1-or-later
/* Descriptors that belong to users of the env. */
#include <errno.h>
#include <stdlib.h>
#include "env/real/priv.h"

struct real_watcher {
	struct watch watch;
	struct ddio_watcher *watcher;
};

static void watcher_event(struct watch *watch, uint32_t events)
{
	struct ddio_watcher *w = ddio_container_of(watch, struct real_watcher, watch)->watcher;

	(void)events;
	w->fn(w->arg);
}

int real_watcher_start(struct ddio_env *env, struct ddio_watcher *watcher)
{
	struct real_watcher *rw = calloc(1, sizeof(*rw));
	int ret;

	if (!rw)
		return -ENOMEM;
	rw->watcher = watcher;
	rw->watch.fn = watcher_event;
	rw->watch.fd = watcher->fd;
	ret = watch_set(real_of(env), &rw->watch, EPOLLIN);
	if (ret)
		free(rw);
	else
		watcher->priv = rw;
	return ret;
}

void real_watcher_stop(struct ddio_env *env, struct ddio_watcher *watcher)
{
	struct real_watcher *rw = watcher->priv;

	watch_del(real_of(env), &rw->watch);
	watcher->priv = NULL;
	free(rw);
}
