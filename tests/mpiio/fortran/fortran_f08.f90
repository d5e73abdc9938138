! SPDX-License-Identifier: GPL-2.0-only
! fortran_f08 [--ddio] FILE: MPI-IO by the module mpi_f08.
module checks
	use mpi_f08
	implicit none
	integer :: rank, ranks, passed = 0, failed = 0
	logical :: fine = .true.
contains
	subroutine need(cond, what)
		logical, intent(in) :: cond
		character(*), intent(in) :: what

		if (cond .or. .not. fine) return
		fine = .false.
		write (*, '(a,i0,2a)') '# rank ', rank, ': ', what
	end subroutine

	subroutine done(name)
		character(*), intent(in) :: name
		logical :: all_fine

		call MPI_Allreduce(fine, all_fine, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
		if (all_fine) then
			passed = passed + 1
			if (rank == 0) write (*, '(2a)') 'ok - ', name
		else
			failed = failed + 1
			if (rank == 0) write (*, '(3a)') 'not ok - ', name, ': see above'
		end if
		fine = .true.
	end subroutine

	subroutine finish()
		if (rank == 0) write (*, '(i0,a,i0,a)') passed, ' passed, ', failed, ' failed, 0 skipped'
		call MPI_Finalize()
		if (failed > 0) stop 1
	end subroutine

	! The last argument is the file's name.
	subroutine begin(name)
		character(*), intent(out) :: name

		call MPI_Init()
		call MPI_Comm_rank(MPI_COMM_WORLD, rank)
		call MPI_Comm_size(MPI_COMM_WORLD, ranks)
		call get_command_argument(command_argument_count(), name)
	end subroutine

	subroutine create(name, fh)
		character(*), intent(in) :: name
		type(MPI_File), intent(out) :: fh
		integer :: err

		if (rank == 0) call MPI_File_delete(name, MPI_INFO_NULL, err)
		call MPI_Barrier(MPI_COMM_WORLD)
		call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, fh, err)
		call need(err == MPI_SUCCESS, 'MPI_File_open')
	end subroutine
end module

program fortran_f08
	use checks
	implicit none
	character(1024) :: name

	call begin(name)
	call explicit(trim(name) // '.f1')
	call views(trim(name) // '.f2')
	call requests(trim(name) // '.f3')
	call shared(trim(name) // '.f4')
	call handles(trim(name) // '.f5')
	call finish()
contains
	subroutine explicit(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		type(MPI_Status) :: status
		integer(MPI_OFFSET_KIND) :: at, bytes
		integer :: v(100), w(100), i, n

		call create(file, fh)
		v = [(1000 * rank + i, i = 1, 100)]
		at = 400_MPI_OFFSET_KIND * rank
		call MPI_File_write_at_all(fh, at, v, 100, MPI_INTEGER, status)
		call MPI_Get_count(status, MPI_INTEGER, n)
		call need(n == 100, 'count of write_at_all')
		call MPI_File_sync(fh)
		call MPI_Barrier(MPI_COMM_WORLD)
		call MPI_File_get_size(fh, bytes)
		call need(bytes == 400 * ranks, 'size')
		at = 400_MPI_OFFSET_KIND * mod(rank + 1, ranks)
		call MPI_File_read_at(fh, at, w, 100, MPI_INTEGER, status)
		call MPI_Get_count(status, MPI_INTEGER, n)
		call need(n == 100, 'count of read_at')
		call need(all(w == v - 1000 * rank + 1000 * mod(rank + 1, ranks)), 'contents')
		call MPI_File_close(fh)
		call need(fh == MPI_FILE_NULL, 'the handle after MPI_File_close')
		call done('fortran_f08/explicit')
	end subroutine

	! Columns of a matrix in Fortran's order, dealt out one by one.
	subroutine views(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		type(MPI_Datatype) :: t
		integer(MPI_OFFSET_KIND), parameter :: zero = 0
		integer :: rows, cols, i
		double precision, allocatable :: mine(:, :), whole(:, :)

		rows = 7
		cols = 3 * ranks
		allocate (mine(rows, 3), whole(rows, cols))
		call create(file, fh)
		call MPI_Type_create_darray(ranks, rank, 2, [rows, cols], [MPI_DISTRIBUTE_NONE, &
			MPI_DISTRIBUTE_CYCLIC], [MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG], &
			[1, ranks], MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, t)
		call MPI_Type_commit(t)
		call MPI_File_set_view(fh, zero, MPI_DOUBLE_PRECISION, t, 'native', MPI_INFO_NULL)
		do i = 1, 3
			mine(:, i) = rank + (i - 1) * ranks
		end do
		call MPI_File_write_all(fh, mine, 3 * rows, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)
		call MPI_Type_free(t)
		call MPI_File_sync(fh)
		call MPI_Barrier(MPI_COMM_WORLD)
		call MPI_File_set_view(fh, zero, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, 'native', MPI_INFO_NULL)
		call MPI_File_read_at_all(fh, zero, whole, rows * cols, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)
		do i = 1, cols
			call need(all(nint(whole(:, i)) == i - 1), 'a column')
		end do
		call MPI_File_close(fh)
		call done('fortran_f08/views')
	end subroutine

	subroutine requests(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		type(MPI_Request) :: r(2)
		type(MPI_Status) :: status
		integer, asynchronous :: v(50), w(50)
		integer :: i
		integer(MPI_OFFSET_KIND) :: at

		call create(file, fh)
		v = [(100 * rank + i, i = 1, 50)]
		at = 400_MPI_OFFSET_KIND * rank
		call MPI_File_iwrite_at(fh, at, v, 50, MPI_INTEGER, r(1))
		call MPI_File_iwrite_at(fh, at + 200, v, 50, MPI_INTEGER, r(2))
		call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
		w = 0
		call MPI_File_iread_at(fh, at + 200, w, 50, MPI_INTEGER, r(1))
		call MPI_Wait(r(1), status)
		call need(all(v == w), 'what iread_at brings')
		call MPI_File_close(fh)
		call done('fortran_f08/requests')
	end subroutine

	subroutine shared(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		integer(MPI_OFFSET_KIND) :: at
		integer :: v(1), w(1)

		call create(file, fh)
		v = rank
		call MPI_File_write_ordered(fh, v, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
		call MPI_File_sync(fh)
		call MPI_Barrier(MPI_COMM_WORLD)
		at = 4 * (ranks - 1 - rank)
		call MPI_File_read_at_all(fh, at, w, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
		call need(w(1) == ranks - 1 - rank, 'the order of the ranks')
		call MPI_File_close(fh)
		call done('fortran_f08/shared')
	end subroutine

	subroutine handles(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		type(MPI_Datatype) :: etype, filetype
		character(MPI_MAX_DATAREP_STRING) :: datarep
		integer(MPI_OFFSET_KIND) :: at
		integer :: amode, err, class
		logical :: atomic

		call create(file, fh)
		call MPI_File_get_amode(fh, amode)
		call need(amode == MPI_MODE_CREATE + MPI_MODE_RDWR, 'the mode')
		call MPI_File_get_atomicity(fh, atomic)
		call need(.not. atomic, 'atomicity')
		call MPI_File_get_view(fh, at, etype, filetype, datarep)
		call need(at == 0 .and. datarep == 'native', 'the view')
		call MPI_File_close(fh)
		call MPI_File_open(MPI_COMM_WORLD, file // '.none', MPI_MODE_RDONLY, MPI_INFO_NULL, fh, err)
		call MPI_Error_class(err, class)
		call need(class == MPI_ERR_NO_SUCH_FILE, 'the class of a missing file')
		call done('fortran_f08/handles')
	end subroutine
end program
