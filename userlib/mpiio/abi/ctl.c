// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a file is, how large, how durable, how atomic. */
#include <errno.h>
#include "mpiio/abi/abi.h"

int serve_get_amode(struct mpiio_file *f, int *amode)
{
	*amode = f->amode;
	return MPI_SUCCESS;
}

int serve_get_group(struct mpiio_file *f, MPI_Group *group)
{
	return PMPI_Comm_group(f->team->comm, group);
}

int serve_get_size(struct mpiio_file *f, MPI_Offset *size)
{
	struct ddio_file_stat st;
	int ret = behind_own(f);

	if (ret)
		return behind_fail(f, ret);
	ret = ddio_fstat(f->file, &st);
	if (ret)
		return fail(f, ret);
	*size = (MPI_Offset)st.size;
	return MPI_SUCCESS;
}

typedef int (*act_fn)(struct mpiio_file *f, uint64_t arg);

/* The code alone. */
static int root_acts(struct mpiio_file *f, act_fn act, uint64_t arg)
{
	struct team_verdict v = { 0 };

	if (!f->team->rank)
		verdict_say(&v, cluster_session(f->team->cluster), act(f, arg));
	verdict_of_root(f->team, &v);
	return v.err ? code_text(v.err, v.text) : MPI_SUCCESS;
}

/* What rank 0 does for all, when all have come. */
static int by_root(struct mpiio_file *f, enum mpiio_call call, act_fn act, uint64_t arg)
{
	int ret = behind_settle(f);

	if (ret)
		return behind_fail(f, ret);
	ret = file_barrier(f, call);
	return ret ? fail(f, ret) : fail_code(f, root_acts(f, act, arg));
}

static int act_set_size(struct mpiio_file *f, uint64_t size)
{
	return ddio_set_size(f->file, size);
}

static int act_allocate(struct mpiio_file *f, uint64_t size)
{
	return size ? ddio_allocate(f->file, 0, size) : 0;
}

static int act_sync(struct mpiio_file *f, uint64_t arg)
{
	(void)arg;
	return ddio_sync(f->file);
}

static int size_check(struct mpiio_file *f, enum mpiio_call call, MPI_Offset size)
{
	int ret = file_same(f, call, size);

	if (ret)
		return fail_not_same(f, ret, "the sizes differ");
	if (size < 0)
		return fail_class(f, MPI_ERR_ARG, "the size is negative");
	if (f->amode & MPI_MODE_RDONLY)
		return fail_class(f, MPI_ERR_READ_ONLY, "the file was opened with MPI_MODE_RDONLY");
	return MPI_SUCCESS;
}

int serve_set_size(struct mpiio_file *f, MPI_Offset size)
{
	int ret = size_check(f, CALL_SIZE, size);

	return ret ? ret : by_root(f, CALL_SIZE, act_set_size, (uint64_t)size);
}

int serve_preallocate(struct mpiio_file *f, MPI_Offset size)
{
	int ret = size_check(f, CALL_ALLOCATE, size);

	return ret ? ret : by_root(f, CALL_ALLOCATE, act_allocate, (uint64_t)size);
}

int sync_by_root(struct mpiio_file *f)
{
	return root_acts(f, act_sync, 0);
}

int serve_sync(struct mpiio_file *f)
{
	return by_root(f, CALL_SYNC, act_sync, 0);
}

int serve_set_atomicity(struct mpiio_file *f, int flag)
{
	int ret;

	ret = file_same(f, CALL_ATOMICITY, !!flag);
	if (ret)
		return fail_not_same(f, ret, "the modes differ");
	ret = behind_settle(f);
	if (ret)
		return behind_fail(f, ret);
	f->atomic = flag;
	return MPI_SUCCESS;
}

int serve_get_atomicity(struct mpiio_file *f, int *flag)
{
	*flag = f->atomic;
	return MPI_SUCCESS;
}

int serve_get_type_extent(struct mpiio_file *f, MPI_Datatype type, MPI_Aint *extent)
{
	struct mpiio_fview *seen = fview_hold(&f->seen, &f->lock);
	const struct mpiio_rep *rep = seen->rep; /* it stays until the process ends */
	MPI_Aint lb;

	fview_put(seen);
	if (!rep)
		return PMPI_Type_get_extent(type, &lb, extent);
	if (rep_extent(rep, type, extent))
		return fail_class(f, MPI_ERR_TYPE,
				  "the file's data representation does not have the datatype");
	return MPI_SUCCESS;
}
