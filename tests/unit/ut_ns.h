/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of the name space share: one in a directory of its own. */
#ifndef DDIO_UT_NS_H
#define DDIO_UT_NS_H

#include "ut_store.h"

/**
 * struct nst - a name space in a directory of its own
 */
struct nst {
	char top[200], dir[260], err[500];
	struct ddio_sim *world;
	struct ddio_env *env;
	struct ddio_ns *ns;
};

static inline int nst_open(struct nst *t)
{
	return ddio_ns_open(t->env, t->dir, "demo", false, &t->ns, t->err, sizeof(t->err));
}

static inline void nst_begin(struct nst *t)
{
	memset(t, 0, sizeof(*t));
	ut_temp_dir(t->top, sizeof(t->top));
	snprintf(t->dir, sizeof(t->dir), "%s/ns", t->top);
	t->world = ddio_sim_new(1);
	t->env = ddio_sim_env(t->world, "io0");
	if (nst_open(t))
		abort();
}

static inline void nst_end(struct nst *t)
{
	ddio_ns_close(t->ns);
	ddio_sim_free(t->world);
	ut_remove_tree(t->top);
}

static inline int nst_reopen(struct nst *t)
{
	ddio_ns_close(t->ns);
	t->ns = NULL;
	return nst_open(t);
}

static inline int nst_commit(struct nst *t)
{
	struct ut_commit c;

	ut_commit_init(&c, t->env);
	ddio_ns_commit(t->ns, &c.commit);
	return ut_commit_wait(&c);
}

static inline struct ddio_file_record record(const char *name)
{
	static uint32_t disks[3] = { 2, 0, 5 };
	struct ddio_file_record rec = { .ref.block = 8192, .ndisks = 3, .disks = disks };

	snprintf(rec.name, sizeof(rec.name), "%s", name);
	return rec;
}

/* Return: the new identifier, 0 if it failed. */
static inline uint64_t create(struct nst *t, const char *name)
{
	struct ddio_file_record rec = record(name);
	int ret = ddio_ns_create(t->ns, &rec);

	return ret ? 0 : rec.ref.id;
}

static inline uint64_t lookup(struct nst *t, const char *name)
{
	struct ddio_file_record rec;
	uint64_t id = 0;

	if (!ddio_ns_lookup(t->ns, name, 0, &rec))
		id = rec.ref.id;
	ddio_file_record_free(&rec);
	return id;
}

static inline int mark(struct nst *t, const char *name)
{
	struct ddio_file_record rec;
	int ret = ddio_ns_remove(t->ns, name, &rec);

	ddio_file_record_free(&rec);
	return ret;
}

static inline void clean(struct nst *t, uint64_t files)
{
	struct ddio_msg_fsck fsck;

	CU_ASSERT_EQUAL(ddio_ns_check(t->ns, false, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	CU_ASSERT_EQUAL(fsck.objects, files);
	if (fsck.problems)
		fprintf(stderr, "%s\n", fsck.text);
}

#endif /* DDIO_UT_NS_H */
