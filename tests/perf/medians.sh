# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# medians FORMAT WORD...: of the lines "what number" on standard input, which may come again and again; prints the words, what, and
# the median, least and greatest, by FORMAT
medians() {
	awk -v format="$1" -v head="${*:2}" '
		{ x = $NF; $NF = ""; sub(/ +$/, ""); if (!($0 in n)) order[++m] = $0; v[$0, ++n[$0]] = x }
		function sorted(w, i, j, t) {
			for (i = 2; i <= n[w]; i++)
				for (j = i; j > 1 && v[w, j - 1] + 0 > v[w, j] + 0; j--) {
					t = v[w, j]; v[w, j] = v[w, j - 1]; v[w, j - 1] = t
				}
		}
		END {
			for (k = 1; k <= m; k++) {
				w = order[k]; sorted(w)
				printf "%s " format "\n", head, w, v[w, int((n[w] + 1) / 2)], v[w, 1], v[w, n[w]]
			}
		}'
}
