/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that all of a group have opened, transfers in their orders, and what a member can say of these whatever it has come to. */
#ifndef DDIO_TEST_CP_ORDERS_H
#define DDIO_TEST_CP_ORDERS_H

#include "cp/group/fan/priv.h"
#include "cp/group/peer.h"
#include "tests/unit/cp/cp_world.h"

/* Runs @fn on @p->procs processes, with disks that have room for what they do. */
static inline void orders_run(void (*fn)(struct cp_proc *p), struct cp_params p, void *arg)
{
	struct cp_world w;

	p.disk_size = "64M";
	cp_world_begin(&w, &p);
	ddio_sim_limit(w.dw, 1200 * CP_SEC);
	CU_ASSERT_EQUAL(cp_run(&w, fn, arg), 0);
	cp_world_end(&w);
}

/* Opens @n files together: their orders have the keys from 1 on, if they are the group's first. */
static inline void orders_open(struct cp_proc *p, struct ddio_group *g, struct ddio_file **file,
			       uint32_t n)
{
	char name[16];
	uint32_t k;

	for (k = 0; k < n; k++) {
		snprintf(name, sizeof(name), "f%u", k);
		CP_OK(p, ddio_open_all(g, name, DDIO_CREATE, NULL, &file[k]));
	}
}

static inline void orders_close(struct ddio_file **file, uint32_t n)
{
	uint32_t k;

	for (k = 0; k < n; k++)
		ddio_close(file[k]);
}

/* A transfer of members' shares, which follow each other, with what it points to. */
struct orders_job {
	struct ddio_extent e;
	struct ddio_array array;
	struct ddio_part part;
	struct ddio_transfer t;
	struct ddio_op *op;
};

static inline void orders_transfer(struct orders_job *j, void *buf)
{
	j->t = (struct ddio_transfer){ .struct_size = sizeof(j->t),
				       .part = &j->part,
				       .buf = buf,
				       .method = DDIO_METHOD_DDS,
				       .flags = DDIO_XFER_FILE_ORDER };
}

/* Of @len bytes each, the first member's at @at. */
static inline void orders_list(const struct cp_proc *p, struct orders_job *j, void *buf,
			       uint64_t at, uint64_t len)
{
	*j = (struct orders_job){ .e = { at + p->rank * len, len } };
	j->part = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = 1, .list = &j->e };
	orders_transfer(j, buf);
}

static inline void orders_array(const struct cp_proc *p, struct orders_job *j, void *buf,
				uint64_t len)
{
	uint32_t procs = p->w->p.procs;

	*j = (struct orders_job){ .array = { .elem_size = 8,
					     .ndims = 1,
					     .dim = { { .size = len / 8 * procs,
							.dist = DDIO_BLOCK,
							.procs = procs } } } };
	j->part = (struct ddio_part){ .kind = DDIO_PART_ARRAY, .array = &j->array };
	orders_transfer(j, buf);
}

/**
 * struct orders_say - what a member contributes to turns, or tells those below it of them
 * @rank: that member; @to: whom it tells
 * @opcode: DDIO_OP_FAN_IN or FAN_OUT; @status: of it, with a long text
 * @number: of the first turn; @times: so many one after the other, and @more of the group's own, from the next one on
 * @len: bytes to be gathered
 * @strange: in the name of another group
 */
struct orders_say {
	struct ddio_post post;
	struct ddio_gate gate;
	struct ddio_group *group;
	uint32_t rank, to;
	uint16_t opcode;
	uint32_t status;
	uint64_t number;
	unsigned int times, more;
	size_t len;
	bool strange;
};

static inline void orders_say_now(void *arg)
{
	struct orders_say *say = arg;
	size_t len = (say->opcode == DDIO_OP_FAN_IN ? 4 : 0) + say->len, cap = len + 1024;
	struct ddio_msg_fan msg = { .kind = FAN_KIND_START,
				    .rank = say->group->rank,
				    .status = say->status,
				    .blame = say->status ? say->group->rank : 0 };
	uint8_t *data = calloc(1, len + 1), *buf = malloc(cap);
	ssize_t n;

	msg.group[0] = say->group->id[0] ^ say->strange;
	memcpy(msg.group + 1, say->group->id + 1, sizeof(msg.group) - 1);
	if (say->status)
		memset(msg.text, 'x', sizeof(msg.text) - 1);
	msg.data = data;
	msg.len = len;
	for (; say->times + say->more; say->times ? say->times-- : say->more--) {
		if (!say->times && order_key(say->number))
			say->number = say->group->own.last + 1;
		msg.seq = say->number++ * STEP_NUMBERS;
		n = ddio_put_fan(buf, cap, &msg);
		peer_send(say->group, say->to, say->opcode, buf, (size_t)n);
	}
	free(data);
	free(buf);
	ddio_gate_open(say->group->session->env, &say->gate);
}

/* Has that member say it, and all wait until it has come. */
static inline void orders_tell(struct cp_proc *p, struct ddio_group *g, struct orders_say say)
{
	say.group = g;
	say.post.fn = orders_say_now;
	say.post.arg = &say;
	ddio_gate_init(&say.gate);
	if (p->rank == say.rank)
		CU_ASSERT_EQUAL(ddio_env_call(p->env, &say.post, &say.gate), 0);
	ddio_sim_sleep(p->env, CP_SEC);
}

/* Rank 1 says it to rank 0, of the turn with that place in the order of the file with that key. */
static inline struct orders_say orders_up(uint64_t key, uint64_t place, unsigned int times)
{
	return (struct orders_say){ .rank = 1,
				    .opcode = DDIO_OP_FAN_IN,
				    .number = (key << ORDER_PLACE_BITS) + place,
				    .times = times };
}

#endif /* DDIO_TEST_CP_ORDERS_H */
