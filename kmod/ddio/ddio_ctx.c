// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts, and the ids of disks, buffers and collectives.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "ddio_dispatch.h"
#include "ddio_priv.h"

static atomic64_t ddio_ctx_serial;

struct ddio_ctx *ddio_ctx_new(void)
{
	struct ddio_ctx *ctx;

	/* A thread of the kernel's own may be told to open any path. */
	if (!current->mm)
		return ERR_PTR(-EPERM);
	ctx = kzalloc(sizeof(*ctx), DDIO_GFP);
	if (!ctx)
		return ERR_PTR(-ENOMEM);
	/* The caller has a reference to the module, by the device's file operations. */
	__module_get(THIS_MODULE);
	kref_init(&ctx->ref);
	mutex_init(&ctx->lock);
	INIT_LIST_HEAD(&ctx->link);
	xa_init_flags(&ctx->objs, XA_FLAGS_ALLOC1);
	init_waitqueue_head(&ctx->wait);
	ctx->owner = current->mm;
	mmgrab(ctx->owner);
	ctx->serial = atomic64_inc_return(&ddio_ctx_serial);
	ctx->pid = task_tgid_nr(current);
	atomic64_inc(&ddio_live.contexts);
	ddio_debugfs_ctx_add(ctx);
	return ctx;
}

static void ddio_ctx_free(struct kref *ref)
{
	struct ddio_ctx *ctx = container_of(ref, struct ddio_ctx, ref);

	ddio_debugfs_ctx_forget(ctx);
	if (ctx->ring)
		ddio_ring_free(ctx->ring);
	xa_destroy(&ctx->objs);
	mutex_destroy(&ctx->lock);
	mmdrop(ctx->owner);
	kfree(ctx);
	atomic64_dec(&ddio_live.contexts);
	module_put(THIS_MODULE);
}

void ddio_ctx_get(struct ddio_ctx *ctx)
{
	kref_get(&ctx->ref);
}

void ddio_ctx_put(struct ddio_ctx *ctx)
{
	kref_put(&ctx->ref, ddio_ctx_free);
}

static void ddio_ctx_stop_all(struct ddio_ctx *ctx)
{
	struct ddio_obj *obj;
	unsigned long id;

	mutex_lock(&ctx->lock);
	xa_for_each(&ctx->objs, id, obj) {
		if (obj->ops->stop)
			obj->ops->stop(obj);
		cond_resched();
	}
	mutex_unlock(&ctx->lock);
}

/* Takes any object's id away.  Returns the object with the id's reference; NULL: none is left. */
static struct ddio_obj *ddio_ctx_take_any(struct ddio_ctx *ctx)
{
	struct ddio_obj *obj;
	unsigned long id = 0;

	mutex_lock(&ctx->lock);
	obj = xa_find(&ctx->objs, &id, ULONG_MAX, XA_PRESENT);
	if (obj)
		xa_erase(&ctx->objs, id);
	mutex_unlock(&ctx->lock);
	return obj;
}

void ddio_ctx_close(struct ddio_ctx *ctx)
{
	struct ddio_obj *obj;

	ddio_debugfs_ctx_remove(ctx);
	ddio_ctx_stop_all(ctx);
	while ((obj = ddio_ctx_take_any(ctx))) {
		ddio_obj_put(obj);
		cond_resched();
	}
	ddio_ctx_put(ctx);
}

/* @entry: what is found by the id from now on. */
static int ddio_ctx_alloc(struct ddio_ctx *ctx, struct ddio_obj *obj, struct ddio_obj *entry)
{
	u32 id;
	int err;

	lockdep_assert_held(&ctx->lock);
	err = xa_alloc_cyclic(&ctx->objs, &id, entry, XA_LIMIT(1, U32_MAX), &ctx->next_id,
			      DDIO_GFP);
	if (err < 0)
		return err == -EBUSY ? -EOVERFLOW : err;
	obj->id = id;
	return 0;
}

int ddio_ctx_add(struct ddio_ctx *ctx, struct ddio_obj *obj)
{
	bool disk = obj->ops->type == DDIO_OBJ_DISK;
	int err;

	if (disk && ctx->nr_disks == DDIO_DISKS_MAX)
		return -EOVERFLOW;
	err = ddio_ctx_alloc(ctx, obj, obj);
	if (!err)
		ctx->nr_disks += disk;
	return err;
}

int ddio_ctx_tell(struct ddio_ctx *ctx, struct ddio_obj *obj, struct ddio_reply *reply,
		  const void *arg)
{
	int err = ddio_reply_tell(reply, arg);

	if (!err)
		return 0;
	mutex_lock(&ctx->lock);
	ddio_ctx_remove(ctx, obj);
	mutex_unlock(&ctx->lock);
	return err;
}

int ddio_ctx_reserve(struct ddio_ctx *ctx, struct ddio_obj *obj)
{
	return ddio_ctx_alloc(ctx, obj, NULL);
}

void ddio_ctx_unreserve(struct ddio_ctx *ctx, struct ddio_obj *obj)
{
	lockdep_assert_held(&ctx->lock);
	xa_release(&ctx->objs, obj->id);
}

void ddio_ctx_fill(struct ddio_ctx *ctx, struct ddio_obj *obj)
{
	lockdep_assert_held(&ctx->lock);
	/* Cannot fail: the reservation has made room. */
	xa_store(&ctx->objs, obj->id, obj, GFP_NOWAIT);
}

struct ddio_obj *ddio_ctx_get_obj(struct ddio_ctx *ctx, enum ddio_obj_type type, u32 id)
{
	struct ddio_obj *obj;

	lockdep_assert_held(&ctx->lock);
	obj = xa_load(&ctx->objs, id);
	if (!obj || obj->ops->type != type)
		return NULL;
	kref_get(&obj->ref);
	return obj;
}

/* Takes @obj's id away; the caller gets the id's reference. */
static void ddio_ctx_erase(struct ddio_ctx *ctx, struct ddio_obj *obj)
{
	xa_erase(&ctx->objs, obj->id);
	ctx->nr_disks -= obj->ops->type == DDIO_OBJ_DISK;
}

void ddio_ctx_remove(struct ddio_ctx *ctx, struct ddio_obj *obj)
{
	lockdep_assert_held(&ctx->lock);
	if (!obj->id || xa_load(&ctx->objs, obj->id) != obj)
		return;
	ddio_ctx_erase(ctx, obj);
	ddio_obj_put(obj);
}

static void ddio_obj_free(struct kref *ref)
{
	struct ddio_obj *obj = container_of(ref, struct ddio_obj, ref);

	obj->ops->free(obj);
}

void ddio_obj_put(struct ddio_obj *obj)
{
	kref_put(&obj->ref, ddio_obj_free);
}

/*
 * Collectives take their references under ctx->lock and drop them before they
 * have ended; so if the id's reference is the only one, the object is not in use.
 */
static bool ddio_obj_busy(struct ddio_obj *obj)
{
	if (obj->ops->busy)
		return obj->ops->busy(obj);
	return kref_read(&obj->ref) > 1;
}

int ddio_ctx_destroy(struct ddio_ctx *ctx, u32 id)
{
	struct ddio_obj *obj;
	int err = 0;

	mutex_lock(&ctx->lock);
	obj = xa_load(&ctx->objs, id);
	if (!obj)
		err = -ENOENT;
	else if (ddio_obj_busy(obj))
		err = -EBUSY;
	else
		ddio_ctx_erase(ctx, obj);
	mutex_unlock(&ctx->lock);
	if (err)
		return err;
	if (obj->ops->destroyed)
		obj->ops->destroyed(obj);
	ddio_obj_put(obj);
	return 0;
}
