// SPDX-License-Identifier: GPL-2.0-only
/*
 * "ddio query" of several processes: each is a member of one group, and gets its own of the records that match, as the question
 * deals them out.  Rank 0 prints what is made of all.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tools/common/cmd.h"
#include "args.h"

/* Records that a process has room for at first; and so often it tries with as many as are its own. */
enum { ROOM_FIRST = 4096, TRIES = 5 };

/**
 * struct crowd_member - one of the processes
 * @mine: of all ranks, in memory that the processes share: how many records are its own
 * @own: room for @own.room records
 */
struct crowd_member {
	const struct query_crowd *crowd;
	uint32_t rank;
	uint64_t *mine;
	struct ddio_session *session;
	struct ddio_group *group;
	struct ddio_file *file;
	struct ddio_query_value value[DDIO_QUERY_REDUCE_MAX];
	struct ddio_query_result own;
};

static int room_make(struct crowd_member *m, uint64_t room)
{
	uint32_t out = m->crowd->prefix ? args_out(m->crowd->a) : 0;

	free(m->own.index);
	free(m->own.buf);
	m->own.index = calloc(room, sizeof(*m->own.index));
	m->own.buf = calloc(room, out ? out : 1);
	m->own.room = room;
	return m->own.index && m->own.buf ? 0 : -ENOMEM;
}

static int bins_make(struct crowd_member *m)
{
	const struct ddio_query *q = &m->crowd->a->q;
	uint32_t i;

	for (i = 0; i < q->nreduce; i++)
		if (q->reduce[i].kind == DDIO_QUERY_HISTOGRAM) {
			m->value[i].bin =
				calloc(q->reduce[i].nbounds + 1, sizeof(*m->value[i].bin));
			if (!m->value[i].bin)
				return -ENOMEM;
		}
	return 0;
}

/* Asks again with more room, as long as some process has too little. */
static int ask(struct crowd_member *m)
{
	struct ddio_query q = m->crowd->a->q;
	int err, i;

	if (!m->crowd->prefix)
		q.noutput = 0;
	for (i = 0; i < TRIES; i++) {
		m->own.struct_size = sizeof(m->own);
		m->own.first = m->crowd->first;
		m->own.records = m->crowd->records;
		m->own.value = m->value;
		err = ddio_query_all(m->file, m->group, &q, &m->crowd->a->deal, &m->own);
		if (err != -ERANGE)
			return err;
		/* A process without memory leaves, and the others hear that. */
		if (m->own.mine > m->own.room && room_make(m, m->own.mine))
			return -ENOMEM;
	}
	return err;
}

/* Opens what the process prints into, after everything that can fail for all. */
static int show_own(struct crowd_member *m)
{
	uint32_t out = args_out(m->crowd->a);
	char name[PATH_MAX];
	uint64_t i;

	snprintf(name, sizeof(name), "%s.%u", m->crowd->prefix, m->rank);
	if (!freopen(name, "w", stdout))
		return cmd_fail("query", -errno, "%s", name);
	for (i = 0; i < m->own.mine; i++)
		args_show_record(m->crowd->a, m->own.index[i],
				 (const uint8_t *)m->own.buf + i * out);
	return fflush(stdout) ? cmd_fail("query", -errno, "%s", name) : EXIT_OK;
}

static int show(struct crowd_member *m)
{
	const struct query_args *a = m->crowd->a;
	uint32_t i;

	m->mine[m->rank] = m->own.mine;
	if (!m->rank && m->crowd->count)
		printf("count\t%" PRIu64 "\n", m->own.matched);
	for (i = 0; !m->rank && i < a->q.nreduce; i++)
		args_show_value(a, i, &m->value[i]);
	if (fflush(stdout))
		return cmd_fail("query", -errno, "the answer");
	return m->crowd->prefix ? show_own(m) : EXIT_OK;
}

/* What is wrong for all rank 0 says. */
static int member_run(struct crowd_member *m, struct cmd_pipes *pipes)
{
	const struct query_crowd *c = m->crowd;
	int err;

	m->session = cmd_connect("query", c->conf);
	if (!m->session)
		return EXIT_FAILED;
	err = ddio_group_create_bcast(m->session, m->rank, c->procs, pipes_bcast, pipes, NULL,
				      &m->group);
	if (!err)
		err = ddio_open_all(m->group, c->name, 0, NULL, &m->file);
	if (!err)
		err = room_make(m, ROOM_FIRST);
	if (!err)
		err = bins_make(m);
	if (!err)
		err = ask(m);
	if (!err)
		return show(m);
	if (!m->rank || err == -ENOMEM)
		cmd_fail_session("query", m->session, err, c->name);
	return EXIT_FAILED;
}

/* Its memory goes with the process. */
static void child(const struct query_crowd *crowd, struct cmd_pipes *pipes, uint64_t *mine,
		  uint32_t rank)
{
	struct crowd_member m = { .crowd = crowd, .rank = rank, .mine = mine };
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pipes_own(pipes, rank);
	ret = member_run(&m, pipes);
	if (m.file)
		ddio_close(m.file);
	if (m.group)
		ddio_group_free(m.group);
	if (m.session)
		ddio_disconnect(m.session);
	_exit(ret);
}

/* Waits for all.  Returns an exit code. */
static int reap(const pid_t *pid, uint32_t n)
{
	int ret = EXIT_OK, st;
	uint32_t i;

	for (i = 0; i < n; i++) {
		while (waitpid(pid[i], &st, 0) < 0 && errno == EINTR)
			;
		if (WIFSIGNALED(st))
			cmd_fail("query", 0, "process %u: %s", i, strsignal(WTERMSIG(st)));
		if (!WIFEXITED(st) || WEXITSTATUS(st))
			ret = EXIT_FAILED;
	}
	return ret;
}

static int crowd_run(const struct query_crowd *crowd, struct cmd_pipes *pipes, uint64_t *mine)
{
	pid_t *pid = calloc(crowd->procs, sizeof(*pid));
	uint32_t i, n = 0;
	int ret = EXIT_FAILED, err = pid ? pipes_make(pipes, crowd->procs) : -ENOMEM;

	fflush(stdout);
	for (; n < crowd->procs && !err; n++) {
		pid[n] = fork();
		if (!pid[n])
			child(crowd, pipes, mine, n);
		if (pid[n] < 0) {
			err = -errno;
			break;
		}
	}
	pipes_free(pipes);
	for (i = 0; i < n && err; i++)
		kill(pid[i], SIGKILL);
	if (n)
		ret = reap(pid, n);
	free(pid);
	return err ? cmd_fail("query", err, "%u processes", crowd->procs) : ret;
}

int crowd_ask(const struct query_crowd *crowd)
{
	size_t len = crowd->procs * sizeof(uint64_t);
	uint64_t *mine = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct cmd_pipes pipes = { .n = 0 };
	uint32_t i;
	int ret;

	if (mine == MAP_FAILED)
		return cmd_fail("query", -errno, "memory that processes share");
	ret = crowd_run(crowd, &pipes, mine);
	for (i = 0; i < crowd->procs && !ret && crowd->count; i++)
		printf("count of %u\t%" PRIu64 "\n", i, mine[i]);
	munmap(mine, len);
	return ret;
}
