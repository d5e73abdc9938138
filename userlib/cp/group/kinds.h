/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DDIO_CP_KINDS_H
#define DDIO_CP_KINDS_H

/* What a step of a group is for.  The numbers are in messages and never change. */
enum fan_kind {
	FAN_KIND_FORM = 1, /* the group has come together */
	FAN_KIND_BARRIER = 2,
	FAN_KIND_SPLIT = 3,
	FAN_KIND_OPEN = 4,
	FAN_KIND_PARTS = 5,  /* of a transfer, at members of 0.1: their descriptions one by one */
	FAN_KIND_MIDDLE = 6, /* between the two phases of a two-phase transfer */
	FAN_KIND_END = 7,
	FAN_KIND_PATIENT = 8, /* from here on steps do not expire */
	FAN_KIND_COUNTER = 9, /* a counter is made */
	FAN_KIND_START = 10,  /* of a transfer */
	FAN_KIND_SMALL = 11,  /* all of a small transfer */
	FAN_KIND_WARN = 12,   /* up and down: a transfer has failed at the sender; see fan/late.c */
	FAN_KIND_QUERY = 13,
	FAN_KIND_QUERY_END = 14,
	FAN_KIND_EPOCH = 15,  /* of several files: begins, or ends */
	FAN_KIND_OPENED = 16, /* each member may have the file, where the cluster knows users */
	FAN_KIND_STAYS = 17, /* nodes have a transfer, which they keep until the end of the epoch */
	FAN_KIND_LATE = 100, /* up: its data are the missing ranks */
	FAN_KIND_ASK = 101,  /* down: which members are missing?  "blame" is the kind of the step */
};

#endif /* DDIO_CP_KINDS_H */
