# SPDX-License-Identifier: GPL-2.0-only
# make mpiio-tests: programs that test MPI-IO, for each MPI whose compiler is here, in
# $(O)/tests/mpiio/{mpich,openmpi}/; run.sh runs them.  A library that is not here, or that is built for the
# other MPI only, leaves its program out.

MPIIO_O := $(O)/tests/mpiio
MPIIO_MPIS := $(foreach m,mpich openmpi,$(if $(shell command -v mpicc.$(m)),$(m)))
MPIIO_FUNCTIONS := $(sort $(wildcard tests/mpiio/functions/*.c))
MPIIO_VIEWS := $(sort $(wildcard tests/mpiio/views/*.c))
MPIIO_HEADERS := $(wildcard tests/mpiio/*.h tests/mpiio/*/*.h)
MPIIO_C := functions random_views patterns
MPIIO_FORTRAN := $(notdir $(basename $(wildcard tests/mpiio/fortran/*.f90 tests/mpiio/fortran/*.f)))
# Debian builds PnetCDF and NetCDF for Open MPI only, and HDF5 for both.
MPIIO_LIBS_mpich := $(if $(shell pkg-config --exists hdf5-mpich && echo yes),hdf5)
MPIIO_LIBS_openmpi := $(foreach l,hdf5=hdf5-openmpi pnetcdf=pnetcdf netcdf=netcdf-mpi,\
	$(if $(shell pkg-config --exists $(lastword $(subst =, ,$(l))) && echo yes),$(firstword $(subst =, ,$(l)))))
# Not sanitized: the MPI libraries lose memory, too.
MPIIO_CFLAGS = $(CSTD) $(WARN) -O1 -g -I.

.PHONY: mpiio-tests
mpiio-tests: $(foreach m,$(MPIIO_MPIS),$(MPIIO_C:%=$(MPIIO_O)/$(m)/%) $(MPIIO_LIBS_$(m):%=$(MPIIO_O)/$(m)/%))

# $(call mpiio_rules,MPI)
define mpiio_rules
$(MPIIO_O)/$(1)/%.o: tests/mpiio/%.c $(MPIIO_HEADERS)
	$$(call say,MPICC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)mpicc.$(1) $$(MPIIO_CFLAGS) $$(MPIIO_USES) -c -o $$@ $$<

$(MPIIO_O)/$(1)/functions: $(MPIIO_FUNCTIONS:tests/mpiio/%.c=$(MPIIO_O)/$(1)/%.o)
$(MPIIO_O)/$(1)/random_views: $(MPIIO_VIEWS:tests/mpiio/%.c=$(MPIIO_O)/$(1)/%.o)
