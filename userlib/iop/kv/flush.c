// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes changes durable by flushing the journals that have them, which waits for no transaction of LMDB's.  One flush at
 * a time, in the env's worker; whoever comes meanwhile shares the next one, or the one under way if nothing has been
 * changed since that began.  What no journal holds for certain is committed instead.
 */
#include <string.h>
#include "iop/kv/priv.h"

/* Are all changes that are not in LMDB in journals that can be flushed? */
static bool flush_can(const struct kv *kv)
{
	return kv->sync && !kv->bare && !kv->sealed_bare && !kv_journal_unsure(&kv->journal);
}

/* Has all of @list committed. */
static void flush_commit(struct kv *kv, struct ddio_list *list)
{
	struct commit *commit;

	while (!ddio_list_empty(list)) {
		commit = ddio_list_first(list, struct commit, link);
		ddio_list_del(&commit->link);
		kv_commit(kv, commit);
	}
}

static void flush_begin(struct kv *kv)
{
	struct kv_flush *f = &kv->flush;

	if (!flush_can(kv)) {
		flush_commit(kv, &f->waiting);
		return;
	}
	ddio_list_splice(&f->waiting, &f->running);
	f->active = true;
	f->which = kv_journal_fresh(&kv->journal);
	f->seq = kv->journal.seq;
	kv_journal_flushing(&kv->journal);
	/* Without anything to flush only the callbacks must come from the loop. */
	if (f->which)
		ddio_env_offload(kv->env, &f->job);
	else
		ddio_env_post(kv->env, &f->post);
}

/* Runs in the worker. */
static void flush_work(void *arg)
{
	struct kv *kv = arg;

	kv->flush.err = kv_journal_flush(&kv->journal, kv->env, kv->flush.which);
}

static void flush_end(struct kv *kv, int err)
{
	struct kv_flush *f = &kv->flush;
	struct ddio_list told;
	struct commit *commit;

	ddio_list_init(&told);
	ddio_list_splice(&f->running, &told);
	f->active = false;
	/* Memory has all of it, and LMDB gets it. */
	if (err)
		flush_commit(kv, &told);
	else
		kv_journal_durable(&kv->journal, kv->env, f->seq);
	/* A callback may flush again. */
	while (!ddio_list_empty(&told)) {
		commit = ddio_list_first(&told, struct commit, link);
		ddio_list_del(&commit->link);
		commit->done(commit, 0);
	}
	if (!f->active && !ddio_list_empty(&f->waiting))
		flush_begin(kv);
}

static void flush_worked(void *arg)
{
	struct kv *kv = arg;

	if (kv->flush.err)
		ddio_env_log(kv->env, DDIO_LOG_ERR,
			     "%s: a flush of the journals failed: %s; what they hold is committed",
			     kv->db.dir, strerror(-kv->flush.err));
	flush_end(kv, kv->flush.err);
}

static void flush_posted(void *arg)
{
	flush_end(arg, 0);
}

void kv_flush_init(struct kv *kv, bool sync)
{
	struct kv_flush *f = &kv->flush;

	kv->sync = sync;
	ddio_list_init(&f->waiting);
	ddio_list_init(&f->running);
	f->job = (struct ddio_offload){ .work = flush_work, .done = flush_worked, .arg = kv };
	f->post = (struct ddio_post){ .fn = flush_posted, .arg = kv };
}

void kv_flush(struct kv *kv, struct commit *commit)
{
	struct kv_flush *f = &kv->flush;

	if (f->active && flush_can(kv) && !kv_journal_fresh(&kv->journal)) {
		ddio_list_add(&commit->link, &f->running);
		return;
	}
	ddio_list_add(&commit->link, &f->waiting);
	if (!f->active)
		flush_begin(kv);
}
