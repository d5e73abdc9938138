/* SPDX-License-Identifier: GPL-2.0-only */
/* ddio sim. */
#ifndef TOOLS_SIM_H
#define TOOLS_SIM_H

struct opt_cmd;

int cmd_sim(int argc, char **argv);
extern const struct opt_cmd opts_sim;

#endif /* TOOLS_SIM_H */
