/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupted commands leave what there was: a signal only makes a note, and the command gives up where it can. */
#ifndef TOOLS_SAFE_INTERRUPT_H
#define TOOLS_SAFE_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM and SIGHUP are noted; another one, two seconds later, ends the process at once. */
void interrupt_watch(void);
/* Return: whether one has come */
bool interrupt_came(void);
/* Ends the process by the signal that has come, so that its parent sees that; returns if none has. */
void interrupt_end(void);

#endif /* TOOLS_SAFE_INTERRUPT_H */
