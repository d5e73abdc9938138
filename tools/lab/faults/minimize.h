/* SPDX-License-Identifier: GPL-2.0-only */
/* The shortest schedule with which a seed fails. */
#ifndef TOOLS_FAULTS_MINIMIZE_H
#define TOOLS_FAULTS_MINIMIZE_H

struct faults_spec;

/* Prints it as a story.  Return: an exit code; EXIT_OK if the seed passes. */
int faults_minimize(const struct faults_spec *spec);

#endif /* TOOLS_FAULTS_MINIMIZE_H */
