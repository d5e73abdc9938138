/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DDIO_COMMIT_H
#define DDIO_COMMIT_H

#include "base/list.h"

/**
 * struct commit - asks to be told when the changes made so far are durable
 * @done: called from the loop; @err is 0 or -errno
 * @early: records alone are asked for, not what has been written to the disk
 * The caller owns the memory until then.
 */
struct commit {
	void (*done)(struct commit *commit, int err);
	void *arg;
	bool early;
	struct ddio_list link;
};

#endif /* DDIO_COMMIT_H */
