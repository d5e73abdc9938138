// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Has a file's blocks lie side by side again: each disk is asked again and again, until it has gone through its part.  The
 * disks do a part with each request, so that nothing goes on when nobody asks.  The caller hears of it twice a second.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/file.h"

#define ROUND_NS 500000000ull
/* So often is a disk asked on which others use the same blocks, and so often is it gone through while that frees space. */
enum { MEND_TRIES = 8, MEND_PASSES = 4 };

struct mend_call;

/**
 * struct mend_part - one disk
 * @got: of this pass; @before: of the passes before: what was moved, and what is bad
 * @tries: so often in succession others were in the way; @passes: that have begun
 * @waits: another file is mended first
 */
struct mend_part {
	struct mend_call *mc;
	struct node_request request;
	struct ddio_msg_obj_mend ask;
	struct ddio_msg_mended got;
	uint64_t before;
	uint32_t tries, passes;
	bool done, busy, waits;
};

/**
 * struct mend_call - a file
 * @left: disks that are asked in this round, and one for its time
 * @timer: until the round is over; @over: it is
 */
struct mend_call {
	struct session_call call;
	struct ddio_file *file;
	struct mend_part *part;
	uint32_t left;
	struct ddio_timer timer;
	bool over;
	struct error error;
};

static bool all_done(const struct mend_call *mc)
{
	uint32_t i;

	for (i = 0; i < mc->file->rec.ndisks; i++)
		if (!mc->part[i].done)
			return false;
	return true;
}

static void one_less(struct mend_call *mc)
{
	mc->left--;
	/* Only its time is left. */
	if (mc->left == 1 && !mc->over && (mc->error.status || all_done(mc))) {
		ddio_timer_cancel(mc->call.session->env, &mc->timer);
		mc->left--;
	}
	if (!mc->left)
		call_end(&mc->call, &mc->error);
}

static void round_over(void *arg)
{
	struct mend_call *mc = arg;

	mc->over = true;
	one_less(mc);
}

/* All of the disk's part has been looked at: once more, if space has become free that was wanted. */
static void pass_over(struct mend_part *part)
{
	struct ddio_msg_mended *got = &part->got;

	part->done = !got->space || !got->moved || part->passes == MEND_PASSES;
	if (part->done)
		return;
	part->passes++;
	part->before += got->moved;
	part->ask.at = 0;
	*got = (struct ddio_msg_mended){ 0 };
}

static void part_add(struct mend_part *part, const struct ddio_msg_mended *x)
{
	struct ddio_msg_mended *got = &part->got;

	got->moved += x->moved;
	got->shared += x->shared;
	got->reserved_blocks += x->reserved_blocks;
	got->space += x->space;
	got->bad += x->bad;
	part->waits = x->flags & DDIO_MENDED_WAITS;
	part->tries = x->flags & DDIO_MENDED_BUSY ? part->tries + 1 : 0;
	if (!part->waits)
		part->ask.at = x->at;
	part->busy = part->tries == MEND_TRIES;
	if (x->flags & DDIO_MENDED_ALL)
		pass_over(part);
	else
		part->done = part->busy;
}

static void part_ask(struct mend_part *part);

static void part_got(struct node_request *request, const struct reply *reply)
{
	struct mend_part *part = request->arg;
	struct mend_call *mc = part->mc;
	struct ddio_msg_mended x;
	int err = 0;

	if (reply->status) {
		if (!mc->error.status)
			reply_error(&mc->error, reply, mc->file->rec.name);
	} else {
		err = ddio_get_mended(reply->payload, reply->len, &x);
		if (err)
			reply_malformed(&mc->error, err, mc->file->rec.name);
		else
			part_add(part, &x);
	}
	if (mc->error.status || mc->over || part->done || part->waits)
		one_less(mc);
	else
		part_ask(part);
}

static void part_ask(struct mend_part *part)
{
	struct mend_call *mc = part->mc;
	int err;

	request_init(&part->request, DDIO_OP_OBJ_MEND, part_got, part);
	err = request_put(&part->request, obj_mend, &part->ask);
	if (!err) {
		request_disk(mc->call.session, part->ask.disk, &part->request);
		return;
	}
	error_set(&mc->error, err, "%s: %s", mc->file->rec.name, strerror(-err));
	one_less(mc);
}

static void mend_round(struct session_call *call)
{
	struct mend_call *mc = ddio_container_of(call, struct mend_call, call);
	struct ddio_env *env = call->session->env;
	uint32_t i;

	mc->over = false;
	mc->timer.fn = round_over;
	mc->timer.arg = mc;
	/* One for the round's time, and one so that it does not end before all have been asked. */
	mc->left = 2;
	if (ddio_timer_arm(env, &mc->timer, ddio_env_now(env) + ROUND_NS)) {
		mc->over = true;
		mc->left = 1;
	}
	for (i = 0; i < mc->file->rec.ndisks; i++) {
		if (mc->part[i].done)
			continue;
		mc->left++;
		part_ask(&mc->part[i]);
	}
	one_less(mc);
}

static void state_fill(const struct mend_call *mc, struct ddio_mend_state *st)
{
	uint32_t i;

	*st = (struct ddio_mend_state){ .disks = mc->file->rec.ndisks };
	for (i = 0; i < st->disks; i++) {
		const struct mend_part *part = &mc->part[i];

		st->done += part->done;
		st->waiting += part->waits;
		st->busy += part->busy;
		st->moved += part->before + part->got.moved;
		st->shared += part->got.shared;
		st->unwritten += part->got.reserved_blocks;
		st->crowded += part->got.space;
		st->bad += part->got.bad;
	}
}

static int mend_file(struct mend_call *mc, int (*fn)(void *arg, const struct ddio_mend_state *st),
		     void *arg)
{
	struct ddio_mend_state st;
	int ret;

	do {
		error_clear(&mc->error);
		ret = call_run(mc->file->session, &mc->call, mend_round);
		if (ret)
			return ret;
		state_fill(mc, &st);
		ret = fn(arg, &st);
	} while (!ret && st.done < st.disks);
	return ret;
}

int ddio_mend(struct ddio_file *file, uint64_t rate, uint64_t extent,
	      int (*fn)(void *arg, const struct ddio_mend_state *st), void *arg)
{
	struct mend_call mc = { .file = file };
	uint32_t i;
	int ret;

	if (!file)
		return -EINVAL;
	if (!fn)
		return session_fail(file->session, -EINVAL, "ddio_mend: fn is NULL");
	mc.part = calloc(file->rec.ndisks, sizeof(*mc.part));
	if (!mc.part)
		return session_fail(file->session, -ENOMEM, "ddio_mend: out of memory");
	for (i = 0; i < file->rec.ndisks; i++) {
		mc.part[i].mc = &mc;
		mc.part[i].passes = 1;
		mc.part[i].ask = (struct ddio_msg_obj_mend){ .file = file->rec.ref,
							     .disk = file->rec.disks[i],
							     .longest = extent,
							     .rate = rate };
	}
	ret = mend_file(&mc, fn, arg);
	free(mc.part);
	return ret;
}
