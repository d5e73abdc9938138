/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reactor's context of /dev/ddio, which its disks share: one ring whose events
 * go to who asked for them, and memory that the kernel knows.
 */
#ifndef DDIO_KENV_H
#define DDIO_KENV_H

#include "env/arena.h"
#include "env/kernel/kdev.h"
#include "env/env_ops.h"

#define DDIO_KENV_EVENTS 8192u
#define DDIO_KENV_SLOTS 2048u

/**
 * struct kuser - who gets events; its address is the user_data of what he submits
 * @event: from the loop; may free the user
 * @link: in kenv->users, so that nobody is forgotten at the end
 * @free: there will be no event any more
 */
struct kuser {
	void (*event)(struct kuser *user, const struct ddio_event *event);
	void (*free)(struct kuser *user);
	struct ddio_list link;
};

/**
 * struct klater - what waits for the end of a round of events, see kenv_later()
 */
struct klater {
	void (*fn)(struct klater *later);
	struct ddio_list link;
};

/**
 * struct kenv - the context
 * @refs: one a disk, and one while events are handed out
 * @users: those that wait for events
 * @later: struct klater
 * @busy: events are being handed out
 * @warned: it was said that no more memory can be pinned
 */
struct kenv {
	struct ddio_env *env;
	struct ddio_kdev kdev;
	struct ddio_watcher watcher;
	uint32_t refs;
	struct ddio_list users;
	struct ddio_list later;
	bool busy, warned;
};

/* Can the device be used?  0 or -errno with the reason in @why. */
int kenv_probe(char *why, size_t why_len);
/* The env's, made if there is none.  0 or -errno with the reason in @why. */
int kenv_get(struct ddio_env *env, struct kenv **kenv, char *why, size_t why_len);
void kenv_put(struct kenv *kenv);
/* Which buffer of the kernel's it is in, and where; false: in none. */
bool kenv_find(const struct kenv *kenv, const void *buf, uint64_t len, uint32_t *buffer,
	       uint64_t *offset);
/* Has @later->fn called when the events at hand are handed out; at once if there are none. */
void kenv_later(struct kenv *kenv, struct klater *later);

#endif /* DDIO_KENV_H */
