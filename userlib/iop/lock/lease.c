// SPDX-License-Identifier: LGPL-2.1-or-later
/* Leases of inodes: who has one, who waits for its end. */
#include <errno.h>
#include <stdlib.h>
#include "base/bug.h"
#include "iop/lock/lease.h"

/**
 * struct lease_mount - a mount that has listened for recalls
 * @held: struct lease.mine: those that were not recalled; @asked: those that were; @n of both
 * @due: struct lease.due; @telling: in struct leases.telling
 * @late: it has not returned one in time, and gets no more; @lagging: in struct leases.lagging
 */
struct lease_mount {
	struct ddio_hash_node node;
	const void *mount;
	struct ddio_list held, asked, due, telling, lagging;
	uint64_t n;
	void *listener;
	bool late;
};

/**
 * struct lease - a lease
 * @due: the holder has not been told of the recall
 * @asked: when it was recalled, if it is in struct leases.recalled
 * @waits: struct lease_wait.link
 * @ended: in struct leases.ended: it has no holder any more, and those who waited for that stand in line
 */
struct lease {
	struct ddio_hash_node node;
	uint64_t ino, number;
	struct lease_mount *holder;
	struct ddio_list mine, due, recalled, ended;
	uint64_t asked;
	struct ddio_list waits;
};

void leases_init(struct leases *leases)
{
	*leases = (struct leases){ .last = 0 };
	ddio_list_init(&leases->recalled);
	ddio_list_init(&leases->telling);
	ddio_list_init(&leases->ended);
	ddio_list_init(&leases->lagging);
	bounds_init(&leases->own);
	leases->bounds = &leases->own;
}

static struct lease *lease_find(const struct leases *leases, uint64_t ino)
{
	return ddio_hash_entry(ddio_hash_find(&leases->files, ino), struct lease, node);
}

static struct lease_mount *mount_find(const struct leases *leases, const void *mount)
{
	return ddio_hash_entry(ddio_hash_find(&leases->mounts, (uintptr_t)mount),
			       struct lease_mount, node);
}

static void lease_free(struct leases *leases, struct lease *lease)
{
	ddio_hash_del(&leases->files, &lease->node);
	ddio_list_del(&lease->ended);
	free(lease);
}

/* Ends a lease; wake() calls those who waited for that. */
static void lease_drop(struct leases *leases, struct lease *lease)
{
	ddio_list_del(&lease->mine);
	ddio_list_del(&lease->due);
	ddio_list_del(&lease->recalled);
	bound_put(&leases->bounds->at[BOUND_LEASES], &lease->holder->n, 1);
	lease->holder = NULL;
	if (ddio_list_empty(&lease->waits))
		lease_free(leases, lease);
	else
		ddio_list_add(&lease->ended, &leases->ended);
}

/* Calls the first that stands in line, after which there may be no line. */
static void serve_first(struct leases *leases, struct lease *lease)
{
	struct lease_wait *wait = NULL;

	if (!ddio_list_empty(&lease->waits)) {
		wait = ddio_list_first(&lease->waits, struct lease_wait, link);
		ddio_list_del(&wait->link);
	}
	if (ddio_list_empty(&lease->waits))
		lease_free(leases, lease);
	if (wait)
		wait->done(wait);
}

static void wake(struct leases *leases)
{
	struct bound *bound = &leases->bounds->at[BOUND_TRIED];
	uint64_t limit = leases->more ? bound->limit : UINT64_MAX, n = limit;

	if (leases->busy)
		return;
	leases->busy = true;
	for (; n && !ddio_list_empty(&leases->ended); n--)
		serve_first(leases, ddio_list_first(&leases->ended, struct lease, ended));
	leases->busy = !ddio_list_empty(&leases->ended);
	if (!leases->more)
		return;
	bound_seen(bound, limit - n);
	if (leases->busy) {
		bound->hits++;
		leases->more(leases->arg);
	}
}

void leases_go_on(struct leases *leases)
{
	leases->busy = false;
	wake(leases);
}

/* Ends leases of a mount.  Returns true if nothing of it is left. */
static bool drop_mount(struct leases *leases, struct lease_mount *m, uint64_t *steps)
{
	m->listener = NULL;
	for (; *steps && !ddio_list_empty(&m->held); --*steps)
		lease_drop(leases, ddio_list_first(&m->held, struct lease, mine));
	for (; *steps && !ddio_list_empty(&m->asked); --*steps)
		lease_drop(leases, ddio_list_first(&m->asked, struct lease, mine));
	if (m->n)
		return false;
	ddio_hash_del(&leases->mounts, &m->node);
	ddio_list_del(&m->telling);
	ddio_list_del(&m->lagging);
	free(m);
	return true;
}

bool leases_drop_mount(struct leases *leases, const void *mount, uint64_t *steps)
{
	struct lease_mount *m = mount_find(leases, mount);
	uint64_t all = UINT64_MAX;
	bool gone = !m || drop_mount(leases, m, steps ? steps : &all);

	wake(leases);
	return gone;
}

void leases_stop(struct leases *leases)
{
	struct ddio_hash_walk walk;
	struct lease_mount *m;
	uint64_t all = UINT64_MAX;

	while ((m = ddio_hash_entry(ddio_hash_first(&leases->mounts, &walk), struct lease_mount,
				    node)) != NULL)
		drop_mount(leases, m, &all);
	while (!ddio_list_empty(&leases->ended))
		serve_first(leases, ddio_list_first(&leases->ended, struct lease, ended));
}

void leases_free(struct leases *leases)
{
	leases_stop(leases);
	ddio_hash_fini(&leases->files);
	ddio_hash_fini(&leases->mounts);
}

int leases_listen(struct leases *leases, const void *mount, void *listener)
{
	struct lease_mount *m = mount_find(leases, mount);

	if (m) {
		m->listener = listener;
		return 0;
	}
	if (!listener)
		return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->mount = mount;
	m->listener = listener;
	ddio_list_init(&m->telling);
	ddio_list_init(&m->held);
	ddio_list_init(&m->asked);
	ddio_list_init(&m->due);
	ddio_list_init(&m->lagging);
	ddio_hash_add(&leases->mounts, &m->node, (uintptr_t)mount);
	return 0;
}

void *leases_listener(const struct leases *leases, const void *mount)
{
	const struct lease_mount *m = mount_find(leases, mount);

	return m ? m->listener : NULL;
}

static struct lease *lease_new(struct leases *leases, struct lease_mount *m, uint64_t ino)
{
	struct lease *lease;

	if (!bound_take(&leases->bounds->at[BOUND_LEASES], &m->n))
		return NULL;
	lease = calloc(1, sizeof(*lease));
	if (!lease) {
		bound_put(&leases->bounds->at[BOUND_LEASES], &m->n, 1);
		return NULL;
	}
	lease->ino = ino;
	lease->number = ++leases->last;
	lease->holder = m;
	ddio_list_init(&lease->due);
	ddio_list_init(&lease->recalled);
	ddio_list_init(&lease->ended);
	ddio_list_init(&lease->waits);
	ddio_list_init(&lease->mine);
	ddio_list_add(&lease->mine, &m->held);
	ddio_hash_add(&leases->files, &lease->node, ino);
	return lease;
}

uint64_t lease_grant(struct leases *leases, uint64_t ino, const void *mount)
{
	struct lease_mount *m = mount_find(leases, mount);
	struct lease *lease = lease_find(leases, ino);

	if (!m || !m->listener || m->late)
		return 0;
	if (lease)
		return lease->holder == m && ddio_list_empty(&lease->recalled) ? lease->number : 0;
	lease = lease_new(leases, m, ino);
	return lease ? lease->number : 0;
}

bool lease_held(const struct leases *leases, uint64_t ino, const void *mount, uint64_t number)
{
	const struct lease *lease = lease_find(leases, ino);

	return lease && lease->holder && lease->holder->mount == mount && lease->number == number;
}

bool lease_of_other(const struct leases *leases, uint64_t ino, const void *mount)
{
	const struct lease *lease = lease_find(leases, ino);

	return lease && lease->holder && (!mount || lease->holder->mount != mount);
}

bool lease_line(const struct leases *leases, uint64_t ino)
{
	const struct lease *lease = lease_find(leases, ino);

	return lease && !lease->holder;
}

void lease_recall(struct leases *leases, uint64_t ino, uint64_t now, struct lease_wait *wait)
{
	struct lease *lease = lease_find(leases, ino);

	if (bug_on(!lease, "a lease was recalled that nobody has"))
		return;
	if (wait)
		ddio_list_add(&wait->link, &lease->waits);
	if (!lease->holder || !ddio_list_empty(&lease->recalled))
		return;
	lease->asked = now;
	ddio_list_del(&lease->mine);
	ddio_list_add(&lease->mine, &lease->holder->asked);
	ddio_list_add(&lease->recalled, &leases->recalled);
	ddio_list_add(&lease->due, &lease->holder->due);
	ddio_list_del(&lease->holder->telling);
	ddio_list_add(&lease->holder->telling, &leases->telling);
}

void leases_tell(struct leases *leases, void (*fn)(void *listener))
{
	struct lease_mount *m, *next;

	ddio_list_for_each_entry_safe(m, next, &leases->telling, telling)
		if (m->listener)
			fn(m->listener);
}

void lease_forget(struct lease_wait *wait)
{
	ddio_list_del(&wait->link);
}

void lease_end(struct leases *leases, uint64_t ino, const void *mount, uint64_t number)
{
	struct lease *lease = lease_find(leases, ino);

	if (!lease || !lease->holder || lease->holder->mount != mount ||
	    (number && lease->number != number))
		return;
	lease_drop(leases, lease);
	wake(leases);
}

void leases_each_listener(struct leases *leases, void (*fn)(void *listener))
{
	struct ddio_hash_walk walk;
	struct lease_mount *m;

	ddio_hash_for_each(m, &walk, &leases->mounts, node)
		if (m->listener)
			fn(m->listener);
}

uint32_t leases_take_due(struct leases *leases, const void *mount, struct ddio_fs_recall *to,
			 uint32_t max)
{
	struct lease_mount *m = mount_find(leases, mount);
	struct lease *lease;
	uint32_t n = 0;

	while (m && n < max && !ddio_list_empty(&m->due)) {
		lease = ddio_list_first(&m->due, struct lease, due);
		ddio_list_del(&lease->due);
		to[n++] = (struct ddio_fs_recall){ lease->ino, lease->number };
	}
	if (m && ddio_list_empty(&m->due))
		ddio_list_del(&m->telling);
	return n;
}

/* The mount did not return a lease in time: what else it has is recalled, so that nobody waits for each of them. */
static void mount_late(struct leases *leases, struct lease_mount *m)
{
	if (m->late)
		return;
	m->late = true;
	if (!ddio_list_empty(&m->held))
		ddio_list_add(&m->lagging, &leases->lagging);
}

/* Recalls at @now what late mounts have, *@steps at most, which is less then. */
static void lagging_recall(struct leases *leases, uint64_t now, uint64_t *steps)
{
	struct lease_mount *m;

	while (*steps && !ddio_list_empty(&leases->lagging)) {
		m = ddio_list_first(&leases->lagging, struct lease_mount, lagging);
		for (; *steps && !ddio_list_empty(&m->held); --*steps)
			lease_recall(leases, ddio_list_first(&m->held, struct lease, mine)->ino,
				     now, NULL);
		if (ddio_list_empty(&m->held))
			ddio_list_del(&m->lagging);
	}
}

uint64_t leases_expire(struct leases *leases, uint64_t now, uint64_t timeout, uint32_t *ended)
{
	struct bound *bound = &leases->bounds->at[BOUND_ENDED];
	uint64_t steps = bound->limit;
	struct lease *lease;

	for (*ended = 0; steps && !ddio_list_empty(&leases->recalled); ++*ended, steps--) {
		lease = ddio_list_first(&leases->recalled, struct lease, recalled);
		if (now < lease->asked + timeout)
			break;
		mount_late(leases, lease->holder);
		lease_drop(leases, lease);
	}
	lagging_recall(leases, now, &steps);
	bound_seen(bound, bound->limit - steps);
	wake(leases);
	if (!ddio_list_empty(&leases->lagging))
		return now > timeout ? now - timeout : 1;
	if (ddio_list_empty(&leases->recalled))
		return 0;
	return ddio_list_first(&leases->recalled, struct lease, recalled)->asked;
}
