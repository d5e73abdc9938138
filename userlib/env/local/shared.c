// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Shared memory: an anonymous file.  Its seals promise the other process that it does not shrink, which would
 * kill who touches it; and the maker that nobody but itself writes to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "env/aside.h"
#include "env/env_ops.h"
#include "env/local/shared.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* @fd: -1 where it was taken: it is not passed on. */
struct ddio_shared {
	int fd;
	size_t len;
	void *mem;
};

static int shared_map(int fd, size_t len, int prot, struct ddio_shared **shared)
{
	struct ddio_shared *s = malloc(sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->fd = fd;
	s->len = len;
	s->mem = mmap(NULL, len, prot, MAP_SHARED, fd, 0);
	if (s->mem == MAP_FAILED) {
		free(s);
		return -errno;
	}
	*shared = s;
	return 0;
}

/* Makes what @fd is; the maker's own mapping stays writable, whatever is sealed afterwards. */
static int shared_make(int fd, size_t len, bool writable, struct ddio_shared **shared)
{
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, err;

	if (!writable)
		seals |= F_SEAL_FUTURE_WRITE;
	if (ftruncate(fd, (off_t)len))
		return -errno;
	err = shared_map(fd, len, PROT_READ | PROT_WRITE, shared);
	if (err || !fcntl(fd, F_ADD_SEALS, seals))
		return err;
	err = -errno;
	munmap((*shared)->mem, len);
	free(*shared);
	return err;
}

int ddio_shared_new(struct ddio_env *env, size_t len, bool writable, struct ddio_shared **shared)
{
	int fd, err;

	if (!env->ops->mail)
		return -EOPNOTSUPP;
	fd = memfd_create("ddio-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	err = shared_make(fd, len, writable, shared);
	if (err)
		close(fd);
	return err;
}

int ddio_shared_send(struct ddio_env *env, const struct ddio_shared *shared, const char *name,
		     const uint8_t token[MAILBOX_TOKEN])
{
	return mailbox_send(env, name, token, shared->fd);
}

int ddio_shared_take(struct ddio_mailbox *box, bool writable, struct ddio_shared **shared)
{
	struct stat st;
	int fd, seals, err = mailbox_take_fd(box, &fd);

	if (err)
		return err;
	/* Only shared memory has seals, and it waits for nobody. */
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0) {
		close_aside(fd);
		return -EPERM;
	}
	if (!(seals & F_SEAL_SHRINK))
		err = -EPERM;
	else if (fstat(fd, &st))
		err = -errno;
	else
		err = shared_map(fd, (size_t)st.st_size,
				 writable ? PROT_READ | PROT_WRITE : PROT_READ, shared);
	close(fd);
	if (!err)
		(*shared)->fd = -1;
	return err;
}

void ddio_shared_free(struct ddio_shared *shared)
{
	if (!shared)
		return;
	munmap(shared->mem, shared->len);
	if (shared->fd >= 0)
		close(shared->fd);
	free(shared);
}

void *ddio_shared_mem(const struct ddio_shared *shared)
{
	return shared->mem;
}

size_t ddio_shared_len(const struct ddio_shared *shared)
{
	return shared->len;
}
