/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every codec of the protocol behind one shape, a maker of random valid
 * contents for each, and which message carries which: for the round-trip
 * tests, the fuzzers and their seed corpus.
 */
#ifndef DDIO_TEST_CODECS_H
#define DDIO_TEST_CODECS_H

#include "tests/fuzz/codecs_fs.h"
#include "tests/fuzz/codecs_io.h"

/* A record and a part alone may be followed by other bytes; here they are not. */
static inline int get_alone(int err, size_t len, size_t used)
{
	return err ? err : used == len ? 0 : -1;
}

static inline ssize_t put_record_(void *buf, size_t cap, const void *x)
{
	return ddio_put_record(buf, cap, x);
}

static inline int get_record_(const void *buf, size_t len, void *x)
{
	size_t used = 0;
	int err = ddio_get_record(buf, len, x, &used), ret = get_alone(err, len, used);

	if (ret && !err)
		ddio_file_record_free(x);
	return ret;
}

static inline ssize_t put_part_(void *buf, size_t cap, const void *x)
{
	return ddio_put_part(buf, cap, x);
}

static inline int get_part_(const void *buf, size_t len, void *x)
{
	size_t used = 0;
	int err = ddio_get_part(buf, len, x, &used), ret = get_alone(err, len, used);

	if (ret && !err)
		ddio_part_free(x);
	return ret;
}

static inline void gen_record_(struct rnd *r, void *x)
{
	gen_record(r, x);
}

static inline void gen_part_(struct rnd *r, void *x)
{
	gen_part(r, x, 0);
}

/* name, type, what frees it: F(function), M(function, member), P(a pointer member), N */
#define CODECS(X) CODECS_IO(X) CODECS_FS(X)

#define N (void)m
#define F(fn) fn(m)
#define M(fn, member) fn(&m->member)
#define P(member) free(m->member)
#define X(name, type, how)                                                        \
	static inline ssize_t put_##name##_(void *buf, size_t cap, const void *x) \
	{                                                                         \
		return ddio_put_##name(buf, cap, x);                              \
	}                                                                         \
	static inline int get_##name##_(const void *buf, size_t len, void *x)     \
	{                                                                         \
		return ddio_get_##name(buf, len, x);                              \
	}                                                                         \
	static inline void gen_##name##_(struct rnd *r, void *x)                  \
	{                                                                         \
		gen_##name(r, x);                                                 \
	}                                                                         \
	static inline void free_##name##_(void *x)                                \
	{                                                                         \
		struct type *m = x;                                               \
		how;                                                              \
	}
CODECS(X)
#undef X
#undef N
#undef F
#undef M
#undef P

static inline void free_record_(void *x)
{
	ddio_file_record_free(x);
}

static inline void free_part_(void *x)
{
	ddio_part_free(x);
}

struct codec {
	const char *name;
	size_t size;
	ssize_t (*put)(void *buf, size_t cap, const void *x);
	int (*get)(const void *buf, size_t len, void *x);
	/* @x is zero */
	void (*gen)(struct rnd *r, void *x);
	void (*free)(void *x);
};

#define ENTRY(name, type, how) \
	{ #name, sizeof(struct type), put_##name##_, get_##name##_, gen_##name##_, free_##name##_ },
static const struct codec codecs[] = { CODECS(ENTRY) ENTRY(record, ddio_file_record, )
					       ENTRY(part, ddio_part, ) };
#undef ENTRY
#define NCODECS (sizeof(codecs) / sizeof(codecs[0]))

union any_message {
#define MEMBER(name, type, how) struct type name;
	CODECS(MEMBER)
#undef MEMBER
	struct ddio_file_record record;
	struct ddio_part part;
};

static inline const struct codec *codec_find(const char *name)
{
	size_t i;

	for (i = 0; name && i < NCODECS; i++)
		if (!strcmp(codecs[i].name, name))
			return &codecs[i];
	return NULL;
}

/* What a message carries: requests and replies that succeed; NULL: nothing. */
struct carried {
	uint16_t opcode;
	const char *request, *reply;
};

static const struct carried carried[] = { { DDIO_OP_HELLO, "hello", NULL },
					  { DDIO_OP_CHALLENGE, "challenge", NULL },
					  { DDIO_OP_PROOF, "proof", NULL },
					  { DDIO_OP_WELCOME, "welcome", NULL },
					  { DDIO_OP_REFUSE, "refuse", NULL },
					  { DDIO_OP_PING, NULL, NULL },
					  { DDIO_OP_STATUS, NULL, "status" },
					  { DDIO_OP_BOUNDS, NULL, "bounds" },
					  { DDIO_OP_ENDED, NULL, NULL },
					  { DDIO_OP_DISKS_KNOWN, "disk_ids", NULL },
					  { DDIO_OP_OWED, "tags", "tags" },
					  { DDIO_OP_SCRUB, "scrub_ask", "scrub" },
					  { DDIO_OP_USER, "user", NULL },
					  { DDIO_OP_GRANT, "grant", NULL },
					  { DDIO_OP_RENEW, "grant", NULL },
					  { DDIO_OP_JOB, "job", NULL },
					  { DDIO_OP_JOBS, NULL, "jobs" },
					  { DDIO_OP_WRONG, "wrong", NULL },
					  { DDIO_OP_TRACE, "trace_ask", "trace" },
					  { DDIO_OP_MEMORY, "memory", NULL },
					  { DDIO_OP_MOVED, NULL, NULL },
					  { DDIO_OP_NS_CREATE, "ns_create", "record" },
					  { DDIO_OP_NS_LOOKUP, "ns_name", "record" },
					  { DDIO_OP_NS_REMOVE, "ns_name", "record" },
					  { DDIO_OP_NS_REMOVE_DONE, "ns_size", NULL },
					  { DDIO_OP_NS_EXTEND, "ns_size", NULL },
					  { DDIO_OP_NS_SET_SIZE, "ns_size", NULL },
					  { DDIO_OP_NS_LIST, "ns_list", "ns_listing" },
					  { DDIO_OP_NS_EPOCH, "ns_epoch", "ns_epoch" },
					  { DDIO_OP_NS_COMMIT, "ns_epoch", "ns_epoch" },
					  { DDIO_OP_NS_DECIDED, "ns_epoch", "ns_epoch" },
					  { DDIO_OP_NS_CLONE, "ns_size", "record" },
					  { DDIO_OP_NS_CLONED, "ns_clone", "record" },
					  { DDIO_OP_NS_COMMIT_FILES, "ns_epochs", "ns_epochs" },
					  { DDIO_OP_NS_ADOPT, "record", "record" },
					  { DDIO_OP_OBJ_WHOSE, "obj", "obj" },
					  { DDIO_OP_OBJ_READ, "obj", "obj_data" },
					  { DDIO_OP_OBJ_WRITE, "obj", NULL },
					  { DDIO_OP_OBJ_SYNC, "obj", NULL },
					  { DDIO_OP_OBJ_REMOVE, "obj", NULL },
					  { DDIO_OP_OBJ_TRUNCATE, "obj", NULL },
					  { DDIO_OP_OBJ_EXTENTS, "obj", "extents" },
					  { DDIO_OP_OBJ_LIST, "obj", "obj_list" },
					  { DDIO_OP_OBJ_RESERVE, "obj", NULL },
					  { DDIO_OP_DROP_CACHE, "obj", NULL },
					  { DDIO_OP_FSCK, "obj", "fsck" },
					  { DDIO_OP_OBJ_QUERY, "query", "answer" },
					  { DDIO_OP_ATTACH, "attach", NULL },
					  { DDIO_OP_DETACH, "attach", NULL },
					  { DDIO_OP_COLL_START, "coll_start", NULL },
					  { DDIO_OP_COLL_DATA, "coll_data", NULL },
					  { DDIO_OP_COLL_WANT, "coll_want", NULL },
					  { DDIO_OP_COLL_PIECE, "coll_data", NULL },
					  { DDIO_OP_COLL_DONE, "coll_done", NULL },
					  { DDIO_OP_COLL_ABORT, "coll_abort", NULL },
					  { DDIO_OP_JOINT, "joint", NULL },
					  { DDIO_OP_COLL_JOIN, "coll_join", NULL },
					  { DDIO_OP_COLL_AGAIN, NULL, NULL }, /* bytes: past.h */
					  { DDIO_OP_COLL_TELL, "coll_step", NULL },
					  { DDIO_OP_COLL_TOLD, "coll_told",
					    NULL }, /* after past.h */
					  { DDIO_OP_COLL_READY, "coll_step", NULL },
					  { DDIO_OP_COLL_GO, "coll_join", NULL },
					  { DDIO_OP_SHOW, "show", NULL },
					  { DDIO_OP_SHARE, "share", NULL },
					  { DDIO_OP_SHARE_TAKEN, "share_taken", NULL },
					  { DDIO_OP_COLL_SLOTS, "coll_slots", NULL },
					  { DDIO_OP_COLL_COPIED, "coll_copied", NULL },
					  { DDIO_OP_MUX_OPEN, "mux_open", NULL },
					  { DDIO_OP_MUX_DATA, "mux_data", NULL },
					  { DDIO_OP_MUX_WINDOW, "mux_window", NULL },
					  { DDIO_OP_MUX_END, "mux_end", NULL },
					  { DDIO_OP_MUX_PARTS, "mux_part", NULL },
					  { DDIO_OP_MUX_LEAVE, NULL, NULL },
					  { DDIO_OP_GROUP_JOIN, "group_join", NULL },
					  { DDIO_OP_GROUP_TABLE, "group_table", NULL },
					  { DDIO_OP_FAN_IN, "fan", NULL },
					  { DDIO_OP_FAN_OUT, "fan", NULL },
					  { DDIO_OP_GROUP_ABORT, "fan", NULL },
					  { DDIO_OP_EXCHANGE, "exchange", NULL },
					  { DDIO_OP_COUNTER_IN, "counter", NULL },
					  { DDIO_OP_COUNTER_OUT, "counter", NULL },
					  { DDIO_OP_FAN_AGAIN, "fan", NULL },
					  CARRIED_FS };

#define NCARRIED (sizeof(carried) / sizeof(carried[0]))

#endif /* DDIO_TEST_CODECS_H */
