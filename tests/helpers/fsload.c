// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random operations on the files of a directory, and what must be left of them after a crash.
 *
 *   fsload run DIR LOG SEED PROCESSES OPERATIONS [loses]
 *	each process works in DIR/pN, notes in LOG.N what it is about to do and how that ended, and
 *	checks what it reads.  It stops at the first error that it cannot account for.  loses: what was not
 *	fsync'ed may be gone all at once, as when a server of it crashes and the files stay open.
 *   fsload check DIR LOG [all]
 *	every byte is what it was at the last fsync, or what an operation after that made of it;
 *	the names are as after one of the operations since the directories' last fsync.  all: as after the
 *	last operation, since there was no crash.
 *
 * LOG is to be on a file system that does not crash along.  Status: 0, 1 something is wrong,
 * 2 bad usage, 3 a process stopped at an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/helpers/fsload_look.h"

static void note(const struct proc *p, const char *line, int len)
{
	if (write(p->log, line, (size_t)len) == len)
		return;
	perror("fsload: the log");
	exit(2);
}

/* Returns true if the file system may lack the operation, as @err says; then it is skipped. */
static bool unsupported(const struct op *op, int err)
{
	return err == EOPNOTSUPP && op->kind >= PUNCH && op->kind <= COPY;
}

static int live(struct proc *p, unsigned int count)
{
	char line[200];
	unsigned int n;
	int err;

	for (n = 1; n <= count; n++) {
		struct op op = op_draw(p, n);

		note(p, line,
		     snprintf(line, sizeof(line), "B %u %d %d %d %u %u %u\n", n, op.kind, op.a,
			      op.b, op.off, op.len, op.at));
		err = perform(p, &op);
		if (unsupported(&op, err))
			err = ENOSPC;
		note(p, line, snprintf(line, sizeof(line), "E %u %d\n", n, err));
		if (err && err != ENOSPC && !(op.kind == FSYNC && err == EIO)) {
			fprintf(stderr, "fsload: operation %u (kind %d): %s\n", n, op.kind,
				strerror(err));
			return err == EBADMSG ? 1 : 3;
		}
		apply(p, &op, err);
	}
	return 0;
}

static void proc_init(struct proc *p, const char *dir, uint32_t k)
{
	memset(p, 0, sizeof(*p));
	snprintf(p->dir, sizeof(p->dir), "%.3900s/p%u", dir, k);
	names_note(p);
}

static void proc_end(struct proc *p)
{
	int i;

	for (i = 0; i < OPEN_FILES; i++)
		file_free(p->file[i]);
	free(p->past);
}

static int proc_run(struct proc *p, const char *log, uint32_t k, uint64_t seed, unsigned int count)
{
	char path[4100];
	int i;

	snprintf(path, sizeof(path), "%.4000s.%u", log, k);
	p->log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	p->rand = (seed + 1) * 7919 + k * 104729;
	if (p->log < 0 || mkdir(p->dir, 0700)) {
		perror("fsload");
		return 3;
	}
	for (i = 0; i < DIRS; i++) {
		snprintf(path, sizeof(path), "%s/d%d", p->dir, i);
		if (mkdir(path, 0700))
			return 3;
	}
	if (sync_names(p))
		return 3;
	if (p->loses)
		note(p, "L\n", 2);
	note(p, "R\n", 2);
	return live(p, count);
}

static int run(const char *dir, const char *log, uint64_t seed, uint32_t procs, unsigned int count,
	       bool loses)
{
	static struct proc p;
	int status, worst = 0;
	uint32_t k;

	for (k = 0; k < procs; k++) {
		pid_t pid = fork();

		if (pid < 0)
			return 2;
		if (pid)
			continue;
		proc_init(&p, dir, k);
		p.loses = loses;
		_exit(proc_run(&p, log, k, seed, count));
	}
	while (wait(&status) > 0) {
		int rc = WIFEXITED(status) ? WEXITSTATUS(status) : 3;

		/* 1, what was read was wrong, counts most. */
		if (worst != 1 && rc)
			worst = rc;
	}
	return worst;
}

/* Goes through the log again.  Return: it was begun. */
static bool replay(struct proc *p, FILE *log, bool all, unsigned int *count)
{
	struct op op = { 0 };
	bool under_way = false, ready = false;
	unsigned int n;
	char line[200];
	int err;

	while (fgets(line, sizeof(line), log)) {
		if (line[0] == 'L') {
			p->loses = true;
		} else if (line[0] == 'R') {
			ready = true;
		} else if (sscanf(line, "B %u %d %d %d %u %u %u", &op.n, &op.kind, &op.a, &op.b,
				  &op.off, &op.len, &op.at) == 7) {
			under_way = true;
		} else if (sscanf(line, "E %u %d", &n, &err) == 2 && n == op.n) {
			/* The one at which it stopped may have happened or not. */
			if (err && err != ENOSPC && !(op.kind == FSYNC && err == EIO))
				break;
			apply(p, &op, err);
			under_way = false;
			*count += 1;
			if (all)
				names_synced(p);
		}
	}
	if (under_way)
		apply(p, &op, -1);
	return ready;
}

static void assume_synced(struct proc *p)
{
	int i;

	for (i = 0; i < NAMES; i++)
		if (file_of(p, i))
			file_synced(file_of(p, i), false);
}

static int proc_check(struct proc *p, FILE *log, bool all, unsigned int *count)
{
	static struct fsload_seen seen[NAMES];
	size_t k;
	int i, bad;

	if (!replay(p, log, all, count))
		return 0;
	if (all)
		assume_synced(p);
	bad = look(p, seen) || strangers(p, seen);
	for (k = p->npast; k && !bad; k--)
		if (possible(p, &p->past[k - 1], seen, false))
			break;
	if (!bad && !k) {
		bad = 1;
		printf("%s: nothing that may be left of it; of %zu states the last:\n", p->dir,
		       p->npast);
		possible(p, &p->past[p->npast - 1], seen, true);
		printf("... and the one that was synced:\n");
		possible(p, &p->past[0], seen, true);
	}
	for (i = 0; i < NAMES; i++)
		free(seen[i].bytes);
	return bad;
}

static int check(const char *dir, const char *log, bool all)
{
	static struct proc p;
	unsigned int count = 0;
	char path[4100];
	uint32_t k;
	int bad = 0;

	for (k = 0;; k++) {
		FILE *f;

		snprintf(path, sizeof(path), "%.4000s.%u", log, k);
		f = fopen(path, "r");
		if (!f)
			break;
		proc_init(&p, dir, k);
		bad |= proc_check(&p, f, all, &count);
		proc_end(&p);
		fclose(f);
	}
	printf("%u processes, %u operations: %s\n", k, count, bad ? "WRONG" : "all there");
	return k ? bad : 2;
}

int main(int argc, char **argv)
{
	bool loses = argc == 8 && !strcmp(argv[7], "loses");

	if ((argc == 7 || loses) && !strcmp(argv[1], "run"))
		return run(argv[2], argv[3], strtoull(argv[4], NULL, 0),
			   (uint32_t)strtoul(argv[5], NULL, 0),
			   (unsigned int)strtoul(argv[6], NULL, 0), loses);
	if ((argc == 4 || (argc == 5 && !strcmp(argv[4], "all"))) && !strcmp(argv[1], "check"))
		return check(argv[2], argv[3], argc == 5);
	fprintf(stderr, "usage: fsload run DIR LOG SEED PROCESSES OPERATIONS [loses]\n"
			"       fsload check DIR LOG [all]\n");
	return 2;
}
