/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which reactors know that this process is a member of a group. */
#ifndef DDIO_CP_ATTACH_H
#define DDIO_CP_ATTACH_H

#include "env/kernel/joint.h"
#include "cp/node/request_set.h"
#include "cp/group/group.h"

/**
 * struct attach - @lane knows of @group, for as long as its connection lasts
 * @asked: reactor 0: for the group's joint, @joint if that could be had; @box while it is on
 *	its way, else NULL
 */
struct attach {
	struct ddio_list group_link, lane_link;
	struct ddio_group *group;
	struct lane *lane;
	bool asked;
	struct ddio_mailbox *box;
	struct ddio_joint *joint;
};

/**
 * struct attach_job - attach a group to all reactors that serve a file
 * @lanes: result: one for each reactor with disks of the file, and reactor 0 of each of
 *	their nodes; the first @nnodes are those of reactors 0; freed by the caller
 * @done: with @lanes, if @error is clear
 */
struct attach_job {
	struct ddio_group *group;
	const struct ddio_file_record *rec;
	struct lane **lanes;
	uint32_t nlanes, nnodes;
	struct error error;
	struct request_set set;
	void (*done)(struct attach_job *job);
	void *arg;
};

/* NULL: it does not know. */
struct attach *attach_find(struct ddio_group *group, struct lane *lane);
/* The joint has come, or is not waited for any more. */
void attach_box_close(struct attach *at);
void attach_begin(struct attach_job *job);
/* The connection is gone, and what the reactor knew with it. */
void attaches_lost(struct lane *lane);
/* The group is freed: tells the reactors. */
void attaches_drop(struct ddio_group *group);

#endif /* DDIO_CP_ATTACH_H */
