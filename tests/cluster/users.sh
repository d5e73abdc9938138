#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# A cluster that tells users apart, by a munged of the test's own: what Alice has, Mallory, who has the cluster's key,
# neither reads nor writes, lists or removes, by requests or collectives; and what is said where munge is not.
. "$(dirname "$0")/lib_users.sh"
head -c 3000000 /dev/urandom >"$dir/in"
chmod 644 "$dir/in"

check "root makes a directory for all" "$ddio" mkdir --mode 777 scratch
check "Alice has one of her own there" as $alice ddio mkdir scratch/alice
check "... and another that only she sees" as $alice ddio mkdir --mode 700 scratch/private
check "she stores a file" as $alice ddio import "$dir/in" scratch/alice/f
check "... and a secret" as $alice ddio import "$dir/in" scratch/private/f
check "she reads it" cmp "$dir/in" <(as $alice ddio export scratch/private/f -)
check "Mallory reads what is open to all" cmp "$dir/in" <(as $mallory ddio export scratch/alice/f -)
fails "he does not read the secret" "permission denied" as $mallory ddio export scratch/private/f -
fails "... nor list where it is" "permission denied" as $mallory ddio ls scratch/private
fails "... nor learn its size" "permission denied" as $mallory ddio stat scratch/private/f
fails "... nor its blocks" "permission denied" as $mallory ddio layout scratch/private/f
# Below a closed directory all names are alike: what exists, what does not, and what is no directory.
check "she has more there" eval 'as $alice ddio mkdir scratch/private/d && as $alice ddio import "$dir/in" scratch/private/d/f'
# says_alike COMMAND...: "@" in it is the name; status and text are the same for each, and a refusal
says_alike() {
	local name said first=
	for name in f x d d/f x/f f/f; do
		said=$(as $mallory ddio "${@//@/scratch/private/$name}" 2>&1)
		said="$? ${said//scratch\/private\/$name/@}"
		[[ $said = [1-9]*[Pp]"ermission denied"* && $said = "${first:=$said}" ]] && continue
		echo "$* of $name: $said; before: $first"
		return 1
	done
}
for c in "stat @" "ls @" "ls -l @" "layout @" "export @ -" "import -f $dir/in @" "import $dir/in @" "mkdir @" "rm @" "rm -f @" "clone @ scratch/new" \
	"clone scratch/alice/f @" "snap @ now" "snaps @" "frag @" "mend @" "query @ -r 8 -f a=0:u8 --count"; do
	read -ra words <<<"$c"
	check "all names there are alike to ${words[0]} ${words[1]}" says_alike "${words[@]}"
done
fails "he does not write hers" "permission denied" as $mallory ddio import -f "$dir/in" scratch/alice/f
fails "... nor beside it" "permission denied" as $mallory ddio import "$dir/in" scratch/alice/g
fails "... nor remove it" "permission denied" as $mallory ddio rm scratch/alice/f
fails "... nor make a directory there" "permission denied" as $mallory ddio mkdir scratch/alice/d
fails "he does not check the disks" "only root of a machine" as $mallory ddio fsck
fails "... nor look through them" "only root of a machine" as $mallory ddio scrub
for m in tc 2p dd dds; do
	as $alice crowd -n 4 -m $m -s 1048576 -w -f scratch/alice/$m >"$dir/out" 2>&1
	as $alice crowd -n 4 -m $m -s 1048576 -f scratch/alice/$m >>"$dir/out" 2>&1
	check "4 processes of Alice by $m" [ "$(grep -c ' ok 1' "$dir/out")" = 8 ]
	as $mallory crowd -n 4 -m $m -s 1048576 -f scratch/alice/$m >"$dir/out" 2>&1
	check "4 of Mallory read by $m" [ "$(grep -c ' ok 1' "$dir/out")" = 4 ]
	as $mallory crowd -n 4 -m $m -s 1048576 -w -f scratch/alice/$m >"$dir/out" 2>&1
	check "... and write nothing by $m" bash -c "! grep -q ' ok 1' '$dir/out' && grep -qi 'permission\|may not' '$dir/out'"
done
check "the file is as it was" cmp "$dir/in" <("$ddio" export scratch/alice/f -)
check "root checks the cluster" "$ddio" fsck

check "she removes hers" as $alice ddio rm scratch/alice/f
munge_stop
fails "without munged nobody is known" "munge" as $alice ddio ls scratch
check "... and with it again" bash -c "$(declare -f munge_start); munged=$munged; munge_start"
check "she is" as $alice ddio ls scratch
# One that has stopped: nobody waits for it longer than for a node.
munge_pid=$(cat /run/munge/pid)
kill -STOP "$munge_pid"
sed 's/^timeout = .*/timeout = 2s/' "$dir/$alice/conf" >"$dir/soon.conf"
grep -q '^timeout' "$dir/soon.conf" || sed -i 's/^\[cluster\]/&\ntimeout = 2s/' "$dir/soon.conf"
chmod 644 "$dir/soon.conf"
fails "a munged that has stopped is given up" "munge has not answered" in_time 20 \
	setpriv --reuid $alice --regid $alice --clear-groups "$dir/bin/ddio" ls --conf "$dir/soon.conf" scratch
as $alice ddio ls scratch >/dev/null 2>&1 &
client=$!
sleep 0.5
kill -TERM $client
check "... and whoever is asked to end meanwhile does" in_time 10 bash -c "while kill -0 $client 2>/dev/null; do sleep 0.05; done"
wait $client
check "nodes are stopped meanwhile" in_time 20 "$ddio" stop --dir "$dir/c"
kill -CONT "$munge_pid"
check "... and started" "$ddio" start --dir "$dir/c"
check "munged goes on, and she is known" as $alice ddio ls scratch
sed '/^users\|^servers_key/d' "$DDIO_CONF" >"$dir/old.conf"
fails "a client that knows of no users" "users = munge" "$ddio" ls --conf "$dir/old.conf"
sed '/^servers_key/d' "$DDIO_CONF" >"$dir/nokey.conf"
fails "users without the key of the servers" "servers_key" "$ddio" ls --conf "$dir/nokey.conf"
stop_cluster c
