// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the disks that are made by software keep their data: sparse memory,
 * or a file, whose pages are the kernel's and so outlive the process.  A file is
 * read and written by system calls, not mapped: a full file system then is an
 * error of one request instead of a signal that ends the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/crc32c.h"
#include "env/disk/priv.h"
#include "env/name.h"

static int file_size(int fd, const struct stat *st, uint64_t *size)
{
	if (S_ISBLK(st->st_mode))
		return ioctl(fd, BLKGETSIZE64, size) ? -errno : 0;
	if (!S_ISREG(st->st_mode))
		return -ENOTBLK;
	*size = st->st_size;
	return 0;
}

static int file_grow(int fd, const struct ddio_disk_spec *spec, uint64_t size, char *err,
		     size_t err_len)
{
	int ret = ftruncate(fd, (off_t)size) ? -errno : 0;

	if (ret)
		disk_err(err, err_len, spec, "%s: cannot grow to %llu bytes: %s", spec->path,
			 (unsigned long long)size, strerror(-ret));
	return ret;
}

/*
 * Only an empty file is made longer.  A file with anything in it may be a disk whose end was cut off,
 * and what is grown at its end would be read as zeros.
 * Return: 0 or -errno, with a line in @err; @size is the real one afterwards.
 */
static int file_fit(int fd, const struct ddio_disk_spec *spec, uint64_t *size, char *err,
		    size_t err_len)
{
	uint64_t have = 0;
	struct stat st;
	int ret;

	ret = fstat(fd, &st) ? -errno : file_size(fd, &st, &have);
	if (ret) {
		disk_err(err, err_len, spec, "%s: %s", spec->path,
			 ret == -ENOTBLK ? "neither a block device nor a regular file"
					 : strerror(-ret));
		return ret;
	}
	if (!have && *size && spec->create && S_ISREG(st.st_mode)) {
		ret = file_grow(fd, spec, *size, err, err_len);
		if (ret)
			return ret;
		have = *size;
	}
	if (have < *size || !have) {
		disk_err(
			err, err_len, spec, "%s: has %llu bytes, but %llu are needed%s", spec->path,
			(unsigned long long)have, (unsigned long long)*size,
			have ? ": its end is missing; restore all of it from a backup, or replace the "
			       "disk by an empty one"
			     : "");
		return -ENOSPC;
	}
	if (!*size)
		*size = have;
	return 0;
}

/* A disk that is flushed must not vanish with its name. */
static int file_name_keep(const struct ddio_disk_spec *spec, char *err, size_t err_len)
{
	int ret = env_name_sync(spec->path);

	if (!ret || ret == -EACCES)
		return 0;
	disk_err(err, err_len, spec, "%s: cannot sync its directory: %s", spec->path,
		 strerror(-ret));
	return ret;
}

int disk_file_open(const struct ddio_disk_spec *spec, int flags, uint64_t *size, char *err,
		   size_t err_len)
{
	struct stat st;
	int fd, ret;
	bool block;

	flags |= O_RDWR | O_CLOEXEC;
	if (spec->create)
		flags |= O_CREAT;
	/* On a block device O_EXCL asks for exclusive use; O_CREAT must not come with it. */
	block = !stat(spec->path, &st) && S_ISBLK(st.st_mode);
	if (block)
		flags = (flags | O_EXCL) & ~O_CREAT;
	fd = open(spec->path, flags, 0600);
	if (fd < 0) {
		ret = -errno;
		if (ret != -EINVAL || !(flags & O_DIRECT))
			disk_err(err, err_len, spec, "%s: %s", spec->path,
				 ret == -EBUSY ? "already in use" : strerror(-ret));
		return ret;
	}
	if (!block && flock(fd, LOCK_EX | LOCK_NB)) {
		ret = errno == EWOULDBLOCK ? -EBUSY : -errno;
		disk_err(err, err_len, spec, "%s: %s", spec->path,
			 ret == -EBUSY ? "already in use" : strerror(-ret));
		goto close_fd;
	}
	ret = file_fit(fd, spec, size, err, err_len);
	if (!ret && spec->create && !block)
		ret = file_name_keep(spec, err, err_len);
	if (ret)
		goto close_fd;
	return fd;

close_fd:
	close(fd);
	return ret;
}

static int medium_fit(struct backing *store, const struct ddio_disk_spec *spec, char *err,
		      size_t err_len)
{
	if (store->size > store->medium->size) {
		disk_err(err, err_len, spec, "%s: has %llu bytes, but %llu are needed", spec->path,
			 (unsigned long long)store->medium->size, (unsigned long long)store->size);
		store->medium->ops->close(store->medium);
		return -ENOSPC;
	}
	if (!store->size)
		store->size = store->medium->size;
	return 0;
}

int backing_open(struct ddio_env *env, struct backing *store, const struct ddio_disk_spec *spec,
		 uint64_t size, char *err, size_t err_len)
{
	store->map = NULL;
	store->fd = -1;
	store->medium = NULL;
	store->size = size;
	if (spec->path && env->ops->medium)
		store->medium = env->ops->medium(env, spec->path);
	if (store->medium)
		return medium_fit(store, spec, err, err_len);
	if (spec->path) {
		store->fd = disk_file_open(spec, 0, &store->size, err, err_len);
		return store->fd < 0 ? store->fd : 0;
	}
	if (!size || size > SIZE_MAX / 2) {
		disk_err(err, err_len, spec, "a disk in memory needs a size%s",
			 size ? " that can be addressed" : "");
		return -EINVAL;
	}
	store->map = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (store->map == MAP_FAILED) {
		store->map = NULL;
		disk_err(err, err_len, spec, "no address space for %llu bytes: %s",
			 (unsigned long long)size, strerror(errno));
		return -ENOMEM;
	}
	return 0;
}

void backing_huge(struct backing *store)
{
	if (store->map)
		madvise(store->map, store->size, MADV_HUGEPAGE);
}

void backing_close(struct backing *store)
{
	if (store->map)
		munmap(store->map, store->size);
	if (store->fd >= 0)
		close(store->fd);
	if (store->medium)
		store->medium->ops->close(store->medium);
}

uint64_t backing_begun(struct backing *store, const struct ddio_disk_req *req)
{
	return store->medium ? store->medium->ops->begun(store->medium, req) : 0;
}

int disk_file_rw(int fd, bool write, void *data, uint64_t len, uint64_t offset)
{
	uint8_t *buf = data;
	ssize_t n;

	while (len) {
		n = write ? pwrite(fd, buf, len, offset) : pread(fd, buf, len, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO; /* the file was truncated */
		buf += n;
		offset += n;
		len -= n;
	}
	return 0;
}

static void copy(const struct ddio_disk_req *req, uint8_t *medium, uint64_t at, uint64_t len)
{
	uint8_t *buf = (uint8_t *)req->buf + at;

	if (req->op == DDIO_DISK_WRITE)
		memcpy(medium + at, buf, len);
	else
		memcpy(buf, medium + at, len);
}

/*
 * Copies a chunk; returns the sum of where it went.  Others may have the buffer mapped, and change it meanwhile.  What the medium gets
 * is read again later, if ever.
 */
static uint32_t copy_summed(const struct ddio_disk_req *req, uint8_t *medium, uint64_t at,
			    uint64_t len)
{
	uint8_t *buf = (uint8_t *)req->buf + at;

	if (req->op == DDIO_DISK_WRITE)
		return ddio_crc32c_copy(0, medium + at, buf, len, true);
	return ddio_crc32c_copy(0, buf, medium + at, len, false);
}

/* Copies, and makes the checksums if they are wanted and there is room for them. */
static void copy_all(const struct ddio_disk_req *req, uint8_t *medium)
{
	uint64_t at, n;

	if (!req->sums || req->len > (uint64_t)DISK_SUMS * DDIO_DISK_SUM_LEN) {
		copy(req, medium, 0, req->len);
		return;
	}
	for (at = 0; at < req->len; at += n) {
		n = req->len - at < DDIO_DISK_SUM_LEN ? req->len - at : DDIO_DISK_SUM_LEN;
		req->sums->sum[req->sums->n++] = copy_summed(req, medium, at, n);
	}
}

int backing_transfer(struct backing *store, const struct ddio_disk_req *req)
{
	if (store->medium)
		return store->medium->ops->transfer(store->medium, req);
	if (req->op == DDIO_DISK_FLUSH)
		return 0;
	if (store->fd >= 0)
		return disk_file_rw(store->fd, req->op == DDIO_DISK_WRITE, req->buf, req->len,
				    req->offset);
	copy_all(req, store->map + req->offset);
	return 0;
}
