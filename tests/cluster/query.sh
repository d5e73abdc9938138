#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# ddio query, on the command line, beside awk.
. "$(dirname "$0")/lib.sh"

start_cluster query --iops 2 --disk-size 16M || not_ok "no cluster"

# Records of 12 bytes, which no block is a multiple of: number, kind (big endian), and a signed number.
perl -e 'for my $i (0 .. 19999) { print pack("V n x2 l<", $i, $i * 7 % 1000, 500 - $i % 1001) }' >"$dir/records"
perl -e 'for my $i (0 .. 19999) { print join("\t", $i, $i * 7 % 1000, 500 - $i % 1001), "\n" }' >"$dir/text"
printf tail >>"$dir/records"
check "records are imported" "$ddio" import --block-size 4K "$dir/records" records

fields=(-r 12 -f "n=0:u32,kind=4:u16be" -f v=8:s32 -f all=0:b12)

query() {
	in_time 30 "$ddio" query records "${fields[@]}" "$@" >"$dir/out" 2>"$dir/err"
}

# same AWK: what was printed is what awk makes of the text
same() {
	awk -F'\t' "$1" "$dir/text" | cmp - "$dir/out"
}

check "all are counted" query --count
check "and the tail is none" same 'END { print "count\t" NR }'
check "some are" query --count -w 'kind < 10 and not (v >= 0 or n = 0)'
check "as many as there are" same '$2 < 10 && !($3 >= 0 || $1 == 0) { c++ } END { print "count\t" c }'
check "sum and extremes" query --sum v --min v --max kind,n -w 'v != -500'
check "are right" same '$3 != -500 { s += $3; if ($3 < l) l = $3; if ($2 > k) k = $2; if ($1 > n) n = $1 }
	END { print "sum v\t" s "\nmin v\t" l "\nmax kind\t" k "\nmax n\t" n }'
check "a histogram" query --histogram v:-100,0,100
check "is right" same '{ b[$3 < -100 ? 0 : $3 < 0 ? 1 : $3 < 100 ? 2 : 3]++ }
	END { print "histogram v below -100\t" b[0] "\nhistogram v -100 0\t" b[1] "\nhistogram v 0 100\t" b[2] \
		"\nhistogram v 100 up\t" b[3] }'
check "records are printed" query --print v,n -w 'kind = 7 or v = 500'
check "in the order of the file" same '$2 == 7 || $3 == 500 { print $1 "\t" $3 "\t" $1 }'
check "a range of them" query --print n --first 19990 --records 5
check "is those" same '$1 >= 19990 && $1 < 19995 { print $1 "\t" $1 }'
check "bytes" query --print all -w 'n = 258'
check "are shown" grep -qx $'258\t020100000''[0-9a-f]\{15\}' "$dir/out"
check "of none" query --count --min v -w 'n > 1000000'
check "there is nothing" [ "$(cat "$dir/out")" = $'count\t0\nmin v\tnone' ]
query --count -w 'kind >'
check "a wrong condition is one of usage" [ $? = 2 ]
check "the message says where" grep -q 'at character 7' "$dir/err"
query -w 'kind > 1'
check "and so is nothing asked" [ $? = 2 ]
query --histogram "n:$(seq -s, 1 5000)"
check "and too many bounds" [ $? = 2 ]
query --sum all
check "and the sum of bytes" [ $? = 2 ]
in_time 30 "$ddio" query nowhere "${fields[@]}" --count 2>"$dir/err"
check "no such file" [ $? = 1 ]

# Several processes: each record is one process's, as the value says, and all of them are there.
check "by ranges" query --procs 3 --deal v:-100,200 --print v,n --output "$dir/by" --count --sum v -w 'kind < 500'
check "all are counted, and each process's" same '$2 < 500 { c++; s += $3; m[$3 < -100 ? 0 : $3 < 200 ? 1 : 2]++ }
	END { print "count\t" c "\nsum v\t" s "\ncount of 0\t" m[0] + 0 "\ncount of 1\t" m[1] + 0 "\ncount of 2\t" m[2] + 0 }'
for r in 0 1 2; do
	awk -F'\t' -v r=$r '$2 < 500 && r == ($3 < -100 ? 0 : $3 < 200 ? 1 : 2) { print $1 "\t" $3 "\t" $1 }' "$dir/text" >"$dir/want"
	check "process $r has its range" cmp "$dir/want" "$dir/by.$r"
done
check "by number" query --procs 4 --print n --output "$dir/part" -w 'kind != 3'
check "they are parts of the file" bash -c "cat '$dir'/part.[0-3] | cmp - <(awk -F'\t' '\$2 != 3 { print \$1 \"\t\" \$1 }' '$dir/text')"
check "by hash" query --procs 2 --deal kind --print kind --output "$dir/hash"
check "no value is in two of them" [ -z "$(comm -12 <(cut -f2 "$dir/hash.0" | sort -u) <(cut -f2 "$dir/hash.1" | sort -u))" ]
check "and all are there" [ "$(cat "$dir/hash.0" "$dir/hash.1" | wc -l)" = 20000 ]
check "and both have some" [ -s "$dir/hash.0" -a -s "$dir/hash.1" ]
query --count --deal v
check "a distribution for nobody is one of usage" [ $? = 2 ]
query --procs 2 --print v
check "and records without a file" [ $? = 2 ]
query --procs 2 --count --deal v:1,x
check "and a bound that is none" [ $? = 2 ]
query --procs 2 --count --deal v:1,2,3
check "more ranges than processes fail" [ $? = 1 ]
query --procs 2 --print v --output "$dir/no/where"
check "so does a file that cannot be made" [ $? = 1 ]
in_time 30 "$ddio" query records -r 12 -f e=8:f64 --count 2>"$dir/err"
check "a field beyond its record is refused" [ $? = 1 ]
check "and the text says so" grep -q "a field reaches beyond its record" "$dir/err"

# An I/O processor that is not there: no part of an answer.
kill -9 "$(cat "$dir/query/io1.pid")"
query --sum v
check "an I/O processor less is an error" [ $? = 1 ]
query --procs 2 --sum v
check "of several processes, too" [ $? = 1 ]
check "with nothing printed" [ ! -s "$dir/out" ]
