/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands about how files lie on the disks. */
#ifndef TOOLS_DDIO_CARE_H
#define TOOLS_DDIO_CARE_H

#include "tools/common/cmd.h"

/* Each runs a command and returns an exit code; argv[0] is the command's name. */
int cmd_frag(int argc, char **argv);
int cmd_mend(int argc, char **argv);

extern const struct opt_cmd opts_frag, opts_mend;

#endif /* TOOLS_DDIO_CARE_H */
