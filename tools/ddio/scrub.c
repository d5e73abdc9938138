// SPDX-License-Identifier: GPL-2.0-only
/* ddio scrub: has the disks read and compared with their checksums, and shows how far that is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <ddio/ddio.h>
#include "ddio.h"

#define LOOK_NS 500000000
/* So often in a row may a disk give no answer before it is given up: a node that is started again goes on. */
#define SILENT_LOOKS 60

struct scrub_values {
	const char *conf;
	uint64_t rate;
	bool stop, status, detach;
};

static const struct ddio_opt scrub_opts[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, offsetof(struct scrub_values, conf), "FILE",
		 "the cluster's configuration ($DDIO_CONF)"),
	DDIO_OPT("rate", 'r', OPT_SIZE, offsetof(struct scrub_values, rate), "BYTES",
		 "read so many bytes a second of each disk, whatever else it has to do"),
	DDIO_OPT("detach", 'd', OPT_FLAG, offsetof(struct scrub_values, detach), NULL,
		 "begin, and do not wait for the end"),
	DDIO_OPT("status", 's', OPT_FLAG, offsetof(struct scrub_values, status), NULL,
		 "begin nothing, show how far the disks are"),
	DDIO_OPT("stop", 0, OPT_FLAG, offsetof(struct scrub_values, stop), NULL,
		 "end the scrubs; the next ones go on there"),
	{ 0 },
};

const struct opt_cmd opts_scrub = {
	"ddio",	    "scrub", NULL, "Read all disks and compare them with their checksums.",
	scrub_opts, 0,	     0
};

/**
 * struct scrub_show - what is shown of all disks
 * @rows: a line for each disk; @errors: for those that give no answer
 */
struct scrub_show {
	bool rows, errors;
	uint32_t running, failed;
	uint64_t used, done, wrong, given;
};

static void show_row(const struct ddio_scrub_state *st)
{
	char used[16], done[16];

	if (st->error) {
		printf("%-10s %-10s no answer: %s\n", st->node, st->name,
		       st->reason[0] ? st->reason : strerror(-st->error));
		return;
	}
	printf("%-10s %-10s %-8s %8s %8s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n", st->node,
	       st->name,
	       st->running	       ? "running"
	       : st->ended > st->begun ? "ended"
	       : st->done	       ? "stopped"
				       : "none",
	       cmd_human(st->used, used), cmd_human(st->done, done), st->mismatches, st->unread,
	       st->given);
}

static int show_disk(void *arg, const struct ddio_scrub_state *st)
{
	struct scrub_show *show = arg;

	if (show->rows || (show->errors && st->error))
		show_row(st);
	show->failed += st->error != 0;
	show->running += st->running != 0;
	show->used += st->used;
	show->done += st->done;
	show->wrong += st->mismatches + st->unread;
	show->given += st->given;
	return 0;
}

/* Asks all disks and adds up what @show has been told to. */
static int look(struct ddio_session *s, int action, uint64_t rate, struct scrub_show *show)
{
	*show = (struct scrub_show){ .rows = show->rows, .errors = show->errors };
	if (show->rows)
		printf("%-10s %-10s %-8s %8s %8s %10s %10s %10s\n", "node", "disk", "scrub", "used",
		       "read", "mismatches", "unreadable", "new sums");
	return ddio_scrub(s, action, rate, show_disk, show);
}

static void show_progress(const struct scrub_show *show)
{
	char used[16], done[16];

	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%s of %s read, %" PRIu64 " wrong, %" PRIu64 " new checksums ",
		cmd_human(show->done, done), cmd_human(show->used, used), show->wrong, show->given);
	if (!show->running)
		fputs("\n", stderr);
}

/* Returns when no disk is being looked through; @patient: nodes that do not answer may be about to be started again. */
static int wait_end(struct ddio_session *s, bool patient)
{
	const struct timespec rest = { .tv_nsec = LOOK_NS };
	struct scrub_show show = { .rows = false };
	int silent = 0, err;

	do {
		nanosleep(&rest, NULL);
		err = look(s, DDIO_SCRUB_LOOK, 0, &show);
		if (err)
			return err;
		silent = show.failed && patient ? silent + 1 : 0;
		show_progress(&show);
	} while (show.running || (silent && silent < SILENT_LOOKS));
	return 0;
}

/* Begins a scrub of each disk, waits for the end of all, and shows what came of it. */
static int scrub_all(struct ddio_session *s, int action, uint64_t rate, struct scrub_show *show)
{
	uint32_t failed;
	int err;

	show->errors = true;
	err = look(s, action, rate, show);
	failed = show->failed;
	if (!err)
		err = wait_end(s, !failed);
	*show = (struct scrub_show){ .rows = true };
	if (!err)
		err = look(s, DDIO_SCRUB_LOOK, 0, show);
	show->failed += failed;
	return err;
}

static int scrub(struct ddio_session *s, const struct scrub_values *v, struct scrub_show *show)
{
	int action = v->stop ? DDIO_SCRUB_STOP : v->status ? DDIO_SCRUB_LOOK : DDIO_SCRUB_START;

	if (action == DDIO_SCRUB_START && !v->detach)
		return scrub_all(s, action, v->rate, show);
	show->rows = true;
	return look(s, action, v->rate, show);
}

int cmd_convert(struct ddio_session *s)
{
	struct scrub_show show = { 0 };
	int err = scrub_all(s, DDIO_SCRUB_CONVERT, 0, &show);

	if (err)
		return cmd_fail_session("fsck", s, err, "cannot make checksums"), EXIT_FAILED;
	return show.failed || show.wrong ? EXIT_FAILED : EXIT_OK;
}

int cmd_scrub(int argc, char **argv)
{
	struct scrub_values v = { 0 };
	struct scrub_show show = { 0 };
	int err = opt_parse(&opts_scrub, &v, &argc, &argv);
	struct ddio_session *s;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (v.stop + v.status + v.detach > 1) {
		fprintf(stderr, "ddio scrub: only one of --stop, --status and --detach\n");
		return EXIT_USAGE;
	}
	s = cmd_connect("scrub", v.conf);
	if (!s)
		return EXIT_FAILED;
	err = scrub(s, &v, &show);
	if (err)
		cmd_fail_session("scrub", s, err, "cannot ask the disks");
	ddio_disconnect(s);
	/* Wrong blocks fail a command that waits, or asks for them. */
	if (v.stop || v.detach)
		show.wrong = 0;
	return err || show.failed || show.wrong ? EXIT_FAILED : EXIT_OK;
}
