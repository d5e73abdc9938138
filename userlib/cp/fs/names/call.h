/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that are one request to the name space. */
#ifndef DDIO_CP_FS_CALLS_H
#define DDIO_CP_FS_CALLS_H

#include "cp/fs/inode/inode.h"

/**
 * struct fsc_call - one such call
 * @err: found before anything was sent
 * @attr, @value, @n: the answer, as take() has read it
 * @room: freed after the end
 * @answer: fills in the reply to the caller, of a success; may be NULL.  Returns false if the call goes
 *	on otherwise, and is not to be touched any more
 */
struct fsc_call {
	struct fsc_job job;
	struct fsc_ask ask;
	int err;
	struct ddio_fs_attr attr;
	struct ddio_msg_fs_value value;
	size_t n;
	void *room;
	bool (*answer)(struct fsc_call *call, struct ddio_fs_reply *reply);
	uint8_t payload[];
};

static inline struct fsc_call *fsc_call_of(struct fsc_ask *ask)
{
	return ddio_container_of(ask, struct fsc_call, ask);
}

/* @len: of the payload; negative: it cannot be encoded, and that is how the call ends.  NULL: @done
 * has been told. */
struct fsc_call *fsc_call_new(struct ddio_fs *fs, uint16_t opcode, ssize_t len, ddio_fs_done done,
			      void *arg);
/* A call whose payload is @x. */
#define FSC_CALL_NEW(fs, opcode, codec, x, done, arg)                                       \
	({                                                                                  \
		ssize_t len_ = ddio_put_##codec(NULL, 0, (x));                              \
		struct fsc_call *call_ = fsc_call_new((fs), (opcode), len_, (done), (arg)); \
		if (call_ && len_ > 0)                                                      \
			ddio_put_##codec(call_->payload, (size_t)len_, (x));                \
		call_;                                                                      \
	})
/* @err: what was found wrong with the arguments. */
void fsc_call_post(struct fsc_call *call, int err);
/* The answer to FS_MAKE, read: ddio_fs_opened_free(); or it fails. */
int fsc_made(struct fsc_ask *ask, const struct reply *reply, struct ddio_msg_fs_opened *x);
/* An answer cannot be read. */
void fsc_bad_answer(struct fsc_ask *ask);

/* Checks and copies: 0 or -errno. */
int fsc_name_set(char room[DDIO_MAX_NAME + 1], const char *name);
int fsc_make_set(struct ddio_msg_fs_make *x, uint64_t parent, const char *name,
		 const struct ddio_fs_new *make);

/* Was the inode written here, and that not told yet? */
bool fsc_attr_stale(struct ddio_fs *fs, const struct ddio_fs_attr *attr);
/* ddio_fs_getattr() on reactor 0, at once. */
void fsc_getattr(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg);

#endif /* DDIO_CP_FS_CALLS_H */
