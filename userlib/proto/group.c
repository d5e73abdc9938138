// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs between compute processes. */
#include <stdlib.h>
#include "proto/codec.h"

enum { ADDR_MIN = 6 };

ssize_t ddio_put_group_join(void *buf, size_t cap, const struct ddio_msg_group_join *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_bytes(&w, x->group, sizeof(x->group));
	ddio_wr_u32(&w, x->rank);
	ddio_wr_u32(&w, x->size);
	ddio_wr_str(&w, x->addr, sizeof(x->addr));
	return ddio_wr_end(&w);
}

int ddio_get_group_join(const void *buf, size_t len, struct ddio_msg_group_join *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_bytes(&r, x->group, sizeof(x->group));
	x->rank = ddio_rd_u32(&r);
	x->size = ddio_rd_u32(&r);
	ddio_rd_str(&r, x->addr, sizeof(x->addr));
	ddio_rd_member(&r, x->rank, x->size);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_group_table(void *buf, size_t cap, const struct ddio_msg_group_table *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);
	uint32_t i;

	ddio_wr_bytes(&w, x->group, sizeof(x->group));
	ddio_wr_u32(&w, x->size);
	ddio_wr_u32(&w, x->n);
	for (i = 0; i < x->n; i++) {
		ddio_wr_u32(&w, x->entry[i].rank);
		ddio_wr_str(&w, x->entry[i].addr, sizeof(x->entry[i].addr));
	}
	return ddio_wr_end(&w);
}

/* No rank twice: @next is the first that may come. */
static void get_group_addr(struct ddio_rd *r, struct ddio_group_addr *x, uint32_t next,
			   uint32_t size)
{
	x->rank = ddio_rd_u32(r);
	ddio_rd_str(r, x->addr, sizeof(x->addr));
	ddio_rd_check(r, x->rank >= next && x->rank < size, -EINVAL);
}

/* Addresses are short on the wire and wide in memory: all are checked before any is kept. */
static int check_addrs(struct ddio_rd r, uint32_t n, uint32_t size)
{
	struct ddio_group_addr x;
	uint32_t i, next = 0;

	for (i = 0; i < n && !r.err; i++, next = x.rank + 1)
		get_group_addr(&r, &x, next, size);
	return ddio_rd_end(&r);
}

int ddio_get_group_table(const void *buf, size_t len, struct ddio_msg_group_table *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	uint32_t i;
	int err;

	x->entry = NULL;
	ddio_rd_bytes(&r, x->group, sizeof(x->group));
	x->size = ddio_rd_u32(&r);
	x->n = ddio_rd_u32(&r);
	ddio_rd_check(&r, x->n > 0 && x->n <= x->size, -EINVAL);
	ddio_rd_check(&r, x->size <= DDIO_MAX_MEMBERS, -EMSGSIZE);
	if (ddio_rd_fits(&r, x->n, ADDR_MIN)) {
		err = check_addrs(r, x->n, x->size);
		ddio_rd_check(&r, !err, err);
		x->entry = ddio_rd_alloc(&r, x->n, sizeof(*x->entry));
	}
	for (i = 0; i < x->n && !r.err; i++)
		get_group_addr(&r, &x->entry[i], 0, x->size);
	err = ddio_rd_end(&r);
	if (err) {
		free(x->entry);
		x->entry = NULL;
		x->n = 0;
	}
	return err;
}

ssize_t ddio_put_fan(void *buf, size_t cap, const struct ddio_msg_fan *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_bytes(&w, x->group, sizeof(x->group));
	ddio_wr_u64(&w, x->seq);
	ddio_wr_u32(&w, x->kind);
	ddio_wr_u32(&w, x->rank);
	ddio_wr_u32(&w, x->status);
	ddio_wr_u32(&w, x->blame);
	ddio_wr_u64(&w, x->len);
	ddio_wr_str(&w, x->text, sizeof(x->text));
	ddio_wr_bytes(&w, x->data, x->len);
	return ddio_wr_end(&w);
}

int ddio_get_fan(const void *buf, size_t len, struct ddio_msg_fan *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_bytes(&r, x->group, sizeof(x->group));
	x->seq = ddio_rd_u64(&r);
	x->kind = ddio_rd_u32(&r);
	x->rank = ddio_rd_u32(&r);
	x->status = ddio_rd_u32(&r);
	x->blame = ddio_rd_u32(&r);
	x->len = ddio_rd_u64(&r);
	ddio_rd_str(&r, x->text, sizeof(x->text));
	ddio_rd_check(&r, x->status < DDIO_ST_MAX, -EINVAL);
	ddio_rd_check(&r, x->rank < DDIO_MAX_MEMBERS, -EMSGSIZE);
	x->data = ddio_rd_room(&r, x->len);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_exchange(void *buf, size_t cap, const struct ddio_msg_exchange *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_bytes(&w, x->group, sizeof(x->group));
	ddio_wr_u64(&w, x->op);
	ddio_wr_u64(&w, x->lo);
	ddio_wr_u64(&w, x->hi);
	ddio_wr_u32(&w, x->rank);
	ddio_wr_u32(&w, x->reserved);
	return ddio_wr_end(&w);
}

int ddio_get_exchange(const void *buf, size_t len, struct ddio_msg_exchange *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_bytes(&r, x->group, sizeof(x->group));
	x->op = ddio_rd_u64(&r);
	x->lo = ddio_rd_u64(&r);
	x->hi = ddio_rd_u64(&r);
	x->rank = ddio_rd_u32(&r);
	x->reserved = 0;
	ddio_rd_reserved(&r);
	ddio_rd_check(&r, x->lo <= x->hi, -EINVAL);
	ddio_rd_check(&r, x->hi <= DDIO_MAX_FILE && x->rank < DDIO_MAX_MEMBERS, -EMSGSIZE);
	return ddio_rd_end(&r);
}
