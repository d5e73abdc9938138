// SPDX-License-Identifier: LGPL-2.1-or-later
/* The bounds of a node, in one place. */
#include "iop/bound/bound.h"

/*
 * A job of 16,384 processes with 1,024 groups keeps far below them.  The first two are set anew from the
 * number of descriptors when a node starts.
 */
static const struct {
	const char *name;
	uint64_t limit;
} bounds_known[NBOUNDS] = {
	[BOUND_UNPROVED] = { "unproved", 1024 },
	[BOUND_UNPROVED_FROM] = { "unproved/address", 512 },
	[BOUND_UNREAD] = { "unread/connection", 1u << 20 },
	[BOUND_MOUNTS] = { "mounts", 16384 },
	[BOUND_RESULTS] = { "results/mount", 65536 },
	[BOUND_SILENT] = { "results/silent", 65536 },
	[BOUND_LOCKS] = { "locks/mount", 65536 },
	[BOUND_FILE_LOCKS] = { "locks/mount+file", 4096 },
	[BOUND_WAITS] = { "waits/mount", 1024 },
	[BOUND_LEASES] = { "leases/mount", 16384 },
	[BOUND_EPOCHS] = { "epochs/connection", 64 },
	[BOUND_HOLDS] = { "holds/disk", 256 },
	[BOUND_SEARCHED] = { "searched/wait", 65536 },
	[BOUND_TRIED] = { "tried/turn", 256 },
	[BOUND_GROUPS] = { "groups/connection", 4096 },
	[BOUND_GROUPS_ALL] = { "groups/reactor", 262144 },
	[BOUND_CHECKED] = { "checked/turn", 512 },
	[BOUND_ENDED] = { "ended/turn", 256 },
	[BOUND_CLIMBED] = { "climbed/turn", 1024 },
	[BOUND_LISTED] = { "listed/turn", 1024 },
	[BOUND_NAMES] = { "names/path", 2048 },
	[BOUND_XATTRS] = { "xattrs/inode", 1024 },
	[BOUND_FIXES] = { "fixes/transaction", 1024 },
	[BOUND_PLANNED] = { "planned/turn", 8192 },
	[BOUND_PLACED] = { "placed/turn", 1024 },
	[BOUND_FREED] = { "freed/turn", 1024 },
	[BOUND_FETCHED] = { "fetched/turn", 8192 },
	[BOUND_PROBED] = { "probed/turn", 16384 },
	[BOUND_JOBS] = { "jobs/reactor", 256 },
	[BOUND_CHANNELS] = { "channels/reactor", 64 },
	[BOUND_TRACED] = { "traced/reactor", 65536 },
	[BOUND_CARRIED] = { "carried/connection", 4096 },
	[BOUND_HELD] = { "held/connection", 1u << 30 },
	[BOUND_HELD_ALL] = { "held/reactor", 1u << 30 },
	[BOUND_LINES] = { "lines/second", 20 },
	[BOUND_WRONG_WIRE] = { "wrong/wire", 0 },
	[BOUND_WRONG_TOLD] = { "wrong/told", 0 },
	[BOUND_WRONG_DISK] = { "wrong/disk", 0 },
	[BOUND_RECORDS] = { "records",
			    0 }, /* asked of the file systems when somebody wants to know */
};

void bounds_init(struct bounds *bounds)
{
	int i;

	for (i = 0; i < NBOUNDS; i++)
		bounds->at[i] = (struct bound){ .limit = bounds_known[i].limit };
}

const char *bound_name(enum bound_id id)
{
	return bounds_known[id].name;
}
