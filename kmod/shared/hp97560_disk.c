// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * What an HP 97560 does with a command.
 *
 * The drive's state is one pass over consecutive sectors.  While READING, [buffered, next)
 * is the read buffer and the pass goes on to its limit by itself (the model's
 * read-ahead).  While WRITING, [next, limit) has not reached the media yet; when it
 * gets there is settled as soon as the data are in the buffer, because whatever
 * comes next has to wait for it.
 */
#include "hp97560_priv.h"

/* A command on its way through the drive. */
struct drive_command {
	struct hp97560_disk *d;
	struct hp97560_result *r;
	u64 lba;
	u64 end;	/* one past its last sector */
	u64 decoded_ns; /* when the controller has understood it */
	u64 bus_end_ns; /* end of its last transfer over the bus */
};

static u64 later(u64 a, u64 b)
{
	return a > b ? a : b;
}

static u64 earlier(u64 a, u64 b)
{
	return a < b ? a : b;
}

void hp97560_init(struct hp97560_disk *d, const struct hp97560_params *p, struct hp97560_bus *bus)
{
	memset(d, 0, sizeof(*d));
	d->params = *p;
	d->capacity = hp97560_capacity(p);
	d->bus = bus ? bus : &d->own_bus;
}

/*
 * Finds the track that the arm is over at @ns, to which the pass has advanced: until
 * the first sector of a new track passes, the arm counts as over the one before.
 */
static void arm_place(const struct hp97560_disk *d, const struct hp97560_pass *s, u64 ns,
		      struct hp97560_chs *chs)
{
	bool waits = s->next == s->limit || hp97560_slot_ns(&d->params, s->slot) > ns;

	*chs = (struct hp97560_chs){ 0 };
	if (d->activity != HP97560_IDLE)
		hp97560_chs_of(&d->params, waits ? s->next - 1 : s->next, chs);
}

static u64 arm_move_ns(const struct hp97560_disk *d, const struct hp97560_pass *s, u64 ns, u64 lba)
{
	struct hp97560_chs from, to;

	arm_place(d, s, ns, &from);
	if (hp97560_chs_of(&d->params, lba, &to))
		return 0;
	return hp97560_move_ns(&d->params, &from, &to);
}

/* Returns when all that was written so far is on the media. */
static u64 clean_ns(const struct hp97560_disk *d)
{
	if (d->activity != HP97560_WRITING)
		return 0;
	return hp97560_pass_ns(&d->params, &d->pass, d->pass.limit);
}

/* Returns when the arm is free for a command, which may have to wait for dirty data. */
static u64 arm_free_ns(struct drive_command *c)
{
	u64 clean = clean_ns(c->d);

	if (clean <= c->decoded_ns)
		return c->decoded_ns;
	c->r->flags |= HP97560_DIRTY_WAIT;
	c->d->stats.dirty_waits++;
	c->d->stats.dirty_wait_ns += clean - c->decoded_ns;
	hp97560_pass_advance(&c->d->params, &c->d->pass, clean);
	return clean;
}

/* Returns the read buffer's first sector: the buffer holds the latest ones. */
static u64 buffer_first(const struct hp97560_disk *d, const struct hp97560_pass *s)
{
	u64 room = d->params.buffer_sectors;

	return s->next > room ? later(d->buffered, s->next - room) : d->buffered;
}

static bool buffer_holds(const struct hp97560_disk *d, const struct hp97560_pass *s, u64 lba)
{
	return d->activity == HP97560_READING && lba >= buffer_first(d, s) && lba <= s->next;
}

/* Begins a pass with a command's first sector, once the arm is there. */
static void pass_begin(struct drive_command *c, u64 start_ns, u64 move_ns, u64 data_ns)
{
	struct hp97560_disk *d = c->d;
	u64 there = start_ns + move_ns;
	u64 slot = hp97560_slot_of(&d->params, c->lba, later(there, data_ns));
	u64 rotation = hp97560_slot_ns(&d->params, slot) - there;

	d->pass = (struct hp97560_pass){ .next = c->lba, .limit = c->end, .slot = slot };
	c->r->seek_ns = move_ns;
	c->r->rot_ns = rotation;
	d->stats.seeks += move_ns > 0;
	d->stats.seek_ns += move_ns;
	d->stats.rotations += rotation > 0;
	d->stats.rotation_ns += rotation;
}

/* Moves sectors over the bus, from @from_ns on.  Returns when that starts. */
static u64 bus_move(struct drive_command *c, u64 from_ns, u64 sectors)
{
	struct hp97560_disk *d = c->d;
	u64 length = sectors * d->params.bus_sector_ns;
	u64 from = later(from_ns, c->bus_end_ns);
	u64 start = hp97560_bus_grant(d->bus, from, length);

	if (start > from) {
		c->r->flags |= HP97560_BUS_WAIT;
		c->r->bus_wait_ns += start - from;
		d->stats.bus_waits++;
		d->stats.bus_wait_ns += start - from;
	}
	c->bus_end_ns = start + length;
	return start;
}

/* Ends reading ahead, for a command that reads elsewhere or writes. */
static void read_ahead_abort(struct drive_command *c)
{
	struct hp97560_disk *d = c->d;

	if (d->activity != HP97560_READING || d->pass.next == d->pass.limit)
		return;
	c->r->flags |= HP97560_ABORT;
	d->stats.read_ahead_aborts++;
}

/* Finds the first sector: in the buffer, under the heads, or elsewhere. */
static void read_locate(struct drive_command *c)
{
	struct hp97560_disk *d = c->d;
	const struct hp97560_params *p = &d->params;
	struct hp97560_pass *s = &d->pass;
	u64 ahead = p->read_ahead ? p->buffer_sectors : 0;

	if (buffer_holds(d, s, c->lba)) {
		c->r->flags |= HP97560_HIT;
		d->stats.hits++;
		d->buffered = buffer_first(d, s);
		if (c->end <= s->next) {
			c->r->flags |= HP97560_FULL_HIT;
			d->stats.full_hits++;
		}
	} else {
		u64 start = arm_free_ns(c);

		read_ahead_abort(c);
		pass_begin(c, start, arm_move_ns(d, s, start, c->lba), 0);
		d->activity = HP97560_READING;
		d->buffered = c->lba;
	}
	hp97560_pass_extend(p, s, earlier(c->end + ahead, d->capacity), c->decoded_ns);
}

/*
 * Reads sectors up to @b off the media, unless they are in the buffer; not
 * before there is room for them.  Returns when they are all there.
 */
static u64 read_media(struct drive_command *c, u64 b, u64 room_ns)
{
	const struct hp97560_params *p = &c->d->params;
	struct hp97560_pass *s = &c->d->pass;
	u64 end_ns;

	if (b <= s->next)
		return c->decoded_ns;
	if (hp97560_slot_ns(p, s->slot) < room_ns)
		s->slot = hp97560_slot_of(p, s->next, room_ns);
	end_ns = hp97560_pass_ns(p, s, b);
	hp97560_pass_reach(p, s, b);
	return end_ns;
}

/* Returns when @n sectors may start over the bus, the last of which is there at @there_ns. */
static u64 read_bus_from(const struct drive_command *c, u64 there_ns, u64 n)
{
	const struct hp97560_params *p = &c->d->params;
	u64 shown = p->bus_overlap && there_ns > c->decoded_ns ? n - 1 : 0;
	u64 hidden_ns = shown * p->bus_sector_ns;

	if (there_ns < c->decoded_ns + hidden_ns)
		return c->decoded_ns;
	return there_ns - hidden_ns;
}

static void do_read(struct drive_command *c)
{
	struct hp97560_disk *d = c->d;
	u64 piece = d->params.buffer_sectors / 2;
	u64 begin_ns, end_ns, lba, next, room_ns = 0;

	read_locate(c);
	begin_ns = later(hp97560_slot_ns(&d->params, d->pass.slot), c->decoded_ns);
	end_ns = c->decoded_ns;
	for (lba = c->lba; lba < c->end; lba = next) {
		u64 previous_ns = c->bus_end_ns;

		next = earlier(lba + piece, c->end);
		end_ns = read_media(c, next, room_ns);
		bus_move(c, read_bus_from(c, end_ns, next - lba), next - lba);
		room_ns = previous_ns;
	}
	if (!(c->r->flags & HP97560_FULL_HIT)) {
		if (c->r->flags & HP97560_HIT)
			c->r->rot_ns = begin_ns - c->decoded_ns;
		c->r->xfer_ns = end_ns - begin_ns;
	}
	c->r->media_done_ns = end_ns;
	c->r->done_ns = c->bus_end_ns;
	d->stats.reads++;
	d->stats.read_sectors += c->end - c->lba;
}

/* Returns when the buffer has room for sectors up to @b that continue unwritten data. */
static u64 write_room_ns(const struct hp97560_disk *d, u64 b)
{
	u64 room = d->params.dirty_sectors;

	if (b <= d->pass.next + room)
		return 0;
	return hp97560_pass_ns(&d->params, &d->pass, b - room);
}

/* Appends sectors up to @b, in the buffer at @data_ns, to what is being written. */
static u64 write_append(struct drive_command *c, u64 b, u64 data_ns)
{
	const struct hp97560_params *p = &c->d->params;
	struct hp97560_pass *s = &c->d->pass;
	struct hp97560_pass copy = *s;
	u64 lba = s->limit;

	hp97560_pass_extend(p, &copy, b, 0);
	hp97560_pass_reach(p, &copy, lba);
	if (hp97560_slot_ns(p, copy.slot) >= data_ns) {
		hp97560_pass_extend(p, s, b, 0);
	} else { /* too late: all before it is written, and a turn is lost */
		copy.slot = hp97560_slot_of(p, lba, data_ns);
		*s = copy;
	}
	return hp97560_slot_ns(p, copy.slot);
}

/* Moves sectors [@a, @b) into the buffer, from @from_ns on.  Returns when they can be written. */
static u64 write_bus(struct drive_command *c, u64 a, u64 b, u64 from_ns)
{
	const struct hp97560_params *p = &c->d->params;
	u64 start_ns = bus_move(c, later(from_ns, c->decoded_ns), b - a);

	return p->bus_overlap ? start_ns + p->bus_sector_ns : c->bus_end_ns;
}

static void write_wait_count(struct drive_command *c, u64 room_ns)
{
	u64 else_ns = later(c->decoded_ns, c->bus_end_ns);

	if (room_ns <= else_ns)
		return;
	c->r->flags |= HP97560_DIRTY_WAIT;
	c->d->stats.dirty_waits++;
	c->d->stats.dirty_wait_ns += room_ns - else_ns;
}

/* Begins a write that continues nothing.  Returns when its first sector passes the heads. */
static u64 write_begin(struct drive_command *c, u64 b)
{
	struct hp97560_disk *d = c->d;
	u64 start_ns = arm_free_ns(c);
	u64 move_ns = arm_move_ns(d, &d->pass, start_ns, c->lba) + d->params.write_settle_ns;
	u64 data_ns = write_bus(c, c->lba, b, start_ns);

	pass_begin(c, start_ns, move_ns, data_ns);
	d->pass.limit = b;
	d->activity = HP97560_WRITING;
	return hp97560_slot_ns(&d->params, d->pass.slot);
}

static u64 write_continue(struct drive_command *c, u64 a, u64 b)
{
	u64 room_ns = write_room_ns(c->d, b);

	write_wait_count(c, room_ns);
	return write_append(c, b, write_bus(c, a, b, room_ns));
}

static void do_write(struct drive_command *c)
{
	struct hp97560_disk *d = c->d;
	u64 piece = d->params.write_piece ? d->params.write_piece : d->params.dirty_sectors / 4;
	u64 clean = clean_ns(d);
	u64 lba = c->lba, next, begin_ns = 0;

	if (clean > c->decoded_ns && lba == d->pass.limit) {
		c->r->flags |= HP97560_JOIN;
		d->stats.joins++;
	}
	for (; lba < c->end; lba = next) {
		u64 at_ns;

		next = earlier(lba + piece, c->end);
		if (lba > c->lba || c->r->flags & HP97560_JOIN)
			at_ns = write_continue(c, lba, next);
		else
			at_ns = write_begin(c, next);
		if (lba == c->lba)
			begin_ns = at_ns;
		hp97560_pass_advance(&d->params, &d->pass, c->bus_end_ns);
	}
	c->r->media_done_ns = clean_ns(d);
	c->r->xfer_ns = c->r->media_done_ns - begin_ns;
	c->r->done_ns = d->params.immediate_report ? c->bus_end_ns : c->r->media_done_ns;
	d->stats.writes++;
	d->stats.write_sectors += c->end - c->lba;
}

static void do_flush(struct drive_command *c)
{
	c->r->done_ns = later(c->decoded_ns, clean_ns(c->d));
	c->r->media_done_ns = c->r->done_ns;
	c->d->stats.flushes++;
}

static void command_do(struct drive_command *c, enum hp97560_op op)
{
	struct hp97560_disk *d = c->d;

	hp97560_pass_advance(&d->params, &d->pass, c->decoded_ns);
	if (op == HP97560_FLUSH) {
		do_flush(c);
	} else if (op == HP97560_READ) {
		do_read(c);
	} else {
		read_ahead_abort(c);
		do_write(c);
	}
	d->stats.media_ns += c->r->xfer_ns;
	d->idle_ns = c->r->done_ns;
}

static int command_check(const struct hp97560_disk *d, enum hp97560_op op, u64 lba, u32 sectors,
			 u64 now_ns)
{
	if (now_ns > HP97560_TIME_MAX || d->idle_ns > HP97560_TIME_MAX)
		return -EOVERFLOW;
	if (op == HP97560_FLUSH)
		return 0;
	if ((op != HP97560_READ && op != HP97560_WRITE) || !sectors)
		return -EINVAL;
	if (lba >= d->capacity || sectors > d->capacity - lba)
		return -ERANGE;
	return 0;
}

int hp97560_submit(struct hp97560_disk *d, enum hp97560_op op, u64 lba, u32 sectors, u64 now_ns,
		   struct hp97560_result *r)
{
	struct drive_command c = { .d = d, .r = r, .lba = lba, .end = lba + sectors };
	int err = command_check(d, op, lba, sectors, now_ns);

	if (err)
		return err;
	memset(r, 0, sizeof(*r));
	r->arrival_ns = later(now_ns, d->idle_ns);
	if (r->arrival_ns > now_ns) {
		r->flags |= HP97560_QUEUED;
		d->stats.queue_waits++;
	}
	c.decoded_ns = r->arrival_ns + d->params.overhead_ns;
	hp97560_bus_forget(d->bus, now_ns);
	command_do(&c, op);
	return 0;
}

u64 hp97560_position_ns(const struct hp97560_disk *d, u64 lba, u64 now_ns)
{
	u64 start_ns = later(now_ns, d->idle_ns) + d->params.overhead_ns;
	struct hp97560_pass s = d->pass;
	u64 slot;

	if (lba >= d->capacity || now_ns > HP97560_TIME_MAX || d->idle_ns > HP97560_TIME_MAX)
		return U64_MAX;
	hp97560_pass_advance(&d->params, &s, start_ns);
	if (buffer_holds(d, &s, lba)) {
		if (lba == s.next)
			hp97560_pass_extend(&d->params, &s, lba + 1, start_ns);
		if (lba < s.next || hp97560_slot_ns(&d->params, s.slot) < start_ns)
			return start_ns - now_ns;
		return hp97560_slot_ns(&d->params, s.slot) - now_ns;
	}
	start_ns = later(start_ns, clean_ns(d));
	if (d->activity == HP97560_WRITING)
		hp97560_pass_reach(&d->params, &s, s.limit);
	slot = hp97560_slot_of(&d->params, lba, start_ns + arm_move_ns(d, &s, start_ns, lba));
	return hp97560_slot_ns(&d->params, slot) - now_ns;
}
