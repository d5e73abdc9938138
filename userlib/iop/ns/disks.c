// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the name space remembers of the cluster's disks, and its own lives, which the disks remember.  Each knows
 * the other's last life, so that neither can come back from the past unnoticed; the disks know the last change, too,
 * of which they have heard that it is durable.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "iop/life/life.h"
#include "iop/ns/priv.h"
#include "proto/cursor.h"

/*
 * Kinds of keys: a disk by its number, a life by its ordinal number, the present life, what is kept of others,
 * incarnations of the daemon that ended in order.
 */
enum { KEY_DISK = 'd', KEY_LIFE = 'l', KEY_NOW = 'n', KEY_KEPT = 'k', KEY_ENDS = 'e' };
enum { KEY_LEN = 1 + NS_KEY_LEN, LIFE_LEN = 16, DISK_LEN = 36, KEPT_LEN = 24 };
enum { ENDS_LEN = 8 * DDIO_ENDS };

#define RANDOM_BITS DDIO_LIFE_RANDOM
/* Numbers of inodes that are passed over when the name space is accepted as it is: younger files had some. */
#define NUMBERS_PASSED (UINT64_C(1) << 32)

/**
 * struct known_disk - what a disk was when it was last met
 * @lost: files with lower numbers may have lost their objects there
 */
struct known_disk {
	uint32_t flags;
	uint8_t uuid[DDIO_UUID_LEN];
	uint64_t life, lost;
};

static void make_key(uint8_t key[KEY_LEN], uint8_t kind, uint64_t number)
{
	key[0] = kind;
	ns_key(key + 1, number);
}

static int get_bytes(struct ns *ns, uint8_t kind, uint64_t number, void *to, size_t size)
{
	uint8_t key[KEY_LEN];
	const uint8_t *data;
	const void *value;
	size_t len;
	int ret;

	make_key(key, kind, number);
	ret = kv_get(ns->kv, NS_DISKS, key, sizeof(key), &value, &len);
	if (!ret)
		ret = ns_bytes_get(key, sizeof(key), value, len, &data, &len);
	if (!ret && len != size)
		ret = -EUCLEAN;
	if (!ret)
		memcpy(to, data, size);
	return ret;
}

static int get_disk(struct ns *ns, uint32_t disk, struct known_disk *known)
{
	uint8_t raw[DISK_LEN];
	struct ddio_rd r = ddio_rd_begin(raw, sizeof(raw));
	int ret = get_bytes(ns, KEY_DISK, disk, raw, sizeof(raw));

	if (ret)
		return ret;
	known->flags = ddio_rd_u32(&r);
	ddio_rd_bytes(&r, known->uuid, sizeof(known->uuid));
	known->life = ddio_rd_u64(&r);
	known->lost = ddio_rd_u64(&r);
	return 0;
}

static int put_disk(struct ns *ns, const struct ddio_disk_id *id)
{
	uint8_t key[KEY_LEN], raw[DISK_LEN], value[DISK_LEN + NS_BYTES_EXTRA];
	struct ddio_wr w = ddio_wr_begin(raw, sizeof(raw));

	ddio_wr_u32(&w, id->flags & DDIO_DISK_FORGETS);
	ddio_wr_bytes(&w, id->uuid, sizeof(id->uuid));
	ddio_wr_u64(&w, id->life);
	ddio_wr_u64(&w, id->lost);
	make_key(key, KEY_DISK, id->disk);
	ns_bytes_put(value, key, sizeof(key), raw, sizeof(raw));
	return kv_put(ns->kv, NS_DISKS, key, sizeof(key), value, sizeof(value));
}

static int get_life(struct ns *ns, uint8_t kind, uint64_t number, struct names_life *life)
{
	uint8_t raw[LIFE_LEN];
	struct ddio_rd r = ddio_rd_begin(raw, sizeof(raw));
	int ret = get_bytes(ns, kind, number, raw, sizeof(raw));

	life->life = ret ? 0 : ddio_rd_u64(&r);
	life->first = ret ? 0 : ddio_rd_u64(&r);
	return ret;
}

static int put_life(struct lmdb *db, MDB_txn *txn, uint8_t kind, uint64_t number,
		    const struct names_life *life)
{
	uint8_t key[KEY_LEN], raw[LIFE_LEN], value[LIFE_LEN + NS_BYTES_EXTRA];
	struct ddio_wr w = ddio_wr_begin(raw, sizeof(raw));
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, sizeof(value));

	ddio_wr_u64(&w, life->life);
	ddio_wr_u64(&w, life->first);
	make_key(key, kind, number);
	ns_bytes_put(value, key, sizeof(key), raw, sizeof(raw));
	return mdb_put(txn, db->dbi[NS_DISKS], &k, &v, 0);
}

/*
 * Whether a start has found all that was answered before.  It has if the last life was stopped in order, or if the
 * machine has not been down since: the journal is written before the answer, and only a machine that goes down loses
 * what was written and not flushed.  Mounts are told the first life since which that holds.
 */

/**
 * struct kept - the record of it
 * @kept: nothing that was answered in this life, or in a later one, is lost
 * @machine: the run of the machine in which the last life began; 0: not known
 * @ended: the last life, if it was stopped in order; or 0
 */
struct kept {
	uint64_t kept, machine, ended;
};

/* @value: KEPT_LEN + NS_BYTES_EXTRA bytes. */
static void make_kept(uint8_t key[KEY_LEN], uint8_t *value, const struct kept *kept)
{
	uint8_t raw[KEPT_LEN];
	struct ddio_wr w = ddio_wr_begin(raw, sizeof(raw));

	ddio_wr_u64(&w, kept->kept);
	ddio_wr_u64(&w, kept->machine);
	ddio_wr_u64(&w, kept->ended);
	make_key(key, KEY_KEPT, 0);
	ns_bytes_put(value, key, KEY_LEN, raw, sizeof(raw));
}

static int get_kept(struct ns *ns, struct kept *kept)
{
	uint8_t raw[KEPT_LEN];
	struct ddio_rd r = ddio_rd_begin(raw, sizeof(raw));
	int ret = get_bytes(ns, KEY_KEPT, 0, raw, sizeof(raw));

	if (ret)
		return ret;
	kept->kept = ddio_rd_u64(&r);
	kept->machine = ddio_rd_u64(&r);
	kept->ended = ddio_rd_u64(&r);
	return 0;
}

/* Finds out what is kept of life @last and of those before it. */
static int kept_next(struct ns *ns, uint64_t last)
{
	struct kept kept = { .kept = 0 };
	int ret = get_kept(ns, &kept);
	bool on, ended;

	if (ret && ret != -ENOENT)
		return ret;
	on = ns->machine && kept.machine == ns->machine;
	/* Without flushes the record may have come through, and what it stands for not. */
	ended = ns->sync && last && kept.ended == last;
	ns->kept = kept.kept && (on || ended) && !kv_lost(ns->kv) ? kept.kept : ns->life;
	return 0;
}

/* Within a transaction: a life begins, and has not ended. */
static int kept_begin(struct ns *ns, struct lmdb *db, MDB_txn *txn)
{
	const struct kept kept = { .kept = ns->kept, .machine = ns->machine };
	uint8_t key[KEY_LEN], value[KEPT_LEN + NS_BYTES_EXTRA];
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, sizeof(value));

	make_kept(key, value, &kept);
	return mdb_put(txn, db->dbi[NS_DISKS], &k, &v, 0);
}

/* Within a change. */
static int kept_put(struct ns *ns, uint64_t ended)
{
	const struct kept kept = { .kept = ns->kept, .machine = ns->machine, .ended = ended };
	uint8_t key[KEY_LEN], value[KEPT_LEN + NS_BYTES_EXTRA];

	make_kept(key, value, &kept);
	return kv_put(ns->kv, NS_DISKS, key, sizeof(key), value, sizeof(value));
}

/* The latest first, zeros behind the last.  One that is missing or damaged says that none ended so. */
static void ends_load(struct ns *ns)
{
	uint8_t raw[ENDS_LEN];
	struct ddio_rd r = ddio_rd_begin(raw, sizeof(raw));
	struct ddio_ends *ends = &ns->ends;

	memset(ends, 0, sizeof(*ends));
	/* As above: without flushes the record says nothing. */
	ends->known = ns->sync;
	if (!ends->known || get_bytes(ns, KEY_ENDS, 0, raw, sizeof(raw)))
		return;
	while (ends->n < DDIO_ENDS && (ends->boot[ends->n] = ddio_rd_u64(&r)))
		ends->n++;
}

/* Within a change. */
static int ends_put(struct ns *ns, uint64_t boot)
{
	uint8_t key[KEY_LEN], raw[ENDS_LEN], value[ENDS_LEN + NS_BYTES_EXTRA];
	struct ddio_wr w = ddio_wr_begin(raw, sizeof(raw));
	struct ddio_ends ends = ns->ends;
	uint32_t i;

	if (!ends.known)
		return 0;
	ddio_ends_add(&ends, boot);
	for (i = 0; i < DDIO_ENDS; i++)
		ddio_wr_u64(&w, i < ends.n ? ends.boot[i] : 0);
	make_key(key, KEY_ENDS, 0);
	ns_bytes_put(value, key, sizeof(key), raw, sizeof(raw));
	return kv_put(ns->kv, NS_DISKS, key, sizeof(key), value, sizeof(value));
}

int ns_ending(struct ns *ns, uint64_t boot)
{
	int ret;

	ns_begin(ns);
	ret = kept_put(ns, ns->life);
	return ns_end(ns, ret ? ret : ends_put(ns, boot));
}

int ns_disks_missing(struct ns *ns)
{
	uint8_t key[KEY_LEN];
	struct kv_cursor c;
	uint64_t number;
	int ret;

	make_key(key, KEY_DISK, ns->ndisks);
	ret = kv_first(&c, ns->kv, NS_DISKS, key, sizeof(key));
	for (; !ret && c.key_len == KEY_LEN && c.key[0] == KEY_DISK; ret = kv_next(&c)) {
		if (!ns_key_get(c.key + 1, c.key_len - 1, &number))
			break;
		ddio_env_log(ns->env, DDIO_LOG_ERR,
			     "name space: disk number %" PRIu64 ", which it knows, is missing: the "
			     "configuration has only %" PRIu32
			     " disks; files that lie on it cannot be read, 'ddio fsck' names them",
			     number, ns->ndisks);
	}
	kv_cursor_close(&c);
	return ret == -ENOENT ? 0 : ret;
}

const struct ddio_ends *ns_ends(const struct ns *ns)
{
	return &ns->ends;
}

uint64_t ns_kept(const struct ns *ns)
{
	return ns->kept;
}

int ns_life_next(struct ns *ns)
{
	struct names_life last;
	uint64_t random;
	int ret = get_life(ns, KEY_NOW, 0, &last);

	if (ret && ret != -ENOENT)
		return ret;
	ddio_env_random(ns->env, &random, sizeof(random));
	ends_load(ns);
	ns->life = life_after(last.life, random);
	return kept_next(ns, last.life);
}

int ns_life_put(struct ns *ns, struct lmdb *db, MDB_txn *txn)
{
	const struct names_life life = { .life = ns->life, .first = kv_changes(ns->kv) };
	int ret = put_life(db, txn, KEY_LIFE, ns->life >> RANDOM_BITS, &life);

	if (!ret)
		ret = put_life(db, txn, KEY_NOW, 0, &life);
	return ret ? ret : kept_begin(ns, db, txn);
}

uint64_t ns_life(const struct ns *ns)
{
	return ns->life;
}

/* Returns true if @life was one of this name space, and nothing is lost of it up to change @change. */
static bool have(struct ns *ns, uint64_t life, uint64_t change)
{
	uint64_t at = life >> RANDOM_BITS, last = ns->life >> RANDOM_BITS;
	struct names_life lives[2];

	if (!life)
		return true;
	if (at > last || get_life(ns, KEY_LIFE, at, &lives[0]) || lives[0].life != life)
		return false;
	for (at++; at <= last; at++)
		if (get_life(ns, KEY_LIFE, at, &lives[1]) || !names_have(lives, 2, life, change))
			return false;
	return true;
}

/* How a disk differs from what it was when it was last met. */
static enum ns_meeting compare(const struct known_disk *known, const struct ddio_disk_id *id)
{
	if (memcmp(known->uuid, id->uuid, sizeof(id->uuid)))
		return known->flags & id->flags & DDIO_DISK_FORGETS ? NS_DISK_FORGOT
								    : NS_DISK_OTHER;
	switch (life_meet(known->life, id)) {
	case LIFE_SAME:
		return NS_DISK_SAME;
	case LIFE_NEXT:
		return NS_DISK_NEXT;
	default:
		return NS_DISK_PAST;
	}
}

/* What becomes of a difference that somebody has accepted; @names: as one of the name space. */
static enum ns_meeting accept(enum ns_meeting met, const struct ddio_disk_id *id, bool names)
{
	if (names && (met == NS_NAMES_PAST || met == NS_DISK_PAST))
		return NS_DISK_NEXT;
	if (id->flags & DDIO_DISK_REPLACE && (met == NS_DISK_OTHER || met == NS_DISK_PAST))
		return NS_DISK_FORGOT;
	return met;
}

/*
 * Meets one disk; @id->lost: what it has lost, which are no files that there never were (-ERANGE).  Returns 0 or -errno; *@met tells
 * what stands in the way.
 */
static int meet(struct ns *ns, struct ddio_disk_id *id, bool names, enum ns_meeting *met)
{
	struct known_disk known = { .lost = 0 };
	int ret = get_disk(ns, id->disk, &known);
	bool unknown = !have(ns, id->names, id->change);

	if (ret && ret != -ENOENT)
		return ret;
	*met = ret ? NS_DISK_NEXT : compare(&known, id);
	if (unknown && (!names || *met == NS_DISK_SAME))
		*met = NS_NAMES_PAST;
	else if (unknown && *met == NS_DISK_OTHER)
		*met = NS_DISK_FORGOT; /* put there after this name space's backup */
	*met = accept(*met, id, names);
	if (id->lost > ns->next && !names && *met != NS_NAMES_PAST)
		return -ERANGE;
	if (known.lost > id->lost)
		id->lost = known.lost;
	if (*met == NS_DISK_FORGOT)
		id->lost = ns->next;
	if (*met != NS_DISK_NEXT && *met != NS_DISK_FORGOT)
		return 0;
	*met = NS_DISK_SAME;
	return put_disk(ns, id);
}

/*
 * Younger files, which this name space does not know, have had the next numbers, and mounts have had answers that it
 * does not know.  Once in a life is enough.  It is recorded with the disks that are accepted, since it is not done
 * again once they are.
 */
static int pass_numbers(struct ns *ns)
{
	int ret;

	if (!ns->passed) {
		ns->passed = true;
		ns->limit += NUMBERS_PASSED;
		ns->next = ns->limit;
		ns->kept = ns->life;
	}
	ret = kept_put(ns, 0);
	if (ret)
		return ret;
	return ns_put_limit(ns, ns->reserve_active && ns->reserving > ns->limit ? ns->reserving
										: ns->limit);
}

static bool any_unknown_life(struct ns *ns, const struct ddio_msg_disk_ids *x)
{
	uint32_t i;

	for (i = 0; i < x->n; i++)
		if (!have(ns, x->ids[i].names, x->ids[i].change))
			return true;
	return false;
}

int ns_meet(struct ns *ns, struct ddio_msg_disk_ids *x, enum ns_meeting *met, uint32_t *which)
{
	bool names = x->flags & DDIO_DISKS_NAMES;
	enum ns_meeting one;
	uint32_t i;
	int ret = 0;

	*met = NS_DISK_SAME;
	ns_begin(ns);
	if (names && any_unknown_life(ns, x))
		ret = pass_numbers(ns);
	for (i = 0; i < x->n && !ret; i++) {
		ret = meet(ns, &x->ids[i], names, &one);
		if (ret || one == NS_DISK_SAME || *met != NS_DISK_SAME)
			continue;
		*met = one;
		*which = i;
	}
	ret = ns_end(ns, ret);
	x->names = ns->life;
	/* Whoever answers waits until it is durable; without flushes nothing is. */
	x->change = ns->sync ? kv_changes(ns->kv) : 0;
	return ret;
}
