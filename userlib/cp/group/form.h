/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From addresses to a group whose members are connected. */
#ifndef DDIO_CP_FORM_H
#define DDIO_CP_FORM_H

#include "cp/group/group.h"

/**
 * struct ddio_form - connect a group, and have everybody confirm it
 * @group: result; NULL if @error is set
 * @done: called once, maybe inside
 */
struct ddio_form {
	struct ddio_session *session;
	struct ddio_group *group;
	struct ddio_error error;
	void (*done)(struct ddio_form *form);
	void *arg;
};

/* @addrs: what it has is taken over; NULL for a group of one. */
void ddio_form_begin(struct ddio_form *form, const uint8_t id[DDIO_GROUP_ID_LEN], uint32_t rank,
		     uint32_t size, struct ddio_addrs *addrs);

#endif /* DDIO_CP_FORM_H */
