// SPDX-License-Identifier: GPL-2.0-only
/* ddio mount, umount: a cluster's files as a directory, without root. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "conf/conf.h"
#include "ddio.h"
#include "tools/common/program.h"
#include "tools/common/safe/text.h"

#define DEFAULT_MOUNT "ddio-mnt"
#define FILE_SYSTEM "fuse.ddio"

extern char **environ;

struct mount_values {
	const char *conf, *options;
	bool foreground, lazy, missing_ok;
};

#define AT(member) offsetof(struct mount_values, member)

static const struct ddio_opt mount_opts[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, AT(conf), "FILE",
		 "the cluster's configuration ($DDIO_CONF)"),
	DDIO_OPT("options", 'o', OPT_LIST, AT(options), "LIST",
		 "mount options, separated by commas, see ddiofs(8)"),
	DDIO_OPT("foreground", 'f', OPT_FLAG, AT(foreground), NULL, "stay in the foreground"),
	{ 0 },
};

const struct opt_cmd opts_mount = { "ddio",	"mount",
				    "[DIR]",	"Mount a cluster's files (on " DEFAULT_MOUNT ").",
				    mount_opts, 0,
				    1 };

static const struct ddio_opt umount_opts[] = {
	DDIO_OPT("lazy", 'z', OPT_FLAG, AT(lazy), NULL,
		 "free the directory now, even if it is in use"),
	DDIO_OPT("missing-ok", 'm', OPT_FLAG, AT(missing_ok), NULL,
		 "succeed even if nothing is mounted there"),
	{ 0 },
};

const struct opt_cmd opts_umount = {
	"ddio", "umount", "[DIR]", "Unmount a cluster (from " DEFAULT_MOUNT ").", umount_opts, 0, 1
};

/* Return: the program's exit code; -errno if it could not be run. */
static int program_run(char *const argv[])
{
	int status, err;
	pid_t pid;

	err = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (err)
		return -err;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

/* The kernel writes blanks, newlines and backslashes as \ooo. */
static void decode(char *text)
{
	char *to = text;
	unsigned int c;

	while (*text) {
		if (*text == '\\' && sscanf(text + 1, "%3o", &c) == 1 &&
		    strspn(text + 1, "01234567") >= 3) {
			*to++ = (char)c;
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = 0;
}

/* Return: the field of a line of mountinfo, ended; NULL if there are fewer */
static char *field(char *line, int number)
{
	char *save = NULL, *at = strtok_r(line, " ", &save);

	while (at && number--)
		at = strtok_r(NULL, " ", &save);
	return at;
}

/* Returns whether the last mount on @dir, which hides others, is of ours.  Its type is the first word behind " - ". */
static bool is_mounted(const char *dir)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *rest, *at;
	bool ours = false;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0) {
		rest = strstr(line, " - ");
		if (!rest)
			continue;
		*rest = 0;
		at = field(line, 4);
		if (!at)
			continue;
		decode(at);
		if (!strcmp(at, dir))
			ours = !strncmp(rest + 3, FILE_SYSTEM " ", strlen(FILE_SYSTEM) + 1);
	}
	free(line);
	if (f)
		fclose(f);
	return ours;
}

/* Resolves all but the last part of a path: that may be a mount whose cluster does not answer. */
static char *parent_path(const char *dir)
{
	char *copy = strdup(dir), *slash, *parent, *real = NULL;
	size_t len = copy ? strlen(copy) : 0;
	const char *last;

	while (len > 1 && copy[len - 1] == '/')
		copy[--len] = 0;
	slash = copy ? strrchr(copy, '/') : NULL;
	last = slash ? slash + 1 : copy;
	if (!copy || !*last || !strcmp(last, ".") || !strcmp(last, "..")) {
		free(copy);
		return realpath(dir, NULL);
	}
	if (slash)
		*slash = 0;
	parent = realpath(!slash ? "." : *copy ? copy : "/", NULL);
	if (parent && asprintf(&real, "%s/%s", strcmp(parent, "/") ? parent : "", last) < 0)
		real = NULL;
	free(parent);
	free(copy);
	return real;
}

/* The same, and if the last part is a link, where that leads to. */
static char *mount_path(const char *dir)
{
	char *path = parent_path(dir), *next, to[PATH_MAX], *slash;
	int hops;
	ssize_t n;

	for (hops = 0; path && hops < 40; hops++) {
		n = readlink(path, to, sizeof(to) - 1);
		if (n < 0)
			return path;
		to[n] = 0;
		slash = strrchr(path, '/');
		*slash = 0;
		if (asprintf(&next, "%s/%s", to[0] == '/' ? "" : path, to) < 0)
			next = NULL;
		free(path);
		path = next ? parent_path(next) : NULL;
		free(next);
	}
	if (path)
		errno = ELOOP;
	free(path);
	return NULL;
}

/* Returns whether @dir is a mount of ours whose process lives; the kernel keeps those of dead ones, too. */
static bool is_alive(const char *dir)
{
	struct statx st;

	return is_mounted(dir) &&
	       !(statx(AT_FDCWD, dir, AT_STATX_FORCE_SYNC, STATX_TYPE, &st) && errno == ENOTCONN);
}

/* Fails now if fusermount3 would fail at the unmount. */
static int helper_check(void)
{
	if (!geteuid() || !access("/etc/mtab", R_OK))
		return 0;
	return cmd_fail("mount", 0,
			"fusermount3 cannot unmount without /etc/mtab; "
			"make it, as root: ln -s /proc/self/mounts /etc/mtab");
}

/* Only the default directory is made: a name that was given may be misspelt. */
static int dir_check(const char *dir, const char *quoted, bool make)
{
	struct stat st;

	if (make && !mkdir(dir, 0755))
		printf("Made the directory %s.\n", quoted);
	else if (make && errno != EEXIST)
		return cmd_fail("mount", -errno, "cannot make the directory %s", dir);
	/* lstat() does not wait for the cluster of a mount that may be there. */
	if (lstat(dir, &st) && errno == ENOENT)
		return cmd_fail("mount", 0, "%s does not exist: make it first with 'mkdir %s%s'",
				quoted, dir[0] == '-' ? "-- " : "", quoted);
	return 0;
}

/* Becomes the mount's process, or its parent. */
static int mount_run(const struct mount_values *v, const char *conf, const char *path)
{
	char program[PATH_MAX], *args[8];
	int rc, n = 0;

	args[n++] = (char *)program_find("ddiofs", program);
	if (v->foreground)
		args[n++] = (char *)"-f";
	if (v->options) {
		args[n++] = (char *)"-o";
		args[n++] = (char *)v->options;
	}
	args[n++] = (char *)conf;
	args[n++] = (char *)path;
	args[n] = NULL;
	rc = program_run(args);
	return rc < 0 ? cmd_fail("mount", rc, "%s", args[0]) : rc;
}

static int mount_dir(const struct mount_values *v, const char *conf, const char *dir,
		     const char *quoted)
{
	const char *dashes = dir[0] == '-' ? "-- " : "";
	char *path = mount_path(dir);
	int rc;

	if (!path)
		return cmd_fail("mount", -errno, "%s", dir);
	if (is_alive(path))
		rc = cmd_fail("mount", 0,
			      "%s is already a mount of ddio: 'ddio umount %s%s' unmounts it",
			      quoted, dashes, quoted);
	else
		rc = mount_run(v, conf, path);
	free(path);
	if (!rc && !v->foreground)
		printf("The cluster's files are in %s.\nTo unmount it:  ddio umount %s%s\n", quoted,
		       dashes, quoted);
	return rc;
}

/* Return: the configuration's real path, allocated; NULL after a message */
static char *conf_path(const char *given)
{
	char path[DDIO_CONF_PATH], why[512], *conf;

	if (ddio_conf_find(given, path, why, sizeof(why))) {
		cmd_fail("mount", 0, "%s", why);
		return NULL;
	}
	conf = realpath(path, NULL);
	if (!conf)
		cmd_fail("mount", -errno, "cannot find the cluster's configuration %s", path);
	return conf;
}

int cmd_mount(int argc, char **argv)
{
	struct mount_values v = { 0 };
	int rc = opt_parse(&opts_mount, &v, &argc, &argv);
	const char *dir = argc ? argv[0] : DEFAULT_MOUNT;
	char *conf = NULL, *quoted = NULL;

	if (rc) {
		rc = rc > 0 ? EXIT_OK : EXIT_USAGE;
		goto out;
	}
	rc = helper_check();
	if (rc)
		goto out;
	conf = conf_path(v.conf);
	quoted = text_quoted(dir);
	if (!conf || !quoted) {
		rc = EXIT_FAILED;
		goto out;
	}
	rc = dir_check(dir, quoted, !argc);
	if (!rc)
		rc = mount_dir(&v, conf, dir, quoted);
out:
	free(conf);
	free(quoted);
	free((char *)v.options);
	return rc;
}

static int unmount(const char *dir, bool lazy)
{
	char *args[] = { (char *)"fusermount3", (char *)"-u", (char *)(lazy ? "-z" : "--"),
			 (char *)dir, NULL };

	if (!geteuid())
		return umount2(dir, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) ? -errno : 0;
	return program_run(args);
}

int cmd_umount(int argc, char **argv)
{
	struct mount_values v = { 0 };
	int rc = opt_parse(&opts_umount, &v, &argc, &argv);
	const char *dir = argc ? argv[0] : DEFAULT_MOUNT;
	char *path;

	if (rc)
		return rc > 0 ? EXIT_OK : EXIT_USAGE;
	path = mount_path(dir);
	if (!path || !is_mounted(path)) {
		free(path);
		return v.missing_ok ? EXIT_OK
				    : cmd_fail("umount", 0, "%s is not a mount of ddio", dir);
	}
	rc = unmount(path, v.lazy);
	free(path);
	return rc < 0 ? cmd_fail("umount", rc, "cannot unmount %s", dir) : rc;
}
