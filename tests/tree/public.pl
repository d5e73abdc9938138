#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# quick
#
# The public functions: include/ddio declares what userlib/libddio.map exports, and nothing else; each
# function has kernel-doc.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Tree;

top();
my %exported = map { $_ => 1 } slurp('userlib/libddio.map') =~ /\b(ddio_\w+);/g;
my (%declared, %described);

for my $header (files(qr{^include/ddio/.*\.h$})) {
	my $text = slurp($header);
	my $code = without_comments($text);
	$code =~ s/^static inline.*?^\}//msg;
	$declared{$_} //= $header for $code =~ /^(?:\w[\w \t]*[ *])(ddio_\w+)\(/mg;
	$described{$_} = 1 for $text =~ m{^/\*\*\n \* (ddio_\w+)(?:\(\))? - }mg;
}
for my $f (sort keys %declared) {
	my @wrong;
	push @wrong, 'userlib/libddio.map does not export it' unless $exported{$f};
	push @wrong, 'it has no kernel-doc' unless $described{$f};
	check("$declared{$f}: $f", @wrong);
}
check("userlib/libddio.map: $_", $declared{$_} ? () : 'no header of include/ddio declares it')
	for sort keys %exported;
finish();
