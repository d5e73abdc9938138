// SPDX-License-Identifier: GPL-2.0-only
/*
 * ddiofs, and mount.ddio for mount(8): from the command line to a mount, until it is unmounted or a
 * signal ends it.
 *
 * Threads: the main one waits for signals and for the end; those of loop.c take requests; those of the
 * library bring replies.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>
#include "base/bug.h"
#include "ddiofs.h"
#include "session.h"
#include "tools/common/background.h"
#include "tools/common/notify.h"
#include "tools/common/opt.h"
#include "tools/common/version.h"

#define PROGRAM "ddiofs"
/* How often memory is given back. */
#define TRIM_MS 5000

/* The command line. */
struct ddiofs_args {
	const char *options, *name_space, *type;
	bool foreground, fake, sloppy, no_mtab, verbose, version, list_options;
};

#define AT(member) offsetof(struct ddiofs_args, member)

static const struct ddio_opt ddiofs_opts[] = {
	DDIO_OPT("options", 'o', OPT_LIST, AT(options), "LIST",
		 "mount options, separated by commas"),
	DDIO_OPT("foreground", 'f', OPT_FLAG, AT(foreground), NULL, "stay in the foreground"),
	DDIO_OPT("version", 0, OPT_FLAG, AT(version), NULL, "show the version"),
	DDIO_OPT("list-options", 0, OPT_FLAG, AT(list_options), NULL, "list the mount options"),
	{ 0 }
};

static const struct opt_cmd ddiofs_cmd = { .program = PROGRAM,
					   .args = "SOURCE DIR",
					   .summary = "Mount a ddio cluster.",
					   .opts = ddiofs_opts,
					   .max_args = 2 };

/* As mount(8) calls its helpers. */
static const struct ddio_opt helper_opts[] = {
	DDIO_OPT("options", 'o', OPT_LIST, AT(options), "LIST",
		 "mount options, separated by commas"),
	DDIO_OPT("fake", 'f', OPT_FLAG, AT(fake), NULL, "check everything, mount nothing"),
	DDIO_OPT("no-mtab", 'n', OPT_FLAG, AT(no_mtab), NULL, "accepted and ignored"),
	DDIO_OPT("sloppy", 's', OPT_FLAG, AT(sloppy), NULL, "accepted and ignored"),
	DDIO_OPT("verbose", 'v', OPT_FLAG, AT(verbose), NULL, "say what is mounted"),
	DDIO_OPT("namespace", 'N', OPT_TEXT, AT(name_space), "NS", "accepted and ignored"),
	DDIO_OPT("types", 't', OPT_TEXT, AT(type), "TYPE", "accepted and ignored"),
	{ 0 }
};

static const struct opt_cmd helper_cmd = { .program = "mount.ddio",
					   .args = "SOURCE DIR",
					   .summary = "Mount a ddio cluster, for mount(8).",
					   .opts = helper_opts,
					   .min_args = 2,
					   .max_args = 2 };

/**
 * struct ddiofs - the process
 * @parent: pipe to the process that waits for the mount; -1: none
 * @signals, @end: descriptors that become readable on a signal, and when the mount is gone
 */
struct ddiofs {
	struct ddiofs_args v;
	struct mount_opts o;
	struct mount_session *session;
	int parent, signals, end;
};

static void log_line(void *arg, int level, const char *line)
{
	static const int priorities[] = { LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
	const struct ddiofs *p = arg;

	if (level < 0 || level > 3)
		level = 2;
	if (p->v.foreground)
		fprintf(stderr, PROGRAM ": %s\n", line);
	else
		syslog(priorities[level], "%s", line);
}

static void log_bug(void *arg, const char *line)
{
	log_line(arg, 0, line);
}

static int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int fail(const char *fmt, ...)
{
	va_list ap;

	fputs(PROGRAM ": ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return EXIT_FAILED;
}

/* Tells the service manager and the parent that the mount is there. */
static void mount_ready(struct ddiofs *p)
{
	int err = notify_send("READY=1");

	if (err)
		log_line(p, 1, "cannot tell the service manager that the mount is ready");
	if (p->parent < 0)
		return;
	background_detach();
	if (write(p->parent, "", 1) < 0)
		log_line(p, 1, "the process that waited for the mount is gone");
	close(p->parent);
	p->parent = -1;
}

/* Due before any thread is made, so that the signals are blocked in all of them. */
static int open_signals(struct ddiofs *p)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	p->signals = signalfd(-1, &set, SFD_CLOEXEC);
	p->end = eventfd(0, EFD_CLOEXEC);
	return p->signals < 0 || p->end < 0 ? -errno : 0;
}

/* Waits until the mount is gone, or unmounts it on a signal. */
static void wait_for_end(struct ddiofs *p)
{
	struct pollfd fds[2] = { { .fd = p->signals, .events = POLLIN },
				 { .fd = p->end, .events = POLLIN } };
	struct signalfd_siginfo info;
	int n;

	for (;;) {
		n = poll(fds, 2, TRIM_MS);
		if (n < 0 && errno != EINTR)
			return;
		if (!n)
			session_trim(p->session);
		if (n <= 0)
			continue;
		if (fds[1].revents)
			return;
		if (!fds[0].revents || read(p->signals, &info, sizeof(info)) != sizeof(info))
			continue;
		if (info.ssi_signo == SIGHUP && !p->v.foreground)
			continue;
		session_unmount(p->session);
		return;
	}
}

static int serve(struct ddiofs *p)
{
	char err[1024];
	int ret = open_signals(p);

	if (ret)
		return fail("%s", strerror(-ret));
	ret = session_open(&p->o, log_line, p, &p->session, err, sizeof(err));
	if (ret)
		return fail("%s", err);
	ret = session_start(p->session, p->end, err, sizeof(err));
	if (ret) {
		session_close(p->session);
		return fail("%s", err);
	}
	if (p->parent >= 0 && chdir("/"))
		log_line(p, 1, "cannot change to /");
	mount_ready(p);
	wait_for_end(p);
	session_close(p->session);
	return EXIT_OK;
}

static int check_dir(struct ddiofs *p, const char *dir)
{
	struct statx st;
	char *real;

	/*
	 * Forced, since for a mount whose server died the kernel would answer from its cache; without
	 * automounting, since this may be the mount that the automounter waits for.
	 */
	if (statx(AT_FDCWD, dir, AT_STATX_FORCE_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &st)) {
		if (errno == ENOTCONN)
			return fail("%s: the server of an earlier mount died; umount it first",
				    dir);
		return fail("%s: %s", dir, strerror(errno));
	}
	if (!S_ISDIR(st.stx_mode))
		return fail("%s is not a directory", dir);
	real = realpath(dir, NULL);
	if (!real)
		return fail("%s: %s", dir, strerror(errno));
	p->o.dir = real;
	return 0;
}

static int prepare(struct ddiofs *p, char **argv)
{
	char err[1024];

	mount_opts_init(&p->o);
	if ((p->v.options && mount_opts_parse(&p->o, p->v.options, err, sizeof(err))) ||
	    mount_opts_source(&p->o, argv[0], err, sizeof(err))) {
		fail("%s", err);
		return EXIT_USAGE;
	}
	mount_opts_settle(&p->o);
	return check_dir(p, argv[1]);
}

static int run(struct ddiofs *p, char **argv)
{
	int rc = prepare(p, argv), ret;

	if (!rc && p->v.verbose)
		printf("%s on %s type fuse.ddio\n", p->o.source, p->o.dir);
	fflush(stdout);
	if (!rc && !p->v.fake) {
		openlog(PROGRAM, LOG_PID, LOG_DAEMON);
		ddio_bug_set_log(log_bug, p);
		ret = p->v.foreground ? 0 : background_fork(&p->parent);
		rc = ret ? fail("%s", strerror(-ret)) : serve(p);
	}
	free((char *)p->o.dir);
	mount_opts_free(&p->o);
	return rc;
}

static bool is_helper(const char *name)
{
	const char *slash = strrchr(name, '/');

	return !strncmp(slash ? slash + 1 : name, "mount.", 6);
}

/* Nodes count what a mount asks for under its machine's name, unless it is told another. */
static void name_job(void)
{
	char host[HOST_NAME_MAX + 1] = "", name[HOST_NAME_MAX + 8];

	gethostname(host, sizeof(host) - 1);
	snprintf(name, sizeof(name), "mount@%s", host);
	setenv("DDIO_JOB", name, 0);
}

int main(int argc, char **argv)
{
	struct ddiofs p = { .parent = -1, .signals = -1, .end = -1 };
	const struct opt_cmd *cmd = is_helper(argv[0]) ? &helper_cmd : &ddiofs_cmd;
	int rc = opt_parse(cmd, &p.v, &argc, &argv);

	if (rc) {
		if (rc > 0)
			mount_opts_help(stdout);
		rc = rc < 0 ? EXIT_USAGE : EXIT_OK;
	} else if (p.v.version) {
		printf(PROGRAM " %s (%s)\n", tool_version, tool_commit);
	} else if (p.v.list_options) {
		mount_opts_names(stdout);
	} else if (argc != 2) {
		fprintf(stderr, PROGRAM ": give SOURCE and DIR\nTry '" PROGRAM " --help'.\n");
		rc = EXIT_USAGE;
	} else {
		name_job();
		rc = run(&p, argv);
	}
	free((char *)p.v.options);
	return rc;
}
