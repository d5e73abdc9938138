// SPDX-License-Identifier: GPL-2.0-only
/* ddio start, stop: a local cluster for trying out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ddio.h"
#include "tools/common/local.h"

#define DEFAULT_DIR "ddio-cluster"

struct start_values {
	const char *dir, *engine, *options;
	uint32_t iops, disks, buffers, reactors, timeout_ms;
	uint64_t disk_size, cache, block;
	bool files, no_key, shared_bus;
};

#define AT(member) offsetof(struct start_values, member)

static const struct opt_spec start_opts[] = {
	{ "dir", 'd', OPT_TEXT, AT(dir), "DIR", "directory of the cluster (" DEFAULT_DIR ")" },
	{ "iops", 'i', OPT_U32, AT(iops), "N", "I/O processors (4)" },
	{ "disks", 'n', OPT_U32, AT(disks), "N", "disks of each (1)" },
	{ "engine", 'e', OPT_TEXT, AT(engine), "NAME", "disk engine: hp97560, mem, aio (hp97560)" },
	{ "disk-options", 'o', OPT_TEXT, AT(options), "LIST",
	  "name=value,...: see ddio-disk-engines(7)" },
	{ "disk-size", 's', OPT_SIZE, AT(disk_size), "SIZE", "size of a disk (the engine's own)" },
	{ "files", 'f', OPT_FLAG, AT(files), NULL, "keep the disks' data in files: they survive" },
	{ "shared-bus", 0, OPT_FLAG, AT(shared_bus), NULL,
	  "disks of an I/O processor share a SCSI bus" },
	{ "cache", 'c', OPT_SIZE, AT(cache), "SIZE",
	  "block cache a disk, 0: the papers' size (64M)" },
	{ "block-size", 'b', OPT_SIZE, AT(block), "SIZE", "default block size of new files" },
	{ "buffers", 0, OPT_U32, AT(buffers), "N", "block buffers a disk (2)" },
	{ "reactors", 0, OPT_U32, AT(reactors), "N", "reactors of each (as many as disks)" },
	{ "timeout-ms", 0, OPT_U32, AT(timeout_ms), "MS", "bound on lack of progress (30000)" },
	{ "no-key", 0, OPT_FLAG, AT(no_key), NULL, "no key: loopback needs none" },
	{ 0 },
};

const struct opt_cmd opts_start = { "ddio",	"start", NULL, "Start a cluster on this machine.",
				    start_opts, 0,	 0 };

static const struct opt_spec stop_opts[] = {
	{ "dir", 'd', OPT_TEXT, AT(dir), "DIR", "directory of the cluster (" DEFAULT_DIR ")" },
	{ "clean", 0, OPT_FLAG, AT(files), NULL, "remove the directory, data and all" },
	{ 0 },
};

const struct opt_cmd opts_stop = { "ddio",    "stop", NULL, "Stop a cluster of 'ddio start'.",
				   stop_opts, 0,      0 };

static int start_check(const struct start_values *v)
{
	if (!v->iops || !v->disks || v->iops > 1024 || v->disks > 256) {
		cmd_fail("start", 0, "--iops takes 1 to 1024, --disks 1 to 256");
		return -EINVAL;
	}
	if (!strcmp(v->engine, "aio") && (!v->files || !v->disk_size)) {
		cmd_fail("start", 0, "--engine aio needs --files and --disk-size here");
		return -EINVAL;
	}
	if (!strcmp(v->engine, "mem") && !v->disk_size) {
		cmd_fail("start", 0, "--engine mem needs --disk-size");
		return -EINVAL;
	}
	return 0;
}

int cmd_start(int argc, char **argv)
{
	struct start_values v = {
		.dir = DEFAULT_DIR, .engine = "hp97560", .iops = 4, .disks = 1, .cache = 64u << 20
	};
	struct local_spec spec;
	int rc = opt_parse(&opts_start, &v, &argc, &argv);
	char *real;

	if (rc)
		return rc > 0 ? EXIT_OK : EXIT_USAGE;
	if (start_check(&v))
		return EXIT_USAGE;
	spec = (struct local_spec){ .dir = v.dir,
				    .iops = v.iops,
				    .disks = v.disks,
				    .engine = v.engine,
				    .options = v.options,
				    .disk_size = v.disk_size,
				    .files = v.files,
				    .key = !v.no_key,
				    .shared_bus = v.shared_bus,
				    .cache = v.cache,
				    .block = v.block,
				    .timeout_ms = v.timeout_ms,
				    .buffers = v.buffers,
				    .reactors = v.reactors };
	if (local_configure("start", &spec))
		return EXIT_FAILED;
	real = realpath(v.dir, NULL);
	if (!real || local_start("start", real, v.iops, NULL)) {
		free(real);
		return EXIT_FAILED;
	}
	printf("%u I/O processors with %u disk%s each are running.\n"
	       "Tell programs where:  export DDIO_CONF=%s/ddio.conf\n"
	       "End them:             ddio stop --dir %s\n",
	       v.iops, v.disks, v.disks == 1 ? "" : "s", real, real);
	free(real);
	return EXIT_OK;
}

int cmd_stop(int argc, char **argv)
{
	struct start_values v = { .dir = DEFAULT_DIR };
	int rc = opt_parse(&opts_stop, &v, &argc, &argv);
	uint32_t n = 0;

	if (rc)
		return rc > 0 ? EXIT_OK : EXIT_USAGE;
	rc = local_stop("stop", v.dir, &n);
	if (rc)
		return EXIT_FAILED;
	printf("%u I/O processors stopped\n", n);
	if (v.files) {
		rc = local_remove_tree(v.dir);
		if (rc)
			return cmd_fail("stop", rc, "cannot remove %s", v.dir);
	}
	return EXIT_OK;
}
