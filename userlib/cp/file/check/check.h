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

/* Why a file cannot be read whole. */
enum lost_why {
	LOST_REPLACED, /* its disk is another one by now */
	LOST_DAMAGED,  /* its records on the disk */
	LOST_MISSING,  /* the configuration does not have the disk */
};

struct lost_file {
	uint64_t id;
	uint32_t disk;
	enum lost_why why;
	bool told;
};

/* The first @nused of its disks are those that the file is long enough for. */
struct found_file {
	struct ddio_file_ref ref;
	bool dying;
	uint32_t ndisks, nused;
	uint32_t *disks;
};

/*
 * @damaged: disks have records that are damaged, and are not repaired; @bad_disks: which
 * @lost: what cannot be read of files
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
	bool *bad_disks;
	struct lost_file *lost;
	size_t nlost, lost_cap;
};

/*
 * core.c
 */
/* Says a line to whoever has asked for the check. */
void check_tell(struct cluster_check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Asks, and again while records that are to be repaired are being committed. */
int check_ask(struct cluster_check *c, struct check_ask *a, uint16_t opcode);
/* The node could not be asked, or it did not answer: no use in going on. */
bool check_cut_off(const struct error *error);
/* Orders found objects, as the check does. */
int check_by_id_disk(const void *a, const void *b);

/*
 * lost.c
 */
/* Looks for what a file may have lost.  Objects are sorted. */
int check_match_file(struct cluster_check *c, const struct found_file *n);
/* Tells of all that was found, with the files' paths. */
int check_tell_lost(struct cluster_check *c);
/* Returns true if the file lies on a disk, the first of which is @disk, that the configuration does not have. */
bool check_misses_disk(const struct cluster_check *c, const struct found_file *n, uint32_t *disk);

/*
 * adopt.c: gives objects of one number, on @n disks, that belong to no file one in /lost+found; or tells why they are kept as
 * they are.
 */
int check_adopt(struct cluster_check *c, const struct found_object *f, size_t n);

#endif /* DDIO_CP_CHECK_H */
