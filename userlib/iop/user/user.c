// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a user may ask for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "iop/user/user.h"

struct iop_user *user_new(void)
{
	return calloc(1, sizeof(struct iop_user));
}

void user_free(struct iop_user *user)
{
	if (user) {
		free(user->who.groups);
		free(user->seen);
	}
	free(user);
}

static struct iop_grant *place_of(struct iop_user *user, uint64_t file)
{
	return &user->grants[file % DDIO_GRANT_PLACES];
}

bool user_grant(struct iop_user *user, const struct ddio_key *key,
		const struct ddio_msg_grant *grant)
{
	if (user->state != USER_KNOWN || grant->uid != user->who.uid || !grant_genuine(key, grant))
		return false;
	*place_of(user, grant->file) = (struct iop_grant){ .file = grant->file,
							   .until_ns = grant->until_ns,
							   .rights = grant->rights };
	return true;
}

bool user_may(const struct iop_user *user, uint64_t file, uint32_t rights, uint64_t now_ns)
{
	const struct iop_grant *grant = place_of((struct iop_user *)user, file);

	return user->root ||
	       (file && grant->file == file && grant->rights & rights && now_ns < grant->until_ns);
}

bool user_knows(const struct iop_user *user, uint64_t file)
{
	return file && place_of((struct iop_user *)user, file)->file == file;
}

/* Numbers of locks have a bit more than those of files. */
static uint64_t file_of(const void *payload, size_t len)
{
	return len < 8 ? 0 : bytes_get64(payload) & ~DDIO_FS_LOCK_END;
}

static uint32_t rights_of(enum iop_access access)
{
	switch (access) {
	case ACCESS_READ:
		return DDIO_GRANT_READ;
	case ACCESS_WRITE:
		return DDIO_GRANT_WRITE;
	case ACCESS_REMOVE:
		return DDIO_GRANT_REMOVE;
	default:
		return DDIO_GRANT_READ | DDIO_GRANT_WRITE;
	}
}

int user_access(const struct iop_user *user, enum iop_access access, const void *payload,
		size_t len, uint64_t now_ns, const char **why)
{
	*why = "";
	if (access == ACCESS_ANY)
		return 0;
	if (!user || user->state != USER_KNOWN) {
		*why = user && user->why[0] ? user->why
					    : "the node wants to know users (users = munge)";
		return -EACCES;
	}
	if (user->root || access == ACCESS_USER)
		return 0;
	if (access == ACCESS_ROOT) {
		*why = "only root of a machine that the cluster trusts may do this";
		return -EACCES;
	}
	if (user_may(user, file_of(payload, len), rights_of(access), now_ns))
		return 0;
	*why = "the user may not do this with the file, or what said so has expired";
	return -EACCES;
}
