// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Barriers.  Members that are all on one machine meet in memory that they share, a muster, from the fourth barrier on.  The first
 * is nothing but a barrier; with the second the others tell rank 0 their mailboxes, where it puts the muster; and with the third
 * they say whether they have it.  Unless all do, and whenever a round of the muster is off, they meet by a step.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/fan/fan.h"
#include "env/local/muster.h"

/* What a member contributes, and rank 0 says to it, begins with one of these; without any there is no muster. */
enum { SAY_BOX = 1, SAY_HAVE = 2 };
enum { BOX_LEN = 1 + MAILBOX_NAME + MAILBOX_TOKEN };

/**
 * struct barriers - a group's way to its muster
 * @n: barriers by messages that have succeeded
 * @box: where it comes to
 * @muster: it is here
 */
struct barriers {
	uint32_t n;
	struct ddio_mailbox box;
	struct ddio_muster *muster;
};

struct barrier_call {
	struct session_call call;
	struct ddio_group *group;
	struct turn turn;
};

static bool may_muster(const struct ddio_group *group)
{
	const struct ddio_session *s = group->session;

	return group->size > 1 && group->size <= MUSTER_MOST && !s->tls && s->conf->channels &&
	       s->conf->wire_checksums != DDIO_CONF_SUMS_ALWAYS;
}

static struct barriers *barriers_of(struct ddio_group *group)
{
	void **state = group_state(group, &barrier_group_user);

	if (!*state)
		*state = calloc(1, sizeof(struct barriers));
	return *state;
}

static void barriers_free(void *state)
{
	struct barriers *b = state;

	ddio_mailbox_close(&b->box);
	ddio_muster_free(b->muster);
	free(b);
}

/*
 * Rank 0
 */
static bool send_to(const struct barriers *b, const uint8_t *said, size_t len)
{
	char name[MAILBOX_NAME];

	if (len != BOX_LEN)
		return false;
	memcpy(name, said + 1, sizeof(name));
	return !name[sizeof(name) - 1] &&
	       !ddio_muster_send(b->muster, name, said + 1 + MAILBOX_NAME);
}

/* Returns true if all others say @what; then each whose box is told has the muster. */
static bool all_say(const struct ddio_group *group, const struct barriers *b, const struct fan *fan,
		    uint8_t what)
{
	const void *said;
	uint32_t rank, n = 0;
	size_t at = 0, len;

	for (; fan_gathered(fan, &at, &rank, &said, &len); n++)
		if (!len || *(const uint8_t *)said != what ||
		    (what == SAY_BOX && !send_to(b, said, len)))
			return false;
	return n == group->size - 1;
}

static uint8_t decide(struct ddio_group *group, struct barriers *b, const struct fan *fan)
{
	if (!b || !may_muster(group))
		return 0;
	if (b->n == 1 && !ddio_muster_new(group->session->env, group->size, &b->muster))
		return all_say(group, b, fan, SAY_BOX) ? SAY_BOX : 0;
	return b->n == 2 && b->muster && all_say(group, b, fan, SAY_HAVE) ? SAY_HAVE : 0;
}

static void barrier_root(void *arg, struct fan *fan)
{
	struct barrier_call *bc = arg;
	uint8_t say = decide(bc->group, barriers_of(bc->group), fan);
	struct error none;

	error_clear(&none);
	fan_release(fan, &none, &say, say != 0);
}

/*
 * All members
 */
/* Fills in what this member has to say.  Returns its length. */
static size_t contribute(struct ddio_group *group, struct barriers *b, uint8_t say[BOX_LEN])
{
	if (!b || !group->rank || !may_muster(group))
		return 0;
	if (b->n == 1 && !ddio_mailbox_open(group->session->env, &b->box)) {
		say[0] = SAY_BOX;
		memcpy(say + 1, b->box.name, MAILBOX_NAME);
		memcpy(say + 1 + MAILBOX_NAME, b->box.token, MAILBOX_TOKEN);
		return BOX_LEN;
	}
	say[0] = SAY_HAVE;
	return b->n == 2 && b->muster;
}

/* Takes what rank 0 has said; a barrier that failed ends all this. */
static void learn(struct ddio_group *group, struct barriers *b, bool failed, uint8_t said)
{
	if (said == SAY_BOX && group->rank && b->box.name[0] && !b->muster &&
	    ddio_muster_take(group->session->env, &b->box, group->size, &b->muster))
		b->muster = NULL;
	ddio_mailbox_close(&b->box);
	if (said == SAY_HAVE)
		atomic_store_explicit(&group->muster, b->muster, memory_order_release);
	if (b->n <= 2)
		b->n = failed ? 3 : b->n + 1;
}

static void barrier_agreed(void *arg, const struct error *error, const void *data, size_t len)
{
	struct barrier_call *bc = arg;
	struct barriers *b = barriers_of(bc->group);

	if (b)
		learn(bc->group, b, error->status,
		      len && !error->status ? *(const uint8_t *)data : 0);
	turn_pass(&bc->turn);
	call_end(&bc->call, error);
}

static void barrier_begin(struct turn *turn)
{
	struct barrier_call *bc = ddio_container_of(turn, struct barrier_call, turn);
	uint8_t say[BOX_LEN];
	const struct fan_in in = { .kind = FAN_KIND_BARRIER,
				   .gather = say,
				   .gather_len = contribute(bc->group, barriers_of(bc->group), say),
				   .root = barrier_root,
				   .done = barrier_agreed,
				   .arg = bc };

	fan_begin(bc->group, turn->number, STEP_FIRST, &in);
}

static void barrier_run(struct session_call *call)
{
	struct barrier_call *bc = ddio_container_of(call, struct barrier_call, call);

	bc->turn.begin = barrier_begin;
	turn_take(bc->group, &bc->turn);
}

/* Returns true if all members have met without messages. */
static bool met(struct ddio_group *group)
{
	struct ddio_muster *muster = atomic_load_explicit(&group->muster, memory_order_acquire);

	if (!muster || atomic_load_explicit(&group->lost, memory_order_acquire))
		return false;
	ddio_env_charge(group->session->env, DDIO_WORK_CALL, 1);
	return !ddio_muster_meet(muster);
}

int ddio_group_barrier(struct ddio_group *group)
{
	struct barrier_call bc = { .group = group };

	if (!group)
		return -EINVAL;
	return met(group) ? 0 : call_run(group->session, &bc.call, barrier_run);
}

const struct group_user barrier_group_user = {
	.free = barriers_free,
};
