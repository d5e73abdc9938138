! SPDX-License-Identifier: GPL-2.0-only
! fortran_large [--ddio] FILE: MPI-IO by the module mpi_f08 with counts of MPI_COUNT_KIND, if it has functions with them: LARGE_COUNTS.
include 'checks.f90'
#ifdef LARGE_COUNTS
include 'negated.f90'
#endif

program fortran_large
	use checks
#ifdef LARGE_COUNTS
	use negated
#endif
	implicit none
	character(1024) :: name
#ifdef LARGE_COUNTS
	integer(MPI_COUNT_KIND), parameter :: ten = 10
	integer(MPI_OFFSET_KIND), parameter :: zero = 0
	integer, asynchronous :: v(10), w(10)
#endif

	call begin(name)
#ifdef LARGE_COUNTS
	if (strict()) then
		call explicit(trim(name) // '.l1')
		call pointers(trim(name) // '.l2')
		call shared(trim(name) // '.l3')
		call splits(trim(name) // '.l4')
		call beyond_int(trim(name) // '.l5')
		call sections(trim(name) // '.l6')
		call wrong(trim(name) // '.l7')
		call datarep(trim(name) // '.l8')
	else
		call others(trim(name) // '.l9')
	end if
#else
	call skip('fortran_large', 'the module mpi_f08 has no function of a file with a count of MPI_COUNT_KIND')
#endif
	call finish()
#ifdef LARGE_COUNTS
contains
	! A new file of integers, and in v this process's own.
	subroutine integers(file, fh)
		character(*), intent(in) :: file
		type(MPI_File), intent(out) :: fh
		integer :: i

		call create(file, fh)
		call MPI_File_set_view(fh, zero, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
		v = [(100 * rank + i, i = 1, 10)]
		w = 0
	end subroutine

	integer(MPI_OFFSET_KIND) function mine()
		mine = 10_MPI_OFFSET_KIND * rank
	end function

	subroutine counted(status, n, what)
		type(MPI_Status), intent(in) :: status
		integer, intent(in) :: n
		character(*), intent(in) :: what
		integer(MPI_COUNT_KIND) :: got

		call MPI_Get_count(status, MPI_INTEGER, got)
		call need(got == n, 'the count of ' // what)
	end subroutine

	! What was read is this process's; what comes next is to be seen in the file.
	subroutine came(fh, what)
		type(MPI_File), intent(in) :: fh
		character(*), intent(in) :: what

		call need(all(w == v), 'what ' // what // ' brings')
		v = v + 1000
		w = 0
		call MPI_File_seek(fh, mine(), MPI_SEEK_SET)
	end subroutine

	subroutine explicit(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		type(MPI_Status) :: status
		type(MPI_Request) :: r

		call integers(file, fh)
		call MPI_File_write_at(fh, mine(), v, ten, MPI_INTEGER, status)
		call counted(status, 10, 'write_at')
		call MPI_File_read_at(fh, mine(), w, ten, MPI_INTEGER, status)
		call counted(status, 10, 'read_at')
		call came(fh, 'read_at')
		call MPI_File_write_at_all(fh, mine(), v, ten, MPI_INTEGER, status)
		call counted(status, 10, 'write_at_all')
		call MPI_File_read_at_all(fh, mine(), w, ten, MPI_INTEGER, status)
		call counted(status, 10, 'read_at_all')
		call came(fh, 'read_at_all')
		call MPI_File_iwrite_at(fh, mine(), v, ten, MPI_INTEGER, r)
		call MPI_Wait(r, status)
		call counted(status, 10, 'iwrite_at')
		call MPI_File_iread_at(fh, mine(), w, ten, MPI_INTEGER, r)
		call MPI_Wait(r, status)
		call counted(status, 10, 'iread_at')
		call came(fh, 'iread_at')
		call MPI_File_iwrite_at_all(fh, mine(), v, ten, MPI_INTEGER, r)
		call MPI_Wait(r, status)
		call counted(status, 10, 'iwrite_at_all')
		call MPI_File_iread_at_all(fh, mine(), w, ten, MPI_INTEGER, r)
		call MPI_Wait(r, status)
		call counted(status, 10, 'iread_at_all')
		call came(fh, 'iread_at_all')
		call MPI_File_close(fh)
		call done('fortran_large/explicit')
	end subroutine

	subroutine pointers(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		type(MPI_Request) :: r

		call integers(file, fh)
		call MPI_File_seek(fh, mine(), MPI_SEEK_SET)
		call MPI_File_write(fh, v, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call MPI_File_seek(fh, mine(), MPI_SEEK_SET)
		call MPI_File_read(fh, w, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call came(fh, 'read')
		call MPI_File_write_all(fh, v, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call MPI_File_seek(fh, mine(), MPI_SEEK_SET)
		call MPI_File_read_all(fh, w, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call came(fh, 'read_all')
		call MPI_File_iwrite(fh, v, ten, MPI_INTEGER, r)
		call MPI_Wait(r, MPI_STATUS_IGNORE)
		call MPI_File_seek(fh, mine(), MPI_SEEK_SET)
		call MPI_File_iread(fh, w, ten, MPI_INTEGER, r)
		call MPI_Wait(r, MPI_STATUS_IGNORE)
		call came(fh, 'iread')
		call MPI_File_iwrite_all(fh, v, ten, MPI_INTEGER, r)
		call MPI_Wait(r, MPI_STATUS_IGNORE)
		call MPI_File_seek(fh, mine(), MPI_SEEK_SET)
		call MPI_File_iread_all(fh, w, ten, MPI_INTEGER, r)
		call MPI_Wait(r, MPI_STATUS_IGNORE)
		call came(fh, 'iread_all')
		call MPI_File_close(fh)
		call done('fortran_large/pointers')
	end subroutine

	! By the shared pointer each has ten integers, which of them is left open.
	subroutine shared(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		type(MPI_Request) :: r
		integer(MPI_OFFSET_KIND) :: at

		call integers(file, fh)
		call MPI_File_write_shared(fh, v, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call MPI_File_iwrite_shared(fh, v, ten, MPI_INTEGER, r)
		call MPI_Wait(r, MPI_STATUS_IGNORE)
		call MPI_File_sync(fh)
		call MPI_File_get_position_shared(fh, at)
		call need(at == 20 * ranks, 'the shared position')
		call MPI_Barrier(MPI_COMM_WORLD)
		call MPI_File_seek_shared(fh, zero, MPI_SEEK_SET)
		call MPI_File_read_shared(fh, w, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call need(all(w - w(1) == v - v(1)), 'what read_shared brings')
		call MPI_File_iread_shared(fh, w, ten, MPI_INTEGER, r)
		call MPI_Wait(r, MPI_STATUS_IGNORE)
		call need(all(w - w(1) == v - v(1)) .and. w(1) > 0, 'what iread_shared brings')
		call MPI_Barrier(MPI_COMM_WORLD)
		call MPI_File_seek_shared(fh, zero, MPI_SEEK_SET)
		call MPI_File_write_ordered(fh, v, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call MPI_File_seek_shared(fh, zero, MPI_SEEK_SET)
		call MPI_File_read_ordered(fh, w, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call came(fh, 'read_ordered')
		call MPI_File_close(fh)
		call done('fortran_large/shared')
	end subroutine

	subroutine splits(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh

		call integers(file, fh)
		call MPI_File_write_at_all_begin(fh, mine(), v, ten, MPI_INTEGER)
		call MPI_File_write_at_all_end(fh, v, MPI_STATUS_IGNORE)
		call MPI_File_read_at_all_begin(fh, mine(), w, ten, MPI_INTEGER)
		call MPI_File_read_at_all_end(fh, w, MPI_STATUS_IGNORE)
		call came(fh, 'read_at_all_end')
		call MPI_File_write_all_begin(fh, v, ten, MPI_INTEGER)
		call MPI_File_write_all_end(fh, v, MPI_STATUS_IGNORE)
		call MPI_File_seek(fh, mine(), MPI_SEEK_SET)
		call MPI_File_read_all_begin(fh, w, ten, MPI_INTEGER)
		call MPI_File_read_all_end(fh, w, MPI_STATUS_IGNORE)
		call came(fh, 'read_all_end')
		call MPI_File_write_ordered_begin(fh, v, ten, MPI_INTEGER)
		call MPI_File_write_ordered_end(fh, v, MPI_STATUS_IGNORE)
		call MPI_File_seek_shared(fh, zero, MPI_SEEK_SET)
		call MPI_File_read_ordered_begin(fh, w, ten, MPI_INTEGER)
		call MPI_File_read_ordered_end(fh, w, MPI_STATUS_IGNORE)
		call came(fh, 'read_ordered_end')
		call MPI_File_close(fh)
		call done('fortran_large/splits')
	end subroutine

	! Room for more than an int can count, of which the file has ten: what is left of the count in 32 bits would be three.
	subroutine beyond_int(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		type(MPI_Status) :: status
		type(MPI_Request) :: r
		integer(MPI_COUNT_KIND), parameter :: much = 2_MPI_COUNT_KIND**32 + 3

		call integers(file, fh)
		v = v - 100 * rank
		call MPI_File_write_at_all(fh, zero, v, merge(ten, 0_MPI_COUNT_KIND, rank == 0), MPI_INTEGER, status)
		call MPI_File_sync(fh)
		call MPI_Barrier(MPI_COMM_WORLD)
		call MPI_File_read_at_all(fh, zero, w, much, MPI_INTEGER, status)
		call counted(status, 10, 'read_at_all')
		call need(all(w == v), 'what read_at_all brings')
		w = 0
		call MPI_File_iread_at(fh, 2_MPI_OFFSET_KIND, w, much, MPI_INTEGER, r)
		call MPI_Wait(r, status)
		call counted(status, 8, 'iread_at')
		call need(all(w(1:8) == v(3:10)), 'what iread_at brings')
		call MPI_File_close(fh)
		call done('fortran_large/beyond_int')
	end subroutine

	! Every other integer of memory.
	subroutine sections(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		integer :: two(2, 10)

		call integers(file, fh)
		two(1, :) = v
		two(2, :) = -1
		call MPI_File_write_at_all(fh, mine(), two(1, :), ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call MPI_File_read_at_all(fh, mine(), w, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call need(all(w == v), 'what a section wrote')
		two = -1
		call MPI_File_read_at_all(fh, mine(), two(2, :), ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call need(all(two(2, :) == v) .and. all(two(1, :) == -1), 'what a section read')
		call MPI_File_close(fh)
		call done('fortran_large/sections')
	end subroutine

	! Less than nothing; more bytes than a file can have; of no type.  Each is an error, and the file works afterwards.
	subroutine wrong(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh

		call integers(file, fh)
		call refused(fh, -2_MPI_COUNT_KIND**33, MPI_INTEGER, MPI_ERR_COUNT)
		call refused(fh, huge(ten), MPI_INTEGER, MPI_ERR_TYPE)
		call refused(fh, 2_MPI_COUNT_KIND**33, MPI_DATATYPE_NULL, MPI_ERR_TYPE)
		call MPI_File_write_at_all(fh, mine(), v, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call MPI_File_read_at_all(fh, mine(), w, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call came(fh, 'read_at_all')
		call MPI_File_close(fh)
		call done('fortran_large/wrong')
	end subroutine

	! What the MPI's own function does not take (MPICH 4.2.1: MPI_ERR_INTERN) comes back as that, and what it takes is in the file.
	subroutine others(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		integer :: err

		call integers(file, fh)
		call MPI_File_write_at(fh, mine(), v, ten, MPI_INTEGER, MPI_STATUS_IGNORE, err)
		if (err == MPI_SUCCESS) then
			call MPI_File_read_at(fh, mine(), w, 10, MPI_INTEGER, MPI_STATUS_IGNORE, err)
			call need(all(w == v), 'what write_at wrote')
		end if
		call MPI_File_close(fh)
		call done('fortran_large/others')
	end subroutine

	subroutine refused(fh, count, type, class)
		type(MPI_File), intent(in) :: fh
		integer(MPI_COUNT_KIND), intent(in) :: count
		type(MPI_Datatype), intent(in) :: type
		integer, intent(in) :: class
		integer :: err, got

		call MPI_File_read_at_all(fh, zero, w, count, type, MPI_STATUS_IGNORE, err)
		call MPI_Error_class(err, got)
		call need(got == class, 'the class of an error')
	end subroutine

	subroutine datarep(file)
		character(*), intent(in) :: file
		type(MPI_File) :: fh
		integer(MPI_ADDRESS_KIND) :: state = 4711
		integer :: err

		call MPI_Register_datarep_c('large_negated', negate_in_large, negate_out_large, four_bytes, state, err)
		call need(err == MPI_SUCCESS, 'MPI_Register_datarep_c')
		call integers(file, fh)
		call MPI_File_set_view(fh, zero, MPI_INTEGER, MPI_INTEGER, 'large_negated', MPI_INFO_NULL, err)
		call need(err == MPI_SUCCESS, 'a view of it')
		call MPI_File_write_at_all(fh, mine(), v, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call MPI_File_read_at_all(fh, mine(), w, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call need(all(w == v), 'what is read of it')
		call MPI_File_set_view(fh, zero, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, err)
		call MPI_File_read_at_all(fh, mine(), w, ten, MPI_INTEGER, MPI_STATUS_IGNORE)
		call need(all(w == -v), 'what is in the file')
		call MPI_File_close(fh)
		call done('fortran_large/datarep')
	end subroutine
#endif
end program
