/* SPDX-License-Identifier: GPL-2.0-only */
/* The sub-commands of ddio. */
#ifndef TOOLS_DDIO_H
#define TOOLS_DDIO_H

#include <limits.h>
#include "tools/common/cmd.h"
#include "tools/common/commands.h"

/* Each runs a command and returns an exit code; argv[0] is the command's name. */
int cmd_start(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_mount(int argc, char **argv);
int cmd_umount(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_ls(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_layout(int argc, char **argv);
int cmd_mkdir(int argc, char **argv);
int cmd_rm(int argc, char **argv);
int cmd_clone(int argc, char **argv);
int cmd_snap(int argc, char **argv);
int cmd_snaps(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_fsck(int argc, char **argv);
int cmd_scrub(int argc, char **argv);
/* Has blocks that have no checksum read, and given one; waits, and shows what came of it.  Returns an exit code. */
int cmd_convert(struct ddio_session *s);
int cmd_replace(int argc, char **argv);
int cmd_key(int argc, char **argv);
int cmd_mpi(int argc, char **argv);

/* Their options. */
extern const struct opt_cmd opts_start, opts_stop, opts_mount, opts_umount, opts_status, opts_top,
	opts_ls, opts_stat, opts_layout, opts_mkdir, opts_rm, opts_clone, opts_snap, opts_snaps,
	opts_fsck, opts_query, opts_scrub, opts_replace, opts_key, opts_mpi;

/**
 * lab_exec - become ddio-lab with this command line
 * @argv: the command and its arguments, ends with NULL
 *
 * Return: -errno, if there is no ddio-lab or it cannot run
 */
int lab_exec(char **argv);

/**
 * lab_list - copy a list of ddio-lab's commands
 * @form: of the list
 *
 * Return: false if ddio-lab is not installed
 */
bool lab_list(enum commands_form form, FILE *out);

#endif /* TOOLS_DDIO_H */
