#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# build.sh SUITE...: called by ../outside.sh.  Fetches the suites' sources into $SOURCES and builds each for each of $MPIS
# into $BIN/MPI/SUITE/.  There the file "list" has a line for each test: NAME SAYS RANKS [ARGUMENT...], SAYS being "says" for
# those that print "No Errors" when they have passed.  FILE stands for a file's name, PLACE for one that must not begin with
# a prefix: PnetCDF strips it, and looks for a local file of that name.  A suite that cannot be fetched or built for an MPI has
# no list, and what cannot be compiled no line.
set -u
cflags='-w -O1 -g'

# fetch PACKAGE: sets src to the folder with its sources
fetch() {
	src=$(find "$SOURCES" -maxdepth 1 -type d -name "$1-[0-9]*" | head -n 1)
	[ -n "$src" ] && return
	if ! (cd "$SOURCES" && apt-get source -qq "$1" >log 2>&1); then
		[ "$1" = mpi4py ] && (cd "$SOURCES" && pip download -q --no-deps --no-binary :all: \
			"mpi4py==$(/usr/bin/python3 -c 'import mpi4py; print(mpi4py.__version__)')" && tar -xf mpi4py-*.tar.gz) ||
			{ echo "cannot fetch $1: $(tail -n 1 "$SOURCES/log")"; return 1; }
	fi
	src=$(find "$SOURCES" -maxdepth 1 -type d -name "$1-[0-9]*" | head -n 1)
	[ -n "$src" ]
}

# compile NAME WHAT...: a program of the suite, or a word about it
compile() {
	local name=$1
	shift
	# shellcheck disable=SC2086
	nice "mpicc.$mpi" $cflags -o "$bin/$name" "$@" >"$bin/log" 2>&1 && return
	echo "not built - $mpi/${bin##*/}/$name: $(grep -m 1 -E 'error|undefined' "$bin/log")"
	return 1
}

# says SOURCE: whether a program says that it has passed
says() {
	grep -qi 'no errors' "$1" && echo says || echo silent
}

# The tests that ROMIO's runtests names, with its arguments, and others of the folder; large_array, large_file and coll_perf
# write 4 GB.
build_romio() {
	fetch mpich || return
	local f name ranks args t=$src/src/mpi/romio/test
	while read -r name ranks args; do
		f=$t/$name.c
		[ -e "$f" ] || { sed 's/@LL@/lld/g' "$f.in" >"$bin/$name.c" && f=$bin/$name.c; }
		compile "$name" "$f" && echo "$name $(says "$f") $ranks $args" >>"$bin/list"
	done <<-LIST
		simple 4 -fname FILE
		async 4 -fname FILE
		async-multiple 4 -fname FILE
		atomicity 4 -fname FILE
		coll_test 4 -fname FILE
		excl 4 -fname FILE
		file_info 4 -fname FILE
		i_noncontig 2 -fname FILE
		noncontig 2 -fname FILE
		noncontig_coll 2 -fname FILE
		noncontig_coll2 4 -fname FILE
		aggregation1 4 -h -f FILE
		aggregation2 4 FILE
		hindexed 4 FILE
		misc 4 -fname FILE
		shared_fp 4 -fname FILE
		ordered_fp 4 -fname FILE
		split_coll 4 -fname FILE
		psimple 4 -fname FILE
		error 1 -fname FILE
		status 1 -fname FILE
		types_with_zeros 2 FILE
		darray_read 4 FILE
		syshints 1 $t/test_hintfile
		creat_excl 4 -fname FILE
		external32 1 -fname FILE
		big_extents 4 FILE
		perf 4 -fname FILE
	LIST
}

# MPICH's, by its own list of them; two of them want 6.5 GB of memory.
build_mpich() {
	fetch mpich || return
	local name ranks args t=$src/test/mpi
	cat >"$bin/mpitestconf.h" <<-CONF
		#define STDC_HEADERS 1
		#define HAVE_STDLIB_H 1
		#define HAVE_STRING_H 1
		#define HAVE_STDARG_H 1
		#define HAVE_UNISTD_H 1
		#define HAVE_SYS_TIME_H 1
		#define HAVE_SYS_RESOURCE_H 1
		#define HAVE_PTHREAD_H 1
		#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
	CONF
	while read -r name ranks args; do
		[[ $args = *mem=* ]] && continue
		compile "$name" "-I$bin" "-I$t/include" "-I$t/dtpools/include" "$t/io/$name.c" "$t/util/mtest.c" \
			"$t/util/mtest_common.c" "$t/util/mtest_single.c" && 
			echo "$name says $ranks ${args#arg=}" >>"$bin/list"
	done < <(grep '^[a-z]' "$t/io/testlist.in")
}

# mpi4py's, a class of cases at a time; Debian's mpi4py is for Open MPI, so that for MPICH is built.
build_mpi4py() {
	fetch mpi4py || return
	local class py=$src/build/$mpi
	if [ "$mpi" = mpich ] && [ ! -e "$py" ]; then
		(cd "$src" && MPICC=mpicc.mpich nice /usr/bin/python3 setup.py -q build --build-base "$py.o" --build-lib "$py") \
			>"$bin/log" 2>&1 || { rm -rf "$py"; echo "cannot build mpi4py: $(tail -n 1 "$bin/log")"; return; }
	fi
	for class in TestIOSelf TestIOWorld; do
		cat >"$bin/$class" <<-RUN
			#!/bin/sh
			TMPDIR=\$PWD PYTHONPATH=$py:$src/test exec /usr/bin/python3 -m unittest -v test_io.$class
		RUN
		chmod +x "$bin/$class"
		echo "$class silent 2" >>"$bin/list"
	done
}

# PnetCDF's; the library is Debian's.  tst_pthread wants one made for threads, the files with a "schar" a header of the build.
build_pnetcdf() {
	pkg-config --exists pnetcdf && [ "$mpi" = openmpi ] || return
	fetch pnetcdf || return
	local f name c t=$src/test
	touch "$bin/config.h"
	for f in "$t"/{testcases,nonblocking,C,cdf_format,header}/*.{c,m4}; do
		[ -e "$f" ] || continue
		name=${f##*/} c=$f
		name=${name%.*}
		case $name in
		erange_fill | tst_pthread | tst_version | redef1 | last_large_var | large_var_cdf5 | test_inq_format | tst_open_cdf5 | \
			tst_corrupt | pres_temp_4D_rd | bput_varn | column_wise) continue ;;
		esac
		[ "$f" = "${f%.m4}" ] || { c=$bin/$name.c && m4 "-I$src/m4" "$f" >"$c"; }
		compile "$name" "-I$bin" "-I$t/common" "-I${f%/*}" -DHAVE_DECL_MPI_OFFSET "$c" "$t/common/testutils.c" \
			-lpnetcdf -lm && echo "$name silent 4 PLACE" >>"$bin/list"
	done
}

# NetCDF's that run_par_test.sh runs; the library is Debian's.
build_netcdf() {
	pkg-config --exists netcdf-mpi && [ "$mpi" = openmpi ] || return
	fetch netcdf || return
	local name ranks libraries=(netcdf-mpi hdf5-openmpi) t=$src/nc_test4
	cat >"$bin/config.h" <<-CONF
		#include <stdint.h>
		#define USE_PARALLEL 1
		#define USE_PARALLEL4 1
		#define USE_NETCDF4 1
		#define HDF5_SUPPORTS_PAR_FILTERS 1
		#define CHUNK_CACHE_SIZE 16777216
		#define CHUNK_CACHE_NELEMS 4133
		#define CHUNK_CACHE_PREEMPTION 0.75
		#define TEMP_LARGE "."
	CONF
	while read -r name ranks; do
		# shellcheck disable=SC2046
		compile "$name" -include "$bin/config.h" "-I$bin" "-I$t" "-I$src/include" "-I$src/nc_test" \
			$(pkg-config --cflags "${libraries[@]}") "$t/$name.c" $(pkg-config --libs "${libraries[@]}") -lm &&
			echo "$name silent $ranks" >>"$bin/list"
	done <<-LIST
		tst_mode 1
		tst_mpi_parallel 4
		tst_parallel 4
		tst_parallel3 4
		tst_parallel4 4
		tst_parallel5 4
		tst_parallel6 4
		tst_nc4perf 4
		tst_simplerw_coll_r 4
		tst_parallel_zlib 4
		tst_parallel_compress 4
		tst_quantize_par 4
	LIST
}

# HDF5's testpar, of which testphdf5 has 60 tests in itself; the library is Debian's.
build_hdf5() {
	pkg-config --exists "hdf5-$mpi" || return
	fetch hdf5 || return
	local name more sources t=$src/testpar
	echo 'static const char *config_srcdir = ".";' >"$bin/H5srcdir_str.h"
	while read -r name more; do
		read -r -a sources <<<"$name $more"
		sources=("${sources[@]/#/$t/}")
		# shellcheck disable=SC2046
		compile "$name" "-I$bin" "-I$t" "-I$src/test" "-I$src/src" $(pkg-config --cflags "hdf5-$mpi") \
			"${sources[@]/%/.c}" "$src/test/h5test.c" "$src/test/testframe.c" $(pkg-config --libs "hdf5-$mpi") -lm &&
			echo "$name silent 4" >>"$bin/list"
	done <<-LIST
		t_mpi
		testphdf5 t_dset t_file t_file_image t_mdset t_ph5basic t_coll_chunk t_span_tree t_chunk_alloc t_filter_read t_prop t_coll_md_read
		t_cache
		t_pread
		t_shapesame
		t_filters_parallel
	LIST
}

for mpi in $MPIS; do
	command -v "mpicc.$mpi" >/dev/null || continue
	for suite; do
		bin=$BIN/$mpi/$suite
		mkdir -p "$bin"
		"build_$suite"
	done
done
exit 0
