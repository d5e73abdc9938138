// SPDX-License-Identifier: GPL-2.0-only
/* The message that a thread is handling. */
#include "loop.h"

__thread struct loop_worker *worker_self;

void *message_take(void)
{
	worker_self->taken = true;
	return worker_self->message.mem;
}
