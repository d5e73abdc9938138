#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# hp97560.ko's attributes, parameters, statistics and states agree with its manual page.
set -u
cd "$(dirname "$0")/../.." || exit 2
page=Documentation/man/hp97560.4
src=kmod/hp97560
passed=0 failed=0
agree() {
	local what=$1 have=$2 want=$3
	if [ -n "$want" ] && [ "$have" = "$want" ]; then
		passed=$((passed + 1))
	else
		echo "hp97560: $what differ: < $page, > $src"
		diff <(echo "$have") <(echo "$want")
		failed=$((failed + 1))
	fi
}
# Items of the page's subsections $1 ...
items() {
	local s
	for s; do
		sed -n "/^\.Ss $s\$/,/^\.S[sh] /s/^\.It Cm \([a-z_]*\)\$/\1/p" "$page"
	done | sort
}
agree attributes "$(items Settings Faults Status)" \
	"$(sed -n 's/^\t&hpd_attr_\([a-z_]*\),$/\1/p' $src/config.c | grep -vx features | sort)"
agree statistics "$(items Statistics)" \
	"$({ sed -n 's/^\tEMIT(\([a-z_]*\));$/\1/p' $src/stats.c
	sed -n 's/.*"\([a-z_]*\) %llu\\n", used.*/\1/p' $src/stats.c; } | sort)"
agree "parameters of their own" "$(items Parameters)" \
	"$(sed -n 's/^module_param(\([a-z_]*\),.*/\1/p' $src/main.c | sort)"
# "These set the defaults of all disks": a list over two lines
agree "parameters that are attributes" \
	"$(sed -n '/^These set the defaults/,/^\.Ss/s/^\.Cm //p' "$page" | tr -d '.' | tr -s ' ,\n' '\n' |
		grep . | sort)" \
	"$(sed -n 's/^module_param_named(\([a-z_]*\),.*/\1/p' $src/main.c | sort)"
agree "failures" \
	"$(sed -n '/^\.It Cm fail_status/,/^Default/s/^\.Cm \([a-z]*\).*/\1/p' "$page" | sort -u)" \
	"$(sed -n 's/^\t{ "\([a-z]*\)", BLK_STS_.*/\1/p' $src/faults.c | sort)"
agree "numbers in the settings and their limits" \
	"$(sed -n 's/^\t{ HPD_NUMBER(\([a-z_]*\)).*/\1/p' $src/settings.c | sort)" \
	"$(sed -n 's/^HPD_NUMBER_ATTR(\([a-z_]*\));/\1/p' $src/config.c | sort)"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
