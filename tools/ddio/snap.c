// SPDX-License-Identifier: GPL-2.0-only
/* ddio clone, snap, snaps: files that share their blocks with others, and states of files that are kept. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ddio/ddio.h>
#include "ddio.h"
#include "tools/common/safe/text.h"

struct snap_values {
	const char *conf;
	bool remove;
};

#define CONF_OPT                                                                    \
	DDIO_OPT("conf", 'c', OPT_TEXT, offsetof(struct snap_values, conf), "FILE", \
		 "the cluster's configuration ($DDIO_CONF)")

static const struct ddio_opt plain_opts[] = { CONF_OPT, { 0 } };
static const struct ddio_opt snap_opts[] = {
	CONF_OPT,
	DDIO_OPT("remove", 'r', OPT_FLAG, offsetof(struct snap_values, remove), NULL,
		 "remove the snapshot NAME instead"),
	{ 0 },
};

const struct opt_cmd opts_clone = {
	"ddio", "clone", "FILE NEW", "Clone a file: both share their blocks.", plain_opts, 2, 2
};
const struct opt_cmd opts_snap = {
	"ddio", "snap", "FILE [NAME]", "Keep a file's state as a snapshot.", snap_opts, 1, 2
};
const struct opt_cmd opts_snaps = {
	"ddio", "snaps", "[FILE...]", "List the snapshots of files.", plain_opts, 0, -1
};

/**
 * struct snap_place - where a file, and its snapshots, are
 * @file, @conf: room for cmd_mounted()
 * @name: of the file, in the cluster
 * @dir: of its snapshots
 */
struct snap_place {
	char file[2 * PATH_MAX], conf[PATH_MAX];
	const char *name;
	char dir[64];
};

/* Connects to the cluster that the file @name is in: its mount's, unless @conf says another. */
static struct ddio_session *place_connect(const char *command, const char *name, const char *conf,
					  struct snap_place *place)
{
	place->name = cmd_mounted(name, place->file, place->conf);
	return cmd_connect(command, conf ? conf : place->conf[0] ? place->conf : NULL);
}

static int place_dir(struct ddio_session *s, struct snap_place *place)
{
	struct ddio_file_stat st;
	int err = ddio_stat(s, place->name, &st);

	if (!err)
		snprintf(place->dir, sizeof(place->dir), DDIO_SNAP_DIRECTORY "/%" PRIu64, st.id);
	return err;
}

/* Opens the file, and makes a clone, or with @snap a snapshot. */
static int clone_file(struct ddio_session *s, const char *from, const char *name, bool snap)
{
	struct ddio_file *f;
	int err = ddio_open(s, from, 0, NULL, &f);

	if (err)
		return err;
	err = snap ? ddio_snap(f, name) : ddio_clone(f, name);
	if (err)
		cmd_fail_session(snap ? "snap" : "clone", s, err, name);
	ddio_close(f);
	/* Said already. */
	return err ? 1 : 0;
}

int cmd_clone(int argc, char **argv)
{
	char new_name[2 * PATH_MAX], conf[PATH_MAX];
	struct snap_values v = { 0 };
	static struct snap_place place;
	int err = opt_parse(&opts_clone, &v, &argc, &argv);
	struct ddio_session *s;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	s = place_connect("clone", argv[0], v.conf, &place);
	if (!s)
		return EXIT_FAILED;
	err = clone_file(s, place.name, cmd_mounted_new(argv[1], new_name, conf), false);
	if (err < 0)
		cmd_fail_session("clone", s, err, place.name);
	ddio_disconnect(s);
	return err ? EXIT_FAILED : EXIT_OK;
}

/* A snapshot without a name is called by its time. */
static const char *time_name(char buf[32])
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	return buf;
}

static int snap_remove(struct ddio_session *s, struct snap_place *place, const char *name)
{
	char path[sizeof(place->dir) + NAME_MAX + 2];
	int err = place_dir(s, place);

	if (!err && (strchr(name, '/') || strlen(name) > NAME_MAX))
		err = -EINVAL;
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/%s", place->dir, name);
	return ddio_remove(s, path);
}

int cmd_snap(int argc, char **argv)
{
	struct snap_values v = { 0 };
	static struct snap_place place;
	int err = opt_parse(&opts_snap, &v, &argc, &argv);
	const char *name;
	struct ddio_session *s;
	char now[32];

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (v.remove && argc < 2) {
		fprintf(stderr, "ddio snap: which snapshot is to be removed?\n");
		return EXIT_USAGE;
	}
	s = place_connect("snap", argv[0], v.conf, &place);
	if (!s)
		return EXIT_FAILED;
	name = argc > 1 ? argv[1] : time_name(now);
	err = v.remove ? snap_remove(s, &place, name) : clone_file(s, place.name, name, true);
	if (!err && !v.remove && argc < 2)
		puts(name);
	if (err < 0)
		cmd_fail_session("snap", s, err, place.name);
	ddio_disconnect(s);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int snap_show(void *arg, const char *name, const struct ddio_file_stat *st)
{
	time_t t = (time_t)(st->ctime_ns / 1000000000);
	struct tm tm;
	char when[32];

	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", localtime_r(&t, &tm));
	printf("%s %14" PRIu64 " %s/", when, st->size, (const char *)arg);
	text_name(stdout, name);
	putchar('\n');
	return 0;
}

static int snaps_of(struct ddio_session *s, char *dir)
{
	int err = ddio_list(s, dir, snap_show, dir);

	/* It never had any. */
	return err == -ENOENT ? 0 : err;
}

/**
 * struct snap_dirs - the directories of all files' snapshots
 */
struct snap_dirs {
	char (*v)[64];
	size_t n, room;
};

static int dir_note(void *arg, const char *name, const struct ddio_file_stat *st)
{
	struct snap_dirs *dirs = arg;
	void *more;
	size_t len = strlen(name);

	(void)st;
	if (len > 40)
		return 0;
	if (dirs->n == dirs->room) {
		dirs->room = dirs->room ? 2 * dirs->room : 64;
		more = realloc(dirs->v, dirs->room * sizeof(*dirs->v));
		if (!more)
			return -ENOMEM;
		dirs->v = more;
	}
	/* A directory's name ends with a slash. */
	snprintf(dirs->v[dirs->n++], sizeof(*dirs->v), DDIO_SNAP_DIRECTORY "/%.*s",
		 (int)len - (len && name[len - 1] == '/'), name);
	return 0;
}

/* Lists those of all files whose owner the user is. */
static int snaps_all(struct ddio_session *s)
{
	struct snap_dirs dirs = { .v = NULL };
	int err = ddio_list(s, DDIO_SNAP_DIRECTORY, dir_note, &dirs);
	size_t i;

	for (i = 0; !err && i < dirs.n; i++) {
		err = snaps_of(s, dirs.v[i]);
		if (err == -EACCES)
			err = 0;
	}
	free(dirs.v);
	return err == -ENOENT ? 0 : err;
}

static int snaps_one(const char *file, const char *conf)
{
	static struct snap_place place;
	struct ddio_session *s = place_connect("snaps", file, conf, &place);
	int err;

	if (!s)
		return EXIT_FAILED;
	err = place_dir(s, &place);
	if (!err)
		err = snaps_of(s, place.dir);
	if (err)
		cmd_fail_session("snaps", s, err, place.name);
	ddio_disconnect(s);
	return err ? EXIT_FAILED : EXIT_OK;
}

int cmd_snaps(int argc, char **argv)
{
	struct snap_values v = { 0 };
	int i, err = opt_parse(&opts_snaps, &v, &argc, &argv);
	struct ddio_session *s;
	int failed = EXIT_OK;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	for (i = 0; i < argc; i++)
		failed |= snaps_one(argv[i], v.conf);
	if (argc)
		return failed;
	s = cmd_connect("snaps", v.conf);
	if (!s)
		return EXIT_FAILED;
	err = snaps_all(s);
	if (err)
		cmd_fail_session("snaps", s, err, "cannot list");
	ddio_disconnect(s);
	return err ? EXIT_FAILED : EXIT_OK;
}
