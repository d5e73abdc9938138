/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which reactors know that this process is a member of a group. */
#ifndef DDIO_CP_ATTACH_H
#define DDIO_CP_ATTACH_H

#include "cp/group/group.h"
#include "cp/node/lane.h"
#include "cp/node/request_set.h"
#include "env/kernel/joint.h"
#include "env/local/shared.h"

/**
 * struct attach - @lane knows of @group, for as long as its connection lasts
 * @asked: reactor 0: was asked for the group's joint
 * @box: takes the joint while it is on its way; else NULL
 * @joint: the joint, or NULL if there is none
 * @share: buffers that the reactor shares for reading and for writing, each with @asked: the reactor was asked for
 *	them, and @fresh: it has not been told yet that they have come
 */
struct attach {
	struct ddio_list link;
	struct ddio_group *group;
	struct lane *lane;
	bool asked;
	struct ddio_mailbox *box;
	struct ddio_joint *joint;
	struct attach_share {
		bool asked, fresh;
		struct ddio_mailbox *box;
		struct ddio_shared *mem;
	} share[2];
};

/**
 * struct attach_job - attach a group to reactors that serve a file
 * @places: places in its stripe, a bit each, whose disks are meant
 * @lanes: result: one for each reactor with such disks of the file, and reactor 0 of each of
 *	their nodes; the first @nnodes are those of reactors 0; freed by the caller
 * @done: with @lanes, if @error is clear
 */
struct attach_job {
	struct ddio_group *group;
	const struct ddio_file_record *rec;
	const uint8_t *places;
	struct lane **lanes;
	uint32_t nlanes, nnodes;
	struct error error;
	struct request_set set;
	void (*done)(struct attach_job *job);
	void *arg;
};

/* NULL: @lane does not know of @group. */
struct attach *attach_find(struct ddio_group *group, struct lane *lane);
/* What was to come to a mailbox has come, or is not waited for any more. */
void attach_box_close(struct ddio_mailbox **box);
void attach_begin(struct attach_job *job);

#endif /* DDIO_CP_ATTACH_H */
