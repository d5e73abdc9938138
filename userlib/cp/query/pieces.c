// SPDX-License-Identifier: LGPL-2.1-or-later
/* Records whose used bytes come from several blocks: kept until they are whole, then looked at here. */
#include <errno.h>
#include <stdlib.h>
#include "cp/query/query.h"

/**
 * struct query_piece - one of them
 * @have: bytes of @used that have come
 */
struct query_piece {
	struct ddio_hash_node node;
	uint64_t record;
	uint32_t have;
	uint8_t used[];
};

int query_pieces_init(struct query_job *job)
{
	const struct query_dealing *dealing = &job->dealing;
	struct query_pieces *pieces = &job->pieces;
	const struct ddio_query_shape *shape = job->shape;
	const char *why;

	pieces->field = ddio_query_packed(shape);
	if (!pieces->field)
		return -ENOMEM;
	pieces->packed = *shape->q;
	pieces->packed.field = pieces->field;
	return ddio_query_shape_dealt(&pieces->packed, dealing->deal,
				      dealing->deal ? dealing->group->size : 0, &pieces->shape,
				      &why);
}

void query_pieces_free(struct query_pieces *pieces)
{
	struct query_piece *piece;
	struct ddio_hash_walk walk;

	ddio_hash_for_each(piece, &walk, &pieces->records, node) {
		free(piece);
	}
	ddio_hash_fini(&pieces->records);
	free(pieces->field);
}

static struct query_piece *piece_get(struct query_pieces *pieces, uint64_t record)
{
	struct ddio_hash_node *node = ddio_hash_find(&pieces->records, record);
	struct query_piece *piece = ddio_hash_entry(node, struct query_piece, node);

	if (piece)
		return piece;
	piece = malloc(sizeof(*piece) + pieces->shape.used);
	if (!piece)
		return NULL;
	piece->record = record;
	piece->have = 0;
	ddio_hash_add(&pieces->records, &piece->node, record);
	return piece;
}

/* Returns true if the record is ours. */
static bool is_mine(const struct query_job *job, const struct query_piece *piece)
{
	const struct query_dealing *d = &job->dealing;

	return !d->deal || ddio_query_owner(&job->pieces.shape, d->deal, d->group->size,
					    piece->used, piece->record - job->first,
					    job->end - job->first) == d->group->rank;
}

/* Of a group, each member has all fragments; what is made of the records is rank 0's. */
static int piece_whole(struct query_job *job, const struct query_piece *piece)
{
	const struct ddio_query_shape *shape = &job->pieces.shape;
	uint8_t *to;
	int ret;

	if (!ddio_query_matches(shape, piece->used))
		return 0;
	if (!job->dealing.deal || !job->dealing.group->rank)
		ddio_query_accs_add(&job->accs, shape, piece->used);
	if (!is_mine(job, piece))
		return 0;
	to = query_found_add(&job->found, piece->record, &ret);
	if (to)
		ddio_query_output(shape, piece->used, to);
	return ret;
}

int query_piece(struct query_job *job, uint64_t record, uint64_t lo, uint64_t hi,
		const uint8_t *from, uint32_t len)
{
	struct query_piece *piece = piece_get(&job->pieces, record);
	int ret;

	if (!piece)
		return -ENOMEM;
	ddio_query_fragment_put(job->shape, record, lo, hi, from, piece->used);
	piece->have += len;
	if (piece->have < job->shape->used)
		return 0;
	ret = piece_whole(job, piece);
	ddio_hash_del(&job->pieces.records, &piece->node);
	free(piece);
	return ret;
}
