# SPDX-License-Identifier: GPL-2.0-only
# make mpiio-tests: programs that test MPI-IO, for each MPI whose compiler is here, in
# $(O)/tests/mpiio/{mpich,openmpi}/; run.sh runs them.  A library that is not here, or is built for the other
# MPI only, leaves its program out.

MPIIO_O := $(O)/tests/mpiio
MPIIO_HEADERS := $(wildcard tests/mpiio/*.h tests/mpiio/*/*.h)
MPIIO_FUNCTIONS := $(wildcard tests/mpiio/functions/*.c)
MPIIO_FORTRAN := fortran_f08 fortran_large fortran_mpi fortran_h columns
# Debian has HDF5 for both, PnetCDF and NetCDF for Open MPI.
MPIIO_PC_mpich := hdf5=hdf5-mpich speed_hdf5=hdf5-mpich
MPIIO_PC_openmpi := hdf5=hdf5-openmpi speed_hdf5=hdf5-openmpi pnetcdf=pnetcdf netcdf=netcdf-mpi
# $(call mpiio_pc,MPI,PROGRAM): the pkg-config name of what a program uses
mpiio_pc = $(patsubst $(2)=%,%,$(filter $(2)=%,$(MPIIO_PC_$(1))))
mpiio_libs = $(foreach l,$(MPIIO_PC_$(1)),$(if $(shell pkg-config --exists $(lastword $(subst =, ,$(l))) && \
	echo yes),$(firstword $(subst =, ,$(l)))))
mpiio_fortran = $(if $(shell command -v mpif90.$(1) >/dev/null && command -v gfortran),$(MPIIO_FORTRAN))
# Open MPI has had no functions for C++ since version 5, only the compiler.
mpiio_cxx = $(if $(shell command -v g++ >/dev/null && mpicxx.$(1) -show 2>/dev/null | grep -e -lmpi_cxx -e -lmpichcxx),cxx)
mpiio_programs = functions random_views random_types patterns starved killed killed_open restarted reloaded huge wait requests opens barrier leaves darray speed linpack $(call mpiio_libs,$(1)) $(call mpiio_fortran,$(1)) $(call mpiio_cxx,$(1))
# MPICH's MPI_STATUSES_IGNORE is an array of nothing to gcc.
MPIIO_CFLAGS = $(CSTD) $(WARN) -Wno-stringop-overflow -O1 -g -I.
# What it stands before is called by libraries.
MPIIO_LINK_killed_open := -rdynamic
# mpi_f08 of MPICH brings arguments that it does not use.
MPIIO_FFLAGS := -Wall -Wno-tabs -Werror -O1 -g
# $(call mpiio_large,MPI): says so if the module mpi_f08 has functions of a file with a count of MPI_COUNT_KIND
mpiio_large = $(shell printf '%s\n' 'use mpi_f08' \
	'call MPI_File_write_at(MPI_FILE_NULL, 0_MPI_OFFSET_KIND, [0], 0_MPI_COUNT_KIND, MPI_INTEGER, MPI_STATUS_IGNORE)' \
	end | mpif90.$(1) -ffree-form -ffree-line-length-none -fsyntax-only -x f95 - 2>/dev/null && echo -DLARGE_COUNTS)

# What the programs link is made before: another make would make it beside this one.
.PHONY: mpiio-tests
mpiio-tests: $(O)/libddio-all.a $(MPIIO_TARGETS)
	$(Q)$(MAKE) --no-print-directory $(MPIIO_O)/patient.so $(foreach m,$(MPIIO_MPIS),\
		$(patsubst %,$(MPIIO_O)/$(m)/%,$(call mpiio_programs,$(m))))

# Loaded with ranks, which then sleep while they wait.
$(MPIIO_O)/patient.so: tests/mpiio/patient.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(WARN) -O1 -g -fPIC -shared -o $@ $<

# $(call mpiio_rules,MPI)
define mpiio_rules
$(MPIIO_O)/$(1)/o/%.o: tests/mpiio/%.c $(MPIIO_HEADERS)
	$$(call say,MPICC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)mpicc.$(1) $$(MPIIO_CFLAGS) -c -o $$@ $$<

$(MPIIO_O)/$(1)/functions: $(MPIIO_FUNCTIONS:tests/mpiio/%.c=$(MPIIO_O)/$(1)/o/%.o)
$(MPIIO_O)/$(1)/random_views: $(patsubst %,$(MPIIO_O)/$(1)/o/views/%.o,random_views memory types)
$(MPIIO_O)/$(1)/patterns: $(MPIIO_O)/$(1)/o/patterns.o $(MPIIO_O)/$(1)/o/tiles.o
$(MPIIO_O)/$(1)/starved: $(MPIIO_O)/$(1)/o/starved.o
$(MPIIO_O)/$(1)/functions $(MPIIO_O)/$(1)/random_views $(MPIIO_O)/$(1)/patterns $(MPIIO_O)/$(1)/starved: $(MPIIO_O)/$(1)/o/common.o
	$$(call say,MPILD,$$@)
	$$(Q)mpicc.$(1) -o $$@ $$^

# This one looks into the library, whose back end's own code it links.
$(MPIIO_O)/$(1)/o/views/random_types.o: MPIIO_CFLAGS += $(INC)
$(MPIIO_O)/$(1)/random_types: $(patsubst %,$(MPIIO_O)/$(1)/o/%.o,views/random_types views/memory views/types common) \
		$(patsubst %,$(O)/ddio-mpiio/$(1)/data/%.o,types contents memory) $(O)/libddio-all.a
	$$(call say,MPILD,$$@)
	$$(Q)mpicc.$(1) -o $$@ $$^ $$(LIBS)

$(MPIIO_O)/$(1)/darray: tests/examples/mpi/darray.c
$(MPIIO_O)/$(1)/speed: tests/mpiio/speed.c
$(MPIIO_O)/$(1)/killed: tests/mpiio/killed.c
$(MPIIO_O)/$(1)/leaves: tests/mpiio/leaves.c
$(MPIIO_O)/$(1)/killed_open: tests/mpiio/killed_open.c
$(MPIIO_O)/$(1)/restarted: tests/mpiio/restarted.c
$(MPIIO_O)/$(1)/reloaded: tests/mpiio/reloaded.c
$(MPIIO_O)/$(1)/huge: tests/mpiio/huge.c
$(MPIIO_O)/$(1)/wait: tests/mpiio/wait.c
$(MPIIO_O)/$(1)/requests: tests/mpiio/requests.c
$(MPIIO_O)/$(1)/opens: tests/mpiio/opens.c
$(MPIIO_O)/$(1)/linpack: tests/mpiio/linpack.c
$(MPIIO_O)/$(1)/barrier: tests/mpiio/barrier.c
$(MPIIO_O)/$(1)/darray $(MPIIO_O)/$(1)/speed $(MPIIO_O)/$(1)/killed $(MPIIO_O)/$(1)/killed_open \
		$(MPIIO_O)/$(1)/restarted $(MPIIO_O)/$(1)/reloaded $(MPIIO_O)/$(1)/huge \
		$(MPIIO_O)/$(1)/leaves $(MPIIO_O)/$(1)/linpack $(MPIIO_O)/$(1)/wait \
		$(MPIIO_O)/$(1)/requests $(MPIIO_O)/$(1)/opens $(MPIIO_O)/$(1)/barrier:
	$$(call say,MPICC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)mpicc.$(1) $$(MPIIO_CFLAGS) $$(MPIIO_LINK_$$(@F)) -o $$@ $$<

$(foreach p,hdf5 speed_hdf5 pnetcdf netcdf,$(MPIIO_O)/$(1)/$(p)): $(MPIIO_O)/$(1)/%: tests/mpiio/libraries/%.c $(MPIIO_O)/$(1)/o/common.o
	$$(call say,MPICC,$$@)
	$$(Q)mpicc.$(1) $$(MPIIO_CFLAGS) $$(shell pkg-config --cflags $$(call mpiio_pc,$(1),$$*)) \
		-I$$(shell pkg-config --variable=prefix $$(call mpiio_pc,$(1),$$*))/include -o $$@ $$^ \
		$$(shell pkg-config --libs $$(call mpiio_pc,$(1),$$*))

$(MPIIO_O)/$(1)/fortran_f08 $(MPIIO_O)/$(1)/fortran_mpi: $(MPIIO_O)/$(1)/%: tests/mpiio/fortran/%.f90
	$$(call say,MPIF90,$$@)
	$$(Q)mkdir -p $$(@D)/$$*.mod
	$$(Q)mpif90.$(1) $$(MPIIO_FFLAGS) -J $$(@D)/$$*.mod -o $$@ $$<

$(MPIIO_O)/$(1)/fortran_f08 $(MPIIO_O)/$(1)/fortran_mpi $(MPIIO_O)/$(1)/fortran_large: tests/mpiio/fortran/told.f90
$(MPIIO_O)/$(1)/fortran_f08 $(MPIIO_O)/$(1)/fortran_large: tests/mpiio/fortran/checks.f90 tests/mpiio/fortran/negated.f90
$(MPIIO_O)/$(1)/fortran_large: tests/mpiio/fortran/fortran_large.F90
	$$(call say,MPIF90,$$@)
	$$(Q)mkdir -p $$(@D)/fortran_large.mod
	$$(Q)mpif90.$(1) $$(MPIIO_FFLAGS) $$(call mpiio_large,$(1)) -J $$(@D)/fortran_large.mod -o $$@ $$<

$(MPIIO_O)/$(1)/cxx: tests/mpiio/cxx/cxx.cc
	$$(call say,MPICXX,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)mpicxx.$(1) -Wall -Wno-cast-function-type -O1 -g -o $$@ $$<

$(MPIIO_O)/$(1)/columns: tests/examples/mpi/columns.f90
	$$(call say,MPIF90,$$@)
	$$(Q)mkdir -p $$(@D)/columns.mod
	$$(Q)mpif90.$(1) $$(MPIIO_FFLAGS) -J $$(@D)/columns.mod -o $$@ $$<

$(MPIIO_O)/$(1)/fortran_h: tests/mpiio/fortran/fortran_h.f
	$$(call say,MPIF77,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)mpif77.$(1) -O1 -g -o $$@ $$<
endef
$(foreach m,mpich openmpi,$(eval $(call mpiio_rules,$(m))))
