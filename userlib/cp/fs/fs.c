// SPDX-License-Identifier: LGPL-2.1-or-later
/* The cluster as a file system: its beginning and its end. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/inode/inode.h"

/* Two threads move data as fast as small machines can; more help where nodes are many. */
enum { THREADS_DEFAULT = 2 };
/* Removals under way are given this long when the file system ends. */
#define LINGER_NS 2000000000ull

bool fsc_closing(const struct ddio_fs *fs)
{
	return __atomic_load_n(&fs->closing, __ATOMIC_ACQUIRE);
}

void fsc_log(struct ddio_fs *fs, enum ddio_log_level level, const char *fmt, ...)
{
	char line[DDIO_MAX_TEXT * 2];
	va_list ap;

	if (!fs->log)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fs->log(fs->log_arg, level, line);
}

/*
 * What is under way
 */
static void fs_gone(void *arg)
{
	struct ddio_fs *fs = arg;

	ddio_gate_open(fs->reactor[0].env, &fs->gone);
}

void fsc_hold(struct ddio_fs *fs)
{
	__atomic_add_fetch(&fs->holds, 1, __ATOMIC_RELAXED);
}

void fsc_unhold(struct ddio_fs *fs)
{
	if (__atomic_sub_fetch(&fs->holds, 1, __ATOMIC_ACQ_REL))
		return;
	fs->gone_post.fn = fs_gone;
	fs->gone_post.arg = fs;
	ddio_env_post(fs->reactor[0].env, &fs->gone_post);
}

/*
 * Begin
 */
static void reactor_lane_lost(struct ddio_session *s, struct lane *lane)
{
	struct fsc_reactor *r = s->lane_lost_arg;
	uint64_t now = ddio_env_now(s->env);

	/* It has been silent for a while when it is given up for that. */
	if (lane->alive.since && lane->conn && !r->down[lane->node->index]) {
		uint64_t heard = ddio_conn_last_rx(lane->conn);

		if (heard < lane->alive.since)
			heard = lane->alive.since;
		if (now - heard >= s->timeout_ns)
			r->down[lane->node->index] = heard;
		r->ndown += now - heard >= s->timeout_ns;
	}
	if (!r->index && !lane->reactor && lane->node->index == s->conf->ns_node)
		fsc_names_lost(r->fs);
}

static int reactor_init(struct ddio_fs *fs, uint32_t i, struct ddio_session *session)
{
	struct fsc_reactor *r = &fs->reactor[i];

	r->fs = fs;
	r->session = session;
	r->env = session->env;
	r->index = i;
	ddio_list_init(&r->waits);
	ddio_list_init(&r->lazy);
	r->down = calloc(session->conf->nnodes, sizeof(*r->down));
	if (!r->down)
		return -ENOMEM;
	session->lane_lost = reactor_lane_lost;
	session->lane_lost_arg = r;
	return 0;
}

static void fs_free(struct ddio_fs *fs)
{
	uint32_t i;

	if (!fs)
		return;
	while (!ddio_list_empty(&fs->files)) {
		struct ddio_fs_file *file = ddio_list_first(&fs->files, struct ddio_fs_file, link);

		ddio_list_del(&file->link);
		free(file);
	}
	fsc_table_free(fs);
	for (i = 0; fs->reactor && i < fs->nreactors; i++)
		free(fs->reactor[i].down);
	free(fs->reactor);
	fsc_error_free(&fs->begin_error);
	free(fs);
}

static void fs_begun(struct ddio_fs *fs, const struct fsc_error *error)
{
	if (error->err)
		fsc_error_set(&fs->begin_error, error->err, error->text);
	ddio_gate_open(fs->reactor[0].env, &fs->begun);
}

static void fs_begin(void *arg)
{
	struct ddio_fs *fs = arg;

	fs->names.started = fs_begun;
	fsc_names_begin(fs);
}

static struct ddio_fs *fs_make(struct ddio_session **sessions, uint32_t n,
			       const struct ddio_fs_opts *opts)
{
	struct ddio_fs *fs = calloc(1, sizeof(*fs));
	uint32_t i;

	if (fs)
		ddio_list_init(&fs->files);
	if (fs)
		fs->reactor = calloc(n, sizeof(*fs->reactor));
	if (!fs || !fs->reactor || fsc_table_init(fs)) {
		fs_free(fs);
		return NULL;
	}
	fs->nreactors = n;
	fs->hard = opts->flags & DDIO_FS_HARD;
	fs->log = opts->log;
	fs->log_arg = opts->log_arg;
	fs->timeout_ns = sessions[0]->timeout_ns;
	fs->holds = 1;
	for (i = 0; i < n; i++) {
		if (reactor_init(fs, i, sessions[i])) {
			fs_free(fs);
			return NULL;
		}
	}
	fsc_names_init(fs);
	fsc_removals_init(fs);
	return fs;
}

int fsc_new(struct ddio_session **sessions, uint32_t n, const struct ddio_fs_opts *opts,
	    struct ddio_fs **result, char *err, size_t err_len)
{
	struct ddio_fs *fs = fs_make(sessions, n, opts);
	int ret;

	if (!fs) {
		snprintf(err, err_len, "out of memory");
		return -ENOMEM;
	}
	ddio_gate_init(&fs->begun);
	ddio_gate_init(&fs->gone);
	fs->begin_post.fn = fs_begin;
	fs->begin_post.arg = fs;
	ddio_env_post(fs->reactor[0].env, &fs->begin_post);
	ddio_gate_wait(fs->reactor[0].env, &fs->begun, 0);
	ret = fs->begin_error.err;
	if (ret) {
		snprintf(err, err_len, "%s",
			 fs->begin_error.text ? fs->begin_error.text : strerror(-ret));
		fsc_end(fs);
		return ret;
	}
	*result = fs;
	return 0;
}

static int opts_check(const struct ddio_fs_opts *opts, char *err, size_t err_len)
{
	const char *why = NULL;

	if (opts->struct_size != sizeof(*opts))
		why = "ddio_fs_open: options of another version";
	else if ((opts->flags & ~DDIO_FS_HARD) || opts->reserved)
		why = "ddio_fs_open: a flag that is not known";
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
	}
	ret = fsc_new(sessions, n, opts, fs, err, err_len);
	if (ret)
		goto disconnect;
	return 0;
disconnect:
	while (i--)
		ddio_disconnect(sessions[i]);
	return ret;
}

/*
 * End
 */
static void reactor_end(void *arg)
{
	struct fsc_reactor *r = arg;
	struct fsc_wait *wait;

	r->session->closing = true;
	nodes_close(r->session);
	r->session->lane_lost = NULL;
	while (!ddio_list_empty(&r->waits)) {
		wait = ddio_list_first(&r->waits, struct fsc_wait, link);
		ddio_timer_cancel(r->env, &wait->timer);
		ddio_list_del(&wait->link);
		wait->fn(wait);
	}
	fsc_inodes_end(r);
	if (!r->index) {
		ddio_watcher_stop(r->env, &r->fs->serve.watcher);
		fsc_names_end(r->fs);
	}
	fsc_unhold(r->fs);
}

struct linger {
	struct ddio_fs *fs;
	struct ddio_post post;
	struct ddio_timer timer;
	struct ddio_gate gate;
	uint64_t until;
};

/* Removals first; then the name space is told, so that it need not wait for us. */
static void linger_look(void *arg)
{
	struct linger *l = arg;
	struct fsc_names *names = &l->fs->names;
	struct ddio_env *env = l->fs->reactor[0].env;
	uint64_t now = ddio_env_now(env);

	if (fsc_removals_idle(l->fs) && !names->leaving)
		fsc_names_leave(l->fs);
	l->timer.fn = linger_look;
	l->timer.arg = l;
	if (names->left || now >= l->until ||
	    ddio_timer_arm(env, &l->timer, now + FSC_LINGER_STEP_NS))
		ddio_gate_open(env, &l->gate);
}

static void linger_begin(void *arg)
{
	struct linger *l = arg;

	l->until = ddio_env_now(l->fs->reactor[0].env) + LINGER_NS;
	linger_look(l);
}

/* What was removed last goes on for a moment, so that nothing is left for others to tidy up. */
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

/* What was told to a reactor last may have been answered before the one that told it has returned from that. */
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

void fsc_end(struct ddio_fs *fs)
{
	uint32_t i;

	__atomic_store_n(&fs->closing, true, __ATOMIC_RELEASE);
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

void ddio_fs_close(struct ddio_fs *fs)
{
	struct ddio_session *sessions[FSC_REACTORS_MAX];
	uint32_t n, i;

	if (!fs)
		return;
	n = fs->nreactors;
	for (i = 0; i < n; i++)
		sessions[i] = fs->reactor[i].session;
	fs_linger(fs);
	fsc_end(fs);
	for (i = 0; i < n; i++)
		ddio_disconnect(sessions[i]);
}
