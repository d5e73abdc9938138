/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A step that all members of a group take together: what each contributes goes
 * up the tree, where it is compared and gathered; rank 0 decides, and its
 * verdict comes down.  So all members see the same result, whatever it is.
 *
 * A step is named by the number of the turn that it belongs to and by its
 * position in it.  At a member it exists from the first message about it on,
 * so the members' reactors find out which members are missing even where the application
 * has not called yet:
 *
 *   A step that begins something might wait for a member for ever, so it
 *   expires.  A member whose time is up asks (ASK) the children that it has not
 *   heard from, which do the same, and answers upward with the list of the
 *   missing ranks (LATE).  A member that waits only for the verdict answers
 *   too, with an empty list.  Rank 0 alone decides, so a step that expires for
 *   one member expires for all.
 *
 *   In a patient group a member whose time is up only tells its neighbours in
 *   the tree, and they theirs, that there is a step.  A member that knows of one
 *   looks after its neighbours, so each dead member is found by one of them.
 */
#ifndef DDIO_CP_FAN_H
#define DDIO_CP_FAN_H

#include "cp/group/group.h"
#include "cp/group/kinds.h"

/**
 * struct step_kind - what messages call a kind of step
 * @kind: enum fan_kind
 * @explain: says in @text how the contributions of two ranks differ; NULL: only that they do.  Kinds that share it can
 *	be told apart by it
 * @join: makes what a member and those below it have gathered shorter: the contributions, or what this has
 *	made of them, one after the other in any order.  Returns it, to be freed, or NULL: it goes up as
 *	it is.  With this fan_gathered_all() takes the place of fan_gathered()
 * @fresh: returns true if what was gathered, and joined, will hardly come again: it leaves no trace.  NULL: it may
 * @slice: takes from a verdict what is for ranks [@first, @end).  Returns it, to be freed, or NULL: all of it goes on
 */
struct step_kind {
	uint32_t kind;
	const char *name;
	void (*explain)(uint32_t rank_a, const void *a, size_t a_len, uint32_t rank_b,
			const void *b, size_t b_len, char text[DDIO_MAX_TEXT]);
	void *(*join)(struct ddio_group *group, const void *gathered, size_t len, size_t *joined);
	bool (*fresh)(const void *gathered, size_t len);
	void *(*slice)(const void *verdict, size_t len, uint32_t first, uint64_t end, size_t *n);
};

/*
 * So many steps a member keeps that it has not come to.  That it is further behind than so breaks the group.  Those in which it only says
 * that it has closed their file are not counted here, but by themselves.
 */
enum { FANS_AHEAD_MAX = 32768, FANS_CLOSED_MAX = 4096 };
/*
 * What others say of steps that a member has not come to may have so many bytes for each member of the group, and for each order, and once
 * more, as many as a message can bear: of one step it may be so much, and must be known when the member comes to it.
 */
#define FANS_AHEAD_BYTES (4u << 20)

/* Steps of one turn. */
enum { STEP_FIRST = 0, STEP_MIDDLE = 1, STEP_LAST = 2, STEP_NUMBERS = 4 };

/**
 * struct fan_in - a member's contribution
 * @compare: must be the same on all members
 * @gather: goes to rank 0 with the contributions of all others
 * @error: what this member has already failed with; NULL or clear: nothing
 * @root: rank 0, if nobody failed: ends, at once or later, in fan_release().
 *	NULL: success
 * @done: takes the verdict.  The last thing that the step does, maybe inside fan_begin()
 */
struct fan_in {
	uint32_t kind;
	const void *compare;
	size_t compare_len;
	const void *gather;
	size_t gather_len;
	const struct error *error;
	void (*root)(void *arg, struct fan *fan);
	void (*done)(void *arg, const struct error *error, const void *data, size_t len);
	void *arg;
};

extern const struct group_user fan_group_user;

void fan_begin(struct ddio_group *group, uint64_t number, unsigned int step,
	       const struct fan_in *in);
/* This member has closed the file whose order had those, @ahead: it takes no part in what others have begun in it, and says so. */
void fans_close(struct ddio_group *group, struct ddio_list *ahead);
/* Ends the step on all members; @data goes to every member's done(). */
void fan_release(struct fan *fan, const struct error *error, const void *data, size_t len);
/**
 * fan_gathered - walk over what was gathered, at rank 0
 * @at: 0 at first
 * Return: false at the end.
 */
bool fan_gathered(const struct fan *fan, size_t *at, uint32_t *rank, const void **data,
		  size_t *len);
/* Returns the contributions of a kind that joins them, at rank 0, one after the other. */
const void *fan_gathered_all(const struct fan *fan, size_t *len);

/*
 * late.c: tells the neighbours in the tree, but for @but (UINT32_MAX: none), that the operation of turn @number, on which
 * all have agreed, has failed here or there.
 */
void warn_neighbours(struct ddio_group *group, uint64_t number, uint32_t but);

#endif /* DDIO_CP_FAN_H */
