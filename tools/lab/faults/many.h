/* SPDX-License-Identifier: GPL-2.0-only */
/* The command's many seeds. */
#ifndef TOOLS_FAULTS_MANY_H
#define TOOLS_FAULTS_MANY_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct faults_many - the options of the command
 * @seed: the first; @seeds: how many
 * @plant: name or NULL
 * @power: only the power breaks
 * @mounts: processes have mounts
 * @brokers: processes reach I/O processors through brokers, @per_machine of them through each, 0: 3
 * @atomic: most collective writes are atomic; @epochs: and many are of several files, in one epoch
 * @first: ends at the first seed that fails
 * @minimize: looks for the shortest schedule of one seed
 */
struct faults_many {
	uint64_t seed;
	uint32_t seeds, jobs, rounds;
	const char *plant;
	uint32_t per_machine;
	bool power, atomic, epochs, mounts, brokers, verbose, first, minimize;
};

/* Runs the seeds and prints the results.  Return: an exit code. */
int faults_many(const struct faults_many *many);

#endif /* TOOLS_FAULTS_MANY_H */
