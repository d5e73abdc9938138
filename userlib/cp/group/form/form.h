/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From addresses to a group whose members are connected. */
#ifndef DDIO_CP_FORM_H
#define DDIO_CP_FORM_H

#include "cp/group/group.h"

/**
 * struct form - connects a group and has every member confirm it
 * @flat: the group's tree is; @conn: not at rank 0: the connection with it, which is taken over
 * @group: result; NULL if @error is set
 * @done: called once, maybe inside
 */
struct form {
	struct ddio_session *session;
	bool flat;
	struct ddio_conn *conn;
	struct ddio_group *group;
	struct error error;
	void (*done)(struct form *form);
	void *arg;
};

extern const struct group_user form_group_user;

/* @addrs: its contents are taken over; NULL for a group of one. */
void form_begin(struct form *form, const uint8_t id[DDIO_GROUP_ID_LEN], uint32_t rank,
		uint32_t size, struct addrs *addrs);

#endif /* DDIO_CP_FORM_H */
