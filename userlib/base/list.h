/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Doubly linked circular lists, embedded in what they link. */
#ifndef DDIO_LIST_H
#define DDIO_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct ddio_list {
	struct ddio_list *next, *prev;
};

#define ddio_container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

static inline void ddio_list_init(struct ddio_list *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool ddio_list_empty(const struct ddio_list *head)
{
	return head->next == head;
}

static inline void list_insert(struct ddio_list *n, struct ddio_list *prev, struct ddio_list *next)
{
	next->prev = n;
	n->next = next;
	n->prev = prev;
	prev->next = n;
}

/* Inserts at the front. */
static inline void ddio_list_push(struct ddio_list *n, struct ddio_list *head)
{
	list_insert(n, head, head->next);
}

/* Inserts at the back. */
static inline void ddio_list_add(struct ddio_list *n, struct ddio_list *head)
{
	list_insert(n, head->prev, head);
}

/* Removes @n and leaves it as an empty list, so that removing it twice is harmless. */
static inline void ddio_list_del(struct ddio_list *n)
{
	n->next->prev = n->prev;
	n->prev->next = n->next;
	ddio_list_init(n);
}

static inline void ddio_list_splice(struct ddio_list *from, struct ddio_list *to)
{
	if (ddio_list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	ddio_list_init(from);
}

#define ddio_list_entry(ptr, type, member) ddio_container_of(ptr, type, member)
#define ddio_list_first(head, type, member) ddio_list_entry((head)->next, type, member)

#define ddio_list_for_each_entry(pos, head, member)                         \
	for (pos = ddio_list_entry((head)->next, __typeof__(*pos), member); \
	     &pos->member != (head);                                        \
	     pos = ddio_list_entry(pos->member.next, __typeof__(*pos), member))

#define ddio_list_for_each_entry_safe(pos, tmp, head, member)                  \
	for (pos = ddio_list_entry((head)->next, __typeof__(*pos), member),    \
	    tmp = ddio_list_entry(pos->member.next, __typeof__(*pos), member); \
	     &pos->member != (head);                                           \
	     pos = tmp, tmp = ddio_list_entry(tmp->member.next, __typeof__(*tmp), member))

#endif /* DDIO_LIST_H */
