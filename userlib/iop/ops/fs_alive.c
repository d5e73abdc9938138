// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mounts that fall silent.  Each request that may open or lock begins the watch, which goes on while anybody holds something.
 * A mount that has files open or locks held is asked whether it is there when nothing has been
 * heard of it for a third of the timeout, and its connection ends when nothing was heard for a whole one.  The time for
 * which a mount may be away counts from when it was last heard, so that others get its locks then.
 */
#include "iop/ops/fs.h"
#include "iop/ops/handlers.h"

static bool holds(const struct ddio_iop *iop, const struct ns_mount *mount)
{
	return ns_mount_holds(mount) || locks_any(&iop->locks, mount);
}

/* Returns true if the mount holds something. */
static bool look(struct ddio_iop *iop, struct client *client)
{
	struct reactor *reactor = client->reactor;
	bool any = holds(iop, client->mount),
	     owes = any && !client->closing && !client_paused(client);

	client->silent = ddio_alive_check(reactor->env, ns_timeout(iop->ns), &client->alive,
					  client->conn, owes);
	client->asked |= client->alive.pinged > 0;
	if (client->silent)
		client_end(client, "a mount that has files open or locks held does not answer");
	return any;
}

static void look_all(void *arg)
{
	struct ddio_iop *iop = arg;
	struct client *client;
	bool any = false;

	ddio_list_for_each_entry(client, &iop->reactors[0].clients, link)
		any |= client->mount && look(iop, client);
	if (any)
		fs_mounts_watch(iop);
}

void fs_mounts_watch(struct ddio_iop *iop)
{
	struct ddio_env *env = iop->reactors[0].env;

	if (ddio_timer_armed(&iop->alive_timer) || iop->reactors[0].stopping)
		return;
	iop->alive_timer.fn = look_all;
	iop->alive_timer.arg = iop;
	if (ddio_timer_arm(env, &iop->alive_timer, ddio_env_now(env) + ns_timeout(iop->ns) / 6))
		ddio_env_log(
			env, DDIO_LOG_WARN,
			"no memory for a timer; mounts that fall silent keep their locks longer");
}

void fs_mounts_unwatch(struct ddio_iop *iop)
{
	ddio_timer_cancel(iop->reactors[0].env, &iop->alive_timer);
}
