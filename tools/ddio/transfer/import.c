// SPDX-License-Identifier: GPL-2.0-only
/* ddio import: copies a file in, by independent requests to all disks. */
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
#include "tools/common/cmd.h"
#include "tools/common/progress.h"
#include "tools/common/safe/interrupt.h"
#include "place.h"
#include "transfer.h"

#define CHUNK (8u << 20)

struct import_values {
	const char *conf, *layout, *disks;
	uint64_t block, seed;
	bool force, quiet;
};

#define AT(member) offsetof(struct import_values, member)

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
const struct opt_cmd opts_import = {
	"ddio", "import", "FILE [NAME]", "Store a local file ('-': standard input).", import_opts,
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
	uint32_t i;
	char *end;

	*n = 0;
	*disks = calloc(max, sizeof(**disks));
	if (!*disks)
		return -ENOMEM;
	for (;;) {
		unsigned long v = strtoul(text, &end, 10);

		if (end == text || v > UINT32_MAX || (*end && *end != ','))
			break;
		for (i = 0; i < *n && (*disks)[i] != v; i++)
			continue;
		if (i < *n) {
			cmd_fail("import", 0, "--disks names disk %lu twice", v);
			return -EINVAL;
		}
		(*disks)[(*n)++] = (uint32_t)v;
		if (!*end)
			return 0;
		text = end + 1;
	}
	cmd_fail("import", 0, "--disks takes numbers, as 0,1,2");
	return -EINVAL;
}

/* Return: bytes, fewer than @len only at the end; -EINTR if the command is to end. */
static ssize_t read_full(int fd, char *buf, size_t len)
{
	size_t got = 0;
	ssize_t n;

	while (got < len) {
		if (interrupt_came())
			return -EINTR;
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

/* Says what fails. */
static int import_copy(int fd, const char *from, struct ddio_session *s, struct ddio_file *f,
		       const char *name, const struct progress *shown)
{
	char *buf = malloc(CHUNK);
	struct progress p = *shown;
	uint64_t at = 0;
	ssize_t n = 1, w;
	int err = buf ? 0 : -ENOMEM;

	if (err)
		cmd_fail("import", err, "%s", name);
	while (!err) {
		n = read_full(fd, buf, CHUNK);
		if (n <= 0)
			break;
		w = ddio_pwrite(f, buf, (size_t)n, at);
		if (w != n)
			err = w < 0 ? (int)w : -EIO;
		at += (uint64_t)n;
		progress_step(&p, at < p.total ? at : p.total, NULL);
	}
	progress_end(&p);
	free(buf);
	if (n < 0) {
		err = (int)n;
		cmd_fail("import", err, "%s", from);
		return err;
	}
	if (!err)
		err = ddio_sync(f);
	if (err && buf)
		cmd_fail_session("import", s, err, name);
	return err;
}

/**
 * struct source - what is copied
 * @path: its name, "-": standard input
 * @size: of a regular file, else 0
 */
struct source {
	int fd;
	const char *path;
	uint64_t size;
};

/* Makes the file as what it is called until it is whole. */
static int import_temp(struct place *p, const struct import_values *v, const struct source *from,
		       const struct ddio_striping *stripe)
{
	const struct ddio_open_opts how = { .struct_size = sizeof(how),
					    .flags = DDIO_CREATE | DDIO_EXCL,
					    .mode = p->there ? p->mode : 0,
					    .striping = stripe };
	struct progress shown;
	struct ddio_file *f;
	int err = ddio_open_with(p->session, p->temp, &how, &f);

	if (err) {
		cmd_fail_session("import", p->session, err, p->name);
		return err;
	}
	progress_begin(&shown, "import", from->size, !v->quiet);
	err = import_copy(from->fd, from->path, p->session, f, p->name, &shown);
	if (!err && interrupt_came()) {
		err = -EINTR;
		cmd_fail("import", err, "%s", p->name);
	}
	ddio_close(f);
	return err;
}

static int import_put(struct place *p, const struct import_values *v, const struct source *from,
		      const struct ddio_striping *stripe)
{
	int err = import_temp(p, v, from, stripe);

	if (!err)
		err = place_take(p, "import", v->force);
	/* There may be none: then the name server has said no, or ends. */
	if (err && p->temp[0])
		ddio_remove(p->session, p->temp);
	return err;
}

static int import_run(struct ddio_session *s, const struct import_values *v,
		      const struct source *from, const char *name)
{
	struct ddio_striping stripe = { .struct_size = sizeof(stripe),
					.block_size = (uint32_t)v->block,
					.seed = v->seed,
					.reserve = from->size };
	static struct place place;
	uint32_t *disks = NULL;
	int err = v->layout ? parse_layout(v->layout, &stripe.layout) : 0;

	if (!err && v->disks)
		err = parse_disks(v->disks, &disks, &stripe.ndisks);
	stripe.disks = disks;
	if (!err)
		err = place_open(&place, "import", s, v->conf, name, cmd_last_part(from->path),
				 v->force);
	if (!err)
		err = import_put(&place, v, from, &stripe);
	place_close(&place);
	free(disks);
	return err;
}

static int source_open(struct source *from, const char *path)
{
	struct stat st;
	int err;

	from->path = path;
	from->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	err = from->fd < 0 || fstat(from->fd, &st) ? -errno : S_ISDIR(st.st_mode) ? -EISDIR : 0;
	if (err) {
		cmd_fail("import", err, "%s", path[0] ? path : "\"\"");
		return err;
	}
	from->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return 0;
}

/* Return: the name in the cluster; NULL after a message */
static const char *import_name(int argc, char **argv)
{
	const char *last = cmd_last_part(argv[0]), *name = argc > 1 ? argv[1] : last;

	if (!name[0])
		cmd_fail("import", 0, "the NAME is empty");
	else if (!strcmp(argv[0], "-") && (argc < 2 || name[strlen(name) - 1] == '/'))
		cmd_fail("import", 0, "give a NAME for what comes from standard input");
	else
		return name;
	return NULL;
}

int cmd_import(int argc, char **argv)
{
	struct import_values v = { 0 };
	struct source from = { .size = 0 };
	int err = opt_parse(&opts_import, &v, &argc, &argv);
	struct ddio_session *s;
	const char *name;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	name = import_name(argc, argv);
	if (!name)
		return EXIT_USAGE;
	if (v.block > DDIO_MAX_BLOCK_SIZE) {
		cmd_fail("import", 0, "--block-size is at most 16M");
		return EXIT_USAGE;
	}
	if (source_open(&from, argv[0]))
		return EXIT_FAILED;
	interrupt_watch();
	s = cmd_connect("import", v.conf);
	err = s ? import_run(s, &v, &from, name) : -EIO;
	if (s)
		ddio_disconnect(s);
	close(from.fd);
	interrupt_end();
	return err ? EXIT_FAILED : EXIT_OK;
}
