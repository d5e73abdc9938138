/* SPDX-License-Identifier: GPL-2.0-only */
/* A file whose lock one process at a time holds, until it ends. */
#ifndef TOOLS_LOCK_FILE_H
#define TOOLS_LOCK_FILE_H

#include <sys/types.h>

/**
 * lock_file_open - open a lock file; make it if it does not exist
 * @path: the file
 *
 * Return: a descriptor, which the caller closes; -errno
 */
int lock_file_open(const char *path);

/**
 * lock_file_take - take the lock; it is held until the descriptor is closed
 * @fd: from lock_file_open()
 * @wait_ms: how long to try again while another process holds it; a process that was killed
 *	holds it until the kernel has cleaned up after it
 *
 * Return: 0; -EWOULDBLOCK: another process holds it; another -errno
 */
int lock_file_take(int fd, unsigned int wait_ms);

/**
 * lock_file_sign - write this process's ID into the file
 * @fd: from lock_file_open(), its lock taken
 *
 * Return: 0 or -errno
 */
int lock_file_sign(int fd);

/**
 * lock_file_holder - the process that signed last
 * @fd: from lock_file_open()
 *
 * Return: its ID; 0 if the file has none
 */
pid_t lock_file_holder(int fd);

#endif /* TOOLS_LOCK_FILE_H */
