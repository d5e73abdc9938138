// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mounts: which there are, and what each has open. */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "iop/ns/priv.h"

/* In a mount's record: it was silent for too long, and others may have had its locks since. */
static const uint8_t lost_mark = 1;

/*
 * A mount that nothing is heard of loses its open files and locks, but may come back, and ask again what it was answered
 * meanwhile: so its results are kept for so long.
 */
#define SILENT_NS (3600 * 1000000000ull)

/**
 * struct open_inode - an inode that is open
 * @mounts: how many have it open
 */
struct open_inode {
	struct ddio_hash_node node; /* struct ns.opens, by number */
	uint32_t mounts;
};

/**
 * struct mount_open - an inode that one mount has open
 */
struct mount_open {
	struct ddio_hash_node node; /* struct ns_mount.opens, by number */
	uint64_t ino;
};

static struct ns_mount *mount_find(const struct ddio_list *list, const uint8_t *id)
{
	struct ns_mount *m;

	ddio_list_for_each_entry(m, list, link)
		if (!memcmp(m->id, id, sizeof(m->id)))
			return m;
	return NULL;
}

static void mount_enter(struct ns *ns, struct ns_mount *m)
{
	struct bound *b = &ns->bounds->at[BOUND_MOUNTS];

	ddio_list_add(&m->link, &ns->mounts);
	b->now = ++ns->nmounts;
	bound_seen(b, b->now);
}

static bool mounts_full(struct ns *ns)
{
	struct bound *b = &ns->bounds->at[BOUND_MOUNTS];

	if (ns->nmounts < b->limit)
		return false;
	b->hits++;
	return true;
}

/* @before: it was there before the restart, however many there are. */
static int mount_new(struct ns *ns, const uint8_t *id, bool before, struct ns_mount **mount)
{
	struct ns_mount *m;

	if (!before && mounts_full(ns))
		return -EBUSY;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	memcpy(m->id, id, sizeof(m->id));
	mount_enter(ns, m);
	*mount = m;
	return 0;
}

static void mount_free(struct ns *ns, struct ns_mount *m)
{
	struct ddio_hash_walk walk;
	struct mount_open *open;

	ddio_hash_for_each(open, &walk, &m->opens, node)
		free(open);
	ddio_hash_fini(&m->opens);
	ddio_list_del(&m->link);
	ns_results_count(ns, m, 0, m->results);
	ns->bounds->at[BOUND_MOUNTS].now = --ns->nmounts;
	free(m->tells);
	free(m);
}

/* It is a mount again, or the rest of it goes. */
static void silent_leave(struct ns *ns, struct ns_mount *m)
{
	ns->bounds->at[BOUND_SILENT].now -= m->results;
	ddio_list_del(&m->link);
	mount_enter(ns, m);
}

void ns_mounts_free(struct ns *ns)
{
	struct ddio_hash_walk walk;
	struct ns_mount *m, *tmp;
	struct open_inode *open;

	ddio_timer_cancel(ns->env, &ns->timer);
	while (!ddio_list_empty(&ns->silent))
		silent_leave(ns, ddio_list_first(&ns->silent, struct ns_mount, link));
	ddio_list_for_each_entry_safe(m, tmp, &ns->mounts, link)
		mount_free(ns, m);
	ddio_list_for_each_entry_safe(m, tmp, &ns->ending, link)
		mount_free(ns, m);
	ddio_list_for_each_entry_safe(m, tmp, &ns->condemned, link)
		mount_free(ns, m);
	ddio_hash_for_each(open, &walk, &ns->opens, node)
		free(open);
	ddio_hash_fini(&ns->opens);
}

void ns_mount_watch(struct ns *ns, const struct ns_mount_ops *ops, void *ctx)
{
	ns->mount_ops = ops;
	ns->mount_ctx = ctx;
}

uint64_t ns_mount_number(const struct ns_mount *m)
{
	uint64_t number;

	memcpy(&number, m->id, sizeof(number));
	number = le64toh(number);
	return number ? number : 1;
}

bool ns_mount_is(const struct ns_mount *m, const uint8_t id[DDIO_GROUP_ID_LEN])
{
	return !memcmp(m->id, id, sizeof(m->id));
}

int ns_result_next(struct ns *ns, const struct ns_mount *m, uint64_t from, uint64_t *seq)
{
	uint8_t key[NS_DONE_KEY_LEN];
	struct kv_cursor c;
	int ret;

	ns_done_key(key, m->id, from);
	ret = kv_first(&c, ns->kv, NS_DONE, key, sizeof(key));
	if (!ret && (c.key_len != sizeof(key) || memcmp(c.key, m->id, sizeof(m->id))))
		ret = -ENOENT;
	if (!ret)
		ns_key_get(c.key + DDIO_GROUP_ID_LEN, NS_KEY_LEN, seq);
	kv_cursor_close(&c);
	return ret;
}

void ns_results_count(struct ns *ns, struct ns_mount *m, uint64_t more, uint64_t fewer)
{
	struct bound *b = &ns->bounds->at[BOUND_RESULTS];

	m->results += more - fewer;
	b->now += more - fewer;
	bound_seen(b, m->results);
}

/* Deletes results of a mount, *@steps at most, and counts them in @n.  Returns 1 if those were all, 0 or -errno. */
static int results_drop(struct ns *ns, const struct ns_mount *m, uint64_t *steps, uint64_t *n)
{
	uint8_t key[NS_DONE_KEY_LEN];
	uint64_t seq = 0;
	int ret = 0;

	for (; *steps && !ret; --*steps, ++*n) {
		if (ns_result_next(ns, m, seq, &seq))
			return 1;
		ns_done_key(key, m->id, seq);
		ret = kv_del(ns->kv, NS_DONE, key, sizeof(key));
	}
	return ret;
}

/* Counts the results of a mount from before the restart, and finds where they begin. */
static int results_load(struct ns *ns, struct ns_mount *m)
{
	uint8_t key[NS_DONE_KEY_LEN];
	uint64_t seq, n = 0;
	struct kv_cursor c;
	int ret;

	ns_done_key(key, m->id, 0);
	for (ret = kv_first(&c, ns->kv, NS_DONE, key, sizeof(key));
	     !ret && c.key_len == sizeof(key) && !memcmp(c.key, m->id, sizeof(m->id));
	     ret = kv_next(&c)) {
		ns_key_get(c.key + DDIO_GROUP_ID_LEN, NS_KEY_LEN, &seq);
		if (!n++) {
			m->any_done = true;
			m->forgotten = seq - 1;
			m->swept = seq - 1;
		}
	}
	kv_cursor_close(&c);
	ns_results_count(ns, m, n, 0);
	return ret == -ENOENT ? 0 : ret;
}

/* @lost: others may get its locks now. */
static int mount_record(struct ns *ns, const struct ns_mount *m, bool lost)
{
	uint8_t value[NS_BYTES_EXTRA + sizeof(lost_mark)];
	size_t len = lost ? sizeof(lost_mark) : 0;

	ns_bytes_put(value, m->id, sizeof(m->id), &lost_mark, len);
	ns_begin(ns);
	return ns_end(ns,
		      kv_put(ns->kv, NS_MOUNTS, m->id, sizeof(m->id), value, NS_BYTES_EXTRA + len));
}

static bool record_keeps(const struct kv_cursor *c)
{
	const uint8_t *data;
	size_t len;

	return !ns_bytes_get(c->key, c->key_len, c->value, c->len, &data, &len) && !len;
}

/*
 * Deletes what is recorded of a mount: its results first, so that after a crash between two turns the rest is found by
 * the mount's own record.  Returns 1: nothing is left, 0, or -errno.
 */
static int record_drop(struct ns *ns, struct ns_mount *m, uint64_t *steps)
{
	uint64_t n = 0;
	int all, ret;

	ns_begin(ns);
	all = results_drop(ns, m, steps, &n);
	ret = all > 0 ? kv_del(ns->kv, NS_MOUNTS, m->id, sizeof(m->id)) : all;
	ret = ns_end(ns, ret);
	if (!ret)
		ns_results_count(ns, m, 0, n);
	return ret ? ret : all;
}

static void settled(struct ns *ns)
{
	ns->before = 0;
	if (ns->mount_ops)
		ns->mount_ops->settled(ns->mount_ctx);
}

static void not_before(struct ns *ns, struct ns_mount *m)
{
	if (!m->before)
		return;
	m->before = false;
	if (ns->before && !--ns->before)
		settled(ns);
}

static struct open_inode *open_find(const struct ns *ns, uint64_t ino)
{
	return ddio_hash_entry(ddio_hash_find(&ns->opens, ino), struct open_inode, node);
}

static struct open_inode *open_make(struct ns *ns, uint64_t ino)
{
	struct open_inode *open = open_find(ns, ino);

	if (open)
		return open;
	open = calloc(1, sizeof(*open));
	if (open)
		ddio_hash_add(&ns->opens, &open->node, ino);
	return open;
}

static struct mount_open *mine_find(const struct ns_mount *m, uint64_t ino)
{
	return ddio_hash_entry(ddio_hash_find(&m->opens, ino), struct mount_open, node);
}

static void close_one(struct ns *ns, uint64_t ino, struct ns_left *left)
{
	struct open_inode *open = open_find(ns, ino);

	if (bug_on(!open, "name space: inode %" PRIu64 " was closed that is not open", ino) ||
	    --open->mounts)
		return;
	ddio_hash_del(&ns->opens, &open->node);
	free(open);
	if (ns_closed(ns, ino, left))
		ddio_env_log(
			ns->env, DDIO_LOG_WARN,
			"name space: an orphan could not be removed when it was closed; 'ddio fsck --repair' removes it");
}

/* Closes what a mount has open, *@steps of it at most.  Returns true if that was all. */
static bool close_some(struct ns *ns, struct ns_mount *m, uint64_t *steps)
{
	struct mount_open *mine;

	for (; *steps && m->opens.n; --*steps) {
		mine = ddio_hash_entry(ddio_hash_next(&m->opens, &m->walk), struct mount_open,
				       node);
		/* Clients that list orphans remove its objects. */
		close_one(ns, mine->ino, NULL);
		ddio_hash_del(&m->opens, &mine->node);
		free(mine);
	}
	return !m->opens.n;
}

static void end_over(struct ns *ns, struct ns_mount *m, int err)
{
	struct ns_end *end = m->end;

	not_before(ns, m);
	mount_free(ns, m);
	if (end)
		end->done(end, err);
}

static void mounts_look(void *arg);

/* Returns the mount whose results go next, since they have been kept for long enough or are too many, or NULL. */
static struct ns_mount *silent_over(struct ns *ns, uint64_t now)
{
	const struct bound *b = &ns->bounds->at[BOUND_SILENT];
	struct ns_mount *m;

	if (ddio_list_empty(&ns->silent))
		return NULL;
	m = ddio_list_first(&ns->silent, struct ns_mount, link);
	return b->now > b->limit || now >= m->away + SILENT_NS ? m : NULL;
}

/* Sets the timer to when the next mount may be lost, or results of one that was. */
static void watch_arm(struct ns *ns)
{
	uint64_t now = ddio_env_now(ns->env), when = 0;
	struct ns_mount *m;

	ddio_list_for_each_entry(m, &ns->mounts, link)
		if (!m->conns && (!when || m->away + ns->timeout_ns < when))
			when = m->away + ns->timeout_ns;
	if (silent_over(ns, now))
		when = now;
	else if (!when && !ddio_list_empty(&ns->silent))
		when = ddio_list_first(&ns->silent, struct ns_mount, link)->away + SILENT_NS;
	ddio_timer_cancel(ns->env, &ns->timer);
	ns->timer.fn = mounts_look;
	ns->timer.arg = ns;
	if (when && !ns->unwatched && ddio_timer_arm(ns->env, &ns->timer, when))
		ddio_env_log(
			ns->env, DDIO_LOG_WARN,
			"name space: no memory for a timer; mounts that have died keep their locks");
}

void ns_mounts_unwatch(struct ns *ns)
{
	ns->unwatched = true;
	ddio_timer_cancel(ns->env, &ns->timer);
}

/* A mount that has ended leaves its results. */
static void silent_enter(struct ns *ns, struct ns_mount *m)
{
	struct bound *b = &ns->bounds->at[BOUND_SILENT];

	not_before(ns, m);
	m->told = false;
	ddio_list_del(&m->link);
	ddio_list_add(&m->link, &ns->silent);
	ns->bounds->at[BOUND_MOUNTS].now = --ns->nmounts;
	b->now += m->results;
	bound_seen(b, b->now);
	watch_arm(ns);
}

/* Takes from a mount that ends as much as *@steps allow; frees it when nothing is left. */
static void end_some(struct ns *ns, struct ns_mount *m, uint64_t *steps)
{
	int ret;

	if (ns->mount_ops && !ns->mount_ops->lost(ns->mount_ctx, m, steps))
		return;
	if (!close_some(ns, m, steps) || !*steps)
		return;
	if (m->keep && m->results) {
		silent_enter(ns, m);
		return;
	}
	ret = record_drop(ns, m, steps);
	if (ret)
		end_over(ns, m, ret < 0 ? ret : 0);
}

void ns_mounts_go_on(struct ns *ns)
{
	struct bound *bound = &ns->bounds->at[BOUND_ENDED];
	bool turns = ns->mount_ops && ns->mount_ops->more;
	uint64_t steps = turns ? bound->limit : UINT64_MAX;

	while (steps && !ddio_list_empty(&ns->ending)) {
		end_some(ns, ddio_list_first(&ns->ending, struct ns_mount, link), &steps);
		/* one for the mount itself */
		steps -= steps > 0;
	}
	if (!turns)
		return;
	bound_seen(bound, bound->limit - steps);
	ns->end_busy = !ddio_list_empty(&ns->ending);
	if (!ns->end_busy)
		return;
	bound->hits++;
	ns->mount_ops->more(ns->mount_ctx);
}

void ns_mount_end(struct ns *ns, struct ns_mount *m, struct ns_end *end)
{
	m->end = end;
	m->walk = (struct ddio_hash_walk){ .at = 0 };
	ddio_list_del(&m->link);
	ddio_list_add(&m->link, &ns->ending);
	if (ns->end_busy)
		return;
	if (!ns->mount_ops || !ns->mount_ops->more) {
		ns_mounts_go_on(ns);
		return;
	}
	ns->end_busy = true;
	ns->mount_ops->more(ns->mount_ctx);
}

bool ns_mounts_ending(const struct ns *ns)
{
	return ns->end_busy || !ddio_list_empty(&ns->condemned);
}

static void condemned(struct commit *commit, int err)
{
	struct ns_mount *m = commit->arg;
	struct ns *ns = m->ns;

	if (!err) {
		ns_mount_end(ns, m, NULL);
		return;
	}
	ddio_env_log(ns->env, DDIO_LOG_WARN,
		     "name space: a silent mount keeps its locks: cannot record their loss: %s",
		     mdb_strerror(-err));
	ddio_list_del(&m->link);
	ddio_list_add(&m->link, &ns->mounts);
	m->away = ddio_env_now(ns->env);
	watch_arm(ns);
}

/*
 * Takes its locks from a mount.  The durable thing behind a lock that somebody else gets then is the mark in the mount's
 * record; the fence is that a mount with the mark, or without a record, gets back none of its locks (ns_mount_keeps()),
 * whatever name server it meets.
 */
static void condemn(struct ns *ns, struct ns_mount *m)
{
	int err;

	m->keep = true;
	m->keeps = false;
	m->marked = true;
	m->ns = ns;
	m->mark = (struct commit){ .done = condemned, .arg = m, .early = true };
	ddio_list_del(&m->link);
	ddio_list_add(&m->link, &ns->condemned);
	err = mount_record(ns, m, true);
	if (err)
		condemned(&m->mark, err);
	else
		ns_commit(ns, &m->mark);
}

static void mounts_look(void *arg)
{
	struct ns *ns = arg;
	uint64_t now = ddio_env_now(ns->env);
	struct ns_mount *m, *tmp;

	ddio_list_for_each_entry_safe(m, tmp, &ns->mounts, link) {
		if (m->conns || now < m->away + ns->timeout_ns)
			continue;
		ddio_env_log(
			ns->env, DDIO_LOG_WARN,
			"name space: a mount was silent for too long and loses its open files and locks");
		condemn(ns, m);
	}
	while ((m = silent_over(ns, now)) != NULL) {
		m->keep = false;
		silent_leave(ns, m);
		ns_mount_end(ns, m, NULL);
	}
	watch_arm(ns);
}

int ns_mounts_load(struct ns *ns)
{
	struct kv_cursor c;
	struct ns_mount *m;
	int ret;

	for (ret = kv_first(&c, ns->kv, NS_MOUNTS, "", 0); !ret; ret = kv_next(&c)) {
		if (c.key_len != DDIO_GROUP_ID_LEN)
			continue;
		ret = mount_new(ns, c.key, true, &m);
		if (ret)
			break;
		m->before = true;
		m->keeps = record_keeps(&c);
		m->marked = !m->keeps;
		m->away = ddio_env_now(ns->env);
		ns->before++;
	}
	kv_cursor_close(&c);
	if (ret != -ENOENT)
		return ret;
	ret = 0;
	ddio_list_for_each_entry(m, &ns->mounts, link)
		if (!ret)
			ret = results_load(ns, m);
	ns->grace = ddio_env_now(ns->env) + ns->timeout_ns;
	watch_arm(ns);
	return ret;
}

int ns_mount_attach(struct ns *ns, const uint8_t id[DDIO_GROUP_ID_LEN], struct ns_mount **mount,
		    bool *known)
{
	struct ns_mount *m = mount_find(&ns->mounts, id);
	int ret;

	*known = m && m->told;
	if (!m) {
		m = mount_find(&ns->silent, id);
		if (m && mounts_full(ns))
			return -EBUSY;
		if (m) {
			m->keep = false;
			silent_leave(ns, m);
		}
	}
	if (!m) {
		/* What is left of it would be taken for the new one's. */
		if (mount_find(&ns->ending, id) || mount_find(&ns->condemned, id))
			return -EINPROGRESS;
		ret = mount_new(ns, id, false, &m);
		if (ret)
			return ret;
		ret = mount_record(ns, m, false);
		if (ret) {
			mount_free(ns, m);
			return ret;
		}
	}
	m->conns++;
	watch_arm(ns);
	*mount = m;
	return 0;
}

bool ns_mount_own(struct ns_mount *m, const struct ddio_who *who)
{
	if (!m->owned) {
		m->owned = true;
		m->owner = who ? who->uid : 0;
	}
	return !who || m->owner == who->uid;
}

void ns_mount_told(struct ns *ns, struct ns_mount *m)
{
	m->told = true;
	m->keeps = false;
	/* It has been answered which locks it has lost, and what it gets from now on is its own.  If this fails the mark stays. */
	if (m->marked && !mount_record(ns, m, false))
		m->marked = false;
	not_before(ns, m);
}

bool ns_mount_keeps(const struct ns_mount *m)
{
	return m->keeps;
}

void ns_mount_detach(struct ns *ns, struct ns_mount *m, uint64_t heard)
{
	/* Its other connections may have been heard later than the last one that goes. */
	if (heard > m->away)
		m->away = heard;
	if (--m->conns)
		return;
	watch_arm(ns);
}

bool ns_mount_holds(const struct ns_mount *m)
{
	return m->opens.n;
}

int ns_open_file(struct ns *ns, struct ns_mount *m, uint64_t ino, bool again, struct inode *in)
{
	struct mount_open *mine = mine_find(m, ino);
	struct open_inode *open;
	int ret = ns_load(ns, ino, in);

	if (ret)
		return ret;
	if (!in->nlink && !again && !mine)
		return -ENOENT;
	if (ns_is_going(in))
		return -ESTALE;
	if (!S_ISREG(in->mode) || mine)
		return 0;
	mine = calloc(1, sizeof(*mine));
	open = mine ? open_make(ns, ino) : NULL;
	if (!open) {
		free(mine);
		return -ENOMEM;
	}
	mine->ino = ino;
	ddio_hash_add(&m->opens, &mine->node, ino);
	open->mounts++;
	return 0;
}

int ns_release(struct ns *ns, struct ns_mount *m, uint64_t ino, struct ns_left *left)
{
	struct mount_open *mine = mine_find(m, ino);

	memset(left, 0, sizeof(*left));
	if (!mine)
		return ns_left_again(ns, ino, left);
	ddio_hash_del(&m->opens, &mine->node);
	free(mine);
	close_one(ns, ino, left);
	return 0;
}

uint32_t ns_openers(const struct ns *ns, const struct ns_mount *m, uint64_t ino)
{
	const struct open_inode *open = mine_find(m, ino) ? open_find(ns, ino) : NULL;

	return open ? open->mounts : 0;
}
