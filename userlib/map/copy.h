/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies between bytes that lie in nested strides on both sides. */
#ifndef DDIO_MAP_COPY_H
#define DDIO_MAP_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <ddio/dist.h>

#define COPY_LEVELS (2 * DDIO_MAX_DIMS + 2)

/**
 * struct strided_copy - the bytes to copy, and their strides on both sides
 * @len: bytes of each piece
 * @past: nobody reads soon what is written, and the caches cannot hold all of it: pieces that are long go past them
 * @nlevels: levels in use
 * @level: outermost first; distances are two's complement
 */
struct strided_copy {
	uint64_t len;
	bool past;
	uint32_t nlevels;
	struct copy_level {
		uint64_t count;
		uint64_t dst;
		uint64_t src;
	} level[COPY_LEVELS];
};

void copy_run(const struct strided_copy *copy, void *dst, const void *src);

/* Copies @count pieces of @len bytes: the innermost level of the above. */
void copy_row(char *dst, uint64_t dst_stride, const char *src, uint64_t src_stride, uint64_t len,
	      uint64_t count);

#endif /* DDIO_MAP_COPY_H */
