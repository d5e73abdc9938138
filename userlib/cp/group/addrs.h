/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Addresses of a group's members.  Most members know only rank 0, whose host stands in for "any
 * host", and their neighbours in the tree.  Rank 0 knows all, and tells them to all when members
 * begin to exchange data among themselves.
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
 * @entry: @n of them with room for @cap, ascending by rank; @at is where its text begins
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

/* Rank 0, the parent and the children are never more. */
#define NEAR_MAX 33

/* Fills in the ranks that member @rank has to reach, ascending.  Returns their number. */
uint32_t addrs_near(uint32_t rank, uint32_t size, uint32_t near[NEAR_MAX]);

/* The same in a flat tree, which its own rank says: rank 0, and that. */
uint32_t addrs_stay(uint32_t rank, uint32_t near[NEAR_MAX]);

/* Appends; @rank is above all that are there.  Return: 0 or -ENOMEM. */
int addrs_add(struct addrs *addrs, uint32_t rank, const char *addr);
/* Returns the address of @rank, or NULL if it is not known. */
const char *addrs_find(const struct addrs *addrs, uint32_t rank);
void addrs_free(struct addrs *addrs);

/* Encodes all as a GROUP_TABLE's payload, after @before bytes for the caller to fill in.
 * Return: length of both, or -errno; *@buf is to be freed. */
ssize_t addrs_put(const struct addrs *addrs, const uint8_t group[DDIO_GROUP_ID_LEN], uint32_t size,
		  size_t before, uint8_t **buf);
/* Returns true if all that member @rank has to reach are there. */
bool addrs_suffice(const struct addrs *addrs, uint32_t rank, uint32_t size);

/* Returns true if the host of @addr is "any host". */
bool addr_is_any(const char *addr);
/* Replaces the host of @addr by that of @seen if it is "any host". */
void addr_settle(char addr[DDIO_MAX_ADDR], const char *seen);

#endif /* DDIO_CP_ADDRS_H */
