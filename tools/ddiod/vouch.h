/* SPDX-License-Identifier: GPL-2.0-only */
/* Asks munge about users: a daemon of this machine answers, and the tables of groups may be far. */
#ifndef TOOLS_DDIOD_VOUCH_H
#define TOOLS_DDIOD_VOUCH_H

#include "iop/user/vouch.h"

/* See ddio_vouch_fn. */
void munge_vouch(struct ddio_vouch_job *job);

#endif /* TOOLS_DDIOD_VOUCH_H */
