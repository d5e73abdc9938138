// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How the members of a group agree at the start and at the end of a transfer.
 *
 * At the start every member says what it is about to do; an array must be the
 * same on every member, other descriptions are gathered.  Rank 0 asks for the
 * file's size, checks the whole against it, and starts the transfer.  At the
 * end every member says how it went; rank 0 extends the file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cp/coll/agree.h"
#include "cp/coll/carry.h"
#include "cp/coll/op.h"
#include "cp/coll/starts.h"
#include "cp/group/fan/fan.h"

/* Bytes: of what is always there; of the number of an atomic write's epoch; of a claim. */
enum { VERDICT = 24, EPOCH = 8, CLAIM = 20 };

/* Where it names the operation's number: this, which no file's size is, and the number come first. */
#define NAMED (UINT64_MAX - 1)
enum { NAME = 16 };

/* Families that are told in so many times fewer entries than their members have are not spread. */
#define SPREAD_SAVES 4

/* Bounds the claims, so that the message has room for the rest. */
#define VERDICT_MAX (DDIO_MAX_PAYLOAD / 2)

/*
 * All members' descriptions
 */
/* Returns true if members are worth spreading: as families they would be told once, and not by each. */
static bool crowd_differs(const struct ddio_crowd *crowd)
{
	uint64_t entries = 0;
	uint32_t k;

	for (k = 0; k < crowd->n; k++)
		entries += crowd->kin[k].part->n;
	return crowd->n > 1 && entries > crowd->entries / SPREAD_SAVES;
}

/* Returns the bytes of the descriptions, without what is carried with them. */
static ssize_t crowd_length(const struct ddio_crowd *crowd)
{
	struct ddio_crowd only = *crowd;

	only.carries = false;
	only.ncarried = 0;
	return ddio_put_crowd(NULL, 0, &only);
}

/* Has the members spread descriptions that are longer than @most.  Return: 0 or a negative errno. */
static int crowd_shorten(struct ddio_crowd *crowd, uint64_t most)
{
	ssize_t n = crowd_length(crowd);

	if (n > (ssize_t)most && crowd->spread & DDIO_CROWD_MAY && crowd->hi &&
	    crowd_differs(crowd))
		ddio_crowd_spread(crowd);
	return n < 0 ? (int)n : 0;
}

void *agreement_join(struct ddio_group *group, const void *gathered, size_t len, size_t *joined)
{
	struct ddio_crowd crowd;
	ssize_t n = -EINVAL;
	void *buf = NULL;

	if (!ddio_crowd_join(gathered, len, &crowd) &&
	    !crowd_shorten(&crowd, group->session->transfers->spread_min)) {
		carry_pass(&crowd);
		n = ddio_put_crowd(NULL, 0, &crowd);
	}
	/* What is wrong with them is for rank 0 to say. */
	if (n > 0)
		buf = malloc((size_t)n);
	if (buf) {
		ddio_put_crowd(buf, (size_t)n, &crowd);
		*joined = (size_t)n;
	}
	ddio_crowd_free(&crowd);
	return buf;
}

/* Makes the map of all shares from the crowd, which has come with @err. */
static int whole_make(struct ddio_op *op, int err, struct error *error)
{
	const struct ddio_crowd *crowd = &op->crowd;
	const char *why = NULL;
	char what[DDIO_MAX_TEXT];
	uint32_t rules = 0;

	if (!err && (crowd->first || crowd->nmembers != op->nprocs))
		err = -EPROTO;
	if (err) {
		error_set(error, err, "the members' descriptions: %s",
			  err == -E2BIG ? "they have too many entries together" : strerror(-err));
		return err;
	}
	if (op->flags & DDIO_XFER_OVERLAP)
		rules = op->writing ? MAP_TWICE | MAP_LOWEST : MAP_TWICE;
	err = ddio_map_new_kin(crowd->kin, crowd->n, op->nprocs, rules, &op->whole, &why);
	if (err) {
		op_describe(op, what);
		error_set(error, err, "%.300s: %s", what, why ? why : strerror(-err));
	}
	return err;
}

/* What is sent to all nodes may be so many times longer than what is sent to rank 0. */
#define SPREAD_ALL 4

/* Reads what was gathered at rank 0, and has it spread where it is long. */
static int crowd_gather(struct ddio_op *op)
{
	struct ddio_crowd *crowd = &op->crowd;
	size_t len;
	const void *data = fan_gathered_all(op->fan, &len);
	int err = ddio_crowd_join(data, len, crowd);

	if (err)
		return err;
	/* Where some do, what comes of it is paid for. */
	crowd_shorten(crowd, op->session->transfers->spread_min *
				     (crowd->spread & DDIO_CROWD_SPREAD ? 1 : SPREAD_ALL));
	crowd->spread &= DDIO_CROWD_SPREAD;
	if (!crowd->spread)
		crowd->lo = crowd->hi = 0;
	return 0;
}

/* Makes the map of all shares at rank 0, from what was gathered. */
static int whole_gather(struct ddio_op *op, struct error *error)
{
	if (op->part_kind == DDIO_PART_ARRAY)
		op->whole = op->map;
	if (op->whole)
		return 0;
	if (!op->gathered)
		op->gather_err = crowd_gather(op);
	return whole_make(op, op->gather_err, error);
}

/*
 * Reads what was gathered, if it may carry the data: then it is not much, and others need not wait for it.  Returns true if the
 * transfer is small.
 */
static bool start_is_small(struct ddio_op *op)
{
	const struct ddio_crowd *crowd = &op->crowd;
	struct error error;

	if (!op->carried)
		return false;
	op->gathered = true;
	op->gather_err = crowd_gather(op);
	error_clear(&error);
	return !op->gather_err && crowd->carries && !(crowd->spread & DDIO_CROWD_SPREAD) &&
	       !whole_make(op, 0, &error) && carry_fits(op);
}

/* Sets the bounds of what anybody wants, from the map of all shares and what members spread. */
static void bounds_find(struct ddio_op *op)
{
	const struct ddio_crowd *crowd = &op->crowd;

	ddio_map_bounds(op->whole, &op->lo, &op->hi);
	if (!crowd->hi)
		return;
	if (op->lo == op->hi || crowd->lo < op->lo)
		op->lo = crowd->lo;
	if (crowd->hi > op->hi)
		op->hi = crowd->hi;
	if (op->clipped && op->hi > op->file_size)
		op->hi = op->file_size;
	if (op->lo >= op->hi)
		op->lo = op->hi = 0;
}

void agreement_clip(struct ddio_op *op)
{
	if (op->writing || !(op->flags & DDIO_XFER_SHORT))
		return;
	if (op->whole) {
		bounds_find(op);
		op->clipped |= op->hi > op->file_size;
		ddio_map_clip(op->whole, op->file_size);
	}
	ddio_map_clip(op->map, op->file_size);
}

/*
 * What comes with the verdict: the file's size, the first byte that is wanted, where the last one ends; of a write
 * that may overlap, the claims; and for 2P the descriptions
 */
static bool verdict_has_parts(const struct ddio_op *op)
{
	return op->method == DDIO_METHOD_2P && op->part_kind != DDIO_PART_ARRAY;
}

bool op_yields(const struct ddio_op *op)
{
	return op->writing && op->flags & DDIO_XFER_OVERLAP && op->part_kind != DDIO_PART_ARRAY;
}

static size_t epoch_len(const struct ddio_op *op)
{
	return op_is_atomic(op) ? EPOCH : 0;
}

static size_t claims_len(const struct ddio_op *op)
{
	return op_yields(op) ? 8 + CLAIM * (size_t)ddio_map_claims(op->whole) : 0;
}

/* Their number, and of each the first byte, length and rank.  Returns where they end. */
static uint8_t *claims_put(const struct ddio_op *op, uint8_t *p)
{
	uint64_t n, i;

	if (!op_yields(op))
		return p;
	n = ddio_map_claims(op->whole);
	bytes_put64(p, n);
	for (i = 0, p += 8; i < n; i++, p += CLAIM) {
		struct ddio_map_claim claim = ddio_map_claim(op->whole, i);

		bytes_put64(p, claim.off);
		bytes_put64(p + 8, claim.len);
		bytes_put32(p + 16, claim.proc);
	}
	return p;
}

/* Takes from this process's map what lower ranks write.  Returns the bytes used, or a negative errno. */
static ssize_t claims_get(struct ddio_op *op, const uint8_t *data, size_t len)
{
	struct ddio_map_claim *claim;
	uint64_t n, i;
	int err;

	if (!op_yields(op))
		return 0;
	n = len < 8 ? UINT64_MAX : bytes_get64(data);
	if (n > (len - 8) / CLAIM)
		return -EPROTO;
	claim = calloc(n + 1, sizeof(*claim));
	if (!claim)
		return -ENOMEM;
	for (i = 0, data += 8; i < n; i++, data += CLAIM)
		claim[i] = (struct ddio_map_claim){ bytes_get64(data), bytes_get64(data + 8),
						    bytes_get32(data + 16) };
	err = ddio_map_yield(op->map, op->rank, claim, n);
	free(claim);
	return err ? err : (ssize_t)(8 + CLAIM * n);
}

static uint8_t *name_put(const struct ddio_op *op, uint8_t *p)
{
	bytes_put64(p, NAMED);
	bytes_put64(p + 8, op->number);
	return p + NAME;
}

static bool verdict_names(const struct ddio_op *op)
{
	return op_is_dd(op) && start_names(op);
}

static uint8_t *verdict_put(struct ddio_op *op, size_t *len)
{
	bool names = verdict_names(op);
	uint8_t *buf, *p;

	*len = (names ? NAME : 0) + VERDICT + epoch_len(op) + claims_len(op);
	if (verdict_has_parts(op))
		*len += (size_t)ddio_put_crowd(NULL, 0, &op->crowd);
	buf = malloc(*len);
	if (!buf)
		return NULL;
	p = names ? name_put(op, buf) : buf;
	bytes_put64(p, op->file_size);
	bytes_put64(p + 8, op->lo);
	bytes_put64(p + 16, op->hi);
	if (op_is_atomic(op))
		bytes_put64(p + VERDICT, op->epoch.number);
	p = claims_put(op, p + VERDICT + epoch_len(op));
	if (verdict_has_parts(op))
		ddio_put_crowd(p, *len - (size_t)(p - buf), &op->crowd);
	return buf;
}

/* Returns the bytes in which it names the operation's number, which is @number then, else 0. */
static size_t name_get(const uint8_t *data, size_t len, uint64_t *number)
{
	if (len < NAME || bytes_get64(data) != NAMED)
		return 0;
	*number = bytes_get64(data + 8);
	return NAME;
}

static int verdict_get(struct ddio_op *op, const uint8_t *data, size_t len, struct error *error)
{
	ssize_t claims;
	int err;

	if (len < VERDICT + epoch_len(op) || carry_mark(data, len)) {
		error_set(error, -EPROTO, "malformed verdict from rank 0");
		return -EPROTO;
	}
	op->file_size = bytes_get64(data);
	op->lo = bytes_get64(data + 8);
	op->hi = bytes_get64(data + 16);
	if (op->part_kind == DDIO_PART_ARRAY)
		op->whole = op->map;
	agreement_clip(op);
	if (op->whole)
		bounds_find(op);
	if (op_is_atomic(op))
		op->epoch_number = bytes_get64(data + VERDICT);
	data += VERDICT + epoch_len(op);
	len -= VERDICT + epoch_len(op);
	claims = claims_get(op, data, len);
	if (claims < 0) {
		error_set(error, (int)claims, "what several members write: %s",
			  strerror((int)-claims));
		return (int)claims;
	}
	if (!verdict_has_parts(op) || op->whole)
		return 0;
	data += claims;
	len -= (size_t)claims;
	err = whole_make(op, ddio_get_crowd(data, len, &op->crowd), error);
	if (err)
		return err;
	agreement_clip(op);
	bounds_find(op);
	return 0;
}

/*
 * Rank 0 at the start
 */
int agreement_check(struct ddio_op *op, struct error *error)
{
	const char *name = op->file->rec.name;
	uint32_t first, second;
	uint64_t at;

	agreement_clip(op);
	bounds_find(op);
	if (op->hi > DDIO_MAX_FILE)
		error_status(error, DDIO_ST_RANGE, "%s: byte %llu is beyond the largest file", name,
			     (unsigned long long)op->hi);
	else if (!op->writing && op->hi > op->file_size)
		error_status(error, DDIO_ST_NO_DATA,
			     "read of %s reaches to byte %llu, but the file ends at %llu", name,
			     (unsigned long long)op->hi, (unsigned long long)op->file_size);
	else if (op->writing && op->part_kind != DDIO_PART_ARRAY &&
		 ddio_map_check_overlap(op->whole, &at, &first, &second))
		error_status(error, DDIO_ST_OVERLAP,
			     "write of %s: ranks %u and %u both write byte %llu", name, first,
			     second, (unsigned long long)at);
	return error->err;
}

void start_decide(struct ddio_op *op)
{
	struct error error = op->sized_error;
	uint8_t *data = NULL;
	size_t len = 0;

	op->sized = false;
	if (!error.status && op_is_dd(op))
		(void)start_may(op, &error);
	if (!error.status && !whole_gather(op, &error) && !agreement_check(op, &error)) {
		if (op_is_dd(op))
			start_take(op);
		data = verdict_put(op, &len);
		if (len > VERDICT_MAX)
			error_set(&error, -E2BIG,
				  "write of %s: its parts overlap in too many places",
				  op->file->rec.name);
		else if (!data)
			error_set(&error, -ENOMEM, "out of memory");
		else if (op->m->launch)
			op->m->launch(op, &error);
	}
	fan_release(op->fan, &error, data, len);
	free(data);
}

/* The size is known, and the epoch of an atomic write open; or what @error says. */
static void start_checked(struct ddio_op *op, uint64_t size, struct error error)
{
	struct ddio_group *group = op->group;

	if (!op_unrooted(op))
		return;
	op->file_size = size;
	op->epoch_number = op->epoch.number;
	op->sized_error = error;
	op->sized = true;
	start_ready(op);
	group->refs++;
	starts_decide(group);
	group_put(group);
}

static void start_sized(struct size_job *job)
{
	start_checked(job->arg, job->size, job->error);
}

static void start_epoch(struct epoch_job *job)
{
	start_checked(job->arg, job->size, job->error);
}

/* What is to be durable must be written to nodes whose incarnations are known. */
static void start_known(struct request_set *set)
{
	struct ddio_op *op = set->arg;

	incarnations_note(op->file);
	if (!set->error.status && op->fan)
		size_ask(&op->size);
	else
		start_checked(op, 0, set->error);
}

/* Those after it need not wait for it, since no node takes it for the group's. */
static bool start_adopted(struct ddio_op *op, struct fan *fan)
{
	const struct mover *small = op->session->transfers->methods[DDIO_METHOD_SMALL];
	struct ddio_group *group = op->group;

	group->refs++;
	if (start_is_small(op) && small->adopt(op, fan)) {
		starts_decide(group);
		group_put(group);
		return true;
	}
	group_put(group);
	/* What was given is of no use. */
	op->carried = op->crowd.carries = false;
	op->crowd.ncarried = 0;
	return false;
}

static void start_root(void *arg, struct fan *fan)
{
	struct ddio_op *op = arg;

	op->fan = fan;
	op->rooted = true;
	if (start_adopted(op, fan))
		return;
	op->size = (struct size_job){ .file = op->file, .done = start_sized, .arg = op };
	op->epoch = (struct epoch_job){ .file = op->file, .done = start_epoch, .arg = op };
	if (op_is_atomic(op))
		epoch_begin(&op->epoch);
	else if (op->writing && op->flags & DDIO_XFER_SYNC)
		incarnations_ask(&op->set, op->file, start_known, op);
	else
		size_ask(&op->size);
}

/* Returns true if the verdict is all that there is of the transfer, whose data have come with it. */
static bool start_settled(struct ddio_op *op, const struct error *error, const void *data,
			  size_t len)
{
	const struct mover *small = op->session->transfers->methods[DDIO_METHOD_SMALL];
	size_t mark = error->status || !op->carried ? 0 : carry_mark(data, len);
	struct ddio_group *group = op->group;

	if (!mark && op->m != small)
		return false;
	group->refs++;
	if (op->m != small)
		small->adopt(op, NULL);
	small->told(op, error, (const uint8_t *)data + mark, len - mark);
	starts_decide(group);
	group_put(group);
	return true;
}

static void start_agreed(void *arg, const struct error *error, const void *data, size_t len)
{
	struct ddio_op *op = arg;
	struct ddio_group *group = op->group;
	size_t name = 0;
	uint64_t number = 0;
	struct error mine;

	start_decided(op);
	carry_learn(op, error, data, len);
	if (start_settled(op, error, data, len))
		return;
	error_clear(&mine);
	op->steps++;
	if (error->status && op_is_dd(op))
		start_failed(op);
	if (!error->status && op_is_dd(op)) {
		name = name_get(data, len, &number);
		start_told(op, number);
	}
	/* A member that cannot follow fails in the transfer, where the others notice. */
	if (!error->status && verdict_get(op, (const uint8_t *)data + name, len - name, &mine))
		op->failed = mine;
	group->refs++;
	op_agreed(op, error);
	starts_decide(group);
	group_put(group);
}

uint8_t *agreement_compare(const struct ddio_op *op, size_t *len)
{
	bool array = op->part_kind == DDIO_PART_ARRAY;
	struct agree agree = { .writing = op->writing,
			       .method = op->method,
			       /* Members may differ in these. */
			       .flags = op->flags & ~(DDIO_XFER_NO_SCATTER | DDIO_XFER_IN_TURN),
			       .part = op->part_kind,
			       .file = op->file->rec.ref.id,
			       .array = array ? op->part : NULL,
			       .array_len = array ? op->part_len : 0 };
	uint8_t *compare;

	*len = (size_t)agree_put(NULL, 0, &agree);
	compare = malloc(*len);
	if (compare)
		agree_put(compare, *len, &agree);
	return compare;
}

void agreement_begin(struct ddio_op *op)
{
	bool array = op->part_kind == DDIO_PART_ARRAY;
	struct fan_in in = { .kind = FAN_KIND_START,
			     .gather = array ? NULL : op->part,
			     .gather_len = array ? 0 : op->part_len,
			     .error = &op->failed,
			     .root = start_root,
			     .done = start_agreed,
			     .arg = op };
	uint8_t *compare, *carrying;
	size_t carrying_len;

	/* What is atomic is durable at its end, whichever incarnation has it then. */
	if (op->writing && !op_is_atomic(op))
		incarnations_begin(op->file);
	compare = agreement_compare(op, &in.compare_len);
	if (!compare && !op->failed.status)
		error_set(&op->failed, -ENOMEM, "out of memory");
	in.compare = compare;
	carrying = carry_put(op, &carrying_len);
	if (carrying) {
		in.gather = carrying;
		in.gather_len = carrying_len;
	}
	fan_begin(op->group, op->turn.number, STEP_FIRST, &in);
	free(carrying);
	free(compare);
}

/*
 * Rank 0 at the end
 */
/* The verdict at the end: the file's size, and what the transfer took. */
enum { END_SIZE = 8 };

static void end_release(struct ddio_op *op, const struct error *error)
{
	uint8_t data[END_SIZE + TALLY_LEN];
	size_t len = END_SIZE, gathered_len;
	const void *gathered = fan_gathered_all(op->fan, &gathered_len);

	bytes_put64(data, op->file->rec.size);
	if (gathered_len && tally_sum(&op->tally, gathered, gathered_len)) {
		tally_put(&op->tally, data + len);
		len += TALLY_LEN;
	}
	fan_release(op->fan, error, data, len);
}

static void end_synced(struct request_set *set)
{
	struct ddio_op *op = set->arg;

	incarnations_check(op->file, &set->error);
	if (op_unrooted(op))
		end_release(op, &set->error);
}

static void end_extended(struct size_job *job)
{
	struct ddio_op *op = job->arg;

	if (!job->error.status && op->fan && op->flags & DDIO_XFER_SYNC) {
		file_sync_begin(&op->set, op->file, end_synced, op);
		return;
	}
	if (op_unrooted(op))
		end_release(op, &job->error);
}

/* Says what the name space has said of the decision. */
static void end_decided(struct epoch_job *job)
{
	struct ddio_op *op = job->arg;
	struct error error = job->error;

	if (!op_unrooted(op))
		return;
	if (job->unknown)
		error_status(
			&error, job->error.status,
			"write of %.100s: it may or may not be in the file, as a whole: %.300s",
			op->file->rec.name, job->error.text);
	end_release(op, &error);
}

/* What belongs to an epoch of several files is decided with those. */
static void end_keep(struct ddio_op *op)
{
	struct error error;

	error_clear(&error);
	if (!epochs_keep(op->group, op->within, &op->epoch))
		error_status(&error, DDIO_ST_CANCELLED, "write of %.200s: its epoch was given up",
			     op->file->rec.name);
	end_release(op, &error);
}

static void end_decide(struct ddio_op *op)
{
	op->epoch.size = op->hi;
	if (op->within) {
		end_keep(op);
		return;
	}
	op->rooted = true;
	op->epoch.done = end_decided;
	epoch_commit(&op->epoch);
}

static void end_root(void *arg, struct fan *fan)
{
	struct ddio_op *op = arg;
	struct error none;

	op->fan = fan;
	if (!op->writing || !op->hi) {
		error_clear(&none);
		end_release(op, &none);
		return;
	}
	if (op_is_atomic(op)) {
		end_decide(op);
		return;
	}
	op->rooted = true;
	op->size = (struct size_job){
		.file = op->file, .size = op->hi, .done = end_extended, .arg = op
	};
	size_extend(&op->size);
}

static void end_agreed(void *arg, const struct error *error, const void *data, size_t len)
{
	struct ddio_op *op = arg;

	op->steps++;
	if (!error->status && len >= END_SIZE)
		op->file->rec.size = bytes_get64(data);
	if (!error->status && len == END_SIZE + TALLY_LEN) {
		tally_get(&op->tally, (const uint8_t *)data + END_SIZE);
		tally_report(&op->tally, &op->report);
	}
	op_ended(op, error);
}

void end_begin(struct ddio_op *op)
{
	uint8_t tally[TALLY_LEN];
	const struct fan_in in = { .kind = FAN_KIND_END,
				   .gather = tally,
				   .gather_len = tally_any(&op->tally) ? TALLY_LEN : 0,
				   .error = &op->failed,
				   .root = end_root,
				   .done = end_agreed,
				   .arg = op };

	tally_put(&op->tally, tally);
	if (op->writing && !op_is_atomic(op))
		incarnations_note(op->file);
	fan_begin(op->group, op->turn.number, STEP_LAST, &in);
}
