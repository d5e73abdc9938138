/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What one client may take of a node: every bound by its name, counted for "ddio status".  The table is in
 * bound.c; Documentation/operating.rst explains it.
 */
#ifndef DDIO_BOUND_H
#define DDIO_BOUND_H

#include <stdbool.h>
#include <stdint.h>

enum bound_id {
	BOUND_UNPROVED,	     /* connections that have not proved the key, of a node */
	BOUND_UNPROVED_FROM, /* the same, from one address */
	BOUND_UNREAD,	     /* bytes of replies that a connection has not read */
	BOUND_MOUNTS,	     /* mounts that the name server knows */
	BOUND_RESULTS,	     /* results that it keeps in case a mount asks again, of a mount */
	BOUND_SILENT, /* the same, of all mounts that have been silent for longer than the timeout */
	BOUND_LOCKS,  /* locks, of a mount */
	BOUND_FILE_LOCKS, /* locks on one file, of a mount; only the most is counted */
	BOUND_WAITS,	  /* requests that wait for a lock, of a mount */
	BOUND_LEASES,	  /* leases, of a mount */
	BOUND_EPOCHS,	  /* epochs of files that are not decided, of a connection */
	BOUND_HOLDS,	  /* files of a disk that are held while somebody clones them */
	BOUND_SEARCHED,	  /* locks that the search for a deadlock looks at before one waits */
	BOUND_TRIED,	  /* waits that are tried before others have their turn */
	BOUND_GROUPS,	  /* groups that a connection is attached to */
	BOUND_GROUPS_ALL, /* groups of all connections of a reactor */
	BOUND_CHECKED,	  /* records that a check looks at before others have their turn */
	BOUND_ENDED,	  /* things taken from mounts that end before others have their turn */
	BOUND_CLIMBED,	  /* directories that a rename looks at before others have their turn */
	BOUND_LISTED,	  /* records that a listing looks at before others have their turn */
	BOUND_NAMES,	  /* names of a path that are looked up, those in links included */
	BOUND_XATTRS,	  /* extended attributes, of an inode; only the most is counted */
	BOUND_FIXES,	  /* records that a repair writes in one transaction */
	BOUND_PLANNED, /* steps of making a collective's block lists before others have their turn */
	BOUND_PLACED, /* blocks or extents that get a place, or read as zeros, before others have their turn */
	BOUND_FREED, /* extents whose space is given back before others have their turn */
	BOUND_FETCHED, /* extents of an object that are read from the records before others have their turn */
	BOUND_PROBED, /* cached blocks that a list of extents looks at; then it ends, and there are more */
	BOUND_JOBS,	/* names of jobs that are counted by themselves, of a reactor */
	BOUND_CHANNELS, /* connections whose messages go through memory, of a reactor */
	BOUND_TRACED,	/* events that a trace of collectives has room for, of a reactor */
	BOUND_CARRIED,	/* streams that a broker's connection carries */
	BOUND_HELD, /* bytes of them that have come and were not read, of a broker's connection */
	BOUND_HELD_ALL,	  /* the same, of all brokers' connections of a reactor */
	BOUND_LINES,	  /* lines of the log within a second that connections cause */
	BOUND_WRONG_WIRE, /* messages to a reactor that did not match their checksums */
	BOUND_WRONG_TOLD, /* times that a client said so of what it had got from a reactor */
	BOUND_WRONG_DISK, /* blocks that a reactor has read and that did not match theirs */
	BOUND_RECORDS, /* bytes of records, of a node: as many as its file systems have room for */
	NBOUNDS
};

/**
 * struct bound - one bound as a reactor counts it
 * @limit: of one holder
 * @now: in use by all holders together
 * @most: that one holder ever had
 * @hits: how often somebody was held to it
 */
struct bound {
	uint64_t limit, now, most, hits;
};

/**
 * struct bounds - all of them
 */
struct bounds {
	struct bound at[NBOUNDS];
};

void bounds_init(struct bounds *bounds);
/* The name by which it is shown. */
const char *bound_name(enum bound_id id);

/* Notes that one holder has @held. */
static inline void bound_seen(struct bound *b, uint64_t held)
{
	if (held > b->most)
		b->most = held;
}

/* Counts one step of several that belong together; returns false, and counts it, if that is one too many. */
static inline bool bound_spend(struct bound *b, uint64_t *steps)
{
	if (*steps >= b->limit) {
		b->hits++;
		return false;
	}
	bound_seen(b, ++*steps);
	return true;
}

/* Takes one more for a holder that has *@held; returns false, and counts it, if that is too many. */
static inline bool bound_take(struct bound *b, uint64_t *held)
{
	if (*held >= b->limit) {
		b->hits++;
		return false;
	}
	++*held;
	b->now++;
	bound_seen(b, *held);
	return true;
}

static inline void bound_put(struct bound *b, uint64_t *held, uint64_t n)
{
	*held -= n;
	b->now -= n;
}

#endif /* DDIO_BOUND_H */
