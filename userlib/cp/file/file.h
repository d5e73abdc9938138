/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Open files, and what is asked of the name server about them. */
#ifndef DDIO_CP_FILE_H
#define DDIO_CP_FILE_H

#include <string.h>
#include "cp/group/group.h"
#include "cp/node/request_set.h"
#include "cp/node/session.h"

/**
 * struct ddio_file - shared by the user's handle and the operations under way
 * @refs: reactor only
 * @rec: constant but for its size, the newest that is known; reactor only
 * @boot: of each disk of the stripe: the incarnation of its node that holds what was written, see
 *	incarnation.c; 0: not known
 * @order: of its own, if all members of a group have opened it together; NULL: none
 * @granted: the grant for the file is held
 * @undecided: an epoch of a group has it, and others wait
 * @carry_number, @carry_vain: writes whose data might have gone with the agreement, and for how many in turn it was for nothing; see carry.c
 * @names: the incarnation of the name server that holds the file's name and size; 0: not known, or neither is ours
 */
struct ddio_file {
	struct ddio_session *session;
	struct ddio_list link;
	uint32_t refs;
	struct ddio_file_record rec;
	uint64_t *boot;
	struct order *order;
	bool granted;
	_Atomic bool undecided;
	uint64_t names;
	uint32_t carry_number, carry_vain;
};

extern const struct group_user file_group_user;

/* What is wrong with a name that file_name_ok() refuses; with DDIO_MAX_PATH. */
#define FILE_NAME_BYTES "a name must have 1 to %d bytes"
#define FILE_IS_ANOTHER "%s is another file meanwhile"
static inline bool file_name_ok(const char *name)
{
	return name && name[0] && strlen(name) <= DDIO_MAX_PATH;
}

/* Takes over @rec.  NULL: no memory, and @rec is freed. */
struct ddio_file *file_new(struct ddio_session *session, struct ddio_file_record *rec);
void file_get(struct ddio_file *file);
void file_put(struct ddio_file *file);
void files_free(struct ddio_session *session);
/*
 * call_run() of a call about the file's data: @run comes when it is known which locks the session has.  It asks file_usable()
 * before it does anything.
 */
int file_call_run(struct ddio_file *file, struct session_call *call,
		  void (*run)(struct session_call *call));
/* Returns false, and sets @error, if the session has lost a lock of the file, and has not given it back. */
bool file_unmissed(const struct ddio_file *file, struct error *error);
/* The same, also if the file is this session's own in an epoch: it would wait for itself. */
bool file_usable(const struct ddio_file *file, struct error *error);
void file_stat_fill(struct ddio_file_stat *st, const struct ddio_file_record *rec);

/* Returns the size of disk @i's object in a file of @size bytes. */
uint64_t file_object_size(const struct ddio_file_record *rec, uint32_t i, uint64_t size);

/*
 * Steps on the reactor.  @done is called once, maybe inside.
 */

/**
 * struct file_opening - finds a file, or creates it
 * @name, @flags, @striping: as ddio_open() has them; @name is @label for a file without one
 * @mode, @id, @dir: as in struct ddio_open_opts
 * @done: with the record in @rec, if @error is clear
 */
struct file_opening {
	struct ddio_session *session;
	const char *name;
	unsigned int flags;
	unsigned int mode;
	uint64_t id, dir;
	char label[32];
	const struct ddio_striping *striping;
	struct ddio_file_record rec;
	struct error error;
	struct node_request request;
	struct request_set set;
	void (*done)(struct file_opening *job);
	void *arg;
};

/* Takes them from the caller, @opts not yet checked.  Return: 0, or -EINVAL if they contradict each other. */
int file_opening_take(struct file_opening *job, const char *name,
		      const struct ddio_open_opts *opts);
void file_open_begin(struct file_opening *job);
/* Puts the request that finds the file: by the way to it, for users, by its number, or by its name. */
int file_opening_find(const struct file_opening *job, struct node_request *request);

/**
 * struct size_job - asks for the size, extends it, or sets it
 * @size: to extend or set: the new one; at the end the file's size, as in @file->rec
 */
struct size_job {
	struct ddio_file *file;
	uint64_t size;
	bool extends;
	struct error error;
	struct node_request request;
	struct request_set set;
	void (*done)(struct size_job *job);
	void *arg;
};

void size_ask(struct size_job *job);
void size_extend(struct size_job *job);
void size_set(struct size_job *job);

/* Asks every reactor with disks of the file, after session.mark was raised; @like: the request but for the disk. */
void file_reactors_ask(struct request_set *set, struct ddio_file *file, uint16_t opcode,
		       const struct ddio_msg_obj *like);

/* Makes everything written to the file durable, including its size. */
void file_sync_begin(struct request_set *set, struct ddio_file *file,
		     void (*done)(struct request_set *set), void *arg);

/*
 * incarnation.c.  Notes which incarnations of the nodes hold what is written, as far as they are
 * known; asks the nodes for those that are not known.  After a sync: sets @error if another
 * incarnation answered than the one written to.
 */
void incarnations_note(struct ddio_file *file);
/* Notes, before something is written, those that can be asked for it: they may be others when it has been written. */
void incarnations_begin(struct ddio_file *file);
/* Note an incarnation to which another member has written, unless an earlier one is still due; 0: not known. */
void incarnation_told(struct ddio_file *file, uint32_t i, uint64_t boot);
void incarnation_told_names(struct ddio_file *file, uint64_t boot);
/* Notes who holds what was done to open the file. */
void incarnations_opened(struct ddio_file *file, unsigned int flags);
void incarnations_ask(struct request_set *set, struct ddio_file *file,
		      void (*done)(struct request_set *set), void *arg);
void incarnations_check(struct ddio_file *file, struct error *error);

/* Has the reactors write back and forget what they have cached of the file. */
void file_drop_begin(struct request_set *set, struct ddio_file *file,
		     void (*done)(struct request_set *set), void *arg);

/* remove.c: finishes a removal that was cut short. */
int remove_orphan(struct ddio_session *session, uint64_t id);

#endif /* DDIO_CP_FILE_H */
