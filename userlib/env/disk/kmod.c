// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Block devices through the ddio kernel module.
 *
 * What was submitted since the last commit goes to the kernel as one list of placed blocks for each
 * direction; the kernel sorts the list, and neighbours share a transfer.  Commits within one round of
 * events are combined.  A flush is a fence, as in aio.c.
 *
 * DMA uses memory of the env's arena.  A request for other memory is copied through a piece of the
 * arena or, if none is left, carried out at once by system calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "env/disk/kmod.h"

#define BATCH_MAX 512u

/* The engine's part of a request's priv: the status to end with; the memory it is copied through, or NULL. */
enum { PRIV_STATUS, PRIV_COPY };

/**
 * struct kmod_batch - requests in one list
 * @user: gets its events
 * @disk: not to be touched when all of @req have ended
 * @n: how many
 */
struct kmod_batch {
	struct kuser user;
	struct kmod_disk *disk;
	uint32_t n;
	struct ddio_disk_req *req[];
};

static const struct ddio_opt kmod_options[] = {
	{
		.name = "depth",
		.type = OPT_U64,
		.offset = offsetof(struct kmod_options, depth),
		.min = 1,
		.max = DDIO_DEPTH_MAX,
		.help = "most transfers in flight for requests that go to the kernel together",
	},
	{ .name = NULL },
};

/*
 * Memory
 */
static void *copy_of(const struct ddio_disk_req *req)
{
	return (void *)(uintptr_t)req->priv[PRIV_COPY];
}

static bool find_memory(const struct kmod_disk *k, const void *buf, uint64_t len,
			struct ddio_block *block)
{
	uint64_t where;
	uint32_t buffer;

	if (!kenv_find(k->kenv, buf, len, &buffer, &where))
		return false;
	block->buffer = buffer;
	block->where = where;
	return true;
}

/* Finds where the kernel has the request's memory; false: nowhere. */
static bool req_memory(struct kmod_disk *k, struct ddio_disk_req *req, struct ddio_block *block)
{
	void *copy;

	if (find_memory(k, req->buf, req->len, block))
		return true;
	copy = arena_get(k->base.env->arena, req->len);
	if (!copy)
		return false;
	if (req->op == DDIO_DISK_WRITE)
		memcpy(copy, req->buf, req->len);
	req->priv[PRIV_COPY] = (uintptr_t)copy;
	return find_memory(k, copy, req->len, block);
}

static void req_copied(struct kmod_disk *k, struct ddio_disk_req *req, int status)
{
	void *copy = copy_of(req);

	if (!copy)
		return;
	if (req->op == DDIO_DISK_READ && !status)
		memcpy(req->buf, copy, req->len);
	arena_put(k->base.env->arena, copy, req->len);
	req->priv[PRIV_COPY] = 0;
}

/*
 * Ending requests
 */
static void end_later(struct kmod_disk *k, struct ddio_disk_req *req, int status)
{
	req->priv[PRIV_STATUS] = status;
	ddio_list_add(&req->link, &k->ended);
	disk_kick(&k->base);
}

static void batch_free(struct kuser *user)
{
	ddio_list_del(&user->link);
	free(ddio_container_of(user, struct kmod_batch, user));
}

static void batch_event(struct kuser *user, const struct ddio_event *event)
{
	struct kmod_batch *batch = ddio_container_of(user, struct kmod_batch, user);
	struct kmod_disk *k = batch->disk;
	struct ddio_disk_req *req;

	if (event->kind == DDIO_EVENT_DONE) {
		batch_free(user);
		return;
	}
	if (event->kind != DDIO_EVENT_BLOCK || event->index >= batch->n)
		return;
	req = batch->req[event->index];
	k->in_kernel--;
	if (req->op == DDIO_DISK_FLUSH)
		k->fence = false;
	req_copied(k, req, event->status);
	if (!ddio_list_empty(&k->waiting))
		kenv_later(k->kenv, &k->start);
	/* This may close the disk. */
	disk_complete(&k->base, req, event->status);
}

/*
 * Starting requests
 */
static struct kmod_batch *batch_new(struct kmod_disk *k)
{
	struct kmod_batch *batch = malloc(sizeof(*batch) + BATCH_MAX * sizeof(batch->req[0]));

	if (!batch)
		return NULL;
	batch->disk = k;
	batch->n = 0;
	batch->user.event = batch_event;
	batch->user.free = batch_free;
	ddio_list_add(&batch->user.link, &k->kenv->users);
	return batch;
}

static void done_at_once(struct kmod_disk *k, struct ddio_disk_req *req)
{
	end_later(k, req,
		  disk_file_rw(k->fd, req->op == DDIO_DISK_WRITE, req->buf, req->len, req->offset));
}

/* Moves waiting requests of @op, up to the first flush, into the batch. */
static void batch_fill(struct kmod_disk *k, struct kmod_batch *batch, enum ddio_disk_op op,
		       struct ddio_block *block)
{
	struct ddio_disk_req *req, *tmp;

	ddio_list_for_each_entry_safe(req, tmp, &k->waiting, link) {
		struct ddio_block *b = &block[batch->n];

		if (batch->n == BATCH_MAX || (req->op == DDIO_DISK_FLUSH && op != DDIO_DISK_FLUSH))
			return;
		if (req->op != op)
			continue;
		memset(b, 0, sizeof(*b));
		b->disk = k->id;
		ddio_list_del(&req->link);
		req->priv[PRIV_COPY] = 0;
		if (op != DDIO_DISK_FLUSH && !req_memory(k, req, b)) {
			done_at_once(k, req);
			continue;
		}
		b->offset = req->offset;
		b->length = req->len;
		batch->req[batch->n++] = req;
		if (op == DDIO_DISK_FLUSH)
			return;
	}
}

/* Puts the requests back in front of those that wait, in their order. */
static void batch_unfill(struct kmod_disk *k, struct kmod_batch *batch)
{
	uint32_t i;

	for (i = batch->n; i--;) {
		req_copied(k, batch->req[i], -EAGAIN);
		ddio_list_push(&batch->req[i]->link, &k->waiting);
	}
	batch->n = 0;
}

static int batch_hand_over(struct kmod_disk *k, struct kmod_batch *batch, enum ddio_disk_op op,
			   const struct ddio_block *block, uint32_t n)
{
	static const uint32_t ops[] = {
		[DDIO_DISK_READ] = DDIO_READ,
		[DDIO_DISK_WRITE] = DDIO_WRITE,
		[DDIO_DISK_FLUSH] = DDIO_FLUSH,
	};
	struct ddio_submit submit = {
		.flags = DDIO_SUBMIT_EVENTS | DDIO_SUBMIT_FORGET | DDIO_SUBMIT_KEEP_GOING,
		.op = ops[op],
		.delivery = DDIO_PLACE,
		.blocks = (uintptr_t)block,
		.nr_blocks = n,
		.depth = op == DDIO_DISK_FLUSH ? 0 : k->opts.depth,
		.joint_fd = -1,
		.user_data = (uintptr_t)&batch->user,
	};

	return ddio_kdev_submit(&k->kenv->kdev, &submit);
}

/* Submits each request, since the kernel does not take them together, in a batch of its own. */
static void batch_split(struct kmod_disk *k, struct kmod_batch *batch, enum ddio_disk_op op,
			const struct ddio_block *block)
{
	struct kmod_batch *one;
	uint32_t i;
	int err;

	for (i = 0; i < batch->n; i++) {
		one = batch_new(k);
		err = one ? batch_hand_over(k, one, op, &block[i], 1) : -ENOMEM;
		if (!err) {
			one->req[one->n++] = batch->req[i];
			k->in_kernel++;
			continue;
		}
		if (one)
			batch_free(&one->user);
		req_copied(k, batch->req[i], err);
		end_later(k, batch->req[i], err);
	}
	batch->n = 0;
}

/* Return: true if the kernel has them, or they have ended; false: they wait again. */
static bool batch_start(struct kmod_disk *k, struct kmod_batch *batch, enum ddio_disk_op op,
			const struct ddio_block *block)
{
	int err = batch_hand_over(k, batch, op, block, batch->n);

	if (!err) {
		k->in_kernel += batch->n;
		k->fence = op == DDIO_DISK_FLUSH;
		return true;
	}
	if (err == -EBUSY || (err == -ENOMEM && k->in_kernel)) {
		batch_unfill(k, batch);
		/* Tries again after a completion, or soon. */
		if (!k->in_kernel)
			disk_kick(&k->base);
	} else {
		batch_split(k, batch, op, block);
	}
	batch_free(&batch->user);
	return err != -EBUSY && err != -ENOMEM;
}

/* Starts some that wait; false: there is nothing more to start. */
static bool start_some(struct kmod_disk *k, enum ddio_disk_op op)
{
	struct ddio_block block[BATCH_MAX];
	struct kmod_batch *batch = batch_new(k);

	if (!batch) {
		disk_kick(&k->base);
		return false;
	}
	batch_fill(k, batch, op, block);
	if (!batch->n) {
		batch_free(&batch->user);
		return false;
	}
	return batch_start(k, batch, op, block) && op != DDIO_DISK_FLUSH;
}

static bool flush_is_first(const struct kmod_disk *k)
{
	return !ddio_list_empty(&k->waiting) &&
	       ddio_list_first(&k->waiting, struct ddio_disk_req, link)->op == DDIO_DISK_FLUSH;
}

static void kmod_start(struct klater *later)
{
	struct kmod_disk *k = ddio_container_of(later, struct kmod_disk, start);

	while (!k->fence && !ddio_list_empty(&k->waiting)) {
		if (flush_is_first(k)) {
			if (!k->in_kernel)
				start_some(k, DDIO_DISK_FLUSH);
			return;
		}
		while (start_some(k, DDIO_DISK_READ))
			;
		while (start_some(k, DDIO_DISK_WRITE))
			;
		if (!flush_is_first(k))
			return;
	}
}

static void kmod_submit(struct ddio_disk *disk, struct ddio_disk_req *req)
{
	ddio_list_add(&req->link, &kmod_of(disk)->waiting);
	disk_kick(disk); /* in case the user does not commit */
}

static void kmod_commit(struct ddio_disk *disk)
{
	struct kmod_disk *k = kmod_of(disk);

	if (!ddio_list_empty(&k->waiting))
		kenv_later(k->kenv, &k->start);
}

static void kmod_kick(struct ddio_disk *disk)
{
	struct kmod_disk *k = kmod_of(disk);
	struct ddio_disk_req *req;
	struct ddio_list ended;

	kmod_start(&k->start);
	ddio_list_init(&ended);
	ddio_list_splice(&k->ended, &ended);
	while (!ddio_list_empty(&ended)) {
		req = ddio_list_first(&ended, struct ddio_disk_req, link);
		ddio_list_del(&req->link);
		disk_complete(disk, req, (int)(int64_t)req->priv[PRIV_STATUS]);
	}
}

static int kmod_rw_sync(struct ddio_disk *disk, const struct ddio_disk_req *req)
{
	struct kmod_disk *k = kmod_of(disk);

	if (req->op == DDIO_DISK_FLUSH)
		return fdatasync(k->fd) ? -errno : 0;
	return disk_file_rw(k->fd, req->op == DDIO_DISK_WRITE, req->buf, req->len, req->offset);
}

/*
 * Opening
 */
static int open_device(struct kmod_disk *k, const struct ddio_disk_spec *spec, char *err,
		       size_t err_len)
{
	uint64_t size = spec->size;
	struct stat st;

	if (!spec->path || stat(spec->path, &st) || !S_ISBLK(st.st_mode)) {
		disk_err(err, err_len, spec, "%s: the kmod engine needs a block device",
			 spec->path ? spec->path : "no path");
		return -ENOTBLK;
	}
	k->fd = disk_file_open(spec, O_DIRECT, &size, err, err_len);
	if (k->fd == -EINVAL)
		disk_err(err, err_len, spec, "%s: direct I/O is not possible", spec->path);
	k->base.info.size = size;
	return k->fd < 0 ? k->fd : 0;
}

static int add_to_kernel(struct kmod_disk *k, const struct ddio_disk_spec *spec, char *err,
			 size_t err_len)
{
	struct ddio_disk_info *info = &k->base.info;
	struct ddio_disk_add add;
	struct ddio_info module;
	char why[200];
	int ret = kenv_get(k->base.env, &k->kenv, why, sizeof(why));

	if (ret) {
		disk_err(err, err_len, spec, "%s", why);
		return ret;
	}
	ret = ddio_kdev_disk_add(&k->kenv->kdev, k->fd, &add);
	if (ret) {
		disk_err(err, err_len, spec, "%s: %s does not take it: %s", spec->path, KDEV_PATH,
			 strerror(-ret));
		kenv_put(k->kenv);
		return ret;
	}
	k->id = add.out_disk;
	info->sector = add.out_logical;
	info->align = add.out_align;
	info->size = info->size / info->sector * info->sector;
	info->time_scale = 1.0;
	info->max_len = DDIO_BLOCK_LENGTH_MAX;
	/* The module that is loaded may be older than this program, and know of no sums. */
	info->scatter_sums = !kdev_info(&k->kenv->kdev, &module) &&
			     module.out_submit_flags & DDIO_SUBMIT_SUMS;
	return 0;
}

static void kmod_close(struct ddio_disk *disk)
{
	struct kmod_disk *k = kmod_of(disk);

	ddio_list_del(&k->start.link);
	k->leaving->id = k->id;
	kenv_leave(k->kenv, k->leaving);
	kenv_put(k->kenv);
	close(k->fd);
	free(k);
}

static int kmod_open(struct ddio_env *env, const struct ddio_disk_spec *spec,
		     struct ddio_disk **disk, char *err, size_t err_len)
{
	struct kmod_disk *k = calloc(1, sizeof(*k));
	int ret;

	if (!k) {
		disk_err(err, err_len, spec, "out of memory");
		return -ENOMEM;
	}
	k->leaving = malloc(sizeof(*k->leaving));
	if (!k->leaving) {
		disk_err(err, err_len, spec, "out of memory");
		free(k);
		return -ENOMEM;
	}
	k->base.env = env;
	k->opts.depth = 32;
	k->start.fn = kmod_start;
	ddio_list_init(&k->start.link);
	ddio_list_init(&k->waiting);
	ddio_list_init(&k->ended);
	ret = disk_options_parse(kmod_options, spec, &k->opts, err, err_len);
	if (ret)
		goto free_disk;
	ret = open_device(k, spec, err, err_len);
	if (ret)
		goto free_disk;
	ret = add_to_kernel(k, spec, err, err_len);
	if (ret)
		goto close_fd;
	*disk = &k->base;
	return 0;

close_fd:
	close(k->fd);
free_disk:
	free(k->leaving);
	free(k);
	return ret;
}

const struct ddio_disk_engine disk_kmod = {
	.name = "kmod",
	.help = "a block device, by the ddio kernel module",
	.open = kmod_open,
	.close = kmod_close,
	.submit = kmod_submit,
	.commit = kmod_commit,
	.kick = kmod_kick,
	.rw_sync = kmod_rw_sync,
	.options = kmod_options,
	.stream = &disk_stream_kmod,
	.scatter = &disk_scatter_kmod,
};
