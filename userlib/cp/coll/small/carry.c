// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the tree carries of a small transfer.  Up: each member's data, packed.  Down, the verdict: the file's size, the
 * incarnation of the name server, and of each disk written to that of its node, which a later sync of any member must
 * meet; then each member's data.  A member passes on what is for those below it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cp/coll/agree.h"
#include "cp/coll/carry.h"
#include "cp/coll/small/priv.h"
#include "cp/group/fan/fan.h"

/* At rank 0, which knows the whole. */
static uint64_t due_of(const struct ddio_op *op, uint32_t rank)
{
	return op->writing ? ddio_map_put_size(op->whole, rank, 0, DDIO_MAX_FILE)
			   : ddio_map_msg_size(op->whole, rank, 0, DDIO_MAX_FILE);
}

static void charge_copy(const struct ddio_op *op, uint64_t bytes)
{
	ddio_env_charge(op->session->env, DDIO_WORK_COPY, bytes);
}

/*
 * Up
 */
uint8_t *small_own_put(struct ddio_op *op, size_t *len)
{
	uint64_t due = op_due(op);
	uint8_t *own = due ? malloc(due) : NULL;

	*len = own ? due : 0;
	if (own) {
		ddio_memmap_pack(op->memmap, 0, DDIO_MAX_FILE, true, own, op->buf);
		charge_copy(op, due);
	} else if (due) {
		error_set(&op->failed, -ENOMEM, "out of memory");
	}
	return own;
}

/* Finds each member's data.  Return: 0, or -EPROTO if they are not what the array says. */
static int gathered_find(const struct ddio_op *op, const void **msg)
{
	const void *data;
	size_t at = 0, len;
	uint32_t rank, r;

	for (r = 0; r < op->crowd.ncarried; r++)
		msg[op->crowd.carried[r].rank] = op->crowd.carried[r].bytes;
	if (op->carried)
		return 0;
	while (fan_gathered(op->fan, &at, &rank, &data, &len)) {
		if (rank >= op->nprocs || msg[rank] || len != due_of(op, rank))
			return -EPROTO;
		msg[rank] = data;
	}
	for (r = 0; r < op->nprocs; r++)
		if (!msg[r] && due_of(op, r))
			return -EPROTO;
	return 0;
}

int small_gather(struct small_op *sm)
{
	struct ddio_op *op = sm->op;
	const void **msg = calloc(op->nprocs, sizeof(*msg));
	int err = msg ? gathered_find(op, msg) : -ENOMEM;

	if (!err) {
		ddio_map_unpack(op->whole, op->lo, op->hi, sm->block, msg);
		charge_copy(op, op->hi - op->lo);
	} else {
		error_set(&sm->error, err, "write of %s: the members' data: %s", op->file->rec.name,
			  strerror(-err));
	}
	free(msg);
	return err;
}

/*
 * Down
 */
static const struct cluster_node *stripe_node(const struct ddio_file *file, uint32_t i)
{
	return disk_node_look(file->session, file->rec.disks[i]);
}

uint64_t *small_boots(const struct ddio_file *file)
{
	uint64_t *boot = calloc(file->rec.ndisks, sizeof(*boot));
	uint32_t i;

	for (i = 0; boot && i < file->rec.ndisks; i++)
		if (stripe_node(file, i)->known)
			boot[i] = stripe_node(file, i)->boot;
	return boot;
}

/* Returns how many disks of the stripe the range has blocks on; @first is the first of them. */
static uint32_t disks_reached(const struct ddio_op *op, uint32_t *first)
{
	const struct ddio_file_record *rec = &op->file->rec;
	uint64_t b = op->lo / rec->ref.block, n = (op->hi - 1) / rec->ref.block - b + 1;

	*first = (uint32_t)(b % rec->ndisks);
	return n < rec->ndisks ? (uint32_t)n : rec->ndisks;
}

/* Of a node that was not known before, the one that has answered since. */
static uint8_t *boots_put(const struct small_op *sm, uint8_t *p, uint32_t n, uint32_t first)
{
	const struct ddio_file *file = sm->op->file;
	uint32_t k, i;

	bytes_put32(p, n);
	for (k = 0, p += 4; k < n; k++, p += CARRY_BOOT) {
		i = (first + k) % file->rec.ndisks;
		bytes_put32(p, i);
		bytes_put64(p + 4, sm->boot[i] ? sm->boot[i] : stripe_node(file, i)->boot);
	}
	return p;
}

/* Puts each member's data behind @p, or only adds up their lengths if @p is NULL. */
static size_t entries_put(const struct small_op *sm, uint8_t *p, void **msg)
{
	const struct ddio_op *op = sm->op;
	size_t all = 0, len;
	uint32_t r;

	for (r = 0; r < op->nprocs; r++) {
		len = due_of(op, r);
		if (!len)
			continue;
		if (p) {
			bytes_put32(p + all, r);
			bytes_put32(p + all + 4, (uint32_t)len);
			msg[r] = p + all + CARRY_ENTRY;
		}
		all += CARRY_ENTRY + len;
	}
	if (p) {
		ddio_map_pack(op->whole, sm->range.at, sm->range.end, sm->block, msg);
		charge_copy(op, all);
	}
	return all;
}

uint8_t *small_verdict_put(const struct small_op *sm, size_t *len)
{
	const struct ddio_op *op = sm->op;
	void **msg = calloc(op->nprocs, sizeof(*msg));
	uint32_t first = 0, n = op->writing ? disks_reached(op, &first) : 0;
	size_t mark = carry_mark_put(op, NULL);
	uint8_t *buf, *p;

	*len = mark + CARRY_HEAD + CARRY_BOOT * (size_t)n +
	       (op->writing ? 0 : entries_put(sm, NULL, NULL));
	buf = msg ? malloc(*len) : NULL;
	if (buf) {
		p = buf + carry_mark_put(op, buf);
		bytes_put64(p, op->file_size);
		bytes_put64(p + 8, names_lane(op->session)->node->boot);
		p = boots_put(sm, p + 16, n, first);
		if (!op->writing)
			entries_put(sm, p, msg);
	}
	free(msg);
	return buf;
}

static int boots_take(struct ddio_file *file, uint64_t names, const uint8_t *p, uint32_t n)
{
	uint32_t k, i;

	for (k = 0; k < n; k++, p += CARRY_BOOT) {
		i = bytes_get32(p);
		if (i >= file->rec.ndisks)
			return -EPROTO;
		incarnation_told(file, i, bytes_get64(p + 4));
	}
	incarnation_told_names(file, names);
	return 0;
}

static int own_take(struct ddio_op *op, const uint8_t *p, const uint8_t *end)
{
	uint64_t due = op_due(op);
	uint32_t rank = op->rank;
	size_t len = 0;
	const uint8_t *own = due ? carry_find(p, end, &rank, &len) : NULL;

	if (due && (!own || rank != op->rank || len != due))
		return -EPROTO;
	if (own) {
		ddio_memmap_unpack(op->memmap, 0, DDIO_MAX_FILE, own, op->buf);
		charge_copy(op, due);
	}
	return 0;
}

int small_verdict_take(struct ddio_op *op, const uint8_t *data, size_t len)
{
	size_t head = carry_head(data, len);

	if (!head)
		return -EPROTO;
	if (op->part_kind == DDIO_PART_ARRAY)
		op->whole = op->map;
	op->file_size = bytes_get64(data);
	op->file->rec.size = op->file_size;
	agreement_clip(op);
	ddio_map_bounds(op->map, &op->lo, &op->hi);
	if (op->writing)
		return boots_take(op->file, bytes_get64(data + 8), data + CARRY_HEAD,
				  bytes_get32(data + 16));
	return own_take(op, data + head, data + len);
}

void small_count(struct small_op *sm)
{
	struct ddio_op *op = sm->op;
	struct ddio_report *r = &op->report;
	const struct objio *io = &sm->range.io;
	uint32_t first;

	sm->moving = false;
	sm->iops = disks_reached(op, &first);
	r->requests = io->requests;
	r->disk_requests = io->disk_reqs;
	r->disk_read = io->disk_reqs * op->file->rec.ref.block;
	r->buffers = io->most;
	op->messages += 2 * io->requests;
}

static const struct step_kind small_kinds[] = {
	{ .kind = FAN_KIND_SMALL,
	  .name = "a small collective transfer",
	  .explain = agree_explain,
	  .slice = carry_slice },
	{ .kind = 0 },
};

const struct group_user small_group_user = { .kinds = small_kinds };
