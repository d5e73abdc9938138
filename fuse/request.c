// SPDX-License-Identifier: GPL-2.0-only
/* From a request to its reply: exactly one, on every path. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include "ddiofs.h"

struct mount *mount_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

uint64_t ino_of(const struct mount *m, fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? m->root : ino;
}

fuse_ino_t nodeid_of(const struct mount *m, uint64_t ino)
{
	return ino == m->root ? FUSE_ROOT_ID : ino;
}

int name_check(const char *name)
{
	return strlen(name) > DDIO_FS_NAME_MAX ? ENAMETOOLONG : 0;
}

struct request *request_walk(fuse_req_t req, fuse_ino_t ino)
{
	struct mount *m = mount_of(req);
	struct request *r = calloc(1, sizeof(*r));

	if (!r) {
		fuse_reply_err(req, ENOMEM);
		return NULL;
	}
	r->req = req;
	r->m = m;
	r->ino = ino_of(m, ino);
	r->pid = fuse_req_ctx(req)->pid;
	r->unique = message_unique(req);
	r->began = clock_ns();
	pthread_mutex_lock(&m->lock);
	m->under_way++;
	late_add(r);
	pthread_mutex_unlock(&m->lock);
	return r;
}

void request_hold(struct request *r, struct handle *h)
{
	if (!r->h)
		r->h = h;
	r->held[r->held[0] != NULL] = h;
	atomic_fetch_add(&h->uses, 1);
}

void handle_put(struct handle *h)
{
	if (h && atomic_fetch_sub(&h->uses, 1) == 1)
		h->over(h);
}

void mount_hold(struct mount *m)
{
	pthread_mutex_lock(&m->lock);
	m->under_way++;
	pthread_mutex_unlock(&m->lock);
}

void mount_put(struct mount *m)
{
	pthread_mutex_lock(&m->lock);
	if (!--m->under_way)
		pthread_cond_broadcast(&m->idle);
	pthread_mutex_unlock(&m->lock);
}

struct request *request_new(fuse_req_t req, fuse_ino_t ino)
{
	struct request *r = request_walk(req, ino);

	if (r)
		r->again = again_over(r->m->again, fuse_req_ctx(req)->pid, r->ino);
	return r;
}

void request_free(struct request *r)
{
	struct mount *m = r->m;
	struct request *ready;

	if (r->message)
		message_free(m, r->buf);
	else if (r->buf)
		buffer_put(m, r->buf, r->len);
	pthread_mutex_lock(&m->lock);
	ready = late_remove(r);
	pthread_mutex_unlock(&m->lock);
	handle_put(r->held[0]);
	handle_put(r->held[1]);
	free(r);
	late_ready(ready);
	mount_put(m);
}

void requests_drain(struct mount *m, unsigned int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	pthread_mutex_lock(&m->lock);
	while (m->under_way)
		if (pthread_cond_timedwait(&m->idle, &m->lock, &until))
			break;
	pthread_mutex_unlock(&m->lock);
}

/* Returns true if the thread has asked this before, and was told ESTALE, or if the directory was removed here. */
static bool is_told(const struct request *r)
{
	return r->again.state == AGAIN_ASKED || r->again.state == AGAIN_ASKED_LOOKED ||
	       seen_is_gone(r->m->seen, r->ino);
}

bool request_opens_again(const struct request *r)
{
	return is_told(r);
}

bool request_named(const struct request *r)
{
	return known_may(r->m->known, r->ino, clock_ns()) && !r->again.kept;
}

static void stale_end(struct request *r, int err, enum again_by by, bool told)
{
	if (err == -ESTALE && told)
		err = -ENOENT;
	if (err == -ESTALE)
		again_mark(r->m->again, fuse_req_ctx(r->req)->pid, r->ino, by);
	if (fuse_reply_err(r->req, -err) == -ENOENT && err && r->told)
		late_failed(r->m, r->ino, err);
	request_free(r);
}

void name_given(struct mount *m, uint64_t parent, const char *name, const struct ddio_fs_attr *attr)
{
	known_given(m->known, known_name(parent, name), attr->ino, clock_ns(),
		    cached_ns(m->o->entry_timeout));
	if (S_ISDIR(attr->mode))
		known_dir(m->known, parent, name, attr->ino);
}

int request_keep_name(struct request *r, uint64_t parent, const char *name)
{
	r->len = strlen(name) + 1;
	r->buf = buffer_get(r->m, r->len);
	if (!r->buf)
		return -ENOMEM;
	memcpy(r->buf, name, r->len);
	r->parent = parent;
	r->names = true;
	return 0;
}

void request_end(struct request *r, int err)
{
	stale_end(r, err, AGAIN_REQUEST, !r->h && is_told(r));
}

void request_end_open(struct request *r, int err)
{
	/* Making a file, it has looked for it before. */
	stale_end(r, err, AGAIN_OPEN,
		  is_told(r) || (r->names && r->again.state == AGAIN_LOOKED_TWICE));
}

/* Sets *blocks, by the file's size if no one has counted; returns whether they were counted. */
static bool blocks_of(const struct ddio_fs_attr *attr, uint64_t *blocks)
{
	bool known = attr->alloc != DDIO_FS_ALLOC_UNKNOWN;

	*blocks = ((known ? attr->alloc : attr->size) + 511) / 512;
	return known;
}

/* @timeout: how long the kernel may cache them. */
static void attr_fill(const struct mount *m, const struct ddio_fs_attr *attr, struct stat *st,
		      double *timeout)
{
	uint64_t blocks;
	/* If blocks were not counted, the kernel must ask again, and has them counted. */
	bool known = blocks_of(attr, &blocks) || !S_ISREG(attr->mode);

	*timeout = known ? m->o->attr_timeout : 0;
	*st = (struct stat){
		.st_ino = nodeid_of(m, attr->ino),
		.st_mode = attr->mode,
		.st_nlink = attr->nlink,
		.st_uid = m->o->uid_set ? m->o->uid : attr->uid,
		.st_gid = m->o->gid_set ? m->o->gid : attr->gid,
		.st_rdev = attr->rdev,
		.st_size = (off_t)attr->size,
		.st_blksize = attr->block ? attr->block : 4096,
		.st_blocks = (blkcnt_t)blocks,
		.st_atim = attr->atime,
		.st_mtim = attr->mtime,
		.st_ctim = attr->ctime,
	};
	if (S_ISREG(attr->mode))
		seen_attr(m->seen, attr, *timeout > 0);
}

void entry_fill(const struct mount *m, const struct ddio_fs_attr *attr, struct fuse_entry_param *e)
{
	*e = (struct fuse_entry_param){
		.ino = nodeid_of(m, attr->ino),
		.entry_timeout = m->o->entry_timeout,
	};
	attr_fill(m, attr, &e->attr, &e->attr_timeout);
}

/* What is left of a time for which something may be cached that is old already. */
static double timeout_left(double timeout, uint64_t age_ns)
{
	double age = (double)age_ns / 1e9;

	return timeout > age ? timeout - age : 0;
}

/* @age_ns: how old the attributes are. */
static void request_end_attr(struct request *r, const struct ddio_fs_attr *attr, uint64_t age_ns)
{
	double timeout;
	struct stat st;

	attr_fill(r->m, attr, &st, &timeout);
	fuse_reply_attr(r->req, &st, timeout_left(timeout, age_ns));
	request_free(r);
}

static void request_end_entry(struct request *r, const struct ddio_fs_attr *attr, uint64_t age_ns)
{
	struct fuse_entry_param e;

	if (r->names)
		name_given(r->m, r->parent, r->buf, attr);
	entry_fill(r->m, attr, &e);
	e.attr_timeout = timeout_left(e.attr_timeout, age_ns);
	e.entry_timeout = timeout_left(e.entry_timeout, age_ns);
	fuse_reply_entry(r->req, &e);
	request_free(r);
}

void request_done(void *arg, const struct ddio_fs_reply *reply)
{
	request_end(arg, reply->err);
}

void request_done_attr(void *arg, const struct ddio_fs_reply *reply)
{
	if (reply->err)
		request_end(arg, reply->err);
	else
		request_end_attr(arg, reply->attr, reply->age_ns);
}

void request_done_entry(void *arg, const struct ddio_fs_reply *reply)
{
	if (reply->err)
		request_end(arg, reply->err);
	else
		request_end_entry(arg, reply->attr, reply->age_ns);
}
