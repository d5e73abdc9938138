// SPDX-License-Identifier: LGPL-2.1-or-later
/* Space for a range of a file, in advance: its disks make it, then the file grows. */
#include <errno.h>
#include "cp/file/file.h"

struct allocate_call {
	struct session_call call;
	struct ddio_file *file;
	uint64_t from, to;
	struct request_set set;
	struct size_job size;
};

static void allocate_sized(struct size_job *job)
{
	struct allocate_call *ac = job->arg;

	call_end(&ac->call, &job->error);
}

static void allocate_made(struct request_set *set)
{
	struct allocate_call *ac = set->arg;

	incarnations_note(ac->file);
	if (set->error.status) {
		call_end(&ac->call, &set->error);
		return;
	}
	ac->size = (struct size_job){
		.file = ac->file, .size = ac->to, .done = allocate_sized, .arg = ac
	};
	size_extend(&ac->size);
}

static void allocate_run(struct session_call *call)
{
	struct allocate_call *ac = ddio_container_of(call, struct allocate_call, call);
	const struct ddio_file_record *rec = &ac->file->rec;
	struct ddio_msg_obj obj = { .file = rec->ref };
	uint32_t i;

	if (!file_usable(ac->file, &ac->set.error)) {
		call_end(call, &ac->set.error);
		return;
	}
	incarnations_begin(ac->file);
	request_set_begin(&ac->set, call->session, rec->name, allocate_made, ac);
	for (i = 0; i < rec->ndisks; i++) {
		obj.disk = rec->disks[i];
		obj.offset = file_object_size(rec, i, ac->from);
		obj.len = file_object_size(rec, i, ac->to) - obj.offset;
		if (obj.len)
			request_set_disk(&ac->set, DDIO_OP_OBJ_ALLOCATE, &obj, i);
	}
	request_set_end(&ac->set);
}

int ddio_allocate(struct ddio_file *file, uint64_t offset, uint64_t len)
{
	struct allocate_call ac = { .file = file, .from = offset };

	if (!file)
		return -EINVAL;
	if (offset > DDIO_MAX_FILE || len > DDIO_MAX_FILE - offset)
		return session_fail(file->session, -EFBIG, "%s: a file has at most %llu bytes",
				    file->rec.name, (unsigned long long)DDIO_MAX_FILE);
	ac.to = offset + len;
	return len ? file_call_run(file, &ac.call, allocate_run) : 0;
}
