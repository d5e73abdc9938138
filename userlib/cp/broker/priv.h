/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside of the broker: which of the two a session is, and what lanes are told (broker.c), at a member (member.c), at the broker its
 * guests (serve.c) and its connections to nodes (carrier.c).
 */
#ifndef CP_BROKER_PRIV_H
#define CP_BROKER_PRIV_H

#include "cp/broker/broker.h"
#include "mux/mux.h"

/*
 * NONE: lanes connect by themselves, as ever
 * JOINING: it finds out who the broker is; lanes wait
 * JOINED: lanes are streams of @mux
 * LEAVING: so are some, and no new ones
 * SERVES: this is the broker
 */
enum broker_state { BROKER_NONE, BROKER_JOINING, BROKER_JOINED, BROKER_LEAVING, BROKER_SERVES };

/**
 * struct broker - a session's part
 * @least: processes of a group that has one
 * @group: whose broker it is, or was: a group is tried once
 * @rank: of the broker in it, if it is known
 * @name: where the broker listens
 * @waiting: struct lane.waits
 * @begun: of JOINING; @again: another try, or in LEAVING another look
 * @conn, @mux, @alive: a member's connection to it
 * @listener, @guests, @carriers: SERVES
 */
struct broker {
	struct ddio_session *session;
	enum broker_state state;
	uint32_t least;
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint32_t rank;
	char name[64];
	struct ddio_list waiting;
	uint64_t begun;
	struct ddio_timer again;
	struct ddio_conn *conn;
	struct ddio_mux *mux;
	struct ddio_alive alive;
	struct ddio_listener *listener;
	struct ddio_list guests, carriers;
};

/* broker.c */
/* So long a member waits for a broker that does not listen yet, and then for one that does not answer. */
uint64_t broker_patience(const struct ddio_session *s);
/* Goes on with the lanes that wait for the broker. */
void broker_wake(struct broker *b);
/* One end of a connection asks whether the other is there, or says that it is. */
int broker_pinged(struct ddio_conn *conn, const struct ddio_msg *msg);
/* JOINING: the connection to it could not be made, or not be used. */
void broker_not_there(struct broker *b, int err);

/* member.c */
/* Connects to the broker: ends in broker_wake(). */
void member_join(struct broker *b);
/* Gives up the connection to the broker, and with it all that it carries. */
void member_fail(struct broker *b, int err, const char *why);
/* Returns true if something is owed on it. */
bool member_check(struct broker *b);

/* serve.c */
/* Return: 0, -EADDRINUSE if there is a broker, or another -errno. */
int serve_begin(struct broker *b);
void serve_end(struct broker *b);
/* Asks the guests to leave.  Returns true while there are any. */
bool serve_leave(struct broker *b);

/* carrier.c */
/* Joins a guest's stream with one to the reactor, now or when there is a connection, or ends it. */
void carrier_relay(struct broker *b, uint32_t node, uint32_t reactor, struct ddio_stream *stream);
/* As the session's dial(), for a lane of the broker's own. */
int carrier_dial(struct broker *b, struct lane *lane, struct ddio_stream **stream);
bool carriers_check(struct broker *b);
/* Returns true if bytes wait to go out to any node. */
bool carriers_queued(const struct broker *b);
void carriers_close(struct broker *b);

#endif /* CP_BROKER_PRIV_H */
