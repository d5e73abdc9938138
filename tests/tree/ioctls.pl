#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# quick include tests/kselftest Documentation
#
# Every ioctl of include/uapi/linux/ddio.h has its number and its struct's size fixed, its arguments tried, a place
# among the random calls, and its text.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Tree;

top();
my $layout = slurp('tests/kselftest/lib/abi_layout.h');
my $tried = slurp('tests/kselftest/ddio/test_ioctl.c');
my $random = slurp('tests/kselftest/ddio/random_calls.c');
my $text = slurp('Documentation/abi.rst');

for my $name (slurp('include/uapi/linux/ddio.h') =~ /^#define (DDIO_\w+) _IO\(/mg) {
	my $struct = lc $name;
	my @missing;
	push @missing, 'tests/kselftest/lib/abi_layout.h has no KT_CMD' unless $layout =~ /^KT_CMD\($name,/m;
	push @missing, 'tests/kselftest/lib/abi_layout.h has no KT_SIZE' unless $layout =~ /^KT_SIZE\($struct,/m;
	push @missing, 'no row in tests/kselftest/ddio/test_ioctl.c' unless $tried =~ /^\tCALL\($name,/m;
	push @missing, 'tests/kselftest/ddio/random_calls.c never calls it' unless $random =~ /\b$name\b/;
	push @missing, 'Documentation/abi.rst does not name it' unless $text =~ /\b$name\b/;
	check("ioctl $name", @missing);
}
finish();
