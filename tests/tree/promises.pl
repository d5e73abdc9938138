#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# quick Documentation tests
#
# Documentation/promises.rst names tests, and cases of them, that are there.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Tree;

top();

# Folders of tests, and what their files are called.
my %form = (
	unit => ['tests/unit', 'test_%s.c'],
	kselftest => ['tests/kselftest', 'test_%s.c', 'test_%s.sh'],
	cluster => ['tests/cluster', '%s.sh'],
	sim => ['tests/sim', '%s.sh'],
	perf => ['tests/perf', '%s.sh'],
	posix => ['tests/posix', 'cases_%s.c'],
	tree => ['tests/tree', '%s.sh'],
	vm => ['tests/vm', '%s.sh'],
	tests => ['tests', '%s.sh'],
);

# Returns the text of a test, or nothing.
sub text_of {
	my ($room, $name) = @_;
	my ($folder, @names) = @{$form{$room} // return};
	for my $pattern (@names) {
		my @found = sort { length $a <=> length $b } split /\n/, `find $folder -name '@{[sprintf $pattern, $name]}'`;
		return slurp($found[0]) if @found;
	}
	return;
}

# Returns what a case looks like in its file: in a script it is a part of a text.
sub case_of {
	my ($test, $case) = @_;
	return qr/"\Q$case\E"/ if $test =~ /^(unit|posix)/;
	return qr/, \Q$case\E\)/ if $test =~ /^kselftest/;
	return qr/\Q$case\E/;
}

my ($test, $text, $rows, %missing) = ('', undef, 0);
# Only what the tables say: the text before them has examples.
my $tables = join '', slurp('Documentation/promises.rst') =~ /^(=+  =+\npromise.*?\n=+  =+\n.*?\n=+  =+\n)/msg;
while ($tables =~ /``(\w+)\/(\w+)(?:\.sh)?``|"([^"]+)"/g) {
	if (defined $3) {
		$missing{"$test has no case \"$3\""} = 1 if defined $text && $text !~ case_of($test, $3);
		next;
	}
	($test, $rows) = ("$1/$2", $rows + 1);
	$text = text_of($1, $2);
	$missing{"there is no $test"} = 1 unless defined $text;
}
$missing{'it names no test'} = 1 unless $rows;
check('promises', sort keys %missing);
finish();
