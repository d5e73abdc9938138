// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Block devices and files through the kernel's asynchronous I/O (libaio).
 *
 * Requests wait in a queue for one of the slots, each an iocb; a commit fills
 * all free slots and hands them over in one call.  A flush is a fence: it starts
 * when all before it have ended, and later requests start after it has ended, so
 * that it covers exactly what was submitted before it.
 *
 * A write that a flush will follow (durable), and that begins while nothing else is under way and nothing waits for a flush, is
 * done with RWF_DSYNC.  The flush then has nothing to do, and ends at once.  If such a write fails, it may be the flush
 * in it that did.  That concerns nothing but its own bytes, which its user still has, unless others were written beside
 * it: then the next flush fails, as one that has lost something.
 */
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "env/disk/priv.h"

#define AIO_SECTOR_MIN 512
#define AIO_SECTOR_MAX 4096

/* The engine's part of a request's priv: bytes already moved; the status to end with. */
enum { PRIV_MOVED, PRIV_STATUS };

struct aio_options {
	uint64_t depth;
	bool direct;
};

/**
 * struct aio_disk - one disk
 * @base: what the wrapper knows
 * @opts: as given
 * @fd: the device or file
 * @ctx: the kernel's side
 * @watcher: the eventfd that signals completions
 * @waiting: requests that have no slot yet
 * @ended: requests whose end the loop is to report
 * @free: slots that are free, the first @n_free
 * @iocbs: one for each slot
 * @batch: the iocbs of one io_submit()
 * @events: room for the completions of one io_getevents()
 * @n_free: see @free
 * @fence: a flush is in its slot, alone
 * @may: writes can be durable
 * @loose: something was written that may not be on stable storage
 * @durable: the write that is under way with RWF_DSYNC, or NULL; @beside: others have begun since
 * @lost: 0, or the error of one beside which others were written
 */
struct aio_disk {
	struct ddio_disk base;
	struct aio_options opts;
	int fd;
	io_context_t ctx;
	struct ddio_watcher watcher;
	struct ddio_list waiting;
	struct ddio_list ended;
	struct iocb **free;
	struct iocb *iocbs;
	struct iocb **batch;
	struct io_event *events;
	unsigned int n_free;
	bool fence, may, loose, beside;
	struct ddio_disk_req *durable;
	int lost;
};

static const struct ddio_opt aio_options[] = {
	{
		.name = "depth",
		.type = OPT_U64,
		.offset = offsetof(struct aio_options, depth),
		.min = 1,
		.max = 4096,
		.help = "most requests given to the kernel at a time",
	},
	{
		.name = "direct",
		.type = OPT_BOOL,
		.offset = offsetof(struct aio_options, direct),
		.help = "bypass the page cache (O_DIRECT) where the file system can",
	},
	{ .name = NULL },
};

static struct aio_disk *aio_of(const struct ddio_disk *disk)
{
	return ddio_container_of(disk, struct aio_disk, base);
}

/*
 * Starting requests
 */
static void aio_end_later(struct aio_disk *a, struct ddio_disk_req *req, int status)
{
	req->priv[PRIV_STATUS] = status;
	ddio_list_add(&req->link, &a->ended);
	disk_kick(&a->base);
}

/* The request has its slot already. */
static bool aio_may_be_durable(const struct aio_disk *a, const struct ddio_disk_req *req)
{
	return req->durable && a->may && !a->loose && a->n_free == a->opts.depth - 1;
}

static void aio_write_begins(struct aio_disk *a, struct iocb *iocb, struct ddio_disk_req *req)
{
	if (aio_may_be_durable(a, req)) {
		iocb->aio_rw_flags = RWF_DSYNC;
		a->durable = req;
		a->beside = false;
	} else {
		a->loose = true;
		a->beside = true;
	}
}

static void aio_write_ends(struct aio_disk *a, struct ddio_disk_req *req, long res)
{
	if (req != a->durable)
		return;
	a->durable = NULL;
	if (res >= 0)
		return;
	a->loose = true;
	if (a->beside)
		a->lost = (int)res;
}

static void aio_prepare(struct aio_disk *a, struct iocb *iocb, struct ddio_disk_req *req)
{
	uint64_t moved = req->priv[PRIV_MOVED];
	char *buf = (char *)req->buf + moved;

	if (req->op == DDIO_DISK_FLUSH)
		io_prep_fdsync(iocb, a->fd);
	else if (req->op == DDIO_DISK_WRITE)
		io_prep_pwrite(iocb, a->fd, buf, req->len - moved, req->offset + moved);
	else
		io_prep_pread(iocb, a->fd, buf, req->len - moved, req->offset + moved);
	if (req->op == DDIO_DISK_WRITE)
		aio_write_begins(a, iocb, req);
	io_set_eventfd(iocb, a->watcher.fd);
	iocb->data = req;
}

/* Takes slots for what may start now.  Return: how many of @batch are filled. */
static long aio_fill(struct aio_disk *a)
{
	struct ddio_disk_req *req;
	struct iocb *iocb;
	long n = 0;

	while (a->n_free && !a->fence && !ddio_list_empty(&a->waiting)) {
		req = ddio_list_first(&a->waiting, struct ddio_disk_req, link);
		if (req->op == DDIO_DISK_FLUSH && a->n_free < a->opts.depth)
			break;
		ddio_list_del(&req->link);
		if (req->op == DDIO_DISK_FLUSH && (!a->loose || a->lost)) {
			aio_end_later(a, req, a->lost);
			continue;
		}
		a->fence = req->op == DDIO_DISK_FLUSH;
		iocb = a->free[--a->n_free];
		aio_prepare(a, iocb, req);
		a->batch[n++] = iocb;
	}
	return n;
}

/* Takes back the slots of iocbs that the kernel has not taken, the first to wait again first. */
static void aio_unfill(struct aio_disk *a, struct iocb **batch, long n)
{
	struct ddio_disk_req *req;

	while (n--) {
		req = batch[n]->data;
		if (req == a->durable)
			a->durable = NULL;
		a->free[a->n_free++] = batch[n];
		ddio_list_push(&req->link, &a->waiting);
	}
	a->fence = false;
}

static void aio_start(struct aio_disk *a)
{
	struct ddio_disk_req *req;
	long n, taken, i = 0;

	n = aio_fill(a);
	while (i < n) {
		taken = io_submit(a->ctx, n - i, &a->batch[i]);
		if (taken > 0) {
			i += taken;
			continue;
		}
		if (taken == -EINTR)
			continue;
		if (taken == -EAGAIN || !taken) {
			/* The kernel lacks resources: try again after a completion, or soon. */
			aio_unfill(a, &a->batch[i], n - i);
			if (a->n_free == a->opts.depth)
				disk_kick(&a->base);
			return;
		}
		/* The kernel may not know RWF_DSYNC: if anything else is wrong, the plain write will tell. */
		if (a->batch[i]->data == a->durable) {
			a->may = false;
			aio_unfill(a, &a->batch[i], n - i);
			disk_kick(&a->base);
			return;
		}
		/* The first one is at fault; the kernel has not looked at those after it. */
		req = a->batch[i]->data;
		a->free[a->n_free++] = a->batch[i];
		if (req->op == DDIO_DISK_FLUSH)
			a->fence = false;
		aio_end_later(a, req, taken);
		i++;
	}
}

static void aio_submit(struct ddio_disk *disk, struct ddio_disk_req *req)
{
	struct aio_disk *a = aio_of(disk);

	req->priv[PRIV_MOVED] = 0;
	ddio_list_add(&req->link, &a->waiting);
	disk_kick(disk); /* in case the user does not commit */
}

static void aio_commit(struct ddio_disk *disk)
{
	aio_start(aio_of(disk));
}

/*
 * Ending requests
 */
static void aio_kick(struct ddio_disk *disk)
{
	struct aio_disk *a = aio_of(disk);
	struct ddio_disk_req *req;
	struct ddio_list ended;

	aio_start(a);
	ddio_list_init(&ended);
	ddio_list_splice(&a->ended, &ended);
	while (!ddio_list_empty(&ended)) {
		req = ddio_list_first(&ended, struct ddio_disk_req, link);
		ddio_list_del(&req->link);
		disk_complete(disk, req, (int)(int64_t)req->priv[PRIV_STATUS]);
	}
}

/* Return: true if the request has ended; else the rest of it waits for a slot again. */
static bool aio_event(struct aio_disk *a, const struct io_event *ev)
{
	struct ddio_disk_req *req = ev->data;
	long res = (long)ev->res;

	a->free[a->n_free++] = ev->obj;
	if (req->op == DDIO_DISK_FLUSH) {
		a->fence = false;
		a->loose = res < 0;
	}
	aio_write_ends(a, req, res);
	req->priv[PRIV_STATUS] = res < 0 ? res : 0;
	if (res < 0 || req->op == DDIO_DISK_FLUSH)
		return true;
	if (!res) {
		req->priv[PRIV_STATUS] = -EIO; /* the file was cut short */
		return true;
	}
	req->priv[PRIV_MOVED] += res;
	if (req->priv[PRIV_MOVED] >= req->len)
		return true;
	ddio_list_push(&req->link, &a->waiting);
	return false;
}

static void aio_ready(void *arg)
{
	struct aio_disk *a = arg;
	struct ddio_disk_req *req;
	struct ddio_list ended;
	uint64_t count;
	int i, n;

	if (read(a->watcher.fd, &count, sizeof(count)) < 0)
		return;
	n = io_getevents(a->ctx, 0, a->opts.depth, a->events, NULL);
	ddio_list_init(&ended);
	for (i = 0; i < n; i++) {
		req = a->events[i].data;
		if (aio_event(a, &a->events[i]))
			ddio_list_add(&req->link, &ended);
	}
	aio_start(a);
	while (!ddio_list_empty(&ended)) {
		req = ddio_list_first(&ended, struct ddio_disk_req, link);
		ddio_list_del(&req->link);
		disk_complete(&a->base, req, (int)(int64_t)req->priv[PRIV_STATUS]);
	}
}

/*
 * Opening
 */

/* Finds the unit of O_DIRECT by asking, else by trying.  Return: bytes, or 0 if none works. */
static uint32_t aio_direct_unit(int fd, uint32_t *align)
{
	uint32_t unit;
	void *buf;

#ifdef STATX_DIOALIGN
	struct statx stx;

	if (!statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &stx) &&
	    (stx.stx_mask & STATX_DIOALIGN) && stx.stx_dio_offset_align) {
		*align = stx.stx_dio_mem_align;
		return stx.stx_dio_offset_align < AIO_SECTOR_MIN ? AIO_SECTOR_MIN
								 : stx.stx_dio_offset_align;
	}
#endif
	if (posix_memalign(&buf, 2 * AIO_SECTOR_MAX, AIO_SECTOR_MAX))
		return 0;
	for (unit = AIO_SECTOR_MIN; unit <= AIO_SECTOR_MAX; unit *= 2)
		if (pread(fd, buf, unit, unit) >= 0)
			break;
	free(buf);
	*align = unit;
	return unit <= AIO_SECTOR_MAX ? unit : 0;
}

/* Of file systems that are not known to, some take RWF_DSYNC and keep nothing. */
static bool aio_file_durable(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && (fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC);
}

static int aio_geometry(struct aio_disk *a, bool direct)
{
	struct ddio_disk_info *info = &a->base.info;
	struct stat st;
	int sector;

	info->sector = AIO_SECTOR_MIN;
	info->align = 1;
	if (fstat(a->fd, &st))
		return -errno;
	/* Through the page cache such a write would be done before io_submit() returns. */
	a->may = direct && (S_ISBLK(st.st_mode) || aio_file_durable(a->fd));
	a->loose = true;
	if (S_ISBLK(st.st_mode)) {
		if (ioctl(a->fd, BLKSSZGET, &sector))
			return -errno;
		info->sector = sector;
		info->align = sector;
	} else if (direct) {
		info->sector = aio_direct_unit(a->fd, &info->align);
		if (!info->sector || !info->align)
			return -EINVAL;
	}
	return 0;
}

/* Opens the path, for direct I/O if possible; sets a->fd. */
static int aio_open_file(struct aio_disk *a, struct ddio_env *env,
			 const struct ddio_disk_spec *spec, char *err, size_t err_len)
{
	bool direct = a->opts.direct;
	uint64_t size = spec->size;
	int ret;

	a->fd = disk_file_open(spec, direct ? O_DIRECT : 0, &size, err, err_len);
	if (direct && a->fd == -EINVAL) {
		direct = false;
		a->fd = disk_file_open(spec, 0, &size, err, err_len);
		if (a->fd >= 0)
			ddio_env_log(
				env, DDIO_LOG_WARN,
				"disk %s: %s: direct I/O is not possible; through the page cache",
				spec->name, spec->path);
	}
	if (a->fd < 0)
		return a->fd;
	ret = aio_geometry(a, direct);
	if (ret) {
		disk_err(err, err_len, spec, "%s: cannot determine the sector size: %s", spec->path,
			 strerror(-ret));
		close(a->fd);
		return ret;
	}
	a->base.info.size = size / a->base.info.sector * a->base.info.sector;
	a->base.info.time_scale = 1.0;
	a->base.info.max_len = DISK_MAX_LEN;
	return 0;
}

static int aio_alloc(struct aio_disk *a)
{
	unsigned int i, depth = a->opts.depth;

	a->free = calloc(depth, sizeof(*a->free));
	a->batch = calloc(depth, sizeof(*a->batch));
	a->iocbs = calloc(depth, sizeof(*a->iocbs));
	a->events = calloc(depth, sizeof(*a->events));
	if (!a->free || !a->batch || !a->iocbs || !a->events)
		return -ENOMEM;
	for (i = 0; i < depth; i++)
		a->free[i] = &a->iocbs[i];
	a->n_free = depth;
	return 0;
}

static void aio_release(struct aio_disk *a)
{
	free(a->free);
	free(a->batch);
	free(a->iocbs);
	free(a->events);
	free(a);
}

static int aio_setup(struct aio_disk *a, struct ddio_env *env, const struct ddio_disk_spec *spec,
		     char *err, size_t err_len)
{
	int ret;

	a->watcher.fn = aio_ready;
	a->watcher.arg = a;
	a->watcher.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (a->watcher.fd < 0) {
		ret = -errno;
		goto fail;
	}
	ret = io_setup(a->opts.depth, &a->ctx);
	if (ret)
		goto close_eventfd;
	ret = ddio_watcher_start(env, &a->watcher);
	if (!ret)
		return 0;
	io_destroy(a->ctx);
close_eventfd:
	close(a->watcher.fd);
fail:
	disk_err(err, err_len, spec, "cannot set up asynchronous I/O of depth %u: %s%s",
		 (unsigned int)a->opts.depth, strerror(-ret),
		 ret == -EAGAIN ? "; see /proc/sys/fs/aio-max-nr" : "");
	return ret;
}

static int aio_rw_sync(struct ddio_disk *disk, const struct ddio_disk_req *req)
{
	struct aio_disk *a = aio_of(disk);

	if (req->op == DDIO_DISK_FLUSH)
		return fdatasync(a->fd) ? -errno : 0;
	a->loose |= req->op == DDIO_DISK_WRITE;
	return disk_file_rw(a->fd, req->op == DDIO_DISK_WRITE, req->buf, req->len, req->offset);
}

static void aio_close(struct ddio_disk *disk)
{
	struct aio_disk *a = aio_of(disk);

	ddio_watcher_stop(disk->env, &a->watcher);
	io_destroy(a->ctx);
	close(a->watcher.fd);
	close(a->fd);
	aio_release(a);
}

static int aio_open(struct ddio_env *env, const struct ddio_disk_spec *spec,
		    struct ddio_disk **disk, char *err, size_t err_len)
{
	struct aio_disk *a;
	int ret;

	if (!spec->path) {
		disk_err(err, err_len, spec, "the aio engine needs a path");
		return -EINVAL;
	}
	a = calloc(1, sizeof(*a));
	if (!a) {
		disk_err(err, err_len, spec, "out of memory");
		return -ENOMEM;
	}
	a->base.env = env;
	a->opts.depth = 64;
	a->opts.direct = true;
	ddio_list_init(&a->waiting);
	ddio_list_init(&a->ended);
	ret = disk_options_parse(aio_options, spec, &a->opts, err, err_len);
	if (ret)
		goto release;
	ret = aio_alloc(a);
	if (ret) {
		disk_err(err, err_len, spec, "out of memory");
		goto release;
	}
	ret = aio_open_file(a, env, spec, err, err_len);
	if (ret)
		goto release;
	ret = aio_setup(a, env, spec, err, err_len);
	if (ret)
		goto close_file;
	*disk = &a->base;
	return 0;

close_file:
	close(a->fd);
release:
	aio_release(a);
	return ret;
}

const struct ddio_disk_engine disk_aio = {
	.name = "aio",
	.help = "a block device or a file, by asynchronous direct I/O",
	.open = aio_open,
	.close = aio_close,
	.submit = aio_submit,
	.commit = aio_commit,
	.kick = aio_kick,
	.rw_sync = aio_rw_sync,
	.options = aio_options,
};
