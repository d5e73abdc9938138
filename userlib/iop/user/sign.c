// SPDX-License-Identifier: LGPL-2.1-or-later
/* What daemons sign, by the key that they alone share. */
#include <string.h>
#include "iop/user/user.h"
#include "proto/cursor.h"

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

	if (!ddio_conn_users(conn) || !server_sign(key, ddio_conn_tie(conn), mac))
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

/* All but the flags that a client may set.  @names, @change: see disk_met_seal(), or 0. */
static bool disk_mac(const struct ddio_key *key, const char label[LABEL],
		     const struct ddio_disk_id *id, uint64_t names, uint64_t change,
		     uint8_t mac[DDIO_MAC_LEN])
{
	uint8_t text[LABEL + 128 + 8 * DDIO_LIVES];
	struct ddio_wr w = ddio_wr_begin(text, sizeof(text));
	ssize_t len;
	uint32_t i;

	ddio_wr_bytes(&w, label, LABEL);
	ddio_wr_u32(&w, id->disk);
	ddio_wr_u32(&w, id->flags & DDIO_DISK_FORGETS);
	ddio_wr_bytes(&w, id->uuid, sizeof(id->uuid));
	ddio_wr_u64(&w, id->life);
	ddio_wr_u32(&w, id->n);
	for (i = 0; i < id->n; i++)
		ddio_wr_u64(&w, id->before[i]);
	ddio_wr_u64(&w, id->names);
	ddio_wr_u64(&w, id->change);
	ddio_wr_u64(&w, id->lost);
	ddio_wr_u64(&w, names);
	ddio_wr_u64(&w, change);
	len = ddio_wr_end(&w);
	return key->len && len > 0 && ddio_key_mac(key, text, (size_t)len, mac);
}

static const char of_node[LABEL] = "ddio disk      1", of_names[LABEL] = "ddio met       1";

static void seal(const struct ddio_key *key, const char label[LABEL], struct ddio_disk_id *id,
		 uint64_t names, uint64_t change)
{
	if (!disk_mac(key, label, id, names, change, id->seal))
		memset(id->seal, 0, sizeof(id->seal));
}

static bool genuine(const struct ddio_key *key, const char label[LABEL],
		    const struct ddio_disk_id *id, uint64_t names, uint64_t change)
{
	uint8_t mac[DDIO_MAC_LEN];

	return disk_mac(key, label, id, names, change, mac) && ddio_mac_same(mac, id->seal);
}

void disk_seal(const struct ddio_key *key, struct ddio_disk_id *id)
{
	seal(key, of_node, id, 0, 0);
}

bool disk_genuine(const struct ddio_key *key, const struct ddio_disk_id *id)
{
	return genuine(key, of_node, id, 0, 0);
}

void disk_met_seal(const struct ddio_key *key, struct ddio_disk_id *id, uint64_t names,
		   uint64_t change)
{
	seal(key, of_names, id, names, change);
}

bool disk_met_genuine(const struct ddio_key *key, const struct ddio_disk_id *id, uint64_t names,
		      uint64_t change)
{
	return genuine(key, of_names, id, names, change);
}
