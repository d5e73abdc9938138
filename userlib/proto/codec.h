/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pieces of messages that several codecs share.  Private to proto. */
#ifndef DDIO_PROTO_CODEC_H
#define DDIO_PROTO_CODEC_H

#include "proto/coder.h"
#include "proto/crowd.h"

/* Shortest encodings, to compare counts with the bytes that remain. */
#define RECORD_MIN 58
#define PART_MIN 16

/* Checks nothing: what must hold depends on the message. */
static inline void code_file_ref(struct ddio_coder *c, struct ddio_file_ref *ref)
{
	code_u64(c, &ref->id);
	code_u64(c, &ref->seed);
	code_u32(c, &ref->block);
	code_u32(c, &ref->layout);
}

static inline bool file_ref_ok(const struct ddio_file_ref *ref)
{
	return ref->id && ddio_block_ok(ref->block) && ref->layout < DDIO_LAYOUT_MAX_W;
}

/* After an error nothing of @rec is allocated. */
void code_record(struct ddio_coder *c, struct ddio_file_record *rec);

/* A reader puts an array into @array; NULL: allocates it.  After an error @part must be freed. */
void code_part(struct ddio_coder *c, struct ddio_part *part, struct ddio_array *array);

/* Codes a number of as many bytes as it needs, seven bits in each. */
void code_number(struct ddio_coder *c, uint64_t *v);

/* Reads a crowd, of which bytes may be left over.  After an error nothing is allocated. */
int crowd_read(const void *buf, size_t len, struct ddio_crowd *crowd, size_t *used);
/* Codes one that carries nothing.  After an error @crowd must be freed. */
void code_crowd_only(struct ddio_coder *c, struct ddio_crowd *crowd);
/* Returns zeroed memory that goes with the crowd; NULL without memory. */
void *crowd_hold(struct ddio_crowd *crowd, size_t bytes);
/* Gives @to the descriptions that @from owns, and frees @from. */
void crowd_adopt(struct ddio_crowd *to, struct ddio_crowd *from);
bool crowd_tree_same(const struct ddio_tree *a, const struct ddio_tree *b);
/* Returns true if @b is @a shifted, looking at the first members only. */
bool kin_shift(const struct ddio_kin *a, const struct ddio_kin *b, uint64_t *offset,
	       uint64_t *skip);

/* After an error @x must be freed. */
void code_disk_ids(struct ddio_coder *c, struct ddio_msg_disk_ids *x);

/* Checks a rank and the size of its group. */
static inline void check_member(struct ddio_coder *c, uint32_t rank, uint32_t size)
{
	code_check(c, size <= DDIO_MAX_MEMBERS, -EMSGSIZE);
	code_check(c, rank < size, -EINVAL);
}

#endif /* DDIO_PROTO_CODEC_H */
