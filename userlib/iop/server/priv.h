/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside of the I/O processor's server: bringing a node up and down
 * (server_start.c, stop.c), reactors (reactor.c), connections
 * (client.c), requests and their replies (request.c,
 * iop/ops/dispatch.c), and what the requests do (object_ops*.c, iop/ops/path.c, iop/ops/status.c).
 *
 * Who owns what
 *   A connection belongs to reactor 0 until its HELLO says where it wants to be,
 *   from then on to that reactor.
 *   A request belongs to its reactor.  It names its client until the client is gone, and
 *   is freed when its reply has left, or at its end if there is nobody to reply to.
 */
#ifndef DDIO_SERVER_PRIV_H
#define DDIO_SERVER_PRIV_H

#include "iop/ns/locks.h"
#include "iop/iop.h"
#include "iop/ns/ns.h"

/* A connection with more than this being served is not read from until half is done. */
#define SERVER_CLIENT_REQUESTS 128u
#define SERVER_CLIENT_BYTES (8u << 20)
/* Between two looks at what cannot tell when it is over. */
#define SERVER_POLL_NS 2000000ull

struct server;
struct server_request;

/* Requests that are over are kept for the next ones, so many of a reactor. */
#define SERVER_SPARE_REQUESTS 64u

/* Buffers of bulk data by size, a power of two from 4 KB to the largest bulk. */
#define SERVER_BUF_MIN_BITS 12
#define SERVER_BUF_CLASSES 14

/**
 * struct server_bufs - buffers that are free
 * @kept: their bytes
 */
struct server_bufs {
	void *free[SERVER_BUF_CLASSES];
	uint64_t kept;
};

enum server_client_state {
	SERVER_CLIENT_OPENING, /* reactor 0's, has not said HELLO yet */
	SERVER_CLIENT_MOVING,  /* on its way to another reactor */
	SERVER_CLIENT_SERVED,
	SERVER_CLIENT_REFUSED, /* its last words are on their way */
	SERVER_CLIENT_GONE,    /* the connection is closed; a post is under way */
};

/**
 * struct server_client - a connection
 * @c: what the executor sees of it; its link is in reactor->clients while it is served, else in
 *	server_reactor.opening
 * @requests: struct server_request
 * @incoming: request whose bulk is being received
 * @bytes: buffers of its requests
 * @mount: whose it is, or NULL
 * @session, @number: whose, and the how many'th of that; 0: of nobody who makes requests again
 * @held: it is not served before the one before has ended altogether
 * @post: to another reactor, or of its end
 * @why: of client_end(), NULL without memory
 */
struct server_client {
	struct client c;
	enum server_client_state state;
	uint32_t role;
	struct ddio_list requests;
	struct server_request *incoming;
	uint64_t bytes;
	struct ns_mount *mount;
	uint64_t session, number;
	bool held;
	bool paused;
	bool posted;
	struct ddio_post post;
	char *why;
};

/**
 * struct server_request - a request that gets a reply
 * @client: NULL once its connection is over
 * @changes: it may change what is stored, also when its client is gone; @session: of which that was
 * @obj, @disk, @object: of requests about objects
 * @buf, @len, @cap: bulk data
 * @text: why it is refused, found before all of it had come
 * @status: with @text
 * @pending, @err: of requests that wait for several things
 * @tries: how often something was begun that others can undo
 * @first, @count: blocks that are to be quiet (iop/ops/object_quiet.c), @discarded: and were forgotten by
 *	the cache once; @step: what comes next
 * @lock_wait: it waits for a lock, and does not count for its client until it has it
 * @data: the handler's, freed with the request
 */
struct server_request {
	struct ddio_list link; /* client->requests, or server_reactor.orphans */
	struct server_client *client;
	struct reactor *reactor;
	struct ddio_msg msg;
	bool changes;
	uint64_t session;
	struct ddio_msg_obj obj;
	struct iop_disk *disk;
	struct object *object;
	uint8_t *buf;
	size_t len, cap;
	struct iovec iov;
	struct ddio_send send;
	char *text;
	uint32_t status;
	uint32_t pending, tries;
	int err;
	bool discarded;
	uint64_t first, count;
	void (*step)(struct server_request *req);
	uint64_t deadline;
	struct ddio_timer timer;
	struct commit commit;
	struct cache_flush flush;
	struct cache_io io;
	struct lock_wait *lock_wait;
	void *data;
};

enum server_stop_stage {
	SERVER_RUNS,
	SERVER_ENDING,	/* requests and collectives end */
	SERVER_WRITING, /* caches are written back, stores commit */
	SERVER_SAYING,	/* the last replies go out, and that nothing was lost */
	SERVER_CLOSING, /* connections are closed; what was posted runs, read-ahead ends */
	SERVER_STOPPED,
};

/**
 * struct server_stop_part - a disk's last flush and commit
 */
struct server_stop_part {
	struct server_reactor *sr;
	struct iop_disk *disk;
	struct cache_flush flush;
	struct commit commit;
};

/**
 * struct server_reactor - what the server keeps of a reactor
 * @opening: connections that are not served yet
 * @orphans: requests that change something for a client that is gone
 * @look, @looking: one of them has ended: connections may have waited for that
 * @spare: struct server_request, @nspare of them
 * @serving: requests that are not over
 * @timer, @deadline: of the stage while stopping
 * @writes: caches and commits that are under way while stopping; @lost: one of them has failed
 * @later: when what was written is written back unasked; @late_ns: after how long, longer after a failure
 * @parts: one a disk
 * @post: begins stopping; @stopped: tells reactor 0
 */
struct server_reactor {
	struct reactor *reactor;
	struct server *server;
	struct ddio_list opening;
	struct ddio_list orphans;
	struct ddio_post look;
	bool looking;
	struct ddio_list spare;
	uint32_t nspare;
	struct server_bufs bufs;
	uint64_t serving;
	enum server_stop_stage stage;
	struct ddio_timer timer;
	uint64_t deadline;
	uint32_t writes;
	bool lost;
	struct ddio_timer later;
	uint64_t late_ns;
	struct server_stop_part *parts;
	struct commit ns_commit;
	struct ddio_post post, stopped;
};

/**
 * struct server_where - a disk of the cluster, for all reactors to read
 * @reactor: that owns it, or -1 if it is another node's; @index: there
 * @info: settled before the loops ran
 */
struct server_where {
	int32_t reactor;
	uint32_t index;
	struct ddio_disk_info info;
};

/**
 * struct server - a node
 * @where: by disk number
 * @locks: of mounts; reactor 0's
 * @running: reactors that have not stopped
 * @began_ns: on reactor 0's clock
 */
struct server {
	struct ddio_iop iop;
	struct ddio_listener *listener;
	struct server_reactor *per;
	struct server_where *where;
	struct locks locks;
	uint32_t running;
	uint64_t began_ns;
	bool repair;
	bool stopping;
	void (*on_stopped)(void *arg);
	void *arg;
};

static inline struct server *server_of(const struct ddio_iop *iop)
{
	return ddio_container_of(iop, struct server, iop);
}

static inline struct server_reactor *server_reactor(const struct reactor *reactor)
{
	return &server_of(reactor->iop)->per[reactor->index];
}

static inline const char *server_node_name(const struct ddio_iop *iop)
{
	return iop->conf->nodes[iop->node].name;
}

/* reactor.c */
/* Makes the reactors and gives each its disks, not opened yet. */
int server_reactors_new(struct server *server, const struct ddio_iop_opts *opts);
void server_reactors_free(struct server *server);
/* Opens the disks of every reactor, with stores and caches. */
int server_disks_open(struct server *server, char *err, size_t err_len);
/* On the reactor, or when no loop runs. */
void server_disks_close(struct reactor *reactor);

/* later.c */
/* Something may have been written: in a while it is written back. */
void server_write_back_later(struct reactor *reactor);
/* The reactor stops. */
void server_write_back_never(struct reactor *reactor);

/* client.c */
void server_accept(void *ctx, struct ddio_stream *stream);
struct server_client *server_client_of(struct client *client);
/* The connection ends here, whoever ended it. */
void server_client_gone(struct server_client *sc);
/* It has said who it is: it gets its WELCOME, now or later, or is refused. */
void server_client_serve(struct server_client *sc);
/* Ends all connections of a reactor. */
void server_clients_close(struct reactor *reactor);
/* Those that are not served yet. */
void server_opening_close(struct reactor *reactor);
/* After a request began or ended. */
void server_client_throttle(struct server_client *sc);

/* session.c */
/* Ends the ones before of its session.  0; -EINPROGRESS: it will be served later; -ESTALE: there is a newer one. */
int server_session_arrive(struct server_client *sc);
/* A request loses its client; one that had none is over. */
void server_session_orphan(struct server_request *req);
void server_session_over(struct server_request *req);

/* iop/ops/dispatch.c */
int server_bulk(void *ctx, const struct ddio_msg *msg, const void *prefix, size_t prefix_len,
		struct ddio_sink *sink);
int server_message(void *ctx, const struct ddio_msg *msg, const void *payload);

/* request.c */
struct server_request *server_request_new(struct server_client *sc, const struct ddio_msg *msg);
/* Frees it, without a reply. */
void server_request_end(struct server_request *req);
void server_requests_free(struct reactor *reactor);
/* The client is gone. */
void server_request_orphan(struct server_request *req);
int server_request_buf(struct server_request *req, size_t len);
/* The reply, and the end of the request. */
void server_reply(struct server_request *req, const void *fixed, size_t len);
void server_reply_data(struct server_request *req, const void *fixed, size_t len);
/* The client knows whom it asked: texts do not name the node. */
void server_fail(struct server_request *req, uint32_t status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void server_fail_errno(struct server_request *req, int err, const char *what);
/* Names disk, file and offset of a request about an object. */
void server_fail_obj(struct server_request *req, int err, const char *what);
/* A record that could not be decoded.  Return: what the message handler is to return. */
int server_fail_decode(struct server_request *req, int err, const char *what);
/* A reply made by a codec: 0, or why there is none. */
#define SERVER_REPLY(req, name, x)                                                       \
	do {                                                                             \
		ssize_t len_ = ddio_put_##name(NULL, 0, x);                              \
		void *buf_ = len_ < 0 ? NULL : malloc(len_ ? len_ : 1);                  \
                                                                                         \
		if (buf_) {                                                              \
			ddio_put_##name(buf_, len_, x);                                  \
			server_reply(req, buf_, len_);                                   \
		} else {                                                                 \
			server_fail(req, len_ < 0 ? DDIO_ST_TOO_BIG : DDIO_ST_NO_MEMORY, \
				    "no memory for the reply");                          \
		}                                                                        \
		free(buf_);                                                              \
	} while (0)

/* buf.c */
void *server_buf_get(struct reactor *reactor, size_t len, size_t *cap);
void server_buf_put(struct reactor *reactor, void *buf, size_t cap);
void server_bufs_free(struct reactor *reactor);

/* Handlers: one reply each, at once or later.  Return: 0, or why the connection is to be closed. */
typedef int (*server_handler)(struct server_request *req, const void *payload);

int server_op_ping(struct server_request *req, const void *payload);
int server_op_status(struct server_request *req, const void *payload);
int server_op_ns_create(struct server_request *req, const void *payload);
int server_op_ns_lookup(struct server_request *req, const void *payload);
int server_op_ns_remove(struct server_request *req, const void *payload);
int server_op_ns_remove_done(struct server_request *req, const void *payload);
int server_op_ns_size(struct server_request *req, const void *payload);
int server_op_ns_list(struct server_request *req, const void *payload);
int server_op_fs_attach(struct server_request *req, const void *payload);
int server_op_fs_detach(struct server_request *req, const void *payload);
int server_op_fs_lookup(struct server_request *req, const void *payload);
int server_op_fs_getattr(struct server_request *req, const void *payload);
int server_op_fs_setattr(struct server_request *req, const void *payload);
int server_op_fs_make(struct server_request *req, const void *payload);
int server_op_fs_link(struct server_request *req, const void *payload);
int server_op_fs_unlink(struct server_request *req, const void *payload);
int server_op_fs_rename(struct server_request *req, const void *payload);
int server_op_fs_readlink(struct server_request *req, const void *payload);
int server_op_fs_readdir(struct server_request *req, const void *payload);
int server_op_fs_getxattr(struct server_request *req, const void *payload);
int server_op_fs_setxattr(struct server_request *req, const void *payload);
int server_op_fs_listxattr(struct server_request *req, const void *payload);
int server_op_fs_removexattr(struct server_request *req, const void *payload);
int server_op_fs_open(struct server_request *req, const void *payload);
int server_op_fs_release(struct server_request *req, const void *payload);
int server_op_fs_wrote(struct server_request *req, const void *payload);
int server_op_fs_append(struct server_request *req, const void *payload);
int server_op_fs_alloc(struct server_request *req, const void *payload);
int server_op_fs_sync(struct server_request *req, const void *payload);
int server_op_fs_space(struct server_request *req, const void *payload);
int server_op_fs_orphans(struct server_request *req, const void *payload);
int server_op_fs_gone(struct server_request *req, const void *payload);
int server_op_fs_lock_test(struct server_request *req, const void *payload);
int server_op_fs_lock_set(struct server_request *req, const void *payload);
int server_op_fs_lock_cancel(struct server_request *req, const void *payload);
int server_op_fs_unlock_owner(struct server_request *req, const void *payload);
/* iop/ops/fs_lock.c: of a node, a request whose client is gone, a connection that ends. */
void server_fs_begin(struct server *server);
void server_fs_end(struct server *server);
void server_fs_request_lost(struct server_request *req);
void server_fs_client_gone(struct server_client *sc);
void server_fs_stop(struct server *server);
int server_op_obj_read(struct server_request *req, const void *payload);
/* The whole request has come; server_obj_write_bulk() has seen its fixed record. */
int server_op_obj_write(struct server_request *req, const void *payload);
int server_obj_write_bulk(struct server_request *req, const void *prefix, size_t prefix_len,
			  struct ddio_sink *sink);
int server_op_obj_sync(struct server_request *req, const void *payload);
int server_op_drop_cache(struct server_request *req, const void *payload);
int server_op_obj_remove(struct server_request *req, const void *payload);
int server_op_obj_truncate(struct server_request *req, const void *payload);
int server_op_obj_extents(struct server_request *req, const void *payload);
int server_op_obj_list(struct server_request *req, const void *payload);
int server_op_obj_reserve(struct server_request *req, const void *payload);
int server_op_obj_stat(struct server_request *req, const void *payload);
int server_op_obj_punch(struct server_request *req, const void *payload);
int server_op_obj_allocate(struct server_request *req, const void *payload);
int server_op_obj_copy(struct server_request *req, const void *payload);
int server_op_fsck(struct server_request *req, const void *payload);

/*
 * iop/ops/object_quiet.c: changing where blocks lie, beside readers, writers and collectives.
 */
/* Calls @step when no collective uses the request's file; it may be at once. */
void server_obj_alone(struct server_request *req, void (*step)(struct server_request *req));
/* Calls @step at a moment when no I/O is under way on @count blocks of its object from @first on, no
 * collective uses it, and the cache has forgotten what it had of them.  A request that waits too long is
 * failed instead. */
void server_obj_quiet(struct server_request *req, uint64_t first, uint64_t count,
		      void (*step)(struct server_request *req));
/* Bytes [from, to), which lie within one block, read as zeros; a hole stays one.  Then @step. */
void server_obj_zero(struct server_request *req, uint64_t from, uint64_t to,
		     void (*step)(struct server_request *req));
/* Commits and replies. */
void server_obj_commit(struct server_request *req);

/*
 * iop/ops/object.c: decodes the record, finds the disk if @whole is false or the record names one, and
 * checks that a file is named, unless @whole.  False: the request is over, with *ret to be returned.
 */
bool server_obj_decode(struct server_request *req, const void *payload, size_t len, bool whole,
		       int *ret);
/* The request's disk is not one of this reactor's: says whose it is. */
void server_fail_disk(struct server_request *req);
/* The object: 0, -ENOENT without a reply, or another -errno, and the request is over. */
int server_obj_get(struct server_request *req, bool create);

/* stop.c: tells clients that what this reactor was given is durable. */
void server_ended_say(struct server_reactor *sr);

#endif /* DDIO_SERVER_PRIV_H */
