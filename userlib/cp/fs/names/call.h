/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that are one request to the name server. */
#ifndef DDIO_CP_FS_CALL_H
#define DDIO_CP_FS_CALL_H

#include "cp/fs/core/job.h"
#include "cp/fs/names/names.h"

/**
 * struct fsc_call - one such call
 * @err: an error found before anything was sent
 * @attr, @value: the reply, as ask.take() has decoded it
 * @room: freed after the end
 * @seen: FS_SYNC: see fsc_unsynced_tell()
 * @answer: fills in the caller's reply, of a success; may be NULL.  Returns false if the call goes on
 *	in another way; it may be gone then
 */
struct fsc_call {
	struct fsc_job job;
	struct fsc_ask ask;
	int err;
	struct ddio_fs_attr attr;
	struct ddio_msg_fs_value value;
	void *room;
	uint64_t *seen;
	bool (*answer)(struct fsc_call *call, struct ddio_fs_reply *reply);
	uint8_t payload[];
};

static inline struct fsc_call *fsc_call_of(struct fsc_ask *ask)
{
	return ddio_container_of(ask, struct fsc_call, ask);
}

/*
 * Allocates a call with @len bytes of payload; a negative @len says that the payload cannot be encoded,
 * and is how the call ends.  Returns NULL if there is no memory; @done has been told so then.
 */
struct fsc_call *fsc_call_new(struct ddio_fs *fs, uint16_t opcode, ssize_t len, ddio_fs_done done,
			      void *arg);
/* The same, with the payload encoded from @x. */
#define FSC_CALL_NEW(fs, opcode, codec, x, done, arg)                                       \
	({                                                                                  \
		ssize_t len_ = ddio_put_##codec(NULL, 0, (x));                              \
		struct fsc_call *call_ = fsc_call_new((fs), (opcode), len_, (done), (arg)); \
		if (call_ && len_ > 0)                                                      \
			ddio_put_##codec(call_->payload, (size_t)len_, (x));                \
		call_;                                                                      \
	})
/* Makes the call, or ends it with @err if the arguments were found wrong. */
void fsc_call_post(struct fsc_call *call, int err);

/*
 * For take(): decodes the reply to FS_MAKE and keeps the directory's attributes that came with it.
 * Returns 0, and ddio_fs_opened_free() is due; or the error, which @ask has too.
 */
int fsc_made(struct fsc_ask *ask, const struct reply *reply, struct ddio_msg_fs_opened *x);

/* Checks and copies a name: 0 or -errno. */
int fsc_name_set(char room[DDIO_MAX_NAME + 1], const char *name);
/* Checks and copies what is to be made: 0 or -errno. */
int fsc_make_set(struct ddio_msg_fs_make *x, uint64_t parent, const char *name,
		 const struct ddio_fs_new *make);

#endif /* DDIO_CP_FS_CALL_H */
