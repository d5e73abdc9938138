// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a datatype was made of, by MPI_Type_get_envelope() and MPI_Type_get_contents(). */
#include <errno.h>
#include <stdlib.h>
#include "mpiio/data/contents.h"
#include "mpiio/data/data.h"

bool is_named(int combiner)
{
	return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
	       combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

void contents_drop(struct contents *c)
{
	MPI_Count i;

	for (i = 0; c->types && i < c->ntypes; i++)
		type_drop(&c->types[i]);
	free(c->ints);
	free(c->addrs);
	free(c->counts);
	free(c->types);
}

static int contents_room(struct contents *c)
{
	c->ints = calloc((size_t)c->nints + 1, sizeof(*c->ints));
	c->addrs = calloc((size_t)c->naddrs + 1, sizeof(*c->addrs));
	c->counts = calloc((size_t)c->ncounts + 1, sizeof(*c->counts));
	c->types = calloc((size_t)c->ntypes + 1, sizeof(*c->types));
	return c->ints && c->addrs && c->counts && c->types ? 0 : -ENOMEM;
}

#if MPI_VERSION >= 4
static int envelope(MPI_Datatype type, struct contents *c)
{
	return PMPI_Type_get_envelope_c(type, &c->nints, &c->naddrs, &c->ncounts, &c->ntypes,
					&c->combiner);
}

/* A type that was made with ints has no counts, and takes the plain function. */
static int contents(MPI_Datatype type, struct contents *c)
{
	if (c->ncounts)
		return PMPI_Type_get_contents_c(type, c->nints, c->naddrs, c->ncounts, c->ntypes,
						c->ints, c->addrs, c->counts, c->types);
	return PMPI_Type_get_contents(type, (int)c->nints, (int)c->naddrs, (int)c->ntypes, c->ints,
				      c->addrs, c->types);
}
#else
static int envelope(MPI_Datatype type, struct contents *c)
{
	int nints = 0, naddrs = 0, ntypes = 0;
	int ret = PMPI_Type_get_envelope(type, &nints, &naddrs, &ntypes, &c->combiner);

	c->nints = nints;
	c->naddrs = naddrs;
	c->ntypes = ntypes;
	return ret;
}

static int contents(MPI_Datatype type, struct contents *c)
{
	return PMPI_Type_get_contents(type, (int)c->nints, (int)c->naddrs, (int)c->ntypes, c->ints,
				      c->addrs, c->types);
}
#endif

int contents_get(MPI_Datatype type, struct contents *c)
{
	int ret;

	*c = (struct contents){ 0 };
	if (envelope(type, c))
		return -EINVAL;
	if (is_named(c->combiner))
		return 0;
	ret = contents_room(c);
	if (!ret && contents(type, c))
		ret = -EINVAL;
	if (ret) {
		c->ntypes = 0; /* nothing was handed out */
		contents_drop(c);
	}
	return ret;
}

bool type_named(MPI_Datatype type)
{
	struct contents c = { 0 };

	return envelope(type, &c) || is_named(c.combiner);
}
