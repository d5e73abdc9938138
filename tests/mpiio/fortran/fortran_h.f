C     SPDX-License-Identifier: GPL-2.0-only
C     fortran_h [--ddio] FILE: MPI-IO by mpif.h, as old programs do it.
      program frtrnh
      implicit none
      include 'mpif.h'
      character*1024 name
      integer rank, ranks, err, fh, i, n, bad, allbad, length
      integer v(50), status(MPI_STATUS_SIZE)
      integer(kind=MPI_OFFSET_KIND) at
      integer(kind=MPI_ADDRESS_KIND) extra
      character*16 option
      external samext
      call MPI_INIT(err)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, err)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, err)
      call getarg(iargc(), name)
      length = len_trim(name)
      name(length+1:length+3) = '.fh'
      length = length + 3
      bad = 0
      if (rank .eq. 0) then
        call MPI_FILE_DELETE(name(1:length), MPI_INFO_NULL, err)
      end if
      call MPI_BARRIER(MPI_COMM_WORLD, err)
      call MPI_FILE_OPEN(MPI_COMM_WORLD, name(1:length),
     &  MPI_MODE_CREATE+MPI_MODE_RDWR, MPI_INFO_NULL, fh, err)
      if (err .ne. MPI_SUCCESS) bad = 1
      do 10 i = 1, 50
        v(i) = 100 * rank + i
   10 continue
      at = 200 * rank
      call MPI_FILE_WRITE_AT_ALL(fh, at, v, 50, MPI_INTEGER, status,
     &  err)
      call MPI_GET_COUNT(status, MPI_INTEGER, n, err)
      if (n .ne. 50) bad = 1
      call MPI_FILE_SYNC(fh, err)
      call MPI_BARRIER(MPI_COMM_WORLD, err)
      at = 200 * mod(rank + 1, ranks)
      call MPI_FILE_SEEK(fh, at, MPI_SEEK_SET, err)
      call MPI_FILE_READ(fh, v, 50, MPI_INTEGER, status, err)
      do 20 i = 1, 50
        if (v(i) .ne. 100 * mod(rank + 1, ranks) + i) bad = 1
   20 continue
      call MPI_FILE_GET_SIZE(fh, at, err)
      if (at .ne. 200 * ranks) bad = 1
C     The MPIs' own I/O has no representations of programs.
      call getarg(1, option)
      if (option .eq. '--ddio') then
        extra = 17
        call MPI_REGISTER_DATAREP('fortran_same',
     &    MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, samext,
     &    extra, err)
        if (err .ne. MPI_SUCCESS) bad = 1
        at = 0
        call MPI_FILE_SET_VIEW(fh, at, MPI_INTEGER, MPI_INTEGER,
     &    'fortran_same', MPI_INFO_NULL, err)
        if (err .ne. MPI_SUCCESS) bad = 1
        at = 50 * rank
        call MPI_FILE_READ_AT_ALL(fh, at, v, 50, MPI_INTEGER, status,
     &    err)
        do 30 i = 1, 50
          if (v(i) .ne. 100 * rank + i) bad = 1
   30   continue
      end if
      call MPI_FILE_CLOSE(fh, err)
      if (fh .ne. MPI_FILE_NULL) bad = 1
      call MPI_ALLREDUCE(bad, allbad, 1, MPI_INTEGER, MPI_SUM,
     &  MPI_COMM_WORLD, err)
      if (rank .eq. 0) then
        if (allbad .eq. 0) then
          print '(a)', 'ok - fortran_h/round_trip'
          print '(a)', '1 passed, 0 failed, 0 skipped'
        else
          print '(a,i0)', 'not ok - fortran_h/round_trip: ranks: ',
     &      allbad
          print '(a)', '0 passed, 1 failed, 0 skipped'
        end if
      end if
      call MPI_FINALIZE(err)
      if (allbad .ne. 0) stop 1
      end

      subroutine samext(type, extent, extra, err)
      implicit none
      include 'mpif.h'
      integer type, err
      integer(kind=MPI_ADDRESS_KIND) extent, extra
      extent = 4
      err = MPI_SUCCESS
      if (extra .ne. 17 .or. type .ne. MPI_INTEGER) err = MPI_ERR_OTHER
      end
