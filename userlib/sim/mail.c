// SPDX-License-Identifier: LGPL-2.1-or-later
/* The simulated world: mailboxes between processes that share a machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "env/local/mailbox.h"
#include "sim/priv.h"

#define BOX_LETTERS 8 /* in a box; more are refused */

/**
 * struct sim_box - an open mailbox
 * @link: in the world's list
 * @n: letters in it, the oldest first
 */
struct sim_box {
	struct ddio_list link;
	char name[MAILBOX_NAME];
	uint32_t n;
	struct sim_letter {
		uint8_t token[MAILBOX_TOKEN];
		int fd;
	} letter[BOX_LETTERS];
};

static int sim_box_open(struct ddio_env *env, struct ddio_mailbox *box)
{
	struct sim_box *sb = calloc(1, sizeof(*sb));

	if (!sb)
		return -ENOMEM;
	memcpy(sb->name, box->name, sizeof(sb->name));
	ddio_list_add(&sb->link, &sim_proc_of(env)->sim->boxes);
	box->priv = sb;
	return 0;
}

static void box_free(struct sim_box *sb)
{
	uint32_t i;

	for (i = 0; i < sb->n; i++)
		close(sb->letter[i].fd);
	ddio_list_del(&sb->link);
	free(sb);
}

static void sim_box_close(struct ddio_mailbox *box)
{
	box_free(box->priv);
	box->priv = NULL;
}

static int sim_box_take(struct ddio_mailbox *box, int *fd)
{
	struct sim_box *sb = box->priv;
	struct sim_letter letter;

	if (!sb->n)
		return -EAGAIN;
	letter = sb->letter[0];
	memmove(&sb->letter[0], &sb->letter[1], --sb->n * sizeof(letter));
	if (memcmp(letter.token, box->token, sizeof(letter.token))) {
		close(letter.fd);
		return -EPERM;
	}
	*fd = letter.fd;
	return 0;
}

static int sim_box_send(struct ddio_env *env, const char *name, const uint8_t token[MAILBOX_TOKEN],
			int fd)
{
	struct sim_box *sb;

	ddio_list_for_each_entry(sb, &sim_proc_of(env)->sim->boxes, link) {
		struct sim_letter *letter = &sb->letter[sb->n];

		if (strcmp(sb->name, name))
			continue;
		if (sb->n == BOX_LETTERS)
			return -EAGAIN;
		letter->fd = dup(fd);
		if (letter->fd < 0)
			return -errno;
		memcpy(letter->token, token, sizeof(letter->token));
		sb->n++;
		return 0;
	}
	return -ECONNREFUSED;
}

const struct ddio_mail_ops sim_mail = {
	.open = sim_box_open,
	.close = sim_box_close,
	.take = sim_box_take,
	.send = sim_box_send,
};

void sim_boxes_free(struct ddio_sim *sim)
{
	struct sim_box *sb, *tmp;

	ddio_list_for_each_entry_safe(sb, tmp, &sim->boxes, link)
		box_free(sb);
}
