// SPDX-License-Identifier: GPL-2.0-only
/*
 * The picture: from top to bottom the states of the collective on each reactor; for each disk its slots, and where its arm
 * was; and the messages of each member.  Time runs from left to right.
 */
#include <stdlib.h>
#include <string.h>
#include "canvas.h"
#include "cp/file/trace.h"

enum {
	LEFT = 120,
	RIGHT = 20,
	TOP = 52,
	STATE_H = 10,
	SLOT_H = 12,
	ARM_H = 44,
	GAP = 8,
	MEMBER_H = 6
};
#define DISKS_MAX 64u
#define ROWS_MAX 64u /* of slots, of members: more share rows */

/**
 * struct drawn_disk - a disk of the trace
 * @slots: it has; @lo, @hi: bytes of the disk that were moved
 * @y: where its slots are; its arm is below them
 */
struct drawn_disk {
	uint32_t disk, slots;
	uint64_t lo, hi;
	double y;
};

/**
 * struct drawing - the picture as it is laid out
 * @disk: the first @ndisks that a collective has met; @more: there are others
 * @members: rows of members, of @ranks ranks
 */
struct drawing {
	struct canvas *c;
	const struct trace_all *t;
	struct drawn_disk disk[DISKS_MAX];
	uint32_t ndisks, members, ranks;
	bool more;
	double members_y;
	int height;
};

static struct drawn_disk *disk_find(struct drawing *d, uint32_t disk)
{
	uint32_t i;

	for (i = 0; i < d->ndisks; i++)
		if (d->disk[i].disk == disk)
			return &d->disk[i];
	return NULL;
}

static struct drawn_disk *disk_get(struct drawing *d, uint32_t disk)
{
	struct drawn_disk *x = disk_find(d, disk);

	d->more = d->more || (!x && d->ndisks == DISKS_MAX);
	if (x || d->ndisks == DISKS_MAX)
		return x;
	x = &d->disk[d->ndisks++];
	*x = (struct drawn_disk){ .disk = disk, .lo = UINT64_MAX };
	return x;
}

static bool is_disk_event(const struct ddio_trace_event *e)
{
	return e->kind >= DDIO_TRACE_SLOT && e->kind <= DDIO_TRACE_DISK_END;
}

static bool is_message(const struct ddio_trace_event *e)
{
	return e->kind == DDIO_TRACE_SENT || e->kind == DDIO_TRACE_CAME;
}

static void look(struct drawing *d, const struct ddio_trace_event *e)
{
	struct drawn_disk *x = is_disk_event(e) ? disk_get(d, e->disk) : NULL;

	if (is_message(e) && e->rank >= d->ranks)
		d->ranks = e->rank + 1;
	if (!x)
		return;
	if (e->slot != DDIO_TRACE_NO_SLOT && e->slot >= x->slots)
		x->slots = e->slot + 1u < ROWS_MAX ? e->slot + 1u : ROWS_MAX;
	if (e->kind != DDIO_TRACE_DISK_END)
		return;
	x->lo = e->place < x->lo ? e->place : x->lo;
	x->hi = e->place + e->len > x->hi ? e->place + e->len : x->hi;
}

static int by_number(const void *a, const void *b)
{
	const struct drawn_disk *x = a, *y = b;

	return x->disk < y->disk ? -1 : x->disk > y->disk;
}

static void lay_out(struct drawing *d, const struct trace_all *t)
{
	double y = TOP;
	uint32_t i;

	memset(d, 0, sizeof(*d));
	d->t = t;
	for (i = 0; i < t->n; i++)
		look(d, &t->line[i].e);
	qsort(d->disk, d->ndisks, sizeof(d->disk[0]), by_number);
	y += (t->nparts < DISKS_MAX ? t->nparts : DISKS_MAX) * STATE_H + GAP;
	for (i = 0; i < d->ndisks; i++) {
		d->disk[i].y = y;
		y += d->disk[i].slots * SLOT_H + ARM_H + GAP;
	}
	d->members_y = y;
	d->members = d->ranks < ROWS_MAX ? d->ranks : ROWS_MAX;
	d->height = (int)(y + d->members * MEMBER_H + 24);
}

int trace_draw_height(const struct trace_all *t)
{
	struct drawing d;

	lay_out(&d, t);
	return d.height;
}

static double x_of(const struct drawing *d, uint64_t at)
{
	return LEFT +
	       (double)at / (double)(d->t->span ? d->t->span : 1) * (TRACE_WIDTH - LEFT - RIGHT);
}

static uint32_t colour_of(const struct ddio_trace_event *e)
{
	static const uint32_t states[DDIO_TRACE_STATES] = { 0xb0b0b0, 0xb07cc6, 0xcfe3f5, 0x8e44ad,
							    0xe67e22, 0xf5b041, 0xffffff };
	static const uint32_t slots[DDIO_TRACE_SLOTS] = { 0xffffff, 0x7f8c8d, 0xaed6f1, 0x2471a3,
							  0xb07cc6, 0xc0392b, 0xf1c40f };
	static const uint32_t pieces[DDIO_TRACE_PIECES] = { 0xffffff, 0xe5e7e9, 0xf1c40f,
							    0x58d68d };

	return e->kind == DDIO_TRACE_STATE  ? states[e->what]
	       : e->kind == DDIO_TRACE_SLOT ? slots[e->what]
					    : pieces[e->what];
}

/* Draws a state from its beginning to the next of the same thing, unless it falls where the one before it was drawn. */
static void state(struct drawing *d, const struct trace_line *l, double y, double h)
{
	uint64_t until = l->next ? l->next->at : d->t->span;
	double x = x_of(d, l->at), w = x_of(d, until) - x;

	if (trace_is_nothing(&l->e) || (w < 0.2 && l->prev && x - x_of(d, l->prev->at) < 0.2))
		return;
	d->c->ops->rect(d->c, x, y, w < 0.2 ? 0.2 : w, h, colour_of(&l->e));
}

/* A slot's own states are in the upper two thirds of its row, those of its next block below. */
static void slot(struct drawing *d, const struct trace_line *l)
{
	const struct drawn_disk *x = disk_find(d, l->e.disk);
	double y;

	if (!x || l->e.slot >= x->slots)
		return;
	y = x->y + l->e.slot * SLOT_H;
	if (l->e.kind == DDIO_TRACE_SLOT)
		state(d, l, y, SLOT_H * 2 / 3);
	else
		state(d, l, y + SLOT_H * 2.0 / 3, SLOT_H / 3);
}

static double arm_y(const struct drawn_disk *x, uint64_t place)
{
	double part = x->hi > x->lo ? (double)(place - x->lo) / (double)(x->hi - x->lo) : 0;

	return x->y + x->slots * SLOT_H + ARM_H - 2 - part * (ARM_H - 4);
}

/* From where the request before left the arm to the beginning of this one, and on to its end. */
static void arms(struct drawing *d, const struct drawn_disk *x)
{
	double from_x = -1, from_y = 0, at, begin, end;
	uint32_t i;

	for (i = 0; i < d->t->n; i++) {
		const struct trace_line *l = &d->t->line[i];

		if (l->e.kind != DDIO_TRACE_DISK_END || l->e.disk != x->disk)
			continue;
		at = x_of(d, l->at);
		begin = arm_y(x, l->e.place);
		end = arm_y(x, l->e.place + l->e.len);
		if (from_x >= 0)
			d->c->ops->line(d->c, from_x, from_y, at, begin, 0x1f4e79);
		d->c->ops->line(d->c, at, begin, at + 0.5, end, 0x1f4e79);
		from_x = at + 0.5;
		from_y = end;
	}
}

static void message(struct drawing *d, const struct trace_line *l)
{
	uint32_t row = (uint32_t)((uint64_t)l->e.rank * d->members / d->ranks);
	double x = x_of(d, l->at), y = d->members_y + row * MEMBER_H;

	d->c->ops->line(d->c, x, y, x, y + MEMBER_H - 1,
			l->e.kind == DDIO_TRACE_SENT ? 0x2471a3 : 0x1e8449);
}

static void disk_frame(struct drawing *d, const struct drawn_disk *x)
{
	char text[300];
	uint32_t i;

	snprintf(text, sizeof(text), "disk %s", ddio_trace_disk_name(d->t->session, x->disk));
	d->c->ops->text(d->c, LEFT - 6, x->y + 9, text, true);
	for (i = 1; i < x->slots; i++) {
		snprintf(text, sizeof(text), "slot %u", i);
		d->c->ops->text(d->c, LEFT - 6, x->y + i * SLOT_H + 9, text, true);
	}
	d->c->ops->text(d->c, LEFT - 6, x->y + x->slots * SLOT_H + ARM_H / 2.0 + 4, "arm", true);
	d->c->ops->rect(d->c, LEFT, x->y + x->slots * SLOT_H, TRACE_WIDTH - LEFT - RIGHT, ARM_H,
			0xf4f6f7);
}

static void legend(struct drawing *d)
{
	static const struct ddio_trace_event what[] = {
		{ .kind = DDIO_TRACE_SLOT, .what = DDIO_TRACE_READING },
		{ .kind = DDIO_TRACE_SLOT, .what = DDIO_TRACE_WRITING },
		{ .kind = DDIO_TRACE_SLOT, .what = DDIO_TRACE_SENDING },
		{ .kind = DDIO_TRACE_SLOT, .what = DDIO_TRACE_LOCKING },
		{ .kind = DDIO_TRACE_ASK, .what = DDIO_TRACE_ASKED },
		{ .kind = DDIO_TRACE_ASK, .what = DDIO_TRACE_READY },
	};
	double x = LEFT;
	size_t i;

	for (i = 0; i < sizeof(what) / sizeof(what[0]); i++, x += 120) {
		d->c->ops->rect(d->c, x, 24, 10, 8, colour_of(&what[i]));
		d->c->ops->text(d->c, x + 14, 32, trace_state_name(&what[i]), false);
	}
	d->c->ops->line(d->c, x, 24, x, 32, 0x2471a3);
	d->c->ops->text(d->c, x + 4, 32, "sent to it", false);
	d->c->ops->line(d->c, x + 70, 24, x + 70, 32, 0x1e8449);
	d->c->ops->text(d->c, x + 74, 32, "came from it", false);
}

static const struct ddio_trace_coll *first_coll(const struct trace_all *t)
{
	const struct trace_line *l = &t->line[0];

	return &t->part[l->part].coll[l->e.coll];
}

static void head(struct drawing *d)
{
	const struct ddio_trace_coll *c = first_coll(d->t);
	char text[512];

	snprintf(text, sizeof(text), "%s of \"%s\" by %u process%s, %.3f ms%s%s",
		 c->flags & DDIO_TRACE_WRITE ? "collective write" : "collective read", c->file,
		 c->nprocs, c->nprocs == 1 ? "" : "es", (double)d->t->span / 1e6,
		 d->more ? "; the first 64 disks" : "", d->t->lost ? "; events were lost" : "");
	d->c->ops->text(d->c, LEFT, 14, text, false);
	legend(d);
}

/* Six times, along the top. */
static void times(struct drawing *d)
{
	char text[32];
	uint32_t i;

	for (i = 0; i <= 5; i++) {
		snprintf(text, sizeof(text), "%.3f ms", (double)d->t->span * i / 5e6);
		d->c->ops->text(d->c, x_of(d, d->t->span * i / 5), 46, text, i == 5);
		d->c->ops->line(d->c, x_of(d, d->t->span * i / 5), 48, x_of(d, d->t->span * i / 5),
				d->height - 20, 0xd5d8dc);
	}
}

static void reactors(struct drawing *d)
{
	char text[300];
	uint32_t i;

	for (i = 0; i < d->t->nparts && i < DISKS_MAX; i++) {
		const struct trace_part *p = &d->t->part[i];

		snprintf(text, sizeof(text), "%s/%u", ddio_trace_node_name(d->t->session, p->node),
			 p->reactor);
		d->c->ops->text(d->c, LEFT - 6, TOP + i * STATE_H + 8, text, true);
	}
}

static void event(struct drawing *d, const struct trace_line *l)
{
	switch (l->e.kind) {
	case DDIO_TRACE_STATE:
		if (l->part < DISKS_MAX)
			state(d, l, TOP + l->part * STATE_H, STATE_H - 2);
		break;
	case DDIO_TRACE_SLOT:
	case DDIO_TRACE_ASK:
		slot(d, l);
		break;
	case DDIO_TRACE_SENT:
	case DDIO_TRACE_CAME:
		message(d, l);
		break;
	default:
		break;
	}
}

void trace_draw(struct canvas *c, const struct trace_all *t)
{
	struct drawing d;
	uint32_t i;

	lay_out(&d, t);
	d.c = c;
	for (i = 0; i < d.ndisks; i++)
		disk_frame(&d, &d.disk[i]);
	head(&d);
	times(&d);
	reactors(&d);
	for (i = 0; i < t->n; i++)
		event(&d, &t->line[i]);
	for (i = 0; i < d.ndisks; i++)
		arms(&d, &d.disk[i]);
	if (d.members)
		c->ops->text(c, LEFT - 6, d.members_y + 8, "members", true);
}
