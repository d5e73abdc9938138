// SPDX-License-Identifier: GPL-2.0-only
/* From the cluster to a mount, and back. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "ddiofs.h"
#include "session.h"

#define FUSERMOUNT "fusermount3"
/* At the end: how long replies are waited for, and the write-back of pages of a mount in use. */
#define DRAIN_MS 10000
#define SYNC_SECONDS 10

/* A heap that has grown by so many pages since it was trimmed is trimmed again. */
#define TRIM_PAGES 256

/**
 * struct mount_session - a mount, and what ends with it
 * @pages: of memory, when the heap was last trimmed
 */
struct mount_session {
	struct mount m;
	bool mounted;
	long pages;
};

extern char **environ;

static char fuse_said[512];

/* Keeps the last line that libfuse logs: it says why a mount fails. */
static void fuse_log_line(enum fuse_log_level level, const char *fmt, va_list ap)
{
	(void)level;
	vsnprintf(fuse_said, sizeof(fuse_said), fmt, ap);
	fuse_said[strcspn(fuse_said, "\n")] = 0;
}

/*
 * Requests before there is a mount: the thread waits for each.
 */
struct root_wait {
	sem_t sem;
	int err;
	struct ddio_fs_attr attr;
};

static void wait_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct root_wait *w = arg;

	w->err = reply->err;
	if (!reply->err)
		w->attr = *reply->attr;
	sem_post(&w->sem);
}

/* Goes from directory *ino to its entry @name; NULL: only checks the directory. */
static int step_into(struct ddio_fs *fs, uint64_t *ino, const char *name)
{
	struct root_wait w;

	sem_init(&w.sem, 0, 0);
	if (name)
		ddio_fs_lookup(fs, *ino, name, wait_done, &w);
	else
		ddio_fs_getattr(fs, *ino, wait_done, &w);
	while (sem_wait(&w.sem))
		;
	sem_destroy(&w.sem);
	if (w.err)
		return w.err;
	if (!S_ISDIR(w.attr.mode))
		return -ENOTDIR;
	*ino = w.attr.ino;
	return 0;
}

/* Finds the mount's directory, which shows whether the name server can be reached. */
static int root_find(struct mount *m, char *err, size_t err_len)
{
	char *copy = strdup(m->o->sub), *save = NULL, *name;
	int ret = copy ? 0 : -ENOMEM;

	m->root = DDIO_FS_ROOT;
	if (!ret)
		ret = step_into(m->fs, &m->root, NULL);
	for (name = copy ? strtok_r(copy, "/", &save) : NULL; name && !ret;
	     name = strtok_r(NULL, "/", &save))
		ret = step_into(m->fs, &m->root, name);
	free(copy);
	if (ret)
		snprintf(err, err_len, "%s: %s", m->o->source, strerror(-ret));
	return ret;
}

/* Escapes commas, which would end an option in libfuse's list. */
static char *name_escape(const char *name)
{
	char *text = malloc(2 * strlen(name) + 1), *p = text;

	while (text && *name) {
		if (*name == ',' || *name == '\\')
			*p++ = '\\';
		*p++ = *name++;
	}
	if (text)
		*p = 0;
	return text;
}

static int args_make(const struct mount_opts *o, struct fuse_args *args)
{
	char *text = NULL, *name = name_escape(o->source);
	int n = -1;

	if (name)
		n = asprintf(&text, "-osubtype=ddio,fsname=%s%s%s%s%s%s", name,
			     o->no_permissions ? "" : ",default_permissions",
			     o->allow_other ? ",allow_other" : "", o->ro ? ",ro" : "",
			     o->debug ? ",debug" : "", o->kernel);
	free(name);
	if (n < 0)
		return -ENOMEM;
	n = fuse_opt_add_arg(args, "ddiofs") || fuse_opt_add_arg(args, text);
	free(text);
	return n ? -ENOMEM : 0;
}

static int fuse_open(struct mount_session *s, char *err, size_t err_len)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct mount *m = &s->m;
	int ret = args_make(m->o, &args);

	if (!m->o->debug)
		fuse_set_log_func(fuse_log_line);
	if (!ret) {
		m->se = fuse_session_new(&args, &mount_ops, sizeof(mount_ops), m);
		ret = m->se ? 0 : -EINVAL;
	}
	fuse_opt_free_args(&args);
	if (!ret)
		ret = fuse_session_mount(m->se, m->o->dir) ? -EPERM : 0;
	if (!ret) {
		s->mounted = true;
		ret = loop_prepare(m);
	}
	if (ret)
		snprintf(err, err_len, "%s: %s", m->o->dir,
			 fuse_said[0] ? fuse_said : "cannot mount here");
	return ret;
}

int session_open(const struct mount_opts *o, void (*log)(void *arg, int level, const char *line),
		 void *arg, struct mount_session **session, char *err, size_t err_len)
{
	struct ddio_fs_opts fo = { .struct_size = sizeof(fo),
				   .flags = (o->hard ? DDIO_FS_HARD : 0) |
					    (o->cache == CACHE_NONE ? DDIO_FS_PROMPT : 0),
				   .timeout_ms = (uint32_t)(o->timeout * 1000),
				   .conf = o->conf,
				   .threads = o->threads,
				   .log = log,
				   .log_arg = arg };
	struct mount_session *s = calloc(1, sizeof(*s));
	int ret;

	snprintf(err, err_len, "out of memory");
	if (!s)
		return -ENOMEM;
	s->m.o = o;
	fo.names_lost = names_forget;
	fo.data_doubted = pages_doubted;
	fo.names_lost_arg = &s->m;
	pthread_mutex_init(&s->m.lock, NULL);
	pthread_cond_init(&s->m.idle, NULL);
	s->m.again = again_new();
	s->m.known = known_new();
	s->m.seen = seen_new();
	s->m.marks = marks_new();
	ret = s->m.again && s->m.known && s->m.seen && s->m.marks
		      ? ddio_fs_open(&fo, &s->m.fs, err, err_len)
		      : -ENOMEM;
	if (!ret)
		ret = root_find(&s->m, err, err_len);
	if (!ret)
		ret = fuse_open(s, err, err_len);
	if (!ret) {
		s->m.drops = drops_new(s->m.se);
		ret = s->m.drops ? late_begin(&s->m) : -ENOMEM;
	}
	if (ret) {
		session_close(s);
		return ret;
	}
	*session = s;
	return 0;
}

/* Returns how many threads help to take requests. */
static unsigned int helpers_for(const struct mount_opts *o)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (o->threads)
		return o->threads - 1;
	return cores < 2 ? 1 : cores > 8 ? 7 : (unsigned int)cores - 1;
}

int session_start(struct mount_session *s, int end, char *err, size_t err_len)
{
	int ret = loop_start(&s->m, helpers_for(s->m.o), end);

	if (ret)
		snprintf(err, err_len, "cannot start threads: %s", strerror(-ret));
	return ret;
}

/* Returns how many pages of memory the process has, or 0. */
static long pages_resident(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long all, resident = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%ld %ld", &all, &resident) != 2)
		resident = 0;
	fclose(f);
	return resident;
}

/* What is freed in the middle of a heap stays the process's without malloc_trim(). */
void session_trim(struct mount_session *s)
{
	bool freed = buffers_trim(s->m.buffers);

	if (!freed && pages_resident() < s->pages + TRIM_PAGES)
		return;
#ifdef __GLIBC__
	malloc_trim(0);
#endif
	s->pages = pages_resident();
}

/*
 * The end
 */
static int fusermount(const char *dir, bool lazy)
{
	char *argv[] = { FUSERMOUNT, "-u", "-q", lazy ? "-z" : "--", (char *)dir, NULL };
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, FUSERMOUNT, NULL, NULL, argv, environ))
		return -ENOENT;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EBUSY;
}

static int unmount(const char *dir, bool lazy)
{
	if (geteuid())
		return fusermount(dir, lazy);
	return umount2(dir, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) ? -errno : 0;
}

static void *sync_run(void *arg)
{
	const struct mount *m = arg;
	int fd = open(m->o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		syncfs(fd);
		close(fd);
	}
	return NULL;
}

/* Has the kernel write back its pages while there is still a mount to write to. */
static void sync_pages(struct mount *m)
{
	struct timespec until;
	pthread_t thread;

	if (pthread_create(&thread, NULL, sync_run, m))
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += SYNC_SECONDS;
	if (pthread_timedjoin_np(thread, NULL, &until))
		pthread_detach(thread);
}

void session_unmount(struct mount_session *s)
{
	struct mount *m = &s->m;

	if (unmount(m->o->dir, false)) {
		sync_pages(m);
		unmount(m->o->dir, true);
	}
	s->mounted = false;
	fuse_session_exit(m->se);
}

/*
 * Closes the connection and frees what libfuse would free when unmounting.  Another mount may have the
 * directory by now: libfuse leaves it alone if the descriptor is in error.
 */
static void fuse_close(struct fuse_session *se)
{
	int fds[2];

	if (fuse_session_fd(se) >= 0 && !pipe2(fds, O_CLOEXEC)) {
		close(fds[0]);
		dup3(fds[1], fuse_session_fd(se), O_CLOEXEC);
		close(fds[1]);
		fuse_session_unmount(se);
	}
	fuse_session_destroy(se);
}

void session_close(struct mount_session *s)
{
	struct mount *m = &s->m;

	if (m->se && fuse_session_exited(m->se))
		s->mounted = false;
	if (s->mounted)
		session_unmount(s);
	loop_end(m);
	requests_drain(m, DRAIN_MS);
	again_end(m->again);
	if (m->fs)
		ddio_fs_close(m->fs);
	late_end(m);
	handles_free(m);
	dirs_free(m);
	drops_free(m->drops);
	if (m->se)
		fuse_close(m->se);
	buffers_free(m->buffers);
	again_free(m->again);
	known_free(m->known);
	seen_free(m->seen);
	marks_free(m->marks);
	pthread_cond_destroy(&m->idle);
	pthread_mutex_destroy(&m->lock);
	free(s);
}
