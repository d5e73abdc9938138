// SPDX-License-Identifier: GPL-2.0-only
/* Operations on attributes, ordinary and extended. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "acl.h"
#include "posix.h"

/* chmod PATH|#N MODE */
static long op_chmod(struct px *p, int argc, char **argv)
{
	mode_t mode = (mode_t)strtoul(argv[2], NULL, 8);

	(void)argc;
	return argv[1][0] == '#' ? fchmod(px_fd(p, argv[1]), mode) : chmod(argv[1], mode);
}

/* chown PATH|#N UID GID; "-": stays */
static long op_chown(struct px *p, int argc, char **argv)
{
	uid_t uid = argv[2][0] == '-' ? (uid_t)-1 : (uid_t)atoi(argv[2]);
	gid_t gid = argv[3][0] == '-' ? (gid_t)-1 : (gid_t)atoi(argv[3]);

	(void)argc;
	if (argv[1][0] == '#')
		return fchown(px_fd(p, argv[1]), uid, gid);
	return strcmp(argv[0], "lchown") ? chown(argv[1], uid, gid) : lchown(argv[1], uid, gid);
}

static struct timespec time_of(const char *text)
{
	struct timespec ts = { 0 };
	char *end;

	if (!strcmp(text, "now")) {
		ts.tv_nsec = UTIME_NOW;
	} else if (!strcmp(text, "omit")) {
		ts.tv_nsec = UTIME_OMIT;
	} else {
		ts.tv_sec = strtoll(text, &end, 10);
		if (*end == '.')
			ts.tv_nsec = atol(end + 1);
	}
	return ts;
}

/* utimes PATH|#N ATIME MTIME: seconds[.nanoseconds, as a number]|now|omit */
static long op_utimes(struct px *p, int argc, char **argv)
{
	const struct timespec ts[2] = { time_of(argv[2]), time_of(argv[3]) };

	(void)argc;
	if (argv[1][0] == '#')
		return futimens(px_fd(p, argv[1]), ts);
	return utimensat(AT_FDCWD, argv[1], ts,
			 strcmp(argv[0], "lutimes") ? 0 : AT_SYMLINK_NOFOLLOW);
}

/* access PATH rwxf: by effective identity */
static long op_access(struct px *p, int argc, char **argv)
{
	int mode = F_OK;

	(void)p;
	(void)argc;
	mode |= strchr(argv[2], 'r') ? R_OK : 0;
	mode |= strchr(argv[2], 'w') ? W_OK : 0;
	mode |= strchr(argv[2], 'x') ? X_OK : 0;
	return faccessat(AT_FDCWD, argv[1], mode, AT_EACCESS);
}

/*
 * Extended attributes
 */
static int xattr_flags(int argc, char **argv, int at)
{
	if (argc <= at)
		return 0;
	return !strcmp(argv[at], "create") ? XATTR_CREATE : XATTR_REPLACE;
}

/* setxattr PATH|#N NAME VALUE [create|replace] */
static long op_setxattr(struct px *p, int argc, char **argv)
{
	const char *value = strcmp(argv[3], "-") ? argv[3] : "";
	int flags = xattr_flags(argc, argv, 4);

	if (argv[1][0] == '#')
		return fsetxattr(px_fd(p, argv[1]), argv[2], value, strlen(value), flags);
	return strcmp(argv[0], "lsetxattr")
		       ? setxattr(argv[1], argv[2], value, strlen(value), flags)
		       : lsetxattr(argv[1], argv[2], value, strlen(value), flags);
}

/* getxattr PATH|#N NAME [VALUE] */
static long op_getxattr(struct px *p, int argc, char **argv)
{
	const char *want = argc > 3 ? (strcmp(argv[3], "-") ? argv[3] : "") : NULL;
	static char value[65537];
	ssize_t n, len;

	len = argv[1][0] == '#' ? fgetxattr(px_fd(p, argv[1]), argv[2], NULL, 0)
				: getxattr(argv[1], argv[2], NULL, 0);
	n = argv[1][0] == '#' ? fgetxattr(px_fd(p, argv[1]), argv[2], value, 65536)
			      : getxattr(argv[1], argv[2], value, 65536);
	if (n < 0)
		return -1;
	if (n != len)
		return px_wrong(p, "its length is said to be %zd, and is %zd", len, n);
	value[n] = 0;
	if (want && strcmp(want, value))
		return px_wrong(p, "the value is \"%.100s\"", value);
	return 0;
}

/* bigxattr PATH NAME LENGTH: sets and compares a value of so many bytes */
static long op_bigxattr(struct px *p, int argc, char **argv)
{
	static char value[70000], back[70000];
	size_t len = strtoul(argv[3], NULL, 10), i;

	(void)argc;
	for (i = 0; i < len; i++)
		value[i] = (char)(i * 7 + 1);
	if (setxattr(argv[1], argv[2], value, len, 0))
		return -1;
	if (getxattr(argv[1], argv[2], back, sizeof(back) - 5000) != (ssize_t)len ||
	    memcmp(value, back, len))
		return px_wrong(p, "another value comes back");
	return 0;
}

/* getxattr_into PATH NAME BYTES: into a buffer of so many */
static long op_getxattr_into(struct px *p, int argc, char **argv)
{
	char value[4096];

	(void)p;
	(void)argc;
	return getxattr(argv[1], argv[2], value, strtoul(argv[3], NULL, 10));
}

static long op_removexattr(struct px *p, int argc, char **argv)
{
	(void)argc;
	return argv[1][0] == '#' ? fremovexattr(px_fd(p, argv[1]), argv[2])
				 : removexattr(argv[1], argv[2]);
}

/* listxattr PATH [NAME...]: those of "user." and "trusted.", no others */
static long op_listxattr(struct px *p, int argc, char **argv)
{
	char list[65536];
	ssize_t n = listxattr(argv[1], list, sizeof(list));
	int found = 0, i;
	char *name;

	if (n < 0)
		return -1;
	for (name = list; name < list + n; name += strlen(name) + 1) {
		if (strncmp(name, "user.", 5) && strncmp(name, "trusted.", 8))
			continue;
		for (i = 2; i < argc && strcmp(argv[i], name); i++)
			;
		if (i == argc)
			return px_wrong(p, "\"%.100s\" is listed", name);
		found++;
	}
	return found == argc - 2 ? 0 : px_wrong(p, "%d names are listed", found);
}

static long op_statfs(struct px *p, int argc, char **argv)
{
	struct statvfs st;

	(void)argc;
	if (statvfs(argv[1], &st))
		return -1;
	if (!st.f_blocks || st.f_bfree > st.f_blocks || st.f_namemax != 255)
		return px_wrong(p, "%lu blocks, %lu free, names of %lu", (unsigned long)st.f_blocks,
				(unsigned long)st.f_bfree, st.f_namemax);
	return 0;
}

/*
 * ACLs
 */

/* setacl PATH access|default ENTRIES, see acl.h */
static long op_setacl(struct px *p, int argc, char **argv)
{
	char value[1024];
	int len = acl_encode(argv[3], value, sizeof(value));

	(void)argc;
	if (len < 0)
		return px_wrong(p, "the script has the ACL \"%s\"", argv[3]);
	return setxattr(argv[1], acl_xattr(argv[2]), value, (size_t)len, 0);
}

static long op_getacl(struct px *p, int argc, char **argv)
{
	char value[1024], text[1024];
	ssize_t n = getxattr(argv[1], acl_xattr(argv[2]), value, sizeof(value));

	(void)argc;
	if (n < 0)
		return -1;
	if (acl_decode(value, (size_t)n, text, sizeof(text)))
		return px_wrong(p, "an ACL of %zd bytes that has no sense", n);
	return strcmp(text, argv[3]) ? px_wrong(p, "the ACL is %s", text) : 0;
}

static long op_removeacl(struct px *p, int argc, char **argv)
{
	(void)p;
	(void)argc;
	return removexattr(argv[1], acl_xattr(argv[2]));
}

const struct px_op px_ops_attr[] = { { "chmod", 2, op_chmod },
				     { "chown", 3, op_chown },
				     { "lchown", 3, op_chown },
				     { "utimes", 3, op_utimes },
				     { "lutimes", 3, op_utimes },
				     { "access", 2, op_access },
				     { "setxattr", 3, op_setxattr },
				     { "lsetxattr", 3, op_setxattr },
				     { "getxattr", 2, op_getxattr },
				     { "bigxattr", 3, op_bigxattr },
				     { "getxattr_into", 3, op_getxattr_into },
				     { "removexattr", 2, op_removexattr },
				     { "listxattr", 1, op_listxattr },
				     { "statfs", 1, op_statfs },
				     { "setacl", 3, op_setacl },
				     { "getacl", 3, op_getacl },
				     { "removeacl", 2, op_removeacl },
				     { NULL, 0, NULL } };
