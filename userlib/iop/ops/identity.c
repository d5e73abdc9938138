// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Handlers of FS_DISKS, by which the name space meets a node's disks, and of DISKS_KNOWN, by which the node hears
 * of it.  A client carries what the two say to each other.  Where users are told apart it is sealed, and nothing else that a user's client
 * says counts: a disk that somebody has described wrongly would be refused from then on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "env/lines.h"
#include "iop/ops/fs.h"
#include "iop/ops/handlers.h"
#include "iop/ops/user/users.h"

/*
 * FS_DISKS
 */
static const char *const meetings[] = {
	[NS_DISK_OTHER] =
		"disk %s of node %s is not the one that the name space knows: give back that disk "
		"and its records, or accept this one by 'ddio replace %s'",
	[NS_DISK_PAST] =
		"disk %s of node %s and its records were put back from a backup: give back the "
		"younger ones, or accept these by 'ddio replace %s'",
	[NS_NAMES_PAST] = SERVER_NAMES_OLD,
};

static void meeting_refused(struct server_request *req, const struct ddio_msg_disk_ids *x,
			    enum ns_meeting met, uint32_t which)
{
	const struct ddio_conf *conf = req->reactor->iop->conf;
	const struct ddio_conf_disk *disk = &conf->disks[x->ids[which].disk];
	char text[DDIO_MAX_TEXT];

	snprintf(text, sizeof(text), meetings[met], disk->name, conf->nodes[disk->node].name,
		 disk->name);
	ddio_env_log_caused(req->reactor->env, DDIO_LOG_WARN, "%s", text);
	server_fail(req, DDIO_ST_IO, "%s", text);
}

static bool disks_exist(const struct ddio_iop *iop, const struct ddio_msg_disk_ids *x)
{
	uint32_t i;

	for (i = 0; i < x->n; i++)
		if (x->ids[i].disk >= iop->conf->ndisks)
			return false;
	return true;
}

/* To accept disks, or the name space, as they are is an administrator's decision. */
static bool accepts(const struct ddio_msg_disk_ids *x)
{
	uint32_t flags = 0, i;

	for (i = 0; i < x->n; i++)
		flags |= x->ids[i].flags;
	return x->flags & DDIO_DISKS_NAMES || flags & DDIO_DISK_REPLACE;
}

typedef bool (*seal_check)(const struct ddio_key *key, const struct ddio_disk_id *id,
			   uint64_t names, uint64_t change);

static bool said_by_node(const struct ddio_key *key, const struct ddio_disk_id *id, uint64_t names,
			 uint64_t change)
{
	(void)names;
	(void)change;
	return disk_genuine(key, id);
}

/* Returns true if the sender is a user, and something does not bear the seal of whoever is to have said it; then the request is over. */
static bool unsealed(struct server_request *req, const struct ddio_msg_disk_ids *x,
		     seal_check genuine, const char *whose)
{
	const struct ddio_iop *iop = req->reactor->iop;
	uint32_t i;

	if (!user_of(req))
		return false;
	for (i = 0; i < x->n; i++)
		if (!genuine(&iop->servers_key, &x->ids[i], x->names, x->change)) {
			server_fail(req, DDIO_ST_PERMISSION,
				    "what is said of disk %s does not bear the seal of %s",
				    iop->conf->disks[x->ids[i].disk].name, whose);
			return true;
		}
	return false;
}

static void met_reply(struct server_request *req, struct ddio_msg_disk_ids *x)
{
	const struct ddio_iop *iop = req->reactor->iop;
	uint32_t i;

	x->flags = 0;
	for (i = 0; i < x->n && iop->users; i++)
		disk_met_seal(&iop->servers_key, &x->ids[i], x->names, x->change);
	FS_REPLY(req, disk_ids, x, true);
}

static void serve_meeting(struct server_request *req, struct ddio_msg_disk_ids *x)
{
	enum ns_meeting met;
	uint32_t which = 0;
	uint64_t at;
	int err;

	if (!(x->flags & DDIO_DISKS_NAMES) && ns_refusal(fs_ns(req), &at) == NAMES_DAMAGED) {
		server_names_refused(req);
		return;
	}
	err = accepts(x) && user_of(req) ? -EACCES : ns_meet(fs_ns(req), x, &met, &which);

	if (err)
		server_fail_errno(req, err, "meeting disks");
	else if (met != NS_DISK_SAME)
		meeting_refused(req, x, met, which);
	else
		met_reply(req, x);
}

int serve_fs_disks(struct server_request *req, const void *payload)
{
	struct ddio_msg_disk_ids x;

	FS_DECODE(req, payload, disk_ids, &x, "disks");
	if (!disks_exist(req->reactor->iop, &x))
		server_fail(
			req, DDIO_ST_INVALID,
			"a disk is not in the name server's configuration: give all nodes the same one");
	else if (!unsealed(req, &x, said_by_node, "its node"))
		serve_meeting(req, &x);
	ddio_msg_disk_ids_free(&x);
	return 0;
}

/*
 * DISKS_KNOWN
 */

/**
 * struct known_part - one disk's part of the request
 * @there, @back: to the disk's reactor and back to reactor 0
 */
struct known_part {
	struct server_request *req;
	struct ddio_disk_id id;
	struct iop_disk *disk;
	struct ddio_post there, back;
	struct commit commit;
	int err;
};

/**
 * struct known_ask - the request
 * @names: the life of the name space that knows the disks; @change: its last change
 */
struct known_ask {
	uint64_t names, change;
	uint32_t n;
	struct known_part parts[];
};

/* What the client says of them to the name space's next life is again the node's word. */
static void known_reply(struct server_request *req)
{
	const struct known_ask *ask = req->data;
	struct ddio_iop *iop = req->reactor->iop;
	struct ddio_msg_disk_ids x = { .n = ask->n };
	uint32_t i;

	x.names = iop->ns ? ns_life(iop->ns) : 0;
	x.ids = calloc(x.n, sizeof(*x.ids));
	if (!x.ids) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for the disks");
		return;
	}
	for (i = 0; i < x.n; i++) {
		x.ids[i] = *iop_disk_id(iop, ask->parts[i].id.disk);
		if (iop->users)
			disk_seal(&iop->servers_key, &x.ids[i]);
	}
	SERVER_REPLY(req, disk_ids, &x);
	ddio_msg_disk_ids_free(&x);
}

static void known_back(void *arg)
{
	struct known_part *part = arg;
	struct server_request *req = part->req;
	struct ddio_disk_id *id = iop_disk_id(req->reactor->iop, part->id.disk);

	if (part->err)
		req->err = part->err;
	else
		*id = part->id;
	if (--req->pending)
		return;
	if (req->err)
		server_fail_errno(req, req->err, "noting that the name space knows the disks");
	else
		known_reply(req);
}

static void known_end(struct known_part *part, int err)
{
	part->err = err;
	if (!err)
		store_identity(part->disk->store, &part->id);
	ddio_env_post(part->req->reactor->env, &part->back);
}

static void known_committed(struct commit *commit, int err)
{
	known_end(commit->arg, err);
}

/* Runs on the disk's reactor. */
static void known_there(void *arg)
{
	struct known_part *part = arg;
	const struct known_ask *ask = part->req->data;
	int err = part->disk->reactor->stopping ? -ESHUTDOWN : 0;

	if (!err)
		err = store_known(part->disk->store, ask->names, ask->change, part->id.lost);
	if (err) {
		known_end(part, err);
		return;
	}
	part->commit.done = known_committed;
	part->commit.arg = part;
	store_commit(part->disk->store, &part->commit);
}

/*
 * A message may be late, and the disk have met a later life of the name space.  Who brings an older one must have seen
 * what the disk last knew: then the name space was put back from a backup, and that was accepted.
 */
static bool known_late(const struct ddio_disk_id *mine, const struct ddio_disk_id *id,
		       uint64_t names)
{
	return names != mine->names && id->names != mine->names &&
	       names >> DDIO_LIFE_RANDOM <= mine->names >> DDIO_LIFE_RANDOM;
}

/* The disk that is meant, in the life that is meant; else NULL. */
static struct iop_disk *known_disk(const struct ddio_iop *iop, const struct ddio_disk_id *id,
				   uint64_t names)
{
	const struct ddio_disk_id *mine = iop_disk_id(iop, id->disk);

	if (!mine || memcmp(mine->uuid, id->uuid, sizeof(id->uuid)) || mine->life != id->life ||
	    known_late(mine, id, names))
		return NULL;
	return reactor_disk(&iop->reactors[iop_disk_reactor(iop, id->disk)], id->disk);
}

static bool known_parts(struct server_request *req, const struct ddio_msg_disk_ids *x)
{
	struct known_ask *ask = req->data;
	uint32_t i;

	for (i = 0; i < x->n; i++) {
		struct known_part *part = &ask->parts[i];

		part->req = req;
		part->id = x->ids[i];
		part->disk = known_disk(req->reactor->iop, &part->id, x->names);
		part->there = (struct ddio_post){ .fn = known_there, .arg = part };
		part->back = (struct ddio_post){ .fn = known_back, .arg = part };
		if (!part->disk)
			return false;
	}
	return true;
}

int serve_disks_known(struct server_request *req, const void *payload)
{
	struct known_ask *ask;
	struct ddio_msg_disk_ids x;
	uint32_t i;

	FS_DECODE(req, payload, disk_ids, &x, "disks");
	ask = calloc(1, sizeof(*ask) + x.n * sizeof(ask->parts[0]));
	req->data = ask;
	if (!ask) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for the disks");
	} else if (req->reactor->index || !x.n || !known_parts(req, &x)) {
		server_fail(
			req, DDIO_ST_STALE,
			"the disks are not those of this node and reactor, or it was restarted");
	} else if (!unsealed(req, &x, disk_met_genuine, "the name space")) {
		ask->names = x.names;
		ask->change = x.change;
		ask->n = x.n;
		req->pending = x.n;
		for (i = 0; i < x.n; i++)
			ddio_env_post(ask->parts[i].disk->reactor->env, &ask->parts[i].there);
	}
	ddio_msg_disk_ids_free(&x);
	return 0;
}
