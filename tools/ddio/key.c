// SPDX-License-Identifier: GPL-2.0-only
/* ddio key: changes the cluster's key in three steps, in each of which those that have taken it fit those that have not. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "conf/conf.h"
#include "conn/conn.h"
#include "ddio.h"
#include "tools/common/safe/beside.h"

enum { KEY_BYTES = 32 };

struct key_values {
	const char *conf;
};

static const struct ddio_opt key_opts[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, offsetof(struct key_values, conf), "FILE",
		 "the cluster's configuration ($DDIO_CONF)"),
	{ 0 },
};

const struct opt_cmd opts_key = { "ddio",
				  "key",
				  "new|use|drop|list",
				  "Change the cluster's key without an interruption.",
				  key_opts,
				  1,
				  1 };

/**
 * struct key_files - where the keys of this machine stand
 * @one: the key that is used
 * @other: the one that is accepted as well
 * @shared: with a group, which may read them
 */
struct key_files {
	char one[PATH_MAX], other[PATH_MAX];
	bool shared;
};

static int find_files(const char *path, struct key_files *files)
{
	struct ddio_conf *conf;
	char found[DDIO_CONF_PATH], err[1024];
	int ret = ddio_conf_find(path, found, err, sizeof(err));

	if (!ret)
		ret = ddio_conf_load(found, &conf, err, sizeof(err));
	if (ret) {
		cmd_fail("key", 0, "%s", err);
		return ret;
	}
	if (!conf->key_file) {
		cmd_fail("key", 0, "the cluster has no key: its configuration names no key_file");
		ret = -ENOENT;
	} else if (snprintf(files->one, sizeof(files->one), "%s", conf->key_file) >= PATH_MAX ||
		   ddio_key_other_path(files->one, files->other)) {
		cmd_fail("key", 0, "the path of the key is too long");
		ret = -ENAMETOOLONG;
	}
	files->shared = ddio_conf_knows_users(conf);
	ddio_conf_free(conf);
	return ret;
}

/* Writes a key for whoever may read the one that is used. */
static int write_key(int fd, const struct stat *like)
{
	char text[2 * KEY_BYTES + 1];
	uint8_t key[KEY_BYTES];
	int i, err = 0;

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return -EIO;
	/* "%02x" ends with a 0, for which there is room until the line's end is put there. */
	for (i = 0; i < KEY_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", key[i]);
	text[2 * KEY_BYTES] = '\n';
	if (fchown(fd, like->st_uid, like->st_gid) || fchmod(fd, like->st_mode & 0640))
		err = -errno;
	else if (write(fd, text, sizeof(text)) != (ssize_t)sizeof(text) || fsync(fd))
		err = errno ? -errno : -EIO;
	explicit_bzero(key, sizeof(key));
	explicit_bzero(text, sizeof(text));
	return err;
}

static int key_new(const struct key_files *files)
{
	struct stat st;
	static struct beside b = { .fd = -1 };
	int err = stat(files->one, &st) ? -errno : 0;

	if (err)
		return cmd_fail("key", err, "%s", files->one), err;
	/* Whoever reads it meanwhile finds a whole key, or none. */
	err = beside_open(&b, files->other, false, 0600);
	if (!err)
		err = write_key(b.fd, &st);
	if (!err)
		err = beside_keep(&b);
	else
		beside_drop(&b);
	if (err)
		return cmd_fail("key", err, "%s", files->other), err;
	printf("%s is a new key.  Copy it to all nodes and clients, have the daemons read it (SIGHUP),\n"
	       "then 'ddio key use' everywhere\n",
	       files->other);
	return 0;
}

/* Whether whoever may read the key that is used, a daemon for instance, may read the other one: scp has made it root's. */
static bool fits(const struct stat *one, const struct stat *other)
{
	return one->st_uid == other->st_uid && one->st_gid == other->st_gid &&
	       (one->st_mode & 0777) == (other->st_mode & 0777);
}

/*
 * Has those read the other key that read this one.  If that was not so the daemons have not got it yet, and an exchange now would
 * shut out who has it.
 */
static int key_fit(const struct key_files *files)
{
	struct stat one, other;
	int fd = open(files->other, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int err = fd < 0 || stat(files->one, &one) || fstat(fd, &other) ? -errno : 0;

	if (!err && !fits(&one, &other)) {
		err = -EPERM;
		if (fchown(fd, one.st_uid, one.st_gid) || fchmod(fd, one.st_mode & 0777))
			cmd_fail("key", -errno, "%s does not have the owner and mode of %s",
				 files->other, files->one);
		else
			cmd_fail(
				"key", 0,
				"%s did not have the owner and mode of %s, and has them now: have the "
				"daemons read it (SIGHUP), then 'ddio key use' once more",
				files->other, files->one);
	} else if (err) {
		cmd_fail("key", err, "%s cannot change places with %s", files->other, files->one);
	}
	if (fd >= 0)
		close(fd);
	return err;
}

/* At no time is there no key, or another one than these. */
static int key_use(const struct key_files *files)
{
	struct ddio_key key;
	char why[1024];
	int err = key_fit(files);

	if (err)
		return err;
	err = ddio_key_load(files->one, files->shared, &key, why, sizeof(why));
	explicit_bzero(&key, sizeof(key));
	if (err)
		return cmd_fail("key", 0, "%s", why), err;
	if (renameat2(AT_FDCWD, files->one, AT_FDCWD, files->other, RENAME_EXCHANGE))
		err = -errno;
	if (err)
		return cmd_fail("key", err, "%s cannot change places with %s", files->other,
				files->one),
		       err;
	printf("%s was exchanged with %s.  When all nodes and clients have it so, and the daemons have\n"
	       "read it (SIGHUP): 'ddio key drop' everywhere\n",
	       files->one, files->other);
	return 0;
}

static int key_drop(const struct key_files *files)
{
	if (!unlink(files->other))
		return printf("%s is gone.  Have the daemons notice (SIGHUP)\n", files->other), 0;
	return cmd_fail("key", -errno, "%s", files->other), -EIO;
}

static int key_list(const struct key_files *files)
{
	struct stat one, other;
	struct ddio_key key;
	char err[1024], name[DDIO_KEY_NAME];
	int ret = ddio_key_load(files->one, files->shared, &key, err, sizeof(err));

	if (ret)
		return cmd_fail("key", 0, "%s", err), ret;
	if (ddio_key_name(&key, false, name))
		printf("%s  %s  is used\n", name, files->one);
	if (ddio_key_name(&key, true, name))
		printf("%s  %s  is accepted as well\n", name, files->other);
	explicit_bzero(&key, sizeof(key));
	if (!stat(files->one, &one) && !stat(files->other, &other) && !fits(&one, &other)) {
		cmd_fail("key", 0,
			 "%s does not have the owner and mode of %s: others cannot read it",
			 files->other, files->one);
		return -EPERM;
	}
	return 0;
}

int cmd_key(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const struct key_files *files);
	} steps[] = {
		{ "new", key_new }, { "use", key_use }, { "drop", key_drop }, { "list", key_list }
	};
	struct key_values v = { 0 };
	struct key_files files;
	int err = opt_parse(&opts_key, &v, &argc, &argv);
	size_t i;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!strcmp(steps[i].name, argv[0]))
			return find_files(v.conf, &files) || steps[i].run(&files) ? EXIT_FAILED
										  : EXIT_OK;
	fprintf(stderr, "ddio key: new, use, drop or list\n");
	return EXIT_USAGE;
}
