// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names looked up ahead. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/bytes.h"
#include "cp/fs/core/job.h"
#include "cp/fs/names/ahead.h"
#include "cp/fs/names/names.h"

/* A listing is used for so long at most, and lookups of one directory count together for so long. */
#define YOUNG_NS 1000000000ull

/* So many lookups make a directory be listed; doubled after a listing that was of no use, halved after one that was. */
enum { EAGER = 2, USUAL = 4, WARY = 64 };

/* Inodes and names share places: one that was taken out takes others with it, who are asked for then. */
enum { PLACES = 8192 };

/**
 * struct fsc_ahead_dir - a directory in which names are looked up
 * @ino: 0: none
 * @since: of the first of @looked lookups that the name server answered
 * @asked: a listing is under way
 * @x, @key: the listing, and the names' hashes; none if @x.n is 0
 * @at, @sent: when it was asked for, by the clock on the wall and by fsc_ask.sent
 * @used: how many lookups it answered; @from: the entry that answered the first
 */
struct fsc_ahead_dir {
	uint64_t ino, since;
	uint32_t looked, used, from;
	bool asked;
	struct ddio_msg_fs_entries x;
	uint64_t *key;
	uint64_t at, sent;
};

/**
 * struct fsc_ahead - all of it
 * @clock: when a request was last sent, as fsc_ask.sent
 * @all: listings that were asked for up to then are of no use; @links: nor are inodes with several names
 * @place: the same of single inodes and names
 * @trigger: so many lookups make a directory be listed
 */
struct fsc_ahead {
	uint64_t clock, all, links;
	uint32_t trigger;
	uint64_t place[PLACES];
	struct fsc_ahead_dir dir[FSC_AHEAD_DIRS];
};

/* A directory being listed. */
struct ahead_job {
	struct fsc_job job;
	struct fsc_ask ask;
	struct fsc_ahead_dir *dir;
	uint64_t at;
	uint8_t payload[32];
};

int fsc_ahead_new(struct ddio_fs *fs)
{
	fs->ahead = calloc(1, sizeof(*fs->ahead));
	if (!fs->ahead)
		return -ENOMEM;
	fs->ahead->trigger = USUAL;
	return 0;
}

/* Most of the entries were used, those left out that had been looked up before. */
static bool was_good(const struct fsc_ahead_dir *d)
{
	return d->used && d->used * 2 >= d->x.n - d->from;
}

static void listing_drop(struct fsc_ahead *all, struct fsc_ahead_dir *d)
{
	if (!d->x.n)
		return;
	if (was_good(d))
		all->trigger = all->trigger / 2 > EAGER ? all->trigger / 2 : EAGER;
	else if (d->used * 8 < d->x.n)
		all->trigger = all->trigger * 2 < WARY ? all->trigger * 2 : WARY;
	free(d->x.ents);
	free(d->key);
	memset(&d->x, 0, sizeof(d->x));
	d->key = NULL;
	d->used = 0;
}

void fsc_ahead_free(struct ddio_fs *fs)
{
	uint32_t i;

	for (i = 0; fs->ahead && i < FSC_AHEAD_DIRS; i++)
		listing_drop(fs->ahead, &fs->ahead->dir[i]);
	free(fs->ahead);
}

/*
 * What changes
 */
static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ull;
	return x ^ x >> 32;
}

uint64_t fsc_ahead_name(uint64_t dir, const char *name)
{
	uint64_t key = mixed(dir + 1);

	while (*name)
		key = (key ^ (uint8_t)*name++) * 0x100000001b3ull;
	return mixed(key) | 1;
}

static uint64_t *place_of(struct fsc_ahead *all, uint64_t key)
{
	return &all->place[mixed(key) % PLACES];
}

static void take_out(struct fsc_ahead *all, uint64_t key)
{
	*place_of(all, key) = all->clock;
}

/* The number that a message begins with, perhaps behind that of the request. */
static uint64_t first_of(const struct fsc_ask *ask)
{
	size_t at = ask->numbered ? FSC_SEQ_LEN : 0;

	return ask->len < at + 8 ? 0 : bytes_get64((const uint8_t *)ask->fixed + at);
}

static void note_name(struct fsc_ahead *all, const struct fsc_ask *ask)
{
	if (!ask->name) {
		all->all = all->clock;
		return;
	}
	take_out(all, ask->name);
	take_out(all, first_of(ask));
	all->links = all->clock;
}

void fsc_ahead_note(struct fsc_ask *ask)
{
	struct fsc_ahead *all = ask->home->fs->ahead;

	if (ask->sent > all->clock)
		all->clock = ask->sent;
	switch (ask->opcode) {
	case DDIO_OP_FS_LOOKUP: /* fsc_ahead_seen() */
	case DDIO_OP_FS_READDIR:
	case DDIO_OP_FS_READLINK:
	case DDIO_OP_FS_GETXATTR:
	case DDIO_OP_FS_LISTXATTR:
	case DDIO_OP_FS_SYNC:
	case DDIO_OP_FS_SPACE:
	case DDIO_OP_FS_ORPHANS:
	case DDIO_OP_FS_GONE:
		return;
	case DDIO_OP_FS_GETATTR:
	case DDIO_OP_FS_SETATTR:
	case DDIO_OP_FS_SETXATTR:
	case DDIO_OP_FS_REMOVEXATTR:
	case DDIO_OP_FS_OPEN:
	case DDIO_OP_FS_RELEASE:
	case DDIO_OP_FS_WROTE:
	case DDIO_OP_FS_APPEND:
	case DDIO_OP_FS_ALLOC:
	case DDIO_OP_FS_LOCK_TEST:
	case DDIO_OP_FS_LOCK_SET:
	case DDIO_OP_FS_LOCK_CANCEL:
	case DDIO_OP_FS_UNLOCK_OWNER:
		take_out(all, first_of(ask));
		return;
	case DDIO_OP_FS_MAKE:
	case DDIO_OP_FS_UNLINK:
		note_name(all, ask);
		return;
	default:
		all->all = all->clock;
	}
}

void fsc_ahead_seen(struct fsc_ask *ask, const struct ddio_fs_attr *attr)
{
	uint64_t *place = place_of(ask->home->fs->ahead, attr->ino);

	if (*place < ask->sent)
		*place = ask->sent;
}

void fsc_ahead_lost(struct ddio_fs *fs)
{
	fs->ahead->all = fs->ahead->clock;
}

/*
 * Listings
 */
static struct fsc_ahead_dir *dir_of(struct fsc_ahead *all, uint64_t ino)
{
	return &all->dir[mixed(ino) % FSC_AHEAD_DIRS];
}

static bool is_old(struct ddio_fs *fs, uint64_t since)
{
	return ddio_env_now(fs->reactor[0].env) - since >= YOUNG_NS;
}

void fsc_ahead_trim(struct ddio_fs *fs)
{
	uint32_t i;

	for (i = 0; i < FSC_AHEAD_DIRS; i++)
		if (is_old(fs, fs->ahead->dir[i].at))
			listing_drop(fs->ahead, &fs->ahead->dir[i]);
}

static void keys_make(struct fsc_ahead *all, struct fsc_ahead_dir *d)
{
	uint32_t i;

	d->key = calloc(d->x.n, sizeof(*d->key));
	if (!d->key)
		listing_drop(all, d);
	for (i = 0; i < d->x.n; i++)
		d->key[i] = fsc_ahead_name(d->ino, d->x.ents[i].name);
}

static void ahead_take(struct fsc_ask *ask, const struct reply *reply)
{
	struct ahead_job *aj = ddio_container_of(ask, struct ahead_job, ask);
	struct fsc_ahead_dir *d = aj->dir;
	struct ddio_msg_fs_entries x;

	if (ddio_get_fs_entries(reply->payload, reply->len, &x)) {
		fsc_ask_malformed(ask);
		return;
	}
	listing_drop(aj->job.fs->ahead, d);
	/* What has no entries is no listing, and holds nothing that would have to be dropped. */
	if (!x.n)
		return;
	d->x = x;
	d->at = aj->at;
	d->sent = ask->sent;
	keys_make(aj->job.fs->ahead, d);
}

static void ahead_done(struct fsc_ask *ask)
{
	struct ahead_job *aj = ddio_container_of(ask, struct ahead_job, ask);

	aj->dir->asked = false;
	fsc_error_free(&ask->error);
	fsc_job_drop(&aj->job);
}

static void dir_list(struct ddio_fs *fs, struct fsc_ahead_dir *d)
{
	struct ddio_msg_fs_readdir x = { .ino = d->ino,
					 .max = FSC_AHEAD_FIRST,
					 .flags = DDIO_FS_READDIR_PLUS };
	struct ahead_job *aj = fsc_job_new_quiet(fs, sizeof(*aj));
	ssize_t len;

	if (!aj)
		return;
	if (d->x.n) {
		x.cookie = d->x.ents[d->x.n - 1].cookie;
		x.max = d->x.n * 2 < FSC_AHEAD_MOST ? d->x.n * 2 : FSC_AHEAD_MOST;
	}
	d->asked = true;
	aj->dir = d;
	aj->at = ddio_env_now(fs->reactor[0].env);
	len = ddio_put_fs_readdir(aj->payload, sizeof(aj->payload), &x);
	fsc_ask_init(&aj->ask, &fs->reactor[0], DDIO_OP_FS_READDIR, aj->payload, (size_t)len,
		     ahead_done);
	aj->ask.take = ahead_take;
	fsc_ask(&aj->ask);
}

/* Returns true if the directory should be listed: for the first time, or on from where a good listing has ended. */
static bool dir_is_worth(const struct fsc_ahead *all, const struct fsc_ahead_dir *d)
{
	if (d->asked || d->looked < all->trigger)
		return false;
	return !d->x.n || (d->x.more && was_good(d));
}

void fsc_ahead_missed(struct ddio_fs *fs, uint64_t dir)
{
	struct fsc_ahead *all = fs->ahead;
	struct fsc_ahead_dir *d = dir_of(all, dir);

	if (d->asked)
		return;
	if (d->x.n && is_old(fs, d->at))
		listing_drop(all, d);
	if (d->ino != dir || is_old(fs, d->since)) {
		if (d->ino != dir)
			listing_drop(all, d);
		d->ino = dir;
		d->since = ddio_env_now(fs->reactor[0].env);
		d->looked = 0;
	}
	if (dir_is_worth(all, d))
		dir_list(fs, d);
}

void fsc_ahead_looked(struct ddio_fs *fs, uint64_t dir)
{
	struct fsc_ahead_dir *d = dir_of(fs->ahead, dir);

	if (d->ino == dir && d->looked < WARY)
		d->looked++;
}

/* Returns true if nothing has happened to an inode, or a name, since the listing was asked for. */
static bool is_kept(struct fsc_ahead *all, const struct fsc_ahead_dir *d, uint64_t key)
{
	return *place_of(all, key) < d->sent;
}

static bool entry_is_good(struct fsc_ahead *all, const struct fsc_ahead_dir *d, uint32_t i)
{
	const struct ddio_fs_attr *attr = &d->x.ents[i].attr;

	/* An inode that could not be read is listed with its type alone. */
	return attr->change && (attr->nlink < 2 || S_ISDIR(attr->mode) || all->links < d->sent) &&
	       is_kept(all, d, attr->ino) && is_kept(all, d, d->key[i]);
}

static bool entry_is(const struct fsc_ahead_dir *d, uint32_t i, uint64_t key, const char *name)
{
	return d->key[i] == key && !strcmp(d->x.ents[i].name, name);
}

bool fsc_ahead_find(struct ddio_fs *fs, uint64_t dir, const char *name, uint64_t max_age,
		    struct ddio_fs_attr *attr, uint64_t *age)
{
	struct fsc_ahead *all = fs->ahead;
	struct fsc_ahead_dir *d = dir_of(all, dir);
	uint64_t old = ddio_env_now(fs->reactor[0].env) - d->at, key;
	uint32_t i;

	if (d->ino != dir || !d->x.n || old >= max_age || old >= YOUNG_NS || all->all >= d->sent)
		return false;
	key = fsc_ahead_name(dir, name);
	for (i = 0; i < d->x.n && !entry_is(d, i, key, name); i++)
		;
	if (i == d->x.n || !entry_is_good(all, d, i))
		return false;
	if (!d->used++)
		d->from = i;
	*attr = d->x.ents[i].attr;
	*age = old;
	return true;
}
