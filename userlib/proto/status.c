// SPDX-License-Identifier: LGPL-2.1-or-later
/* Status numbers of the wire and errno numbers of this host: the one place where they meet. */
#include <errno.h>
#include "proto/proto.h"

struct status_info {
	int err; /* positive errno, different for each */
	const char *name;
	const char *text;
};

#define ST(st, err, text) [DDIO_ST_##st] = { err, #st, text }

static const struct status_info infos[DDIO_ST_MAX] = {
	ST(OK, 0, "success"),
	ST(PROTOCOL, EPROTO, "malformed message"),
	ST(VERSION, EPROTONOSUPPORT, "no common version of the protocol"),
	ST(AUTH, EKEYREJECTED, "the cluster's key is missing or wrong"),
	ST(UNSUPPORTED, EOPNOTSUPP, "unknown operation or flag"),
	ST(INVALID, EINVAL, "invalid value"),
	ST(TOO_BIG, E2BIG, "beyond a limit"),
	ST(NO_MEMORY, ENOMEM, "out of memory"),
	ST(NOT_FOUND, ENOENT, "no such file or object"),
	ST(EXISTS, EEXIST, "already exists"),
	ST(NO_SPACE, ENOSPC, "no space left on the disk"),
	ST(IO, EIO, "input/output error"),
	ST(BUSY, EBUSY, "busy"),
	ST(STALE, ESTALE, "the file was removed or is striped differently"),
	ST(MISMATCH, EBADE, "the members of the group disagree about a collective"),
	ST(MEMBER_LOST, ECONNABORTED, "a compute process went away"),
	ST(NODE_LOST, EHOSTDOWN, "an I/O processor went away"),
	ST(TIMEOUT, ETIMEDOUT, "timed out"),
	ST(CANCELLED, ECANCELED, "cancelled"),
	ST(PERMISSION, EACCES, "permission denied"),
	ST(CORRUPT, EUCLEAN, "records on the disk contradict one another"),
	ST(SHUTDOWN, ESHUTDOWN, "the I/O processor is stopping"),
	ST(RANGE, EFBIG, "beyond the largest file or number"),
	ST(OVERLAP, EBADSLT, "two members write the same byte"),
	ST(NO_DATA, ENODATA, "beyond the end of the file, or no such attribute"),
	ST(NOT_EMPTY, ENOTEMPTY, "the directory is not empty"),
	ST(NOT_DIR, ENOTDIR, "not a directory"),
	ST(IS_DIR, EISDIR, "is a directory"),
	ST(CROSS, EXDEV, "crosses file systems"),
	ST(LINKS, EMLINK, "too many links"),
	ST(NAME_LONG, ENAMETOOLONG, "the name is too long"),
	ST(NOT_PERMITTED, EPERM, "not permitted"),
	ST(AGAIN, EAGAIN, "locked by somebody else"),
	ST(DEADLOCK, EDEADLK, "would wait for ever (deadlock)"),
	ST(INTERRUPTED, EINTR, "interrupted"),
	ST(LOOP, ELOOP, "too many symbolic links"),
	ST(NO_PLACE, ENXIO, "nothing there"),
	ST(SMALL_BUFFER, ERANGE, "does not fit"),
	ST(READ_ONLY, EROFS, "read-only"),
	ST(QUOTA, EDQUOT, "quota exceeded"),
	ST(NO_LOCKS, ENOLCK, "too many locks"),
};

const char *status_name(uint32_t status)
{
	return status < DDIO_ST_MAX ? infos[status].name : "unknown";
}

const char *ddio_status_text(uint32_t status)
{
	return status < DDIO_ST_MAX ? infos[status].text : "unknown";
}

int ddio_status_to_errno(uint32_t status)
{
	return status < DDIO_ST_MAX ? -infos[status].err : -EIO;
}

/* Causes that share a status with the errno of the table above. */
static uint32_t status_alias(int err)
{
	switch (err) {
	case EMSGSIZE:
		return DDIO_ST_TOO_BIG;
	case EOVERFLOW:
		return DDIO_ST_RANGE;
	case ENOSYS:
		return DDIO_ST_UNSUPPORTED;
	default:
		return DDIO_ST_IO;
	}
}

uint32_t ddio_status_from_errno(int err)
{
	uint32_t st;

	for (st = 0; st < DDIO_ST_MAX; st++)
		if (infos[st].err == -err)
			return st;
	return status_alias(-err);
}
