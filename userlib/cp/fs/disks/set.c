// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests to the disks of an inode: all at once, and again where a node did not answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/disks/set.h"

uint64_t fsc_share(const struct ddio_file_record *rec, uint32_t i, uint64_t end)
{
	uint64_t full = end / rec->ref.block, last = full % rec->ndisks;
	uint64_t bytes = (full / rec->ndisks + (i < last)) * rec->ref.block;

	return i == last ? bytes + end % rec->ref.block : bytes;
}

void fsc_set_init(struct fsc_set *set, struct fsc_reactor *r, const struct ddio_file_record *rec,
		  void (*done)(struct fsc_set *set))
{
	memset(set, 0, sizeof(*set));
	set->r = r;
	set->rec = rec;
	set->done = done;
}

int fsc_set_alloc(struct fsc_set *set, uint32_t n)
{
	set->piece = calloc(n, sizeof(*set->piece));
	set->n = set->piece ? n : 0;
	return set->piece ? 0 : -ENOMEM;
}

void fsc_set_free(struct fsc_set *set)
{
	free(set->piece);
	set->piece = NULL;
	set->n = 0;
	fsc_error_free(&set->error);
}

void fsc_set_begin(struct fsc_set *set)
{
	set->left = 1;
}

void fsc_set_end(struct fsc_set *set)
{
	if (!--set->left)
		set->done(set);
}

static void piece_submit(struct fsc_piece *piece);

static void piece_again(struct fsc_wait *wait)
{
	piece_submit(ddio_container_of(wait, struct fsc_piece, wait));
}

static uint32_t piece_node(const struct fsc_piece *piece)
{
	const struct ddio_session *s = piece->set->r->session;

	return piece->obj.disk < s->conf->ndisks ? s->conf->disks[piece->obj.disk].node : 0;
}

/* Which life of the node has it is known only now: it may be another one when the last piece is answered. */
static void piece_pin(const struct fsc_piece *piece)
{
	struct fsc_inode *inode = piece->set->pins;
	uint32_t i = piece->to ? piece->to_i : piece->i;

	if (!inode->pin[i])
		inode->pin[i] = piece->request.boot;
}

static void piece_done(struct node_request *request, const struct reply *reply)
{
	struct fsc_piece *piece = ddio_container_of(request, struct fsc_piece, request);
	struct fsc_set *set = piece->set;

	if (!reply->status) {
		fsc_answered(set->r, piece_node(piece));
		if (set->pins)
			piece_pin(piece);
		if (set->reply)
			set->reply(set, piece, reply);
	} else if (fsc_status_again(reply->status) && fsc_again(set->r, piece_node(piece)) &&
		   !set->once) {
		fsc_wait(set->r, &piece->wait, piece_again);
		return;
	} else if (reply->status != DDIO_ST_NOT_FOUND || !set->missing_ok) {
		fsc_error_reply(&set->error, reply);
	}
	fsc_set_end(set);
}

static ssize_t piece_put(struct fsc_piece *piece)
{
	struct node_request *r = &piece->request;
	struct ddio_msg_obj_copy copy = { .from = piece->obj.file, .disk = piece->obj.disk };

	if (piece->opcode != DDIO_OP_OBJ_COPY)
		return ddio_put_obj(r->inl, sizeof(r->inl), &piece->obj);
	copy.to = *piece->to;
	copy.from_offset = piece->obj.offset;
	copy.to_offset = piece->to_offset;
	copy.len = piece->obj.len;
	return ddio_put_obj_copy(r->inl, sizeof(r->inl), &copy);
}

static void piece_submit(struct fsc_piece *piece)
{
	struct fsc_set *set = piece->set;
	struct node_request *r = &piece->request;
	ssize_t n;

	if (fsc_closing(set->r->fs)) {
		fsc_error_set(&set->error, -ESHUTDOWN, "the file system is being closed");
		fsc_set_end(set);
		return;
	}
	request_init(r, piece->opcode, piece_done, piece);
	n = piece_put(piece);
	if (n < 0) {
		fsc_error_set(&set->error, (int)n, "a request that is too long");
		fsc_set_end(set);
		return;
	}
	r->fixed = r->inl;
	r->fixed_len = (size_t)n;
	r->in = piece->opcode == DDIO_OP_OBJ_READ;
	r->bulk = piece->niov ? piece->obj.len : 0;
	/* Little that is written travels behind the fixed record, copied. */
	if (piece->niov == 1 && !r->in && piece->obj.len <= sizeof(r->inl) - (size_t)n) {
		memcpy(r->inl + n, piece->iov->iov_base, piece->obj.len);
		r->fixed_len += piece->obj.len;
	} else {
		r->iov = piece->iov;
		r->n = piece->niov;
	}
	request_disk(set->r->session, piece->obj.disk, r);
}

void fsc_piece_send(struct fsc_set *set, struct fsc_piece *piece)
{
	piece->set = set;
	piece->obj.file = set->rec->ref;
	piece->obj.disk = set->rec->disks[piece->i];
	set->left++;
	piece_submit(piece);
}

void fsc_set_range(struct fsc_set *set, uint16_t opcode, uint32_t flags, uint64_t from, uint64_t to,
		   bool all)
{
	const struct ddio_file_record *rec = set->rec;
	struct fsc_piece *piece;
	uint64_t lo, hi;
	uint32_t i;
	int err;

	fsc_set_begin(set);
	err = fsc_set_alloc(set, rec->ndisks);
	if (err)
		fsc_error_set(&set->error, err, "out of memory");
	for (i = 0; i < rec->ndisks && !err; i++) {
		lo = fsc_share(rec, i, from);
		hi = fsc_share(rec, i, to);
		if (lo == hi && !all)
			continue;
		piece = &set->piece[i];
		piece->i = i;
		piece->opcode = opcode;
		piece->obj.flags = flags;
		piece->obj.offset = opcode == DDIO_OP_OBJ_TRUNCATE ? 0 : lo;
		piece->obj.len = hi - piece->obj.offset;
		fsc_piece_send(set, piece);
	}
	fsc_set_end(set);
}
