! SPDX-License-Identifier: GPL-2.0-only
! What a case needs, and what is told of it at its end: included behind the "contains" of who has rank, fine, passed and failed.
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
		integer :: err

		call MPI_Allreduce(fine, all_fine, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, err)
		if (all_fine) then
			passed = passed + 1
			if (rank == 0) write (*, '(2a)') 'ok - ', name
		else
			failed = failed + 1
			if (rank == 0) write (*, '(3a)') 'not ok - ', name, ': see above'
		end if
		fine = .true.
	end subroutine
