// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks whether the store is consistent.  Each disk checks its own records, and
 * the name server its own; this file compares the two.
 *
 * The cluster may be in use meanwhile.  Objects are listed before names: a file
 * that is created in between has its name before its first object, so none of
 * its objects is taken for an orphan.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/check/check.h"
#include "cp/node/identity.h"

/* Names alone: no disk has an object of the root directory. */
static int commit_names(struct cluster_check *c)
{
	struct check_ask a = { .names = true,
			       .obj.file = { .id = DDIO_FS_ROOT, .block = DDIO_MIN_BLOCK } };

	return check_ask(c, &a, DDIO_OP_OBJ_SYNC);
}

/* Data that cannot be written are a problem, and no reason to repair nothing. */
static int commit_disk(struct cluster_check *c, uint32_t disk)
{
	struct check_ask a = { .obj = { .disk = disk, .flags = DDIO_OBJ_ALL } };
	int err = check_ask(c, &a, DDIO_OP_OBJ_SYNC);

	if (!err || check_cut_off(&a.call.error))
		return err;
	c->result->problems++;
	check_tell(c, "%s: what was written there stays in memory; the node's log names the blocks",
		   a.call.error.text);
	return 0;
}

/* Writes back what the caches have, since a repair waits for nobody.  Whoever repairs records commits them first. */
static int commit_all(struct cluster_check *c)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < c->session->conf->ndisks && !err; i++)
		err = commit_disk(c, i);
	return err;
}

/*
 * The records of each disk and of the name server by themselves
 */
static void add_fsck(struct cluster_check *c, const struct ddio_msg_fsck *x, const char *where)
{
	c->result->problems += x->problems;
	c->result->repaired += x->repaired;
	if (x->problems)
		check_tell(c, "%s: %" PRIu64 " problems%s, the first: %s", where, x->problems,
			   !x->repaired		       ? ""
			   : x->repaired < x->problems ? " (some of them repaired)"
						       : " (repaired)",
			   x->text);
}

static int check_names(struct cluster_check *c)
{
	struct check_ask a = { .names = true, .obj.disk = DDIO_FSCK_NAMES };
	int err = check_ask(c, &a, DDIO_OP_FSCK);

	if (!err)
		add_fsck(c, &a.fsck, "name space");
	return err;
}

static int check_disk(struct cluster_check *c, uint32_t disk)
{
	const struct ddio_conf *conf = c->session->conf;
	struct check_ask a = { .obj.disk = disk };
	char where[2 * DDIO_MAX_NAME + 16];
	int err = check_ask(c, &a, DDIO_OP_FSCK);

	if (err)
		return err;
	snprintf(where, sizeof(where), "node %s, disk %s", conf->nodes[conf->disks[disk].node].name,
		 conf->disks[disk].name);
	add_fsck(c, &a.fsck, where);
	c->bad_disks[disk] = a.fsck.problems > a.fsck.repaired;
	c->result->objects += a.fsck.objects;
	c->result->extents += a.fsck.extents;
	c->result->blocks += a.fsck.blocks;
	c->result->free_bytes += a.fsck.free_bytes;
	return 0;
}

/* What a scrub has found is no record, and stays a problem until the next one finds it no more. */
static int add_scrub(void *arg, const struct ddio_scrub_state *st)
{
	struct cluster_check *c = arg;

	if (st->error || !(st->mismatches || st->unread))
		return 0;
	c->result->problems++;
	check_tell(c,
		   "node %s, disk %s: when it was last looked through, %" PRIu64
		   " checksums did not match, and %" PRIu64
		   " blocks could not be read: the node's log names the files; restore them from a "
		   "backup, then run 'ddio scrub'",
		   st->node, st->name, st->mismatches, st->unread);
	return 0;
}

/*
 * Listing objects and files
 */
static int found_add(struct cluster_check *c, uint64_t id, uint32_t disk)
{
	if (c->nfound == c->cap) {
		size_t cap = c->cap ? 2 * c->cap : 1024;
		struct found_object *p = realloc(c->found, cap * sizeof(*p));

		if (!p)
			return session_fail(c->session, -ENOMEM, "check: out of memory");
		c->found = p;
		c->cap = cap;
	}
	c->found[c->nfound++] = (struct found_object){ id, disk };
	return 0;
}

static int list_objects(struct cluster_check *c, uint32_t disk)
{
	struct check_ask a;
	uint64_t after = 0;
	bool more = true;
	uint32_t i;
	int err = 0;

	while (more && !err) {
		memset(&a, 0, sizeof(a));
		a.obj.disk = disk;
		a.obj.offset = after;
		a.obj.len = DDIO_MAX_BATCH;
		err = check_ask(c, &a, DDIO_OP_OBJ_LIST);
		if (err)
			break;
		for (i = 0; i < a.list.n && !err; i++)
			err = found_add(c, a.list.ids[i], disk);
		more = a.list.more && a.list.n;
		if (a.list.n)
			after = a.list.ids[a.list.n - 1];
		free(a.list.ids);
	}
	return err;
}

/* Lists all files by number, including those that are being removed. */
struct page_call {
	struct session_call call;
	struct node_request request;
	struct ddio_msg_ns_list ask;
	struct ddio_msg_ns_listing page;
};

static void page_got(struct node_request *request, const struct reply *reply)
{
	struct page_call *p = request->arg;
	struct error error;
	int err;

	error_clear(&error);
	if (reply->status) {
		reply_error(&error, reply, "check");
	} else {
		err = ddio_get_ns_listing(reply->payload, reply->len, &p->page);
		if (err)
			reply_malformed(&error, err, "check");
	}
	call_end(&p->call, &error);
}

static void page_run(struct session_call *call)
{
	struct page_call *p = ddio_container_of(call, struct page_call, call);
	struct error error;
	int err;

	request_init(&p->request, DDIO_OP_NS_LIST, page_got, p);
	err = request_put(&p->request, ns_list, &p->ask);
	if (err) {
		error_set(&error, err, "check: %s", strerror(-err));
		call_end(call, &error);
		return;
	}
	request_names(call->session, &p->request);
}

static uint32_t disks_used(const struct ddio_file_record *rec)
{
	uint32_t n = 0;

	while (n < rec->ndisks && file_object_size(rec, n, rec->size))
		n++;
	return n;
}

static int name_add(struct cluster_check *c, struct ddio_file_record *rec)
{
	if (rec->dying) {
		void *p = realloc(c->dying, (c->ndying + 1) * sizeof(*c->dying));

		if (!p)
			return -ENOMEM;
		c->dying = p;
		c->dying[c->ndying++] = rec->ref.id;
	}
	if (c->nnames == c->names_cap) {
		size_t cap = c->names_cap ? 2 * c->names_cap : 256;
		struct found_file *p = realloc(c->names, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		c->names = p;
		c->names_cap = cap;
	}
	c->names[c->nnames].ref = rec->ref;
	c->names[c->nnames].dying = rec->dying;
	c->names[c->nnames].ndisks = rec->ndisks;
	c->names[c->nnames].nused = disks_used(rec);
	c->names[c->nnames].disks = rec->disks;
	rec->disks = NULL;
	c->nnames++;
	return 0;
}

static int list_names(struct cluster_check *c)
{
	struct page_call p;
	bool more = true;
	uint32_t i;
	int err = 0;

	memset(&p, 0, sizeof(p));
	while (more && !err) {
		p.ask.max = 256;
		p.ask.flags = DDIO_NS_ALL;
		memset(&p.page, 0, sizeof(p.page));
		err = call_run(c->session, &p.call, page_run);
		if (err)
			break;
		for (i = 0; i < p.page.n && !err; i++)
			err = name_add(c, &p.page.recs[i]);
		more = p.page.more && p.page.n;
		if (p.page.n)
			p.ask.after_id = p.page.recs[p.page.n - 1].ref.id;
		ddio_ns_listing_free(&p.page);
		if (err)
			session_fail(c->session, err, "check: out of memory");
	}
	return err;
}

/*
 * Comparing objects and files
 */
static int by_id(const void *a, const void *b)
{
	const struct found_file *x = a, *y = b;

	return x->ref.id < y->ref.id ? -1 : x->ref.id > y->ref.id;
}

static const struct found_file *file_find(const struct cluster_check *c, uint64_t id)
{
	const struct found_file key = { .ref.id = id };

	return c->nnames ? bsearch(&key, c->names, c->nnames, sizeof(key), by_id) : NULL;
}

static bool striped_over(const struct found_file *n, uint32_t disk)
{
	uint32_t i;

	for (i = 0; i < n->ndisks; i++)
		if (n->disks[i] == disk)
			return true;
	return false;
}

static int drop_object(struct cluster_check *c, const struct found_object *f)
{
	struct check_ask a = { .obj = { .file = { .id = f->id, .block = DDIO_MIN_BLOCK },
					.disk = f->disk } };
	int err = check_ask(c, &a, DDIO_OP_OBJ_REMOVE);

	return err == -ENOENT ? 0 : err;
}

/* Objects of one number, on @n disks, that belong to no file. */
static int match_none(struct cluster_check *c, const struct found_object *f, size_t n)
{
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		check_tell(c, "disk %s: object %" PRIu64 " belongs to no file%s",
			   c->session->conf->disks[f[i].disk].name, f[i].id,
			   c->drop ? ": removed" : "");
		if (c->drop)
			err = drop_object(c, &f[i]);
	}
	c->result->orphans += n;
	return err || c->drop || !c->repair ? err : check_adopt(c, f, n);
}

static void match_object(struct cluster_check *c, const struct found_object *f,
			 const struct found_file *n)
{
	if (!striped_over(n, f->disk)) {
		c->result->problems++;
		check_tell(c,
			   "disk %s: file %" PRIu64 " has an object here but is not striped here",
			   c->session->conf->disks[f->disk].name, f->id);
	} else if (n->dying) {
		c->result->orphans++;
	}
}

/* Compares the objects of one number with its file. */
static int match_objects(struct cluster_check *c, const struct found_object *f, size_t n)
{
	const struct found_file *file = file_find(c, f->id);
	size_t i;

	if (!file)
		return match_none(c, f, n);
	for (i = 0; i < n; i++)
		match_object(c, &f[i], file);
	return 0;
}

static int match_all(struct cluster_check *c)
{
	size_t i, n;
	int err = 0;

	for (i = 0; i < c->nfound && !err; i += n) {
		for (n = 1; i + n < c->nfound && c->found[i + n].id == c->found[i].id; n++)
			;
		err = match_objects(c, &c->found[i], n);
	}
	return err || !c->adopted ? err : commit_names(c);
}

/* Objects on a disk that the configuration does not have stay, and so does the file: the check goes on without it. */
static bool waits_for_disk(const struct cluster_check *c, uint64_t id)
{
	const struct found_file *n = file_find(c, id);
	uint32_t disk;

	return n && check_misses_disk(c, n, &disk);
}

static int finish_removals(struct cluster_check *c)
{
	size_t i;
	int err = 0;

	if (!c->repair) {
		c->result->nameless = c->ndying;
		return 0;
	}
	for (i = 0; i < c->ndying && !err; i++) {
		if (waits_for_disk(c, c->dying[i])) {
			c->result->nameless++;
			continue;
		}
		err = remove_orphan(c->session, c->dying[i]);
		if (!err)
			check_tell(c, "file %" PRIu64 ": its removal was cut short: finished",
				   c->dying[i]);
		c->result->nameless += err == -EBUSY;
		/* It is gone meanwhile, or a mount has it open. */
		if (err == -ENOENT || err == -EBUSY)
			err = 0;
	}
	return err;
}

static int check_all(struct cluster_check *c)
{
	uint32_t i, ndisks = c->session->conf->ndisks;
	size_t k;
	int err = c->repair ? commit_all(c) : 0;
	uint64_t unwritten = c->result->problems;

	if (!err)
		err = check_names(c);
	for (i = 0; i < ndisks && !err; i++)
		err = check_disk(c, i);
	c->damaged = c->result->problems - unwritten > c->result->repaired;
	if (!err)
		err = ddio_scrub(c->session, DDIO_SCRUB_LOOK, 0, add_scrub, c);
	for (i = 0; i < ndisks && !err; i++)
		err = list_objects(c, i);
	if (!err)
		err = list_names(c);
	if (err)
		return err;
	c->result->files = c->nnames - c->ndying;
	if (c->nnames)
		qsort(c->names, c->nnames, sizeof(*c->names), by_id);
	if (c->nfound)
		qsort(c->found, c->nfound, sizeof(*c->found), check_by_id_disk);
	err = match_all(c);
	for (k = 0; k < c->nnames && !err; k++)
		err = check_match_file(c, &c->names[k]);
	if (!err)
		err = check_tell_lost(c);
	return err ? err : finish_removals(c);
}

int ddio_check(struct ddio_session *session, int repair, void (*fn)(void *arg, const char *line),
	       void *arg, struct ddio_check_result *result)
{
	struct cluster_check c = {
		.session = session,
		.repair = repair & DDIO_CHECK_REPAIR,
		.drop = repair & DDIO_CHECK_DROP,
		.fn = fn,
		.arg = arg,
		.result = result,
	};
	size_t i;
	int err;

	if (!session)
		return -EINVAL;
	if (!result)
		return session_fail(session, -EINVAL, "ddio_check: result is NULL");
	memset(result, 0, sizeof(*result));
	c.bad_disks = calloc(session->conf->ndisks, sizeof(*c.bad_disks));
	err = c.bad_disks ? check_all(&c) : session_fail(session, -ENOMEM, "check: out of memory");
	for (i = 0; i < c.nnames; i++)
		free(c.names[i].disks);
	free(c.names);
	free(c.dying);
	free(c.bad_disks);
	free(c.lost);
	free(c.found);
	return err;
}
