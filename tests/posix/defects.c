// SPDX-License-Identifier: GPL-2.0-only
/* Paths that cannot be, for every operation that takes one. */
#include <stdio.h>
#include <string.h>
#include "posix.h"

static const struct {
	const char *name, *words;
	bool makes; /* the last name is to be free */
} ops[] = {
	{ "open", "open #0 % r", false },
	{ "open creat", "open #0 % w,creat 644", true },
	{ "stat", "stat %", false },
	{ "lstat", "lstat %", false },
	{ "mkdir", "mkdir %", true },
	{ "rmdir", "rmdir %", false },
	{ "unlink", "unlink %", false },
	{ "mkfifo", "mkfifo %", true },
	{ "mknod", "mknod % fifo 644", true },
	{ "symlink", "symlink t %", true },
	{ "readlink", "readlink %", false },
	{ "link from", "link % new", false },
	{ "link to", "link there %", true },
	{ "rename from", "rename % new", false },
	{ "rename to", "rename there %", true },
	{ "chmod", "chmod % 600", false },
	{ "chown", "chown % 0 0", false },
	{ "truncate", "truncate % 0", false },
	{ "utimes", "utimes % 1 1", false },
	{ "access", "access % r", false },
	{ "setxattr", "setxattr % user.a b", false },
	{ "getxattr", "getxattr % user.a", false },
	{ "listxattr", "listxattr %", false },
	{ "removexattr", "removexattr % user.a", false },
	{ "list", "list %", false },
	{ "chdir", "chdir %", false },
	{ "statfs", "statfs %", false },
};

static const struct {
	const char *name, *err, *path, *before;
	bool for_makes;
} defects[] = {
	{ "missing directory", "ENOENT", "no/x", "", true },
	{ "missing", "ENOENT", "no", "", false },
	{ "file as directory", "ENOTDIR", "there/x", "", true },
	{ "fifo as directory", "ENOTDIR", "p/x", "mkfifo p; ", true },
	{ "dangling link as directory", "ENOENT", "s/x", "symlink no s; ", true },
	{ "link to a file as directory", "ENOTDIR", "s/x", "symlink there s; ", true },
	{ "loop in the path", "ELOOP", "a/x", "symlink a b; symlink b a; ", true },
	{ "long name", "ENAMETOOLONG", "{n256}", "", true },
	{ "long name in the path", "ENAMETOOLONG", "{n256}/x", "", true },
	{ "long path", "ENAMETOOLONG", "{p4097}", "", true },
	{ "no search", "1: EACCES", "d/x", "mkdir d 700; create d/x 777; ", true },
	{ "no search above", "1: EACCES", "d/e/x", "mkdir d 700; mkdir d/e 777; create d/e/x 777; ",
	  true },
};

void px_defects_each(void (*each)(void *arg, const struct px_case *c), void *arg)
{
	char name[128], script[1024];
	struct px_case c = { .name = name, .script = script };
	const char *at;
	size_t i, k;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		for (k = 0; k < sizeof(defects) / sizeof(defects[0]); k++) {
			if (ops[i].makes && !defects[k].for_makes)
				continue;
			at = strchr(ops[i].words, '%');
			snprintf(name, sizeof(name), "%s: %s", ops[i].name, defects[k].name);
			snprintf(script, sizeof(script), "create there 777; %s%s %.*s%s%s",
				 defects[k].before, defects[k].err, (int)(at - ops[i].words),
				 ops[i].words, defects[k].path, at + 1);
			each(arg, &c);
		}
	}
}
