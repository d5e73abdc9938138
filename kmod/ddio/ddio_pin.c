// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pinned memory: buffers, and the memory that members give to a joint.
 *
 * Pages are pinned for long, in chunks, after they have been charged to the user
 * (ddio_charge.c).  At first there is one piece per page.  If all of
 * the memory is made of huge pages of one size, each of these becomes one piece: the
 * list is shorter, and so are the bios' lists of vectors.  The memory may begin and end
 * within a huge page, so the first piece is not pinned from its beginning.
 */
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ddio_dispatch.h"
#include "ddio_priv.h"

/* Pages pinned or released between two looks at whether to stop. */
#define DDIO_PIN_CHUNK 512U

/* The most pages that an array of them can have. */
#define DDIO_PIN_PAGES_MAX (INT_MAX / sizeof(struct page *))

static int ddio_pin_account(struct ddio_pin *pin)
{
	int err = ddio_charge_add(&pin->charge, pin->nr_pages << PAGE_SHIFT);

	if (err)
		return err;
	atomic64_add(pin->nr_pages, &pin->mm->pinned_vm);
	atomic64_add(pin->nr_pages, &ddio_live.pinned_pages);
	return 0;
}

static void ddio_pin_unaccount(struct ddio_pin *pin)
{
	atomic64_sub(pin->nr_pages, &pin->mm->pinned_vm);
	atomic64_sub(pin->nr_pages, &ddio_live.pinned_pages);
	ddio_charge_drop(&pin->charge);
}

static void ddio_pin_release_pages(struct page **page, u64 nr, bool dirty)
{
	u64 done;
	u32 n;

	for (done = 0; done < nr; done += n) {
		n = min_t(u64, nr - done, DDIO_PIN_CHUNK);
		unpin_user_pages_dirty_lock(page + done, n, dirty);
		cond_resched();
	}
}

static long ddio_pin_chunk(unsigned long address, u32 nr, bool writable, struct page **page)
{
	long got;

	if (writable)
		return pin_user_pages_fast(address, nr, FOLL_LONGTERM | FOLL_WRITE, page);
	got = pin_user_pages_fast(address, nr, FOLL_LONGTERM | DDIO_FOLL_READ, page);
	/* A shared mapping that is not writable cannot be made private, and need not be. */
	if (got <= 0 && DDIO_FOLL_READ)
		got = pin_user_pages_fast(address, nr, FOLL_LONGTERM, page);
	return got;
}

/* Two errors of pinning keep their meaning; any other is memory that cannot be pinned. */
static int ddio_pin_error(long got)
{
	return got == -ENOMEM || got == -EINTR ? got : -EFAULT;
}

/* Pins the pages into pin->piece; on failure nothing stays pinned. */
static int ddio_pin_pages(struct ddio_pin *pin, unsigned long address)
{
	u64 done = 0;
	long got;
	int err;

	while (done < pin->nr_pages) {
		got = ddio_pin_chunk(address + (done << PAGE_SHIFT),
				     min_t(u64, pin->nr_pages - done, DDIO_PIN_CHUNK),
				     pin->writable, pin->piece + done);
		if (got <= 0) {
			err = ddio_pin_error(got);
			goto release;
		}
		done += got;
		if (pin->writable && !ddio_pages_may_be_pinned(pin->piece + done - got, got)) {
			err = -EFAULT;
			goto release;
		}
		cond_resched();
		if (fatal_signal_pending(current)) {
			err = -EINTR;
			goto release;
		}
	}
	return 0;

release:
	ddio_pin_release_pages(pin->piece, done, false);
	return err;
}

static unsigned long ddio_page_index(struct folio *folio, struct page *page)
{
	return page_to_pfn(page) - folio_pfn(folio);
}

/*
 * Returns true if all of the memory is made of folios of one size, larger than a page, each used
 * from its beginning to its end but for the first and the last.
 */
static bool ddio_pin_is_huge(const struct ddio_pin *pin)
{
	struct folio *folio = page_folio(pin->piece[0]);
	unsigned long nr = folio_nr_pages(folio);
	unsigned long at = ddio_page_index(folio, pin->piece[0]);
	u64 i;

	if (nr == 1)
		return false;
	for (i = 1; i < pin->nr_pages; i++) {
		at++;
		if (at == nr) {
			at = 0;
			folio = page_folio(pin->piece[i]);
			if (folio_nr_pages(folio) != nr)
				return false;
		}
		if (pin->piece[i] != folio_page(folio, at))
			return false;
		if (i % DDIO_PIN_CHUNK == 0)
			cond_resched();
	}
	return true;
}

/* Makes each huge page one piece, where it can; otherwise leaves one piece per page. */
static void ddio_pin_coalesce(struct ddio_pin *pin)
{
	struct folio *folio = page_folio(pin->piece[0]);
	struct ddio_pieces at = { .shift = folio_shift(folio) };
	struct page **piece;
	u64 nr, i;

	if (!ddio_pin_is_huge(pin))
		return;
	at.first = ((u64)ddio_page_index(folio, pin->piece[0]) << PAGE_SHIFT) + pin->at.first;
	nr = ddio_pieces_count(&at, pin->length);
	piece = ddio_alloc_long(nr, sizeof(*piece), false);
	if (!piece)
		return;
	piece[0] = folio_page(folio, 0);
	for (i = 1; i < nr; i++)
		piece[i] = pin->piece[(i << (at.shift - PAGE_SHIFT)) - (at.first >> PAGE_SHIFT)];
	kvfree(pin->piece);
	pin->piece = piece;
	pin->nr_pieces = nr;
	pin->at = at;
}

static void ddio_pin_release(struct ddio_pin *pin)
{
	bool dirty = pin->writable && READ_ONCE(pin->dirty);
	u64 offset = 0;
	struct bio_vec bv;
	u32 length;

	if (pin->at.shift == PAGE_SHIFT) {
		ddio_pin_release_pages(pin->piece, pin->nr_pages, dirty);
		return;
	}
	while (offset < pin->length) {
		length = ddio_pieces_step(&pin->at, offset, pin->length, SZ_1G, PAGE_SIZE);
		ddio_pin_at(pin, offset, length, &bv);
		unpin_user_page_range_dirty_lock(
			bv.bv_page, PAGE_ALIGN(bv.bv_offset + length) >> PAGE_SHIFT, dirty);
		offset += length;
		cond_resched();
	}
}

static void ddio_pin_free(struct ddio_obj *obj)
{
	struct ddio_pin *pin = container_of(obj, struct ddio_pin, obj);

	if (is_vmalloc_addr(pin->vaddr))
		vunmap((void *)((unsigned long)pin->vaddr & PAGE_MASK));
	ddio_pin_release(pin);
	kvfree(pin->piece);
	ddio_pin_unaccount(pin);
	mmdrop(pin->mm);
	kfree(pin);
	atomic64_dec(&ddio_live.pins);
}

static void ddio_pin_show(struct seq_file *seq, struct ddio_obj *obj)
{
	struct ddio_pin *pin = container_of(obj, struct ddio_pin, obj);

	seq_printf(seq, "%u %s bytes %llu pages %llu piece %llu users %u\n", obj->id,
		   pin->writable ? "rw" : "r", pin->length, pin->nr_pages, 1ULL << pin->at.shift,
		   kref_read(&obj->ref) - 1);
}

static const struct ddio_obj_ops ddio_pin_ops = {
	.type = DDIO_OBJ_BUFFER,
	.free = ddio_pin_free,
	.show = ddio_pin_show,
};

static struct ddio_pin *ddio_pin_alloc(u64 address, u64 length, bool writable)
{
	struct ddio_pin *pin = kzalloc(sizeof(*pin), DDIO_GFP);

	if (!pin)
		return NULL;
	kref_init(&pin->obj.ref);
	pin->obj.ops = &ddio_pin_ops;
	pin->at.first = offset_in_page(address);
	pin->at.shift = PAGE_SHIFT;
	pin->length = length;
	pin->nr_pages = ddio_pieces_count(&pin->at, length);
	pin->nr_pieces = pin->nr_pages;
	pin->writable = writable;
	pin->mm = current->mm;
	mmgrab(pin->mm);
	return pin;
}

/* The end is rounded up to a page, which must not overflow either. */
static int ddio_pin_check(u64 address, u64 length)
{
	u64 end;

	if (!length)
		return -EINVAL;
	if (check_add_overflow(address, length, &end) || end > U64_MAX - PAGE_SIZE)
		return -EOVERFLOW;
	if (end > ULONG_MAX || !access_ok((void __user *)(unsigned long)address, length))
		return -EFAULT;
	if (length >> PAGE_SHIFT > DDIO_PIN_PAGES_MAX - 2)
		return -EOVERFLOW;
	return 0;
}

struct ddio_pin *ddio_pin_new(u64 address, u64 length, bool writable)
{
	struct ddio_pin *pin;
	int err;

	err = ddio_pin_check(address, length);
	if (err)
		return ERR_PTR(err);
	pin = ddio_pin_alloc(address, length, writable);
	if (!pin)
		return ERR_PTR(-ENOMEM);
	err = ddio_pin_account(pin);
	if (err)
		goto free_pin;
	err = -ENOMEM;
	pin->piece = ddio_alloc_long(pin->nr_pages, sizeof(*pin->piece), false);
	if (!pin->piece)
		goto unaccount;
	err = ddio_pin_pages(pin, address & PAGE_MASK);
	if (err)
		goto free_piece;
	ddio_pin_coalesce(pin);
	atomic64_inc(&ddio_live.pins);
	return pin;

free_piece:
	kvfree(pin->piece);
unaccount:
	ddio_pin_unaccount(pin);
free_pin:
	ddio_charge_drop(&pin->charge);
	mmdrop(pin->mm);
	kfree(pin);
	return ERR_PTR(err);
}

u32 ddio_pin_at(const struct ddio_pin *pin, u64 offset, u32 length, struct bio_vec *bv)
{
	u64 in, i = ddio_pieces_at(&pin->at, offset, &in);

	i = array_index_nospec(i, pin->nr_pieces);
	length = min_t(u64, length, (1ULL << pin->at.shift) - in);
	bv->bv_page = pfn_to_page(page_to_pfn(pin->piece[i]) + (in >> PAGE_SHIFT));
	bv->bv_offset = offset_in_page(in);
	bv->bv_len = length;
	return length;
}

/* Returns an entry for each page, whatever the pieces: the kernel's mapping needs them. */
static struct page **ddio_pin_page_list(const struct ddio_pin *pin)
{
	struct page **page;
	struct bio_vec bv;
	u64 offset = 0, i;

	page = ddio_alloc_long(pin->nr_pages, sizeof(*page), false);
	if (!page)
		return NULL;
	for (i = 0; i < pin->nr_pages; i++) {
		ddio_pin_at(pin, offset, 1, &bv);
		page[i] = bv.bv_page;
		offset += PAGE_SIZE - bv.bv_offset;
		if (i % DDIO_PIN_CHUNK == 0)
			cond_resched();
	}
	return page;
}

int ddio_pin_map(struct ddio_pin *pin)
{
	struct page **page;
	struct bio_vec bv;
	void *vaddr;

	ddio_pin_at(pin, 0, 1, &bv);
	if (pin->nr_pieces == 1 && !PageHighMem(bv.bv_page)) {
		pin->vaddr = page_address(bv.bv_page) + bv.bv_offset;
		return 0;
	}
	page = ddio_pin_page_list(pin);
	if (!page)
		return -ENOMEM;
	vaddr = vmap(page, pin->nr_pages, VM_MAP, pin->writable ? PAGE_KERNEL : PAGE_KERNEL_RO);
	kvfree(page);
	if (!vaddr)
		return -ENOMEM;
	pin->vaddr = vaddr + bv.bv_offset;
	return 0;
}

void ddio_pin_leave(struct ddio_pin *pin)
{
	/* Pairs with ddio_copy.c, whose steps are read-side sections. */
	smp_store_release(&pin->left, true);
	synchronize_rcu_expedited();
}

int ddio_buffer_add(struct ddio_ctx *ctx, struct ddio_buffer_add *arg, struct ddio_reply *reply)
{
	struct ddio_pin *pin;
	int err;

	pin = ddio_pin_new(arg->address, arg->length, !(arg->flags & DDIO_BUFFER_READONLY));
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	mutex_lock(&ctx->lock);
	err = ddio_ctx_add(ctx, &pin->obj);
	if (!err)
		kref_get(&pin->obj.ref);
	mutex_unlock(&ctx->lock);
	if (!err) {
		arg->out_buffer = pin->obj.id;
		arg->out_piece = min_t(u64, 1ULL << pin->at.shift, 1U << 31);
		err = ddio_ctx_tell(ctx, &pin->obj, reply, arg);
	}
	ddio_obj_put(&pin->obj);
	return err;
}
