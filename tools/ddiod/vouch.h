/* SPDX-License-Identifier: GPL-2.0-only */
/* Asks munge about users, on a thread of its own: a daemon of this machine answers, and the tables of groups may be far. */
#ifndef TOOLS_DDIOD_VOUCH_H
#define TOOLS_DDIOD_VOUCH_H

#include <stddef.h>
#include "iop/user/vouch.h"

struct voucher;

/* Starts the thread.  Return: 0 or -errno. */
int voucher_start(struct voucher **voucher);
/* Ends it, when nobody asks any more. */
void voucher_stop(struct voucher *voucher);
const struct ddio_vouch *voucher_of(const struct voucher *voucher);

#endif /* TOOLS_DDIOD_VOUCH_H */
