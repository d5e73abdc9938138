/* SPDX-License-Identifier: GPL-2.0-only */
/* The sub-commands of ddio-lab. */
#ifndef TOOLS_LAB_H
#define TOOLS_LAB_H

#include "tools/common/opt.h"

/* Each runs a command and returns an exit code; argv[0] is the command's name. */
int cmd_bench(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_lu(int argc, char **argv);
int cmd_matrix(int argc, char **argv);
int cmd_disk_model(int argc, char **argv);

/* Their options. */
extern const struct opt_cmd opts_bench, opts_sim, opts_lu, opts_matrix, opts_disk_model;

#endif /* TOOLS_LAB_H */
