// SPDX-License-Identifier: LGPL-2.1-or-later
/* Has the grants of open files renewed when half of their time is over. */
#include <errno.h>
#include "cp/node/grants.h"

static void renewed(struct node_request *request, const struct reply *reply)
{
	struct kept_grant *k = request->arg;

	/* If that failed, the next look tries again until it has expired. */
	(void)reply;
	k->renewing = false;
}

static void grant_renew(struct kept_grant *k)
{
	request_init(&k->request, DDIO_OP_RENEW, renewed, k);
	if (request_put(&k->request, grant, &k->msg))
		return;
	k->renewing = true;
	request_names(k->session, &k->request);
}

static void renew_look(void *arg)
{
	struct ddio_session *s = arg;
	uint64_t now = ddio_env_wall(s->env);
	struct kept_grant *k;

	ddio_list_for_each_entry(k, &s->grants->open, link)
		if (!k->renewing && now >= k->got_ns + grant_life(k) / 2)
			grant_renew(k);
	grants_look_later(s);
}

void renew_begin(struct ddio_session *s)
{
	s->renew = renew_look;
}
