// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include "iop/lock/held.h"

/**
 * struct lock_share - how many locks a mount has on a file; there is none without
 */
struct lock_share {
	struct ddio_hash_node node; /* struct locks.shares */
	const void *mount;
	uint64_t ino, n;
};

struct lock_mount *lock_mount_find(const struct locks *locks, const void *mount)
{
	return ddio_hash_entry(ddio_hash_find(&locks->mounts, (uintptr_t)mount), struct lock_mount,
			       node);
}

struct lock_mount *lock_mount_make(struct locks *locks, const void *mount)
{
	struct lock_mount *m = lock_mount_find(locks, mount);

	if (m)
		return m;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	ddio_list_init(&m->held);
	ddio_list_init(&m->waiting);
	ddio_hash_add(&locks->mounts, &m->node, (uintptr_t)mount);
	return m;
}

void lock_mount_drop_if_empty(struct locks *locks, struct lock_mount *m)
{
	if (!m || m->locks || m->waits)
		return;
	ddio_hash_del(&locks->mounts, &m->node);
	free(m);
}

struct lock_file *lock_file_find(const struct locks *locks, uint64_t ino)
{
	return ddio_hash_entry(ddio_hash_find(&locks->files, ino), struct lock_file, node);
}

struct lock_file *lock_file_make(struct locks *locks, uint64_t ino)
{
	struct lock_file *file = lock_file_find(locks, ino);

	if (file)
		return file;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->ino = ino;
	ddio_list_init(&file->line[0].waits);
	ddio_list_init(&file->line[1].waits);
	ddio_list_init(&file->waking);
	ddio_hash_add(&locks->files, &file->node, ino);
	return file;
}

void lock_file_drop_if_empty(struct locks *locks, struct lock_file *file)
{
	if (!file || file->pinned || file->owners || file->nwaits)
		return;
	ddio_list_del(&file->waking);
	ddio_hash_del(&locks->files, &file->node);
	free(file);
}

/* Returns the line of a file to which waits come that have a byte of @from to @to. */
static struct lock_line *line_for(struct locks *locks, struct lock_file *file, bool flock,
				  uint64_t from, uint64_t to)
{
	struct lock_line *line = &file->line[flock];

	if (ddio_list_empty(&line->waits)) {
		line->from = from;
		line->to = to;
	}
	if (line->from > from)
		line->from = from;
	if (line->to < to)
		line->to = to;
	if (ddio_list_empty(&file->waking))
		ddio_list_add(&file->waking, &locks->waking);
	return line;
}

void lock_line_add(struct locks *locks, struct lock_file *file, struct lock_wait *wait)
{
	struct lock_line *line =
		line_for(locks, file, wait->want.flock, wait->want.start, wait->want.end);

	ddio_list_add(&wait->file_link, &line->waits);
	line->once += wait->once;
}

/* Has those stand in line who waited for a lock that becomes less. */
static void line_up(struct locks *locks, struct held_lock *lock)
{
	const struct lock_owner *o = lock->owner;

	if (ddio_list_empty(&lock->waits))
		return;
	ddio_list_splice(
		&lock->waits,
		&line_for(locks, o->file, o->flock, lock->range.start, lock->range.end)->waits);
}

static uint64_t owner_key(uint64_t ino, const struct file_lock *lock)
{
	return ddio_hash_pair(ddio_hash_pair((uintptr_t)lock->mount, lock->owner) ^ lock->flock,
			      ino);
}

static struct lock_owner *owner_find(const struct locks *locks, uint64_t ino,
				     const struct file_lock *lock)
{
	struct lock_owner *o;

	ddio_hash_for_each_match(o, &locks->holders, owner_key(ino, lock), node)
		if (o->file->ino == ino && o->mount == lock->mount && o->owner == lock->owner &&
		    o->flock == lock->flock)
			return o;
	return NULL;
}

static struct lock_owner *owner_make(struct locks *locks, struct lock_file *file,
				     const struct file_lock *lock)
{
	struct lock_owner *o = owner_find(locks, file->ino, lock);

	if (o)
		return o;
	o = malloc(sizeof(*o));
	if (!o)
		return NULL;
	*o = (struct lock_owner){
		.mount = lock->mount, .owner = lock->owner, .flock = lock->flock, .file = file
	};
	ddio_hash_add(&locks->holders, &o->node, owner_key(file->ino, lock));
	file->owners++;
	return o;
}

static void owner_drop_if_empty(struct locks *locks, struct lock_owner *o)
{
	if (!o || o->held.root)
		return;
	o->file->owners--;
	ddio_hash_del(&locks->holders, &o->node);
	free(o);
}

static struct lock_share *share_find(const struct locks *locks, uint64_t ino, const void *mount)
{
	struct lock_share *share;

	ddio_hash_for_each_match(share, &locks->shares, ddio_hash_pair((uintptr_t)mount, ino), node)
		if (share->mount == mount && share->ino == ino)
			return share;
	return NULL;
}

static struct lock_share *share_make(struct locks *locks, uint64_t ino, const void *mount)
{
	struct lock_share *share = share_find(locks, ino, mount);

	if (share)
		return share;
	share = malloc(sizeof(*share));
	if (!share)
		return NULL;
	*share = (struct lock_share){ .mount = mount, .ino = ino };
	ddio_hash_add(&locks->shares, &share->node, ddio_hash_pair((uintptr_t)mount, ino));
	return share;
}

static void share_drop_if_empty(struct locks *locks, struct lock_share *share)
{
	if (!share || share->n)
		return;
	ddio_hash_del(&locks->shares, &share->node);
	free(share);
}

/**
 * struct lock_place - what a new lock of an owner on a file belongs to
 */
struct lock_place {
	struct lock_file *file;
	struct lock_mount *mount;
	struct lock_owner *owner;
	struct lock_share *share;
};

static bool place_make(struct locks *locks, struct lock_place *p, uint64_t ino,
		       const struct file_lock *want)
{
	*p = (struct lock_place){ .file = lock_file_make(locks, ino),
				  .mount = lock_mount_make(locks, want->mount),
				  .share = share_make(locks, ino, want->mount) };
	p->owner = p->file ? owner_make(locks, p->file, want) : NULL;
	return p->mount && p->share && p->owner;
}

static void place_drop_if_empty(struct locks *locks, const struct lock_place *p)
{
	owner_drop_if_empty(locks, p->owner);
	share_drop_if_empty(locks, p->share);
	lock_mount_drop_if_empty(locks, p->mount);
	lock_file_drop_if_empty(locks, p->file);
}

static struct rangeset *set_of(const struct held_lock *lock)
{
	const struct lock_owner *o = lock->owner;

	return &o->file->held[o->flock][lock->type == DDIO_FS_LOCK_WRITE];
}

static void put_in(struct held_lock *lock, uint64_t start, uint64_t end)
{
	lock->range = (struct range){ .start = start, .end = end, .who = lock->owner };
	lock->own = lock->range;
	rangeset_add(set_of(lock), &lock->range);
	rangeset_add(&lock->owner->held, &lock->own);
}

static void take_out(struct held_lock *lock)
{
	rangeset_del(set_of(lock), &lock->range);
	rangeset_del(&lock->owner->held, &lock->own);
}

/* Adds a lock that fills @lock, whose owner, pid and type are known. */
static void lock_add(struct locks *locks, const struct lock_place *p, struct held_lock *lock,
		     uint64_t start, uint64_t end)
{
	struct bound *bound = &locks->bounds->at[BOUND_LOCKS];

	put_in(lock, start, end);
	ddio_list_add(&lock->mount_link, &p->mount->held);
	p->share->n++;
	p->mount->locks++;
	bound->now++;
	bound_seen(bound, p->mount->locks);
}

/* Takes a lock away and frees it, but nothing of its place. */
static void lock_free(struct locks *locks, const struct lock_place *p, struct held_lock *lock)
{
	line_up(locks, lock);
	take_out(lock);
	ddio_list_del(&lock->mount_link);
	p->share->n--;
	bound_put(&locks->bounds->at[BOUND_LOCKS], &p->mount->locks, 1);
	free(lock);
}

void lock_release(struct locks *locks, struct held_lock *lock)
{
	struct lock_owner *o = lock->owner;
	const struct lock_place p = { .file = o->file,
				      .owner = o,
				      .mount = lock_mount_find(locks, o->mount),
				      .share = share_find(locks, o->file->ino, o->mount) };

	lock_free(locks, &p, lock);
	place_drop_if_empty(locks, &p);
}

/* Returns the owner's first lock that has one of the bytes, or NULL. */
static struct held_lock *own_first(const struct lock_owner *o, uint64_t from, uint64_t to)
{
	struct range_query query = { .from = from, .to = to };
	struct range *found = rangeset_first(&o->held, &query);

	return found ? ddio_container_of(found, struct held_lock, own) : NULL;
}

static struct held_lock *own_next(const struct held_lock *lock, uint64_t from, uint64_t to)
{
	struct range_query query = { .from = from, .to = to };
	struct range *found = rangeset_next(&lock->owner->held, &lock->own, &query);

	return found ? ddio_container_of(found, struct held_lock, own) : NULL;
}

void lock_release_owner(struct locks *locks, uint64_t ino, const struct file_lock *owner)
{
	struct lock_owner *o;

	while ((o = owner_find(locks, ino, owner)) != NULL)
		lock_release(locks, own_first(o, 0, UINT64_MAX));
}

static struct held_lock *conflict_in(struct locks *locks, const struct lock_file *file,
				     const struct file_lock *want, bool writing)
{
	struct range_query query = { .from = want->start,
				     .to = want->end,
				     .but = owner_find(locks, file->ino, want) };
	struct range *found = rangeset_first(&file->held[want->flock][writing], &query);

	locks->looked += query.looked;
	return found ? ddio_container_of(found, struct held_lock, range) : NULL;
}

struct held_lock *lock_conflict_lowest(struct locks *locks, uint64_t ino,
				       const struct file_lock *want)
{
	const struct lock_file *file = lock_file_find(locks, ino);
	struct held_lock *writing, *reading = NULL;

	if (!file || want->type == DDIO_FS_LOCK_NONE)
		return NULL;
	writing = conflict_in(locks, file, want, true);
	if (want->type == DDIO_FS_LOCK_WRITE)
		reading = conflict_in(locks, file, want, false);
	if (writing && reading)
		return reading->range.start < writing->range.start ? reading : writing;
	return writing ? writing : reading;
}

static struct held_lock *conflict_from(struct locks *locks, struct lock_conflicts *walk,
				       struct range *found)
{
	bool reading = walk->want->type == DDIO_FS_LOCK_READ;

	if (!found && walk->type == DDIO_FS_LOCK_WRITE && !reading) {
		walk->type = DDIO_FS_LOCK_READ;
		found = rangeset_first(&walk->file->held[walk->want->flock][0], &walk->query);
	}
	locks->looked += walk->query.looked;
	walk->query.looked = 0;
	return found ? ddio_container_of(found, struct held_lock, range) : NULL;
}

struct held_lock *lock_conflict_first(struct locks *locks, struct lock_conflicts *walk,
				      uint64_t ino, const struct file_lock *want)
{
	const struct lock_file *file = lock_file_find(locks, ino);

	if (!file || want->type == DDIO_FS_LOCK_NONE)
		return NULL;
	*walk = (struct lock_conflicts){ .want = want,
					 .file = file,
					 .query = { .from = want->start,
						    .to = want->end,
						    .but = owner_find(locks, ino, want) },
					 .type = DDIO_FS_LOCK_WRITE };
	return conflict_from(locks, walk,
			     rangeset_first(&file->held[want->flock][1], &walk->query));
}

struct held_lock *lock_conflict_next(struct locks *locks, struct lock_conflicts *walk,
				     const struct held_lock *lock)
{
	bool writing = walk->type == DDIO_FS_LOCK_WRITE;

	return conflict_from(locks, walk,
			     rangeset_next(&walk->file->held[walk->want->flock][writing],
					   &lock->range, &walk->query));
}

static bool within(struct bound *bound, uint64_t held, int more)
{
	bool ok = more <= 0 || held < bound->limit;

	bound->hits += !ok;
	return ok;
}

/* Returns true if the mount may have the locks that this leaves, on the file and altogether. */
static bool may_have(struct locks *locks, const struct lock_place *p, const struct file_lock *want)
{
	struct bound *on_file = &locks->bounds->at[BOUND_FILE_LOCKS];
	int more = want->type != DDIO_FS_LOCK_NONE;
	const struct held_lock *lock;

	for (lock = own_first(p->owner, want->start, want->end); lock;
	     lock = own_next(lock, want->start, want->end)) {
		if (lock->own.start < want->start && lock->own.end > want->end)
			more++;
		else if (lock->own.start >= want->start && lock->own.end <= want->end)
			more--;
	}
	bound_seen(on_file, p->share->n + (more > 0));
	return within(on_file, p->share->n, more) &&
	       within(&locks->bounds->at[BOUND_LOCKS], p->mount->locks, more);
}

/* Cuts what is wanted out of @lock; @spare is used if two parts remain. */
static void cut(struct locks *locks, const struct lock_place *p, struct held_lock *lock,
		const struct file_lock *want, struct held_lock **spare)
{
	uint64_t start = lock->own.start, end = lock->own.end;
	bool before = start<want->start, behind = end> want->end;
	struct held_lock *tail = *spare;

	if (!before && !behind) {
		lock_free(locks, p, lock);
		return;
	}
	line_up(locks, lock);
	take_out(lock);
	put_in(lock, before ? start : want->end + 1, before ? want->start - 1 : end);
	if (!before || !behind)
		return;
	*spare = NULL;
	tail->owner = p->owner;
	tail->pid = lock->pid;
	tail->type = lock->type;
	ddio_list_init(&tail->waits);
	lock_add(locks, p, tail, want->end + 1, end);
}

/* Returns the owner's lock of a type that has the byte, or NULL. */
static struct held_lock *own_at(const struct lock_owner *o, uint64_t byte, uint32_t type)
{
	struct held_lock *lock = own_first(o, byte, byte);

	return lock && lock->type == type ? lock : NULL;
}

/* Takes away a neighbour that @new is to replace; who waited for it waits for @new. */
static void absorb(struct locks *locks, const struct lock_place *p, struct held_lock *new,
		   struct held_lock *lock)
{
	ddio_list_splice(&lock->waits, &new->waits);
	lock_free(locks, p, lock);
}

/* Adds the lock, merged with its neighbours of the same type. */
static void lock_join(struct locks *locks, const struct lock_place *p, struct held_lock *new,
		      const struct file_lock *want)
{
	uint64_t start = want->start, end = want->end;
	struct held_lock *lock;

	ddio_list_init(&new->waits);
	lock = start ? own_at(p->owner, start - 1, want->type) : NULL;
	if (lock) {
		start = lock->own.start;
		absorb(locks, p, new, lock);
	}
	lock = end != UINT64_MAX ? own_at(p->owner, end + 1, want->type) : NULL;
	if (lock) {
		end = lock->own.end;
		absorb(locks, p, new, lock);
	}
	new->owner = p->owner;
	new->pid = want->pid;
	new->type = want->type;
	lock_add(locks, p, new, start, end);
}

int lock_apply(struct locks *locks, uint64_t ino, const struct file_lock *want,
	       struct held_lock **taken)
{
	struct held_lock *new = malloc(sizeof(*new)), *spare = malloc(sizeof(*spare)), *lock;
	struct lock_place p;
	bool ok = place_make(locks, &p, ino, want) && new &&spare &&may_have(locks, &p, want);

	while (ok && (lock = own_first(p.owner, want->start, want->end)) != NULL)
		cut(locks, &p, lock, want, &spare);
	if (ok && want->type != DDIO_FS_LOCK_NONE) {
		lock_join(locks, &p, new, want);
		if (taken)
			*taken = new;
		new = NULL;
	}
	free(new);
	free(spare);
	place_drop_if_empty(locks, &p);
	return ok ? 0 : -ENOLCK;
}
