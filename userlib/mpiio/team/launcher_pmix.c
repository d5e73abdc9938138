// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Open MPI's launcher is asked by PMIx, whose library the MPI has loaded.  The daemon of a machine knows which of its own processes
 * have died, and that of the launcher's machine those of all.  What one process has heard from its daemon it publishes, under a name
 * of the processes that wait for each other, and the others look that up.
 *
 * Answers come on a thread of that library.  One that has not come in time is waited for no more; it may still be written here.
 */
#include <errno.h>
#include <mpi.h>
#include "mpiio/team/launcher_way.h"

#if defined(OPEN_MPI) && __has_include(<pmix.h>)

#include <dlfcn.h>
#include <pmix.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEAD_MAX = 1024, ANSWER_MS = 10000 };

/**
 * struct pmix - what is asked, and answered
 * @query, @publish, @lookup: functions of the library
 * @proc: this job's processes, about which @which has the question; @table: what it asks for
 * @key: what is published, in @note with @text, or looked up by @keys
 * @answered: the last question is; @status: how
 * @late: one was not in time: none is put any more, whose answer this could be
 * @dead: ranks of processes that have died, @ndead of them
 */
static struct {
	__typeof__(&PMIx_Query_info_nb) query;
	__typeof__(&PMIx_Publish_nb) publish;
	__typeof__(&PMIx_Lookup_nb) lookup;
	pmix_proc_t proc;
	pmix_info_t which, note;
	char key[PMIX_MAX_KEYLEN + 1];
	char text[8];
	char *table[2], *keys[2];
	pmix_query_t question;
	atomic_bool answered;
	pmix_status_t status;
	bool late;
	unsigned int ndead;
	pmix_rank_t dead[DEAD_MAX];
} pmix = { .text = "died", .table = { PMIX_QUERY_PROC_TABLE }, .keys = { pmix.key } };

static void *library_find(void *lib, const char *name, void *fn)
{
	void *found = dlsym(lib, name);

	memcpy(fn, &found, sizeof(found)); /* as in C11 */
	return found;
}

static bool pmix_load(void)
{
	void *lib = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
	__typeof__(&PMIx_Initialized) initialized;
	bool there = lib && library_find(lib, "PMIx_Initialized", &initialized) && initialized() &&
		     library_find(lib, "PMIx_Query_info_nb", &pmix.query) &&
		     library_find(lib, "PMIx_Publish_nb", &pmix.publish) &&
		     library_find(lib, "PMIx_Lookup_nb", &pmix.lookup);

	if (lib)
		dlclose(lib); /* the MPI holds it */
	return there;
}

static bool pmix_find(void)
{
	const char *space = getenv("PMIX_NAMESPACE");

	if (pmix.late || !space || strlen(space) > PMIX_MAX_NSLEN || !pmix_load())
		return false;
	snprintf(pmix.proc.nspace, sizeof(pmix.proc.nspace), "%s", space);
	pmix.proc.rank = PMIX_RANK_WILDCARD;
	return true;
}

/* Returns how the question that has been put with @ret was answered. */
static int pmix_wait(pmix_status_t ret)
{
	int ms;

	for (ms = 0; !ret && !atomic_load(&pmix.answered) && ms < ANSWER_MS; ms++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	if (ret)
		return ret;
	pmix.late = !atomic_load(&pmix.answered);
	return pmix.late ? PMIX_ERR_TIMEOUT : pmix.status;
}

static void answer(pmix_status_t status)
{
	pmix.status = status;
	atomic_store(&pmix.answered, true);
}

static void take_process(const pmix_info_t *info)
{
	const pmix_proc_info_t *p = info->value.data.pinfo;

	if (info->value.type == PMIX_PROC_INFO && p && p->state >= PMIX_PROC_STATE_TERMINATED &&
	    pmix.ndead < DEAD_MAX)
		pmix.dead[pmix.ndead++] = p->proc.rank;
}

/* Each process is an entry of a list, which is in an entry by itself. */
static void take_table(const pmix_info_t *info)
{
	const pmix_data_array_t *a = info->value.data.darray;
	const pmix_info_t *entry;
	size_t i;

	if (info->value.type != PMIX_DATA_ARRAY || !a || a->type != PMIX_INFO)
		return;
	entry = a->array;
	for (i = 0; i < a->size; i++)
		take_process(&entry[i]);
}

static void table_came(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
		       pmix_release_cbfunc_t release, void *release_arg)
{
	size_t i;

	(void)arg;
	for (i = 0; !status && i < n; i++)
		take_table(&info[i]);
	if (release)
		release(release_arg);
	answer(status);
}

static int ask_table(void)
{
	pmix.which = (pmix_info_t){ .key = PMIX_PROCID,
				    .value = { .type = PMIX_PROC, .data.proc = &pmix.proc } };
	pmix.question = (pmix_query_t){ .keys = pmix.table, .qualifiers = &pmix.which, .nqual = 1 };
	pmix.ndead = 0;
	atomic_store(&pmix.answered, false);
	return pmix_wait(pmix.query(&pmix.question, 1, table_came, NULL));
}

static void lookup_came(pmix_status_t status, pmix_pdata_t *data, size_t n, void *arg)
{
	(void)data;
	(void)arg;
	answer(status ? status : n ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
}

static void key_set(const char *group)
{
	snprintf(pmix.key, sizeof(pmix.key), "ddio.%.240s.%.64s", pmix.proc.nspace, group);
}

/* Whether another process has told; what a launcher cannot look up nobody has. */
static int ask_others(const char *group)
{
	int ret;

	key_set(group);
	atomic_store(&pmix.answered, false);
	ret = pmix_wait(pmix.lookup(pmix.keys, NULL, 0, lookup_came, NULL));
	return ret == PMIX_ERR_TIMEOUT ? -EIO : ret == PMIX_SUCCESS;
}

static int pmix_ask(bool (*concerns)(int rank), const char *group)
{
	unsigned int i;

	if (ask_table())
		return -EIO;
	for (i = 0; i < pmix.ndead; i++)
		if (concerns((int)pmix.dead[i]))
			return 1;
	return group ? ask_others(group) : 0;
}

static void publish_came(pmix_status_t status, void *arg)
{
	(void)arg;
	answer(status);
}

/* Another process may have told before, or may be doing so: then this is refused. */
static void pmix_tell(const char *group)
{
	key_set(group);
	pmix.note = (pmix_info_t){ .value = { .type = PMIX_STRING, .data.string = pmix.text } };
	memcpy(pmix.note.key, pmix.key, sizeof(pmix.key));
	atomic_store(&pmix.answered, false);
	pmix_wait(pmix.publish(&pmix.note, 1, publish_came, NULL));
}

const struct launcher_way launcher_pmix = { .find = pmix_find, .ask = pmix_ask, .tell = pmix_tell };

#else

static bool pmix_find(void)
{
	return false;
}

static int pmix_ask(bool (*concerns)(int rank), const char *group)
{
	(void)concerns;
	(void)group;
	return -ENOTSUP;
}

const struct launcher_way launcher_pmix = { .find = pmix_find, .ask = pmix_ask };

#endif
