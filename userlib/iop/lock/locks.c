// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include "base/bug.h"
#include "iop/lock/held.h"

/* How many waits of an owner are looked at to see whether they are on the same file. */
#define OWNER_LOOKS 16

void locks_init(struct locks *locks)
{
	*locks = (struct locks){ .seen = 0 };
	ddio_list_init(&locks->waits);
	ddio_list_init(&locks->waking);
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
	ddio_hash_fini(&locks->ids);
	ddio_hash_fini(&locks->mounts);
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

static uint64_t id_key(const void *mount, uint64_t id)
{
	return ddio_hash_pair((uintptr_t)mount, id);
}

void locks_forget(struct locks *locks, struct lock_wait *wait)
{
	struct lock_mount *m = lock_mount_find(locks, wait->want.mount);
	struct lock_file *file = lock_file_find(locks, wait->ino);

	file->line[wait->want.flock].once -= wait->once;
	file->nwaits--;
	ddio_list_del(&wait->link);
	ddio_list_del(&wait->file_link);
	ddio_list_del(&wait->mount_link);
	ddio_hash_del(&locks->owners, &wait->owner);
	ddio_hash_del(&locks->ids, &wait->by_id);
	locks->nwaits--;
	bound_put(&locks->bounds->at[BOUND_WAITS], &m->waits, 1);
	lock_mount_drop_if_empty(locks, m);
	lock_file_drop_if_empty(locks, file);
}

static void wait_end(struct locks *locks, struct lock_wait *wait, int err)
{
	locks_forget(locks, wait);
	wait->done(wait, err);
}

/* Returns true if the owner of a wait waits for no other lock on the file; false also if that takes long to find out. */
static bool waits_once(struct locks *locks, const struct lock_wait *wait)
{
	struct lock_wait *other;
	int looked = 0;

	ddio_hash_for_each_match(other, &locks->owners, owner_key(&wait->want), owner)
		if (looked++ > OWNER_LOOKS || (other != wait && other->ino == wait->ino &&
					       same_owner(&other->want, &wait->want)))
			return false;
	return true;
}

/* Has all who stand in line wait for a lock that is in the way of each of them. */
static void line_moves(struct locks *locks, struct lock_line *line, const struct lock_wait *wait,
		       struct held_lock *taken)
{
	const struct file_lock *want = &wait->want;

	if (want->type == DDIO_FS_LOCK_WRITE && want->start <= line->from &&
	    want->end >= line->to && !line->once && waits_once(locks, wait))
		ddio_list_splice(&line->waits, &taken->waits);
}

/* Tries the first that stands in line: it goes on, or waits for a lock that is in the way. */
static void try_first(struct locks *locks, struct lock_file *file, struct lock_line *line)
{
	struct lock_wait *wait = ddio_list_first(&line->waits, struct lock_wait, file_link);
	struct held_lock *other = lock_conflict_lowest(locks, file->ino, &wait->want), *taken;
	int err = -EAGAIN;

	locks->tried++;
	if (other && !wait->once) {
		ddio_list_del(&wait->file_link);
		ddio_list_add(&wait->file_link, &other->waits);
		return;
	}
	if (!other) {
		ddio_list_del(&wait->file_link);
		err = lock_apply(locks, file->ino, &wait->want, &taken);
	}
	line->once -= wait->once;
	wait->once = false;
	if (!err)
		line_moves(locks, line, wait, taken);
	wait_end(locks, wait, err);
}

/* Returns a line of the file in which somebody stands, each in its turn, or NULL. */
static struct lock_line *line_next(const struct locks *locks, struct lock_file *file)
{
	struct lock_line *line = &file->line[locks->tried & 1];

	if (ddio_list_empty(&line->waits))
		line = &file->line[!(locks->tried & 1)];
	return ddio_list_empty(&line->waits) ? NULL : line;
}

/* Tries those who stand in line at a file, @n of them at most.  Returns how many more may be tried elsewhere. */
static uint64_t wake_file(struct locks *locks, struct lock_file *file, uint64_t n)
{
	struct lock_line *line;

	file->pinned = true;
	for (; n && (line = line_next(locks, file)); n--)
		try_first(locks, file, line);
	file->pinned = false;
	ddio_list_del(&file->waking);
	if (line_next(locks, file))
		ddio_list_add(&file->waking, &locks->waking);
	else
		lock_file_drop_if_empty(locks, file);
	return n;
}

static void wake(struct locks *locks)
{
	struct bound *bound = &locks->bounds->at[BOUND_TRIED];
	uint64_t n = locks->more ? bound->limit : UINT64_MAX;

	if (locks->held || locks->busy)
		return;
	locks->busy = true;
	while (n && !ddio_list_empty(&locks->waking))
		n = wake_file(locks, ddio_list_first(&locks->waking, struct lock_file, waking), n);
	locks->busy = !ddio_list_empty(&locks->waking);
	if (!locks->more)
		return;
	bound_seen(bound, bound->limit - n);
	if (locks->busy) {
		bound->hits++;
		locks->more(locks->arg);
	}
}

void locks_go_on(struct locks *locks)
{
	locks->busy = false;
	wake(locks);
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

/* Waits for @other, or in line: -EINPROGRESS, or -ENOLCK: the mount waits for as many locks as it may, or no memory. */
static int wait_begin(struct locks *locks, struct lock_wait *wait, struct held_lock *other)
{
	struct lock_mount *m = lock_mount_make(locks, wait->want.mount);
	struct lock_file *file = lock_file_make(locks, wait->ino);

	if (!m || !file || !bound_take(&locks->bounds->at[BOUND_WAITS], &m->waits)) {
		lock_mount_drop_if_empty(locks, m);
		lock_file_drop_if_empty(locks, file);
		return -ENOLCK;
	}
	ddio_list_add(&wait->link, &locks->waits);
	if (other && !wait->once && !locks_line(locks, wait->ino, wait->want.flock))
		ddio_list_add(&wait->file_link, &other->waits);
	else
		lock_line_add(locks, file, wait);
	file->nwaits++;
	ddio_list_add(&wait->mount_link, &m->waiting);
	ddio_hash_add(&locks->owners, &wait->owner, owner_key(&wait->want));
	ddio_hash_add(&locks->ids, &wait->by_id, id_key(wait->want.mount, wait->id));
	locks->nwaits++;
	return -EINPROGRESS;
}

bool locks_any(const struct locks *locks, const void *mount)
{
	return lock_mount_find(locks, mount);
}

bool locks_line(const struct locks *locks, uint64_t ino, bool flock)
{
	const struct lock_file *file = lock_file_find(locks, ino);

	return file && !ddio_list_empty(&file->line[flock].waits);
}

int locks_set(struct locks *locks, uint64_t ino, const struct file_lock *want, bool again,
	      struct lock_wait *wait)
{
	struct held_lock *other = lock_conflict_lowest(locks, ino, want);
	bool unlock = want->type == DDIO_FS_LOCK_NONE;
	bool line = locks->held || locks_line(locks, ino, want->flock);
	int ret;

	if (!other && (again || unlock || !line)) {
		ret = lock_apply(locks, ino, want, NULL);
		/* The change may be from writing to reading. */
		wake(locks);
		return ret;
	}
	if (!wait || (!line && wait->once))
		return -EAGAIN;
	ret = want->flock || wait->once ? 0 : circle(locks, ino, want);
	if (ret)
		return ret;
	wait->ino = ino;
	wait->want = *want;
	wait->seen = locks->seen;
	return wait_begin(locks, wait, other);
}

bool locks_cancel(struct locks *locks, const void *mount, uint64_t id)
{
	struct lock_wait *wait;

	ddio_hash_for_each_match(wait, &locks->ids, id_key(mount, id), by_id) {
		if (wait->want.mount == mount && wait->id == id) {
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
	wake(locks);
}

bool locks_drop_mount(struct locks *locks, const void *mount, int err, uint64_t *steps)
{
	uint64_t all = UINT64_MAX;
	struct lock_mount *m;

	steps = steps ? steps : &all;
	for (; (m = lock_mount_find(locks, mount)) && *steps; --*steps) {
		if (!ddio_list_empty(&m->waiting))
			wait_end(locks, ddio_list_first(&m->waiting, struct lock_wait, mount_link),
				 err);
		else
			lock_release(locks,
				     ddio_list_first(&m->held, struct held_lock, mount_link));
	}
	wake(locks);
	return !m;
}

void locks_stop(struct locks *locks, int err)
{
	while (!ddio_list_empty(&locks->waits))
		wait_end(locks, ddio_list_first(&locks->waits, struct lock_wait, link), err);
}

void locks_settle(struct locks *locks)
{
	locks->held = false;
	wake(locks);
}
