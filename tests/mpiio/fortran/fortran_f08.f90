! SPDX-License-Identifier: GPL-2.0-only
! fortran_f08 [--ddio] FILE: MPI-IO by the module mpi_f08.
include 'checks.f90'
include 'negated.f90'

program fortran_f08
	use checks
	use negated
	implicit none
	character(1024) :: name

	call begin(name)
	call explicit(trim(name) // '.f1')
	call views(trim(name) // '.f2')
	call requests(trim(name) // '.f3')
	call shared(trim(name) // '.f4')
	call handles(trim(name) // '.f5')
	call pointers(trim(name) // '.f6')
	call splits(trim(name) // '.f7')
	call nonblocking(trim(name) // '.f8')
	call shared_pointer(trim(name) // '.f9')
	call ordered_splits(trim(name) // '.f10')
	call properties(trim(name) // '.f11')
	call datarep(trim(name) // '.f12')
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
	! Each process has 400 bytes of the file for itself.
	subroutine own_view(fh)
		type(MPI_File), intent(in) :: fh

		call MPI_File_set_view(fh, 400_MPI_OFFSET_KIND * rank, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
	end subroutine

	! That many of v have come, and are those from the first on; they are forgotten.
	subroutine came(w, n, first, what)
		integer, intent(inout) :: w(:)
		integer, intent(in) :: n, first
		character(*), intent(in) :: what
		integer :: i

		call need(all(w(1:n) == [(1000 * rank + i, i = first, first + n - 1)]), what)
		w = -1
	end subroutine

	subroutine pointers(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		type(MPI_Status) :: status
		integer(MPI_OFFSET_KIND) :: at, byte
		integer :: v(100), w(100), i, n

		call create(file, fh)
		call own_view(fh)
		v = [(1000 * rank + i, i = 1, 100)]
		call MPI_File_write(fh, v, 40, MPI_INTEGER, status)
		call MPI_Get_count(status, MPI_INTEGER, n)
		call need(n == 40, 'count of write')
		call MPI_File_write_all(fh, v(41), 40, MPI_INTEGER, MPI_STATUS_IGNORE)
		call MPI_File_write_at(fh, 80_MPI_OFFSET_KIND, v(81), 20, MPI_INTEGER, MPI_STATUS_IGNORE)
		call MPI_File_get_position(fh, at)
		call need(at == 80, 'position')
		call MPI_File_get_byte_offset(fh, at, byte)
		call need(byte == 400_MPI_OFFSET_KIND * rank + 320, 'byte of the position')
		call MPI_File_seek(fh, -70_MPI_OFFSET_KIND, MPI_SEEK_CUR)
		call MPI_File_read(fh, w, 20, MPI_INTEGER, status)
		call MPI_Get_count(status, MPI_INTEGER, n)
		call need(n == 20, 'count of read')
		call came(w, 20, 11, 'what read brings')
		call MPI_File_read_all(fh, w, 70, MPI_INTEGER, MPI_STATUS_IGNORE)
		call came(w, 70, 31, 'what read_all brings')
		call MPI_File_close(fh)
		call done('fortran_f08/pointers')
	end subroutine

	subroutine splits(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		type(MPI_Status) :: status
		integer(MPI_OFFSET_KIND), parameter :: half = 50
		integer, asynchronous :: v(100), w(100)
		integer :: i, n

		call create(file, fh)
		call own_view(fh)
		v = [(1000 * rank + i, i = 1, 100)]
		call MPI_File_write_all_begin(fh, v, 50, MPI_INTEGER)
		call MPI_File_write_all_end(fh, v, status)
		call MPI_Get_count(status, MPI_INTEGER, n)
		call need(n == 50, 'count of write_all_end')
		call MPI_File_write_at_all_begin(fh, half, v(51), 50, MPI_INTEGER)
		call MPI_File_write_at_all_end(fh, v(51), MPI_STATUS_IGNORE)
		call MPI_File_read_all_begin(fh, w, 50, MPI_INTEGER)
		call MPI_File_read_all_end(fh, w, status)
		call MPI_Get_count(status, MPI_INTEGER, n)
		call need(n == 50, 'count of read_all_end')
		call came(w, 50, 51, 'what read_all_end brings')
		call MPI_File_read_at_all_begin(fh, half - 10, w, 50, MPI_INTEGER)
		call MPI_File_read_at_all_end(fh, w, MPI_STATUS_IGNORE)
		call came(w, 50, 41, 'what read_at_all_end brings')
		call MPI_File_close(fh)
		call done('fortran_f08/splits')
	end subroutine

	subroutine nonblocking(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		type(MPI_Request) :: r(3)
		integer(MPI_OFFSET_KIND), parameter :: zero = 0
		integer, asynchronous :: v(90), w(90)
		integer :: i

		call create(file, fh)
		call own_view(fh)
		v = [(1000 * rank + i, i = 1, 90)]
		call MPI_File_iwrite(fh, v, 30, MPI_INTEGER, r(1))
		call MPI_File_iwrite_all(fh, v(31), 30, MPI_INTEGER, r(2))
		call MPI_File_iwrite_at_all(fh, 60_MPI_OFFSET_KIND, v(61), 30, MPI_INTEGER, r(3))
		call MPI_Waitall(3, r, MPI_STATUSES_IGNORE)
		call MPI_File_seek(fh, zero, MPI_SEEK_SET)
		w = -1
		call MPI_File_iread(fh, w, 30, MPI_INTEGER, r(1))
		call MPI_File_iread_all(fh, w(31), 30, MPI_INTEGER, r(2))
		call MPI_File_iread_at_all(fh, 60_MPI_OFFSET_KIND, w(61), 30, MPI_INTEGER, r(3))
		call MPI_Waitall(3, r, MPI_STATUSES_IGNORE)
		call came(w, 90, 1, 'what iread, iread_all and iread_at_all bring')
		call MPI_File_close(fh)
		call done('fortran_f08/nonblocking')
	end subroutine

	! By the shared pointer every process has one number, which of them is left open.
	subroutine shared_pointer(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		type(MPI_Request) :: r
		integer(MPI_OFFSET_KIND), parameter :: zero = 0
		integer(MPI_OFFSET_KIND) :: at
		integer, asynchronous :: v(1), w(1)
		integer :: all_of(4 * ranks), i

		call create(file, fh)
		call MPI_File_set_view(fh, zero, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
		v = rank
		call MPI_File_write_shared(fh, v, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
		call MPI_File_iwrite_shared(fh, v, 1, MPI_INTEGER, r)
		call MPI_Wait(r, MPI_STATUS_IGNORE)
		call MPI_Barrier(MPI_COMM_WORLD)
		call MPI_File_get_position_shared(fh, at)
		call need(at == 2 * ranks, 'the shared position after two numbers of each')
		call MPI_File_sync(fh)
		call MPI_Barrier(MPI_COMM_WORLD)
		call MPI_File_seek_shared(fh, zero, MPI_SEEK_SET)
		call MPI_File_read_shared(fh, w, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
		v = w
		call MPI_File_iread_shared(fh, w, 1, MPI_INTEGER, r)
		call MPI_Wait(r, MPI_STATUS_IGNORE)
		call MPI_Allgather([v, w], 2, MPI_INTEGER, all_of, 2, MPI_INTEGER, MPI_COMM_WORLD)
		do i = 0, ranks - 1
			call need(count(all_of(1:2 * ranks) == i) == 2, 'two numbers of each process')
		end do
		call MPI_File_close(fh)
		call done('fortran_f08/shared_pointer')
	end subroutine

	subroutine ordered_splits(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		integer(MPI_OFFSET_KIND), parameter :: zero = 0
		integer, asynchronous :: v(1), w(1)

		call create(file, fh)
		call MPI_File_set_view(fh, zero, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
		v = 7 + rank
		call MPI_File_write_ordered_begin(fh, v, 1, MPI_INTEGER)
		call MPI_File_write_ordered_end(fh, v, MPI_STATUS_IGNORE)
		call MPI_File_sync(fh)
		call MPI_Barrier(MPI_COMM_WORLD)
		call MPI_File_seek_shared(fh, zero, MPI_SEEK_SET)
		call MPI_File_read_ordered(fh, w, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
		call need(w(1) == 7 + rank, 'what read_ordered brings')
		w = -1
		call MPI_File_seek_shared(fh, zero, MPI_SEEK_SET)
		call MPI_File_read_ordered_begin(fh, w, 1, MPI_INTEGER)
		call MPI_File_read_ordered_end(fh, w, MPI_STATUS_IGNORE)
		call need(w(1) == 7 + rank, 'what read_ordered_end brings')
		call MPI_File_close(fh)
		call done('fortran_f08/ordered_splits')
	end subroutine

	subroutine properties(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		type(MPI_Group) :: group
		type(MPI_Info) :: info
		integer(MPI_ADDRESS_KIND) :: extent
		integer(MPI_OFFSET_KIND) :: bytes
		integer :: n
		logical :: atomic

		call create(file, fh)
		call MPI_File_set_size(fh, 1000_MPI_OFFSET_KIND)
		call MPI_File_get_size(fh, bytes)
		call need(bytes == 1000, 'what set_size has set')
		call MPI_File_preallocate(fh, 5000_MPI_OFFSET_KIND)
		call MPI_File_get_size(fh, bytes)
		call need(bytes == 5000, 'what preallocate has made')
		call MPI_File_set_atomicity(fh, .true.)
		call MPI_File_get_atomicity(fh, atomic)
		call need(atomic, 'atomicity, when it has been set')
		call MPI_File_get_group(fh, group)
		call MPI_Group_size(group, n)
		call need(n == ranks, 'the size of the group')
		call MPI_Group_free(group)
		call MPI_File_get_type_extent(fh, MPI_DOUBLE_PRECISION, extent)
		call need(extent == 8, 'the extent of a double')
		call MPI_Info_create(info)
		call MPI_Info_set(info, 'cb_nodes', '1')
		call MPI_File_set_info(fh, info)
		call MPI_Info_free(info)
		call MPI_File_get_info(fh, info)
		call need(info /= MPI_INFO_NULL, 'the info')
		call MPI_Info_free(info)
		call MPI_File_close(fh)
		call done('fortran_f08/properties')
	end subroutine

	! A representation of this program's; the MPIs' own I/O has none.
	subroutine datarep(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		integer(MPI_OFFSET_KIND), parameter :: zero = 0
		integer(MPI_OFFSET_KIND) :: at
		integer(MPI_ADDRESS_KIND) :: state = 4711
		integer :: v(20), w(20), i, err

		if (.not. strict()) then
			call skip('fortran_f08/datarep', 'only with --ddio')
			return
		end if
		call MPI_Register_datarep('f08_negated', negate_in, negate_out, four_bytes, state, err)
		call need(err == MPI_SUCCESS, 'MPI_Register_datarep')
		call create(file, fh)
		call MPI_File_set_view(fh, zero, MPI_INTEGER, MPI_INTEGER, 'f08_negated', MPI_INFO_NULL, err)
		call need(err == MPI_SUCCESS, 'a view of it')
		v = [(1000 * rank + i, i = 1, 20)]
		w = 0
		at = 20_MPI_OFFSET_KIND * rank
		call MPI_File_write_at_all(fh, at, v, 20, MPI_INTEGER, MPI_STATUS_IGNORE)
		call MPI_File_read_at_all(fh, at, w, 20, MPI_INTEGER, MPI_STATUS_IGNORE)
		call need(all(w == v), 'what is read of it')
		call MPI_File_set_view(fh, zero, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, err)
		call MPI_File_read_at_all(fh, at, w, 20, MPI_INTEGER, MPI_STATUS_IGNORE)
		call need(all(w == -v), 'what is in the file')
		call MPI_File_close(fh)
		call done('fortran_f08/datarep')
	end subroutine
end program
