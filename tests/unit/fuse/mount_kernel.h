/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's side of a mount, for tests of what is between it and the library: libfuse's replies, which
 * note what a request got; and those parts of the mount that are not tested with it.
 */
#ifndef DDIO_MOUNT_KERNEL_H
#define DDIO_MOUNT_KERNEL_H

#include "fuse/ddiofs.h"

/* A mount's session is NULL, or a number: how often the kernel was told to forget attributes, and nothing else. */

/**
 * struct fuse_req - a request of the kernel
 * @ctx: of the process; @gone: no one receives the answer
 * @requests: how many the mount has made of it, each of which takes memory
 * @early: it was answered before the library had
 * @written: bytes, by such an answer
 * @answers: how many it got; @err and the others: the last
 */
struct fuse_req {
	struct mount *m;
	struct fuse_ctx ctx;
	bool early;
	uint32_t written;
	int gone, answers, err, requests;
	uint64_t ino, size, fh;
	double timeout;
};

#endif /* DDIO_MOUNT_KERNEL_H */
