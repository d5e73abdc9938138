/* SPDX-License-Identifier: GPL-2.0-only */
/* ddio import and export. */
#ifndef TOOLS_DDIO_TRANSFER_H
#define TOOLS_DDIO_TRANSFER_H

#include "tools/common/opt.h"

int cmd_import(int argc, char **argv);
int cmd_export(int argc, char **argv);

extern const struct opt_cmd opts_import, opts_export;

#endif /* TOOLS_DDIO_TRANSFER_H */
