/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ddio sim --faults: a small cluster in virtual time, a workload, a schedule of faults, and a
 * model that knows which bytes may be where.  All of it follows from the seed.
 *
 *   many.c      runs many seeds and prints what came of them
 *   minimize.c  finds the shortest schedule with which a seed still fails
 *   story.c     says in words what happened in a round
 *   faults.c    runs one seed
 *   plan.c      what the cluster is like, and what its processes do, round by round
 *   scene.c     rounds that are made for one kind of mistake
 *   part.c      which cells of a file belong to which process
 *   view.c      the same cells as a view
 *   cp.c        a compute process: its calls, and what they returned
 *   round.c     what a round's calls must have returned, by the model
 *   fate.c      what breaks, and when it is mended
 *   loss.c      what a loss means to the model
 *   model.c     the model
 *   mount*.c    processes with mounts instead; see mounts.h
 *   world.c     the cluster; the one file that sees the library's private parts
 *   copy.c      copies an I/O processor's records
 *   say.c       messages
 *   run.h       the run, and what these files call of one another
 */
#ifndef TOOLS_FAULTS_H
#define TOOLS_FAULTS_H

#include "run.h"

/* Runs one seed.  Return: 0, or -1 with a reason in @result. */
int faults_run(const struct faults_spec *spec, struct faults_result *result);

#endif /* TOOLS_FAULTS_H */
