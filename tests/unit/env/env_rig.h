/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the tests of disk engines. */
#ifndef DDIO_ENV_RIG_H
#define DDIO_ENV_RIG_H

#include <stdlib.h>
#include <string.h>
#include "env/disk/disk.h"
#include "env/real/real.h"
#include "tests/unit/lib/ut.h"

#define MS 1000000ULL

static inline uint64_t rnd(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/*
 * A disk and the reactor that it is on; the test's thread runs the loop.
 */
struct env_rig {
	struct ddio_env *env;
	struct ddio_disk *disk;
	unsigned int left;
	unsigned int calls_in_submit;
	bool in_call;
	struct ddio_disk_req *order[256]; /* as they ended */
	unsigned int n_order;
	char err[300];
	char log[300];
};

static inline void rig_log(void *arg, enum ddio_log_level level, const char *line)
{
	struct env_rig *rig = arg;

	(void)level;
	snprintf(rig->log, sizeof(rig->log), "%s", line);
}

static inline void rig_begin(struct env_rig *rig)
{
	struct ddio_real_opts opts = { .log = rig_log,
				       .log_arg = rig,
				       .log_level = DDIO_LOG_WARN,
				       .engines = ddio_disk_engines };

	memset(rig, 0, sizeof(*rig));
	CU_ASSERT_EQUAL_FATAL(ddio_real_new(&opts, &rig->env), 0);
}

static inline void rig_open(struct env_rig *rig, const struct ddio_disk_spec *spec)
{
	int ret = ddio_disk_open(rig->env, spec, &rig->disk, rig->err, sizeof(rig->err));

	if (ret)
		printf("\n%s: %s\n", rig->err, strerror(-ret));
	CU_ASSERT_EQUAL_FATAL(ret, 0);
}

static inline void rig_end(struct env_rig *rig)
{
	ddio_disk_close(rig->disk);
	ddio_real_free(rig->env);
}

static inline void rig_done(struct ddio_disk_req *req)
{
	struct env_rig *rig = req->arg;

	rig->calls_in_submit += rig->in_call;
	if (rig->n_order < 256)
		rig->order[rig->n_order++] = req;
	if (!--rig->left)
		real_stop(rig->env);
}

static inline void rig_submit(struct env_rig *rig, struct ddio_disk_req *req)
{
	req->done = rig_done;
	req->arg = rig;
	req->status = 1;
	rig->left++;
	rig->in_call = true;
	ddio_disk_submit(rig->disk, req);
	rig->in_call = false;
}

static inline void rig_wait(struct env_rig *rig, bool commit)
{
	rig->in_call = true;
	if (commit)
		ddio_disk_commit(rig->disk);
	rig->in_call = false;
	CU_ASSERT_EQUAL(real_run(rig->env), 0);
	CU_ASSERT_EQUAL(rig->left, 0);
}

static inline int rig_do(struct env_rig *rig, enum ddio_disk_op op, uint64_t offset, uint64_t len,
			 void *buf)
{
	struct ddio_disk_req req = { .op = op, .offset = offset, .len = len, .buf = buf };

	rig_submit(rig, &req);
	rig_wait(rig, true);
	return req.status;
}

/* Checks that an error names the disk and what was wrong. */
static inline void expect_refusal(struct env_rig *rig, const struct ddio_disk_spec *spec,
				  int status, const char *what)
{
	struct ddio_disk *disk;
	int ret = ddio_disk_open(rig->env, spec, &disk, rig->err, sizeof(rig->err));

	CU_ASSERT_EQUAL(ret, status);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig->err, what));
	CU_ASSERT_PTR_NOT_NULL(strstr(rig->err, "disk bad-one: "));
	if (ret != status || !strstr(rig->err, what))
		printf("\nexpected %d \"%s\", got %d \"%s\"\n", status, what, ret, rig->err);
	if (!ret)
		ddio_disk_close(disk);
}

#endif /* DDIO_ENV_RIG_H */
