// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The first step of a group: its members are connected, and rank 0 tells all what each of them knows.  A member says so if it knows
 * DDIO_FEATURE_ORDER; if one does not, or rank 0 is of a release that does not tell, all take it that nothing is known to all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
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

/*
 * What members know: how many of them say so, and what all of these know
 */
enum { KNOWN = 12 };

struct known {
	uint64_t members, features;
};

static struct known known_own(const struct ddio_group *group)
{
	uint64_t features = DDIO_WIRE_FEATURES & ~group->session->without;

	return (struct known){ !!(features & DDIO_FEATURE_ORDER), features };
}

static void known_put(uint8_t p[KNOWN], const struct known *known)
{
	bytes_put32(p, (uint32_t)known->members);
	bytes_put64(p + 4, known->features);
}

/* Of several, one after the other. */
static struct known known_get(const uint8_t *p, size_t len)
{
	struct known known = { 0, UINT64_MAX };

	for (; len >= KNOWN; p += KNOWN, len -= KNOWN) {
		known.members += bytes_get32(p);
		known.features &= bytes_get64(p + 4);
	}
	return known;
}

static void *known_join(struct ddio_group *group, const void *gathered, size_t len, size_t *joined)
{
	const struct known known = known_get(gathered, len);
	uint8_t *p = len > KNOWN && known.members <= group->size ? malloc(KNOWN) : NULL;

	if (!p)
		return NULL;
	known_put(p, &known);
	*joined = KNOWN;
	return p;
}

/* A group is formed once. */
static bool known_fresh(const void *gathered, size_t len)
{
	(void)gathered;
	(void)len;
	return true;
}

static void form_root(void *arg, struct fan *fan)
{
	const struct form *form = arg;
	const uint8_t *gathered;
	struct known known;
	uint8_t verdict[8];
	size_t len;

	gathered = fan_gathered_all(fan, &len);
	known = known_get(gathered, len);
	bytes_put64(verdict, known.features);
	fan_release(fan, NULL, verdict, known.members == form->group->size ? sizeof(verdict) : 0);
}

static void form_agreed(void *arg, const struct error *error, const void *data, size_t len)
{
	struct form *form = arg;

	if (!error->status && len == 8)
		form->group->features = bytes_get64(data);
	form->error = *error;
	form_end(form);
}

/* The parent is connected, or the group is broken, as the step will report. */
static void form_ready(struct ddio_group *group, void *arg)
{
	const struct known known = known_own(group);
	uint8_t own[KNOWN];
	const struct fan_in in = { .kind = FAN_KIND_FORM,
				   .gather = own,
				   .gather_len = known.members ? sizeof(own) : 0,
				   .root = form_root,
				   .done = form_agreed,
				   .arg = arg };

	known_put(own, &known);
	fan_begin(group, 0, STEP_FIRST, &in);
}

static const struct step_kind form_kinds[] = {
	{ .kind = FAN_KIND_FORM,
	  .name = "the forming of the group",
	  .join = known_join,
	  .fresh = known_fresh },
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
