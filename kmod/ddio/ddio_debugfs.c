// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/ddio: "stats", of the module since it was loaded; and a directory for each
 * context, by the number of the process that opened it and one of its own, with
 * "stats", "disks", "buffers" and "collectives".
 */
#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/seq_file.h>

#include "ddio_priv.h"

static struct dentry *ddio_debugfs_root;

/* Guards the list of contexts, and the sums of those that are closed. */
static DEFINE_MUTEX(ddio_debugfs_lock);
static LIST_HEAD(ddio_debugfs_ctxs);
static struct ddio_ctx_stats ddio_debugfs_closed;

/**
 * struct ddio_counter - a line of a file "stats"
 * @name: what it says
 * @offset: of the atomic64_t
 */
struct ddio_counter {
	const char *name;
	size_t offset;
};

#define DDIO_COUNTER(_type, _member)                                        \
	{                                                                   \
		.name = #_member, .offset = offsetof(struct _type, _member) \
	}

static const struct ddio_counter ddio_ctx_counters[] = {
	DDIO_COUNTER(ddio_ctx_stats, collectives), DDIO_COUNTER(ddio_ctx_stats, blocks),
	DDIO_COUNTER(ddio_ctx_stats, read_bytes),  DDIO_COUNTER(ddio_ctx_stats, write_bytes),
	DDIO_COUNTER(ddio_ctx_stats, bios),	   DDIO_COUNTER(ddio_ctx_stats, merged),
	DDIO_COUNTER(ddio_ctx_stats, errors),	   DDIO_COUNTER(ddio_ctx_stats, events),
	DDIO_COUNTER(ddio_ctx_stats, kicks),	   DDIO_COUNTER(ddio_ctx_stats, works),
	DDIO_COUNTER(ddio_ctx_stats, asleep),	   DDIO_COUNTER(ddio_ctx_stats, scattered_bytes),
};

static const struct ddio_counter ddio_live_counters[] = {
	DDIO_COUNTER(ddio_live, contexts), DDIO_COUNTER(ddio_live, disks),
	DDIO_COUNTER(ddio_live, pins),	   DDIO_COUNTER(ddio_live, pinned_pages),
	DDIO_COUNTER(ddio_live, rings),	   DDIO_COUNTER(ddio_live, collectives),
	DDIO_COUNTER(ddio_live, joints),   DDIO_COUNTER(ddio_live, memberships),
};

static atomic64_t *ddio_counter_of(void *object, const struct ddio_counter *counter)
{
	return object + counter->offset;
}

static void ddio_stats_show(struct seq_file *seq, struct ddio_ctx_stats *stats)
{
	const struct ddio_counter *c = ddio_ctx_counters;

	for (; c < ddio_ctx_counters + ARRAY_SIZE(ddio_ctx_counters); c++)
		seq_printf(seq, "%s %lld\n", c->name, atomic64_read(ddio_counter_of(stats, c)));
}

static void ddio_stats_add(struct ddio_ctx_stats *to, struct ddio_ctx_stats *from)
{
	const struct ddio_counter *c = ddio_ctx_counters;

	for (; c < ddio_ctx_counters + ARRAY_SIZE(ddio_ctx_counters); c++)
		atomic64_add(atomic64_read(ddio_counter_of(from, c)), ddio_counter_of(to, c));
}

static int ddio_total_show(struct seq_file *seq, void *data)
{
	const struct ddio_counter *c = ddio_live_counters;
	struct ddio_ctx_stats total = {};
	struct ddio_ctx *ctx;

	mutex_lock(&ddio_debugfs_lock);
	ddio_stats_add(&total, &ddio_debugfs_closed);
	list_for_each_entry(ctx, &ddio_debugfs_ctxs, link)
		ddio_stats_add(&total, &ctx->stats);
	mutex_unlock(&ddio_debugfs_lock);
	ddio_stats_show(seq, &total);
	for (; c < ddio_live_counters + ARRAY_SIZE(ddio_live_counters); c++)
		seq_printf(seq, "live_%s %lld\n", c->name,
			   atomic64_read(ddio_counter_of(&ddio_live, c)));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ddio_total);

static int ddio_ctx_stats_show(struct seq_file *seq, void *data)
{
	struct ddio_ctx *ctx = seq->private;

	ddio_stats_show(seq, &ctx->stats);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ddio_ctx_stats);

/* Prints one line for each object of a type. */
static int ddio_show_objs(struct seq_file *seq, enum ddio_obj_type type)
{
	struct ddio_ctx *ctx = seq->private;
	struct ddio_obj *obj;
	unsigned long id;

	mutex_lock(&ctx->lock);
	xa_for_each(&ctx->objs, id, obj)
		if (obj->ops->type == type)
			obj->ops->show(seq, obj);
	mutex_unlock(&ctx->lock);
	return 0;
}

static int ddio_ctx_disks_show(struct seq_file *seq, void *data)
{
	return ddio_show_objs(seq, DDIO_OBJ_DISK);
}
DEFINE_SHOW_ATTRIBUTE(ddio_ctx_disks);

static int ddio_ctx_buffers_show(struct seq_file *seq, void *data)
{
	return ddio_show_objs(seq, DDIO_OBJ_BUFFER);
}
DEFINE_SHOW_ATTRIBUTE(ddio_ctx_buffers);

static int ddio_ctx_collectives_show(struct seq_file *seq, void *data)
{
	return ddio_show_objs(seq, DDIO_OBJ_COLL);
}
DEFINE_SHOW_ATTRIBUTE(ddio_ctx_collectives);

void ddio_debugfs_ctx_add(struct ddio_ctx *ctx)
{
	char name[40];

	mutex_lock(&ddio_debugfs_lock);
	list_add_tail(&ctx->link, &ddio_debugfs_ctxs);
	mutex_unlock(&ddio_debugfs_lock);

	snprintf(name, sizeof(name), "%d-%llu", ctx->pid, ctx->serial);
	ctx->debugfs = debugfs_create_dir(name, ddio_debugfs_root);
	debugfs_create_file("stats", 0400, ctx->debugfs, ctx, &ddio_ctx_stats_fops);
	debugfs_create_file("disks", 0400, ctx->debugfs, ctx, &ddio_ctx_disks_fops);
	debugfs_create_file("buffers", 0400, ctx->debugfs, ctx, &ddio_ctx_buffers_fops);
	debugfs_create_file("collectives", 0400, ctx->debugfs, ctx, &ddio_ctx_collectives_fops);
}

/* The file is closed: removes its directory. */
void ddio_debugfs_ctx_remove(struct ddio_ctx *ctx)
{
	debugfs_remove_recursive(ctx->debugfs);
}

/* The context is about to be freed: keeps its counts in the sums. */
void ddio_debugfs_ctx_forget(struct ddio_ctx *ctx)
{
	mutex_lock(&ddio_debugfs_lock);
	ddio_stats_add(&ddio_debugfs_closed, &ctx->stats);
	list_del(&ctx->link);
	mutex_unlock(&ddio_debugfs_lock);
}

void ddio_debugfs_init(void)
{
	ddio_debugfs_root = debugfs_create_dir("ddio", NULL);
	debugfs_create_file("stats", 0400, ddio_debugfs_root, NULL, &ddio_total_fops);
}

void ddio_debugfs_exit(void)
{
	debugfs_remove_recursive(ddio_debugfs_root);
}
