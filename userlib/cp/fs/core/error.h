/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors on their way to a caller: they are small, since almost every request has none. */
#ifndef DDIO_CP_FS_ERROR_H
#define DDIO_CP_FS_ERROR_H

#include "cp/node/lane.h"

/**
 * struct fsc_error - how something ended
 * @err: 0 or -errno
 * @text: allocated; NULL if there is none
 */
struct fsc_error {
	int err;
	char *text;
};

/* Texts of errors that several files report. */
#define FSC_CLOSING "the file system is being closed"
#define FSC_MALFORMED "malformed reply from an I/O processor"

/* Sets @e, unless it has an error already; copies @text, which may be NULL. */
void fsc_error_set(struct fsc_error *e, int err, const char *text);
/* Sets @e from a failed reply. */
void fsc_error_reply(struct fsc_error *e, const struct reply *reply);
/* Moves @other to @e, unless @e has an error already; @other's text is gone either way. */
void fsc_error_first(struct fsc_error *e, struct fsc_error *other);
void fsc_error_free(struct fsc_error *e);

#endif /* DDIO_CP_FS_ERROR_H */
