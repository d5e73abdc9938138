/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of a run with faults share: the run, and what they call of one another; see faults.h. */
#ifndef TOOLS_FAULTS_RUN_H
#define TOOLS_FAULTS_RUN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ddio/ddio.h>
#include "base/rand.h"

#define FAULTS_IOPS 4
#define FAULTS_DISKS 16
#define FAULTS_CPS 8
#define FAULTS_FILES 3
#define FAULTS_XFERS FAULTS_FILES /* most transfers of a round */
#define FAULTS_TIES 512
#define FAULTS_IDS 1000
#define FAULTS_COUNTS 4096 /* most additions in the life of a group */
#define FAULTS_CELL 8u	   /* bytes: the unit of the model */
#define FAULTS_TWICE 10u   /* most times that a process may name all cells of a file */
#define FAULTS_VALUES 10   /* most values that a cell may have at a time */
#define FAULTS_MS 1000000ull
#define FAULTS_TIMEOUT_MS 1000u
/* No call may take longer: each of its few steps waits for at most a timeout and a little. */
#define FAULTS_BOUND_NS (20 * FAULTS_TIMEOUT_MS * FAULTS_MS)

/*
 * Faults
 */
enum faults_kind {
	FAULTS_POWER,	 /* an I/O processor loses power, and what was not flushed */
	FAULTS_KILL,	 /* it dies, its machine does not */
	FAULTS_STOP,	 /* it is stopped in order */
	FAULTS_CP,	 /* a compute process dies */
	FAULTS_BREAK,	 /* some connections of a process break */
	FAULTS_CUT,	 /* a process has no network for a while */
	FAULTS_STALL,	 /* what a process sends does not arrive for a while */
	FAULTS_SLOW_NET, /* it arrives late, in pieces, with varying delays */
	FAULTS_SLOW_DISK,
	FAULTS_BAD_DISK, /* part of a disk cannot be read or written */
	FAULTS_DISK_ERR, /* the next requests fail */
	FAULTS_RECORDS,	 /* commits of records fail; only scenes have it */
	FAULTS_KINDS,
};

/* Bugs that a test plants, which must be found. */
enum faults_plant {
	PLANT_NONE,
	PLANT_FLUSH,   /* disks do not flush but report that they did */
	PLANT_BYTE,    /* one bit that is read is wrong */
	PLANT_VERDICT, /* one process gets another result than the others */
	PLANT_HANG,    /* one call does not return */
	PLANTS,
};

#define FAULTS_SKIP 512 /* rounds, and faults, of which each can be left out */

/* What a run leaves out, by number: rounds, but for those that form a group, and faults. */
struct faults_skip {
	bool round[FAULTS_SKIP], fault[FAULTS_SKIP];
};

/**
 * struct faults_spec - what to run
 * @seed: everything is drawn from it
 * @plant: the bug to plant
 * @rounds: number of rounds; 0: chosen by the seed
 * @atomic: most collective writes are atomic; @epochs: and many are of several files, in one epoch
 * @power: nothing breaks but the power, of one I/O processor or of all
 * @mounts: the processes have mounts
 * @per_machine: so many of them are on each machine and reach I/O processors through one of them; 0: each by itself
 * @verbose: print what happens, and the processes' logs, on standard error
 * @story: print what happens, in words, on standard output
 * @skip: what is left out, or NULL
 */
struct faults_spec {
	uint64_t seed;
	enum faults_plant plant;
	uint32_t rounds, per_machine;
	bool power, atomic, epochs, mounts;
	bool verbose, story;
	const struct faults_skip *skip;
};

/* What a round does. */
enum faults_op {
	OP_FORM, /* form a group and open all files */
	OP_COLL, /* a collective transfer */
	OP_PAIR, /* two, on two files, at once */
	OP_OWN,	 /* each process reads or writes its own part by itself */
	OP_SYNC,
	OP_DROP,
	OP_SIZE,
	OP_REMOVE,
	OP_BARRIER,
	OP_PAUSE,
	OP_POWER,     /* all I/O processors lose power while all pause */
	OP_READ_BACK, /* collective read of a whole file */
	OP_MIX,	      /* one process cuts or removes a file while all write another */
	OP_FSCK,
	OP_EPOCH, /* collective writes of several files, which are there or not */
	OP_CLONE, /* a process clones a file, or makes a snapshot, reads and writes that, removes it, and mends the file */
	OP_OVER,
};

/**
 * struct faults_result - the result of a run
 * @why: a violated invariant, or ""
 * @trace: hash of all events and messages
 * @kinds: how often each fault happened; @faults: all of them, also what was left out; @last: the last round
 * @rounds, @rounds_failed: number of rounds by what they did
 */
struct faults_result {
	char why[1024];
	uint64_t trace, events, virtual_ns;
	uint32_t calls, failed, longest_ms, faults, last;
	uint32_t kinds[FAULTS_KINDS];
	uint32_t rounds[OP_OVER], rounds_failed[OP_OVER];
};

/**
 * struct faults_conf - the cluster
 * @kinds: bit mask of faults
 * @gap_ns: mean time from one to the next
 * @most: of them
 * @small: many collective transfers are left to the default method, which is another one for small ones
 * @lax: some transfers have flags that allow what is refused without: DDIO_XFER_SHORT, DDIO_XFER_OVERLAP;
 *	and groups are patient.  Follows from the seed, so that the other seeds mean what they meant before.
 * @viewed: transfers are described by views; follows from the seed, too
 * @counted: groups have a counter; follows from the seed, too
 * @locked: processes lock bytes after transfers; follows from the seed, too
 * @spread: processes spread their descriptions, however short, but for one in four; follows from the seed, too
 * @ordered: two collectives at once are in the orders of their files, and begin in either order; follows from the seed, too
 * @queried: after a collective transfer a process, or all together, ask which cells of the file are not zeros; follows from the
 *	seed, too
 * @scrubbed: disks are scrubbed all the time; follows from the seed, too
 * @cloned: files are cloned, and the clones read and written; follows from the seed, too
 * @large: blocks are of 4 to 32 KB, of which a part is written; follows from the seed, too
 * @install: caches read a block before a part of it is written; follows from the seed, too
 * @aimed: there are scenes (scene.c); follows from the seed, too
 * @streamed: disks take block lists, as kmod does; @satf: reads by DDs are served shortest access time first; both only
 *	where there are scenes
 */
struct faults_conf {
	uint32_t iops, disks, cps, files, rounds;
	uint32_t node[FAULTS_DISKS]; /* of each disk */
	uint32_t block, cache, buffers, reactors;
	uint64_t disk_size;
	bool emulated, cscan, small, lax, viewed, counted, locked, spread, ordered, queried,
		scrubbed, cloned, large, install, aimed, streamed, satf;
	uint64_t disk_delay_us, offload_ns;
	uint32_t kinds, most;
	uint64_t gap_ns;
};

/*
 * Model
 */

/**
 * struct faults_set - versions of which a cell has one
 * @any: too many to list: any version ever written
 */
struct faults_set {
	uint16_t v[FAULTS_VALUES];
	uint8_t n;
	bool any;
};

/**
 * struct faults_cell - what is known of a cell
 * @atomic: version of an atomic write of it that may have been decided either way; 0: there is none
 */
struct faults_cell {
	struct faults_set seen;	  /* what a read may find */
	struct faults_set stable; /* what may be there after its I/O processor has lost power */
	uint16_t atomic;
};

/* An epoch that may have been decided either way: for each file the version that it has written; 0: none. */
struct faults_tie {
	uint16_t version[FAULTS_FILES];
};

/* The same for sizes. */
struct faults_sizes {
	uint64_t v[FAULTS_VALUES];
	uint32_t n;
	bool any;
};

enum faults_state { FILE_NONE, FILE_MAYBE, FILE_THERE };

/**
 * struct faults_file - a name, and the file that has it
 * @id: the file that had it last
 * @gen: how many files have had it
 * @version: the last one written; 0 is zeros
 * @state: whether the file @id exists
 * @durable: it will exist after a power cut
 */
struct faults_file {
	char name[16];
	uint64_t id;
	uint32_t gen, version;
	uint32_t cells;
	uint32_t block, ndisks, disk[FAULTS_DISKS], layout;
	enum faults_state state;
	bool durable;
	struct faults_sizes seen, stable;
	struct faults_cell *cell;
};

uint64_t faults_value(const struct faults_file *f, uint32_t index, uint32_t cell, uint32_t version);
/* Notes that a new, empty file @id has the name. */
void faults_file_begin(struct faults_file *f, uint64_t id);
uint32_t faults_file_disk(const struct faults_file *f, uint32_t cell);
/* Notes a write of @version to a cell; @sure: it succeeded; @durable: it was synced, too. */
void faults_cell_wrote(struct faults_cell *cell, uint32_t version, bool sure, bool durable);
/* Notes a power cut: everything that is not stable may be lost. */
void faults_cell_crash(struct faults_cell *cell);
void faults_cell_sync(struct faults_cell *cell);
/* Returns whether a power cut may change it. */
bool faults_cell_unsynced(const struct faults_cell *cell);
/* Return: whether a read of the cell may return @value. */
bool faults_cell_may(const struct faults_file *f, uint32_t index, uint32_t cell, uint64_t value);
/* Return: the cell's versions for messages, as "3 or 5 or zeros". */
const char *faults_cell_text(const struct faults_cell *cell, char *text, size_t len);
/* Notes that the size has become, or without @sure may have become, max(size, @to), or @to with @exact. */
void faults_size_change(struct faults_file *f, uint64_t to, bool exact, bool sure);
bool faults_size_may(const struct faults_sizes *sizes, uint64_t size);
uint64_t faults_size_least(const struct faults_sizes *sizes);
uint64_t faults_size_most(const struct faults_sizes *sizes);

/* It is known how the atomic write of @version was decided. */
void faults_file_decided(struct faults_file *f, uint32_t version, bool there);

/*
 * Rounds
 */

/**
 * struct faults_part - the part of a file that each process has in a round
 */
struct faults_part {
	uint32_t kind;
	struct ddio_array array;
	struct ddio_strided strided[FAULTS_CPS];
	struct ddio_extent list[FAULTS_CPS][16];
	uint32_t nlist[FAULTS_CPS];
};

/* Cells as a view, and its tree. */
struct faults_view {
	struct ddio_tree tree;
	struct ddio_view view;
};

/* One transfer of a round. */
struct faults_xfer {
	uint32_t file;
	bool write[FAULTS_CPS]; /* the same on all but in OP_OWN */
	bool contiguous;	/* OP_OWN: pread, pwrite */
	uint32_t method, flags, outstanding;
	uint32_t version[FAULTS_CPS];
	struct faults_part part;
};

/**
 * struct faults_round - what the processes are to do
 * @actor: the process that does what only one does
 * @size: OP_SIZE, OP_MIX: the new size; OP_PAUSE: nanoseconds
 * @remove: OP_MIX: the file is removed, not cut
 * @give_up: OP_EPOCH: the epoch is given up in the end
 * @own: OP_MIX: the others write by themselves, not collectively
 * @delay: OP_MIX: how long each process waits before it begins
 */
struct faults_round {
	enum faults_op op;
	uint32_t number, actor, file, nxfer;
	uint64_t size;
	bool strict; /* nothing is broken: it must succeed */
	bool fresh;  /* OP_FORM: with new sessions */
	bool remove, own, give_up;
	uint64_t delay[FAULTS_CPS];
	struct faults_xfer x[FAULTS_XFERS];
};

/**
 * struct faults_call - one call of a process in a round
 */
struct faults_call {
	bool made;
	const char *what;
	int ret;
	uint64_t began, ended;
	char text[256];
};

/**
 * struct faults_due - what a process has done to a file and not synced, which its next sync answers for
 * @disks: bit mask of those that it has written to; @names: it has changed the name or the size
 * @lost: the round in which some of it may have been lost; 0: none
 * @lost_ns: when a flush has failed that should have kept it; 0: none has
 */
struct faults_due {
	uint32_t disks;
	bool names;
	uint32_t lost;
	uint64_t lost_ns;
};

/**
 * struct faults_found - what a process was told of the cells that are not zeros
 * @there: something was; @all: of all of them that the file has
 * @records: cells that the file had; @n of them in @index and @buf
 */
struct faults_found {
	bool there, all;
	uint64_t records, n;
	uint64_t *index, *buf;
};

/**
 * struct faults_cp - a compute process
 * @dead: it was killed; its successor is another program
 * @call: its calls in this round
 * @cells, @buf: for each transfer of the round
 * @end_least, @end_most: for each: between them lies the size at which a read was cut
 */
struct faults_cp {
	struct faults *f;
	uint32_t rank, life;
	bool dead, was_dead;
	void *proc; /* world.c */
	struct ddio_session *session;
	struct ddio_group *group;
	struct ddio_group_counter *counter;
	struct ddio_file *file[FAULTS_FILES];
	uint64_t id[FAULTS_FILES];
	struct faults_call call[FAULTS_FILES * 2 + 3];
	uint32_t ncalls;
	uint64_t in_call; /* start of the current call; 0: none */
	const char *what;
	uint64_t problems; /* found by fsck */
	char problem[256];
	uint32_t *cells[FAULTS_XFERS];
	uint32_t ncells[FAULTS_XFERS];
	uint64_t *buf[FAULTS_XFERS];
	struct faults_view view[FAULTS_XFERS];
	uint64_t end_least[FAULTS_XFERS], end_most[FAULTS_XFERS];
	struct faults_found found;
	bool cloned;   /* @size and cells are those of a clone */
	uint64_t size; /* as fstat says */
	struct faults_due due[FAULTS_FILES];
};

/**
 * struct faults_count - the counter of a group, to which each member adds 1 now and then
 * @asked: how often anybody has added; @seen: which values were told, @told in all
 */
struct faults_count {
	uint32_t asked, told;
	bool seen[FAULTS_COUNTS];
};

/**
 * struct faults_scene - a few rounds that are made for one kind of mistake
 * @at: its next step; NULL: there is none
 * @file: that it is about; @other: another one, or the same; @disk: of @file
 * @waited: how often it has waited for I/O processors
 */
struct faults_scene {
	const uint8_t *at;
	uint32_t file, other, disk, waited;
};

struct faults_world;
struct mounts;

/**
 * struct faults - one run
 * @now: the world's time, for messages; NULL before there is a world
 * @losses: how often each disk may have lost what was not flushed
 * @forgot: a flush has failed on some disk
 * @cp_faults: how often members of a group may have lost each other
 */
struct faults {
	struct faults_spec spec;
	struct faults_conf conf;
	struct faults_result *result;
	uint64_t rng, fate_rng;
	struct faults_world *world;
	struct mounts *mounts; /* mounts.h; NULL: there are none */
	uint64_t (*now)(const struct faults *f);
	struct faults_cp cp[FAULTS_CPS];
	struct faults_file file[FAULTS_FILES];
	struct faults_round round;
	uint32_t rounds, arrived, group, stage, step;
	struct faults_count count;
	struct faults_tie tie[FAULTS_TIES];
	uint32_t nties;
	const struct faults_cp *inside; /* has the lock that excludes all others */
	bool formed, reform, paused, orphaned, healed, planted, forgot;
	uint32_t losses[FAULTS_DISKS], losses_before[FAULTS_DISKS];
	uint32_t written[FAULTS_DISKS],
		ns_written; /* the round in which an orderly stop wrote all */
	uint32_t ns_losses, ns_losses_before;
	bool shaky[FAULTS_DISKS], records_bad[FAULTS_IOPS];
	struct faults_scene scene;
	uint32_t power_lose; /* see faults_fate_power_in() */
	uint32_t cp_faults, cp_faults_before;
	bool cp_bad[FAULTS_CPS];	 /* its network is bad now */
	uint64_t cp_late_ns[FAULTS_CPS]; /* how late its messages may have come, so far */
	uint64_t *kept[FAULTS_FILES];	 /* what was read before the last power cut */
	uint64_t kept_size[FAULTS_FILES];
	bool kept_all[FAULTS_FILES];
	uint64_t ids[FAULTS_IDS]; /* of all files that ever existed */
	uint32_t nids;
};

/* plan.c */
void faults_conf_make(struct faults *f);
void faults_round_plan(struct faults *f);
bool faults_all_up(const struct faults *f);
/* Draws an independent transfer, and a collective one. */
void faults_plan_own(struct faults *f, struct faults_xfer *x, uint32_t file);
void faults_plan_coll(struct faults *f, struct faults_xfer *x, uint32_t file);
/* part.c: draws a part of @cells cells from @first on; and lists the cells of a process. */
void faults_part_make(struct faults *f, struct faults_part *part, uint32_t first, uint32_t cells,
		      bool write);
void faults_part_lists(struct faults *f, struct faults_part *part, uint32_t first, uint32_t cells);
/* Draws pieces for each process, of which some overlap, at most 8 of a quarter of the cells. */
void faults_part_overlap(struct faults *f, struct faults_part *part, uint32_t first,
			 uint32_t cells);
/* Fills @cells, which has room for FAULTS_TWICE times the cells of a file.  Return: how many. */
uint32_t faults_part_cells(const struct faults_part *part, uint32_t rank, uint32_t *cells);
/* view.c: describes the cells, in their order; frees what was described before. */
void faults_view_make(struct faults_view *view, const uint32_t *cells, uint32_t n);
void faults_view_free(struct faults_view *view);
/* cp.c */
void faults_cp_round(struct faults_cp *cp);
void faults_cp_end(struct faults_cp *cp);
/* round.c: the round is over: checks it, and plans the next one. */
void faults_round_end(struct faults *f);
void faults_round_free(struct faults *f);
/* loss.c: a disk, or the name server, may have lost what was not flushed. */
void faults_disk_lost(struct faults *f, uint32_t disk);
void faults_names_lost(struct faults *f);
/* An I/O processor dies: what was due of it is lost, as far as the model does not know better; before the two above. */
void faults_dues_lost(struct faults *f, uint32_t iop);
/* An I/O processor is stopped in order: what was due of its disks that do not fail is written, and no more due. */
void faults_dues_kept(struct faults *f, uint32_t iop);
/* A flush of the disk has failed: the same for it. */
void faults_dues_forgot(struct faults *f, uint32_t disk);
/* Process @rank has written cell @cell of file @i, or changed its name or size, and was told so. */
void faults_due_cell(struct faults *f, uint32_t rank, uint32_t i, uint32_t cell);
void faults_due_names(struct faults *f, uint32_t rank, uint32_t i);
/* Process @rank has nothing of file @i due any more. */
void faults_due_forget(struct faults *f, uint32_t rank, uint32_t i);
/* Process @rank has synced file @i. */
void faults_due_synced(struct faults *f, uint32_t rank, uint32_t i, const struct faults_call *call);
/* story.c: the round that is over, in words. */
void faults_tell(const struct faults *f);
/* fate.c */
void faults_fate_begin(struct faults *f);
/* Counts a fault.  Returns whether it is left out. */
bool faults_left_out(struct faults *f);
void faults_fate_heal(struct faults *f);
/* Cuts the power of all I/O processors that are up, which come back; of 1000 unflushed sectors each loses @lose. */
void faults_fate_power(struct faults *f, uint32_t lose);
/* The same after @ns. */
void faults_fate_power_in(struct faults *f, uint64_t ns, uint32_t lose);
/* The next @n requests of @ops (enum faults_disk_ops) fail on the disk. */
void faults_fate_disk(struct faults *f, uint32_t disk, uint32_t n, uint32_t ops);
/* Commits of the I/O processor's records fail. */
void faults_fate_records(struct faults *f, uint32_t iop);
/* Ends what the two above have begun. */
void faults_fate_good(struct faults *f);
/* scene.c: what is special about the cluster; plans the next round of a scene.  Returns false if there is none. */
void faults_scene_conf(struct faults *f);
bool faults_scene_plan(struct faults *f);

/* Notes a violated invariant; the first one is kept. */
void faults_violated(struct faults *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void faults_say(struct faults *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline uint64_t faults_pick(uint64_t *rng, uint64_t min, uint64_t max)
{
	return min + ddio_rand_below(rng, max - min + 1);
}

static inline bool faults_chance(uint64_t *rng, uint32_t percent)
{
	return ddio_rand_below(rng, 100) < percent;
}

/* Return: a random number of any magnitude up to @max. */
static inline uint64_t faults_scale(uint64_t *rng, uint64_t min, uint64_t max)
{
	uint64_t top = min;

	while (top < max && ddio_rand_below(rng, 8))
		top = top * 3 + 1;
	return faults_pick(rng, min, top < max ? top : max);
}

/*
 * world.c
 */
int faults_world_new(struct faults *f);
/**
 * struct faults_script - what the world's compute processes do
 * @round: one round of a process
 * @end: a process ends
 * @all_met: all processes have met: the round before is over, the next one is to be planned
 * @dies: a process is about to be killed; returns whether it can be; or NULL
 */
struct faults_script {
	void (*round)(struct faults_cp *cp);
	void (*end)(struct faults_cp *cp);
	void (*all_met)(struct faults *f);
	bool (*dies)(struct faults_cp *cp);
};
/* Runs all rounds.  Return: 0 or -errno */
int faults_world_run(struct faults *f, const struct faults_script *script);
void faults_world_free(struct faults *f);
uint64_t faults_now(const struct faults *f);
struct ddio_env *faults_env(const struct faults_cp *cp);
int faults_connect(struct faults_cp *cp);
void faults_sleep(struct faults_cp *cp, uint64_t ns);
/* Calls @fn after @ns; there is one timer for each @slot. */
void faults_after(struct faults *f, uint32_t slot, uint64_t ns,
		  void (*fn)(struct faults *f, uint32_t slot));
bool faults_iop_up(const struct faults *f, uint32_t iop);
void faults_iop_crash(struct faults *f, uint32_t iop, uint32_t lose);
/* Copies the records of an I/O processor: one level of directories, without lock files. */
int faults_copy_records(const char *from, const char *to);
void faults_iop_stop(struct faults *f, uint32_t iop);
/* Return: 0, or -errno with a text in @err. */
int faults_iop_start(struct faults *f, uint32_t iop, char *err, size_t err_len);
/* Returns false if the process cannot be killed now. */
bool faults_cp_kill(struct faults *f, uint32_t rank);
/* Processes: I/O processors first, then compute processes. */
enum faults_net { NET_GOOD, NET_BREAK, NET_CUT, NET_STALL, NET_SLOW };
void faults_net(struct faults *f, uint32_t proc, enum faults_net what, uint64_t arg);
/* Whether commits of an I/O processor's records fail. */
void faults_records(struct faults *f, uint32_t iop, bool bad);
enum faults_disk_ops { FAULTS_READS = 1, FAULTS_WRITES = 2, FAULTS_FLUSHES = 4 };

/**
 * struct faults_disk - the faults of a disk
 * @bad_next: so many of the next requests fail; @bad_ops: of these kinds, as bits; 0: of all
 */
struct faults_disk {
	uint64_t delay_ns, jitter_ns, bad_first, bad_end;
	uint32_t bad_next, bad_ops;
};
void faults_disk(struct faults *f, uint32_t disk, const struct faults_disk *how);
/* Returns true once after a flush has failed: the disk takes no more writes until its node has restarted. */
bool faults_disk_stopped(struct faults *f, uint32_t disk);

#endif /* TOOLS_FAULTS_RUN_H */
