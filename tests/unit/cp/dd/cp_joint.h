/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Joints in virtual time: memory of compute processes, and disks whose blocks go straight to and from it.  Joints are those of the
 * kernel module to all who use them, whose part is played here; so a program that includes this has none of env/kernel/joint.c.
 */
#ifndef DDIO_TEST_CP_JOINT_H
#define DDIO_TEST_CP_JOINT_H

#include "env/disk/scatter.h"
#include "env/kernel/joint.h"
#include "tests/unit/cp/cp_world.h"

enum { JOINT_MEMBERS = 8, JOINT_LETTERS = 64, JOINT_DISK_NS = 200000 };

/* @refs: one of each holder; @member: those whose memory is in it */
struct cp_joint {
	uint32_t refs;
	struct cp_membership *member[JOINT_MEMBERS];
};

struct cp_membership {
	struct cp_joint *joint;
	uint32_t member;
	uint8_t *mem;
	size_t len;
	bool used;
};

/* Joints that have been sent and not taken; memberships that moved something, and those that did not; blocks. */
static struct {
	struct {
		char name[MAILBOX_NAME];
		struct cp_joint *joint;
	} letter[JOINT_LETTERS];
	uint32_t used, unused, blocks, orphans;
} joints;

static struct cp_joint *joint_played(struct ddio_joint *joint)
{
	return (struct cp_joint *)joint;
}

int ddio_joint_new(struct ddio_env *env, uint32_t members, struct ddio_joint **joint)
{
	struct cp_joint *j = calloc(1, sizeof(*j));

	(void)env;
	CU_ASSERT_FATAL(members <= JOINT_MEMBERS);
	j->refs = 1;
	*joint = (struct ddio_joint *)j;
	return 0;
}

void ddio_joint_get(struct ddio_joint *joint)
{
	joint_played(joint)->refs++;
}

static void joint_drop(struct cp_joint *joint)
{
	if (!--joint->refs)
		free(joint);
}

void ddio_joint_put(struct ddio_joint *joint)
{
	if (joint)
		joint_drop(joint_played(joint));
}

int joint_fd(const struct ddio_joint *joint)
{
	(void)joint;
	return -1;
}

int ddio_joint_send(struct ddio_joint *joint, const char *name, const uint8_t token[MAILBOX_TOKEN])
{
	uint32_t i;

	(void)token;
	for (i = 0; i < JOINT_LETTERS && joints.letter[i].joint; i++)
		;
	CU_ASSERT_FATAL(i < JOINT_LETTERS);
	snprintf(joints.letter[i].name, MAILBOX_NAME, "%s", name);
	joints.letter[i].joint = joint_played(joint);
	ddio_joint_get(joint);
	return 0;
}

int ddio_mailbox_take(struct ddio_mailbox *box, struct ddio_joint **joint)
{
	uint32_t i;

	for (i = 0; i < JOINT_LETTERS; i++)
		if (joints.letter[i].joint && !strcmp(joints.letter[i].name, box->name)) {
			*joint = (struct ddio_joint *)joints.letter[i].joint;
			joints.letter[i].joint = NULL;
			return 0;
		}
	return -ENOENT;
}

int ddio_joint_join(struct ddio_joint *joint, uint32_t member, const void *mem, size_t len,
		    bool reading, struct ddio_membership **membership)
{
	struct cp_joint *j = joint_played(joint);
	struct cp_membership *m;

	(void)reading;
	if (j->member[member])
		return -EEXIST;
	m = malloc(sizeof(*m));
	*m = (struct cp_membership){ j, member, (uint8_t *)(uintptr_t)mem, len, false };
	j->refs++;
	j->member[member] = m;
	*membership = (struct ddio_membership *)m;
	return 0;
}

void ddio_membership_end(struct ddio_membership *membership)
{
	struct cp_membership *m = (struct cp_membership *)membership;

	if (!m)
		return;
	joints.used += m->used;
	joints.unused += !m->used;
	m->joint->member[m->member] = NULL;
	joint_drop(m->joint);
	free(m);
}

/*
 * The disks
 */
struct joint_disk {
	struct ddio_timer timer;
	bool stopped;
};

static void run_move(const struct ddio_run *run, uint32_t level, uint64_t at, uint64_t mem,
		     uint8_t *block, const struct cp_membership *m, bool write)
{
	uint32_t i;

	if (!level) {
		CU_ASSERT_FATAL(mem + run->length <= m->len);
		memcpy(write ? block + at : m->mem + mem, write ? m->mem + mem : block + at,
		       run->length);
		return;
	}
	for (i = 0; i < run->level[level - 1].count; i++)
		run_move(run, level - 1, at + i * run->level[level - 1].block_stride,
			 mem + i * (uint64_t)run->level[level - 1].memory_stride, block, m, write);
}

/* Return: 0, or -EOWNERDEAD: a member is not in the joint. */
static int block_move(struct ddio_disk_scatter *list, const struct ddio_block *b)
{
	const struct cp_joint *joint = joint_played(list->spec.joint);
	bool write = list->spec.op == DDIO_DISK_WRITE;
	uint8_t *block = calloc(1, list->spec.len);
	struct ddio_disk_req req = {
		.op = list->spec.op, .offset = b->offset, .len = list->spec.len, .buf = block
	};
	uint64_t i;

	for (i = 0; i < b->nr_runs; i++)
		if (!joint->member[list->run[b->first_run + i].member]) {
			free(block);
			joints.orphans++;
			return -EOWNERDEAD;
		}
	if (!write)
		CU_ASSERT_EQUAL(ddio_disk_mem.rw_sync(list->disk, &req), 0);
	for (i = 0; i < b->nr_runs; i++) {
		const struct ddio_run *run = &list->run[b->first_run + i];
		struct cp_membership *m = joint->member[run->member];

		m->used = true;
		run_move(run, run->levels, run->offset, run->memory, block, m, write);
	}
	if (write)
		CU_ASSERT_EQUAL(ddio_disk_mem.rw_sync(list->disk, &req), 0);
	free(block);
	joints.blocks++;
	return 0;
}

static void list_move(void *arg)
{
	struct ddio_disk_scatter *list = arg;
	struct joint_disk *jd = list->priv;
	int err = jd->stopped ? -ECANCELED : 0;
	uint32_t i;

	for (i = 0; i < list->nblocks; i++) {
		err = err ? -ECANCELED : block_move(list, &list->block[i]);
		disk_scatter_landed(list, i, err);
	}
	list->priv = NULL;
	free(jd);
	disk_scatter_ended(list);
}

static int list_start(struct ddio_disk_scatter *list)
{
	struct joint_disk *jd = calloc(1, sizeof(*jd));
	struct ddio_env *env = list->disk->env;

	list->priv = jd;
	jd->timer.fn = list_move;
	jd->timer.arg = list;
	ddio_timer_arm(env, &jd->timer, ddio_env_now(env) + JOINT_DISK_NS * list->nblocks);
	return 0;
}

static void list_cancel(struct ddio_disk_scatter *list)
{
	struct joint_disk *jd = list->priv;

	if (jd)
		jd->stopped = true;
}

/* All I/O processors' disks, in memory, scatter. */
static inline void cp_joint_disks(struct cp_world *w)
{
	static const struct disk_scatter_engine ops = { .start = list_start,
							.cancel = list_cancel };
	static struct ddio_disk_engine scatters;
	uint32_t i, r, d;

	scatters = ddio_disk_mem;
	scatters.scatter = &ops;
	for (i = 0; i < w->p.nodes; i++)
		for (r = 0; r < w->p.reactors; r++)
			for (d = 0; d < w->node[i].iop->reactors[r].ndisks; d++) {
				struct ddio_disk *disk = w->node[i].iop->reactors[r].disks[d].disk;

				disk->engine = &scatters;
				disk->info.scatters = true;
			}
}

#endif /* DDIO_TEST_CP_JOINT_H */
