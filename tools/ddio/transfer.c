// SPDX-License-Identifier: GPL-2.0-only
/* ddio import, export: copy files in and out, by independent requests to all disks. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <ddio/ddio.h>
#include "ddio.h"
#include "tools/common/progress.h"

#define CHUNK (8u << 20)

struct transfer_values {
	const char *conf, *layout, *disks;
	uint64_t block, seed;
	bool force, quiet;
};

#define AT(member) offsetof(struct transfer_values, member)

static const struct ddio_opt import_opts[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, AT(conf), "FILE",
		 "the cluster's configuration ($DDIO_CONF)"),
	DDIO_OPT("block-size", 'b', OPT_SIZE, AT(block), "SIZE",
		 "block size (the configuration's)"),
	DDIO_OPT("layout", 'l', OPT_TEXT, AT(layout), "NAME",
		 "contiguous, random-blocks, random-tracks (contiguous)"),
	DDIO_OPT("seed", 0, OPT_U64, AT(seed), "N", "seed of a random layout (chosen at random)"),
	DDIO_OPT("disks", 'd', OPT_TEXT, AT(disks), "LIST",
		 "stripe over these disks, as 0,1,2 (all)"),
	DDIO_OPT("force", 'f', OPT_FLAG, AT(force), NULL, "replace a file that exists"),
	DDIO_OPT("quiet", 'q', OPT_FLAG, AT(quiet), NULL, "show no progress"),
	{ 0 },
};
static const struct ddio_opt export_opts[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, AT(conf), "FILE",
		 "the cluster's configuration ($DDIO_CONF)"),
	DDIO_OPT("force", 'f', OPT_FLAG, AT(force), NULL, "overwrite a local file that exists"),
	DDIO_OPT("quiet", 'q', OPT_FLAG, AT(quiet), NULL, "show no progress"),
	{ 0 },
};

const struct opt_cmd opts_import = {
	"ddio", "import", "FILE [NAME]", "Store a local file ('-': standard input).", import_opts,
	1,	2
};
const struct opt_cmd opts_export = {
	"ddio", "export", "NAME [FILE]", "Fetch a file ('-': to standard output).", export_opts,
	1,	2
};

static int parse_layout(const char *text, uint32_t *layout)
{
	static const char *const names[] = { "contiguous", "random-blocks", "random-tracks" };
	uint32_t i;

	for (i = 0; i < 3; i++)
		if (!strcmp(text, names[i])) {
			*layout = i;
			return 0;
		}
	cmd_fail("import", 0,
		 "there is no layout '%s': give contiguous, random-blocks or random-tracks", text);
	return -EINVAL;
}

static int parse_disks(const char *text, uint32_t **disks, uint32_t *n)
{
	size_t max = strlen(text) / 2 + 1;
	char *end;

	*n = 0;
	*disks = calloc(max, sizeof(**disks));
	if (!*disks)
		return -ENOMEM;
	for (;;) {
		unsigned long v = strtoul(text, &end, 10);

		if (end == text || v > UINT32_MAX || (*end && *end != ','))
			break;
		(*disks)[(*n)++] = (uint32_t)v;
		if (!*end)
			return 0;
		text = end + 1;
	}
	cmd_fail("import", 0, "--disks takes numbers, as 0,1,2");
	return -EINVAL;
}

static ssize_t read_full(int fd, char *buf, size_t len)
{
	size_t got = 0;
	ssize_t n;

	while (got < len) {
		n = read(fd, buf + got, len - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static int write_full(int fd, const char *buf, size_t len)
{
	ssize_t n;

	while (len) {
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

static int import_copy(int fd, struct ddio_file *f, uint64_t size, bool quiet)
{
	char *buf = malloc(CHUNK);
	struct progress p;
	uint64_t at = 0;
	ssize_t n, w;
	int err = buf ? 0 : -ENOMEM;

	progress_begin(&p, "import", size, !quiet);
	while (!err) {
		n = read_full(fd, buf, CHUNK);
		if (n <= 0) {
			err = (int)n;
			break;
		}
		w = ddio_pwrite(f, buf, (size_t)n, at);
		if (w != n)
			err = w < 0 ? (int)w : -EIO;
		at += (uint64_t)n;
		progress_step(&p, at < size ? at : size, NULL);
	}
	progress_end(&p);
	free(buf);
	return err ? err : ddio_sync(f);
}

static int import_run(struct ddio_session *s, const struct transfer_values *v, int fd,
		      const char *name)
{
	struct ddio_striping stripe = { .struct_size = sizeof(stripe),
					.block_size = (uint32_t)v->block,
					.seed = v->seed };
	unsigned int flags = DDIO_CREATE | (v->force ? DDIO_TRUNCATE : DDIO_EXCL);
	struct ddio_file *f;
	struct stat st;
	uint32_t *disks = NULL;
	bool copying;
	int err = v->layout ? parse_layout(v->layout, &stripe.layout) : 0;

	if (!err && v->disks)
		err = parse_disks(v->disks, &disks, &stripe.ndisks);
	if (err)
		goto out;
	stripe.disks = disks;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		stripe.reserve = (uint64_t)st.st_size;
	if (v->force) {
		err = ddio_remove(s, name);
		if (err == -ENOENT)
			err = 0;
	}
	if (!err)
		err = ddio_open(s, name, flags, &stripe, &f);
	copying = !err;
	if (copying)
		err = import_copy(fd, f, stripe.reserve, v->quiet);
	/* Closing forgets why. */
	if (err)
		cmd_fail_session("import", s, err, name);
	if (copying)
		ddio_close(f);
out:
	free(disks);
	return err;
}

int cmd_import(int argc, char **argv)
{
	struct transfer_values v = { 0 };
	int fd, err = opt_parse(&opts_import, &v, &argc, &argv);
	struct ddio_session *s;
	const char *name;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (argc < 2 && !strcmp(argv[0], "-")) {
		cmd_fail("import", 0, "give a NAME for what comes from standard input");
		return EXIT_USAGE;
	}
	if (v.block > DDIO_MAX_BLOCK_SIZE) {
		cmd_fail("import", 0, "--block-size is at most 16M");
		return EXIT_USAGE;
	}
	name = argc > 1 ? argv[1] : basename(argv[0]);
	fd = strcmp(argv[0], "-") ? open(argv[0], O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (fd < 0)
		return cmd_fail("import", -errno, "%s", argv[0]);
	s = cmd_connect("import", v.conf);
	err = s ? import_run(s, &v, fd, name) : -EIO;
	if (s)
		ddio_disconnect(s);
	close(fd);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int export_copy(struct ddio_file *f, int fd, uint64_t size, bool quiet)
{
	char *buf = malloc(CHUNK);
	struct progress p;
	uint64_t at = 0;
	ssize_t n;
	int err = buf ? 0 : -ENOMEM;

	progress_begin(&p, "export", size, !quiet);
	while (!err && at < size) {
		n = ddio_pread(f, buf, CHUNK, at);
		if (n <= 0) {
			err = n < 0 ? (int)n : -EIO;
			break;
		}
		err = write_full(fd, buf, (size_t)n);
		at += (uint64_t)n;
		progress_step(&p, at, NULL);
	}
	progress_end(&p);
	free(buf);
	return err;
}

int cmd_export(int argc, char **argv)
{
	struct transfer_values v = { 0 };
	int fd, err = opt_parse(&opts_export, &v, &argc, &argv);
	struct ddio_file_stat st;
	struct ddio_session *s;
	struct ddio_file *f;
	const char *to;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	s = cmd_connect("export", v.conf);
	if (!s)
		return EXIT_FAILED;
	err = ddio_open(s, argv[0], 0, NULL, &f);
	if (!err)
		err = ddio_fstat(f, &st);
	if (err) {
		cmd_fail_session("export", s, err, argv[0]);
		goto out;
	}
	to = argc > 1 ? argv[1] : argv[0];
	fd = strcmp(to, "-")
		     ? open(to, O_WRONLY | O_CREAT | O_CLOEXEC | (v.force ? O_TRUNC : O_EXCL), 0644)
		     : STDOUT_FILENO;
	if (fd < 0) {
		err = -errno;
		cmd_fail("export", err, "%s", to);
		goto out;
	}
	err = export_copy(f, fd, st.size, v.quiet);
	if (close(fd) && !err)
		err = -errno;
	if (err)
		cmd_fail_session("export", s, err, to);
out:
	ddio_disconnect(s);
	return err ? EXIT_FAILED : EXIT_OK;
}
