#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A mount that is stopped while it has leases: others go on after the timeout, and when it goes on itself, nothing that was
# acknowledged is gone and no zeros stand for data.  Disks that are full under a lease.
. "$(dirname "$0")/lib_mount.sh"
check "start" start_cluster cl --iops 3 --engine aio --files --disk-size 32M --block-size 32K --cache 4M --timeout-ms 2000
for m in a b c; do
	check "mount $m" mount_at $m
done
a=$dir/a b=$dir/b c=$dir/c

# begin FILE LENGTH: has a process append lines of that length to the file, of which it says how many were taken
begin() {
	# shellcheck disable=SC2016
	coproc writer { exec perl -MIO::Handle -e '
		my ($path, $length) = @ARGV;
		my $n = 0;
		$| = 1;
		open(my $f, ">>", $path) or die "$path: $!";
		while (<STDIN>) {
			if (/^append (\d+)/) {
				for (1 .. $1) {
					my $line = sprintf("a%0*d\n", $length - 2, $n + 1);
					(syswrite($f, $line) // 0) == $length or last;
					$n++;
				}
				print "$n\n";
			} else {
				print $f->sync ? "synced\n" : "$!\n";
			}
		}' "$1" "$2"; }
	: "${writer_PID:=}"
}
# ask COMMAND: gives it to that process; the answer is in $said
ask() {
	echo "$1" >&"${writer[1]}"
	said=
	read -r -t $((60 * DDIO_PATIENCE)) said <&"${writer[0]}"
}
end() {
	local process=$writer_PID
	eval "exec ${writer[1]}>&-"
	wait "$process"
}
# within SECONDS FUNCTION ...: in_time runs no functions
within() {
	local seconds=$1
	shift
	export -f "${1?}"
	in_time "$seconds" bash -c '"$@"' sh "$@"
}
# whole FILE LENGTH LEAST MOST OTHERS: the file has nothing but lines, LEAST to MOST of the writer's, from the first on and in
# order, and OTHERS lines "c"
whole() {
	perl -e '
		my ($path, $length, $least, $most, $others) = @ARGV;
		my ($n, $c) = (0, 0);
		open(my $f, "<", $path) or die "$path: $!";
		while (<$f>) {
			if (/^c\n$/) {
				$c++;
			} elsif (/^a(\d+)\n$/ && length == $length && $1 == $n + 1) {
				$n++;
			} else {
				die sprintf("line %d: %d bytes, %s\n", $., length, /\0/ ? "zeros" : substr($_, 0, 20));
			}
		}
		die "$n lines, not $least to $most\n" if $n < $least || $n > $most;
		die "$c lines of the other, not $others\n" if $c != $others;' "$@"
}
stop() {
	kill -STOP "${pid[a]}"
}
go_on() {
	kill -CONT "${pid[a]}"
}
lines_c() {
	local i
	for ((i = 0; i < $2; i++)); do
		echo c >>"$1" || return 1
	done
}
# with_lease FILE: the writer has synced 100 lines, and another 100 were taken; its mount is stopped
with_lease() {
	begin "$a/$1" 64
	ask "append 100"
	ask sync
	check "$1: lines are synced" [ "$said" = synced ]
	ask "append 100"
	check "$1: more are taken" [ "$said" = 200 ]
	stop
}

# Nobody changes the file: what its holder had not told is told when it goes on.
with_lease read
check "the others' names are served at once" in_time 20 bash -c "mkdir $b/d && mv $b/d $b/e && ls $b/e && rmdir $b/e"
check "a reader goes on, and misses nothing that was synced" within 30 whole "$b/read" 64 100 200 0
check "a listing, too" in_time 20 ls -l "$c"
go_on
ask sync
check "the holder goes on, and its sync keeps all" [ "$said" = synced ]
check "everybody sees it" within 20 whole "$b/read" 64 200 200 0
ask "append 50"
check "it appends" [ "$said" = 250 ]
end
check "... where the end is" whole "$c/read" 64 250 250 0

# Others change it.  What was taken and not synced may be gone, and then the sync says so.
# A mount that was late gets no lease, a new one does.
check "unmount a" unmount a
check "mount a" mount_at a
with_lease append
check "an append goes on" within 40 lines_c "$c/append" 20
check "a reader sees it, and what was synced" within 20 whole "$b/append" 64 100 200 20
go_on
ask sync
case $said in
synced) least=200 ;;
"Input/output error") least=100 ;;
*) least=1000 ;;
esac
check "the sync says whether all is there: $said" within 20 whole "$b/append" 64 $least 200 20
check "the mount that was stopped sees the same" in_time 20 cmp "$a/append" "$b/append"
end
check "both append" bash -c "echo c >>$a/append && echo c >>$b/append"
check "... at the end" within 20 whole "$c/append" 64 $least 200 22

# It is replaced, cut and removed meanwhile.
check "unmount a" unmount a
check "mount a" mount_at a
with_lease replaced
check "a rename over it goes on" in_time 40 bash -c "echo c >$b/new && mv $b/new $b/replaced"
check "the name has the new file" within 20 whole "$c/replaced" 64 0 0 1
go_on
ask sync
end
check "... and keeps it" within 20 whole "$a/replaced" 64 0 0 1
check "unmount a" unmount a
check "mount a" mount_at a
with_lease cut
check "a cut goes on" in_time 40 truncate -s 640 "$b/cut"
go_on
ask sync
check "it stays cut" within 20 whole "$c/cut" 64 10 10 0
ask "append 10"
end
check "what comes then is behind the cut" in_time 20 [ "$(stat -c %s "$b/cut")" = 1280 ]

# It goes on in time: nobody sees less than what was taken.
check "unmount a" unmount a
check "mount a" mount_at a
with_lease short
within 30 whole "$b/short" 64 200 200 0 &
reader=$!
sleep 0.3
go_on
check "a short stop: a reader waits, and sees all that was taken" wait $reader
ask sync
check "the sync keeps it" [ "$said" = synced ]
end

# Full disks: what was refused under the lease is not there, and all that was taken is.
begin "$a/full" 4000
ask "append 10"
dd if=/dev/zero of="$b/filler" bs=1M count=1000 conv=fsync status=none 2>/dev/null
ask "append 100000"
taken=$said
check "a disk becomes full under a lease: $taken lines" [ "$taken" -ge 10 ] && [ "$taken" -lt 100000 ]
check "all that was taken is there, and no more" within 40 whole "$b/full" 4000 "$taken" "$taken" 0
check "removing gives back" rm "$b/filler"
space() {
	local before=$said
	ask "append 1"
	[ "$said" -gt "$before" ]
}
check "there is space again" soon space
ask "append 9"
taken=$said
ask sync
check "the sync keeps it" [ "$said" = synced ]
end
check "... behind what was there" within 40 whole "$b/full" 4000 "$taken" "$taken" 0

for m in a b c; do
	check "unmount $m" unmount $m
done
check "fsck" "$ddio" fsck
