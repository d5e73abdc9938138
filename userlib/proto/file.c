// SPDX-License-Identifier: LGPL-2.1-or-later
/* Files: references and records, and the messages of the name space. */
#include <stdlib.h>
#include <ddio/ddio.h>
#include "proto/codec.h"

/* Up to this many disks, duplicates in a stripe are searched for without sorting. */
enum { FEW_DISKS = 32 };

bool ddio_block_ok(uint32_t block)
{
	return block >= DDIO_MIN_BLOCK && block <= DDIO_MAX_BLOCK && !(block & (block - 1));
}

static int cmp_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int few_distinct(const uint32_t *disks, uint32_t n)
{
	uint32_t i, j;

	for (i = 1; i < n; i++)
		for (j = 0; j < i; j++)
			if (disks[i] == disks[j])
				return -EINVAL;
	return 0;
}

/* Returns -EINVAL if a disk stands twice in a stripe. */
static int disks_distinct(const uint32_t *disks, uint32_t n)
{
	uint32_t *sorted, i;
	int err = 0;

	if (n <= FEW_DISKS)
		return few_distinct(disks, n);
	sorted = malloc(n * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, disks, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), cmp_u32);
	for (i = 1; i < n && !err; i++)
		if (sorted[i] == sorted[i - 1])
			err = -EINVAL;
	free(sorted);
	return err;
}

static void code_disks(struct ddio_coder *c, struct ddio_file_record *rec)
{
	uint32_t i;
	int err;

	code_check(c, rec->ndisks > 0, -EINVAL);
	code_check(c, rec->ndisks <= DDIO_MAX_DISKS, -EMSGSIZE);
	if (c->reading)
		rec->disks = code_alloc(c, rec->ndisks, sizeof(*rec->disks), sizeof(uint32_t));
	for (i = 0; i < rec->ndisks && coder_ok(c); i++)
		code_u32(c, &rec->disks[i]);
	if (c->reading && coder_ok(c)) {
		err = disks_distinct(rec->disks, rec->ndisks);
		code_check(c, !err, err);
	}
}

/* The caller checks the identity: a file to be created has none yet. */
static void code_record_any(struct ddio_coder *c, struct ddio_file_record *rec)
{
	if (c->reading)
		memset(rec, 0, sizeof(*rec));
	code_file_ref(c, &rec->ref);
	code_u64(c, &rec->size);
	code_u64(c, &rec->ctime_ns);
	code_u64(c, &rec->mtime_ns);
	code_u32(c, &rec->dying);
	code_u32(c, &rec->ndisks);
	code_str(c, rec->name, sizeof(rec->name));
	code_check(c, ddio_block_ok(rec->ref.block), -EINVAL);
	code_check(c, rec->ref.layout < DDIO_LAYOUT_MAX_W && rec->dying <= 1, -EINVAL);
	code_check(c, rec->size <= DDIO_MAX_FILE, -EMSGSIZE);
	code_disks(c, rec);
}

void code_record(struct ddio_coder *c, struct ddio_file_record *rec)
{
	code_record_any(c, rec);
	code_check(c, rec->ref.id != 0, -EINVAL);
	if (!coder_ok(c))
		ddio_file_record_free(rec);
}
CODEC_PUT(record, ddio_file_record)

int ddio_get_record(const void *buf, size_t len, struct ddio_file_record *rec, size_t *used)
{
	struct ddio_coder c = coder_reading(buf, len);

	code_record(&c, rec);
	if (coder_ok(&c) && used)
		*used = len - c.r.left;
	return c.r.err;
}

void ddio_file_record_free(struct ddio_file_record *rec)
{
	free(rec->disks);
	rec->disks = NULL;
	rec->ndisks = 0;
}

static inline void code_ns_create(struct ddio_coder *c, struct ddio_msg_ns_create *x)
{
	const struct ddio_file_record *rec = &x->rec;

	code_u32(c, &x->flags);
	code_u32(c, &x->mode);
	code_u32(c, &x->uid);
	code_u32(c, &x->gid);
	code_str(c, x->path, sizeof(x->path));
	code_check(c, !(x->flags & ~(DDIO_NS_EXCL | DDIO_NS_DIR)), -EPROTO);
	code_check(c, x->path[0] && !(x->mode & ~0777u), -EINVAL);
	code_record_any(c, &x->rec);
	code_check(c, !rec->name[0] && !rec->ref.id && !rec->dying, -EINVAL);
	code_check(c, !rec->ctime_ns && !rec->mtime_ns, -EINVAL);
}

static void release_create(struct ddio_msg_ns_create *x)
{
	ddio_file_record_free(&x->rec);
}
CODEC_OWNING(ns_create, ddio_msg_ns_create, release_create)

static inline void code_ns_name(struct ddio_coder *c, struct ddio_msg_ns_name *x)
{
	code_u64(c, &x->id);
	code_str(c, x->path, sizeof(x->path));
	code_check(c, x->id || x->path[0], -EINVAL);
}
CODEC(ns_name, ddio_msg_ns_name)

static inline void code_ns_size(struct ddio_coder *c, struct ddio_msg_ns_size *x)
{
	code_u64(c, &x->id);
	code_u64(c, &x->size);
	code_check(c, x->id != 0, -EINVAL);
	code_check(c, x->size <= DDIO_MAX_FILE, -EMSGSIZE);
}
CODEC(ns_size, ddio_msg_ns_size)

static inline void code_ns_epoch(struct ddio_coder *c, struct ddio_msg_ns_epoch *x)
{
	code_u64(c, &x->id);
	code_u64(c, &x->epoch);
	code_u64(c, &x->settled);
	code_u64(c, &x->size);
	code_flags(c, &x->flags, DDIO_EPOCH_GIVE_UP | DDIO_EPOCH_OPEN | DDIO_EPOCH_COMMITTED);
	code_reserved(c, &x->reserved);
	code_check(c, x->id && x->epoch < DDIO_EPOCH_MAX && x->settled < DDIO_EPOCH_MAX, -EINVAL);
	code_check(c, x->size <= DDIO_MAX_FILE, -EMSGSIZE);
}
CODEC(ns_epoch, ddio_msg_ns_epoch)

enum { EPOCH_LEN = 40 };

static inline void code_ns_epochs(struct ddio_coder *c, struct ddio_msg_ns_epochs *x)
{
	uint32_t i;

	code_u32(c, &x->n);
	code_flags(c, &x->flags, DDIO_EPOCH_GIVE_UP);
	code_check(c, x->n, -EINVAL);
	code_check(c, x->n <= DDIO_EPOCH_FILES, -EMSGSIZE);
	if (c->reading)
		x->epochs = code_alloc(c, x->n, sizeof(*x->epochs), EPOCH_LEN);
	for (i = 0; i < x->n && coder_ok(c); i++) {
		code_ns_epoch(c, &x->epochs[i]);
		code_check(c, x->epochs[i].epoch, -EINVAL);
		code_check(c, !i || x->epochs[i - 1].id < x->epochs[i].id, -EPROTO);
	}
}
CODEC_OWNING(ns_epochs, ddio_msg_ns_epochs, ddio_msg_ns_epochs_free)

void ddio_msg_ns_epochs_free(struct ddio_msg_ns_epochs *x)
{
	free(x->epochs);
	x->epochs = NULL;
	x->n = 0;
}

static inline void code_ns_clone(struct ddio_coder *c, struct ddio_msg_ns_clone *x)
{
	code_u64(c, &x->id);
	code_u64(c, &x->size);
	code_flags(c, &x->flags, DDIO_CLONE_GIVE_UP | DDIO_CLONE_SNAP | DDIO_CLONE_FROZEN);
	code_u32(c, &x->uid);
	code_u32(c, &x->gid);
	code_str(c, x->path, sizeof(x->path));
	code_check(c, x->id && !x->path[0] == !!(x->flags & DDIO_CLONE_GIVE_UP), -EINVAL);
	code_check(c, !(x->flags & DDIO_CLONE_FROZEN) || x->flags & DDIO_CLONE_SNAP, -EINVAL);
	code_check(c, x->size <= DDIO_MAX_FILE, -EMSGSIZE);
}
CODEC(ns_clone, ddio_msg_ns_clone)

static inline void code_ns_list(struct ddio_coder *c, struct ddio_msg_ns_list *x)
{
	code_u32(c, &x->max);
	code_u32(c, &x->flags);
	code_u64(c, &x->after_id);
	code_str(c, x->dir, sizeof(x->dir));
	code_str(c, x->after, sizeof(x->after));
	code_check(c, !(x->flags & ~DDIO_NS_ALL), -EPROTO);
	code_check(c, x->max > 0, -EINVAL);
	code_check(c, x->max <= DDIO_MAX_BATCH, -EMSGSIZE);
}
CODEC(ns_list, ddio_msg_ns_list)

static inline void code_ns_listing(struct ddio_coder *c, struct ddio_msg_ns_listing *x)
{
	uint32_t i;

	code_u32(c, &x->n);
	code_u32(c, &x->more);
	code_check(c, x->more <= 1, -EINVAL);
	code_check(c, x->n <= DDIO_MAX_BATCH, -EMSGSIZE);
	if (c->reading)
		x->recs = code_alloc(c, x->n, sizeof(*x->recs), RECORD_MIN);
	for (i = 0; i < x->n && coder_ok(c); i++)
		code_record(c, &x->recs[i]);
}
CODEC_OWNING(ns_listing, ddio_msg_ns_listing, ddio_ns_listing_free)

void ddio_ns_listing_free(struct ddio_msg_ns_listing *l)
{
	uint32_t i;

	for (i = 0; l->recs && i < l->n; i++)
		ddio_file_record_free(&l->recs[i]);
	free(l->recs);
	l->recs = NULL;
	l->n = 0;
}
