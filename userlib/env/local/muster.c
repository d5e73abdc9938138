// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "env/env_ops.h"
#include "env/local/muster.h"
#include "env/local/shared.h"

/*
 * The state of the round: how many have come to it, whether it is off, whether the one before was, which a member that sees
 * only its end has to know; and its number.  CLOSED: some member is in another round, for instance since two threads of one
 * have come at once, and there will be no more rounds.
 */
#define STATE_COME 0xffffu
#define STATE_OFF (1u << 16)
#define STATE_WAS_OFF (1u << 17)
#define STATE_CLOSED (1u << 18)
#define STATE_ROUND 32

/**
 * struct muster_place - what the members share
 * @gong: sounds when a round ends or is called off
 */
struct muster_place {
	_Alignas(64) _Atomic uint64_t state;
	_Alignas(64) struct ddio_gong gong;
};

struct ddio_muster {
	struct ddio_env *env;
	struct ddio_shared *shared;
	struct muster_place *place;
	uint32_t size;
	_Atomic uint32_t round;
};

static uint32_t round_of(uint64_t state)
{
	return (uint32_t)(state >> STATE_ROUND);
}

/* Return: what has become of the round; 1: it is under way. */
static int outcome(uint64_t state, uint32_t round)
{
	if (round_of(state) == round)
		return state & (STATE_OFF | STATE_CLOSED) ? -EAGAIN : 1;
	return round_of(state) == round + 1 && !(state & STATE_WAS_OFF) ? 0 : -EAGAIN;
}

/* Returns the state once this member has come. */
static uint64_t with_one_more(const struct ddio_muster *m, uint64_t state, uint32_t round)
{
	if (round_of(state) != round || state & STATE_CLOSED)
		return state | STATE_CLOSED;
	if ((state & STATE_COME) + 1 < m->size)
		return state + 1;
	return (uint64_t)(round + 1) << STATE_ROUND | (state & STATE_OFF ? STATE_WAS_OFF : 0);
}

static int come(struct ddio_muster *m, uint32_t round)
{
	uint64_t state = atomic_load(&m->place->state), next;

	do {
		next = with_one_more(m, state, round);
	} while (!atomic_compare_exchange_weak(&m->place->state, &state, next));
	if (next & STATE_CLOSED || round_of(next) != round)
		m->env->ops->gong_sound(m->env, &m->place->gong);
	return next & STATE_CLOSED ? -EAGAIN : outcome(next, round);
}

static int await(struct ddio_muster *m, uint32_t round)
{
	struct muster_place *p = m->place;
	uint64_t until = ddio_env_now(m->env) + MUSTER_WAIT_NS, state;
	uint32_t seen, late = 0;
	int ret;

	/* Each failure to call it off is another's coming. */
	while (late <= m->size) {
		seen = atomic_load(&p->gong.sounded);
		state = atomic_load(&p->state);
		ret = outcome(state, round);
		if (ret <= 0)
			return ret;
		if (ddio_env_now(m->env) < until)
			m->env->ops->gong_wait(m->env, &p->gong, seen, until);
		else if (!atomic_compare_exchange_strong(&p->state, &state, state | STATE_OFF))
			late++;
		else
			m->env->ops->gong_sound(m->env, &p->gong);
	}
	return -EAGAIN;
}

int ddio_muster_meet(struct ddio_muster *m)
{
	uint32_t round;
	int ret;

	if (m->env->ops->gong_wait(m->env, NULL, 0, 0))
		return -EDEADLK;
	round = atomic_fetch_add(&m->round, 1);
	ret = come(m, round);
	return ret <= 0 ? ret : await(m, round);
}

/*
 * Life
 */
static struct ddio_muster *muster_of(struct ddio_env *env, uint32_t size,
				     struct ddio_shared *shared)
{
	struct ddio_muster *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->env = env;
	m->size = size;
	m->shared = shared;
	m->place = ddio_shared_mem(shared);
	return m;
}

int ddio_muster_new(struct ddio_env *env, uint32_t size, struct ddio_muster **muster)
{
	struct ddio_shared *shared;
	int err;

	if (!env->ops->gong_wait || size > MUSTER_MOST)
		return -EOPNOTSUPP;
	err = ddio_shared_new(env, sizeof(struct muster_place), true, &shared);
	if (err)
		return err;
	*muster = muster_of(env, size, shared);
	if (*muster)
		return 0;
	ddio_shared_free(shared);
	return -ENOMEM;
}

int ddio_muster_send(const struct ddio_muster *m, const char *name,
		     const uint8_t token[MAILBOX_TOKEN])
{
	return ddio_shared_send(m->env, m->shared, name, token);
}

int ddio_muster_take(struct ddio_env *env, struct ddio_mailbox *box, uint32_t size,
		     struct ddio_muster **muster)
{
	struct ddio_shared *shared;
	int err = env->ops->gong_wait ? ddio_shared_take(box, true, &shared) : -EOPNOTSUPP;

	if (err)
		return err;
	*muster = ddio_shared_len(shared) == sizeof(struct muster_place)
			  ? muster_of(env, size, shared)
			  : NULL;
	if (*muster)
		return 0;
	ddio_shared_free(shared);
	return -EPROTO;
}

void ddio_muster_free(struct ddio_muster *m)
{
	if (!m)
		return;
	ddio_shared_free(m->shared);
	free(m);
}
