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
#include "ddio.h"
#include "tools/common/program.h"

#define DEFAULT_MOUNT "ddio-mnt"
#define LOCAL_CONF "ddio-cluster/ddio.conf"
#define FILE_SYSTEM "fuse.ddio"

extern char **environ;

struct mount_values {
	const char *conf, *options;
	bool foreground, lazy, missing_ok;
};

#define AT(member) offsetof(struct mount_values, member)

static const struct ddio_opt mount_opts[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, AT(conf), "FILE",
		 "the cluster's configuration ($DDIO_CONF, " LOCAL_CONF ")"),
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

static const char *conf_name(const char *conf)
{
	if (!conf)
		conf = getenv("DDIO_CONF");
	return conf ? conf : LOCAL_CONF;
}

/* Returns whether @dir is a mount of ours.  Its type is the first word behind " - ". */
static bool is_mounted(const char *dir)
{
	char line[4 * PATH_MAX], at[PATH_MAX], type[64], *rest;
	FILE *f = fopen("/proc/self/mountinfo", "re");
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		rest = strstr(line, " - ");
		found = rest && sscanf(line, "%*s %*s %*s %*s %4095s", at) == 1 &&
			sscanf(rest, " - %63s", type) == 1 && !strcmp(at, dir) &&
			!strcmp(type, FILE_SYSTEM);
	}
	if (f)
		fclose(f);
	return found;
}

/* Resolves all but the last part of a path: that may be a mount whose cluster does not answer. */
static char *mount_path(const char *dir)
{
	char *copy = strdup(dir), *slash, *parent, *real = NULL;
	size_t len = copy ? strlen(copy) : 0;

	while (len > 1 && copy[len - 1] == '/')
		copy[--len] = 0;
	slash = copy ? strrchr(copy, '/') : NULL;
	if (slash)
		*slash = 0;
	parent = copy ? realpath(!slash ? "." : *copy ? copy : "/", NULL) : NULL;
	if (parent && asprintf(&real, "%s/%s", strcmp(parent, "/") ? parent : "",
			       slash ? slash + 1 : copy) < 0)
		real = NULL;
	free(parent);
	free(copy);
	return real;
}

/* Returns whether @dir is a mount of ours whose process lives; the kernel keeps those of dead ones, too. */
static bool is_alive(const char *dir)
{
	struct statx st;
	char *path = mount_path(dir);
	bool alive =
		path && is_mounted(path) &&
		!(statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC, STATX_TYPE, &st) && errno == ENOTCONN);

	free(path);
	return alive;
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
static int dir_check(const char *dir, bool make)
{
	struct stat st;

	if (make && !mkdir(dir, 0755))
		printf("Made the directory %s.\n", dir);
	else if (make && errno != EEXIST)
		return cmd_fail("mount", -errno, "cannot make the directory %s", dir);
	/* lstat() does not wait for the cluster of a mount that may be there. */
	if (lstat(dir, &st) && errno == ENOENT)
		return cmd_fail("mount", 0, "%s does not exist: make it first with 'mkdir %s'", dir,
				dir);
	return 0;
}

int cmd_mount(int argc, char **argv)
{
	struct mount_values v = { 0 };
	int rc = opt_parse(&opts_mount, &v, &argc, &argv), n = 0;
	const char *dir = argc ? argv[0] : DEFAULT_MOUNT;
	char path[PATH_MAX], *args[8], *conf = NULL;

	if (rc) {
		rc = rc > 0 ? EXIT_OK : EXIT_USAGE;
		goto out;
	}
	rc = helper_check();
	if (rc)
		goto out;
	conf = realpath(conf_name(v.conf), NULL);
	if (!conf) {
		rc = cmd_fail("mount", -errno, "cannot find the cluster's configuration %s",
			      conf_name(v.conf));
		goto out;
	}
	rc = dir_check(dir, !argc);
	if (rc)
		goto out;
	if (is_alive(dir)) {
		rc = cmd_fail("mount", 0,
			      "%s is already a mount of ddio: 'ddio umount %s' unmounts it", dir,
			      dir);
		goto out;
	}
	args[n++] = (char *)program_find("ddiofs", path);
	if (v.foreground)
		args[n++] = (char *)"-f";
	if (v.options) {
		args[n++] = (char *)"-o";
		args[n++] = (char *)v.options;
	}
	args[n++] = conf;
	args[n++] = (char *)dir;
	args[n] = NULL;
	rc = program_run(args);
	if (rc < 0)
		rc = cmd_fail("mount", rc, "%s", args[0]);
	else if (!rc && !v.foreground)
		printf("The cluster's files are in %s.\nTo unmount it:  ddio umount %s\n", dir,
		       dir);
out:
	free(conf);
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
