/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files that check the whole store. */
#ifndef DDIO_CP_CHECK_H
#define DDIO_CP_CHECK_H

#include "cp/file/file.h"

/* One request, made by the application's thread. */
struct check_ask {
	struct session_call call;
	struct node_request request;
	uint16_t opcode;
	bool names; /* to the name server, else to the disk of @obj */
	struct ddio_msg_obj obj;
	struct ddio_msg_fsck fsck;
	struct ddio_msg_obj_list list;
	struct ddio_msg_obj_stat stat;
};

/* An object that was found on a disk. */
struct found_object {
	uint64_t id;
	uint32_t disk;
};

/* The first @nused of its disks are those that the file is long enough for. */
struct found_file {
	uint64_t id;
	bool dying;
	uint32_t ndisks, nused;
	uint32_t *disks;
};

/*
 * @damaged: disks have records that are damaged, and are not repaired
 * @adopted: objects have got files again, which may not be durable yet
 */
struct cluster_check {
	struct ddio_session *session;
	bool repair, drop;
	void (*fn)(void *arg, const char *line);
	void *arg;
	struct ddio_check_result *result;
	struct found_object *found;
	size_t nfound, cap;
	struct found_file *names;
	size_t nnames, names_cap;
	uint64_t *dying;
	size_t ndying;
	bool damaged, adopted;
};

/*
 * core.c
 */
/* Says a line to whoever has asked for the check. */
void check_tell(struct cluster_check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Asks, and again while records that are to be repaired are being committed. */
int check_ask(struct cluster_check *c, struct check_ask *a, uint16_t opcode);

/*
 * adopt.c: gives objects of one number, on @n disks, that belong to no file one in /lost+found; or tells why they are kept as
 * they are.
 */
int check_adopt(struct cluster_check *c, const struct found_object *f, size_t n);

#endif /* DDIO_CP_CHECK_H */
