// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs between compute processes. */
#include <stdlib.h>
#include "proto/codec.h"

enum { ADDR_MIN = 6 };

static inline void code_group_join(struct ddio_coder *c, struct ddio_msg_group_join *x)
{
	code_bytes(c, x->group, sizeof(x->group));
	code_u32(c, &x->rank);
	code_u32(c, &x->size);
	code_str(c, x->addr, sizeof(x->addr));
	check_member(c, x->rank, x->size);
}
CODEC(group_join, ddio_msg_group_join)

static inline void code_addr(struct ddio_coder *c, struct ddio_group_addr *x)
{
	code_u32(c, &x->rank);
	code_str(c, x->addr, sizeof(x->addr));
}

/*
 * Addresses are short on the wire and wide in memory: checks all of them before
 * room for any is allocated.  No rank may come twice.
 */
static int check_addrs(struct ddio_coder c, uint32_t n, uint32_t size)
{
	struct ddio_group_addr x;
	uint32_t i, next = 0;

	for (i = 0; i < n && coder_ok(&c); i++, next = x.rank + 1) {
		code_addr(&c, &x);
		code_check(&c, x.rank >= next && x.rank < size, -EINVAL);
	}
	return ddio_rd_end(&c.r);
}

static void alloc_addrs(struct ddio_coder *c, struct ddio_msg_group_table *x)
{
	int err;

	if (ddio_rd_fits(&c->r, x->n, ADDR_MIN)) {
		err = check_addrs(*c, x->n, x->size);
		code_check(c, !err, err);
	}
	x->entry = code_alloc(c, x->n, sizeof(*x->entry), ADDR_MIN);
}

static inline void code_group_table(struct ddio_coder *c, struct ddio_msg_group_table *x)
{
	uint32_t i;

	code_bytes(c, x->group, sizeof(x->group));
	code_u32(c, &x->size);
	code_u32(c, &x->n);
	code_check(c, x->n > 0 && x->n <= x->size, -EINVAL);
	code_check(c, x->size <= DDIO_MAX_MEMBERS, -EMSGSIZE);
	if (c->reading)
		alloc_addrs(c, x);
	for (i = 0; i < x->n && coder_ok(c); i++)
		code_addr(c, &x->entry[i]);
}

static void release_table(struct ddio_msg_group_table *x)
{
	free(x->entry);
	x->entry = NULL;
	x->n = 0;
}
CODEC_OWNING(group_table, ddio_msg_group_table, release_table)

static inline void code_fan_head(struct ddio_coder *c, struct ddio_msg_fan *x)
{
	code_bytes(c, x->group, sizeof(x->group));
	code_u64(c, &x->seq);
	code_u32(c, &x->kind);
	code_u32(c, &x->rank);
	code_u32(c, &x->status);
	code_u32(c, &x->blame);
	code_u64(c, &x->len);
	code_str(c, x->text, sizeof(x->text));
	code_check(c, x->status < DDIO_ST_MAX, -EINVAL);
	code_check(c, x->rank < DDIO_MAX_MEMBERS, -EMSGSIZE);
}
CODEC_PUT(fan_head, ddio_msg_fan)

static inline void code_fan(struct ddio_coder *c, struct ddio_msg_fan *x)
{
	code_fan_head(c, x);
	code_outside(c, &x->data, x->len);
}
CODEC(fan, ddio_msg_fan)

static inline void code_exchange(struct ddio_coder *c, struct ddio_msg_exchange *x)
{
	code_bytes(c, x->group, sizeof(x->group));
	code_u64(c, &x->op);
	code_u64(c, &x->lo);
	code_u64(c, &x->hi);
	code_u32(c, &x->rank);
	code_reserved(c, &x->reserved);
	code_check(c, x->lo <= x->hi, -EINVAL);
	code_check(c, x->hi <= DDIO_MAX_FILE && x->rank < DDIO_MAX_MEMBERS, -EMSGSIZE);
}
CODEC(exchange, ddio_msg_exchange)

static inline void code_counter(struct ddio_coder *c, struct ddio_msg_counter *x)
{
	code_bytes(c, x->group, sizeof(x->group));
	code_u64(c, &x->counter);
	code_u64(c, &x->number);
	code_u64(c, &x->value);
	code_u32(c, &x->rank);
	code_u32(c, &x->action);
	code_u32(c, &x->status);
	code_reserved(c, &x->reserved);
	code_check(c, x->action > 0 && x->action < DDIO_COUNTER_MAX, -EINVAL);
	code_check(c, x->status < DDIO_ST_MAX, -EINVAL);
	code_check(c, x->rank < DDIO_MAX_MEMBERS, -EMSGSIZE);
}
CODEC(counter, ddio_msg_counter)
