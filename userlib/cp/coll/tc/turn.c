// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Chunks in turn, as for a program that knows only read and write, and calls them for each contiguous
 * chunk: the next one is asked for once all of the one before is there.  A chunk goes over all disks that
 * have blocks of it, with a window for each.
 */
#include "cp/coll/tc/priv.h"

int tc_turn_next(struct tc *tc)
{
	const struct ddio_file_record *rec = &tc->op->file->rec;
	struct tc_cursor *d = &tc->disk[0];
	uint64_t first;
	uint32_t i;
	int ret = tc_chunk_ready(tc, d);

	if (ret <= 0)
		return ret;
	tc->call = d->chunk[d->next++];
	first = tc->call.at / rec->ref.block;
	for (i = 0; i < rec->ndisks; i++)
		tc->block[i] = first + (i + rec->ndisks - first % rec->ndisks) % rec->ndisks;
	ddio_env_charge(tc->op->session->env, DDIO_WORK_CALL, 1);
	return 1;
}

/* Returns the part of the call's chunk that lies in block @b. */
static struct tc_chunk call_part(const struct tc *tc, uint64_t b, uint64_t bs)
{
	uint64_t lo = b * bs, hi = lo + bs, end = tc->call.at + tc->call.len;

	lo = lo > tc->call.at ? lo : tc->call.at;
	hi = hi < end ? hi : end;
	return (struct tc_chunk){ .at = lo,
				  .len = hi - lo,
				  .share = tc->call.share + (lo - tc->call.at),
				  .broken = tc->call.broken };
}

int tc_turn_request(struct objio *io, struct objreq *req)
{
	struct tc *tc = io->arg;
	uint64_t bs = io->rec->ref.block, b = tc->block[req->i];
	struct tc_chunk part;
	int err;

	if (b * bs >= tc->call.at + tc->call.len)
		return 0;
	part = call_part(tc, b, bs);
	tc->block[req->i] += io->rec->ndisks;
	req->obj.offset = b / io->rec->ndisks * bs + part.at % bs;
	req->obj.len = part.len;
	err = tc_chunk_memory(tc, req, &part);
	return err ? err : 1;
}
