// SPDX-License-Identifier: LGPL-2.1-or-later
/* A reactor's context of /dev/ddio. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "env/kernel/kenv.h"

#define EVENTS_A_TURN 512 /* connections get their turn, too */

static void open_failed(int err, char *why, size_t why_len)
{
	snprintf(why, why_len, "%s: %s%s", KDEV_PATH, strerror(-err),
		 err == -ENOENT ? " (is the ddio module loaded?)" : "");
}

int kenv_probe(char *why, size_t why_len)
{
	struct ddio_kdev kdev;
	struct ddio_info info;
	int err = ddio_kdev_open(&kdev, NULL);

	if (err) {
		open_failed(err, why, why_len);
		return err;
	}
	err = kdev_info(&kdev, &info);
	if (!err && info.out_abi != DDIO_ABI_VERSION)
		err = -EPROTONOSUPPORT;
	if (err)
		snprintf(why, why_len, "%s: the module has another version of the interface: %s",
			 KDEV_PATH, strerror(-err));
	else
		snprintf(why, why_len, "%s can be used", KDEV_PATH);
	ddio_kdev_close(&kdev);
	return err;
}

/*
 * Memory
 */
static void pin_failed(int err, size_t len, char *why, size_t why_len)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (err == -ENOMEM && limit.rlim_cur != RLIM_INFINITY)
		snprintf(why, why_len,
			 "cannot pin %zu bytes: the memory-lock limit is %llu bytes "
			 "(LimitMEMLOCK= of the service, ulimit -l)",
			 len, (unsigned long long)limit.rlim_cur);
	else
		snprintf(why, why_len, "cannot pin %zu bytes: %s", len, strerror(-err));
}

static int chunk_add(void *ctx, struct arena_chunk *chunk)
{
	struct kenv *kenv = ctx;
	char why[200];
	int err = ddio_kdev_buffer_add(&kenv->kdev, chunk->mem, chunk->len, 0, &chunk->id);

	if (err && !kenv->warned) {
		kenv->warned = true;
		pin_failed(err, chunk->len, why, sizeof(why));
		ddio_env_log(kenv->env, DDIO_LOG_WARN, "%s: %s; transfers will be copied",
			     KDEV_PATH, why);
	}
	return err;
}

/* A transfer that has reported its end may still hold the buffer for a moment; then the chunk stays. */
static bool chunk_remove(void *ctx, struct arena_chunk *chunk)
{
	struct kenv *kenv = ctx;

	return !ddio_kdev_destroy(&kenv->kdev, chunk->id);
}

static const struct arena_ops chunk_ops = { .add = chunk_add, .remove = chunk_remove };

/* Registers all of the arena, which has at least one chunk then. */
static int arena_attach(struct kenv *kenv, char *why, size_t why_len)
{
	struct ddio_env *env = kenv->env;
	struct arena_chunk *chunk;
	void *first;
	int err;

	if (!env->arena)
		env->arena = arena_new();
	first = env->arena ? arena_get(env->arena, 1) : NULL;
	if (!first) {
		snprintf(why, why_len, "out of memory");
		return -ENOMEM;
	}
	arena_put(env->arena, first, 1);
	ddio_list_for_each_entry(chunk, &env->arena->chunks, link) {
		err = ddio_kdev_buffer_add(&kenv->kdev, chunk->mem, chunk->len, 0, &chunk->id);
		if (err) {
			pin_failed(err, chunk->len, why, why_len);
			return err;
		}
	}
	env->arena->ops = &chunk_ops;
	env->arena->ctx = kenv;
	return 0;
}

static void arena_detach(struct kenv *kenv)
{
	struct arena_chunk *chunk;

	ddio_list_for_each_entry(chunk, &kenv->env->arena->chunks, link)
		chunk->id = 0;
	kenv->env->arena->ops = NULL;
}

bool kenv_find(const struct kenv *kenv, const void *buf, uint64_t len, uint32_t *buffer,
	       uint64_t *offset)
{
	struct arena_chunk *chunk = arena_find(kenv->env->arena, buf, len);

	if (!chunk)
		return false;
	*buffer = chunk->id;
	*offset = (const uint8_t *)buf - chunk->mem;
	return true;
}

/*
 * Events
 */
static void run_later(struct kenv *kenv)
{
	while (!ddio_list_empty(&kenv->later)) {
		struct klater *later = ddio_list_first(&kenv->later, struct klater, link);

		ddio_list_del(&later->link);
		later->fn(later);
	}
}

/* Returns whether the disk must stay. */
static bool leave(struct kenv *kenv, struct kleaving *leaving)
{
	int err = ddio_kdev_destroy(&kenv->kdev, leaving->id);

	if (err == -EBUSY)
		return true;
	if (err)
		ddio_env_log(kenv->env, DDIO_LOG_WARN, "%s: cannot give up a disk: %s", KDEV_PATH,
			     strerror(-err));
	return false;
}

static void leave_all(struct kenv *kenv, bool must)
{
	struct kleaving *leaving, *tmp;

	ddio_list_for_each_entry_safe(leaving, tmp, &kenv->leaving, link) {
		if (!must && leave(kenv, leaving))
			continue;
		ddio_list_del(&leaving->link);
		free(leaving);
	}
}

void kenv_leave(struct kenv *kenv, struct kleaving *leaving)
{
	ddio_list_add(&leaving->link, &kenv->leaving);
	leave_all(kenv, false);
}

static void kenv_ready(void *arg)
{
	struct kenv *kenv = arg;
	const struct ddio_event *at;
	struct kuser *user;
	struct ddio_event event;
	uint32_t n;

	kenv->refs++;
	kenv->busy = true;
	for (n = 0; n < EVENTS_A_TURN && (at = ddio_kdev_event(&kenv->kdev)); n++) {
		event = *at;
		ddio_kdev_event_done(&kenv->kdev);
		user = (struct kuser *)(uintptr_t)event.user_data;
		user->event(user, &event);
	}
	kenv->busy = false;
	run_later(kenv);
	leave_all(kenv, false);
	kenv_put(kenv);
}

void kenv_later(struct kenv *kenv, struct klater *later)
{
	if (!kenv->busy)
		later->fn(later);
	else if (ddio_list_empty(&later->link))
		ddio_list_add(&later->link, &kenv->later);
}

/*
 * Life
 */
static int kenv_open(struct kenv *kenv, char *why, size_t why_len)
{
	int err = ddio_kdev_open(&kenv->kdev, NULL);

	if (err) {
		open_failed(err, why, why_len);
		return err;
	}
	err = ddio_kdev_ring_setup(&kenv->kdev, KENV_EVENTS, KENV_SLOTS);
	if (err) {
		snprintf(why, why_len, "cannot make a ring: %s", strerror(-err));
		goto close_kdev;
	}
	err = arena_attach(kenv, why, why_len);
	if (err)
		goto close_kdev;
	kenv->watcher = (struct ddio_watcher){
		.fd = kenv->kdev.fd,
		.fn = kenv_ready,
		.arg = kenv,
	};
	err = ddio_watcher_start(kenv->env, &kenv->watcher);
	if (!err)
		return 0;
	snprintf(why, why_len, "cannot wait for events: %s", strerror(-err));
	arena_detach(kenv);
close_kdev:
	ddio_kdev_close(&kenv->kdev);
	return err;
}

int kenv_get(struct ddio_env *env, struct kenv **kenv, char *why, size_t why_len)
{
	struct kenv *k = env->kenv;
	int err;

	if (k) {
		leave_all(k, false);
		k->refs++;
		*kenv = k;
		return 0;
	}
	k = calloc(1, sizeof(*k));
	if (!k) {
		snprintf(why, why_len, "out of memory");
		return -ENOMEM;
	}
	k->env = env;
	k->refs = 1;
	ddio_list_init(&k->users);
	ddio_list_init(&k->later);
	ddio_list_init(&k->leaving);
	err = kenv_open(k, why, why_len);
	if (err) {
		free(k);
		return err;
	}
	env->kenv = k;
	*kenv = k;
	return 0;
}

void kenv_put(struct kenv *kenv)
{
	struct kuser *user, *tmp;

	if (--kenv->refs)
		return;
	ddio_watcher_stop(kenv->env, &kenv->watcher);
	ddio_kdev_close(&kenv->kdev);
	ddio_list_for_each_entry_safe(user, tmp, &kenv->users, link)
		user->free(user);
	leave_all(kenv, true);
	arena_detach(kenv);
	kenv->env->kenv = NULL;
	free(kenv);
}
