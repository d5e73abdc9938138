// SPDX-License-Identifier: LGPL-2.1-or-later
/* Credentials between processes that meet at an address: of the connection's tie, and of the end that shows it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cp/node/whose.h"

enum { TIED_LEN = DDIO_PROOF_LEN + 1 };

static void tie_end(const struct ddio_conn *conn, enum whose_end end, uint8_t tied[TIED_LEN])
{
	memcpy(tied, ddio_conn_tie(conn), DDIO_PROOF_LEN);
	tied[DDIO_PROOF_LEN] = (uint8_t)end;
}

bool whose_matters(const struct ddio_conn *conn, bool by_addr)
{
	return by_addr && ddio_conn_features(conn) & DDIO_FEATURE_USERS;
}

int whose_say(const struct ddio_session *s, struct ddio_conn *conn, enum whose_end end,
	      char why[DDIO_MAX_TEXT])
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_USER };
	char cred[DDIO_MAX_CREDENTIAL];
	uint8_t buf[DDIO_MAX_CREDENTIAL + 8], tied[TIED_LEN];
	struct ddio_msg_user x = { .kind = DDIO_USER_MUNGE, .cred = cred };
	int err = -EACCES;

	snprintf(why, DDIO_MAX_TEXT, "nobody vouches for this process");
	tie_end(conn, end, tied);
	if (s->vouch)
		err = s->vouch(s, tied, sizeof(tied), cred, sizeof(cred), why, DDIO_MAX_TEXT);
	if (err)
		return -EACCES;
	x.len = (uint32_t)strlen(cred);
	err = ddio_conn_send(conn, &msg, buf, (size_t)ddio_put_user(buf, sizeof(buf), &x), NULL, 0,
			     NULL);
	if (err)
		snprintf(why, DDIO_MAX_TEXT, "%s", strerror(-err));
	return err;
}

int whose_take(const struct ddio_session *s, const struct ddio_conn *conn, enum whose_end end,
	       const void *payload, size_t len)
{
	char cred[DDIO_MAX_CREDENTIAL + 1];
	uint8_t tied[TIED_LEN];
	struct ddio_msg_user x;

	if (ddio_get_user(payload, len, &x) || x.len >= sizeof(cred))
		return -EPROTO;
	memcpy(cred, x.cred, x.len);
	cred[x.len] = 0;
	tie_end(conn, end, tied);
	return s->same_user && s->same_user(s, cred, tied, sizeof(tied)) ? 0 : -EACCES;
}
