// SPDX-License-Identifier: GPL-2.0-only
/* Operations on names: making, removing, moving, opening. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "posix.h"

static mode_t mode_of(const char *text)
{
	return (mode_t)strtoul(text, NULL, 8);
}

static const struct px_bit open_bits[] = { { "r", O_RDONLY },	       { "w", O_WRONLY },
					   { "rw", O_RDWR },	       { "creat", O_CREAT },
					   { "excl", O_EXCL },	       { "trunc", O_TRUNC },
					   { "append", O_APPEND },     { "dir", O_DIRECTORY },
					   { "nofollow", O_NOFOLLOW }, { "nonblock", O_NONBLOCK },
					   { "sync", O_SYNC },	       { "dsync", O_DSYNC },
					   { "direct", O_DIRECT },     { "path", O_PATH },
					   { "noatime", O_NOATIME },   { NULL, 0 } };

/* open #N PATH FLAGS [MODE] */
static long op_open(struct px *p, int argc, char **argv)
{
	int slot = argv[1][1] - '0', flags, fd;

	if (argv[1][0] != '#' || slot < 0 || slot >= PX_FDS)
		return px_wrong(p, "the script opens %s", argv[1]);
	if (px_bits(p, open_bits, argv[3], &flags))
		return PX_WRONG;
	fd = open(argv[2], flags | O_CLOEXEC, argc > 4 ? mode_of(argv[4]) : 0);
	if (fd < 0)
		return -1;
	if (p->fd[slot] >= 0)
		close(p->fd[slot]);
	p->fd[slot] = fd;
	return 0;
}

static long op_close(struct px *p, int argc, char **argv)
{
	int fd = px_fd(p, argv[1]);

	(void)argc;
	p->fd[argv[1][1] - '0'] = -1;
	return close(fd);
}

/* dup #FROM #TO */
static long op_dup(struct px *p, int argc, char **argv)
{
	int fd = dup(px_fd(p, argv[1]));

	(void)argc;
	if (fd < 0)
		return -1;
	p->fd[argv[2][1] - '0'] = fd;
	return 0;
}

/* create PATH [MODE [TEXT]] */
static long op_create(struct px *p, int argc, char **argv)
{
	int fd = open(argv[1], O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC,
		      argc > 2 ? mode_of(argv[2]) : 0644);
	size_t len = argc > 3 ? strlen(argv[3]) : 0;

	if (fd < 0)
		return -1;
	if (len && write(fd, argv[3], len) != (ssize_t)len) {
		close(fd);
		return px_wrong(p, "a short write");
	}
	return close(fd);
}

static long op_mkdir(struct px *p, int argc, char **argv)
{
	(void)p;
	return mkdir(argv[1], argc > 2 ? mode_of(argv[2]) : 0755);
}

static long op_rmdir(struct px *p, int argc, char **argv)
{
	(void)p;
	(void)argc;
	return rmdir(argv[1]);
}

static long op_unlink(struct px *p, int argc, char **argv)
{
	(void)p;
	(void)argc;
	return unlink(argv[1]);
}

static const struct px_bit rename_bits[] = { { "noreplace", RENAME_NOREPLACE },
					     { "exchange", RENAME_EXCHANGE },
					     { "bad", 0x100 },
					     { NULL, 0 } };

/* rename FROM TO [FLAGS] */
static long op_rename(struct px *p, int argc, char **argv)
{
	int flags = 0;

	if (argc > 3 && px_bits(p, rename_bits, argv[3], &flags))
		return PX_WRONG;
	if (!flags)
		return rename(argv[1], argv[2]);
	return renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], (unsigned int)flags);
}

static long op_link(struct px *p, int argc, char **argv)
{
	(void)p;
	(void)argc;
	return link(argv[1], argv[2]);
}

/* As link, but a symbolic link is followed. */
static long op_link_follow(struct px *p, int argc, char **argv)
{
	(void)p;
	(void)argc;
	return linkat(AT_FDCWD, argv[1], AT_FDCWD, argv[2], AT_SYMLINK_FOLLOW);
}

/* link_fd #N PATH: gives an open file a name. */
static long op_link_fd(struct px *p, int argc, char **argv)
{
	(void)argc;
	return linkat(px_fd(p, argv[1]), "", AT_FDCWD, argv[2], AT_EMPTY_PATH);
}

/* symlink TARGET PATH; "-" is an empty target */
static long op_symlink(struct px *p, int argc, char **argv)
{
	(void)p;
	(void)argc;
	return symlink(strcmp(argv[1], "-") ? argv[1] : "", argv[2]);
}

/* readlink PATH TARGET */
static long op_readlink(struct px *p, int argc, char **argv)
{
	char target[8192];
	ssize_t n = readlink(argv[1], target, sizeof(target) - 1);

	if (n < 0 || argc < 3)
		return n;
	target[n] = 0;
	if (strcmp(target, argv[2]))
		return px_wrong(p, "the target is \"%.100s\"", target);
	return 0;
}

static long op_mkfifo(struct px *p, int argc, char **argv)
{
	(void)p;
	return mkfifo(argv[1], argc > 2 ? mode_of(argv[2]) : 0644);
}

/* mknod PATH reg|fifo|sock|chr|blk MODE [MAJOR MINOR] */
static long op_mknod(struct px *p, int argc, char **argv)
{
	static const struct px_bit types[] = { { "reg", S_IFREG },   { "fifo", S_IFIFO },
					       { "sock", S_IFSOCK }, { "chr", S_IFCHR },
					       { "blk", S_IFBLK },   { "dir", S_IFDIR },
					       { NULL, 0 } };
	dev_t dev = 0;
	int type;

	if (px_bits(p, types, argv[2], &type))
		return PX_WRONG;
	if (argc > 5)
		dev = makedev((unsigned int)atoi(argv[4]), (unsigned int)atoi(argv[5]));
	return mknod(argv[1], (mode_t)type | mode_of(argv[3]), dev);
}

static long op_bind(struct px *p, int argc, char **argv)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	long ret;

	(void)p;
	(void)argc;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", argv[1]);
	ret = bind(fd, (struct sockaddr *)&addr, sizeof(addr));
	if (!ret) {
		close(fd);
		return 0;
	}
	{
		int err = errno;

		close(fd);
		errno = err;
	}
	return -1;
}

static long op_chdir(struct px *p, int argc, char **argv)
{
	(void)p;
	(void)argc;
	return chdir(argv[1]);
}

static long op_umask(struct px *p, int argc, char **argv)
{
	(void)p;
	(void)argc;
	umask(mode_of(argv[1]));
	return 0;
}

/* exec PATH: its errno, or whether it ended well. */
static long op_exec(struct px *p, int argc, char **argv)
{
	int status, fds[2], err = 0;
	pid_t pid;

	(void)argc;
	if (pipe2(fds, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		execl(argv[1], argv[1], NULL);
		err = errno;
		_exit(write(fds[1], &err, sizeof(err)) < 0 ? 1 : 0);
	}
	close(fds[1]);
	if (read(fds[0], &err, sizeof(err)) < 0)
		err = EIO;
	close(fds[0]);
	waitpid(pid, &status, 0);
	if (!err && (!WIFEXITED(status) || WEXITSTATUS(status)))
		return px_wrong(p, "the program failed");
	errno = err;
	return err ? -1 : 0;
}

const struct px_op px_ops_names[] = {
	{ "open", 3, op_open },		{ "close", 1, op_close },
	{ "dup", 2, op_dup },		{ "create", 1, op_create },
	{ "mkdir", 1, op_mkdir },	{ "rmdir", 1, op_rmdir },
	{ "unlink", 1, op_unlink },	{ "rename", 2, op_rename },
	{ "link", 2, op_link },		{ "link_follow", 2, op_link_follow },
	{ "link_fd", 2, op_link_fd },	{ "symlink", 2, op_symlink },
	{ "readlink", 1, op_readlink }, { "mkfifo", 1, op_mkfifo },
	{ "mknod", 3, op_mknod },	{ "bind", 1, op_bind },
	{ "chdir", 1, op_chdir },	{ "umask", 1, op_umask },
	{ "exec", 1, op_exec },		{ NULL, 0, NULL }
};
