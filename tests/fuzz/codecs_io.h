/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makers of random valid contents for the messages of connections, files, objects, collectives and
 * groups; part of codecs.h.
 */
#ifndef DDIO_TEST_CODECS_IO_H
#define DDIO_TEST_CODECS_IO_H

#include "tests/fuzz/codecs_crowd.h"
#include "tests/fuzz/codecs_rnd.h"

static inline void gen_hello(struct rnd *r, struct ddio_msg_hello *x)
{
	x->min_version = 1 + (uint16_t)rnd_below(r, 100);
	x->max_version = x->min_version + (uint16_t)rnd_below(r, 100);
	x->role = 1 + (uint32_t)rnd_below(r, 3);
	x->options = (uint32_t)rnd_u64(r);
	x->features = (uint32_t)rnd_u64(r);
	x->reactor = (uint32_t)rnd_u64(r);
	x->rank = (uint32_t)rnd_below(r, DDIO_MAX_MEMBERS);
	rnd_bytes(r, x->nonce, sizeof(x->nonce));
	rnd_bytes(r, x->group, sizeof(x->group));
	rnd_str(r, x->cluster, sizeof(x->cluster), 0);
}

static inline void gen_challenge(struct rnd *r, struct ddio_msg_challenge *x)
{
	x->version = 1 + (uint16_t)rnd_below(r, 100);
	x->keyed = (uint16_t)rnd_below(r, 2);
	x->options = (uint32_t)rnd_u64(r);
	x->features = (uint32_t)rnd_u64(r);
	rnd_bytes(r, x->nonce, sizeof(x->nonce));
	rnd_bytes(r, x->proof, sizeof(x->proof));
}

static inline void gen_proof(struct rnd *r, struct ddio_msg_proof *x)
{
	rnd_bytes(r, x->proof, sizeof(x->proof));
}

static inline void gen_disk_ids(struct rnd *r, struct ddio_msg_disk_ids *x)
{
	uint32_t i, k;

	x->flags = (uint32_t)rnd_below(r, DDIO_DISKS_NAMES + 1);
	x->names = rnd_u64(r);
	x->change = rnd_u64(r);
	x->n = (uint32_t)rnd_below(r, 6);
	x->ids = rnd_array(x->n, sizeof(*x->ids));
	for (i = 0; i < x->n; i++) {
		x->ids[i].disk = (uint32_t)rnd_u64(r);
		x->ids[i].flags = (uint32_t)rnd_below(r, DDIO_DISK_FLAGS + 1);
		x->ids[i].uuid[rnd_below(r, DDIO_UUID_LEN)] = (uint8_t)rnd_u64(r);
		x->ids[i].life = rnd_u64(r);
		x->ids[i].n = (uint32_t)rnd_below(r, DDIO_LIVES + 1);
		for (k = 0; k < x->ids[i].n; k++)
			x->ids[i].before[k] = rnd_u64(r);
		x->ids[i].change = rnd_u64(r);
		x->ids[i].names = rnd_u64(r);
		x->ids[i].lost = rnd_u64(r);
		rnd_bytes(r, x->ids[i].seal, sizeof(x->ids[i].seal));
	}
}

static inline void gen_tags(struct rnd *r, struct ddio_msg_tags *x)
{
	uint32_t i;

	x->n = (uint32_t)rnd_below(r, 6);
	x->tags = rnd_array(x->n, sizeof(*x->tags));
	for (i = 0; i < x->n; i++)
		x->tags[i] = (i ? x->tags[i - 1] : 0) + 1 + rnd_below(r, 1ull << 40);
}

static inline void gen_ends(struct rnd *r, struct ddio_ends *x)
{
	uint32_t i;

	x->known = rnd_below(r, 2);
	x->n = x->known ? (uint32_t)rnd_below(r, DDIO_ENDS + 1) : 0;
	for (i = 0; i < x->n; i++)
		x->boot[i] = rnd_u64(r) | 1;
}

static inline void gen_welcome(struct rnd *r, struct ddio_msg_welcome *x)
{
	struct ddio_welcome_disk *d;
	uint32_t i;

	x->node = (uint32_t)rnd_u64(r);
	x->nreactors = 1 + (uint32_t)rnd_below(r, 64);
	x->reactor = (uint32_t)rnd_below(r, x->nreactors);
	x->boot = rnd_u64(r);
	rnd_str(r, x->name, sizeof(x->name), 0);
	x->ndisks = (uint32_t)rnd_below(r, 6);
	x->disks = rnd_array(x->ndisks, sizeof(*x->disks));
	for (i = 0; i < x->ndisks; i++) {
		d = &x->disks[i];
		d->disk = (uint32_t)rnd_u64(r);
		d->reactor = (uint32_t)rnd_below(r, x->nreactors);
		d->sector = 1u << rnd_below(r, 13);
		d->size = rnd_below(r, DDIO_MAX_FILE + 1);
		d->peak = rnd_u64(r);
		d->scale_ppm = rnd_u64(r);
	}
	gen_disk_ids(r, &x->ids);
	gen_ends(r, &x->names_ends);
	x->ends = rnd_array(x->ids.n, sizeof(*x->ends));
	for (i = 0; i < x->ids.n; i++)
		gen_ends(r, &x->ends[i]);
}

static inline void gen_refuse(struct rnd *r, struct ddio_msg_refuse *x)
{
	x->status = 1 + (uint32_t)rnd_below(r, 1000);
	rnd_str(r, x->text, sizeof(x->text), 0);
}

static inline void gen_ns_create(struct rnd *r, struct ddio_msg_ns_create *x)
{
	x->flags = (uint32_t)rnd_below(r, 2) * DDIO_NS_EXCL;
	x->mode = (uint32_t)rnd_below(r, 01000);
	x->uid = (uint32_t)rnd_u64(r);
	x->gid = (uint32_t)rnd_u64(r);
	rnd_str(r, x->path, sizeof(x->path), 1);
	gen_record(r, &x->rec);
	x->rec.ref.id = x->rec.ctime_ns = x->rec.mtime_ns = x->rec.dying = 0;
	memset(x->rec.name, 0, sizeof(x->rec.name));
}

static inline void gen_ns_name(struct rnd *r, struct ddio_msg_ns_name *x)
{
	x->id = rnd_below(r, 2) * (1 + rnd_u64(r) / 2);
	rnd_str(r, x->path, sizeof(x->path), !x->id);
}

static inline void gen_ns_size(struct rnd *r, struct ddio_msg_ns_size *x)
{
	x->id = 1 + rnd_u64(r) / 2;
	x->size = rnd_below(r, DDIO_MAX_FILE + 1);
}

static inline void gen_ns_epoch(struct rnd *r, struct ddio_msg_ns_epoch *x)
{
	x->id = 1 + rnd_u64(r) / 2;
	x->epoch = rnd_below(r, DDIO_EPOCH_MAX);
	x->settled = rnd_below(r, DDIO_EPOCH_MAX);
	x->size = rnd_below(r, DDIO_MAX_FILE + 1);
	x->flags = (uint32_t)rnd_below(r, 8);
	x->reserved = 0;
}

static inline void gen_ns_epochs(struct rnd *r, struct ddio_msg_ns_epochs *x)
{
	uint32_t i;

	x->n = 1 + (uint32_t)rnd_below(r, 5);
	x->flags = (uint32_t)rnd_below(r, 2);
	x->epochs = calloc(x->n, sizeof(*x->epochs));
	for (i = 0; i < x->n; i++) {
		gen_ns_epoch(r, &x->epochs[i]);
		x->epochs[i].epoch |= 1;
		x->epochs[i].id = x->epochs[i].id >> 4 | (uint64_t)i << 60;
	}
}

static inline void gen_ns_clone(struct rnd *r, struct ddio_msg_ns_clone *x)
{
	x->id = 1 + rnd_u64(r) / 2;
	x->size = rnd_below(r, DDIO_MAX_FILE + 1);
	x->flags = (uint32_t)rnd_below(r, 8);
	if (!(x->flags & DDIO_CLONE_SNAP))
		x->flags &= ~DDIO_CLONE_FROZEN;
	x->uid = (uint32_t)rnd_u64(r);
	x->gid = (uint32_t)rnd_u64(r);
	if (!(x->flags & DDIO_CLONE_GIVE_UP))
		rnd_str(r, x->path, sizeof(x->path), 1);
}

static inline void gen_ns_list(struct rnd *r, struct ddio_msg_ns_list *x)
{
	x->max = 1 + (uint32_t)rnd_below(r, DDIO_MAX_BATCH);
	x->flags = (uint32_t)rnd_below(r, 2);
	x->after_id = rnd_u64(r);
	rnd_str(r, x->dir, sizeof(x->dir), 0);
	rnd_str(r, x->after, sizeof(x->after), 0);
}

static inline void gen_ns_listing(struct rnd *r, struct ddio_msg_ns_listing *x)
{
	uint32_t i;

	x->n = (uint32_t)rnd_below(r, 5);
	x->more = (uint32_t)rnd_below(r, 2);
	x->recs = rnd_array(x->n, sizeof(*x->recs));
	for (i = 0; i < x->n; i++)
		gen_record(r, &x->recs[i]);
}

static inline void gen_obj(struct rnd *r, struct ddio_msg_obj *x)
{
	if (rnd_below(r, 4))
		gen_file_ref(r, &x->file);
	x->disk = (uint32_t)rnd_u64(r);
	x->flags = (uint32_t)rnd_below(r, 2 * DDIO_OBJ_ZERO);
	x->offset = rnd_below(r, DDIO_MAX_FILE + 1);
	x->len = rnd_below(r, DDIO_MAX_FILE + 1 - x->offset);
}

static inline void gen_obj_data(struct rnd *r, struct ddio_msg_obj_data *x)
{
	x->len = rnd_below(r, DDIO_MAX_BULK + 1);
	x->hit = (uint32_t)rnd_below(r, 2);
	x->disk_reqs = (uint32_t)rnd_u64(r);
}

static inline void gen_extents(struct rnd *r, struct ddio_msg_extents *x)
{
	uint32_t i;

	x->n = (uint32_t)rnd_below(r, 20);
	x->more = (uint32_t)rnd_below(r, 2);
	x->ext = rnd_array(x->n, sizeof(*x->ext));
	for (i = 0; i < x->n; i++) {
		x->ext[i].block = rnd_below(r, 1ull << 53);
		x->ext[i].start = rnd_below(r, DDIO_MAX_FILE + 1);
		x->ext[i].count = 1 + rnd_below(r, 1ull << 53);
		x->ext[i].flags = (uint32_t)rnd_below(r, 2);
	}
}

static inline void gen_obj_list(struct rnd *r, struct ddio_msg_obj_list *x)
{
	uint32_t i;

	x->n = (uint32_t)rnd_below(r, 40);
	x->more = (uint32_t)rnd_below(r, 2);
	x->ids = rnd_array(x->n, sizeof(*x->ids));
	for (i = 0; i < x->n; i++)
		x->ids[i] = 1 + rnd_u64(r) / 2;
}

static inline void gen_fsck(struct rnd *r, struct ddio_msg_fsck *x)
{
	rnd_bytes(r, x, offsetof(struct ddio_msg_fsck, text));
	rnd_str(r, x->text, sizeof(x->text), 0);
}

static inline void gen_attach(struct rnd *r, struct ddio_msg_attach *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	x->size = 1 + (uint32_t)rnd_below(r, DDIO_MAX_MEMBERS);
	x->rank = (uint32_t)rnd_below(r, x->size);
	x->handle = (uint32_t)rnd_u64(r);
}

/* Rows of members whose descriptions are the same but for a shift, with others among them. */
static inline void gen_row(struct rnd *r, struct ddio_part *part, struct ddio_extent *e, uint32_t n)
{
	uint64_t step = rnd_below(r, 1000), len = rnd_below(r, 100);
	uint32_t row = 1 + (uint32_t)rnd_below(r, 5), i;

	for (i = 0; i < n; i++) {
		part[i] = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = 1, .list = &e[i] };
		e[i].offset = i % row * step + i / row * 100000;
		e[i].len = rnd_below(r, 8) ? len : rnd_below(r, 100);
	}
}

/* The crowd of @n random descriptions, or of rows. */
static inline void gen_crowd_of(struct rnd *r, struct ddio_crowd *x, uint32_t kind, uint32_t n)
{
	bool row = kind == DDIO_PART_LIST && rnd_below(r, 2);
	struct ddio_part *part = rnd_array(n, sizeof(*part));
	struct ddio_extent *e = rnd_array(n, sizeof(*e));
	struct ddio_crowd all;
	uint8_t *buf;
	ssize_t len;
	uint32_t i;

	if (row)
		gen_row(r, part, e, n);
	for (i = 0; i < n && !row; i++)
		gen_part(r, &part[i], kind);
	if (crowd_of(&all, part, n))
		abort();
	len = ddio_put_crowd(NULL, 0, &all);
	buf = rnd_array((size_t)len, 1);
	if (ddio_put_crowd(buf, (size_t)len, &all) != len || ddio_get_crowd(buf, (size_t)len, x))
		abort();
	ddio_crowd_free(&all);
	for (i = 0; i < n && !row; i++)
		ddio_part_free(&part[i]);
	free(part);
	free(buf);
	free(e);
}

/* Some members' data. */
static inline void gen_carried(struct rnd *r, struct ddio_crowd *x)
{
	static const uint8_t bytes[64];
	static struct ddio_carried carried[CROWD_OF_MAX];
	uint32_t i;

	x->carries = rnd_below(r, 2);
	x->carried = carried;
	for (i = 0; x->carries && i < x->nmembers; i++)
		if (rnd_below(r, 2))
			carried[x->ncarried++] = (struct ddio_carried){
				x->first + i, 1 + (uint32_t)rnd_below(r, sizeof(bytes)), bytes
			};
}

static inline void gen_crowd(struct rnd *r, struct ddio_crowd *x)
{
	gen_crowd_of(r, x, 2 + (uint32_t)rnd_below(r, DDIO_PART_VIEW - 1),
		     1 + (uint32_t)rnd_below(r, CROWD_OF_MAX));
	x->spread = (uint32_t)rnd_below(r, 4);
	gen_carried(r, x);
	if (!x->spread)
		return;
	x->lo = rnd_below(r, DDIO_MAX_FILE);
	x->hi = x->lo + 1 + rnd_below(r, DDIO_MAX_FILE - x->lo);
	if (rnd_below(r, 2))
		ddio_crowd_spread(x);
}

static inline void gen_coll_start(struct rnd *r, struct ddio_msg_coll_start *x)
{
	uint32_t kind = 1 + (uint32_t)rnd_below(r, DDIO_PART_VIEW), i;

	rnd_bytes(r, x->group, sizeof(x->group));
	x->op = 1 + rnd_u64(r) / 2;
	x->flags = (uint32_t)rnd_below(r, 2 * DDIO_COLL_OVERLAP);
	if (rnd_below(r, 2))
		x->flags |= DDIO_COLL_NEED | (rnd_below(r, 2) ? DDIO_COLL_TELL : 0);
	if (kind != DDIO_PART_ARRAY && rnd_below(r, 2))
		x->flags |= DDIO_COLL_FAMILIES;
	if (x->flags & DDIO_COLL_WRITE)
		x->flags &= ~DDIO_COLL_SHORT;
	if (x->flags & DDIO_COLL_WRITE && x->flags & DDIO_COLL_SYNC && rnd_below(r, 2)) {
		x->flags |= DDIO_COLL_ATOMIC;
		x->epoch = 1 + rnd_below(r, DDIO_EPOCH_MAX - 1);
	}
	x->buffers = (uint32_t)rnd_u64(r);
	x->timeout_ns = rnd_u64(r);
	x->file_size = rnd_below(r, DDIO_MAX_FILE + 1);
	gen_record(r, &x->file);
	x->nprocs = 1 + (uint32_t)rnd_below(r, kind == DDIO_PART_ARRAY ? DDIO_MAX_MEMBERS : 10);
	if (x->flags & DDIO_COLL_FAMILIES) {
		gen_crowd_of(r, &x->crowd, kind, x->nprocs);
		return;
	}
	x->nparts = kind == DDIO_PART_ARRAY ? 1 : x->nprocs;
	x->parts = rnd_array(x->nparts, sizeof(*x->parts));
	if (kind == DDIO_PART_ARRAY) {
		gen_array(r, &x->array);
		x->parts[0].kind = kind;
		x->parts[0].array = &x->array;
		return;
	}
	for (i = 0; i < x->nparts; i++)
		gen_part(r, &x->parts[i], kind);
}

static inline void gen_coll_data(struct rnd *r, struct ddio_msg_coll_data *x)
{
	x->op = 1 + rnd_u64(r) / 2;
	x->block = rnd_below(r, 1ull << 53);
	x->handle = (uint32_t)rnd_u64(r);
	x->disk = (uint32_t)rnd_u64(r);
	rnd_bytes(r, x->group, sizeof(x->group));
}

static inline void gen_coll_want(struct rnd *r, struct ddio_msg_coll_want *x)
{
	uint32_t i;

	x->op = 1 + rnd_u64(r) / 2;
	x->handle = (uint32_t)rnd_u64(r);
	x->n = 1 + (uint32_t)rnd_below(r, 30);
	x->want = rnd_array(x->n, sizeof(*x->want));
	for (i = 0; i < x->n; i++) {
		x->want[i].block = rnd_below(r, 1ull << 53);
		x->want[i].disk = (uint32_t)rnd_u64(r);
	}
}

static inline void gen_coll_done(struct rnd *r, struct ddio_msg_coll_done *x)
{
	rnd_bytes(r, x, offsetof(struct ddio_msg_coll_done, text));
	x->op |= 1;
	x->status %= DDIO_ST_MAX;
	rnd_str(r, x->text, sizeof(x->text), 0);
}

static inline void gen_coll_abort(struct rnd *r, struct ddio_msg_coll_abort *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	x->op = rnd_u64(r);
	x->status = 1 + (uint32_t)rnd_below(r, DDIO_ST_MAX - 1);
	x->rank = (uint32_t)rnd_u64(r);
}

static inline void gen_joint(struct rnd *r, struct ddio_msg_joint *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	rnd_bytes(r, x->token, sizeof(x->token));
	rnd_str(r, x->name, sizeof(x->name), 1);
}

static inline void gen_coll_join(struct rnd *r, struct ddio_msg_coll_join *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	x->op = rnd_u64(r) | 1;
}

static inline void gen_coll_step(struct rnd *r, struct ddio_msg_coll_step *x)
{
	x->op = rnd_u64(r) | 1;
	x->handle = (uint32_t)rnd_u64(r);
}

static inline void gen_coll_told(struct rnd *r, struct ddio_msg_coll_told *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	x->op = rnd_u64(r) | 1;
	gen_crowd_of(r, &x->crowd, DDIO_PART_LIST, 1);
}

static inline void gen_memory(struct rnd *r, struct ddio_msg_memory *x)
{
	rnd_bytes(r, x->token, sizeof(x->token));
	rnd_str(r, x->name, sizeof(x->name), 1);
}

static inline void gen_share(struct rnd *r, struct ddio_msg_share *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	rnd_bytes(r, x->token, sizeof(x->token));
	x->writing = (uint32_t)rnd_below(r, 2);
	rnd_str(r, x->name, sizeof(x->name), 1);
}

static inline void gen_share_taken(struct rnd *r, struct ddio_msg_share_taken *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	x->writing = (uint32_t)rnd_below(r, 2);
}

static inline void gen_show(struct rnd *r, struct ddio_msg_show *x)
{
	rnd_bytes(r, x->token, sizeof(x->token));
	x->disk = (uint32_t)rnd_u64(r);
	rnd_str(r, x->name, sizeof(x->name), 1);
}

static inline void gen_mux_open(struct rnd *r, struct ddio_msg_mux_open *x)
{
	x->id = 1 + (uint32_t)rnd_below(r, UINT32_MAX);
	x->node = (uint32_t)rnd_u64(r);
	x->reactor = (uint32_t)rnd_u64(r);
}

static inline void gen_mux_data(struct rnd *r, struct ddio_msg_mux_data *x)
{
	x->id = 1 + (uint32_t)rnd_below(r, UINT32_MAX);
}

static inline void gen_mux_window(struct rnd *r, struct ddio_msg_mux_window *x)
{
	x->id = 1 + (uint32_t)rnd_below(r, UINT32_MAX);
	x->bytes = 1 + (uint32_t)rnd_below(r, DDIO_MUX_WINDOW);
}

static inline void gen_mux_part(struct rnd *r, struct ddio_msg_mux_part *x)
{
	x->id = 1 + (uint32_t)rnd_below(r, UINT32_MAX);
	x->bytes = 1 + (uint32_t)rnd_below(r, DDIO_MAX_MUX_PARTS);
}

static inline void gen_mux_end(struct rnd *r, struct ddio_msg_mux_end *x)
{
	x->id = 1 + (uint32_t)rnd_below(r, UINT32_MAX);
	x->status = (uint32_t)rnd_below(r, DDIO_ST_MAX);
}

static inline void gen_coll_slots(struct rnd *r, struct ddio_msg_coll_slots *x)
{
	uint32_t i;

	x->op = rnd_u64(r) | 1;
	x->handle = (uint32_t)rnd_u64(r);
	x->n = 1 + (uint32_t)rnd_below(r, 30);
	x->at = rnd_array(x->n, sizeof(*x->at));
	for (i = 0; i < x->n; i++) {
		x->at[i].block = rnd_below(r, 1ull << 53);
		x->at[i].offset = rnd_u64(r);
		x->at[i].disk = (uint32_t)rnd_u64(r);
		x->at[i].len = 1 + (uint32_t)rnd_below(r, DDIO_MAX_BLOCK);
		x->at[i].slot = (uint32_t)rnd_u64(r);
		x->at[i].flags = (uint32_t)rnd_below(r, 2);
	}
}

static inline void gen_coll_copied(struct rnd *r, struct ddio_msg_coll_copied *x)
{
	uint32_t i;

	rnd_bytes(r, x->group, sizeof(x->group));
	x->op = rnd_u64(r) | 1;
	x->rank = (uint32_t)rnd_below(r, DDIO_MAX_MEMBERS);
	x->n = 1 + (uint32_t)rnd_below(r, 30);
	x->copied = rnd_array(x->n, sizeof(*x->copied));
	for (i = 0; i < x->n; i++) {
		x->copied[i].block = rnd_below(r, 1ull << 53);
		x->copied[i].disk = (uint32_t)rnd_u64(r);
		x->copied[i].slot = (uint32_t)rnd_u64(r);
	}
}

static inline void gen_status(struct rnd *r, struct ddio_msg_status *x)
{
	struct ddio_disk_status *d;
	uint32_t i;

	x->node = (uint32_t)rnd_u64(r);
	x->nreactors = (uint32_t)rnd_u64(r);
	x->boot = rnd_u64(r);
	x->uptime_ns = rnd_u64(r);
	x->collectives = rnd_u64(r);
	x->requests = rnd_u64(r);
	x->connections = rnd_u64(r);
	x->refused = rnd_u64(r);
	x->memory_bytes = rnd_u64(r);
	rnd_str(r, x->name, sizeof(x->name), 0);
	x->ndisks = (uint32_t)rnd_below(r, 4);
	x->disks = rnd_array(x->ndisks, sizeof(*x->disks));
	for (i = 0; i < x->ndisks; i++) {
		d = &x->disks[i];
		rnd_bytes(r, d, sizeof(*d));
		rnd_str(r, d->name, sizeof(d->name), 0);
		rnd_str(r, d->engine, sizeof(d->engine), 0);
	}
}

static inline void gen_bounds(struct rnd *r, struct ddio_msg_bounds *x)
{
	uint32_t i;

	x->n = (uint32_t)rnd_below(r, 4);
	x->bound = rnd_array(x->n, sizeof(*x->bound));
	for (i = 0; i < x->n; i++) {
		rnd_bytes(r, &x->bound[i], sizeof(x->bound[i]));
		rnd_str(r, x->bound[i].name, sizeof(x->bound[i].name), 0);
	}
}

static inline void gen_user(struct rnd *r, struct ddio_msg_user *x)
{
	static uint8_t cred[40];

	x->kind = 1 + (uint32_t)rnd_below(r, 2);
	x->len = 1 + (uint32_t)rnd_below(r, sizeof(cred));
	rnd_bytes(r, cred, sizeof(cred));
	x->cred = cred;
}

static inline void gen_grant(struct rnd *r, struct ddio_msg_grant *x)
{
	rnd_bytes(r, x, sizeof(*x));
	x->file |= 1;
	x->rights = 1 + (uint32_t)rnd_below(r, DDIO_GRANT_RIGHTS);
}

static inline void gen_job(struct rnd *r, struct ddio_msg_job *x)
{
	rnd_str(r, x->name, sizeof(x->name), 0);
}

static inline void gen_wrong(struct rnd *r, struct ddio_msg_wrong *x)
{
	rnd_bytes(r, x, sizeof(*x));
	x->flags &= DDIO_WRONG_PLACE;
}

static inline void gen_jobs(struct rnd *r, struct ddio_msg_jobs *x)
{
	uint32_t i;

	x->n = (uint32_t)rnd_below(r, 4);
	x->job = rnd_array(x->n, sizeof(*x->job));
	for (i = 0; i < x->n; i++) {
		rnd_bytes(r, &x->job[i], sizeof(x->job[i]));
		rnd_str(r, x->job[i].name, sizeof(x->job[i].name), 0);
		x->job[i].told = rnd_u64(r);
	}
}

static inline void gen_trace_ask(struct rnd *r, struct ddio_msg_trace_ask *x)
{
	rnd_bytes(r, x, sizeof(*x));
	x->action = 1 + (uint32_t)rnd_below(r, 3);
	x->most = 1 + (uint32_t)rnd_below(r, DDIO_TRACE_COLLS);
	rnd_str(r, x->job, sizeof(x->job), 0);
	rnd_str(r, x->file, sizeof(x->file), 0);
}

static inline void gen_trace_events(struct rnd *r, struct ddio_msg_trace *x)
{
	uint32_t i;

	x->n = x->ncolls ? (uint32_t)rnd_below(r, 6) : 0;
	x->event = rnd_array(x->n, sizeof(*x->event));
	for (i = 0; i < x->n; i++) {
		rnd_bytes(r, &x->event[i], sizeof(x->event[i]));
		x->event[i].kind = (uint16_t)rnd_below(r, 10);
		x->event[i].what = (uint16_t)rnd_below(r, DDIO_TRACE_PIECES);
		x->event[i].coll = (uint16_t)rnd_below(r, x->ncolls);
	}
}

static inline void gen_trace(struct rnd *r, struct ddio_msg_trace *x)
{
	uint32_t i;

	rnd_bytes(r, x, sizeof(*x));
	x->ncolls = (uint32_t)rnd_below(r, 4);
	x->coll = rnd_array(x->ncolls, sizeof(*x->coll));
	for (i = 0; i < x->ncolls; i++) {
		rnd_bytes(r, &x->coll[i], sizeof(x->coll[i]));
		x->coll[i].flags &= DDIO_TRACE_WRITE | DDIO_TRACE_ENDED;
		rnd_str(r, x->coll[i].job, sizeof(x->coll[i].job), 0);
		rnd_str(r, x->coll[i].file, sizeof(x->coll[i].file), 0);
	}
	gen_trace_events(r, x);
}

static inline void gen_scrub_ask(struct rnd *r, struct ddio_msg_scrub_ask *x)
{
	rnd_bytes(r, x, sizeof(*x));
	x->flags &= DDIO_SCRUB_ASK_BEGIN | DDIO_SCRUB_ASK_END | DDIO_SCRUB_ASK_LACKING;
}

static inline void gen_scrub(struct rnd *r, struct ddio_msg_scrub *x)
{
	rnd_bytes(r, x, sizeof(*x));
	x->flags &= DDIO_SCRUB_RUNS;
}

static inline void gen_question(struct rnd *r, struct ddio_query *q)
{
	struct ddio_query_field *field;
	struct ddio_query_step *step;
	struct ddio_query_reduce *reduce;
	uint32_t *output, i;

	q->struct_size = sizeof(*q);
	q->record = (uint32_t)rnd_u64(r);
	q->origin = rnd_u64(r);
	q->nfields = (uint32_t)rnd_below(r, 5);
	q->field = field = rnd_array(q->nfields, sizeof(*field));
	for (i = 0; i < q->nfields; i++) {
		rnd_bytes(r, &field[i], sizeof(field[i]));
		field[i].name = NULL;
	}
	q->nsteps = (uint32_t)rnd_below(r, 5);
	q->where = step = rnd_array(q->nsteps, sizeof(*step));
	rnd_bytes(r, step, q->nsteps * sizeof(*step));
	q->nreduce = (uint32_t)rnd_below(r, 4);
	q->reduce = reduce = rnd_array(q->nreduce, sizeof(*reduce));
	for (i = 0; i < q->nreduce; i++) {
		reduce[i].kind = (uint32_t)rnd_below(r, 6);
		reduce[i].field = (uint32_t)rnd_below(r, 6);
		reduce[i].nbounds = (uint32_t)rnd_below(r, 4);
		reduce[i].bound = rnd_array(reduce[i].nbounds, sizeof(*reduce[i].bound));
		rnd_bytes(r, (void *)reduce[i].bound, reduce[i].nbounds * sizeof(*reduce[i].bound));
	}
	q->noutput = (uint32_t)rnd_below(r, 5);
	q->output = output = rnd_array(q->noutput, sizeof(*output));
	rnd_bytes(r, output, q->noutput * sizeof(*output));
}

static inline void gen_deal(struct rnd *r, struct ddio_msg_query *x)
{
	union ddio_query_number *bound;
	uint32_t *owner;

	rnd_bytes(r, x->group, sizeof(x->group));
	x->number = rnd_u64(r);
	x->members = 1 + (uint32_t)rnd_below(r, DDIO_QUERY_MEMBERS_MAX);
	x->member = (uint32_t)rnd_below(r, x->members);
	x->deal.struct_size = sizeof(x->deal);
	x->deal.kind = (uint32_t)rnd_u64(r);
	x->deal.field = (uint32_t)rnd_u64(r);
	x->deal.nbounds = (uint32_t)rnd_below(r, 5);
	x->deal.bound = bound = rnd_array(x->deal.nbounds, sizeof(*bound));
	rnd_bytes(r, bound, x->deal.nbounds * sizeof(*bound));
	x->deal.nowners = (uint32_t)rnd_below(r, 5);
	x->deal.owner = owner = rnd_array(x->deal.nowners, sizeof(*owner));
	rnd_bytes(r, owner, x->deal.nowners * sizeof(*owner));
}

static inline void gen_query(struct rnd *r, struct ddio_msg_query *x)
{
	static uint8_t want[DDIO_QUERY_BLOCKS_MAX / 8];

	gen_file_ref(r, &x->obj.file);
	x->obj.disk = (uint32_t)rnd_u64(r);
	x->nblocks = 1 + (uint32_t)rnd_below(r, 100);
	x->ndisks = 1 + (uint32_t)rnd_below(r, DDIO_MAX_DISKS);
	x->stripe = (uint32_t)rnd_below(r, x->ndisks);
	x->obj.offset = rnd_below(r, 1u << 20) * x->obj.file.block;
	x->obj.len = (uint64_t)x->nblocks * x->obj.file.block;
	x->flags = (uint32_t)rnd_below(r, 8);
	x->part = rnd_below(r, 2) ? DDIO_QUERY_NO_PART : (uint32_t)rnd_below(r, x->nblocks);
	x->part_next = rnd_u64(r);
	x->end = rnd_below(r, DDIO_MAX_FILE);
	x->first = rnd_below(r, x->end + 1);
	rnd_bytes(r, want, (x->nblocks + 7) / 8);
	x->want = want;
	gen_question(r, &x->q);
	if (x->flags & DDIO_QUERY_DEALT)
		gen_deal(r, x);
}

static inline void gen_answer(struct rnd *r, struct ddio_msg_answer *x)
{
	static uint8_t did[DDIO_QUERY_BLOCKS_MAX / 8], made[100], items[300];

	x->nblocks = 1 + (uint32_t)rnd_below(r, 100);
	x->part = rnd_below(r, 2) ? DDIO_QUERY_NO_PART : (uint32_t)rnd_below(r, x->nblocks);
	x->part_next = rnd_u64(r);
	x->disk_reqs = (uint32_t)rnd_u64(r);
	rnd_bytes(r, did, sizeof(did));
	rnd_bytes(r, made, sizeof(made));
	rnd_bytes(r, items, sizeof(items));
	x->did = did;
	x->made = made;
	x->made_len = (uint32_t)rnd_below(r, sizeof(made) + 1);
	x->items = items;
	x->items_len = (uint32_t)rnd_below(r, sizeof(items) + 1);
}

static inline void gen_group_join(struct rnd *r, struct ddio_msg_group_join *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	x->size = 1 + (uint32_t)rnd_below(r, DDIO_MAX_MEMBERS);
	x->rank = (uint32_t)rnd_below(r, x->size);
	rnd_str(r, x->addr, sizeof(x->addr), 0);
}

static inline void gen_group_table(struct rnd *r, struct ddio_msg_group_table *x)
{
	uint32_t i;

	rnd_bytes(r, x->group, sizeof(x->group));
	x->n = 1 + (uint32_t)rnd_below(r, 20);
	x->entry = rnd_array(x->n, sizeof(*x->entry));
	for (i = 0; i < x->n; i++) {
		x->entry[i].rank = i * 101 + (uint32_t)rnd_below(r, 101);
		rnd_str(r, x->entry[i].addr, sizeof(x->entry[i].addr), 0);
	}
	x->size = x->entry[x->n - 1].rank + 1 + (uint32_t)rnd_below(r, 1000);
}

static inline void gen_fan(struct rnd *r, struct ddio_msg_fan *x)
{
	static uint8_t data[300];

	rnd_bytes(r, x, offsetof(struct ddio_msg_fan, text));
	x->rank %= DDIO_MAX_MEMBERS;
	x->status %= DDIO_ST_MAX;
	rnd_bytes(r, data, sizeof(data));
	x->len = rnd_below(r, sizeof(data) + 1);
	x->data = data;
	rnd_str(r, x->text, sizeof(x->text), 0);
}

static inline void gen_exchange(struct rnd *r, struct ddio_msg_exchange *x)
{
	rnd_bytes(r, x->group, sizeof(x->group));
	x->op = rnd_u64(r);
	x->lo = rnd_below(r, DDIO_MAX_FILE + 1);
	x->hi = x->lo + rnd_below(r, DDIO_MAX_FILE + 1 - x->lo);
	x->rank = (uint32_t)rnd_below(r, DDIO_MAX_MEMBERS);
}

static inline void gen_counter(struct rnd *r, struct ddio_msg_counter *x)
{
	rnd_bytes(r, x, sizeof(*x));
	x->rank %= DDIO_MAX_MEMBERS;
	x->action = 1 + x->action % (DDIO_COUNTER_MAX - 1);
	x->status %= DDIO_ST_MAX;
	x->reserved = 0;
}

#define CODECS_IO(X)                                                    \
	X(hello, ddio_msg_hello, N)                                     \
	X(challenge, ddio_msg_challenge, N)                             \
	X(proof, ddio_msg_proof, N)                                     \
	X(welcome, ddio_msg_welcome, F(ddio_welcome_free))              \
	X(disk_ids, ddio_msg_disk_ids, F(ddio_msg_disk_ids_free))       \
	X(tags, ddio_msg_tags, F(ddio_msg_tags_free))                   \
	X(refuse, ddio_msg_refuse, N)                                   \
	X(ns_create, ddio_msg_ns_create, M(ddio_file_record_free, rec)) \
	X(ns_name, ddio_msg_ns_name, N)                                 \
	X(ns_size, ddio_msg_ns_size, N)                                 \
	X(ns_epoch, ddio_msg_ns_epoch, N)                               \
	X(ns_epochs, ddio_msg_ns_epochs, F(ddio_msg_ns_epochs_free))    \
	X(ns_clone, ddio_msg_ns_clone, N)                               \
	X(ns_list, ddio_msg_ns_list, N)                                 \
	X(ns_listing, ddio_msg_ns_listing, F(ddio_ns_listing_free))     \
	X(obj, ddio_msg_obj, N)                                         \
	X(obj_data, ddio_msg_obj_data, N)                               \
	X(extents, ddio_msg_extents, P(ext))                            \
	X(obj_list, ddio_msg_obj_list, P(ids))                          \
	X(fsck, ddio_msg_fsck, N)                                       \
	X(attach, ddio_msg_attach, N)                                   \
	X(coll_start, ddio_msg_coll_start, F(ddio_coll_start_free))     \
	X(crowd, ddio_crowd, F(ddio_crowd_free))                        \
	X(coll_data, ddio_msg_coll_data, N)                             \
	X(coll_want, ddio_msg_coll_want, P(want))                       \
	X(coll_done, ddio_msg_coll_done, N)                             \
	X(coll_abort, ddio_msg_coll_abort, N)                           \
	X(joint, ddio_msg_joint, N)                                     \
	X(coll_join, ddio_msg_coll_join, N)                             \
	X(coll_step, ddio_msg_coll_step, N)                             \
	X(coll_told, ddio_msg_coll_told, F(ddio_coll_told_free))        \
	X(memory, ddio_msg_memory, N)                                   \
	X(share, ddio_msg_share, N)                                     \
	X(share_taken, ddio_msg_share_taken, N)                         \
	X(show, ddio_msg_show, N)                                       \
	X(mux_open, ddio_msg_mux_open, N)                               \
	X(mux_data, ddio_msg_mux_data, N)                               \
	X(mux_window, ddio_msg_mux_window, N)                           \
	X(mux_part, ddio_msg_mux_part, N)                               \
	X(mux_end, ddio_msg_mux_end, N)                                 \
	X(coll_slots, ddio_msg_coll_slots, P(at))                       \
	X(coll_copied, ddio_msg_coll_copied, P(copied))                 \
	X(status, ddio_msg_status, F(ddio_status_free))                 \
	X(bounds, ddio_msg_bounds, P(bound))                            \
	X(user, ddio_msg_user, N)                                       \
	X(grant, ddio_msg_grant, N)                                     \
	X(job, ddio_msg_job, N)                                         \
	X(jobs, ddio_msg_jobs, P(job))                                  \
	X(wrong, ddio_msg_wrong, N)                                     \
	X(trace_ask, ddio_msg_trace_ask, N)                             \
	X(trace, ddio_msg_trace, F(ddio_trace_free))                    \
	X(scrub_ask, ddio_msg_scrub_ask, N)                             \
	X(scrub, ddio_msg_scrub, N)                                     \
	X(query, ddio_msg_query, F(ddio_msg_query_free))                \
	X(answer, ddio_msg_answer, N)                                   \
	X(group_join, ddio_msg_group_join, N)                           \
	X(group_table, ddio_msg_group_table, P(entry))                  \
	X(fan, ddio_msg_fan, N)                                         \
	X(exchange, ddio_msg_exchange, N)                               \
	X(counter, ddio_msg_counter, N)

#endif /* DDIO_TEST_CODECS_IO_H */
