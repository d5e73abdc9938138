/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * munge vouches for the user of a process: a daemon of each machine signs, by a key that all machines share, who has
 * asked it to.  Its library is loaded when it is first needed; without it there are no credentials.
 */
#ifndef DDIO_MUNGE_H
#define DDIO_MUNGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * ddio_munge_make - have this process's user vouched for
 * @data: @len bytes that go into the credential
 * @cred: the credential, a text of at most @cap bytes with its end
 * @why: on failure one line
 *
 * Asks the machine's munged, which takes part of a millisecond if it is there; if not, the library tries for some seconds.
 * Return: 0, -ENOSYS (there is no library), -EACCES, -EMSGSIZE
 */
int ddio_munge_make(const void *data, size_t len, char *cred, size_t cap, char *why,
		    size_t why_len);

/**
 * ddio_munge_check - find out for whom a credential vouches
 * @cred: as it came, ended by a zero
 * @data: what must be in it, @len bytes
 *
 * Blocks as ddio_munge_make() does.  Return: 0, -ENOSYS, or -EACCES (it is not genuine, is too old, was seen before, or has
 * something else in it)
 */
int ddio_munge_check(const char *cred, const void *data, size_t len, uid_t *uid, gid_t *gid,
		     char *why, size_t why_len);

#endif /* DDIO_MUNGE_H */
