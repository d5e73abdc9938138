/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the handlers of requests about objects share. */
#ifndef DDIO_OPS_OBJECT_H
#define DDIO_OPS_OBJECT_H

#include "iop/server/request.h"

/*
 * request.c: decodes the record, finds the disk if the record names one, and unless @whole checks that
 * it is one of this reactor's and that a file is named.  False: the request is over, and its handler
 * returns *@ret.
 */
bool obj_decode(struct server_request *req, const void *payload, size_t len, bool whole, int *ret);
/* Serves the request when the objects that it is about have been read from the records, see store_fetch(). */
int obj_fetched(struct server_request *req, const void *payload,
		int (*serve)(struct server_request *req, const void *payload));
/* Finds the object: 0, -ENOENT without a reply, or another -errno with the request over. */
int obj_get(struct server_request *req, bool create);
/* The same for a request that will change it: one that is frozen is refused, and the request is over. */
int obj_get_to_change(struct server_request *req, bool create);
/* The same by store_get_remains(). */
int obj_get_remains(struct server_request *req);
/* Replies with an error that names disk, file and offset, and ends the request. */
void obj_fail(struct server_request *req, int err, const char *what);
/* The file has no object on the disk, and may have lost it: says so, and ends the request. */
void obj_fail_lost(struct server_request *req);
/* Fails a request for bytes of an object that is missing, but for one that never had any: it returns false. */
bool obj_missing_fails(struct server_request *req);
/* The request's disk is not one of this reactor's: replies whose it is, and ends the request. */
void obj_fail_disk(struct server_request *req);
/* Commits, replies, and ends the request. */
void obj_commit(struct server_request *req);

/* object_sync.c: bytes of the request's object have been written to the cache.  Replies, and ends the request. */
void obj_wrote(struct server_request *req);

/*
 * object_quiet.c: changing where blocks lie, beside readers, writers and collectives.
 */
/* Calls @step, maybe at once, when no collective uses the request's file. */
void obj_alone(struct server_request *req, void (*step)(struct server_request *req));
/*
 * Calls @step at a moment when no I/O is under way on @count blocks of the request's object from @first on,
 * no collective uses the file, and the cache has forgotten those blocks.  A request that waits too long for
 * that fails instead.
 */
void obj_quiet(struct server_request *req, uint64_t first, uint64_t count,
	       void (*step)(struct server_request *req));
/*
 * Makes bytes [from, to), which lie within one block, read as zeros, and calls @step when the disk has them.  A hole stays
 * one.  The request ends with obj_commit(): whoever hears that bytes were cut sees zeros there for ever.
 */
void obj_zero(struct server_request *req, uint64_t from, uint64_t to,
	      void (*step)(struct server_request *req));

/**
 * struct obj_share - blocks that the request's object is to have as well; the first member of the request's data
 * @from, @at: whose they are, and from which block on; @first: the first of the request's object; @count: how many are left
 * @shared: how many it has been given
 * @done: called, maybe at once: 0, -EBUSY: the rest has to be copied, or another error
 */
struct obj_share {
	struct object *from;
	uint64_t at, first, count, shared;
	uint32_t tries;
	void (*done)(struct server_request *req, int err);
};

/* object_share.c */
void obj_share(struct server_request *req, struct obj_share *s);

#endif /* DDIO_OPS_OBJECT_H */
