/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding the project's other programs: in the build tree, or where they are installed. */
#ifndef TOOLS_PROGRAM_H
#define TOOLS_PROGRAM_H

#include <limits.h>

/**
 * program_find - where a program of ours lies
 * @name: "ddiod"
 * @path: room for the answer
 *
 * Looks beside the running program, then in ../sbin.
 *
 * Return: @path; or @name, for the shell's search path, if it is in neither place
 */
const char *program_find(const char *name, char path[PATH_MAX]);

#endif /* TOOLS_PROGRAM_H */
