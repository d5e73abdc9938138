// SPDX-License-Identifier: LGPL-2.1-or-later
/* Making a directory. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "cp/file/file.h"

struct mkdir_call {
	struct session_call call;
	const char *name;
	uint32_t mode;
	struct node_request request;
	struct error error;
};

static void mkdir_made(struct node_request *request, const struct reply *reply)
{
	struct mkdir_call *mc = request->arg;

	if (reply->status)
		reply_error(&mc->error, reply, mc->name);
	call_end(&mc->call, &mc->error);
}

static void mkdir_run(struct session_call *call)
{
	struct mkdir_call *mc = ddio_container_of(call, struct mkdir_call, call);
	uint32_t disk = 0;
	struct ddio_msg_ns_create msg = {
		.flags = DDIO_NS_DIR,
		.mode = mc->mode,
		.uid = geteuid(),
		.gid = getegid(),
		.rec = { .ref = { .block = DDIO_MIN_BLOCK }, .ndisks = 1, .disks = &disk },
	};
	int err;

	error_clear(&mc->error);
	strcpy(msg.path, mc->name);
	request_init(&mc->request, DDIO_OP_NS_CREATE, mkdir_made, mc);
	err = request_put(&mc->request, ns_create, &msg);
	if (err) {
		error_set(&mc->error, err, "%s: %s", mc->name, strerror(-err));
		call_end(&mc->call, &mc->error);
		return;
	}
	request_names(call->session, &mc->request);
}

int ddio_mkdir(struct ddio_session *session, const char *name, unsigned int mode)
{
	struct mkdir_call mc = { .name = name, .mode = mode };

	if (!session)
		return -EINVAL;
	if (!file_name_ok(name))
		return session_fail(session, -EINVAL, FILE_NAME_BYTES, DDIO_MAX_PATH);
	if (mode & ~0777u)
		return session_fail(session, -EINVAL, "%s: %#o: permissions are at most 0777", name,
				    mode);
	return call_run(session, &mc.call, mkdir_run);
}
