/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where members of a group are.  Nearly all of them need to know few: rank 0, by which they tell
 * hosts from "any host", and their neighbours in the tree.  Rank 0 knows everybody, and tells them
 * all when members begin to exchange data among themselves.
 */
#ifndef DDIO_CP_ADDRS_H
#define DDIO_CP_ADDRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "proto/proto.h"

/**
 * struct addrs - addresses by rank
 * @entry: @n of them with room for @cap, ascending by rank; each says where its text begins
 * @text: all texts, each with its NUL: @len bytes, with room for @room
 */
struct addrs {
	struct addr_at {
		uint32_t rank, at;
	} * entry;
	uint32_t n, cap;
	char *text;
	uint32_t len, room;
};

/* Rank 0, parent and children: a member has no more. */
#define DDIO_NEAR_MAX 33

/* Ranks that the member @rank has to reach, ascending.  Return: their number. */
uint32_t addrs_near(uint32_t rank, uint32_t size, uint32_t near[DDIO_NEAR_MAX]);

/* After those that are there already.  0, or -ENOMEM. */
int addrs_add(struct addrs *addrs, uint32_t rank, const char *addr);
/* NULL: not known. */
const char *addrs_find(const struct addrs *addrs, uint32_t rank);
void addrs_free(struct addrs *addrs);

/* All of them as a GROUP_TABLE's payload after @before bytes that the caller fills.
 * Return: length of both, or -errno; *@buf is to be freed. */
ssize_t addrs_put(const struct addrs *addrs, const uint8_t group[DDIO_GROUP_ID_LEN], uint32_t size,
		  size_t before, uint8_t **buf);
/* Has it all that the member has to reach? */
bool addrs_suffice(const struct addrs *addrs, uint32_t rank, uint32_t size);

#endif /* DDIO_CP_ADDRS_H */
