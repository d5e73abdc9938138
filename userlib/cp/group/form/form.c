// SPDX-License-Identifier: LGPL-2.1-or-later
/* The first step of a group: its members are connected, and rank 0 tells all of them so. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/fan/fan.h"
#include "cp/group/form/form.h"
#include "cp/group/peer.h"
#include "cp/group/form/port.h"

static void form_end(struct form *form)
{
	if (form->error.status && form->group) {
		group_close(form->group);
		form->group = NULL;
	}
	form->done(form);
}

static void form_agreed(void *arg, const struct error *error, const void *data, size_t len)
{
	struct form *form = arg;

	(void)data;
	(void)len;
	form->error = *error;
	form_end(form);
}

/* The parent is connected, or the group is broken, as the step will report. */
static void form_ready(struct ddio_group *group, void *arg)
{
	const struct fan_in in = { .kind = FAN_KIND_FORM, .done = form_agreed, .arg = arg };

	fan_begin(group, 0, STEP_FIRST, &in);
}

static const struct step_kind form_kinds[] = {
	{ .kind = FAN_KIND_FORM, .name = "the forming of the group" },
	{ .kind = 0 },
};

const struct group_user form_group_user = { .kinds = form_kinds };

void form_begin(struct form *form, const uint8_t id[DDIO_GROUP_ID_LEN], uint32_t rank,
		uint32_t size, struct addrs *addrs)
{
	int err;

	form->group = NULL;
	error_clear(&form->error);
	err = group_new(form->session, id, rank, size, addrs, &form->group);
	if (err) {
		if (form->conn)
			ddio_conn_close(form->conn, false);
		form->group = NULL;
		error_set(&form->error, err, "out of memory");
		form_end(form);
		return;
	}
	form->group->flat = form->flat;
	strangers_admit(form->session, form->group);
	if (form->conn)
		peer_keep(form->group, form->conn);
	else if (peers_connect(form->group, &form->error)) {
		form_end(form);
		return;
	}
	form->group->on_ready = form_ready;
	form->group->ready_arg = form;
	if (!rank || form->conn)
		group_ready(form->group);
}
