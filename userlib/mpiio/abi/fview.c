// SPDX-License-Identifier: LGPL-2.1-or-later
/* The file's view (MPI 4.0, section 14.3).  Nothing is sent for it but what tells all ranks whether it was well. */
#include <errno.h>
#include <string.h>
#include "mpiio/abi/hints.h"

/* With the caller's reference; the pointer is at the beginning. */
static void fview_use(struct mpiio_file *f, struct mpiio_fview *seen)
{
	struct mpiio_fview *had;

	pthread_mutex_lock(&f->lock);
	had = f->seen;
	f->seen = seen;
	f->pos = 0;
	pthread_mutex_unlock(&f->lock);
	fview_put(had);
}

struct wanted {
	MPI_Offset disp;
	MPI_Datatype etype, filetype;
	int overlap; /* may be */
};

static int etype_in_order(const struct wanted *w)
{
	struct mpiio_shape s = { 0 };
	int ret = type_shape(w->etype, &s);

	if (!ret)
		ret = shape_in_order(&s, w->overlap);
	shape_drop(&s);
	return ret;
}

/* The file type's tree, its extent, and that it is made of etypes. */
static int view_make(struct mpiio_view *v, const struct wanted *w)
{
	MPI_Count size, lb, extent, etype;
	int ret;

	if (w->disp < 0 || w->etype == MPI_DATATYPE_NULL || w->filetype == MPI_DATATYPE_NULL)
		return -EINVAL;
	PMPI_Type_size_x(w->etype, &etype);
	PMPI_Type_size_x(w->filetype, &size);
	PMPI_Type_get_extent_x(w->filetype, &lb, &extent);
	if (etype <= 0 || size % etype || extent < 0)
		return -EINVAL;
	ret = type_shape(w->filetype, &v->shape);
	if (!ret)
		ret = shape_in_order(&v->shape, w->overlap);
	if (!ret)
		ret = etype_in_order(w);
	if (ret)
		return ret;
	v->disp = (uint64_t)w->disp;
	v->etype = (uint64_t)etype;
	v->extent = (uint64_t)extent;
	return 0;
}

/* Instead of the program's, which it may free. */
static int types_copy(const struct wanted *w, struct mpiio_fview *seen)
{
	return type_copy(w->etype, &seen->etype) || type_copy(w->filetype, &seen->filetype)
		       ? -ENOMEM
		       : 0;
}

/* A displacement at the shared pointer, for files that can only be gone through. */
static int displacement(struct mpiio_file *f, MPI_Offset *disp)
{
	int64_t now = 0, byte;
	int ret;

	if (*disp != MPI_DISPLACEMENT_CURRENT)
		return f->amode & MPI_MODE_SEQUENTIAL ? -EINVAL : 0;
	if (!(f->amode & MPI_MODE_SEQUENTIAL))
		return -EINVAL;
	ret = ddio_counter_get(f->shared, &now);
	byte = ret ? ret : view_byte(&f->seen->view, (uint64_t)now * f->seen->view.etype);
	*disp = byte;
	return byte < 0 ? (int)byte : 0;
}

/* Returns false if there is none of that name; that of memory is NULL. */
static bool representation_of(const char *name, const struct mpiio_rep **rep)
{
	*rep = NULL;
	if (!name)
		return false;
	if (strcmp(name, "native") && strcmp(name, "internal"))
		*rep = rep_find(name);
	return *rep || !strcmp(name, "native") || !strcmp(name, "internal");
}

/* A number that differs where representations do: ranks have them at other addresses. */
static int64_t representation_number(bool known, const struct mpiio_rep *rep)
{
	const char *c = rep ? rep->name : "";
	uint32_t sum = 2166136261u;

	for (; *c; c++)
		sum = (sum ^ (unsigned char)*c) * 16777619u;
	return known ? (int64_t)sum : -1;
}

static const char *fault(const struct wanted *w, int mine)
{
	if (!mine)
		return "no such view on another rank";
	if (mine == -EINPROGRESS)
		return "a split collective is under way";
	if (mine == -EDOM)
		return w->overlap
			       ? "an etype or file type with negative or decreasing displacements"
			       : "an etype or file type with negative or decreasing "
				 "displacements, or one that overlaps itself";
	return w->disp < 0 ? "no such displacement" : "no such view";
}

/* What differs where it must not, or went wrong on any rank; one message for all of it. */
static int agree(struct mpiio_file *f, const struct wanted *w, int64_t etype, int64_t rep, int mine)
{
	int64_t say[6] = { -mine, etype, -etype, rep, -rep, behind_says(f) };
	const int64_t *most = say;
	int ret = file_max(f, CALL_VIEW, say, 6);

	if (ret)
		return fail(f, ret);
	if (most[0])
		return fail_text(f, -(int)most[0], fault(w, mine));
	if (most[1] != -most[2] || most[3] != -most[4])
		return fail_class(f, MPI_ERR_NOT_SAME,
				  "the sizes of the etypes differ, or the data representations");
	if (rep < 0)
		return fail_class(f, MPI_ERR_UNSUPPORTED_DATAREP,
				  "only native, internal, external32, and what was registered");
	behind_choose(f, most[5]);
	return MPI_SUCCESS;
}

/* Elements may have other sizes in the file than in memory: then the view is one of the types as they lie there. */
static int represented_view(struct mpiio_view *v, const struct wanted *w,
			    const struct mpiio_rep *rep)
{
	struct wanted in_file = *w;
	int ret;

	in_file.etype = in_file.filetype = MPI_DATATYPE_NULL;
	if (w->etype == MPI_DATATYPE_NULL || w->filetype == MPI_DATATYPE_NULL)
		return -EINVAL;
	ret = rep_type(rep, w->etype, &in_file.etype);
	if (!ret)
		ret = rep_type(rep, w->filetype, &in_file.filetype);
	if (!ret)
		ret = view_make(v, &in_file);
	type_drop(&in_file.etype);
	type_drop(&in_file.filetype);
	return ret;
}

static int view_prepare(struct mpiio_file *f, struct mpiio_fview *seen, struct wanted *w,
			const struct mpiio_rep *rep)
{
	int ret = seen ? displacement(f, &w->disp) : -ENOMEM;

	if (!ret)
		ret = rep ? represented_view(&seen->view, w, rep) : view_make(&seen->view, w);
	return ret ? ret : types_copy(w, seen);
}

int serve_set_view(struct mpiio_file *f, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
		   const char *datarep, MPI_Info info)
{
	struct wanted w = { disp, etype, filetype, f->amode & MPI_MODE_RDONLY };
	const struct mpiio_rep *rep;
	bool known = representation_of(datarep, &rep);
	struct mpiio_fview *seen;
	int ret, mine, told;

	ret = behind_settle(f);
	if (ret)
		return behind_fail(f, ret);
	hints_take(f, info);
	seen = fview_new(rep);
	mine = f->split ? -EINPROGRESS : view_prepare(f, seen, &w, rep);
	ret = agree(f, &w, seen ? (int64_t)seen->view.etype : 0, representation_number(known, rep),
		    mine);
	if (ret) {
		fview_put(seen);
		return ret;
	}
	told = requests_settle(f);
	fview_use(f, seen);
	if (shared_set(f, 0))
		return fail(f, -EIO);
	fail_code(f, told);
	return MPI_SUCCESS;
}

int serve_get_view(struct mpiio_file *f, MPI_Offset *disp, MPI_Datatype *etype,
		   MPI_Datatype *filetype, char *datarep)
{
	struct mpiio_fview *seen = fview_hold(&f->seen, &f->lock);
	int ret;

	*disp = (MPI_Offset)seen->view.disp;
	strcpy(datarep, seen->rep ? seen->rep->name : "native");
	ret = type_copy(seen->etype, etype) || type_copy(seen->filetype, filetype);
	fview_put(seen);
	return ret ? fail_text(f, -ENOMEM, NULL) : MPI_SUCCESS;
}
