#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# The tools with names that a shell, a terminal or a table of mounts would take for something else, in a folder whose own name has a
# blank, as root and as an ordinary user; and what an interrupted or impossible command leaves behind: what there was.
. "$(dirname "$0")/lib.sh"
unset DDIO_CONF
base=$dir
dir="$base/a b"
mkdir "$dir"
chmod 755 "$base" "$dir"

long=$(printf 'n%.0s' {1..255})
good=('a' ' ' '  two  blanks ' $'tab\tinside' $'line\nbreak' $'\n' 'back\slash' '\' '\040' '-' '-dash' '--force' "quo'te"
	'dou"ble' '$HOME' '`id`' '*' '?' '[a]' '#' '%s%n' '~' '!' '&&' ';' '|' 'a:b' ':' ',' 'a=b' 'a,b' '...' '.hidden'
	$'\e[31mred\e[0m' $'\r' $'\a\b' $'\x7f' $'\xff\xfe' $'\xc2\x9b' 'ünï' $'\xe2\x80\xae' "$long" '{a,b}' '(a)' '<a>')
bad=('' '.' '..' 'none/' 'none/x' "${long}n")

# plain TEXT: one or more lines, without a control character or what is not UTF-8
plain() { ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' <<<"$1" && iconv -f UTF-8 -t UTF-8 <<<"$1" >/dev/null 2>&1; }
# refused COMMAND...: it fails by itself, and says so in one line that a terminal may see
refused() {
	local out rc
	out=$("$@" 2>&1 >/dev/null)
	rc=$?
	[ $rc = 1 ] || [ $rc = 2 ] || { echo "exit $rc: $out"; return 1; }
	[ "$(wc -l <<<"$out")" -le 2 ] && plain "$out" || { printf '%q\n' "$out"; return 1; }
}
start_quietly() { "$ddio" start "$@" >/dev/null; }
names_in() { "$ddio" ls "$@" | LC_ALL=C sort; }
expected() { printf '%s\n' "$@" | LC_ALL=C sort; }

# all_names: of a cluster in the current directory
all_names() {
	local n wrong=
	head -c 70001 /dev/urandom >in
	for n in "${good[@]}"; do
		cp -- in "./$n" 2>/dev/null
		"$ddio" import -- "./$n" && "$ddio" export --force -- "$n" out && cmp -s in out ||
			wrong+=" import and export: $(printf %q "$n")"
	done
	check "$1: ${#good[@]} names go in and out" [ -z "$wrong" ]
	[ -z "$wrong" ] || echo "$wrong"
	check "$1: ls has them all" [ "$(names_in)" = "$(expected "${good[@]}")" ]
	check "$1: ls of each file" [ "$("$ddio" ls -- "${good[@]}" | LC_ALL=C sort)" = "$(expected "${good[@]}")" ]
	check "$1: stat" [ "$("$ddio" stat -- "${good[@]}" | grep -ac '^size: *70001$')" = ${#good[@]} ]
	wrong=
	for n in "${bad[@]}"; do
		refused "$ddio" import -- in "$n" || wrong+=" import $(printf %q "$n")"
		refused "$ddio" stat -- "$n" || wrong+=" stat $(printf %q "$n")"
		refused "$ddio" export -- "$n" out2 || wrong+=" export $(printf %q "$n")"
		refused "$ddio" rm -- "$n" || wrong+=" rm $(printf %q "$n")"
	done
	for n in $'no\nsuch' $'\e[2J' $'\xff'; do
		for c in ls stat layout rm snaps frag; do
			refused "$ddio" $c -- "$n" || wrong+=" $c $(printf %q "$n")"
		done
		refused "$ddio" clone -- "$n" new || wrong+=" clone $(printf %q "$n")"
		refused "$ddio" query --record 8 --count -- "$n" || wrong+=" query $(printf %q "$n")"
	done
	check "$1: what cannot be a name is refused in plain words" [ -z "$wrong" ]
	[ -z "$wrong" ] || echo "$wrong"
	[ ! -e out2 ] || not_ok "$1: a failed export left a file"
	check "$1: ... and nothing is changed" [ "$(names_in)" = "$(expected "${good[@]}")" ]
	check "$1: mkdir" "$ddio" mkdir -- 'd d' $'d d/e\tx'
	check "$1: a slash at the end puts it in there" "$ddio" import -- ./-dash 'd d/'
	check "$1: ... under its own name" [ "$(names_in 'd d')" = "$(expected -dash $'e\tx/')" ]
	check "$1: export goes into a directory" "$ddio" export --force -- 'd d/-dash' .
	check "$1: clone and snap" eval '"$ddio" clone -- "line
break" "d d/clo
ne" && "$ddio" snap -- "d d/-dash" "s
nap"'
	refused "$ddio" import -- in 'd d' && ok "$1: a directory is not replaced" || not_ok "$1: a directory is not replaced"
	check "$1: snaps" eval '"$ddio" snaps -- "d d/-dash" | grep -q "/s$"'
	for c in "ls" "ls -l" "stat '$(printf '\e')[31mred$(printf '\e')[0m'" "snaps 'd d/-dash'" "frag '$(printf '\e')[31mred$(printf '\e')[0m'"; do
		plain "$(script -qec "'$ddio' $c" /dev/null </dev/null | tr -d '\r')" || not_ok "$1: ddio $c: a terminal sees control characters"
	done
	refused "$ddio" rm -- 'd d' && ok "$1: a full directory stays" || not_ok "$1: a full directory stays"
	printf './%s\0' "${good[@]}" | xargs -0 rm -f
	fails "$1: rm goes on after one that is not there" "no such file" "$ddio" rm -- "${good[0]}" none "${good[@]:1}"
	check "$1: ... to the end" [ "$(names_in)" = "$(expected .snaps/ 'd d/')" ]
}

# What stays as it was.
old_or_new() {
	local rc
	head -c 300000 /dev/urandom >old
	head -c 200000 /dev/urandom >new
	mkfifo pipe
	"$ddio" import old f
	same() { "$ddio" export f - | cmp -s - old && [ "$(names_in | grep -av '/$')" = f ]; }
	refused "$ddio" import --force . f && same && ok "$1: a directory replaces no file" || not_ok "$1: a directory replaces no file"
	refused "$ddio" import --force none f && same && ok "$1: nor does what is not there" || not_ok "$1: nor does what is not there"
	refused "$ddio" import --force --disks 1,1 old f && same && ok "$1: nor a disk named twice" || not_ok "$1: nor a disk named twice"
	truncate -s 40M huge
	refused "$ddio" import --force huge f && same && ok "$1: nor what finds no room" || not_ok "$1: nor what finds no room"
	for sig in INT TERM HUP; do
		env --default-signal=INT,HUP "$ddio" import --force - f <pipe 2>said &
		exec 3>pipe
		cat new >&3
		soon eval '"$ddio" ls | grep -q "^\.ddio-"' || not_ok "$1: the file is not written beside"
		kill -$sig $!
		{ wait $!; } 2>/dev/null
		rc=$?
		exec 3>&-
		check "$1: SIG$sig ends an import by that signal" [ $rc = $((128 + $(kill -l $sig))) ]
		check "$1: ... and leaves what there was" same
	done
	"$ddio" import --force new f && "$ddio" export f - | cmp - new
	check "$1: --force replaces" [ $? = 0 ]
	check "$1: ... and leaves nothing else" [ "$(names_in | grep -av '/$')" = f ]
	echo mine >here
	refused "$ddio" export f here && [ "$(cat here)" = mine ] && ok "$1: export keeps a local file" || not_ok "$1: export keeps a local file"
	refused "$ddio" export --force none here && [ "$(cat here)" = mine ] && ok "$1: ... also with --force, if there is nothing" ||
		not_ok "$1: ... also with --force, if there is nothing"
	ln -s here link
	check "$1: export --force goes through a link" eval '"$ddio" export --force f link && cmp -s new here && [ -L link ]'
	rm link
	check "$1: export to a device" "$ddio" export --force f /dev/null
	# As /dev/stdout is one, and >(command).
	ln -s /proc/self/fd/1 through
	check "$1: export through a link to a pipe" eval '"$ddio" export --force f through | cmp - new && [ -L through ]'
	rm through
	small() { bash -c 'ulimit -f 100; trap "" XFSZ; exec "$0" export --force f here' "$ddio"; }
	refused small && cmp -s new here && ! compgen -G ".ddio-*" && ok "$1: an export without room keeps the old file" ||
		not_ok "$1: an export without room keeps the old file"
	"$ddio" rm f
}

cd "$dir" || exit
# With the umask of users who have a group of their own.
check "start in a folder with a blank" eval '(umask 002 && start_quietly --iops 2 --engine mem --disk-size 16M)'
all_names root
old_or_new root
export DDIO_CONF=none
fails "what DDIO_CONF names must be there" "none" "$ddio" ls
unset DDIO_CONF
check "another directory's cluster is found by its path" eval '(cd / && "$ddio" ls --conf "$dir/ddio-cluster/ddio.conf" >/dev/null)'
if [ ! -e /etc/ddio/ddio.conf ]; then
	fails "without any there is one hint" "no cluster's configuration.*ddio start.*ddio.conf(5)" bash -c 'cd / && exec "$0" ls' "$ddio"
	fails "... the same for mount" "no cluster's configuration.*ddio start.*ddio.conf(5)" bash -c 'cd / && exec "$0" mount /mnt' "$ddio"
	fails "... and key" "no cluster's configuration.*ddio start.*ddio.conf(5)" bash -c 'cd / && exec "$0" key list' "$ddio"
	if [ "$(id -u)" = 0 ]; then
		mkdir -p other/ddio-cluster
		cp ddio-cluster/ddio.conf other/ddio-cluster
		chown nobody other/ddio-cluster/ddio.conf
		fails "another user's file is not taken" "no cluster's configuration" bash -c 'cd other && exec "$0" ls' "$ddio"
	fi
fi

# A cluster that does not start leaves nothing, and what was there stays.
fails "a start that fails says why" 'unknown option "nonsense"' "$ddio" start --dir half --disk-options nonsense=1
check "... and leaves nothing" [ ! -e half ]
mkdir half && echo mine >half/io9
fails "... in a folder of ours" 'unknown option "nonsense"' "$ddio" start --dir half --disk-options nonsense=1
check "... but what was there" [ "$(ls half)" = io9 ]
check "the next one starts there" start_quietly --dir half --iops 1 --engine mem
check "... and stops" eval '"$ddio" stop --dir half >/dev/null'
fails "no configuration can name it" "no configuration can name" "$ddio" start --dir $'line\nbreak' --iops 1
check "... and nothing is left" [ ! -e $'line\nbreak' ]

mounts() {
	local n out wrong=
	for n in 'm m' $'tab\tm' $'line\nm' 'back\m' '\040' '-dash' ' ' 'a:b' 'a,b' 'ünï' $'\e[0m'; do
		mkdir -- "$n"
		out=$("$ddio" mount -- "$n" 2>&1)
		if [ $? != 0 ] || ! plain "$out"; then
			wrong+=" mount $(printf %q "$n"): $out"
			continue
		fi
		refused "$ddio" mount -- "$n" >/dev/null || wrong+=" twice $(printf %q "$n")"
		"$ddio" ls -l -- . >/dev/null 2>&1
		echo hello >"$n/hello" && "$ddio" stat -- hello >/dev/null && "$ddio" layout -- "$n/hello" >/dev/null ||
			wrong+=" use $(printf %q "$n")"
		# As it was told to.
		eval "\"\$ddio\" ${out##*To unmount it:  ddio }" || wrong+=" umount $(printf %q "$n")"
		[ ! -e "$n/hello" ] || wrong+=" still there $(printf %q "$n")"
		rmdir -- "$n"
	done
	mkdir real && ln -s real to && ln -s to link
	"$ddio" mount link >/dev/null && [ -e real/hello ] || wrong+=" mount by a link"
	refused "$ddio" mount real || wrong+=" twice by a link"
	"$ddio" umount link/ && [ ! -e real/hello ] || wrong+=" umount by a link"
	refused "$ddio" umount link || wrong+=" umount of nothing"
	"$ddio" mount real >/dev/null
	ln -s hello real/sym && "$ddio" import --force in sym && soon eval '[ "$(stat -c %A real/sym)" = -rw-r--r-- ]' || wrong+=" import over a link"
	echo old >real/closed && chmod 0 real/closed && "$ddio" import --force in closed &&
		soon eval '[ "$(stat -c %A-%s real/closed)" = -r---------70001 ]' || wrong+=" import over a closed file"
	"$ddio" umount real || wrong+=" umount after an import"
	rmdir real && rm to link
	check "$1: mount and umount" [ -z "$wrong" ]
	[ -z "$wrong" ] || echo "$wrong"
}
mounts_end() {
	local m
	while read -r m; do
		m=$(printf %b "${m//\\/\\0}")
		umount -l "$m" 2>/dev/null
	done < <(awk -v d="$base/" 'index($2, d) == 1 { print $2 }' /proc/self/mounts)
}
if [ -e /dev/fuse ] && [ "$(id -u)" = 0 ]; then
	mounts root
	# For the ordinary user, where this test has mounts of its own.
	if [ "$(readlink /proc/self/ns/mnt)" != "$(readlink /proc/1/ns/mnt)" ]; then
		mknod -m 666 "$base/fuse" c 10 229 && mount --bind "$base/fuse" /dev/fuse
	fi
else
	skipped=$((skipped + 1))
	echo "skipped: mounts need /dev/fuse, and root"
fi
check "stop" eval '"$ddio" stop --clean >/dev/null'
check "... removes it" [ ! -e ddio-cluster ]

# The same for somebody else.
if [ "$(id -u)" = 0 ]; then
	mkdir "u u"
	chown nobody "u u"
	(
		declare -p good bad long ddio dir base top
		declare -f
	) >"$base/functions"
	chmod 644 "$base/functions"
	setpriv --reuid nobody --regid nogroup --clear-groups env HOME=/ bash -c '
		. "$0"; set -u; passed=0 failed=0 skipped=0; cd "u u" || exit
		. '"$top"'/tests/patience.sh
		# Root had the sanitizers.
		[ -n "${BUILD:-}" ] || [ ! -x "$top/build/ddio" ] || ddio=$top/build/ddio
		check "user: start" start_quietly --iops 2 --engine mem --disk-size 16M
		all_names user
		old_or_new user
		if [ -w /dev/fuse ] && : >/dev/fuse && command -v fusermount3 >/dev/null; then
			mounts user
		else
			skipped=$((skipped + 1))
			echo "skipped: user: mounts need a /dev/fuse that everybody may use, and fusermount3"
		fi
		check "user: stop" "$ddio" stop --clean >/dev/null
		echo "$passed $failed $skipped" >counts' "$base/functions"
	read -r p f s <"u u/counts" && passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s)) ||
		not_ok "the ordinary user's part came to its end"
fi
dir=$base
