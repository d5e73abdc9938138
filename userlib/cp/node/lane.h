/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Nodes, and lanes to them: a lane is the connection to one reactor of one
 * node.  It is made when it is first needed and again when it is next needed
 * after a failure.  Requests are matched with their replies by tag.
 */
#ifndef DDIO_CP_LANE_H
#define DDIO_CP_LANE_H

#include "cp/node/session.h"

struct lane;

/**
 * struct cluster_node - one I/O processor
 * @known: WELCOME has said how many reactors there are and which disks they own
 * @boot: differs after every start of the daemon
 * @answered: the life that has answered those who ask all nodes
 * @lanes: @nlanes of them, never freed before the session; lanes[0] always exists
 * @waiting: requests for disks whose reactor is not known yet
 */
struct cluster_node {
	struct ddio_session *session;
	uint32_t index;
	bool known;
	uint32_t nreactors;
	uint64_t boot, answered;
	struct lane **lanes;
	uint32_t nlanes;
	struct ddio_list waiting;
};

/**
 * struct reply - the answer to a request
 * @status: DDIO_ST_OK, or what the node said, or why there was no answer
 * @payload, @len: of a success: the record, or the fixed record in front of bulk
 * @text: of an error, naming the node
 */
struct reply {
	uint32_t status;
	const void *payload;
	size_t len;
	const char *text;
};

enum request_state {
	DDIO_REQUEST_IDLE,
	DDIO_REQUEST_WAITING, /* for the node, or the lane */
	DDIO_REQUEST_SENT,
	DDIO_REQUEST_ENDING, /* answered or cancelled, but its bulk is not on its way yet */
};

#define DDIO_REQUEST_INLINE 80

/**
 * struct node_request - the caller owns the memory until @done
 * @opcode: enum ddio_opcode
 * @fixed, @fixed_len: payload or fixed record
 * @iov, @n: bulk to be sent, or where the reply's bulk goes; the array stays the caller's
 * @bulk: bytes of @iov
 * @disk: request_disk(): number of the disk
 * @boot: of an answer: the life of the node that has given it
 * @done: called once, from the loop, unless request_cancel() said that it would not be
 */
struct node_request {
	struct ddio_list link;
	struct lane *lane;
	enum request_state state;
	uint32_t tag;
	uint16_t opcode;
	bool in, sending;
	const void *fixed;
	void *fixed_alloc;
	size_t fixed_len;
	struct iovec *iov;
	int n;
	uint64_t bulk;
	uint32_t disk;
	struct ddio_send send;
	struct error *end; /* ENDING: the answer */
	uint32_t end_status;
	uint64_t boot;
	void (*done)(struct node_request *request, const struct reply *reply);
	void *arg;
	uint8_t inl[DDIO_REQUEST_INLINE];
};

/**
 * struct lane_tag - one number of a lane that a tag can carry
 * @gen: counts its uses, so that no tag comes again soon
 * @busy: an answer is due, though @request may be NULL: cancelled
 * @next: free tags, UINT32_MAX ends the list
 */
struct lane_tag {
	struct node_request *request;
	uint32_t gen;
	uint32_t next;
	bool busy;
};

enum lane_state { DDIO_LANE_DOWN, DDIO_LANE_CONNECTING, DDIO_LANE_READY };

/**
 * struct lane - the connection to one reactor
 * @boot: the life of the node that it is, or was, connected to
 * @queued: requests that wait for it
 * @attaches: struct attach.lane_link: groups that this lane serves
 * @owing: answers that are due
 * @colls: running collectives that this reactor takes part in
 * @mark: the last walk over lanes that came by; see struct ddio_session
 * @messages: sent and received on connections that are gone
 * @bulk_request: its reply's bulk is under way
 * @bulk_op: the collective whose data are under way; NULL if they are discarded
 * @bulk_block, @bulk_direct, @bulk_len: of these
 * @sink: for one of them
 * @scratch, @scratch_cap: where data wait to be unpacked
 * @wants: blocks that were asked for and not sent yet; see dd.c
 */
struct lane {
	struct cluster_node *node;
	uint32_t reactor;
	enum lane_state state;
	struct ddio_conn *conn;
	uint64_t boot;
	struct ddio_list queued;
	struct ddio_list attaches;
	struct lane_tag *tags;
	uint32_t ntags, free_tag;
	uint32_t owing, colls;
	uint64_t mark;
	struct alive alive;
	uint64_t messages;
	struct node_request *bulk_request;
	struct ddio_op *bulk_op;
	uint64_t bulk_block, bulk_len;
	bool bulk_direct;
	struct iovec sink;
	uint8_t *scratch;
	size_t scratch_cap;
	struct ddio_list wants;
};

/* Its node's, for "%s (%s)" in a text. */
#define DDIO_LANE_NAMES(lane)                                         \
	(lane)->node->session->conf->nodes[(lane)->node->index].name, \
		(lane)->node->session->conf->nodes[(lane)->node->index].address

int nodes_init(struct ddio_session *session);
void nodes_close(struct ddio_session *session);
void nodes_free(struct ddio_session *session);
/* The watchdog's part.  Return: true if something is owed. */
bool nodes_check(struct ddio_session *session);

/* NULL without memory.  @reactor: below the node's nreactors, or 0. */
struct lane *node_lane(struct cluster_node *node, uint32_t reactor);
int lane_new(struct cluster_node *node, uint32_t reactor, struct lane **lane);
void lane_free(struct lane *lane);
/* node.c: a WELCOME has come.  Return: 0, or -errno with the text: the lane is not to be used. */
int node_learn(struct lane *lane, const struct ddio_msg_welcome *welcome, struct error *error);
/* The reactor has stopped, and what it was given is durable. */
void lane_ended(struct lane *lane);
/* What the disk was given in that life of its node is durable, since the life was ended in order. */
bool disk_kept(const struct ddio_session *s, uint32_t disk, uint64_t boot);
/* node.c: lane 0 is no more: what was learnt may be stale, and who waits for it waits in vain. */
void node_forget(struct cluster_node *node, const struct error *error);

/* The lane is no good: closes the connection, ends all that it owes with @error. */
void lane_fail(struct lane *lane, const struct error *error);

void request_init(struct node_request *request, uint16_t opcode,
		  void (*done)(struct node_request *request, const struct reply *reply), void *arg);
/* Room for the payload, which ends with the request.  NULL: no memory. */
void *request_room(struct node_request *request, size_t len);
/* Encodes @x as the payload: 0, -ENOMEM, -EMSGSIZE. */
#define request_put(request, codec, x)                                                 \
	({                                                                             \
		ssize_t len_ = ddio_put_##codec(NULL, 0, (x));                         \
		void *room_ = len_ < 0 ? NULL : request_room((request), (size_t)len_); \
		if (room_)                                                             \
			ddio_put_##codec(room_, (size_t)len_, (x));                    \
		len_ < 0 ? (int)len_ : room_ ? 0 : -ENOMEM;                            \
	})

/*
 * Send it.  Never fails: what goes wrong is told to done(), though maybe inside the call.
 */
void request_lane(struct lane *lane, struct node_request *request);
void request_node(struct cluster_node *node, struct node_request *request); /* reactor 0 */
void request_names(struct ddio_session *session, struct node_request *request);
void request_disk(struct ddio_session *session, uint32_t disk, struct node_request *request);

/**
 * request_cancel - forget it
 *
 * What comes for it is discarded.  Return: true if it is over and done() will not be called;
 * false if its bulk is still being sent: done() comes when that has ended.
 */
bool request_cancel(struct node_request *request);
/* Has it left, or begun to, so that the node may act on it? */
bool request_left(const struct node_request *request);
/* A failed request as an error: "what: text". */
void reply_error(struct error *error, const struct reply *reply, const char *what);

/**
 * lane_send - a message that is no request
 * Return: 0, -ENOTCONN, -ENOMEM.
 */
int lane_send(struct lane *lane, uint16_t opcode, uint64_t tag, const void *fixed, size_t fixed_len,
	      const struct iovec *iov, int n, struct ddio_send *send);
/* At least @len bytes, the lane's own; NULL without memory. */
void *lane_scratch(struct lane *lane, size_t len);
uint64_t lane_messages(const struct lane *lane);

#endif /* DDIO_CP_LANE_H */
