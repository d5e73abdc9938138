// SPDX-License-Identifier: GPL-2.0-only
/*
 * All orders of starts, stops, kills, meetings with clients, copies and restores, of the records of two disks, of the
 * disks and of the name space, each by itself: whoever is served gets the bytes that were acknowledged last.
 *
 * The decisions are those of the daemon (iop/life); what is around them is as short as can be.  A state that was seen is not
 * gone on from again, so the search comes to an end.
 */
#include <stdlib.h>
#include "base/hash.h"
#include "iop/life/life.h"
#include "tests/unit/lib/ut.h"

enum { DISKS = 2, NAMES_LIVES = 8 };

/* What can be copied and put back; each has the number of the write that it has last. */
struct m_recs {
	struct lives of;
	uint64_t names, change;
	uint32_t wrote, pad;
};

struct m_disk {
	uint64_t label;
	uint32_t wrote, pad;
};

struct m_names {
	struct names_life lives[NAMES_LIVES];
	uint64_t n, change, known[DISKS];
	uint32_t wrote[DISKS];
};

/*
 * @any: there is one; @running: the daemon was, when it was taken
 * @put: it was put back; @beyond: and nobody may notice; @of_beyond: nor that what was copied had been put back
 */
struct m_copy {
	uint8_t any, running, put, beyond, of_beyond;
};

struct life_model {
	struct m_recs recs[DISKS], recs_of[DISKS];
	struct m_disk disk[DISKS], disk_of[DISKS];
	struct m_names names, names_of;
	struct m_copy recs_copy[DISKS], disk_copy[DISKS], names_copy;
	uint64_t serial;
	uint32_t acked[DISKS];
	uint8_t up[DISKS], names_up, starts[DISKS], names_starts, writes, copies, restores;
};

/* How far a search goes. */
struct bounds_of {
	uint8_t disks, starts, names_starts, writes, copies, restores;
	bool kills, planted;
};

struct life_search {
	struct bounds_of b;
	uint64_t *seen;
	size_t cap, n;
	uint64_t wrong, unnoticed, refused;
	bool broken, told;
	uint8_t way[64];
	int depth;
};

static uint64_t random_next(struct life_model *m)
{
	return ++m->serial << (64 - DDIO_LIFE_RANDOM);
}

/*
 * What cannot be noticed, and the documentation says so: a copy that was taken while the daemon was running, of records or disk
 * if the daemon was killed since, of both if the name space has been told of no later life, of the name space if no disk has
 * heard of a later change.
 */
static void put_back_marks(struct life_model *m, uint32_t d)
{
	struct m_copy *r = &m->recs_copy[d], *k = &m->disk_copy[d];
	bool fits = life_fits(&m->recs[d].of, m->disk[d].label);
	bool told = m->names.known[d] > m->recs[d].of.life;

	r->beyond |= r->put && r->running && fits && !told;
	k->beyond |= k->put && k->running && fits && !told;
}

static bool beyond(const struct life_model *m, uint32_t d)
{
	return m->recs_copy[d].beyond || m->disk_copy[d].beyond || m->names_copy.beyond;
}

/* Whoever puts back all of a cluster gets what it was. */
static bool right(const struct life_model *m, uint32_t d)
{
	uint32_t recs = m->recs[d].wrote, disk = m->disk[d].wrote, names = m->names.wrote[d];

	return recs == disk && disk == names &&
	       (recs == m->acked[d] ||
		(m->recs_copy[d].put && m->disk_copy[d].put && m->names_copy.put));
}

/*
 * The daemon of a disk
 */
static void start(const struct life_search *s, struct life_model *m, uint32_t d, int steps)
{
	struct m_recs *r = &m->recs[d];
	struct m_disk *k = &m->disk[d];

	m->starts[d]++;
	if (!life_fits(&r->of, k->label))
		return;
	/* As it was: a life that the name space does not know of goes on. */
	if (s->b.planted && !r->of.known && r->of.life == k->label) {
		m->up[d] = 1;
		return;
	}
	life_begin_next(&r->of, k->label, random_next(m), false);
	if (steps > 0)
		k->label = r->of.life;
	if (steps > 1)
		life_written(&r->of);
	m->up[d] = steps > 1;
}

static void stop(const struct life_search *s, struct life_model *m, uint32_t d)
{
	m->up[d] = 0;
	if (s->b.planted)
		return;
	life_begin_next(&m->recs[d].of, m->disk[d].label, random_next(m), true);
	m->disk[d].label = m->recs[d].of.life;
	life_written(&m->recs[d].of);
}

static void names_start(struct life_model *m)
{
	struct m_names *n = &m->names;
	uint64_t last = n->n ? n->lives[n->n - 1].life : 0;

	m->names_starts++;
	m->names_up = 1;
	n->lives[n->n++] =
		(struct names_life){ .life = life_after(last, random_next(m)), .first = n->change };
}

/*
 * A client: it has the two meet, and reads; then it writes.
 */
enum { MEET_HALF, MEET, MEET_WRITE };

static struct ddio_disk_id identity(const struct m_recs *r)
{
	struct ddio_disk_id id = { .life = r->of.life, .n = r->of.n };

	memcpy(id.before, r->of.before, sizeof(id.before));
	return id;
}

/* Returns false if the client is refused. */
static bool meet(struct life_model *m, uint32_t d, int how)
{
	const struct ddio_disk_id id = identity(&m->recs[d]);
	struct m_names *n = &m->names;
	struct m_recs *r = &m->recs[d];

	if (r->of.known && r->names == n->lives[n->n - 1].life)
		return true;
	if (!names_have(n->lives, n->n, r->names, r->change) ||
	    (n->known[d] && life_meet(n->known[d], &id) == LIFE_PAST))
		return false;
	n->change += n->known[d] != id.life;
	n->known[d] = id.life;
	if (how == MEET_HALF)
		return true;
	r->of.known = true;
	r->names = n->lives[n->n - 1].life;
	r->change = n->change;
	return true;
}

static void client(struct life_search *s, struct life_model *m, uint32_t d, int how)
{
	if (!meet(m, d, how)) {
		s->refused++;
		return;
	}
	if (how == MEET_HALF)
		return;
	if (!right(m, d)) {
		if (beyond(m, d))
			s->unnoticed++;
		else
			s->wrong++;
		s->broken = true;
		return;
	}
	if (how != MEET_WRITE)
		return;
	m->writes++;
	m->names.change++;
	m->acked[d] = m->recs[d].wrote = m->disk[d].wrote = m->names.wrote[d] = m->writes;
}

/*
 * Copies
 */
static void taken(struct m_copy *c, bool up)
{
	c->any = 1;
	c->running = up;
	c->of_beyond = c->beyond;
}

static void copy(struct life_model *m, uint32_t d, int what)
{
	m->copies++;
	if (what == 0) {
		m->recs_of[d] = m->recs[d];
		taken(&m->recs_copy[d], m->up[d]);
	} else if (what == 1) {
		m->disk_of[d] = m->disk[d];
		taken(&m->disk_copy[d], m->up[d]);
	} else {
		m->names_of = m->names;
		taken(&m->names_copy, m->names_up);
	}
}

static void put_back(struct life_model *m, uint32_t d, int what)
{
	struct m_copy *c = what == 0   ? &m->recs_copy[d]
			   : what == 1 ? &m->disk_copy[d]
				       : &m->names_copy;

	m->restores++;
	c->put = 1;
	c->beyond = c->of_beyond;
	if (what == 0)
		m->recs[d] = m->recs_of[d];
	else if (what == 1)
		m->disk[d] = m->disk_of[d];
	else
		m->names = m->names_of;
	for (d = 0; d < DISKS && what == 2; d++)
		c->beyond |= c->running && m->recs[d].change <= m->names.change;
	for (d = 0; d < DISKS; d++)
		put_back_marks(m, d);
}

/*
 * The search
 */
enum {
	START,
	START_RECS,
	START_LABEL,
	STOP,
	KILL,
	CLIENT_HALF,
	CLIENT,
	CLIENT_WRITE,
	COPY_RECS,
	COPY_DISK,
	BACK_RECS,
	BACK_DISK,
	ON_DISK,
	NAMES_START = ON_DISK,
	NAMES_STOP,
	COPY_NAMES,
	BACK_NAMES,
	EVENTS
};

static bool can(const struct life_search *s, const struct life_model *m, uint32_t d, int event)
{
	bool up = m->up[d], both = up && m->names_up;
	const struct bounds_of *b = &s->b;

	switch (event) {
	case START:
		return !up && m->starts[d] < b->starts;
	case START_RECS:
	case START_LABEL:
		return b->kills && !up && m->starts[d] < b->starts;
	case STOP:
		return up;
	case KILL:
		return up && b->kills;
	case CLIENT_HALF:
	case CLIENT:
		return both;
	case CLIENT_WRITE:
		return both && m->writes < b->writes;
	case COPY_RECS:
	case COPY_DISK:
		return m->copies < b->copies;
	case BACK_RECS:
		return !up && m->restores < b->restores && m->recs_copy[d].any;
	case BACK_DISK:
		return !up && m->restores < b->restores && m->disk_copy[d].any;
	case NAMES_START:
		return !m->names_up && m->names_starts < b->names_starts;
	case NAMES_STOP:
		return m->names_up;
	case COPY_NAMES:
		return m->copies < b->copies;
	default:
		return !m->names_up && m->restores < b->restores && m->names_copy.any;
	}
}

static void happen(struct life_search *s, struct life_model *m, uint32_t d, int event)
{
	switch (event) {
	case START_RECS:
	case START_LABEL:
		start(s, m, d, event - START_RECS);
		break;
	case START:
		start(s, m, d, 2);
		break;
	case STOP:
		stop(s, m, d);
		break;
	case KILL:
		m->up[d] = 0;
		break;
	case CLIENT_HALF:
	case CLIENT:
	case CLIENT_WRITE:
		client(s, m, d, event - CLIENT_HALF);
		break;
	case COPY_RECS:
	case COPY_DISK:
		copy(m, d, event - COPY_RECS);
		break;
	case BACK_RECS:
	case BACK_DISK:
		put_back(m, d, event - BACK_RECS);
		break;
	case NAMES_START:
		names_start(m);
		break;
	case NAMES_STOP:
		m->names_up = 0;
		break;
	case COPY_NAMES:
		copy(m, d, 2);
		break;
	default:
		put_back(m, d, 2);
	}
}

/* What led to wrong bytes. */
static void way_print(const struct life_search *s)
{
	static const char *const names[] = {
		"start",
		"start cut off before the label",
		"start cut off behind the label",
		"stop",
		"kill",
		"a client dies while it has them meet",
		"client",
		"client writes",
		"copy of records",
		"copy of disk",
		"records put back",
		"disk put back",
		"names start",
		"names stop",
		"copy of names",
		"names put back",
	};
	int i;

	for (i = 0; i < s->depth; i++)
		fprintf(stderr, "%s%s %d", i ? "; " : "", names[s->way[i] / DISKS],
			s->way[i] % DISKS);
	fprintf(stderr, "\n");
}

/* By a hash: of ten million states, two would have the same with a probability of 1 in 300,000. */
static bool seen_find(struct life_search *s, const struct life_model *m)
{
	uint64_t hash = ddio_hash_bytes(m, sizeof(*m)) | 1;
	size_t at = hash >> 1 & (s->cap - 1);

	for (; s->seen[at]; at = (at + 1) & (s->cap - 1))
		if (s->seen[at] == hash)
			return true;
	if (s->n * 2 >= s->cap)
		return true;
	s->seen[at] = hash;
	s->n++;
	return false;
}

static void go_on(struct life_search *s, const struct life_model *m)
{
	uint32_t d;
	int event;

	for (event = 0; event < EVENTS; event++)
		for (d = 0; d < (event < ON_DISK ? s->b.disks : 1u); d++) {
			struct life_model next = *m;

			if (!can(s, m, d, event))
				continue;
			s->broken = false;
			s->way[s->depth++] = (uint8_t)(event * DISKS + (int)d);
			happen(s, &next, d, event);
			if (s->wrong && !s->told)
				way_print(s);
			s->told = s->wrong;
			if (!s->broken && !seen_find(s, &next))
				go_on(s, &next);
			s->depth--;
		}
}

static struct life_search life_search_all(struct bounds_of b)
{
	struct life_search s = { .b = b, .cap = 1u << 25 };
	struct life_model m;
	uint32_t d;

	memset(&m, 0, sizeof(m));
	s.seen = calloc(s.cap, sizeof(*s.seen));
	if (!s.seen)
		abort();
	names_start(&m);
	for (d = 0; d < DISKS; d++) {
		m.recs[d].of.life = life_after(0, random_next(&m));
		m.disk[d].label = m.recs[d].of.life;
	}
	go_on(&s, &m);
	CU_ASSERT(s.n * 2 < s.cap);
	free(s.seen);
	fprintf(stderr, "%zu states, %llu refused, %llu not noticed, %llu wrong\n", s.n,
		(unsigned long long)s.refused, (unsigned long long)s.unnoticed,
		(unsigned long long)s.wrong);
	return s;
}

static void check(struct bounds_of b)
{
	struct life_search s = life_search_all(b);

	CU_ASSERT_EQUAL(s.wrong, 0);
	CU_ASSERT(s.refused > 0);
}

/* All of it where random tests have all of their rounds, too. */
static bool whole(void)
{
	return ut_rounds(100) == 100;
}

static void one_disk(void)
{
	check((struct bounds_of){ .disks = 1,
				  .starts = 3,
				  .names_starts = 1,
				  .writes = 2,
				  .copies = 2,
				  .restores = whole() ? 3 : 2,
				  .kills = true });
}

static void with_names(void)
{
	check((struct bounds_of){ .disks = 1,
				  .starts = 2,
				  .names_starts = whole() ? 3 : 2,
				  .writes = 2,
				  .copies = 2,
				  .restores = 2 });
}

static void two_disks(void)
{
	check((struct bounds_of){ .disks = 2,
				  .starts = 1,
				  .names_starts = 2,
				  .writes = 2,
				  .copies = 1,
				  .restores = 1 });
}

/* As it was before: a life that nobody was told of went on with the next start. */
static void planted(void)
{
	struct life_search s = life_search_all((struct bounds_of){ .disks = 1,
								   .starts = 3,
								   .names_starts = 1,
								   .writes = 1,
								   .copies = 1,
								   .restores = 1,
								   .planted = true });

	CU_ASSERT(s.wrong > 0);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "one disk", one_disk },
		{ "a name space that starts again", with_names },
		{ "two disks", two_disks },
		{ "what was wrong is found", planted },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "life", cases } };

	return ut_run("life_model", suites, 1);
}
