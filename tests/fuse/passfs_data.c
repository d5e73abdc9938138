// SPDX-License-Identifier: GPL-2.0-only
/* File data. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "passfs.h"

size_t ddio_fs_read_near(struct ddio_fs_file *file, void *buf, size_t len, uint64_t offset)
{
	(void)file;
	(void)buf;
	(void)len;
	(void)offset;
	return 0;
}

void ddio_fs_read(struct ddio_fs_file *file, void *buf, size_t len, uint64_t offset,
		  ddio_fs_done done, void *arg)
{
	ssize_t n = pread(passfs_file(file)->fd, buf, len, (off_t)offset);

	answer_value(passfs_file(file)->fs, done, arg, n < 0 ? -errno : n);
}

void ddio_fs_write(struct ddio_fs_file *file, const void *buf, size_t len, uint64_t offset,
		   ddio_fs_done done, void *arg)
{
	ssize_t n = pwrite(passfs_file(file)->fd, buf, len, (off_t)offset);

	answer_value(passfs_file(file)->fs, done, arg, n < 0 ? -errno : n);
}

void ddio_fs_flush(struct ddio_fs_file *file, ddio_fs_done done, void *arg)
{
	answer_err(passfs_file(file)->fs, done, arg, 0);
}

void ddio_fs_sync(struct ddio_fs_file *file, ddio_fs_done done, void *arg)
{
	answer_err(passfs_file(file)->fs, done, arg, fsync(passfs_file(file)->fd) ? -errno : 0);
}

/* Zeroes a range by writing, for file systems that cannot do it themselves. */
static int zero_range(int fd, int mode, off_t offset, off_t len)
{
	char zero[4096] = { 0 };
	off_t end = offset + len;
	ssize_t n;

	if (mode & FALLOC_FL_KEEP_SIZE && end > lseek(fd, 0, SEEK_END))
		end = lseek(fd, 0, SEEK_END);
	for (; offset < end; offset += n) {
		n = end - offset < 4096 ? end - offset : 4096;
		n = pwrite(fd, zero, (size_t)n, offset);
		if (n <= 0)
			return -errno;
	}
	return 0;
}

void ddio_fs_allocate(struct ddio_fs_file *file, int mode, uint64_t offset, uint64_t len,
		      ddio_fs_done done, void *arg)
{
	int err = fallocate(passfs_file(file)->fd, mode, (off_t)offset, (off_t)len) ? -errno : 0;

	if (err == -EOPNOTSUPP && mode & FALLOC_FL_ZERO_RANGE)
		err = zero_range(passfs_file(file)->fd, mode, (off_t)offset, (off_t)len);
	answer_err(passfs_file(file)->fs, done, arg, err);
}

void ddio_fs_seek(struct ddio_fs_file *file, uint64_t offset, int whence, ddio_fs_done done,
		  void *arg)
{
	off_t at = lseek(passfs_file(file)->fd, (off_t)offset, whence);

	answer_value(passfs_file(file)->fs, done, arg, at < 0 ? -errno : at);
}

void ddio_fs_copy(struct ddio_fs_file *from, uint64_t from_offset, struct ddio_fs_file *to,
		  uint64_t to_offset, size_t len, ddio_fs_done done, void *arg)
{
	off_t in = (off_t)from_offset, out = (off_t)to_offset;
	ssize_t n = copy_file_range(passfs_file(from)->fd, &in, passfs_file(to)->fd, &out, len, 0);

	answer_value(passfs_file(from)->fs, done, arg, n < 0 ? -errno : n);
}

void ddio_fs_file_close(struct ddio_fs_file *file, ddio_fs_done done, void *arg)
{
	struct ddio_fs *fs = passfs_file(file)->fs;

	close(passfs_file(file)->fd);
	free(file);
	answer_err(fs, done, arg, 0);
}
