// SPDX-License-Identifier: GPL-2.0-only
/* Memory for messages and for what is read, kept for reuse. */
#include <pthread.h>
#include <stdlib.h>
#include "ddiofs.h"
#include "loop.h"

#define MAX_SPARE 64
#define NR_CLASSES 3
static const size_t class_size[NR_CLASSES] = { 16u << 10, 128u << 10, REQUEST_BYTES };

/* Buffers of one size: @n that are not in use, and the least that there were since buffers_trim(). */
struct spares {
	void *mem[MAX_SPARE];
	unsigned int n, least;
};

/**
 * struct buffers - all of them
 * @messages: of the size that libfuse allocates
 * @classes: of the sizes in class_size
 */
struct buffers {
	pthread_mutex_t lock;
	struct spares messages;
	struct spares classes[NR_CLASSES];
};

__thread struct loop_worker *worker_self;

void *message_take(void)
{
	worker_self->taken = true;
	return worker_self->message.mem;
}

struct buffers *buffers_new(void)
{
	struct buffers *b = calloc(1, sizeof(*b));

	if (b)
		pthread_mutex_init(&b->lock, NULL);
	return b;
}

static void *spare_get(struct buffers *b, struct spares *s)
{
	void *mem = NULL;

	pthread_mutex_lock(&b->lock);
	if (s->n)
		mem = s->mem[--s->n];
	if (s->least > s->n)
		s->least = s->n;
	pthread_mutex_unlock(&b->lock);
	return mem;
}

static void spare_put(struct buffers *b, struct spares *s, void *mem)
{
	pthread_mutex_lock(&b->lock);
	if (s->n < MAX_SPARE) {
		s->mem[s->n++] = mem;
		mem = NULL;
	}
	pthread_mutex_unlock(&b->lock);
	free(mem);
}

/* Returns the smallest class that holds @len bytes, or -1. */
static int class_of(size_t len)
{
	int i;

	for (i = 0; i < NR_CLASSES; i++)
		if (len <= class_size[i])
			return i;
	return -1;
}

void *buffer_get(struct mount *m, size_t len)
{
	int c = class_of(len);
	void *buf = c < 0 ? NULL : spare_get(m->buffers, &m->buffers->classes[c]);

	if (buf)
		return buf;
	return aligned_alloc(4096, c < 0 ? (len + 4095) & ~(size_t)4095 : class_size[c]);
}

void buffer_put(struct mount *m, void *buf, size_t len)
{
	int c = class_of(len);

	if (c < 0)
		free(buf);
	else
		spare_put(m->buffers, &m->buffers->classes[c], buf);
}

void *message_get(struct mount *m)
{
	return spare_get(m->buffers, &m->buffers->messages);
}

void message_free(struct mount *m, void *mem)
{
	spare_put(m->buffers, &m->buffers->messages, mem);
}

/* Frees what was never needed since the last time.  Return: whether there was anything. */
static bool spares_trim(struct buffers *b, struct spares *s)
{
	unsigned int n;

	pthread_mutex_lock(&b->lock);
	n = s->least;
	while (s->least) {
		s->least--;
		free(s->mem[--s->n]);
	}
	s->least = s->n;
	pthread_mutex_unlock(&b->lock);
	return n;
}

bool buffers_trim(struct buffers *b)
{
	bool any = spares_trim(b, &b->messages);
	int i;

	for (i = 0; i < NR_CLASSES; i++)
		any |= spares_trim(b, &b->classes[i]);
	return any;
}

static void spares_free(struct spares *s)
{
	while (s->n)
		free(s->mem[--s->n]);
}

void buffers_free(struct buffers *b)
{
	int i;

	if (!b)
		return;
	spares_free(&b->messages);
	for (i = 0; i < NR_CLASSES; i++)
		spares_free(&b->classes[i]);
	pthread_mutex_destroy(&b->lock);
	free(b);
}
