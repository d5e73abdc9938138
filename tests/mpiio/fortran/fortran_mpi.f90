! SPDX-License-Identifier: GPL-2.0-only
! fortran_mpi [--ddio] FILE: MPI-IO by the module mpi.
program fortran_mpi
	use mpi
	implicit none
	character(1024) :: name
	integer :: rank, ranks, err, fh, i, n, class, passed = 0, failed = 0
	integer :: v(64), w(64), column, status(MPI_STATUS_SIZE), request
	integer(MPI_OFFSET_KIND) :: at, bytes
	logical :: fine = .true.
	character(16) :: option
	integer(MPI_ADDRESS_KIND) :: state = 4711
	external negate_read, negate_write, negate_extent

	call MPI_Init(err)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
	call MPI_Comm_size(MPI_COMM_WORLD, ranks, err)
	call get_command_argument(command_argument_count(), name)
	name = trim(name) // '.fm'
	if (rank == 0) call MPI_File_delete(trim(name), MPI_INFO_NULL, err)
	call MPI_Barrier(MPI_COMM_WORLD, err)
	call MPI_File_open(MPI_COMM_WORLD, trim(name), ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, fh, err)
	call need(err == MPI_SUCCESS, 'MPI_File_open')
	call done('fortran_mpi/open')

	! Integers dealt out like cards.
	call MPI_Type_vector(64, 1, ranks, MPI_INTEGER, column, err)
	call MPI_Type_commit(column, err)
	at = 4 * rank
	call MPI_File_set_view(fh, at, MPI_INTEGER, column, 'native', MPI_INFO_NULL, err)
	call need(err == MPI_SUCCESS, 'MPI_File_set_view')
	v = [((i - 1) * ranks + rank, i = 1, 64)]
	call MPI_File_write_all(fh, v, 64, MPI_INTEGER, status, err)
	call MPI_Get_count(status, MPI_INTEGER, n, err)
	call need(n == 64, 'count of write_all')
	call MPI_File_sync(fh, err)
	call MPI_Barrier(MPI_COMM_WORLD, err)
	at = 0
	call MPI_File_set_view(fh, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, err)
	at = 64 * rank
	call MPI_File_read_at_all(fh, at, w, 64, MPI_INTEGER, status, err)
	call need(all(w == [(64 * rank + i - 1, i = 1, 64)]), 'what read_at_all brings')
	call done('fortran_mpi/view')

	call MPI_File_iread_at(fh, at, v, 64, MPI_INTEGER, request, err)
	call MPI_Wait(request, status, err)
	call need(all(v == w), 'what iread_at brings')
	call MPI_File_get_size(fh, bytes, err)
	call need(bytes == 256 * ranks, 'size')
	call done('fortran_mpi/request')

	! A representation of this program's; the MPIs' own I/O has none.
	call get_command_argument(1, option)
	if (option == '--ddio') then
		call MPI_Register_datarep('fortran_negated', negate_read, negate_write, negate_extent, state, err)
		call need(err == MPI_SUCCESS, 'MPI_Register_datarep')
		at = 0
		call MPI_File_set_view(fh, at, MPI_INTEGER, MPI_INTEGER, 'fortran_negated', MPI_INFO_NULL, err)
		call need(err == MPI_SUCCESS, 'a view of it')
		at = 64 * rank
		v = [(64 * rank + i, i = 1, 64)]
		call MPI_File_write_at_all(fh, at, v, 64, MPI_INTEGER, status, err)
		call need(err == MPI_SUCCESS, 'a write of it')
		w = 0
		call MPI_File_read_at_all(fh, at, w, 64, MPI_INTEGER, status, err)
		call need(all(w == v), 'what is read of it')
		call MPI_File_sync(fh, err)
		at = 0
		call MPI_File_set_view(fh, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, err)
		at = 64 * rank
		call MPI_File_read_at_all(fh, at, w, 64, MPI_INTEGER, status, err)
		call need(all(w == -v), 'what is in the file')
		call done('fortran_mpi/datarep')
	end if

	call MPI_Type_free(column, err)
	call MPI_File_close(fh, err)
	call need(fh == MPI_FILE_NULL, 'the handle after MPI_File_close')
	call MPI_File_open(MPI_COMM_WORLD, trim(name) // '.none', MPI_MODE_RDONLY, MPI_INFO_NULL, fh, err)
	call MPI_Error_class(err, class, i)
	call need(class == MPI_ERR_NO_SUCH_FILE, 'the class of a missing file')
	call done('fortran_mpi/close')
	if (rank == 0) write (*, '(i0,a,i0,a)') passed, ' passed, ', failed, ' failed, 0 skipped'
	call MPI_Finalize(err)
	if (failed > 0) stop 1
contains
	include 'told.f90'
end program

! Integers have the other sign in the file.
subroutine negate(from, to, n)
	implicit none
	integer :: from(*), to(*), n

	to(1:n) = -from(1:n)
end subroutine

subroutine negate_read(buf, type, n, file, position, state, err)
	use mpi
	implicit none
	integer :: buf(*), file(*), type, n, err
	integer(MPI_OFFSET_KIND) :: position
	integer(MPI_ADDRESS_KIND) :: state

	call negate(file, buf(position + 1), n)
	err = merge(MPI_SUCCESS, MPI_ERR_OTHER, type == MPI_INTEGER .and. state == 4711)
end subroutine

subroutine negate_write(buf, type, n, file, position, state, err)
	use mpi
	implicit none
	integer :: buf(*), file(*), type, n, err
	integer(MPI_OFFSET_KIND) :: position
	integer(MPI_ADDRESS_KIND) :: state

	call negate(buf(position + 1), file, n)
	err = merge(MPI_SUCCESS, MPI_ERR_OTHER, type == MPI_INTEGER .and. state == 4711)
end subroutine

subroutine negate_extent(type, extent, state, err)
	use mpi
	implicit none
	integer :: type, err
	integer(MPI_ADDRESS_KIND) :: extent, state

	extent = 4
	err = merge(MPI_SUCCESS, MPI_ERR_OTHER, type == MPI_INTEGER .and. state == 4711)
end subroutine
