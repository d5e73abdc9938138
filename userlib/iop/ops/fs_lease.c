// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Leases, see iop/lock/lease.h: granting and recalling them, and requests that wait for that.  A request that would
 * show or change what another mount decides waits, as it came, and is served when the lease has been returned.
 */
#include <errno.h>
#include "iop/ops/fs.h"
#include "iop/ops/handlers.h"
#include "iop/ops/user/users.h"

enum { CONCERNED_MAX = 3, FEW_RECALLS = 16 };

/**
 * struct concerned - inodes that a request shows or changes
 */
struct concerned {
	uint32_t n;
	uint64_t ino[CONCERNED_MAX];
};

/**
 * struct parked - a request that waits for the end of a lease
 */
struct parked {
	struct lease_wait wait;
	fs_serve serve;
	uint8_t payload[];
};

/**
 * struct listener - FS_RECALL that waits
 */
struct listener {
	struct ns_mount *mount;
};

static struct leases *leases_of(const struct server_request *req)
{
	return &req->reactor->iop->leases;
}

/*
 * Recalling
 */
static void listener_gone(struct server_request *req)
{
	const struct listener *l = req->data;

	leases_listen(leases_of(req), l->mount, NULL);
	server_request_end(req);
}

/* Tells a mount what it is to return; it listens again then. */
static void listener_tell(void *arg)
{
	struct ddio_fs_recall few[FEW_RECALLS];
	struct ddio_fs_recall *recalls = calloc(DDIO_FS_RECALLED_MAX, sizeof(*recalls));
	struct ddio_msg_fs_recalled out = { .leases = recalls ? recalls : few };
	struct server_request *req = arg;
	const struct listener *l = req->data;

	/* Without memory the mount hears of some, and of the others when it listens anew. */
	out.n = leases_take_due(leases_of(req), l->mount, out.leases,
				recalls ? DDIO_FS_RECALLED_MAX : FEW_RECALLS);
	leases_listen(leases_of(req), l->mount, NULL);
	req->gone = NULL;
	req->client->requests++;
	SERVER_REPLY(req, fs_recalled, &out);
	free(recalls);
}

static void recall_due(void *arg);

static void recall_watch(struct ddio_iop *iop, uint64_t asked)
{
	struct ddio_env *env = iop->reactors[0].env;

	iop->lease_timer.fn = recall_due;
	iop->lease_timer.arg = iop;
	ddio_timer_cancel(env, &iop->lease_timer);
	if (asked && ddio_timer_arm(env, &iop->lease_timer, asked + ns_timeout(iop->ns)))
		ddio_env_log(env, DDIO_LOG_WARN,
			     "name space: no memory for a timer; requests that wait for the "
			     "lease of a mount wait until it is returned");
}

static void recall_due(void *arg)
{
	struct ddio_iop *iop = arg;
	struct ddio_env *env = iop->reactors[0].env;
	uint64_t next;
	uint32_t ended;

	next = leases_expire(&iop->leases, ddio_env_now(env), ns_timeout(iop->ns), &ended);
	leases_tell(&iop->leases, listener_tell);
	if (ended)
		ddio_env_log(env, DDIO_LOG_WARN,
			     "name space: %u leases were not returned in time, and are void",
			     ended);
	recall_watch(iop, next);
}

static void lease_turn(void *arg)
{
	leases_go_on(arg);
}

static void lease_more(void *arg)
{
	struct ddio_iop *iop = arg;

	ddio_env_post(iop->reactors[0].env, &iop->lease_turn);
}

static void recall(struct server_request *req, uint64_t ino, struct lease_wait *wait)
{
	struct ddio_iop *iop = req->reactor->iop;
	uint64_t now = ddio_env_now(req->reactor->env);
	bool first = ddio_list_empty(&iop->leases.recalled);

	lease_recall(&iop->leases, ino, now, wait);
	if (first)
		recall_watch(iop, now);
}

static void parked_gone(struct server_request *req)
{
	struct parked *p = req->data;

	lease_forget(&p->wait);
	server_request_end(req);
}

static int serve_when_unleased(struct server_request *req, const void *payload, fs_serve serve,
			       bool in_line);

static void parked_done(struct lease_wait *wait)
{
	struct parked *p = ddio_container_of(wait, struct parked, wait);
	struct server_request *req = wait->arg;

	req->gone = NULL;
	if (req->reactor->stopping) {
		server_fail(req, DDIO_ST_SHUTDOWN, "the node is shutting down");
		return;
	}
	/* It may wait again, with another copy. */
	req->data = NULL;
	/* Meanwhile the user may have lost the right to it. */
	if (!user_denied(req, p->payload))
		serve_when_unleased(req, p->payload, p->serve, false);
	free(p);
}

/* Has the request wait until the lease of @ino has ended, and be served by @serve then. */
static void park(struct server_request *req, const void *payload, fs_serve serve, uint64_t ino)
{
	struct parked *p = malloc(sizeof(*p) + req->msg.length);

	if (!p) {
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for a request");
		return;
	}
	ddio_list_init(&p->wait.link);
	p->wait.done = parked_done;
	p->wait.arg = req;
	p->serve = serve;
	memcpy(p->payload, payload, req->msg.length);
	free(req->data);
	req->data = p;
	req->gone = parked_gone;
	recall(req, ino, &p->wait);
}

static bool is_leased(const struct server_request *req, uint64_t ino)
{
	return ino && lease_of_other(leases_of(req), ino, fs_mount(req));
}

/* Returns true also while others stand in line for it. */
static bool is_wanted(const struct server_request *req, uint64_t ino)
{
	return is_leased(req, ino) || (ino && lease_line(leases_of(req), ino));
}

/*
 * What a request is about
 */
static void concern(struct concerned *c, uint64_t ino)
{
	if (c->n < CONCERNED_MAX)
		c->ino[c->n++] = ino;
}

static void concern_name(struct ns *ns, struct concerned *c, uint64_t parent, const char *name)
{
	struct inode inode;

	if (!ns_lookup(ns, parent, name, &inode))
		concern(c, inode.ino);
	inode_free(&inode);
}

static void concern_path(struct ns *ns, struct concerned *c, const char *path)
{
	struct inode inode;

	if (!ns_walk(ns, NULL, path, &inode))
		concern(c, inode.ino);
	inode_free(&inode);
}

static void concern_rename(struct ns *ns, struct concerned *c, const void *payload, size_t len)
{
	struct ddio_msg_fs_rename x;

	if (ddio_get_fs_rename(payload, len, &x))
		return;
	concern_name(ns, c, x.parent, x.name);
	concern_name(ns, c, x.new_parent, x.new_name);
}

static void concern_entry(struct ns *ns, struct concerned *c, const void *payload, size_t len)
{
	struct ddio_msg_fs_name x;

	if (!ddio_get_fs_name(payload, len, &x))
		concern_name(ns, c, x.parent, x.name);
}

static void concern_make(struct ns *ns, struct concerned *c, const void *payload, size_t len)
{
	struct ddio_msg_fs_make x;

	if (!ddio_get_fs_make(payload, len, &x))
		concern_name(ns, c, x.parent, x.name);
}

static void concern_file(const struct server_request *req, struct concerned *c, const void *payload,
			 size_t len)
{
	struct ns *ns = fs_ns(req);
	struct ddio_msg_ns_name x;

	if (ddio_get_ns_name(payload, len, &x))
		return;
	if (path_in_dir(req, &x) && strlen(x.path) <= DDIO_MAX_NAME)
		concern_name(ns, c, x.id, x.path);
	else if (x.path[0])
		concern_path(ns, c, x.path);
	else
		concern(c, x.id);
}

static void concern_create(struct ns *ns, struct concerned *c, const void *payload, size_t len)
{
	struct ddio_msg_ns_create *x = malloc(sizeof(*x));

	if (x && !ddio_get_ns_create(payload, len, x)) {
		concern_path(ns, c, x->path);
		ddio_file_record_free(&x->rec);
	}
	free(x);
}

/* Most begin with the inode's number; those that must not be carried out twice have it behind theirs. */
static void concern_number(struct concerned *c, const void *payload, size_t len, size_t at)
{
	uint64_t v;

	if (at + sizeof(v) > len)
		return;
	memcpy(&v, (const uint8_t *)payload + at, sizeof(v));
	concern(c, le64toh(v));
}

static void concern_lock(struct concerned *c, const void *payload, size_t len)
{
	struct ddio_msg_fs_lock x;

	/* Only the one by which a mount takes back a file's end. */
	if (!ddio_get_fs_lock(payload, len, &x) && x.ino & DDIO_FS_LOCK_END)
		concern(c, x.ino & ~DDIO_FS_LOCK_END);
}

/* Returning a lease that the mount has lost already needs nobody's. */
static void concern_wrote(struct concerned *c, const void *payload, size_t len)
{
	struct ddio_msg_fs_wrote x;

	if (ddio_get_fs_wrote(payload, len, &x))
		return;
	if (x.end || x.flags != (DDIO_FS_WROTE_LEASED | DDIO_FS_WROTE_RETURN))
		concern(c, x.ino);
}

static void find_concerned(struct server_request *req, const void *payload, struct concerned *c)
{
	size_t len = req->msg.length;
	struct ns *ns = fs_ns(req);

	switch (req->msg.opcode) {
	case DDIO_OP_FS_LOOKUP:
	case DDIO_OP_FS_UNLINK:
		concern_entry(ns, c, payload, len);
		break;
	case DDIO_OP_FS_MAKE:
		concern_make(ns, c, payload, len);
		break;
	case DDIO_OP_FS_RENAME:
		concern_rename(ns, c, payload, len);
		break;
	case DDIO_OP_FS_LOCK_SET:
		concern_lock(c, payload, len);
		break;
	case DDIO_OP_FS_WROTE:
		concern_wrote(c, payload, len);
		break;
	case DDIO_OP_NS_LOOKUP:
	case DDIO_OP_NS_REMOVE:
		concern_file(req, c, payload, len);
		break;
	case DDIO_OP_NS_CREATE:
		concern_create(ns, c, payload, len);
		break;
	case DDIO_OP_FS_LINK:
	case DDIO_OP_FS_SETXATTR:
	case DDIO_OP_FS_REMOVEXATTR:
	case DDIO_OP_FS_APPEND:
		concern_number(c, payload, len, sizeof(struct ddio_fs_seq));
		break;
	default:
		concern_number(c, payload, len, 0);
	}
}

/* @in_line: behind the requests that wait already. */
static int serve_when_unleased(struct server_request *req, const void *payload, fs_serve serve,
			       bool in_line)
{
	struct concerned c = { .n = 0 };
	uint64_t wait_for = 0;
	uint32_t i;

	if (!leases_of(req)->files.n)
		return serve(req, payload);
	find_concerned(req, payload, &c);
	for (i = 0; i < c.n; i++) {
		if (!(in_line ? is_wanted(req, c.ino[i]) : is_leased(req, c.ino[i])))
			continue;
		if (wait_for)
			recall(req, c.ino[i], NULL);
		else
			wait_for = c.ino[i];
	}
	if (!wait_for)
		return serve(req, payload);
	park(req, payload, serve, wait_for);
	leases_tell(leases_of(req), listener_tell);
	return 0;
}

int fs_unleased(struct server_request *req, const void *payload, fs_serve serve)
{
	return serve_when_unleased(req, payload, serve, true);
}

bool fs_listing_waits(struct server_request *req, const void *payload, fs_serve serve,
		      const struct ddio_msg_fs_entries *x)
{
	uint64_t wait_for = 0;
	uint32_t i;

	if (!leases_of(req)->files.n || !x->plus)
		return false;
	for (i = 0; i < x->n; i++) {
		if (!is_leased(req, x->ents[i].attr.ino))
			continue;
		if (wait_for)
			recall(req, x->ents[i].attr.ino, NULL);
		else
			wait_for = x->ents[i].attr.ino;
	}
	if (!wait_for)
		return false;
	park(req, payload, serve, wait_for);
	leases_tell(leases_of(req), listener_tell);
	return true;
}

/*
 * Granting
 */
static int lease_serve(struct server_request *req, const void *payload);

/* Returns the lease's number, or 0. */
static uint64_t lease_give(const struct server_request *req, const struct ddio_msg_fs_lease *x,
			   struct inode *inode)
{
	uint32_t openers = ns_openers(fs_ns(req), fs_mount(req), x->ino);
	uint64_t lease;

	if (!openers || (x->flags & DDIO_FS_LEASE_ALONE && openers > 1) ||
	    !inode_is(inode, S_IFREG) || ns_grace(fs_ns(req)) || fs_end_is_locked(req, x->ino) ||
	    ns_is_cloned(fs_ns(req), x->ino) || fs_epoch_is_open(req, x->ino))
		return 0;
	lease = lease_grant(leases_of(req), x->ino, fs_mount(req));
	if (!lease || !ns_claim(fs_ns(req), fs_mount(req), inode))
		return lease;
	lease_end(leases_of(req), x->ino, fs_mount(req), lease);
	return 0;
}

static int lease_serve(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_leased out = { .lease = 0 };
	struct ddio_msg_fs_lease x;
	struct inode inode;
	int err;

	FS_DECODE(req, payload, fs_lease, &x, "number or flags");
	if (!fs_need_mount(req))
		return 0;
	err = ns_inode(fs_ns(req), x.ino, &inode);
	if (err) {
		server_fail_errno(req, err, "leasing a file");
	} else {
		if (!is_leased(req, x.ino))
			out.lease = lease_give(req, &x, &inode);
		inode_attr(&inode, &out.attr);
		FS_REPLY(req, fs_leased, &out, false);
	}
	inode_free(&inode);
	return 0;
}

int serve_fs_lease(struct server_request *req, const void *payload)
{
	struct ddio_msg_fs_lease x;

	FS_DECODE(req, payload, fs_lease, &x, "number or flags");
	if (x.flags & DDIO_FS_LEASE_ALONE)
		return lease_serve(req, payload);
	return fs_unleased(req, payload, lease_serve);
}

/* The mount's earlier request, if there is one, is answered without any. */
static void listener_end(struct leases *leases, const struct ns_mount *mount)
{
	struct server_request *req = leases_listener(leases, mount);
	const struct ddio_msg_fs_recalled none = { .n = 0 };

	if (!req)
		return;
	leases_listen(leases, mount, NULL);
	req->gone = NULL;
	req->client->requests++;
	SERVER_REPLY(req, fs_recalled, &none);
}

int serve_fs_recall(struct server_request *req, const void *payload)
{
	struct listener *l;

	(void)payload;
	if (!fs_need_mount(req))
		return 0;
	listener_end(leases_of(req), fs_mount(req));
	l = calloc(1, sizeof(*l));
	if (!l || leases_listen(leases_of(req), fs_mount(req), req)) {
		free(l);
		server_fail(req, DDIO_ST_NO_MEMORY, "no memory for a request");
		return 0;
	}
	l->mount = fs_mount(req);
	req->data = l;
	req->gone = listener_gone;
	/* While it waits it does not count for its client. */
	req->client->requests--;
	leases_tell(leases_of(req), listener_tell);
	return 0;
}

/*
 * Writing under a lease, and returning it
 */
int fs_lease_wrote(const struct server_request *req, const struct ddio_msg_fs_wrote *x)
{
	struct inode inode;
	int err;

	if (!(x->flags & DDIO_FS_WROTE_LEASED) ||
	    lease_held(leases_of(req), x->ino, fs_mount(req), x->lease))
		return 0;
	if (!fs_mount(req))
		return -ECANCELED;
	err = ns_inode(fs_ns(req), x->ino, &inode);
	if (!err && (x->end || x->flags & DDIO_FS_WROTE_TIMES) &&
	    !ns_still_holds(fs_ns(req), fs_mount(req), &inode, x))
		err = ns_tell_again(fs_mount(req), &inode, x) ? -EALREADY : -ECANCELED;
	inode_free(&inode);
	return err;
}

void fs_lease_end(const struct server_request *req, uint64_t ino, uint64_t lease)
{
	if (fs_mount(req))
		lease_end(leases_of(req), ino, fs_mount(req), lease);
}

void fs_leases_start(struct ddio_iop *iop)
{
	iop->lease_turn.fn = lease_turn;
	iop->lease_turn.arg = &iop->leases;
	iop->leases.more = lease_more;
	iop->leases.arg = iop;
	/* So no number comes again after a restart. */
	iop->leases.last = iop->ns ? ns_began(iop->ns) : 0;
}

bool fs_leases_lost(struct ddio_iop *iop, struct ns_mount *mount, uint64_t *steps)
{
	listener_end(&iop->leases, mount);
	return leases_drop_mount(&iop->leases, mount, steps);
}

static void listener_shut(void *arg)
{
	struct server_request *req = arg;
	const struct listener *l = req->data;

	leases_listen(leases_of(req), l->mount, NULL);
	req->gone = NULL;
	req->client->requests++;
	server_fail(req, DDIO_ST_SHUTDOWN, "the node is shutting down");
}

void fs_leases_stop(struct reactor *reactor)
{
	struct ddio_iop *iop = reactor->iop;

	ddio_timer_cancel(reactor->env, &iop->lease_timer);
	leases_each_listener(&iop->leases, listener_shut);
	leases_stop(&iop->leases);
}
