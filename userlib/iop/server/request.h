/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests, and the one reply that each of them gets. */
#ifndef DDIO_SERVER_REQUEST_H
#define DDIO_SERVER_REQUEST_H

#include <stdlib.h>
#include "iop/server/reactor.h"

/**
 * struct server_request - a request that gets a reply
 * @link: in server_client.requests, or in server_reactor.orphans
 * @client: NULL once its connection has ended
 * @changes: it may change what is stored, even when its client is gone
 * @session: the client's session, once the client is gone and @changes is set
 * @buf, @len, @cap: bulk data
 * @text, @status: why it is refused, if that was found before all of it had arrived
 * @gone: the handler's, or NULL: called when the client has gone; may end the request
 * @data: the handler's, freed with the request
 *
 * The handler's, from @obj on:
 * @obj, @disk, @object: which object it is about
 * @pending, @err: things that it waits for, and the first error among them
 * @tries: how often something was begun that others can undo
 * @first, @count: blocks that must become quiet; @discarded: the cache has forgotten them once;
 *	@step: what comes next
 */
struct server_request {
	struct ddio_list link;
	struct client *client;
	struct reactor *reactor;
	struct ddio_msg msg;
	bool changes;
	uint64_t session;
	uint8_t *buf;
	size_t len, cap;
	struct iovec iov;
	struct ddio_send send;
	char *text;
	uint32_t status;
	void (*gone)(struct server_request *req);
	void *data;
	struct ddio_msg_obj obj;
	struct iop_disk *disk;
	struct object *object;
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
};

/* Returns the request after @prev (NULL: the first) of the connection that @req came by, or NULL. */
const struct server_request *server_request_next(const struct server_request *req,
						 const struct server_request *prev);
/* Gives the request @len bytes of buffer: 0 or -ENOMEM. */
int server_request_buf(struct server_request *req, size_t len);
/* Ends the request without a reply. */
void server_request_end(struct server_request *req);
/* Replies, and ends the request. */
void server_reply(struct server_request *req, const void *fixed, size_t len);
/* Replies, and does not end the request. */
void server_reply_early(struct server_request *req);
/* Replies with the request's buffer as bulk, and ends the request. */
void server_reply_data(struct server_request *req, const void *fixed, size_t len);
/* The same of a buffer whose CRC-32C is known: see ddio_conn_send_summed(). */
void server_reply_summed(struct server_request *req, const void *fixed, size_t len, uint32_t sum);
/* Replies with an error, and ends the request.  Texts need not name the node: the client knows it. */
void server_fail(struct server_request *req, uint32_t status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void server_fail_errno(struct server_request *req, int err, const char *what);
/* Ends a request whose record could not be decoded.  Returns what its handler must return. */
int server_fail_decode(struct server_request *req, int err, const char *what);
/* Ends a request that only the node with the name space can serve. */
void server_fail_names(struct server_request *req);
/* Returns true if the name space is not served until somebody accepts it as it is; then the request is over. */
bool server_names_refused(struct server_request *req);
#define SERVER_NAMES_OLD                                                                        \
	"the name space is older than what disk %s of node %s has seen: give back its younger " \
	"records, or accept these by 'ddio replace --names'"
#define SERVER_NAMES_DAMAGED                                                                        \
	"the name space is older than what it has answered: its journal is damaged behind change "  \
	"%llu, what is left of it is kept in journal.*.damaged; give back its younger records, or " \
	"accept these by 'ddio replace --names'"
/* Replies with the record @x of a codec, and ends the request. */
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

#endif /* DDIO_SERVER_REQUEST_H */
