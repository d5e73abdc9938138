// SPDX-License-Identifier: GPL-2.0-only
/* Locks. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "posix.h"

static struct flock lock_of(char **argv)
{
	struct flock l = { .l_whence = SEEK_SET,
			   .l_start = atoll(argv[3]),
			   .l_len = atoll(argv[4]) };

	l.l_type = argv[2][0] == 'r' ? F_RDLCK : argv[2][0] == 'w' ? F_WRLCK : F_UNLCK;
	return l;
}

/* lock, lockw (waits), olock, olockw (of the open file) #N r|w|u START LENGTH */
static long op_lock(struct px *p, int argc, char **argv)
{
	bool wait = argv[0][strlen(argv[0]) - 1] == 'w', of_file = argv[0][0] == 'o';
	struct flock l = lock_of(argv);

	(void)argc;
	if (of_file)
		return fcntl(px_fd(p, argv[1]), wait ? F_OFD_SETLKW : F_OFD_SETLK, &l);
	return fcntl(px_fd(p, argv[1]), wait ? F_SETLKW : F_SETLK, &l);
}

/* getlk #N r|w START LENGTH free|r|w [START LENGTH]: who is in the way */
static long op_getlk(struct px *p, int argc, char **argv)
{
	struct flock l = lock_of(argv);
	char have;

	if (fcntl(px_fd(p, argv[1]), F_GETLK, &l))
		return -1;
	have = l.l_type == F_UNLCK ? 'f' : l.l_type == F_RDLCK ? 'r' : 'w';
	if (have != argv[5][0])
		return px_wrong(p, "there is \"%c\"", have);
	if (argc > 7 && (l.l_start != atoll(argv[6]) || l.l_len != atoll(argv[7])))
		return px_wrong(p, "it is %lld, %lld", (long long)l.l_start, (long long)l.l_len);
	return 0;
}

static const struct px_bit flocks[] = {
	{ "sh", LOCK_SH }, { "ex", LOCK_EX }, { "un", LOCK_UN }, { "nb", LOCK_NB }, { NULL, 0 }
};

/* flock #N sh|ex|un[,nb] */
static long op_flock(struct px *p, int argc, char **argv)
{
	int how;

	(void)argc;
	if (px_bits(p, flocks, argv[2], &how))
		return PX_WRONG;
	return flock(px_fd(p, argv[1]), how);
}

const struct px_op px_ops_lock[] = { { "lock", 4, op_lock },   { "lockw", 4, op_lock },
				     { "olock", 4, op_lock },  { "olockw", 4, op_lock },
				     { "getlk", 5, op_getlk }, { "flock", 2, op_flock },
				     { NULL, 0, NULL } };
