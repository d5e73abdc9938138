// SPDX-License-Identifier: GPL-2.0-only
/* Names of all bytes, trees deeper than a path, mappings beside everything else. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "posix.h"

#define PAGE 4096
#define DEEP 24

static char said[256];

static const char *say(const char *what, const char *name)
{
	snprintf(said, sizeof(said), "%s: %.100s (%s)", what, name, px_errno_name(errno));
	return said;
}

static int touch(const char *name)
{
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);

	return fd < 0 ? -1 : close(fd);
}

static int entries(void)
{
	DIR *dir = opendir(".");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n - 2;
}

/* Every byte but 0 and "/" is a name, and stands at both ends of one. */
static const char *bytes(void)
{
	char name[4] = "";
	struct stat st;
	int i;

	for (i = 1; i < 256; i++) {
		snprintf(name, sizeof(name), "%ca%c", i, i);
		if (i != '/' && touch(name))
			return say("create", name);
		name[1] = 0;
		if (i != '/' && i != '.' && touch(name))
			return say("create", name);
	}
	if (entries() != 254 + 253)
		return say("another number is listed", "");
	for (i = 1; i < 256; i++) {
		snprintf(name, sizeof(name), "%ca%c", i, i);
		if (i != '/' && (stat(name, &st) || unlink(name) || !stat(name, &st)))
			return say("unlink", name);
	}
	return entries() == 253 ? NULL : say("another number is left", "");
}

static const char *strange(void)
{
	static const char *const names[] = { "a\nb",	  "\n",
					     " ",	  "  ",
					     "-rf",	  "\xc3\xa4\xc3\xb6\xc3\xbc",
					     "a\xcc\x88", "\xc3\xa4",
					     "\xff\xfe",  "\xf0\x9f\x98\x80",
					     "a\\b",	  "'\"$(x)`y`",
					     ".hidden",	  "..x",
					     "...",	  "\xed\xa0\x80",
					     "con",	  "a:b",
					     "*?",	  "~" };
	const int n = (int)(sizeof(names) / sizeof(names[0]));
	char to[512];
	int i;

	for (i = 0; i < n; i++)
		if (touch(names[i]))
			return say("create", names[i]);
	if (entries() != n)
		return say("another number is listed", "");
	for (i = 0; i < n; i++) {
		snprintf(to, sizeof(to), "%s%s", names[n - 1 - i], names[i]);
		if (rename(names[i], to) || unlink(to))
			return say("rename", to);
	}
	return NULL;
}

/* 255 bytes of characters that have several. */
static const char *long_names(void)
{
	char name[256];
	int i;

	for (i = 0; i < 85; i++)
		memcpy(name + i * 3, "\xe2\x82\xac", 3);
	name[255] = 0;
	if (touch(name) || touch(name) != -1 || errno != EEXIST)
		return say("create", name);
	name[254] = 'x';
	if (touch(name) || entries() != 2)
		return say("create of another", name);
	return unlink(name) ? say("unlink", name) : NULL;
}

/* A tree whose paths are longer than a path may be. */
static const char *deep(void)
{
	char name[256], path[PATH_MAX];
	int i;

	memset(name, 'd', 255);
	name[255] = 0;
	for (i = 0; i < DEEP; i++)
		if (mkdir(name, 0755) || chdir(name))
			return say("mkdir", "");
	if (touch("f") || entries() != 1)
		return say("create", "");
	/* The C library finds it by its own means, or says so. */
	if (getcwd(path, sizeof(path)) || (errno != ENAMETOOLONG && errno != ERANGE))
		return say("getcwd", "");
	if (unlink("f"))
		return say("unlink", "");
	for (i = 0; i < DEEP; i++)
		if (chdir("..") || rmdir(name))
			return say("rmdir", "");
	return entries() ? say("something is left", "") : NULL;
}

/* 4095 bytes are a path, 4096 are none. */
static const char *longest_path(void)
{
	char path[PATH_MAX + 2];
	struct stat st;
	int i;

	if (touch("f"))
		return say("create", "f");
	for (i = 0; i < 2047; i++)
		memcpy(path + i * 2, "./", 2);
	strcpy(path + 4094, "f");
	if (stat(path, &st) || unlink(path) || mkdir(path, 0755) || rmdir(path))
		return say("4095 bytes", "");
	strcpy(path + 4094, "ff");
	return stat(path, &st) && errno == ENAMETOOLONG ? NULL : say("4096 bytes", "");
}

static char *map_of(int fd, size_t len)
{
	char *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return map == MAP_FAILED ? NULL : map;
}

/* Bytes that a mapping puts beyond the end of a file are not in it when it grows. */
static const char *map_behind_end(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0644), i;
	char *map, buf[PAGE];

	if (write(fd, "abc", 3) != 3)
		return say("write", "");
	map = map_of(fd, PAGE);
	if (!map)
		return say("mmap", "");
	memset(map + 3, 'x', PAGE - 3);
	if (msync(map, PAGE, MS_SYNC) || munmap(map, PAGE) || ftruncate(fd, PAGE))
		return say("ftruncate", "");
	if (pread(fd, buf, PAGE, 0) != PAGE)
		return say("read", "");
	for (i = 3; i < PAGE; i++)
		if (buf[i])
			return say("bytes from beyond the end are in the file", "");
	return NULL;
}

/* Two mappings and a descriptor of one file are one. */
static const char *map_shared(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0644), again, status;
	char *map, *other, buf[8];
	pid_t pid;

	if (ftruncate(fd, 3 * PAGE))
		return say("ftruncate", "");
	again = open("f", O_RDWR);
	map = map_of(fd, 3 * PAGE);
	other = map_of(again, 3 * PAGE);
	if (!map || !other)
		return say("mmap", "");
	memcpy(map + PAGE - 2, "over", 4);
	if (memcmp(other + PAGE - 2, "over", 4) || pread(again, buf, 4, PAGE - 2) != 4 ||
	    memcmp(buf, "over", 4))
		return say("what is written by one is not in the other", "");
	if (pwrite(again, "desc", 4, 2 * PAGE) != 4 || memcmp(map + 2 * PAGE, "desc", 4))
		return say("what is written by a descriptor is not in the mapping", "");
	pid = fork();
	if (!pid) {
		memcpy(map, "child", 5);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (memcmp(other, "child", 5))
		return say("a child's bytes are not there", "");
	if (msync(map, 3 * PAGE, MS_SYNC) || munmap(map, 3 * PAGE) || munmap(other, 3 * PAGE) ||
	    close(fd) || close(again))
		return say("msync", "");
	fd = open("f", O_RDONLY);
	return pread(fd, buf, 5, 0) == 5 && !memcmp(buf, "child", 5) ? NULL : say("read", "");
}

/* A mapping outlives its descriptor and its name. */
static const char *map_outlives(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0644);
	char *map;

	if (ftruncate(fd, PAGE) || !(map = map_of(fd, PAGE)))
		return say("mmap", "");
	if (close(fd) || link("f", "g") || unlink("f"))
		return say("unlink", "");
	memcpy(map, "late", 4);
	if (msync(map, PAGE, MS_SYNC) || munmap(map, PAGE))
		return say("msync", "");
	fd = open("g", O_RDONLY);
	{
		char buf[4];

		if (pread(fd, buf, 4, 0) != 4 || memcmp(buf, "late", 4))
			return say("another content", "");
	}
	return unlink("g") ? say("unlink", "g") : NULL;
}

/* A private mapping changes nothing. */
static const char *map_private(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0644);
	char *map, buf[3];

	if (write(fd, "abc", 3) != 3)
		return say("write", "");
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return say("mmap", "");
	memcpy(map, "xyz", 3);
	munmap(map, PAGE);
	return pread(fd, buf, 3, 0) == 3 && !memcmp(buf, "abc", 3) ? NULL
								   : say("it changed the file", "");
}

/* Read by its own mapping while it is written, as cp(1) of a file onto its mapped self would. */
static const char *map_as_source(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0644), i;
	static char buf[8 * PAGE];
	char *map;

	for (i = 0; i < 8 * PAGE; i++)
		buf[i] = (char)(i / PAGE + 1);
	if (write(fd, buf, sizeof(buf)) != (ssize_t)sizeof(buf) ||
	    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		return say("write", "");
	map = map_of(fd, 8 * PAGE);
	if (!map || pwrite(fd, map + PAGE + 7, 4 * PAGE, 3) != 4 * PAGE)
		return say("write from the mapping", "");
	munmap(map, 8 * PAGE);
	if (pread(fd, buf, 5, 0) != 5 || buf[2] != 1 || buf[3] != 2)
		return say("other bytes", "");
	return NULL;
}

const struct px_case px_cases_odd[] = { PX_CODE("names of every byte", bytes),
					PX_CODE("strange names", strange),
					PX_CODE("long names of many-byte characters", long_names),
					PX_CODE("deeper than a path", deep),
					PX_CODE("longest path", longest_path),
					PX_CODE("mapping beyond the end", map_behind_end),
					PX_CODE("mappings are shared", map_shared),
					PX_CODE("mapping outlives its name", map_outlives),
					PX_CODE("private mapping", map_private),
					PX_CODE("mapping as source", map_as_source),
					PX_END };
