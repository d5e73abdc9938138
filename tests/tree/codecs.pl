#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# quick userlib/proto tests/unit/proto tests/fuzz
#
# Every codec of the protocol has golden bytes in the unit tests and a row for the fuzzers.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Tree;

top();
my $golden = slurp('tests/unit/proto/test_proto_golden.c');
my $fuzzed = join '', map { slurp($_) } files(qr{^tests/fuzz/codecs.*\.h$});

for my $header (files(qr{^userlib/proto/.*\.h$})) {
	for my $name (slurp($header) =~ /^DDIO_(?:PROTO|FS)_CODEC\((\w+)/mg) {
		my @missing;
		push @missing, 'no golden bytes in tests/unit/proto/test_proto_golden.c'
			unless $golden =~ /\{ "$name"/;
		push @missing, 'no row in tests/fuzz/codecs*.h' unless $fuzzed =~ /\b$name\b/;
		check("codec $name", @missing);
	}
}
finish();
