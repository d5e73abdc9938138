/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A set of numbers of blocks: pages of bits in a hash table, so that neighbours are cheap. */
#ifndef DDIO_CP_BLOCKSET_H
#define DDIO_CP_BLOCKSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DDIO_BLOCKSET_WORDS 8

struct blockset {
	struct blockset_page {
		uint64_t key; /* number of the page plus 1; 0 is free */
		uint64_t bits[DDIO_BLOCKSET_WORDS];
	} * page;
	size_t cap, n;
};

/* Return: 0, -EEXIST if it was there already, -ENOMEM. */
int blockset_add(struct blockset *set, uint64_t block);
void blockset_free(struct blockset *set);

#endif /* DDIO_CP_BLOCKSET_H */
