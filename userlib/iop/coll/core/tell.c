// SPDX-License-Identifier: LGPL-2.1-or-later
/* COLL_DONE: telling members how a collective ended. */
#include <errno.h>
#include <stdio.h>
#include "iop/coll/core/coll.h"

void coll_done_send_one(const struct coll_member *m, struct ddio_msg_coll_done *done,
			const struct verdict *v)
{
	struct ddio_msg msg = { .opcode = DDIO_OP_COLL_DONE, .status = v->status, .tag = done->op };
	uint8_t buf[sizeof(*done) + DDIO_MAX_TEXT];
	ssize_t len;
	int err;

	done->handle = m->handle;
	done->status = v->status;
	done->lost_rank = v->lost;
	done->reactor = m->client->reactor->index;
	snprintf(done->text, sizeof(done->text), "%s", v->text);
	len = ddio_put_coll_done(buf, sizeof(buf), done);
	err = len < 0 ? (int)len : ddio_conn_send(m->client->conn, &msg, buf, len, NULL, 0, NULL);
	if (err && err != -ENOTCONN)
		client_end(m->client, "no memory to tell the end of a collective");
}

void coll_done_send(struct coll_group *group, const struct ddio_msg_coll_done *done,
		    const struct verdict *v)
{
	struct ddio_msg_coll_done copy = *done;
	struct coll_member *m;
	uint32_t r;

	for (r = 0; r < group->size; r++) {
		m = coll_group_member(group, r);
		if (m)
			coll_done_send_one(m, &copy, v);
	}
}

/*
 * A failure concerns everybody that is attached.  A success, where members attach by need, is for the one that asked, who
 * tells the others, for those whose bytes moved without their doing, and with TELL for those that had something here; else
 * they know it by their bytes.
 */
static bool concerns(const struct coll *coll, const struct coll_member *m)
{
	uint32_t rank = m->rank;

	if (coll->verdict.status || !coll_req_flag(coll->req, DDIO_COLL_NEED) ||
	    rank == coll->req->asker || (coll->scattered && coll->scattered[rank]))
		return true;
	return coll_req_flag(coll->req, DDIO_COLL_TELL) && coll->took[rank / 8] >> rank % 8 & 1;
}

static void tell(struct coll *coll)
{
	struct ddio_msg_coll_done copy = coll->done;
	struct coll_member *m;
	uint32_t r;

	for (r = 0; r < coll->group->size; r++) {
		m = coll_group_member(coll->group, r);
		if (!m || !concerns(coll, m))
			continue;
		copy.scattered = coll->scattered ? coll->scattered[r] : 0;
		coll_done_send_one(m, &copy, &coll->verdict);
	}
}

void coll_tell(struct coll *coll)
{
	struct ddio_msg_coll_done *done = &coll->done;

	if (coll->told)
		return;
	if (coll->nslots) {
		done->wait_disk_ns /= coll->nslots;
		done->wait_members_ns /= coll->nslots;
	}
	done->elapsed_ns = ddio_env_now(coll->reactor->env) - coll->begin_ns;
	coll->told = true;
	tell(coll);
}
