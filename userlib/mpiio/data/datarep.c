// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Data representations of programs (MPI 4.0, section 14.5.3).  Their functions count data items, the entries of a type's map,
 * and are called for whole elements of the program's type.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "mpiio/data/represent.h"

struct user_rep {
	struct mpiio_rep rep;
	struct rep_functions fn;
	struct user_rep *next;
};

/* They stay until the process ends. */
static struct user_rep *reps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Two data items in one, of which the standard does not say what they are in the file. */
static bool is_pair(MPI_Datatype type)
{
	return type == MPI_SHORT_INT || type == MPI_FLOAT_INT || type == MPI_DOUBLE_INT ||
	       type == MPI_LONG_INT || type == MPI_LONG_DOUBLE_INT || type == MPI_2INT ||
	       type == MPI_2REAL || type == MPI_2DOUBLE_PRECISION || type == MPI_2INTEGER;
}

static int extent_of(const struct rep_functions *fn, MPI_Datatype type, MPI_Aint *extent)
{
	MPI_Fint f = MPI_Type_c2f(type), err = MPI_SUCCESS;

	if (fn->extent)
		return fn->extent(type, extent, fn->state);
	fn->extent_f(&f, extent, fn->state, &err);
	return err;
}

static int user_bytes(const struct mpiio_rep *rep, MPI_Datatype type, int *bytes)
{
	const struct rep_functions *fn = &((const struct user_rep *)rep)->fn;
	MPI_Aint extent = 0;

	if (is_pair(type))
		return -EOPNOTSUPP;
	if (extent_of(fn, type, &extent) || extent <= 0 || extent > INT_MAX)
		return -EILSEQ;
	*bytes = (int)extent;
	return 0;
}

/* A data item of a byte: so a type has as many bytes as items. */
static int item_bytes(const struct mpiio_rep *rep, MPI_Datatype type, int *bytes)
{
	(void)rep;
	(void)type;
	*bytes = 1;
	return 0;
}

/* A call of one of the program's functions. */
struct conversion {
	MPI_Datarep_conversion_function *fn;
	rep_convert_c *fn_c;
	rep_convert_f *fn_f;
	rep_convert_fc *fn_fc;
	void *buf, *state;
	MPI_Datatype type;
};

static int convert_some(const struct conversion *c, int items, void *file, MPI_Offset position)
{
	MPI_Fint n = items, type = MPI_Type_c2f(c->type), err = MPI_SUCCESS;

	if (c->fn)
		return c->fn(c->buf, c->type, items, file, position, c->state);
	c->fn_f(c->buf, &type, &n, file, &position, c->state, &err);
	return err;
}

/* Converts @count elements of @one bytes in the file, in pieces whose @items an int can count. */
static int convert_all(const struct conversion *c, MPI_Count count, MPI_Count items, uint8_t *file,
		       MPI_Count one)
{
	MPI_Count done, n;

	if (items > INT_MAX)
		return -EOVERFLOW;
	for (done = 0; done < count; done += n) {
		n = count - done < INT_MAX / items ? count - done : INT_MAX / items;
		if (convert_some(c, (int)(n * items), file + done * one, done * items))
			return -EILSEQ;
	}
	return 0;
}

/* Those that count as many as there are. */
static int convert_large(const struct conversion *c, MPI_Count items, void *file)
{
	MPI_Fint type = MPI_Type_c2f(c->type), err = MPI_SUCCESS;
	MPI_Offset position = 0;

	if (c->fn_c)
		return c->fn_c(c->buf, c->type, items, file, position, c->state);
	c->fn_fc(c->buf, &type, &items, file, &position, c->state, &err);
	return err;
}

static int convert(const struct conversion *c, MPI_Count count, void *file, MPI_Count bytes)
{
	static const struct mpiio_rep rep_items = { .bytes = item_bytes };
	MPI_Count items = rep_size(&rep_items, c->type), all;

	if (items <= 0)
		return (int)items;
	if (__builtin_mul_overflow(items, count, &all))
		return -EOVERFLOW;
	if (c->fn_c || c->fn_fc)
		return convert_large(c, all, file) ? -EILSEQ : 0;
	return convert_all(c, count, items, file, bytes / count);
}

static int user_pack(const struct mpiio_rep *rep, const void *buf, MPI_Count count,
		     MPI_Datatype type, void *file, MPI_Count bytes)
{
	const struct rep_functions *fn = &((const struct user_rep *)rep)->fn;
	const struct conversion c = { .fn = fn->write,
				      .fn_c = fn->write_c,
				      .fn_f = fn->write_f,
				      .fn_fc = fn->write_fc,
				      .buf = (void *)buf,
				      .state = fn->state,
				      .type = type };

	return convert(&c, count, file, bytes);
}

static int user_unpack(const struct mpiio_rep *rep, void *file, MPI_Count bytes, void *buf,
		       MPI_Count count, MPI_Datatype type)
{
	const struct rep_functions *fn = &((const struct user_rep *)rep)->fn;
	const struct conversion c = { .fn = fn->read,
				      .fn_c = fn->read_c,
				      .fn_f = fn->read_f,
				      .fn_fc = fn->read_fc,
				      .buf = buf,
				      .state = fn->state,
				      .type = type };

	return convert(&c, count, file, bytes);
}

static struct user_rep *user_find(const char *name)
{
	struct user_rep *u = reps;

	while (u && strcmp(u->rep.name, name))
		u = u->next;
	return u;
}

const struct mpiio_rep *rep_find(const char *name)
{
	struct user_rep *u;

	if (!strcmp(name, rep_external.name))
		return &rep_external;
	pthread_mutex_lock(&lock);
	u = user_find(name);
	pthread_mutex_unlock(&lock);
	return u ? &u->rep : NULL;
}

static int user_add(struct user_rep *u)
{
	int ret = 0;

	pthread_mutex_lock(&lock);
	if (user_find(u->rep.name)) {
		ret = -EEXIST;
	} else {
		u->next = reps;
		reps = u;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

int rep_register(const char *name, const struct rep_functions *fn)
{
	struct user_rep *u;
	int ret;

	if (!name || !*name || strlen(name) >= MPI_MAX_DATAREP_STRING ||
	    (!fn->extent && !fn->extent_f))
		return -EINVAL;
	if (!strcmp(name, "native") || !strcmp(name, "internal") ||
	    !strcmp(name, rep_external.name))
		return -EEXIST;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	strcpy(u->rep.name, name);
	u->rep.bytes = user_bytes;
	u->rep.pack = fn->write || fn->write_c || fn->write_f || fn->write_fc ? user_pack : NULL;
	u->rep.unpack = fn->read || fn->read_c || fn->read_f || fn->read_fc ? user_unpack : NULL;
	u->fn = *fn;
	ret = user_add(u);
	if (ret)
		free(u);
	return ret;
}
