#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# quick Documentation
#
# Tables of the documents have their columns where the rulers say: with text in a margin they are no tables.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Tree;

top();

# Returns the places between a ruler's columns.
sub margins {
	my ($ruler) = @_;
	my @at;
	push @at, $-[1] .. $+[1] - 1 while $ruler =~ /=( +)(?==)/g;
	return @at;
}

my ($tables, @wrong) = (0);
for my $file (files(qr/\.rst$/)) {
	my @lines = split /\n/, slurp($file);
	my ($span, @margins) = (qr/^ *-+(?: +-+)*$/);
	for my $i (0 .. $#lines) {
		my $line = $lines[$i];
		if ($line =~ /^ *=+(?: +=+)+$/) {
			# The last ruler has a blank line behind it.
			my $ends = @margins && ($lines[$i + 1] // '') =~ /^\s*$/;
			$tables += !@margins;
			@margins = $ends ? () : margins($line);
		} elsif ($line =~ $span || ($lines[$i + 1] // '') =~ $span) {
			next; # a heading of several columns
		} elsif (grep { $_ < length $line && substr($line, $_, 1) ne ' ' } @margins) {
			push @wrong, "$file:" . ($i + 1) . ": text in a table's margin: $line";
		}
	}
}
push @wrong, 'no document has a table' unless $tables;
check('tables', @wrong);
finish();
