// SPDX-License-Identifier: GPL-2.0-only
/*
 * A block list from the process: copied once, each block checked against the
 * disk and the memory that it names, then grouped by disk and sorted.
 *
 * What the process writes into its list meanwhile does not matter: what was
 * checked is what is used.
 */
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "ddio_coll.h"

/* Blocks, or runs, between two looks at whether other tasks want the processor. */
#define DDIO_LIST_CHUNK 2048

/* A block is turned into its entry in place. */
static_assert(sizeof(struct ddio_block) == sizeof(struct ddio_entry));

/**
 * struct ddio_taker - a list that is being copied in
 * @ctx: whose disks and buffers it names
 * @arg: the submission
 * @list: the result
 * @disk_of: from a disk's id to its channel
 * @pin_of: from a buffer's id to its index in @list->pin
 * @last_disk: the disk found last; most lists ask for it again
 * @last_chan: its channel
 * @last_buffer: the same for buffers
 * @last_pin: its index
 * @room_disks: entries that @list->disk has room for
 * @room_pins: entries that @list->pin has room for
 * @runs: runs of all blocks so far
 * @sorted: no block so far lies before the one before it
 */
struct ddio_taker {
	struct ddio_ctx *ctx;
	struct ddio_submit *arg;
	struct ddio_block_list *list;
	struct xarray disk_of;
	struct xarray pin_of;
	u32 last_disk;
	u32 last_chan;
	u32 last_buffer;
	u32 last_pin;
	u32 room_disks;
	u32 room_pins;
	u64 runs;
	bool sorted;
};

static int ddio_list_relax(void *unused)
{
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static const struct ddio_relax ddio_relax = { .fn = ddio_list_relax };

/* Sizes may change while the disk is open: these are the submission's. */
static void ddio_take_span(struct ddio_span *span, const struct ddio_kdisk *disk)
{
	span->from = U64_MAX;
	span->bytes = bdev_nr_bytes(disk->bdev);
	span->logical = bdev_logical_block_size(disk->bdev);
	span->align = ddio_disk_align(disk);
}

static int ddio_take_new_disk(struct ddio_taker *t, u32 id)
{
	struct ddio_block_list *list = t->list;
	struct ddio_obj *obj;
	int ret;

	if (list->nr_disks == t->room_disks)
		return -EOVERFLOW;
	ret = xa_err(xa_store(&t->disk_of, id, xa_mk_value(list->nr_disks), DDIO_GFP));
	if (ret)
		return ret;
	mutex_lock(&t->ctx->lock);
	obj = ddio_ctx_get_obj(t->ctx, DDIO_OBJ_DISK, id);
	mutex_unlock(&t->ctx->lock);
	if (!obj)
		return -ENOENT;
	t->last_chan = list->nr_disks++;
	t->last_disk = id;
	list->disk[t->last_chan] = container_of(obj, struct ddio_kdisk, obj);
	ddio_take_span(&list->span[t->last_chan], list->disk[t->last_chan]);
	if (t->arg->op == DDIO_WRITE && !ddio_disk_may_write(list->disk[t->last_chan]))
		return -EACCES;
	return 0;
}

/* Finds the channel of disk @id: t->last_chan. */
static int ddio_take_disk(struct ddio_taker *t, u32 id)
{
	void *value;

	if (id == t->last_disk && id)
		return 0;
	value = xa_load(&t->disk_of, id);
	if (!value)
		return ddio_take_new_disk(t, id);
	t->last_disk = id;
	t->last_chan = xa_to_value(value);
	return 0;
}

static int ddio_take_pin_room(struct ddio_taker *t)
{
	u32 room = t->room_pins ? 2 * t->room_pins : 16;
	struct ddio_pin **pin;

	if (t->list->nr_pins < t->room_pins)
		return 0;
	pin = ddio_alloc_long(room, sizeof(*pin), false);
	if (!pin)
		return -ENOMEM;
	if (t->list->nr_pins)
		memcpy(pin, t->list->pin, t->list->nr_pins * sizeof(*pin));
	kvfree(t->list->pin);
	t->list->pin = pin;
	t->room_pins = room;
	return 0;
}

static int ddio_take_new_pin(struct ddio_taker *t, u32 id)
{
	struct ddio_block_list *list = t->list;
	struct ddio_obj *obj;
	int ret;

	ret = ddio_take_pin_room(t);
	if (ret)
		return ret;
	ret = xa_err(xa_store(&t->pin_of, id, xa_mk_value(list->nr_pins), DDIO_GFP));
	if (ret)
		return ret;
	mutex_lock(&t->ctx->lock);
	obj = ddio_ctx_get_obj(t->ctx, DDIO_OBJ_BUFFER, id);
	mutex_unlock(&t->ctx->lock);
	if (!obj)
		return -ENOENT;
	t->last_pin = list->nr_pins++;
	t->last_buffer = id;
	list->pin[t->last_pin] = container_of(obj, struct ddio_pin, obj);
	return 0;
}

/* Finds the pin of buffer @id: t->last_pin. */
static int ddio_take_pin(struct ddio_taker *t, u32 id)
{
	void *value;

	if (id == t->last_buffer && id)
		return 0;
	value = xa_load(&t->pin_of, id);
	if (!value)
		return ddio_take_new_pin(t, id);
	t->last_buffer = id;
	t->last_pin = xa_to_value(value);
	return 0;
}

static int ddio_take_place(struct ddio_taker *t, const struct ddio_block *block,
			   struct ddio_entry *entry)
{
	u32 align = t->list->span[t->last_chan].align;
	const struct ddio_pin *pin;
	int ret;

	ret = ddio_take_pin(t, block->buffer);
	if (ret)
		return ret;
	pin = t->list->pin[t->last_pin];
	if (t->arg->op == DDIO_READ && !pin->writable)
		return -EACCES;
	if (block->where > U64_MAX - block->length)
		return -EOVERFLOW;
	if (block->where + block->length > pin->length)
		return -ERANGE;
	if ((pin->at.first + block->where) & (align - 1))
		return -EINVAL;
	entry->pin = t->last_pin;
	return 0;
}

static int ddio_take_runs(struct ddio_taker *t, const struct ddio_block *block,
			  struct ddio_entry *entry)
{
	u64 nr_runs = t->list->nr_runs;
	const struct ddio_run *run;
	u32 i;
	int ret;

	if (block->first_run > U64_MAX - block->nr_runs)
		return -EOVERFLOW;
	if (block->first_run + block->nr_runs > nr_runs)
		return -ERANGE;
	t->runs += block->nr_runs;
	if (t->runs > DDIO_RUNS_MAX)
		return -EOVERFLOW;
	entry->first_run = array_index_nospec(block->first_run, nr_runs);
	run = t->list->run + entry->first_run;
	for (i = 0; i < block->nr_runs; i++) {
		if (!(i % DDIO_LIST_CHUNK) && i && ddio_list_relax(NULL))
			return -EINTR;
		ret = ddio_run_check(run + i, block->length);
		if (ret)
			return ret;
	}
	entry->nr_runs = block->nr_runs;
	return 0;
}

static int ddio_take_transfer(struct ddio_taker *t, const struct ddio_block *block,
			      struct ddio_entry *entry)
{
	const struct ddio_kdisk *disk = t->list->disk[t->last_chan];
	const struct ddio_span *span = &t->list->span[t->last_chan];
	u32 need = t->arg->op == DDIO_READ ? DDIO_ACCESS_READ : DDIO_ACCESS_WRITE;
	int ret;

	if (!(disk->access & need))
		return -EACCES;
	if (block->length > DDIO_BLOCK_LENGTH_MAX)
		return -EOVERFLOW;
	ret = ddio_block_check(block->offset, block->length, span->bytes, span->logical);
	if (ret)
		return ret;
	switch (t->arg->delivery) {
	case DDIO_PLACE:
		return ddio_take_place(t, block, entry);
	case DDIO_SCATTER:
		return ddio_take_runs(t, block, entry);
	default:
		return block->buffer ? -EINVAL : 0;
	}
}

static int ddio_take_flush(struct ddio_taker *t, const struct ddio_block *block)
{
	struct ddio_span *span = &t->list->span[t->last_chan];

	if (block->offset || block->where || block->length || block->buffer)
		return -EINVAL;
	return span->from == U64_MAX ? 0 : -EEXIST;
}

/* Only what is read has a sum beforehand. */
static int ddio_take_sum(struct ddio_taker *t, const struct ddio_block *block, u32 index)
{
	u32 *sum = t->list->sum;

	if (block->sum && (!sum || t->arg->op != DDIO_READ))
		return -EINVAL;
	if (sum)
		sum[index] = block->sum;
	return 0;
}

/* Turns the block at @entry into an entry. */
static int ddio_take_block(struct ddio_taker *t, struct ddio_entry *entry, u32 index)
{
	struct ddio_block block;
	struct ddio_span *span;
	int ret;

	memcpy(&block, entry, sizeof(block));
	ret = ddio_take_sum(t, &block, index);
	if (ret)
		return ret;
	ret = ddio_take_disk(t, block.disk);
	if (ret)
		return ret;
	entry->index = index;
	entry->chan = t->last_chan;
	entry->nr_runs = 0;
	if (t->arg->op == DDIO_FLUSH)
		ret = ddio_take_flush(t, &block);
	else
		ret = ddio_take_transfer(t, &block, entry);
	if (ret)
		return ret;

	span = &t->list->span[t->last_chan];
	span->from = min(span->from, block.offset);
	span->to = max(span->to, block.offset + block.length);
	t->list->longest = max(t->list->longest, block.length);
	if (index && block.offset < entry[-1].offset)
		t->sorted = false;
	return 0;
}

static int ddio_take_copy_runs(struct ddio_taker *t)
{
	const struct ddio_run __user *from = u64_to_user_ptr(t->arg->runs);
	struct ddio_block_list *list = t->list;
	u64 at, n;

	if (!t->arg->nr_runs)
		return 0;
	list->run = ddio_alloc_long(t->arg->nr_runs, sizeof(*list->run), false);
	if (!list->run)
		return -ENOMEM;
	list->nr_runs = t->arg->nr_runs;
	for (at = 0; at < list->nr_runs; at += n) {
		n = min_t(u64, list->nr_runs - at, DDIO_LIST_CHUNK);
		if (copy_from_user(list->run + at, from + at, n * sizeof(*from)))
			return -EFAULT;
		if (ddio_list_relax(NULL))
			return -EINTR;
	}
	return 0;
}

static int ddio_take_blocks(struct ddio_taker *t)
{
	const struct ddio_block __user *from = u64_to_user_ptr(t->arg->blocks);
	struct ddio_block_list *list = t->list;
	u64 at, i, n;
	int ret;

	for (at = 0; at < list->nr; at += n) {
		n = min_t(u64, list->nr - at, DDIO_LIST_CHUNK);
		if (copy_from_user(list->entry + at, from + at, n * sizeof(*from)))
			return -EFAULT;
		for (i = at; i < at + n; i++) {
			ret = ddio_take_block(t, list->entry + i, i);
			if (!ret)
				continue;
			if (ret != -ENOMEM && ret != -EINTR)
				t->arg->out_block = i;
			return ret;
		}
		if (ddio_list_relax(NULL))
			return -EINTR;
	}
	return 0;
}

/* Sorts each channel's entries unless their order is the caller's; looks for overlaps of writes. */
static int ddio_take_sort(struct ddio_taker *t, struct ddio_entry *spare)
{
	bool ordered = t->arg->flags & DDIO_SUBMIT_ORDERED, writing = t->arg->op == DDIO_WRITE;
	struct ddio_block_list *list = t->list;
	u64 worst = DDIO_NO_ENTRY, index;
	struct ddio_sorter *sorter;
	u32 chan;
	int ret = 0;

	if (ordered && !writing)
		return 0;
	sorter = kvmalloc(sizeof(*sorter), DDIO_GFP);
	if (!sorter)
		return -ENOMEM;
	sorter->relax = ddio_relax;
	for (chan = 0; chan < list->nr_disks && !ret; chan++) {
		struct ddio_entry *entry = list->entry + list->first[chan];
		u32 nr = list->first[chan + 1] - list->first[chan];

		if (spare)
			ret = ddio_entries_sort(entry, spare, nr, DDIO_SORT_OFFSET, sorter);
		if (ret || !writing)
			continue;
		ret = ddio_entries_overlap(entry, nr, &ddio_relax, &index);
		worst = min(worst, index);
		if (!ret && ordered && spare)
			ret = ddio_entries_sort(entry, spare, nr, DDIO_SORT_INDEX, sorter);
	}
	kvfree(sorter);
	if (!ret && worst != DDIO_NO_ENTRY) {
		t->arg->out_block = worst;
		ret = -EEXIST;
	}
	return ret;
}

/* Puts each channel's entries together, in the order in which they are to be moved. */
static int ddio_take_arrange(struct ddio_taker *t)
{
	struct ddio_block_list *list = t->list;
	struct ddio_entry *spare = NULL;
	struct ddio_charge charge = {};
	int ret = 0;

	list->first[0] = 0;
	list->first[1] = list->nr;
	if (list->nr_disks > 1 || !t->sorted) {
		ret = ddio_charge_add(&charge, list->nr * sizeof(*spare));
		if (ret)
			return ret;
		spare = ddio_alloc_long(list->nr, sizeof(*spare), false);
		if (!spare)
			ret = -ENOMEM;
	}
	if (!ret && list->nr_disks > 1) {
		ret = ddio_entries_group(list->entry, spare, list->nr, list->first, list->nr_disks,
					 &ddio_relax);
		swap(list->entry, spare);
	}
	if (!ret)
		ret = ddio_take_sort(t, spare);
	kvfree(spare);
	ddio_charge_drop(&charge);
	return ret;
}

static int ddio_take_alloc(struct ddio_taker *t)
{
	u64 sums = t->arg->flags & DDIO_SUBMIT_SUMS ? t->arg->nr_blocks : 0;
	struct ddio_block_list *list = t->list;
	u32 room = min_t(u64, t->arg->nr_blocks, DDIO_DISKS_MAX);
	int err;

	err = ddio_charge_add(&list->charge, t->arg->nr_blocks * sizeof(*list->entry) +
						     t->arg->nr_runs * sizeof(*list->run) +
						     sums * sizeof(*list->sum));
	if (err)
		return err;

	t->room_disks = room;
	list->disk = ddio_alloc_long(room, sizeof(*list->disk), true);
	list->first = ddio_alloc_long(room + 1, sizeof(*list->first), true);
	list->span = ddio_alloc_long(room, sizeof(*list->span), true);
	list->nr = t->arg->nr_blocks;
	list->entry = ddio_alloc_long(list->nr, sizeof(*list->entry), false);
	if (sums)
		list->sum = ddio_alloc_long(sums, sizeof(*list->sum), true);
	if (!list->disk || !list->first || !list->span || !list->entry || (sums && !list->sum))
		return -ENOMEM;
	return 0;
}

/*
 * Asks security modules, which have a say in reads and writes of files.  Fanotify would be asked,
 * too, but has no events of devices.
 */
static int ddio_take_permission(const struct ddio_taker *t)
{
	const struct ddio_block_list *list = t->list;
	int op = t->arg->op == DDIO_READ ? READ : WRITE;
	const struct ddio_span *span;
	loff_t from;
	u32 i;
	int ret;

	for (i = 0; i < list->nr_disks && t->arg->op != DDIO_FLUSH; i++) {
		span = &list->span[i];
		from = span->from;
		ret = rw_verify_area(op, list->disk[i]->file, &from,
				     min_t(u64, span->to - span->from, MAX_RW_COUNT));
		if (ret < 0)
			return ret;
	}
	return 0;
}

/**
 * ddio_list_take - copy a list from the process, check and sort it
 * @ctx: whose disks and buffers it names
 * @arg: the submission; @arg->out_block is set where a block is to blame
 * @list: all zero; filled in
 *
 * Return: 0 or an errno of the interface; then @list is empty
 */
int ddio_list_take(struct ddio_ctx *ctx, struct ddio_submit *arg, struct ddio_block_list *list)
{
	struct ddio_taker t = { .ctx = ctx, .arg = arg, .list = list, .sorted = true };
	int ret;

	if (!arg->nr_blocks)
		return -EINVAL;
	if (arg->nr_blocks > DDIO_LIST_MAX || arg->nr_runs > DDIO_RUNS_MAX)
		return -EOVERFLOW;
	xa_init(&t.disk_of);
	xa_init(&t.pin_of);
	ret = ddio_take_alloc(&t);
	if (!ret)
		ret = ddio_take_copy_runs(&t);
	if (!ret)
		ret = ddio_take_blocks(&t);
	if (!ret)
		ret = ddio_take_permission(&t);
	if (!ret)
		ret = ddio_take_arrange(&t);
	if (ret)
		ddio_list_drop(list);
	xa_destroy(&t.pin_of);
	xa_destroy(&t.disk_of);
	return ret;
}

/**
 * ddio_list_drop - give back what a list holds, and empty it
 * @list: all zero, or filled in by ddio_list_take()
 */
void ddio_list_drop(struct ddio_block_list *list)
{
	u32 i;

	for (i = 0; i < list->nr_disks; i++)
		ddio_obj_put(&list->disk[i]->obj);
	for (i = 0; i < list->nr_pins; i++)
		ddio_obj_put(&list->pin[i]->obj);
	for (i = 0; i < list->nr_members; i++)
		if (list->member[i])
			ddio_obj_put(&list->member[i]->obj);
	kvfree(list->sum);
	kvfree(list->member);
	kvfree(list->run);
	kvfree(list->pin);
	kvfree(list->span);
	kvfree(list->first);
	kvfree(list->disk);
	kvfree(list->entry);
	ddio_charge_drop(&list->charge);
	memset(list, 0, sizeof(*list));
}
