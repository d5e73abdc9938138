/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a node finds out for whom a credential vouches: the program hands it in, since that may block. */
#ifndef DDIO_VOUCH_H
#define DDIO_VOUCH_H

#include "env/env.h"
#include "iop/user/who.h"
#include "proto/wire.h"

/**
 * struct ddio_vouch_job - a credential that is looked at
 * @post: posted to @env when it has been
 * @cred: ended by a zero; @tie: what must be in it
 * @err: 0, or -errno and @why
 * @who: whom it vouches for, with the groups that this machine knows of; @who.groups: free()
 */
struct ddio_vouch_job {
	struct ddio_post post;
	struct ddio_env *env;
	char cred[DDIO_MAX_CREDENTIAL + 1];
	uint8_t tie[DDIO_PROOF_LEN];
	int err;
	char why[160];
	struct ddio_who who;
	struct ddio_vouch_job *next; /* the asked one's own */
};

/**
 * struct ddio_vouch - whom to ask
 * @ask: looks at the credential, here or on another thread, and posts; every job ends
 */
struct ddio_vouch {
	void (*ask)(void *arg, struct ddio_vouch_job *job);
	void *arg;
};

#endif /* DDIO_VOUCH_H */
