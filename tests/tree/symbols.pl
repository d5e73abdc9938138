#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# quick
#
# Names that leave a file, and whom they serve:
#
#   - a function or a variable that no other object uses is static, or goes;
#   - "ddio_" stands before a name of userlib/X exactly if it is used outside userlib/X (by another
#     library, the tools, the mount, the modules' tests), or is public; for tags of structs, enums and
#     unions likewise; a constant that stays inside has no "DDIO_";
#   - the static and the shared library show the public names only.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Tree;

top();
my %public = map { $_ => 1 } slurp('userlib/libddio.map') =~ /\b(ddio_\w+);/g;

# The library of a file: userlib/X, else its top folder; "kernel" for what both worlds compile.
sub library {
	my ($file) = @_;
	return $1 if $file =~ m{^(userlib/[^/]+)/};
	return 'kernel' if $file =~ m{^kmod/};
	return $file =~ s{/.*}{}r;
}

sub prefixed { return $_[0] =~ /^ddio_/ }

sub judge_name {
	my ($what, $name, $home, $outside) = @_;
	my @wrong;
	if (prefixed($name)) {
		push @wrong, "$home keeps it to itself: no ddio_" unless $outside || $public{$name};
	} elsif ($outside) {
		push @wrong, "leaves $home for $outside: ddio_$name";
	}
	check("$what $name", @wrong);
}

sub judge_symbols {
	my $sym = symbols(objects(qr{^(?:userlib|kmod/shared|fuse|tools)/.*\.c$}));
	my (%users, %tested);
	for my $f (sort keys %$sym) { $users{$_}{$f} = 1 for @{ $sym->{$f}{use} } }
	# A codec is described once and walked both ways: a file that uses one way uses the other.
	for my $get (grep { /^ddio_get_/ } keys %users) {
		my $put = $get =~ s/_get_/_put_/r;
		$users{$put} = { %{ $users{$put} // {} }, %{ $users{$get} } };
	}
	# Not all tests are built here.  Those of the modules are programs of their own.
	for my $f (files(qr{^tests/.*\.[ch]$})) {
		my @names = code_of($f) =~ /\b([a-z]\w+)\b/g;
		$tested{$_} = 1 for @names;
		next unless $f =~ m{^tests/kselftest/};
		$users{$_}{$f} = 1 for grep { /^ddio_/ } @names;
	}
	# Nor are back ends, where no MPI is here or none has been built yet.
	for my $f (files(qr{^userlib/mpiio/(?:abi|data|team)/.*\.c$})) {
		next if $sym->{$f};
		$tested{$_} = 1 for code_of($f) =~ /\b([a-z]\w+)\b/g;
	}
	# What dlsym() finds, and what takes the place of an MPI, has no user here that a linker knows.
	for my $f (sort keys %$sym) {
		my $home = library($f);
		for my $name (sort @{ $sym->{$f}{def} }) {
			next if $name =~ /^(?:main|mpiio_(?:table|siblings|large_take|large_done)|P?MPI_\w+|p?mpir?_file_\w+_f08ts_)$/ || $name =~ /^(?:__odr_asan|_\.stapsdt)/;
			my @users = sort keys %{ $users{$name} // {} };
			check($name, @users || $public{$name} || $tested{$name}
				? () : "no other file uses what $f defines");
			next unless $home =~ m{^userlib/};
			my ($outside) = grep { library($_) ne $home } @users;
			judge_name($f, $name, $home, $outside);
		}
	}
}

# The tag of an enum is used where one of its values is.
sub judge_tags {
	my (%home, %text, %enum, %outside);
	for my $f (files(qr{^(?:userlib|fuse|tools|include/ddio|tests/kselftest)/.*\.[ch]$})) {
		$text{$f} = code_of($f);
		next unless $f =~ m{^userlib/};
		while ($text{$f} =~ /\b(struct|enum|union)\s+(\w+)\s*\{([^}]*)/g) {
			my ($kind, $tag, $body) = ($1, $2, $3);
			$home{$tag} //= library($f);
			next if $kind ne 'enum';
			$enum{$_} = $tag for $body =~ /\b([A-Z][A-Z0-9_]+)\b\s*(?:=[^,]*)?(?:,|$)/g;
		}
	}
	for my $f (sort keys %text) {
		my $library = library($f);
		my @tags = $text{$f} =~ /\b(?:struct|enum|union)\s+(\w+)/g;
		push @tags, grep { defined && prefixed($_) } map { $enum{$_} } $text{$f} =~ /\b([A-Z][A-Z0-9_]+)\b/g;
		for (@tags) {
			$outside{$_} //= $f if $home{$_} && $home{$_} ne $library;
		}
	}
	judge_name('tag', $_, $home{$_}, $outside{$_}) for sort keys %home;
}

# DDIO_ stands before a constant or macro that is public or leaves its library.  The protocol's all bear it.
sub judge_constants {
	my (%home, %text, %outside);
	for my $f (files(qr{^(?:userlib|fuse|tools|kmod|include|tests/kselftest)/.*\.[ch]$})) {
		$text{$f} = code_of($f);
		next if $f !~ m{^userlib/} || $f =~ m{^userlib/proto/};
		my @names = grep { !/_H$/ } $text{$f} =~ /^\s*#\s*define\s+(DDIO_\w+)/mg;
		for my $body ($text{$f} =~ /\benum\b[^{;()]*\{([^}]*)\}/g) {
			push @names, $body =~ /\b(DDIO_[A-Z0-9_]+)\b\s*(?:=[^,]*)?(?:,|$)/g;
		}
		$home{$_} //= library($f) for @names;
	}
	for my $f (sort keys %text) {
		for ($text{$f} =~ /\b(DDIO_\w+)\b/g) {
			$outside{$_} = 1 if $home{$_} && $home{$_} ne library($f);
		}
	}
	check("constant $_", $outside{$_} ? () : "$home{$_} keeps it to itself: no DDIO_") for sort keys %home;
}

# shown LIBRARY OPTION...: the names that a program sees which links it
sub shown {
	my ($file, @options) = @_;
	return map { /^\S* ?[TDBRVWCiuG] (\w+)/ ? $1 : () } split /\n/, `nm --defined-only -g @options $file`;
}

sub judge_libraries {
	for ([ build() . '/libddio.a' ], [ build() . '/libddio.so', '-D' ]) {
		my ($file, @options) = @$_;
		next unless check($file, -e $file ? () : 'is not built');
		my %shows = map { $_ => 1 } grep { !/^__odr_asan/ } shown($file, @options);
		check($file, map { "shows $_" } grep { !$public{$_} } sort keys %shows);
		check($file, map { "does not show $_" } grep { !$shows{$_} } sort keys %public);
	}
}

judge_symbols();
judge_tags();
judge_constants();
judge_libraries();
finish();
