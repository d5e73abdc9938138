// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects that are synced each time after as many writes as before: the disk begins with the last of them.  How many flushes
 * that takes, also at worst, and what is told if one fails, if the client has gone, or the node stops.
 */
#include <errno.h>
#include "server_world.h"

/* Not a block of 4096, which is written as soon as it is full. */
enum { LEN = 100 };

/**
 * struct habit - a block that has been written and synced by turns
 */
struct habit {
	struct sw *sw;
	struct sc *c;
	uint8_t data[LEN];
};

static struct ddio_disk_stats stats(struct habit *h)
{
	struct ddio_disk_stats st;

	ddio_disk_stats(sw_disk(h->sw, 0), &st);
	return st;
}

static void write_one(struct habit *h)
{
	h->data[0]++;
	CU_ASSERT_EQUAL(sc_write(h->c, 1, 0, 0, h->data, LEN), DDIO_ST_OK);
}

/* As long as a flush may take, and less than until blocks are written without one. */
static void rest(struct habit *h)
{
	sw_run(h->sw, 100 * MS);
}

/* Writes @n times and syncs: @early flushes have come after the writes, before the sync, and @all with that. */
static void burst(struct habit *h, uint32_t n, uint64_t early, uint64_t all)
{
	uint64_t before = stats(h).flushes;

	while (n--)
		write_one(h);
	rest(h);
	CU_ASSERT_EQUAL(stats(h).flushes - before, early);
	CU_ASSERT_EQUAL(sc_sync(h->c, 1), DDIO_ST_OK);
	CU_ASSERT_EQUAL(stats(h).flushes - before, all);
}

/* The disk takes 2 ms for each request. */
static void begin(struct habit *h)
{
	memset(h, 0, sizeof(*h));
	h->sw = sw_prepare(SW_ADDR, NULL);
	ddio_conf_free(h->sw->conf);
	h->sw->disk_options = "delay_us=2000";
	CU_ASSERT_EQUAL_FATAL(sw_conf(h->sw, SW_ADDR, h->sw->err, sizeof(h->sw->err)), 0);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(h->sw), 0);
	h->c = sc_new(h->sw, sw_reactor(h->sw, 0));
	burst(h, 2, 0, 1);
	burst(h, 1, 0, 1);
	burst(h, 1, 0, 1);
	burst(h, 1, 0, 1);
}

static void end(struct habit *h)
{
	sc_free(h->c);
	sw_free(h->sw);
}

static void a_habit(void)
{
	struct habit h;

	begin(&h);
	burst(&h, 1, 1, 1);
	burst(&h, 1, 1, 1);
	burst(&h, 3, 1, 2);
	burst(&h, 3, 0, 1);
	burst(&h, 3, 0, 1);
	burst(&h, 3, 1, 1);
	burst(&h, 2, 0, 1);
	burst(&h, 0, 0, 0);
	end(&h);
}

/* The sync comes while the disk is at work, or is already there when the write is answered. */
static void shared(void)
{
	struct ddio_msg_obj write = sc_obj(1, 0, 0, LEN), sync = sc_obj(1, UINT32_MAX, 0, 0);
	uint64_t before, ms;
	uint8_t a[64], b[64];
	ssize_t na = ddio_put_obj(a, sizeof(a), &write), nb = ddio_put_obj(b, sizeof(b), &sync);
	struct habit h;

	begin(&h);
	for (ms = 0; ms < 6; ms++) {
		before = stats(&h).flushes;
		sc_send(h.c, DDIO_OP_OBJ_WRITE, a, na, h.data, LEN);
		sw_run(h.sw, ms * MS);
		sc_send(h.c, DDIO_OP_OBJ_SYNC, b, nb, NULL, 0);
		CU_ASSERT_TRUE(sc_wait(h.c, h.c->replies + (ms ? 1 : 2)));
		CU_ASSERT_EQUAL(h.c->opcode, DDIO_OP_OBJ_SYNC);
		CU_ASSERT_EQUAL(h.c->status, DDIO_ST_OK);
		CU_ASSERT_EQUAL(stats(&h).flushes - before, 1);
		rest(&h);
		CU_ASSERT_EQUAL(stats(&h).flushes - before, 1);
	}
	end(&h);
}

/* Whatever is written and synced, at most one of three syncs brings a flush for nothing. */
static void for_nothing(void)
{
	uint32_t i, k, usual = 1, n = ut_rounds(600);
	uint64_t before, flushed, writes;
	struct habit h;

	begin(&h);
	before = stats(&h).flushes;
	for (i = 0; i < n; i++) {
		writes = stats(&h).writes;
		for (k = 0; k < usual; k++)
			write_one(&h);
		sw_run(h.sw, 5 * MS);
		/* As bad as it can be: once more whenever a sync was expected. */
		if (stats(&h).writes > writes) {
			write_one(&h);
			usual = usual % 8 + 1;
		}
		CU_ASSERT_EQUAL(sc_sync(h.c, 1), DDIO_ST_OK);
	}
	flushed = stats(&h).flushes - before;
	CU_ASSERT(flushed > n + n / 5);
	/* And some for what the disk records by itself. */
	CU_ASSERT(flushed <= n + n / 3 + n / 50 + 4);
	end(&h);
}

/* The disk fails to flush: whoever syncs then is told, as is everybody later. */
static void a_flush_fails(void)
{
	struct habit h;

	begin(&h);
	disk_inject(sw_disk(h.sw, 0), DDIO_DISK_FLUSH, 1, -EIO);
	write_one(&h);
	rest(&h);
	CU_ASSERT_EQUAL(sc_sync(h.c, 1), DDIO_ST_IO);
	CU_ASSERT_EQUAL(sc_sync(h.c, 1), DDIO_ST_IO);
	end(&h);
}

/* A block cannot be written: whoever syncs hears it once, as after any other write behind the answer, and has it written again. */
static void a_block_fails(void)
{
	uint64_t writes;
	struct habit h;

	begin(&h);
	writes = stats(&h).writes;
	disk_inject(sw_disk(h.sw, 0), DDIO_DISK_WRITE, 1, -EIO);
	write_one(&h);
	rest(&h);
	CU_ASSERT_EQUAL(stats(&h).writes - writes, 1);
	CU_ASSERT_EQUAL(sc_sync(h.c, 1), DDIO_ST_IO);
	CU_ASSERT_EQUAL(stats(&h).writes - writes, 2);
	CU_ASSERT_EQUAL(sc_sync(h.c, 1), DDIO_ST_OK);
	end(&h);
	begin(&h);
	disk_inject(sw_disk(h.sw, 0), DDIO_DISK_WRITE, 2, -EIO);
	write_one(&h);
	rest(&h);
	CU_ASSERT_EQUAL(sc_sync(h.c, 1), DDIO_ST_IO);
	CU_ASSERT_EQUAL(sc_sync(h.c, 1), DDIO_ST_OK);
	end(&h);
}

/* Its client goes, or the node stops, at any moment of it: what was written is there. */
static void gone_meanwhile(void)
{
	struct habit h;
	uint64_t us;
	uint8_t byte;

	for (us = 0; us < 6000; us += 500) {
		begin(&h);
		write_one(&h);
		byte = h.data[0];
		sw_run(h.sw, us * 1000);
		if (us % 1000) {
			sc_free(h.c);
			rest(&h);
		}
		sw_restart(h.sw);
		if (!(us % 1000))
			sc_free(h.c);
		h.c = sc_new(h.sw, sw_reactor(h.sw, 0));
		CU_ASSERT_EQUAL(sc_read(h.c, 1, 0, 0, LEN), DDIO_ST_OK);
		CU_ASSERT_EQUAL(h.c->bulk[0], byte);
		end(&h);
	}
}

static const struct ut_case cases[] = {
	{ "a habit", a_habit },
	{ "shared", shared },
	{ "for nothing", for_nothing },
	{ "a flush fails", a_flush_fails },
	{ "a block fails", a_block_fails },
	{ "gone meanwhile", gone_meanwhile },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "expected", cases } };

	return ut_run("iop_server_expected", suites, 1);
}
