// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/addrs.h"
#include "cp/group/tree.h"

bool addr_is_any(const char *addr)
{
	return !strncmp(addr, "0.0.0.0:", 8) || !strncmp(addr, "[::]:", 5) ||
	       !strncmp(addr, "*:", 2);
}

void addr_settle(char addr[DDIO_MAX_ADDR], const char *seen)
{
	const char *host_end = strrchr(seen, ':');
	char port[16];

	if (!addr_is_any(addr) || !host_end)
		return;
	snprintf(port, sizeof(port), "%s", strrchr(addr, ':'));
	snprintf(addr, DDIO_MAX_ADDR, "%.*s%s", (int)(host_end - seen), seen, port);
}

uint32_t addrs_near(uint32_t rank, uint32_t size, uint32_t near[NEAR_MAX])
{
	uint32_t n = 0, child;
	unsigned int k;

	if (rank)
		near[n++] = 0;
	if (rank && tree_parent(rank))
		near[n++] = tree_parent(rank);
	for (k = 0; (child = tree_child(rank, size, k)) != UINT32_MAX; k++)
		near[n++] = child;
	return n;
}

uint32_t addrs_stay(uint32_t rank, uint32_t near[NEAR_MAX])
{
	near[0] = 0;
	near[1] = rank;
	return 2;
}

static int room_for(struct addrs *a, size_t len)
{
	uint32_t cap = a->cap ? a->cap + a->cap / 2 : 4;
	uint64_t room = a->room ? a->room + a->room / 2 : 64;
	struct addr_at *entry;
	char *text;

	if (a->n == a->cap) {
		entry = realloc(a->entry, cap * sizeof(*entry));
		if (!entry)
			return -ENOMEM;
		a->entry = entry;
		a->cap = cap;
	}
	if (len <= a->room - a->len)
		return 0;
	if (room < a->len + len)
		room = a->len + len;
	text = room > UINT32_MAX ? NULL : realloc(a->text, room);
	if (!text)
		return -ENOMEM;
	a->text = text;
	a->room = (uint32_t)room;
	return 0;
}

int addrs_add(struct addrs *a, uint32_t rank, const char *addr)
{
	size_t len = strlen(addr) + 1;
	int err = room_for(a, len);

	if (err)
		return err;
	memcpy(a->text + a->len, addr, len);
	a->entry[a->n].rank = rank;
	a->entry[a->n++].at = a->len;
	a->len += (uint32_t)len;
	return 0;
}

const char *addrs_find(const struct addrs *a, uint32_t rank)
{
	uint32_t lo = 0, hi = a->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (a->entry[mid].rank == rank)
			return a->text + a->entry[mid].at;
		if (a->entry[mid].rank < rank)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

void addrs_free(struct addrs *a)
{
	free(a->entry);
	free(a->text);
	memset(a, 0, sizeof(*a));
}

ssize_t addrs_put(const struct addrs *a, const uint8_t group[DDIO_GROUP_ID_LEN], uint32_t size,
		  size_t before, uint8_t **buf)
{
	struct ddio_msg_group_table table = { .size = size, .n = a->n };
	ssize_t len = -ENOMEM;
	uint32_t i;

	*buf = NULL;
	memcpy(table.group, group, sizeof(table.group));
	table.entry = calloc(a->n ? a->n : 1, sizeof(*table.entry));
	for (i = 0; table.entry && i < a->n; i++) {
		table.entry[i].rank = a->entry[i].rank;
		snprintf(table.entry[i].addr, sizeof(table.entry[i].addr), "%s",
			 a->text + a->entry[i].at);
	}
	if (table.entry)
		len = ddio_put_group_table(NULL, 0, &table);
	if (len >= 0)
		*buf = malloc(before + (size_t)len);
	if (*buf)
		ddio_put_group_table(*buf + before, (size_t)len, &table);
	else if (len >= 0)
		len = -ENOMEM;
	free(table.entry);
	return len < 0 ? len : (ssize_t)before + len;
}

bool addrs_suffice(const struct addrs *a, uint32_t rank, uint32_t size)
{
	uint32_t near[NEAR_MAX], n = addrs_near(rank, size, near);

	while (n--)
		if (!addrs_find(a, near[n]))
			return false;
	return true;
}
