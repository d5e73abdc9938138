#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# quick
#
# Each struct, enum and union tag is defined once in the whole tree, so that a name means one thing
# wherever it is read.  Tests are looked at among themselves and beside the rest.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Tree;

top();
my %where;
for my $f (files(qr{^(?:include|userlib|fuse|tools|kmod|tests)/.*\.[ch]$})) {
	my $text = code_of($f);
	while ($text =~ /\b(?:struct|enum|union)\s+(\w+)\s*\{/g) {
		my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
		push @{ $where{$1} }, "$f:$line";
	}
}
for my $tag (sort keys %where) {
	my @at = @{ $where{$tag} };
	check($tag, @at > 1 ? 'is defined at ' . join(' and ', @at) : ());
}
finish();
