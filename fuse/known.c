// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which files the kernel may have names of.  It keeps a name for entry_timeout, and only this mount's own changes
 * take it away before.  So a request by an inode that another mount has removed or replaced may mean a name that is
 * another inode's now; where the kernel has no name of the inode, the request comes from an open file.
 *
 * Both tables have a fixed size.  Of what they have forgotten the kernel may have names.
 */
#include <stdlib.h>
#include <string.h>
#include "ddiofs.h"

#define SIZE (1u << 15)
#define DIRS (1u << 12)
#define DEPTH 64
/* A request may have waited for so long since the kernel has looked at its name. */
#define WAITED_NS 5000000000ull

/**
 * struct known_name - a name that the kernel was given
 * @hash: its own and its directory's; 0: none
 * @ino, @gen: what it names
 */
struct known_name {
	uint64_t hash, ino, gen;
};

/**
 * struct known_ino - an inode of which the kernel was given @names
 * @gen: told apart from the same inode after all names were too old, or it was forgotten
 * @until: when the last one is too old
 */
struct known_ino {
	uint64_t ino, gen, until;
	uint32_t names;
};

/**
 * struct known_dir - by which name the kernel was given a directory
 */
struct known_dir {
	uint64_t ino, parent;
	char *name;
};

struct known_set {
	pthread_mutex_t lock;
	uint64_t gens;
	struct known_dir dir[DIRS];
	struct known_name name[SIZE];
	struct known_ino ino[SIZE];
};

struct known_set *known_new(void)
{
	struct known_set *k = calloc(1, sizeof(*k));

	if (k)
		pthread_mutex_init(&k->lock, NULL);
	return k;
}

void known_free(struct known_set *k)
{
	unsigned int i;

	if (!k)
		return;
	for (i = 0; i < DIRS; i++)
		free(k->dir[i].name);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

uint64_t known_name(uint64_t parent, const char *name)
{
	uint64_t h = parent * 0x9e3779b97f4a7c15ull;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3ull;
	h ^= h >> 29;
	return h ? h : 1;
}

static struct known_name *name_at(struct known_set *k, uint64_t hash)
{
	return &k->name[(hash * 0x9e3779b97f4a7c15ull >> 40) % SIZE];
}

static struct known_dir *dir_at(struct known_set *k, uint64_t ino)
{
	return &k->dir[(ino * 0x9e3779b97f4a7c15ull >> 40) % DIRS];
}

static void dir_drop(struct known_set *k, uint64_t ino)
{
	struct known_dir *d = dir_at(k, ino);

	if (d->ino != ino)
		return;
	free(d->name);
	*d = (struct known_dir){ .ino = 0 };
}

static struct known_ino *ino_at(struct known_set *k, uint64_t ino)
{
	return &k->ino[(ino * 0x9e3779b97f4a7c15ull >> 40) % SIZE];
}

/* Returns the inode that the name is counted for, or NULL. */
static struct known_ino *named_by(struct known_set *k, const struct known_name *n)
{
	struct known_ino *i = ino_at(k, n->ino);

	return i->ino == n->ino && i->gen == n->gen ? i : NULL;
}

static void name_drop(struct known_set *k, uint64_t hash)
{
	struct known_name *n = name_at(k, hash);
	struct known_ino *i = n->hash == hash ? named_by(k, n) : NULL;

	if (i && i->names)
		i->names--;
	if (n->hash == hash)
		*n = (struct known_name){ .hash = 0 };
}

void known_given(struct known_set *k, uint64_t hash, uint64_t ino, uint64_t now, uint64_t lasts)
{
	uint64_t until = lasts < UINT64_MAX - now - WAITED_NS ? now + lasts
							      : UINT64_MAX - WAITED_NS;
	struct known_name *n;
	struct known_ino *i;

	pthread_mutex_lock(&k->lock);
	n = name_at(k, hash);
	i = ino_at(k, ino);
	if (n->hash != hash || n->ino != ino || n->gen != i->gen || i->ino != ino) {
		name_drop(k, hash);
		if (i->ino != ino || i->until <= now)
			*i = (struct known_ino){ .ino = ino, .gen = ++k->gens };
		i->names++;
		*n = (struct known_name){ .hash = hash, .ino = ino, .gen = i->gen };
	}
	/* If the kernel keeps no names, it has looked this one up for the request that comes now. */
	if (lasts && i->until < until + WAITED_NS)
		i->until = until + WAITED_NS;
	pthread_mutex_unlock(&k->lock);
}

void known_lost(struct known_set *k, uint64_t hash)
{
	pthread_mutex_lock(&k->lock);
	name_drop(k, hash);
	pthread_mutex_unlock(&k->lock);
}

/* Takes a name out without counting it. */
static struct known_name name_take(struct known_set *k, uint64_t hash)
{
	struct known_name *n = name_at(k, hash), taken = { .hash = 0 };

	if (n->hash != hash)
		return taken;
	taken = *n;
	*n = (struct known_name){ .hash = 0 };
	return taken;
}

static void name_put(struct known_set *k, struct known_name n, uint64_t hash)
{
	if (!n.hash)
		return;
	n.hash = hash;
	*name_at(k, hash) = n;
}

void known_moved(struct known_set *k, uint64_t from, uint64_t to, bool exchange)
{
	struct known_name there = { .hash = 0 }, here;

	if (from == to)
		return;
	pthread_mutex_lock(&k->lock);
	if (exchange)
		there = name_take(k, to);
	else
		name_drop(k, to);
	here = name_take(k, from);
	name_put(k, there, from);
	name_put(k, here, to);
	dir_drop(k, here.ino);
	dir_drop(k, there.ino);
	pthread_mutex_unlock(&k->lock);
}

bool known_nameless(struct known_set *k, uint64_t ino)
{
	struct known_ino *i;
	bool nameless;

	pthread_mutex_lock(&k->lock);
	i = ino_at(k, ino);
	nameless = i->ino == ino && !i->names;
	pthread_mutex_unlock(&k->lock);
	return nameless;
}

bool known_may(struct known_set *k, uint64_t ino, uint64_t now)
{
	struct known_ino *i;
	bool may;

	pthread_mutex_lock(&k->lock);
	i = ino_at(k, ino);
	may = i->ino != ino || (i->names && i->until > now);
	pthread_mutex_unlock(&k->lock);
	return may;
}

void known_dir(struct known_set *k, uint64_t parent, const char *name, uint64_t ino)
{
	struct known_dir *d;

	pthread_mutex_lock(&k->lock);
	d = dir_at(k, ino);
	if (d->ino != ino || d->parent != parent || strcmp(d->name, name)) {
		free(d->name);
		*d = (struct known_dir){ .ino = ino, .parent = parent, .name = strdup(name) };
		if (!d->name)
			d->ino = 0;
	}
	pthread_mutex_unlock(&k->lock);
}

/* Puts a name in front of what stands at the end of @len bytes, *@left of which are free.  Returns false if it does not fit. */
static bool path_add(char *path, size_t *left, const char *name)
{
	size_t n = strlen(name) + 1;

	if (n > *left)
		return false;
	*left -= n;
	memcpy(path + *left, name, n);
	return true;
}

size_t known_path(struct known_set *k, uint64_t top, uint64_t ino, const char *last, char *path,
		  size_t len)
{
	const struct known_dir *d;
	size_t left = len;
	bool fits = path_add(path, &left, last);
	int depth;

	pthread_mutex_lock(&k->lock);
	for (depth = 0; fits && ino != top; depth++, ino = d->parent) {
		d = dir_at(k, ino);
		fits = d->ino == ino && depth < DEPTH && path_add(path, &left, d->name);
	}
	pthread_mutex_unlock(&k->lock);
	if (!fits)
		return 0;
	memmove(path, path + left, len - left);
	return len - left;
}
