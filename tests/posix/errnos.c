// SPDX-License-Identifier: GPL-2.0-only
/* Errors by name. */
#include <errno.h>
#include <string.h>
#include "posix.h"

#define E(name)             \
	{                   \
#name, name \
	}
static const struct {
	const char *name;
	int err;
} errnos[] = {
	E(EPERM),     E(ENOENT),       E(EINTR),   E(EIO),    E(ENXIO),	    E(EBADF),
	E(EAGAIN),    E(ENOMEM),       E(EACCES),  E(EFAULT), E(EBUSY),	    E(EEXIST),
	E(EXDEV),     E(ENODEV),       E(ENOTDIR), E(EISDIR), E(EINVAL),    E(ENFILE),
	E(EMFILE),    E(ENOTTY),       E(ETXTBSY), E(EFBIG),  E(ENOSPC),    E(ESPIPE),
	E(EROFS),     E(EMLINK),       E(EPIPE),   E(EDOM),   E(ERANGE),    E(EDEADLK),
	E(ELOOP),     E(ENAMETOOLONG), E(ENOLCK),  E(ENOSYS), E(ENOTEMPTY), E(EOPNOTSUPP),
	E(EOVERFLOW), E(ENODATA),      E(ESTALE),  E(EDQUOT), E(E2BIG),
};

int px_errno_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
		if (!strcmp(errnos[i].name, name))
			return errnos[i].err;
	return 0;
}

const char *px_errno_name(int err)
{
	size_t i;

	for (i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
		if (errnos[i].err == err)
			return errnos[i].name;
	return strerror(err);
}
