/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What must be the same on all members that begin a transfer. */
#ifndef DDIO_CP_AGREE_H
#define DDIO_CP_AGREE_H

#include "cp/node/session.h"

#define DDIO_AGREE_LEN 24

/**
 * struct agree - what a member means to do
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

/* As the other put functions. */
ssize_t agree_put(void *buf, size_t cap, const struct agree *agree);
const char *method_name(uint32_t method);

#endif /* DDIO_CP_AGREE_H */
