/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes of a cluster that die, alone or with their machines: what was in memory is gone, and with the machine what was not flushed to
 * disks and journals.  The dead one goes on unseen, with copies of its own, and is stopped in order.
 */
#ifndef DDIO_TEST_CP_POWER_H
#define DDIO_TEST_CP_POWER_H

#include <dirent.h>
#include <sys/stat.h>
#include "tests/unit/cp/cp_world.h"

/* Copies what a directory of records has: LMDB's file, and journals if there are any. */
static inline void cp_records_copy(const char *from, const char *to)
{
	static const char *const files[] = { "data.mdb", "journal.0", "journal.1" };
	char a[600], b[600];
	uint32_t i;

	mkdir(to, 0700);
	for (i = 0; i < 3; i++) {
		snprintf(a, sizeof(a), "%s/%s", from, files[i]);
		snprintf(b, sizeof(b), "%s/%s", to, files[i]);
		if (!access(a, F_OK))
			ut_copy_file(a, b);
	}
}

/* Of a thousand sectors of the journals that were not flushed @lose are gone. */
static inline void cp_journals_lose(struct cp_world *w, const char *gone, const char *live,
				    uint32_t lose)
{
	char from[600], to[600];
	int64_t lost;
	int i;

	for (i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s/ns/journal.%d", gone, i);
		snprintf(to, sizeof(to), "%s/ns/journal.%d", live, i);
		lost = ddio_sim_file_crash(w->dw, from, to, lose);
		CU_ASSERT(lost >= 0 || lost == -ENOENT);
	}
}

static inline void cp_records_lose(struct cp_world *w, uint32_t i, uint32_t lose)
{
	char live[300], gone[300], from[580], to[580];
	struct dirent *e;
	DIR *dir;

	snprintf(live, sizeof(live), "%s/io%u", w->top, i);
	snprintf(gone, sizeof(gone), "%s/gone%u", w->top, w->ngone);
	if (rename(live, gone) || mkdir(live, 0700))
		abort();
	dir = opendir(gone);
	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(from, sizeof(from), "%s/%.200s", gone, e->d_name);
		snprintf(to, sizeof(to), "%s/%.200s", live, e->d_name);
		cp_records_copy(from, to);
	}
	if (dir)
		closedir(dir);
	if (lose)
		cp_journals_lose(w, gone, live, lose);
}

/**
 * cp_power_off - end a node without a word
 * @w: the world, with media
 * @i: the node
 * @lose: of a thousand sectors that were not flushed so many are lost; 0: only the process has died
 *
 * cp_node_begin() starts it again.
 */
static inline void cp_power_off(struct cp_world *w, uint32_t i, uint32_t lose)
{
	struct cp_node *gone = &w->gone[w->ngone];
	uint32_t d, k;

	if (w->ngone == CP_GONE)
		abort();
	for (d = i; d < w->p.disks; d += w->p.nodes)
		CU_ASSERT(ddio_sim_medium_crash(w->medium[d], lose) >= 0);
	cp_records_lose(w, i, lose);
	*gone = w->node[i];
	for (k = 0; k < w->p.reactors; k++)
		ddio_sim_orphan(gone->env[k]);
	gone->stop.fn = cp_stop_post;
	gone->stop.arg = gone;
	ddio_env_post(gone->env[0], &gone->stop);
	w->node[i].dead = true;
	w->ngone++;
}

static inline void cp_power_on(struct cp_world *w, uint32_t i)
{
	memset(&w->node[i], 0, sizeof(w->node[i]));
	cp_node_begin(w, i);
}

#endif /* DDIO_TEST_CP_POWER_H */
