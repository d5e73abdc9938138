#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The papers' measurements in virtual time, beside the published figures.
#
#   tools/paper/run.sh [NAME...]   into build/paper/, or $OUT; all of them if none is named
#
# Each makes NAME.txt (what ran, the cells side by side, a summary), NAME.csv and, where there is
# something to draw, NAME.png and NAME.svg.  The same commit gives the same bytes.
set -eu
cd "$(dirname "$0")/../.."
here=tools/paper
build=${BUILD:-build}
out=${OUT:-$build/paper}
ddio=$build/ddio
mkdir -p "$out"

sim() { "$ddio" sim --quiet --no-verify --csv "$@"; }

# The papers' machine ran a thread for each request, and their applications made a call for each chunk.
era() { sim --prompt --calls "$@"; }

# TR94-226: one request for each disk and process, first-come-first-served queues, two cache buffers for
# each disk and process, each Memput and Memget by itself, and read-ahead after the answer.
tr94() { era --outstanding 1 --fcfs --late-ahead --cache 256K --no-batch "$@"; }

# TOCS 1997: four requests, CSCAN, batches; disks begin at random angles.
tocs97() { era --phases "$@"; }

# Five trials, as in the papers: means and coefficients of variation.
seeds=${SEEDS:-1 2 3 4 5}
means() { # COMMAND...
	local s
	for s in $seeds; do "$@" --cpu-left --seed "$s"; done | awk -f $here/mean.awk
}

# side_by_side NAME TITLE TOLERANCE-DD TOLERANCE-TC: NAME.csv as a table with deviations
side_by_side() {
	{
		grep '^#' "$out/$1.csv" | sed 's/^# //'
		echo
		awk -v title="$2" -v tol_dd="$3" -v tol_tc="$4" -f $here/side_by_side.awk "$out/$1.csv"
	} >"$out/$1.txt"
	tail -n 3 "$out/$1.txt" | sed "s/^/$1: /"
}

# The patterns of the report's Table 2; the others are these under another name.
patterns=ra,rn,rb,rc,rnb,rbb,rcb,rbc,rcc,rcn,wn,wb,wc,wnb,wbb,wcb,wbc,wcc,wcn

draw() { gnuplot -e "csv='$out/$1.csv'; base='$out/$1'; what='$2'" $here/bars.gp; }

tables() { # Tables 3 and 4
	local layout name
	for name in table3 table4; do
		layout=random-blocks
		[ $name = table4 ] && layout=contiguous
		means tr94 --patterns $patterns --layouts $layout --methods tc,dd,dds >"$out/$name.csv"
		side_by_side $name "TR94-226, Table ${name#table} ($layout)" 10 30
		draw $name "TR94-226, Table ${name#table}: $layout, MB/s"
	done
}

tocs() { # TOCS 1997, Figures 4 to 7 and Table III; the text gives the cache twice
	local name cache
	for name in tocs tocs-4mb; do
		cache=1M # eight buffers for each process and disk
		[ $name = tocs-4mb ] && cache=256K # two; 4 MB in all
		means tocs97 --cache $cache --patterns $patterns --layouts random-blocks,contiguous \
			--methods tc,2p,dd,dds >"$out/$name.csv"
		{
			grep '^#' "$out/$name.csv" | sed 's/^# //'
			echo
			awk -f $here/relative.awk "$out/$name.csv"
		} >"$out/$name.txt"
		tail -n 4 "$out/$name.txt" | sed "s/^/$name: /"
	done
	draw tocs "TOCS 1997, Figures 4 to 7, MB/s"
}

# TOCS once more, seed 1, with queues that are first come, first served, by both caches: what its text says of SPFS on random
# blocks then holds, and what it says of contiguous ones does not.
queues() {
	local name cache
	for name in fcfs fcfs-4mb; do
		cache=1M
		[ $name = fcfs-4mb ] && cache=256K
		mkdir -p "$out/$name"
		seeds=1 means tocs97 --fcfs --cache $cache --patterns $patterns --layouts random-blocks,contiguous \
			--methods tc,2p,dd,dds >"$out/$name/tocs.csv"
		{
			awk -f $here/relative.awk "$out/$name/tocs.csv" | tail -n 5
			echo
			awk -f $here/say.awk -f $here/statements.awk "$out/$name/tocs.csv"
		} >"$out/$name.txt"
		tail -n 1 "$out/$name.txt" | sed "s/^/$name: /"
	done
}

# TR95-251: the report's file system and the client of all tables; a block that is written in part is read first.
lu() { # Figure 10, and the figures that are drawn from its data
	local layout slab block fs rest l m
	{
		"$ddio" lu --sim --csv-header
		while IFS=, read -r layout slab block fs rest; do
			case $layout in contig) l=contiguous ;; random) l=random-blocks ;; *) continue ;; esac
			m=tc
			[ "$fs" = DD ] && m=dds
			"$ddio" lu --sim --csv --prompt --fcfs --late-ahead --no-batch --install --layout $l --slab "$slab" \
				--block-size "$block" --method $m
		done <$here/figure10.csv
	} >"$out/lu.csv"
	{
		grep '^#' "$out/lu.csv" | sed 's/^# //'
		echo
		awk -f $here/lu.awk $here/figure10.csv "$out/lu.csv"
	} >"$out/lu.txt"
	tail -n 4 "$out/lu.txt" | sed 's/^/lu: /'
	{
		grep '^#' "$out/lu.csv" | sed 's/^# //'
		echo
		awk -f $here/lu_figures.awk $here/figure10.csv "$out/lu.csv"
	} >"$out/lu-figures.txt"
	tail -n 2 "$out/lu-figures.txt" | sed 's/^/lu-figures: /'
	gnuplot -e "txt='$out/lu.txt'; base='$out/lu'" $here/lu.gp
}

# vary NAME SETTING...: how the throughput of the patterns of TOCS, section 6.1, follows one parameter, in the system
# "$system" by the methods "$methods".  A setting is VALUE:OPTIONS.
system=tocs97 methods=tc,2p,dds
vary() {
	local name=$1 set first=1
	shift
	: >"$out/$name.csv"
	for set in "$@"; do
		# shellcheck disable=SC2086,SC2317
		$system --patterns ra,rn,rb,rc --records 8192 --methods $methods ${set#*:} |
			awk -v v="${set%%:*}" -v first=$first '/^#/ { if (first) print; next }
				/^layout/ { if (first) print "value," $0; next } { print v "," $0 }' >>"$out/$name.csv"
		first=0
	done
	[ $# -eq 1 ] || gnuplot -e "csv='$out/$name.csv'; base='$out/$name'; what='$name'" $here/lines.gp
	awk -f $here/varied.awk "$out/$name.csv" >"$out/$name.txt"
	echo "$name: $out/$name.txt"
}

# each VALUES OPTIONS: settings, "%" in OPTIONS standing for the value
each() {
	local v
	settings=()
	for v in $1; do settings+=("$v:${2//%/$v}"); done
}

# TOCS 1997, section 6.1: everything else as in its figures, on the contiguous layout.
sensitivity() {
	local v settings
	each '1 2 4 8 16' '--cps %'
	vary cps "${settings[@]}"
	settings=()
	# The disks and their cache stay, on fewer IOPs with a bus each.
	for v in 1 2 4 8 16; do settings+=("$v:--iops $v --disks $((16 / v)) --shared-bus"); done
	vary iops "${settings[@]}"
	each '1 2 4 8 16 32' '--iops 1 --shared-bus --disks %'
	vary disks "${settings[@]}"
	each '1 2 4 8 16 32' '--iops 1 --shared-bus --layouts random-blocks --disks %'
	vary disks-random "${settings[@]}"
	each '10M 100M 1000M' '--size % --patterns rn,rb,rc --methods tc,dds'
	vary size "${settings[@]}"
	each '10M 1000M' '--size % --patterns rbb,wbb --methods tc,dds'
	vary chunks "${settings[@]}"
	each '10M 100M' '--size % --layouts random-blocks'
	vary size-random "${settings[@]}"
	each '8 16 32 64 128 256 512 1024 2048 4096 8192' \
		'--records % --patterns rc --methods tc --layouts contiguous,random-blocks'
	vary records "${settings[@]}"
}

# TR94-226, Figures 6 to 12, in its own system: a cache of two buffers for each process and disk.
figures94() {
	local v settings system=tr94 methods=tc,dds
	settings=()
	for v in 1 2 4 8 16; do settings+=("$v:--cps $v --cache $((16 * v))K"); done
	vary fig6 "${settings[@]}"
	settings=()
	for v in 1 2 4 8 16; do settings+=("$v:--iops $v --disks $((16 / v)) --shared-bus"); done
	vary fig7 "${settings[@]}"
	each '1 2 4 8 16 32' '--iops 1 --shared-bus --disks %'
	vary fig8 "${settings[@]}"
	each '1 2 4 8 16 32' '--iops 1 --shared-bus --layouts random-blocks --disks %'
	vary fig9 "${settings[@]}"
	each '10M 100M' '--size %'
	vary fig10 "${settings[@]}"
	each '10M 100M' '--size % --layouts random-blocks'
	vary fig11 "${settings[@]}"
	each '8 64 1024 4096 8192' '--records % --patterns rc --methods tc --layouts contiguous,random-blocks'
	vary fig12 "${settings[@]}"
}

# Parameters of which the papers chose one value, and the layout that they left out.
sweeps() {
	local v settings methods=tc
	each '1 2 4 8' '--layouts contiguous,random-blocks --outstanding %'
	vary outstanding "${settings[@]}"
	methods=dds
	each '1 2 4 8' '--layouts contiguous,random-blocks --buffers %'
	vary buffers "${settings[@]}"
	settings=(16:'--layouts contiguous,random-tracks,random-blocks --methods tc,dds')
	vary tracks "${settings[@]}"
}

# TOCS, section 3: requests of single processes in place of a collective one, and processes that do not come at once.
# The columns are the most microseconds by which a process is late.
alone() {
	local mode late flag
	{
		tocs97 -p rn -r 8192 -m dds | grep '^#'
		echo "mode,late,layout,pattern,record,method,mbps"
		for mode in together alone; do
			flag=
			[ $mode = together ] || flag=--alone
			for late in 0 10000 100000 1000000; do
				tocs97 --patterns rb,rc,rbb,rcc,wc --records 8,8192 --methods tc,dds --skew $late $flag |
					awk -F, -v m=$mode -v l=$late '!/^[#l]/ { print m "," l "," $1 "," $2 "," $3 "," $4 "," $6 }'
			done
		done
	} >"$out/alone.csv"
	awk -f $here/alone.awk "$out/alone.csv" >"$out/alone.txt"
	echo "alone: $out/alone.txt"
}

# Kotz and Cai 1995: what all patterns leave of the I/O processors' CPUs, in the runs of Table 4.
ionode() {
	[ -s "$out/table4.csv" ] || tables
	{
		grep '^#' "$out/table4.csv" | sed 's/^# //'
		echo
		awk -f $here/ionode.awk $here/ionode.csv "$out/table4.csv"
	} >"$out/ionode.txt"
	tail -n 1 "$out/ionode.txt" | sed 's/^/ionode: /'
	gnuplot -e "csv='$out/table4.csv'; base='$out/ionode'" $here/ionode.gp
}

# Clients, servers and costs that were tried for traditional caching: cells that tell them apart.
tried() {
	local name
	try() { # NAME OPTIONS...
		name=$1
		shift
		sim --outstanding 1 --fcfs --cache 256K --no-batch --cpu-left -m tc -r 8 \
			-p rc,rbc,rcc,wc,wbc,wcc,rnb,rbb,rb "$@" | sed "s/^/$name,/"
		sim --outstanding 1 --fcfs --cache 256K --no-batch --cpu-left -m tc -r 8192 \
			-p rcb,rbb,rcc,rcn,wnb,wn "$@" | sed -n "s/^contiguous/$name,&/p"
	}
	{
		try all-at-once --late-ahead --cost cache=40000
		try all-at-once-prompt --late-ahead --prompt --cost cache=40000
		try calls-10us --late-ahead --calls --cost cache=10000
		try calls-40us --late-ahead --calls --cost cache=40000
		try calls-prompt-5us --late-ahead --calls --prompt --cost cache=5000
		try calls-prompt-10us --late-ahead --calls --prompt --cost cache=10000
		try calls-prompt --late-ahead --calls --prompt
		try calls-prompt-20us --late-ahead --calls --prompt --cost cache=20000
		try calls-prompt-ahead --calls --prompt
		try calls-prompt-angles --late-ahead --calls --prompt --phases
		try calls-prompt-jitter --late-ahead --calls --prompt --jitter 50
	} >"$out/tried.csv"
	awk -f $here/tried.awk "$out/tried.csv" >"$out/tried.txt"
	echo "tried: $out/tried.txt"
}

# Six other places where ours and a paper's figures or words may differ, and what changes ours: a line for each way.
others() {
	local way
	ways() { # TEXT COMMAND...
		local text=$1
		shift
		printf '\n%s\n' "$text"
		"$@" '' as\ in\ the\ tables
		"$@" --phases
		"$@" '--jitter 50'
		"$@" '--cost cache=40000'
		"$@" '--cost cache=5000'
		"$@" '--cost receive=200000'
		"$@" '--cost send=200000'
		"$@" '--cost switch=2000'
		"$@" '--network ideal'
	}
	pick() { awk -F, -v c="$1" '/^layout/ { for (i = 1; i <= NF; i++) col[$i] = i } !/^[#l]/ { printf " %s %s %s:", $2, $3, $4; n = split(c, k, " ")
		for (i = 1; i <= n; i++) printf " %.2f", $col[k[i]] / (k[i] ~ /left/ ? 1000 : 1) }'; }
	# shellcheck disable=SC2086,SC2317
	try_wn() { printf '%-28s%s\n' "${2:-$1}" "$(tr94 -m dd -r 8192 -p wn,wb $1 | pick mbps)"; }
	# shellcheck disable=SC2086,SC2317
	try_rb() { printf '%-28s%s%s\n' "${2:-$1}" "$(tr94 -m tc -r 8192 -p rb $1 | pick mbps)" "$(tr94 -m tc -r 8192 -p rb --size 100M $1 | pick mbps)"; }
	# shellcheck disable=SC2086,SC2317
	try_left() { printf '%-28s%s%s\n' "${2:-$1}" "$(tr94 --cpu-left -m tc,dd -r 8192 -p ra $1 | pick 'iop_left iop_left_barriers')" \
		"$(tr94 --cpu-left -m tc -r 8 -p wnb $1 | pick 'iop_left iop_left_barriers')"; }
	# shellcheck disable=SC2086,SC2317
	try_disks() { printf '%-28s%s\n' "${2:-$1}" "$(tocs97 -i 1 --shared-bus -d 32 -m tc,dds -r 8192 -p ra,rb $1 | pick mbps)"; }
	# shellcheck disable=SC2086,SC2317
	try_third() { printf '%-28s%s%s\n' "${1:-0} us" "$(tocs97 -i 2 -d 8 --shared-bus -m dds -r 8192 -p rn,rc -o "announce_us=${1:-0}" | pick mbps)" \
		"$(tocs97 -i 2 -d 8 --shared-bus -m tc -r 8192 -p rn,rc | pick mbps)"; }
	# shellcheck disable=SC2086,SC2317
	try_memget() { printf '%-28s%s%s\n' "${2:-$1}" "$(tocs97 -m tc -r 8192 -p wn,wb,wc,wcc $1 | pick mbps)" "$(tocs97 -m tc -r 8 -p wc,wcc $1 | pick mbps)"; }
	{
		sim -p rn -r 8192 -m dds | sed -n '1s/^# //p'
		ways 'TR94-226, Table 4: wn by DD, 31.4 MB/s, and wb, 34.8' try_wn
		ways "TR94-226, Figure 10: TC's rb with 10 MB, and with 100, where it is much faster" try_rb
		for way in '--outstanding 4' '--cache 1M'; do try_rb "$way"; done
		printf '%-28s%s%s\n' 'read ahead along' "$(era --outstanding 1 --fcfs --cache 256K -m tc -r 8192 -p rb | pick mbps)" \
			"$(era --outstanding 1 --fcfs --cache 256K -m tc -r 8192 -p rb --size 100M | pick mbps)"
		printf '%-28s%s%s\n' 'CSCAN' "$(era --outstanding 1 --late-ahead --cache 256K -m tc -r 8192 -p rb | pick mbps)" \
			"$(era --outstanding 1 --late-ahead --cache 256K -m tc -r 8192 -p rb --size 100M | pick mbps)"
		ways 'Kotz and Cai, Figure 3: per cent left, without and with barriers; 80 to 97 with barriers' try_left
		ways 'TOCS, Figure 11: ra and rb with 32 disks on one IOP, which SPFS has difficulty with' try_disks
		for way in --fcfs '--cache 256K' '--outstanding 1' '--cost disk=50000'; do try_disks "$way"; done
		printf '\nTOCS, footnote 3: DDIO announces each read to the drive, a third bus transaction of so many us; two IOPs\n'
		for way in 0 50 100 200 500 1000; do try_third $way; done
		printf '\nTOCS: SPFS that writes by Memget: without the copies that it spares, and with the messages that it adds\n'
		try_memget '' 'as in the tables'
		for way in '--cost copy=0' '--cost send=10000,receive=10000' '--cost copy=0,send=10000,receive=10000'; do try_memget "$way"; done
	} >"$out/others.txt"
	echo "others: $out/others.txt"
}

# What the papers only suggest, with and without it.
fixes() {
	local o=$out/fixes.csv
	fix() { # NAME OPTIONS-WITHOUT OPTIONS-WITH OPTIONS...
		local name=$1 without=$2 with=$3
		shift 3
		# shellcheck disable=SC2086,SC2317
		join -t, <(sim "$@" $without | cells) <(sim "$@" $with | cells) | sed "s/^/$name,/" >>"$o"
	}
	cells() { awk -F, '!/^[#l]/ { print $1 "/" $2 "/" $3 "/" $4 "," $6 }' | sort; }
	sim -p rn -r 8192 -m dds | grep '^#' >"$o"
	echo "fix,cell,without,with" >>"$o"
	fix "batched Memput and Memget" --no-batch "" -r 8 -m dds -p rc,rbc,rcc,wc,wbc,wcc
	fix "rotated start" "" --rotate -r 8 -m dds -p rc,rbc,rcc,wbc
	fix "rotated start (8 KB)" "" --rotate -r 8192 -m dds -p rn,rbc
	fix "shortest access time first" "" --satf -l random-blocks -r 8192 -m dds -p rn,rb,rc,rbb,rcc
	fix "shortest access time first (100 MB)" "" --satf -l random-blocks -r 8192 -m dds -p rn,rb --size 100M
	awk -F, '/^#/ { print substr($0, 3); next } /^fix,/ { printf "\n%-34s %-28s %9s %9s\n", "MB/s", "", "without", "with"; next }
		{ printf "%-34s %-28s %9.2f %9.2f %+7.1f%%\n", $1, $2, $3, $4, 100 * $4 / $3 - 100 }' "$o" >"$out/fixes.txt"
	gnuplot -e "csv='$o'; base='$out/fixes'" $here/fixes.gp
	echo "fixes: $out/fixes.txt"
}

# A megabyte for each I/O processor, read in blocks and in records of 8 bytes; a file is written,
# then read.  SCALE: "IOPS:CPS ..."; the larger ones of Documentation/scaling.rst take minutes and
# many gigabytes.
scale() {
	local c i n p text
	{
		sim --network switched -p rn -r 8192 -m dds | sed -n 1p
		echo "pattern,iops,cps,transfer_s,mbps,messages_per_iop,sorted_per_iop,runs_per_iop,iop_cpu_s"
		for c in ${SCALE:-16:16 16:64 16:256 64:64 64:256 64:1024 64:4096 \
			128:128 128:512 256:64 256:256 1024:64}; do
			i=${c%:*} n=${c#*:}
			for p in rb:8192 rc:8192; do
				text=$(sim --stats --network switched --iops "$i" --cps "$n" --size "${i}M" \
					--patterns ${p%:*} --records ${p#*:} --methods dds 2>&1)
				awk -F, -v i="$i" -v n="$n" '
					/^contiguous/ { p = $2; mb = $6; s = $9 / 1e9 }
					/^virtual/ { split($0, w, /[ ,;]+/)
						for (k in w) { if (w[k] == "messages") m = w[k - 1]
							if (w[k] == "entries") e = w[k - 1]
							if (w[k] == "runs") u = w[k - 1]
							if (w[k] == "IOPs") cpu = w[k - 3] } }
					END { printf "%s,%d,%d,%.4f,%.1f,%.0f,%.0f,%.0f,%.3f\n", p, i, n, s, mb,
						m / i, e / i, u / i, cpu / i }' <<<"$text"
				sed -n "s/^virtual.* \([0-9]*\) bytes of memory$/scale: $p, $i IOPs, $n CPs: \1 bytes of memory/p" \
					<<<"$text" >&2
			done
		done
	} >"$out/scale.csv"
	sed 's/^# //' "$out/scale.csv" | column -s, -t >"$out/scale.txt"
	gnuplot -e "csv='$out/scale.csv'; base='$out/scale'" $here/scale.gp
	echo "scale: $out/scale.txt"
}

# Predictions and fitted cells apart: how many lie within 5, 10, 15 and 30 % of the published figure.
shares() {
	local f have=()
	for f in table3 table4; do
		[ -s "$out/$f.csv" ] && have+=("$out/$f.csv")
	done
	awk -f $here/shares.awk $here/before.csv "${have[@]}" >"$out/shares.txt"
	sed 's/^/shares: /' "$out/shares.txt"
}

# What the texts of the papers say, looked up in the figures.
statements() {
	local f have=() reports=()
	for f in tocs cps iops disks size chunks records fixes; do
		[ -s "$out/$f.csv" ] && have+=("$out/$f.csv")
	done
	for f in table3 table4 fig6 fig7 fig8 fig9 fig10 lu; do
		[ -s "$out/$f.csv" ] && reports+=("$out/$f.csv")
	done
	{
		awk -f $here/say.awk -f $here/statements.awk "${have[@]}"
		echo
		awk -f $here/say.awk -f $here/statements_reports.awk "${reports[@]}"
	} >"$out/statements.txt"
	sed -n 's/^.*: [0-9]* of [0-9]* statements hold/statements: &/p' "$out/statements.txt"
}

all='tables tocs queues sensitivity figures94 sweeps lu alone ionode tried others fixes statements scale shares'
# shellcheck disable=SC2048
for what in ${*:-$all}; do
	case " $all " in
	*" $what "*) $what ;;
	*) echo "paper: no '$what': $all" >&2; exit 2 ;;
	esac
done
