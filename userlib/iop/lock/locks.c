// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include "base/bug.h"
#include "iop/lock/held.h"

void locks_init(struct locks *locks)
{
	*locks = (struct locks){ .seen = 0 };
	ddio_list_init(&locks->waits);
	bounds_init(&locks->own);
	locks->bounds = &locks->own;
}

void locks_free(struct locks *locks)
{
	struct ddio_hash_walk walk;
	struct lock_mount *m;

	if (bug_on(locks->nwaits, "locks were freed while somebody waits for one"))
		return;
	while ((m = ddio_hash_entry(ddio_hash_first(&locks->mounts, &walk), struct lock_mount,
				    node)) != NULL)
		lock_release(locks, ddio_list_first(&m->held, struct held_lock, mount_link));
	ddio_hash_fini(&locks->files);
	ddio_hash_fini(&locks->holders);
	ddio_hash_fini(&locks->shares);
	ddio_hash_fini(&locks->owners);
	ddio_hash_fini(&locks->mounts);
}

static bool is_free(struct locks *locks, uint64_t ino, const struct file_lock *want)
{
	return !lock_conflict_lowest(locks, ino, want);
}

static struct file_lock lock_shown(const struct held_lock *lock)
{
	return (struct file_lock){ .mount = lock->owner->mount,
				   .owner = lock->owner->owner,
				   .start = lock->range.start,
				   .end = lock->range.end,
				   .pid = lock->pid,
				   .type = lock->type,
				   .flock = lock->owner->flock };
}

bool locks_test(struct locks *locks, uint64_t ino, const struct file_lock *want,
		struct file_lock *first)
{
	const struct held_lock *lock = lock_conflict_lowest(locks, ino, want);

	if (lock)
		*first = lock_shown(lock);
	return lock;
}

static bool same_owner(const struct file_lock *a, const struct file_lock *b)
{
	return a->mount == b->mount && a->owner == b->owner && a->flock == b->flock;
}

static uint64_t owner_key(const struct file_lock *lock)
{
	return ddio_hash_pair((uintptr_t)lock->mount, lock->owner) ^ lock->flock;
}

void locks_forget(struct locks *locks, struct lock_wait *wait)
{
	struct lock_mount *m = lock_mount_find(locks, wait->want.mount);

	ddio_list_del(&wait->link);
	ddio_list_del(&wait->file_link);
	ddio_list_del(&wait->mount_link);
	ddio_hash_del(&locks->owners, &wait->owner);
	locks->nwaits--;
	bound_put(&locks->bounds->at[BOUND_WAITS], &m->waits, 1);
	lock_mount_drop_if_empty(locks, m);
	lock_file_drop_if_empty(locks, lock_file_find(locks, wait->ino));
}

static void wait_end(struct locks *locks, struct lock_wait *wait, int err)
{
	locks_forget(locks, wait);
	wait->done(wait, err);
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
			again |= lock_weakens(locks, file->ino, &wait->want);
			err = lock_apply(locks, wait->ino, &wait->want);
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
	lock_file_drop_if_empty(locks, file);
}

static void wake(struct locks *locks, uint64_t ino)
{
	struct lock_file *file = lock_file_find(locks, ino);

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
	struct bound *bound = &s->locks->bounds->at[BOUND_SEARCHED];
	struct lock_conflicts walk;
	const struct held_lock *held;
	struct file_lock lock;

	for (held = lock_conflict_first(s->locks, &walk, ino, want); held;
	     held = lock_conflict_next(s->locks, &walk, held)) {
		if (s->looked == bound->limit) {
			bound->hits++;
			return -ENOLCK;
		}
		bound_seen(bound, ++s->looked);
		lock = lock_shown(held);
		if (same_owner(&lock, s->owner))
			return -EDEADLK;
		search_add(s, &lock);
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
	struct lock_mount *m = lock_mount_make(locks, wait->want.mount);
	struct lock_file *file = lock_file_make(locks, wait->ino);

	if (!m || !file || !bound_take(&locks->bounds->at[BOUND_WAITS], &m->waits)) {
		lock_mount_drop_if_empty(locks, m);
		lock_file_drop_if_empty(locks, file);
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
		ret = lock_apply(locks, ino, want);
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
	struct lock_mount *m = lock_mount_find(locks, mount);
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
	const struct file_lock of = { .mount = mount, .owner = owner };

	lock_release_owner(locks, ino, &of);
	wake(locks, ino);
}

static void tell_mount(struct locks *locks, const void *mount, int err)
{
	struct lock_mount *m;

	while ((m = lock_mount_find(locks, mount)) && !ddio_list_empty(&m->waiting))
		wait_end(locks, ddio_list_first(&m->waiting, struct lock_wait, mount_link), err);
}

void locks_drop_mount(struct locks *locks, const void *mount, int err)
{
	struct lock_mount *m;

	tell_mount(locks, mount, err);
	while ((m = lock_mount_find(locks, mount)) != NULL)
		lock_release(locks, ddio_list_first(&m->held, struct held_lock, mount_link));
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
