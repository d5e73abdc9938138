// SPDX-License-Identifier: LGPL-2.1-or-later
/* Handlers of requests about objects: what they have in common, reading and writing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/crc32c.h"
#include "iop/ops/handlers.h"
#include "iop/ops/object.h"

static bool no_file(const struct ddio_file_ref *ref)
{
	return !ref->id;
}

void obj_fail_disk(struct server_request *req)
{
	const struct ddio_iop *iop = req->reactor->iop;
	uint32_t number = req->obj.disk;
	int reactor = iop_disk_reactor(iop, number);

	if (number >= iop->conf->ndisks)
		server_fail(req, DDIO_ST_INVALID, "there is no disk %u", number);
	else if (reactor < 0)
		server_fail(req, DDIO_ST_INVALID, "disk %s belongs to node %s",
			    iop->conf->disks[number].name,
			    iop->conf->nodes[iop->conf->disks[number].node].name);
	else
		server_fail(req, DDIO_ST_INVALID, "disk %s is served by reactor %d, this is %u",
			    iop->conf->disks[number].name, reactor, req->reactor->index);
}

bool obj_decode(struct server_request *req, const void *payload, size_t len, bool whole, int *ret)
{
	int err = ddio_get_obj(payload, len, &req->obj);

	*ret = 0;
	if (err) {
		*ret = server_fail_decode(req, err, "file, flags, offset or length");
		return false;
	}
	req->disk = reactor_disk(req->reactor, req->obj.disk);
	if (whole)
		return true;
	if (!req->disk) {
		obj_fail_disk(req);
		return false;
	}
	if (no_file(&req->obj.file)) {
		server_fail(req, DDIO_ST_INVALID, "%s names no file",
			    ddio_opcode_name(req->msg.opcode));
		return false;
	}
	return true;
}

void obj_fail(struct server_request *req, int err, const char *what)
{
	uint32_t status = ddio_status_from_errno(err);

	server_fail(req, status, "disk %s: file %llu, byte %llu of its part there: %s: %s",
		    req->disk ? req->disk->name : "?", (unsigned long long)req->obj.file.id,
		    (unsigned long long)req->obj.offset, what, ddio_status_text(status));
}

void obj_fail_lost(struct server_request *req)
{
	server_fail(req, DDIO_ST_IO, "disk %s: " STORE_LOST_TEXT, req->disk->name,
		    (unsigned long long)req->obj.file.id);
}

static int obj_got(struct server_request *req, int err)
{
	if (!err || err == -ENOENT)
		return err;
	req->object = NULL;
	if (err == -EINVAL)
		server_fail(req, DDIO_ST_INVALID,
			    "disk %s: blocks of %u bytes are smaller than its sectors of %u",
			    req->disk->name, req->obj.file.block,
			    ddio_disk_info(req->disk->disk)->sector);
	else if (err == -EREMOTEIO)
		obj_fail_lost(req);
	else if (err == -ESTALE)
		server_fail(req, DDIO_ST_STALE, "disk %s: file %llu %s", req->disk->name,
			    (unsigned long long)req->obj.file.id,
			    store_is_gone(req->disk->store, req->obj.file.id)
				    ? "was removed"
				    : "has another block size, layout or seed");
	else
		obj_fail(req, err, "finding the object");
	return err;
}

bool obj_missing_fails(struct server_request *req)
{
	return obj_got(req, store_missing(req->disk->store, req->obj.file.id));
}

/**
 * struct fetched - a request that waits until objects have been read from the records
 */
struct fetched {
	struct store_wait wait;
	int (*serve)(struct server_request *req, const void *payload);
	uint8_t payload[];
};

static bool fetch_copy(struct server_request *req, const void *payload, size_t len,
		       struct store_wait *wait)
{
	struct ddio_msg_obj_copy x;
	struct iop_disk *disk;

	if (ddio_get_obj_copy(payload, len, &x))
		return true;
	disk = reactor_disk(req->reactor, x.disk);
	return !disk ||
	       (store_fetch(disk->store, &x.from, wait) && store_fetch(disk->store, &x.to, wait));
}

/* Of a file on all disks. */
static bool fetch_all(struct server_request *req, const struct ddio_msg_obj *x,
		      struct store_wait *wait)
{
	uint32_t i;

	for (i = 0; i < req->reactor->ndisks && !(x->flags & DDIO_OBJ_ALL); i++)
		if (!store_fetch(req->reactor->disks[i].store, &x->file, wait))
			return false;
	return true;
}

/* Returns true if the objects that the request is about are there. */
static bool fetch(struct server_request *req, const void *payload, size_t len,
		  struct store_wait *wait)
{
	struct iop_disk *disk;
	struct ddio_msg_obj x;

	if (req->msg.opcode == DDIO_OP_OBJ_COPY)
		return fetch_copy(req, payload, len, wait);
	if (req->msg.opcode == DDIO_OP_OBJ_QUERY && len > DDIO_OBJ_LEN)
		len = DDIO_OBJ_LEN;
	if (ddio_get_obj(payload, len, &x))
		return true;
	if (req->msg.opcode == DDIO_OP_OBJ_SYNC || req->msg.opcode == DDIO_OP_DROP_CACHE)
		return fetch_all(req, &x, wait);
	disk = reactor_disk(req->reactor, x.disk);
	return !disk || store_fetch(disk->store, &x.file, wait);
}

static void fetched_gone(struct server_request *req)
{
	struct fetched *f = req->data;

	store_fetch_forget(&f->wait);
	server_request_end(req);
}

static size_t payload_len(const struct server_request *req)
{
	size_t prefix = ddio_opcode_bulk_prefix(req->msg.opcode, false);

	return prefix ? prefix : req->msg.length;
}

static void fetched_done(struct store_wait *wait)
{
	struct fetched *f = ddio_container_of(wait, struct fetched, wait);
	struct server_request *req = wait->arg;

	/* Others of its objects may have been forgotten meanwhile. */
	if (!req->reactor->stopping && !fetch(req, f->payload, payload_len(req), wait))
		return;
	req->gone = NULL;
	req->data = NULL;
	if (req->reactor->stopping)
		server_fail(req, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
	else
		f->serve(req, f->payload);
	free(f);
}

int obj_fetched(struct server_request *req, const void *payload,
		int (*serve)(struct server_request *req, const void *payload))
{
	size_t len = payload_len(req);
	struct fetched *f;

	/* Only now does the connection know. */
	if (req->msg.opcode == DDIO_OP_OBJ_WRITE)
		req->io.prove = ddio_conn_bulk_sum(req->client->conn, &req->io.sum);
	if (fetch(req, payload, len, NULL))
		return serve(req, payload);
	f = malloc(sizeof(*f) + len);
	if (!f) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for a request");
		return 0;
	}
	ddio_list_init(&f->wait.link);
	f->wait.done = fetched_done;
	f->wait.arg = req;
	f->serve = serve;
	memcpy(f->payload, payload, len);
	req->data = f;
	req->gone = fetched_gone;
	/* It may have been read by now. */
	if (fetch(req, payload, len, &f->wait))
		fetched_done(&f->wait);
	return 0;
}

int obj_get(struct server_request *req, bool create)
{
	return obj_got(req, store_get(req->disk->store, &req->obj.file, create, &req->object));
}

int obj_get_to_change(struct server_request *req, bool create)
{
	int err = obj_get(req, create);

	if (err || !object_frozen(req->object))
		return err;
	server_fail(req, DDIO_ST_READ_ONLY,
		    "disk %s: file %llu is a snapshot, which nothing changes", req->disk->name,
		    (unsigned long long)req->obj.file.id);
	return -EROFS;
}

int obj_get_remains(struct server_request *req)
{
	return obj_got(req, store_get_remains(req->disk->store, &req->obj.file, &req->object));
}

static void io_start(struct server_request *req, void (*done)(struct cache_io *io, int status))
{
	req->io.obj = req->object;
	req->io.offset = req->obj.offset;
	req->io.len = req->len;
	req->io.buf = req->buf;
	req->io.done = done;
}

/*
 * Reading
 */
static bool has_sums(const struct server_request *req)
{
	return req->client && ddio_conn_sums(req->client->conn);
}

/* Returns true if all bytes are of chunks whose checksums are known. */
static bool read_proven(const struct server_request *req)
{
	return req->object && req->io.prove && req->io.proven == req->len;
}

static void read_reply(struct server_request *req, const uint32_t *sum)
{
	struct ddio_msg_obj_data data = { .len = req->len,
					  .hit = req->io.hit,
					  .disk_reqs = req->io.disk_reqs };
	uint8_t fixed[64];
	ssize_t len = ddio_put_obj_data(fixed, sizeof(fixed), &data);

	if (req->client)
		req->client->job->st.read_bytes += req->len;
	if (len < 0)
		server_fail(req, DDIO_ST_TOO_BIG, "no room for the reply");
	else if (sum)
		server_reply_summed(req, fixed, len, *sum);
	else
		server_reply_data(req, fixed, len);
}

/* A block that had to be read does not match its checksum. */
static void io_fail(struct server_request *req, int status, const char *what)
{
	if (status != -EBADMSG)
		obj_fail(req, status, what);
	else
		server_fail(
			req, DDIO_ST_IO,
			"node %s, disk %s: block %llu of the part of file %llu there does not match "
			"its checksum",
			iop_node_name(req->reactor->iop), req->disk->name,
			(unsigned long long)req->io.bad, (unsigned long long)req->obj.file.id);
}

/* What the cache has of the blocks has changed in memory, and so the disk is asked, once. */
static void read_again(struct server_request *req)
{
	uint64_t block = req->obj.file.block, first = req->io.offset / block;

	req->io.bad = first;
	ddio_env_log(req->reactor->env, DDIO_LOG_ERR,
		     "disk %s: blocks of file %llu, from %llu of its part there, changed in memory",
		     req->disk->name, (unsigned long long)req->obj.file.id,
		     (unsigned long long)first);
	cache_distrust(req->disk->cache, req->object, first,
		       (req->io.offset + req->io.len - 1) / block - first + 1);
	if (req->tries++)
		io_fail(req, -EBADMSG, "reading");
	else
		cache_read(req->disk->cache, &req->io);
}

/*
 * The message needs the sum of the bytes, and what that has to be is known from the sums of their chunks: if they differ, the bytes have
 * changed since they were read.
 */
static void read_done(struct cache_io *io, int status)
{
	struct server_request *req = io->arg;
	uint32_t sum;

	if (status) {
		io_fail(req, status, "reading");
	} else if (!read_proven(req)) {
		read_reply(req, NULL);
	} else {
		sum = ddio_crc32c(0, req->buf, req->len);
		if (sum == io->sum)
			read_reply(req, &sum);
		else
			read_again(req);
	}
}

int serve_obj_read(struct server_request *req, const void *payload)
{
	int ret, err;

	if (!obj_decode(req, payload, req->msg.length, false, &ret))
		return ret;
	if (!req->obj.len || req->obj.len > DDIO_MAX_BULK) {
		server_fail(req, DDIO_ST_INVALID, "OBJ_READ of %llu bytes: 1 to %u are possible",
			    (unsigned long long)req->obj.len, DDIO_MAX_BULK);
		return 0;
	}
	err = obj_get(req, false);
	if (err && err != -ENOENT)
		return 0;
	if (err && obj_missing_fails(req))
		return 0;
	if (server_request_buf(req, req->obj.len)) {
		obj_fail(req, -ENOMEM, "reading");
		return 0;
	}
	if (err) {
		/* Nothing of the file has ever been written to this disk. */
		memset(req->buf, 0, req->len);
		read_reply(req, NULL);
		return 0;
	}
	io_start(req, read_done);
	req->io.prefetch = !(req->obj.flags & DDIO_OBJ_NO_PREFETCH);
	req->io.reader = req->obj.stream;
	req->io.prove = has_sums(req);
	cache_read(req->disk->cache, &req->io);
	return 0;
}

/*
 * Writing
 */

/* Refuses a write before its data has arrived: the reply follows when all of the data has been thrown away. */
static int write_refuse(struct server_request *req, uint32_t status, const char *text)
{
	req->status = status;
	req->text = strdup(text);
	return req->text ? 0 : -ENOMEM;
}

int serve_obj_write_bulk(struct server_request *req, const void *prefix, size_t prefix_len,
			 struct ddio_sink *sink)
{
	int err = ddio_get_obj(prefix, prefix_len, &req->obj);
	uint64_t bulk = req->msg.length - prefix_len;
	char text[128];

	if (err == -EPROTO)
		return err;
	if (err)
		return write_refuse(req, ddio_status_from_errno(err),
				    "OBJ_WRITE: malformed file, flags, offset or length");
	if (!bulk || bulk != req->obj.len) {
		snprintf(text, sizeof(text), "OBJ_WRITE of %llu bytes comes with %llu",
			 (unsigned long long)req->obj.len, (unsigned long long)bulk);
		return write_refuse(req, DDIO_ST_INVALID, text);
	}
	if (req->reactor->stopping)
		return write_refuse(req, DDIO_ST_SHUTDOWN, SERVER_STOPPING);
	if (server_request_buf(req, bulk))
		return write_refuse(req, DDIO_ST_NO_MEMORY,
				    "OBJ_WRITE: not enough memory for its data");
	req->iov.iov_base = req->buf;
	req->iov.iov_len = req->len;
	sink->iov = &req->iov;
	sink->n = 1;
	return 0;
}

static void write_done(struct cache_io *io, int status)
{
	struct server_request *req = io->arg;

	if (status)
		io_fail(req, status, "writing");
	else
		obj_wrote(req);
}

int serve_obj_write(struct server_request *req, const void *payload)
{
	int ret;

	if (!obj_decode(req, payload, ddio_opcode_bulk_prefix(DDIO_OP_OBJ_WRITE, false), false,
			&ret))
		return ret;
	if (obj_get_to_change(req, true))
		return 0;
	req->client->job->st.write_bytes += req->len;
	io_start(req, write_done);
	cache_write(req->disk->cache, &req->io);
	return 0;
}
