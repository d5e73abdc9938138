/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Nodes, and lanes to them: a lane is the connection to one reactor of one
 * node.  It is made when it is first needed, and made again when it is needed
 * after a failure.  Replies find their requests by tag; other messages go to
 * the users of lanes, by opcode.
 */
#ifndef DDIO_CP_LANE_H
#define DDIO_CP_LANE_H

#include "cp/node/session.h"

/**
 * struct cluster_node - one I/O processor
 * @identity: see identity.h
 * @known: WELCOME has said how many reactors there are and which disks they own
 * @boot: names the node's incarnation; @met: the last one whose disks the name space has met
 * @answered: the incarnation that last answered a request to all nodes
 * @lanes: @nlanes of them, never freed before the session; lanes[0] always exists
 * @waiting: requests for disks whose reactor is not known yet
 */
struct cluster_node {
	struct ddio_session *session;
	struct node_identity *identity;
	uint32_t index;
	bool known;
	uint32_t nreactors;
	uint64_t boot, met, answered;
	struct lane **lanes;
	uint32_t nlanes;
	struct ddio_list waiting;
};

/**
 * struct reply - the answer to a request
 * @status: DDIO_ST_OK, or what the node said, or why there was no answer
 * @payload, @len: of a success: the record, or the fixed record in front of bulk
 * @text: of an error: one line that names the node
 * @altered: of an error: what came in answer did not match its checksum
 */
struct reply {
	uint32_t status;
	const void *payload;
	size_t len;
	const char *text;
	bool altered;
};

enum request_state {
	REQUEST_IDLE,
	REQUEST_WAITING, /* for the node, or the lane */
	REQUEST_SENT,
	REQUEST_ENDING, /* answered or cancelled while its bulk is still being sent */
};

#define REQUEST_INLINE 80

/**
 * struct node_request - the caller owns the memory until @done
 * @tag: index in the lane's table of tags
 * @opcode: enum ddio_opcode
 * @fixed, @fixed_len: payload or fixed record
 * @iov, @n: bulk to be sent, or where the reply's bulk goes; the array stays the caller's
 * @bulk: bytes of @iov
 * @disk: number of the disk, of a request made by request_disk()
 * @end, @end_status: ENDING: the answer
 * @boot: the incarnation of the node that answered
 * @done: called once, from the loop, unless request_cancel() returned true
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
	struct error *end;
	uint32_t end_status;
	uint64_t boot;
	void (*done)(struct node_request *request, const struct reply *reply);
	void *arg;
	uint8_t inl[REQUEST_INLINE];
};

/**
 * struct lane_tag - an index that a tag can carry
 * @gen: counts its uses, so that no tag comes again soon
 * @busy: an answer is due, though @request may be NULL: cancelled
 * @since: time of its taking
 * @next: the next free one, UINT32_MAX at the end
 */
struct lane_tag {
	struct node_request *request;
	uint32_t gen;
	uint32_t next;
	bool busy;
	uint64_t since;
};

/* MEETING: connected, while the name space meets the node's disks. */
enum lane_state { LANE_DOWN, LANE_CONNECTING, LANE_MEETING, LANE_READY };

/**
 * struct lane - the connection to one reactor
 * @boot: the incarnation of the node that it is, or last was, connected to
 * @queued: requests that wait for it
 * @tags: @ntags of them, for the replies that are due; @free_tag begins the list of free ones
 * @owing: replies that are due
 * @asked: time of the last question for old requests; @ask_from: the tag with which the next one begins
 * @expecting: those who expect messages other than replies: struct dd_lane.expects
 * @mark: the last walk over lanes that visited it; see struct ddio_session
 * @bulk_request: its reply's bulk is being received
 * @wrong: what came and did not match its checksum, and the node was not told of yet; @telling: when it was last
 *	connected for that alone, or 0
 * @altered: while the lane fails for that: the request or operation that the data were for, or NULL
 * @shown: which grants the node remembers of this connection: file, and which of its grants
 * @user: what each user of lanes keeps here; see lane_state()
 * @begun: time of the first try to connect; @shed: how often the node has closed the connection since, before
 *	its WELCOME; @again: until the next try, meanwhile CONNECTING without @conn
 * @waits: in a list of those that wait for the broker, or for a connection of its; meanwhile CONNECTING without @conn
 * @vouching: somebody is asked to vouch for the user; meanwhile CONNECTING, and WELCOME has come
 * @carried: its connection is a stream of a broker; @direct: this time it is not to be
 */
struct lane {
	struct cluster_node *node;
	uint32_t reactor;
	enum lane_state state;
	struct ddio_conn *conn;
	uint64_t boot;
	struct ddio_list queued;
	struct lane_tag *tags;
	uint32_t ntags, free_tag;
	uint32_t owing;
	struct ddio_list expecting;
	uint64_t asked;
	uint32_t ask_from;
	uint64_t mark;
	struct ddio_alive alive;
	struct node_request *bulk_request;
	struct ddio_msg_wrong wrong;
	uint64_t telling;
	const void *altered;
	struct {
		uint64_t file, serial;
	} shown[DDIO_GRANT_PLACES];
	void *user[LANE_USERS];
	uint64_t begun;
	uint32_t shed;
	struct ddio_timer again;
	struct ddio_list waits;
	struct vouching *vouching;
	bool carried, direct;
};

/**
 * struct lane_handler - what handles one kind of message that is no reply
 * @bulk: names the sink; NULL for messages without bulk
 * @message: @payload and @len are the payload, or the fixed record in front of bulk
 *
 * A negative return closes the connection.
 */
struct lane_handler {
	uint16_t opcode;
	int (*bulk)(struct lane *lane, const void *prefix, size_t prefix_len, uint64_t bulk_len,
		    struct ddio_sink *sink);
	int (*message)(struct lane *lane, const void *payload, size_t len);
};

/**
 * struct lane_user - what is built upon lanes; each callback may be NULL
 * @handlers: opcode 0 at the end; NULL for none
 * @ready: the lane is connected
 * @drained: the lane can take more
 * @receiving: names the place of the data that are being received; returns what they are for, or NULL
 * @losing: the connection, made or being made, is about to be closed
 * @lost: the connection is gone, and all requests on it have ended
 * @free: the lane is being freed
 */
struct lane_user {
	const struct lane_handler *handlers;
	void (*ready)(struct lane *lane);
	void (*drained)(struct lane *lane);
	const void *(*receiving)(struct lane *lane, struct ddio_msg_wrong *place);
	void (*losing)(struct lane *lane);
	void (*lost)(struct lane *lane, const struct error *error);
	void (*free)(void *state);
};

/* Returns where @user keeps its pointer to its own state of the lane; NULL at first. */
void **lane_state(struct lane *lane, const struct lane_user *user);

/* Name and address of the lane's node, for "%s (%s)". */
#define LANE_NAMES(lane)                                              \
	(lane)->node->session->conf->nodes[(lane)->node->index].name, \
		(lane)->node->session->conf->nodes[(lane)->node->index].address

/*
 * node.c: a process of a large system uses few of its nodes, so each is made at its first use
 */

/* Returns the node, with the lane to its reactor 0; NULL without memory. */
struct cluster_node *node_get(struct ddio_session *session, uint32_t index);
/* Returns the node to look at: of one that was not used yet, nothing is known. */
const struct cluster_node *node_look(const struct ddio_session *session, uint32_t index);
/* Returns the disk, or NULL without memory. */
struct cluster_disk *disk_get(struct ddio_session *session, uint32_t disk);
/* Returns the disk to look at: before its node has told of it, nothing is known. */
const struct cluster_disk *disk_look(const struct ddio_session *session, uint32_t disk);
/* Returns the disk's node to look at. */
const struct cluster_node *disk_node_look(const struct ddio_session *session, uint32_t disk);
/* Returns true if the walk over nodes has not visited this one yet, and notes that it has. */
bool node_visit(struct ddio_session *session, uint32_t index, uint64_t mark);
/* Returns the lane to reactor 0 of the name server's node, which always exists. */
struct lane *names_lane(const struct ddio_session *session);
void node_free(struct cluster_node *node);

/*
 * nodes.c
 */

/* @users: NULL at the end.  Return: 0 or -ENOMEM. */
int nodes_init(struct ddio_session *session, const struct lane_user *const *users);
/* Adds a user, which finds @owner in the session; before any lane connects. */
void lane_user_add(struct ddio_session *session, const struct lane_user *user, void *owner);
void nodes_close(struct ddio_session *session);
void nodes_free(struct ddio_session *session);
/* The watchdog's part: gives up silent lanes.  Returns true if something is owed. */
bool nodes_check(struct ddio_session *session);

/*
 * node.c
 */

/* Takes what a WELCOME says.  Return: 0, or -errno and @error: the lane is not to be used. */
int node_learn(struct lane *lane, const struct ddio_msg_welcome *welcome, struct error *error);
/* Forgets what lane 0's loss makes doubtful; ends the requests that wait for the node. */
void node_forget(struct cluster_node *node, const struct error *error);
/* Notes that the lane's reactor ended in order: what its disks, or the name space, were given is durable. */
void lane_ended(struct lane *lane);
/* Returns true if what the disk was given in incarnation @boot of its node is known to be durable. */
bool disk_kept(const struct ddio_session *s, uint32_t disk, uint64_t boot);
bool names_kept(const struct ddio_session *s, uint64_t boot);
/*
 * Of two incarnations that were given something, the one that a sync must meet, 0: none: the @earlier one, unless it is known that
 * what it was given is durable.
 */
uint64_t disk_due(const struct ddio_session *s, uint32_t disk, uint64_t earlier, uint64_t later);
uint64_t names_due(const struct ddio_session *s, uint64_t earlier, uint64_t later);

/*
 * lane.c
 */

int lane_new(struct cluster_node *node, uint32_t reactor, struct lane **lane);
void lane_free(struct lane *lane);
/* Connects the lane unless it is connected or connecting.  Return: 0 or -errno with @error. */
int lane_up(struct lane *lane, struct error *error);
/* Goes on with a lane that had to wait for the broker. */
void lane_dialed(struct lane *lane);
/* Serves requests on a lane that is connected. */
void lane_begin(struct lane *lane);
/* Closes the connection; ends everything that is owed on it with @error. */
void lane_fail(struct lane *lane, const struct error *error);
/**
 * lane_send - send a message that is no request
 * Return: 0, -ENOTCONN, -ENOMEM.
 */
int lane_send(struct lane *lane, uint16_t opcode, uint64_t tag, const void *fixed, size_t fixed_len,
	      const struct iovec *iov, int n, struct ddio_send *send);

/*
 * shed.c: a node with too many connections that have not proved the key closes the oldest of them
 */

/*
 * Gives up a connection that was closed with @err and arms @again for another try, unless the node did not
 * shed it or has done so too often.  Returns true if there will be one.
 */
bool shed_retry(struct lane *lane, int err);
void shed_cancel(struct lane *lane);

/*
 * request.c
 */

void request_init(struct node_request *request, uint16_t opcode,
		  void (*done)(struct node_request *request, const struct reply *reply), void *arg);
/* Returns room for a payload of @len bytes, freed with the request; NULL without memory. */
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

/**
 * request_cancel - end a request whose answer is not wanted any more
 *
 * An answer that still comes is discarded.  Return: true if the request is over and done() will
 * not be called; false if its bulk is still being sent: done() comes when it has been.
 */
bool request_cancel(struct node_request *request);
/* Returns true if the node may act on the request: at least part of it was sent. */
bool request_left(const struct node_request *request);
/* Makes an error of a failed request: "what: text", or the text alone if it names that in quotes. */
void reply_error(struct error *error, const struct reply *reply, const char *what);
/* The same of a reply of the name server that cannot be decoded. */
void reply_malformed(struct error *error, int err, const char *what);

/*
 * route.c: sending.  Never fails: a request that cannot be sent ends in done() with an error,
 * maybe before the call returns.
 */

extern const struct lane_user route_lane_user;

/* @reactor: below the node's nreactors, or 0.  NULL without memory. */
struct lane *node_lane(struct cluster_node *node, uint32_t reactor);
void request_lane(struct lane *lane, struct node_request *request);
/* To reactor 0 of the node. */
void request_node(struct ddio_session *session, uint32_t node, struct node_request *request);
/* To the name server. */
void request_names(struct ddio_session *session, struct node_request *request);
/* To the reactor that owns the disk. */
void request_disk(struct ddio_session *session, uint32_t disk, struct node_request *request);

#endif /* DDIO_CP_LANE_H */
