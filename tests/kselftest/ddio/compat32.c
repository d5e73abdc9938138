// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit process that uses the device: every ioctl once.  Needs no 32-bit library,
 * which few machines have: it makes its system calls by itself.
 *
 *   compat32 DISK      whose sector n is full of bytes n; test_compat.c calls it
 *
 * Exits with 0, or with the number of the step that failed.
 */
#include <linux/ddio.h>

#define NR_EXIT 1
#define NR_WRITE 4
#define NR_OPEN 5
#define NR_IOCTL 54
#define NR_MMAP 90
#define O_RDWR 2
#define MAP_ANON_PRIVATE 0x22
#define MAP_SHARED 1
#define PROT_RW 3
#define EFAULT 14
#define EINVAL 22
#define ENOTTY 25
#define ETIMEDOUT 110
#define ECANCELED 125

#define BLOCKS 8
#define BLOCK 4096
#define MEMORY (BLOCKS * BLOCK)

_Static_assert(sizeof(void *) == 4, "compiled for 32 bits");

static int step;

static int sys(int nr, int a, int b, int c)
{
	int ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return ret;
}

static void say(const char *text)
{
	int n = 0;

	while (text[n])
		n++;
	sys(NR_WRITE, 1, (int)text, n);
}

static void __attribute__((noreturn)) leave(int code)
{
	for (;;)
		sys(NR_EXIT, code, 0, 0);
}

/* Checks the next step against what it must be. */
static void is(int expected, int seen, const char *what)
{
	step++;
	if (expected == seen)
		return;
	say("# 32-bit process: ");
	say(what);
	say("\n");
	leave(step);
}

void *memset(void *p, int value, unsigned int n)
{
	unsigned char *at = p;

	while (n--)
		*at++ = value;
	return p;
}

void *memcpy(void *to, const void *from, unsigned int n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	while (n--)
		*t++ = *f++;
	return to;
}

static void *map(int length, int flags, int fd)
{
	unsigned int arg[6] = { 0, length, PROT_RW, flags, fd, 0 };

	return (void *)sys(NR_MMAP, (int)arg, 0, 0);
}

static __u64 ptr(const void *p)
{
	return (unsigned int)p;
}

static int call(int fd, unsigned int cmd, void *arg)
{
	return sys(NR_IOCTL, fd, cmd, (int)arg);
}

/* Everything that the calls below need. */
static struct {
	int ctx;
	unsigned int disk;
	unsigned int buffer;
	unsigned char *memory;
	struct ddio_ring *ring;
	struct ddio_block block[BLOCKS];
	int status[BLOCKS];
} w;

/* Reads blocks backwards, each to its place. */
static void blocks(int place)
{
	int i;

	memset(w.block, 0, sizeof(w.block));
	for (i = 0; i < BLOCKS; i++) {
		w.block[i].offset = (BLOCKS - 1 - i) * BLOCK;
		w.block[i].length = BLOCK;
		w.block[i].disk = w.disk;
		w.block[i].where = place ? (BLOCKS - 1 - i) * BLOCK : 0;
		w.block[i].buffer = place ? w.buffer : 0;
	}
}

static void submit_init(struct ddio_submit *s, int delivery)
{
	memset(s, 0, sizeof(*s));
	s->size = sizeof(*s);
	s->op = DDIO_READ;
	s->delivery = delivery;
	s->blocks = ptr(w.block);
	s->nr_blocks = BLOCKS;
	s->joint_fd = -1;
	s->deadline = DDIO_FOREVER;
	s->user_data = 0x123456789abcdef0ULL;
}

static int right(const unsigned char *p, int from, int length)
{
	int i;

	for (i = 0; i < length; i++)
		if (p[i] != (unsigned char)((from + i) / 512))
			return 0;
	return 1;
}

static void begin(const char *path)
{
	struct ddio_info info = { .size = sizeof(info) };
	struct ddio_disk_add disk = { .size = sizeof(disk) };
	struct ddio_buffer_add buffer = { .size = sizeof(buffer), .length = MEMORY };
	struct ddio_ring_setup ring = { .size = sizeof(ring), .events = 32, .slots = 4 };

	w.ctx = sys(NR_OPEN, (int)"/dev/ddio", O_RDWR, 0);
	is(1, w.ctx >= 0, "open");
	is(0, call(w.ctx, DDIO_INFO, &info), "info");
	is(DDIO_LIST_MAX, info.out_list_max, "the longest list");
	disk.fd = sys(NR_OPEN, (int)path, O_RDWR, 0);
	is(0, call(w.ctx, DDIO_DISK_ADD, &disk), "adding the disk");
	is(1, disk.out_bytes >= MEMORY && disk.out_bytes < 1ULL << 40, "its size");
	w.disk = disk.out_disk;
	w.memory = map(MEMORY, MAP_ANON_PRIVATE, -1);
	buffer.address = ptr(w.memory);
	is(0, call(w.ctx, DDIO_BUFFER_ADD, &buffer), "adding a buffer");
	w.buffer = buffer.out_buffer;
	is(0, call(w.ctx, DDIO_RING_SETUP, &ring), "making the ring");
	w.ring = map(ring.out_length, MAP_SHARED, w.ctx);
	is(32, w.ring->events, "mapping the ring");
}

static void place(void)
{
	struct ddio_wait wait = { .size = sizeof(wait), .nr_status = BLOCKS };
	struct ddio_event *event = (void *)((char *)w.ring + w.ring->events_offset);
	struct ddio_submit s;

	blocks(1);
	submit_init(&s, DDIO_PLACE);
	s.flags = DDIO_SUBMIT_WAIT | DDIO_SUBMIT_EVENTS;
	s.status = ptr(w.status);
	memset(w.status, 0x55, sizeof(w.status));
	is(0, call(w.ctx, DDIO_SUBMIT, &s), "submitting");
	is(DDIO_ENDED, s.out_state, "the end");
	is(0, s.out_error | w.status[0] | w.status[BLOCKS - 1], "the statuses");
	is(1, right(w.memory, 0, MEMORY), "the bytes");
	is(BLOCKS + 1, w.ring->tail, "the events");
	is(1, event[BLOCKS].user_data == s.user_data, "the user's data in an event");
	w.ring->head = w.ring->tail;
	wait.collective = s.out_collective;
	wait.status = ptr(w.status);
	is(0, call(w.ctx, DDIO_WAIT, &wait), "waiting");
	is(1, wait.out_bytes == MEMORY && wait.out_block == ~0ULL, "what was waited for");
}

static void stream(void)
{
	struct ddio_wait wait = { .size = sizeof(wait) };
	struct ddio_cancel cancel = { .size = sizeof(cancel) };
	struct ddio_kick kick = { .size = sizeof(kick) };
	struct ddio_submit s;

	blocks(0);
	submit_init(&s, DDIO_STREAM);
	s.slot_buffer = w.buffer;
	s.slot_length = BLOCK;
	is(0, call(w.ctx, DDIO_SUBMIT, &s), "submitting a stream");
	wait.collective = cancel.collective = kick.collective = s.out_collective;
	kick.slot = s.out_first_slot;
	is(-ETIMEDOUT, call(w.ctx, DDIO_WAIT, &wait), "a stream that nobody empties");
	is(0, call(w.ctx, DDIO_KICK, &kick), "a kick");
	is(0, call(w.ctx, DDIO_CANCEL, &cancel), "cancelling");
	wait.deadline = DDIO_FOREVER;
	is(0, call(w.ctx, DDIO_WAIT, &wait), "waiting for a stream");
	is(-ECANCELED, wait.out_error, "its error");
	w.ring->head = w.ring->tail;
}

static void scatter(void)
{
	struct ddio_joint_create create = { .size = sizeof(create), .members = 1 };
	struct ddio_joint_join join = { .size = sizeof(join), .length = MEMORY };
	struct ddio_joint_wait wait = { .size = sizeof(wait), .deadline = DDIO_FOREVER };
	struct ddio_run run = { .length = BLOCK };
	struct ddio_submit s;

	is(0, call(w.ctx, DDIO_JOINT_CREATE, &create), "making a joint");
	memset(w.memory, 0xff, MEMORY);
	join.address = ptr(w.memory);
	is(0, call(create.out_fd, DDIO_JOINT_JOIN, &join), "joining");
	blocks(0);
	w.block[0].buffer = 1;
	submit_init(&s, DDIO_SCATTER);
	s.nr_blocks = 1;
	s.runs = ptr(&run);
	s.nr_runs = 1;
	s.joint_fd = create.out_fd;
	is(0, call(w.ctx, DDIO_SUBMIT, &s), "submitting to a joint");
	is(0, call(join.out_fd, DDIO_JOINT_WAIT, &wait), "waiting as a member");
	is(1, wait.out_ended == 1 && !wait.out_error, "what a member waited for");
	is(1, right(w.memory, (BLOCKS - 1) * BLOCK, BLOCK), "a member's bytes");
	is(-ENOTTY, call(join.out_fd, DDIO_INFO, &wait), "another's call on a membership");
	is(-ENOTTY, call(create.out_fd, DDIO_INFO, &wait), "another's call on a joint");
}

static void bad(void)
{
	struct ddio_info info = { .size = sizeof(info) - 1 };
	struct ddio_destroy destroy = { .size = sizeof(destroy), .id = w.buffer };
	struct ddio_submit s;

	is(-EINVAL, call(w.ctx, DDIO_INFO, &info), "a short struct");
	is(-EFAULT, call(w.ctx, DDIO_INFO, 0), "no struct");
	is(-EFAULT, call(w.ctx, DDIO_INFO, (void *)0xfffff000), "a struct at the end of memory");
	blocks(1);
	submit_init(&s, DDIO_PLACE);
	s.blocks |= 1ULL << 32;
	is(-EFAULT, call(w.ctx, DDIO_SUBMIT, &s), "a list beyond 4 GB");
	is(0, call(w.ctx, DDIO_DESTROY, &destroy), "destroying");
}

static void __attribute__((used, noreturn)) run(int argc, char **argv)
{
	is(2, argc, "one argument");
	begin(argv[1]);
	place();
	stream();
	scatter();
	bad();
	leave(0);
}

/* The stack, as the kernel leaves it: the number of arguments, then these. */
__asm__(".globl _start\n"
	"_start:\n"
	"	mov (%esp), %eax\n"
	"	lea 4(%esp), %edx\n"
	"	and $-16, %esp\n"
	"	sub $8, %esp\n"
	"	push %edx\n"
	"	push %eax\n"
	"	call run\n");
