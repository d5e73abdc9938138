// SPDX-License-Identifier: LGPL-2.1-or-later
/* Bringing an I/O processor up. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "env/name.h"
#include "iop/lmdb/room.h"
#include "iop/server/priv.h"

#define NS_DIR "ns"

/* Makes the node's directory of records, in which each disk and the name space have one of their own. */
static int check_meta(const struct server *server, char *err, size_t err_len)
{
	const struct ddio_conf *conf = server->iop.conf;
	const char *meta = conf->nodes[server->iop.node].meta;
	uint32_t i;
	int ret;

	for (i = 0; i < conf->ndisks; i++) {
		if (conf->disks[i].node == server->iop.node &&
		    !strcmp(conf->disks[i].name, NS_DIR)) {
			snprintf(err, err_len, "a disk cannot have the name \"%s\"", NS_DIR);
			return -EINVAL;
		}
	}
	ret = ddio_env_dirs_make(meta, conf->nodes[server->iop.node].sync_io);
	if (ret)
		snprintf(err, err_len, "meta directory %s: %s", meta, strerror(-ret));
	return ret;
}

static int open_names(struct server *server, char *err, size_t err_len)
{
	const struct ddio_conf *conf = server->iop.conf;
	const struct ddio_conf_node *node = &conf->nodes[server->iop.node];
	char dir[4096];
	const struct ns_opts opts = { .dir = dir,
				      .cluster = conf->cluster,
				      .sync = node->sync_io,
				      .reserve = LMDB_RESERVE,
				      .repair = server->repair,
				      .machine = server->machine,
				      .block = conf->mount_block,
				      .ndisks = conf->ndisks,
				      .timeout_ns = conf->timeout_ns,
				      .bounds = &server->iop.reactors[0].bounds };

	if (conf->ns_node != server->iop.node)
		return 0;
	if (snprintf(dir, sizeof(dir), "%s/%s", node->meta, NS_DIR) >= (int)sizeof(dir)) {
		snprintf(err, err_len, "node %s: the path of meta is too long", node->name);
		return -ENAMETOOLONG;
	}
	return ns_open(server->iop.reactors[0].env, &opts, &server->iop.ns, err, err_len);
}

/* A node that other machines can reach needs a key. */
static int check_key(const struct server *server, char *err, size_t err_len)
{
	const char *addr = server->iop.conf->nodes[server->iop.node].address;

	if (server->iop.key.len || ddio_addr_is_loopback(addr))
		return 0;
	snprintf(err, err_len,
		 "node %s: will not listen on %s without a key, since other machines can reach it: "
		 "give the cluster a key_file",
		 iop_node_name(&server->iop), addr);
	return -EACCES;
}

/* What is signed with no key would be believed of anybody. */
static int check_users(const struct server *server, char *err, size_t err_len)
{
	if (!server->iop.users || (server->iop.servers_key.len && server->iop.vouch))
		return 0;
	snprintf(err, err_len, "node %s: users = munge needs the key of servers_key",
		 iop_node_name(&server->iop));
	return -EACCES;
}

static int secure(struct server *server, char *err, size_t err_len)
{
	const struct ddio_conf *conf = server->iop.conf;
	struct ddio_env *env = server->iop.reactors[0].env;
	int ret = conf->tls ? ddio_conn_tls_new(&server->iop.key, conf->kernel_tls, &server->tls)
			    : 0;

	if (ret)
		snprintf(err, err_len, "node %s: cannot set up TLS: %s",
			 iop_node_name(&server->iop), strerror(-ret));
	else if (conf->tls && conf->kernel_tls)
		ddio_env_log(env, DDIO_LOG_INFO, "TLS is done by %s",
			     ddio_env_seals(env)
				     ? "the kernel"
				     : "OpenSSL: this kernel cannot (module tls, Linux 6.14)");
	return ret;
}

static int start_listening(struct server *server, char *err, size_t err_len)
{
	const char *addr = server->iop.conf->nodes[server->iop.node].address;
	int ret = ddio_listen(server->iop.reactors[0].env, addr, server_accept, server,
			      &server->listener);

	if (ret)
		snprintf(err, err_len, "node %s: cannot listen on %s: %s",
			 iop_node_name(&server->iop), addr, strerror(-ret));
	return ret;
}

static int node_start(struct server *server, const struct ddio_iop_opts *opts, char *err,
		      size_t err_len)
{
	int ret = server_reactors_new(server, opts);

	if (ret) {
		snprintf(err, err_len, "no memory for %u reactors", opts->nreactors);
		return ret;
	}
	server_unproved_init(server, opts->descriptors);
	server_keys_begin(server);
	server->iop.locks.bounds = &server->iop.reactors[0].bounds;
	server->iop.leases.bounds = &server->iop.reactors[0].bounds;
	server->iop.began_ns = ddio_env_now(opts->envs[0]);
	ddio_env_random(opts->envs[0], &server->iop.boot, sizeof(server->iop.boot));
	ret = check_key(server, err, err_len);
	if (!ret)
		ret = check_users(server, err, err_len);
	if (!ret)
		ret = secure(server, err, err_len);
	if (!ret)
		ret = check_meta(server, err, err_len);
	if (!ret)
		ret = server_disks_open(server, err, err_len);
	if (!ret)
		ret = open_names(server, err, err_len);
	if (!ret) {
		server_tell_node_start(server);
		ret = start_listening(server, err, err_len);
	}
	return ret;
}

/* Closes what node_start() has opened; no loop runs any more. */
static void node_close(struct server *server)
{
	uint32_t i;

	for (i = 0; server->iop.reactors && i < server->iop.nreactors; i++)
		server_disks_close(&server->iop.reactors[i]);
	if (server->iop.ns)
		ns_close(server->iop.ns);
	server->iop.ns = NULL;
	locks_free(&server->iop.locks);
	leases_free(&server->iop.leases);
}

/* After a start that has failed: the services give back what they have set up. */
static void services_undo(struct server *server)
{
	uint32_t i;

	for (i = 0; server->iop.reactors && i < server->iop.nreactors; i++)
		if (server->iop.reactors[i].iop)
			server_tell_reactor_exit(&server->iop.reactors[i]);
}

int server_start(const struct ddio_iop_opts *opts, const struct server_service *const *services,
		 struct ddio_iop **iop, char *err, size_t err_len)
{
	struct server *server = NULL;
	int ret = -EINVAL;

	if (!opts->nreactors || opts->node >= opts->conf->nnodes) {
		snprintf(err, err_len, "no such node, or no reactor");
		return ret;
	}
	server = calloc(1, sizeof(*server));
	if (!server) {
		snprintf(err, err_len, "no memory");
		return -ENOMEM;
	}
	locks_init(&server->iop.locks);
	leases_init(&server->iop.leases);
	server->iop.conf = opts->conf;
	server->iop.node = opts->node;
	if (opts->key)
		server->iop.key = *opts->key;
	server->iop.users = ddio_conf_knows_users(opts->conf);
	server->iop.vouch = opts->vouch;
	if (opts->servers_key)
		server->iop.servers_key = *opts->servers_key;
	server->repair = opts->repair;
	server_machine_name(opts->machine, server->machine);
	server->on_stopped = opts->on_stopped;
	server->arg = opts->arg;
	ret = server_services_set(server, services);
	if (ret)
		snprintf(err, err_len, "an opcode has two handlers");
	else
		ret = node_start(server, opts, err, err_len);
	if (ret) {
		services_undo(server);
		node_close(server);
		server_reactors_free(server);
		ddio_tls_free(server->tls);
		free(server);
		return ret;
	}
	server->running = opts->nreactors;
	*iop = &server->iop;
	return 0;
}

void server_set_key(struct ddio_iop *iop, const struct ddio_key *key)
{
	server_keys_set(server_of(iop), key);
}

const char *server_addr(const struct ddio_iop *iop)
{
	const struct ddio_listener *listener = server_of(iop)->listener;

	return listener ? ddio_listener_addr(listener) : "";
}

void server_free(struct ddio_iop *iop)
{
	struct server *server;

	if (!iop)
		return;
	server = server_of(iop);
	ddio_listener_close(server->listener);
	node_close(server);
	ddio_hash_fini(&server->unproved_from);
	ddio_hash_fini(&server->iop.epochs);
	server_reactors_free(server);
	ddio_tls_free(server->tls);
	explicit_bzero(&server->iop.key, sizeof(server->iop.key));
	explicit_bzero(&server->iop.servers_key, sizeof(server->iop.servers_key));
	free(server);
}
