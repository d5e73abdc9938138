! SPDX-License-Identifier: GPL-2.0-only
! columns - each process has some columns of a matrix of doubles, as Fortran keeps them, and writes its rows' turn of a
! matrix in C's order: all processes together write the transpose, and read it back.
!
!   mpif90 -o columns columns.f90
!   ddio mpi mpiexec -n 4 ./columns /mnt/data/transpose
!
! Nothing in it is ddio's: with another path it is an MPI program like others.
program columns
   use mpi_f08
   implicit none
   integer, parameter :: rows = 256, mine = 64
   integer :: rank, nprocs, i, j, length, wrong
   integer(kind=MPI_OFFSET_KIND) :: start
   type(MPI_File) :: file
   type(MPI_Datatype) :: part
   double precision :: a(rows, mine), b(mine, rows), back(mine, rows)
   character(len=1024) :: path

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, nprocs)
   call get_command_argument(1, path, length)
   do j = 1, mine
      do i = 1, rows
         a(i, j) = (rank*mine + j) + i/1000d0
      end do
   end do
   b = transpose(a)

   ! In the file a row has the columns of all processes: this one's begin at its own place of each row.
   call MPI_Type_vector(rows, mine, mine*nprocs, MPI_DOUBLE_PRECISION, part)
   call MPI_Type_commit(part)
   call MPI_File_open(MPI_COMM_WORLD, path(1:length), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file)
   start = int(rank, MPI_OFFSET_KIND)*mine*8
   call MPI_File_set_view(file, start, MPI_DOUBLE_PRECISION, part, 'native', MPI_INFO_NULL)
   call MPI_File_write_all(file, b, mine*rows, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)
   back = 0
   start = 0
   call MPI_File_read_at_all(file, start, back, mine*rows, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)
   call MPI_File_close(file)
   call MPI_Type_free(part)

   wrong = count(back /= b)
   call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   if (rank == 0) print '(i0, a, i0, a, i0, a)', rows, ' x ', mine*nprocs, ' doubles written and read, ', wrong, ' wrong'
   call MPI_Finalize()
end program columns
