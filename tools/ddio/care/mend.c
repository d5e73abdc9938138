// SPDX-License-Identifier: GPL-2.0-only
/* ddio frag, mend: in how many extents files lie, and having them lie in few again. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <ddio/ddio.h>
#include "tools/common/safe/text.h"
#include "tools/ddio/care/care.h"

/* An extent of so many bytes costs one movement of the arm: more are not worth moving it. */
#define EXTENT_DEFAULT (64u << 20)

struct mend_values {
	const char *conf;
	uint64_t rate, extent;
	bool csv;
};

#define CONF_OPT                                                                    \
	DDIO_OPT("conf", 'c', OPT_TEXT, offsetof(struct mend_values, conf), "FILE", \
		 "the cluster's configuration ($DDIO_CONF)")

static const struct ddio_opt frag_opts[] = {
	CONF_OPT,
	DDIO_OPT("csv", 0, OPT_FLAG, offsetof(struct mend_values, csv), NULL,
		 "print the numbers comma-separated, in blocks and bytes"),
	{ 0 },
};
static const struct ddio_opt mend_opts[] = {
	CONF_OPT,
	DDIO_OPT("rate", 'r', OPT_SIZE, offsetof(struct mend_values, rate), "BYTES",
		 "move so many bytes a second of each disk, whatever else it has to do"),
	DDIO_OPT("extent", 'e', OPT_SIZE, offsetof(struct mend_values, extent), "BYTES",
		 "leave extents of so many bytes alone (64M; 0: none)"),
	{ 0 },
};

const struct opt_cmd opts_frag = {
	"ddio", "frag", "FILE...", "Show in how many extents files lie.", frag_opts, 1, -1
};
const struct opt_cmd opts_mend = { "ddio",    "mend",
				   "FILE...", "Have the blocks of files lie side by side again.",
				   mend_opts, 1,
				   -1 };

/**
 * struct disk_frag - a file's part of a disk
 * @follow: pairs of blocks that follow one another in the part, and @beside: those of them that lie side by side
 * @last, @end: the block after the last one met, and the byte after that
 */
struct disk_frag {
	uint64_t blocks, extents, follow, beside;
	uint64_t last, end;
};

/**
 * struct frag - a file
 * @n: disks, @disk: their numbers; @bs: bytes of a block
 */
struct frag {
	uint32_t n, bs;
	uint32_t *disk;
	struct disk_frag *part;
};

static void frag_free(struct frag *g)
{
	free(g->disk);
	free(g->part);
}

static int frag_add(void *arg, const struct ddio_placement *p)
{
	struct frag *g = arg;
	struct disk_frag *d;
	uint64_t first = p->block / g->n;
	uint32_t i;

	for (i = 0; i < g->n && g->disk[i] != p->disk; i++)
		;
	if (i == g->n || !p->count)
		return 0;
	d = &g->part[i];
	if (d->blocks && d->last == first)
		d->follow++;
	if (d->blocks && d->end == p->start)
		d->beside += d->last == first;
	else
		d->extents++;
	d->follow += p->count - 1;
	d->beside += p->count - 1;
	d->blocks += p->count;
	d->last = first + p->count;
	d->end = p->start + p->count * g->bs;
	return 0;
}

static int frag_of(struct ddio_session *s, struct ddio_file *f, const char *name, struct frag *g)
{
	struct ddio_file_stat st;
	uint32_t i;
	int err = ddio_stat(s, name, &st);

	*g = (struct frag){ .bs = st.block_size };
	if (err)
		return err;
	g->n = st.ndisks;
	g->disk = calloc(g->n, sizeof(*g->disk));
	g->part = calloc(g->n, sizeof(*g->part));
	if (!g->disk || !g->part)
		return -ENOMEM;
	for (i = 0; i < g->n; i++)
		g->disk[i] = (uint32_t)ddio_file_disk(f, i);
	return ddio_layout(f, frag_add, g);
}

static uint64_t frag_extents(const struct frag *g)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < g->n; i++)
		n += g->part[i].extents;
	return n;
}

static void show_frag(const char *name, const struct frag *g, bool csv)
{
	char mean[16];
	uint32_t i;

	for (i = 0; i < g->n; i++) {
		const struct disk_frag *d = &g->part[i];
		uint64_t bytes = d->extents ? d->blocks * g->bs / d->extents : 0;

		if (csv)
			text_name(stdout, name);
		if (csv)
			printf(",%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			       g->disk[i], d->blocks, d->extents, bytes, d->follow, d->beside);
		else
			printf("%6u %10" PRIu64 " %10" PRIu64 " %8s %9.1f%% ", g->disk[i],
			       d->blocks, d->extents, cmd_human(bytes, mean),
			       d->follow ? 100.0 * (double)d->beside / (double)d->follow : 100.0);
		if (!csv)
			text_name(stdout, name);
		putchar('\n');
	}
}

/* Opens the file @name, which may lie below a mount. */
static struct ddio_session *file_open(const char *command, const char *name, const char *conf,
				      const char **in_cluster, struct ddio_file **f)
{
	static char space[2 * PATH_MAX], of_mount[PATH_MAX];
	struct ddio_session *s;
	int err;

	*in_cluster = cmd_mounted(name, space, of_mount);
	s = cmd_connect(command, conf ? conf : of_mount[0] ? of_mount : NULL);
	if (!s)
		return NULL;
	err = ddio_open(s, *in_cluster, 0, NULL, f);
	if (!err)
		return s;
	cmd_fail_session(command, s, err, name);
	ddio_disconnect(s);
	return NULL;
}

static bool frag_one(const char *path, const struct mend_values *v)
{
	struct frag g = { .n = 0 };
	struct ddio_file *f;
	const char *name;
	struct ddio_session *s = file_open("frag", path, v->conf, &name, &f);
	int err;

	if (!s)
		return false;
	err = frag_of(s, f, name, &g);
	if (err)
		cmd_fail_session("frag", s, err, path);
	else
		show_frag(path, &g, v->csv);
	frag_free(&g);
	ddio_close(f);
	ddio_disconnect(s);
	return !err;
}

int cmd_frag(int argc, char **argv)
{
	struct mend_values v = { 0 };
	int i, err = opt_parse(&opts_frag, &v, &argc, &argv);
	bool fine = true;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (v.csv)
		puts("file,disk,blocks,extents,mean,follow,beside");
	else
		printf("%6s %10s %10s %8s %10s %s\n", "disk", "blocks", "extents", "mean",
		       "contiguous", "file");
	for (i = 0; i < argc; i++)
		fine &= frag_one(argv[i], &v);
	return fine ? EXIT_OK : EXIT_FAILED;
}

/*
 * Mending
 */
static volatile sig_atomic_t interrupted;

static void interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

static int mend_progress(void *arg, const struct ddio_mend_state *st)
{
	char moved[16];

	*(struct ddio_mend_state *)arg = *st;
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%u of %u disks, %s moved%s ", st->done, st->disks,
			cmd_human(st->moved, moved),
			st->waiting ? ", another file is mended first" : "");
	return interrupted;
}

static void say_left(const char *path, uint64_t n, const char *what)
{
	if (!n)
		return;
	text_name(stdout, path);
	printf(": %" PRIu64 " %s\n", n, what);
}

static void show_mended(const char *path, const struct ddio_mend_state *st, uint64_t before,
			uint64_t after)
{
	char moved[16];

	if (isatty(STDERR_FILENO))
		fputc('\n', stderr);
	text_name(stdout, path);
	printf(": %" PRIu64 " extents before, %" PRIu64 " now, %s moved%s\n", before, after,
	       cmd_human(st->moved, moved), interrupted ? " before it was interrupted" : "");
	say_left(path, st->shared,
		 "extents stay apart, since other files have blocks of them, too");
	say_left(path, st->unwritten,
		 "extents stay apart, since they have space that was never written to");
	say_left(path, st->crowded,
		 "extents stay apart, since there is no free space for more of them together");
	say_left(path, st->busy,
		 "disks were given up, since others use the file there all the time");
	say_left(
		path, st->bad,
		"blocks stay where they are, since they do not match their checksums or cannot be read");
}

static bool mend_file(struct ddio_session *s, struct ddio_file *f, const char *path,
		      const char *name, const struct mend_values *v)
{
	struct frag before = { .n = 0 }, after = { .n = 0 };
	struct ddio_mend_state st = { .disks = 0 };
	int err = frag_of(s, f, name, &before);

	if (!err)
		err = ddio_mend(f, v->rate, v->extent, mend_progress, &st);
	if (err >= 0)
		err = frag_of(s, f, name, &after);
	if (err)
		cmd_fail_session("mend", s, err, path);
	else
		show_mended(path, &st, frag_extents(&before), frag_extents(&after));
	frag_free(&before);
	frag_free(&after);
	return !err && !st.bad && !st.busy && !interrupted;
}

static bool mend_one(const char *path, const struct mend_values *v)
{
	struct ddio_file *f;
	const char *name;
	struct ddio_session *s = file_open("mend", path, v->conf, &name, &f);
	bool fine;

	if (!s)
		return false;
	fine = mend_file(s, f, path, name, v);
	ddio_close(f);
	ddio_disconnect(s);
	return fine;
}

int cmd_mend(int argc, char **argv)
{
	struct mend_values v = { .extent = EXTENT_DEFAULT };
	struct sigaction sa = { .sa_handler = interrupt,
				.sa_flags = SA_RESTART | (int)SA_RESETHAND };
	int i, err = opt_parse(&opts_mend, &v, &argc, &argv);
	bool fine = true;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	/* The second one ends it at once. */
	sigaction(SIGINT, &sa, NULL);
	for (i = 0; i < argc && !interrupted; i++)
		fine &= mend_one(argv[i], &v);
	return fine ? EXIT_OK : EXIT_FAILED;
}
