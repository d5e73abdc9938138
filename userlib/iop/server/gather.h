/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A question that each reactor answers from what it owns: it goes to all of them by posts, and their answers come back
 * to the reactor that asked, which joins them.
 */
#ifndef DDIO_SERVER_GATHER_H
#define DDIO_SERVER_GATHER_H

#include "iop/server/reactor.h"

/**
 * struct gather_part - the question to one reactor, within whatever the answer goes to
 * @reactor: it
 */
struct gather_part {
	struct gather *gather;
	struct reactor *reactor;
	struct ddio_post post;
};

/**
 * struct gather - a question to all reactors of a node
 * @home: the reactor that asks
 * @collect: answers, on each reactor
 * @done: called on @home when all have answered
 * @arg: the asker's
 * @pending: reactors that have not answered
 */
struct gather {
	struct reactor *home;
	void (*collect)(struct gather_part *part);
	void (*done)(struct gather *g);
	void *arg;
	uint32_t pending;
};

/* Asks all reactors of the node.  @parts: one for each, of @size bytes, which begins with a struct gather_part. */
void gather_all(struct gather *g, void *parts, size_t size);

#endif /* DDIO_SERVER_GATHER_H */
