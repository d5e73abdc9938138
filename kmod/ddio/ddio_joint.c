// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joints: memory of several processes that collectives scatter to and gather from.
 *
 * A joint is a descriptor that its maker passes on.  A process that joins gets another one, for
 * the membership, which keeps the process's memory pinned and in the joint until its last copy is
 * closed; so a member's death takes it out.  Collectives hold references to the pins that they
 * need, and are stopped when one of these is taken out, so that nobody believes that all members
 * have all bytes.  A member that leaves waits for no more than the steps of copies that are under
 * way (ddio_copy.c), and none begins: it may use its memory for something else at once.  The
 * joint's lock is held for short times only, since whoever dies needs it.
 *
 * A joint's descriptor lets its holder join, and no more: collectives over it are submitted by
 * contexts that the process opened which opened the one that made the joint.
 */
#include <linux/anon_inodes.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "ddio_coll.h"
#include "ddio_dispatch.h"

/* Runs between two looks at whether to let other tasks run. */
#define DDIO_JOINT_CHUNK 4096U

/**
 * struct ddio_member - a membership, as its file knows it
 * @joint: reference
 * @pin: reference; in @joint->member[@index] if it has been put there
 * @index: in the joint
 * @seen: collectives that the last DDIO_JOINT_WAIT reported
 */
struct ddio_member {
	struct ddio_kjoint *joint;
	struct ddio_pin *pin;
	u32 index;
	u64 seen;
};

static void joint_free(struct kref *ref)
{
	struct ddio_kjoint *joint = container_of(ref, struct ddio_kjoint, ref);

	mutex_destroy(&joint->lock);
	mmdrop(joint->owner);
	kvfree(joint->member);
	ddio_charge_drop(&joint->charge);
	kfree(joint);
	atomic64_dec(&ddio_live.joints);
}

void ddio_joint_put(struct ddio_kjoint *joint)
{
	kref_put(&joint->ref, joint_free);
}

static struct ddio_kjoint *joint_new(struct mm_struct *owner, u32 members)
{
	struct ddio_kjoint *joint = kzalloc(sizeof(*joint), DDIO_GFP);

	if (!joint)
		return NULL;
	if (!ddio_charge_add(&joint->charge, members * sizeof(*joint->member)))
		joint->member = ddio_alloc_long(members, sizeof(*joint->member), true);
	if (!joint->member) {
		ddio_charge_drop(&joint->charge);
		kfree(joint);
		return NULL;
	}
	kref_init(&joint->ref);
	mutex_init(&joint->lock);
	joint->owner = owner;
	mmgrab(owner);
	joint->nr_members = members;
	INIT_LIST_HEAD(&joint->colls);
	init_waitqueue_head(&joint->wait);
	atomic64_inc(&ddio_live.joints);
	return joint;
}

static long joint_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
static long member_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

static int joint_release(struct inode *inode, struct file *file)
{
	ddio_joint_put(file->private_data);
	return 0;
}

static const struct file_operations ddio_joint_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = joint_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = joint_release,
	.llseek = noop_llseek,
};

/* Reserves a descriptor's number and makes its file, which then owns @object. */
static int joint_make_file(const char *name, const struct file_operations *fops, void *object,
			   s32 *out_fd, struct file **out_file)
{
	struct file *file;
	int fd;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = anon_inode_getfile(name, fops, object, O_RDWR);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	*out_fd = fd;
	*out_file = file;
	return 0;
}

int ddio_joint_create(struct ddio_ctx *ctx, struct ddio_joint_create *arg, struct file **file)
{
	struct ddio_kjoint *joint;
	int err;

	if (!arg->members)
		return -EINVAL;
	if (arg->members > DDIO_MEMBERS_MAX)
		return -EOVERFLOW;
	joint = joint_new(ctx->owner, arg->members);
	if (!joint)
		return -ENOMEM;
	err = joint_make_file("[ddio-joint]", &ddio_joint_fops, joint, &arg->out_fd, file);
	if (err)
		ddio_joint_put(joint);
	return err;
}

struct ddio_kjoint *ddio_joint_from_fd(int fd)
{
	struct ddio_kjoint *joint;
	struct file *file;

	file = fget(fd);
	if (!file)
		return ERR_PTR(-EBADF);
	if (file->f_op == &ddio_joint_fops) {
		joint = file->private_data;
		kref_get(&joint->ref);
	} else {
		joint = ERR_PTR(-EBADF);
	}
	fput(file);
	return joint;
}

/* Takes the member out and stops the collectives that need its memory. */
static void joint_take_out(struct ddio_kjoint *joint, struct ddio_member *member)
{
	struct ddio_coll *coll;
	bool needed = false;

	mutex_lock(&joint->lock);
	if (joint->member[member->index] == member->pin) {
		joint->member[member->index] = NULL;
		list_for_each_entry(coll, &joint->colls, joint_link) {
			if (coll->list.member[member->index] != member->pin)
				continue;
			ddio_coll_stop(coll, -EOWNERDEAD);
			needed = true;
		}
	}
	mutex_unlock(&joint->lock);
	if (needed)
		ddio_pin_leave(member->pin);
}

static void member_free(struct ddio_member *member)
{
	ddio_obj_put(&member->pin->obj);
	ddio_joint_put(member->joint);
	kfree(member);
	atomic64_dec(&ddio_live.memberships);
}

static int member_release(struct inode *inode, struct file *file)
{
	struct ddio_member *member = file->private_data;

	joint_take_out(member->joint, member);
	member_free(member);
	return 0;
}

static __poll_t member_poll(struct file *file, poll_table *table)
{
	struct ddio_member *member = file->private_data;
	struct ddio_kjoint *joint = member->joint;
	__poll_t mask = 0;

	poll_wait(file, &joint->wait, table);
	mutex_lock(&joint->lock);
	if (joint->ended != member->seen)
		mask = EPOLLIN | EPOLLRDNORM;
	mutex_unlock(&joint->lock);
	return mask;
}

static const struct file_operations ddio_member_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = member_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = member_poll,
	.release = member_release,
	.llseek = noop_llseek,
};

/* A membership that is not in the joint yet. */
static struct ddio_member *member_new(struct ddio_kjoint *joint, const struct ddio_joint_join *arg)
{
	struct ddio_member *member;
	int err;

	member = kzalloc(sizeof(*member), DDIO_GFP);
	if (!member)
		return ERR_PTR(-ENOMEM);
	member->pin = ddio_pin_new(arg->address, arg->length, !(arg->flags & DDIO_BUFFER_READONLY));
	if (IS_ERR(member->pin)) {
		err = PTR_ERR(member->pin);
		goto free_member;
	}
	err = ddio_pin_map(member->pin);
	if (err)
		goto put_pin;
	kref_get(&joint->ref);
	member->joint = joint;
	member->index = array_index_nospec(arg->member, joint->nr_members);
	atomic64_inc(&ddio_live.memberships);
	return member;

put_pin:
	ddio_obj_put(&member->pin->obj);
free_member:
	kfree(member);
	return ERR_PTR(err);
}

static int joint_put_in(struct ddio_kjoint *joint, struct ddio_member *member)
{
	int err = 0;

	mutex_lock(&joint->lock);
	if (joint->member[member->index])
		err = -EEXIST;
	else
		joint->member[member->index] = member->pin;
	member->seen = joint->ended;
	mutex_unlock(&joint->lock);
	return err;
}

static int joint_join(void *object, union ddio_arg *any, struct ddio_reply *reply)
{
	struct ddio_joint_join *arg = &any->joint_join;
	struct ddio_kjoint *joint = object;
	struct ddio_member *member;
	int err;

	if (arg->member >= joint->nr_members)
		return -ENOENT;
	member = member_new(joint, arg);
	if (IS_ERR(member))
		return PTR_ERR(member);
	err = joint_put_in(joint, member);
	if (err)
		goto free_member;
	err = joint_make_file("[ddio-member]", &ddio_member_fops, member, &arg->out_fd,
			      &reply->file);
	if (err)
		goto take_out;
	return 0;

take_out:
	joint_take_out(joint, member);
free_member:
	member_free(member);
	return err;
}

static u64 joint_ended(struct ddio_kjoint *joint)
{
	return READ_ONCE(joint->ended);
}

/* Returns 0, -ETIMEDOUT or -ERESTARTSYS, as ddio_coll_wait_end(). */
static int member_wait_until(struct ddio_kjoint *joint, u64 ended, u64 deadline)
{
	ktime_t left;
	int err;

	if (deadline == DDIO_FOREVER)
		return wait_event_interruptible(joint->wait, joint_ended(joint) > ended);
	left = ktime_sub(ns_to_ktime(min_t(u64, deadline, KTIME_MAX)), ktime_get());
	if (left <= 0)
		return joint_ended(joint) > ended ? 0 : -ETIMEDOUT;
	err = wait_event_interruptible_hrtimeout(joint->wait, joint_ended(joint) > ended, left);
	return err == -ETIME ? -ETIMEDOUT : err;
}

static int member_wait(void *object, union ddio_arg *any, struct ddio_reply *reply)
{
	struct ddio_joint_wait *arg = &any->joint_wait;
	struct ddio_member *member = object;
	struct ddio_kjoint *joint = member->joint;
	int err;

	err = member_wait_until(joint, arg->ended, ddio_deadline(arg->deadline));
	if (err)
		return err;
	mutex_lock(&joint->lock);
	arg->out_ended = joint->ended;
	arg->out_error = joint->error;
	member->seen = joint->ended;
	mutex_unlock(&joint->lock);
	return 0;
}

static const struct ddio_ioctl joint_ioctls[] = {
	DDIO_IOCTL(DDIO_JOINT_JOIN, ddio_joint_join, out_fd, joint_join, .out = true,
		   .flags = DDIO_BUFFER_READONLY,
		   .out_fd = offsetof(struct ddio_joint_join, out_fd)),
};

static long joint_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return ddio_ioctl_run(joint_ioctls, ARRAY_SIZE(joint_ioctls), file, cmd, arg);
}

static const struct ddio_ioctl member_ioctls[] = {
	DDIO_IOCTL(DDIO_JOINT_WAIT, ddio_joint_wait, __reserved, member_wait, .out = true,
		   DDIO_RESERVED(ddio_joint_wait)),
};

static long member_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return ddio_ioctl_run(member_ioctls, ARRAY_SIZE(member_ioctls), file, cmd, arg);
}

/* Stands in @list->member for a member that a run names. */
static struct ddio_pin joint_named;

/* Marks each member that a run names; scatter_check_run() refuses those that do not exist. */
static int joint_name_members(struct ddio_block_list *list)
{
	const struct ddio_run *run;
	u64 i, seen = 0;
	u32 k;

	for (i = 0; i < list->nr; i++) {
		run = list->run + list->entry[i].first_run;
		for (k = 0; k < list->entry[i].nr_runs; k++, run++) {
			if (run->member < list->nr_members)
				list->member[array_index_nospec(run->member, list->nr_members)] =
					&joint_named;
			if (++seen % DDIO_JOINT_CHUNK)
				continue;
			if (fatal_signal_pending(current))
				return -EINTR;
			cond_resched();
		}
	}
	return 0;
}

/* Puts the pins of those that have joined in the place of the marks. */
static void joint_take_members(struct ddio_kjoint *joint, struct ddio_block_list *list)
{
	u32 i;

	for (i = 0; i < list->nr_members; i++) {
		if (!list->member[i])
			continue;
		list->member[i] = joint->member[i];
		if (list->member[i])
			kref_get(&list->member[i]->obj.ref);
	}
}

int ddio_joint_begin(struct ddio_kjoint *joint, struct ddio_coll *coll)
{
	struct ddio_block_list *list = &coll->list;
	int err;

	err = ddio_charge_add(&list->charge, joint->nr_members * sizeof(*list->member));
	if (err)
		return err;
	list->member = ddio_alloc_long(joint->nr_members, sizeof(*list->member), true);
	if (!list->member)
		return -ENOMEM;
	list->nr_members = joint->nr_members;
	err = joint_name_members(list);
	if (err) {
		list->nr_members = 0;
		return err;
	}
	mutex_lock(&joint->lock);
	joint_take_members(joint, list);
	list_add_tail(&coll->joint_link, &joint->colls);
	mutex_unlock(&joint->lock);
	return 0;
}

void ddio_joint_leave(struct ddio_kjoint *joint, struct ddio_coll *coll)
{
	mutex_lock(&joint->lock);
	list_del_init(&coll->joint_link);
	mutex_unlock(&joint->lock);
}

void ddio_joint_end(struct ddio_kjoint *joint, struct ddio_coll *coll)
{
	mutex_lock(&joint->lock);
	list_del_init(&coll->joint_link);
	joint->error = coll->error;
	WRITE_ONCE(joint->ended, joint->ended + 1);
	mutex_unlock(&joint->lock);
	wake_up_all(&joint->wait);
}
