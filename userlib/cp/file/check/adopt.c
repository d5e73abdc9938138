// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Gives objects that belong to no file one again, so that a person can look at what they hold.  A disk's records tell the number, the
 * blocks and the layout of a file, but not over which disks it is spread.  It is taken for spread over all disks of the
 * cluster, in the configuration's order, as files are by default; but only if the objects are as long as those of such a file
 * without a hole at the end of any.  Otherwise something is missing, or the file was spread in another way, or had holes there:
 * the objects are named, and stay.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/check/check.h"
#include "cp/node/identity.h"

/**
 * struct adoption - objects of one number
 * @end: of each disk: the end of its object, in bytes
 * @rec: the file to be made
 */
struct adoption {
	struct session_call call;
	struct node_request request;
	struct cluster_check *check;
	const struct found_object *found;
	size_t n;
	uint64_t *end;
	struct ddio_file_record rec;
};

static int kept(const struct adoption *a, const char *why)
{
	check_tell(a->check,
		   "file %" PRIu64 ": kept as it is, since %s ('--repair --drop' removes it)",
		   a->found->id, why);
	return 0;
}

static bool same_file(const struct ddio_file_ref *a, const struct ddio_file_ref *b)
{
	return a->id == b->id && a->seed == b->seed && a->block == b->block &&
	       a->layout == b->layout;
}

/* Asks a disk about its object.  *@why: what speaks against a file. */
static int ask_disk(struct adoption *a, const struct found_object *f, const char **why)
{
	struct check_ask ask = { .obj = { .file = { .id = f->id, .block = DDIO_MIN_BLOCK },
					  .disk = f->disk } };
	int err = check_ask(a->check, &ask, DDIO_OP_OBJ_WHOSE);

	if (!err && a->rec.ref.id && !same_file(&a->rec.ref, &ask.obj.file)) {
		*why = "its objects are not of one time";
		return 0;
	}
	a->rec.ref = ask.obj.file;
	if (!err)
		err = check_ask(a->check, &ask, DDIO_OP_OBJ_STAT);
	a->end[f->disk] = ask.stat.end;
	a->rec.size += ask.stat.end;
	if (err && !check_cut_off(&ask.call.error)) {
		*why = "its records cannot be read";
		err = 0;
	}
	return err;
}

/* Returns what speaks against a file that is spread over all disks, or NULL. */
static const char *judge(const struct adoption *a)
{
	const struct ddio_session *s = a->check->session;
	uint32_t i;

	if (a->check->damaged)
		return "damaged records have not been repaired";
	if (!a->rec.size)
		return "it holds nothing";
	for (i = 0; i < a->rec.ndisks; i++)
		if (!a->end[i] && a->rec.ref.id < identity_lost(s, i))
			return "a part of it may be lost with a disk that was replaced";
	for (i = 0; i < a->rec.ndisks; i++)
		if (file_object_size(&a->rec, i, a->rec.size) != a->end[i])
			return "nothing tells over which disks it is spread";
	return NULL;
}

static void adopt_got(struct node_request *request, const struct reply *reply)
{
	struct adoption *a = request->arg;
	struct error error;
	int err;

	error_clear(&error);
	if (reply->status) {
		reply_error(&error, reply, "check");
	} else {
		ddio_file_record_free(&a->rec);
		err = ddio_get_record(reply->payload, reply->len, &a->rec, NULL);
		if (err)
			reply_malformed(&error, err, "check");
	}
	call_end(&a->call, &error);
}

static void adopt_run(struct session_call *call)
{
	struct adoption *a = ddio_container_of(call, struct adoption, call);
	struct error error;
	int err;

	request_init(&a->request, DDIO_OP_NS_ADOPT, adopt_got, a);
	err = request_put(&a->request, record, &a->rec);
	if (err) {
		error_set(&error, err, "check: %s", strerror(-err));
		call_end(call, &error);
		return;
	}
	request_names(call->session, &a->request);
}

static int adopt(struct adoption *a)
{
	struct ddio_check_result *r = a->check->result;
	int err = call_run(a->check->session, &a->call, adopt_run);

	if (err && !check_cut_off(&a->call.error))
		return kept(a, a->call.error.text);
	if (err)
		return err;
	check_tell(
		a->check,
		"file %" PRIu64 ": given back as /%s: %" PRIu64
		" bytes, its size in whole blocks; it is taken for spread over all disks in their "
		"order, as files are by default",
		a->found->id, a->rec.name, a->rec.size);
	a->check->adopted = true;
	r->problems++;
	r->repaired++;
	r->files++;
	r->orphans -= a->n;
	return 0;
}

static int look(struct adoption *a)
{
	const char *why = NULL;
	size_t i;
	int err = 0;

	for (i = 0; i < a->n && !err && !why; i++) {
		err = ask_disk(a, &a->found[i], &why);
		/* It is being removed. */
		if (err == -ENOENT)
			return 0;
	}
	if (!err && !why)
		why = judge(a);
	if (err)
		return err;
	return why ? kept(a, why) : adopt(a);
}

int check_adopt(struct cluster_check *c, const struct found_object *f, size_t n)
{
	struct adoption a = { .check = c, .found = f, .n = n };
	uint32_t i;
	int err;

	a.rec.ndisks = c->session->conf->ndisks;
	a.rec.disks = malloc(a.rec.ndisks * sizeof(*a.rec.disks));
	a.end = calloc(a.rec.ndisks, sizeof(*a.end));
	if (a.rec.disks && a.end) {
		for (i = 0; i < a.rec.ndisks; i++)
			a.rec.disks[i] = i;
		err = look(&a);
	} else {
		err = session_fail(c->session, -ENOMEM, "check: out of memory");
	}
	ddio_file_record_free(&a.rec);
	free(a.end);
	return err;
}
