// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Errors as MPI has them: a class of the standard, and a code of its own for each text, so that MPI_Error_string()
 * tells what ddio said.  Codes cannot be given back, so their number is bounded.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "mpiio/abi/abi.h"

#define CODES_MAX 512

static struct {
	int class, code;
	char text[MPI_MAX_ERROR_STRING];
} codes[CODES_MAX];
static unsigned int ncodes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int class_of(int err)
{
	static const struct {
		int err, class;
	} classes[] = {
		{ EINVAL, MPI_ERR_ARG },
		{ ENOMEM, MPI_ERR_NO_MEM },
		{ ENOENT, MPI_ERR_NO_SUCH_FILE },
		{ E2BIG, MPI_ERR_TYPE },
		{ EEXIST, MPI_ERR_FILE_EXISTS },
		{ EACCES, MPI_ERR_ACCESS },
		{ EPERM, MPI_ERR_ACCESS },
		{ EROFS, MPI_ERR_READ_ONLY },
		{ ENOSPC, MPI_ERR_NO_SPACE },
		{ EDQUOT, MPI_ERR_QUOTA },
		{ EFBIG, MPI_ERR_NO_SPACE },
		{ EBUSY, MPI_ERR_FILE_IN_USE },
		{ ETXTBSY, MPI_ERR_FILE_IN_USE },
		{ EISDIR, MPI_ERR_BAD_FILE },
		{ ENOTDIR, MPI_ERR_BAD_FILE },
		{ ELOOP, MPI_ERR_BAD_FILE },
		{ ENAMETOOLONG, MPI_ERR_BAD_FILE },
		{ ESTALE, MPI_ERR_FILE },
		{ EBADE, MPI_ERR_NOT_SAME },
		{ -TEAM_DIFFERS, MPI_ERR_NOT_SAME },
		{ EINPROGRESS, MPI_ERR_OTHER },
		{ EOPNOTSUPP, MPI_ERR_UNSUPPORTED_OPERATION },
		{ ENOSYS, MPI_ERR_UNSUPPORTED_OPERATION },
		{ EBADSLT, MPI_ERR_ARG },
		{ EILSEQ, MPI_ERR_CONVERSION },
	};
	size_t i;

	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].err == -err)
			return classes[i].class;
	return MPI_ERR_IO;
}

static int code_new(int class, const char *text)
{
	int code;

	if (ncodes == CODES_MAX || PMPI_Add_error_code(class, &code))
		return class;
	PMPI_Add_error_string(code, text);
	codes[ncodes].class = class;
	codes[ncodes].code = code;
	snprintf(codes[ncodes].text, sizeof(codes[ncodes].text), "%s", text);
	ncodes++;
	return code;
}

static int code_of(int class, const char *text)
{
	char shown[MPI_MAX_ERROR_STRING];
	unsigned int i;
	int code = class;

	snprintf(shown, sizeof(shown), "%.*s", MPI_MAX_ERROR_STRING - 1, text);
	pthread_mutex_lock(&lock);
	for (i = 0; i < ncodes; i++)
		if (codes[i].class == class && !strcmp(codes[i].text, shown))
			break;
	code = i < ncodes ? codes[i].code : code_new(class, shown);
	pthread_mutex_unlock(&lock);
	return code;
}

/* MPICH forgets the texts of codes that were added to classes of the standard. */
bool error_text(int code, char *string, int *len)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < ncodes && codes[i].code != code; i++)
		;
	if (i < ncodes) {
		strcpy(string, codes[i].text);
		*len = (int)strlen(string);
	}
	pthread_mutex_unlock(&lock);
	return i < ncodes;
}

int code_class(int class, const char *text)
{
	return code_of(class, text);
}

int code_text(int err, const char *text)
{
	return code_of(class_of(err), text && *text ? text : strerror(-err));
}

int code_of_file(const struct mpiio_file *f, int err)
{
	return code_text(err, team_text(f->team, err));
}

int fail_code(const struct mpiio_file *f, int code)
{
	if (code)
		handle_call(f->ticket, code);
	return code;
}

int fail_null(int code)
{
	if (code)
		handle_call_null(code);
	return code;
}

int fail_class(const struct mpiio_file *f, int class, const char *text)
{
	int code = code_class(class, text);

	return f ? fail_code(f, code) : fail_null(code);
}

int fail_text(const struct mpiio_file *f, int err, const char *text)
{
	return fail_class(f, class_of(err), text && *text ? text : strerror(-err));
}

int fail(const struct mpiio_file *f, int err)
{
	return fail_text(f, err, team_text(f->team, err));
}

int fail_not_same(const struct mpiio_file *f, int ret, const char *text)
{
	return ret < 0 ? fail(f, ret) : fail_class(f, MPI_ERR_NOT_SAME, text);
}
