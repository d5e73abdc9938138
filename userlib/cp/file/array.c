// SPDX-License-Identifier: LGPL-2.1-or-later
/* Answers callers' questions about a distribution. */
#include <errno.h>
#include <ddio/ddio.h>
#include "map/layout.h"

int ddio_array_share(const struct ddio_array *array, uint32_t nprocs, uint32_t rank,
		     uint64_t *bytes, const char **why)
{
	struct ddio_map *map;
	int err;

	if (!array || !bytes || rank >= nprocs) {
		if (why)
			*why = "array or bytes is NULL, or the rank is not below nprocs";
		return -EINVAL;
	}
	err = ddio_map_new_array(array, nprocs, &map, why);
	if (err)
		return err;
	*bytes = ddio_map_share_size(map, rank);
	ddio_map_free(map);
	return 0;
}

int ddio_array_local(const struct ddio_array *array, uint32_t nprocs, uint32_t rank,
		     uint64_t count[DDIO_MAX_DIMS])
{
	struct ddio_map_layout layout;
	const struct ddio_axis *axis;
	uint32_t d;
	int err;

	if (!array || !count || rank >= nprocs)
		return -EINVAL;
	err = ddio_map_layout_init(&layout, array, nprocs, NULL);
	for (d = 0; !err && d < DDIO_MAX_DIMS; d++)
		count[d] = 0;
	if (err || layout.empty || rank >= layout.grid)
		return err;
	for (d = 0; d < layout.ndims; d++) {
		axis = &layout.dim[d];
		count[d] = ddio_axis_local(axis, rank / axis->rank_stride % axis->procs);
	}
	return 0;
}
