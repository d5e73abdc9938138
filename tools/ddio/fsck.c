// SPDX-License-Identifier: GPL-2.0-only
/* ddio fsck: checks that the store is consistent, across all nodes. */
#include <inttypes.h>
#include <stdio.h>
#include <ddio/ddio.h>
#include "ddio.h"
#include "tools/common/safe/text.h"

struct fsck_values {
	const char *conf;
	bool repair, drop, convert;
};

static const struct ddio_opt fsck_opts[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, offsetof(struct fsck_values, conf), "FILE",
		 "the cluster's configuration ($DDIO_CONF)"),
	DDIO_OPT("repair", 'r', OPT_FLAG, offsetof(struct fsck_values, repair), NULL,
		 "repair what can be repaired"),
	DDIO_OPT(
		"drop", 0, OPT_FLAG, offsetof(struct fsck_values, drop), NULL,
		"with --repair: remove objects that belong to no file; what was lost reads as zeros"),
	DDIO_OPT("convert", 0, OPT_FLAG, offsetof(struct fsck_values, convert), NULL,
		 "then read the blocks that have no checksum, and give them one"),
	{ 0 },
};

const struct opt_cmd opts_fsck = { "ddio",    "fsck", NULL, "Check the store of the whole cluster.",
				   fsck_opts, 0,      0 };

static void fsck_line(void *arg, const char *line)
{
	(void)arg;
	/* Names are in it. */
	text_put(stdout, line);
	putchar('\n');
}

static void fsck_say(const struct ddio_check_result *r)
{
	char free_[16];

	printf("%" PRIu64 " files, %" PRIu64 " objects, %" PRIu64 " extents, %" PRIu64
	       " blocks, %s free\n",
	       r->files, r->objects, r->extents, r->blocks, cmd_human(r->free_bytes, free_));
	if (r->nameless)
		printf("%" PRIu64 " files without a name: still open, or being removed\n",
		       r->nameless);
	printf("%" PRIu64 " problems, %" PRIu64 " repaired, %" PRIu64 " orphans: %s\n", r->problems,
	       r->repaired, r->orphans, r->problems > r->repaired ? "INCONSISTENT" : "consistent");
}

int cmd_fsck(int argc, char **argv)
{
	struct fsck_values v = { 0 };
	struct ddio_check_result r = { 0 };
	int err = opt_parse(&opts_fsck, &v, &argc, &argv);
	struct ddio_session *s;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (v.drop && !v.repair) {
		fprintf(stderr, "ddio fsck: --drop needs --repair\n");
		return EXIT_USAGE;
	}
	s = cmd_connect("fsck", v.conf);
	if (!s)
		return EXIT_FAILED;
	err = ddio_check(s, v.repair | (v.drop ? DDIO_CHECK_DROP : 0), fsck_line, NULL, &r);
	if (err) {
		cmd_fail_session("fsck", s, err, "cannot check");
		ddio_disconnect(s);
		return EXIT_FAILED;
	}
	fsck_say(&r);
	err = v.convert ? cmd_convert(s) : EXIT_OK;
	ddio_disconnect(s);
	return r.problems > r.repaired ? EXIT_FAILED : err;
}
