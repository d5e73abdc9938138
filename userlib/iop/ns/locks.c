// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include "base/bug.h"
#include "iop/ns/locks.h"

/**
 * struct lock_file - the locks of an inode
 * @held: struct file_lock; those of one owner do not overlap
 * @waits: struct lock_wait, in the order in which they came
 * @pinned: it stays, even if it is empty
 */
struct lock_file {
	struct ddio_hash_node node; /* struct locks.files */
	struct ddio_list held, waits;
	bool pinned;
};

/**
 * struct lock_mount - what a mount has; there is none without
 */
struct lock_mount {
	struct ddio_hash_node node; /* struct locks.mounts, by address */
	uint64_t locks, waits;
	struct ddio_list waiting; /* struct lock_wait */
};

void locks_init(struct locks *locks)
{
	*locks = (struct locks){ .seen = 0 };
	ddio_list_init(&locks->waits);
	bounds_init(&locks->own);
	locks->bounds = &locks->own;
}

static struct lock_mount *mount_find(const struct locks *locks, const void *mount)
{
	return ddio_hash_entry(ddio_hash_find(&locks->mounts, (uintptr_t)mount), struct lock_mount,
			       node);
}

static struct lock_mount *mount_make(struct locks *locks, const void *mount)
{
	struct lock_mount *m = mount_find(locks, mount);

	if (m)
		return m;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	ddio_list_init(&m->waiting);
	ddio_hash_add(&locks->mounts, &m->node, (uintptr_t)mount);
	return m;
}

static void mount_drop_if_empty(struct locks *locks, struct lock_mount *m)
{
	if (m->locks || m->waits)
		return;
	ddio_hash_del(&locks->mounts, &m->node);
	free(m);
}

/* Counts a lock that was added; the mount is known. */
static void lock_count(struct locks *locks, const struct file_lock *lock)
{
	struct bound *bound = &locks->bounds->at[BOUND_LOCKS];
	struct lock_mount *m = mount_find(locks, lock->mount);

	m->locks++;
	bound->now++;
	bound_seen(bound, m->locks);
}

static struct lock_file *file_find(const struct locks *locks, uint64_t ino)
{
	return ddio_hash_entry(ddio_hash_find(&locks->files, ino), struct lock_file, node);
}

static struct lock_file *file_make(struct locks *locks, uint64_t ino)
{
	struct lock_file *file = file_find(locks, ino);

	if (file)
		return file;
	file = malloc(sizeof(*file));
	if (!file)
		return NULL;
	ddio_list_init(&file->held);
	ddio_list_init(&file->waits);
	file->pinned = false;
	ddio_hash_add(&locks->files, &file->node, ino);
	return file;
}

static void file_drop_if_empty(struct locks *locks, struct lock_file *file)
{
	if (!file || file->pinned || !ddio_list_empty(&file->held) ||
	    !ddio_list_empty(&file->waits))
		return;
	ddio_hash_del(&locks->files, &file->node);
	free(file);
}

static void lock_free(struct locks *locks, struct file_lock *lock)
{
	struct lock_mount *m = mount_find(locks, lock->mount);

	bound_put(&locks->bounds->at[BOUND_LOCKS], &m->locks, 1);
	mount_drop_if_empty(locks, m);
	ddio_list_del(&lock->link);
	free(lock);
}

void locks_free(struct locks *locks)
{
	struct lock_file *file;
	struct file_lock *lock, *tmp;
	struct ddio_hash_walk walk;

	if (bug_on(locks->nwaits, "locks were freed while somebody waits for one"))
		return;
	ddio_hash_for_each(file, &walk, &locks->files, node) {
		ddio_list_for_each_entry_safe(lock, tmp, &file->held, link)
			lock_free(locks, lock);
		free(file);
	}
	ddio_hash_fini(&locks->files);
	ddio_hash_fini(&locks->owners);
	ddio_hash_fini(&locks->mounts);
}

static bool same_owner(const struct file_lock *a, const struct file_lock *b)
{
	return a->mount == b->mount && a->owner == b->owner && a->flock == b->flock;
}

static bool conflict(const struct file_lock *a, const struct file_lock *b)
{
	return a->flock == b->flock && !same_owner(a, b) && a->start <= b->end &&
	       b->start <= a->end &&
	       (a->type == DDIO_FS_LOCK_WRITE || b->type == DDIO_FS_LOCK_WRITE);
}

static bool is_free(const struct locks *locks, uint64_t ino, const struct file_lock *want)
{
	const struct lock_file *file = file_find(locks, ino);
	const struct file_lock *lock;

	if (!file || want->type == DDIO_FS_LOCK_NONE)
		return true;
	ddio_list_for_each_entry(lock, &file->held, link)
		if (conflict(lock, want))
			return false;
	return true;
}

const struct file_lock *locks_test(const struct locks *locks, uint64_t ino,
				   const struct file_lock *want)
{
	const struct lock_file *file = file_find(locks, ino);
	const struct file_lock *lock, *lowest = NULL;

	if (!file || want->type == DDIO_FS_LOCK_NONE)
		return NULL;
	ddio_list_for_each_entry(lock, &file->held, link)
		if (conflict(lock, want) && (!lowest || lock->start < lowest->start))
			lowest = lock;
	return lowest;
}

/* Cuts @want out of @lock; @spare is used if two parts remain. */
static void cut(struct locks *locks, struct file_lock *lock, const struct file_lock *want,
		struct file_lock **spare)
{
	bool before = lock->start<want->start, behind = lock->end> want->end;
	struct file_lock *tail;

	if (before && behind) {
		tail = *spare;
		*spare = NULL;
		*tail = *lock;
		ddio_list_add(&tail->link, &lock->link);
		tail->start = want->end + 1;
		lock->end = want->start - 1;
		lock_count(locks, tail);
	} else if (before) {
		lock->end = want->start - 1;
	} else if (behind) {
		lock->start = want->end + 1;
	} else {
		lock_free(locks, lock);
	}
}

/* Merges neighbours of the same type into @new. */
static void join_neighbours(struct locks *locks, struct lock_file *file, struct file_lock *new)
{
	struct file_lock *lock, *tmp;

	ddio_list_for_each_entry_safe(lock, tmp, &file->held, link) {
		if (lock == new || !same_owner(lock, new) || lock->type != new->type)
			continue;
		if (new->start && lock->end == new->start - 1) {
			new->start = lock->start;
			lock_free(locks, lock);
		} else if (new->end != UINT64_MAX && lock->start == new->end + 1) {
			new->end = lock->end;
			lock_free(locks, lock);
		}
	}
}

static bool within(struct bound *bound, uint64_t held, int more)
{
	bool ok = more <= 0 || held < bound->limit;

	bound->hits += !ok;
	return ok;
}

/* Returns true if the mount may have the locks that this leaves, on the file and altogether. */
static bool may_have(struct locks *locks, const struct lock_file *file,
		     const struct lock_mount *mount, const struct file_lock *want)
{
	int more = want->type != DDIO_FS_LOCK_NONE;
	struct bound *on_file = &locks->bounds->at[BOUND_FILE_LOCKS];
	const struct file_lock *lock;
	uint64_t mine = 0;

	ddio_list_for_each_entry(lock, &file->held, link) {
		mine += lock->mount == want->mount;
		if (!same_owner(lock, want) || lock->start > want->end || want->start > lock->end)
			continue;
		if (lock->start < want->start && lock->end > want->end)
			more++;
		else if (lock->start >= want->start && lock->end <= want->end)
			more--;
	}
	bound_seen(on_file, mine + (more > 0));
	return within(on_file, mine, more) &&
	       within(&locks->bounds->at[BOUND_LOCKS], mount->locks, more);
}

/* Takes, changes or gives back a lock that conflicts with none. */
static int apply(struct locks *locks, uint64_t ino, const struct file_lock *want)
{
	struct file_lock *new = malloc(sizeof(*new)), *spare = malloc(sizeof(*spare)), *lock, *tmp;
	struct lock_file *file = file_make(locks, ino);
	struct lock_mount *mount = mount_make(locks, want->mount);

	if (!new || !spare || !file || !mount || !may_have(locks, file, mount, want)) {
		free(new);
		free(spare);
		file_drop_if_empty(locks, file);
		if (mount)
			mount_drop_if_empty(locks, mount);
		return -ENOLCK;
	}
	/* It stays while locks come and go. */
	mount->waits++;
	ddio_list_for_each_entry_safe(lock, tmp, &file->held, link)
		if (same_owner(lock, want) && lock->start <= want->end && want->start <= lock->end)
			cut(locks, lock, want, &spare);
	if (want->type != DDIO_FS_LOCK_NONE) {
		*new = *want;
		ddio_list_add(&new->link, &file->held);
		lock_count(locks, new);
		join_neighbours(locks, file, new);
		new = NULL;
	}
	free(new);
	free(spare);
	file_drop_if_empty(locks, file);
	mount->waits--;
	mount_drop_if_empty(locks, mount);
	return 0;
}

static uint64_t owner_key(const struct file_lock *lock)
{
	return ddio_hash_pair((uintptr_t)lock->mount, lock->owner) ^ lock->flock;
}

void locks_forget(struct locks *locks, struct lock_wait *wait)
{
	struct lock_mount *m = mount_find(locks, wait->want.mount);

	ddio_list_del(&wait->link);
	ddio_list_del(&wait->file_link);
	ddio_list_del(&wait->mount_link);
	ddio_hash_del(&locks->owners, &wait->owner);
	locks->nwaits--;
	bound_put(&locks->bounds->at[BOUND_WAITS], &m->waits, 1);
	mount_drop_if_empty(locks, m);
	file_drop_if_empty(locks, file_find(locks, wait->ino));
}

static void wait_end(struct locks *locks, struct lock_wait *wait, int err)
{
	locks_forget(locks, wait);
	wait->done(wait, err);
}

/* Returns true if the owner has a lock for writing where it wants to read: others may follow. */
static bool weakens(const struct lock_file *file, const struct file_lock *want)
{
	const struct file_lock *lock;

	if (want->type != DDIO_FS_LOCK_READ)
		return false;
	ddio_list_for_each_entry(lock, &file->held, link)
		if (same_owner(lock, want) && lock->type == DDIO_FS_LOCK_WRITE &&
		    lock->start <= want->end && want->start <= lock->end)
			return true;
	return false;
}

/* Ends each wait for a lock on the file that can end.  Returns true if others may end after that. */
static bool wake_pass(struct locks *locks, struct lock_file *file)
{
	struct ddio_list todo;
	struct lock_wait *wait;
	bool again = false;
	int err;

	ddio_list_init(&todo);
	ddio_list_splice(&file->waits, &todo);
	while (!ddio_list_empty(&todo)) {
		wait = ddio_list_first(&todo, struct lock_wait, file_link);
		ddio_list_del(&wait->file_link);
		ddio_list_add(&wait->file_link, &file->waits);
		if (is_free(locks, wait->ino, &wait->want)) {
			again |= weakens(file, &wait->want);
			err = apply(locks, wait->ino, &wait->want);
		} else if (wait->once) {
			err = -EAGAIN;
		} else {
			continue;
		}
		wait_end(locks, wait, err);
	}
	return again;
}

static void wake_file(struct locks *locks, struct lock_file *file)
{
	if (locks->held)
		return;
	file->pinned = true;
	while (wake_pass(locks, file))
		;
	file->pinned = false;
	file_drop_if_empty(locks, file);
}

static void wake(struct locks *locks, uint64_t ino)
{
	struct lock_file *file = file_find(locks, ino);

	if (file)
		wake_file(locks, file);
}

static void wake_all(struct locks *locks)
{
	struct ddio_hash_walk walk;
	struct lock_file *file;

	ddio_hash_for_each(file, &walk, &locks->files, node)
		wake_file(locks, file);
}

/**
 * struct search - would an owner wait for itself?
 * @owner: who would; @next, @last: waits of others, linked by @follow, whose locks are still to be looked at
 * @looked: how many locks were
 */
struct search {
	struct locks *locks;
	const struct file_lock *owner;
	struct lock_wait *next, *last;
	uint64_t looked;
};

/* Adds what the owner of a lock waits for, each wait once. */
static void search_add(struct search *s, const struct file_lock *lock)
{
	struct lock_wait *wait;

	ddio_hash_for_each_match(wait, &s->locks->owners, owner_key(lock), owner) {
		if (wait->seen == s->locks->seen || !same_owner(&wait->want, lock))
			continue;
		wait->seen = s->locks->seen;
		wait->follow = NULL;
		if (s->next)
			s->last->follow = wait;
		else
			s->next = wait;
		s->last = wait;
	}
}

/* Looks at the locks that are in the way of one: 0, -EDEADLK, or -ENOLCK: there are too many. */
static int search_file(struct search *s, uint64_t ino, const struct file_lock *want)
{
	const struct lock_file *file = file_find(s->locks, ino);
	struct bound *bound = &s->locks->bounds->at[BOUND_SEARCHED];
	const struct file_lock *lock;

	if (!file)
		return 0;
	ddio_list_for_each_entry(lock, &file->held, link) {
		if (s->looked == bound->limit) {
			bound->hits++;
			return -ENOLCK;
		}
		bound_seen(bound, ++s->looked);
		if (!conflict(lock, want))
			continue;
		if (same_owner(lock, s->owner))
			return -EDEADLK;
		search_add(s, lock);
	}
	return 0;
}

/* Follows the conflicting locks to what their owners wait for: 0, -EDEADLK or -ENOLCK. */
static int circle(struct locks *locks, uint64_t ino, const struct file_lock *want)
{
	struct search s = { .locks = locks, .owner = want };
	int ret;

	locks->seen++;
	ret = search_file(&s, ino, want);
	for (; s.next && !ret; s.next = s.next->follow)
		ret = search_file(&s, s.next->ino, &s.next->want);
	return ret;
}

/* -EINPROGRESS, or -ENOLCK: the mount waits for as many locks as it may, or there is no memory. */
static int wait_begin(struct locks *locks, struct lock_wait *wait)
{
	struct lock_mount *m = mount_make(locks, wait->want.mount);
	struct lock_file *file = file_make(locks, wait->ino);

	if (!m || !file || !bound_take(&locks->bounds->at[BOUND_WAITS], &m->waits)) {
		if (m)
			mount_drop_if_empty(locks, m);
		file_drop_if_empty(locks, file);
		return -ENOLCK;
	}
	ddio_list_add(&wait->link, &locks->waits);
	ddio_list_add(&wait->file_link, &file->waits);
	ddio_list_add(&wait->mount_link, &m->waiting);
	ddio_hash_add(&locks->owners, &wait->owner, owner_key(&wait->want));
	locks->nwaits++;
	return -EINPROGRESS;
}

int locks_set(struct locks *locks, uint64_t ino, const struct file_lock *want, bool again,
	      struct lock_wait *wait)
{
	bool free_now = is_free(locks, ino, want), unlock = want->type == DDIO_FS_LOCK_NONE;
	int ret;

	if (free_now && (again || unlock || !locks->held)) {
		ret = apply(locks, ino, want);
		/* The change may be from writing to reading. */
		wake(locks, ino);
		return ret;
	}
	if (!wait || (!locks->held && wait->once))
		return -EAGAIN;
	ret = want->flock || wait->once ? 0 : circle(locks, ino, want);
	if (ret)
		return ret;
	wait->ino = ino;
	wait->want = *want;
	wait->seen = locks->seen;
	return wait_begin(locks, wait);
}

bool locks_cancel(struct locks *locks, const void *mount, uint64_t id)
{
	struct lock_mount *m = mount_find(locks, mount);
	struct lock_wait *wait;

	if (!m)
		return false;
	ddio_list_for_each_entry(wait, &m->waiting, mount_link) {
		if (wait->id == id) {
			wait_end(locks, wait, -EINTR);
			return true;
		}
	}
	return false;
}

void locks_drop_owner(struct locks *locks, uint64_t ino, const void *mount, uint64_t owner)
{
	const struct file_lock all = {
		.mount = mount, .owner = owner, .end = UINT64_MAX, .type = DDIO_FS_LOCK_NONE
	};
	struct lock_file *file = file_find(locks, ino);
	struct file_lock *lock, *tmp;

	if (!file)
		return;
	ddio_list_for_each_entry_safe(lock, tmp, &file->held, link)
		if (same_owner(lock, &all))
			lock_free(locks, lock);
	file_drop_if_empty(locks, file);
	wake(locks, ino);
}

static void drop_from(struct locks *locks, struct lock_file *file, const void *mount)
{
	struct file_lock *lock, *tmp;

	ddio_list_for_each_entry_safe(lock, tmp, &file->held, link)
		if (lock->mount == mount)
			lock_free(locks, lock);
}

static void tell_mount(struct locks *locks, const void *mount, int err)
{
	struct lock_mount *m;

	while ((m = mount_find(locks, mount)) && !ddio_list_empty(&m->waiting))
		wait_end(locks, ddio_list_first(&m->waiting, struct lock_wait, mount_link), err);
}

void locks_drop_mount(struct locks *locks, const void *mount, int err)
{
	struct ddio_hash_walk walk;
	struct lock_file *file;

	tell_mount(locks, mount, err);
	ddio_hash_for_each(file, &walk, &locks->files, node) {
		drop_from(locks, file, mount);
		file_drop_if_empty(locks, file);
	}
	wake_all(locks);
}

void locks_stop(struct locks *locks, int err)
{
	while (!ddio_list_empty(&locks->waits))
		wait_end(locks, ddio_list_first(&locks->waits, struct lock_wait, link), err);
}

void locks_settle(struct locks *locks)
{
	locks->held = false;
	wake_all(locks);
}
