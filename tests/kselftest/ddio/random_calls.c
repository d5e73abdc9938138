// SPDX-License-Identifier: GPL-2.0-only
/* Random calls: well-formed structs of what exists, and what becomes of them. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ddio/random_calls.h"

union random_arg {
	struct ddio_info info;
	struct ddio_disk_add disk;
	struct ddio_buffer_add buffer;
	struct ddio_ring_setup ring;
	struct ddio_destroy destroy;
	struct ddio_submit submit;
	struct ddio_wait wait;
	struct ddio_cancel cancel;
	struct ddio_kick kick;
	struct ddio_joint_create create;
	struct ddio_joint_join join;
	struct ddio_joint_wait joint_wait;
	unsigned char byte[160];
	uint32_t word[40];
};

static uint64_t interesting(struct call_worker *w)
{
	static const uint64_t value[] = {
		0,	    1,		2,	    3,		511,	    512,   4095,
		4096,	    65536,	1 << 20,    0x7fffffff, 1ULL << 31, ~0U,   1ULL << 32,
		1ULL << 40, ~0ULL >> 1, 1ULL << 63, -4096ULL,	-512ULL,    -1ULL,
	};

	return ONE_IN(4) ? kt_random(&w->rng) : value[BELOW(KT_ARRAY_SIZE(value))];
}

/* Returns an address that no call may write to: none, the kernel's, the end of the address space. */
static uint64_t bad_pointer(struct call_worker *w)
{
	static const uint64_t value[] = { 0, 8, 0xffff888000000000ULL, -4096ULL, 1ULL << 63 };

	return value[BELOW(KT_ARRAY_SIZE(value))];
}

static uint64_t safe_pointer(struct call_worker *w, uint64_t p)
{
	uint64_t arena = kt_ptr(w->process->arena);

	return !p || (p >= arena && p < arena + ARENA) ? p : bad_pointer(w);
}

struct context *some_ctx(struct call_worker *w)
{
	return &w->process->ctx[BELOW(CONTEXTS)];
}

uint32_t some_id(struct call_worker *w, struct context *ctx, enum object_kind kind)
{
	if (ONE_IN(24))
		return interesting(w);
	if (ONE_IN(24))
		kind = BELOW(KINDS);
	return ctx->id[kind][BELOW(IDS)];
}

/* A buffer that nobody knows any more would lock memory until its context is closed. */
static void forget_buffer(const struct context *ctx, uint32_t id)
{
	int i;

	for (i = 0; i < IDS; i++)
		if (ctx->id[BUFFER][i] == id)
			return;
	kt_destroy(ctx->fd, id);
}

/* Keeps the id in a random place, and in all places that are still empty. */
static void keep_id(struct call_worker *w, struct context *ctx, enum object_kind kind, uint32_t id)
{
	uint32_t old;
	int i;

	if (!id)
		return;
	old = __atomic_exchange_n(&ctx->id[kind][BELOW(IDS)], id, __ATOMIC_RELAXED);
	if (kind == BUFFER && old)
		forget_buffer(ctx, old);
	for (i = 0; i < IDS; i++)
		if (!ctx->id[kind][i])
			ctx->id[kind][i] = id;
}

static void keep_fd(struct call_worker *w, int *slots, int fd)
{
	int old = __atomic_exchange_n(&slots[BELOW(FDS)], fd, __ATOMIC_RELAXED);

	if (old >= 0)
		close(old);
}

static int some_fd(struct call_worker *w, const int *slots)
{
	if (ONE_IN(24))
		return (int)BELOW(64) - 1;
	if (ONE_IN(24))
		slots = ONE_IN(2) ? w->process->joint : w->process->member;
	return slots[BELOW(FDS)];
}

/* Returns a deadline that has passed or is near, so that no call waits for ever. */
static uint64_t some_deadline(struct call_worker *w)
{
	return ONE_IN(3) ? BELOW(2) : kt_now() + BELOW(3000000);
}

/* Chooses a part of the arena, which may overlap the list's memory. */
static void some_memory(struct call_worker *w, __u64 *address, __u64 *length, uint32_t *flags)
{
	uint64_t from = BELOW(ARENA - 65536);
	uint64_t least = ONE_IN(8) ? 1 : 49152;

	if (!ONE_IN(8))
		from &= ~4095ULL;
	*address = kt_ptr(w->process->arena) + from;
	*length = least + BELOW(ONE_IN(16) ? ARENA - from - 49152 : 16384);
	if (!ONE_IN(8))
		return;
	*address = kt_ptr(w->process->guard) + BELOW(GUARD / 2);
	*length = 1 + BELOW(GUARD / 2);
	*flags = DDIO_BUFFER_READONLY;
}

static int open_disk(struct call_worker *w)
{
	static const int mode[] = { O_RDWR, O_RDWR, O_RDWR,   O_RDWR,
				    O_RDWR, O_RDWR, O_RDONLY, O_WRONLY };
	struct kt_dev **disk = w->process->disk;
	unsigned int i = BELOW(DISKS);

	if (ONE_IN(32))
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	if (!disk[i])
		i = 0;
	return open(disk[i]->path, (i == DISKS - 1 ? O_RDONLY : mode[BELOW(8)]) | O_CLOEXEC);
}

static void fill_blocks(struct call_worker *w, struct context *ctx, struct ddio_submit *s)
{
	uint32_t d = some_id(w, ctx, DISK), b = some_id(w, ctx, BUFFER), i;
	uint64_t at = BELOW(2048) * 512;

	for (i = 0; i < BLOCKS; i++) {
		struct ddio_block *block = &w->block[i];

		memset(block, 0, sizeof(*block));
		block->disk = ONE_IN(64) ? some_id(w, ctx, DISK) : d;
		if (s->op == DDIO_FLUSH)
			continue;
		block->length = 512 << BELOW(ONE_IN(256) ? 16 : 5);
		block->offset = at;
		at += block->length + (ONE_IN(2) ? 512 * BELOW(16) : 0);
		if (s->delivery == DDIO_PLACE) {
			block->where = BELOW(16) * 512;
			block->buffer = ONE_IN(64) ? some_id(w, ctx, BUFFER) : b;
		} else if (s->delivery == DDIO_SCATTER) {
			block->where = BELOW(RUNS);
			block->buffer = BELOW(RUNS - block->where + 1);
		}
	}
}

static void fill_runs(struct call_worker *w)
{
	uint32_t i, l;

	for (i = 0; i < RUNS; i++) {
		struct ddio_run *run = &w->run[i];

		memset(run, 0, sizeof(*run));
		run->memory = 4096 + BELOW(4096);
		run->offset = BELOW(64);
		run->length = 1 + BELOW(32);
		run->member = ONE_IN(16) ? BELOW(3) : BELOW(2);
		run->levels = BELOW(DDIO_RUN_LEVELS + 1);
		for (l = 0; l < run->levels; l++) {
			run->level[l].count = 1 + BELOW(4);
			run->level[l].block_stride = BELOW(32);
			run->level[l].memory_stride = BELOW(256) - 64;
		}
	}
}

static void fill_submit(struct call_worker *w, struct context *ctx, struct ddio_submit *s)
{
	kt_submit_init(s, ONE_IN(8) ? DDIO_FLUSH : 1 + BELOW(2), BELOW(3), w->block,
		       1 + BELOW(BLOCKS));
	s->delivery = s->op == DDIO_FLUSH ? DDIO_PLACE : s->delivery;
	s->flags = BELOW(256);
	if (!ONE_IN(4))
		s->flags &= ~DDIO_SUBMIT_EVENTS;
	if (s->delivery != DDIO_SCATTER)
		s->flags &= ~DDIO_SUBMIT_SUMS;
	if (s->op != DDIO_WRITE)
		s->flags &= ~(DDIO_SUBMIT_FUA | DDIO_SUBMIT_FLUSH);
	s->depth = BELOW(ONE_IN(4) ? 65 : 5);
	s->user_data = kt_random(&w->rng);
	s->deadline = some_deadline(w);
	s->status = ONE_IN(2) ? kt_ptr(w->status) : 0;
	if (s->op == DDIO_FLUSH)
		s->nr_blocks = 1 + ONE_IN(8);
	fill_blocks(w, ctx, s);
	if (s->delivery == DDIO_STREAM) {
		s->slot_buffer = some_id(w, ctx, BUFFER);
		s->slot_length = ONE_IN(8) ? 512 << BELOW(8) : 8192;
		s->slot_offset = 512 * BELOW(8);
	} else if (s->delivery == DDIO_SCATTER) {
		s->joint_fd = some_fd(w, w->process->joint);
		s->runs = kt_ptr(w->run);
		s->nr_runs = RUNS;
		fill_runs(w);
	}
}

/* Undoes mutations that name foreign memory, ask for more than the machine has, or wait for ever. */
static void tame(struct call_worker *w, unsigned int cmd, union random_arg *a)
{
	uint64_t soon = kt_now() + 10000000;

	switch (cmd) {
	case DDIO_BUFFER_ADD:
		if (!(a->buffer.flags & DDIO_BUFFER_READONLY))
			a->buffer.address = safe_pointer(w, a->buffer.address);
		break;
	case DDIO_JOINT_JOIN:
		if (!(a->join.flags & DDIO_BUFFER_READONLY))
			a->join.address = safe_pointer(w, a->join.address);
		break;
	case DDIO_RING_SETUP:
		if (!ONE_IN(64) && a->ring.events <= DDIO_RING_MAX)
			a->ring.events &= 4095;
		break;
	case DDIO_SUBMIT:
		if (a->submit.blocks != kt_ptr(w->block))
			a->submit.blocks = safe_pointer(w, a->submit.blocks);
		if (a->submit.runs != kt_ptr(w->run))
			a->submit.runs = safe_pointer(w, a->submit.runs);
		if (a->submit.status &&
		    (a->submit.status != kt_ptr(w->status) || a->submit.nr_blocks > BLOCKS))
			a->submit.status = bad_pointer(w);
		if (a->submit.nr_blocks <= DDIO_LIST_MAX)
			a->submit.nr_blocks %= 4096;
		if (a->submit.nr_runs <= DDIO_RUNS_MAX)
			a->submit.nr_runs %= 4096;
		if (a->submit.deadline > soon)
			a->submit.deadline = soon;
		break;
	case DDIO_WAIT:
		if (a->wait.status &&
		    (a->wait.status != kt_ptr(w->status) || a->wait.nr_status > BLOCKS))
			a->wait.status = bad_pointer(w);
		if (a->wait.deadline > soon)
			a->wait.deadline = soon;
		break;
	case DDIO_JOINT_WAIT:
		if (a->joint_wait.deadline > soon)
			a->joint_wait.deadline = soon;
		break;
	}
}

static void mutate(struct call_worker *w, unsigned int cmd, union random_arg *a, size_t size)
{
	uint64_t value;
	int n = 1 + BELOW(3);
	size_t at;

	while (n--) {
		value = interesting(w);
		at = BELOW(size / 4) * 4;
		if (cmd == DDIO_SUBMIT && ONE_IN(2))
			memcpy((char *)w->block + BELOW(sizeof(w->block) / 4 - 1) * 4, &value,
			       ONE_IN(2) ? 4 : 8);
		else if (cmd == DDIO_SUBMIT && ONE_IN(4))
			memcpy((char *)w->run + BELOW(sizeof(w->run) / 4 - 1) * 4, &value,
			       ONE_IN(2) ? 4 : 8);
		else
			memcpy(a->byte + at, &value, at + 8 <= size && ONE_IN(2) ? 8 : 4);
	}
	/* Mostly the size is right, else nothing else is looked at. */
	if (!ONE_IN(8))
		a->info.size = size;
	tame(w, cmd, a);
}

static bool documented(int err)
{
	static const int table[] = { 0,	     E2BIG, EINVAL,  EOPNOTSUPP, ENOTTY,    EFAULT,
				     ENOENT, EBADF, ENOTBLK, EACCES,	 ERANGE,    EOVERFLOW,
				     EEXIST, EBUSY, ENOMEM,  EINTR,	 ETIMEDOUT, EMFILE };
	size_t i;

	for (i = 0; i < KT_ARRAY_SIZE(table); i++)
		if (table[i] == err)
			return true;
	return false;
}

static void add(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* Makes the call, and checks the two things that are true of every call. */
static int call(struct call_worker *w, int fd, unsigned int cmd, union random_arg *a, size_t size)
{
	union random_arg before;
	int err;

	if (!w->sane && ONE_IN(2))
		mutate(w, cmd, a, size);
	else
		tame(w, cmd, a);
	before = *a;
	err = -kt_call(fd, cmd, a);
	add(&w->tally->calls);
	add(&w->tally->errnos[err & 255]);
	if (!err)
		add(&w->tally->well[(cmd - DDIO_INFO) & 15]);
	if (!documented(err)) {
		add(&w->tally->strange);
		printf("# command %#x: errno %d\n", cmd, err);
	}
	before.submit.out_block = cmd == DDIO_SUBMIT ? a->submit.out_block
						     : before.submit.out_block;
	if (err && memcmp(&before, a, sizeof(before)))
		add(&w->tally->changed);
	return err;
}

#define CALL(fd, cmd, type) call(w, fd, cmd, &a, sizeof(struct type))

static void do_disk_add(struct call_worker *w, struct context *ctx)
{
	union random_arg a = { .disk = { .size = sizeof(a.disk), .fd = open_disk(w) } };
	int fd = a.disk.fd;

	if (!CALL(ctx->fd, DDIO_DISK_ADD, ddio_disk_add))
		keep_id(w, ctx, DISK, a.disk.out_disk);
	close(fd);
}

static void do_buffer_add(struct call_worker *w, struct context *ctx)
{
	union random_arg a = { .buffer = { .size = sizeof(a.buffer) } };

	some_memory(w, &a.buffer.address, &a.buffer.length, &a.buffer.flags);
	if (!CALL(ctx->fd, DDIO_BUFFER_ADD, ddio_buffer_add))
		keep_id(w, ctx, BUFFER, a.buffer.out_buffer);
}

static pthread_mutex_t ring_lock = PTHREAD_MUTEX_INITIALIZER;

/* Of a context that was closed meanwhile, perhaps; it stays mapped until there is another. */
static void keep_ring(struct context *ctx, void *ring, size_t length)
{
	drop_ring(ctx);
	pthread_mutex_lock(&ring_lock);
	ctx->ring = ring;
	ctx->ring_length = length;
	pthread_mutex_unlock(&ring_lock);
}

void drop_ring(struct context *ctx)
{
	pthread_mutex_lock(&ring_lock);
	if (ctx->ring)
		mmap(ctx->ring, ctx->ring_length, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	pthread_mutex_unlock(&ring_lock);
}

static void do_ring_setup(struct call_worker *w, struct context *ctx)
{
	union random_arg a = {
		.ring = { .size = sizeof(a.ring), .events = 1 << BELOW(10), .slots = BELOW(64) }
	};
	void *p;

	if (CALL(ctx->fd, DDIO_RING_SETUP, ddio_ring_setup))
		return;
	p = mmap(NULL, a.ring.out_length, PROT_READ | PROT_WRITE, MAP_SHARED, ctx->fd, 0);
	if (p != MAP_FAILED)
		keep_ring(ctx, p, a.ring.out_length);
}

static void do_submit(struct call_worker *w, struct context *ctx)
{
	union random_arg a;

	memset(&a, 0, sizeof(a));
	fill_submit(w, ctx, &a.submit);
	if (!CALL(ctx->fd, DDIO_SUBMIT, ddio_submit))
		keep_id(w, ctx, COLL, a.submit.out_collective);
}

static void do_wait(struct call_worker *w, struct context *ctx)
{
	union random_arg a = { .wait = { .size = sizeof(a.wait),
					 .collective = some_id(w, ctx, COLL),
					 .deadline = some_deadline(w) } };

	CALL(ctx->fd, DDIO_WAIT, ddio_wait);
}

static void do_small(struct call_worker *w, struct context *ctx)
{
	union random_arg a;

	memset(&a, 0, sizeof(a));
	switch (BELOW(6)) {
	case 0:
		a.info.size = sizeof(a.info);
		CALL(ctx->fd, DDIO_INFO, ddio_info);
		break;
	case 1:
	case 2:
		a.destroy =
			(struct ddio_destroy){ sizeof(a.destroy), some_id(w, ctx, BELOW(KINDS)) };
		CALL(ctx->fd, DDIO_DESTROY, ddio_destroy);
		break;
	case 3:
		a.cancel.size = sizeof(a.cancel);
		a.cancel.collective = some_id(w, ctx, COLL);
		CALL(ctx->fd, DDIO_CANCEL, ddio_cancel);
		break;
	case 4:
		a.kick.size = sizeof(a.kick);
		a.kick.collective = some_id(w, ctx, COLL);
		a.kick.slot = BELOW(64);
		CALL(ctx->fd, DDIO_KICK, ddio_kick);
		break;
	default:
		/* Others' commands on descriptors of ours only. */
		kt_fill(&w->rng, &a, sizeof(a));
		if (ONE_IN(2))
			call(w, ctx->fd, kt_random(&w->rng), &a, sizeof(a));
		else
			call(w, some_fd(w, w->process->member), DDIO_INFO + BELOW(12), &a,
			     sizeof(a));
	}
}

static void do_join(struct call_worker *w, int joint, uint32_t member)
{
	union random_arg a = { .join = { .size = sizeof(a.join), .member = member } };

	some_memory(w, &a.join.address, &a.join.length, &a.join.flags);
	if (!CALL(joint, DDIO_JOINT_JOIN, ddio_joint_join))
		keep_fd(w, w->process->member + FDS * BELOW(2), a.join.out_fd);
}

static void do_joint(struct call_worker *w, struct context *ctx)
{
	union random_arg a;

	memset(&a, 0, sizeof(a));
	switch (BELOW(4)) {
	case 0:
		a.create.size = sizeof(a.create);
		a.create.members = 2 + BELOW(3);
		if (CALL(ctx->fd, DDIO_JOINT_CREATE, ddio_joint_create))
			break;
		do_join(w, a.create.out_fd, 0);
		do_join(w, a.create.out_fd, 1);
		keep_fd(w, w->process->joint, a.create.out_fd);
		break;
	case 1:
	case 2:
		do_join(w, some_fd(w, w->process->joint), BELOW(4));
		break;
	default:
		a.joint_wait.size = sizeof(a.joint_wait);
		a.joint_wait.deadline = some_deadline(w);
		CALL(some_fd(w, w->process->member), DDIO_JOINT_WAIT, ddio_joint_wait);
	}
}

void some_call(struct call_worker *w)
{
	struct context *ctx = some_ctx(w);

	switch (BELOW(16)) {
	case 0:
		do_disk_add(w, ctx);
		break;
	case 1:
	case 2:
		do_buffer_add(w, ctx);
		break;
	case 3:
		do_ring_setup(w, ctx);
		break;
	case 4:
	case 5:
	case 6:
	case 7:
	case 8:
		do_submit(w, ctx);
		break;
	case 9:
	case 10:
		do_wait(w, ctx);
		break;
	case 11:
	case 12:
		do_joint(w, ctx);
		break;
	default:
		do_small(w, ctx);
	}
}

void first_calls(struct call_worker *w, struct context *ctx)
{
	w->sane = true;
	do_disk_add(w, ctx);
	do_buffer_add(w, ctx);
	do_buffer_add(w, ctx);
	do_ring_setup(w, ctx);
	w->sane = false;
}
