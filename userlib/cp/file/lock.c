// SPDX-License-Identifier: LGPL-2.1-or-later
/* Locks of a range of a file.  Their owner is the calling thread, of this session. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include "cp/file/file.h"
#include "cp/hold/hold.h"

/* Numbers of threads; of those of other processes nothing is known, nor need be: their sessions differ. */
static atomic_uint_fast64_t lock_threads;
static __thread uint64_t lock_thread;

struct lock_call {
	struct session_call call;
	struct hold_ask ask;
};

static uint64_t lock_owner(void)
{
	if (!lock_thread)
		lock_thread = atomic_fetch_add_explicit(&lock_threads, 1, memory_order_relaxed) + 1;
	return lock_thread;
}

static void lock_answered(struct hold_ask *ask)
{
	struct lock_call *lc = ask->arg;

	if (!ask->error.status && ask->lost && ask->msg.type == DDIO_FS_LOCK_NONE)
		error_status(&ask->error, DDIO_ST_STALE,
			     "%.300s: the lock from byte %llu on was lost: the name server was out "
			     "of reach for too long",
			     ask->name, (unsigned long long)ask->msg.start);
	call_end(&lc->call, &ask->error);
}

static void lock_run(struct session_call *call)
{
	struct lock_call *lc = ddio_container_of(call, struct lock_call, call);

	hold_begin(&lc->ask);
}

static int lock_range(struct ddio_file *file, uint64_t offset, uint64_t len, uint32_t type,
		      uint32_t flags)
{
	struct lock_call lc = { .ask = { .session = file->session,
					 .by = file,
					 .name = file->rec.name,
					 .done = lock_answered,
					 .arg = &lc } };
	struct hold_ask *ask = &lc.ask;
	int err;

	if (offset > DDIO_MAX_FILE || len > DDIO_MAX_FILE - offset)
		return session_fail(file->session, -EFBIG, "%s: a file has at most %llu bytes",
				    file->rec.name, (unsigned long long)DDIO_MAX_FILE);
	ask->msg = (struct ddio_msg_fs_lock){
		.ino = file->rec.ref.id,
		.start = offset,
		.end = len ? offset + len - 1 : UINT64_MAX,
		.owner = lock_owner(),
		.pid = (uint32_t)getpid(),
		.type = type,
		.flags = flags,
	};
	ask->spare[0] = malloc(sizeof(*ask->spare[0]));
	ask->spare[1] = malloc(sizeof(*ask->spare[1]));
	if (ask->spare[0] && ask->spare[1])
		err = call_run(file->session, &lc.call, lock_run);
	else
		err = session_fail(file->session, -ENOMEM, "%s: locks: out of memory",
				   file->rec.name);
	free(ask->spare[0]);
	free(ask->spare[1]);
	return err;
}

int ddio_lock(struct ddio_file *file, uint64_t offset, uint64_t len, unsigned int flags)
{
	unsigned int how = flags & ~DDIO_LOCK_TRY;

	if (!file)
		return -EINVAL;
	if (how != DDIO_LOCK_SHARED && how != DDIO_LOCK_EXCLUSIVE)
		return session_fail(
			file->session, -EINVAL,
			"%s: either DDIO_LOCK_SHARED or DDIO_LOCK_EXCLUSIVE, and perhaps DDIO_LOCK_TRY",
			file->rec.name);
	return lock_range(file, offset, len,
			  how == DDIO_LOCK_SHARED ? DDIO_FS_LOCK_READ : DDIO_FS_LOCK_WRITE,
			  flags & DDIO_LOCK_TRY ? 0 : DDIO_FS_LOCK_WAIT);
}

int ddio_unlock(struct ddio_file *file, uint64_t offset, uint64_t len)
{
	return file ? lock_range(file, offset, len, DDIO_FS_LOCK_NONE, 0) : -EINVAL;
}
