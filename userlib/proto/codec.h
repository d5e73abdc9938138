/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pieces of messages that several codecs share.  Private to proto. */
#ifndef DDIO_PROTO_CODEC_H
#define DDIO_PROTO_CODEC_H

#include "proto/cursor.h"
#include "proto/proto.h"

/* Shortest encodings, to compare counts with the bytes that remain. */
#define DDIO_RECORD_MIN 58
#define DDIO_PART_MIN 16

void ddio_wr_file_ref(struct ddio_wr *w, const struct ddio_file_ref *ref);
/* Only reads; what must hold depends on the message. */
void ddio_rd_file_ref(struct ddio_rd *r, struct ddio_file_ref *ref);
bool ddio_block_ok(uint32_t block);
bool ddio_file_ref_ok(const struct ddio_file_ref *ref);

void ddio_wr_record(struct ddio_wr *w, const struct ddio_file_record *rec);
/* After an error nothing of @rec is allocated. */
void ddio_rd_record(struct ddio_rd *r, struct ddio_file_record *rec);

void ddio_wr_part(struct ddio_wr *w, const struct ddio_part *part);
/* @array: where an array goes; NULL allocates it.  After an error @part must be freed. */
void ddio_rd_part(struct ddio_rd *r, struct ddio_part *part, struct ddio_array *array);

/* @n entries of @size bytes, or NULL with the error set; NULL without one if @n is 0. */
void *ddio_rd_alloc(struct ddio_rd *r, uint64_t n, size_t size);

/* A rank and the size of its group. */
void ddio_rd_member(struct ddio_rd *r, uint32_t rank, uint32_t size);

#endif /* DDIO_PROTO_CODEC_H */
