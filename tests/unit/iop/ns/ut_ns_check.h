/* SPDX-License-Identifier: GPL-2.0-only */
/* A whole check of the name space, for tests that want nothing else meanwhile. */
#ifndef DDIO_UT_NS_CHECK_H
#define DDIO_UT_NS_CHECK_H

#include "iop/ns/ns.h"

static inline int ut_ns_check(struct ns *ns, bool repair, struct ddio_msg_fsck *result)
{
	struct ns_check *check;
	int ret = ns_check_begin(ns, repair, &check);

	if (ret)
		return ret;
	while (ns_check_step(check, 1))
		;
	return ns_check_end(check, result);
}

#endif /* DDIO_UT_NS_CHECK_H */
