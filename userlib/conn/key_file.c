// SPDX-License-Identifier: LGPL-2.1-or-later
/* Files with keys: the cluster's, and beside it another one while keys are changed. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "conn/conn.h"

/* Bytes of a key, and how many of them differ from one another at least, line ends and blanks not counted. */
enum { KEY_MIN = 16, KEY_KINDS = 4 };

static int key_check_file(int fd, const char *path, bool shared, char *err, size_t err_len)
{
	struct stat st;

	if (fstat(fd, &st)) {
		int ret = -errno;

		snprintf(err, err_len, "key file %s: %s", path, strerror(-ret));
		return ret;
	}
	if (!S_ISREG(st.st_mode)) {
		snprintf(err, err_len, "key file %s: not a regular file", path);
		return -EINVAL;
	}
	if (st.st_mode & (shared && !st.st_uid ? 037 : 077)) {
		snprintf(err, err_len, "key file %s: mode %03o lets others read it; chmod 600 it",
			 path, (unsigned int)st.st_mode & 0777);
		return -EACCES;
	}
	/* Root may use the key of the daemon's user, for mounts. */
	if (st.st_uid && st.st_uid != geteuid() && geteuid()) {
		snprintf(err, err_len,
			 "key file %s: belongs to user %u; it must belong to this user or to root",
			 path, (unsigned int)st.st_uid);
		return -EACCES;
	}
	return 0;
}

/* Returns the bytes read, at most @cap, or -errno. */
static ssize_t key_read(int fd, uint8_t *buf, size_t cap)
{
	size_t got = 0;
	ssize_t n;

	while (got < cap) {
		n = read(fd, buf + got, cap - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		got += n;
	}
	return got;
}

/* Returns the length without a final line end, which an editor may have added. */
static ssize_t key_trim(const uint8_t *buf, ssize_t len)
{
	if (len > 0 && buf[len - 1] == '\n')
		len--;
	if (len > 0 && buf[len - 1] == '\r')
		len--;
	return len;
}

/* A file of line ends, or of zeros where its data were lost, is no secret. */
static bool key_varies(const uint8_t *buf, ssize_t len)
{
	bool seen[256] = { false };
	int kinds = 0;
	ssize_t i;

	for (i = 0; i < len; i++) {
		kinds += !seen[buf[i]] && !isspace(buf[i]);
		seen[buf[i]] = true;
	}
	OPENSSL_cleanse(seen, sizeof(seen));
	return kinds >= KEY_KINDS;
}

static int key_take(const uint8_t *buf, ssize_t len, const char *path, struct ddio_key *key,
		    char *err, size_t err_len)
{
	if (len < KEY_MIN) {
		snprintf(err, err_len, "key file %s: %zd bytes; at least %d are needed", path, len,
			 KEY_MIN);
		return -EINVAL;
	}
	if (len > (ssize_t)sizeof(key->bytes)) {
		snprintf(err, err_len, "key file %s: longer than %zu bytes", path,
			 sizeof(key->bytes));
		return -EINVAL;
	}
	if (!key_varies(buf, len)) {
		snprintf(err, err_len,
			 "key file %s: it holds the same few bytes over and over; its contents are "
			 "lost, or never were a key",
			 path);
		return -EINVAL;
	}
	memcpy(key->bytes, buf, len);
	key->len = len;
	return 0;
}

/* Reads one key. */
static int key_load(const char *path, bool shared, struct ddio_key *key, char *err, size_t err_len)
{
	uint8_t buf[sizeof(key->bytes) + 3];
	ssize_t len;
	int fd, ret;

	memset(key, 0, sizeof(*key));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		ret = -errno;
		snprintf(err, err_len, "key file %s: %s", path, strerror(-ret));
		return ret;
	}
	ret = key_check_file(fd, path, shared, err, err_len);
	if (ret)
		goto close_fd;
	len = key_read(fd, buf, sizeof(buf));
	if (len < 0) {
		ret = (int)len;
		snprintf(err, err_len, "key file %s: %s", path, strerror(-ret));
		goto close_fd;
	}
	ret = key_take(buf, key_trim(buf, len), path, key, err, err_len);
	OPENSSL_cleanse(buf, sizeof(buf));
close_fd:
	close(fd);
	return ret;
}

int ddio_key_other_path(const char *path, char other[PATH_MAX])
{
	return snprintf(other, PATH_MAX, "%s.2", path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int ddio_key_load(const char *path, bool shared, struct ddio_key *key, char *err, size_t err_len)
{
	struct ddio_key second;
	char other[PATH_MAX];
	int ret = key_load(path, shared, key, err, err_len);

	if (ret || ddio_key_other_path(path, other) || access(other, F_OK))
		return ret;
	ret = key_load(other, shared, &second, err, err_len);
	if (ret)
		return ret;
	key->other_len = second.len;
	memcpy(key->other, second.bytes, sizeof(key->other));
	OPENSSL_cleanse(&second, sizeof(second));
	return 0;
}

/* What a file looks like from outside; of one that is not there, nothing. */
static void look(const char *path, struct ddio_key_look *look)
{
	struct stat st;

	memset(look, 0, sizeof(*look));
	if (stat(path, &st))
		return;
	look->ino = st.st_ino;
	look->size = (uint64_t)st.st_size;
	look->changed = (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec;
}

bool ddio_key_changed(const char *path, struct ddio_key_look looks[2])
{
	struct ddio_key_look now[2] = { 0 };
	char other[PATH_MAX];
	bool changed;

	look(path, &now[0]);
	if (!ddio_key_other_path(path, other))
		look(other, &now[1]);
	changed = memcmp(looks, now, sizeof(now));
	memcpy(looks, now, sizeof(now));
	return changed;
}
