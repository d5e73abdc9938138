// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Handler of OWED: a client asks about requests to which it has waited long for an answer.  All answers given so far
 * are in front of this one's on the connection, so that a request that the server does not know has lost its answer,
 * or was itself lost.
 */
#include <stdlib.h>
#include "iop/ops/handlers.h"

static int by_tag(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The asked tags @x that belong to requests under way are marked in @owed. */
static void mark_owed(const struct server_request *req, const struct ddio_msg_tags *x, bool *owed)
{
	const struct server_request *r;
	const uint64_t *tag;

	for (r = server_request_next(req, NULL); r && x->n; r = server_request_next(req, r)) {
		tag = bsearch(&r->msg.tag, x->tags, x->n, sizeof(*tag), by_tag);
		if (tag)
			owed[tag - x->tags] = true;
	}
}

static void keep_unknown(struct ddio_msg_tags *x, const bool *owed)
{
	uint32_t i, n = 0;

	for (i = 0; i < x->n; i++)
		if (!owed[i])
			x->tags[n++] = x->tags[i];
	x->n = n;
}

int serve_owed(struct server_request *req, const void *payload)
{
	struct ddio_msg_tags x;
	bool *owed;
	int err = ddio_get_tags(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "requests");
	owed = calloc(x.n + 1, sizeof(*owed));
	if (owed) {
		mark_owed(req, &x, owed);
		keep_unknown(&x, owed);
		SERVER_REPLY(req, tags, &x);
	} else {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for the reply");
	}
	free(owed);
	ddio_msg_tags_free(&x);
	return 0;
}
