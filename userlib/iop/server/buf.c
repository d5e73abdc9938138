// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory for bulk data, kept for the next request, up to a bound. */
#include <stdlib.h>
#include "iop/server/priv.h"

#define BUFS_KEPT_MAX (16u << 20)

static unsigned int buf_class(size_t len)
{
	unsigned int k = 0;

	while (((size_t)1 << (k + SERVER_BUF_MIN_BITS)) < len)
		k++;
	return k;
}

void *server_buf_get(struct reactor *reactor, size_t len, size_t *cap)
{
	struct server_bufs *bufs = &server_reactor(reactor)->bufs;
	unsigned int k = buf_class(len);
	void *buf;

	if (k >= SERVER_BUF_CLASSES)
		return NULL;
	*cap = (size_t)1 << (k + SERVER_BUF_MIN_BITS);
	buf = bufs->free[k];
	if (buf) {
		bufs->free[k] = *(void **)buf;
		bufs->kept -= *cap;
		return buf;
	}
	buf = malloc(*cap);
	if (buf)
		reactor->memory += *cap;
	return buf;
}

void server_buf_put(struct reactor *reactor, void *buf, size_t cap)
{
	struct server_bufs *bufs = &server_reactor(reactor)->bufs;
	unsigned int k = buf_class(cap);

	if (bufs->kept + cap > BUFS_KEPT_MAX) {
		reactor->memory -= cap;
		free(buf);
		return;
	}
	*(void **)buf = bufs->free[k];
	bufs->free[k] = buf;
	bufs->kept += cap;
}

void server_bufs_free(struct reactor *reactor)
{
	struct server_bufs *bufs = &server_reactor(reactor)->bufs;
	unsigned int k;

	for (k = 0; k < SERVER_BUF_CLASSES; k++) {
		while (bufs->free[k]) {
			void *buf = bufs->free[k];

			bufs->free[k] = *(void **)buf;
			free(buf);
		}
	}
	reactor->memory -= bufs->kept;
	bufs->kept = 0;
}
