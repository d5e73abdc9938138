// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mailboxes in any world: names, tokens, and letters that are not believed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "env/aside.h"
#include "env/env_ops.h"
#include "env/local/mailbox.h"

/* While so many descriptors of others wait to be closed, none are taken. */
#define CLOSES_MOST 64
/* More than a box holds: whoever goes on sending letters without the token keeps nobody reading them for ever. */
#define LETTERS_READ 1024

int ddio_mailbox_open(struct ddio_env *env, struct ddio_mailbox *box)
{
	uint64_t id[2];
	int err;

	memset(box, 0, sizeof(*box));
	box->fd = -1;
	if (!env->ops->mail)
		return -EOPNOTSUPP;
	if (closes_aside() >= CLOSES_MOST)
		return -EMFILE;
	ddio_env_random(env, id, sizeof(id));
	ddio_env_random(env, box->token, sizeof(box->token));
	box->ops = env->ops->mail;
	snprintf(box->name, sizeof(box->name), MAILBOX_PREFIX "%016llx%016llx",
		 (unsigned long long)id[0], (unsigned long long)id[1]);
	err = box->ops->open(env, box);
	if (err)
		box->name[0] = '\0';
	return err;
}

void ddio_mailbox_close(struct ddio_mailbox *box)
{
	if (box->name[0])
		box->ops->close(box);
	box->fd = -1;
	box->name[0] = '\0';
}

int mailbox_take_fd(struct ddio_mailbox *box, int *fd)
{
	int err = -EPERM, i;

	if (!box->name[0])
		return -ENOENT;
	for (i = 0; err == -EPERM && i < LETTERS_READ; i++)
		err = box->ops->take(box, fd);
	return err == -EAGAIN || err == -EPERM ? -ENOENT : err;
}

int mailbox_send(struct ddio_env *env, const char *name, const uint8_t token[MAILBOX_TOKEN], int fd)
{
	return env->ops->mail ? env->ops->mail->send(env, name, token, fd) : -EOPNOTSUPP;
}
