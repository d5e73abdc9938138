#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# make.pl FILE: the mutants of a C source, one a line: "LINE<tab>what<tab>the line as it becomes".
# Comments, strings, preprocessor lines and asserts stay as they are.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../tree/lib";
use Tree qw(slurp without_comments);

my ($file) = @ARGV;
my @code = split /\n/, without_comments(slurp($file)), -1;
my @line = split /\n/, slurp($file), -1;

# [name, pattern, replacement]
my @rules = (
	['== to !=', qr/==/, sub { '!=' }], ['!= to ==', qr/!=/, sub { '==' }],
	['< to <=', qr/(?<= )<(?= )/, sub { '<=' }], ['<= to <', qr/(?<= )<=(?= )/, sub { '<' }],
	['> to >=', qr/(?<= )>(?= )/, sub { '>=' }], ['>= to >', qr/(?<= )>=(?= )/, sub { '>' }],
	['&& to ||', qr/&&/, sub { '||' }], ['|| to &&', qr/\|\|/, sub { '&&' }],
	['+ to -', qr/(?<= )\+(?= )/, sub { '-' }], ['- to +', qr/(?<= )-(?= )/, sub { '+' }],
	['a ! dropped', qr/!(?=[\w(])/, sub { '' }],
	['true to false', qr/\btrue\b/, sub { 'false' }], ['false to true', qr/\bfalse\b/, sub { 'true' }],
	['a number more', qr/(?<![\w.])(\d+)(?=[;,) \]])/, sub { $_[0] + 1 }],
	['++ dropped', qr/\+\+/, sub { '' }],
);

my ($depth, $continued) = (0, 0);
for my $n (0 .. $#code) {
	my $c = $code[$n];
	my $inside = $depth;
	$depth += ($c =~ tr/{//) - ($c =~ tr/}//);
	my $part = $continued;
	$continued = $c =~ /\S/ && $c !~ /[;{}:]\s*$/;
	next if !$inside || $c =~ /^\s*#|bug_on|assert|^\s*case\b/ || $c ne $line[$n] || $c =~ /"/;
	for (@rules) {
		my ($what, $re, $to) = @$_;
		while ($c =~ /$re/g) {
			my ($at, $end, $found) = ($-[0], $+[0], substr($c, $-[0], $+[0] - $-[0]));
			print join("\t", $n + 1, $what, substr($c, 0, $at) . $to->($found) . substr($c, $end)), "\n";
		}
	}
	# Matches a statement of one line that declares nothing.
	if (!$part && $c =~ /^\s+(?:\w+\([^{}]*\)|[\w>.\[\]*-]+ [-+|&^]?= [^{}]*|\w[\w>.\[\]-]*(?:\+\+|--));$/ && $c !~ /^\s*return\b/) {
		print join("\t", $n + 1, 'a statement dropped', $c =~ s/\S.*/;/r), "\n";
	}
}
