// SPDX-License-Identifier: LGPL-2.1-or-later
/* The services of a node: which of them handles a message, and telling all of them. */
#include <errno.h>
#include "iop/server/priv.h"

#define for_each_service(service, server)                                  \
	for (const struct server_service *const *at_ = (server)->services; \
	     ((service) = *at_) != NULL; at_++)

int server_services_set(struct server *server, const struct server_service *const *services)
{
	const struct server_service *service;
	size_t i;

	server->services = services;
	for_each_service(service, server)
	{
		for (i = 0; i < service->nops; i++) {
			const struct server_op *op = &service->ops[i];

			if (op->opcode >= SERVER_OPCODES || server->ops[op->opcode])
				return -EINVAL;
			server->ops[op->opcode] = op;
		}
	}
	return 0;
}

const struct server_op *server_op_find(const struct server *server, uint16_t opcode)
{
	return opcode < SERVER_OPCODES ? server->ops[opcode] : NULL;
}

void server_tell_node_start(struct server *server)
{
	const struct server_service *service;

	for_each_service(service, server) if (service->node_start)
		service->node_start(&server->iop);
}

void server_tell_reactor_init(struct reactor *reactor)
{
	const struct server_service *service;

	for_each_service(service, server_of(reactor->iop)) if (service->reactor_init)
		service->reactor_init(reactor);
}

void server_tell_reactor_stop(struct reactor *reactor)
{
	const struct server_service *service;

	for_each_service(service, server_of(reactor->iop)) if (service->reactor_stop)
		service->reactor_stop(reactor);
}

void server_tell_reactor_exit(struct reactor *reactor)
{
	const struct server_service *service;

	for_each_service(service, server_of(reactor->iop)) if (service->reactor_exit)
		service->reactor_exit(reactor);
}

bool server_services_idle(const struct reactor *reactor)
{
	const struct server_service *service;

	for_each_service(service,
			 server_of(reactor->iop)) if (service->reactor_idle &&
						      !service->reactor_idle(reactor)) return false;
	return true;
}

void server_tell_disk_close(struct iop_disk *disk)
{
	const struct server_service *service;

	for_each_service(service, server_of(disk->reactor->iop)) if (service->disk_close)
		service->disk_close(disk);
}

void server_tell_client_gone(struct client *client)
{
	const struct server_service *service;

	for_each_service(service, server_of(client->reactor->iop)) if (service->client_gone)
		service->client_gone(client);
}

void server_tell_client_drained(struct client *client)
{
	const struct server_service *service;

	for_each_service(service, server_of(client->reactor->iop)) if (service->client_drained)
		service->client_drained(client);
}
