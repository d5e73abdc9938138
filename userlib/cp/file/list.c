// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lists the name space, and a file's placement, page by page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/file.h"

enum { LIST_PAGE = 256 };

struct list_call {
	struct session_call call;
	struct node_request request;
	struct ddio_msg_ns_list ask;
	struct ddio_msg_ns_listing page;
};

static void list_got(struct node_request *request, const struct reply *reply)
{
	struct list_call *lc = request->arg;
	struct error error;
	int err;

	error_clear(&error);
	if (reply->status) {
		reply_error(&error, reply, "list of files");
	} else {
		err = ddio_get_ns_listing(reply->payload, reply->len, &lc->page);
		if (err) {
			memset(&lc->page, 0, sizeof(lc->page));
			reply_malformed(&error, err, "list of files");
		}
	}
	call_end(&lc->call, &error);
}

static void list_run(struct session_call *call)
{
	struct list_call *lc = ddio_container_of(call, struct list_call, call);
	struct error error;
	int err;

	request_init(&lc->request, DDIO_OP_NS_LIST, list_got, lc);
	err = request_put(&lc->request, ns_list, &lc->ask);
	if (err) {
		error_set(&error, err, "list of files: %s", strerror(-err));
		call_end(call, &error);
		return;
	}
	request_names(call->session, &lc->request);
}

static bool is_dir(const char *name)
{
	return name[0] && name[strlen(name) - 1] == '/';
}

static int list_tell(const struct ddio_msg_ns_listing *page,
		     int (*fn)(void *arg, const char *name, const struct ddio_file_stat *st),
		     void *arg)
{
	struct ddio_file_stat st;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < page->n && !ret; i++) {
		if (page->recs[i].dying)
			continue;
		if (is_dir(page->recs[i].name))
			memset(&st, 0, sizeof(st));
		else
			file_stat_fill(&st, &page->recs[i]);
		ret = fn(arg, page->recs[i].name, &st);
	}
	return ret;
}

int ddio_list(struct ddio_session *session, const char *dir,
	      int (*fn)(void *arg, const char *name, const struct ddio_file_stat *st), void *arg)
{
	struct list_call lc = { .ask = { .max = LIST_PAGE } };
	bool more;
	int ret;

	if (!session)
		return -EINVAL;
	if (!fn)
		return session_fail(session, -EINVAL, "ddio_list: fn is NULL");
	if (dir && strlen(dir) > DDIO_MAX_PATH)
		return session_fail(session, -EINVAL,
				    "the directory's path is longer than %d bytes", DDIO_MAX_PATH);
	strcpy(lc.ask.dir, dir ? dir : "");
	do {
		memset(&lc.page, 0, sizeof(lc.page));
		ret = call_run(session, &lc.call, list_run);
		if (ret)
			return ret;
		more = lc.page.more && lc.page.n;
		if (lc.page.n)
			strcpy(lc.ask.after, lc.page.recs[lc.page.n - 1].name);
		ret = list_tell(&lc.page, fn, arg);
		ddio_ns_listing_free(&lc.page);
	} while (more && !ret);
	return ret;
}

/*
 * Placement
 */
struct layout_call {
	struct session_call call;
	struct request_set set;
	struct ddio_file *file;
	uint32_t i;	 /* of the stripe */
	uint64_t cursor; /* block of the object */
	struct ddio_msg_extents page;
};

static void layout_got(struct request_set *set, uint64_t key, const struct reply *reply,
		       struct error *error)
{
	struct layout_call *lc = set->arg;
	int err = ddio_get_extents(reply->payload, reply->len, &lc->page);

	(void)key;
	if (err)
		error_set(error, err, "%s: malformed reply about a disk's extents",
			  lc->file->rec.name);
}

static void layout_done(struct request_set *set)
{
	struct layout_call *lc = set->arg;

	call_end(&lc->call, &set->error);
}

static void layout_run(struct session_call *call)
{
	struct layout_call *lc = ddio_container_of(call, struct layout_call, call);
	struct ddio_msg_obj obj = { .file = lc->file->rec.ref,
				    .disk = lc->file->rec.disks[lc->i],
				    .offset = lc->cursor,
				    .len = DDIO_MAX_BATCH };

	request_set_begin(&lc->set, call->session, lc->file->rec.name, layout_done, lc);
	lc->set.missing_ok = true;
	lc->set.reply = layout_got;
	request_set_disk(&lc->set, DDIO_OP_OBJ_EXTENTS, &obj, 0);
	request_set_end(&lc->set);
}

static int layout_tell(struct layout_call *lc, int (*fn)(void *arg, const struct ddio_placement *p),
		       void *arg)
{
	const struct ddio_file_record *rec = &lc->file->rec;
	uint32_t k;
	int ret = 0;

	for (k = 0; k < lc->page.n && !ret; k++) {
		const struct ddio_wire_extent *e = &lc->page.ext[k];
		struct ddio_placement p = { .disk = rec->disks[lc->i],
					    .block = e->block * rec->ndisks + lc->i,
					    .start = e->start,
					    .count = e->count };

		lc->cursor = e->block + e->count;
		ret = fn(arg, &p);
	}
	return ret;
}

int ddio_layout(struct ddio_file *file, int (*fn)(void *arg, const struct ddio_placement *p),
		void *arg)
{
	struct layout_call lc = { .file = file };
	bool more;
	int ret = 0;

	if (!file)
		return -EINVAL;
	if (!fn)
		return session_fail(file->session, -EINVAL, "ddio_layout: fn is NULL");
	for (lc.i = 0; lc.i < file->rec.ndisks && !ret; lc.i++) {
		lc.cursor = 0;
		do {
			memset(&lc.page, 0, sizeof(lc.page));
			ret = call_run(file->session, &lc.call, layout_run);
			if (ret)
				break;
			more = lc.page.more && lc.page.n;
			ret = layout_tell(&lc, fn, arg);
			free(lc.page.ext);
		} while (more && !ret);
	}
	return ret;
}
