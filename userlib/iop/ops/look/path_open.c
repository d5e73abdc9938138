// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which files connections of libddio may write to; see path_open.h. */
#include <stdlib.h>
#include <string.h>
#include "iop/ops/look/path_open.h"

/* A connection that knows more files counts for all files; and if more are cut, all count as cut. */
enum { OPENS_MOST = 4096, CUTS_MOST = 16384 };

/**
 * struct path_open - a file that a connection may write to
 * @node: in iop->path_opens, by @ino; @link: in client->path_opens
 */
struct path_open {
	struct ddio_hash_node node;
	struct ddio_list link;
	struct client *client;
	uint64_t ino;
};

static bool is_known(const struct client *client, uint64_t ino)
{
	struct path_open *open;

	if (client->paths_all)
		return true;
	ddio_hash_for_each_match(open, &client->reactor->iop->path_opens, ino, node)
		if (open->ino == ino && open->client == client)
			return true;
	return false;
}

void path_opened(const struct server_request *req, uint64_t ino)
{
	struct client *client = req->client;
	struct path_open *open;

	if (!client || client->mount || is_known(client, ino))
		return;
	open = client->paths < OPENS_MOST ? malloc(sizeof(*open)) : NULL;
	if (!open) {
		client->paths_all = true;
		client->reactor->iop->paths_all++;
		return;
	}
	*open = (struct path_open){ .client = client, .ino = ino };
	client->paths++;
	ddio_hash_add(&client->reactor->iop->path_opens, &open->node, ino);
	ddio_list_add(&open->link, &client->path_opens);
}

bool path_is_open(const struct ddio_iop *iop, uint64_t ino)
{
	return iop->paths_all || ddio_hash_find(&iop->path_opens, ino);
}

void path_cut(struct ddio_iop *iop, uint64_t ino)
{
	struct ddio_hash_node *node = ddio_hash_find(&iop->path_cuts, ino);

	if (node)
		return;
	node = iop->path_cuts.n < CUTS_MOST ? malloc(sizeof(*node)) : NULL;
	if (node)
		ddio_hash_add(&iop->path_cuts, node, ino);
	else
		iop->cuts_all = true;
}

bool path_was_cut(const struct server_request *req, uint64_t ino)
{
	const struct ddio_iop *iop = req->reactor->iop;

	return (iop->cuts_all || ddio_hash_find(&iop->path_cuts, ino)) &&
	       !is_known(req->client, ino);
}

void path_client_gone(struct client *client)
{
	struct path_open *open, *tmp;

	ddio_list_for_each_entry_safe(open, tmp, &client->path_opens, link) {
		ddio_hash_del(&client->reactor->iop->path_opens, &open->node);
		ddio_list_del(&open->link);
		free(open);
	}
	if (client->paths_all)
		client->reactor->iop->paths_all--;
	client->paths_all = false;
}

void path_cuts_free(struct ddio_iop *iop)
{
	struct ddio_hash_walk walk;
	struct ddio_hash_node *node;

	for (node = ddio_hash_first(&iop->path_cuts, &walk); node;
	     node = ddio_hash_next(&iop->path_cuts, &walk))
		free(node);
	ddio_hash_fini(&iop->path_cuts);
	memset(&iop->path_cuts, 0, sizeof(iop->path_cuts));
}
