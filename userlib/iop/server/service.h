/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a room above the server hands to it at start: the messages that it handles, and what it wants to
 * be told.
 */
#ifndef DDIO_SERVER_SERVICE_H
#define DDIO_SERVER_SERVICE_H

#include "iop/server/request.h"

/**
 * struct server_op - how one opcode is handled
 * @role: of the connections that may use it: this, or a higher one
 * @access: who may use it, if connections have users
 * @names: only where the name space is served
 * @stopping: handled even while the node is stopping
 * @changes: what is stored may change after the message was handled
 * @serve: for requests: replies once, at once or later
 * @serve_bulk: for requests with bulk: where the bulk goes; @prefix is what came before it
 * @message, @message_bulk: the same for messages that are not served as requests
 * @large: one of more than DDIO_MAX_SMALL bytes is announced, and will be received if this is 0
 *
 * All return 0, or -errno if the connection must be closed.
 */
struct server_op {
	uint16_t opcode;
	enum ddio_role role;
	enum iop_access access;
	bool names;
	bool stopping;
	bool changes;
	int (*serve)(struct server_request *req, const void *payload);
	int (*serve_bulk)(struct server_request *req, const void *prefix, size_t prefix_len,
			  struct ddio_sink *sink);
	int (*message)(struct client *client, const struct ddio_msg *msg, const void *payload);
	int (*message_bulk)(struct client *client, const struct ddio_msg *msg, const void *prefix,
			    size_t prefix_len, struct ddio_sink *sink);
	int (*large)(struct client *client);
};

/**
 * struct server_service - a room above the server
 * @ops, @nops: the messages that it handles
 * @node_start: disks and name space are open, nobody is listening yet
 * @reactor_init: a reactor is made
 * @reactor_stop: a reactor stops: what runs on it must end soon
 * @reactor_idle: returns true if nothing runs on the reactor
 * @reactor_exit: nothing runs on the reactor and its clients are gone
 * @disk_close: a disk is about to be closed; no loop uses it any more
 * @client_gone: a connection ends, whoever ended it; its requests still belong to it
 * @client_drained: the output queue of a client that is being served has drained
 *
 * Each function may be NULL.
 */
struct server_service {
	const struct server_op *ops;
	size_t nops;
	void (*node_start)(struct ddio_iop *iop);
	void (*reactor_init)(struct reactor *reactor);
	void (*reactor_stop)(struct reactor *reactor);
	bool (*reactor_idle)(const struct reactor *reactor);
	void (*reactor_exit)(struct reactor *reactor);
	void (*disk_close)(struct iop_disk *disk);
	void (*client_gone)(struct client *client);
	void (*client_drained)(struct client *client);
};

#endif /* DDIO_SERVER_SERVICE_H */
