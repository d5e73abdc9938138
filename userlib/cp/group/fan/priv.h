/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside a step: fan.c does what goes well, with what gather.c makes of contributions and send.c sends; late.c what does not.  keep.c
 * knows of those that this member has not come to, ended.c of such as are over.
 */
#ifndef DDIO_CP_FAN_PRIV_H
#define DDIO_CP_FAN_PRIV_H

#include "base/bytes.h"
#include "cp/group/fan/fan.h"
#include "cp/group/peer.h"
#include "proto/past/past.h"

enum fan_state {
	FAN_OPEN, /* contributions are awaited */
	FAN_SENT, /* the contribution went to the parent; or rank 0 is deciding */
	FAN_OVER, /* the verdict has come, but the application has not called yet */
};

/**
 * struct fan_why - why a step fails; as short as it can be, since there may be very many
 */
struct fan_why {
	uint32_t status;
	char text[];
};

/* At most so many missing ranks are named. */
#define FAN_NAMED 32

/**
 * struct fan - one step
 * @node: in the group's table, by @seq
 * @seq: number of the turn and position in it
 * @kind: of the first contribution
 * @mine: the application has called, or has closed the file: @closed; @ahead: until then, in its order's list
 * @late: it has expired, or the parent asked; of a patient group: the neighbours know of it
 * @gave_up: it goes on without a child that may still answer
 * @arrived: bit k: the child whose distance is 1 << k
 * @why: the worst error so far, of rank @why_rank; NULL: none
 * @compare, @compare_len: of the first contribution, rank @compare_rank's
 * @gather: entries of rank, length, bytes; of a kind that joins them, contributions
 * @weight: bytes of these, and of @why, as long as they are counted in the group's @ahead_bytes
 * @missing: missing ranks; @nmissing also counts those that did not fit
 */
struct fan {
	struct ddio_list link, ahead;
	struct ddio_hash_node node;
	struct ddio_group *group;
	uint64_t seq;
	uint32_t kind;
	enum fan_state state;
	bool mine, closed, late, gave_up;
	uint32_t arrived;
	struct fan_why *why;
	uint32_t why_rank;
	void *compare;
	size_t compare_len;
	uint32_t compare_rank;
	uint8_t *gather;
	size_t gather_len, gather_cap, weight;
	uint32_t missing[FAN_NAMED];
	uint32_t nmissing;
	struct ddio_timer timer;
	void (*root)(void *arg, struct fan *fan);
	void (*done)(void *arg, const struct error *error, const void *data, size_t len);
	void *arg;
};

/* fan.c */
/* Sends the step up, or decides it, if everybody has contributed. */
void fan_advance(struct fan *fan);
/* NULL: there is none. */
struct fan *fan_find(struct ddio_group *group, uint64_t seq);
/* Makes the step, of which others say something, if there is none.  NULL: no memory, too far ahead, or of a file that was never open. */
struct fan *fan_get(struct ddio_group *group, uint64_t seq, uint32_t kind);

/* keep.c */
/* Others have begun the step, and this member has not come to it; @order: that of the step. */
void fan_await(struct fan *fan, struct order *order);
/* The application has come to it, or never will. */
void fan_come(struct fan *fan);
/* Sets why the step fails. */
void fan_why_set(struct fan *fan, uint32_t status, const char *text);
/* Says in @error why the step fails, or clears it. */
void fan_why_get(const struct fan *fan, struct error *error);
/* Frees that. */
void fan_why_free(struct fan *fan);
/* Counts what has been said of the step, if this member has not come to it.  Returns false if that is too much: the group is broken. */
bool fan_weigh(struct fan *fan);
/* Frees what has been said of the step, which fails. */
void fan_lighten(struct fan *fan);
/* Breaks the group: this member keeps as much as it may. */
void fans_full(struct ddio_group *group, const struct error *error);

/* ended.c */
/* So many steps that ended without a child are known: others of it come before it hears of the end, so more need not be. */
#define ENDED_MAX 32768
/* Notes that the step has ended without all children; whether it is known that it has. */
void ended_add(struct ddio_group *group, uint64_t seq);
bool ended_has(struct ddio_group *group, uint64_t seq);
/* As struct group_user's free(). */
void ended_free(void *state);

/* gather.c */
/* Takes a failure of @rank for the verdict, if it is worse than what that says so far. */
void fan_blame(struct fan *fan, uint32_t status, uint32_t rank, const char *text);
/* Compares a contribution with the first one, or keeps it as that. */
void fan_compare(struct fan *fan, uint32_t rank, uint32_t kind, const void *data, size_t len);
/* Takes what a child, @rank, and those below it have gathered. */
void fan_gather(struct fan *fan, uint32_t rank, const void *data, size_t len);
void fan_gather_own(struct fan *fan, const void *data, size_t len);
/* Makes what was gathered shorter, if its kind can. */
void fan_join(struct fan *fan);

/* send.c */
int fan_send(struct ddio_group *group, uint32_t to, uint16_t opcode, struct ddio_msg_fan *msg);
/* Sends what was gathered to the parent. */
void fan_send_up(struct fan *fan);
/* Sends a verdict, of which each child gets what is for it and those below it. */
void fan_tell_children(const struct fan *fan, struct ddio_msg_fan *msg);
/*
 * Returns what descriptions a child and its parent remember of earlier steps; NULL without memory, or if one of them does not
 * know of it.  Both remember the same: a step fails on all that heard of it, and then the child begins anew, which it
 * tells the parent with what it sends next.
 */
struct ddio_past *link_past(struct link *link);
void link_past_free(void *state);
/* Forgets it, so that the next contribution is whole: the parent may not have taken the last one. */
void fan_forget(const struct ddio_group *g);

/* late.c */
/* Returns true if the step does not expire. */
bool fan_patient(struct ddio_group *group, uint64_t seq);
void fan_expire_arm(struct fan *fan);
/* Reports which members are missing, upward or to all: every child has answered. */
void fan_late_report(struct fan *fan);
/* Takes a LATE from child number @k: a list, or none if the child only waits for the verdict. */
int fan_late_up(struct ddio_group *group, unsigned int k, const struct ddio_msg_fan *msg);
/* Takes an ASK. */
void fan_late_down(struct fan *fan);

/* Takes a WARN of a neighbour. */
void warn_take(struct ddio_group *group, const struct ddio_msg_fan *msg);

/* text.c */
/* Returns how the kind's contributions are joined; NULL: they are not. */
void *(*fan_join_of(const struct fan *fan))(struct ddio_group *group, const void *gathered,
					    size_t len, size_t *joined);
/* Returns true if the kind says that what was gathered is fresh. */
bool fan_is_fresh(const struct fan *fan);
/* Returns what takes parts from the kind's verdicts; NULL: nothing does. */
void *(*fan_slice_of(const struct fan *fan))(const void *verdict, size_t len, uint32_t first,
					     uint64_t end, size_t *n);
const char *fan_kind_name(const struct ddio_group *group, uint32_t kind);
/* Returns true if the contributions of both kinds are alike, so that it can be said how two differ. */
bool fan_kinds_alike(const struct ddio_group *group, uint32_t kind_a, uint32_t kind_b);
/* Says in @text how the contributions of two ranks differ; both are of @kind, or of one alike. */
void fan_explain(const struct ddio_group *group, uint32_t kind, uint32_t rank_a, const void *a,
		 size_t a_len, uint32_t rank_b, const void *b, size_t b_len,
		 char text[DDIO_MAX_TEXT]);
/* Says in @text which members have not come to a step; @missing has at most FAN_NAMED of @n. */
void fan_missing_text(const struct ddio_group *group, uint32_t kind, const uint32_t *missing,
		      size_t n, char text[DDIO_MAX_TEXT]);

#endif /* DDIO_CP_FAN_PRIV_H */
