// SPDX-License-Identifier: LGPL-2.1-or-later
/* SHOW: lets a mount on this machine look at the cached blocks of a disk, of whatever file: so it has to be root's. */
#include <string.h>
#include "iop/ops/look/look.h"

int serve_show(struct server_request *req, const void *payload)
{
	struct ddio_msg_show x;
	struct iop_disk *disk;
	int err = ddio_get_show(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "disk or name");
	disk = reactor_disk(req->reactor, x.disk);
	if (!disk) {
		server_fail(req, DDIO_ST_INVALID, "disk %u is not this reactor's", x.disk);
		return 0;
	}
	if (!req->reactor->iop->conf->share) {
		server_fail(req, DDIO_ST_UNSUPPORTED, "the node shows nothing of its memory");
		return 0;
	}
	err = cache_show_to(disk->cache, x.name, x.token);
	if (err)
		server_fail(req, DDIO_ST_UNSUPPORTED, "disk %s: cannot show its cache: %s",
			    disk->name, strerror(-err));
	else
		server_reply(req, NULL, 0);
	return 0;
}
