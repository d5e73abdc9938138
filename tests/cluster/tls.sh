#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# A cluster that is closed to strangers: what is on the wire, what both sides say if they differ, a change of the key while
# the cluster works; and everything that basics.sh does.
. "$(dirname "$0")/lib.sh"
export SECURITY=tls
all=ra,rb,rc,rbb,rcc,wb,wc,wbb,wcc

check "start" start_cluster c --iops 2 --engine mem --disk-size 64M --block-size 64K
check "the configuration says it" grep -q '^security = tls$' "$DDIO_CONF"
marker="nobody may read this $$ "
yes "$marker" | head -c 8000000 >"$dir/in"
if [ "$(id -u)" = 0 ]; then
	heard=$(tests/helpers/hear.py "$marker" "$ddio" import "$dir/in" f)
	check "nothing of 8 MB can be read on the wire ($heard)" \
		awk '{ exit !($1 > 8000000 && $2 == 0 && $3 == 0) }' <<<"$heard"
	heard=$(tests/helpers/hear.py "$marker" "$ddio" export f -)
	check "... nor when they are read back ($heard)" awk '{ exit !($1 > 8000000 && $2 == 0 && $3 == 0) }' <<<"$heard"
else
	check "import" "$ddio" import "$dir/in" f
	skipped=$((skipped + 1))
	echo "skipped: only root can listen on the wire"
fi
check "the same bytes" cmp "$dir/in" <("$ddio" export f -)
for m in tc 2p dd dds; do
	"$helpers/crowd" -n 4 -m $m -s 1048576 -w -f x >"$dir/out" 2>&1
	"$helpers/crowd" -n 4 -m $m -s 1048576 -f x >>"$dir/out" 2>&1
	check "4 processes by $m" [ "$(grep -c ' ok 1' "$dir/out")" = 8 ]
done
# bench OPTIONS...: "bytes shared verified" of each pattern
bench() {
	"$build/ddio" bench -q -n 4 -s 1M -r 8192 -m dd -p "$all" --csv "$@" 2>"$dir/said" | awk -F, '
		$2 == "pattern" { for (i = 1; i <= NF; i++) c[$i] = i }
		c["shared"] && $2 != "pattern" { print $c["bytes"], $c["shared"], $c["verified"] }'
}
bench >"$dir/rows"
check "buffers are shared as before, every byte verified" awk '!$2 || !$3 { exit 1 } END { exit NR != 9 }' "$dir/rows"
bench --no-share >"$dir/rows"
check "by TLS alone, every byte verified" awk '$2 || !$3 { exit 1 } END { exit NR != 9 }' "$dir/rows"

"$ddio" bench --conf "$DDIO_CONF" -q -n 4 -s 1M -r 8192 -m dd -p rb --trace "$dir/t.json" >/dev/null
check "no message goes another way" [ "$(grep -o '"way":"[^"]*"' "$dir/t.json" | sort -u)" = '"way":"TLS"' ]
check "... and no connection has memory for it" \
	[ "$("$ddio" status --bounds | awk '$2 == "channels/reactor" { n += $5 } END { print +n }')" = 0 ]

# Sides that differ.
sed 's/^security = .*/security = none/' "$DDIO_CONF" >"$dir/plain.conf"
fails "a plain client" "the node speaks TLS only" "$ddio" ls --conf "$dir/plain.conf"
check "... of which the node says why" grep -q 'refused .*: the connector does not speak TLS' "$dir/c/io0.log"
sed "s|^key_file = .*|key_file = $dir/wrong|" "$DDIO_CONF" >"$dir/wrong.conf"
(umask 077 && head -c 32 /dev/urandom | base64 >"$dir/wrong")
fails "a wrong key" "the node refuses the connector's key" "$ddio" ls --conf "$dir/wrong.conf"
check "... of which the node says why" grep -q "refused .*: the connector's key is none of the node's" "$dir/c/io0.log"
sed '/^key_file/d' "$DDIO_CONF" >"$dir/none.conf"
fails "tls without a key" "needs a key" "$ddio" ls --conf "$dir/none.conf"
port=$(sed -n 's/^address = .*://p' "$DDIO_CONF" | head -1)
for junk in 'GET / HTTP/1.0\r\n\r\n' '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' '\x15\x03\x03\x00\x02\x02\x28' '\x16'; do
	printf "$junk" >"/dev/tcp/127.0.0.1/$port"
done
check "junk on the port harms nothing" cmp "$dir/in" <("$ddio" export f -)

# Another key, while processes work that have the old one, and others begin.
hup() {
	local n before
	for n in io0 io1; do
		before=$(grep -c 'the key is' "$dir/c/$n.log")
		kill -HUP "$(cat "$dir/c/$n.pid")"
		in_time 20 bash -c "until [ \$(grep -c 'the key is' '$dir/c/$n.log') -gt $before ]; do sleep 0.05; done" ||
			return 1
	done
}
name() { "$ddio" key list | sed -n "$1s/ .*//p"; }
serves() { # "what": old and new connections, of a client that has taken the step and of one that has not
	check "$1: a client that has taken the step" cmp "$dir/in" <("$ddio" export f -)
	check "$1: one that has not" cmp "$dir/in" <("$ddio" export --conf "$dir/before.conf" f -)
}
step() { # "what" "ddio key ..."
	rm -f "$dir"/before*
	cp -p "$dir/c/key" "$dir/before"
	[ ! -e "$dir/c/key.2" ] || cp -p "$dir/c/key.2" "$dir/before.2"
	sed "s|^key_file = .*|key_file = $dir/before|" "$DDIO_CONF" >"$dir/before.conf"
	check "ddio key $1" "$ddio" key "$1" >/dev/null
	serves "$1, before the nodes read it"
	check "$1: the nodes read it" hup
	serves "$1, once the nodes have read it"
}
old=$(name 1)
rm -f "$dir/enough"
"$helpers/crowd" -n 4 -c 1000000 -e "$dir/enough" -s 1048576 -f x >"$dir/out" 2>&1 &
crowd=$!
step new
fails "new once more" "exists" "$ddio" key new
new=$(name 2)
check "... which has another name" [ "$new" != "$old" ]
if [ "$(id -u)" = 0 ]; then
	# As scp leaves it, where the daemons' user owns the key.
	chown nobody "$dir/c/key"
	fails "list tells of a second key that daemons cannot read" "does not have the owner and mode" "$ddio" key list
	fails "use does not use it" "has them now: have the daemons read it" "$ddio" key use
	check "... but has it read" [ "$(stat -c '%U %a' "$dir/c/key.2")" = "nobody 600" ]
	check "... and exchanges nothing" [ "$(name 1) $(name 2)" = "$old $new" ]
	chown root "$dir/c/key" "$dir/c/key.2"
fi
(umask 077 && cp "$dir/c/key.2" "$dir/whole" && echo no >"$dir/c/key.2")
fails "use does not use what is no key" "key.2" "$ddio" key use
cp "$dir/whole" "$dir/c/key.2"
step use
check "use exchanges them" [ "$(name 1) $(name 2)" = "$new $old" ]
cp -p "$dir/c/key.2" "$dir/old"
step drop
check "drop leaves one" [ "$("$ddio" key list | wc -l)" = 1 ]
fails "drop once more" "no such file" "$ddio" key drop
check "the log says which key it is" grep -q "the key is $new$" "$dir/c/io1.log"
sed "s|^key_file = .*|key_file = $dir/old|" "$DDIO_CONF" >"$dir/old.conf"
fails "the old key is worth nothing" "the node refuses the connector's key" "$ddio" ls --conf "$dir/old.conf"
check "processes of the old key are still at work" kill -0 $crowd
touch "$dir/enough"
wait $crowd
check "processes of the old key have worked on" [ "$(grep -c ' ok [1-9]' "$dir/out")" = 4 ]
chmod 644 "$dir/c/key"
check "a key that others may read changes nothing" bash -c "kill -HUP \$(cat '$dir/c/io0.pid') &&
	. tests/patience.sh && in_time 20 bash -c \"until grep -q 'the keys stay as they were' '$dir/c/io0.log'; do sleep 0.05; done\""
chmod 600 "$dir/c/key"
check "... and the cluster serves on" cmp "$dir/in" <("$ddio" export f -)
stop_cluster c

# A TLS client of a plain cluster.
SECURITY=none
check "start a plain one" start_cluster p --iops 1 --engine mem --disk-size 16M
sed 's/^security = .*/security = tls/' "$DDIO_CONF" >"$dir/tls.conf"
fails "a TLS client" "the node does not speak TLS" "$ddio" ls --conf "$dir/tls.conf"
check "... of which the node says why" grep -q 'refused .*: the connector speaks TLS, and the node does not' "$dir/p/io0.log"
stop_cluster p

SECURITY=tls tests/cluster/basics.sh >"$dir/basics.out" 2>&1
rc=$?
check "all that basics.sh does: $(tail -1 "$dir/basics.out")" [ $rc -eq 0 ]
grep '^FAILED' "$dir/basics.out" || true
