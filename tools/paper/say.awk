# SPDX-License-Identifier: GPL-2.0-only
#
# What a paper says, and whether ours does so.  A statement with a number holds if ours is within 30 % of it; if ours
# only points the same way it holds in direction only.  No reasons are given here: Documentation has what is known of
# them.
function verdict(word, text, what) {
	printf "%-9s %s\n%12s%s\n", word, text, "ours: ", what
	all++
	got_word[word]++
}
# Without a number of its own.
function say(holds, text, what) { verdict(holds ? "holds" : "not", text, what) }
# With one.  @zero is where it would say nothing: 1 of a factor, 0 of a percentage or a rate.
function num(text, published, ours, zero, what,   near) {
	near = ours / published >= 0.7 && ours / published <= 1.3
	verdict(near ? "holds" : (ours - zero) * (published - zero) > 0 ? "direction" : "not", text,
		sprintf("%.2f", ours) (what == "" ? "" : " (" what ")"))
}
function percent(a, b) { return 100 * a / b - 100 }
# The verdict on all that was said since the last one.
function sum_up(paper) {
	printf "%s: %d of %d statements hold, %d in direction only, %d do not\n", paper, got_word["holds"], all, got_word["direction"], got_word["not"]
	delete got_word
	all = 0
}
