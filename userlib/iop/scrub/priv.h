/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside the scrub.  Each disk has one, which is resting or does one of these things at a time: it looks for the extents
 * that come next (list.c), waits for an object's records or the lock of a block, or reads a run of blocks that lie side by side (run.c).
 * scrub.c begins and ends passes and decides what comes next, the pace how long it rests.
 */
#ifndef DDIO_SCRUB_PRIV_H
#define DDIO_SCRUB_PRIV_H

#include "iop/cache/queue.h"
#include "iop/pace/pace.h"
#include "iop/server/service.h"
#include "iop/store/walk/places.h"

#define SCRUB_PLACES 16384u /* extents of a portion */
#define SCRUB_BLOCKS 64u    /* most blocks of a run */
#define SCRUB_RUN (256u << 10)
#define SCRUB_RUN_SHARED (64u << 10) /* bytes of a run while others use the disk */
#define SCRUB_LINES 100u	     /* most lines of the log of a pass */

enum scrub_state {
	SCRUB_IDLE, /* no pass is under way; the timer waits for the next */
	SCRUB_RESTING,
	SCRUB_TURNING, /* goes on in the reactor's next turn */
	SCRUB_LISTING,
	SCRUB_FETCHING,
	SCRUB_LOCKING,
	SCRUB_READING,
};

/**
 * struct scrub - of one disk
 * @kept: how far it is; what store_scrub() has is older
 * @ending: the node stops
 * @lacking: only blocks that lack a sum are read
 * @pace: how fast it is
 * @timer, @post: of its next step
 * @places: a portion being looked for
 * @place: @nplaces that were found, from @next on, @off blocks of it are done; @last: there are no more behind
 * @wait: for an object whose records are being read
 * @obj, @block, @n, @lock: the run: its blocks, locked
 * @single: so many blocks are read one by one, since a run with them could not be
 * @buf, @cap: for the blocks of a run
 * @queue, @req: reads them
 * @note, @noting: a commit that records how far it is; @noted_ns: when that was last done
 * @lines: of the log that this pass has written
 */
struct scrub {
	struct iop_disk *disk;
	struct rec_scrub kept;
	enum scrub_state state;
	bool ending, lacking;
	struct pace pace;
	struct ddio_timer timer;
	struct ddio_post post;
	struct store_places *places;
	struct store_place *place;
	size_t nplaces, next;
	uint64_t off;
	bool last;
	struct store_wait wait;
	struct object *obj;
	uint64_t block;
	uint32_t n, single;
	struct block_lock lock[SCRUB_BLOCKS];
	uint8_t *buf;
	size_t cap;
	struct queue queue;
	struct queue_req req;
	struct commit note;
	bool noting;
	uint64_t noted_ns;
	uint32_t lines;
};

static inline struct ddio_env *scrub_env(const struct scrub *s)
{
	return s->disk->reactor->env;
}

/* scrub.c */
/* Decides what comes next.  Not from a function that the scrub has called. */
void scrub_go(struct scrub *s);
/* Goes on in the reactor's next turn. */
void scrub_turn(struct scrub *s);
void scrub_rest(struct scrub *s, uint64_t ns);
/* Logs something of a block, unless the pass has logged enough; says so once. */
void scrub_say(struct scrub *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* list.c */
void scrub_list(struct scrub *s);
/* Forgets the portion. */
void scrub_list_drop(struct scrub *s);

/* run.c */
enum scrub_next { RUN_BEGUN, RUN_NO_PLACE, RUN_TURN, RUN_NO_MEMORY };
/* Begins to read the next blocks, or what the records say of their object: RUN_NO_PLACE: the portion is at its end; RUN_TURN: it has looked at many. */
enum scrub_next scrub_run(struct scrub *s);
/* Gives up the records or the lock that it waits for. */
void scrub_run_cancel(struct scrub *s);
void scrub_buf_free(struct scrub *s);

#endif /* DDIO_SCRUB_PRIV_H */
