! SPDX-License-Identifier: GPL-2.0-only
! What programs by the module mpi_f08 share: each includes it.
module checks
	use mpi_f08
	implicit none
	integer :: rank, ranks, passed = 0, failed = 0, skipped = 0
	logical :: fine = .true.
contains
	include 'told.f90'

	subroutine skip(name, why)
		character(*), intent(in) :: name, why

		skipped = skipped + 1
		if (rank == 0) write (*, '(4a)') 'skip - ', name, ': ', why
	end subroutine

	! What the MPIs' own I/O gets wrong or leaves out is tried, too.
	logical function strict()
		character(16) :: option

		call get_command_argument(1, option)
		strict = option == '--ddio'
	end function

	subroutine finish()
		if (rank == 0) write (*, '(3(i0,a))') passed, ' passed, ', failed, ' failed, ', skipped, ' skipped'
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
