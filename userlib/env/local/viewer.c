// SPDX-License-Identifier: LGPL-2.1-or-later
/* Taking bytes of what others show.  What the maker's memory says of places is not believed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "env/local/showcase_priv.h"

/**
 * struct ddio_viewer - a viewer's side
 * @mask: its lines, less one
 * @alive: the head's word while the maker lives
 */
struct ddio_viewer {
	struct ddio_shared *shared;
	const struct show_head *head;
	const uint8_t *mem;
	const struct show_line *line;
	uint64_t mask;
	size_t len;
	int alive;
};

static int viewer_init(struct ddio_viewer *v)
{
	const struct show_head *head = ddio_shared_mem(v->shared);
	uint64_t lines;

	v->len = ddio_shared_len(v->shared);
	if (v->len < SHOW_PAGE)
		return -EPROTO;
	v->mem = ddio_shared_mem(v->shared);
	v->line = show_lines(ddio_shared_mem(v->shared));
	v->head = head;
	v->alive = show_alive(head);
	lines = head->lines;
	if (head->magic != SHOW_MAGIC || !lines || (lines & (lines - 1)) ||
	    lines > (v->len - SHOW_PAGE) / sizeof(*v->line))
		return -EPROTO;
	v->mask = lines - 1;
	return 0;
}

int ddio_viewer_new(struct ddio_mailbox *box, struct ddio_viewer **viewer)
{
	struct ddio_viewer *v = calloc(1, sizeof(*v));
	int err = v ? ddio_shared_take(box, false, &v->shared) : -ENOMEM;

	if (!err)
		err = viewer_init(v);
	if (err)
		viewer_free(v);
	else
		*viewer = v;
	return err;
}

void viewer_free(struct ddio_viewer *v)
{
	if (!v)
		return;
	ddio_shared_free(v->shared);
	free(v);
}

/*
 * Copies from the block, if the line is of it all the time and the maker lives at the end.  Not inline, since gcc warns of
 * fences with -fsanitize=thread where it inlines them.
 */
static __attribute__((noinline)) bool line_read(const struct ddio_viewer *v,
						const struct show_line *line,
						const struct ddio_show_key *key, uint32_t from,
						void *buf, uint32_t len)
{
	uint64_t turn = atomic_load_explicit(&line->turn, memory_order_acquire), at = line->at;

	if (!(turn & 1) || !show_same(&line->key, key))
		return false;
	if (at > v->len || v->len - at < key->size)
		return false;
	memcpy(buf, v->mem + at + from, len);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&line->turn, memory_order_relaxed) == turn &&
	       atomic_load_explicit(&v->head->magic, memory_order_relaxed) == SHOW_MAGIC &&
	       show_alive(v->head) == v->alive;
}

bool viewer_read(const struct ddio_viewer *v, const struct ddio_show_key *key, uint32_t from,
		 void *buf, uint32_t len)
{
	uint64_t first = show_hash(key), i;

	if (from > key->size || len > key->size - from)
		return false;
	for (i = first; i < first + SHOW_WAYS; i++)
		if (line_read(v, &v->line[i & v->mask], key, from, buf, len))
			return true;
	return false;
}

void ddio_viewing_init(struct ddio_viewing *viewing)
{
	pthread_rwlock_init(&viewing->lock, NULL);
	viewing->viewer = NULL;
}

void ddio_viewing_fini(struct ddio_viewing *viewing)
{
	viewer_free(viewing->viewer);
	pthread_rwlock_destroy(&viewing->lock);
}

void ddio_viewing_set(struct ddio_viewing *viewing, struct ddio_viewer *v)
{
	struct ddio_viewer *old;

	pthread_rwlock_wrlock(&viewing->lock);
	old = viewing->viewer;
	viewing->viewer = v;
	pthread_rwlock_unlock(&viewing->lock);
	viewer_free(old);
}

bool ddio_viewing_read(struct ddio_viewing *viewing, const struct ddio_show_key *key, uint32_t from,
		       void *buf, uint32_t len)
{
	bool read;

	if (pthread_rwlock_tryrdlock(&viewing->lock))
		return false;
	read = viewing->viewer && viewer_read(viewing->viewer, key, from, buf, len);
	pthread_rwlock_unlock(&viewing->lock);
	return read;
}
