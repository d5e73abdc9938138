#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# needs.pl BUILD PROGRAM...: prints rules for make by which each unit program's verdict (PROGRAM.ok)
# depends on the objects of the library that it reaches: those that define what it uses, and so on.
# These are the objects that a linker would take from an archive.
use strict;
use warnings;

my ($build, @programs) = @ARGV;
my @objects = split /\n/, `find $build/userlib $build/kmod $build/tools $build/fuse -name '*.o'`;
my @helpers = split /\n/, `find $build/tests/unit -name '*.o' ! -name 'test_*'`;
my (%def, %use);
# An object whose source was moved or removed stays where it was.
my @all = grep { -e s{^\Q$build\E/(.*)\.o$}{$1.c}r } @objects, @helpers, map { "$_.o" } @programs;
while (my @some = splice @all, 0, 200) {
	open my $nm, '-|', 'nm', '-A', @some or die "needs.pl: nm: $!\n";
	while (<$nm>) {
		my ($o, $type, $name) = /^(.*?):[0-9a-f ]* (\S) (\S+)/ or next;
		if ($type eq 'U') { push @{ $use{$o} }, $name }
		elsif ($type =~ /[A-Z]/ && $o !~ m{/test_[^/]*$}) { $def{$name} //= $o }
	}
}

# Files that the tests read besides.
my %reads = (
	proto => 'Documentation/protocol.rst',
	env_manual => 'Documentation/man/ddio-disk-engines.7',
	conf => 'Documentation/man/ddio.conf.5',
	hp97560_traces => 'tests/data/hp97560',
);

for my $p (@programs) {
	my %seen;
	my @todo = ("$p.o");
	while (defined(my $o = shift @todo)) {
		for (@{ $use{$o} // [] }) {
			my $d = $def{$_};
			push @todo, $d if $d && !$seen{$d}++;
		}
	}
	my ($name) = $p =~ m{test_([^/]*)$};
	print "$p.ok: ", join(' ', sort(keys %seen), $reads{$name} // ()), "\n";
}
