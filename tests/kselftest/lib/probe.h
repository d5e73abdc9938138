/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call whose errno is looked at; to be included after the harness.  A call that fails
 * must leave the struct as it was.
 */
#ifndef KT_PROBE_H
#define KT_PROBE_H

#include <string.h>
#include <sys/mman.h>

#include "lib/kt.h"

/* Errnos seen by all cases of a program, which are processes; NULL before kt_seen_begin(). */
static uint8_t *kt_seen __attribute__((unused));

static inline void kt_seen_begin(void)
{
	kt_seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Returns the positive errno of a call, whose struct has @size bytes. */
static inline int probe(struct __test_metadata *_metadata, int fd, unsigned int cmd, void *arg,
			size_t size)
{
	unsigned char before[256];
	int err;

	memcpy(before, arg, size);
	err = -kt_call(fd, cmd, arg);
	if (kt_seen)
		kt_seen[err & 255] = 1;
	if (!err)
		return 0;
	if (cmd == DDIO_SUBMIT)
		memcpy(before + offsetof(struct ddio_submit, out_block),
		       (char *)arg + offsetof(struct ddio_submit, out_block), sizeof(__u64));
	EXPECT_EQ(0, memcmp(before, arg, size))
	{
		TH_LOG("command %#x failed with %d and changed the struct", cmd, err);
	}
	return err;
}

#endif /* KT_PROBE_H */
