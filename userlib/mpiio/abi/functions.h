/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions that are served for files of ddio.  FILE_CALLS(F) are those that take a file as it is:
 * F(name, parameters behind the file, arguments behind the file).  DATA_CALLS(D) move data:
 * D(name, form, write, from, all), each twice, with an int and with an MPI_Count as count; what else their name says
 * is in the form.  END_CALLS(E) end split collectives.
 */
#ifndef MPIIO_FUNCTIONS_H
#define MPIIO_FUNCTIONS_H

#define FILE_CALLS(F)                                                                        \
	F(set_size, (MPI_Offset size), (size))                                               \
	F(preallocate, (MPI_Offset size), (size))                                            \
	F(get_size, (MPI_Offset * size), (size))                                             \
	F(get_group, (MPI_Group * group), (group))                                           \
	F(get_amode, (int *amode), (amode))                                                  \
	F(set_info, (MPI_Info info), (info))                                                 \
	F(get_info, (MPI_Info * info), (info))                                               \
	F(set_view,                                                                          \
	  (MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,  \
	   MPI_Info info),                                                                   \
	  (disp, etype, filetype, datarep, info))                                            \
	F(get_view,                                                                          \
	  (MPI_Offset * disp, MPI_Datatype * etype, MPI_Datatype * filetype, char *datarep), \
	  (disp, etype, filetype, datarep))                                                  \
	F(seek, (MPI_Offset offset, int whence), (offset, whence))                           \
	F(get_position, (MPI_Offset * offset), (offset))                                     \
	F(get_byte_offset, (MPI_Offset offset, MPI_Offset * disp), (offset, disp))           \
	F(seek_shared, (MPI_Offset offset, int whence), (offset, whence))                    \
	F(get_position_shared, (MPI_Offset * offset), (offset))                              \
	F(get_type_extent, (MPI_Datatype type, MPI_Aint * extent), (type, extent))           \
	F(set_atomicity, (int flag), (flag))                                                 \
	F(get_atomicity, (int *flag), (flag))                                                \
	F(sync, (), ())

#define DATA_CALLS(D)                                   \
	D(read_at, AT, 0, FROM_OFFSET, 0)               \
	D(read_at_all, AT, 0, FROM_OFFSET, 1)           \
	D(write_at, AT, 1, FROM_OFFSET, 0)              \
	D(write_at_all, AT, 1, FROM_OFFSET, 1)          \
	D(iread_at, IAT, 0, FROM_OFFSET, 0)             \
	D(iread_at_all, IAT, 0, FROM_OFFSET, 1)         \
	D(iwrite_at, IAT, 1, FROM_OFFSET, 0)            \
	D(iwrite_at_all, IAT, 1, FROM_OFFSET, 1)        \
	D(read, HERE, 0, FROM_POINTER, 0)               \
	D(read_all, HERE, 0, FROM_POINTER, 1)           \
	D(write, HERE, 1, FROM_POINTER, 0)              \
	D(write_all, HERE, 1, FROM_POINTER, 1)          \
	D(iread, IHERE, 0, FROM_POINTER, 0)             \
	D(iread_all, IHERE, 0, FROM_POINTER, 1)         \
	D(iwrite, IHERE, 1, FROM_POINTER, 0)            \
	D(iwrite_all, IHERE, 1, FROM_POINTER, 1)        \
	D(read_shared, HERE, 0, FROM_SHARED, 0)         \
	D(write_shared, HERE, 1, FROM_SHARED, 0)        \
	D(iread_shared, IHERE, 0, FROM_SHARED, 0)       \
	D(iwrite_shared, IHERE, 1, FROM_SHARED, 0)      \
	D(read_ordered, HERE, 0, FROM_SHARED, 1)        \
	D(write_ordered, HERE, 1, FROM_SHARED, 1)       \
	D(read_at_all_begin, BAT, 0, FROM_OFFSET, 1)    \
	D(write_at_all_begin, BAT, 1, FROM_OFFSET, 1)   \
	D(read_all_begin, BHERE, 0, FROM_POINTER, 1)    \
	D(write_all_begin, BHERE, 1, FROM_POINTER, 1)   \
	D(read_ordered_begin, BHERE, 0, FROM_SHARED, 1) \
	D(write_ordered_begin, BHERE, 1, FROM_SHARED, 1)

#define END_CALLS(E)                        \
	E(read_at_all_end, 0, FROM_OFFSET)  \
	E(write_at_all_end, 1, FROM_OFFSET) \
	E(read_all_end, 0, FROM_POINTER)    \
	E(write_all_end, 1, FROM_POINTER)   \
	E(read_ordered_end, 0, FROM_SHARED) \
	E(write_ordered_end, 1, FROM_SHARED)

/* Those that complete requests: they concern ddio while some of its operations are under way. */
#define REQUEST_CALLS(R)                                                                           \
	R(Wait, (MPI_Request * request, MPI_Status * status), (request, status))                   \
	R(Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status))   \
	R(Waitall, (int n, MPI_Request *requests, MPI_Status *statuses), (n, requests, statuses))  \
	R(Testall, (int n, MPI_Request *requests, int *flag, MPI_Status *statuses),                \
	  (n, requests, flag, statuses))                                                           \
	R(Waitany, (int n, MPI_Request *requests, int *index, MPI_Status *status),                 \
	  (n, requests, index, status))                                                            \
	R(Testany, (int n, MPI_Request *requests, int *index, int *flag, MPI_Status *status),      \
	  (n, requests, index, flag, status))                                                      \
	R(Waitsome, (int n, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses), \
	  (n, requests, done, indices, statuses))                                                  \
	R(Testsome, (int n, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses), \
	  (n, requests, done, indices, statuses))                                                  \
	R(Request_free, (MPI_Request * request), (request))                                        \
	R(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),                \
	  (request, flag, status))                                                                 \
	ASKING_CALLS(R)

/* Since MPI 4.1; real.c has them for the MPIs before. */
#define ASKING_CALLS(R)                                                                        \
	R(Request_get_status_all,                                                              \
	  (int n, const MPI_Request *requests, int *flag, MPI_Status *statuses),               \
	  (n, requests, flag, statuses))                                                       \
	R(Request_get_status_any,                                                              \
	  (int n, const MPI_Request *requests, int *index, int *flag, MPI_Status *status),     \
	  (n, requests, index, flag, status))                                                  \
	R(Request_get_status_some,                                                             \
	  (int n, const MPI_Request *requests, int *done, int *indices, MPI_Status *statuses), \
	  (n, requests, done, indices, statuses))

#endif
