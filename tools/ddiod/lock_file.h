/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that one process at a time holds the lock of, for as long as it lives. */
#ifndef TOOLS_LOCK_FILE_H
#define TOOLS_LOCK_FILE_H

#include <sys/types.h>

/**
 * lock_file_open - open a lock file, making it
 * @path: of the file
 *
 * Return: a descriptor, the caller's to close; -errno
 */
int lock_file_open(const char *path);

/**
 * lock_file_take - take the lock; it is held until the descriptor is closed
 * @fd: from lock_file_open()
 * @wait_ms: for how many milliseconds to try again while another process holds
 *	it; a process that was killed does until the kernel is done with it
 *
 * Return: 0; -EWOULDBLOCK: another process holds it; another -errno
 */
int lock_file_take(int fd, unsigned int wait_ms);

/**
 * lock_file_sign - write our process number into the file
 * @fd: from lock_file_open(), its lock taken
 *
 * Return: 0 or -errno
 */
int lock_file_sign(int fd);

/**
 * lock_file_holder - the process that signed last
 * @fd: from lock_file_open()
 *
 * Return: its number; 0 if there is none in the file
 */
pid_t lock_file_holder(int fd);

#endif /* TOOLS_LOCK_FILE_H */
