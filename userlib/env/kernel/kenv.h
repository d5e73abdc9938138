/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reactor's context of /dev/ddio, shared by its disks: one ring, whose events go to the users that
 * submitted, and memory that is registered with the kernel.
 */
#ifndef DDIO_KENV_H
#define DDIO_KENV_H

#include "env/arena.h"
#include "env/kernel/kdev.h"
#include "env/env_ops.h"

#define KENV_EVENTS 8192u
#define KENV_SLOTS 2048u

/**
 * struct kuser - a receiver of events; its address is the user_data of what it submits
 * @event: from the loop; may free the user
 * @link: in kenv->users, for the end of the context
 * @free: frees the user, for which no event will come again
 */
struct kuser {
	void (*event)(struct kuser *user, const struct ddio_event *event);
	void (*free)(struct kuser *user);
	struct ddio_list link;
};

/**
 * struct klater - a function to be called at the end of a round of events, see kenv_later()
 */
struct klater {
	void (*fn)(struct klater *later);
	struct ddio_list link;
};

/**
 * struct kleaving - a disk that leaves the context; from malloc()
 */
struct kleaving {
	uint32_t id;
	struct ddio_list link;
};

/**
 * struct kenv - the context
 * @refs: one for each disk, and one while events are handed out
 * @users: those that wait for events
 * @later: struct klater
 * @leaving: struct kleaving: disks that a transfer still used when they were closed
 * @busy: events are being handed out
 * @warned: the log says already that no more memory can be pinned
 */
struct kenv {
	struct ddio_env *env;
	struct ddio_kdev kdev;
	struct ddio_watcher watcher;
	uint32_t refs;
	struct ddio_list users;
	struct ddio_list later;
	struct ddio_list leaving;
	bool busy, warned;
};

/* Return: 0 if the device can be used, or -errno with the reason in @why. */
int kenv_probe(char *why, size_t why_len);
/* Takes a reference on the env's context, made if there is none.  0 or -errno with the reason in @why. */
int kenv_get(struct ddio_env *env, struct kenv **kenv, char *why, size_t why_len);
void kenv_put(struct kenv *kenv);
/* Finds the kernel's buffer that holds the memory, and where; false: none does. */
bool kenv_find(const struct kenv *kenv, const void *buf, uint64_t len, uint32_t *buffer,
	       uint64_t *offset);
/*
 * Takes a disk out of the context.  A transfer that has reported its end may still use it; then it is tried again after each
 * round of events and before another disk comes, and goes with the context at the latest.  Takes over @leaving.
 */
void kenv_leave(struct kenv *kenv, struct kleaving *leaving);
/* Calls @later->fn when the current events are handed out; at once if there are none. */
void kenv_later(struct kenv *kenv, struct klater *later);

#endif /* DDIO_KENV_H */
