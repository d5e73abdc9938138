! SPDX-License-Identifier: GPL-2.0-only
! A data representation, for programs by the module mpi_f08, which include it: integers have the other sign in the file.
module negated
	use mpi_f08
	use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
	implicit none
contains
	! As many integers of memory, behind so many others, and of the file.
	subroutine take(memory, before, file, n, m, f)
		type(c_ptr), intent(in) :: memory, file
		integer(MPI_OFFSET_KIND), intent(in) :: before
		integer(MPI_COUNT_KIND), intent(in) :: n
		integer, pointer, intent(out) :: m(:), f(:)
		integer, pointer :: all_of(:)

		call c_f_pointer(memory, all_of, [before + n])
		m => all_of(before + 1:)
		call c_f_pointer(file, f, [n])
	end subroutine

	integer function verdict(datatype, state)
		type(MPI_Datatype), intent(in) :: datatype
		integer(MPI_ADDRESS_KIND), intent(in) :: state

		verdict = merge(MPI_SUCCESS, MPI_ERR_OTHER, datatype == MPI_INTEGER .and. state == 4711)
	end function

	subroutine negate_in(userbuf, datatype, count, filebuf, position, extra_state, ierror)
		type(c_ptr), value :: userbuf, filebuf
		type(MPI_Datatype) :: datatype
		integer :: count, ierror
		integer(MPI_OFFSET_KIND) :: position
		integer(MPI_ADDRESS_KIND) :: extra_state
		integer, pointer :: m(:), f(:)

		call take(userbuf, position, filebuf, int(count, MPI_COUNT_KIND), m, f)
		m = -f
		ierror = verdict(datatype, extra_state)
	end subroutine

	subroutine negate_out(userbuf, datatype, count, filebuf, position, extra_state, ierror)
		type(c_ptr), value :: userbuf, filebuf
		type(MPI_Datatype) :: datatype
		integer :: count, ierror
		integer(MPI_OFFSET_KIND) :: position
		integer(MPI_ADDRESS_KIND) :: extra_state
		integer, pointer :: m(:), f(:)

		call take(userbuf, position, filebuf, int(count, MPI_COUNT_KIND), m, f)
		f = -m
		ierror = verdict(datatype, extra_state)
	end subroutine

	subroutine negate_in_large(userbuf, datatype, count, filebuf, position, extra_state, ierror)
		type(c_ptr), value :: userbuf, filebuf
		type(MPI_Datatype) :: datatype
		integer(MPI_COUNT_KIND) :: count
		integer :: ierror
		integer(MPI_OFFSET_KIND) :: position
		integer(MPI_ADDRESS_KIND) :: extra_state
		integer, pointer :: m(:), f(:)

		call take(userbuf, position, filebuf, count, m, f)
		m = -f
		ierror = verdict(datatype, extra_state)
	end subroutine

	subroutine negate_out_large(userbuf, datatype, count, filebuf, position, extra_state, ierror)
		type(c_ptr), value :: userbuf, filebuf
		type(MPI_Datatype) :: datatype
		integer(MPI_COUNT_KIND) :: count
		integer :: ierror
		integer(MPI_OFFSET_KIND) :: position
		integer(MPI_ADDRESS_KIND) :: extra_state
		integer, pointer :: m(:), f(:)

		call take(userbuf, position, filebuf, count, m, f)
		f = -m
		ierror = verdict(datatype, extra_state)
	end subroutine

	subroutine four_bytes(datatype, extent, extra_state, ierror)
		type(MPI_Datatype) :: datatype
		integer(MPI_ADDRESS_KIND) :: extent, extra_state
		integer :: ierror

		extent = 4
		ierror = verdict(datatype, extra_state)
	end subroutine
end module
