// SPDX-License-Identifier: LGPL-2.1-or-later
/* The request that the reactors of a node share: who holds it, and who failed first. */
#include <stdlib.h>
#include "iop/coll/core/coll.h"

void coll_req_get(struct coll_req *req)
{
	atomic_fetch_add_explicit(&req->refs, 1, memory_order_relaxed);
}

void coll_req_put(struct coll_req *req)
{
	if (atomic_fetch_sub_explicit(&req->refs, 1, memory_order_acq_rel) != 1)
		return;
	ddio_coll_start_free(&req->start);
	ddio_map_free(req->map);
	ddio_joint_put(req->joint);
	free(req->joined);
	free(req);
}

void coll_req_fail(struct coll_req *req, const struct reactor *from, const struct verdict *v)
{
	unsigned int fine = REQ_FINE;
	uint32_t i;

	if (!atomic_compare_exchange_strong(&req->failed, &fine, REQ_FAILING))
		return;
	req->verdict = *v;
	atomic_store_explicit(&req->failed, REQ_FAILED, memory_order_release);
	for (i = 0; i < req->nto; i++) {
		struct coll_to *to = &req->to[i];

		if (to->reactor == from || (!to->takes_part && i))
			continue;
		coll_req_get(req);
		ddio_env_post(to->reactor->env, &to->notice);
	}
}
