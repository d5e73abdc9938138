// SPDX-License-Identifier: GPL-2.0-only
/* The process that makes a request. */
#include "ddiofs.h"

enum { GROUPS = 256 };

bool caller_in_group(const struct request *r, gid_t gid)
{
	gid_t list[GROUPS];
	int i, n;

	if (fuse_req_ctx(r->req)->gid == gid)
		return true;
	n = fuse_req_getgroups(r->req, GROUPS, list);
	for (i = 0; i < n && i < GROUPS; i++)
		if (list[i] == gid)
			return true;
	return false;
}
