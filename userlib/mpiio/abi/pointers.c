// SPDX-License-Identifier: LGPL-2.1-or-later
/* The individual and the shared pointer, told and moved; in etypes of the view. */
#include <errno.h>
#include "mpiio/abi/abi.h"

static int sequential_check(const struct mpiio_file *f)
{
	if (!(f->amode & MPI_MODE_SEQUENTIAL))
		return MPI_SUCCESS;
	return fail_class(f, MPI_ERR_UNSUPPORTED_OPERATION,
			  "the file was opened with MPI_MODE_SEQUENTIAL");
}

/* Where a seek leads; @from is where the pointer is.  Under the lock, or in a collective call. */
static int target(struct mpiio_file *f, MPI_Offset offset, int whence, uint64_t from, uint64_t *to)
{
	struct ddio_file_stat st;
	int64_t sum;
	int ret;

	switch (whence) {
	case MPI_SEEK_SET:
		from = 0;
		break;
	case MPI_SEEK_CUR:
		break;
	case MPI_SEEK_END:
		ret = ddio_fstat(f->file, &st);
		if (ret)
			return ret;
		from = view_positions(&f->seen->view, st.size);
		break;
	default:
		return -EINVAL;
	}
	if (__builtin_add_overflow((int64_t)from, offset, &sum) || sum < 0)
		return -EINVAL;
	*to = (uint64_t)sum;
	return 0;
}

static int fail_seek(struct mpiio_file *f, int ret)
{
	return ret == -EINVAL ? fail_text(f, ret, "a seek before the beginning, or from nowhere")
			      : fail(f, ret);
}

int serve_seek(struct mpiio_file *f, MPI_Offset offset, int whence)
{
	int ret = sequential_check(f);

	if (ret)
		return ret;
	ret = whence == MPI_SEEK_END ? behind_own(f) : 0;
	if (ret)
		return behind_fail(f, ret);
	pthread_mutex_lock(&f->lock);
	ret = target(f, offset, whence, f->pos, &f->pos);
	pthread_mutex_unlock(&f->lock);
	return ret ? fail_seek(f, ret) : MPI_SUCCESS;
}

int serve_get_position(struct mpiio_file *f, MPI_Offset *offset)
{
	int ret = sequential_check(f);

	if (ret)
		return ret;
	pthread_mutex_lock(&f->lock);
	*offset = (MPI_Offset)f->pos;
	pthread_mutex_unlock(&f->lock);
	return MPI_SUCCESS;
}

int serve_get_byte_offset(struct mpiio_file *f, MPI_Offset offset, MPI_Offset *disp)
{
	struct mpiio_fview *seen = fview_hold(&f->seen, &f->lock);
	int64_t byte = -EINVAL;
	uint64_t at;

	if (offset >= 0 && !__builtin_mul_overflow((uint64_t)offset, seen->view.etype, &at))
		byte = view_byte(&seen->view, at);
	fview_put(seen);
	if (byte < 0)
		return fail_text(f, (int)byte, "the view has no such offset");
	*disp = byte;
	return MPI_SUCCESS;
}

int serve_get_position_shared(struct mpiio_file *f, MPI_Offset *offset)
{
	int64_t now;
	int ret = sequential_check(f);

	if (ret)
		return ret;
	ret = ddio_counter_get(f->shared, &now);
	if (ret)
		return fail(f, ret);
	*offset = now;
	return MPI_SUCCESS;
}

/* Collective, and the same on all; the place is what rank 0 finds. */
int serve_seek_shared(struct mpiio_file *f, MPI_Offset offset, int whence)
{
	struct mpiio_team *t = f->team;
	struct team_verdict v = { 0 };
	int64_t now = 0;
	uint64_t to = 0;
	int ret = sequential_check(f);

	if (ret)
		return ret;
	ret = behind_settle(f);
	if (ret)
		return behind_fail(f, ret);
	ret = file_same(f, CALL_SEEK, offset);
	if (!ret)
		ret = file_same(f, CALL_SEEK, whence);
	if (ret)
		return fail_not_same(f, ret, "the offsets differ, or what they count from");
	if (!t->rank) {
		ret = ddio_counter_get(f->shared, &now);
		if (!ret)
			ret = target(f, offset, whence, (uint64_t)now, &to);
		if (!ret)
			ret = ddio_counter_set(f->shared, (int64_t)to);
		verdict_say(&v, cluster_session(t->cluster), ret);
	}
	verdict_of_root(t, &v);
	return v.err ? fail_seek(f, v.err) : MPI_SUCCESS;
}
