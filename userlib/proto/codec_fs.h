/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pieces of the file system's messages that several codecs share.  Private to proto. */
#ifndef DDIO_PROTO_CODEC_FS_H
#define DDIO_PROTO_CODEC_FS_H

#include "proto/codec.h"

void ddio_wr_fs_seq(struct ddio_wr *w, const struct ddio_fs_seq *seq);
void ddio_rd_fs_seq(struct ddio_rd *r, struct ddio_fs_seq *seq);
void ddio_wr_fs_attr(struct ddio_wr *w, const struct ddio_fs_attr *a);
void ddio_rd_fs_attr(struct ddio_rd *r, struct ddio_fs_attr *a);
void ddio_wr_time(struct ddio_wr *w, const struct timespec *t);
void ddio_rd_time(struct ddio_rd *r, struct timespec *t);
/* Not 0. */
uint64_t ddio_rd_ino(struct ddio_rd *r);
/* Unknown bits are malformed. */
uint32_t ddio_rd_flags(struct ddio_rd *r, uint32_t known);
/* Of a directory's entry, into DDIO_MAX_NAME + 1 bytes. */
void ddio_rd_fs_name(struct ddio_rd *r, char *name);
bool ddio_mode_ok(uint32_t mode);

#endif /* DDIO_PROTO_CODEC_FS_H */
