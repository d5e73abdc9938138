// SPDX-License-Identifier: GPL-2.0-only
/* ddio ls, stat, layout, mkdir, rm: names and what is behind them. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ddio/ddio.h>
#include "ddio.h"
#include "tools/common/safe/text.h"

struct files_values {
	const char *conf, *mode;
	bool details, force, parents;
};

#define CONF_OPT                                                                     \
	DDIO_OPT("conf", 'c', OPT_TEXT, offsetof(struct files_values, conf), "FILE", \
		 "the cluster's configuration ($DDIO_CONF)")

static const struct ddio_opt ls_opts[] = {
	CONF_OPT,
	DDIO_OPT("long", 'l', OPT_FLAG, offsetof(struct files_values, details), NULL,
		 "show size, striping and time of each"),
	{ 0 },
};
static const struct ddio_opt plain_opts[] = { CONF_OPT, { 0 } };
static const struct ddio_opt mkdir_opts[] = {
	CONF_OPT,
	DDIO_OPT("mode", 'm', OPT_TEXT, offsetof(struct files_values, mode), "MODE",
		 "permissions, octal (755)"),
	DDIO_OPT("parents", 'p', OPT_FLAG, offsetof(struct files_values, parents), NULL,
		 "make missing parents, and accept directories that exist"),
	{ 0 },
};
static const struct ddio_opt rm_opts[] = {
	CONF_OPT,
	DDIO_OPT("force", 'f', OPT_FLAG, offsetof(struct files_values, force), NULL,
		 "ignore names that do not exist"),
	{ 0 },
};

const struct opt_cmd opts_ls = { "ddio",  "ls", "[DIR...]", "List the files of directories.",
				 ls_opts, 0,	-1 };
const struct opt_cmd opts_stat = { "ddio",     "stat", "NAME...", "Show files' sizes and striping.",
				   plain_opts, 1,      -1 };
const struct opt_cmd opts_layout = {
	"ddio", "layout", "NAME|PATH", "Show where every block of a file lies.", plain_opts, 1, 1
};
const struct opt_cmd opts_mkdir = { "ddio",	"mkdir", "DIR...", "Make directories.",
				    mkdir_opts, 1,	 -1 };
const struct opt_cmd opts_rm = { "ddio",  "rm", "NAME...", "Remove files and empty directories.",
				 rm_opts, 1,	-1 };

static const char *layout_name(uint32_t layout)
{
	static const char *const names[] = { "contiguous", "random-blocks", "random-tracks" };

	return layout < 3 ? names[layout] : "unknown";
}

static const char *time_text(uint64_t ns, char buf[32])
{
	time_t t = (time_t)(ns / 1000000000);
	struct tm tm;

	strftime(buf, 32, "%Y-%m-%d %H:%M:%S", localtime_r(&t, &tm));
	return buf;
}

static int ls_one(void *arg, const char *name, const struct ddio_file_stat *st)
{
	const struct files_values *v = arg;
	char when[32], block[16];

	if (v->details && !st->ndisks)
		printf("%14s %21s %-13s %19s ", "-", "", "directory", "");
	else if (v->details)
		printf("%14" PRIu64 " %6s x %-4u %-13s %s ", st->size,
		       cmd_human(st->block_size, block), st->ndisks, layout_name(st->layout),
		       time_text(st->mtime_ns, when));
	text_name(stdout, name);
	putchar('\n');
	return 0;
}

/* Lists a directory, or a file by itself.  Return: EXIT_OK, or EXIT_FAILED after a message */
static int ls_name(struct ddio_session *s, const char *name, struct files_values *v)
{
	struct ddio_file_stat st;
	int err = ddio_list(s, name, ls_one, v);

	if (err == -ENOTDIR && name && name[strlen(name) - 1] != '/') {
		err = ddio_stat(s, name, &st);
		if (!err)
			ls_one(v, name, &st);
	}
	return err ? cmd_fail_session("ls", s, err, name ? name : "the root") : EXIT_OK;
}

int cmd_ls(int argc, char **argv)
{
	struct files_values v = { 0 };
	int i, failed = EXIT_OK, err = opt_parse(&opts_ls, &v, &argc, &argv);
	struct ddio_session *s;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	s = cmd_connect("ls", v.conf);
	if (!s)
		return EXIT_FAILED;
	for (i = 0; i < (argc ? argc : 1); i++)
		failed |= ls_name(s, argc ? argv[i] : NULL, &v);
	ddio_disconnect(s);
	return failed;
}

static int stat_one(struct ddio_session *s, const char *name)
{
	struct ddio_file_stat st;
	struct ddio_file *f;
	char when[32];
	uint32_t i;
	int err = ddio_stat(s, name, &st);

	if (!err)
		err = ddio_open(s, name, 0, NULL, &f);
	if (err) {
		cmd_fail_session("stat", s, err, name);
		return err;
	}
	fputs("name:       ", stdout);
	text_name(stdout, name);
	printf("\nid:         %" PRIu64 "\nsize:       %" PRIu64 "\n", st.id, st.size);
	printf("block size: %u\nlayout:     %s (seed %" PRIu64 ")\n", st.block_size,
	       layout_name(st.layout), st.seed);
	printf("created:    %s\n", time_text(st.ctime_ns, when));
	printf("modified:   %s\ndisks:     ", time_text(st.mtime_ns, when));
	for (i = 0; i < st.ndisks; i++)
		printf(" %" PRId64, ddio_file_disk(f, i));
	putchar('\n');
	ddio_close(f);
	return 0;
}

int cmd_stat(int argc, char **argv)
{
	struct files_values v = { 0 };
	int i, failed = 0, err = opt_parse(&opts_stat, &v, &argc, &argv);
	struct ddio_session *s;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	s = cmd_connect("stat", v.conf);
	if (!s)
		return EXIT_FAILED;
	for (i = 0; i < argc; i++)
		failed |= stat_one(s, argv[i]) != 0;
	ddio_disconnect(s);
	return failed ? EXIT_FAILED : EXIT_OK;
}

static int layout_one(void *arg, const struct ddio_placement *p)
{
	(void)arg;
	printf("%6u %12" PRIu64 " %8" PRIu64 " %16" PRIu64 "\n", p->disk, p->block, p->count,
	       p->start);
	return 0;
}

int cmd_layout(int argc, char **argv)
{
	struct files_values v = { 0 };
	int err = opt_parse(&opts_layout, &v, &argc, &argv);
	char space[2 * PATH_MAX], conf[PATH_MAX];
	struct ddio_session *s;
	struct ddio_file *f;
	const char *name;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	name = cmd_mounted(argv[0], space, conf);
	s = cmd_connect("layout", v.conf ? v.conf : conf[0] ? conf : NULL);
	if (!s)
		return EXIT_FAILED;
	err = ddio_open(s, name, 0, NULL, &f);
	if (!err) {
		printf("%6s %12s %8s %16s\n", "disk", "first block", "blocks", "byte on disk");
		err = ddio_layout(f, layout_one, NULL);
	}
	if (err)
		cmd_fail_session("layout", s, err, name);
	ddio_disconnect(s);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int is_listed(void *arg, const char *name, const struct ddio_file_stat *st)
{
	(void)arg;
	(void)name;
	(void)st;
	return 0;
}

/* Missing parents get the usual permissions. */
static int mkdir_one(struct ddio_session *s, char *name, unsigned int mode, bool parents)
{
	char *slash;
	int err = 0;

	for (slash = name; parents && !err && (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		err = ddio_mkdir(s, name, 0755);
		*slash = '/';
		if (err == -EEXIST)
			err = 0;
	}
	if (!err)
		err = ddio_mkdir(s, name, mode);
	return err == -EEXIST && parents && !ddio_list(s, name, is_listed, NULL) ? 0 : err;
}

/* Return: the permissions, or more than there are. */
static unsigned long mode_of(const char *text)
{
	char *end;
	unsigned long mode;

	if (!text)
		return 0755;
	mode = strtoul(text, &end, 8);
	return *end || !text[0] || text[0] == '-' ? ULONG_MAX : mode;
}

int cmd_mkdir(int argc, char **argv)
{
	struct files_values v = { 0 };
	int i, failed = 0, err = opt_parse(&opts_mkdir, &v, &argc, &argv);
	unsigned long mode = mode_of(v.mode);
	struct ddio_session *s;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (mode > 0777) {
		cmd_fail("mkdir", 0, "--mode: '%s' is not an octal number up to 777", v.mode);
		return EXIT_USAGE;
	}
	s = cmd_connect("mkdir", v.conf);
	if (!s)
		return EXIT_FAILED;
	for (i = 0; i < argc; i++) {
		err = mkdir_one(s, argv[i], (unsigned int)mode, v.parents);
		if (err)
			cmd_fail_session("mkdir", s, err, argv[i]);
		failed |= err != 0;
	}
	ddio_disconnect(s);
	return failed ? EXIT_FAILED : EXIT_OK;
}

int cmd_rm(int argc, char **argv)
{
	struct files_values v = { 0 };
	int i, failed = 0, err = opt_parse(&opts_rm, &v, &argc, &argv);
	struct ddio_session *s;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	s = cmd_connect("rm", v.conf);
	if (!s)
		return EXIT_FAILED;
	for (i = 0; i < argc; i++) {
		err = ddio_remove(s, argv[i]);
		if (!err || (err == -ENOENT && v.force))
			continue;
		cmd_fail_session("rm", s, err, argv[i]);
		failed = 1;
	}
	ddio_disconnect(s);
	return failed ? EXIT_FAILED : EXIT_OK;
}
