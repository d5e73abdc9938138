// SPDX-License-Identifier: LGPL-2.1-or-later
/* Objects that belong to no file get one again, at the name space; the client knows what the disks say of them. */
#include <errno.h>
#include "iop/ops/check/priv.h"
#include "iop/ops/fs_reply.h"

static void adopt_fail(struct server_request *req, int err, uint64_t id)
{
	uint32_t status = ddio_status_from_errno(err);
	unsigned long long number = id;

	if (err == -EEXIST)
		server_fail(req, status,
			    "number %llu, or every name for it in /lost+found, is taken", number);
	else if (err == -ERANGE)
		server_fail(req, status, "the name space never gave the number %llu to a file",
			    number);
	else
		server_fail(req, status, "making file %llu in /lost+found: %s", number,
			    ddio_status_text(status));
}

static bool disks_known(struct server_request *req, const struct ddio_file_record *rec)
{
	uint32_t i, n = req->reactor->iop->conf->ndisks;

	for (i = 0; i < rec->ndisks; i++) {
		if (rec->disks[i] < n)
			continue;
		server_fail(req, DDIO_ST_INVALID, "there is no disk %u, the cluster has %u",
			    rec->disks[i], n);
		return false;
	}
	return true;
}

static void adopt_try(struct server_request *req, const void *payload)
{
	struct ddio_file_record rec;
	int err = ddio_get_record(payload, req->msg.length, &rec, NULL);

	if (err) {
		server_fail_decode(req, err, "number, block size, layout, size or disks");
		return;
	}
	if (disks_known(req, &rec)) {
		err = ns_adopt(fs_ns(req), &rec);
		if (err == -EAGAIN)
			fs_again(req, payload, adopt_try);
		else if (err)
			adopt_fail(req, err, rec.ref.id);
		else
			FS_REPLY(req, record, &rec, true);
	}
	ddio_file_record_free(&rec);
}

int serve_ns_adopt(struct server_request *req, const void *payload)
{
	adopt_try(req, payload);
	return 0;
}
