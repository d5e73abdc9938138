/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls that may wait for somebody else, for as long as that one likes: the close of a descriptor that another process has
 * sent waits for its file system, a question to munged or to a name server for their answer.  They are made by threads for which
 * nobody ever waits, neither a reactor nor whoever frees it: each of these ends when it has nothing more to do.
 *
 * tests/tree/waits.pl lists where such calls stand.
 */
#ifndef DDIO_ENV_ASIDE_H
#define DDIO_ENV_ASIDE_H

#include "env/env.h"

/* Kinds have threads of their own, so that one that waits keeps no other from its turn. */
enum aside_kind {
	ASIDE_CLOSE,
	ASIDE_NAMES,	  /* addresses of hosts */
	DDIO_ASIDE_USERS, /* credentials, and groups of users */
	ASIDE_KINDS
};

enum aside_state { ASIDE_QUEUED, ASIDE_WORKING, ASIDE_ENDED };

/**
 * struct ddio_aside - a call that is made aside; embedded in memory that @release frees
 * @kind: which threads make it
 * @work: makes it; it touches only the memory in which this is embedded
 * @done: on the reactor, afterwards; not called once it is forgotten, or the reactor is no more
 * @release: called last, by any thread; it calls nothing of this header
 * The rest is the threads' own.
 */
struct ddio_aside {
	enum aside_kind kind;
	void (*work)(struct ddio_aside *aside);
	void (*done)(struct ddio_aside *aside);
	void (*release)(struct ddio_aside *aside);
	enum aside_state state;
	struct ddio_env *env;
	struct ddio_list queue, link;
	struct ddio_post post;
};

/* On the reactor.  Return: 0, or -errno: there is no thread for it, and the caller keeps the memory. */
int ddio_env_aside(struct ddio_env *env, struct ddio_aside *aside);
/* On the reactor: nobody wants to know any more.  The memory is gone, or goes when the call has ended. */
void ddio_aside_forget(struct ddio_aside *aside);
/* A reactor ends: its calls are forgotten. */
void asides_forget(struct ddio_env *env);
/* For worlds without threads: makes the call at once, or, with @never, as if nobody ever answered. */
void ddio_aside_here(struct ddio_env *env, struct ddio_aside *aside, bool never);

/*
 * Closes a descriptor that another process has sent, or a socket from which nobody has read what another process has sent:
 * whatever hangs from it may wait.  Without memory, or a thread, it stays open.
 */
void close_aside(int fd);
/* Returns how many of them are not closed yet. */
uint32_t closes_aside(void);

#endif /* DDIO_ENV_ASIDE_H */
