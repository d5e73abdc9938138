// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Renames of directories: the new place must not be within what is moved.  The way up from it is gone in turns, and
 * its result counts only if no directory has changed its place meanwhile; else it is gone again.  A way that has been gone
 * several times without success keeps other directories where they are until it has been gone.
 */
#include <errno.h>
#include "iop/ns/priv.h"

#define CLIMB_TRIES 4 /* before others wait */

static void way_begin(const struct ns *ns, struct ns_climb *climb, struct ns_way *way, uint64_t top,
		      uint64_t dir)
{
	climb->tries += way->from != 0;
	*way = (struct ns_way){ .top = top, .from = dir, .at = dir, .moves = ns->moves };
}

static int out_of_steps(struct ns *ns, struct ns_climb *climb)
{
	ns->bounds->at[BOUND_CLIMBED].hits++;
	if (climb->tries >= CLIMB_TRIES && !ns->climber)
		ns->climber = climb;
	return -EINPROGRESS;
}

int ns_is_above(struct ns *ns, struct ns_climb *climb, struct ns_way *way, uint64_t top,
		uint64_t dir)
{
	struct inode in;
	int ret;

	if (way->from != dir || way->top != top || way->moves != ns->moves)
		way_begin(ns, climb, way, top, dir);
	for (; way->depth < NS_DEPTH_MAX; way->depth++) {
		if (way->at == top)
			return 1;
		if (way->at == DDIO_FS_ROOT)
			return 0;
		if (!climb->steps)
			return out_of_steps(ns, climb);
		climb->steps--;
		ret = ns_load_dir(ns, way->at, &in);
		way->at = in.parent;
		inode_free(&in);
		if (ret)
			return ret;
	}
	return -EUCLEAN;
}

int ns_climb_moves(struct ns *ns, struct ns_climb *climb)
{
	if (!ns->climber || ns->climber == climb) {
		ns->moves++;
		return 0;
	}
	climb->waits = true;
	ddio_list_add(&climb->link, &ns->held_up);
	return -EINPROGRESS;
}

void ns_climb_end(struct ns *ns, struct ns_climb *climb)
{
	if (climb->waits)
		ddio_list_del(&climb->link);
	climb->waits = false;
	if (ns->climber != climb)
		return;
	ns->climber = NULL;
	while (!ddio_list_empty(&ns->held_up)) {
		climb = ddio_list_first(&ns->held_up, struct ns_climb, link);
		ddio_list_del(&climb->link);
		climb->waits = false;
		climb->go_on(climb);
	}
}
