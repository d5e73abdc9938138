/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A showcase: memory in which a process shows blocks to others of its machine, which take bytes of them without
 * asking.  The maker hides a block before it changes it or uses its place for another one.  A viewer copies first and
 * then looks whether the block was shown all the time, so neither ever waits for the other, and a viewer that stops
 * holds nobody up.  What a process shows ends with it: not a byte is taken from one that has died, not even
 * between its death and the moment in which a connection to it breaks.
 */
#ifndef DDIO_SHOWCASE_H
#define DDIO_SHOWCASE_H

#include <pthread.h>
#include "env/local/mailbox.h"

/**
 * struct ddio_show_key - names a block
 * @id, @seed, @layout: of its file
 * @block: its number
 * @size: its bytes
 */
struct ddio_show_key {
	uint64_t id, seed, block;
	uint32_t size, layout;
};

/*
 * The maker, on one thread
 */
struct ddio_showcase;

/* Makes one with room for @bytes of blocks, not all of which take up memory yet.  Return: 0 or -errno. */
int ddio_showcase_new(struct ddio_env *env, size_t bytes, struct ddio_showcase **showcase);
void ddio_showcase_free(struct ddio_showcase *s);
/* Lets the process have it that opened the mailbox.  Return: 0 or -errno. */
int ddio_showcase_send(struct ddio_env *env, const struct ddio_showcase *s, const char *name,
		       const uint8_t token[MAILBOX_TOKEN]);
/* Returns memory for a block, page-aligned, as it was left; NULL: there is no room. */
void *ddio_showcase_get(struct ddio_showcase *s, size_t len);
/* Returns true if the memory is the showcase's. */
bool ddio_showcase_has(const struct ddio_showcase *s, const void *buf);
/* Gives back memory that nothing is shown in. */
void ddio_showcase_put(struct ddio_showcase *s, const void *buf, size_t len);
/* Shows a block of @key->size bytes.  Return: for ddio_showcase_hide(); not 0. */
uint64_t ddio_showcase_show(struct ddio_showcase *s, const struct ddio_show_key *key,
			    const void *buf);
/* Returns true if the block is still shown: another one may have taken its line in the list. */
bool ddio_showcase_shown(const struct ddio_showcase *s, uint64_t shown);
/* From here on nobody takes bytes of it; harmless if it is not shown any more. */
void ddio_showcase_hide(struct ddio_showcase *s, uint64_t shown);

/*
 * A viewer, on any thread
 */
struct ddio_viewer;

/* Takes the showcase that was sent to the mailbox.  Return: 0 or -errno. */
int ddio_viewer_new(struct ddio_mailbox *box, struct ddio_viewer **viewer);
void viewer_free(struct ddio_viewer *v);
/* Copies bytes [@from, @from + @len) of a block.  Returns false if they are not shown; @buf may be written to all the same. */
bool viewer_read(const struct ddio_viewer *v, const struct ddio_show_key *key, uint32_t from,
		 void *buf, uint32_t len);

/*
 * A viewer that comes and goes while any thread reads; the caller owns the memory.
 */
struct ddio_viewing {
	pthread_rwlock_t lock;
	struct ddio_viewer *viewer;
};

void ddio_viewing_init(struct ddio_viewing *viewing);
/* Frees the viewer, too. */
void ddio_viewing_fini(struct ddio_viewing *viewing);
/* Replaces the viewer, which is freed; NULL: there is none. */
void ddio_viewing_set(struct ddio_viewing *viewing, struct ddio_viewer *v);
/* As viewer_read(); false also without a viewer, or while it is replaced. */
bool ddio_viewing_read(struct ddio_viewing *viewing, const struct ddio_show_key *key, uint32_t from,
		       void *buf, uint32_t len);

#endif /* DDIO_SHOWCASE_H */
