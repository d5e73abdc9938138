/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a node finds out for whom a credential vouches: the program hands it in, since that may block. */
#ifndef DDIO_VOUCH_H
#define DDIO_VOUCH_H

#include "iop/user/who.h"
#include "proto/wire.h"

/**
 * struct ddio_vouch_job - a credential that is looked at
 * @cred: ended by a zero; @tie: what must be in it
 * @err: 0, or -errno and @why
 * @who: whom it vouches for, with the groups that this machine knows of; @who.groups: free()
 */
struct ddio_vouch_job {
	char cred[DDIO_MAX_CREDENTIAL + 1];
	uint8_t tie[DDIO_PROOF_LEN];
	int err;
	char why[160];
	struct ddio_who who;
};

/* Looks at the credential: on a thread for which nobody waits (env/aside.h), since it may wait for ever. */
typedef void (*ddio_vouch_fn)(struct ddio_vouch_job *job);

#endif /* DDIO_VOUCH_H */
