// SPDX-License-Identifier: LGPL-2.1-or-later
/* The cluster as a file system: its beginning and its end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cp/fs/data/file.h"
#include "cp/fs/disks/near.h"
#include "cp/fs/fs.h"
#include "cp/fs/inode/again.h"
#include "cp/fs/inode/inode.h"
#include "cp/fs/inode/lease.h"
#include "cp/fs/inode/locks.h"
#include "cp/fs/inode/remove.h"
#include "cp/fs/names/ahead.h"
#include "cp/fs/names/dirattr.h"
#include "cp/fs/names/names.h"
#include "cp/fs/serve.h"

/* Two threads move data as fast as small machines can; more help where nodes are many. */
enum { THREADS_DEFAULT = 2 };
/* At the end, removals under way are given so long, and are looked at so often. */
#define LINGER_NS 2000000000ull
#define LINGER_STEP_NS 1000000ull

/*
 * The beginning
 */

/* Notes that the node is down, since it was last heard, if the lane was silent for the whole timeout. */
static void reactor_lane_silent(struct fsc_reactor *r, const struct lane *lane)
{
	uint64_t silent = lane->alive.silent;

	if (silent >= r->session->timeout_ns)
		fsc_node_down(r, lane->node->index, silent);
}

static void reactor_lane_losing(struct lane *lane)
{
	const struct ddio_session *s = lane->node->session;
	struct fsc_reactor *r = s->owner;

	if (lane->alive.since && lane->conn)
		reactor_lane_silent(r, lane);
	fsc_near_losing(r, lane);
	if (r->index || lane->reactor || lane->node->index != s->conf->ns_node)
		return;
	fsc_names_lost(r->fs);
	/* A reply that listed inodes to be removed may be lost with the lane. */
	fsc_removals_soon(r->fs);
}

static const struct lane_user reactor_lane_user = { .losing = reactor_lane_losing };

static int reactor_init(struct ddio_fs *fs, uint32_t i, struct ddio_session *session)
{
	struct fsc_reactor *r = &fs->reactor[i];

	r->fs = fs;
	r->session = session;
	r->env = session->env;
	r->index = i;
	r->looked = ddio_env_now(r->env);
	/* A node cannot have been silent for longer. */
	r->awake = 4 * session->timeout_ns;
	ddio_list_init(&r->retries);
	ddio_list_init(&r->lazy);
	r->down = calloc(session->conf->nnodes, sizeof(*r->down));
	if (!r->down)
		return -ENOMEM;
	return 0;
}

static void fs_free(struct ddio_fs *fs)
{
	uint32_t i;

	while (!ddio_list_empty(&fs->files)) {
		struct ddio_fs_file *file = ddio_list_first(&fs->files, struct ddio_fs_file, link);

		ddio_list_del(&file->link);
		free(file);
	}
	fsc_inodes_free(fs);
	fsc_serve_free(fs);
	fsc_removals_free(fs);
	fsc_ahead_free(fs);
	fsc_dirattrs_free(fs);
	fsc_names_free(fs);
	fsc_nears_free(fs);
	for (i = 0; fs->reactor && i < fs->nreactors; i++)
		free(fs->reactor[i].down);
	free(fs->reactor);
	free(fs);
}

/**
 * struct fsc_beginning - ddio_fsc_new() waits for the first attach
 * @error: how that went
 */
struct fsc_beginning {
	struct ddio_post post;
	struct ddio_gate gate;
	struct fsc_error error;
};

static void fs_begun(struct ddio_fs *fs, const struct fsc_error *error)
{
	struct fsc_beginning *b = fs->beginning;

	if (error->err)
		fsc_error_set(&b->error, error->err, error->text);
	ddio_gate_open(fs->reactor[0].env, &b->gate);
}

static void fs_begin(void *arg)
{
	fsc_names_begin(arg);
}

static int fs_begin_wait(struct ddio_fs *fs, char *err, size_t err_len)
{
	struct fsc_beginning b = { .post = { .fn = fs_begin, .arg = fs } };
	int ret;

	fs->beginning = &b;
	ddio_gate_init(&b.gate);
	ddio_env_post(fs->reactor[0].env, &b.post);
	ddio_gate_wait(fs->reactor[0].env, &b.gate, 0);
	ret = b.error.err;
	if (ret)
		snprintf(err, err_len, "%s", b.error.text ? b.error.text : strerror(-ret));
	fsc_error_free(&b.error);
	return ret;
}

static void fs_beat(struct ddio_fs *fs)
{
	fsc_removals_beat(fs);
	fsc_inodes_trim(fs);
}

static int fs_init(struct ddio_fs *fs, struct ddio_session **sessions)
{
	static const struct fsc_names_ops names_ops = {
		.started = fs_begun,
		.tell_again = fsc_tell_again,
		.beat = fs_beat,
		.mute = fsc_locks_doubt,
		.unnamed_lost = fsc_inodes_unsynced,
		.recalled = fsc_lease_recalled,
		.down = fsc_leases_lost,
	};
	uint32_t i;

	fs->reactor = calloc(fs->nreactors, sizeof(*fs->reactor));
	if (!fs->reactor)
		return -ENOMEM;
	for (i = 0; i < fs->nreactors; i++)
		if (reactor_init(fs, i, sessions[i]))
			return -ENOMEM;
	if (fsc_names_new(fs, &names_ops) || fsc_dirattrs_new(fs) || fsc_ahead_new(fs) ||
	    fsc_removals_new(fs) || fsc_serve_new(fs) || fsc_inodes_new(fs))
		return -ENOMEM;
	for (i = 0; i < fs->nreactors; i++)
		lane_user_add(sessions[i], &reactor_lane_user, &fs->reactor[i]);
	return 0;
}

/* Returns true if the nodes know by munge that the process is not root's. */
static bool is_user(const struct ddio_session *session)
{
	return session->own_env && ddio_conf_knows_users(session->conf) && geteuid();
}

static struct ddio_fs *fs_make(struct ddio_session **sessions, uint32_t n,
			       const struct ddio_fs_opts *opts)
{
	struct ddio_fs *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return NULL;
	ddio_list_init(&fs->files);
	ddio_list_init(&fs->lock_waits);
	ddio_gate_init(&fs->gone);
	fs->nreactors = n;
	fs->hard = opts->flags & DDIO_FS_HARD;
	fs->prompt = opts->flags & DDIO_FS_PROMPT;
	fs->log = opts->log;
	fs->log_arg = opts->log_arg;
	fs->names_lost = opts->names_lost;
	fs->names_lost_arg = opts->names_lost_arg;
	fs->data_doubted = opts->data_doubted;
	fs->timeout_ns = sessions[0]->timeout_ns;
	fs->user = is_user(sessions[0]);
	fs->holds = 1;
	fs->meta = 1;
	/* In the simulated world nobody notices that a node died before its connections break. */
	if (fs_init(fs, sessions) || (sessions[0]->own_env && !fs->user && fsc_nears_new(fs))) {
		fs_free(fs);
		return NULL;
	}
	return fs;
}

static int opts_check(const struct ddio_fs_opts *opts, char *err, size_t err_len)
{
	const char *why = NULL;

	if (opts->struct_size != sizeof(*opts))
		why = "ddio_fs_open: struct_size does not match this library";
	else if ((opts->flags & ~(DDIO_FS_HARD | DDIO_FS_PROMPT)) || opts->reserved)
		why = "ddio_fs_open: unknown flag";
	else if (opts->threads > FSC_REACTORS_MAX)
		why = "ddio_fs_open: too many threads";
	if (why)
		snprintf(err, err_len, "%s", why);
	return why ? -EINVAL : 0;
}

int ddio_fs_open(const struct ddio_fs_opts *opts, struct ddio_fs **fs, char *err, size_t err_len)
{
	struct ddio_connect_opts how = { .struct_size = sizeof(how) };
	struct ddio_session *sessions[FSC_REACTORS_MAX];
	uint32_t n, i;
	int ret = opts_check(opts, err, err_len);

	if (ret)
		return ret;
	how.conf = opts->conf;
	how.timeout_ms = opts->timeout_ms;
	n = opts->threads ? opts->threads : THREADS_DEFAULT;
	for (i = 0; i < n; i++) {
		ret = ddio_connect(&how, &sessions[i]);
		if (ret) {
			snprintf(err, err_len, "%s", ddio_last_error(NULL));
			goto disconnect;
		}
		if (is_user(sessions[i]))
			n = 1;
	}
	ret = ddio_fsc_new(sessions, n, opts, fs, err, err_len);
	if (ret)
		goto disconnect;
	return 0;
disconnect:
	while (i--)
		ddio_disconnect(sessions[i]);
	return ret;
}

/*
 * The end
 */
static void reactor_end(void *arg)
{
	struct fsc_reactor *r = arg;

	r->session->closing = true;
	nodes_close(r->session);
	fsc_retries_end(r);
	fsc_inodes_end(r);
	if (!r->index) {
		fsc_serve_stop(r->fs);
		fsc_names_end(r->fs);
		fsc_removals_end(r->fs);
	}
	fsc_unhold(r->fs);
}

/**
 * struct linger - the last moments, in which removals go on and the name server is told
 * @until: at the latest
 */
struct linger {
	struct ddio_fs *fs;
	struct ddio_post post;
	struct ddio_timer timer;
	struct ddio_gate gate;
	uint64_t until;
};

/* Removals first; then the name server is told, so that it need not wait until this mount times out. */
static void linger_look(void *arg)
{
	struct linger *l = arg;
	const struct fsc_names *names = l->fs->names;
	struct ddio_env *env = l->fs->reactor[0].env;
	uint64_t now = ddio_env_now(env);

	if (fsc_removals_idle(l->fs) && fsc_leases_told(l->fs) && !names->leaving)
		fsc_names_leave(l->fs);
	l->timer.fn = linger_look;
	l->timer.arg = l;
	if (names->left || now >= l->until || ddio_timer_arm(env, &l->timer, now + LINGER_STEP_NS))
		ddio_gate_open(env, &l->gate);
}

static void linger_begin(void *arg)
{
	struct linger *l = arg;

	l->until = ddio_env_now(l->fs->reactor[0].env) + LINGER_NS;
	linger_look(l);
}

/* Lets removals finish for a moment, so that nothing is left for others to tidy up. */
static void fs_linger(struct ddio_fs *fs)
{
	struct linger l = { .fs = fs, .post = { .fn = linger_begin, .arg = &l } };

	ddio_gate_init(&l.gate);
	ddio_env_post(fs->reactor[0].env, &l.post);
	ddio_gate_wait(fs->reactor[0].env, &l.gate, 0);
}

static void reactor_left(void *arg)
{
	struct fsc_reactor *r = arg;

	ddio_gate_open(r->env, &r->fs->gone);
}

/*
 * Waits until every reactor has returned from what it did last: its answer may have come before the call
 * that caused it returned.
 */
static void reactors_leave(struct ddio_fs *fs)
{
	uint32_t i;

	for (i = 0; i < fs->nreactors; i++) {
		struct fsc_reactor *r = &fs->reactor[i];

		ddio_gate_init(&fs->gone);
		r->post.fn = reactor_left;
		r->post.arg = r;
		ddio_env_post(r->env, &r->post);
		ddio_gate_wait(r->env, &fs->gone, 0);
	}
}

static void fsc_end(struct ddio_fs *fs)
{
	uint32_t i;

	atomic_store_explicit(&fs->closing, true, memory_order_release);
	for (i = 0; i < fs->nreactors; i++) {
		struct fsc_reactor *r = &fs->reactor[i];

		fsc_hold(fs);
		r->post.fn = reactor_end;
		r->post.arg = r;
		ddio_env_post(r->env, &r->post);
	}
	fsc_unhold(fs);
	ddio_gate_wait(fs->reactor[0].env, &fs->gone, 0);
	reactors_leave(fs);
	fs_free(fs);
}

int ddio_fsc_new(struct ddio_session **sessions, uint32_t n, const struct ddio_fs_opts *opts,
		 struct ddio_fs **result, char *err, size_t err_len)
{
	struct ddio_fs *fs = fs_make(sessions, n, opts);
	int ret;

	if (!fs) {
		snprintf(err, err_len, "out of memory");
		return -ENOMEM;
	}
	ret = fs_begin_wait(fs, err, err_len);
	if (ret) {
		fsc_end(fs);
		return ret;
	}
	*result = fs;
	return 0;
}

void ddio_fs_close(struct ddio_fs *fs)
{
	struct ddio_session *sessions[FSC_REACTORS_MAX];
	uint32_t n, i;

	if (!fs)
		return;
	n = fs->nreactors;
	for (i = 0; i < n; i++)
		sessions[i] = fs->reactor[i].session;
	fsc_leases_hurry(fs);
	fs_linger(fs);
	fsc_end(fs);
	for (i = 0; i < n; i++)
		ddio_disconnect(sessions[i]);
}
