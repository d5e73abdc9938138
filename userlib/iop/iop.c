// SPDX-License-Identifier: LGPL-2.1-or-later
/* The I/O processor's entrance: puts the server and the services together. */
#include "iop/coll/service.h"
#include "iop/epoch/epochs.h"
#include "iop/iop.h"
#include "iop/ns/ns.h"
#include "iop/ops/check/checks.h"
#include "iop/ops/clone/clones.h"
#include "iop/ops/mend/mends.h"
#include "iop/ops/look/look.h"
#include "iop/ops/service.h"
#include "iop/ops/user/users.h"
#include "iop/query/service.h"
#include "iop/scrub/service.h"
#include "iop/server/server.h"

static const struct server_service *const services[] = {
	&epoch_service, &coll_service,	&ops_service,  &scrub_service,
	&query_service, &trace_service, &user_service, &clone_service,
	&check_service, &mend_service,	NULL
};

/**
 * ddio_iop_reactors - how many reactors a node gets
 * @conf: the cluster
 * @node: index of the node
 * @cores: of the machine
 *
 * Disks of one bus share a reactor.
 *
 * Return: what the configuration says, else @cores; at least 1, and never more than can own a disk, or the name
 * space.
 */
uint32_t ddio_iop_reactors(const struct ddio_conf *conf, uint32_t node, uint32_t cores)
{
	return server_reactors(conf, node, cores);
}

/**
 * ddio_iop_start - bring a node up
 * @opts: see struct ddio_iop_opts
 * @iop: receives the node
 * @err: receives one line that says what went wrong
 * @err_len: size of @err
 *
 * Opens disks, stores and name space, and listens.  It blocks, so it is called before the loops run.
 *
 * Return: 0, or -errno with nothing left open.
 */
int ddio_iop_start(const struct ddio_iop_opts *opts, struct ddio_iop **iop, char *err,
		   size_t err_len)
{
	return server_start(opts, services, iop, err, err_len);
}

/**
 * ddio_iop_addr - where a node listens
 * @iop: the node
 *
 * Return: the address, or "" once the node is stopping.
 */
const char *ddio_iop_addr(const struct ddio_iop *iop)
{
	return server_addr(iop);
}

/**
 * ddio_iop_look - ask a running node for its state
 * @iop: the node, whose loops run until @fn has been called, or until the process ends
 * @fn: receives the state, once every reactor has told its part; not before one that a disk holds up can
 * @arg: for @fn
 *
 * Any thread may call it.
 *
 * Return: 0, or -ENOMEM and @fn is not called.
 */
int ddio_iop_look(struct ddio_iop *iop, ddio_iop_look_fn fn, void *arg)
{
	return ops_look(iop, fn, arg);
}

/**
 * ddio_iop_set_key - change the keys
 * @iop: the node
 * @key: those that connections to come are to prove; copied
 *
 * Called on reactor 0's loop.  Connections that are open stay open.
 */
void ddio_iop_set_key(struct ddio_iop *iop, const struct ddio_key *key)
{
	server_set_key(iop, key);
}

/**
 * ddio_iop_stop - begin to stop a node
 * @iop: the node; harmless if it is stopping already
 *
 * Called on reactor 0's loop.  Refuses new work, ends collectives, writes back, commits, closes, and
 * calls on_stopped().
 */
void ddio_iop_stop(struct ddio_iop *iop)
{
	server_stop(iop);
}

/**
 * ddio_iop_free - release a node
 * @iop: the node, or NULL; on_stopped() was called, or its loops never ran, and they have ended
 */
void ddio_iop_free(struct ddio_iop *iop)
{
	server_free(iop);
}
