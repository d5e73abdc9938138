// SPDX-License-Identifier: LGPL-2.1-or-later
/* What daemons sign, by the key that they alone share. */
#include <string.h>
#include "iop/user/user.h"

/* Nothing that is signed for one purpose is of the length of what is signed for another, or begins as it does. */
#define LABEL 16

bool server_sign(const struct ddio_key *key, const uint8_t tie[DDIO_PROOF_LEN],
		 uint8_t mac[DDIO_MAC_LEN])
{
	uint8_t text[LABEL + DDIO_PROOF_LEN] = "ddio server    1";

	memcpy(text + LABEL, tie, DDIO_PROOF_LEN);
	return key->len && ddio_key_mac(key, text, sizeof(text), mac);
}

void server_show(const struct ddio_key *key, struct ddio_conn *conn)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_USER };
	struct ddio_msg_user x = { .kind = DDIO_USER_SERVER, .len = DDIO_MAC_LEN };
	uint8_t buf[64], mac[DDIO_MAC_LEN];
	ssize_t len;

	if (!(ddio_conn_features(conn) & DDIO_FEATURE_USERS) ||
	    !server_sign(key, ddio_conn_tie(conn), mac))
		return;
	x.cred = mac;
	len = ddio_put_user(buf, sizeof(buf), &x);
	if (len > 0)
		ddio_conn_send(conn, &msg, buf, (size_t)len, NULL, 0, NULL);
}

static bool grant_mac(const struct ddio_key *key, const struct ddio_msg_grant *grant,
		      uint8_t mac[DDIO_MAC_LEN])
{
	uint8_t text[LABEL + DDIO_GRANT_LEN] = "ddio grant     1";

	return key->len && ddio_put_grant(text + LABEL, DDIO_GRANT_LEN, grant) == DDIO_GRANT_LEN &&
	       ddio_key_mac(key, text, LABEL + DDIO_GRANT_SIGNED, mac);
}

bool grant_sign(const struct ddio_key *key, struct ddio_msg_grant *grant)
{
	return grant_mac(key, grant, grant->mac);
}

bool grant_genuine(const struct ddio_key *key, const struct ddio_msg_grant *grant)
{
	uint8_t mac[DDIO_MAC_LEN];

	return grant_mac(key, grant, mac) && ddio_mac_same(mac, grant->mac);
}
