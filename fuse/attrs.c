// SPDX-License-Identifier: GPL-2.0-only
/* Attributes, ordinary and extended, and free space. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include "ddiofs.h"

#define ACL_ACCESS "system.posix_acl_access"
#define SELINUX "security.selinux"

/*
 * ESTALE makes the kernel look the path up again, as it should if another mount has changed names.  A
 * directory that was removed here simply does not exist.
 */
static void getattr_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err == -ESTALE && seen_is_gone(r->m->seen, r->ino))
		request_end(r, -ENOENT);
	else
		request_done_attr(r, reply);
}

/*
 * The kernel forgets a directory's attributes with every name that is made or removed in it, and asks for
 * them when it next walks through.  Those that came with the reply to the change are as good as any that it
 * would have cached.
 */
void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct request *r = request_walk(req, ino);

	(void)fi;
	if (r)
		ddio_fs_getattr_within(r->m->fs, r->ino, cached_ns(r->m->o->attr_timeout),
				       getattr_done, r);
}

static const struct {
	int theirs;
	uint32_t ours;
} set_bits[] = {
	{ FUSE_SET_ATTR_MODE, DDIO_FS_SET_MODE },
	{ FUSE_SET_ATTR_UID, DDIO_FS_SET_UID },
	{ FUSE_SET_ATTR_GID, DDIO_FS_SET_GID },
	{ FUSE_SET_ATTR_SIZE, DDIO_FS_SET_SIZE },
	{ FUSE_SET_ATTR_ATIME, DDIO_FS_SET_ATIME },
	{ FUSE_SET_ATTR_MTIME, DDIO_FS_SET_MTIME },
	{ FUSE_SET_ATTR_ATIME_NOW, DDIO_FS_SET_ATIME_NOW },
	{ FUSE_SET_ATTR_MTIME_NOW, DDIO_FS_SET_MTIME_NOW },
	{ FUSE_SET_ATTR_CTIME, DDIO_FS_SET_CTIME },
};

static uint32_t set_mask(const struct mount *m, int to_set)
{
	uint32_t mask = 0;
	size_t i;

	for (i = 0; i < sizeof(set_bits) / sizeof(set_bits[0]); i++)
		if (to_set & set_bits[i].theirs)
			mask |= set_bits[i].ours;
	if (mask & DDIO_FS_SET_ATIME_NOW)
		mask &= ~DDIO_FS_SET_ATIME;
	if (mask & DDIO_FS_SET_MTIME_NOW)
		mask &= ~DDIO_FS_SET_MTIME;
	/*
	 * Setuid and setgid bits are cleared by any change of owner (a request that sets nothing is a
	 * chown(2) that changes neither), and by a change of size if the caller is not privileged.
	 */
	if (m->killpriv &&
	    (!(mask & ~DDIO_FS_SET_CTIME) || mask & (DDIO_FS_SET_UID | DDIO_FS_SET_GID) ||
	     (mask & DDIO_FS_SET_SIZE && message_kills())))
		mask |= DDIO_FS_KILL_SUID;
	return mask;
}

/*
 * With cache=always the kernel sends times once more when it forgets the inode, even if that was removed a
 * moment ago.
 */
static void times_done(void *arg, const struct ddio_fs_reply *reply)
{
	const struct stat st = { .st_mode = S_IFREG };
	struct request *r = arg;

	if (reply->err != -ESTALE) {
		request_done_attr(r, reply);
		return;
	}
	fuse_reply_attr(r->req, &st, 0);
	request_free(r);
}

/* Returns true if the kernel sends times that it keeps by itself. */
static bool is_times_of_kernel(const struct mount *m, int to_set)
{
	return m->o->cache == CACHE_ALWAYS && to_set & FUSE_SET_ATTR_CTIME &&
	       !(to_set & ~(FUSE_SET_ATTR_CTIME | FUSE_SET_ATTR_MTIME));
}

static void setattr_start(struct request *r)
{
	ddio_fs_setattr(r->m->fs, r->ino, r->mask, &r->attr,
			r->plus ? times_done : request_done_attr, r);
}

void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int to_set,
		struct fuse_file_info *fi)
{
	struct mount *m = mount_of(req);
	struct request *r;

	if ((m->o->uid_set && to_set & FUSE_SET_ATTR_UID && st->st_uid != m->o->uid) ||
	    (m->o->gid_set && to_set & FUSE_SET_ATTR_GID && st->st_gid != m->o->gid)) {
		fuse_reply_err(req, EPERM);
		return;
	}
	if (m->o->uid_set)
		to_set &= ~FUSE_SET_ATTR_UID;
	if (m->o->gid_set)
		to_set &= ~FUSE_SET_ATTR_GID;
	r = request_new(req, ino);
	if (!r)
		return;
	if (to_set & FUSE_SET_ATTR_MODE && st->st_mode & (S_ISUID | S_ISGID))
		atomic_fetch_add(&m->special, 1);
	if (to_set & FUSE_SET_ATTR_ATIME)
		atomic_fetch_add(&m->atimes, 1);
	r->attr = (struct ddio_fs_attr){ .size = (uint64_t)st->st_size,
					 .atime = st->st_atim,
					 .mtime = st->st_mtim,
					 .ctime = st->st_ctim,
					 .mode = st->st_mode,
					 .uid = st->st_uid,
					 .gid = st->st_gid };
	r->mask = set_mask(m, to_set);
	r->plus = is_times_of_kernel(m, to_set);
	if (r->mask && !r->plus && !fi && request_named(r))
		r->mask |= DDIO_FS_SET_NAMED;
	if (r->mask & DDIO_FS_SET_SIZE)
		late_start(r, r->ino, LATE_CHANGES, setattr_start);
	else
		setattr_start(r);
}

static void missing_note(const struct request *r)
{
	if (r->mask)
		seen_lacks(r->m->seen, r->ino, r->mask, r->xattr_changes, clock_ns());
}

/* The kernel asks for a length first, and then for so many bytes. */
static void value_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err == -ENODATA) {
		missing_note(r);
		request_end(r, r->err ? r->err : -ENODATA);
	} else if (reply->err) {
		request_end(r, reply->err);
	} else if (r->len && reply->len > r->len) {
		request_end(r, -ERANGE);
	} else {
		if (r->len)
			fuse_reply_buf(r->req, reply->data, reply->len);
		else
			fuse_reply_xattr(r->req, reply->len);
		request_free(r);
	}
}

/* Returns false for the project's own attributes, and for names that are none. */
static bool is_stored(const char *name)
{
	static const char *const begins[] = { "system.posix_acl_", "user.", "security.",
					      "trusted." };
	size_t i;

	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return name[strlen(begins[i])];
	return false;
}

/*
 * Returns how an attribute is refused that an inode does not have.  Of a label, programs such as ls(1) ask every file
 * unless they hear that there are none in the file system, and on a machine without SELinux there are none.
 */
static int errno_missing(const char *name)
{
	return strcmp(name, SELINUX) ? ENODATA : EOPNOTSUPP;
}

static void told_reply(fuse_req_t req, const char *text, size_t size)
{
	size_t len = strlen(text);

	if (!size)
		fuse_reply_xattr(req, len);
	else if (size < len)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, text, len);
}

static void named_found(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err || !reply->attr->nlink)
		request_end(r, reply->err ? reply->err : -ESTALE);
	else
		r->dropped(r);
}

/* Calls @then if the inode has a name, and ends the request if not; at once where that need not be asked. */
static void if_named(struct request *r, void (*then)(struct request *r))
{
	if (!request_named(r)) {
		then(r);
		return;
	}
	r->dropped = then;
	ddio_fs_getattr(r->m->fs, r->ino, named_found, r);
}

static void number_reply(struct request *r)
{
	char number[24];

	snprintf(number, sizeof(number), "%llu", (unsigned long long)r->ino);
	told_reply(r->req, number, r->len);
	request_free(r);
}

/* By a number of an inode without a name, programs would write into a file that nobody finds. */
static void number_tell(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct request *r = request_new(req, ino);

	if (!r)
		return;
	r->len = size;
	if_named(r, number_reply);
}

/*
 * What every file of the mount says: by which configuration programs reach the cluster themselves, and its number there, which
 * stat(2) does not tell of the mount's root.
 */
static bool is_told(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	const struct mount *m = mount_of(req);

	if (!strcmp(name, "ddio.conf")) {
		told_reply(req, m->o->conf ? m->o->conf : "", size);
		return true;
	}
	if (strcmp(name, "ddio.ino"))
		return false;
	number_tell(req, ino, size);
	return true;
}

/* The kernel asks for capabilities before a write, by an open file. */
static uint32_t xattr_flags(const struct request *r, const char *name)
{
	return strcmp(name, "security.capability") && request_named(r) ? DDIO_FS_NAMED : 0;
}

static bool is_missing(const struct mount *m, uint64_t ino, const char *name, uint32_t lack)
{
	uint64_t now = clock_ns();

	return (is_stored(name) && seen_is_bare(m->seen, ino, now)) ||
	       (lack && seen_is_lacking(m->seen, ino, lack, now, cached_ns(m->o->attr_timeout)));
}

void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	const struct mount *m = fuse_req_userdata(req);
	uint32_t lack = seen_lack_of(name);
	int missing = errno_missing(name);
	struct request *r;

	if (is_told(req, ino, name, size))
		return;
	if (is_missing(m, ino_of(m, ino), name, lack)) {
		fuse_reply_err(req, missing);
		return;
	}
	/* The kernel asks for ACLs where it checks permissions. */
	r = lack ? request_walk(req, ino) : request_new(req, ino);
	if (!r)
		return;
	r->len = size;
	r->err = -missing;
	r->mask = lack;
	r->xattr_changes = seen_xattr_changes(m->seen);
	ddio_fs_getxattr(r->m->fs, r->ino, name, xattr_flags(r, name), value_done, r);
}

static void listxattr(struct request *r)
{
	ddio_fs_listxattr(r->m->fs, r->ino, value_done, r);
}

void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct request *r = request_new(req, ino);

	if (!r)
		return;
	r->len = size;
	if_named(r, listxattr);
}

static void xattr_changed(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	seen_xattr_changed(r->m->seen, r->ino);
	request_done(r, reply);
}

/*
 * Setting an ACL clears the setgid bit if the caller is neither privileged nor in the file's group.  The
 * kernel says so only if that was negotiated, which libfuse does not do; so the caller's groups are looked
 * at here.
 */
static void acl_attr_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;
	bool kill;

	if (reply->err) {
		request_end(r, reply->err);
		return;
	}
	kill = reply->attr->mode & S_ISGID && !caller_in_group(r, reply->attr->gid);
	ddio_fs_setxattr(r->m->fs, r->ino, ACL_ACCESS, r->data, r->len, r->mask, kill,
			 xattr_changed, r);
}

/* How files are spread over disks is their owner's and root's matter; the kernel asks for leave to write only. */
static bool is_stripe(const struct request *r, const char *name)
{
	return !strncmp(name, "ddio.", 5) && fuse_req_ctx(r->req)->uid && !r->m->o->no_permissions;
}

static bool is_owner(const struct request *r, const struct ddio_fs_attr *attr)
{
	return fuse_req_ctx(r->req)->uid == attr->uid;
}

static void stripe_set_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err || !is_owner(r, reply->attr))
		request_end(r, reply->err ? reply->err : -EPERM);
	else
		ddio_fs_setxattr(r->m->fs, r->ino, r->name, r->data, r->len, r->mask, false,
				 xattr_changed, r);
}

static void stripe_unset_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct request *r = arg;

	if (reply->err || !is_owner(r, reply->attr))
		request_end(r, reply->err ? reply->err : -EPERM);
	else
		ddio_fs_removexattr(r->m->fs, r->ino, r->name, r->mask, request_done, r);
}

void op_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
		 int flags)
{
	struct request *r;
	bool acl;

	if (strlen(name) > DDIO_FS_NAME_MAX || size > DDIO_FS_XATTR_MAX) {
		fuse_reply_err(req, size > DDIO_FS_XATTR_MAX ? E2BIG : ERANGE);
		return;
	}
	r = request_new(req, ino);
	if (!r)
		return;
	seen_xattr_changed(r->m->seen, r->ino);
	r->mask = (uint32_t)flags | xattr_flags(r, name);
	acl = !strcmp(name, ACL_ACCESS) && fuse_req_ctx(req)->uid;
	if (!acl && !is_stripe(r, name)) {
		ddio_fs_setxattr(r->m->fs, r->ino, name, value, size, r->mask, false, xattr_changed,
				 r);
		return;
	}
	r->buf = message_take();
	r->message = true;
	r->name = name;
	r->data = value;
	r->len = size;
	ddio_fs_getattr(r->m->fs, r->ino, acl ? acl_attr_done : stripe_set_done, r);
}

void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct request *r = request_new(req, ino);

	if (!r)
		return;
	r->mask = xattr_flags(r, name);
	if (!is_stripe(r, name)) {
		ddio_fs_removexattr(r->m->fs, r->ino, name, r->mask, request_done, r);
		return;
	}
	r->buf = message_take();
	r->message = true;
	r->name = name;
	ddio_fs_getattr(r->m->fs, r->ino, stripe_unset_done, r);
}

static void space_done(void *arg, const struct ddio_fs_reply *reply)
{
	const struct ddio_fs_space *space = reply->data;
	struct request *r = arg;
	struct statvfs st = { 0 };

	if (reply->err) {
		request_end(r, reply->err);
		return;
	}
	st.f_bsize = st.f_frsize = space->unit;
	st.f_blocks = space->blocks;
	st.f_bfree = st.f_bavail = space->free;
	/* Only space bounds the number of inodes. */
	st.f_files = space->inodes + space->free;
	st.f_ffree = st.f_favail = space->free;
	st.f_namemax = DDIO_FS_NAME_MAX;
	fuse_reply_statfs(r->req, &st);
	request_free(r);
}

void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct request *r = request_new(req, ino);

	if (r)
		ddio_fs_space(r->m->fs, space_done, r);
}
