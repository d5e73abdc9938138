// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Begins and ends changes of the name space; keeps the results of requests that must not be carried out
 * twice; allocates the numbers of inodes.
 */
#include <errno.h>
#include <string.h>
#include "iop/ns/priv.h"

size_t ns_make_meta(const struct ns *ns, uint64_t limit, uint8_t value[NS_META_MAX])
{
	struct ns_meta meta = { .limit = limit };

	memcpy(meta.cluster, ns->cluster, sizeof(meta.cluster));
	return ns_meta_put(value, &meta);
}

int ns_take_id(struct ns *ns, uint64_t *ino)
{
	if (ns->next >= ns->limit)
		return -EAGAIN;
	*ino = ns->next++;
	return 0;
}

static void reserved(struct commit *commit, int err)
{
	struct ns *ns = commit->arg;

	ns->reserve_active = false;
	/* Meanwhile numbers may have been passed over: then these are of no use. */
	if (!err && ns->reserving > ns->limit)
		ns->limit = ns->reserving;
}

int ns_put_limit(struct ns *ns, uint64_t limit)
{
	uint8_t value[NS_META_MAX];

	return kv_put(ns->kv, NS_META, NS_META_KEY, strlen(NS_META_KEY), value,
		      ns_make_meta(ns, limit, value));
}

/* Reserves numbers of inodes ahead: one is allocated only when it is durable that it may have been. */
static void reserve_more(struct ns *ns)
{
	int ret;

	if (ns->reserve_active || ns->limit - ns->next >= NS_RESERVE / 2)
		return;
	ns->reserving = ns->limit + NS_RESERVE;
	kv_begin(ns->kv);
	ret = ns_put_limit(ns, ns->reserving);
	if (ret) {
		kv_abort(ns->kv);
		return;
	}
	if (kv_end(ns->kv))
		return;
	ns->reserve = (struct commit){ .done = reserved, .arg = ns };
	ns->reserve_active = true;
	kv_commit(ns->kv, &ns->reserve);
}

static int find_result(struct ns *ns, const struct ns_who *who, uint64_t *result)
{
	uint8_t key[NS_DONE_KEY_LEN];
	const void *value;
	size_t len;
	int ret;

	if (who->mount->any_done && who->seq.seq <= who->mount->forgotten)
		return -ESTALE;
	ns_done_key(key, who->mount->id, who->seq.seq);
	ret = kv_get(ns->kv, NS_DONE, key, sizeof(key), &value, &len);
	return ret ? ret : ns_result_get(key, sizeof(key), value, len, result);
}

void ns_begin(struct ns *ns)
{
	ns->counting = 0;
	kv_begin(ns->kv);
}

int ns_end(struct ns *ns, int ret)
{
	if (ret)
		kv_abort(ns->kv);
	else
		ret = kv_end(ns->kv);
	reserve_more(ns);
	if (!ret)
		ns->count += (uint64_t)ns->counting;
	return ret;
}

/* Results up to this number have arrived. */
static uint64_t results_arrived(const struct ns_who *who)
{
	const struct ns_mount *m = who->mount;

	return m->any_done && m->forgotten > who->seq.upto ? m->forgotten : who->seq.upto;
}

/* Returns false, and counts it, if the mount has as many results as it may have and forgets none. */
static bool results_room(struct ns *ns, const struct ns_who *who)
{
	struct bound *b = &ns->bounds->at[BOUND_RESULTS];
	uint64_t seq;

	if (who->mount->results < b->limit ||
	    (!ns_result_next(ns, who->mount, 0, &seq) && seq <= results_arrived(who)))
		return true;
	b->hits++;
	return false;
}

/* Returns true if the sender may make the request again. */
static bool asks_again(const struct ns_who *who)
{
	return who->mount && who->seq.seq;
}

int ns_begin_once(struct ns *ns, const struct ns_who *who, uint64_t *result, bool *again)
{
	int ret = -ENOENT;

	*result = 0;
	if (asks_again(who))
		ret = find_result(ns, who, result);
	*again = !ret;
	if (ret != -ENOENT)
		return ret;
	if (asks_again(who) && !results_room(ns, who))
		return -EBUSY;
	ns_begin(ns);
	return 0;
}

/*
 * Forgets results that have arrived: a few with each change, whatever number the mount names.  *@swept: how
 * far; *@gone: how many there were.
 */
static int forget_results(struct ns *ns, const struct ns_who *who, uint64_t *swept, uint64_t *gone)
{
	const struct ns_mount *m = who->mount;
	uint64_t upto = results_arrived(who), seq;
	uint8_t key[NS_DONE_KEY_LEN];
	int i, ret;

	*swept = m->swept;
	*gone = 0;
	for (i = 0; i < NS_RESULTS_STEP && m->results > *gone && *swept < upto; i++) {
		ret = ns_result_next(ns, m, *swept + 1, &seq);
		if (ret == -ENOENT || (!ret && seq > upto)) {
			*swept = upto;
			return 0;
		}
		if (ret)
			return ret;
		ns_done_key(key, m->id, seq);
		ret = kv_del(ns->kv, NS_DONE, key, sizeof(key));
		if (ret)
			return ret;
		*swept = seq;
		++*gone;
	}
	return 0;
}

static int put_result(struct ns *ns, const struct ns_who *who, uint64_t result, uint64_t *swept,
		      uint64_t *gone)
{
	uint8_t key[NS_DONE_KEY_LEN], value[NS_RESULT_LEN];
	int ret = forget_results(ns, who, swept, gone);

	if (ret)
		return ret;
	ns_done_key(key, who->mount->id, who->seq.seq);
	ns_result_put(value, key, sizeof(key), result);
	return kv_put(ns->kv, NS_DONE, key, sizeof(key), value, sizeof(value));
}

/* The change is made: the mount has one result more and @gone less. */
static void count_results(struct ns *ns, const struct ns_who *who, uint64_t swept, uint64_t gone)
{
	struct ns_mount *m = who->mount;

	ns_results_count(ns, m, 1, gone);
	m->swept = swept;
	if (!m->any_done || m->forgotten < who->seq.upto) {
		m->forgotten = who->seq.upto;
		m->any_done = true;
	}
}

int ns_end_once(struct ns *ns, const struct ns_who *who, uint64_t result, int ret)
{
	uint64_t swept = 0, gone = 0;

	if (!ret && asks_again(who))
		ret = put_result(ns, who, result, &swept, &gone);
	ret = ns_end(ns, ret);
	if (!ret && asks_again(who))
		count_results(ns, who, swept, gone);
	return ret;
}
