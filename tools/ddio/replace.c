// SPDX-License-Identifier: GPL-2.0-only
/* ddio replace: accepts disks, or the name space, that are not what the other side remembers. */
#include <stdio.h>
#include <ddio/ddio.h>
#include "ddio.h"

struct replace_values {
	const char *conf;
	bool names;
};

static const struct ddio_opt replace_opts[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, offsetof(struct replace_values, conf), "FILE",
		 "the cluster's configuration ($DDIO_CONF)"),
	DDIO_OPT("names", 0, OPT_FLAG, offsetof(struct replace_values, names), NULL,
		 "accept the name space as it is"),
	{ 0 },
};

const struct opt_cmd opts_replace = { "ddio",
				      "replace",
				      "[DISK ...]",
				      "Accept disks, or the name space, as they are.",
				      replace_opts,
				      0,
				      -1 };

int cmd_replace(int argc, char **argv)
{
	struct replace_values v = { 0 };
	int err = opt_parse(&opts_replace, &v, &argc, &argv);
	struct ddio_session *s;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (v.names == (argc > 0)) {
		fprintf(stderr, "ddio replace: give names of disks, or --names\n");
		return EXIT_USAGE;
	}
	s = cmd_connect("replace", v.conf);
	if (!s)
		return EXIT_FAILED;
	err = ddio_replace(s, (const char *const *)argv, (uint32_t)argc);
	if (err)
		cmd_fail_session("replace", s, err, "not accepted");
	ddio_disconnect(s);
	return err ? EXIT_FAILED : EXIT_OK;
}
