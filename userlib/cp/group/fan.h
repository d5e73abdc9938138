/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A step that all members of a group take together: what each contributes goes
 * up the tree, where it is compared and gathered; rank 0 decides, and its
 * verdict comes down.  So all members see the same result, whatever it is.
 *
 * A step is named by the number of the turn that it belongs to and by its
 * place there.  It exists at a member from the first that is heard of it; so
 * the members' reactors find out who is missing though the applications of
 * these have not called yet:
 *
 *   Steps that begin something may wait for a member for ever, so they expire.
 *   A member whose time is up asks (ASK) the children that it has not heard of,
 *   which do the same, and answers upward with the list of those who are
 *   missing (LATE), as it also does if only the verdict is what it waits for.
 *   It is rank 0 alone that decides; so a step that expires for one expires
 *   for all.
 */
#ifndef DDIO_CP_FAN_H
#define DDIO_CP_FAN_H

#include "cp/group/group.h"

/* What a step is for.  In messages, so numbers stay. */
enum fan_kind {
	DDIO_FAN_FORM = 1, /* the group has come together */
	DDIO_FAN_BARRIER = 2,
	DDIO_FAN_SPLIT = 3,
	DDIO_FAN_OPEN = 4,
	DDIO_FAN_START = 5,  /* of a transfer */
	DDIO_FAN_MIDDLE = 6, /* between the two phases of a two-phase transfer */
	DDIO_FAN_END = 7,
	DDIO_FAN_LATE = 100, /* up: data: ranks that are missing */
	DDIO_FAN_ASK = 101,  /* down: who is missing?  "blame" is the kind of the step */
};

/* Steps of one turn. */
enum { DDIO_STEP_FIRST = 0, DDIO_STEP_MIDDLE = 1, DDIO_STEP_LAST = 2, DDIO_STEPS = 4 };

/**
 * struct fan_in - a member's contribution
 * @compare: must be the same on all members; see agree.c
 * @gather: comes to rank 0 with the contributions of all others
 * @error: what this member failed with already; NULL or clear: nothing
 * @root: rank 0, if nobody failed: ends in fan_release(), then or later.
 *	NULL: success
 * @done: the verdict.  The last thing that the step does, maybe inside fan_begin()
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

void fan_begin(struct ddio_group *group, uint64_t number, unsigned int step,
	       const struct fan_in *in);
/* @data comes to every member's done(). */
void fan_release(struct fan *fan, const struct error *error, const void *data, size_t len);
/**
 * fan_gathered - walk what was gathered, at rank 0
 * @at: 0 at first
 * Return: false at the end.
 */
bool fan_gathered(const struct fan *fan, size_t *at, uint32_t *rank, const void **data,
		  size_t *len);

/* From peer.c.  A negative return closes the connection. */
int fan_up(struct ddio_group *group, const struct ddio_msg_fan *msg);
int fan_down(struct ddio_group *group, const struct ddio_msg_fan *msg);
/* Does somebody wait for the step that @rank would be needed for? */
bool fans_waiting(const struct ddio_group *group);
/* The group is broken. */
void fans_fail(struct ddio_group *group, const struct error *error);

/*
 * agree.c: what members compare
 */

/* Says in @text how the contributions of the two differ; both are of @kind. */
void agree_explain(uint32_t kind, uint32_t rank_a, const void *a, size_t a_len, uint32_t rank_b,
		   const void *b, size_t b_len, char text[DDIO_MAX_TEXT]);
const char *agree_kind(uint32_t kind);
/* One line for the step of which @missing members of the group are missing. */
void agree_missing(const struct ddio_group *group, uint32_t kind, const uint32_t *missing, size_t n,
		   char text[DDIO_MAX_TEXT]);

#endif /* DDIO_CP_FAN_H */
