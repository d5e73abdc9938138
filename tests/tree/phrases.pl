#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# quick
#
# Phrases that betray the old manner (phrases.list beside this file) in what people read: comments,
# messages, manual pages, documents.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Tree;

top();
my @phrases;
for (split /\n/, slurp('tests/tree/phrases.list')) {
	next if /^#/ || !/\S/;
	my ($re, $instead) = /^(.*?) = (.*)$/ or die "phrases.list: $_\n";
	push @phrases, [qr/$re/i, $instead];
}

# One match tells whether a line needs a closer look.
my $any = join '|', map { "(?:$_->[0])" } @phrases;
$any = qr/$any/;

# Returns the prose of a file, line by line.
sub prose {
	my ($file) = @_;
	my $text = slurp($file);
	if ($file =~ /\.[ch]$/) {
		my @code = split /\n/, without_comments($text), -1;
		my @comments = split /\n/, comments($text), -1;
		return map { join ' ', $comments[$_] // '', ($code[$_] // '') =~ /"((?:\\.|[^"\\])*)"/g } 0 .. $#code;
	}
	if ($file =~ /\.(?:sh|pl|pm|mk)$|Makefile$/) {
		return map { /(?:^|\s)(#.*)/ ? $1 : '' } split /\n/, $text;
	}
	return split /\n/, $text;
}

for my $f (changed(qr{\.(?:[ch]|sh|pl|pm|mk|rst|md|in|[1-8])$|Makefile$|/README$|^(?:README|CHANGES|SECURITY|MAINTAINERS)})) {
	next if $f =~ m{^tests/(?:data|fuzz/(?:seeds|regress)|tree/phrases)};
	my @lines = prose($f);
	my @wrong;
	for my $n (grep { $lines[$_] =~ $any } 0 .. $#lines) {
		for (@phrases) {
			my ($re, $instead) = @$_;
			push @wrong, sprintf '%d: "%s": %s', $n + 1, $1, $instead if $lines[$n] =~ /($re)/;
		}
	}
	check($f, @wrong);
}
finish();
