// SPDX-License-Identifier: GPL-2.0-only
/* ddio export: copies a file out, by independent requests to all disks. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <ddio/ddio.h>
#include "tools/common/cmd.h"
#include "tools/common/progress.h"
#include "tools/common/safe/beside.h"
#include "tools/common/safe/interrupt.h"
#include "transfer.h"

#define CHUNK (8u << 20)

struct export_values {
	const char *conf;
	bool force, quiet;
};

#define AT(member) offsetof(struct export_values, member)

static const struct ddio_opt export_opts[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, AT(conf), "FILE",
		 "the cluster's configuration ($DDIO_CONF)"),
	DDIO_OPT("force", 'f', OPT_FLAG, AT(force), NULL, "overwrite a local file that exists"),
	DDIO_OPT("quiet", 'q', OPT_FLAG, AT(quiet), NULL, "show no progress"),
	{ 0 },
};

const struct opt_cmd opts_export = {
	"ddio", "export", "NAME [FILE]", "Fetch a file ('-': to standard output).", export_opts,
	1,	2
};

static int write_full(int fd, const char *buf, size_t len)
{
	ssize_t n;

	while (len) {
		if (interrupt_came())
			return -EINTR;
		n = write(fd, buf, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Says what fails. */
static int export_copy(struct ddio_session *s, struct ddio_file *f, const char *name, uint64_t size,
		       int fd, const char *to, bool quiet)
{
	char *buf = malloc(CHUNK);
	struct progress p;
	uint64_t at = 0;
	ssize_t n = 0;
	int err = buf ? 0 : -ENOMEM;

	progress_begin(&p, "export", size, !quiet);
	while (!err && at < size) {
		n = interrupt_came() ? -EINTR : ddio_pread(f, buf, CHUNK, at);
		if (n <= 0)
			break;
		err = write_full(fd, buf, (size_t)n);
		at += (uint64_t)n;
		progress_step(&p, at, NULL);
	}
	progress_end(&p);
	free(buf);
	if (err)
		cmd_fail("export", err, "%s", to);
	else if (n == -EINTR && interrupt_came())
		cmd_fail("export", (int)n, "%s", name);
	else if (n < 0)
		cmd_fail_session("export", s, (int)n, name);
	else if (at < size)
		cmd_fail("export", 0, "%s became shorter meanwhile", name);
	else
		return 0;
	return err ? err : n < 0 ? (int)n : -EIO;
}

/* Without a name of its own, or in a directory, the local file has the last part of the cluster's. */
static int local_name(int argc, char **argv, char to[PATH_MAX])
{
	const char *given = argc > 1 ? argv[1] : cmd_last_part(argv[0]);
	const size_t len = strlen(given);
	struct stat st;
	bool into = len && !stat(given, &st) && S_ISDIR(st.st_mode);
	int n = snprintf(to, PATH_MAX, "%s%s%s", given, into && given[len - 1] != '/' ? "/" : "",
			 into ? cmd_last_part(argv[0]) : "");

	return n < PATH_MAX ? 0 : cmd_fail("export", -ENAMETOOLONG, "%s", given);
}

static int export_file(struct ddio_session *s, struct ddio_file *f, uint64_t size,
		       const struct export_values *v, const char *name, const char *to)
{
	static struct beside b;
	int err = beside_open(&b, to, v->force, 0666);

	if (err == -EEXIST)
		cmd_fail("export", 0, "%s exists: --force replaces it", to);
	else if (err)
		cmd_fail("export", err, "%s", to[0] ? to : "\"\"");
	if (err)
		return err;
	err = export_copy(s, f, name, size, b.fd, to, v->quiet);
	if (!err && interrupt_came()) {
		err = -EINTR;
		cmd_fail("export", err, "%s", to);
	}
	if (err) {
		beside_drop(&b);
		return err;
	}
	err = beside_keep(&b);
	if (err)
		cmd_fail("export", err, "%s", to);
	return err;
}

static int export_run(struct ddio_session *s, const struct export_values *v, const char *name,
		      const char *to)
{
	struct ddio_file_stat st;
	struct ddio_file *f;
	int err = ddio_open(s, name, 0, NULL, &f);

	if (err) {
		cmd_fail_session("export", s, err, name);
		return err;
	}
	err = ddio_fstat(f, &st);
	if (err)
		cmd_fail_session("export", s, err, name);
	else if (!strcmp(to, "-"))
		err = export_copy(s, f, name, st.size, STDOUT_FILENO, "standard output", v->quiet);
	else
		err = export_file(s, f, st.size, v, name, to);
	ddio_close(f);
	return err;
}

int cmd_export(int argc, char **argv)
{
	struct export_values v = { 0 };
	int err = opt_parse(&opts_export, &v, &argc, &argv);
	char to[PATH_MAX];
	struct ddio_session *s;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (local_name(argc, argv, to))
		return EXIT_FAILED;
	interrupt_watch();
	s = cmd_connect("export", v.conf);
	if (!s)
		return EXIT_FAILED;
	err = export_run(s, &v, argv[0], to);
	ddio_disconnect(s);
	interrupt_end();
	return err ? EXIT_FAILED : EXIT_OK;
}
