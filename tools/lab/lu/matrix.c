// SPDX-License-Identifier: GPL-2.0-only
/* ddio matrix: makes a matrix of doubles as a NumPy file, as something to store. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/cmd.h"
#include "lu.h"

struct matrix_values {
	uint64_t rows, cols, header;
};

#define AT(member) offsetof(struct matrix_values, member)

static const struct ddio_opt matrix_opts[] = {
	DDIO_OPT("rows", 'r', OPT_U64, AT(rows), "N", "rows (1280)"),
	DDIO_OPT("cols", 'c', OPT_U64, AT(cols), "N", "columns (1024)"),
	DDIO_OPT("header", 0, OPT_SIZE, AT(header), "SIZE",
		 "size of the header, a multiple of 64 (8K)"),
	{ 0 },
};

const struct opt_cmd opts_matrix = {
	"ddio",	     "matrix", "FILE", "Make a matrix of doubles as a NumPy .npy file.",
	matrix_opts, 1,	       1
};

/* NumPy's format 1.0: magic, version, length of a padded dictionary, data. */
static int matrix_header(FILE *f, const struct matrix_values *v)
{
	char *h = malloc(v->header);
	int n;

	if (!h)
		return -ENOMEM;
	memset(h, ' ', v->header);
	memcpy(h, "\x93NUMPY\x01\x00", 8);
	h[8] = (char)((v->header - 10) & 0xff);
	h[9] = (char)((v->header - 10) >> 8);
	n = sprintf(h + 10,
		    "{'descr': '<f8', 'fortran_order': False, 'shape': (%" PRIu64 ", %" PRIu64
		    "), }",
		    v->rows, v->cols);
	h[10 + n] = ' ';
	h[v->header - 1] = '\n';
	n = fwrite(h, 1, v->header, f) == v->header ? 0 : -EIO;
	free(h);
	return n;
}

static int matrix_data(FILE *f, const struct matrix_values *v)
{
	double *row = malloc(v->cols * sizeof(*row));
	uint64_t r, c;
	int err = row ? 0 : -ENOMEM;

	for (r = 0; r < v->rows && !err; r++) {
		for (c = 0; c < v->cols; c++)
			row[c] = sin((double)(r * v->cols + c) * 1e-3) + (double)r / 7.0;
		if (fwrite(row, sizeof(*row), v->cols, f) != v->cols)
			err = -EIO;
	}
	free(row);
	return err;
}

int cmd_matrix(int argc, char **argv)
{
	struct matrix_values v = { .rows = 1280, .cols = 1024, .header = 8192 };
	int err = opt_parse(&opts_matrix, &v, &argc, &argv);
	FILE *f;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (!v.rows || !v.cols || v.cols > (1u << 30) || v.rows > (1ull << 40) / v.cols) {
		cmd_fail("matrix", 0, "--rows times --cols must be 1 to 2^40");
		return EXIT_USAGE;
	}
	if (v.header < 128 || v.header > 65472 || v.header % 64) {
		cmd_fail("matrix", 0, "--header takes 128 to 65472, a multiple of 64");
		return EXIT_USAGE;
	}
	f = fopen(argv[0], "w");
	if (!f)
		return cmd_fail("matrix", -errno, "%s", argv[0]);
	err = matrix_header(f, &v);
	if (!err)
		err = matrix_data(f, &v);
	if (fclose(f) && !err)
		err = -errno;
	return err ? cmd_fail("matrix", err, "%s", argv[0]) : EXIT_OK;
}
