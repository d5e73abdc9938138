// SPDX-License-Identifier: GPL-2.0-only
/* ddio start, stop: a cluster on this machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ddio.h"
#include "tools/common/local.h"
#include "tools/common/safe/interrupt.h"
#include "tools/common/safe/text.h"

#define DEFAULT_DIR "ddio-cluster"

struct start_values {
	const char *dir, *engine, *options, *security;
	uint32_t iops, disks, buffers, reactors, timeout_ms;
	uint64_t disk_size, cache, block;
	bool files, no_key, shared_bus;
};

#define AT(member) offsetof(struct start_values, member)

static const struct ddio_opt start_opts[] = {
	DDIO_OPT("dir", 'd', OPT_TEXT, AT(dir), "DIR", "the cluster's directory (" DEFAULT_DIR ")"),
	DDIO_OPT("iops", 'i', OPT_U32, AT(iops), "N", "I/O processors (4)"),
	DDIO_OPT("disks", 'n', OPT_U32, AT(disks), "N", "disks of each I/O processor (1)"),
	DDIO_OPT("engine", 'e', OPT_TEXT, AT(engine), "NAME",
		 "disk engine: aio (files), mem (memory), hp97560 (the papers' disk) (aio)"),
	DDIO_OPT("disk-options", 'o', OPT_TEXT, AT(options), "LIST",
		 "options of the engine, name=value,..., see ddio-disk-engines(7)"),
	DDIO_OPT("disk-size", 's', OPT_SIZE, AT(disk_size), "SIZE",
		 "size of a disk (aio: 8G, sparse; mem: 1G; hp97560: 1.3G)"),
	DDIO_OPT("files", 'f', OPT_FLAG, AT(files), NULL,
		 "keep the data of mem and hp97560 in files, as aio does"),
	DDIO_OPT("shared-bus", 0, OPT_FLAG, AT(shared_bus), NULL,
		 "the hp97560 disks of an I/O processor share a SCSI bus"),
	DDIO_OPT("cache", 'c', OPT_SIZE, AT(cache), "SIZE",
		 "block cache of each disk; 0: the papers' size (64M)"),
	DDIO_OPT("block-size", 'b', OPT_SIZE, AT(block), "SIZE",
		 "default block size of new files (256K)"),
	DDIO_OPT("buffers", 0, OPT_U32, AT(buffers), "N",
		 "block buffers of each disk (as suits it)"),
	DDIO_OPT("reactors", 0, OPT_U32, AT(reactors), "N",
		 "reactors of each I/O processor (as many as disks)"),
	DDIO_OPT("timeout-ms", 0, OPT_U32, AT(timeout_ms), "MS",
		 "give up on a node after this many ms of silence (30000)"),
	DDIO_OPT("no-key", 0, OPT_FLAG, AT(no_key), NULL,
		 "use no key: other local users can connect"),
	DDIO_OPT("security", 0, OPT_TEXT, AT(security), "HOW",
		 "tls: encrypt connections; none: do not (none)"),
	{ 0 },
};

const struct opt_cmd opts_start = {
	"ddio",	    "start",
	NULL,	    "Start a cluster on this machine: a new one, or one that was stopped.",
	start_opts, 0,
	0
};

static const struct ddio_opt stop_opts[] = {
	DDIO_OPT("dir", 'd', OPT_TEXT, AT(dir), "DIR", "the cluster's directory (" DEFAULT_DIR ")"),
	DDIO_OPT("clean", 0, OPT_FLAG, AT(files), NULL, "remove the directory with all data"),
	{ 0 },
};

const struct opt_cmd opts_stop = {
	"ddio", "stop", NULL, "Stop a cluster that 'ddio start' started.", stop_opts, 0, 0
};

static const struct start_values defaults = {
	.dir = DEFAULT_DIR, .engine = "aio", .iops = 4, .disks = 1, .cache = 64u << 20
};

/* Returns whether an option was given that shapes a new cluster. */
static bool is_shaped(const struct start_values *given)
{
	struct start_values v = *given;

	v.dir = defaults.dir;
	return memcmp(&v, &defaults, sizeof(v));
}

static int start_check(const struct start_values *v)
{
	const char *how = v->security ? v->security : "none";

	if (!v->iops || !v->disks || v->iops > 1024 || v->disks > 256)
		cmd_fail("start", 0, "--iops takes 1 to 1024, --disks 1 to 256");
	else if (strcmp(how, "none") && strcmp(how, "tls"))
		cmd_fail("start", 0, "--security takes none or tls");
	else if (!strcmp(how, "tls") && v->no_key)
		cmd_fail("start", 0, "--security tls needs a key, and --no-key makes none");
	else
		return 0;
	return -EINVAL;
}

static int start_new(const struct start_values *v)
{
	struct local_spec spec = { .dir = v->dir,
				   .iops = v->iops,
				   .disks = v->disks,
				   .engine = v->engine,
				   .options = v->options,
				   .disk_size = v->disk_size,
				   .files = v->files,
				   .key = !v->no_key,
				   .security = v->security,
				   .shared_bus = v->shared_bus,
				   .cache = v->cache,
				   .block = v->block,
				   .timeout_ms = v->timeout_ms,
				   .buffers = v->buffers,
				   .reactors = v->reactors };

	return local_configure("start", &spec);
}

/* There is a cluster: it is started again as it was. */
static int start_again(const struct start_values *v, const char *quoted)
{
	if (is_shaped(v)) {
		cmd_fail("start", 0,
			 "%s already holds a cluster: start it without options, as it was made, "
			 "or remove it with 'ddio stop --clean --dir %s'",
			 v->dir, quoted);
		return -EEXIST;
	}
	if (local_running(v->dir)) {
		cmd_fail("start", 0, "the cluster in %s is running: 'ddio stop --dir %s' stops it",
			 v->dir, quoted);
		return -EALREADY;
	}
	if (!local_lasts(v->dir)) {
		cmd_fail("start", 0,
			 "the disks of the cluster in %s were in memory, and their data are gone: "
			 "'ddio stop --clean --dir %s' removes the rest",
			 v->dir, quoted);
		return -ENODATA;
	}
	return 0;
}

/* How programs find the cluster: without a word in this directory. */
static void start_say(const struct start_values *v, const char *real, uint32_t nodes, bool again)
{
	char conf[PATH_MAX + 16], *conf_quoted, *quoted = text_quoted(real);

	snprintf(conf, sizeof(conf), "%s/ddio.conf", real);
	conf_quoted = text_quoted(conf);
	printf("%u I/O processor%s %s.\n", nodes, nodes == 1 ? " is" : "s are",
	       again ? "running again" : "running");
	if (conf_quoted && quoted)
		printf("Programs find them by:  export DDIO_CONF=%s\n"
		       "To stop them:           ddio stop --dir %s\n",
		       conf_quoted, quoted);
	if (!local_lasts(v->dir))
		printf("Their disks are in memory: when they stop, the data are gone.\n");
	free(conf_quoted);
	free(quoted);
}

/* A new cluster that does not start leaves nothing behind; what was there before stays. */
static int start_run(const struct start_values *v, bool again)
{
	bool own = !again && access(v->dir, F_OK);
	char *real;
	int err = again ? 0 : start_new(v);

	real = err ? NULL : realpath(v->dir, NULL);
	if (!err)
		err = real ? local_start("start", real, local_nodes(real), NULL) : -ENOMEM;
	if (!err)
		start_say(v, real, local_nodes(real), again);
	else if (real && !again)
		local_remove_new(real, v->iops, v->disks);
	if (err && own)
		rmdir(v->dir);
	free(real);
	return err;
}

int cmd_start(int argc, char **argv)
{
	struct start_values v = defaults;
	int rc = opt_parse(&opts_start, &v, &argc, &argv);
	char *quoted;
	bool again;

	if (rc)
		return rc > 0 ? EXIT_OK : EXIT_USAGE;
	if (start_check(&v))
		return EXIT_USAGE;
	again = local_nodes(v.dir);
	quoted = text_quoted(v.dir);
	rc = again ? start_again(&v, quoted ? quoted : v.dir) : 0;
	free(quoted);
	if (rc)
		return EXIT_FAILED;
	interrupt_watch();
	rc = start_run(&v, again);
	interrupt_end();
	return rc ? EXIT_FAILED : EXIT_OK;
}

int cmd_stop(int argc, char **argv)
{
	struct start_values v = { .dir = DEFAULT_DIR };
	int rc = opt_parse(&opts_stop, &v, &argc, &argv);
	uint32_t n = 0;
	bool lasts;

	if (rc)
		return rc > 0 ? EXIT_OK : EXIT_USAGE;
	rc = local_stop("stop", v.dir, &n);
	if (rc)
		return EXIT_FAILED;
	lasts = local_lasts(v.dir);
	if (v.files)
		rc = local_remove_tree(v.dir);
	if (rc)
		return cmd_fail("stop", rc, "cannot remove %s", v.dir);
	printf("%u I/O processor%s stopped; %s\n", n, n == 1 ? "" : "s",
	       v.files ? "the cluster is removed"
	       : lasts ? "'ddio start' starts the cluster again"
		       : "the data were in memory and are gone");
	return EXIT_OK;
}
