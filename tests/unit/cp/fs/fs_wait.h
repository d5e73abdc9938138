/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waiting for calls of the file system, in tests: on an application's thread, or in a coroutine.
 *
 *	FSC_WAIT(&w, ddio_fs_lookup, fs, DDIO_FS_ROOT, "name");
 *	if (!w.err) ... w.attr ...
 */
#ifndef DDIO_TEST_FS_WAIT_H
#define DDIO_TEST_FS_WAIT_H

#include <stdlib.h>
#include <string.h>
#include "cp/fs/data/file.h"
#include "cp/fs/fs.h"

/**
 * struct fsc_result - how the last call ended
 * @env: of the file system's reactor 0
 * @data, @len: copied; only if the reply's data are bytes
 * @calls: how many calls have ended
 */
struct fsc_result {
	struct ddio_env *env;
	struct ddio_gate gate;
	int err;
	uint64_t value, age;
	struct ddio_fs_attr attr;
	uint8_t data[1024];
	size_t len;
	uint32_t calls;
	char text[DDIO_MAX_TEXT];
};

static inline void fsc_wait_init(struct fsc_result *w, struct ddio_fs *fs)
{
	memset(w, 0, sizeof(*w));
	w->env = fs->reactor[0].env;
}

static inline void fsc_wait_begin(struct fsc_result *w)
{
	ddio_gate_init(&w->gate);
}

static inline void fsc_wait_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct fsc_result *w = arg;

	w->err = reply->err;
	w->value = reply->value;
	w->age = reply->age_ns;
	w->calls++;
	memset(&w->attr, 0, sizeof(w->attr));
	w->text[0] = '\0';
	if (reply->attr)
		w->attr = *reply->attr;
	w->len = reply->len;
	if (reply->data && !reply->err)
		memcpy(w->data, reply->data,
		       reply->len < sizeof(w->data) ? reply->len : sizeof(w->data));
	if (reply->text) {
		strncpy(w->text, reply->text, sizeof(w->text) - 1);
		w->text[sizeof(w->text) - 1] = '\0';
	}
	ddio_gate_open(w->env, &w->gate);
}

#define FSC_WAIT(w, call, ...)                           \
	({                                               \
		fsc_wait_begin(w);                       \
		call(__VA_ARGS__, fsc_wait_done, (w));   \
		ddio_gate_wait((w)->env, &(w)->gate, 0); \
		(w)->err;                                \
	})

#endif /* DDIO_TEST_FS_WAIT_H */
