// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Small transfers of views, strided and listed parts.  No member knows the others' shares, so none knows whether a transfer is small.
 * A member that may think so gives what it would write with its description, and rank 0, which has all of them then, chooses: it makes
 * the transfer as the method for small ones does, and its verdict on the start is the end; or the transfer goes on as any other, and
 * the data that were given are not used.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cp/coll/carry.h"

/* Longer descriptions are better told as what differs from earlier ones, which what carries data is not. */
enum { CARRY_PART = 1024 };

/* Where it is of no use, one write in at most so many is tried: two to this power. */
enum { CARRY_RARE = 6 };

/* In place of the file's size, which it cannot be. */
enum { MARK_LEN = 8 };

void carry_look(struct ddio_op *op)
{
	uint64_t most = op->writing ? SMALL_BYTES / op->nprocs : SMALL_BYTES;

	op->may_carry =
		op->group && op->part_kind != DDIO_PART_ARRAY && op_is_dd(op) &&
		op->nprocs <= SMALL_MEMBERS && op->share <= most && op->part_len <= CARRY_PART &&
		!(op->flags & ~(DDIO_XFER_SHORT | DDIO_XFER_NO_SCATTER | DDIO_XFER_OVERLAP));
}

/*
 * Data that were given for nothing cost a copy or two.  All members hear the same verdicts on a file, so those that were wrong try
 * again together: at the numbers whose hash is small, fewer of them the more often it was for nothing.
 */
static bool worth_trying(const struct ddio_file *file)
{
	return file->carry_number * 0x9e3779b1u >> (32 - CARRY_RARE) < 1u << CARRY_RARE >>
	       file->carry_vain;
}

void carry_learn(struct ddio_op *op, const struct error *error, const void *data, size_t len)
{
	struct ddio_file *file = op->file;

	if (!op->writing || error->status)
		return;
	file->carry_number++;
	if (carry_mark(data, len))
		file->carry_vain = 0;
	else if (op->carried && file->carry_vain < CARRY_RARE)
		file->carry_vain++;
}

/* Returns false without memory. */
static bool own_take(struct ddio_op *op, struct ddio_crowd *crowd, struct ddio_carried *own)
{
	uint64_t due = op->writing ? op_due(op) : 0;
	void *bytes;

	crowd->carries = true;
	if (!due)
		return true;
	bytes = malloc(due);
	if (!bytes)
		return false;
	ddio_memmap_pack(op->memmap, 0, DDIO_MAX_FILE, true, bytes, op->buf);
	ddio_env_charge(op->session->env, DDIO_WORK_COPY, due);
	*own = (struct ddio_carried){ op->rank, (uint32_t)due, bytes };
	crowd->carried = own;
	crowd->ncarried = 1;
	return true;
}

static uint8_t *crowd_put(const struct ddio_crowd *crowd, size_t *len)
{
	ssize_t n = ddio_put_crowd(NULL, 0, crowd);
	uint8_t *buf = n > 0 ? malloc((size_t)n) : NULL;

	if (buf)
		ddio_put_crowd(buf, (size_t)n, crowd);
	*len = buf ? (size_t)n : 0;
	return buf;
}

uint8_t *carry_put(struct ddio_op *op, size_t *len)
{
	struct ddio_carried own = { 0 };
	struct ddio_crowd crowd;
	uint8_t *buf = NULL;

	if (!op->may_carry || op->failed.status || (op->writing && !worth_trying(op->file)) ||
	    ddio_get_crowd(op->part, op->part_len, &crowd))
		return NULL;
	if (own_take(op, &crowd, &own))
		buf = crowd_put(&crowd, len);
	free((void *)own.bytes);
	ddio_crowd_free(&crowd);
	op->carried = buf;
	return buf;
}

void carry_pass(struct ddio_crowd *crowd)
{
	if (crowd->spread & DDIO_CROWD_SPREAD)
		crowd->carries = false;
	if (!crowd->carries)
		crowd->ncarried = 0;
}

/* Returns true if the members' data are as long as what each of them writes. */
static bool data_fit(const struct ddio_op *op)
{
	const struct ddio_crowd *crowd = &op->crowd;
	uint64_t due, all = 0;
	uint32_t r, k = 0;

	for (r = 0; r < op->nprocs && all <= SMALL_BYTES; r++) {
		due = op->writing ? ddio_map_put_size(op->whole, r, 0, DDIO_MAX_FILE)
				  : ddio_map_msg_size(op->whole, r, 0, DDIO_MAX_FILE);
		all += due;
		if (!op->writing || !due)
			continue;
		if (k == crowd->ncarried || crowd->carried[k].rank != r ||
		    crowd->carried[k].len != due)
			return false;
		k++;
	}
	return all <= SMALL_BYTES && k == crowd->ncarried;
}

bool carry_fits(const struct ddio_op *op)
{
	uint64_t lo, hi;

	ddio_map_bounds(op->whole, &lo, &hi);
	if (lo == hi || hi - lo > SMALL_BYTES || hi > DDIO_MAX_FILE)
		return false;
	/* Nothing that nobody writes is written; and nobody's bytes are left out. */
	if (op->writing && (ddio_map_covered(op->whole, lo, hi) != hi - lo ||
			    (op_yields(op) && ddio_map_claims(op->whole))))
		return false;
	return data_fit(op);
}

const uint8_t *carry_find(const uint8_t *p, const uint8_t *end, uint32_t *rank, size_t *len)
{
	for (; end - p >= CARRY_ENTRY; p += CARRY_ENTRY + *len) {
		*len = bytes_get32(p + 4);
		if (*len > (size_t)(end - p) - CARRY_ENTRY)
			return NULL;
		if (bytes_get32(p) < *rank)
			continue;
		*rank = bytes_get32(p);
		return p + CARRY_ENTRY;
	}
	return NULL;
}

size_t carry_mark_put(const struct ddio_op *op, uint8_t *verdict)
{
	if (!op->carried)
		return 0;
	if (verdict)
		bytes_put64(verdict, UINT64_MAX);
	return MARK_LEN;
}

size_t carry_mark(const void *verdict, size_t len)
{
	return len >= MARK_LEN && bytes_get64(verdict) == UINT64_MAX ? MARK_LEN : 0;
}

size_t carry_head(const uint8_t *data, size_t len)
{
	uint32_t n = len < CARRY_HEAD ? 0 : bytes_get32(data + CARRY_HEAD - 4);

	return len < CARRY_HEAD || n > (len - CARRY_HEAD) / CARRY_BOOT
		       ? 0
		       : CARRY_HEAD + CARRY_BOOT * (size_t)n;
}

void *carry_slice(const void *verdict, size_t len, uint32_t first, uint64_t end, size_t *n)
{
	const uint8_t *data = verdict, *from, *to;
	size_t mark = carry_mark(verdict, len), head = carry_head(data + mark, len - mark), skip;
	uint32_t above = end > UINT32_MAX ? UINT32_MAX : (uint32_t)end;
	uint8_t *buf;

	if (!head || mark + head == len)
		return NULL;
	head += mark;
	from = carry_find(data + head, data + len, &first, &skip);
	to = carry_find(data + head, data + len, &above, &skip);
	from = from ? from - CARRY_ENTRY : data + len;
	to = to ? to - CARRY_ENTRY : data + len;
	*n = head + (size_t)(to - from);
	buf = malloc(*n);
	if (buf) {
		memcpy(buf, data, head);
		memcpy(buf + head, from, (size_t)(to - from));
	}
	return buf;
}

void *carry_slice_start(const void *verdict, size_t len, uint32_t first, uint64_t end, size_t *n)
{
	return carry_mark(verdict, len) ? carry_slice(verdict, len, first, end, n) : NULL;
}
