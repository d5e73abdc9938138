// SPDX-License-Identifier: LGPL-2.1-or-later
/* FS_RECALL: a request that the name server answers when it wants leases back. */
#include "cp/fs/names/recall.h"

static void recall_answered(struct node_request *request, const struct reply *reply)
{
	struct ddio_fs *fs = request->arg;
	struct fsc_names *names = fs->names;
	struct ddio_msg_fs_recalled x;
	uint32_t i;

	names->listening = false;
	if (fsc_status_unanswered(reply->status))
		return;
	/* One that does not serve this grants nothing either. */
	if (reply->status || ddio_get_fs_recalled(reply->payload, reply->len, &x)) {
		atomic_store(&fs->leasing, false);
		return;
	}
	if (!fsc_closing(fs) && x.n)
		fsc_recall_listen(fs);
	for (i = 0; i < x.n; i++)
		names->ops->recalled(fs, x.leases[i].ino, x.leases[i].lease);
	ddio_fs_recalled_free(&x);
}

void fsc_recall_listen(struct ddio_fs *fs)
{
	struct fsc_names *names = fs->names;
	const struct lane *lane = names_lane(fs->reactor[0].session);

	if (names->listening || names->state != FSC_READY || !lane->conn)
		return;
	atomic_store(&fs->leasing, true);
	names->listening = true;
	request_init(&names->recall, DDIO_OP_FS_RECALL, recall_answered, fs);
	request_names(fs->reactor[0].session, &names->recall);
}
