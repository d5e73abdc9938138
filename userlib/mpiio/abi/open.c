// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening, closing and deleting (MPI 4.0, section 14.2).  A file below a mount is made and checked by open(2) of rank 0,
 * so that it has the owner, the mode and the rights that files have there; the others need no mount.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "mpiio/abi/abi.h"
#include "mpiio/abi/hints.h"
#include "mpiio/abi/op.h"

/* What rank 0 found: whether it is a file of ddio at all, and then its number. */
struct open_found {
	int ours;
	struct team_verdict verdict;
	struct mpiio_where where;
	struct mpiio_way way;
	uint64_t id;
};

static bool amode_is_wrong(int amode)
{
	int ways = !!(amode & MPI_MODE_RDONLY) + !!(amode & MPI_MODE_WRONLY) +
		   !!(amode & MPI_MODE_RDWR);

	return ways != 1 ||
	       ((amode & MPI_MODE_RDONLY) && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL))) ||
	       ((amode & MPI_MODE_RDWR) && (amode & MPI_MODE_SEQUENTIAL));
}

static int posix_flags(int amode)
{
	int flags = O_CLOEXEC;

	flags |= amode & MPI_MODE_RDONLY ? O_RDONLY : amode & MPI_MODE_WRONLY ? O_WRONLY : O_RDWR;
	if (amode & MPI_MODE_CREATE)
		flags |= O_CREAT;
	if (amode & MPI_MODE_EXCL)
		flags |= O_EXCL;
	return flags;
}

/*
 * How a file is spread can be set only before it is opened: so it is made first.  Returns the flags with which it is opened.  Hints
 * never make a call fail.
 */
static int make_striped(const char *path, int amode, MPI_Info info)
{
	struct stat st;

	if (!(amode & MPI_MODE_CREATE) || !hints_any(info))
		return posix_flags(amode);
	if (!mknod(path, S_IFREG | 0666, 0)) {
		hints_stripe(info, path);
		return posix_flags(amode & ~MPI_MODE_EXCL);
	}
	if (!(amode & MPI_MODE_EXCL) && !stat(path, &st) && S_ISREG(st.st_mode) && !st.st_size)
		hints_stripe(info, path);
	return posix_flags(amode);
}

static int open_mounted(int amode, MPI_Info info, struct open_found *found)
{
	const char *path = found->where.path;
	int fd = open(path, make_striped(path, amode, info), 0666), ret = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		ret = -errno;
	else if (!S_ISREG(st.st_mode))
		ret = -EISDIR;
	found->id = st.st_ino;
	where_way(fd, path, &found->way);
	close(fd);
	return ret;
}

/* umask() tells it by changing it, also for a file that another thread makes meanwhile. */
static mode_t mask_now(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	unsigned int mask = 022;
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Umask: %o", &mask) == 1)
			break;
	if (status)
		fclose(status);
	return mask;
}

static int open_named(struct ddio_session *s, const struct mpiio_where *w, int amode, MPI_Info info,
		      uint64_t *id)
{
	struct ddio_striping striping = { .struct_size = sizeof(striping) };
	struct ddio_open_opts opts = { .struct_size = sizeof(opts), .mode = 0666 & ~mask_now() };
	struct ddio_file_stat st;
	struct ddio_file *file;
	uint32_t disks[HINTS_DISKS];
	int ret;

	if (amode & MPI_MODE_CREATE)
		opts.flags |= DDIO_CREATE;
	if (amode & MPI_MODE_EXCL)
		opts.flags |= DDIO_EXCL;
	if (hints_striping(info, &striping, disks))
		opts.striping = &striping;
	ret = ddio_open_with(s, w->path, &opts, &file);
	if (ret == -EINVAL && opts.striping) { /* hints never make a call fail */
		opts.striping = NULL;
		ret = ddio_open_with(s, w->path, &opts, &file);
	}
	if (ret)
		return ret;
	ret = ddio_fstat(file, &st);
	*id = st.id;
	ddio_close(file);
	return ret;
}

static void find(struct mpiio_team *t, int amode, MPI_Info info, struct open_found *found)
{
	struct ddio_session *s = cluster_session(t->cluster);
	struct mpiio_where *w = &found->where;
	int ret;

	if (w->mounted) {
		ret = open_mounted(amode, info, found);
		verdict_say(&found->verdict, NULL, ret);
	} else {
		ret = open_named(s, w, amode, info, &found->id);
		verdict_say(&found->verdict, s, ret);
	}
}

static void file_free(struct mpiio_file *f)
{
	behind_drop(f);
	if (f->info != MPI_INFO_NULL)
		PMPI_Info_free(&f->info);
	ddio_counter_free(f->shared);
	ddio_close(f->file);
	team_put(f->team);
	fview_put(f->seen);
	free(f->spare);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

static struct mpiio_file *file_new(struct mpiio_team *t, int amode)
{
	struct mpiio_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	pthread_mutex_init(&f->lock, NULL);
	behind_init(f);
	f->team = t;
	f->amode = amode;
	f->ticket = MPI_FILE_NULL;
	f->info = MPI_INFO_NULL;
	f->seen = fview_of_bytes();
	if (!f->seen || !op_keep_spare(f)) {
		fview_put(f->seen);
		behind_drop(f);
		free(f);
		return NULL;
	}
	return f;
}

/* Collective calls of two files may come in different orders where threads make them: messages as well as requests. */
static int team_choose(struct mpiio_file *f)
{
	int level = MPI_THREAD_SINGLE;

	PMPI_Query_thread(&level);
	return level == MPI_THREAD_MULTIPLE ? team_own(&f->team) : 0;
}

/* Pointers of a file to append to begin at its end. */
static int pointers_place(struct mpiio_file *f)
{
	struct ddio_file_stat st;
	int ret;

	if (!(f->amode & MPI_MODE_APPEND))
		return 0;
	ret = ddio_fstat(f->file, &st);
	f->pos = st.size;
	return ret;
}

static int file_open_all(struct mpiio_file *f, const struct open_found *found, MPI_Info info)
{
	const struct mpiio_way *way = &found->way;
	struct ddio_open_opts opts = { .struct_size = sizeof(opts), .dir = way->dir };
	const char *name = way->dir ? way->name : NULL;
	int ret = team_choose(f);

	/* Users come to a file by its name, too: each process for itself. */
	if (found->where.mounted)
		opts.id = found->id;
	else
		name = found->where.path;
	if (!ret)
		ret = ddio_open_all_with(f->team->group, name, &opts, &f->file);
	if (ret)
		return ret; /* the same on all */
	ret = pointers_place(f);
	if (!ret)
		ret = hints_take(f, info);
	if (!ret)
		ret = handle_make(f);
	ret = worst_of(f->team, ret);
	if (!ret)
		ret = team_same(f->team, 0, (int64_t)f->pos);
	if (ret > 0)
		ret = -EBUSY;
	if (!ret)
		ret = ddio_counter_create(f->team->group, (int64_t)f->pos, &f->shared);
	return ret ? ret : behind_agree(f);
}

static void file_abandon(struct mpiio_file *f)
{
	if (f->ticket != MPI_FILE_NULL)
		handle_drop(f);
	file_free(f);
}

/* Takes the team, also in failing. */
static int open_in_team(struct mpiio_team *t, struct open_found *found, int amode, MPI_Info info,
			MPI_File *fh)
{
	struct ddio_session *s = cluster_session(t->cluster);
	struct mpiio_file *f = file_new(t, amode);
	int ret = worst_of(t, f ? 0 : -ENOMEM);
	uint32_t number = ++t->opened;

	if (f)
		f->number = number;

	if (!ret)
		ret = file_open_all(f, found, info);
	if (ret) {
		ret = code_text(ret, ddio_last_error(s));
		if (f)
			file_abandon(f);
		else
			team_put(t);
		return ret;
	}
	f->where = found->where;
	*fh = f->ticket;
	return MPI_SUCCESS;
}

/* A configuration that is missing is no file of the program's that is missing.  Other processes know only the error. */
static int code_reach(int err)
{
	int class = err == -EACCES ? MPI_ERR_ACCESS : MPI_ERR_IO;
	const char *why = cluster_why();
	char text[512];

	snprintf(text, sizeof(text), "%s cannot reach the cluster of ddio: %s",
		 *why ? "this process" : "a process", *why ? why : strerror(-err));
	return code_class(class, text);
}

static int code_visit(const struct mpiio_team *visit, int err)
{
	if (visit->deaf)
		return code_class(MPI_ERR_IO,
				  "a process that took part in opening a file has gone away");
	return code_reach(err);
}

static int open_ours(struct mpiio_team *visit, struct open_found *found, int amode, MPI_Info info,
		     MPI_File *fh)
{
	struct mpiio_team *t;
	int ret;

	handle_prepare();
	ret = team_get(visit, found->where.conf, &t);
	if (ret)
		return code_visit(visit, ret);
	if (!t->rank)
		find(t, amode, info, found);
	ret = team_bcast(t, found, sizeof(*found));
	if (ret)
		verdict_say(&found->verdict, cluster_session(t->cluster), ret);
	if (!found->verdict.err)
		return open_in_team(t, found, amode, info, fh);
	team_put(t);
	return code_text(found->verdict.err, found->verdict.text);
}

/* What rank 0 found counts, with the configuration that it found it by. */
static int open_agreed(struct mpiio_team *visit, struct open_found *found, int amode, MPI_Info info,
		       MPI_File *fh)
{
	int ret = team_bcast(visit, found, sizeof(*found));

	if (ret)
		return code_visit(visit, ret);
	if (!found->ours)
		return code_class(MPI_ERR_NO_SUCH_FILE, "rank 0 has no such file of ddio");
	if (found->ours < 0)
		return code_text(found->ours, where_why(found->ours));
	return open_ours(visit, found, amode, info, fh);
}

/* All processes must go the same way, also where a mount is on some of their machines only.  @passed: the MPI has told of its error. */
static int open_visit(struct mpiio_team *visit, const char *name, int amode, MPI_Info info,
		      MPI_File *fh, bool *passed)
{
	struct open_found found = { 0 };
	int64_t most[3];
	int ret;

	found.ours = where_find(name, &found.where);
	most[0] = found.ours != 0;
	most[1] = amode;
	most[2] = -(int64_t)amode;
	ret = team_come(visit, most, 3);
	if (ret ? !found.ours : !most[0]) {
		team_unhush(visit);
		*passed = true;
		return real.File_open(visit->comm, name, amode, info, fh);
	}
	*fh = MPI_FILE_NULL;
	if (ret)
		return code_visit(visit, ret);
	if (most[1] != -most[2])
		return code_class(MPI_ERR_NOT_SAME, "the access modes differ");
	if (amode_is_wrong(amode))
		return code_class(MPI_ERR_AMODE, "no such combination of access modes");
	return open_agreed(visit, &found, amode, info, fh);
}

int serve_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *fh)
{
	struct mpiio_team visit;
	bool passed = false;
	int ret;

	if (comm == MPI_COMM_NULL || !name || !fh || !team_visit(&visit, comm))
		return real.File_open(comm, name, amode, info, fh);
	ret = open_visit(&visit, name, amode, info, fh, &passed);
	team_leave(&visit);
	return passed ? ret : fail_null(ret);
}

/* The code. */
static int where_delete(const struct mpiio_where *w)
{
	struct mpiio_cluster *c;
	int ret;

	if (w->mounted)
		return unlink(w->path) ? code_text(-errno, NULL) : MPI_SUCCESS;
	ret = cluster_get(w->conf, &c);
	if (ret)
		return code_reach(ret);
	ret = ddio_remove(cluster_session(c), w->path);
	return ret ? code_text(ret, ddio_last_error(cluster_session(c))) : MPI_SUCCESS;
}

int serve_delete(const char *name, MPI_Info info)
{
	struct mpiio_where w = { 0 };
	int ours = name ? where_find(name, &w) : 0;

	if (!ours)
		return real.File_delete(name, info);
	return fail_null(ours < 0 ? code_text(ours, where_why(ours)) : where_delete(&w));
}

/*
 * Has the kernel forget the size and times that the file had before, where rank 0's mount has told them: it keeps what it was
 * told for a while, and its answers for a file that is open are never older ones.
 */
static void mount_look(const struct mpiio_file *f)
{
	struct statx now;
	int fd;

	if (!f->where.mounted || f->team->rank || f->amode & MPI_MODE_RDONLY)
		return;
	fd = open(f->where.path, posix_flags(f->amode) & ~(O_CREAT | O_EXCL));
	if (fd < 0)
		return;
	statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE | STATX_MTIME, &now);
	close(fd);
}

/*
 * All have come, and nobody has a split collective under way or uses the file any more; @code is what this process has failed
 * with.  The standard's close makes durable, no MPI's does: so a program asks for it, and one process is enough.
 */
static int close_together(struct mpiio_file *f, int *code)
{
	int64_t say[] = { f->split != NULL, hints_is_on(f, "ddio_close_sync") };
	int err = file_max(f, CALL_CLOSE, say, 2);

	if (!err && say[0])
		return -EINPROGRESS;
	err = err ? code_of_file(f, err) : say[1] ? sync_by_root(f) : MPI_SUCCESS;
	*code = *code ? *code : err;
	return 0;
}

/* All that is not this process's own.  Nobody deletes while others still use the file. */
static int close_shared(struct mpiio_file *f, int *code)
{
	int behind;

	*code = requests_settle(f);
	behind = behind_settle(f);
	if (behind && !*code)
		*code = code_text(behind, f->behind.text);
	return close_together(f, code);
}

/* Deletes it if that was asked for: the code. */
static int close_name(const struct mpiio_file *f)
{
	if ((f->amode & MPI_MODE_DELETE_ON_CLOSE) && !f->team->rank)
		return where_delete(&f->where);
	mount_look(f);
	return MPI_SUCCESS;
}

/* An error handler comes when all is done that others wait for: it may close the file, which is nothing then, or not return. */
int serve_close(struct mpiio_file *f, MPI_File *fh)
{
	int code = MPI_SUCCESS, deleted;

	if (f->closing) {
		*fh = MPI_FILE_NULL;
		return MPI_SUCCESS;
	}
	f->closing = true;
	if (close_shared(f, &code)) {
		f->closing = false;
		return code ? fail_code(f, code)
			    : fail_class(f, MPI_ERR_OTHER, "a split collective is under way");
	}
	deleted = close_name(f);
	fail_code(f, code);
	handle_drop(f);
	file_free(f);
	*fh = MPI_FILE_NULL;
	fail_null(deleted);
	return code ? code : deleted;
}
