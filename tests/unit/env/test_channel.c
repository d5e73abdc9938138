// SPDX-License-Identifier: GPL-2.0-only
/* tsan: threads meet here */
/* Channels: bytes in order through shared memory, whatever the other end writes there, and nobody sleeps over them. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "env/local/channel.h"
#include "tests/unit/lib/ut.h"

struct channel_pair {
	_Alignas(64) uint8_t head[CHANNEL_HEAD];
	uint8_t data[CHANNEL_DATA];
	struct channel puts, gets;
};

static struct channel_pair *pair_new(void)
{
	struct channel_pair *p = aligned_alloc(64, (sizeof(*p) + 63) / 64 * 64);

	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	memset(p, 0, sizeof(*p));
	channel_init(&p->puts, p->head, p->data, true);
	channel_init(&p->gets, p->head, p->data, false);
	return p;
}

static uint8_t byte_at(uint64_t at)
{
	return (uint8_t)((at * 2654435761u) >> 13);
}

/* Puts, or gets and checks, at most @len bytes from @at on, in two pieces.  Returns what the channel says. */
static ssize_t move(struct channel *ch, uint64_t at, size_t len, unsigned int *wrong)
{
	static _Thread_local uint8_t buf[2 * CHANNEL_DATA];
	struct iovec iov[2] = { { buf, len / 3 }, { buf + len / 3, len - len / 3 } };
	ssize_t n, i;

	for (i = 0; ch->puts && i < (ssize_t)len; i++)
		buf[i] = byte_at(at + (uint64_t)i);
	n = ch->puts ? channel_put(ch, iov, 2) : channel_get(ch, iov, 2);
	for (i = 0; !ch->puts && i < n; i++)
		*wrong += buf[i] != byte_at(at + (uint64_t)i);
	return n;
}

static void test_bytes(void)
{
	struct channel_pair *p = pair_new();
	uint64_t put = 0, got = 0, rnd = 1;
	unsigned int wrong = 0;
	ssize_t n;

	CU_ASSERT_EQUAL(move(&p->gets, 0, 10, &wrong), -EAGAIN);
	while (got < 40 * (uint64_t)CHANNEL_DATA) {
		rnd = rnd * 6364136223846793005u + 1442695040888963407u;
		n = move(&p->puts, put, 1 + (rnd >> 40) % (2 * CHANNEL_DATA - 1), &wrong);
		CU_ASSERT_EQUAL(n == -EAGAIN, put - got == CHANNEL_DATA);
		put += n > 0 ? (uint64_t)n : 0;
		CU_ASSERT_FATAL(put - got <= CHANNEL_DATA);
		n = move(&p->gets, got, 1 + (rnd >> 20) % CHANNEL_DATA, &wrong);
		CU_ASSERT_FATAL(n > 0);
		got += (uint64_t)n;
	}
	CU_ASSERT_EQUAL(wrong, 0);
	free(p);
}

/* Whatever the other end says of its place, no byte beyond the channel is touched, and it is found out. */
static void test_lies(void)
{
	static const uint64_t lies[] = { 1,	     CHANNEL_DATA,     CHANNEL_DATA + 1,
					 UINT64_MAX, UINT64_MAX / 2,   1ull << 32,
					 7,	     -CHANNEL_DATA - 1 };
	struct channel_pair *p = pair_new();
	unsigned int wrong = 0;
	size_t i;

	CU_ASSERT_EQUAL(move(&p->puts, 0, 5, &wrong), 5);
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		bool possible = lies[i] <= CHANNEL_DATA;

		atomic_store(&p->gets.other->at, lies[i]);
		CU_ASSERT_EQUAL(channel_ready(&p->gets), possible ? (ssize_t)lies[i] : -EPROTO);
		if (!possible)
			CU_ASSERT_EQUAL(move(&p->gets, 0, 5, &wrong), -EPROTO);
		/* Five bytes were put, so at most five can have been got; less than none makes the room smaller. */
		atomic_store(&p->puts.other->at, lies[i]);
		if (lies[i] > 5 && lies[i] < UINT64_MAX / 2)
			CU_ASSERT_EQUAL(channel_ready(&p->puts), -EPROTO);
		CU_ASSERT(channel_ready(&p->puts) <= (ssize_t)CHANNEL_DATA);
	}
	free(p);
}

/* Short messages that are got before the next one comes lie at the beginning: the rest of the memory is not touched. */
static void test_base(void)
{
	struct channel_pair *p = pair_new();
	unsigned int wrong = 0;
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < 2 * CHANNEL_DATA / 100; i++, at += 100) {
		CU_ASSERT_EQUAL(move(&p->puts, at, 100, &wrong), 100);
		CU_ASSERT_EQUAL(move(&p->gets, at, 100, &wrong), 100);
	}
	for (i = 100; i < CHANNEL_DATA; i++)
		wrong += p->data[i];
	CU_ASSERT_EQUAL(wrong, 0);
	/* With bytes within, the base stays. */
	CU_ASSERT_EQUAL(move(&p->puts, at, 100, &wrong), 100);
	CU_ASSERT_EQUAL(move(&p->gets, at, 50, &wrong), 50);
	CU_ASSERT_EQUAL(move(&p->puts, at + 100, CHANNEL_DATA, &wrong), CHANNEL_DATA - 50);
	CU_ASSERT_EQUAL(move(&p->gets, at + 50, CHANNEL_DATA, &wrong), CHANNEL_DATA);
	CU_ASSERT_EQUAL(wrong, 0);
	/* Whatever stands there as the base, what is got lies within. */
	move(&p->puts, 0, 1000, &wrong);
	atomic_store(&p->gets.other->base, UINT64_MAX - 7);
	CU_ASSERT_EQUAL(move(&p->gets, 0, 1000, &(unsigned int){ 0 }), 1000);
	free(p);
}

static void test_wakes(void)
{
	struct channel_pair *p = pair_new();
	unsigned int wrong = 0;

	move(&p->puts, 0, 1, &wrong);
	CU_ASSERT_FALSE(channel_wakes(&p->puts));
	move(&p->gets, 0, 1, &wrong);
	channel_doze(&p->gets);
	move(&p->puts, 1, 1, &wrong);
	CU_ASSERT_TRUE(channel_wakes(&p->puts));
	/* Once is enough. */
	CU_ASSERT_FALSE(channel_wakes(&p->puts));
	channel_doze(&p->gets);
	channel_rise(&p->gets);
	CU_ASSERT_FALSE(channel_wakes(&p->puts));
	/* Room is worth waking for when there is much of it. */
	move(&p->puts, 2, CHANNEL_DATA, &wrong);
	channel_doze(&p->puts);
	move(&p->gets, 1, CHANNEL_DATA / 4, &wrong);
	CU_ASSERT_FALSE(channel_wakes(&p->gets));
	move(&p->gets, 1 + CHANNEL_DATA / 4, CHANNEL_DATA / 4 + 1, &wrong);
	CU_ASSERT_TRUE(channel_wakes(&p->gets));
	CU_ASSERT_EQUAL(wrong, 0);
	free(p);
}

/* Two threads that sleep whenever they can: each is woken, or the test waits for its bound. */
#define MOVED (64ull * CHANNEL_DATA)

struct sleeper {
	struct channel *ch;
	_Atomic uint32_t *bell, *others;
	unsigned int wrong, sleeps;
};

static void *move_all(void *arg)
{
	struct sleeper *s = arg;
	uint64_t at = 0;
	ssize_t n;

	while (at < MOVED) {
		n = move(s->ch, at, MOVED - at < 50000 ? MOVED - at : 50000, &s->wrong);
		if (n > 0) {
			at += (uint64_t)n;
			if (channel_wakes(s->ch))
				atomic_store(s->others, 1);
			continue;
		}
		channel_doze(s->ch);
		atomic_thread_fence(memory_order_seq_cst);
		while (!channel_ready(s->ch) && !atomic_exchange(s->bell, 0))
			sched_yield();
		s->sleeps++;
		channel_rise(s->ch);
	}
	return NULL;
}

static void test_threads(void)
{
	struct channel_pair *p = pair_new();
	_Atomic uint32_t bells[2] = { 0, 0 };
	struct sleeper puts = { &p->puts, &bells[0], &bells[1], 0, 0 };
	struct sleeper gets = { &p->gets, &bells[1], &bells[0], 0, 0 };
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, move_all, &puts), 0);
	move_all(&gets);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(gets.wrong, 0);
	free(p);
}

static const struct ut_case cases[] = {
	{ "bytes", test_bytes },
	{ "an end that lies", test_lies },
	{ "where short messages lie", test_base },
	{ "who is woken", test_wakes },
	{ "two threads", test_threads },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "channels", cases } };

	return ut_run("test_channel", suites, 1);
}
