// SPDX-License-Identifier: LGPL-2.1-or-later
/* libmunge, loaded at its first use: its functions and numbers are those of munge.h of munge 0.5. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "munge/munge.h"

#define LIBRARY "libmunge.so.2"

struct munge_ctx;

/**
 * struct munge_lib - the library's functions; @handle NULL: it could not be loaded
 */
struct munge_lib {
	void *handle;
	int (*encode)(char **cred, struct munge_ctx *ctx, const void *buf, int len);
	int (*decode)(const char *cred, struct munge_ctx *ctx, void **buf, int *len, uid_t *uid,
		      gid_t *gid);
	const char *(*text)(int err);
};

static struct munge_lib lib;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return;
	*(void **)&lib.encode = dlsym(handle, "munge_encode");
	*(void **)&lib.decode = dlsym(handle, "munge_decode");
	*(void **)&lib.text = dlsym(handle, "munge_strerror");
	if (lib.encode && lib.decode && lib.text)
		lib.handle = handle;
	else
		dlclose(handle);
}

static int need_lib(char *why, size_t why_len)
{
	pthread_once(&once, load);
	if (lib.handle)
		return 0;
	snprintf(why, why_len, "munge: cannot load " LIBRARY ": install munge");
	return -ENOSYS;
}

int ddio_munge_make(const void *data, size_t len, char *cred, size_t cap, char *why, size_t why_len)
{
	char *made = NULL;
	int err = need_lib(why, why_len);

	if (err)
		return err;
	err = lib.encode(&made, NULL, data, (int)len);
	if (err) {
		snprintf(why, why_len, "munge: %s", lib.text(err));
		err = -EACCES;
	} else if (strlen(made) >= cap) {
		snprintf(why, why_len, "munge: the credential is too long");
		err = -EMSGSIZE;
	} else {
		strcpy(cred, made);
	}
	free(made);
	return err;
}

int ddio_munge_check(const char *cred, const void *data, size_t len, uid_t *uid, gid_t *gid,
		     char *why, size_t why_len)
{
	void *buf = NULL;
	int n = 0, err = need_lib(why, why_len);

	if (err)
		return err;
	/* With an error, too, it may say what was in the credential. */
	err = lib.decode(cred, NULL, &buf, &n, uid, gid);
	if (err) {
		snprintf(why, why_len, "munge: %s", lib.text(err));
		err = -EACCES;
	} else if ((size_t)n != len || memcmp(buf, data, len)) {
		snprintf(why, why_len, "munge: the credential was made for another connection");
		err = -EACCES;
	}
	free(buf);
	return err;
}
