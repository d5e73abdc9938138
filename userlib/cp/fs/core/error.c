// SPDX-License-Identifier: LGPL-2.1-or-later
/* Errors on their way to a caller. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/core/error.h"

void fsc_error_set(struct fsc_error *e, int err, const char *text)
{
	if (e->err)
		return;
	e->err = err;
	e->text = text && text[0] ? strdup(text) : NULL;
}

/* Maps a status to what a program that uses files expects: trouble inside the cluster is -EIO. */
static int error_errno(uint32_t status)
{
	int err = ddio_status_to_errno(status);

	switch (status) {
	case DDIO_ST_PROTOCOL:
	case DDIO_ST_VERSION:
	case DDIO_ST_AUTH:
	case DDIO_ST_MISMATCH:
	case DDIO_ST_MEMBER_LOST:
	case DDIO_ST_NODE_LOST:
	case DDIO_ST_TIMEOUT:
	case DDIO_ST_CANCELLED:
	case DDIO_ST_CORRUPT:
	case DDIO_ST_SHUTDOWN:
		return -EIO;
	default:
		return err;
	}
}

void fsc_error_reply(struct fsc_error *e, const struct reply *reply)
{
	fsc_error_set(e, error_errno(reply->status),
		      reply->text ? reply->text : ddio_status_text(reply->status));
}

void fsc_error_first(struct fsc_error *e, struct fsc_error *other)
{
	if (!e->err && other->err)
		*e = *other;
	else
		free(other->text);
	other->text = NULL;
}

void fsc_error_free(struct fsc_error *e)
{
	free(e->text);
	e->text = NULL;
	e->err = 0;
}
