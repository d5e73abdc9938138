// SPDX-License-Identifier: GPL-2.0-only
/*
 * A crowd at one node, at random: each client has a file of its own, writes,
 * reads, cuts and syncs it, removes it and takes another, makes holes, allocates, copies parts of it, and vanishes in the middle
 * now and then; disks fail, and stop when a flush fails; the node is stopped and started.  Every read must return
 * what was written, after a failed flush and a restart what was synced; every request has one reply, and in the end
 * the records are consistent.
 */
#include "env/lines.h"
#include "tests/unit/iop/server/server_world.h"

#define CROWD 6
#define DISKS 3
#define FILE_MAX (40u * 4096)
#define STEPS 1500

/**
 * struct person - one client and its file
 * @bytes: what the file holds; @unknown: where that is not known; @unsynced: where a restart may lose it
 * @offset, @len: of the request under way; @opcode 0: none
 * @from: of a copy; @zero: an allocation is to clear
 * @written: since the file was made or the node started: so a sync has something to do
 * @refused: a disk that has stopped must refuse it
 */
struct person {
	struct sc *c;
	uint32_t disk;
	uint64_t id;
	uint8_t bytes[FILE_MAX], unknown[FILE_MAX], unsynced[FILE_MAX];
	uint8_t buf[FILE_MAX];
	uint16_t opcode;
	uint32_t replies;
	uint64_t offset, len, from;
	bool zero, written, refused;
};

/**
 * struct server_crowd - all of them
 * @stopped: how often disks had said in the log that they stopped, when the node was last started
 * @stops: restarts because a disk had stopped; @refusals: requests that a stopped disk refused
 */
struct server_crowd {
	struct sw *sw;
	struct person p[CROWD];
	uint32_t done, wrong, vanished, stopped[DISKS], stops, refusals;
	bool failing;
};

static uint64_t crowd_state;

static uint32_t rnd(uint32_t n)
{
	crowd_state = crowd_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(crowd_state >> 33) % n;
}

static void person_come(struct server_crowd *cr, struct person *p)
{
	p->c = sc_new(cr->sw, sw_reactor(cr->sw, p->disk));
	p->opcode = 0;
	p->written = false;
}

/* Notes a change of a range, which no sync has covered yet. */
static void mark(struct person *p, uint64_t from, uint64_t len, bool unknown)
{
	memset(p->unknown + from, unknown, len);
	memset(p->unsynced + from, true, len);
}

static uint32_t stops_logged(const struct server_crowd *cr, uint32_t disk)
{
	char line[40];

	snprintf(line, sizeof(line), "disk d%u: a flush failed", disk);
	return ddio_sim_logged(cr->sw->world, line);
}

static bool disk_stopped(const struct server_crowd *cr, uint32_t disk)
{
	return stops_logged(cr, disk) > cr->stopped[disk];
}

/* Finds the bytes that the request under way changes. */
static void touched(const struct person *p, uint64_t *from, uint64_t *len)
{
	*from = p->offset;
	*len = 0;
	if (p->opcode == DDIO_OP_OBJ_WRITE || p->opcode == DDIO_OP_OBJ_PUNCH ||
	    p->opcode == DDIO_OP_OBJ_COPY || (p->opcode == DDIO_OP_OBJ_ALLOCATE && p->zero))
		*len = p->len;
	if (p->opcode == DDIO_OP_OBJ_TRUNCATE)
		*len = FILE_MAX - p->offset;
}

/* A file that was removed, or may have been, is not written any more. */
static void person_file(struct person *p)
{
	p->id += CROWD;
	memset(p->bytes, 0, FILE_MAX);
	memset(p->unknown, false, FILE_MAX);
	memset(p->unsynced, false, FILE_MAX);
	p->written = false;
}

static void person_vanish(struct server_crowd *cr, struct person *p)
{
	uint64_t from, len;

	touched(p, &from, &len);
	mark(p, from, len, true);
	if (p->opcode == DDIO_OP_OBJ_REMOVE)
		person_file(p);
	sc_free(p->c);
	cr->vanished++;
	/* What it left behind comes to an end before it is back, or its file had two writers. */
	sw_run(cr->sw, 500 * MS);
	person_come(cr, p);
}

/* Copies from one half of its file into the other. */
static void person_copy(struct person *p)
{
	struct ddio_msg_obj_copy copy = { .disk = p->disk };
	uint8_t buf[128];

	p->len = 1 + rnd(FILE_MAX / 2 - 1);
	p->from = rnd((uint32_t)(FILE_MAX / 2 - p->len + 1));
	p->offset = FILE_MAX / 2 + rnd((uint32_t)(FILE_MAX / 2 - p->len + 1));
	if (rnd(2)) {
		uint64_t from = p->from;

		p->from = p->offset;
		p->offset = from;
	}
	copy.from = sc_obj(p->id, p->disk, 0, 0).file;
	copy.to = copy.from;
	copy.from_offset = p->from;
	copy.to_offset = p->offset;
	copy.len = p->len;
	sc_send(p->c, p->opcode, buf, ddio_put_obj_copy(buf, sizeof(buf), &copy), NULL, 0);
}

static void person_ask(const struct server_crowd *cr, struct person *p)
{
	static const uint16_t ops[] = {
		DDIO_OP_OBJ_WRITE,    DDIO_OP_OBJ_WRITE,  DDIO_OP_OBJ_WRITE,	DDIO_OP_OBJ_WRITE,
		DDIO_OP_OBJ_READ,     DDIO_OP_OBJ_READ,	  DDIO_OP_OBJ_READ,	DDIO_OP_OBJ_SYNC,
		DDIO_OP_OBJ_TRUNCATE, DDIO_OP_DROP_CACHE, DDIO_OP_OBJ_RESERVE,	DDIO_OP_OBJ_PUNCH,
		DDIO_OP_OBJ_PUNCH,    DDIO_OP_OBJ_COPY,	  DDIO_OP_OBJ_ALLOCATE, DDIO_OP_OBJ_STAT,
		DDIO_OP_OBJ_EXTENTS
	};
	struct ddio_msg_obj obj;
	uint8_t buf[64];
	uint64_t i;

	p->opcode = rnd(40) ? ops[rnd(sizeof(ops) / sizeof(ops[0]))] : DDIO_OP_OBJ_REMOVE;
	p->len = 1 + rnd(rnd(2) ? 5000 : FILE_MAX / 2);
	p->offset = rnd((uint32_t)(FILE_MAX - p->len));
	if (p->opcode == DDIO_OP_OBJ_REMOVE)
		p->offset = 0;
	obj = sc_obj(p->id, p->disk, p->offset, p->len);
	if (p->opcode == DDIO_OP_OBJ_TRUNCATE)
		obj.len = 0;
	if (p->opcode == DDIO_OP_OBJ_RESERVE)
		obj.len = 1 + rnd(40);
	for (i = 0; i < p->len && p->opcode == DDIO_OP_OBJ_WRITE; i++)
		p->buf[i] = (uint8_t)rnd(256);
	p->replies = p->c->replies;
	p->refused = disk_stopped(cr, p->disk) && (p->opcode == DDIO_OP_OBJ_WRITE ||
						   (p->opcode == DDIO_OP_OBJ_SYNC && p->written));
	p->zero = rnd(2);
	if (p->opcode == DDIO_OP_OBJ_ALLOCATE && p->zero)
		obj.flags = DDIO_OBJ_ZERO;
	if (p->opcode == DDIO_OP_OBJ_READ && rnd(2)) {
		obj.flags = DDIO_OBJ_STREAM;
		obj.stream = 1 + rnd(2);
	}
	if (p->opcode == DDIO_OP_OBJ_COPY)
		person_copy(p);
	else
		sc_send(p->c, p->opcode, buf, ddio_put_obj(buf, sizeof(buf), &obj),
			p->opcode == DDIO_OP_OBJ_WRITE ? p->buf : NULL, p->len);
}

static bool person_sees(const struct person *p)
{
	uint64_t i;

	if (p->c->bulk_len != p->len)
		return false;
	for (i = 0; i < p->len; i++)
		if (!p->unknown[p->offset + i] && p->c->bulk[i] != p->bytes[p->offset + i])
			return false;
	return true;
}

static void person_hear(struct server_crowd *cr, struct person *p)
{
	uint64_t from, len;
	bool ok = p->c->status == DDIO_ST_OK;

	cr->done++;
	cr->wrong += p->c->replies != p->replies + 1 || p->c->opcode != p->opcode;
	cr->wrong += !ok && !cr->failing;
	cr->wrong += p->refused && p->c->status != DDIO_ST_IO;
	cr->refusals += p->refused;
	touched(p, &from, &len);
	if (p->opcode == DDIO_OP_OBJ_READ && ok)
		cr->wrong += !person_sees(p);
	else if (p->opcode == DDIO_OP_OBJ_WRITE && ok)
		memcpy(p->bytes + from, p->buf, len);
	else if (p->opcode == DDIO_OP_OBJ_COPY && ok)
		memcpy(p->bytes + from, p->bytes + p->from, len);
	else if (len && ok)
		memset(p->bytes + from, 0, len);
	if (len)
		mark(p, from, len, !ok);
	if (p->opcode == DDIO_OP_OBJ_COPY && ok)
		memcpy(p->unknown + from, p->unknown + p->from, len);
	/* A block that is dropped although it could not be written is lost: then its bytes are unknown. */
	if (p->opcode == DDIO_OP_DROP_CACHE && !ok)
		mark(p, 0, FILE_MAX, true);
	if (p->opcode == DDIO_OP_OBJ_SYNC && ok)
		memset(p->unsynced, false, FILE_MAX);
	p->written |= p->opcode == DDIO_OP_OBJ_WRITE && ok;
	if (p->opcode == DDIO_OP_OBJ_REMOVE)
		person_file(p);
	p->opcode = 0;
}

/* Loses on disks that have stopped what was not synced. */
static void crowd_lose(struct server_crowd *cr)
{
	bool lost[DISKS];
	uint32_t i, b;

	for (i = 0; i < DISKS; i++) {
		lost[i] = disk_stopped(cr, i);
		cr->stops += lost[i];
		cr->stopped[i] = stops_logged(cr, i);
	}
	for (i = 0; i < CROWD; i++)
		for (b = 0; b < FILE_MAX && lost[cr->p[i].disk]; b++)
			cr->p[i].unknown[b] |= cr->p[i].unsynced[b];
}

static void crowd_heal(struct server_crowd *cr)
{
	uint32_t i;

	for (i = 0; i < DISKS; i++)
		disk_inject(sw_disk(cr->sw, i), -1, 0, 0);
}

static void crowd_restart(struct server_crowd *cr)
{
	struct sw *sw = cr->sw;
	int i;

	crowd_heal(cr);
	for (i = 0; i < CROWD; i++) {
		uint64_t from, len;

		touched(&cr->p[i], &from, &len);
		mark(&cr->p[i], from, len, true);
		if (cr->p[i].opcode == DDIO_OP_OBJ_REMOVE)
			person_file(&cr->p[i]);
		if (!rnd(2)) {
			sc_free(cr->p[i].c);
			cr->p[i].c = NULL;
		}
	}
	sw_restart(sw);
	crowd_lose(cr);
	for (i = 0; i < CROWD; i++) {
		if (cr->p[i].c)
			sc_free(cr->p[i].c);
		person_come(cr, &cr->p[i]);
	}
}

/* Returns whether to stop the node and start it.  On disks that fail without stopping that loses only what is reported. */
static bool restart_due(const struct server_crowd *cr, uint32_t disk)
{
	if (!cr->failing)
		return !rnd(400);
	return disk_stopped(cr, disk) && !rnd(40);
}

static void crowd_inject(struct server_crowd *cr, uint32_t disk)
{
	static const int ops[] = { DDIO_DISK_READ, DDIO_DISK_WRITE, DDIO_DISK_READ, DDIO_DISK_WRITE,
				   DDIO_DISK_FLUSH };

	disk_inject(sw_disk(cr->sw, disk), ops[rnd(5)], 1 + rnd(2), -EIO);
}

static void crowd_step(struct server_crowd *cr)
{
	struct person *p = &cr->p[rnd(CROWD)];

	if (!p->opcode)
		person_ask(cr, p);
	else if (p->c->replies > p->replies)
		person_hear(cr, p);
	else if (!rnd(30))
		person_vanish(cr, p);
	if (!rnd(3))
		sw_run(cr->sw, rnd(3 * MS));
	if (cr->failing && !rnd(50))
		crowd_inject(cr, p->disk);
	if (restart_due(cr, p->disk))
		crowd_restart(cr);
}

/* All requests are answered, and disks that have stopped go on. */
static void crowd_settle(struct server_crowd *cr)
{
	bool stopped = false;
	uint32_t i;

	crowd_heal(cr);
	for (i = 0; i < CROWD; i++) {
		struct person *p = &cr->p[i];

		if (p->opcode && sc_wait(p->c, p->replies + 1))
			person_hear(cr, p);
		cr->wrong += p->opcode != 0;
	}
	sw_run(cr->sw, 500 * MS);
	for (i = 0; i < DISKS; i++)
		stopped |= disk_stopped(cr, i);
	if (stopped)
		crowd_restart(cr);
}

static void crowd_end(struct server_crowd *cr)
{
	struct ddio_msg_fsck check;
	struct ddio_msg_obj obj = { 0 };
	uint32_t i;

	crowd_settle(cr);
	for (i = 0; i < CROWD; i++) {
		struct person *p = &cr->p[i];

		sc_sync(p->c, p->id);
		CU_ASSERT_EQUAL(sc_sync(p->c, p->id), DDIO_ST_OK);
		p->opcode = DDIO_OP_OBJ_READ;
		p->offset = 0;
		p->len = FILE_MAX;
		CU_ASSERT_EQUAL(sc_read(p->c, p->id, p->disk, 0, FILE_MAX), DDIO_ST_OK);
		cr->wrong += !person_sees(p);
		obj.disk = p->disk;
		CU_ASSERT_EQUAL(sc_object(p->c, DDIO_OP_FSCK, &obj), DDIO_ST_OK);
		CU_ASSERT_EQUAL(ddio_get_fsck(p->c->data, p->c->len, &check), 0);
		CU_ASSERT_EQUAL(check.problems, 0);
		if (check.problems)
			printf("%s\n", check.text);
	}
	for (i = 0; i < CROWD; i++)
		sc_free(cr->p[i].c);
}

static void run(uint64_t seed, bool failing, uint32_t *stops, uint32_t *refusals)
{
	struct server_crowd *cr = calloc(1, sizeof(*cr));
	struct sw *sw = sw_prepare(SW_ADDR, "sync_io = no");
	struct ddio_sim_link net;
	uint32_t i;

	crowd_state = seed * 104729 + 3;
	cr->sw = sw;
	cr->failing = failing;
	ddio_conf_free(sw->conf);
	sw->disk_options = "delay_us=300";
	CU_ASSERT_EQUAL_FATAL(sw_conf(sw, SW_ADDR, sw->err, sizeof(sw->err)), 0);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
	ddio_sim_link_default(&net);
	net.jitter_ns = MS / 4;
	net.chop = rnd(2) ? 0 : 3000;
	ddio_sim_set_link(sw->client, &net);
	for (i = 0; i < CROWD; i++) {
		cr->p[i].disk = i % 3;
		cr->p[i].id = 10 + i;
		person_come(cr, &cr->p[i]);
	}
	for (i = 0; i < STEPS; i++)
		crowd_step(cr);
	crowd_end(cr);
	CU_ASSERT_EQUAL(cr->wrong, 0);
	CU_ASSERT(cr->done > STEPS / 20);
	*stops += cr->stops;
	*refusals += cr->refusals;
	if (cr->wrong)
		printf("seed %llu: %u wrong\n", (unsigned long long)seed, cr->wrong);
	sw_free(sw);
	free(cr);
}

static void a_crowd(void)
{
	uint32_t stops = 0, refusals = 0;
	uint64_t seed;

	for (seed = 1; seed <= ut_rounds(15); seed++)
		run(seed, false, &stops, &refusals);
	CU_ASSERT_EQUAL(stops, 0);
}

static void a_crowd_on_failing_disks(void)
{
	uint32_t stops = 0, refusals = 0;
	uint64_t seed;

	for (seed = 101; seed <= 100 + ut_rounds(15); seed++)
		run(seed, true, &stops, &refusals);
	printf("(%u disks stopped, and refused %u requests) ", stops, refusals);
	CU_ASSERT(stops >= ut_rounds(15) && refusals >= ut_rounds(15));
}

/*
 * A client asks and does not read: what waits for it is bounded, others are served, and once it reads it gets
 * every reply.
 */
static void unread(uint16_t opcode, uint32_t asks, uint32_t failures, uint32_t hits)
{
	struct sw *sw = sw_new(NULL);
	struct bound *bound = &sw->iop->reactors[0].bounds.at[BOUND_UNREAD];
	struct sc *deaf = sc_new(sw, 0), *other = sc_new(sw, 0);
	struct ddio_msg_attach at = { .size = 2, .rank = 0 };
	uint8_t buf[64];
	ssize_t len = opcode == DDIO_OP_ATTACH ? ddio_put_attach(buf, sizeof(buf), &at) : 0;
	uint32_t i;

	ddio_conn_pause(deaf->conn, true);
	for (i = 0; i < asks; i++)
		sc_send(deaf, opcode, buf, (size_t)len, NULL, 0);
	sw_run(sw, 1000 * MS);
	server_clients_unread(&sw->iop->reactors[0]);
	CU_ASSERT(bound->now > bound->limit / 4);
	CU_ASSERT(bound->most < bound->limit + (256u << 10));
	CU_ASSERT_EQUAL(bound->hits, hits);
	CU_ASSERT_EQUAL(sc_call(other, DDIO_OP_PING, NULL, 0, NULL, 0), 0);
	ddio_conn_pause(deaf->conn, false);
	CU_ASSERT(sc_wait(deaf, asks));
	CU_ASSERT_EQUAL(deaf->failures, failures);
	server_clients_unread(&sw->iop->reactors[0]);
	CU_ASSERT_EQUAL(bound->now, 0);
	sc_free(other);
	sc_free(deaf);
	sw_free(sw);
}

static void test_unread(void)
{
	unread(DDIO_OP_STATUS, 4000, 0, 1);
	unread(DDIO_OP_ATTACH, 40000, 39999, 1);
}

/* Somebody who connects and says nothing. */
struct knock {
	struct ddio_stream *stream;
	bool over;
};

static void knock_readable(void *ctx)
{
	struct knock *k = ctx;
	uint8_t byte;
	struct iovec iov = { &byte, 1 };

	if (ddio_stream_readv(k->stream, &iov, 1) == -EAGAIN)
		return;
	k->over = true;
	ddio_stream_want_read(k->stream, false);
}

static void knock_failed(void *ctx, int err)
{
	(void)err;
	((struct knock *)ctx)->over = true;
}

static const struct ddio_stream_ops knock_ops = { .readable = knock_readable,
						  .failed = knock_failed };

static uint32_t knocks_over(const struct knock *k, uint32_t n)
{
	uint32_t i, over = 0;

	for (i = 0; i < n; i++)
		over += k[i].over;
	return over;
}

/* Those who only knock keep nobody out: the oldest of them go, the same number stays, few lines are logged. */
static void test_knocking(void)
{
	enum { KNOCKS = 200, FROM = 9, ALL = 12 };
	struct sw *sw = sw_new(NULL);
	struct bound *at = sw->iop->reactors[0].bounds.at;
	struct knock k[KNOCKS] = { 0 };
	struct sc *served = sc_new(sw, 0), *c;
	uint32_t i;

	at[BOUND_UNPROVED].limit = ALL;
	at[BOUND_UNPROVED_FROM].limit = FROM;
	for (i = 0; i < KNOCKS; i++) {
		CU_ASSERT_EQUAL_FATAL(ddio_stream_connect(sw->client, SW_ADDR, &knock_ops, &k[i],
							  &k[i].stream),
				      0);
		if (i % 50 == 49)
			sw_run(sw, 20 * MS);
	}
	CU_ASSERT_EQUAL(knocks_over(k, KNOCKS), KNOCKS - FROM);
	CU_ASSERT_EQUAL(knocks_over(k, KNOCKS - FROM), KNOCKS - FROM);
	CU_ASSERT_EQUAL(at[BOUND_UNPROVED].now, FROM);
	CU_ASSERT_EQUAL(at[BOUND_UNPROVED_FROM].hits, KNOCKS - FROM);
	CU_ASSERT_EQUAL(ddio_sim_logged(sw->world, "has not proved the key"), ENV_LINES_A_SECOND);
	c = sc_new(sw, 1);
	CU_ASSERT_EQUAL(sc_call(c, DDIO_OP_PING, NULL, 0, NULL, 0), 0);
	CU_ASSERT_EQUAL(sc_call(served, DDIO_OP_PING, NULL, 0, NULL, 0), 0);
	/* After the time for the opening exchange the rest is gone as well; the lines left out are told. */
	sw_run(sw, 11000 * MS);
	CU_ASSERT_EQUAL(at[BOUND_UNPROVED].now, 0);
	CU_ASSERT_EQUAL(ddio_sim_logged(sw->world, "more lines about connections were left out"),
			1);
	for (i = 0; i < KNOCKS; i++)
		ddio_stream_close(k[i].stream);
	sc_free(c);
	sc_free(served);
	sw_free(sw);
}

static const struct ut_case cases[] = {
	{ "a crowd", a_crowd },
	{ "a crowd on failing disks", a_crowd_on_failing_disks },
	{ "replies that nobody reads", test_unread },
	{ "those who only knock", test_knocking },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "crowd", cases } };

	return ut_run("iop_server_crowd", suites, 1);
}
