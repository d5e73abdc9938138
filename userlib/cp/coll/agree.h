/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What must be the same on all members that begin a transfer. */
#ifndef DDIO_CP_AGREE_H
#define DDIO_CP_AGREE_H

#include <ddio/ddio.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "proto/proto.h"

#define AGREE_LEN 24

/**
 * struct agree - what a member is about to do
 * @part: enum ddio_part_kind
 * @file: its id
 * @array: encoded part, if it is an array
 */
struct agree {
	uint32_t writing;
	uint32_t method;
	uint32_t flags;
	uint32_t part;
	uint64_t file;
	const void *array;
	size_t array_len;
};

/* Encodes @agree if there is room; returns its length. */
ssize_t agree_put(void *buf, size_t cap, const struct agree *agree);
/* Says in @text how the descriptions of two ranks differ, if they make sense. */
void agree_explain(uint32_t rank_a, const void *a, size_t a_len, uint32_t rank_b, const void *b,
		   size_t b_len, char text[DDIO_MAX_TEXT]);

#endif /* DDIO_CP_AGREE_H */
