// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Puts the rooms of a session together.  Only this file sees all of them: it
 * hands each room the table of those above it that want to be told something.
 */
#include <errno.h>
#include "cp/broker/broker.h"
#include "cp/coll/2p/two_phase.h"
#include "cp/coll/dd/dd.h"
#include "cp/coll/op.h"
#include "cp/coll/small/small.h"
#include "cp/coll/tc/tc.h"
#include "cp/cp.h"
#include "cp/epoch/epoch.h"
#include "cp/file/file.h"
#include "cp/group/steps/counter.h"
#include "cp/group/fan/fan.h"
#include "cp/group/form/form.h"
#include "cp/group/form/port.h"
#include "cp/hold/hold.h"
#include "cp/node/grants.h"
#include "cp/node/lane.h"
#include "cp/query/query.h"

static const session_check_fn checks[] = { broker_check, nodes_check, groups_check, NULL };

static const struct lane_user *const lanes_told[] = {
	&route_lane_user,     &dd_data_lane_user,  &dd_attach_lane_user,
	&dd_end_lane_user,    &dd_start_lane_user, &dd_copy_lane_user,
	&dd_spread_lane_user, &hold_lane_user,	   NULL
};

/* In this order they are told: a broken group ends its steps before its operations. */
static const struct group_user *const groups_told[] = { &group_own_user,     &barrier_group_user,
							&fan_group_user,     &form_group_user,
							&counter_group_user, &file_group_user,
							&op_group_user,	     &dd_attach_group_user,
							&tp_group_user,	     &exchange_group_user,
							&small_group_user,   &query_group_user,
							&epoch_group_user,   NULL };

/* With room for the mount, which adds itself. */
_Static_assert(sizeof(lanes_told) / sizeof(lanes_told[0]) <= LANE_USERS, "lanes lack room");
_Static_assert(sizeof(groups_told) / sizeof(groups_told[0]) - 1 <= GROUP_USERS, "groups lack room");

static const struct mover *const methods[] = {
	[DDIO_METHOD_TC] = &method_tc,	     [DDIO_METHOD_2P] = &method_2p,
	[DDIO_METHOD_DD] = &method_dd,	     [DDIO_METHOD_DDS] = &method_dd,
	[DDIO_METHOD_SMALL] = &method_small,
};

int ddio_session_new_env(struct ddio_env *env, struct ddio_conf *conf, const struct ddio_key *key,
			 struct ddio_session **session)
{
	struct ddio_session *s = session_new(env, conf, key, checks);

	if (!s)
		return -ENOMEM;
	if (nodes_init(s, lanes_told) || groups_init(s, groups_told) ||
	    transfers_init(s, methods) ||
	    (conf->broker != DDIO_CONF_BROKER_NEVER && broker_init(s))) {
		session_discard(s);
		return -ENOMEM;
	}
	renew_begin(s);
	*session = s;
	return 0;
}

void session_cancel(struct ddio_session *s)
{
	s->closing = true;
	groups_cancel(s);
	groups_close(s);
	ports_close(s);
	hold_end(s);
	nodes_close(s);
	broker_close(s);
	grants_close(s);
	ddio_timer_cancel(s->env, &s->watchdog);
}

void session_discard(struct ddio_session *s)
{
	transfers_free(s);
	hold_free(s);
	nodes_free(s);
	broker_free(s);
	grants_free(s);
	groups_free(s);
	session_free(s);
}
