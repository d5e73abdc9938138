/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inside of a step: fan.c does what goes well, fan_late.c what does not. */
#ifndef DDIO_CP_FAN_PRIV_H
#define DDIO_CP_FAN_PRIV_H

#include "base/bytes.h"
#include "cp/group/fan.h"

enum fan_state {
	FAN_OPEN, /* contributions are being awaited */
	FAN_SENT, /* up to the parent; or rank 0 is deciding */
	FAN_OVER, /* the verdict is there, but the application has not called yet */
};

/* Most missing ranks that are named. */
#define FAN_NAMED 32

/**
 * struct fan - one step
 * @seq: number of the turn and place in it
 * @kind: of the first contribution
 * @mine: the application has called
 * @late: it has expired, or somebody asked
 * @arrived: bit k: the child whose distance is 1 << k
 * @verdict: the worst error so far, of rank @verdict_rank
 * @compare, @compare_len: of the first contribution, rank @compare_rank's
 * @gather: entries of rank, length, bytes
 * @missing: ranks that children say are missing; @nmissing counts those that did not fit too
 */
struct fan {
	struct ddio_list link;
	struct ddio_group *group;
	uint64_t seq;
	uint32_t kind;
	enum fan_state state;
	bool mine, late;
	uint32_t arrived;
	struct error verdict;
	uint32_t verdict_rank;
	void *compare;
	size_t compare_len;
	uint32_t compare_rank;
	uint8_t *gather;
	size_t gather_len, gather_cap;
	uint32_t missing[FAN_NAMED];
	uint32_t nmissing;
	struct ddio_timer timer;
	void (*root)(void *arg, struct fan *fan);
	void (*done)(void *arg, const struct error *error, const void *data, size_t len);
	void *arg;
};

/* fan.c */
int fan_send(struct ddio_group *group, uint32_t to, uint16_t opcode, struct ddio_msg_fan *msg);
/* Has everybody contributed who is to?  Then it goes up, or is decided. */
void fan_advance(struct fan *fan);
struct fan *fan_find(struct ddio_group *group, uint64_t seq);
/* Makes it if there is none.  NULL: no memory, or too far ahead. */
struct fan *fan_get(struct ddio_group *group, uint64_t seq, uint32_t kind);

/* fan_late.c */
void fan_expire_arm(struct fan *fan);
/* The children have answered, and somebody is missing. */
void fan_late_report(struct fan *fan);
/* A LATE came from child number @k: a list, or none if it only waits for the verdict. */
int fan_late_up(struct ddio_group *group, unsigned int k, const struct ddio_msg_fan *msg);
/* An ASK came. */
void fan_late_down(struct fan *fan);

#endif /* DDIO_CP_FAN_PRIV_H */
