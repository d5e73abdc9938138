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
 * Kinds of keys: a disk by its number, a life by its ordinal number, the present life, what is recorded of the last one,
 * incarnations of the daemon that ended in order.
 */
enum { KEY_DISK = 'd', KEY_LIFE = 'l', KEY_NOW = 'n', KEY_LAST = 'k', KEY_ENDS = 'e' };
enum { KEY_LEN = 1 + NS_KEY_LEN, LIFE_LEN = 16, DISK_LEN = 36, LAST_LEN = 16 };
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
 * Whether the journal was damaged.  What is durable is marked in it, so that this is missing is no effect of a loss of power; nor is
 * it if the machine has not been down since, as then all that was written is there.  Nothing is served until somebody says that
 * the name space is to be accepted as it is.
 */

/**
 * struct last - what is recorded of that
 * @machine: the run of the machine in which the last life began; 0: not known
 * @damaged: see struct ns
 */
struct last {
	uint64_t machine, damaged;
};

/* @value: LAST_LEN + NS_BYTES_EXTRA bytes. */
static void make_last(uint8_t key[KEY_LEN], uint8_t *value, const struct last *last)
{
	uint8_t raw[LAST_LEN];
	struct ddio_wr w = ddio_wr_begin(raw, sizeof(raw));

	ddio_wr_u64(&w, last->machine);
	ddio_wr_u64(&w, last->damaged);
	make_key(key, KEY_LAST, 0);
	ns_bytes_put(value, key, KEY_LEN, raw, sizeof(raw));
}

static int get_last(struct ns *ns, struct last *last)
{
	uint8_t raw[LAST_LEN];
	struct ddio_rd r = ddio_rd_begin(raw, sizeof(raw));
	int ret = get_bytes(ns, KEY_LAST, 0, raw, sizeof(raw));

	if (ret)
		return ret;
	last->machine = ddio_rd_u64(&r);
	last->damaged = ddio_rd_u64(&r);
	return 0;
}

/* A start looks at what it has found of the journal. */
static int last_next(struct ns *ns)
{
	struct last last = { .machine = 0 };
	int ret = get_last(ns, &last);
	enum kv_found found = kv_found(ns->kv);
	bool on;

	if (ret && ret != -ENOENT)
		return ret;
	on = ns->machine && last.machine == ns->machine;
	ns->damaged = last.damaged;
	if (!ns->damaged && (found == KV_DAMAGED || (found == KV_TORN && on)))
		ns->damaged = kv_changes(ns->kv) + 1;
	if (ns->damaged)
		ddio_env_log(ns->env, DDIO_LOG_ERR,
			     "the name space is not served: its journal was damaged behind change "
			     "%llu; 'ddio replace --names' accepts what is left",
			     (unsigned long long)ns->damaged - 1);
	return 0;
}

/* Within a transaction: a life begins. */
static int last_begin(struct ns *ns, struct lmdb *db, MDB_txn *txn)
{
	const struct last last = { .machine = ns->machine, .damaged = ns->damaged };
	uint8_t key[KEY_LEN], value[LAST_LEN + NS_BYTES_EXTRA];
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, sizeof(value));

	make_last(key, value, &last);
	return mdb_put(txn, db->dbi[NS_DISKS], &k, &v, 0);
}

/* Within a change: the name space is accepted as it is. */
static int last_accept(struct ns *ns)
{
	const struct last last = { .machine = ns->machine };
	uint8_t key[KEY_LEN], value[LAST_LEN + NS_BYTES_EXTRA];

	make_last(key, value, &last);
	return kv_put(ns->kv, NS_DISKS, key, sizeof(key), value, sizeof(value));
}

enum ns_refusal ns_refusal(const struct ns *ns, uint64_t *at)
{
	*at = (ns->damaged ? ns->damaged : ns->old) - 1;
	return ns->damaged ? NAMES_DAMAGED : ns->old ? NAMES_OLD : NAMES_GOOD;
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
	ret = ends_put(ns, boot);
	return ns_end(ns, ret);
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
	return last_next(ns);
}

int ns_life_put(struct ns *ns, struct lmdb *db, MDB_txn *txn)
{
	const struct names_life life = { .life = ns->life, .first = kv_changes(ns->kv) };
	int ret = put_life(db, txn, KEY_LIFE, ns->life >> RANDOM_BITS, &life);

	if (!ret)
		ret = put_life(db, txn, KEY_NOW, 0, &life);
	return ret ? ret : last_begin(ns, db, txn);
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

uint32_t ns_lost(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_attach *x)
{
	uint32_t lost = have(ns, x->life, x->answered) ? 0 : DDIO_FS_LOST_ANSWERED;

	if (!have(ns, x->life, x->durable))
		lost |= DDIO_FS_LOST_DURABLE;
	/* It attaches once more when it has told what it has open. */
	if (x->life != ns->life)
		mount->lost = lost;
	return lost;
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

/* Returns true if the name space was accepted in this run, though this life of the disk had heard of more. */
static bool was_accepted(const struct ns *ns, const struct ddio_disk_id *id)
{
	return id->disk < ns->ndisks && ns->accepted[id->disk] == id->life;
}

/*
 * Meets one disk; @id->lost: what it has lost, which are no files that there never were (-ERANGE).  Returns 0 or -errno; *@met tells
 * what stands in the way.
 */
static int meet(struct ns *ns, struct ddio_disk_id *id, bool names, enum ns_meeting *met)
{
	struct known_disk known = { .lost = 0 };
	int ret = get_disk(ns, id->disk, &known);
	/* A client that asked the disk before the name space was accepted brings an old word of it. */
	bool unknown = !have(ns, id->names, id->change) && !was_accepted(ns, id);

	if (ret && ret != -ENOENT)
		return ret;
	*met = ret ? NS_DISK_NEXT : compare(&known, id);
	if (unknown && (!names || *met == NS_DISK_SAME))
		*met = NS_NAMES_PAST;
	else if (unknown && *met == NS_DISK_OTHER)
		*met = NS_DISK_FORGOT; /* put there after this name space's backup */
	*met = accept(*met, id, names);
	if (unknown && names && id->disk < ns->ndisks && *met != NS_NAMES_PAST)
		ns->accepted[id->disk] = id->life;
	if (*met == NS_NAMES_PAST &&
	    (have(ns, id->names, 0) || (!ret && !memcmp(known.uuid, id->uuid, sizeof(id->uuid)))))
		ns->old = id->disk + 1ull;
	if (id->lost > ns->next && !names && *met != NS_NAMES_PAST)
		return -ERANGE;
	if (known.lost > id->lost)
		id->lost = known.lost;
	if (*met == NS_DISK_FORGOT)
		id->lost = ns->next;
	if (ns->old == id->disk + 1ull && (*met == NS_DISK_SAME || *met == NS_DISK_NEXT))
		ns->old = 0;
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
	}
	ret = last_accept(ns);
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
	if (names && (ns->damaged || ns->old || any_unknown_life(ns, x)))
		ret = pass_numbers(ns);
	for (i = 0; i < x->n && !ret; i++) {
		ret = meet(ns, &x->ids[i], names, &one);
		if (ret || one == NS_DISK_SAME || *met != NS_DISK_SAME)
			continue;
		*met = one;
		*which = i;
	}
	ret = ns_end(ns, ret);
	if (names && !ret)
		ns->damaged = ns->old = 0;
	x->names = ns->life;
	/* Whoever answers waits until it is durable; without flushes nothing is. */
	x->change = ns->sync ? kv_changes(ns->kv) : 0;
	return ret;
}
